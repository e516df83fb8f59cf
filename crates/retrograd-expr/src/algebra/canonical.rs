//! One form for expressions that are equal by arithmetic: a quotient of polynomials in atoms whose arguments have that
//! form, too.

use std::collections::{BTreeMap, BTreeSet};

use super::polynomial::{Monomial, Polynomial, is_total};
use crate::dag::Dag;
use crate::expr::{Constant, Expr, Op};
use crate::function::Function;
use crate::number::{Fraction, Number};
use crate::tidy;

/// Powers above are atoms.
const POWER: i64 = 64;

/// A form that is the same for all expressions that are equal by the arithmetic of sums, products, quotients and
/// integer powers, and by what functions are: odd or even, symmetric in their arguments, or another name of a power.
///
/// Sums above the line are multiplied out; below it stands the product of what is written there, each sum with its
/// first coefficient 1.
///
/// It is defined where the expression is: a denominator is never cancelled whole, and what is not defined everywhere
/// and drops out stays with the factor 0.
///
/// ```
/// use retrograd_expr::{Expr, canonicalize};
/// let form = |text: &str| -> Result<String, retrograd::Error> { Ok(canonicalize(&Expr::parse(text)?).to_string()) };
/// assert_eq!(form("1/a + 1/b")?, form("(b + a)/(a*b)")?);
/// assert_eq!(form("sin(y - x)*2")?, form("-(sin(x - y) + sin(x - y))")?);
/// assert_eq!(form("x^(1/2) > max(b, a)")?, form("max(a, b) < sqrt(x)")?);
/// assert_eq!((form("x/x^3")?, form("x/x")?, form("log(x) - log(x)")?), ("1/x^2".into(), "x/x".into(), "0*log(x)".into()));
/// # Ok::<(), retrograd::Error>(())
/// ```
#[must_use]
pub fn canonicalize(expr: &Expr) -> Expr {
    let dag = Dag::of(expr);
    let mut partial = BTreeSet::new();
    let all = dag.fold(|op, args, done: &[Quotient]| {
        let args: Vec<&Quotient> = args.iter().map(|arg| &done[*arg]).collect();
        arithmetic(op, &args).unwrap_or_else(|| {
            let found = atom(op, args.iter().map(|arg| arg.to_expr()).collect());
            let parts = Dag::of(&found);
            partial.extend((0..parts.len()).filter(|id| is_partial(&parts, *id)).map(|id| parts.exprs()[id].clone()));
            of_atom(found)
        })
    });
    let form = all[dag.root()].to_expr();
    let parts: BTreeSet<Expr> = Dag::of(&form).exprs().iter().cloned().collect();
    let gone: Vec<&Expr> = partial.iter().filter(|atom| !parts.contains(atom)).collect();
    let inside = |atom: &Expr| gone.iter().any(|other| *other != atom && Dag::of(other).exprs().contains(atom));
    let outermost: Vec<&Expr> = gone.iter().copied().filter(|atom| !inside(atom)).collect();
    outermost.into_iter().fold(form, |sum, atom| {
        let term = Expr::number(0) * atom;
        if sum.is(0) { term } else { sum + term }
    })
}

/// Whether an entry is not defined everywhere by itself.
fn is_partial(dag: &Dag, id: usize) -> bool {
    match dag.op(id) {
        Op::Number(_) | Op::Constant(_) | Op::Variable(_) => false,
        Op::Call(function) => function.row().safe.is_some() && !is_total(dag, id),
        Op::Array(_) | Op::Einsum(_) | Op::Stack | Op::Index | Op::Fold(..) | Op::StopGradient | Op::Custom(_) => true,
    }
}

/// A polynomial over a product of powers of factors; factors are atoms, or polynomials of more than one term as
/// expressions.
#[derive(Clone, Debug)]
struct Quotient {
    top: Polynomial,
    /// A number and the factors that the polynomial is the product of, as it was written; `None` for 0.
    parts: Option<(Fraction, BTreeMap<Expr, i64>)>,
    bottom: BTreeMap<Expr, i64>,
}

impl Quotient {
    fn of(top: Polynomial) -> Quotient {
        Quotient::over_factors(top, BTreeMap::new())
    }

    fn over_factors(top: Polynomial, bottom: BTreeMap<Expr, i64>) -> Quotient {
        Quotient { parts: factors(&top), top, bottom }.cancelled()
    }

    fn negated(&self) -> Quotient {
        let parts = self.parts.clone().map(|(scale, parts)| (scale.negated(), parts));
        Quotient { top: self.top.negated(), parts, bottom: self.bottom.clone() }
    }

    fn constant(&self) -> Option<Fraction> {
        if self.bottom.is_empty() { self.top.constant() } else { None }
    }

    fn plus(&self, other: &Quotient, factor: Fraction) -> Option<Quotient> {
        let mut bottom = self.bottom.clone();
        for (part, power) in &other.bottom {
            let most = bottom.entry(part.clone()).or_insert(0);
            *most = (*most).max(*power);
        }
        let top = self.over(&bottom)?.plus(&other.over(&bottom)?, factor)?;
        Some(Quotient::over_factors(top, bottom))
    }

    /// The numerator over a multiple of the denominator.
    fn over(&self, bottom: &BTreeMap<Expr, i64>) -> Option<Polynomial> {
        bottom.iter().try_fold(self.top.clone(), |top, (part, power)| {
            let missing = power - self.bottom.get(part).copied().unwrap_or(0);
            top.times(&super::polynomial::polynomial(part).to_power(missing)?)
        })
    }

    fn times(&self, other: &Quotient) -> Option<Quotient> {
        let mut bottom = self.bottom.clone();
        merge(&mut bottom, &other.bottom);
        let parts = match (&self.parts, &other.parts) {
            (Some((x, parts)), Some((y, others))) => {
                let mut all = parts.clone();
                merge(&mut all, others);
                Some((x.times(*y)?, all))
            }
            (None, _) | (_, None) => None,
        };
        Some(Quotient { top: self.top.times(&other.top)?, parts, bottom }.cancelled())
    }

    /// 1 over it: where it is p/d that is d²/(p d), since d must not be 0 either.
    fn inverted(&self) -> Option<Quotient> {
        let (scale, mut bottom) = self.parts.clone()?;
        let once: BTreeMap<Expr, i64> = self.bottom.keys().map(|part| (part.clone(), 1)).collect();
        merge(&mut bottom, &once);
        let square: BTreeMap<Expr, i64> = self.bottom.iter().map(|(part, power)| (part.clone(), power + 1)).collect();
        let inverse = scale.inverted()?;
        let top = Quotient::of(Polynomial::constant_of(inverse)).over(&square)?;
        Some(Quotient { top, parts: Some((inverse, square)), bottom }.cancelled())
    }

    /// Powers of atoms that all terms above share with the denominator, down to one that stays there.
    fn cancelled(mut self) -> Quotient {
        for (part, power) in &mut self.bottom {
            while *power > 1
                && !self.top.terms.is_empty()
                && self.top.terms.keys().all(|monomial| monomial.contains_key(part))
            {
                *power -= 1;
                // An atom of every term is among the parts, unless a sum cancelled to have it.
                let known = self.parts.as_mut().and_then(|(_, parts)| parts.get_mut(part));
                let whole = known.map(|count| *count -= 1).is_none();
                self.top = Polynomial {
                    terms: self.top.terms.iter().map(|(monomial, x)| (lowered(monomial, part), *x)).collect(),
                };
                if whole {
                    self.parts = factors(&self.top);
                }
            }
        }
        if let Some((_, parts)) = &mut self.parts {
            parts.retain(|_, power| *power > 0);
        }
        self
    }

    fn to_expr(&self) -> Expr {
        let top = self.top.to_expr();
        let product =
            self.bottom.iter().map(|(part, power)| tidy::pow(part, &Expr::number(*power))).reduce(|a, b| a * b);
        product.map_or(top.clone(), |bottom| Expr::new(Op::Call(Function::Div), vec![top, bottom]))
    }
}

fn merge(all: &mut BTreeMap<Expr, i64>, more: &BTreeMap<Expr, i64>) {
    more.iter().for_each(|(part, power)| *all.entry(part.clone()).or_insert(0) += power);
}

fn lowered(monomial: &Monomial, part: &Expr) -> Monomial {
    let mut less = monomial.clone();
    if let Some(power) = less.get_mut(part) {
        *power -= 1;
        if *power == 0 {
            less.remove(part);
        }
    }
    less
}

/// A number times powers of factors: the atoms of a monomial, or the polynomial with its first coefficient 1. `None`
/// for 0.
fn factors(polynomial: &Polynomial) -> Option<(Fraction, BTreeMap<Expr, i64>)> {
    let shared =
        polynomial.terms.keys().skip(1).fold(polynomial.terms.keys().next()?.clone(), |shared: Monomial, monomial| {
            let least =
                |(atom, power): (&Expr, &i64)| monomial.get(atom).map(|other| (atom.clone(), (*power).min(*other)));
            shared.iter().filter_map(least).collect()
        });
    let (_, first) = polynomial.leading()?;
    let inverse = first.inverted()?;
    let rest = polynomial.terms.iter().map(|(monomial, x)| {
        let less = shared
            .iter()
            .fold(monomial.clone(), |less, (atom, power)| (0..*power).fold(less, |less, _| lowered(&less, atom)));
        Some((less, x.times(inverse)?))
    });
    let rest = Polynomial { terms: rest.collect::<Option<_>>()? };
    let mut all: BTreeMap<Expr, i64> = shared;
    if rest.terms.len() > 1 {
        *all.entry(rest.to_expr()).or_insert(0) += 1;
    }
    Some((first, all))
}

fn of_atom(expr: Expr) -> Quotient {
    match (expr.op(), expr.args()) {
        (Op::Number(Number::Fraction(x)), _) => Quotient::of(Polynomial::constant_of(*x)),
        // The sign of an odd function.
        (Op::Call(Function::Neg), [inner]) => Quotient::of(Polynomial::atom(inner.clone()).negated()),
        _ => Quotient::of(Polynomial::atom(expr)),
    }
}

/// Sums, products, quotients and integer powers; `None` for all else, and for what grows too large.
fn arithmetic(op: &Op, args: &[&Quotient]) -> Option<Quotient> {
    match op {
        Op::Number(Number::Fraction(x)) => Some(Quotient::of(Polynomial::constant_of(*x))),
        Op::Call(Function::Add) => args[0].plus(args[1], Fraction::ONE),
        Op::Call(Function::Sub) => args[0].plus(args[1], Fraction::MINUS_ONE),
        Op::Call(Function::Neg) => Some(args[0].negated()),
        Op::Call(Function::Mul) => args[0].times(args[1]),
        Op::Call(Function::Div) => args[0].times(&args[1].inverted()?),
        Op::Call(Function::Pow) => {
            let n = args[1].constant()?.as_integer().filter(|n| n.abs() <= POWER)?;
            let base = if n < 0 { args[0].inverted()? } else { args[0].clone() };
            // A quotient to the power 0 is 1 where it is defined.
            if n == 0 && !base.bottom.is_empty() {
                return None;
            }
            let one = Quotient::of(Polynomial::constant_of(Fraction::ONE));
            (0..n.abs()).try_fold(one, |power, _| power.times(&base))
        }
        Op::Number(_) | Op::Constant(_) | Op::Variable(_) | Op::Call(_) | Op::Array(_) | Op::Einsum(_) | Op::Stack => {
            None
        }
        Op::Index | Op::Fold(..) | Op::StopGradient | Op::Custom(_) => None,
    }
}

/// A function of arguments in their form: one name for what has several, arguments in order where that does not matter,
/// no sign inside of what is odd or even.
fn atom(op: &Op, mut args: Vec<Expr>) -> Expr {
    use Function::{
        Abs, And, Asin, Asinh, Atan, Atanh, Cbrt, Cos, Cosh, Eq, Erf, Exp, Ge, Gt, Hypot, Le, Lt, Max, Min, Ne, Or,
        Pow, Sign, Sin, Sinh, Sqrt, Tan, Tanh,
    };
    let Op::Call(function) = op else { return Expr::new(op.clone(), args) };
    if matches!(function, Min | Max | And | Or | Eq | Ne | Hypot) {
        args.sort();
    }
    if matches!(function, Gt | Ge) {
        args.reverse();
        return Expr::new(Op::Call(if *function == Gt { Lt } else { Le }), args);
    }
    if *function == Pow && args[1].as_fraction() == Fraction::new(1, 2) {
        return tidy::call(Sqrt, vec![args.swap_remove(0)]);
    }
    if *function == Pow && *args[0].op() == Op::Constant(Constant::E) {
        return tidy::call(Exp, vec![args.swap_remove(1)]);
    }
    let odd = matches!(function, Sin | Tan | Asin | Atan | Sinh | Tanh | Asinh | Atanh | Cbrt | Sign | Erf);
    if (odd || matches!(function, Cos | Cosh | Abs)) && is_negative(&args[0]) {
        let positive = tidy::call(*function, vec![turned(&args[0])]);
        return if odd { tidy::neg(&positive) } else { positive };
    }
    // A power folds to a number also where its base is not defined.
    if *function == Pow { Expr::new(op.clone(), args) } else { tidy::call(*function, args) }
}

/// Whether the first term of a form has a minus.
fn is_negative(form: &Expr) -> bool {
    quotient_of(form).top.leading().is_some_and(|(_, x)| x < Fraction::ZERO)
}

fn turned(form: &Expr) -> Expr {
    quotient_of(form).negated().to_expr()
}

/// A form, read back.
fn quotient_of(form: &Expr) -> Quotient {
    let dag = Dag::of(form);
    let all = dag.fold(|op, args, done: &[Quotient]| {
        let found = arithmetic(op, &args.iter().map(|arg| &done[*arg]).collect::<Vec<_>>());
        found.unwrap_or_else(|| {
            Quotient::of(Polynomial::atom(Expr::new(op.clone(), args.iter().map(|arg| done[*arg].to_expr()).collect())))
        })
    });
    all[dag.root()].clone()
}
