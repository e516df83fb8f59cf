//! Sums over some axes, and contractions.

use super::Fuse;
use super::kernel::{Order, Reg, RegType, Stmt, Sum};
use super::nest::{Axis, loops};
use crate::ir::{Attrs, Scalar};
use crate::ops::{DotAxes, sum_axes};
use crate::plan::place::{Access, Val};

/// Index registers, each with the axis whose stride it steps by.
type Indices = Vec<(Reg, usize)>;

impl Fuse<'_> {
    /// A sum that keeps some axes: see `ops::SUM` for the order.
    pub(super) fn sum(&mut self, result: Val, operand: Val, axes: &[usize]) {
        let shape = self.placed.ty(operand).shape.clone();
        let (access, dtype) = (self.placed.access(operand).clone(), self.placed.ty(operand).dtype);
        let (kept, ascending, blocked) = sum_axes(shape.len(), axes);
        let over = |axes: &[usize]| {
            axes.iter().filter(|axis| shape[**axis] != 1).map(|axis| Axis { extent: shape[*axis], axis: *axis }).collect::<Vec<_>>()
        };
        // The result as a view over the axes of the operand.
        let mut target = Access { strides: vec![0; shape.len()], ..self.placed.access(result).clone() };
        for (k, axis) in kept.iter().enumerate() {
            target.strides[*axis] = self.placed.access(result).strides[k];
        }
        if blocked.is_empty() {
            let (to, bytes) = (self.whole(result), self.bytes(result));
            self.body.push(Stmt::Zero { to, bytes });
            // Only kept axes may be lanes: along summed ones every step adds to the same element.
            self.each_scalar(&over(&ascending), &mut vec![], &mut |fuse, indices| {
                fuse.each(&over(&kept), indices, &mut |fuse, indices| fuse.add_into(&target, &access, indices));
            });
            return;
        }
        let count: usize = blocked.iter().map(|axis| shape[*axis]).product();
        let step = blocked.iter().rev().find(|axis| shape[**axis] != 1).copied();
        self.each_scalar(&over(&kept), &mut vec![], &mut |fuse, indices| {
            let total = fuse.reg(RegType::Scalar(dtype));
            if ascending.is_empty() {
                fuse.blocked(total, count, step, indices, &[&access]);
            } else {
                fuse.body.push(Stmt::Literal { dst: total, bits: 0 });
                fuse.each_scalar(&over(&ascending), indices, &mut |fuse, indices| {
                    let row = fuse.reg(RegType::Scalar(dtype));
                    fuse.blocked(row, count, step, indices, &[&access]);
                    fuse.body.push(Stmt::Let { dst: total, op: Scalar::Add, args: vec![total, row] });
                });
            }
            let to = fuse.element(&target, indices);
            fuse.body.push(Stmt::Store { to, src: total });
        });
    }

    /// `target += operand`, one element.
    fn add_into(&mut self, target: &Access, operand: &Access, indices: &[(Reg, usize)]) {
        let to = self.element(target, indices);
        let dtype = self.placed.ty(operand.root).dtype;
        let old = self.reg(RegType::Scalar(dtype));
        self.body.push(Stmt::Load { dst: old, from: to.clone() });
        let x = self.operand(operand, indices);
        let src = self.compute(Scalar::Add, dtype, &[old, x]);
        self.body.push(Stmt::Store { to, src });
    }

    /// The blocked sum of the product of views along a run; `step` is the axis that the run steps by.
    fn blocked(&mut self, dst: Reg, count: usize, step: Option<usize>, indices: &[(Reg, usize)], views: &[&Access]) {
        let index = self.int();
        let mut inner = indices.to_vec();
        inner.extend(step.map(|axis| (index, axis)));
        let mut src = None;
        let body = self.nested(|fuse| {
            for view in views {
                let x = fuse.operand(view, &inner);
                src = Some(match src {
                    None => x,
                    Some(product) => fuse.compute(Scalar::Mul, fuse.placed.ty(view.root).dtype, &[product, x]),
                });
            }
        });
        let sums = vec![Sum { dst, src: src.expect("something is summed") }];
        self.body.push(Stmt::ForVec { index, count: count as u64, body, sums });
    }

    /// One element of a view: loaded, or a register that is the same for all.
    fn operand(&mut self, view: &Access, indices: &[(Reg, usize)]) -> Reg {
        if self.placed.is_scalar(view.root) {
            return self.value(view.root);
        }
        let from = self.element(view, indices);
        let dst = self.reg(RegType::Scalar(self.placed.ty(view.root).dtype));
        self.body.push(Stmt::Load { dst, from });
        dst
    }

    /// A contraction: see `ops::DOT` for the order.
    pub(super) fn dot(&mut self, result: Val, operands: [Val; 2], attrs: &Attrs) {
        let [lhs, rhs] = operands.map(|v| self.placed.access(v).clone());
        let shapes = operands.map(|v| self.placed.ty(v).shape.clone());
        let axes = DotAxes::new(attrs, shapes[0].len(), shapes[1].len());
        let count: usize = axes.lhs_contract.iter().map(|axis| shapes[0][*axis]).product();
        // Both operands as views over the axes of the result, with the contraction as one more axis at the end.
        let free = |own: &[usize], access: &Access, contract: &[usize], shape: &[usize], before: usize, after: usize| {
            let run = contract.iter().rev().find(|axis| shape[**axis] != 1).map_or(0, |axis| access.strides[*axis]);
            let mut strides = vec![0; before];
            strides.extend(own.iter().map(|axis| access.strides[*axis]));
            strides.extend(vec![0; after]);
            strides.push(run);
            strides
        };
        let (batch, left, right) = (axes.lhs_batch.len(), axes.lhs_free.len(), axes.rhs_free.len());
        let lhs_axes = [axes.lhs_batch.clone(), axes.lhs_free].concat();
        let lhs = Access { strides: free(&lhs_axes, &lhs, &axes.lhs_contract, &shapes[0], 0, right), ..lhs };
        let mut rhs_strides: Vec<i64> = axes.rhs_batch.iter().map(|axis| rhs.strides[*axis]).collect();
        rhs_strides.extend(vec![0; left]);
        rhs_strides.extend(free(&axes.rhs_free, &rhs, &axes.rhs_contract, &shapes[1], 0, 0));
        let rhs = Access { strides: rhs_strides, ..rhs };
        let ty = self.placed.ty(result).clone();
        let contraction = batch + left + right;
        if ty.rank() == 0 {
            let dst = self.value(result);
            self.blocked(dst, count, Some(contraction), &[], &[&lhs, &rhs]);
            return;
        }
        let target = self.placed.access(result).clone();
        let outer = loops(&ty.shape, &[], &(0..ty.rank()).collect::<Vec<_>>());
        self.each_scalar(&outer, &mut vec![], &mut |fuse, indices| {
            let total = fuse.reg(RegType::Scalar(ty.dtype));
            fuse.blocked(total, count, Some(contraction), indices, &[&lhs, &rhs]);
            let to = fuse.element(&target, indices);
            fuse.body.push(Stmt::Store { to, src: total });
        });
    }

    /// Scalar loops over axes.
    fn each_scalar(&mut self, axes: &[Axis], indices: &mut Indices, code: &mut dyn FnMut(&mut Self, &mut Indices)) {
        let [outer, rest @ ..] = axes else { return code(self, indices) };
        let (index, from, to) = (self.int(), self.literal(0), self.literal(outer.extent as i64));
        indices.push((index, outer.axis));
        let body = self.nested(|fuse| fuse.each_scalar(rest, indices, code));
        indices.pop();
        self.body.push(Stmt::For { index, from, to, order: Order::Up, body });
    }

    /// Scalar loops over all axes but the last, which is a vector loop.
    fn each(&mut self, axes: &[Axis], indices: &mut Indices, code: &mut dyn FnMut(&mut Self, &Indices)) {
        let Some((last, outer)) = axes.split_last() else { return code(self, indices) };
        self.each_scalar(outer, indices, &mut |fuse, indices| {
            let index = fuse.int();
            indices.push((index, last.axis));
            let body = fuse.nested(|fuse| code(fuse, indices));
            indices.pop();
            fuse.body.push(Stmt::ForVec { index, count: last.extent as u64, body, sums: vec![] });
        });
    }
}
