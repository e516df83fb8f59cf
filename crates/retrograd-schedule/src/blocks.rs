//! Revolve over blocks of steps: states are held between blocks only, and a block is turned back by recording its steps
//! and reversing them.
//!
//! A short step is over before a controller has said what comes next. Over blocks it is asked once for many steps, and
//! the records of one block are worth more than the states that their bytes would hold: there are fewer steps to run
//! again, too.

use serde::{Deserialize, Serialize};

use super::controller::{BLOCKS, KIND, next_of_revolve};
use super::{Action, Counts, Schedule, Sweep, counts, slots, start_revolve};

/// Held states between blocks of steps, and the records of one block.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Blocks {
    /// Steps of a block, at least 1; the last may have fewer.
    pub steps: u64,
    /// Bytes of the record of a step.
    pub record_bytes: u64,
    /// Held states, at least 1: `x_0` counts.
    pub slots: u64,
    /// Bytes of a held state.
    pub state_bytes: u64,
}

impl Blocks {
    /// Revolve, to which a block is a step.
    fn revolve(self) -> Schedule {
        Schedule::Revolve { slots: self.slots, state_bytes: self.state_bytes }
    }

    /// Words of the controller: its own, then those of Revolve.
    pub(crate) fn words(self) -> usize {
        OWN + self.revolve().words()
    }

    /// What a controller is started with.
    pub(crate) fn table(self) -> Vec<i64> {
        [self.steps, self.record_bytes, self.slots, self.state_bytes].map(u64::cast_signed).to_vec()
    }

    fn of_table(table: &[i64]) -> Blocks {
        let [steps, record_bytes, slots, state_bytes] = *table.first_chunk().expect("blocks are four numbers");
        let [steps, record_bytes, slots, state_bytes] =
            [steps, record_bytes, slots, state_bytes].map(i64::cast_unsigned);
        Blocks { steps, record_bytes, slots, state_bytes }
    }

    /// Bytes of the pool at its fullest: states below, records above.
    pub(crate) fn pool_bytes(self, sweep: Sweep, n: Option<u64>) -> u64 {
        let states = self.revolve().pool_bytes(sweep, n.map(|n| n.div_ceil(self.steps)));
        let recorded = n.map_or(self.steps, |n| n.min(self.steps));
        states.saturating_add(recorded.saturating_mul(self.record_bytes))
    }

    /// What the controller will have done at the end of a loop of `n` steps.
    pub(crate) fn counts(self, sweep: Sweep, n: u64) -> Counts {
        let blocks = n.div_ceil(self.steps);
        let whole = counts(&self.revolve(), sweep, blocks);
        // The last block may be shorter. Only the program's own loop advances over it: after that it is recorded, and
        // gone.
        let short = match sweep {
            Sweep::Split | Sweep::Online => u128::from(blocks) * u128::from(self.steps) - u128::from(n),
            Sweep::Joint => 0,
        };
        Counts { advances: whole.advances * u128::from(self.steps) - short, taped: u128::from(n), youturns: 0, ..whole }
    }
}

/// Steps of a block.
const STEPS: usize = 1;
/// Steps of the loop.
const COUNT: usize = 2;
/// Where the records begin.
const RECORDS: usize = 3;
/// The block that is recorded and not reversed yet, or `NONE`.
const RECORDED: usize = 4;
/// Words before those of Revolve.
const OWN: usize = 5;

/// No block is recorded.
const NONE: i64 = -1;

/// Prepares `words` for Revolve over blocks, given the schedule's table.
///
/// # Panics
/// As [`start`](super::start).
pub fn start_blocks(words: &mut [i64], table: &[i64], sweep: Sweep, n: u64) {
    let blocks = Blocks::of_table(table);
    assert!(blocks.steps >= 1, "a block has at least one step");
    assert!(words.len() >= OWN, "a controller of blocks needs {OWN} words at least, not {}", words.len());
    let count = n.div_ceil(blocks.steps);
    let records = (slots(blocks.slots, sweep, count) - 1) * blocks.state_bytes;
    let (own, inner) = words.split_at_mut(OWN);
    own[KIND] = BLOCKS;
    own[STEPS..OWN].copy_from_slice(&[blocks.steps.cast_signed(), n.cast_signed(), records.cast_signed(), NONE]);
    start_revolve(inner, blocks.slots, blocks.state_bytes, sweep, count);
}

/// What Revolve says of blocks, in steps.
pub(crate) fn next_of_blocks(words: &mut [i64]) -> Action {
    let (own, inner) = words.split_at_mut(OWN);
    let [steps, count, at] = [STEPS, COUNT, RECORDS].map(|word| own[word].cast_unsigned());
    let end = |block: u64| block.saturating_mul(steps).min(count);
    if own[RECORDED] != NONE {
        let block = own[RECORDED].cast_unsigned();
        own[RECORDED] = NONE;
        return Action::Reverse { from: block * steps, to: end(block + 1), at, choice: 0 };
    }
    match next_of_revolve(inner) {
        Action::Advance { from, to } => Action::Advance { from: from * steps, to: end(to) },
        Action::Snapshot { at, step } => Action::Snapshot { at, step: step * steps },
        Action::Restore { at, step } => Action::Restore { at, step: step * steps },
        Action::Youturn { step } => {
            own[RECORDED] = step.cast_signed();
            Action::Tape { from: step * steps, to: end(step + 1), at, choice: 0 }
        }
        action @ (Action::Turn | Action::Done) => action,
        action @ (Action::Tape { .. }
        | Action::Reverse { .. }
        | Action::Spill { .. }
        | Action::Fetch { .. }
        | Action::Run(_)) => {
            panic!("{action:?} is no part of Revolve over blocks")
        }
    }
}
