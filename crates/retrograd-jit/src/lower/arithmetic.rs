//! What each [`Scalar`] becomes, on one number or on a pair of lanes.
//!
//! A truth value is a byte, 0 or 1, in scalar code, and a mask of 64 bits per lane in a pair.

use cranelift_codegen::ir::condcodes::{FloatCC, IntCC};
use cranelift_codegen::ir::{ConstantData, InstBuilder, InstructionData, MemFlagsData, Type, Value, types};
use retrograd_compiler::ir::{DType, Scalar};

use super::{Lower, NARROW};
use crate::runtime::Import;

/// How many lanes a value has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Width {
    /// Scalar code.
    One,
    /// A vector of 128 bits, the widest that Cranelift has.
    Two,
}

impl Width {
    pub(super) fn lanes(self) -> u32 {
        match self {
            Width::One => 1,
            Width::Two => 2,
        }
    }

    /// The Cranelift type of a value.
    pub(super) fn native(self, ty: DType) -> Type {
        match (self, ty) {
            (Width::One, DType::F64) => types::F64,
            (Width::One, DType::I64) => types::I64,
            (Width::One, DType::Bool) => types::I8,
            (Width::Two, DType::F64) => types::F64X2,
            (Width::Two, DType::I64 | DType::Bool) => types::I64X2,
            (_, DType::F32 | DType::I32) => panic!("{NARROW}"),
        }
    }
}

impl Lower<'_, '_> {
    /// `op(args)`, where `ty` is the type of the last argument (the first of a select is a truth value).
    pub(super) fn compute(&mut self, width: Width, op: Scalar, ty: DType, args: &[Value]) -> Value {
        match op {
            Scalar::Add | Scalar::Sub | Scalar::Mul | Scalar::Div => self.binary(width, op, ty, args[0], args[1]),
            Scalar::Neg if ty == DType::F64 => self.builder.ins().fneg(args[0]),
            Scalar::Neg => self.builder.ins().ineg(args[0]),
            Scalar::Abs if ty == DType::F64 => self.builder.ins().fabs(args[0]),
            Scalar::Abs => self.builder.ins().iabs(args[0]),
            Scalar::Sign if ty == DType::F64 => self.float_sign(width, args[0]),
            Scalar::Sign => self.integer_sign(width, args[0]),
            // As the lane functions, Cranelift's order -0 before +0 and pass on NaN.
            Scalar::Min if ty == DType::F64 => self.builder.ins().fmin(args[0], args[1]),
            Scalar::Max if ty == DType::F64 => self.builder.ins().fmax(args[0], args[1]),
            Scalar::Min => self.lesser(width, ty, [args[0], args[1]], [args[0], args[1]]),
            Scalar::Max => self.lesser(width, ty, [args[0], args[1]], [args[1], args[0]]),
            Scalar::Sqrt => self.builder.ins().sqrt(args[0]),
            Scalar::Floor => self.builder.ins().floor(args[0]),
            Scalar::Ceil => self.builder.ins().ceil(args[0]),
            Scalar::Round => self.builder.ins().nearest(args[0]),
            Scalar::Trunc => self.builder.ins().trunc(args[0]),
            Scalar::CopySign => {
                // A NaN counts as positive.
                let zero = self.float(width, 0.0);
                let number = self.builder.ins().fcmp(FloatCC::Ordered, args[1], args[1]);
                let sign = self.select(width, DType::F64, number, args[1], zero);
                self.copy_sign(width, args[0], sign)
            }
            Scalar::Call(function) => {
                assert_eq!(width, Width::One, "vector loops call functions by blocks");
                self.call(Import::One(function), args).expect("it returns a number")
            }
            Scalar::IsNan => self.builder.ins().fcmp(FloatCC::Unordered, args[0], args[0]),
            Scalar::IsFinite => {
                let magnitude = self.builder.ins().fabs(args[0]);
                let infinity = self.float(width, f64::INFINITY);
                self.builder.ins().fcmp(FloatCC::LessThan, magnitude, infinity)
            }
            Scalar::Lt => self.compare(width, Relation::LESS, ty, args[0], args[1]),
            Scalar::Le => self.compare(width, Relation::LESS_OR_EQUAL, ty, args[0], args[1]),
            Scalar::Gt => self.compare(width, Relation::LESS, ty, args[1], args[0]),
            Scalar::Ge => self.compare(width, Relation::LESS_OR_EQUAL, ty, args[1], args[0]),
            Scalar::Eq => self.compare(width, Relation::EQUAL, ty, args[0], args[1]),
            Scalar::Ne => self.compare(width, Relation::DIFFERENT, ty, args[0], args[1]),
            Scalar::And => self.builder.ins().band(args[0], args[1]),
            Scalar::Or => self.builder.ins().bor(args[0], args[1]),
            Scalar::Not => match width {
                Width::One => self.builder.ins().bxor_imm_u(args[0], 1),
                Width::Two => self.builder.ins().bnot(args[0]),
            },
            Scalar::Select => self.select(width, ty, args[0], args[1], args[2]),
            Scalar::Convert(to) => self.convert(width, ty, to, args[0]),
        }
    }

    fn binary(&mut self, width: Width, op: Scalar, ty: DType, a: Value, b: Value) -> Value {
        match (op, ty) {
            (Scalar::Add, DType::F64) => self.builder.ins().fadd(a, b),
            (Scalar::Sub, DType::F64) => self.builder.ins().fsub(a, b),
            (Scalar::Mul, DType::F64) => self.builder.ins().fmul(a, b),
            (Scalar::Div, DType::F64) => self.builder.ins().fdiv(a, b),
            (Scalar::Add, DType::I64) => self.builder.ins().iadd(a, b),
            (Scalar::Sub, DType::I64) => self.builder.ins().isub(a, b),
            (Scalar::Mul, DType::I64) => self.builder.ins().imul(a, b),
            (Scalar::Div, DType::I64) => match width {
                Width::One => self.divide(a, b),
                Width::Two => self.lane_by_lane(types::I64X2, &[a, b], |lower, lanes| lower.divide(lanes[0], lanes[1])),
            },
            (op, ty) => panic!("verified: {op:?} is not applied to {ty}"),
        }
    }

    /// Truncating and wrapping; division by zero gives the dividend (the fault is recorded elsewhere).
    fn divide(&mut self, a: Value, b: Value) -> Value {
        let zero = self.builder.ins().icmp_imm_s(IntCC::Equal, b, 0);
        let minus = self.builder.ins().icmp_imm_s(IntCC::Equal, b, -1);
        let awkward = self.builder.ins().bor(zero, minus);
        let one = self.integer(1);
        let divisor = self.builder.ins().select(awkward, one, b);
        let quotient = self.builder.ins().sdiv(a, divisor);
        // a / −1 = −a, also for the smallest integer, where the machine would trap.
        let negative = self.builder.ins().ineg(a);
        self.builder.ins().select(minus, negative, quotient)
    }

    /// 1 with the sign of `x`, but zeros and NaN as they are.
    fn float_sign(&mut self, width: Width, x: Value) -> Value {
        let (one, zero) = (self.float(width, 1.0), self.float(width, 0.0));
        let unit = self.copy_sign(width, one, x);
        let magnitude = self.builder.ins().fabs(x);
        let other = self.builder.ins().fcmp(FloatCC::GreaterThan, magnitude, zero);
        self.select(width, DType::F64, other, unit, x)
    }

    /// All bits of the sign, or'ed with whether the negation has one.
    fn integer_sign(&mut self, width: Width, x: Value) -> Value {
        match width {
            Width::One => {
                let below = self.builder.ins().sshr_imm_u(x, 63);
                let negative = self.builder.ins().ineg(x);
                let above = self.builder.ins().ushr_imm_u(negative, 63);
                self.builder.ins().bor(below, above)
            }
            Width::Two => self.lane_by_lane(types::I64X2, &[x], |lower, lanes| lower.integer_sign(Width::One, lanes[0])),
        }
    }

    /// The first choice where `a < b`, else the second.
    fn lesser(&mut self, width: Width, ty: DType, [a, b]: [Value; 2], [less, other]: [Value; 2]) -> Value {
        let holds = self.compare(width, Relation::LESS, ty, a, b);
        self.select(width, ty, holds, less, other)
    }

    fn copy_sign(&mut self, width: Width, x: Value, sign: Value) -> Value {
        match width {
            Width::One => self.builder.ins().fcopysign(x, sign),
            Width::Two => {
                let mask = self.float(width, -0.0);
                self.builder.ins().bitselect(mask, sign, x)
            }
        }
    }

    /// A number in all lanes.
    fn float(&mut self, width: Width, x: f64) -> Value {
        match width {
            Width::One => self.builder.ins().f64const(x),
            Width::Two => self.pair_of(types::F64X2, [x.to_bits(); 2]),
        }
    }

    fn compare(&mut self, width: Width, relation: Relation, ty: DType, a: Value, b: Value) -> Value {
        match (ty, width) {
            (DType::F64, _) => self.builder.ins().fcmp(relation.float, a, b),
            (DType::I64, _) => self.builder.ins().icmp(relation.int, a, b),
            // Bytes 0 and 1.
            (DType::Bool, Width::One) => self.builder.ins().icmp(relation.int, a, b),
            // false < true, but as masks 0 > −1.
            (DType::Bool, Width::Two) => self.builder.ins().icmp(relation.int, b, a),
            (DType::F32 | DType::I32, _) => panic!("{NARROW}"),
        }
    }

    fn select(&mut self, width: Width, ty: DType, cond: Value, a: Value, b: Value) -> Value {
        match width {
            Width::One => self.builder.ins().select(cond, a, b),
            Width::Two => {
                let mask = match ty {
                    DType::F64 => self.builder.ins().bitcast(types::F64X2, MemFlagsData::new(), cond),
                    DType::I64 | DType::Bool => cond,
                    DType::F32 | DType::I32 => panic!("{NARROW}"),
                };
                self.builder.ins().bitselect(mask, a, b)
            }
        }
    }

    fn convert(&mut self, width: Width, from: DType, to: DType, x: Value) -> Value {
        match (from, to, width) {
            (DType::F64, DType::F64, _) | (DType::I64, DType::I64, _) | (DType::Bool, DType::Bool, _) => x,
            (DType::F64, DType::I64, Width::One) => self.builder.ins().fcvt_to_sint_sat(types::I64, x),
            (DType::F64, DType::I64, Width::Two) => {
                self.lane_by_lane(types::I64X2, &[x], |lower, lanes| lower.builder.ins().fcvt_to_sint_sat(types::I64, lanes[0]))
            }
            (DType::I64, DType::F64, Width::One) => self.builder.ins().fcvt_from_sint(types::F64, x),
            (DType::I64, DType::F64, Width::Two) => self.integers_to_floats(x),
            (DType::F64, DType::Bool, Width::One) => {
                let zero = self.builder.ins().f64const(0.0);
                self.builder.ins().fcmp(FloatCC::NotEqual, x, zero)
            }
            (DType::F64, DType::Bool, Width::Two) => {
                let zero = self.pair_of(types::F64X2, [0, 0]);
                self.builder.ins().fcmp(FloatCC::NotEqual, x, zero)
            }
            (DType::I64, DType::Bool, Width::One) => self.builder.ins().icmp_imm_s(IntCC::NotEqual, x, 0),
            (DType::I64, DType::Bool, Width::Two) => {
                let zero = self.pair_of(types::I64X2, [0, 0]);
                self.builder.ins().icmp(IntCC::NotEqual, x, zero)
            }
            (DType::Bool, DType::I64, Width::One) => self.builder.ins().uextend(types::I64, x),
            (DType::Bool, DType::I64, Width::Two) => {
                let one = self.pair_of(types::I64X2, [1, 1]);
                self.builder.ins().band(x, one)
            }
            (DType::Bool, DType::F64, Width::One) => {
                let wide = self.builder.ins().uextend(types::I64, x);
                self.builder.ins().fcvt_from_sint(types::F64, wide)
            }
            (DType::Bool, DType::F64, Width::Two) => {
                let one = self.pair_of(types::I64X2, [1.0_f64.to_bits(); 2]);
                let bits = self.builder.ins().band(x, one);
                self.builder.ins().bitcast(types::F64X2, MemFlagsData::new(), bits)
            }
            (DType::F32 | DType::I32, ..) | (_, DType::F32 | DType::I32, _) => panic!("{NARROW}"),
        }
    }

    /// Both halves of an integer are placed under an exponent, which makes exact floats of them; only their sum rounds.
    fn integers_to_floats(&mut self, x: Value) -> Value {
        let low_bits = self.pair_of(types::I64X2, [0xffff_ffff; 2]);
        let low_exponent = self.pair_of(types::I64X2, [0x4330_0000_0000_0000; 2]); // 2^52
        let high_exponent = self.pair_of(types::I64X2, [0x4530_0000_8000_0000; 2]); // 2^84 + 2^63
        let both = self.pair_of(types::F64X2, [0x4530_0000_8010_0000; 2]); // 2^84 + 2^63 + 2^52
        let low = self.builder.ins().band(x, low_bits);
        let low = self.builder.ins().bor(low, low_exponent);
        let half = self.builder.ins().iconst(types::I32, 32);
        let high = self.builder.ins().ushr(x, half);
        let high = self.builder.ins().bxor(high, high_exponent);
        let low = self.builder.ins().bitcast(types::F64X2, MemFlagsData::new(), low);
        let high = self.builder.ins().bitcast(types::F64X2, MemFlagsData::new(), high);
        let high = self.builder.ins().fsub(high, both);
        self.builder.ins().fadd(high, low)
    }

    /// What has no vector instruction.
    fn lane_by_lane(&mut self, result: Type, args: &[Value], compute: impl Fn(&mut Self, &[Value]) -> Value) -> Value {
        let lanes = [0, 1].map(|lane: u8| {
            let args: Vec<Value> = args.iter().map(|&arg| self.builder.ins().extractlane(arg, lane)).collect();
            compute(self, &args)
        });
        self.pair(result, lanes)
    }

    /// Two scalars as a vector.
    pub(super) fn pair(&mut self, ty: Type, [low, high]: [Value; 2]) -> Value {
        let low = self.builder.ins().scalar_to_vector(ty, low);
        self.builder.ins().insertlane(low, high, 1)
    }

    /// One lane of a pair, as scalar code holds it.
    pub(super) fn lane(&mut self, ty: DType, pair: Value, lane: u8) -> Value {
        let one = self.builder.ins().extractlane(pair, lane);
        match ty {
            DType::Bool => {
                let byte = self.builder.ins().ireduce(types::I8, one);
                self.builder.ins().band_imm_u(byte, 1)
            }
            DType::F64 | DType::I64 => one,
            DType::F32 | DType::I32 => panic!("{NARROW}"),
        }
    }

    /// A pair with one lane replaced.
    pub(super) fn with_lane(&mut self, ty: DType, pair: Value, one: Value, lane: u8) -> Value {
        let one = match ty {
            DType::Bool => {
                let word = self.builder.ins().uextend(types::I64, one);
                self.builder.ins().ineg(word)
            }
            DType::F64 | DType::I64 => one,
            DType::F32 | DType::I32 => panic!("{NARROW}"),
        };
        self.builder.ins().insertlane(pair, one, lane)
    }

    /// A constant vector.
    pub(super) fn pair_of(&mut self, ty: Type, bits: [u64; 2]) -> Value {
        let bytes: Vec<u8> = bits.iter().flat_map(|bits| bits.to_le_bytes()).collect();
        let constant = self.builder.func.dfg.constants.insert(ConstantData::from(bytes.as_slice()));
        self.builder.ins().vconst(ty, constant)
    }

    /// The same scalar in all lanes.
    pub(super) fn widen(&mut self, width: Width, ty: DType, x: Value) -> Value {
        match (width, ty) {
            (Width::One, _) => x,
            (Width::Two, DType::F64) => match self.constant(x) {
                // A constant is read from memory where it is used, and costs no register.
                Some(bits) => self.pair_of(types::F64X2, [bits; 2]),
                None => self.builder.ins().splat(types::F64X2, x),
            },
            (Width::Two, DType::I64) => self.builder.ins().splat(types::I64X2, x),
            (Width::Two, DType::Bool) => {
                let word = self.builder.ins().uextend(types::I64, x);
                let mask = self.builder.ins().ineg(word);
                self.builder.ins().splat(types::I64X2, mask)
            }
            (Width::Two, DType::F32 | DType::I32) => panic!("{NARROW}"),
        }
    }

    /// The bits of a float that is constant.
    fn constant(&self, x: Value) -> Option<u64> {
        let inst = self.builder.func.dfg.value_def(x).inst()?;
        if let InstructionData::UnaryIeee64 { imm, .. } = self.builder.func.dfg.insts[inst] { Some(imm.bits()) } else { None }
    }
}

/// A comparison, on floats and on integers.
struct Relation {
    float: FloatCC,
    int: IntCC,
}

impl Relation {
    const LESS: Relation = Relation { float: FloatCC::LessThan, int: IntCC::SignedLessThan };
    const LESS_OR_EQUAL: Relation = Relation { float: FloatCC::LessThanOrEqual, int: IntCC::SignedLessThanOrEqual };
    const EQUAL: Relation = Relation { float: FloatCC::Equal, int: IntCC::Equal };
    /// Holds when either float is NaN.
    const DIFFERENT: Relation = Relation { float: FloatCC::NotEqual, int: IntCC::NotEqual };
}
