//! `while c0, inv {cond, body} -> cN, trips`: once its trips are known, a `while` is a `for`.

use super::{counted, pick_or_zeros};
use crate::diff::active::Through;
use crate::diff::jvp::Walk;
use crate::diff::mask::{and, present, spread};
use crate::diff::transform::Transform;
use crate::diff::vjp::Sweep;
use crate::ir::{Builder, DType, Error, ForOp, FuncId, Function, Inst, Op, Type, Value, WhileOp};

/// `while (c0, dc0), (inv, dinv) {cond, jvp body}`: the condition sees no tangents.
pub(in crate::diff) fn forward(
    t: &mut Transform,
    walk: &mut Walk<'_>,
    inst: &Inst,
    op: &WhileOp,
    active: &[bool],
) -> Result<(), Error> {
    let b = walk.b;
    let useful = t.activity.reaching_args(&t.program, Through::Derivatives, inst, active);
    let tangents = walk.tangents(&inst.args);
    let varied = t.activity.varied_results(&t.program, inst, &present(&tangents));
    let ((dc, dinv), (useful_carries, useful_inv)) = (op.args(&tangents), op.args(&useful));
    let carries = and(&varied[..op.carries], useful_carries);
    let inv = and(&present(dinv), useful_inv);

    let counted = counted_loop(t, inst, op)?;
    let step = counted::forward_body(t, &counted, [&carries, &inv, &[], &[]])?;
    let (c0, invariants) = op.args(&inst.args);
    let group = |values: &[Value], d: &[Option<Value>], marks: &[bool]| {
        let values = walk.values(values);
        let tangents = pick_or_zeros(b, d, marks, &values);
        [values, tangents].concat()
    };
    let (c, i) = (group(c0, dc, &carries), group(invariants, dinv, &inv));
    let new = WhileOp { cond: forward_cond(t, op, step, c.len())?, body: without_index(t, step)?, carries: c.len() };
    let types = [t.program.function(new.body).result_types(), vec![Type::scalar(DType::I64)]].concat();
    b.set_pos(&inst.pos);
    let results = b.push(Op::While(new.clone()), [c, i].concat(), types);
    let (old_ends, old_trips) = op.results(&inst.results);
    let (ends, trips) = new.results(&results);
    let (values, tangents) = ends.split_at(op.carries);
    walk.values_are(old_ends, values);
    walk.values_are(&[old_trips], &[trips]);
    walk.tangents_are(old_ends, &spread(tangents, &carries));
    Ok(())
}

/// `cN = for trips, c0, inv {body}` in reverse: the `while` itself has run before, and says its trips.
pub(in crate::diff) fn reverse(
    t: &mut Transform,
    sweep: &mut Sweep<'_>,
    function: &Function,
    inst: &Inst,
    op: &WhileOp,
) -> Result<(), Error> {
    let counted = counted_loop(t, inst, op)?;
    let (ends, trips) = op.results(&inst.results);
    let args = [&[trips], &inst.args[..]].concat();
    let known = Inst { op: Op::For(counted.clone()), args, results: ends.to_vec(), pos: inst.pos.clone() };
    counted::reverse(t, sweep, function, &known, &counted)
}

/// The counted loop with the same states: its step has an index and ignores it.
fn counted_loop(t: &mut Transform, inst: &Inst, op: &WhileOp) -> Result<ForOp, Error> {
    let body = t.build("while_step", &[op.body], &[], |t| {
        let body = t.program.function(op.body);
        let b = Builder::new(body.name.clone());
        b.param(Type::scalar(DType::I64));
        let params = b.params(body.param_types());
        let results = b.inline(body, &params);
        Ok(b.finish(results))
    })?;
    Ok(ForOp { body, carries: op.carries, invariants: inst.args.len() - op.carries, bound: 0 })
}

/// A step that ignores its index, without it.
fn without_index(t: &mut Transform, step: FuncId) -> Result<FuncId, Error> {
    t.build("while_jvp", &[step], &[], |t| {
        let step = t.program.function(step);
        let b = Builder::new(step.name.clone());
        let params = b.params(step.param_types().into_iter().skip(1));
        // Nothing reads the index, so this zero is dead.
        let results = b.inline(step, &[&[b.int(0)], &params[..]].concat());
        Ok(b.finish(results))
    })
}

/// The condition over parameters (c, dc, inv, dinv) of a step with an index, of which `carries` are c and dc.
fn forward_cond(t: &mut Transform, op: &WhileOp, step: FuncId, carries: usize) -> Result<FuncId, Error> {
    t.build("while_cond", &[op.cond, step], &[], |t| {
        let cond = t.program.function(op.cond);
        let b = Builder::new(cond.name.clone());
        let params = b.params(t.program.function(step).param_types().into_iter().skip(1));
        let invariants = cond.params.len() - op.carries;
        let results = b.inline(cond, &[&params[..op.carries], &params[carries..][..invariants]].concat());
        Ok(b.finish(results))
    })
}
