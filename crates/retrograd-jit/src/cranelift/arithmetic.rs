//! What each [`Scalar`] becomes, on one number or on lanes.
//!
//! A truth value is a byte, 0 or 1, in scalar code, and in lanes a mask. Two lanes have 64 bits each, four have 32; two
//! of a type of 32 bits are the lower half of four, whose upper half is never looked at.

use cranelift_codegen::ir::condcodes::{FloatCC, IntCC};
use cranelift_codegen::ir::{
    ConstantData, Endianness, InstBuilder, InstructionData, MemFlagsData, Opcode, Type, Value, types,
};
use retrograd_compiler::ir::{DType, Scalar};

use super::Lower;
use crate::runtime::Import;

/// How many lanes a value has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Width {
    /// Scalar code.
    One,
    /// Lanes of 64 bits in a vector of 128, the widest that Cranelift has.
    Two,
    /// Lanes of 32 bits.
    Four,
}

impl Width {
    pub(super) fn lanes(self) -> u32 {
        match self {
            Width::One => 1,
            Width::Two => 2,
            Width::Four => 4,
        }
    }

    /// The Cranelift type of a value.
    pub(super) fn native(self, ty: DType) -> Type {
        match (self, ty) {
            (Width::One, DType::F32) => types::F32,
            (Width::One, DType::F64) => types::F64,
            (Width::One, DType::I32) => types::I32,
            (Width::One, DType::I64) => types::I64,
            (Width::One, DType::Bool) => types::I8,
            (Width::Two | Width::Four, DType::F32) => types::F32X4,
            (Width::Two | Width::Four, DType::I32) | (Width::Four, DType::Bool) => types::I32X4,
            (Width::Two, DType::F64) => types::F64X2,
            (Width::Two, DType::I64 | DType::Bool) => types::I64X2,
            (Width::Four, DType::F64 | DType::I64) => panic!("lanes of 32 bits hold no {ty}"),
        }
    }

    /// Whether two lanes are the lower half of a vector.
    fn is_half(self, ty: DType) -> bool {
        self == Width::Two && matches!(ty, DType::F32 | DType::I32)
    }
}

impl Lower<'_, '_> {
    /// `op(args)`, where `ty` is the type of the last argument (the first of a select is a truth value).
    pub(super) fn compute(&mut self, width: Width, op: Scalar, ty: DType, args: &[Value]) -> Value {
        match op {
            Scalar::Add | Scalar::Sub | Scalar::Mul | Scalar::Div | Scalar::Rem => {
                self.binary(width, op, ty, args[0], args[1])
            }
            Scalar::Fma => {
                let [a, b, c] = [args[0], args[1], args[2]].map(|x| self.signed(x));
                self.builder.ins().fma(a, b, c)
            }
            Scalar::Neg if ty.is_float() => self.negative(width, ty, args[0]),
            Scalar::Neg => self.builder.ins().ineg(args[0]),
            Scalar::Abs if ty.is_float() => self.builder.ins().fabs(args[0]),
            Scalar::Abs => self.builder.ins().iabs(args[0]),
            Scalar::Sign if ty.is_float() => self.float_sign(width, ty, args[0]),
            Scalar::Sign => self.integer_sign(width, ty, args[0]),
            // As the lane functions, Cranelift's order -0 before +0 and pass on NaN.
            Scalar::Min if ty.is_float() => self.builder.ins().fmin(args[0], args[1]),
            Scalar::Max if ty.is_float() => self.builder.ins().fmax(args[0], args[1]),
            Scalar::Min => self.lesser(width, ty, [args[0], args[1]], [args[0], args[1]]),
            Scalar::Max => self.lesser(width, ty, [args[0], args[1]], [args[1], args[0]]),
            Scalar::Clamp => {
                let raised = self.compute(width, Scalar::Max, ty, &args[..2]);
                self.compute(width, Scalar::Min, ty, &[raised, args[2]])
            }
            Scalar::Sqrt => self.builder.ins().sqrt(args[0]),
            Scalar::Floor => self.builder.ins().floor(args[0]),
            Scalar::Ceil => self.builder.ins().ceil(args[0]),
            Scalar::Round => self.builder.ins().nearest(args[0]),
            Scalar::Trunc => self.builder.ins().trunc(args[0]),
            Scalar::CopySign => {
                // A NaN counts as positive.
                let zero = self.float(width, ty, 0.0);
                let number = self.float_compare(width, ty, FloatCC::Ordered, args[1], args[1]);
                let sign = self.select(width, ty, number, args[1], zero);
                self.copy_sign(width, ty, args[0], sign)
            }
            Scalar::Call(function) => {
                assert_eq!(width, Width::One, "vector loops call functions by blocks");
                self.call(Import::One(function), args).expect("it returns a number")
            }
            Scalar::IsNan => self.float_compare(width, ty, FloatCC::Unordered, args[0], args[0]),
            Scalar::IsFinite => {
                let magnitude = self.builder.ins().fabs(args[0]);
                let infinity = self.float(width, ty, f64::INFINITY);
                self.float_compare(width, ty, FloatCC::LessThan, magnitude, infinity)
            }
            Scalar::Lt => self.compare(width, Relation::LESS, ty, args[0], args[1]),
            Scalar::Le => self.compare(width, Relation::LESS_OR_EQUAL, ty, args[0], args[1]),
            Scalar::Gt => self.compare(width, Relation::LESS, ty, args[1], args[0]),
            Scalar::Ge => self.compare(width, Relation::LESS_OR_EQUAL, ty, args[1], args[0]),
            Scalar::Eq => self.compare(width, Relation::EQUAL, ty, args[0], args[1]),
            Scalar::Ne => self.compare(width, Relation::DIFFERENT, ty, args[0], args[1]),
            Scalar::And => self.builder.ins().band(args[0], args[1]),
            Scalar::Or => self.builder.ins().bor(args[0], args[1]),
            Scalar::Xor => self.builder.ins().bxor(args[0], args[1]),
            Scalar::Not => match (width, ty) {
                (Width::One, DType::Bool) => self.builder.ins().bxor_imm_u(args[0], 1),
                _ => self.builder.ins().bnot(args[0]),
            },
            Scalar::Shl | Scalar::Shr => {
                self.lane_by_lane(width, width.native(ty), args, |lower, lanes| lower.shift(op, ty, lanes[0], lanes[1]))
            }
            Scalar::Select => self.select(width, ty, args[0], args[1], args[2]),
            Scalar::Convert(to) => self.convert(width, ty, to, args[0]),
        }
    }

    /// In lanes, one instruction with a constant in memory, where Cranelift has three.
    fn negative(&mut self, width: Width, ty: DType, x: Value) -> Value {
        match width {
            Width::One => self.builder.ins().fneg(x),
            Width::Two | Width::Four => {
                let sign = self.float(width, ty, -0.0);
                self.builder.ins().bxor(x, sign)
            }
        }
    }

    /// An operand of `fma`, a negative one as Cranelift knows it: then its sign is part of the instruction. Nothing but
    /// [`Lower::negative`] flips bits of floats.
    fn signed(&mut self, x: Value) -> Value {
        let dfg = &self.builder.func.dfg;
        if let Some(inst) = dfg.value_def(x).inst()
            && let InstructionData::Binary { opcode: Opcode::Bxor, args } = dfg.insts[inst]
            && dfg.value_type(x).lane_type().is_float()
        {
            return self.builder.ins().fneg(args[0]);
        }
        x
    }

    fn binary(&mut self, width: Width, op: Scalar, ty: DType, a: Value, b: Value) -> Value {
        match (op, ty) {
            (Scalar::Add, DType::F32 | DType::F64) => self.builder.ins().fadd(a, b),
            (Scalar::Sub, DType::F32 | DType::F64) => self.builder.ins().fsub(a, b),
            (Scalar::Mul, DType::F32 | DType::F64) => self.builder.ins().fmul(a, b),
            (Scalar::Div, DType::F32 | DType::F64) => self.builder.ins().fdiv(a, b),
            (Scalar::Add, DType::I32 | DType::I64) => self.builder.ins().iadd(a, b),
            (Scalar::Sub, DType::I32 | DType::I64) => self.builder.ins().isub(a, b),
            (Scalar::Mul, DType::I32 | DType::I64) => self.builder.ins().imul(a, b),
            (Scalar::Div | Scalar::Rem, DType::I32 | DType::I64) => {
                self.lane_by_lane(width, width.native(ty), &[a, b], |lower, lanes| lower.divide(op, lanes[0], lanes[1]))
            }
            (op, ty) => panic!("verified: {op:?} is not applied to {ty}"),
        }
    }

    /// Truncating and wrapping; division by zero gives the dividend, or 0 as what is left (the fault is recorded
    /// elsewhere).
    fn divide(&mut self, op: Scalar, a: Value, b: Value) -> Value {
        let zero = self.builder.ins().icmp_imm_s(IntCC::Equal, b, 0);
        let minus = self.builder.ins().icmp_imm_s(IntCC::Equal, b, -1);
        let awkward = self.builder.ins().bor(zero, minus);
        let native = self.builder.func.dfg.value_type(b);
        let one = self.builder.ins().iconst(native, 1);
        let divisor = self.builder.ins().select(awkward, one, b);
        if op == Scalar::Rem {
            // Nothing is left after a division by −1, as by 1.
            return self.builder.ins().srem(a, divisor);
        }
        let quotient = self.builder.ins().sdiv(a, divisor);
        // a / −1 = −a, also for the smallest integer, where the machine would trap.
        let negative = self.builder.ins().ineg(a);
        self.builder.ins().select(minus, negative, quotient)
    }

    /// The machine takes counts modulo the width; ours are not.
    fn shift(&mut self, op: Scalar, ty: DType, a: Value, count: Value) -> Value {
        let native = Width::One.native(ty);
        let last = i64::from(native.bits()) - 1;
        let outside = self.builder.ins().icmp_imm_u(IntCC::UnsignedGreaterThan, count, last);
        if op == Scalar::Shl {
            let shifted = self.builder.ins().ishl(a, count);
            let zero = self.builder.ins().iconst(native, 0);
            return self.builder.ins().select(outside, zero, shifted);
        }
        let most = self.builder.ins().iconst(native, last);
        let count = self.builder.ins().select(outside, most, count);
        self.builder.ins().sshr(a, count)
    }

    /// 1 with the sign of `x`, but zeros and NaN as they are.
    fn float_sign(&mut self, width: Width, ty: DType, x: Value) -> Value {
        let (one, zero) = (self.float(width, ty, 1.0), self.float(width, ty, 0.0));
        let unit = self.copy_sign(width, ty, one, x);
        let magnitude = self.builder.ins().fabs(x);
        let other = self.float_compare(width, ty, FloatCC::GreaterThan, magnitude, zero);
        self.select(width, ty, other, unit, x)
    }

    /// All bits of the sign, or'ed with whether the negation has one.
    fn integer_sign(&mut self, width: Width, ty: DType, x: Value) -> Value {
        let last = i64::from(Width::One.native(ty).bits()) - 1;
        self.lane_by_lane(width, width.native(ty), &[x], |lower, lanes| {
            let below = lower.builder.ins().sshr_imm_u(lanes[0], last);
            let negative = lower.builder.ins().ineg(lanes[0]);
            let above = lower.builder.ins().ushr_imm_u(negative, last);
            lower.builder.ins().bor(below, above)
        })
    }

    /// The first choice where `a < b`, else the second.
    fn lesser(&mut self, width: Width, ty: DType, [a, b]: [Value; 2], [less, other]: [Value; 2]) -> Value {
        let holds = self.compare(width, Relation::LESS, ty, a, b);
        self.select(width, ty, holds, less, other)
    }

    fn copy_sign(&mut self, width: Width, ty: DType, x: Value, sign: Value) -> Value {
        match width {
            Width::One => self.builder.ins().fcopysign(x, sign),
            Width::Two | Width::Four => {
                let mask = self.float(width, ty, -0.0);
                self.builder.ins().bitselect(mask, sign, x)
            }
        }
    }

    /// A number in all lanes.
    fn float(&mut self, width: Width, ty: DType, x: f64) -> Value {
        let one = match ty {
            DType::F32 => self.builder.ins().f32const(x as f32),
            DType::F64 | DType::I32 | DType::I64 | DType::Bool => self.builder.ins().f64const(x),
        };
        self.widen(width, ty, one)
    }

    fn compare(&mut self, width: Width, relation: Relation, ty: DType, a: Value, b: Value) -> Value {
        match (ty, width) {
            (DType::F32 | DType::F64, _) => self.float_compare(width, ty, relation.float, a, b),
            (DType::I32 | DType::I64, _) => self.integer_compare(width, ty, relation.int, a, b),
            // Bytes 0 and 1.
            (DType::Bool, Width::One) => self.builder.ins().icmp(relation.int, a, b),
            // false < true, but as masks 0 > −1.
            (DType::Bool, Width::Two | Width::Four) => self.builder.ins().icmp(relation.int, b, a),
        }
    }

    fn float_compare(&mut self, width: Width, ty: DType, relation: FloatCC, a: Value, b: Value) -> Value {
        let mask = self.builder.ins().fcmp(relation, a, b);
        if width.is_half(ty) { self.builder.ins().swiden_low(mask) } else { mask }
    }

    fn integer_compare(&mut self, width: Width, ty: DType, relation: IntCC, a: Value, b: Value) -> Value {
        let mask = self.builder.ins().icmp(relation, a, b);
        if width.is_half(ty) { self.builder.ins().swiden_low(mask) } else { mask }
    }

    fn select(&mut self, width: Width, ty: DType, cond: Value, a: Value, b: Value) -> Value {
        match width {
            Width::One => self.builder.ins().select(cond, a, b),
            Width::Two | Width::Four => {
                let mask = if width.is_half(ty) { self.lower_halves(cond) } else { cond };
                let mask = self.reinterpret(width.native(ty), mask);
                if self.is_zero(a) {
                    self.builder.ins().band_not(b, mask)
                } else {
                    self.builder.ins().bitselect(mask, a, b)
                }
            }
        }
    }

    /// Whether a vector is known to be 0.
    fn is_zero(&self, x: Value) -> bool {
        let Some(inst) = self.builder.func.dfg.value_def(x).inst() else { return false };
        let InstructionData::UnaryConst { constant_handle, .. } = self.builder.func.dfg.insts[inst] else {
            return false;
        };
        self.builder.func.dfg.constants.get(constant_handle).iter().all(|byte| *byte == 0)
    }

    /// The lower 32 bits of each of two lanes.
    fn lower_halves(&mut self, x: Value) -> Value {
        let bytes = self.reinterpret(types::I8X16, x);
        let order: [u8; 16] = [0, 1, 2, 3, 8, 9, 10, 11, 0, 1, 2, 3, 8, 9, 10, 11];
        let order = self.builder.func.dfg.immediates.push(ConstantData::from(order.as_slice()));
        let halves = self.builder.ins().shuffle(bytes, bytes, order);
        self.reinterpret(types::I32X4, halves)
    }

    /// Of two vectors of two lanes, the first lanes as one vector, and the second ones as another.
    pub(super) fn exchanged(&mut self, x: Value, y: Value) -> [Value; 2] {
        let native = self.builder.func.dfg.value_type(x);
        let (x, y) = (self.reinterpret(types::I8X16, x), self.reinterpret(types::I8X16, y));
        [0, 8].map(|first: u8| {
            let order: Vec<u8> = (first..first + 8).chain(16 + first..24 + first).collect();
            let order = self.builder.func.dfg.immediates.push(ConstantData::from(order.as_slice()));
            let both = self.builder.ins().shuffle(x, y, order);
            self.reinterpret(native, both)
        })
    }

    /// The same bits as another vector.
    pub(super) fn reinterpret(&mut self, ty: Type, x: Value) -> Value {
        if self.builder.func.dfg.value_type(x) == ty {
            return x;
        }
        // Lanes are numbered as on a little-endian machine, whatever this one is.
        let flags = MemFlagsData::new().with_endianness(Endianness::Little);
        self.builder.ins().bitcast(ty, flags, x)
    }

    fn convert(&mut self, width: Width, from: DType, to: DType, x: Value) -> Value {
        if from == to {
            return x;
        }
        match (from, to) {
            (DType::F32 | DType::F64, DType::Bool) => {
                let zero = self.float(width, from, 0.0);
                self.float_compare(width, from, FloatCC::NotEqual, x, zero)
            }
            (DType::I32 | DType::I64, DType::Bool) => {
                let zero = self.literal(from, 0);
                let zero = self.widen(width, from, zero);
                self.integer_compare(width, from, IntCC::NotEqual, x, zero)
            }
            (DType::Bool, _) => self.truth_to_number(width, to, x),
            _ if width == Width::One => self.convert_one(to, x),
            (DType::F32, DType::F64) => self.builder.ins().fvpromote_low(x),
            (DType::F64, DType::F32) => self.builder.ins().fvdemote(x),
            (DType::I32, DType::I64) => self.builder.ins().swiden_low(x),
            (DType::I64, DType::I32) => self.lower_halves(x),
            (DType::I32, DType::F32) => self.builder.ins().fcvt_from_sint(types::F32X4, x),
            (DType::I32, DType::F64) => {
                let wide = self.builder.ins().swiden_low(x);
                self.integers_to_floats(wide)
            }
            (DType::I64, DType::F64) => self.integers_to_floats(x),
            _ => self.lane_by_lane(width, width.native(to), &[x], |lower, lanes| lower.convert_one(to, lanes[0])),
        }
    }

    /// A number to another type of number.
    fn convert_one(&mut self, to: DType, x: Value) -> Value {
        let (from, native) = (self.builder.func.dfg.value_type(x), Width::One.native(to));
        match (from.is_float(), native.is_float()) {
            (true, true) if native.bits() > from.bits() => self.builder.ins().fpromote(native, x),
            (true, true) => self.builder.ins().fdemote(native, x),
            (true, false) => self.builder.ins().fcvt_to_sint_sat(native, x),
            (false, true) => self.builder.ins().fcvt_from_sint(native, x),
            (false, false) if native.bits() > from.bits() => self.builder.ins().sextend(native, x),
            (false, false) => self.builder.ins().ireduce(native, x),
        }
    }

    /// 0 or 1.
    fn truth_to_number(&mut self, width: Width, to: DType, x: Value) -> Value {
        if width == Width::One {
            let wide = self.builder.ins().uextend(types::I64, x);
            return if to == DType::I64 { wide } else { self.convert_one(to, wide) };
        }
        let one = if to.is_float() { self.float(Width::One, to, 1.0) } else { self.literal(to, 1) };
        let one = self.widen(width, to, one);
        let mask = if width.is_half(to) { self.lower_halves(x) } else { x };
        let mask = self.reinterpret(width.native(to), mask);
        self.builder.ins().band(mask, one)
    }

    /// Both halves of an integer are placed under an exponent, which makes exact floats of them; only their sum rounds.
    fn integers_to_floats(&mut self, x: Value) -> Value {
        let low_bits = self.vector_of(types::I64X2, [0xffff_ffff; 2]);
        let low_exponent = self.vector_of(types::I64X2, [0x4330_0000_0000_0000; 2]); // 2^52
        let high_exponent = self.vector_of(types::I64X2, [0x4530_0000_8000_0000; 2]); // 2^84 + 2^63
        let both = self.vector_of(types::F64X2, [0x4530_0000_8010_0000; 2]); // 2^84 + 2^63 + 2^52
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
    fn lane_by_lane(
        &mut self,
        width: Width,
        result: Type,
        args: &[Value],
        compute: impl Fn(&mut Self, &[Value]) -> Value,
    ) -> Value {
        if width == Width::One {
            return compute(self, args);
        }
        let lanes: Vec<Value> = (0..width.lanes())
            .map(|lane| {
                let args: Vec<Value> =
                    args.iter().map(|&arg| self.builder.ins().extractlane(arg, lane as u8)).collect();
                compute(self, &args)
            })
            .collect();
        self.vector(result, &lanes)
    }

    /// Scalars as the first lanes of a vector.
    pub(super) fn vector(&mut self, ty: Type, lanes: &[Value]) -> Value {
        let first = self.builder.ins().scalar_to_vector(ty, lanes[0]);
        (1..).zip(&lanes[1..]).fold(first, |vector, (lane, &x): (u8, _)| self.builder.ins().insertlane(vector, x, lane))
    }

    /// One lane of a vector, as scalar code holds it.
    pub(super) fn lane(&mut self, ty: DType, vector: Value, lane: u8) -> Value {
        let one = self.builder.ins().extractlane(vector, lane);
        match ty {
            DType::Bool => {
                let byte = self.builder.ins().ireduce(types::I8, one);
                self.builder.ins().band_imm_u(byte, 1)
            }
            DType::F32 | DType::F64 | DType::I32 | DType::I64 => one,
        }
    }

    /// A vector with one lane replaced.
    pub(super) fn with_lane(&mut self, ty: DType, vector: Value, one: Value, lane: u8) -> Value {
        let one = match ty {
            DType::Bool => {
                let lane = self.builder.func.dfg.value_type(vector).lane_type();
                let word = self.builder.ins().uextend(lane, one);
                self.builder.ins().ineg(word)
            }
            DType::F32 | DType::F64 | DType::I32 | DType::I64 => one,
        };
        self.builder.ins().insertlane(vector, one, lane)
    }

    /// A constant vector.
    pub(super) fn vector_of(&mut self, ty: Type, bits: [u64; 2]) -> Value {
        let bytes: Vec<u8> = bits.iter().flat_map(|bits| bits.to_le_bytes()).collect();
        let constant = self.builder.func.dfg.constants.insert(ConstantData::from(bytes.as_slice()));
        self.builder.ins().vconst(ty, constant)
    }

    /// The same scalar in all lanes.
    pub(super) fn widen(&mut self, width: Width, ty: DType, x: Value) -> Value {
        let native = width.native(ty);
        match (width, ty) {
            (Width::One, _) => x,
            (Width::Two | Width::Four, DType::F32 | DType::F64 | DType::I32 | DType::I64) => match self.constant(x) {
                // A constant is read from memory where it is used, and costs no register.
                Some(bits) => self.vector_of(native, [bits; 2]),
                None => self.builder.ins().splat(native, x),
            },
            (Width::Two | Width::Four, DType::Bool) => {
                let word = self.builder.ins().uextend(native.lane_type(), x);
                let mask = self.builder.ins().ineg(word);
                self.builder.ins().splat(native, mask)
            }
        }
    }

    /// The bits of a number that is constant, those of 32 bits twice.
    pub(super) fn constant(&self, x: Value) -> Option<u64> {
        let inst = self.builder.func.dfg.value_def(x).inst()?;
        let data = self.builder.func.dfg.insts[inst];
        if let InstructionData::UnaryIeee32 { imm, .. } = data {
            return Some(u64::from(imm.bits()) << 32 | u64::from(imm.bits()));
        }
        if let InstructionData::UnaryImm { imm, .. } = data {
            let (bits, wide) = (imm.bits().cast_unsigned(), self.builder.func.dfg.value_type(x).bits() == 64);
            return Some(if wide { bits } else { bits << 32 | bits & 0xffff_ffff });
        }
        if let InstructionData::UnaryIeee64 { imm, .. } = data { Some(imm.bits()) } else { None }
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
