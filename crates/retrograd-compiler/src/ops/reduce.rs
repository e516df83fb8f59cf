//! Reductions. The order of every sum is part of its meaning.
//!
//! A run of numbers is summed in the *blocked order*: chunks of [`SUM_CHUNK`]; in a chunk [`SUM_LANES`] partial sums
//! from 0, number k going to partial k mod lanes; partials are added pairwise, halves first; chunk sums are added in
//! order, from 0. It vectorises, can be split over threads by chunks, and depends on the shape alone.

use super::fold::number_only;
use super::number::Number;
use super::ops;
use super::shape::{BROADCAST, check_axes, indices, one, view};
use crate::ir::{
    Array, Attrs, Builder, Contribution, EXACT, Error, ErrorKind, Lowering, OpDef, Pos, Reduction, Rule, Sample, Type,
    Value, View, each_number,
};

/// Steps of a sum that share partial sums.
pub const SUM_CHUNK: usize = 4096;

/// Partial sums of a chunk: two of the widest vectors, because one addition would wait for the last.
pub const SUM_LANES: usize = 16;

ops! {
    /// Sum over axes. The trailing run of summed axes is summed in the blocked order; the other summed axes in ascending order.
    SUM = OpDef { attrs: &["axes", EXACT], infer: infer_sum, eval: eval_sum, rule: Rule::Linear(&[Some(transpose_sum)]), lowering: Lowering::Reduce(Reduction::Sum), cost: 1, samples: sum_samples, ..view("sum", View::Reshape, &[]) };
}

/// The blocked order for any way to combine two numbers, with its unit in place of 0.
pub(super) fn blocked<T: Number>(numbers: impl Iterator<Item = T>, unit: T, combine: fn(T, T) -> T) -> T {
    let mut total = unit;
    let mut partials = [unit; SUM_LANES];
    let mut count = 0;
    for x in numbers {
        partials[count % SUM_LANES] = combine(partials[count % SUM_LANES], x);
        count += 1;
        if count == SUM_CHUNK {
            total = combine(total, pairwise(partials, combine));
            partials = [unit; SUM_LANES];
            count = 0;
        }
    }
    if count > 0 { combine(total, pairwise(partials, combine)) } else { total }
}

/// Halves combined with each other until one is left.
fn pairwise<T: Number>(mut partials: [T; SUM_LANES], combine: fn(T, T) -> T) -> T {
    let mut width = SUM_LANES / 2;
    while width > 0 {
        for lane in 0..width {
            partials[lane] = combine(partials[lane], partials[lane + width]);
        }
        width /= 2;
    }
    partials[0]
}

/// How a sum over `axes` of `shape` runs: (kept axes, summed axes in ascending order, trailing summed axes in blocked
/// order).
pub fn sum_axes(rank: usize, axes: &[usize]) -> (Vec<usize>, Vec<usize>, Vec<usize>) {
    let blocked = (0..rank).rev().take_while(|axis| axes.contains(axis)).count();
    let kept = (0..rank).filter(|axis| !axes.contains(axis)).collect();
    let ascending = (0..rank - blocked).filter(|axis| axes.contains(axis)).collect();
    (kept, ascending, (rank - blocked..rank).collect())
}

pub(super) fn float_only(name: &str, ty: &Type) -> Result<(), Error> {
    if ty.dtype.is_float() {
        return Ok(());
    }
    Err(Error::new(ErrorKind::DType, Pos::unknown(), format!("`{name}` takes floats, found {ty}")))
}

fn infer_sum(def: &OpDef, types: &[Type], attrs: &Attrs) -> Result<Type, Error> {
    number_only(def, &types[0])?;
    kept_type(def, &types[0], attrs)
}

/// The type of what is left of a reduction over `axes`.
pub(super) fn kept_type(def: &OpDef, ty: &Type, attrs: &Attrs) -> Result<Type, Error> {
    let axes = check_axes(def, ty, attrs)?;
    let kept: Vec<usize> = (0..ty.rank()).filter(|axis| !axes.contains(axis)).map(|axis| ty.shape[axis]).collect();
    Ok(Type::new(ty.dtype, kept))
}

fn eval_sum(_: &OpDef, args: &[&Array], attrs: &Attrs, ty: &Type) -> Result<Array, ErrorKind> {
    Ok(each_number!(ty.dtype, T => in_order(args[0], attrs, ty, T::ZERO, T::plus)))
}

/// Elements combined over `axes` in the order of `sum`.
pub(super) fn in_order<T: Number>(array: &Array, attrs: &Attrs, ty: &Type, unit: T, combine: fn(T, T) -> T) -> Array {
    let (shape, strides, x) = (array.shape(), array.ty().strides(), T::of(array));
    let (kept, ascending, blocked) = sum_axes(shape.len(), &attrs.sizes("axes"));
    let extents = |axes: &[usize]| axes.iter().map(|axis| shape[*axis]).collect::<Vec<_>>();
    let flat =
        |axes: &[usize], index: &[usize]| axes.iter().zip(index).map(|(axis, k)| strides[*axis] * k).sum::<usize>();
    let row = |start: usize| match blocked.is_empty() {
        true => x[start],
        false => {
            self::blocked(indices(&extents(&blocked)).map(|index| x[start + flat(&blocked, &index)]), unit, combine)
        }
    };
    let total = |start: usize| match ascending.is_empty() {
        true => row(start),
        false => {
            indices(&extents(&ascending)).fold(unit, |sum, index| combine(sum, row(start + flat(&ascending, &index))))
        }
    };
    Array::new(ty.shape.clone(), T::data(indices(&extents(&kept)).map(|index| total(flat(&kept, &index))).collect()))
}

fn transpose_sum(b: &Builder, attrs: &Attrs, args: &[Value], ct: Value) -> Contribution {
    let shape = b.ty(args[0]).shape;
    let (axes, rank) = (attrs.sizes("axes"), shape.len());
    let kept: Vec<usize> = (0..rank).filter(|axis| !axes.contains(axis)).collect();
    if axes.is_empty() {
        return Contribution::Dense(ct);
    }
    Contribution::Dense(b.op(&BROADCAST, Attrs::none().ints("shape", shape).ints("axes", kept), &[ct]))
}

pub(super) fn sum_samples(def: &OpDef) -> Vec<Sample> {
    let axes = |axes: &[usize]| Attrs::none().ints("axes", axes.iter().copied());
    vec![
        one(def, &[19], axes(&[0])),
        one(def, &[3, 10], axes(&[0, 1])),
        one(def, &[3, 10], axes(&[0])),
        one(def, &[3, 10], axes(&[1])),
        one(def, &[2, 3, 4], axes(&[0, 2])),
        one(def, &[4], axes(&[])),
        one(def, &[0, 3], axes(&[0])),
    ]
}
