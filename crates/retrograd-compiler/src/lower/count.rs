//! A kernel that counts what it does: the same statements, with sums in registers between them.

use super::at;
use super::kernel::{Address, Kernel, Part, Place, Reg, RegType, Stmt};
use crate::ir::{DType, Scalar};

/// What is counted, in the order of the output of [`counting`]: vector loops, calls of routines, bytes read, bytes
/// written.
pub const COUNTS: usize = 4;

/// The kernel with one more output, of this number, an i64 array to which [`COUNTS`] sums are added; it begins with
/// zeros.
///
/// Bytes are those of loads and stores as the kernel has them, of all lanes of a vector loop, of copies and fills, and
/// of the operands of routines; what a back end keeps in registers, or the machine in its caches, counts too. Whatever
/// else the kernel computes stays as it is, to the bit.
pub fn counting(kernel: &Kernel, output: u32) -> Kernel {
    let mut count = Count { kernel, regs: kernel.regs.clone() };
    let parts =
        kernel.parts.iter().map(|part| Part { body: count.function(&part.body, output), ..part.clone() }).collect();
    let body = count.function(&kernel.body, output);
    Kernel { regs: count.regs, body, parts, ..kernel.clone() }
}

struct Count<'k> {
    kernel: &'k Kernel,
    regs: Vec<RegType>,
}

impl Count<'_> {
    fn reg(&mut self, ty: RegType) -> Reg {
        self.regs.push(ty);
        Reg(self.regs.len() as u32 - 1)
    }

    /// The body of a function, whose sums are its own until it ends: then they are added to those in the output.
    fn function(&mut self, body: &[Stmt], output: u32) -> Vec<Stmt> {
        let totals = [(); COUNTS].map(|()| self.reg(RegType::Scalar(DType::I64)));
        let mut counted: Vec<Stmt> = totals.iter().map(|total| Stmt::Literal { dst: *total, bits: 0 }).collect();
        counted.extend(self.block(body, totals));
        let to = self.reg(RegType::Pointer);
        counted.push(Stmt::Pointer { dst: to, to: Place::Output(output) });
        for (k, total) in (0..).zip(totals) {
            let (before, word) = (self.reg(RegType::Scalar(DType::I64)), Address { offset: 8 * k, ..at(to) });
            counted.push(Stmt::Load { dst: before, from: word.clone() });
            counted.push(Stmt::Let { dst: total, op: Scalar::Add, args: vec![total, before] });
            counted.push(Stmt::Store { to: word, src: total });
        }
        counted
    }

    /// Statements with their sums, which are added up before control can go elsewhere.
    fn block(&mut self, body: &[Stmt], totals: [Reg; COUNTS]) -> Vec<Stmt> {
        let (mut counted, mut sums) = (vec![], [0; COUNTS]);
        for stmt in body {
            let stmt = match stmt {
                Stmt::For { index, from, to, order, body } => {
                    Stmt::For { index: *index, from: *from, to: *to, order: *order, body: self.block(body, totals) }
                }
                Stmt::Loop { body } => Stmt::Loop { body: self.block(body, totals) },
                Stmt::If { cond, then_body, else_body } => Stmt::If {
                    cond: *cond,
                    then_body: self.block(then_body, totals),
                    else_body: self.block(else_body, totals),
                },
                Stmt::Leave => Stmt::Leave,
                straight @ (Stmt::Literal { .. }
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
                | Stmt::Start { .. }
                | Stmt::Next { .. }
                | Stmt::Call { .. }
                | Stmt::Part(_)
                | Stmt::ParallelFor { .. }
                | Stmt::Spill { .. }
                | Stmt::Fetch { .. }
                | Stmt::Poll { .. }
                | Stmt::Probe { .. }
                | Stmt::Fault { .. }) => {
                    sums = added(sums, self.of(straight));
                    counted.push(straight.clone());
                    continue;
                }
            };
            self.add(totals, std::mem::take(&mut sums), &mut counted);
            counted.push(stmt);
        }
        self.add(totals, sums, &mut counted);
        counted
    }

    fn add(&mut self, totals: [Reg; COUNTS], sums: [u64; COUNTS], to: &mut Vec<Stmt>) {
        for (total, sum) in totals.into_iter().zip(sums).filter(|(_, sum)| *sum > 0) {
            let dst = self.reg(RegType::Scalar(DType::I64));
            to.push(Stmt::Literal { dst, bits: sum });
            to.push(Stmt::Let { dst: total, op: Scalar::Add, args: vec![total, dst] });
        }
    }

    /// What one statement does, once.
    fn of(&self, stmt: &Stmt) -> [u64; COUNTS] {
        match stmt {
            Stmt::Load { dst, .. } => [0, 0, self.bytes(*dst), 0],
            Stmt::Store { src, .. } => [0, 0, 0, self.bytes(*src)],
            Stmt::OrderedScatter(turns) => turns.iter().fold([0; COUNTS], |sums, turn| {
                let bytes = self.bytes(turn.src);
                added(sums, [0, 0, if turn.op.is_some() { bytes } else { 0 }, bytes])
            }),
            Stmt::Copy { bytes, .. } => [0, 0, *bytes, *bytes],
            Stmt::Zero { bytes, .. } | Stmt::Fetch { bytes, .. } => [0, 0, 0, *bytes],
            Stmt::Spill { bytes, .. } => [0, 0, *bytes, 0],
            Stmt::ForVec { count, body, .. } => {
                let step = body.iter().fold([0; COUNTS], |sums, stmt| added(sums, self.of(stmt)));
                added([1, 0, 0, 0], step.map(|sum| sum.saturating_mul(*count)))
            }
            Stmt::Call { call, .. } => {
                let call = &self.kernel.calls[*call as usize];
                [0, 1, call.args.iter().map(|ty| ty.bytes() as u64).sum(), call.result.bytes() as u64]
            }
            Stmt::Literal { .. }
            | Stmt::Let { .. }
            | Stmt::Move { .. }
            | Stmt::Swap(..)
            | Stmt::Pointer { .. }
            | Stmt::Offset { .. }
            | Stmt::Start { .. }
            | Stmt::Next { .. }
            | Stmt::Part(_)
            | Stmt::ParallelFor { .. }
            | Stmt::Poll { .. }
            | Stmt::Probe { .. }
            | Stmt::Fault { .. } => [0; COUNTS],
            Stmt::For { .. } | Stmt::Loop { .. } | Stmt::If { .. } | Stmt::Leave => {
                panic!("control is counted by its blocks")
            }
        }
    }

    fn bytes(&self, reg: Reg) -> u64 {
        match self.kernel.regs[reg.0 as usize] {
            RegType::Scalar(dtype) => dtype.bytes() as u64,
            RegType::Pointer => 8,
        }
    }
}

fn added(mut sums: [u64; COUNTS], more: [u64; COUNTS]) -> [u64; COUNTS] {
    for (sum, more) in sums.iter_mut().zip(more) {
        *sum = sum.saturating_add(more);
    }
    sums
}
