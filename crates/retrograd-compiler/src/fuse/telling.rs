//! What polls can say of how far a run is: the step of the outermost loop around them.

use super::Fuse;
use super::kernel::{Order, Reached, Reg, Stmt};

/// What is known where code is being made.
#[derive(Clone, Copy, Debug)]
pub(super) enum Telling {
    /// No loop is around it.
    Outside,
    /// It is about to run steps of an outermost loop.
    Loop { number: u32, steps: Option<Reg> },
    /// It is inside of a step, which may be one that is run again and says nothing.
    Step(Option<Reached>),
}

impl Telling {
    /// Inside of the step in that register.
    pub(super) fn at(self, step: Reg, order: Order) -> Telling {
        match self {
            Telling::Loop { number, steps } => Telling::Step(Some(Reached { number, order, step, steps })),
            Telling::Outside | Telling::Step(_) => self,
        }
    }

    /// Inside of steps that are run again.
    pub(super) fn silent(self) -> Telling {
        match self {
            Telling::Loop { .. } => Telling::Step(None),
            Telling::Outside | Telling::Step(_) => self,
        }
    }

    /// What a poll says here.
    pub(super) fn reached(self) -> Option<Reached> {
        match self {
            Telling::Step(reached) => reached,
            Telling::Outside | Telling::Loop { .. } => None,
        }
    }
}

impl Fuse<'_> {
    /// A loop begins, of so many steps where that is known; only an outermost one is told of.
    pub(super) fn outermost(&mut self, steps: Option<Reg>) -> Telling {
        match self.telling {
            Telling::Outside => {
                self.loops += 1;
                Telling::Loop { number: self.loops - 1, steps }
            }
            around @ (Telling::Loop { .. } | Telling::Step(_)) => around,
        }
    }

    /// Asks whether to stop.
    pub(super) fn poll(&mut self) {
        self.body.push(Stmt::Poll { reached: self.telling.reached() });
    }
}
