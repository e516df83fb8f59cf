//! What a schedule adds up to, in closed form: the planner's facts.

use super::{Action, Schedule, Sweep, binomial, next, online, start};

/// How often each action is done for one loop, in steps where the action covers several.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Steps executed without a record.
    pub advances: u128,
    /// Steps executed with a record.
    pub taped: u128,
    /// Steps executed and reversed at once.
    pub youturns: u128,
    /// States copied into the pool.
    pub snapshots: u128,
    /// States copied back.
    pub restores: u128,
    /// States written to the disk.
    pub spills: u128,
    /// States read from the disk.
    pub fetches: u128,
}

impl Counts {
    /// Forward executions of a step: advanced, taped and turned back.
    pub fn forward_steps(&self) -> u128 {
        self.advances + self.taped + self.youturns
    }

    /// These and so many times others.
    pub(crate) fn plus(self, other: Counts, times: u128) -> Counts {
        Counts {
            advances: self.advances + times * other.advances,
            taped: self.taped + times * other.taped,
            youturns: self.youturns + times * other.youturns,
            snapshots: self.snapshots + times * other.snapshots,
            restores: self.restores + times * other.restores,
            spills: self.spills + times * other.spills,
            fetches: self.fetches + times * other.fetches,
        }
    }
}

/// What the controller will have done at the end of a loop of `n` steps, the program's own sweep included if it is
/// paired.
///
/// ```
/// use retrograd_schedule::{counts, Counts, Recipe, Schedule, Sweep};
/// let periodic = Schedule::of(Recipe::periodic(4, 10, Sweep::Split, 8, 16));
/// assert_eq!(
///     counts(&periodic, Sweep::Split, 10),
///     Counts { advances: 8, taped: 10, snapshots: 1, restores: 2, ..Counts::default() }
/// );
/// assert_eq!(counts(&Schedule::Revolve { slots: 3, state_bytes: 8 }, Sweep::Joint, 10).forward_steps(), 25);
/// assert_eq!(counts(&Schedule::Revolve { slots: 3, state_bytes: 8 }, Sweep::Split, 10).forward_steps(), 28);
/// ```
///
/// # Panics
/// If the schedule has no slot.
pub fn counts(schedule: &Schedule, sweep: Sweep, n: u64) -> Counts {
    match schedule {
        Schedule::Nothing => {
            Counts { advances: if sweep == Sweep::Joint { 0 } else { u128::from(n) }, ..Counts::default() }
        }
        Schedule::Recipe(recipe) => recipe.counts(),
        Schedule::Revolve { slots, .. } => {
            let steps = revolved(sweep, n);
            Counts {
                advances: binomial::advances(steps, *slots),
                taped: 0,
                youturns: u128::from(n),
                // x_0 is held for nothing.
                snapshots: u128::from(binomial::stores(steps, *slots).saturating_sub(1)),
                // One after each turn, whether Youturn or Turn, but the last.
                restores: u128::from(steps.saturating_sub(1)),
                ..Counts::default()
            }
        }
        Schedule::Online { .. } => driven(schedule, sweep, n),
        Schedule::Blocks(blocks) => blocks.counts(sweep, n),
    }
}

/// What is held depends on every step before, so that the controller itself is asked.
fn driven(schedule: &Schedule, sweep: Sweep, n: u64) -> Counts {
    let mut words = vec![0; schedule.words()];
    start(&mut words, schedule, sweep, n);
    let mut counts = Counts::default();
    loop {
        match next(&mut words, &[]) {
            Action::Advance { from, to } if words[online::TRIPS] == online::RUNNING && to >= n => {
                counts.advances += u128::from(n - from);
                words[online::TRIPS] = n as i64;
            }
            Action::Advance { from, to } => counts.advances += u128::from(to - from),
            Action::Snapshot { .. } => counts.snapshots += 1,
            Action::Restore { .. } => counts.restores += 1,
            Action::Youturn { .. } => counts.youturns += 1,
            Action::Done => return counts,
            action @ (Action::Tape { .. }
            | Action::Reverse { .. }
            | Action::Turn
            | Action::Spill { .. }
            | Action::Fetch { .. }
            | Action::Run(_)) => {
                panic!("{action:?} is no part of this")
            }
        }
    }
}

/// Slots that Revolve uses at the fullest, that of `x_0` included, which copies nothing.
///
/// ```
/// use retrograd_schedule::{slots, Sweep};
/// assert_eq!(slots(18, Sweep::Split, 1000), 18);
/// assert_eq!(slots(18, Sweep::Split, 5), 5);
/// ```
pub fn slots(slots: u64, sweep: Sweep, n: u64) -> u64 {
    slots.min(revolved(sweep, n).saturating_sub(1).max(1))
}

/// The steps that Revolve sees. In a pair, the rest of the program is one more step after the loop, turned before all
/// others.
fn revolved(sweep: Sweep, n: u64) -> u64 {
    match sweep {
        Sweep::Split | Sweep::Online => n.saturating_add(1),
        Sweep::Joint => n,
    }
}
