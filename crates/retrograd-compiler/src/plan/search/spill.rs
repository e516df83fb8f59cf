//! The fastest way to reverse one loop with states on a disk, too.
//!
//! What goes to the disk is decided by the recurrence over two tiers, over the tables of what is done in memory. Those
//! tables reach as far as one segment between states on disk; in a long loop a state goes there only at every so many
//! steps.

use crate::plan::analysis::work::{ACTION, SECOND};
use crate::plan::decision::Spill;
use crate::plan::search::fit::{Fitted, Inside, QUICK, Records, Shifted, unit, up};
use retrograd_schedule::optimal::tiers::{Disk, Fast, Tiers};
use retrograd_schedule::optimal::{JointReversal, Place, SplitReversal};
use retrograd_schedule::{SUM_BYTES, Sweep, Tiered};

/// Steps up to which memory joint is asked, and most places in a loop at which a state may go to the disk.
const REACH: u64 = 2000;

/// A loop of more steps has no states on the disk: between two of them there would be more steps than memory joint is
/// asked for.
pub(in crate::plan) const LONGEST_ON_DISK: u64 = REACH * REACH;

/// Units of memory that tables reach far with, and cells of those over both tiers for every one of those in memory.
const UNITS: u64 = 100;
const CELLS_OF_TIERS: u64 = 3;

/// Bytes of the controller for every state that is on the disk.
const FRAME_BYTES: u64 = 32;

impl<'f> Inside<'f> {
    /// What the recurrence over two tiers says, where there is a disk and memory is limited.
    pub(in crate::plan) fn over_tiers(self, way: &Records<'f>, bytes: Option<u64>) -> Option<Fitted> {
        let (spill, bytes) = (self.spill?, bytes?);
        let state = self.facts.state_bytes;
        // The controller remembers every state in memory: that should not take what could hold states.
        let slots = (spill.bytes / (state + SUM_BYTES)).min(bytes / 4 / FRAME_BYTES);
        // While bytes are shared the tables are small: more steps between two places than they reach.
        let far = (self.cells / (UNITS * QUICK)).min(REACH);
        let reach = way.count.min(far);
        if slots == 0 || way.count < 2 || bytes < state || way.count > far * far {
            return None;
        }
        let near = Records { sweep: way.sweep, choices: way.choices.clone(), count: reach };
        let limit = bytes.min(reach.saturating_mul(near.sizes(state).max()?));
        let unit = unit(near.sizes(state), limit, self.cells / (reach * QUICK))?;
        let steps = self.steps(&near, unit, up)?;
        let mut units = (limit / unit) as usize;
        let joint = JointReversal::quick(&steps.costs, reach as usize, units);
        let split_reversal = (way.sweep == Sweep::Split).then(|| SplitReversal::new(&joint, reach as usize, units, 0));
        loop {
            let found = self.tiered(way, (&joint, split_reversal.as_ref()), &steps, units, (slots, spill, far))?;
            match found.bytes.checked_sub(bytes).filter(|over| *over > 0) {
                None => return Some(Fitted { tried: joint.tried().saturating_mul(2), ..found }),
                Some(over) => units = units.checked_sub(over.div_ceil(unit) as usize)?,
            }
        }
    }

    /// In so many units of memory.
    fn tiered(
        self,
        way: &Records<'f>,
        (joint, split_reversal): (&JointReversal<'_>, Option<&SplitReversal<'_>>),
        steps: &Shifted,
        units: usize,
        (slots, spill, far): (u64, Spill, u64),
    ) -> Option<Fitted> {
        // As many places as there is time for; no more states can be on the disk at once.
        let grain = way.count.div_ceil((CELLS_OF_TIERS * self.cells / slots).isqrt().max(slots).min(far));
        let (grains, lead) = ((way.count / grain) as usize, way.count % grain);
        let fast = |work: &dyn Fn(Place, usize) -> Option<u64>| {
            let row = |place: Place, lead: u64| {
                let steps = (0..=grains).map(|k| k as u64 * grain + lead);
                let work = |steps: u64| if steps <= way.count.min(far) { work(place, steps as usize) } else { None };
                steps.map(|steps| work(steps).map_or(f64::INFINITY, |work| work as f64)).collect()
            };
            Fast { later: row(Place::Later, 0), first: row(Place::First, lead) }
        };
        let in_memory = fast(&|place, steps| joint.work(place, steps, units));
        let sweep = split_reversal.map(|split_reversal| fast(&|place, steps| split_reversal.work(place, steps, units)));
        let scale = 2f64.powi(steps.shift as i32);
        let access =
            (self.facts.state_bytes as f64 * SECOND / spill.bytes_per_second.max(1) as f64 + ACTION as f64) / scale;
        let advance = self.advance() as f64 / scale;
        // Steps before the first grain are there even where they are no work.
        let before = if lead > 0 { (lead as f64 * advance).max(1e-9) } else { 0.0 };
        let over = |slots: Option<usize>| {
            let disk = Disk { slots, write: access, read: access };
            let tiers = Tiers::new(in_memory.clone(), sweep.clone(), grain as f64 * advance, before, disk);
            let work = if split_reversal.is_some() {
                tiers.work_of_sweep(grains)
            } else {
                tiers.work(retrograd_schedule::optimal::tiers::Origin::Start, grains, slots.unwrap_or(1))
            };
            let tables = Tiered { joint, split_reversal, tiers: &tiers, grain, units };
            work.is_finite().then(|| {
                let recipe =
                    tables.recipe(way.count, slots.unwrap_or(1), self.facts.state_bytes, Self::record_bytes(way));
                (recipe, (work * scale) as u128)
            })
        };
        let most = slots * (self.facts.state_bytes + SUM_BYTES);
        // What a disk without limit cannot do, one with a limit cannot either.
        let unlimited = over(None)?;
        let (recipe, work) = if unlimited.0.spill_bytes() <= most { unlimited } else { over(Some(slots as usize))? };
        if recipe.spill_bytes() == 0 {
            return None;
        }
        Some(self.recipe(way, recipe, work.max(self.own(way.sweep, way.count))))
    }
}
