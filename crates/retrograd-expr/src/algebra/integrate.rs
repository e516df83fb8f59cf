//! Integrals by table: polynomials, and elementary functions of linear arguments, times polynomials where parts go down.

use retrograd::{Error, ErrorKind, Pos};

use super::polynomial::{mentions, polynomial};
use crate::derivative::diff;
use crate::expr::{Expr, Op};
use crate::function::Function;
use crate::number::Fraction;
use crate::tidy;

/// Integrals of functions of a: ∫ f(a) da.
const TABLE: &[(Function, &str)] = &[
    (Function::Sin, "-cos(a)"),
    (Function::Cos, "sin(a)"),
    (Function::Exp, "exp(a)"),
    (Function::Sinh, "cosh(a)"),
    (Function::Cosh, "sinh(a)"),
    (Function::Log, "a*log(a) - a"),
    (Function::Sqrt, "2/3*a*sqrt(a)"),
    (Function::Atan, "a*atan(a) - log(1 + a^2)/2"),
    (Function::Tanh, "log(cosh(a))"),
];

/// An antiderivative by a variable; what the table does not reach is refused.
///
/// ```
/// use retrograd_expr::{Expr, integrate};
/// let shown = |text: &str| -> Result<String, retrograd::Error> { Ok(integrate(&Expr::parse(text)?, "x")?.to_string()) };
/// assert_eq!(shown("3*x^2 + x/2")?, "1/4*x^2 + x^3");
/// assert_eq!(shown("sin(2*x + 1)")?, "-(cos(2*x + 1)/2)");
/// assert_eq!(shown("x*exp(x)")?, "x*exp(x) - exp(x)");
/// assert!(shown("exp(x^2)").is_err());
/// # Ok::<(), retrograd::Error>(())
/// ```
pub fn integrate(expr: &Expr, name: &str) -> Result<Expr, Error> {
    let mut sum = Expr::number(0);
    for (monomial, coefficient) in &polynomial(expr).terms {
        let (mut outside, mut inside, mut power) = (Expr::number(*coefficient), vec![], 0);
        for (atom, exponent) in monomial {
            match atom.as_variable() {
                Some(variable) if &**variable == name => power = *exponent,
                _ if !mentions(atom, name) => outside = tidy::mul(&outside, &tidy::pow(atom, &Expr::number(*exponent))),
                _ => inside.push((atom.clone(), *exponent)),
            }
        }
        let part = match &inside[..] {
            [] => powers(name, power),
            [(atom, 1)] => of_atom(atom, name, power)?,
            _ => return Err(refused(expr)),
        };
        sum = tidy::add(&sum, &tidy::mul(&outside, &part));
    }
    Ok(sum)
}

fn refused(expr: &Expr) -> Error {
    Error::new(ErrorKind::Unsupported, Pos::unknown(), format!("`{expr}` is not in the table of integrals"))
}

/// ∫ xⁿ dx for n ≥ 0.
fn powers(name: &str, n: i64) -> Expr {
    tidy::mul(&(Expr::number(1) / (n + 1)), &tidy::pow(&Expr::variable(name), &Expr::number(n + 1)))
}

/// ∫ xⁿ f dx: of the table, or by parts while n goes down.
fn of_atom(atom: &Expr, name: &str, power: i64) -> Result<Expr, Error> {
    let whole = by_table(atom, name)?;
    if power == 0 {
        return Ok(whole);
    }
    // ∫ xⁿ f = xⁿ F − ∫ n xⁿ⁻¹ F
    let factor = tidy::pow(&Expr::variable(name), &Expr::number(power));
    let rest = integrate(&tidy::mul(&diff(&factor, name)?, &whole), name)?;
    Ok(tidy::sub(&tidy::mul(&factor, &whole), &rest))
}

fn by_table(atom: &Expr, name: &str) -> Result<Expr, Error> {
    let (Op::Call(function), args) = (atom.op(), atom.args()) else { return Err(refused(atom)) };
    // c / (a x + b) and (a x + b)ⁿ
    let (inner, found) = match (function, args) {
        (Function::Div, [top, bottom]) if !mentions(top, name) => {
            let log = Expr::call(Function::Log, [Expr::call(Function::Abs, [bottom.clone()])]);
            (bottom, tidy::mul(top, &log))
        }
        (Function::Pow, [bottom, exponent]) if exponent.as_fraction() == Some(Fraction::MINUS_ONE) => {
            (bottom, Expr::call(Function::Log, [Expr::call(Function::Abs, [bottom.clone()])]))
        }
        (Function::Pow, [bottom, exponent]) if !mentions(exponent, name) && exponent.as_fraction().is_some() => {
            let next = tidy::add(exponent, &Expr::number(1));
            (bottom, tidy::div(&tidy::pow(bottom, &next), &next))
        }
        (function, [inner]) => {
            let row = TABLE.iter().find(|(known, _)| known == function).ok_or_else(|| refused(atom))?;
            (inner, Expr::parse(row.1)?.substitute(&[("a", inner.clone())]))
        }
        _ => return Err(refused(atom)),
    };
    // The argument is linear: its derivative is a constant.
    let slope = polynomial(&diff(inner, name)?).to_expr();
    if mentions(&slope, name) || slope.is(0) {
        return Err(refused(atom));
    }
    Ok(tidy::div(&found, &slope))
}
