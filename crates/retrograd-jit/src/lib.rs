//! Kernels to machine code, and the runtime.
