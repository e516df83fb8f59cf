//! What is known about a subexpression at every point that the assumptions allow.

use crate::expr::{Constant, Expr, Op};
use crate::function::Function;
use crate::number::{Fraction, Number};
use crate::tidy;

/// Facts about the values of an expression.
///
/// They are proved, never guessed: what is not known is left open. Bounds hold wherever the expression is defined.
#[derive(Clone, Debug, PartialEq)]
pub struct Facts {
    /// No value is less.
    pub low: f64,
    /// No value is greater.
    pub high: f64,
    /// No value is 0.
    pub nonzero: bool,
    /// All values are integers.
    pub integer: bool,
    /// It is a finite number, and one number, at every point.
    pub total: bool,
    /// It is this number at every point.
    pub constant: Option<Fraction>,
}

impl Facts {
    /// Nothing is known.
    pub const NONE: Facts = Facts {
        low: f64::NEG_INFINITY,
        high: f64::INFINITY,
        nonzero: false,
        integer: false,
        total: false,
        constant: None,
    };

    /// Any real number.
    pub const REAL: Facts = Facts { total: true, ..Facts::NONE };

    fn within(low: f64, high: f64, total: bool) -> Facts {
        let bound = |x: f64, otherwise: f64| if x.is_nan() { otherwise } else { x };
        let (low, high) = (bound(low, f64::NEG_INFINITY), bound(high, f64::INFINITY));
        Facts { low, high, nonzero: low > 0.0 || high < 0.0, total, ..Facts::NONE }
    }

    fn number(x: Fraction) -> Facts {
        let near = x.to_f64();
        let exact = x.as_integer().is_some_and(|n| n.unsigned_abs() < 1 << 53);
        let (low, high) = if exact { (near, near) } else { (near.next_down(), near.next_up()) };
        Facts {
            low,
            high,
            nonzero: x != Fraction::ZERO,
            integer: x.as_integer().is_some(),
            total: true,
            constant: Some(x),
        }
    }

    /// All values are greater than 0.
    pub fn is_positive(&self) -> bool {
        self.low > 0.0 || (self.low >= 0.0 && self.nonzero)
    }

    /// No value is less than 0.
    pub fn is_nonnegative(&self) -> bool {
        self.low >= 0.0
    }

    /// No value is greater than 0.
    pub fn is_nonpositive(&self) -> bool {
        self.high <= 0.0
    }

    /// What both know. `None` where they contradict each other.
    pub(crate) fn together(&self, other: &Facts) -> Option<Facts> {
        let constant = match (self.constant, other.constant) {
            (Some(a), Some(b)) if a != b => return None,
            (a, b) => a.or(b),
        };
        let all = Facts {
            low: self.low.max(other.low),
            high: self.high.min(other.high),
            nonzero: self.nonzero || other.nonzero,
            integer: self.integer || other.integer,
            total: self.total || other.total,
            constant,
        };
        (all.low <= all.high && !(all.nonzero && all.low == 0.0 && all.high == 0.0)).then_some(all)
    }
}

/// Sums of bounds, rounded outwards; 0 is exact.
fn down(x: f64) -> f64 {
    if x == 0.0 { 0.0 } else { x.next_down() }
}

fn up(x: f64) -> f64 {
    if x == 0.0 { 0.0 } else { x.next_up() }
}

/// The least and the greatest of products or quotients of bounds, rounded outwards. `None` is exactly 0; what
/// underflows is between 0 and the least normal number of its sign.
fn ends(all: [Option<f64>; 4]) -> (f64, f64) {
    const TINY: f64 = f64::MIN_POSITIVE;
    let bounds = all.map(|end| match end {
        None => (0.0, 0.0),
        Some(x) if x.abs() < TINY => {
            if x.is_sign_negative() {
                (-TINY, 0.0)
            } else {
                (0.0, TINY)
            }
        }
        Some(x) => (x.next_down(), x.next_up()),
    });
    (
        bounds.iter().fold(f64::INFINITY, |low, end| low.min(end.0)),
        bounds.iter().fold(f64::NEG_INFINITY, |high, end| high.max(end.1)),
    )
}

/// Of bounds, 0 · ∞ is 0.
fn product(a: f64, b: f64) -> Option<f64> {
    (a != 0.0 && b != 0.0).then_some(a * b)
}

/// Facts of an op from those of its arguments; `same` where its two arguments are known to be equal.
pub(crate) fn of(op: &Op, args: &[&Facts], same: bool) -> Facts {
    let function = match op {
        Op::Number(Number::Fraction(x)) => return Facts::number(*x),
        Op::Number(Number::Float(x)) => return Facts::within(*x, *x, true),
        Op::Constant(constant @ (Constant::Pi | Constant::E)) => {
            let near = constant.to_f64();
            return Facts::within(near.next_down(), near.next_up(), true);
        }
        Op::Constant(Constant::Infinity) | Op::Array(_) | Op::Einsum(_) | Op::Stack | Op::Index | Op::Fold(..) => {
            return Facts::NONE;
        }
        Op::StopGradient | Op::Custom(_) | Op::Variable(_) => return Facts::NONE,
        Op::Call(function) => *function,
    };
    if let Some(x) = folded(function, args) {
        return Facts::number(x);
    }
    let found = image(function, args, same);
    let all = args.iter().all(|arg| arg.total);
    Facts { total: all && found.total, ..found }
}

/// The number that a function of numbers is.
fn folded(function: Function, args: &[&Facts]) -> Option<Fraction> {
    let numbers: Vec<Expr> = args.iter().map(|arg| arg.constant.map(Expr::number)).collect::<Option<_>>()?;
    match (function, &numbers[..]) {
        (Function::Add | Function::Sub | Function::Mul | Function::Div | Function::Neg, _) => {
            tidy::call(function, numbers).as_fraction()
        }
        (Function::Pow, [_, exponent]) if exponent.as_integer().is_some() => {
            tidy::call(function, numbers).as_fraction()
        }
        (named, [x]) => tidy::exact(named, x)?.as_fraction(),
        _ => None,
    }
}

/// Values of a function whose arguments are within bounds; `total` says that it is defined there.
fn image(function: Function, args: &[&Facts], same: bool) -> Facts {
    use Function::{
        Abs, Acos, Acosh, Add, And, Asin, Asinh, Atan, AtanTwo, Atanh, Cbrt, Ceil, Cos, Cosh, Div, Eq, Erf, Erfc, Exp,
        ExpTwo, Expm, Floor, Ge, Gt, Hypot, Le, Log, LogOnePlus, LogTen, LogTwo, Lt, Max, Min, Mul, Ne, Neg, Not, Or,
        Pow, Round, Select, Sigmoid, Sign, Sin, Sinh, Sqrt, Sub, Tan, Tanh, Trunc,
    };
    const HALF_PI: f64 = 1.570_796_326_794_896_8;
    let a = args[0];
    let b = args.get(1).copied().unwrap_or(&Facts::NONE);
    let integer = args.iter().all(|arg| arg.integer);
    match function {
        Add => {
            let positive = a.is_nonnegative() && b.is_nonnegative() && (a.is_positive() || b.is_positive());
            let sum = Facts { integer, ..Facts::within(down(a.low + b.low), up(a.high + b.high), true) };
            Facts { nonzero: sum.nonzero || positive, ..sum }
        }
        Sub => Facts { integer, ..Facts::within(down(a.low - b.high), up(a.high - b.low), true) },
        Neg => Facts { integer, nonzero: a.nonzero, ..Facts::within(-a.high, -a.low, true) },
        Mul => {
            let (low, high) =
                ends([product(a.low, b.low), product(a.low, b.high), product(a.high, b.low), product(a.high, b.high)]);
            let low = if same { low.max(0.0) } else { low };
            Facts { integer, nonzero: a.nonzero && b.nonzero, ..Facts::within(low, high, true) }
        }
        Div => quotient(a, b),
        Pow => power(a, b),
        Sin | Cos => Facts::within(-1.0, 1.0, true),
        Tan => Facts::within(f64::NEG_INFINITY, f64::INFINITY, a.low > -1.57 && a.high < 1.57),
        Asin => odd(a, HALF_PI, a.low >= -1.0 && a.high <= 1.0),
        Acos => Facts::within(0.0, 3.141_592_653_589_794, a.low >= -1.0 && a.high <= 1.0),
        Atan => odd(a, HALF_PI, true),
        AtanTwo => Facts::within(-3.15, 3.15, true),
        Sinh | Asinh | Cbrt => odd(a, f64::INFINITY, true),
        Atanh => odd(a, f64::INFINITY, a.low > -1.0 && a.high < 1.0),
        Tanh | Erf => odd(a, 1.0, true),
        Cosh => Facts::within(1.0, f64::INFINITY, true),
        Acosh => Facts::within(0.0, f64::INFINITY, a.low >= 1.0),
        Exp => increasing(a, f64::exp, 0.0, true),
        ExpTwo => increasing(a, f64::exp2, 0.0, true),
        Expm => Facts { nonzero: a.nonzero, ..increasing(a, f64::exp_m1, -1.0, true) },
        Log => increasing(a, f64::ln, f64::NEG_INFINITY, a.is_positive()),
        LogTwo => increasing(a, f64::log2, f64::NEG_INFINITY, a.is_positive()),
        LogTen => increasing(a, f64::log10, f64::NEG_INFINITY, a.is_positive()),
        LogOnePlus => Facts { nonzero: a.nonzero, ..increasing(a, f64::ln_1p, f64::NEG_INFINITY, a.low > -1.0) },
        Sqrt => Facts { nonzero: a.nonzero, ..increasing(a, f64::sqrt, 0.0, a.is_nonnegative()) },
        Hypot => Facts { nonzero: a.nonzero || b.nonzero, ..Facts::within(0.0, f64::INFINITY, true) },
        Abs => {
            let least = if a.low > 0.0 {
                a.low
            } else if a.high < 0.0 {
                -a.high
            } else {
                0.0
            };
            Facts { integer, nonzero: a.nonzero, ..Facts::within(least, a.high.max(-a.low), true) }
        }
        Sign => {
            let low = if a.is_positive() {
                1.0
            } else if a.is_nonnegative() {
                0.0
            } else {
                -1.0
            };
            let high = if a.is_nonpositive() { if a.nonzero { -1.0 } else { 0.0 } } else { 1.0 };
            Facts { integer: true, nonzero: a.nonzero, ..Facts::within(low, high, true) }
        }
        Floor => Facts { integer: true, ..Facts::within(a.low.floor(), a.high.floor(), true) },
        Ceil => Facts { integer: true, ..Facts::within(a.low.ceil(), a.high.ceil(), true) },
        Round | Trunc => Facts { integer: true, ..Facts::within(a.low.floor(), a.high.ceil(), true) },
        Erfc => Facts { nonzero: true, ..Facts::within(0.0, 2.0, true) },
        Sigmoid => Facts { nonzero: true, ..Facts::within(0.0, 1.0, true) },
        Min => Facts {
            integer,
            nonzero: a.nonzero && b.nonzero,
            ..Facts::within(a.low.min(b.low), a.high.min(b.high), true)
        },
        Max => Facts {
            integer,
            nonzero: a.nonzero && b.nonzero,
            ..Facts::within(a.low.max(b.low), a.high.max(b.high), true)
        },
        Lt | Le | Gt | Ge | Eq | Ne | And | Or | Not => Facts::within(0.0, 1.0, true),
        Select => {
            let c = args[2];
            let facts = Facts::within(b.low.min(c.low), b.high.max(c.high), true);
            Facts { integer: b.integer && c.integer, nonzero: b.nonzero && c.nonzero, ..facts }
        }
    }
}

/// A function that keeps signs, between minus a bound and the bound.
fn odd(a: &Facts, bound: f64, total: bool) -> Facts {
    let low = if a.is_nonnegative() { 0.0 } else { -bound };
    let high = if a.is_nonpositive() { 0.0 } else { bound };
    Facts { nonzero: a.nonzero, ..Facts::within(low, high, total) }
}

/// A function that increases, with no value below `least`; the library's is right to a few units in the last place.
fn increasing(a: &Facts, f: fn(f64) -> f64, least: f64, total: bool) -> Facts {
    let slack = |x: f64| 1e-15 * x.abs() + f64::MIN_POSITIVE;
    let (low, high) = (f(a.low), f(a.high));
    // None of these functions gives 0 but where it is 0, or underflows towards it from above.
    let low = if low == 0.0 { 0.0 } else { low - slack(low) };
    let facts = Facts::within(low.max(least), high + slack(high), total);
    // What stays above 0 by its nature, as `exp` does, is not 0.
    let never_zero = least == 0.0 && f(f64::NEG_INFINITY) == 0.0;
    Facts { nonzero: facts.nonzero || never_zero, ..facts }
}

fn quotient(a: &Facts, b: &Facts) -> Facts {
    let (low, high) = if b.low > 0.0 || b.high < 0.0 {
        // ∞ / ∞ of bounds can be anything of that sign.
        let unbounded = a.low.is_infinite() || a.high.is_infinite();
        let quotient = |a: f64, b: f64| (a != 0.0).then(|| a / b);
        let bounds =
            ends([quotient(a.low, b.low), quotient(a.low, b.high), quotient(a.high, b.low), quotient(a.high, b.high)]);
        if unbounded { sides(a, b) } else { bounds }
    } else {
        sides(a, b)
    };
    Facts { nonzero: a.nonzero, ..Facts::within(low, high, b.nonzero) }
}

/// Bounds of a quotient by signs alone.
fn sides(a: &Facts, b: &Facts) -> (f64, f64) {
    let same = (a.is_nonnegative() && b.is_nonnegative()) || (a.is_nonpositive() && b.is_nonpositive());
    let other = (a.is_nonnegative() && b.is_nonpositive()) || (a.is_nonpositive() && b.is_nonnegative());
    (if same { 0.0 } else { f64::NEG_INFINITY }, if other { 0.0 } else { f64::INFINITY })
}

fn power(a: &Facts, b: &Facts) -> Facts {
    let exponent = b.constant.and_then(Fraction::as_integer);
    let low = if a.is_nonnegative() || exponent.is_some_and(|n| n % 2 == 0) { 0.0 } else { f64::NEG_INFINITY };
    let total = a.is_positive()
        || (b.integer && (a.nonzero || b.is_nonnegative()))
        || (a.is_nonnegative() && b.is_nonnegative());
    Facts {
        nonzero: a.nonzero,
        integer: a.integer && b.integer && b.is_nonnegative(),
        ..Facts::within(low, f64::INFINITY, total)
    }
}
