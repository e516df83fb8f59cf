//! The adjugate of a matrix, by factors with complete pivoting.

use pulp::{Simd, WithSimd};

use super::dense::{LANES, LU_LOWER, Parity, Real, eliminate, is_nan, permutation, subtract, swap_rows, triangular_solve, wide};

/// The adjugate: adj(A) A = det(A) I, also where A is singular. `a` is lost, `work` is another matrix, `rows` and `columns` hold n each.
///
/// With complete pivoting P A Q = L U, so that adj(A) = ± Q adj(U) L⁻¹ P, and zero pivots come last. With the last column (u, w) of U apart,
/// adj(U) = det(U₁) [w U₁⁻¹, −U₁⁻¹ u; 0, 1], which does not divide by w. Where two pivots are zero the adjugate is zero.
pub(super) fn adjugate<T: Real>(
    a: &mut [T],
    work: &mut [T],
    rows: &mut [i64],
    columns: &mut [i64],
    result: &mut [T],
    scratch: &mut [T],
    n: usize,
) {
    if a.iter().any(|x| is_nan(*x * T::ZERO)) {
        // The search for pivots is for finite numbers.
        return result.fill(T::NAN);
    }
    let parity = wide(CompletePivoting { a, rows, columns, n });
    let Some(last) = n.checked_sub(1) else { return };
    if last > 0 && a[(last - 1) * n + last - 1] == T::ZERO {
        return result.fill(T::ZERO);
    }
    permutation(rows.iter().map(|row| *row as usize), work, n);
    triangular_solve(a, LU_LOWER, work, scratch, n, n);
    let minor = (0..last).fold(T::ONE, |product, k| product * a[k * n + k]);
    wide(Rows { a, work, minor, n });
    work[last * n..].iter_mut().for_each(|x| *x *= minor);
    for (row, column) in work.chunks_exact(n).zip(columns.iter()) {
        let to = &mut result[*column as usize * n..][..n];
        to.iter_mut().zip(row).for_each(|(to, x)| *to = parity.times(*x));
    }
}

/// All rows of det(U₁) [w U₁⁻¹, −U₁⁻¹ u] times what `work` holds, but for the last, which is only read.
struct Rows<'a, T> {
    a: &'a [T],
    work: &'a mut [T],
    minor: T,
    n: usize,
}

impl<T: Real> WithSimd for Rows<'_, T> {
    type Output = ();
    #[inline(always)]
    fn with_simd<S: Simd>(self, _: S) {
        let Rows { a, work, minor, n } = self;
        let last = n - 1;
        let (top, bottom) = work.split_at_mut(last * n);
        for i in (0..last).rev() {
            let (row, solved) = top[i * n..].split_at_mut(n);
            for (x, y) in row.iter_mut().zip(bottom.iter()) {
                *x = minor * (a[last * n + last] * *x - a[i * n + last] * *y);
            }
            for (k, other) in (i + 1..last).zip(solved.chunks_exact(n)) {
                subtract(row, a[i * n + k], other);
            }
            row.iter_mut().for_each(|x| *x /= a[i * n + i]);
        }
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
        let largest = lanes.iter().copied().chain(rest.iter().map(|x| x.abs())).fold(T::ZERO, |a, b| if b > a { b } else { a });
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
