//! `for n, c0, inv, xs {body} -> cN, ys`.

use super::passed::{Around, Lift, Outside, Passed, Pattern, Steps, movable_slice, outside_of, slice_of};
use super::{params_like, pick_or_zeros};
use crate::diff::active::Through;
use crate::diff::demand::{Demand, Predicate, Term, weighted, window_of};
use crate::diff::jvp::Walk;
use crate::diff::mask::{and, any, pick, present, spread};
use crate::diff::transform::Transform;
use crate::diff::vjp::{Demanded, Sweep};
use crate::ir::{Builder, Error, ForOp, FuncId, Function, Inst, Lowering, Op, UnwindOp, Value};

/// `for n, (c0, dc0), (inv, dinv), (xs, dxs) {jvp body}`: every group is followed by the tangents of its active
/// members.
pub(in crate::diff) fn forward(
    t: &mut Transform,
    walk: &mut Walk<'_>,
    inst: &Inst,
    op: &ForOp,
    active: &[bool],
) -> Result<(), Error> {
    let b = walk.b;
    let useful = t.activity.reaching_args(&t.program, Through::Derivatives, inst, active);
    let tangents = walk.tangents(&inst.args);
    let carried = t.activity.varied_results(&t.program, inst, &present(&tangents));
    let (carries, _) = op.results(&carried);
    let (_, useful_carries, useful_inv, useful_xs) = op.args(&useful);
    let (_, dc, dinv, dxs) = op.args(&tangents);
    let carries = and(carries, useful_carries);
    let (inv, xs) = (and(&present(dinv), useful_inv), and(&present(dxs), useful_xs));
    let ys = op.results(active).1;

    let body = forward_body(t, op, [&carries, &inv, &xs, ys])?;
    let (n, c0, invariants, streams) = op.args(&inst.args);
    let group = |values: &[Value], d: &[Option<Value>], marks: &[bool]| {
        let values = walk.values(values);
        let tangents = pick_or_zeros(b, d, marks, &values);
        [values, tangents].concat()
    };
    let (c, i, x) = (group(c0, dc, &carries), group(invariants, dinv, &inv), group(streams, dxs, &xs));
    let new = ForOp { body, carries: c.len(), invariants: i.len(), bound: op.bound };
    let step = t.program.function(body).result_types();
    let (ends, rows) = new.results(&step);
    let types = ends.iter().cloned().chain(rows.iter().map(|row| row.stream(op.bound))).collect();
    b.set_pos(&inst.pos);
    let results = b.push(Op::For(new.clone()), [walk.values(&[n]), c, i, x].concat(), types);
    let (ends, emitted) = new.results(&results);
    let (old_ends, old_ys) = op.results(&inst.results);
    for (old, new, marks) in [(old_ends, ends, &carries[..]), (old_ys, emitted, ys)] {
        let (values, tangents) = new.split_at(old.len());
        walk.values_are(old, values);
        walk.tangents_are(old, &spread(tangents, marks));
    }
    Ok(())
}

/// The step with tangents; masks of (c, inv, x, y).
pub(super) fn forward_body(t: &mut Transform, op: &ForOp, masks: [&[bool]; 4]) -> Result<FuncId, Error> {
    t.build("for_jvp", &[op.body], &masks, |t| {
        let [carries, inv, xs, ys] = masks;
        let function = t.program.function(op.body);
        let b = Builder::new(format!("{}_jvp", function.name));
        let types = function.param_types();
        let types: Vec<_> = types.iter().collect();
        let (i, c, invariants, streams) = op.args(&types);
        let mut args = vec![b.param(i.clone())];
        let mut tangents = vec![None];
        for (types, marks) in [(c, carries), (invariants, inv), (streams, xs)] {
            let values = b.params(types.iter().map(|ty| (*ty).clone()));
            tangents.extend(params_like(&b, &values, marks));
            args.extend(values);
        }
        let active = [carries, ys].concat();
        let pushed = t.push(&b, op.body, &args, &tangents, &active)?;
        let ((c, y), (dc, dy)) = (op.results(&pushed.results), op.results(&pushed.tangents));
        let (dc, dy) = (pick_or_zeros(&b, dc, carries, c), pick_or_zeros(&b, dy, ys, y));
        Ok(b.finish([c, &dc, y, &dy].concat()))
    })
}

/// `unwind n, c0, inv, xs, a, g, r0 {body, vjp body}`.
///
/// The running cotangents r start as what the invariants have so far, and the sweep over the body continues them:
/// reading one slice of an invariant becomes one `add_at`, never an array of zeros per step.
pub(in crate::diff) fn reverse(
    t: &mut Transform,
    sweep: &mut Sweep<'_>,
    function: &Function,
    inst: &Inst,
    op: &ForOp,
) -> Result<(), Error> {
    let b = sweep.b;
    let cts = sweep.cotangents_of(&inst.results);
    let useful = t.activity.reaching_args(&t.program, Through::Derivatives, inst, &present(&cts));
    let varied_args = sweep.varied(&inst.args);
    let varied = t.activity.varied_results(&t.program, inst, &varied_args);
    let (_, useful_c, useful_inv, useful_xs) = op.args(&useful);
    let (_, _, varied_inv, varied_xs) = op.args(&varied_args);
    // A carry whose end has no cotangent is active where it influences one that has.
    let carries = and(op.results(&varied).0, useful_c);
    let (inv, xs) = (and(varied_inv, useful_inv), and(varied_xs, useful_xs));
    let (ct_ends, ct_ys) = op.results(&cts);
    let ys = present(ct_ys);

    let (n, c0, invariants, streams) = op.args(&inst.args);
    let (bwd, passed, demands) = reverse_step(t, sweep, inst, op, [&carries, &inv, &xs, &ys])?;
    let body = carries_only(t, op, bwd, &passed.pattern)?;
    let a = pick_or_zeros(b, ct_ends, &carries, &sweep.values(op.results(&inst.results).0));
    let g: Vec<Value> = ct_ys.iter().copied().flatten().collect();
    let r: Vec<Value> =
        pick(invariants, &inv).iter().map(|v| sweep.take(*v).unwrap_or_else(|| sweep.zeros(*v))).collect();
    let new = UnwindOp {
        body,
        bwd,
        carries: op.carries,
        invariants: op.invariants + passed.fixed.len(),
        streams: streams.len() + passed.rows.len(),
        adjoints: a.len(),
        emitted: g.len(),
        running: r.len(),
        bound: op.bound,
        linearity: t.linearity(bwd, inst.args.len() + passed.fixed.len() + passed.rows.len()),
    };
    let active = [pick(c0, &carries), pick(invariants, &inv), pick(streams, &xs)].concat();
    let demands: Vec<&Demand> = demands.iter().collect();
    let (_, of_c, of_inv, of_xs) = op.args(&demands);
    let demands = [pick(of_c, &carries), pick(of_inv, &inv), pick(of_xs, &xs)].concat();
    let types = active.iter().map(|v| function.ty(*v).clone()).collect();
    let [carried, fixed, rows] = [c0, invariants, streams].map(|group| sweep.values(group));
    let args = [vec![sweep.value(n)], carried, fixed, passed.fixed, rows, passed.rows, a, g, r].concat();
    b.set_pos(&inst.pos);
    for ((value, ct), demand) in active.iter().zip(b.push(Op::Unwind(new), args, types)).zip(demands) {
        sweep.add_where(*value, ct, demand.clone());
    }
    Ok(())
}

/// One step of the adjoint, the predicates that it takes, and where the arguments of the loop are demanded.
fn reverse_step(
    t: &mut Transform,
    sweep: &Sweep<'_>,
    inst: &Inst,
    op: &ForOp,
    masks: [&[bool]; 4],
) -> Result<(FuncId, Passed, Vec<Demand>), Error> {
    let lift = Lift::new(t, sweep, inst);
    let ends: Vec<Demand> = inst.results.iter().map(|v| sweep.demand(*v)).collect();
    let (ends, emitted) = op.results(&ends);
    let mut carried = ends.to_vec();
    loop {
        let passed = Passed::new(sweep.b, &carried, emitted);
        let (bwd, within) = reverse_body(t, op, masks, &passed.pattern)?;
        let (_, _, invariants, streams) = op.args(&inst.args);
        let fixed = sweep.values(invariants).into_iter().chain(passed.fixed.iter().copied()).map(Outside::Fixed);
        let rows = sweep.values(streams).into_iter().chain(passed.rows.iter().copied()).map(Outside::Row);
        let are: Vec<Outside> = vec![Outside::Changing; 1 + op.carries].into_iter().chain(fixed).chain(rows).collect();
        let params = t.program.function(bwd).params[..are.len()].to_vec();
        let grown = (0..op.carries).filter(|k| masks[0][*k]);
        let grown: Vec<bool> =
            grown.map(|k| carried[k].join(lift.fixed(1 + k, &within[1 + k], outside_of(&params, &are)))).collect();
        if any(&grown) {
            continue;
        }
        let around = Around::new(
            sweep.b,
            (&t.program, &mut t.activity),
            (bwd, Steps::of(sweep, inst)),
            (&params, &are),
            &within,
        );
        let outside = |value| around.outside(value);
        let first = 1 + op.carries;
        let mut of_invariants: Vec<Option<Demand>> =
            (0..op.invariants).map(|k| lift.summed(&within[first + k], outside)).collect();
        let insts = &t.program.function(bwd).insts;
        let is_known = |term: &Term| term.keys().any(|p| !matches!(outside(p.value()), Outside::Changing));
        let given = |value: Value| value == params[0] || !matches!(outside(value), Outside::Changing);
        let counts = |term: &Term| is_known(term) || window_of(insts, term).is_some() || is_cheap(insts, given, term);
        let by_steps = |k: usize| masks[1][k] && of_invariants[k].is_none() && within[first + k].terms().all(counts);
        let by_steps: Vec<bool> = (0..op.invariants).map(by_steps).collect();
        if any(&by_steps) {
            let known = |k: usize| Demand::from_terms(within[first + k].terms().filter(|term| is_known(term)).cloned());
            let known: Vec<Option<Demand>> = (0..op.invariants).map(|k| lift.summed(&known(k), outside)).collect();
            let weights = weights(t, sweep, inst, op, (bwd, masks), &passed, &by_steps)?;
            for (k, weights) in (0..op.invariants).filter(|k| by_steps[*k]).zip(weights) {
                let mut demand = known[k].clone().expect("only what is known is lifted");
                demand.join(weighted(sweep.b, weights));
                of_invariants[k] = Some(demand);
            }
        }
        let unknown = |(k, demand): (usize, Option<Demand>)| demand.unwrap_or_else(|| lift.unknown(1 + op.carries + k));
        let of_invariants = of_invariants.into_iter().enumerate().map(unknown);
        let first = first + op.invariants;
        let ty = |k: usize| sweep.b.ty(sweep.value(streams[k]));
        let of_streams = (0..streams.len()).map(|k| lift.streamed(first + k, &ty(k), &within[first + k], outside));
        let demands = [Demand::default()].into_iter().chain(carried).chain(of_invariants).chain(of_streams).collect();
        return Ok((bwd, passed, demands));
    }
}

/// Whether the predicates of a term follow from what a step is given, its index among it, but not from the state of the
/// loop, element by element: then to make them once more in all steps costs no more than the `select` that they come
/// from. They fault where the loop does.
fn is_cheap(insts: &[Inst], given: impl Fn(Value) -> bool + Copy, term: &Term) -> bool {
    let is_cheap = |inst: &Inst| match &inst.op {
        Op::Def(def, _) => match def.lowering {
            Lowering::Map(_) | Lowering::Convert | Lowering::Constant | Lowering::Iota | Lowering::Reduce(_) => true,
            Lowering::View(_) | Lowering::Pick(_) => true,
            Lowering::Dot
            | Lowering::Scan(_)
            | Lowering::Routine(_)
            | Lowering::Factored(..)
            | Lowering::Composed(_) => false,
            Lowering::Write(_) | Lowering::Scatter(..) | Lowering::Probe | Lowering::Check | Lowering::Missing => false,
        },
        Op::If(_) | Op::For(_) | Op::While(_) | Op::Unwind(_) | Op::Call(_) => false,
    };
    term.keys().all(|p| slice_of(insts, is_cheap, given, |inst, _| inst.args.clone(), p.value()).is_some())
}

/// How often the steps of a loop demand the elements of the marked invariants, each step in windows of its own or where
/// predicates hold that it makes: sums over the same loop, which touch windows only.
fn weights(
    t: &mut Transform,
    sweep: &Sweep<'_>,
    inst: &Inst,
    op: &ForOp,
    (bwd, masks): (FuncId, [&[bool]; 4]),
    passed: &Passed,
    marked: &[bool],
) -> Result<Vec<Value>, Error> {
    let (b, silent, steps) = (sweep.b, t.silent(op.body), Steps::of(sweep, inst));
    let body = t.build("for_weights", &[op.body, bwd], &[marked, &[steps == Steps::Some]], |t| {
        let [carries, inv, xs, ys] = masks;
        let function = t.program.function(silent).clone();
        let b = Builder::new(format!("{}_weights", function.name));
        let types = function.param_types();
        let (before, after) = types.split_at(1 + op.carries);
        let (invariants, streams) = after.split_at(op.invariants);
        let mut args = b.params(before.to_vec());
        let mut weights = b.params(pick(invariants, marked));
        args.extend(b.params(invariants.to_vec()));
        let fixed = passed.pattern.fixed_params(&b);
        args.extend(b.params(streams.to_vec()));
        let rows = passed.pattern.row_params(&b);
        let known: Vec<Value> = args[1 + op.carries..].iter().chain(&fixed).chain(&rows).copied().collect();
        let same: Vec<Value> = op.args(&args).2.iter().chain(&fixed).copied().collect();
        // Demands are the same whatever the cotangents are.
        let demands = passed.pattern.demands(&b, &fixed, &rows);
        let zeros = |(v, mark): (&Value, &bool)| mark.then(|| b.zeros(function.ty(*v)));
        let cts = function.results.iter().zip(carries.iter().chain(ys)).map(zeros).collect::<Vec<_>>();
        let cts: Vec<Demanded> = cts.into_iter().zip(demands).map(|(ct, demand)| Some((ct?, demand))).collect();
        let varied = [&[false], carries, inv, xs].concat();
        let pulled = t.pull(&b, silent, &args, &varied, &cts, &vec![None; args.len()])?;
        for (weights, k) in weights.iter_mut().zip((0..op.invariants).filter(|k| marked[*k])) {
            let demand = &pulled.demands[1 + op.carries + k];
            // What is made of rows is another truth in each step: only what is made of invariants is known outside.
            let mut changes = |p: &Predicate| {
                let is_fixed = |value: Value| same.contains(&value);
                let dtype = |value: Value| b.ty(value).dtype;
                let of = (&t.program, &mut t.activity);
                let slice = movable_slice(of, &b.insts(), steps, dtype, is_fixed, p.value());
                !known.contains(&p.value()) && slice.is_none()
            };
            for term in demand.terms().filter(|term| term.keys().all(&mut changes)) {
                let window = window_of(&b.insts(), term).cloned();
                *weights = match window {
                    Some(window) => {
                        b.push(window.op.clone(), [&[*weights], &window.args[1..]].concat(), vec![b.ty(*weights)])[0]
                    }
                    None => {
                        let ty = b.ty(*weights);
                        let predicate =
                            Demand::from_terms([term.clone()]).predicate(&b, &ty).expect("something changes");
                        b.add(*weights, b.convert(predicate, ty.dtype))
                    }
                };
            }
        }
        Ok(b.finish([&pulled.results[..op.carries], &weights].concat()))
    })?;
    let (n, c0, invariants, streams) = op.args(&inst.args);
    let [carried, fixed, rows] = [c0, invariants, streams].map(|group| sweep.values(group));
    let zeros: Vec<Value> = pick(invariants, marked).iter().map(|v| sweep.zeros(*v)).collect();
    let first = [carried, zeros].concat();
    let new = ForOp { body, carries: first.len(), invariants: op.invariants + passed.fixed.len(), bound: op.bound };
    let types = b.types(&first);
    let args = [vec![sweep.value(n)], first, fixed, passed.fixed.clone(), rows, passed.rows.clone()].concat();
    b.set_pos(&inst.pos);
    Ok(b.push(Op::For(new), args, types).split_off(op.carries))
}

/// One step of the adjoint, `bwd(i, c, inv, x, a, g, r) -> (a', r', h)`, where inv and x end with the predicates that
/// are passed; masks of (c, inv, x, y).
fn reverse_body(
    t: &mut Transform,
    op: &ForOp,
    masks: [&[bool]; 4],
    pattern: &Pattern,
) -> Result<(FuncId, Vec<Demand>), Error> {
    t.sweep("for_vjp", &[op.body], &masks, pattern, |t| {
        let [carries, inv, xs, ys] = masks;
        let function = t.program.function(op.body);
        let b = Builder::new(format!("{}_vjp", function.name));
        let types = function.param_types();
        let (before, streams) = types.split_at(1 + op.carries + op.invariants);
        let mut args = b.params(before.to_vec());
        let fixed = pattern.fixed_params(&b);
        args.extend(b.params(streams.to_vec()));
        let passed_rows = pattern.row_params(&b);
        let (_, c, invariants, x) = op.args(&args);
        let (ends, rows) = op.results(&function.results);
        let rows: Vec<_> = pick(rows, ys).iter().map(|v| function.ty(*v).clone()).collect();
        assert_eq!(ends.len(), c.len(), "a loop's step returns its carries");
        let a = params_like(&b, c, carries);
        let g = spread(&b.params(rows), ys);
        let r = params_like(&b, invariants, inv);
        let starts = [&vec![None; 1 + c.len()], &r[..], &vec![None; x.len()]].concat();
        let varied = [&[false], carries, inv, xs].concat();
        let demands = pattern.demands(&b, &fixed, &passed_rows);
        let cts: Vec<Demanded> =
            [a, g].concat().into_iter().zip(demands).map(|(ct, demand)| Some((ct?, demand))).collect();
        let pulled = t.pull(&b, op.body, &args, &varied, &cts, &starts)?;
        let cts = pick_or_zeros(&b, &pulled.cotangents, &varied, &args);
        Ok((b.finish(cts), pulled.demands))
    })
}

/// The step of a loop without what it emits, with parameters for the predicates that its adjoint takes; the body itself
/// where it emits nothing and takes none.
fn carries_only(t: &mut Transform, op: &ForOp, bwd: FuncId, pattern: &Pattern) -> Result<FuncId, Error> {
    let body = t.silent(op.body);
    if t.program.function(body).results.len() == op.carries && !pattern.has_predicates() {
        return Ok(body);
    }
    t.build("carries", &[body, bwd], &[&vec![true; op.carries]], |t| {
        let function = t.program.function(body);
        let b = Builder::new(function.name.clone());
        let types = function.param_types();
        let (before, streams) = types.split_at(1 + op.carries + op.invariants);
        let mut args = b.params(before.to_vec());
        pattern.fixed_params(&b);
        args.extend(b.params(streams.to_vec()));
        pattern.row_params(&b);
        let mut results = b.inline(function, &args);
        results.truncate(op.carries);
        Ok(b.finish(results))
    })
}
