//! An unwind whose bwd is not linear in its cotangents (a custom rule clips them, say), differentiated in reverse mode
//! again: as two loops, one that stores its states and one that walks back over them.

use crate::diff::transform::Transform;
use crate::diff::vjp::Sweep;
use crate::ir::{
    Attrs, Builder, DType, Error, ErrorKind, ForOp, FuncId, Function, Inst, Op, Type, UnwindArgs, UnwindOp, Value,
};
use crate::ops;

/// The reverse sweep over the expansion, with respect to the cotangents. Stored states need a length known before the
/// run.
pub(super) fn reverse(
    t: &mut Transform,
    sweep: &mut Sweep<'_>,
    function: &Function,
    inst: &Inst,
    op: &UnwindOp,
) -> Result<(), Error> {
    let (args, varied) = (sweep.values(&inst.args), sweep.varied(&inst.args));
    let Some(bound) = known_count(&function.insts, inst.args[0]).or((op.bound > 0).then_some(op.bound)) else {
        return Err(refused(
            inst,
            "its states are stored, and for that its number of steps must be known before the run",
        ));
    };
    let expansion = expand(t, inst, op, bound)?;
    let cts = sweep.demanded(&inst.results);
    let pulled = t.pull(sweep.b, expansion, &args, &varied, &cts, &vec![None; args.len()])?;
    for ((value, ct), demand) in inst.args.iter().zip(pulled.cotangents).zip(pulled.demands) {
        if let Some(ct) = ct {
            sweep.add_where(*value, ct, demand);
        }
    }
    Ok(())
}

/// What is not done for a loop with such a rule.
pub(super) fn refused(inst: &Inst, why: &str) -> Error {
    let message = format!(
        "the backward step of this loop has a custom_vjp that is not linear in its cotangents (it clips, say); to \
         differentiate it in reverse mode again, {why}"
    );
    Error::new(ErrorKind::Unsupported, inst.pos.clone(), message)
}

/// The literal that a count is.
pub(in crate::diff) fn known_count(insts: &[Inst], count: Value) -> Option<usize> {
    let inst = insts.iter().find(|inst| inst.results.contains(&count))?;
    match &inst.op {
        Op::Def(def, attrs) if *def == &ops::CONSTANT => {
            Some(usize::try_from(attrs.array("value").as_i64()[0]).unwrap_or(0))
        }
        Op::Def(..) | Op::If(_) | Op::For(_) | Op::While(_) | Op::Unwind(_) | Op::Call(_) => None,
    }
}

/// `(n, c0, inv, xs, a, g, r0) -> (a', r', h)` as `for` over the body, which emits its states, and `for` over bwd,
/// which reads them from the last on.
fn expand(t: &mut Transform, inst: &Inst, op: &UnwindOp, bound: usize) -> Result<FuncId, Error> {
    let (storing, walking) = (storing_body(t, op)?, walking_body(t, op, bound)?);
    let bwd = t.program.function(op.bwd);
    let b = Builder::new(format!("{}_expanded", bwd.name));
    b.set_pos(&inst.pos);
    let streamed = |ty: &Type| ty.stream(op.bound);
    let types = bwd.param_types();
    let types: Vec<&Type> = types.iter().collect();
    let UnwindArgs { carries, invariants, streams, adjoints, emitted, running, .. } = op.args(&types);
    let params = |types: &[&Type]| b.params(types.iter().map(|ty| (*ty).clone()));
    let n = b.param(Type::scalar(DType::I64));
    let (c, inv, xs, a) =
        (params(carries), params(invariants), b.params(streams.iter().map(|ty| streamed(ty))), params(adjoints));
    let (g, r) = (b.params(emitted.iter().map(|ty| streamed(ty))), params(running));
    let rows = bwd.result_types()[op.adjoints + op.running..].to_vec();

    // Streams are invariants of both loops here, read by index: their extent may be more than the states need.
    let forward = ForOp { body: storing, carries: op.carries, invariants: inv.len() + xs.len(), bound };
    let stored = carries.iter().map(|ty| (*ty).clone()).chain(carries.iter().map(|ty| ty.stream(bound))).collect();
    let states = b.push(Op::For(forward), [&[n], &c[..], &inv, &xs].concat(), stored).split_off(op.carries);
    let h: Vec<Value> = rows.iter().map(|ty| b.zeros(&streamed(ty))).collect();
    let start = [a, r, h].concat();
    let ends = b.types(&start);
    let fixed = [&[n], &states[..], &inv, &xs, &g].concat();
    let backward = ForOp { body: walking, carries: start.len(), invariants: fixed.len(), bound: 0 };
    let results = b.push(Op::For(backward), [&[n], &start[..], &fixed].concat(), ends);
    Ok(t.program.add(b.finish(results)))
}

/// `(i, c, inv, xs) -> (body(i, c, inv, xs[i]), c)`.
fn storing_body(t: &mut Transform, op: &UnwindOp) -> Result<FuncId, Error> {
    t.build("unwind_storing", &[op.body], &[&vec![false; op.bound]], |t| {
        let body = t.program.function(op.body);
        let b = Builder::new(format!("{}_storing", body.name));
        let types = body.param_types();
        let (rest, streams) = types.split_at(types.len() - op.streams);
        let args = b.params(rest.to_vec());
        let xs = b.params(streams.iter().map(|ty| ty.stream(op.bound)));
        let rows = xs.iter().map(|x| read_row(&b, *x, args[0])).collect::<Vec<_>>();
        let next = b.inline(body, &[&args[..], &rows].concat());
        Ok(b.finish([&next[..], &args[1..=op.carries]].concat()))
    })
}

/// `(k, (a, r, h), n, states, inv, xs, g) -> (a', r', h')` with step i = n − 1 − k.
fn walking_body(t: &mut Transform, op: &UnwindOp, bound: usize) -> Result<FuncId, Error> {
    t.build("unwind_walking", &[op.bwd], &[&vec![false; op.bound], &vec![false; bound]], |t| {
        let bwd = t.program.function(op.bwd);
        let b = Builder::new(format!("{}_walking", bwd.name));
        let types = bwd.param_types();
        let types: Vec<&Type> = types.iter().collect();
        let UnwindArgs { carries, invariants, streams, adjoints, emitted, running, .. } = op.args(&types);
        let params = |types: &[&Type]| b.params(types.iter().map(|ty| (*ty).clone()));
        let streamed = |types: &[&Type], extent: usize| b.params(types.iter().map(|ty| ty.stream(extent)));
        let k = b.param(Type::scalar(DType::I64));
        let (a, r) = (params(adjoints), params(running));
        let rows = &bwd.result_types()[op.adjoints + op.running..];
        let h = b.params(rows.iter().map(|ty| ty.stream(op.bound)));
        let n = b.param(Type::scalar(DType::I64));
        let states = streamed(carries, bound);
        let (inv, xs, g) = (params(invariants), streamed(streams, op.bound), streamed(emitted, op.bound));
        let one = b.int(1);
        let subtract = |x: Value, y: Value| b.op(&ops::SUB, Attrs::none(), &[x, y]);
        let i = subtract(subtract(n, one), k);
        let read = |streams: &[Value]| streams.iter().map(|stream| read_row(&b, *stream, i)).collect::<Vec<_>>();
        let args = [vec![i], read(&states), inv, read(&xs), a, read(&g), r].concat();
        let results = b.inline(bwd, &args);
        let (a, r, rows) = op.results(&results);
        let h: Vec<Value> = h.iter().zip(rows).map(|(h, row)| write_row(&b, *h, *row, i)).collect();
        Ok(b.finish([a, r, &h].concat()))
    })
}

/// Row i of a stream.
fn read_row(b: &Builder, stream: Value, i: Value) -> Value {
    let row = b.ty(stream).row().expect("streams have a leading axis");
    let sizes = row.stream(1).shape;
    let attrs = Attrs::none().ints("sizes", sizes.clone()).ints("step", vec![1; sizes.len()]);
    let window = b.op(&ops::DYNAMIC_SLICE, attrs, &at_row(b, &[stream], i, sizes.len()));
    b.op(&ops::RESHAPE, Attrs::none().ints("shape", row.shape), &[window])
}

/// A stream with another row i.
fn write_row(b: &Builder, stream: Value, row: Value, i: Value) -> Value {
    let shape = b.ty(row).stream(1).shape;
    let rank = shape.len();
    let window = b.op(&ops::RESHAPE, Attrs::none().ints("shape", shape), &[row]);
    b.op(&ops::UPDATE, Attrs::none().ints("step", vec![1; rank]), &at_row(b, &[stream, window], i, rank))
}

/// Operands, and where the window of row i starts.
fn at_row(b: &Builder, operands: &[Value], i: Value, rank: usize) -> Vec<Value> {
    let zeros = (1..rank).map(|_| b.int(0)).collect::<Vec<_>>();
    [operands, &[i], &zeros].concat()
}
