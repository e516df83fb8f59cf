//! `if p, args {then, else}`.

use super::{params_like, pick_or_zeros};
use crate::diff::active::Through;
use crate::diff::demand::Demand;
use crate::diff::jvp::Walk;
use crate::diff::mask::{and, pick, present, spread};
use crate::diff::transform::Transform;
use crate::diff::vjp::Sweep;
use crate::ir::{Builder, DType, Error, FuncId, IfOp, Inst, Op, Type, Value};

/// `if p, args, dargs {jvp then, jvp else}`: results, then the tangents of the active ones.
pub(in crate::diff) fn forward(t: &mut Transform, walk: &mut Walk<'_>, inst: &Inst, op: &IfOp, active: &[bool]) -> Result<(), Error> {
    let b = walk.b;
    let tangents = walk.tangents(&inst.args);
    let useful = t.activity.reaching_args(&t.program, Through::Derivatives, inst, active);
    let varied = and(&present(&tangents), &useful);
    let op = IfOp {
        then_body: forward_body(t, op.then_body, &varied[1..], active)?,
        else_body: forward_body(t, op.else_body, &varied[1..], active)?,
    };
    let args = walk.values(&inst.args);
    let args = [args, pick(&tangents, &varied).into_iter().flatten().collect()].concat();
    let types = t.program.function(op.then_body).result_types();
    b.set_pos(&inst.pos);
    let results = b.push(Op::If(op), args, types);
    let (values, tangents) = results.split_at(inst.results.len());
    walk.values_are(&inst.results, values);
    walk.tangents_are(&inst.results, &spread(tangents, active));
    Ok(())
}

fn forward_body(t: &mut Transform, id: FuncId, varied: &[bool], active: &[bool]) -> Result<FuncId, Error> {
    t.build("if_jvp", &[id], &[varied, active], |t| {
        let function = t.program.function(id);
        let b = Builder::new(format!("{}_jvp", function.name));
        let args = b.params(function.param_types());
        let tangents = params_like(&b, &args, varied);
        let pushed = t.push(&b, id, &args, &tangents, active)?;
        let tangents = pick_or_zeros(&b, &pushed.tangents, active, &pushed.results);
        Ok(b.finish([pushed.results, tangents].concat()))
    })
}

/// `if p, args, cts, starts, given {vjp then, vjp else}`: each branch computes its forward part again, but for what it has given out, and
/// returns the cotangents of the active arguments; where a result is not demanded, nothing in them is. A cotangent that an argument has already goes through the branches, so that a slice read
/// in one costs no array of zeros.
pub(in crate::diff) fn reverse(t: &mut Transform, sweep: &mut Sweep<'_>, inst: &Inst, op: &IfOp) -> Result<(), Error> {
    let b = sweep.b;
    let cts = sweep.cotangents_of(&inst.results);
    let useful = t.activity.reaching_args(&t.program, Through::Derivatives, inst, &present(&cts));
    let active = and(&sweep.varied(&inst.args), &useful)[1..].to_vec();
    if !active.contains(&true) {
        return Ok(());
    }
    let places = &inst.args[1..];
    let starts: Vec<Option<Value>> = places.iter().zip(&active).map(|(v, active)| active.then(|| sweep.take(*v)).flatten()).collect();
    let given = sweep.given(inst);
    let demands: Vec<Option<Value>> = inst.results.iter().zip(&cts).map(|(v, ct)| ct.and_then(|_| sweep.predicate(*v))).collect();
    let types = b.types(&given);
    let of_then = t.given_by(op.then_body)?.len();
    let (then_given, else_given): (Vec<bool>, Vec<bool>) = (0..given.len()).map(|k| (k < of_then, k >= of_then)).unzip();
    let (with_cts, with_starts) = (present(&cts), present(&starts));
    let with_demands = present(&demands);
    let mut body = |id, own| reverse_body(t, op, id, [&active, &with_cts, &with_starts, own, &with_demands], &types);
    let op = IfOp { then_body: body(op.then_body, &then_given)?, else_body: body(op.else_body, &else_given)? };
    let args = sweep.values(&inst.args).into_iter().chain(cts.into_iter().chain(starts).flatten()).chain(given);
    let args: Vec<Value> = args.chain(demands.into_iter().flatten()).collect();
    let types = t.program.function(op.then_body).result_types();
    b.set_pos(&inst.pos);
    for (value, ct) in pick(places, &active).into_iter().zip(b.push(Op::If(op), args, types)) {
        sweep.add_where(value, ct, sweep.demand_through(&inst.results, value));
    }
    Ok(())
}

/// The reverse of one branch. Both branches take what either has given out, of these types; `own` marks what this one has.
fn reverse_body(t: &mut Transform, op: &IfOp, id: FuncId, masks: [&Vec<bool>; 5], given: &[Type]) -> Result<FuncId, Error> {
    let [active, cts, starts, own, demands] = masks;
    let build = |t: &mut Transform| {
        let id = t.silent(id);
        let function = t.program.function(id).clone();
        let b = Builder::new(format!("{}_vjp", function.name));
        let args = b.params(function.param_types());
        let cts = spread(&b.params(pick(&function.result_types(), cts)), cts);
        let starts = params_like(&b, &args, starts);
        let given = pick(&b.params(given.iter().cloned()), own);
        let truth = |ty: &Type| Type::new(DType::Bool, ty.shape.clone());
        let predicates: Vec<Type> = pick(&function.result_types(), demands).iter().map(truth).collect();
        let demands = spread(&b.params(predicates), demands);
        let demand = |k: usize| demands[k].map_or_else(Demand::everywhere, Demand::of);
        let cts: Vec<_> = cts.iter().enumerate().map(|(k, ct)| ct.map(|ct| (ct, demand(k)))).collect();
        let copied = t.run_again(&b, &function, &args, &given)?;
        let pulled = t.sweep_back(&b, id, copied, active, &cts, &starts)?;
        let cts = pick_or_zeros(&b, &pulled.cotangents, active, &args);
        Ok(b.finish(cts))
    };
    t.build("if_vjp", &[id, op.then_body, op.else_body], &[active, cts, starts, own, demands], build)
}
