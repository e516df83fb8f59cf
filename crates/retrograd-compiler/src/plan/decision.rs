//! What a search decides and `memory` applies: the schedule of every loop, what its records keep, and what runs again.

use std::collections::BTreeMap;

use retrograd_schedule::{Schedule, Sweep};
use serde::{Deserialize, Serialize};

use crate::ir::{FuncId, Value};

/// The schedule of every unwind, by its bwd, and what runs again of the code outside of loops.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Decision {
    /// By bwd function.
    pub loops: BTreeMap<FuncId, LoopDecision>,
    /// Instructions of the main function that run again.
    pub again: Rematerialised,
    /// Bytes of pools and controllers that live at the same time, as far as a strategy can tell; `place` knows
    /// exactly.
    pub bytes: u64,
    /// Predicted work of a run, in picoseconds of one thread.
    pub work: u128,
    /// Splits of loops that were tried to find it.
    pub tried: u64,
}

/// How one loop is reversed: in one way, or in two where it depends on the loop outside whether a first sweep is at
/// hand.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LoopDecision {
    /// The usual one first; at most one for each kind of sweep.
    pub ways: Vec<Way>,
}

impl LoopDecision {
    /// The way with this kind of sweep.
    pub fn way(&self, sweep: Sweep) -> Option<&Way> {
        self.ways.iter().find(|way| way.sweep == sweep)
    }

    /// The usual way.
    pub fn usual(&self) -> &Way {
        &self.ways[0]
    }
}

/// One way to reverse a loop.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Way {
    /// Which states are held and which steps recorded when.
    pub schedule: Schedule,
    /// Whether the program's own loop is the first sweep.
    pub sweep: Sweep,
    /// What the records of each choice keep.
    pub cuts: Vec<Cut>,
}

/// Values of the forward part that a record keeps, in order of definition.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Cut {
    /// Values of the bwd.
    pub kept: Vec<Value>,
}

/// Instructions of the main function that run again: which ones, in order, before which other.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Rematerialised {
    /// By the number of the instruction that follows them.
    pub before: BTreeMap<usize, Vec<usize>>,
    /// Values that they make, and how many times.
    pub made: BTreeMap<Value, usize>,
    /// Their work, in picoseconds.
    pub work: u64,
}

impl Rematerialised {
    /// How many times a value is made again.
    pub fn runs(&self, value: Value) -> usize {
        self.made.get(&value).copied().unwrap_or(0)
    }
}

/// Memory that is slow to write and to read: a disk.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Spill {
    /// Bytes that may be used.
    pub bytes: u64,
    /// How fast they are written, and read.
    pub bytes_per_second: u64,
}
