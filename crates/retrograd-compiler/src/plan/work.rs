//! Work of instructions, in additions.

use std::collections::BTreeMap;

use super::facts::{UNKNOWN_STEPS, constant, steps};
use crate::ir::{DType, FuncId, Function, Inst, Lowering, Op, Program, Row, Type, Value};
use crate::ops::DotAxes;

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
        // 2 m n k: every element of the result is a sum of products.
        Lowering::Dot => elements(result).saturating_mul(contracted(args)),
        // What is not written stays where it is.
        Lowering::Write(_) | Lowering::Scatter(..) => elements(args[1]),
        Lowering::Pick(_) => elements(result),
        // n³: a matrix is gone through once for each of its rows. What works along an axis goes through once.
        Lowering::Routine(_) | Lowering::Factored(_) if !row.attrs.contains(&"axis") => {
            largest.saturating_mul(args[0].shape.last().map_or(1, |extent| *extent as u64))
        }
        Lowering::Routine(_) | Lowering::Factored(_) | Lowering::Reduce(_) | Lowering::Line(_) | Lowering::Composed(_) => largest,
        Lowering::Map(_) | Lowering::Convert | Lowering::Iota | Lowering::Probe | Lowering::Missing => largest,
    };
    u64::from(row.cost).saturating_mul(gone_through)
}
