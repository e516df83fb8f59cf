//! Functions of many lanes in line, from the sequences that the interpreter runs.
//!
//! A [`Recorded`] is a lane that writes instructions: applied to it, `lanes::exp` becomes the IR of exp, one instruction for each of its
//! operations and in its order, so that the bits are the same.

use std::cell::RefCell;
use std::ops::{Add, BitAnd, BitOr, BitXor, Div, Mul, Neg, Shl, Shr, Sub};

use retrograd_compiler::ir::{DType, LaneFunction, Scalar};
use retrograd_compiler::ops::lanes::{self, Bits, Lane};

use super::text::{Form, Text, Value, literal};

/// How a function comes in line.
#[derive(Clone, Copy)]
pub(super) enum Inline {
    /// By its whole sequence.
    Whole(for<'t> fn(Recorded<'t>) -> Recorded<'t>),
    /// By its sequence, except where an argument is rare.
    Unless { within: for<'t> fn(Recorded<'t>) -> Recorded<'t>, rare: for<'t> fn(Recorded<'t>) -> RecordedTruth<'t> },
}

/// The sequence of a function, where it is written over any lane.
pub(super) fn inline(function: LaneFunction) -> Option<Inline> {
    Some(match function {
        LaneFunction::Exp => Inline::Whole(|x| lanes::exp(x)),
        LaneFunction::Exp2 => Inline::Whole(|x| lanes::exp2(x)),
        LaneFunction::Expm1 => Inline::Whole(|x| lanes::expm1(x)),
        LaneFunction::Logistic => Inline::Whole(|x| lanes::logistic(x)),
        LaneFunction::Log => Inline::Whole(|x| lanes::log(x)),
        LaneFunction::Log2 => Inline::Whole(|x| lanes::log2(x)),
        LaneFunction::Log10 => Inline::Whole(|x| lanes::log10(x)),
        LaneFunction::Log1p => Inline::Whole(|x| lanes::log1p(x)),
        LaneFunction::Sinh => Inline::Whole(|x| lanes::sinh(x)),
        LaneFunction::Cosh => Inline::Whole(|x| lanes::cosh(x)),
        LaneFunction::Tanh => Inline::Whole(|x| lanes::tanh(x)),
        LaneFunction::Sin => Inline::Unless { within: |x| lanes::sin_within(x), rare: |x| lanes::angle_is_huge(x) },
        LaneFunction::Cos => Inline::Unless { within: |x| lanes::cos_within(x), rare: |x| lanes::angle_is_huge(x) },
        LaneFunction::Tan => Inline::Unless { within: |x| lanes::tan_within(x), rare: |x| lanes::angle_is_huge(x) },
        LaneFunction::Asin | LaneFunction::Acos | LaneFunction::Atan | LaneFunction::Atan2 => return None,
        LaneFunction::Asinh | LaneFunction::Acosh | LaneFunction::Atanh => return None,
        LaneFunction::Pow | LaneFunction::Hypot | LaneFunction::Cbrt | LaneFunction::Rsqrt => return None,
        LaneFunction::Erf | LaneFunction::Erfc | LaneFunction::Rem => return None,
    })
}

impl Text {
    /// Writes a sequence over a number of lanes.
    pub(super) fn record(&mut self, lanes: u32, x: &Value, sequence: impl for<'t> FnOnce(Recorded<'t>) -> Number) -> Value {
        let recorder = RefCell::new(Recorder { text: std::mem::take(self), lanes, values: vec![x.clone()] });
        let Number(number) = sequence(Recorded::Value(At { recorder: &recorder, number: 0 }));
        let Recorder { text, mut values, .. } = recorder.into_inner();
        *self = text;
        values.swap_remove(number)
    }
}

/// Which of the recorded values a sequence gives.
pub(super) struct Number(usize);

/// What is being written.
struct Recorder {
    text: Text,
    lanes: u32,
    values: Vec<Value>,
}

/// A value of a recording.
#[derive(Clone, Copy)]
pub(super) struct At<'t> {
    recorder: &'t RefCell<Recorder>,
    number: usize,
}

impl<'t> At<'t> {
    pub(super) fn number(self) -> Number {
        Number(self.number)
    }

    /// Writes something of as many lanes.
    fn write(self, instruction: impl FnOnce(&mut Text, u32, &[Value]) -> Value) -> At<'t> {
        let mut recorder = self.recorder.borrow_mut();
        let Recorder { text, lanes, values } = &mut *recorder;
        let value = instruction(text, *lanes, values);
        values.push(value);
        At { recorder: self.recorder, number: values.len() - 1 }
    }
}

/// A number in each lane.
#[derive(Clone, Copy)]
pub(super) enum Recorded<'t> {
    /// The same in all, known now.
    Constant(f64),
    /// Known when the code runs.
    Value(At<'t>),
}

/// Bits in each lane.
#[derive(Clone, Copy)]
pub(super) enum RecordedBits<'t> {
    /// The same in all, known now.
    Constant(u64),
    /// Known when the code runs.
    Value(At<'t>),
}

/// Whether something holds, in each lane; sequences ask this of arguments only.
#[derive(Clone, Copy)]
pub(super) struct RecordedTruth<'t>(pub(super) At<'t>);

impl<'t> Recorded<'t> {
    /// What a sequence gives depends on its argument.
    pub(super) fn number(self) -> Number {
        self.at().expect("no sequence is a constant").number()
    }

    fn at(self) -> Option<At<'t>> {
        match self {
            Recorded::Constant(_) => None,
            Recorded::Value(at) => Some(at),
        }
    }

    fn operand(self, text: &mut Text, lanes: u32, values: &[Value]) -> Value {
        match self {
            Recorded::Constant(x) => text.widen(Form::new(DType::F64, lanes), &literal(DType::F64, x.to_bits())),
            Recorded::Value(at) => values[at.number].clone(),
        }
    }

    /// An op of the loop IR.
    fn compute<const ARITY: usize>(op: Scalar, args: [Recorded<'t>; ARITY]) -> At<'t> {
        let at = args.iter().find_map(|arg| arg.at()).expect("what is known now is not computed later");
        at.write(|text, lanes, values| {
            let args = args.map(|arg| arg.operand(text, lanes, values));
            text.compute(op, Form::new(DType::F64, lanes), &args)
        })
    }
}

impl<'t> RecordedBits<'t> {
    fn operand(self, text: &mut Text, lanes: u32, values: &[Value]) -> Value {
        match self {
            RecordedBits::Constant(bits) => text.number(Form::new(DType::I64, lanes), bits.cast_signed()),
            RecordedBits::Value(at) => values[at.number].clone(),
        }
    }

    fn at(self) -> Option<At<'t>> {
        match self {
            RecordedBits::Constant(_) => None,
            RecordedBits::Value(at) => Some(at),
        }
    }

    fn binary(self, instruction: &str, other: RecordedBits<'t>) -> RecordedBits<'t> {
        let at = self.at().or(other.at()).expect("what is known now is not computed later");
        RecordedBits::Value(at.write(|text, lanes, values| {
            let form = Form::new(DType::I64, lanes);
            let (a, b) = (self.operand(text, lanes, values), other.operand(text, lanes, values));
            text.make(format_args!("{instruction} {form} {a}, {b}"))
        }))
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
                Recorded::Value(Recorded::compute(Scalar::$operator, [self, other]))
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
            Recorded::Value(_) => Recorded::Value(Recorded::compute(Scalar::Neg, [self])),
        }
    }
}

macro_rules! bitwise {
    ($($operator:ident $method:ident($other:ty) = $instruction:literal),*) => {$(
        impl<'t> $operator<$other> for RecordedBits<'t> {
            type Output = RecordedBits<'t>;
            fn $method(self, other: $other) -> RecordedBits<'t> {
                self.binary($instruction, other.into())
            }
        }
    )*};
}
bitwise! { BitAnd bitand(RecordedBits<'t>) = "and", BitOr bitor(RecordedBits<'t>) = "or", BitXor bitxor(RecordedBits<'t>) = "xor" }
bitwise! { Shl shl(u32) = "shl", Shr shr(u32) = "lshr" }

impl From<u32> for RecordedBits<'_> {
    fn from(count: u32) -> Self {
        RecordedBits::Constant(u64::from(count))
    }
}

impl Bits for RecordedBits<'_> {
    fn wrapping_add(self, other: impl Into<Self>) -> Self {
        self.binary("add", other.into())
    }

    fn wrapping_sub(self, other: impl Into<Self>) -> Self {
        self.binary("sub", other.into())
    }
}

impl<'t> Lane for Recorded<'t> {
    type Truth = RecordedTruth<'t>;
    type Bits = RecordedBits<'t>;

    fn mul_add(self, factor: impl Into<Self>, addend: impl Into<Self>) -> Self {
        let args = [self, factor.into(), addend.into()];
        let at = args.iter().find_map(|arg| arg.at()).expect("what is known now is not computed later");
        Recorded::Value(at.write(|text, lanes, values| {
            let [a, b, c] = args.map(|arg| arg.operand(text, lanes, values));
            text.fused(Form::new(DType::F64, lanes), &[&a, &b, &c])
        }))
    }

    fn abs(self) -> Self {
        Recorded::Value(Recorded::compute(Scalar::Abs, [self]))
    }

    fn copysign(self, sign: Self) -> Self {
        // The sign of a NaN does not matter: where it could be seen, a sequence gives NaN.
        let at = self.at().or(sign.at()).expect("what is known now is not computed later");
        Recorded::Value(at.write(|text, lanes, values| {
            let (x, sign) = (self.operand(text, lanes, values), sign.operand(text, lanes, values));
            text.intrinsic("llvm.copysign", Form::new(DType::F64, lanes), &[&x, &sign])
        }))
    }

    fn to_bits(self) -> RecordedBits<'t> {
        match self {
            Recorded::Constant(x) => RecordedBits::Constant(x.to_bits()),
            Recorded::Value(at) => RecordedBits::Value(at.write(|text, lanes, values| {
                let (from, to) = (Form::new(DType::F64, lanes), Form::new(DType::I64, lanes));
                text.make(format_args!("bitcast {from} {} to {to}", values[at.number]))
            })),
        }
    }

    fn from_bits(bits: RecordedBits<'t>) -> Self {
        match bits {
            RecordedBits::Constant(bits) => Recorded::Constant(f64::from_bits(bits)),
            RecordedBits::Value(at) => Recorded::Value(at.write(|text, lanes, values| {
                let (from, to) = (Form::new(DType::I64, lanes), Form::new(DType::F64, lanes));
                text.make(format_args!("bitcast {from} {} to {to}", values[at.number]))
            })),
        }
    }

    fn less(self, other: impl Into<Self>) -> RecordedTruth<'t> {
        RecordedTruth(Recorded::compute(Scalar::Lt, [self, other.into()]))
    }

    fn greater(self, other: impl Into<Self>) -> RecordedTruth<'t> {
        RecordedTruth(Recorded::compute(Scalar::Gt, [self, other.into()]))
    }

    fn equals(self, other: impl Into<Self>) -> RecordedTruth<'t> {
        RecordedTruth(Recorded::compute(Scalar::Eq, [self, other.into()]))
    }

    fn is_nan(self) -> RecordedTruth<'t> {
        RecordedTruth(Recorded::compute(Scalar::IsNan, [self]))
    }

    fn none_set(bits: RecordedBits<'t>) -> RecordedTruth<'t> {
        let at = bits.at().expect("what is known now is not computed later");
        RecordedTruth(at.write(|text, lanes, values| {
            let form = Form::new(DType::I64, lanes);
            let zero = text.number(form, 0);
            text.make(format_args!("icmp eq {form} {}, {zero}", values[at.number]))
        }))
    }

    fn select(truth: RecordedTruth<'t>, a: impl Into<Self>, b: impl Into<Self>) -> Self {
        let (a, b): (Self, Self) = (a.into(), b.into());
        Recorded::Value(truth.0.write(|text, lanes, values| {
            let (a, b) = (a.operand(text, lanes, values), b.operand(text, lanes, values));
            text.select(Form::new(DType::F64, lanes), &values[truth.0.number], &a, &b)
        }))
    }
}
