//! `unwind n, c0, inv, xs, a, g, r0 {body, bwd} -> a', r', h`: derivatives of the adjoint of a loop.

use super::counted::forward_body;
use super::passed::{Around, Lift, Outside, Passed, Pattern, Steps, outside_of};
use super::{expanded, params_like, pick_or_zeros};
use crate::diff::active::Through;
use crate::diff::demand::Demand;
use crate::diff::jvp::Walk;
use crate::diff::mask::{and, any, pick, present, spread};
use crate::diff::transform::Transform;
use crate::diff::vjp::{Demanded, Sweep, demanded};
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

/// `unwind n, (c0, dc0), …, (r0, dr0) {jvp body, jvp bwd}`: every group is followed by the tangents of its active
/// members.
pub(in crate::diff) fn forward(
    t: &mut Transform,
    walk: &mut Walk<'_>,
    inst: &Inst,
    op: &UnwindOp,
    wanted: &[bool],
) -> Result<(), Error> {
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

/// Reverse over reverse is reverse over forward. With cotangents w of (a', r', h), let T be the transpose of bwd with
/// respect to (a, g, r); bwd is linear in them, so T reads none of them, and undoes the steps of bwd forwards in time:
///
/// `ascent = for n, (c0, w), inv, (xs, wh) {(c, w) ↦ (body c, T(c, w))}` ends with the cotangents of a and r0 and emits
/// those of g.
///
/// What the results weigh, ⟨w, unwind(…, a, g, r0)⟩, is ⟨ascent(…, w), (a, r0, g)⟩ whatever the states are. So the
/// cotangents of c0, inv and xs are what the ascent pulls back from (a, r0, g): the adjoint of a loop like any other,
/// and nothing is materialised.
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
    refuse_parts(t, sweep, inst, op)?;
    match op.linearity {
        Linearity::Linear => reverse_linear(t, sweep, inst, op),
        Linearity::Custom => expanded::reverse(t, sweep, function, inst, op),
    }
}

/// The loop itself computed the states that are computed again here, so that a rule which is not linear would be
/// applied to parts of a cotangent instead of their sum.
fn refuse_parts(t: &Transform, sweep: &Sweep<'_>, inst: &Inst, op: &UnwindOp) -> Result<(), Error> {
    let varied = sweep.varied(&inst.args);
    let UnwindArgs { carries, invariants, streams, .. } = op.args(&varied);
    let vary = any(carries) || any(invariants) || any(streams);
    let is_custom = op.linearity == Linearity::Custom || t.has_once(op.body) || t.has_once(op.bwd);
    match vary && is_custom {
        true => {
            Err(expanded::refused(inst, "only its cotangents may vary, not what the loop itself starts from and reads"))
        }
        false => Ok(()),
    }
}

fn reverse_linear(t: &mut Transform, sweep: &mut Sweep<'_>, inst: &Inst, op: &UnwindOp) -> Result<(), Error> {
    let b = sweep.b;
    let w = sweep.cotangents_of(&inst.results);
    let weighed = Weighed::new(t, inst, op, &present(&w));
    let (transpose, passed, demands) = transposed_step(t, sweep, inst, op, &weighed)?;
    let (values, varied) = (op.args(&inst.args), sweep.varied(&inst.args));
    let varied = op.args(&varied);
    let starts: Vec<Option<Value>> = values
        .invariants
        .iter()
        .zip(varied.invariants)
        .map(|(v, varied)| varied.then(|| sweep.take(*v)).flatten())
        .collect();

    let through = op.adjoints + op.running;
    let marks = [&weighed.adjoints[..], &weighed.running].concat();
    let carried = pick_or_zeros(b, &w[..through], &marks, &sweep.values(&inst.results[..through]));
    let rows: Vec<Value> = w[through..].iter().copied().flatten().collect();
    let rows = [rows, passed.rows.clone()].concat();
    let [count, carries, invariants, streams] =
        [&[values.count], values.carries, values.invariants, values.streams].map(|group| sweep.values(group));
    let args = [count, carries, carried.clone(), invariants, passed.fixed.clone(), streams, rows.clone()].concat();
    let (ascent, id) = ascent(t, inst, op, &weighed, transpose, &passed, &b.types(&args))?;

    let (absent, still) = (|count: usize| vec![None; count], |values: &[Value]| vec![false; values.len()]);
    let invariants = [varied.invariants, &still(&passed.fixed)].concat();
    let asked = [&[false], varied.carries, &still(&carried), &invariants, varied.streams, &still(&rows)].concat();
    let starts = [absent(1 + ascent.carries), starts, absent(args.len() - 1 - ascent.carries - op.invariants)].concat();
    let ends =
        [(values.adjoints, &weighed.adjoints), (values.running, &weighed.running), (values.emitted, &weighed.emitted)];
    let ends: Vec<Value> = ends.iter().flat_map(|(values, marks)| pick(values, marks)).collect();
    let cts: Vec<Option<Value>> = sweep.values(&ends).into_iter().map(Some).collect();
    let pulled = t.pull(b, id, &args, &asked, &demanded(&cts), &starts)?;

    let ends = ends.into_iter().zip(pulled.results).zip(demands);
    let (_, carries, invariants, streams) = ascent.args(&pulled.cotangents);
    let demands: Vec<&Demand> = pulled.demands.iter().collect();
    let (_, of_carries, of_invariants, of_streams) = ascent.args(&demands);
    let states = [
        (values.carries, carries, of_carries),
        (values.invariants, invariants, of_invariants),
        (values.streams, streams, of_streams),
    ];
    let states = states.into_iter().flat_map(|(values, cts, demands)| {
        values
            .iter()
            .zip(cts)
            .zip(demands)
            .filter_map(|((value, ct), demand)| Some(((*value, (*ct)?), (*demand).clone())))
    });
    for ((value, ct), demand) in ends.chain(states) {
        sweep.add_where(value, ct, demand);
    }
    Ok(())
}

/// T, the predicates that it takes, and where the weighed a, r0 and g are demanded.
fn transposed_step(
    t: &mut Transform,
    sweep: &Sweep<'_>,
    inst: &Inst,
    op: &UnwindOp,
    weighed: &Weighed,
) -> Result<(FuncId, Passed, Vec<Demand>), Error> {
    let lift = Lift::new(t, sweep, inst);
    let results: Vec<Demand> = inst.results.iter().map(|v| sweep.demand(*v)).collect();
    let (a, r, h) = op.results(&results);
    let (mut a, mut r) = (a.to_vec(), r.to_vec());
    loop {
        let passed = Passed::new(sweep.b, &[&a[..], &r].concat(), h);
        let (transpose, within) = transposed(t, op, weighed, &passed.pattern)?;
        let values = op.args(&inst.args);
        let [invariants, streams] = [values.invariants, values.streams].map(|group| sweep.values(group));
        let changing = |count: usize| vec![Outside::Changing; count].into_iter();
        let are = changing(1 + op.carries)
            .chain(invariants.into_iter().map(Outside::Fixed))
            .chain(streams.into_iter().map(Outside::Row));
        let are = are.chain(changing(
            op.adjoints + op.emitted + op.running + weighed.results().iter().filter(|mark| **mark).count(),
        ));
        let predicates =
            passed.fixed.iter().map(|p| Outside::Fixed(*p)).chain(passed.rows.iter().map(|p| Outside::Row(*p)));
        let are: Vec<Outside> = are.chain(predicates).collect();
        let params = t.program.function(transpose).params.clone();
        let first = 1 + op.carries + op.invariants + op.streams;
        let (of_g, of_r) = (first + op.adjoints, first + op.adjoints + op.emitted);
        let grow = |list: &mut [Demand], marks: &[bool], first: usize| {
            let each = (0..marks.len()).filter(|k| marks[*k]);
            let grown: Vec<bool> = each
                .map(|k| list[k].join(lift.fixed(first + k, &within[first + k], outside_of(&params, &are))))
                .collect();
            any(&grown)
        };
        if grow(&mut a, &weighed.adjoints, first) | grow(&mut r, &weighed.running, of_r) {
            continue;
        }
        let around = Around::new(
            sweep.b,
            (&t.program, &mut t.activity),
            (transpose, Steps::of(sweep, inst)),
            (&params, &are),
            &within,
        );
        let outside = |value| around.outside(value);
        let ty = |k: usize| sweep.b.ty(sweep.value(values.emitted[k]));
        let g: Vec<Demand> =
            (0..op.emitted).map(|k| lift.streamed(of_g + k, &ty(k), &within[of_g + k], outside)).collect();
        let demands = [pick(&a, &weighed.adjoints), pick(&r, &weighed.running), pick(&g, &weighed.emitted)].concat();
        return Ok((transpose, passed, demands));
    }
}

/// Which of (a, g, r) reach a result that has a cotangent, and which of the streams h have one. Varied or not: a
/// cotangent that is itself not asked for still weighs how the states change.
#[derive(Debug)]
struct Weighed {
    adjoints: Vec<bool>,
    emitted: Vec<bool>,
    running: Vec<bool>,
    rows: Vec<bool>,
}

impl Weighed {
    fn new(t: &mut Transform, inst: &Inst, op: &UnwindOp, wanted: &[bool]) -> Weighed {
        let useful = t.activity.reaching_args(&t.program, Through::Derivatives, inst, wanted);
        let UnwindArgs { adjoints, emitted, running, .. } = op.args(&useful);
        let [adjoints, emitted, running] = [adjoints, emitted, running].map(<[bool]>::to_vec);
        Weighed { adjoints, emitted, running, rows: op.results(wanted).2.to_vec() }
    }

    fn masks(&self) -> [&[bool]; 4] {
        [&self.adjoints, &self.emitted, &self.running, &self.rows]
    }

    /// Results (a', r', h) that w weighs.
    fn results(&self) -> Vec<bool> {
        [&self.adjoints[..], &self.running, &self.rows].concat()
    }
}

/// `(n, c0, w, inv, xs, wh) -> cotangents of a, r0 and g` as a loop, and as a function of this loop alone.
#[allow(clippy::too_many_arguments, reason = "an unwind and what its transpose was built for")]
fn ascent(
    t: &mut Transform,
    inst: &Inst,
    op: &UnwindOp,
    weighed: &Weighed,
    transpose: FuncId,
    passed: &Passed,
    types: &[Type],
) -> Result<(ForOp, FuncId), Error> {
    let body = ascending_body(t, op, weighed, transpose, &passed.pattern)?;
    let function = t.program.function(body);
    let w = weighed.adjoints.iter().chain(&weighed.running).filter(|mark| **mark).count();
    let ascent =
        ForOp { body, carries: op.carries + w, invariants: op.invariants + passed.fixed.len(), bound: op.bound };
    let step = function.result_types();
    let (ends, rows) = ascent.results(&step);
    let ends = ends.iter().cloned().chain(rows.iter().map(|row| row.stream(op.bound))).collect();
    let b = Builder::new(function.name.clone());
    b.set_pos(&inst.pos);
    let results = b.push(Op::For(ascent.clone()), b.params(types.iter().cloned()), ends).split_off(op.carries);
    Ok((ascent, t.program.add(b.finish(results))))
}

/// T as a function of (i, c, inv, x, a, g, r, w, wh, predicates), where w and wh are cotangents of the weighed (a', r')
/// and h, to the cotangents of the a, r and g that reach them, in this order.
fn transposed(
    t: &mut Transform,
    op: &UnwindOp,
    weighed: &Weighed,
    pattern: &Pattern,
) -> Result<(FuncId, Vec<Demand>), Error> {
    t.sweep("unwind_transpose", &[op.body, op.bwd], &weighed.masks(), pattern, |t| {
        let function = t.program.function(op.bwd);
        let b = Builder::new(format!("{}_transpose", function.name));
        let args = b.params(function.param_types());
        let w = b.params(pick(&function.result_types(), &weighed.results()));
        let (fixed, rows) = (pattern.fixed_params(&b), pattern.row_params(&b));
        let demands = pattern.demands(&b, &fixed, &rows);
        let w: Vec<Demanded> =
            spread(&w, &weighed.results()).into_iter().zip(demands).map(|(w, demand)| Some((w?, demand))).collect();
        let still = vec![false; 1 + op.carries + op.invariants + op.streams];
        let varied = [&still, &weighed.adjoints, &weighed.emitted, &weighed.running].map(Vec::as_slice).concat();
        let pulled = t.pull(&b, op.bwd, &args, &varied, &w, &vec![None; args.len()])?;
        let (cts, args) = (op.args(&pulled.cotangents), op.args(&args));
        let a = pick_or_zeros(&b, cts.adjoints, &weighed.adjoints, args.adjoints);
        let g = pick_or_zeros(&b, cts.emitted, &weighed.emitted, args.emitted);
        let r = pick_or_zeros(&b, cts.running, &weighed.running, args.running);
        Ok((b.finish([a, r, g].concat()), pulled.demands))
    })
}

/// `body₂(i, (c, w), inv, (x, wh)) -> ((body c, T(c, w)), wg)`, where inv and wh end with the predicates that T takes.
fn ascending_body(
    t: &mut Transform,
    op: &UnwindOp,
    weighed: &Weighed,
    transpose: FuncId,
    pattern: &Pattern,
) -> Result<FuncId, Error> {
    assert_linear(t, op, transpose);
    t.build("unwind_ascent", &[op.body, op.bwd, transpose], &weighed.masks(), |t| {
        let (body, bwd) = (t.program.function(op.body), t.program.function(op.bwd));
        let b = Builder::new(format!("{}_ascent", bwd.name));
        let types = bwd.param_types();
        let types: Vec<&Type> = types.iter().collect();
        let params = |types: &[&Type]| b.params(types.iter().map(|ty| (*ty).clone()));
        let UnwindArgs { count, carries, invariants, streams, adjoints, emitted, running } = op.args(&types);
        let i = b.param(count.clone());
        let c = params(carries);
        let w = [params(&pick(adjoints, &weighed.adjoints)), params(&pick(running, &weighed.running))].concat();
        let inv = params(invariants);
        let fixed = pattern.fixed_params(&b);
        let x = params(streams);
        let wh = b.params(pick(&bwd.result_types()[op.adjoints + op.running..], &weighed.rows));
        let rows = pattern.row_params(&b);
        let state = [vec![i], c, inv, x].concat();
        let next = b.inline(body, &state);
        // T takes (a, g, r) but reads none of them, so these zeros are dead.
        let unread: Vec<Value> = [adjoints, emitted, running].concat().into_iter().map(|ty| b.zeros(ty)).collect();
        let cts = b.inline(t.program.function(transpose), &[state, unread, w, wh, fixed, rows].concat());
        // Body and T compute the same states; the two together are the step with its tangents.
        Ok(t.joined(b.finish([next, cts].concat())))
    })
}

/// T reads neither a nor g nor r: that is what linear means.
fn assert_linear(t: &mut Transform, op: &UnwindOp, transpose: FuncId) {
    let every = vec![true; t.program.function(transpose).results.len()];
    let reads = t.activity.reaching_params(&t.program, Through::Values, transpose, &every);
    let UnwindArgs { adjoints, emitted, running, .. } = op.args(&reads[..t.program.function(op.bwd).params.len()]);
    assert!(
        !any(adjoints) && !any(emitted) && !any(running),
        "a backward step that is not linear in its cotangents is marked"
    );
}

/// An unwind, with the types that its bwd says.
fn push(t: &Transform, b: &Builder, op: &UnwindOp, args: Vec<Value>) -> Vec<Value> {
    let step = t.program.function(op.bwd).result_types();
    let (a, r, h) = op.results(&step);
    let types = a.iter().chain(r).cloned().chain(h.iter().map(|row| row.stream(op.bound))).collect();
    b.push(Op::Unwind(op.clone()), args, types)
}
