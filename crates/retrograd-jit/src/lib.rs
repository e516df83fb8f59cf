//! Kernels to machine code, and the runtime.

pub mod blocks;
