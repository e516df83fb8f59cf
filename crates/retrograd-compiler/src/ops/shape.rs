//! Ops that make or re-index arrays: literals, indices, broadcast, reshape, transpose.

use super::ops;
use super::reduce::SUM;
use crate::ir::{
    Array, Attr, Attrs, Builder, Contribution, DType, Data, Error, ErrorKind, Lowering, Pos, Row, Rule, Sample, Type, Value, View,
};

ops! {
    /// A literal array.
    CONSTANT = Row {
        attrs: &["value"],
        infer: infer_constant,
        eval: |_, _, attrs, _| Ok(attrs.array("value").clone()),
        lowering: Lowering::Constant,
        samples: constant_samples,
        ..source("constant")
    };
    /// The index along one axis.
    IOTA = Row { attrs: &["type", "axis"], infer: infer_iota, eval: eval_iota, lowering: Lowering::Iota, samples: iota_samples, ..source("iota") };
    /// The same elements repeated along new axes; axis k of the argument becomes axis `axes[k]` of the result.
    BROADCAST = Row { attrs: &["shape", "axes"], infer: infer_broadcast, eval: eval_broadcast, samples: broadcast_samples, ..view("broadcast", View::Broadcast, &[Some(transpose_broadcast)]) };
    /// The same elements in the same order under another shape.
    RESHAPE = Row { attrs: &["shape"], infer: infer_reshape, eval: |_, args, _, ty| Ok(args[0].clone().reshaped(ty.shape.clone())), samples: reshape_samples, ..view("reshape", View::Reshape, &[Some(transpose_reshape)]) };
    /// Axes in another order: axis k of the result is axis `axes[k]` of the argument.
    TRANSPOSE = Row { attrs: &["axes"], infer: infer_transpose, eval: eval_transpose, samples: transpose_samples, ..view("transpose", View::Transpose, &[Some(transpose_transpose)]) };
}

const fn source(name: &'static str) -> Row {
    Row { arity: Some(0), rule: Rule::Zero, ..view(name, View::Reshape, &[]) }
}

/// A row that re-indexes its first argument; its family fills in the functions.
pub(super) const fn view(name: &'static str, view: View, transposes: &'static [Option<crate::ir::Transpose>]) -> Row {
    Row {
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
        samples: |row| panic!("rows state samples: {}", row.name),
    }
}

/// A shape error without a position; the builder adds it.
pub(super) fn shape_error<T>(message: String) -> Result<T, Error> {
    Err(Error::new(ErrorKind::Shape, Pos::unknown(), message))
}

/// The elements of `from` picked by source index, in the order of the result.
pub(super) fn pick(from: &Array, shape: &[usize], sources: impl Iterator<Item = usize>) -> Array {
    let data = match from.data() {
        Data::F32(x) => Data::F32(sources.map(|k| x[k]).collect()),
        Data::F64(x) => Data::F64(sources.map(|k| x[k]).collect()),
        Data::I32(x) => Data::I32(sources.map(|k| x[k]).collect()),
        Data::I64(x) => Data::I64(sources.map(|k| x[k]).collect()),
        Data::Bool(x) => Data::Bool(sources.map(|k| x[k]).collect()),
    };
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

fn infer_constant(_: &Row, _: &[Type], attrs: &Attrs) -> Result<Type, Error> {
    match attrs.get("value") {
        Some(Attr::Array(value)) => Ok(value.ty()),
        _ => Err(Error::new(ErrorKind::Argument, Pos::unknown(), "`constant` needs a literal")),
    }
}

fn infer_iota(_: &Row, _: &[Type], attrs: &Attrs) -> Result<Type, Error> {
    let ty = attrs.ty("type");
    let axis = attrs.sizes("axis");
    if axis.len() != 1 || axis[0] >= ty.rank() {
        return shape_error(format!("`iota` needs one axis of {ty}, found {axis:?}"));
    }
    match ty.dtype {
        DType::F64 | DType::I64 => Ok(ty.clone()),
        DType::F32 | DType::I32 | DType::Bool => {
            Err(Error::new(ErrorKind::DType, Pos::unknown(), format!("`iota` makes f64 or i64, not {ty}")))
        }
    }
}

fn eval_iota(_: &Row, _: &[&Array], attrs: &Attrs, ty: &Type) -> Result<Array, ErrorKind> {
    let axis = attrs.sizes("axis")[0];
    let along = indices(&ty.shape).map(|index| index[axis]);
    let data = match ty.dtype {
        DType::F64 => Data::F64(along.map(|k| k as f64).collect()),
        DType::I64 => Data::I64(along.map(|k| k as i64).collect()),
        DType::F32 | DType::I32 | DType::Bool => panic!("verified types: iota makes f64 or i64"),
    };
    Ok(Array::new(ty.shape.clone(), data))
}

fn infer_broadcast(_: &Row, types: &[Type], attrs: &Attrs) -> Result<Type, Error> {
    let (shape, axes) = (attrs.sizes("shape"), attrs.sizes("axes"));
    let ascending = axes.windows(2).all(|pair| pair[0] < pair[1]);
    let fits = axes.len() == types[0].rank() && axes.iter().zip(&types[0].shape).all(|(axis, extent)| shape.get(*axis) == Some(extent));
    if !ascending || !fits {
        return shape_error(format!("`broadcast` cannot put {} on axes {axes:?} of shape {shape:?}", types[0]));
    }
    Ok(Type::new(types[0].dtype, shape))
}

fn eval_broadcast(_: &Row, args: &[&Array], attrs: &Attrs, ty: &Type) -> Result<Array, ErrorKind> {
    let axes = attrs.sizes("axes");
    let strides = args[0].ty().strides();
    let source = |index: Vec<usize>| axes.iter().zip(&strides).map(|(axis, stride)| index[*axis] * stride).sum();
    Ok(pick(args[0], &ty.shape, indices(&ty.shape).map(source)))
}

fn transpose_broadcast(b: &Builder, attrs: &Attrs, _: &[Value], ct: Value) -> Contribution {
    let axes = attrs.sizes("axes");
    let repeated = (0..attrs.sizes("shape").len()).filter(|axis| !axes.contains(axis));
    Contribution::Dense(b.row(&SUM, Attrs::none().ints("axes", repeated), &[ct]))
}

fn infer_reshape(_: &Row, types: &[Type], attrs: &Attrs) -> Result<Type, Error> {
    let shape = attrs.sizes("shape");
    if Type::new(types[0].dtype, &shape[..]).checked_elements() != Some(types[0].elements()) {
        return shape_error(format!("`reshape` cannot make shape {shape:?} of the {} elements of {}", types[0].elements(), types[0]));
    }
    Ok(Type::new(types[0].dtype, shape))
}

fn transpose_reshape(b: &Builder, _: &Attrs, args: &[Value], ct: Value) -> Contribution {
    Contribution::Dense(b.row(&RESHAPE, Attrs::none().ints("shape", b.ty(args[0]).shape), &[ct]))
}

fn infer_transpose(_: &Row, types: &[Type], attrs: &Attrs) -> Result<Type, Error> {
    let axes = attrs.sizes("axes");
    let mut sorted = axes.clone();
    sorted.sort_unstable();
    if !sorted.iter().copied().eq(0..types[0].rank()) {
        return shape_error(format!("`transpose` needs every axis of {} once, found {axes:?}", types[0]));
    }
    Ok(Type::new(types[0].dtype, axes.iter().map(|axis| types[0].shape[*axis]).collect::<Vec<_>>()))
}

fn eval_transpose(_: &Row, args: &[&Array], attrs: &Attrs, ty: &Type) -> Result<Array, ErrorKind> {
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
    Contribution::Dense(b.row(&TRANSPOSE, Attrs::none().ints("axes", inverse), &[ct]))
}

fn constant_samples(_: &Row) -> Vec<Sample> {
    let literal = |value| Sample { args: vec![], attrs: Attrs::none().with("value", Attr::Array(value)) };
    vec![
        literal(Array::scalar(1.5)),
        literal(Array::f64([2, 2], vec![0.0, -0.0, f64::INFINITY, 1e-310])),
        literal(Array::int(-3)),
        literal(Array::bool(true)),
    ]
}

fn iota_samples(_: &Row) -> Vec<Sample> {
    let sample = |ty, axis| Sample { args: vec![], attrs: Attrs::none().with("type", Attr::Type(ty)).ints("axis", [axis]) };
    vec![sample(Type::f64([5]), 0), sample(Type::new(DType::I64, [3, 4]), 1), sample(Type::new(DType::I64, [3, 4]), 0)]
}

/// One f64 argument of a shape.
pub(super) fn one(row: &Row, shape: &[usize], attrs: Attrs) -> Sample {
    Sample { args: vec![(Type::f64(shape), row.domain[0])], attrs }
}

fn broadcast_samples(row: &Row) -> Vec<Sample> {
    let attrs = |shape: &[usize], axes: &[usize]| Attrs::none().ints("shape", shape.iter().copied()).ints("axes", axes.iter().copied());
    vec![
        one(row, &[], attrs(&[4], &[])),
        one(row, &[3], attrs(&[2, 3], &[1])),
        one(row, &[2], attrs(&[2, 3], &[0])),
        one(row, &[2, 4], attrs(&[2, 3, 4], &[0, 2])),
    ]
}

fn reshape_samples(row: &Row) -> Vec<Sample> {
    let attrs = |shape: &[usize]| Attrs::none().ints("shape", shape.iter().copied());
    vec![one(row, &[2, 6], attrs(&[3, 4])), one(row, &[6], attrs(&[1, 6, 1])), one(row, &[1, 1], attrs(&[]))]
}

fn transpose_samples(row: &Row) -> Vec<Sample> {
    vec![one(row, &[2, 3], Attrs::none().ints("axes", [1, 0])), one(row, &[2, 3, 4], Attrs::none().ints("axes", [2, 0, 1]))]
}
