//! Work of branches, of which one side runs.

use std::collections::BTreeMap;

use crate::ir::{DType, Function, Op, OpDef, Value};
use crate::plan::analysis::counts::constant;

/// Work of the branches of a function, by their predicate: those of one predicate go the same way.
#[derive(Default)]
pub(in crate::plan) struct Branches {
    sides: BTreeMap<Value, [u64; 2]>,
}

impl Branches {
    pub(in crate::plan) fn add(&mut self, predicate: Value, sides: [u64; 2]) {
        let known = self.sides.entry(predicate).or_default();
        *known = [0, 1].map(|k| known[k].saturating_add(sides[k]));
    }

    /// The dearer side, or what the two take on average where one is known to be rare.
    pub(in crate::plan) fn work(&self, function: &Function) -> u64 {
        let either = |(predicate, [one, other]): (&Value, &[u64; 2])| match period(function, *predicate) {
            None => *one.max(other),
            Some(period) => one.saturating_add(other.saturating_mul(period - 1)).div_ceil(period),
        };
        self.sides.iter().map(either).fold(0, u64::saturating_add)
    }
}

/// Where a predicate holds once in so many steps: it is `x rem n == k`.
fn period(function: &Function, predicate: Value) -> Option<u64> {
    let row = |value: Value, wanted: &OpDef| {
        let inst = function.insts.iter().find(|inst| inst.results.contains(&value))?;
        matches!(&inst.op, Op::Def(row, _) if *row == wanted).then_some(inst)
    };
    let equal = row(predicate, &crate::ops::EQ)?;
    let remainder = equal.args.iter().find_map(|v| row(*v, &crate::ops::REM))?;
    let number = constant(function, remainder.args[1])
        .filter(|number| number.ty().rank() == 0 && number.ty().dtype == DType::I64)?;
    u64::try_from(number.as_i64()[0]).ok().filter(|number| *number > 0)
}
