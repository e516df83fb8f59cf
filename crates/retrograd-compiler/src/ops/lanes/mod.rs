//! Scalar functions as straight sequences of arithmetic: the same bits in the interpreter and in every back end.
//!
//! Each function is one branch-free sequence, the most used ones written over any [`Lane`], of `+ - * /`, `sqrt`,
//! `f64::mul_add`, comparisons and bit operations, all of which IEEE 754 fixes to the last bit. The interpreter runs
//! the sequence on one number; a back end loops over it with as many lanes as it likes. So nothing here may call a
//! library, index a table by data or convert floats to integers with `as` in the common path: the first would differ
//! between machines, the others would not become vector instructions. A NaN result is always `f64::NAN`, because which
//! payload survives an operation is up to the compiler.
//!
//! Errors are in units in the last place (ULP) of the exact result, the largest that was measured against MPFR at 200
//! bits or more on the given number of points: every magnitude, the seams of each reduction, results that are denormal,
//! and densely where it is worst. For `exp` and `tanh` quadruple precision was the judge.
//! The coefficients are minimax fits (Remez exchange in high precision, then rounded), each over its range or slightly
//! more.
//!
//! ```
//! use retrograd_compiler::ops::lanes;
//! assert_eq!(lanes::exp(0.0), 1.0);
//! assert_eq!(lanes::log2(8.0), 3.0);
//! assert_eq!(lanes::sin(-0.0).to_bits(), (-0.0f64).to_bits());
//! assert_eq!(lanes::atan2(0.0, -1.0), std::f64::consts::PI);
//! assert_eq!(lanes::tanh(100.0), 1.0);
//! assert_eq!(lanes::pow(-3.0, 3.0), -27.0);
//! ```

mod arc;
mod double_double;
mod exact;
mod exponential;
mod hyperbolic;
mod inverse_hyperbolic;
mod lane;
mod logarithm;
mod power;
mod special;
#[cfg(test)]
mod tests;
mod trigonometric;

pub use arc::{acos, asin, atan, atan2};
pub use exact::{ceil, copysign, floor, max, min, rem, rem_beyond, rem_is_far, rem_within, round, sign, trunc};
pub use exponential::{exp, exp2, expm1, logistic};
pub use hyperbolic::{cosh, sinh, tanh};
pub use inverse_hyperbolic::{acosh, asinh, atanh};
pub use lane::{Bits, Lane};
pub use logarithm::{log, log1p, log2, log10, logaddexp, logaddexp2};
pub use power::{cbrt, hypot, pow, rsqrt};
pub use special::{erf, erfc};
pub use trigonometric::{
    ANGLE_BOUND, angle_is_huge, cos, cos_beyond, cos_within, sin, sin_beyond, sin_within, tan, tan_beyond, tan_within,
};

/// The polynomial with these coefficients, constant first, by pairs: as many operations as Horner's rule in half the
/// time.
#[inline(always)]
fn polynomial<L: Lane, const TERMS: usize>(terms: &[f64; TERMS], x: L, square: L) -> L {
    let paired = TERMS / 2 * 2;
    let pair = |first: usize| x.mul_add(terms[first + 1], terms[first]);
    let (mut sum, mut first) =
        if paired < TERMS { (terms[paired].into(), paired) } else { (pair(paired - 2), paired - 2) };
    while first > 0 {
        first -= 2;
        sum = sum.mul_add(square, pair(first));
    }
    sum
}

/// The one NaN where `x` is any NaN, else `value`.
#[inline(always)]
fn nan_or<L: Lane>(x: L, value: L) -> L {
    L::select(x.is_nan(), f64::NAN, value)
}

/// `x` between the bounds; NaN passes through.
#[inline(always)]
fn clamp<L: Lane>(x: L, low: f64, high: f64) -> L {
    let x = L::select(x.less(low), low, x);
    L::select(x.greater(high), high, x)
}

/// 2^k for integer `k` from -1022 to 1023.
#[inline(always)]
fn power_of_two<L: Lane>(k: L) -> L {
    L::from_bits((k + (ROUND + BIAS)).to_bits() << 52)
}

const SIGN: u64 = 1 << 63;
const MANTISSA: u64 = (1 << 52) - 1;
const TWO_TO_52: f64 = (1u64 << 52) as f64;
const TWO_TO_54: f64 = (1u64 << 54) as f64;

/// Added to a small number it pushes the fraction out: the low bits of the sum are the nearest integer.
const ROUND: f64 = 1.5 * TWO_TO_52;

/// What the exponent field holds for 2^0; `ROUND + BIAS + k` shifted left by 52 is 2^k.
const BIAS: f64 = 1023.0;
