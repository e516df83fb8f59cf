//! Offsets in one arena, first-fit: the largest buffer first, each at the lowest offset where nothing that lives at the same
//! time is. What ends as a large output is made in the caller's memory.

use super::tree::{Buffer, BufferId, FrameId, Placed, Storage};

/// Large buffers start on their own cache line.
const LINE: u64 = 64;
/// Small ones are aligned for any element type.
const WORD: u64 = 8;

/// Sets every offset, and the bytes of frames and of the arena.
pub(super) fn lay_out(placed: &mut Placed) {
    for k in 0..placed.frames.len() {
        // Threads write next to each other, so that no two of them should share a line.
        let bytes = aligned(lay(&mut placed.buffers, Some(FrameId(k as u32))), LINE);
        let frame = &mut placed.frames[k];
        frame.bytes = bytes;
        placed.buffers[frame.buffer.0 as usize].bytes = bytes.saturating_mul(frame.chunks);
    }
    placed.bytes = lay(&mut placed.buffers, None);
    hand_out(placed);
}

/// Large outputs are made where the caller wants them, which saves a copy, if that takes no byte more: the caller's
/// memory is there all the time, that of the arena serves others before.
fn hand_out(placed: &mut Placed) {
    let mut buffers = placed.buffers.clone();
    for (k, output) in placed.outputs.iter().enumerate() {
        let bytes = placed.ty(*output).bytes() as u64;
        let Storage::Buffer(BufferId(id)) = placed.home(*output) else { continue };
        let buffer = &mut buffers[id as usize];
        if bytes >= placed.grain.bytes_per_output && buffer.bytes == bytes && buffer.output.is_none() {
            (buffer.output, buffer.start) = (Some(k as u32), 0);
        }
    }
    let handed_out = buffers
        .iter()
        .filter(|buffer| buffer.output.is_some())
        .fold(0u64, |sum, buffer| sum.saturating_add(buffer.bytes));
    if handed_out == 0 {
        return;
    }
    let bytes = lay(&mut buffers, None).saturating_add(handed_out);
    if bytes <= placed.bytes {
        (placed.buffers, placed.bytes, placed.output_bytes) = (buffers, bytes, handed_out);
    }
}

/// Lays out what belongs to a frame, or to none; returns the bytes that it takes.
fn lay(buffers: &mut [Buffer], frame: Option<FrameId>) -> u64 {
    let mut order: Vec<usize> =
        (0..buffers.len()).filter(|k| buffers[*k].frame == frame && buffers[*k].output.is_none()).collect();
    order.sort_by_key(|k| (std::cmp::Reverse(buffers[*k].bytes), buffers[*k].start, *k));
    let mut laid: Vec<Buffer> = vec![];
    for k in order {
        let buffer = buffers[k];
        let mut living: Vec<&Buffer> =
            laid.iter().filter(|other| other.start <= buffer.end && buffer.start <= other.end).collect();
        living.sort_by_key(|other| other.offset);
        let align = if buffer.bytes >= LINE { LINE } else { WORD };
        let offset = living.iter().fold(0u64, |offset, other| {
            let fits = offset.saturating_add(buffer.bytes) <= other.offset;
            if fits { offset } else { offset.max(aligned(other.bytes_until(), align)) }
        });
        buffers[k].offset = offset;
        laid.push(buffers[k]);
    }
    laid.iter().map(Buffer::bytes_until).max().unwrap_or(0)
}

/// What no machine has stays at the largest number, so that it is refused when memory is asked for.
fn aligned(offset: u64, align: u64) -> u64 {
    offset.checked_next_multiple_of(align).unwrap_or(u64::MAX)
}

impl Placed {
    /// Whether an output is made in the caller's memory.
    pub(crate) fn is_handed_out(&self, output: usize) -> bool {
        match self.home(self.outputs[output]) {
            Storage::Buffer(id) => self.buffers[id.0 as usize].output == Some(output as u32),
            Storage::None | Storage::Register | Storage::Input(_) | Storage::Literal(_) | Storage::Pointer(_) => false,
        }
    }

    /// Bytes at the fullest moment of any schedule, which need not be that of the whole Program.
    pub(in crate::plan) fn fullest(&self) -> u64 {
        let of = |buffer: BufferId| &self.buffers[buffer.0 as usize];
        let driven: Vec<&Buffer> = self.trajectories.iter().flat_map(|one| [of(one.words), of(one.pool)]).collect();
        // Of a frame there are several.
        if driven.is_empty() || driven.iter().any(|buffer| buffer.frame.is_some()) {
            return self.bytes;
        }
        let in_arena = || self.buffers.iter().filter(|buffer| buffer.frame.is_none());
        let living = |buffer: &Buffer, moment: u32| buffer.start <= moment && moment <= buffer.end;
        let held = |moment: u32| {
            in_arena()
                .filter(|buffer| living(buffer, moment))
                .fold(0u64, |sum, buffer| sum.saturating_add(buffer.bytes))
        };
        let moments =
            in_arena().map(|buffer| buffer.start).filter(|moment| driven.iter().any(|buffer| living(buffer, *moment)));
        moments.map(held).max().unwrap_or(u64::MAX).min(self.bytes)
    }
}

impl Buffer {
    /// One past its last byte.
    fn bytes_until(&self) -> u64 {
        self.offset.saturating_add(self.bytes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Numbers that look random.
    fn numbers(seed: u64) -> impl FnMut(u64) -> u64 {
        let mut state = seed;
        move |below| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (state >> 33) % below
        }
    }

    fn placed(buffers: Vec<Buffer>) -> Placed {
        let mut placed = Placed { buffers, ..Placed::default() };
        lay_out(&mut placed);
        placed
    }

    #[test]
    fn what_lives_at_the_same_time_does_not_overlap() {
        for seed in 0..200 {
            let mut random = numbers(seed);
            let buffers = (0..1 + random(40)).map(|_| {
                let start = random(50) as u32;
                Buffer {
                    bytes: random(300),
                    start,
                    end: start + random(10) as u32,
                    offset: 0,
                    frame: None,
                    output: None,
                }
            });
            let placed = placed(buffers.collect());
            for (k, a) in placed.buffers.iter().enumerate() {
                assert!(
                    a.offset + a.bytes <= placed.bytes
                        && a.offset.is_multiple_of(if a.bytes >= LINE { LINE } else { WORD })
                );
                for b in &placed.buffers[..k] {
                    let together = a.start <= b.end && b.start <= a.end && a.bytes > 0 && b.bytes > 0;
                    assert!(
                        !together || a.offset + a.bytes <= b.offset || b.offset + b.bytes <= a.offset,
                        "{a:?} {b:?}"
                    );
                }
            }
        }
    }

    #[test]
    fn what_lives_one_after_the_other_shares_memory() {
        let buffer = |start, end| Buffer { bytes: 640, start, end, offset: 0, frame: None, output: None };
        assert_eq!(placed(vec![buffer(0, 1), buffer(2, 3), buffer(4, 9)]).bytes, 640);
        assert_eq!(placed(vec![buffer(0, 2), buffer(2, 3), buffer(4, 9)]).bytes, 1280);
    }
}
