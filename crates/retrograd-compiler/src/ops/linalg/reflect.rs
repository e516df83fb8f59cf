//! Q and R of a matrix, by reflections (Householder), panel after panel.
//!
//! The reflections of a panel are one: H = I − V T Vᵀ with V lower trapezoidal (R. Schreiber and C. Van Loan, A
//! storage-efficient WY representation for products of Householder transformations, 1989), so that all but the panels
//! is products of matrices.

use pulp::{Simd, WithSimd};

use super::dense::{Real, is_nan, wide};
use crate::ops::matrix::{self, Extents, Matrix, Target, multiply};

/// Columns that are reflected one by one before products bring the others up to date.
const PANEL: usize = 32;

/// Numbers of one row of a panel; columns that are not there are zero.
type Lanes<T> = [T; PANEL];

/// Q, m×n with orthonormal columns, and R, n×n and zero below its diagonal, with A = Q R, for m ≥ n. As LAPACK has it,
/// an entry on the diagonal of R has the sign opposite to that of what it was made from.
pub(super) fn qr<T: Real>(a: &[T], q: &mut [T], r: &mut [T], scratch: &mut [T], [m, n]: [usize; 2]) {
    if n == 0 {
        return;
    }
    q.copy_from_slice(a);
    let scale = Scale::of(q);
    scale.apply(q);
    let (turns, scratch) = scratch.split_at_mut(n.next_multiple_of(PANEL) * PANEL);
    let (turns, _) = turns.as_chunks_mut::<PANEL>();
    let (v, scratch) = scratch.split_at_mut(m * PANEL);
    for first in (0..n).step_by(PANEL) {
        let end = n.min(first + PANEL);
        let v = &mut v[..(m - first) * PANEL];
        let turn = &mut turns[first..first + PANEL];
        copy_panel(&q[first * n..], v, n, first..end);
        wide(Reflect { rows: v.as_chunks_mut().0, turn, width: end - first });
        copy_back(v, &mut q[first * n..], n, first..end);
        combine(v, turn, scratch);
        let turn = Matrix::new(turn.as_flattened(), PANEL, 1);
        turn_columns(v, turn, &mut q[first * n..], n, end, scratch);
    }
    for (i, (row, from)) in r.chunks_exact_mut(n).zip(q.chunks_exact(n)).enumerate() {
        row[..i].fill(T::ZERO);
        row[i..].copy_from_slice(&from[i..]);
    }
    scale.undo(r);
    for first in (0..n).step_by(PANEL).rev() {
        let end = n.min(first + PANEL);
        let v = &mut v[..(m - first) * PANEL];
        copy_panel(&q[first * n..], v, n, first..end);
        unit_trapezoid(v);
        // What Q is so far, below and to the right, with the identity before it.
        for (i, row) in q[first * n..].chunks_exact_mut(n).enumerate() {
            let known = if i < end - first { n } else { end };
            row[first..known].fill(T::ZERO);
            if i < end - first {
                row[first + i] = T::ONE;
            }
        }
        let turn = Matrix::new(turns[first..first + PANEL].as_flattened(), 1, PANEL);
        turn_columns(v, turn, &mut q[first * n..], n, first, scratch);
    }
}

/// Elements of scratch for an m×n matrix: T and V of panels, and what products need.
pub(super) fn scratch_elements(m: usize, n: usize) -> usize {
    let panel = |first: usize| {
        let (m, n) = (m - first, n - first);
        let extents = [(PANEL, PANEL, m), (PANEL, n, m), (PANEL, n, PANEL), (m, n, PANEL)];
        2 * n.max(PANEL) * PANEL
            + extents.map(|(m, n, k)| matrix::scratch_elements(Extents { m, n, k })).into_iter().max().unwrap_or(0)
    };
    let products = (0..n).step_by(PANEL).map(panel).max().unwrap_or(0);
    (n.next_multiple_of(PANEL) + m) * PANEL + products
}

/// How often all elements are multiplied by a power of two, so that no square of them is beyond the range of floats.
pub(in crate::ops) enum Scale {
    Up(usize),
    Down(usize),
}

const SCALE_STEP: usize = 1 << 20;

impl Scale {
    pub(in crate::ops) fn of<T: Real>(x: &[T]) -> Scale {
        let mut largest = x.iter().fold(T::ZERO, |largest, x| if x.abs() > largest { x.abs() } else { largest });
        let (step, mut count) = (T::count(SCALE_STEP), 0);
        if largest > step {
            // An infinity stays one, and becomes NaN.
            while largest > step && !is_nan(largest * T::ZERO) {
                (largest, count) = (largest / step, count + 1);
            }
            return Scale::Down(count);
        }
        while largest > T::ZERO && largest * step < T::ONE {
            (largest, count) = (largest * step, count + 1);
        }
        Scale::Up(count)
    }

    pub(in crate::ops) fn apply<T: Real>(&self, x: &mut [T]) {
        let step = T::count(SCALE_STEP);
        match self {
            Scale::Up(count) => (0..*count).for_each(|_| x.iter_mut().for_each(|x| *x *= step)),
            Scale::Down(count) => (0..*count).for_each(|_| x.iter_mut().for_each(|x| *x /= step)),
        }
    }

    pub(in crate::ops) fn undo<T: Real>(&self, x: &mut [T]) {
        match self {
            Scale::Up(count) => Scale::Down(*count).apply(x),
            Scale::Down(count) => Scale::Up(*count).apply(x),
        }
    }
}

/// Columns of rows of n as a panel.
fn copy_panel<T: Real>(rows: &[T], v: &mut [T], n: usize, columns: std::ops::Range<usize>) {
    for (to, row) in v.chunks_exact_mut(PANEL).zip(rows.chunks_exact(n)) {
        to[..columns.len()].copy_from_slice(&row[columns.clone()]);
        to[columns.len()..].fill(T::ZERO);
    }
}

/// A panel as columns of rows of n.
fn copy_back<T: Real>(v: &[T], rows: &mut [T], n: usize, columns: std::ops::Range<usize>) {
    for (from, row) in v.chunks_exact(PANEL).zip(rows.chunks_exact_mut(n)) {
        row[columns.clone()].copy_from_slice(&from[..columns.len()]);
    }
}

/// The columns of a panel, one after the other, reflected to what R has of them: on and above the diagonal R, below it
/// the vectors v, whose first entries are 1. `turn` gets their factors τ on its diagonal.
struct Reflect<'a, T> {
    rows: &'a mut [Lanes<T>],
    turn: &'a mut [Lanes<T>],
    width: usize,
}

impl<T: Real> WithSimd for Reflect<'_, T> {
    type Output = ();
    #[inline(always)]
    fn with_simd<S: Simd>(self, _: S) {
        let Reflect { rows, turn, width } = self;
        turn.as_flattened_mut().fill(T::ZERO);
        for j in 0..width {
            let (above, below) = rows.split_at_mut(j + 1);
            let top = &mut above[j];
            // What is below the diagonal, times itself and times all columns.
            let mut products = [T::ZERO; PANEL];
            for row in below.iter() {
                let x = row[j];
                (0..PANEL).for_each(|c| products[c] = x.fused(row[c], products[c]));
            }
            let (alpha, squares) = (top[j], products[j]);
            if squares == T::ZERO {
                below.iter_mut().for_each(|row| row[j] = T::ZERO);
                continue;
            }
            let length = alpha.fused(alpha, squares).sqrt();
            let beta = if alpha < T::ZERO { length } else { -length };
            let (inverse, tau) = (T::ONE / (alpha - beta), (beta - alpha) / beta);
            turn[j][j] = tau;
            let mut multiples = [T::ZERO; PANEL];
            for c in j + 1..PANEL {
                multiples[c] = tau * products[c].fused(inverse, top[c]);
                top[c] -= multiples[c];
            }
            top[j] = beta;
            for row in below {
                let v = row[j] * inverse;
                (0..PANEL).for_each(|c| row[c] = (-v).fused(multiples[c], row[c]));
                row[j] = v;
            }
        }
    }
}

/// V of a panel: ones on the diagonal, zeros above.
fn unit_trapezoid<T: Real>(v: &mut [T]) {
    for (i, row) in v.chunks_exact_mut(PANEL).enumerate().take(PANEL) {
        row[i..].fill(T::ZERO);
        row[i] = T::ONE;
    }
}

/// From V and the factors τ the transpose of T: column j of T is −τ_j T Vᵀ v_j above its diagonal, which is τ.
fn combine<T: Real>(v: &mut [T], turn: &mut [Lanes<T>], scratch: &mut [T]) {
    unit_trapezoid(v);
    let (square, scratch) = scratch.split_at_mut(PANEL * PANEL);
    let extents = Extents { m: PANEL, n: PANEL, k: v.len() / PANEL };
    multiply(Target::Set, extents, Matrix::new(v, 1, PANEL), Matrix::new(v, PANEL, 1), square, PANEL, scratch);
    wide(Combine { square: square.as_chunks().0, turn });
}

struct Combine<'a, T> {
    square: &'a [Lanes<T>],
    turn: &'a mut [Lanes<T>],
}

impl<T: Real> WithSimd for Combine<'_, T> {
    type Output = ();
    #[inline(always)]
    fn with_simd<S: Simd>(self, _: S) {
        let Combine { square, turn } = self;
        for j in 1..PANEL {
            let (before, column) = turn.split_at_mut(j);
            let column = &mut column[0];
            let tau = column[j];
            let mut sum = [T::ZERO; PANEL];
            for (column, x) in before.iter().zip(square[j]) {
                (0..PANEL).for_each(|i| sum[i] = x.fused(column[i], sum[i]));
            }
            (0..j).for_each(|i| column[i] = -tau * sum[i]);
        }
    }
}

/// The columns from `first` on of rows of n, C, become C − V T Vᵀ C.
fn turn_columns<T: Real>(v: &[T], turn: Matrix<'_, T>, rows: &mut [T], n: usize, first: usize, scratch: &mut [T]) {
    let (m, width) = (v.len() / PANEL, n - first);
    if width == 0 {
        return;
    }
    let (products, scratch) = scratch.split_at_mut(PANEL * width);
    let (turned, scratch) = scratch.split_at_mut(PANEL * width);
    let columns = Matrix::new(&rows[first..], n, 1);
    multiply(
        Target::Set,
        Extents { m: PANEL, n: width, k: m },
        Matrix::new(v, 1, PANEL),
        columns,
        products,
        width,
        scratch,
    );
    multiply(
        Target::Set,
        Extents { m: PANEL, n: width, k: PANEL },
        turn,
        Matrix::new(products, width, 1),
        turned,
        width,
        scratch,
    );
    let (v, turned) = (Matrix::new(v, PANEL, 1), Matrix::new(turned, width, 1));
    multiply(Target::Subtract, Extents { m, n: width, k: PANEL }, v, turned, &mut rows[first..], n, scratch);
}
