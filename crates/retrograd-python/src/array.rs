//! NumPy arrays to arrays of the compiler, and back.

use numpy::{Element, PyArray1, PyArrayMethods, PyReadonlyArrayDyn, PyUntypedArray, PyUntypedArrayMethods};
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use retrograd::{Array, DType, Data, Type};

/// The elements of a row-major NumPy array; the Python side has made it so.
pub(crate) fn from_numpy(array: &Bound<'_, PyAny>) -> PyResult<Array> {
    let shape = array.cast::<PyUntypedArray>()?.shape().to_vec();
    let data = if let Ok(elements) = elements::<f64>(array) {
        Data::F64(elements)
    } else if let Ok(elements) = elements::<i64>(array) {
        Data::I64(elements)
    } else if let Ok(elements) = elements::<bool>(array) {
        Data::Bool(elements)
    } else {
        return Err(PyTypeError::new_err("arrays of float64, int64 or bool reach the compiler"));
    };
    Ok(Array::new(shape, data))
}

fn elements<T: Element + Copy>(array: &Bound<'_, PyAny>) -> PyResult<Vec<T>> {
    let array: PyReadonlyArrayDyn<'_, T> = array.extract()?;
    Ok(array.as_slice()?.to_vec())
}

/// A NumPy array with these elements.
pub(crate) fn to_numpy(py: Python<'_>, array: Array) -> PyResult<Bound<'_, PyAny>> {
    let shape = array.shape().to_vec();
    match array.data() {
        Data::F64(x) => shaped(py, x.clone(), shape),
        Data::I64(x) => shaped(py, x.clone(), shape),
        Data::Bool(x) => shaped(py, x.clone(), shape),
        Data::F32(x) => shaped(py, x.clone(), shape),
        Data::I32(x) => shaped(py, x.clone(), shape),
    }
}

fn shaped<T: Element>(py: Python<'_>, elements: Vec<T>, shape: Vec<usize>) -> PyResult<Bound<'_, PyAny>> {
    Ok(PyArray1::from_vec(py, elements).reshape(shape)?.into_any())
}

/// A type from its name and extents.
pub(crate) fn type_of(dtype: &str, shape: Vec<usize>) -> PyResult<Type> {
    Ok(Type::new(dtype_of(dtype)?, shape))
}

/// An element type from its name.
pub(crate) fn dtype_of(name: &str) -> PyResult<DType> {
    DType::ALL.into_iter().find(|dtype| dtype.name() == name).ok_or_else(|| PyTypeError::new_err(format!("no element type `{name}`")))
}
