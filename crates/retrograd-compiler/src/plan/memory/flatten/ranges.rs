//! What values an index can have: one that cannot leave its axis is not checked in every step.

use super::super::tree::Val;
use super::Flatten;
use crate::ir::{DType, Lowering, OpDef};
use crate::plan::analysis::ranges::{Range, arithmetic};

impl Flatten<'_> {
    /// What a scalar integer can be, as far as that follows from literals and from the counts of loops.
    pub(super) fn range(&self, value: Val) -> Option<Range> {
        match self.constants.get(&value) {
            Some(known) => (known.dtype() == DType::I64).then(|| known.as_i64()[0]).map(|known| (known, known)),
            None => self.ranges.get(&value).copied(),
        }
    }

    /// The index of a loop goes from 0 to before its count.
    pub(super) fn bound_index(&mut self, index: Val, count: Val) {
        if let Some((_, most)) = self.range(count) {
            self.ranges.insert(index, (0, (most - 1).max(0)));
        }
    }

    /// What a row gives of arguments in their ranges; nothing is known where it might wrap.
    pub(super) fn bound_row(&mut self, result: Val, def: &OpDef, args: &[Val]) {
        let Lowering::Map(op) = def.lowering else { return };
        let ranges: Vec<Option<Range>> = args.iter().map(|arg| self.range(*arg)).collect();
        if let Some(range) = arithmetic(op, &ranges) {
            self.ranges.insert(result, range);
        }
    }
}
