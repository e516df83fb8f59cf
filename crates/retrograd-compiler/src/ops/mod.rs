//! What every op means.

pub mod lanes;

/// Steps of a sum that share partial sums; see `sum`.
pub const SUM_CHUNK: usize = 4096;

/// Partial sums of a chunk; see `sum`.
pub const SUM_LANES: usize = 8;
