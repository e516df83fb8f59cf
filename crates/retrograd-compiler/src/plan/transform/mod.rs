//! Transformations: from a Program to one that computes the same, bit for bit, in another order or other functions.

pub(in crate::plan) mod coalesce;
pub(in crate::plan) mod interchange;
pub(in crate::plan) mod split;
pub(in crate::plan) mod split_branches;
pub(in crate::plan) mod undo;
