//! Places in an array: ranges and indices, known or computed.

use std::ops::{Bound, Range, RangeBounds, RangeFrom, RangeFull, RangeInclusive, RangeTo, RangeToInclusive};

use crate::numpy::{Along, Start};
use crate::var::Var;

/// What is read or written along one axis.
#[derive(Clone, Copy, Debug)]
pub enum Axis<'t> {
    /// One element.
    Index(usize),
    /// One element, at an i64 scalar of the trace.
    Var(Var<'t>),
    /// From `start` to `stop` (excluded; `None` is the end) by `step`; from the last of them on where it is negative:
    /// [`stepped`].
    Range {
        /// The first element.
        start: usize,
        /// Behind the last element.
        stop: Option<usize>,
        /// From one to the next.
        step: isize,
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
                let elements = stop.unwrap_or(extent).saturating_sub(start);
                let first = if step < 0 { start + elements.saturating_sub(1) } else { start };
                Along::Window { start: Start::At(first), size: elements.div_ceil(step.unsigned_abs().max(1)), step }
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

/// The elements of a range that are `step` apart, as `range.step_by(step)`; where the step is negative, from the last
/// one on, as `range.rev().step_by(-step)`.
///
/// ```
/// use retrograd::{Array, jit, stepped};
/// let x = Array::f64([5], vec![0.0, 1.0, 2.0, 3.0, 4.0]);
/// assert_eq!(jit(|[x]| x.slice(stepped(.., 2))).run(&[&x])?, [Array::f64([3], vec![0.0, 2.0, 4.0])]);
/// assert_eq!(jit(|[x]| x.slice(stepped(..4, -2))).run(&[&x])?, [Array::f64([2], vec![3.0, 1.0])]);
/// let f = jit(|[x]| x.set(stepped(1..4, -1), 10.0 * x.slice(1..4)));
/// assert_eq!(f.run(&[&x])?, [Array::f64([5], vec![0.0, 30.0, 20.0, 10.0, 4.0])]);
/// # Ok::<(), retrograd::Error>(())
/// ```
pub fn stepped<'t>(range: impl RangeBounds<usize>, step: isize) -> Axis<'t> {
    let start = match range.start_bound() {
        Bound::Included(start) => *start,
        Bound::Excluded(before) => before + 1,
        Bound::Unbounded => 0,
    };
    let stop = match range.end_bound() {
        Bound::Included(last) => Some(last + 1),
        Bound::Excluded(stop) => Some(*stop),
        Bound::Unbounded => None,
    };
    Axis::Range { start, stop, step }
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
