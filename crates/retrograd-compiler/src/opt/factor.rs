//! What a step backwards over numbers does with their cotangents, as one sum of products.
//!
//! In the adjoint of a recurrence every step waits for the cotangents `a` of the one before it, through each
//! instruction between. A step is linear in them, `a' = J a + b`, and `J` and `b` do not depend on `a`: computed apart,
//! they are ready before `a` is, and the wait is one `fma` for each element of a row of `J`. It changes bits, so it
//! belongs to [`freeze`](super::freeze), for every plan alike.
//!
//! Where an element of `J` is beyond the range of floats, `(a p) q` may be a number although `a (p q)` is none. So a
//! step asks whether its `J` is within, which does not wait for `a`, and otherwise goes the way it went before.

use std::collections::{BTreeMap, BTreeSet};

use super::edit::Editor;
use super::functions::edit_unwinds;
use crate::ir::{
    Array, Attrs, Builder, DType, Element, Function, IfOp, Inst, Op, OpDef, Pos, Program, Type, UnwindOp, Value,
    each_element,
};
use crate::ops::{ABS, ADD, AND, GE, LE, MUL, NEG, SUB};

/// Most cotangents of a step: with more, `J` is more work than what it replaces.
const MOST: usize = 2;

/// Factors the steps of unwinds over numbers whose wait is halved at least. Applied again, it changes nothing.
pub fn factor(program: &mut Program) -> bool {
    edit_unwinds(program, unwind)
}

fn unwind(out: &mut Program, editor: &mut Editor<'_>, inst: &Inst, op: &UnwindOp) {
    let bwd = out.function(op.bwd).clone();
    let Some(bwd) = factored(out, &bwd, op) else { return editor.copy(inst) };
    let op = UnwindOp { bwd: out.add(bwd), ..op.clone() };
    let types = inst.results.iter().map(|v| editor.old_ty(*v).clone()).collect();
    let results = editor.push(Op::Unwind(op), editor.values(&inst.args), types, &inst.pos);
    editor.bind_all(inst, &results);
}

/// The step with its new cotangents as sums of products, if that is a shorter wait.
fn factored(out: &mut Program, bwd: &Function, op: &UnwindOp) -> Option<Function> {
    let cotangents = op.args(&bwd.params).adjoints;
    let ty = bwd.ty(*cotangents.first()?).clone();
    let alike = ty.rank() == 0 && ty.dtype.is_float() && cotangents.iter().all(|v| *bwd.ty(*v) == ty);
    if !alike || cotangents.len() > MOST {
        return None;
    }
    let mut forms = Forms::new(bwd, cotangents, ty);
    bwd.insts.iter().for_each(|inst| forms.inst(inst));
    let results = op.results(&bwd.results).0;
    let wait = results.iter().filter_map(|v| forms.waits[v.0 as usize]).max()?;
    let new: Vec<(Value, Form)> = results.iter().map(|v| Some((*v, forms.of(*v)?))).collect::<Option<_>>()?;
    if wait < 2 * new.iter().map(|(_, form)| forms.wait(form)).max()?.max(1) {
        return None;
    }
    let shorter = |(old, form): &(Value, Form)| forms.waits[old.0 as usize].is_some_and(|wait| wait > forms.wait(form));
    let new: Vec<(Value, Form)> = new.into_iter().filter(shorter).collect();
    forms.replace(out, cotangents, &new);
    forms.editor.finish()
}

/// A number as `Σ factors[k] · a_k + rest`; a factor that is missing is 0, and so is the rest.
#[derive(Clone, Debug)]
struct Form {
    factors: Vec<Option<Value>>,
    rest: Option<Value>,
    /// What must hold for that.
    guards: BTreeSet<Guard>,
}

impl Form {
    fn terms(&self) -> usize {
        self.factors.iter().flatten().count() + usize::from(self.rest.is_some())
    }
}

/// What must hold of the magnitude of a number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Guard {
    /// It is finite, and so large that it lost nothing to a product on the way that was too small for a float.
    Within(Value),
    /// At most 1: it scales several terms apart, none of which may overflow where their sum does not.
    AtMostOne(Value),
}

/// Forms of the values of a step, over values of the new one.
struct Forms<'f> {
    old: &'f Function,
    editor: Editor<'f>,
    one: Value,
    ty: Type,
    count: usize,
    /// Of old values that depend on cotangents and have one.
    all: Vec<Option<Form>>,
    /// How many instructions lie between the cotangents and each old value that depends on them.
    waits: Vec<Option<usize>>,
    /// Values that the step did not have before.
    made: BTreeSet<Value>,
    /// Where the last instruction is that depends on cotangents.
    pos: Pos,
}

impl<'f> Forms<'f> {
    fn new(bwd: &'f Function, cotangents: &[Value], ty: Type) -> Forms<'f> {
        let mut editor = Editor::new(bwd);
        let one = editor.full(Array::number(ty.dtype, 1.0), &[], &Pos::default());
        let count = cotangents.len();
        let (mut all, mut waits) = (vec![None; bwd.types.len()], vec![None; bwd.types.len()]);
        for (k, value) in cotangents.iter().enumerate() {
            let factors = (0..count).map(|other| (other == k).then_some(one)).collect();
            all[value.0 as usize] = Some(Form { factors, rest: None, guards: BTreeSet::new() });
            waits[value.0 as usize] = Some(0);
        }
        Forms { old: bwd, editor, one, ty, count, all, waits, made: BTreeSet::new(), pos: Pos::default() }
    }

    fn inst(&mut self, inst: &Inst) {
        self.editor.copy(inst);
        let Some(wait) = inst.args.iter().filter_map(|v| self.waits[v.0 as usize]).max() else { return };
        self.pos = inst.pos.clone();
        let form = self.of_row(inst);
        for result in &inst.results {
            self.waits[result.0 as usize] = Some(wait + 1);
            self.all[result.0 as usize].clone_from(&form);
        }
    }

    /// The form of an old value, if it has one.
    fn of(&self, value: Value) -> Option<Form> {
        match self.waits[value.0 as usize] {
            Some(_) => self.all[value.0 as usize].clone(),
            None => {
                let rest = Some(self.editor.values(&[value])[0]);
                Some(Form { factors: vec![None; self.count], rest, guards: BTreeSet::new() })
            }
        }
    }

    /// The form of the result of an instruction that depends on cotangents.
    fn of_row(&mut self, inst: &Inst) -> Option<Form> {
        let Op::Def(def, attrs) = &inst.op else { return None };
        if attrs.is_exact() || *self.editor.old_ty(inst.results[0]) != self.ty {
            return None;
        }
        let forms: Vec<Form> = inst.args.iter().map(|v| self.of(*v)).collect::<Option<_>>()?;
        let pos = &inst.pos;
        match forms.as_slice() {
            [form] if **def == NEG => Some(self.each(form, |forms, value| forms.op(&NEG, &[value], pos))),
            [left, right] if **def == ADD || **def == SUB => Some(self.both(left, right, def, pos)),
            [left, right] if **def == MUL => {
                let depends = inst.args.iter().map(|v| self.waits[v.0 as usize].is_some()).collect::<Vec<_>>();
                match (depends[0], depends[1]) {
                    (true, false) => self.scaled(left, right.rest?, pos),
                    (false, true) => self.scaled(right, left.rest?, pos),
                    (true, true) | (false, false) => None,
                }
            }
            _ => None,
        }
    }

    /// A product with a number that does not depend on cotangents.
    fn scaled(&mut self, form: &Form, by: Value, pos: &Pos) -> Option<Form> {
        let mut guards: BTreeSet<Guard> =
            form.factors.iter().flatten().filter_map(|factor| self.within(*factor)).collect();
        match self.editor.number(by).map(|number| is_at_most_one(&number)) {
            Some(small) if form.terms() > 1 && !small => return None,
            None if form.terms() > 1 => drop(guards.insert(Guard::AtMostOne(by))),
            Some(_) | None => {}
        }
        let mut scaled =
            self.each(form, |forms, value| if value == forms.one { by } else { forms.op(&MUL, &[value, by], pos) });
        scaled.guards.append(&mut guards);
        Some(scaled)
    }

    fn each(&mut self, form: &Form, mut change: impl FnMut(&mut Self, Value) -> Value) -> Form {
        let factors = form.factors.iter().map(|factor| factor.map(|value| change(self, value))).collect();
        Form { factors, rest: form.rest.map(|value| change(self, value)), guards: form.guards.clone() }
    }

    /// A sum or difference.
    fn both(&mut self, left: &Form, right: &Form, def: &'static OpDef, pos: &Pos) -> Form {
        let mut part = |left: Option<Value>, right: Option<Value>| match (left, right) {
            (Some(left), Some(right)) => Some(self.op(def, &[left, right], pos)),
            (None, Some(right)) if *def == SUB => Some(self.op(&NEG, &[right], pos)),
            (left, right) => left.or(right),
        };
        let factors = left.factors.iter().zip(&right.factors).map(|(left, right)| part(*left, *right)).collect();
        Form { factors, rest: part(left.rest, right.rest), guards: left.guards.union(&right.guards).copied().collect() }
    }

    /// How many instructions lie between the cotangents and a sum.
    fn wait(&self, form: &Form) -> usize {
        let terms = form.factors.iter().flatten().count();
        let free = form.rest.is_none() && form.factors.iter().flatten().any(|factor| *factor == self.one);
        terms - usize::from(free)
    }

    /// What must hold of a factor before it is multiplied by anything. Of one that the step had before nothing, because
    /// the old way multiplies by it, too; and nothing of a rest, which is what the old way computes from cotangents
    /// that are zero.
    fn within(&self, factor: Value) -> Option<Guard> {
        self.made.contains(&factor).then_some(Guard::Within(factor))
    }

    /// Lets sums stand for old values: where guards hold, if there are any.
    fn replace(&mut self, out: &mut Program, cotangents: &[Value], new: &[(Value, Form)]) {
        let factors: BTreeSet<Value> =
            new.iter().flat_map(|(_, form)| form.factors.iter().flatten().copied()).collect();
        let inside = new.iter().flat_map(|(_, form)| form.guards.iter().copied());
        let guards: BTreeSet<Guard> = factors.iter().filter_map(|factor| self.within(*factor)).chain(inside).collect();
        let holds: Vec<Value> = guards.into_iter().map(|guard| self.holds(guard)).collect();
        let chain = self.chain(new);
        let read =
            chain.iter().flat_map(|inst| &inst.args).filter(|v| !chain.iter().any(|inst| inst.results.contains(v)));
        let cotangents = self.editor.values(cotangents);
        let rests = new.iter().filter_map(|(_, form)| form.rest);
        let read = read.map(|v| self.editor.values(&[*v])[0]);
        let args: BTreeSet<Value> = read.chain(factors).chain(rests).chain(cotangents.iter().copied()).collect();
        let args: Vec<Value> = args.into_iter().collect();
        let sums = self.sums(&args, &cotangents, new);
        let results = match holds.into_iter().reduce(|left, right| self.truth(&AND, left, right)) {
            None => self.editor.inline(&sums, &args),
            Some(holds) => {
                let op = Op::If(IfOp { then_body: out.add(sums), else_body: out.add(self.before(&args, &chain, new)) });
                self.editor.push(
                    op,
                    [&[holds], args.as_slice()].concat(),
                    vec![self.ty.clone(); new.len()],
                    &self.pos.clone(),
                )
            }
        };
        new.iter().zip(results).for_each(|((old, _), result)| self.editor.bind(*old, result));
    }

    /// The old instructions between the cotangents and old values.
    fn chain(&self, new: &[(Value, Form)]) -> Vec<&'f Inst> {
        let mut needed: BTreeSet<Value> = new.iter().map(|(old, _)| *old).collect();
        let mut chain = vec![];
        for inst in
            self.old.insts.iter().rev().filter(|inst| inst.results.iter().any(|v| self.waits[v.0 as usize].is_some()))
        {
            if inst.results.iter().any(|v| needed.contains(v)) {
                needed.extend(&inst.args);
                chain.push(inst);
            }
        }
        chain.reverse();
        chain
    }

    /// A function of new values that runs old instructions and returns the old values.
    fn before(&self, args: &[Value], chain: &[&Inst], new: &[(Value, Form)]) -> Function {
        let (builder, at) = self.body("before", args);
        let mut values: BTreeMap<Value, Value> = BTreeMap::new();
        let value = |values: &BTreeMap<Value, Value>, old: &Value| {
            values.get(old).copied().unwrap_or_else(|| at[&self.editor.values(&[*old])[0]])
        };
        for inst in chain {
            let args = inst.args.iter().map(|old| value(&values, old)).collect();
            let results = builder.copy(self.old, inst, args);
            values.extend(inst.results.iter().copied().zip(results));
        }
        let results = new.iter().map(|(old, _)| value(&values, old)).collect();
        builder.finish(results)
    }

    /// A function of new values that returns the sums: what is no product first.
    fn sums(&self, args: &[Value], cotangents: &[Value], new: &[(Value, Form)]) -> Function {
        let (builder, at) = self.body("factored", args);
        let sum = |form: &Form| {
            let terms: Vec<(Value, Value)> =
                form.factors.iter().zip(cotangents).filter_map(|(factor, a)| Some(((*factor)?, *a))).collect();
            let (alone, products): (Vec<_>, Vec<_>) = terms.into_iter().partition(|(factor, _)| *factor == self.one);
            let mut sum = form.rest.map(|rest| at[&rest]);
            for (factor, cotangent) in alone.into_iter().chain(products) {
                let term = if factor == self.one { at[&cotangent] } else { builder.mul(at[&factor], at[&cotangent]) };
                sum = Some(sum.map_or(term, |sum| builder.add(term, sum)));
            }
            sum.expect("a result that depends on cotangents has a factor")
        };
        let results = new.iter().map(|(_, form)| sum(form)).collect();
        builder.finish(results)
    }

    /// A function of these values, and the parameter that each is.
    fn body(&self, name: &str, args: &[Value]) -> (Builder, BTreeMap<Value, Value>) {
        let builder = Builder::new(name);
        let params = builder.params(args.iter().map(|v| self.editor.ty(*v).clone()));
        (builder, args.iter().copied().zip(params).collect())
    }

    fn holds(&mut self, guard: Guard) -> Value {
        let (Guard::Within(value) | Guard::AtMostOne(value)) = guard;
        let magnitude = self.op(&ABS, &[value], &self.pos.clone());
        let (least, most) = range(self.ty.dtype);
        match guard {
            Guard::Within(_) => {
                let [least, most] = [least, most].map(|bound| self.number(bound));
                let (large, finite) = (self.truth(&GE, magnitude, least), self.truth(&LE, magnitude, most));
                self.truth(&AND, large, finite)
            }
            Guard::AtMostOne(_) => self.truth(&LE, magnitude, self.one),
        }
    }

    fn number(&mut self, number: f64) -> Value {
        self.editor.full(Array::number(self.ty.dtype, number), &[], &self.pos.clone())
    }

    fn truth(&mut self, def: &'static OpDef, left: Value, right: Value) -> Value {
        self.editor.op(def, Attrs::none(), vec![left, right], Type::scalar(DType::Bool), &self.pos.clone())
    }

    fn op(&mut self, def: &'static OpDef, args: &[Value], pos: &Pos) -> Value {
        let value = self.editor.op(def, Attrs::none(), args.to_vec(), self.ty.clone(), pos);
        self.made.insert(value);
        value
    }
}

fn is_at_most_one(number: &Array) -> bool {
    each_element!(number.dtype(), T => T::of(number)[0].to_f64().abs() <= 1.0)
}

/// What a factor is within: from where the last bit is as small against it as it is against 1, times what a product
/// loses that is too small for a float, up to the largest float.
fn range(dtype: DType) -> (f64, f64) {
    match dtype {
        DType::F32 => (f64::from(f32::MIN_POSITIVE / f32::EPSILON), f64::from(f32::MAX)),
        DType::F64 => (f64::MIN_POSITIVE / f64::EPSILON, f64::MAX),
        DType::I32 | DType::I64 | DType::Bool => panic!("cotangents are floats"),
    }
}
