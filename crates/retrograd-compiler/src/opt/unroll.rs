//! A loop of few steps inside another loop is its steps, one after the other.
//!
//! What they compute is then code of the loop around, which can keep it; a loop inside keeps for itself, so that a step
//! backwards would run it again before it reverses it.
//!
//! This is no pass of `simplify`, which works on gradients too: there an unwind shares the states of its loop, and
//! would lose them.

use std::collections::BTreeSet;

use super::edit::Editor;
use super::functions::{bodies_first, edit};
use super::simplify_in_place;
use crate::ir::{Array, ForOp, FuncId, Inst, Op, Program, Value};

/// Most steps of a loop that is unrolled.
const STEPS: i64 = 4;

/// Most instructions that its steps become.
const INSTRUCTIONS: usize = 256;

/// The Program, simplified, with the same bits: loops of few steps inside others are unrolled, the innermost first.
///
/// ```
/// use retrograd_compiler::{ops, opt};
/// let main = "fn main(%0: i64, %1: f64) -> f64 {\n  %2: f64 = for %0 carries(%1) {body=step}\n  return %2\n}\n";
/// let outer = "fn step(%0: i64, %1: f64) -> f64 {\n  %2: i64 = constant {value=2}\n  %3: f64 = for %2 carries(%1) {body=twice}\n  return %3\n}\n";
/// let inner = "fn twice(%0: i64, %1: f64) -> f64 {\n  %2: f64 = sin %1\n  return %2\n}\n";
/// let program = ops::parse(&format!("{main}{outer}{inner}"), "nested.rg")?;
/// assert_eq!(opt::unroll(&program).functions.len(), 2);
/// # Ok::<(), retrograd_compiler::ir::Error>(())
/// ```
pub fn unroll(program: &Program) -> Program {
    let mut program = program.clone();
    simplify_in_place(&mut program);
    let inside = inside_loops(&program);
    let mut functions = bodies_first(&program).into_iter();
    let changed = edit(&mut program, |out, function| {
        let id = functions.next().expect("functions are edited bodies first");
        let mut editor = Editor::new(function);
        for inst in &function.insts {
            match &inst.op {
                Op::For(op) if inside.contains(&id) => unroll_for(out, &mut editor, inst, op),
                Op::Def(..) | Op::If(_) | Op::For(_) | Op::While(_) | Op::Unwind(_) | Op::Call(_) => editor.copy(inst),
            }
        }
        editor.finish()
    });
    if changed {
        simplify_in_place(&mut program);
    }
    program
}

/// Functions that run in steps of loops.
fn inside_loops(program: &Program) -> BTreeSet<FuncId> {
    let mut inside = BTreeSet::new();
    let mut stack = vec![(program.entry, false)];
    while let Some((id, stepped)) = stack.pop() {
        if stepped && !inside.insert(id) {
            continue;
        }
        for inst in &program.function(id).insts {
            let steps = matches!(inst.op, Op::For(_) | Op::While(_) | Op::Unwind(_));
            stack.extend(inst.bodies().into_iter().map(|body| (body, stepped || steps)));
        }
    }
    inside
}

/// for n, c0, inv {body} = body(n − 1, … body(0, c0, inv) …, inv); what is shown keeps the number of its step.
fn unroll_for(out: &Program, editor: &mut Editor<'_>, inst: &Inst, op: &ForOp) {
    let args = editor.values(&inst.args);
    let (count, c0, inv, streams) = op.args(&args);
    let few = editor.int(count).filter(|steps| (0..=STEPS).contains(steps));
    let streams = streams.len() + inst.results.len() - op.carries;
    let Some(steps) = few.filter(|_| streams == 0 && !out.probes()[usize::from(op.body)]) else {
        return editor.copy(inst);
    };
    if instructions(out, op.body).saturating_mul(steps.unsigned_abs() as usize) > INSTRUCTIONS {
        return editor.copy(inst);
    }
    let mut carries: Vec<Value> = c0.to_vec();
    for step in 0..steps {
        let index = editor.full(Array::int(step), &[], &inst.pos);
        carries = editor.inline(out.function(op.body), &[&[index], carries.as_slice(), inv].concat());
    }
    editor.bind_all(inst, &carries);
}

/// Instructions of a function and of all bodies in it.
fn instructions(program: &Program, id: FuncId) -> usize {
    let of = |inst: &Inst| 1 + inst.bodies().into_iter().map(|body| instructions(program, body)).sum::<usize>();
    program.function(id).insts.iter().map(of).fold(0, usize::saturating_add)
}
