//! Schedules as native drivers: a loop that asks the controller for its next action and runs it over native segments.

use super::kernel::{ActionCode, Address, OnDisk, Order, Reg, RegType, Stmt};
use super::{Carry, Fuse, TapeRows, at};
use crate::ir::{DType, Scalar};
use crate::plan::place::{Drive, Step, Trajectory, TrajectoryId, Val, While, row_layout};
use crate::plan::schedule::{Sweep, online};

/// Registers of an action: kind, from, to, place, choice.
type Action = [Reg; 5];

/// The steps that an action runs, and how: the carries, the working states, the order.
type Runs<'a> = (&'a [Carry], &'a [Carry], Order);

impl Fuse<'_> {
    /// The first sweep: the user's own loop, with snapshots and recorded steps.
    pub(super) fn sweep(&mut self, drive: &Drive) {
        let trajectory = self.trajectory(drive);
        let carries = self.start_carries(&drive.carried, &drive.inits);
        self.clear(drive.emitted.iter().filter(|e| e.clear).map(|e| e.value));
        self.start(&trajectory);
        let (around, steps) = (self.telling, self.value(trajectory.count));
        self.telling = self.outermost(Some(steps));
        let states: Vec<Carry> = drive.states.iter().map(|k| carries[*k]).collect();
        self.driver(&trajectory, |fuse, action| {
            let mut arms = vec![];
            if let Some(step) = &drive.advance {
                arms.push((
                    ActionCode::Advance,
                    fuse.nested(|fuse| fuse.run_steps(step, &carries, &[], Order::Up, action[1], action[2], None)),
                ));
                arms.push((ActionCode::Snapshot, fuse.nested(|fuse| fuse.snapshot(&trajectory, &states, action[3]))));
            }
            arms.extend(fuse.spill(&trajectory, &states, action));
            let tape = fuse.by_choice(&trajectory, &drive.tape, (&carries, &[], Order::Up), action);
            arms.extend(tape.map(|body| (ActionCode::Tape, body)));
            arms.push((ActionCode::Turn, vec![Stmt::Leave]));
            arms
        });
        self.telling = around;
        self.end_carries(&carries, &drive.results);
    }

    /// A first sweep that ends when its condition says: then the controller is told how many steps there were. Its actions come by turns,
    /// steps up to the next state that is held and that state; so the loop runs from one to the next, and asks in between.
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
        let around = self.telling;
        self.telling = self.outermost(None).at(trips, Order::Up);
        let runs = self.nested(|fuse| {
            let run = fuse.nested(|fuse| fuse.while_run(node, &carries, action[2], [asked, ended]));
            fuse.body.push(Stmt::Loop { body: run });
            fuse.body.push(Stmt::If { cond: ended, then_body: vec![Stmt::Leave], else_body: vec![] });
            fuse.body.push(next.clone());
            fuse.snapshot(&trajectory, &states, action[3]);
            fuse.body.push(next);
            fuse.body.push(Stmt::Literal { dst: asked, bits: 1 });
        });
        self.telling = around;
        self.body.push(Stmt::Loop { body: runs });
        self.body.push(Stmt::Store { to: Address { offset: online::TRIPS as i64 * 8, ..words }, src: trips });
        self.end_while(node, &carries);
    }

    /// One step of a `while` towards the next state that is held, before step `to`.
    fn while_run(&mut self, node: &While, carries: &[Carry], to: Reg, [asked, ended]: [Reg; 2]) {
        self.poll();
        let ask = self.nested(|fuse| {
            let cond = fuse.while_condition(node, carries);
            let over = vec![Stmt::Literal { dst: ended, bits: 1 }, Stmt::Leave];
            fuse.body.push(Stmt::If { cond, then_body: vec![], else_body: over });
            let trips = fuse.value(node.step.index);
            let held = fuse.compute(Scalar::Ge, DType::Bool, &[trips, to]);
            fuse.body.push(Stmt::If { cond: held, then_body: vec![Stmt::Leave], else_body: vec![] });
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
        let working: Vec<Carry> = drive.working.iter().zip(&drive.starts).map(|(carried, start)| self.carry(*carried, *start)).collect();
        if trajectory.sweep == Sweep::Alone {
            self.start(&trajectory);
            self.restore_start(&working, &drive.starts);
        }
        let (around, steps) = (self.telling, self.value(trajectory.count));
        let telling = self.outermost(Some(steps));
        self.driver(&trajectory, |fuse, action| {
            fuse.telling = telling.silent();
            let mut arms = fuse.replay_arms(drive, &trajectory, &working, action);
            fuse.telling = telling;
            let reverse = fuse.by_choice(&trajectory, &drive.reverse, (&carries, &working, Order::Down), action);
            arms.extend(reverse.map(|body| (ActionCode::Reverse, body)));
            if let Some(step) = &drive.turnback {
                let turnback = fuse.nested(|fuse| {
                    let index = fuse.value(step.index);
                    fuse.body.push(Stmt::Move { dst: index, src: action[1] });
                    fuse.telling = telling.at(index, Order::Down);
                    fuse.poll();
                    fuse.step(step, &carries, &working, None);
                });
                arms.push((ActionCode::Turnback, turnback));
            }
            arms.push((ActionCode::Done, vec![Stmt::Leave]));
            arms
        });
        self.telling = around;
        self.end_carries(&carries, &drive.results);
    }

    /// Actions that run the loop again.
    fn replay_arms(&mut self, drive: &Drive, trajectory: &Trajectory, working: &[Carry], action: Action) -> Vec<(ActionCode, Vec<Stmt>)> {
        let mut arms = vec![];
        if let Some(step) = &drive.advance {
            arms.push((ActionCode::Advance, self.nested(|fuse| fuse.run_steps(step, working, &[], Order::Up, action[1], action[2], None))));
            arms.push((ActionCode::Snapshot, self.nested(|fuse| fuse.snapshot(trajectory, working, action[3]))));
        }
        if !working.is_empty() {
            arms.push((ActionCode::Restore, self.nested(|fuse| fuse.restore(trajectory, working, &drive.starts, action[3]))));
        }
        arms.extend(self.spill(trajectory, working, action));
        arms.extend(self.fetch(trajectory, working, &drive.starts, action));
        let tape = self.by_choice(trajectory, &drive.tape, (working, &[], Order::Up), action);
        arms.extend(tape.map(|body| (ActionCode::Tape, body)));
        arms
    }

    /// A state goes to the disk by way of the pool, which is empty then.
    fn spill(&mut self, trajectory: &Trajectory, states: &[Carry], action: Action) -> Option<(ActionCode, Vec<Stmt>)> {
        let to = OnDisk { place: action[3], first: trajectory.spill_at?, step: action[1] };
        let body = self.nested(|fuse| {
            let (start, bytes) = (fuse.literal(0), row_layout(&trajectory.state).1);
            fuse.snapshot(trajectory, states, start);
            let from = at(fuse.pool(trajectory));
            fuse.body.push(Stmt::Spill { to, from, bytes });
        });
        Some((ActionCode::Spill, body))
    }

    /// And comes back the same way.
    fn fetch(&mut self, trajectory: &Trajectory, working: &[Carry], starts: &[Val], action: Action) -> Option<(ActionCode, Vec<Stmt>)> {
        let from = OnDisk { place: action[3], first: trajectory.spill_at?, step: action[1] };
        let body = self.nested(|fuse| {
            let (start, bytes) = (fuse.literal(0), row_layout(&trajectory.state).1);
            let to = at(fuse.pool(trajectory));
            fuse.body.push(Stmt::Fetch { to, from, bytes });
            fuse.restore(trajectory, working, starts, start);
        });
        Some((ActionCode::Fetch, body))
    }

    /// Recorded steps: a branch for each choice but the last, which needs none; nothing where no choice is used.
    fn by_choice(&mut self, trajectory: &Trajectory, steps: &[Option<Step>], runs: Runs<'_>, action: Action) -> Option<Vec<Stmt>> {
        let used = steps.iter().enumerate().filter_map(|(choice, step)| Some((choice, step.as_ref()?)));
        used.fold(None, |others, (choice, step)| {
            let body = self.nested(|fuse| {
                let rows = fuse.tape_rows(trajectory, choice, action);
                fuse.run_steps(step, runs.0, runs.1, runs.2, action[1], action[2], Some(&rows));
            });
            let Some(others) = others else { return Some(body) };
            Some(self.nested(|fuse| {
                let number = fuse.literal(choice as i64);
                let cond = fuse.compute(Scalar::Eq, DType::Bool, &[action[4], number]);
                fuse.body.push(Stmt::If { cond, then_body: body, else_body: others });
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
        at(self.stores[trajectory.words.0 as usize])
    }

    fn start(&mut self, trajectory: &Trajectory) {
        let count = self.value(trajectory.count);
        let (words, table) = (self.words(trajectory), self.table(trajectory));
        self.body.push(Stmt::Start { words, schedule: trajectory.schedule.clone(), sweep: trajectory.sweep, count, table });
    }

    /// Asks for actions until one leaves; each kind has its arm.
    fn driver(&mut self, trajectory: &Trajectory, arms: impl FnOnce(&mut Self, Action) -> Vec<(ActionCode, Vec<Stmt>)>) {
        let action = [self.int(), self.int(), self.int(), self.int(), self.int()];
        let (words, table) = (self.words(trajectory), self.table(trajectory));
        let body = self.nested(|fuse| {
            fuse.poll();
            fuse.body.push(Stmt::Next { words, schedule: trajectory.schedule.clone(), table, dst: action });
            let arms = arms(fuse, action);
            for (code, body) in arms {
                let kind = fuse.literal(code as i64);
                let cond = fuse.compute(Scalar::Eq, DType::Bool, &[action[0], kind]);
                fuse.body.push(Stmt::If { cond, then_body: body, else_body: vec![] });
            }
        });
        self.body.push(Stmt::Loop { body });
    }

    fn pool(&self, trajectory: &Trajectory) -> Reg {
        self.stores[trajectory.pool.0 as usize]
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
    fn state_addresses(&self, trajectory: &Trajectory, place: Reg) -> Vec<Address> {
        let (offsets, _) = row_layout(&trajectory.state);
        let pool = self.pool(trajectory);
        offsets.into_iter().map(|offset| Address { base: pool, terms: vec![(place, 1)], offset: offset as i64 }).collect()
    }

    fn snapshot(&mut self, trajectory: &Trajectory, states: &[Carry], place: Reg) {
        for (carry, to) in states.iter().zip(self.state_addresses(trajectory, place)) {
            match carry {
                Carry::Register(src) => self.body.push(Stmt::Store { to, src: *src }),
                Carry::Memory { main, bytes, .. } => self.copy(to, at(*main), *bytes),
            }
        }
    }

    fn restore(&mut self, trajectory: &Trajectory, working: &[Carry], starts: &[Val], place: Reg) {
        let zero = self.literal(0);
        let cond = self.compute(Scalar::Lt, DType::Bool, &[place, zero]);
        let then_body = self.nested(|fuse| fuse.restore_start(working, starts));
        let else_body = self.nested(|fuse| {
            for (carry, from) in working.iter().zip(fuse.state_addresses(trajectory, place)) {
                match carry {
                    Carry::Register(dst) => fuse.body.push(Stmt::Load { dst: *dst, from }),
                    Carry::Memory { main, bytes, .. } => fuse.copy(at(*main), from, *bytes),
                }
            }
        });
        self.body.push(Stmt::If { cond, then_body, else_body });
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
