//! The pure half of Retrograd: Programs over arrays, their derivatives, and plans that fit a budget.
//!
//! Data goes one way, `ir → ops → eval → opt → diff → plan → fuse`; a module uses only modules to its left.
#![forbid(unsafe_code)]

pub mod diff;
pub mod eval;
pub mod fuse;
pub mod ir;
pub mod ops;
pub mod opt;
pub mod plan;
