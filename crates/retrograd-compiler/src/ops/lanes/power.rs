//! Powers and roots.

use super::double_double::{fast_sum, product, quotient, root};
use super::exponential::{exp2_of, scale};
use super::logarithm::split;
use super::{BIAS, Lane, MANTISSA, ROUND, TWO_TO_52, TWO_TO_54, clamp, nan_or, polynomial, power_of_two};

/// `x` to the power of `y`, with every special case of IEEE 754: 1 for `y = 0` and for `x = 1` even if the other is
/// NaN, NaN for finite `x < 0` unless `y` is an integer, and the sign of `x` if `y` is odd.
///
/// Largest error 0.77 ULP on 0.82 million points.
#[inline(always)]
pub fn pow<L: Lane>(x: L, y: L) -> L {
    let magnitude = x.abs();
    let (high, low) = log2_pair(magnitude);

    // 2^(y log2 |x|). Beyond 1100 it is 0 or infinite, and `rest` may be NaN.
    let product = y * high;
    let rest = y.mul_add(low, y.mul_add(high, -product));
    let rest = L::select(product.abs().less(1100.0), rest, 0.0);
    let (value, k) = exp2_of(clamp(product, -1100.0, 1100.0), rest);
    let value = scale(value, k);

    // Where the logarithm is infinite, and where it is 0 and y is not.
    let (falls, infinite) = (y.less(0.0), magnitude.equals(f64::INFINITY));
    let value = L::select(infinite, L::select(falls, 0.0, f64::INFINITY), value);
    let value = L::select(magnitude.equals(0.0), L::select(falls, f64::INFINITY, 0.0), value);
    let value = L::select(magnitude.equals(1.0), 1.0, value);

    let Parity { rounded, last_bit } = parity(y);
    let value = L::from_bits(value.to_bits() ^ ((last_bit << 63) & x.to_bits()));
    let of_negative = L::select(infinite, value, f64::NAN);
    let between = L::select(x.less(0.0), of_negative, value);
    let value = L::select(rounded.equals(y.abs()), value, between);
    let value = nan_or(x, nan_or(y, value));
    L::select(x.equals(1.0), 1.0, L::select(y.equals(0.0), 1.0, value))
}

/// Length of the hypotenuse, without overflow or underflow on the way; infinite if either side is, even if the other is
/// NaN.
///
/// Largest error 0.75 ULP on 0.52 million points.
#[inline(always)]
pub fn hypot(x: f64, y: f64) -> f64 {
    let (across, up) = (x.abs(), y.abs());
    let (long, short) = if up > across { (up, across) } else { (across, up) };

    // Powers of two that keep the squares in range and bring the root back.
    let (small, large) = (long < TWO_TO_MINUS_400, long > TWO_TO_400);
    let factor = if small { TWO_TO_600 } else { 1.0 };
    let factor = if large { TWO_TO_MINUS_600 } else { factor };
    let back = if small { TWO_TO_MINUS_600 } else { 1.0 };
    let back = if large { TWO_TO_600 } else { back };

    let (long_square, long_low) = product(long * factor, long * factor);
    let (short_square, short_low) = product(short * factor, short * factor);
    let (square, lost) = fast_sum(long_square, short_square);
    let (root, root_low) = root(square, lost + (long_low + short_low));
    let value = if x.is_nan() | y.is_nan() { f64::NAN } else { (root + root_low) * back };
    if (across == f64::INFINITY) | (up == f64::INFINITY) { f64::INFINITY } else { value }
}

/// Cube root.
///
/// Largest error 0.51 ULP on 0.38 million points.
#[inline(always)]
pub fn cbrt(x: f64) -> f64 {
    // |x| = 2^k m, 1 <= m < 2, denormals as in the logarithm.
    let magnitude = x.abs();
    let denormal = magnitude < f64::MIN_POSITIVE;
    let bits = if denormal { magnitude * TWO_TO_54 } else { magnitude }.to_bits();
    let origin = if denormal { TWO_TO_52 + BIAS + 54.0 } else { TWO_TO_52 + BIAS };
    let k = f64::from_bits((bits >> 52) | TWO_TO_52.to_bits()) - origin;
    let m = f64::from_bits((bits & MANTISSA) | 1.0f64.to_bits());

    // |x| = 2^(3 third) z, z = m times 1/2, 1 or 2, and the inverse of its root to 17 bits.
    let third = k.mul_add(1.0 / 3.0, ROUND) - ROUND;
    let rest = third.mul_add(-3.0, k);
    let factor = if rest > 0.0 { CBRT_HALF } else { 1.0 };
    let factor = if rest < 0.0 { CBRT_2 } else { factor };
    let inverse = polynomial(&INVERSE_CBRT_TERMS, m, m * m) * factor;
    let z = m * power_of_two(rest);

    // (1 - h)^(-1/3) = 1 + h/3 + 2 h²/9 + 14 h³/81 + …, h = 1 - z inverse³.
    let h = (-z * inverse).mul_add(inverse * inverse, 1.0);
    let growth = h.mul_add(h.mul_add(14.0 / 81.0, 2.0 / 9.0), 1.0 / 3.0);
    let inverse = (inverse * h).mul_add(growth, inverse);

    // The root, and one step of Newton's with an exact remainder; the derivative is within a few last bits.
    let square = inverse * inverse;
    let root = z * square;
    let (root_square, root_square_low) = product(root, root);
    let left = (-root_square_low).mul_add(root, (-root_square).mul_add(root, z));
    let value = (left * square).mul_add(1.0 / 3.0, root) * power_of_two(third);
    let unchanged = (x == 0.0) | (magnitude == f64::INFINITY);
    nan_or(x, if unchanged { x } else { value.copysign(x) })
}

/// `1 / sqrt(x)`, hardly less exact than if it were rounded once; infinite with the sign of `x` at 0, and NaN below.
///
/// Largest error 0.51 ULP on 0.38 million points.
#[inline(always)]
pub fn rsqrt(x: f64) -> f64 {
    // What the root leaves over must not be denormal.
    let small = x < TWO_TO_MINUS_600;
    let square = if small { x * TWO_TO_600 } else { x };
    let back = if small { TWO_TO_300 } else { 1.0 };
    let root = square.sqrt();
    let inverse = 1.0 / root;
    // 1 / sqrt(root² + left) = (1 - left / (2 root²)) / root.
    let left = (-root).mul_add(root, square);
    let inverse_left = (-root).mul_add(inverse, 1.0);
    let value = inverse.mul_add((-0.5 * left * inverse).mul_add(inverse, inverse_left), inverse) * back;
    let positive = if x < f64::INFINITY { value } else { 0.0 };
    let otherwise = if x == 0.0 { f64::INFINITY.copysign(x) } else { f64::NAN };
    if x > 0.0 { positive } else { otherwise }
}

/// log2 of a finite positive number to about 65 bits, as a sum of two.
#[inline(always)]
fn log2_pair<L: Lane>(x: L) -> (L, L) {
    let (k, f) = split(x);

    // s = f / (2 + f) and s², both twice as exact as a number.
    let (below, below_low) = fast_sum(2.0.into(), f);
    let (s, s_low) = quotient(f, 0.0.into(), below, below_low);
    let (square, lost) = product(s, s);
    let square_low = s_low.mul_add(s * 2.0, lost);

    // log2(1 + f) = s (C0 + s² (C1 + s² p(s²))), where only the polynomial is not.
    let series = polynomial(&LOG2_TERMS, square, square * square);
    let (inner, lost) = fast_sum(LOG2_1.into(), square * series);
    let inner_low = square_low.mul_add(LOG2_TERMS[0], lost + LOG2_1_LOW);
    let (middle, lost) = product(square, inner);
    let middle_low = square.mul_add(inner_low, square_low.mul_add(inner, lost));
    let (outer, lost) = fast_sum(LOG2_0.into(), middle);
    let outer_low = middle_low + (lost + LOG2_0_LOW);
    let (near, lost) = product(s, outer);
    let near_low = s.mul_add(outer_low, s_low.mul_add(outer, lost));

    let (sum, lost) = fast_sum(k, near);
    fast_sum(sum, lost + near_low)
}

struct Parity<L: Lane> {
    /// The magnitude, or an integer near it.
    rounded: L,
    /// In its lowest bit: 1 for an odd integer.
    last_bit: L::Bits,
}

/// Whether `y` is an integer, and an odd one; infinity is even.
#[inline(always)]
fn parity<L: Lane>(y: L) -> Parity<L> {
    // From 2^52 on every number is an integer, whose last bit is that of the mantissa up to 2^53.
    let magnitude = y.abs();
    let small = magnitude.less(TWO_TO_52);
    let raised = L::select(small, magnitude + TWO_TO_52, magnitude);
    let rounded = L::select(small, raised - TWO_TO_52, magnitude);
    let odd_or_even = L::select(magnitude.less(2.0 * TWO_TO_52), raised, TWO_TO_52);
    Parity { rounded, last_bit: L::select(rounded.equals(magnitude), odd_or_even, TWO_TO_52).to_bits() }
}

const TWO_TO_300: f64 = f64::from_bits((1023 + 300) << 52);
const TWO_TO_400: f64 = f64::from_bits((1023 + 400) << 52);
const TWO_TO_600: f64 = f64::from_bits((1023 + 600) << 52);
const TWO_TO_MINUS_400: f64 = f64::from_bits((1023 - 400) << 52);
const TWO_TO_MINUS_600: f64 = f64::from_bits((1023 - 600) << 52);

const CBRT_2: f64 = 1.2599210498948732;
const CBRT_HALF: f64 = 0.7937005259840998;

/// m^(-1/3) for 1 <= m <= 2 with a relative error of 2^-17.4.
const INVERSE_CBRT_TERMS: [f64; 6] = [
    1.7810557482812477,
    -1.5660213357009234,
    1.2437745491979764,
    -0.5978647535841405,
    0.15606866930223215,
    -0.017018624668221898,
];

/// 2 / ln 2 and 2 / (3 ln 2), each a sum of two.
const LOG2_0: f64 = 2.8853900817779268;
const LOG2_0_LOW: f64 = 4.0710547481862066e-17;
const LOG2_1: f64 = 0.9617966939259756;
const LOG2_1_LOW: f64 = 5.0577616648125907e-17;

/// What follows those in 2 atanh(s) / (s ln 2), in powers of s² for |s| <= 3 - 2 sqrt 2; log2 has a relative error of
/// 2^-73.4.
const LOG2_TERMS: [f64; 8] = [
    0.5770780163555851,
    0.41219858311134655,
    0.3205988979124468,
    0.262308198711094,
    0.22195226612776872,
    0.19240150316446863,
    0.16844754442848253,
    0.17285241343926847,
];
