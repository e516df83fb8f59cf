//! Methods over whole arrays: reductions, scans, sorting, picking and placing by arrays of indices.

use retrograd_compiler::ir::{Attrs, OpDef};
use retrograd_compiler::ops;

use crate::var::{Operand, Var, here};

/// Methods that are rows of the op table over axes.
macro_rules! methods {
    (all: $($(#[doc = $all_doc:literal])+ $all:ident $over:ident $all_row:ident;)* axis: $($(#[doc = $doc:literal])+ $along:ident $row:ident;)*) => {
        impl<'t> Var<'t> {
            $($(#[doc = $all_doc])+ #[track_caller] pub fn $all(self) -> Var<'t> {
                let axes: Vec<usize> = (0..self.ty().rank()).collect();
                self.over(&ops::$all_row, "axes", &axes)
            }
            $(#[doc = $all_doc])+
            ///
            /// Over these axes alone.
            #[track_caller] pub fn $over(self, axes: &[usize]) -> Var<'t> {
                self.over(&ops::$all_row, "axes", axes)
            })*
            $($(#[doc = $doc])+ #[track_caller] pub fn $along(self, axis: usize) -> Var<'t> {
                self.over(&ops::$row, "axis", &[axis])
            })*
        }
    };
}

methods! {
    all:
        /// The product of all elements.
        prod prod_axes PROD;
        /// The largest element; a NaN is the result.
        max max_axes REDUCE_MAX;
        /// The smallest element; a NaN is the result.
        min min_axes REDUCE_MIN;
        /// Whether an element holds.
        any any_axes ANY;
        /// Whether all elements hold.
        all all_axes ALL;
        /// log Σ exp x, without overflow.
        logsumexp logsumexp_axes LOGSUMEXP;
    axis:
        /// Index of the largest element along an axis, the first of equal ones.
        argmax ARGMAX;
        /// Index of the smallest element along an axis, the first of equal ones.
        argmin ARGMIN;
        /// Sums of the elements so far along an axis.
        cumsum CUMSUM;
        /// Products of the elements so far along an axis.
        cumprod CUMPROD;
        /// Largest of the elements so far along an axis.
        cummax CUMMAX;
        /// Smallest of the elements so far along an axis.
        cummin CUMMIN;
        /// Elements in ascending order along an axis, NaNs last; the derivative follows the permutation.
        sort SORT;
        /// The indices that bring elements in ascending order along an axis.
        argsort ARGSORT;
}

/// Methods that pick or place along an axis at the indices that an i64 array holds.
macro_rules! indexed {
    (pick: $($(#[doc = $pick_doc:literal])+ $pick:ident $pick_row:ident;)* place: $($(#[doc = $doc:literal])+ $place:ident $row:ident;)*) => {
        impl<'t> Var<'t> {
            $($(#[doc = $pick_doc])+ #[track_caller] pub fn $pick(self, indices: Var<'t>, axis: usize) -> Var<'t> {
                self.with(&ops::$pick_row, &[self, indices], axis)
            })*
            $($(#[doc = $doc])+ #[track_caller] pub fn $place(self, indices: Var<'t>, axis: usize, values: Var<'t>) -> Var<'t> {
                self.with(&ops::$row, &[self, values, indices], axis)
            })*
        }
    };
}

indexed! {
    pick:
        /// Rows along an axis at these indices.
        take GATHER;
        /// Elements along an axis; there is an index for every element of the result.
        take_along_axis TAKE_ALONG_AXIS;
    place:
        /// A new array with rows along an axis replaced at these indices; of several the last stays.
        scatter_set SCATTER_SET;
        /// A new array with values added to rows along an axis at these indices.
        scatter_add SCATTER_ADD;
        /// A new array with the larger of its rows along an axis and the values at these indices.
        scatter_max SCATTER_MAX;
        /// A new array with the smaller of its rows along an axis and the values at these indices.
        scatter_min SCATTER_MIN;
        /// A new array with rows along an axis multiplied by the values at these indices.
        scatter_mul SCATTER_MUL;
        /// A new array with values added along an axis; there is an index for every value.
        add_along_axis ADD_ALONG_AXIS;
}

impl<'t> Var<'t> {
    /// With `low` elements before and `high` after along every axis, all of them `value`.
    ///
    /// ```
    /// # use retrograd::{Array, jit};
    /// let f = jit(|[x]| x.pad(&[1], &[2], 0.0));
    /// assert_eq!(f.run(&[Array::f64([2], vec![1.0, 2.0])])?, [Array::f64([5], vec![0.0, 1.0, 2.0, 0.0, 0.0])]);
    /// # Ok::<(), retrograd::Error>(())
    /// ```
    #[track_caller]
    pub fn pad(self, low: &[usize], high: &[usize], value: impl Operand<'t>) -> Var<'t> {
        let pos = here();
        let value = value.operand(self, &pos);
        let attrs = Attrs::none().ints("low", low.iter().copied()).ints("high", high.iter().copied());
        self.then(|tracer| tracer.op(&ops::PAD, attrs, &[self.traced(), value.traced()], &pos))
    }

    /// y_k = a_k y_{k−1} + b_k along an axis, from y_0 = b_0, where this value is a.
    #[track_caller]
    pub fn linear_scan(self, b: Var<'t>, axis: usize) -> Var<'t> {
        self.with(&ops::LINEAR_SCAN, &[self, b], axis)
    }

    #[track_caller]
    fn over(self, def: &'static OpDef, name: &'static str, axes: &[usize]) -> Var<'t> {
        let (pos, attrs) = (here(), Attrs::none().ints(name, axes.iter().copied()));
        self.then(|tracer| tracer.op(def, attrs, &[self.traced()], &pos))
    }

    #[track_caller]
    fn with(self, def: &'static OpDef, args: &[Var<'t>], axis: usize) -> Var<'t> {
        let (pos, args) = (here(), args.iter().map(|v| v.traced()).collect::<Vec<_>>());
        self.then(|tracer| tracer.op(def, Attrs::none().ints("axis", [axis]), &args, &pos))
    }
}
