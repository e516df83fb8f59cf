//! Programs that do the same in another order: what a plan is chosen from, the same ones for every budget.

use crate::ir::Program;
use crate::plan::analysis::work::SimdTarget;
use crate::plan::search::Request;
use crate::plan::transform::split_branches::{BranchSplit, branch_split};
use crate::plan::transform::undo::Logged;
use crate::plan::transform::{coalesce, interchange, undo};

/// A Program with the same bits, and what a Plan says of how it was made.
#[derive(Clone, Debug)]
pub(in crate::plan) struct Candidate {
    pub(in crate::plan) program: Program,
    /// The same with the branches of its steps backwards taken apart.
    pub(in crate::plan) branch_split: BranchSplit,
    /// Elements of a tile of each loop that runs tile by tile.
    pub(in crate::plan) tiles: Vec<usize>,
    /// Elements of a tile of each piece of code outside of loops that runs tile by tile.
    pub(in crate::plan) strips: Vec<usize>,
    /// Steps of the outer and of the inner loop, for each loop in a loop that runs as one.
    pub(in crate::plan) coalesced: Vec<[u64; 2]>,
    /// Loops that keep a log of what their steps overwrite.
    pub(in crate::plan) logs: Vec<Logged>,
}

impl Candidate {
    fn of(program: Program, vectors: SimdTarget) -> Candidate {
        Candidate {
            branch_split: branch_split(&program, vectors),
            program,
            tiles: vec![],
            strips: vec![],
            coalesced: vec![],
            logs: vec![],
        }
    }
}

/// All that a strategy may choose from, the same for every budget; of equal work, the first is taken.
pub(in crate::plan) fn candidates(program: &Program, request: &Request) -> Vec<Candidate> {
    let strategy = &request.strategy;
    let of = |program: Program| Candidate::of(program, request.vectors);
    // Large tiles come first.
    let tiling = strategy.tiling();
    let tilings = tiling.as_ref().map_or(vec![], |tiling| interchange::interchange(program, tiling));
    let tiled =
        tilings.into_iter().map(|tiled| Candidate { tiles: tiled.tiles, strips: tiled.strips, ..of(tiled.program) });
    let tiled: Vec<Candidate> = tiled.collect();
    if tiling.is_some_and(|tiling| tiling.always) && !tiled.is_empty() {
        return tiled;
    }
    let one_loop = Some(()).filter(|()| strategy.coalesces()).and_then(|()| coalesce::coalesced(program));
    let one_loop = one_loop.map(|flat| Candidate { coalesced: flat.steps, ..of(flat.program) });
    // Logs of all steps are the least work; those of one step at a time take less memory.
    let logged = [0, 1].into_iter().filter(|_| strategy.undoes()).filter_map(|depth| undo::undone(program, depth));
    let logged = logged.map(|undone| Candidate { logs: undone.logs, ..of(undone.program) });
    tiled.into_iter().chain([of(program.clone())]).chain(one_loop).chain(logged).collect()
}
