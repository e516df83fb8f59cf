//! Programs that do the same in another order: what a plan is chosen from, the same ones for every budget.

use super::strategy::Strategy;
use super::{Logged, interchange, undo, unnest};
use crate::ir::Program;

/// A Program with the same bits, and what a Plan says of how it was made.
#[derive(Clone, Debug)]
pub(super) struct Candidate {
    pub(super) program: Program,
    /// Elements of a tile of each loop that runs tile by tile.
    pub(super) tiles: Vec<usize>,
    /// Elements of a tile of each piece of code outside of loops that runs tile by tile.
    pub(super) strips: Vec<usize>,
    /// Steps of the outer and of the inner loop, for each loop in a loop that runs as one.
    pub(super) unnested: Vec<[u64; 2]>,
    /// Loops that keep a log of what their steps overwrite.
    pub(super) logs: Vec<Logged>,
}

impl Candidate {
    fn of(program: Program) -> Candidate {
        Candidate { program, tiles: vec![], strips: vec![], unnested: vec![], logs: vec![] }
    }
}

/// All that a strategy may choose from; of equal work, the first is taken. One loop for several does what they do and finds out where in them it
/// is: it is none where nothing limits the memory.
pub(super) fn candidates(program: &Program, strategy: &dyn Strategy, budget: Option<u64>) -> Vec<Candidate> {
    // In tiles a loop is faster and takes less memory, as a rule; large ones come first.
    let tilings = strategy.tiling().map_or(vec![], |tiling| interchange::interchange(program, &tiling));
    let tiled = tilings.into_iter().map(|tiled| Candidate { tiles: tiled.tiles, strips: tiled.strips, ..Candidate::of(tiled.program) });
    let one_loop = budget.filter(|_| strategy.unnests()).and_then(|_| unnest::unnested(program));
    let one_loop = one_loop.map(|flat| Candidate { unnested: flat.steps, ..Candidate::of(flat.program) });
    // Logs of all steps are the least work; those of one step at a time take less memory.
    let logged = [0, 1].into_iter().filter(|_| strategy.undoes()).filter_map(|depth| undo::undone(program, depth));
    let logged = logged.map(|undone| Candidate { logs: undone.logs, ..Candidate::of(undone.program) });
    tiled.chain([Candidate::of(program.clone())]).chain(one_loop).chain(logged).collect()
}
