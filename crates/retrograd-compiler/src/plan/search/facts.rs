//! What a strategy knows: the regions of a Program, and for every unwind its count, the bytes of its state, what can be
//! kept of a step, and what its steps cost.

use std::collections::BTreeSet;

use crate::ir::{FuncId, Function, Inst, Op, Pos, Program, Type, UnwindOp, Value};
use crate::plan::analysis::counts::{Integers, UNKNOWN_STEPS, constant};
use crate::plan::analysis::layout::row_layout;
use crate::plan::analysis::pair::{Pair, pairs, work_beyond};
use crate::plan::analysis::work::{SimdTarget, new_memory};
use crate::plan::decision::{Cut, Spill};
use crate::plan::search::Request;
use crate::plan::search::cut::{Fate, Forward, Search};
use crate::plan::transform::split::split;
use crate::plan::transform::split_branches::BranchSplit;
use retrograd_schedule::Sweep;

/// Facts about a Program.
#[derive(Clone, Debug, Default)]
pub struct Facts {
    /// One entry per unwind that has states to remember, outer ones before those inside them.
    pub loops: Vec<LoopFacts>,
    /// How they lie in the Program.
    pub root: Region,
    /// What is held of the code outside of loops where the most is held, and could be made again.
    pub residuals: Vec<Residual>,
    /// Work of the Program without its unwinds, in picoseconds.
    pub cost: u64,
    /// What all work was priced for.
    pub vectors: SimdTarget,
    /// A slower tier for states of loops that are not inside others.
    pub spill: Option<Spill>,
}

/// A part of a Program, as far as it has unwinds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Region {
    /// One after the other; empty is straight-line code.
    Sequence(Vec<Region>),
    /// One of them runs.
    Branches(Vec<Region>),
    /// A loop whose body has unwinds.
    Repeat {
        /// How often.
        times: u64,
        /// What.
        body: Box<Region>,
    },
    /// An unwind, by its number.
    Unwind(usize),
}

impl Default for Region {
    fn default() -> Region {
        Region::Sequence(vec![])
    }
}

/// Facts about one unwind.
#[derive(Clone, Debug)]
pub struct LoopFacts {
    /// Its bwd, by which a decision names it.
    pub bwd: FuncId,
    /// The user's line of the loop.
    pub pos: Pos,
    /// How many loops it is inside of.
    pub depth: usize,
    /// How many steps, where known before the run.
    pub count: Option<u64>,
    /// With which sweeps it can be met, the usual one first: where the program's own loop can be the first, and where
    /// it stands alone. A step of the loop outside that is reversed from a record may leave the own loop behind.
    pub sweeps: Vec<Sweep>,
    /// Bytes of the state that a restart needs.
    pub state_bytes: u64,
    /// Whether the state is single numbers.
    pub of_numbers: bool,
    /// What some record keeps.
    pub residuals: Vec<Residual>,
    /// What a record can keep, from the least work to the fewest bytes.
    pub choices: Vec<ChoiceFacts>,
    /// Cost of a step forwards, in picoseconds, without the unwinds inside.
    pub cost_forward: u64,
    /// Cost of a step backwards from its state, likewise.
    pub cost_turnback: u64,
    /// Cost of a state that is written and read again.
    pub cost_hold: u64,
    /// Unwinds inside a step forwards.
    pub in_body: Region,
    /// Unwinds inside a step backwards.
    pub in_bwd: Region,
}

/// One way to record a step.
#[derive(Clone, Debug)]
pub struct ChoiceFacts {
    /// What is kept.
    pub cut: Cut,
    /// Bytes of a record.
    pub bytes: u64,
    /// Cost of a step forwards with its record.
    pub cost_forward: u64,
    /// Cost of a step backwards from its record.
    pub cost_reverse: u64,
    /// Whether the program's own loop can make it: all that it needs exists then.
    pub in_sweep: bool,
}

impl ChoiceFacts {
    /// The sweep that records it where this one is met.
    pub fn sweep(&self, met: Sweep) -> Sweep {
        if self.in_sweep { met } else { Sweep::Joint }
    }
}

/// A forward value that the adjoint of a step reads, or that such a one follows from.
#[derive(Clone, Debug)]
pub struct Residual {
    /// Its number in the bwd.
    pub value: Value,
    /// What makes it, and the user's line.
    pub origin: String,
    /// Its type.
    pub ty: Type,
    /// The user's lines whose gradients read it.
    pub read_at: Vec<Pos>,
}

/// The user's lines at which some of these instructions read a value, each once.
pub(in crate::plan) fn readers<'i>(insts: impl IntoIterator<Item = &'i Inst>, value: Value) -> Vec<Pos> {
    let mut found: Vec<Pos> = vec![];
    for inst in insts.into_iter().filter(|inst| inst.pos.is_known() && inst.args.contains(&value)) {
        if !found.iter().any(|known| known.to_string() == inst.pos.to_string()) {
            found.push(inst.pos.clone());
        }
    }
    found
}

impl LoopFacts {
    /// What a step takes longer, in picoseconds, if a value is computed again instead of kept; `None` where some choice
    /// says nothing of it.
    pub fn cost_again(&self, value: Value) -> Option<i64> {
        let least = |keeps: bool| {
            let all = self.choices.iter().filter(|choice| choice.cut.kept.contains(&value) == keeps);
            all.map(|choice| (choice.cost_forward + choice.cost_reverse).cast_signed()).min()
        };
        Some(least(false)? - least(true)?)
    }

    /// The choice of the least work: every residual is kept.
    pub fn everything(&self) -> &ChoiceFacts {
        &self.choices[0]
    }

    /// Whether more memory always helps: the number of steps is known only at run time.
    pub fn is_open(&self) -> bool {
        self.count.is_none() && !self.keeps_nothing()
    }

    /// Whether a step can be reversed from what is at hand.
    pub fn keeps_nothing(&self) -> bool {
        self.choices.iter().any(|choice| choice.cut.kept.is_empty())
    }

    /// A bwd that occurs twice is decided once: by what is true of both.
    fn also(&mut self, other: &LoopFacts) {
        self.count = self.count.filter(|_| self.count == other.count);
        for sweep in &other.sweeps {
            if !self.sweeps.contains(sweep) {
                self.sweeps.push(*sweep);
            }
        }
        for (choice, other) in self.choices.iter_mut().zip(&other.choices) {
            choice.in_sweep &= other.in_sweep;
        }
    }
}

/// What the user has decided about a value, by what makes it and its line.
pub(in crate::plan) type Fates<'a> = &'a dyn Fn(&str) -> Option<Fate>;

/// Facts about a Program.
pub(in crate::plan) fn facts(branch_split: &BranchSplit, request: &Request, fates: Fates<'_>) -> Facts {
    let (program, vectors, search) = (&branch_split.program, request.vectors, request.strategy.search());
    let memory = request.budget.unwrap_or(u64::MAX);
    let mut visit =
        Visit { program, branch_split, vectors, memory, search, fates, effects: program.effects(), loops: vec![] };
    let root = visit.function(program.entry, &Integers::of(program.main()), 0);
    let cost = vectors.priced(program, program.main()).cost().saturating_add(new_memory(program.main()));
    Facts { loops: visit.loops, root, residuals: vec![], cost, vectors, spill: None }
}

struct Visit<'p> {
    program: &'p Program,
    branch_split: &'p BranchSplit,
    vectors: SimdTarget,
    /// Bytes that there are at most.
    memory: u64,
    search: Search,
    fates: Fates<'p>,
    /// Which functions have an effect.
    effects: Vec<bool>,
    loops: Vec<LoopFacts>,
}

impl Visit<'_> {
    fn function(&mut self, id: FuncId, integers: &Integers, depth: usize) -> Region {
        let function = self.program.function(id);
        let pairs = pairs(self.program, function);
        let regions = (0..function.insts.len()).filter_map(|k| {
            let inst = &function.insts[k];
            let region = match &inst.op {
                Op::Def(..) => return None,
                Op::If(op) => Region::Branches(
                    [op.then_body, op.else_body].map(|body| self.inside(inst, body, integers, 0, depth)).into(),
                ),
                Op::Call(op) => self.inside(inst, op.body, integers, 0, depth),
                Op::For(op) => self.repeat(inst, integers.steps(function, inst), &[op.body], integers, depth),
                Op::While(op) => self.repeat(inst, UNKNOWN_STEPS, &[op.cond, op.body], integers, depth),
                Op::Unwind(op) if op.carries == 0 => {
                    self.repeat(inst, integers.steps(function, inst), &[op.bwd], integers, depth)
                }
                Op::Unwind(op) => {
                    self.unwind(function, k, op, pairs.iter().find(|pair| pair.unwind_inst == k), integers, depth)
                }
            };
            Some(region).filter(|region| !region.is_straight())
        });
        Region::Sequence(regions.collect())
    }

    /// A body of an instruction, at a step of it.
    fn inside(&mut self, inst: &Inst, body: FuncId, integers: &Integers, step: u64, depth: usize) -> Region {
        self.function(body, &integers.inside(inst, self.program.function(body), step), depth)
    }

    fn repeat(&mut self, inst: &Inst, times: u64, bodies: &[FuncId], integers: &Integers, depth: usize) -> Region {
        let parts = bodies.iter().map(|body| self.inside(inst, *body, integers, times / 2, depth + 1)).collect();
        Region::Repeat { times, body: Box::new(Region::Sequence(parts)) }
    }

    fn unwind(
        &mut self,
        function: &Function,
        k: usize,
        op: &UnwindOp,
        pair: Option<&Pair>,
        integers: &Integers,
        depth: usize,
    ) -> Region {
        let found = self.loop_facts(function, k, op, integers, depth, pair);
        if let Some(known) = self.loops.iter().position(|known| known.bwd == op.bwd) {
            self.loops[known].also(&found);
            return Region::Unwind(known);
        }
        let number = self.loops.len();
        self.loops.push(found);
        let (inst, middle) = (&function.insts[k], integers.steps(function, &function.insts[k]) / 2);
        let [in_body, in_bwd] = [op.body, op.bwd].map(|body| self.inside(inst, body, integers, middle, depth + 1));
        if let Region::Sequence(parts) = &in_bwd {
            for part in parts {
                if let Region::Unwind(inner) = part
                    && !self.loops[*inner].sweeps.contains(&Sweep::Joint)
                {
                    self.loops[*inner].sweeps.push(Sweep::Joint);
                }
            }
        }
        (self.loops[number].in_body, self.loops[number].in_bwd) = (in_body, in_bwd);
        Region::Unwind(number)
    }

    fn loop_facts(
        &self,
        function: &Function,
        k: usize,
        op: &UnwindOp,
        integers: &Integers,
        depth: usize,
        pair: Option<&Pair>,
    ) -> LoopFacts {
        let (program, vectors) = (self.program, self.vectors);
        let inst = &function.insts[k];
        let (body, bwd) = (program.function(op.body), self.branch_split.step(op.bwd));
        let forward = Forward::new(bwd, op, &self.effects);
        let count = integers.steps(function, inst);
        // Of a step in the middle, from so many values.
        let middle =
            |step: &Function, carries: usize| integers.step(step, count / 2, carries, op.args(&inst.args).invariants);
        let forwards = vectors.priced_at(program, body, middle(body, op.carries));
        let forward_step = forwards.step(op.trajectory().args(&body.params).1);
        let backwards = vectors.priced_at(program, bwd, middle(bwd, op.carries));
        let inst_work = |inst: &Inst| backwards.inst(inst);
        let state: Vec<&Type> = op.args(&inst.args).carries.iter().map(|v| function.ty(*v)).collect();
        let state_bytes = row_layout(state.iter().copied()).1;
        let words = |bytes: u64| vectors.words(bytes / 8, bytes.saturating_mul(count).min(self.memory));
        let before = pair.map(|pair| defined_before(function, pair.loop_inst));
        // A step backwards from so many values.
        let back = |step: &Function, carries: usize| {
            let args = UnwindOp { carries, ..op.clone() };
            let args = args.args(&step.params);
            vectors.priced_at(program, step, middle(step, carries)).step(&[args.adjoints, args.running].concat())
        };
        let choice = |cut: Cut| {
            let split = split(bwd, op, &cut, &self.effects);
            let [written, read] = words(forward.bytes(&cut));
            let more = work_beyond(
                program,
                &forwards,
                &vectors.priced_at(program, &split.slice, middle(&split.slice, op.carries)),
            );
            let known = |before: &BTreeSet<Value>| {
                (1..split.slice.params.len()).all(|k| !split.reads(k) || before.contains(&inst.args[k]))
            };
            ChoiceFacts {
                bytes: forward.bytes(&cut),
                cost_forward: forward_step.with(more + written),
                cost_reverse: back(&split.reverse, split.kept.len()).with(read),
                in_sweep: before.as_ref().is_some_and(known),
                cut,
            }
        };
        let origin =
            |value: Value| self.branch_split.origin(op.bwd, value).cloned().unwrap_or_else(|| forward.origin(value));
        let fate = |value: Value| (self.fates)(&origin(value));
        let choices: Vec<ChoiceFacts> = forward.cuts(self.search, &inst_work, &fate).into_iter().map(choice).collect();
        let values: BTreeSet<Value> = choices.iter().flat_map(|choice| choice.cut.kept.iter().copied()).collect();
        let residual = |value: Value| Residual {
            value,
            origin: origin(value),
            ty: bwd.ty(value).clone(),
            read_at: readers(&bwd.insts, value),
        };
        LoopFacts {
            bwd: op.bwd,
            pos: inst.pos.clone(),
            depth,
            count: known_steps(function, inst, op, pair),
            sweeps: vec![pair.map_or(Sweep::Joint, |pair| pair.sweep)],
            state_bytes,
            of_numbers: state.iter().all(|ty| ty.rank() == 0),
            residuals: values.into_iter().map(residual).collect(),
            choices,
            cost_forward: forward_step.with(0),
            cost_turnback: back(program.function(op.bwd), op.carries).with(0),
            cost_hold: words(state_bytes).iter().sum(),
            in_body: Region::default(),
            in_bwd: Region::default(),
        }
    }
}

impl Region {
    /// Whether there is nothing to decide.
    pub fn is_straight(&self) -> bool {
        match self {
            Region::Sequence(parts) | Region::Branches(parts) => parts.iter().all(Region::is_straight),
            Region::Repeat { body, .. } => body.is_straight(),
            Region::Unwind(_) => false,
        }
    }
}

/// Values that exist before an instruction.
pub(in crate::plan) fn defined_before(function: &Function, inst: usize) -> BTreeSet<Value> {
    let made = function.insts[..inst].iter().flat_map(|inst| &inst.results);
    function.params.iter().chain(made).copied().collect()
}

/// How many steps an unwind has, where known before the run. More than there are rows of streams is a fault of the run,
/// which goes on with fewer.
pub(in crate::plan) fn known_steps(
    function: &Function,
    inst: &Inst,
    op: &UnwindOp,
    pair: Option<&Pair>,
) -> Option<u64> {
    let count = constant(function, inst.args[0])?.as_i64()[0].max(0) as u64;
    let rows = op.streams + op.emitted + inst.results.len() - op.adjoints - op.running;
    let walk = pair.map(|pair| &function.insts[pair.loop_inst]);
    let walked = walk.is_none_or(|walk| match &walk.op {
        Op::For(op) => {
            let streams = walk.args.len() - 1 - op.carries - op.invariants + walk.results.len() - op.carries;
            streams == 0 || count <= op.bound as u64
        }
        Op::Def(..) | Op::If(_) | Op::While(_) | Op::Unwind(_) | Op::Call(_) => true,
    });
    (walked && (rows == 0 || count <= op.bound as u64)).then_some(count)
}
