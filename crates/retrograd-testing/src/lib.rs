//! How Retrograd tests itself, public so that authors of custom ops and stages test theirs the same way.
//!
//! [`golden`] runs files of Programs against expectations in the same files; [`check_row`] and [`check_program`] hold
//! derivatives against finite differences and against each other; [`native`] holds machine code against the
//! interpreter; [`laws`] are what every Program obeys, and [`programs`] makes random ones to try them on; [`traffic`]
//! counts the bytes that loops move; [`Random`] is the generator behind all that is random.
#![forbid(unsafe_code)]

pub mod golden;
pub mod laws;
pub mod native;
pub mod programs;
pub mod promises;
mod rows;
mod stages;
pub mod traffic;

pub use retrograd_compiler::diff::check::{Random, check_at_special_point, check_program, check_to_order};
pub use rows::{check_row, check_row_at_special_points, check_row_native};
