//! Compilation and runs.

use std::num::NonZeroUsize;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyFloat, PyTuple};
use retrograd::pipeline::{self, Arithmetic, Compiled, Options, SpillTo};
use retrograd::strategy::LoopFate;
use retrograd::{
    Array, Backend, Budget, Cancellation, Error, ErrorKind, Fate, IntoBudget, Pos, Progress, Saved, Stats, Strategy,
    Times, Type, cache, strategy,
};

use crate::array::{Source, Target, from_numpy, number, source, target, to_numpy};
use crate::error::exception;
use crate::ticks;
use crate::tracer::{Program, wanted_of};

/// A compiled Program, or what was loaded from a file.
#[pyclass(frozen)]
pub(crate) struct Executable {
    executable: retrograd::Executable,
    origin: Origin,
}

/// Where an executable comes from.
enum Origin {
    Compiled(Compiled),
    Loaded(Saved),
    /// It counts what it does; the one that it counts for is another.
    Counting,
}

/// Results, bytes at the peak, seconds, bytes on disk.
type Run<'py> = (Vec<Bound<'py, PyAny>>, u64, f64, u64);

/// Compiles what is wanted, with respect to these inputs, and whether it is rounded exactly as it is written; a
/// strategy is a name with options, as (name, {option: number}, {value: fate}, {loop: fate}), a machine a back end and
/// a number of threads, where `None` is as many as there are cores.
#[pyfunction]
pub(crate) fn compile(
    py: Python<'_>,
    program: &Program,
    what: (String, Vec<usize>, bool),
    strategy: Asked,
    limits: Limits<'_>,
    machine: (String, Option<NonZeroUsize>),
) -> PyResult<Executable> {
    let ((wanted, argnums, exact), (budget, spill)) = (what, limits);
    let wanted = wanted_of(&wanted)?;
    let budget = budget.map(|budget| bytes(py, &budget)).transpose()?.map(Budget::bytes);
    let strategy = strategy_of(&strategy).map_err(|error| exception(py, error))?;
    let backend = machine.0.parse::<Backend>().map_err(|error| exception(py, error))?;
    let spill_to = |(directory, limit, bytes_per_second): (PathBuf, Bound<'_, PyAny>, Option<u64>)| {
        bytes(py, &limit).map(|limit| SpillTo { directory, bytes: limit.bytes(), bytes_per_second })
    };
    let spill = spill.map(spill_to).transpose()?;
    let threads = machine.1.unwrap_or_else(pipeline::cores);
    let arithmetic = if exact { Arithmetic::Exact } else { Arithmetic::Contracted };
    let options = Options { wanted, argnums, strategy, budget, backend, spill, threads, arithmetic };
    let compiled = py.detach(|| cache::compile(&program.0, &options)).map_err(|error| exception(py, error))?;
    Ok(Executable { executable: compiled.executable().clone(), origin: Origin::Compiled(compiled) })
}

/// What was saved to a file, as machine code by this back end, on so many threads, with states that it spills in this
/// directory.
#[pyfunction]
pub(crate) fn load(
    py: Python<'_>,
    path: PathBuf,
    machine: (String, Option<NonZeroUsize>),
    spill: Option<PathBuf>,
) -> PyResult<Executable> {
    let backend = machine.0.parse::<Backend>().map_err(|error| exception(py, error))?;
    let loaded = py.detach(|| {
        let saved = Saved::load(path)?;
        let executable = saved.compile(&backend)?;
        Ok((saved, executable))
    });
    let (saved, executable) = loaded.map_err(|error| exception(py, error))?;
    let executable = executable.with_threads(machine.1.unwrap_or_else(pipeline::cores).get());
    let executable = if let Some(directory) = spill { executable.spilling_to(directory) } else { executable };
    Ok(Executable { executable, origin: Origin::Loaded(saved) })
}

/// Compilations that were found in the cache, that were not, that are kept, and that can be.
#[pyfunction]
pub(crate) fn cache_info() -> (u64, u64, usize, usize) {
    let cache::Info { hits, misses, kept } = cache::info();
    (hits, misses, kept, cache::CAPACITY)
}

/// Forgets all compilations.
#[pyfunction]
pub(crate) fn cache_clear() {
    cache::clear();
}

/// A budget from an integer of bytes or from words such as "1.2 MB".
fn bytes(py: Python<'_>, budget: &Bound<'_, PyAny>) -> PyResult<Budget> {
    let parsed = if let Ok(text) = budget.extract::<String>() {
        text.as_str().into_budget()
    } else if let Ok(bytes) = budget.extract::<u64>() {
        bytes.into_budget()
    } else {
        let message =
            format!("a budget is an integer of bytes or a string such as \"16 MB\", found {}", budget.repr()?);
        Err(argument(message))
    };
    parsed.map_err(|error| exception(py, error))
}

/// A budget, and a directory for states with its own budget and speed.
type Limits<'py> = (Option<Bound<'py, PyAny>>, Option<(PathBuf, Bound<'py, PyAny>, Option<u64>)>);

/// A strategy as Python names it: its name, numbers, and fates of values and loops.
type Asked = (String, Vec<(String, u64)>, Vec<(String, String)>, Vec<(String, String)>);

fn strategy_of((name, options, values, loops): &Asked) -> Result<Arc<dyn Strategy>, Error> {
    match (name.as_str(), &options[..]) {
        ("user", []) => Ok(Arc::new(strategy::User {
            values: values
                .iter()
                .map(|(name, fate)| Ok((name.clone(), fate_of(fate)?)))
                .collect::<Result<_, Error>>()?,
            loops: loops
                .iter()
                .map(|(name, fate)| Ok((name.clone(), loop_fate_of(fate)?)))
                .collect::<Result<_, Error>>()?,
        })),
        ("periodic", [(option, period)]) if option == "period" => {
            Ok(Arc::new(strategy::Periodic { period: Some(*period) }))
        }
        (_, [(option, _), ..]) => Err(argument(format!("the strategy `{name}` has no option `{option}`"))),
        (_, []) => strategy::find(name).ok_or_else(|| {
            let names: Vec<&str> = strategy::all().iter().map(|strategy| strategy.name()).collect();
            argument(format!("no strategy `{name}`; there are {}", names.join(", ")))
        }),
    }
}

fn fate_of(fate: &str) -> Result<Fate, Error> {
    match fate {
        "keep" => Ok(Fate::Keep),
        "recompute" => Ok(Fate::Recompute),
        other => Err(argument(format!("a value is to `keep` or to `recompute`, not `{other}`"))),
    }
}

fn loop_fate_of(fate: &str) -> Result<LoopFate, Error> {
    let unknown =
        || argument(format!("a loop is to `keep_all`, `recompute_all`, `periodic N` or `revolve N`, not `{fate}`"));
    let number = |word: &str| word.parse().ok().filter(|number| *number > 0).ok_or_else(unknown);
    match fate.split_whitespace().collect::<Vec<_>>()[..] {
        ["keep_all"] => Ok(LoopFate::KeepAll),
        ["recompute_all"] => Ok(LoopFate::RecomputeAll),
        ["periodic", period] => Ok(LoopFate::Periodic { period: number(period)? }),
        ["revolve", slots] => Ok(LoopFate::Revolve { slots: number(slots)? }),
        _ => Err(unknown()),
    }
}

fn argument(message: String) -> Error {
    Error::new(ErrorKind::Argument, Pos::unknown(), message)
}

#[pymethods]
impl Executable {
    /// Bytes of the arena and of results that are made in place, as planned.
    #[getter]
    fn bytes_peak(&self) -> u64 {
        self.executable.bytes_peak()
    }

    /// Bytes on disk, as planned.
    #[getter]
    fn bytes_spilled(&self) -> u64 {
        self.executable.spill_bytes()
    }

    /// Predicted seconds of a run; none where it was loaded.
    #[getter]
    fn seconds_planned(&self) -> Option<f64> {
        Some(self.compiled()?.plan.seconds())
    }

    /// How many threads a run has.
    #[getter]
    fn threads(&self) -> usize {
        self.executable.threads()
    }

    /// Who made the machine code.
    #[getter]
    fn backend(&self) -> &str {
        self.executable.backend()
    }

    /// The plan in words.
    fn plan(&self) -> String {
        self.compiled()
            .map_or_else(|| self.noted("plan").unwrap_or_default().to_owned(), |compiled| compiled.plan.to_string())
    }

    /// The plan as JSON; none where it was loaded.
    fn plan_json(&self) -> Option<String> {
        Some(self.compiled()?.plan.to_json())
    }

    /// Predicted work against memory: as JSON, and as a picture; none where it was loaded.
    fn curve(&self, py: Python<'_>) -> PyResult<Option<(String, String)>> {
        let curve = self.compiled().map(|compiled| py.detach(|| compiled.curve())).transpose();
        let curve = curve.map_err(|error| exception(py, error))?;
        Ok(curve.map(|curve| (curve.to_json(), curve.to_svg())))
    }

    /// Pictures of the schedules of its loops, with names for their files.
    fn pictures(&self) -> Vec<(String, String)> {
        self.compiled().map_or_else(Vec::new, |compiled| compiled.plan.pictures())
    }

    /// The Program that runs, in its text form.
    fn program(&self) -> String {
        self.compiled().map_or_else(
            || self.noted("program").unwrap_or_default().to_owned(),
            |compiled| compiled.program.to_string(),
        )
    }

    /// Stages of the compilation with their seconds, and whether the rest was found in the cache.
    fn times(&self) -> (Vec<(&'static str, f64)>, bool) {
        let Times { stages, cached } = self.compiled().map(|compiled| compiled.times.clone()).unwrap_or_default();
        (stages, cached)
    }

    /// What Python noted in the file that this was loaded from.
    fn note(&self) -> Option<&str> {
        self.noted("python")
    }

    /// Writes it to a file with a note of Python's.
    fn save(&self, py: Python<'_>, path: PathBuf, note: String) -> PyResult<()> {
        let saved = match &self.origin {
            Origin::Compiled(compiled) => compiled.saved(),
            Origin::Loaded(saved) => saved.clone(),
            Origin::Counting => {
                return Err(PyValueError::new_err("save the executable itself, not the one that counts"));
            }
        };
        py.detach(|| saved.with_note("python", note).save(path)).map_err(|error| exception(py, error))
    }

    /// The same that counts what it does.
    fn counting(&self, py: Python<'_>) -> PyResult<Executable> {
        let executable = py.detach(|| self.executable.counting()).map_err(|error| exception(py, error))?;
        Ok(Executable { executable, origin: Origin::Counting })
    }

    /// What the reference interpreter says: the judge of `run` in tests.
    fn interpret<'py>(&self, py: Python<'py>, inputs: Vec<Bound<'py, PyAny>>) -> PyResult<Vec<Bound<'py, PyAny>>> {
        let inputs = inputs.iter().map(from_numpy).collect::<PyResult<Vec<Array>>>()?;
        let Some(compiled) = self.compiled() else {
            return Err(PyValueError::new_err("what was loaded is not interpreted"));
        };
        let results =
            py.detach(|| retrograd::eval::run(&compiled.program, &inputs)).map_err(|error| exception(py, error))?;
        results.iter().map(|array| to_numpy(py, array)).collect()
    }

    /// Runs, and calls `look(name, steps, array)` for what probes see, in the order in which it happens.
    fn run_observed<'py>(
        &self,
        py: Python<'py>,
        inputs: Vec<Bound<'py, PyAny>>,
        look: Bound<'py, PyAny>,
    ) -> PyResult<Vec<Bound<'py, PyAny>>> {
        let inputs = inputs.iter().map(from_numpy).collect::<PyResult<Vec<Array>>>()?;
        // The first exception ends the looking, and is raised after the run.
        let mut raised: Option<PyErr> = None;
        let results = self.executable.run_observed(&inputs.iter().collect::<Vec<_>>(), &mut |seen| {
            if raised.is_none() {
                let shown = to_numpy(py, seen.value)
                    .and_then(|array| look.call1((seen.name, PyTuple::new(py, seen.indices)?, array)));
                raised = shown.err();
            }
        });
        match raised {
            Some(error) => Err(error),
            None => results.map_err(|error| exception(py, error))?.0.iter().map(|array| to_numpy(py, array)).collect(),
        }
    }

    /// Runs on row-major arrays, without a copy; returns the results, the bytes, the seconds and the bytes on disk that
    /// it took. Other Python threads run meanwhile, and a signal handler that raises (Ctrl-C) ends the run, as an
    /// exception of `progress` does, which is called at most ten times a second as `progress(fraction, part, parts,
    /// step, steps)`.
    #[pyo3(signature = (inputs, progress=None))]
    fn run<'py>(
        &self,
        py: Python<'py>,
        inputs: Vec<Bound<'py, PyAny>>,
        progress: Option<Py<PyAny>>,
    ) -> PyResult<Run<'py>> {
        self.run_for(py, &self.sources(&inputs)?, progress).map(taken)
    }

    /// Runs what counts; returns the bytes, the seconds, the bytes on disk, and loop nests, calls, bytes read, bytes
    /// written.
    fn count(&self, py: Python<'_>, inputs: Vec<Bound<'_, PyAny>>) -> PyResult<(u64, f64, u64, [u64; 4])> {
        let (_, Stats { bytes_peak, bytes_spilled, seconds, counts }) =
            self.run_for(py, &self.sources(&inputs)?, None)?;
        let counts = counts.ok_or_else(|| PyValueError::new_err("only what is made by `counting` counts"))?;
        Ok((bytes_peak, seconds, bytes_spilled, [counts.nests, counts.calls, counts.bytes_read, counts.bytes_written]))
    }
}

/// Runs for arguments that are arrays as machine code reads them, or Python's floats: what nearly all calls are,
/// without looking at them in Python.
#[pyclass(frozen)]
pub(crate) struct Direct {
    executable: Py<Executable>,
    /// Which arguments are floats.
    floats: Vec<bool>,
}

#[pymethods]
impl Direct {
    #[new]
    fn new(executable: Py<Executable>, floats: Vec<bool>) -> Direct {
        Direct { executable, floats }
    }

    /// As `Executable.run`; `None` where an argument is something else.
    fn __call__<'py>(
        &self,
        py: Python<'py>,
        args: &Bound<'py, PyTuple>,
        progress: Option<Py<PyAny>>,
    ) -> PyResult<Option<Run<'py>>> {
        let executable = self.executable.get();
        let types = executable.executable.inputs();
        if args.len() != self.floats.len() || types.len() != self.floats.len() {
            return Ok(None);
        }
        let args: Vec<Bound<'py, PyAny>> = args.iter().collect();
        let float = |arg: &Bound<'py, PyAny>| arg.cast_exact::<PyFloat>().map_or(f64::NAN, |float| float.value());
        let numbers: Vec<f64> = args.iter().map(float).collect();
        let read = |k: usize| match self.floats[k] {
            true => args[k].is_exact_instance_of::<PyFloat>().then(|| number(&numbers[k])),
            false => source(&args[k], &types[k]),
        };
        let Some(sources) = (0..args.len()).map(read).collect::<Option<Vec<Source>>>() else { return Ok(None) };
        executable.run_for(py, &sources, progress).map(|run| Some(taken(run)))
    }
}

fn taken((results, stats): (Vec<Bound<'_, PyAny>>, Stats)) -> Run<'_> {
    (results, stats.bytes_peak, stats.seconds, stats.bytes_spilled)
}

impl Executable {
    /// What a loaded one does not have.
    fn compiled(&self) -> Option<&Compiled> {
        match &self.origin {
            Origin::Compiled(compiled) => Some(compiled),
            Origin::Loaded(_) | Origin::Counting => None,
        }
    }

    /// What was noted in the file that this was loaded from.
    fn noted(&self, name: &str) -> Option<&str> {
        match &self.origin {
            Origin::Loaded(saved) => saved.note(name),
            Origin::Compiled(_) | Origin::Counting => None,
        }
    }

    /// The memory of inputs.
    fn sources(&self, inputs: &[Bound<'_, PyAny>]) -> PyResult<Vec<Source>> {
        let types = self.executable.inputs();
        if inputs.len() != types.len() {
            return Err(PyValueError::new_err(format!("{} inputs are needed, found {}", types.len(), inputs.len())));
        }
        let needed = |ty: &Type| PyTypeError::new_err(format!("a row-major input of type {ty} is needed"));
        inputs.iter().zip(types).map(|(array, ty)| source(array, ty).ok_or_else(|| needed(ty))).collect()
    }

    /// Runs on the memory of inputs that the caller keeps alive.
    fn run_for<'py>(
        &self,
        py: Python<'py>,
        sources: &[Source],
        progress: Option<Py<PyAny>>,
    ) -> PyResult<(Vec<Bound<'py, PyAny>>, Stats)> {
        let executable = &self.executable;
        let (outputs, targets): (Vec<_>, Vec<Target>) =
            executable.outputs().iter().map(|ty| target(py, ty)).collect::<PyResult<Vec<_>>>()?.into_iter().unzip();
        let raised: Mutex<Option<PyErr>> = Mutex::new(None);
        let reports = Reports { progress, last: Mutex::new(None) };
        let stops = |reached: Option<Progress>| {
            let result = Python::attach(|py| py.check_signals().and_then(|()| reports.report(py, reached)));
            let mut raised = raised.lock().unwrap_or_else(PoisonError::into_inner);
            *raised = result.err();
            raised.is_some()
        };
        let result = py.detach(|| {
            let run = ticks::Run::new();
            let watch = Cancellation::asking(run.raised(), &stops);
            let sources: Vec<*const u8> = sources.iter().map(Source::pointer).collect();
            let targets: Vec<*mut u8> = targets.iter().map(Target::pointer).collect();
            // SAFETY: `source` and `target` checked type, shape, order and alignment of one array per input and output;
            // the caller and `outputs` keep them alive; outputs are new, so they overlap nothing; the
            // Python side makes bools 0 or 1.
            unsafe { executable.run_raw(&sources, &targets, &watch) }
        });
        if let Some(error) = raised.into_inner().unwrap_or_else(PoisonError::into_inner) {
            return Err(error);
        }
        Ok((outputs, result.map_err(|error| exception(py, error))?))
    }
}

/// Who is told how far a run is, and when that was last done.
struct Reports {
    progress: Option<Py<PyAny>>,
    last: Mutex<Option<Instant>>,
}

impl Reports {
    const PERIOD: Duration = Duration::from_millis(100);

    fn report(&self, py: Python<'_>, reached: Option<Progress>) -> PyResult<()> {
        let (Some(progress), Some(reached)) = (&self.progress, reached) else { return Ok(()) };
        let mut last = self.last.lock().unwrap_or_else(PoisonError::into_inner);
        if last.is_some_and(|last| last.elapsed() < Self::PERIOD) {
            return Ok(());
        }
        *last = Some(Instant::now());
        let Progress { part, parts, step, steps } = reached;
        progress.call1(py, (reached.fraction(), part, parts, step, steps)).map(|_| ())
    }
}
