//! The integration tests of `retrograd-expr`, in one binary, so that they are linked once.

mod algebra;
mod fast_math;
mod fuzz;
mod printers;
mod random;
mod simplify;
mod soundness;
mod support;
mod symbolic;
mod values;
