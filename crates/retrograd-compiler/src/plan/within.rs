//! The fastest decision about loops that fits a budget: a search over rooms for their states and records, each decided and placed.
//!
//! What a decision takes is known when it is placed: kinds of steps differ in what they need besides states and records, and memory is
//! shared with what lives at other moments. More room never means more work. So the search goes down from the most room that there could be,
//! decision by decision, and takes the first that fits: then more bytes never cost more work. Where there are too many decisions for that, it
//! starts from an estimate, and halves what is between a room that fits and one that does not.

use super::place::Placed;
use super::{Decision, Facts, explain};
use crate::ir::{Error, ErrorKind, Pos};

/// What is asked for, and how it is found out what that takes.
pub(super) struct Within<'a> {
    pub(super) budget: u64,
    pub(super) facts: &'a Facts,
    /// Work of what runs again outside of loops.
    pub(super) again: u128,
    /// How many instructions are placed each time, and may be before the search is in a hurry.
    pub(super) insts: u64,
    pub(super) most_placed: u64,
    pub(super) decide: &'a dyn Fn(Option<u64>) -> Result<Decision, Error>,
    pub(super) place: &'a dyn Fn(&Decision) -> Placed,
}

/// A decision, placed.
struct Tried {
    decision: Decision,
    placed: Placed,
}

impl Tried {
    /// What is in memory besides states and records.
    fn besides(&self) -> i128 {
        i128::from(self.placed.fullest()) - i128::from(self.decision.bytes)
    }
}

/// A loop of more steps has tables that take time.
const LONG: u64 = 512;

/// Splits that may be tried before the search is in a hurry, and rooms that it tries then.
const SPLITS: u64 = 2_000_000;
const ROUNDS: usize = 6;

impl Within<'_> {
    /// The decision of the least work of those that are tried and fit.
    pub(super) fn fastest(&self) -> Result<(Decision, Placed), Error> {
        let free = self.tried((self.decide)(None)?);
        let is_open = self.facts.is_open();
        if self.fits(&free) && !is_open {
            return Ok((free.decision, free.placed));
        }
        // What has no room is not always the least: a short loop is recorded in less than a schedule's words take.
        let mut all = vec![free];
        let modest = self.known(&mut all, (self.decide)(Some(0))?);
        let least = if all[0].placed.bytes < all[modest].placed.bytes { 0 } else { modest };
        // Of a loop of unknown length there is no free decision that says anything about others.
        let bytes = self.budget.max(all[least].placed.bytes);
        let most = match is_open {
            true => most(&all[least..=least], bytes),
            false => most(&all, bytes).min(all[0].decision.bytes.saturating_sub(1)),
        };
        let is_long = self.facts.loops.iter().any(|facts| facts.count.is_some_and(|count| count > LONG));
        let high = if is_long { most.saturating_add(1) } else { self.down(&mut all, most)? };
        if high > 0 && self.fits(&all[least]) {
            self.between(&mut all, least, high)?;
        }
        let work = |tried: &&Tried| (tried.decision.work, tried.placed.bytes);
        match all.iter().filter(|tried| self.fits(tried)).min_by_key(work) {
            Some(best) => Ok((best.decision.clone(), best.placed.clone())),
            None => Err(self.over(&all)),
        }
    }

    /// From the most room to the least that is worth it, unless there is no time for that. Up to where nothing was seen to fit.
    fn down(&self, all: &mut Vec<Tried>, most: u64) -> Result<u64, Error> {
        let (mut room, mut splits, mut worth) = (self.step(most), 0u64, 0);
        while room > worth {
            if all.len() as u64 * self.insts > self.most_placed || splits > SPLITS {
                return Ok(if worth == 0 { room + 1 } else { 0 });
            }
            let decision = (self.decide)(Some(room))?;
            splits = splits.saturating_add(decision.tried);
            let number = self.known(all, decision);
            let tried = &all[number];
            if self.fits(tried) {
                // How loops share their room is found by trying parts of it: a little less may do better. One loop has all of it.
                worth = worth.max(if self.is_alone() { room } else { room / 4 * 3 });
            }
            // With less than it was offered, a loop would have done the same.
            let same = if self.is_alone() { room.min(tried.decision.bytes) } else { room };
            room = self.step(same.saturating_sub(1));
        }
        Ok(0)
    }

    fn is_alone(&self) -> bool {
        self.facts.loops.len() == 1
    }

    /// Rooms that are tried: of several loops one in every few, the same ones for every budget.
    fn step(&self, room: u64) -> u64 {
        let bits = u64::BITS - room.leading_zeros();
        if self.is_alone() { room } else { room >> bits.saturating_sub(5).max(3) << bits.saturating_sub(5).max(3) }
    }

    /// Between what fits and a room that does not, in a hurry: tables of long loops and places of much code take time.
    fn between(&self, all: &mut Vec<Tried>, least: usize, mut high: u64) -> Result<(), Error> {
        let estimate = |tried: &Tried| u64::try_from(i128::from(self.budget) - tried.besides()).unwrap_or(0);
        // Less than this holds nothing more.
        let sizes = self.facts.loops.iter().flat_map(|facts| facts.choices.iter().map(|choice| choice.bytes).chain([facts.state_bytes]));
        let granule = sizes.min().unwrap_or(u64::MAX);
        let (mut low, mut fits) = (all[least].decision.bytes, least);
        let mut room = estimate(&all[least]);
        for _ in 0..ROUNDS {
            room = room.min(high.saturating_sub(8));
            if room <= low {
                break;
            }
            let number = self.known(all, (self.decide)(Some(room))?);
            let (tried, best) = (&all[number], &all[fits]);
            // What gains next to nothing is the last.
            let enough = tried.decision.work > best.decision.work - best.decision.work / 200;
            if self.fits(tried) {
                let spare = estimate(tried).saturating_sub(room);
                (low, fits) = (room, number);
                room = low.saturating_add(spare);
                if enough || spare < granule {
                    break;
                }
            } else {
                high = room.min(tried.decision.bytes);
                room = high.saturating_sub(tried.placed.bytes - self.budget);
                room = if room > low { room } else { low + high.saturating_sub(low) / 2 };
            }
        }
        Ok(())
    }

    fn fits(&self, tried: &Tried) -> bool {
        tried.placed.bytes <= self.budget
    }

    fn tried(&self, decision: Decision) -> Tried {
        let placed = (self.place)(&decision);
        Tried { decision, placed }
    }

    /// Which of those that were placed it is.
    fn known(&self, all: &mut Vec<Tried>, decision: Decision) -> usize {
        let known = all.iter().position(|tried| tried.decision.loops == decision.loops);
        known.unwrap_or_else(|| {
            all.push(self.tried(decision));
            all.len() - 1
        })
    }

    fn over(&self, all: &[Tried]) -> Error {
        let least = all.iter().min_by_key(|tried| tried.placed.bytes).expect("something was tried");
        let (budget, needed) = (self.budget, least.placed.bytes);
        let message = format!(
            "the budget is {}; the smallest that this strategy can work with is {}, with {:.1} times the work of its plan without a budget",
            explain::exactly(budget),
            explain::exactly(needed),
            least.decision.work.saturating_add(self.again) as f64 / all[0].decision.work.max(1) as f64
        );
        Error::new(ErrorKind::OverBudget { needed, budget }, Pos::unknown(), message)
    }
}

/// The most room that could fit: some decisions take a little less besides it than those that were placed.
fn most(all: &[Tried], bytes: u64) -> u64 {
    let besides = all.iter().map(Tried::besides).min().unwrap_or(0);
    u64::try_from(i128::from(bytes) - besides + besides.max(0) / 8).unwrap_or(0)
}
