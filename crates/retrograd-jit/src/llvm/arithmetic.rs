//! What each [`Scalar`] becomes, on any number of lanes.
//!
//! No flag lets LLVM change arithmetic: what is written is what is computed, and a fused multiply-add is one only where
//! the loop IR says.

use retrograd_compiler::ir::{DType, LaneFunction, Scalar};

use super::text::{Form, Functions, Text, Value, literal};
use crate::recorded::{Inline, Op, Operand, Operation, inline, record};
use crate::runtime::Import;

impl Text {
    /// `op(args)`, where `form` is that of the last argument (the first of a select is a truth value).
    pub(super) fn compute(&mut self, op: Scalar, form: Form, args: &[Value]) -> Value {
        let float = form.dtype.is_float();
        match op {
            Scalar::Add => self.either(["fadd", "add"], form, args),
            Scalar::Sub => self.either(["fsub", "sub"], form, args),
            Scalar::Mul => self.either(["fmul", "mul"], form, args),
            Scalar::Div if float => self.make(format_args!("fdiv {form} {}, {}", args[0], args[1])),
            Scalar::Div | Scalar::Rem => self.divide(op, form, &args[0], &args[1]),
            Scalar::Fma => self.fused(form, &[&args[0], &args[1], &args[2]]),
            Scalar::Neg if float => self.make(format_args!("fneg {form} {}", args[0])),
            Scalar::Neg => {
                let zero = self.number(form, 0);
                self.make(format_args!("sub {form} {zero}, {}", args[0]))
            }
            Scalar::Abs if float => self.intrinsic("llvm.fabs", form, &[&args[0]]),
            Scalar::Abs => self.magnitude(form, &args[0]),
            Scalar::Sign if float => self.float_sign(form, &args[0]),
            Scalar::Sign => self.integer_sign(form, &args[0]),
            Scalar::Min | Scalar::Max if float => self.float_extreme(op, form, &args[0], &args[1]),
            Scalar::Min => self.intrinsic("llvm.smin", form, &[&args[0], &args[1]]),
            Scalar::Max => self.intrinsic("llvm.smax", form, &[&args[0], &args[1]]),
            Scalar::Clamp => {
                let raised = self.compute(Scalar::Max, form, &args[..2]);
                self.compute(Scalar::Min, form, &[raised, args[2].clone()])
            }
            Scalar::Sqrt => self.intrinsic("llvm.sqrt", form, &[&args[0]]),
            Scalar::Floor => self.intrinsic("llvm.floor", form, &[&args[0]]),
            Scalar::Ceil => self.intrinsic("llvm.ceil", form, &[&args[0]]),
            Scalar::Round => self.intrinsic("llvm.roundeven", form, &[&args[0]]),
            Scalar::Trunc => self.intrinsic("llvm.trunc", form, &[&args[0]]),
            Scalar::CopySign => {
                // A NaN counts as positive.
                let nan = self.make(format_args!("fcmp uno {form} {}, {}", args[1], args[1]));
                let zero = self.float(form, 0.0);
                let sign = self.select(form, &nan, &zero, &args[1]);
                self.intrinsic("llvm.copysign", form, &[&args[0], &sign])
            }
            Scalar::Call(function) => {
                let args: Vec<Value> = args.iter().map(|arg| self.convert(form, DType::F64, arg)).collect();
                let result = self.function(function, form.lanes, &args);
                self.convert(form.of(DType::F64), form.dtype, &result)
            }
            Scalar::IsNan => self.make(format_args!("fcmp uno {form} {}, {}", args[0], args[0])),
            Scalar::IsFinite => {
                let magnitude = self.intrinsic("llvm.fabs", form, &[&args[0]]);
                let infinity = self.float(form, f64::INFINITY);
                self.make(format_args!("fcmp olt {form} {magnitude}, {infinity}"))
            }
            Scalar::Lt => self.compare(["olt", "slt", "ult"], form, args),
            Scalar::Le => self.compare(["ole", "sle", "ule"], form, args),
            Scalar::Gt => self.compare(["ogt", "sgt", "ugt"], form, args),
            Scalar::Ge => self.compare(["oge", "sge", "uge"], form, args),
            Scalar::Eq => self.compare(["oeq", "eq", "eq"], form, args),
            // Holds when either float is NaN.
            Scalar::Ne => self.compare(["une", "ne", "ne"], form, args),
            Scalar::And => self.make(format_args!("and {form} {}, {}", args[0], args[1])),
            Scalar::Or => self.make(format_args!("or {form} {}, {}", args[0], args[1])),
            Scalar::Xor => self.make(format_args!("xor {form} {}, {}", args[0], args[1])),
            Scalar::Shl | Scalar::Shr => self.shift(op, form, &args[0], &args[1]),
            Scalar::Not => {
                let ones = self.number(form, -1);
                self.make(format_args!("xor {form} {}, {ones}", args[0]))
            }
            Scalar::Select => self.select(form, &args[0], &args[1], &args[2]),
            Scalar::Convert(to) => self.convert(form, to, &args[0]),
        }
    }

    /// A function of f64: in line where its sequence is known, which for many lanes it must be, and code is not long.
    fn function(&mut self, function: LaneFunction, lanes: u32, args: &[Value]) -> Value {
        if lanes == 1 && self.functions == Functions::Called {
            return self.call_one(function, args);
        }
        match inline(function) {
            Some(Inline::Whole(sequence)) => self.sequence(lanes, args, record(args.len(), |x| sequence(x).number())),
            Some(Inline::Unless { within, rare }) => {
                let rare = self.sequence(lanes, args, record(args.len(), |x| rare(x).0.number()));
                let usual = self.sequence(lanes, args, record(args.len(), |x| within(x).number()));
                self.unless(function, lanes, &args[0], &rare, &usual)
            }
            None => {
                assert_eq!(lanes, 1, "vector loops call by blocks what is not in line");
                self.call_one(function, args)
            }
        }
    }

    /// What a list of operations computes: the value that has this number.
    fn sequence(&mut self, lanes: u32, args: &[Value], (operations, result): (Vec<Operation>, usize)) -> Value {
        let (floats, bits) = (Form::new(DType::F64, lanes), Form::new(DType::I64, lanes));
        let mut values = args.to_vec();
        for Operation { op, args } in operations {
            let (from, to) = match op {
                Op::Floats(_) | Op::CopySign | Op::Reinterpret(DType::I64) => (floats, bits),
                Op::Bits(_) | Op::ShiftRight | Op::Reinterpret(_) => (bits, floats),
            };
            let operand = |arg: Operand| match arg {
                Operand::Constant(bits) => self.widen(from, &literal(from.dtype, bits)),
                Operand::Value(number) => values[number].clone(),
            };
            let args: Vec<Value> = args.into_iter().map(operand).collect();
            let value = match op {
                Op::Floats(op) => self.compute(op, from, &args),
                Op::CopySign => self.intrinsic("llvm.copysign", from, &[&args[0], &args[1]]),
                // Sequences shift by less than all bits.
                Op::Bits(Scalar::Shl) => self.make(format_args!("shl {from} {}, {}", args[0], args[1])),
                Op::Bits(op) => self.compute(op, from, &args),
                Op::ShiftRight => self.make(format_args!("lshr {from} {}, {}", args[0], args[1])),
                Op::Reinterpret(_) => self.make(format_args!("bitcast {from} {} to {to}", args[0])),
            };
            values.push(value);
        }
        values.swap_remove(result)
    }

    /// What is usual, unless any lane is rare: then all lanes are computed by a call.
    fn unless(&mut self, function: LaneFunction, lanes: u32, x: &Value, rare: &Value, usual: &Value) -> Value {
        let form = Form::new(DType::F64, lanes);
        let slot = self.slot(&form.to_string());
        self.act(format_args!("store {form} {usual}, ptr {slot}"));
        let any = match lanes {
            1 => rare.clone(),
            _ => {
                let mask = self.make(format_args!("bitcast {} {rare} to i{lanes}", form.of(DType::Bool)));
                self.make(format_args!("icmp ne i{lanes} {mask}, 0"))
            }
        };
        let (calling, after) = (self.label(), self.label());
        self.branch(&any, calling, after);
        self.at(calling);
        let result = if lanes == 1 {
            self.call_one(function, std::slice::from_ref(x))
        } else {
            self.call_block(function, form, x)
        };
        self.act(format_args!("store {form} {result}, ptr {slot}"));
        self.jump(after);
        self.at(after);
        self.make(format_args!("load {form}, ptr {slot}"))
    }

    fn call_one(&mut self, function: LaneFunction, args: &[Value]) -> Value {
        let operands: Vec<String> = args.iter().map(|arg| format!("double {arg}")).collect();
        let callee = Value::address(Import::One(function).address());
        self.make(format_args!("call double {callee}({})", operands.join(", ")))
    }

    /// A function of one argument, through memory.
    fn call_block(&mut self, function: LaneFunction, form: Form, x: &Value) -> Value {
        let (slot, callee) = (self.slot(&form.to_string()), Value::address(Import::Block(function).address()));
        self.act(format_args!("store {form} {x}, ptr {slot}"));
        self.act(format_args!("call void {callee}(ptr {slot}, ptr {slot}, i64 {})", form.lanes));
        self.make(format_args!("load {form}, ptr {slot}"))
    }

    /// An instruction by its names for floats and integers.
    fn either(&mut self, [float, integer]: [&str; 2], form: Form, args: &[Value]) -> Value {
        let name = if form.dtype.is_float() { float } else { integer };
        self.make(format_args!("{name} {form} {}, {}", args[0], args[1]))
    }

    /// Truncating and wrapping; division by zero gives the dividend, or 0 as what is left (the fault is recorded
    /// elsewhere).
    fn divide(&mut self, op: Scalar, form: Form, a: &Value, b: &Value) -> Value {
        let [zero, one, minus_one] = [0, 1, -1].map(|x| self.number(form, x));
        let by_zero = self.make(format_args!("icmp eq {form} {b}, {zero}"));
        let by_minus = self.make(format_args!("icmp eq {form} {b}, {minus_one}"));
        let truths = form.of(DType::Bool);
        let awkward = self.make(format_args!("or {truths} {by_zero}, {by_minus}"));
        let divisor = self.select(form, &awkward, &one, b);
        if op == Scalar::Rem {
            // Nothing is left after a division by −1, as by 1.
            return self.make(format_args!("srem {form} {a}, {divisor}"));
        }
        let quotient = self.make(format_args!("sdiv {form} {a}, {divisor}"));
        // a / −1 = −a, also for the smallest integer, where the machine would trap.
        let negative = self.make(format_args!("sub {form} {zero}, {a}"));
        self.select(form, &by_minus, &negative, &quotient)
    }

    /// A count below 0 or beyond the width shifts everything out; the machine's would be undefined.
    fn shift(&mut self, op: Scalar, form: Form, a: &Value, count: &Value) -> Value {
        let last = self.number(form, form.dtype.bytes() as i64 * 8 - 1);
        let outside = self.make(format_args!("icmp ugt {form} {count}, {last}"));
        if op == Scalar::Shl {
            let shifted = self.make(format_args!("shl {form} {a}, {count}"));
            let zero = self.number(form, 0);
            return self.select(form, &outside, &zero, &shifted);
        }
        let count = self.select(form, &outside, &last, count);
        self.make(format_args!("ashr {form} {a}, {count}"))
    }

    /// 1 with the sign of `x`, but zeros and NaN as they are.
    fn float_sign(&mut self, form: Form, x: &Value) -> Value {
        let [one, zero] = [1.0, 0.0].map(|x| self.float(form, x));
        let unit = self.intrinsic("llvm.copysign", form, &[&one, x]);
        let other = self.make(format_args!("fcmp one {form} {x}, {zero}"));
        self.select(form, &other, &unit, x)
    }

    fn integer_sign(&mut self, form: Form, x: &Value) -> Value {
        let [one, minus_one] = [1, -1].map(|x| self.number(form, x));
        let below = self.intrinsic("llvm.smin", form, &[x, &one]);
        self.intrinsic("llvm.smax", form, &[&below, &minus_one])
    }

    /// The lesser or greater; -0 is less than +0, and NaN passes on.
    fn float_extreme(&mut self, op: Scalar, form: Form, x: &Value, y: &Value) -> Value {
        let (relation, merge) = if op == Scalar::Min { ("olt", "or") } else { ("ogt", "and") };
        let bits = form.of(if form.dtype == DType::F32 { DType::I32 } else { DType::I64 });
        let ahead = self.make(format_args!("fcmp {relation} {form} {x}, {y}"));
        let extreme = self.select(form, &ahead, x, y);
        // Equal numbers have equal bits unless they are zeros of different signs.
        let [x_bits, y_bits] = [x, y].map(|x| self.make(format_args!("bitcast {form} {x} to {bits}")));
        let merged = self.make(format_args!("{merge} {bits} {x_bits}, {y_bits}"));
        let merged = self.make(format_args!("bitcast {bits} {merged} to {form}"));
        let equal = self.make(format_args!("fcmp oeq {form} {x}, {y}"));
        let extreme = self.select(form, &equal, &merged, &extreme);
        // Where y is NaN it was chosen above.
        let nan = self.make(format_args!("fcmp uno {form} {x}, {x}"));
        self.select(form, &nan, x, &extreme)
    }

    /// A comparison by its names for floats, integers and truth values, of which false is less.
    fn compare(&mut self, [float, integer, truth]: [&str; 3], form: Form, args: &[Value]) -> Value {
        let (instruction, relation) = match form.dtype {
            DType::F32 | DType::F64 => ("fcmp", float),
            DType::I32 | DType::I64 => ("icmp", integer),
            DType::Bool => ("icmp", truth),
        };
        self.make(format_args!("{instruction} {relation} {form} {}, {}", args[0], args[1]))
    }

    pub(super) fn select(&mut self, form: Form, cond: &Value, a: &Value, b: &Value) -> Value {
        let truths = form.of(DType::Bool);
        self.make(format_args!("select {truths} {cond}, {form} {a}, {form} {b}"))
    }

    pub(super) fn convert(&mut self, from: Form, to: DType, x: &Value) -> Value {
        let result = from.of(to);
        let instruction = match (from.dtype, to) {
            (DType::F32, DType::F32) | (DType::F64, DType::F64) | (DType::I32, DType::I32) => return x.clone(),
            (DType::I64, DType::I64) | (DType::Bool, DType::Bool) => return x.clone(),
            (DType::F32 | DType::F64, DType::Bool) => {
                let zero = self.float(from, 0.0);
                return self.make(format_args!("fcmp une {from} {x}, {zero}"));
            }
            (DType::I32 | DType::I64, DType::Bool) => {
                let zero = self.number(from, 0);
                return self.make(format_args!("icmp ne {from} {x}, {zero}"));
            }
            (DType::F32 | DType::F64, DType::I32 | DType::I64) => return self.truncated(from, result, x),
            (DType::F32, DType::F64) => "fpext",
            (DType::F64, DType::F32) => "fptrunc",
            (DType::I32 | DType::I64, DType::F32 | DType::F64) => "sitofp",
            (DType::I32, DType::I64) => "sext",
            (DType::I64, DType::I32) => "trunc",
            (DType::Bool, DType::F32 | DType::F64) => "uitofp",
            (DType::Bool, DType::I32 | DType::I64) => "zext",
        };
        self.make(format_args!("{instruction} {from} {x} to {result}"))
    }

    /// A float in all lanes; one that is exact in single precision too.
    pub(super) fn float(&mut self, form: Form, x: f64) -> Value {
        self.widen(form, &literal(DType::F64, x.to_bits()))
    }

    /// An integer in all lanes; a truth value is a number of one bit.
    pub(super) fn number(&mut self, form: Form, x: i64) -> Value {
        self.widen(form, &Value::integer(x))
    }
}
