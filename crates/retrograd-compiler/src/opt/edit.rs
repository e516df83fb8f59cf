//! A function rewritten instruction by instruction, with the definitions of its new values at hand.

use crate::ir::{Array, Attr, Attrs, Function, Inst, Lowering, Op, OpDef, Pos, Type, Value, View};
use crate::ops::{BROADCAST, CONSTANT};

/// The old function, the new one so far, and which new value stands for each old one.
///
/// As long as the new one is no more than the beginning of the old one, nothing is copied: most passes change nothing
/// in most functions.
pub(super) struct Editor<'f> {
    from: &'f Function,
    /// Instructions that are as they were, where so far all are; then `to` has parameters only.
    same: Option<usize>,
    to: Function,
    map: Vec<Option<Value>>,
    /// The instruction that defines each new value.
    definitions: Vec<Option<usize>>,
}

impl<'f> Editor<'f> {
    /// A function without parameters yet.
    pub(super) fn empty(from: &'f Function) -> Editor<'f> {
        let to = Function { name: from.name.clone(), params: vec![], insts: vec![], results: vec![], types: vec![] };
        let definitions = Vec::with_capacity(from.types.len());
        Editor { from, same: Some(0), to, map: vec![None; from.types.len()], definitions }
    }

    /// A function with the same parameters.
    pub(super) fn new(from: &'f Function) -> Editor<'f> {
        let mut editor = Editor::empty(from);
        from.params.iter().for_each(|param| editor.param(*param));
        editor
    }

    /// Keeps a parameter.
    pub(super) fn param(&mut self, old: Value) {
        if old != self.next() {
            self.differ();
        }
        let new = self.define(old, None);
        self.to.params.push(new);
        self.bind(old, new);
    }

    /// Lets a new value stand for an old one.
    pub(super) fn bind(&mut self, old: Value, new: Value) {
        if old != new {
            self.differ();
        }
        self.map[old.0 as usize] = Some(new);
    }

    /// New values that stand for old ones.
    pub(super) fn values(&self, old: &[Value]) -> Vec<Value> {
        old.iter().map(|v| self.map[v.0 as usize].expect("SSA: defined before use")).collect()
    }

    /// A new instruction over new values.
    pub(super) fn push(&mut self, op: Op, args: Vec<Value>, types: Vec<Type>, pos: &Pos) -> Vec<Value> {
        self.differ();
        let (index, first) = (self.to.insts.len(), self.next().0);
        self.to.types.extend(types);
        let results: Vec<Value> = (first..number(self.to.types.len())).map(Value).collect();
        self.definitions.resize(self.to.types.len(), Some(index));
        self.to.insts.push(Inst { op, args, results: results.clone(), pos: pos.clone() });
        results
    }

    /// A new instruction of the op table.
    pub(super) fn op(&mut self, def: &'static OpDef, attrs: Attrs, args: Vec<Value>, ty: Type, pos: &Pos) -> Value {
        self.push(Op::Def(def, attrs), args, vec![ty], pos)[0]
    }

    /// An array of this shape whose elements are all this number.
    pub(super) fn full(&mut self, number: Array, shape: &[usize], pos: &Pos) -> Value {
        let (literal, repeat) = (literal(number.clone()), repeat(shape));
        let scalar = self.op(literal.0, literal.1, vec![], number.ty(), pos);
        if shape.is_empty() {
            return scalar;
        }
        self.op(repeat.0, repeat.1, vec![scalar], Type::new(number.dtype(), shape), pos)
    }

    /// An old instruction as it is.
    pub(super) fn copy(&mut self, inst: &Inst) {
        if self.keep(inst) {
            return;
        }
        let (index, first) = (self.to.insts.len(), self.next().0);
        let args = self.values(&inst.args);
        inst.results.iter().for_each(|old| {
            let new = self.define(*old, Some(index));
            self.map[old.0 as usize] = Some(new);
        });
        let results = (first..self.next().0).map(Value).collect();
        self.to.insts.push(Inst { op: inst.op.clone(), args, results, pos: inst.pos.clone() });
    }

    /// A new op in place of an old instruction, whose results are these of the old ones.
    pub(super) fn replace(&mut self, inst: &Inst, op: Op, args: Vec<Value>, results: &[Value]) {
        if args == inst.args && results == inst.results && same_control(&op, &inst.op) && self.keep(inst) {
            return;
        }
        let types = results.iter().map(|v| self.from.ty(*v).clone()).collect();
        let new = self.push(op, args, types, &inst.pos);
        results.iter().zip(new).for_each(|(old, new)| self.bind(*old, new));
    }

    /// Whether the new function goes on as the old one: with this instruction, whose values have the same numbers in
    /// both.
    fn keep(&mut self, inst: &Inst) -> bool {
        let next = self.same.filter(|kept| self.from.insts.get(*kept).is_some_and(|next| std::ptr::eq(next, inst)));
        let numbers = self.next().0..;
        match next {
            Some(kept) if inst.results.iter().map(|v| v.0).eq(numbers.take(inst.results.len())) => {
                inst.results.iter().for_each(|v| self.map[v.0 as usize] = Some(*v));
                self.definitions.resize(self.definitions.len() + inst.results.len(), Some(kept));
                self.same = Some(kept + 1);
                true
            }
            Some(_) | None => {
                self.differ();
                false
            }
        }
    }

    /// From here on the new function is another.
    fn differ(&mut self) {
        if let Some(kept) = self.same.take() {
            self.to.types.reserve(self.from.types.len());
            self.to.types.extend_from_slice(&self.from.types[..self.definitions.len()]);
            self.to.insts.reserve(self.from.insts.len());
            self.to.insts.extend_from_slice(&self.from.insts[..kept]);
        }
    }

    fn insts(&self) -> &[Inst] {
        if self.same.is_some() { &self.from.insts } else { &self.to.insts }
    }

    /// New values in place of an old instruction.
    pub(super) fn bind_all(&mut self, inst: &Inst, values: &[Value]) {
        assert_eq!(inst.results.len(), values.len(), "every result of `{}` needs a value", inst.op.name());
        inst.results.iter().zip(values).for_each(|(old, new)| self.bind(*old, *new));
    }

    /// The instructions of another function over new values; returns its results.
    pub(super) fn inline(&mut self, body: &Function, args: &[Value]) -> Vec<Value> {
        assert_eq!(body.params.len(), args.len(), "a body gets as many arguments as it has parameters");
        let mut map = vec![Value(u32::MAX); body.types.len()];
        body.params.iter().zip(args).for_each(|(param, arg)| map[param.0 as usize] = *arg);
        for inst in &body.insts {
            let args = inst.args.iter().map(|v| map[v.0 as usize]).collect();
            let types = inst.results.iter().map(|v| body.ty(*v).clone()).collect();
            let results = self.push(inst.op.clone(), args, types, &inst.pos);
            inst.results.iter().zip(results).for_each(|(old, new)| map[old.0 as usize] = new);
        }
        body.results.iter().map(|v| map[v.0 as usize]).collect()
    }

    /// The type of an old value.
    pub(super) fn old_ty(&self, value: Value) -> &Type {
        self.from.ty(value)
    }

    /// The type of a new value.
    pub(super) fn ty(&self, value: Value) -> &Type {
        if self.same.is_some() { self.from.ty(value) } else { self.to.ty(value) }
    }

    /// The row, attributes and arguments that define a new value, where it is the result of a row.
    pub(super) fn definition(&self, value: Value) -> Option<(&'static OpDef, &Attrs, &[Value])> {
        let inst = &self.insts()[self.definitions[value.0 as usize]?];
        match &inst.op {
            Op::Def(def, attrs) => Some((def, attrs, &inst.args)),
            Op::If(_) | Op::For(_) | Op::While(_) | Op::Unwind(_) | Op::Call(_) => None,
        }
    }

    /// The literal that a new value is.
    pub(super) fn literal(&self, value: Value) -> Option<&Array> {
        let (row, attrs, _) = self.definition(value)?;
        (row.lowering == Lowering::Constant).then(|| attrs.array("value"))
    }

    /// The number, at rank 0, that every element of a new value is: a literal of one element, or one repeated.
    pub(super) fn number(&self, value: Value) -> Option<Array> {
        let (row, attrs, args) = self.definition(value)?;
        match row.lowering {
            Lowering::Constant => Some(attrs.array("value"))
                .filter(|literal| literal.len() == 1)
                .map(|literal| literal.clone().reshaped([])),
            Lowering::View(View::Broadcast) => self.number(args[0]),
            Lowering::Map(_)
            | Lowering::Convert
            | Lowering::Iota
            | Lowering::View(View::Reshape | View::Transpose | View::Reverse | View::Slice | View::DynamicSlice)
            | Lowering::Write(_)
            | Lowering::Pick(_)
            | Lowering::Scatter(..)
            | Lowering::Reduce(_)
            | Lowering::Dot
            | Lowering::Scan(_)
            | Lowering::Composed(_)
            | Lowering::Routine(_)
            | Lowering::Factored(..)
            | Lowering::Probe
            | Lowering::Check
            | Lowering::Missing => None,
        }
    }

    /// The integer that a new value is.
    pub(super) fn int(&self, value: Value) -> Option<i64> {
        self.literal(value).map(|literal| literal.as_i64()[0])
    }

    /// The new function, with these results of the old one; `None` where it is the old one.
    pub(super) fn finish_with(mut self, results: &[Value]) -> Option<Function> {
        let from = self.from;
        let whole =
            self.to.params == from.params && results == from.results && self.definitions.len() == from.types.len();
        if whole && self.same == Some(from.insts.len()) {
            return None;
        }
        self.differ();
        self.to.results = self.values(results);
        Some(self.to)
    }

    /// The new function, with the results of the old one; `None` where it is the old one.
    pub(super) fn finish(self) -> Option<Function> {
        let from = self.from;
        self.finish_with(&from.results)
    }

    /// The next value, of the type of an old one.
    fn define(&mut self, old: Value, definition: Option<usize>) -> Value {
        let new = self.next();
        if self.same.is_none() {
            self.to.types.push(self.from.ty(old).clone());
        }
        self.definitions.push(definition);
        new
    }

    /// The value that is defined next.
    fn next(&self) -> Value {
        Value(number(self.definitions.len()))
    }
}

fn number(count: usize) -> u32 {
    u32::try_from(count).expect("fewer than 2^32 values")
}

/// Whether two ops are the same control flow over the same bodies.
fn same_control(a: &Op, b: &Op) -> bool {
    match (a, b) {
        (Op::If(a), Op::If(b)) => a == b,
        (Op::For(a), Op::For(b)) => a == b,
        (Op::While(a), Op::While(b)) => a == b,
        (Op::Unwind(a), Op::Unwind(b)) => a == b,
        (Op::Call(a), Op::Call(b)) => a == b,
        (Op::Def(..) | Op::If(_) | Op::For(_) | Op::While(_) | Op::Unwind(_) | Op::Call(_), _) => false,
    }
}

/// Row and attributes of a literal.
pub(super) fn literal(value: Array) -> (&'static OpDef, Attrs) {
    (&CONSTANT, Attrs::none().with("value", Attr::Array(value)))
}

/// Row and attributes of a scalar repeated.
pub(super) fn repeat(shape: &[usize]) -> (&'static OpDef, Attrs) {
    (&BROADCAST, Attrs::none().ints("shape", shape.iter().copied()).ints("axes", []))
}
