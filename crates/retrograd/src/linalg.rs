//! Linear algebra over the matrices in the last two axes, as in `numpy.linalg`; the axes before them are batches and
//! broadcast.

use std::ops::Range;

use retrograd_compiler::ir::{Array, Attrs, DType, Error, OpDef, Pos, Type};
use retrograd_compiler::ops;

use crate::numpy::{common_shape, last_two};
use crate::trace::{Traced, Tracer};
use crate::var::{Var, here};

/// Which triangle of a matrix a [triangular solve](Var::triangular_solve) uses, and how.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Triangle {
    lower: bool,
    transposed: bool,
    unit: bool,
}

impl Triangle {
    /// The lower triangle with the diagonal.
    pub const LOWER: Triangle = Triangle { lower: true, transposed: false, unit: false };
    /// The upper triangle with the diagonal.
    pub const UPPER: Triangle = Triangle { lower: false, transposed: false, unit: false };

    /// The transpose of this triangle.
    pub const fn transposed(self) -> Triangle {
        Triangle { transposed: !self.transposed, ..self }
    }

    /// This triangle with ones on its diagonal, whatever the matrix has there.
    pub const fn unit(self) -> Triangle {
        Triangle { unit: true, ..self }
    }

    fn attrs(self) -> Attrs {
        let flag = |holds: bool| [usize::from(holds)];
        Attrs::none()
            .ints("lower", flag(self.lower))
            .ints("transpose", flag(self.transposed))
            .ints("unit", flag(self.unit))
    }
}

/// The tag of a check that a matrix has an answer: the name of the error in NumPy, whose words the messages are, too.
pub(crate) const LINALG_ERROR: &str = "LinAlgError";

impl Tracer {
    /// A row of matrices alone; integers become f64. A matrix that has no answer ends the run, as
    /// `check_status` says.
    pub fn of_matrices(&self, def: &'static OpDef, a: Traced, pos: &Pos) -> Result<Traced, Error> {
        let a = self.as_floats(a, pos)?;
        let y = self.op(def, Attrs::none(), &[a], pos)?;
        self.check_status(def, a, y, pos)?;
        Ok(y)
    }

    /// What a row over matrices says of its success is data: no pivot of the factors is zero, or no entry of L is a
    /// NaN. Where it is not so the run ends, as `numpy.linalg` raises an error.
    fn check_status(&self, def: &'static OpDef, a: Traced, y: Traced, pos: &Pos) -> Result<(), Error> {
        let ty = self.ty(y);
        if *def == ops::CHOLESKY && ty.elements() > 0 {
            // All of L is a NaN, or nothing.
            let mut start = vec![0; ty.rank()];
            start[ty.rank() - 2..].copy_from_slice(&last_two(&ty.shape).map(|extent| extent - 1));
            let attrs =
                Attrs::none().ints("start", start).ints("stop", ty.shape.clone()).ints("step", vec![1; ty.rank()]);
            let last = self.op(&ops::SLICE, attrs, &[y], pos)?;
            let is_number = self.op(&ops::EQ, Attrs::none(), &[last, last], pos)?;
            self.check(is_number, "Matrix is not positive definite", LINALG_ERROR, pos)?;
        }
        if *def == ops::SOLVE || *def == ops::INVERSE {
            let sign = self.op(&ops::DET_SIGN, Attrs::none(), &[a], pos)?;
            let zero = self.constant(Array::zeros(&self.ty(sign)), pos);
            let is_regular = self.op(&ops::NE, Attrs::none(), &[sign, zero], pos)?;
            self.check(is_regular, "Singular matrix", LINALG_ERROR, pos)?;
        }
        Ok(())
    }

    /// A row of matrices and right sides, as `numpy.linalg.solve`: a right side of one axis is a vector, batches
    /// broadcast, integers become f64. A matrix that has no answer ends the run, as for
    /// [`of_matrices`](Tracer::of_matrices).
    pub fn of_systems(
        &self,
        def: &'static OpDef,
        attrs: Attrs,
        a: Traced,
        b: Traced,
        pos: &Pos,
    ) -> Result<Traced, Error> {
        let (a, b) = (self.as_floats(a, pos)?, self.as_floats(b, pos)?);
        let (matrix, right) = (self.ty(a), self.ty(b));
        let is_vector = right.rank() == 1;
        let sides = if is_vector { vec![right.shape[0], 1] } else { right.shape.clone() };
        let batch_of = |ty: &Type, shape: &[usize]| Type::new(ty.dtype, &shape[..shape.len().saturating_sub(2)]);
        let batch = common_shape(&[batch_of(&matrix, &matrix.shape), batch_of(&right, &sides)]);
        // What does not fit is for the row to say.
        let (true, Some(batch)) = (matrix.rank() >= 2 && sides.len() >= 2, batch) else {
            return self.op(def, attrs, &[a, b], pos);
        };
        let spread = |v: Traced, shape: &[usize]| {
            let v = self.reshape(v, shape, pos)?;
            self.broadcast_to(v, &[&batch[..], &last_two(shape)].concat(), pos)
        };
        let a = spread(a, &matrix.shape)?;
        let x = self.op(def, attrs, &[a, spread(b, &sides)?], pos)?;
        self.check_status(def, a, x, pos)?;
        let mut shape = self.ty(x).shape;
        if is_vector {
            shape.pop();
        }
        self.reshape(x, &shape, pos)
    }

    /// Q and R of matrices, as `numpy.linalg.qr` has them. Where there are more columns than rows, the first ones make
    /// Q.
    pub fn qr(&self, a: Traced, pos: &Pos) -> Result<(Traced, Traced), Error> {
        let a = self.as_floats(a, pos)?;
        let ty = self.ty(a);
        // What does not fit is for the row to say.
        let [m, n] = if ty.rank() < 2 { [0, 0] } else { last_two(&ty.shape) };
        if m >= n {
            let both = self.op(&ops::QR, Attrs::none(), &[a], pos)?;
            let rows = ty.rank() - 2;
            return Ok((self.range_of(both, rows, 0..m, pos)?, self.range_of(both, rows, m..m + n, pos)?));
        }
        let columns = ty.rank() - 1;
        let (q, left) = self.qr(self.range_of(a, columns, 0..m, pos)?, pos)?;
        let mut axes: Vec<usize> = (0..ty.rank()).collect();
        axes.swap(columns - 1, columns);
        let right = self.matmul(self.transpose(q, &axes, pos)?, self.range_of(a, columns, m..n, pos)?, pos)?;
        Ok((q, self.concat(&[left, right], columns, pos)?))
    }

    /// A range of one axis, and all of the others.
    fn range_of(&self, v: Traced, axis: usize, range: Range<usize>, pos: &Pos) -> Result<Traced, Error> {
        let mut stop = self.ty(v).shape;
        let (mut start, step) = (vec![0; stop.len()], vec![1; stop.len()]);
        (start[axis], stop[axis]) = (range.start, range.end);
        self.op(&ops::SLICE, Attrs::none().ints("start", start).ints("stop", stop).ints("step", step), &[v], pos)
    }

    pub(crate) fn as_floats(&self, v: Traced, pos: &Pos) -> Result<Traced, Error> {
        if self.ty(v).dtype.is_float() { Ok(v) } else { self.convert(v, DType::F64, pos) }
    }
}

impl<'t> Var<'t> {
    fn of_matrices(self, def: &'static OpDef, pos: &Pos) -> Var<'t> {
        self.then(|tracer| tracer.of_matrices(def, self.traced(), pos))
    }

    /// The lower triangular factor L with L Lᵀ = this matrix, of which only the lower triangle is read: the gradient is
    /// zero above it. Where the matrix is not positive definite, the run ends with an error of the kind
    /// [`Check`](crate::ErrorKind::Check).
    ///
    /// ```
    /// # use retrograd::{Array, ErrorKind, jit};
    /// let l = jit(|[a]| a.cholesky());
    /// assert_eq!(l.run(&[Array::f64([2, 2], vec![4.0, 0.0, 2.0, 10.0])])?, [Array::f64([2, 2], vec![2.0, 0.0, 1.0, 3.0])]);
    /// let error = l.run(&[Array::f64([2, 2], vec![1.0, 0.0, 2.0, 1.0])]).unwrap_err();
    /// assert_eq!(error.message, "Matrix is not positive definite");
    /// assert_eq!(error.kind, ErrorKind::Check { tag: "LinAlgError".into() });
    /// # Ok::<(), retrograd::Error>(())
    /// ```
    #[track_caller]
    pub fn cholesky(self) -> Var<'t> {
        self.of_matrices(&ops::CHOLESKY, &here())
    }

    /// x with this matrix times x = `b`, a vector or the columns of a matrix. Where the matrix is singular, so that
    /// a pivot is zero, the run ends with an error of the kind [`Check`](crate::ErrorKind::Check).
    ///
    /// ```
    /// # use retrograd::{Array, jit};
    /// let x = jit(|[a, b]| a.solve(b)).run(&[Array::f64([2, 2], vec![0.0, 2.0, 4.0, 0.0]), Array::f64([2], vec![6.0, 8.0])])?;
    /// assert_eq!(x, [Array::f64([2], vec![2.0, 3.0])]);
    /// # Ok::<(), retrograd::Error>(())
    /// ```
    #[track_caller]
    pub fn solve(self, b: Var<'t>) -> Var<'t> {
        let pos = here();
        self.then(|tracer| {
            tracer.of_systems(&ops::SOLVE, Attrs::none().ints("transpose", [0]), self.traced(), b.traced(), &pos)
        })
    }

    /// x with a triangle of this matrix times x = `b`, a vector or the columns of a matrix. Nothing else of the matrix
    /// is read.
    ///
    /// ```
    /// # use retrograd::{Array, Triangle, jit};
    /// let f = jit(|[a, b]| a.triangular_solve(b, Triangle::LOWER.transposed()));
    /// let x = f.run(&[Array::f64([2, 2], vec![2.0, 99.0, 1.0, 4.0]), Array::f64([2], vec![5.0, 4.0])])?;
    /// assert_eq!(x, [Array::f64([2], vec![2.0, 1.0])]);
    /// # Ok::<(), retrograd::Error>(())
    /// ```
    #[track_caller]
    pub fn triangular_solve(self, b: Var<'t>, triangle: Triangle) -> Var<'t> {
        let pos = here();
        self.then(|tracer| tracer.of_systems(&ops::TRIANGULAR_SOLVE, triangle.attrs(), self.traced(), b.traced(), &pos))
    }

    /// The inverse matrix. Where this one is singular, the run ends with an error of the kind
    /// [`Check`](crate::ErrorKind::Check). To solve equations, [`solve`](Var::solve) is faster and more accurate.
    ///
    /// ```
    /// # use retrograd::{Array, jit};
    /// let inverse = jit(|[a]| a.inverse()).run(&[Array::f64([2, 2], vec![2.0, 0.0, 0.0, 4.0])])?;
    /// assert_eq!(inverse, [Array::f64([2, 2], vec![0.5, 0.0, 0.0, 0.25])]);
    /// # Ok::<(), retrograd::Error>(())
    /// ```
    #[track_caller]
    pub fn inverse(self) -> Var<'t> {
        self.of_matrices(&ops::INVERSE, &here())
    }

    /// The determinant. Its first three derivatives are exact at singular matrices, too.
    ///
    /// ```
    /// # use retrograd::{Array, grad};
    /// let gradient = grad(|[a]| a.det()).run(&[Array::f64([2, 2], vec![1.0, 2.0, 2.0, 4.0])])?;
    /// assert_eq!(gradient, [Array::f64([2, 2], vec![4.0, -2.0, -2.0, 1.0])]);
    /// # Ok::<(), retrograd::Error>(())
    /// ```
    #[track_caller]
    pub fn det(self) -> Var<'t> {
        self.of_matrices(&ops::DET, &here())
    }

    /// log |det|, also where the determinant would overflow; −∞ where the matrix is singular.
    ///
    /// ```
    /// # use retrograd::{Array, jit};
    /// assert_eq!(jit(|[a]| a.logdet()).run(&[Array::f64([2, 2], vec![0.0, 1.0, 1.0, 0.0])])?, [Array::scalar(0.0)]);
    /// # Ok::<(), retrograd::Error>(())
    /// ```
    #[track_caller]
    pub fn logdet(self) -> Var<'t> {
        self.of_matrices(&ops::LOGDET, &here())
    }

    /// The packed factors L and U, by partial pivoting, and which row of this matrix is row i of L U.
    ///
    /// ```
    /// # use retrograd::{Array, Data, jit_many};
    /// let lu = jit_many(|[a]| { let (factors, rows) = a.lu(); vec![factors, rows] });
    /// let outputs = lu.run(&[Array::f64([2, 2], vec![1.0, 1.0, 2.0, 4.0])])?;
    /// assert_eq!(outputs, [Array::f64([2, 2], vec![2.0, 4.0, 0.5, -1.0]), Array::new([2], Data::I64(vec![1, 0]))]);
    /// # Ok::<(), retrograd::Error>(())
    /// ```
    #[track_caller]
    pub fn lu(self) -> (Var<'t>, Var<'t>) {
        let pos = here();
        (self.of_matrices(&ops::LU, &pos), self.of_matrices(&ops::LU_PERMUTATION, &pos))
    }

    /// Q, with orthonormal columns, and R, zero below its diagonal, whose product is this matrix; of m rows and n
    /// columns, Q has the lesser of both as columns. Signs are those of LAPACK. The gradient is infinite or NaN
    /// where the columns that make Q depend on each other.
    ///
    /// ```
    /// # use retrograd::{Array, jit_many};
    /// let qr = jit_many(|[a]| { let (q, r) = a.qr(); vec![q, r] });
    /// let outputs = qr.run(&[Array::f64([2, 1], vec![3.0, 4.0])])?;
    /// assert_eq!(outputs[1], Array::f64([1, 1], vec![-5.0]));
    /// # Ok::<(), retrograd::Error>(())
    /// ```
    #[track_caller]
    pub fn qr(self) -> (Var<'t>, Var<'t>) {
        let pos = here();
        self.trace()
            .attempt(|tracer| tracer.qr(self.traced(), &pos))
            .map_or((self, self), |(q, r)| (self.trace().var(q), self.trace().var(r)))
    }
}
