//! Strategies: facts and a limit of bytes in, a decision out. A new one is a file and a line of the table.

mod auto;
mod ilp;
mod keep_all;
mod periodic;
mod recompute_all;
mod revolve;
mod user;

pub use auto::Auto;
pub use ilp::Ilp;
pub use keep_all::KeepAll;
pub use periodic::Periodic;
pub use recompute_all::RecomputeAll;
pub use revolve::Revolve;
pub use user::{LoopFate, User};

use std::sync::Arc;

use crate::ir::{Error, ErrorKind, Pos};
use crate::plan::analysis::grain::Grain;
use crate::plan::decision::Decision;
use crate::plan::search::cut::{Fate, Search};
use crate::plan::search::facts::{Facts, LoopFacts};
use crate::plan::transform::interchange::Tiling;

/// Decides the schedule of every loop. It only decides; `place` applies.
pub trait Strategy: std::fmt::Debug + Send + Sync {
    /// Name in options and plans.
    fn name(&self) -> &'static str;

    /// How large the tiles are in which code that treats elements alike runs, where it may.
    fn tiling(&self) -> Option<Tiling> {
        None
    }

    /// Whether a loop in a loop may run as one.
    fn coalesces(&self) -> bool {
        false
    }

    /// Whether a loop may keep a log of what its steps overwrite.
    fn undoes(&self) -> bool {
        false
    }

    /// The fastest decision of this strategy whose pools and controllers take at most `limit` bytes, or its smallest
    /// where none fits; `None` is no limit.
    fn decide(&self, facts: &Facts, limit: Option<u64>) -> Result<Decision, Error>;

    /// Which cuts of a step it wants to choose from.
    fn search(&self) -> Search {
        Search::Hull
    }

    /// Whether code outside of loops may run again.
    fn rematerialise(&self) -> Rematerialise {
        Rematerialise::Never
    }

    /// How much code is one function, and how much work is worth several threads.
    fn grain(&self) -> Grain {
        Grain::default()
    }

    /// What is decided beforehand about a value, by what makes it and its line, such as `sin at model.py:12`.
    fn fate(&self, _origin: &str) -> Option<Fate> {
        None
    }
}

/// What of the code outside of loops runs again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rematerialise {
    /// Nothing.
    Never,
    /// As little as the budget allows.
    Fit,
    /// As much as takes the fewest bytes.
    Most,
}

/// All strategies, with their parameters left to them; the first is the default.
pub fn all() -> [Arc<dyn Strategy>; 7] {
    [
        Arc::new(Auto),
        Arc::new(KeepAll),
        Arc::new(RecomputeAll),
        Arc::new(Periodic { period: None }),
        Arc::new(Revolve),
        Arc::new(Ilp),
        Arc::new(User::default()),
    ]
}

/// The strategy of that name.
pub fn find(name: &str) -> Option<Arc<dyn Strategy>> {
    all().into_iter().find(|strategy| strategy.name() == name)
}

/// A number of steps or slots that the user gave.
fn positive(what: &str, number: u64) -> Result<(), Error> {
    if number > 0 {
        return Ok(());
    }
    Err(Error::new(ErrorKind::Argument, Pos::unknown(), format!("{what} is at least 1, found 0")))
}

/// The count of a loop, for strategies that must know it before the run.
fn known_count(facts: &LoopFacts, strategy: &str) -> Result<u64, Error> {
    facts.count.ok_or_else(|| {
        let message = format!(
            "`{strategy}` needs the number of steps before the run, and this loop's is known only at run time; use \
             `revolve` or `auto`"
        );
        Error::new(ErrorKind::Unsupported, facts.pos.clone(), message)
    })
}
