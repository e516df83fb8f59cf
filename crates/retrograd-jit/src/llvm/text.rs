//! A function in LLVM's text form, while it is written.

use std::collections::BTreeSet;
use std::fmt::Write;

use retrograd_compiler::ir::DType;

use crate::runtime::{fused, fused_narrow};

/// An operand: a value that an instruction made, or a constant.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Value(String);

impl Value {
    pub(super) fn new(text: impl Into<String>) -> Value {
        Value(text.into())
    }

    pub(super) fn integer(x: i64) -> Value {
        Value(x.to_string())
    }

    /// The place of something in this process.
    pub(super) fn address<T>(of: *const T) -> Value {
        Value(format!("inttoptr (i64 {} to ptr)", of as usize))
    }

    pub(super) fn is_constant(&self) -> bool {
        !self.0.starts_with('%')
    }
}

impl std::fmt::Display for Value {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0)
    }
}

/// The start of a run of instructions.
#[derive(Clone, Copy, Debug)]
pub(super) struct Label(u32);

impl std::fmt::Display for Label {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "b{}", self.0)
    }
}

/// The type of a value: so many lanes of an element type, where one lane is a scalar.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Form {
    pub(super) dtype: DType,
    pub(super) lanes: u32,
}

impl Form {
    pub(super) fn new(dtype: DType, lanes: u32) -> Form {
        Form { dtype, lanes }
    }

    pub(super) fn one(dtype: DType) -> Form {
        Form { dtype, lanes: 1 }
    }

    /// The same lanes of another type.
    pub(super) fn of(self, dtype: DType) -> Form {
        Form { dtype, ..self }
    }

    /// How intrinsics call it.
    fn suffix(self) -> String {
        let element = match self.dtype {
            DType::F64 => "f64",
            DType::F32 => "f32",
            DType::I64 => "i64",
            DType::I32 => "i32",
            DType::Bool => "i1",
        };
        if self.lanes == 1 { element.to_owned() } else { format!("v{}{element}", self.lanes) }
    }
}

impl std::fmt::Display for Form {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        vector(f, self.lanes, element(self.dtype))
    }
}

/// Lanes of a type by its name.
pub(super) fn lanes_of(lanes: u32, element: &str) -> String {
    if lanes == 1 { element.to_owned() } else { format!("<{lanes} x {element}>") }
}

fn vector(f: &mut std::fmt::Formatter<'_>, lanes: u32, element: &str) -> std::fmt::Result {
    f.write_str(&lanes_of(lanes, element))
}

/// The type of one element; a truth value is one bit, except in memory.
fn element(dtype: DType) -> &'static str {
    match dtype {
        DType::F64 => "double",
        DType::F32 => "float",
        DType::I64 => "i64",
        DType::I32 => "i32",
        DType::Bool => "i1",
    }
}

/// A function being written, instruction by instruction.
#[derive(Default)]
pub(super) struct Text {
    /// Room on the stack, which belongs to the first block.
    slots: String,
    body: String,
    declarations: BTreeSet<String>,
    values: u32,
    labels: u32,
    fused: Fused,
    pub(super) functions: Functions,
}

/// What becomes of functions of numbers, such as exp, in scalar code.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Functions {
    /// They are written where they are called.
    #[default]
    Written,
    /// They are called.
    Called,
}

/// What every function gets, and passes on to the parts that it runs.
pub(super) const PARAMS: &str = "ptr %arena, ptr %inputs, ptr %outputs, ptr %fault, ptr %flag, ptr %watch";

/// Functions, and what they call of LLVM.
#[derive(Default)]
pub(super) struct Module {
    functions: String,
    declarations: BTreeSet<String>,
}

impl Module {
    /// Adds a function, with more parameters than all have in common.
    pub(super) fn add(&mut self, text: Text, name: &str, linkage: &str, more: &str) {
        let Text { slots, body, declarations, .. } = text;
        self.declarations.extend(declarations);
        writeln!(self.functions, "define {linkage}void @{name}({PARAMS}{more}) #0 {{\n{slots}{body}  ret void\n}}")
            .expect("strings take everything");
    }

    /// The whole module.
    pub(super) fn finish(self, attributes: &str) -> String {
        let Module { functions, declarations } = self;
        let declarations: String = declarations.iter().map(|line| format!("{line}\n")).collect();
        format!("{functions}{declarations}attributes #0 = {{ {attributes} }}\n")
    }
}

/// How a fused multiply-add is computed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Fused {
    /// By an instruction.
    #[default]
    Instruction,
    /// By a call of ours for each lane, where the machine has none, so that no library decides the bits.
    Call,
}

impl Text {
    pub(super) fn new(fused: Fused, functions: Functions) -> Text {
        Text { fused, functions, ..Text::default() }
    }

    /// An instruction without a result.
    pub(super) fn act(&mut self, instruction: std::fmt::Arguments<'_>) {
        writeln!(self.body, "  {instruction}").expect("strings take everything");
    }

    /// An instruction with a result.
    pub(super) fn make(&mut self, instruction: std::fmt::Arguments<'_>) -> Value {
        let value = self.fresh();
        writeln!(self.body, "  {value} = {instruction}").expect("strings take everything");
        value
    }

    fn fresh(&mut self) -> Value {
        self.values += 1;
        Value(format!("%v{}", self.values))
    }

    /// Room on the stack for one value of a type.
    pub(super) fn slot(&mut self, of: &str) -> Value {
        let value = self.fresh();
        writeln!(self.slots, "  {value} = alloca {of}, align 64").expect("strings take everything");
        value
    }

    /// The same, which holds zero at first: a register that is read on a way on which nothing assigned it holds 0, as
    /// anything undefined could spread to branches.
    pub(super) fn cleared_slot(&mut self, of: &str) -> Value {
        let slot = self.slot(of);
        writeln!(self.slots, "  store {of} zeroinitializer, ptr {slot}").expect("strings take everything");
        slot
    }

    /// A place to jump to, which is not written yet.
    pub(super) fn label(&mut self) -> Label {
        self.labels += 1;
        Label(self.labels)
    }

    pub(super) fn jump(&mut self, to: Label) {
        self.act(format_args!("br label %{to}"));
    }

    pub(super) fn branch(&mut self, cond: &Value, then: Label, otherwise: Label) {
        self.act(format_args!("br i1 {cond}, label %{then}, label %{otherwise}"));
    }

    /// Goes on at a label; what came before has jumped.
    pub(super) fn at(&mut self, label: Label) {
        writeln!(self.body, "{label}:").expect("strings take everything");
    }

    /// Calls an intrinsic of one form; its name is that without the suffix.
    pub(super) fn intrinsic(&mut self, name: &str, form: Form, args: &[&Value]) -> Value {
        let name = format!("{name}.{}", form.suffix());
        let types = vec![form.to_string(); args.len()].join(", ");
        self.declarations.insert(format!("declare {form} @{name}({types})"));
        let args: Vec<String> = args.iter().map(|arg| format!("{form} {arg}")).collect();
        self.make(format_args!("call {form} @{name}({})", args.join(", ")))
    }

    /// `a·b + c`, rounded once.
    pub(super) fn fused(&mut self, form: Form, args: &[&Value]) -> Value {
        if self.fused == Fused::Instruction {
            return self.intrinsic("llvm.fma", form, args);
        }
        let narrow = form.dtype == DType::F32;
        let callee = Value::address(if narrow { fused_narrow as *const u8 } else { fused as *const u8 });
        let one = form_of_one(form);
        let mut result = Value::new("zeroinitializer");
        for lane in 0..form.lanes {
            let args: Vec<String> = args.iter().map(|arg| format!("{one} {}", self.lane(form, arg, lane))).collect();
            let value = self.make(format_args!("call {one} {callee}({})", args.join(", ")));
            if form.lanes == 1 {
                return value;
            }
            result = self.make(format_args!("insertelement {form} {result}, {one} {value}, i32 {lane}"));
        }
        result
    }

    /// `llvm.abs`, where the least integer is its own magnitude.
    pub(super) fn magnitude(&mut self, form: Form, x: &Value) -> Value {
        let suffix = form.suffix();
        self.declarations.insert(format!("declare {form} @llvm.abs.{suffix}({form}, i1)"));
        self.make(format_args!("call {form} @llvm.abs.{suffix}({form} {x}, i1 false)"))
    }

    /// Floats to integers, truncated, and the nearest integer where that is out of range; NaN is 0.
    pub(super) fn truncated(&mut self, from: Form, to: Form, x: &Value) -> Value {
        let name = format!("llvm.fptosi.sat.{}.{}", to.suffix(), from.suffix());
        self.declarations.insert(format!("declare {to} @{name}({from})"));
        self.make(format_args!("call {to} @{name}({from} {x})"))
    }

    /// Copies bytes.
    pub(super) fn copy(&mut self, to: &Value, from: &Value, bytes: u64) {
        self.declarations.insert("declare void @llvm.memmove.p0.p0.i64(ptr, ptr, i64, i1)".to_owned());
        self.act(format_args!("call void @llvm.memmove.p0.p0.i64(ptr {to}, ptr {from}, i64 {bytes}, i1 false)"));
    }

    /// Sets bytes to zero.
    pub(super) fn zero(&mut self, to: &Value, bytes: u64) {
        self.declarations.insert("declare void @llvm.memset.p0.i64(ptr, i8, i64, i1)".to_owned());
        self.act(format_args!("call void @llvm.memset.p0.i64(ptr {to}, i8 0, i64 {bytes}, i1 false)"));
    }

    /// `at + index·stride`.
    pub(super) fn scaled(&mut self, at: &Value, index: &Value, stride: i64) -> Value {
        match stride {
            0 => at.clone(),
            1 => self.make(format_args!("getelementptr i8, ptr {at}, i64 {index}")),
            _ => {
                let bytes = self.make(format_args!("mul i64 {index}, {stride}"));
                self.make(format_args!("getelementptr i8, ptr {at}, i64 {bytes}"))
            }
        }
    }

    /// `at + bytes`.
    pub(super) fn offset(&mut self, at: &Value, bytes: i64) -> Value {
        if bytes == 0 { at.clone() } else { self.make(format_args!("getelementptr i8, ptr {at}, i64 {bytes}")) }
    }

    /// A number in all lanes.
    pub(super) fn widen(&mut self, form: Form, x: &Value) -> Value {
        if form.lanes == 1 {
            return x.clone();
        }
        let one = form_of_one(form);
        if x.is_constant() {
            let lane = format!("{one} {x}");
            return Value(format!("<{}>", vec![lane; form.lanes as usize].join(", ")));
        }
        let first = self.make(format_args!("insertelement {form} poison, {one} {x}, i32 0"));
        self.make(format_args!("shufflevector {form} {first}, {form} poison, <{} x i32> zeroinitializer", form.lanes))
    }

    /// One lane of a vector.
    pub(super) fn lane(&mut self, form: Form, x: &Value, lane: u32) -> Value {
        if form.lanes == 1 { x.clone() } else { self.make(format_args!("extractelement {form} {x}, i32 {lane}")) }
    }

    /// Lanes of `x`, then of `y`, by their numbers.
    pub(super) fn shuffle(&mut self, form: Form, x: &Value, y: &Value, numbers: &[u32]) -> Value {
        if numbers.len() == 1 {
            let (from, lane) = if numbers[0] < form.lanes { (x, numbers[0]) } else { (y, numbers[0] - form.lanes) };
            return self.lane(form, from, lane);
        }
        let mask: Vec<String> = numbers.iter().map(|number| format!("i32 {number}")).collect();
        self.make(format_args!("shufflevector {form} {x}, {form} {y}, <{} x i32> <{}>", numbers.len(), mask.join(", ")))
    }
}

fn form_of_one(form: Form) -> Form {
    Form { lanes: 1, ..form }
}

/// A constant from the bits of a register: sign-extended, an f32 in the low half.
pub(super) fn literal(dtype: DType, bits: u64) -> Value {
    Value(match dtype {
        DType::F64 => format!("0x{bits:016X}"),
        // LLVM writes single precision as the double of the same value.
        DType::F32 => format!("0x{:016X}", f64::from(f32::from_bits(bits as u32)).to_bits()),
        DType::I64 => bits.cast_signed().to_string(),
        DType::I32 => (bits as u32).cast_signed().to_string(),
        DType::Bool => (bits != 0).to_string(),
    })
}
