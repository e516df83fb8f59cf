//! The routines of the family: factors of single matrices, one after the other, and what rows make of them.

use super::{jacobi, symmetric};
use crate::ir::{Attrs, DType, Routine, Slice, SliceMut, Type};
use crate::ops::linalg::dense::Real;
use crate::ops::linalg::routines::{by_float, count, extents, order, routine};
use crate::ops::matrix::{Extents, Matrix, Target, multiply};

pub(super) const EIGEN_FACTORS: Routine = routine(
    |types, _| vec![Type::new(types[0].dtype, [symmetric::scratch_elements(order(&types[0]))])],
    by_float!(eigen_factors),
);
pub(super) const EIGENVALUES: Routine = routine(|_, _| vec![], by_float!(last_row));
pub(super) const EIGENVECTORS: Routine = routine(|_, _| vec![], by_float!(eigenvectors));

pub(super) const SINGULAR_FACTORS: Routine = routine(singular_scratch, by_float!(singular_factors));
pub(super) const SINGULAR_VALUES: Routine = routine(|_, _| vec![], by_float!(last_row));
pub(super) const LEFT: Routine = routine(|_, _| vec![], by_float!(left));
pub(super) const RIGHT: Routine = routine(|_, _| vec![], by_float!(right));
pub(super) const NUCLEAR: Routine = routine(|_, _| vec![], by_float!(nuclear));
pub(super) const POLAR: Routine = routine(|types, _| vec![work(types)], by_float!(polar));
pub(super) const POLAR_SOLVE: Routine =
    routine(|types, _| vec![squares(types, 2), work(types)], by_float!(polar_solve));
pub(super) const PINV: Routine = routine(|types, _| vec![squares(types, 1), work(types)], by_float!(pinv));

/// Rows and columns of the tall matrices that these are the factors of.
fn tall(types: &[Type]) -> [usize; 2] {
    let [rows, n] = extents(&types[0]);
    [rows - 1 - n, n]
}

fn singular_scratch(types: &[Type], _: &Attrs) -> Vec<Type> {
    let [m, n] = extents(&types[0]);
    vec![Type::new(types[0].dtype, [jacobi::scratch_elements(m, n)])]
}

/// Scratch: square matrices.
fn squares(types: &[Type], count: usize) -> Type {
    let n = order(&types[0]);
    Type::new(types[0].dtype, [count, n, n])
}

/// Scratch: what products of factors need.
fn work(types: &[Type]) -> Type {
    let [m, n] = tall(types);
    let products = [Extents { m, n, k: n }, Extents { m: n, n: m, k: n }, Extents { m: n, n, k: n }];
    Type::new(types[0].dtype, [products.map(|extents| extents.scratch()).into_iter().max().unwrap_or(0)])
}

/// The columns that the attribute speaks of, of rows of n.
fn copy_columns<T: Real>(from: &[T], to: &mut [T], attrs: &Attrs, n: usize) {
    let [start, stop] = [0, 1].map(|k| attrs.numbers("columns")[k] as usize);
    if start == stop {
        return;
    }
    for (from, to) in from.chunks_exact(n).zip(to.chunks_exact_mut(stop - start)) {
        to.copy_from_slice(&from[start..stop]);
    }
}

/// Every matrix of factors, of so many rows.
fn each<'a, T: Real + 'a>(types: &[Type], args: &[Slice<'a>]) -> impl Iterator<Item = (usize, &'a [T])> {
    let [rows, n] = extents(&types[0]);
    (0..count(&types[0])).map(move |k| (k, &T::of(args[0])[k * rows * n..][..rows * n]))
}

fn eigen_factors<T: Real>(
    types: &[Type],
    _: &Attrs,
    args: &[Slice<'_>],
    mut result: SliceMut<'_>,
    scratch: &mut [SliceMut<'_>],
) {
    let (a, all, work, n) = (T::of(args[0]), T::of_mut(&mut result), T::of_mut(&mut scratch[0]), order(&types[0]));
    for k in 0..count(&types[0]) {
        let (v, w) = all[k * (n + 1) * n..][..(n + 1) * n].split_at_mut(n * n);
        symmetric::eigh(&a[k * n * n..][..n * n], v, w, work, n);
    }
}

fn singular_factors<T: Real>(
    types: &[Type],
    _: &Attrs,
    args: &[Slice<'_>],
    mut result: SliceMut<'_>,
    scratch: &mut [SliceMut<'_>],
) {
    let (a, all, work) = (T::of(args[0]), T::of_mut(&mut result), T::of_mut(&mut scratch[0]));
    let [m, n] = extents(&types[0]);
    for k in 0..count(&types[0]) {
        let (u, rest) = all[k * (m + n + 1) * n..][..(m + n + 1) * n].split_at_mut(m * n);
        let (v, sigma) = rest.split_at_mut(n * n);
        jacobi::svd(&a[k * m * n..][..m * n], u, v, sigma, work, [m, n]);
    }
}

fn last_row<T: Real>(types: &[Type], _: &Attrs, args: &[Slice<'_>], mut result: SliceMut<'_>, _: &mut [SliceMut<'_>]) {
    let (y, n) = (T::of_mut(&mut result), order(&types[0]));
    each::<T>(types, args).for_each(|(k, factors)| y[k * n..][..n].copy_from_slice(&factors[factors.len() - n..]));
}

fn eigenvectors<T: Real>(
    types: &[Type],
    attrs: &Attrs,
    args: &[Slice<'_>],
    mut result: SliceMut<'_>,
    _: &mut [SliceMut<'_>],
) {
    let (y, n) = (T::of_mut(&mut result), order(&types[0]));
    let size = y.len() / count(&types[0]).max(1);
    each::<T>(types, args)
        .for_each(|(k, factors)| copy_columns(&factors[..n * n], &mut y[k * size..][..size], attrs, n));
}

fn left<T: Real>(types: &[Type], attrs: &Attrs, args: &[Slice<'_>], mut result: SliceMut<'_>, _: &mut [SliceMut<'_>]) {
    let (y, [m, n]) = (T::of_mut(&mut result), tall(types));
    let size = y.len() / count(&types[0]).max(1);
    each::<T>(types, args)
        .for_each(|(k, factors)| copy_columns(&factors[..m * n], &mut y[k * size..][..size], attrs, n));
}

fn right<T: Real>(types: &[Type], attrs: &Attrs, args: &[Slice<'_>], mut result: SliceMut<'_>, _: &mut [SliceMut<'_>]) {
    let (y, [m, n]) = (T::of_mut(&mut result), tall(types));
    let size = y.len() / count(&types[0]).max(1);
    let of = |factors: &'_ [T]| m * n..factors.len() - n;
    each::<T>(types, args)
        .for_each(|(k, factors)| copy_columns(&factors[of(factors)], &mut y[k * size..][..size], attrs, n));
}

fn nuclear<T: Real>(types: &[Type], _: &Attrs, args: &[Slice<'_>], mut result: SliceMut<'_>, _: &mut [SliceMut<'_>]) {
    let (y, n) = (T::of_mut(&mut result), order(&types[0]));
    each::<T>(types, args)
        .for_each(|(k, factors)| y[k] = factors[factors.len() - n..].iter().fold(T::ZERO, |sum, x| sum + *x));
}

/// U, V and σ of packed factors.
fn parts<T>(factors: &[T], [m, n]: [usize; 2]) -> (&[T], &[T], &[T]) {
    let (u, rest) = factors.split_at(m * n);
    let (v, sigma) = rest.split_at(n * n);
    (u, v, sigma)
}

/// U Vᵀ.
fn polar<T: Real>(
    types: &[Type],
    _: &Attrs,
    args: &[Slice<'_>],
    mut result: SliceMut<'_>,
    scratch: &mut [SliceMut<'_>],
) {
    let (y, work, [m, n]) = (T::of_mut(&mut result), T::of_mut(&mut scratch[0]), tall(types));
    for (k, factors) in each::<T>(types, args).take_while(|_| n > 0) {
        let (u, v, _) = parts(factors, [m, n]);
        let to = &mut y[k * m * n..][..m * n];
        multiply(Target::Set, Extents { m, n, k: n }, Matrix::new(u, n, 1), Matrix::new(v, 1, n), to, n, work);
    }
}

/// V X Vᵀ, where X are the entries of Vᵀ K V divided by σᵢ + σⱼ.
fn polar_solve<T: Real>(
    types: &[Type],
    _: &Attrs,
    args: &[Slice<'_>],
    mut result: SliceMut<'_>,
    scratch: &mut [SliceMut<'_>],
) {
    let [squares, work] = scratch else { panic!("scratch is what was asked for") };
    let (y, right, work, [m, n]) = (T::of_mut(&mut result), T::of(args[1]), T::of_mut(work), tall(types));
    let (half, turned) = T::of_mut(squares).split_at_mut(n * n);
    for (k, factors) in each::<T>(types, args).take_while(|_| n > 0) {
        let (_, v, sigma) = parts(factors, [m, n]);
        let (v, transposed, place) = (Matrix::new(v, n, 1), Matrix::new(v, 1, n), k * n * n..(k + 1) * n * n);
        let mut times = |a: Matrix<'_, T>, b: Matrix<'_, T>, to: &mut [T]| {
            multiply(Target::Set, Extents { m: n, n, k: n }, a, b, to, n, work)
        };
        times(transposed, Matrix::new(&right[place.clone()], n, 1), half);
        times(Matrix::new(half, n, 1), v, turned);
        for (row, left) in turned.chunks_exact_mut(n).zip(sigma) {
            row.iter_mut().zip(sigma).for_each(|(x, right)| *x /= *left + *right);
        }
        times(v, Matrix::new(turned, n, 1), half);
        times(Matrix::new(half, n, 1), transposed, &mut y[place]);
    }
}

/// V diag(1/σ) Uᵀ without the singular values that are at most `cutoff` times the first.
fn pinv<T: Real>(
    types: &[Type],
    _: &Attrs,
    args: &[Slice<'_>],
    mut result: SliceMut<'_>,
    scratch: &mut [SliceMut<'_>],
) {
    let [squares, work] = scratch else { panic!("scratch is what was asked for") };
    let (y, cutoff, work, [m, n]) = (T::of_mut(&mut result), T::of(args[1]), T::of_mut(work), tall(types));
    let scaled = T::of_mut(squares);
    for (k, factors) in each::<T>(types, args).take_while(|_| n > 0) {
        let (u, v, sigma) = parts(factors, [m, n]);
        let least = cutoff[k] * sigma[0];
        for (to, from) in scaled.chunks_exact_mut(n).zip(v.chunks_exact(n)) {
            for ((to, x), sigma) in to.iter_mut().zip(from).zip(sigma) {
                // A NaN is not less than anything, and stays.
                *to = if *sigma <= least { T::ZERO } else { *x / *sigma };
            }
        }
        let to = &mut y[k * m * n..][..m * n];
        multiply(
            Target::Set,
            Extents { m: n, n: m, k: n },
            Matrix::new(scaled, n, 1),
            Matrix::new(u, 1, n),
            to,
            m,
            work,
        );
    }
}
