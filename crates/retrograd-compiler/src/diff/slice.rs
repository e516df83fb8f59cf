//! Reduces functions to what some of their results demand: dead instructions, and arguments, carries, adjoints and streams that nothing reads.

use super::active::{Through, at};
use super::mask::{any, pick};
use super::transform::Transform;
use crate::ir::{Builder, ForOp, FuncId, Function, IfOp, Inst, Op, Program, UnwindArgs, UnwindOp, Value};

impl Transform {
    /// The function that computes only the marked results, and which parameters it still takes.
    pub(super) fn slice(&mut self, id: FuncId, results: &[bool]) -> (FuncId, Vec<bool>) {
        let params = self.activity.reaching_params(&self.program, Through::Values, id, results);
        (self.restrict(id, &params, results), params)
    }

    /// The function that takes only the marked parameters (which must be enough) and computes only the marked results.
    pub(super) fn restrict(&mut self, id: FuncId, params: &[bool], results: &[bool]) -> FuncId {
        let build = |transform: &mut Transform| Ok(transform.restricted(id, params, results));
        let built = self.build("slice", &[id], &[params, results], build);
        let built = built.expect("restricting a function cannot fail");
        if same(self.program.function(id), self.program.function(built)) { id } else { built }
    }

    fn restricted(&mut self, id: FuncId, params: &[bool], results: &[bool]) -> Function {
        let function = self.program.function(id).clone();
        let live = self.activity.reaching(&self.program, Through::Values, id, results);
        let b = Builder::new(function.name.clone());
        let mut map: Vec<Option<Value>> = vec![None; function.types.len()];
        for param in pick(&function.params, params) {
            map[param.0 as usize] = Some(b.param(function.ty(param).clone()));
        }
        for inst in &function.insts {
            let marks = at(&live, &inst.results);
            if any(&marks) {
                let inst = self.restrict_inst(inst, &marks);
                let args = inst.args.iter().map(|v| map[v.0 as usize].expect("a demanded value is defined")).collect();
                for (old, new) in inst.results.iter().zip(b.copy(&function, &inst, args)) {
                    map[old.0 as usize] = Some(new);
                }
            }
        }
        let ends = pick(&function.results, results).iter().map(|v| map[v.0 as usize].expect("a demanded value is defined")).collect();
        b.finish(ends)
    }

    /// The instruction with only the arguments and results that its marked results demand.
    fn restrict_inst(&mut self, inst: &Inst, results: &[bool]) -> Inst {
        let args = self.activity.reaching_args(&self.program, Through::Values, inst, results);
        let (op, results) = match &inst.op {
            Op::Row(..) => return inst.clone(),
            Op::If(op) => (Op::If(self.restrict_if(op, &args, results)), results.to_vec()),
            Op::For(op) => {
                let (_, carries, ..) = op.args(&args);
                let results = [carries, op.results(results).1].concat();
                (Op::For(self.restrict_for(op, &args, &results)), results)
            }
            Op::Unwind(op) => {
                let UnwindArgs { adjoints, running, .. } = op.args(&args);
                let results = [adjoints, running, op.results(results).2].concat();
                (Op::Unwind(self.restrict_unwind(op, &args, &results)), results)
            }
        };
        Inst { op, args: pick(&inst.args, &args), results: pick(&inst.results, &results), pos: inst.pos.clone() }
    }

    fn restrict_if(&mut self, op: &IfOp, args: &[bool], results: &[bool]) -> IfOp {
        IfOp { then_body: self.restrict(op.then_body, &args[1..], results), else_body: self.restrict(op.else_body, &args[1..], results) }
    }

    fn restrict_for(&mut self, op: &ForOp, args: &[bool], results: &[bool]) -> ForOp {
        let (_, carries, invariants, _) = op.args(args);
        ForOp {
            body: self.restrict(op.body, &with_index(&args[1..]), results),
            carries: count(carries),
            invariants: count(invariants),
            bound: op.bound,
        }
    }

    fn restrict_unwind(&mut self, op: &UnwindOp, args: &[bool], results: &[bool]) -> UnwindOp {
        let UnwindArgs { carries, invariants, streams, adjoints, emitted, running, .. } = op.args(args);
        UnwindOp {
            body: self.restrict(op.body, &with_index(&[carries, invariants, streams].concat()), carries),
            bwd: self.restrict(op.bwd, &with_index(&args[1..]), results),
            carries: count(carries),
            invariants: count(invariants),
            streams: count(streams),
            adjoints: count(adjoints),
            emitted: count(emitted),
            running: count(running),
            bound: op.bound,
        }
    }
}

/// Only what the entry reaches, bodies before their users.
pub(super) fn compact(program: &Program) -> Program {
    let mut functions = Vec::new();
    let mut places = vec![None; program.functions.len()];
    let entry = place(program, program.entry, &mut places, &mut functions);
    Program { functions, entry }
}

fn place(program: &Program, id: FuncId, places: &mut [Option<FuncId>], functions: &mut Vec<Function>) -> FuncId {
    if let Some(known) = places[usize::from(id)] {
        return known;
    }
    let mut function = program.function(id).clone();
    for inst in &mut function.insts {
        let mut to = |id: &mut FuncId| *id = place(program, *id, places, functions);
        match &mut inst.op {
            Op::Row(..) => {}
            Op::If(op) => [&mut op.then_body, &mut op.else_body].into_iter().for_each(to),
            Op::For(op) => to(&mut op.body),
            Op::Unwind(op) => [&mut op.body, &mut op.bwd].into_iter().for_each(to),
        }
    }
    functions.push(function);
    let new = FuncId(u32::try_from(functions.len() - 1).expect("fewer than 2^32 functions"));
    places[usize::from(id)] = Some(new);
    new
}

/// Every body takes the index of the step.
fn with_index(marks: &[bool]) -> Vec<bool> {
    [&[true], marks].concat()
}

fn count(marks: &[bool]) -> usize {
    marks.iter().filter(|mark| **mark).count()
}

/// Nothing was removed: then the old function stays, so that equal bodies keep one identity.
fn same(old: &Function, new: &Function) -> bool {
    let lengths = |f: &Function| (f.params.len(), f.results.len(), f.insts.len());
    let bodies = |f: &Function| f.insts.iter().map(Inst::bodies).collect::<Vec<_>>();
    lengths(old) == lengths(new) && bodies(old) == bodies(new)
}
