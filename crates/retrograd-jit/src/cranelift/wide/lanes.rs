//! Loads and stores, of lanes side by side and of lanes apart.

use retrograd_compiler::lower::kernel::{OrderedWrite, Reg};

use super::body::{BYTES, Body, INDEX, LANES, Row, WORDS};
use super::encode::{Base, Instruction, Memory, Op, Operand, Vector};
use super::registers::Pointer;
use crate::cranelift::access::Access;

/// Bytes of a number.
const NUMBER: i64 = 8;

impl Body<'_, '_, '_> {
    pub(super) fn load(&mut self, dst: Reg, access: &Access) {
        if access.is_apart() {
            return self.gather(dst, access);
        }
        let (from, to) = (self.whole(access), self.take());
        let load = Instruction::long(Op::LOAD, to, None, Operand::Memory(from));
        self.assembler.instruction(Instruction { mask: self.there, clears: self.there.is_some(), ..load });
        self.bind(dst, to);
    }

    /// Lane by lane, two of them at a time.
    fn gather(&mut self, dst: Reg, access: &Access) {
        self.row(access);
        let (all, two) = (self.take(), self.take());
        for pair in 0..self.lanes.div_ceil(2) {
            let (to, from) = (if pair == 0 { all } else { two }, self.lane(access, 2 * pair));
            self.short(Op::LOAD_ONE, to, None, from);
            if 2 * pair + 1 < self.lanes {
                let from = self.lane(access, 2 * pair + 1);
                self.short(Op::LOAD_UPPER, to, Some(to), from);
            }
            if pair > 0 {
                self.insert(all, pair, Operand::Register(two));
            }
        }
        self.free(two);
        self.bind(dst, all);
    }

    /// Two numbers of each lane: those of even lanes and those of odd ones, whose lower and upper numbers then come
    /// together.
    pub(super) fn load_both(&mut self, dst: [Option<Reg>; 2], access: &Access) {
        self.row(access);
        let [even, odd] = [self.take(), self.take()];
        for lane in 0..self.lanes {
            let to = if lane % 2 == 0 { even } else { odd };
            let from = self.lane(access, lane);
            if lane < 2 {
                self.short(Op::LOAD, to, None, from)
            } else {
                self.insert(to, lane / 2, Operand::Memory(from))
            }
        }
        if let Some(dst) = dst[0] {
            let lower = self.take();
            self.long(Op::LOWER_OF_PAIRS, lower, Some(even), Operand::Register(odd));
            self.bind(dst, lower);
        }
        match dst[1] {
            Some(dst) => {
                self.long(Op::UPPER_OF_PAIRS, even, Some(even), Operand::Register(odd));
                self.bind(dst, even);
            }
            None => self.free(even),
        }
        self.free(odd);
    }

    pub(super) fn store(&mut self, access: &Access, src: Reg) {
        if !access.is_apart() {
            let store = Instruction::long(Op::STORE, self.number(src), None, Operand::Memory(self.whole(access)));
            self.assembler.instruction(Instruction { mask: self.there, ..store });
            return;
        }
        self.row(access);
        let from = self.number(src);
        let two = self.take();
        for pair in 0..self.lanes.div_ceil(2) {
            if pair > 0 {
                let extract = Instruction::long(Op::EXTRACT_PAIR, from, None, Operand::Register(two));
                self.assembler.instruction(Instruction { immediate: Some(pair as u8), ..extract });
            }
            let (source, to) = (if pair == 0 { from } else { two }, self.lane(access, 2 * pair));
            self.short(Op::STORE_ONE, source, None, to);
            if 2 * pair + 1 < self.lanes {
                let to = self.lane(access, 2 * pair + 1);
                self.short(Op::STORE_UPPER, source, None, to);
            }
        }
        self.free(two);
    }

    /// What is written in turn goes through memory, from which each lane takes its number or its two.
    pub(super) fn in_turn(&mut self, turns: &[(Access, &OrderedWrite, Option<&OrderedWrite>)]) {
        // The values are looked at one after the other.
        let reads = std::mem::take(&mut self.pinned);
        let sources: Vec<[i32; 2]> = turns
            .iter()
            .map(|(access, turn, after)| self.source(access, turn.src, after.map(|after| after.src)))
            .collect();
        let number = self.take();
        for lane in 0..self.lanes {
            for ((access, turn, after), slots) in turns.iter().zip(&sources) {
                let to = self.lane(access, lane);
                let (load, store, add, at) = match after {
                    None => (Op::LOAD_ONE, Op::STORE_ONE, Op::ADD.of_one(), slots[0] + 8 * lane.cast_signed()),
                    Some(_) => (Op::LOAD, Op::STORE, Op::ADD, slots[lane as usize % 2] + 16 * (lane / 2).cast_signed()),
                };
                self.short(load, number, None, Memory::at(WORDS, at));
                if turn.op.is_some() {
                    self.short(add, number, Some(number), to);
                }
                self.short(store, number, None, to);
            }
        }
        self.free(number);
        for ((_, _, after), slots) in turns.iter().zip(sources) {
            if after.is_some() {
                slots.into_iter().for_each(|slot| self.free_slot(slot));
            }
        }
        self.pinned = reads;
    }

    /// Where in memory the number of each lane is, or the two of even and of odd lanes.
    fn source(&mut self, access: &Access, src: Reg, after: Option<Reg>) -> [i32; 2] {
        self.row(access);
        let Some(after) = after else { return [self.in_memory(src); 2] };
        self.pinned = vec![src, after];
        let (lower, upper, both) = (self.number(src), self.number(after), self.take());
        let slots = [Op::LOWER_OF_PAIRS, Op::UPPER_OF_PAIRS].map(|op| {
            let slot = self.slot();
            self.long(op, both, Some(lower), Operand::Register(upper));
            self.long(Op::STORE, both, None, Operand::Memory(Memory::at(WORDS, slot)));
            slot
        });
        self.free(both);
        self.pinned.clear();
        slots
    }

    fn short(&mut self, op: Op, first: Vector, middle: Option<Vector>, memory: Memory) {
        self.assembler.instruction(Instruction::short(op, first, middle, Operand::Memory(memory)));
    }

    /// Puts two numbers into their place.
    fn insert(&mut self, to: Vector, pair: u32, from: Operand) {
        let insert = Instruction::long(Op::INSERT_PAIR, to, Some(to), from);
        self.assembler.instruction(Instruction { immediate: Some(pair as u8), ..insert });
    }

    /// Eight numbers side by side.
    fn whole(&mut self, access: &Access) -> Memory {
        let base = self.base(access.base);
        Memory {
            base: Base::Register(base),
            index: Some((INDEX, 3)),
            offset: access.offset + self.part.cast_signed() * BYTES,
        }
    }

    /// The number of one lane.
    fn lane(&mut self, access: &Access, lane: u32) -> Memory {
        let base = self.base(access.base);
        let (index, offset) = if access.scattered.is_empty() {
            let along = access.stride * i64::from(self.part * LANES + lane);
            (self.pointer(Pointer::Scaled(access.stride as i32)), access.offset + along as i32)
        } else {
            let slot = self.row(access);
            (self.pointer(Pointer::Slot(slot + 8 * lane.cast_signed())), access.offset)
        };
        Memory { base: Base::Register(base), index: Some((index, 0)), offset }
    }

    /// Where in memory the offsets of lanes are, which differ in another way than by the index alone.
    fn row(&mut self, access: &Access) -> i32 {
        if access.scattered.is_empty() {
            return 0;
        }
        if let Some(row) = self.rows.iter().find(|row| row.terms == access.scattered && row.stride == access.stride) {
            return row.slot;
        }
        let index = (access.stride != 0).then_some((self.vec_loop.index, access.stride));
        let (sum, one) = (self.take(), self.take());
        for (k, (reg, stride)) in access.scattered.iter().copied().chain(index).enumerate() {
            let stride = self.assembler.constants(&[stride.cast_unsigned()]);
            let reg = self.number(reg);
            self.long(Op::MUL_INTEGERS, if k == 0 { sum } else { one }, Some(reg), Operand::Same(stride));
            if k > 0 {
                self.long(Op::ADD_INTEGERS, sum, Some(sum), Operand::Register(one));
            }
        }
        let slot = self.slot();
        self.long(Op::STORE, sum, None, Operand::Memory(Memory::at(WORDS, slot)));
        self.free(sum);
        self.free(one);
        self.rows.push(Row { terms: access.scattered.clone(), stride: access.stride, slot });
        slot
    }
}

/// Whether the lanes of an access have a form: what is added to addresses fits an instruction.
pub(super) fn reaches(access: &Access, steps: u64) -> bool {
    let along = access.stride.unsigned_abs().max(NUMBER.cast_unsigned()) * steps;
    along + u64::from(access.offset.unsigned_abs()) < 1 << 31
}
