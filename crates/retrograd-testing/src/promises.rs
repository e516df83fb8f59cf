//! What plans promise about budgets: the one that a refusal names is the least, and more memory is never more work.

use std::collections::BTreeMap;
use std::sync::Arc;

use retrograd_compiler::ir::{Error, ErrorKind, Program};
use retrograd_compiler::plan::{LoopFacts, Plan, Request, Strategy, plan};

/// Work of the plans of one strategy by their budgets; `None` is no limit.
struct Plans<'p> {
    program: &'p Program,
    request: Request,
    /// The budget that a refusal of 0 bytes names.
    needed: u64,
    /// Work and bytes without a budget.
    least_work: u128,
    bytes_free: u64,
    /// Whether some loop has a length that is known at run time only.
    is_open: bool,
    works: BTreeMap<u64, u128>,
}

/// The budget that a refusal names is accepted, every smaller one is refused, and no plan has a peak below it; a plan
/// without a budget is no more work than one with, nor one with more bytes than one with fewer. The budgets are those
/// of a bisection between what is refused and what is accepted, and some up to more than what everything takes.
pub fn check_budgets(program: &Program, strategy: &Arc<dyn Strategy>, threads: usize) -> Result<(), String> {
    let request = Request { threads, ..Request::by(strategy.clone()) };
    let free = match plan(program, &request) {
        Ok(plan) => plan,
        // A strategy that must know a count says so, whatever the budget.
        Err(error) if error.kind == ErrorKind::Unsupported => return Ok(()),
        Err(error) => return Err(error.to_string()),
    };
    let needed = match plan(program, &Request { budget: Some(0), ..request.clone() }) {
        Ok(plan) if plan.bytes_peak == 0 => return Ok(()),
        Ok(plan) => return Err(format!("a budget of 0 bytes gave a peak of {}", plan.bytes_peak)),
        Err(Error { kind: ErrorKind::OverBudget { needed, .. }, .. }) => needed,
        Err(error) => return Err(error.to_string()),
    };
    let is_open = free.facts.loops.iter().any(LoopFacts::is_open);
    let (least_work, bytes_free) = (free.decision.work, free.bytes_peak);
    let mut plans = Plans { program, request, needed, least_work, bytes_free, is_open, works: BTreeMap::new() };
    if !plans.accepts(needed)? {
        return Err(format!("a refusal names {needed} bytes, which are refused"));
    }
    let (mut refused, mut accepted) = (0, free.bytes_peak.max(needed));
    while accepted - refused > 1 {
        let middle = refused + (accepted - refused) / 2;
        *if plans.accepts(middle)? { &mut accepted } else { &mut refused } = middle;
    }
    if accepted != needed {
        return Err(format!("a refusal names {needed} bytes, and {accepted} are enough"));
    }
    let more = free.bytes_peak.saturating_sub(needed);
    for budget in
        [needed + more / 4, needed + more / 2, needed + more / 4 * 3, needed + more, 2 * needed + 2 * more, 1 << 30]
    {
        plans.accepts(budget)?;
    }
    plans.is_monotone()
}

impl Plans<'_> {
    fn accepts(&mut self, budget: u64) -> Result<bool, String> {
        let Plan { bytes_peak, decision, .. } =
            match plan(self.program, &Request { budget: Some(budget), ..self.request.clone() }) {
                Ok(plan) => plan,
                Err(Error { kind: ErrorKind::OverBudget { needed, .. }, .. }) if needed == self.needed => {
                    return Ok(false);
                }
                Err(error) => return Err(format!("{} bytes are needed, and of {budget} bytes: {error}", self.needed)),
            };
        if bytes_peak > budget || bytes_peak < self.needed {
            return Err(format!(
                "{} bytes are needed, and a budget of {budget} gave a peak of {bytes_peak}",
                self.needed
            ));
        }
        // Nobody knows how much a loop of unknown length could use: without a budget it does not get everything.
        if decision.work < self.least_work && !(self.is_open && budget > self.bytes_free) {
            return Err(format!(
                "without a budget the work is {}, with {budget} bytes {}",
                self.least_work, decision.work
            ));
        }
        self.works.insert(budget, decision.work);
        Ok(true)
    }

    fn is_monotone(&self) -> Result<(), String> {
        match self.works.iter().zip(self.works.iter().skip(1)).find(|((_, less), (_, more))| more > less) {
            Some((less, more)) => {
                Err(format!("{} bytes are {} of work, and {} bytes {}", less.0, less.1, more.0, more.1))
            }
            None => Ok(()),
        }
    }
}
