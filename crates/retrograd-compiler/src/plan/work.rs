//! What things cost, in additions: words of memory, instructions before they are placed, and the nodes that they become.
//!
//! An addition is one of many over arrays in cache, in vectors: the unit of time of all plans.

use std::collections::BTreeMap;

use super::facts::{UNKNOWN_STEPS, constant, steps};
use super::place::{Block, Call, Loop, Nest, Node, Placed, Step, Val};
use crate::ir::{DType, FuncId, Function, Inst, Lowering, Op, Program, Row, Type, Value};
use crate::ops::{self, DotAxes};

/// Additions that one core does in a second, in vectors of 128 bits, which Cranelift makes, and in those of 512 bits, which LLVM makes.
///
/// Measured on a core of a Zen 4 server, as the work of plans over the seconds of their runs: coupled oscillators, 1,000 and 10,000 steps
/// of 2,000 numbers with sines and exponentials, and a stencil over 64², under budgets and without.
pub(super) const NARROW_ADDITIONS_PER_SECOND: f64 = 3.5e9;
pub(super) const WIDE_ADDITIONS_PER_SECOND: f64 = 6.4e9;

/// A word of a record or a held state that is written, and that is read again: together five additions.
///
/// Measured there: Burgers' equation keeps six arrays of a step in 64 MB or two in 21 MB, and takes 0.63 ns longer for each word that is
/// kept and not computed again by one subtraction.
pub(super) const WRITTEN_WORD: u64 = 3;
pub(super) const READ_WORD: u64 = 2;

/// Work of one call of a function, without unwinds that have states to remember.
pub(super) fn cost(program: &Program, function: &Function) -> u64 {
    let (mut work, mut branches) = (0u64, Branches::default());
    for inst in &function.insts {
        match &inst.op {
            Op::If(op) => branches.add(inst.args[0], [op.then_body, op.else_body].map(|body| cost(program, program.function(body)))),
            Op::Row(..) | Op::For(_) | Op::While(_) | Op::Unwind(_) | Op::Call(_) => {
                work = work.saturating_add(inst_cost(program, function, inst))
            }
        }
    }
    work.saturating_add(branches.work(function))
}

/// Work of the branches of a function, by their predicate: those of one predicate go the same way.
#[derive(Default)]
pub(super) struct Branches {
    sides: BTreeMap<Value, [u64; 2]>,
}

impl Branches {
    pub(super) fn add(&mut self, predicate: Value, sides: [u64; 2]) {
        let known = self.sides.entry(predicate).or_default();
        *known = [0, 1].map(|k| known[k].saturating_add(sides[k]));
    }

    /// The dearer side, or what the two take on average where one is known to be rare.
    pub(super) fn work(&self, function: &Function) -> u64 {
        let either = |(predicate, [one, other]): (&Value, &[u64; 2])| match period(function, *predicate) {
            None => *one.max(other),
            Some(period) => one.saturating_add(other.saturating_mul(period - 1)).div_ceil(period),
        };
        self.sides.iter().map(either).fold(0, u64::saturating_add)
    }
}

/// Work of one instruction, likewise.
pub(super) fn inst_cost(program: &Program, function: &Function, inst: &Inst) -> u64 {
    let body = |id: FuncId| cost(program, program.function(id));
    match &inst.op {
        Op::Row(row, attrs) => {
            let args: Vec<&Type> = inst.args.iter().map(|v| function.ty(*v)).collect();
            let contracted = |args: &[&Type]| {
                let axes = DotAxes::new(attrs, args[0].rank(), args[1].rank()).lhs_contract;
                axes.iter().map(|axis| args[0].shape[*axis] as u64).fold(1, u64::saturating_mul)
            };
            row_cost(row, &args, function.ty(inst.results[0]), contracted)
        }
        Op::If(op) => {
            let mut branches = Branches::default();
            branches.add(inst.args[0], [op.then_body, op.else_body].map(body));
            branches.work(function)
        }
        Op::For(op) => steps(function, inst).saturating_mul(body(op.body)),
        Op::While(op) => UNKNOWN_STEPS.saturating_mul(body(op.cond).saturating_add(body(op.body))),
        Op::Unwind(op) if op.carries == 0 => steps(function, inst).saturating_mul(body(op.bwd)),
        Op::Unwind(_) => 0,
        Op::Call(op) => body(op.body),
    }
}

/// Where a predicate holds once in so many steps: it is `x rem n == k`.
fn period(function: &Function, predicate: Value) -> Option<u64> {
    let row = |value: Value, wanted: &Row| {
        let inst = function.insts.iter().find(|inst| inst.results.contains(&value))?;
        matches!(&inst.op, Op::Row(row, _) if *row == wanted).then_some(inst)
    };
    let equal = row(predicate, &crate::ops::EQ)?;
    let remainder = equal.args.iter().find_map(|v| row(*v, &crate::ops::REM))?;
    let number = constant(function, remainder.args[1]).filter(|number| number.ty().rank() == 0 && number.ty().dtype == DType::I64)?;
    u64::try_from(number.as_i64()[0]).ok().filter(|number| *number > 0)
}

/// Work of a row: its cost for each element that it goes through.
fn row_cost(row: &Row, args: &[&Type], result: &Type, contracted: impl Fn(&[&Type]) -> u64) -> u64 {
    let elements = |ty: &Type| ty.elements() as u64;
    let largest = args.iter().map(|ty| elements(ty)).fold(elements(result), u64::max);
    let gone_through = match row.lowering {
        // Another view of the same memory is no work.
        Lowering::View(_) | Lowering::Constant => 0,
        // Every element of the result is a sum of products.
        Lowering::Dot => elements(result).saturating_mul(contracted(args)),
        // What is not written stays where it is.
        Lowering::Write(_) | Lowering::Scatter(..) => elements(args[1]),
        Lowering::Pick(_) => elements(result),
        // n³: a matrix is gone through once for each of its rows. What works along an axis goes through once.
        Lowering::Routine(_) | Lowering::Factored(_) if !row.attrs.contains(&"axis") => largest.saturating_mul(last_extent(args[0])),
        Lowering::Routine(_) | Lowering::Factored(_) | Lowering::Reduce(_) | Lowering::Line(_) | Lowering::Composed(_) => largest,
        Lowering::Map(_) | Lowering::Convert | Lowering::Iota | Lowering::Probe | Lowering::Missing => largest,
    };
    u64::from(row.cost).saturating_mul(gone_through)
}

fn last_extent(ty: &Type) -> u64 {
    ty.shape.last().map_or(1, |extent| *extent as u64)
}

impl Nest {
    /// Work of all its elements.
    pub fn work(&self, placed: &Placed) -> u64 {
        let components = |value: &Val| placed.components(*value, self.shape.len()) as u64;
        let rows = self.rows.iter().map(|item| u64::from(item.row.cost) * components(&item.result)).sum::<u64>();
        let each = rows + self.roots.iter().map(|root| components(root.source())).sum::<u64>();
        self.shape.iter().map(|extent| *extent as u64).fold(each, u64::saturating_mul)
    }
}

impl Loop {
    /// Work of all its steps.
    pub(in crate::plan) fn work(&self, placed: &Placed) -> u64 {
        self.steps.unwrap_or(UNKNOWN_STEPS).saturating_mul(self.step.work(placed))
    }
}

impl Step {
    fn work(&self, placed: &Placed) -> u64 {
        self.block.work(placed)
    }
}

impl Block {
    fn work(&self, placed: &Placed) -> u64 {
        self.nodes.iter().map(|node| node.work(placed)).fold(0, u64::saturating_add)
    }
}

impl Node {
    fn work(&self, placed: &Placed) -> u64 {
        let elements = |value: &Val| placed.ty(*value).elements() as u64;
        match self {
            Node::Scalar(item) => u64::from(item.row.cost),
            Node::Load { .. } | Node::Clamp { .. } | Node::Probe { .. } => 1,
            Node::Nest(nest) => nest.work(placed),
            Node::Reduce { operand, .. } => elements(operand),
            Node::Line { operands, .. } => operands.iter().map(elements).sum(),
            // m·k, k·n and m·n elements are m·n·k products.
            Node::Dot { result, operands: [left, right], .. } => {
                let all = [result, left, right].map(|value| elements(value) as f64);
                u64::from(ops::DOT.cost).saturating_mul(all.iter().product::<f64>().sqrt() as u64)
            }
            Node::Call(call) => call.work(placed),
            Node::If(branch) => branch.blocks.iter().map(|block| block.work(placed)).max().unwrap_or(0),
            Node::For(node) => node.work(placed),
            Node::While(node) => UNKNOWN_STEPS.saturating_mul(node.cond.work(placed).saturating_add(node.step.work(placed))),
            Node::Sweep(drive) | Node::Reversal(drive) => {
                let steps = placed.trajectories[drive.trajectory.0 as usize].steps.unwrap_or(UNKNOWN_STEPS);
                steps.saturating_mul(drive.steps().map(|step| step.work(placed)).fold(0, u64::saturating_add))
            }
        }
    }
}

impl Call {
    /// A product of matrices says it itself; of other routines, what they go through once.
    fn work(&self, placed: &Placed) -> u64 {
        if self.attrs.get("products").is_some() {
            return u64::from(ops::DOT.cost).saturating_mul(ops::Products::read(&self.attrs).work() as u64);
        }
        let all = self.args.iter().chain(&self.scratch).chain([&self.result]);
        all.map(|value: &Val| placed.ty(*value).elements() as u64).sum()
    }
}
