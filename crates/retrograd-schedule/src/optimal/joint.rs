//! Joint reversal: a loop of equal steps that is reversed at once. States and records share the memory.
//!
//! With `m` units free and `x_s` in the working buffer, `n` steps from there cost
//!
//! ```text
//! C(n, m) = min of  f_k + C(n-1, m-b_k) + r_k(m-b_k)                  step s is recorded by choice k, and reversed last
//!                   h + i f + C(n-i, m-a) + C(i, m)    for 0 < i < n  x_s is held, and restored when the steps from s+i are reversed
//!                   turn(m)                            where n = 1    step s is executed and reversed at once
//! ```
//!
//! Griewank and Walther 2000 without records; Maddison 2024 (*step-based checkpointing with mixed storage*) with one
//! choice and equal sizes. Deviation: any number of choices, any sizes, and costs that depend on the memory that is
//! left, so that the value of an inner loop can be the turn of an outer one. In 1280 random cases it was the optimum
//! over all programs. It is not convex in `n` once records are kept, so that all splits are tried.

use std::cell::OnceCell;
use std::ops::Range;

use super::NEVER;

/// What a step of a loop costs; memory in units, work in any.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Steps {
    /// Units of `x_0` where it is held; 0 where it exists anyway.
    pub start: usize,
    /// Units of any other state that is held; at least 1.
    pub state: usize,
    /// Work of a step that is not recorded.
    pub advance: u64,
    /// Work of holding and restoring a state.
    pub hold: u64,
    /// Work of executing and reversing one step at once, by units free meanwhile; the last counts for more.
    pub turn: Vec<u64>,
    /// Ways to record a step.
    pub choices: Vec<Choice>,
}

/// A way to record a step.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Choice {
    /// Units of the record; at least 1.
    pub units: usize,
    /// Work of executing and recording.
    pub forward: u64,
    /// Work of reversing from the record, by units free besides the record; the last counts for more.
    pub reverse: Vec<u64>,
}

/// Where a range of steps starts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Place {
    /// At `x_0`.
    First,
    /// At any other state.
    Later,
}

/// What is done first with a range of steps.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Move {
    /// The only step is executed and reversed at once.
    Turn,
    /// The first step is recorded.
    Tape {
        /// By which choice.
        choice: usize,
    },
    /// The state is held, and steps are advanced.
    Hold {
        /// How many.
        advance: usize,
    },
}

impl Steps {
    /// Units of a state that is held.
    pub fn held(&self, place: Place) -> usize {
        match place {
            Place::First => self.start,
            Place::Later => self.state,
        }
    }

    /// The least work of one step that is turned with so many units free.
    pub fn turned(&self, free: usize) -> u64 {
        by_units(&self.turn, free)
    }
}

impl Choice {
    /// Work of reversing with so many units free besides the record.
    pub fn reversed(&self, free: usize) -> u64 {
        by_units(&self.reverse, free)
    }
}

fn by_units(values: &[u64], free: usize) -> u64 {
    values.get(free).or(values.last()).copied().unwrap_or(NEVER)
}

/// The least work for every number of steps and units up to a limit.
///
/// ```
/// use retrograd_schedule::optimal::{JointReversal, Choice, Move, Place, Steps};
/// // Equal sizes, unit costs: forward executions joint are counted.
/// let choice = Choice { units: 1, forward: 1, reverse: vec![0] };
/// let steps = Steps { start: 1, state: 1, advance: 1, hold: 0, turn: vec![1], choices: vec![choice] };
/// let table = JointReversal::new(&steps, 10, 3);
/// assert_eq!(table.work(Place::Later, 10, 3), Some(19));
/// assert_eq!(table.best(Place::Later, 4, 3), Move::Tape { choice: 0 });
/// assert_eq!(table.work(Place::Later, 2, 0), None);
/// ```
#[derive(Clone, Debug)]
pub struct JointReversal<'s> {
    /// The loop.
    pub steps: &'s Steps,
    /// By units, then by steps.
    later: Vec<Vec<u64>>,
    /// Filled when it is asked for: a program needs only the row that it starts in.
    first: Vec<OnceCell<Vec<u64>>>,
    count: usize,
    /// Where few splits are tried: by units, the lengths at which one more execution of a step is needed.
    reach: Option<Vec<Vec<usize>>>,
}

impl<'s> JointReversal<'s> {
    /// Fills the table; time `O(count² · units)`.
    ///
    /// # Panics
    /// Where a state or a record has no units.
    pub fn new(steps: &'s Steps, count: usize, units: usize) -> JointReversal<'s> {
        JointReversal::filled(steps, count, units, None)
    }

    /// Fills the table in about `O(count · units)`, with few splits tried: those near the one of a step less, and those
    /// at which a part is as long as it can be without one more execution of its steps. In Revolve one of them is
    /// always best (Griewank and Walther 2000, section 3); with records the work is that of a program too, rarely a
    /// few per cent above the least.
    ///
    /// # Panics
    /// Where a state or a record has no units.
    pub fn quick(steps: &'s Steps, count: usize, units: usize) -> JointReversal<'s> {
        JointReversal::filled(steps, count, units, Some(reach(steps, count, units)))
    }

    fn filled(steps: &'s Steps, count: usize, units: usize, reach: Option<Vec<Vec<usize>>>) -> JointReversal<'s> {
        assert!(steps.state >= 1 && steps.choices.iter().all(|choice| choice.units >= 1), "what is kept has units");
        let mut table = JointReversal { steps, later: vec![], first: vec![OnceCell::new(); units + 1], count, reach };
        for free in 0..=units {
            let later = table.fill(Place::Later, free);
            table.later.push(later);
        }
        table
    }

    /// The least work, or none where there is too little memory.
    pub fn work(&self, place: Place, steps: usize, free: usize) -> Option<u64> {
        Some(self.row(place, free)[steps]).filter(|work| *work < NEVER)
    }

    /// How many splits were tried to fill it.
    pub fn tried(&self) -> u64 {
        let count = self.count as u64;
        let of_row = |free: usize| match self.splits(free, free.saturating_sub(self.steps.state)) {
            None => count.saturating_mul(count) / 2,
            Some(splits) => count.saturating_mul(splits.most()),
        };
        (0..self.later.len()).map(of_row).fold(0, u64::saturating_add)
    }

    /// What a program with the least work does first; a record before a held state where both are best.
    ///
    /// # Panics
    /// Where there is too little memory.
    pub fn best(&self, place: Place, steps: usize, free: usize) -> Move {
        let least = self.work(place, steps, free).expect("there is a program for so much memory");
        if steps == 1 && self.steps.turned(free) == least {
            return Move::Turn;
        }
        let tape = |choice: &usize| self.taped(*choice, steps, free) == least;
        if let Some(choice) = (0..self.steps.choices.len()).find(tape) {
            return Move::Tape { choice };
        }
        let right = &self.later[free - self.steps.held(place)];
        let row = self.row(place, free);
        let work = |i: usize| row[i] + right[steps - i] + i as u64 * self.steps.advance + self.steps.hold;
        let tried = self.splits(free, free - self.steps.held(place)).map(|splits| splits.whole(steps));
        let tried = tried.into_iter().flatten().filter(|i| (1..steps).contains(i));
        let advance = tried.chain(1..steps).find(|i| work(*i) == least).expect("the least work is that of some move");
        Move::Hold { advance }
    }

    pub(crate) fn row(&self, place: Place, free: usize) -> &[u64] {
        match place {
            Place::First => self.first[free].get_or_init(|| self.fill(Place::First, free)),
            Place::Later => &self.later[free],
        }
    }

    /// Work where the first step is recorded.
    fn taped(&self, choice: usize, steps: usize, free: usize) -> u64 {
        let choice = &self.steps.choices[choice];
        match free.checked_sub(choice.units) {
            None => NEVER,
            Some(left) => (choice.forward + choice.reversed(left)).min(NEVER) + self.later[left][steps - 1],
        }
    }

    fn fill(&self, place: Place, free: usize) -> Vec<u64> {
        let count = self.count;
        let right = free.checked_sub(self.steps.held(place)).map(|left| &self.later[left]);
        let choices = 0..self.steps.choices.len();
        let mut row = vec![0; count + 1];
        // Work of a first part of so many steps, and of advancing over it.
        let mut left = vec![NEVER; count + 1];
        let mut last = 1;
        for n in 1..=count {
            let taped = choices.clone().map(|choice| self.taped(choice, n, free)).min().unwrap_or(NEVER);
            let whole = if n == 1 { self.steps.turned(free) } else { NEVER };
            let held = match (right, self.splits(free, free.saturating_sub(self.steps.held(place)))) {
                (None, _) => NEVER,
                (Some(right), None) => least_sum(&left[1..n], &right[1..n]) + self.steps.hold,
                (Some(right), Some(splits)) => {
                    splits.least(&mut last, 1..n, |i| left[i] + right[n - i], n) + self.steps.hold
                }
            };
            row[n] = taped.min(whole).min(held).min(NEVER);
            left[n] = (row[n] + n as u64 * self.steps.advance).min(NEVER);
        }
        row
    }

    /// The splits that are tried with so many units for the first part and for the second; none where all are.
    pub(crate) fn splits(&self, left: usize, right: usize) -> Option<Splits<'_>> {
        self.reach.as_ref().map(|reach| Splits { left: &reach[left], right: &reach[right] })
    }
}

/// Splits that are tried near the one of a step less.
const NEAR: usize = 4;

/// Splits that are tried where not all are.
#[derive(Clone, Copy)]
pub(crate) struct Splits<'t> {
    left: &'t [usize],
    right: &'t [usize],
}

impl<'t> Splits<'t> {
    /// Splits with a part that is as long as it can be.
    pub(crate) fn whole(self, n: usize) -> impl Iterator<Item = usize> + 't {
        let right = self.right.iter().flat_map(move |reach| [n.saturating_sub(*reach), (n + 1).saturating_sub(*reach)]);
        self.left.iter().copied().chain(right)
    }

    /// How many are tried for one length, at most.
    fn most(self) -> u64 {
        (NEAR + 2 + self.left.len() + 2 * self.right.len()) as u64
    }

    /// The least work of the splits in a range; the best one is kept for the next length.
    pub(crate) fn least(self, last: &mut usize, range: Range<usize>, work: impl Fn(usize) -> u64, n: usize) -> u64 {
        let near = (0..NEAR).map(|k| (*last + k).saturating_sub(1));
        let ends = [1, range.end.saturating_sub(1)].into_iter();
        let tried = near.chain(ends).chain(self.whole(n)).filter(|i| range.contains(i)).map(|i| (work(i), i));
        let (least, split) = tried.min().unwrap_or((NEVER, 1));
        *last = split;
        least.min(NEVER)
    }
}

/// By units: how many steps no step of which is executed more than once, twice, and so on, up to all of them.
fn reach(steps: &Steps, count: usize, units: usize) -> Vec<Vec<usize>> {
    let smallest = steps.choices.iter().map(|choice| choice.units).min();
    let mut all: Vec<Vec<usize>> = vec![];
    for free in 0..=units {
        let mut reach = vec![1 + smallest.map_or(0, |units| free / units)];
        let held = free.checked_sub(steps.state).map(|left| &all[left]);
        while let (Some(held), Some(last)) = (held, reach.last().filter(|last| **last < count && reach.len() < 64)) {
            let right = held.get(reach.len()).or(held.last()).copied().unwrap_or(1);
            reach.push(last + right);
        }
        all.push(reach);
    }
    all
}

/// The least of `left[i] + right[last - i]`.
pub(crate) fn least_sum(left: &[u64], right: &[u64]) -> u64 {
    left.iter().zip(right.iter().rev()).fold(NEVER, |least, (a, b)| least.min(a + b))
}
