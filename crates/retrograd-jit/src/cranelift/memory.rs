//! Addresses, loads, stores and copies in scalar code.

use cranelift_codegen::ir::{InstBuilder, Type, Value, types};
use retrograd_compiler::ir::DType;
use retrograd_compiler::lower::kernel::{Address, Reg};

use super::arithmetic::Width;
use super::vector::every;
use super::{FLAGS, Lower, offset32};

/// Copies up to this size are moves in line, not calls.
const INLINE_BYTES: u64 = 64;

/// Copies up to this size are a loop in line: a call takes as long, and its wide loads wait for the narrow stores of
/// vector loops that made what is copied.
const LOOP_BYTES: u64 = 2048;

/// Bytes that one step of such a loop copies.
const STEP_BYTES: u64 = 64;

impl Lower<'_, '_> {
    /// A whole address.
    pub(super) fn address(&mut self, address: &Address) -> Value {
        let (base, offset) = self.based(address);
        if offset == 0 { base } else { self.builder.ins().iadd_imm_s(base, i64::from(offset)) }
    }

    /// An address as a value and a constant offset that a load or store takes.
    fn based(&mut self, address: &Address) -> (Value, i32) {
        let mut at = self.get(address.base);
        for &(reg, stride) in &address.terms {
            let index = self.get(reg);
            at = self.add_scaled(at, index, stride);
        }
        self.with_offset(at, address.offset)
    }

    /// Splits an offset between address and instruction.
    pub(super) fn with_offset(&mut self, at: Value, offset: i64) -> (Value, i32) {
        // Vector loops add up to a few thousand lanes·strides to the part in the instruction.
        if offset.unsigned_abs() < 1 << 30 {
            (at, offset32(offset))
        } else {
            (self.builder.ins().iadd_imm_s(at, offset), 0)
        }
    }

    /// `at + index·stride`; powers of two become shifts, which address modes take.
    pub(super) fn add_scaled(&mut self, at: Value, index: Value, stride: i64) -> Value {
        if stride == 0 {
            return at;
        }
        let scaled = if stride > 0 && stride.count_ones() == 1 {
            self.builder.ins().ishl_imm_u(index, i64::from(stride.trailing_zeros()))
        } else {
            self.builder.ins().imul_imm_s(index, stride)
        };
        self.builder.ins().iadd(at, scaled)
    }

    pub(super) fn load(&mut self, dst: Reg, from: &Address) -> Value {
        let (at, offset) = self.based(from);
        self.load_one(self.dtype(dst), at, offset)
    }

    pub(super) fn store(&mut self, to: &Address, src: Reg) {
        let (at, offset) = self.based(to);
        let value = self.get(src);
        self.builder.ins().store(FLAGS, value, at, offset);
    }

    /// One element, as scalar code holds it.
    pub(super) fn load_one(&mut self, ty: DType, at: Value, offset: i32) -> Value {
        self.builder.ins().load(Width::One.native(ty), FLAGS, at, offset)
    }

    /// All is read before anything is written, so that equal places are fine.
    pub(super) fn copy(&mut self, to: &Address, from: &Address, bytes: u64) {
        let (to, from) = (self.address(to), self.address(from));
        if bytes <= INLINE_BYTES {
            self.copy_pieces(to, from, bytes);
        } else if bytes <= LOOP_BYTES {
            let whole = (bytes - bytes % STEP_BYTES).cast_signed();
            let (start, end) = (self.integer(0), self.integer(whole));
            every(self, start, end, STEP_BYTES, |lower, at| {
                let (to, from) = (lower.builder.ins().iadd(to, at), lower.builder.ins().iadd(from, at));
                lower.copy_pieces(to, from, STEP_BYTES);
            });
            let (to, from) = (self.builder.ins().iadd_imm_s(to, whole), self.builder.ins().iadd_imm_s(from, whole));
            self.copy_pieces(to, from, bytes % STEP_BYTES);
        } else {
            let bytes = self.integer(bytes.cast_signed());
            // Equal places are allowed, which memcpy does not promise to bear.
            self.builder.call_memmove(self.config, to, from, bytes);
        }
    }

    fn copy_pieces(&mut self, to: Value, from: Value, bytes: u64) {
        let values: Vec<(Value, i32)> = pieces(bytes)
            .into_iter()
            .map(|(ty, offset)| (self.builder.ins().load(ty, FLAGS, from, offset), offset))
            .collect();
        for (value, offset) in values {
            self.builder.ins().store(FLAGS, value, to, offset);
        }
    }

    pub(super) fn zero(&mut self, to: &Address, bytes: u64) {
        let to = self.address(to);
        if bytes <= INLINE_BYTES {
            for (ty, offset) in pieces(bytes) {
                let zero =
                    if ty == types::I8X16 { self.vector_of(ty, [0, 0]) } else { self.builder.ins().iconst(ty, 0) };
                self.builder.ins().store(FLAGS, zero, to, offset);
            }
        } else {
            let zero = self.builder.ins().iconst(types::I8, 0);
            let bytes = self.integer(bytes.cast_signed());
            self.builder.call_memset(self.config, to, zero, bytes);
        }
    }
}

/// Types and offsets that cover so many bytes.
fn pieces(bytes: u64) -> Vec<(Type, i32)> {
    let mut pieces = Vec::new();
    let mut offset = 0;
    for ty in [types::I8X16, types::I64, types::I32, types::I16, types::I8] {
        let size = u64::from(ty.bytes());
        while bytes - offset >= size {
            pieces.push((ty, offset32(offset.cast_signed())));
            offset += size;
        }
    }
    pieces
}
