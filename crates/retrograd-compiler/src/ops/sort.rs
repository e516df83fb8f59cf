//! Stable sorting along an axis, ascending; NaNs come last, in the order they had.

use std::cmp::Ordering;

use super::build::{given, tangent};
use super::fold::APART;
use super::gather::TAKE_ALONG_AXIS;
use super::number::Number;
use super::ops;
use super::scan::{along_samples, infer_along, lines};
use super::shape::{axis_of, pick, view};
use crate::ir::{Array, Attrs, DType, Data, Element, ErrorKind, Lowering, Row, Rule, Type, View, each_number};

ops! {
    /// Elements in ascending order along an axis; NaNs last. The derivative follows the permutation of the stable order.
    SORT = Row { eval: eval_sort, rule: tangent(|b, attrs, args, _, d| b.row(&TAKE_ALONG_AXIS, attrs.clone(), &[given(d), b.row(&ARGSORT, attrs.clone(), &[args[0]])])), ..sorting("sort") };
    /// The indices along an axis that bring elements in ascending order; NaNs last, equal elements in the order they had.
    ARGSORT = Row { infer: |row, types, attrs| infer_along(row, types, attrs).map(|ty| Type::new(DType::I64, ty.shape)), eval: eval_argsort, rule: Rule::Zero, ..sorting("argsort") };
}

const fn sorting(name: &'static str) -> Row {
    Row {
        attrs: &["axis"],
        infer: infer_along,
        lowering: Lowering::Missing,
        cost: 16,
        domain: APART,
        samples: along_samples,
        ..view(name, View::Reshape, &[])
    }
}

/// Flat places of the elements in order, line by line, with the lines themselves.
fn order(x: &Array, axis: usize) -> Vec<(Vec<usize>, Vec<usize>)> {
    lines(x.shape(), axis).into_iter().map(|line| (line.clone(), each_number!(x.dtype(), T => sorted(T::of(x), line)))).collect()
}

/// Places in the order of their elements.
fn sorted<T: Number>(x: &[T], mut places: Vec<usize>) -> Vec<usize> {
    // A NaN is greater than every number and equal to a NaN.
    let compare = |a: T, b: T| -> Ordering { a.partial_cmp(&b).unwrap_or_else(|| a.nan().cmp(&b.nan())) };
    places.sort_by(|a, b| compare(x[*a], x[*b]));
    places
}

fn eval_sort(_: &Row, args: &[&Array], attrs: &Attrs, ty: &Type) -> Result<Array, ErrorKind> {
    let mut sources = vec![0; args[0].len()];
    for (line, order) in order(args[0], axis_of(attrs)) {
        line.iter().zip(order).for_each(|(to, from)| sources[*to] = from);
    }
    Ok(pick(args[0], &ty.shape, sources.into_iter()))
}

fn eval_argsort(_: &Row, args: &[&Array], attrs: &Attrs, ty: &Type) -> Result<Array, ErrorKind> {
    let axis = axis_of(attrs);
    let (extent, inner): (usize, usize) = (ty.shape[axis], ty.shape[axis + 1..].iter().product());
    let mut places = vec![0; args[0].len()];
    for (line, order) in order(args[0], axis) {
        line.iter().zip(order).for_each(|(to, from)| places[*to] = (from / inner % extent) as i64);
    }
    Ok(Array::new(ty.shape.clone(), Data::I64(places)))
}
