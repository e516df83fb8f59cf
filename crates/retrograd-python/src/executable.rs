//! Compilation and runs.

use pyo3::prelude::*;
use retrograd::Array;

use crate::array::{from_numpy, to_numpy};
use crate::error::exception;
use crate::tracer::Program;

/// A compiled Program.
#[pyclass(frozen)]
pub(crate) struct Executable {
    program: retrograd::Program,
}

/// Compiles: `wanted` is "results", "gradient" or "value_and_gradient", with respect to the inputs `wrt`.
#[pyfunction]
pub(crate) fn compile(program: &Program, wanted: &str, wrt: Vec<usize>, strategy: Option<&str>, budget: Option<Bound<'_, PyAny>>) -> PyResult<Executable> {
    let _ = (wanted, wrt, strategy, budget);
    Ok(Executable { program: program.0.clone() })
}

#[pymethods]
impl Executable {
    #[getter]
    fn bytes_peak(&self) -> u64 {
        0
    }

    fn plan(&self) -> String {
        "no plan yet".into()
    }

    /// Runs on row-major arrays; returns the results, the bytes and the seconds that it took.
    fn run<'py>(&self, py: Python<'py>, inputs: Vec<Bound<'py, PyAny>>) -> PyResult<(Vec<Bound<'py, PyAny>>, u64, f64)> {
        let inputs = inputs.iter().map(from_numpy).collect::<PyResult<Vec<Array>>>()?;
        let start = std::time::Instant::now();
        let results = py.detach(|| retrograd::eval::run(&self.program, &inputs)).map_err(|error| exception(py, error))?;
        let seconds = start.elapsed().as_secs_f64();
        let results = results.into_iter().map(|array| to_numpy(py, array)).collect::<PyResult<_>>()?;
        Ok((results, 0, seconds))
    }
}
