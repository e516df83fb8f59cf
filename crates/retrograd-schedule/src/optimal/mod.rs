//! The least work for the memory there is, by recurrence.
//!
//! Pure arithmetic: nothing here knows Programs. [`joint`] is a loop whose reversal follows at once, [`split`] one in
//! the middle of a program, [`tiers`] adds slower memory. Of straight-line code, [`closure`] says what to save,
//! [`rematerialise`] what runs again and when, and [`chain`] does so for code that is a chain of stages. `tests/optimal.rs`
//! holds each against tables of reference numbers and against a search over all programs whatever.

pub mod chain;
pub mod closure;
pub mod flow;
pub mod joint;
pub mod rematerialise;
pub mod split;
pub mod tiers;

pub use joint::{Choice, JointReversal, Move, Place, Steps};
pub use split::SplitReversal;

/// The cost of what is impossible. Four of them still add up without overflow.
pub const NEVER: u64 = u64::MAX / 8;
