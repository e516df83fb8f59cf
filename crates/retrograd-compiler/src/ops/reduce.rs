//! Reductions and contractions. The order of every sum is part of its meaning.
//!
//! A run of numbers is summed in the *blocked order*: chunks of [`SUM_CHUNK`]; in a chunk [`SUM_LANES`] partial sums from 0, number k
//! going to partial k mod lanes; partials are added pairwise, halves first; chunk sums are added in order, from 0. It vectorises, can be
//! split over threads by chunks, and depends on the shape alone.

use super::fold::number_only;
use super::number::Number;
use super::ops;
use super::shape::{BROADCAST, TRANSPOSE, check_axes, indices, one, shape_error, view};
use crate::ir::{
    Array, Attrs, Builder, Contribution, Error, ErrorKind, Lowering, Pos, Reduction, Row, Rule, Sample, Type, Value, View, each_number,
};

/// Steps of a sum that share partial sums.
pub const SUM_CHUNK: usize = 4096;

/// Partial sums of a chunk.
pub const SUM_LANES: usize = 8;

ops! {
    /// Sum over axes. The trailing run of summed axes is summed in the blocked order; the other summed axes in ascending order.
    SUM = Row { attrs: &["axes"], infer: infer_sum, eval: eval_sum, rule: Rule::Linear(&[Some(transpose_sum)]), lowering: Lowering::Reduce(Reduction::Sum), cost: 1, samples: sum_samples, ..view("sum", View::Reshape, &[]) };
    /// Contraction: axes `lhs_contract` against `rhs_contract`, with batch axes; the result has batch, left and right axes, in this order.
    /// Products are summed in the blocked order over the contracted axes, the first of them outermost.
    DOT = Row { arity: Some(2), attrs: &["lhs_contract", "rhs_contract", "lhs_batch", "rhs_batch"], infer: infer_dot, eval: eval_dot, rule: Rule::Bilinear([transpose_lhs, transpose_rhs]), lowering: Lowering::Dot, cost: 2, samples: dot_samples, ..view("dot", View::Reshape, &[]) };
}

/// The blocked order for any way to combine two numbers, with its unit in place of 0.
fn blocked<T: Number>(numbers: impl Iterator<Item = T>, unit: T, combine: fn(T, T) -> T) -> T {
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

/// How a sum over `axes` of `shape` runs: (kept axes, summed axes in ascending order, trailing summed axes in blocked order).
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

fn infer_sum(row: &Row, types: &[Type], attrs: &Attrs) -> Result<Type, Error> {
    number_only(row, &types[0])?;
    kept_type(row, &types[0], attrs)
}

/// The type of what is left of a reduction over `axes`.
pub(super) fn kept_type(row: &Row, ty: &Type, attrs: &Attrs) -> Result<Type, Error> {
    let axes = check_axes(row, ty, attrs)?;
    let kept: Vec<usize> = (0..ty.rank()).filter(|axis| !axes.contains(axis)).map(|axis| ty.shape[axis]).collect();
    Ok(Type::new(ty.dtype, kept))
}

fn eval_sum(_: &Row, args: &[&Array], attrs: &Attrs, ty: &Type) -> Result<Array, ErrorKind> {
    Ok(each_number!(ty.dtype, T => in_order(args[0], attrs, ty, T::ZERO, T::plus)))
}

/// Elements combined over `axes` in the order of `sum`.
pub(super) fn in_order<T: Number>(array: &Array, attrs: &Attrs, ty: &Type, unit: T, combine: fn(T, T) -> T) -> Array {
    let (shape, strides, x) = (array.shape(), array.ty().strides(), T::of(array));
    let (kept, ascending, blocked) = sum_axes(shape.len(), &attrs.sizes("axes"));
    let extents = |axes: &[usize]| axes.iter().map(|axis| shape[*axis]).collect::<Vec<_>>();
    let flat = |axes: &[usize], index: &[usize]| axes.iter().zip(index).map(|(axis, k)| strides[*axis] * k).sum::<usize>();
    let row = |start: usize| match blocked.is_empty() {
        true => x[start],
        false => self::blocked(indices(&extents(&blocked)).map(|index| x[start + flat(&blocked, &index)]), unit, combine),
    };
    let total = |start: usize| match ascending.is_empty() {
        true => row(start),
        false => indices(&extents(&ascending)).fold(unit, |sum, index| combine(sum, row(start + flat(&ascending, &index)))),
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
    Contribution::Dense(b.row(&BROADCAST, Attrs::none().ints("shape", shape).ints("axes", kept), &[ct]))
}

/// Axes of a contraction by role.
#[derive(Clone, Debug)]
pub struct DotAxes {
    /// Contracted axes of the left argument, paired with those of the right.
    pub lhs_contract: Vec<usize>,
    /// Contracted axes of the right argument.
    pub rhs_contract: Vec<usize>,
    /// Batch axes of the left argument, paired with those of the right.
    pub lhs_batch: Vec<usize>,
    /// Batch axes of the right argument.
    pub rhs_batch: Vec<usize>,
    /// Remaining axes of the left argument, ascending.
    pub lhs_free: Vec<usize>,
    /// Remaining axes of the right argument, ascending.
    pub rhs_free: Vec<usize>,
}

impl DotAxes {
    /// Reads the attributes of a `dot` over arguments of these ranks.
    pub fn new(attrs: &Attrs, lhs_rank: usize, rhs_rank: usize) -> DotAxes {
        let [lhs_contract, rhs_contract, lhs_batch, rhs_batch] =
            DOT.attrs.iter().map(|name| attrs.sizes(name)).collect::<Vec<_>>().try_into().expect("dot has four attributes");
        let free = |rank: usize, a: &[usize], b: &[usize]| (0..rank).filter(|axis| !a.contains(axis) && !b.contains(axis)).collect();
        let (lhs_free, rhs_free) = (free(lhs_rank, &lhs_contract, &lhs_batch), free(rhs_rank, &rhs_contract, &rhs_batch));
        DotAxes { lhs_contract, rhs_contract, lhs_batch, rhs_batch, lhs_free, rhs_free }
    }

    /// The attributes of a `dot` over these axes.
    pub fn attrs(lhs_contract: &[usize], rhs_contract: &[usize], lhs_batch: &[usize], rhs_batch: &[usize]) -> Attrs {
        [lhs_contract, rhs_contract, lhs_batch, rhs_batch]
            .iter()
            .zip(DOT.attrs)
            .fold(Attrs::none(), |attrs, (axes, name)| attrs.ints(name, axes.iter().copied()))
    }
}

fn infer_dot(row: &Row, types: &[Type], attrs: &Attrs) -> Result<Type, Error> {
    number_only(row, &types[0])?;
    if types[0].dtype != types[1].dtype {
        let message = format!("`dot` needs equal element types, found {} and {}", types[0], types[1]);
        return Err(Error::new(ErrorKind::DType, Pos::unknown(), message));
    }
    let axes = DotAxes::new(attrs, types[0].rank(), types[1].rank());
    let extent = |ty: &Type, axes: &[usize]| axes.iter().map(|axis| ty.shape.get(*axis).copied()).collect::<Option<Vec<usize>>>();
    let contracted = (extent(&types[0], &axes.lhs_contract), extent(&types[1], &axes.rhs_contract));
    let batch = (extent(&types[0], &axes.lhs_batch), extent(&types[1], &axes.rhs_batch));
    let once = |contract: &[usize], batch: &[usize]| {
        let mut axes = [contract, batch].concat();
        axes.sort_unstable();
        axes.windows(2).all(|pair| pair[0] < pair[1])
    };
    let distinct = once(&axes.lhs_contract, &axes.lhs_batch) && once(&axes.rhs_contract, &axes.rhs_batch);
    if !distinct || contracted.0.is_none() || contracted.0 != contracted.1 || batch.0.is_none() || batch.0 != batch.1 {
        return shape_error(format!(
            "`dot` cannot contract axes {:?} of {} with axes {:?} of {}",
            axes.lhs_contract, types[0], axes.rhs_contract, types[1]
        ));
    }
    let mut shape = batch.0.unwrap_or_default();
    shape.extend(axes.lhs_free.iter().map(|axis| types[0].shape[*axis]));
    shape.extend(axes.rhs_free.iter().map(|axis| types[1].shape[*axis]));
    Ok(Type::new(types[0].dtype, shape))
}

fn eval_dot(_: &Row, args: &[&Array], attrs: &Attrs, ty: &Type) -> Result<Array, ErrorKind> {
    Ok(each_number!(ty.dtype, T => contract::<T>(args, attrs, ty)))
}

fn contract<T: Number>(args: &[&Array], attrs: &Attrs, ty: &Type) -> Array {
    let axes = DotAxes::new(attrs, args[0].shape().len(), args[1].shape().len());
    let (ls, rs) = (args[0].ty().strides(), args[1].ty().strides());
    let (l, r) = (T::of(args[0]), T::of(args[1]));
    let at = |strides: &[usize], axes: &[usize], index: &[usize]| axes.iter().zip(index).map(|(axis, k)| strides[*axis] * k).sum::<usize>();
    let extents: Vec<usize> = axes.lhs_contract.iter().map(|axis| args[0].shape()[*axis]).collect();
    let (batch, left) = (axes.lhs_batch.len(), axes.lhs_free.len());
    let element = |index: Vec<usize>| {
        let lhs = at(&ls, &axes.lhs_batch, &index) + at(&ls, &axes.lhs_free, &index[batch..]);
        let rhs = at(&rs, &axes.rhs_batch, &index) + at(&rs, &axes.rhs_free, &index[batch + left..]);
        let product = |k: Vec<usize>| l[lhs + at(&ls, &axes.lhs_contract, &k)].times(r[rhs + at(&rs, &axes.rhs_contract, &k)]);
        blocked(indices(&extents).map(product), T::ZERO, T::plus)
    };
    Array::new(ty.shape.clone(), T::data(indices(&ty.shape).map(element).collect()))
}

/// The transpose with respect to one side: contract the cotangent with the other side, then bring the axes in the argument's order.
fn transpose_lhs(b: &Builder, attrs: &Attrs, args: &[Value], ct: Value) -> Contribution {
    let (lhs, rhs) = (b.ty(args[0]), b.ty(args[1]));
    let axes = DotAxes::new(attrs, lhs.rank(), rhs.rank());
    let (batch, left) = (axes.lhs_batch.len(), axes.lhs_free.len());
    let ct_batch: Vec<usize> = (0..batch).collect();
    let ct_right: Vec<usize> = (batch + left..batch + left + axes.rhs_free.len()).collect();
    let product = b.row(&DOT, DotAxes::attrs(&ct_right, &axes.rhs_free, &ct_batch, &axes.rhs_batch), &[ct, args[1]]);
    let contracted = in_order_of(&axes.rhs_contract, &axes.lhs_contract);
    Contribution::Dense(arrange(b, product, &[axes.lhs_batch, axes.lhs_free, contracted].concat()))
}

fn transpose_rhs(b: &Builder, attrs: &Attrs, args: &[Value], ct: Value) -> Contribution {
    let (lhs, rhs) = (b.ty(args[0]), b.ty(args[1]));
    let axes = DotAxes::new(attrs, lhs.rank(), rhs.rank());
    let (batch, left) = (axes.lhs_batch.len(), axes.lhs_free.len());
    let ct_batch: Vec<usize> = (0..batch).collect();
    let ct_left: Vec<usize> = (batch..batch + left).collect();
    let product = b.row(&DOT, DotAxes::attrs(&ct_left, &axes.lhs_free, &ct_batch, &axes.lhs_batch), &[ct, args[0]]);
    let contracted = in_order_of(&axes.lhs_contract, &axes.rhs_contract);
    Contribution::Dense(arrange(b, product, &[axes.rhs_batch, axes.rhs_free, contracted].concat()))
}

/// `values` in the order that sorts `keys`: the contracted axes of one side, named by the axes of the other.
fn in_order_of(keys: &[usize], values: &[usize]) -> Vec<usize> {
    let mut pairs: Vec<(usize, usize)> = keys.iter().copied().zip(values.iter().copied()).collect();
    pairs.sort_unstable();
    pairs.into_iter().map(|(_, value)| value).collect()
}

/// Axis k of the value belongs at axis `targets[k]`.
fn arrange(b: &Builder, value: Value, targets: &[usize]) -> Value {
    if targets.windows(2).all(|pair| pair[0] < pair[1]) {
        return value;
    }
    let mut axes = vec![0; targets.len()];
    for (k, target) in targets.iter().enumerate() {
        axes[*target] = k;
    }
    b.row(&TRANSPOSE, Attrs::none().ints("axes", axes), &[value])
}

pub(super) fn sum_samples(row: &Row) -> Vec<Sample> {
    let axes = |axes: &[usize]| Attrs::none().ints("axes", axes.iter().copied());
    vec![
        one(row, &[19], axes(&[0])),
        one(row, &[3, 10], axes(&[0, 1])),
        one(row, &[3, 10], axes(&[0])),
        one(row, &[3, 10], axes(&[1])),
        one(row, &[2, 3, 4], axes(&[0, 2])),
        one(row, &[4], axes(&[])),
        one(row, &[0, 3], axes(&[0])),
    ]
}

fn dot_samples(row: &Row) -> Vec<Sample> {
    let sample = |lhs: &[usize], rhs: &[usize], attrs| Sample {
        args: vec![(Type::f64(lhs), row.domain[0]), (Type::f64(rhs), row.domain[0])],
        attrs,
    };
    vec![
        sample(&[19], &[19], DotAxes::attrs(&[0], &[0], &[], &[])),
        sample(&[3, 4], &[4], DotAxes::attrs(&[1], &[0], &[], &[])),
        sample(&[4], &[4, 3], DotAxes::attrs(&[0], &[0], &[], &[])),
        sample(&[2, 3], &[3, 4], DotAxes::attrs(&[1], &[0], &[], &[])),
        sample(&[2, 5, 3], &[2, 3, 4], DotAxes::attrs(&[2], &[1], &[0], &[0])),
        sample(&[2, 3, 4], &[4, 5, 3], DotAxes::attrs(&[1, 2], &[2, 0], &[], &[])),
    ]
}
