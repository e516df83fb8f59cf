//! Checkpointing schedules: in which order a loop is advanced, recorded and reversed, so that its adjoint runs in the
//! memory there is. Binomial ([`Schedule::Revolve`]), mixed ([`Recipe`]: states and records in one memory, also on two
//! tiers), blocked ([`Blocks`]) and online ([`Schedule::Online`], for loops of unknown length). Which schedule takes the
//! least work is found in [`optimal`]. Pure arithmetic, free of Retrograd's IR: any program that reverses a loop can
//! use it.
//!
//! ```
//! use retrograd_schedule::{Action, Schedule, Sweep, next, start};
//!
//! // The adjoint of x ← sin x in ten steps, with three states of eight bytes at a time.
//! let schedule = Schedule::Revolve { slots: 3, state_bytes: 8 };
//! let (mut words, table) = (vec![0; schedule.words()], schedule.table());
//! start(&mut words, &schedule, Sweep::Joint, 10);
//! let (x0, mut pool, mut x, mut adjoint) = (0.5_f64, [0.0; 3], 0.5_f64, 1.0);
//! loop {
//!     match next(&mut words, &table) {
//!         Action::Advance { from, to } => (from..to).for_each(|_| x = x.sin()),
//!         Action::Snapshot { at, .. } => pool[at as usize / 8] = x,
//!         Action::Restore { at, .. } => x = at.map_or(x0, |at| pool[at as usize / 8]),
//!         Action::Youturn { .. } => adjoint *= x.cos(),
//!         Action::Done => break,
//!         other => unreachable!("Revolve alone never does this: {other:?}"),
//!     }
//! }
//! # let mut x = x0;
//! # let expected: f64 = (0..10).map(|_| { let slope = x.cos(); x = x.sin(); slope }).product();
//! # assert!((adjoint - expected).abs() < 1e-15);
//! ```
//!
//! A loop of `n` steps takes the states `x_0, x_1, …, x_n`; step `k` takes `x_k` to `x_{k+1}`. Its adjoint (the
//! *unwind*) visits the steps from `n-1` down to `0` and reads, at each, values that only a forward execution of that
//! step can produce. A [`Schedule`] says which states and records are held meanwhile; the controller ([`start`],
//! [`next`]) turns it into [`Action`]s, one at a time, without allocation and without recursion; [`counts`] and its
//! neighbours predict what those actions add up to.
//!
//! What a driver keeps:
//!
//! * the *working buffer*, one state; it holds `x_0` at the start;
//! * `x_0` itself, the loop's own start value, which exists anyway and is never written;
//! * a *pool* of bytes, in which states and records of steps lie one above the other.

pub mod binomial;
mod blocks;
mod controller;
mod counts;
pub mod online;
pub mod optimal;
mod recipe;
mod tiered;

pub use blocks::{Blocks, start_blocks};
pub use controller::{RUNS, STACK, next, start, start_recipe, start_revolve};
pub use counts::{Counts, counts, slots};
pub use online::start_online;
pub use recipe::{Part, PartId, Recipe, SUM_BYTES, Uses};
pub use tiered::Tiered;

use serde::{Deserialize, Serialize};
use std::fmt;
use std::sync::Arc;

/// What is held of a loop's forward execution until its reversal.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub enum Schedule {
    /// Nothing: the steps are reversed from what is at hand.
    Nothing,
    /// What was worked out for a number of steps that is known.
    Recipe(Arc<Recipe>),
    /// The fewest forward executions that `slots` held states allow, for any number of steps: the binomial schedule of
    /// Griewank and Walther.
    Revolve {
        /// Held states, at least 1: `x_0` counts, so `slots: 1` copies nothing.
        slots: u64,
        /// Bytes of a held state.
        state_bytes: u64,
    },
    /// `slots` held states of a loop that ends whenever its condition says: they are chosen while it runs, and its
    /// reversal is binomial.
    Online {
        /// Held states, at least 1: `x_0` counts.
        slots: u64,
        /// Bytes of a held state.
        state_bytes: u64,
    },
    /// Revolve over blocks of steps, each of which is recorded when it is reversed, for any number of steps.
    Blocks(Blocks),
}

/// Whether the forward loop of the program is itself the first sweep of the schedule.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub enum Sweep {
    /// The program's own loop is the first sweep: every step is executed once, then comes [`Action::Turn`], then the
    /// reversal.
    Split,
    /// The program's own loop is the first sweep, and nobody knows before how many steps it has.
    Online,
    /// The reversal stands alone: it begins at `x_0` and never needs `x_n`.
    Joint,
}

/// What the driver does next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Action {
    /// Execute the steps `from..to` and record nothing. The working buffer holds `x_from` before and `x_to` after.
    Advance {
        /// First step.
        from: u64,
        /// One past the last step.
        to: u64,
    },
    /// Copy the working buffer, which holds `x_step`, into the pool.
    Snapshot {
        /// Where to, in bytes.
        at: u64,
        /// The step that starts from this state.
        step: u64,
    },
    /// Copy `x_step` into the working buffer.
    Restore {
        /// Where from, in bytes; none is the loop's start value.
        at: Option<u64>,
        /// The step that starts from this state.
        step: u64,
    },
    /// Write the working buffer, which holds `x_step`, to the disk; the pool is empty.
    Spill {
        /// Where to, in bytes.
        at: u64,
        /// The step that starts from this state.
        step: u64,
    },
    /// Read `x_step` from the disk into the working buffer; the pool is empty.
    Fetch {
        /// Where from, in bytes.
        at: u64,
        /// The step that starts from this state.
        step: u64,
    },
    /// Execute the steps `from..to` and record them one after the other. The working buffer goes from `x_from` to
    /// `x_to`.
    Tape {
        /// First step.
        from: u64,
        /// One past the last step.
        to: u64,
        /// Where the first record goes, in bytes.
        at: u64,
        /// What is kept of each.
        choice: u64,
    },
    /// Reverse the steps `to-1` down to `from` by their records. The working buffer is undefined after.
    Reverse {
        /// Last step to be reversed.
        from: u64,
        /// One past the first step to be reversed.
        to: u64,
        /// Where the record of step `from` is, in bytes.
        at: u64,
        /// What was kept of each.
        choice: u64,
    },
    /// Execute and reverse one step at once, from the working buffer, which holds `x_step` and is undefined after.
    Youturn {
        /// The step.
        step: u64,
    },
    /// The first sweep is over and the working buffer holds `x_n`. Leave, run the rest of the program, come back with
    /// the adjoint of `x_n`; the working buffer is lost meanwhile.
    Turn,
    /// Every step is reversed.
    Done,
    /// Several of these at once, for a driver that has said in [`RUNS`] that it can.
    Run(Run),
}

/// What Revolve does near the leaves of its recursion, where it is asked for every step or two: many actions in one, so
/// that short steps run as fast as any loop. The steps of slots are in the controller's words, from [`STACK`] on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Run {
    /// Execute the steps `from..to`. From slot `first` on, the working buffer, which holds `x_from`, is that of the
    /// slot's step; on the way the states of the slots above it, up to `last`, are copied into the pool.
    Ascend {
        /// First step, that of slot `first`.
        from: u64,
        /// One past the last step.
        to: u64,
        /// A slot that is held.
        first: u64,
        /// The highest slot to be held.
        last: u64,
    },
    /// Reverse the steps from `to-1` down to that of slot `first`: slot after slot from `last` down, restore its state,
    /// execute the steps from there on, copying the states between them to the slots above, and turn them back. The
    /// working buffer is undefined before and after.
    Descend {
        /// One past the first step to be reversed.
        to: u64,
        /// The lowest slot.
        first: u64,
        /// The highest slot.
        last: u64,
    },
    /// Reverse the steps `to-1` down to `from`, each by executing those before it again from `x_from`, which is also in
    /// the working buffer.
    Replay {
        /// Last step to be reversed.
        from: u64,
        /// One past the first step to be reversed.
        to: u64,
        /// Where `x_from` is, in bytes; none is the loop's start value.
        at: Option<u64>,
    },
}

impl Run {
    /// The single actions that it is, given the words of the controller that said so and the bytes of a state.
    pub fn actions(self, words: &[i64], state_bytes: u64) -> Vec<Action> {
        let step_of = |slot: u64| words[STACK + slot as usize] as u64;
        let place = |slot: u64| (slot > 0).then(|| (slot - 1) * state_bytes);
        let snapshot =
            |slot: u64, step: u64| Action::Snapshot { at: place(slot).expect("x_0 is held for nothing"), step };
        let mut actions = vec![];
        match self {
            Run::Ascend { from, to, first, last } => {
                let mut working = from;
                for slot in first + 1..=last {
                    actions
                        .extend([Action::Advance { from: working, to: step_of(slot) }, snapshot(slot, step_of(slot))]);
                    working = step_of(slot);
                }
                actions.push(Action::Advance { from: working, to });
            }
            Run::Descend { to, first, last } => {
                let mut end = to;
                for slot in (first..=last).rev() {
                    let from = step_of(slot);
                    actions.push(Action::Restore { at: place(slot), step: from });
                    for step in from..end - 1 {
                        actions.push(Action::Advance { from: step, to: step + 1 });
                        actions.extend((step + 2 < end).then(|| snapshot(slot + 1 + step - from, step + 1)));
                    }
                    actions.push(Action::Youturn { step: end - 1 });
                    for step in (from..end - 1).rev() {
                        actions.extend([
                            Action::Restore { at: place(slot + step - from), step },
                            Action::Youturn { step },
                        ]);
                    }
                    end = from;
                }
            }
            Run::Replay { from, to, at } => {
                for step in (from..to).rev() {
                    actions.extend((step < to - 1).then_some(Action::Restore { at, step: from }));
                    actions.extend((step > from).then_some(Action::Advance { from, to: step }));
                    actions.push(Action::Youturn { step });
                }
            }
        }
        actions
    }
}

impl Schedule {
    /// A schedule by a recipe.
    pub fn of(recipe: Recipe) -> Schedule {
        Schedule::Recipe(Arc::new(recipe))
    }

    /// How many words of controller state [`start`] needs, whatever the number of steps.
    ///
    /// ```
    /// use retrograd_schedule::Schedule;
    /// let one = Schedule::Revolve { slots: 1, state_bytes: 8 }.words();
    /// assert_eq!(Schedule::Revolve { slots: 18, state_bytes: 8 }.words(), one + 17);
    /// ```
    pub fn words(&self) -> usize {
        controller::words(self)
    }

    /// What [`start`] and [`next`] read besides the words: the recipe, or the sizes of blocks; empty where none is
    /// needed.
    pub fn table(&self) -> Vec<i64> {
        match self {
            Schedule::Recipe(recipe) => recipe.table(),
            Schedule::Blocks(blocks) => blocks.table(),
            Schedule::Nothing | Schedule::Revolve { .. } | Schedule::Online { .. } => vec![],
        }
    }

    /// Bytes of the pool at its fullest, for a number of steps that may be known.
    pub fn pool_bytes(&self, sweep: Sweep, n: Option<u64>) -> u64 {
        match self {
            Schedule::Nothing => 0,
            Schedule::Recipe(recipe) => recipe.pool_bytes(),
            Schedule::Revolve { slots: most, state_bytes } => {
                let used = n.map_or(*most, |n| slots(*most, sweep, n));
                (used - 1).saturating_mul(*state_bytes)
            }
            Schedule::Online { slots, state_bytes } => (slots - 1).saturating_mul(*state_bytes),
            Schedule::Blocks(blocks) => blocks.pool_bytes(sweep, n),
        }
    }

    /// Bytes on the disk at their most.
    pub fn spill_bytes(&self) -> u64 {
        match self {
            Schedule::Recipe(recipe) => recipe.spill_bytes(),
            Schedule::Nothing | Schedule::Revolve { .. } | Schedule::Online { .. } | Schedule::Blocks(_) => 0,
        }
    }

    /// Actions of the first sweep, and of the reversal.
    pub fn uses(&self) -> [Uses; 2] {
        match self {
            Schedule::Nothing => Default::default(),
            Schedule::Recipe(recipe) => recipe.uses(),
            Schedule::Revolve { .. } | Schedule::Online { .. } => {
                let sweep = Uses { advance: true, snapshot: true, ..Uses::default() };
                let reversal = Uses { restore: true, youturn: true, ..sweep.clone() };
                [sweep, reversal]
            }
            Schedule::Blocks(_) => {
                let sweep =
                    Uses { advance: true, snapshot: true, tape: vec![false], reverse: vec![false], ..Uses::default() };
                let reversal = Uses { restore: true, tape: vec![true], reverse: vec![true], ..sweep.clone() };
                [sweep, reversal]
            }
        }
    }
}

impl fmt::Display for Schedule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Schedule::Nothing => write!(f, "keep nothing"),
            Schedule::Recipe(recipe) => write!(f, "{recipe}"),
            Schedule::Revolve { slots: 1, .. } | Schedule::Online { slots: 1, .. } => {
                write!(f, "replay from the start")
            }
            Schedule::Revolve { slots, .. } => write!(f, "revolve with {slots} slots"),
            Schedule::Online { slots, .. } => write!(f, "{slots} slots, filled while the loop runs; then revolve"),
            Schedule::Blocks(Blocks { slots: 1, steps, .. }) => {
                write!(f, "replay from the start, {steps} steps recorded at a time")
            }
            Schedule::Blocks(Blocks { slots, steps, .. }) => {
                write!(
                    f,
                    "revolve with {slots} slots over blocks of {steps} steps, which are recorded when they are \
                     reversed"
                )
            }
        }
    }
}

/// In words: what the parts from the root to the end say, and what is left to the recurrences.
impl fmt::Display for Recipe {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Some(root) = self.root else { return write!(f, "nothing to do") };
        match self.parts[root as usize] {
            Part::End => write!(f, "nothing to do"),
            Part::Youturn => write!(f, "turn back the only step"),
            Part::Tape { steps, .. } if steps == self.steps => write!(f, "keep all"),
            Part::Hold { times, advance: 1, right, left } if self.is_periodic(times, 1, right, left) => {
                write!(f, "every step")
            }
            Part::Hold { times, advance, right, left } if self.is_periodic(times, advance, right, left) => {
                write!(f, "every {advance} steps")
            }
            Part::Tape { .. } | Part::Hold { .. } | Part::Spill { .. } => {
                let counts = self.counts();
                if counts.spills > 0 {
                    write!(f, "{} states written to the disk; ", counts.spills)?;
                }
                write!(
                    f,
                    "states and records mixed: {} steps recorded, {} turned back, ",
                    counts.taped, counts.youturns
                )?;
                write!(
                    f,
                    "{} states held, {} steps run again",
                    counts.snapshots,
                    counts.forward_steps() - u128::from(self.steps)
                )
            }
        }
    }
}

impl Recipe {
    fn is_periodic(&self, times: u64, advance: u64, right: PartId, left: PartId) -> bool {
        let taped = |part: PartId| match self.parts[part as usize] {
            Part::Tape { steps, .. } => steps,
            Part::Youturn | Part::End | Part::Hold { .. } | Part::Spill { .. } => 0,
        };
        taped(left) == advance && taped(right) == self.steps - times * advance
    }
}
