//! Rows that are calls of one Rust function, and what such a function sees of its operands.

use super::array::{Array, Data, DataMut};
use super::attr::Attrs;
use super::types::{DType, Type};

/// A function of whole arrays that the interpreter and machine code both call, so that their bits are the same.
///
/// It allocates nothing: what it needs besides its result is scratch, which the plan puts in the arena. It never
/// faults: what has no value is NaN.
#[derive(Clone, Copy, Debug)]
pub struct Routine {
    /// Who computes it.
    pub by: By,
    /// Types of the scratch arrays, from the types of the arguments and the attributes.
    pub scratch: fn(&[Type], &Attrs) -> Vec<Type>,
    /// Computes the result. Scratch and result hold anything before.
    pub run: Run,
}

/// Factors of matrices that rows share: whoever needs those of one matrix reads the same.
#[derive(Clone, Copy, Debug)]
pub struct Factors {
    /// Which ones.
    pub name: &'static str,
    /// Makes them.
    pub routine: Routine,
    /// Their type, from that of the matrices.
    pub ty: fn(&Type) -> Type,
}

impl PartialEq for Factors {
    fn eq(&self, other: &Factors) -> bool {
        self.name == other.name
    }
}

impl Eq for Factors {}

/// Who computes a routine.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum By {
    /// Its own code: the same arguments give the same result, on any thread.
    Code,
    /// A function of the host that gives the same result again, called on the thread that runs.
    PureHost,
    /// A function of the host that is called as often as it is written and no more: an effect.
    Host,
}

/// Types of the arguments, attributes, arguments, result, scratch.
pub type Run = fn(&[Type], &Attrs, &[Slice<'_>], SliceMut<'_>, &mut [SliceMut<'_>]);

impl PartialEq for Routine {
    fn eq(&self, other: &Routine) -> bool {
        self.by == other.by
            && std::ptr::fn_addr_eq(self.run, other.run)
            && std::ptr::fn_addr_eq(self.scratch, other.scratch)
    }
}

impl Eq for Routine {}

impl Routine {
    /// The result over arrays.
    pub fn evaluate(&self, args: &[&Array], attrs: &Attrs, ty: &Type) -> Array {
        let types: Vec<Type> = args.iter().map(|array| array.ty()).collect();
        let mut scratch: Vec<Array> = (self.scratch)(&types, attrs).iter().map(Array::zeros).collect();
        let mut scratch: Vec<SliceMut<'_>> = scratch.iter_mut().map(Array::slice_mut).collect();
        let slices: Vec<Slice<'_>> = args.iter().map(|array| array.slice()).collect();
        let mut result = Array::zeros(ty);
        (self.run)(&types, attrs, &slices, result.slice_mut(), &mut scratch);
        result
    }
}

/// Elements of an argument, row-major. Routines work on numbers.
#[derive(Clone, Copy, Debug)]
#[allow(missing_docs, reason = "the variants are the element types")]
pub enum Slice<'a> {
    F32(&'a [f32]),
    F64(&'a [f64]),
    I32(&'a [i32]),
    I64(&'a [i64]),
}

/// Elements to be written, row-major.
#[derive(Debug)]
#[allow(missing_docs, reason = "the variants are the element types")]
pub enum SliceMut<'a> {
    F32(&'a mut [f32]),
    F64(&'a mut [f64]),
    I32(&'a mut [i32]),
    I64(&'a mut [i64]),
}

impl Array {
    /// The elements for a routine.
    pub fn slice(&self) -> Slice<'_> {
        match self.data() {
            Data::F32(x) => Slice::F32(x),
            Data::F64(x) => Slice::F64(x),
            Data::I32(x) => Slice::I32(x),
            Data::I64(x) => Slice::I64(x),
            Data::Bool(_) => panic!("verified types: routines work on numbers, found {}", self.ty()),
        }
    }

    /// The elements for a routine to write.
    pub fn slice_mut(&mut self) -> SliceMut<'_> {
        match self.data_mut() {
            DataMut::F32(x) => SliceMut::F32(x),
            DataMut::F64(x) => SliceMut::F64(x),
            DataMut::I32(x) => SliceMut::I32(x),
            DataMut::I64(x) => SliceMut::I64(x),
            DataMut::Bool(_) => panic!("verified types: routines work on numbers"),
        }
    }
}

impl Slice<'_> {
    /// Element type.
    pub fn dtype(&self) -> DType {
        match self {
            Slice::F32(_) => DType::F32,
            Slice::F64(_) => DType::F64,
            Slice::I32(_) => DType::I32,
            Slice::I64(_) => DType::I64,
        }
    }
}

impl SliceMut<'_> {
    /// Element type.
    pub fn dtype(&self) -> DType {
        match self {
            SliceMut::F32(_) => DType::F32,
            SliceMut::F64(_) => DType::F64,
            SliceMut::I32(_) => DType::I32,
            SliceMut::I64(_) => DType::I64,
        }
    }

    /// The i64 elements; panics on another type.
    pub fn as_i64(&mut self) -> &mut [i64] {
        match self {
            SliceMut::I64(x) => x,
            SliceMut::F32(_) | SliceMut::F64(_) | SliceMut::I32(_) => {
                panic!("a routine gets the types it asked for: expected i64, found {}", self.dtype())
            }
        }
    }
}
