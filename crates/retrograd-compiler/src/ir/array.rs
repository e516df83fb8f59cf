//! Data at run time, as the interpreter and the front ends hold it.

use super::element::{Element, each_element};
use super::error::Error;
use super::types::{DType, Type};
use serde::{Deserialize, Serialize};

/// Elements of one type, row-major.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[allow(missing_docs, reason = "the variants are the element types")]
pub enum Data {
    F32(Vec<f32>),
    F64(Vec<f64>),
    I32(Vec<i32>),
    I64(Vec<i64>),
    Bool(Vec<bool>),
}

/// Elements of one type, row-major, to be changed in place: their number stays.
#[derive(Debug, PartialEq)]
#[allow(missing_docs, reason = "the variants are the element types")]
pub enum DataMut<'a> {
    F32(&'a mut [f32]),
    F64(&'a mut [f64]),
    I32(&'a mut [i32]),
    I64(&'a mut [i64]),
    Bool(&'a mut [bool]),
}

/// A dense array: shape and elements. The elements fill the shape: machine code relies on it, so nothing can change one
/// without the other.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "Stored")]
pub struct Array {
    shape: Vec<usize>,
    data: Data,
}

/// An array as somebody wrote it down.
#[derive(Deserialize)]
#[serde(rename = "Array")]
struct Stored {
    shape: Vec<usize>,
    data: Data,
}

impl TryFrom<Stored> for Array {
    type Error = String;

    fn try_from(Stored { shape, data }: Stored) -> Result<Array, String> {
        let array = Array { shape, data };
        match array.ty().checked_elements() {
            Some(elements) if elements == array.len() => Ok(array),
            Some(_) | None => Err(format!("{} elements do not fill the shape {:?}", array.len(), array.shape)),
        }
    }
}

impl Array {
    /// An array of the given shape; panics when the number of elements does not fit it.
    pub fn new(shape: impl Into<Vec<usize>>, data: Data) -> Array {
        Array::try_from(Stored { shape: shape.into(), data })
            .unwrap_or_else(|message| panic!("array data must fill its shape: {message}"))
    }

    /// An f64 array.
    pub fn f64(shape: impl Into<Vec<usize>>, data: Vec<f64>) -> Array {
        Array::new(shape, Data::F64(data))
    }

    /// A rank-0 f64.
    pub fn scalar(x: f64) -> Array {
        Array::f64([], vec![x])
    }

    /// A rank-0 i64.
    pub fn int(x: i64) -> Array {
        Array::new([], Data::I64(vec![x]))
    }

    /// A rank-0 bool.
    pub fn bool(x: bool) -> Array {
        Array::new([], Data::Bool(vec![x]))
    }

    /// A rank-0 number of any type: truncated for integers, whether it is not zero for bool.
    ///
    /// ```
    /// use retrograd_compiler::ir::{Array, DType};
    /// assert_eq!(Array::number(DType::F32, 0.5).to_string(), "f32 0.5");
    /// ```
    pub fn number(dtype: DType, x: f64) -> Array {
        Array::new([], each_element!(dtype, T => T::data(vec![T::from_f64(x)])))
    }

    /// An f32 array.
    pub fn f32(shape: impl Into<Vec<usize>>, data: Vec<f32>) -> Array {
        Array::new(shape, Data::F32(data))
    }

    /// Zeros (false for bool) of a type, or the error that the machine has no memory for them.
    ///
    /// ```
    /// use retrograd_compiler::ir::{Array, ErrorKind, Type};
    /// assert_eq!(Array::try_zeros(&Type::f64([2]))?, Array::f64([2], vec![0.0; 2]));
    /// let error = Array::try_zeros(&Type::f64([1 << 40])).unwrap_err();
    /// assert_eq!(error.kind, ErrorKind::OutOfMemory { needed: 1 << 43 });
    /// # Ok::<(), retrograd_compiler::ir::Error>(())
    /// ```
    pub fn try_zeros(ty: &Type) -> Result<Array, Error> {
        ty.check_memory().map(|()| Array::zeros(ty))
    }

    /// Zeros (false for bool) of a type.
    pub fn zeros(ty: &Type) -> Array {
        Array::new(ty.shape.clone(), each_element!(ty.dtype, T => T::data(vec![T::from_f64(0.0); ty.elements()])))
    }

    /// Extents.
    pub fn shape(&self) -> &[usize] {
        &self.shape
    }

    /// Elements.
    pub fn data(&self) -> &Data {
        &self.data
    }

    /// Elements, to be changed in place.
    ///
    /// ```
    /// use retrograd_compiler::ir::{Array, DataMut};
    /// let mut array = Array::f64([2], vec![1.0, 2.0]);
    /// if let DataMut::F64(elements) = array.data_mut() {
    ///     elements[0] = 3.0;
    /// }
    /// assert_eq!(array.as_f64(), [3.0, 2.0]);
    /// ```
    pub fn data_mut(&mut self) -> DataMut<'_> {
        match &mut self.data {
            Data::F32(x) => DataMut::F32(x),
            Data::F64(x) => DataMut::F64(x),
            Data::I32(x) => DataMut::I32(x),
            Data::I64(x) => DataMut::I64(x),
            Data::Bool(x) => DataMut::Bool(x),
        }
    }

    /// Number of elements.
    pub fn len(&self) -> usize {
        match &self.data {
            Data::F32(x) => x.len(),
            Data::F64(x) => x.len(),
            Data::I32(x) => x.len(),
            Data::I64(x) => x.len(),
            Data::Bool(x) => x.len(),
        }
    }

    /// No elements at all.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Element type.
    pub fn dtype(&self) -> DType {
        match &self.data {
            Data::F32(_) => DType::F32,
            Data::F64(_) => DType::F64,
            Data::I32(_) => DType::I32,
            Data::I64(_) => DType::I64,
            Data::Bool(_) => DType::Bool,
        }
    }

    /// Type.
    pub fn ty(&self) -> Type {
        Type::new(self.dtype(), self.shape.clone())
    }

    /// The same elements under another shape of equal size.
    pub fn reshaped(self, shape: impl Into<Vec<usize>>) -> Array {
        Array::new(shape, self.data)
    }

    /// The f64 elements; panics on another type (callers have verified types).
    pub fn as_f64(&self) -> &[f64] {
        let Data::F64(x) = &self.data else { panic!("verified types: expected f64, found {}", self.ty()) };
        x
    }

    /// The i64 elements; panics on another type.
    pub fn as_i64(&self) -> &[i64] {
        let Data::I64(x) = &self.data else { panic!("verified types: expected i64, found {}", self.ty()) };
        x
    }

    /// The bool elements; panics on another type.
    pub fn as_bool(&self) -> &[bool] {
        let Data::Bool(x) = &self.data else { panic!("verified types: expected bool, found {}", self.ty()) };
        x
    }

    /// Equal type and equal bits: NaN equals itself, 0.0 differs from -0.0.
    pub fn same_bits(&self, other: &Array) -> bool {
        self.ty() == other.ty() && self.bits() == other.bits()
    }

    /// Elements by their bits, zero-extended: 0.0 differs from -0.0, and a NaN is itself.
    pub fn bits(&self) -> Vec<u64> {
        each_element!(self.dtype(), T => T::of(self).iter().map(|x| x.bits()).collect())
    }
}
