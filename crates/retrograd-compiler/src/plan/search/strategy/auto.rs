//! The default: the fastest plan that fits.

use super::{Rematerialise, Strategy};
use crate::ir::Error;
use crate::plan::decision::Decision;
use crate::plan::search::facts::Facts;
use crate::plan::search::share::share;
use crate::plan::transform::interchange::Tiling;

/// States and records mixed as the recurrences say, the bytes shared among all loops.
#[derive(Clone, Copy, Debug)]
pub struct Auto;

impl Strategy for Auto {
    fn name(&self) -> &'static str {
        "auto"
    }

    fn tiling(&self) -> Option<Tiling> {
        Some(Tiling::default())
    }

    fn coalesces(&self) -> bool {
        true
    }

    fn undoes(&self) -> bool {
        true
    }

    fn rematerialise(&self) -> Rematerialise {
        Rematerialise::Fit
    }

    fn decide(&self, facts: &Facts, limit: Option<u64>) -> Result<Decision, Error> {
        share(facts, limit, &|inside, bytes| Ok(inside.fit(bytes)))
    }
}
