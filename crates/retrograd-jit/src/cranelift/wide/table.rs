//! What each [`Scalar`] becomes in vectors of eight lanes.

use retrograd_compiler::ir::{DType, Scalar};
use retrograd_compiler::lower::kernel::Fold;

use super::encode::{MaskOp, Op};

/// How an operation is made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Form {
    /// Of two numbers; whether they may be exchanged.
    Two(Op, Order),
    /// Of a number and a constant.
    WithConstant(Op, u64),
    /// Of one number; with an immediate where there is one.
    One(Op, Option<u8>),
    /// The lesser or the greater of two numbers, by the immediate; NaN if either is.
    Extreme(u8),
    /// `a · b + c`.
    Fused,
    /// A truth value of two numbers.
    Compare(Op, u8),
    /// Whether a number differs from itself.
    IsNan,
    /// Of two truth values.
    Masks(MaskOp),
    NotMask,
    /// One number or the other.
    Blend,
    /// These bits where a truth value holds, else 0.
    OfTruth(u64),
    /// The magnitude of one number with the sign of the other.
    CopySign,
}

impl Form {
    /// Whether it makes truth values.
    pub(super) fn is_truth(self) -> bool {
        match self {
            Form::Compare(..) | Form::IsNan | Form::Masks(_) | Form::NotMask => true,
            Form::Two(..) | Form::WithConstant(..) | Form::One(..) | Form::Extreme(_) | Form::Fused => false,
            Form::Blend | Form::OfTruth(_) | Form::CopySign => false,
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Order {
    Any,
    Fixed,
}

pub(super) const SIGN: u64 = 1 << 63;

/// Relations of floats, which do not hold where one is NaN.
pub(super) const LESS: u8 = 0x11;
pub(super) const GREATER: u8 = 0x1e;

/// Rounds as the two lower bits say, without an exception.
const ROUND_BY: u8 = 8;

/// The form of `op`, where `ty` is the type of its last argument; `None` where there is none, and Cranelift's vectors
/// are taken.
pub(super) fn form(op: Scalar, ty: DType) -> Option<Form> {
    match ty {
        DType::F64 => of_floats(op),
        DType::I64 => of_integers(op),
        DType::Bool => of_truths(op),
        DType::F32 | DType::I32 => None,
    }
}

fn of_floats(op: Scalar) -> Option<Form> {
    Some(match op {
        Scalar::Add => Form::Two(Op::ADD, Order::Any),
        Scalar::Sub => Form::Two(Op::SUB, Order::Fixed),
        Scalar::Mul => Form::Two(Op::MUL, Order::Any),
        Scalar::Div => Form::Two(Op::DIV, Order::Fixed),
        Scalar::Fma => Form::Fused,
        Scalar::Neg => Form::WithConstant(Op::XOR, SIGN),
        Scalar::Abs => Form::WithConstant(Op::AND, !SIGN),
        // The sign of a zero counts.
        Scalar::Min => Form::Extreme(4),
        Scalar::Max => Form::Extreme(5),
        Scalar::Sqrt => Form::One(Op::SQRT, None),
        Scalar::Round => Form::One(Op::ROUND, Some(ROUND_BY)),
        Scalar::Floor => Form::One(Op::ROUND, Some(ROUND_BY | 1)),
        Scalar::Ceil => Form::One(Op::ROUND, Some(ROUND_BY | 2)),
        Scalar::Trunc => Form::One(Op::ROUND, Some(ROUND_BY | 3)),
        Scalar::IsNan => Form::IsNan,
        Scalar::Eq => Form::Compare(Op::COMPARE, 0),
        Scalar::Ne => Form::Compare(Op::COMPARE, 4),
        Scalar::Lt => Form::Compare(Op::COMPARE, LESS),
        Scalar::Le => Form::Compare(Op::COMPARE, 0x12),
        Scalar::Ge => Form::Compare(Op::COMPARE, 0x1d),
        Scalar::Gt => Form::Compare(Op::COMPARE, GREATER),
        Scalar::Select => Form::Blend,
        Scalar::Rem | Scalar::Sign | Scalar::Clamp | Scalar::CopySign | Scalar::IsFinite => return None,
        Scalar::And | Scalar::Or | Scalar::Xor | Scalar::Not | Scalar::Shl | Scalar::Shr => return None,
        Scalar::Call(_) | Scalar::Convert(_) => return None,
    })
}

fn of_integers(op: Scalar) -> Option<Form> {
    Some(match op {
        Scalar::Add => Form::Two(Op::ADD_INTEGERS, Order::Any),
        Scalar::Sub => Form::Two(Op::SUB_INTEGERS, Order::Fixed),
        Scalar::Mul => Form::Two(Op::MUL_INTEGERS, Order::Any),
        Scalar::Min => Form::Two(Op::MIN_INTEGERS, Order::Any),
        Scalar::Max => Form::Two(Op::MAX_INTEGERS, Order::Any),
        Scalar::And => Form::Two(Op::AND, Order::Any),
        Scalar::Or => Form::Two(Op::OR, Order::Any),
        Scalar::Xor => Form::Two(Op::XOR, Order::Any),
        Scalar::Not => Form::WithConstant(Op::XOR, !0),
        Scalar::Eq => Form::Compare(Op::COMPARE_INTEGERS, 0),
        Scalar::Lt => Form::Compare(Op::COMPARE_INTEGERS, 1),
        Scalar::Le => Form::Compare(Op::COMPARE_INTEGERS, 2),
        Scalar::Ne => Form::Compare(Op::COMPARE_INTEGERS, 4),
        Scalar::Ge => Form::Compare(Op::COMPARE_INTEGERS, 5),
        Scalar::Gt => Form::Compare(Op::COMPARE_INTEGERS, 6),
        Scalar::Select => Form::Blend,
        Scalar::Convert(DType::F64) => Form::One(Op::TO_FLOATS, None),
        Scalar::Div | Scalar::Rem | Scalar::Fma | Scalar::Neg | Scalar::Abs | Scalar::Sign => return None,
        Scalar::Clamp
        | Scalar::Sqrt
        | Scalar::Floor
        | Scalar::Ceil
        | Scalar::Round
        | Scalar::Trunc
        | Scalar::CopySign => return None,
        Scalar::Call(_) | Scalar::IsNan | Scalar::IsFinite | Scalar::Shl | Scalar::Shr | Scalar::Convert(_) => {
            return None;
        }
    })
}

fn of_truths(op: Scalar) -> Option<Form> {
    Some(match op {
        Scalar::And => Form::Masks(MaskOp::And),
        Scalar::Or => Form::Masks(MaskOp::Or),
        Scalar::Xor | Scalar::Ne => Form::Masks(MaskOp::Xor),
        Scalar::Eq => Form::Masks(MaskOp::Same),
        Scalar::Not => Form::NotMask,
        Scalar::Convert(DType::F64) => Form::OfTruth(1.0f64.to_bits()),
        Scalar::Convert(DType::I64) => Form::OfTruth(1),
        Scalar::Add
        | Scalar::Sub
        | Scalar::Mul
        | Scalar::Div
        | Scalar::Rem
        | Scalar::Fma
        | Scalar::Neg
        | Scalar::Abs => return None,
        Scalar::Sign | Scalar::Min | Scalar::Max | Scalar::Clamp | Scalar::Sqrt | Scalar::Floor | Scalar::Ceil => {
            return None;
        }
        Scalar::Round | Scalar::Trunc | Scalar::CopySign | Scalar::Call(_) | Scalar::IsNan | Scalar::IsFinite => {
            return None;
        }
        Scalar::Lt
        | Scalar::Le
        | Scalar::Gt
        | Scalar::Ge
        | Scalar::Shl
        | Scalar::Shr
        | Scalar::Select
        | Scalar::Convert(_) => return None,
    })
}

/// How a reduction combines its lanes with its partials.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Combine {
    /// In the order of sums: sixteen partials, which begin with these bits.
    Numbers(Op, u64),
    /// The least or the greatest, by the immediate: as numbers, while what is NaN is noted besides.
    Extremes(u8, u64),
    /// In any order: eight truth values, which begin with this one.
    Truths(MaskOp, bool),
}

pub(super) fn combine(fold: &Fold, ty: DType) -> Option<Combine> {
    match form(fold.how.scalar(), ty)? {
        Form::Two(op, Order::Any) => Some(Combine::Numbers(op, fold.how.identity(ty))),
        Form::Extreme(which) => Some(Combine::Extremes(which, fold.how.identity(ty))),
        Form::Masks(op) => Some(Combine::Truths(op, fold.how.identity(ty) != 0)),
        Form::Two(..) | Form::WithConstant(..) | Form::One(..) | Form::Fused | Form::Compare(..) | Form::IsNan => None,
        Form::NotMask | Form::Blend | Form::OfTruth(_) | Form::CopySign => None,
    }
}
