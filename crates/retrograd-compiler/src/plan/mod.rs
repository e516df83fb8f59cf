//! From a gradient Program and a budget to a Plan: what is kept, what is run again, and where every byte is.
//!
//! A [`Strategy`] sees facts about the loops and the bytes to spare, and returns a [`Decision`]; [`place::place`] applies it. The peak of a
//! plan is the size of the arena that the decision leads to, exactly: there is no other memory.

mod explain;
mod facts;
mod interchange;
mod pair;
pub mod place;
pub mod schedule;
mod split;
pub mod strategy;

use std::collections::BTreeMap;
use std::sync::Arc;

pub use explain::bytes_in_words;
pub use facts::{Facts, LoopFacts, Residual};
pub use strategy::Strategy;

use crate::ir::{Error, ErrorKind, FuncId, Lowering, Op, Pos, Program};
use crate::opt;
use place::{Placed, place};
use schedule::Schedule;

/// What is asked for: a strategy and a number of bytes.
#[derive(Clone, Debug)]
pub struct Request {
    /// Who decides.
    pub strategy: Arc<dyn Strategy>,
    /// Bytes of the arena; `None` is no limit.
    pub budget: Option<u64>,
}

/// The schedule of every unwind, by its bwd.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Decision {
    /// By bwd function.
    pub loops: BTreeMap<FuncId, LoopDecision>,
}

/// How one loop is reversed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LoopDecision {
    /// Which states are held when.
    pub schedule: Schedule,
    /// What a recorded step keeps.
    pub tape: Tape,
}

/// What a recorded step keeps.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tape {
    /// Every forward value that the adjoint of the step reads.
    Residuals,
    /// The state before the step; the rest is computed again.
    States,
}

/// A decision, applied; it prints.
#[derive(Clone, Debug)]
pub struct Plan {
    /// Name of the strategy.
    pub strategy: &'static str,
    /// The budget that was asked for.
    pub budget: Option<u64>,
    /// Bytes of the arena: the peak of a run, to the byte.
    pub bytes_peak: u64,
    /// The schedules.
    pub decision: Decision,
    /// Elements of a tile of each loop that runs tile by tile.
    pub tiles: Vec<usize>,
    /// What was known when they were chosen.
    pub facts: Facts,
    /// The Program in the order and memory in which it runs.
    pub placed: Placed,
}

/// Plans a Program: the strategy's decision for the most spare bytes that still fit the budget.
pub fn plan(program: &Program, request: &Request) -> Result<Plan, Error> {
    let program = &opt::all_calls(program);
    check_supported(program, program.entry)?;
    let tiled = if request.strategy.interchanges() { interchange::interchange(program) } else { None };
    let Some(tiled) = tiled else { return plan_as_is(program, request) };
    // In tiles a loop is faster and takes less memory, as a rule; where it does not fit, the loop may.
    match plan_as_is(&tiled.program, request) {
        Ok(plan) => Ok(Plan { tiles: tiled.tiles, ..plan }),
        Err(in_tiles) => plan_as_is(program, request).map_err(|error| if needed(&in_tiles) < needed(&error) { in_tiles } else { error }),
    }
}

/// The smallest budget that an error asks for.
fn needed(error: &Error) -> u64 {
    if let ErrorKind::OverBudget { needed, .. } = error.kind { needed } else { u64::MAX }
}

fn plan_as_is(program: &Program, request: &Request) -> Result<Plan, Error> {
    let facts = facts::facts(program);
    let strategy = &request.strategy;
    let attempt = |spare: Option<u64>| -> Result<(Decision, Placed), Error> {
        let decision = strategy.decide(&facts, spare)?;
        let placed = place(program, &decision);
        Ok((decision, placed))
    };
    let (decision, placed) = match request.budget {
        None => attempt(None)?,
        Some(budget) => within(budget, attempt)?,
    };
    let (strategy, budget) = (strategy.name(), request.budget);
    Ok(Plan { strategy, budget, bytes_peak: placed.bytes, decision, tiles: vec![], facts, placed })
}

/// Nothing is planned that cannot become machine code.
fn check_supported(program: &Program, id: FuncId) -> Result<(), Error> {
    for inst in &program.function(id).insts {
        let missing = match &inst.op {
            Op::Row(row, _) => row.lowering == Lowering::Missing,
            Op::If(_) | Op::For(_) | Op::While(_) | Op::Unwind(_) | Op::Call(_) => false,
        };
        if missing {
            let message = format!("`{}` has no machine code yet", inst.op.name());
            return Err(Error::new(ErrorKind::Unsupported, inst.pos.clone(), message));
        }
        inst.bodies().into_iter().try_for_each(|body| check_supported(program, body))?;
    }
    Ok(())
}

/// Starts from the least memory, offers what is left of the budget, and takes back what a decision overdraws.
fn within(budget: u64, attempt: impl Fn(Option<u64>) -> Result<(Decision, Placed), Error>) -> Result<(Decision, Placed), Error> {
    // What needs no spare bytes is not always the least: a short loop is recorded in less than a schedule's words take.
    let (modest, free) = (attempt(Some(0))?, attempt(None)?);
    let least = if free.1.bytes < modest.1.bytes { free } else { modest };
    let needed = least.1.bytes;
    if needed > budget {
        let message = format!(
            "the budget is {}; the smallest that this strategy can work with is {}",
            explain::exactly(budget),
            explain::exactly(needed)
        );
        return Err(Error::new(ErrorKind::OverBudget { needed, budget }, Pos::unknown(), message));
    }
    let mut spare = budget - needed;
    while spare > 0 {
        let (decision, placed) = attempt(Some(spare))?;
        if placed.bytes <= budget {
            return Ok((decision, placed));
        }
        spare = spare.saturating_sub(placed.bytes - budget);
    }
    Ok(least)
}
