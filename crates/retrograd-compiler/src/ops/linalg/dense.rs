//! Factorisations and solves of single dense matrices, row-major: all the arithmetic of the family, in plain loops whose innermost runs are
//! contiguous. The order of every sum is fixed, so that results are the same bits everywhere.

use std::ops::{AddAssign, Div, DivAssign, Mul, MulAssign, Neg, Sub, SubAssign};

use crate::ir::{Slice, SliceMut};
use crate::ops::lanes;
use crate::ops::matrix::Multiplied;

/// A float that matrices are made of.
pub(in crate::ops) trait Real:
    Copy
    + Multiplied
    + PartialOrd
    + Mul<Output = Self>
    + Div<Output = Self>
    + Sub<Output = Self>
    + Neg<Output = Self>
    + AddAssign
    + SubAssign
    + MulAssign
    + DivAssign
{
    const ZERO: Self;
    const ONE: Self;
    const NAN: Self;
    fn abs(self) -> Self;
    fn sqrt(self) -> Self;
    /// The natural logarithm, as the row `log` has it.
    fn log(self) -> Self;
    /// The elements of an argument; panics on another type.
    fn of(slice: Slice<'_>) -> &[Self];
    /// Elements to be written; panics on another type.
    fn of_mut<'a>(slice: &'a mut SliceMut<'_>) -> &'a mut [Self];
}

macro_rules! real {
    ($($float:ident $variant:ident,)*) => {$(
        impl Real for $float {
            const ZERO: $float = 0.0;
            const ONE: $float = 1.0;
            const NAN: $float = $float::NAN;
            fn abs(self) -> $float {
                $float::abs(self)
            }
            fn sqrt(self) -> $float {
                $float::sqrt(self)
            }
            #[allow(clippy::unnecessary_cast, reason = "f32 is widened and rounded")]
            fn log(self) -> $float {
                lanes::log(self as f64) as $float
            }
            fn of(slice: Slice<'_>) -> &[$float] {
                let Slice::$variant(x) = slice else { panic!("verified types: found {}", slice.dtype()) };
                x
            }
            fn of_mut<'a>(slice: &'a mut SliceMut<'_>) -> &'a mut [$float] {
                let dtype = slice.dtype();
                let SliceMut::$variant(x) = slice else { panic!("verified types: found {dtype}") };
                x
            }
        }
    )*};
}

real! {
    f32 F32,
    f64 F64,
}

/// Which triangle of a matrix, and what it is used as.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Triangle {
    pub(super) lower: bool,
    /// Stands for its transpose.
    pub(super) transposed: bool,
    /// Has ones on its diagonal, whatever is stored there.
    pub(super) unit: bool,
}

/// L of the packed factors of `lu`.
pub(super) const LU_LOWER: Triangle = Triangle { lower: true, transposed: false, unit: true };
/// U of the packed factors of `lu`.
pub(super) const LU_UPPER: Triangle = Triangle { lower: false, transposed: false, unit: false };

/// Partial sums of an inner product.
const LANES: usize = 8;

/// Σ x y, in partial sums that fit vector registers: term k goes to partial k mod lanes, the partials are added pairwise, the rest follow.
fn inner<T: Real>(x: &[T], y: &[T]) -> T {
    let mut partial = [T::ZERO; LANES];
    let (x_lanes, y_lanes) = (x.chunks_exact(LANES), y.chunks_exact(LANES));
    let rest = x_lanes.remainder().iter().zip(y_lanes.remainder());
    for (x, y) in x_lanes.zip(y_lanes) {
        for k in 0..LANES {
            partial[k] += x[k] * y[k];
        }
    }
    let mut half = LANES / 2;
    while half > 0 {
        for k in 0..half {
            let other = partial[k + half];
            partial[k] += other;
        }
        half /= 2;
    }
    rest.for_each(|(x, y)| partial[0] += *x * *y);
    partial[0]
}

/// x −= a y.
fn subtract<T: Real>(x: &mut [T], a: T, y: &[T]) {
    x.iter_mut().zip(y).for_each(|(x, y)| *x -= a * *y);
}

/// Two rows of a matrix of `m` columns, the first to be written.
fn two_rows<T>(x: &mut [T], m: usize, to: usize, from: usize) -> (&mut [T], &[T]) {
    if to < from {
        let (head, tail) = x.split_at_mut(from * m);
        (&mut head[to * m..][..m], &tail[..m])
    } else {
        let (head, tail) = x.split_at_mut(to * m);
        (&mut tail[..m], &head[from * m..][..m])
    }
}

fn swap_rows<T>(x: &mut [T], m: usize, a: usize, b: usize) {
    if a != b {
        let (head, tail) = x.split_at_mut(a.max(b) * m);
        head[a.min(b) * m..][..m].swap_with_slice(&mut tail[..m]);
    }
}

/// The factor L with A = L Lᵀ, from the lower triangle of A; zeros above. Where A is not positive definite all of the triangle is NaN.
/// By rows, each entry an inner product of two rows of L (Cholesky–Banachiewicz).
pub(super) fn cholesky<T: Real>(a: &[T], l: &mut [T], n: usize) {
    l.fill(T::ZERO);
    for i in 0..n {
        let (above, row) = l.split_at_mut(i * n);
        for j in 0..i {
            let other = &above[j * n..][..n];
            row[j] = (a[i * n + j] - inner(&row[..j], &other[..j])) / other[j];
        }
        let square = a[i * n + i] - inner(&row[..i], &row[..i]);
        row[i] = if square > T::ZERO { square.sqrt() } else { T::NAN };
    }
    // A NaN pivot is not enough: rows above it are right for another matrix.
    if (0..n).any(|i| is_nan(l[i * n + i])) {
        (0..n).for_each(|i| l[i * n..=i * n + i].fill(T::NAN));
    }
}

fn is_nan<T: Real>(x: T) -> bool {
    x.partial_cmp(&x).is_none()
}

/// Columns of a right side, and of a matrix under elimination, that are worked on while they are in cache. What an entry goes through does
/// not depend on it.
const PANEL: usize = 64;

/// x, of n rows and m columns, becomes T⁻¹ x for a triangle of the n×n matrix.
pub(super) fn triangular_solve<T: Real>(matrix: &[T], triangle: Triangle, x: &mut [T], n: usize, m: usize) {
    if m == 1 {
        return solve_vector(matrix, triangle, x, n);
    }
    for first in (0..m).step_by(PANEL) {
        let panel = first..m.min(first + PANEL);
        each_row(triangle, n, |i, others| {
            let row = &matrix[i * n..][..n];
            if !triangle.transposed {
                for k in others.clone() {
                    let (to, from) = two_rows(x, m, i, k);
                    subtract(&mut to[panel.clone()], row[k], &from[panel.clone()]);
                }
            }
            if !triangle.unit {
                x[i * m..][panel.clone()].iter_mut().for_each(|x| *x /= row[i]);
            }
            if triangle.transposed {
                for k in others {
                    let (to, from) = two_rows(x, m, k, i);
                    subtract(&mut to[panel.clone()], row[k], &from[panel.clone()]);
                }
            }
        });
    }
}

/// The same for a single column, along the rows of the triangle.
fn solve_vector<T: Real>(matrix: &[T], triangle: Triangle, x: &mut [T], n: usize) {
    each_row(triangle, n, |i, others| {
        let row = &matrix[i * n..][..n];
        if !triangle.transposed {
            let known = inner(&row[others.clone()], &x[others.clone()]);
            x[i] -= known;
        }
        if !triangle.unit {
            x[i] /= row[i];
        }
        if triangle.transposed {
            let known = x[i];
            subtract(&mut x[others.clone()], known, &row[others]);
        }
    });
}

/// Tells the rows of a triangle in the order in which they are solved, each with the other columns of the triangle in this row.
fn each_row(triangle: Triangle, n: usize, mut tell: impl FnMut(usize, std::ops::Range<usize>)) {
    for step in 0..n {
        let i = if triangle.lower != triangle.transposed { step } else { n - 1 - step };
        tell(i, if triangle.lower { 0..i } else { i + 1..n });
    }
}

/// Whether an even or an odd number of rows and columns were exchanged, as the factor of a determinant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Parity {
    Even,
    Odd,
}

impl Parity {
    fn exchange(&mut self) {
        *self = match self {
            Parity::Even => Parity::Odd,
            Parity::Odd => Parity::Even,
        };
    }

    fn times<T: Real>(self, x: T) -> T {
        match self {
            Parity::Even => x,
            Parity::Odd => -x,
        }
    }
}

/// The largest of the candidates by absolute value, the first of equals; a NaN counts as the largest, so that it is not lost.
fn pivot<T: Real>(candidates: impl Iterator<Item = (usize, T)>) -> Option<usize> {
    let mut best: Option<(usize, T)> = None;
    for (place, x) in candidates {
        let x = x.abs();
        if best.is_none_or(|(_, largest)| x > largest || (is_nan(x) && !is_nan(largest))) {
            best = Some((place, x));
        }
    }
    best.map(|(place, _)| place)
}

/// Subtracts multiples of row k from the rows below, in the columns before `end`, so that column k is zero there; the multiples stay in
/// its place.
fn eliminate<T: Real>(a: &mut [T], n: usize, k: usize, end: usize) {
    let divisor = a[k * n + k];
    // Then the whole column is zero, and so are the multiples.
    if divisor == T::ZERO {
        return;
    }
    let (above, below) = a.split_at_mut((k + 1) * n);
    let row = &above[k * n..];
    for other in below.chunks_exact_mut(n) {
        other[k] /= divisor;
        let multiple = other[k];
        subtract(&mut other[k + 1..end], multiple, &row[k + 1..end]);
    }
}

/// a becomes its packed factors, L below the diagonal and U on and above it, with row `rows[i]` of A in place i of L U; partial pivoting.
///
/// Panels of columns are factored first; then every row catches up with the pivots of the panel at once, while it is in cache.
pub(super) fn lu<T: Real>(a: &mut [T], rows: &mut [i64], n: usize) -> Parity {
    let mut parity = Parity::Even;
    rows.iter_mut().zip(0..).for_each(|(row, k)| *row = k);
    for first in (0..n).step_by(PANEL) {
        let end = n.min(first + PANEL);
        for k in first..end {
            let best = pivot((k..n).map(|i| (i, a[i * n + k]))).expect("a column has rows");
            if best != k {
                swap_rows(a, n, best, k);
                rows.swap(best, k);
                parity.exchange();
            }
            eliminate(a, n, k, end);
        }
        for i in first + 1..n {
            for k in (first..end.min(i)).filter(|_| end < n) {
                let (to, from) = two_rows(a, n, i, k);
                if from[k] != T::ZERO {
                    let multiple = to[k];
                    subtract(&mut to[end..], multiple, &from[end..]);
                }
            }
        }
    }
    parity
}

/// The rows of b in the order that `lu` brought those of A to.
pub(super) fn permute<T: Real>(b: &[T], rows: &[i64], x: &mut [T], m: usize) {
    if m == 0 {
        return;
    }
    for (x, row) in x.chunks_exact_mut(m).zip(rows) {
        x.copy_from_slice(&b[*row as usize * m..][..m]);
    }
}

/// The identity with its rows in the order that `lu` brought those of A to.
pub(super) fn permutation<T: Real>(rows: &[i64], x: &mut [T], n: usize) {
    x.fill(T::ZERO);
    rows.iter().enumerate().for_each(|(i, row)| x[i * n + *row as usize] = T::ONE);
}

/// x, permuted, becomes A⁻¹ x for the packed factors of A.
pub(super) fn lu_solve<T: Real>(factors: &[T], x: &mut [T], n: usize, m: usize) {
    triangular_solve(factors, LU_LOWER, x, n, m);
    triangular_solve(factors, LU_UPPER, x, n, m);
}

/// The determinant from the packed factors: the product of the pivots, in order.
pub(super) fn det<T: Real>(factors: &[T], parity: Parity, n: usize) -> T {
    parity.times((0..n).fold(T::ONE, |product, k| product * factors[k * n + k]))
}

/// The sign of the determinant from the packed factors; 0 where it is 0, NaN where it is NaN.
pub(super) fn det_sign<T: Real>(factors: &[T], parity: Parity, n: usize) -> T {
    let sign = |x: T| {
        if x > T::ZERO {
            T::ONE
        } else if x < T::ZERO {
            -T::ONE
        } else {
            x
        }
    };
    parity.times((0..n).fold(T::ONE, |product, k| product * sign(factors[k * n + k])))
}

/// log |det| from the packed factors: the sum over the pivots, in order; −∞ where one is zero.
pub(super) fn logdet<T: Real>(factors: &[T], n: usize) -> T {
    let mut sum = T::ZERO;
    (0..n).for_each(|k| sum += factors[k * n + k].abs().log());
    sum
}

/// The adjugate: adj(A) A = det(A) I, also where A is singular. `a` is lost, `work` is another matrix, `rows` and `columns` hold n each.
///
/// With complete pivoting P A Q = L U, so that adj(A) = ± Q adj(U) L⁻¹ P, and zero pivots come last. With the last column (u, w) of U apart,
/// adj(U) = det(U₁) [w U₁⁻¹, −U₁⁻¹ u; 0, 1], which does not divide by w. Where two pivots are zero the adjugate is zero.
pub(super) fn adjugate<T: Real>(a: &mut [T], work: &mut [T], rows: &mut [i64], columns: &mut [i64], result: &mut [T], n: usize) {
    if a.iter().any(|x| is_nan(*x * T::ZERO)) {
        // The search for pivots is for finite numbers.
        return result.fill(T::NAN);
    }
    let parity = complete_pivoting(a, rows, columns, n);
    let Some(last) = n.checked_sub(1) else { return };
    if last > 0 && a[(last - 1) * n + last - 1] == T::ZERO {
        return result.fill(T::ZERO);
    }
    permutation(rows, work, n);
    triangular_solve(a, LU_LOWER, work, n, n);
    let minor = (0..last).fold(T::ONE, |product, k| product * a[k * n + k]);
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
    bottom.iter_mut().for_each(|x| *x *= minor);
    for (row, column) in work.chunks_exact(n).zip(columns.iter()) {
        let to = &mut result[*column as usize * n..][..n];
        to.iter_mut().zip(row).for_each(|(to, x)| *to = parity.times(*x));
    }
}

/// Row and column of the largest entry, by absolute value, of those that are left at step k; the first of equals.
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
fn complete_pivoting<T: Real>(a: &mut [T], rows: &mut [i64], columns: &mut [i64], n: usize) -> Parity {
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
