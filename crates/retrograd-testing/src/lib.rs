//! Automatic tests, public so that authors of custom ops use them too.

mod derivatives;
mod random;
mod rows;

pub use derivatives::{check_program, check_to_order};
pub use random::Random;
pub use rows::check_row;
