//! A sum that is added to in every step is taken once, after the loop.
//!
//! The cotangent of a number that all elements of an array share is, in the adjoint of a pointwise loop, `r = r + sum
//! v` in every step. Adding the arrays element by element and summing at the end gives the same number up to rounding,
//! and a loop whose steps treat their elements alike: `plan` can run it tile by tile. It changes bits, so it belongs to
//! [`freeze`](super::freeze), for every plan alike.

use std::collections::BTreeSet;

use super::edit::Editor;
use super::functions::edit_unwinds;
use crate::ir::{Array, Attrs, Function, Inst, Lowering, Op, Program, Type, UnwindOp, Value, View};
use crate::ops::{ADD, SUM};

/// Takes the sums of pointwise unwinds after them. Applied again, it changes nothing.
pub fn defer(program: &mut Program) -> bool {
    edit_unwinds(program, unwind)
}

fn unwind(out: &mut Program, editor: &mut Editor<'_>, inst: &Inst, op: &UnwindOp) {
    let bwd = out.function(op.bwd);
    let running = bwd.params.len() - op.running..bwd.params.len();
    let sums: Vec<Sums> =
        running.clone().filter_map(|place| Sums::of(bwd, place, op.adjoints + place - running.start)).collect();
    let Some(shape) = sums.first().map(|sums| bwd.ty(sums.terms[0]).shape.clone()) else { return editor.copy(inst) };
    let gone: BTreeSet<usize> = sums.iter().flat_map(|sums| sums.insts.iter().copied()).collect();
    let alike = sums.iter().flat_map(|sums| &sums.terms).all(|term| bwd.ty(*term).shape == shape);
    let groups = op.args(&bwd.params);
    let numbers = |values: &[Value]| values.iter().all(|v| bwd.ty(*v).rank() == 0);
    let streams = numbers(groups.streams) && numbers(groups.emitted) && numbers(op.results(&bwd.results).2);
    let carried = groups.carries.iter().any(|v| bwd.ty(*v).shape == shape);
    let steps = is_pointwise(out.function(op.body), &shape, &BTreeSet::new()) && is_pointwise(bwd, &shape, &gone);
    if !(alike && streams && carried && steps) {
        return editor.copy(inst);
    }
    let bwd = out.function(op.bwd).clone();
    let mut args = editor.values(&inst.args);
    let mut types: Vec<Type> = inst.results.iter().map(|v| editor.old_ty(*v).clone()).collect();
    let mut starts = vec![];
    for sums in &sums {
        // Arguments stand in the order of the parameters.
        let start = args[sums.param];
        starts.push(start);
        let zero = Array::zeros(editor.ty(start));
        args[sums.param] = editor.full(zero, &shape, &inst.pos);
        types[sums.result].shape.clone_from(&shape);
    }
    let bwd = out.add(deferred(bwd, &sums, &gone, &shape, inst));
    let results = editor.push(Op::Unwind(UnwindOp { bwd, ..op.clone() }), args, types, &inst.pos);
    editor.bind_all(inst, &results);
    for (sums, start) in sums.iter().zip(starts) {
        let ty = editor.ty(start).clone();
        let axes = Attrs::none().ints("axes", 0..shape.len());
        let sum = editor.op(&SUM, axes, vec![results[sums.result]], ty.clone(), &inst.pos);
        let total = editor.op(&ADD, Attrs::none(), vec![start, sum], ty, &inst.pos);
        editor.bind(inst.results[sums.result], total);
    }
}

/// A running number to which sums over whole arrays are added, and nothing else happens.
struct Sums {
    /// Its place among the parameters of the step, and among the results.
    param: usize,
    result: usize,
    /// The arrays, in the order in which their sums are added.
    terms: Vec<Value>,
    /// The instructions that add and sum.
    insts: Vec<usize>,
    /// Whether the running number itself is among what is added.
    goes_on: bool,
}

impl Sums {
    fn of(bwd: &Function, param: usize, result: usize) -> Option<Sums> {
        let mut sums = Sums { param, result, terms: vec![], insts: vec![], goes_on: false };
        let number = bwd.ty(bwd.params[param]);
        let all = number.rank() == 0 && number.dtype.is_float() && sums.collect(bwd, bwd.results[result]);
        (all && sums.goes_on && !sums.terms.is_empty() && is_read_once(bwd, bwd.params[param])).then_some(sums)
    }

    /// Whether a value is a sum of the running number and of sums.
    fn collect(&mut self, bwd: &Function, value: Value) -> bool {
        if value == bwd.params[self.param] {
            self.goes_on = true;
            return true;
        }
        let Some(k) = bwd.insts.iter().position(|inst| inst.results.contains(&value)) else { return false };
        let inst = &bwd.insts[k];
        let Op::Def(def, attrs) = &inst.op else { return false };
        self.insts.push(k);
        if attrs.is_exact() || !is_read_once(bwd, value) {
            false
        } else if **def == ADD {
            inst.args.iter().all(|arg| self.collect(bwd, *arg))
        } else if **def == SUM && attrs.sizes("axes").len() == bwd.ty(inst.args[0]).rank() {
            self.terms.push(inst.args[0]);
            bwd.ty(inst.args[0]).rank() > 0
        } else {
            false
        }
    }
}

fn is_read_once(function: &Function, value: Value) -> bool {
    function.insts.iter().flat_map(|inst| &inst.args).chain(&function.results).filter(|read| **read == value).count()
        == 1
}

/// Whether a step, without these instructions, computes every element from the same elements of arrays of this shape,
/// and from numbers.
fn is_pointwise(function: &Function, shape: &[usize], without: &BTreeSet<usize>) -> bool {
    let fits = |value: &Value| function.ty(*value).rank() == 0 || function.ty(*value).shape == shape;
    let computes = |inst: &Inst| match &inst.op {
        Op::Def(def, _) if def.lowering == Lowering::Constant => function.ty(inst.results[0]).rank() == 0,
        Op::Def(def, _) => {
            let alike = def.lowering.is_elementwise() || def.lowering == Lowering::View(View::Broadcast);
            alike && inst.args.iter().chain(&inst.results).all(fits)
        }
        Op::If(_) | Op::For(_) | Op::While(_) | Op::Unwind(_) | Op::Call(_) => false,
    };
    function.params.iter().all(fits)
        && function.insts.iter().enumerate().all(|(k, inst)| without.contains(&k) || computes(inst))
}

/// The step with arrays in place of the running numbers.
fn deferred(mut bwd: Function, sums: &[Sums], gone: &BTreeSet<usize>, shape: &[usize], inst: &Inst) -> Function {
    let insts = std::mem::take(&mut bwd.insts);
    bwd.insts = insts.into_iter().enumerate().filter(|(k, _)| !gone.contains(k)).map(|(_, inst)| inst).collect();
    for sums in sums {
        let mut total = bwd.params[sums.param];
        bwd.types[total.0 as usize].shape = shape.to_vec();
        for term in &sums.terms {
            let result = Value(u32::try_from(bwd.types.len()).expect("fewer than 2^32 values"));
            bwd.types.push(bwd.ty(*term).clone());
            let args = vec![total, *term];
            bwd.insts.push(Inst {
                op: Op::Def(&ADD, Attrs::none()),
                args,
                results: vec![result],
                pos: inst.pos.clone(),
            });
            total = result;
        }
        bwd.results[sums.result] = total;
    }
    bwd
}
