//! The reference interpreter: it defines meaning and judges every back end.
//!
//! An unwind keeps all states of its loop here; where they come from in machine code is the planner's business.

mod finite;
mod observe;

use crate::ir::{
    Array, Element, Error, ErrorKind, ForOp, FuncId, Function, Inst, Lowering, Op, Program, Type, UnwindArgs, UnwindOp,
    WhileOp, each_element,
};

pub use finite::FirstNotFinite;
pub use observe::{Event, Observer, Probes, Sighting, Step};

/// Runs the entry of a verified Program.
pub fn run(program: &Program, inputs: &[Array]) -> Result<Vec<Array>, Error> {
    run_observed(program, inputs, &mut ())
}

/// Runs it while an observer looks on.
pub fn run_observed<O: Observer>(program: &Program, inputs: &[Array], observer: &mut O) -> Result<Vec<Array>, Error> {
    let types = program.main().param_types();
    let found: Vec<Type> = inputs.iter().map(Array::ty).collect();
    if types != found {
        let message = format!("expected inputs {}, found {}", list(&types), list(&found));
        return Err(Error::new(ErrorKind::Argument, crate::ir::Pos::unknown(), message));
    }
    Run { program, observer, steps: vec![] }.call(program.entry, inputs.to_vec())
}

fn list(types: &[Type]) -> String {
    if types.is_empty() {
        return "none".into();
    }
    types.iter().map(Type::to_string).collect::<Vec<_>>().join(", ")
}

/// A run under way.
struct Run<'r, O> {
    program: &'r Program,
    observer: &'r mut O,
    /// The steps of the loops that are open.
    steps: Vec<Step<'r>>,
}

impl<'r, O: Observer> Run<'r, O> {
    fn call(&mut self, id: FuncId, args: Vec<Array>) -> Result<Vec<Array>, Error> {
        let function = self.program.function(id);
        let mut values: Vec<Option<Array>> = vec![None; function.types.len()];
        for (param, arg) in function.params.iter().zip(args) {
            values[param.0 as usize] = Some(arg);
        }
        for inst in &function.insts {
            let args: Vec<&Array> =
                inst.args.iter().map(|v| values[v.0 as usize].as_ref().expect("SSA: defined before use")).collect();
            let results = self.inst(function, inst, &args)?;
            self.observer.after(&Event { function, inst, args: &args, results: &results, steps: &self.steps })?;
            for (value, result) in inst.results.iter().zip(results) {
                values[value.0 as usize] = Some(result);
            }
        }
        Ok(function.results.iter().map(|v| values[v.0 as usize].clone().expect("SSA: results are defined")).collect())
    }

    fn inst(&mut self, function: &Function, inst: &'r Inst, args: &[&Array]) -> Result<Vec<Array>, Error> {
        match &inst.op {
            Op::Def(def, attrs) => {
                let ty = function.ty(inst.results[0]);
                ty.check_memory().map_err(|error| error.at(&inst.pos))?;
                let result = (def.eval)(def, args, attrs, ty);
                result.map(|array| vec![array]).map_err(|kind| {
                    let is_check = def.lowering == Lowering::Check;
                    let message =
                        if is_check { attrs.text("message").to_owned() } else { format!("in `{}`", def.name) };
                    Error::new(kind, inst.pos.clone(), message)
                })
            }
            Op::If(op) => {
                let body = if args[0].as_bool()[0] { op.then_body } else { op.else_body };
                self.call(body, owned(&args[1..]))
            }
            Op::For(op) => self.counted(function, inst, op, args),
            Op::While(op) => self.conditional(inst, op, args),
            Op::Unwind(op) => self.unwind(function, inst, op, args),
            Op::Call(op) => self.call(op.body, owned(args)),
        }
    }

    /// Runs a body as a step of a loop.
    fn step(&mut self, inst: &'r Inst, index: usize, body: FuncId, args: Vec<Array>) -> Result<Vec<Array>, Error> {
        self.steps.push(Step { inst, index });
        let results = self.call(body, args);
        self.steps.pop();
        results
    }

    fn counted(
        &mut self,
        function: &Function,
        inst: &'r Inst,
        op: &ForOp,
        args: &[&Array],
    ) -> Result<Vec<Array>, Error> {
        let (count, c0, inv, xs) = op.args(args);
        let (_, ys) = op.results(&inst.results);
        let n = trips(inst, count, op.bound, !xs.is_empty() || !ys.is_empty())?;
        let mut carries = owned(c0);
        let mut emitted =
            ys.iter().map(|v| Array::try_zeros(function.ty(*v))).collect::<Result<Vec<Array>, Error>>()?;
        for i in 0..n {
            let mut args = vec![Array::int(i as i64)];
            args.append(&mut carries);
            args.extend(owned(inv));
            args.extend(xs.iter().map(|x| row(x, i)));
            let mut results = self.step(inst, i, op.body, args)?;
            for (stream, y) in emitted.iter_mut().zip(results.split_off(op.carries)) {
                set_row(stream, i, &y);
            }
            carries = results;
        }
        carries.append(&mut emitted);
        Ok(carries)
    }

    fn conditional(&mut self, inst: &'r Inst, op: &WhileOp, args: &[&Array]) -> Result<Vec<Array>, Error> {
        let (c0, inv) = op.args(args);
        let (mut carries, mut trips) = (owned(c0), 0);
        loop {
            let params = [carries.clone(), owned(inv)].concat();
            if !self.step(inst, trips, op.cond, params.clone())?[0].as_bool()[0] {
                carries.push(Array::int(trips as i64));
                return Ok(carries);
            }
            carries = self.step(inst, trips, op.body, params)?;
            trips += 1;
        }
    }

    fn unwind(
        &mut self,
        function: &Function,
        inst: &'r Inst,
        op: &UnwindOp,
        args: &[&Array],
    ) -> Result<Vec<Array>, Error> {
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
            let next = self.step(inst, i, op.body, inputs(i, &states[i]))?;
            states.push(next);
        }
        let (mut a, mut r) = (owned(adjoints), owned(running));
        let mut h = hs.iter().map(|v| Array::try_zeros(function.ty(*v))).collect::<Result<Vec<Array>, Error>>()?;
        for i in (0..n).rev() {
            let mut args = inputs(i, &states[i]);
            args.append(&mut a);
            args.extend(emitted.iter().map(|g| row(g, i)));
            args.append(&mut r);
            let mut results = self.step(inst, i, op.bwd, args)?;
            for (stream, row) in h.iter_mut().zip(results.split_off(op.adjoints + op.running)) {
                set_row(stream, i, &row);
            }
            r = results.split_off(op.adjoints);
            a = results;
        }
        Ok([a, r, h].concat())
    }
}

fn owned(args: &[&Array]) -> Vec<Array> {
    args.iter().map(|array| (*array).clone()).collect()
}

/// The number of trips: not negative, and within the bound of the streams.
fn trips(inst: &Inst, count: &Array, bound: usize, has_streams: bool) -> Result<usize, Error> {
    let n = usize::try_from(count.as_i64()[0]).unwrap_or(0);
    if has_streams && n > bound {
        return Err(Error::new(
            ErrorKind::Bounds,
            inst.pos.clone(),
            format!("a loop of {n} steps over streams of {bound} rows"),
        ));
    }
    Ok(n)
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
