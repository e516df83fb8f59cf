//! Stable sorting along an axis, ascending; NaNs come last, in the order they had.

use std::cmp::Ordering;

use super::build::{given, routine, tangent};
use super::fold::APART;
use super::gather::TAKE_ALONG_AXIS;
use super::ops;
use super::scan::{along_samples, infer_along};
use super::shape::view;
use crate::ir::{Attrs, By, DType, Lowering, OpDef, Routine, Rule, Run, Slice, SliceMut, Type, View};

ops! {
    /// Elements in ascending order along an axis; NaNs last. The derivative follows the permutation of the stable order.
    SORT = OpDef { rule: tangent(|b, attrs, args, _, d| b.op(&TAKE_ALONG_AXIS, attrs.clone(), &[given(d), b.op(&ARGSORT, attrs.clone(), &[args[0]])])), ..sorting("sort", sort) };
    /// The indices along an axis that bring elements in ascending order; NaNs last, equal elements in the order they had.
    ARGSORT = OpDef { infer: |row, types, attrs| infer_along(row, types, attrs).map(|ty| Type::new(DType::I64, ty.shape)), rule: Rule::Zero, ..sorting("argsort", argsort) };
}

const fn sorting(name: &'static str, run: Run) -> OpDef {
    OpDef {
        attrs: &["axis"],
        infer: infer_along,
        eval: routine,
        lowering: Lowering::Routine(Routine { by: By::Code, scratch: longest_line, run }),
        cost: 16,
        domain: APART,
        samples: along_samples,
        ..view(name, View::Reshape, &[])
    }
}

/// Room for the order of one line: scratch does not know the axis.
fn longest_line(types: &[Type], _: &Attrs) -> Vec<Type> {
    vec![Type::new(DType::I64, [types[0].shape.iter().copied().max().unwrap_or(0)])]
}

fn sort(types: &[Type], attrs: &Attrs, args: &[Slice<'_>], result: SliceMut<'_>, scratch: &mut [SliceMut<'_>]) {
    let (lines, order) = (Lines::new(&types[0].shape, attrs), scratch[0].as_i64());
    match (args[0], result) {
        (Slice::F32(x), SliceMut::F32(y)) => lines.sort(x, order, floats(f32::is_nan), y),
        (Slice::F64(x), SliceMut::F64(y)) => lines.sort(x, order, floats(f64::is_nan), y),
        (Slice::I32(x), SliceMut::I32(y)) => lines.sort(x, order, i32::cmp, y),
        (Slice::I64(x), SliceMut::I64(y)) => lines.sort(x, order, i64::cmp, y),
        (x, y) => panic!("verified types: `sort` of {} gives {}", x.dtype(), y.dtype()),
    }
}

fn argsort(types: &[Type], attrs: &Attrs, args: &[Slice<'_>], mut result: SliceMut<'_>, scratch: &mut [SliceMut<'_>]) {
    let (lines, order, places) = (Lines::new(&types[0].shape, attrs), scratch[0].as_i64(), result.as_i64());
    match args[0] {
        Slice::F32(x) => lines.argsort(x, order, floats(f32::is_nan), places),
        Slice::F64(x) => lines.argsort(x, order, floats(f64::is_nan), places),
        Slice::I32(x) => lines.argsort(x, order, i32::cmp, places),
        Slice::I64(x) => lines.argsort(x, order, i64::cmp, places),
    }
}

/// A NaN is greater than every number and equal to a NaN.
fn floats<T: PartialOrd + Copy>(is_nan: fn(T) -> bool) -> impl Fn(&T, &T) -> Ordering {
    move |a, b| a.partial_cmp(b).unwrap_or_else(|| is_nan(*a).cmp(&is_nan(*b)))
}

/// The lines of an array along an axis: element k of line (a, b) is at `(a·extent + k)·inner + b`.
struct Lines {
    outer: usize,
    extent: usize,
    inner: usize,
}

impl Lines {
    fn new(shape: &[usize], attrs: &Attrs) -> Lines {
        let axis = attrs.size("axis");
        Lines { outer: shape[..axis].iter().product(), extent: shape[axis], inner: shape[axis + 1..].iter().product() }
    }

    fn sort<T: Copy>(&self, x: &[T], order: &mut [i64], compare: impl Fn(&T, &T) -> Ordering, y: &mut [T]) {
        self.each(x, order, compare, |place, first, from| y[place] = x[first + from * self.inner]);
    }

    fn argsort<T>(&self, x: &[T], order: &mut [i64], compare: impl Fn(&T, &T) -> Ordering, places: &mut [i64]) {
        self.each(x, order, compare, |place, _, from| places[place] = from as i64);
    }

    /// Tells every place of the result with the first element of its line and the index of the element that belongs
    /// there.
    fn each<T>(
        &self,
        x: &[T],
        order: &mut [i64],
        compare: impl Fn(&T, &T) -> Ordering,
        mut tell: impl FnMut(usize, usize, usize),
    ) {
        let order = &mut order[..self.extent];
        for (a, b) in (0..self.outer).flat_map(|a| (0..self.inner).map(move |b| (a, b))) {
            let first = a * self.extent * self.inner + b;
            let at = |k: i64| &x[first + k as usize * self.inner];
            order.iter_mut().zip(0..).for_each(|(order, k)| *order = k);
            // No two indices are equal, so that the order is the stable one, without the memory that a stable sort
            // takes.
            order.sort_unstable_by(|j, k| compare(at(*j), at(*k)).then(j.cmp(k)));
            order.iter().enumerate().for_each(|(k, from)| tell(first + k * self.inner, first, *from as usize));
        }
    }
}
