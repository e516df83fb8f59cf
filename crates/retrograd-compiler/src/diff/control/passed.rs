//! Demands across the border of a body: the predicates of what it returns go in as arguments, and where its parameters
//! are demanded comes out in terms of these.
//!
//! An adjoint carries cotangents alone, so a demand that goes from step to step of a loop must hold in every step. That
//! of a carry is in terms of predicates that no step changes: those of its end, and those that are invariants of the
//! loop anyway. Where a step demands a carry otherwise (the neighbours of what was demanded, say), all of it is, if
//! anything of the loop is.

use std::collections::{BTreeMap, BTreeSet};

use super::custom::has_effects;
use super::expanded::known_count;
use crate::diff::active::{Activity, Through};
use crate::diff::demand::{Demand, Predicate, Term};
use crate::diff::mask::{any, pick};
use crate::diff::transform::Transform;
use crate::diff::vjp::Sweep;
use crate::ir::{Attrs, Builder, DType, FuncId, Inst, Op, Program, Type, Value};
use crate::ops::{ANY, NOT};
use crate::opt::never_faults;

/// Predicates that go into a body, and the demands of its results in terms of these.
#[derive(Debug)]
pub(super) struct Passed {
    /// The same in every step.
    pub(super) fixed: Vec<Value>,
    /// One row for each step.
    pub(super) rows: Vec<Value>,
    pub(super) pattern: Pattern,
}

/// What a body is built for: shapes of the predicates, and the demands of its results, each a list of terms, in terms
/// of their numbers.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(in crate::diff) struct Pattern {
    fixed: Vec<Vec<usize>>,
    rows: Vec<Vec<usize>>,
    demands: Vec<Vec<Vec<(usize, bool)>>>,
}

impl Passed {
    /// Of results, and of streams of rows that a loop emits.
    pub(super) fn new(b: &Builder, results: &[Demand], emitted: &[Demand]) -> Passed {
        let (mut fixed, mut rows) = (Vec::new(), Vec::new());
        let mut number = |predicate: Predicate, streamed: bool| {
            let list = if streamed && matches!(predicate, Predicate::Each(_)) { &mut rows } else { &mut fixed };
            if !list.contains(&predicate.value()) {
                list.push(predicate.value());
            }
        };
        for (demands, streamed) in [(results, false), (emitted, true)] {
            demands
                .iter()
                .flat_map(Demand::terms)
                .flat_map(Term::keys)
                .for_each(|predicate| number(*predicate, streamed));
        }
        let place = |list: &[Value], value: Value| list.iter().position(|other| *other == value);
        let term = |term: &Term, streamed: bool| {
            let at = |p: &Predicate| match (streamed, p) {
                (true, Predicate::Each(value)) => place(&rows, *value).map(|k| fixed.len() + k),
                (true, Predicate::Whole(value)) | (false, Predicate::Whole(value) | Predicate::Each(value)) => {
                    place(&fixed, *value)
                }
            };
            term.iter().map(|(p, holds)| (at(p).expect("every predicate has a number"), *holds)).collect()
        };
        let demands = [(results, false), (emitted, true)].into_iter();
        let demands = demands.flat_map(|(list, streamed)| list.iter().map(move |demand| (demand, streamed)));
        let demands = demands.map(|(demand, streamed)| demand.terms().map(|t| term(t, streamed)).collect()).collect();
        let shape = |value: &Value| b.ty(*value).shape;
        let row_shape = |value: &Value| b.ty(*value).shape[1..].to_vec();
        let pattern =
            Pattern { fixed: fixed.iter().map(shape).collect(), rows: rows.iter().map(row_shape).collect(), demands };
        Passed { fixed, rows, pattern }
    }
}

impl Pattern {
    pub(super) fn has_predicates(&self) -> bool {
        !self.fixed.is_empty() || !self.rows.is_empty()
    }

    /// Parameters for the predicates that are the same in every step.
    pub(super) fn fixed_params(&self, b: &Builder) -> Vec<Value> {
        b.params(self.fixed.iter().map(|shape| Type::new(DType::Bool, shape.clone())))
    }

    /// Parameters for the predicates that have one row for each step.
    pub(super) fn row_params(&self, b: &Builder) -> Vec<Value> {
        b.params(self.rows.iter().map(|shape| Type::new(DType::Bool, shape.clone())))
    }

    /// The demands of the results, given the parameters.
    pub(super) fn demands(&self, b: &Builder, fixed: &[Value], rows: &[Value]) -> Vec<Demand> {
        let params: Vec<Value> = fixed.iter().chain(rows).copied().collect();
        let term =
            |term: &Vec<(usize, bool)>| term.iter().map(|(k, holds)| (Predicate::new(b, params[*k]), *holds)).collect();
        self.demands.iter().map(|terms| Demand::from_terms(terms.iter().map(term))).collect()
    }
}

/// What a parameter of a step is outside of the loop.
#[derive(Clone, Copy, Debug)]
pub(super) enum Outside {
    /// The same value in every step.
    Fixed(Value),
    /// A stream of which each step gets a row.
    Row(Value),
    /// Something that changes from step to step.
    Changing,
}

/// The demands of a loop's carries, invariants and streams outside of it, as a sweep over a step finds them.
#[derive(Debug)]
pub(super) struct Lift<'s> {
    b: &'s Builder,
    /// Arguments that go into a result which is demanded everywhere.
    reached: Vec<bool>,
    /// Whether anything else of the loop is demanded.
    anything: Option<Value>,
}

impl<'s> Lift<'s> {
    pub(super) fn new(t: &mut Transform, sweep: &Sweep<'s>, inst: &Inst) -> Lift<'s> {
        let demands: Vec<Demand> = inst.results.iter().map(|v| sweep.demand(*v)).collect();
        let everywhere: Vec<bool> = demands.iter().map(Demand::is_everywhere).collect();
        let reached = match any(&everywhere) {
            true => t.activity.reaching_args(&t.program, Through::Derivatives, inst, &everywhere),
            false => vec![false; inst.args.len()],
        };
        let partly: Vec<Value> =
            inst.results.iter().zip(&everywhere).filter(|(_, every)| !**every).map(|(v, _)| *v).collect();
        let partly: Vec<Value> = partly.into_iter().filter(|v| !sweep.demand(*v).is_nowhere()).collect();
        let anything = (!partly.is_empty()).then(|| sweep.any_demanded(&partly)).flatten();
        Lift { b: sweep.b, reached, anything }
    }

    /// The demand of a carry or an invariant, argument k of the loop.
    pub(super) fn fixed(&self, k: usize, demand: &Demand, outside: impl Fn(Value) -> Outside) -> Demand {
        let lifted = demand.lifted(|p, holds| match outside(p.value()) {
            Outside::Fixed(value) => Some((Predicate::new(self.b, value), holds)),
            Outside::Row(_) | Outside::Changing => None,
        });
        lifted.map_or_else(|| self.unknown(k), |lifted| lifted.refined(self.b))
    }

    /// The same where the steps add up: a row of truths counts in any step. None where a step says it by truths of its
    /// own.
    pub(super) fn summed(&self, demand: &Demand, outside: impl Fn(Value) -> Outside) -> Option<Demand> {
        let b = self.b;
        let lifted = demand.lifted(|p, holds| match outside(p.value()) {
            Outside::Fixed(value) => Some((Predicate::new(b, value), holds)),
            Outside::Row(stream) => {
                let truths = if holds { stream } else { b.op(&NOT, Attrs::none(), &[stream]) };
                Some((Predicate::new(b, b.op(&ANY, Attrs::none().ints("axes", [0]), &[truths])), true))
            }
            Outside::Changing => None,
        });
        lifted.map(|lifted| lifted.refined(b))
    }

    /// The demand of a stream of that type, argument k of the loop, of which each step demands its row so.
    pub(super) fn streamed(&self, k: usize, ty: &Type, demand: &Demand, outside: impl Fn(Value) -> Outside) -> Demand {
        let b = self.b;
        let repeated =
            |value: Value, axes: std::ops::Range<usize>| b.broadcast(value, &ty.shape, &axes.collect::<Vec<_>>());
        let lifted = demand.lifted(|p, holds| match (outside(p.value()), p) {
            (Outside::Fixed(value), Predicate::Whole(_)) => Some((Predicate::Whole(value), holds)),
            (Outside::Fixed(value), Predicate::Each(_)) => {
                Some((Predicate::new(b, repeated(value, 1..ty.rank())), holds))
            }
            (Outside::Row(stream), _) => Some((Predicate::new(b, repeated(stream, 0..b.ty(stream).rank())), holds)),
            (Outside::Changing, _) => None,
        });
        lifted.map_or_else(|| self.unknown(k), |lifted| lifted.refined(self.b))
    }

    /// All or nothing: what goes into a result that is demanded everywhere is, and else if anything of the loop is.
    pub(super) fn unknown(&self, k: usize) -> Demand {
        match self.anything {
            Some(anything) if !self.reached[k] => Demand::of(Predicate::Whole(anything)),
            Some(_) | None => Demand::everywhere(),
        }
    }
}

/// What the parameters of a step are outside, by their values. Demands that go from step to step are in terms of these
/// alone: what is made outside would be another value each time.
pub(super) fn outside_of<'p>(params: &'p [Value], are: &'p [Outside]) -> impl Fn(Value) -> Outside + Copy + 'p {
    move |value| params.iter().position(|param| *param == value).map_or(Outside::Changing, |k| are[k])
}

/// What the values of a step are outside of its loop.
#[derive(Debug)]
pub(super) struct Around<'p> {
    params: &'p [Value],
    are: &'p [Outside],
    invariant: BTreeMap<Value, Value>,
}

impl<'p> Around<'p> {
    /// Of a step whose first parameters are these outside. Predicates that it makes of what no step changes are made
    /// once more, before the loop: what is computed there for the step may be demanded where they hold.
    pub(super) fn new(
        b: &Builder,
        (program, activity): (&Program, &mut Activity),
        (step, steps): (FuncId, Steps),
        (params, are): (&'p [Value], &'p [Outside]),
        demands: &[Demand],
    ) -> Around<'p> {
        let step = program.function(step);
        let mut around = Around { params, are, invariant: BTreeMap::new() };
        let predicates: BTreeSet<Value> =
            demands.iter().flat_map(Demand::terms).flat_map(Term::keys).map(|p| p.value()).collect();
        for predicate in predicates.into_iter().filter(|p| !params.contains(p)) {
            let known = |value: Value| around.fixed(value).is_some();
            let dtype = |value: Value| step.ty(value).dtype;
            let of = (program, &mut *activity);
            if let Some(slice) = movable_slice(of, &step.insts, steps, dtype, known, predicate) {
                for inst in step.insts.iter().filter(|inst| inst.results.iter().any(|result| slice.contains(result))) {
                    // What is not known here matters to results that are not read.
                    let fixed = |arg: &Value| around.fixed(*arg).unwrap_or_else(|| b.zeros(step.ty(*arg)));
                    let args = inst.args.iter().map(fixed).collect();
                    let copies = inst.results.iter().copied().zip(b.copy(step, inst, args));
                    around.invariant.extend(copies.filter(|(result, _)| slice.contains(result)));
                }
            }
        }
        around
    }

    fn fixed(&self, value: Value) -> Option<Value> {
        match self.outside(value) {
            Outside::Fixed(value) => Some(value),
            Outside::Row(_) | Outside::Changing => None,
        }
    }

    /// What a value of the step is.
    pub(super) fn outside(&self, value: Value) -> Outside {
        self.invariant
            .get(&value)
            .map_or_else(|| outside_of(self.params, self.are)(value), |value| Outside::Fixed(*value))
    }
}

/// What is known of the number of a loop's steps.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Steps {
    /// The first step runs, so what all steps compute alike may be computed before it, faults included.
    Some,
    /// There may be none.
    Any,
}

impl Steps {
    /// Of a loop.
    pub(super) fn of(sweep: &Sweep<'_>, inst: &Inst) -> Steps {
        match known_count(&sweep.b.insts(), sweep.value(inst.args[0])) {
            Some(1..) => Steps::Some,
            Some(0) | None => Steps::Any,
        }
    }
}

/// The backward slice of a value that no step changes and that can be computed before the loop, without what is known
/// outside; none of any other value.
pub(super) fn movable_slice(
    (program, activity): (&Program, &mut Activity),
    insts: &[Inst],
    steps: Steps,
    dtype: impl Fn(Value) -> DType,
    known: impl Fn(Value) -> bool,
    value: Value,
) -> Option<BTreeSet<Value>> {
    let is_movable = |inst: &Inst| match steps {
        Steps::Some => !inst.has_effect(|body| has_effects(program, body)),
        Steps::Any => is_total(program, insts, inst, &dtype),
    };
    // Of control flow the slice holds what the value depends on; the rest of what is passed matters to other results.
    let reads = |inst: &Inst, value: Value| {
        let result: Vec<bool> = inst.results.iter().map(|other| *other == value).collect();
        pick(&inst.args, &activity.reaching_args(program, Through::Values, inst, &result))
    };
    slice_of(insts, is_movable, known, reads, value)
}

/// The backward slice of a value without what is known, given what each result reads; none of a value that also depends
/// on something that is neither known nor made here, or made by an instruction that is not wanted.
pub(super) fn slice_of(
    insts: &[Inst],
    wanted: impl Fn(&Inst) -> bool,
    known: impl Fn(Value) -> bool,
    mut reads: impl FnMut(&Inst, Value) -> Vec<Value>,
    value: Value,
) -> Option<BTreeSet<Value>> {
    let (mut slice, mut open) = (BTreeSet::new(), vec![value]);
    while let Some(value) = open.pop() {
        if known(value) || slice.contains(&value) {
            continue;
        }
        let inst = insts.iter().find(|inst| inst.results.contains(&value))?;
        if !wanted(inst) {
            return None;
        }
        slice.insert(value);
        open.extend(reads(inst, value));
    }
    Some(slice)
}

/// Whether an instruction can be run where it was not: it ends, without a fault.
fn is_total(program: &Program, insts: &[Inst], inst: &Inst, dtype: &dyn Fn(Value) -> DType) -> bool {
    let are_bodies_total = || {
        inst.bodies().into_iter().all(|body| {
            let body = program.function(body);
            body.insts.iter().all(|inst| is_total(program, &body.insts, inst, &|value| body.ty(value).dtype))
        })
    };
    // More steps than a stream has rows are a fault.
    let fits = |bound: usize| known_count(insts, inst.args[0]).is_some_and(|count| count <= bound);
    match &inst.op {
        Op::Def(def, _) => never_faults(def, inst.args.first().map_or(DType::Bool, |arg| dtype(*arg))),
        Op::If(_) => are_bodies_total(),
        Op::For(op) => {
            let has_streams = !(op.args(&inst.args).3.is_empty() && op.results(&inst.results).1.is_empty());
            (!has_streams || fits(op.bound)) && are_bodies_total()
        }
        Op::Unwind(op) => fits(op.bound) && are_bodies_total(),
        Op::While(_) | Op::Call(_) => false,
    }
}
