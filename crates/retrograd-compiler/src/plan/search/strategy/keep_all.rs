//! Keep every residual of every step.

use super::{Strategy, known_count};
use crate::ir::Error;
use crate::plan::decision::Decision;
use crate::plan::search::facts::Facts;
use crate::plan::search::share::share;

/// Every residual of every step is kept; every step runs once.
#[derive(Clone, Copy, Debug)]
pub struct KeepAll;

impl Strategy for KeepAll {
    fn name(&self) -> &'static str {
        "keep_all"
    }

    fn decide(&self, facts: &Facts, _: Option<u64>) -> Result<Decision, Error> {
        share(facts, None, &|inside, _| {
            if inside.facts.keeps_nothing() {
                return Ok(inside.nothing());
            }
            let (count, choice) = (known_count(inside.facts, self.name())?, inside.facts.everything());
            Ok(inside.met(|sweep| inside.periodic(choice.sweep(sweep), choice, count.max(1), count)))
        })
    }
}
