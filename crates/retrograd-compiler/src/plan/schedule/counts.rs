//! What a schedule adds up to, in closed form: the planner's facts.

use super::{Schedule, Sweep, binomial};

/// How often each action is done for one loop, in steps where the action covers several.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Steps executed without a record.
    pub advances: u128,
    /// Steps executed with a record on the tape.
    pub taped: u64,
    /// Steps executed and reversed at once.
    pub turnbacks: u64,
    /// States copied into a slot.
    pub snapshots: u64,
    /// States copied out of a slot.
    pub restores: u64,
}

/// What the controller will have done at the end of a loop of `n` steps.
///
/// ```
/// use retrograd_compiler::plan::schedule::{counts, Counts, Schedule, Sweep};
/// assert_eq!(
///     counts(Schedule::Periodic { period: 4 }, Sweep::Paired, 10),
///     Counts { advances: 8, taped: 10, turnbacks: 0, snapshots: 1, restores: 2 }
/// );
/// ```
///
/// # Panics
/// If the schedule has a period or a number of slots of 0.
pub fn counts(schedule: Schedule, sweep: Sweep, n: u64) -> Counts {
    match schedule {
        Schedule::KeepAll => Counts { taped: n, ..Counts::default() },
        Schedule::Periodic { period } => {
            let segments = n.div_ceil(period);
            let before_last = segments.saturating_sub(1);
            Counts {
                // All steps but those of the last segment.
                advances: u128::from(before_last) * u128::from(period),
                taped: n,
                turnbacks: 0,
                // Neither the first segment, which starts at slot 0, nor the last, which is taped at once, needs one.
                snapshots: segments.saturating_sub(2),
                restores: before_last,
            }
        }
        Schedule::Revolve { slots } => {
            let steps = revolved(sweep, n);
            Counts {
                advances: binomial::advances(steps, slots),
                taped: 0,
                turnbacks: n,
                // x_0 is held for nothing.
                snapshots: binomial::stores(steps, slots).saturating_sub(1),
                // One after each turn, whether Turnback or Turn, but the last.
                restores: steps.saturating_sub(1),
            }
        }
    }
}

/// Forward executions of a step in total, the program's own sweep included if it is paired: advanced, taped and turned back.
///
/// ```
/// use retrograd_compiler::plan::schedule::{forward_steps, Schedule, Sweep};
/// assert_eq!(forward_steps(Schedule::KeepAll, Sweep::Paired, 1000), 1000);
/// assert_eq!(forward_steps(Schedule::Periodic { period: 32 }, Sweep::Paired, 1000), 1992);
/// assert_eq!(forward_steps(Schedule::Revolve { slots: 3 }, Sweep::Alone, 10), 25);
/// assert_eq!(forward_steps(Schedule::Revolve { slots: 3 }, Sweep::Paired, 10), 28);
/// ```
///
/// # Panics
/// If the schedule has a period or a number of slots of 0.
pub fn forward_steps(schedule: Schedule, sweep: Sweep, n: u64) -> u128 {
    let counts = counts(schedule, sweep, n);
    counts.advances + u128::from(counts.taped) + u128::from(counts.turnbacks)
}

/// Tape rows in use at the fullest.
///
/// ```
/// use retrograd_compiler::plan::schedule::{tape_rows, Schedule};
/// assert_eq!(tape_rows(Schedule::KeepAll, 1000), 1000);
/// assert_eq!(tape_rows(Schedule::Periodic { period: 32 }, 1000), 32);
/// assert_eq!(tape_rows(Schedule::Revolve { slots: 18 }, 1000), 0);
/// ```
pub fn tape_rows(schedule: Schedule, n: u64) -> u64 {
    match schedule {
        Schedule::KeepAll => n,
        Schedule::Periodic { period } => period.min(n),
        Schedule::Revolve { .. } => 0,
    }
}

/// Slots in use at the fullest, slot 0 included; all but slot 0 are copies.
///
/// ```
/// use retrograd_compiler::plan::schedule::{slots, Schedule, Sweep};
/// assert_eq!(slots(Schedule::KeepAll, Sweep::Paired, 1000), 1);
/// assert_eq!(slots(Schedule::Periodic { period: 32 }, Sweep::Paired, 1000), 31); // the last of 32 segments is taped at once
/// assert_eq!(slots(Schedule::Revolve { slots: 18 }, Sweep::Paired, 1000), 18);
/// assert_eq!(slots(Schedule::Revolve { slots: 18 }, Sweep::Paired, 5), 5);
/// ```
///
/// # Panics
/// If the schedule has a period of 0.
pub fn slots(schedule: Schedule, sweep: Sweep, n: u64) -> u64 {
    match schedule {
        Schedule::KeepAll => 1,
        Schedule::Periodic { period } => n.div_ceil(period).saturating_sub(1).max(1),
        Schedule::Revolve { slots } => slots.min(revolved(sweep, n).saturating_sub(1).max(1)),
    }
}

/// The steps that Revolve sees. In a pair, the rest of the program is one more step after the loop, turned before all others.
fn revolved(sweep: Sweep, n: u64) -> u64 {
    match sweep {
        Sweep::Paired => n.saturating_add(1),
        Sweep::Alone => n,
    }
}
