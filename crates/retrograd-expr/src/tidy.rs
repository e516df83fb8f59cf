//! Constructors that fold numbers and leave out what changes nothing: for expressions that we make ourselves, such as
//! derivatives.
//!
//! `0 * x` becomes 0 here whatever x is, since the terms of a derivative that are left out are zero wherever the
//! function is defined. Expressions of the user are simplified by [`simplify`](fn@crate::simplify), which asks first.

use crate::expr::{Expr, Op};
use crate::function::Function;
use crate::number::{Fraction, Number};

/// The function of its arguments, tidied.
pub(crate) fn call(function: Function, args: Vec<Expr>) -> Expr {
    match (function, &args[..]) {
        (Function::Add, [a, b]) => add(a, b),
        (Function::Sub, [a, b]) => sub(a, b),
        (Function::Mul, [a, b]) => mul(a, b),
        (Function::Div, [a, b]) => div(a, b),
        (Function::Neg, [a]) => neg(a),
        (Function::Pow, [a, b]) => pow(a, b),
        (named, [a]) => exact(named, a).unwrap_or_else(|| Expr::new(Op::Call(named), args)),
        _ => Expr::new(Op::Call(function), args),
    }
}

pub(crate) fn add(a: &Expr, b: &Expr) -> Expr {
    let plain = || Expr::derived(Function::Add, [a.clone(), b.clone()]);
    match (a.as_fraction(), b.as_fraction()) {
        (Some(x), Some(y)) => folded(x.plus(y)).unwrap_or_else(plain),
        (Some(Fraction::ZERO), None) => b.clone(),
        (None, Some(Fraction::ZERO)) => a.clone(),
        _ => match (negated(a), negated(b)) {
            (_, Some(positive)) => sub(a, &positive),
            // −u + b = b − u
            (Some(positive), None) => Expr::derived(Function::Sub, [b.clone(), positive]),
            (None, None) => plain(),
        },
    }
}

pub(crate) fn sub(a: &Expr, b: &Expr) -> Expr {
    let plain = || Expr::derived(Function::Sub, [a.clone(), b.clone()]);
    match (a.as_fraction(), b.as_fraction()) {
        (Some(x), Some(y)) => folded(x.plus(y.negated())).unwrap_or_else(plain),
        (Some(Fraction::ZERO), None) => neg(b),
        (None, Some(Fraction::ZERO)) => a.clone(),
        _ => match (negated(a), negated(b)) {
            (_, Some(positive)) => add(a, &positive),
            // −u − b = −(u + b)
            (Some(positive), None) if a.as_fraction().is_none() => neg(&add(&positive, b)),
            (Some(_) | None, None) => plain(),
        },
    }
}

/// An expression of the user where the terms of a derivative read it, without its zeros: 0 u = 0, u + 0 = u.
pub(crate) fn without_zeros(expr: &Expr, args: Vec<Expr>) -> Expr {
    let same = |args: &[Expr]| args.iter().zip(expr.args()).all(|(new, old)| new.address() == old.address());
    match (expr.op(), &args[..]) {
        (Op::Call(Function::Mul), [a, b]) if is_zero(a) || is_zero(b) => Expr::number(0),
        (Op::Call(Function::Add), [a, b]) if is_zero(a) => b.clone(),
        (Op::Call(Function::Add | Function::Sub), [a, b]) if is_zero(b) => a.clone(),
        (Op::Call(Function::Sub), [a, b]) if is_zero(a) => neg(b),
        (Op::Call(Function::Neg), [a]) if is_zero(a) => Expr::number(0),
        _ if same(&args) => expr.clone(),
        _ => expr.over(args),
    }
}

fn is_zero(expr: &Expr) -> bool {
    expr.as_number().is_some_and(|x| x.to_f64() == 0.0)
}

/// What is left of an expression that begins with a minus.
fn negated(expr: &Expr) -> Option<Expr> {
    match (expr.op(), expr.args()) {
        (Op::Call(Function::Neg), [inner]) => Some(inner.clone()),
        (Op::Call(Function::Mul), [factor, rest]) if factor.as_fraction().is_some_and(|x| x < Fraction::ZERO) => {
            Some(mul(&neg(factor), rest))
        }
        _ => expr.as_fraction().filter(|x| *x < Fraction::ZERO).map(|x| Expr::number(x.negated())),
    }
}

pub(crate) fn neg(a: &Expr) -> Expr {
    match (a.op(), a.args()) {
        (Op::Call(Function::Neg), [inner]) => inner.clone(),
        (Op::Call(Function::Mul), [factor, rest]) if factor.as_fraction().is_some() => mul(&-factor, rest),
        // −(u − v) = v − u
        (Op::Call(Function::Sub), [u, v]) if a.is_derived() => Expr::derived(Function::Sub, [v.clone(), u.clone()]),
        _ => -a,
    }
}

pub(crate) fn mul(a: &Expr, b: &Expr) -> Expr {
    match (a.as_fraction(), b.as_fraction()) {
        (Some(x), Some(y)) => return folded(x.times(y)).unwrap_or_else(|| a * b),
        (Some(Fraction::ZERO), None) | (None, Some(Fraction::ZERO)) => return Expr::number(0),
        (Some(Fraction::ONE), None) => return b.clone(),
        (None, Some(Fraction::ONE)) => return a.clone(),
        (Some(Fraction::MINUS_ONE), None) => return neg(b),
        (None, Some(Fraction::MINUS_ONE)) => return neg(a),
        // Numbers come first.
        (None, Some(_)) => return mul(b, a),
        (Some(_), None) | (None, None) => {}
    }
    match (a.op(), a.args(), b.op(), b.args()) {
        // −u v = −(u v), whichever has the sign
        (Op::Call(Function::Neg), [u], _, _) => neg(&mul(u, b)),
        (_, _, Op::Call(Function::Neg), [v]) => neg(&mul(a, v)),
        // (1 / u) v = v / u
        (Op::Call(Function::Div), [top, u], _, _) if top.is(1) => div(b, u),
        // c (d v) = (c d) v
        (Op::Number(Number::Fraction(_)), _, Op::Call(Function::Mul), [d, v]) if d.as_fraction().is_some() => {
            mul(&mul(a, d), v)
        }
        // u (c v) = c (u v)
        (_, _, Op::Call(Function::Mul), [c, v]) if c.as_fraction().is_some() => mul(c, &mul(a, v)),
        _ => a * b,
    }
}

/// An adjoint times a value that is computed anyway: its factors stay together, so that it is one product.
pub(crate) fn times_value(adjoint: &Expr, value: &Expr) -> Expr {
    let is_scaled =
        matches!((value.op(), value.args()), (Op::Call(Function::Mul), [c, _]) if c.as_fraction().is_some());
    if is_scaled && adjoint.as_fraction().is_none() { adjoint * value } else { mul(adjoint, value) }
}

pub(crate) fn div(a: &Expr, b: &Expr) -> Expr {
    match (a.as_fraction(), b.as_fraction()) {
        (Some(x), Some(y)) => {
            let quotient = y.inverted().and_then(|inverse| x.times(inverse));
            return folded(quotient).unwrap_or_else(|| a / b);
        }
        (Some(Fraction::ZERO), None) => return Expr::number(0),
        (None, Some(Fraction::ONE)) => return a.clone(),
        (None, Some(Fraction::MINUS_ONE)) => return neg(a),
        (Some(_), None) | (None, Some(_)) | (None, None) => {}
    }
    match (a.op(), a.args()) {
        (Op::Call(Function::Neg), [u]) => neg(&div(u, b)),
        _ => a / b,
    }
}

pub(crate) fn pow(a: &Expr, b: &Expr) -> Expr {
    match (a.as_fraction(), b.as_fraction()) {
        (_, Some(Fraction::ONE)) => a.clone(),
        (_, Some(Fraction::ZERO)) => Expr::number(1),
        (Some(Fraction::ONE), _) => Expr::number(1),
        (Some(x), Some(y)) => folded(y.as_integer().and_then(|n| x.to_power(n))).unwrap_or_else(|| a.pow(b)),
        _ => a.pow(b),
    }
}

fn folded(fraction: Option<Fraction>) -> Option<Expr> {
    fraction.map(Expr::number)
}

/// Values of functions at numbers that are numbers again.
pub(crate) fn exact(function: Function, a: &Expr) -> Option<Expr> {
    use Function::{
        Abs, Acos, Acosh, Asin, Asinh, Atan, Atanh, Cbrt, Ceil, Cos, Cosh, Erf, Erfc, Exp, ExpTwo, Expm, Floor, Log,
        LogOnePlus, LogTen, LogTwo, Round, Sigmoid, Sign, Sin, Sinh, Sqrt, Tan, Tanh, Trunc,
    };
    let x = a.as_fraction()?;
    let zero_at = |at: i64, value: i64| (x == Fraction::integer(at)).then(|| Expr::number(value));
    match function {
        Sin | Tan | Asin | Atan | Sinh | Tanh | Asinh | Atanh | Expm | LogOnePlus | Erf => zero_at(0, 0),
        Cos | Cosh | Exp | Erfc => zero_at(0, 1),
        ExpTwo => x.as_integer().and_then(|n| Fraction::integer(2).to_power(n)).map(Expr::number),
        Log | LogTwo | LogTen | Acos | Acosh => zero_at(1, 0),
        Sigmoid => (x == Fraction::ZERO).then(|| Expr::number(1) / 2),
        Abs => Some(Expr::number(if x < Fraction::ZERO { x.negated() } else { x })),
        Sign => Some(Expr::number(x.numerator().signum())),
        Floor => Some(Expr::number(x.numerator().div_euclid(x.denominator()))),
        Ceil => Some(Expr::number(-(-x.numerator()).div_euclid(x.denominator()))),
        Trunc => Some(Expr::number(x.numerator() / x.denominator())),
        Round => x.as_integer().map(Expr::number),
        Sqrt => root(x, 2).map(Expr::number),
        Cbrt => root(x, 3).map(Expr::number),
        Function::Add
        | Function::Sub
        | Function::Mul
        | Function::Div
        | Function::Neg
        | Function::Pow
        | Function::AtanTwo => None,
        Function::Hypot | Function::Min | Function::Max | Function::Lt | Function::Le | Function::Gt | Function::Ge => {
            None
        }
        Function::Eq | Function::Ne | Function::And | Function::Or | Function::Not | Function::Select => None,
    }
}

/// The root of that degree, where it is a fraction.
pub(crate) fn root(x: Fraction, degree: i64) -> Option<Fraction> {
    let of = |n: i64| {
        let near = (n.unsigned_abs() as f64).powf(1.0 / degree as f64).round() as i64;
        let fits = |candidate: i64| {
            Fraction::integer(candidate).to_power(degree).is_some_and(|power| power == Fraction::integer(n.abs()))
        };
        (near.saturating_sub(1)..=near.saturating_add(1)).find(|candidate| fits(*candidate))
    };
    if x < Fraction::ZERO && degree % 2 == 0 {
        return None;
    }
    let (top, bottom) = (of(x.numerator())?, of(x.denominator())?);
    Fraction::new((top * x.numerator().signum()).into(), bottom.into())
}
