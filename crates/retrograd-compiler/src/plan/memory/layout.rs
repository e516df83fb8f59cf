//! What a nest goes through again and again lies along its lanes, and so does what is summed along them.
//!
//! Of all pairs of points `x[n, 3]` a nest reads every point n times, and sums into every point n times. Along its
//! lanes the points are 3 numbers apart, which no instruction moves as one. So the nest reads a copy with the axis of
//! its lanes last, sums into such an array, and the sum is copied to its place after the nest: the copies are a small
//! part of the nest, because it goes through them so many times.

use std::collections::BTreeMap;

use super::tree::{Access, Nest, NestOutput, Node, Placed, Val};
use crate::ir::Type;

/// How often a nest goes through an array at least, for which it is copied.
const TIMES: usize = 4;

/// Sums that are taken beside each other: as many additions as a processor begins while one lasts. Sixteen registers
/// hold them, and what is added.
const SUMS_AT_ONCE: usize = 6;

/// Gives a nest arrays that lie along its lanes; what runs before it and after it.
pub(super) fn along_lanes(placed: &mut Placed, nest: &mut Nest) -> [Vec<Node>; 2] {
    let [mut before, mut after] = [vec![], vec![]];
    let Some(lanes) = innermost(nest, |_| true) else { return [before, after] };
    rows_of_lanes(placed, nest, lanes);
    if nest.shape[lanes] < placed.grain.vector_steps {
        return [before, after];
    }
    let mut copies: BTreeMap<Val, Val> = BTreeMap::new();
    for value in nest.operands().filter(|v| !nest.computes(*v)).collect::<Vec<_>>() {
        if !copies.contains_key(&value) && is_apart(placed, placed.access(value), &placed.ty(value).shape, nest, lanes)
        {
            let known = copies.iter().find(|(other, _)| alike(placed, **other, value)).map(|(_, copy)| *copy);
            let copy = known.unwrap_or_else(|| copied(placed, value, lanes, &mut before));
            copies.insert(value, copy);
        }
    }
    nest.replace(&copies);
    for root in &mut nest.outputs {
        sum_along(placed, root, lanes, &mut after);
    }
    [before, after]
}

/// The axis of the innermost loop, of those over some axes.
fn innermost(nest: &Nest, among: impl Fn(usize) -> bool) -> Option<usize> {
    let axes = (0..nest.shape.len()).filter(|axis| nest.shape[*axis] != 1 && among(*axis));
    axes.max_by_key(|axis| (!nest.outer.contains(axis), *axis))
}

/// Scratch for sums along the lanes.
fn rows_of_lanes(placed: &mut Placed, nest: &mut Nest, lanes: usize) {
    let (rank, length, rows) = (nest.shape.len(), nest.shape[lanes], rows_at_once(placed, nest, lanes));
    for output in &mut nest.outputs {
        if let NestOutput::Accumulate { source, axes, rows: scratch, .. } = output {
            let ty = Type::new(placed.ty(*source).dtype, [rows, placed.components(*source, rank), length]);
            *scratch = axes.contains(&lanes).then(|| placed.define(ty));
        }
    }
}

/// How many rows of a nest are summed along the lanes beside each other: as many as registers have sums for, where each
/// row has its own.
fn rows_at_once(placed: &Placed, nest: &Nest, lanes: usize) -> usize {
    let along = |output: &NestOutput| match output {
        NestOutput::Accumulate { source, axes, .. } if axes.contains(&lanes) => {
            Some((placed.components(*source, nest.shape.len()), axes.clone()))
        }
        NestOutput::Accumulate { .. }
        | NestOutput::Store { .. }
        | NestOutput::Write { .. }
        | NestOutput::Reduce { .. } => None,
    };
    let sums: Vec<(usize, Vec<usize>)> = nest.outputs.iter().filter_map(along).collect();
    let Some(around) = innermost(nest, |axis| axis != lanes) else { return 1 };
    if sums.iter().any(|(_, axes)| axes.contains(&around)) {
        return 1;
    }
    let of_row: usize = sums.iter().map(|(components, _)| components).sum();
    (SUMS_AT_ONCE / of_row.max(1)).min(nest.shape[around]).max(1)
}

/// Whether neighbours along the lanes are apart in what a nest goes through several times.
fn is_apart(placed: &Placed, access: &Access, shape: &[usize], nest: &Nest, lanes: usize) -> bool {
    let again = (0..nest.shape.len()).filter(|axis| access.strides[*axis] == 0);
    let times: usize = again.map(|axis| shape[axis]).product();
    access.dynamic.is_empty()
        && !placed.is_scalar(access.root)
        && !matches!(access.strides[lanes], 0 | 1)
        && times >= TIMES
}

fn alike(placed: &Placed, a: Val, b: Val) -> bool {
    placed.access(a) == placed.access(b) && placed.ty(a) == placed.ty(b)
}

/// Axes along which a view moves, that of the lanes last, and the type of an array of them.
fn ordered(access: &Access, ty: &Type, lanes: usize) -> (Vec<usize>, Type) {
    let moves = (0..ty.rank()).filter(|axis| *axis != lanes && access.strides[*axis] != 0);
    let axes: Vec<usize> = moves.chain([lanes]).collect();
    let shape: Vec<usize> = axes.iter().map(|axis| ty.shape[*axis]).collect();
    (axes, Type::new(ty.dtype, shape))
}

/// An array of ordered axes, seen as a view of so many.
fn seen(placed: &Placed, root: Val, axes: &[usize], rank: usize) -> Access {
    let mut strides = vec![0; rank];
    for (axis, stride) in axes.iter().zip(&placed.access(root).strides) {
        strides[*axis] = *stride;
    }
    Access { root, strides, offset: 0, dynamic: vec![] }
}

/// A copy of what a view reaches, seen as that view.
fn copied(placed: &mut Placed, value: Val, lanes: usize, before: &mut Vec<Node>) -> Val {
    let (access, ty) = (placed.access(value).clone(), placed.ty(value).clone());
    let (axes, packed) = ordered(&access, &ty, lanes);
    let (shape, strides) = (packed.shape.clone(), axes.iter().map(|axis| access.strides[*axis]).collect());
    let source = placed.view(packed.clone(), Access { strides, ..access });
    let copy = placed.define(packed);
    before.push(stored(shape, copy, source));
    placed.view(ty.clone(), seen(placed, copy, &axes, ty.rank()))
}

/// Takes a sum whose places are apart along the lanes in an array of its own.
fn sum_along(placed: &mut Placed, output: &mut NestOutput, lanes: usize, after: &mut Vec<Node>) {
    let NestOutput::Accumulate { value, source, window, axes, .. } = output else { return };
    if matches!(window.strides[lanes], 0 | 1) {
        return;
    }
    let (order, packed) = ordered(window, placed.ty(*source), lanes);
    let (rank, ty) = (placed.ty(*source).rank(), placed.ty(*value).clone());
    let sum = placed.define(packed);
    *window = seen(placed, sum, &order, rank);
    let kept: Vec<usize> = (0..rank).filter(|axis| !axes.contains(axis)).collect();
    let strides = kept.iter().map(|axis| window.strides[*axis]).collect();
    let source = placed.view(ty.clone(), Access { strides, ..window.clone() });
    let long = kept.iter().filter(|axis| **axis <= lanes).count();
    after.push(stored(ty.shape[..long].to_vec(), *value, source));
    *value = sum;
}

fn stored(shape: Vec<usize>, value: Val, source: Val) -> Node {
    Node::Nest(Nest {
        shape,
        rows: vec![],
        views: vec![],
        outer: vec![],
        outputs: vec![NestOutput::Store { value, source }],
    })
}

impl Placed {
    /// A new view.
    fn view(&mut self, ty: Type, access: Access) -> Val {
        let value = self.define(ty);
        self.access[value.0 as usize] = access;
        value
    }
}

impl Nest {
    /// Reads other values in place of some.
    fn replace(&mut self, others: &BTreeMap<Val, Val>) {
        let put = |value: &mut Val| *value = others.get(value).copied().unwrap_or(*value);
        self.rows.iter_mut().flat_map(|item| &mut item.args).for_each(put);
        for output in &mut self.outputs {
            match output {
                NestOutput::Write { source, index, .. } => {
                    put(source);
                    index.iter_mut().for_each(|index| put(&mut index.given));
                }
                NestOutput::Store { source, .. }
                | NestOutput::Accumulate { source, .. }
                | NestOutput::Reduce { source, .. } => put(source),
            }
        }
    }
}
