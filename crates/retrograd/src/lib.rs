//! Exact derivatives of ordinary numerical programs, loops and all, inside the memory you give.
//!
//! Write a function over [`Var`] handles, with loops ([`for_loop`], [`scan`], [`map`]) and branches ([`cond`]);
//! [`grad`] and [`value_and_grad`] make functions of arrays from it, compiled to machine code on first use:
//!
//! ```
//! use retrograd::{Array, for_loop, value_and_grad};
//!
//! let f = value_and_grad(|[x]| for_loop(100, x, |_, z| (z * 1.1).tanh()).sum());
//! let (value, gradient) = f.run(&[Array::f64([3], vec![0.1, 0.2, 0.3])])?;
//! assert_eq!(value.shape(), [0usize; 0]);
//! assert_eq!(gradient[0].shape(), [3]);
//! # Ok::<(), retrograd::Error>(())
//! ```
//!
//! [`vjp`] and [`jvp`] take cotangents and tangents, [`jacobian`] ([`jacfwd`], [`jacrev`]) and [`hessian`] give whole
//! matrices, [`hvp`] a Hessian times a vector; [`check_grads`] holds all of them against finite differences.
//!
//! A [budget](Transformed::budget) decides what is kept for the backward pass and what is recomputed; it never changes
//! a bit of the answer.
//!
//! What was compiled says what that took ([`Compiled::times`]) and what a run takes ([`Stats`]), says how far a long
//! run is ([`Compiled::run_reporting`]), and is saved to a file ([`Compiled::save`], [`Saved::load`]). Programs that
//! are traced again are found in a [`cache`].
//!
//! Front ends for other languages build on [`trace::Tracer`], [`numpy`] and [`cache::compile`].
#![forbid(unsafe_code)]

mod arrays;
mod budget;
pub mod cache;
mod composed;
mod control;
mod derivatives;
mod einsum;
mod index;
mod linalg;
mod memory;
pub mod numpy;
pub mod pipeline;
mod power;
mod rules;
mod saved;
mod spectral;
mod times;
pub mod trace;
mod transform;
mod var;

pub use budget::{Budget, IntoBudget};
pub use control::{
    Count, End, State, cond, custom_jvp, custom_vjp, for_loop, for_loop_emit, map, range, scan, stop_gradient,
    while_loop,
};
pub use derivatives::{
    Gradient, Hessian, Hvp, Jacobian, Jvp, JvpMany, ValueAndGradient, Vjp, VjpMany, WithAux, check_grads, grad,
    grad_with_aux, hessian, hvp, jacfwd, jacobian, jacrev, jvp, jvp_many, value_and_grad, value_and_grad_with_aux, vjp,
    vjp_many,
};
pub use einsum::{Contraction, einsum};
pub use index::{Axis, Place, stepped};
pub use linalg::Triangle;
pub use pipeline::{
    Backend, Cancellation, Compiled, Counts, Direction, Executable, Plan, Progress, Seeds, Sighting, SpillTo, Stats,
    Strategy, strategy,
};
pub use retrograd_compiler::ir::{
    Array, Attr, Attrs, DType, Data, EXACT, Error, ErrorKind, Host, OpDef, Part, Pos, Program, Slice, SliceMut, Type,
    serve,
};
pub use retrograd_compiler::plan::Fate;
pub use retrograd_compiler::{eval, ops};
pub use rules::{check, override_jvp, override_vjp};
pub use saved::{Saved, is_saved};
pub use spectral::Degenerate;
pub use times::Times;
pub use transform::{
    Mode, Results, Seeded, Transformed, Typed, Unseeded, bool, compile, f32, f64, i32, i64, jit, jit_many,
};
pub use var::{Operand, Var};
