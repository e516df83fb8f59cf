//! In which order a loop is advanced, recorded and reversed.
//!
//! A loop of `n` steps takes the states `x_0, x_1, …, x_n`; step `k` takes `x_k` to `x_{k+1}`. Its adjoint (the *unwind*) visits the
//! steps from `n-1` down to `0` and reads, at each, values that only a forward execution of that step can produce. A [`Schedule`]
//! says which states and records are held meanwhile; the controller ([`start`], [`next`]) turns it into [`Action`]s, one at a time,
//! without allocation and without recursion; [`counts`] and its neighbours predict what those actions add up to.
//!
//! What a driver keeps:
//!
//! * the *working buffer*, one state; it holds `x_0` at the start;
//! * *slots*: slot 0 is `x_0` itself, the loop's own start value, which exists anyway and is never written; slots `1..` are copies;
//! * a *tape* of rows, each the record of one step.

pub mod binomial;
mod controller;
mod counts;
pub mod online;

pub use controller::{next, start};
pub use counts::{Counts, counts, forward_steps, slots, tape_rows};

use std::fmt;

/// What is held of a loop's forward execution until its reversal.
///
/// ```
/// use retrograd_compiler::plan::schedule::Schedule;
/// assert_eq!(Schedule::KeepAll.to_string(), "keep all");
/// assert_eq!(Schedule::Periodic { period: 32 }.to_string(), "every 32 steps");
/// assert_eq!(Schedule::Revolve { slots: 18 }.to_string(), "revolve with 18 slots");
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Schedule {
    /// Every step is recorded in its own tape row and executed once.
    KeepAll,
    /// The state before every `period`-th step is held; between two of them the steps are recorded when they are to be reversed.
    /// The last segment is recorded at once, so that its start needs no slot.
    Periodic {
        /// Steps from one held state to the next, at least 1.
        period: u64,
    },
    /// The fewest forward executions that `slots` held states allow: the binomial schedule of Griewank and Walther.
    Revolve {
        /// Held states, at least 1: slot 0 counts, so `slots: 1` copies nothing.
        slots: u64,
    },
}

/// Whether the forward loop of the program is itself the first sweep of the schedule.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sweep {
    /// The program's own loop is the first sweep: every step is executed once, then comes [`Action::Turn`], then the reversal.
    Paired,
    /// The reversal stands alone: it begins at `x_0` and never needs `x_n`.
    Alone,
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
    /// Copy the working buffer, which holds `x_step`, into `slot`, which is never 0.
    Snapshot {
        /// Where to.
        slot: u64,
        /// The step that starts from this state.
        step: u64,
    },
    /// Copy `slot`, which holds `x_step`, into the working buffer; slot 0 is the loop's start value.
    Restore {
        /// Where from.
        slot: u64,
        /// The step that starts from this state.
        step: u64,
    },
    /// Execute the steps `from..to` and record step `k` in tape row `row + (k - from)`. The working buffer goes from `x_from` to `x_to`.
    Tape {
        /// First step.
        from: u64,
        /// One past the last step.
        to: u64,
        /// Tape row of the first step.
        row: u64,
    },
    /// Reverse the steps `to-1` down to `from`, step `k` by its record in row `row + (k - from)`. The working buffer is undefined after.
    Reverse {
        /// Last step to be reversed.
        from: u64,
        /// One past the first step to be reversed.
        to: u64,
        /// Tape row of step `from`.
        row: u64,
    },
    /// Execute and reverse one step at once, from the working buffer, which holds `x_step` and is undefined after.
    Turnback {
        /// The step.
        step: u64,
    },
    /// The first sweep is over and the working buffer holds `x_n`. Leave, run the rest of the program, come back with the adjoint of
    /// `x_n`; the working buffer is lost meanwhile.
    Turn,
    /// Every step is reversed.
    Done,
}

impl Schedule {
    /// How many words of controller state [`start`] needs, whatever the number of steps.
    ///
    /// ```
    /// use retrograd_compiler::plan::schedule::Schedule;
    /// let one = Schedule::Revolve { slots: 1 }.words();
    /// assert_eq!(Schedule::Revolve { slots: 18 }.words(), one + 17);
    /// ```
    pub fn words(&self) -> usize {
        controller::words(self)
    }
}

impl Schedule {
    /// Whether steps are reversed from a tape; else from the state before them.
    pub fn tapes(self) -> bool {
        match self {
            Schedule::KeepAll | Schedule::Periodic { .. } => true,
            Schedule::Revolve { .. } => false,
        }
    }

    /// Whether the first sweep runs steps without recording them.
    pub fn advances(self) -> bool {
        match self {
            Schedule::Revolve { .. } | Schedule::Periodic { .. } => true,
            Schedule::KeepAll => false,
        }
    }

    /// Whether the reversal runs steps without recording them.
    pub fn advances_in_reversal(self, sweep: Sweep) -> bool {
        match (self, sweep) {
            (Schedule::Revolve { .. }, _) | (Schedule::Periodic { .. }, Sweep::Alone) => true,
            (Schedule::KeepAll, _) | (Schedule::Periodic { .. }, Sweep::Paired) => false,
        }
    }

    /// Whether the reversal records steps.
    pub fn tapes_in_reversal(self, sweep: Sweep) -> bool {
        match (self, sweep) {
            (Schedule::Periodic { .. }, _) | (Schedule::KeepAll, Sweep::Alone) => true,
            (Schedule::KeepAll, Sweep::Paired) | (Schedule::Revolve { .. }, _) => false,
        }
    }

    /// Slots that a loop of unknown length can use.
    pub fn slots_at_most(self) -> u64 {
        match self {
            Schedule::Revolve { slots } => slots,
            Schedule::Periodic { .. } | Schedule::KeepAll => 1,
        }
    }
}

impl fmt::Display for Schedule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Schedule::KeepAll => write!(f, "keep all"),
            Schedule::Periodic { period: 1 } => write!(f, "every step"),
            Schedule::Periodic { period } => write!(f, "every {period} steps"),
            Schedule::Revolve { slots: 1 } => write!(f, "revolve with 1 slot"),
            Schedule::Revolve { slots } => write!(f, "revolve with {slots} slots"),
        }
    }
}
