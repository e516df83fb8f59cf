//! Contractions. The order of the sum is part of the meaning, and follows from the axes alone.

use super::build::tangent;
use super::fold::number_only;
use super::number::{Float, Number};
use super::ops;
use super::reduce::{blocked, float_only};
use super::shape::{TRANSPOSE, indices, shape_error, view};
use crate::ir::{
    Array, Attrs, Builder, Contribution, DType, Element, Error, ErrorKind, Lowering, OpDef, Pos, Rule, Sample, Type,
    Value, View, each_float, each_number,
};

ops! {
    /// Contraction: axes `lhs_contract` against `rhs_contract`, with batch axes; the result has batch, left and right axes, in this order.
    /// Of two sides with axes of their own, and of one whose last axes are not the contracted ones, every element is a chain of `fma` from 0, over ascending indices, the first contracted axis outermost. Otherwise, and of integers, products are summed in the blocked order.
    DOT = OpDef { arity: Some(2), attrs: &["lhs_contract", "rhs_contract", "lhs_batch", "rhs_batch"], infer: infer_dot, eval: eval_dot, rule: Rule::Bilinear([transpose_lhs, transpose_rhs]), lowering: Lowering::Dot, cost: 2, samples: dot_samples, ..view("dot", View::Reshape, &[]) };
    /// A contraction that goes on from its third argument, as `dot` over more steps goes on after the earlier ones: its chains of `fma` start there. A contraction in the blocked order cannot go on.
    DOT_ONTO = OpDef { arity: Some(3), attrs: DOT.attrs, infer: infer_onto, eval: eval_onto, rule: tangent(onto_tangent), lowering: Lowering::Dot, cost: 2, samples: onto_samples, ..view("dot_onto", View::Reshape, &[]) };
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

/// The order in which the products of a contraction are summed. It does not depend on extents, so that a part of a
/// contraction has the bits of the whole.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DotOrder {
    /// Partial sums, for runs of neighbours: as `sum` has it.
    Blocked,
    /// One `fma` after the other, for many sums at once.
    Chained,
}

impl DotAxes {
    /// Reads the attributes of a `dot` over arguments of these ranks.
    pub fn new(attrs: &Attrs, lhs_rank: usize, rhs_rank: usize) -> DotAxes {
        let [lhs_contract, rhs_contract, lhs_batch, rhs_batch] = DOT
            .attrs
            .iter()
            .map(|name| attrs.sizes(name))
            .collect::<Vec<_>>()
            .try_into()
            .expect("dot has four attributes");
        let free = |rank: usize, a: &[usize], b: &[usize]| {
            (0..rank).filter(|axis| !a.contains(axis) && !b.contains(axis)).collect()
        };
        let (lhs_free, rhs_free) =
            (free(lhs_rank, &lhs_contract, &lhs_batch), free(rhs_rank, &rhs_contract, &rhs_batch));
        DotAxes { lhs_contract, rhs_contract, lhs_batch, rhs_batch, lhs_free, rhs_free }
    }

    /// In which order the contraction of two arguments of one type runs.
    pub fn order(&self, dtype: DType) -> DotOrder {
        let side = |contract: &[usize], batch: &[usize], free: &[usize]| {
            let rank = contract.len() + batch.len() + free.len();
            let trails = contract.iter().copied().eq(rank - contract.len()..rank);
            (free.is_empty(), trails)
        };
        let lhs = side(&self.lhs_contract, &self.lhs_batch, &self.lhs_free);
        let rhs = side(&self.rhs_contract, &self.rhs_batch, &self.rhs_free);
        match (lhs, rhs) {
            _ if !dtype.is_float() => DotOrder::Blocked,
            ((true, _), (true, _)) => DotOrder::Blocked,
            ((false, _), (false, _)) => DotOrder::Chained,
            ((false, trails), (true, _)) | ((true, _), (false, trails)) if trails => DotOrder::Blocked,
            ((false, _), (true, _)) | ((true, _), (false, _)) => DotOrder::Chained,
        }
    }

    /// The attributes of a `dot` over these axes.
    pub fn attrs(lhs_contract: &[usize], rhs_contract: &[usize], lhs_batch: &[usize], rhs_batch: &[usize]) -> Attrs {
        [lhs_contract, rhs_contract, lhs_batch, rhs_batch]
            .iter()
            .zip(DOT.attrs)
            .fold(Attrs::none(), |attrs, (axes, name)| attrs.ints(name, axes.iter().copied()))
    }
}

fn infer_dot(def: &OpDef, types: &[Type], attrs: &Attrs) -> Result<Type, Error> {
    number_only(def, &types[0])?;
    if types[0].dtype != types[1].dtype {
        let message = format!("`dot` needs equal element types, found {} and {}", types[0], types[1]);
        return Err(Error::new(ErrorKind::DType, Pos::unknown(), message));
    }
    let axes = DotAxes::new(attrs, types[0].rank(), types[1].rank());
    let extent = |ty: &Type, axes: &[usize]| {
        axes.iter().map(|axis| ty.shape.get(*axis).copied()).collect::<Option<Vec<usize>>>()
    };
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

/// The type of what it goes on from; chains alone can.
fn infer_onto(def: &OpDef, types: &[Type], attrs: &Attrs) -> Result<Type, Error> {
    float_only(def.name, &types[0])?;
    let ty = infer_dot(def, &types[..2], attrs)?;
    if DotAxes::new(attrs, types[0].rank(), types[1].rank()).order(ty.dtype) == DotOrder::Blocked {
        return shape_error(format!(
            "`{}` cannot go on with a contraction of {} and {} in the blocked order",
            def.name, types[0], types[1]
        ));
    }
    if types[2] != ty {
        return shape_error(format!(
            "`{}` of {} and {} goes on from {ty}, found {}",
            def.name, types[0], types[1], types[2]
        ));
    }
    Ok(ty)
}

/// Chains are what they say here; machine code calls [`PRODUCTS`](super::PRODUCTS) where they are long, which gives the
/// same bits.
fn eval_dot(_: &OpDef, args: &[&Array], attrs: &Attrs, ty: &Type) -> Result<Array, ErrorKind> {
    let axes = DotAxes::new(attrs, args[0].shape().len(), args[1].shape().len());
    Ok(match axes.order(ty.dtype) {
        DotOrder::Chained => {
            each_float!(ty.dtype, T => contract::<T>(args, attrs, ty, |_, pairs| chain(T::ZERO, pairs)))
        }
        DotOrder::Blocked => each_number!(ty.dtype, T => contract::<T>(args, attrs, ty, |_, pairs| {
            blocked(pairs.map(|(a, b)| a.times(b)), T::ZERO, T::plus)
        })),
    })
}

fn eval_onto(_: &OpDef, args: &[&Array], attrs: &Attrs, ty: &Type) -> Result<Array, ErrorKind> {
    Ok(
        each_float!(ty.dtype, T => contract::<T>(args, attrs, ty, |element, pairs| chain(<T as Element>::of(args[2])[element], pairs))),
    )
}

fn chain<T: Float>(start: T, pairs: &mut dyn Iterator<Item = (T, T)>) -> T {
    pairs.fold(start, |sum, (a, b)| a.fused(b, sum))
}

/// A contraction whose elements, by number, are sums of the products of these pairs.
fn contract<T: Number>(
    args: &[&Array],
    attrs: &Attrs,
    ty: &Type,
    sum: impl Fn(usize, &mut dyn Iterator<Item = (T, T)>) -> T,
) -> Array {
    let axes = DotAxes::new(attrs, args[0].shape().len(), args[1].shape().len());
    let (ls, rs) = (args[0].ty().strides(), args[1].ty().strides());
    let (l, r) = (T::of(args[0]), T::of(args[1]));
    let at = |strides: &[usize], axes: &[usize], index: &[usize]| {
        axes.iter().zip(index).map(|(axis, k)| strides[*axis] * k).sum::<usize>()
    };
    let extents: Vec<usize> = axes.lhs_contract.iter().map(|axis| args[0].shape()[*axis]).collect();
    let (batch, left) = (axes.lhs_batch.len(), axes.lhs_free.len());
    let element = |(element, index): (usize, Vec<usize>)| {
        let lhs = at(&ls, &axes.lhs_batch, &index) + at(&ls, &axes.lhs_free, &index[batch..]);
        let rhs = at(&rs, &axes.rhs_batch, &index) + at(&rs, &axes.rhs_free, &index[batch + left..]);
        sum(
            element,
            &mut indices(&extents)
                .map(|k| (l[lhs + at(&ls, &axes.lhs_contract, &k)], r[rhs + at(&rs, &axes.rhs_contract, &k)])),
        )
    };
    Array::new(ty.shape.clone(), T::data(indices(&ty.shape).enumerate().map(element).collect()))
}

/// The transpose with respect to one side: contract the cotangent with the other side, then bring the axes in the
/// argument's order.
fn transpose_lhs(b: &Builder, attrs: &Attrs, args: &[Value], ct: Value) -> Contribution {
    let (lhs, rhs) = (b.ty(args[0]), b.ty(args[1]));
    let axes = DotAxes::new(attrs, lhs.rank(), rhs.rank());
    let (batch, left, right) = (axes.lhs_batch.len(), axes.lhs_free.len(), axes.rhs_free.len());
    let ct_axes = (0..batch, batch..batch + left, batch + left..batch + left + right);
    let other = Other { value: args[1], batch: &axes.rhs_batch, free: &axes.rhs_free };
    let contracted = in_order_of(&axes.rhs_contract, &axes.lhs_contract);
    Contribution::Dense(with_other(
        b,
        ct,
        (ct_axes.0.collect(), ct_axes.2.collect()),
        other,
        [&axes.lhs_batch, &axes.lhs_free, &contracted],
    ))
}

fn transpose_rhs(b: &Builder, attrs: &Attrs, args: &[Value], ct: Value) -> Contribution {
    let (lhs, rhs) = (b.ty(args[0]), b.ty(args[1]));
    let axes = DotAxes::new(attrs, lhs.rank(), rhs.rank());
    let (batch, left) = (axes.lhs_batch.len(), axes.lhs_free.len());
    let ct_axes = (0..batch, batch..batch + left);
    let other = Other { value: args[0], batch: &axes.lhs_batch, free: &axes.lhs_free };
    let contracted = in_order_of(&axes.lhs_contract, &axes.rhs_contract);
    Contribution::Dense(with_other(
        b,
        ct,
        (ct_axes.0.collect(), ct_axes.1.collect()),
        other,
        [&axes.rhs_batch, &axes.rhs_free, &contracted],
    ))
}

/// The side that the cotangent is contracted with, over its free axes.
struct Other<'a> {
    value: Value,
    batch: &'a [usize],
    free: &'a [usize],
}

/// The cotangent times the other side, in the order of the two that gives the axes as they belong; `targets` are the
/// places, in the argument, of batch axes, of what is left of the cotangent and of what is left of the other side.
fn with_other(
    b: &Builder,
    ct: Value,
    (ct_batch, ct_free): (Vec<usize>, Vec<usize>),
    other: Other<'_>,
    targets: [&[usize]; 3],
) -> Value {
    let [batch, own, contracted] = targets;
    let (plain, turned) = ([batch, own, contracted].concat(), [batch, contracted, own].concat());
    if turned.is_sorted() && !plain.is_sorted() {
        return b.op(&DOT, DotAxes::attrs(other.free, &ct_free, other.batch, &ct_batch), &[other.value, ct]);
    }
    arrange(b, b.op(&DOT, DotAxes::attrs(&ct_free, other.free, &ct_batch, other.batch), &[ct, other.value]), &plain)
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
    b.op(&TRANSPOSE, Attrs::none().ints("axes", axes), &[value])
}

/// dy = dl · r + l · dr + ds.
fn onto_tangent(b: &Builder, attrs: &Attrs, args: &[Value], _: Value, tangents: &[Option<Value>]) -> Value {
    let dot = |lhs: Value, rhs: Value| b.op(&DOT, attrs.clone(), &[lhs, rhs]);
    let terms = [tangents[0].map(|dl| dot(dl, args[1])), tangents[1].map(|dr| dot(args[0], dr)), tangents[2]];
    terms.into_iter().flatten().reduce(|sum, term| b.add(sum, term)).expect("a tangent is there")
}

/// Those of `dot` that are chains, each with what it goes on from.
fn onto_samples(def: &OpDef) -> Vec<Sample> {
    let chained = |sample: &Sample| {
        let [lhs, rhs] = [&sample.args[0].0, &sample.args[1].0];
        DotAxes::new(&sample.attrs, lhs.rank(), rhs.rank()).order(lhs.dtype) == DotOrder::Chained
    };
    let onto = |sample: Sample| {
        let types: Vec<Type> = sample.args.iter().map(|(ty, _)| ty.clone()).collect();
        let start = infer_dot(def, &types, &sample.attrs).expect("samples of `dot` fit");
        Sample { args: sample.args.into_iter().chain([(start, def.domain[0])]).collect(), ..sample }
    };
    dot_samples(def).into_iter().filter(chained).map(onto).collect()
}

fn dot_samples(def: &OpDef) -> Vec<Sample> {
    let sample = |lhs: &[usize], rhs: &[usize], attrs| Sample {
        args: vec![(Type::f64(lhs), def.domain[0]), (Type::f64(rhs), def.domain[0])],
        attrs,
    };
    vec![
        sample(&[19], &[19], DotAxes::attrs(&[0], &[0], &[], &[])),
        sample(&[3, 4], &[4], DotAxes::attrs(&[1], &[0], &[], &[])),
        sample(&[4], &[4, 3], DotAxes::attrs(&[0], &[0], &[], &[])),
        sample(&[2, 3], &[3, 4], DotAxes::attrs(&[1], &[0], &[], &[])),
        sample(&[2, 5, 3], &[2, 3, 4], DotAxes::attrs(&[2], &[1], &[0], &[0])),
        sample(&[2, 3, 4], &[4, 5, 3], DotAxes::attrs(&[1, 2], &[2, 0], &[], &[])),
        sample(&[4, 3], &[4], DotAxes::attrs(&[0], &[0], &[], &[])),
        sample(&[9, 19], &[19, 9], DotAxes::attrs(&[1], &[0], &[], &[])),
        sample(&[19, 2, 3], &[2, 5, 19], DotAxes::attrs(&[0], &[2], &[1], &[0])),
        sample(&[3, 2], &[4], DotAxes::attrs(&[], &[], &[], &[])),
    ]
}
