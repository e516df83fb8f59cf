//! What things cost, in picoseconds: instructions before they are placed, words of memory, actions of schedules. What
//! placed nodes cost is in additions: there it only matters whether they are worth a thread.
//!
//! All prices are of one core of a Zen 4 server. `bench/prices.py` measures them.

mod branches;
mod chain;
mod function;
mod prices;
#[cfg(test)]
mod tests;
mod traffic;

use std::fmt;

pub(in crate::plan) use branches::Branches;
pub(in crate::plan) use function::Priced;
pub(in crate::plan) use traffic::new_memory;

use serde::{Deserialize, Serialize};

use crate::ir::{Inst, Lowering, Op};

/// The vectors that a back end makes: what one computes again cheaply, another keeps.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum SimdTarget {
    /// Of 128 bits, and blocks of functions in those of the machine: Cranelift.
    #[default]
    Bits128,
    /// Of 512 bits where numbers have 64 bits and functions are sequences of operations, and else as
    /// [`SimdTarget::Bits128`]: Cranelift, on machines that have them.
    Bits512Or128,
    /// Of 512 bits: LLVM.
    Widest,
}

impl fmt::Display for SimdTarget {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            SimdTarget::Bits128 => "vectors of 128 bits (Cranelift)",
            SimdTarget::Bits512Or128 => "vectors of 512 bits, or of 128 around some functions (Cranelift)",
            SimdTarget::Widest => "vectors of 512 bits (LLVM)",
        })
    }
}

/// Work of a second.
pub(in crate::plan) const SECOND: f64 = 1e12;

/// Work of a function that no run could do in its time: a few of them are still a number.
const MOST: u64 = 1 << 60;

/// Asking a controller for an action and branching to it.
pub(in crate::plan) const ACTION: u64 = 15_000;

/// Going from one held state to the next inside of a driver: a jump that nobody foresees.
pub(in crate::plan) const INTERRUPTION: u64 = 5_000;

/// What a loop makes of the single numbers of its steps.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Numbers {
    /// One step after the other.
    InTurn,
    /// The same, where each number is waited for.
    LatencyBound,
    /// Several steps at once.
    InLanes,
}

fn lowering(inst: &Inst) -> Option<Lowering> {
    match &inst.op {
        Op::Def(def, _) => Some(def.lowering),
        Op::If(_) | Op::For(_) | Op::While(_) | Op::Unwind(_) | Op::Call(_) => None,
    }
}
