//! The integration tests of `retrograd-compiler`, in one binary, so that they are linked once.

mod arithmetic;
mod opt;
mod optimal;
mod rematerialise;
mod schedules;
mod second_order;
mod text;
mod tiers;
