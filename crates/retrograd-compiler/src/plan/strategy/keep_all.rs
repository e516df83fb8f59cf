//! Keep every residual of every step.

use super::{Strategy, each, known_count};
use crate::ir::Error;
use crate::plan::schedule::Schedule;
use crate::plan::{Decision, Facts, LoopDecision, Tape};

/// Every residual of every step is kept; every step runs once.
#[derive(Clone, Copy, Debug)]
pub struct KeepAll;

impl Strategy for KeepAll {
    fn name(&self) -> &'static str {
        "keep_all"
    }

    fn decide(&self, facts: &Facts, spare: Option<u64>) -> Result<Decision, Error> {
        each(facts, spare, |facts, _| {
            known_count(facts, self.name())?;
            Ok(LoopDecision { schedule: Schedule::KeepAll, tape: Tape::Residuals })
        })
    }
}
