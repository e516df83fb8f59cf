//! Hyperbolic sine, cosine and tangent.

use super::double_double::fast_sum;
use super::exponential::{LN_2_LOW, Reduced, reduce, scale};
use super::{BIAS, Bits, Lane, ROUND, clamp, nan_or, polynomial, power_of_two};
use std::f64::consts::{LN_2, LOG2_E};

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
/// Largest error 1.6 ULP on 6 million points.
#[inline(always)]
pub fn tanh<L: Lane>(x: L) -> L {
    // From 22 on the result rounds to 1. The low bits of the sum are k + BIAS, |x| = k ln 2 / 2 + h.
    let within = L::select(x.abs().greater(22.0), 22.0, x.abs());
    let sum = within.mul_add(2.0 * LOG2_E, ROUND + BIAS);
    let k = sum - (ROUND + BIAS);
    let scale = sum.to_bits() << 52;
    let (above, below) = (L::from_bits(scale), L::from_bits(L::Bits::from(ONE << 1).wrapping_sub(scale)));

    // near = tanh h; tiny numbers keep every bit.
    let h = (-k).mul_add(0.5 * LN_2, within);
    let square = h * h;
    let near = h + (h * square).mul_add(polynomial(&TANH_TERMS, square, square * square), k * (-0.5 * LN_2_LOW));

    // tanh |x| = (near (2^k + 1) + 2^k - 1) / (2^k + 1 + near (2^k - 1)). Written as a number of few bits, 1 - 1.5 ·
    // 2^-k, and the rest, the roundings of the quotient are those of the rest; for k = 0 that number is 0, and the
    // quotient is `near`.
    let base = below.mul_add(-1.5, 1.0);
    let some = k.greater(0.5);
    let rest =
        near.mul_add(base + 2.5, L::select(some, L::from(0.5) - base, 0.0)) / near.mul_add(above - 1.0, above + 1.0);
    nan_or(x, (rest + L::select(some, base, 0.0)).copysign(x))
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

/// (tanh(h) / h - 1) / h² in powers of h² for |h| <= ln 2 / 4; the hyperbolic tangent has a relative error of 2^-57.7.
const TANH_TERMS: [f64; 6] = [
    -0.3333333333333248,
    0.13333333332783218,
    -0.05396825278109044,
    0.0218693706455466,
    -0.008857306448615479,
    0.0034448090778165506,
];

/// The bits of 1.
const ONE: u64 = 1023 << 52;
