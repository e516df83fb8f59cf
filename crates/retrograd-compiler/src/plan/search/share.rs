//! One number of bytes for many loops: how much each gets.
//!
//! Every region has a Pareto front of points, bytes against work. Loops whose memory lives at the same time add their bytes,
//! those that do not share them; what is inside a step multiplies. A loop's points are made by a fit, so that any
//! strategy can share.

use std::cell::Cell;
use std::collections::BTreeMap;
use std::rc::Rc;

use crate::ir::Error;
use crate::plan::decision::{Decision, Rematerialised, Spill};
use crate::plan::search::facts::{Facts, Region};
use crate::plan::search::fit::{Fitted, Inside};
use retrograd_schedule::Sweep;

/// Makes the decision for one loop in so many bytes.
pub(in crate::plan) type Fit<'a> = &'a dyn Fn(Inside<'_>, Option<u64>) -> Result<Fitted, Error>;

/// Points of a Pareto front, those of the front inside of a step forwards that an outer loop is tried with, and how many pairs
/// of them with those of a step backwards.
const POINTS: usize = 24;
const INNER_POINTS: usize = 4;
const INNER_PAIRS: usize = 16;

/// Cells of tables while the bytes are shared, and when each loop has its own.
const CELLS_SHARING: u64 = 500_000;
const CELLS: u64 = 8_000_000;

/// Loops that have all of that time.
const LOOPS_IN_TIME: u64 = 4;

/// Kinds of steps that a loop may have, by the levels of unwinds inside of them: what is inside stands there once for
/// every kind, and kinds of kinds would grow with the power of the depth. From there on, those that held states alone
/// need: two forwards and one backwards.
const KINDS: [usize; 3] = [usize::MAX, 16, 4];
const FEWEST_KINDS: [usize; 2] = [2, 1];

/// Parts of what there is that a loop is tried with, in 64ths.
const OFFERS: [u64; 9] = [0, 1, 4, 8, 16, 32, 48, 56, 64];

/// Work and bytes of a region, and how its loops get there.
#[derive(Clone, Debug, Default)]
struct Point {
    bytes: u64,
    /// Where one of several branches runs, that of the dearest.
    work: u128,
    /// The same of all branches: of two points that are equal but for it, the smaller one.
    work_of_all: u128,
    loops: BTreeMap<usize, Rc<Share>>,
}

impl Point {
    fn key(&self) -> (u128, u128) {
        (self.work, self.work_of_all)
    }
}

/// What one loop got.
#[derive(Clone, Debug)]
struct Share {
    fitted: Fitted,
    /// Work of what is inside of its steps forwards and backwards.
    works: (u64, u64),
}

/// The decision of the least work in so many bytes of pools and controllers; `None` is no limit. With bytes for none,
/// the smallest.
pub(in crate::plan) fn share(facts: &Facts, limit: Option<u64>, fit: Fit<'_>) -> Result<Decision, Error> {
    let sharing =
        Sharing { facts, limit, fit, heights: heights(facts), alone: facts.loops.len() <= 1, tried: Cell::new(0) };
    let front = sharing.front(&facts.root)?;
    let fits = |point: &&Point| limit.is_none_or(|limit| point.bytes <= limit);
    let best = front.iter().filter(fits).min_by_key(|point| (point.key(), point.bytes));
    let mut point = best.or(front.iter().min_by_key(|point| point.bytes)).cloned().unwrap_or_default();
    sharing.spend(&mut point)?;
    let loops = point
        .loops
        .into_iter()
        .map(|(number, share)| (facts.loops[number].bwd, share.fitted.decision.clone()))
        .collect();
    let work = u128::from(facts.cost).saturating_add(point.work);
    Ok(Decision { loops, again: Rematerialised::default(), bytes: point.bytes, work, tried: sharing.tried.get() })
}

struct Sharing<'a> {
    facts: &'a Facts,
    limit: Option<u64>,
    fit: Fit<'a>,
    /// Levels of unwinds inside of the steps of each loop, forwards and backwards.
    heights: Vec<[usize; 2]>,
    /// One loop gets everything.
    alone: bool,
    /// Splits that were tried in tables so far.
    tried: Cell<u64>,
}

impl Sharing<'_> {
    fn front(&self, region: &Region) -> Result<Vec<Point>, Error> {
        match region {
            Region::Sequence(parts) => self.sequence(parts),
            Region::Branches(parts) => {
                let fronts = parts.iter().map(|part| self.front(part)).collect::<Result<Vec<_>, Error>>()?;
                Ok(fronts
                    .into_iter()
                    .fold(vec![Point::default()], |all, front| self.join(&all, &front, u64::max, u128::max)))
            }
            Region::Repeat { times, body } => {
                let mut front = self.front(body)?;
                for work in front.iter_mut().flat_map(|point| [&mut point.work, &mut point.work_of_all]) {
                    *work = work.saturating_mul(u128::from(*times));
                }
                Ok(front)
            }
            Region::Unwind(number) => self.unwind(*number),
        }
    }

    /// What is paired with a loop of the program lives from there on; the rest comes and goes.
    fn sequence(&self, parts: &[Region]) -> Result<Vec<Point>, Error> {
        let (mut lasting, mut passing) = (vec![Point::default()], vec![Point::default()]);
        for part in parts {
            let front = self.front(part)?;
            let paired = matches!(part, Region::Unwind(number) if self.facts.loops[*number].sweeps[0] != Sweep::Joint);
            if paired {
                lasting = self.join(&lasting, &front, u64::saturating_add, u128::saturating_add);
            } else {
                passing = self.join(&passing, &front, u64::max, u128::saturating_add);
            }
        }
        Ok(self.join(&lasting, &passing, u64::saturating_add, u128::saturating_add))
    }

    /// Both, with bytes and work that add up or not.
    fn join(&self, a: &[Point], b: &[Point], bytes: fn(u64, u64) -> u64, work: fn(u128, u128) -> u128) -> Vec<Point> {
        let pairs = a.iter().flat_map(|a| b.iter().map(move |b| (a, b)));
        let both = pairs.map(|(a, b)| Point {
            bytes: bytes(a.bytes, b.bytes),
            work: work(a.work, b.work),
            work_of_all: a.work_of_all.saturating_add(b.work_of_all),
            loops: a.loops.iter().chain(&b.loops).map(|(number, share)| (*number, share.clone())).collect(),
        });
        self.best(both.collect(), POINTS)
    }

    fn unwind(&self, number: usize) -> Result<Vec<Point>, Error> {
        let facts = &self.facts.loops[number];
        let (forwards, backwards) = (self.front(&facts.in_body)?, self.front(&facts.in_bwd)?);
        let mut points = vec![];
        let forwards = self.best(forwards, INNER_POINTS);
        let backwards = self.best(backwards, INNER_PAIRS / forwards.len());
        for forward in &forwards {
            for backward in &backwards {
                let inner = forward.bytes.max(backward.bytes);
                let least = |work: u128| u64::try_from(work).unwrap_or(u64::MAX).min(1 << 50);
                let (works, loops) =
                    ((least(forward.work), least(backward.work)), forward.loops.iter().chain(&backward.loops));
                let loops: BTreeMap<usize, Rc<Share>> = loops.map(|(number, share)| (*number, share.clone())).collect();
                for offer in self.offers(inner) {
                    let share = self.fitted(number, works, offer, CELLS_SHARING)?;
                    let (bytes, work) = (inner.saturating_add(share.fitted.bytes), share.fitted.work);
                    let others = |point: &Point| point.work_of_all - point.work;
                    let work_of_all = work.saturating_add(others(forward)).saturating_add(others(backward));
                    let mut loops = loops.clone();
                    loops.insert(number, Rc::new(share));
                    points.push(Point { bytes, work, work_of_all, loops });
                }
            }
        }
        Ok(self.best(points, POINTS))
    }

    fn fitted(&self, number: usize, works: (u64, u64), bytes: Option<u64>, cells: u64) -> Result<Share, Error> {
        let facts = &self.facts.loops[number];
        // Many loops have less time each.
        let cells =
            if self.alone { CELLS } else { cells * LOOPS_IN_TIME / LOOPS_IN_TIME.max(self.facts.loops.len() as u64) };
        let outermost = self.facts.loops.iter().filter(|facts| facts.depth == 0).count() as u64;
        let part = |spill: Spill| Spill { bytes: spill.bytes / outermost, ..spill };
        let spill = self.facts.spill.filter(|_| facts.depth == 0).map(part);
        let (forward, backward) = works;
        let most_kinds = [0, 1].map(|way| KINDS.get(self.heights[number][way]).copied().unwrap_or(FEWEST_KINDS[way]));
        let fitted = (self.fit)(Inside { facts, forward, backward, cells, most_kinds, spill }, bytes)?;
        self.tried.set(self.tried.get().saturating_add(fitted.tried));
        Ok(Share { fitted, works })
    }

    /// What a loop is tried with.
    fn offers(&self, inner: u64) -> Vec<Option<u64>> {
        let Some(limit) = self.limit else { return vec![None] };
        let left = u128::from(limit.saturating_sub(inner));
        if self.alone {
            return vec![Some(left as u64)];
        }
        let mut offers: Vec<u64> = OFFERS.iter().map(|part| (left * u128::from(*part) / 64) as u64).collect();
        offers.dedup();
        offers.into_iter().map(Some).collect()
    }

    /// The points that no other beats, at most so many, the smallest and the largest among them.
    fn best(&self, mut points: Vec<Point>, most: usize) -> Vec<Point> {
        points.sort_by_key(|point| (point.bytes, point.key()));
        let mut front: Vec<Point> = vec![];
        for point in points {
            let useful = front.last().is_none_or(|last| point.key() < last.key());
            if useful && (front.is_empty() || self.limit.is_none_or(|limit| point.bytes <= limit)) {
                front.push(point);
            }
        }
        let (count, last) = (front.len(), front.len().saturating_sub(1));
        if count <= most {
            return front;
        }
        let chosen: std::collections::BTreeSet<usize> = (0..most).map(|k| k * last / (most - 1)).collect();
        front.into_iter().enumerate().filter(|(k, _)| chosen.contains(k)).map(|(_, point)| point).collect()
    }

    /// What is left goes to the loop that gains the most from it; each is fitted once more, with time for its table.
    fn spend(&self, point: &mut Point) -> Result<(), Error> {
        let Some(limit) = self.limit.filter(|_| !self.alone) else { return Ok(()) };
        let mut order: Vec<usize> = point.loops.keys().copied().collect();
        order.sort_by_key(|number| std::cmp::Reverse(point.loops[number].fitted.work));
        for number in order {
            let left = limit.saturating_sub(point.bytes);
            let old = &point.loops[&number];
            let offer = old.fitted.bytes.saturating_add(left);
            let new = self.fitted(number, old.works, Some(offer), CELLS)?;
            if new.fitted.work < old.fitted.work && new.fitted.bytes <= offer {
                point.bytes = point.bytes.saturating_sub(old.fitted.bytes).saturating_add(new.fitted.bytes);
                point.loops.insert(number, Rc::new(new));
            }
        }
        // What loops inside of others gain does not show: the loops around them were fitted before.
        point.work = point.work.min(self.work(&self.facts.root, &point.loops));
        Ok(())
    }

    /// Work of a region with these shares.
    fn work(&self, region: &Region, loops: &BTreeMap<usize, Rc<Share>>) -> u128 {
        let works = |parts: &[Region]| parts.iter().map(|part| self.work(part, loops)).collect::<Vec<u128>>();
        match region {
            Region::Sequence(parts) => works(parts).into_iter().fold(0, u128::saturating_add),
            Region::Branches(parts) => works(parts).into_iter().max().unwrap_or(0),
            Region::Repeat { times, body } => self.work(body, loops).saturating_mul(u128::from(*times)),
            Region::Unwind(number) => loops.get(number).map_or(0, |share| share.fitted.work),
        }
    }
}

/// Levels of unwinds inside of the steps of each loop, forwards and backwards.
fn heights(facts: &Facts) -> Vec<[usize; 2]> {
    let mut heights = vec![[0; 2]; facts.loops.len()];
    // Loops come before those inside of them.
    for (number, facts) in facts.loops.iter().enumerate().rev() {
        heights[number] = [&facts.in_body, &facts.in_bwd].map(|region| height(region, &heights));
    }
    heights
}

fn height(region: &Region, inside: &[[usize; 2]]) -> usize {
    match region {
        Region::Sequence(parts) | Region::Branches(parts) => {
            parts.iter().map(|part| height(part, inside)).max().unwrap_or(0)
        }
        Region::Repeat { body, .. } => height(body, inside),
        Region::Unwind(number) => 1 + inside[*number].into_iter().fold(0, usize::max),
    }
}
