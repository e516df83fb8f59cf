//! Compilation and runs.

use std::time::Instant;

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use retrograd::pipeline::{self, Compiled, Options, Strategy, Wanted};
use retrograd::{Array, Budget, Error, ErrorKind, IntoBudget, Pos};

use crate::array::{from_numpy, to_numpy};
use crate::error::exception;
use crate::tracer::Program;

/// A compiled Program.
#[pyclass(frozen)]
pub(crate) struct Executable(Compiled);

/// Compiles: `wanted` is "results", "gradient" or "value_and_gradient", with respect to the inputs `argnums`.
#[pyfunction]
pub(crate) fn compile(
    py: Python<'_>,
    program: &Program,
    wanted: &str,
    argnums: Vec<usize>,
    strategy: Option<&str>,
    budget: Option<Bound<'_, PyAny>>,
) -> PyResult<Executable> {
    let wanted = match wanted {
        "results" => Wanted::Results,
        "gradient" => Wanted::Gradient,
        "value_and_gradient" => Wanted::ValueAndGradient,
        other => return Err(PyValueError::new_err(format!("nothing is called `{other}`"))),
    };
    let budget = budget.map(|budget| bytes(py, &budget)).transpose()?.map(Budget::bytes);
    let strategy = strategy.map_or_else(|| Ok(Strategy::default()), strategy_of).map_err(|error| exception(py, error))?;
    let options = Options { wanted, argnums, strategy, budget };
    let compiled = py.detach(|| pipeline::compile(&program.0, &options)).map_err(|error| exception(py, error))?;
    Ok(Executable(compiled))
}

/// A budget from an integer of bytes or from words such as "1.2 MB".
fn bytes(py: Python<'_>, budget: &Bound<'_, PyAny>) -> PyResult<Budget> {
    let parsed = if let Ok(text) = budget.extract::<String>() {
        text.as_str().into_budget()
    } else if let Ok(bytes) = budget.extract::<u64>() {
        bytes.into_budget()
    } else {
        let message = format!("a budget is an integer of bytes or a string such as \"16 MB\", found {}", budget.repr()?);
        Err(Error::new(ErrorKind::Argument, Pos::unknown(), message))
    };
    parsed.map_err(|error| exception(py, error))
}

/// A strategy from its name and options, `periodic:period=10`.
fn strategy_of(text: &str) -> Result<Strategy, Error> {
    let fail = |kind, message| Err(Error::new(kind, Pos::unknown(), message));
    match text.split(':').next().unwrap_or(text) {
        "auto" => Ok(Strategy::Auto),
        name @ ("keep_all" | "periodic" | "revolve") => {
            fail(ErrorKind::Unsupported, format!("the strategy `{name}` needs the planner, which is not joined yet"))
        }
        other => fail(ErrorKind::Argument, format!("no strategy `{other}`; there are auto, keep_all, periodic and revolve")),
    }
}

#[pymethods]
impl Executable {
    /// Bytes of the arena, as planned.
    #[getter]
    fn bytes_peak(&self) -> u64 {
        self.0.plan.bytes_peak
    }

    /// The plan in words.
    fn plan(&self) -> String {
        format!("{:?}", self.0.plan)
    }

    /// The Program that runs, in its text form.
    fn program(&self) -> String {
        self.0.program.to_string()
    }

    /// Runs on row-major arrays; returns the results, the bytes and the seconds that it took. Other Python threads run meanwhile.
    fn run<'py>(&self, py: Python<'py>, inputs: Vec<Bound<'py, PyAny>>) -> PyResult<(Vec<Bound<'py, PyAny>>, u64, f64)> {
        let inputs = inputs.iter().map(from_numpy).collect::<PyResult<Vec<Array>>>()?;
        let inputs: Vec<&Array> = inputs.iter().collect();
        let start = Instant::now();
        let (results, stats) = py.detach(|| self.0.run_with_stats(&inputs)).map_err(|error| exception(py, error))?;
        let seconds = start.elapsed().as_secs_f64();
        let results = results.into_iter().map(|array| to_numpy(py, array)).collect::<PyResult<_>>()?;
        Ok((results, stats.bytes_peak, seconds))
    }
}
