//! Factorisations and solves of single dense matrices, row-major: all the arithmetic of the family. Panels are worked
//! on in plain loops whose innermost runs are contiguous, the rest by products of matrices. The order of every sum is
//! fixed, so that results are the same bits everywhere; products that are added or subtracted are fused.

use std::ops::{Add, AddAssign, Div, DivAssign, Mul, MulAssign, Neg, Sub, SubAssign};

use pulp::{Arch, Simd, WithSimd};

use crate::ir::{Slice, SliceMut};
use crate::ops::lanes;
use crate::ops::matrix::{Extents, Matrix, Multiplied, Target, multiply};

/// A float that matrices are made of.
pub(in crate::ops) trait Real:
    Copy
    + Multiplied
    + PartialOrd
    + Add<Output = Self>
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
    /// From 1 to the next number.
    const EPSILON: Self;
    fn abs(self) -> Self;
    fn sqrt(self) -> Self;
    /// `self · factor + term`, rounded once.
    fn fused(self, factor: Self, term: Self) -> Self;
    /// A count as a number; and back.
    fn count(count: usize) -> Self;
    fn index(self) -> usize;
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
            const EPSILON: $float = $float::EPSILON;
            fn abs(self) -> $float {
                $float::abs(self)
            }
            fn sqrt(self) -> $float {
                $float::sqrt(self)
            }
            fn count(count: usize) -> $float {
                count as $float
            }
            fn index(self) -> usize {
                self as usize
            }
            #[inline(always)]
            fn fused(self, factor: $float, term: $float) -> $float {
                self.mul_add(factor, term)
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

impl Triangle {
    fn is_solved_downwards(self) -> bool {
        self.lower != self.transposed
    }
}

/// L of the packed factors of `lu`.
pub(super) const LU_LOWER: Triangle = Triangle { lower: true, transposed: false, unit: true };
/// U of the packed factors of `lu`.
pub(super) const LU_UPPER: Triangle = Triangle { lower: false, transposed: false, unit: false };

/// A lower triangle with its diagonal.
const LOWER: Triangle = Triangle { lower: true, transposed: false, unit: false };

/// Partial sums of an inner product.
pub(super) const LANES: usize = 8;

/// Code compiled for every machine, and run as this one allows.
pub(in crate::ops) fn wide<W: WithSimd>(code: W) -> W::Output {
    Arch::new().dispatch(code)
}

/// Σ x y, in partial sums that fit vector registers: term k goes to partial k mod lanes, the partials are added
/// pairwise, the rest follow.
#[inline(always)]
pub(in crate::ops) fn inner<T: Real>(x: &[T], y: &[T]) -> T {
    let mut partial = [T::ZERO; LANES];
    let (x_lanes, y_lanes) = (x.chunks_exact(LANES), y.chunks_exact(LANES));
    let rest = x_lanes.remainder().iter().zip(y_lanes.remainder());
    for (x, y) in x_lanes.zip(y_lanes) {
        for k in 0..LANES {
            partial[k] = x[k].fused(y[k], partial[k]);
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
    rest.for_each(|(x, y)| partial[0] = x.fused(*y, partial[0]));
    partial[0]
}

/// x −= a y.
#[inline(always)]
pub(in crate::ops) fn subtract<T: Real>(x: &mut [T], a: T, y: &[T]) {
    let multiple = -a;
    x.iter_mut().zip(y).for_each(|(x, y)| *x = multiple.fused(*y, *x));
}

/// Two rows of a matrix of `m` columns, the first to be written.
#[inline(always)]
fn two_rows<T>(x: &mut [T], m: usize, to: usize, from: usize) -> (&mut [T], &[T]) {
    if to < from {
        let (head, tail) = x.split_at_mut(from * m);
        (&mut head[to * m..][..m], &tail[..m])
    } else {
        let (head, tail) = x.split_at_mut(to * m);
        (&mut tail[..m], &head[from * m..][..m])
    }
}

#[inline(always)]
pub(super) fn swap_rows<T>(x: &mut [T], m: usize, a: usize, b: usize) {
    if a != b {
        let (head, tail) = x.split_at_mut(a.max(b) * m);
        head[a.min(b) * m..][..m].swap_with_slice(&mut tail[..m]);
    }
}

/// The factor L with A = L Lᵀ, from the lower triangle of A; zeros above. Where A is not positive definite all of the
/// triangle is NaN.
///
/// A square on the diagonal is factored, the rows below are solved with it, side by side in lanes; then products bring
/// the triangle that is left up to date.
pub(super) fn cholesky<T: Real>(a: &[T], l: &mut [T], scratch: &mut [T], n: usize) {
    l.copy_from_slice(a);
    for first in (0..n).step_by(PANEL) {
        let end = n.min(first + PANEL);
        let (above, below) = l.split_at_mut(end * n);
        let square = &mut above[first * n + first..];
        wide(CholeskySquare { square, n, width: end - first });
        if below.is_empty() {
            break;
        }
        let (m, k) = (n - end, end - first);
        let (panel, scratch) = scratch.split_at_mut(m * k);
        transpose(&below[first..], panel, [n, m], [m, k]);
        wide(SolveRows { square: Matrix::new(square, n, 1), triangle: LOWER, x: panel, m });
        transpose(panel, &mut below[first..], [m, n], [k, m]);
        for (part, rows) in below.chunks_mut(SQUARE * n).enumerate() {
            let (i, height) = (part * SQUARE, rows.len() / n);
            let (left, right) = (Matrix::new(&panel[i..], 1, m), Matrix::new(panel, m, 1));
            multiply(
                Target::Subtract,
                Extents { m: height, n: i + height, k },
                left,
                right,
                &mut rows[end..],
                n,
                scratch,
            );
        }
    }
    // A NaN pivot is not enough: rows above it are right for another matrix.
    let fails = (0..n).any(|i| is_nan(l[i * n + i]));
    for (i, row) in l.chunks_exact_mut(n.max(1)).enumerate() {
        row[i + 1..].fill(T::ZERO);
        if fails {
            row[..=i].fill(T::NAN);
        }
    }
}

/// Rows of a triangle that one product brings up to date; what it writes above the diagonal is not read.
const SQUARE: usize = 96;

/// L of a square of at most [`PANEL`] rows, in the place of its lower triangle.
struct CholeskySquare<'a, T> {
    square: &'a mut [T],
    n: usize,
    width: usize,
}

impl<T: Real> WithSimd for CholeskySquare<'_, T> {
    type Output = ();
    #[inline(always)]
    fn with_simd<S: Simd>(self, _: S) {
        let CholeskySquare { square, n, width } = self;
        // Both triangles, so that a column is a row, too.
        let mut rows = [[T::ZERO; PANEL]; PANEL];
        for i in 0..width {
            for j in 0..=i {
                (rows[i][j], rows[j][i]) = (square[i * n + j], square[i * n + j]);
            }
        }
        for k in 0..width {
            let pivot = if rows[k][k] > T::ZERO { rows[k][k].sqrt() } else { T::NAN };
            let mut column = rows[k];
            column[..k].fill(T::ZERO);
            column.iter_mut().for_each(|x| *x /= pivot);
            column[k] = pivot;
            for i in k..width {
                square[i * n + k] = column[i];
                let multiple = -column[i];
                (0..PANEL).for_each(|j| rows[i][j] = multiple.fused(column[j], rows[i][j]));
            }
        }
    }
}

/// Elements (i, j) of `from`, of so many rows and columns, to (j, i) of `to`; `down` is how far rows are apart in each.
fn transpose<T: Real>(from: &[T], to: &mut [T], down: [usize; 2], [rows, columns]: [usize; 2]) {
    for first in (0..rows).step_by(LANES) {
        let last = rows.min(first + LANES);
        for (j, to) in to.chunks_mut(down[1]).take(columns).enumerate() {
            (first..last).for_each(|i| to[i] = from[i * down[0] + j]);
        }
    }
}

#[inline(always)]
pub(in crate::ops) fn is_nan<T: Real>(x: T) -> bool {
    x.partial_cmp(&x).is_none()
}

/// Columns that are factored, and rows that are solved, before a product brings the others up to date.
const PANEL: usize = 32;

/// x, of n rows and m columns, becomes T⁻¹ x for a triangle of the n×n matrix.
///
/// Panels of rows are solved, each followed by a product for the rows that are not.
pub(super) fn triangular_solve<T: Real>(
    matrix: &[T],
    triangle: Triangle,
    x: &mut [T],
    scratch: &mut [T],
    n: usize,
    m: usize,
) {
    if m == 1 {
        return wide(SolveVector { matrix, triangle, x, n });
    }
    let whole = if triangle.transposed { Matrix::new(matrix, 1, n) } else { Matrix::new(matrix, n, 1) };
    for step in 0..n.div_ceil(PANEL) {
        let downwards = triangle.is_solved_downwards();
        let first = if downwards { step } else { n.div_ceil(PANEL) - 1 - step } * PANEL;
        let end = n.min(first + PANEL);
        let square = whole.from(first, first);
        wide(SolveRows { square, triangle, x: &mut x[first * m..end * m], m });
        let k = end - first;
        if downwards && end < n {
            let (above, below) = x.split_at_mut(end * m);
            let (a, b) = (whole.from(end, first), Matrix::new(&above[first * m..], m, 1));
            multiply(Target::Subtract, Extents { m: n - end, n: m, k }, a, b, below, m, scratch);
        } else if !downwards && first > 0 {
            let (above, below) = x.split_at_mut(first * m);
            let (a, b) = (whole.from(0, first), Matrix::new(below, m, 1));
            multiply(Target::Subtract, Extents { m: first, n: m, k }, a, b, above, m, scratch);
        }
    }
}

/// The rows of x, as many as it has and at most [`PANEL`], against the square on the diagonal.
struct SolveRows<'a, T> {
    square: Matrix<'a, T>,
    triangle: Triangle,
    x: &'a mut [T],
    m: usize,
}

impl<T: Real> SolveRows<'_, T> {
    /// The rows in the order of solving, each with those that are known before it.
    #[inline(always)]
    fn rows(&self) -> impl Iterator<Item = (usize, std::ops::Range<usize>)> + use<T> {
        let (n, downwards) = (self.x.len() / self.m, self.triangle.is_solved_downwards());
        (0..n).map(move |step| if downwards { (step, 0..step) } else { (n - 1 - step, n - step..n) })
    }

    /// So many columns from `first` on, a row of which stays in registers while others are subtracted from it.
    #[inline(always)]
    fn run_abreast(&mut self, square: &[[T; PANEL]; PANEL], first: usize) {
        let place = |i: usize| i * self.m + first;
        for (i, known) in self.rows() {
            let mut row: [T; ABREAST] = *self.x[place(i)..].first_chunk().expect("a row has these columns");
            for k in known {
                let (other, multiple): (&[T; ABREAST], T) =
                    (self.x[place(k)..].first_chunk().expect("so do others"), -square[i][k]);
                (0..ABREAST).for_each(|j| row[j] = multiple.fused(other[j], row[j]));
            }
            if !self.triangle.unit {
                row.iter_mut().for_each(|x| *x /= square[i][i]);
            }
            self.x[place(i)..][..ABREAST].copy_from_slice(&row);
        }
    }
}

/// Columns that are solved side by side.
const ABREAST: usize = 32;

impl<T: Real> WithSimd for SolveRows<'_, T> {
    type Output = ();
    #[inline(always)]
    fn with_simd<S: Simd>(mut self, _: S) {
        if self.m == 0 {
            return;
        }
        let abreast = self.m / ABREAST * ABREAST;
        if abreast > 0 {
            let mut square = [[T::ZERO; PANEL]; PANEL];
            for (i, known) in self.rows() {
                known.chain([i]).for_each(|k| square[i][k] = self.square.at(i, k));
            }
            (0..abreast).step_by(ABREAST).for_each(|first| self.run_abreast(&square, first));
        }
        for (i, known) in self.rows() {
            let SolveRows { square, triangle, ref mut x, m } = self;
            for k in known {
                let (to, from) = two_rows(x, m, i, k);
                subtract(&mut to[abreast..], square.at(i, k), &from[abreast..]);
            }
            if !triangle.unit {
                x[i * m..][abreast..m].iter_mut().for_each(|x| *x /= square.at(i, i));
            }
        }
    }
}

/// The same for a single column, along the rows of the triangle.
struct SolveVector<'a, T> {
    matrix: &'a [T],
    triangle: Triangle,
    x: &'a mut [T],
    n: usize,
}

impl<T: Real> WithSimd for SolveVector<'_, T> {
    type Output = ();
    #[inline(always)]
    fn with_simd<S: Simd>(self, _: S) {
        let SolveVector { matrix, triangle, x, n } = self;
        for step in 0..n {
            let i = if triangle.is_solved_downwards() { step } else { n - 1 - step };
            let others = if triangle.lower { 0..i } else { i + 1..n };
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
        }
    }
}

/// Whether an even or an odd number of rows and columns were exchanged, as the factor of a determinant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Parity {
    Even,
    Odd,
}

impl Parity {
    pub(super) fn exchange(&mut self) {
        *self = match self {
            Parity::Even => Parity::Odd,
            Parity::Odd => Parity::Even,
        };
    }

    pub(super) fn times<T: Real>(self, x: T) -> T {
        match self {
            Parity::Even => x,
            Parity::Odd => -x,
        }
    }
}

/// The largest of the candidates by absolute value, the first of equals; a NaN counts as the largest, so that it is not
/// lost.
#[inline(always)]
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

/// Subtracts multiples of row k from the rows below, in the columns before `end`, so that column k is zero there; the
/// multiples stay in its place.
#[inline(always)]
pub(super) fn eliminate<T: Real>(a: &mut [T], n: usize, k: usize, end: usize) {
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

/// The factors of a panel of columns, `first..end`, with whole rows exchanged.
struct Panel<'a, T> {
    a: &'a mut [T],
    rows: &'a mut [i64],
    n: usize,
    first: usize,
    end: usize,
}

impl<T: Real> WithSimd for Panel<'_, T> {
    type Output = ();
    #[inline(always)]
    fn with_simd<S: Simd>(self, _: S) {
        let Panel { a, rows, n, first, end } = self;
        for k in first..end {
            let best = pivot((k..n).map(|i| (i, a[i * n + k]))).expect("a column has rows");
            if best != k {
                swap_rows(a, n, best, k);
                rows.swap(best, k);
            }
            eliminate(a, n, k, end);
        }
        for i in first + 1..end {
            for k in first..i {
                let (to, from) = two_rows(a, n, i, k);
                let multiple = to[k];
                subtract(&mut to[end..], multiple, &from[end..]);
            }
        }
    }
}

/// a becomes its packed factors, L below the diagonal and U on and above it, with row `rows[i]` of A in place i of L U;
/// partial pivoting.
///
/// Panels of columns are factored with their rows of U; then a product brings all that is left up to date
/// (right-looking).
pub(super) fn lu<T: Real>(a: &mut [T], rows: &mut [i64], scratch: &mut [T], n: usize) {
    rows.iter_mut().zip(0..).for_each(|(row, k)| *row = k);
    for first in (0..n).step_by(PANEL) {
        let end = n.min(first + PANEL);
        wide(Panel { a, rows, n, first, end });
        let (above, below) = a.split_at_mut(end * n);
        if !below.is_empty() {
            let (panel, scratch) = copied(below, n, first..end, scratch);
            let (lower, upper) = (Matrix::new(panel, end - first, 1), Matrix::new(&above[first * n + end..], n, 1));
            let extents = Extents { m: n - end, n: n - end, k: end - first };
            multiply(Target::Subtract, extents, lower, upper, &mut below[end..], n, scratch);
        }
    }
}

/// Columns of rows of n, in the first part of scratch, and what is left of it.
fn copied<'a, T: Real>(
    rows: &[T],
    n: usize,
    columns: std::ops::Range<usize>,
    scratch: &'a mut [T],
) -> (&'a [T], &'a mut [T]) {
    let width = columns.len();
    let (panel, rest) = scratch.split_at_mut(rows.len() / n * width);
    panel
        .chunks_exact_mut(width)
        .zip(rows.chunks_exact(n))
        .for_each(|(to, row)| to.copy_from_slice(&row[columns.clone()]));
    (panel, rest)
}

/// Elements of scratch for the factors of matrices of order n and for solving with m right sides.
pub(super) fn scratch_elements(n: usize, m: usize) -> usize {
    if n <= PANEL {
        return 0;
    }
    n * PANEL + Extents { m: n, n: n.max(m), k: PANEL }.scratch()
}

/// The rows of b in the order that `lu` brought those of A to.
pub(super) fn permute<T: Real>(b: &[T], rows: &[T], x: &mut [T], m: usize) {
    if m == 0 {
        return;
    }
    for (x, row) in x.chunks_exact_mut(m).zip(rows) {
        x.copy_from_slice(&b[row.index() * m..][..m]);
    }
}

/// The rows of b back where they came from: the inverse of [`permute`].
pub(super) fn permute_back<T: Real>(b: &[T], rows: &[T], x: &mut [T], m: usize) {
    if m == 0 {
        return;
    }
    for (b, row) in b.chunks_exact(m).zip(rows) {
        x[row.index() * m..][..m].copy_from_slice(b);
    }
}

/// The parity of a permutation, by its cycles; `seen` holds as many numbers.
pub(super) fn parity<T: Real>(rows: &[T], seen: &mut [i64]) -> Parity {
    let mut parity = Parity::Even;
    seen.fill(0);
    for first in 0..rows.len() {
        let mut place = first;
        while seen[place] == 0 {
            seen[place] = 1;
            place = rows[place].index();
            // A cycle of n places is n − 1 exchanges.
            if place != first {
                parity.exchange();
            }
        }
    }
    parity
}

/// The identity with its rows in this order.
pub(super) fn permutation<T: Real>(rows: impl Iterator<Item = usize>, x: &mut [T], n: usize) {
    x.fill(T::ZERO);
    rows.enumerate().for_each(|(i, row)| x[i * n + row] = T::ONE);
}

/// x becomes L⁻ᵀ U⁻ᵀ x for the packed factors of A: A⁻ᵀ x, permuted.
pub(super) fn lu_solve_transposed<T: Real>(factors: &[T], x: &mut [T], scratch: &mut [T], n: usize, m: usize) {
    triangular_solve(factors, Triangle { transposed: true, ..LU_UPPER }, x, scratch, n, m);
    triangular_solve(factors, Triangle { transposed: true, ..LU_LOWER }, x, scratch, n, m);
}

/// x, permuted, becomes A⁻¹ x for the packed factors of A.
pub(super) fn lu_solve<T: Real>(factors: &[T], x: &mut [T], scratch: &mut [T], n: usize, m: usize) {
    triangular_solve(factors, LU_LOWER, x, scratch, n, m);
    triangular_solve(factors, LU_UPPER, x, scratch, n, m);
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
