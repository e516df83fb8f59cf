//! Loops and branches over closures.

use std::ops::Range;

use retrograd_compiler::ir::{Array, Attrs, DType, Error, ErrorKind, OpDef, Pos, Type};
use retrograd_compiler::ops;

use crate::trace::{Traced, TracedFunction, TracedRule, Tracer};
use crate::var::{Trace, Var, here, leave};

/// What a loop carries or a branch returns: a [`Var`], or tuples, arrays and vectors of such; implement it for your own
/// structs.
///
/// ```
/// use retrograd::{Array, State, Var, for_loop, grad};
/// struct Particle<'t> { place: Var<'t>, speed: Var<'t> }
/// impl<'t> State<'t> for Particle<'t> {
///     fn collect(&self, vars: &mut Vec<Var<'t>>) {
///         vars.extend([self.place, self.speed]);
///     }
///     fn rebuild(&self, vars: &mut dyn Iterator<Item = Var<'t>>) -> Particle<'t> {
///         Particle { place: self.place.rebuild(vars), speed: self.speed.rebuild(vars) }
///     }
/// }
/// let f = grad(|[height]| {
///     let dropped = Particle { place: height, speed: height * 0.0 };
///     for_loop(8, dropped, |_, p| Particle { place: p.place + p.speed * 0.5, speed: p.speed - 0.5 * p.place }).place
/// });
/// assert_eq!(f.run(&[Array::scalar(1.0)])?.len(), 1);
/// # Ok::<(), retrograd::Error>(())
/// ```
pub trait State<'t>: Sized {
    /// Appends the values, in a fixed order.
    fn collect(&self, vars: &mut Vec<Var<'t>>);

    /// The same structure over other values, taken in the same order.
    fn rebuild(&self, vars: &mut dyn Iterator<Item = Var<'t>>) -> Self;
}

impl<'t> State<'t> for Var<'t> {
    fn collect(&self, vars: &mut Vec<Var<'t>>) {
        vars.push(*self);
    }

    fn rebuild(&self, vars: &mut dyn Iterator<Item = Var<'t>>) -> Var<'t> {
        vars.next().expect("a state is rebuilt from as many values as it has")
    }
}

/// Nothing at all.
impl<'t> State<'t> for () {
    fn collect(&self, _: &mut Vec<Var<'t>>) {}

    fn rebuild(&self, _: &mut dyn Iterator<Item = Var<'t>>) {}
}

impl<'t, S: State<'t>> State<'t> for Vec<S> {
    fn collect(&self, vars: &mut Vec<Var<'t>>) {
        self.iter().for_each(|part| part.collect(vars));
    }

    fn rebuild(&self, vars: &mut dyn Iterator<Item = Var<'t>>) -> Vec<S> {
        self.iter().map(|part| part.rebuild(vars)).collect()
    }
}

impl<'t, S: State<'t>, const N: usize> State<'t> for [S; N] {
    fn collect(&self, vars: &mut Vec<Var<'t>>) {
        self.iter().for_each(|part| part.collect(vars));
    }

    fn rebuild(&self, vars: &mut dyn Iterator<Item = Var<'t>>) -> [S; N] {
        std::array::from_fn(|k| self[k].rebuild(vars))
    }
}

macro_rules! tuples {
    ($($($name:ident)+;)*) => {$(
        #[allow(non_snake_case, reason = "the type parameters name the fields")]
        impl<'t, $($name: State<'t>),+> State<'t> for ($($name,)+) {
            fn collect(&self, vars: &mut Vec<Var<'t>>) {
                let ($($name,)+) = self;
                $($name.collect(vars);)+
            }

            fn rebuild(&self, vars: &mut dyn Iterator<Item = Var<'t>>) -> Self {
                let ($($name,)+) = self;
                ($($name.rebuild(vars),)+)
            }
        }
    )*};
}

tuples! {
    A;
    A B;
    A B C;
    A B C D;
    A B C D E;
    A B C D E F;
}

/// How often a loop runs, and over which indices.
#[derive(Clone, Copy, Debug)]
pub enum Count<'t> {
    /// A number: the indices are 0, 1, …
    Number(usize),
    /// An i64 scalar of the trace: the indices are 0, 1, …
    Var(Var<'t>),
    /// A range such as `5..205`, or one by [`range`].
    Range {
        /// The first index.
        start: End<'t>,
        /// Where the indices end; it is not one of them.
        stop: End<'t>,
        /// From one index to the next; not 0.
        step: i64,
    },
}

/// An end of a range: a number, or an i64 scalar of the trace.
#[derive(Clone, Copy, Debug)]
pub enum End<'t> {
    /// A number.
    Number(i64),
    /// A value of the trace.
    Var(Var<'t>),
}

/// The indices from `start` to `stop`, which is not one of them, by `step`, which may be negative: as Python's `range`.
/// Both ends are numbers or i64 scalars of the trace. There are none where the step leads away from `stop`; a step of 0
/// is an error.
///
/// ```
/// use retrograd::{Array, DType, for_loop, grad, jit, range};
/// // ((0·9 + x)·7 + x)·5 + x …: the indices are 9, 7, 5 and 3.
/// let f = grad(|[x]| for_loop(range(9, 1, -2), x * 0.0, |i, sum| sum * i.convert(DType::F64) + x));
/// assert_eq!(f.run(&[Array::scalar(1.0)])?, [Array::scalar(1.0 + 3.0 + 15.0 + 105.0)]);
/// let count = jit(|[first, last]| for_loop(range(first, last, 3), first * 0i64, |_, n| n + 1i64));
/// assert_eq!(count.run(&[Array::int(2), Array::int(9)])?, [Array::int(3)]);
/// # Ok::<(), retrograd::Error>(())
/// ```
pub fn range<'t>(start: impl Into<End<'t>>, stop: impl Into<End<'t>>, step: i64) -> Count<'t> {
    Count::Range { start: start.into(), stop: stop.into(), step }
}

impl From<usize> for Count<'_> {
    fn from(count: usize) -> Self {
        Count::Number(count)
    }
}

impl<'t> From<Var<'t>> for Count<'t> {
    fn from(count: Var<'t>) -> Self {
        Count::Var(count)
    }
}

impl From<Range<usize>> for Count<'_> {
    fn from(range: Range<usize>) -> Self {
        self::range(number(range.start), number(range.end), 1)
    }
}

impl<'t> From<Range<Var<'t>>> for Count<'t> {
    fn from(range: Range<Var<'t>>) -> Self {
        self::range(range.start, range.end, 1)
    }
}

impl From<i64> for End<'_> {
    fn from(end: i64) -> Self {
        End::Number(end)
    }
}

impl<'t> From<Var<'t>> for End<'t> {
    fn from(end: Var<'t>) -> Self {
        End::Var(end)
    }
}

fn mistake(message: String) -> Error {
    Error::new(ErrorKind::Argument, Pos::unknown(), message)
}

/// A number of steps.
pub(crate) fn number(n: usize) -> i64 {
    i64::try_from(n).unwrap_or_else(|_| leave(mistake(format!("a loop has fewer than 2^63 steps, found {n}"))))
}

impl<'t> End<'t> {
    fn var(self) -> Option<Var<'t>> {
        match self {
            End::Number(_) => None,
            End::Var(v) => Some(v),
        }
    }

    fn traced(self, tracer: &Tracer, pos: &Pos) -> Result<Traced, Error> {
        match self {
            End::Number(n) => Ok(tracer.constant(Array::int(n), pos)),
            End::Var(v) => {
                let end = tracer.index(v.traced(), pos)?;
                tracer.expect_scalar("an end of a range", end, DType::I64, pos)?;
                Ok(end)
            }
        }
    }
}

impl<'t> Count<'t> {
    fn var(self) -> Option<Var<'t>> {
        match self {
            Count::Number(_) => None,
            Count::Var(v) => Some(v),
            Count::Range { start, stop, .. } => start.var().or(stop.var()),
        }
    }

    /// The index of step k.
    fn index(self, tracer: &Tracer, k: Traced, pos: &Pos) -> Result<Traced, Error> {
        let Count::Range { start, step, .. } = self else { return Ok(k) };
        let (start, step) = (start.traced(tracer, pos)?, tracer.constant(Array::int(step), pos));
        let distance = tracer.op(&ops::MUL, Attrs::none(), &[k, step], pos)?;
        tracer.op(&ops::ADD, Attrs::none(), &[start, distance], pos)
    }

    fn trace(self) -> Option<&'t Trace> {
        self.var().map(Var::trace)
    }

    fn traced(self, tracer: &Tracer, pos: &Pos) -> Result<Traced, Error> {
        match self {
            Count::Number(n) => Ok(tracer.constant(Array::int(number(n)), pos)),
            Count::Var(v) => tracer.index(v.traced(), pos),
            Count::Range { step: 0, .. } => {
                Err(Error::new(ErrorKind::Argument, pos.clone(), "the step of a range is 0"))
            }
            Count::Range { start: End::Number(start), stop: End::Number(stop), step } => {
                // In 128 bits nothing overflows; a range of more steps than i64 has numbers never ends anyway.
                let steps = steps_between(i128::from(start), i128::from(stop), i128::from(step));
                Ok(tracer.constant(Array::int(i64::try_from(steps).unwrap_or(i64::MAX)), pos))
            }
            Count::Range { start, stop, step } => {
                let (start, stop) = (start.traced(tracer, pos)?, stop.traced(tracer, pos)?);
                let int = |n: i64| tracer.constant(Array::int(n), pos);
                let row = |row: &'static OpDef, a: Traced, b: Traced| tracer.op(row, Attrs::none(), &[a, b], pos);
                let (from, to, step) =
                    if step > 0 { (start, stop, step) } else { (stop, start, step.saturating_neg()) };
                // (to - from + step - 1) / step, which is not positive where there is nothing between them; that is a
                // loop of no steps.
                let distance = row(&ops::SUB, to, from)?;
                if step == 1 {
                    Ok(distance)
                } else {
                    row(&ops::DIV, row(&ops::ADD, distance, int(step - 1))?, int(step))
                }
            }
        }
    }
}

/// How many of start, start + step, … come before stop.
fn steps_between(start: i128, stop: i128, step: i128) -> i128 {
    let (distance, step) = if step > 0 { (stop - start, step) } else { (start - stop, -step) };
    if distance <= 0 { 0 } else { (distance + step - 1) / step }
}

/// A loop of `count` steps: `state = body(i, state)` for i = 0, 1, …, or for every i of a range: `5..205`, or one with
/// a step by [`range`].
///
/// The body is traced once; values from outside can be read in it as they are.
///
/// ```
/// use retrograd::{Array, for_loop, jit};
/// let power = jit(|[x, y]| for_loop(10, x, |_, z| z * y));
/// assert_eq!(power.run(&[Array::scalar(1.0), Array::scalar(2.0)])?, [Array::scalar(1024.0)]);
/// # Ok::<(), retrograd::Error>(())
/// ```
#[track_caller]
pub fn for_loop<'t, S: State<'t>>(count: impl Into<Count<'t>>, init: S, body: impl FnOnce(Var<'t>, S) -> S) -> S {
    let (pos, count) = (here(), count.into());
    let carries = vars(&init);
    // A loop that carries nothing changes nothing, and there may be no trace to put it in.
    let Some(trace) = carries.first().map(|v| v.trace()).or(count.trace()) else { return init };
    let opened = trace.attempt(|tracer| {
        let count = count.traced(tracer, &pos)?;
        tracer.begin_for(count, &traced(&carries), &[], &pos)
    });
    let Some((k, params, _)) = opened else { return init };
    let index = trace.attempt(|tracer| count.index(tracer, k, &pos)).unwrap_or(k);
    let next = body(trace.var(index), init.rebuild(&mut params.into_iter().map(|v| trace.var(v))));
    match end(trace, |tracer| tracer.end_for(&traced(&vars(&next)), &[])) {
        Some(results) => init.rebuild(&mut results.into_iter()),
        None => init,
    }
}

/// A loop over the rows of `xs` that carries a state and emits a row per step, as JAX's `scan`: `(state, y) =
/// body(state, x)`. Returns the last state and the rows, put together along a new leading axis.
///
/// ```
/// use retrograd::{Array, jit_many, scan};
/// let sums = jit_many(|[xs]| {
///     let (total, partial) = scan(xs.full([], 0.0), xs, |sum, x| (sum + x, sum + x));
///     vec![total, partial]
/// });
/// let xs = Array::f64([3], vec![1.0, 2.0, 3.0]);
/// assert_eq!(sums.run(&[xs])?, [Array::scalar(6.0), Array::f64([3], vec![1.0, 3.0, 6.0])]);
/// # Ok::<(), retrograd::Error>(())
/// ```
#[track_caller]
pub fn scan<'t, S: State<'t>, X: State<'t>, Y: State<'t>>(init: S, xs: X, body: impl FnOnce(S, X) -> (S, Y)) -> (S, Y) {
    let (pos, count) = (here(), rows(&xs));
    emitting(count.into(), init, xs, |_, state, x| body(state, x), &pos)
}

/// A loop of `count` steps that emits a row per step: `(state, y) = body(i, state)`. Returns the last state and the
/// rows, put together along a new leading axis. The count must be known while tracing, and the state must hold
/// something: without a state, see [`tabulate`](Var::tabulate).
///
/// ```
/// use retrograd::{Array, for_loop_emit, jit};
/// let powers = jit(|[x]| for_loop_emit(4, x.full([], 1.0), |_, power| (power * x, power)).1);
/// assert_eq!(powers.run(&[Array::scalar(2.0)])?, [Array::f64([4], vec![1.0, 2.0, 4.0, 8.0])]);
/// # Ok::<(), retrograd::Error>(())
/// ```
#[track_caller]
pub fn for_loop_emit<'t, S: State<'t>, Y: State<'t>>(
    count: impl Into<Count<'t>>,
    init: S,
    body: impl FnOnce(Var<'t>, S) -> (S, Y),
) -> (S, Y) {
    emitting(count.into(), init, (), |i, state, ()| body(i, state), &here())
}

/// The rows `y = body(i, x)` for each row x of `xs`, independent of each other, put together along a new leading axis.
/// [`tabulate`](Var::tabulate) maps over numbers alone.
///
/// ```
/// use retrograd::{Array, jit, map};
/// let norms = jit(|[points]| map(points, |_, point| point.dot(point).sqrt()));
/// assert_eq!(norms.run(&[Array::f64([2, 2], vec![3.0, 4.0, 6.0, 8.0])])?, [Array::f64([2], vec![5.0, 10.0])]);
/// # Ok::<(), retrograd::Error>(())
/// ```
#[track_caller]
pub fn map<'t, X: State<'t>, Y: State<'t>>(xs: X, body: impl FnOnce(Var<'t>, X) -> Y) -> Y {
    let (pos, count) = (here(), rows(&xs));
    emitting(count.into(), (), xs, |i, (), x| ((), body(i, x)), &pos).1
}

/// How many rows the first stream has; the tracer checks that the others have as many.
fn rows<'t>(xs: &impl State<'t>) -> usize {
    vars(xs).first().and_then(|v| v.shape().first().copied()).unwrap_or(0)
}

/// A loop with streams in and out.
#[track_caller]
pub(crate) fn emitting<'t, S: State<'t>, X: State<'t>, Y: State<'t>>(
    count: Count<'t>,
    init: S,
    xs: X,
    body: impl FnOnce(Var<'t>, S, X) -> (S, Y),
    pos: &Pos,
) -> (S, Y) {
    let (carries, streams) = (vars(&init), vars(&xs));
    let trace = carries.first().or(streams.first()).map(|v| v.trace()).or(count.trace());
    let advice = "a loop that emits rows has a state or rows to read; without them use `tabulate`";
    let trace = trace.unwrap_or_else(|| leave(mistake(advice.into()).at(pos)));
    let opened =
        trace.attempt(|tracer| tracer.begin_for(count.traced(tracer, pos)?, &traced(&carries), &traced(&streams), pos));
    let Some((k, state, row)) = opened else {
        // The error is recorded: nothing that the body does now is traced.
        let index = carries.iter().chain(&streams).copied().next().or(count.var());
        return body(index.expect("as above"), init, xs);
    };
    let index = trace.attempt(|tracer| count.index(tracer, k, pos)).unwrap_or(k);
    let as_vars = |values: Vec<Traced>| values.into_iter().map(|v| trace.var(v));
    let (next, y) = body(trace.var(index), init.rebuild(&mut as_vars(state)), xs.rebuild(&mut as_vars(row)));
    match end(trace, |tracer| tracer.end_for(&traced(&vars(&next)), &traced(&vars(&y)))) {
        Some(results) => {
            let mut results = results.into_iter();
            (init.rebuild(&mut results), y.rebuild(&mut results))
        }
        None => (init, y),
    }
}

/// The results of the first closure where the predicate, a bool scalar, holds, else those of the second. Only one of
/// them runs.
///
/// ```
/// use retrograd::{Array, cond, jit};
/// let f = jit(|[x]| cond(x.lt(0.0), || -x, || x.sqrt()));
/// assert_eq!(f.run(&[Array::scalar(-3.0)])?, [Array::scalar(3.0)]);
/// assert_eq!(f.run(&[Array::scalar(9.0)])?, [Array::scalar(3.0)]);
/// # Ok::<(), retrograd::Error>(())
/// ```
#[track_caller]
pub fn cond<'t, S: State<'t>>(
    predicate: Var<'t>,
    then_branch: impl FnOnce() -> S,
    else_branch: impl FnOnce() -> S,
) -> S {
    let (pos, trace) = (here(), predicate.trace());
    if trace.attempt(|tracer| tracer.begin_if(predicate.traced(), &pos)).is_none() {
        return then_branch();
    }
    let first = then_branch();
    trace.tracer().begin_else();
    let second = else_branch();
    match end(trace, |tracer| tracer.end_if(&traced(&vars(&first)), &traced(&vars(&second)))) {
        Some(results) => first.rebuild(&mut results.into_iter()),
        None => first,
    }
}

/// A loop that runs `state = body(state)` while `condition(state)`, a bool scalar, holds.
///
/// Reverse mode goes back over as many steps as it took.
///
/// ```
/// use retrograd::{Array, value_and_grad, while_loop};
/// let halve = value_and_grad(|[x]| while_loop(x, |z| z.ge(1.0), |z| z * 0.5));
/// assert_eq!(halve.run(&[Array::scalar(12.0)])?, (Array::scalar(0.75), vec![Array::scalar(0.0625)]));
/// # Ok::<(), retrograd::Error>(())
/// ```
#[track_caller]
pub fn while_loop<'t, S: State<'t>>(init: S, condition: impl FnOnce(S) -> Var<'t>, body: impl FnOnce(S) -> S) -> S {
    let (pos, carries) = (here(), vars(&init));
    // A loop that carries nothing ends at once or never.
    let Some(trace) = carries.first().map(|v| v.trace()) else { return init };
    let inside = |params: Vec<Traced>| init.rebuild(&mut params.into_iter().map(|v| trace.var(v)));
    let Some(params) = trace.attempt(|tracer| tracer.begin_while(&traced(&carries), &pos)) else { return init };
    let predicate = condition(inside(params));
    let Some(params) = close(trace, |tracer| tracer.begin_while_body(predicate.traced())) else { return init };
    let next = body(inside(params));
    match end(trace, |tracer| tracer.end_while(&traced(&vars(&next)))) {
        Some(results) => init.rebuild(&mut results.into_iter()),
        None => init,
    }
}

/// `f(args)`, whose derivative in reverse mode is stated by two functions: `forward(args)` gives the results and
/// residuals, and `backward(residuals, cts)` from cotangents of the results those of the arguments. What is not a float
/// has no cotangent; what stands in its place is ignored. As in JAX, forward mode refuses it. All three read nothing
/// but their arguments and literals.
///
/// ```
/// use retrograd::{Array, custom_vjp, grad};
/// // Steep where it is differentiated backwards: the cotangent is tripled.
/// let f = grad(|[x]| custom_vjp(x, |x| x.sin(), |x| (x.sin(), x), |x, ct| 3.0 * ct * x.cos()));
/// assert_eq!(f.run(&[Array::scalar(0.0)])?, [Array::scalar(3.0)]);
/// # Ok::<(), retrograd::Error>(())
/// ```
#[track_caller]
pub fn custom_vjp<'t, A: State<'t>, R: State<'t>, S: State<'t>>(
    args: A,
    f: impl FnOnce(A) -> R,
    forward: impl FnOnce(A) -> (R, S),
    backward: impl FnOnce(S, R) -> A,
) -> R {
    let (pos, given) = (here(), vars(&args));
    let Some(trace) = given.first().map(|v| v.trace()) else { return f(args) };
    let types = types(trace, &given);
    let (body, results) = function(trace, &types, &pos, |params| f(rebuilt(&args, params)));
    let (fwd, (likely, residuals)) = function(trace, &types, &pos, |params| forward(rebuilt(&args, params)));
    let (of_results, of_residuals) = (self::types(trace, &vars(&likely)), self::types(trace, &vars(&residuals)));
    let of_cts: Vec<Type> = of_results.iter().filter(|ty| ty.dtype.is_float()).cloned().collect();
    let (bwd, _) = function(trace, &[&of_residuals[..], &of_cts].concat(), &pos, |params| {
        let (kept, cts) = params.split_at(of_residuals.len());
        let mut cts = cts.iter().copied();
        // What is not a float has no cotangent: a zero stands in its place.
        let mut all = of_results.iter().map(|ty| match ty.dtype.is_float() {
            true => cts.next().expect("one cotangent per float result"),
            false => trace.var(trace.tracer().constant(Array::zeros(ty), &pos)),
        });
        floats(trace, &backward(rebuilt(&residuals, kept), likely.rebuild(&mut all)))
    });
    let called = body.zip(fwd).zip(bwd).and_then(|((body, forward), backward)| {
        trace.attempt(|tracer| tracer.call(body, TracedRule::Vjp { forward, backward }, &traced(&given), &pos))
    });
    match called {
        Some(values) => results.rebuild(&mut values.into_iter().map(|v| trace.var(v))),
        None => results,
    }
}

/// `f(args)`, whose derivative is stated by a function: `tangent(args, dargs)` gives the tangents of the results and is
/// linear in `dargs`. Reverse mode is its transpose. What is not a float has no tangent; what stands in its place is
/// ignored. Both read nothing but their arguments and literals.
///
/// ```
/// use retrograd::{Array, custom_jvp, grad};
/// let f = grad(|[x]| custom_jvp(x, |x| x.sin(), |x, dx| 3.0 * x.cos() * dx));
/// assert_eq!(f.run(&[Array::scalar(0.0)])?, [Array::scalar(3.0)]);
/// # Ok::<(), retrograd::Error>(())
/// ```
#[track_caller]
pub fn custom_jvp<'t, A: State<'t>, R: State<'t>>(
    args: A,
    f: impl FnOnce(A) -> R,
    tangent: impl FnOnce(A, A) -> R,
) -> R {
    let (pos, given) = (here(), vars(&args));
    let Some(trace) = given.first().map(|v| v.trace()) else { return f(args) };
    let types = types(trace, &given);
    let (body, results) = function(trace, &types, &pos, |params| f(rebuilt(&args, params)));
    let of_tangents: Vec<Type> = types.iter().filter(|ty| ty.dtype.is_float()).cloned().collect();
    let (tangent, _) = function(trace, &[&types[..], &of_tangents].concat(), &pos, |params| {
        let (values, tangents) = params.split_at(types.len());
        let mut tangents = tangents.iter().copied();
        let mut all = types.iter().map(|ty| match ty.dtype.is_float() {
            true => tangents.next().expect("one tangent per float argument"),
            false => trace.var(trace.tracer().constant(Array::zeros(ty), &pos)),
        });
        floats(trace, &tangent(rebuilt(&args, values), args.rebuild(&mut all)))
    });
    let called = body.zip(tangent).and_then(|(body, tangent)| {
        trace.attempt(|tracer| tracer.call(body, TracedRule::Jvp { tangent }, &traced(&given), &pos))
    });
    match called {
        Some(values) => results.rebuild(&mut values.into_iter().map(|v| trace.var(v))),
        None => results,
    }
}

/// The same values, taken as constants by every derivative.
///
/// ```
/// use retrograd::{Array, grad, stop_gradient};
/// let f = grad(|[x]| x * stop_gradient(x));
/// assert_eq!(f.run(&[Array::scalar(3.0)])?, [Array::scalar(3.0)]);
/// # Ok::<(), retrograd::Error>(())
/// ```
#[track_caller]
pub fn stop_gradient<'t, S: State<'t>>(values: S) -> S {
    // A tangent of literal zeros depends on nothing, so nothing before it is differentiated.
    let pos = here();
    custom_jvp(
        values,
        |values| values,
        |values, _| {
            let zero = |v: Var<'t>| {
                v.trace().var(v.trace().tracer().constant(Array::zeros(&v.trace().tracer().ty(v.traced())), &pos))
            };
            let zeros: Vec<Var<'t>> = vars(&values).into_iter().map(zero).collect();
            rebuilt(&values, &zeros)
        },
    )
}

/// A function traced over parameters of these types, and what it returned; `None` after an error.
pub(crate) fn function<'t, R: State<'t>>(
    trace: &'t Trace,
    types: &[Type],
    pos: &Pos,
    f: impl FnOnce(&[Var<'t>]) -> R,
) -> (Option<TracedFunction>, R) {
    let params: Vec<Var<'t>> = trace.tracer().begin_function(types, pos).into_iter().map(|v| trace.var(v)).collect();
    let results = f(&params);
    let function = close(trace, |tracer| tracer.end_function(&traced(&vars(&results))));
    (function, results)
}

pub(crate) fn types(trace: &Trace, vars: &[Var]) -> Vec<Type> {
    vars.iter().map(|v| trace.tracer().ty(v.traced())).collect()
}

/// The floats of a state, in order.
fn floats<'t>(trace: &Trace, state: &impl State<'t>) -> Vec<Var<'t>> {
    vars(state).into_iter().filter(|v| trace.tracer().ty(v.traced()).dtype.is_float()).collect()
}

fn rebuilt<'t, S: State<'t>>(state: &S, vars: &[Var<'t>]) -> S {
    state.rebuild(&mut vars.iter().copied())
}

/// Ends a body; its results.
fn end<'t>(trace: &'t Trace, act: impl FnOnce(&Tracer) -> Result<Vec<Traced>, Error>) -> Option<Vec<Var<'t>>> {
    close(trace, act).map(|results| results.into_iter().map(|v| trace.var(v)).collect())
}

/// Ends a body, or drops it when it or its end has failed: nothing of it is needed, and the bodies around it must be
/// able to end.
fn close<T>(trace: &Trace, act: impl FnOnce(&Tracer) -> Result<T, Error>) -> Option<T> {
    let closed = trace.attempt(act);
    if closed.is_none() {
        trace.tracer().abandon();
    }
    closed
}

fn vars<'t>(state: &impl State<'t>) -> Vec<Var<'t>> {
    let mut vars = vec![];
    state.collect(&mut vars);
    vars
}

fn traced(vars: &[Var]) -> Vec<Traced> {
    vars.iter().map(|v| v.traced()).collect()
}
