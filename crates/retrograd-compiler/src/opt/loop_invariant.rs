//! What a loop does not change is computed before it.
//!
//! Only rows that cannot fault, since a loop of no steps must not. A scalar costs a register, so every one leaves. An
//! array costs memory for as long as the loop runs: it leaves where it is dear to compute and no larger than what it is
//! computed from. Literals stay in their bodies, where everybody sees them.

use super::edit::Editor;
use super::functions::edit;
use crate::ir::{
    Array, DType, ForOp, FuncId, Function, Inst, Lowering, Op, OpDef, Program, Scalar, UnwindOp, Value, View, WhileOp,
};

/// Computes invariants before their loops, innermost loops first.
pub fn hoist(program: &mut Program) -> bool {
    edit(program, |out, function| {
        let mut editor = Editor::new(function);
        for inst in &function.insts {
            match &inst.op {
                Op::Def(..) | Op::If(_) | Op::Call(_) => editor.copy(inst),
                Op::For(op) => hoist_for(out, &mut editor, inst, op),
                Op::While(op) => hoist_while(out, &mut editor, inst, op),
                Op::Unwind(op) => hoist_unwind(out, &mut editor, inst, op),
            }
        }
        editor.finish()
    })
}

fn hoist_for(out: &mut Program, editor: &mut Editor<'_>, inst: &Inst, op: &ForOp) {
    let mut args = editor.values(&inst.args);
    let first = 1 + op.carries;
    let last = first + op.invariants;
    // Most bodies stay as they are, and are not copied.
    let body = out.function(op.body);
    let moved = leaving(body, &body.params[first..last]);
    if moved.is_empty() {
        return editor.copy(inst);
    }
    let values = place_before(editor, body, &moved, &body.params[first..last], &args[first..last]);
    let count = values.len();
    args.splice(last..last, values);
    let body = without(body.clone(), &moved, last);
    let body = out.add(body);
    editor.replace(inst, Op::For(ForOp { body, invariants: op.invariants + count, ..op.clone() }), args, &inst.results);
}

fn hoist_while(out: &mut Program, editor: &mut Editor<'_>, inst: &Inst, op: &WhileOp) {
    let mut args = editor.values(&inst.args);
    let invariants = op.carries..args.len();
    let [cond, body] = hoist_shared(out, editor, &mut args, invariants, [op.cond, op.body]);
    editor.replace(inst, Op::While(WhileOp { cond, body, carries: op.carries }), args, &inst.results);
}

fn hoist_unwind(out: &mut Program, editor: &mut Editor<'_>, inst: &Inst, op: &UnwindOp) {
    let mut args = editor.values(&inst.args);
    let before = args.len();
    let first = 1 + op.carries;
    let [body, bwd] = hoist_shared(out, editor, &mut args, first..first + op.invariants, [op.body, op.bwd]);
    let invariants = op.invariants + args.len() - before;
    editor.replace(inst, Op::Unwind(UnwindOp { body, bwd, invariants, ..op.clone() }), args, &inst.results);
}

/// New invariants of two bodies that share theirs, at the same places, go to both, whichever of them had the
/// instruction.
fn hoist_shared(
    out: &mut Program,
    editor: &mut Editor<'_>,
    args: &mut Vec<Value>,
    invariants: std::ops::Range<usize>,
    mut bodies: [FuncId; 2],
) -> [FuncId; 2] {
    let (first, mut last) = (invariants.start, invariants.end);
    for from in [0, 1] {
        let body = out.function(bodies[from]);
        let moved = leaving(body, &body.params[first..last]);
        if moved.is_empty() {
            continue;
        }
        let values = place_before(editor, body, &moved, &body.params[first..last], &args[first..last]);
        let types = values.iter().map(|v| editor.ty(*v).clone());
        let mut ignoring = out.function(bodies[1 - from]).clone();
        let start = ignoring.types.len();
        ignoring.types.extend(types);
        let ignored = (start..ignoring.types.len()).map(|v| Value(u32::try_from(v).expect("fewer than 2^32 values")));
        ignoring.params.splice(last..last, ignored);
        let body = without(body.clone(), &moved, last);
        bodies[1 - from] = out.add(ignoring);
        bodies[from] = out.add(body);
        args.splice(last..last, values.iter().copied());
        last += values.len();
    }
    bodies
}

/// What a value of a body depends on.
#[derive(Clone, Copy, PartialEq)]
enum Depends {
    /// The step.
    Step,
    /// Nothing.
    Literal,
    /// Invariants, the largest of which has so many bytes.
    Invariants(usize),
}

/// Which instructions of a body are computed before the loop; what they read of the body comes along.
fn leaving(body: &Function, invariants: &[Value]) -> Vec<usize> {
    let mut depends = vec![Depends::Step; body.types.len()];
    invariants.iter().for_each(|v| depends[v.0 as usize] = Depends::Invariants(body.ty(*v).bytes()));
    let mut moved = Vec::new();
    for (index, inst) in body.insts.iter().enumerate() {
        let Op::Def(def, attrs) = &inst.op else { continue };
        let result = inst.results[0];
        if def.lowering == Lowering::Constant {
            // What is made of a literal zero stays: linear in the cotangents of a bwd as a zero, it would not be as an
            // invariant.
            let zero = body.ty(result).dtype.is_float() && *attrs.array("value") == Array::zeros(body.ty(result));
            depends[result.0 as usize] = if zero { Depends::Step } else { Depends::Literal };
        } else if let Some(bytes) = from_invariants(inst.args.iter().map(|v| depends[v.0 as usize]))
            && never_faults(def, body.ty(inst.args[0]).dtype)
        {
            depends[result.0 as usize] = Depends::Invariants(bytes);
            if body.ty(result).rank() == 0 || (is_dear(def) && body.ty(result).bytes() <= bytes) {
                moved.push(index);
            }
        }
    }
    moved
}

/// Work per element, in additions, from which an array is read from memory rather than computed again in every step.
const DEAR: u32 = 4;

fn is_dear(def: &OpDef) -> bool {
    match def.lowering {
        Lowering::Reduce(_) | Lowering::Dot | Lowering::Scan(_) | Lowering::Routine(_) | Lowering::Factored(..) => true,
        Lowering::Map(_) | Lowering::Composed(_) => def.cost >= DEAR,
        Lowering::Convert | Lowering::Constant | Lowering::Iota | Lowering::View(_) => false,
        Lowering::Write(_) | Lowering::Pick(_) | Lowering::Scatter(..) | Lowering::Probe => false,
        Lowering::Check | Lowering::Missing => false,
    }
}

/// Bytes of the largest invariant that values with these dependencies come from, where they come from invariants and
/// literals alone.
fn from_invariants(mut args: impl Iterator<Item = Depends>) -> Option<usize> {
    let largest = args.try_fold(None, |largest, depends| match depends {
        Depends::Step => None,
        Depends::Literal => Some(largest),
        Depends::Invariants(bytes) => Some(largest.max(Some(bytes))),
    });
    largest.flatten()
}

/// Ops that are known to be total; what is not listed stays where it is.
pub(crate) fn never_faults(def: &OpDef, dtype: DType) -> bool {
    match def.lowering {
        // Integers may divide by zero.
        Lowering::Map(scalar) => {
            dtype.is_float()
                || matches!(
                    scalar,
                    Scalar::Add
                        | Scalar::Sub
                        | Scalar::Mul
                        | Scalar::Neg
                        | Scalar::Abs
                        | Scalar::Sign
                        | Scalar::Min
                        | Scalar::Max
                )
                || matches!(scalar, Scalar::Clamp | Scalar::Xor | Scalar::Shl | Scalar::Shr)
                || matches!(scalar, Scalar::Lt | Scalar::Le | Scalar::Gt | Scalar::Ge | Scalar::Eq | Scalar::Ne)
                || matches!(scalar, Scalar::And | Scalar::Or | Scalar::Not | Scalar::Select)
        }
        Lowering::Convert
        | Lowering::Constant
        | Lowering::Iota
        | Lowering::Reduce(_)
        | Lowering::Dot
        | Lowering::Scan(_) => true,
        Lowering::View(View::Broadcast | View::Reshape | View::Transpose | View::Reverse | View::Slice) => true,
        // These are composed of total ones.
        Lowering::Composed(_) => true,
        // A host is called in its step, and may fail.
        Lowering::Routine(_) if def.lowering.is_host() => false,
        // What has no value is NaN.
        Lowering::Routine(_) | Lowering::Factored(..) => true,
        // An index may be out of bounds, and an effect happens in its step.
        Lowering::View(View::DynamicSlice) | Lowering::Write(_) | Lowering::Pick(_) | Lowering::Scatter(..) => false,
        Lowering::Probe | Lowering::Check | Lowering::Missing => false,
    }
}

/// Copies of the moved instructions, and of what they read of the body, in the function of the loop; returns the moved
/// results.
fn place_before(
    editor: &mut Editor<'_>,
    body: &Function,
    moved: &[usize],
    params: &[Value],
    args: &[Value],
) -> Vec<Value> {
    let mut map: Vec<Option<Value>> = vec![None; body.types.len()];
    params.iter().zip(args).for_each(|(param, arg)| map[param.0 as usize] = Some(*arg));
    let mut read = vec![false; body.types.len()];
    moved.iter().for_each(|index| read[body.insts[*index].results[0].0 as usize] = true);
    for inst in body.insts.iter().rev().filter(|inst| matches!(inst.op, Op::Def(..))) {
        if read[inst.results[0].0 as usize] {
            inst.args.iter().for_each(|v| read[v.0 as usize] = true);
        }
    }
    for inst in body.insts.iter().filter(|inst| matches!(inst.op, Op::Def(..)) && read[inst.results[0].0 as usize]) {
        let args = inst.args.iter().map(|v| map[v.0 as usize].expect("moved instructions read invariants")).collect();
        map[inst.results[0].0 as usize] =
            Some(editor.push(inst.op.clone(), args, vec![body.ty(inst.results[0]).clone()], &inst.pos)[0]);
    }
    moved
        .iter()
        .map(|index| map[body.insts[*index].results[0].0 as usize].expect("moved instructions are placed"))
        .collect()
}

/// The body with the results of the moved instructions as parameters at a place.
fn without(mut body: Function, moved: &[usize], place: usize) -> Function {
    let values: Vec<Value> = moved.iter().map(|index| body.insts[*index].results[0]).collect();
    body.params.splice(place..place, values);
    let mut moved = moved.iter().peekable();
    let insts = std::mem::take(&mut body.insts);
    body.insts = insts
        .into_iter()
        .enumerate()
        .filter(|(index, _)| moved.next_if_eq(&index).is_none())
        .map(|(_, inst)| inst)
        .collect();
    body
}
