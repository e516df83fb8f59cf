//! The integration tests of `retrograd-schedule`, in one binary, so that they are linked once.

mod optimal;
mod rematerialise;
mod schedules;
mod tiers;
