//! NumPy arrays as arrays of the compiler and as memory of a run.

use numpy::{Element, PyArray1, PyArrayDyn, PyArrayMethods, PyReadonlyArrayDyn, PyUntypedArray, PyUntypedArrayMethods};
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use retrograd::{Array, DType, Data, Type};

use crate::error::exception;

/// The elements of a row-major NumPy array; the Python side has made it so.
pub(crate) fn from_numpy(array: &Bound<'_, PyAny>) -> PyResult<Array> {
    let shape = array.cast::<PyUntypedArray>()?.shape().to_vec();
    let data = elements::<f64>(array).map(Data::F64);
    let data = data.or_else(|_| elements::<i64>(array).map(Data::I64)).or_else(|_| bools(array).map(Data::Bool));
    let data =
        data.or_else(|_| elements::<f32>(array).map(Data::F32)).or_else(|_| elements::<i32>(array).map(Data::I32));
    let message = "arrays of float32, float64, int32, int64 or bool reach the compiler";
    Ok(Array::new(shape, data.map_err(|_| PyTypeError::new_err(message))?))
}

fn elements<T: Element + Copy>(array: &Bound<'_, PyAny>) -> PyResult<Vec<T>> {
    let array: PyReadonlyArrayDyn<'_, T> = array.extract()?;
    Ok(array.as_slice()?.to_vec())
}

/// Bools by their bytes: in NumPy they may be others than 0 and 1, in Rust they must not.
fn bools(array: &Bound<'_, PyAny>) -> PyResult<Vec<bool>> {
    array.cast::<PyArrayDyn<bool>>()?;
    Ok(elements::<u8>(&array.call_method1("view", ("uint8",))?)?.into_iter().map(|byte| byte != 0).collect())
}

/// A NumPy array with these elements.
pub(crate) fn to_numpy<'py>(py: Python<'py>, array: &Array) -> PyResult<Bound<'py, PyAny>> {
    match array.data() {
        Data::F64(x) => shaped(py, x, array.shape()),
        Data::I64(x) => shaped(py, x, array.shape()),
        Data::Bool(x) => shaped(py, x, array.shape()),
        Data::F32(x) => shaped(py, x, array.shape()),
        Data::I32(x) => shaped(py, x, array.shape()),
    }
}

fn shaped<'py, T: Element + Copy>(py: Python<'py>, elements: &[T], shape: &[usize]) -> PyResult<Bound<'py, PyAny>> {
    Type::new(DType::Bool, [size_of_val(elements)]).check_memory().map_err(|error| exception(py, error))?;
    Ok(PyArray1::from_slice(py, elements).reshape(shape.to_vec())?.into_any())
}

/// Where a run reads: an address that crosses to where Python is not held.
pub(crate) struct Source(usize);

impl Source {
    pub(crate) fn pointer(&self) -> *const u8 {
        std::ptr::with_exposed_provenance(self.0)
    }
}

/// Where a run writes.
pub(crate) struct Target(usize);

impl Target {
    pub(crate) fn pointer(&self) -> *mut u8 {
        std::ptr::with_exposed_provenance_mut(self.0)
    }
}

/// The memory of an aligned row-major array of that type; `None` where it is something else.
pub(crate) fn source(array: &Bound<'_, PyAny>, ty: &Type) -> Option<Source> {
    match ty.dtype {
        DType::F64 => address::<f64>(array, ty),
        DType::I64 => address::<i64>(array, ty),
        DType::Bool => address::<bool>(array, ty),
        DType::F32 => address::<f32>(array, ty),
        DType::I32 => address::<i32>(array, ty),
    }
}

fn address<T: Element>(array: &Bound<'_, PyAny>, ty: &Type) -> Option<Source> {
    let array = array.cast::<PyArrayDyn<T>>().ok()?;
    let (start, fits) = (array.data(), array.shape() == ty.shape && array.is_c_contiguous());
    (fits && start.is_aligned()).then(|| Source(start.expose_provenance()))
}

/// The memory of a number.
pub(crate) fn number(number: &f64) -> Source {
    Source(std::ptr::from_ref(number).expose_provenance())
}

/// A new array of that type, for a run to write, and its memory. Until then it holds anything.
pub(crate) fn target<'py>(py: Python<'py>, ty: &Type) -> PyResult<(Bound<'py, PyAny>, Target)> {
    match ty.dtype {
        DType::F64 => unwritten::<f64>(py, ty),
        DType::I64 => unwritten::<i64>(py, ty),
        DType::Bool => unwritten::<bool>(py, ty),
        DType::F32 => unwritten::<f32>(py, ty),
        DType::I32 => unwritten::<i32>(py, ty),
    }
}

fn unwritten<'py, T: Element>(py: Python<'py>, ty: &Type) -> PyResult<(Bound<'py, PyAny>, Target)> {
    // NumPy's own failure to allocate ends the process in this binding.
    ty.check_memory().map_err(|error| exception(py, error))?;
    // SAFETY: no element is read before a run has written it: a run writes all of its outputs or is an error, and
    // numbers own nothing.
    let array = unsafe { PyArrayDyn::<T>::new(py, ty.shape.clone(), false) };
    let address = array.data().expose_provenance();
    Ok((array.into_any(), Target(address)))
}

/// A type from its name and extents.
pub(crate) fn type_of(py: Python<'_>, dtype: &str, shape: Vec<usize>) -> PyResult<Type> {
    let ty = Type::new(dtype_of(dtype)?, shape);
    ty.check().map_err(|error| exception(py, error))?;
    Ok(ty)
}

/// An element type from its name.
pub(crate) fn dtype_of(name: &str) -> PyResult<DType> {
    DType::ALL
        .into_iter()
        .find(|dtype| dtype.name() == name)
        .ok_or_else(|| PyTypeError::new_err(format!("no element type `{name}`")))
}
