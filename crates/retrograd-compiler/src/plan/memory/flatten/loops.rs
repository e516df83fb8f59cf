//! Loops: as they stand, as the first sweep of a schedule, and their reversals.

use super::super::group::{self, Raw};
use super::super::tree::{
    BufferId, Drive, Emitted, Loop, Node, Order, RowPlace, RowRead, RowTime, RowWrite, Step, Trajectory, TrajectoryId,
    Val, While,
};
use super::{Flatten, Scope};
use crate::ir::{
    Array, Attrs, DType, Data, ErrorKind, ForOp, FuncId, Function, Inst, Op, Pos, Program, Type, UnwindOp, WhileOp,
};
use crate::ops;
use crate::plan::analysis::pair::Pair;
use crate::plan::decision::{LoopDecision, Way};
use crate::plan::transform::split::{Split, split};
use retrograd_schedule::{Schedule, Sweep, Uses};

impl<'p> Flatten<'p> {
    /// The count as a register that is not negative, and within the bound of the streams.
    fn count(&mut self, count: Val, bound: usize, has_streams: bool, pos: &Pos, scope: &mut Scope) -> Val {
        if let Some(known) = self.constants.get(&count)
            && (0..=if has_streams { bound as i64 } else { i64::MAX }).contains(&known.as_i64()[0])
        {
            return count;
        }
        let result = self.placed.define(Type::scalar(DType::I64));
        let zero = self.push(
            &ops::CONSTANT,
            Attrs::none().with("value", crate::ir::Attr::Array(Array::int(0))),
            vec![],
            Type::scalar(DType::I64),
            pos,
            scope,
        );
        let below = self.push(&ops::LT, Attrs::none(), vec![count, zero], Type::scalar(DType::Bool), pos, scope);
        let positive =
            self.push(&ops::SELECT, Attrs::none(), vec![below, zero, count], Type::scalar(DType::I64), pos, scope);
        if !has_streams {
            return positive;
        }
        let site = self.placed.fault(
            ErrorKind::Bounds,
            pos,
            format!("a loop of more steps than its streams have rows ({bound})"),
        );
        scope.raws.push(Raw::Node(Node::Clamp { result, index: positive, last: bound as i64, site }));
        self.ranges.insert(result, (0, bound as i64));
        result
    }

    fn emitted(&mut self, count: Val, bound: usize, types: &[Type]) -> Vec<Emitted> {
        let full = self.constants.get(&count).is_some_and(|n| n.as_i64()[0] == bound as i64);
        self.defines(types).into_iter().map(|value| Emitted { value, clear: !full }).collect()
    }

    /// A step over fresh parameters, of so many where a count bounds its index. `code` gets the scope, the index, the
    /// carries and the rows, and returns new carries and emitted rows.
    fn step(
        &mut self,
        count: Option<Val>,
        carry_types: &[Type],
        rows: Vec<(RowPlace, Type)>,
        code: impl FnOnce(&mut Self, &mut Scope, Val, &[Val], &[Val]) -> (Vec<Val>, Vec<(RowPlace, Val)>),
    ) -> Step {
        let mut scope = Scope::default();
        let index = self.placed.define(Type::scalar(DType::I64));
        if let Some(count) = count {
            self.bound_index(index, count);
        }
        let params = self.defines(carry_types);
        let rows: Vec<RowRead> =
            rows.into_iter().map(|(from, ty)| RowRead { value: self.placed.define(ty), from, pointer: None }).collect();
        let row_values: Vec<Val> = rows.iter().map(|row| row.value).collect();
        self.steps.push(index);
        let (next, emits) = code(self, &mut scope, index, &params, &row_values);
        self.steps.pop();
        let next = self.all_in_memory(&next, &mut scope);
        let mut writes = vec![];
        for (to, value) in emits {
            let value = self.in_memory(value, &mut scope);
            writes.push(RowWrite { value, to, pointer: self.placed.pointer(), when: RowTime::After });
        }
        let ends: Vec<Val> = next.iter().copied().chain(writes.iter().map(|write| write.value)).collect();
        let carries: Vec<(Val, Val)> = params.into_iter().zip(next).collect();
        let (raws, fences) = self.closed(scope, &ends);
        let block = group::group(&mut self.placed, raws, &fences, &ends, &carries);
        Step { index, carries, ends: vec![], rows, emits: writes, block }
    }

    /// How many steps a loop has, where known before the run.
    fn steps_of(&self, count: Val) -> Option<u64> {
        self.constants.get(&count).map(|n| n.as_i64()[0].max(0) as u64)
    }

    fn row_types(&self, streams: &[Val]) -> Vec<(RowPlace, Type)> {
        streams
            .iter()
            .map(|x| {
                (RowPlace::Stream(*x), self.placed.ty(*x).row().expect("verified types: streams have a leading axis"))
            })
            .collect()
    }

    pub(super) fn types(&self, values: &[Val]) -> Vec<Type> {
        values.iter().map(|v| self.placed.ty(*v).clone()).collect()
    }

    fn stream_types(&self, body: FuncId, carries: usize, bound: usize) -> Vec<Type> {
        self.program.function(body).result_types()[carries..].iter().map(|ty| ty.stream(bound)).collect()
    }

    /// A loop that is run as it stands.
    pub(super) fn plain_loop(&mut self, inst: &Inst, op: &ForOp, args: &[Val], scope: &mut Scope) -> Vec<Val> {
        let (n, c0, inv, xs) = op.args(args);
        let streams = self.stream_types(op.body, op.carries, op.bound);
        let count = self.count(n, op.bound, !(xs.is_empty() && streams.is_empty()), &inst.pos, scope);
        let emitted = self.emitted(count, op.bound, &streams);
        let inits = self.all_in_memory(c0, scope);
        let xs = self.all_in_memory(xs, scope);
        let carry_types = self.types(&inits);
        let rows = self.row_types(&xs);
        let step = self.step(Some(count), &carry_types, rows, |this, scope, i, c, x| {
            this.body(op.body, i, c, inv, x, &emitted, scope)
        });
        let results = self.defines(&carry_types);
        let all: Vec<Val> = results.iter().copied().chain(emitted.iter().map(|e| e.value)).collect();
        scope.raws.push(Raw::Node(Node::For(Box::new(Loop {
            count,
            steps: self.steps_of(count),
            frame: None,
            order: Order::Up,
            inits,
            results,
            emitted,
            carried: vec![],
            step,
        }))));
        all
    }

    /// A loop that runs as long as its condition holds; it may be the first sweep of its unwind's schedule.
    pub(super) fn while_loop(
        &mut self,
        function: &Function,
        op: &WhileOp,
        args: &[Val],
        pair: Option<&Pair>,
        scope: &mut Scope,
    ) -> (Option<TrajectoryId>, Vec<Val>) {
        let (c0, inv) = op.args(args);
        let inits = self.all_in_memory(c0, scope);
        let carry_types = self.types(&inits);
        let step = self.step(None, &carry_types, vec![], |this, scope, _, c, _| {
            (this.function(this.program.function(op.body), &[c, inv].concat(), scope), vec![])
        });
        let carries: Vec<Val> = step.carries.iter().map(|(before, _)| *before).collect();
        let mut inner = Scope::default();
        let holds = self.function(self.program.function(op.cond), &[&carries, inv].concat(), &mut inner)[0];
        let cond = self.block(inner, &[holds]);
        let (results, trips) = (self.defines(&carry_types), self.placed.define(Type::scalar(DType::I64)));
        let all = results.iter().copied().chain([trips]).collect();
        let held = pair.and_then(|pair| {
            let Op::Unwind(unwind) = &function.insts[pair.unwind_inst].op else { panic!("pairs name an unwind") };
            let decided = self.decided(unwind).way(Sweep::Online)?;
            let state = pair.states.iter().map(|k| carry_types[*k].clone()).collect();
            Some((self.trajectory(unwind, trips, state, decided, &[]), pair.states.clone()))
        });
        let id = held.as_ref().map(|(id, _)| *id);
        scope.raws.push(Raw::Node(Node::While(Box::new(While {
            inits,
            results,
            trips,
            carried: vec![],
            cond,
            holds,
            step,
            held,
        }))));
        (id, all)
    }

    /// The body of a loop: new carries, and emitted rows with their streams.
    #[allow(clippy::too_many_arguments, reason = "these are the parts of a step, by group")]
    fn body(
        &mut self,
        body: FuncId,
        i: Val,
        c: &[Val],
        inv: &[Val],
        x: &[Val],
        emitted: &[Emitted],
        scope: &mut Scope,
    ) -> (Vec<Val>, Vec<(RowPlace, Val)>) {
        let args = [&[i], c, inv, x].concat();
        let mut results = self.function(self.program.function(body), &args, scope);
        let rows = results.split_off(c.len());
        (results, emitted.iter().map(|e| RowPlace::Stream(e.value)).zip(rows).collect())
    }

    fn decided(&self, op: &UnwindOp) -> &'p LoopDecision {
        self.decision.loops.get(&op.bwd).expect("a decision covers every unwind")
    }

    /// What the records of each choice are made by and reversed by.
    fn splits(&self, op: &UnwindOp, decided: &Way) -> Vec<Split> {
        decided.cuts.iter().map(|cut| split(self.branch_split.step(op.bwd), op, cut, &self.effects)).collect()
    }

    fn trajectory(
        &mut self,
        op: &UnwindOp,
        count: Val,
        state: Vec<Type>,
        decided: &Way,
        splits: &[Split],
    ) -> TrajectoryId {
        // A count known at compile time bounds what a schedule can use; one that is not leaves the schedule as it is.
        let known = self.steps_of(count);
        let (table, spill_bytes) = (decided.schedule.table(), decided.schedule.spill_bytes());
        let table = (!table.is_empty()).then(|| {
            self.placed.literals.push(Array::new([table.len()], Data::I64(table)));
            self.placed.literals.len() as u32 - 1
        });
        let revolves = matches!(decided.schedule, Schedule::Revolve { .. });
        let is_inner = || [op.body, op.bwd].iter().all(|body| !has_schedule(self.program, *body));
        let runs = revolves && state.iter().all(|ty| ty.rank() == 0) && is_inner();
        self.placed.trajectories.push(Trajectory {
            bwd: op.bwd,
            count,
            steps: known,
            schedule: decided.schedule.clone(),
            sweep: decided.sweep,
            runs,
            state,
            records: splits.iter().map(|split| split.kept.clone()).collect(),
            pool_bytes: decided.schedule.pool_bytes(decided.sweep, known),
            words: BufferId(u32::MAX),
            table,
            pool: BufferId(u32::MAX),
            spill_at: (spill_bytes > 0).then_some(self.placed.spill_bytes),
        });
        self.placed.spill_bytes += spill_bytes;
        TrajectoryId(self.placed.trajectories.len() as u32 - 1)
    }

    /// A loop that is the first sweep of its unwind's schedule.
    #[allow(clippy::too_many_arguments, reason = "a loop and its unwind, each with instruction, op and arguments")]
    pub(super) fn sweep(
        &mut self,
        inst: &Inst,
        op: &ForOp,
        args: &[Val],
        unwind: &Inst,
        known: &[Option<Val>],
        pair: &Pair,
        scope: &mut Scope,
    ) -> (Option<TrajectoryId>, Vec<Val>) {
        let Op::Unwind(unwind_op) = &unwind.op else { panic!("pairs name an unwind") };
        let Some(decided) = self.decided(unwind_op).way(Sweep::Split) else {
            return (None, self.plain_loop(inst, op, args, scope));
        };
        let splits = self.splits(unwind_op, decided);
        let [uses, _] = decided.schedule.uses();
        // Only what recording needs must exist before the loop.
        let recording: Vec<&Split> =
            splits.iter().zip(&uses.tape).filter(|(_, used)| **used).map(|(split, _)| split).collect();
        let read = |k: usize| recording.iter().any(|split| split.reads(k));
        let parameters = unwind_op.carries + unwind_op.invariants + unwind_op.streams;
        let forward =
            (1..=parameters).map(|k| if k <= unwind_op.carries || read(k) { known[k] } else { Some(args[0]) });
        let forward: Vec<Val> = forward.map(|value| value.expect("facts say what a sweep can record")).collect();
        let (starts, rest) = forward.split_at(unwind_op.carries);
        let state_types = self.types(starts);
        let (inv2, xs2) = rest.split_at(unwind_op.invariants);
        let (n, c0, inv, xs) = op.args(args);
        let streams = self.stream_types(op.body, op.carries, op.bound);
        // The unwind takes its count from here, so that the rows of its streams bound it too.
        let rows =
            unwind_op.streams + unwind_op.emitted + unwind.results.len() - unwind_op.adjoints - unwind_op.running;
        let count = match (xs.is_empty() && streams.is_empty(), rows == 0) {
            (true, true) => self.count(n, 0, false, &inst.pos, scope),
            (false, true) => self.count(n, op.bound, true, &inst.pos, scope),
            (true, false) => self.count(n, unwind_op.bound, true, &unwind.pos, scope),
            (false, false) => self.count(n, op.bound.min(unwind_op.bound), true, &inst.pos, scope),
        };
        let emitted = self.emitted(count, op.bound, &streams);
        let inits = self.all_in_memory(c0, scope);
        let (xs, xs2) = (self.all_in_memory(xs, scope), self.all_in_memory(xs2, scope));
        let recorded: Vec<bool> = (1 + parameters - xs2.len()..=parameters).map(read).collect();
        let id = self.trajectory(unwind_op, count, state_types, decided, &splits);
        let carry_types = self.types(&inits);
        let advance = uses.advance.then(|| {
            let rows = self.row_types(&xs);
            self.step(Some(count), &carry_types, rows, |this, scope, i, c, x| {
                this.body(op.body, i, c, inv, x, &emitted, scope)
            })
        });
        let read: Vec<Val> = xs2.iter().zip(&recorded).filter(|(_, read)| **read).map(|(stream, _)| *stream).collect();
        let tape = |(split, used): (&Split, &bool)| {
            let rows = self.row_types(&[xs.clone(), read.clone()].concat());
            let step = |this: &mut Self, scope: &mut Scope, i: Val, c: &[Val], x: &[Val]| {
                scope.joins = true;
                let (x, x2) = x.split_at(xs.len());
                let (next, mut rows) = this.body(op.body, i, c, inv, x, &emitted, scope);
                let states: Vec<Val> = pair.states.iter().map(|k| c[*k]).collect();
                let mut x2 = x2.iter();
                // A stream that both read is one row; one that recording does not read is any value.
                let row = |(stream, read): (&Val, &bool)| match read {
                    false => i,
                    true => {
                        let row = *x2.next().expect("a row per stream that is read");
                        xs.iter().position(|other| other == stream).map_or(row, |k| x[k])
                    }
                };
                let x2: Vec<Val> = xs2.iter().zip(&recorded).map(row).collect();
                let kept = this.function(&split.slice, &[&[i], &states[..], inv2, &x2].concat(), scope);
                rows.extend(kept.into_iter().enumerate().map(|(k, value)| (RowPlace::Tape(k), value)));
                (next, rows)
            };
            used.then(|| self.step(Some(count), &carry_types, rows, step))
        };
        let tape = splits.iter().zip(&uses.tape).map(tape).collect();
        let results = self.defines(&carry_types);
        let all: Vec<Val> = results.iter().copied().chain(emitted.iter().map(|e| e.value)).collect();
        let drive = Drive {
            trajectory: id,
            count,
            starts: vec![],
            inits,
            results,
            carried: vec![],
            emitted,
            states: pair.states.clone(),
            working: vec![],
            advance,
            tape,
            reverse: vec![],
            youturn: None,
        };
        scope.raws.push(Raw::Node(Node::Sweep(Box::new(drive))));
        (Some(id), all)
    }

    /// An unwind: the reversal of a schedule, or a plain walk backwards where nothing is to be remembered.
    pub(super) fn unwind(
        &mut self,
        inst: &Inst,
        op: &UnwindOp,
        args: &[Val],
        paired: Option<TrajectoryId>,
        scope: &mut Scope,
    ) -> Vec<Val> {
        let groups = op.args(args);
        let bwd = self.program.function(op.bwd);
        let h_types: Vec<Type> =
            bwd.result_types()[op.adjoints + op.running..].iter().map(|ty| ty.stream(op.bound)).collect();
        let has_streams = !(groups.streams.is_empty() && groups.emitted.is_empty() && h_types.is_empty());
        let count = match paired {
            Some(id) => self.placed.trajectories[id.0 as usize].count,
            None => self.count(groups.count, op.bound, has_streams, &inst.pos, scope),
        };
        let emitted = self.emitted(count, op.bound, &h_types);
        let inits = self.all_in_memory(&[groups.adjoints, groups.running].concat(), scope);
        let xs = self.all_in_memory(groups.streams, scope);
        let gs = self.all_in_memory(groups.emitted, scope);
        let (carry_types, sweep) =
            (self.types(&inits), paired.map_or(Sweep::Joint, |id| self.placed.trajectories[id.0 as usize].sweep));
        let results = self.defines(&carry_types);
        let all: Vec<Val> = results.iter().copied().chain(emitted.iter().map(|e| e.value)).collect();
        let (inv, states) = (groups.invariants, groups.carries);
        let parts = Parts { op, count, inits, results, states, inv, xs: &xs, gs: &gs, emitted, carry_types };
        let decided =
            (op.carries > 0).then(|| self.decided(op).way(sweep).expect("facts say which sweeps a loop is met with"));
        let node = match decided {
            None => self.back_loop(bwd, parts),
            Some(decided) if decided.schedule == Schedule::Nothing => {
                self.back_loop(&self.splits(op, decided)[0].reverse, parts)
            }
            Some(decided) => self.reversal(bwd, decided, paired, parts, scope),
        };
        scope.raws.push(Raw::Node(node));
        all
    }

    /// A plain walk backwards.
    fn back_loop(&mut self, function: &Function, parts: Parts<'_>) -> Node {
        let step = self.back_step(function, vec![], &parts);
        let Parts { count, inits, results, emitted, .. } = parts;
        let (steps, carried) = (self.steps_of(count), vec![]);
        Node::For(Box::new(Loop {
            count,
            steps,
            frame: None,
            order: Order::Down,
            inits,
            results,
            emitted,
            carried,
            step,
        }))
    }

    /// The reversal of a schedule.
    fn reversal(
        &mut self,
        bwd: &Function,
        decided: &Way,
        paired: Option<TrajectoryId>,
        parts: Parts<'_>,
        scope: &mut Scope,
    ) -> Node {
        let splits = self.splits(parts.op, decided);
        let state_types = self.types(parts.states);
        let trajectory =
            paired.unwrap_or_else(|| self.trajectory(parts.op, parts.count, state_types.clone(), decided, &splits));
        let [_, uses] = decided.schedule.uses();
        let restores = uses.restore || decided.sweep == Sweep::Joint;
        let starts = if restores { self.all_in_memory(parts.states, scope) } else { vec![] };
        let (advance, tape) = self.replays(&uses, &splits, &parts, &state_types);
        let rows = |place: fn(usize) -> RowPlace, types: &[Type]| {
            types.iter().enumerate().map(|(k, ty)| (place(k), ty.clone())).collect::<Vec<_>>()
        };
        let reverse = |(split, used): (&Split, &bool)| {
            used.then(|| self.back_step(&split.reverse, rows(RowPlace::Tape, &split.kept), &parts))
        };
        let reverse = splits.iter().zip(&uses.reverse).map(reverse).collect();
        let youturn = uses.youturn.then(|| self.back_step(bwd, rows(RowPlace::State, &state_types), &parts));
        let Parts { count, inits, results, emitted, .. } = parts;
        let (carried, states, working) = (vec![], vec![], vec![]);
        let drive = Drive {
            trajectory,
            count,
            starts,
            inits,
            results,
            carried,
            emitted,
            states,
            working,
            advance,
            tape,
            reverse,
            youturn,
        };
        Node::Reversal(Box::new(drive))
    }

    /// Steps that run a loop again for its unwind: over states alone.
    fn replays(
        &mut self,
        uses: &Uses,
        splits: &[Split],
        parts: &Parts<'_>,
        state_types: &[Type],
    ) -> (Option<Step>, Vec<Option<Step>>) {
        let op = parts.op;
        let advance = uses.advance.then(|| {
            let rows = self.row_types(parts.xs);
            self.step(Some(parts.count), state_types, rows, |this, scope, i, c, x| {
                this.body(op.body, i, c, parts.inv, x, &[], scope)
            })
        });
        let tape = |(split, used): (&Split, &bool)| {
            let rows = self.row_types(parts.xs);
            let step = |this: &mut Self, scope: &mut Scope, i: Val, c: &[Val], x: &[Val]| {
                scope.joins = true;
                let (next, _) = this.body(op.body, i, c, parts.inv, x, &[], scope);
                let kept = this.function(&split.slice, &[&[i], c, parts.inv, x].concat(), scope);
                (next, kept.into_iter().enumerate().map(|(k, value)| (RowPlace::Tape(k), value)).collect())
            };
            used.then(|| self.step(Some(parts.count), state_types, rows, step))
        };
        (advance, splits.iter().zip(&uses.tape).map(tape).collect())
    }

    /// A step backwards: `function(i, from, inv, x, a, g, r)`, where `from` are states, kept values or nothing.
    fn back_step(&mut self, function: &Function, from: Vec<(RowPlace, Type)>, parts: &Parts<'_>) -> Step {
        let (count, streams) = (from.len(), parts.xs.len());
        let recorded = from.iter().any(|(place, _)| matches!(place, RowPlace::Tape(_)));
        let rows = [from, self.row_types(parts.xs), self.row_types(parts.gs)].concat();
        self.step(Some(parts.count), &parts.carry_types, rows, |this, scope, i, carries, rows| {
            scope.joins = recorded;
            let (from, rows) = rows.split_at(count);
            let (x, g) = rows.split_at(streams);
            let (a, r) = carries.split_at(parts.op.adjoints);
            let mut results = this.function(function, &[&[i], from, parts.inv, x, a, g, r].concat(), scope);
            let h = results.split_off(carries.len());
            (results, parts.emitted.iter().map(|e| RowPlace::Stream(e.value)).zip(h).collect())
        })
    }
}

/// Whether something inside of a function is unwound from states.
fn has_schedule(program: &Program, id: FuncId) -> bool {
    let unwinds = |inst: &Inst| matches!(&inst.op, Op::Unwind(op) if op.carries > 0);
    let inside = |inst: &Inst| inst.bodies().into_iter().any(|body| has_schedule(program, body));
    program.function(id).insts.iter().any(|inst| unwinds(inst) || inside(inst))
}

/// An unwind as it is placed, and what all its steps share.
struct Parts<'a> {
    op: &'a UnwindOp,
    count: Val,
    inits: Vec<Val>,
    results: Vec<Val>,
    /// States that it starts from.
    states: &'a [Val],
    inv: &'a [Val],
    xs: &'a [Val],
    gs: &'a [Val],
    emitted: Vec<Emitted>,
    carry_types: Vec<Type>,
}
