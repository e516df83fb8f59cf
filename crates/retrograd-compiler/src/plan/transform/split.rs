//! A step of an adjoint, in two by a cut: what makes its record, and what reverses it from its record.

use crate::ir::{Builder, Function, Inst, Type, UnwindOp, Value};
use crate::plan::decision::Cut;

/// A step of an adjoint in two functions.
#[derive(Clone, Debug)]
pub(in crate::plan) struct Split {
    /// `(i, c, inv, x) -> kept`.
    pub(in crate::plan) slice: Function,
    /// `(i, kept, inv, x, a, g, r) -> (a', r', h)`.
    pub(in crate::plan) reverse: Function,
    /// Types of what is kept.
    pub(in crate::plan) kept: Vec<Type>,
}

impl Split {
    /// Whether recording reads parameter number k.
    pub(in crate::plan) fn reads(&self, k: usize) -> bool {
        let param = self.slice.params[k];
        self.slice.insts.iter().any(|inst| inst.args.contains(&param)) || self.slice.results.contains(&param)
    }
}

/// Splits the bwd of an unwind; what has an effect runs where the step is reversed.
pub(in crate::plan) fn split(bwd: &Function, op: &UnwindOp, cut: &Cut, effects: &[bool]) -> Split {
    let params = op.args(&bwd.params);
    let forward: Vec<Value> =
        [params.count].iter().chain(params.carries).chain(params.invariants).chain(params.streams).copied().collect();
    let slice = extract(bwd, format!("{}_cone", bwd.name), &forward, &cut.kept, |_| false);
    let reverse_params: Vec<Value> = [params.count]
        .iter()
        .chain(&cut.kept)
        .chain(params.invariants)
        .chain(params.streams)
        .chain(params.adjoints)
        .chain(params.emitted)
        .chain(params.running)
        .copied()
        .collect();
    let effect = |inst: &Inst| inst.has_effect(|body| effects[usize::from(body)]);
    let reverse = extract(bwd, format!("{}_reverse", bwd.name), &reverse_params, &bwd.results, effect);
    Split { slice, reverse, kept: cut.kept.iter().map(|value| bwd.ty(*value).clone()).collect() }
}

/// The function of `params` that computes `results` with the instructions of another; every path to the other's
/// parameters must end in `params`.
pub(in crate::plan) fn extract(
    from: &Function,
    name: String,
    params: &[Value],
    results: &[Value],
    always: impl Fn(&Inst) -> bool,
) -> Function {
    let params: Vec<(Option<Value>, Type)> =
        params.iter().map(|param| (Some(*param), from.ty(*param).clone())).collect();
    extract_among(from, name, &params, results, always)
}

/// The same with parameters of which some are not read.
pub(in crate::plan) fn extract_among(
    from: &Function,
    name: String,
    params: &[(Option<Value>, Type)],
    results: &[Value],
    always: impl Fn(&Inst) -> bool,
) -> Function {
    let builder = Builder::new(name);
    let mut map: Vec<Option<Value>> = vec![None; from.types.len()];
    for (param, ty) in params {
        let here = builder.param(ty.clone());
        if let Some(param) = param {
            map[param.0 as usize] = Some(here);
        }
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
        let args = inst
            .args
            .iter()
            .map(|v| map[v.0 as usize].expect("a cut leaves no path from a step's rest to its state"))
            .collect();
        for (old, new) in inst.results.iter().zip(builder.copy(from, inst, args)) {
            map[old.0 as usize].get_or_insert(new);
        }
    }
    let results = results
        .iter()
        .map(|v| map[v.0 as usize].expect("a cut leaves no path from a step's rest to its state"))
        .collect();
    builder.finish(results)
}
