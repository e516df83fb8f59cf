//! Ops that run along an axis, in ascending order.

use super::build::{equal, given, tangent, total};
use super::fold::{APART, number_only};
use super::number::Number;
use super::ops;
use super::scalar::DIV;
use super::shape::{PAD, REVERSE, axis_of, check_axis, cut, one, shape_error, view};
use crate::ir::{
    Array, Attrs, Builder, Contribution, DType, Error, ErrorKind, Lowering, OpDef, Reduction, Rule, Sample, Scan, Type,
    Value, View, each_number,
};

ops! {
    /// Sums of the elements so far along an axis.
    CUMSUM = OpDef { eval: |_, args, attrs, _| each_number!(args[0].dtype(), T => scan(args[0], attrs, T::plus)), rule: Rule::Linear(&[Some(transpose_cumsum)]), ..along("cumsum", Scan::Cumulative(Reduction::Sum)) };
    /// Products of the elements so far along an axis. The derivative is exact at zeros too.
    CUMPROD = OpDef { eval: |_, args, attrs, _| each_number!(args[0].dtype(), T => scan(args[0], attrs, T::times)), rule: tangent(cumprod_tangent), ..along("cumprod", Scan::Cumulative(Reduction::Prod)) };
    /// Largest of the elements so far along an axis; from a NaN on, NaN. Equal elements share the derivative, which is NaN where the result is.
    CUMMAX = OpDef { eval: |_, args, attrs, _| each_number!(args[0].dtype(), T => scan(args[0], attrs, T::greatest)), rule: tangent(cumulative_extreme_tangent), domain: APART, ..along("cummax", Scan::Cumulative(Reduction::Max)) };
    /// Smallest of the elements so far along an axis; from a NaN on, NaN. Equal elements share the derivative, which is NaN where the result is.
    CUMMIN = OpDef { eval: |_, args, attrs, _| each_number!(args[0].dtype(), T => scan(args[0], attrs, T::least)), rule: tangent(cumulative_extreme_tangent), domain: APART, ..along("cummin", Scan::Cumulative(Reduction::Min)) };
    /// y_k = a_k y_{k-1} + b_k along an axis, from y_0 = b_0.
    LINEAR_SCAN = OpDef { arity: Some(2), infer: infer_linear, eval: eval_linear, rule: Rule::Tangent { tangent: linear_tangent, linear: &[None, Some(transpose_linear)] }, cost: 2, samples: linear_samples, ..along("linear_scan", Scan::Linear) };
}

const fn along(name: &'static str, line: Scan) -> OpDef {
    OpDef {
        attrs: &["axis"],
        infer: infer_along,
        lowering: Lowering::Scan(line),
        cost: 1,
        samples: along_samples,
        ..view(name, View::Reshape, &[])
    }
}

pub(super) fn infer_along(def: &OpDef, types: &[Type], attrs: &Attrs) -> Result<Type, Error> {
    number_only(def, &types[0])?;
    check_axis(def, &types[0], attrs)?;
    Ok(types[0].clone())
}

fn infer_linear(def: &OpDef, types: &[Type], attrs: &Attrs) -> Result<Type, Error> {
    if types[0] != types[1] {
        return shape_error(format!("`{}` needs equal types, found {} and {}", def.name, types[0], types[1]));
    }
    infer_along(def, types, attrs)
}

/// Flat places along an axis, line by line.
pub(super) fn lines(shape: &[usize], axis: usize) -> Vec<Vec<usize>> {
    let (outer, inner): (usize, usize) = (shape[..axis].iter().product(), shape[axis + 1..].iter().product());
    let extent = shape[axis];
    let line = |a: usize, b: usize| (0..extent).map(|k| (a * extent + k) * inner + b).collect();
    (0..outer).flat_map(|a| (0..inner).map(move |b| (a, b))).map(|(a, b)| line(a, b)).collect()
}

fn scan<T: Number>(x: &Array, attrs: &Attrs, step: fn(T, T) -> T) -> Result<Array, ErrorKind> {
    let mut result = x.clone();
    let y = T::of_mut(&mut result);
    for line in lines(x.shape(), axis_of(attrs)) {
        line.windows(2).for_each(|pair| y[pair[1]] = step(y[pair[0]], y[pair[1]]));
    }
    Ok(result)
}

fn eval_linear(_: &OpDef, args: &[&Array], attrs: &Attrs, ty: &Type) -> Result<Array, ErrorKind> {
    Ok(each_number!(ty.dtype, T => linear::<T>(args, attrs)))
}

/// The product is rounded before the sum.
fn linear<T: Number>(args: &[&Array], attrs: &Attrs) -> Array {
    let (a, mut result) = (T::of(args[0]), args[1].clone());
    let lines = lines(result.shape(), axis_of(attrs));
    let y = T::of_mut(&mut result);
    lines
        .iter()
        .flat_map(|line| line.windows(2))
        .for_each(|pair| y[pair[1]] = y[pair[1]].plus(a[pair[1]].times(y[pair[0]])));
    result
}

/// Every element's predecessor along an axis, and a number before the first.
pub(super) fn before(b: &Builder, x: Value, axis: usize, first: f64) -> Value {
    let mut shape = b.ty(x).shape;
    if shape[axis] == 0 {
        return x;
    }
    shape[axis] -= 1;
    let (all_but_last, number) =
        (cut(b, x, &vec![0; shape.len()], &shape), b.full(&Type::scalar(b.ty(x).dtype), first));
    let low = (0..shape.len()).map(|k| usize::from(k == axis));
    b.op(&PAD, Attrs::none().ints("low", low).ints("high", shape.iter().map(|_| 0)), &[all_but_last, number])
}

fn reverse(b: &Builder, x: Value, axis: usize) -> Value {
    b.op(&REVERSE, Attrs::none().ints("axes", [axis]), &[x])
}

fn linear_scan(b: &Builder, attrs: &Attrs, factors: Value, terms: Value) -> Value {
    b.op(&LINEAR_SCAN, attrs.clone(), &[factors, terms])
}

fn transpose_cumsum(b: &Builder, attrs: &Attrs, _: &[Value], ct: Value) -> Contribution {
    let axis = axis_of(attrs);
    Contribution::Dense(reverse(b, b.op(&CUMSUM, attrs.clone(), &[reverse(b, ct, axis)]), axis))
}

/// dy_k = x_k dy_{k-1} + y_{k-1} dx_k.
fn cumprod_tangent(b: &Builder, attrs: &Attrs, args: &[Value], y: Value, tangents: &[Option<Value>]) -> Value {
    linear_scan(b, attrs, args[0], b.mul(before(b, y, axis_of(attrs), 1.0), given(tangents)))
}

/// dy_k = Σ dx_j / n over the n elements j ≤ k that equal y_k. They stand where y has not changed since, so that both
/// sums start anew wherever y changes.
fn cumulative_extreme_tangent(
    b: &Builder,
    attrs: &Attrs,
    args: &[Value],
    y: Value,
    tangents: &[Option<Value>],
) -> Value {
    let (goes_on, is) = (equal(b, y, before(b, y, axis_of(attrs), 0.0)), equal(b, args[0], y));
    let sum = linear_scan(b, attrs, goes_on, b.mul(is, given(tangents)));
    b.op(&DIV, Attrs::none(), &[sum, linear_scan(b, attrs, goes_on, is)])
}

/// dy_k = a_k dy_{k-1} + (y_{k-1} da_k + db_k).
fn linear_tangent(b: &Builder, attrs: &Attrs, args: &[Value], y: Value, tangents: &[Option<Value>]) -> Value {
    let from_factors = tangents[0].map(|da| b.mul(before(b, y, axis_of(attrs), 0.0), da));
    linear_scan(b, attrs, args[0], total(b, [from_factors, tangents[1]]))
}

/// c_k = a_{k+1} c_{k+1} + ct_k: the same from behind.
fn transpose_linear(b: &Builder, attrs: &Attrs, args: &[Value], ct: Value) -> Contribution {
    let axis = axis_of(attrs);
    let factors = before(b, reverse(b, args[0], axis), axis, 0.0);
    Contribution::Dense(reverse(b, linear_scan(b, attrs, factors, reverse(b, ct, axis)), axis))
}

pub(super) fn along_samples(def: &OpDef) -> Vec<Sample> {
    let axis = |axis: usize| Attrs::none().ints("axis", [axis]);
    vec![
        one(def, &[6], axis(0)),
        one(def, &[3, 4], axis(0)),
        one(def, &[2, 3, 2], axis(1)),
        one(def, &[1], axis(0)),
        one(def, &[2, 0], axis(1)),
        Sample { args: vec![(Type::new(DType::I64, [2, 9]), (-2.0, 3.0))], attrs: axis(1) },
    ]
}

fn linear_samples(def: &OpDef) -> Vec<Sample> {
    let sample = |shape: &[usize], axis: usize| Sample {
        args: vec![(Type::f64(shape), def.domain[0]); 2],
        attrs: Attrs::none().ints("axis", [axis]),
    };
    vec![sample(&[6], 0), sample(&[3, 4], 0), sample(&[2, 3, 2], 1), sample(&[1], 0), sample(&[0], 0)]
}
