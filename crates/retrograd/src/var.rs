//! Handles to values of a trace: what the user's closure computes with.

use std::cell::{Cell, RefCell};
use std::ops::{Add, AddAssign, Div, DivAssign, Mul, MulAssign, Neg, Rem, RemAssign, Sub, SubAssign};
use std::ops::{BitAnd, BitAndAssign, BitOr, BitOrAssign, BitXor, BitXorAssign, Not, Shl, ShlAssign, Shr, ShrAssign};
use std::panic::{AssertUnwindSafe, Location, catch_unwind, resume_unwind};

use retrograd_compiler::ir::{Array, DType, Data, Error, OpDef, Pos, Program, Type};
use retrograd_compiler::ops;

use crate::index::{Axis, Place};
use crate::numpy::Along;
use crate::trace::{Traced, Tracer};

/// A trace under way: the tracer, and the first error.
///
/// Operators cannot return an error, so the first one is kept with its place and returned by the trace. From then on
/// operations do nothing and return their first operand.
#[derive(Debug)]
pub(crate) struct Trace {
    tracer: Tracer,
    error: RefCell<Option<Error>>,
}

thread_local! {
    /// How many functions are being traced, each inside the one before.
    static TRACED: Cell<usize> = const { Cell::new(0) };
}

/// Leaves the function that is being traced with an error, where no value leads to the trace to record it;
/// [`Trace::run`] gives it back.
pub(crate) fn leave(error: Error) -> ! {
    match TRACED.get() {
        0 => panic!("{error}"),
        _ => resume_unwind(Box::new(error)),
    }
}

/// What a function returns, or the error that it was left with. Any other panic goes on.
fn left<T>(f: impl FnOnce() -> T) -> Result<T, Error> {
    TRACED.set(TRACED.get() + 1);
    let result = catch_unwind(AssertUnwindSafe(f));
    TRACED.set(TRACED.get() - 1);
    result.map_err(|panic| *panic.downcast::<Error>().unwrap_or_else(|other| resume_unwind(other)))
}

impl Trace {
    /// Runs `f` over new inputs of these types; its results are those of the Program.
    pub(crate) fn run(types: &[Type], f: impl for<'t> FnOnce(&[Var<'t>]) -> Vec<Var<'t>>) -> Result<Program, Error> {
        let trace = Trace { tracer: Tracer::new("main"), error: RefCell::default() };
        let inputs: Vec<Traced> = types.iter().map(|ty| trace.tracer.input(ty.clone())).collect();
        let inputs: Vec<Var> = inputs.into_iter().map(|traced| Var { trace: &trace, traced }).collect();
        types.iter().try_for_each(Type::check)?;
        let results = left(|| f(&inputs))?;
        let results: Vec<Traced> = results.into_iter().map(|v| v.traced).collect();
        match trace.error.into_inner() {
            Some(error) => Err(error),
            None => trace.tracer.finish(&results),
        }
    }

    pub(crate) fn has_failed(&self) -> bool {
        self.error.borrow().is_some()
    }

    pub(crate) fn tracer(&self) -> &Tracer {
        &self.tracer
    }

    /// Does something unless an error is recorded; records the error that it returns.
    pub(crate) fn attempt<T>(&self, act: impl FnOnce(&Tracer) -> Result<T, Error>) -> Option<T> {
        if self.has_failed() {
            return None;
        }
        act(&self.tracer).map_err(|error| *self.error.borrow_mut() = Some(error)).ok()
    }

    pub(crate) fn var(&self, traced: Traced) -> Var<'_> {
        Var { trace: self, traced }
    }
}

/// The line of the user that called a `#[track_caller]` function.
#[track_caller]
pub(crate) fn here() -> Pos {
    let location = Location::caller();
    Pos::new(location.file(), location.line())
}

/// An array of the function being traced. Copy it freely; operators and methods add instructions.
///
/// Operands broadcast as in NumPy. A number takes the element type of the other operand, and i64 next to a float
/// becomes that float; other types that differ are a mistake: [`convert`](Var::convert) one of them. A mistake does not
/// panic: the first one is returned, with the line of the user, by whatever runs the trace.
///
/// ```
/// use retrograd::{Array, jit};
/// let f = jit(|[x, y]| (x.sin() + 2.0 * y).sum());
/// let outputs = f.run(&[Array::f64([2], vec![0.0, 0.0]), Array::scalar(1.5)])?;
/// assert_eq!(outputs, [Array::scalar(6.0)]);
/// # Ok::<(), retrograd::Error>(())
/// ```
///
/// A handle cannot leave its trace: a function transformed inside another takes what it needs as arguments.
///
/// ```compile_fail
/// # use retrograd::{Array, grad, jit};
/// let f = jit(|[x]| {
///     let inner = grad(|[y]| x * y);   // x is a handle of the outer trace
///     x
/// });
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Var<'t> {
    trace: &'t Trace,
    traced: Traced,
}

/// What an operand can be: a [`Var`], or a number, which becomes a literal.
pub trait Operand<'t> {
    /// The operand in the trace of `like`; a number takes its element type.
    #[doc(hidden)]
    fn operand(self, like: Var<'t>, pos: &Pos) -> Var<'t>;

    /// The handle, where it is one.
    #[doc(hidden)]
    fn handle(&self) -> Option<Var<'t>> {
        None
    }
}

impl<'t> Operand<'t> for Var<'t> {
    fn operand(self, _: Var<'t>, _: &Pos) -> Var<'t> {
        self
    }

    fn handle(&self) -> Option<Var<'t>> {
        Some(*self)
    }
}

impl<'t> Operand<'t> for f64 {
    fn operand(self, like: Var<'t>, pos: &Pos) -> Var<'t> {
        let dtype = if like.ty().dtype == DType::F32 { DType::F32 } else { DType::F64 };
        like.literal(Array::number(dtype, self), pos)
    }
}

impl<'t> Operand<'t> for i64 {
    fn operand(self, like: Var<'t>, pos: &Pos) -> Var<'t> {
        match (like.ty().dtype, i32::try_from(self)) {
            (dtype @ (DType::F32 | DType::F64), _) => like.literal(Array::number(dtype, self as f64), pos),
            (DType::I32, Ok(x)) => like.literal(Array::new([], Data::I32(vec![x])), pos),
            (DType::I32 | DType::I64 | DType::Bool, _) => like.literal(Array::int(self), pos),
        }
    }
}

impl<'t> Var<'t> {
    pub(crate) fn trace(self) -> &'t Trace {
        self.trace
    }

    pub(crate) fn traced(self) -> Traced {
        self.traced
    }

    /// An operation whose result takes the place of this value; nothing once an error is recorded.
    pub(crate) fn then(self, act: impl FnOnce(&Tracer) -> Result<Traced, Error>) -> Var<'t> {
        self.trace.attempt(act).map_or(self, |traced| self.trace.var(traced))
    }

    fn literal(self, value: Array, pos: &Pos) -> Var<'t> {
        self.then(|tracer| Ok(tracer.constant(value, pos)))
    }

    fn unary(self, def: &'static OpDef, pos: &Pos) -> Var<'t> {
        self.then(|tracer| tracer.elementwise(def, &[self.traced], pos))
    }

    fn binary(self, def: &'static OpDef, other: Var<'t>, pos: &Pos) -> Var<'t> {
        self.then(|tracer| tracer.elementwise(def, &[self.traced, other.traced], pos))
    }

    /// The type.
    pub fn ty(self) -> Type {
        self.trace.tracer.ty(self.traced)
    }

    /// The extents.
    pub fn shape(self) -> Vec<usize> {
        self.ty().shape
    }

    /// A literal in the trace of this value.
    ///
    /// ```
    /// # use retrograd::{Array, DType, Var, for_loop, f64, grad, jit};
    /// let f = jit(|[x]| x * x.constant(Array::f64([2], vec![3.0, 5.0])));
    /// assert_eq!(f.run(&[Array::scalar(2.0)])?, [Array::f64([2], vec![6.0, 10.0])]);
    /// # Ok::<(), retrograd::Error>(())
    /// ```
    #[track_caller]
    pub fn constant(self, value: Array) -> Var<'t> {
        self.literal(value, &here())
    }

    /// An array of a shape whose elements are all `x`, in the trace of this value and of its type if that is a float,
    /// else of f64.
    ///
    /// ```
    /// # use retrograd::{Array, jit};
    /// let f = jit(|[x]| x + x.full([2], 10.0));
    /// assert_eq!(f.run(&[Array::scalar(1.0)])?, [Array::f64([2], vec![11.0, 11.0])]);
    /// # Ok::<(), retrograd::Error>(())
    /// ```
    #[track_caller]
    pub fn full(self, shape: impl Into<Vec<usize>>, x: f64) -> Var<'t> {
        let pos = here();
        self.then(|tracer| tracer.full(&Type::new(self.float_type(), shape), x, &pos))
    }

    /// The numbers 0, 1, …, `count` − 1, in the trace of this value and of its type if that is a float, else of f64.
    ///
    /// ```
    /// # use retrograd::{Array, DType, Var, for_loop, f64, grad, jit};
    /// let f = jit(|[x]| x.arange(3) * x);
    /// assert_eq!(f.run(&[Array::scalar(2.0)])?, [Array::f64([3], vec![0.0, 2.0, 4.0])]);
    /// # Ok::<(), retrograd::Error>(())
    /// ```
    #[track_caller]
    pub fn arange(self, count: usize) -> Var<'t> {
        let pos = here();
        self.then(|tracer| tracer.iota(&Type::new(self.float_type(), [count]), 0, &pos))
    }

    /// The element type of new floats next to this value.
    pub(crate) fn float_type(self) -> DType {
        if self.ty().dtype == DType::F32 { DType::F32 } else { DType::F64 }
    }

    /// To another element type; bool becomes 0 or 1, floats truncate to integers.
    ///
    /// ```
    /// # use retrograd::{Array, DType, Var, for_loop, f64, grad, jit};
    /// let count = jit(|[x]| x.gt(0.0).convert(DType::F64).sum());
    /// assert_eq!(count.run(&[Array::f64([3], vec![-1.0, 2.0, 3.0])])?, [Array::scalar(2.0)]);
    /// # Ok::<(), retrograd::Error>(())
    /// ```
    #[track_caller]
    pub fn convert(self, dtype: DType) -> Var<'t> {
        let pos = here();
        self.then(|tracer| tracer.convert(self.traced, dtype, &pos))
    }

    /// The sum of all elements.
    #[track_caller]
    pub fn sum(self) -> Var<'t> {
        let (pos, axes) = (here(), (0..self.ty().rank()).collect::<Vec<_>>());
        if axes.is_empty() { self } else { self.then(|tracer| tracer.sum(self.traced, &axes, &pos)) }
    }

    /// The sum over some axes.
    ///
    /// ```
    /// # use retrograd::{Array, jit};
    /// let f = jit(|[x]| x.sum_axes(&[0]));
    /// assert_eq!(f.run(&[Array::f64([2, 2], vec![1.0, 2.0, 3.0, 4.0])])?, [Array::f64([2], vec![4.0, 6.0])]);
    /// # Ok::<(), retrograd::Error>(())
    /// ```
    #[track_caller]
    pub fn sum_axes(self, axes: &[usize]) -> Var<'t> {
        let pos = here();
        self.then(|tracer| tracer.sum(self.traced, axes, &pos))
    }

    /// Inner product, matrix times vector, or matrix product, as `numpy.dot`.
    ///
    /// ```
    /// # use retrograd::{Array, jit};
    /// let f = jit(|[a, x]| a.dot(x));
    /// let a = Array::f64([2, 2], vec![1.0, 2.0, 3.0, 4.0]);
    /// assert_eq!(f.run(&[a, Array::f64([2], vec![1.0, 10.0])])?, [Array::f64([2], vec![21.0, 43.0])]);
    /// # Ok::<(), retrograd::Error>(())
    /// ```
    #[track_caller]
    pub fn dot(self, other: Var<'t>) -> Var<'t> {
        let pos = here();
        self.then(|tracer| tracer.dot(self.traced, other.traced, &pos))
    }

    /// The same elements under another shape.
    #[track_caller]
    pub fn reshape(self, shape: impl Into<Vec<usize>>) -> Var<'t> {
        let pos = here();
        self.then(|tracer| tracer.reshape(self.traced, &shape.into(), &pos))
    }

    /// Axes in reverse order; of a matrix its transpose.
    ///
    /// ```
    /// # use retrograd::{Array, DType, Var, for_loop, f64, grad, jit};
    /// let f = jit(|[x]| x.reshape([2, 2]).transpose());
    /// assert_eq!(f.run(&[Array::f64([4], vec![1.0, 2.0, 3.0, 4.0])])?, [Array::f64([2, 2], vec![1.0, 3.0, 2.0, 4.0])]);
    /// # Ok::<(), retrograd::Error>(())
    /// ```
    #[track_caller]
    pub fn transpose(self) -> Var<'t> {
        let (pos, axes) = (here(), (0..self.ty().rank()).rev().collect::<Vec<_>>());
        self.then(|tracer| tracer.transpose(self.traced, &axes, &pos))
    }

    /// Axes in another order: axis k of the result is axis `axes[k]` of this value.
    #[track_caller]
    pub fn transpose_axes(self, axes: &[usize]) -> Var<'t> {
        let pos = here();
        self.then(|tracer| tracer.transpose(self.traced, axes, &pos))
    }

    /// Repeated to a shape as NumPy does. Operators do it by themselves.
    ///
    /// ```
    /// # use retrograd::{Array, DType, Var, for_loop, f64, grad, jit};
    /// let f = jit(|[x]| x.reshape([2, 1]).broadcast([2, 2]));
    /// assert_eq!(f.run(&[Array::f64([2], vec![1.0, 2.0])])?, [Array::f64([2, 2], vec![1.0, 1.0, 2.0, 2.0])]);
    /// # Ok::<(), retrograd::Error>(())
    /// ```
    #[track_caller]
    pub fn broadcast(self, shape: impl Into<Vec<usize>>) -> Var<'t> {
        let pos = here();
        self.then(|tracer| tracer.broadcast_to(self.traced, &shape.into(), &pos))
    }

    /// The elements at ranges and indices, one per axis; axes that are not mentioned are read whole, indexed axes go
    /// away.
    ///
    /// ```
    /// # use retrograd::{Array, jit};
    /// let f = jit(|[x]| x.slice((1.., 0)));
    /// assert_eq!(f.run(&[Array::f64([3, 2], vec![1.0, 2.0, 3.0, 4.0, 5.0, 6.0])])?, [Array::f64([2], vec![3.0, 5.0])]);
    /// # Ok::<(), retrograd::Error>(())
    /// ```
    #[track_caller]
    pub fn slice(self, ranges: impl Place<'t>) -> Var<'t> {
        let (pos, axes) = (here(), ranges.axes());
        self.then(|tracer| tracer.read(self.traced, &self.along(&axes), &pos))
    }

    /// The element at an index: [`slice`](Var::slice) under the name that reads better for `x.at(i)` and `a.at((i,
    /// j))`.
    #[track_caller]
    pub fn at(self, index: impl Place<'t>) -> Var<'t> {
        self.slice(index)
    }

    /// A new array with the elements at a place replaced; the value broadcasts. In a loop that carries the array this
    /// costs no copy.
    ///
    /// ```
    /// # use retrograd::{Array, jit};
    /// let f = jit(|[x]| x.set(1..3, x.at(0)));
    /// assert_eq!(f.run(&[Array::f64([4], vec![1.0, 2.0, 3.0, 4.0])])?, [Array::f64([4], vec![1.0, 1.0, 1.0, 4.0])]);
    /// # Ok::<(), retrograd::Error>(())
    /// ```
    #[track_caller]
    pub fn set(self, place: impl Place<'t>, value: impl Operand<'t>) -> Var<'t> {
        self.write(&ops::UPDATE, place.axes(), value, &here())
    }

    /// A new array with a value added to the elements at a place.
    ///
    /// ```
    /// # use retrograd::{Array, DType, Var, for_loop, f64, grad, jit};
    /// let f = jit(|[x]| x.add_at(1, 10.0));
    /// assert_eq!(f.run(&[Array::f64([2], vec![1.0, 2.0])])?, [Array::f64([2], vec![1.0, 12.0])]);
    /// # Ok::<(), retrograd::Error>(())
    /// ```
    #[track_caller]
    pub fn add_at(self, place: impl Place<'t>, value: impl Operand<'t>) -> Var<'t> {
        self.write(&ops::ADD_AT, place.axes(), value, &here())
    }

    fn write(self, def: &'static OpDef, axes: Vec<Axis<'t>>, value: impl Operand<'t>, pos: &Pos) -> Var<'t> {
        let value = value.operand(self, pos);
        self.then(|tracer| tracer.write(def, self.traced, &self.along(&axes), value.traced, pos))
    }

    fn along(self, axes: &[Axis<'t>]) -> Vec<Along> {
        let shape = self.shape();
        axes.iter().enumerate().map(|(k, axis)| axis.along(shape.get(k).copied().unwrap_or(0))).collect()
    }

    /// `size` elements from this index: a range of [`slice`](Var::slice) and [`set`](Var::set) whose start is computed.
    ///
    /// ```
    /// # use retrograd::{Array, DType, Var, for_loop, f64, grad, jit};
    /// let f = jit(|[x, i]| x.slice(i.window(2)));
    /// assert_eq!(f.run(&[Array::f64([3], vec![1.0, 2.0, 3.0]), Array::int(1)])?, [Array::f64([2], vec![2.0, 3.0])]);
    /// # Ok::<(), retrograd::Error>(())
    /// ```
    pub fn window(self, size: usize) -> Axis<'t> {
        Axis::Window { start: self, size }
    }

    /// These axes backwards.
    ///
    /// ```
    /// # use retrograd::{Array, jit};
    /// let f = jit(|[x]| x.flip(&[0]));
    /// assert_eq!(f.run(&[Array::f64([3], vec![1.0, 2.0, 3.0])])?, [Array::f64([3], vec![3.0, 2.0, 1.0])]);
    /// # Ok::<(), retrograd::Error>(())
    /// ```
    #[track_caller]
    pub fn flip(self, axes: &[usize]) -> Var<'t> {
        let pos = here();
        self.then(|tracer| tracer.flip(self.traced, axes, &pos))
    }

    /// No less than `low` and no greater than `high`, which wins; NaN if any is. On a bound, this value and the bound
    /// get half of the cotangent each.
    ///
    /// ```
    /// # use retrograd::{Array, jit};
    /// let f = jit(|[x]| x.clamp(-1.0, 1.0));
    /// assert_eq!(f.run(&[Array::f64([3], vec![-4.0, 0.5, 4.0])])?, [Array::f64([3], vec![-1.0, 0.5, 1.0])]);
    /// # Ok::<(), retrograd::Error>(())
    /// ```
    #[track_caller]
    pub fn clamp(self, low: impl Operand<'t>, high: impl Operand<'t>) -> Var<'t> {
        self.ternary(&ops::CLAMP, low, high, &here())
    }

    /// This value times `factor` plus `term`, rounded once.
    ///
    /// ```
    /// # use retrograd::{Array, jit};
    /// let f = jit(|[x]| x.mul_add(x, -1.0));
    /// assert_eq!(f.run(&[Array::scalar(1.0 + f64::EPSILON)])?, [Array::scalar(2.0 * f64::EPSILON + f64::EPSILON * f64::EPSILON)]);
    /// # Ok::<(), retrograd::Error>(())
    /// ```
    #[track_caller]
    pub fn mul_add(self, factor: impl Operand<'t>, term: impl Operand<'t>) -> Var<'t> {
        self.ternary(&ops::FMA, factor, term, &here())
    }

    fn ternary(self, def: &'static OpDef, a: impl Operand<'t>, b: impl Operand<'t>, pos: &Pos) -> Var<'t> {
        let (a, b) = (a.operand(self, pos), b.operand(self, pos));
        self.then(|tracer| tracer.elementwise(def, &[self.traced, a.traced, b.traced], pos))
    }

    /// Where this bool holds, elements of `a`, elsewhere elements of `b`.
    ///
    /// ```
    /// # use retrograd::{Array, jit};
    /// let relu = jit(|[x]| x.gt(0.0).select(x, 0.0));
    /// assert_eq!(relu.run(&[Array::f64([2], vec![-1.0, 2.0])])?, [Array::f64([2], vec![0.0, 2.0])]);
    /// # Ok::<(), retrograd::Error>(())
    /// ```
    #[track_caller]
    pub fn select(self, a: impl Operand<'t>, b: impl Operand<'t>) -> Var<'t> {
        let pos = here();
        let like = a.handle().or(b.handle()).unwrap_or(self);
        let (a, b) = (a.operand(like, &pos), b.operand(like, &pos));
        self.then(|tracer| {
            let args = [self.traced, a.traced, b.traced];
            tracer.elementwise(&ops::SELECT, &args, &pos)
        })
    }
}

/// Methods that are rows of the op table.
macro_rules! methods {
    (unary: $($(#[doc = $unary_doc:literal])+ $unary:ident $unary_row:ident;)* binary: $($(#[doc = $doc:literal])+ $binary:ident $row:ident;)*) => {
        impl<'t> Var<'t> {
            $($(#[doc = $unary_doc])+ #[track_caller] pub fn $unary(self) -> Var<'t> {
                self.unary(&ops::$unary_row, &here())
            })*
            $($(#[doc = $doc])+ #[track_caller] pub fn $binary(self, other: impl Operand<'t>) -> Var<'t> {
                let pos = here();
                self.binary(&ops::$row, other.operand(self, &pos), &pos)
            })*
        }
    };
}

methods! {
    unary:
        /// Sine.
        sin SIN;
        /// Cosine.
        cos COS;
        /// Exponential.
        exp EXP;
        /// Natural logarithm.
        log LOG;
        /// Hyperbolic tangent.
        tanh TANH;
        /// Square root.
        sqrt SQRT;
        /// 1 / √x.
        rsqrt RSQRT;
        /// Cube root.
        cbrt CBRT;
        /// Absolute value.
        abs ABS;
        /// −1, 0 or 1.
        sign SIGN;
        /// The largest integer that is not greater.
        floor FLOOR;
        /// The smallest integer that is not less.
        ceil CEIL;
        /// The nearest integer; of two the even one.
        round ROUND;
        /// The integer towards zero.
        trunc TRUNC;
        /// 2ˣ.
        exp2 EXP2;
        /// eˣ − 1, exact near 0.
        expm1 EXPM1;
        /// 1 / (1 + e⁻ˣ).
        logistic LOGISTIC;
        /// Logarithm to base 2.
        log2 LOG2;
        /// Logarithm to base 10.
        log10 LOG10;
        /// log (1 + x), exact near 0.
        log1p LOG1P;
        /// Tangent.
        tan TAN;
        /// Inverse sine.
        asin ASIN;
        /// Inverse cosine.
        acos ACOS;
        /// Inverse tangent.
        atan ATAN;
        /// Hyperbolic sine.
        sinh SINH;
        /// Hyperbolic cosine.
        cosh COSH;
        /// Inverse hyperbolic sine.
        asinh ASINH;
        /// Inverse hyperbolic cosine.
        acosh ACOSH;
        /// Inverse hyperbolic tangent.
        atanh ATANH;
        /// Error function.
        erf ERF;
        /// 1 − erf x, exact in the tail.
        erfc ERFC;
        /// Whether it is a NaN.
        is_nan IS_NAN;
        /// Whether it is a number that is not infinite.
        is_finite IS_FINITE;
        /// Does not hold.
        logical_not NOT;
    binary:
        /// Less than.
        lt LT;
        /// Less than or equal.
        le LE;
        /// Greater than.
        gt GT;
        /// Greater than or equal.
        ge GE;
        /// Equal.
        eq EQ;
        /// Not equal.
        ne NE;
        /// Both hold.
        logical_and AND;
        /// At least one holds.
        logical_or OR;
        /// The smaller of two; a NaN is the result.
        minimum MIN;
        /// The larger of two; a NaN is the result.
        maximum MAX;
        /// The first with the sign of the second.
        copysign COPYSIGN;
        /// √(x² + y²) without overflow.
        hypot HYPOT;
        /// log (eˣ + eʸ) without overflow.
        logaddexp LOGADDEXP;
        /// log₂ (2ˣ + 2ʸ) without overflow.
        logaddexp2 LOGADDEXP2;
        /// The angle of the point (other, self).
        atan2 ATAN2;
        /// One holds and the other does not.
        logical_xor XOR;
}

/// Operators between handles and numbers, on both sides, and with assignment.
macro_rules! operators {
    ($($operator:ident $method:ident $assign:ident $assign_method:ident $row:ident: $($number:ident)*;)*) => {$(
        impl<'t, T: Operand<'t>> $operator<T> for Var<'t> {
            type Output = Var<'t>;
            #[track_caller]
            fn $method(self, other: T) -> Var<'t> {
                let pos = here();
                self.binary(&ops::$row, other.operand(self, &pos), &pos)
            }
        }
        impl<'t, T: Operand<'t>> $assign<T> for Var<'t> {
            #[track_caller]
            fn $assign_method(&mut self, other: T) {
                *self = $operator::$method(*self, other);
            }
        }
        $(operators!(number $number $operator $method $row);)*
    )*};
    (number $number:ident $operator:ident $method:ident $row:ident) => {
        impl<'t> $operator<Var<'t>> for $number {
            type Output = Var<'t>;
            #[track_caller]
            fn $method(self, other: Var<'t>) -> Var<'t> {
                let pos = here();
                self.operand(other, &pos).binary(&ops::$row, other, &pos)
            }
        }
    };
}

operators! {
    Add add AddAssign add_assign ADD: f64 i64;
    Sub sub SubAssign sub_assign SUB: f64 i64;
    Mul mul MulAssign mul_assign MUL: f64 i64;
    Div div DivAssign div_assign DIV: f64 i64;
    Rem rem RemAssign rem_assign REM: f64 i64;
    BitAnd bitand BitAndAssign bitand_assign AND: i64;
    BitOr bitor BitOrAssign bitor_assign OR: i64;
    BitXor bitxor BitXorAssign bitxor_assign XOR: i64;
    Shl shl ShlAssign shl_assign SHL: i64;
    Shr shr ShrAssign shr_assign SHR: i64;
}

impl<'t> Not for Var<'t> {
    type Output = Var<'t>;
    #[track_caller]
    fn not(self) -> Var<'t> {
        self.unary(&ops::NOT, &here())
    }
}

impl<'t> Neg for Var<'t> {
    type Output = Var<'t>;
    #[track_caller]
    fn neg(self) -> Var<'t> {
        self.unary(&ops::NEG, &here())
    }
}
