//! Binomial checkpointing: the fewest forward steps for the snapshots that fit.

use super::Strategy;
use crate::ir::Error;
use crate::plan::decision::Decision;
use crate::plan::search::facts::Facts;
use crate::plan::search::share::share;

/// As many snapshots as fit, placed by Revolve; nothing is recorded.
#[derive(Clone, Copy, Debug)]
pub struct Revolve;

impl Strategy for Revolve {
    fn name(&self) -> &'static str {
        "revolve"
    }

    fn decide(&self, facts: &Facts, limit: Option<u64>) -> Result<Decision, Error> {
        share(facts, limit, &|inside, bytes| Ok(inside.met(|sweep| inside.revolve(sweep, bytes))))
    }
}
