//! What there is to say about a plan, as data.

use super::super::place::Store;
use super::super::schedule::{self, Action, Counts, Sweep, next, start};
use super::super::strategy::{Auto, Strategy};
use super::super::work::SECOND;
use super::super::{LoopFacts, Plan, Residual, Way};
use crate::ir::{Pos, Type, Value};

/// One loop and how it is reversed.
#[derive(Clone, Debug)]
pub struct LoopReport {
    /// The user's line.
    pub pos: Pos,
    /// How many loops it is inside of.
    pub depth: usize,
    /// How many steps, where known before the run.
    pub steps: Option<u64>,
    /// The schedule in words.
    pub schedule: String,
    /// Whether the program's own loop is the first sweep.
    pub sweep: Sweep,
    /// Bytes of a held state.
    pub state_bytes: u64,
    /// Bytes of a record, by choice that is used.
    pub record_bytes: Vec<u64>,
    /// Bytes of all held states and records at their fullest.
    pub pool_bytes: u64,
    /// What is executed, for a number of steps that is known.
    pub counts: Option<Counts>,
    /// What it holds at its most and how often it runs its busiest step, where that is known before the run.
    pub usage: Option<Usage>,
    /// What could be kept.
    pub residuals: Vec<ResidualReport>,
}

/// What a schedule holds at its most.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Usage {
    /// States at a time, that of the start not included.
    pub states: u64,
    /// Records at a time.
    pub records: u64,
    /// How often the step runs that runs the most, the program's own loop included where it is the first sweep.
    pub runs: u64,
}

/// A value that could be kept of every step.
#[derive(Clone, Debug)]
pub struct ResidualReport {
    /// What makes it, and the user's line.
    pub origin: String,
    /// Its type.
    pub ty: Type,
    /// Its bytes, of one step.
    pub bytes: u64,
    /// What becomes of it, and why.
    pub fate: String,
}

/// A schedule of more steps or actions is not gone through.
const GONE_THROUGH: u64 = 1 << 20;

impl Plan {
    /// Predicted seconds of a run by one thread of a machine like the one where prices were measured (`plan/work.rs`), in the vectors of
    /// the back end that it was planned for. Loops of unknown length are taken to have 10,000 steps.
    pub fn seconds(&self) -> f64 {
        self.decision.work as f64 / SECOND
    }

    /// The work of the fastest plan of all without a budget.
    pub fn work_least(&self) -> u128 {
        let fastest = Auto.decide(&self.facts, None).expect("without a budget everything can be decided");
        fastest.work.min(self.decision.work)
    }

    /// No plan in this memory does less work with the records that the strategy chooses from: in the budget, or where there is none, in
    /// the bytes that this plan takes.
    pub fn work_bound(&self) -> u128 {
        let bytes = self.budget.or(self.offered).unwrap_or(self.bytes_peak);
        let (bound, work) = (super::super::bound::bound(&self.facts, bytes), self.decision.work);
        assert!(bound <= work, "the bound of all plans is {bound}, and this one does {work}");
        bound
    }

    /// What is held of the code outside of loops, and what becomes of it.
    pub fn residuals(&self) -> Vec<ResidualReport> {
        let fate = |value: Value| match self.decision.again.runs(value) {
            0 => "kept".to_owned(),
            1 => "computed again where it is read, so that less is held".to_owned(),
            times => format!("computed again {times} times, where it is read, so that less is held"),
        };
        let report = |residual: &Residual| ResidualReport {
            origin: residual.origin.clone(),
            ty: residual.ty.clone(),
            bytes: residual.ty.bytes() as u64,
            fate: fate(residual.value),
        };
        self.facts.residuals.iter().map(report).collect()
    }

    /// What is in the arena when it is fullest, and how many bytes: states and records of each loop, and the rest.
    pub fn peak(&self) -> Vec<(String, u64)> {
        let living = |store: &Store, moment: u32| store.start <= moment && moment <= store.end;
        // What is in a frame is part of the store of that frame, once for every step that runs at the same time.
        let in_arena = |store: &&Store| store.frame.is_none();
        let times = |store: &Store| store.frame.map_or(1, |frame| self.placed.frames[frame.0 as usize].chunks);
        let total = |moment: u32| {
            let living = self.placed.stores.iter().filter(in_arena).filter(|store| living(store, moment));
            living.map(|store| store.bytes).sum::<u64>()
        };
        let fullest = self.placed.stores.iter().map(|store| store.start).max_by_key(|moment| (total(*moment), std::cmp::Reverse(*moment)));
        let Some(moment) = fullest else { return vec![] };
        let mut parts = vec![];
        let mut rest = total(moment);
        for facts in &self.facts.loops {
            let pools = self.placed.trajectories.iter().filter(|trajectory| trajectory.bwd == facts.bwd);
            let stores = pools.map(|trajectory| &self.placed.stores[trajectory.pool.0 as usize]);
            let bytes: u64 = stores.filter(|store| living(store, moment)).map(|store| store.bytes * times(store)).sum();
            if bytes > 0 {
                rest -= bytes;
                let place = if facts.pos.is_known() { format!("the loop at {}", facts.pos) } else { "a loop".into() };
                parts.push((format!("states and records of {place}"), bytes));
            }
        }
        parts.push(("arrays and controllers".into(), rest));
        parts
    }

    /// Every loop, outer ones before those inside them.
    pub fn reports(&self) -> Vec<LoopReport> {
        self.facts.loops.iter().map(|facts| report(facts, self.decision.loops[&facts.bwd].usual())).collect()
    }
}

fn report(facts: &LoopFacts, decision: &Way) -> LoopReport {
    let [sweep, reversal] = decision.schedule.uses();
    let used: Vec<usize> = (0..decision.cuts.len()).filter(|k| reversal.reverse.get(*k) == Some(&true)).collect();
    let bytes = |cut: usize| facts.choices.iter().find(|choice| choice.cut == decision.cuts[cut]).map_or(0, |choice| choice.bytes);
    let turned = sweep.turnback || reversal.turnback;
    let residual = |residual: &Residual| {
        let keeping = used.iter().filter(|cut| decision.cuts[**cut].kept.contains(&residual.value)).count();
        let fate = match (keeping, used.len(), turned) {
            (0, 0, _) => "recomputed from the state: nothing is recorded",
            (0, _, _) => "recomputed from what is kept: cheaper than its bytes",
            (some, all, false) if some == all => "kept",
            (_, _, _) => "kept of some steps, recomputed for the others",
        };
        let fate = fate.to_owned();
        ResidualReport { origin: residual.origin.clone(), ty: residual.ty.clone(), bytes: residual.ty.bytes() as u64, fate }
    };
    LoopReport {
        pos: facts.pos.clone(),
        depth: facts.depth,
        steps: facts.count,
        schedule: decision.schedule.to_string(),
        sweep: decision.sweep,
        state_bytes: facts.state_bytes,
        record_bytes: used.iter().map(|cut| bytes(*cut)).collect(),
        pool_bytes: decision.schedule.pool_bytes(decision.sweep, facts.count),
        counts: facts.count.map(|count| schedule::counts(&decision.schedule, decision.sweep, count)),
        usage: facts.count.and_then(|count| usage(decision, count)),
        residuals: facts.residuals.iter().map(residual).collect(),
    }
}

/// What a schedule does is what its controller says.
fn usage(way: &Way, count: u64) -> Option<Usage> {
    if count == 0 || count > GONE_THROUGH || way.schedule.words() == 0 || way.sweep == Sweep::Online {
        return None;
    }
    let (mut words, table) = (vec![0; way.schedule.words()], way.schedule.table());
    start(&mut words, &way.schedule, way.sweep, count);
    let mut runs = vec![0i64; count as usize + 1];
    let mut ran = |from: u64, to: u64| {
        runs[from as usize] += 1;
        runs[to as usize] -= 1;
    };
    // Where each lies in the pool, a stack, and how many states and records it is.
    let mut pool: Vec<(u64, u64, u64)> = vec![];
    let mut usage = Usage::default();
    for _ in 0..GONE_THROUGH {
        match next(&mut words, &table) {
            Action::Advance { from, to } => ran(from, to),
            Action::Turnback { step } => ran(step, step + 1),
            Action::Snapshot { at, .. } => {
                pool.retain(|(below, ..)| *below < at);
                pool.push((at, 1, 0));
            }
            Action::Tape { from, to, at, .. } => {
                ran(from, to);
                pool.retain(|(below, ..)| *below < at);
                pool.push((at, 0, to - from));
            }
            Action::Reverse { at, .. } => pool.retain(|(below, ..)| *below < at),
            Action::Restore { .. } | Action::Spill { .. } | Action::Fetch { .. } | Action::Turn => {}
            Action::Done => {
                let mut now = 0;
                let all = runs.iter().map(|change| {
                    now += change;
                    now as u64
                });
                return Some(Usage { runs: all.max().unwrap_or(0), ..usage });
            }
        }
        usage.states = usage.states.max(pool.iter().map(|(_, states, _)| states).sum());
        usage.records = usage.records.max(pool.iter().map(|(_, _, records)| records).sum());
    }
    None
}
