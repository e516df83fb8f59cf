//! Contraction: a product that is added or subtracted becomes one `fma`, which rounds once and is one instruction.
//!
//! This is the last rewrite and changes bits, of all sums that are not marked exact. It looks at the expression alone,
//! never at the other uses of a product (what of the user's sums may be contracted, [`fix`](super::fix) has decided):
//! so an expression becomes the same instruction in the body of a loop and in the bwd that computes it again, and
//! `plan` finds them equal. A product that is repeated first stays, since an `fma` per element would save nothing.

use super::edit::Editor;
use super::functions::edit;
use super::simplify_in_place;
use crate::ir::{Attrs, Inst, Op, OpDef, Program, Value};
use crate::ops::{ADD, FMA, MUL, NEG, SUB};

/// The Program with every product that is added or subtracted contracted where the sum is not exact, of two products
/// the first. Applied again, it changes nothing.
///
/// ```
/// use retrograd_compiler::{opt, ops};
/// let text = "fn main(%0: f64, %1: f64) -> f64 {\n  %2: f64 = mul %0, %0\n  %3: f64 = add %1, %2\n  return %3\n}\n";
/// let program = opt::contract(&ops::parse(text, "square.rg").unwrap());
/// assert_eq!(program.to_string(), "fn main(%0: f64, %1: f64) -> f64 {\n  %2: f64 = fma %0, %0, %1\n  return %2\n}\n");
/// ```
pub fn contract(program: &Program) -> Program {
    let mut program = program.clone();
    contract_in_place(&mut program);
    program
}

pub(super) fn contract_in_place(program: &mut Program) {
    edit(program, |_, function| {
        let mut editor = Editor::new(function);
        for inst in &function.insts {
            match sum_of(inst, inst.results.iter().all(|v| function.ty(*v).dtype.is_float())) {
                Some(sum) => contract_sum(&mut editor, inst, sum),
                None => editor.copy(inst),
            }
        }
        editor.finish()
    });
    // Products without uses go, negations of literals fold, those of invariant scalars leave their loops.
    simplify_in_place(program);
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Sign {
    Plus,
    Minus,
}

impl Sign {
    fn times(self, other: Sign) -> Sign {
        if self == other { Sign::Plus } else { Sign::Minus }
    }
}

/// The signs of the two terms of a sum or difference of floats that may be rounded otherwise.
fn sum_of(inst: &Inst, is_float: bool) -> Option<[Sign; 2]> {
    match &inst.op {
        Op::Def(def, attrs) if is_float && **def == ADD && !attrs.is_exact() => Some([Sign::Plus, Sign::Plus]),
        Op::Def(def, attrs) if is_float && **def == SUB && !attrs.is_exact() => Some([Sign::Plus, Sign::Minus]),
        Op::Def(..) | Op::If(_) | Op::For(_) | Op::While(_) | Op::Unwind(_) | Op::Call(_) => None,
    }
}

fn contract_sum(editor: &mut Editor<'_>, inst: &Inst, signs: [Sign; 2]) {
    let terms = editor.values(&inst.args);
    let product = [0, 1].into_iter().find_map(|k| product(editor, terms[k], signs[k]).map(|found| (k, found)));
    let Some((k, (sign, factors))) = product else { return editor.copy(inst) };
    // ±a·b ± c = fma(a, ±b, ±c); back ends fold the negations into the instruction.
    let factors = signed_product(editor, inst, factors, sign);
    let term = signed(editor, inst, terms[1 - k], signs[1 - k]);
    let result = place(editor, inst, &FMA, vec![factors[0], factors[1], term]);
    editor.bind(inst.results[0], result);
}

/// The factors of a product, and the sign that it has in its sum.
fn product(editor: &Editor<'_>, term: Value, sign: Sign) -> Option<(Sign, [Value; 2])> {
    let (row, _, args) = editor.definition(term)?;
    if *row == MUL {
        Some((sign, [args[0], args[1]]))
    } else if *row == NEG {
        product(editor, args[0], sign.times(Sign::Minus))
    } else {
        None
    }
}

/// Factors whose product has this sign. A number among them takes it, because its negation is another number; else the
/// second, because derivatives write the cotangent there: the negation of the first would be one more residual.
fn signed_product(editor: &mut Editor<'_>, inst: &Inst, [a, b]: [Value; 2], sign: Sign) -> [Value; 2] {
    if editor.number(a).is_some() && editor.number(b).is_none() {
        [signed(editor, inst, a, sign), b]
    } else {
        [a, signed(editor, inst, b, sign)]
    }
}

fn signed(editor: &mut Editor<'_>, inst: &Inst, value: Value, sign: Sign) -> Value {
    match sign {
        Sign::Plus => value,
        Sign::Minus => place(editor, inst, &NEG, vec![value]),
    }
}

/// A row of the type of the first argument, at the line of the sum.
fn place(editor: &mut Editor<'_>, inst: &Inst, def: &'static OpDef, args: Vec<Value>) -> Value {
    let ty = editor.ty(args[0]).clone();
    editor.op(def, Attrs::none(), args, ty, &inst.pos)
}
