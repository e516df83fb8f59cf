//! Scalar functions as straight sequences of arithmetic: the same bits in the interpreter and in every back end.
//!
//! Each function is one branch-free sequence of `+ - * /`, `f64::mul_add`, comparisons and bit operations, all of which IEEE 754
//! fixes to the last bit. The interpreter runs the sequence on one number; a back end loops over it with as many lanes as it likes.
//! So nothing here may call a library, index a table by data or convert floats to integers with `as` in the common path: the first
//! would differ between machines, the others would not become vector instructions.
//! A NaN result is always `f64::NAN`, because which payload survives an operation is up to the compiler.
//!
//! ```
//! use retrograd_compiler::ops::lanes;
//! assert_eq!(lanes::exp(0.0), 1.0);
//! assert_eq!(lanes::log(1.0), 0.0);
//! assert_eq!(lanes::sin(-0.0).to_bits(), (-0.0f64).to_bits());
//! assert_eq!(lanes::cos(0.0), 1.0);
//! assert_eq!(lanes::tanh(100.0), 1.0);
//! ```

use std::f64::consts::{FRAC_2_PI, FRAC_PI_2, LN_2, LOG2_E, SQRT_2};

/// Exponential.
///
/// Largest error 0.77 ULP, measured against MPFR at 300 bits on 2.0 million points: small, every exponent, the seams of the
/// reduction, results that are denormal.
#[inline(always)]
pub fn exp(x: f64) -> f64 {
    // Beyond these the result is 0 or infinity. The comparisons are this way round so that NaN passes through.
    let clamped = if x < -746.0 { -746.0 } else { x };
    let clamped = if clamped > 710.0 { 710.0 } else { clamped };

    // x = k ln 2 + r, |r| <= ln 2 / 2. `near` is exact (see LN_2_LOW), and `r` only feeds terms from r² on.
    let shifted = clamped.mul_add(LOG2_E, ROUND + 2.0 * BIAS);
    let k = shifted - (ROUND + 2.0 * BIAS);
    let near = (-k).mul_add(LN_2, clamped);
    let r = (-k).mul_add(LN_2_LOW, near);
    let square = r * r;

    // 1 + near + (r - near) + r² p(r), with the rounding error of 1 + near kept.
    let head = 1.0 + near;
    let lost = near - (head - 1.0);
    let tail = square.mul_add(polynomial(&EXP_TERMS, r, square), (-k).mul_add(LN_2_LOW, lost));

    // Scaling in two steps of about 2^(k/2): 2^k itself may be out of range where the result is not.
    let half = clamped.mul_add(0.5 * LOG2_E, ROUND + BIAS).to_bits();
    let rest = shifted.to_bits().wrapping_sub(half);
    nan_or(x, (head + tail) * f64::from_bits(half << 52) * f64::from_bits(rest << 52))
}

/// Natural logarithm; `-inf` at 0 and NaN below.
///
/// Largest error 0.64 ULP, measured against MPFR at 300 bits on 2.8 million points: around 1, every exponent, denormals, the
/// seams at powers of 2 times sqrt 1/2.
#[inline(always)]
pub fn log(x: f64) -> f64 {
    // Denormals become normal, and are paid back in the exponent.
    let denormal = x < f64::MIN_POSITIVE;
    let normal = if denormal { x * TWO_TO_54 } else { x };
    let origin = if denormal { TWO_TO_52 + BIAS + 54.0 } else { TWO_TO_52 + BIAS };

    // x = 2^k (1 + f), 1 + f in [sqrt 1/2, sqrt 2). The exponent field, as the low bits of 2^52 + n, converts by a subtraction.
    let raised = normal.to_bits().wrapping_add(1.0f64.to_bits() - SQRT_HALF_BITS);
    let k = f64::from_bits((raised >> 52) | TWO_TO_52.to_bits()) - origin;
    let f = f64::from_bits((raised & MANTISSA) + SQRT_HALF_BITS) - 1.0;

    // log(1 + f) = f - f²/2 + s (f²/2 + s² p(s²)) with s = f / (2 + f); f - f²/2 is kept as head + lost.
    let s = f / (2.0 + f);
    let square = s * s;
    let half = 0.5 * f;
    let head = (-half).mul_add(f, f);
    let lost = (-half).mul_add(f, f - head);
    let series = square.mul_add(polynomial(&LOG_TERMS, square, square * square), half * f);

    // k ln 2 is exact in its short part and at least as large as `head` unless it is 0, so the error of the sum is exact too.
    let whole = k * LN_2_SHORT;
    let sum = whole + head;
    let tail = s.mul_add(series, k.mul_add(LN_2_SHORT_LOW, lost)) + (head - (sum - whole));
    let finite = sum + tail;

    let positive = if x < f64::INFINITY { finite } else { x };
    let otherwise = if x == 0.0 { f64::NEG_INFINITY } else { f64::NAN };
    if x > 0.0 { positive } else { otherwise }
}

/// Hyperbolic tangent.
///
/// Largest error 0.93 ULP, measured against MPFR at 300 bits on 2.8 million points: every magnitude, and densely from 0.1 to
/// 0.7, where it is worst.
#[inline(always)]
pub fn tanh(x: f64) -> f64 {
    // From 22 on the result rounds to 1; the comparison is this way round so that NaN passes through.
    let magnitude = x.abs();
    let doubled = 2.0 * if magnitude > 22.0 { 22.0 } else { magnitude };

    // 2|x| = k ln 2 + r as in `exp`, and e^r - 1 = grown + grown_low. For k = 0 that is all there is, so tiny numbers keep every bit.
    let shifted = doubled.mul_add(LOG2_E, ROUND + BIAS);
    let k = shifted - (ROUND + BIAS);
    let near = (-k).mul_add(LN_2, doubled);
    let low = -k * LN_2_LOW;
    let r = near + low;
    let square = r * r;
    let bend = square.mul_add(polynomial(&EXP_TERMS, r, square), low);
    let grown = near + bend;
    let grown_low = bend - (grown - near);

    // tanh |x| = (e^2|x| - 1) / (e^2|x| + 1), above and below each with what rounding took from it.
    let scale = f64::from_bits(shifted.to_bits() << 52);
    // From 2^53 on `scale + 1` is rounded, which is harmless as long as the two stay exactly 2 apart.
    let below_base = scale + 1.0;
    let above_base = below_base - 2.0;
    let above = scale.mul_add(grown, above_base);
    let above_low = scale.mul_add(grown_low, scale.mul_add(grown, above_base - above));
    let below = scale.mul_add(grown, below_base);
    let below_low = scale.mul_add(grown_low, scale.mul_add(grown, below_base - below));

    // The quotient, and one correction by what it leaves over.
    let inverse = 1.0 / below;
    let quotient = above * inverse;
    let left = (-quotient).mul_add(below_low, (-quotient).mul_add(below, above) + above_low);
    nan_or(x, left.mul_add(inverse, quotient).copysign(x))
}

/// The largest `|x|` for which [`sin_within`] and [`cos_within`] hold.
///
/// Up to here the error of 2/π x is below 2^-12, so the remainder exceeds π/4 by no more than the polynomials allow for; and what three
/// parts of π/2 leave out of a multiple is below the last bit of the smallest remainder, which for doubles is about 2^-62.
pub const ANGLE_BOUND: f64 = (1u64 << 40) as f64;

/// Sine.
///
/// Largest error 0.77 ULP, measured against MPFR at 300 bits on 3.6 million points: every magnitude to 2^1024, around
/// multiples of π/4, and 8,080 doubles very close to multiples of π/2 (by
/// continued fractions).
#[inline(always)]
pub fn sin(x: f64) -> f64 {
    if x.abs() > ANGLE_BOUND { sin_beyond(x) } else { sin_within(x) }
}

/// Cosine.
///
/// Largest error 0.80 ULP, measured against MPFR at 300 bits on 3.6 million points, those of [`sin`].
#[inline(always)]
pub fn cos(x: f64) -> f64 {
    if x.abs() > ANGLE_BOUND { cos_beyond(x) } else { cos_within(x) }
}

/// [`sin`] where `|x|` is at most [`ANGLE_BOUND`] or NaN, without a branch.
#[inline(always)]
pub fn sin_within(x: f64) -> f64 {
    nan_or(x, sin_of(reduce_within(x.abs()), 0, x.to_bits()))
}

/// [`cos`] where `|x|` is at most [`ANGLE_BOUND`] or NaN, without a branch.
#[inline(always)]
pub fn cos_within(x: f64) -> f64 {
    nan_or(x, sin_of(reduce_within(x.abs()), 1, 0))
}

/// [`sin`] where `|x|` is at least 1, infinite or NaN; slower, and needed only beyond [`ANGLE_BOUND`].
#[cold]
#[inline(never)]
pub fn sin_beyond(x: f64) -> f64 {
    if x.is_finite() { sin_of(reduce_beyond(x.abs()), 0, x.to_bits()) } else { f64::NAN }
}

/// [`cos`] where `|x|` is at least 1, infinite or NaN; slower, and needed only beyond [`ANGLE_BOUND`].
#[cold]
#[inline(never)]
pub fn cos_beyond(x: f64) -> f64 {
    if x.is_finite() { sin_of(reduce_beyond(x.abs()), 1, 0) } else { f64::NAN }
}

/// An angle as `quadrant * π/2 + r + low`, `|r|` hardly above π/4; only the last two bits of `quadrant` mean anything.
struct Angle {
    quadrant: u64,
    r: f64,
    low: f64,
}

/// Subtracts the nearest multiple of π/2, given in three parts (Cody and Waite with fused multiply-add).
#[inline(always)]
fn reduce_within(x: f64) -> Angle {
    let shifted = x.mul_add(FRAC_2_PI, ROUND);
    let n = shifted - ROUND;
    // Exact: both terms are multiples of the last bit of π/2 or of x, whichever is less, and the difference is below 1.
    let near = (-n).mul_add(FRAC_PI_2, x);
    let second = n * HALF_PI_SECOND;
    let second_low = n.mul_add(HALF_PI_SECOND, -second);
    // The rounding error of this difference is exact although `near` may be the smaller: it is a multiple of the last bit of `second`.
    let r = near - second;
    let lost = (near - r) - second;
    let low = (-n).mul_add(HALF_PI_THIRD, lost - second_low);
    Angle { quadrant: shifted.to_bits(), r, low }
}

/// Multiplies by just those bits of 2/π that matter (Payne and Hanek).
fn reduce_beyond(x: f64) -> Angle {
    let bits = x.to_bits();
    let integer = (bits & MANTISSA) | (1 << 52);
    // x = integer * 2^e with e = exponent - 1075. Bit i of 2/π has weight 2^-i, so bits before i = e - 1 only add multiples of 4.
    // Of the 192 bits from there, the product with 53 bits leaves 2 bits of quadrant and at least 137 of fraction.
    let exponent = (bits >> 52) as usize;
    let start = exponent + TWO_OVER_PI_PADDING - 1077;
    let word = |index: usize| -> u128 {
        let (at, shift) = (start / 64 + index, start % 64);
        let pair = (u128::from(TWO_OVER_PI[at]) << 64) | u128::from(TWO_OVER_PI[at + 1]);
        (pair << shift) >> 64
    };
    let integer_wide = u128::from(integer);
    let lowest = integer_wide * word(2);
    let middle = integer_wide * word(1) + (lowest >> 64);
    let highest = integer_wide * word(0) + (middle >> 64);
    let product = (highest << 64) | (middle & u128::from(u64::MAX));
    let next_bits = (lowest as u64) >> 62;

    // The fraction as a signed number of 2^-128, so that from one half on it counts back from the next quadrant.
    let fraction = ((product << 2) | u128::from(next_bits)) as i128;
    let quadrant = (product >> 126) as u64 + u64::from(fraction < 0);
    let head = fraction as f64;
    let tail = (fraction - head as i128) as f64;
    let (head, tail) = (head * TWO_TO_MINUS_128, tail * TWO_TO_MINUS_128);
    let r = head * FRAC_PI_2;
    let low = head.mul_add(FRAC_PI_2, -r) + head.mul_add(HALF_PI_SECOND, tail * FRAC_PI_2);
    Angle { quadrant, r, low }
}

/// Sine of the angle plus `turns` quarter turns, negated if the top bit of `sign` is set.
#[inline(always)]
fn sin_of(angle: Angle, turns: u64, sign: u64) -> f64 {
    let Angle { quadrant, r, low } = angle;
    let square = r * r;
    let fourth = square * square;

    // cos = 1 - r²/2 + r⁴ p(r²) - r low, with the rounding error of 1 - r²/2 kept.
    let half = 0.5 * r;
    let head = (-half).mul_add(r, 1.0);
    let lost = (-half).mul_add(r, 1.0 - head);
    let cosine = head + fourth.mul_add(polynomial(&COS_TERMS, square, fourth), (-r).mul_add(low, lost));

    // sin = r + r³ p(r²) + low cos r.
    let sine = r + (r * square).mul_add(polynomial(&SIN_TERMS, square, fourth), low * head);

    let quadrant = quadrant.wrapping_add(turns);
    let value = if quadrant & 1 == 0 { sine } else { cosine };
    f64::from_bits(value.to_bits() ^ (((quadrant << 62) ^ sign) & SIGN))
}

/// The polynomial with these coefficients, constant first, by pairs: as many operations as Horner's rule in half the time.
#[inline(always)]
fn polynomial<const TERMS: usize>(terms: &[f64; TERMS], x: f64, square: f64) -> f64 {
    let paired = TERMS / 2 * 2;
    let pair = |first: usize| terms[first + 1].mul_add(x, terms[first]);
    let (mut sum, mut first) = if paired < TERMS { (terms[paired], paired) } else { (pair(paired - 2), paired - 2) };
    while first > 0 {
        first -= 2;
        sum = sum.mul_add(square, pair(first));
    }
    sum
}

/// The one NaN where `x` is any NaN, else `value`.
#[inline(always)]
fn nan_or(x: f64, value: f64) -> f64 {
    if x.is_nan() { f64::NAN } else { value }
}

const SIGN: u64 = 1 << 63;
const MANTISSA: u64 = (1 << 52) - 1;
const TWO_TO_52: f64 = (1u64 << 52) as f64;
const TWO_TO_54: f64 = (1u64 << 54) as f64;
const TWO_TO_MINUS_128: f64 = f64::from_bits((1023 - 128) << 52);

/// Added to a small number it pushes the fraction out: the low bits of the sum are the nearest integer.
const ROUND: f64 = 1.5 * TWO_TO_52;

/// What the exponent field holds for 2^0; `ROUND + BIAS + k` shifted left by 52 is 2^k.
const BIAS: f64 = 1023.0;

const SQRT_HALF_BITS: u64 = (0.5 * SQRT_2).to_bits();

/// ln 2 = `LN_2` + this. With fused multiply-add `x - k LN_2` is exact: a multiple of 2^-54 below 1/2.
const LN_2_LOW: f64 = 2.3190468138462996e-17;

/// ln 2 to 41 bits, so that its product with an exponent is exact, and the rest.
const LN_2_SHORT: f64 = 0.6931471805601177;
const LN_2_SHORT_LOW: f64 = -1.7239444525614835e-13;

/// π/2 = `FRAC_PI_2` + these two.
const HALF_PI_SECOND: f64 = 6.123233995736766e-17;
const HALF_PI_THIRD: f64 = -1.4973849048591698e-33;

// The coefficients are minimax fits (Remez exchange in 400-bit arithmetic, then rounded), each over slightly more than its range.

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

/// (sin(r) / r - 1) / r² in powers of r² for |r| <= π/4 + 2^-12; the sine has a relative error of 2^-58.
const SIN_TERMS: [f64; 6] = [
    -0.16666666666666632,
    0.008333333333322384,
    -0.00019841269829782215,
    2.755731368263228e-06,
    -2.505075660213091e-08,
    1.5896704738975823e-10,
];

/// (cos(r) - 1 + r²/2) / r⁴ in powers of r² for |r| <= π/4 + 2^-12; the cosine has an error of 2^-64.
const COS_TERMS: [f64; 6] = [
    0.0416666666666666,
    -0.0013888888888874084,
    2.4801587289455987e-05,
    -2.7557314344374414e-07,
    2.0875722142554027e-09,
    -1.135958690288937e-11,
];

const TWO_OVER_PI_PADDING: usize = 64;

/// The bits of 2/π after the point, behind [`TWO_OVER_PI_PADDING`] zeros: enough for the largest finite number.
const TWO_OVER_PI: [u64; 20] = [
    0x0000_0000_0000_0000,
    0xa2f9_836e_4e44_1529,
    0xfc27_57d1_f534_ddc0,
    0xdb62_9599_3c43_9041,
    0xfe51_63ab_debb_c561,
    0xb724_6e3a_424d_d2e0,
    0x0649_2eea_09d1_921c,
    0xfe1d_eb1c_b129_a73e,
    0xe882_35f5_2ebb_4484,
    0xe99c_7026_b45f_7e41,
    0x3991_d639_8353_39f4,
    0x9c84_5f8b_bdf9_283b,
    0x1ff8_97ff_de05_980f,
    0xef2f_118b_5a0a_6d1f,
    0x6d36_7ecf_27cb_09b7,
    0x4f46_3f66_9e5f_ea2d,
    0x7527_bac7_ebe5_f17b,
    0x3d07_39f7_8a52_92ea,
    0x6bfb_5fb1_1f8d_5d08,
    0x5603_3046_fc7b_6bab,
];

#[cfg(test)]
mod tests {
    use super::*;

    const INF: f64 = f64::INFINITY;
    const NAN: f64 = f64::NAN;
    const TINY: f64 = 5e-324;

    #[track_caller]
    fn check(name: &str, ours: fn(f64) -> f64, table: &[(f64, f64)]) {
        for &(x, expected) in table {
            let y = ours(x);
            assert_eq!(y.to_bits(), expected.to_bits(), "{name}({x:e}) is {y:e}, not {expected:e}");
        }
    }

    /// How many representable numbers lie between the two; all NaN are one.
    fn steps(a: f64, b: f64) -> u64 {
        let place = |x: f64| if x.is_sign_negative() { -((x.to_bits() & !SIGN) as i64) } else { x.to_bits() as i64 };
        if a.is_nan() && b.is_nan() { 0 } else { place(a).abs_diff(place(b)) }
    }

    /// `count` numbers from `low` to `high`, evenly spread, both ends included.
    fn sweep(low: f64, high: f64, count: u32) -> impl Iterator<Item = f64> {
        (0..=count).map(move |i| low + (high - low) * (f64::from(i) / f64::from(count)))
    }

    /// Numbers of every magnitude: bit patterns at even distance, so exponents and mantissas both vary.
    fn patterns() -> impl Iterator<Item = f64> {
        (0..200_000u64).map(|i| f64::from_bits(i.wrapping_mul(0x9e37_79b9_7f4a_7c15)))
    }

    /// Ours is less than one ULP from the truth, std's by its own account `std_error`; so they are at most that many steps apart.
    #[track_caller]
    fn check_against_std(name: &str, ours: fn(f64) -> f64, std: fn(f64) -> f64, std_error: u64, points: impl Iterator<Item = f64>) {
        for x in points {
            assert!(steps(ours(x), std(x)) <= std_error, "{name}({x:e}) is {:e}, std says {:e}", ours(x), std(x));
        }
    }

    #[track_caller]
    fn check_rising(name: &str, ours: fn(f64) -> f64, points: impl Iterator<Item = f64>) {
        let mut before = f64::NEG_INFINITY;
        for x in points {
            let y = ours(x);
            assert!(y >= before, "{name} falls to {y:e} at {x:e}");
            before = y;
        }
    }

    #[test]
    fn special_values_are_exact() {
        let third_nan = f64::from_bits(0xfff0_dead_beef_0001);
        check("exp", exp, &[(0.0, 1.0), (-0.0, 1.0), (INF, INF), (-INF, 0.0), (NAN, NAN), (-NAN, NAN), (third_nan, NAN)]);
        check("exp", exp, &[(TINY, 1.0), (-TINY, 1.0), (1e-300, 1.0), (f64::MAX, INF), (f64::MIN, 0.0), (1.0, std::f64::consts::E)]);
        check("log", log, &[(0.0, -INF), (-0.0, -INF), (INF, INF), (-INF, NAN), (NAN, NAN), (-NAN, NAN), (third_nan, NAN)]);
        check("log", log, &[(1.0, 0.0), (-TINY, NAN), (-1.0, NAN), (f64::MIN, NAN), (2.0, LN_2)]);
        check("tanh", tanh, &[(0.0, 0.0), (-0.0, -0.0), (INF, 1.0), (-INF, -1.0), (NAN, NAN), (-NAN, NAN), (third_nan, NAN)]);
        check("tanh", tanh, &[(TINY, TINY), (-TINY, -TINY), (1e-310, 1e-310), (f64::MAX, 1.0), (f64::MIN, -1.0), (1e-8, 1e-8)]);
        check("sin", sin, &[(0.0, 0.0), (-0.0, -0.0), (INF, NAN), (-INF, NAN), (NAN, NAN), (-NAN, NAN), (third_nan, NAN)]);
        check("sin", sin, &[(TINY, TINY), (-TINY, -TINY), (1e-310, 1e-310), (1e-9, 1e-9), (FRAC_PI_2, 1.0)]);
        check("cos", cos, &[(0.0, 1.0), (-0.0, 1.0), (INF, NAN), (-INF, NAN), (NAN, NAN), (-NAN, NAN), (third_nan, NAN)]);
        check("cos", cos, &[(TINY, 1.0), (-TINY, 1.0), (1e-310, 1.0), (FRAC_PI_2, 6.123233995736766e-17)]);
    }

    // The expected values in the next tests were computed with mpmath at 3000 bits and rounded once.

    #[test]
    fn exp_is_right_where_it_underflows_and_overflows() {
        check("exp", exp, &[(-745.1332191019411, 5e-324), (-745.1332191019412, 0.0), (-745.0, 5e-324), (-740.0, 4.2e-322)]);
        check("exp", exp, &[(-708.3964185322641, 2.2250738585072626e-308), (-708.4, 2.217119081664265e-308)]);
        check("exp", exp, &[(709.782712893384, 1.7976931348622732e308), (709.7827128933841, INF), (710.0, INF), (-746.0, 0.0)]);
    }

    #[test]
    fn log_is_right_at_the_ends_of_the_range_and_beside_1() {
        check("log", log, &[(5e-324, -744.4400719213812), (1e-310, -713.8013788281542)]);
        check("log", log, &[(2.2250738585072014e-308, -708.3964185322641), (1.7976931348623157e308, 709.782712893384)]);
        check("log", log, &[(0.9999999999999999, -1.1102230246251565e-16), (1.0000000000000002, 2.2204460492503128e-16)]);
    }

    #[test]
    fn tanh_is_right_where_it_becomes_1() {
        check("tanh", tanh, &[(18.3, 0.9999999999999998), (18.7, 0.9999999999999999), (19.07, 1.0)]);
    }

    #[test]
    fn sin_and_cos_are_right_for_huge_arguments() {
        let table = [
            (1e10, -0.4875060250875107, 0.873119622676856),
            (1099511627776.0, -0.40570501153282873, -0.914004071991557),
            (1099511627776.0002, -0.40592814496504903, -0.9139049956780159),
            (1e15, 0.8582727931702359, -0.5131937377869703),
            (1.152921504606847e18, -0.8306492176372546, -0.5567960822766417),
            (1e22, -0.8522008497671888, 0.523214785395139),
            // The double nearest to a multiple of π/2.
            (5.319372648326541e255, 1.0, -4.687165924254628e-19),
            (-1e300, 0.8178819121159085, -0.5753861119575491),
            (8.98846567431158e307, 0.563127779850884, -0.826369834614148),
            (f64::MAX, 0.004961954789184062, -0.9999876894265599),
        ];
        for (x, sine, cosine) in table {
            check("sin", sin, &[(x, sine), (-x, -sine)]);
            check("cos", cos, &[(x, cosine), (-x, cosine)]);
        }
    }

    #[test]
    fn results_are_close_to_std() {
        check_against_std("exp", exp, f64::exp, 1, sweep(-750.0, 712.0, 200_000).chain(sweep(-1.5, 1.5, 100_000)).chain(patterns()));
        check_against_std("log", log, f64::ln, 1, sweep(0.0, 4.0, 200_000).chain(sweep(0.99, 1.01, 100_000)).chain(patterns()));
        check_against_std("tanh", tanh, f64::tanh, 3, sweep(-23.0, 23.0, 100_000).chain(sweep(-1.0, 1.0, 100_000)).chain(patterns()));
        let angles = || sweep(-10.0, 10.0, 100_000).chain(sweep(-1e6, 1e6, 100_000)).chain(sweep(1e12, 1.2e12, 10_000)).chain(patterns());
        check_against_std("sin", sin, f64::sin, 1, angles());
        check_against_std("cos", cos, f64::cos, 1, angles());
    }

    #[test]
    fn both_reductions_agree_beside_the_bound() {
        for x in sweep(0.5 * ANGLE_BOUND, ANGLE_BOUND, 50_000) {
            assert!(steps(sin_within(x), sin_beyond(x)) <= 1, "{x:e}");
            assert!(steps(cos_within(x), cos_beyond(x)) <= 1, "{x:e}");
        }
    }

    #[test]
    fn exp_log_and_tanh_rise_at_the_edges() {
        check_rising("exp", exp, sweep(-750.0, -700.0, 100_000).chain(sweep(-1.0, 1.0, 100_000)).chain(sweep(709.0, 711.0, 100_000)));
        check_rising("log", log, sweep(0.0, 1e-307, 100_000).chain(sweep(0.7, 1.5, 100_000)).chain(sweep(1e308, f64::MAX, 1_000)));
        check_rising("tanh", tanh, sweep(-25.0, 25.0, 200_000));
        // Where the number of halvings changes, neighbours are reduced differently.
        for k in -1000..1000 {
            let seam = (f64::from(k) + 0.5) * LN_2;
            check_rising("exp", exp, sweep(seam - 1e-9, seam + 1e-9, 50));
            check_rising("tanh", tanh, sweep(0.5 * seam - 1e-9, 0.5 * seam + 1e-9, 50));
        }
    }

    #[test]
    fn sin_cos_and_tanh_never_exceed_1() {
        let near_one = (0..1000).map(|n| f64::from(n) * FRAC_PI_2).flat_map(|x| sweep(x - 1e-7, x + 1e-7, 100));
        for x in near_one.chain(sweep(-30.0, 30.0, 100_000)) {
            assert!(sin(x).abs() <= 1.0 && cos(x).abs() <= 1.0 && tanh(x).abs() <= 1.0, "{x:e}");
        }
    }

    #[test]
    fn sin_and_tanh_are_odd_and_cos_is_even_to_the_bit() {
        for x in patterns().chain(sweep(0.0, 100.0, 50_000)).filter(|x| !x.is_nan() && x.is_finite()) {
            assert_eq!(sin(-x).to_bits(), sin(x).to_bits() ^ SIGN, "{x:e}");
            assert_eq!(tanh(-x).to_bits(), tanh(x).to_bits() ^ SIGN, "{x:e}");
            assert_eq!(cos(-x).to_bits(), cos(x).to_bits(), "{x:e}");
        }
    }
}
