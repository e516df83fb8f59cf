//! Inverse sine, cosine and tangent.

use super::double_double::{fast_sum, quotient, root};
use super::{clamp, nan_or, polynomial};
use std::f64::consts::{FRAC_PI_2, FRAC_PI_4, PI};

/// Inverse sine; NaN outside [-1, 1].
///
/// Largest error 0.63 ULP on 0.45 million points.
#[inline(always)]
pub fn asin(x: f64) -> f64 {
    let magnitude = x.abs();
    let Arc { outer, s, tail } = asin_near(magnitude);
    // Outside [-1/2, 1/2] it is π/2 - 2 asin sqrt((1 - |x|) / 2).
    let (base, base_low) = if outer { (FRAC_PI_2, HALF_PI_LOW) } else { (0.0, 0.0) };
    let factor = if outer { -2.0 } else { 1.0 };
    let (sum, lost) = fast_sum(base, factor * s);
    let value = sum + (lost + factor.mul_add(tail, base_low));
    if magnitude <= 1.0 { value.copysign(x) } else { f64::NAN }
}

/// Inverse cosine; NaN outside [-1, 1].
///
/// Largest error 0.62 ULP on 0.45 million points.
#[inline(always)]
pub fn acos(x: f64) -> f64 {
    let magnitude = x.abs();
    let Arc { outer, s, tail } = asin_near(magnitude);
    // 2 asin sqrt((1 - |x|) / 2) for x > 1/2, π minus that for x < -1/2, else π/2 - asin x.
    let (outer_base, outer_low) = if x < 0.0 { (PI, 2.0 * HALF_PI_LOW) } else { (0.0, 0.0) };
    let (base, base_low) = if outer { (outer_base, outer_low) } else { (FRAC_PI_2, HALF_PI_LOW) };
    let factor = if outer { 2.0f64 } else { -1.0 }.copysign(if outer { x } else { -x });
    let (sum, lost) = fast_sum(base, factor * s);
    let value = sum + (lost + factor.mul_add(tail, base_low));
    if magnitude <= 1.0 { value } else { f64::NAN }
}

/// Inverse tangent.
///
/// Largest error 0.66 ULP on 0.68 million points.
#[inline(always)]
pub fn atan(x: f64) -> f64 {
    // From 2^70 on the result is π/2. Two clamps and not one choice, lest the compiler makes a branch with everything
    // in both arms.
    let magnitude = x.abs();
    let octant = atan_near(clamp(magnitude, 0.0, 1.0), clamp(magnitude, 1.0, TWO_TO_70));
    let octant = if magnitude > 1.0 { octant.taken_from(2.0) } else { octant };
    nan_or(x, octant.angle().copysign(x))
}

/// The angle of the point `(x, y)` from the positive x axis, between -π and π; signed zeros and infinities as in IEEE
/// 754.
///
/// Largest error 0.75 ULP on 0.52 million points.
#[inline(always)]
pub fn atan2(y: f64, x: f64) -> f64 {
    let (across, up) = (x.abs(), y.abs());
    let steep = up > across;
    let (long, short) = if steep { (up, across) } else { (across, up) };

    // A power of two that keeps quotients and what they leave over in range. An infinite side is one unit, and so is
    // one of length 0.
    let factor = if long > TWO_TO_400 { TWO_TO_MINUS_200 } else { TWO_TO_600 };
    let infinite = long == f64::INFINITY;
    let unit = infinite | (long == 0.0);
    let far_short = if short == f64::INFINITY { 1.0 } else { 0.0 };
    let short = if infinite { far_short } else { short * factor };
    let long = if unit { 1.0 } else { long * factor };

    let octant = atan_near(short, long);
    let octant = if steep { octant.taken_from(2.0) } else { octant };
    let octant = if x.is_sign_negative() { octant.taken_from(4.0) } else { octant };
    if x.is_nan() | y.is_nan() { f64::NAN } else { octant.angle().copysign(y) }
}

/// The inverse sine of a number up to 1/2, `s + tail`.
struct Arc {
    /// Whether the number is sqrt((1 - x) / 2) rather than x.
    outer: bool,
    s: f64,
    tail: f64,
}

#[inline(always)]
fn asin_near(x: f64) -> Arc {
    let outer = x > 0.5;
    // Exact from 1/2 on. Inside, the root is known.
    let square = if outer { 0.5 * (1.0 - x) } else { x * x };
    let (s, s_low) = root(square, 0.0);
    let s = if outer { s } else { x };
    let s_low = if outer { s_low } else { 0.0 };
    // s + s³ p(s²) + s_low (1 + s²/2).
    let bent_low = s_low.mul_add(0.5 * square, s_low);
    Arc { outer, s, tail: (s * square).mul_add(polynomial(&ASIN_TERMS, square, square * square), bent_low) }
}

/// The angle `quarters * π/4 + t + tail`, `t` up to tan π/8.
#[derive(Clone, Copy)]
struct Octant {
    quarters: f64,
    t: f64,
    tail: f64,
}

/// The angle whose tangent is `short / long`, which are not negative.
#[inline(always)]
fn atan_near(short: f64, long: f64) -> Octant {
    // Above tan π/8 it is π/4 + atan((short - long) / (short + long)).
    let upper = short > TAN_PI_8 * long;
    let (difference, difference_low) = fast_sum(-long, short);
    let (total, total_low) = fast_sum(long, short);
    let above = if upper { difference } else { short };
    let above_low = if upper { difference_low } else { 0.0 };
    let below = if upper { total } else { long };
    let below_low = if upper { total_low } else { 0.0 };
    let (t, t_low) = quotient(above, above_low, below, below_low);
    // t + t³ p(t²) + t_low (1 - t²).
    let square = t * t;
    let bent_low = t_low.mul_add(-square, t_low);
    let tail = (t * square).mul_add(polynomial(&ATAN_TERMS, square, square * square), bent_low);
    Octant { quarters: if upper { 1.0 } else { 0.0 }, t, tail }
}

impl Octant {
    /// `quarters * π/4` minus this.
    #[inline(always)]
    fn taken_from(self, quarters: f64) -> Octant {
        Octant { quarters: quarters - self.quarters, t: -self.t, tail: -self.tail }
    }

    #[inline(always)]
    fn angle(self) -> f64 {
        let base = self.quarters * FRAC_PI_4;
        let base_low = self.quarters.mul_add(0.5 * HALF_PI_LOW, self.quarters.mul_add(FRAC_PI_4, -base));
        let (sum, lost) = fast_sum(base, self.t);
        sum + (lost + (base_low + self.tail))
    }
}

const TAN_PI_8: f64 = 0.41421356237309503;
const TWO_TO_70: f64 = f64::from_bits((1023 + 70) << 52);
const TWO_TO_400: f64 = f64::from_bits((1023 + 400) << 52);
const TWO_TO_600: f64 = f64::from_bits((1023 + 600) << 52);
const TWO_TO_MINUS_200: f64 = f64::from_bits((1023 - 200) << 52);

/// π/2 = `FRAC_PI_2` + this.
const HALF_PI_LOW: f64 = 6.123233995736766e-17;

/// (asin(s) / s - 1) / s² in powers of s² for |s| <= 1/2; the inverse sine has a relative error of 2^-59.8.
const ASIN_TERMS: [f64; 13] = [
    0.16666666666666763,
    0.07499999999970126,
    0.04464285717525831,
    0.03038194267667975,
    0.022372215864549624,
    0.017351596274965027,
    0.013981008894100307,
    0.011397374569387584,
    0.010788850697808583,
    0.0036740093953686374,
    0.021786100679730736,
    -0.021110140884698966,
    0.03269796162119206,
];

/// (atan(t) / t - 1) / t² in powers of t² for |t| <= tan π/8; the inverse tangent has a relative error of 2^-63.8.
const ATAN_TERMS: [f64; 12] = [
    -0.33333333333333326,
    0.19999999999997095,
    -0.14285714285316412,
    0.1111111108374803,
    -0.0909090798602488,
    0.0769227920685553,
    -0.06666174804018414,
    0.05876518038175711,
    -0.052151941203242604,
    0.04490628912931985,
    -0.033176758984616014,
    0.014895956620168028,
];
