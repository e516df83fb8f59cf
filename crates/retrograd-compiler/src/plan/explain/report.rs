//! What there is to say about a plan, as data.

use super::with_commas;
use crate::ir::{Pos, Type};
use crate::plan::analysis::bytes::bytes_in_words;
use crate::plan::analysis::work::SECOND;
use crate::plan::decision::Way;
use crate::plan::memory::Buffer;
use crate::plan::search::Plan;
use crate::plan::search::facts::{LoopFacts, Residual};
use crate::plan::search::strategy::{Auto, Strategy};
use retrograd_schedule::{self as schedule, Action, Counts, Sweep, next, start};

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
    /// What becomes of it.
    pub fate: String,
    /// Why, with what it would cost otherwise.
    pub reason: String,
    /// The user's lines whose gradients read it.
    pub read_at: Vec<Pos>,
}

impl ResidualReport {
    fn new(residual: &Residual, fate: String, reason: String) -> ResidualReport {
        let Residual { value: _, origin, ty, read_at } = residual.clone();
        ResidualReport { origin, bytes: ty.bytes() as u64, ty, fate, reason, read_at }
    }
}

/// A schedule of more steps or actions is not gone through.
const GONE_THROUGH: u64 = 1 << 20;

impl Plan {
    /// Predicted seconds of a run by one thread of a machine like the one where prices were measured (`prices.rs`), in
    /// the vectors of the back end that it was planned for. Loops of unknown length are taken to go through half of
    /// the longest axis of their arrays, or to have 10,000 steps where they have none.
    pub fn seconds(&self) -> f64 {
        self.decision.work as f64 / SECOND
    }

    /// The work of the fastest plan of all without a budget.
    pub fn work_least(&self) -> u128 {
        // Without a budget `auto` has chosen the fastest of all, also by how near its memory is.
        if self.strategy == Auto.name() && self.budget.is_none() && self.offered.is_none() {
            return self.decision.work;
        }
        let fastest = Auto.decide(&self.facts, None).expect("without a budget everything can be decided");
        fastest.work.min(self.decision.work)
    }

    /// No plan in this memory does less work with the records that the strategy chooses from: in the budget, or where
    /// there is none, in the bytes that this plan takes.
    pub fn work_bound(&self) -> u128 {
        let bytes = self.budget.or(self.offered).unwrap_or(self.bytes_peak);
        let (bound, work) = (crate::plan::search::bound::bound(&self.facts, bytes), self.decision.work);
        debug_assert!(bound <= work, "the bound of all plans is {bound}, and this one does {work}");
        bound.min(work)
    }

    /// What is held of the code outside of loops, and what becomes of it.
    pub fn residuals(&self) -> Vec<ResidualReport> {
        let report = |residual: &Residual| {
            let (fate, reason) = match self.decision.again.runs(residual.value) {
                0 if self.decision.again.made.is_empty() => {
                    ("kept".to_owned(), "nothing outside of loops need run again".to_owned())
                }
                0 => ("kept".to_owned(), "others are cheaper to compute again for their bytes".to_owned()),
                1 => ("computed again".to_owned(), "where it is read, so that less is held".to_owned()),
                times => (format!("computed again {times} times"), "where it is read, so that less is held".to_owned()),
            };
            ResidualReport::new(residual, fate, reason)
        };
        self.facts.residuals.iter().map(report).collect()
    }

    /// What is in the arena when it is fullest, and how many bytes: states and records of each loop, and the rest.
    pub fn peak(&self) -> Vec<(String, u64)> {
        let living = |buffer: &Buffer, moment: u32| buffer.start <= moment && moment <= buffer.end;
        // What is in a frame is part of the buffer of that frame, once for every step that runs at the same time.
        let in_arena = |buffer: &&Buffer| buffer.frame.is_none();
        let times = |buffer: &Buffer| buffer.frame.map_or(1, |frame| self.placed.frames[frame.0 as usize].chunks);
        let total = |moment: u32| {
            let living = self.placed.buffers.iter().filter(in_arena).filter(|buffer| living(buffer, moment));
            living.map(|buffer| buffer.bytes).sum::<u64>()
        };
        let fullest = self
            .placed
            .buffers
            .iter()
            .map(|buffer| buffer.start)
            .max_by_key(|moment| (total(*moment), std::cmp::Reverse(*moment)));
        let Some(moment) = fullest else { return vec![] };
        let mut parts = vec![];
        let mut rest = total(moment);
        for facts in &self.facts.loops {
            let pools = self.placed.trajectories.iter().filter(|trajectory| trajectory.bwd == facts.bwd);
            let buffers = pools.map(|trajectory| &self.placed.buffers[trajectory.pool.0 as usize]);
            let bytes: u64 =
                buffers.filter(|buffer| living(buffer, moment)).map(|buffer| buffer.bytes * times(buffer)).sum();
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
    let bytes = |cut: usize| {
        facts.choices.iter().find(|choice| choice.cut == decision.cuts[cut]).map_or(0, |choice| choice.bytes)
    };
    let turned = sweep.youturn || reversal.youturn;
    let walked = facts.count.and_then(|count| usage(decision, count));
    let residual = |residual: &Residual| {
        let keeping: Vec<usize> =
            used.iter().copied().filter(|cut| decision.cuts[*cut].kept.contains(&residual.value)).collect();
        let fate = match (keeping.len(), used.len(), turned) {
            (0, 0, _) => Kept::Never,
            (0, _, _) => Kept::NotRecorded,
            (some, all, false) if some == all => Kept::Always,
            (_, _, _) => {
                Kept::Sometimes(walked.as_ref().map(|(_, reversed)| keeping.iter().map(|cut| reversed[*cut]).sum()))
            }
        };
        let (fate, reason) = fate.in_words(facts, residual);
        ResidualReport::new(residual, fate, reason)
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
        usage: walked.as_ref().map(|(usage, _)| *usage),
        residuals: facts.residuals.iter().map(residual).collect(),
    }
}

/// Of how many steps a value is in the record.
enum Kept {
    Always,
    /// Of so many, where that is known.
    Sometimes(Option<u64>),
    NotRecorded,
    Never,
}

impl Kept {
    /// What becomes of a value, and why.
    fn in_words(self, facts: &LoopFacts, residual: &Residual) -> (String, String) {
        let bytes = residual.ty.bytes() as u64;
        let of_all = match facts.count {
            Some(count) => format!("of every step it is {}", bytes_in_words(bytes.saturating_mul(count))),
            None => format!("of every step it is {} times their number", bytes_in_words(bytes)),
        };
        let again = facts.cost_again(residual.value);
        match self {
            Kept::Always => {
                let reason = match again {
                    None => "steps are not reversed without it".to_owned(),
                    Some(work) if work > 0 => format!("to compute it again takes {} a step", time_in_words(work)),
                    Some(_) => "other values follow from it, which then need not be kept".to_owned(),
                };
                ("kept".to_owned(), reason)
            }
            Kept::Sometimes(steps) => {
                let fate = match (steps, facts.count) {
                    (Some(steps), Some(count)) => {
                        format!(
                            "kept of {} steps, computed again for the other {}",
                            with_commas(steps),
                            with_commas(count - steps)
                        )
                    }
                    (None, _) | (_, None) => "kept of some steps, computed again for the others".to_owned(),
                };
                let reason = again
                    .filter(|work| *work > 0)
                    .map(|work| format!(", and to compute it again takes {}", time_in_words(work)));
                (fate, of_all + &reason.unwrap_or_default())
            }
            Kept::NotRecorded => {
                let reason = match again {
                    Some(work) if work > 0 => format!("it takes {} a step; {of_all}", time_in_words(work)),
                    Some(_) | None => format!("no slower than to write and read {} a step", bytes_in_words(bytes)),
                };
                ("computed again from what is kept".to_owned(), reason)
            }
            // A state is at hand where a step is turned back: steps before it have run up to it.
            Kept::Never if residual.origin == "state" => {
                ("held of some steps".to_owned(), format!("the others run up to it again; {of_all}"))
            }
            Kept::Never => ("computed again from the state".to_owned(), format!("nothing is recorded; {of_all}")),
        }
    }
}

/// Picoseconds as people say them.
fn time_in_words(work: i64) -> String {
    // It would be written as none.
    if work < 50 {
        return "hardly any time".to_owned();
    }
    let units = [(1_000_000_000_000.0, "s"), (1_000_000_000.0, "ms"), (1_000_000.0, "µs"), (1_000.0, "ns")];
    let (size, unit) = units.into_iter().find(|(size, _)| work as f64 >= *size).unwrap_or((1_000.0, "ns"));
    let number = format!("{:.1}", work as f64 / size);
    format!("{} {unit}", number.trim_end_matches('0').trim_end_matches('.'))
}

/// What a schedule does is what its controller says: what it holds, and how many steps are reversed from records of
/// each choice.
fn usage(way: &Way, count: u64) -> Option<(Usage, Vec<u64>)> {
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
    // Where each lies in the pool, a stack, and how many states and records it is; how many there are in all.
    let mut pool: Vec<(u64, u64, u64)> = vec![];
    let (mut states, mut records) = (0, 0);
    let mut change = |at: u64, new: Option<(u64, u64)>| {
        while let Some((_, gone_states, gone_records)) = pool.pop_if(|(below, ..)| *below >= at) {
            (states, records) = (states - gone_states, records - gone_records);
        }
        if let Some((more_states, more_records)) = new {
            pool.push((at, more_states, more_records));
            (states, records) = (states + more_states, records + more_records);
        }
        (states, records)
    };
    let (mut usage, mut reversed) = (Usage::default(), vec![0; way.cuts.len()]);
    for _ in 0..GONE_THROUGH {
        let (states, records) = match next(&mut words, &table) {
            Action::Advance { from, to } => {
                ran(from, to);
                continue;
            }
            Action::Youturn { step } => {
                ran(step, step + 1);
                continue;
            }
            Action::Snapshot { at, .. } => change(at, Some((1, 0))),
            Action::Tape { from, to, at, .. } => {
                ran(from, to);
                change(at, Some((0, to - from)))
            }
            Action::Reverse { from, to, at, choice } => {
                reversed[choice as usize] += to - from;
                change(at, None)
            }
            Action::Restore { .. } | Action::Spill { .. } | Action::Fetch { .. } | Action::Turn => continue,
            Action::Run(run) => panic!("{run:?} was not asked for"),
            Action::Done => {
                let mut now = 0;
                let all = runs.iter().map(|change| {
                    now += change;
                    now as u64
                });
                return Some((Usage { runs: all.max().unwrap_or(0), ..usage }, reversed));
            }
        };
        (usage.states, usage.records) = (usage.states.max(states), usage.records.max(records));
    }
    None
}
