//! What a step of a loop does to what it carries.

use std::collections::{BTreeMap, BTreeSet};

use super::LONGEST;
use crate::ir::{Function, Inst, Op, Program, Type, UnwindOp, Value};
use crate::ops;
use crate::plan::analysis::pair::{Numbers, same_walk};
use crate::plan::analysis::ranges::{Range, ranges};

/// A row is at most such a part of a state.
const PART: usize = 4;

/// What is known of the code around a loop.
#[derive(Clone, Copy)]
pub(super) struct Outside<'a> {
    /// What its values are.
    pub(super) numbers: &'a [u32],
    /// In which ranges they are.
    pub(super) ranges: &'a [Option<Range>],
    /// Steps of all loops outside.
    pub(super) rows: usize,
}

/// A loop whose steps change in place what they carry, and what reverses it.
pub(super) struct Level<'p> {
    /// Its step.
    pub(super) body: &'p Function,
    /// Its adjoint, where it has one.
    pub(super) unwind: Option<(&'p UnwindOp, &'p Function)>,
    /// What the values of the step are, and those of a step of the adjoint.
    pub(super) numbers: Vec<u32>,
    pub(super) bwd_numbers: Vec<u32>,
    /// How many carries and invariants the loop has.
    pub(super) carries: usize,
    pub(super) invariants: usize,
    /// Steps that it has at most.
    pub(super) steps: usize,
    rows: usize,
    /// Carries of which a step changes windows: the state before it follows from the one after it.
    pub(super) threads: Vec<usize>,
    /// Carries that are logged as they are.
    pub(super) whole: Vec<usize>,
    /// What changes the threads, in the order of the step.
    pub(super) events: Vec<Event<'p>>,
    /// Types of the logs: of the carries that are logged as they are, then those of the events.
    pub(super) logs: Vec<Type>,
}

/// An instruction of a step that changes what is carried.
pub(super) struct Event<'p> {
    /// Its place.
    pub(super) inst: usize,
    /// How many logs it has.
    pub(super) logs: usize,
    /// What it does.
    pub(super) change: Change<'p>,
}

/// How a step changes what is carried.
pub(super) enum Change<'p> {
    /// It writes a window. What it overwrites is logged, and where, if that does not follow from indices and
    /// invariants.
    Window {
        /// Whether the place is logged.
        place: bool,
    },
    /// A loop changes it.
    Loop {
        /// How.
        level: Box<Level<'p>>,
        /// The instruction of the backward step that reverses it.
        unwind: Option<usize>,
    },
}

/// The backward step around an unwind: its function, what its values are, the unwind, and which carry of the loop is
/// which of its states.
pub(super) type Back<'p, 'a> = (&'p Function, &'a [u32], usize, Vec<usize>);

impl<'p> Level<'p> {
    /// The loop at an instruction of a function. Of the carries that an unwind or the code outside (`wanted`) needs the
    /// states, it says how they change. None where its steps have no bound.
    pub(super) fn new(
        program: &'p Program,
        numbers: &mut Numbers<'p>,
        (function, outside): (&'p Function, &Outside<'_>),
        at: usize,
        back: Option<Back<'p, '_>>,
        wanted: &[usize],
    ) -> Option<Level<'p>> {
        let inst = &function.insts[at];
        let Op::For(op) = &inst.op else { return None };
        let (body, name) = (program.function(op.body), format!("{} {at} {}", op.body.0, outside.rows));
        let bound = outside.ranges[inst.args[0].0 as usize].and_then(|(_, most)| usize::try_from(most.max(0)).ok());
        let steps = if op.bound > 0 { bound.unwrap_or(op.bound).min(op.bound) } else { bound? };
        // A log has a row, also one that nothing is written to.
        let steps = steps.max(1);
        let rows = outside.rows.checked_mul(steps).filter(|rows| (*rows as u64) < LONGEST)?;
        let outer = |v: &Value| outside.numbers[v.0 as usize];
        let (_, _, invariants, streams) = op.args(&inst.args);
        let index = numbers.number(format!("index {name}"));
        let states: Vec<u32> = (0..op.carries).map(|k| numbers.number(format!("state {name} {k}"))).collect();
        let row = |numbers: &mut Numbers<'p>, stream: u32| numbers.number(format!("row {name} {stream}"));
        let rows_of = streams.iter().map(|v| row(numbers, outer(v))).collect::<Vec<u32>>();
        let params = [vec![index], states.clone(), invariants.iter().map(outer).collect(), rows_of].concat();
        let body_numbers = numbers.values(body, &params);
        let (mut unwind, mut bwd_numbers, mut needs) =
            (None, vec![], wanted.iter().copied().collect::<BTreeSet<usize>>());
        if let Some((around, known, unwind_inst, of_states)) = &back {
            let inst = &around.insts[*unwind_inst];
            let Op::Unwind(op) = &inst.op else { panic!("what reverses a loop is an unwind") };
            let bwd = program.function(op.bwd);
            let args = op.args(&inst.args);
            let known = |v: &Value| known[v.0 as usize];
            let mut params = vec![index];
            params.extend(of_states.iter().map(|carry| states[*carry]));
            params.extend(args.invariants.iter().map(known));
            params.extend(args.streams.iter().map(|v| row(numbers, known(v))));
            params.extend(
                (params.len()..bwd.params.len())
                    .map(|k| numbers.number(format!("cotangent {name} {k}")))
                    .collect::<Vec<_>>(),
            );
            bwd_numbers = numbers.values(bwd, &params);
            unwind = Some((op, bwd));
            needs.extend(of_states);
        }
        let most = i64::try_from(steps).ok()?.saturating_sub(1).max(0);
        let mut bounds = vec![None; body.params.len()];
        bounds[0] = Some((0, most));
        for (k, invariant) in invariants.iter().enumerate() {
            bounds[1 + op.carries + k] = outside.ranges[invariant.0 as usize];
        }
        let bounds = ranges(body, &bounds);
        let mut level = Level {
            body,
            unwind,
            numbers: body_numbers,
            bwd_numbers,
            carries: op.carries,
            invariants: op.invariants,
            steps,
            rows,
            threads: vec![],
            whole: vec![],
            events: vec![],
            logs: vec![],
        };
        level.changes(program, numbers, &needs, &bounds)?;
        Some(level)
    }

    /// Whether no row of a log is more than a part of what is changed: otherwise it is as good as a state.
    pub(super) fn changes_little(&self) -> bool {
        let state: usize = self.threads.iter().map(|carry| self.body.ty(self.body.params[1 + carry]).bytes()).sum();
        let longest = self.logs.iter().map(|log| log.bytes() / log.shape[0].max(1)).max().unwrap_or(0);
        !self.threads.is_empty() && longest <= state / PART
    }

    /// Rows of the longest log.
    pub(super) fn most_rows(&self) -> usize {
        self.logs.iter().map(|log| log.shape[0]).max().unwrap_or(0)
    }

    /// Finds out how the carries that are needed change, and what is logged of that.
    fn changes(
        &mut self,
        program: &'p Program,
        numbers: &mut Numbers<'p>,
        needs: &BTreeSet<usize>,
        bounds: &[Option<Range>],
    ) -> Option<()> {
        let mut chains: BTreeMap<usize, Vec<(usize, usize)>> =
            needs.iter().filter_map(|k| Some((*k, self.chain(*k)?))).collect();
        loop {
            let mut through: BTreeMap<usize, BTreeSet<usize>> = BTreeMap::new();
            chains.values().flatten().for_each(|(inst, carry)| _ = through.entry(*inst).or_default().insert(*carry));
            let mut events = vec![];
            for (inst, carried) in &through {
                events.push(self.event(program, numbers, *inst, carried, bounds)?);
            }
            // What an inner loop replaces cannot be followed through it.
            let lost = |inst: usize, carry: usize| {
                events.iter().any(|event: &Event<'p>| match &event.change {
                    Change::Loop { level, .. } => event.inst == inst && !level.threads.contains(&carry),
                    Change::Window { .. } => false,
                })
            };
            let before = chains.len();
            chains.retain(|_, chain| !chain.iter().any(|(inst, carry)| lost(*inst, *carry)));
            if chains.len() == before {
                self.events = events;
                break;
            }
        }
        self.threads = chains.keys().copied().collect();
        self.whole = needs.iter().copied().filter(|k| !chains.contains_key(k)).collect();
        let of_carries: Vec<Type> = self.whole.iter().map(|k| self.body.ty(self.body.params[1 + k]).clone()).collect();
        let mut logs: Vec<Type> = of_carries.iter().map(|ty| ty.stream(self.rows)).collect();
        for event in &self.events {
            logs.extend(self.logs_of(event));
        }
        let fits =
            logs.iter().try_fold(0u64, |sum, log| sum.checked_add(bytes(log)?)).is_some_and(|bytes| bytes < LONGEST);
        self.logs = logs;
        fits.then_some(())
    }

    /// The writes and loops through which a carry goes in one step, last first: instructions, and which carry of a loop
    /// it is there. None where it is replaced.
    fn chain(&self, carry: usize) -> Option<Vec<(usize, usize)>> {
        let (mut chain, mut value) = (vec![], self.body.results[carry]);
        while value != self.body.params[1 + carry] {
            let at = self.body.insts.iter().position(|inst| inst.results.contains(&value))?;
            let inst = &self.body.insts[at];
            let (carried, before) = match &inst.op {
                Op::Def(def, _) if *def == &ops::UPDATE || *def == &ops::ADD_AT => (0, inst.args[0]),
                Op::For(op) => {
                    let carried = inst.results[..op.carries].iter().position(|v| *v == value)?;
                    (carried, inst.args[1 + carried])
                }
                Op::Def(..) | Op::If(_) | Op::While(_) | Op::Unwind(_) | Op::Call(_) => return None,
            };
            chain.push((at, carried));
            value = before;
        }
        Some(chain)
    }

    fn event(
        &self,
        program: &'p Program,
        numbers: &mut Numbers<'p>,
        at: usize,
        carried: &BTreeSet<usize>,
        bounds: &[Option<Range>],
    ) -> Option<Event<'p>> {
        let inst = &self.body.insts[at];
        let Op::For(_) = &inst.op else {
            let place = inst.args[2..].iter().any(|start| !self.follows(*start));
            let logs = 1 + if place { inst.args.len() - 2 } else { 0 };
            return Some(Event { inst: at, logs, change: Change::Window { place } });
        };
        let back = self.unwind.and_then(|(_, bwd)| {
            bwd.insts.iter().enumerate().find_map(|(k, unwind)| {
                let states = same_walk(numbers, (&self.numbers, inst), (&self.bwd_numbers, unwind))?;
                Some((bwd, &self.bwd_numbers[..], k, states))
            })
        });
        let unwind = back.as_ref().map(|(_, _, k, _)| *k);
        let outside = Outside { numbers: &self.numbers, ranges: bounds, rows: self.rows };
        let wanted: Vec<usize> = carried.iter().copied().collect();
        let level = Level::new(program, numbers, (self.body, &outside), at, back, &wanted)?;
        Some(Event { inst: at, logs: level.logs.len(), change: Change::Loop { level: Box::new(level), unwind } })
    }

    /// Whether a value follows from the index, invariants and rows of streams alone.
    fn follows(&self, value: Value) -> bool {
        let mut wanted = BTreeSet::from([value]);
        for inst in self.body.insts.iter().rev() {
            if inst.results.iter().any(|v| wanted.contains(v)) {
                wanted.extend(&inst.args);
            }
        }
        !self.body.params[1..=self.carries].iter().any(|state| wanted.contains(state))
    }

    fn logs_of(&self, event: &Event<'p>) -> Vec<Type> {
        let inst = &self.body.insts[event.inst];
        match &event.change {
            Change::Window { .. } => {
                let of = |v: &Value| self.body.ty(*v).stream(self.rows);
                [&inst.args[1..2], &inst.args[2..]].concat()[..event.logs].iter().map(of).collect()
            }
            Change::Loop { level, .. } => level.logs.clone(),
        }
    }

    /// An instruction of the step, and what its arguments are.
    pub(super) fn inst(&self, event: &Event<'p>) -> &'p Inst {
        &self.body.insts[event.inst]
    }
}

fn bytes(ty: &Type) -> Option<u64> {
    (ty.checked_elements()? as u64).checked_mul(ty.dtype.bytes() as u64)
}
