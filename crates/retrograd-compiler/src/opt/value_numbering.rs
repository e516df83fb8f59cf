//! Equal work is done once: instructions of one function, and functions of the Program.
//!
//! Values are numbered over the whole Program: a parameter by place and type, an instruction by its op, attributes
//! (literals by their bits), the classes of its bodies and the numbers of its arguments. Two functions are of one class
//! iff their parameters have the same types and their results the same numbers; order and dead code do not matter.
//! Arguments are never swapped: a + b and b + a may be different NaNs. A call with a custom backward function equals no
//! other: that function need not be linear (it clips, say), and what it makes of two cotangents is then not what it
//! makes of their sum.

use std::collections::BTreeMap;

use super::edit::Editor;
use super::functions::rewrite;
use crate::ir::{Attr, Attrs, CallOp, CustomRule, DType, FuncId, Function, Inst, Linearity, Op, Program, Type, Value};

/// Computes every value of a function once, by its first instruction, and leaves every function there once.
pub fn common(program: &mut Program) -> bool {
    let (mut numbering, mut changed) = (Numbering::default(), false);
    rewrite(program, |out, function| {
        let (edited, class) = numbering.function(&function);
        changed |= edited.is_some();
        let function = edited.unwrap_or(function);
        let made = numbering.made.entry(class).or_default();
        if let Some(known) = made.iter().find(|id| same_places(out.function(**id), &function)) {
            changed = true;
            return *known;
        }
        let id = out.add(function);
        made.push(id);
        numbering.is_there(out, class);
        id
    });
    changed
}

/// Whether two Programs are the same to the last number and bit; names and positions do not count.
pub(super) fn same(a: &Program, b: &Program) -> bool {
    let op = |inst: &Inst| op_key(&inst.op, |id| id.0);
    let same_inst = |(a, b): (&Inst, &Inst)| a.args == b.args && a.results == b.results && op(a) == op(b);
    let same_function = |(a, b): (&Function, &Function)| {
        (&a.params, &a.results, &a.types, a.insts.len()) == (&b.params, &b.results, &b.types, b.insts.len())
            && a.insts.iter().zip(&b.insts).all(same_inst)
    };
    a.entry == b.entry
        && a.functions.len() == b.functions.len()
        && a.functions.iter().zip(&b.functions).all(same_function)
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

/// Whether the instructions of two functions come from the same places. Functions that differ only here stay apart, so
/// that an error names its own line.
fn same_places(a: &Function, b: &Function) -> bool {
    let same = |(a, b): (&Inst, &Inst)| {
        let lines = (a.pos.line(), a.pos.file()) == (b.pos.line(), b.pos.file());
        lines && a.op.name() == b.op.name() && a.bodies() == b.bodies()
    };
    a.insts.len() == b.insts.len() && a.insts.iter().zip(&b.insts).all(same)
}

/// Types of the parameters, results, and effects in their order.
type Signature = (Vec<Type>, Vec<Number>, Vec<Number>);

/// Numbers of values over the whole Program, whose functions come bodies first.
#[derive(Default)]
pub(super) struct Numbering {
    /// The first of the numbers of what has one key.
    numbers: BTreeMap<Key, Number>,
    count: Number,
    ops: BTreeMap<OpKey, u32>,
    types: BTreeMap<Vec<Type>, u32>,
    classes: BTreeMap<Signature, u32>,
    /// Classes of the functions of the new Program.
    classes_of: Vec<Class>,
    /// Functions of the new Program, by class.
    made: BTreeMap<Class, Vec<FuncId>>,
    first: First,
}

/// The first value of each number in the function that is looked at.
#[derive(Default)]
struct First {
    /// With the function that it is of: those of others do not count.
    values: Vec<(u32, Value)>,
    function: u32,
}

impl First {
    /// Another function, whose numbers are below `count`.
    fn begin(&mut self, count: Number) {
        self.function += 1;
        self.values.resize(count as usize, (0, Value(0)));
    }

    fn set(&mut self, number: Number, value: Value) {
        self.values[number as usize] = (self.function, value);
    }

    fn get(&self, number: Number) -> Option<Value> {
        let (function, value) = self.values[number as usize];
        (function == self.function).then_some(value)
    }
}

#[derive(PartialEq, Eq, PartialOrd, Ord)]
enum Key {
    Param(usize, Type),
    /// What a value is to a loop, and the values that it comes from.
    Role(&'static str, Vec<Number>),
    /// An instruction by the numbers of its op and of the types of its results, with its arguments.
    Inst(u32, u32, Args),
    /// Equals nothing else.
    Alone(Number),
}

/// Numbers of arguments. Most instructions have few.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
enum Args {
    Few([Number; 3]),
    Many(Vec<Number>),
}

impl Args {
    fn new(mut numbers: impl ExactSizeIterator<Item = Number>) -> Args {
        if numbers.len() <= 3 {
            Args::Few([(); 3].map(|()| numbers.next().unwrap_or(Number::MAX)))
        } else {
            Args::Many(numbers.collect())
        }
    }
}

impl Numbering {
    /// A function with equal instructions merged, and its class.
    fn function(&mut self, function: &Function) -> (Option<Function>, Class) {
        let numbered = self.numbered(function);
        let mut editor = Editor::new(function);
        let mut first = std::mem::take(&mut self.first);
        first.begin(self.count);
        for inst in &function.insts {
            if self.has_effect(inst) {
                editor.copy(inst);
                continue;
            }
            let known = inst.results.iter().map(|v| first.get(numbered.of(*v))).collect::<Option<Vec<Value>>>();
            match known {
                Some(known) => editor.bind_all(inst, &known),
                None => {
                    editor.copy(inst);
                    let results = inst.results.iter().zip(editor.values(&inst.results));
                    results.for_each(|(old, new)| first.set(numbered.of(*old), new));
                }
            }
        }
        self.first = first;
        (editor.finish(), self.class(function, &numbered))
    }

    /// The values of a function.
    pub(super) fn numbered(&mut self, function: &Function) -> Numbered {
        let params = function.params.iter().enumerate();
        let params: Vec<Number> =
            params.map(|(place, v)| self.number(Key::Param(place, function.ty(*v).clone()), 1)).collect();
        self.numbered_over(function, &params)
    }

    /// The values of a function over parameters with these numbers.
    pub(super) fn numbered_over(&mut self, function: &Function, params: &[Number]) -> Numbered {
        let mut numbered =
            Numbered { values: vec![Number::MAX; function.types.len()], effects: vec![], is_custom: false };
        function.params.iter().zip(params).for_each(|(v, number)| numbered.values[v.0 as usize] = *number);
        for inst in &function.insts {
            let args = Args::new(inst.args.iter().map(|v| numbered.of(*v)));
            let types = inst.results.iter().map(|v| function.ty(*v).clone()).collect();
            let mut op = op_key(&inst.op, |id| self.classes_of[usize::from(id)].number);
            // Whoever sees an effect, or its failure, sees its line.
            if let OpKey::OpDef(_, attrs) = &mut op
                && inst.has_effect(|_| false)
            {
                attrs.push(("position", AttrKey::Text(inst.pos.to_string())));
            }
            let custom = self.is_custom(inst);
            numbered.is_custom |= custom;
            // What the host answers is another number each time.
            let answers = matches!(&inst.op, Op::Def(def, _) if def.lowering.is_host() && def.lowering.has_effect());
            let key = match custom || answers {
                true => Key::Alone(self.count),
                false => Key::Inst(interned(&mut self.ops, op), interned(&mut self.types, types), args),
            };
            // An effect is counted as one result more, and happens as often as it is written.
            let effect = self.has_effect(inst);
            let numbers = self.number(key, inst.results.len() + usize::from(effect))..;
            inst.results.iter().zip(numbers.clone()).for_each(|(v, number)| numbered.values[v.0 as usize] = number);
            numbered.effects.extend(numbers.skip(inst.results.len()).take(usize::from(effect)));
        }
        numbered
    }

    /// The class of a function with numbered values.
    pub(super) fn class(&mut self, function: &Function, numbered: &Numbered) -> Class {
        let results = function.results.iter().map(|v| numbered.of(*v)).collect();
        let number = interned(&mut self.classes, (function.param_types(), results, numbered.effects.clone()));
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
        matches!(&inst.op, Op::Call(CallOp { rule: Some(CustomRule::Vjp { .. }), .. }))
            || inst.bodies().into_iter().any(within)
    }

    /// The number of what plays a role in a loop.
    pub(super) fn role(&mut self, role: &'static str, of: &[Number]) -> Number {
        self.number(Key::Role(role, of.to_vec()), 1)
    }

    /// The first of as many numbers as there are results.
    fn number(&mut self, key: Key, results: usize) -> Number {
        let first = *self.numbers.entry(key).or_insert(self.count);
        if first == self.count {
            self.count += Number::try_from(results).expect("fewer than 2^32 values");
        }
        first
    }
}

/// The number of a key: as many as there were before it first came.
fn interned<K: Ord>(keys: &mut BTreeMap<K, u32>, key: K) -> u32 {
    let next = u32::try_from(keys.len()).expect("fewer than 2^32 keys");
    *keys.entry(key).or_insert(next)
}

/// The numbers of the values of one function, and of its effects in their order; whether a custom backward function is
/// part of it.
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

/// What an instruction does, whatever its arguments are.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum OpKey {
    OpDef(&'static str, Vec<(&'static str, AttrKey)>),
    /// Name, bodies and lengths of the groups.
    Control(&'static str, Vec<u32>, Vec<usize>),
}

#[derive(PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum AttrKey {
    Ints(Vec<i64>),
    DType(DType),
    Type(Type),
    Array(Type, Vec<u64>),
    Text(String),
    Flag,
}

/// What an instruction does, given what is known of its bodies.
pub(crate) fn op_key(op: &Op, mut class: impl FnMut(FuncId) -> u32) -> OpKey {
    match op {
        Op::Def(def, attrs) => OpKey::OpDef(def.name, attr_keys(attrs)),
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
            Some(CustomRule::Jvp { tangent }) => {
                OpKey::Control(op.name(), [f.body, *tangent].map(class).to_vec(), vec![])
            }
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
        Attr::Flag => AttrKey::Flag,
    };
    attrs.iter().map(|(name, attr)| (*name, key(attr))).collect()
}
