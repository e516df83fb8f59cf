//! The integration tests of `retrograd-compiler`, in one binary: one link instead of 7.

mod arithmetic;
mod opt;
mod optimal;
mod replay;
mod schedules;
mod second_order;
mod text;
mod tiers;
