//! Functions whose result is exact: rounding to integers, remainder, sign, least and greatest.

use super::{MANTISSA, TWO_TO_52, nan_or};

/// The greatest integer that is not above `x`.
#[inline(always)]
pub fn floor(x: f64) -> f64 {
    nan_or(x, x.floor())
}

/// The least integer that is not below `x`.
#[inline(always)]
pub fn ceil(x: f64) -> f64 {
    nan_or(x, x.ceil())
}

/// The integer nearest to `x`, of two equally near the even one.
#[inline(always)]
pub fn round(x: f64) -> f64 {
    nan_or(x, x.round_ties_even())
}

/// `x` without its fraction.
#[inline(always)]
pub fn trunc(x: f64) -> f64 {
    nan_or(x, x.trunc())
}

/// -1, 0 or 1 as `x` is below, at or above 0; a zero keeps its sign.
#[inline(always)]
pub fn sign(x: f64) -> f64 {
    nan_or(x, if x == 0.0 { x } else { 1.0f64.copysign(x) })
}

/// `|x|` with the sign of `y`; `|x|` where that is NaN, because which sign a NaN has is up to the compiler.
#[inline(always)]
pub fn copysign(x: f64, y: f64) -> f64 {
    nan_or(x, x.copysign(if y.is_nan() { 0.0 } else { y }))
}

/// The lesser of the two, where -0 is less than +0; NaN if either is.
#[inline(always)]
pub fn min(x: f64, y: f64) -> f64 {
    // Equal numbers have equal bits unless they are zeros, of which one with the sign is less.
    let equal = f64::from_bits(x.to_bits() | y.to_bits());
    let least = if x < y { x } else { y };
    either_nan(x, y, if x == y { equal } else { least })
}

/// The greater of the two, where +0 is greater than -0; NaN if either is.
#[inline(always)]
pub fn max(x: f64, y: f64) -> f64 {
    let equal = f64::from_bits(x.to_bits() & y.to_bits());
    let greatest = if x > y { x } else { y };
    either_nan(x, y, if x == y { equal } else { greatest })
}

/// What is left of `x` after taking `y` from it as often as possible, exactly; it has the sign of `x` (`fmod` in C, `%`
/// in Rust).
///
/// NaN if `x` is infinite or `y` is 0.
#[inline(always)]
pub fn rem(x: f64, y: f64) -> f64 {
    if rem_is_far(x, y) { rem_beyond(x, y) } else { rem_within(x, y) }
}

/// Whether `x / y` is beyond 2^53, where [`rem_within`] does not hold.
#[inline(always)]
pub fn rem_is_far(x: f64, y: f64) -> bool {
    (x / y).abs() >= 2.0 * TWO_TO_52
}

/// [`rem`] where it is not far, without a branch.
#[inline(always)]
pub fn rem_within(x: f64, y: f64) -> f64 {
    let (magnitude, step) = (x.abs(), y.abs());
    // The quotient may be rounded up to the next integer, then one step is to be given back. Either difference is
    // exact: a multiple of the last bit of the step, or of x if that is less, and below the step.
    let count = (magnitude / step).trunc();
    let left = (-count).mul_add(step, magnitude);
    let left = if left < 0.0 { left + step } else { left };
    let left = if (step == f64::INFINITY) & (magnitude < f64::INFINITY) { magnitude } else { left };
    nan_or(left, left.copysign(x))
}

/// [`rem`] where `|x| >= |y|`, `y` is 0 or `x` is infinite; slower, and needed only where it is far.
#[cold]
#[inline(never)]
pub fn rem_beyond(x: f64, y: f64) -> f64 {
    if !x.is_finite() || y.is_nan() || y == 0.0 {
        return f64::NAN;
    }
    let (integer, exponent) = parts(x);
    let (step, step_exponent) = parts(y);
    // integer 2^shift mod step, 64 factors of 2 at a time; everything is below 2^53, so 128 bits hold it.
    let mut shift = exponent - step_exponent;
    let mut left = integer % step;
    while shift > 0 {
        let factors = shift.min(64);
        left = (left << factors) % step;
        shift -= factors;
    }
    // The last bit of y, which for the least exponent is denormal.
    let last_bit = f64::from_bits(step_exponent << 52) / TWO_TO_52;
    (left as f64 * last_bit).copysign(x)
}

/// Mantissa and exponent field, the latter at least 1.
fn parts(x: f64) -> (u128, u64) {
    let field = x.to_bits() >> 52 & 0x7ff;
    let mantissa = x.to_bits() & MANTISSA;
    (u128::from(if field == 0 { mantissa } else { mantissa | 1 << 52 }), field.max(1))
}

#[inline(always)]
fn either_nan(x: f64, y: f64, value: f64) -> f64 {
    if x.is_nan() | y.is_nan() { f64::NAN } else { value }
}
