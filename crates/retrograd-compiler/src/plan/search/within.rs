//! The fastest decision about loops that fits a budget: a search over limits of the bytes of their states and
//! records, each decided and placed.
//!
//! The smallest budget is that of the least of a set of decisions that does not depend on the budget: the one without a
//! limit, the one that holds nothing, and those for limits from what the latter takes downwards, since kinds of steps differ
//! in what they need besides. A budget that the decision that holds nothing does not fit has a choice of all of them, and
//! whatever is found in more bytes takes no less than the decision that holds nothing, or is one of the set. So the budget
//! that a refusal names is accepted, every smaller one is refused, and no plan takes less.
//!
//! What a decision takes is known when it is placed: kinds of steps differ in what they need besides states and
//! records, and memory is shared with what lives at other moments. More bytes never mean more work. So the search goes
//! down from the most bytes that there could be, decision by decision, and takes the first that fits: then more bytes
//! never cost more work. Where there are too many decisions for that, it starts from an estimate, and halves what is
//! between a limit that fits and one that does not.

use crate::ir::{Error, ErrorKind, Pos};
use crate::plan::analysis::bytes::exactly;
use crate::plan::decision::Decision;
use crate::plan::memory::Placed;
use crate::plan::search::bound::quick_bound;
use crate::plan::search::facts::Facts;

/// What is asked for, and how it is found out what that takes.
pub(in crate::plan) struct Within<'a> {
    pub(in crate::plan) budget: u64,
    pub(in crate::plan) facts: &'a Facts,
    /// Work of what runs again outside of loops.
    pub(in crate::plan) again: u128,
    /// How many instructions are placed each time, and may be before the search is in a hurry.
    pub(in crate::plan) insts: u64,
    pub(in crate::plan) most_placed: u64,
    pub(in crate::plan) decide: &'a dyn Fn(Option<u64>) -> Result<Decision, Error>,
    pub(in crate::plan) decide_anew: &'a dyn Fn(u64) -> Result<Decision, Error>,
    pub(in crate::plan) place: &'a dyn Fn(&Decision) -> Placed,
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

/// Splits that may be tried before the search is in a hurry, and limits that it tries then.
const SPLITS: u64 = 2_000_000;
const ROUNDS: usize = 6;

/// Instructions that are placed for decisions of few bytes, and how many of these there are at least and at most.
const PLACED_SMALL: u64 = 3_000;
const SMALL_ROOMS: (u64, u64) = (4, 24);

impl Within<'_> {
    /// The decision of the least work of those that are tried and fit.
    pub(in crate::plan) fn fastest(&self) -> Result<(Decision, Placed), Error> {
        let free = self.tried((self.decide)(None)?);
        let is_open = self.facts.is_open();
        if self.fits(&free) && !is_open {
            return Ok((free.decision, free.placed));
        }
        // What holds nothing is not always the least: a short loop is recorded in less than a schedule's words take.
        let mut all = vec![free];
        let modest = self.known(&mut all, (self.decide_anew)(0)?);
        if !self.fits(&all[modest]) {
            return self.of_small(all, modest);
        }
        // Of a loop of unknown length there is no free decision that says anything about others.
        let most = match is_open {
            true => most(&all[modest..=modest], self.budget),
            false => most(&all, self.budget).min(all[0].decision.bytes.saturating_sub(1)),
        };
        let is_long = self.facts.loops.iter().any(|facts| facts.count.is_some_and(|count| count > LONG));
        let high = if is_long { most.saturating_add(1) } else { self.down(&mut all, most)? };
        if high > 0 {
            self.between(&mut all, modest, high)?;
        }
        // What takes less than the decision that holds nothing is one of the set, or none.
        let least = all[modest].placed.bytes;
        let is_allowed = |tried: &&Tried| self.fits(tried) && tried.placed.bytes >= least;
        let below = all.iter().filter(is_allowed).map(|tried| tried.decision.work).min().unwrap_or(u128::MAX);
        // To decide about long loops takes time.
        let set = if is_long { vec![0, modest] } else { self.small(&mut all, modest, below)? };
        let in_set = |tried: &Tried| set.iter().any(|number| std::ptr::eq(&all[*number], tried));
        let found = all.iter().filter(|tried| self.fits(tried) && (tried.placed.bytes >= least || in_set(tried)));
        let best = found.min_by_key(work).expect("the decision without limit fits");
        Ok((best.decision.clone(), best.placed.clone()))
    }

    /// The decision of the least work that fits where the one that holds nothing does not: one of the set that does not
    /// depend on the budget.
    fn of_small(&self, mut all: Vec<Tried>, modest: usize) -> Result<(Decision, Placed), Error> {
        let set = self.small(&mut all, modest, u128::MAX)?;
        match set.iter().map(|number| &all[*number]).filter(|tried| self.fits(tried)).min_by_key(work) {
            Some(best) => Ok((best.decision.clone(), best.placed.clone())),
            None => Err(self.over(&all)),
        }
    }

    /// The set that does not depend on the budget, by number, as far as it is less work than this.
    fn small(&self, all: &mut Vec<Tried>, modest: usize, below: u128) -> Result<Vec<usize>, Error> {
        let (mut set, mut limit, mut splits) = (vec![0, modest], all[modest].placed.bytes, 0u64);
        for _ in 0..(PLACED_SMALL / self.insts.max(1)).clamp(SMALL_ROOMS.0, SMALL_ROOMS.1) {
            // Less than this holds nothing, and no decision in so few bytes is less work.
            if limit < self.granule() || splits > SPLITS || quick_bound(self.facts, limit) >= below {
                break;
            }
            let decision = (self.decide_anew)(limit)?;
            splits = splits.saturating_add(decision.tried);
            if decision.work < below {
                set.push(self.known(all, decision));
            }
            limit = limit / 5 * 4;
        }
        Ok(set)
    }

    /// Bytes of the smallest thing that is ever kept.
    fn granule(&self) -> u64 {
        let sizes = self
            .facts
            .loops
            .iter()
            .flat_map(|facts| facts.choices.iter().map(|choice| choice.bytes).chain([facts.state_bytes]));
        sizes.min().unwrap_or(u64::MAX).max(1)
    }

    /// From the most bytes to the least that are worth it, unless there is no time for that. Up to where nothing was seen
    /// to fit.
    fn down(&self, all: &mut Vec<Tried>, most: u64) -> Result<u64, Error> {
        let (mut limit, mut splits, mut worth) = (self.step(most), 0u64, 0);
        while limit > worth {
            if all.len() as u64 * self.insts > self.most_placed || splits > SPLITS {
                return Ok(if worth == 0 { limit + 1 } else { 0 });
            }
            let decision = (self.decide)(Some(limit))?;
            splits = splits.saturating_add(decision.tried);
            let number = self.known(all, decision);
            let tried = &all[number];
            if self.fits(tried) {
                // How loops share their bytes is found by trying parts of it: a little less may do better. One loop has
                // all of it.
                worth = worth.max(if self.is_alone() { limit } else { limit / 4 * 3 });
            }
            // With less than it was offered, a loop would have done the same.
            let same = if self.is_alone() { limit.min(tried.decision.bytes) } else { limit };
            limit = self.step(same.saturating_sub(1));
        }
        Ok(0)
    }

    fn is_alone(&self) -> bool {
        self.facts.loops.len() == 1
    }

    /// Rooms that are tried: of several loops one in every few, the same ones for every budget.
    fn step(&self, limit: u64) -> u64 {
        let bits = u64::BITS - limit.leading_zeros();
        if self.is_alone() { limit } else { limit >> bits.saturating_sub(5).max(3) << bits.saturating_sub(5).max(3) }
    }

    /// Between what fits and a limit that does not, in a hurry: tables of long loops and places of much code take time.
    fn between(&self, all: &mut Vec<Tried>, least: usize, mut high: u64) -> Result<(), Error> {
        let estimate = |tried: &Tried| u64::try_from(i128::from(self.budget) - tried.besides()).unwrap_or(0);
        // Less than this holds nothing more.
        let granule = self.granule();
        let (mut low, mut fits) = (all[least].decision.bytes, least);
        let mut limit = estimate(&all[least]);
        for _ in 0..ROUNDS {
            limit = limit.min(high.saturating_sub(8));
            if limit <= low {
                break;
            }
            let number = self.known(all, (self.decide)(Some(limit))?);
            let (tried, best) = (&all[number], &all[fits]);
            // What gains next to nothing is the last.
            let enough = tried.decision.work > best.decision.work - best.decision.work / 200;
            if self.fits(tried) {
                let spare = estimate(tried).saturating_sub(limit);
                (low, fits) = (limit, number);
                limit = low.saturating_add(spare);
                if enough || spare < granule {
                    break;
                }
            } else {
                high = limit.min(tried.decision.bytes);
                limit = high.saturating_sub(tried.placed.bytes - self.budget);
                limit = if limit > low { limit } else { low + high.saturating_sub(low) / 2 };
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
            "the budget is {}; the smallest that this strategy can work with is {}, with {:.1} times the work of its \
             plan without a budget",
            exactly(budget),
            exactly(needed),
            least.decision.work.saturating_add(self.again) as f64 / all[0].decision.work.max(1) as f64
        );
        Error::new(ErrorKind::OverBudget { needed, budget }, Pos::unknown(), message)
    }
}

fn work(tried: &&Tried) -> (u128, u64) {
    (tried.decision.work, tried.placed.bytes)
}

/// The most bytes that could fit: some decisions take a little less besides it than those that were placed.
fn most(all: &[Tried], bytes: u64) -> u64 {
    let besides = all.iter().map(Tried::besides).min().unwrap_or(0);
    u64::try_from(i128::from(bytes) - besides + besides.max(0) / 8).unwrap_or(0)
}
