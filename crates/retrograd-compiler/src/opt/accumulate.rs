//! `a[i] = a[i] + x` is `a[i] += x`.
//!
//! An update whose window is the old window plus something is an `add_at`. The sum is the same; its adjoint reads one
//! window and leaves the cotangent of the array as it is, where that of the update clears the window and adds it again.

use super::edit::Editor;
use super::functions::edit;
use crate::ir::{Attrs, Inst, Op, OpDef, Program, Type, Value};
use crate::ops;

/// Makes additions of updates that add to their window. A difference becomes the sum with the negative.
pub fn accumulate(program: &mut Program) -> bool {
    edit(program, |_, function| {
        let mut editor = Editor::new(function);
        for inst in &function.insts {
            match &inst.op {
                Op::Def(def, attrs) if *def == &ops::UPDATE => {
                    update(&mut editor, inst, attrs, function.ty(inst.results[0]))
                }
                Op::Def(..) | Op::If(_) | Op::For(_) | Op::While(_) | Op::Unwind(_) | Op::Call(_) => editor.copy(inst),
            }
        }
        editor.finish()
    })
}

fn update(editor: &mut Editor<'_>, inst: &Inst, attrs: &Attrs, ty: &Type) {
    let args = editor.values(&inst.args);
    let Some((added, sign)) = added(editor, attrs, &args) else { return editor.copy(inst) };
    let window = editor.ty(args[1]).clone();
    let mut value = added;
    if sign == Sign::Minus {
        let ty = editor.ty(value).clone();
        value = editor.op(&ops::NEG, Attrs::none(), vec![value], ty, &inst.pos);
    }
    if *editor.ty(value) != window {
        value =
            editor.op(&ops::RESHAPE, Attrs::none().ints("shape", window.shape.clone()), vec![value], window, &inst.pos);
    }
    let operands = [&[args[0], value], &args[2..]].concat();
    let result = editor.op(&ops::ADD_AT, attrs.clone(), operands, ty.clone(), &inst.pos);
    editor.bind(inst.results[0], result);
}

#[derive(Clone, Copy, PartialEq)]
enum Sign {
    Plus,
    Minus,
}

/// What a window is more (or less) than the window that was there.
fn added(editor: &Editor<'_>, attrs: &Attrs, args: &[Value]) -> Option<(Value, Sign)> {
    let dtype = editor.ty(args[0]).dtype;
    let (row, _, terms) = editor.definition(under_reshapes(editor, args[1]))?;
    if !(dtype.is_float() || dtype.is_integer()) {
        return None;
    }
    let is = |known: &OpDef| row == known;
    match terms {
        [x, y] if is(&ops::ADD) && is_window(editor, *x, attrs, args) => Some((*y, Sign::Plus)),
        [x, y] if is(&ops::ADD) && is_window(editor, *y, attrs, args) => Some((*x, Sign::Plus)),
        [x, y] if is(&ops::SUB) && is_window(editor, *x, attrs, args) => Some((*y, Sign::Minus)),
        _ => None,
    }
}

/// Whether a value is what an update of these arguments replaces.
fn is_window(editor: &Editor<'_>, value: Value, attrs: &Attrs, args: &[Value]) -> bool {
    let source = under_reshapes(editor, value);
    let Some((row, found, operands)) = editor.definition(source) else { return false };
    let known = || {
        args[2..]
            .iter()
            .map(|v| editor.int(*v).and_then(|start| usize::try_from(start).ok()))
            .collect::<Option<Vec<usize>>>()
    };
    let same_place = if row == &ops::DYNAMIC_SLICE {
        operands[1..] == args[2..]
    } else {
        row == &ops::SLICE && known().is_some_and(|starts| starts == found.sizes("start"))
    };
    same_place
        && operands[0] == args[0]
        && found.sizes("step") == attrs.sizes("step")
        && editor.ty(source).shape == editor.ty(args[1]).shape
}

fn under_reshapes(editor: &Editor<'_>, value: Value) -> Value {
    match editor.definition(value) {
        Some((row, _, args)) if row == &ops::RESHAPE => under_reshapes(editor, args[0]),
        Some(_) | None => value,
    }
}
