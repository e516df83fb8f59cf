//! Analyses: what is known of a Program before anything is decided.

pub(in crate::plan) mod bytes;
pub(in crate::plan) mod counts;
pub(in crate::plan) mod grain;
pub(in crate::plan) mod layout;
pub(in crate::plan) mod pair;
pub(in crate::plan) mod ranges;
pub(in crate::plan) mod work;
