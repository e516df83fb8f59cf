//! Rewrites that keep every bit of the answer: dead code goes, equal work is done once, constants fold, scalars leave
//! loops. Four alone, [`defer`], `products`, [`factor`] and [`contract`], change roundings: of what the user wrote
//! before `diff` ([`fix`]), of what `diff` adds before `plan` ([`freeze`]).
//!
//! Each pass is a pure function from Program to Program. A value that no result needs is not computed, so a fault (an
//! index out of bounds) that only such a value would have met goes with it; everything else is the same for all inputs,
//! NaN, infinities and -0.0 included.

mod accumulate;
mod arithmetic;
mod calls;
mod clear;
mod contract;
mod control;
mod dead;
mod defer;
mod edit;
mod factor;
mod fold;
mod functions;
mod join;
mod loop_invariant;
mod products;
mod records;
mod unroll;
mod value_numbering;

use crate::ir::Program;

pub use accumulate::accumulate;
pub use arithmetic::{Arithmetic, fix};
pub use calls::{all_calls, calls, plain_calls};
pub use clear::clear;
pub use contract::contract;
pub use control::control;
pub use dead::{dead_code, live_insts};
pub use defer::defer;
pub use factor::factor;
pub use fold::fold;
pub use functions::compact;
pub use join::join;
pub use loop_invariant::hoist;
pub(crate) use loop_invariant::never_faults;
pub use records::read_records;
pub use unroll::unroll;
pub use value_numbering::common;
pub(crate) use value_numbering::{OpKey, op_key};

/// A pass: less work, the same bits. Whether there was anything to change.
pub type Pass = fn(&mut Program) -> bool;

/// The passes of one round, in order, by name.
pub const PASSES: &[(&str, Pass)] = &[
    ("calls", calls),
    ("fold", fold),
    ("control", control),
    ("common", common),
    ("accumulate", accumulate),
    ("hoist", hoist),
    ("dead_code", dead_code),
];

/// Rounds of all passes. Constants sink and scalars rise by one loop per round, so deep nests take some; more than this
/// is not worth it.
const ROUNDS: usize = 32;

/// What `plan` gets: no calls, simple, contracted. From here on arithmetic is frozen.
pub fn freeze(program: &Program) -> Program {
    let mut program = all_calls(program).into_owned();
    read_records(&mut program);
    simplify_in_place(&mut program);
    clear(&mut program);
    reorder(&mut program);
    program
}

/// What changes roundings, wherever an instruction is not marked exact. Applied again, it changes nothing.
fn reorder(program: &mut Program) {
    defer(program);
    products::products(program);
    factor(program);
    contract::contract_in_place(program);
}

/// The Program with less work and the same bits: rounds of [`PASSES`] until nothing changes.
///
/// ```
/// use retrograd_compiler::ir::{Builder, Program, Type};
/// use retrograd_compiler::opt::simplify;
///
/// let b = Builder::new("main");
/// let x = b.param(Type::f64([]));
/// let result = b.neg(b.neg(x));
/// let program = Program::new(b.finish(vec![result]));
/// assert!(simplify(&program).main().insts.is_empty());
/// ```
pub fn simplify(program: &Program) -> Program {
    let mut program = program.clone();
    simplify_in_place(&mut program);
    program
}

fn simplify_in_place(program: &mut Program) {
    dead_code(program);
    // A pass that found nothing to do, and after which nothing changed, would find nothing again.
    let mut idle = 0;
    for (_, pass) in std::iter::repeat_n(PASSES, ROUNDS).flatten() {
        idle = if pass(program) { 0 } else { idle + 1 };
        if idle == PASSES.len() {
            break;
        }
    }
}
