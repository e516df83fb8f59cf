//! Which values matter: those that change with a parameter asked for, and those that reach a result asked for.
//!
//! *Varied* goes forwards, *reaching* goes backwards, both by fixpoint through loop carries and into bodies. A value is
//! active where it is varied and its derivative reaches a result; nothing else is differentiated. The same backward
//! walk through values instead of derivatives finds what is dead.

use std::collections::BTreeMap;

use super::mask::{any, grow, or, pick, spread};
use crate::ir::{
    CallOp, CustomRule, ForOp, FuncId, Function, IfOp, Inst, Op, OpDef, Program, Rule, UnwindArgs, UnwindOp, Value,
    WhileOp,
};

/// What a backward walk follows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Through {
    /// Every argument that a result is computed from.
    Values,
    /// Float arguments that a result has a derivative with respect to.
    Derivatives,
}

/// Both analyses, remembered per function and mask. Functions never change once they are part of a Program.
#[derive(Debug, Default)]
pub(super) struct Activity {
    varied: BTreeMap<(FuncId, Vec<bool>), Vec<bool>>,
    reaching: BTreeMap<(Through, FuncId, Vec<bool>), Vec<bool>>,
}

impl Activity {
    /// Values of a function that change with its marked parameters.
    pub(super) fn varied(&mut self, program: &Program, id: FuncId, params: &[bool]) -> Vec<bool> {
        if let Some(known) = self.varied.get(&(id, params.to_vec())) {
            return known.clone();
        }
        let function = program.function(id);
        let mut marks = vec![false; function.types.len()];
        set(&mut marks, function, &function.params, params, Through::Derivatives);
        for inst in &function.insts {
            let results = self.varied_results(program, inst, &at(&marks, &inst.args));
            set(&mut marks, function, &inst.results, &results, Through::Derivatives);
        }
        self.varied.insert((id, params.to_vec()), marks.clone());
        marks
    }

    /// Results of an instruction that change with its marked arguments. For a loop these are also the marks of its
    /// carries in every step.
    pub(super) fn varied_results(&mut self, program: &Program, inst: &Inst, args: &[bool]) -> Vec<bool> {
        match &inst.op {
            Op::Def(def, _) => vec![derivatives(def, args.len()).iter().zip(args).any(|(rule, arg)| *rule && *arg)],
            Op::If(IfOp { then_body, else_body }) => or(
                &self.varied_ends(program, *then_body, &args[1..]),
                &self.varied_ends(program, *else_body, &args[1..]),
            ),
            Op::For(op) => self.varied_for(program, op, args),
            Op::While(op) => self.varied_while(program, op, args),
            Op::Unwind(op) => self.varied_unwind(program, op, args),
            Op::Call(op) => self.varied_call(program, op, args),
        }
    }

    /// A custom vjp says nothing of which result depends on which argument, so all do on all.
    fn varied_call(&mut self, program: &Program, op: &CallOp, args: &[bool]) -> Vec<bool> {
        match &op.rule {
            None => self.varied_ends(program, op.body, args),
            Some(CustomRule::Vjp { .. }) => vec![any(args); program.function(op.body).results.len()],
            Some(CustomRule::Jvp { tangent }) => {
                let body = program.function(op.body);
                let given = pick(args, &floats(body, &body.params));
                let tangents = self.varied_ends(program, *tangent, &[vec![false; args.len()], given].concat());
                scatter(&tangents, &floats(body, &body.results))
            }
        }
    }

    fn varied_ends(&mut self, program: &Program, id: FuncId, params: &[bool]) -> Vec<bool> {
        at(&self.varied(program, id, params), &program.function(id).results)
    }

    fn varied_for(&mut self, program: &Program, op: &ForOp, args: &[bool]) -> Vec<bool> {
        let (_, c0, inv, xs) = op.args(args);
        let mut carries = c0.to_vec();
        loop {
            let results = self.varied_ends(program, op.body, &[&[false], &carries[..], inv, xs].concat());
            let (next, ys) = op.results(&results);
            if !grow(&mut carries, next) {
                return [&carries, ys].concat();
            }
        }
    }

    fn varied_while(&mut self, program: &Program, op: &WhileOp, args: &[bool]) -> Vec<bool> {
        let (c0, inv) = op.args(args);
        let mut carries = c0.to_vec();
        loop {
            let next = self.varied_ends(program, op.body, &[&carries[..], inv].concat());
            if !grow(&mut carries, &next) {
                return [&carries[..], &[false]].concat();
            }
        }
    }

    /// Carries of the trajectory of an unwind that change with its marked arguments.
    pub(super) fn varied_carries(&mut self, program: &Program, op: &UnwindOp, args: &[bool]) -> Vec<bool> {
        self.varied_for(program, &op.trajectory(), &args[..1 + op.carries + op.invariants + op.streams])
    }

    fn varied_unwind(&mut self, program: &Program, op: &UnwindOp, args: &[bool]) -> Vec<bool> {
        let carries = self.varied_carries(program, op, args);
        let UnwindArgs { invariants, streams, adjoints, emitted, running, .. } = op.args(args);
        let (mut a, mut r) = (adjoints.to_vec(), running.to_vec());
        loop {
            let results = self.varied_ends(
                program,
                op.bwd,
                &[&[false], &carries[..], invariants, streams, &a, emitted, &r].concat(),
            );
            let (next_a, next_r, h) = op.results(&results);
            if !(grow(&mut a, next_a) | grow(&mut r, next_r)) {
                return [&a, &r, h].concat();
            }
        }
    }

    /// Values of a function that reach its marked results.
    pub(super) fn reaching(&mut self, program: &Program, through: Through, id: FuncId, results: &[bool]) -> Vec<bool> {
        let key = (through, id, results.to_vec());
        if let Some(known) = self.reaching.get(&key) {
            return known.clone();
        }
        let function = program.function(id);
        let mut marks = vec![false; function.types.len()];
        set(&mut marks, function, &function.results, results, through);
        for inst in function.insts.iter().rev() {
            let results = at(&marks, &inst.results);
            if any(&results) {
                let args = self.reaching_args(program, through, inst, &results);
                set(&mut marks, function, &inst.args, &args, through);
            }
        }
        self.reaching.insert(key, marks.clone());
        marks
    }

    /// Arguments of an instruction that reach its marked results, of which there is one at least. For a loop these are
    /// also the marks of its carries in every step.
    pub(super) fn reaching_args(
        &mut self,
        program: &Program,
        through: Through,
        inst: &Inst,
        results: &[bool],
    ) -> Vec<bool> {
        let controls = through == Through::Values;
        match &inst.op {
            Op::Def(def, _) => match through {
                Through::Values => vec![true; inst.args.len()],
                Through::Derivatives => derivatives(def, inst.args.len()),
            },
            Op::If(IfOp { then_body, else_body }) => {
                let then_args = self.reaching_params(program, through, *then_body, results);
                let else_args = self.reaching_params(program, through, *else_body, results);
                [vec![controls], or(&then_args, &else_args)].concat()
            }
            Op::For(op) => self.reaching_for(program, through, op, results),
            Op::While(op) => self.reaching_while(program, through, op, results),
            Op::Unwind(op) => self.reaching_unwind(program, through, op, results),
            Op::Call(op) => self.reaching_call(program, through, op, results),
        }
    }

    fn reaching_call(&mut self, program: &Program, through: Through, op: &CallOp, results: &[bool]) -> Vec<bool> {
        match (through, &op.rule) {
            (Through::Values, _) | (_, None) => self.reaching_params(program, through, op.body, results),
            (Through::Derivatives, Some(CustomRule::Vjp { .. })) => vec![true; program.function(op.body).params.len()],
            (Through::Derivatives, Some(CustomRule::Jvp { tangent })) => {
                let body = program.function(op.body);
                let wanted = pick(results, &floats(body, &body.results));
                let params = self.reaching_params(program, through, *tangent, &wanted);
                scatter(&params[body.params.len()..], &floats(body, &body.params))
            }
        }
    }

    /// Parameters of a function that reach its marked results.
    pub(super) fn reaching_params(
        &mut self,
        program: &Program,
        through: Through,
        id: FuncId,
        results: &[bool],
    ) -> Vec<bool> {
        at(&self.reaching(program, through, id, results), &program.function(id).params)
    }

    fn reaching_for(&mut self, program: &Program, through: Through, op: &ForOp, results: &[bool]) -> Vec<bool> {
        let (ends, ys) = op.results(results);
        let mut carries = ends.to_vec();
        loop {
            let params = self.reaching_params(program, through, op.body, &[&carries, ys].concat());
            let (_, c, inv, xs) = op.args(&params);
            if !grow(&mut carries, c) {
                return [&[through == Through::Values], &carries[..], inv, xs].concat();
            }
        }
    }

    /// The condition decides how often the body runs, but has no derivative.
    fn reaching_while(&mut self, program: &Program, through: Through, op: &WhileOp, results: &[bool]) -> Vec<bool> {
        let controls = through == Through::Values;
        let mut args = self.reaching_params(program, through, op.cond, &[controls]);
        let mut carries = or(op.results(results).0, op.args(&args).0);
        loop {
            args = or(&args, &self.reaching_params(program, through, op.body, &carries));
            if !grow(&mut carries, op.args(&args).0) {
                return [&carries[..], op.args(&args).1].concat();
            }
        }
    }

    fn reaching_unwind(&mut self, program: &Program, through: Through, op: &UnwindOp, results: &[bool]) -> Vec<bool> {
        let (a, r, h) = op.results(results);
        let (mut a, mut r) = (a.to_vec(), r.to_vec());
        let params = loop {
            let params = self.reaching_params(program, through, op.bwd, &[&a, &r, h].concat());
            let UnwindArgs { adjoints, running, .. } = op.args(&params);
            if !(grow(&mut a, adjoints) | grow(&mut r, running)) {
                break params;
            }
        };
        let UnwindArgs { carries, invariants, streams, emitted, .. } = op.args(&params);
        // What bwd reads of a state, body must have computed.
        let states = self.reaching_for(program, through, &op.trajectory(), carries);
        let direct = [&[false], &vec![false; op.carries][..], invariants, streams].concat();
        [&or(&states, &direct)[..], &a, emitted, &r].concat()
    }
}

/// The marks of some values.
pub(super) fn at(marks: &[bool], values: &[Value]) -> Vec<bool> {
    values.iter().map(|v| marks[v.0 as usize]).collect()
}

/// Which of some values are floats.
pub(super) fn floats(function: &Function, values: &[Value]) -> Vec<bool> {
    values.iter().map(|v| function.ty(*v).dtype.is_float()).collect()
}

/// The marks of chosen places; no mark elsewhere.
fn scatter(marks: &[bool], chosen: &[bool]) -> Vec<bool> {
    spread(marks, chosen).into_iter().map(|mark| mark == Some(true)).collect()
}

/// Marks values; only floats have derivatives.
fn set(marks: &mut [bool], function: &Function, values: &[Value], which: &[bool], through: Through) {
    assert_eq!(values.len(), which.len(), "a mask has one mark per value");
    for (value, mark) in values.iter().zip(which) {
        let can = through == Through::Values || function.ty(*value).dtype.is_float();
        marks[value.0 as usize] |= *mark && can;
    }
}

/// Arguments that a row has a derivative with respect to. Where no rule is known, all: the walk that meets it reports
/// it.
fn derivatives(def: &OpDef, count: usize) -> Vec<bool> {
    match def.rule {
        Rule::Zero => vec![false; count],
        Rule::Partials(partials) => {
            partials.iter().map(|partial| !matches!(partial, crate::ir::Partial::Zero)).collect()
        }
        Rule::Linear(transposes) => (0..count).map(|k| transposes.get(k).is_some_and(Option::is_some)).collect(),
        Rule::LinearInEach(_) | Rule::Bilinear(_) | Rule::Tangent { .. } | Rule::Missing => vec![true; count],
    }
}
