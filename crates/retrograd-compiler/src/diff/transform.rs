//! What both modes share: the growing Program, and functions built once per body and mask.

use std::collections::BTreeMap;

use super::active::Activity;
use super::control::passed::Pattern;
use super::demand::Demand;
use crate::ir::{
    Array, Attr, Attrs, CallOp, CustomRule, Error, FuncId, Function, Inst, Linearity, Op, Program, linear_in,
};
use crate::ops::CONSTANT;
use crate::opt::join;

/// A Program that is being differentiated. New functions are appended; old ones stay as they are.
#[derive(Debug)]
pub(super) struct Transform {
    pub(super) program: Program,
    pub(super) activity: Activity,
    /// Whether a custom backward function is part of the Program, so that a backward step need not be linear.
    pub(super) custom_backward: bool,
    /// Whether the Program has a call with a custom backward function anywhere.
    pub(super) has_custom: bool,
    /// Whether the Program has an effect anywhere.
    has_effects: bool,
    built: BTreeMap<Key, FuncId>,
    swept: BTreeMap<(Key, Pattern), Swept>,
}

/// A function with a reverse sweep over a body, and where the sweep demands the body's parameters, in terms of its own.
type Swept = (FuncId, Vec<Demand>);

/// What a built function is for, the bodies it comes from, and the masks it was built for.
type Key = (&'static str, Vec<FuncId>, Vec<Vec<bool>>);

impl Transform {
    pub(super) fn new(program: &Program) -> Transform {
        let any = |of: &dyn Fn(&Inst) -> bool| program.functions.iter().flat_map(|function| &function.insts).any(of);
        Transform {
            program: program.clone(),
            activity: Activity::default(),
            custom_backward: any(&|inst| matches!(&inst.op, Op::Unwind(op) if op.linearity == Linearity::Custom)),
            has_custom: any(&|inst| matches!(&inst.op, Op::Call(CallOp { rule: Some(CustomRule::Vjp { .. }), .. }))),
            has_effects: any(&|inst| inst.has_effect(|_| false)),
            built: BTreeMap::new(),
            swept: BTreeMap::new(),
        }
    }

    /// Whether a backward step is linear in its cotangents, the parameters after the first `inputs`. It is, unless a
    /// custom rule is part of it that is not.
    pub(super) fn linearity(&self, bwd: FuncId, inputs: usize) -> Linearity {
        let cotangents: Vec<bool> = (0..self.program.function(bwd).params.len()).map(|k| k >= inputs).collect();
        match self.custom_backward && linear_in(&self.program, bwd, &cotangents).is_err() {
            true => Linearity::Custom,
            false => Linearity::Linear,
        }
    }

    /// The function without its effects: what is run again for an adjoint is not seen again. The backward function of a
    /// custom rule runs there for the first time, so its effects stay.
    pub(super) fn silent(&mut self, id: FuncId) -> FuncId {
        if !self.has_effects {
            return id;
        }
        let built = self.build("silent", &[id], &[], |t| {
            let mut function = t.program.function(id).clone();
            function.insts.iter_mut().for_each(|inst| t.silence(inst));
            Ok(function)
        });
        built.expect("nothing of it can fail")
    }

    /// The same of an instruction. What calls the host once is not part of what is run again (`records`), but for a
    /// rule's backward function.
    pub(super) fn silence(&mut self, inst: &mut Inst) {
        if inst.has_effect(|_| false) && !matches!(&inst.op, Op::Def(def, _) if def.lowering.is_host()) {
            let shown = Attrs::none().with("value", Attr::Array(Array::bool(true)));
            (inst.op, inst.args) = (Op::Def(&CONSTANT, shown), vec![]);
        }
        let kept = match &inst.op {
            Op::Call(CallOp { rule: Some(CustomRule::Vjp { backward, .. }), .. }) => Some(*backward),
            Op::Def(..) | Op::If(_) | Op::For(_) | Op::While(_) | Op::Unwind(_) | Op::Call(_) => None,
        };
        let bodies: BTreeMap<FuncId, FuncId> =
            inst.bodies().into_iter().map(|body| (body, self.silent(body))).collect();
        inst.op.map_bodies(|body| if Some(body) == kept { body } else { bodies[&body] });
    }

    /// The function with equal work done once, and with one loop where two have the same states: what is computed once
    /// is reversed once.
    pub(super) fn joined(&mut self, function: Function) -> Function {
        let mut program = self.program.clone();
        program.entry = program.add(function);
        let program = join(&program);
        // The entry comes first, and no function of it uses it.
        let first = self.program.functions.len() as u32;
        let mut functions = program.functions.into_iter().map(|mut function| {
            function.insts.iter_mut().for_each(|inst| inst.op.map_bodies(|id| FuncId(first + id.0 - 1)));
            function
        });
        let entry = functions.next().expect("a Program has an entry");
        self.program.functions.extend(functions);
        entry
    }

    /// The function of that key; built the first time that it is asked for.
    pub(super) fn build(
        &mut self,
        purpose: &'static str,
        bodies: &[FuncId],
        masks: &[&[bool]],
        build: impl FnOnce(&mut Transform) -> Result<Function, Error>,
    ) -> Result<FuncId, Error> {
        let key = (purpose, bodies.to_vec(), masks.iter().map(|mask| mask.to_vec()).collect());
        if let Some(known) = self.built.get(&key) {
            return Ok(*known);
        }
        let function = build(self)?;
        let id = self.program.add(function);
        self.built.insert(key, id);
        Ok(id)
    }

    /// The function of that key with a reverse sweep from these demands; built the first time that it is asked for.
    pub(super) fn sweep(
        &mut self,
        purpose: &'static str,
        bodies: &[FuncId],
        masks: &[&[bool]],
        pattern: &Pattern,
        build: impl FnOnce(&mut Transform) -> Result<(Function, Vec<Demand>), Error>,
    ) -> Result<Swept, Error> {
        let key = ((purpose, bodies.to_vec(), masks.iter().map(|mask| mask.to_vec()).collect()), pattern.clone());
        if let Some(known) = self.swept.get(&key) {
            return Ok(known.clone());
        }
        let (function, demands) = build(self)?;
        let swept = (self.program.add(function), demands);
        self.swept.insert(key, swept.clone());
        Ok(swept)
    }
}
