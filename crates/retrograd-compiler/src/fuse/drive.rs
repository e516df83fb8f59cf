//! Schedules as native drivers: a loop that asks the controller for its next action and runs it over native segments.

use super::kernel::{ActionCode, Address, Order, Reg, Stmt};
use super::{Carry, Fuse, TapeRows, at};
use crate::ir::{DType, Scalar};
use crate::plan::place::{Drive, Trajectory, Val};
use crate::plan::schedule::Sweep;

/// Registers of an action: kind, from, to, row or slot.
type Action = [Reg; 4];

impl Fuse<'_> {
    /// The first sweep: the user's own loop, with snapshots and recorded steps.
    pub(super) fn sweep(&mut self, drive: &Drive) {
        let trajectory = self.trajectory(drive);
        let carries = self.start_carries(&drive.carried, &drive.inits);
        self.clear(drive.emitted.iter().filter(|e| e.clear).map(|e| e.value));
        self.start(&trajectory);
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
            if let Some(step) = &drive.tape {
                let tape = fuse.nested(|fuse| {
                    let rows = fuse.tape_rows(&trajectory, action);
                    fuse.run_steps(step, &carries, &[], Order::Up, action[1], action[2], Some(&rows));
                });
                arms.push((ActionCode::Tape, tape));
            }
            arms.push((ActionCode::Turn, vec![Stmt::Leave]));
            arms
        });
        self.end_carries(&carries, &drive.results);
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
        self.driver(&trajectory, |fuse, action| {
            let mut arms = fuse.replay_arms(drive, &trajectory, &working, action);
            if let Some(step) = &drive.reverse {
                let reverse = fuse.nested(|fuse| {
                    let rows = fuse.tape_rows(&trajectory, action);
                    fuse.run_steps(step, &carries, &working, Order::Down, action[1], action[2], Some(&rows));
                });
                arms.push((ActionCode::Reverse, reverse));
            }
            if let Some(step) = &drive.turnback {
                let turnback = fuse.nested(|fuse| {
                    let index = fuse.value(step.index);
                    fuse.body.push(Stmt::Move { dst: index, src: action[1] });
                    fuse.step(step, &carries, &working, None);
                });
                arms.push((ActionCode::Turnback, turnback));
            }
            arms.push((ActionCode::Done, vec![Stmt::Leave]));
            arms
        });
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
        if let Some(step) = &drive.tape {
            let tape = self.nested(|fuse| {
                let rows = fuse.tape_rows(trajectory, action);
                fuse.run_steps(step, working, &[], Order::Up, action[1], action[2], Some(&rows));
            });
            arms.push((ActionCode::Tape, tape));
        }
        arms
    }

    fn trajectory(&self, drive: &Drive) -> Trajectory {
        self.placed.trajectories[drive.trajectory.0 as usize].clone()
    }

    fn words(&self, trajectory: &Trajectory) -> Address {
        at(self.stores[trajectory.words.0 as usize])
    }

    fn start(&mut self, trajectory: &Trajectory) {
        let count = self.value(trajectory.count);
        let words = self.words(trajectory);
        self.body.push(Stmt::Start { words, schedule: trajectory.schedule, sweep: trajectory.sweep, count });
    }

    /// Asks for actions until one leaves; each kind has its arm.
    fn driver(&mut self, trajectory: &Trajectory, arms: impl FnOnce(&mut Self, Action) -> Vec<(ActionCode, Vec<Stmt>)>) {
        let action = [self.int(), self.int(), self.int(), self.int()];
        let words = self.words(trajectory);
        let body = self.nested(|fuse| {
            fuse.body.push(Stmt::Poll);
            fuse.body.push(Stmt::Next { words, schedule: trajectory.schedule, dst: action });
            let arms = arms(fuse, action);
            for (code, body) in arms {
                let kind = fuse.literal(code as i64);
                let cond = fuse.compute(Scalar::Eq, DType::Bool, &[action[0], kind]);
                fuse.body.push(Stmt::If { cond, then_body: body, else_body: vec![] });
            }
        });
        self.body.push(Stmt::Loop { body });
    }

    fn tape_rows(&mut self, trajectory: &Trajectory, action: Action) -> TapeRows {
        let bases = trajectory.tapes.iter().map(|store| self.stores[store.0 as usize]).collect();
        TapeRows { bases, shift: self.compute(Scalar::Sub, DType::I64, &[action[3], action[1]]) }
    }

    /// The place of a state in a slot; slot 0 has none, so slot 1 is the first.
    fn slot(&self, trajectory: &Trajectory, state: usize, slot: Reg) -> Address {
        let bytes = self.bytes(trajectory.starts[state]).next_multiple_of(8) as i64;
        Address { base: self.stores[trajectory.snapshots[state].0 as usize], terms: vec![(slot, bytes)], offset: -bytes }
    }

    fn snapshot(&mut self, trajectory: &Trajectory, states: &[Carry], slot: Reg) {
        if trajectory.snapshots.is_empty() {
            return;
        }
        for (k, carry) in states.iter().enumerate() {
            let to = self.slot(trajectory, k, slot);
            match carry {
                Carry::Register(src) => self.body.push(Stmt::Store { to, src: *src }),
                Carry::Memory { main, bytes, .. } => self.copy(to, at(*main), *bytes),
            }
        }
    }

    fn restore(&mut self, trajectory: &Trajectory, working: &[Carry], starts: &[Val], slot: Reg) {
        if trajectory.snapshots.is_empty() {
            return self.restore_start(working, starts);
        }
        let zero = self.literal(0);
        let cond = self.compute(Scalar::Eq, DType::Bool, &[slot, zero]);
        let then_body = self.nested(|fuse| fuse.restore_start(working, starts));
        let else_body = self.nested(|fuse| {
            for (k, carry) in working.iter().enumerate() {
                let from = fuse.slot(trajectory, k, slot);
                match carry {
                    Carry::Register(dst) => fuse.body.push(Stmt::Load { dst: *dst, from }),
                    Carry::Memory { main, bytes, .. } => fuse.copy(at(*main), from, *bytes),
                }
            }
        });
        self.body.push(Stmt::If { cond, then_body, else_body });
    }

    /// Slot 0: the loop's start value, where it is.
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
