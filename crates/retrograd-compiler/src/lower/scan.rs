//! Walks along an axis, in ascending order: what is carried is in a register, or, where axes inside of it can be lanes,
//! in the result.

use super::KernelBuilder;
use super::kernel::{Order, Reg, RegType, Stmt};
use super::nest::Axis;
use super::reduce::Indices;
use crate::ir::{DType, Reduction, Scalar, Scan};
use crate::plan::memory::{Access, Val};

impl KernelBuilder<'_> {
    /// One walk for every scan along the axis.
    pub(super) fn scan(&mut self, result: Val, operands: &[Val], axis: usize, scan: Scan) {
        let shape = self.placed.ty(operands[0]).shape.clone();
        if shape.contains(&0) {
            return;
        }
        let over = |axes: std::ops::Range<usize>| {
            axes.filter(|axis| shape[*axis] != 1).map(|axis| Axis { extent: shape[axis], axis }).collect::<Vec<_>>()
        };
        let (outer, inner) = (over(0..axis), over(axis + 1..shape.len()));
        let views: Vec<Access> = operands.iter().map(|v| self.placed.access(*v).clone()).collect();
        let walk = Walk { scan, axis, extent: shape[axis], views };
        match scan {
            Scan::Cumulative(_) | Scan::Linear => {
                let target = self.placed.access(result).clone();
                self.each_scalar(&outer, &mut vec![], &mut |lower, indices| match inner.is_empty() {
                    true => lower.walk_in_register(&walk, &target, indices),
                    false => lower.walk_in_lanes(&walk, &target, &inner, indices),
                });
            }
            Scan::ArgExtremum(how) => {
                let target = self.placed.access(result).clone();
                let lines = [outer, inner].concat();
                self.each_scalar(&lines, &mut vec![], &mut |lower, indices| {
                    let best = lower.find_place(&walk, how, indices);
                    if lower.placed.is_scalar(result) {
                        let dst = lower.value(result);
                        lower.body.push(Stmt::Move { dst, src: best });
                        return;
                    }
                    // The axes of the result are those of the operand without the one that was walked.
                    let kept: Indices = indices
                        .iter()
                        .map(|(reg, other)| (*reg, if *other > axis { other - 1 } else { *other }))
                        .collect();
                    let to = lower.element(&target, &kept);
                    lower.body.push(Stmt::Store { to, src: best });
                });
            }
        }
    }

    fn walk_in_register(&mut self, walk: &Walk, target: &Access, indices: &mut Indices) {
        let carried = self.reg(RegType::Scalar(self.placed.ty(target.root).dtype));
        let first = self.operand(walk.start(), indices);
        self.body.push(Stmt::Move { dst: carried, src: first });
        let to = self.element(target, indices);
        self.body.push(Stmt::Store { to, src: carried });
        self.along(walk, indices, |lower, indices| {
            let next = lower.next(walk, carried, indices);
            lower.body.push(Stmt::Move { dst: carried, src: next });
            let to = lower.element(target, indices);
            lower.body.push(Stmt::Store { to, src: carried });
        });
    }

    /// All lines of some inner axes at once; what is carried is the result so far.
    fn walk_in_lanes(&mut self, walk: &Walk, target: &Access, inner: &[Axis], indices: &mut Indices) {
        self.each(inner, indices, &mut |lower, indices| {
            let src = lower.operand(walk.start(), indices);
            let to = lower.element(target, indices);
            lower.body.push(Stmt::Store { to, src });
        });
        let before = Access { offset: target.offset - target.strides[walk.axis], ..target.clone() };
        self.along(walk, indices, |lower, indices| {
            lower.each(inner, indices, &mut |lower, indices| {
                let carried = lower.operand(&before, indices);
                let src = lower.next(walk, carried, indices);
                let to = lower.element(target, indices);
                lower.body.push(Stmt::Store { to, src });
            });
        });
    }

    /// The second and all further elements along the axis.
    fn along(&mut self, walk: &Walk, indices: &mut Indices, code: impl FnOnce(&mut Self, &mut Indices)) {
        let (index, from, to) = (self.int(), self.literal(1), self.literal(walk.extent as i64));
        indices.push((index, walk.axis));
        let body = self.nested(|lower| code(lower, indices));
        indices.pop();
        self.body.push(Stmt::For { index, from, to, order: Order::Up, body });
    }

    /// What is carried after one more element.
    fn next(&mut self, walk: &Walk, carried: Reg, indices: &[(Reg, usize)]) -> Reg {
        let x = self.operand(walk.start(), indices);
        let dtype = self.placed.ty(walk.start().root).dtype;
        match walk.scan {
            Scan::Cumulative(how) => self.compute(how.scalar(), dtype, &[carried, x]),
            Scan::Linear => {
                let factor = self.operand(&walk.views[0], indices);
                let product = self.compute(Scalar::Mul, dtype, &[factor, carried]);
                self.compute(Scalar::Add, dtype, &[x, product])
            }
            Scan::ArgExtremum(_) => panic!("places are not carried element by element"),
        }
    }

    /// The index of the first element that none is better than, or of the first NaN.
    fn find_place(&mut self, walk: &Walk, how: Reduction, indices: &mut Indices) -> Reg {
        let dtype = self.placed.ty(walk.start().root).dtype;
        let (best, top) = (self.literal(0), self.reg(RegType::Scalar(dtype)));
        let first = self.operand(walk.start(), indices);
        self.body.push(Stmt::Move { dst: top, src: first });
        let better = match how {
            Reduction::Max => Scalar::Gt,
            Reduction::Min => Scalar::Lt,
            Reduction::Sum | Reduction::Prod | Reduction::Any | Reduction::All => panic!("only extremes have a place"),
        };
        self.along(walk, indices, |lower, indices| {
            let x = lower.operand(walk.start(), indices);
            let mut cond = lower.compute(better, DType::Bool, &[x, top]);
            if dtype.is_float() {
                let (is_nan, was_nan) = (
                    lower.compute(Scalar::IsNan, DType::Bool, &[x]),
                    lower.compute(Scalar::IsNan, DType::Bool, &[top]),
                );
                let number = lower.compute(Scalar::Not, DType::Bool, &[was_nan]);
                let either = lower.compute(Scalar::Or, DType::Bool, &[cond, is_nan]);
                cond = lower.compute(Scalar::And, DType::Bool, &[number, either]);
            }
            let (index, _) = *indices.last().expect("the walk has an index");
            lower.body.push(Stmt::Let { dst: best, op: Scalar::Select, args: vec![cond, index, best] });
            lower.body.push(Stmt::Let { dst: top, op: Scalar::Select, args: vec![cond, x, top] });
        });
        best
    }
}

/// What is walked, and how far.
struct Walk {
    scan: Scan,
    axis: usize,
    extent: usize,
    views: Vec<Access>,
}

impl Walk {
    /// The operand that the first result is an element of.
    fn start(&self) -> &Access {
        self.views.last().expect("a walk has an operand")
    }
}
