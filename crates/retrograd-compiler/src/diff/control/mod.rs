//! Derivatives of control flow: one file per construct, both modes in it.

pub(super) mod branch;
pub(super) mod conditional;
pub(super) mod counted;
pub(super) mod custom;
mod expanded;
pub(super) mod passed;
pub(super) mod unwind;

pub(super) use expanded::known_count;

use super::mask::{pick, spread};
use crate::ir::{Builder, Value};

/// The marked items, with zeros like the value at the same place where one is absent.
fn pick_or_zeros(b: &Builder, items: &[Option<Value>], marks: &[bool], like: &[Value]) -> Vec<Value> {
    let places = (0..items.len()).filter(|k| marks[*k]);
    places.map(|k| items[k].unwrap_or_else(|| b.zeros(&b.ty(like[k])))).collect()
}

/// New parameters with the types of the marked values, at their places.
fn params_like(b: &Builder, like: &[Value], marks: &[bool]) -> Vec<Option<Value>> {
    let params = b.params(b.types(&pick(like, marks)));
    spread(&params, marks)
}
