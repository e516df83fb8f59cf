//! `if p, args {then, else}`.

use super::passed::{Passed, Pattern};
use super::{params_like, pick_or_zeros};
use crate::diff::active::Through;
use crate::diff::demand::{Demand, Predicate};
use crate::diff::jvp::Walk;
use crate::diff::mask::{and, pick, present, spread};
use crate::diff::transform::Transform;
use crate::diff::vjp::{Demanded, Sweep};
use crate::ir::{Array, Builder, Error, FuncId, IfOp, Inst, Op, Type, Value};

/// `if p, args, dargs {jvp then, jvp else}`: results, then the tangents of the active ones.
pub(in crate::diff) fn forward(
    t: &mut Transform,
    walk: &mut Walk<'_>,
    inst: &Inst,
    op: &IfOp,
    active: &[bool],
) -> Result<(), Error> {
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

/// `if p, args, cts, starts, given, predicates {vjp then, vjp else}`: each branch computes its forward part again, but
/// for what it has given out, and returns the cotangents of the active arguments. A cotangent that an argument has
/// already goes through the branches, so that a slice read in one costs no array of zeros.
///
/// An argument is demanded where the branch that runs demands it. What a branch says of that in terms of its own
/// values, it returns too.
pub(in crate::diff) fn reverse(t: &mut Transform, sweep: &mut Sweep<'_>, inst: &Inst, op: &IfOp) -> Result<(), Error> {
    let b = sweep.b;
    let cts = sweep.cotangents_of(&inst.results);
    let useful = t.activity.reaching_args(&t.program, Through::Derivatives, inst, &present(&cts));
    let active = and(&sweep.varied(&inst.args), &useful)[1..].to_vec();
    if !active.contains(&true) {
        return Ok(());
    }
    let places = &inst.args[1..];
    let starts: Vec<Option<Value>> =
        places.iter().zip(&active).map(|(v, active)| active.then(|| sweep.take(*v)).flatten()).collect();
    let given = sweep.given(inst);
    let demands: Vec<Demand> = inst.results.iter().map(|v| sweep.demand(*v)).collect();
    let passed = Passed::new(b, &demands, &[]);
    let of_then = t.given_by(op.then_body)?.len();
    let (then_given, else_given): (Vec<bool>, Vec<bool>) =
        (0..given.len()).map(|k| (k < of_then, k >= of_then)).unzip();
    let (with_cts, with_starts, types) = (present(&cts), present(&starts), b.types(&given));
    let args = sweep.values(&inst.args).into_iter().chain(cts.into_iter().chain(starts).flatten()).chain(given);
    let args: Vec<Value> = args.chain(passed.fixed.iter().copied()).collect();
    let branches = |t: &mut Transform, told: &Vec<bool>| {
        let masks = |own| [&active, &with_cts, &with_starts, own, told];
        let then_body = reverse_body(t, op, op.then_body, masks(&then_given), &types, &passed.pattern)?;
        let else_body = reverse_body(t, op, op.else_body, masks(&else_given), &types, &passed.pattern)?;
        Ok::<_, Error>([then_body, else_body])
    };
    let still = vec![false; places.len()];
    let [then_body, else_body] = branches(t, &still)?;
    let known = known_demands([&then_body, &else_body], t, &args);
    let told: Vec<bool> = known.iter().zip(&active).map(|(known, active)| *active && known.is_none()).collect();
    let [then_body, else_body] = if told == still { [then_body, else_body] } else { branches(t, &told)? };
    let types = t.program.function(then_body.0).result_types();
    b.set_pos(&inst.pos);
    let results = b.push(Op::If(IfOp { then_body: then_body.0, else_body: else_body.0 }), args, types);
    let active: Vec<usize> = (0..places.len()).filter(|k| active[*k]).collect();
    let (cts, told) = results.split_at(active.len());
    let mut told = told.iter();
    for (k, ct) in active.into_iter().zip(cts) {
        let said = || Demand::of(Predicate::new(b, *told.next().expect("what is not known is returned")));
        sweep.add_where(places[k], *ct, known[k].clone().unwrap_or_else(said).refined(b));
    }
    Ok(())
}

/// Where the parameters of the branches are demanded, in terms of the predicate and the arguments of the `if`, as far
/// as that can be said so.
fn known_demands(branches: [&(FuncId, Vec<Demand>); 2], t: &Transform, args: &[Value]) -> Vec<Option<Demand>> {
    let known = |(id, demands): &(FuncId, Vec<Demand>), holds: bool| {
        let params = &t.program.function(*id).params;
        let outside = |value: Value| params.iter().position(|param| *param == value).map(|k| args[1 + k]);
        let one = |demand: &Demand| Some(demand.moved(outside)?.and(Predicate::Whole(args[0]), holds));
        demands.iter().map(one).collect::<Vec<_>>()
    };
    let either = |(then, otherwise): (Option<Demand>, Option<Demand>)| {
        let mut then = then?;
        then.join(otherwise?);
        Some(then)
    };
    known(branches[0], true).into_iter().zip(known(branches[1], false)).map(either).collect()
}

/// The reverse of one branch. Both branches take what either has given out, of these types; `own` marks what this one
/// has. `told` marks arguments of which it also returns where they are demanded.
fn reverse_body(
    t: &mut Transform,
    op: &IfOp,
    id: FuncId,
    masks: [&Vec<bool>; 5],
    given: &[Type],
    pattern: &Pattern,
) -> Result<(FuncId, Vec<Demand>), Error> {
    let [active, cts, starts, own, told] = masks;
    let build = |t: &mut Transform| {
        let id = t.silent(id);
        let function = t.program.function(id).clone();
        let b = Builder::new(format!("{}_vjp", function.name));
        let args = b.params(function.param_types());
        let cts = spread(&b.params(pick(&function.result_types(), cts)), cts);
        let starts = params_like(&b, &args, starts);
        let given = pick(&b.params(given.iter().cloned()), own);
        let fixed = pattern.fixed_params(&b);
        let demands = pattern.demands(&b, &fixed, &[]);
        let cts: Vec<Demanded> = cts.into_iter().zip(demands).map(|(ct, demand)| Some((ct?, demand))).collect();
        let copied = t.run_again(&b, &function, &args, &given)?;
        let pulled = t.sweep_back(&b, id, copied, active, &cts, &starts)?;
        let truths = |k: usize| {
            let ty = b.ty(args[k]);
            let everywhere = || b.broadcast(b.constant(Array::bool(true)), &ty.shape, &[]);
            pulled.demands[k].predicate(&b, &ty).unwrap_or_else(everywhere)
        };
        let told: Vec<Value> = (0..args.len()).filter(|k| told[*k]).map(truths).collect();
        let cts = pick_or_zeros(&b, &pulled.cotangents, active, &args);
        Ok((b.finish([cts, told].concat()), pulled.demands))
    };
    t.sweep("if_vjp", &[id, op.then_body, op.else_body], &[active, cts, starts, own, told], pattern, build)
}
