//! A backward step that first puts back what the step forwards overwrote.

use std::collections::{BTreeMap, BTreeSet};

use super::level::{Change, Event, Level};
use super::{Making, read, row_of, window};
use crate::ir::{Attrs, Builder, DType, FuncId, Function, Inst, Linearity, Op, Type, UnwindArgs, UnwindOp, Value};
use crate::ops;

/// What an unwind by a log reads besides what the unwind it stands for reads.
pub(super) struct Logs {
    /// Steps.
    pub(super) count: Value,
    /// Values that only the step forwards read.
    pub(super) extra: Vec<Value>,
    /// The row of the step outside.
    pub(super) row: Option<Value>,
    pub(super) logs: Vec<Value>,
    /// The states after all steps.
    pub(super) states: Vec<Value>,
}

/// Arguments of an unwind by group, and the types of its results.
pub(super) struct Threads<'f> {
    pub(super) op: &'f UnwindOp,
    pub(super) args: Vec<Value>,
    pub(super) results: Vec<Type>,
}

impl Making {
    /// An unwind that puts states back: the states before all steps, and the results of the unwind that it stands for.
    pub(super) fn put_back(
        &mut self,
        b: &Builder,
        threads: Option<&Threads<'_>>,
        bwd: FuncId,
        read: &Logs,
    ) -> Vec<Value> {
        let args = threads.map(|threads| threads.op.args(&threads.args));
        let group = |of: fn(&UnwindArgs<'_, Value>) -> Vec<Value>| args.as_ref().map_or(vec![], of);
        let invariants = [
            group(|args| args.invariants.to_vec()),
            read.extra.clone(),
            read.row.into_iter().collect(),
            read.logs.clone(),
        ]
        .concat();
        let adjoints = [read.states.clone(), group(|args| args.adjoints.to_vec())].concat();
        let (streams, emitted, running) = (
            group(|args| args.streams.to_vec()),
            group(|args| args.emitted.to_vec()),
            group(|args| args.running.to_vec()),
        );
        let types = [b.types(&read.states), threads.map_or(vec![], |threads| threads.results.clone())].concat();
        let nothing = Builder::new("no_state");
        nothing.param(Type::scalar(DType::I64));
        nothing.params(b.types(&invariants));
        nothing.params(streams.iter().map(|v| b.ty(*v).row().expect("a stream has rows")));
        let op = UnwindOp {
            body: self.program.add(nothing.finish(vec![])),
            bwd,
            carries: 0,
            invariants: invariants.len(),
            streams: streams.len(),
            adjoints: adjoints.len(),
            emitted: emitted.len(),
            running: running.len(),
            bound: threads.map_or(0, |threads| threads.op.bound),
            linearity: Linearity::Custom,
        };
        b.push(Op::Unwind(op), [vec![read.count], invariants, streams, adjoints, emitted, running].concat(), types)
    }

    /// The backward step of a loop by its logs, `(i, inv, extra, row outside, logs, x, states after, a, g, r) ->
    /// (states before, a', r', h)`, and the numbers of what else it reads; `inside` of another loop there is a row
    /// outside. None where it would need a state before that state is there.
    pub(super) fn backwards(&mut self, level: &Level<'_>, inside: bool) -> Option<(FuncId, Vec<u32>)> {
        let b = Builder::new(
            level.unwind.map_or_else(|| format!("{}_undo", level.body.name), |(_, bwd)| format!("{}_undo", bwd.name)),
        );
        let mut undoing = Undoing { level, b: &b, known: BTreeMap::new(), extra: vec![] };
        let index = undoing.param(level.body, level.body.params[0], level.numbers[0]);
        let (mut invariants, mut streams, mut rest, mut ends) = (vec![], vec![], vec![], vec![]);
        if let Some((op, bwd)) = level.unwind {
            let params = op.args(&bwd.params);
            let mut list = |values: &[Value]| -> Vec<Value> {
                values.iter().map(|v| undoing.param(bwd, *v, level.bwd_numbers[v.0 as usize])).collect()
            };
            (invariants, streams) = (list(params.invariants), list(params.streams));
            rest = [list(params.adjoints), list(params.emitted), list(params.running)].concat();
            ends = bwd.results.iter().map(|v| level.bwd_numbers[v.0 as usize]).collect();
        }
        let outside = inside.then(|| b.param(Type::scalar(DType::I64)));
        let logs = b.params(level.logs.iter().cloned());
        let row = row_of(&b, outside, level.steps, index);
        let of = |v: Value| level.numbers[v.0 as usize];
        let after: Vec<Value> = level
            .threads
            .iter()
            .map(|carry| undoing.param(level.body, level.body.results[*carry], of(level.body.results[*carry])))
            .collect();
        for (log, carry) in logs.iter().zip(&level.whole) {
            let state = read(&b, *log, row);
            undoing.known.insert(of(level.body.params[1 + carry]), state);
        }
        let mut left = logs.len();
        for event in level.events.iter().rev() {
            let logs = &logs[left - event.logs..left];
            left -= event.logs;
            match &event.change {
                Change::Window { place } => undoing.window(event, *place, row, logs)?,
                Change::Loop { level: inner, unwind } => {
                    let (bwd, extra) = self.backwards(inner, true)?;
                    undoing.inner(self, event, (inner, *unwind), bwd, (extra, row, logs))?;
                }
            }
        }
        undoing.want(&ends)?;
        let before = level
            .threads
            .iter()
            .map(|carry| undoing.known.get(&of(level.body.params[1 + carry])).copied())
            .collect::<Option<Vec<_>>>()?;
        let ends = ends.iter().map(|number| undoing.known[number]).collect();
        let (numbers, extra): (Vec<u32>, Vec<Value>) = undoing.extra.into_iter().unzip();
        let mut function = b.finish([before, ends].concat());
        let adjoints = level.unwind.map_or(0, |(op, _)| op.adjoints);
        function.params = [
            vec![index],
            invariants,
            extra,
            outside.into_iter().collect(),
            logs,
            streams,
            after,
            rest[..adjoints].to_vec(),
            rest[adjoints..].to_vec(),
        ]
        .concat();
        Some((self.program.add(function), numbers))
    }
}

/// A backward step under construction.
struct Undoing<'l, 'p, 'b> {
    level: &'l Level<'p>,
    b: &'b Builder,
    /// What is there, by what it is.
    known: BTreeMap<u32, Value>,
    /// Invariants of the loop that its unwind does not have.
    extra: Vec<(u32, Value)>,
}

impl Undoing<'_, '_, '_> {
    fn param(&mut self, function: &Function, value: Value, number: u32) -> Value {
        let param = self.b.param(function.ty(value).clone());
        self.known.entry(number).or_insert(param);
        param
    }

    /// What a value of the step forwards is.
    fn of(&self, value: Value) -> u32 {
        self.level.numbers[value.0 as usize]
    }

    /// Puts back what was in a window before it was written.
    fn window(&mut self, event: &Event<'_>, place: bool, row: Value, logs: &[Value]) -> Option<()> {
        let (inst, b) = (self.level.inst(event), self.b);
        let Op::Def(write, attrs) = &inst.op else { panic!("a window is written by a row") };
        let starts: Vec<Value> = if place {
            logs[1..].iter().map(|log| read(b, *log, row)).collect()
        } else {
            let numbers: Vec<u32> = inst.args[2..].iter().map(|v| self.of(*v)).collect();
            self.want(&numbers)?;
            numbers.iter().map(|number| self.known[number]).collect()
        };
        b.set_pos(&inst.pos);
        let after = *self.known.get(&self.of(inst.results[0]))?;
        if *write == &ops::UPDATE {
            // What was written is still there, and need not be computed again.
            let written = window(b, after, &self.level.body.ty(inst.args[1]).shape, attrs.sizes("step"), &starts);
            self.is(inst.args[1], written);
        }
        self.readers(self.of(inst.results[0]));
        b.set_pos(&inst.pos);
        let old = read(b, logs[0], row);
        let before = b.op(&ops::UPDATE, attrs.clone(), &[&[after, old], &starts[..]].concat());
        self.known.insert(self.of(inst.args[0]), before);
        Some(())
    }

    /// A value of the step forwards is there, and with it what it is another shape of.
    fn is(&mut self, value: Value, here: Value) {
        self.known.entry(self.of(value)).or_insert(here);
        let shaped = self.level.body.insts.iter().find(|inst| inst.results.contains(&value));
        if let Some(Inst { op: Op::Def(def, _), args, .. }) = shaped
            && *def == &ops::RESHAPE
        {
            let shape = self.level.body.ty(args[0]).shape.clone();
            let here = self.b.op(&ops::RESHAPE, Attrs::none().ints("shape", shape), &[here]);
            self.known.entry(self.of(args[0])).or_insert(here);
        }
    }

    /// Reads what is read of a state before that state is gone.
    fn readers(&mut self, state: u32) {
        let Some((_, bwd)) = self.level.unwind else { return };
        let numbers = &self.level.bwd_numbers;
        for inst in bwd
            .insts
            .iter()
            .filter(|inst| matches!(inst.op, Op::Def(..)) && inst.args.iter().any(|v| numbers[v.0 as usize] == state))
        {
            // What needs an earlier state as well is computed when that is there.
            _ = self.want(&inst.results.iter().map(|v| numbers[v.0 as usize]).collect::<Vec<u32>>());
        }
    }

    /// Puts back what a loop of the step changed, with the unwind of that loop where there is one.
    fn inner(
        &mut self,
        making: &mut Making,
        event: &Event<'_>,
        (inner, unwind): (&Level<'_>, Option<usize>),
        bwd: FuncId,
        (extra, row, logs): (Vec<u32>, Value, &[Value]),
    ) -> Option<()> {
        let inst = self.level.inst(event);
        let (count, level) = (self.of(inst.args[0]), self.level);
        self.want(&[&[count], &extra[..]].concat())?;
        let ends: Vec<u32> = inner.threads.iter().map(|carry| self.of(inst.results[*carry])).collect();
        self.want(&ends)?;
        let threads = match (level.unwind, unwind) {
            (Some((_, bwd)), Some(unwind)) => {
                let inst = &bwd.insts[unwind];
                let Op::Unwind(op) = &inst.op else { panic!("what reverses a loop is an unwind") };
                let numbers: Vec<u32> = inst.args.iter().map(|v| level.bwd_numbers[v.0 as usize]).collect();
                let states = 1..1 + op.carries;
                let wanted: Vec<u32> = numbers
                    .iter()
                    .enumerate()
                    .filter(|(k, _)| !states.contains(k))
                    .map(|(_, number)| *number)
                    .collect();
                self.want(&wanted)?;
                // The states it starts from are not read.
                let args = numbers
                    .iter()
                    .map(|number| self.known.get(number).copied().unwrap_or(self.known[&count]))
                    .collect();
                let results = inst.results.iter().map(|v| bwd.ty(*v).clone()).collect();
                Some((inst, Threads { op, args, results }))
            }
            (Some(_) | None, None) | (None, Some(_)) => None,
        };
        let get = |number: &u32| self.known[number];
        let reads = Logs {
            count: self.known[&count],
            extra: extra.iter().map(get).collect(),
            row: Some(row),
            logs: logs.to_vec(),
            states: ends.iter().map(get).collect(),
        };
        self.b.set_pos(threads.as_ref().map_or(&inst.pos, |(unwind, _)| &unwind.pos));
        let results = making.put_back(self.b, threads.as_ref().map(|(_, threads)| threads), bwd, &reads);
        let (before, rest) = results.split_at(ends.len());
        for (carry, before) in inner.threads.iter().zip(before) {
            self.known.insert(self.of(inst.args[1 + carry]), *before);
        }
        if let Some((unwind, _)) = threads {
            for (result, here) in unwind.results.iter().zip(rest) {
                self.known.insert(level.bwd_numbers[result.0 as usize], *here);
            }
        }
        Some(())
    }

    /// Computes values that are not there yet, of what is; none where they follow from a state that is not there.
    fn want(&mut self, wanted: &[u32]) -> Option<()> {
        let (bwd, forward): (Vec<u32>, Vec<u32>) =
            wanted.iter().partition(|number| self.level.bwd_numbers.contains(number));
        if let Some((_, function)) = self.level.unwind {
            self.compute(function, &self.level.bwd_numbers, &bwd)?;
        }
        self.compute(self.level.body, &self.level.numbers, &forward)
    }

    fn compute(&mut self, function: &Function, numbers: &[u32], wanted: &[u32]) -> Option<()> {
        let number = |v: &Value| numbers[v.0 as usize];
        let mut open: BTreeSet<u32> =
            wanted.iter().copied().filter(|number| !self.known.contains_key(number)).collect();
        let mut chosen: Vec<&Inst> = vec![];
        let mut made: BTreeSet<u32> = BTreeSet::new();
        for inst in function.insts.iter().rev() {
            if inst.results.iter().any(|v| open.contains(&number(v)) && !self.known.contains_key(&number(v))) {
                open.extend(inst.args.iter().map(number).filter(|number| !self.known.contains_key(number)));
                made.extend(inst.results.iter().map(number));
                chosen.push(inst);
            }
        }
        let fixed = &self.level.body.params[1 + self.level.carries..1 + self.level.carries + self.level.invariants];
        let mut extra = vec![];
        for missing in open.difference(&made) {
            extra.push((*missing, *fixed.iter().find(|v| self.of(**v) == *missing)?));
        }
        for (missing, param) in extra {
            let here = self.param(self.level.body, param, missing);
            self.extra.push((missing, here));
        }
        for inst in chosen.into_iter().rev() {
            if inst.results.iter().all(|v| self.known.contains_key(&number(v))) {
                continue;
            }
            let args = inst.args.iter().map(|v| self.known[&number(v)]).collect();
            for (old, new) in inst.results.iter().zip(self.b.copy(function, inst, args)) {
                self.known.entry(number(old)).or_insert(new);
            }
        }
        Some(())
    }
}
