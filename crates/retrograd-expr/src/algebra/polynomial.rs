//! Polynomials with fractions as coefficients, in atoms: variables, and whatever is not a sum, product or integer
//! power.

use std::collections::{BTreeMap, BTreeSet};

use crate::dag::Dag;
use crate::expr::{Expr, Op};
use crate::function::Function;
use crate::number::{Fraction, Number};
use crate::tidy;

/// Products of more terms, and powers above, are left as they are: atoms.
const TERMS: usize = 10_000;
const POWER: i64 = 64;

/// Atoms with their positive exponents, in order.
pub(crate) type Monomial = BTreeMap<Expr, i64>;

/// A sum of monomials with coefficients that are not zero.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Polynomial {
    pub(crate) terms: BTreeMap<Monomial, Fraction>,
}

impl Polynomial {
    pub(super) fn constant_of(x: Fraction) -> Polynomial {
        let terms = if x == Fraction::ZERO { BTreeMap::new() } else { BTreeMap::from([(Monomial::new(), x)]) };
        Polynomial { terms }
    }

    pub(super) fn atom(expr: Expr) -> Polynomial {
        Polynomial { terms: BTreeMap::from([(Monomial::from([(expr, 1)]), Fraction::ONE)]) }
    }

    pub(super) fn plus(&self, other: &Polynomial, factor: Fraction) -> Option<Polynomial> {
        let mut sum = self.clone();
        for (monomial, x) in &other.terms {
            let before = sum.terms.get(monomial).copied().unwrap_or(Fraction::ZERO);
            let after = before.plus(x.times(factor)?)?;
            if after == Fraction::ZERO {
                sum.terms.remove(monomial)
            } else {
                sum.terms.insert(monomial.clone(), after)
            };
        }
        Some(sum)
    }

    pub(super) fn times(&self, other: &Polynomial) -> Option<Polynomial> {
        if self.terms.len().saturating_mul(other.terms.len()) > TERMS {
            return None;
        }
        let mut product = Polynomial::default();
        for (a, x) in &self.terms {
            for (b, y) in &other.terms {
                let mut monomial = a.clone();
                b.iter().for_each(|(atom, exponent)| *monomial.entry(atom.clone()).or_insert(0) += exponent);
                let one = Polynomial { terms: BTreeMap::from([(monomial, x.times(*y)?)]) };
                product = product.plus(&one, Fraction::ONE)?;
            }
        }
        Some(product)
    }

    pub(super) fn to_power(&self, exponent: i64) -> Option<Polynomial> {
        (0..exponent).try_fold(Polynomial::constant_of(Fraction::ONE), |power, _| power.times(self))
    }

    /// The number that it is.
    pub(super) fn constant(&self) -> Option<Fraction> {
        match self.terms.len() {
            0 => Some(Fraction::ZERO),
            1 => self.terms.get(&Monomial::new()).copied(),
            _ => None,
        }
    }

    pub(super) fn negated(&self) -> Polynomial {
        Polynomial { terms: self.terms.iter().map(|(monomial, x)| (monomial.clone(), x.negated())).collect() }
    }

    /// The terms, those of higher degree first.
    fn ordered(&self) -> Vec<(&Monomial, Fraction)> {
        let degree = |monomial: &Monomial| monomial.values().sum::<i64>();
        let mut terms: Vec<(&Monomial, Fraction)> = self.terms.iter().map(|(monomial, x)| (monomial, *x)).collect();
        terms.sort_by_key(|(monomial, _)| std::cmp::Reverse(degree(monomial)));
        terms
    }

    /// The first term, unless it is 0.
    pub(super) fn leading(&self) -> Option<(&Monomial, Fraction)> {
        self.ordered().first().copied()
    }

    /// The expression, monomials of higher degree first.
    pub(crate) fn to_expr(&self) -> Expr {
        let sum = self.ordered().into_iter().map(|(monomial, x)| term(monomial, x)).reduce(|a, b| tidy::add(&a, &b));
        sum.unwrap_or_else(|| Expr::number(0))
    }

    /// Coefficients of the powers of an atom, from the constant one; `None` if the atom is inside of others, too.
    pub(crate) fn coefficients(&self, name: &str) -> Option<Vec<Polynomial>> {
        let variable = Expr::variable(name);
        let mut found: Vec<Polynomial> = vec![];
        for (monomial, x) in &self.terms {
            let mut rest = monomial.clone();
            let degree = usize::try_from(rest.remove(&variable).unwrap_or(0)).ok()?;
            if rest.keys().any(|atom| mentions(atom, name)) {
                return None;
            }
            if found.len() <= degree {
                found.resize(degree + 1, Polynomial::default());
            }
            found[degree].terms.insert(rest, *x);
        }
        Some(found)
    }
}

fn term(monomial: &Monomial, coefficient: Fraction) -> Expr {
    let powers = monomial.iter().map(|(atom, exponent)| tidy::pow(atom, &Expr::number(*exponent)));
    let product = powers.reduce(|a, b| a * b);
    match product {
        None => Expr::number(coefficient),
        Some(product) => tidy::mul(&Expr::number(coefficient), &product),
    }
}

pub(crate) fn mentions(expr: &Expr, name: &str) -> bool {
    let dag = Dag::of(expr);
    dag.mentions(name)[dag.root()]
}

/// The polynomial that an expression is, with the insides of its atoms expanded as well.
pub(crate) fn polynomial(expr: &Expr) -> Polynomial {
    let dag = Dag::of(expr);
    let all = dag.fold(|op, args, done: &[Polynomial]| {
        let of = |k: usize| &done[args[k]];
        let found = match op {
            Op::Number(Number::Fraction(x)) => Some(Polynomial::constant_of(*x)),
            Op::Call(Function::Add) => of(0).plus(of(1), Fraction::ONE),
            Op::Call(Function::Sub) => of(0).plus(of(1), Fraction::MINUS_ONE),
            Op::Call(Function::Neg) => Polynomial::default().plus(of(0), Fraction::MINUS_ONE),
            Op::Call(Function::Mul) => of(0).times(of(1)),
            Op::Call(Function::Div) => {
                of(1).constant().and_then(Fraction::inverted).and_then(|x| Polynomial::default().plus(of(0), x))
            }
            Op::Call(Function::Pow) => {
                let exponent = of(1).constant().and_then(Fraction::as_integer).filter(|n| (0..=POWER).contains(n));
                exponent.and_then(|n| of(0).to_power(n))
            }
            Op::Number(_) | Op::Constant(_) | Op::Variable(_) | Op::Call(_) | Op::Array(_) | Op::Einsum(_) => None,
            Op::Stack | Op::Index | Op::Fold(..) | Op::StopGradient | Op::Custom(_) => None,
        };
        found.unwrap_or_else(|| {
            Polynomial::atom(Expr::new(op.clone(), args.iter().map(|arg| done[*arg].to_expr()).collect()))
        })
    });
    all[dag.root()].clone()
}

/// Products and integer powers of sums, multiplied out, with equal terms together.
///
/// ```
/// use retrograd_expr::{Expr, expand};
/// assert_eq!(expand(&Expr::parse("(x + 1)^2 - x*(x - y)")?).to_string(), "x*y + 2*x + 1");
/// assert_eq!(expand(&Expr::parse("log(y) - log(y) + x")?).to_string(), "x + 0*log(y)");
/// # Ok::<(), retrograd::Error>(())
/// ```
///
/// A term that cancels and is not defined everywhere stays with the factor 0: the result is defined where the
/// expression is.
#[must_use]
pub fn expand(expr: &Expr) -> Expr {
    kept_domain(expr, polynomial(expr).to_expr())
}

/// Expanded, with equal powers of a variable together.
///
/// ```
/// use retrograd_expr::{Expr, collect};
/// assert_eq!(collect(&Expr::parse("a*x + x^2 + b*x + 3")?, "x").to_string(), "x^2 + (a + b)*x + 3");
/// # Ok::<(), retrograd::Error>(())
/// ```
#[must_use]
pub fn collect(expr: &Expr, name: &str) -> Expr {
    let polynomial = polynomial(expr);
    let Some(coefficients) = polynomial.coefficients(name) else { return kept_domain(expr, polynomial.to_expr()) };
    let variable = Expr::variable(name);
    let powers = coefficients.iter().enumerate().rev().filter(|(_, coefficient)| !coefficient.terms.is_empty());
    let terms = powers.map(|(degree, coefficient)| {
        tidy::mul(&coefficient.to_expr(), &tidy::pow(&variable, &Expr::number(degree as i64)))
    });
    kept_domain(expr, terms.reduce(|a, b| tidy::add(&a, &b)).unwrap_or_else(|| Expr::number(0)))
}

/// Atoms that are not defined everywhere and are gone come back with the factor 0.
fn kept_domain(before: &Expr, after: Expr) -> Expr {
    let partial = |expr: &Expr| -> BTreeSet<Expr> {
        let dag = Dag::of(expr);
        let exprs = dag.exprs();
        let undefined = |id: usize| match dag.op(id) {
            Op::Call(function) => function.row().safe.is_some() && !is_total(&dag, id),
            Op::Array(_) | Op::Einsum(_) | Op::Stack | Op::Index | Op::Fold(..) | Op::Custom(_) | Op::StopGradient => {
                true
            }
            Op::Number(_) | Op::Constant(_) | Op::Variable(_) => false,
        };
        (0..dag.len()).filter(|id| undefined(*id)).map(|id| polynomial(&exprs[id]).to_expr()).collect()
    };
    let (had, has) = (partial(before), partial(&after));
    let inside = |expr: &Expr, all: &BTreeSet<Expr>| all.iter().any(|other| other != expr && contains(other, expr));
    let gone: Vec<Expr> = had.difference(&has).filter(|expr| !inside(expr, &had)).cloned().collect();
    let gone = gone
        .into_iter()
        .filter(|expr| expr.as_number().is_none() && expr.as_variable().is_none() && !is_polynomial(expr));
    gone.fold(after, |sum, atom| sum + Expr::number(0) * atom)
}

/// A power that was expanded is defined everywhere.
fn is_polynomial(expr: &Expr) -> bool {
    polynomial(expr)
        .terms
        .keys()
        .all(|monomial| monomial.keys().all(|atom| matches!(atom.op(), Op::Variable(_) | Op::Constant(_))))
}

pub(super) fn is_total(dag: &Dag, id: usize) -> bool {
    let number = |k: usize| if let Op::Number(x) = dag.op(dag.args(id)[k]) { x.fraction() } else { None };
    match dag.op(id) {
        Op::Call(Function::Pow) => number(1).is_some_and(|n| n.as_integer().is_some_and(|n| n >= 0)),
        Op::Call(Function::Div) => number(1).is_some_and(|x| x != Fraction::ZERO),
        Op::Call(Function::Cbrt | Function::Hypot | Function::AtanTwo) => true,
        Op::Number(_) | Op::Constant(_) | Op::Variable(_) | Op::Call(_) | Op::Array(_) | Op::Einsum(_) => false,
        Op::Stack | Op::Index | Op::Fold(..) | Op::StopGradient | Op::Custom(_) => false,
    }
}

fn contains(expr: &Expr, part: &Expr) -> bool {
    Dag::of(expr).exprs().iter().any(|other| other == part)
}

/// Whether it is a sum of multiples of the variables and of a rest that mentions none of them.
///
/// ```
/// use retrograd_expr::{Expr, is_linear};
/// let f = Expr::parse("3*x + sin(a)*y + exp(a)")?;
/// assert!(is_linear(&f, &["x", "y"]) && !is_linear(&f, &["a"]));
/// assert!(!is_linear(&Expr::parse("x*y")?, &["x", "y"]));
/// # Ok::<(), retrograd::Error>(())
/// ```
pub fn is_linear(expr: &Expr, names: &[&str]) -> bool {
    // Degrees by entry: 0 without the variables, 1 linear, `None` anything else.
    let dag = Dag::of(expr);
    let degrees = dag.fold(|op, args, done: &[Option<u32>]| {
        let of = |k: usize| done[args[k]];
        let constant = args.iter().all(|arg| done[*arg] == Some(0));
        match op {
            Op::Variable(name) => Some(u32::from(names.contains(&&**name))),
            _ if constant => Some(0),
            Op::Call(Function::Add | Function::Sub) => Some(of(0)?.max(of(1)?)),
            Op::Call(Function::Neg) => of(0),
            Op::Call(Function::Mul) => Some(of(0)? + of(1)?).filter(|degree| *degree <= 1),
            Op::Call(Function::Div) if of(1) == Some(0) => of(0),
            Op::Call(Function::Select) if of(0) == Some(0) => Some(of(1)?.max(of(2)?)),
            Op::Fold(crate::expr::Fold::Sum, _) if of(1) == Some(0) && of(2) == Some(0) => of(0),
            Op::Number(_)
            | Op::Constant(_)
            | Op::Call(_)
            | Op::Array(_)
            | Op::Einsum(_)
            | Op::Stack
            | Op::Index
            | Op::Fold(..) => None,
            Op::StopGradient | Op::Custom(_) => None,
        }
    });
    // Terms that cancel, as in x² − x², are found by expanding.
    degrees[dag.root()].is_some() || {
        let polynomial = polynomial(expr);
        let of_names =
            |atom: &Expr| names.iter().any(|name| atom.as_variable().is_some_and(|variable| &**variable == *name));
        let fine = |monomial: &Monomial| {
            let inside = monomial.keys().any(|atom| !of_names(atom) && names.iter().any(|name| mentions(atom, name)));
            !inside
                && monomial.iter().filter(|(atom, _)| of_names(atom)).map(|(_, exponent)| exponent).sum::<i64>() <= 1
        };
        polynomial.terms.keys().all(fine)
    }
}
