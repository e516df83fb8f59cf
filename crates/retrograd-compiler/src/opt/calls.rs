//! Calls become the bodies that they call.

use super::edit::Editor;
use super::functions::rewrite;
use crate::ir::{CallOp, Op, Program};

/// The Program without calls that have no derivative of their own.
pub fn calls(program: &Program) -> Program {
    inline(program, |call| call.rule.is_none())
}

/// The Program without any call: no derivative is asked for any more, so custom rules have done their work.
pub fn all_calls(program: &Program) -> Program {
    inline(program, |_| true)
}

fn inline(program: &Program, chosen: impl Fn(&CallOp) -> bool) -> Program {
    let mut insts = program.functions.iter().flat_map(|function| &function.insts);
    if !insts.any(|inst| matches!(&inst.op, Op::Call(call) if chosen(call))) {
        return program.clone();
    }
    rewrite(program, |out, function| {
        let mut editor = Editor::new(function);
        for inst in &function.insts {
            match &inst.op {
                // call args {f} = f(args)
                Op::Call(call) if chosen(call) => {
                    let results = editor.inline(out.function(call.body), &editor.values(&inst.args));
                    editor.bind_all(inst, &results);
                }
                Op::Row(..) | Op::If(_) | Op::For(_) | Op::While(_) | Op::Unwind(_) | Op::Call(_) => editor.copy(inst),
            }
        }
        out.add(editor.finish())
    })
}
