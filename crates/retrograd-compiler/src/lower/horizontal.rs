//! Horizontal reductions, sums along the lanes of a nest: a vector loop leaves its elements in a row, and they are combined after it, one
//! after the other.
//!
//! In the loop itself every lane would wait for the lane before it, and all that the loop computes for the wait. Jammed
//! that have sums of their own are combined several at a time: each addition waits for the one before it in its row,
//! and those of other rows go on meanwhile.

use super::KernelBuilder;
use super::kernel::{Address, Reg, RegType, Stmt};
use super::nest::{Axis, up};
use crate::ir::{DType, Reduction, Scalar};
use crate::plan::memory::{Access, Nest, NestOutput, Val};

/// One component of a sum along the lanes, of one row.
struct Sum {
    total: Reg,
    to: Address,
    rows: Val,
    row: usize,
    component: usize,
    how: Reduction,
    dtype: DType,
}

/// How many rows of a nest are summed along the lanes at a time.
pub(super) struct RowsAtOnce {
    count: usize,
    /// The axis of the loop over rows, where there are several.
    axis: Option<usize>,
}

impl RowsAtOnce {
    pub(super) const ONE: RowsAtOnce = RowsAtOnce { count: 1, axis: None };
}

impl KernelBuilder<'_> {
    /// How many rows have room for their elements, where the nest has sums along its lanes.
    pub(super) fn rows_with_room(&self, nest: &Nest) -> usize {
        let rows_held = |output: &NestOutput| match output {
            NestOutput::Accumulate { rows: Some(rows), .. } => Some(self.placed.ty(*rows).shape[0]),
            NestOutput::Accumulate { rows: None, .. }
            | NestOutput::Store { .. }
            | NestOutput::Write { .. }
            | NestOutput::Reduce { .. } => None,
        };
        nest.outputs.iter().filter_map(rows_held).max().unwrap_or(1)
    }

    /// Loops over rows: groups of as many as have room, whose sums along the lanes are taken beside each other, and
    /// then the rows that remain.
    pub(super) fn rows_beside(&mut self, [around, lanes]: [Axis; 2], indices: &mut Vec<(Reg, usize)>, nest: &Nest) {
        let count = self.rows_with_room(nest);
        let (group, first, row, nth) = (self.int(), self.int(), self.int(), self.int());
        let [zero, all] = [0, count].map(|number| self.literal(number as i64));
        let several = self.nested(|lower| {
            lower.body.push(Stmt::Let { dst: first, op: Scalar::Mul, args: vec![group, all] });
            indices.push((row, around.axis));
            let one = lower.nested(|lower| {
                lower.body.push(Stmt::Let { dst: row, op: Scalar::Add, args: vec![first, nth] });
                lower.vector_loop(lanes, indices, nest, Some(nth));
            });
            lower.body.push(up(nth, [zero, all], one));
            indices.pop();
            indices.push((first, around.axis));
            lower.sum_rows(nest, lanes, indices, &RowsAtOnce { count, axis: Some(around.axis) });
            indices.pop();
        });
        let groups = self.literal((around.extent / count) as i64);
        self.body.push(up(group, [zero, groups], several));
        if !around.extent.is_multiple_of(count) {
            let range = [around.extent / count * count, around.extent].map(|number| self.literal(number as i64));
            indices.push((row, around.axis));
            let one = self.nested(|lower| {
                lower.vector_loop(lanes, indices, nest, None);
                lower.sum_rows(nest, lanes, indices, &RowsAtOnce::ONE);
            });
            indices.pop();
            self.body.push(up(row, range, one));
        }
    }

    /// Combines the elements of some rows, for all sums along the lanes, their totals in registers. The indices are
    /// those of the first row.
    pub(super) fn sum_rows(&mut self, nest: &Nest, lanes: Axis, indices: &[(Reg, usize)], rows: &RowsAtOnce) {
        let sums: Vec<Sum> = (0..rows.count).flat_map(|row| self.sums_of_row(nest, indices, rows, row)).collect();
        if sums.is_empty() {
            return;
        }
        for sum in &sums {
            self.body.push(Stmt::Load { dst: sum.total, from: sum.to.clone() });
        }
        let (index, range) = (self.int(), [0, lanes.extent].map(|number| self.literal(number as i64)));
        let body = self.nested(|lower| lower.combine_all(&sums, index));
        self.body.push(up(index, range, body));
        for sum in sums {
            self.body.push(Stmt::Store { to: sum.to, src: sum.total });
        }
    }

    fn sums_of_row(&mut self, nest: &Nest, indices: &[(Reg, usize)], at_once: &RowsAtOnce, row: usize) -> Vec<Sum> {
        let (mut sums, rank) = (vec![], nest.shape.len());
        for output in &nest.outputs {
            if let NestOutput::Accumulate { source, window, how, axes, rows: Some(rows), .. } = output {
                assert!(
                    at_once.axis.is_none_or(|axis| !axes.contains(&axis)),
                    "rows that are summed at once have sums of their own"
                );
                let further = at_once.axis.map_or(0, |axis| window.strides[axis] * row as i64);
                let (window, dtype) =
                    (Access { offset: window.offset + further, ..window.clone() }, self.placed.ty(*source).dtype);
                for component in 0..self.placed.components(*source, rank) {
                    let to = self.place_of_sum(*source, &window, component, rank, indices);
                    sums.push(Sum {
                        total: self.reg(RegType::Scalar(dtype)),
                        to,
                        rows: *rows,
                        row,
                        component,
                        how: *how,
                        dtype,
                    });
                }
            }
        }
        sums
    }

    /// The element at an index of every row: more than one a step would fill the registers with what is loaded.
    fn combine_all(&mut self, sums: &[Sum], index: Reg) {
        for sum in sums {
            let (x, row) = (self.reg(RegType::Scalar(sum.dtype)), self.placed.ty(sum.rows).shape[1] * sum.row);
            let from = self.in_row(sum.rows, row + sum.component, index, None);
            self.body.push(Stmt::Load { dst: x, from });
            let src = self.compute(sum.how.scalar(), sum.dtype, &[sum.total, x]);
            self.body.push(Stmt::Move { dst: sum.total, src });
        }
    }

    /// The place of an element of a component, in the row of this number or the first.
    pub(super) fn in_row(&mut self, rows: Val, component: usize, index: Reg, row: Option<Reg>) -> Address {
        let (size, shape) = (self.element_bytes(rows), &self.placed.ty(rows).shape);
        let bytes = |elements: usize| elements as i64 * size;
        let (of_row, offset) = (bytes(shape[1] * shape[2]), bytes(component * shape[2]));
        let terms = [(index, size)].into_iter().chain(row.map(|row| (row, of_row))).collect();
        Address { base: self.base(rows), terms, offset }
    }
}
