//! Elements picked and placed by arrays of indices. An index that is out of bounds is a fault of the run.
//!
//! `gather` and the scatters work on whole rows along an axis: with x of shape (a…, n, b…) and indices of shape (i…),
//! what is picked or placed has shape (a…, i…, b…). `take_along_axis` and `add_along_axis` have one index per element.

use super::build::{equal, tangent, total};
use super::fold::{APART, prod_tangent};
use super::number::Number;
use super::ops;
use super::scalar::{AND, DIV, EQ, LT, NOT, SELECT};
use super::shape::{IOTA, RESHAPE, axis_of, check_axis, indices, pick, shape_error, view};
use crate::ir::{
    Array, Attr, Attrs, Builder, Contribution, DType, Element, Error, ErrorKind, Indexing, Lowering, OpDef, Pos, Rule,
    Sample, Type, Value, View, Write, each_element, each_number,
};

ops! {
    /// Rows of the first argument along an axis, at the indices that the second argument holds.
    GATHER = OpDef { infer: infer_gather, eval: eval_gather, rule: Rule::Linear(&[Some(transpose_gather)]), samples: gather_samples, ..indexed("gather", 2, Lowering::Pick(Indexing::Rows)) };
    /// The first argument with rows along an axis replaced by the second, at the indices that the third holds; of several the last stays.
    SCATTER_SET = scatter("scatter_set", Write::Set, |_, args, attrs, ty| each_element!(ty.dtype, T => combine(args, attrs, ty, |_: T, u| u)), Rule::Linear(&[Some(transpose_set_base), Some(transpose_set_update)]));
    /// The first argument with the second added to rows along an axis, at the indices that the third holds, in ascending order.
    SCATTER_ADD = scatter("scatter_add", Write::Add, |_, args, attrs, ty| each_number!(ty.dtype, T => combine(args, attrs, ty, T::plus)), Rule::Linear(&[Some(|_, _, _, ct| Contribution::Dense(ct)), Some(transpose_add_update)]));
    /// The larger of the first argument and the rows of the second at the indices that the third holds; a NaN stays. What is equal shares the derivative.
    SCATTER_MAX = OpDef { domain: APART, ..scatter("scatter_max", Write::Max, |_, args, attrs, ty| each_number!(ty.dtype, T => combine(args, attrs, ty, T::greatest)), tangent(extreme_tangent)) };
    /// The smaller of the first argument and the rows of the second at the indices that the third holds; a NaN stays. What is equal shares the derivative.
    SCATTER_MIN = OpDef { domain: APART, ..scatter("scatter_min", Write::Min, |_, args, attrs, ty| each_number!(ty.dtype, T => combine(args, attrs, ty, T::least)), tangent(extreme_tangent)) };
    /// The first argument with rows along an axis multiplied by the second, at the indices that the third holds, in ascending order.
    /// The derivative is exact at zeros too; it takes an array of every update against every row.
    SCATTER_MUL = scatter("scatter_mul", Write::Mul, |_, args, attrs, ty| each_number!(ty.dtype, T => combine(args, attrs, ty, T::times)), tangent(mul_tangent));
    /// Elements of the first argument along an axis; the second holds an index for every element of the result.
    TAKE_ALONG_AXIS = OpDef { infer: infer_take, eval: eval_take, rule: Rule::Linear(&[Some(transpose_take)]), samples: take_samples, ..indexed("take_along_axis", 2, Lowering::Pick(Indexing::Elements)) };
    /// The first argument with the elements of the second added along an axis, at the indices that the third holds, in ascending order.
    ADD_ALONG_AXIS = OpDef { infer: infer_add_along, eval: eval_add_along, rule: Rule::Linear(&[Some(|_, _, _, ct| Contribution::Dense(ct)), Some(transpose_add_along)]), samples: add_along_samples, ..indexed("add_along_axis", 3, Lowering::Scatter(Indexing::Elements, Write::Add)) };
}

const fn indexed(name: &'static str, arity: usize, lowering: Lowering) -> OpDef {
    OpDef { arity: Some(arity), attrs: &["axis"], lowering, cost: 2, ..view(name, View::Reshape, &[]) }
}

/// Reference evaluation of a row.
type Eval = fn(&OpDef, &[&Array], &Attrs, &Type) -> Result<Array, ErrorKind>;

const fn scatter(name: &'static str, how: Write, eval: Eval, rule: Rule) -> OpDef {
    OpDef {
        infer: infer_scatter,
        eval,
        rule,
        samples: scatter_samples,
        ..indexed(name, 3, Lowering::Scatter(Indexing::Rows, how))
    }
}

fn check_index(def: &OpDef, ty: &Type) -> Result<(), Error> {
    if ty.dtype == DType::I64 {
        return Ok(());
    }
    Err(Error::new(ErrorKind::DType, Pos::unknown(), format!("`{}` takes indices of i64, found {ty}", def.name)))
}

/// (a…, i…, b…) for x of shape (a…, n, b…) and indices of shape (i…).
fn picked(x: &[usize], index: &[usize], axis: usize) -> Vec<usize> {
    [&x[..axis], index, &x[axis + 1..]].concat()
}

fn infer_gather(def: &OpDef, types: &[Type], attrs: &Attrs) -> Result<Type, Error> {
    let axis = check_axis(def, &types[0], attrs)?;
    check_index(def, &types[1])?;
    Ok(Type::new(types[0].dtype, picked(&types[0].shape, &types[1].shape, axis)))
}

fn infer_scatter(def: &OpDef, types: &[Type], attrs: &Attrs) -> Result<Type, Error> {
    let axis = check_axis(def, &types[0], attrs)?;
    check_index(def, &types[2])?;
    let expected = Type::new(types[0].dtype, picked(&types[0].shape, &types[2].shape, axis));
    if types[1] != expected {
        return shape_error(format!(
            "`{}` into {} along axis {axis} at {} needs {expected}, found {}",
            def.name, types[0], types[2], types[1]
        ));
    }
    if types[0].dtype == DType::Bool && *def != SCATTER_SET {
        return Err(Error::new(
            ErrorKind::DType,
            Pos::unknown(),
            format!("`{}` takes numbers, found {}", def.name, types[0]),
        ));
    }
    Ok(types[0].clone())
}

/// Indices as given, or the fault of one that is out of bounds.
fn bounded(index: &Array, extent: usize) -> Result<Vec<usize>, ErrorKind> {
    let check = |k: &i64| usize::try_from(*k).ok().filter(|k| *k < extent).ok_or(ErrorKind::Bounds);
    index.as_i64().iter().map(check).collect()
}

/// Where in x each element of (a…, i…, b…) is, flat.
fn places(x: &Type, index: &Array, axis: usize) -> Result<Vec<usize>, ErrorKind> {
    let index = bounded(index, x.shape[axis])?;
    let (outer, inner): (usize, usize) = (x.shape[..axis].iter().product(), x.shape[axis + 1..].iter().product());
    let (extent, index) = (x.shape[axis], &index);
    Ok((0..outer)
        .flat_map(|a| index.iter().flat_map(move |k| (0..inner).map(move |b| (a * extent + k) * inner + b)))
        .collect())
}

fn eval_gather(_: &OpDef, args: &[&Array], attrs: &Attrs, ty: &Type) -> Result<Array, ErrorKind> {
    Ok(pick(args[0], &ty.shape, places(&args[0].ty(), args[1], axis_of(attrs))?.into_iter()))
}

/// The first argument with rows of the second combined with those at the indices of the third, one by one.
fn combine<T: Element>(args: &[&Array], attrs: &Attrs, ty: &Type, how: fn(T, T) -> T) -> Result<Array, ErrorKind> {
    Ok(write(args, &places(ty, args[2], axis_of(attrs))?, how))
}

/// The first argument with the elements of the second combined with those at these places, one by one.
pub(super) fn write<T: Element>(args: &[&Array], places: &[usize], how: fn(T, T) -> T) -> Array {
    let mut result = args[0].clone();
    let x = T::of_mut(&mut result);
    places.iter().zip(T::of(args[1])).for_each(|(k, u)| x[*k] = how(x[*k], *u));
    result
}

fn along(axis: usize) -> Attrs {
    Attrs::none().ints("axis", [axis])
}

fn transpose_gather(_: &Builder, attrs: &Attrs, args: &[Value], ct: Value) -> Contribution {
    Contribution::At { def: &SCATTER_ADD, update: ct, indices: vec![args[1]], attrs: attrs.clone() }
}

fn transpose_add_update(b: &Builder, attrs: &Attrs, args: &[Value], ct: Value) -> Contribution {
    Contribution::Dense(b.op(&GATHER, attrs.clone(), &[ct, args[2]]))
}

fn transpose_set_base(b: &Builder, attrs: &Attrs, args: &[Value], ct: Value) -> Contribution {
    let zeros = b.zeros(&b.ty(args[1]));
    Contribution::Dense(b.op(&SCATTER_SET, attrs.clone(), &[ct, zeros, args[2]]))
}

/// The cotangent of what stays; what is overwritten later has none.
fn transpose_set_update(b: &Builder, attrs: &Attrs, args: &[Value], ct: Value) -> Contribution {
    let (axis, index, extent) = (axis_of(attrs), b.ty(args[2]), b.ty(args[0]).shape[axis_of(attrs)]);
    let picked = b.op(&GATHER, attrs.clone(), &[ct, args[2]]);
    let (ty, count) = (b.ty(picked), index.elements());
    let stays = match count {
        0 | 1 => return Contribution::Dense(picked),
        // Few updates of a long axis are compared with each other: nothing as long as the axis is made.
        _ if count * count <= extent => stays_among(b, args[2]),
        _ => stays_along(b, args[2], extent),
    };
    let stays = b.broadcast(stays, &ty.shape, &(axis..axis + index.rank()).collect::<Vec<_>>());
    Contribution::Dense(b.op(&SELECT, Attrs::none(), &[stays, picked, b.zeros(&ty)]))
}

fn numbers(b: &Builder, shape: &[usize], axis: usize) -> Value {
    b.op(&IOTA, Attrs::none().with("type", Attr::Type(Type::new(DType::I64, shape))).ints("axis", [axis]), &[])
}

/// Whether no later index is the same.
fn stays_among(b: &Builder, index: Value) -> Value {
    let ty = b.ty(index);
    let (count, pairs) = (ty.elements(), [ty.elements(); 2]);
    let flat = b.op(&RESHAPE, Attrs::none().ints("shape", [count]), &[index]);
    let same = b.op(&EQ, Attrs::none(), &[b.broadcast(flat, &pairs, &[0]), b.broadcast(flat, &pairs, &[1])]);
    let later = b.op(&LT, Attrs::none(), &[numbers(b, &pairs, 0), numbers(b, &pairs, 1)]);
    let again = b.op(&super::ANY, Attrs::none().ints("axes", [1]), &[b.op(&AND, Attrs::none(), &[same, later])]);
    b.op(&RESHAPE, Attrs::none().ints("shape", ty.shape), &[b.op(&NOT, Attrs::none(), &[again])])
}

/// The same by an array that holds the last update of every place of the axis.
fn stays_along(b: &Builder, index: Value, extent: usize) -> Value {
    let ty = b.ty(index);
    let numbers = b.op(&RESHAPE, Attrs::none().ints("shape", ty.shape.clone()), &[numbers(b, &[ty.elements()], 0)]);
    let none = b.full(&Type::new(DType::I64, [extent]), -1.0);
    let last = b.op(&SCATTER_SET, along(0), &[none, numbers, index]);
    b.op(&EQ, Attrs::none(), &[b.op(&GATHER, along(0), &[last, index]), numbers])
}

/// dy = Σ dx / n over the n elements, of base and update, that equal y.
fn extreme_tangent(b: &Builder, attrs: &Attrs, args: &[Value], y: Value, tangents: &[Option<Value>]) -> Value {
    let (base, update) = (equal(b, args[0], y), equal(b, args[1], b.op(&GATHER, attrs.clone(), &[y, args[2]])));
    let count = b.op(&SCATTER_ADD, attrs.clone(), &[base, update, args[2]]);
    let share = |is: Value, count: Value, dx: Value| b.mul(b.op(&DIV, Attrs::none(), &[is, count]), dx);
    let from_base = tangents[0].map(|dx| share(base, count, dx));
    let from_update = tangents[1].map(|dx| {
        let term = share(update, b.op(&GATHER, attrs.clone(), &[count, args[2]]), dx);
        b.op(&SCATTER_ADD, attrs.clone(), &[b.zeros(&b.ty(y)), term, args[2]])
    });
    total(b, [from_base, from_update])
}

/// y = base · Π_j u_j over the updates j of a row. With U = u_j where update j goes to the row, else 1: y = base · prod
/// U.
fn mul_tangent(b: &Builder, attrs: &Attrs, args: &[Value], _: Value, tangents: &[Option<Value>]) -> Value {
    let (axis, base, count) = (axis_of(attrs), b.ty(args[0]), b.ty(args[2]).elements());
    let (outer, inner): (usize, usize) = (base.shape[..axis].iter().product(), base.shape[axis + 1..].iter().product());
    let reshape = |x: Value, shape: &[usize]| b.op(&RESHAPE, Attrs::none().ints("shape", shape.iter().copied()), &[x]);
    // The axes around the rows are one each, (a, n, b), so that U, (a, n, b, j), has room for its own whatever the
    // rank.
    let (rows, pairs) = ([outer, base.shape[axis], inner], [outer, base.shape[axis], inner, count]);
    let index = b.broadcast(reshape(args[2], &[count]), &pairs, &[3]);
    let here = b.op(&EQ, Attrs::none(), &[index, numbers(b, &pairs, 1)]);
    let spread = |update: Value, otherwise: f64| {
        // (a, j, b) to (a, b, j), then repeated along the rows.
        let update =
            b.op(&super::TRANSPOSE, Attrs::none().ints("axes", [0, 2, 1]), &[reshape(update, &[outer, count, inner])]);
        let update = b.broadcast(update, &pairs, &[0, 2, 3]);
        b.op(&SELECT, Attrs::none(), &[here, update, b.full(&Type::new(base.dtype, pairs), otherwise)])
    };
    let factors = spread(args[1], 1.0);
    let product = |factors| b.op(&super::PROD, Attrs::none().ints("axes", [3]), &[factors]);
    let from_base = tangents[0].map(|dx| b.mul(product(factors), reshape(dx, &rows)));
    let from_update =
        tangents[1].map(|dx| b.mul(reshape(args[0], &rows), prod_tangent(b, &[3], factors, spread(dx, 0.0))));
    reshape(total(b, [from_base, from_update]), &base.shape)
}

fn infer_take(def: &OpDef, types: &[Type], attrs: &Attrs) -> Result<Type, Error> {
    let axis = check_axis(def, &types[0], attrs)?;
    check_index(def, &types[1])?;
    let (x, index) = (&types[0], &types[1]);
    if index.rank() != x.rank() || (0..x.rank()).any(|k| k != axis && x.shape[k] != index.shape[k]) {
        return shape_error(format!("`{}` along axis {axis} of {x} does not fit indices of {index}", def.name));
    }
    Ok(Type::new(x.dtype, index.shape.clone()))
}

fn infer_add_along(def: &OpDef, types: &[Type], attrs: &Attrs) -> Result<Type, Error> {
    let expected = infer_take(def, &[types[0].clone(), types[2].clone()], attrs)?;
    if types[1] != expected || types[0].dtype == DType::Bool {
        return shape_error(format!("`{}` cannot add {} to {} at {}", def.name, types[1], types[0], types[2]));
    }
    Ok(types[0].clone())
}

/// Where in x the element of each index is, flat.
fn places_along(x: &Type, index: &Array, axis: usize) -> Result<Vec<usize>, ErrorKind> {
    let (strides, chosen) = (x.strides(), bounded(index, x.shape[axis])?);
    let place =
        |(at, k): (Vec<usize>, usize)| (0..at.len()).map(|d| strides[d] * if d == axis { k } else { at[d] }).sum();
    Ok(indices(index.shape()).zip(chosen).map(place).collect())
}

fn eval_take(_: &OpDef, args: &[&Array], attrs: &Attrs, ty: &Type) -> Result<Array, ErrorKind> {
    Ok(pick(args[0], &ty.shape, places_along(&args[0].ty(), args[1], axis_of(attrs))?.into_iter()))
}

fn eval_add_along(_: &OpDef, args: &[&Array], attrs: &Attrs, ty: &Type) -> Result<Array, ErrorKind> {
    let places = places_along(ty, args[2], axis_of(attrs))?;
    Ok(each_number!(ty.dtype, T => write(args, &places, T::plus)))
}

fn transpose_take(_: &Builder, attrs: &Attrs, args: &[Value], ct: Value) -> Contribution {
    Contribution::At { def: &ADD_ALONG_AXIS, update: ct, indices: vec![args[1]], attrs: attrs.clone() }
}

fn transpose_add_along(b: &Builder, attrs: &Attrs, args: &[Value], ct: Value) -> Contribution {
    Contribution::Dense(b.op(&TAKE_ALONG_AXIS, attrs.clone(), &[ct, args[2]]))
}

/// Indices of a shape into an axis of this extent.
fn index(shape: &[usize], extent: usize) -> (Type, (f64, f64)) {
    (Type::new(DType::I64, shape), (0.0, extent as f64))
}

/// Shapes of x and of the indices, and the axis.
const PICKS: &[(&[usize], &[usize], usize)] = &[
    (&[5], &[7], 0),
    (&[3, 4], &[2], 1),
    (&[9], &[3], 0),
    (&[3, 2], &[2, 2], 0),
    (&[2, 3, 2], &[], 1),
    (&[1, 2], &[3], 0),
    (&[3], &[0], 0),
    (&[1, 1, 1, 2, 1, 1, 1, 2], &[3], 3),
];

fn gather_samples(def: &OpDef) -> Vec<Sample> {
    let sample = |(x, i, axis): &(&[usize], &[usize], usize)| Sample {
        args: vec![(Type::f64(*x), def.domain[0]), index(i, x[*axis])],
        attrs: along(*axis),
    };
    PICKS.iter().map(sample).collect()
}

fn scatter_samples(def: &OpDef) -> Vec<Sample> {
    let sample = |(x, i, axis): &(&[usize], &[usize], usize)| Sample {
        args: vec![(Type::f64(*x), def.domain[0]), (Type::f64(picked(x, i, *axis)), def.domain[0]), index(i, x[*axis])],
        attrs: along(*axis),
    };
    PICKS.iter().map(sample).collect()
}

/// Shapes of x and of the indices, and the axis.
const TAKES: &[(&[usize], &[usize], usize)] =
    &[(&[5], &[7], 0), (&[3, 4], &[3, 2], 1), (&[3, 4], &[1, 4], 0), (&[2, 3, 2], &[2, 4, 2], 1), (&[3], &[0], 0)];

fn take_samples(def: &OpDef) -> Vec<Sample> {
    let sample = |(x, i, axis): &(&[usize], &[usize], usize)| Sample {
        args: vec![(Type::f64(*x), def.domain[0]), index(i, x[*axis])],
        attrs: along(*axis),
    };
    TAKES.iter().map(sample).collect()
}

fn add_along_samples(def: &OpDef) -> Vec<Sample> {
    let sample = |(x, i, axis): &(&[usize], &[usize], usize)| Sample {
        args: vec![(Type::f64(*x), def.domain[0]), (Type::f64(*i), def.domain[0]), index(i, x[*axis])],
        attrs: along(*axis),
    };
    TAKES.iter().map(sample).collect()
}
