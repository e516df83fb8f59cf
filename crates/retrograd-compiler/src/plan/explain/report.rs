//! What there is to say about a plan, as data.

use super::super::place::Store;
use super::super::schedule::{self, Counts, Sweep};
use super::super::strategy::{Auto, Strategy};
use super::super::{LoopFacts, Plan, Way};
use crate::ir::{Pos, Type};

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
    /// What could be kept.
    pub residuals: Vec<ResidualReport>,
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
    pub fate: &'static str,
}

impl Plan {
    /// No plan of any strategy does less: the work of the fastest one without a budget.
    pub fn work_bound(&self) -> u128 {
        let fastest = Auto.decide(&self.facts, None).expect("without a budget everything can be decided");
        fastest.work.min(self.decision.work)
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
    let residual = |residual: &super::super::Residual| {
        let keeping = used.iter().filter(|cut| decision.cuts[**cut].kept.contains(&residual.value)).count();
        let fate = match (keeping, used.len(), turned) {
            (0, 0, _) => "recomputed from the state: nothing is recorded",
            (0, _, _) => "recomputed from what is kept: cheaper than its bytes",
            (some, all, false) if some == all => "kept",
            (_, _, _) => "kept of some steps, recomputed for the others",
        };
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
        residuals: facts.residuals.iter().map(residual).collect(),
    }
}
