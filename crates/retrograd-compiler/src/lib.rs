//! The pure half of Retrograd: Programs over arrays, their derivatives, and plans that fit a budget.
//!
//! Data goes one way, `ir → ops → eval → opt → diff → plan → lower`; a module uses only modules to its left.
#![forbid(unsafe_code)]

pub mod diff;
pub mod eval;
pub mod ir;
pub mod lower;
pub mod ops;
pub mod opt;
pub mod plan;
