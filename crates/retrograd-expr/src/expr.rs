//! Expressions: what they are made of, and how they are made.

use std::collections::HashSet;
use std::hash::{Hash, Hasher};
use std::sync::Arc;

use rustc_hash::FxHasher;

use crate::function::Function;
use crate::number::{Fraction, Number};

/// What stands at a place of an expression.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Op {
    /// A number.
    Number(Number),
    /// A number with a name.
    Constant(Constant),
    /// A variable.
    Variable(Arc<str>),
    /// An elementwise function of its arguments, which broadcast.
    Call(Function),
    /// A function of whole arrays.
    Array(ArrayOp),
    /// `einsum("ij,j->i", …)`.
    Einsum(Arc<str>),
    /// `[a, b, …]`: the arguments along a new first axis.
    Stack,
    /// `a[i, j]`: the first argument at the indices that follow; axes that are not indexed stay.
    Index,
    /// `sum(body, k, low, high)` and `prod(…)`: arguments are the body, and the first and the last value of the index.
    Fold(Fold, Arc<str>),
    /// The same value, taken as a constant by every derivative.
    StopGradient,
    /// A function with a derivative of its own.
    Custom(Arc<Custom>),
}

/// A number with a name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Constant {
    /// π
    Pi,
    /// e
    E,
    /// ∞, as a bound or a limit.
    Infinity,
}

impl Constant {
    /// All of them.
    pub const ALL: [Constant; 3] = [Constant::Pi, Constant::E, Constant::Infinity];

    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            Constant::Pi => "pi",
            Constant::E => "e",
            Constant::Infinity => "inf",
        }
    }

    /// The nearest float.
    pub fn to_f64(self) -> f64 {
        match self {
            Constant::Pi => std::f64::consts::PI,
            Constant::E => std::f64::consts::E,
            Constant::Infinity => f64::INFINITY,
        }
    }
}

/// A function of whole arrays.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[allow(missing_docs, reason = "the variants are the names")]
pub enum ArrayOp {
    Sum,
    Prod,
    Mean,
    Dot,
    Transpose,
    Det,
    Inverse,
    Trace,
    Norm,
    /// Whether an element holds.
    Any,
}

impl ArrayOp {
    /// All of them.
    pub const ALL: [ArrayOp; 10] = [
        ArrayOp::Sum,
        ArrayOp::Prod,
        ArrayOp::Mean,
        ArrayOp::Dot,
        ArrayOp::Transpose,
        ArrayOp::Det,
        ArrayOp::Inverse,
        ArrayOp::Trace,
        ArrayOp::Norm,
        ArrayOp::Any,
    ];

    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            ArrayOp::Sum => "sum",
            ArrayOp::Prod => "prod",
            ArrayOp::Mean => "mean",
            ArrayOp::Dot => "dot",
            ArrayOp::Transpose => "transpose",
            ArrayOp::Det => "det",
            ArrayOp::Inverse => "inverse",
            ArrayOp::Trace => "trace",
            ArrayOp::Norm => "norm",
            ArrayOp::Any => "any",
        }
    }

    /// Number of arguments.
    pub fn arity(self) -> usize {
        if self == ArrayOp::Dot { 2 } else { 1 }
    }
}

/// What is done with the values of a body over an index.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Fold {
    /// They are added.
    Sum,
    /// They are multiplied.
    Product,
}

impl Fold {
    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            Fold::Sum => "sum",
            Fold::Product => "prod",
        }
    }
}

/// A function of the user with a derivative of its own: see [`Definitions`](crate::Definitions).
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Custom {
    /// Its name.
    pub name: Arc<str>,
    /// Names of its parameters.
    pub params: Vec<Arc<str>>,
    /// What it computes of them.
    pub body: Expr,
    /// One cotangent per parameter: of the parameters, the result `r` and its cotangent `ct`.
    pub backward: Vec<Expr>,
}

/// An expression: cheap to clone, equal by structure.
///
/// ```
/// use retrograd_expr::Expr;
/// let f = Expr::parse("x*sin(y)^2 + exp(-x/2)")?;
/// assert_eq!(f.to_string(), "x*sin(y)^2 + exp(-x/2)");
/// assert_eq!(f.free_vars(), ["x", "y"]);
/// let x = Expr::variable("x");
/// assert_eq!((&x * 2 + 1).to_string(), "x*2 + 1");
/// # Ok::<(), retrograd::Error>(())
/// ```
#[derive(Clone)]
pub struct Expr(Arc<Node>);

struct Node {
    op: Op,
    args: Vec<Expr>,
    /// Of the structure, so that unequal expressions are told apart at once.
    hash: u64,
    /// Whether we made it, as part of a derivative or a polynomial, and not the user. Equal expressions may differ in
    /// this.
    derived: bool,
}

impl Expr {
    /// An op over its arguments. Of numbers, what has a shorter form takes it: `-(3)` is the number −3 and `1/3` a
    /// fraction.
    pub fn new(op: Op, args: Vec<Expr>) -> Expr {
        match (&op, &args[..]) {
            (Op::Call(Function::Neg), [x]) => {
                if let Some(x) = x.as_number() {
                    return Expr::number(x.negated());
                }
            }
            (Op::Call(Function::Div), [a, b]) => {
                let whole = a.as_integer().zip(b.as_integer());
                if let Some(quotient) = whole.and_then(|(a, b)| Fraction::new(a.into(), b.into())) {
                    return Expr::number(quotient);
                }
            }
            _ => {}
        }
        Expr::raw(op, args)
    }

    fn raw(op: Op, args: Vec<Expr>) -> Expr {
        Expr::node(op, args, false)
    }

    fn node(op: Op, args: Vec<Expr>, derived: bool) -> Expr {
        let mut hasher = FxHasher::default();
        op.hash(&mut hasher);
        args.iter().for_each(|arg| hasher.write_u64(arg.0.hash));
        Expr(Arc::new(Node { op, args, hash: hasher.finish(), derived }))
    }

    /// A sum or difference that we make ourselves: nobody wrote down how it is rounded, so that its products may be
    /// contracted.
    pub(crate) fn derived(function: Function, args: [Expr; 2]) -> Expr {
        Expr::node(Op::Call(function), args.into(), true)
    }

    /// Whether it was made so.
    pub(crate) fn is_derived(&self) -> bool {
        self.0.derived
    }

    /// The same over other arguments.
    pub(crate) fn over(&self, args: Vec<Expr>) -> Expr {
        if self.0.derived { Expr::node(self.op().clone(), args, true) } else { Expr::new(self.op().clone(), args) }
    }

    /// The hash of its structure.
    pub(crate) fn structure(&self) -> u64 {
        self.0.hash
    }

    /// A number.
    pub fn number(x: impl Into<Number>) -> Expr {
        Expr::raw(Op::Number(x.into()), vec![])
    }

    /// A float; one that is not finite is an expression that gives it.
    pub fn float(x: f64) -> Expr {
        if x.is_nan() {
            return Expr::float(f64::INFINITY) - Expr::float(f64::INFINITY);
        }
        let infinity = Expr::new(Op::Constant(Constant::Infinity), vec![]);
        match x {
            f64::INFINITY => infinity,
            f64::NEG_INFINITY => -infinity,
            finite => Expr::number(Number::of(finite)),
        }
    }

    /// A variable.
    pub fn variable(name: impl Into<Arc<str>>) -> Expr {
        Expr::raw(Op::Variable(name.into()), vec![])
    }

    /// A number with a name.
    pub fn constant(constant: Constant) -> Expr {
        Expr::raw(Op::Constant(constant), vec![])
    }

    /// A function of as many arguments as it takes.
    pub fn call<const N: usize>(function: Function, args: [Expr; N]) -> Expr {
        assert_eq!(function.row().arity, N, "`{}` takes as many arguments as its row says", function.row().name);
        Expr::new(Op::Call(function), args.into())
    }

    /// It to a power.
    #[must_use]
    pub fn pow(&self, exponent: impl Into<Expr>) -> Expr {
        Expr::call(Function::Pow, [self.clone(), exponent.into()])
    }

    /// What stands at its root.
    pub fn op(&self) -> &Op {
        &self.0.op
    }

    /// The arguments of its root.
    pub fn args(&self) -> &[Expr] {
        &self.0.args
    }

    /// The number that it is.
    pub fn as_number(&self) -> Option<Number> {
        if let Op::Number(x) = self.op() { Some(*x) } else { None }
    }

    /// The fraction that it is.
    pub fn as_fraction(&self) -> Option<Fraction> {
        self.as_number()?.fraction()
    }

    /// The integer that it is.
    pub fn as_integer(&self) -> Option<i64> {
        self.as_fraction()?.as_integer()
    }

    /// The variable that it is.
    pub fn as_variable(&self) -> Option<&Arc<str>> {
        if let Op::Variable(name) = self.op() { Some(name) } else { None }
    }

    /// Whether it is this integer.
    pub fn is(&self, n: i64) -> bool {
        self.as_integer() == Some(n)
    }

    pub(crate) fn address(&self) -> usize {
        Arc::as_ptr(&self.0) as usize
    }
}

/// Long chains are taken apart one by one: dropping them must not go as deep as they are long.
impl Drop for Node {
    fn drop(&mut self) {
        let mut rest = std::mem::take(&mut self.args);
        while let Some(Expr(node)) = rest.pop() {
            if let Some(mut node) = Arc::into_inner(node) {
                rest.append(&mut node.args);
            }
        }
    }
}

impl PartialEq for Expr {
    fn eq(&self, other: &Expr) -> bool {
        let mut seen: HashSet<(usize, usize)> = HashSet::new();
        let mut pairs = vec![(self, other)];
        while let Some((a, b)) = pairs.pop() {
            if Arc::ptr_eq(&a.0, &b.0) || !seen.insert((a.address(), b.address())) {
                continue;
            }
            if a.0.hash != b.0.hash || a.0.op != b.0.op || a.0.args.len() != b.0.args.len() {
                return false;
            }
            pairs.extend(a.args().iter().zip(b.args()));
        }
        true
    }
}

impl Eq for Expr {}

impl Hash for Expr {
    fn hash<H: Hasher>(&self, state: &mut H) {
        state.write_u64(self.0.hash);
    }
}

impl PartialOrd for Expr {
    fn partial_cmp(&self, other: &Expr) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

/// Any order that is one: by structure, smaller roots first.
impl Ord for Expr {
    fn cmp(&self, other: &Expr) -> std::cmp::Ordering {
        use std::cmp::Ordering::Equal;
        let mut seen: HashSet<(usize, usize)> = HashSet::new();
        let mut pairs = vec![(self, other)];
        while let Some((a, b)) = pairs.pop() {
            if Arc::ptr_eq(&a.0, &b.0) || !seen.insert((a.address(), b.address())) {
                continue;
            }
            let order = a.0.op.cmp(&b.0.op).then(a.0.args.len().cmp(&b.0.args.len()));
            if order != Equal {
                return order;
            }
            pairs.extend(a.args().iter().zip(b.args()).rev());
        }
        Equal
    }
}

impl std::fmt::Debug for Expr {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Expr({self})")
    }
}

impl From<i64> for Expr {
    fn from(n: i64) -> Expr {
        Expr::number(n)
    }
}

impl From<f64> for Expr {
    fn from(x: f64) -> Expr {
        Expr::float(x)
    }
}

impl From<Fraction> for Expr {
    fn from(fraction: Fraction) -> Expr {
        Expr::number(fraction)
    }
}

impl From<&Expr> for Expr {
    fn from(expr: &Expr) -> Expr {
        expr.clone()
    }
}

macro_rules! operators {
    ($($operator:ident $method:ident $function:ident;)*) => {$(
        impl<T: Into<Expr>> std::ops::$operator<T> for Expr {
            type Output = Expr;
            fn $method(self, other: T) -> Expr {
                Expr::call(Function::$function, [self, other.into()])
            }
        }
        impl<T: Into<Expr>> std::ops::$operator<T> for &Expr {
            type Output = Expr;
            fn $method(self, other: T) -> Expr {
                Expr::call(Function::$function, [self.clone(), other.into()])
            }
        }
    )*};
}

operators! {
    Add add Add;
    Sub sub Sub;
    Mul mul Mul;
    Div div Div;
}

impl std::ops::Neg for Expr {
    type Output = Expr;
    fn neg(self) -> Expr {
        Expr::call(Function::Neg, [self])
    }
}

impl std::ops::Neg for &Expr {
    type Output = Expr;
    fn neg(self) -> Expr {
        Expr::call(Function::Neg, [self.clone()])
    }
}
