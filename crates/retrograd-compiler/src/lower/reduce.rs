//! Reductions over some axes.

use super::KernelBuilder;
use super::kernel::{Address, Fold, Order, Reg, RegType, Stmt};
use super::nest::Axis;
use crate::ir::{Reduction, Scalar};
use crate::ops::sum_axes;
use crate::plan::memory::{Access, Val};

/// Index registers, each with the axis whose stride it steps by.
pub(super) type Indices = Vec<(Reg, usize)>;

impl KernelBuilder<'_> {
    /// A reduction that keeps some axes: see `ops::SUM` for the order.
    pub(super) fn reduce(&mut self, result: Val, operand: Val, axes: &[usize], how: Reduction) {
        let shape = self.placed.ty(operand).shape.clone();
        let (access, dtype) = (self.placed.access(operand).clone(), self.placed.ty(operand).dtype);
        let (kept, ascending, blocked) = sum_axes(shape.len(), axes);
        let over = |axes: &[usize]| {
            axes.iter()
                .filter(|axis| shape[**axis] != 1)
                .map(|axis| Axis { extent: shape[*axis], axis: *axis })
                .collect::<Vec<_>>()
        };
        // The result as a view over the axes of the operand.
        let mut target = Access { strides: vec![0; shape.len()], ..self.placed.access(result).clone() };
        for (k, axis) in kept.iter().enumerate() {
            target.strides[*axis] = self.placed.access(result).strides[k];
        }
        if blocked.is_empty() {
            self.fill(result, how.identity(dtype));
            // Only kept axes may be lanes: along reduced ones every step combines with the same element.
            self.each_scalar(&over(&ascending), &mut vec![], &mut |lower, indices| {
                lower.each(&over(&kept), indices, &mut |lower, indices| {
                    lower.combine_into(&target, &access, how, indices)
                });
            });
            return;
        }
        let count: usize = blocked.iter().map(|axis| shape[*axis]).product();
        let step = blocked.iter().rev().find(|axis| shape[**axis] != 1).copied();
        self.each_scalar(&over(&kept), &mut vec![], &mut |lower, indices| {
            let total = lower.reg(RegType::Scalar(dtype));
            if ascending.is_empty() {
                lower.blocked(total, count, step, indices, &[&access], how);
            } else {
                lower.body.push(Stmt::Literal { dst: total, bits: how.identity(dtype) });
                lower.each_scalar(&over(&ascending), indices, &mut |lower, indices| {
                    let row = lower.reg(RegType::Scalar(dtype));
                    lower.blocked(row, count, step, indices, &[&access], how);
                    lower.body.push(Stmt::Let { dst: total, op: how.scalar(), args: vec![total, row] });
                });
            }
            let to = lower.element(&target, indices);
            lower.body.push(Stmt::Store { to, src: total });
        });
    }

    /// The same bits in every element.
    pub(super) fn fill(&mut self, value: Val, bits: u64) {
        let (to, bytes, ty) = (self.whole(value), self.bytes(value), self.placed.ty(value).clone());
        if bits == 0 {
            self.body.push(Stmt::Zero { to, bytes });
            return;
        }
        let (index, src) = (self.int(), self.reg(RegType::Scalar(ty.dtype)));
        let to = Address { terms: vec![(index, ty.dtype.bytes() as i64)], ..to };
        let body = vec![Stmt::Literal { dst: src, bits }, Stmt::Store { to, src }];
        self.body.push(Stmt::ForVec { index, count: ty.elements() as u64, body, folds: vec![] });
    }

    /// An element of `target`, combined with one of `operand`.
    fn combine_into(&mut self, target: &Access, operand: &Access, how: Reduction, indices: &[(Reg, usize)]) {
        let to = self.element(target, indices);
        let x = self.operand(operand, indices);
        let src = self.combined(how.scalar(), self.placed.ty(operand.root).dtype, &to, x);
        self.body.push(Stmt::Store { to, src });
    }

    /// The blocked reduction of the product of views along a run; `step` is the axis that the run steps by.
    pub(super) fn blocked(
        &mut self,
        dst: Reg,
        count: usize,
        step: Option<usize>,
        indices: &[(Reg, usize)],
        views: &[&Access],
        how: Reduction,
    ) {
        let index = self.int();
        let mut inner = indices.to_vec();
        inner.extend(step.map(|axis| (index, axis)));
        let mut src = None;
        let body = self.nested(|lower| {
            for (k, view) in views.iter().enumerate() {
                src = Some(match src {
                    None => lower.operand(view, &inner),
                    Some(product) => {
                        // A square reads its factor once.
                        let x = if k == 1 && views[0] == *view { product } else { lower.operand(view, &inner) };
                        lower.compute(Scalar::Mul, lower.placed.ty(view.root).dtype, &[product, x])
                    }
                });
            }
        });
        let folds = vec![Fold { dst, src: src.expect("something is reduced"), how }];
        self.body.push(Stmt::ForVec { index, count: count as u64, body, folds });
    }

    /// One element of a view: loaded, or a register that is the same for all.
    pub(super) fn operand(&mut self, view: &Access, indices: &[(Reg, usize)]) -> Reg {
        if self.placed.is_scalar(view.root) {
            return self.value(view.root);
        }
        let from = self.element(view, indices);
        let dst = self.reg(RegType::Scalar(self.placed.ty(view.root).dtype));
        self.body.push(Stmt::Load { dst, from });
        dst
    }

    /// Scalar loops over axes.
    pub(super) fn each_scalar(
        &mut self,
        axes: &[Axis],
        indices: &mut Indices,
        code: &mut dyn FnMut(&mut Self, &mut Indices),
    ) {
        let [outer, rest @ ..] = axes else { return code(self, indices) };
        let (index, from, to) = (self.int(), self.literal(0), self.literal(outer.extent as i64));
        indices.push((index, outer.axis));
        let body = self.nested(|lower| lower.each_scalar(rest, indices, code));
        indices.pop();
        self.body.push(Stmt::For { index, from, to, order: Order::Up, body });
    }

    /// Scalar loops over all axes but the last, which is a vector loop.
    pub(super) fn each(&mut self, axes: &[Axis], indices: &mut Indices, code: &mut dyn FnMut(&mut Self, &Indices)) {
        let Some((last, outer)) = axes.split_last() else { return code(self, indices) };
        self.each_scalar(outer, indices, &mut |lower, indices| {
            let index = lower.int();
            indices.push((index, last.axis));
            let body = lower.nested(|lower| code(lower, indices));
            indices.pop();
            lower.body.push(Stmt::ForVec { index, count: last.extent as u64, body, folds: vec![] });
        });
    }
}
