//! From a Kernel to a native function that owns its memory.

use std::panic::resume_unwind;

use retrograd_compiler::ir::{Array, Data, DataMut, Error, ErrorKind, Pos};
use retrograd_compiler::lower::kernel::{Kernel, RoutineCall};

use crate::backend::Backend;
use crate::cancellation::{Cancellable, Cancellation};
use crate::cranelift::Cranelift;
use crate::llvm::Llvm;

/// What a compiled kernel looks like to a caller: `entry(arena, inputs, outputs, fault, flag, watch)`.
pub(crate) type Entry =
    unsafe extern "C" fn(*mut u8, *const *const u8, *const *mut u8, *mut i64, *const u8, *const Cancellable<'_>);

/// The fault of a run that was stopped.
pub(crate) const STOPPED: i64 = -1;

/// A back end.
pub(crate) trait Generator {
    /// What it is, with its version.
    fn name(&self) -> String;

    /// Machine code of a kernel, and what keeps it in memory: the code is freed when that is dropped. The code holds no
    /// state of its own, all that it writes is passed to it.
    fn generate(&self, kernel: &Kernel, constants: &Constants) -> (Entry, Box<dyn Send + Sync>);
}

/// What stays where it is as long as the code.
pub(crate) struct Constants {
    /// Elements of literal arrays.
    pub(crate) literals: Vec<*const u8>,
    /// Calls of routines.
    pub(crate) calls: Vec<*const RoutineCall>,
}

/// Machine code of one kernel, with the kernel itself.
pub(crate) struct Code {
    entry: Entry,
    backend: String,
    _memory: Box<dyn Send + Sync>,
    /// The code holds the addresses of the elements of its literals, and of its calls.
    kernel: Box<Kernel>,
}

impl Code {
    /// Runs the code once.
    ///
    /// # Safety
    /// `arena` has `arena_bytes` of the kernel, 64-byte aligned, and no other run uses them meanwhile; `inputs` and
    /// `outputs` point to as many pointers as the kernel names, each valid for all that the kernel reads or writes
    /// there; outputs overlap nothing; `fault` points to four words, the second of which is 0 or the address of an
    /// observer of this run alone, the third the address of its file for spilled states, or 0 where the kernel has
    /// none, the fourth 0 or the address of a pool.
    pub(crate) unsafe fn call(
        &self,
        arena: *mut u8,
        inputs: *const *const u8,
        outputs: *const *mut u8,
        fault: *mut i64,
        watch: &Cancellation<'_>,
    ) {
        let watched = Cancellable::new(watch, self.kernel.loops);
        // SAFETY: the code is alive as long as `self`; the caller promises the rest.
        unsafe { (self.entry)(arena, inputs, outputs, fault, watch.flag(), &raw const watched) }
        if let Some(panic) = watched.panic.into_inner() {
            resume_unwind(panic);
        }
    }

    /// What it does.
    pub(crate) fn kernel(&self) -> &Kernel {
        &self.kernel
    }

    /// Who made it, with its version.
    pub(crate) fn backend(&self) -> &str {
        &self.backend
    }
}

impl std::fmt::Debug for Code {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Code").field("entry", &(self.entry as *const u8)).finish_non_exhaustive()
    }
}

/// Compiles a kernel for the machine that runs this. The only error is that LLVM was asked for by name and is not
/// there.
pub(crate) fn compile(kernel: &Kernel, backend: &Backend) -> Result<Code, Error> {
    let unavailable = |reason: String| {
        let message =
            format!("the back end LLVM is not available: {reason}\nname a library, or use the back end cranelift");
        Error::new(ErrorKind::Unsupported, Pos::unknown(), message)
    };
    Ok(match backend {
        Backend::Cranelift => code(kernel, &Cranelift::new()),
        Backend::Narrow => code(kernel, &Cranelift::narrow()),
        Backend::Llvm { path } => code(kernel, &Llvm::find(path.as_deref()).map_err(unavailable)?),
        Backend::Auto => match Llvm::find(None) {
            Ok(llvm) => code(kernel, &llvm),
            // The name of the code says which it was.
            Err(_) => code(kernel, &Cranelift::new()),
        },
    })
}

/// Compiles a kernel by a back end.
pub(crate) fn code(kernel: &Kernel, generator: &dyn Generator) -> Code {
    let kernel = Box::new(kernel.clone());
    let (literals, calls) =
        (kernel.literals.iter().map(address).collect(), kernel.calls.iter().map(std::ptr::from_ref).collect());
    let (entry, memory) = generator.generate(&kernel, &Constants { literals, calls });
    Code { entry, backend: generator.name(), _memory: memory, kernel }
}

/// Where the elements of an array are.
pub(crate) fn address(array: &Array) -> *const u8 {
    match array.data() {
        Data::F32(x) => x.as_ptr().cast(),
        Data::F64(x) => x.as_ptr().cast(),
        Data::I32(x) => x.as_ptr().cast(),
        Data::I64(x) => x.as_ptr().cast(),
        Data::Bool(x) => x.as_ptr().cast(),
    }
}

/// Where the elements of an array are, to be written.
pub(crate) fn address_mut(array: &mut Array) -> *mut u8 {
    match array.data_mut() {
        DataMut::F32(x) => x.as_mut_ptr().cast(),
        DataMut::F64(x) => x.as_mut_ptr().cast(),
        DataMut::I32(x) => x.as_mut_ptr().cast(),
        DataMut::I64(x) => x.as_mut_ptr().cast(),
        DataMut::Bool(x) => x.as_mut_ptr().cast(),
    }
}
