//! What arithmetic means on each kind of number: IEEE 754 on f32 and f64, two's complement that wraps on i32 and i64.

use super::lanes;
use crate::ir::Element;

/// A float or an integer.
pub(super) trait Number: Element {
    /// 0.
    const ZERO: Self;
    /// 1.
    const ONE: Self;
    fn plus(self, other: Self) -> Self;
    fn minus(self, other: Self) -> Self;
    fn times(self, other: Self) -> Self;
    /// The quotient; of integers, towards zero, the divisor not being 0.
    fn over(self, other: Self) -> Self;
    /// What a division towards zero leaves over; of integers, the divisor not being 0.
    fn rest(self, other: Self) -> Self;
    fn negative(self) -> Self;
    fn magnitude(self) -> Self;
    /// -1, 0 or 1; a zero keeps its sign.
    fn sign(self) -> Self;
    /// The lesser of two, where -0 is less than 0; NaN if either is.
    fn least(self, other: Self) -> Self;
    /// The greater of two, where 0 is greater than -0; NaN if either is.
    fn greatest(self, other: Self) -> Self;
    /// Whether it is a NaN; no integer is.
    fn nan(self) -> bool;
}

/// A float. Functions of `lanes` on f32 are those of the widened argument, rounded to f32.
pub(super) trait Float: Number {
    /// The square root, rounded once.
    fn root(self) -> Self;
    /// `self · factor + term`, rounded once.
    fn fused(self, factor: Self, term: Self) -> Self;
    /// A function of f64.
    fn through(self, f: fn(f64) -> f64) -> Self;
    /// A function of two f64.
    fn through_both(self, other: Self, f: fn(f64, f64) -> f64) -> Self;
    /// Neither infinite nor NaN.
    fn finite(self) -> bool;
}

/// Bits, or one of them.
pub(super) trait Bits: Element {
    fn and(self, other: Self) -> Self;
    fn or(self, other: Self) -> Self;
    fn xor(self, other: Self) -> Self;
    fn inverse(self) -> Self;
}

/// An integer.
pub(super) trait Integer: Number + Bits {
    /// Multiplied by 2 so often; 0 where the count is negative, or the width or more.
    fn left(self, count: Self) -> Self;
    /// Halved so often, rounding down; 0 or -1, by the sign, where the count is negative, or the width or more.
    fn right(self, count: Self) -> Self;
}

macro_rules! floats {
    ($($ty:ident;)*) => {$(
        impl Number for $ty {
            const ZERO: $ty = 0.0;
            const ONE: $ty = 1.0;
            fn plus(self, other: $ty) -> $ty {
                self + other
            }
            fn minus(self, other: $ty) -> $ty {
                self - other
            }
            fn times(self, other: $ty) -> $ty {
                self * other
            }
            fn over(self, other: $ty) -> $ty {
                self / other
            }
            // The remainder is a number of f32 where both arguments are, and so are all that follow.
            fn rest(self, other: $ty) -> $ty {
                self.through_both(other, lanes::rem)
            }
            fn negative(self) -> $ty {
                -self
            }
            fn magnitude(self) -> $ty {
                self.abs()
            }
            fn sign(self) -> $ty {
                self.through(lanes::sign)
            }
            fn least(self, other: $ty) -> $ty {
                self.through_both(other, lanes::min)
            }
            fn greatest(self, other: $ty) -> $ty {
                self.through_both(other, lanes::max)
            }
            fn nan(self) -> bool {
                self.is_nan()
            }
        }

        impl Float for $ty {
            fn root(self) -> $ty {
                self.sqrt()
            }
            fn fused(self, factor: $ty, term: $ty) -> $ty {
                self.mul_add(factor, term)
            }
            fn through(self, f: fn(f64) -> f64) -> $ty {
                f(self.to_f64()) as $ty
            }
            fn through_both(self, other: $ty, f: fn(f64, f64) -> f64) -> $ty {
                f(self.to_f64(), other.to_f64()) as $ty
            }
            fn finite(self) -> bool {
                self.is_finite()
            }
        }
    )*};
}

floats! {
    f32;
    f64;
}

macro_rules! integers {
    ($($ty:ident;)*) => {$(
        impl Number for $ty {
            const ZERO: $ty = 0;
            const ONE: $ty = 1;
            fn plus(self, other: $ty) -> $ty {
                self.wrapping_add(other)
            }
            fn minus(self, other: $ty) -> $ty {
                self.wrapping_sub(other)
            }
            fn times(self, other: $ty) -> $ty {
                self.wrapping_mul(other)
            }
            fn over(self, other: $ty) -> $ty {
                self.wrapping_div(other)
            }
            fn rest(self, other: $ty) -> $ty {
                self.wrapping_rem(other)
            }
            fn negative(self) -> $ty {
                self.wrapping_neg()
            }
            fn magnitude(self) -> $ty {
                self.wrapping_abs()
            }
            fn sign(self) -> $ty {
                self.signum()
            }
            fn least(self, other: $ty) -> $ty {
                self.min(other)
            }
            fn greatest(self, other: $ty) -> $ty {
                self.max(other)
            }
            fn nan(self) -> bool {
                false
            }
        }

        impl Integer for $ty {
            fn left(self, count: $ty) -> $ty {
                u32::try_from(count).ok().and_then(|count| self.checked_shl(count)).unwrap_or(0)
            }
            fn right(self, count: $ty) -> $ty {
                let count = u32::try_from(count).unwrap_or($ty::BITS).min($ty::BITS - 1);
                self >> count
            }
        }
    )*};
}

integers! {
    i32;
    i64;
}

macro_rules! bits {
    ($($ty:ident;)*) => {$(
        impl Bits for $ty {
            fn and(self, other: $ty) -> $ty {
                self & other
            }
            fn or(self, other: $ty) -> $ty {
                self | other
            }
            fn xor(self, other: $ty) -> $ty {
                self ^ other
            }
            fn inverse(self) -> $ty {
                !self
            }
        }
    )*};
}

bits! {
    i32;
    i64;
    bool;
}
