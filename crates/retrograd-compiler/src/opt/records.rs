//! What was recorded of functions of the host is a value like any other, once nothing is differentiated any more.

use super::edit::Editor;
use super::functions::edit;
use crate::ir::{Inst, Op, Program};
use crate::ops::{RECORDED, STILL};

/// `recorded(x…, y) = y`, `still(y) = y`.
pub fn read_records(program: &mut Program) -> bool {
    let reads = |inst: &Inst| matches!(&inst.op, Op::Def(def, _) if *def == &RECORDED || *def == &STILL);
    if !program.functions.iter().flat_map(|function| &function.insts).any(reads) {
        return false;
    }
    edit(program, |_, function| {
        let mut editor = Editor::new(function);
        for inst in &function.insts {
            match reads(inst) {
                true => {
                    let args = editor.values(&inst.args);
                    editor.bind(inst.results[0], args[args.len() - 1]);
                }
                false => editor.copy(inst),
            }
        }
        editor.finish()
    })
}
