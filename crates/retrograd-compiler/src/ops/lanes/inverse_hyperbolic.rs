//! Inverse hyperbolic sine, cosine and tangent.

use super::double_double::{fast_sum, product, quotient, root, sum};
use super::logarithm::{Doubled, log_of, log_series, log_sum, split};
use super::{clamp, nan_or, power_of_two};

/// Inverse hyperbolic sine.
///
/// Largest error 0.76 ULP on 0.68 million points.
#[inline(always)]
pub fn asinh(x: f64) -> f64 {
    let magnitude = x.abs();
    // log(|x| + sqrt(x² + 1)), the root with its rounding error. The sum less 1 is |x| + (sqrt(x² + 1) - 1).
    let near = clamp(magnitude, 0.0, TWO_TO_30);
    let (square, square_low) = product(near, near);
    let (more, more_low) = sum(1.0, square);
    let (root, root_low) = root(more, more_low + square_low);
    let (less, lost) = fast_sum(near, root - 1.0);
    let value = log_of(sum_or_twice(near, root, root_low, magnitude), less, lost + root_low);
    nan_or(x, if magnitude < f64::INFINITY { value } else { magnitude }.copysign(x))
}

/// Inverse hyperbolic cosine; NaN below 1.
///
/// Largest error 0.67 ULP on 0.53 million points.
#[inline(always)]
pub fn acosh(x: f64) -> f64 {
    // log(x + sqrt(x² - 1)) in the same way. The sum less 1 is (x - 1) + sqrt(x² - 1).
    let near = clamp(x, 1.0, TWO_TO_30);
    let (square, square_low) = product(near, near);
    let (less, less_low) = sum(square, -1.0);
    let (less, less_low) = fast_sum(less, less_low + square_low);
    let (root, root_low) = root(less, less_low);
    let (less, lost) = fast_sum(root, near - 1.0);
    let value = log_of(sum_or_twice(near, root, root_low, x), less, lost + root_low);
    let value = if x < f64::INFINITY { value } else { x };
    if x >= 1.0 { value } else { f64::NAN }
}

/// Inverse hyperbolic tangent; infinite at -1 and 1, NaN beyond.
///
/// Largest error 0.56 ULP on 0.53 million points.
#[inline(always)]
pub fn atanh(x: f64) -> f64 {
    let magnitude = x.abs();
    // (1 + |x|) / (1 - |x|) = 2^k (1 + s) / (1 - s), s = (1 + |x| - 2^k (1 - |x|)) / (1 + |x| + 2^k (1 - |x|)).
    let (above, above_low) = fast_sum(1.0, magnitude);
    let (below, below_low) = fast_sum(1.0, -magnitude);
    let (k, _) = split(above / below);
    let factor = power_of_two(clamp(k, 0.0, 60.0));
    let (below, below_low) = (factor * below, factor * below_low);
    let (difference, difference_low) = fast_sum(above - below, above_low - below_low);
    let (total, total_low) = sum(above, below);
    let (s, s_low) = quotient(difference, difference_low, total, total_low + (above_low + below_low));
    // For k = 0 that is x.
    let s = if k == 0.0 { magnitude } else { s };
    let s_low = if k == 0.0 { 0.0 } else { s_low };
    // Half of k ln 2 + 2 s + s³ p(s²).
    let square = s * s;
    let value = 0.5 * log_sum(k, 2.0 * s, (s * square).mul_add(log_series(square), 2.0 * s_low));
    let inside = if magnitude < 1.0 { value } else { f64::INFINITY };
    if magnitude <= 1.0 { inside.copysign(x) } else { f64::NAN }
}

/// `near + root + root_low` up to [`TWO_TO_30`], from where on that is twice `x`.
#[inline(always)]
fn sum_or_twice(near: f64, root: f64, root_low: f64, x: f64) -> Doubled<f64> {
    let far = x > TWO_TO_30;
    let (total, lost) = sum(near, root);
    Doubled {
        value: if far { x } else { total },
        low: if far { 0.0 } else { lost + root_low },
        doublings: if far { 1.0 } else { 0.0 },
    }
}

/// From here on the square roots of x² ± 1 differ from x by less than 2^-60 x.
const TWO_TO_30: f64 = (1u64 << 30) as f64;
