//! A snapshot every so many steps; between two of them everything is recorded when it is to be reversed.

use super::{Strategy, each, known_count};
use crate::ir::Error;
use crate::plan::schedule::Schedule;
use crate::plan::{Decision, Facts, LoopDecision, LoopFacts, Tape};

/// Two levels: snapshots every `period` steps, every step run about twice.
#[derive(Clone, Copy, Debug)]
pub struct Periodic {
    /// Steps between snapshots; `None` takes the period that needs the least memory.
    pub period: Option<u64>,
}

impl Strategy for Periodic {
    fn name(&self) -> &'static str {
        "periodic"
    }

    fn decide(&self, facts: &Facts, spare: Option<u64>) -> Result<Decision, Error> {
        each(facts, spare, |facts, _| {
            let count = known_count(facts, self.name())?;
            let period = self.period.unwrap_or_else(|| least_period(facts, count)).max(1);
            Ok(LoopDecision { schedule: Schedule::Periodic { period }, tape: Tape::Residuals })
        })
    }
}

/// The period with the least memory: snapshots and tape together are n/k·a + k·b bytes, least at k = √(n a / b).
pub(super) fn least_period(facts: &LoopFacts, count: u64) -> u64 {
    let ratio = facts.state_bytes as f64 / facts.residual_bytes().max(1) as f64;
    ((count as f64 * ratio).sqrt().round() as u64).clamp(1, count.max(1))
}
