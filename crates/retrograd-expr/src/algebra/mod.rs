//! Algebra: polynomials in whatever is not one, and what follows from them.

mod canonical;
mod integrate;
mod limit;
mod polynomial;
mod rational;
mod series;
mod solve;

use crate::expr::Expr;
use crate::function::Function;

pub use canonical::canonicalize;
pub use integrate::integrate;
pub use limit::limit;
pub use polynomial::{collect, expand, is_linear};
pub use series::{series, taylor};
pub use solve::{Root, bisect, newton, solve};

/// Whether an expression has variables, or a finite value.
fn is_finite_number(expr: &Expr) -> bool {
    !expr.free_vars().is_empty() || number(expr).is_some()
}

/// The value of an expression without variables, where it is a finite number: by the reference interpreter, since it
/// runs once.
fn number(expr: &Expr) -> Option<f64> {
    if let Some(x) = expr.as_number() {
        return Some(x.to_f64());
    }
    let value = retrograd::eval::run(&expr.program(&[]).ok()?, &[]).ok()?.swap_remove(0);
    let finite = value.ty() == retrograd::Type::f64([]) && value.as_f64()[0].is_finite();
    finite.then(|| value.as_f64()[0])
}

/// Whether a condition without variables holds.
fn holds(condition: &Expr) -> Option<bool> {
    number(&Expr::call(Function::Select, [condition.clone(), Expr::number(1), Expr::number(0)])).map(|x| x == 1.0)
}
