//! What polls can say of how far a run is: the step of the outermost loop around them.

use super::KernelBuilder;
use super::kernel::{Order, Reached, Reg, Stmt};

/// What is known where code is being made.
#[derive(Clone, Copy, Debug)]
pub(super) enum Reporting {
    /// No loop is around it.
    Outside,
    /// It is about to run steps of an outermost loop.
    Loop { number: u32, steps: Option<Reg> },
    /// It is inside of a step, which may be one that is run again and says nothing.
    Step(Option<Reached>),
}

impl Reporting {
    /// Inside of the step in that register.
    pub(super) fn at(self, step: Reg, order: Order) -> Reporting {
        match self {
            Reporting::Loop { number, steps } => Reporting::Step(Some(Reached { number, order, step, steps })),
            Reporting::Outside | Reporting::Step(_) => self,
        }
    }

    /// Inside of steps that are run again.
    pub(super) fn silent(self) -> Reporting {
        match self {
            Reporting::Loop { .. } => Reporting::Step(None),
            Reporting::Outside | Reporting::Step(_) => self,
        }
    }

    /// What a poll says here.
    pub(super) fn reached(self) -> Option<Reached> {
        match self {
            Reporting::Step(reached) => reached,
            Reporting::Outside | Reporting::Loop { .. } => None,
        }
    }
}

impl KernelBuilder<'_> {
    /// A loop begins, of so many steps where that is known; only an outermost one is told of.
    pub(super) fn outermost(&mut self, steps: Option<Reg>) -> Reporting {
        match self.reporting {
            Reporting::Outside => {
                self.loops += 1;
                Reporting::Loop { number: self.loops - 1, steps }
            }
            around @ (Reporting::Loop { .. } | Reporting::Step(_)) => around,
        }
    }

    /// Asks whether to stop.
    pub(super) fn poll(&mut self) {
        self.body.push(Stmt::Poll { reached: self.reporting.reached() });
    }
}
