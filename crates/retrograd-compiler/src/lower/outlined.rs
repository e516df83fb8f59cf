//! Parts of long blocks, and what is spread over threads, as functions of their own.

use std::collections::BTreeSet;

use super::kernel::{Address, Mention, Order, Part, Reg, Stmt};
use super::{KernelBuilder, at};
use crate::ir::{DType, Scalar};
use crate::plan::memory::{Frame, FrameId, Node, Parts, Slot, Step};

impl KernelBuilder<'_> {
    /// A block part by part: what crosses between them goes through the frame.
    pub(super) fn in_parts(&mut self, nodes: &[Node], parts: &Parts) {
        let frame = self.buffers[parts.frame.0 as usize];
        self.put(frame, &parts.entry);
        let made =
            nodes.iter().flat_map(Node::results).filter(|value| self.placed.is_scalar(*value)).collect::<Vec<_>>();
        let made: BTreeSet<Reg> = made.into_iter().map(|value| self.value(value)).collect();
        for part in &parts.parts {
            let body = self.nested(|lower| {
                let (mut loads, mut stores) = (part.loads.iter().peekable(), part.stores.iter().peekable());
                for k in part.nodes.clone() {
                    while let Some((_, slot)) = loads.next_if(|(at, _)| *at == k) {
                        lower.take(frame, &[*slot]);
                    }
                    lower.node(&nodes[k]);
                    while let Some((_, slot)) = stores.next_if(|(at, _)| *at == k) {
                        lower.put(frame, &[*slot]);
                    }
                }
            });
            let number = self.outline(body, None);
            self.body.push(Stmt::Part(number as u32));
            let lost = self.parts[number].params.iter().any(|reg| made.contains(reg));
            assert!(!lost, "what one part makes and another reads has a slot");
        }
        self.take(frame, &parts.exit);
    }

    fn put(&mut self, frame: Reg, slots: &[Slot]) {
        for slot in slots {
            let src = self.value(slot.value);
            self.body.push(Stmt::Store { to: in_frame(frame, slot), src });
        }
    }

    fn take(&mut self, frame: Reg, slots: &[Slot]) {
        for slot in slots {
            let dst = self.value(slot.value);
            self.body.push(Stmt::Load { dst, from: in_frame(frame, slot) });
        }
    }

    /// The steps of a map, in chunks at the same time: each chunk has a frame of memory.
    pub(super) fn parallel_steps(&mut self, step: &Step, frame: FrameId, count: u64) {
        let Frame { buffer, bytes, chunk, .. } = self.placed.frames[frame.0 as usize];
        let range = [self.int(), self.int()];
        let body = self.nested(|lower| {
            let length = lower.literal(chunk as i64);
            let number = lower.compute(Scalar::Div, DType::I64, &[range[0], length]);
            for (k, part) in lower.placed.buffers.iter().enumerate().filter(|(_, part)| part.frame == Some(frame)) {
                let base = lower.buffers[buffer.0 as usize];
                let address = Address { base, terms: vec![(number, bytes as i64)], offset: part.offset as i64 };
                lower.body.push(Stmt::Offset { dst: lower.buffers[k], address });
            }
            lower.run_steps(step, &[], &[], Order::Up, range[0], range[1], None);
        });
        self.parallel_for(body, range, count as usize, chunk as usize);
    }

    /// Code for a range of `0..count`, run in chunks at the same time.
    pub(super) fn parallel_for(&mut self, body: Vec<Stmt>, range: [Reg; 2], count: usize, chunk: usize) {
        let part = self.outline(body, Some(range)) as u32;
        self.body.push(Stmt::ParallelFor { part, count: count as u64, chunk: chunk as u64 });
    }

    /// Code as a function of its own, by number. Addresses that never change it finds itself, other registers are
    /// passed.
    fn outline(&mut self, mut code: Vec<Stmt>, range: Option<[Reg; 2]>) -> usize {
        let (mut params, mut body) = (vec![], vec![]);
        for reg in self.needed(&mut code, range) {
            match self.fixed.get(&reg) {
                Some(to) => body.push(Stmt::Pointer { dst: reg, to: *to }),
                None => params.push(reg),
            }
        }
        body.extend(code);
        self.parts.push(Part { params, range, body });
        self.parts.len() - 1
    }

    /// The registers that code reads before it assigns them, those of the parts that it runs among them.
    fn needed(&self, code: &mut [Stmt], range: Option<[Reg; 2]>) -> BTreeSet<Reg> {
        let mut registers = Registers { assigned: range.into_iter().flatten().collect(), ..Registers::default() };
        registers.add(code, &self.parts);
        registers.read_first
    }
}

fn in_frame(frame: Reg, slot: &Slot) -> Address {
    Address { offset: slot.offset as i64, ..at(frame) }
}

/// Registers of code.
#[derive(Clone, Debug, Default)]
pub struct Registers {
    /// Those that it reads before it assigns them.
    pub read_first: BTreeSet<Reg>,
    /// Those that it assigns.
    pub assigned: BTreeSet<Reg>,
}

impl Registers {
    /// Of these statements, in a kernel with these parts; some are assigned before. They are gone through to be
    /// changed, and none is.
    fn add(&mut self, code: &mut [Stmt], parts: &[Part]) {
        let mut visit = |mention: Mention<'_>| match mention {
            Mention::Reads(reg) | Mention::Changes(reg) => {
                self.read_first.extend([*reg].iter().filter(|reg| !self.assigned.contains(reg)))
            }
            Mention::Runs(part) => {
                let params = &parts[part as usize].params;
                self.read_first.extend(params.iter().filter(|reg| !self.assigned.contains(reg)));
            }
            Mention::Assigns(reg) => self.assigned.extend([*reg]),
        };
        code.iter_mut().for_each(|stmt| stmt.each_mention(&mut visit));
    }

    /// Of these statements, in a kernel with these parts.
    pub fn of(body: &[Stmt], parts: &[Part]) -> Registers {
        let mut registers = Registers::default();
        registers.add(&mut body.to_vec(), parts);
        registers
    }

    /// Whether the code has anything to do with one.
    pub fn touches(&self, reg: Reg) -> bool {
        self.read_first.contains(&reg) || self.assigned.contains(&reg)
    }
}
