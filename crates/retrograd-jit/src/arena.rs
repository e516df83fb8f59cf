//! Memory for runs: allocated once, reused by later runs.

use std::alloc::{Layout, alloc_zeroed, dealloc};
use std::ptr::NonNull;
use std::sync::Mutex;

use retrograd_compiler::ir::{Error, ErrorKind, Pos};

/// Bytes to which an arena is aligned: a cache line.
const ALIGN: usize = 64;

/// One arena.
pub(crate) struct Arena {
    start: NonNull<u8>,
    bytes: usize,
}

// SAFETY: an arena owns its memory, as a box does.
unsafe impl Send for Arena {}

impl Arena {
    /// Zeroed memory, so that reading an arena is always defined.
    pub(crate) fn new(bytes: usize) -> Result<Arena, Error> {
        if bytes == 0 {
            return Ok(Arena { start: NonNull::<Aligned>::dangling().cast(), bytes });
        }
        let refused = || {
            let message = format!("the plan needs {bytes} bytes, and the machine does not give them; a smaller budget may be met");
            Error::new(ErrorKind::OutOfMemory { needed: bytes as u64 }, Pos::unknown(), message)
        };
        let layout = layout(bytes).ok_or_else(refused)?;
        // SAFETY: the layout has a size, because zero bytes are handled above.
        let start = unsafe { alloc_zeroed(layout) };
        Ok(Arena { start: NonNull::new(start).ok_or_else(refused)?, bytes })
    }

    pub(crate) fn start(&mut self) -> *mut u8 {
        self.start.as_ptr()
    }

    pub(crate) fn bytes(&self) -> usize {
        self.bytes
    }

    pub(crate) fn as_mut_slice(&mut self) -> &mut [u8] {
        // SAFETY: the memory is ours for so many bytes, initialised by `alloc_zeroed`, and borrowed with `self`.
        unsafe { std::slice::from_raw_parts_mut(self.start.as_ptr(), self.bytes) }
    }
}

impl Drop for Arena {
    fn drop(&mut self) {
        if self.bytes > 0 {
            let layout = layout(self.bytes).expect("it was allocated");
            // SAFETY: `new` allocated it with the same layout.
            unsafe { dealloc(self.start.as_ptr(), layout) }
        }
    }
}

/// `None` beyond the address space.
fn layout(bytes: usize) -> Option<Layout> {
    Layout::from_size_align(bytes, ALIGN).ok()
}

/// Something with the alignment of arenas.
#[repr(align(64))]
struct Aligned;

/// Arenas that no run uses now.
#[derive(Default)]
pub(crate) struct Pool {
    free: Mutex<Vec<Arena>>,
}

impl Pool {
    /// A free arena, or a new one.
    pub(crate) fn take(&self, bytes: usize) -> Result<Arena, Error> {
        let free = self.free.lock().unwrap_or_else(std::sync::PoisonError::into_inner).pop();
        free.map_or_else(|| Arena::new(bytes), Ok)
    }

    pub(crate) fn give_back(&self, arena: Arena) {
        self.free.lock().unwrap_or_else(std::sync::PoisonError::into_inner).push(arena);
    }
}
