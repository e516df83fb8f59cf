//! Places in an array: ranges and indices, known or computed.

use std::ops::{Range, RangeFrom, RangeFull, RangeInclusive, RangeTo, RangeToInclusive};

use crate::numpy::{Along, Start};
use crate::var::Var;

/// What is read or written along one axis.
#[derive(Clone, Copy, Debug)]
pub enum Axis<'t> {
    /// One element.
    Index(usize),
    /// One element, at an i64 scalar of the trace.
    Var(Var<'t>),
    /// From `start` to `stop` (excluded; `None` is the end) by `step`.
    Range {
        /// The first element.
        start: usize,
        /// Behind the last element.
        stop: Option<usize>,
        /// Distance of neighbours.
        step: usize,
    },
    /// `size` elements from an i64 scalar of the trace: [`Var::window`].
    Window {
        /// The first element.
        start: Var<'t>,
        /// How many.
        size: usize,
    },
}

impl Axis<'_> {
    /// The same for an axis of a known extent.
    pub(crate) fn along(self, extent: usize) -> Along {
        match self {
            Axis::Index(k) => Along::Index(Start::At(k)),
            Axis::Var(v) => Along::Index(Start::Value(v.traced())),
            Axis::Range { start, stop, step } => {
                let size = stop.unwrap_or(extent).saturating_sub(start).div_ceil(step.max(1));
                Along::Window { start: Start::At(start), size, step }
            }
            Axis::Window { start, size } => Along::Window { start: Start::Value(start.traced()), size, step: 1 },
        }
    }
}

/// What can be given as a place: an index, a range, or a tuple or array of them, one per axis.
pub trait Place<'t> {
    /// One entry per axis.
    fn axes(self) -> Vec<Axis<'t>>;
}

/// Each is an axis, and alone a place.
macro_rules! axes {
    ($($ty:ty: $from:expr;)*) => {$(
        impl<'t> From<$ty> for Axis<'t> {
            fn from(place: $ty) -> Axis<'t> {
                let from: fn($ty) -> Axis<'t> = $from;
                from(place)
            }
        }
        impl<'t> Place<'t> for $ty {
            fn axes(self) -> Vec<Axis<'t>> {
                vec![self.into()]
            }
        }
    )*};
}

axes! {
    usize: Axis::Index;
    Var<'t>: Axis::Var;
    Range<usize>: |r| range(r.start, Some(r.end));
    RangeInclusive<usize>: |r| range(*r.start(), Some(*r.end() + 1));
    RangeFrom<usize>: |r| range(r.start, None);
    RangeTo<usize>: |r| range(0, Some(r.end));
    RangeToInclusive<usize>: |r| range(0, Some(r.end + 1));
    RangeFull: |_| range(0, None);
}

fn range<'t>(start: usize, stop: Option<usize>) -> Axis<'t> {
    Axis::Range { start, stop, step: 1 }
}

impl<'t> Place<'t> for Axis<'t> {
    fn axes(self) -> Vec<Axis<'t>> {
        vec![self]
    }
}

impl<'t> Place<'t> for Vec<Axis<'t>> {
    fn axes(self) -> Vec<Axis<'t>> {
        self
    }
}

impl<'t, T: Into<Axis<'t>>, const N: usize> Place<'t> for [T; N] {
    fn axes(self) -> Vec<Axis<'t>> {
        self.into_iter().map(Into::into).collect()
    }
}

macro_rules! tuples {
    ($($($name:ident)+;)*) => {$(
        impl<'t, $($name: Into<Axis<'t>>),+> Place<'t> for ($($name,)+) {
            #[allow(non_snake_case, reason = "the type parameters name the fields")]
            fn axes(self) -> Vec<Axis<'t>> {
                let ($($name,)+) = self;
                vec![$($name.into()),+]
            }
        }
    )*};
}

tuples! {
    A;
    A B;
    A B C;
    A B C D;
}
