//! The default: the fastest plan that fits.

use super::{Replay, Strategy};
use crate::ir::Error;
use crate::plan::share::share;
use crate::plan::{Decision, Facts, Tiling};

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

    fn unnests(&self) -> bool {
        true
    }

    fn undoes(&self) -> bool {
        true
    }

    fn replay(&self) -> Replay {
        Replay::Fit
    }

    fn decide(&self, facts: &Facts, room: Option<u64>) -> Result<Decision, Error> {
        share(facts, room, &|inside, bytes| Ok(inside.fit(bytes)))
    }
}
