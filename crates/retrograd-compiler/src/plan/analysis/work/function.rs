//! Work of a function and of its instructions: loops, branches and calls by what is inside of them.

use super::prices::needs_short_vectors;
use super::traffic::walked;
use super::{Branches, MOST, Numbers, SimdTarget};
use crate::ir::{FuncId, Function, Inst, Lowering, Op, Program, Type, Value};
use crate::plan::analysis::counts::{Integers, UNKNOWN_STEPS, middle, typical};

/// Steps from which a loop runs in lanes.
const LANES_FROM: u64 = 16;

/// Loops in each other of which two steps stand for all; further inside it is one: two at every level would be a power
/// of the depth.
const PAIRS: usize = 4;

/// A function, and what its code is made of.
#[derive(Clone, Debug)]
pub(in crate::plan) struct Priced<'p> {
    pub(super) program: &'p Program,
    pub(in crate::plan) function: &'p Function,
    pub(super) integers: Integers,
    pub(super) numbers: Numbers,
    pub(super) back_end: SimdTarget,
    /// The vectors that its own arrays are worked on in.
    pub(super) here: SimdTarget,
    /// Loops around it of which this is one of two steps that stand for all.
    pub(super) pairs: usize,
}

/// Work of a step of a loop.
#[derive(Clone, Copy, Debug)]
pub(in crate::plan) struct StepCost {
    /// Of all that it does.
    work: u64,
    /// From one step to the next, where each waits for numbers of the one before: so long takes whatever is done
    /// meanwhile.
    chain: u64,
    /// Of numbers from far away, for which all wait.
    walked: u64,
}

impl StepCost {
    /// Of a step that does so much more.
    pub(in crate::plan) fn with(self, more: u64) -> u64 {
        self.chain.max(self.work.saturating_add(more)).saturating_add(self.walked)
    }
}

impl SimdTarget {
    /// What a function costs, and its instructions.
    pub(in crate::plan) fn priced<'p>(self, program: &'p Program, function: &'p Function) -> Priced<'p> {
        self.priced_at(program, function, Integers::of(function))
    }

    /// The same where some integers are known.
    pub(in crate::plan) fn priced_at<'p>(
        self,
        program: &'p Program,
        function: &'p Function,
        integers: Integers,
    ) -> Priced<'p> {
        self.priced_by(program, function, integers, Numbers::InTurn, 0)
    }

    fn priced_by<'p>(
        self,
        program: &'p Program,
        function: &'p Function,
        integers: Integers,
        numbers: Numbers,
        pairs: usize,
    ) -> Priced<'p> {
        let here = match self {
            SimdTarget::Bits512Or128
                if function.insts.iter().any(|inst| needs_short_vectors(function, inst, numbers)) =>
            {
                SimdTarget::Bits128
            }
            SimdTarget::Bits128 | SimdTarget::Bits512Or128 | SimdTarget::Widest => self,
        };
        Priced { program, function, integers, numbers, back_end: self, here, pairs }
    }
}

impl<'p> Priced<'p> {
    /// Work of one call of the function, without unwinds that have states to remember: its instructions, and the arrays
    /// that it reads and leaves. What is between stays in registers.
    pub(in crate::plan) fn cost(&self) -> u64 {
        self.work().saturating_add(walked(self.function)).min(MOST)
    }

    fn work(&self) -> u64 {
        let (mut work, mut branches) = (self.here.traffic(self.function), Branches::default());
        for inst in &self.function.insts {
            match &inst.op {
                Op::If(op) => branches
                    .add(inst.args[0], [op.then_body, op.else_body].map(|side| self.body(inst, side, self.numbers))),
                Op::Def(..) | Op::For(_) | Op::While(_) | Op::Unwind(_) | Op::Call(_) => {
                    work = work.saturating_add(self.inst(inst))
                }
            }
        }
        work.saturating_add(branches.work(self.function)).min(MOST)
    }

    /// Work of one of its instructions, likewise, without what it reads and leaves.
    pub(in crate::plan) fn inst(&self, inst: &Inst) -> u64 {
        let (program, function, numbers) = (self.program, self.function, self.numbers);
        match &inst.op {
            Op::Def(def, attrs) => {
                let args: Vec<&Type> = inst.args.iter().map(|v| function.ty(*v)).collect();
                self.here.row_cost(def, attrs, &args, function.ty(inst.results[0]), numbers)
            }
            Op::If(op) => {
                let mut branches = Branches::default();
                branches.add(inst.args[0], [op.then_body, op.else_body].map(|side| self.body(inst, side, numbers)));
                branches.work(function)
            }
            Op::For(op) => {
                let step = program.function(op.body);
                self.steps(inst, step, op.args(&step.params).1)
            }
            Op::While(op) => {
                let step = self.inside(inst, op.body, Numbers::InTurn);
                let body = step.step(op.args(&step.function.params).0);
                UNKNOWN_STEPS.saturating_mul(body.with(self.body(inst, op.cond, Numbers::InTurn)))
            }
            Op::Unwind(op) if op.carries == 0 => {
                let step = program.function(op.bwd);
                let args = op.args(&step.params);
                self.steps(inst, step, &[args.adjoints, args.running].concat())
            }
            Op::Unwind(_) => 0,
            Op::Call(op) => self.body(inst, op.body, numbers),
        }
    }

    /// Work of all steps of a loop inside, which carry these of their parameters to their first results.
    fn steps(&self, inst: &Inst, step: &Function, carries: &[Value]) -> u64 {
        let count = self.integers.steps(self.function, inst);
        let numbers = numbers_of(step, carries, count);
        let some = if self.pairs < PAIRS { typical(self.program, inst, step, count) } else { vec![middle(count)] };
        let pairs = self.pairs + some.len() - 1;
        let at = |index: u64| {
            let step =
                self.back_end.priced_by(self.program, step, self.integers.inside(inst, step, index), numbers, pairs);
            match numbers {
                Numbers::InTurn | Numbers::LatencyBound => step.step(carries).with(0),
                Numbers::InLanes => step.cost(),
            }
        };
        let work = some.iter().map(|index| at(*index)).fold(0, u64::saturating_add);
        count.saturating_mul(work / some.len() as u64)
    }

    /// Work of the function as a step of a loop, which carries these of its parameters to its first results.
    pub(in crate::plan) fn step(&self, carries: &[Value]) -> StepCost {
        StepCost { work: self.work(), chain: self.chain(carries), walked: walked(self.function) }
    }

    fn body(&self, inst: &Inst, id: FuncId, numbers: Numbers) -> u64 {
        self.inside(inst, id, numbers).cost()
    }

    /// A branch that one of its instructions runs.
    pub(in crate::plan) fn branch(&self, inst: &Inst, id: FuncId) -> Priced<'p> {
        self.inside(inst, id, self.numbers)
    }

    /// What one of its instructions runs, other than the steps of a loop that counts them.
    fn inside(&self, inst: &Inst, id: FuncId, numbers: Numbers) -> Priced<'p> {
        let body = self.program.function(id);
        self.back_end.priced_by(self.program, body, self.integers.inside(inst, body, 0), numbers, self.pairs)
    }
}

/// The steps of a loop run in lanes if each array that it carries, in the order of its first results, stays as it is or
/// is only written into (`lower/lanes.rs`).
fn numbers_of(step: &Function, carries: &[Value], count: u64) -> Numbers {
    let only_written = |carry: Value| {
        let mut value = carry;
        while let Some(inst) = step.insts.iter().find(|inst| inst.args.contains(&value)) {
            let writes = matches!(&inst.op, Op::Def(def, _) if matches!(def.lowering, Lowering::Write(_)));
            let readers = step.insts.iter().filter(|inst| inst.args.contains(&value)).count();
            if !writes || readers > 1 || inst.args[0] != value || inst.args[1..].contains(&value) {
                return false;
            }
            value = inst.results[0];
        }
        true
    };
    let lets_lanes =
        |(carry, end): (&Value, &Value)| carry == end || (step.ty(*carry).rank() > 0 && only_written(*carry));
    if count >= LANES_FROM && carries.iter().zip(&step.results).all(lets_lanes) {
        Numbers::InLanes
    } else {
        Numbers::InTurn
    }
}
