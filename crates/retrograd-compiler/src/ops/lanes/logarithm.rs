//! Logarithms.

use super::double_double::{fast_sum, sum};
use super::{BIAS, Bits, Lane, MANTISSA, TWO_TO_52, TWO_TO_54, exp, exp2, nan_or, polynomial, power_of_two};
use std::f64::consts::{LN_2, LOG2_E, LOG10_E, SQRT_2};

/// Natural logarithm; `-inf` at 0 and NaN below.
///
/// Largest error 0.60 ULP on 1.7 million points.
#[inline(always)]
pub fn log<L: Lane>(x: L) -> L {
    let (k, f) = split(x);
    let (head, tail) = log_near(f);
    of_positive(x, log_sum(k, head, tail))
}

/// Logarithm to the base 2, exact at powers of 2; `-inf` at 0 and NaN below.
///
/// Largest error 0.66 ULP on 0.53 million points.
#[inline(always)]
pub fn log2<L: Lane>(x: L) -> L {
    let (k, f) = split(x);
    let (head, tail) = log_near(f);
    let (high, low) = times(head, tail, LOG2_E, LOG2_E_LOW);
    let (sum, lost) = fast_sum(k, high);
    of_positive(x, sum + (lost + low))
}

/// Logarithm to the base 10, exact at powers of 10; `-inf` at 0 and NaN below.
///
/// Largest error 0.65 ULP on 0.53 million points.
#[inline(always)]
pub fn log10<L: Lane>(x: L) -> L {
    let (k, f) = split(x);
    let (head, tail) = log_near(f);
    let (high, low) = times(head, tail, LOG10_E, LOG10_E_LOW);
    let (sum, lost) = fast_sum(k * LOG10_2_SHORT, high);
    of_positive(x, sum + (k.mul_add(LOG10_2_SHORT_LOW, low) + lost))
}

/// `log(1 + x)`, without cancellation around 0; `-inf` at -1 and NaN below.
///
/// Largest error 0.62 ULP on 0.68 million points.
#[inline(always)]
pub fn log1p<L: Lane>(x: L) -> L {
    let (one_more, lost) = sum(1.0.into(), x);
    let finite = log_of(Doubled { value: one_more, low: lost, doublings: 0.0.into() }, x, 0.0.into()).copysign(x);
    let above = L::select(x.less(f64::INFINITY), finite, x);
    let otherwise = L::select(x.equals(-1.0), f64::NEG_INFINITY, f64::NAN);
    L::select(x.greater(-1.0), above, otherwise)
}

/// `log(exp(x) + exp(y))` without overflow: infinite where either is `inf`, and `-inf` where both are that.
///
/// The greater argument and a logarithm, each rounded, are added: largest error 1.4 ULP of the greater of the two.
#[inline(always)]
pub fn logaddexp<L: Lane>(x: L, y: L) -> L {
    let (high, distance) = apart(x, y);
    let value = high + log1p(exp(distance));
    sum_of_powers(x, y, high + LN_2, value)
}

/// `log2(2^x + 2^y)`, as [`logaddexp`].
#[inline(always)]
pub fn logaddexp2<L: Lane>(x: L, y: L) -> L {
    let (high, distance) = apart(x, y);
    let value = high + log1p(exp2(distance)) * LOG2_E;
    sum_of_powers(x, y, high + 1.0, value)
}

/// The greater of two numbers, and the other less that.
#[inline(always)]
fn apart<L: Lane>(x: L, y: L) -> (L, L) {
    let above = x.greater(y);
    let high = L::select(above, x, y);
    (high, L::select(above, y, x) - high)
}

/// `value`, but `of_equals` for equal arguments, of which infinite ones have no distance.
#[inline(always)]
fn sum_of_powers<L: Lane>(x: L, y: L, of_equals: L, value: L) -> L {
    nan_or(x, nan_or(y, L::select(x.equals(y), of_equals, value)))
}

/// `2^doublings (value + low)`, `value` being normal.
pub(super) struct Doubled<L> {
    pub(super) value: L,
    pub(super) low: L,
    pub(super) doublings: L,
}

/// The logarithm of a number which, where it is around 1, is also `1 + less + less_low`.
#[inline(always)]
pub(super) fn log_of<L: Lane>(Doubled { value, low, doublings }: Doubled<L>, less: L, less_low: L) -> L {
    let (k, f) = split_normal(value, (TWO_TO_52 + BIAS).into());
    let around_1 = k.equals(0.0);
    // What 2^-k beyond 2^-1000 scales is far below the last bit.
    let f_low = L::select(around_1, less_low, low * power_of_two(L::select(k.greater(1000.0), -1000.0, -k)));
    let f = L::select(around_1, less, f);
    let (head, tail) = log_near(f);
    // d log(1 + f) = df / (1 + f), and 1 / (1 + f) = 1 - f + f² as closely as a rounding error needs.
    log_sum(k + doublings, head, f_low.mul_add(f.mul_add(f, L::from(1.0) - f), tail))
}

/// x = 2^k (1 + f), 1 + f in [sqrt 1/2, sqrt 2), for positive `x`.
#[inline(always)]
pub(super) fn split<L: Lane>(x: L) -> (L, L) {
    // Denormals become normal, and are paid back in the exponent.
    let denormal = x.less(f64::MIN_POSITIVE);
    let normal = L::select(denormal, x * TWO_TO_54, x);
    split_normal(normal, L::select(denormal, TWO_TO_52 + BIAS + 54.0, TWO_TO_52 + BIAS))
}

/// [`split`] for normal numbers; `origin` less 2^52 is subtracted from the exponent field.
#[inline(always)]
fn split_normal<L: Lane>(x: L, origin: L) -> (L, L) {
    // The exponent field, as the low bits of 2^52 + n, converts by a subtraction.
    let raised = x.to_bits().wrapping_add(1.0f64.to_bits() - SQRT_HALF_BITS);
    let k = L::from_bits((raised >> 52) | TWO_TO_52.to_bits().into()) - origin;
    (k, L::from_bits((raised & MANTISSA.into()).wrapping_add(SQRT_HALF_BITS)) - 1.0)
}

/// log(1 + f) as a sum, the second term a tenth of the first or less.
#[inline(always)]
fn log_near<L: Lane>(f: L) -> (L, L) {
    // f - f²/2 + s (f²/2 + s² p(s²)) with s = f / (2 + f); f - f²/2 is kept as head + lost.
    let s = f / (f + 2.0);
    let square = s * s;
    let half = f * 0.5;
    let head = (-half).mul_add(f, f);
    let lost = (-half).mul_add(f, f - head);
    (head, s.mul_add(square.mul_add(log_series(square), half * f), lost))
}

/// (log((1 + s) / (1 - s)) / s - 2) / s² where `square` is s².
#[inline(always)]
pub(super) fn log_series<L: Lane>(square: L) -> L {
    polynomial(&LOG_TERMS, square, square * square)
}

/// `k ln 2 + head + tail`.
#[inline(always)]
pub(super) fn log_sum<L: Lane>(k: L, head: L, tail: L) -> L {
    // k ln 2 is exact in its short part and at least as large as `head` unless it is 0, so the error of the sum is
    // exact too.
    let (sum, lost) = fast_sum(k * LN_2_SHORT, head);
    sum + (k.mul_add(LN_2_SHORT_LOW, tail) + lost)
}

/// `(head + tail) * (factor + factor_low)` as a product and the rest.
#[inline(always)]
fn times<L: Lane>(head: L, tail: L, factor: f64, factor_low: f64) -> (L, L) {
    let high = head * factor;
    (high, head.mul_add(factor, -high) + head.mul_add(factor_low, tail * factor))
}

/// `value` for finite positive `x`, else what a logarithm is there.
#[inline(always)]
fn of_positive<L: Lane>(x: L, value: L) -> L {
    let positive = L::select(x.less(f64::INFINITY), value, x);
    let otherwise = L::select(x.equals(0.0), f64::NEG_INFINITY, f64::NAN);
    L::select(x.greater(0.0), positive, otherwise)
}

const SQRT_HALF_BITS: u64 = (0.5 * SQRT_2).to_bits();

/// ln 2 to 41 bits, so that its product with an exponent is exact, and the rest.
const LN_2_SHORT: f64 = 0.6931471805601177;
const LN_2_SHORT_LOW: f64 = -1.7239444525614835e-13;

/// log10 2 in the same way.
const LOG10_2_SHORT: f64 = 0.3010299956640665;
const LOG10_2_SHORT_LOW: f64 = -8.532344317057107e-14;

/// log2 e = `LOG2_E` + this, and log10 e likewise.
const LOG2_E_LOW: f64 = 2.0355273740931033e-17;
const LOG10_E_LOW: f64 = 1.098319650216765e-17;

/// (2 atanh(s) / s - 2) / s² in powers of s² for |s| <= 3 - 2 sqrt 2; the logarithm has a relative error of 2^-59.4.
const LOG_TERMS: [f64; 7] = [
    0.6666666666666735,
    0.399999999994131,
    0.2857142874278382,
    0.22222198528412643,
    0.18183566849897484,
    0.15313981264562376,
    0.14796687658767416,
];
