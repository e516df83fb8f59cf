//! `for n, c0, inv, xs {body} -> cN, ys`.

use super::{carries_only, params_like, pick_or_zeros};
use crate::diff::active::Through;
use crate::diff::jvp::Walk;
use crate::diff::mask::{and, pick, present, spread};
use crate::diff::transform::Transform;
use crate::diff::vjp::Sweep;
use crate::ir::{Builder, Error, ForOp, FuncId, Function, Inst, Op, UnwindOp, Value};

/// `for n, (c0, dc0), (inv, dinv), (xs, dxs) {jvp body}`: every group is followed by the tangents of its active members.
pub(in crate::diff) fn forward(t: &mut Transform, walk: &mut Walk<'_>, inst: &Inst, op: &ForOp, active: &[bool]) -> Result<(), Error> {
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
/// The running cotangents r start as what the invariants have so far, and the sweep over the body continues them: reading one slice of
/// an invariant becomes one `add_at`, never an array of zeros per step.
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
    let bwd = reverse_body(t, op, [&carries, &inv, &xs, &ys])?;
    let body = carries_only(t, op.body, op.carries)?;
    let a = pick_or_zeros(b, ct_ends, &carries, &sweep.values(op.results(&inst.results).0));
    let g: Vec<Value> = ct_ys.iter().copied().flatten().collect();
    let r: Vec<Value> = pick(invariants, &inv).iter().map(|v| sweep.take(*v).unwrap_or_else(|| sweep.zeros(*v))).collect();
    let new = UnwindOp {
        body,
        bwd,
        carries: op.carries,
        invariants: op.invariants,
        streams: streams.len(),
        adjoints: a.len(),
        emitted: g.len(),
        running: r.len(),
        bound: op.bound,
        linearity: t.linearity(bwd, inst.args.len()),
    };
    let active = [pick(c0, &carries), pick(invariants, &inv), pick(streams, &xs)].concat();
    let types = active.iter().map(|v| function.ty(*v).clone()).collect();
    let args = [sweep.value(n)].into_iter().chain(sweep.values(&inst.args[1..])).chain(a).chain(g).chain(r).collect();
    b.set_pos(&inst.pos);
    for (value, ct) in active.iter().zip(b.push(Op::Unwind(new), args, types)) {
        sweep.add(*value, ct);
    }
    Ok(())
}

/// One step of the adjoint, `bwd(i, c, inv, x, a, g, r) -> (a', r', h)`; masks of (c, inv, x, y).
fn reverse_body(t: &mut Transform, op: &ForOp, masks: [&[bool]; 4]) -> Result<FuncId, Error> {
    t.build("for_vjp", &[op.body], &masks, |t| {
        let [carries, inv, xs, ys] = masks;
        let function = t.program.function(op.body);
        let b = Builder::new(format!("{}_vjp", function.name));
        let args = b.params(function.param_types());
        let (_, c, invariants, x) = op.args(&args);
        let (ends, rows) = op.results(&function.results);
        let rows: Vec<_> = pick(rows, ys).iter().map(|v| function.ty(*v).clone()).collect();
        assert_eq!(ends.len(), c.len(), "a loop's step returns its carries");
        let a = params_like(&b, c, carries);
        let g = spread(&b.params(rows), ys);
        let r = params_like(&b, invariants, inv);
        let starts = [&vec![None; 1 + c.len()], &r[..], &vec![None; x.len()]].concat();
        let varied = [&[false], carries, inv, xs].concat();
        let pulled = t.pull(&b, op.body, &args, &varied, &[a, g].concat(), &starts)?;
        let cts = pick_or_zeros(&b, &pulled.cotangents, &varied, &args);
        Ok(b.finish(cts))
    })
}
