//! Contractions as loops: see `ops::DOT` for the order.

use std::collections::BTreeMap;

use super::KernelBuilder;
use super::kernel::{Address, Order, Reg, RegType, RoutineCall, Stmt};
use super::nest::{Axis, loops};
use super::reduce::Indices;
use crate::ir::{Attrs, Reduction, Scalar, Type};
use crate::ops::{DotAxes, DotOrder, PRODUCTS, Products};
use crate::plan::memory::{Access, Call, Onto, Val};

/// Multiplications of a contraction that can be stopped on its way.
const LONG: usize = 1 << 24;

/// Multiplications between two moments at which a call of products can be stopped.
const LONG_CALL: usize = 1 << 28;

/// An axis of fewer elements makes no vector loop where there is a longer one.
const SHORT: usize = 8;

/// Jammed of a part are a multiple of these, which are packed at once.
const ROWS: usize = 96;

/// Most multiplications of a vector loop's body.
const UNROLLED: usize = 256;

/// One side of a contraction as a view over the axes of the result.
struct Side {
    access: Access,
    /// Where the numbers of one sum are, from its first, in order.
    steps: Vec<i64>,
}

impl KernelBuilder<'_> {
    /// A contraction.
    pub(super) fn dot(&mut self, result: Val, operands: [Val; 2], attrs: &Attrs, onto: Option<&Onto>) {
        let types = operands.map(|v| self.placed.ty(v).clone());
        let axes = DotAxes::new(attrs, types[0].rank(), types[1].rank());
        let accesses = operands.map(|v| self.placed.access(v).clone());
        match axes.order(types[0].dtype) {
            DotOrder::Blocked => self.blocked_dot(result, accesses, [&types[0].shape, &types[1].shape], axes),
            DotOrder::Chained => self.chained_dot(result, accesses, [&types[0].shape, &types[1].shape], &axes, onto),
        }
    }

    fn blocked_dot(&mut self, result: Val, [lhs, rhs]: [Access; 2], shapes: [&[usize]; 2], axes: DotAxes) {
        let count: usize = axes.lhs_contract.iter().map(|axis| shapes[0][*axis]).product();
        // Both operands as views over the axes of the result, with the contraction as one more axis at the end.
        let run = |access: &Access, contract: &[usize], shape: &[usize]| {
            contract.iter().rev().find(|axis| shape[**axis] != 1).map_or(0, |axis| access.strides[*axis])
        };
        let runs = [run(&lhs, &axes.lhs_contract, shapes[0]), run(&rhs, &axes.rhs_contract, shapes[1])];
        let [mut lhs, mut rhs] = over_result(lhs, rhs, &axes);
        lhs.strides.push(runs[0]);
        rhs.strides.push(runs[1]);
        let ty = self.placed.ty(result).clone();
        let contraction = ty.rank();
        if ty.rank() == 0 {
            let dst = self.value(result);
            self.blocked(dst, count, Some(contraction), &[], &[&lhs, &rhs], Reduction::Sum);
            return;
        }
        let target = self.placed.access(result).clone();
        let long = count.saturating_mul(ty.elements()) >= LONG;
        self.each_scalar(&apart(&ty), &mut vec![], &mut |lower, indices| {
            if long {
                lower.poll();
            }
            let total = lower.reg(RegType::Scalar(ty.dtype));
            lower.blocked(total, count, Some(contraction), indices, &[&lhs, &rhs], Reduction::Sum);
            let to = lower.element(&target, indices);
            lower.body.push(Stmt::Store { to, src: total });
        });
    }

    /// Every sum in registers. Lanes are elements along the last axis; where that is short, along the longest one, and
    /// all of the axes behind it are code of their own: a small matrix for each element of a long batch.
    fn chained_dot(
        &mut self,
        result: Val,
        [lhs, rhs]: [Access; 2],
        shapes: [&[usize]; 2],
        axes: &DotAxes,
        onto: Option<&Onto>,
    ) {
        let steps = [
            offsets(&axes.lhs_contract, shapes[0], &lhs.strides),
            offsets(&axes.rhs_contract, shapes[1], &rhs.strides),
        ];
        let [lhs, rhs] = over_result(lhs, rhs, axes);
        let [lhs_steps, rhs_steps] = steps;
        let sides = [Side { access: lhs, steps: lhs_steps }, Side { access: rhs, steps: rhs_steps }];
        let (ty, target) = (self.placed.ty(result).clone(), self.placed.access(result).clone());
        let all = apart(&ty);
        let (before, behind) = all.split_at(vector_axis(&all, sides[0].steps.len()));
        let places: Vec<usize> = behind.iter().map(|axis| axis.axis).collect();
        let inner = |access: &Access| offsets(&places, &ty.shape, &access.strides);
        let inner: Vec<[i64; 3]> =
            (inner(&sides[0].access).into_iter().zip(inner(&sides[1].access)).zip(inner(&target)))
                .map(|((lhs, rhs), to)| [lhs, rhs, to])
                .collect();
        self.each(before, &mut vec![], &mut |lower, indices| {
            let mut known = [BTreeMap::new(), BTreeMap::new()];
            for [lhs, rhs, to] in &inner {
                let to = lower.element(&moved(&target, *to), indices);
                let start = lower.reg(RegType::Scalar(ty.dtype));
                lower.body.push(match onto {
                    Some(_) => Stmt::Load { dst: start, from: to.clone() },
                    None => Stmt::Literal { dst: start, bits: 0 },
                });
                let sum = lower.chain(start, &sides, [*lhs, *rhs], &mut known, indices);
                lower.body.push(Stmt::Store { to, src: sum });
            }
        });
    }

    /// One element of a chained contraction, from where it starts.
    fn chain(
        &mut self,
        start: Reg,
        sides: &[Side; 2],
        starts: [i64; 2],
        known: &mut [BTreeMap<i64, Reg>; 2],
        indices: &Indices,
    ) -> Reg {
        let dtype = self.placed.ty(sides[0].access.root).dtype;
        let mut sum = start;
        for (lhs, rhs) in sides[0].steps.iter().zip(&sides[1].steps) {
            let factors =
                [(0, starts[0] + lhs), (1, starts[1] + rhs)].map(|(side, offset)| match known[side].get(&offset) {
                    Some(reg) => *reg,
                    None => {
                        let reg = self.operand(&moved(&sides[side].access, offset), indices);
                        known[side].insert(offset, reg);
                        reg
                    }
                });
            sum = self.compute(Scalar::Fma, dtype, &[factors[0], factors[1], sum]);
        }
        sum
    }
}

/// Whether a call is of products that take long enough to be stopped.
pub(super) fn takes_long(call: &Call) -> bool {
    call.attrs.get("products").is_some() && Products::read(&call.attrs).work() >= LONG_CALL
}

impl KernelBuilder<'_> {
    /// Products part by part, so that they can be stopped: of a batch one by one, else by rows. A part has the bits of
    /// the whole.
    pub(super) fn products(&mut self, call: &Call) {
        let whole = Products::read(&call.attrs);
        let [m, n, k] = whole.extents;
        let rows = (LONG_CALL / (n * k)).max(1).next_multiple_of(ROWS);
        if whole.batch > 1 {
            let one = Products { batch: 1, ..whole };
            self.parts(call, one, whole.batch, [whole.lhs[0], whole.rhs[0], m * n]);
        } else {
            let some = Products { extents: [rows.min(m), n, k], ..whole };
            let steps = [rows * whole.lhs[1], 0, rows * n];
            self.parts(call, some, m / rows.min(m), steps);
            let rest = m % rows.min(m);
            if rest > 0 {
                let done = (m / rows) as i64;
                self.strip(
                    call,
                    Products { extents: [rest, n, k], ..whole },
                    steps.map(|step| Offset::Fixed(done * step as i64)),
                );
            }
        }
    }

    fn parts(&mut self, call: &Call, part: Products, count: usize, steps: [usize; 3]) {
        let (index, from, to) = (self.int(), self.literal(0), self.literal(count as i64));
        let body = self.nested(|lower| lower.strip(call, part, steps.map(|step| Offset::Times(index, step as i64))));
        self.body.push(Stmt::For { index, from, to, order: Order::Up, body });
    }

    /// One part: left, right and result this far from where the whole has them.
    fn strip(&mut self, call: &Call, part: Products, offsets: [Offset; 3]) {
        let dtype = self.placed.ty(call.result).dtype;
        let moved = |address: Address, offset: &Offset| match *offset {
            Offset::Fixed(elements) => Address { offset: address.offset + elements * dtype.bytes() as i64, ..address },
            Offset::Times(_, 0) => address,
            Offset::Times(index, step) => {
                let terms = address.terms.iter().copied().chain([(index, step * dtype.bytes() as i64)]).collect();
                Address { terms, ..address }
            }
        };
        let [lhs, rhs] = [call.args[0], call.args[1]].map(|v| self.element(&self.placed.access(v).clone(), &[]));
        let args = vec![moved(lhs, &offsets[0]), moved(rhs, &offsets[1])];
        let result = moved(self.whole(call.result), &offsets[2]);
        let routine = RoutineCall {
            routine: PRODUCTS,
            attrs: part.attrs(),
            args: part.spans().map(|span| Type::new(dtype, [span])).to_vec(),
            result: Type::new(dtype, [part.extents[0] * part.extents[1]]),
            scratch: call.scratch.iter().map(|v| self.placed.ty(*v).clone()).collect(),
        };
        self.body.push(Stmt::Poll { reached: None });
        self.call_over(routine, args, result, &call.scratch);
    }
}

/// How far a part is from the whole, in elements.
enum Offset {
    Fixed(i64),
    Times(Reg, i64),
}

/// A loop for each axis of more than one element.
fn apart(ty: &Type) -> Vec<Axis> {
    loops(&ty.shape, &[], &(0..ty.rank()).collect::<Vec<_>>())
}

/// How many axes are loops, the last of them the vector loop; those behind are unrolled.
fn vector_axis(axes: &[Axis], steps: usize) -> usize {
    let longest = (0..axes.len()).rev().max_by_key(|k| axes[*k].extent).unwrap_or(0);
    let behind: usize = axes.iter().skip(longest + 1).map(|axis| axis.extent).product();
    match axes.last() {
        Some(last) if last.extent < SHORT && axes[longest].extent >= SHORT && behind * steps <= UNROLLED => longest + 1,
        Some(_) | None => axes.len(),
    }
}

/// Offsets of all elements along axes, the first outermost.
fn offsets(axes: &[usize], shape: &[usize], strides: &[i64]) -> Vec<i64> {
    axes.iter().fold(vec![0], |offsets, axis| {
        offsets.iter().flat_map(|offset| (0..shape[*axis] as i64).map(move |k| offset + k * strides[*axis])).collect()
    })
}

fn moved(access: &Access, by: i64) -> Access {
    Access { offset: access.offset + by, ..access.clone() }
}

/// Both sides as views over the axes of the result: batch, left and right.
fn over_result(lhs: Access, rhs: Access, axes: &DotAxes) -> [Access; 2] {
    let along = |access: &Access, axes: &[usize]| axes.iter().map(|axis| access.strides[*axis]).collect::<Vec<i64>>();
    let (left, right) = (vec![0; axes.lhs_free.len()], vec![0; axes.rhs_free.len()]);
    let lhs_strides = [along(&lhs, &axes.lhs_batch), along(&lhs, &axes.lhs_free), right].concat();
    let rhs_strides = [along(&rhs, &axes.rhs_batch), left, along(&rhs, &axes.rhs_free)].concat();
    [Access { strides: lhs_strides, ..lhs }, Access { strides: rhs_strides, ..rhs }]
}
