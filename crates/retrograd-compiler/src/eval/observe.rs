//! What can be seen of a run while it is interpreted.

use crate::ir::{Array, Error, Function, Inst, Lowering, Op, Part, Pos};

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

/// Shows what probes see to a function.
#[derive(Debug)]
pub struct Probes<F>(pub F);

impl<F: FnMut(&Sighting<'_>)> Observer for Probes<F> {
    fn after(&mut self, event: &Event<'_>) -> Result<(), Error> {
        if let Op::Def(def, attrs) = &event.inst.op
            && def.lowering == Lowering::Probe
        {
            let indices: Vec<i64> = event.steps.iter().map(|step| step.index as i64).collect();
            let pos = &event.inst.pos;
            (self.0)(&Sighting {
                name: attrs.text("name"),
                part: pos.part(),
                pos,
                indices: &indices,
                value: event.args[0],
            });
        }
        Ok(())
    }
}

/// What a probe saw.
#[derive(Clone, Copy, Debug)]
pub struct Sighting<'s> {
    /// The name of the probe.
    pub name: &'s str,
    /// Whether it stands in the forward or the backward part.
    pub part: Part,
    /// The user's line.
    pub pos: &'s Pos,
    /// The steps of the loops around it, the outermost first.
    pub indices: &'s [i64],
    /// The value.
    pub value: &'s Array,
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
