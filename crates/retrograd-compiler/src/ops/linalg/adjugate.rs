//! The adjugate of a matrix and its derivatives, by factors with complete pivoting.
//!
//! P A Q = L D U with unit triangles L and U, so that with X = L⁻¹ P and Y = Q U⁻¹ every A + B is X⁻¹ (D + X B Y) Y⁻¹,
//! and adj(A + B) = ± Y adj(D + X B Y) X. Around the diagonal matrix D the adjugate and its derivatives are sums of
//! products of pivots. Nothing is divided by a pivot where that is zero: singular matrices are nothing special, nor are
//! those nearby.

use pulp::{Simd, WithSimd};

use super::dense::{
    LANES, LU_LOWER, Parity, Real, Triangle, eliminate, is_nan, permutation, swap_rows, triangular_solve, wide,
};
use crate::ops::matrix::{Extents, Matrix, Target, multiply};

/// As many derivatives have a formula of their own.
pub(in crate::ops) const DIRECTIONS: usize = 2;

/// U of D U: the stored upper triangle, each row divided by its pivot.
const UNIT_UPPER: Triangle = Triangle { lower: false, transposed: false, unit: true };

/// Matrices of scratch for so many directions.
pub(super) const fn matrices(directions: usize) -> usize {
    if directions == 0 { 4 } else { 6 + directions }
}

/// Elements of scratch for products of matrices of order n.
pub(super) fn product_elements(n: usize) -> usize {
    super::dense::scratch_elements(n, n).max(square(n).scratch())
}

fn square(n: usize) -> Extents {
    Extents { m: n, n, k: n }
}

/// What is needed besides arguments and result.
pub(super) struct Scratch<'a, T> {
    /// As many as [`matrices`] says, n² elements each.
    pub(super) matrices: &'a mut [T],
    /// Three vectors.
    pub(super) vectors: &'a mut [T],
    pub(super) rows: &'a mut [i64],
    pub(super) columns: &'a mut [i64],
    pub(super) work: &'a mut [T],
}

/// dᵏ adj(A)[B₁, …, Bₖ], the k-th derivative of the adjugate in k directions; without directions adj(A) itself, adj(A)
/// A = det(A) I.
pub(super) fn adjugate<T: Real>(
    a: &[T],
    directions: &[&[T]],
    result: &mut [T],
    scratch: &mut Scratch<'_, T>,
    n: usize,
) {
    if n == 0 {
        return;
    }
    if a.iter().any(|x| is_nan(*x * T::ZERO)) {
        // The search for pivots is for finite numbers.
        return result.fill(T::NAN);
    }
    let Scratch { matrices, vectors, rows, columns, work } = scratch;
    let mut matrices = matrices.chunks_exact_mut(n * n);
    let mut matrix = || matrices.next().expect("scratch is what was asked for");
    let (factors, x, y, other) = (matrix(), matrix(), matrix(), matrix());
    factors.copy_from_slice(a);
    let parity = wide(CompletePivoting { a: factors, rows, columns, n });
    let (pivots, vectors) = vectors.split_at_mut(n);
    (0..n).for_each(|k| pivots[k] = factors[k * n + k]);

    permutation(rows.iter().map(|row| *row as usize), x, n);
    triangular_solve(factors, LU_LOWER, x, work, n, n);
    for (k, row) in factors.chunks_exact_mut(n).enumerate().filter(|(k, _)| pivots[*k] != T::ZERO) {
        row[k + 1..].iter_mut().for_each(|u| *u /= pivots[k]);
    }
    permutation(0..n, other, n);
    triangular_solve(factors, UNIT_UPPER, other, work, n, n);
    for (row, column) in other.chunks_exact(n).zip(columns.iter()) {
        y[*column as usize * n..][..n].copy_from_slice(row);
    }

    let mut times = |left: &[T], right: &[T], to: &mut [T]| {
        multiply(Target::Set, square(n), Matrix::new(left, n, 1), Matrix::new(right, n, 1), to, n, work);
    };
    if directions.is_empty() {
        let others = Others::new(pivots, vectors, &mut []);
        for (k, (row, scaled)) in x.chunks_exact(n).zip(other.chunks_exact_mut(n)).enumerate() {
            let factor = parity.times(others.than(&[k]));
            scaled.iter_mut().zip(row).for_each(|(scaled, x)| *scaled = factor * *x);
        }
        return times(y, other, result);
    }
    let (derivative, between) = (matrix(), matrix());
    let mut turned = [&[][..]; DIRECTIONS];
    for (to, direction) in turned.iter_mut().zip(directions) {
        let around = matrix();
        times(x, direction, other);
        times(other, y, around);
        *to = around;
    }
    let others = Others::new(pivots, vectors, between);
    match directions.len() {
        1 => once(&others, parity, turned[0], derivative, n),
        _ => twice(&others, parity, turned, derivative, n),
    }
    times(derivative, x, other);
    times(y, other, result);
}

/// ± d adj(D)[M]: −M_ij times all pivots but two, and on the diagonal Σ M_kk times all but two.
fn once<T: Real>(others: &Others<'_, T>, parity: Parity, m: &[T], derivative: &mut [T], n: usize) {
    derivative.fill(T::ZERO);
    for i in 0..n {
        for j in (0..n).filter(|j| *j != i) {
            let factor = parity.times(others.than(&[i.min(j), i.max(j)]));
            derivative[i * n + j] = -(factor * m[i * n + j]);
            derivative[i * n + i] += factor * m[j * n + j];
        }
    }
}

/// ± d² adj(D)[M, N]: the same with minors of two rows and all pivots but three.
fn twice<T: Real>(others: &Others<'_, T>, parity: Parity, [m, other]: [&[T]; 2], derivative: &mut [T], n: usize) {
    // M_ab N_cd + N_ab M_cd.
    let both = |a: usize, b: usize, c: usize, d: usize| {
        let mut sum = m[a * n + b] * other[c * n + d];
        sum += other[a * n + b] * m[c * n + d];
        sum
    };
    derivative.fill(T::ZERO);
    for (i, j) in (0..n).flat_map(|i| (0..n).map(move |j| (i, j))) {
        let mut sum = T::ZERO;
        for k in (0..n).filter(|k| *k != i && *k != j) {
            if i != j {
                let mut three = [i, j, k];
                three.sort_unstable();
                sum += others.than(&three) * (both(i, k, k, j) - both(i, j, k, k));
            }
            for l in (k + 1..n).filter(|l| i == j && *l != i) {
                let mut three = [i, k, l];
                three.sort_unstable();
                sum += others.than(&three) * (both(k, k, l, l) - both(k, l, l, k));
            }
        }
        derivative[i * n + j] = parity.times(sum);
    }
}

/// Products of all pivots but a few.
struct Others<'a, T> {
    /// Of those before and behind each.
    before: &'a [T],
    behind: &'a [T],
    /// Of those between any two.
    between: &'a [T],
}

impl<'a, T: Real> Others<'a, T> {
    /// `between` is empty where no two are ever left out.
    fn new(pivots: &[T], vectors: &'a mut [T], between: &'a mut [T]) -> Others<'a, T> {
        let n = pivots.len();
        let (before, behind) = vectors.split_at_mut(n);
        let mut product = T::ONE;
        for k in 0..n {
            before[k] = product;
            product *= pivots[k];
        }
        product = T::ONE;
        for k in (0..n).rev() {
            behind[k] = product;
            product *= pivots[k];
        }
        for (i, row) in between.chunks_exact_mut(n).enumerate() {
            product = T::ONE;
            for j in i + 1..n {
                row[j] = product;
                product *= pivots[j];
            }
        }
        Others { before, behind, between }
    }

    /// All but these, which ascend.
    fn than(&self, left_out: &[usize]) -> T {
        let (first, last) = (left_out[0], left_out[left_out.len() - 1]);
        let ends = self.before[first] * self.behind[last];
        left_out.windows(2).fold(ends, |product, pair| product * self.between[pair[0] * self.before.len() + pair[1]])
    }
}

/// Row and column of the largest entry, by absolute value, of those that are left at step k; the first of equals.
#[inline(always)]
fn largest<T: Real>(a: &[T], n: usize, k: usize) -> (usize, usize) {
    let mut best = (k, k, a[k * n + k].abs());
    for i in k..n {
        let row = &a[i * n + k..(i + 1) * n];
        // The largest of each lane, as vector registers find it.
        let mut lanes = [T::ZERO; LANES];
        let chunks = row.chunks_exact(LANES);
        let rest = chunks.remainder();
        for chunk in chunks {
            for (largest, x) in lanes.iter_mut().zip(chunk) {
                *largest = if x.abs() > *largest { x.abs() } else { *largest };
            }
        }
        let largest =
            lanes.iter().copied().chain(rest.iter().map(|x| x.abs())).fold(T::ZERO, |a, b| if b > a { b } else { a });
        if largest > best.2 {
            let j = row.iter().position(|x| x.abs() == largest).expect("it was found in this row");
            best = (i, k + j, largest);
        }
    }
    (best.0, best.1)
}

/// a becomes its packed factors with row `rows[i]` and column `columns[j]` of A in place (i, j) of L U.
struct CompletePivoting<'a, T> {
    a: &'a mut [T],
    rows: &'a mut [i64],
    columns: &'a mut [i64],
    n: usize,
}

impl<T: Real> WithSimd for CompletePivoting<'_, T> {
    type Output = Parity;
    #[inline(always)]
    fn with_simd<S: Simd>(self, _: S) -> Parity {
        let CompletePivoting { a, rows, columns, n } = self;
        let mut parity = Parity::Even;
        rows.iter_mut().zip(0..).for_each(|(row, k)| *row = k);
        columns.iter_mut().zip(0..).for_each(|(column, k)| *column = k);
        for k in 0..n {
            let (i, j) = largest(a, n, k);
            if i != k {
                swap_rows(a, n, i, k);
                rows.swap(i, k);
                parity.exchange();
            }
            if j != k {
                a.chunks_exact_mut(n).for_each(|row| row.swap(j, k));
                columns.swap(j, k);
                parity.exchange();
            }
            eliminate(a, n, k, n);
        }
        parity
    }
}
