//! What values an index can have: one that cannot leave its axis is not checked in every step.

use super::super::tree::Val;
use super::Flatten;
use crate::ir::{DType, Lowering, Row, Scalar};

/// The least and the greatest value of an integer.
pub(super) type Range = (i64, i64);

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
    pub(super) fn bound_row(&mut self, result: Val, row: &Row, args: &[Val]) {
        let Lowering::Map(op) = row.lowering else { return };
        let ranges: Option<Vec<Range>> = args.iter().map(|arg| self.range(*arg)).collect();
        if let Some(range) = ranges.and_then(|ranges| arithmetic(op, &ranges)) {
            self.ranges.insert(result, range);
        }
    }
}

fn arithmetic(op: Scalar, ranges: &[Range]) -> Option<Range> {
    let corners = |of: fn(i64, i64) -> Option<i64>| -> Option<Range> {
        let [(a, b), (c, d)] = [ranges[0], ranges[1]];
        let values = [of(a, c)?, of(a, d)?, of(b, c)?, of(b, d)?];
        Some((*values.iter().min()?, *values.iter().max()?))
    };
    // Of each of these, the least and the greatest come from ends of ranges.
    if op == Scalar::Add {
        corners(i64::checked_add)
    } else if op == Scalar::Sub {
        corners(i64::checked_sub)
    } else if op == Scalar::Mul {
        corners(i64::checked_mul)
    } else if op == Scalar::Min {
        corners(|a, b| Some(a.min(b)))
    } else if op == Scalar::Max {
        corners(|a, b| Some(a.max(b)))
    } else {
        None
    }
}
