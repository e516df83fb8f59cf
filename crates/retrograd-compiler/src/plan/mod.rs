//! From a gradient Program and a budget to a Plan: what is kept, what is run again, and where every byte is.
//!
//! Five stages, in this order; each uses only those before it. `analysis` says what is known of a Program. `transform`
//! makes other Programs that compute the same. `memory` places one [`Decision`]: its bytes are the peak, exactly, since
//! there is no other memory. `search` decides: a [`Strategy`] sees facts about the loops and the bytes to spare, and of
//! all candidates the plan of least work is taken. `explain` says it in words. `decided` stores and checks decisions.

mod analysis;
mod decided;
mod decision;
mod explain;
pub mod memory;
mod search;
mod transform;

pub use analysis::bytes::bytes_in_words;
pub use analysis::grain::{Grain, MOST_THREADS};
pub use analysis::layout::row_layout;
pub use analysis::work::SimdTarget;
pub use decided::Decided;
pub use decision::{Cut, Decision, LoopDecision, Rematerialised, Spill, Way};
pub use explain::{Curve, CurvePoint, LoopReport, ResidualReport, Usage};
pub use search::cut::{Fate, Search};
pub use search::facts::{ChoiceFacts, Facts, LoopFacts, Region, Residual};
pub use search::strategy::{self, Strategy};
pub use search::{Effort, Plan, Request};
pub use transform::interchange::Tiling;
pub use transform::undo::Logged;

use analysis::bytes::exactly;
use transform::split_branches::branch_split;

use crate::ir::{Error, ErrorKind, Pos, Program, verify};

/// Plans a Program: the plan of the least work that fits the budget, of all candidates.
pub fn plan(program: &Program, request: &Request) -> Result<Plan, Error> {
    // Machine code trusts what is planned, and a strategy can be anybody's.
    verify(program)?;
    let plan = search::search(program, request)?;
    decided::check(&branch_split(&plan.program, request.vectors), &plan.decision)?;
    Ok(plan)
}

impl Curve {
    /// Plans a Program at many budgets, and at the one that was asked for.
    pub fn new(program: &Program, chosen: &Plan, request: &Request) -> Result<Curve, Error> {
        Curve::through(chosen, |budget| plan(program, &Request { budget, ..request.clone() }))
    }
}

/// Plans a Program without a budget, unless that takes more than is offered: then within what is offered, and the Plan
/// says so.
///
/// ```
/// use retrograd_compiler::plan::{Request, plan_within, strategy};
/// let program = retrograd_compiler::ops::parse("fn main(%x: f64[8]) -> f64[8] {\n  %0: f64[8] = sin %x\n  return %0\n}\n", "sin.rg")?;
/// let request = Request::by(strategy::find("auto").unwrap());
/// assert_eq!(plan_within(&program, &request, 1 << 30)?.offered, None);
/// # Ok::<(), retrograd_compiler::ir::Error>(())
/// ```
pub fn plan_within(program: &Program, request: &Request, offer: u64) -> Result<Plan, Error> {
    let free = plan(program, request)?;
    if request.budget.is_some() || free.bytes_peak <= offer {
        return Ok(free);
    }
    let mut found =
        plan(program, &Request { budget: Some(offer), ..request.clone() }).map_err(|error| beyond(error, offer))?;
    // Nobody asked for all that there is: what makes next to nothing faster is left to others.
    let most = found.decision.work + found.decision.work / MIN_GAIN;
    while let Ok(half) = plan(program, &Request { budget: Some(found.bytes_peak / 2), ..request.clone() })
        && half.decision.work <= most
    {
        found = Plan { effort: found.effort + half.effort, ..half };
    }
    Ok(Plan { budget: None, offered: Some(offer), ..found })
}

/// Of the work of a plan, what memory that nobody gave must save.
const MIN_GAIN: u128 = 64;

/// What nobody gave as a budget is not called one.
fn beyond(error: Error, offer: u64) -> Error {
    let ErrorKind::OverBudget { needed, .. } = error.kind else { return error };
    let message = format!("the plan needs {}; the machine can spare {}", exactly(needed), exactly(offer));
    Error::new(ErrorKind::OutOfMemory { needed }, Pos::unknown(), message)
}
