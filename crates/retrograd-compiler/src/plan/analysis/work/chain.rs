//! How long the steps of a loop over single numbers wait for those before them.

use super::function::Priced;
use super::prices::LATENCY_BOUND;
use super::{MOST, Numbers, lowering};
use crate::ir::{DType, Function, Inst, Lowering, Op, Value, View};
use crate::ops;
use crate::plan::analysis::counts::constant;

/// Steps after which numbers of a loop come as fast as they will.
const STEADY: usize = 8;

impl Priced<'_> {
    /// When the numbers of a step are there after those of the step before: by running steps for which instructions
    /// take as long as what waits for them sees. A number that is read of an array a few indices from where one is
    /// written is of a step before.
    pub(super) fn chain(&self, carries: &[Value]) -> u64 {
        let function = self.function;
        let places = |indices: &[Value]| indices.iter().map(|v| offset(function, *v)).collect::<Vec<_>>();
        let writes = function.insts.iter().filter(|inst| matches!(lowering(inst), Some(Lowering::Write(_))));
        let written: Vec<Vec<(Value, i64)>> = writes.map(|inst| places(&inst.args[2..])).collect();
        let near = |read: &[(Value, i64)], write: &[(Value, i64)]| {
            read != write && read.len() == write.len() && read.iter().zip(write).all(|(read, write)| read.0 == write.0)
        };
        let waits = |inst: &Inst| match lowering(inst) {
            Some(Lowering::View(View::DynamicSlice)) if function.ty(inst.results[0]).elements() == 1 => {
                let read = places(&inst.args[1..]);
                if written.iter().any(|write| near(&read, write)) { inst.args.clone() } else { inst.args[1..].to_vec() }
            }
            Some(Lowering::Write(_)) => inst.args[1..].to_vec(),
            Some(_) | None => inst.args.clone(),
        };
        let all: Vec<(Vec<Value>, u64)> =
            function.insts.iter().map(|inst| (waits(inst), self.waited_for(inst))).collect();
        let (mut ready, mut ends) = (vec![0u64; function.types.len()], vec![]);
        for _ in 0..=2 * STEADY {
            for (inst, (waits, latency)) in function.insts.iter().zip(&all) {
                let start = waits.iter().map(|v| ready[v.0 as usize]).max().unwrap_or(0);
                inst.results.iter().for_each(|v| ready[v.0 as usize] = start.saturating_add(*latency));
            }
            let after: Vec<u64> = carries.iter().zip(&function.results).map(|(_, end)| ready[end.0 as usize]).collect();
            ends.push(after.iter().copied().max().unwrap_or(0));
            carries.iter().zip(after).for_each(|(carry, after)| ready[carry.0 as usize] = after);
        }
        ((ends[2 * STEADY] - ends[STEADY]) / STEADY as u64).min(MOST)
    }

    /// How long who reads the results of an instruction waits for them.
    fn waited_for(&self, inst: &Inst) -> u64 {
        let in_turn = Priced { numbers: Numbers::LatencyBound, ..self.clone() };
        match lowering(inst) {
            Some(Lowering::View(View::DynamicSlice) | Lowering::Write(_)) => LATENCY_BOUND.at_index,
            Some(_) => in_turn.inst(inst),
            // It is work of the step, whoever waits for it.
            None => 0,
        }
    }
}

/// An index as another one and a distance from it.
fn offset(function: &Function, index: Value) -> (Value, i64) {
    let number = |value: Value| {
        constant(function, value).filter(|array| array.ty().dtype == DType::I64).map(|array| array.as_i64()[0])
    };
    let sum = |value: Value| {
        let inst = function.insts.iter().find(|inst| inst.results.contains(&value))?;
        match &inst.op {
            Op::Def(def, _) if *def == &ops::ADD => Some((inst.args[0], number(inst.args[1])?)),
            Op::Def(def, _) if *def == &ops::SUB => Some((inst.args[0], number(inst.args[1])?.wrapping_neg())),
            Op::Def(..) | Op::If(_) | Op::For(_) | Op::While(_) | Op::Unwind(_) | Op::Call(_) => None,
        }
    };
    let (mut from, mut distance) = (index, 0i64);
    while let Some((term, more)) = sum(from) {
        (from, distance) = (term, distance.wrapping_add(more));
    }
    (from, distance)
}
