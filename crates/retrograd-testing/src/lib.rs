//! How Retrograd tests itself, public so that authors of custom ops and stages test theirs the same way.
//!
//! [`golden`] runs files of Programs against expectations in the same files; [`Random`] is the generator behind random inputs.
#![forbid(unsafe_code)]

pub mod golden;
mod random;
mod stages;

pub use random::Random;
