//! Methods of NumPy that are composed from others.

use retrograd_compiler::ir::{Array, DType, Error, ErrorKind, Type};
use retrograd_compiler::ops;

use crate::control::{Count, State, emitting};
use crate::var::{Var, here};

impl<'t> Var<'t> {
    /// The square.
    ///
    /// ```
    /// # use retrograd::{Array, jit};
    /// assert_eq!(jit(|[x]| x.square()).run(&[Array::scalar(3.0)])?, [Array::scalar(9.0)]);
    /// # Ok::<(), retrograd::Error>(())
    /// ```
    #[track_caller]
    pub fn square(self) -> Var<'t> {
        self * self
    }

    /// The mean of all elements.
    ///
    /// ```
    /// # use retrograd::{Array, jit};
    /// assert_eq!(jit(|[x]| x.mean()).run(&[Array::f64([4], vec![1.0, 2.0, 3.0, 6.0])])?, [Array::scalar(3.0)]);
    /// # Ok::<(), retrograd::Error>(())
    /// ```
    #[track_caller]
    pub fn mean(self) -> Var<'t> {
        self.sum() / self.ty().elements() as f64
    }

    /// The mean over some axes.
    ///
    /// ```
    /// # use retrograd::{Array, jit};
    /// let f = jit(|[x]| x.mean_axes(&[1]));
    /// assert_eq!(f.run(&[Array::f64([2, 2], vec![1.0, 2.0, 3.0, 5.0])])?, [Array::f64([2], vec![1.5, 4.0])]);
    /// # Ok::<(), retrograd::Error>(())
    /// ```
    #[track_caller]
    pub fn mean_axes(self, axes: &[usize]) -> Var<'t> {
        let shape = self.shape();
        let count: usize = axes.iter().filter_map(|axis| shape.get(*axis)).product();
        self.sum_axes(axes) / count as f64
    }

    /// The variance of all elements: the mean square of their distances from the mean.
    ///
    /// ```
    /// # use retrograd::{Array, jit};
    /// assert_eq!(jit(|[x]| x.var()).run(&[Array::f64([4], vec![1.0, 2.0, 3.0, 6.0])])?, [Array::scalar(3.5)]);
    /// # Ok::<(), retrograd::Error>(())
    /// ```
    #[track_caller]
    pub fn var(self) -> Var<'t> {
        (self - self.mean()).square().mean()
    }

    /// The square root of the sum of the squares of all elements. It has no derivative at 0: there the derivative is
    /// NaN.
    ///
    /// ```
    /// # use retrograd::{Array, jit};
    /// assert_eq!(jit(|[x]| x.norm()).run(&[Array::f64([2], vec![3.0, 4.0])])?, [Array::scalar(5.0)]);
    /// # Ok::<(), retrograd::Error>(())
    /// ```
    #[track_caller]
    pub fn norm(self) -> Var<'t> {
        let square = self.square().sum();
        // Of no elements it is a constant.
        if self.ty().elements() == 0 { square } else { square.sqrt() }
    }

    /// The matrix product as `numpy.matmul`: matrices in the last two axes, the axes before them broadcast; a vector is
    /// a row on the left and a column on the right.
    ///
    /// ```
    /// # use retrograd::{Array, jit};
    /// let f = jit(|[a, x]| a.matmul(x));
    /// let a = Array::f64([2, 1, 2], vec![1.0, 2.0, 3.0, 4.0]);
    /// assert_eq!(f.run(&[a, Array::f64([2], vec![1.0, 10.0])])?, [Array::f64([2, 1], vec![21.0, 43.0])]);
    /// # Ok::<(), retrograd::Error>(())
    /// ```
    #[track_caller]
    pub fn matmul(self, other: Var<'t>) -> Var<'t> {
        let pos = here();
        self.then(|tracer| tracer.matmul(self.traced(), other.traced(), &pos))
    }

    /// All products of an element of this value with one of the other, both read as vectors: a matrix.
    ///
    /// ```
    /// # use retrograd::{Array, jit};
    /// let f = jit(|[x, y]| x.outer(y));
    /// let (x, y) = (Array::f64([2], vec![1.0, 2.0]), Array::f64([2], vec![3.0, 4.0]));
    /// assert_eq!(f.run(&[x, y])?, [Array::f64([2, 2], vec![3.0, 4.0, 6.0, 8.0])]);
    /// # Ok::<(), retrograd::Error>(())
    /// ```
    #[track_caller]
    pub fn outer(self, other: Var<'t>) -> Var<'t> {
        self.reshape([self.ty().elements(), 1]) * other.reshape([1, other.ty().elements()])
    }

    /// This value and others one behind the other along an axis.
    ///
    /// ```
    /// # use retrograd::{Array, jit};
    /// let f = jit(|[x, y]| x.concat(&[y, x], 0));
    /// let outputs = f.run(&[Array::f64([1], vec![1.0]), Array::f64([2], vec![2.0, 3.0])])?;
    /// assert_eq!(outputs, [Array::f64([4], vec![1.0, 2.0, 3.0, 1.0])]);
    /// # Ok::<(), retrograd::Error>(())
    /// ```
    #[track_caller]
    pub fn concat(self, others: &[Var<'t>], axis: usize) -> Var<'t> {
        let pos = here();
        let parts: Vec<_> = [self].iter().chain(others).map(|v| v.traced()).collect();
        self.then(|tracer| tracer.concat(&parts, axis, &pos))
    }

    /// This value and others, all of one shape, as the elements of a new axis.
    ///
    /// ```
    /// # use retrograd::{Array, jit};
    /// let f = jit(|[x, y]| x.stack(&[y], 1));
    /// let outputs = f.run(&[Array::f64([2], vec![1.0, 2.0]), Array::f64([2], vec![3.0, 4.0])])?;
    /// assert_eq!(outputs, [Array::f64([2, 2], vec![1.0, 3.0, 2.0, 4.0])]);
    /// # Ok::<(), retrograd::Error>(())
    /// ```
    #[track_caller]
    pub fn stack(self, others: &[Var<'t>], axis: usize) -> Var<'t> {
        let pos = here();
        let (ty, parts) = (self.ty(), [&[self], others].concat());
        self.then(|tracer| {
            if axis > ty.rank() || parts.iter().any(|v| v.shape() != ty.shape) {
                let found: Vec<String> = parts.iter().map(|v| v.ty().to_string()).collect();
                let message =
                    format!("`stack` along axis {axis} takes arrays of one shape, found {}", found.join(", "));
                return Err(Error::new(ErrorKind::Shape, pos.clone(), message));
            }
            let mut shape = ty.shape.clone();
            shape.insert(axis, 1);
            let parts: Vec<_> =
                parts.iter().map(|v| tracer.reshape(v.traced(), &shape, &pos)).collect::<Result<_, _>>()?;
            tracer.concat(&parts, axis, &pos)
        })
    }

    /// An array of zeros, as [`full`](Var::full).
    ///
    /// ```
    /// # use retrograd::{Array, jit};
    /// assert_eq!(jit(|[x]| x.zeros([2]) + x).run(&[Array::scalar(3.0)])?, [Array::f64([2], vec![3.0, 3.0])]);
    /// # Ok::<(), retrograd::Error>(())
    /// ```
    #[track_caller]
    pub fn zeros(self, shape: impl Into<Vec<usize>>) -> Var<'t> {
        self.full(shape, 0.0)
    }

    /// An array of ones, as [`full`](Var::full).
    ///
    /// ```
    /// # use retrograd::{Array, jit};
    /// assert_eq!(jit(|[x]| x.ones([2]) + x).run(&[Array::scalar(3.0)])?, [Array::f64([2], vec![4.0, 4.0])]);
    /// # Ok::<(), retrograd::Error>(())
    /// ```
    #[track_caller]
    pub fn ones(self, shape: impl Into<Vec<usize>>) -> Var<'t> {
        self.full(shape, 1.0)
    }

    /// The identity matrix of `n` rows, of the type that [`full`](Var::full) has.
    ///
    /// ```
    /// # use retrograd::{Array, jit};
    /// assert_eq!(jit(|[x]| x * x.eye(2)).run(&[Array::scalar(3.0)])?, [Array::f64([2, 2], vec![3.0, 0.0, 0.0, 3.0])]);
    /// # Ok::<(), retrograd::Error>(())
    /// ```
    #[track_caller]
    pub fn eye(self, n: usize) -> Var<'t> {
        let (pos, ty) = (here(), Type::new(DType::I64, [n, n]));
        self.then(|tracer| {
            let places = [tracer.iota(&ty, 0, &pos)?, tracer.iota(&ty, 1, &pos)?];
            tracer.convert(tracer.elementwise(&ops::EQ, &places, &pos)?, self.float_type(), &pos)
        })
    }

    /// `count` numbers from `first` to `last`, both included, of the type that [`full`](Var::full) has.
    ///
    /// ```
    /// # use retrograd::{Array, jit};
    /// assert_eq!(jit(|[x]| x.linspace(0.0, 1.0, 3) * x).run(&[Array::scalar(2.0)])?, [Array::f64([3], vec![0.0, 1.0, 2.0])]);
    /// # Ok::<(), retrograd::Error>(())
    /// ```
    #[track_caller]
    pub fn linspace(self, first: f64, last: f64, count: usize) -> Var<'t> {
        let step = if count > 1 { (last - first) / (count - 1) as f64 } else { 0.0 };
        let number = |k: usize| if k > 0 && k + 1 == count { last } else { first + step * k as f64 };
        self.constant(Array::f64([count], (0..count).map(number).collect())).convert(self.float_type())
    }

    /// The rows `body(i)` for i = 0, 1, … `count` − 1, independent of each other, put together along a new leading
    /// axis, in the trace of this value. The count must be known while tracing.
    ///
    /// ```
    /// # use retrograd::{Array, jit};
    /// let f = jit(|[x]| x.tabulate(3, |i| i * x));
    /// assert_eq!(f.run(&[Array::scalar(2.0)])?, [Array::f64([3], vec![0.0, 2.0, 4.0])]);
    /// # Ok::<(), retrograd::Error>(())
    /// ```
    #[track_caller]
    pub fn tabulate<Y: State<'t>>(self, count: usize, body: impl FnOnce(Var<'t>) -> Y) -> Y {
        let pos = here();
        let count = crate::control::number(count);
        let count = self.then(|tracer| Ok(tracer.constant(Array::int(count), &pos)));
        emitting(Count::Var(count), (), (), |i, (), ()| ((), body(i)), &pos).1
    }
}
