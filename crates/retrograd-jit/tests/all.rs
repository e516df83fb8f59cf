//! The integration tests of `retrograd-jit`, in one binary: one link instead of 6. What looks at the whole process (`allocations`) has one of its own.

mod backends;
mod kernels;
mod narrow;
mod random;
mod support;
mod watch;
mod wide;
