//! Spectral decompositions of the matrices in the last two axes, as in `numpy.linalg`; the axes before them are
//! batches.
//!
//! Of a symmetric matrix the lower triangle is read, as NumPy does, so that the gradient is zero above it. Where
//! eigenvalues or singular values coincide, what is not smooth ends the run of a derivative with an error of the kind
//! [`Check`](crate::ErrorKind::Check): the gradient of a function that treats those that coincide alike is exact, that
//! of the vectors themselves does not exist.
//!
//! Values coincide where they differ by at most 1024 ε of the largest of them, 2.3e-13 in f64 and 1.2e-4 in f32:
//! vectors of closer ones have fewer than three digits that are right. For a second derivative of vectors that is
//! √(1024 ε), 4.8e-7 and 0.011, because roundings count twice in it.

use retrograd_compiler::ir::{Array, Attrs, Error, OpDef, Pos};
use retrograd_compiler::ops;

use crate::linalg::LINALG_ERROR;
use crate::numpy::last_two;
use crate::trace::{Traced, Tracer};
use crate::var::{Var, here};

/// What a derivative of eigenvalues, singular values and their vectors is where it does not exist, because values
/// coincide.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Degenerate {
    /// The run ends with an error.
    #[default]
    Fails,
    /// What has no derivative is taken as constant. That is right for what does not change when vectors of one value
    /// are turned, and for nothing else.
    IsZero,
}

impl Tracer {
    /// A row of this family over matrices alone; integers become f64. Matrices with more columns than rows are
    /// transposed before and after. Where one is not finite the run ends, as `numpy.linalg` raises an error;
    /// vectors come with their values, which say so.
    pub fn of_spectrum(
        &self,
        def: &'static OpDef,
        a: Traced,
        degenerate: Degenerate,
        pos: &Pos,
    ) -> Result<Traced, Error> {
        let a = self.as_floats(a, pos)?;
        let ty = self.ty(a);
        // What does not fit is for the row to say.
        let [m, n] = if ty.rank() < 2 { [0, 0] } else { last_two(&ty.shape) };
        let is_symmetric = *def == ops::EIGVALSH || *def == ops::EIGENVECTORS;
        if m < n && !is_symmetric {
            let other = self.of_spectrum(mirrored(def), self.flipped(a, pos)?, degenerate, pos)?;
            return if *def == ops::POLAR { self.flipped(other, pos) } else { Ok(other) };
        }
        let attrs = def.attrs.iter().fold(Attrs::none(), |attrs, name| match *name {
            "columns" => attrs.ints("columns", [0, n]),
            "order" => attrs.ints("order", [0]),
            _ => attrs.ints(name, [usize::from(degenerate == Degenerate::IsZero)]),
        });
        let y = self.op(def, attrs, &[a], pos)?;
        // Vectors come with their values.
        if !def.attrs.contains(&"columns") {
            self.check_converged(
                y,
                if is_symmetric { "Eigenvalues did not converge" } else { "SVD did not converge" },
                pos,
            )?;
        }
        Ok(y)
    }

    /// The pseudoinverse of matrices: singular values of at most `cutoff` times the largest are taken as zero.
    pub fn pinv(&self, a: Traced, cutoff: Traced, pos: &Pos) -> Result<Traced, Error> {
        let a = self.as_floats(a, pos)?;
        let ty = self.ty(a);
        if ty.rank() >= 2 && ty.shape[ty.rank() - 2] < ty.shape[ty.rank() - 1] {
            let other = self.pinv(self.flipped(a, pos)?, cutoff, pos)?;
            return self.flipped(other, pos);
        }
        let batch = &ty.shape[..ty.rank().saturating_sub(2)];
        let cutoff = self.broadcast_to(self.convert(cutoff, ty.dtype, pos)?, batch, pos)?;
        let cutoff = self.reshape(cutoff, &[batch, &[1]].concat(), pos)?;
        let y = self.op(&ops::PINV, Attrs::none(), &[a, cutoff], pos)?;
        self.check_converged(y, "SVD did not converge", pos)?;
        Ok(y)
    }

    /// All of a matrix is NaN, or nothing.
    fn check_converged(&self, y: Traced, message: &str, pos: &Pos) -> Result<(), Error> {
        if self.ty(y).elements() == 0 {
            return Ok(());
        }
        let is_number = self.op(&ops::EQ, Attrs::none(), &[y, y], pos)?;
        self.check(is_number, message, LINALG_ERROR, pos)
    }

    fn flipped(&self, a: Traced, pos: &Pos) -> Result<Traced, Error> {
        let mut axes: Vec<usize> = (0..self.ty(a).rank()).collect();
        let rank = axes.len();
        axes.swap(rank - 2, rank - 1);
        self.transpose(a, &axes, pos)
    }
}

/// The row of Aᵀ for one of A.
fn mirrored(def: &'static OpDef) -> &'static OpDef {
    match def {
        def if *def == ops::LEFT_VECTORS => &ops::RIGHT_VECTORS,
        def if *def == ops::RIGHT_VECTORS => &ops::LEFT_VECTORS,
        def => def,
    }
}

impl<'t> Var<'t> {
    fn of_spectrum(self, def: &'static OpDef, pos: &Pos) -> Var<'t> {
        self.then(|tracer| tracer.of_spectrum(def, self.traced(), Degenerate::Fails, pos))
    }

    /// The eigenvalues, ascending, of the symmetric matrix whose lower triangle this one has.
    ///
    /// ```
    /// # use retrograd::{Array, grad, jit};
    /// let a = Array::f64([2, 2], vec![2.0, 99.0, 1.0, 2.0]);
    /// let w = jit(|[a]| a.eigvalsh()).run(&[a])?;
    /// assert!((w[0].as_f64()[0] - 1.0).abs() < 1e-14 && (w[0].as_f64()[1] - 3.0).abs() < 1e-14);
    /// // Both eigenvalues of the identity are 1, and a sum treats them alike.
    /// let identity = Array::f64([2, 2], vec![1.0, 0.0, 0.0, 1.0]);
    /// assert_eq!(grad(|[a]| a.eigvalsh().sum()).run(&[identity.clone()])?, [identity]);
    /// # Ok::<(), retrograd::Error>(())
    /// ```
    #[track_caller]
    pub fn eigvalsh(self) -> Var<'t> {
        self.of_spectrum(&ops::EIGVALSH, &here())
    }

    /// The eigenvalues, ascending, and in the columns of a matrix their eigenvectors, of length 1. The first entry of a
    /// vector that is not small beside its largest is positive. Vectors of eigenvalues that coincide have no
    /// derivative: a run that needs one ends with an error.
    ///
    /// ```
    /// # use retrograd::{Array, ErrorKind, grad, jit_many};
    /// let eigh = jit_many(|[a]| { let (w, v) = a.eigh(); vec![w, v] });
    /// let outputs = eigh.run(&[Array::f64([2, 2], vec![3.0, 0.0, 0.0, 1.0])])?;
    /// assert_eq!(outputs, [Array::f64([2], vec![1.0, 3.0]), Array::f64([2, 2], vec![0.0, 1.0, 1.0, 0.0])]);
    ///
    /// let of_vectors = grad(|[a]| a.eigh().1.sum());
    /// let error = of_vectors.run(&[Array::f64([2, 2], vec![1.0, 0.0, 0.0, 1.0])]).unwrap_err();
    /// assert_eq!(error.kind, ErrorKind::Check { tag: "LinAlgError".into() });
    /// # Ok::<(), retrograd::Error>(())
    /// ```
    #[track_caller]
    pub fn eigh(self) -> (Var<'t>, Var<'t>) {
        let pos = here();
        (self.of_spectrum(&ops::EIGVALSH, &pos), self.of_spectrum(&ops::EIGENVECTORS, &pos))
    }

    /// The singular values, descending.
    ///
    /// ```
    /// # use retrograd::{Array, jit};
    /// let sigma = jit(|[a]| a.svdvals()).run(&[Array::f64([1, 2], vec![3.0, 4.0])])?;
    /// assert_eq!(sigma, [Array::f64([1], vec![5.0])]);
    /// # Ok::<(), retrograd::Error>(())
    /// ```
    #[track_caller]
    pub fn svdvals(self) -> Var<'t> {
        self.of_spectrum(&ops::SVDVALS, &here())
    }

    /// U, the singular values σ, descending, and V, with this matrix = U diag(σ) Vᵀ; U and V have as many columns as
    /// there are values. Of the smaller of U and V the first entry of a column that is not small beside its largest
    /// is positive.
    ///
    /// ```
    /// # use retrograd::{Array, jit_many};
    /// let svd = jit_many(|[a]| { let (u, sigma, v) = a.svd(); vec![u, sigma, v] });
    /// let outputs = svd.run(&[Array::f64([2, 1], vec![3.0, 4.0])])?;
    /// assert_eq!(outputs, [Array::f64([2, 1], vec![0.6, 0.8]), Array::f64([1], vec![5.0]), Array::f64([1, 1], vec![1.0])]);
    /// # Ok::<(), retrograd::Error>(())
    /// ```
    #[track_caller]
    pub fn svd(self) -> (Var<'t>, Var<'t>, Var<'t>) {
        let pos = here();
        let of = |def: &'static OpDef| self.of_spectrum(def, &pos);
        (of(&ops::LEFT_VECTORS), of(&ops::SVDVALS), of(&ops::RIGHT_VECTORS))
    }

    /// The sum of the singular values, whose gradient also exists where they coincide, unless they are zero.
    ///
    /// ```
    /// # use retrograd::{Array, grad};
    /// let identity = Array::f64([2, 2], vec![1.0, 0.0, 0.0, 1.0]);
    /// assert_eq!(grad(|[a]| a.nuclear_norm()).run(&[identity.clone()])?, [identity]);
    /// # Ok::<(), retrograd::Error>(())
    /// ```
    #[track_caller]
    pub fn nuclear_norm(self) -> Var<'t> {
        self.of_spectrum(&ops::NUCLEAR_NORM, &here())
    }

    /// The polar factor U Vᵀ, the nearest matrix with orthonormal columns or rows. Its derivative exists where singular
    /// values coincide, too, unless they are zero.
    ///
    /// ```
    /// # use retrograd::{Array, jit};
    /// let q = jit(|[a]| a.polar()).run(&[Array::f64([2, 2], vec![0.0, -2.0, 2.0, 0.0])])?;
    /// assert_eq!(q, [Array::f64([2, 2], vec![0.0, -1.0, 1.0, 0.0])]);
    /// # Ok::<(), retrograd::Error>(())
    /// ```
    #[track_caller]
    pub fn polar(self) -> Var<'t> {
        self.of_spectrum(&ops::POLAR, &here())
    }

    /// The pseudoinverse; singular values of at most `cutoff` times the largest are taken as zero. The gradient is that
    /// along matrices of one rank.
    ///
    /// ```
    /// # use retrograd::{Array, jit};
    /// let inverse = jit(|[a]| a.pinv(1e-15)).run(&[Array::f64([2, 1], vec![2.0, 0.0])])?;
    /// assert_eq!(inverse, [Array::f64([1, 2], vec![0.5, 0.0])]);
    /// # Ok::<(), retrograd::Error>(())
    /// ```
    #[track_caller]
    pub fn pinv(self, cutoff: f64) -> Var<'t> {
        let pos = here();
        self.then(|tracer| tracer.pinv(self.traced(), tracer.constant(Array::scalar(cutoff), &pos), &pos))
    }
}
