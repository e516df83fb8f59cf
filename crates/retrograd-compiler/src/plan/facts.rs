//! What a strategy knows: for every unwind its count, the bytes of its state and residuals, and what its steps cost.

use super::pair::pairs;
use super::schedule::Sweep;
use super::split::split;
use crate::ir::{Array, FuncId, Function, Inst, Op, Pos, Program, Type, UnwindOp, Value};

/// Facts about all unwinds of a Program, outer ones before those inside them.
#[derive(Clone, Debug, Default)]
pub struct Facts {
    /// One entry per unwind that has states to remember.
    pub loops: Vec<LoopFacts>,
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
    /// Whether the program's own loop can be the first sweep.
    pub sweep: Sweep,
    /// Bytes of the state that a restart needs.
    pub state_bytes: u64,
    /// What recording a step keeps.
    pub residuals: Vec<Residual>,
    /// Cost of a step forwards, in additions.
    pub cost_forward: u64,
    /// Cost of a step backwards from its residuals.
    pub cost_reverse: u64,
    /// Cost of a step backwards from its state.
    pub cost_turnback: u64,
}

/// A forward value that the adjoint of a step reads.
#[derive(Clone, Debug)]
pub struct Residual {
    /// What makes it, and the user's line.
    pub origin: String,
    /// Its type.
    pub ty: Type,
}

impl LoopFacts {
    /// Bytes that recording one step keeps.
    pub fn residual_bytes(&self) -> u64 {
        self.residuals.iter().map(|residual| residual.ty.bytes() as u64).sum()
    }
}

/// Facts about a Program.
pub(super) fn facts(program: &Program) -> Facts {
    let mut facts = Facts::default();
    visit(program, program.entry, 0, &mut facts);
    facts
}

fn visit(program: &Program, id: FuncId, depth: usize, facts: &mut Facts) {
    let function = program.function(id);
    let pairs = pairs(program, function);
    for (k, inst) in function.insts.iter().enumerate() {
        if let Op::Unwind(op) = &inst.op
            && op.carries > 0
            && facts.loops.iter().all(|known| known.bwd != op.bwd)
        {
            let sweep = if pairs.iter().any(|pair| pair.unwind_inst == k) { Sweep::Paired } else { Sweep::Alone };
            facts.loops.push(loop_facts(program, function, inst, op, depth, sweep));
        }
        let deeper = depth + usize::from(matches!(inst.op, Op::For(_) | Op::While(_) | Op::Unwind(_)));
        inst.bodies().into_iter().for_each(|body| visit(program, body, deeper, facts));
    }
}

fn loop_facts(program: &Program, function: &Function, inst: &Inst, op: &UnwindOp, depth: usize, sweep: Sweep) -> LoopFacts {
    let bwd = program.function(op.bwd);
    let split = split(bwd, op, &program.effects());
    LoopFacts {
        bwd: op.bwd,
        pos: inst.pos.clone(),
        depth,
        count: constant(function, inst.args[0]).map(|n| n.as_i64()[0].max(0) as u64),
        sweep,
        state_bytes: op.args(&inst.args).carries.iter().map(|v| (function.ty(*v).bytes() as u64).next_multiple_of(8)).sum(),
        residuals: split.kept.iter().map(|kept| Residual { origin: kept.origin.clone(), ty: kept.ty.clone() }).collect(),
        cost_forward: cost(program, program.function(op.body)),
        cost_reverse: cost(program, &split.reverse),
        cost_turnback: cost(program, bwd),
    }
}

/// The literal that a value is, if it is one.
pub(super) fn constant(function: &Function, value: Value) -> Option<&Array> {
    let inst = function.insts.iter().find(|inst| inst.results.contains(&value))?;
    match &inst.op {
        Op::Row(row, attrs) if *row == &crate::ops::CONSTANT => Some(attrs.array("value")),
        Op::Row(..) | Op::If(_) | Op::For(_) | Op::While(_) | Op::Unwind(_) | Op::Call(_) => None,
    }
}

/// Steps that a loop of unknown length is taken to have where costs are compared.
const UNKNOWN_STEPS: u64 = 100;

/// Work of one call of a function, in additions.
fn cost(program: &Program, function: &Function) -> u64 {
    function.insts.iter().map(|inst| inst_cost(program, function, inst)).sum()
}

fn inst_cost(program: &Program, function: &Function, inst: &Inst) -> u64 {
    let body = |id: FuncId| cost(program, program.function(id));
    let steps = || constant(function, inst.args[0]).map_or(UNKNOWN_STEPS, |n| n.as_i64()[0].max(0) as u64);
    match &inst.op {
        Op::Row(row, _) => {
            let elements = inst.args.iter().chain(&inst.results).map(|v| function.ty(*v).elements() as u64).max().unwrap_or(0);
            u64::from(row.cost) * elements
        }
        Op::If(op) => body(op.then_body).max(body(op.else_body)),
        Op::For(op) => steps().saturating_mul(body(op.body)),
        Op::While(op) => UNKNOWN_STEPS.saturating_mul(body(op.cond) + body(op.body)),
        Op::Unwind(op) => steps().saturating_mul(body(op.body) + body(op.bwd)),
        Op::Call(op) => body(op.body),
    }
}
