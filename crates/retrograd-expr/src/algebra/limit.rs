//! Limits, by power series with finitely many negative powers.
//!
//! Every entry is tˡ (c₀ + c₁ t + …) with t = x − at, known up to an order. Sums, products, quotients and powers are
//! arithmetic of these; other functions are taken of series without negative powers. What the known terms do not decide
//! is refused.

use retrograd::Error;

use super::series::{call, padded, power, product, quotient, unsupported};
use crate::dag::Dag;
use crate::expr::{Constant, Expr, Op};
use crate::function::Function;
use crate::number::Fraction;
use crate::tidy;

/// Terms that are computed.
const TERMS: usize = 14;

/// From which side the centre is reached.
#[derive(Clone, Copy, PartialEq)]
enum Side {
    Both,
    Above,
}

/// tˡ (c₀ + c₁ t + …): the first coefficient is not 0, unless none is known.
#[derive(Clone)]
struct Laurent {
    low: i64,
    terms: Vec<Expr>,
}

/// The limit of an expression as a variable goes to a number, `inf` or `-inf`, where power series give it.
///
/// ```
/// use retrograd_expr::{Expr, limit};
/// let shown = |text: &str, at: &str| -> Result<String, retrograd::Error> { Ok(limit(&Expr::parse(text)?, "x", &Expr::parse(at)?)?.to_string()) };
/// assert_eq!(shown("sin(x)/x", "0")?, "1");
/// assert_eq!(shown("1/x - 1/sin(x)", "0")?, "0");
/// assert_eq!(shown("(x^2 - 4)/(x - 2)", "2")?, "4");
/// assert_eq!(shown("(2*x^2 + 1)/(x^2 - x)", "inf")?, "2");
/// assert_eq!(shown("sqrt(x^2 + x) - x", "inf")?, "1/2");
/// assert_eq!(shown("1/x^2", "0")?, "inf");
/// assert!(shown("1/x", "0").is_err());
/// # Ok::<(), retrograd::Error>(())
/// ```
pub fn limit(expr: &Expr, name: &str, at: &Expr) -> Result<Expr, Error> {
    let infinite = |expr: &Expr| *expr.op() == Op::Constant(Constant::Infinity);
    let below = matches!((at.op(), at.args()), (Op::Call(Function::Neg), [inner]) if infinite(inner));
    let (turned, side) = if infinite(at) || below {
        // x = ±1/t, and t goes down to 0.
        let reciprocal = Expr::number(if below { -1 } else { 1 }) / Expr::variable(NAME);
        (expr.substitute(&[(name, reciprocal)]), Side::Above)
    } else {
        (expr.substitute(&[(name, at + Expr::variable(NAME))]), Side::Both)
    };
    let found = expanded(&turned, side).and_then(|found| found.at_centre(side));
    found.ok_or_else(|| {
        unsupported(&format!("the limit of `{expr}`, which has none or is not decided by power series,"))
    })
}

/// The distance from the centre: no name of the language.
const NAME: &str = "1/x";

/// The series of an expression in t.
fn expanded(expr: &Expr, side: Side) -> Option<Laurent> {
    let dag = Dag::of(expr);
    let mentions = dag.mentions(NAME);
    let mut all: Vec<Option<Laurent>> = vec![];
    for (id, is_mentioned) in mentions.iter().enumerate() {
        let args: Option<Vec<&Laurent>> = dag.args(id).iter().map(|arg| all[*arg].as_ref()).collect();
        let found = match dag.op(id) {
            Op::Variable(variable) if &**variable == NAME => {
                Some(Laurent::new(1, padded(vec![Expr::number(1)], TERMS)))
            }
            _ if !is_mentioned => {
                let value = &dag.exprs()[id];
                super::is_finite_number(value).then(|| Laurent::new(0, padded(vec![value.clone()], TERMS)))
            }
            Op::Call(function) => args.and_then(|args| of_call(*function, &args, side)),
            Op::Number(_)
            | Op::Constant(_)
            | Op::Variable(_)
            | Op::Array(_)
            | Op::Einsum(_)
            | Op::Stack
            | Op::Index => None,
            Op::Fold(..) | Op::StopGradient | Op::Custom(_) => None,
        };
        all.push(found);
    }
    all.swap_remove(dag.root())
}

fn of_call(function: Function, args: &[&Laurent], side: Side) -> Option<Laurent> {
    match (function, args) {
        (Function::Add, [a, b]) => Some(a.plus(b, tidy::add)),
        (Function::Sub, [a, b]) => Some(a.plus(b, tidy::sub)),
        (Function::Neg, [a]) => Some(Laurent::new(a.low, a.terms.iter().map(tidy::neg).collect())),
        (Function::Mul, [a, b]) => Some(a.times(b)),
        (Function::Div, [a, b]) => a.over(b),
        (Function::Sqrt, [a]) => a.to_power(Fraction::new(1, 2)?, side),
        (Function::Cbrt, [a]) if a.low % 3 != 0 || a.low < 0 => a.to_power(Fraction::new(1, 3)?, side),
        (Function::Pow, [a, b]) => match b.constant().and_then(Expr::as_fraction) {
            Some(n) => a.to_power(n, side),
            None => of_call(Function::Exp, &[&b.times(&of_call(Function::Log, &[a], side)?)], side),
        },
        // |u| near a zero or a pole of u, from one side.
        (Function::Abs, [a]) if a.low != 0 && (side == Side::Above || a.low % 2 == 0) => {
            let sign = super::number(a.terms.first()?)?.signum() as i64;
            Some(Laurent::new(a.low, a.terms.iter().map(|part| tidy::mul(&Expr::number(sign), part)).collect()))
        }
        _ => regular(function, args),
    }
}

/// A function of series without negative powers.
fn regular(function: Function, args: &[&Laurent]) -> Option<Laurent> {
    let count = args.iter().map(|arg| arg.low + arg.terms.len() as i64).min().filter(|count| *count > 0)?;
    let count = usize::try_from(count).ok()?.min(TERMS);
    let args: Vec<Vec<Expr>> = args.iter().map(|arg| arg.powers_from_zero(count)).collect::<Option<_>>()?;
    let found = call(function, &args.iter().map(|arg| &arg[..]).collect::<Vec<_>>(), count).ok()?;
    found.iter().all(super::is_finite_number).then(|| Laurent::new(0, found))
}

impl Laurent {
    fn new(low: i64, mut terms: Vec<Expr>) -> Laurent {
        let zeros = terms.iter().take_while(|part| is_zero(part)).count();
        terms.drain(..zeros);
        Laurent { low: low + zeros as i64, terms }
    }

    /// The order up to which it is known.
    fn end(&self) -> i64 {
        self.low + self.terms.len() as i64
    }

    /// The coefficient of a power below the end.
    fn term(&self, power: i64) -> Expr {
        usize::try_from(power - self.low)
            .ok()
            .and_then(|k| self.terms.get(k))
            .cloned()
            .unwrap_or_else(|| Expr::number(0))
    }

    /// What it is, where it is known to be constant.
    fn constant(&self) -> Option<&Expr> {
        (self.low == 0 && self.terms[1..].iter().all(|part| part.is(0))).then(|| &self.terms[0])
    }

    /// So many coefficients from that of t⁰.
    fn powers_from_zero(&self, count: usize) -> Option<Vec<Expr>> {
        (self.low >= 0 || self.terms.is_empty() && self.low >= count as i64)
            .then(|| (0..count as i64).map(|power| self.term(power)).collect())
    }

    fn plus(&self, other: &Laurent, f: fn(&Expr, &Expr) -> Expr) -> Laurent {
        let (low, end) = (self.low.min(other.low), self.end().min(other.end()));
        Laurent::new(low.min(end), (low..end).map(|power| f(&self.term(power), &other.term(power))).collect())
    }

    fn times(&self, other: &Laurent) -> Laurent {
        let count = self.terms.len().min(other.terms.len());
        Laurent::new(self.low + other.low, product(&self.terms[..count], &other.terms[..count]))
    }

    fn over(&self, other: &Laurent) -> Option<Laurent> {
        other.terms.first().filter(|first| is_decided(first))?;
        let count = self.terms.len().min(other.terms.len());
        Some(Laurent::new(self.low - other.low, quotient(&self.terms[..count], &other.terms[..count]).ok()?))
    }

    fn to_power(&self, exponent: Fraction, side: Side) -> Option<Laurent> {
        let first = self.terms.first().filter(|first| is_decided(first))?;
        let low = exponent.times(Fraction::integer(self.low))?.as_integer()?;
        // Roots of t² are |t|, which is t from above.
        let whole = exponent.as_integer().is_some();
        if !whole && (super::number(first)? < 0.0 || self.low != 0 && side == Side::Both) {
            return None;
        }
        Some(Laurent::new(low, power(&self.terms, &Expr::number(exponent), self.terms.len()).ok()?))
    }

    /// The value that it goes to.
    fn at_centre(&self, side: Side) -> Option<Expr> {
        match self.low {
            1.. => Some(Expr::number(0)),
            0 => self.terms.first().cloned(),
            // It grows without bound, from both sides with one sign if the power is even.
            low if side == Side::Above || low % 2 == 0 => {
                let infinity = Expr::constant(Constant::Infinity);
                Some(if super::number(self.terms.first()?)? < 0.0 { -infinity } else { infinity })
            }
            _ => None,
        }
    }
}

/// Whether a coefficient is 0: of numbers as numbers, since sums of roots and logarithms are not folded.
fn is_zero(expr: &Expr) -> bool {
    expr.is(0)
        || expr.as_number().is_none()
            && expr.free_vars().is_empty()
            && super::number(expr).is_some_and(|x| x.abs() < 1e-12)
}

/// Whether a coefficient is known not to be 0.
fn is_decided(expr: &Expr) -> bool {
    expr.free_vars().is_empty() && super::number(expr).is_some_and(|x| x != 0.0)
}
