//! Which forward loop has the trajectory of an unwind: found by value numbering, exact, and only a matter of cost.
//!
//! Two carries are the same when they start from the same value and their steps compute the same from the same. The
//! carries of both loops are numbered together: first by start value, then again and again by what a step makes of
//! them, until nothing changes. The numbers are interned, not hashed, so two carries with one number are equal.

use std::collections::{BTreeMap, BTreeSet};

use crate::ir::{FuncId, Function, Inst, Op, Program, Type, UnwindOp, Value};
use crate::opt::{OpKey, op_key};
use crate::plan::analysis::work::{Branches, Priced};
use retrograd_schedule::Sweep;

/// An unwind and the loop that walks its states.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::plan) struct Pair {
    /// Instruction number of the loop.
    pub(in crate::plan) loop_inst: usize,
    /// Instruction number of the unwind.
    pub(in crate::plan) unwind_inst: usize,
    /// Which carry of the loop is state number k of the unwind.
    pub(in crate::plan) states: Vec<usize>,
    /// Whether the number of its steps is known when it starts.
    pub(in crate::plan) sweep: Sweep,
}

/// All pairs of a function; a loop is paired at most once, with its first unwind.
pub(in crate::plan) fn pairs(program: &Program, function: &Function) -> Vec<Pair> {
    let (mut found, mut numbers) = (Vec::<Pair>::new(), Numbers::new(program));
    for (unwind_inst, inst) in function.insts.iter().enumerate() {
        let Op::Unwind(unwind) = &inst.op else { continue };
        let before = function.insts[..unwind_inst].iter().enumerate().rev();
        let pair =
            before.filter(|(k, _)| found.iter().all(|pair| pair.loop_inst != *k)).find_map(|(loop_inst, candidate)| {
                let outer = |numbers: &mut Numbers<'_>, v: Value| numbers.of(Key::Outer(v));
                let walk = Walk::of(candidate, &mut |v| outer(&mut numbers, v))?;
                let states = same_states(&mut numbers, &walk, (unwind, inst), outer)?;
                Some(Pair { loop_inst, unwind_inst, states, sweep: walk.sweep })
            });
        found.extend(pair);
    }
    found
}

/// Which carry of a loop is state number k of an unwind, where the two stand in a step forwards and in its adjoint,
/// whose first parameters are the same.
pub(in crate::plan) fn inner_states(
    program: &Program,
    forward: (&Function, &Inst),
    backward: (&Function, &Inst),
) -> Option<Vec<usize>> {
    let mut numbers = Numbers::new(program);
    let shared = forward.0.params.len();
    let params: Vec<u32> = (0..backward.0.params.len().max(shared)).map(|k| numbers.of(Key::Param(k))).collect();
    let (ours, theirs) = (numbers.values(backward.0, &params), numbers.values(forward.0, &params));
    same_walk(&mut numbers, (&theirs, forward.1), (&ours, backward.1))
}

/// Which carry of a loop is state number k of an unwind, given the numbers of all values where each of them stands.
pub(in crate::plan) fn same_walk(
    numbers: &mut Numbers<'_>,
    forward: (&[u32], &Inst),
    backward: (&[u32], &Inst),
) -> Option<Vec<usize>> {
    let Op::Unwind(unwind) = &backward.1.op else { return None };
    let walk = Walk::of(forward.1, &mut |v| forward.0[v.0 as usize])?;
    same_states(numbers, &walk, (unwind, backward.1), |_, v| backward.0[v.0 as usize])
}

/// A loop forwards, with its arguments by role and number.
struct Walk {
    count: u32,
    starts: Vec<u32>,
    invariants: Vec<u32>,
    streams: Vec<u32>,
    body: FuncId,
    sweep: Sweep,
}

impl Walk {
    fn of(inst: &Inst, number: &mut dyn FnMut(Value) -> u32) -> Option<Walk> {
        match &inst.op {
            Op::For(op) => {
                let (_, starts, invariants, streams) = op.args(&inst.args);
                let [starts, invariants, streams] =
                    [starts, invariants, streams].map(|list| list.iter().map(|v| number(*v)).collect());
                Some(Walk {
                    count: number(inst.args[0]),
                    starts,
                    invariants,
                    streams,
                    body: op.body,
                    sweep: Sweep::Split,
                })
            }
            Op::While(op) => {
                let ((starts, invariants), (_, count)) = (op.args(&inst.args), op.results(&inst.results));
                let [starts, invariants] = [starts, invariants].map(|list| list.iter().map(|v| number(*v)).collect());
                Some(Walk {
                    count: number(count),
                    starts,
                    invariants,
                    streams: vec![],
                    body: op.body,
                    sweep: Sweep::Online,
                })
            }
            Op::Def(..) | Op::If(_) | Op::Unwind(_) | Op::Call(_) => None,
        }
    }

    fn back(op: &UnwindOp, inst: &Inst, mut number: impl FnMut(Value) -> u32) -> Walk {
        let args = op.args(&inst.args);
        let [starts, invariants, streams] =
            [args.carries, args.invariants, args.streams].map(|list| list.iter().map(|v| number(*v)).collect());
        Walk { count: number(inst.args[0]), starts, invariants, streams, body: op.body, sweep: Sweep::Joint }
    }
}

/// Which carry of a loop is which state of an unwind, given the numbers of what both read.
fn same_states(
    numbers: &mut Numbers<'_>,
    walk: &Walk,
    (unwind, inst): (&UnwindOp, &Inst),
    number: impl Fn(&mut Numbers<'_>, Value) -> u32,
) -> Option<Vec<usize>> {
    let back = Walk::back(unwind, inst, |v| number(numbers, v));
    if walk.count != back.count || unwind.carries == 0 {
        return None;
    }
    // Rows of streams bound the count of an unwind, and nobody bounds that of a `while`.
    let rows = unwind.streams + unwind.emitted + inst.results.len() - unwind.adjoints - unwind.running;
    if walk.sweep == Sweep::Online && rows > 0 {
        return None;
    }
    let (mut ours, mut theirs) = (back.starts.clone(), walk.starts.clone());
    // The first round makes carries of starts. Where another tells no more of them apart, none will.
    let mut apart = 0;
    for round in 0..=walk.starts.len() {
        ours = numbers.step(&back, &ours);
        theirs = numbers.step(walk, &theirs);
        let before = std::mem::replace(&mut apart, ours.iter().chain(&theirs).collect::<BTreeSet<_>>().len());
        if round > 0 && apart == before {
            break;
        }
    }
    ours.iter().map(|number| theirs.iter().position(|other| other == number)).collect()
}

/// Work of what `other` computes and `function`, with the same first parameters, does not. Branches of one predicate go
/// the same way, and are placed as one.
pub(in crate::plan) fn work_beyond(program: &Program, function: &Priced<'_>, other: &Priced<'_>) -> u64 {
    let mut numbers = Numbers::new(program);
    let params: Vec<u32> = (0..function.function.params.len().max(other.function.params.len()))
        .map(|k| numbers.of(Key::Param(k)))
        .collect();
    let mut known = Known::default();
    numbers.run(function, &params, &mut known);
    numbers.run(other, &params, &mut known).1
}

/// What code has computed, and inside of its branches, by the number of their predicate.
#[derive(Default)]
struct Known {
    numbers: BTreeSet<u32>,
    branches: BTreeMap<u32, [Known; 2]>,
    /// Inside of a branch: what the results of an `if` are there.
    inside: BTreeMap<u32, u32>,
}

/// What a value is.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
enum Key {
    /// What a text says.
    Text(String),
    /// A value around the code that is looked at.
    Outer(Value),
    /// A parameter, by its place.
    Param(usize),
    /// One of a body of which nothing is known but the type.
    Typed(usize, Type),
    /// The index of a loop.
    Index,
    /// This step's row of a stream.
    Row(u32),
    /// A carry, by its number and what a step makes of it.
    Carry(u32, u32),
    /// The results of a body over fresh parameters.
    Body(Vec<u32>),
    /// What an instruction does, bodies by what they compute of fresh parameters.
    What(OpKey),
    /// A result of it, by its place, over these arguments.
    Result(u32, usize, Vec<u32>),
}

/// Numbers for what values are: equal numbers, equal values.
pub(in crate::plan) struct Numbers<'p> {
    program: &'p Program,
    interned: BTreeMap<Key, u32>,
    /// What the instructions of a function do.
    whats: BTreeMap<FuncId, Vec<u32>>,
    bodies: BTreeMap<FuncId, u32>,
}

impl<'p> Numbers<'p> {
    /// No numbers yet.
    pub(in crate::plan) fn new(program: &'p Program) -> Numbers<'p> {
        Numbers { program, interned: BTreeMap::new(), whats: BTreeMap::new(), bodies: BTreeMap::new() }
    }

    /// The number of what a text says.
    pub(in crate::plan) fn number(&mut self, text: String) -> u32 {
        self.of(Key::Text(text))
    }

    fn of(&mut self, key: Key) -> u32 {
        let next = self.interned.len() as u32;
        *self.interned.entry(key).or_insert(next)
    }

    /// Numbers of the carries after one more round.
    fn step(&mut self, walk: &Walk, carries: &[u32]) -> Vec<u32> {
        let mut params = match walk.sweep {
            Sweep::Split | Sweep::Joint => vec![self.of(Key::Index)],
            // A step of a `while` has no index.
            Sweep::Online => vec![],
        };
        params.extend(carries);
        params.extend(&walk.invariants);
        params.extend(walk.streams.iter().map(|stream| self.of(Key::Row(*stream))));
        let results = self.function(walk.body, &params);
        carries
            .iter()
            .zip(&results[..walk.starts.len()])
            .map(|(before, after)| self.of(Key::Carry(*before, *after)))
            .collect()
    }

    /// Numbers of the results of a function over numbered parameters.
    fn function(&mut self, id: FuncId, params: &[u32]) -> Vec<u32> {
        let function = self.program.function(id);
        let whats = self.whats.remove(&id).unwrap_or_else(|| self.whats(function));
        let numbers = self.values_of(function, &whats, params);
        self.whats.insert(id, whats);
        function.results.iter().map(|v| numbers[v.0 as usize]).collect()
    }

    /// Numbers of all values of a function over numbered parameters.
    pub(in crate::plan) fn values(&mut self, function: &Function, params: &[u32]) -> Vec<u32> {
        let whats = self.whats(function);
        self.values_of(function, &whats, params)
    }

    fn values_of(&mut self, function: &Function, whats: &[u32], params: &[u32]) -> Vec<u32> {
        let mut numbers = vec![0; function.types.len()];
        for (param, number) in function.params.iter().zip(params) {
            numbers[param.0 as usize] = *number;
        }
        for (inst, what) in function.insts.iter().zip(whats) {
            let args: Vec<u32> = inst.args.iter().map(|v| numbers[v.0 as usize]).collect();
            for (k, value) in inst.results.iter().enumerate() {
                numbers[value.0 as usize] = self.of(Key::Result(*what, k, args.clone()));
            }
        }
        numbers
    }

    /// Runs a function over numbered parameters: the numbers of its results, and the work of what was not known before.
    fn run(&mut self, priced: &Priced<'_>, params: &[u32], known: &mut Known) -> (Vec<u32>, u64) {
        let function = priced.function;
        let numbers = self.values(function, params);
        let (mut work, mut branches) = (0u64, Branches::default());
        for inst in &function.insts {
            let [args, results] = [&inst.args, &inst.results]
                .map(|list| list.iter().map(|v| numbers[v.0 as usize]).collect::<Vec<u32>>());
            if results.iter().all(|number| known.numbers.contains(number)) {
                continue;
            }
            known.numbers.extend(&results);
            match &inst.op {
                Op::If(op) => {
                    let sides = known.branches.entry(args[0]).or_default();
                    let mut side = |(body, known): (FuncId, &mut Known)| {
                        let args: Vec<u32> =
                            args[1..].iter().map(|arg| known.inside.get(arg).copied().unwrap_or(*arg)).collect();
                        let (ends, work) = self.run(&priced.branch(inst, body), &args, known);
                        known.inside.extend(results.iter().copied().zip(ends));
                        work
                    };
                    let [then_known, else_known] = sides;
                    branches.add(inst.args[0], [side((op.then_body, then_known)), side((op.else_body, else_known))]);
                }
                Op::Def(..) | Op::For(_) | Op::While(_) | Op::Unwind(_) | Op::Call(_) => {
                    work = work.saturating_add(priced.inst(inst));
                }
            }
        }
        let ends = function.results.iter().map(|v| numbers[v.0 as usize]).collect();
        (ends, work.saturating_add(branches.work(function)))
    }

    /// What the instructions of a function do.
    fn whats(&mut self, function: &Function) -> Vec<u32> {
        let what = |inst: &Inst| {
            let key = op_key(&inst.op, |body| self.body(body));
            self.of(Key::What(key))
        };
        function.insts.iter().map(what).collect()
    }

    /// What a body computes of fresh parameters.
    fn body(&mut self, body: FuncId) -> u32 {
        if let Some(known) = self.bodies.get(&body) {
            return *known;
        }
        let types = self.program.function(body).param_types();
        let params: Vec<u32> = types.into_iter().enumerate().map(|(k, ty)| self.of(Key::Typed(k, ty))).collect();
        let results = self.function(body, &params);
        let number = self.of(Key::Body(results));
        self.bodies.insert(body, number);
        number
    }
}
