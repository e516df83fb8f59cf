//! Power series: coefficients of any order, by arithmetic of truncated series.
//!
//! y = f(u) satisfies y' = f'(u) u'. For most functions f' is arithmetic of u and y, so that coefficient k of y follows
//! from earlier ones (Griewank and Walther, *Evaluating Derivatives*, chapter 13). The coefficients are expressions,
//! folded where they are numbers.

use retrograd::{Array, Error, ErrorKind, Pos};

use crate::dag::Dag;
use crate::evaluate::{Bindings, evaluate};
use crate::expr::{Expr, Op};
use crate::function::Function;
use crate::tidy;

/// Coefficients of (x − at)⁰, (x − at)¹, … up to an order, as expressions.
///
/// ```
/// use retrograd_expr::{Expr, series};
/// let shown = |text, at, order| -> Result<Vec<String>, retrograd::Error> {
///     Ok(series(&Expr::parse(text)?, "x", &Expr::parse(at)?, order)?.iter().map(ToString::to_string).collect())
/// };
/// assert_eq!(shown("exp(x)", "0", 4)?, ["1", "1", "1/2", "1/6", "1/24"]);
/// assert_eq!(shown("sin(x)/(1 - x)", "0", 3)?, ["0", "1", "1", "5/6"]);
/// assert_eq!(shown("a*sqrt(1 + x)", "0", 2)?, ["a", "1/2*a", "-1/8*a"]);
/// # Ok::<(), retrograd::Error>(())
/// ```
pub fn series(expr: &Expr, name: &str, at: &Expr, order: usize) -> Result<Vec<Expr>, Error> {
    let dag = Dag::of(expr);
    let mentions = dag.mentions(name);
    let exprs = dag.exprs();
    let count = order + 1;
    let mut all: Vec<Vec<Expr>> = Vec::with_capacity(dag.len());
    for id in 0..dag.len() {
        let args: Vec<&[Expr]> = dag.args(id).iter().map(|arg| &all[*arg][..]).collect();
        let found = match dag.op(id) {
            Op::Variable(variable) if &**variable == name => padded(vec![at.clone(), Expr::number(1)], count),
            _ if !mentions[id] => padded(vec![exprs[id].clone()], count),
            Op::Call(function) => call(*function, &args, count)?,
            Op::Number(_)
            | Op::Constant(_)
            | Op::Variable(_)
            | Op::Array(_)
            | Op::Einsum(_)
            | Op::Stack
            | Op::Index
            | Op::Fold(..) => {
                return Err(unsupported(&format!("the series of `{}`", exprs[id])));
            }
            Op::StopGradient | Op::Custom(_) => return Err(unsupported(&format!("the series of `{}`", exprs[id]))),
        };
        all.push(found);
    }
    Ok(all.swap_remove(dag.root()))
}

/// The same at bindings of all variables, as numbers.
///
/// ```
/// use retrograd_expr::{Bindings, Expr, taylor};
/// let c = taylor(&Expr::parse("exp(a*x)")?, "x", &Bindings::from([("x", 0.0), ("a", 2.0)]), 10)?;
/// assert!((c[10] - 1024.0 / 3628800.0).abs() < 1e-18);
/// # Ok::<(), retrograd::Error>(())
/// ```
pub fn taylor(expr: &Expr, name: &str, at: &Bindings, order: usize) -> Result<Vec<f64>, Error> {
    let coefficients = series(expr, name, &Expr::variable(name), order)?;
    let list = evaluate(&Expr::new(Op::Stack, coefficients), at)?;
    let shape: &[usize] = &[order + 1];
    if list.shape() != shape {
        return Err(Error::new(ErrorKind::Shape, Pos::unknown(), "Taylor coefficients are of functions of numbers"));
    }
    Ok(Array::as_f64(&list).to_vec())
}

pub(super) fn unsupported(what: &str) -> Error {
    Error::new(ErrorKind::Unsupported, Pos::unknown(), format!("{what} is not known"))
}

fn unknown(function: Function) -> Error {
    unsupported(&format!("the series of `{}`", function.row().name))
}

pub(super) fn padded(mut coefficients: Vec<Expr>, count: usize) -> Vec<Expr> {
    coefficients.resize(count, Expr::number(0));
    coefficients
}

pub(super) fn call(function: Function, args: &[&[Expr]], count: usize) -> Result<Vec<Expr>, Error> {
    use Function::{Add, Cos, Cosh, Div, Exp, Log, Mul, Neg, Pow, Sin, Sinh, Sqrt, Sub};
    let each = |f: fn(&Expr, &Expr) -> Expr| args[0].iter().zip(args[1]).map(|(a, b)| f(a, b)).collect();
    Ok(match function {
        Add => each(tidy::add),
        Sub => each(tidy::sub),
        Neg => args[0].iter().map(tidy::neg).collect(),
        Mul => product(args[0], args[1]),
        Div => quotient(args[0], args[1])?,
        Exp => of_derivative(function, args[0], count, |_, y| y.to_vec()),
        Log => {
            // y' = u' / u
            let slope = quotient(&derivative(args[0]), args[0])?;
            integral(value(Log, &args[0][0]), &slope)
        }
        Sin | Cos => circular([Sin, Cos], args[0], count, -1).swap_remove(usize::from(function == Cos)),
        Sinh | Cosh => circular([Sinh, Cosh], args[0], count, 1).swap_remove(usize::from(function == Cosh)),
        Sqrt => power(args[0], &half(), count)?,
        Pow if args[1][1..].iter().all(|part| part.is(0)) => power(args[0], &args[1][0], count)?,
        Pow => {
            let logarithm = call(Log, &[args[0]], count)?;
            call(Exp, &[&product(args[1], &logarithm)], count)?
        }
        Function::Tan | Function::Tanh => of_derivative(function, args[0], count, move |_, y| {
            let square = product(y, y);
            let sign = |part: &Expr| if function == Function::Tan { part.clone() } else { tidy::neg(part) };
            let mut slope: Vec<Expr> = square.iter().map(sign).collect();
            slope[0] = tidy::add(&Expr::number(1), &slope[0]);
            slope
        }),
        Function::Sigmoid => of_derivative(function, args[0], count, |_, y| {
            let square = product(y, y);
            y.iter().zip(&square).map(|(a, b)| tidy::sub(a, b)).collect()
        }),
        Function::ExpTwo => {
            let log = value(Log, &Expr::number(2));
            of_derivative(function, args[0], count, move |_, y| y.iter().map(|part| tidy::mul(&log, part)).collect())
        }
        Function::Cbrt => root_of(value(function, &args[0][0]), args[0], &third(), count)?,
        Function::Hypot => {
            let squares = product(args[0], args[0])
                .iter()
                .zip(&product(args[1], args[1]))
                .map(|(a, b)| tidy::add(a, b))
                .collect::<Vec<_>>();
            root_of(tidy::call(function, vec![args[0][0].clone(), args[1][0].clone()]), &squares, &half(), count)?
        }
        Function::AtanTwo => {
            // y' = (b a' − a b') / (a² + b²)
            let [a, b] = [args[0], args[1]];
            let top = zipped(tidy::sub, &product(b, &derivative(a)), &product(a, &derivative(b)));
            let slope = quotient(&top, &zipped(tidy::add, &product(a, a), &product(b, b)))?;
            integral(tidy::call(function, vec![a[0].clone(), b[0].clone()]), &slope)
        }
        // y' = f'(u) u', where f' is arithmetic of u alone.
        Function::Atan
        | Function::Asin
        | Function::Erf
        | Function::Acos
        | Function::Asinh
        | Function::Acosh
        | Function::Atanh => by_partial(function, args[0], count)?,
        Function::Expm | Function::LogTwo | Function::LogTen | Function::LogOnePlus | Function::Erfc => {
            by_partial(function, args[0], count)?
        }
        // Where they have a power series: away from the points at which pieces meet.
        Function::Abs => {
            let sign = apart(&args[0][0], &Expr::number(0))?;
            args[0].iter().map(|part| tidy::mul(&sign, part)).collect()
        }
        Function::Sign => padded(vec![apart(&args[0][0], &Expr::number(0))?], count),
        Function::Min | Function::Max => {
            apart(&args[0][0], &args[1][0])?;
            let comparison = if function == Function::Min { Function::Lt } else { Function::Gt };
            let first = tidy::call(comparison, vec![args[0][0].clone(), args[1][0].clone()]);
            args[0].iter().zip(args[1]).map(|(a, b)| select(&first, a, b)).collect()
        }
        Function::Select => args[1].iter().zip(args[2]).map(|(a, b)| select(&args[0][0], a, b)).collect(),
        Function::Lt | Function::Le | Function::Gt | Function::Ge | Function::Eq | Function::Ne => {
            apart(&args[0][0], &args[1][0])?;
            padded(vec![tidy::call(function, vec![args[0][0].clone(), args[1][0].clone()])], count)
        }
        Function::And | Function::Or | Function::Not => {
            padded(vec![tidy::call(function, args.iter().map(|arg| arg[0].clone()).collect())], count)
        }
        Function::Floor | Function::Ceil | Function::Trunc | Function::Round => {
            padded(vec![step(function, &args[0][0])?], count)
        }
    })
}

fn half() -> Expr {
    Expr::number(1) / 2
}

fn third() -> Expr {
    Expr::number(1) / 3
}

fn zipped(f: fn(&Expr, &Expr) -> Expr, a: &[Expr], b: &[Expr]) -> Vec<Expr> {
    a.iter().zip(b).map(|(a, b)| f(a, b)).collect()
}

/// The sign of a − b, which is not 0: where it is, pieces meet and there is no power series. Of variables it is a NaN
/// there.
fn apart(a: &Expr, b: &Expr) -> Result<Expr, Error> {
    let difference = tidy::sub(a, b);
    let number = difference.free_vars().is_empty().then(|| super::number(&difference)).flatten();
    match number {
        Some(x) if x.abs() <= 1e-12 * (1.0 + super::number(a).unwrap_or(0.0).abs()) => {
            Err(unsupported("a power series where two pieces meet"))
        }
        Some(x) => Ok(Expr::number(if x < 0.0 { -1 } else { 1 })),
        None if a == b => Err(unsupported("a power series where two pieces meet")),
        None => Ok(tidy::div(&difference, &value(Function::Abs, &difference))),
    }
}

/// One of two, where the condition is known.
fn select(condition: &Expr, a: &Expr, b: &Expr) -> Expr {
    let known = condition.free_vars().is_empty().then(|| super::holds(condition)).flatten();
    match known {
        Some(true) => a.clone(),
        Some(false) => b.clone(),
        None if a == b => a.clone(),
        None => Expr::call(Function::Select, [condition.clone(), a.clone(), b.clone()]),
    }
}

/// A function that jumps, where it does not.
fn step(function: Function, at: &Expr) -> Result<Expr, Error> {
    let x = at.free_vars().is_empty().then(|| super::number(at)).flatten().ok_or_else(|| unknown(function))?;
    let jump = if function == Function::Round { (x - x.floor() - 0.5).abs() } else { (x - x.round()).abs() };
    if jump <= 1e-12 * (1.0 + x.abs()) {
        Err(unsupported("a power series where a function jumps"))
    } else {
        Ok(value(function, at))
    }
}

/// y = f(u) where f' does not need y.
fn by_partial(function: Function, u: &[Expr], count: usize) -> Result<Vec<Expr>, Error> {
    let name = Expr::variable("u");
    let slope = crate::derivative::partial(function, 0, &[&name], &name).expect("these functions are not flat");
    let slope = composed(&slope, u, count)?;
    Ok(integral(value(function, &u[0]), &product(&slope, &derivative(u))))
}

/// An expression of u, over a series.
fn composed(expr: &Expr, u: &[Expr], count: usize) -> Result<Vec<Expr>, Error> {
    let dag = Dag::of(expr);
    let mut all: Vec<Vec<Expr>> = vec![];
    for id in 0..dag.len() {
        let args: Vec<&[Expr]> = dag.args(id).iter().map(|arg| &all[*arg][..]).collect();
        let found = match dag.op(id) {
            Op::Variable(_) => u.to_vec(),
            Op::Call(function) => call(*function, &args, count)?,
            leaf @ (Op::Number(_) | Op::Constant(_)) => padded(vec![Expr::new(leaf.clone(), vec![])], count),
            Op::Array(_) | Op::Einsum(_) | Op::Stack | Op::Index | Op::Fold(..) | Op::StopGradient | Op::Custom(_) => {
                unreachable!("partials of the table are elementwise")
            }
        };
        all.push(found);
    }
    Ok(all.swap_remove(dag.root()))
}

/// A function at the constant part.
fn value(function: Function, at: &Expr) -> Expr {
    tidy::call(function, vec![at.clone()])
}

pub(super) fn product(a: &[Expr], b: &[Expr]) -> Vec<Expr> {
    let coefficient = |k: usize| (0..=k).fold(Expr::number(0), |sum, j| tidy::add(&sum, &tidy::mul(&a[j], &b[k - j])));
    (0..a.len()).map(coefficient).collect()
}

/// q b = a, coefficient by coefficient.
pub(super) fn quotient(a: &[Expr], b: &[Expr]) -> Result<Vec<Expr>, Error> {
    if b[0].is(0) {
        return Err(unsupported("a power series around a pole"));
    }
    let mut q: Vec<Expr> = vec![];
    for k in 0..a.len() {
        let known = (0..k).fold(Expr::number(0), |sum, j| tidy::add(&sum, &tidy::mul(&q[j], &b[k - j])));
        q.push(tidy::div(&tidy::sub(&a[k], &known), &b[0]));
    }
    Ok(q)
}

/// Coefficients of u'.
fn derivative(u: &[Expr]) -> Vec<Expr> {
    let shifted = (1..u.len()).map(|k| tidy::mul(&Expr::number(k as i64), &u[k])).collect();
    padded(shifted, u.len())
}

/// The series with this derivative and this constant part.
fn integral(constant: Expr, slope: &[Expr]) -> Vec<Expr> {
    let rest = (1..slope.len()).map(|k| tidy::div(&slope[k - 1], &Expr::number(k as i64)));
    [constant].into_iter().chain(rest).collect()
}

/// y = f(u), where f' is a series of u and y: each coefficient of y needs earlier ones only.
fn of_derivative(
    function: Function,
    u: &[Expr],
    count: usize,
    slope: impl Fn(&[Expr], &[Expr]) -> Vec<Expr>,
) -> Vec<Expr> {
    let du = derivative(u);
    let mut y = padded(vec![value(function, &u[0])], count);
    for k in 1..count {
        let part = product(&slope(u, &y), &du)[k - 1].clone();
        y[k] = tidy::div(&part, &Expr::number(k as i64));
    }
    y
}

/// Two functions that are each other's derivative, up to a sign: s' = c u', c' = ± s u'.
fn circular([s, c]: [Function; 2], u: &[Expr], count: usize, sign: i64) -> Vec<Vec<Expr>> {
    let du = derivative(u);
    let (mut first, mut second) = (padded(vec![value(s, &u[0])], count), padded(vec![value(c, &u[0])], count));
    for k in 1..count {
        let [a, b] = [&second, &first].map(|other| product(other, &du)[k - 1].clone());
        first[k] = tidy::div(&a, &Expr::number(k as i64));
        second[k] = tidy::div(&tidy::mul(&Expr::number(sign), &b), &Expr::number(k as i64));
    }
    vec![first, second]
}

/// y = uⁿ for a constant n: u y' = n u' y, or a product where n is a natural number.
pub(super) fn power(u: &[Expr], n: &Expr, count: usize) -> Result<Vec<Expr>, Error> {
    if let Some(natural) = n.as_integer().filter(|n| (0..=64).contains(n)) {
        let one = padded(vec![Expr::number(1)], count);
        return Ok((0..natural).fold(one, |power, _| product(&power, u)));
    }
    let start =
        if n.as_fraction() == crate::Fraction::new(1, 2) { value(Function::Sqrt, &u[0]) } else { tidy::pow(&u[0], n) };
    root_of(start, u, n, count)
}

/// y = uⁿ by its value at the centre, which is not 0.
fn root_of(start: Expr, u: &[Expr], n: &Expr, count: usize) -> Result<Vec<Expr>, Error> {
    if u[0].is(0) {
        return Err(unsupported("a power series around a branch point"));
    }
    let mut y = padded(vec![start], count);
    for k in 1..count {
        // k u₀ yₖ = Σⱼ (n j − (k − j)) uⱼ yₖ₋ⱼ over j from 1 to k
        let term = |j: usize| {
            let factor = tidy::sub(&tidy::mul(n, &Expr::number(j as i64)), &Expr::number((k - j) as i64));
            tidy::mul(&factor, &tidy::mul(&u[j], &y[k - j]))
        };
        let sum = (1..=k).fold(Expr::number(0), |sum, j| tidy::add(&sum, &term(j)));
        y[k] = tidy::div(&sum, &tidy::mul(&Expr::number(k as i64), &u[0]));
    }
    Ok(y)
}
