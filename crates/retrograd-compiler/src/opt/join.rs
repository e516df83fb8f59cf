//! A loop whose states another loop has is not run beside it.
//!
//! `for n, c0 {f}` beside `for n, (c0, w0) {(f, g)}` ends as the first carries of the other do. Two carries are the
//! same when they start from the same value and their steps compute the same from the same: the carries of both loops
//! are numbered together, first by start value, then again and again by what a step makes of them. Likewise a `while`
//! beside the loop over its trips, which then only counts.
//!
//! This is no pass of `simplify`: there, a loop that is run once for its values and once more along an adjoint would
//! share one loop where the planner makes better use of two. `diff` joins what it is about to reverse, so that one loop
//! is reversed instead of two.

use std::collections::{BTreeMap, BTreeSet};

use super::dead::dead_code;
use super::functions::{bodies_first, compact, rewrite};
use super::simplify_in_place;
use super::value_numbering::{Number, Numbered, Numbering, same};
use crate::ir::{Builder, FuncId, Function, IfOp, Inst, Op, Program, Value};

/// The Program, simplified, with loops that run beside others joined to those, and with one branch where two have the
/// same condition.
pub fn join(program: &Program) -> Program {
    let mut program = program.clone();
    simplify_in_place(&mut program);
    loop {
        // What is joined may have equal loops and branches inside.
        let mut next = program.clone();
        if !join_once(&mut next) {
            return program;
        }
        simplify_in_place(&mut next);
        if same(&next, &program) {
            return program;
        }
        program = next;
    }
}

/// Whether there was anything to join.
fn join_once(program: &mut Program) -> bool {
    let (mut joiner, mut changed) = (Joiner::default(), false);
    rewrite(program, |out, mut function| {
        while let Some(joined) = joiner.join_two(out, &function).or_else(|| joiner.branch_once(out, &function)) {
            (function, changed) = (joined, true);
        }
        joiner.add(out, function)
    });
    changed
}

/// What is known of the functions of the new Program.
#[derive(Default)]
struct Joiner {
    numbering: Numbering,
    /// For each result of the step of a loop, the step without what that result does not need. So a loop inside the
    /// step that was itself joined to a longer one still computes the same as before.
    slices: BTreeMap<FuncId, Vec<FuncId>>,
}

impl Joiner {
    fn add(&mut self, out: &mut Program, function: Function) -> FuncId {
        let numbered = self.numbering.numbered(&function);
        let class = self.numbering.class(&function, &numbered);
        let id = out.add(function);
        self.numbering.is_there(out, class);
        id
    }

    fn slices(&mut self, out: &mut Program, body: FuncId) -> Vec<FuncId> {
        if let Some(known) = self.slices.get(&body) {
            return known.clone();
        }
        let mut whole = Program { functions: out.functions.clone(), entry: body };
        compact(&mut whole);
        let slices: Vec<FuncId> = whole.main().results.iter().map(|result| self.slice(out, &whole, *result)).collect();
        self.slices.insert(body, slices.clone());
        slices
    }

    /// A Program of one result alone, as a function of the new Program.
    fn slice(&mut self, out: &mut Program, whole: &Program, result: Value) -> FuncId {
        let mut whole = whole.clone();
        let entry = usize::from(whole.entry);
        whole.functions[entry].results = vec![result];
        dead_code(&mut whole);
        let mut new = vec![None; whole.functions.len()];
        for id in bodies_first(&whole) {
            let mut function = whole.function(id).clone();
            for inst in &mut function.insts {
                inst.op.map_bodies(|id| new[usize::from(id)].expect("bodies come before their users"));
            }
            new[usize::from(id)] = Some(self.add(out, function));
        }
        new[usize::from(whole.entry)].expect("the entry is reached")
    }

    /// The function with one loop less, or with one that only counts.
    fn join_two(&mut self, out: &mut Program, function: &Function) -> Option<Function> {
        let numbered = self.numbering.numbered(function);
        let loops: Vec<Walk<'_>> =
            function.insts.iter().enumerate().filter_map(|(place, inst)| Walk::new(place, inst)).collect();
        let read = read(function);
        for walk in loops.iter().filter(|walk| walk.ends.iter().chain(walk.emitted).any(|v| read.contains(v))) {
            for other in loops.iter().filter(|other| other.may_have(walk)) {
                if let Some(instead) = self.along(out, &numbered, walk, other, &read)
                    && let Some(joined) = without(&self.numbering, function, walk, other, &instead)
                {
                    return Some(joined);
                }
            }
        }
        None
    }

    /// For each result of a loop that is read, the result of another that is the same; `None` where one has none.
    fn along(
        &mut self,
        out: &mut Program,
        numbered: &Numbered,
        walk: &Walk<'_>,
        other: &Walk<'_>,
        read: &BTreeSet<Value>,
    ) -> Option<BTreeMap<Value, Value>> {
        let mut carries = [walk, other].map(|walk| self.starts(numbered, walk));
        let mut classes = 0;
        loop {
            let steps = [(walk, &carries[0]), (other, &carries[1])]
                .map(|(walk, carries)| self.step(out, numbered, walk, carries));
            for (carries, next) in carries.iter_mut().zip(&steps) {
                carries
                    .iter_mut()
                    .zip(next)
                    .for_each(|(carry, next)| *carry = self.numbering.role("carry", &[*carry, *next]));
            }
            // Each round parts carries that are not the same, or none, and then no later one does.
            let now = carries.iter().flatten().collect::<BTreeSet<_>>().len();
            if now == classes {
                let [ours, theirs] = [0, 1].map(|k| [&carries[k][..], &steps[k][carries[k].len()..]].concat());
                return same_results(walk, &ours, other, &theirs, read);
            }
            classes = now;
        }
    }

    /// Numbers of what the carries of a loop start from.
    fn starts(&mut self, numbered: &Numbered, walk: &Walk<'_>) -> Vec<Number> {
        walk.starts.iter().map(|v| self.numbering.role("start", &[numbered.of(*v)])).collect()
    }

    /// Numbers of what a step makes of numbered carries.
    fn step(&mut self, out: &mut Program, numbered: &Numbered, walk: &Walk<'_>, carries: &[Number]) -> Vec<Number> {
        let mut params = if walk.counts { vec![] } else { vec![self.numbering.role("index", &[])] };
        params.extend(carries);
        params.extend(walk.invariants.iter().map(|v| self.numbering.role("invariant", &[numbered.of(*v)])));
        params.extend(walk.streams.iter().map(|v| self.numbering.role("row", &[numbered.of(*v)])));
        let slices = self.slices(out, walk.body);
        let number = |slice: FuncId| {
            let slice = out.function(slice);
            self.numbering.numbered_over(slice, &params).of(slice.results[0])
        };
        slices.into_iter().map(number).collect()
    }
}

/// Values that something reads.
fn read(function: &Function) -> BTreeSet<Value> {
    function.insts.iter().flat_map(|inst| &inst.args).chain(&function.results).copied().collect()
}

/// A loop of a function.
struct Walk<'f> {
    place: usize,
    body: FuncId,
    /// How often it steps: what a `for` is given, and what a `while` says.
    count: Value,
    /// Whether it is a `while`.
    counts: bool,
    /// Extent of its streams.
    bound: usize,
    starts: &'f [Value],
    invariants: &'f [Value],
    streams: &'f [Value],
    ends: &'f [Value],
    emitted: &'f [Value],
}

impl<'f> Walk<'f> {
    fn new(place: usize, inst: &'f Inst) -> Option<Walk<'f>> {
        match &inst.op {
            Op::For(op) => {
                let ((count, starts, invariants, streams), (ends, emitted)) =
                    (op.args(&inst.args), op.results(&inst.results));
                Some(Walk {
                    place,
                    body: op.body,
                    count,
                    counts: false,
                    bound: op.bound,
                    starts,
                    invariants,
                    streams,
                    ends,
                    emitted,
                })
            }
            Op::While(op) => {
                let ((starts, invariants), (ends, count)) = (op.args(&inst.args), op.results(&inst.results));
                Some(Walk {
                    place,
                    body: op.body,
                    count,
                    counts: true,
                    bound: 0,
                    starts,
                    invariants,
                    streams: &[],
                    ends,
                    emitted: &[],
                })
            }
            Op::Def(..) | Op::If(_) | Op::Unwind(_) | Op::Call(_) => None,
        }
    }

    /// Whether it steps as often as another loop, knows its steps beforehand, and emits as many rows.
    fn may_have(&self, other: &Walk<'_>) -> bool {
        let rows = other.emitted.is_empty() || self.bound == other.bound;
        self.place != other.place && !self.counts && self.count == other.count && rows
    }
}

/// For each result of a loop that is read, the result of another with the same number.
fn same_results(
    walk: &Walk<'_>,
    numbers: &[Number],
    other: &Walk<'_>,
    others: &[Number],
    read: &BTreeSet<Value>,
) -> Option<BTreeMap<Value, Value>> {
    let carries = [walk.ends.len(), other.ends.len()];
    let groups = [
        (walk.ends, &numbers[..carries[0]], other.ends, &others[..carries[1]]),
        (walk.emitted, &numbers[carries[0]..], other.emitted, &others[carries[1]..]),
    ];
    let mut instead = BTreeMap::new();
    for (values, numbers, others, known) in groups {
        for (value, number) in values.iter().zip(numbers).filter(|(value, _)| read.contains(value)) {
            instead.insert(*value, others[known.iter().position(|known| known == number)?]);
        }
    }
    Some(instead)
}

/// The function in which these values are read instead of the results of a loop.
fn without(
    numbering: &Numbering,
    function: &Function,
    walk: &Walk<'_>,
    other: &Walk<'_>,
    instead: &BTreeMap<Value, Value>,
) -> Option<Function> {
    let places = brought(numbering, function, walk.place, other.place, &instead.keys().copied().collect())?;
    let mut joined = function.clone();
    let stays = |place: &usize| *place != walk.place || walk.counts;
    joined.insts = places.into_iter().filter(stays).map(|place| function.insts[place].clone()).collect();
    let read = joined.insts.iter_mut().flat_map(|inst| &mut inst.args).chain(&mut joined.results);
    read.for_each(|value| *value = *instead.get(value).unwrap_or(value));
    Some(joined)
}

/// The instructions of a function in an order in which one of them, if it comes later than another, comes right after
/// it, with all that it reads. `None` where that reads one of these results of the other, or where an effect would come
/// earlier than it did.
fn brought(
    numbering: &Numbering,
    function: &Function,
    place: usize,
    later: usize,
    results: &BTreeSet<Value>,
) -> Option<Vec<usize>> {
    let mut needed = vec![false; function.insts.len()];
    let mut values: BTreeSet<Value> = function.insts[later].args.iter().copied().collect();
    for (k, inst) in function.insts[..=later].iter().enumerate().rev() {
        if k == later || inst.results.iter().any(|v| values.contains(v)) {
            needed[k] = true;
            values.extend(&inst.args);
        }
    }
    let seen = |k: usize| numbering.has_effect(&function.insts[k]);
    if results.iter().any(|value| values.contains(value))
        || seen(place)
        || (place..=later).any(|k| needed[k] && seen(k))
    {
        return None;
    }
    let (first, second): (Vec<usize>, Vec<usize>) = (0..function.insts.len()).partition(|k| *k <= place || needed[*k]);
    Some([first, second].concat())
}

impl Joiner {
    /// `if p, x {f, g}` and `if p, y {h, k}` are `if p, x, y {f and h, g and k}`: the function with one branch less.
    fn branch_once(&mut self, out: &mut Program, function: &Function) -> Option<Function> {
        let branches: Vec<(usize, &Inst, &IfOp)> = function.insts.iter().enumerate().filter_map(branch).collect();
        for (k, (place, inst, op)) in branches.iter().enumerate() {
            for (later, other, other_op) in
                branches[k + 1..].iter().filter(|(_, other, _)| other.args[0] == inst.args[0])
            {
                if let Some(places) =
                    brought(&self.numbering, function, *place, *later, &inst.results.iter().copied().collect())
                {
                    let both = IfOp {
                        then_body: self.beside(out, op.then_body, other_op.then_body),
                        else_body: self.beside(out, op.else_body, other_op.else_body),
                    };
                    let both = Inst {
                        op: Op::If(both),
                        args: [&inst.args[..], &other.args[1..]].concat(),
                        results: [&inst.results[..], &other.results].concat(),
                        pos: inst.pos.clone(),
                    };
                    let new = |k: usize| if k == *later { both.clone() } else { function.insts[k].clone() };
                    let insts = places.into_iter().filter(|k| k != place).map(new).collect();
                    return Some(Function { insts, ..function.clone() });
                }
            }
        }
        None
    }

    /// Two functions as one, of the arguments and results of both.
    fn beside(&mut self, out: &mut Program, one: FuncId, other: FuncId) -> FuncId {
        let (one, other) = (out.function(one), out.function(other));
        let b = Builder::new(one.name.clone());
        let (args, others) = (b.params(one.param_types()), b.params(other.param_types()));
        let results = [b.inline(one, &args), b.inline(other, &others)].concat();
        self.add(out, b.finish(results))
    }
}

fn branch((place, inst): (usize, &Inst)) -> Option<(usize, &Inst, &IfOp)> {
    match &inst.op {
        Op::If(op) => Some((place, inst, op)),
        Op::Def(..) | Op::For(_) | Op::While(_) | Op::Unwind(_) | Op::Call(_) => None,
    }
}
