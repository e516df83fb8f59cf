//! No plan in so many bytes does less work than this.
//!
//! Every loop is given all the memory there is, states are held and found again for nothing, controllers take nothing, and sizes are
//! rounded down: what the recurrences then say is a bound for every schedule of states and records. A loop that is too long for them is
//! bounded by Revolve where no record fits, and by its work without a limit otherwise.

use super::facts::{Facts, Region};
use super::fit::{Inside, Records};
use super::optimal::{Alone, Paired, Place};
use super::schedule::{Schedule, Sweep, counts};

/// Cells that a table of one loop may take time for.
const CELLS: u64 = 30_000_000;

/// The bound for a Program, in additions.
pub(super) fn bound(facts: &Facts, bytes: u64) -> u128 {
    u128::from(facts.cost).saturating_add(Bound { facts, bytes }.region(&facts.root))
}

struct Bound<'f> {
    facts: &'f Facts,
    bytes: u64,
}

impl Bound<'_> {
    fn region(&self, region: &Region) -> u128 {
        match region {
            Region::Sequence(parts) | Region::Branches(parts) => parts.iter().map(|part| self.region(part)).fold(0, u128::saturating_add),
            Region::Repeat { times, body } => self.region(body).saturating_mul(u128::from(*times)),
            Region::Unwind(number) => self.unwind(*number),
        }
    }

    fn unwind(&self, number: usize) -> u128 {
        let facts = &self.facts.loops[number];
        let work = |region: &Region| u64::try_from(self.region(region)).unwrap_or(u64::MAX).min(1 << 50);
        let inside = Inside { facts, forward: work(&facts.in_body), backward: work(&facts.in_bwd), cells: CELLS, spill: None };
        let free = inside.fit(None).work;
        let Some(count) = facts.count.filter(|count| *count > 0 && !facts.keeps_nothing() && self.facts.spill.is_none()) else {
            return free;
        };
        let ways = facts.sweeps.iter().flat_map(|sweep| inside.records(*sweep, count));
        let works: Option<Vec<u128>> = ways.map(|way| self.relaxed(inside, &way)).collect();
        works.and_then(|works| works.into_iter().min()).map_or(free, |least| least.max(free))
    }

    /// The least work of a loop whose memory costs nothing but its bytes; none where that is not known.
    fn relaxed(&self, inside: Inside<'_>, way: &Records<'_>) -> Option<u128> {
        let (state, count) = (inside.facts.state_bytes.max(1), way.count);
        if way.choices.iter().all(|choice| choice.bytes > self.bytes) {
            let slots = (1 + self.bytes / state).min(count);
            let counts = counts(&Schedule::Revolve { slots, state_bytes: state }, way.sweep, count);
            let work = counts.advances * u128::from(inside.advance()) + counts.turnbacks * u128::from(inside.turn());
            return Some(work - inside.own(way.sweep, count));
        }
        let units = CELLS.checked_div(count.checked_mul(count)?)?.min(256);
        let unit = self.bytes.div_ceil(units.max(1)).max(1);
        if units == 0 || way.sizes(state).any(|size| size < unit) {
            return None;
        }
        let mut steps = inside.steps(way, unit)?;
        let down = |bytes: u64| (bytes.max(1) / unit) as usize;
        (steps.costs.state, steps.costs.hold) = (down(state), 0);
        steps.costs.choices.iter_mut().zip(&way.choices).for_each(|(costs, choice)| costs.units = down(choice.bytes));
        let (count, units) = (count as usize, (self.bytes / unit) as usize);
        let alone = Alone::new(&steps.costs, count, units);
        let work = match way.sweep {
            Sweep::Paired => Paired::new(&alone, count, units, 0).work(Place::First, count, units),
            Sweep::Alone | Sweep::Online => alone.work(Place::First, count, units),
        }?;
        (u128::from(work) << steps.shift).checked_sub(inside.own(way.sweep, way.count))
    }
}
