//! Functions as lists of operations, from the sequences that the interpreter runs, for back ends that have them in
//! line.
//!
//! A [`Recorded`] is a lane that writes down what is done to it: applied to one, `lanes::exp` becomes the list of its
//! operations, in its order, so that the bits are the same. What is done twice is written once.

use std::cell::RefCell;
use std::ops::{Add, BitAnd, BitOr, BitXor, Div, Mul, Neg, Shl, Shr, Sub};

use retrograd_compiler::ir::{DType, LaneFunction, Scalar};
use retrograd_compiler::ops::lanes::{self, Bits, Lane};

/// How a function comes in line.
#[derive(Clone, Copy)]
pub(crate) enum Inline {
    /// By its whole sequence.
    Whole(for<'t> fn(&[Recorded<'t>]) -> Recorded<'t>),
    /// By its sequence, except where the argument is rare.
    Unless {
        within: for<'t> fn(&[Recorded<'t>]) -> Recorded<'t>,
        rare: for<'t> fn(&[Recorded<'t>]) -> RecordedTruth<'t>,
    },
}

/// The sequence of a function, where it is written over any lane.
pub(crate) fn inline(function: LaneFunction) -> Option<Inline> {
    Some(match function {
        LaneFunction::Exp => Inline::Whole(|x| lanes::exp(x[0])),
        LaneFunction::Exp2 => Inline::Whole(|x| lanes::exp2(x[0])),
        LaneFunction::Expm1 => Inline::Whole(|x| lanes::expm1(x[0])),
        LaneFunction::Logistic => Inline::Whole(|x| lanes::logistic(x[0])),
        LaneFunction::Log => Inline::Whole(|x| lanes::log(x[0])),
        LaneFunction::Log2 => Inline::Whole(|x| lanes::log2(x[0])),
        LaneFunction::Log10 => Inline::Whole(|x| lanes::log10(x[0])),
        LaneFunction::Log1p => Inline::Whole(|x| lanes::log1p(x[0])),
        LaneFunction::Sinh => Inline::Whole(|x| lanes::sinh(x[0])),
        LaneFunction::Cosh => Inline::Whole(|x| lanes::cosh(x[0])),
        LaneFunction::Tanh => Inline::Whole(|x| lanes::tanh(x[0])),
        LaneFunction::LogAddExp => Inline::Whole(|x| lanes::logaddexp(x[0], x[1])),
        LaneFunction::LogAddExp2 => Inline::Whole(|x| lanes::logaddexp2(x[0], x[1])),
        LaneFunction::Pow => Inline::Whole(|x| lanes::pow(x[0], x[1])),
        LaneFunction::Sin => {
            Inline::Unless { within: |x| lanes::sin_within(x[0]), rare: |x| lanes::angle_is_huge(x[0]) }
        }
        LaneFunction::Cos => {
            Inline::Unless { within: |x| lanes::cos_within(x[0]), rare: |x| lanes::angle_is_huge(x[0]) }
        }
        LaneFunction::Tan => {
            Inline::Unless { within: |x| lanes::tan_within(x[0]), rare: |x| lanes::angle_is_huge(x[0]) }
        }
        LaneFunction::Asin | LaneFunction::Acos | LaneFunction::Atan | LaneFunction::Atan2 => return None,
        LaneFunction::Asinh | LaneFunction::Acosh | LaneFunction::Atanh => return None,
        LaneFunction::Hypot | LaneFunction::Cbrt | LaneFunction::Rsqrt => return None,
        LaneFunction::Erf | LaneFunction::Erfc | LaneFunction::Rem => return None,
    })
}

/// One operation of a list. Its result is a value; the first numbers are those of the arguments of the function.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Operation {
    pub(crate) op: Op,
    pub(crate) args: Vec<Operand>,
}

/// What an operation is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Op {
    /// Of floats.
    Floats(Scalar),
    /// The magnitude of the first with the sign of the second, bit by bit.
    CopySign,
    /// Of their bits.
    Bits(Scalar),
    /// Of bits, to the right, zeros coming in.
    ShiftRight,
    /// The same bits as numbers of another type.
    Reinterpret(DType),
}

/// What an operation reads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Operand {
    /// These bits, in all lanes.
    Constant(u64),
    /// A value, by its number.
    Value(usize),
}

/// The operations of a sequence of so many arguments, and the number of the value that it gives.
pub(crate) fn record(
    arity: usize,
    sequence: impl for<'t> FnOnce(&[Recorded<'t>]) -> Number,
) -> (Vec<Operation>, usize) {
    let list = List { arity, operations: RefCell::new(vec![]) };
    let arguments: Vec<Recorded<'_>> = (0..arity).map(|number| Recorded::Value(At { list: &list, number })).collect();
    let Number(number) = sequence(&arguments);
    (list.operations.into_inner(), number)
}

/// A list that is being written.
struct List {
    arity: usize,
    operations: RefCell<Vec<Operation>>,
}

/// Which value a sequence gives.
pub(crate) struct Number(usize);

/// A value of a list that is being written.
#[derive(Clone, Copy)]
pub(crate) struct At<'t> {
    list: &'t List,
    number: usize,
}

impl<'t> At<'t> {
    pub(crate) fn number(self) -> Number {
        Number(self.number)
    }

    /// Writes an operation down, unless it is there.
    fn write<const ARITY: usize>(self, op: Op, args: [Operand; ARITY]) -> At<'t> {
        let mut operations = self.list.operations.borrow_mut();
        let operation = Operation { op, args: args.to_vec() };
        let known = operations.iter().position(|known| *known == operation);
        let position = known.unwrap_or_else(|| {
            operations.push(operation);
            operations.len() - 1
        });
        At { list: self.list, number: self.list.arity + position }
    }
}

/// A number in each lane.
#[derive(Clone, Copy)]
pub(crate) enum Recorded<'t> {
    /// The same in all, known now.
    Constant(f64),
    /// Known when the code runs.
    Value(At<'t>),
}

/// Bits in each lane.
#[derive(Clone, Copy)]
pub(crate) enum RecordedBits<'t> {
    /// The same in all, known now.
    Constant(u64),
    /// Known when the code runs.
    Value(At<'t>),
}

/// Whether something holds, in each lane; sequences ask this of arguments only.
#[derive(Clone, Copy)]
pub(crate) struct RecordedTruth<'t>(pub(crate) At<'t>);

impl<'t> Recorded<'t> {
    /// What a sequence gives depends on its argument.
    pub(crate) fn number(self) -> Number {
        self.at().expect("no sequence is a constant").number()
    }

    fn at(self) -> Option<At<'t>> {
        match self {
            Recorded::Constant(_) => None,
            Recorded::Value(at) => Some(at),
        }
    }

    fn operand(self) -> Operand {
        match self {
            Recorded::Constant(x) => Operand::Constant(x.to_bits()),
            Recorded::Value(at) => Operand::Value(at.number),
        }
    }

    fn compute<const ARITY: usize>(op: Op, args: [Recorded<'t>; ARITY]) -> At<'t> {
        let at = args.iter().find_map(|arg| arg.at()).expect("what is known now is not computed later");
        at.write(op, args.map(Recorded::operand))
    }
}

impl<'t> RecordedBits<'t> {
    fn operand(self) -> Operand {
        match self {
            RecordedBits::Constant(bits) => Operand::Constant(bits),
            RecordedBits::Value(at) => Operand::Value(at.number),
        }
    }

    fn at(self) -> Option<At<'t>> {
        match self {
            RecordedBits::Constant(_) => None,
            RecordedBits::Value(at) => Some(at),
        }
    }

    fn binary(self, op: Op, other: RecordedBits<'t>) -> RecordedBits<'t> {
        let at = self.at().or(other.at()).expect("what is known now is not computed later");
        RecordedBits::Value(at.write(op, [self.operand(), other.operand()]))
    }
}

impl From<f64> for Recorded<'_> {
    fn from(x: f64) -> Self {
        Recorded::Constant(x)
    }
}

impl From<u64> for RecordedBits<'_> {
    fn from(bits: u64) -> Self {
        RecordedBits::Constant(bits)
    }
}

macro_rules! arithmetic {
    ($($operator:ident $method:ident),*) => {$(
        impl<'t> $operator for Recorded<'t> {
            type Output = Recorded<'t>;
            fn $method(self, other: Recorded<'t>) -> Recorded<'t> {
                Recorded::Value(Recorded::compute(Op::Floats(Scalar::$operator), [self, other]))
            }
        }

        impl<'t> $operator<f64> for Recorded<'t> {
            type Output = Recorded<'t>;
            fn $method(self, other: f64) -> Recorded<'t> {
                $operator::$method(self, Recorded::Constant(other))
            }
        }
    )*};
}
arithmetic! { Add add, Sub sub, Mul mul, Div div }

impl<'t> Neg for Recorded<'t> {
    type Output = Recorded<'t>;
    fn neg(self) -> Recorded<'t> {
        match self {
            Recorded::Constant(x) => Recorded::Constant(-x),
            Recorded::Value(_) => Recorded::Value(Recorded::compute(Op::Floats(Scalar::Neg), [self])),
        }
    }
}

macro_rules! bitwise {
    ($($operator:ident $method:ident($other:ty) = $op:expr;)*) => {$(
        impl<'t> $operator<$other> for RecordedBits<'t> {
            type Output = RecordedBits<'t>;
            fn $method(self, other: $other) -> RecordedBits<'t> {
                self.binary($op, other.into())
            }
        }
    )*};
}
bitwise! {
    BitAnd bitand(RecordedBits<'t>) = Op::Bits(Scalar::And);
    BitOr bitor(RecordedBits<'t>) = Op::Bits(Scalar::Or);
    BitXor bitxor(RecordedBits<'t>) = Op::Bits(Scalar::Xor);
    Shl shl(u32) = Op::Bits(Scalar::Shl);
    Shr shr(u32) = Op::ShiftRight;
}

impl From<u32> for RecordedBits<'_> {
    fn from(count: u32) -> Self {
        RecordedBits::Constant(u64::from(count))
    }
}

impl Bits for RecordedBits<'_> {
    fn wrapping_add(self, other: impl Into<Self>) -> Self {
        self.binary(Op::Bits(Scalar::Add), other.into())
    }

    fn wrapping_sub(self, other: impl Into<Self>) -> Self {
        self.binary(Op::Bits(Scalar::Sub), other.into())
    }
}

impl<'t> Lane for Recorded<'t> {
    type Truth = RecordedTruth<'t>;
    type Bits = RecordedBits<'t>;

    fn mul_add(self, factor: impl Into<Self>, addend: impl Into<Self>) -> Self {
        Recorded::Value(Recorded::compute(Op::Floats(Scalar::Fma), [self, factor.into(), addend.into()]))
    }

    fn abs(self) -> Self {
        Recorded::Value(Recorded::compute(Op::Floats(Scalar::Abs), [self]))
    }

    fn copysign(self, sign: Self) -> Self {
        // The sign of a NaN does not matter: where it could be seen, a sequence gives NaN.
        Recorded::Value(Recorded::compute(Op::CopySign, [self, sign]))
    }

    fn to_bits(self) -> RecordedBits<'t> {
        match self {
            Recorded::Constant(x) => RecordedBits::Constant(x.to_bits()),
            Recorded::Value(at) => RecordedBits::Value(at.write(Op::Reinterpret(DType::I64), [self.operand()])),
        }
    }

    fn from_bits(bits: RecordedBits<'t>) -> Self {
        match bits {
            RecordedBits::Constant(bits) => Recorded::Constant(f64::from_bits(bits)),
            RecordedBits::Value(at) => Recorded::Value(at.write(Op::Reinterpret(DType::F64), [bits.operand()])),
        }
    }

    fn less(self, other: impl Into<Self>) -> RecordedTruth<'t> {
        RecordedTruth(Recorded::compute(Op::Floats(Scalar::Lt), [self, other.into()]))
    }

    fn greater(self, other: impl Into<Self>) -> RecordedTruth<'t> {
        RecordedTruth(Recorded::compute(Op::Floats(Scalar::Gt), [self, other.into()]))
    }

    fn equals(self, other: impl Into<Self>) -> RecordedTruth<'t> {
        RecordedTruth(Recorded::compute(Op::Floats(Scalar::Eq), [self, other.into()]))
    }

    fn is_nan(self) -> RecordedTruth<'t> {
        RecordedTruth(Recorded::compute(Op::Floats(Scalar::IsNan), [self]))
    }

    fn none_set(bits: RecordedBits<'t>) -> RecordedTruth<'t> {
        let at = bits.at().expect("what is known now is not computed later");
        RecordedTruth(at.write(Op::Bits(Scalar::Eq), [bits.operand(), Operand::Constant(0)]))
    }

    fn select(truth: RecordedTruth<'t>, a: impl Into<Self>, b: impl Into<Self>) -> Self {
        let (a, b): (Self, Self) = (a.into(), b.into());
        Recorded::Value(
            truth.0.write(Op::Floats(Scalar::Select), [Operand::Value(truth.0.number), a.operand(), b.operand()]),
        )
    }
}

#[cfg(test)]
mod tests {
    use retrograd_compiler::ir::LaneFunction;

    use super::{Inline, inline, record};
    use crate::blocks::{FUNCTIONS, callee};

    /// Plans are priced by it.
    #[test]
    fn what_is_called_a_sequence_comes_in_line() {
        for function in FUNCTIONS {
            assert_eq!(matches!(inline(*function), Some(Inline::Whole(_))), function.is_sequence(), "{function:?}");
        }
    }

    /// Operations of every function in line. Whoever makes one longer, or brings it out of line, changes this table.
    const OPERATIONS: &[(LaneFunction, usize)] = &[
        (LaneFunction::Exp, 32),
        (LaneFunction::Exp2, 43),
        (LaneFunction::Expm1, 55),
        (LaneFunction::Logistic, 61),
        (LaneFunction::Log, 45),
        (LaneFunction::Log2, 49),
        (LaneFunction::Log10, 51),
        (LaneFunction::Log1p, 63),
        (LaneFunction::Sin, 52),
        (LaneFunction::Cos, 51),
        (LaneFunction::Tan, 66),
        (LaneFunction::Sinh, 61),
        (LaneFunction::Cosh, 60),
        (LaneFunction::Tanh, 38),
        (LaneFunction::Pow, 152),
        (LaneFunction::LogAddExp, 107),
        (LaneFunction::LogAddExp2, 119),
    ];

    #[test]
    fn functions_in_line_have_as_many_operations_as_the_table_says() {
        let operations = |function: LaneFunction| {
            let arity = callee(function).arity;
            inline(function).map(|known| match known {
                Inline::Whole(sequence) | Inline::Unless { within: sequence, .. } => {
                    record(arity, |x| sequence(x).number()).0.len()
                }
            })
        };
        let found: Vec<_> = FUNCTIONS.iter().filter_map(|function| Some((*function, operations(*function)?))).collect();
        assert_eq!(found, OPERATIONS);
    }
}
