//! Keep nothing of any step.

use super::{Rematerialise, Strategy};
use crate::ir::Error;
use crate::plan::decision::Decision;
use crate::plan::search::facts::Facts;
use crate::plan::search::share::share;

/// Every state is computed again from the start of its loop, and values outside of loops where they are read: the least
/// memory there is, and the most work.
#[derive(Clone, Copy, Debug)]
pub struct RecomputeAll;

impl Strategy for RecomputeAll {
    fn name(&self) -> &'static str {
        "recompute_all"
    }

    fn rematerialise(&self) -> Rematerialise {
        Rematerialise::Most
    }

    fn decide(&self, facts: &Facts, _: Option<u64>) -> Result<Decision, Error> {
        share(facts, Some(0), &|inside, _| Ok(inside.met(|sweep| inside.revolve(sweep, Some(0)))))
    }
}
