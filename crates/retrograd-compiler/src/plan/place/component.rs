//! Small trailing axes as components: a nest loops over the axes before them, and every component of an element is a
//! register of its own.
//!
//! So the vector loop runs along a long axis, and reductions over the small ones, broadcasts into them and slices of
//! them stay in the nest. A row of such a nest has the type of its domain with its components' axes behind.

use super::outline::Grain;
use super::tree::{Access, Placed, Val};
use crate::ir::{DType, Type};

/// Most components of an element: back ends have about so many registers.
const MOST_COMPONENTS: usize = 16;

/// Elements from which a vector loop along an axis of components, which lies in one run, is as good as one along the
/// axis before it: lanes along that one would be gathered and scattered.
const VECTOR_COMPONENTS: usize = 8;

/// How many axes of a shape are looped over, where all that are small behind a long one are components; all of them,
/// where none is.
pub(in crate::plan) fn long_axes(shape: &[usize], grain: Grain) -> usize {
    let splits = |rank: &usize| is_small(&shape[*rank..]) && shape[*rank - 1] >= grain.vector_steps;
    (1..shape.len()).find(splits).unwrap_or(shape.len())
}

/// Whether axes can be those of components: few, and none of them long enough for vectors.
pub(super) fn is_small(shape: &[usize]) -> bool {
    (1..=MOST_COMPONENTS).contains(&shape.iter().product()) && shape.iter().all(|extent| *extent < VECTOR_COMPONENTS)
}

/// Whether a loop along components alone is too short for vectors.
pub(super) fn is_short(shape: &[usize]) -> bool {
    shape.iter().product::<usize>() < VECTOR_COMPONENTS
}

impl Access {
    /// How far a component is from the first, in elements, of a view of this shape.
    pub fn component_at(&self, shape: &[usize], rank: usize, component: usize) -> i64 {
        let (mut rest, mut at) = (component, 0);
        for axis in (rank..shape.len()).rev() {
            at += (rest % shape[axis]) as i64 * self.strides[axis];
            rest /= shape[axis];
        }
        at
    }
}

impl Placed {
    /// How many components a value has at each element of a domain of so many axes.
    pub fn components(&self, value: Val, rank: usize) -> usize {
        self.ty(value).shape.get(rank..).map_or(1, |shape| shape.iter().product())
    }

    /// How far a component of a view is from its first, in elements of the root; components are numbered in row-major
    /// order.
    pub fn component_at(&self, value: Val, rank: usize, component: usize) -> i64 {
        self.access(value).component_at(&self.ty(value).shape, rank, component)
    }

    /// Whether a view reads, at each element of a domain, only what its root has there: all of the root lies element by
    /// element.
    pub(super) fn reads_here(&self, value: Val, domain: &[usize]) -> bool {
        let Access { root, strides, offset, dynamic } = self.access(value);
        let (elements, all) = (domain.iter().product::<usize>(), self.ty(*root).elements());
        if elements == 0 || all % elements != 0 || strides.len() < domain.len() || !dynamic.is_empty() {
            return false;
        }
        let each = (all / elements) as i64;
        let apart = Type::new(DType::F64, domain).strides();
        let in_step = strides.iter().zip(&apart).all(|(stride, apart)| *stride == *apart as i64 * each);
        let mut here = (0..self.components(value, domain.len()))
            .map(|component| offset + self.component_at(value, domain.len(), component));
        in_step && here.all(|at| (0..each).contains(&at))
    }
}
