//! Functions of arrays made from functions of handles: traced, compiled and kept per types of the arguments.

use std::borrow::Borrow;
use std::collections::BTreeMap;
use std::fmt;
use std::marker::PhantomData;
use std::num::NonZeroUsize;
use std::path::PathBuf;
use std::sync::{Arc, Mutex};

use retrograd_compiler::ir::{Array, DType, Error, ErrorKind, Pos, Program, Type};

use crate::budget::{Budget, IntoBudget};
use crate::cache;
use crate::pipeline::{
    self, Arithmetic, Backend, Compiled, Options, Plan, Sighting, SpillTo, Strategy, Wanted, strategy,
};
use crate::times::Times;
use crate::var::{Trace, Var, here};

/// The function `f`, compiled on first use for the types of its arguments.
///
/// ```
/// use retrograd::{Array, jit};
/// let norm = jit(|[x]| (x * x).sum().sqrt());
/// assert_eq!(norm.run(&[Array::f64([2], vec![3.0, 4.0])])?, [Array::scalar(5.0)]);
/// # Ok::<(), retrograd::Error>(())
/// ```
pub fn jit<'f, F, const N: usize>(f: F) -> Transformed<'f, Results>
where
    F: for<'t> Fn([Var<'t>; N]) -> Var<'t> + Send + Sync + 'f,
{
    Transformed::new::<N>(Wanted::Results, move |vars| vec![f(vars)])
}

/// The function `f` with several results, compiled on first use.
///
/// ```
/// use retrograd::{Array, jit_many};
/// let swap = jit_many(|[x, y]| vec![y, x]);
/// assert_eq!(swap.run(&[Array::scalar(1.0), Array::scalar(2.0)])?, [Array::scalar(2.0), Array::scalar(1.0)]);
/// # Ok::<(), retrograd::Error>(())
/// ```
pub fn jit_many<'f, F, const N: usize>(f: F) -> Transformed<'f, Results>
where
    F: for<'t> Fn([Var<'t>; N]) -> Vec<Var<'t>> + Send + Sync + 'f,
{
    Transformed::new::<N>(Wanted::Results, f)
}

/// The function `f` compiled for arguments of these types.
///
/// ```
/// use retrograd::{Array, compile, f64};
/// let compiled = compile(|[x, y]| x.dot(y), &[f64([2]), f64([2])])?;
/// let (x, y) = (Array::f64([2], vec![1.0, 2.0]), Array::f64([2], vec![3.0, 4.0]));
/// assert_eq!(compiled.run(&[&x, &y])?, [Array::scalar(11.0)]);
/// # Ok::<(), retrograd::Error>(())
/// ```
#[track_caller]
pub fn compile<F, const N: usize>(f: F, types: &[Type]) -> Result<Arc<Compiled>, Error>
where
    F: for<'t> Fn([Var<'t>; N]) -> Var<'t> + Send + Sync,
{
    jit(f).compile(types)
}

/// An f64 array type: `f64([100])`, `f64([])` for a scalar.
pub fn f64(shape: impl Into<Vec<usize>>) -> Type {
    Type::f64(shape)
}

/// An f32 array type.
///
/// ```
/// use retrograd::{Array, compile, f32};
/// let compiled = compile(|[x]| x * 0.5 + 1, &[f32([2])])?;
/// assert_eq!(compiled.run(&[&Array::f32([2], vec![1.0, 3.0])])?, [Array::f32([2], vec![1.5, 2.5])]);
/// # Ok::<(), retrograd::Error>(())
/// ```
pub fn f32(shape: impl Into<Vec<usize>>) -> Type {
    Type::f32(shape)
}

/// An i32 array type.
pub fn i32(shape: impl Into<Vec<usize>>) -> Type {
    Type::new(DType::I32, shape)
}

/// An i64 array type.
pub fn i64(shape: impl Into<Vec<usize>>) -> Type {
    Type::new(DType::I64, shape)
}

/// A bool array type.
pub fn bool(shape: impl Into<Vec<usize>>) -> Type {
    Type::new(DType::Bool, shape)
}

/// What a transformed function computes: [`Results`], or a derivative such as [`Gradient`](crate::Gradient).
pub trait Mode {
    /// What a run returns.
    type Output;

    /// The outputs of the compiled entry in that form; `chosen` is how many arguments it is differentiated by.
    #[doc(hidden)]
    fn output(outputs: Vec<Array>, chosen: usize) -> Self::Output;
}

/// What is computed from the arguments alone: [`run`](Transformed::run) does it.
pub trait Unseeded: Mode {}

/// What is computed for given cotangents, tangents or directions: [`run_with`](Transformed::run_with) does it.
pub trait Seeded: Mode {
    /// What a seed is called in messages.
    #[doc(hidden)]
    const SEED: &'static str;
}

/// The results of the function.
#[derive(Clone, Copy, Debug)]
pub enum Results {}

impl Mode for Results {
    type Output = Vec<Array>;
    fn output(outputs: Vec<Array>, _: usize) -> Vec<Array> {
        outputs
    }
}

impl Unseeded for Results {}

/// Traces the user's function over inputs of these types.
type TraceFn<'f> = dyn Fn(&[Type]) -> Result<Program, Error> + Send + Sync + 'f;

/// A function of arrays that compiles itself for the types of its arguments and keeps what it compiled.
pub struct Transformed<'f, M> {
    trace: Box<TraceFn<'f>>,
    wanted: Wanted,
    names: Option<Vec<String>>,
    chosen: Option<Chosen>,
    strategy: Arc<dyn Strategy>,
    /// A mistake in a budget is reported by the compilation, so that options chain.
    budget: Option<Result<Budget, Error>>,
    backend: Backend,
    spill: Option<Result<SpillTo, Error>>,
    threads: NonZeroUsize,
    arithmetic: Arithmetic,
    runs: Runs,
    compiled: Mutex<BTreeMap<Vec<Type>, Arc<Compiled>>>,
    mode: PhantomData<M>,
}

/// What a run is done by.
#[derive(Clone, Copy, Debug)]
enum Runs {
    MachineCode,
    /// The interpreter, which says where a NaN comes from.
    DebugNan,
}

/// The arguments that the user chose to differentiate by.
#[derive(Clone, Debug)]
enum Chosen {
    Places(Vec<usize>),
    Names(Vec<String>),
}

impl<M> fmt::Debug for Transformed<'_, M> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Transformed")
            .field("chosen", &self.chosen)
            .field("budget", &self.budget)
            .finish_non_exhaustive()
    }
}

impl<'f, M: Mode> Transformed<'f, M> {
    pub(crate) fn new<const N: usize>(
        wanted: Wanted,
        f: impl for<'t> Fn([Var<'t>; N]) -> Vec<Var<'t>> + Send + Sync + 'f,
    ) -> Transformed<'f, M> {
        let trace = move |types: &[Type]| {
            if types.len() != N {
                return Err(argument_error(format!("the function takes {N} arguments, found {}", types.len())));
            }
            Trace::run(types, |vars| f(vars.try_into().expect("as many handles as types")))
        };
        Transformed {
            trace: Box::new(trace),
            wanted,
            names: None,
            chosen: None,
            strategy: strategy::all()[0].clone(),
            budget: None,
            backend: Backend::default(),
            spill: None,
            threads: pipeline::cores(),
            arithmetic: Arithmetic::default(),
            runs: Runs::MachineCode,
            compiled: Mutex::default(),
            mode: PhantomData,
        }
    }

    /// Differentiate with respect to these arguments, counted from 0; unless told, the first one, and for `vjp` and
    /// `jvp` all floats.
    ///
    /// ```
    /// # use retrograd::{Array, DType, Var, for_loop, f64, grad, jit};
    /// let f = grad(|[x, y]| x * y).argnums(&[1]);
    /// assert_eq!(f.run(&[Array::scalar(3.0), Array::scalar(2.0)])?, [Array::scalar(3.0)]);
    /// # Ok::<(), retrograd::Error>(())
    /// ```
    #[must_use]
    pub fn argnums(self, argnums: &[usize]) -> Transformed<'f, M> {
        Transformed { chosen: Some(Chosen::Places(argnums.to_vec())), compiled: Mutex::default(), ..self }
    }

    /// Names for the arguments, in order, so that [`argnames`](Transformed::argnames) and [`named`](Transformed::named)
    /// can be used.
    ///
    /// ```
    /// use retrograd::{Array, jit};
    /// let ratio = jit(|[whole, part]| part / whole).names(&["whole", "part"]);
    /// let args = ratio.named(&[("part", Array::scalar(1.0)), ("whole", Array::scalar(4.0))])?;
    /// assert_eq!(ratio.run(&args)?, [Array::scalar(0.25)]);
    /// # Ok::<(), retrograd::Error>(())
    /// ```
    #[must_use]
    pub fn names(self, names: &[&str]) -> Transformed<'f, M> {
        Transformed { names: Some(owned(names)), compiled: Mutex::default(), ..self }
    }

    /// Differentiate with respect to the arguments of these [names](Transformed::names).
    ///
    /// ```
    /// use retrograd::{Array, grad};
    /// let energy = grad(|[mass, speed]| 0.5 * mass * speed * speed).names(&["mass", "speed"]).argnames(&["speed"]);
    /// let args = energy.named(&[("speed", Array::scalar(3.0)), ("mass", Array::scalar(2.0))])?;
    /// assert_eq!(energy.run(&args)?, [Array::scalar(6.0)]);
    /// # Ok::<(), retrograd::Error>(())
    /// ```
    #[must_use]
    pub fn argnames(self, names: &[&str]) -> Transformed<'f, M> {
        Transformed { chosen: Some(Chosen::Names(owned(names))), compiled: Mutex::default(), ..self }
    }

    /// Arguments given by [name](Transformed::names), put in order.
    #[track_caller]
    pub fn named<A: Clone>(&self, args: &[(&str, A)]) -> Result<Vec<A>, Error> {
        let pos = here();
        let at = |error: Error| error.at(&pos);
        let mut places: Vec<Option<A>> = vec![None; self.known_names().map_err(at)?.len()];
        for (name, arg) in args {
            let place = &mut places[self.place_of(name).map_err(at)?];
            if place.replace(arg.clone()).is_some() {
                return Err(argument_error(format!("argument `{name}` is given twice")).at(&pos));
            }
        }
        let missing = |k: usize| {
            argument_error(format!("argument `{}` is missing", self.names.as_ref().expect("checked above")[k]))
        };
        places.into_iter().enumerate().map(|(k, arg)| arg.ok_or_else(|| at(missing(k)))).collect()
    }

    /// Use at most this memory, as bytes or in words: `"1.2 MB"`, `"16 MiB"`. It decides what is kept, recomputed or
    /// spilled, and never changes a bit of the answer. A budget that cannot be met is an error before anything
    /// runs.
    ///
    /// ```no_run
    /// use retrograd::{Array, for_loop, grad};
    /// let f = grad(|[x]| for_loop(1000, x, |_, z| z.sin()).sum()).budget("100 kB");
    /// let gradient = f.run(&[Array::f64([100], vec![0.5; 100])])?;
    /// # Ok::<(), retrograd::Error>(())
    /// ```
    #[must_use]
    #[track_caller]
    pub fn budget(self, budget: impl IntoBudget) -> Transformed<'f, M> {
        let pos = here();
        let budget = budget.into_budget().map_err(|error| error.at(&pos));
        Transformed { budget: Some(budget), compiled: Mutex::default(), ..self }
    }

    /// Let states of loops go to a file in this directory, at most so many bytes, where the budget has no room for them
    /// and that is faster than to compute them again. Nothing is left there after a run, and no bit of the answer
    /// changes.
    ///
    /// ```
    /// use retrograd::{Array, for_loop, grad};
    /// let f = || grad(|[x]| for_loop(1000, x, |_, z| z.sin().exp().sin()).sum()).budget("20 kB");
    /// let x = Array::f64([100], vec![0.5; 100]);
    /// assert_eq!(f().spill(std::env::temp_dir(), "1 MB").run(&[x.clone()])?, f().run(&[x])?);
    /// # Ok::<(), retrograd::Error>(())
    /// ```
    #[must_use]
    #[track_caller]
    pub fn spill(self, directory: impl Into<PathBuf>, bytes: impl IntoBudget) -> Transformed<'f, M> {
        let (pos, directory) = (here(), directory.into());
        let spill =
            bytes.into_budget().map(|bytes| SpillTo { directory, bytes: bytes.bytes(), bytes_per_second: None });
        Transformed { spill: Some(spill.map_err(|error| error.at(&pos))), compiled: Mutex::default(), ..self }
    }

    /// Look for NaNs: a run is interpreted, slowly, and ends with an error of the kind
    /// [`NotFinite`](ErrorKind::NotFinite) at the first operation, forward or backward, that makes an infinity out
    /// of finite numbers or a NaN out of numbers. Infinities that the function or its caller writes down are let
    /// through.
    ///
    /// ```
    /// use retrograd::{Array, ErrorKind, for_loop, grad};
    /// let f = grad(|[x]| for_loop(5, x, |_, z| (z - 1.0).sqrt())).debug_nan();
    /// assert_eq!(f.run(&[Array::scalar(1e9)])?, grad(|[x]| for_loop(5, x, |_, z| (z - 1.0).sqrt())).run(&[Array::scalar(1e9)])?);
    /// let error = f.run(&[Array::scalar(5.0)]).unwrap_err();
    /// assert_eq!(error.kind, ErrorKind::NotFinite);
    /// assert!(error.message.starts_with("`sqrt` made NaN of -1.0, in step i = 3 of the loop at"), "{error}");
    /// # Ok::<(), retrograd::Error>(())
    /// ```
    #[must_use]
    pub fn debug_nan(self) -> Transformed<'f, M> {
        Transformed { runs: Runs::DebugNan, ..self }
    }

    /// Decide by this strategy; `auto` unless told.
    #[must_use]
    pub fn strategy(self, strategy: impl Strategy + 'static) -> Transformed<'f, M> {
        Transformed { strategy: Arc::new(strategy), compiled: Mutex::default(), ..self }
    }

    /// Machine code by this back end; Cranelift unless told. All give the same bits.
    ///
    /// ```
    /// use retrograd::{Array, Backend, jit};
    /// let square = jit(|[x]| x * x).backend(Backend::Auto);
    /// assert_eq!(square.run(&[Array::scalar(3.0)])?, [Array::scalar(9.0)]);
    /// println!("{}", square.compile(&[Array::scalar(3.0)])?.backend());
    /// # Ok::<(), retrograd::Error>(())
    /// ```
    #[must_use]
    pub fn backend(self, backend: Backend) -> Transformed<'f, M> {
        Transformed { backend, compiled: Mutex::default(), ..self }
    }

    /// Runs on so many threads, the one that calls included; as many as there are cores unless told. Bits do not depend
    /// on them.
    ///
    /// ```
    /// use std::num::NonZeroUsize;
    /// use retrograd::{Array, jit};
    /// let square = jit(|[x]| x * x).threads(NonZeroUsize::MIN);
    /// assert_eq!(square.run(&[Array::scalar(3.0)])?, [Array::scalar(9.0)]);
    /// # Ok::<(), retrograd::Error>(())
    /// ```
    #[must_use]
    pub fn threads(self, threads: NonZeroUsize) -> Transformed<'f, M> {
        Transformed { threads, compiled: Mutex::default(), ..self }
    }

    /// Round every operation as it is written, and add in the order that is written. Unless told, a product that is
    /// added or subtracted is rounded together with the sum (one `fma` instead of two instructions), but never
    /// where that could be seen: not if both terms of the sum are products, and not if the product has another use.
    /// So `x * y - y * x` is 0 either way. Sums along axes of products of repeated arrays become contractions. The
    /// value has the same bits with and without derivatives, either way.
    ///
    /// ```
    /// use retrograd::{Array, jit};
    /// let (x, y) = (0.1_f64, 10.0);
    /// let args = [x, y].map(Array::scalar);
    /// let rest = || jit(|[x, y]| x * y - 1.0);
    /// assert_eq!(rest().run(&args)?, [Array::scalar(x.mul_add(y, -1.0))]);
    /// assert_eq!(rest().exact().run(&args)?, [Array::scalar(x * y - 1.0)]);
    /// # Ok::<(), retrograd::Error>(())
    /// ```
    #[must_use]
    pub fn exact(self) -> Transformed<'f, M> {
        Transformed { arithmetic: Arithmetic::Exact, compiled: Mutex::default(), ..self }
    }

    /// With a rewrite of the traced Program before it is differentiated, such as `retrograd_expr::fast_math`.
    ///
    /// ```
    /// use retrograd::{Array, jit};
    /// let same = jit(|[x]| x * x).rewritten(|program| Ok(program.clone()));
    /// assert_eq!(same.run(&[Array::scalar(3.0)])?, [Array::scalar(9.0)]);
    /// # Ok::<(), retrograd::Error>(())
    /// ```
    #[must_use]
    pub fn rewritten(
        self,
        rewrite: impl Fn(&Program) -> Result<Program, Error> + Send + Sync + 'f,
    ) -> Transformed<'f, M> {
        let trace = self.trace;
        Transformed { trace: Box::new(move |types| rewrite(&trace(types)?)), compiled: Mutex::default(), ..self }
    }

    /// The plan for arguments of these types: what is kept, recomputed or spilled, and the bytes that it takes.
    #[track_caller]
    pub fn plan<T: Typed>(&self, args: &[T]) -> Result<Plan, Error> {
        Ok(Plan::clone(&self.compile(args)?.plan))
    }

    /// The Program of the function itself, before any derivative, for arguments of these types; it prints, and the
    /// interpreter runs it.
    ///
    /// ```
    /// # use retrograd::{Array, eval, f64, jit};
    /// let program = jit(|[x]| x * x).trace(&[f64([])])?;
    /// assert_eq!(eval::run(&program, &[Array::scalar(3.0)])?, [Array::scalar(9.0)]);
    /// # Ok::<(), retrograd::Error>(())
    /// ```
    #[track_caller]
    pub fn trace<T: Typed>(&self, args: &[T]) -> Result<Program, Error> {
        let (pos, types) = (here(), args.iter().map(Typed::ty).collect::<Vec<_>>());
        (self.trace)(&types).map_err(|error| error.at(&pos))
    }

    /// The function compiled for arguments of these types (arrays serve too); compiled once. Seeds, where it takes any,
    /// are inputs after the arguments.
    ///
    /// ```
    /// # use retrograd::{Array, DType, Var, for_loop, f64, grad, jit};
    /// let compiled = grad(|[x]| (x * x).sum()).compile(&[f64([2])])?;
    /// assert_eq!(compiled.run(&[&Array::f64([2], vec![1.0, 2.0])])?, [Array::f64([2], vec![2.0, 4.0])]);
    /// # Ok::<(), retrograd::Error>(())
    /// ```
    #[track_caller]
    pub fn compile<T: Typed>(&self, args: &[T]) -> Result<Arc<Compiled>, Error> {
        let (pos, types) = (here(), types_of(args));
        let cache = || self.compiled.lock().expect("nothing panics while the cache is locked");
        let found = cache().get(&types).cloned();
        match found {
            Some(compiled) => Ok(compiled),
            None => {
                let compiled = Arc::new(self.specialise(&types).map_err(|error| error.at(&pos))?);
                cache().insert(types, Arc::clone(&compiled));
                Ok(compiled)
            }
        }
    }

    /// What a run gives, by whatever runs are done; `seed` is what a seed is called.
    #[track_caller]
    fn outputs(&self, args: &[&Array], seeds: &[&Array], seed: &str) -> Result<M::Output, Error> {
        let (pos, types) = (here(), types_of(args));
        let inputs = [args, seeds].concat();
        let check = |program: &Program| check_seeds(seed, &program.main().param_types()[args.len()..], seeds);
        let outputs = match self.runs {
            Runs::MachineCode => {
                let compiled = self.compile(args)?;
                check(&compiled.program).and_then(|()| compiled.run(&inputs))
            }
            Runs::DebugNan => self.derived(&types).and_then(|program| {
                check(&program)?;
                pipeline::debug_nan(&program, &inputs.iter().map(|array| (*array).clone()).collect::<Vec<_>>())
            }),
        };
        Ok(M::output(outputs.map_err(|error| error.at(&pos))?, self.places(&types)?.len()))
    }

    /// The Program of what is wanted, over inputs of these types.
    fn derived(&self, types: &[Type]) -> Result<Program, Error> {
        pipeline::derive(&self.traced(types)?, self.wanted, &self.places(types)?)
    }

    fn specialise(&self, types: &[Type]) -> Result<Compiled, Error> {
        let budget = self.budget.clone().transpose()?.map(Budget::bytes);
        let spill = self.spill.clone().transpose()?;
        let mut times = Times::default();
        let program = times.take("trace", || self.traced(types))?;
        let (strategy, backend) = (self.strategy.clone(), self.backend.clone());
        let (wanted, argnums, threads, arithmetic) = (self.wanted, self.places(types)?, self.threads, self.arithmetic);
        let options = Options { wanted, argnums, strategy, budget, backend, spill, threads, arithmetic };
        let compiled = cache::compile(&program, &options)?;
        Ok(Compiled { times: times.then(compiled.times.clone()), ..compiled })
    }

    /// The function as a Program over inputs of these types.
    pub(crate) fn traced(&self, types: &[Type]) -> Result<Program, Error> {
        (self.trace)(types)
    }

    /// Places of the arguments to differentiate by.
    pub(crate) fn places(&self, types: &[Type]) -> Result<Vec<usize>, Error> {
        if let Some(names) = &self.names
            && names.len() != types.len()
        {
            return Err(argument_error(format!("there are {} names for {} arguments", names.len(), types.len())));
        }
        match &self.chosen {
            Some(Chosen::Places(places)) => Ok(places.clone()),
            Some(Chosen::Names(names)) => names.iter().map(|name| self.place_of(name)).collect(),
            None => Ok(match self.wanted {
                Wanted::Vjp | Wanted::Jvp => (0..types.len()).filter(|k| types[*k].dtype.is_float()).collect(),
                Wanted::Results
                | Wanted::Gradient
                | Wanted::ValueAndGradient
                | Wanted::Jacobian(_)
                | Wanted::Hvp
                | Wanted::Hessian => {
                    vec![0]
                }
            }),
        }
    }

    fn known_names(&self) -> Result<&[String], Error> {
        self.names
            .as_deref()
            .ok_or_else(|| argument_error("the arguments have no names; give them with `names`".into()))
    }

    fn place_of(&self, name: &str) -> Result<usize, Error> {
        let names = self.known_names()?;
        names.iter().position(|known| known == name).ok_or_else(|| {
            let known: Vec<String> = names.iter().map(|known| format!("`{known}`")).collect();
            argument_error(format!("no argument is called `{name}`; there are {}", known.join(", ")))
        })
    }
}

impl<M: Unseeded> Transformed<'_, M> {
    /// Runs the function, and shows to `look` what its probes ([`probe`](Var::probe),
    /// [`probe_cotangent`](Var::probe_cotangent)) see, in the order in which it happens.
    #[track_caller]
    pub fn run_observed<A: Borrow<Array>>(
        &self,
        args: &[A],
        look: &mut dyn FnMut(&Sighting<'_>),
    ) -> Result<M::Output, Error> {
        let args: Vec<&Array> = args.iter().map(Borrow::borrow).collect();
        let outputs = self.compile(&args)?.run_observed(&args, look)?;
        Ok(M::output(outputs, self.places(&types_of(&args))?.len()))
    }

    /// Runs the function, compiled for the types of these arguments.
    #[track_caller]
    pub fn run<A: Borrow<Array>>(&self, args: &[A]) -> Result<M::Output, Error> {
        let args: Vec<&Array> = args.iter().map(Borrow::borrow).collect();
        self.outputs(&args, &[], "")
    }
}

impl<M: Seeded> Transformed<'_, M> {
    /// Runs the function, compiled for the types of these arguments, with these cotangents, tangents or directions.
    ///
    /// ```
    /// use retrograd::{Array, vjp};
    /// let f = vjp(|[x, y]| x * y);
    /// let (value, cotangents) = f.run_with(&[Array::scalar(3.0), Array::scalar(2.0)], &[Array::scalar(10.0)])?;
    /// assert_eq!(value, Array::scalar(6.0));
    /// assert_eq!(cotangents, [Array::scalar(20.0), Array::scalar(30.0)]);
    /// # Ok::<(), retrograd::Error>(())
    /// ```
    #[track_caller]
    pub fn run_with<A: Borrow<Array>, S: Borrow<Array>>(&self, args: &[A], seeds: &[S]) -> Result<M::Output, Error> {
        let args: Vec<&Array> = args.iter().map(Borrow::borrow).collect();
        let seeds: Vec<&Array> = seeds.iter().map(Borrow::borrow).collect();
        self.outputs(&args, &seeds, M::SEED)
    }
}

fn check_seeds(name: &str, expected: &[Type], seeds: &[&Array]) -> Result<(), Error> {
    if expected.len() != seeds.len() {
        let types: Vec<String> = expected.iter().map(Type::to_string).collect();
        let message = format!("{} {name}s are needed ({}), found {}", expected.len(), types.join(", "), seeds.len());
        return Err(argument_error(message));
    }
    match (0..seeds.len()).find(|k| expected[*k] != seeds[*k].ty()) {
        None => Ok(()),
        Some(k) => {
            let message = format!("{name} {k}: expected {}, found {}", expected[k], seeds[k].ty());
            Err(Error::new(ErrorKind::Shape, Pos::unknown(), message))
        }
    }
}

fn argument_error(message: String) -> Error {
    Error::new(ErrorKind::Argument, Pos::unknown(), message)
}

fn owned(names: &[&str]) -> Vec<String> {
    names.iter().map(|name| (*name).to_owned()).collect()
}

pub(crate) fn types_of<T: Typed>(args: &[T]) -> Vec<Type> {
    args.iter().map(Typed::ty).collect()
}

/// What has a type: a [`Type`] itself, or an [`Array`].
pub trait Typed {
    /// The type.
    fn ty(&self) -> Type;
}

impl Typed for Type {
    fn ty(&self) -> Type {
        self.clone()
    }
}

impl Typed for Array {
    fn ty(&self) -> Type {
        Array::ty(self)
    }
}

impl<T: Typed> Typed for &T {
    fn ty(&self) -> Type {
        (*self).ty()
    }
}
