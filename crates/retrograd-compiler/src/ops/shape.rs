//! Ops that make or re-index arrays: literals, indices, broadcast, reshape, transpose, reverse, pad, concat.

use super::index::{SLICE, UPDATE};
use super::ops;
use super::reduce::SUM;
use super::scalar::evaluate;
use crate::ir::{
    Array, Attr, Attrs, Builder, Composed, Contribution, DType, Data, Element, Error, ErrorKind, Lowering, OpDef, Pos,
    Rule, Sample, Scalar, Type, Value, View, each_element,
};

ops! {
    /// A literal array.
    CONSTANT = OpDef {
        attrs: &["value"],
        infer: infer_constant,
        eval: |_, _, attrs, _| Ok(attrs.array("value").clone()),
        lowering: Lowering::Constant,
        samples: constant_samples,
        ..source("constant")
    };
    /// The index along one axis.
    IOTA = OpDef { attrs: &["type", "axis"], infer: infer_iota, eval: eval_iota, lowering: Lowering::Iota, samples: iota_samples, ..source("iota") };
    /// The same elements repeated along new axes; axis k of the argument becomes axis `axes[k]` of the result.
    BROADCAST = OpDef { attrs: &["shape", "axes"], infer: infer_broadcast, eval: eval_broadcast, samples: broadcast_samples, ..view("broadcast", View::Broadcast, &[Some(transpose_broadcast)]) };
    /// The same elements in the same order under another shape.
    RESHAPE = OpDef { attrs: &["shape"], infer: infer_reshape, eval: |_, args, _, ty| Ok(args[0].clone().reshaped(ty.shape.clone())), samples: reshape_samples, ..view("reshape", View::Reshape, &[Some(transpose_reshape)]) };
    /// Axes in another order: axis k of the result is axis `axes[k]` of the argument.
    TRANSPOSE = OpDef { attrs: &["axes"], infer: infer_transpose, eval: eval_transpose, samples: transpose_samples, ..view("transpose", View::Transpose, &[Some(transpose_transpose)]) };
    /// These axes backwards.
    REVERSE = OpDef { attrs: &["axes"], infer: infer_reverse, eval: eval_reverse, samples: reverse_samples, ..view("reverse", View::Reverse, &[Some(transpose_reverse)]) };
    /// The first argument with `low` elements before it and `high` after it along every axis, all equal to the second argument.
    PAD = OpDef { arity: Some(2), attrs: &["low", "high"], infer: infer_pad, eval: eval_pad, lowering: Lowering::Composed(Composed::Pad), samples: pad_samples, ..view("pad", View::Reshape, &[Some(transpose_pad), Some(transpose_padding)]) };
    /// The arguments, one or more, one after the other along an axis.
    CONCAT = OpDef { arity: None, attrs: &["axis"], infer: infer_concat, eval: eval_concat, rule: Rule::LinearInEach(transpose_concat), lowering: Lowering::Composed(Composed::Concat), samples: concat_samples, ..view("concat", View::Reshape, &[]) };
}

/// The rows that an op of this lowering is composed of.
pub fn composed(of: Composed, b: &Builder, attrs: &Attrs, args: &[Value]) -> Value {
    match of {
        Composed::Pad => {
            let base = b.broadcast(args[1], &pad_shape(&b.ty(args[0]).shape, attrs), &[]);
            put(b, base, args[0], &attrs.sizes("low"))
        }
        Composed::Concat => {
            let (types, axis) = (b.types(args), axis_of(attrs));
            let mut start = vec![0; types[0].rank()];
            let base = b.zeros(&concat_type(&types, axis));
            args.iter().zip(&types).fold(base, |base, (arg, ty)| {
                let result = put(b, base, *arg, &start);
                start[axis] += ty.shape[axis];
                result
            })
        }
        Composed::LogSumExp => super::fold::logsumexp(b, attrs, args[0]),
        Composed::First => args[0],
    }
}

/// An array with a window replaced, at a fixed place.
fn put(b: &Builder, base: Value, window: Value, start: &[usize]) -> Value {
    let starts = start.iter().map(|start| b.int(*start as i64));
    b.op(
        &UPDATE,
        Attrs::none().ints("step", start.iter().map(|_| 1)),
        &[base, window].into_iter().chain(starts).collect::<Vec<_>>(),
    )
}

/// The window of an array at a fixed place.
pub(super) fn cut(b: &Builder, from: Value, start: &[usize], shape: &[usize]) -> Value {
    let stop = start.iter().zip(shape).map(|(start, extent)| start + extent);
    let attrs =
        Attrs::none().ints("start", start.iter().copied()).ints("stop", stop).ints("step", start.iter().map(|_| 1));
    b.op(&SLICE, attrs, &[from])
}

/// The one axis of an op that works along it.
pub(super) fn axis_of(attrs: &Attrs) -> usize {
    attrs.sizes("axis")[0]
}

/// The attribute `axis`: one axis of the type.
pub(super) fn check_axis(def: &OpDef, ty: &Type, attrs: &Attrs) -> Result<usize, Error> {
    match attrs.sizes("axis")[..] {
        [axis] if axis < ty.rank() => Ok(axis),
        ref axes => shape_error(format!("`{}` needs one axis of {ty}, found {axes:?}", def.name)),
    }
}

/// The attribute `axes`: ascending axes of the type.
pub(super) fn check_axes(def: &OpDef, ty: &Type, attrs: &Attrs) -> Result<Vec<usize>, Error> {
    let axes = attrs.sizes("axes");
    let ascending = axes.windows(2).all(|pair| pair[0] < pair[1]);
    if !ascending || axes.last().is_some_and(|axis| *axis >= ty.rank()) {
        return shape_error(format!("`{}` over axes {axes:?} does not fit {ty}", def.name));
    }
    Ok(axes)
}

const fn source(name: &'static str) -> OpDef {
    OpDef { arity: Some(0), rule: Rule::Zero, ..view(name, View::Reshape, &[]) }
}

/// A row that re-indexes its first argument; its family fills in the functions.
pub(super) const fn view(name: &'static str, view: View, transposes: &'static [Option<crate::ir::Transpose>]) -> OpDef {
    OpDef {
        name,
        doc: "",
        arity: Some(1),
        attrs: &[],
        infer: |row, _, _| panic!("rows state a shape rule: {}", row.name),
        eval: |row, _, _, _| panic!("rows state an evaluation: {}", row.name),
        rule: Rule::Linear(transposes),
        lowering: Lowering::View(view),
        cost: 0,
        domain: &[(-2.0, 2.0)],
        condition: |_| {},
        samples: |row| panic!("rows state samples: {}", row.name),
    }
}

/// A shape error without a position; the builder adds it.
pub(super) fn shape_error<T>(message: String) -> Result<T, Error> {
    Err(Error::new(ErrorKind::Shape, Pos::unknown(), message))
}

/// The elements of `from` picked by source index, in the order of the result.
pub(super) fn pick(from: &Array, shape: &[usize], sources: impl Iterator<Item = usize>) -> Array {
    let data = each_element!(from.dtype(), T => {
        let x = T::of(from);
        T::data(sources.map(|k| x[k]).collect())
    });
    Array::new(shape, data)
}

/// All indices of a shape, row-major.
pub(super) fn indices(shape: &[usize]) -> impl Iterator<Item = Vec<usize>> + use<> {
    let shape = shape.to_vec();
    (0..shape.iter().product()).map(move |mut flat| {
        let mut index = vec![0; shape.len()];
        for axis in (0..shape.len()).rev() {
            index[axis] = flat % shape[axis];
            flat /= shape[axis];
        }
        index
    })
}

fn infer_constant(_: &OpDef, _: &[Type], attrs: &Attrs) -> Result<Type, Error> {
    match attrs.get("value") {
        Some(Attr::Array(value)) => Ok(value.ty()),
        _ => Err(Error::new(ErrorKind::Argument, Pos::unknown(), "`constant` needs a literal")),
    }
}

fn infer_iota(_: &OpDef, _: &[Type], attrs: &Attrs) -> Result<Type, Error> {
    let ty = attrs.ty("type");
    let axis = attrs.sizes("axis");
    if axis.len() != 1 || axis[0] >= ty.rank() {
        return shape_error(format!("`iota` needs one axis of {ty}, found {axis:?}"));
    }
    match ty.dtype {
        DType::F32 | DType::F64 | DType::I32 | DType::I64 => Ok(ty.clone()),
        DType::Bool => Err(Error::new(ErrorKind::DType, Pos::unknown(), format!("`iota` makes numbers, not {ty}"))),
    }
}

fn eval_iota(_: &OpDef, _: &[&Array], attrs: &Attrs, ty: &Type) -> Result<Array, ErrorKind> {
    let axis = attrs.sizes("axis")[0];
    let along = indices(&ty.shape).map(|index| index[axis]);
    let index = Array::new(ty.shape.clone(), Data::I64(along.map(|k| k as i64).collect()));
    evaluate(Scalar::Convert(ty.dtype), &[&index], ty)
}

fn infer_broadcast(_: &OpDef, types: &[Type], attrs: &Attrs) -> Result<Type, Error> {
    let (shape, axes) = (attrs.sizes("shape"), attrs.sizes("axes"));
    let ascending = axes.windows(2).all(|pair| pair[0] < pair[1]);
    let fits = axes.len() == types[0].rank()
        && axes.iter().zip(&types[0].shape).all(|(axis, extent)| shape.get(*axis) == Some(extent));
    if !ascending || !fits {
        return shape_error(format!("`broadcast` cannot put {} on axes {axes:?} of shape {shape:?}", types[0]));
    }
    Ok(Type::new(types[0].dtype, shape))
}

fn eval_broadcast(_: &OpDef, args: &[&Array], attrs: &Attrs, ty: &Type) -> Result<Array, ErrorKind> {
    let axes = attrs.sizes("axes");
    let strides = args[0].ty().strides();
    let source = |index: Vec<usize>| axes.iter().zip(&strides).map(|(axis, stride)| index[*axis] * stride).sum();
    Ok(pick(args[0], &ty.shape, indices(&ty.shape).map(source)))
}

fn transpose_broadcast(b: &Builder, attrs: &Attrs, _: &[Value], ct: Value) -> Contribution {
    let axes = attrs.sizes("axes");
    let repeated = (0..attrs.sizes("shape").len()).filter(|axis| !axes.contains(axis));
    Contribution::Dense(b.op(&SUM, Attrs::none().ints("axes", repeated), &[ct]))
}

fn infer_reshape(_: &OpDef, types: &[Type], attrs: &Attrs) -> Result<Type, Error> {
    let shape = attrs.sizes("shape");
    if Type::new(types[0].dtype, &shape[..]).checked_elements() != Some(types[0].elements()) {
        return shape_error(format!(
            "`reshape` cannot make shape {shape:?} of the {} elements of {}",
            types[0].elements(),
            types[0]
        ));
    }
    Ok(Type::new(types[0].dtype, shape))
}

fn transpose_reshape(b: &Builder, _: &Attrs, args: &[Value], ct: Value) -> Contribution {
    Contribution::Dense(b.op(&RESHAPE, Attrs::none().ints("shape", b.ty(args[0]).shape), &[ct]))
}

fn infer_transpose(_: &OpDef, types: &[Type], attrs: &Attrs) -> Result<Type, Error> {
    let axes = attrs.sizes("axes");
    let mut sorted = axes.clone();
    sorted.sort_unstable();
    if !sorted.iter().copied().eq(0..types[0].rank()) {
        return shape_error(format!("`transpose` needs every axis of {} once, found {axes:?}", types[0]));
    }
    Ok(Type::new(types[0].dtype, axes.iter().map(|axis| types[0].shape[*axis]).collect::<Vec<_>>()))
}

fn eval_transpose(_: &OpDef, args: &[&Array], attrs: &Attrs, ty: &Type) -> Result<Array, ErrorKind> {
    let axes = attrs.sizes("axes");
    let strides = args[0].ty().strides();
    let source = |index: Vec<usize>| axes.iter().zip(&index).map(|(axis, k)| k * strides[*axis]).sum();
    Ok(pick(args[0], &ty.shape, indices(&ty.shape).map(source)))
}

fn transpose_transpose(b: &Builder, attrs: &Attrs, _: &[Value], ct: Value) -> Contribution {
    let axes = attrs.sizes("axes");
    let mut inverse = vec![0; axes.len()];
    for (k, axis) in axes.iter().enumerate() {
        inverse[*axis] = k;
    }
    Contribution::Dense(b.op(&TRANSPOSE, Attrs::none().ints("axes", inverse), &[ct]))
}

fn infer_reverse(def: &OpDef, types: &[Type], attrs: &Attrs) -> Result<Type, Error> {
    check_axes(def, &types[0], attrs)?;
    Ok(types[0].clone())
}

fn eval_reverse(_: &OpDef, args: &[&Array], attrs: &Attrs, ty: &Type) -> Result<Array, ErrorKind> {
    let (axes, strides) = (attrs.sizes("axes"), ty.strides());
    let along = |axis: usize, k: usize| if axes.contains(&axis) { ty.shape[axis] - 1 - k } else { k };
    let source = |index: Vec<usize>| (0..index.len()).map(|axis| along(axis, index[axis]) * strides[axis]).sum();
    Ok(pick(args[0], &ty.shape, indices(&ty.shape).map(source)))
}

fn transpose_reverse(b: &Builder, attrs: &Attrs, _: &[Value], ct: Value) -> Contribution {
    Contribution::Dense(b.op(&REVERSE, attrs.clone(), &[ct]))
}

fn pad_shape(shape: &[usize], attrs: &Attrs) -> Vec<usize> {
    let (low, high) = (attrs.sizes("low"), attrs.sizes("high"));
    (0..shape.len()).map(|axis| shape[axis].saturating_add(low[axis]).saturating_add(high[axis])).collect()
}

fn infer_pad(_: &OpDef, types: &[Type], attrs: &Attrs) -> Result<Type, Error> {
    let (low, high) = (attrs.sizes("low"), attrs.sizes("high"));
    if types[1] != Type::scalar(types[0].dtype) || low.len() != types[0].rank() || high.len() != types[0].rank() {
        return shape_error(format!(
            "`pad` cannot put {low:?} before and {high:?} after {} with {}",
            types[0], types[1]
        ));
    }
    Ok(Type::new(types[0].dtype, pad_shape(&types[0].shape, attrs)))
}

fn eval_pad(_: &OpDef, args: &[&Array], attrs: &Attrs, ty: &Type) -> Result<Array, ErrorKind> {
    let (low, shape, strides) = (attrs.sizes("low"), args[0].shape(), args[0].ty().strides());
    // The number stands after the elements of the array.
    let both = join(&[args[0], args[1]], &[args[0].len() + 1]);
    let source = |index: Vec<usize>| {
        let inside = (0..shape.len()).all(|axis| (low[axis]..low[axis] + shape[axis]).contains(&index[axis]));
        if inside {
            (0..shape.len()).map(|axis| (index[axis] - low[axis]) * strides[axis]).sum()
        } else {
            args[0].len()
        }
    };
    Ok(pick(&both, &ty.shape, indices(&ty.shape).map(source)))
}

/// All elements of arrays of one element type, one array after the other.
fn join(arrays: &[&Array], shape: &[usize]) -> Array {
    let data =
        each_element!(arrays[0].dtype(), T => T::data(arrays.iter().flat_map(|array| T::of(array)).copied().collect()));
    Array::new(shape, data)
}

fn transpose_pad(b: &Builder, attrs: &Attrs, args: &[Value], ct: Value) -> Contribution {
    Contribution::Dense(cut(b, ct, &attrs.sizes("low"), &b.ty(args[0]).shape))
}

/// The sum of the cotangents of the padding.
fn transpose_padding(b: &Builder, attrs: &Attrs, args: &[Value], ct: Value) -> Contribution {
    let padding = put(b, ct, b.zeros(&b.ty(args[0])), &attrs.sizes("low"));
    Contribution::Dense(b.op(&SUM, Attrs::none().ints("axes", 0..b.ty(ct).rank()), &[padding]))
}

fn concat_type(types: &[Type], axis: usize) -> Type {
    let mut ty = types[0].clone();
    ty.shape[axis] = types.iter().fold(0, |extent: usize, ty| extent.saturating_add(ty.shape[axis]));
    ty
}

fn infer_concat(def: &OpDef, types: &[Type], attrs: &Attrs) -> Result<Type, Error> {
    let [first, ..] = types else { return shape_error("`concat` needs an array".into()) };
    let axis = check_axis(def, first, attrs)?;
    let fits = |ty: &Type| {
        ty.dtype == first.dtype
            && ty.rank() == first.rank()
            && (0..ty.rank()).all(|k| k == axis || ty.shape[k] == first.shape[k])
    };
    match types.iter().find(|ty| !fits(ty)) {
        Some(other) => shape_error(format!("`concat` cannot join {first} and {other} along axis {axis}")),
        None => Ok(concat_type(types, axis)),
    }
}

fn eval_concat(_: &OpDef, args: &[&Array], attrs: &Attrs, ty: &Type) -> Result<Array, ErrorKind> {
    let axis = axis_of(attrs);
    let all = join(args, &[args.iter().map(|array| array.len()).sum()]);
    let source = |mut index: Vec<usize>| {
        let mut before = 0;
        for array in args {
            if index[axis] < array.shape()[axis] {
                return before + index.iter().zip(array.ty().strides()).map(|(k, stride)| k * stride).sum::<usize>();
            }
            index[axis] -= array.shape()[axis];
            before += array.len();
        }
        panic!("verified types: the arguments of concat fill its result")
    };
    Ok(pick(&all, &ty.shape, indices(&ty.shape).map(source)))
}

fn transpose_concat(b: &Builder, attrs: &Attrs, args: &[Value], k: usize, ct: Value) -> Contribution {
    let (types, axis) = (b.types(args), axis_of(attrs));
    let mut start = vec![0; types[k].rank()];
    start[axis] = types[..k].iter().map(|ty| ty.shape[axis]).sum();
    Contribution::Dense(cut(b, ct, &start, &types[k].shape))
}

fn reverse_samples(def: &OpDef) -> Vec<Sample> {
    let axes = |axes: &[usize]| Attrs::none().ints("axes", axes.iter().copied());
    vec![
        one(def, &[19], axes(&[0])),
        one(def, &[3, 10], axes(&[1])),
        one(def, &[2, 3, 4], axes(&[0, 2])),
        one(def, &[1, 2], axes(&[])),
        one(def, &[0], axes(&[0])),
    ]
}

fn pad_samples(def: &OpDef) -> Vec<Sample> {
    let sample = |shape: &[usize], low: &[usize], high: &[usize]| Sample {
        args: vec![(Type::f64(shape), def.domain[0]), (Type::f64([]), def.domain[0])],
        attrs: Attrs::none().ints("low", low.iter().copied()).ints("high", high.iter().copied()),
    };
    vec![
        sample(&[9], &[2], &[3]),
        sample(&[2, 3], &[1, 0], &[0, 2]),
        sample(&[1, 2, 1], &[0, 0, 0], &[0, 1, 0]),
        sample(&[0], &[1], &[1]),
        sample(&[], &[], &[]),
    ]
}

fn concat_samples(def: &OpDef) -> Vec<Sample> {
    let sample = |shapes: &[&[usize]], axis| Sample {
        args: shapes.iter().map(|shape| (Type::f64(*shape), def.domain[0])).collect(),
        attrs: Attrs::none().ints("axis", [axis]),
    };
    vec![
        sample(&[&[9]], 0),
        sample(&[&[3], &[1], &[4]], 0),
        sample(&[&[2, 3], &[2, 5]], 1),
        sample(&[&[2, 1, 2], &[1, 1, 2]], 0),
        sample(&[&[0], &[2]], 0),
    ]
}

fn constant_samples(_: &OpDef) -> Vec<Sample> {
    let literal = |value| Sample { args: vec![], attrs: Attrs::none().with("value", Attr::Array(value)) };
    vec![
        literal(Array::scalar(1.5)),
        literal(Array::f64([2, 2], vec![0.0, -0.0, f64::INFINITY, 1e-310])),
        literal(Array::int(-3)),
        literal(Array::bool(true)),
    ]
}

fn iota_samples(_: &OpDef) -> Vec<Sample> {
    let sample =
        |ty, axis| Sample { args: vec![], attrs: Attrs::none().with("type", Attr::Type(ty)).ints("axis", [axis]) };
    vec![sample(Type::f64([5]), 0), sample(Type::new(DType::I64, [3, 4]), 1), sample(Type::new(DType::I64, [3, 4]), 0)]
}

/// One f64 argument of a shape.
pub(super) fn one(def: &OpDef, shape: &[usize], attrs: Attrs) -> Sample {
    Sample { args: vec![(Type::f64(shape), def.domain[0])], attrs }
}

fn broadcast_samples(def: &OpDef) -> Vec<Sample> {
    let attrs = |shape: &[usize], axes: &[usize]| {
        Attrs::none().ints("shape", shape.iter().copied()).ints("axes", axes.iter().copied())
    };
    vec![
        one(def, &[], attrs(&[4], &[])),
        one(def, &[3], attrs(&[2, 3], &[1])),
        one(def, &[2], attrs(&[2, 3], &[0])),
        one(def, &[2, 4], attrs(&[2, 3, 4], &[0, 2])),
    ]
}

fn reshape_samples(def: &OpDef) -> Vec<Sample> {
    let attrs = |shape: &[usize]| Attrs::none().ints("shape", shape.iter().copied());
    vec![one(def, &[2, 6], attrs(&[3, 4])), one(def, &[6], attrs(&[1, 6, 1])), one(def, &[1, 1], attrs(&[]))]
}

fn transpose_samples(def: &OpDef) -> Vec<Sample> {
    vec![
        one(def, &[2, 3], Attrs::none().ints("axes", [1, 0])),
        one(def, &[2, 3, 4], Attrs::none().ints("axes", [2, 0, 1])),
    ]
}
