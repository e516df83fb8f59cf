//! The integration tests of `retrograd-jit`, in one binary, so that they are linked once. What looks at the whole
//! process (`allocations`) has one of its own.

mod backends;
mod cancellation;
mod kernels;
mod narrow;
mod random;
mod support;
mod wide;
