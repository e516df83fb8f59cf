//! Strategies: facts and spare bytes in, a decision out. A new one is a file and a line of the table.

mod auto;
mod keep_all;
mod periodic;
mod revolve;

pub use auto::Auto;
pub use keep_all::KeepAll;
pub use periodic::Periodic;
pub use revolve::Revolve;

use std::sync::Arc;

use super::{Decision, Facts, LoopDecision, LoopFacts};
use crate::ir::{Error, ErrorKind};

/// Decides the schedule of every loop. It only decides; `place` applies.
pub trait Strategy: std::fmt::Debug + Send + Sync {
    /// Name in options and plans.
    fn name(&self) -> &'static str;

    /// Whether loops that treat elements alike may run tile by tile.
    fn interchanges(&self) -> bool {
        false
    }

    /// The fastest decision of this strategy that needs at most `spare` bytes more than its smallest one; `None` is no limit.
    fn decide(&self, facts: &Facts, spare: Option<u64>) -> Result<Decision, Error>;
}

/// All strategies, with their parameters left to them; the first is the default.
pub fn all() -> [Arc<dyn Strategy>; 4] {
    [Arc::new(Auto), Arc::new(KeepAll), Arc::new(Periodic { period: None }), Arc::new(Revolve)]
}

/// The strategy of that name.
pub fn find(name: &str) -> Option<Arc<dyn Strategy>> {
    all().into_iter().find(|strategy| strategy.name() == name)
}

/// One decision per loop, each with an equal share of the spare bytes.
fn each(
    facts: &Facts,
    spare: Option<u64>,
    decide: impl Fn(&LoopFacts, Option<u64>) -> Result<LoopDecision, Error>,
) -> Result<Decision, Error> {
    let share = spare.map(|bytes| bytes / (facts.loops.len() as u64).max(1));
    let loops = facts.loops.iter().map(|facts| Ok((facts.bwd, decide(facts, share)?))).collect::<Result<_, Error>>()?;
    Ok(Decision { loops })
}

/// The count of a loop, for strategies that must know it before the run.
fn known_count(facts: &LoopFacts, strategy: &str) -> Result<u64, Error> {
    facts.count.ok_or_else(|| {
        let message = format!(
            "`{strategy}` needs the number of steps before the run, and this loop's is known only at run time; use `revolve` or `auto`"
        );
        Error::new(ErrorKind::Unsupported, facts.pos.clone(), message)
    })
}
