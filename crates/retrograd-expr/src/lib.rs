//! Formulas in; derivatives, simplification and machine code out.
//!
//! ```
//! use retrograd_expr::{Bindings, Expr, diff, evaluate, gradient, simplify};
//!
//! let f = Expr::parse("x*sin(y)^2 + exp(-x/2)")?;
//! let at = Bindings::from([("x", 1.0), ("y", 2.0)]);
//! let value = evaluate(&f, &at)?;
//! let by_machine_code = gradient(&f, &["x", "y"], &at)?;
//! let by_rule = evaluate(&diff(&f, "x")?, &at)?;
//! assert!((by_machine_code[0].as_f64()[0] - by_rule.as_f64()[0]).abs() < 1e-15);
//! # Ok::<(), retrograd::Error>(())
//! ```
//!
//! # The language
//!
//! | | |
//! |---|---|
//! | operators | `+ - * / ^` (or `**`), `%` (Python's), `@` (products of matrices), `'` (transpose), `< <= > >= == != and or not` |
//! | functions | `sin`, `exp`, `log`, … ([`Function`]), `min`, `max`, `if(c, a, b)`, `piecewise(c, a, d, b, otherwise)` |
//! | arrays | `[a, b]`, `x[i, j]`, `sum`, `prod`, `mean`, `dot`, `transpose`, `det`, `inverse`, `trace`, `norm`, `einsum("ij,j->i", A, x)` |
//! | over an index | `sum(body, k, low, high)`, `prod(body, k, low, high)`, both ends included |
//! | derivatives | `diff(f, x)`, `diff(f, x, order)`, `grad(f)`, `grad(f, x, y)`, `stop_gradient(f)` |
//! | names | `pi`, `e`, `inf`; before a formula `let a = …;` and `f(x) = …;` |
//!
//! Variables are real numbers or arrays of them, which broadcast; the bindings say which. [`diff`] and [`simplify`](fn@simplify)
//! take them as numbers. An expression is a Program ([`Expr::program`]), so that whatever takes one takes it; values
//! and derivatives for bindings are computed by the same compiler as everything else. Symbolic derivatives ([`diff`])
//! are expressions again.
#![forbid(unsafe_code)]

mod algebra;
mod dag;
mod derivative;
mod drawing;
mod evaluate;
mod expr;
mod fast_math;
mod function;
mod lower;
mod number;
mod plot;
mod print;
mod simplify;
mod syntax;
mod tidy;

pub use algebra::{
    Root, bisect, canonicalize, collect, expand, integrate, is_linear, limit, newton, series, solve, taylor,
};
pub use derivative::{diff, diff_all, diff_by_number, diff_matrix, diff_order};
pub use drawing::{Graph, graph};
pub use evaluate::{
    Bindings, Checked, Clip, Derived, OnNan, clipped, evaluate, grad, gradient, gradient_checked, hessian, jacobian,
    jvp, sparse_gradient, value_and_grad, vjp,
};
pub use expr::{ArrayOp, Constant, Custom, Expr, Fold, Op};
pub use fast_math::fast_math;
pub use function::{Function, FunctionRow};
pub use lower::program;
pub use number::{Fraction, Number};
pub use plot::{Curves, plot};
pub use simplify::{
    Assumptions, Condition, Cost, Explanation, Facts, LAWS, Law, Limits, Simplifier, Way, most_accurate, simplify,
    simplify_with,
};
pub use syntax::Definitions;
