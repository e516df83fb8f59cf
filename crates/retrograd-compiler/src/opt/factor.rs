//! What a step backwards over numbers does with their cotangents, as one sum of products.
//!
//! In the adjoint of a recurrence every step waits for the cotangents `a` of the one before it, through each instruction between. A step
//! is linear in them, `a' = J a + b`, and `J` and `b` do not depend on `a`: computed apart, they are ready before `a` is, and the wait is
//! one `fma` for each element of a row of `J`. It changes bits, so it belongs to [`freeze`](super::freeze), for every plan alike.

use super::edit::Editor;
use super::functions::edit;
use crate::ir::{Array, Attrs, Function, Inst, Op, Pos, Program, Row, Type, UnwindOp, Value};
use crate::ops::{ADD, MUL, NEG, SUB};

/// Most cotangents of a step: with more, `J` is more work than what it replaces.
const MOST: usize = 2;

/// Factors the steps of unwinds over numbers whose wait is halved at least. Applied again, it changes nothing.
pub fn factor(program: &mut Program) -> bool {
    edit(program, |out, function| {
        let mut editor = Editor::new(function);
        for inst in &function.insts {
            match &inst.op {
                Op::Unwind(op) => unwind(out, &mut editor, inst, op),
                Op::Row(..) | Op::If(_) | Op::For(_) | Op::While(_) | Op::Call(_) => editor.copy(inst),
            }
        }
        editor.finish()
    })
}

fn unwind(out: &mut Program, editor: &mut Editor<'_>, inst: &Inst, op: &UnwindOp) {
    let Some(bwd) = factored(out.function(op.bwd), op) else { return editor.copy(inst) };
    let op = UnwindOp { bwd: out.add(bwd), ..op.clone() };
    let types = inst.results.iter().map(|v| editor.old_ty(*v).clone()).collect();
    let results = editor.push(Op::Unwind(op), editor.values(&inst.args), types, &inst.pos);
    editor.bind_all(inst, &results);
}

/// The step with its new cotangents as sums of products, if that is a shorter wait.
fn factored(bwd: &Function, op: &UnwindOp) -> Option<Function> {
    let cotangents = op.args(&bwd.params).adjoints;
    let ty = bwd.ty(*cotangents.first()?).clone();
    let alike = ty.rank() == 0 && ty.dtype.is_float() && cotangents.iter().all(|v| *bwd.ty(*v) == ty);
    if !alike || cotangents.len() > MOST {
        return None;
    }
    let mut editor = Editor::new(bwd);
    let one = editor.full(Array::number(ty.dtype, 1.0), &[], &Pos::default());
    let mut forms =
        Forms { editor, one, ty, count: cotangents.len(), all: vec![None; bwd.types.len()], waits: vec![None; bwd.types.len()] };
    for (k, value) in cotangents.iter().enumerate() {
        forms.all[value.0 as usize] =
            Some(Form { factors: (0..cotangents.len()).map(|other| (other == k).then_some(one)).collect(), rest: None });
        forms.waits[value.0 as usize] = Some(0);
    }
    bwd.insts.iter().for_each(|inst| forms.inst(inst));
    let results = op.results(&bwd.results).0;
    let wait = results.iter().filter_map(|v| forms.waits[v.0 as usize]).max()?;
    let new: Vec<Form> = results.iter().map(|v| forms.of(*v)).collect::<Option<_>>()?;
    if wait < 2 * new.iter().map(|form| forms.wait(form)).max()?.max(1) {
        return None;
    }
    let cotangents = forms.editor.values(cotangents);
    for (old, form) in results.iter().zip(&new) {
        if forms.waits[old.0 as usize].is_some_and(|wait| wait > 0) {
            let sum = forms.sum(form, &cotangents);
            forms.editor.bind(*old, sum);
        }
    }
    forms.editor.finish()
}

/// A number as `Σ factors[k] · a_k + rest`; a factor that is missing is 0, and so is the rest.
#[derive(Clone, Debug)]
struct Form {
    factors: Vec<Option<Value>>,
    rest: Option<Value>,
}

/// Forms of the values of a step, over values of the new one.
struct Forms<'f> {
    editor: Editor<'f>,
    one: Value,
    ty: Type,
    count: usize,
    /// Of old values that depend on cotangents and have one.
    all: Vec<Option<Form>>,
    /// How many instructions lie between the cotangents and each old value that depends on them.
    waits: Vec<Option<usize>>,
}

impl Forms<'_> {
    fn inst(&mut self, inst: &Inst) {
        self.editor.copy(inst);
        let Some(wait) = inst.args.iter().filter_map(|v| self.waits[v.0 as usize]).max() else { return };
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
            None => Some(Form { factors: vec![None; self.count], rest: Some(self.editor.values(&[value])[0]) }),
        }
    }

    /// The form of the result of an instruction that depends on cotangents.
    fn of_row(&mut self, inst: &Inst) -> Option<Form> {
        let Op::Row(row, _) = &inst.op else { return None };
        if *self.editor.old_ty(inst.results[0]) != self.ty {
            return None;
        }
        let forms: Vec<Form> = inst.args.iter().map(|v| self.of(*v)).collect::<Option<_>>()?;
        let pos = &inst.pos;
        match forms.as_slice() {
            [form] if **row == NEG => Some(self.each(form, |forms, value| forms.row(&NEG, &[value], pos))),
            [left, right] if **row == ADD || **row == SUB => Some(self.both(left, right, row, pos)),
            [left, right] if **row == MUL => {
                let depends = inst.args.iter().map(|v| self.waits[v.0 as usize].is_some()).collect::<Vec<_>>();
                match (depends[0], depends[1]) {
                    (true, false) => Some(self.scaled(left, right.rest?, pos)),
                    (false, true) => Some(self.scaled(right, left.rest?, pos)),
                    (true, true) | (false, false) => None,
                }
            }
            _ => None,
        }
    }

    fn scaled(&mut self, form: &Form, by: Value, pos: &Pos) -> Form {
        self.each(form, |forms, value| if value == forms.one { by } else { forms.row(&MUL, &[value, by], pos) })
    }

    fn each(&mut self, form: &Form, mut change: impl FnMut(&mut Self, Value) -> Value) -> Form {
        let factors = form.factors.iter().map(|factor| factor.map(|value| change(self, value))).collect();
        Form { factors, rest: form.rest.map(|value| change(self, value)) }
    }

    /// A sum or difference.
    fn both(&mut self, left: &Form, right: &Form, row: &'static Row, pos: &Pos) -> Form {
        let mut part = |left: Option<Value>, right: Option<Value>| match (left, right) {
            (Some(left), Some(right)) => Some(self.row(row, &[left, right], pos)),
            (None, Some(right)) if *row == SUB => Some(self.row(&NEG, &[right], pos)),
            (left, right) => left.or(right),
        };
        let factors = left.factors.iter().zip(&right.factors).map(|(left, right)| part(*left, *right)).collect();
        Form { factors, rest: part(left.rest, right.rest) }
    }

    /// How many instructions lie between the cotangents and a sum.
    fn wait(&self, form: &Form) -> usize {
        let terms = form.factors.iter().flatten().count();
        let free = form.rest.is_none() && form.factors.iter().flatten().any(|factor| *factor == self.one);
        terms - usize::from(free)
    }

    /// The sum itself: what is no product first.
    fn sum(&mut self, form: &Form, cotangents: &[Value]) -> Value {
        let terms: Vec<(Value, Value)> = form.factors.iter().zip(cotangents).filter_map(|(factor, a)| Some(((*factor)?, *a))).collect();
        let (alone, products): (Vec<_>, Vec<_>) = terms.into_iter().partition(|(factor, _)| *factor == self.one);
        let mut sum = form.rest;
        for (factor, cotangent) in alone.into_iter().chain(products) {
            let term = if factor == self.one { cotangent } else { self.row(&MUL, &[factor, cotangent], &Pos::default()) };
            sum = Some(sum.map_or(term, |sum| self.row(&ADD, &[term, sum], &Pos::default())));
        }
        sum.expect("a result that depends on cotangents has a factor")
    }

    fn row(&mut self, row: &'static Row, args: &[Value], pos: &Pos) -> Value {
        self.editor.row(row, Attrs::none(), args.to_vec(), self.ty.clone(), pos)
    }
}
