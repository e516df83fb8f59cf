//! What the sequences are written over: a number, or many at once, or instructions being written.

use std::ops::{Add, BitAnd, BitOr, BitXor, Div, Mul, Neg, Shl, Shr, Sub};

/// Something that a sequence computes with, operation by operation.
///
/// For `f64` it is the arithmetic itself. A back end that writes instructions implements it too, and so gets its code
/// from the very sequence that the interpreter runs. A choice is [`select`](Lane::select), never a branch.
///
/// ```
/// use retrograd_compiler::ops::lanes::{Lane, exp};
/// fn twice<L: Lane>(x: L) -> L {
///     exp(x) * 2.0
/// }
/// assert_eq!(twice(0.0), 2.0);
/// ```
pub trait Lane:
    Copy
    + From<f64>
    + Add<Output = Self>
    + Sub<Output = Self>
    + Mul<Output = Self>
    + Div<Output = Self>
    + Neg<Output = Self>
    + Add<f64, Output = Self>
    + Sub<f64, Output = Self>
    + Mul<f64, Output = Self>
{
    /// Whether something holds.
    type Truth: Copy;
    /// The bits of a number.
    type Bits: Bits;

    /// `self * factor + addend`, rounded once.
    fn mul_add(self, factor: impl Into<Self>, addend: impl Into<Self>) -> Self;
    /// The magnitude.
    fn abs(self) -> Self;
    /// The magnitude of `self` with the sign of another.
    fn copysign(self, sign: Self) -> Self;
    /// Its bits.
    fn to_bits(self) -> Self::Bits;
    /// The number of these bits.
    fn from_bits(bits: Self::Bits) -> Self;
    /// `self < other`; not where either is NaN.
    fn less(self, other: impl Into<Self>) -> Self::Truth;
    /// `self > other`; not where either is NaN.
    fn greater(self, other: impl Into<Self>) -> Self::Truth;
    /// `self == other`; not where either is NaN.
    fn equals(self, other: impl Into<Self>) -> Self::Truth;
    /// Whether it is NaN.
    fn is_nan(self) -> Self::Truth;
    /// Whether no bit is set.
    fn none_set(bits: Self::Bits) -> Self::Truth;
    /// `a` where the truth holds, else `b`.
    fn select(truth: Self::Truth, a: impl Into<Self>, b: impl Into<Self>) -> Self;
}

/// The bits of a number, as a sequence computes with them.
pub trait Bits:
    Copy
    + From<u64>
    + BitAnd<Output = Self>
    + BitOr<Output = Self>
    + BitXor<Output = Self>
    + Shl<u32, Output = Self>
    + Shr<u32, Output = Self>
{
    /// The sum, without the carry.
    fn wrapping_add(self, other: impl Into<Self>) -> Self;
    /// The difference, without the borrow.
    fn wrapping_sub(self, other: impl Into<Self>) -> Self;
}

impl Lane for f64 {
    type Truth = bool;
    type Bits = u64;

    #[inline(always)]
    fn mul_add(self, factor: impl Into<f64>, addend: impl Into<f64>) -> f64 {
        f64::mul_add(self, factor.into(), addend.into())
    }

    #[inline(always)]
    fn abs(self) -> f64 {
        f64::abs(self)
    }

    #[inline(always)]
    fn copysign(self, sign: f64) -> f64 {
        f64::copysign(self, sign)
    }

    #[inline(always)]
    fn to_bits(self) -> u64 {
        f64::to_bits(self)
    }

    #[inline(always)]
    fn from_bits(bits: u64) -> f64 {
        f64::from_bits(bits)
    }

    #[inline(always)]
    fn less(self, other: impl Into<f64>) -> bool {
        self < other.into()
    }

    #[inline(always)]
    fn greater(self, other: impl Into<f64>) -> bool {
        self > other.into()
    }

    #[inline(always)]
    fn equals(self, other: impl Into<f64>) -> bool {
        self == other.into()
    }

    #[inline(always)]
    fn is_nan(self) -> bool {
        f64::is_nan(self)
    }

    #[inline(always)]
    fn none_set(bits: u64) -> bool {
        bits == 0
    }

    #[inline(always)]
    fn select(truth: bool, a: impl Into<f64>, b: impl Into<f64>) -> f64 {
        if truth { a.into() } else { b.into() }
    }
}

impl Bits for u64 {
    #[inline(always)]
    fn wrapping_add(self, other: impl Into<u64>) -> u64 {
        u64::wrapping_add(self, other.into())
    }

    #[inline(always)]
    fn wrapping_sub(self, other: impl Into<u64>) -> u64 {
        u64::wrapping_sub(self, other.into())
    }
}
