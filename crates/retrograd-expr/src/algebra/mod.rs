//! Algebra: polynomials in whatever is not one, and what follows from them.

mod canonical;
mod integrate;
mod polynomial;
mod series;
mod solve;

use crate::evaluate::{Bindings, evaluate};
use crate::expr::{Expr, Op};
use crate::function::Function;
use crate::tidy;

pub use canonical::canonicalize;
pub use integrate::integrate;
pub use polynomial::{collect, expand, is_linear};
pub use series::{limit, series, taylor};
pub use solve::{Root, bisect, newton, solve};

/// Whether an expression without variables has a finite value.
fn is_finite_number(expr: &Expr) -> bool {
    let finite = || evaluate(expr, &Bindings::new()).is_ok_and(|value| value.as_f64().iter().all(|x| x.is_finite()));
    !expr.free_vars().is_empty() || finite()
}

/// A quotient of polynomials in 1/t, with numerator and denominator multiplied by the power of t that clears it.
fn cleared(expr: &Expr) -> Expr {
    let (Op::Call(Function::Div), [top, bottom]) = (expr.op(), expr.args()) else { return expr.clone() };
    let reciprocal = Expr::number(1) / Expr::variable("1/x");
    let degree = |side: &Expr| {
        let powers = polynomial::polynomial(side);
        powers.terms.keys().map(|monomial| monomial.get(&reciprocal).copied().unwrap_or(0)).max().unwrap_or(0)
    };
    let highest = degree(top).max(degree(bottom));
    let side = |side: &Expr| {
        let powers = polynomial::polynomial(side);
        let terms = powers.terms.iter().map(|(monomial, coefficient)| {
            let mut rest = monomial.clone();
            let down = rest.remove(&reciprocal).unwrap_or(0);
            let factor = tidy::pow(&Expr::variable("1/x"), &Expr::number(highest - down));
            let others =
                rest.iter().fold(Expr::number(*coefficient), |product, (atom, n)| tidy::mul(&product, &tidy::pow(atom, &Expr::number(*n))));
            tidy::mul(&others, &factor)
        });
        terms.reduce(|a, b| tidy::add(&a, &b)).unwrap_or_else(|| Expr::number(0))
    };
    side(top) / side(bottom)
}
