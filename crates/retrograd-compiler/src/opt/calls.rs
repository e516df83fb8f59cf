//! Calls become the bodies that they call.

use std::borrow::Cow;

use super::edit::Editor;
use super::functions::edit;
use crate::ir::{CallOp, Op, Program};

/// Dissolves calls that have no derivative of their own.
pub fn calls(program: &mut Program) -> bool {
    has_calls(program, is_plain) && inline(program, is_plain)
}

/// The Program without calls that have no derivative of their own.
pub fn plain_calls(program: &Program) -> Cow<'_, Program> {
    inlined(program, is_plain)
}

/// The Program without any call: no derivative is asked for any more, so custom rules have done their work.
pub fn all_calls(program: &Program) -> Cow<'_, Program> {
    inlined(program, |_| true)
}

fn is_plain(call: &CallOp) -> bool {
    call.rule.is_none()
}

fn inlined(program: &Program, chosen: fn(&CallOp) -> bool) -> Cow<'_, Program> {
    if !has_calls(program, chosen) {
        return Cow::Borrowed(program);
    }
    let mut program = program.clone();
    inline(&mut program, chosen);
    Cow::Owned(program)
}

fn has_calls(program: &Program, chosen: fn(&CallOp) -> bool) -> bool {
    let mut insts = program.functions.iter().flat_map(|function| &function.insts);
    insts.any(|inst| matches!(&inst.op, Op::Call(call) if chosen(call)))
}

fn inline(program: &mut Program, chosen: fn(&CallOp) -> bool) -> bool {
    edit(program, |out, function| {
        let mut editor = Editor::new(function);
        for inst in &function.insts {
            match &inst.op {
                // call args {f} = f(args)
                Op::Call(call) if chosen(call) => {
                    let results = editor.inline(out.function(call.body), &editor.values(&inst.args));
                    editor.bind_all(inst, &results);
                }
                Op::Def(..) | Op::If(_) | Op::For(_) | Op::While(_) | Op::Unwind(_) | Op::Call(_) => editor.copy(inst),
            }
        }
        editor.finish()
    })
}
