//! What probes of a run see, on its way from machine code to the user's function.

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};

use retrograd_compiler::eval::Sighting;
use retrograd_compiler::ir::{Array, DType, Data, Type};
use retrograd_compiler::lower::kernel::Probe;

/// Who observes a run. Machine code holds its address.
pub(crate) struct Observer<'o> {
    pub(crate) probes: &'o [Probe],
    pub(crate) look: &'o mut dyn FnMut(&Sighting<'_>),
    /// A panic of the user's function: it must not pass through machine code.
    pub(crate) panic: Option<Box<dyn Any + Send>>,
}

/// Shows a value; without an observer nothing happens.
///
/// # Safety
/// `observer` is null, or points to an [`Observer`] that nothing else refers to meanwhile; `site` is the number of one
/// of its probes; `at` points to the elements of a value of its type, `steps` to `count` words.
pub(crate) unsafe extern "C" fn probe(
    observer: *mut Observer<'_>,
    site: usize,
    at: *const u8,
    steps: *const i64,
    count: usize,
) {
    // SAFETY: the caller promises that it is null or points to an observer of ours alone.
    let Some(observer) = (unsafe { observer.as_mut() }) else { return };
    if observer.panic.is_some() {
        return;
    }
    let probe = &observer.probes[site];
    // SAFETY: the caller promises the words.
    let indices = unsafe { std::slice::from_raw_parts(steps, count) };
    // SAFETY: the caller promises the elements.
    let value = unsafe { copied(&probe.ty, at) };
    let look = &mut observer.look;
    let seen = Sighting { name: &probe.name, part: probe.pos.part(), pos: &probe.pos, indices, value: &value };
    observer.panic = catch_unwind(AssertUnwindSafe(|| look(&seen))).err();
}

/// A copy of the elements at an address.
///
/// # Safety
/// The address is that of the elements of an array of that type.
unsafe fn copied(ty: &Type, at: *const u8) -> Array {
    /// Elements of one type.
    ///
    /// # Safety
    /// There are so many of them at the address.
    unsafe fn elements<T: Copy>(at: *const u8, count: usize) -> Vec<T> {
        // SAFETY: the caller promises it; a read of each element needs no alignment.
        (0..count).map(|k| unsafe { at.cast::<T>().add(k).read_unaligned() }).collect()
    }
    let count = ty.elements();
    // SAFETY: the caller promises as many elements of that type; bools in memory are 0 or 1.
    let data = unsafe {
        match ty.dtype {
            DType::F32 => Data::F32(elements(at, count)),
            DType::F64 => Data::F64(elements(at, count)),
            DType::I32 => Data::I32(elements(at, count)),
            DType::I64 => Data::I64(elements(at, count)),
            DType::Bool => Data::Bool(elements(at, count)),
        }
    };
    Array::new(ty.shape.clone(), data)
}
