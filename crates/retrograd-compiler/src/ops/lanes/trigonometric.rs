//! Sine, cosine and tangent.

use super::double_double::{fast_sum, quotient};
use super::{Bits, Lane, MANTISSA, ROUND, SIGN, nan_or, polynomial};
use std::f64::consts::{FRAC_2_PI, FRAC_PI_2};

/// The largest `|x|` for which [`sin_within`] and [`cos_within`] hold.
///
/// Up to here the error of 2/π x is below 2^-12, so the remainder exceeds π/4 by no more than the polynomials allow
/// for; and what three parts of π/2 leave out of a multiple is below the last bit of the smallest remainder, which for
/// doubles is about 2^-62.
pub const ANGLE_BOUND: f64 = (1u64 << 40) as f64;

/// Sine.
///
/// Largest error 0.77 ULP on 3.8 million points. With them 8,080 doubles very close to multiples of π/2 (by continued
/// fractions).
#[inline(always)]
pub fn sin(x: f64) -> f64 {
    if angle_is_huge(x) { sin_beyond(x) } else { sin_within(x) }
}

/// Cosine.
///
/// Largest error 0.80 ULP on 3.8 million points. With them the hard ones of [`sin`].
#[inline(always)]
pub fn cos(x: f64) -> f64 {
    if angle_is_huge(x) { cos_beyond(x) } else { cos_within(x) }
}

/// Tangent.
///
/// Largest error 0.90 ULP on 0.69 million points. With them the hard ones of [`sin`].
#[inline(always)]
pub fn tan(x: f64) -> f64 {
    if angle_is_huge(x) { tan_beyond(x) } else { tan_within(x) }
}

/// Whether `|x|` is above [`ANGLE_BOUND`].
#[inline(always)]
pub fn angle_is_huge<L: Lane>(x: L) -> L::Truth {
    x.abs().greater(ANGLE_BOUND)
}

/// [`sin`] where `|x|` is at most [`ANGLE_BOUND`] or NaN, without a branch.
#[inline(always)]
pub fn sin_within<L: Lane>(x: L) -> L {
    nan_or(x, sin_of(reduce_within(x.abs()), 0, x.to_bits()))
}

/// [`cos`] where `|x|` is at most [`ANGLE_BOUND`] or NaN, without a branch.
#[inline(always)]
pub fn cos_within<L: Lane>(x: L) -> L {
    nan_or(x, sin_of(reduce_within(x.abs()), 1, 0.into()))
}

/// [`tan`] where `|x|` is at most [`ANGLE_BOUND`] or NaN, without a branch.
#[inline(always)]
pub fn tan_within<L: Lane>(x: L) -> L {
    nan_or(x, tan_of(reduce_within(x.abs()), x.to_bits()))
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

/// [`tan`] where `|x|` is at least 1, infinite or NaN; slower, and needed only beyond [`ANGLE_BOUND`].
#[cold]
#[inline(never)]
pub fn tan_beyond(x: f64) -> f64 {
    if x.is_finite() { tan_of(reduce_beyond(x.abs()), x.to_bits()) } else { f64::NAN }
}

/// An angle as `quadrant * π/2 + r + low`, `|r|` hardly above π/4; only the last two bits of `quadrant` mean anything.
struct Angle<L: Lane> {
    quadrant: L::Bits,
    r: L,
    low: L,
}

/// Subtracts the nearest multiple of π/2, given in three parts (Cody and Waite with fused multiply-add).
#[inline(always)]
fn reduce_within<L: Lane>(x: L) -> Angle<L> {
    let shifted = x.mul_add(FRAC_2_PI, ROUND);
    let n = shifted - ROUND;
    // Exact: both terms are multiples of the last bit of π/2 or of x, whichever is less, and the difference is below 1.
    let near = (-n).mul_add(FRAC_PI_2, x);
    let second = n * HALF_PI_SECOND;
    let second_low = n.mul_add(HALF_PI_SECOND, -second);
    // The rounding error of this difference is exact although `near` may be the smaller: it is a multiple of the last
    // bit of `second`.
    let r = near - second;
    let lost = (near - r) - second;
    let low = (-n).mul_add(HALF_PI_THIRD, lost - second_low);
    Angle { quadrant: shifted.to_bits(), r, low }
}

/// Multiplies by just those bits of 2/π that matter (Payne and Hanek).
fn reduce_beyond(x: f64) -> Angle<f64> {
    let bits = x.to_bits();
    let integer = (bits & MANTISSA) | (1 << 52);
    // x = integer * 2^e with e = exponent - 1075. Bit i of 2/π has weight 2^-i, so bits before i = e - 1 only add
    // multiples of 4. Of the 192 bits from there, the product with 53 bits leaves 2 bits of quadrant and at least
    // 137 of fraction.
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
fn sin_of<L: Lane>(angle: Angle<L>, turns: u64, sign: L::Bits) -> L {
    let quadrant = angle.quadrant.wrapping_add(turns);
    let [sine, cosine] = sin_cos(angle);
    let even = L::none_set(quadrant & 1.into());
    let (head, tail) = (L::select(even, sine.0, cosine.0), L::select(even, sine.1, cosine.1));
    L::from_bits((head + tail).to_bits() ^ (((quadrant << 62) ^ sign) & SIGN.into()))
}

/// Tangent of the angle, negated if the top bit of `sign` is set.
#[inline(always)]
fn tan_of<L: Lane>(angle: Angle<L>, sign: L::Bits) -> L {
    let quadrant = angle.quadrant;
    let [sine, cosine] = sin_cos(angle).map(|(head, tail)| fast_sum(head, tail));
    // Every quarter turn makes it the negative inverse.
    let even = L::none_set(quadrant & 1.into());
    let choose = |a: (L, L), b: (L, L)| (L::select(even, a.0, b.0), L::select(even, a.1, b.1));
    let (above, below) = (choose(sine, cosine), choose(cosine, sine));
    let (value, value_low) = quotient(above.0, above.1, below.0, below.1);
    L::from_bits((value + value_low).to_bits() ^ (((quadrant << 63) ^ sign) & SIGN.into()))
}

/// Sine and cosine of `r + low`, each as a sum whose second term is the lesser by far.
#[inline(always)]
fn sin_cos<L: Lane>(angle: Angle<L>) -> [(L, L); 2] {
    let Angle { r, low, .. } = angle;
    let square = r * r;
    let fourth = square * square;

    // cos = 1 - r²/2 + r⁴ p(r²) - r low, with the rounding error of 1 - r²/2 kept.
    let half = r * 0.5;
    let head = (-half).mul_add(r, 1.0);
    let lost = (-half).mul_add(r, L::from(1.0) - head);
    let tail = fourth.mul_add(polynomial(&COS_TERMS, square, fourth), (-r).mul_add(low, lost));

    // sin = r + r³ p(r²) + low cos r.
    [(r, (r * square).mul_add(polynomial(&SIN_TERMS, square, fourth), low * head)), (head, tail)]
}

const TWO_TO_MINUS_128: f64 = f64::from_bits((1023 - 128) << 52);

/// π/2 = `FRAC_PI_2` + these two.
const HALF_PI_SECOND: f64 = 6.123233995736766e-17;
const HALF_PI_THIRD: f64 = -1.4973849048591698e-33;

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
