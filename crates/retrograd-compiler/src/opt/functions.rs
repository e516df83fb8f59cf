//! The functions of a Program as a whole: which are reached, in what order, under what names.

use std::collections::{BTreeMap, BTreeSet};

use super::edit::Editor;
use crate::ir::{FuncId, Function, Inst, Op, Program, UnwindOp};

/// The functions that the entry reaches, in the order of their first use, the entry first; names become unique.
///
/// Two Programs that differ only in the numbers of their functions are equal afterwards.
pub fn compact(program: &mut Program) {
    let order = reached(program);
    let mut renumbered = vec![None; program.functions.len()];
    for (new, old) in order.iter().enumerate() {
        renumbered[usize::from(*old)] = Some(FuncId(u32::try_from(new).expect("fewer than 2^32 functions")));
    }
    let mut functions: Vec<Function> = order.iter().map(|id| take(program, *id)).collect();
    for inst in functions.iter_mut().flat_map(|function| &mut function.insts) {
        inst.op.map_bodies(|id| renumbered[usize::from(id)].expect("bodies of reached functions are reached"));
    }
    name_uniquely(&mut functions);
    *program = Program { functions, entry: FuncId(0) };
}

/// A function, which leaves its Program.
fn take(program: &mut Program, id: FuncId) -> Function {
    let gone = Function { name: String::new(), params: vec![], insts: vec![], results: vec![], types: vec![] };
    std::mem::replace(&mut program.functions[usize::from(id)], gone)
}

/// Every function that the entry reaches once, users before their bodies.
fn reached(program: &Program) -> Vec<FuncId> {
    let mut seen = vec![false; program.functions.len()];
    let (mut order, mut stack) = (Vec::new(), vec![program.entry]);
    while let Some(id) = stack.pop() {
        if std::mem::replace(&mut seen[usize::from(id)], true) {
            continue;
        }
        order.push(id);
        let bodies: Vec<FuncId> = program.function(id).insts.iter().flat_map(Inst::bodies).collect();
        stack.extend(bodies.iter().rev());
    }
    order
}

/// A pass that edits functions, bodies before their users: `pass` gets the new Program so far and a function whose
/// bodies are already in it, and returns what it becomes, if anything else. Whether any function became another.
pub(super) fn edit(program: &mut Program, mut pass: impl FnMut(&mut Program, &Function) -> Option<Function>) -> bool {
    let mut changed = false;
    rewrite(program, |out, function| {
        let edited = pass(out, &function);
        changed |= edited.is_some();
        out.add(edited.unwrap_or(function))
    });
    changed
}

/// A pass that edits unwinds alone: `pass` gets the new Program so far, the function under way, and an unwind that it
/// copies or replaces.
pub(super) fn edit_unwinds(
    program: &mut Program,
    pass: impl Fn(&mut Program, &mut Editor<'_>, &Inst, &UnwindOp),
) -> bool {
    edit(program, |out, function| {
        let mut editor = Editor::new(function);
        for inst in &function.insts {
            match &inst.op {
                Op::Unwind(op) => pass(out, &mut editor, inst, op),
                Op::Def(..) | Op::If(_) | Op::For(_) | Op::While(_) | Op::Call(_) => editor.copy(inst),
            }
        }
        editor.finish()
    })
}

/// A pass over functions, bodies before their users: `pass` gets the new Program so far and a function whose bodies are
/// already in it, and returns the new function's number. It may add copies of bodies, but never changes a function that
/// is there.
pub(super) fn rewrite(program: &mut Program, mut pass: impl FnMut(&mut Program, Function) -> FuncId) {
    let mut out = Program { functions: vec![], entry: program.entry };
    let mut new = vec![None; program.functions.len()];
    for id in bodies_first(program) {
        let mut function = take(program, id);
        for inst in &mut function.insts {
            inst.op.map_bodies(|id| new[usize::from(id)].expect("bodies come before their users"));
        }
        new[usize::from(id)] = Some(pass(&mut out, function));
        out.entry = new[usize::from(id)].expect("just set");
    }
    compact(&mut out);
    *program = out;
}

/// Every function that the entry reaches once, bodies before their users, the entry last.
pub(super) fn bodies_first(program: &Program) -> Vec<FuncId> {
    fn visit(program: &Program, id: FuncId, seen: &mut [bool], order: &mut Vec<FuncId>) {
        if !std::mem::replace(&mut seen[usize::from(id)], true) {
            let bodies = program.function(id).insts.iter().flat_map(Inst::bodies);
            bodies.for_each(|body| visit(program, body, seen, order));
            order.push(id);
        }
    }
    let mut order = Vec::new();
    visit(program, program.entry, &mut vec![false; program.functions.len()], &mut order);
    order
}

/// The first function of a name keeps it; its copies are numbered: `step`, `step_2`, `step_3`.
fn name_uniquely(functions: &mut [Function]) {
    let mut taken: BTreeSet<String> = functions.iter().map(|function| function.name.clone()).collect();
    let mut first: BTreeSet<String> = BTreeSet::new();
    let mut last: BTreeMap<String, u32> = BTreeMap::new();
    for function in functions {
        if first.insert(function.name.clone()) {
            continue;
        }
        let stem = function.name.trim_end_matches(|c: char| c.is_ascii_digit()).trim_end_matches('_').to_string();
        let number = last.entry(stem.clone()).or_insert(1);
        function.name = loop {
            *number += 1;
            let name = format!("{stem}_{number}");
            if taken.insert(name.clone()) {
                break name;
            }
        };
        first.insert(function.name.clone());
    }
}
