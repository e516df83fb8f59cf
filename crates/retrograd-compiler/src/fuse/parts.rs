//! Parts of long blocks, and what is spread over threads, as functions of their own.

use std::collections::BTreeSet;

use super::kernel::{Address, Order, Part, Reg, Seen, Stmt};
use super::{Fuse, at};
use crate::ir::{DType, Scalar};
use crate::plan::place::{Frame, FrameId, Node, Parts, Slot, Step};

impl Fuse<'_> {
    /// A block part by part: what crosses between them goes through the frame.
    pub(super) fn in_parts(&mut self, nodes: &[Node], parts: &Parts) {
        let frame = self.stores[parts.frame.0 as usize];
        self.put(frame, &parts.entry);
        let made = nodes.iter().flat_map(Node::results).filter(|value| self.placed.is_scalar(*value)).collect::<Vec<_>>();
        let made: BTreeSet<Reg> = made.into_iter().map(|value| self.value(value)).collect();
        for part in &parts.parts {
            let body = self.nested(|fuse| {
                let (mut loads, mut stores) = (part.loads.iter().peekable(), part.stores.iter().peekable());
                for k in part.nodes.clone() {
                    while let Some((_, slot)) = loads.next_if(|(at, _)| *at == k) {
                        fuse.take(frame, &[*slot]);
                    }
                    fuse.node(&nodes[k]);
                    while let Some((_, slot)) = stores.next_if(|(at, _)| *at == k) {
                        fuse.put(frame, &[*slot]);
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
    pub(super) fn spread_steps(&mut self, step: &Step, frame: FrameId, count: u64) {
        let Frame { store, bytes, chunk, .. } = self.placed.frames[frame.0 as usize];
        let range = [self.int(), self.int()];
        let body = self.nested(|fuse| {
            let length = fuse.literal(chunk as i64);
            let number = fuse.compute(Scalar::Div, DType::I64, &[range[0], length]);
            for (k, part) in fuse.placed.stores.iter().enumerate().filter(|(_, part)| part.frame == Some(frame)) {
                let base = fuse.stores[store.0 as usize];
                let address = Address { base, terms: vec![(number, bytes as i64)], offset: part.offset as i64 };
                fuse.body.push(Stmt::Offset { dst: fuse.stores[k], address });
            }
            fuse.run_steps(step, &[], &[], Order::Up, range[0], range[1], None);
        });
        self.spread(body, range, count as usize, chunk as usize);
    }

    /// Code for a range of `0..count`, run in chunks at the same time.
    pub(super) fn spread(&mut self, body: Vec<Stmt>, range: [Reg; 2], count: usize, chunk: usize) {
        let part = self.outline(body, Some(range)) as u32;
        self.body.push(Stmt::Spread { part, count: count as u64, chunk: chunk as u64 });
    }

    /// Code as a function of its own, by number. Addresses that never change it finds itself, other registers are passed.
    fn outline(&mut self, code: Vec<Stmt>, range: Option<[Reg; 2]>) -> usize {
        let mut walk = Walk { parts: &self.parts, assigned: range.into_iter().flatten().collect(), found: BTreeSet::new() };
        walk.statements(&code);
        let (mut params, mut body) = (vec![], vec![]);
        for reg in walk.found {
            match self.fixed.get(&reg) {
                Some(to) => body.push(Stmt::Pointer { dst: reg, to: *to }),
                None => params.push(reg),
            }
        }
        body.extend(code);
        self.parts.push(Part { params, range, body });
        self.parts.len() - 1
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
    /// All of them.
    pub all: BTreeSet<Reg>,
}

impl Registers {
    /// Of these statements, in a kernel with these parts.
    pub fn of(body: &[Stmt], parts: &[Part]) -> Registers {
        let mut walk = Walk { parts, assigned: BTreeSet::new(), found: BTreeSet::new() };
        walk.statements(body);
        Registers { all: walk.assigned.union(&walk.found).copied().collect(), read_first: walk.found }
    }
}

/// Finds the registers that code reads before it assigns them.
struct Walk<'p> {
    parts: &'p [Part],
    assigned: BTreeSet<Reg>,
    found: BTreeSet<Reg>,
}

impl Walk<'_> {
    fn reads<'r>(&mut self, regs: impl IntoIterator<Item = &'r Reg>) {
        for reg in regs {
            if !self.assigned.contains(reg) {
                self.found.insert(*reg);
            }
        }
    }

    fn assigns<'r>(&mut self, regs: impl IntoIterator<Item = &'r Reg>) {
        self.assigned.extend(regs);
    }

    fn address(&mut self, address: &Address) {
        self.reads([&address.base]);
        self.reads(address.terms.iter().map(|(reg, _)| reg));
    }

    fn statements(&mut self, body: &[Stmt]) {
        body.iter().for_each(|stmt| self.statement(stmt));
    }

    fn statement(&mut self, stmt: &Stmt) {
        match stmt {
            Stmt::Literal { dst, .. } | Stmt::Pointer { dst, .. } => self.assigns([dst]),
            Stmt::Let { dst, args, .. } => {
                self.reads(args);
                self.assigns([dst]);
            }
            Stmt::Move { dst, src } => {
                self.reads([src]);
                self.assigns([dst]);
            }
            Stmt::Swap(a, b) => self.reads([a, b]),
            Stmt::Offset { dst, address } | Stmt::Load { dst, from: address } => {
                self.address(address);
                self.assigns([dst]);
            }
            Stmt::Store { to, src } => {
                self.address(to);
                self.reads([src]);
            }
            Stmt::InTurn(turns) => turns.iter().for_each(|turn| {
                self.address(&turn.to);
                self.reads([&turn.src]);
            }),
            Stmt::Copy { to, from, .. } => [to, from].into_iter().for_each(|address| self.address(address)),
            Stmt::Zero { to, .. } => self.address(to),
            Stmt::For { index, from, to, body, .. } => {
                self.reads([from, to]);
                self.assigns([index]);
                self.statements(body);
            }
            Stmt::ForVec { index, body, folds, .. } => {
                self.assigns([index]);
                self.statements(body);
                self.reads(folds.iter().map(|fold| &fold.src));
                self.assigns(folds.iter().map(|fold| &fold.dst));
            }
            Stmt::If { cond, then_body, else_body } => {
                self.reads([cond]);
                self.statements(then_body);
                self.statements(else_body);
            }
            Stmt::Loop { body } => self.statements(body),
            Stmt::Start { words, count, table, .. } => {
                self.address(words);
                self.reads([count].into_iter().chain(table));
            }
            Stmt::Next { words, table, dst, .. } => {
                self.address(words);
                self.reads(table);
                self.assigns(dst);
            }
            Stmt::Call { args, result, scratch, .. } => {
                args.iter().chain([result]).chain(scratch).for_each(|address| self.address(address));
            }
            Stmt::Spill { to: disk, from: memory, .. } | Stmt::Fetch { to: memory, from: disk, .. } => {
                self.reads([&disk.place, &disk.step]);
                self.address(memory);
            }
            Stmt::Part(part) | Stmt::Spread { part, .. } => {
                let parts = self.parts;
                self.reads(&parts[*part as usize].params);
            }
            Stmt::Probe { seen, steps, .. } => {
                match seen {
                    Seen::Register(reg) => self.reads([reg]),
                    Seen::Memory(address) => self.address(address),
                }
                self.reads(steps);
            }
            Stmt::Fault { cond, .. } => self.reads([cond]),
            Stmt::Poll { reached } => self.reads(reached.iter().flat_map(|reached| [&reached.step].into_iter().chain(&reached.steps))),
            Stmt::Leave => {}
        }
    }
}
