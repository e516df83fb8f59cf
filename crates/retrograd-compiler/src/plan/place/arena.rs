//! Lays the stores out in one arena: the largest first, each at the lowest offset where nothing that lives at the same
//! time is. What ends as a large output is made in the caller's memory.

use super::tree::{FrameId, Home, Placed, Store, StoreId};

/// Large stores start on their own cache line.
const LINE: u64 = 64;
/// Small ones are aligned for any element type.
const WORD: u64 = 8;

/// Sets every offset, and the bytes of frames and of the arena.
pub(super) fn lay_out(placed: &mut Placed) {
    for k in 0..placed.frames.len() {
        // Threads write next to each other, so that no two of them should share a line.
        let bytes = aligned(lay(&mut placed.stores, Some(FrameId(k as u32))), LINE);
        let frame = &mut placed.frames[k];
        frame.bytes = bytes;
        placed.stores[frame.store.0 as usize].bytes = bytes.saturating_mul(frame.chunks);
    }
    placed.bytes = lay(&mut placed.stores, None);
    hand_out(placed);
}

/// Large outputs are made where the caller wants them, which saves a copy, if that takes no byte more: the caller's
/// memory is there all the time, that of the arena serves others before.
fn hand_out(placed: &mut Placed) {
    let mut stores = placed.stores.clone();
    for (k, output) in placed.outputs.iter().enumerate() {
        let bytes = placed.ty(*output).bytes() as u64;
        let Home::Store(StoreId(id)) = placed.home(*output) else { continue };
        let store = &mut stores[id as usize];
        if bytes >= placed.grain.bytes_per_output && store.bytes == bytes && store.output.is_none() {
            (store.output, store.start) = (Some(k as u32), 0);
        }
    }
    let handed_out =
        stores.iter().filter(|store| store.output.is_some()).fold(0u64, |sum, store| sum.saturating_add(store.bytes));
    if handed_out == 0 {
        return;
    }
    let bytes = lay(&mut stores, None).saturating_add(handed_out);
    if bytes <= placed.bytes {
        (placed.stores, placed.bytes, placed.output_bytes) = (stores, bytes, handed_out);
    }
}

/// Lays out what belongs to a frame, or to none; returns the bytes that it takes.
fn lay(stores: &mut [Store], frame: Option<FrameId>) -> u64 {
    let mut order: Vec<usize> =
        (0..stores.len()).filter(|k| stores[*k].frame == frame && stores[*k].output.is_none()).collect();
    order.sort_by_key(|k| (std::cmp::Reverse(stores[*k].bytes), stores[*k].start, *k));
    let mut laid: Vec<Store> = vec![];
    for k in order {
        let store = stores[k];
        let mut living: Vec<&Store> =
            laid.iter().filter(|other| other.start <= store.end && store.start <= other.end).collect();
        living.sort_by_key(|other| other.offset);
        let align = if store.bytes >= LINE { LINE } else { WORD };
        let offset = living.iter().fold(0u64, |offset, other| {
            let fits = offset.saturating_add(store.bytes) <= other.offset;
            if fits { offset } else { offset.max(aligned(other.bytes_until(), align)) }
        });
        stores[k].offset = offset;
        laid.push(stores[k]);
    }
    laid.iter().map(Store::bytes_until).max().unwrap_or(0)
}

/// What no machine has stays at the largest number, so that it is refused when memory is asked for.
fn aligned(offset: u64, align: u64) -> u64 {
    offset.checked_next_multiple_of(align).unwrap_or(u64::MAX)
}

impl Placed {
    /// Whether an output is made in the caller's memory.
    pub(crate) fn is_handed_out(&self, output: usize) -> bool {
        match self.home(self.outputs[output]) {
            Home::Store(id) => self.stores[id.0 as usize].output == Some(output as u32),
            Home::None | Home::Register | Home::Input(_) | Home::Literal(_) | Home::Pointer(_) => false,
        }
    }

    /// Bytes at the fullest moment of any schedule, which need not be that of the whole Program.
    pub(in crate::plan) fn fullest(&self) -> u64 {
        let of = |store: StoreId| &self.stores[store.0 as usize];
        let driven: Vec<&Store> = self.trajectories.iter().flat_map(|one| [of(one.words), of(one.pool)]).collect();
        // Of a frame there are several.
        if driven.is_empty() || driven.iter().any(|store| store.frame.is_some()) {
            return self.bytes;
        }
        let in_arena = || self.stores.iter().filter(|store| store.frame.is_none());
        let living = |store: &Store, moment: u32| store.start <= moment && moment <= store.end;
        let held = |moment: u32| {
            in_arena().filter(|store| living(store, moment)).fold(0u64, |sum, store| sum.saturating_add(store.bytes))
        };
        let moments =
            in_arena().map(|store| store.start).filter(|moment| driven.iter().any(|store| living(store, *moment)));
        moments.map(held).max().unwrap_or(u64::MAX).min(self.bytes)
    }
}

impl Store {
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

    fn placed(stores: Vec<Store>) -> Placed {
        let mut placed = Placed { stores, ..Placed::default() };
        lay_out(&mut placed);
        placed
    }

    #[test]
    fn what_lives_at_the_same_time_does_not_overlap() {
        for seed in 0..200 {
            let mut random = numbers(seed);
            let stores = (0..1 + random(40)).map(|_| {
                let start = random(50) as u32;
                Store {
                    bytes: random(300),
                    start,
                    end: start + random(10) as u32,
                    offset: 0,
                    frame: None,
                    output: None,
                }
            });
            let placed = placed(stores.collect());
            for (k, a) in placed.stores.iter().enumerate() {
                assert!(
                    a.offset + a.bytes <= placed.bytes
                        && a.offset.is_multiple_of(if a.bytes >= LINE { LINE } else { WORD })
                );
                for b in &placed.stores[..k] {
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
        let store = |start, end| Store { bytes: 640, start, end, offset: 0, frame: None, output: None };
        assert_eq!(placed(vec![store(0, 1), store(2, 3), store(4, 9)]).bytes, 640);
        assert_eq!(placed(vec![store(0, 2), store(2, 3), store(4, 9)]).bytes, 1280);
    }
}
