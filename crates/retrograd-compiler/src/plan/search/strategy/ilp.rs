//! Every step is recorded; what is kept of it is the solution of an integer program.

use super::{Rematerialise, Strategy, known_count};
use crate::ir::Error;
use crate::plan::decision::Decision;
use crate::plan::search::cut::Search;
use crate::plan::search::facts::Facts;
use crate::plan::search::share::share;

/// No step runs twice: inside its code, values are kept or computed again so that the records fit and the least work is
/// done.
#[derive(Clone, Copy, Debug)]
pub struct Ilp;

impl Strategy for Ilp {
    fn name(&self) -> &'static str {
        "ilp"
    }

    fn rematerialise(&self) -> Rematerialise {
        Rematerialise::Fit
    }

    fn decide(&self, facts: &Facts, limit: Option<u64>) -> Result<Decision, Error> {
        share(facts, limit, &|inside, bytes| {
            if inside.facts.keeps_nothing() {
                return Ok(inside.nothing());
            }
            let count = known_count(inside.facts, self.name())?;
            Ok(inside.met(|sweep| inside.recorded(sweep, count, bytes)))
        })
    }

    fn search(&self) -> Search {
        Search::Integer
    }
}
