//! Equal work is done once: instructions of one function, and functions of the Program.
//!
//! Values are numbered over the whole Program: a parameter by place and type, an instruction by its op, attributes (literals by their
//! bits), the classes of its bodies and the numbers of its arguments. Two functions are of one class iff their parameters have the same
//! types and their results the same numbers; order and dead code do not matter. Arguments are never swapped: a + b and b + a may be
//! different NaNs. A call with a custom backward function equals no other: that function need not be linear (it clips, say), and what it
//! makes of two cotangents is then not what it makes of their sum.

use std::collections::BTreeMap;

use super::edit::Editor;
use super::functions::rewrite;
use crate::ir::{Attr, Attrs, CallOp, CustomRule, DType, FuncId, Function, Inst, Linearity, Op, Program, Type, Value};

/// The Program with every value of a function computed once, by its first instruction, and every function there once.
pub fn common(program: &Program) -> Program {
    let mut numbering = Numbering::default();
    rewrite(program, |out, function| {
        let (function, class) = numbering.function(function);
        let key = (class, function.insts.iter().map(place).collect());
        let made = *numbering.made.entry(key).or_insert_with(|| out.add(function));
        numbering.is_there(out, class);
        made
    })
}

/// Whether two Programs are the same to the last number and bit; names and positions do not count.
pub(super) fn same(a: &Program, b: &Program) -> bool {
    let op = |inst: &Inst| op_key(&inst.op, |id| id.0);
    let same_inst = |(a, b): (&Inst, &Inst)| a.args == b.args && a.results == b.results && op(a) == op(b);
    let same_function = |(a, b): (&Function, &Function)| {
        (&a.params, &a.results, &a.types, a.insts.len()) == (&b.params, &b.results, &b.types, b.insts.len())
            && a.insts.iter().zip(&b.insts).all(same_inst)
    };
    a.entry == b.entry && a.functions.len() == b.functions.len() && a.functions.iter().zip(&b.functions).all(same_function)
}

/// Equal numbers are equal values, for equal parameters.
pub(super) type Number = u32;

/// Functions of one class compute the same; whether they have an effect or a custom backward function, too.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Class {
    number: u32,
    has_effect: bool,
    is_custom: bool,
}

/// Where an instruction comes from. Functions that differ only here stay apart, so that an error names its own line.
type Place = (&'static str, Option<String>, u32, Vec<FuncId>);

fn place(inst: &Inst) -> Place {
    (inst.op.name(), inst.pos.file().map(str::to_string), inst.pos.line(), inst.bodies())
}

/// Types of the parameters, results, and effects in their order.
type Signature = (Vec<Type>, Vec<Number>, Vec<Number>);

/// Numbers of values over the whole Program, whose functions come bodies first.
#[derive(Default)]
pub(super) struct Numbering {
    numbers: BTreeMap<Key, Vec<Number>>,
    count: Number,
    classes: BTreeMap<Signature, u32>,
    /// Classes of the functions of the new Program.
    classes_of: Vec<Class>,
    made: BTreeMap<(Class, Vec<Place>), FuncId>,
}

#[derive(PartialEq, Eq, PartialOrd, Ord)]
enum Key {
    Param(usize, Type),
    /// What a value is to a loop, and the values that it comes from.
    Role(&'static str, Vec<Number>),
    Inst(OpKey, Vec<Number>, Vec<Type>),
    /// Equals nothing else.
    Alone(Number),
}

impl Numbering {
    /// A function with equal instructions merged, and its class.
    fn function(&mut self, function: &Function) -> (Function, Class) {
        let numbered = self.numbered(function);
        let mut editor = Editor::new(function);
        let mut first: BTreeMap<Number, Value> = BTreeMap::new();
        for inst in &function.insts {
            if self.has_effect(inst) {
                editor.copy(inst);
                continue;
            }
            let results: Vec<Number> = inst.results.iter().map(|v| numbered.of(*v)).collect();
            match results.iter().map(|number| first.get(number).copied()).collect::<Option<Vec<Value>>>() {
                Some(known) => editor.bind_all(inst, &known),
                None => {
                    editor.copy(inst);
                    first.extend(results.iter().copied().zip(editor.values(&inst.results)));
                }
            }
        }
        (editor.finish(), self.class(function, &numbered))
    }

    /// The values of a function.
    pub(super) fn numbered(&mut self, function: &Function) -> Numbered {
        let params = function.params.iter().enumerate();
        let params: Vec<Number> = params.map(|(place, v)| self.number(Key::Param(place, function.ty(*v).clone()), 1)[0]).collect();
        self.numbered_over(function, &params)
    }

    /// The values of a function over parameters with these numbers.
    pub(super) fn numbered_over(&mut self, function: &Function, params: &[Number]) -> Numbered {
        let mut numbered = Numbered { values: vec![Number::MAX; function.types.len()], effects: vec![], is_custom: false };
        function.params.iter().zip(params).for_each(|(v, number)| numbered.values[v.0 as usize] = *number);
        for inst in &function.insts {
            let args = inst.args.iter().map(|v| numbered.of(*v)).collect();
            let types = inst.results.iter().map(|v| function.ty(*v).clone()).collect();
            let op = op_key(&inst.op, |id| self.classes_of[usize::from(id)].number);
            let custom = self.is_custom(inst);
            numbered.is_custom |= custom;
            let key = if custom { Key::Alone(self.count) } else { Key::Inst(op, args, types) };
            // An effect is counted as one result more, and happens as often as it is written.
            let effect = self.has_effect(inst);
            let mut results = self.number(key, inst.results.len() + usize::from(effect));
            if effect {
                numbered.effects.extend(results.pop());
            }
            inst.results.iter().zip(&results).for_each(|(v, number)| numbered.values[v.0 as usize] = *number);
        }
        numbered
    }

    /// The class of a function with numbered values.
    pub(super) fn class(&mut self, function: &Function, numbered: &Numbered) -> Class {
        let results = function.results.iter().map(|v| numbered.of(*v)).collect();
        let next = u32::try_from(self.classes.len()).expect("fewer than 2^32 classes");
        let number = *self.classes.entry((function.param_types(), results, numbered.effects.clone())).or_insert(next);
        Class { number, has_effect: !numbered.effects.is_empty(), is_custom: numbered.is_custom }
    }

    /// The last functions of the new Program are of that class.
    pub(super) fn is_there(&mut self, out: &Program, class: Class) {
        self.classes_of.resize(out.functions.len(), class);
    }

    pub(super) fn has_effect(&self, inst: &Inst) -> bool {
        inst.has_effect(|body| self.classes_of[usize::from(body)].has_effect)
    }

    /// Whether a custom backward function is part of an instruction.
    fn is_custom(&self, inst: &Inst) -> bool {
        let within = |body: FuncId| self.classes_of[usize::from(body)].is_custom;
        matches!(&inst.op, Op::Call(CallOp { rule: Some(CustomRule::Vjp { .. }), .. })) || inst.bodies().into_iter().any(within)
    }

    /// The number of what plays a role in a loop.
    pub(super) fn role(&mut self, role: &'static str, of: &[Number]) -> Number {
        self.number(Key::Role(role, of.to_vec()), 1)[0]
    }

    fn number(&mut self, key: Key, results: usize) -> Vec<Number> {
        let next = self.count..self.count + Number::try_from(results).expect("fewer than 2^32 values");
        let numbers = self.numbers.entry(key).or_insert_with(|| next.clone().collect());
        self.count = self.count.max(numbers.last().map_or(0, |last| last + 1));
        numbers.clone()
    }
}

/// The numbers of the values of one function, and of its effects in their order; whether a custom backward function is part of it.
pub(super) struct Numbered {
    values: Vec<Number>,
    effects: Vec<Number>,
    is_custom: bool,
}

impl Numbered {
    pub(super) fn of(&self, value: Value) -> Number {
        self.values[value.0 as usize]
    }
}

#[derive(PartialEq, Eq, PartialOrd, Ord)]
enum OpKey {
    Row(&'static str, Vec<(&'static str, AttrKey)>),
    /// Name, bodies and lengths of the groups.
    Control(&'static str, Vec<u32>, Vec<usize>),
}

#[derive(PartialEq, Eq, PartialOrd, Ord)]
enum AttrKey {
    Ints(Vec<i64>),
    DType(DType),
    Type(Type),
    Array(Type, Vec<u64>),
    Text(String),
}

fn op_key(op: &Op, class: impl Fn(FuncId) -> u32) -> OpKey {
    match op {
        Op::Row(row, attrs) => OpKey::Row(row.name, attr_keys(attrs)),
        Op::If(f) => OpKey::Control(op.name(), vec![class(f.then_body), class(f.else_body)], vec![]),
        Op::For(f) => OpKey::Control(op.name(), vec![class(f.body)], vec![f.carries, f.invariants, f.bound]),
        Op::Unwind(f) => {
            let custom = usize::from(f.linearity == Linearity::Custom);
            let groups = vec![f.carries, f.invariants, f.streams, f.adjoints, f.emitted, f.running, f.bound, custom];
            OpKey::Control(op.name(), vec![class(f.body), class(f.bwd)], groups)
        }
        Op::While(f) => OpKey::Control(op.name(), vec![class(f.cond), class(f.body)], vec![f.carries]),
        Op::Call(f) => match &f.rule {
            None => OpKey::Control(op.name(), vec![class(f.body)], vec![]),
            Some(CustomRule::Vjp { forward, backward }) => {
                OpKey::Control(op.name(), [f.body, *forward, *backward].map(class).to_vec(), vec![])
            }
            Some(CustomRule::Jvp { tangent }) => OpKey::Control(op.name(), [f.body, *tangent].map(class).to_vec(), vec![]),
        },
    }
}

fn attr_keys(attrs: &Attrs) -> Vec<(&'static str, AttrKey)> {
    let key = |attr: &Attr| match attr {
        Attr::Ints(values) => AttrKey::Ints(values.clone()),
        Attr::DType(dtype) => AttrKey::DType(*dtype),
        Attr::Type(ty) => AttrKey::Type(ty.clone()),
        Attr::Array(array) => AttrKey::Array(array.ty(), array.bits()),
        Attr::Text(text) => AttrKey::Text(text.clone()),
    };
    attrs.iter().map(|(name, attr)| (*name, key(attr))).collect()
}
