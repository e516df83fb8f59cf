//! A step of an adjoint, cut in two: what does not depend on cotangents (the forward part), and the rest.
//!
//! What the rest reads of the forward part are the residuals. Only what a non-linear rule reads is one, because diff asks for nothing
//! else. A residual that is only a view of another value is replaced by that value, and what follows from the index, the invariants and
//! the input streams alone is computed again: neither is worth memory.

use std::collections::BTreeSet;

use crate::ir::{Builder, Function, Inst, Lowering, Op, Type, UnwindOp, Value, View};

/// A step of an adjoint in two functions.
#[derive(Clone, Debug)]
pub(super) struct Split {
    /// `(i, c, inv, x) -> kept`.
    pub(super) cone: Function,
    /// `(i, kept, inv, x, a, g, r) -> (a', r', h)`.
    pub(super) reverse: Function,
    /// What is kept, with the user's line.
    pub(super) kept: Vec<Kept>,
}

/// A residual.
#[derive(Clone, Debug)]
pub(super) struct Kept {
    /// Its type.
    pub(super) ty: Type,
    /// What it is: the op that makes it, and its line.
    pub(super) origin: String,
}

/// Cuts the bwd of an unwind.
pub(super) fn split(bwd: &Function, op: &UnwindOp, effects: &[bool]) -> Split {
    let cut = Cut::new(bwd, op, effects);
    let kept = cut.residuals();
    let params = op.args(&bwd.params);
    let forward: Vec<Value> = [params.count].iter().chain(params.carries).chain(params.invariants).chain(params.streams).copied().collect();
    let cone = extract(bwd, format!("{}_cone", bwd.name), &forward, &kept, |_| false);
    let reverse_params: Vec<Value> = [params.count]
        .iter()
        .chain(&kept)
        .chain(params.invariants)
        .chain(params.streams)
        .chain(params.adjoints)
        .chain(params.emitted)
        .chain(params.running)
        .copied()
        .collect();
    let effect = |inst: &Inst| inst.has_effect(|body| effects[usize::from(body)]);
    let reverse = extract(bwd, format!("{}_reverse", bwd.name), &reverse_params, &bwd.results, effect);
    let kept = kept.iter().map(|value| Kept { ty: bwd.ty(*value).clone(), origin: cut.origin(*value) }).collect();
    Split { cone, reverse, kept }
}

/// Keeps the whole state and computes the forward part again.
pub(super) fn whole(bwd: &Function, op: &UnwindOp) -> Split {
    let params = op.args(&bwd.params);
    let forward: Vec<Value> = [params.count].iter().chain(params.carries).chain(params.invariants).chain(params.streams).copied().collect();
    let cone = extract(bwd, format!("{}_cone", bwd.name), &forward, params.carries, |_| false);
    let kept = params.carries.iter().map(|value| Kept { ty: bwd.ty(*value).clone(), origin: "state".into() }).collect();
    Split { cone, reverse: bwd.clone(), kept }
}

/// The function of `params` that computes `results` with the instructions of another; every path to the other's parameters must end in `params`.
fn extract(from: &Function, name: String, params: &[Value], results: &[Value], always: impl Fn(&Inst) -> bool) -> Function {
    let builder = Builder::new(name);
    let mut map: Vec<Option<Value>> = vec![None; from.types.len()];
    for param in params {
        map[param.0 as usize] = Some(builder.param(from.ty(*param).clone()));
    }
    let mut needed = vec![false; from.types.len()];
    for value in results {
        needed[value.0 as usize] = true;
    }
    let mut chosen: Vec<&Inst> = vec![];
    for inst in from.insts.iter().rev() {
        if always(inst) || inst.results.iter().any(|v| needed[v.0 as usize] && map[v.0 as usize].is_none()) {
            inst.args.iter().for_each(|v| needed[v.0 as usize] = true);
            chosen.push(inst);
        }
    }
    for inst in chosen.into_iter().rev() {
        let args = inst.args.iter().map(|v| map[v.0 as usize].expect("a cut leaves no path from a step's rest to its state")).collect();
        for (old, new) in inst.results.iter().zip(builder.copy(from, inst, args)) {
            map[old.0 as usize].get_or_insert(new);
        }
    }
    let results = results.iter().map(|v| map[v.0 as usize].expect("a cut leaves no path from a step's rest to its state")).collect();
    builder.finish(results)
}

struct Cut<'f> {
    bwd: &'f Function,
    /// The instruction that defines each value; `None` for parameters.
    definitions: Vec<Option<&'f Inst>>,
    /// Depends on cotangents.
    rest: Vec<bool>,
    /// Follows from the index, the invariants and the input streams.
    free: Vec<bool>,
    /// Which instructions have an effect: they run where the step is reversed.
    effects: Vec<bool>,
}

impl<'f> Cut<'f> {
    fn new(bwd: &'f Function, op: &UnwindOp, effects: &[bool]) -> Cut<'f> {
        let count = bwd.types.len();
        let effects: Vec<bool> = bwd.insts.iter().map(|inst| inst.has_effect(|body| effects[usize::from(body)])).collect();
        let mut cut = Cut { bwd, definitions: vec![None; count], rest: vec![false; count], free: vec![false; count], effects };
        let params = op.args(&bwd.params);
        for value in params.adjoints.iter().chain(params.emitted).chain(params.running) {
            cut.rest[value.0 as usize] = true;
        }
        for value in [params.count].iter().chain(params.invariants).chain(params.streams) {
            cut.free[value.0 as usize] = true;
        }
        for (k, inst) in bwd.insts.iter().enumerate() {
            let rest = cut.effects[k] || inst.args.iter().any(|v| cut.rest[v.0 as usize]);
            let free = matches!(inst.op, Op::Row(..)) && inst.args.iter().all(|v| cut.free[v.0 as usize]);
            for value in &inst.results {
                cut.definitions[value.0 as usize] = Some(inst);
                cut.rest[value.0 as usize] = rest;
                cut.free[value.0 as usize] = free;
            }
        }
        cut
    }

    /// Values of the forward part that are kept, in order of definition.
    fn residuals(&self) -> Vec<Value> {
        let mut read = BTreeSet::new();
        for (inst, effect) in self.bwd.insts.iter().zip(&self.effects) {
            if *effect || inst.results.iter().any(|v| self.rest[v.0 as usize]) {
                inst.args.iter().for_each(|v| self.resolve(*v, &mut read));
            }
        }
        self.bwd.results.iter().for_each(|v| self.resolve(*v, &mut read));
        self.windows_to_bases(read).into_iter().collect()
    }

    /// Adds what must be kept so that a value can be had: itself, or what it is a view of.
    fn resolve(&self, value: Value, read: &mut BTreeSet<Value>) {
        if self.rest[value.0 as usize] || self.free[value.0 as usize] {
            return;
        }
        match self.view_of(value) {
            Some((View::Broadcast | View::Reshape | View::Transpose | View::Reverse, inst)) => self.resolve(inst.args[0], read),
            Some((View::Slice | View::DynamicSlice, _)) | None => {
                read.insert(value);
            }
        }
    }

    /// Windows that together are no smaller than what they are cut from are replaced by it.
    fn windows_to_bases(&self, mut read: BTreeSet<Value>) -> BTreeSet<Value> {
        loop {
            let replaced = read.iter().copied().find_map(|value| {
                let (_, inst) = self.view_of(value)?;
                let base = inst.args[0];
                let windows = read.iter().filter(|v| self.view_of(**v).is_some_and(|(_, other)| other.args[0] == base));
                let bytes: usize = windows.map(|v| self.bwd.ty(*v).bytes()).sum();
                (read.contains(&base) || self.free[base.0 as usize] || bytes >= self.bwd.ty(base).bytes()).then_some((value, inst))
            });
            let Some((value, inst)) = replaced else { return read };
            read.remove(&value);
            inst.args.iter().for_each(|v| self.resolve(*v, &mut read));
        }
    }

    fn view_of(&self, value: Value) -> Option<(View, &'f Inst)> {
        let inst = self.definitions[value.0 as usize]?;
        match &inst.op {
            Op::Row(row, _) => match row.lowering {
                Lowering::View(view) => Some((view, inst)),
                Lowering::Map(_)
                | Lowering::Convert
                | Lowering::Iota
                | Lowering::Constant
                | Lowering::Write(_)
                | Lowering::Pick(_)
                | Lowering::Scatter(..)
                | Lowering::Reduce(_)
                | Lowering::Dot
                | Lowering::Line(_)
                | Lowering::Composed(_)
                | Lowering::Routine(_)
                | Lowering::Probe
                | Lowering::Missing => None,
            },
            Op::If(_) | Op::For(_) | Op::While(_) | Op::Unwind(_) | Op::Call(_) => None,
        }
    }

    fn origin(&self, value: Value) -> String {
        match self.definitions[value.0 as usize] {
            None => "state".into(),
            Some(inst) if inst.pos.is_known() => format!("{} at {}", inst.op.name(), inst.pos),
            Some(inst) => inst.op.name().into(),
        }
    }
}
