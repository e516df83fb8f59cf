//! From a Program to something that runs: the line of the compiler, read aloud.

use retrograd_compiler::ir::{Array, Builder, Error, ErrorKind, Pos, Program, Type, verify};
use std::collections::BTreeMap;
use std::num::NonZeroUsize;
use std::path::PathBuf;
use std::sync::{Arc, Mutex};

use retrograd_compiler::diff::check::{check_in_mode, check_to_order, floats};
use retrograd_compiler::{diff, eval, lower, opt, plan};

pub use crate::memory::spare_bytes;
use crate::times::Times;
use crate::var::here;

pub use retrograd_compiler::diff::{Direction, Seeds};
pub use retrograd_compiler::eval::Sighting;
pub use retrograd_compiler::opt::Arithmetic;
pub use retrograd_compiler::plan::{MOST_THREADS, Plan, Strategy, strategy};
pub use retrograd_jit::{Backend, Cancellation, Counts, Executable, Progress, Stats};

/// What is computed of a function.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wanted {
    /// Its results.
    Results,
    /// The gradient of its scalar result, which is the first; the others, where there are any, come before the
    /// gradient.
    Gradient,
    /// All its results, then that gradient.
    ValueAndGradient,
    /// Its results, then one cotangent per input chosen; a cotangent of each float result comes after the inputs.
    Vjp,
    /// Its results, then a tangent of each float result; a tangent per input chosen comes after the inputs.
    Jvp,
    /// The Jacobian of each float result by each input chosen, in this direction; `None` is the one that takes fewer
    /// seeds.
    Jacobian(Option<Direction>),
    /// The Hessian of its one scalar result times a direction, whose parts come after the inputs, forward over reverse.
    Hvp,
    /// The Hessian of its one scalar result, forward over reverse.
    Hessian,
}

/// What a compilation is asked for.
#[derive(Clone, Debug)]
pub struct Options {
    /// What is computed.
    pub wanted: Wanted,
    /// Inputs to differentiate with respect to.
    pub argnums: Vec<usize>,
    /// How residuals are decided.
    pub strategy: Arc<dyn Strategy>,
    /// Bytes that a run may take.
    pub budget: Option<u64>,
    /// Who makes machine code.
    pub backend: Backend,
    /// Where states go that the budget has no room for; nowhere unless told.
    pub spill: Option<SpillTo>,
    /// Threads of a run, the one that calls included; bits do not depend on them.
    pub threads: NonZeroUsize,
    /// Which roundings may differ from those that are written.
    pub arithmetic: Arithmetic,
}

/// A directory for states of loops: a plan under a budget writes them there where that is faster than to compute them
/// again.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SpillTo {
    /// The directory; every run has one file there, and leaves nothing behind.
    pub directory: PathBuf,
    /// Bytes that a run may take there.
    pub bytes: u64,
    /// How fast it is; measured once for every directory unless told.
    pub bytes_per_second: Option<u64>,
}

impl SpillTo {
    fn tier(&self) -> Result<plan::Spill, Error> {
        static MEASURED: Mutex<BTreeMap<PathBuf, u64>> = Mutex::new(BTreeMap::new());
        let mut measured = MEASURED.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        let bytes_per_second = match self.bytes_per_second.or(measured.get(&self.directory).copied()) {
            Some(known) => known,
            None => {
                let found = retrograd_jit::bytes_per_second(&self.directory)?;
                measured.insert(self.directory.clone(), found);
                found
            }
        };
        Ok(plan::Spill { bytes: self.bytes, bytes_per_second })
    }
}

/// As many threads as there are cores, or one where that is not known.
///
/// ```
/// assert!(retrograd::pipeline::cores().get() >= 1);
/// ```
pub fn cores() -> NonZeroUsize {
    std::thread::available_parallelism().unwrap_or(NonZeroUsize::MIN)
}

/// Machine code with the Program that it runs and the plan that it follows. A clone shares them, and has arenas of its
/// own.
#[derive(Clone, Debug)]
pub struct Compiled {
    /// What is computed, derivatives included; it prints.
    pub program: Arc<Program>,
    /// What is kept, recomputed or spilled, and the bytes that it takes.
    pub plan: Arc<Plan>,
    /// What the compilation took.
    pub times: Times,
    /// What was asked for when it was planned.
    pub(crate) request: plan::Request,
    pub(crate) executable: Executable,
}

/// Compiles a Program; its inputs are the user's, its outputs what is wanted.
///
/// ```
/// use retrograd::pipeline::{Arithmetic, Backend, Options, Wanted, compile, cores, strategy};
/// use retrograd::{Array, Attrs, Pos, Type, ops, trace::Tracer};
/// let (tracer, pos) = (Tracer::new("square"), Pos::unknown());
/// let x = tracer.input(Type::f64([]));
/// let y = tracer.op(&ops::MUL, Attrs::none(), &[x, x], &pos)?;
/// let program = tracer.finish(&[y])?;
/// let (strategy, backend) = (strategy::find("auto").unwrap(), Backend::Cranelift);
/// let (spill, threads, arithmetic) = (None, cores(), Arithmetic::Contracted);
/// let (wanted, argnums, budget) = (Wanted::ValueAndGradient, vec![0], None);
/// let options = Options { wanted, argnums, strategy, budget, backend, spill, threads, arithmetic };
/// let compiled = compile(&program, &options)?;
/// assert_eq!(compiled.run(&[&Array::scalar(3.0)])?, [Array::scalar(9.0), Array::scalar(6.0)]);
/// # Ok::<(), retrograd::Error>(())
/// ```
pub fn compile(program: &Program, options: &Options) -> Result<Compiled, Error> {
    verify(program)?;
    check(program, options.wanted, &options.argnums)?;
    let mut times = Times::default();
    let program = times.take("opt", || opt::fix(program, options.arithmetic));
    let program = match times.take("diff", || derived(&program, options.wanted, &options.argnums))? {
        Some(derived) => derived,
        None => program,
    };
    let program = times.take("freeze", || opt::freeze(&program));
    let spill = options.spill.as_ref().map(SpillTo::tier).transpose()?;
    let (strategy, budget, vectors) = (options.strategy.clone(), options.budget, options.backend.vectors());
    let request = plan::Request { strategy, budget, spill, threads: options.threads.get(), vectors };
    let plan = times.take("plan", || plan::plan_within(&program, &request, spare_bytes().unwrap_or(u64::MAX)))?;
    let lowered = times.take("lower", || lower::lower(&plan));
    let executable = times.take("jit", || Executable::new(&options.backend, &lowered))?;
    let executable = executable.with_threads(options.threads.get());
    let executable = match &options.spill {
        Some(to) => executable.spilling_to(&to.directory),
        None => executable,
    };
    Ok(Compiled { program: Arc::new(program), plan: Arc::new(plan), times, request, executable })
}

/// The Program that computes what is wanted of a verified Program: what [`compile`] compiles, before it is simplified.
///
/// ```
/// use retrograd::pipeline::{Wanted, derive};
/// use retrograd::{Array, eval, f64, jit};
/// let square = jit(|[x]| x * x).trace(&[f64([])])?;
/// let gradient = derive(&square, Wanted::Gradient, &[0])?;
/// assert_eq!(eval::run(&gradient, &[Array::scalar(3.0)])?, [Array::scalar(6.0)]);
/// # Ok::<(), retrograd::Error>(())
/// ```
pub fn derive(program: &Program, wanted: Wanted, argnums: &[usize]) -> Result<Program, Error> {
    check(program, wanted, argnums)?;
    Ok(derived(program, wanted, argnums)?.unwrap_or_else(|| program.clone()))
}

/// The Program with every operation marked to be rounded as it is written, whatever the Program that it becomes a part
/// of may round otherwise.
///
/// ```
/// use retrograd::{f64, jit, pipeline};
/// let program = jit(|[x]| x * x + 1.0).trace(&[f64([])])?;
/// assert!(pipeline::exact(&program).to_string().contains("{exact}"));
/// # Ok::<(), retrograd::Error>(())
/// ```
pub fn exact(program: &Program) -> Program {
    opt::fix(program, Arithmetic::Exact)
}

/// Interprets a Program that [`derive()`] gave, and says where the first NaN or infinity was made.
///
/// Nothing is simplified before, so that every operation that the user wrote, or that its derivative takes, is looked
/// at where it runs.
///
/// ```
/// use retrograd::pipeline::{Wanted, debug_nan, derive};
/// use retrograd::{Array, ErrorKind, f64, jit};
/// let root = jit(|[x]| x.sqrt()).trace(&[f64([])])?;
/// let gradient = derive(&root, Wanted::Gradient, &[0])?;
/// assert_eq!(debug_nan(&gradient, &[Array::scalar(4.0)])?, [Array::scalar(0.25)]);
/// assert_eq!(debug_nan(&gradient, &[Array::scalar(0.0)]).unwrap_err().kind, ErrorKind::NotFinite);
/// # Ok::<(), retrograd::Error>(())
/// ```
pub fn debug_nan(program: &Program, inputs: &[Array]) -> Result<Vec<Array>, Error> {
    eval::run_observed(program, inputs, &mut eval::FirstNotFinite)
}

/// Checks the derivatives of a Program by all its float inputs at these inputs, as [`check_grads`](crate::check_grads)
/// does.
pub fn check_grads(program: &Program, inputs: &[Array], order: usize, modes: &[Direction]) -> Result<(), Error> {
    let (wrt, outputs) = (floats(&program.main().param_types()), float_results(program));
    // An op without a rule is reported as such, at its line.
    for mode in modes {
        match mode {
            Direction::Forward => diff::jvp(program, &wrt, &outputs)?,
            Direction::Reverse => diff::vjp(program, &wrt, &outputs)?,
        };
    }
    let both = modes.contains(&Direction::Forward) && modes.contains(&Direction::Reverse);
    let checked = match modes {
        _ if order == 0 => Err("there is nothing to check to order 0".to_owned()),
        [] => Err("there is nothing to check without a mode".to_owned()),
        _ if wrt.is_empty() => Err("there is nothing to check: no argument is a float".to_owned()),
        _ if outputs.is_empty() => Err("there is nothing to check: no result is a float".to_owned()),
        _ if both => check_to_order(program, inputs, order, 1),
        [mode, ..] => check_in_mode(program, inputs, order, *mode, 1),
    };
    checked.map_err(|message| Error::new(ErrorKind::Argument, Pos::unknown(), message))
}

/// The Program that computes what is wanted, where that is a derivative.
fn derived(program: &Program, wanted: Wanted, wrt: &[usize]) -> Result<Option<Program>, Error> {
    let outputs = float_results(program);
    let derived = match wanted {
        Wanted::Results => return Ok(None),
        Wanted::Gradient => without(gradient(program, wrt)?, 1),
        Wanted::ValueAndGradient => gradient(program, wrt)?,
        Wanted::Vjp => diff::vjp(program, wrt, &outputs)?,
        Wanted::Jvp => diff::jvp(program, wrt, &outputs)?,
        Wanted::Jacobian(direction) => {
            let direction = direction.map_or_else(|| Ok(diff::seeds(program, wrt, &outputs)?.direction()), Ok)?;
            diff::jacobian(program, wrt, &outputs, direction)?
        }
        Wanted::Hvp => {
            let gradient = only_gradient(program, wrt)?;
            without(diff::jvp(&gradient, wrt, &float_results(&gradient))?, wrt.len())
        }
        Wanted::Hessian => {
            let gradient = only_gradient(program, wrt)?;
            diff::jacobian(&gradient, wrt, &float_results(&gradient), Direction::Forward)?
        }
    };
    Ok(Some(derived))
}

/// Places of the results that have derivatives.
pub(crate) fn float_results(program: &Program) -> Vec<usize> {
    floats(&program.main().result_types())
}

/// The Program that computes all results, then the gradient of the first.
fn gradient(program: &Program, argnums: &[usize]) -> Result<Program, Error> {
    Ok(seeded(diff::vjp(program, argnums, &[0])?))
}

/// That gradient alone, simplified, since it is differentiated again.
fn only_gradient(program: &Program, argnums: &[usize]) -> Result<Program, Error> {
    Ok(opt::simplify(&without(gradient(program, argnums)?, program.main().results.len())))
}

/// The cotangent of the scalar result, the last input, becomes the literal 1.
fn seeded(mut program: Program) -> Program {
    let main = program.main();
    let mut types = main.param_types();
    let seed = types.pop().expect("a vjp takes the cotangent of its output");
    let b = Builder::new(main.name.clone());
    let mut args = b.params(types);
    args.push(b.full(&seed, 1.0));
    let results = b.inline(main, &args);
    program.functions[usize::from(program.entry)] = b.finish(results);
    program
}

/// The Program without its first results.
fn without(mut program: Program, first: usize) -> Program {
    program.functions[usize::from(program.entry)].results.drain(..first);
    program
}

impl Compiled {
    /// Runs it on inputs of the types that it was compiled for.
    ///
    /// ```
    /// use retrograd::{Array, compile, f64};
    /// let compiled = compile(|[x]| x * x, &[f64([2])])?;
    /// assert_eq!(compiled.run(&[&Array::f64([2], vec![2.0, 3.0])])?, [Array::f64([2], vec![4.0, 9.0])]);
    /// # Ok::<(), retrograd::Error>(())
    /// ```
    #[track_caller]
    pub fn run(&self, inputs: &[&Array]) -> Result<Vec<Array>, Error> {
        self.run_with_stats(inputs).map(|(outputs, _)| outputs)
    }

    /// Runs it, and says what that took.
    #[track_caller]
    pub fn run_with_stats(&self, inputs: &[&Array]) -> Result<(Vec<Array>, Stats), Error> {
        let (pos, found) = (here(), inputs.iter().map(|array| array.ty()).collect::<Vec<_>>());
        check_arguments(&self.program.main().param_types(), &found, &pos)?;
        self.executable.run(inputs)
    }

    /// Predicted work against memory by the strategy that was asked, from the least budget to none, with this plan on
    /// it. That takes as long as to plan some twenty times.
    ///
    /// ```
    /// use retrograd::{f64, for_loop, grad};
    /// let compiled = grad(|[x]| for_loop(1000, x, |_, x| x.sin()).sum()).compile(&[f64([100])])?;
    /// let curve = compiled.curve()?;
    /// assert!(curve.points[0].bytes < compiled.plan.bytes_peak && curve.points.iter().any(|point| point.chosen));
    /// # Ok::<(), retrograd::Error>(())
    /// ```
    pub fn curve(&self) -> Result<plan::Curve, Error> {
        plan::Curve::new(&self.program, &self.plan, &self.request)
    }

    /// How many threads a run has: as many as were asked for, or one where its arrays are too small to share.
    pub fn threads(&self) -> usize {
        self.executable.threads()
    }

    /// Who made the machine code: a name, a version and, of a library, its path.
    pub fn backend(&self) -> &str {
        self.executable.backend()
    }

    /// Runs it, unless the watch stops it: then the error is [`ErrorKind::Interrupted`].
    ///
    /// ```
    /// use std::sync::atomic::AtomicBool;
    /// use retrograd::{Array, ErrorKind, Cancellation, compile, f64, while_loop};
    /// let endless = compile(|[x]| while_loop(x, |x| x.lt(1.0), |x| x * 0.5), &[f64([])])?;
    /// let stop = AtomicBool::new(true); // Another thread may set it at any time.
    /// let error = endless.run_with(&[&Array::scalar(0.5)], &Cancellation::from(&stop)).unwrap_err();
    /// assert_eq!(error.kind, ErrorKind::Interrupted);
    /// # Ok::<(), retrograd::Error>(())
    /// ```
    #[track_caller]
    pub fn run_with(&self, inputs: &[&Array], watch: &Cancellation<'_>) -> Result<Vec<Array>, Error> {
        let (pos, found) = (here(), inputs.iter().map(|array| array.ty()).collect::<Vec<_>>());
        check_arguments(&self.program.main().param_types(), &found, &pos)?;
        self.executable.run_with(inputs, watch).map(|(outputs, _)| outputs)
    }

    /// Runs it, and hands to `report`, every tenth of a second, how far it is.
    ///
    /// ```
    /// use retrograd::{Array, compile, f64, for_loop};
    /// let long = compile(|[x]| for_loop(100_000, x, |_, x| x.sin()), &[f64([])])?;
    /// let shown = |progress: &retrograd::Progress| println!("{:.0} %: {progress}", 100.0 * progress.fraction());
    /// long.run_reporting(&[&Array::scalar(1.0)], &mut |progress| shown(progress))?;
    /// # Ok::<(), retrograd::Error>(())
    /// ```
    #[track_caller]
    pub fn run_reporting(&self, inputs: &[&Array], report: &mut dyn FnMut(&Progress)) -> Result<Vec<Array>, Error> {
        let (pos, found) = (here(), inputs.iter().map(|array| array.ty()).collect::<Vec<_>>());
        check_arguments(&self.program.main().param_types(), &found, &pos)?;
        self.executable.run_reporting(inputs, report).map(|(outputs, _)| outputs)
    }

    /// The same, that also counts what it does: loop nests, calls, bytes read and written. Its results are the same, to
    /// the bit.
    ///
    /// ```
    /// use retrograd::{Array, compile, f64};
    /// let sum = compile(|[x]| x.sum(), &[f64([100])])?;
    /// let (_, stats) = sum.counting()?.run_with_stats(&[&Array::f64([100], vec![1.0; 100])])?;
    /// let counts = stats.counts.unwrap();
    /// assert_eq!((counts.nests, counts.bytes_read, counts.bytes_written), (1, 800, 8));
    /// # Ok::<(), retrograd::Error>(())
    /// ```
    pub fn counting(&self) -> Result<Compiled, Error> {
        Ok(Compiled { executable: self.executable.counting()?, ..self.clone() })
    }

    /// Runs it, and shows to `look` what its probes see, in the order in which it happens.
    #[track_caller]
    pub fn run_observed(&self, inputs: &[&Array], look: &mut dyn FnMut(&Sighting<'_>)) -> Result<Vec<Array>, Error> {
        let (pos, found) = (here(), inputs.iter().map(|array| array.ty()).collect::<Vec<_>>());
        check_arguments(&self.program.main().param_types(), &found, &pos)?;
        self.executable.run_observed(inputs, look).map(|(outputs, _)| outputs)
    }

    /// The machine code, for front ends that hold memory of their own.
    pub fn executable(&self) -> &Executable {
        &self.executable
    }
}

/// Mistakes are found in the Program as the user wrote it, before it is simplified.
fn check(program: &Program, wanted: Wanted, argnums: &[usize]) -> Result<(), Error> {
    let types = program.main().param_types();
    match wanted {
        Wanted::Results => Ok(()),
        Wanted::Gradient | Wanted::ValueAndGradient | Wanted::Hvp | Wanted::Hessian => {
            check_differentiable(&types, argnums)?;
            check_scalar(program)
        }
        Wanted::Vjp | Wanted::Jvp | Wanted::Jacobian(_) => {
            check_differentiable(&types, argnums)?;
            check_float_result(program)
        }
    }
}

fn check_differentiable(types: &[Type], argnums: &[usize]) -> Result<(), Error> {
    for (position, &k) in argnums.iter().enumerate() {
        let message = match types.get(k) {
            Some(_) if argnums[..position].contains(&k) => format!("argnums names argument {k} twice"),
            None => format!("argnums names argument {k}, but the function takes {}", types.len()),
            Some(ty) if !ty.dtype.is_float() => {
                format!("argument {k} is {ty}; only floats have a gradient, choose others with `argnums`")
            }
            Some(_) => continue,
        };
        return Err(Error::new(ErrorKind::Argument, Pos::unknown(), message));
    }
    Ok(())
}

/// Only a scalar has a gradient; the error is at the line that made the result.
fn check_scalar(program: &Program) -> Result<(), Error> {
    let main = program.main();
    let Some(result) = main.results.first() else {
        let message = "a gradient needs a function whose result is a scalar float, found no result";
        return Err(Error::new(ErrorKind::Argument, Pos::unknown(), message));
    };
    let ty = main.ty(*result);
    if ty.dtype.is_float() && ty.rank() == 0 {
        return Ok(());
    }
    let pos = main.insts.iter().find(|inst| inst.results.contains(result)).map(|inst| inst.pos.clone());
    let message = format!(
        "a gradient needs a function whose result is a scalar float, found {ty}; reduce it, for example with `sum`"
    );
    Err(Error::new(ErrorKind::Argument, pos.unwrap_or_default(), message))
}

/// Only floats have derivatives.
fn check_float_result(program: &Program) -> Result<(), Error> {
    let types = program.main().result_types();
    if types.iter().any(|ty| ty.dtype.is_float()) {
        return Ok(());
    }
    let found: Vec<String> = types.iter().map(Type::to_string).collect();
    let message =
        format!("a derivative needs a function with a float result, found {}; `convert` it to f64", found.join(", "));
    Err(Error::new(ErrorKind::Argument, Pos::unknown(), message))
}

fn check_arguments(expected: &[Type], found: &[Type], pos: &Pos) -> Result<(), Error> {
    let message = if expected.len() != found.len() {
        format!("the function takes {} arguments, found {}", expected.len(), found.len())
    } else if let Some(k) = (0..expected.len()).find(|k| expected[*k] != found[*k]) {
        format!("argument {k}: compiled for {}, found {}", expected[k], found[k])
    } else {
        return Ok(());
    };
    Err(Error::new(ErrorKind::Argument, pos.clone(), message))
}
