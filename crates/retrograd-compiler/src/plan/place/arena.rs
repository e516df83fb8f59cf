//! Lays the stores out in one arena: the largest first, each at the lowest offset where nothing that lives at the same time is.

use super::tree::{Placed, Store};

/// Large stores start on their own cache line.
const LINE: u64 = 64;
/// Small ones are aligned for any element type.
const WORD: u64 = 8;

/// Sets every offset, and the bytes of the arena.
pub(super) fn lay_out(placed: &mut Placed) {
    let mut order: Vec<usize> = (0..placed.stores.len()).collect();
    order.sort_by_key(|k| (std::cmp::Reverse(placed.stores[*k].bytes), placed.stores[*k].start, *k));
    let mut laid: Vec<Store> = vec![];
    for k in order {
        let store = placed.stores[k];
        let mut living: Vec<&Store> = laid.iter().filter(|other| other.start <= store.end && store.start <= other.end).collect();
        living.sort_by_key(|other| other.offset);
        let align = if store.bytes >= LINE { LINE } else { WORD };
        let offset = living.iter().fold(0u64, |offset, other| {
            let fits = offset + store.bytes <= other.offset;
            if fits { offset } else { offset.max((other.offset + other.bytes).next_multiple_of(align)) }
        });
        placed.stores[k].offset = offset;
        laid.push(placed.stores[k]);
    }
    placed.bytes = placed.stores.iter().map(|store| store.offset + store.bytes).max().unwrap_or(0);
}
