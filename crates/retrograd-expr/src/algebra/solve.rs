//! Equations of one variable: polynomials to degree 4 exactly, others by numbers.

use retrograd::{Error, ErrorKind, Pos};

use super::polynomial::{Polynomial, mentions, polynomial};
use super::rational;
use crate::evaluate::{Bindings, Derived, evaluate};
use crate::expr::{Constant, Expr};
use crate::function::Function;
use crate::number::Fraction;
use crate::tidy;

/// A real solution.
#[derive(Clone, Debug, PartialEq)]
pub struct Root {
    /// What the variable is.
    pub value: Expr,
    /// What must not be 0 for it, where coefficients have variables.
    pub unless_zero: Option<Expr>,
}

/// The real solutions of `expr = 0` by a variable, each once, in ascending order where they are numbers.
///
/// ```
/// use retrograd_expr::{Expr, solve};
/// let shown = |text: &str| -> Result<Vec<String>, retrograd::Error> {
///     Ok(solve(&Expr::parse_equation(text)?, "x")?.iter().map(|root| root.value.to_string()).collect())
/// };
/// assert_eq!(shown("2*x + 3 = 0")?, ["-3/2"]);
/// assert_eq!(shown("x^2 = 2")?, ["-(sqrt(8)/2)", "sqrt(8)/2"]);
/// assert_eq!(shown("x^4 - 5*x^2 + 4 = 0")?, ["-2", "-1", "1", "2"]);
/// assert_eq!(shown("x^2 + 1 = 0")?, [""; 0]);
/// assert_eq!(shown("a*x = b")?, ["b/a"]);
/// assert_eq!(shown("(x^2 - 1)/(x - 1) = 0")?, ["-1"]);
/// # Ok::<(), retrograd::Error>(())
/// ```
pub fn solve(expr: &Expr, name: &str) -> Result<Vec<Root>, Error> {
    if !mentions(expr, name) {
        return Err(Error::new(ErrorKind::Argument, Pos::unknown(), format!("`{expr} = 0` says nothing of `{name}`")));
    }
    if let Some(top) = rational::numerator(expr, name) {
        return real_roots(top);
    }
    let polynomial = polynomial(expr);
    let Some(coefficients) = polynomial.coefficients(name) else {
        return Err(unsupported(format!(
            "`{expr} = 0` is not a polynomial in `{name}`; `newton` and `bisect` find numbers"
        )));
    };
    let fractions: Option<Vec<Fraction>> = coefficients.iter().map(number).collect();
    match fractions {
        Some(fractions) => real_roots(fractions),
        None => symbolic(&coefficients),
    }
}

fn unsupported(message: String) -> Error {
    Error::new(ErrorKind::Unsupported, Pos::unknown(), message)
}

fn number(polynomial: &Polynomial) -> Option<Fraction> {
    polynomial.to_expr().as_fraction()
}

fn symbolic(coefficients: &[Polynomial]) -> Result<Vec<Root>, Error> {
    let exprs: Vec<Expr> = coefficients.iter().map(Polynomial::to_expr).collect();
    let root = |value: Expr, leading: &Expr| Root {
        value,
        unless_zero: leading.as_fraction().is_none().then(|| leading.clone()),
    };
    match &exprs[..] {
        [b, a] => Ok(vec![root(tidy::div(&tidy::neg(b), a), a)]),
        [c, b, a] => Ok([-1, 1].map(|sign| root(of_quadratic(a, b, c, sign), a)).into()),
        _ => Err(unsupported("equations with variables as coefficients are solved to degree 2".into())),
    }
}

/// (−b ± √(b² − 4 a c)) / (2 a)
fn of_quadratic(a: &Expr, b: &Expr, c: &Expr, sign: i64) -> Expr {
    let four = tidy::mul(&Expr::number(4), &tidy::mul(a, c));
    let root = tidy::call(Function::Sqrt, vec![tidy::sub(&tidy::pow(b, &Expr::number(2)), &four)]);
    tidy::div(&tidy::add(&tidy::neg(b), &tidy::mul(&Expr::number(sign), &root)), &tidy::mul(&Expr::number(2), a))
}

fn real_roots(mut c: Vec<Fraction>) -> Result<Vec<Root>, Error> {
    while c.last() == Some(&Fraction::ZERO) {
        c.pop();
    }
    if c.is_empty() {
        return Err(Error::new(ErrorKind::Argument, Pos::unknown(), "every number is a solution"));
    }
    let mut found: Vec<Expr> = vec![];
    while let Some(root) = rational_root(&c) {
        c = divided(&c, root).ok_or_else(|| unsupported("coefficients became too long for exact solutions".into()))?;
        found.push(Expr::number(root));
    }
    let exprs: Vec<Expr> = c.iter().map(|x| Expr::number(*x)).collect();
    match &exprs[..] {
        [_] => {}
        [c, b, a] => {
            let discriminant = at_point(&tidy::sub(&(b * b), &(Expr::number(4) * a * c)))?;
            if discriminant >= 0.0 {
                found.extend([-1, 1].map(|sign| of_quadratic(a, b, c, sign)));
            }
        }
        [_, _, _, _] => found.extend(cubic(&exprs)?),
        [_, _, _, _, _] => found.extend(quartic(&exprs)?),
        _ => {
            return Err(unsupported(format!(
                "a polynomial of degree {} without rational roots; `bisect` finds numbers",
                exprs.len() - 1
            )));
        }
    }
    let mut roots = found.into_iter().map(|value| Ok((at_point(&value)?, value))).collect::<Result<Vec<_>, Error>>()?;
    roots.sort_by(|a, b| a.0.total_cmp(&b.0));
    roots.dedup_by(|a, b| a.1 == b.1 || (a.0 - b.0).abs() <= 1e-13 * (1.0 + a.0.abs()));
    Ok(roots.into_iter().map(|(_, value)| Root { value, unless_zero: None }).collect())
}

/// A rational root p/q: p divides the last coefficient and q the first, as integers.
pub(super) fn rational_root(c: &[Fraction]) -> Option<Fraction> {
    if c.len() < 2 {
        return None;
    }
    if c[0] == Fraction::ZERO {
        return Some(Fraction::ZERO);
    }
    let common = c.iter().try_fold(Fraction::ONE, |product, x| product.times(Fraction::integer(x.denominator())))?;
    let [first, last] = [c.last()?, &c[0]].map(|x| x.times(common).and_then(Fraction::as_integer));
    let divisors = |n: i64| -> Vec<i64> { (1..=n.unsigned_abs().min(10_000) as i64).filter(|d| n % d == 0).collect() };
    let (tops, bottoms) = (divisors(last?), divisors(first?));
    let candidates = tops.iter().flat_map(|p| bottoms.iter().flat_map(move |q| [(*p, *q), (-*p, *q)]));
    candidates.filter_map(|(p, q)| Fraction::new(p.into(), q.into())).find(|x| {
        let value = c.iter().rev().try_fold(Fraction::ZERO, |sum, c| sum.times(*x)?.plus(*c));
        value == Some(Fraction::ZERO)
    })
}

/// The polynomial divided by (x − root).
fn divided(c: &[Fraction], root: Fraction) -> Option<Vec<Fraction>> {
    let mut quotient = vec![];
    let mut carry = Fraction::ZERO;
    for x in c[1..].iter().rev() {
        carry = carry.times(root)?.plus(*x)?;
        quotient.push(carry);
    }
    quotient.reverse();
    Some(quotient)
}

fn at_point(expr: &Expr) -> Result<f64, Error> {
    Ok(evaluate(expr, &Bindings::new())?.as_f64()[0])
}

/// Real roots of a cubic: t³ + p t + q with x = t − b/(3a), by Cardano, or by cosines where all three are real.
fn cubic(c: &[Expr]) -> Result<Vec<Expr>, Error> {
    let [d, c, b] = [0, 1, 2].map(|k| tidy::div(&c[k], &c[3]));
    let third = |x: &Expr| tidy::div(x, &Expr::number(3));
    let p = tidy::sub(&c, &third(&tidy::mul(&b, &b)));
    let cube = tidy::mul(&tidy::mul(&b, &b), &b);
    let q = tidy::add(&tidy::sub(&tidy::mul(&(Expr::number(2) / 27), &cube), &third(&tidy::mul(&b, &c))), &d);
    let half = tidy::div(&q, &Expr::number(2));
    let inside = tidy::add(&tidy::mul(&half, &half), &tidy::pow(&third(&p), &Expr::number(3)));
    let shift = third(&b);
    if at_point(&inside)? >= 0.0 {
        let root = tidy::call(Function::Sqrt, vec![inside]);
        let part = |sign: i64| {
            let sum = tidy::add(&tidy::neg(&half), &tidy::mul(&Expr::number(sign), &root));
            tidy::call(Function::Cbrt, vec![sum])
        };
        return Ok(vec![tidy::sub(&tidy::add(&part(1), &part(-1)), &shift)]);
    }
    let radius = tidy::call(Function::Sqrt, vec![tidy::neg(&third(&p))]);
    let angle = tidy::call(Function::Acos, vec![tidy::neg(&tidy::div(&half, &tidy::pow(&radius, &Expr::number(3))))]);
    let root = |k: i64| {
        let turned = tidy::sub(&third(&angle), &tidy::mul(&(Expr::number(2 * k) / 3), &Expr::constant(Constant::Pi)));
        tidy::sub(&tidy::mul(&(Expr::number(2) * &radius), &Expr::call(Function::Cos, [turned])), &shift)
    };
    Ok((0..3).map(root).collect())
}

/// Real roots of a quartic by Ferrari: t⁴ + p t² + q t + r is a difference of squares for a root m of its resolvent.
fn quartic(c: &[Expr]) -> Result<Vec<Expr>, Error> {
    let [e, d, c, b] = [0, 1, 2, 3].map(|k| tidy::div(&c[k], &c[4]));
    let times = |x: &Expr, n: i64, over: i64| tidy::mul(&(Expr::number(n) / over), x);
    let square = tidy::mul(&b, &b);
    let p = tidy::sub(&c, &times(&square, 3, 8));
    let q = tidy::add(&tidy::sub(&d, &times(&tidy::mul(&b, &c), 1, 2)), &times(&tidy::mul(&square, &b), 1, 8));
    let fourth = times(&tidy::mul(&square, &square), 3, 256);
    let r = tidy::add(
        &tidy::sub(&tidy::add(&e, &times(&tidy::mul(&square, &c), 1, 16)), &fourth),
        &times(&tidy::mul(&b, &d), -1, 4),
    );
    let shift = times(&b, 1, 4);
    let quadratic = |b: &Expr, c: &Expr| -> Result<Vec<Expr>, Error> {
        let fits = at_point(&(b * b - Expr::number(4) * c))? >= -1e-12;
        let root = |sign: i64| tidy::sub(&of_quadratic(&Expr::number(1), b, c, sign), &shift);
        Ok(if fits { [-1, 1].map(root).into() } else { vec![] })
    };
    if q.is(0) {
        // A quadratic in t².
        let squares = if at_point(&(&p * &p - Expr::number(4) * &r))? >= 0.0 {
            [-1, 1].map(|sign| of_quadratic(&Expr::number(1), &p, &r, sign))
        } else {
            return Ok(vec![]);
        };
        let mut roots = vec![];
        for square in squares {
            if at_point(&square)? >= 0.0 {
                let root = tidy::call(Function::Sqrt, vec![square]);
                roots.extend([tidy::sub(&tidy::neg(&root), &shift), tidy::sub(&root, &shift)]);
            }
        }
        return Ok(roots);
    }
    // m³ + p m² + (p²/4 − r) m − q²/8 = 0 has a positive root.
    let resolvent =
        [times(&tidy::mul(&q, &q), -1, 8), tidy::sub(&times(&tidy::mul(&p, &p), 1, 4), &r), p.clone(), Expr::number(1)];
    let mut best: Option<(f64, Expr)> = None;
    for root in cubic(&resolvent)? {
        let value = at_point(&root)?;
        if best.as_ref().is_none_or(|(least, _)| value > *least) {
            best = Some((value, root));
        }
    }
    let (_, m) = best
        .filter(|(value, _)| *value > 0.0)
        .ok_or_else(|| unsupported("the resolvent has no positive root in floats".into()))?;
    let s = tidy::call(Function::Sqrt, vec![tidy::mul(&Expr::number(2), &m)]);
    let mut roots = vec![];
    for sign in [1, -1] {
        let part = tidy::div(&q, &tidy::mul(&Expr::number(2), &s));
        let constant = tidy::sub(&tidy::add(&times(&p, 1, 2), &m), &tidy::mul(&Expr::number(sign), &part));
        roots.extend(quadratic(&tidy::mul(&Expr::number(sign), &s), &constant)?);
    }
    Ok(roots)
}

/// A zero of an expression of one variable near a start, by Newton's method; an error where it does not converge.
///
/// ```
/// use retrograd_expr::{Expr, newton};
/// assert!((newton(&Expr::parse("cos(x) - x")?, "x", 1.0)? - 0.7390851332151607).abs() < 1e-15);
/// # Ok::<(), retrograd::Error>(())
/// ```
pub fn newton(expr: &Expr, name: &str, start: f64) -> Result<f64, Error> {
    let f = one_variable(expr, name)?;
    let mut x = start;
    for _ in 0..100 {
        let at = f.run(&Bindings::from([(name, x)]))?;
        let (value, slope) = (at[0].as_f64()[0], at[1].as_f64()[0]);
        let next = x - value / slope;
        if value == 0.0 || (next - x).abs() <= 2.0 * f64::EPSILON * x.abs() {
            return Ok(x);
        }
        if !next.is_finite() {
            break;
        }
        x = next;
    }
    Err(Error::new(
        ErrorKind::Argument,
        Pos::unknown(),
        format!("Newton's method from {start} does not converge; `bisect` needs a change of sign only"),
    ))
}

/// A zero of an expression of one variable between two points where its signs differ, by bisection.
pub fn bisect(expr: &Expr, name: &str, low: f64, high: f64) -> Result<f64, Error> {
    let f = one_variable(expr, name)?;
    let value = |x: f64| Ok::<f64, Error>(f.run(&Bindings::from([(name, x)]))?[0].as_f64()[0]);
    let (mut low, mut high, sign) = (low, high, value(low)?);
    let last = value(high)?;
    if sign == 0.0 || last == 0.0 {
        return Ok(if sign == 0.0 { low } else { high });
    }
    if sign.is_nan() || last.is_nan() || (sign > 0.0) == (last > 0.0) {
        return Err(Error::new(
            ErrorKind::Argument,
            Pos::unknown(),
            format!("the signs at {low} and {high} do not differ"),
        ));
    }
    loop {
        let middle = low + (high - low) / 2.0;
        if middle <= low.min(high) || middle >= low.max(high) {
            return Ok(middle);
        }
        let found = value(middle)?;
        match found {
            0.0 => return Ok(middle),
            _ if (found > 0.0) == (sign > 0.0) => low = middle,
            _ => high = middle,
        }
    }
}

/// The value and the derivative, compiled once.
fn one_variable(expr: &Expr, name: &str) -> Result<Derived, Error> {
    if expr.free_vars().iter().any(|other| other != name) || !mentions(expr, name) {
        let message = format!("numbers are found for equations in `{name}` alone, found `{expr}`");
        return Err(Error::new(ErrorKind::Argument, Pos::unknown(), message));
    }
    Ok(crate::evaluate::value_and_grad(expr, &[name]))
}
