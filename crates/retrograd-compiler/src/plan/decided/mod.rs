//! A Program and what was decided about it: all that a plan comes to, as data that can be stored and applied again
//! without a search.
//!
//! Whoever wrote it down, it is applied only if it is sound: the Program is verified, and the decision is held against
//! its loops (`check`). So a stored plan gives an error, or the run of a valid Program. The Program is the one that was
//! placed: interchange, tiles, loops in loops as one and logs are rewrites of the Program, so that they need no form of
//! their own.

mod check;
mod recipe;
mod saved;

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::ir::{Error, ErrorKind, FuncId, Pos, Program, verify};
use crate::plan::analysis::grain::{Grain, MOST_THREADS};
use crate::plan::analysis::work::SimdTarget;
use crate::plan::decision::{Decision, LoopDecision, Rematerialised};
use crate::plan::memory::{Placed, place};
use crate::plan::search::{Plan, check_supported};
use crate::plan::transform::split_branches::branch_split;
pub(super) use check::check;
use saved::SavedProgram;

/// A Program and what was decided about it.
///
/// ```
/// use retrograd_compiler::{lower, plan, plan::strategy};
/// let text = "fn main(%x: f64[8]) -> f64[8] {\n  %0: f64[8] = sin %x\n  return %0\n}\n";
/// let program = retrograd_compiler::ops::parse(text, "sin.rg")?;
/// let plan = plan::plan(&program, &plan::Request::by(strategy::find("auto").unwrap()))?;
/// let again = lower::lower_decided(&plan.decided())?;
/// assert_eq!(format!("{again:?}"), format!("{:?}", lower::lower(&plan)));
/// # Ok::<(), retrograd_compiler::ir::Error>(())
/// ```
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(into = "SavedDecided", try_from = "SavedDecided")]
pub struct Decided {
    /// The Program that is placed.
    program: Program,
    /// How its loops are reversed, by bwd function.
    loops: BTreeMap<FuncId, LoopDecision>,
    /// Instructions of the main function that run again, before which other.
    again: BTreeMap<usize, Vec<usize>>,
    grain: Grain,
    /// What work was priced for: it says how branches are taken apart.
    vectors: SimdTarget,
}

/// The same as it is stored.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct SavedDecided {
    program: SavedProgram,
    loops: BTreeMap<FuncId, LoopDecision>,
    again: BTreeMap<usize, Vec<usize>>,
    grain: Grain,
    vectors: SimdTarget,
}

impl From<Decided> for SavedDecided {
    fn from(Decided { program, loops, again, grain, vectors }: Decided) -> SavedDecided {
        SavedDecided { program: SavedProgram::from(&program), loops, again, grain, vectors }
    }
}

impl TryFrom<SavedDecided> for Decided {
    type Error = String;

    fn try_from(SavedDecided { program, loops, again, grain, vectors }: SavedDecided) -> Result<Decided, String> {
        Ok(Decided { program: program.try_into()?, loops, again, grain, vectors })
    }
}

impl Plan {
    /// What a plan comes to, without the reasons.
    pub fn decided(&self) -> Decided {
        let Decision { loops, again, .. } = &self.decision;
        Decided {
            program: Program::clone(&self.program),
            loops: loops.clone(),
            again: again.before.clone(),
            grain: self.placed.grain,
            vectors: self.facts.vectors,
        }
    }
}

impl Decided {
    /// The Program that is placed; not verified if somebody else stored it.
    pub fn program(&self) -> &Program {
        &self.program
    }

    /// Verifies the Program and the decision, and places the one by the other.
    pub(crate) fn place(&self) -> Result<Placed, Error> {
        let Decided { program, loops, again, grain, vectors } = self;
        verify(program)?;
        check_supported(program, program.entry)?;
        check_grain(grain)?;
        let branch_split = branch_split(program, *vectors);
        let again = Rematerialised { before: again.clone(), ..Rematerialised::default() };
        let decision = Decision { loops: loops.clone(), again, ..Decision::default() };
        check(&branch_split, &decision)?;
        Ok(place(&branch_split, &decision, *grain))
    }
}

fn check_grain(grain: &Grain) -> Result<(), Error> {
    let is_sound =
        grain.statements_per_part >= 1 && grain.vector_steps >= 1 && (1..=MOST_THREADS).contains(&grain.threads);
    if is_sound { Ok(()) } else { Err(unsound(format!("{grain:?} is no grain of code"))) }
}

/// A decision that does not fit its Program.
fn unsound(message: String) -> Error {
    Error::new(ErrorKind::Verify, Pos::unknown(), format!("the decision does not fit its Program: {message}"))
}
