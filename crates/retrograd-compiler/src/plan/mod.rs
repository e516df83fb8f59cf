//! From a gradient Program and a budget to a Plan.

pub mod schedule;
