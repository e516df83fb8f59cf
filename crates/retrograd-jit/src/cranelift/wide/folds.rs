//! Reductions: partials in registers, what is combined with them, and what is left in the end.

use retrograd_compiler::lower::kernel::Reg;

use super::body::{Body, UNORDERED, WORDS, result_at};
use super::encode::{Instruction, Mask, MaskOp, Memory, Op, Operand, Vector};
use super::registers::Holder;
use super::table::Combine;

/// How a reduction combines, and where its partials are.
#[derive(Clone, Copy, Debug)]
pub(super) enum Partials {
    Numbers(Op, [Vector; 2]),
    /// And which lanes had NaN.
    Extremes(u8, [Vector; 2], Mask),
    /// With what changes nothing.
    Truths(MaskOp, bool, Mask),
}

impl Body<'_, '_, '_> {
    /// Registers with what a reduction begins with.
    pub(super) fn begin_fold(&mut self, combine: Combine) -> Partials {
        match combine {
            Combine::Numbers(op, unit) => Partials::Numbers(op, self.begin_numbers(unit)),
            Combine::Extremes(which, unit) => {
                Partials::Extremes(which, self.begin_numbers(unit), self.begin_truths(false))
            }
            Combine::Truths(op, unit) => Partials::Truths(op, unit, self.begin_truths(unit)),
        }
    }

    fn begin_numbers(&mut self, unit: u64) -> [Vector; 2] {
        let unit = self.assembler.constants(&[unit]);
        [self.take(), self.take()].map(|register| {
            self.copy(register, Operand::Same(unit));
            register
        })
    }

    fn begin_truths(&mut self, unit: bool) -> Mask {
        let mask = self.take_mask();
        let op = if unit { MaskOp::Same } else { MaskOp::Xor };
        self.assembler.masks(op, mask, mask, mask);
        mask
    }

    /// Writes the result of a reduction.
    pub(super) fn end_fold(&mut self, fold: usize, partials: Partials) {
        let result = Memory::at(WORDS, result_at(fold));
        let all = match partials {
            Partials::Numbers(op, partials) => self.halves(op, None, partials),
            Partials::Extremes(which, partials, nan) => {
                let all = self.halves(Op::RANGE, Some(which), partials);
                let (none, not_a_number) =
                    (self.assembler.jump_if_none(nan), self.assembler.constants(&[f64::NAN.to_bits()]));
                self.copy(all, Operand::Same(not_a_number));
                self.assembler.land(none);
                all
            }
            Partials::Truths(_, _, mask) => return self.assembler.store_mask(mask, result),
        };
        self.assembler.instruction(Instruction::short(Op::STORE_ONE, all, None, Operand::Memory(result)));
    }

    /// Combines partials pairwise: each with the one that is half of them further, until one is left.
    fn halves(&mut self, op: Op, immediate: Option<u8>, [all, upper]: [Vector; 2]) -> Vector {
        let combine = Instruction { immediate, ..Instruction::long(op, all, Some(all), Operand::Register(upper)) };
        self.assembler.instruction(combine);
        for extract in [Op::EXTRACT_HALF, Op::EXTRACT_PAIR] {
            let half = Instruction::long(extract, all, None, Operand::Register(upper));
            self.assembler.instruction(Instruction { immediate: Some(1), ..half });
            self.assembler.instruction(combine);
        }
        self.long(Op::UPPER_OF_PAIRS, upper, Some(all), Operand::Register(all));
        self.assembler.instruction(combine);
        all
    }

    /// Combines a value of the lanes that are there with a partial.
    pub(super) fn reduce(&mut self, src: Reg, partials: Partials) {
        match partials {
            Partials::Numbers(op, partials) => {
                let (partial, value) = (partials[self.part as usize], self.operand(src));
                let combined = Instruction::long(op, partial, Some(partial), value);
                self.assembler.instruction(Instruction { mask: self.there, ..combined });
            }
            Partials::Extremes(which, partials, nan) => {
                let (partial, value, new) = (partials[self.part as usize], self.number(src), self.take_mask());
                let further = Instruction::long(Op::RANGE, partial, Some(partial), Operand::Register(value));
                self.assembler.instruction(Instruction { immediate: Some(which), mask: self.there, ..further });
                let compare = Instruction::long(Op::COMPARE, Vector(new.0), Some(value), Operand::Register(value));
                self.assembler.instruction(Instruction { immediate: Some(UNORDERED), mask: self.there, ..compare });
                self.assembler.masks(MaskOp::Or, nan, nan, new);
                self.masks[new.0 as usize] = Holder::Free;
            }
            Partials::Truths(op, unit, partial) => self.reduce_truths(src, op, unit, partial),
        }
    }

    fn reduce_truths(&mut self, src: Reg, op: MaskOp, unit: bool, partial: Mask) {
        let (value, counted) = (self.mask(src), self.take_mask());
        match self.there {
            None => self.assembler.copy_mask(counted, value),
            // The others count as what changes nothing.
            Some(there) if unit => {
                self.assembler.not_mask(counted, there);
                self.assembler.masks(MaskOp::Or, counted, counted, value);
            }
            Some(there) => self.assembler.masks(MaskOp::And, counted, there, value),
        }
        self.assembler.masks(op, partial, partial, counted);
        self.masks[counted.0 as usize] = Holder::Free;
    }
}
