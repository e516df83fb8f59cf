//! What every op means.

pub mod lanes;
