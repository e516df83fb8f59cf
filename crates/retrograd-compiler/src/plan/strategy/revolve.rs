//! Binomial checkpointing: the fewest forward steps for the snapshots that fit.

use super::{Strategy, each};
use crate::ir::Error;
use crate::plan::schedule::{self, Schedule};
use crate::plan::{Decision, Facts, LoopDecision, LoopFacts, Tape};

/// As many snapshots as fit, placed by Revolve; nothing is recorded.
#[derive(Clone, Copy, Debug)]
pub struct Revolve;

/// Slots of a loop whose length is known only at run time, when there is no budget: up to 170,000 steps run at most three times again.
const SLOTS_WITHOUT_BUDGET: u64 = 100;

impl Strategy for Revolve {
    fn name(&self) -> &'static str {
        "revolve"
    }

    fn decide(&self, facts: &Facts, spare: Option<u64>) -> Result<Decision, Error> {
        each(facts, spare, |facts, share| {
            Ok(LoopDecision { schedule: Schedule::Revolve { slots: slots(facts, share) }, tape: Tape::States })
        })
    }
}

/// Slots that fit the spare bytes: the first is the loop's start value, each further one costs a state and a word of the controller.
pub(super) fn slots(facts: &LoopFacts, share: Option<u64>) -> u64 {
    let fit = share.map_or(SLOTS_WITHOUT_BUDGET, |bytes| 1 + bytes / (facts.state_bytes + 8));
    match facts.count {
        None => fit.min(1 << 20),
        Some(count) => fit.min(schedule::slots(Schedule::Revolve { slots: count.max(1) }, facts.sweep, count)).max(1),
    }
}
