//! Algebra: polynomials in whatever is not one, and what follows from them.

mod polynomial;

pub use polynomial::{canonicalize, collect, expand, is_linear};
