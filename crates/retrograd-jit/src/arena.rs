//! Memory for runs: allocated once, reused by later runs.

use std::alloc::{Layout, alloc_zeroed, dealloc};
use std::ptr::NonNull;
use std::sync::Mutex;

use memmap2::{MmapMut, MmapOptions};
use retrograd_compiler::ir::{Error, ErrorKind, Pos};

/// Bytes to which an arena is aligned: a cache line.
const ALIGN: usize = 64;

/// From so many bytes on, an arena is mapped in pages of its own: they are zero without being written, and large ones
/// where the system has them, which cost 512 times fewer faults and fewer walks to find them. An arena of 1 GB was
/// there after 0.4 s in small pages.
const MAPPED_BYTES: usize = 4 << 20;

/// One arena: that many bytes, aligned to a cache line, zero at first.
pub(crate) struct Arena {
    memory: Memory,
    bytes: usize,
}

enum Memory {
    Empty,
    Heap(NonNull<u8>, Layout),
    Pages(MmapMut),
}

// SAFETY: an arena owns its memory, as a box does.
unsafe impl Send for Arena {}

impl Arena {
    /// Zeroed memory, so that reading an arena is always defined.
    pub(crate) fn new(bytes: usize) -> Result<Arena, Error> {
        let memory = match bytes {
            0 => Some(Memory::Empty),
            1..MAPPED_BYTES => on_heap(bytes),
            MAPPED_BYTES.. => in_pages(bytes),
        };
        memory.map(|memory| Arena { memory, bytes }).ok_or_else(|| {
            let message = format!(
                "the plan needs {bytes} bytes, and the machine does not give them; a smaller budget may be met"
            );
            Error::new(ErrorKind::OutOfMemory { needed: bytes as u64 }, Pos::unknown(), message)
        })
    }

    pub(crate) fn start(&mut self) -> *mut u8 {
        match &mut self.memory {
            Memory::Empty => NonNull::<Aligned>::dangling().as_ptr().cast(),
            Memory::Heap(start, _) => start.as_ptr(),
            Memory::Pages(pages) => pages.as_mut_ptr(),
        }
    }

    pub(crate) fn bytes(&self) -> usize {
        self.bytes
    }

    pub(crate) fn as_mut_slice(&mut self) -> &mut [u8] {
        // SAFETY: the memory is ours for so many bytes, zeroed when it was made, and borrowed with `self`.
        unsafe { std::slice::from_raw_parts_mut(self.start(), self.bytes) }
    }
}

impl Drop for Arena {
    fn drop(&mut self) {
        match &self.memory {
            // SAFETY: `on_heap` allocated it with the same layout.
            Memory::Heap(start, layout) => unsafe { dealloc(start.as_ptr(), *layout) },
            Memory::Empty | Memory::Pages(_) => {}
        }
    }
}

fn on_heap(bytes: usize) -> Option<Memory> {
    let layout = Layout::from_size_align(bytes, ALIGN).ok()?;
    // SAFETY: the layout has a size, because an arena of zero bytes has no memory.
    let start = NonNull::new(unsafe { alloc_zeroed(layout) })?;
    Some(Memory::Heap(start, layout))
}

fn in_pages(bytes: usize) -> Option<Memory> {
    let pages = MmapOptions::new().len(bytes).map_anon().ok()?;
    // A system without large pages gives small ones: that is all that a failure means.
    #[cfg(target_os = "linux")]
    let _ = pages.advise(memmap2::Advice::HugePage);
    Some(Memory::Pages(pages))
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
