//! The default: the fastest plan that fits.

use super::{Strategy, each, periodic::least_period, revolve::slots};
use crate::ir::Error;
use crate::plan::schedule::{self, Schedule};
use crate::plan::{Decision, Facts, LoopDecision, LoopFacts, Tape};

/// For each loop the cheapest of: keep all, periodic, revolve; with residuals or states on the tape.
#[derive(Clone, Copy, Debug)]
pub struct Auto;

impl Strategy for Auto {
    fn name(&self) -> &'static str {
        "auto"
    }

    fn interchanges(&self) -> bool {
        true
    }

    fn decide(&self, facts: &Facts, spare: Option<u64>) -> Result<Decision, Error> {
        each(facts, spare, |facts, share| Ok(cheapest(facts, share)))
    }
}

fn cheapest(facts: &LoopFacts, share: Option<u64>) -> LoopDecision {
    let revolve = LoopDecision { schedule: Schedule::Revolve { slots: slots(facts, share) }, tape: Tape::States };
    let Some(count) = facts.count else { return revolve };
    let mut candidates = vec![];
    for tape in [Tape::Residuals, Tape::States] {
        candidates.push(LoopDecision { schedule: Schedule::KeepAll, tape });
        candidates.push(LoopDecision { schedule: Schedule::Periodic { period: least_period(facts, count) }, tape });
    }
    candidates.push(revolve);
    let fits = |decision: &LoopDecision| share.is_none_or(|share| extra_bytes(facts, *decision, count) <= share);
    candidates.into_iter().filter(fits).min_by_key(|decision| cost(facts, *decision, count)).unwrap_or(revolve)
}

/// Bytes beyond a plan without snapshots.
fn extra_bytes(facts: &LoopFacts, decision: LoopDecision, count: u64) -> u64 {
    let row = match decision.tape {
        Tape::Residuals => facts.residual_bytes(),
        Tape::States => facts.state_bytes,
    };
    let rows = if decision.schedule.tapes() { schedule::tape_rows(decision.schedule, count) } else { 0 };
    let copies = schedule::slots(decision.schedule, facts.sweep, count).saturating_sub(1);
    rows.saturating_mul(row).saturating_add(copies.saturating_mul(facts.state_bytes)).saturating_add(8 * decision.schedule.words() as u64)
}

/// Predicted work, in additions: every forward step, and every step backwards.
fn cost(facts: &LoopFacts, decision: LoopDecision, count: u64) -> u128 {
    let backwards = match (decision.schedule.tapes(), decision.tape) {
        (true, Tape::Residuals) => facts.cost_reverse,
        (true, Tape::States) | (false, _) => facts.cost_turnback,
    };
    // A turnback computes the forward part of its step itself.
    let forwards = schedule::counts(decision.schedule, facts.sweep, count);
    let steps = forwards.advances + u128::from(forwards.taped);
    steps * u128::from(facts.cost_forward) + u128::from(count) * u128::from(backwards)
}
