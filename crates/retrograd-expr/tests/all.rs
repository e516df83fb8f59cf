//! The integration tests of `retrograd-expr`, in one binary, so that they are linked once.

mod algebra;
mod fuzz;
mod random;
mod simplify;
mod values;
