//! Singular values and vectors of one matrix by Jacobi's rotations from one side (M. R. Hestenes, Inversion of matrices
//! by biorthogonalization, 1958): columns are turned pair by pair until all are orthogonal; their lengths are the
//! singular values. Small ones come out as accurate as the columns have them (J. Demmel and K. Veselić, Jacobi's method
//! is more accurate than QR, 1992).

use pulp::{Simd, WithSimd};

use super::symmetric::{leads_down, length, turn};
use crate::ops::linalg::dense::{Real, inner, is_nan, subtract, wide};
use crate::ops::linalg::reflect::Scale;

/// Passes over all pairs; ten are many.
const SWEEPS: usize = 60;

/// Elements of scratch for an m×n matrix: its columns, what turns them, and their squares.
pub(super) fn scratch_elements(m: usize, n: usize) -> usize {
    n * (m + n + 1)
}

/// U, m×n, V, n×n, and σ, descending, with A = U diag(σ) Vᵀ, for m ≥ n. Where A is not finite everything is NaN.
pub(super) fn svd<T: Real>(a: &[T], u: &mut [T], v: &mut [T], sigma: &mut [T], scratch: &mut [T], [m, n]: [usize; 2]) {
    if n == 0 {
        return;
    }
    let (columns, rest) = scratch.split_at_mut(n * m);
    let (turns, squares) = rest.split_at_mut(n * n);
    for (j, column) in columns.chunks_exact_mut(m).enumerate() {
        column.iter_mut().enumerate().for_each(|(i, x)| *x = a[i * n + j]);
    }
    let scale = Scale::of(columns);
    scale.apply(columns);
    turns.fill(T::ZERO);
    (0..n).for_each(|k| turns[k * n + k] = T::ONE);
    let finite = !columns.iter().any(|x| is_nan(*x * T::ZERO));
    if !finite || !wide(Orthogonal { columns, turns, squares, m, n }) {
        u.fill(T::NAN);
        v.fill(T::NAN);
        return sigma.fill(T::NAN);
    }
    for (sigma, column) in sigma.iter_mut().zip(columns.chunks_exact(m)) {
        *sigma = inner(column, column).sqrt();
    }
    descend(sigma, columns, turns, [m, n]);
    complete(columns, sigma, m);
    for (column, turned) in columns.chunks_exact_mut(m).zip(turns.chunks_exact_mut(n)) {
        if leads_down(turned) {
            column.iter_mut().chain(turned).for_each(|x| *x = -*x);
        }
    }
    for (to, from, extent) in [(u, &*columns, m), (v, &*turns, n)] {
        for (i, row) in to.chunks_exact_mut(n).enumerate() {
            row.iter_mut().enumerate().for_each(|(j, x)| *x = from[j * extent + i]);
        }
    }
    scale.undo(sigma);
}

/// Columns turned until they are orthogonal to rounding, and the identity with them. Whether that succeeds.
struct Orthogonal<'a, T> {
    columns: &'a mut [T],
    turns: &'a mut [T],
    squares: &'a mut [T],
    m: usize,
    n: usize,
}

impl<T: Real> WithSimd for Orthogonal<'_, T> {
    type Output = bool;
    #[inline(always)]
    fn with_simd<S: Simd>(self, _: S) -> bool {
        let Orthogonal { columns, turns, squares, m, n } = self;
        // An inner product of orthogonal columns is as large by rounding.
        let rounding = T::EPSILON * (T::count(2) + T::count(m).sqrt());
        for _ in 0..SWEEPS {
            lengths(columns, squares, m);
            let mut turned = false;
            for p in 0..n {
                for q in p + 1..n {
                    let (head, tail) = columns.split_at_mut(q * m);
                    let (x, y) = (&mut head[p * m..][..m], &mut tail[..m]);
                    let both = inner(x, y);
                    if both.abs() <= rounding * squares[p].sqrt() * squares[q].sqrt() {
                        continue;
                    }
                    turned = true;
                    // The tangent of the smaller angle that makes them orthogonal.
                    let slope = (squares[q] - squares[p]) / (T::count(2) * both);
                    let steep = slope.abs() + length(slope, T::ONE);
                    let tangent = if slope < T::ZERO { -(T::ONE / steep) } else { T::ONE / steep };
                    let cosine = T::ONE / tangent.fused(tangent, T::ONE).sqrt();
                    let sine = cosine * tangent;
                    turn(x, y, cosine, sine);
                    let (head, tail) = turns.split_at_mut(q * n);
                    turn(&mut head[p * n..][..n], &mut tail[..n], cosine, sine);
                    squares[p] = (-tangent).fused(both, squares[p]);
                    squares[q] = tangent.fused(both, squares[q]);
                    if squares[p] < T::ZERO || squares[q] < T::ZERO {
                        (squares[p], squares[q]) = (inner(x, x), inner(y, y));
                    }
                }
            }
            if !turned {
                return true;
            }
        }
        false
    }
}

/// The squares of the lengths of columns. One that is shorter than the longest by two times all the digits there are
/// becomes zero: squares of its entries would leave the range of floats.
#[inline(always)]
fn lengths<T: Real>(columns: &mut [T], squares: &mut [T], m: usize) {
    for (square, column) in squares.iter_mut().zip(columns.chunks_exact(m)) {
        *square = inner(column, column);
    }
    let longest = squares.iter().fold(T::ZERO, |longest, x| if *x > longest { *x } else { longest });
    let least = longest * T::EPSILON * T::EPSILON * T::EPSILON * T::EPSILON;
    for (square, column) in squares.iter_mut().zip(columns.chunks_exact_mut(m)).filter(|(square, _)| **square < least) {
        *square = T::ZERO;
        column.fill(T::ZERO);
    }
}

/// Values in descending order, and both arrays of rows with them.
fn descend<T: Real>(values: &mut [T], columns: &mut [T], turns: &mut [T], [m, n]: [usize; 2]) {
    let swap = |rows: &mut [T], extent: usize, a: usize, b: usize| {
        let (head, tail) = rows.split_at_mut(b * extent);
        head[a * extent..][..extent].swap_with_slice(&mut tail[..extent]);
    };
    for i in 0..n {
        let most = (i + 1..n).fold(i, |most, k| if values[k] > values[most] { k } else { most });
        if most != i {
            values.swap(i, most);
            swap(columns, m, i, most);
            swap(turns, n, i, most);
        }
    }
}

/// Columns of length 1; where a singular value is zero, one that is orthogonal to those before it.
fn complete<T: Real>(columns: &mut [T], sigma: &[T], m: usize) {
    for (k, sigma) in sigma.iter().enumerate() {
        let (known, rest) = columns.split_at_mut(k * m);
        let column = &mut rest[..m];
        if *sigma > T::ZERO {
            column.iter_mut().for_each(|x| *x /= *sigma);
            continue;
        }
        // The axis that the others have the least of.
        let share = |i: usize| known.iter().skip(i).step_by(m).fold(T::ZERO, |sum, x| x.fused(*x, sum));
        let mut least = (0, share(0));
        for i in 1..m {
            let share = share(i);
            if share < least.1 {
                least = (i, share);
            }
        }
        column.fill(T::ZERO);
        column[least.0] = T::ONE;
        // Twice is enough (B. N. Parlett, The Symmetric Eigenvalue Problem, §6.9).
        for _ in 0..2 {
            for other in known.chunks_exact(m) {
                let multiple = inner(other, column);
                subtract(column, multiple, other);
            }
        }
        let size = inner(column, column).sqrt();
        column.iter_mut().for_each(|x| *x /= size);
    }
}
