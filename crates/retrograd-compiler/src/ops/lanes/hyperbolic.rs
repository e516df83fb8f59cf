//! Hyperbolic sine, cosine and tangent.

use super::exponential::{Reduced, expm1_near, reduce, scale};
use super::pairs::{fast_sum, quotient};
use super::{Lane, clamp, nan_or, polynomial, power_of_two};

/// Hyperbolic sine.
///
/// Largest error 0.73 ULP on 0.68 million points.
#[inline(always)]
pub fn sinh<L: Lane>(x: L) -> L {
    let Halves { k, near, odd, even, sum, difference, difference_low, .. } = halves(x);
    // 2 sinh |x| 2^-k = difference cosh r + sum sinh r; for k = 0 the first is 0, so tiny numbers keep every bit.
    let head = sum.mul_add(near, difference);
    let lost = sum.mul_add(near, difference - head);
    let value = head + difference.mul_add(even, sum.mul_add(odd, lost + difference_low));
    nan_or(x, scale(value, k - 1.0).copysign(x))
}

/// Hyperbolic cosine.
///
/// Largest error 0.83 ULP on 0.68 million points.
#[inline(always)]
pub fn cosh<L: Lane>(x: L) -> L {
    let Halves { k, near, odd, even, sum, sum_low, difference, .. } = halves(x);
    // 2 cosh x 2^-k = sum cosh r + difference sinh r.
    let head = difference.mul_add(near, sum);
    let lost = difference.mul_add(near, sum - head);
    let value = head + sum.mul_add(even, difference.mul_add(odd, lost + sum_low));
    nan_or(x, scale(value, k - 1.0))
}

/// Hyperbolic tangent.
///
/// Largest error 0.93 ULP on 1.2 million points.
#[inline(always)]
pub fn tanh<L: Lane>(x: L) -> L {
    // From 22 on the result rounds to 1. 2|x| = k ln 2 + r, and e^r - 1 = grown + grown_low.
    // For k = 0 that is all there is, so tiny numbers keep every bit.
    let Reduced { k, near, low } = reduce(clamp(x.abs(), 0.0, 22.0) * 2.0);
    let (grown, grown_low) = expm1_near(near, low);

    // tanh |x| = (e^2|x| - 1) / (e^2|x| + 1), above and below each with what rounding took from it.
    let scale = power_of_two(k);
    // From 2^53 on `scale + 1` is rounded, which is harmless as long as the two stay exactly 2 apart.
    let below_base = scale + 1.0;
    let above_base = below_base - 2.0;
    let above = scale.mul_add(grown, above_base);
    let above_low = scale.mul_add(grown_low, scale.mul_add(grown, above_base - above));
    let below = scale.mul_add(grown, below_base);
    let below_low = scale.mul_add(grown_low, scale.mul_add(grown, below_base - below));
    let (value, value_low) = quotient(above, above_low, below, below_low);
    nan_or(x, (value + value_low).copysign(x))
}

/// `|x| = k ln 2 + r` with sinh r = near + odd, cosh r = 1 + even, and the sum and difference of 1 and 2^-2k.
struct Halves<L> {
    k: L,
    near: L,
    odd: L,
    even: L,
    sum: L,
    sum_low: L,
    difference: L,
    difference_low: L,
}

#[inline(always)]
fn halves<L: Lane>(x: L) -> Halves<L> {
    // Beyond 711 the results are infinite.
    let Reduced { k, near, low } = reduce(clamp(x.abs(), 0.0, 711.0));
    let r = near + low;
    let square = r * r;
    let fourth = square * square;
    let odd = (r * square).mul_add(polynomial(&SINH_TERMS, square, fourth), low);
    let even = square.mul_add(0.5, fourth * polynomial(&COSH_TERMS, square, fourth));
    let other = power_of_two(L::select(k.greater(100.0), -200.0, k * -2.0));
    let (sum, sum_low) = fast_sum(1.0.into(), other);
    let (difference, difference_low) = fast_sum(1.0.into(), -other);
    Halves { k, near, odd, even, sum, sum_low, difference, difference_low }
}

/// (sinh(r) / r - 1) / r² in powers of r² for |r| <= ln 2 / 2; the hyperbolic sine has a relative error of 2^-61.7.
const SINH_TERMS: [f64; 5] =
    [0.16666666666666677, 0.008333333333321384, 0.00019841269886824677, 2.75572434397061e-06, 2.5109325878820768e-08];

/// (cosh(r) - 1 - r²/2) / r⁴ in powers of r² for |r| <= ln 2 / 2; the hyperbolic cosine has an error of 2^-70.
const COSH_TERMS: [f64; 5] =
    [0.041666666666666685, 0.001388888888887328, 2.480158734921798e-05, 2.7557251801573353e-07, 2.092177639546922e-09];
