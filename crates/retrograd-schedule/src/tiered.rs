//! A recipe over two tiers: which states go to the disk, and what is done in memory between them.

use std::collections::BTreeMap;

use super::recipe::{Key, Parts};
use super::{Part, PartId, Recipe, Sweep};
use crate::optimal::tiers::{Origin, Tiers};
use crate::optimal::{JointReversal, Place, SplitReversal};

/// The tables of a loop whose states may go to the disk at every `grain`-th step, counted from its end.
#[derive(Debug)]
pub struct Tiered<'t> {
    /// In memory, reversed at once.
    pub joint: &'t JointReversal<'t>,
    /// In memory, in the middle of a program.
    pub split_reversal: Option<&'t SplitReversal<'t>>,
    /// Over both, by grains.
    pub tiers: &'t Tiers,
    /// Steps of a grain.
    pub grain: u64,
    /// Units of memory.
    pub units: usize,
}

/// A range of steps at whose start nothing is in memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Range {
    of_sweep: bool,
    origin: Origin,
    grains: usize,
    slots: usize,
}

impl Tiered<'_> {
    /// The program of least work for so many steps and slots of the disk.
    pub fn recipe(&self, steps: u64, slots: usize, state_bytes: u64, record_bytes: Vec<u64>) -> Recipe {
        let of_sweep = self.split_reversal.is_some();
        let root = Range { of_sweep, origin: Origin::Start, grains: (steps / self.grain) as usize, slots };
        let mut making =
            Making { tables: self, lead: steps % self.grain, parts: Parts::default(), made: BTreeMap::new() };
        let root = making.part(root);
        let sweep = if of_sweep { Sweep::Split } else { Sweep::Joint };
        Recipe { steps, sweep, state_bytes, record_bytes, parts: making.parts.list, root }
    }
}

struct Making<'t> {
    tables: &'t Tiered<'t>,
    /// Steps before the first grain.
    lead: u64,
    parts: Parts,
    made: BTreeMap<Range, Option<PartId>>,
}

impl Making<'_> {
    fn part(&mut self, range: Range) -> Option<PartId> {
        if let Some(known) = self.made.get(&range) {
            return *known;
        }
        let Range { of_sweep, origin, grains, slots } = range;
        let part = match self.tables.tiers.split(of_sweep, origin, grains, slots) {
            None => self.in_memory(range),
            Some(split) => {
                let after = self.tables.tiers.slots_after(origin, slots);
                let right =
                    self.part(Range { of_sweep, origin: Origin::Working, grains: grains - split, slots: after });
                let from = if origin == Origin::Start { Origin::Start } else { Origin::Disk };
                let left = self.part(Range { of_sweep: false, origin: from, grains: split, slots });
                let advance = self.steps(origin, split);
                let some = |part: Option<PartId>| part.expect("the parts of a split have steps, or end a sweep");
                Some(self.parts.add(Part::Spill { advance, right: some(right), left: some(left) }))
            }
        };
        self.made.insert(range, part);
        part
    }

    fn in_memory(&mut self, range: Range) -> Option<PartId> {
        let (place, steps) = match range.origin {
            Origin::Start => (Place::First, self.steps(Origin::Start, range.grains)),
            Origin::Working | Origin::Disk => (Place::Later, self.steps(range.origin, range.grains)),
        };
        let key = Key { split_reversal: range.of_sweep, place, steps: steps as usize, free: self.tables.units };
        self.parts.of_cell(self.tables.joint, self.tables.split_reversal, key)
    }

    fn steps(&self, origin: Origin, grains: usize) -> u64 {
        let lead = if origin == Origin::Start { self.lead } else { 0 };
        grains as u64 * self.tables.grain + lead
    }
}
