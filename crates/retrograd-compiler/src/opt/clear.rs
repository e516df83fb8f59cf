//! What every step of an unwind ends by clearing, the next one clears as it begins.
//!
//! A loop that overwrites a window of an array leaves, in its adjoint, a cotangent whose window is zeros, and the step
//! before adds to it. Zeros that are written where the adding starts need not be in memory at all: `plan` makes one sum
//! of the window and what is added. The first step finds zeros in the window, so that clearing it once more changes
//! nothing; after the last the window is cleared as before. The same bits.

use super::edit::{Editor, literal};
use super::functions::edit_unwinds;
use crate::ir::{Array, Attrs, Builder, DType, Function, Inst, Op, Program, Type, UnwindOp, Value};
use crate::ops::{BROADCAST, CONSTANT, UPDATE};

/// Moves what clears cotangents from the end of steps to their beginning. Applied again, it changes nothing.
pub fn clear(program: &mut Program) -> bool {
    edit_unwinds(program, unwind)
}

fn unwind(out: &mut Program, editor: &mut Editor<'_>, inst: &Inst, op: &UnwindOp) {
    let bwd = out.function(op.bwd);
    let first = bwd.params.len() - op.running - op.emitted - op.adjoints;
    let zeros_first = |clearing: &Clearing| {
        editor.number(editor.values(&inst.args)[first + clearing.result]).is_some_and(|x| is_zero(&x))
    };
    let clearings: Vec<Clearing> =
        (0..op.adjoints).filter_map(|k| Clearing::of(bwd, bwd.params[first + k], k)).filter(zeros_first).collect();
    if clearings.is_empty() {
        return editor.copy(inst);
    }
    let bwd = out.add(cleared(bwd, &clearings));
    let types = inst.results.iter().map(|v| editor.old_ty(*v).clone()).collect();
    let results = editor.push(Op::Unwind(UnwindOp { bwd, ..op.clone() }), editor.values(&inst.args), types, &inst.pos);
    editor.bind_all(inst, &results);
    for clearing in &clearings {
        let Clearing { zero, window, starts, attrs, result, .. } = clearing;
        let zeros = editor.full(zero.clone(), &window.shape, &inst.pos);
        let mut args = vec![results[*result], zeros];
        for start in starts {
            let (row, attrs) = literal(Array::int(*start));
            args.push(editor.op(row, attrs, vec![], Type::scalar(DType::I64), &inst.pos));
        }
        let ty = editor.ty(results[*result]).clone();
        let end = editor.op(&UPDATE, attrs.clone(), args, ty, &inst.pos);
        editor.bind(inst.results[*result], end);
    }
}

/// A window of a cotangent that is cleared at the end of a step, and nowhere read.
struct Clearing {
    /// The cotangent at the beginning, and its number among the results.
    param: Value,
    result: usize,
    /// The instruction, and what it clears.
    inst: usize,
    base: Value,
    /// Where.
    zero: Array,
    window: Type,
    starts: Vec<i64>,
    attrs: Attrs,
}

impl Clearing {
    fn of(bwd: &Function, param: Value, result: usize) -> Option<Clearing> {
        let end = bwd.results[result];
        let inst = bwd.insts.iter().position(|inst| inst.results.contains(&end))?;
        let Op::Def(def, attrs) = &bwd.insts[inst].op else { return None };
        let reads =
            bwd.insts.iter().flat_map(|inst| &inst.args).chain(&bwd.results).filter(|read| **read == end).count();
        if **def != UPDATE || reads != 1 {
            return None;
        }
        let [base, zeros, starts @ ..] = bwd.insts[inst].args.as_slice() else { return None };
        let zero = number(bwd, *zeros).filter(is_zero)?;
        let starts = starts.iter().map(|v| Some(number(bwd, *v)?.as_i64()[0])).collect::<Option<Vec<i64>>>()?;
        let window = bwd.ty(*zeros).clone();
        (*base != param).then(|| Clearing {
            param,
            result,
            inst,
            base: *base,
            zero,
            window,
            starts,
            attrs: attrs.clone(),
        })
    }
}

/// The number that all elements of a value are.
fn number(function: &Function, value: Value) -> Option<Array> {
    let inst = function.insts.iter().find(|inst| inst.results.contains(&value))?;
    match &inst.op {
        Op::Def(def, attrs) if **def == CONSTANT => {
            Some(attrs.array("value").clone()).filter(|value| value.ty().rank() == 0)
        }
        Op::Def(def, _) if **def == BROADCAST => number(function, inst.args[0]),
        Op::Def(..) | Op::If(_) | Op::For(_) | Op::While(_) | Op::Unwind(_) | Op::Call(_) => None,
    }
}

/// Whether it is 0 with the sign of an empty sum.
fn is_zero(number: &Array) -> bool {
    number.ty().dtype.is_float() && number.same_bits(&Array::zeros(&number.ty()))
}

/// The step that clears first.
fn cleared(bwd: &Function, clearings: &[Clearing]) -> Function {
    let b = Builder::new(bwd.name.clone());
    let params = b.params(bwd.param_types());
    let mut map = b.map(bwd, &params);
    for Clearing { param, inst, zero, window, starts, attrs, .. } in clearings {
        b.set_pos(&bwd.insts[*inst].pos);
        let zeros = b.broadcast(b.constant(zero.clone()), &window.shape, &[]);
        let base = map[param.0 as usize].expect("parameters are bound");
        let args: Vec<Value> = [base, zeros].into_iter().chain(starts.iter().map(|start| b.int(*start))).collect();
        map[param.0 as usize] = Some(b.op(&UPDATE, attrs.clone(), &args));
    }
    let stays = |k: &usize| clearings.iter().all(|clearing| clearing.inst != *k);
    for inst in (0..bwd.insts.len()).filter(stays).map(|k| &bwd.insts[k]) {
        let args = inst.args.iter().map(|v| map[v.0 as usize].expect("SSA: defined before use")).collect();
        for (old, new) in inst.results.iter().zip(b.copy(bwd, inst, args)) {
            map[old.0 as usize] = Some(new);
        }
    }
    let ends =
        bwd.results.iter().enumerate().map(|(k, v)| clearings.iter().find(|c| c.result == k).map_or(*v, |c| c.base));
    let results = ends.map(|v| map[v.0 as usize].expect("SSA: results are defined")).collect();
    b.finish(results)
}
