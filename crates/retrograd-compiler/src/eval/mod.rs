//! The reference interpreter: it defines meaning and judges every back end.
//!
//! An unwind keeps all states of its loop here; where they come from in machine code is the planner's business.

use crate::ir::{
    Array, Element, Error, ErrorKind, ForOp, FuncId, Function, Inst, Op, Program, Type, UnwindArgs, UnwindOp, WhileOp, each_element,
};

/// Runs the entry of a verified Program.
pub fn run(program: &Program, inputs: &[Array]) -> Result<Vec<Array>, Error> {
    let types = program.main().param_types();
    let found: Vec<Type> = inputs.iter().map(Array::ty).collect();
    if types != found {
        let message = format!("expected inputs {}, found {}", list(&types), list(&found));
        return Err(Error::new(ErrorKind::Argument, crate::ir::Pos::unknown(), message));
    }
    call(program, program.entry, inputs.to_vec())
}

fn list(types: &[Type]) -> String {
    types.iter().map(Type::to_string).collect::<Vec<_>>().join(", ")
}

/// Runs one function.
pub fn call(program: &Program, id: FuncId, args: Vec<Array>) -> Result<Vec<Array>, Error> {
    let function = program.function(id);
    let mut values: Vec<Option<Array>> = vec![None; function.types.len()];
    for (param, arg) in function.params.iter().zip(args) {
        values[param.0 as usize] = Some(arg);
    }
    for inst in &function.insts {
        let args: Vec<&Array> = inst.args.iter().map(|v| values[v.0 as usize].as_ref().expect("SSA: defined before use")).collect();
        let results = step(program, function, inst, &args)?;
        for (value, result) in inst.results.iter().zip(results) {
            values[value.0 as usize] = Some(result);
        }
    }
    Ok(function.results.iter().map(|v| values[v.0 as usize].clone().expect("SSA: results are defined")).collect())
}

fn step(program: &Program, function: &Function, inst: &Inst, args: &[&Array]) -> Result<Vec<Array>, Error> {
    match &inst.op {
        Op::Row(row, attrs) => {
            let result = (row.eval)(row, args, attrs, function.ty(inst.results[0]));
            result.map(|array| vec![array]).map_err(|kind| Error::new(kind, inst.pos.clone(), format!("in `{}`", row.name)))
        }
        Op::If(op) => {
            let body = if args[0].as_bool()[0] { op.then_body } else { op.else_body };
            call(program, body, owned(&args[1..]))
        }
        Op::For(op) => run_for(program, function, inst, op, args),
        Op::While(op) => run_while(program, op, args),
        Op::Unwind(op) => run_unwind(program, function, inst, op, args),
        Op::Call(op) => call(program, op.body, owned(args)),
    }
}

fn owned(args: &[&Array]) -> Vec<Array> {
    args.iter().map(|array| (*array).clone()).collect()
}

/// The number of trips: not negative, and within the bound of the streams.
fn trips(inst: &Inst, count: &Array, bound: usize, has_streams: bool) -> Result<usize, Error> {
    let n = usize::try_from(count.as_i64()[0]).unwrap_or(0);
    if has_streams && n > bound {
        return Err(Error::new(ErrorKind::Bounds, inst.pos.clone(), format!("a loop of {n} steps over streams of {bound} rows")));
    }
    Ok(n)
}

fn run_for(program: &Program, function: &Function, inst: &Inst, op: &ForOp, args: &[&Array]) -> Result<Vec<Array>, Error> {
    let (count, c0, inv, xs) = op.args(args);
    let (_, ys) = op.results(&inst.results);
    let n = trips(inst, count, op.bound, !xs.is_empty() || !ys.is_empty())?;
    let mut carries = owned(c0);
    let mut emitted: Vec<Array> = ys.iter().map(|v| Array::zeros(function.ty(*v))).collect();
    for i in 0..n {
        let mut args = vec![Array::int(i as i64)];
        args.append(&mut carries);
        args.extend(owned(inv));
        args.extend(xs.iter().map(|x| row(x, i)));
        let mut results = call(program, op.body, args)?;
        for (stream, y) in emitted.iter_mut().zip(results.split_off(op.carries)) {
            set_row(stream, i, &y);
        }
        carries = results;
    }
    carries.append(&mut emitted);
    Ok(carries)
}

fn run_while(program: &Program, op: &WhileOp, args: &[&Array]) -> Result<Vec<Array>, Error> {
    let (c0, inv) = op.args(args);
    let (mut carries, mut trips) = (owned(c0), 0);
    loop {
        let params = [carries.clone(), owned(inv)].concat();
        if !call(program, op.cond, params.clone())?[0].as_bool()[0] {
            carries.push(Array::int(trips));
            return Ok(carries);
        }
        carries = call(program, op.body, params)?;
        trips += 1;
    }
}

fn run_unwind(program: &Program, function: &Function, inst: &Inst, op: &UnwindOp, args: &[&Array]) -> Result<Vec<Array>, Error> {
    let UnwindArgs { count, carries: c0, invariants, streams, adjoints, emitted, running } = op.args(args);
    let (_, _, hs) = op.results(&inst.results);
    let n = trips(inst, count, op.bound, !(streams.is_empty() && emitted.is_empty() && hs.is_empty()))?;
    let inputs = |i: usize, state: &[Array]| {
        let mut args = vec![Array::int(i as i64)];
        args.extend(state.iter().cloned());
        args.extend(owned(invariants));
        args.extend(streams.iter().map(|x| row(x, i)));
        args
    };
    let mut states = vec![owned(c0)];
    for i in 0..n.saturating_sub(1) {
        states.push(call(program, op.body, inputs(i, &states[i]))?);
    }
    let (mut a, mut r) = (owned(adjoints), owned(running));
    let mut h: Vec<Array> = hs.iter().map(|v| Array::zeros(function.ty(*v))).collect();
    for i in (0..n).rev() {
        let mut args = inputs(i, &states[i]);
        args.append(&mut a);
        args.extend(emitted.iter().map(|g| row(g, i)));
        args.append(&mut r);
        let mut results = call(program, op.bwd, args)?;
        for (stream, row) in h.iter_mut().zip(results.split_off(op.adjoints + op.running)) {
            set_row(stream, i, &row);
        }
        r = results.split_off(op.adjoints);
        a = results;
    }
    Ok([a, r, h].concat())
}

/// Row i of a stream.
fn row(stream: &Array, i: usize) -> Array {
    let ty = stream.ty().row().expect("verified types: streams have a leading axis");
    let range = i * ty.elements()..(i + 1) * ty.elements();
    let data = each_element!(ty.dtype, T => T::data(T::of(stream)[range].to_vec()));
    Array::new(ty.shape, data)
}

fn set_row(stream: &mut Array, i: usize, row: &Array) {
    let start = i * row.len();
    each_element!(row.dtype(), T => T::of_mut(stream)[start..start + row.len()].copy_from_slice(T::of(row)));
}
