//! `jit`, `grad`, `value_and_grad`: functions of arrays made from functions of handles.

use std::borrow::Borrow;
use std::collections::BTreeMap;
use std::fmt;
use std::marker::PhantomData;
use std::sync::{Arc, Mutex};

use retrograd_compiler::ir::{Array, DType, Error, ErrorKind, Pos, Program, Type};

use crate::budget::{Budget, IntoBudget};
use crate::pipeline::{self, Compiled, Options, Plan, Strategy, Wanted, strategy};
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

/// The gradient of `f`, whose result is a scalar, with respect to its first argument or to those chosen by
/// [`argnums`](Transformed::argnums).
///
/// ```
/// use retrograd::{Array, grad};
/// let f = grad(|[x]| (x * x * x).sum());
/// assert_eq!(f.run(&[Array::f64([2], vec![1.0, 2.0])])?, [Array::f64([2], vec![3.0, 12.0])]);
/// # Ok::<(), retrograd::Error>(())
/// ```
pub fn grad<'f, F, const N: usize>(f: F) -> Transformed<'f, Gradient>
where
    F: for<'t> Fn([Var<'t>; N]) -> Var<'t> + Send + Sync + 'f,
{
    Transformed::new::<N>(Wanted::Gradient, move |vars| vec![f(vars)])
}

/// The value of `f` and its gradient, as [`grad`].
///
/// ```
/// use retrograd::{Array, value_and_grad};
/// let f = value_and_grad(|[x, y]| x * x * y).argnums(&[0, 1]);
/// let (value, gradient) = f.run(&[Array::scalar(3.0), Array::scalar(2.0)])?;
/// assert_eq!(value, Array::scalar(18.0));
/// assert_eq!(gradient, [Array::scalar(12.0), Array::scalar(9.0)]);
/// # Ok::<(), retrograd::Error>(())
/// ```
pub fn value_and_grad<'f, F, const N: usize>(f: F) -> Transformed<'f, ValueAndGradient>
where
    F: for<'t> Fn([Var<'t>; N]) -> Var<'t> + Send + Sync + 'f,
{
    Transformed::new::<N>(Wanted::ValueAndGradient, move |vars| vec![f(vars)])
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

/// An i64 array type.
pub fn i64(shape: impl Into<Vec<usize>>) -> Type {
    Type::new(DType::I64, shape)
}

/// What a transformed function returns: [`Results`], [`Gradient`] or [`ValueAndGradient`].
pub trait Mode {
    /// What a run returns.
    type Output;

    /// The outputs of the compiled entry in that form.
    #[doc(hidden)]
    fn output(outputs: Vec<Array>) -> Self::Output;
}

/// The results of the function.
#[derive(Clone, Copy, Debug)]
pub enum Results {}

/// One gradient per argument chosen.
#[derive(Clone, Copy, Debug)]
pub enum Gradient {}

/// The value, and one gradient per argument chosen.
#[derive(Clone, Copy, Debug)]
pub enum ValueAndGradient {}

impl Mode for Results {
    type Output = Vec<Array>;
    fn output(outputs: Vec<Array>) -> Vec<Array> {
        outputs
    }
}

impl Mode for Gradient {
    type Output = Vec<Array>;
    fn output(outputs: Vec<Array>) -> Vec<Array> {
        outputs
    }
}

impl Mode for ValueAndGradient {
    type Output = (Array, Vec<Array>);
    fn output(mut outputs: Vec<Array>) -> (Array, Vec<Array>) {
        let gradient = outputs.split_off(1);
        (outputs.pop().expect("the value comes before the gradient"), gradient)
    }
}

/// Traces the user's function over inputs of these types.
type TraceFn<'f> = dyn Fn(&[Type]) -> Result<Program, Error> + Send + Sync + 'f;

/// A function of arrays that compiles itself for the types of its arguments and keeps what it compiled.
pub struct Transformed<'f, M> {
    trace: Box<TraceFn<'f>>,
    wanted: Wanted,
    argnums: Vec<usize>,
    strategy: Arc<dyn Strategy>,
    /// A mistake in a budget is reported by the compilation, so that options chain.
    budget: Option<Result<Budget, Error>>,
    compiled: Mutex<BTreeMap<Vec<Type>, Arc<Compiled>>>,
    mode: PhantomData<M>,
}

impl<M> fmt::Debug for Transformed<'_, M> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Transformed").field("argnums", &self.argnums).field("budget", &self.budget).finish_non_exhaustive()
    }
}

impl<'f, M: Mode> Transformed<'f, M> {
    fn new<const N: usize>(wanted: Wanted, f: impl for<'t> Fn([Var<'t>; N]) -> Vec<Var<'t>> + Send + Sync + 'f) -> Transformed<'f, M> {
        let trace = move |types: &[Type]| {
            if types.len() != N {
                let message = format!("the function takes {N} arguments, found {}", types.len());
                return Err(Error::new(ErrorKind::Argument, Pos::unknown(), message));
            }
            Trace::run(types, |vars| f(vars.try_into().expect("as many handles as types")))
        };
        let (strategy, compiled) = (strategy::all()[0].clone(), Mutex::default());
        Transformed { trace: Box::new(trace), wanted, argnums: vec![0], strategy, budget: None, compiled, mode: PhantomData }
    }

    /// Differentiate with respect to these arguments, counted from 0; the first one unless told.
    ///
    /// ```
    /// # use retrograd::{Array, DType, Var, for_loop, f64, grad, jit};
    /// let f = grad(|[x, y]| x * y).argnums(&[1]);
    /// assert_eq!(f.run(&[Array::scalar(3.0), Array::scalar(2.0)])?, [Array::scalar(3.0)]);
    /// # Ok::<(), retrograd::Error>(())
    /// ```
    #[must_use]
    pub fn argnums(self, argnums: &[usize]) -> Transformed<'f, M> {
        Transformed { argnums: argnums.to_vec(), compiled: Mutex::default(), ..self }
    }

    /// Use at most this memory, as bytes or in words: `"1.2 MB"`, `"16 MiB"`. It decides what is kept, recomputed or spilled, and
    /// never changes a bit of the answer. A budget that cannot be met is an error before anything runs.
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

    /// Decide by this strategy; `auto` unless told.
    #[must_use]
    pub fn strategy(self, strategy: impl Strategy + 'static) -> Transformed<'f, M> {
        Transformed { strategy: Arc::new(strategy), compiled: Mutex::default(), ..self }
    }

    /// Runs the function, compiled for the types of these arguments.
    #[track_caller]
    pub fn run<A: Borrow<Array>>(&self, args: &[A]) -> Result<M::Output, Error> {
        let args: Vec<&Array> = args.iter().map(Borrow::borrow).collect();
        let compiled = self.compile(&args)?;
        compiled.run(&args).map(M::output)
    }

    /// The plan for arguments of these types: what is kept, recomputed or spilled, and the bytes that it takes.
    #[track_caller]
    pub fn plan<T: Typed>(&self, args: &[T]) -> Result<Plan, Error> {
        Ok(self.compile(args)?.plan.clone())
    }

    /// The Program of the function itself, before any derivative, for arguments of these types; it prints, and the interpreter runs it.
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
        pipeline::check_inputs(&types).and_then(|()| (self.trace)(&types)).map_err(|error| error.at(&pos))
    }

    /// The function compiled for arguments of these types (arrays serve too); compiled once.
    ///
    /// ```
    /// # use retrograd::{Array, DType, Var, for_loop, f64, grad, jit};
    /// let compiled = grad(|[x]| (x * x).sum()).compile(&[f64([2])])?;
    /// assert_eq!(compiled.run(&[&Array::f64([2], vec![1.0, 2.0])])?, [Array::f64([2], vec![2.0, 4.0])]);
    /// # Ok::<(), retrograd::Error>(())
    /// ```
    #[track_caller]
    pub fn compile<T: Typed>(&self, args: &[T]) -> Result<Arc<Compiled>, Error> {
        let (pos, types) = (here(), args.iter().map(Typed::ty).collect::<Vec<_>>());
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

    fn specialise(&self, types: &[Type]) -> Result<Compiled, Error> {
        let budget = self.budget.clone().transpose()?.map(Budget::bytes);
        pipeline::check_inputs(types)?;
        let program = (self.trace)(types)?;
        let options = Options { wanted: self.wanted, argnums: self.argnums.clone(), strategy: self.strategy.clone(), budget };
        pipeline::compile(&program, &options)
    }
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
