//! Whether a decision fits its Program: everything that `place`, the controllers and the layout of pools rely on. The
//! walk is that of `memory/flatten`, over every function that it copies into place, and counts what it will copy.

use std::collections::{BTreeMap, BTreeSet};

use super::{recipe, unsound};
use crate::ir::{Error, FuncId, Function, Inst, MAX_INSTS, Op, Program, Type, UnwindOp, too_long};
use crate::plan::analysis::layout::row_layout;
use crate::plan::analysis::pair::{Pair, pairs};
use crate::plan::decision::{Decision, LoopDecision, Rematerialised, Way};
use crate::plan::search::cut::Forward;
use crate::plan::search::facts::{defined_before, known_steps};
use crate::plan::search::straight::shares_factors;
use crate::plan::transform::split::{Split, split};
use crate::plan::transform::split_branches::BranchSplit;
use retrograd_schedule::{Blocks, Schedule, Sweep};

/// Slots of a schedule at most: its controller has a word for each.
const MOST_SLOTS: u64 = 1 << 32;

/// Checks a decision about a verified Program without calls.
pub(in crate::plan) fn check(branch_split: &BranchSplit, decision: &Decision) -> Result<(), Error> {
    let program = &branch_split.program;
    let mut visit =
        Visit { program, branch_split, decision, effects: program.effects(), known: BTreeMap::new(), unwound: vec![] };
    visit.check_names()?;
    check_again(program.main(), &decision.again)?;
    visit.function(program.main())?;
    Ok(())
}

struct Visit<'p> {
    program: &'p Program,
    branch_split: &'p BranchSplit,
    decision: &'p Decision,
    effects: Vec<bool>,
    /// What functions of the Program come to in place.
    known: BTreeMap<FuncId, Copied>,
    /// What unwinds come to, by their bwd and the sweep that they share: parts of a step have the unwinds of the
    /// whole.
    unwound: Vec<((FuncId, Option<Sweep>), Copied)>,
}

/// What a function comes to in place.
#[derive(Clone, Copy, Default)]
struct Copied {
    /// Instructions.
    length: u64,
    /// Whether states of a loop go to the disk.
    spills: bool,
}

impl Copied {
    fn and(self, other: Copied, times: u64) -> Copied {
        let more = other.length.saturating_mul(times);
        Copied { length: self.length.saturating_add(more), spills: self.spills || other.spills }
    }
}

impl Visit<'_> {
    /// A decision names a loop by its bwd.
    fn check_names(&self) -> Result<(), Error> {
        let insts = self.program.functions.iter().flat_map(|function| &function.insts);
        let steps: BTreeSet<FuncId> =
            insts.filter_map(|inst| if let Op::Unwind(op) = &inst.op { Some(op.bwd) } else { None }).collect();
        match self.decision.loops.keys().find(|bwd| !steps.contains(bwd)) {
            Some(bwd) => Err(unsound(format!("function {} is no step backwards", bwd.0))),
            None => Ok(()),
        }
    }

    fn body(&mut self, id: FuncId) -> Result<Copied, Error> {
        if let Some(known) = self.known.get(&id) {
            return Ok(*known);
        }
        let copied = self.function(self.program.function(id))?;
        self.known.insert(id, copied);
        Ok(copied)
    }

    /// A body that runs again and again, maybe on several threads: a run has one file.
    fn repeated(&mut self, id: FuncId) -> Result<Copied, Error> {
        let copied = self.body(id)?;
        if copied.spills { Err(unsound("states of a loop inside another go to the disk".into())) } else { Ok(copied) }
    }

    /// What a function comes to in place, loops by their decisions.
    fn function(&mut self, function: &Function) -> Result<Copied, Error> {
        let pairs = pairs(self.program, function);
        let mut copied = Copied::default();
        for (k, inst) in function.insts.iter().enumerate() {
            let paired = |at: fn(&Pair) -> usize| pairs.iter().find(|pair| at(pair) == k);
            let more = match &inst.op {
                Op::Def(..) => Copied::default(),
                Op::If(op) => self.body(op.then_body)?.and(self.body(op.else_body)?, 1),
                Op::For(op) => {
                    let tapes = paired(|pair| pair.loop_inst).map_or(Ok(0), |pair| self.sweep(function, pair))?;
                    Copied::default().and(self.repeated(op.body)?, 1 + tapes)
                }
                Op::While(op) => self.repeated(op.cond)?.and(self.repeated(op.body)?, 1),
                Op::Unwind(op) if op.carries == 0 => self.repeated(op.bwd)?,
                Op::Unwind(op) => self.unwind(function, inst, op, paired(|pair| pair.unwind_inst))?,
                Op::Call(_) => return Err(unsound("calls are not in place".into())),
            };
            copied = copied.and(more, 1);
            copied.length = copied.length.saturating_add(1);
            if copied.length > MAX_INSTS {
                return Err(too_long(inst.pos.clone(), &function.name, copied.length));
            }
        }
        Ok(copied)
    }

    fn loop_decision(&self, op: &UnwindOp) -> Result<&LoopDecision, Error> {
        self.decision
            .loops
            .get(&op.bwd)
            .ok_or_else(|| unsound(format!("nothing is decided about the loop of function {}", op.bwd.0)))
    }

    fn splits(&self, op: &UnwindOp, way: &Way) -> Vec<Split> {
        way.cuts.iter().map(|cut| split(self.branch_split.step(op.bwd), op, cut, &self.effects)).collect()
    }

    /// What the program's own loop records must exist before it; how many kinds of records it can make.
    fn sweep(&self, function: &Function, pair: &Pair) -> Result<u64, Error> {
        let inst = &function.insts[pair.unwind_inst];
        let Op::Unwind(op) = &inst.op else { return Ok(0) };
        let Some(way) = self.loop_decision(op)?.way(Sweep::Split) else { return Ok(0) };
        self.check_way(function, inst, op, Some(pair), way)?;
        let (before, [uses, _]) = (defined_before(function, pair.loop_inst), way.schedule.uses());
        for (split, _) in self.splits(op, way).iter().zip(&uses.tape).filter(|(_, used)| **used) {
            let is_known = |k: usize| (k > op.carries && !split.reads(k)) || before.contains(&inst.args[k]);
            if !(1..split.slice.params.len()).all(is_known) {
                return Err(unsound("a loop records what does not exist before it".into()));
            }
        }
        Ok(way.cuts.len() as u64)
    }

    /// What an unwind comes to in place.
    fn unwind(
        &mut self,
        function: &Function,
        inst: &Inst,
        op: &UnwindOp,
        pair: Option<&Pair>,
    ) -> Result<Copied, Error> {
        let key = (op.bwd, pair.map(|pair| pair.sweep));
        if let Some((_, known)) = self.unwound.iter().find(|(known, _)| *known == key) {
            return Ok(*known);
        }
        let decided = self.loop_decision(op)?.clone();
        let paired = pair.and_then(|pair| decided.way(pair.sweep));
        let Some(way) = paired.or_else(|| decided.way(Sweep::Joint)) else {
            return Err(unsound(format!(
                "nothing is decided about the loop of function {} where it stands alone",
                op.bwd.0
            )));
        };
        self.check_way(function, inst, op, pair, way)?;
        let (splits, [_, uses]) = (self.splits(op, way), way.schedule.uses());
        let taped: Vec<&Split> =
            splits.iter().zip(&uses.tape).filter(|(_, used)| **used).map(|(split, _)| split).collect();
        let reversed: Vec<&Split> =
            splits.iter().zip(&uses.reverse).filter(|(_, used)| **used).map(|(split, _)| split).collect();
        let forwards = self.repeated(op.body)?;
        let mut copied = Copied::default().and(forwards, u64::from(uses.advance) + taped.len() as u64);
        // A step in two by a cut stands there in its two parts, and as a whole where it is turned back on.
        let mut parts = vec![];
        for split in taped {
            parts.push(self.function(&split.slice)?);
        }
        for split in &reversed {
            parts.push(self.function(&split.reverse)?);
        }
        if uses.youturn || reversed.is_empty() {
            parts.push(self.body(op.bwd)?);
        }
        if parts.iter().any(|part| part.spills) {
            return Err(unsound("states of a loop inside another go to the disk".into()));
        }
        copied = parts.into_iter().fold(copied, |copied, part| copied.and(part, 1));
        let copied = Copied { spills: way.schedule.spill_bytes() > 0, ..copied };
        self.unwound.push((key, copied));
        Ok(copied)
    }

    /// The sizes and counts of a schedule are those of its loop.
    fn check_way(
        &self,
        function: &Function,
        inst: &Inst,
        op: &UnwindOp,
        pair: Option<&Pair>,
        way: &Way,
    ) -> Result<(), Error> {
        let forward = Forward::new(self.branch_split.step(op.bwd), op, &self.effects);
        if let Some(cut) = way.cuts.iter().find(|cut| !forward.is_cut(cut)) {
            return Err(unsound(format!("{:?} is no cut of function {}", cut.kept, op.bwd.0)));
        }
        let state: Vec<&Type> = op.args(&inst.args).carries.iter().map(|v| function.ty(*v)).collect();
        let of_state =
            |bytes: u64, slots: u64| bytes == row_layout(state.iter().copied()).1 && (1..=MOST_SLOTS).contains(&slots);
        let records: Vec<u64> = way.cuts.iter().map(|cut| forward.bytes(cut)).collect();
        let is_known_before = way.sweep != Sweep::Online;
        let fits = match &way.schedule {
            Schedule::Nothing => way.sweep == Sweep::Joint && way.cuts.len() == 1 && way.cuts[0].kept.is_empty(),
            Schedule::Revolve { slots, state_bytes } => is_known_before && of_state(*state_bytes, *slots),
            Schedule::Online { slots, state_bytes } => !is_known_before && of_state(*state_bytes, *slots),
            Schedule::Blocks(Blocks { steps, record_bytes, slots, state_bytes }) => {
                is_known_before && of_state(*state_bytes, *slots) && *steps >= 1 && records == [*record_bytes]
            }
            Schedule::Recipe(found) => {
                recipe::check(found).map_err(unsound)?;
                let counted = known_steps(function, inst, op, pair);
                (Some(found.steps), found.sweep) == (counted, way.sweep)
                    && of_state(found.state_bytes, 1)
                    && records == found.record_bytes
            }
        };
        if fits {
            Ok(())
        } else {
            Err(unsound(format!("`{}` is no schedule of the loop of function {}", way.schedule, op.bwd.0)))
        }
    }
}

/// What runs again outside of loops has run before, and has no effect.
fn check_again(main: &Function, again: &Rematerialised) -> Result<(), Error> {
    let runs_again = |k: usize| {
        let inst = &main.insts[k];
        let is_row = matches!(&inst.op, Op::Def(def, _) if !def.lowering.has_effect());
        is_row && !shares_factors(inst) && inst.results.iter().all(|v| main.ty(*v).rank() > 0)
    };
    for (before, insts) in &again.before {
        if *before >= main.insts.len() || !insts.iter().all(|k| k < before && runs_again(*k)) {
            return Err(unsound(format!("{insts:?} do not run again before instruction {before}")));
        }
    }
    Ok(())
}
