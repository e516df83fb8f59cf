//! Loops that change little of what they carry, reversed by putting back what they changed.
//!
//! `for i { a[i] = f(a) }` makes one new element a step where its states are whole arrays. Forwards, a step writes down
//! what it is about to overwrite, in its row of a log; backwards, the state after a step and that row are the state
//! before it. So no states are held and no step is run again, in loops inside others too, whose counts may be known at
//! run time only: a log has a row for as many steps as there can be. It is a rewrite of the Program, like interchange:
//! the loop carries its logs, and its unwind becomes one without states that carries the state itself, downwards.
//! Numbers are moved and never computed, so every bit is that of a state that was kept.

mod backwards;
mod forwards;
mod level;
#[cfg(test)]
mod tests;

use crate::ir::{Attrs, Builder, ForOp, FuncId, Function, Inst, Op, Pos, Program, Type, Value};
use crate::plan::analysis::counts::constant;
use crate::plan::analysis::pair::{Numbers, pairs};
use crate::plan::analysis::ranges::{Range, ranges};
use crate::{ops, opt};
use backwards::{Logs, Threads};
use level::Level;
use retrograd_schedule::Sweep;

/// A Program whose loops keep a log.
#[derive(Clone, Debug)]
pub(in crate::plan) struct Undone {
    /// The Program.
    pub(in crate::plan) program: Program,
    /// The loops.
    pub(in crate::plan) logs: Vec<Logged>,
}

/// A loop that keeps a log of what its steps overwrite.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Logged {
    /// The user's line.
    pub pos: Pos,
    /// Steps that have a row, those of loops inside included.
    pub rows: u64,
    /// Bytes of all rows.
    pub bytes: u64,
}

/// Longest log: more cannot be meant.
const LONGEST: u64 = 1 << 40;

/// The Program with logs in its loops that change little of what they carry; none where there are none. Of depth 0 are
/// the loops that are reversed in the main function, of depth 1 those that are reversed within steps of others, from
/// states that these hold.
pub(in crate::plan) fn undone(program: &Program, depth: usize) -> Option<Undone> {
    let mut making = Making { program: program.clone(), logs: vec![] };
    let main = program.main();
    let entry = making.within(main, &vec![None; main.params.len()], depth)?;
    making.program.entry = making.program.add(entry);
    opt::dead_code(&mut making.program);
    Some(Undone { program: making.program, logs: making.logs })
}

/// The Program under construction.
struct Making {
    program: Program,
    logs: Vec<Logged>,
}

impl Making {
    /// A function with logs in loops at some depth of it, given the ranges of its parameters; none where there are
    /// none.
    fn within(&mut self, function: &Function, bounds: &[Option<Range>], depth: usize) -> Option<Function> {
        if depth == 0 {
            return self.here(function, bounds);
        }
        let (mut changed, mut function) = (false, function.clone());
        for k in 0..function.insts.len() {
            let Op::Unwind(op) = &function.insts[k].op else { continue };
            let bwd = self.program.function(op.bwd).clone();
            let mut inside = vec![None; bwd.params.len()];
            inside[0] = constant(&function, function.insts[k].args[0]).map(|count| (0, (count.as_i64()[0] - 1).max(0)));
            if let Some(bwd) = self.within(&bwd, &inside, depth - 1) {
                let bwd = self.program.add(bwd);
                let Op::Unwind(op) = &mut function.insts[k].op else { panic!("it is the same instruction") };
                (op.bwd, changed) = (bwd, true);
            }
        }
        changed.then_some(function)
    }

    fn here(&mut self, function: &Function, bounds: &[Option<Range>]) -> Option<Function> {
        let has_states = |inst: &Inst| matches!(&inst.op, Op::Unwind(op) if op.carries > 0);
        if !function.insts.iter().any(has_states) {
            return None;
        }
        let mut function = self.swept(function);
        let (mut at, before) = (0, self.logs.len());
        while at < function.insts.len() {
            let undone = match &function.insts[at].op {
                Op::Unwind(op) if op.carries > 0 => self.undo(&function, bounds, at),
                Op::Def(..) | Op::If(_) | Op::For(_) | Op::While(_) | Op::Unwind(_) | Op::Call(_) => None,
            };
            if let Some(undone) = undone {
                // What is new is before the unwind.
                at += undone.insts.len() - function.insts.len();
                function = undone;
            }
            at += 1;
        }
        (self.logs.len() > before).then_some(function)
    }

    /// A function in which every unwind of states comes after a loop that walks them.
    fn swept(&self, function: &Function) -> Function {
        let paired: Vec<usize> = pairs(&self.program, function).iter().map(|pair| pair.unwind_inst).collect();
        let b = Builder::new(function.name.clone());
        let params = b.params(function.param_types());
        let mut map = b.map(function, &params);
        for (k, inst) in function.insts.iter().enumerate() {
            let args: Vec<Value> =
                inst.args.iter().map(|v| map[v.0 as usize].expect("SSA: defined before use")).collect();
            if let Op::Unwind(op) = &inst.op
                && op.carries > 0
                && !paired.contains(&k)
            {
                let groups = op.args(&args);
                b.set_pos(&inst.pos);
                let walked = [&[groups.count], groups.carries, groups.invariants, groups.streams].concat();
                b.push(Op::For(op.trajectory()), walked, b.types(groups.carries));
            }
            inst.results
                .iter()
                .zip(b.copy(function, inst, args))
                .for_each(|(old, new)| map[old.0 as usize] = Some(new));
        }
        b.finish(function.results.iter().map(|v| map[v.0 as usize].expect("SSA: results are defined")).collect())
    }

    /// The function with one of its unwinds by a log.
    fn undo(&mut self, function: &Function, bounds: &[Option<Range>], unwind: usize) -> Option<Function> {
        let program = self.program.clone();
        let Op::Unwind(op) = &function.insts[unwind].op else { return None };
        let effects = program.effects();
        if effects[usize::from(op.body)] || effects[usize::from(op.bwd)] {
            return None;
        }
        let pair = pairs(&program, function)
            .into_iter()
            .find(|pair| pair.unwind_inst == unwind && pair.sweep == Sweep::Split)?;
        let mut numbers = Numbers::new(&program);
        let params: Vec<u32> = (0..function.params.len()).map(|k| numbers.number(format!("argument {k}"))).collect();
        let known = numbers.values(function, &params);
        let bounds = ranges(function, bounds);
        let outside = level::Outside { numbers: &known, ranges: &bounds, rows: 1 };
        let back = Some((function, &known[..], unwind, pair.states));
        let level = Level::new(&program, &mut numbers, (function, &outside), pair.loop_inst, back, &[])?;
        if !level.changes_little() {
            return None;
        }
        let forward = self.forwards(&level, false);
        let (backward, extra) = self.backwards(&level, false)?;
        let undone = self.around(function, (pair.loop_inst, forward), (unwind, backward, &extra), &level, &known)?;
        let bytes = level.logs.iter().map(|log| log.bytes() as u64).sum();
        self.logs.push(Logged {
            pos: function.insts[pair.loop_inst].pos.clone(),
            rows: level.most_rows() as u64,
            bytes,
        });
        Some(undone)
    }

    /// The function around a loop that keeps logs and an unwind that reads them.
    fn around(
        &mut self,
        function: &Function,
        (loop_inst, forward): (usize, FuncId),
        (unwind, backward, extra): (usize, FuncId, &[u32]),
        level: &Level<'_>,
        numbers: &[u32],
    ) -> Option<Function> {
        let b = Builder::new(function.name.clone());
        let params = b.params(function.param_types());
        let mut map = b.map(function, &params);
        let (mut logs, mut ends) = (vec![], vec![]);
        for (k, inst) in function.insts.iter().enumerate() {
            let args: Vec<Value> =
                inst.args.iter().map(|v| map[v.0 as usize].expect("SSA: defined before use")).collect();
            let results = if k == loop_inst {
                b.set_pos(&inst.pos);
                logs = level.logs.iter().map(|log| b.zeros(log)).collect();
                let (results, after) = self.keep(&b, (function, inst), &args, forward, &logs, None);
                (logs, ends) = (after, level.threads.iter().map(|carry| results[*carry]).collect());
                results
            } else if k == unwind {
                b.set_pos(&inst.pos);
                let find =
                    |number: &u32| map.iter().zip(numbers).find_map(|(here, known)| here.filter(|_| known == number));
                let extra = extra.iter().map(find).collect::<Option<Vec<Value>>>()?;
                let Op::Unwind(op) = &inst.op else { panic!("what reverses a loop is an unwind") };
                let reads = Logs { count: args[0], extra, row: None, logs: logs.clone(), states: ends.clone() };
                let threads =
                    Threads { op, args, results: inst.results.iter().map(|v| function.ty(*v).clone()).collect() };
                self.put_back(&b, Some(&threads), backward, &reads).split_off(level.threads.len())
            } else {
                b.copy(function, inst, args)
            };
            inst.results.iter().zip(results).for_each(|(old, new)| map[old.0 as usize] = Some(new));
        }
        Some(b.finish(function.results.iter().map(|v| map[v.0 as usize].expect("SSA: results are defined")).collect()))
    }

    /// A loop over a step that keeps logs: its results, and the logs after it.
    fn keep(
        &self,
        b: &Builder,
        (function, inst): (&Function, &Inst),
        args: &[Value],
        body: FuncId,
        logs: &[Value],
        row: Option<Value>,
    ) -> (Vec<Value>, Vec<Value>) {
        let Op::For(op) = &inst.op else { panic!("logs are kept in counted loops") };
        let (count, carries, invariants, streams) = op.args(args);
        let args = [&[count], carries, logs, invariants, row.as_slice(), streams].concat();
        let kept = ForOp {
            body,
            carries: carries.len() + logs.len(),
            invariants: invariants.len() + row.iter().len(),
            bound: op.bound,
        };
        let (ends, emitted) = op.results(&inst.results);
        let of = |values: &[Value]| values.iter().map(|v| function.ty(*v).clone()).collect::<Vec<Type>>();
        let results = b.push(Op::For(kept), args, [of(ends), b.types(logs), of(emitted)].concat());
        let (ends, rest) = results.split_at(ends.len());
        let (logs, emitted) = rest.split_at(logs.len());
        ([ends, emitted].concat(), logs.to_vec())
    }
}

/// The log with a value in its row.
fn write(b: &Builder, log: Value, row: Value, value: Value) -> Value {
    let shape = [&[1], &b.ty(value).shape[..]].concat();
    let rank = shape.len();
    let value = b.op(&ops::RESHAPE, Attrs::none().ints("shape", shape), &[value]);
    let starts: Vec<Value> = (1..rank).map(|_| b.int(0)).collect();
    b.op(&ops::UPDATE, Attrs::none().ints("step", vec![1; rank]), &[&[log, value, row], &starts[..]].concat())
}

/// The row of a log.
fn read(b: &Builder, log: Value, row: Value) -> Value {
    let shape = b.ty(log).shape[1..].to_vec();
    let starts: Vec<Value> = shape.iter().map(|_| b.int(0)).collect();
    let attrs = Attrs::none().ints("sizes", [&[1], &shape[..]].concat()).ints("step", vec![1; shape.len() + 1]);
    let found = b.op(&ops::DYNAMIC_SLICE, attrs, &[&[log, row], &starts[..]].concat());
    b.op(&ops::RESHAPE, Attrs::none().ints("shape", shape), &[found])
}

/// The window of an array that a write goes to.
fn window(b: &Builder, array: Value, shape: &[usize], step: Vec<usize>, starts: &[Value]) -> Value {
    let attrs = Attrs::none().ints("sizes", shape.iter().copied()).ints("step", step);
    b.op(&ops::DYNAMIC_SLICE, attrs, &[&[array], starts].concat())
}

/// The row of a step: after those of the steps outside before this one.
fn row_of(b: &Builder, outside: Option<Value>, steps: usize, index: Value) -> Value {
    let Some(outside) = outside else { return index };
    let steps = b.int(i64::try_from(steps).expect("a loop has fewer than 2^63 steps"));
    b.add(b.mul(outside, steps), index)
}
