//! `unwind n, c0, inv, xs, a, g, r0 {body, bwd} -> a', r', h`: derivatives of the adjoint of a loop.

use super::counted::forward_body;
use super::{carries_only, expanded, params_like, pick_or_zeros};
use crate::diff::active::Through;
use crate::diff::jvp::Walk;
use crate::diff::mask::{and, any, pick, present, spread};
use crate::diff::transform::Transform;
use crate::diff::vjp::Sweep;
use crate::ir::{Builder, Error, ForOp, FuncId, Function, Inst, Linearity, Op, Type, UnwindArgs, UnwindOp, Value};

/// What of an unwind is active: varied, and its derivative reaches a result asked for.
#[derive(Debug)]
struct Active {
    carries: Vec<bool>,
    invariants: Vec<bool>,
    streams: Vec<bool>,
    adjoints: Vec<bool>,
    emitted: Vec<bool>,
    running: Vec<bool>,
    /// The results h.
    rows: Vec<bool>,
}

impl Active {
    fn new(t: &mut Transform, inst: &Inst, op: &UnwindOp, varied: &[bool], wanted: &[bool]) -> Active {
        let results = t.activity.varied_results(&t.program, inst, varied);
        let carries = t.activity.varied_carries(&t.program, op, varied);
        let useful = t.activity.reaching_args(&t.program, Through::Derivatives, inst, wanted);
        let (a, r, h) = op.results(&results);
        let (varied, useful) = (op.args(varied), op.args(&useful));
        Active {
            carries: and(&carries, useful.carries),
            invariants: and(varied.invariants, useful.invariants),
            streams: and(varied.streams, useful.streams),
            adjoints: and(a, useful.adjoints),
            emitted: and(varied.emitted, useful.emitted),
            running: and(r, useful.running),
            rows: and(h, op.results(wanted).2),
        }
    }

    fn masks(&self) -> [&[bool]; 7] {
        [&self.carries, &self.invariants, &self.streams, &self.adjoints, &self.emitted, &self.running, &self.rows]
    }

    /// Active results (a', r', h).
    fn results(&self) -> Vec<bool> {
        [&self.adjoints[..], &self.running, &self.rows].concat()
    }
}

/// `unwind n, (c0, dc0), …, (r0, dr0) {jvp body, jvp bwd}`: every group is followed by the tangents of its active members.
pub(in crate::diff) fn forward(t: &mut Transform, walk: &mut Walk<'_>, inst: &Inst, op: &UnwindOp, wanted: &[bool]) -> Result<(), Error> {
    let b = walk.b;
    let tangents = walk.tangents(&inst.args);
    let active = Active::new(t, inst, op, &present(&tangents), wanted);
    let body = forward_body(t, &op.trajectory(), [&active.carries, &active.invariants, &active.streams, &[]])?;
    let bwd = forward_bwd(t, op, &active)?;
    let (values, tangents) = (op.args(&inst.args), op.args(&tangents));
    let group = |values: &[Value], d: &[Option<Value>], marks: &[bool]| {
        let values = walk.values(values);
        let tangents = pick_or_zeros(b, d, marks, &values);
        [values, tangents].concat()
    };
    let carries = group(values.carries, tangents.carries, &active.carries);
    let invariants = group(values.invariants, tangents.invariants, &active.invariants);
    let streams = group(values.streams, tangents.streams, &active.streams);
    let adjoints = group(values.adjoints, tangents.adjoints, &active.adjoints);
    let emitted = group(values.emitted, tangents.emitted, &active.emitted);
    let running = group(values.running, tangents.running, &active.running);
    let new = UnwindOp {
        body,
        bwd,
        carries: carries.len(),
        invariants: invariants.len(),
        streams: streams.len(),
        adjoints: adjoints.len(),
        emitted: emitted.len(),
        running: running.len(),
        bound: op.bound,
        linearity: t.linearity(bwd, 1 + carries.len() + invariants.len() + streams.len()),
    };
    let args = [walk.values(&[values.count]), carries, invariants, streams, adjoints, emitted, running].concat();
    b.set_pos(&inst.pos);
    let results = push(t, b, &new, args);
    let (a, r, h) = new.results(&results);
    let (old_a, old_r, old_h) = op.results(&inst.results);
    for (old, new, marks) in [(old_a, a, &active.adjoints), (old_r, r, &active.running), (old_h, h, &active.rows)] {
        let (values, tangents) = new.split_at(old.len());
        walk.values_are(old, values);
        walk.tangents_are(old, &spread(tangents, marks));
    }
    Ok(())
}

fn forward_bwd(t: &mut Transform, op: &UnwindOp, active: &Active) -> Result<FuncId, Error> {
    t.build("unwind_jvp", &[op.body, op.bwd], &active.masks(), |t| {
        let function = t.program.function(op.bwd);
        let b = Builder::new(format!("{}_jvp", function.name));
        let types = function.param_types();
        let types: Vec<&Type> = types.iter().collect();
        let UnwindArgs { count, carries, invariants, streams, adjoints, emitted, running } = op.args(&types);
        let mut args = vec![b.param(count.clone())];
        let mut tangents = vec![None];
        let groups = [carries, invariants, streams, adjoints, emitted, running];
        for (types, marks) in groups.into_iter().zip(active.masks()) {
            let values = b.params(types.iter().map(|ty| (*ty).clone()));
            tangents.extend(params_like(&b, &values, marks));
            args.extend(values);
        }
        let pushed = t.push(&b, op.bwd, &args, &tangents, &active.results())?;
        let ((a, r, h), (da, dr, dh)) = (op.results(&pushed.results), op.results(&pushed.tangents));
        let da = pick_or_zeros(&b, da, &active.adjoints, a);
        let dr = pick_or_zeros(&b, dr, &active.running, r);
        let dh = pick_or_zeros(&b, dh, &active.rows, h);
        Ok(b.finish([a, &da, r, &dr, h, &dh].concat()))
    })
}

/// Reverse over reverse. With cotangents w of (a', r', h), the steps of bwd are undone forwards in time:
///
/// - T = the transpose of bwd with respect to (a, g, r). bwd is linear in them, so T reads none of them, and
///   `for n, (c0, w), inv, (xs, wh) {(c, w) ↦ (body c, T(c, w))}` ends with the cotangents of a and r0 and emits those of g.
/// - `unwind` over the same states (c, w) walks back with λ, the cotangents of c, and with a and r as the original had them:
///   λ_i = (∂body/∂c)ᵀ λ_{i+1} + (∂bwd/∂c)ᵀ w_i. So come the cotangents of c0, inv and xs, and nothing is materialised.
///
/// Where bwd is not linear, w depends on (a, g, r), which run the other way: then the unwind is expanded.
pub(in crate::diff) fn reverse(
    t: &mut Transform,
    sweep: &mut Sweep<'_>,
    function: &Function,
    inst: &Inst,
    op: &UnwindOp,
) -> Result<(), Error> {
    // The unwind itself has run: what is made of it here shows nothing again.
    let op = &UnwindOp { body: t.silent(op.body), bwd: t.silent(op.bwd), ..op.clone() };
    match op.linearity {
        Linearity::Linear => reverse_linear(t, sweep, inst, op),
        Linearity::Custom => expanded::reverse(t, sweep, function, inst, op),
    }
}

fn reverse_linear(t: &mut Transform, sweep: &mut Sweep<'_>, inst: &Inst, op: &UnwindOp) -> Result<(), Error> {
    let varied = sweep.varied(&inst.args);
    let w = sweep.cotangents_of(&inst.results);
    let active = Active::new(t, inst, op, &varied, &present(&w));
    let given = op.args(&varied);
    let linear = [and(given.adjoints, &active.adjoints), active.emitted.clone(), and(given.running, &active.running)];
    let states = [&active.carries[..], &active.invariants, &active.streams];
    let ascent = Ascent::new(t, sweep, inst, op, &active, &w)?;
    if linear.iter().any(|marks| any(marks)) {
        ascend(t, sweep, inst, op, &active, &ascent);
    }
    if states.iter().any(|marks| any(marks)) {
        descend(t, sweep, inst, op, &active, &ascent)?;
    }
    Ok(())
}

/// The sweep forwards in time: body₂ and what it starts with.
#[derive(Debug)]
struct Ascent {
    /// `body₂(i, (c, w), inv, (x, wh)) -> ((c', w'), wg)`.
    body: FuncId,
    /// The start of w: cotangents of the active (a', r').
    w: Vec<Value>,
    /// Cotangents of the active streams h.
    wh: Vec<Value>,
}

impl Ascent {
    fn new(
        t: &mut Transform,
        sweep: &Sweep<'_>,
        inst: &Inst,
        op: &UnwindOp,
        active: &Active,
        w: &[Option<Value>],
    ) -> Result<Ascent, Error> {
        let body = ascending_body(t, op, active)?;
        let (a, r, _) = op.results(&inst.results);
        let (wa, wr, wh) = op.results(w);
        let start = |w: &[Option<Value>], marks: &[bool], like: &[Value]| pick_or_zeros(sweep.b, w, marks, &sweep.values(like));
        let w = [start(wa, &active.adjoints, a), start(wr, &active.running, r)].concat();
        Ok(Ascent { body, w, wh: pick(wh, &active.rows).into_iter().flatten().collect() })
    }

    /// Arguments (n, (c0, w), inv, (xs, wh)).
    fn args(&self, sweep: &Sweep<'_>, inst: &Inst, op: &UnwindOp) -> Vec<Value> {
        let UnwindArgs { count, carries, invariants, streams, .. } = op.args(&inst.args);
        let values = |values: &[Value]| sweep.values(values);
        [vec![sweep.value(count)], values(carries), self.w.clone(), values(invariants), values(streams), self.wh.clone()].concat()
    }
}

/// `for {body₂}`: the cotangents of a, g and r0.
fn ascend(t: &Transform, sweep: &mut Sweep<'_>, inst: &Inst, op: &UnwindOp, active: &Active, ascent: &Ascent) {
    let b = sweep.b;
    let new = ForOp { body: ascent.body, carries: op.carries + ascent.w.len(), invariants: op.invariants, bound: op.bound };
    let args = ascent.args(sweep, inst, op);
    let step = t.program.function(new.body).result_types();
    let (ends, rows) = new.results(&step);
    let types = ends.iter().cloned().chain(rows.iter().map(|row| row.stream(op.bound))).collect();
    b.set_pos(&inst.pos);
    let results = b.push(Op::For(new), args, types);
    let UnwindArgs { adjoints, emitted, running, .. } = op.args(&inst.args);
    let values = [pick(adjoints, &active.adjoints), pick(running, &active.running), pick(emitted, &active.emitted)].concat();
    for (value, ct) in values.iter().zip(&results[op.carries..]) {
        sweep.add(*value, *ct);
    }
}

/// `unwind {body₂, bwd₂}`: the cotangents of c0, inv and xs.
fn descend(t: &mut Transform, sweep: &mut Sweep<'_>, inst: &Inst, op: &UnwindOp, active: &Active, ascent: &Ascent) -> Result<(), Error> {
    let b = sweep.b;
    let bwd = descending_bwd(t, op, active)?;
    let body = carries_only(t, ascent.body, op.carries + ascent.w.len())?;
    let UnwindArgs { carries, invariants, streams, adjoints, emitted, running, .. } = op.args(&inst.args);
    // No cotangent comes from beyond the last step.
    let lambda: Vec<Value> = pick(carries, &active.carries).iter().map(|v| sweep.zeros(*v)).collect();
    let rho: Vec<Value> = pick(invariants, &active.invariants).iter().map(|v| sweep.take(*v).unwrap_or_else(|| sweep.zeros(*v))).collect();
    let new = UnwindOp {
        body,
        bwd,
        carries: op.carries + ascent.w.len(),
        invariants: op.invariants,
        streams: op.streams + ascent.wh.len(),
        adjoints: lambda.len() + op.adjoints + op.running,
        emitted: op.emitted,
        running: rho.len(),
        bound: op.bound,
        linearity: t.linearity(bwd, 1 + op.carries + ascent.w.len() + op.invariants + op.streams + ascent.wh.len()),
    };
    let values = |values: &[Value]| sweep.values(values);
    let args = [ascent.args(sweep, inst, op), lambda, values(adjoints), values(running), values(emitted), rho].concat();
    b.set_pos(&inst.pos);
    let results = push(t, b, &new, args);
    let (adjoints, rho, h) = new.results(&results);
    let groups = [(carries, &active.carries, adjoints), (invariants, &active.invariants, rho), (streams, &active.streams, h)];
    for (values, marks, cts) in groups {
        for (value, ct) in pick(values, marks).iter().zip(cts) {
            sweep.add(*value, *ct);
        }
    }
    Ok(())
}

/// T as a function of (i, c, inv, x, a, g, r, w, wh), where w and wh are cotangents of the active (a', r') and h, to the cotangents of the
/// active a, r and g, in this order.
fn transposed(t: &mut Transform, op: &UnwindOp, active: &Active) -> Result<FuncId, Error> {
    t.build("unwind_transpose", &[op.body, op.bwd], &active.masks(), |t| {
        let function = t.program.function(op.bwd);
        let b = Builder::new(format!("{}_transpose", function.name));
        let args = b.params(function.param_types());
        let w = b.params(pick(&function.result_types(), &active.results()));
        let w = spread(&w, &active.results());
        let still = vec![false; 1 + op.carries + op.invariants + op.streams];
        let varied = [&still, &active.adjoints, &active.emitted, &active.running].map(Vec::as_slice).concat();
        let pulled = t.pull(&b, op.bwd, &args, &varied, &w, &vec![None; args.len()])?;
        let (cts, args) = (op.args(&pulled.cotangents), op.args(&args));
        let a = pick_or_zeros(&b, cts.adjoints, &active.adjoints, args.adjoints);
        let g = pick_or_zeros(&b, cts.emitted, &active.emitted, args.emitted);
        let r = pick_or_zeros(&b, cts.running, &active.running, args.running);
        Ok(b.finish([a, r, g].concat()))
    })
}

/// `body₂(i, (c, w), inv, (x, wh)) -> ((body c, T(c, w)), wg)`.
fn ascending_body(t: &mut Transform, op: &UnwindOp, active: &Active) -> Result<FuncId, Error> {
    let transpose = transposed(t, op, active)?;
    assert_linear(t, op, transpose);
    t.build("unwind_ascent", &[op.body, op.bwd], &active.masks(), |t| {
        let (body, bwd) = (t.program.function(op.body), t.program.function(op.bwd));
        let b = Builder::new(format!("{}_ascent", bwd.name));
        let types = bwd.param_types();
        let types: Vec<&Type> = types.iter().collect();
        let params = |types: &[&Type]| b.params(types.iter().map(|ty| (*ty).clone()));
        let UnwindArgs { count, carries, invariants, streams, adjoints, emitted, running } = op.args(&types);
        let i = b.param(count.clone());
        let c = params(carries);
        let w = [params(&pick(adjoints, &active.adjoints)), params(&pick(running, &active.running))].concat();
        let (inv, x) = (params(invariants), params(streams));
        let wh = b.params(pick(&bwd.result_types()[op.adjoints + op.running..], &active.rows));
        let state = [vec![i], c, inv, x].concat();
        let next = b.inline(body, &state);
        // T takes (a, g, r) but reads none of them, so these zeros are dead.
        let unread: Vec<Value> = [adjoints, emitted, running].concat().into_iter().map(|ty| b.zeros(ty)).collect();
        let cts = b.inline(t.program.function(transpose), &[state, unread, w, wh].concat());
        Ok(b.finish([next, cts].concat()))
    })
}

/// T reads neither a nor g nor r: that is what linear means.
fn assert_linear(t: &mut Transform, op: &UnwindOp, transpose: FuncId) {
    let every = vec![true; t.program.function(transpose).results.len()];
    let reads = t.activity.reaching_params(&t.program, Through::Values, transpose, &every);
    let UnwindArgs { adjoints, emitted, running, .. } = op.args(&reads[..t.program.function(op.bwd).params.len()]);
    assert!(!any(adjoints) && !any(emitted) && !any(running), "a backward step that is not linear in its cotangents is marked");
}

/// `bwd₂(i, (c, w), inv, (x, wh), (λ, a, r), g, ρ) -> ((λ', a', r'), ρ', hx)`: the sweep back over bwd with w, and on over body with λ.
fn descending_bwd(t: &mut Transform, op: &UnwindOp, active: &Active) -> Result<FuncId, Error> {
    t.build("unwind_descent", &[op.body, op.bwd], &active.masks(), |t| {
        let function = t.program.function(op.bwd);
        let b = Builder::new(format!("{}_descent", function.name));
        let (types, ends) = (function.param_types(), function.result_types());
        let types: Vec<&Type> = types.iter().collect();
        let params = |types: &[&Type]| b.params(types.iter().map(|ty| (*ty).clone()));
        let groups = op.args(&types);
        let i = b.param(groups.count.clone());
        let c = params(groups.carries);
        let wa = params(&pick(groups.adjoints, &active.adjoints));
        let wr = params(&pick(groups.running, &active.running));
        let (inv, x) = (params(groups.invariants), params(groups.streams));
        let wh = b.params(pick(&ends[op.adjoints + op.running..], &active.rows));
        let lambda = params_like(&b, &c, &active.carries);
        let (a, r, g) = (params(groups.adjoints), params(groups.running), params(groups.emitted));
        let rho = params_like(&b, &inv, &active.invariants);

        let state = [vec![i], c, inv, x].concat();
        let varied = [&[false], &active.carries[..], &active.invariants, &active.streams].concat();
        let starts = [&vec![None; 1 + op.carries], &rho[..], &vec![None; op.streams]].concat();
        let linear = vec![None; op.adjoints + op.emitted + op.running];
        let w = [spread(&wa, &active.adjoints), spread(&wr, &active.running), spread(&wh, &active.rows)].concat();
        let over_bwd = t.pull(
            &b,
            op.bwd,
            &[&state[..], &a, &g, &r].concat(),
            &[&varied[..], &vec![false; linear.len()]].concat(),
            &w,
            &[starts, linear].concat(),
        )?;
        let over_body = t.pull(&b, op.body, &state, &varied, &lambda, &over_bwd.cotangents[..state.len()])?;
        let cts = pick_or_zeros(&b, &over_body.cotangents, &varied, &state);
        let (lambda, rest) = cts.split_at(active.carries.iter().filter(|mark| **mark).count());
        let adjoints = &over_bwd.results[..op.adjoints + op.running];
        Ok(b.finish([lambda, adjoints, rest].concat()))
    })
}

/// An unwind, with the types that its bwd says.
fn push(t: &Transform, b: &Builder, op: &UnwindOp, args: Vec<Value>) -> Vec<Value> {
    let step = t.program.function(op.bwd).result_types();
    let (a, r, h) = op.results(&step);
    let types = a.iter().chain(r).cloned().chain(h.iter().map(|row| row.stream(op.bound))).collect();
    b.push(Op::Unwind(op.clone()), args, types)
}
