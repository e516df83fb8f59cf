//! What functions of the host gave, kept for the adjoint.
//!
//! A step that an adjoint runs again must not call the host again. So whatever has such a call inside stands twice:
//! first as it is, giving out what the calls gave (a loop as a stream, a branch beside zeros for the other), then
//! reading that instead of calling. The second is what is differentiated, and what its steps are run again of; the
//! first runs once. What is given out is an array like any other, which the plan counts and keeps.

use super::control::known_count;
use super::transform::Transform;
use crate::ir::{Attrs, Builder, Error, ErrorKind, ForOp, FuncId, Function, IfOp, Inst, Op, Program, Type, Value};
use crate::ops::{RECORDED, STILL};

/// The Program with control flow that calls the host twice: recording, and reading what was recorded. Calls outside of
/// control flow stay.
pub(super) fn recorded(program: Program) -> Result<Program, Error> {
    let main = program.main().clone();
    let mut records = Records { hosts: program.hosts(), transform: Transform::new(&program) };
    if !main.insts.iter().any(|inst| !matches!(inst.op, Op::Def(..)) && records.calls(inst)) {
        return Ok(program);
    }
    let b = Builder::new(main.name.clone());
    let mut map = b.map(&main, &b.params(main.param_types()));
    for inst in &main.insts {
        let args = values(&map, &inst.args);
        let results = match records.calls(inst) && !matches!(inst.op, Op::Def(..)) {
            false => b.copy(&main, inst, args),
            true => {
                let given = records.record(&b, &main, inst, args.clone())?.1;
                let given: Vec<Value> = given.into_iter().map(|value| still(&b, value)).collect();
                records.read(&b, &main, inst, args, &mut given.into_iter())?
            }
        };
        bind(&mut map, inst, &results);
    }
    let results = values(&map, &main.results);
    Ok(records.transform.finish(b.finish(results)))
}

struct Records {
    /// Which functions call the host.
    hosts: Vec<bool>,
    transform: Transform,
}

/// Values of a function by the number that they had.
type Map = Vec<Option<Value>>;

impl Records {
    /// Whether an instruction calls the host, or has a body that does.
    fn calls(&self, inst: &Inst) -> bool {
        match &inst.op {
            Op::Def(def, _) => def.lowering.is_host() && def.lowering.has_effect(),
            // The functions of a rule run elsewhere.
            Op::Call(op) => self.body_calls(op.body),
            Op::If(_) | Op::For(_) | Op::While(_) | Op::Unwind(_) => {
                inst.bodies().into_iter().any(|body| self.body_calls(body))
            }
        }
    }

    fn body_calls(&self, body: FuncId) -> bool {
        self.hosts.get(usize::from(body)).is_some_and(|calls| *calls)
    }

    /// An instruction as it is: its results, and what the host gave.
    fn record(
        &mut self,
        b: &Builder,
        function: &Function,
        inst: &Inst,
        args: Vec<Value>,
    ) -> Result<(Vec<Value>, Vec<Value>), Error> {
        b.set_pos(&inst.pos);
        let (op, types) = match &inst.op {
            Op::Def(..) => {
                let results = b.copy(function, inst, args);
                return Ok((results.clone(), results));
            }
            Op::If(op) => {
                let [first, second] = [self.given(op.then_body)?, self.given(op.else_body)?];
                let then_body = self.recording(op.then_body, &[], &second)?;
                let else_body = self.recording(op.else_body, &first, &[])?;
                (Op::If(IfOp { then_body, else_body }), self.transform.program.function(then_body).result_types())
            }
            Op::For(op) => {
                let op =
                    ForOp { body: self.recording(op.body, &[], &[])?, bound: bound(function, inst, op)?, ..op.clone() };
                let types = self.transform.program.function(op.body).result_types();
                let (ends, rows) = op.results(&types);
                let types = ends.iter().cloned().chain(rows.iter().map(|row| row.stream(op.bound))).collect();
                (Op::For(op), types)
            }
            Op::While(_) | Op::Unwind(_) | Op::Call(_) => return Err(refused(inst)),
        };
        let mut results = b.push(op, args, types);
        let given = results.split_off(inst.results.len());
        Ok((results, given))
    }

    /// The instruction without calls of the host and without effects: what they gave is `given`, from the first on.
    fn read(
        &mut self,
        b: &Builder,
        function: &Function,
        inst: &Inst,
        args: Vec<Value>,
        given: &mut impl Iterator<Item = Value>,
    ) -> Result<Vec<Value>, Error> {
        b.set_pos(&inst.pos);
        let mut given_to = |types: &[Type]| given.by_ref().take(types.len()).collect::<Vec<Value>>();
        let types = || inst.results.iter().map(|v| function.ty(*v).clone()).collect();
        match &inst.op {
            Op::Def(..) if self.calls(inst) => {
                let given = given_to(&[function.ty(inst.results[0]).clone()]);
                Ok(vec![b.op(&RECORDED, Attrs::none(), &[args, given].concat())])
            }
            Op::If(op) if self.calls(inst) => {
                let [first, second] = [self.given(op.then_body)?, self.given(op.else_body)?];
                let given = given_to(&[&first[..], &second].concat());
                let then_body = self.reading(op.then_body, &[], &first, &second)?;
                let else_body = self.reading(op.else_body, &first, &second, &[])?;
                Ok(b.push(Op::If(IfOp { then_body, else_body }), [args, given].concat(), types()))
            }
            Op::For(op) if self.calls(inst) => {
                let rows = self.given(op.body)?;
                let op = ForOp {
                    body: self.reading(op.body, &[], &rows, &[])?,
                    bound: bound(function, inst, op)?,
                    ..op.clone()
                };
                Ok(b.push(Op::For(op), [args, given_to(&rows)].concat(), types()))
            }
            Op::Def(..) | Op::If(_) | Op::For(_) | Op::While(_) | Op::Unwind(_) | Op::Call(_) => {
                let mut silent = inst.clone();
                self.transform.silence(&mut silent);
                let args = if silent.args.is_empty() { vec![] } else { args };
                Ok(b.copy(function, &silent, args))
            }
        }
    }

    /// What a body gives out, in the order of its calls.
    fn given(&self, body: FuncId) -> Result<Vec<Type>, Error> {
        let function = self.transform.program.function(body);
        let mut types = vec![];
        for inst in function.insts.iter().filter(|inst| self.calls(inst)) {
            match &inst.op {
                Op::Def(..) => types.push(function.ty(inst.results[0]).clone()),
                Op::If(op) => types.extend([self.given(op.then_body)?, self.given(op.else_body)?].concat()),
                Op::For(op) => {
                    let extent = bound(function, inst, op)?;
                    types.extend(self.given(op.body)?.iter().map(|row| row.stream(extent)));
                }
                Op::While(_) | Op::Unwind(_) | Op::Call(_) => return Err(refused(inst)),
            }
        }
        Ok(types)
    }

    /// A body that also returns what it gives out, between zeros for what another branch does.
    fn recording(&mut self, body: FuncId, before: &[Type], after: &[Type]) -> Result<FuncId, Error> {
        let function = self.transform.program.function(body).clone();
        let b = Builder::new(format!("{}_recording", function.name));
        let mut map = b.map(&function, &b.params(function.param_types()));
        let mut given: Vec<Value> = before.iter().map(|ty| b.zeros(ty)).collect();
        for inst in &function.insts {
            let args = values(&map, &inst.args);
            let results = if self.calls(inst) {
                let (results, more) = self.record(&b, &function, inst, args)?;
                given.extend(more);
                results
            } else {
                b.copy(&function, inst, args)
            };
            bind(&mut map, inst, &results);
        }
        given.extend(after.iter().map(|ty| b.zeros(ty)));
        let results = [values(&map, &function.results), given].concat();
        Ok(self.transform.program.add(b.finish(results)))
    }

    /// A body that takes, after its parameters, what was given out: its own between that of other branches.
    fn reading(&mut self, body: FuncId, before: &[Type], own: &[Type], after: &[Type]) -> Result<FuncId, Error> {
        let function = self.transform.program.function(body).clone();
        let b = Builder::new(format!("{}_reading", function.name));
        let mut map = b.map(&function, &b.params(function.param_types()));
        b.params(before.to_vec());
        let given = b.params(own.to_vec());
        b.params(after.to_vec());
        let mut given = given.into_iter();
        for inst in &function.insts {
            let results = self.read(&b, &function, inst, values(&map, &inst.args), &mut given)?;
            bind(&mut map, inst, &results);
        }
        let results = values(&map, &function.results);
        Ok(self.transform.program.add(b.finish(results)))
    }
}

fn values(map: &Map, of: &[Value]) -> Vec<Value> {
    of.iter().map(|v| map[v.0 as usize].expect("SSA: defined before use")).collect()
}

fn bind(map: &mut Map, inst: &Inst, results: &[Value]) {
    inst.results.iter().zip(results).for_each(|(old, new)| map[old.0 as usize] = Some(*new));
}

fn still(b: &Builder, value: Value) -> Value {
    b.op(&STILL, Attrs::none().ints("shape", b.ty(value).shape), &[value])
}

/// The extent of the streams of a loop: its own, or its count.
fn bound(function: &Function, inst: &Inst, op: &ForOp) -> Result<usize, Error> {
    let own = (op.bound > 0).then_some(op.bound);
    own.or_else(|| known_count(&function.insts, inst.args[0])).ok_or_else(|| refused(inst))
}

/// How many times the host is called is not known before the run, or the calls belong to a rule.
fn refused(inst: &Inst) -> Error {
    let message = "a gradient keeps what an external function gives in every step, and here the number of its calls \
                   is not known before the run; call it in a loop of a fixed number of steps, or let it be called \
                   again: pure=True";
    Error::new(ErrorKind::Unsupported, inst.pos.clone(), message)
}
