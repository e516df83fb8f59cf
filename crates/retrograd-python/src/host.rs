//! Python as the host of external functions: `retrograd.external` answers.

use std::sync::OnceLock;

use pyo3::prelude::*;
use retrograd::{Array, Data, Slice, SliceMut, Type};

use crate::array::{from_numpy, to_numpy};

/// `answer(number, arrays)` gives the elements of the result; it catches all exceptions.
static ANSWER: OnceLock<Py<PyAny>> = OnceLock::new();

/// Says who answers.
#[pyfunction]
pub(crate) fn serve(answer: Py<PyAny>) {
    // Whoever was named first stays: a module is imported once.
    let _ = ANSWER.set(answer);
    retrograd::serve(call);
}

/// Calls Python on this thread. Where even that fails, the result says so: its first element is not 0.
fn call(number: usize, types: &[Type], args: &[Slice<'_>], mut result: SliceMut<'_>) {
    fill(&mut result);
    let Some(answer) = ANSWER.get() else { return };
    Python::attach(|py| {
        let found = (|| {
            let arrays =
                types.iter().zip(args).map(|(ty, arg)| to_numpy(py, &array(ty, arg))).collect::<PyResult<Vec<_>>>()?;
            from_numpy(&answer.bind(py).call1((number, arrays))?)
        })();
        match found {
            Ok(found) => write(&found, &mut result),
            Err(error) => error.write_unraisable(py, None),
        }
    });
}

fn array(ty: &Type, arg: &Slice<'_>) -> Array {
    let data = match arg {
        Slice::F32(x) => Data::F32(x.to_vec()),
        Slice::F64(x) => Data::F64(x.to_vec()),
        Slice::I32(x) => Data::I32(x.to_vec()),
        Slice::I64(x) => Data::I64(x.to_vec()),
    };
    Array::new(ty.shape.clone(), data)
}

/// All elements say that something went wrong.
fn fill(result: &mut SliceMut<'_>) {
    match result {
        SliceMut::F32(x) => x.fill(1.0),
        SliceMut::F64(x) => x.fill(1.0),
        SliceMut::I32(x) => x.fill(1),
        SliceMut::I64(x) => x.fill(1),
    }
}

/// Elements of the type and number that were asked for; others are not written.
fn write(found: &Array, result: &mut SliceMut<'_>) {
    match (found.data(), result) {
        (Data::F32(from), SliceMut::F32(to)) if from.len() == to.len() => to.copy_from_slice(from),
        (Data::F64(from), SliceMut::F64(to)) if from.len() == to.len() => to.copy_from_slice(from),
        (Data::I32(from), SliceMut::I32(to)) if from.len() == to.len() => to.copy_from_slice(from),
        (Data::I64(from), SliceMut::I64(to)) if from.len() == to.len() => to.copy_from_slice(from),
        _ => {}
    }
}
