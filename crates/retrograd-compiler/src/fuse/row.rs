//! Sums along the lanes of a nest: a vector loop leaves its elements in a row, and they are combined after it, one after the other.
//!
//! In the loop itself every lane would wait for the lane before it, and all that the loop computes for the wait.

use super::Fuse;
use super::kernel::{Address, Order, Reg, RegType, Stmt};
use super::nest::Axis;
use crate::ir::{DType, Reduction};
use crate::plan::place::{Nest, Root, Val};

/// Elements that a step of the loop over a row combines.
const AT_ONCE: usize = 4;

/// One component of a sum along the lanes.
struct Sum {
    total: Reg,
    to: Address,
    row: Val,
    component: usize,
    how: Reduction,
    dtype: DType,
}

impl Fuse<'_> {
    /// Combines the rows of all sums along the lanes, their totals in registers.
    pub(super) fn sum_rows(&mut self, nest: &Nest, lanes: Axis, indices: &[(Reg, usize)]) {
        let sums = self.sums_along_lanes(nest, indices);
        if sums.is_empty() {
            return;
        }
        for sum in &sums {
            self.body.push(Stmt::Load { dst: sum.total, from: sum.to.clone() });
        }
        let (index, from, to) = (self.int(), self.literal(0), self.literal((lanes.extent / AT_ONCE) as i64));
        let body = self.nested(|fuse| (0..AT_ONCE).for_each(|k| fuse.combine_all(&sums, &[(index, AT_ONCE)], k)));
        self.body.push(Stmt::For { index, from, to, order: Order::Up, body });
        (lanes.extent / AT_ONCE * AT_ONCE..lanes.extent).for_each(|k| self.combine_all(&sums, &[], k));
        for sum in sums {
            self.body.push(Stmt::Store { to: sum.to, src: sum.total });
        }
    }

    fn sums_along_lanes(&mut self, nest: &Nest, indices: &[(Reg, usize)]) -> Vec<Sum> {
        let (mut sums, rank) = (vec![], nest.shape.len());
        for root in &nest.roots {
            if let Root::Accumulate { source, window, how, row: Some(row), .. } = root {
                let dtype = self.placed.ty(*source).dtype;
                for component in 0..self.placed.components(*source, rank) {
                    let to = self.place_of_sum(*source, window, component, rank, indices);
                    sums.push(Sum { total: self.reg(RegType::Scalar(dtype)), to, row: *row, component, how: *how, dtype });
                }
            }
        }
        sums
    }

    /// The next element of every row.
    fn combine_all(&mut self, sums: &[Sum], steps: &[(Reg, usize)], k: usize) {
        for sum in sums {
            let (from, x) = (self.in_row(sum.row, sum.component, steps, k), self.reg(RegType::Scalar(sum.dtype)));
            self.body.push(Stmt::Load { dst: x, from });
            let src = self.compute(sum.how.scalar(), sum.dtype, &[sum.total, x]);
            self.body.push(Stmt::Move { dst: sum.total, src });
        }
    }

    /// The place of an element in the row of a component: so many after that of the indices, which step by so many elements.
    pub(super) fn in_row(&mut self, row: Val, component: usize, steps: &[(Reg, usize)], k: usize) -> Address {
        let (size, extent) = (self.element_bytes(row), self.placed.ty(row).shape[1]);
        let terms = steps.iter().map(|(index, step)| (*index, *step as i64 * size)).collect();
        Address { base: self.base(row), terms, offset: (component * extent + k) as i64 * size }
    }
}
