//! Rational functions with fractions as coefficients: where they are 0, and their integrals by partial fractions.

use super::solve::rational_root;
use crate::dag::Dag;
use crate::expr::{Expr, Op};
use crate::function::Function;
use crate::number::{Fraction, Number};
use crate::tidy;

/// Coefficients from that of x⁰; the last one is not 0.
pub(super) type Coefficients = Vec<Fraction>;

/// The highest degree that is looked at.
const DEGREE: usize = 40;

/// An antiderivative; `None` where the expression is no such function, or its denominator has no factors of degree 2
/// and less.
pub(super) fn integral(expr: &Expr, name: &str) -> Option<Expr> {
    let (top, bottom) = quotient(expr, name)?;
    let common = gcd(&top, &bottom)?;
    let (top, bottom) = (divide(&top, &common)?.0, divide(&bottom, &common)?.0);
    let (whole, rest) = divide(&top, &bottom)?;
    let x = Expr::variable(name);
    let mut sum = Expr::number(0);
    for (k, c) in whole.iter().enumerate().rev().filter(|(_, c)| **c != Fraction::ZERO) {
        let next = Expr::number(k as i64 + 1);
        sum = tidy::add(&sum, &tidy::mul(&tidy::div(&Expr::number(*c), &next), &tidy::pow(&x, &next)));
    }
    if rest.is_empty() {
        return Some(sum);
    }
    let factors = factors(&bottom)?;
    let parts = partial_fractions(&rest, &bottom, &factors)?;
    for (factor, power, part) in parts {
        let found = match &factor[..] {
            [_, _] => of_linear(&factor, power, part[0], &x)?,
            _ => of_quadratic(&factor, power, [part[0], part[1]], &x)?,
        };
        sum = tidy::add(&sum, &found);
    }
    Some(sum)
}

/// What is 0 where a rational function is: its numerator without the factors that the denominator has, too, where it is
/// not defined. `None` where there is no denominator.
pub(super) fn numerator(expr: &Expr, name: &str) -> Option<Coefficients> {
    let (mut top, bottom) = quotient(expr, name)?;
    if bottom.len() < 2 || top.is_empty() {
        return None;
    }
    loop {
        let common = gcd(&top, &bottom)?;
        if common.len() < 2 {
            return Some(top);
        }
        top = divide(&top, &common)?.0;
    }
}

/// Numerator and denominator.
fn quotient(expr: &Expr, name: &str) -> Option<(Coefficients, Coefficients)> {
    let dag = Dag::of(expr);
    let one = || vec![Fraction::ONE];
    let mut all: Vec<(Coefficients, Coefficients)> = vec![];
    for id in 0..dag.len() {
        let of = |k: usize| &all[dag.args(id)[k]];
        let sum = |sign: Fraction| -> Option<(Coefficients, Coefficients)> {
            let ((a, b), (c, d)) = (of(0), of(1));
            if b == d {
                return Some((plus(a, c, sign)?, b.clone()));
            }
            Some((plus(&times(a, d)?, &times(c, b)?, sign)?, times(b, d)?))
        };
        let found = match dag.op(id) {
            Op::Number(Number::Fraction(x)) => (trimmed(vec![*x]), one()),
            Op::Variable(variable) if &**variable == name => (vec![Fraction::ZERO, Fraction::ONE], one()),
            Op::Call(Function::Add) => sum(Fraction::ONE)?,
            Op::Call(Function::Sub) => sum(Fraction::MINUS_ONE)?,
            Op::Call(Function::Neg) => (plus(&[], &of(0).0, Fraction::MINUS_ONE)?, of(0).1.clone()),
            Op::Call(Function::Mul) => (times(&of(0).0, &of(1).0)?, times(&of(0).1, &of(1).1)?),
            Op::Call(Function::Div) if !of(1).0.is_empty() => (times(&of(0).0, &of(1).1)?, times(&of(0).1, &of(1).0)?),
            Op::Call(Function::Pow) => {
                let n = dag.exprs()[dag.args(id)[1]].as_integer().filter(|n| n.unsigned_abs() <= DEGREE as u64)?;
                let (a, b) = if n < 0 { (&of(0).1, &of(0).0) } else { (&of(0).0, &of(0).1) };
                let power = |base: &Coefficients| (0..n.abs()).try_fold(one(), |power, _| times(&power, base));
                (power(a)?, Some(power(b)?).filter(|b| !b.is_empty())?)
            }
            Op::Number(_)
            | Op::Constant(_)
            | Op::Variable(_)
            | Op::Call(_)
            | Op::Array(_)
            | Op::Einsum(_)
            | Op::Stack
            | Op::Index => {
                return None;
            }
            Op::Fold(..) | Op::StopGradient | Op::Custom(_) => return None,
        };
        all.push(found);
    }
    Some(all.swap_remove(dag.root()))
}

fn trimmed(mut c: Coefficients) -> Coefficients {
    while c.last() == Some(&Fraction::ZERO) {
        c.pop();
    }
    c
}

fn plus(a: &[Fraction], b: &[Fraction], factor: Fraction) -> Option<Coefficients> {
    let at = |c: &[Fraction], k: usize| c.get(k).copied().unwrap_or(Fraction::ZERO);
    (0..a.len().max(b.len())).map(|k| at(a, k).plus(at(b, k).times(factor)?)).collect::<Option<_>>().map(trimmed)
}

fn times(a: &[Fraction], b: &[Fraction]) -> Option<Coefficients> {
    if a.is_empty() || b.is_empty() || a.len() + b.len() > DEGREE {
        return (a.is_empty() || b.is_empty()).then(Vec::new);
    }
    let mut product = vec![Fraction::ZERO; a.len() + b.len() - 1];
    for (j, x) in a.iter().enumerate() {
        for (k, y) in b.iter().enumerate() {
            product[j + k] = product[j + k].plus(x.times(*y)?)?;
        }
    }
    Some(trimmed(product))
}

/// Quotient and rest.
fn divide(a: &[Fraction], b: &[Fraction]) -> Option<(Coefficients, Coefficients)> {
    let inverse = b.last()?.inverted()?;
    let (mut rest, mut quotient) = (a.to_vec(), vec![Fraction::ZERO; (a.len() + 1).saturating_sub(b.len())]);
    while rest.len() >= b.len() {
        let (shift, factor) = (rest.len() - b.len(), rest.last()?.times(inverse)?);
        quotient[shift] = factor;
        for (k, y) in b.iter().enumerate() {
            rest[k + shift] = rest[k + shift].plus(y.times(factor)?.negated())?;
        }
        rest = trimmed(rest);
    }
    Some((trimmed(quotient), rest))
}

fn gcd(a: &[Fraction], b: &[Fraction]) -> Option<Coefficients> {
    let (mut a, mut b) = (a.to_vec(), b.to_vec());
    while !b.is_empty() {
        let rest = divide(&a, &b)?.1;
        (a, b) = (b, rest);
    }
    let inverse = a.last()?.inverted()?;
    a.iter().map(|x| x.times(inverse)).collect()
}

/// Monic factors of degree 1 and 2 with their powers.
fn factors(c: &[Fraction]) -> Option<Vec<(Coefficients, usize)>> {
    let mut found: Vec<(Coefficients, usize)> = vec![];
    let mut add = |factor: Coefficients| match found.iter_mut().find(|(known, _)| *known == factor) {
        Some((_, power)) => *power += 1,
        None => found.push((factor, 1)),
    };
    let mut left = c.to_vec();
    while let Some(root) = rational_root(&left) {
        let factor = vec![root.negated(), Fraction::ONE];
        left = divide(&left, &factor)?.0;
        add(factor);
    }
    while left.len() > 1 {
        let factor = match left.len() {
            3 => left.clone(),
            _ => {
                // What is repeated is common with the derivative; else it may be a polynomial in x².
                let slope: Coefficients =
                    (1..left.len()).map(|k| left[k].times(Fraction::integer(k as i64))).collect::<Option<_>>()?;
                let common = gcd(&left, &trimmed(slope))?;
                let of_squares = |c: &[Fraction]| -> Option<Coefficients> {
                    let even = c.iter().skip(1).step_by(2).all(|x| *x == Fraction::ZERO);
                    let root = rational_root(&c.iter().step_by(2).copied().collect::<Vec<_>>()).filter(|_| even)?;
                    Some(vec![root.negated(), Fraction::ZERO, Fraction::ONE])
                };
                if common.len() == 3 { common } else { of_squares(&left)? }
            }
        };
        let inverse = factor.last()?.inverted()?;
        let factor: Coefficients = factor.iter().map(|x| x.times(inverse)).collect::<Option<_>>()?;
        let (quotient, rest) = divide(&left, &factor)?;
        if !rest.is_empty() {
            return None;
        }
        left = quotient;
        add(factor);
    }
    Some(found)
}

/// For every factor and power, the numerator above it: a number, or the coefficients of b x + c from that of x⁰.
fn partial_fractions(
    top: &[Fraction],
    bottom: &[Fraction],
    factors: &[(Coefficients, usize)],
) -> Option<Vec<(Coefficients, usize, [Fraction; 2])>> {
    let degree = bottom.len() - 1;
    // One unknown for every coefficient: bottom / factorᵖ, times x for the second of a quadratic, sums up to the
    // numerator.
    let mut unknowns: Vec<(usize, usize, usize, Coefficients)> = vec![];
    for (which, (factor, most)) in factors.iter().enumerate() {
        let mut left = bottom.to_vec();
        for power in 1..=*most {
            left = divide(&left, factor)?.0;
            unknowns.push((which, power, 0, left.clone()));
            if factor.len() == 3 {
                unknowns.push((which, power, 1, times(&left, &[Fraction::ZERO, Fraction::ONE])?));
            }
        }
    }
    let at = |c: &[Fraction], k: usize| c.get(k).copied().unwrap_or(Fraction::ZERO);
    let rows =
        (0..degree).map(|k| unknowns.iter().map(|unknown| at(&unknown.3, k)).chain([at(top, k)]).collect()).collect();
    let solved = solved(rows)?;
    let mut parts: Vec<(Coefficients, usize, [Fraction; 2])> = vec![];
    for ((which, power, place, _), x) in unknowns.iter().zip(solved) {
        let factor = &factors[*which].0;
        match parts.iter_mut().find(|(known, of, _)| known == factor && of == power) {
            Some((_, _, part)) => part[*place] = x,
            None => parts.push((factor.clone(), *power, [x, Fraction::ZERO])),
        }
    }
    Some(parts)
}

/// The solution of a square system with its right side in the last column, by elimination.
fn solved(mut rows: Vec<Coefficients>) -> Option<Coefficients> {
    let n = rows.len();
    for k in 0..n {
        let pivot = (k..n).find(|row| rows[*row][k] != Fraction::ZERO)?;
        rows.swap(k, pivot);
        let inverse = rows[k][k].inverted()?;
        rows[k] = rows[k].iter().map(|x| x.times(inverse)).collect::<Option<_>>()?;
        for row in (0..n).filter(|row| *row != k) {
            let factor = rows[row][k].negated();
            rows[row] = rows[row].iter().zip(&rows[k]).map(|(x, y)| x.plus(y.times(factor)?)).collect::<Option<_>>()?;
        }
    }
    Some(rows.iter().map(|row| row[n]).collect())
}

fn number(x: Fraction) -> Expr {
    Expr::number(x)
}

fn of_coefficients(c: &[Fraction], x: &Expr) -> Expr {
    let terms = c.iter().enumerate().rev().filter(|(_, c)| **c != Fraction::ZERO);
    let sum = terms
        .map(|(k, c)| tidy::mul(&number(*c), &tidy::pow(x, &Expr::number(k as i64))))
        .reduce(|a, b| tidy::add(&a, &b));
    sum.unwrap_or_else(|| Expr::number(0))
}

/// ∫ a / (x − r)ᵖ
fn of_linear(factor: &[Fraction], power: usize, a: Fraction, x: &Expr) -> Option<Expr> {
    let base = of_coefficients(factor, x);
    if power == 1 {
        let log = Expr::call(Function::Log, [Expr::call(Function::Abs, [base])]);
        return Some(tidy::mul(&number(a), &log));
    }
    let down = power as i64 - 1;
    Some(tidy::div(&number(a.times(Fraction::new(-1, down.into())?)?), &tidy::pow(&base, &Expr::number(down))))
}

/// ∫ (b x + c) / qᵖ for q = x² + m x + n: with u = x + m/2 and q = u² + k, (b u + d) / qᵖ.
fn of_quadratic(factor: &[Fraction], power: usize, [c, b]: [Fraction; 2], x: &Expr) -> Option<Expr> {
    let half = factor[1].times(Fraction::new(1, 2)?)?;
    let k = factor[0].plus(half.times(half)?.negated())?;
    let d = c.plus(b.times(half)?.negated())?;
    let (base, u) = (of_coefficients(factor, x), tidy::add(x, &number(half)));
    let down = power as i64 - 1;
    let first = if power == 1 {
        let inside = if k > Fraction::ZERO { base.clone() } else { Expr::call(Function::Abs, [base.clone()]) };
        tidy::mul(&number(b.times(Fraction::new(1, 2)?)?), &Expr::call(Function::Log, [inside]))
    } else {
        tidy::div(&number(b.times(Fraction::new(-1, (2 * down).into())?)?), &tidy::pow(&base, &Expr::number(down)))
    };
    Some(tidy::add(&first, &tidy::mul(&number(d), &of_square(&u, k, &base, power)?)))
}

/// ∫ 1 / (u² + k)ᵖ, from p down to 1.
fn of_square(u: &Expr, k: Fraction, base: &Expr, power: usize) -> Option<Expr> {
    if power == 1 {
        let root = tidy::call(Function::Sqrt, vec![number(if k < Fraction::ZERO { k.negated() } else { k })]);
        if k > Fraction::ZERO {
            let angle = Expr::call(Function::Atan, [tidy::div(u, &root)]);
            return Some(tidy::div(&angle, &root));
        }
        let ratio = tidy::div(&tidy::sub(u, &root), &tidy::add(u, &root));
        let log = Expr::call(Function::Log, [Expr::call(Function::Abs, [ratio])]);
        return Some(tidy::div(&log, &tidy::mul(&Expr::number(2), &root)));
    }
    // u / (2 k (p − 1) qᵖ⁻¹) + (2 p − 3) / (2 k (p − 1)) ∫ 1 / qᵖ⁻¹
    let p = power as i64;
    let below = k.times(Fraction::integer(2 * (p - 1)))?;
    let first = tidy::div(u, &tidy::mul(&number(below), &tidy::pow(base, &Expr::number(p - 1))));
    let factor = Fraction::integer(2 * p - 3).times(below.inverted()?)?;
    Some(tidy::add(&first, &tidy::mul(&number(factor), &of_square(u, k, base, power - 1)?)))
}
