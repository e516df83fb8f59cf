//! What can be seen of a run while it is interpreted.

use crate::ir::{Array, Error, Function, Inst};

/// Looks at every instruction that has run; an error ends the run.
pub trait Observer {
    /// Called after each instruction, inner ones first.
    fn after(&mut self, event: &Event<'_>) -> Result<(), Error>;
}

/// Nobody looks.
impl Observer for () {
    fn after(&mut self, _: &Event<'_>) -> Result<(), Error> {
        Ok(())
    }
}

/// An instruction that has run.
#[derive(Clone, Copy, Debug)]
pub struct Event<'e> {
    /// The function that it is part of.
    pub function: &'e Function,
    /// The instruction; its position says whether it is forward or backward.
    pub inst: &'e Inst,
    /// What it read.
    pub args: &'e [&'e Array],
    /// What it made.
    pub results: &'e [Array],
    /// The steps of the loops around it, the outermost first.
    pub steps: &'e [Step<'e>],
}

/// A step of a loop.
#[derive(Clone, Copy, Debug)]
pub struct Step<'e> {
    /// The loop, or the unwind that goes over its states.
    pub inst: &'e Inst,
    /// Which step, counted from 0 in the order of the loop.
    pub index: usize,
}
