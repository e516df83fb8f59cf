//! Sums of two numbers, of which the second is what rounding took from the first.

use super::Lane;

/// `a + b`, exactly, where `a` is 0 or its exponent no less than that of `b`.
#[inline(always)]
pub(super) fn fast_sum<L: Lane>(a: L, b: L) -> (L, L) {
    let sum = a + b;
    (sum, b - (sum - a))
}

/// `a + b`, exactly.
#[inline(always)]
pub(super) fn sum<L: Lane>(a: L, b: L) -> (L, L) {
    let sum = a + b;
    let b_part = sum - a;
    (sum, (a - (sum - b_part)) + (b - b_part))
}

/// `a * b`, exactly unless the second part is denormal.
#[inline(always)]
pub(super) fn product<L: Lane>(a: L, b: L) -> (L, L) {
    let product = a * b;
    (product, a.mul_add(b, -product))
}

/// `(above + above_low) / (below + below_low)` as a quotient and its correction by what it leaves over.
#[inline(always)]
pub(super) fn quotient<L: Lane>(above: L, above_low: L, below: L, below_low: L) -> (L, L) {
    let inverse = L::from(1.0) / below;
    let quotient = above * inverse;
    let left = (-quotient).mul_add(below_low, (-quotient).mul_add(below, above) + above_low);
    (quotient, left * inverse)
}

/// The square root of `square + square_low` and its correction; both are 0 at 0.
#[inline(always)]
pub(super) fn root(square: f64, square_low: f64) -> (f64, f64) {
    let root = square.sqrt();
    let left = (-root).mul_add(root, square) + square_low;
    // The addend changes only the 0.
    (root, 0.5 * left / (root + f64::MIN_POSITIVE))
}
