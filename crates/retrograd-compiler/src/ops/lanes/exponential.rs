//! Powers of e and 2.

use super::double_double::{fast_sum, quotient};
use super::{BIAS, Bits, Lane, ROUND, clamp, nan_or, polynomial, power_of_two};
use std::f64::consts::{LN_2, LOG2_E};

/// Exponential.
///
/// Largest error 0.92 ULP on 6 million points.
#[inline(always)]
pub fn exp<L: Lane>(x: L) -> L {
    // Beyond these the result is 0 or infinity.
    let within = clamp(x, -746.0, 710.0);
    // The low bits of the sum are k + 2 BIAS, x = k ln 2 + r.
    let sum = within.mul_add(LOG2_E, ROUND + 2.0 * BIAS);
    let k = sum - (ROUND + 2.0 * BIAS);
    let r = (-k).mul_add(LN_2_LOW, (-k).mul_add(LN_2, within));
    let value = r.mul_add(r.mul_add(polynomial(&EXP_FEW_TERMS, r, r * r), 1.0), 1.0);
    // 2^k as two factors of about 2^(k/2), because it may be out of range where the result is not.
    let half = sum.to_bits() >> 1;
    let rest = sum.to_bits().wrapping_sub(half);
    nan_or(x, value * L::from_bits(half << 52) * L::from_bits(rest << 52))
}

/// 2 to the power of `x`.
///
/// Largest error 0.76 ULP on 0.72 million points.
#[inline(always)]
pub fn exp2<L: Lane>(x: L) -> L {
    let (head, k) = exp2_of(clamp(x, -1080.0, 1030.0), 0.0.into());
    nan_or(x, scale(head, k))
}

/// `exp(x) - 1`, without cancellation around 0.
///
/// Largest error 1.06 ULP on 0.68 million points.
#[inline(always)]
pub fn expm1<L: Lane>(x: L) -> L {
    // Below -40 the result rounds to -1.
    let Reduced { k, near, low } = reduce(clamp(x, -40.0, 710.0));
    let (grown, grown_low) = expm1_near(near, low);
    // 2^k (e^r - 1 + 1 - 2^-k), where the last two are 0 for k = 0.
    let (base, base_low) = fast_sum(1.0.into(), -power_of_two(L::select(k.greater(100.0), -100.0, -k)));
    let (sum, lost) = fast_sum(base, grown);
    nan_or(x, scale(sum + (lost + (grown_low + base_low)), k).copysign(x))
}

/// Logistic function, `1 / (1 + exp(-x))`.
///
/// Largest error 0.76 ULP on 0.68 million points.
#[inline(always)]
pub fn logistic<L: Lane>(x: L) -> L {
    // e^-|x| = 2^k (above + above_low); below -746 it is 0.
    let Reduced { k, near, low } = reduce(clamp(-x.abs(), -746.0, 0.0));
    let (head, tail) = exp_near(near, low);
    let (above, above_low) = fast_sum(head, tail);
    let (first, second) = powers_of_two(k);
    let whole = first * second;
    let below = above.mul_add(whole, 1.0);
    let below_low = above_low.mul_add(whole, above.mul_add(whole, L::from(1.0) - below));

    // 1 / (1 + e^-|x|) to the right and e^-|x| / (1 + e^-|x|) to the left, where 2^k comes last because it may be
    // denormal.
    let left = x.less(0.0);
    let (value, value_low) = quotient(L::select(left, above, 1.0), L::select(left, above_low, 0.0), below, below_low);
    let value = value + value_low;
    nan_or(x, L::select(left, value * first * second, value))
}

/// `k ln 2 + near + low`, `|near + low|` hardly above ln 2 / 2.
pub(super) struct Reduced<L> {
    pub(super) k: L,
    pub(super) near: L,
    pub(super) low: L,
}

/// Subtracts the nearest multiple of ln 2; `near` is exact, see [`LN_2_LOW`].
#[inline(always)]
pub(super) fn reduce<L: Lane>(x: L) -> Reduced<L> {
    let k = x.mul_add(LOG2_E, ROUND) - ROUND;
    Reduced { k, near: (-k).mul_add(LN_2, x), low: -k * LN_2_LOW }
}

/// `e^(near + low)` as a sum, the second term below a tenth of the first.
#[inline(always)]
pub(super) fn exp_near<L: Lane>(near: L, low: L) -> (L, L) {
    // 1 + near + low + r² p(r), with the rounding error of 1 + near kept.
    let r = near + low;
    let square = r * r;
    let (head, lost) = fast_sum(1.0.into(), near);
    (head, square.mul_add(polynomial(&EXP_TERMS, r, square), low + lost))
}

/// `e^(near + low) - 1` and what rounding took from it; tiny numbers keep every bit.
#[inline(always)]
fn expm1_near<L: Lane>(near: L, low: L) -> (L, L) {
    let r = near + low;
    let square = r * r;
    fast_sum(near, square.mul_add(polynomial(&EXP_TERMS, r, square), low))
}

/// `2^(x + low)` as a number around 1 and the `k` of the factor 2^k, `low` being tiny and `|x|` below 2^51.
#[inline(always)]
pub(super) fn exp2_of<L: Lane>(x: L, low: L) -> (L, L) {
    // x - k is exact; times ln 2 it is near + its own rounding error and that of ln 2.
    let k = (x + ROUND) - ROUND;
    let r = x - k;
    let near = r * LN_2;
    let (head, tail) = exp_near(near, low.mul_add(LN_2, r.mul_add(LN_2_LOW, r.mul_add(LN_2, -near))));
    (head + tail, k)
}

/// `value * 2^k`, also where 2^k is out of range and the result is not.
#[inline(always)]
pub(super) fn scale<L: Lane>(value: L, k: L) -> L {
    let (first, second) = powers_of_two(k);
    value * first * second
}

/// 2^k as two factors of about 2^(k/2).
#[inline(always)]
fn powers_of_two<L: Lane>(k: L) -> (L, L) {
    let half = k.mul_add(0.5, ROUND + BIAS).to_bits();
    let rest = (k + (ROUND + 2.0 * BIAS)).to_bits().wrapping_sub(half);
    (L::from_bits(half << 52), L::from_bits(rest << 52))
}

/// ln 2 = `LN_2` + this. With fused multiply-add `x - k LN_2` is exact: a multiple of 2^-54 below 1/2.
pub(super) const LN_2_LOW: f64 = 2.3190468138462996e-17;

/// (e^r - 1 - r) / r² for |r| <= ln 2 / 2; e^r - 1 has a relative error of 2^-61.7.
const EXP_TERMS: [f64; 11] = [
    0.5,
    0.16666666666666677,
    0.0416666666666667,
    0.008333333333321579,
    0.001388888888886676,
    0.0001984126988626638,
    2.4801587360701067e-05,
    2.755724406168831e-06,
    2.755724263764539e-07,
    2.5109090515039286e-08,
    2.0924481011756333e-09,
];

/// The same with an error of 2^-57.9 in e^r, which is enough for a result that is rounded to one number.
const EXP_FEW_TERMS: [f64; 10] = [
    0.5000000000000011,
    0.16666666666666413,
    0.04166666666653006,
    0.008333333333494593,
    0.0013888888943661382,
    0.00019841269506364553,
    2.480149306277083e-05,
    2.7557586495978958e-06,
    2.7630262455419766e-07,
    2.5000045990930663e-08,
];
