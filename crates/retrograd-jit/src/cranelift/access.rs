//! Loads and stores in vector loops: what is invariant is computed once, before the loop.

use cranelift_codegen::ir::{InstBuilder, MemFlagsData, Value, types};
use retrograd_compiler::ir::DType;
use retrograd_compiler::lower::kernel::{Address, Reg};

use super::arithmetic::Width;
use super::vector::{Lanes, Part, VecLoop};
use super::{FLAGS, Lower, offset32};

/// Where the steps of a vector loop read or write.
#[derive(Clone, Debug)]
pub(super) struct Access {
    pub(super) ty: DType,
    /// Everything but the loop's index and the lane terms.
    pub(super) base: Value,
    pub(super) offset: i32,
    /// Bytes from one step to the next.
    pub(super) stride: i64,
    /// Registers that differ between lanes in some other way, with their strides.
    pub(super) scattered: Vec<(Reg, i64)>,
}

impl Access {
    /// Computes the invariant part of an address, here.
    pub(super) fn new(lower: &mut Lower<'_, '_>, vec_loop: &mut VecLoop<'_>, ty: DType, address: &Address) -> Access {
        let (mut stride, mut same, mut scattered) = (0, Vec::new(), Vec::new());
        for &(reg, bytes) in &address.terms {
            if reg == vec_loop.index {
                stride += bytes;
            } else if vec_loop.is_uniform(reg) {
                same.push((reg, bytes));
            } else {
                scattered.push((reg, bytes));
            }
        }
        let base = vec_loop.base(lower, address.base, same);
        let (base, offset) = lower.with_offset(base, address.offset);
        Access { ty, base, offset, stride, scattered }
    }

    /// Whether the elements of steps do not lie side by side.
    pub(super) fn is_apart(&self) -> bool {
        !self.scattered.is_empty() || (self.stride != 0 && self.stride != self.ty.bytes() as i64)
    }

    /// A buffer of 8-byte lanes; `base` is where step 0 would be.
    pub(super) fn buffer(ty: DType, base: Value) -> Access {
        Access { ty, base, offset: 0, stride: 8, scattered: Vec::new() }
    }

    /// Whether the floats of consecutive steps lie side by side.
    pub(super) fn is_contiguous_f64(&self) -> bool {
        self.ty == DType::F64 && self.stride == 8 && self.scattered.is_empty()
    }

    /// The address of one step.
    pub(super) fn address_of(&self, lower: &mut Lower<'_, '_>, index: Value) -> Value {
        let at = lower.add_scaled(self.base, index, self.stride);
        lower.builder.ins().iadd_imm_s(at, i64::from(self.offset))
    }

    /// One part of the lanes.
    pub(super) fn load(&self, lower: &mut Lower<'_, '_>, vec_loop: &VecLoop<'_>, lanes: &Lanes<'_>, k: usize) -> Value {
        let part = lanes.parts[k];
        if let Some((at, offset)) = self.whole(lower, lanes, part) {
            let flags = vec_loop.load_flags(lower, lanes);
            return self.load_whole(lower, part.width, at, offset, flags);
        }
        if self.stride == 0 && self.scattered.is_empty() {
            let one = lower.load_one(self.ty, self.base, self.offset);
            return lower.widen(part.width, self.ty, one);
        }
        let loaded: Vec<Value> = (0..part.width.lanes())
            .map(|lane| {
                let (at, offset) = self.lane(lower, vec_loop, lanes, k, lane);
                lower.load_one(self.ty, at, offset)
            })
            .collect();
        let native = part.width.native(self.ty);
        match (part.width, self.ty) {
            (Width::One, _) => loaded[0],
            (Width::Two | Width::Four, DType::Bool) => {
                let words: Vec<Value> =
                    loaded.iter().map(|&byte| lower.builder.ins().uextend(native.lane_type(), byte)).collect();
                let vector = lower.vector(native, &words);
                lower.builder.ins().ineg(vector)
            }
            (Width::Two | Width::Four, _) => lower.vector(native, &loaded),
        }
    }

    /// One part of the lanes of two numbers that lie side by side.
    pub(super) fn load_both(
        &self,
        lower: &mut Lower<'_, '_>,
        vec_loop: &VecLoop<'_>,
        lanes: &Lanes<'_>,
        k: usize,
    ) -> [Value; 2] {
        let (at, offset) = self.lane(lower, vec_loop, lanes, k, 0);
        if lanes.parts[k].width == Width::One {
            return [0, 8].map(|next| lower.load_one(self.ty, at, offset + next));
        }
        let (native, flags) = (Width::Two.native(self.ty), vec_loop.load_flags(lower, lanes));
        let first = lower.builder.ins().load(native, flags, at, offset);
        let (at, offset) = self.lane(lower, vec_loop, lanes, k, 1);
        let second = lower.builder.ins().load(native, flags, at, offset);
        lower.exchanged(first, second)
    }

    /// Elements side by side. Two of 32 bits are moved as one of 64.
    fn load_whole(
        &self,
        lower: &mut Lower<'_, '_>,
        width: Width,
        at: Value,
        offset: i32,
        flags: MemFlagsData,
    ) -> Value {
        let native = width.native(self.ty);
        if self.moves_as_one(width) {
            let both = lower.builder.ins().load(types::F64, flags, at, offset);
            let both = lower.builder.ins().scalar_to_vector(types::F64X2, both);
            return lower.reinterpret(native, both);
        }
        lower.builder.ins().load(native, flags, at, offset)
    }

    fn store_whole(&self, lower: &mut Lower<'_, '_>, width: Width, at: Value, offset: i32, value: Value) {
        let value = if self.moves_as_one(width) {
            let both = lower.reinterpret(types::F64X2, value);
            lower.builder.ins().extractlane(both, 0)
        } else {
            value
        };
        lower.builder.ins().store(FLAGS, value, at, offset);
    }

    fn moves_as_one(&self, width: Width) -> bool {
        width == Width::Two && self.ty.bytes() == 4
    }

    /// One part of the lanes.
    pub(super) fn store(
        &self,
        lower: &mut Lower<'_, '_>,
        vec_loop: &VecLoop<'_>,
        lanes: &Lanes<'_>,
        k: usize,
        value: Value,
    ) {
        let part = lanes.parts[k];
        if let Some((at, offset)) = self.whole(lower, lanes, part) {
            self.store_whole(lower, part.width, at, offset, value);
            return;
        }
        for lane in 0..part.width.lanes() {
            let one = self.lane_of(lower, part.width, value, lane);
            let (at, offset) = self.lane(lower, vec_loop, lanes, k, lane);
            lower.builder.ins().store(FLAGS, one, at, offset);
        }
    }

    /// One lane as it lies in memory.
    pub(super) fn lane_of(&self, lower: &mut Lower<'_, '_>, width: Width, value: Value, lane: u32) -> Value {
        let one = match width {
            Width::One => value,
            Width::Two | Width::Four => lower.builder.ins().extractlane(value, lane as u8),
        };
        match (width, self.ty) {
            (Width::Two | Width::Four, DType::Bool) => {
                let byte = lower.builder.ins().ireduce(types::I8, one);
                lower.builder.ins().band_imm_u(byte, 1)
            }
            (_, _) => one,
        }
    }

    /// One part of a buffer, which holds lanes as they are, masks included.
    pub(super) fn load_lanes(&self, lower: &mut Lower<'_, '_>, lanes: &Lanes<'_>, k: usize) -> Value {
        let part = lanes.parts[k];
        let at = lower.add_scaled(self.base, lanes.index, 8);
        lower.builder.ins().load(part.width.native(self.ty), FLAGS, at, 8 * part.lane.cast_signed())
    }

    /// One part of a buffer.
    pub(super) fn store_lanes(&self, lower: &mut Lower<'_, '_>, lanes: &Lanes<'_>, k: usize, value: Value) {
        let at = lower.add_scaled(self.base, lanes.index, 8);
        lower.builder.ins().store(FLAGS, value, at, 8 * lanes.parts[k].lane.cast_signed());
    }

    /// Where the part is, if one instruction can move it.
    fn whole(&self, lower: &mut Lower<'_, '_>, lanes: &Lanes<'_>, part: Part) -> Option<(Value, i32)> {
        let bytes = self.ty.bytes() as i64;
        // A truth value is a byte in memory, in lanes a mask.
        let whole = self.ty != DType::Bool && self.stride == bytes && self.scattered.is_empty();
        whole.then(|| {
            (lower.add_scaled(self.base, lanes.index, bytes), self.offset + offset32(bytes * i64::from(part.lane)))
        })
    }

    /// Where one lane of a part is.
    pub(super) fn lane(
        &self,
        lower: &mut Lower<'_, '_>,
        vec_loop: &VecLoop<'_>,
        lanes: &Lanes<'_>,
        k: usize,
        lane: u32,
    ) -> (Value, i32) {
        let part = lanes.parts[k];
        let mut at = lower.add_scaled(self.base, lanes.index, self.stride);
        for &(reg, bytes) in &self.scattered {
            let value = vec_loop.value(lower, lanes, reg, k);
            let index = match part.width {
                Width::One => value,
                Width::Two | Width::Four => lower.builder.ins().extractlane(value, lane as u8),
            };
            at = lower.add_scaled(at, index, bytes);
        }
        let along = self.stride * i64::from(part.lane + lane);
        if along.unsigned_abs() < 1 << 30 {
            (at, self.offset + offset32(along))
        } else {
            (lower.builder.ins().iadd_imm_s(at, along), self.offset)
        }
    }
}
