//! Programs, functions and literals as text.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::{self, Display, Formatter};

use super::groups;
use crate::ir::array::{Array, Data};
use crate::ir::attr::Attr;
use crate::ir::error::Pos;
use crate::ir::program::{CustomRule, FuncId, Function, Inst, Linearity, Op, Program, Value};

/// The text form: the entry, then bodies in the order of first reference; functions that the entry cannot reach are
/// left out. `{:#}` adds positions. Works on invalid Programs too, so that they can be looked at.
impl Display for Program {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let names = names(self);
        let by_id: BTreeMap<FuncId, &String> = names.iter().map(|(id, name)| (*id, name)).collect();
        let name_of = |id: FuncId| by_id.get(&id).map_or_else(|| format!("#{}", id.0), ToString::to_string);
        for (k, (id, name)) in names.iter().enumerate() {
            if k > 0 {
                writeln!(f)?;
            }
            Printer::new(self.function(*id), &name_of).function(f, name)?;
        }
        Ok(())
    }
}

/// One function; bodies, whose names are in the Program, are `#number`.
impl Display for Function {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        Printer::new(self, &|id| format!("#{}", id.0)).function(f, &self.name)
    }
}

/// Functions to print, in order, with names that are unique and can be read back.
fn names(program: &Program) -> Vec<(FuncId, String)> {
    let mut names: Vec<(FuncId, String)> = Vec::new();
    let (mut seen, mut taken) = (BTreeSet::new(), BTreeSet::new());
    let mut stack = vec![program.entry];
    while let Some(id) = stack.pop() {
        let Some(function) = program.functions.get(id.0 as usize) else { continue };
        if !seen.insert(id) {
            continue;
        }
        let name = readable(&function.name);
        let candidates = (1..).map(|k| format!("{name}.{k}"));
        let free = std::iter::once(name.clone()).chain(candidates).find(|name| taken.insert(name.clone()));
        names.push((id, free.expect("some number is free")));
        let bodies: Vec<FuncId> = function.insts.iter().flat_map(Inst::bodies).collect();
        stack.extend(bodies.into_iter().rev());
    }
    names
}

/// A name of letters, digits, `_` and `.` that does not start with a digit or a dot.
fn readable(name: &str) -> String {
    let clean: String = name.chars().map(|c| if c.is_ascii_alphanumeric() || c == '.' { c } else { '_' }).collect();
    if clean.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_') { clean } else { format!("_{clean}") }
}

struct Printer<'p> {
    function: &'p Function,
    /// New number of each value, in order of definition.
    numbers: Vec<Option<usize>>,
    name_of: &'p dyn Fn(FuncId) -> String,
}

impl<'p> Printer<'p> {
    fn new(function: &'p Function, name_of: &'p dyn Fn(FuncId) -> String) -> Printer<'p> {
        let mut numbers = vec![None; function.types.len()];
        let defined = function.params.iter().chain(function.insts.iter().flat_map(|inst| &inst.results));
        for (number, value) in defined.enumerate() {
            if let Some(slot) = numbers.get_mut(value.0 as usize) {
                *slot = Some(number);
            }
        }
        Printer { function, numbers, name_of }
    }

    fn function(&self, f: &mut Formatter<'_>, name: &str) -> fmt::Result {
        let results: Vec<String> = self.function.results.iter().map(|v| self.ty(*v)).collect();
        let arrow = if results.is_empty() { "" } else { " -> " };
        writeln!(f, "fn {name}({}){arrow}{} {{", self.defined(&self.function.params), results.join(", "))?;
        for inst in &self.function.insts {
            self.inst(f, inst)?;
        }
        writeln!(f, "  return{}\n}}", spaced(&self.values(&self.function.results)))
    }

    fn inst(&self, f: &mut Formatter<'_>, inst: &Inst) -> fmt::Result {
        let equals = if inst.results.is_empty() { "" } else { " = " };
        write!(f, "  {}{equals}{}{}", self.defined(&inst.results), inst.op.name(), self.operands(inst))?;
        let attributes = self.attributes(&inst.op);
        if !attributes.is_empty() {
            write!(f, " {{{}}}", attributes.join(", "))?;
        }
        if f.alternate() {
            write!(f, " @ {}", position(&inst.pos))?;
        }
        writeln!(f)
    }

    fn operands(&self, inst: &Inst) -> String {
        match &inst.op {
            Op::Def(..) => spaced(&self.values(&inst.args)),
            Op::If(_) => self.headed(&inst.args, groups::IF, [usize::MAX]),
            Op::For(op) => self.headed(&inst.args, groups::FOR, [op.carries, op.invariants, usize::MAX]),
            Op::Unwind(op) => {
                let lengths = [op.carries, op.invariants, op.streams, op.adjoints, op.emitted, op.running];
                self.headed(&inst.args, groups::UNWIND, lengths)
            }
            Op::While(op) => self.groups(&inst.args, groups::WHILE, [op.carries, usize::MAX]),
            Op::Call(_) => self.groups(&inst.args, groups::CALL, [usize::MAX]),
        }
    }

    /// The first argument, then the others in groups.
    fn headed<const N: usize>(&self, args: &[Value], labels: [&str; N], lengths: [usize; N]) -> String {
        let (first, rest) = args.split_at(args.len().min(1));
        spaced(&self.values(first)) + &self.groups(rest, labels, lengths)
    }

    /// Arguments in labelled groups of these lengths or as long as arguments last.
    fn groups<const N: usize>(&self, args: &[Value], labels: [&str; N], lengths: [usize; N]) -> String {
        let (mut rest, mut text) = (args, String::new());
        for (label, length) in labels.into_iter().zip(lengths) {
            let (group, tail) = rest.split_at(length.min(rest.len()));
            rest = tail;
            if !group.is_empty() {
                text.push_str(&format!(" {label}({})", self.values(group)));
            }
        }
        text
    }

    fn attributes(&self, op: &Op) -> Vec<String> {
        let body = |key: &str, id: FuncId| format!("{key}={}", (self.name_of)(id));
        let bound = |bound: usize| (bound != 0).then(|| format!("bound={bound}"));
        match op {
            Op::Def(_, attrs) => attrs.iter().map(|(name, attr)| attribute(name, attr)).collect(),
            Op::If(op) => vec![body("then", op.then_body), body("else", op.else_body)],
            Op::For(op) => [body("body", op.body)].into_iter().chain(bound(op.bound)).collect(),
            Op::While(op) => vec![body("cond", op.cond), body("body", op.body)],
            Op::Unwind(op) => {
                let custom = (op.linearity == Linearity::Custom).then(|| "custom=1".into());
                [body("body", op.body), body("bwd", op.bwd)].into_iter().chain(bound(op.bound)).chain(custom).collect()
            }
            Op::Call(op) => match &op.rule {
                None => vec![body("body", op.body)],
                Some(CustomRule::Vjp { forward, backward }) => {
                    vec![body("body", op.body), body("forward", *forward), body("backward", *backward)]
                }
                Some(CustomRule::Jvp { tangent }) => vec![body("body", op.body), body("tangent", *tangent)],
            },
        }
    }

    fn defined(&self, values: &[Value]) -> String {
        values.iter().map(|v| format!("{}: {}", self.value(*v), self.ty(*v))).collect::<Vec<_>>().join(", ")
    }

    fn values(&self, values: &[Value]) -> String {
        values.iter().map(|v| self.value(*v)).collect::<Vec<_>>().join(", ")
    }

    /// `%?7` is a value 7 that nothing defines: the Program is invalid.
    fn value(&self, value: Value) -> String {
        match self.numbers.get(value.0 as usize) {
            Some(Some(number)) => format!("%{number}"),
            Some(None) | None => format!("%?{}", value.0),
        }
    }

    fn ty(&self, value: Value) -> String {
        self.function.types.get(value.0 as usize).map_or("?".into(), ToString::to_string)
    }
}

/// A space before what is not empty.
fn spaced(text: &str) -> String {
    if text.is_empty() { String::new() } else { format!(" {text}") }
}

fn position(pos: &Pos) -> String {
    match pos.file() {
        Some(file) => format!("{}:{}", quoted(file), pos.line()),
        None => "unknown".into(),
    }
}

fn quoted(text: &str) -> String {
    format!("\"{}\"", text.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n"))
}

fn attribute(name: &str, attr: &Attr) -> String {
    let value = match attr {
        Attr::Ints(values) => format!("[{}]", values.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ")),
        Attr::DType(dtype) => dtype.to_string(),
        Attr::Type(ty) => ty.to_string(),
        Attr::Array(array) => array.to_string(),
        Attr::Text(text) => quoted(text),
        Attr::Flag => return name.into(),
    };
    format!("{name}={value}")
}

/// A literal of the text form: `1.5`, `3`, `true`, `f64[2] [1.0, 2.0]`; it reads back to the same bits.
///
/// ```
/// use retrograd_compiler::ir::Array;
/// let array = Array::f64([2], vec![0.1, -0.0]);
/// assert_eq!(array.to_string(), "f64[2] [0.1, -0.0]");
/// assert!("f64[2] [0.1, -0.0]".parse::<Array>().unwrap().same_bits(&array));
/// ```
impl Display for Array {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        // A scalar of one of these types is told by how it is written.
        let typed = !self.shape().is_empty() || matches!(self.data(), Data::F32(_) | Data::I32(_));
        if typed {
            write!(f, "{} ", self.ty())?;
        }
        match self.data() {
            Data::F32(x) => nested(f, self.shape(), x, &|x| match x.is_nan() && x.to_bits() != f32::NAN.to_bits() {
                true => format!("nan({:#x})", x.to_bits()),
                false => format!("{x:?}").to_lowercase(),
            }),
            // Debug prints the shortest digits that read back, always with a dot or an exponent.
            Data::F64(x) => nested(f, self.shape(), x, &|x| match x.is_nan() && x.to_bits() != f64::NAN.to_bits() {
                true => format!("nan({:#x})", x.to_bits()),
                false => format!("{x:?}").to_lowercase(),
            }),
            Data::I32(x) => nested(f, self.shape(), x, &i32::to_string),
            Data::I64(x) => nested(f, self.shape(), x, &i64::to_string),
            Data::Bool(x) => nested(f, self.shape(), x, &bool::to_string),
        }
    }
}

fn nested<T>(f: &mut Formatter<'_>, shape: &[usize], elements: &[T], print: &dyn Fn(&T) -> String) -> fmt::Result {
    match shape {
        [] => f.write_str(&print(&elements[0])),
        _ if elements.is_empty() => f.write_str("[]"),
        [extent, inner @ ..] => {
            f.write_str("[")?;
            for (k, row) in elements.chunks(elements.len() / extent).enumerate() {
                f.write_str(if k > 0 { ", " } else { "" })?;
                nested(f, inner, row, print)?;
            }
            f.write_str("]")
        }
    }
}
