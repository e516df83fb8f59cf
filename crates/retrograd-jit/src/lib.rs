//! Kernels to machine code, and the runtime that runs it.
//!
//! A [`Backend`] lowers a `Kernel` of the loop IR: Cranelift, or an LLVM that is there; an [`Executable`] owns the code
//! and the arenas it runs in.

mod arena;
mod backend;
pub mod blocks;
mod cancellation;
mod code;
mod cranelift;
mod executable;
mod llvm;
mod observer;
mod pairs;
mod recorded;
mod runtime;
mod spill;
mod stats;
mod thread_pool;

pub use backend::Backend;
pub use cancellation::{Cancellation, Progress};
pub use executable::{Checked, Executable};
pub use spill::bytes_per_second;
pub use stats::{Counts, Stats, Time};
