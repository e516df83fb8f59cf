//! What runs once: calls whose custom backward function is not linear in its cotangents, and whatever has one inside.
//!
//! Differentiated again, two runs of such a call would each get a part of its cotangent, and a rule that clips makes of
//! parts something else than of their sum. The reverse of an `if` computes its branches again; so the `if` gives out
//! what in its branches runs once, and its reverse reads that. Where one branch has it, the other gives zeros that
//! nothing reads.

use std::collections::BTreeMap;

use super::transform::Transform;
use crate::ir::{Builder, CallOp, CustomRule, Error, FuncId, Function, IfOp, Inst, Op, Type, Value, linear_in};

/// A function copied over some arguments.
#[derive(Debug)]
pub(super) struct Copied {
    /// The new value of each of its values.
    pub(super) values: Vec<Option<Value>>,
    /// What its branches give out, by the first result of the `if`.
    pub(super) given: BTreeMap<Value, Vec<Value>>,
}

impl Copied {
    fn of(&self, values: &[Value]) -> Vec<Value> {
        values.iter().map(|v| self.values[v.0 as usize].expect("SSA: defined before use")).collect()
    }

    fn bind(&mut self, inst: &Inst, results: &[Value]) {
        let (own, given) = results.split_at(inst.results.len());
        for (old, new) in inst.results.iter().zip(own) {
            self.values[old.0 as usize] = Some(*new);
        }
        if !given.is_empty() {
            self.given.insert(inst.results[0], given.to_vec());
        }
    }

    /// What the branches of an instruction give out.
    pub(super) fn given_with(&self, inst: &Inst) -> Vec<Value> {
        inst.results.first().and_then(|first| self.given.get(first)).cloned().unwrap_or_default()
    }
}

impl Transform {
    /// Copies all instructions of a function that runs here for the first time.
    pub(super) fn run(&mut self, b: &Builder, function: &Function, args: &[Value]) -> Result<Copied, Error> {
        let mut copied = Copied { values: b.map(function, args), given: BTreeMap::new() };
        for inst in &function.insts {
            self.run_inst(b, function, inst, &mut copied)?;
        }
        Ok(copied)
    }

    /// Copies the instructions of a branch that has run before, but for what runs once: that was given out then.
    pub(super) fn run_again(
        &mut self,
        b: &Builder,
        function: &Function,
        args: &[Value],
        given: &[Value],
    ) -> Result<Copied, Error> {
        let mut copied = Copied { values: b.map(function, args), given: BTreeMap::new() };
        let mut given = given.iter().copied();
        for inst in &function.insts {
            match self.given_types(function, inst)? {
                types if types.is_empty() => self.run_inst(b, function, inst, &mut copied)?,
                types => copied.bind(inst, &given.by_ref().take(types.len()).collect::<Vec<_>>()),
            }
        }
        Ok(copied)
    }

    fn run_inst(&mut self, b: &Builder, function: &Function, inst: &Inst, copied: &mut Copied) -> Result<(), Error> {
        let args = copied.of(&inst.args);
        let results = match &inst.op {
            Op::If(op) if self.runs_once(inst) => {
                let (op, types) = self.giving_branches(op)?;
                b.set_pos(&inst.pos);
                b.push(Op::If(op), args, types)
            }
            Op::Def(..) | Op::If(_) | Op::For(_) | Op::While(_) | Op::Unwind(_) | Op::Call(_) => {
                b.copy(function, inst, args)
            }
        };
        copied.bind(inst, &results);
        Ok(())
    }

    /// What of an instruction is given out by the branch that it stands in: nothing, unless it runs once.
    fn given_types(&mut self, function: &Function, inst: &Inst) -> Result<Vec<Type>, Error> {
        if !self.runs_once(inst) {
            return Ok(vec![]);
        }
        match &inst.op {
            Op::If(op) => Ok(self.giving_branches(op)?.1),
            Op::Def(..) | Op::For(_) | Op::While(_) | Op::Unwind(_) | Op::Call(_) => {
                Ok(inst.results.iter().map(|v| function.ty(*v).clone()).collect())
            }
        }
    }

    /// What a branch gives out, in the order of its instructions.
    pub(super) fn given_by(&mut self, branch: FuncId) -> Result<Vec<Type>, Error> {
        let function = self.program.function(branch).clone();
        let types =
            function.insts.iter().map(|inst| self.given_types(&function, inst)).collect::<Result<Vec<_>, Error>>()?;
        Ok(types.concat())
    }

    /// An `if` with what its branches give out after its results, and the types of all of them.
    fn giving_branches(&mut self, op: &IfOp) -> Result<(IfOp, Vec<Type>), Error> {
        let (of_then, of_else) = (self.given_by(op.then_body)?, self.given_by(op.else_body)?);
        let branches = [op.then_body, op.else_body];
        let then_body = self.build("then_giving", &branches, &[], |t| t.giving(op.then_body, &[], &of_else))?;
        let else_body = self.build("else_giving", &branches, &[], |t| t.giving(op.else_body, &of_then, &[]))?;
        Ok((IfOp { then_body, else_body }, self.program.function(then_body).result_types()))
    }

    /// A branch that also returns what it gives out, between zeros for what the other branch does.
    fn giving(&mut self, branch: FuncId, before: &[Type], after: &[Type]) -> Result<Function, Error> {
        let function = self.program.function(branch).clone();
        let b = Builder::new(function.name.clone());
        let copied = self.run(&b, &function, &b.params(function.param_types()))?;
        let [before, after] = [before, after].map(|types| types.iter().map(|ty| b.zeros(ty)).collect::<Vec<_>>());
        let once = function.insts.iter().filter(|inst| self.runs_once(inst));
        let given =
            once.flat_map(|inst| [copied.of(&inst.results), copied.given_with(inst)].concat()).collect::<Vec<_>>();
        Ok(b.finish([copied.of(&function.results), before, given, after].concat()))
    }

    /// Whether an instruction is a call that runs once, or has one inside.
    pub(super) fn runs_once(&self, inst: &Inst) -> bool {
        match &inst.op {
            Op::Call(op) => self.is_custom(op),
            Op::Def(..) | Op::If(_) | Op::For(_) | Op::While(_) | Op::Unwind(_) => {
                inst.bodies().into_iter().any(|body| self.has_once(body))
            }
        }
    }

    /// Whether something in a function runs once.
    pub(super) fn has_once(&self, id: FuncId) -> bool {
        self.has_custom && self.program.function(id).insts.iter().any(|inst| self.runs_once(inst))
    }

    /// Whether the backward function of a call is not linear in its cotangents.
    pub(super) fn is_custom(&self, op: &CallOp) -> bool {
        match &op.rule {
            Some(CustomRule::Vjp { forward, backward }) => {
                let residuals =
                    self.program.function(*forward).results.len() - self.program.function(op.body).results.len();
                let params = self.program.function(*backward).params.len();
                linear_in(&self.program, *backward, &(0..params).map(|k| k >= residuals).collect::<Vec<_>>()).is_err()
            }
            Some(CustomRule::Jvp { .. }) | None => false,
        }
    }
}
