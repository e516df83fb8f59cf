//! Eigenvalues and eigenvectors of one symmetric matrix: Householder's reflections make it tridiagonal, QL with
//! implicit shifts makes that diagonal (J. H. Wilkinson and C. Reinsch, Handbook for Automatic Computation II,
//! contributions II/2 and II/4, 1971).
//!
//! Vectors are rows while they are turned, so that every innermost run is contiguous.

use pulp::{Simd, WithSimd};

use crate::ops::linalg::dense::{Real, inner, is_nan, subtract, wide};
use crate::ops::linalg::reflect::Scale;

/// Steps of QL for one eigenvalue; it takes two on average, and more than ten are unheard of.
const STEPS: usize = 60;

/// Elements of scratch for a matrix of order n: a square and three vectors.
pub(super) fn scratch_elements(n: usize) -> usize {
    n * n + 3 * n
}

/// The eigenvalues w of the symmetric matrix whose lower triangle is that of A, ascending, and in the columns of v
/// their eigenvectors, of length 1. Where A is not finite everything is NaN.
pub(super) fn eigh<T: Real>(a: &[T], v: &mut [T], w: &mut [T], scratch: &mut [T], n: usize) {
    let (square, vectors) = scratch.split_at_mut(n * n);
    let (below, vectors) = vectors.split_at_mut(n);
    let (factors, spare) = vectors.split_at_mut(n);
    for i in 0..n {
        for j in 0..=i {
            (square[i * n + j], square[j * n + i]) = (a[i * n + j], a[i * n + j]);
        }
    }
    if square.iter().any(|x| is_nan(*x * T::ZERO)) {
        v.fill(T::NAN);
        return w.fill(T::NAN);
    }
    let scale = Scale::of(square);
    scale.apply(square);
    wide(Tridiagonal { a: square, diagonal: w, below, factors, spare, n });
    wide(Reflections { reflected: square, factors, rows: v, n });
    if !wide(Diagonal { diagonal: w, below, rows: v, n }) {
        v.fill(T::NAN);
        return w.fill(T::NAN);
    }
    ascend(w, v, n);
    v.chunks_exact_mut(n.max(1)).for_each(orient);
    transpose(v, n);
    scale.undo(w);
}

/// The sign of a vector is ours: its first entry that is not small beside the largest is positive. A small one may have
/// any sign.
pub(super) fn orient<T: Real>(vector: &mut [T]) {
    if leads_down(vector) {
        vector.iter_mut().for_each(|x| *x = -*x);
    }
}

/// Whether the first entry of at least 0.3 of the largest, a number that few vectors have, is negative.
pub(super) fn leads_down<T: Real>(vector: &[T]) -> bool {
    let largest = vector.iter().fold(T::ZERO, |largest, x| if x.abs() > largest { x.abs() } else { largest });
    let enough = largest * T::count(3) / T::count(10);
    vector.iter().find(|x| x.abs() >= enough).is_some_and(|x| *x < T::ZERO)
}

/// √(x² + y²) without squares that leave the range of floats.
pub(super) fn length<T: Real>(x: T, y: T) -> T {
    let (x, y) = (x.abs(), y.abs());
    let (large, small) = if x > y { (x, y) } else { (y, x) };
    if small == T::ZERO {
        return large;
    }
    let ratio = small / large;
    large * ratio.fused(ratio, T::ONE).sqrt()
}

/// Of a symmetric matrix, both triangles of which are there, the diagonal and what is below it after reflections H = I
/// − τ v vᵀ. Row k of a becomes v of step k, from column k + 1 on.
struct Tridiagonal<'a, T> {
    a: &'a mut [T],
    diagonal: &'a mut [T],
    below: &'a mut [T],
    factors: &'a mut [T],
    spare: &'a mut [T],
    n: usize,
}

impl<T: Real> WithSimd for Tridiagonal<'_, T> {
    type Output = ();
    #[inline(always)]
    fn with_simd<S: Simd>(self, _: S) {
        let Tridiagonal { a, diagonal, below, factors, spare, n } = self;
        for k in 0..n {
            diagonal[k] = a[k * n + k];
            (below[k], factors[k]) = (T::ZERO, T::ZERO);
            if k + 1 == n {
                break;
            }
            let (above, rest) = a.split_at_mut((k + 1) * n);
            let v = &mut above[k * n + k + 1..];
            // What is left of a matrix of low rank are roundings of roundings: their squares would be too small for
            // floats.
            let largest = v.iter().fold(T::ZERO, |largest, x| if x.abs() > largest { x.abs() } else { largest });
            below[k] = v[0];
            if v[1..].iter().all(|x| *x == T::ZERO) {
                continue;
            }
            v.iter_mut().for_each(|x| *x /= largest);
            let (alpha, squares) = (v[0], inner(&v[1..], &v[1..]));
            if squares == T::ZERO {
                continue;
            }
            let size = alpha.fused(alpha, squares).sqrt();
            let beta = if alpha < T::ZERO { size } else { -size };
            let tau = (beta - alpha) / beta;
            let inverse = T::ONE / (alpha - beta);
            v.iter_mut().for_each(|x| *x *= inverse);
            v[0] = T::ONE;
            (below[k], factors[k]) = (beta * largest, tau);
            // A − v wᵀ − w vᵀ with w = τ A v − (τ²/2) (vᵀ A v) v.
            let w = &mut spare[..n - k - 1];
            for (w, row) in w.iter_mut().zip(rest.chunks_exact(n)) {
                *w = tau * inner(&row[k + 1..], v);
            }
            let half = tau * inner(w, v) / T::count(2);
            subtract(w, half, v);
            for (i, row) in rest.chunks_exact_mut(n).enumerate() {
                let row = &mut row[k + 1..];
                let (left, right) = (-v[i], -w[i]);
                for ((x, v), w) in row.iter_mut().zip(v.iter()).zip(w.iter()) {
                    *x = right.fused(*v, left.fused(*w, *x));
                }
            }
        }
    }
}

/// Qᵀ of Q = H₀ H₁ …, from the rows that [`Tridiagonal`] leaves.
struct Reflections<'a, T> {
    reflected: &'a [T],
    factors: &'a [T],
    rows: &'a mut [T],
    n: usize,
}

impl<T: Real> WithSimd for Reflections<'_, T> {
    type Output = ();
    #[inline(always)]
    fn with_simd<S: Simd>(self, _: S) {
        let Reflections { reflected, factors, rows, n } = self;
        rows.fill(T::ZERO);
        (0..n).for_each(|i| rows[i * n + i] = T::ONE);
        for k in (0..n.saturating_sub(1)).rev().filter(|k| factors[*k] != T::ZERO) {
            let v = &reflected[k * n + k + 1..(k + 1) * n];
            // Q is the identity outside of the last rows and columns; H from the left of Q is H from the right of Qᵀ.
            for row in rows[(k + 1) * n..].chunks_exact_mut(n) {
                let row = &mut row[k + 1..];
                let multiple = factors[k] * inner(row, v);
                subtract(row, multiple, v);
            }
        }
    }
}

/// A tridiagonal matrix made diagonal; rows are turned with it. Whether it succeeds.
struct Diagonal<'a, T> {
    diagonal: &'a mut [T],
    below: &'a mut [T],
    rows: &'a mut [T],
    n: usize,
}

impl<T: Real> WithSimd for Diagonal<'_, T> {
    type Output = bool;
    #[inline(always)]
    fn with_simd<S: Simd>(self, _: S) -> bool {
        let Diagonal { diagonal, below, rows, n } = self;
        // What is small beside the rows that are done is small beside the matrix. Beside rows of roundings of roundings
        // nothing is.
        let largest = diagonal
            .iter()
            .chain(&*below)
            .fold(T::ZERO, |largest, x| if x.abs() > largest { x.abs() } else { largest });
        let mut done = largest * T::EPSILON * T::EPSILON * T::EPSILON;
        for first in 0..n {
            let row = diagonal[first].abs() + below[first].abs();
            done = if row > done { row } else { done };
            let mut steps = 0;
            loop {
                let small = |k: &usize| {
                    let beside = diagonal[*k].abs() + diagonal[*k + 1].abs();
                    below[*k].abs() <= T::EPSILON * if beside > done { beside } else { done }
                };
                let last = (first..n - 1).find(small).unwrap_or(n - 1);
                if last == first {
                    break;
                }
                if steps == STEPS {
                    return false;
                }
                steps += 1;
                step(diagonal, below, rows, n, first, last);
            }
        }
        true
    }
}

/// One step of QL over rows first to last, shifted by the eigenvalue near the first of the leading two by two.
#[inline(always)]
fn step<T: Real>(diagonal: &mut [T], below: &mut [T], rows: &mut [T], n: usize, first: usize, last: usize) {
    let slope = (diagonal[first + 1] - diagonal[first]) / (T::count(2) * below[first]);
    let size = length(slope, T::ONE);
    let steep = slope + if slope < T::ZERO { -size } else { size };
    let mut g = diagonal[last] - diagonal[first] + below[first] / steep;
    let (mut sine, mut cosine, mut shift) = (T::ONE, T::ONE, T::ZERO);
    for i in (first..last).rev() {
        let (f, b) = (sine * below[i], cosine * below[i]);
        let r = length(f, g);
        below[i + 1] = r;
        if r == T::ZERO {
            // The matrix falls in two here.
            diagonal[i + 1] -= shift;
            below[last] = T::ZERO;
            return;
        }
        (sine, cosine) = (f / r, g / r);
        g = diagonal[i + 1] - shift;
        let turned = (diagonal[i] - g).fused(sine, T::count(2) * cosine * b);
        shift = sine * turned;
        diagonal[i + 1] = g + shift;
        g = cosine.fused(turned, -b);
        let (upper, lower) = rows[i * n..(i + 2) * n].split_at_mut(n);
        turn(upper, lower, cosine, sine);
    }
    diagonal[first] -= shift;
    below[first] = g;
    below[last] = T::ZERO;
}

/// (x, y) becomes (c x − s y, s x + c y).
#[inline(always)]
pub(super) fn turn<T: Real>(x: &mut [T], y: &mut [T], c: T, s: T) {
    for (x, y) in x.iter_mut().zip(y) {
        let (a, b) = (*x, *y);
        *x = c.fused(a, -(s * b));
        *y = s.fused(a, c * b);
    }
}

/// Values in ascending order, and rows with them.
fn ascend<T: Real>(values: &mut [T], rows: &mut [T], n: usize) {
    for i in 0..n {
        let least = (i + 1..n).fold(i, |least, k| if values[k] < values[least] { k } else { least });
        if least != i {
            values.swap(i, least);
            let (head, tail) = rows.split_at_mut(least * n);
            head[i * n..][..n].swap_with_slice(&mut tail[..n]);
        }
    }
}

/// A square, transposed in its place.
fn transpose<T: Real>(x: &mut [T], n: usize) {
    for i in 0..n {
        for j in 0..i {
            x.swap(i * n + j, j * n + i);
        }
    }
}
