//! Which value is in which register, and what waits in memory.
//!
//! The body of a loop is straight code, so that who is needed last is known: when registers run out, that value goes to
//! memory. Numbers that are the same for all lanes are read from memory where they are used, which costs no register.

use cranelift_codegen::ir::Value;
use retrograd_compiler::ir::DType;
use retrograd_compiler::lower::kernel::Reg;

use super::body::{BYTES, Body, INDEX, LANES, WORDS, words_at};
use super::encode::{Gpr, Mask, Memory, Op, Operand, Vector};

/// Who has a register.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Holder {
    Free,
    Taken,
    Value(Reg),
}

/// Where a value is.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Location {
    pub(super) register: Option<u8>,
    /// Its place in memory.
    pub(super) slot: Option<i32>,
}

/// What a general register holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Pointer {
    Word(usize),
    /// The index of the loop times this.
    Scaled(i32),
    /// What is in a slot.
    Slot(i32),
}

impl Body<'_, '_, '_> {
    /// A number as the last operand of an instruction.
    pub(super) fn operand(&mut self, reg: Reg) -> Operand {
        if let Some(&shared) = self.shared.get(&reg) {
            return Operand::Register(shared);
        }
        let location = self.locations.get(&reg).copied().unwrap_or_default();
        match location {
            Location { register: Some(register), .. } => Operand::Register(Vector(register)),
            Location { slot: Some(slot), .. } => Operand::Memory(Memory::at(WORDS, slot)),
            Location { .. } if self.is_uniform(reg) => Operand::Same(self.uniform(reg)),
            Location { .. } => Operand::Register(self.number(reg)),
        }
    }

    /// A number in a register.
    pub(super) fn number(&mut self, reg: Reg) -> Vector {
        if let Some(&shared) = self.shared.get(&reg) {
            return shared;
        }
        if let Some(Location { register: Some(register), .. }) = self.locations.get(&reg) {
            return Vector(*register);
        }
        let to = self.take();
        if reg == self.vec_loop.index {
            let first = u64::from(self.part * LANES);
            let lanes: Vec<u64> = (first..first + u64::from(LANES)).collect();
            let lanes = self.assembler.constants(&lanes);
            self.long(Op::BROADCAST_GPR, to, None, Operand::Register(Vector(INDEX.0)));
            self.long(Op::ADD_INTEGERS, to, Some(to), Operand::Memory(lanes));
        } else {
            let from = self.operand(reg);
            self.copy(to, from);
        }
        let slot = self.locations.get(&reg).and_then(|location| location.slot);
        self.bind(reg, to);
        self.locations.entry(reg).or_default().slot = slot;
        to
    }

    /// Whether a register is a truth value.
    pub(super) fn is_truth(&self, reg: Reg) -> bool {
        self.acts.is_truth(reg).unwrap_or_else(|| self.lower.dtype(reg) == DType::Bool)
    }

    /// Whether a register is the same for all lanes.
    pub(super) fn is_uniform(&self, reg: Reg) -> bool {
        self.acts.constant(reg).is_some() || self.vec_loop.is_uniform(reg)
    }

    /// A number that is the same for all lanes.
    fn uniform(&mut self, reg: Reg) -> Memory {
        if let Some(bits) = self.acts.constant(reg) {
            return self.assembler.constants(&[bits]);
        }
        let value = self.vec_loop.uniform(reg);
        if let Some(bits) = self.lower.constant(value) {
            return self.assembler.constants(&[bits]);
        }
        let word = self.word(value);
        self.word_place(word)
    }

    /// The number of a word that the caller hands over.
    pub(super) fn word(&mut self, value: Value) -> usize {
        self.words.iter().position(|&word| word == value).unwrap_or_else(|| {
            self.words.push(value);
            self.words.len() - 1
        })
    }

    pub(super) fn word_place(&self, word: usize) -> Memory {
        Memory::at(WORDS, words_at(self.vec_loop.folds.len()) + 8 * word as i32)
    }

    /// The address in a word of the caller, in a register.
    pub(super) fn base(&mut self, base: Value) -> Gpr {
        let word = self.word(base);
        self.lasting
            .iter()
            .find(|(_, lasts)| *lasts == word)
            .map(|&(register, _)| register)
            .unwrap_or_else(|| self.pointer(Pointer::Word(word)))
    }

    /// What an address is made of, in the register that was asked for the longest time ago.
    pub(super) fn pointer(&mut self, what: Pointer) -> Gpr {
        let known = self.pointers.iter().position(|(_, holds)| *holds == Some(what));
        let (register, _) = self.pointers.remove(known.unwrap_or(0));
        self.pointers.push((register, Some(what)));
        if known.is_none() {
            self.touched.push(register);
            match what {
                Pointer::Word(word) => self.assembler.load_word(register, self.word_place(word)),
                Pointer::Scaled(factor) => self.assembler.multiply(register, INDEX, factor),
                Pointer::Slot(slot) => self.assembler.load_word(register, Memory::at(WORDS, slot)),
            }
        }
        register
    }

    /// A truth value in a register.
    pub(super) fn mask(&mut self, reg: Reg) -> Mask {
        let location = self.locations.get(&reg).copied().unwrap_or_default();
        if let Some(register) = location.register {
            return Mask(register);
        }
        let to = self.take_mask();
        let slot = location.slot.expect("a truth value is in a register or in memory");
        self.assembler.load_mask(to, Memory::at(WORDS, slot));
        self.masks[to.0 as usize] = Holder::Value(reg);
        self.locations.entry(reg).or_default().register = Some(to.0);
        to
    }

    /// The register of a truth value that is being made.
    pub(super) fn new_mask(&mut self, dst: Reg) -> Mask {
        self.retire();
        let to = self.take_mask();
        self.masks[to.0 as usize] = Holder::Value(dst);
        self.locations.insert(dst, Location { register: Some(to.0), slot: None });
        to
    }

    /// A register for something without a name.
    pub(super) fn take(&mut self) -> Vector {
        let register = self.vectors.iter().position(|holder| *holder == Holder::Free).unwrap_or_else(|| {
            let (register, reg) = self.furthest(&self.vectors);
            // What is the same for all lanes, or the index, is made again.
            if reg != self.vec_loop.index && !self.is_uniform(reg) {
                self.in_memory(reg);
            }
            self.locations.entry(reg).or_default().register = None;
            register
        });
        self.vectors[register] = Holder::Taken;
        self.most_vectors =
            self.most_vectors.max(self.vectors.iter().filter(|holder| **holder != Holder::Free).count());
        Vector(register as u8)
    }

    pub(super) fn take_mask(&mut self) -> Mask {
        let register = self.masks.iter().position(|holder| *holder == Holder::Free).unwrap_or_else(|| {
            let (register, reg) = self.furthest(&self.masks);
            if self.locations[&reg].slot.is_none() {
                let slot = self.slot();
                self.assembler.store_mask(Mask(register as u8), Memory::at(WORDS, slot));
                self.locations.entry(reg).or_default().slot = Some(slot);
            }
            self.locations.entry(reg).or_default().register = None;
            register
        });
        self.masks[register] = Holder::Taken;
        Mask(register as u8)
    }

    /// The value that is needed last of those in registers.
    fn furthest(&self, holders: &[Holder]) -> (usize, Reg) {
        let movable = holders.iter().enumerate().filter_map(|(register, holder)| match holder {
            Holder::Value(reg) if !self.pinned.contains(reg) => Some((register, *reg)),
            Holder::Value(_) | Holder::Free | Holder::Taken => None,
        });
        movable
            .max_by_key(|&(_, reg)| self.next_use(reg))
            .expect("a statement reads fewer values than there are registers")
    }

    pub(super) fn free(&mut self, register: Vector) {
        self.vectors[register.0 as usize] = Holder::Free;
    }

    pub(super) fn bind(&mut self, dst: Reg, register: Vector) {
        self.vectors[register.0 as usize] = Holder::Value(dst);
        self.locations.insert(dst, Location { register: Some(register.0), slot: None });
    }

    /// `dst` is where `old` was.
    pub(super) fn overwrite(&mut self, old: Reg, dst: Reg) {
        let location = self.locations.remove(&old).expect("what is overwritten is somewhere");
        self.free_slots.extend(location.slot);
        self.bind(dst, Vector(location.register.expect("what is overwritten is in a register")));
    }

    /// Those that the statement reads for the last time give their registers back; they are there until another is
    /// written.
    pub(super) fn retire(&mut self) {
        for k in 0..self.pinned.len() {
            let reg = self.pinned[k];
            if self.next_use(reg) < usize::MAX {
                continue;
            }
            if let Some(location) = self.locations.remove(&reg) {
                let holders = if self.is_truth(reg) { &mut self.masks[..] } else { &mut self.vectors[..] };
                location.register.into_iter().for_each(|register| holders[register as usize] = Holder::Free);
                self.free_slots.extend(location.slot);
            }
        }
    }

    /// The statement after this one that reads a value.
    pub(super) fn next_use(&self, reg: Reg) -> usize {
        let uses = self.uses.get(&reg).map_or(&[][..], Vec::as_slice);
        uses.get(uses.partition_point(|&at| at <= self.position)).copied().unwrap_or(usize::MAX)
    }

    /// Room for a vector in memory.
    pub(super) fn slot(&mut self) -> i32 {
        self.free_slots.pop().unwrap_or_else(|| {
            self.slots += BYTES;
            self.slots - BYTES
        })
    }

    pub(super) fn free_slot(&mut self, slot: i32) {
        self.free_slots.push(slot);
    }

    /// Where a number is in memory, which it then is.
    pub(super) fn in_memory(&mut self, reg: Reg) -> i32 {
        if let Some(Location { slot: Some(slot), .. }) = self.locations.get(&reg) {
            return *slot;
        }
        let (from, slot) = (self.number(reg), self.slot());
        self.long(Op::STORE, from, None, Operand::Memory(Memory::at(WORDS, slot)));
        self.locations.entry(reg).or_default().slot = Some(slot);
        slot
    }
}
