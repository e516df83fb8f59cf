//! Contractions on their way into memory: which of them are calls, and what they read.

use super::group::{Group, collapses};
use super::tree::{Access, Call, Node, Onto, OpItem, Val};
use crate::ir::Type;
use crate::ops::{DotAxes, DotOrder, PRODUCTS, Products, Start};
use crate::plan::analysis::grain::{extents, is_called};

/// Axes of one operand by role: batch, free and contracted.
type Roles<'a> = [&'a [usize]; 3];

impl Group<'_> {
    /// A contraction over operands that its loops, or its call, can walk.
    pub(super) fn contraction(&mut self, item: &OpItem) -> Node {
        let [lhs, rhs] = [item.args[0], item.args[1]];
        let onto = item.args.get(2).map(|base| Onto { base: *base, copies: false });
        let axes = DotAxes::new(&item.attrs, self.placed.ty(lhs).rank(), self.placed.ty(rhs).rank());
        match axes.order(self.placed.ty(lhs).dtype) {
            DotOrder::Blocked => {
                let (operands, attrs) = self.dot_operands(item);
                Node::Dot { result: item.result, operands, attrs, onto: None }
            }
            DotOrder::Chained => {
                let [batch, m, n, k] = extents(&axes, &[lhs, rhs].map(|v| self.placed.ty(v)));
                if !is_called([batch, m, n, k]) {
                    return Node::Dot { result: item.result, operands: [lhs, rhs], attrs: item.attrs.clone(), onto };
                }
                let (lhs, lhs_strides) = self.as_matrices(lhs, [&axes.lhs_batch, &axes.lhs_free, &axes.lhs_contract]);
                let (rhs, rhs_strides) = self.as_matrices(rhs, [&axes.rhs_batch, &axes.rhs_contract, &axes.rhs_free]);
                let start = if onto.is_some() { Start::Result } else { Start::Zero };
                let products = Products { batch, extents: [m, n, k], lhs: lhs_strides, rhs: rhs_strides, start };
                self.products(item.result, [lhs, rhs], products, onto)
            }
        }
    }

    /// An operand in memory in which one step walks each of the roles, with these steps; it is a copy where that is not
    /// so.
    fn as_matrices(&mut self, value: Val, roles: Roles<'_>) -> (Val, [usize; 3]) {
        let shape = self.placed.ty(value).shape.clone();
        let access = self.placed.access(value);
        let walks = |axes: &[usize]| collapses(access, &shape, axes);
        let forwards = access.strides.iter().zip(&shape).all(|(stride, extent)| *stride >= 0 || *extent == 1);
        if !self.placed.is_scalar(access.root) && forwards && roles.iter().all(|axes| walks(axes)) {
            return (value, roles.map(|axes| step(access, &shape, axes)));
        }
        let order = roles.concat();
        let ty = Type::new(self.placed.ty(value).dtype, order.iter().map(|axis| shape[*axis]).collect::<Vec<_>>());
        let mut access = access.clone();
        access.strides = order.iter().map(|axis| access.strides[*axis]).collect();
        let view = self.seen_as(ty.clone(), access);
        let copy = self.copy(view);
        let (mut first, access) = (0, self.placed.access(copy));
        let steps = roles.map(|axes| {
            let places: Vec<usize> = (first..first + axes.len()).collect();
            first += axes.len();
            step(access, &ty.shape, &places)
        });
        (copy, steps)
    }

    fn products(&mut self, result: Val, operands: [Val; 2], products: Products, onto: Option<Onto>) -> Node {
        let spans = products.spans();
        let args: Vec<Val> = [0, 1]
            .map(|k| {
                let access = Access { strides: vec![1], ..self.placed.access(operands[k]).clone() };
                self.seen_as(Type::new(self.placed.ty(operands[k]).dtype, [spans[k]]), access)
            })
            .to_vec();
        let (attrs, types) = (products.attrs(), args.iter().map(|v| self.placed.ty(*v).clone()).collect::<Vec<_>>());
        let scratch = (PRODUCTS.scratch)(&types, &attrs).into_iter().map(|ty| self.placed.define(ty)).collect();
        Node::Call(Box::new(Call { routine: PRODUCTS, attrs, args, result, scratch, onto }))
    }

    /// Another way to see memory.
    fn seen_as(&mut self, ty: Type, access: Access) -> Val {
        let view = self.placed.define(ty);
        self.placed.access[view.0 as usize] = access;
        view
    }
}

/// The step from one element to the next along axes that one step walks.
fn step(access: &Access, shape: &[usize], axes: &[usize]) -> usize {
    let last = axes.iter().rev().find(|axis| shape[**axis] != 1);
    last.map_or(0, |axis| usize::try_from(access.strides[*axis]).expect("an operand of a call is walked forwards"))
}
