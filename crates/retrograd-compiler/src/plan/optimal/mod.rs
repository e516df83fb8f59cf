//! The least work for the memory there is, by recurrence.
//!
//! Pure arithmetic: nothing here knows Programs. [`alone`] is a loop whose reversal follows at once, [`paired`] one in the middle of a
//! program, [`tiers`] adds slower memory, [`closure`] says what to save of straight-line code. `tests/optimal.rs` holds each against tables of reference numbers and against a search over all
//! programs whatever.

pub mod alone;
pub mod closure;
pub mod flow;
pub mod paired;
pub mod tiers;

pub use alone::{Alone, Choice, Move, Place, Steps};
pub use paired::Paired;

/// The cost of what is impossible. Four of them still add up without overflow.
pub const NEVER: u64 = u64::MAX / 8;
