//! Split reversal: a loop in the middle of a program, whose first sweep ends before its reversal begins.
//!
//! At most `p` units survive the sweep, and the reversal may use `q ≥ p`. With `C` of a loop that is reversed at once,
//!
//! ```text
//! Q(n, p, q) = min of  f_k + Q(n-1, p-b_k, q-b_k) + r_k(q-b_k)
//!                      h + i f + Q(n-i, p-a, q-a) + C(i, q)    for 0 < i ≤ n
//! Q(0, p, q) = 0
//! ```
//!
//! `q - p` never changes. Where states joint are kept and `p = q`, this is Revolve with one step more: the rest of the
//! program.

use super::NEVER;
use std::cell::OnceCell;

use super::joint::{JointReversal, Move, Place, least_sum};

/// The least work for every number of steps and of units that survive the sweep.
///
/// ```
/// use retrograd_schedule::optimal::{JointReversal, SplitReversal, Place, Steps};
/// let steps = Steps { start: 1, state: 1, advance: 1, hold: 0, turn: vec![1], choices: vec![] };
/// let joint = JointReversal::new(&steps, 10, 3);
/// // Every step once in the sweep, and 18 executions more.
/// assert_eq!(SplitReversal::new(&joint, 10, 3, 0).work(Place::Later, 10, 3), Some(28));
/// ```
#[derive(Clone, Debug)]
pub struct SplitReversal<'t> {
    joint: &'t JointReversal<'t>,
    /// Units that the reversal may use besides those that survive the sweep.
    extra: usize,
    later: Vec<Vec<u64>>,
    /// Filled when it is asked for.
    first: Vec<OnceCell<Vec<u64>>>,
    count: usize,
}

impl<'t> SplitReversal<'t> {
    /// Fills the table for up to `units` that survive and `extra` for the reversal; `joint` knows `units + extra`.
    pub fn new(joint: &'t JointReversal<'t>, count: usize, units: usize, extra: usize) -> SplitReversal<'t> {
        let mut table = SplitReversal { joint, extra, later: vec![], first: vec![OnceCell::new(); units + 1], count };
        for saved in 0..=units {
            let later = table.fill(Place::Later, saved);
            table.later.push(later);
        }
        table
    }

    /// The least work, or none where there is too little memory.
    pub fn work(&self, place: Place, steps: usize, saved: usize) -> Option<u64> {
        Some(self.row(place, saved)[steps]).filter(|work| *work < NEVER)
    }

    /// What a program with the least work does first; `Hold` may advance over all steps.
    ///
    /// # Panics
    /// Where there is too little memory, or no step.
    pub fn best(&self, place: Place, steps: usize, saved: usize) -> Move {
        let least = self.work(place, steps, saved).expect("there is a program for so much memory");
        let costs = self.joint.steps;
        if let Some(choice) = (0..costs.choices.len()).find(|choice| self.taped(*choice, steps, saved) == least) {
            return Move::Tape { choice };
        }
        let (right, left) = (&self.later[saved - costs.held(place)], self.joint.row(place, saved + self.extra));
        let work = |i: usize| left[i] + right[steps - i] + i as u64 * costs.advance + costs.hold;
        let tried = self.joint.splits(saved + self.extra, saved - costs.held(place)).map(|splits| splits.whole(steps));
        let tried = tried.into_iter().flatten().filter(|i| (1..=steps).contains(i));
        let advance = tried.chain(1..=steps).find(|i| work(*i) == least).expect("the least work is that of some move");
        Move::Hold { advance }
    }

    fn row(&self, place: Place, saved: usize) -> &[u64] {
        match place {
            Place::First => self.first[saved].get_or_init(|| self.fill(Place::First, saved)),
            Place::Later => &self.later[saved],
        }
    }

    fn taped(&self, choice: usize, steps: usize, saved: usize) -> u64 {
        let choice = &self.joint.steps.choices[choice];
        match saved.checked_sub(choice.units) {
            None => NEVER,
            Some(left) => {
                (choice.forward + choice.reversed(left + self.extra)).min(NEVER) + self.later[left][steps - 1]
            }
        }
    }

    fn fill(&self, place: Place, saved: usize) -> Vec<u64> {
        let count = self.count;
        let costs = self.joint.steps;
        let advanced = |(n, work): (usize, &u64)| (work + n as u64 * costs.advance).min(NEVER);
        let left: Vec<u64> = self.joint.row(place, saved + self.extra).iter().enumerate().map(advanced).collect();
        let right = saved.checked_sub(costs.held(place)).map(|less| &self.later[less]);
        let mut row = vec![0; count + 1];
        let mut last = 1;
        for n in 1..=count {
            let taped = (0..costs.choices.len()).map(|choice| self.taped(choice, n, saved)).min().unwrap_or(NEVER);
            let held = match (right, self.joint.splits(saved + self.extra, saved.saturating_sub(costs.held(place)))) {
                (None, _) => NEVER,
                (Some(right), None) => least_sum(&left[1..=n], &right[..n]) + costs.hold,
                (Some(right), Some(splits)) => {
                    splits.least(&mut last, 1..n + 1, |i| left[i] + right[n - i], n) + costs.hold
                }
            };
            row[n] = taped.min(held).min(NEVER);
        }
        row
    }
}
