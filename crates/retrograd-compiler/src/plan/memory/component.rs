//! Small trailing axes as components: a nest loops over the axes before them, and every component of an element is a
//! register of its own.
//!
//! So the vector loop runs along a long axis, and reductions over the small ones, broadcasts into them and slices of
//! them stay in the nest. A row of such a nest has the type of its domain with its components' axes behind.

use super::tree::{Access, Placed, Val};
use crate::ir::{DType, Type};

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
