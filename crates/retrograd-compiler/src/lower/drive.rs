//! Schedules as native drivers: a loop that asks the controller for its next action and runs it over native segments.

use super::kernel::{ActionCode, Address, OnDisk, Order, Reg, RegType, Stmt};
use super::{Carry, KernelBuilder, TapeRows, at};
use crate::ir::{DType, Scalar};
use crate::plan::memory::{Drive, Step, Trajectory, TrajectoryId, Val, While};
use crate::plan::row_layout;
use retrograd_schedule::{RUNS, STACK, Sweep, online};

/// Registers of an action: kind, from, to, place, choice.
type Action = [Reg; 5];

/// The steps that an action runs, and how: the carries, the working states, the order.
type Runs<'a> = (&'a [Carry], &'a [Carry], Order);

/// What the leaves of Revolve run: a step forwards over the working states, and one backwards over the carries.
struct Leaves<'a> {
    advance: &'a Step,
    youturn: &'a Step,
    carries: &'a [Carry],
    working: &'a [Carry],
    starts: &'a [Val],
}

impl KernelBuilder<'_> {
    /// The first sweep: the user's own loop, with snapshots and recorded steps.
    pub(super) fn sweep(&mut self, drive: &Drive) {
        let trajectory = self.trajectory(drive);
        let carries = self.start_carries(&drive.carried, &drive.inits);
        self.clear(drive.emitted.iter().filter(|e| e.clear).map(|e| e.value));
        self.start(&trajectory);
        let (around, steps) = (self.reporting, self.value(trajectory.count));
        self.reporting = self.outermost(Some(steps));
        let states: Vec<Carry> = drive.states.iter().map(|k| carries[*k]).collect();
        self.driver(&trajectory, |lower, action| {
            let mut arms = vec![];
            if let Some(step) = &drive.advance {
                arms.push((
                    ActionCode::Advance,
                    lower.nested(|lower| lower.run_steps(step, &carries, &[], Order::Up, action[1], action[2], None)),
                ));
                arms.push((
                    ActionCode::Snapshot,
                    lower.nested(|lower| lower.snapshot(&trajectory, &states, &[(action[3], 1)])),
                ));
            }
            if let (Some(step), true) = (&drive.advance, trajectory.runs) {
                arms.push((
                    ActionCode::Ascend,
                    lower.nested(|lower| lower.ascend(&trajectory, step, &carries, &states, action)),
                ));
            }
            arms.extend(lower.spill(&trajectory, &states, action));
            let tape = lower.by_choice(&trajectory, &drive.tape, (&carries, &[], Order::Up), action);
            arms.extend(tape.map(|body| (ActionCode::Tape, body)));
            arms.push((ActionCode::Turn, vec![Stmt::Leave]));
            arms
        });
        self.reporting = around;
        self.end_carries(&carries, &drive.results);
    }

    /// A first sweep that ends when its condition says: then the controller is told how many steps there were. Its
    /// actions come by turns, steps up to the next state that is held and that state; so the loop runs from one to
    /// the next, and asks in between.
    pub(super) fn while_sweep(&mut self, node: &While, trajectory: TrajectoryId, states: &[usize]) {
        let trajectory = self.placed.trajectories[trajectory.0 as usize].clone();
        let carries = self.start_carries(&node.carried, &node.inits);
        let trips = self.value(node.step.index);
        self.body.push(Stmt::Literal { dst: trips, bits: 0 });
        let (words, schedule, sweep) = (self.words(&trajectory), trajectory.schedule.clone(), trajectory.sweep);
        self.body.push(Stmt::Start { words: words.clone(), schedule, sweep, count: trips, table: None });
        let action = [self.int(), self.int(), self.int(), self.int(), self.int()];
        let next = Stmt::Next { words: words.clone(), schedule: trajectory.schedule.clone(), table: None, dst: action };
        self.body.push(next.clone());
        let states: Vec<Carry> = states.iter().map(|k| carries[*k]).collect();
        // Whether the condition holds is asked once a step: not again where a state was held in between.
        let [asked, ended] = [(); 2].map(|()| self.flag());
        let around = self.reporting;
        self.reporting = self.outermost(None).at(trips, Order::Up);
        let runs = self.nested(|lower| {
            let run = lower.nested(|lower| lower.while_run(node, &carries, action[2], [asked, ended]));
            lower.body.push(Stmt::Loop { body: run });
            lower.body.push(Stmt::If { cond: ended, then_body: vec![Stmt::Leave], else_body: vec![] });
            lower.body.push(next.clone());
            lower.snapshot(&trajectory, &states, &[(action[3], 1)]);
            lower.body.push(next);
            lower.body.push(Stmt::Literal { dst: asked, bits: 1 });
        });
        self.reporting = around;
        self.body.push(Stmt::Loop { body: runs });
        self.body.push(Stmt::Store { to: Address { offset: online::TRIPS as i64 * 8, ..words }, src: trips });
        self.end_while(node, &carries);
    }

    /// One step of a `while` towards the next state that is held, before step `to`.
    fn while_run(&mut self, node: &While, carries: &[Carry], to: Reg, [asked, ended]: [Reg; 2]) {
        self.poll();
        let ask = self.nested(|lower| {
            let cond = lower.while_condition(node, carries);
            let over = vec![Stmt::Literal { dst: ended, bits: 1 }, Stmt::Leave];
            lower.body.push(Stmt::If { cond, then_body: vec![], else_body: over });
            let trips = lower.value(node.step.index);
            let held = lower.compute(Scalar::Ge, DType::Bool, &[trips, to]);
            lower.body.push(Stmt::If { cond: held, then_body: vec![Stmt::Leave], else_body: vec![] });
        });
        self.body.push(Stmt::If { cond: asked, then_body: vec![], else_body: ask });
        self.body.push(Stmt::Literal { dst: asked, bits: 0 });
        self.while_step(node, carries);
    }

    /// A register for a yes or no; no.
    fn flag(&mut self) -> Reg {
        let flag = self.reg(RegType::Scalar(DType::Bool));
        self.body.push(Stmt::Literal { dst: flag, bits: 0 });
        flag
    }

    /// The reversal: steps are run again from snapshots, and walked backwards.
    pub(super) fn reversal(&mut self, drive: &Drive) {
        let trajectory = self.trajectory(drive);
        let carries = self.start_carries(&drive.carried, &drive.inits);
        self.clear(drive.emitted.iter().filter(|e| e.clear).map(|e| e.value));
        let working: Vec<Carry> =
            drive.working.iter().zip(&drive.starts).map(|(carried, start)| self.carry(*carried, *start)).collect();
        if trajectory.sweep == Sweep::Joint {
            self.start(&trajectory);
            self.restore_start(&working, &drive.starts);
        }
        let (around, steps) = (self.reporting, self.value(trajectory.count));
        let reporting = self.outermost(Some(steps));
        self.driver(&trajectory, |lower, action| {
            lower.reporting = reporting.silent();
            let mut arms = lower.replay_arms(drive, &trajectory, &working, action);
            lower.reporting = reporting;
            let reverse = lower.by_choice(&trajectory, &drive.reverse, (&carries, &working, Order::Down), action);
            arms.extend(reverse.map(|body| (ActionCode::Reverse, body)));
            if let Some(step) = &drive.youturn {
                let youturn = lower.nested(|lower| {
                    let index = lower.value(step.index);
                    lower.body.push(Stmt::Move { dst: index, src: action[1] });
                    lower.reporting = reporting.at(index, Order::Down);
                    lower.poll();
                    lower.step(step, &carries, &working, None);
                });
                arms.push((ActionCode::Youturn, youturn));
            }
            if let (Some(advance), Some(youturn), true) = (&drive.advance, &drive.youturn, trajectory.runs) {
                let silent = reporting.silent();
                lower.reporting = silent;
                arms.push((
                    ActionCode::Ascend,
                    lower.nested(|lower| lower.ascend(&trajectory, advance, &working, &working, action)),
                ));
                lower.reporting = reporting;
                let steps = Leaves { advance, youturn, carries: &carries, working: &working, starts: &drive.starts };
                arms.push((ActionCode::Descend, lower.nested(|lower| lower.descend(&trajectory, &steps, action))));
                arms.push((ActionCode::Replay, lower.nested(|lower| lower.replay(&trajectory, &steps, action))));
            }
            arms.push((ActionCode::Done, vec![Stmt::Leave]));
            arms
        });
        self.reporting = around;
        self.end_carries(&carries, &drive.results);
    }

    /// Steps up to the next slot and its state into the pool, slot after slot.
    fn ascend(&mut self, trajectory: &Trajectory, step: &Step, carries: &[Carry], states: &[Carry], action: Action) {
        let [_, from, to, first, last] = action;
        let (slot, reached, size) = (self.int(), self.int(), row_layout(&trajectory.state).1 as i64);
        self.body.push(Stmt::Move { dst: reached, src: from });
        let one = self.literal(1);
        let slots = self.compute(Scalar::Add, DType::I64, &[last, one]);
        let body = self.nested(|lower| {
            let above = lower.compute(Scalar::Add, DType::I64, &[slot, one]);
            let more = lower.compute(Scalar::Lt, DType::Bool, &[slot, last]);
            // There may be no word above the last.
            let known = lower.compute(Scalar::Select, DType::I64, &[more, above, last]);
            let next = lower.step_of_slot(trajectory, known);
            let next = lower.compute(Scalar::Select, DType::I64, &[more, next, to]);
            lower.run_steps(step, carries, &[], Order::Up, reached, next, None);
            let then_body = lower.nested(|lower| lower.snapshot(trajectory, states, &[(slot, size)]));
            lower.body.push(Stmt::If { cond: more, then_body, else_body: vec![] });
            lower.body.push(Stmt::Move { dst: reached, src: next });
        });
        self.body.push(Stmt::For { index: slot, from: first, to: slots, order: Order::Up, body });
    }

    /// Slot after slot, its steps forwards, with the states between them, and backwards.
    fn descend(&mut self, trajectory: &Trajectory, steps: &Leaves<'_>, action: Action) {
        let [_, _, to, first, last] = action;
        let around = self.reporting;
        let (slot, end, size) = (self.int(), self.int(), row_layout(&trajectory.state).1 as i64);
        self.body.push(Stmt::Move { dst: end, src: to });
        let [one, each] = [1, size].map(|number| self.literal(number));
        let body = self.nested(|lower| {
            let start = lower.step_of_slot(trajectory, slot);
            // Where the state of step 0 would be if those from the slot's step on lay one after the other.
            let before = lower.compute(Scalar::Sub, DType::I64, &[slot, start]);
            let before = lower.compute(Scalar::Sub, DType::I64, &[before, one]);
            let states = lower.compute(Scalar::Mul, DType::I64, &[before, each]);
            let place = lower.compute(Scalar::Sub, DType::I64, &[slot, one]);
            let place = lower.compute(Scalar::Mul, DType::I64, &[place, each]);
            lower.restore(trajectory, steps.working, steps.starts, place);
            let newest = lower.compute(Scalar::Sub, DType::I64, &[end, one]);
            lower.reporting = around.silent();
            lower.hold(trajectory, steps, [start, newest], states);
            lower.reporting = around;
            lower.turn_back(trajectory, steps, [start, end], states);
            lower.body.push(Stmt::Move { dst: end, src: start });
        });
        let slots = self.compute(Scalar::Add, DType::I64, &[last, one]);
        self.body.push(Stmt::For { index: slot, from: first, to: slots, order: Order::Down, body });
    }

    /// Steps, and the state before each but the first in the pool.
    fn hold(&mut self, trajectory: &Trajectory, steps: &Leaves<'_>, [from, to]: [Reg; 2], states: Reg) {
        let (index, around) = (self.value(steps.advance.index), self.reporting);
        let size = row_layout(&trajectory.state).1 as i64;
        self.reporting = around.at(index, Order::Up);
        let body = self.nested(|lower| {
            let cond = lower.compute(Scalar::Gt, DType::Bool, &[index, from]);
            let then_body =
                lower.nested(|lower| lower.snapshot(trajectory, steps.working, &[(states, 1), (index, size)]));
            lower.body.push(Stmt::If { cond, then_body, else_body: vec![] });
            lower.step(steps.advance, steps.working, &[], None);
        });
        self.reporting = around;
        self.run_range(index, [from, to], Order::Up, body);
    }

    /// Steps backwards, the first from the working state, the others from theirs in the pool.
    fn turn_back(&mut self, trajectory: &Trajectory, steps: &Leaves<'_>, [from, to]: [Reg; 2], states: Reg) {
        let (index, around) = (self.value(steps.youturn.index), self.reporting);
        let each = self.literal(row_layout(&trajectory.state).1 as i64);
        let one = self.literal(1);
        self.reporting = around.at(index, Order::Down);
        let body = self.nested(|lower| {
            lower.step(steps.youturn, steps.carries, steps.working, None);
            let cond = lower.compute(Scalar::Gt, DType::Bool, &[index, from]);
            let then_body = lower.nested(|lower| {
                let before = lower.compute(Scalar::Sub, DType::I64, &[index, one]);
                let place = lower.compute(Scalar::Mul, DType::I64, &[before, each]);
                let place = lower.compute(Scalar::Add, DType::I64, &[states, place]);
                lower.restore(trajectory, steps.working, steps.starts, place);
            });
            lower.body.push(Stmt::If { cond, then_body, else_body: vec![] });
        });
        self.reporting = around;
        self.run_range(index, [from, to], Order::Down, body);
    }

    /// Steps backwards, each by running those before it again.
    fn replay(&mut self, trajectory: &Trajectory, steps: &Leaves<'_>, action: Action) {
        let [_, from, to, place, _] = action;
        let (index, around) = (self.value(steps.youturn.index), self.reporting);
        let body = self.nested(|lower| {
            lower.reporting = around.silent();
            lower.run_steps(steps.advance, steps.working, &[], Order::Up, from, index, None);
            lower.reporting = around.at(index, Order::Down);
            lower.step(steps.youturn, steps.carries, steps.working, None);
            lower.restore(trajectory, steps.working, steps.starts, place);
        });
        self.reporting = around;
        self.run_range(index, [from, to], Order::Down, body);
    }

    /// The step whose state a slot of Revolve holds.
    fn step_of_slot(&mut self, trajectory: &Trajectory, slot: Reg) -> Reg {
        let (dst, words) = (self.int(), self.words(trajectory));
        self.body.push(Stmt::Load { dst, from: Address { terms: vec![(slot, 8)], offset: STACK as i64 * 8, ..words } });
        dst
    }

    /// Actions that run the loop again.
    fn replay_arms(
        &mut self,
        drive: &Drive,
        trajectory: &Trajectory,
        working: &[Carry],
        action: Action,
    ) -> Vec<(ActionCode, Vec<Stmt>)> {
        let mut arms = vec![];
        if let Some(step) = &drive.advance {
            let advance = self.nested(|lower| {
                lower.level(working);
                lower.run_steps(step, working, &[], Order::Up, action[1], action[2], None);
            });
            arms.push((ActionCode::Advance, advance));
            arms.push((
                ActionCode::Snapshot,
                self.nested(|lower| lower.snapshot(trajectory, working, &[(action[3], 1)])),
            ));
        }
        if !working.is_empty() {
            arms.push((
                ActionCode::Restore,
                self.nested(|lower| lower.restore(trajectory, working, &drive.starts, action[3])),
            ));
        }
        arms.extend(self.spill(trajectory, working, action));
        arms.extend(self.fetch(trajectory, working, &drive.starts, action));
        let tape = self.by_choice(trajectory, &drive.tape, (working, &[], Order::Up), action);
        let level = self.nested(|lower| lower.level(working));
        arms.extend(tape.map(|body| (ActionCode::Tape, [level, body].concat())));
        arms
    }

    /// Before steps that go on from a state that may have been restored: the second place of a carry whose rest changes
    /// has the same.
    fn level(&mut self, working: &[Carry]) {
        for carry in working {
            if let Carry::Memory { main, back: Some(back), changes: true, bytes, .. } = carry {
                self.copy(at(*back), at(*main), *bytes);
            }
        }
    }

    /// A state goes to the disk by way of the pool, which is empty then.
    fn spill(&mut self, trajectory: &Trajectory, states: &[Carry], action: Action) -> Option<(ActionCode, Vec<Stmt>)> {
        let to = OnDisk { place: action[3], first: trajectory.spill_at?, step: action[1] };
        let body = self.nested(|lower| {
            let (start, bytes) = (lower.literal(0), row_layout(&trajectory.state).1);
            lower.snapshot(trajectory, states, &[(start, 1)]);
            let from = at(lower.pool(trajectory));
            lower.body.push(Stmt::Spill { to, from, bytes });
        });
        Some((ActionCode::Spill, body))
    }

    /// And comes back the same way.
    fn fetch(
        &mut self,
        trajectory: &Trajectory,
        working: &[Carry],
        starts: &[Val],
        action: Action,
    ) -> Option<(ActionCode, Vec<Stmt>)> {
        let from = OnDisk { place: action[3], first: trajectory.spill_at?, step: action[1] };
        let body = self.nested(|lower| {
            let (start, bytes) = (lower.literal(0), row_layout(&trajectory.state).1);
            let to = at(lower.pool(trajectory));
            lower.body.push(Stmt::Fetch { to, from, bytes });
            lower.restore(trajectory, working, starts, start);
        });
        Some((ActionCode::Fetch, body))
    }

    /// Recorded steps: a branch for each choice but the last, which needs none; nothing where no choice is used.
    fn by_choice(
        &mut self,
        trajectory: &Trajectory,
        steps: &[Option<Step>],
        runs: Runs<'_>,
        action: Action,
    ) -> Option<Vec<Stmt>> {
        let used = steps.iter().enumerate().filter_map(|(choice, step)| Some((choice, step.as_ref()?)));
        used.fold(None, |others, (choice, step)| {
            let body = self.nested(|lower| {
                let rows = lower.tape_rows(trajectory, choice, action);
                lower.run_steps(step, runs.0, runs.1, runs.2, action[1], action[2], Some(&rows));
            });
            let Some(others) = others else { return Some(body) };
            Some(self.nested(|lower| {
                let number = lower.literal(choice as i64);
                let cond = lower.compute(Scalar::Eq, DType::Bool, &[action[4], number]);
                lower.body.push(Stmt::If { cond, then_body: body, else_body: others });
            }))
        })
    }

    fn trajectory(&self, drive: &Drive) -> Trajectory {
        self.placed.trajectories[drive.trajectory.0 as usize].clone()
    }

    fn table(&self, trajectory: &Trajectory) -> Option<Reg> {
        trajectory.table.map(|literal| self.literals[literal as usize])
    }

    fn words(&self, trajectory: &Trajectory) -> Address {
        at(self.buffers[trajectory.words.0 as usize])
    }

    fn start(&mut self, trajectory: &Trajectory) {
        let count = self.value(trajectory.count);
        let (words, table) = (self.words(trajectory), self.table(trajectory));
        self.body.push(Stmt::Start {
            words: words.clone(),
            schedule: trajectory.schedule.clone(),
            sweep: trajectory.sweep,
            count,
            table,
        });
        if trajectory.runs {
            let src = self.literal(1);
            self.body.push(Stmt::Store { to: Address { offset: RUNS as i64 * 8, ..words }, src });
        }
    }

    /// Asks for actions until one leaves; each kind has its arm.
    fn driver(
        &mut self,
        trajectory: &Trajectory,
        arms: impl FnOnce(&mut Self, Action) -> Vec<(ActionCode, Vec<Stmt>)>,
    ) {
        let action = [self.int(), self.int(), self.int(), self.int(), self.int()];
        let (words, table) = (self.words(trajectory), self.table(trajectory));
        let body = self.nested(|lower| {
            lower.poll();
            lower.body.push(Stmt::Next { words, schedule: trajectory.schedule.clone(), table, dst: action });
            let arms = arms(lower, action);
            for (code, body) in arms {
                let kind = lower.literal(code as i64);
                let cond = lower.compute(Scalar::Eq, DType::Bool, &[action[0], kind]);
                lower.body.push(Stmt::If { cond, then_body: body, else_body: vec![] });
            }
        });
        self.body.push(Stmt::Loop { body });
    }

    fn pool(&self, trajectory: &Trajectory) -> Reg {
        self.buffers[trajectory.pool.0 as usize]
    }

    /// The records of an action: that of step `from` is at its place, the others follow.
    fn tape_rows(&mut self, trajectory: &Trajectory, choice: usize, action: Action) -> TapeRows {
        let (offsets, bytes) = row_layout(&trajectory.records[choice]);
        let size = self.literal(bytes as i64);
        let before = self.compute(Scalar::Mul, DType::I64, &[action[1], size]);
        let shift = self.compute(Scalar::Sub, DType::I64, &[action[3], before]);
        TapeRows { pool: self.pool(trajectory), offsets, bytes: bytes as i64, shift }
    }

    /// Where each part of a state at a place of the pool is.
    fn state_addresses(&self, trajectory: &Trajectory, place: &[(Reg, i64)]) -> Vec<Address> {
        let (offsets, _) = row_layout(&trajectory.state);
        let pool = self.pool(trajectory);
        offsets.into_iter().map(|offset| Address { base: pool, terms: place.to_vec(), offset: offset as i64 }).collect()
    }

    fn snapshot(&mut self, trajectory: &Trajectory, states: &[Carry], place: &[(Reg, i64)]) {
        for (carry, to) in states.iter().zip(self.state_addresses(trajectory, place)) {
            match carry {
                Carry::Register(src) => self.body.push(Stmt::Store { to, src: *src }),
                Carry::Memory { main, bytes, .. } => self.copy(to, at(*main), *bytes),
            }
        }
    }

    /// From a place, or from the start where there is none.
    fn restore(&mut self, trajectory: &Trajectory, working: &[Carry], starts: &[Val], place: Reg) {
        let zero = self.literal(0);
        let cond = self.compute(Scalar::Lt, DType::Bool, &[place, zero]);
        let then_body = self.nested(|lower| lower.restore_start(working, starts));
        let else_body = self.nested(|lower| lower.restore_held(trajectory, working, &[(place, 1)]));
        self.body.push(Stmt::If { cond, then_body, else_body });
    }

    fn restore_held(&mut self, trajectory: &Trajectory, working: &[Carry], place: &[(Reg, i64)]) {
        for (carry, from) in working.iter().zip(self.state_addresses(trajectory, place)) {
            match carry {
                Carry::Register(dst) => self.body.push(Stmt::Load { dst: *dst, from }),
                Carry::Memory { main, bytes, .. } => self.copy(at(*main), from, *bytes),
            }
        }
    }

    /// The loop's start value, where it is.
    fn restore_start(&mut self, working: &[Carry], starts: &[Val]) {
        for (carry, start) in working.iter().zip(starts) {
            match carry {
                Carry::Register(dst) => {
                    let src = self.value(*start);
                    self.body.push(Stmt::Move { dst: *dst, src });
                }
                Carry::Memory { main, bytes, .. } => self.copy(at(*main), self.whole(*start), *bytes),
            }
        }
    }
}
