//! Instructions of x86-64 as bytes: those of AVX-512 that vector loops are made of, and the few others around them.
//!
//! Intel's manual, volume 2: EVEX (section 2.7), VEX (2.3.5), ModR/M and SIB (2.1.5). Displacements always have 32
//! bits.

/// A general register.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Gpr(pub(super) u8);

/// A vector register; its lower 128 bits where an instruction is that long.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Vector(pub(super) u8);

/// A register of truth values, one bit for each lane; number 0 means none.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Mask(pub(super) u8);

/// Bits of a vector.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Length {
    Short = 0,
    Long = 2,
}

/// An address.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Memory {
    pub(super) base: Base,
    /// A register, and the power of two that it counts.
    pub(super) index: Option<(Gpr, u8)>,
    pub(super) offset: i32,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Base {
    Register(Gpr),
    /// The constants after the code.
    Pool,
}

impl Memory {
    pub(super) fn at(base: Gpr, offset: i32) -> Memory {
        Memory { base: Base::Register(base), index: None, offset }
    }
}

/// The last operand of an instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Operand {
    Register(Vector),
    Memory(Memory),
    /// One number in memory, for all lanes.
    Same(Memory),
}

/// An instruction of vectors whose lanes have 64 bits: the map of its opcode, its prefix (1 is 66, 2 is F3, 3 is F2),
/// its opcode.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Op(u8, u8, u8);

impl Op {
    pub(super) const LOAD: Op = Op(1, 1, 0x10);
    pub(super) const STORE: Op = Op(1, 1, 0x11);
    pub(super) const LOAD_ONE: Op = Op(1, 3, 0x10);
    pub(super) const STORE_ONE: Op = Op(1, 3, 0x11);
    pub(super) const LOAD_UPPER: Op = Op(1, 1, 0x16);
    pub(super) const STORE_UPPER: Op = Op(1, 1, 0x17);
    pub(super) const COPY: Op = Op(1, 1, 0x28);
    pub(super) const ADD: Op = Op(1, 1, 0x58);
    pub(super) const MUL: Op = Op(1, 1, 0x59);
    pub(super) const SUB: Op = Op(1, 1, 0x5c);
    pub(super) const DIV: Op = Op(1, 1, 0x5e);
    /// The first of two where it is less, or greater; else the last.
    pub(super) const MIN: Op = Op(1, 1, 0x5d);
    pub(super) const MAX: Op = Op(1, 1, 0x5f);
    pub(super) const SQRT: Op = Op(1, 1, 0x51);
    pub(super) const AND: Op = Op(1, 1, 0x54);
    pub(super) const OR: Op = Op(1, 1, 0x56);
    pub(super) const XOR: Op = Op(1, 1, 0x57);
    pub(super) const ADD_INTEGERS: Op = Op(1, 1, 0xd4);
    pub(super) const SUB_INTEGERS: Op = Op(1, 1, 0xfb);
    pub(super) const MUL_INTEGERS: Op = Op(2, 1, 0x40);
    pub(super) const MIN_INTEGERS: Op = Op(2, 1, 0x39);
    pub(super) const MAX_INTEGERS: Op = Op(2, 1, 0x3d);
    /// By as many bits as the last operand says, zeros coming in.
    pub(super) const SHIFT_LEFT: Op = Op(2, 1, 0x47);
    pub(super) const SHIFT_RIGHT: Op = Op(2, 1, 0x45);
    /// Of the three bits at each place, the one that the immediate has for them.
    pub(super) const BITS_OF_THREE: Op = Op(3, 1, 0x25);
    pub(super) const COMPARE: Op = Op(1, 1, 0xc2);
    pub(super) const COMPARE_INTEGERS: Op = Op(3, 1, 0x1f);
    /// The last operand where the mask is set, else the one before.
    pub(super) const BLEND: Op = Op(2, 1, 0x65);
    /// The lesser or the greater; of a NaN and a number, the number.
    pub(super) const RANGE: Op = Op(3, 1, 0x50);
    pub(super) const ROUND: Op = Op(3, 1, 0x09);
    pub(super) const BROADCAST: Op = Op(2, 1, 0x19);
    pub(super) const BROADCAST_GPR: Op = Op(2, 1, 0x7c);
    pub(super) const LOWER_OF_PAIRS: Op = Op(1, 1, 0x14);
    pub(super) const UPPER_OF_PAIRS: Op = Op(1, 1, 0x15);
    pub(super) const INSERT_PAIR: Op = Op(3, 1, 0x18);
    /// To the last operand.
    pub(super) const EXTRACT_PAIR: Op = Op(3, 1, 0x19);
    pub(super) const EXTRACT_HALF: Op = Op(3, 1, 0x1b);
    pub(super) const TO_FLOATS: Op = Op(1, 2, 0xe6);

    /// The same on one number.
    pub(super) fn of_one(self) -> Op {
        Op(self.0, 3, self.2)
    }
}

/// What an `fma` overwrites.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Overwrites {
    /// The first factor; the second is the operand in the middle, what is added the last.
    FactorAddsLast,
    /// The first factor; the second is the last operand.
    FactorAddsMiddle,
    /// What is added.
    Summand,
}

/// `±a·b ± c`, where `negative` is of the product and of the summand.
pub(super) fn fused(overwrites: Overwrites, negative: [bool; 2]) -> Op {
    let first = match overwrites {
        Overwrites::FactorAddsMiddle => 0x98,
        Overwrites::FactorAddsLast => 0xa8,
        Overwrites::Summand => 0xb8,
    };
    Op(2, 1, first + 4 * u8::from(negative[0]) + 2 * u8::from(negative[1]))
}

/// An instruction of two masks and a third.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum MaskOp {
    And = 0x41,
    Or = 0x45,
    Same = 0x46,
    Xor = 0x47,
}

/// An instruction of vectors.
#[derive(Clone, Copy, Debug)]
pub(super) struct Instruction {
    pub(super) op: Op,
    pub(super) length: Length,
    /// The first operand, mostly the result; a vector, or a mask.
    pub(super) first: u8,
    /// The operand in the middle, of those that have one.
    pub(super) middle: Option<Vector>,
    pub(super) last: Operand,
    /// The lanes that are written or chosen.
    pub(super) mask: Option<Mask>,
    /// Whether others become 0.
    pub(super) clears: bool,
    pub(super) immediate: Option<u8>,
}

/// Code being written, and the constants that it reads.
#[derive(Debug, Default)]
pub(super) struct Assembler {
    code: Vec<u8>,
    pool: Vec<u64>,
    /// Displacements to the pool: where each is, where its instruction ends, the byte of the pool.
    fixes: Vec<(usize, usize, i32)>,
}

/// A jump back goes here.
#[derive(Clone, Copy, Debug)]
pub(super) struct Label(usize);

/// A jump onwards, which does not know yet where to.
#[derive(Debug)]
pub(super) struct Jump(usize);

impl Assembler {
    /// The code with its constants.
    pub(super) fn finish(mut self) -> Vec<u8> {
        self.code.resize(self.code.len().next_multiple_of(64), 0xcc);
        for (at, end, byte) in std::mem::take(&mut self.fixes) {
            let distance = self.code.len() as i32 - end as i32 + byte;
            self.code[at..at + 4].copy_from_slice(&distance.to_le_bytes());
        }
        self.code.extend(self.pool.iter().flat_map(|word| word.to_le_bytes()));
        self.code
    }

    /// Where constants are, side by side.
    pub(super) fn constants(&mut self, words: &[u64]) -> Memory {
        let known = self.pool.windows(words.len()).position(|known| known == words);
        let first = known.unwrap_or_else(|| {
            self.pool.extend(words);
            self.pool.len() - words.len()
        });
        Memory { base: Base::Pool, index: None, offset: 8 * first as i32 }
    }

    pub(super) fn instruction(&mut self, it: Instruction) {
        let Op(map, prefix, opcode) = it.op;
        let middle = it.middle.map_or(0, |middle| middle.0);
        let (same, [b, x]) = match it.last {
            Operand::Register(Vector(last)) => (false, [last >> 3 & 1, last >> 4 & 1]),
            Operand::Memory(memory) => (false, memory.high_bits()),
            Operand::Same(memory) => (true, memory.high_bits()),
        };
        let not = |bit: u8, shift: u8| (bit & 1 ^ 1) << shift;
        self.code.push(0x62);
        self.code.push(not(it.first >> 3, 7) | not(x, 6) | not(b, 5) | not(it.first >> 4, 4) | map);
        self.code.push(0x80 | (!middle & 15) << 3 | 4 | prefix);
        let mask = it.mask.map_or(0, |mask| mask.0);
        self.code
            .push(u8::from(it.clears) << 7 | (it.length as u8) << 5 | u8::from(same) << 4 | not(middle >> 4, 3) | mask);
        self.code.push(opcode);
        let fix = match it.last {
            Operand::Register(Vector(last)) => {
                self.code.push(0xc0 | (it.first & 7) << 3 | last & 7);
                None
            }
            Operand::Memory(memory) | Operand::Same(memory) => self.memory(it.first, memory),
        };
        self.code.extend(it.immediate);
        self.fix(fix);
    }

    /// Writes ModR/M, SIB and displacement; returns where the latter is, if it is one to the pool.
    fn memory(&mut self, register: u8, memory: Memory) -> Option<(usize, i32)> {
        let register = (register & 7) << 3;
        let Base::Register(base) = memory.base else {
            self.code.push(register | 5);
            self.code.extend([0; 4]);
            return Some((self.code.len() - 4, memory.offset));
        };
        match memory.index {
            None if base.0 & 7 != 4 => self.code.push(0x80 | register | base.0 & 7),
            // Register 4 as an index means none.
            None => self.code.extend([0x80 | register | 4, 4 << 3 | base.0 & 7]),
            Some((index, scale)) => {
                self.code.extend([0x80 | register | 4, scale << 6 | (index.0 & 7) << 3 | base.0 & 7])
            }
        }
        self.code.extend(memory.offset.to_le_bytes());
        None
    }

    /// Remembers a displacement to the pool, when its instruction is written.
    fn fix(&mut self, fix: Option<(usize, i32)>) {
        self.fixes.extend(fix.map(|(at, byte)| (at, self.code.len(), byte)));
    }

    pub(super) fn masks(&mut self, op: MaskOp, to: Mask, a: Mask, b: Mask) {
        self.code.extend([0xc5, 0x80 | (!a.0 & 15) << 3 | 5, op as u8, 0xc0 | to.0 << 3 | b.0]);
    }

    pub(super) fn not_mask(&mut self, to: Mask, from: Mask) {
        self.code.extend([0xc5, 0xf9, 0x44, 0xc0 | to.0 << 3 | from.0]);
    }

    pub(super) fn copy_mask(&mut self, to: Mask, from: Mask) {
        self.code.extend([0xc5, 0xf9, 0x90, 0xc0 | to.0 << 3 | from.0]);
    }

    /// From the pool, or where a register below 8 points.
    pub(super) fn load_mask(&mut self, to: Mask, from: Memory) {
        self.code.extend([0xc5, 0xf9, 0x90]);
        let fix = self.memory(to.0, from);
        self.fix(fix);
    }

    /// To where a register below 8 points.
    pub(super) fn store_mask(&mut self, from: Mask, to: Memory) {
        self.code.extend([0xc5, 0xf9, 0x91]);
        self.memory(from.0, to);
    }

    /// An instruction of 64 bits on a general register and memory or another register.
    fn general(&mut self, opcode: u8, register: Gpr, last: Gpr) {
        self.code.extend([
            0x48 | register.0 >> 3 << 2 | last.0 >> 3,
            opcode,
            0xc0 | (register.0 & 7) << 3 | last.0 & 7,
        ]);
    }

    pub(super) fn load_word(&mut self, to: Gpr, from: Memory) {
        let [b, x] = from.high_bits();
        self.code.extend([0x48 | to.0 >> 3 << 2 | x << 1 | b, 0x8b]);
        self.memory(to.0, from);
    }

    /// `to = from · factor`.
    pub(super) fn multiply(&mut self, to: Gpr, from: Gpr, factor: i32) {
        self.general(0x69, to, from);
        self.code.extend(factor.to_le_bytes());
    }

    pub(super) fn add_constant(&mut self, to: Gpr, term: i32) {
        self.general(0x81, Gpr(0), to);
        self.code.extend(term.to_le_bytes());
    }

    pub(super) fn label(&self) -> Label {
        Label(self.code.len())
    }

    /// Jumps back while `a < b`.
    pub(super) fn while_less(&mut self, a: Gpr, b: Gpr, to: Label) {
        self.general(0x39, b, a);
        self.code.extend([0x0f, 0x8c]);
        let distance = to.0 as i32 - (self.code.len() as i32 + 4);
        self.code.extend(distance.to_le_bytes());
    }

    /// Jumps onwards.
    pub(super) fn jump(&mut self) -> Jump {
        self.code.extend([0xe9, 0, 0, 0, 0]);
        Jump(self.code.len())
    }

    /// Jumps onwards unless `a < b`.
    pub(super) fn jump_unless_less(&mut self, a: Gpr, b: Gpr) -> Jump {
        self.general(0x39, b, a);
        self.code.extend([0x0f, 0x8d, 0, 0, 0, 0]);
        Jump(self.code.len())
    }

    /// Jumps onwards if no lane is set.
    pub(super) fn jump_if_none(&mut self, mask: Mask) -> Jump {
        self.code.extend([0xc5, 0xf9, 0x98, 0xc0 | mask.0 << 3 | mask.0]);
        self.code.extend([0x0f, 0x84, 0, 0, 0, 0]);
        Jump(self.code.len())
    }

    /// A jump goes here.
    pub(super) fn land(&mut self, jump: Jump) {
        let distance = (self.code.len() - jump.0) as i32;
        self.code[jump.0 - 4..jump.0].copy_from_slice(&distance.to_le_bytes());
    }

    pub(super) fn push(&mut self, register: Gpr) {
        self.code.extend([0x40 | register.0 >> 3, 0x50 | register.0 & 7]);
    }

    pub(super) fn pop(&mut self, register: Gpr) {
        self.code.extend([0x40 | register.0 >> 3, 0x58 | register.0 & 7]);
    }

    /// Back to the caller, whose instructions have short vectors.
    pub(super) fn ret(&mut self) {
        self.code.extend([0xc5, 0xf8, 0x77, 0xc3]);
    }
}

impl Memory {
    /// The fourth bits of base and index.
    fn high_bits(self) -> [u8; 2] {
        let base = match self.base {
            Base::Register(base) => base.0 >> 3 & 1,
            Base::Pool => 0,
        };
        [base, self.index.map_or(0, |(index, _)| index.0 >> 3 & 1)]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bytes(write: impl FnOnce(&mut Assembler)) -> Vec<u8> {
        let mut assembler = Assembler::default();
        write(&mut assembler);
        assembler.code
    }

    fn long(op: Op, first: u8, middle: Option<u8>, last: Operand) -> Instruction {
        let middle = middle.map(Vector);
        Instruction { op, length: Length::Long, first, middle, last, mask: None, clears: false, immediate: None }
    }

    /// Against what GNU's disassembler reads.
    #[test]
    fn instructions_are_those_of_the_manual() {
        let indexed = Memory { base: Base::Register(Gpr(9)), index: Some((Gpr(6), 3)), offset: 64 };
        // vmovupd 0x40(%r9,%rsi,8),%zmm31
        let load = long(Op::LOAD, 31, None, Operand::Memory(indexed));
        assert_eq!(bytes(|a| a.instruction(load)), [0x62, 0x41, 0xfd, 0x48, 0x10, 0xbc, 0xf1, 0x40, 0, 0, 0]);
        // vaddpd %zmm9,%zmm18,%zmm1
        let add = long(Op::ADD, 1, Some(18), Operand::Register(Vector(9)));
        assert_eq!(bytes(|a| a.instruction(add)), [0x62, 0xd1, 0xed, 0x40, 0x58, 0xc9]);
        // vmulpd 0x28(%rdi){1to8},%zmm2,%zmm9
        let multiply = long(Op::MUL, 9, Some(2), Operand::Same(Memory::at(Gpr(7), 40)));
        assert_eq!(bytes(|a| a.instruction(multiply)), [0x62, 0x71, 0xed, 0x58, 0x59, 0x8f, 0x28, 0, 0, 0]);
        // vfnmadd132pd %zmm10,%zmm3,%zmm20
        let fused =
            long(fused(Overwrites::FactorAddsMiddle, [true, false]), 20, Some(3), Operand::Register(Vector(10)));
        assert_eq!(bytes(|a| a.instruction(fused)), [0x62, 0xc2, 0xe5, 0x48, 0x9c, 0xe2]);
        // vblendmpd %zmm21,%zmm20,%zmm3{%k3}
        let blend = Instruction { mask: Some(Mask(3)), ..long(Op::BLEND, 3, Some(20), Operand::Register(Vector(21))) };
        assert_eq!(bytes(|a| a.instruction(blend)), [0x62, 0xb2, 0xdd, 0x43, 0x65, 0xdd]);
        // kortestb %k2,%k2; je
        let none = bytes(|a| {
            let jump = a.jump_if_none(Mask(2));
            a.land(jump);
        });
        assert_eq!(none, [0xc5, 0xf9, 0x98, 0xd2, 0x0f, 0x84, 0, 0, 0, 0]);
        // mov 0x18(%r12),%rcx; imul $0x48,%rsi,%r8; kandb %k3,%k2,%k1
        assert_eq!(bytes(|a| a.load_word(Gpr(1), Memory::at(Gpr(12), 24))), [0x49, 0x8b, 0x8c, 0x24, 0x18, 0, 0, 0]);
        assert_eq!(bytes(|a| a.multiply(Gpr(8), Gpr(6), 72)), [0x4c, 0x69, 0xc6, 0x48, 0, 0, 0]);
        assert_eq!(bytes(|a| a.masks(MaskOp::And, Mask(1), Mask(2), Mask(3))), [0xc5, 0xed, 0x41, 0xcb]);
    }

    #[test]
    fn constants_lie_after_the_code_once() {
        let mut assembler = Assembler::default();
        let [both, second] = [assembler.constants(&[1, 2]), assembler.constants(&[2])];
        assert_eq!((both.offset, second.offset), (0, 8));
        assembler.instruction(long(Op::XOR, 9, Some(2), Operand::Same(second)));
        let code = assembler.finish();
        let distance = i32::from_le_bytes(code[6..10].try_into().expect("four bytes"));
        assert_eq!(code.len(), 64 + 16);
        assert_eq!(10 + distance, 64 + 8);
    }
}
