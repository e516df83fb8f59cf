//! Bytes that the steps of loops move: the promise of writing in place, counted.

use retrograd_compiler::lower::kernel::{Kernel, Reg, RegType, Stmt};

/// The most bytes that one step of any innermost loop moves: loads, stores, copies, fills, and all lanes of its vector
/// loops.
///
/// A step that writes in place moves as much in a long array as in a short one.
pub fn bytes_per_innermost_step(kernel: &Kernel) -> u64 {
    Traffic { kernel }.innermost(&kernel.body).unwrap_or(0)
}

/// The most bytes that one step of any loop moves outside of the loops that it contains.
pub fn bytes_per_step(kernel: &Kernel) -> u64 {
    Traffic { kernel }.steps(&kernel.body)
}

struct Traffic<'k> {
    kernel: &'k Kernel,
}

impl Traffic<'_> {
    fn innermost(&self, body: &[Stmt]) -> Option<u64> {
        self.loops(body).into_iter().map(|inner| self.innermost(inner).unwrap_or_else(|| self.own(inner))).max()
    }

    fn steps(&self, body: &[Stmt]) -> u64 {
        self.loops(body).into_iter().map(|inner| self.own(inner).max(self.steps(inner))).max().unwrap_or(0)
    }

    /// Bytes that statements move themselves, loops inside left out.
    fn own(&self, body: &[Stmt]) -> u64 {
        body.iter().map(|stmt| self.stmt(stmt)).sum()
    }

    fn stmt(&self, stmt: &Stmt) -> u64 {
        match stmt {
            Stmt::Load { dst: reg, .. } | Stmt::Store { src: reg, .. } => self.bytes(*reg),
            Stmt::OrderedScatter(turns) => {
                turns.iter().map(|turn| self.bytes(turn.src) * if turn.op.is_some() { 2 } else { 1 }).sum()
            }
            Stmt::Copy { bytes, .. } | Stmt::Zero { bytes, .. } => *bytes,
            Stmt::ForVec { count, body, .. } => count * self.own(body),
            Stmt::Call { call, .. } => {
                let call = &self.kernel.calls[*call as usize];
                call.args.iter().chain([&call.result]).chain(&call.scratch).map(|ty| ty.bytes() as u64).sum()
            }
            Stmt::If { then_body, else_body, .. } => self.own(then_body).max(self.own(else_body)),
            Stmt::Part(number) => self.own(&self.kernel.parts[*number as usize].body),
            Stmt::For { .. } | Stmt::Loop { .. } | Stmt::ParallelFor { .. } => 0,
            Stmt::Literal { .. }
            | Stmt::Let { .. }
            | Stmt::Move { .. }
            | Stmt::Swap(..)
            | Stmt::Pointer { .. }
            | Stmt::Offset { .. }
            | Stmt::Leave
            | Stmt::Start { .. }
            | Stmt::Next { .. }
            | Stmt::Spill { .. }
            | Stmt::Fetch { .. }
            | Stmt::Poll { .. }
            | Stmt::Probe { .. }
            | Stmt::Fault { .. } => 0,
        }
    }

    fn bytes(&self, reg: Reg) -> u64 {
        match self.kernel.regs[reg.0 as usize] {
            RegType::Scalar(dtype) => dtype.bytes() as u64,
            RegType::Pointer => 8,
        }
    }

    /// Bodies of the outermost loops of statements.
    fn loops<'b>(&'b self, body: &'b [Stmt]) -> Vec<&'b [Stmt]> {
        body.iter().flat_map(|stmt| self.loops_of(stmt)).collect()
    }

    fn loops_of<'b>(&'b self, stmt: &'b Stmt) -> Vec<&'b [Stmt]> {
        match stmt {
            Stmt::For { body, .. } | Stmt::Loop { body } => vec![body],
            Stmt::If { then_body, else_body, .. } => [self.loops(then_body), self.loops(else_body)].concat(),
            Stmt::Part(part) | Stmt::ParallelFor { part, .. } => self.loops(&self.kernel.parts[*part as usize].body),
            Stmt::Literal { .. }
            | Stmt::Let { .. }
            | Stmt::Move { .. }
            | Stmt::Swap(..)
            | Stmt::Pointer { .. }
            | Stmt::Offset { .. }
            | Stmt::Load { .. }
            | Stmt::Store { .. }
            | Stmt::OrderedScatter(_)
            | Stmt::Copy { .. }
            | Stmt::Zero { .. }
            | Stmt::ForVec { .. }
            | Stmt::Leave
            | Stmt::Start { .. }
            | Stmt::Next { .. }
            | Stmt::Spill { .. }
            | Stmt::Fetch { .. }
            | Stmt::Call { .. }
            | Stmt::Poll { .. }
            | Stmt::Probe { .. }
            | Stmt::Fault { .. } => vec![],
        }
    }
}
