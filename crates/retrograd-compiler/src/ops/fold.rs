//! Reductions other than sums, over any axes; what they reduce runs in row-major order.

use super::build::{equal, given, tangent};
use super::number::{Float, Number};
use super::reduce::{SUM, float_only, in_order, kept_type};
use super::scalar::{ADD, DIV, EXP, IS_FINITE, LOG, SELECT, SUB};
use super::scan::before;
use super::shape::{RESHAPE, REVERSE, TRANSPOSE, check_axis, indices, one, shape_error, view};
use super::{lanes, ops};
use crate::ir::{
    Array, Attrs, Builder, Composed, DType, Data, Error, ErrorKind, Lowering, OpDef, Pos, Reduction, Rule, Sample,
    Scan, Type, Value, View, each_float, each_number,
};

ops! {
    /// Product over axes, in the order of `sum` with 1 in place of 0. The derivative is exact at zeros too.
    PROD = OpDef { infer: infer_number, eval: eval_prod, rule: tangent(|b, attrs, args, _, d| prod_tangent(b, &attrs.sizes("axes"), args[0], given(d))), samples: super::reduce::sum_samples, ..reduction("prod", Lowering::Reduce(Reduction::Prod)) };
    /// Largest element over axes; a NaN is the result. Equal elements share the derivative, which is NaN where the result is.
    REDUCE_MAX = OpDef { infer: infer_extreme, eval: |_, args, attrs, ty| each_number!(ty.dtype, T => extreme(args[0], attrs, ty, T::greatest)), rule: tangent(extreme_tangent), domain: APART, ..reduction("reduce_max", Lowering::Reduce(Reduction::Max)) };
    /// Smallest element over axes; a NaN is the result. Equal elements share the derivative, which is NaN where the result is.
    REDUCE_MIN = OpDef { infer: infer_extreme, eval: |_, args, attrs, ty| each_number!(ty.dtype, T => extreme(args[0], attrs, ty, T::least)), rule: tangent(extreme_tangent), domain: APART, ..reduction("reduce_min", Lowering::Reduce(Reduction::Min)) };
    /// Whether one element at least holds, over axes.
    ANY = OpDef { infer: infer_truth, eval: |_, args, attrs, ty| truth(args[0], attrs, ty, |all| all.contains(&true)), samples: truth_samples, ..reduction("any", Lowering::Reduce(Reduction::Any)) };
    /// Whether all elements hold, over axes.
    ALL = OpDef { infer: infer_truth, eval: |_, args, attrs, ty| truth(args[0], attrs, ty, |all| !all.contains(&false)), samples: truth_samples, ..reduction("all", Lowering::Reduce(Reduction::All)) };
    /// Index of the largest element along an axis, the first of equal ones; of the first NaN where there is one.
    ARGMAX = OpDef { attrs: &["axis"], infer: infer_place, eval: |_, args, attrs, ty| each_number!(args[0].dtype(), T => place(args[0], attrs, ty, |x: T, best| x > best)), samples: place_samples, ..reduction("argmax", Lowering::Scan(Scan::ArgExtremum(Reduction::Max))) };
    /// Index of the smallest element along an axis, the first of equal ones; of the first NaN where there is one.
    ARGMIN = OpDef { attrs: &["axis"], infer: infer_place, eval: |_, args, attrs, ty| each_number!(args[0].dtype(), T => place(args[0], attrs, ty, |x: T, best| x < best)), samples: place_samples, ..reduction("argmin", Lowering::Scan(Scan::ArgExtremum(Reduction::Min))) };
    /// log Σ exp x over axes, without overflow; summed in the order of `sum`. Where the result is -inf or inf, the derivative is NaN.
    LOGSUMEXP = OpDef { infer: |row, types, attrs| float_only(row.name, &types[0]).and_then(|()| kept_type(row, &types[0], attrs)), eval: eval_logsumexp, rule: tangent(logsumexp_tangent), cost: 34, ..reduction("logsumexp", Lowering::Composed(Composed::LogSumExp)) };
}

/// Wide, so that the elements of samples are apart from each other: where they meet, an extreme has a kink.
pub(super) const APART: &[(f64, f64)] = &[(-40.0, 40.0)];

const fn reduction(name: &'static str, lowering: Lowering) -> OpDef {
    OpDef {
        attrs: &["axes"],
        rule: Rule::Zero,
        lowering,
        cost: 1,
        samples: few_samples,
        ..view(name, View::Reshape, &[])
    }
}

/// A type error without a position; the builder adds it.
fn dtype_error<T>(message: String) -> Result<T, Error> {
    Err(Error::new(ErrorKind::DType, Pos::unknown(), message))
}

/// Floats or integers.
pub(super) fn number_only(def: &OpDef, ty: &Type) -> Result<(), Error> {
    if ty.dtype == DType::Bool { dtype_error(format!("`{}` takes numbers, found {ty}", def.name)) } else { Ok(()) }
}

fn infer_number(def: &OpDef, types: &[Type], attrs: &Attrs) -> Result<Type, Error> {
    number_only(def, &types[0])?;
    kept_type(def, &types[0], attrs)
}

fn infer_extreme(def: &OpDef, types: &[Type], attrs: &Attrs) -> Result<Type, Error> {
    let ty = infer_number(def, types, attrs)?;
    match attrs.sizes("axes").iter().find(|axis| types[0].shape[**axis] == 0) {
        Some(axis) => shape_error(format!("`{}` over axis {axis} of {}, which has no elements", def.name, types[0])),
        None => Ok(ty),
    }
}

fn infer_truth(def: &OpDef, types: &[Type], attrs: &Attrs) -> Result<Type, Error> {
    if types[0].dtype != DType::Bool {
        return dtype_error(format!("`{}` takes bool, found {}", def.name, types[0]));
    }
    kept_type(def, &types[0], attrs)
}

fn infer_place(def: &OpDef, types: &[Type], attrs: &Attrs) -> Result<Type, Error> {
    number_only(def, &types[0])?;
    let axis = check_axis(def, &types[0], attrs)?;
    if types[0].shape[axis] == 0 {
        return shape_error(format!("`{}` along axis {axis} of {}, which has no elements", def.name, types[0]));
    }
    Ok(Type::new(DType::I64, [&types[0].shape[..axis], &types[0].shape[axis + 1..]].concat()))
}

/// The elements that each element of the result is made of.
fn groups<T: Copy>(x: &[T], shape: &[usize], axes: &[usize]) -> Vec<Vec<T>> {
    let strides = Type::f64(shape).strides();
    let kept: Vec<usize> = (0..shape.len()).filter(|axis| !axes.contains(axis)).collect();
    let extents = |axes: &[usize]| axes.iter().map(|axis| shape[*axis]).collect::<Vec<_>>();
    let flat =
        |axes: &[usize], index: &[usize]| axes.iter().zip(index).map(|(axis, k)| strides[*axis] * k).sum::<usize>();
    let group = |start: usize| indices(&extents(axes)).map(|index| x[start + flat(axes, &index)]).collect();
    indices(&extents(&kept)).map(|index| group(flat(&kept, &index))).collect()
}

fn eval_prod(_: &OpDef, args: &[&Array], attrs: &Attrs, ty: &Type) -> Result<Array, ErrorKind> {
    Ok(each_number!(ty.dtype, T => in_order(args[0], attrs, ty, T::ONE, T::times)))
}

fn extreme<T: Number>(x: &Array, attrs: &Attrs, ty: &Type, choose: fn(T, T) -> T) -> Result<Array, ErrorKind> {
    let reduced =
        groups(T::of(x), x.shape(), &attrs.sizes("axes")).into_iter().map(|group| group.into_iter().reduce(choose));
    let elements = reduced.map(|element| element.expect("verified types: there is an element")).collect();
    Ok(Array::new(ty.shape.clone(), T::data(elements)))
}

fn truth(x: &Array, attrs: &Attrs, ty: &Type, holds: fn(&[bool]) -> bool) -> Result<Array, ErrorKind> {
    let groups = groups(x.as_bool(), x.shape(), &attrs.sizes("axes"));
    Ok(Array::new(ty.shape.clone(), Data::Bool(groups.iter().map(|group| holds(group)).collect())))
}

/// The place of the first element that none is better than.
fn place<T: Number>(x: &Array, attrs: &Attrs, ty: &Type, better: fn(T, T) -> bool) -> Result<Array, ErrorKind> {
    let place = |group: Vec<T>| {
        (1..group.len()).fold(0, |best, k| {
            let (x, top) = (group[k], group[best]);
            if !top.nan() && (x.nan() || better(x, top)) { k } else { best }
        })
    };
    let places = groups(T::of(x), x.shape(), &attrs.sizes("axis")).into_iter().map(place);
    Ok(Array::new(ty.shape.clone(), Data::I64(places.map(|k| k as i64).collect())))
}

fn eval_logsumexp(_: &OpDef, args: &[&Array], attrs: &Attrs, ty: &Type) -> Result<Array, ErrorKind> {
    Ok(each_float!(ty.dtype, T => stable_logsumexp::<T>(args[0], attrs, ty)))
}

fn stable_logsumexp<T: Float>(x: &Array, attrs: &Attrs, ty: &Type) -> Array {
    let axes = attrs.sizes("axes");
    let groups = groups(T::of(x), x.shape(), &axes);
    // Infinities and NaN come out right without a shift.
    let shift: Vec<T> =
        groups.into_iter().map(|group| group.into_iter().fold(T::from_f64(f64::NEG_INFINITY), T::greatest)).collect();
    let shift: Vec<T> = shift.into_iter().map(|top| if top.finite() { top } else { T::ZERO }).collect();
    let strides = ty.strides();
    let kept: Vec<usize> = (0..x.shape().len()).filter(|axis| !axes.contains(axis)).collect();
    let shift_of =
        |index: Vec<usize>| shift[kept.iter().zip(&strides).map(|(axis, stride)| index[*axis] * stride).sum::<usize>()];
    let terms = T::of(x).iter().zip(indices(x.shape())).map(|(x, index)| x.minus(shift_of(index)).through(lanes::exp));
    let terms = Array::new(x.shape(), T::data(terms.collect()));
    let sums = in_order(&terms, attrs, ty, T::ZERO, T::plus);
    Array::new(
        ty.shape.clone(),
        T::data(T::of(&sums).iter().zip(&shift).map(|(sum, shift)| sum.through(lanes::log).plus(*shift)).collect()),
    )
}

/// The rows that `logsumexp` is composed of; the arithmetic is that of its evaluation.
pub(super) fn logsumexp(b: &Builder, attrs: &Attrs, x: Value) -> Value {
    let (axes, ty) = (attrs.sizes("axes"), b.ty(x));
    let kept = Type::new(
        ty.dtype,
        (0..ty.rank()).filter(|axis| !axes.contains(axis)).map(|axis| ty.shape[axis]).collect::<Vec<_>>(),
    );
    let zero = b.zeros(&kept);
    let shift = if axes.iter().any(|axis| ty.shape[*axis] == 0) {
        zero
    } else {
        let top = b.op(&REDUCE_MAX, attrs.clone(), &[x]);
        b.op(&SELECT, Attrs::none(), &[b.op(&IS_FINITE, Attrs::none(), &[top]), top, zero])
    };
    let distance = b.op(&SUB, Attrs::none(), &[x, repeat(b, shift, &ty.shape, &axes)]);
    let sums = sum(b, b.op(&EXP, Attrs::none(), &[distance]), &axes);
    b.op(&ADD, Attrs::none(), &[b.op(&LOG, Attrs::none(), &[sums]), shift])
}

/// What a reduction over axes left, repeated along them.
fn repeat(b: &Builder, y: Value, shape: &[usize], axes: &[usize]) -> Value {
    b.broadcast(y, shape, &(0..shape.len()).filter(|axis| !axes.contains(axis)).collect::<Vec<_>>())
}

fn sum(b: &Builder, x: Value, axes: &[usize]) -> Value {
    b.op(&SUM, Attrs::none().ints("axes", axes.iter().copied()), &[x])
}

/// dy = Σ dx / n over the n elements that equal y.
fn extreme_tangent(b: &Builder, attrs: &Attrs, args: &[Value], y: Value, tangents: &[Option<Value>]) -> Value {
    let (axes, shape) = (attrs.sizes("axes"), b.ty(args[0]).shape);
    let is = equal(b, args[0], repeat(b, y, &shape, &axes));
    let count = repeat(b, sum(b, is, &axes), &shape, &axes);
    let share = b.op(&DIV, Attrs::none(), &[is, count]);
    sum(b, b.mul(share, given(tangents)), &axes)
}

/// dy = Σ exp(x - y) dx.
fn logsumexp_tangent(b: &Builder, attrs: &Attrs, args: &[Value], y: Value, tangents: &[Option<Value>]) -> Value {
    let (axes, shape) = (attrs.sizes("axes"), b.ty(args[0]).shape);
    let distance = b.op(&SUB, Attrs::none(), &[args[0], repeat(b, y, &shape, &axes)]);
    sum(b, b.mul(b.op(&EXP, Attrs::none(), &[distance]), given(tangents)), &axes)
}

/// dy = Σ_j (Π_{i<j} x_i) (Π_{i>j} x_i) dx_j: no division, so zeros are nothing special.
pub(super) fn prod_tangent(b: &Builder, axes: &[usize], x: Value, dx: Value) -> Value {
    let shape = b.ty(x).shape;
    let kept: Vec<usize> = (0..shape.len()).filter(|axis| !axes.contains(axis)).collect();
    let mut line: Vec<usize> = kept.iter().map(|axis| shape[*axis]).collect();
    line.push(axes.iter().map(|axis| shape[*axis]).product());
    // What is multiplied becomes one axis, the last.
    let last = |x: Value| {
        let moved = b.op(&TRANSPOSE, Attrs::none().ints("axes", kept.iter().chain(axes).copied()), &[x]);
        b.op(&RESHAPE, Attrs::none().ints("shape", line.clone()), &[moved])
    };
    let (x, dx, axis) = (last(x), last(dx), kept.len());
    let reverse = |x: Value| b.op(&REVERSE, Attrs::none().ints("axes", [axis]), &[x]);
    let products = |x: Value| before(b, b.op(&super::CUMPROD, Attrs::none().ints("axis", [axis]), &[x]), axis, 1.0);
    let others = b.mul(products(x), reverse(products(reverse(x))));
    sum(b, b.mul(others, dx), &[axis])
}

fn few_samples(def: &OpDef) -> Vec<Sample> {
    let axes = |axes: &[usize]| Attrs::none().ints("axes", axes.iter().copied());
    vec![
        one(def, &[5], axes(&[0])),
        one(def, &[3, 4], axes(&[0, 1])),
        one(def, &[3, 4], axes(&[0])),
        one(def, &[2, 3, 2], axes(&[0, 2])),
        one(def, &[1, 3], axes(&[0])),
        one(def, &[0, 3], axes(&[1])),
        one(def, &[4], axes(&[])),
    ]
}

fn truth_samples(_: &OpDef) -> Vec<Sample> {
    let sample = |shape: &[usize], axes: &[usize]| Sample {
        args: vec![(Type::new(DType::Bool, shape), (0.0, 2.0))],
        attrs: Attrs::none().ints("axes", axes.iter().copied()),
    };
    vec![
        sample(&[5], &[0]),
        sample(&[4, 3], &[1]),
        sample(&[2, 3, 2], &[0, 2]),
        sample(&[0, 2], &[0]),
        sample(&[3], &[]),
    ]
}

fn place_samples(def: &OpDef) -> Vec<Sample> {
    let sample =
        |ty: Type, axis: usize| Sample { args: vec![(ty, def.domain[0])], attrs: Attrs::none().ints("axis", [axis]) };
    vec![
        sample(Type::f64([5]), 0),
        sample(Type::f64([3, 4]), 0),
        sample(Type::new(DType::I64, [2, 9]), 1),
        sample(Type::f64([0, 1]), 1),
    ]
}
