//! A snapshot every so many steps; between two of them everything is recorded when it is to be reversed.

use super::{Strategy, known_count, positive};
use crate::ir::Error;
use crate::plan::decision::Decision;
use crate::plan::search::facts::{Facts, LoopFacts};
use crate::plan::search::share::share;

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

    fn decide(&self, facts: &Facts, _: Option<u64>) -> Result<Decision, Error> {
        self.period.map_or(Ok(()), |period| positive("a period", period))?;
        share(facts, None, &|inside, _| {
            if inside.facts.keeps_nothing() {
                return Ok(inside.nothing());
            }
            let (count, choice) = (known_count(inside.facts, self.name())?, inside.facts.everything());
            let period = self.period.unwrap_or_else(|| least_period(inside.facts, count));
            Ok(inside.met(|sweep| inside.periodic(choice.sweep(sweep), choice, period, count)))
        })
    }
}

/// The period with the least memory: snapshots and records together are n/k·a + k·b bytes, least at k = √(n a / b).
fn least_period(facts: &LoopFacts, count: u64) -> u64 {
    let ratio = facts.state_bytes as f64 / facts.everything().bytes.max(1) as f64;
    ((count as f64 * ratio).sqrt().round() as u64).clamp(1, count.max(1))
}
