//! Kernels to machine code, and the runtime that runs it.
//!
//! [`compile`] lowers a `Kernel` of the loop IR with Cranelift; an [`Executable`] owns the code and the arenas it runs in.

mod arena;
pub mod blocks;
mod code;
mod executable;
mod lower;
mod observer;
mod runtime;
mod watch;

pub use code::{Code, compile};
pub use executable::{Checked, Executable, Stats};
pub use watch::Watch;
