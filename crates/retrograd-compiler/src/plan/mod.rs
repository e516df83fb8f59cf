//! From a gradient Program and a budget to a Plan: what is kept, what is run again, and where every byte is.
//!
//! A [`Strategy`] sees facts about the loops and the bytes to spare, and returns a [`Decision`]; [`place::place`] applies it. The peak of a
//! plan is the size of the arena that the decision leads to, exactly: there is no other memory.

mod bound;
mod branches;
mod counts;
mod cut;
mod explain;
mod facts;
mod fit;
mod interchange;
pub mod optimal;
mod pair;
pub mod place;
mod ranges;
pub mod schedule;
mod share;
mod spill;
mod split;
mod straight;
pub mod strategy;
mod undo;
mod unnest;
mod work;

use std::cell::{Cell, RefCell};
use std::collections::{BTreeMap, BTreeSet};
use std::ops::Add;
use std::sync::Arc;

pub use cut::{Cut, Fate, Search};
pub use explain::{Curve, CurvePoint, LoopReport, ResidualReport, Usage, bytes_in_words};
pub use facts::{ChoiceFacts, Facts, LoopFacts, Region, Residual};
pub use interchange::Tiling;
pub use straight::Again;
pub use strategy::Strategy;
pub use undo::Logged;
pub use work::Vectors;

use crate::ir::{Error, ErrorKind, FuncId, Lowering, Op, Pos, Program};
use crate::opt;
use interchange::Interchanged;
use place::{Grain, Placed, place};
use schedule::{Schedule, Sweep};
use straight::Straight;
use strategy::Replay;

/// What is asked for: a strategy and a number of bytes.
#[derive(Clone, Debug)]
pub struct Request {
    /// Who decides.
    pub strategy: Arc<dyn Strategy>,
    /// Bytes of the arena; `None` is no limit.
    pub budget: Option<u64>,
    /// A slower tier for states of loops that are not inside others; `None` is none.
    pub spill: Option<Spill>,
    /// Threads that may share the steps of a map, each with memory of its own: as many as the budget has room for.
    pub threads: usize,
    /// What the back end will make of it: it decides what is dear.
    pub vectors: Vectors,
}

impl Request {
    /// By a strategy, without limits, for one thread and the vectors that every machine has.
    pub fn by(strategy: Arc<dyn Strategy>) -> Request {
        Request { strategy, budget: None, spill: None, threads: 1, vectors: Vectors::Narrow }
    }
}

/// Memory that is slow to write and to read: a disk.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Spill {
    /// Bytes that may be used.
    pub bytes: u64,
    /// How fast they are written, and read.
    pub bytes_per_second: u64,
}

/// The schedule of every unwind, by its bwd, and what runs again of the code outside of loops.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Decision {
    /// By bwd function.
    pub loops: BTreeMap<FuncId, LoopDecision>,
    /// Instructions of the main function that run again.
    pub again: Again,
    /// Bytes of pools and controllers that live at the same time, as far as a strategy can tell; `place` knows exactly.
    pub bytes: u64,
    /// Predicted work of a run, in picoseconds of one thread.
    pub work: u128,
    /// Splits of loops that were tried to find it.
    pub tried: u64,
}

/// What it took to find a plan, in things that are counted: the same on every machine.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Effort {
    /// Splits of loops that were tried in tables.
    pub splits: u64,
    /// Instructions that were placed, each time that they were.
    pub placed: u64,
}

impl Add for Effort {
    type Output = Effort;

    fn add(self, other: Effort) -> Effort {
        Effort { splits: self.splits.saturating_add(other.splits), placed: self.placed.saturating_add(other.placed) }
    }
}

/// How one loop is reversed: in one way, or in two where it depends on the loop outside whether a first sweep is at hand.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LoopDecision {
    /// The usual one first; at most one for each kind of sweep.
    pub ways: Vec<Way>,
}

impl LoopDecision {
    /// The way with this kind of sweep.
    pub fn way(&self, sweep: Sweep) -> Option<&Way> {
        self.ways.iter().find(|way| way.sweep == sweep)
    }

    /// The usual way.
    pub fn usual(&self) -> &Way {
        &self.ways[0]
    }
}

/// One way to reverse a loop.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Way {
    /// Which states are held and which steps recorded when.
    pub schedule: Schedule,
    /// Whether the program's own loop is the first sweep.
    pub sweep: Sweep,
    /// What the records of each choice keep.
    pub cuts: Vec<Cut>,
}

/// A decision, applied; it prints.
#[derive(Clone, Debug)]
pub struct Plan {
    /// Name of the strategy.
    pub strategy: &'static str,
    /// The budget that was asked for.
    pub budget: Option<u64>,
    /// What was offered instead where there was none, and everything kept would have taken more.
    pub offered: Option<u64>,
    /// Bytes of the arena: the peak of a run, to the byte.
    pub bytes_peak: u64,
    /// Bytes on the disk at their most, to the byte.
    pub bytes_spilled: u64,
    /// The schedules.
    pub decision: Decision,
    /// Elements of a tile of each loop that runs tile by tile.
    pub tiles: Vec<usize>,
    /// Elements of a tile of each piece of code outside of loops that runs tile by tile.
    pub strips: Vec<usize>,
    /// Steps of the outer and of the inner loop, for each loop in a loop that runs as one.
    pub unnested: Vec<[u64; 2]>,
    /// Loops that keep a log of what their steps overwrite.
    pub logs: Vec<Logged>,
    /// What it took to find it, and those that it was chosen from.
    pub effort: Effort,
    /// What was known when they were chosen.
    pub facts: Facts,
    /// The Program in the order and memory in which it runs.
    pub placed: Placed,
}

/// Plans a Program: the strategy's decision for the most spare bytes that still fit the budget.
pub fn plan(program: &Program, request: &Request) -> Result<Plan, Error> {
    let program = &apart(opt::all_calls(program).into_owned());
    check_supported(program, program.entry)?;
    let shared = plan_in_tiles(program, request);
    let is_shared = shared.as_ref().is_ok_and(|plan| !plan.placed.frames.is_empty());
    if request.threads < 2 || request.budget.is_none() || (shared.is_ok() && !is_shared) {
        return shared;
    }
    let alone = plan_in_tiles(program, &Request { threads: 1, ..request.clone() });
    // Memory for several threads is worth nothing that would be run again for it.
    let better = |shared: &Plan, alone: &Plan| shared.decision.work <= alone.decision.work;
    match (shared, alone) {
        (Ok(shared), Ok(alone)) => {
            let effort = shared.effort + alone.effort;
            Ok(Plan { effort, ..if better(&shared, &alone) { shared } else { alone } })
        }
        (Err(shared), Err(alone)) => Err(if needed(&shared) < needed(&alone) { shared } else { alone }),
        (Ok(plan), Err(_)) | (Err(_), Ok(plan)) => Ok(plan),
    }
}

/// Every unwind has a bwd of its own: a decision is about one loop, and loops that share their code need not share their memory alike.
fn apart(mut program: Program) -> Program {
    let (mut known, mut next) = (BTreeSet::new(), 0);
    // Functions that are added are looked at, too: what is inside of them is shared as well.
    while next < program.functions.len() {
        for inst in 0..program.functions[next].insts.len() {
            let Op::Unwind(op) = &program.functions[next].insts[inst].op else { continue };
            if known.insert(op.bwd) {
                continue;
            }
            let (own, mut copy) = (FuncId(program.functions.len() as u32), program.function(op.bwd).clone());
            copy.name = format!("{}_{}", copy.name, own.0);
            program.functions.push(copy);
            let Op::Unwind(op) = &mut program.functions[next].insts[inst].op else { unreachable!("it was an unwind") };
            op.bwd = own;
            known.insert(own);
        }
        next += 1;
    }
    program
}

fn plan_in_tiles(program: &Program, request: &Request) -> Result<Plan, Error> {
    let tilings = request.strategy.tiling().map_or(vec![], |tiling| interchange::interchange(program, &tiling));
    let Some(smallest) = tilings.last() else { return plan_undone(program, request) };
    let named = |tiled: &Interchanged, plan: Plan| Plan { tiles: tiled.tiles.clone(), strips: tiled.strips.clone(), ..plan };
    // Where no step need run twice, the tiles of the least work are taken, of equals the largest: they come first.
    let free =
        |tiled: &Interchanged| plan_as_is(&tiled.program, &Request { budget: None, ..request.clone() }).map(|plan| named(tiled, plan));
    let fits =
        |plan: &Plan| request.budget.is_none_or(|budget| plan.bytes_peak <= budget && !plan.facts.loops.iter().any(LoopFacts::is_open));
    let all: Vec<Plan> = tilings.iter().filter_map(|tiled| free(tiled).ok()).collect();
    let effort = all.iter().map(|plan| plan.effort).fold(Effort::default(), Effort::add);
    if let Some(best) = all.into_iter().filter(fits).min_by_key(|plan| plan.decision.work) {
        return Ok(Plan { budget: request.budget, effort, ..best });
    }
    // In tiles a loop is faster and takes less memory, as a rule; where it does not fit, the loop may.
    let plan = match plan_as_is(&smallest.program, request) {
        Ok(plan) => Ok(named(smallest, plan)),
        Err(in_tiles) => plan_undone(program, request).map_err(|error| if needed(&in_tiles) < needed(&error) { in_tiles } else { error }),
    };
    plan.map(|plan| Plan { effort: plan.effort + effort, ..plan })
}

/// Plans a Program without a budget, unless that takes more than is offered: then within what is offered, and the Plan says so.
///
/// ```
/// use retrograd_compiler::plan::{Request, plan_within, strategy};
/// let program = retrograd_compiler::ops::parse("fn main(%x: f64[8]) -> f64[8] {\n  %0: f64[8] = sin %x\n  return %0\n}\n", "sin.rg")?;
/// let request = Request::by(strategy::find("auto").unwrap());
/// assert_eq!(plan_within(&program, &request, 1 << 30)?.offered, None);
/// # Ok::<(), retrograd_compiler::ir::Error>(())
/// ```
pub fn plan_within(program: &Program, request: &Request, offer: u64) -> Result<Plan, Error> {
    let free = plan(program, request)?;
    if request.budget.is_some() || free.bytes_peak <= offer {
        return Ok(free);
    }
    let plan = plan(program, &Request { budget: Some(offer), ..request.clone() }).map_err(|error| beyond(error, offer))?;
    Ok(Plan { budget: None, offered: Some(offer), ..plan })
}

/// What nobody gave as a budget is not called one.
fn beyond(error: Error, offer: u64) -> Error {
    let ErrorKind::OverBudget { needed, .. } = error.kind else { return error };
    let message = format!("the plan needs {}; the machine can spare {}", explain::exactly(needed), explain::exactly(offer));
    Error::new(ErrorKind::OutOfMemory { needed }, Pos::unknown(), message)
}

/// The smallest budget that an error asks for.
fn needed(error: &Error) -> u64 {
    if let ErrorKind::OverBudget { needed, .. } = error.kind { needed } else { u64::MAX }
}

/// Loops with their states, or with logs of what they overwrite where that is less work.
fn plan_undone(program: &Program, request: &Request) -> Result<Plan, Error> {
    let plan = plan_unnested(program, request);
    if !request.strategy.undoes() {
        return plan;
    }
    let with_logs = |depth: usize| {
        let undone = undo::undone(program, depth)?;
        Some(plan_as_is(&undone.program, request).map(|plan| Plan { logs: undone.logs, ..plan }))
    };
    let fits = |plan: &Option<Result<Plan, Error>>| plan.as_ref().is_some_and(Result::is_ok);
    // Logs of all steps are the least work; those of one step at a time take less memory.
    let all = with_logs(0);
    let some = if fits(&all) { None } else { with_logs(1) };
    [all, some].into_iter().flatten().fold(plan, less)
}

/// The plan of less work; where there is none, the error that asks for less.
fn less(plan: Result<Plan, Error>, other: Result<Plan, Error>) -> Result<Plan, Error> {
    match (plan, other) {
        (Ok(plan), Ok(other)) => {
            let effort = plan.effort + other.effort;
            Ok(Plan { effort, ..if other.decision.work < plan.decision.work { other } else { plan } })
        }
        (Err(error), Err(other)) => Err(if needed(&other) < needed(&error) { other } else { error }),
        (Ok(plan), Err(_)) | (Err(_), Ok(plan)) => Ok(plan),
    }
}

/// Loops in loops as they are, or as one loop each where that is less work.
fn plan_unnested(program: &Program, request: &Request) -> Result<Plan, Error> {
    let plan = plan_as_is(program, request);
    if request.budget.is_none() || !request.strategy.unnests() {
        return plan;
    }
    let Some(flat) = unnest::unnested(program) else { return plan };
    if let Ok(plan) = &plan
        && request.strategy.decide(&plan.facts, None)?.work >= plan.decision.work
    {
        return Ok(plan.clone());
    }
    less(plan, plan_as_is(&flat.program, request).map(|plan| Plan { unnested: flat.steps, ..plan }))
}

fn plan_as_is(program: &Program, request: &Request) -> Result<Plan, Error> {
    let plan = plan_with(program, request)?;
    // A loop that stands twice in the Program has two places on the disk, and a strategy knows of one.
    match request.spill {
        Some(spill) if plan.bytes_spilled > spill.bytes => plan_with(program, &Request { spill: None, ..request.clone() }),
        Some(_) | None => Ok(plan),
    }
}

fn plan_with(program: &Program, request: &Request) -> Result<Plan, Error> {
    let (strategy, budget) = (&request.strategy, request.budget);
    let fate = |origin: &str| strategy.fate(origin);
    let parted = branches::parted(program, request.vectors);
    let mut facts = Facts { spill: request.spill, ..facts::facts(&parted, request, &fate) };
    // What is in memory of the code outside of loops shows where everything is kept.
    let kept = strategy::Auto.decide(&facts, None)?;
    let grain = Grain { threads: request.threads, ..strategy.grain() };
    let reference = place(&parted, &kept, grain);
    let straight = Straight::new(program, request.vectors, &reference, &fate);
    facts.residuals = straight.residuals();
    let ways = match strategy.replay() {
        Replay::Never => vec![Again::default()],
        Replay::Most => straight.ways(strategy.search(), WAYS).pop().into_iter().collect(),
        Replay::Fit if budget.is_none_or(|budget| reference.bytes <= budget) => vec![straight.least(strategy.search())],
        Replay::Fit => straight.ways(strategy.search(), if facts.loops.is_empty() { WAYS } else { WAYS_WITH_LOOPS }),
    };
    let insts = program.functions.iter().map(|function| function.insts.len() as u64).sum::<u64>();
    let placed_insts = Cell::new(insts);
    let Found { decision, placed, splits } = fastest(request, &facts, ways, |decision| {
        let known = (&decision.loops, &decision.again) == (&kept.loops, &kept.again);
        placed_insts.set(placed_insts.get() + insts);
        if known { reference.clone() } else { place(&parted, decision, grain) }
    })?;
    let effort = Effort { splits: splits.saturating_add(kept.tried), placed: placed_insts.get() };
    let (bytes_peak, bytes_spilled, strategy) = (placed.bytes, placed.spill_bytes, strategy.name());
    Ok(Plan {
        strategy,
        budget,
        offered: None,
        bytes_peak,
        bytes_spilled,
        decision,
        tiles: vec![],
        strips: vec![],
        unnested: vec![],
        logs: vec![],
        effort,
        facts,
        placed,
    })
}

/// A decision, placed, and the splits of loops that were tried to find it.
struct Found {
    decision: Decision,
    placed: Placed,
    splits: u64,
}

/// The decision of the least work among ways to run the code outside of loops, which come by ascending work.
fn fastest(request: &Request, facts: &Facts, ways: Vec<Again>, place: impl Fn(&Decision) -> Placed) -> Result<Found, Error> {
    let strategy = &request.strategy;
    let known: RefCell<BTreeMap<Option<u64>, Decision>> = RefCell::default();
    let decide = |room: Option<u64>| {
        if let Some(decision) = known.borrow().get(&room) {
            return Ok(decision.clone());
        }
        let decision = strategy.decide(facts, room)?;
        known.borrow_mut().insert(room, decision.clone());
        Ok(decision)
    };
    let least = decide(None)?.work;
    let mut best: Result<(Decision, Placed), Error> = Err(Error::new(ErrorKind::Unsupported, Pos::unknown(), "no way to run the code"));
    for again in ways {
        let work = u128::from(again.work);
        // No way of this much work is better, however its loops are reversed.
        if best.as_ref().is_ok_and(|(best, _)| best.work <= least.saturating_add(work)) {
            break;
        }
        let place = |decision: &Decision| place(&Decision { again: again.clone(), ..decision.clone() });
        let found = match request.budget {
            None => decide(None).map(|decision| {
                let placed = place(&decision);
                (decision, placed)
            }),
            Some(budget) => within(budget, facts, work, decide, place),
        };
        let found = found.map(|(decision, placed)| {
            let work = decision.work.saturating_add(work);
            (Decision { again, work, ..decision }, placed)
        });
        let better = match (&best, &found) {
            (Err(best), Err(found)) => needed(found) < needed(best) || needed(best) == u64::MAX,
            (Err(_), Ok(_)) => true,
            (Ok(_), Err(_)) => false,
            (Ok((best, _)), Ok((found, _))) => found.work < best.work,
        };
        if better {
            best = found;
        }
    }
    let splits = known.borrow().values().map(|decision| decision.tried).fold(0, u64::saturating_add);
    best.map(|(decision, placed)| Found { decision, placed, splits })
}

/// Nothing is planned that cannot become machine code.
fn check_supported(program: &Program, id: FuncId) -> Result<(), Error> {
    for inst in &program.function(id).insts {
        let missing = match &inst.op {
            Op::Row(row, _) => row.lowering == Lowering::Missing,
            Op::If(_) | Op::For(_) | Op::While(_) | Op::Unwind(_) | Op::Call(_) => false,
        };
        if missing {
            let message = format!("`{}` has no machine code yet", inst.op.name());
            return Err(Error::new(ErrorKind::Unsupported, inst.pos.clone(), message));
        }
        inst.bodies().into_iter().try_for_each(|body| check_supported(program, body))?;
    }
    Ok(())
}

/// Ways to run the code outside of loops that are tried, alone and together with decisions about loops.
const WAYS: usize = 16;
const WAYS_WITH_LOOPS: usize = 4;

/// How often the room is corrected by what a placed decision takes.
const ROUNDS: usize = 6;

/// Starts from the least memory (`again` is the work of what runs again outside of loops), offers what is left of the budget, takes back what a decision overdraws and offers what it leaves over.
fn within(
    budget: u64,
    facts: &Facts,
    again: u128,
    decide: impl Fn(Option<u64>) -> Result<Decision, Error>,
    place: impl Fn(&Decision) -> Placed,
) -> Result<(Decision, Placed), Error> {
    let placed = |decision: Decision| {
        let placed = place(&decision);
        (decision, placed)
    };
    let free = placed(decide(None)?);
    if free.1.bytes <= budget && !facts.loops.iter().any(LoopFacts::is_open) {
        return Ok(free);
    }
    // What has no room is not always the least: a short loop is recorded in less than a schedule's words take.
    let (free_work, modest) = (free.0.work, decide(Some(0))?);
    let least = if modest.loops == free.0.loops {
        free
    } else {
        let modest = placed(modest);
        if free.1.bytes < modest.1.bytes { free } else { modest }
    };
    let needed = least.1.bytes;
    if needed > budget {
        let message = format!(
            "the budget is {}; the smallest that this strategy can work with is {}, with {:.1} times the work of its plan without a budget",
            explain::exactly(budget),
            explain::exactly(needed),
            least.0.work.saturating_add(again) as f64 / free_work.max(1) as f64
        );
        return Err(Error::new(ErrorKind::OverBudget { needed, budget }, Pos::unknown(), message));
    }
    let mut best = least;
    // Less than this holds nothing more.
    let sizes = facts.loops.iter().flat_map(|facts| facts.choices.iter().map(|choice| choice.bytes).chain([facts.state_bytes]));
    let granule = sizes.min().unwrap_or(u64::MAX);
    // A room that fits, and the least that does not.
    let (mut room, mut too_much) = (best.0.bytes.saturating_add(best.1.spare(budget)), u64::MAX);
    for _ in 0..ROUNDS {
        let decision = decide(Some(room))?;
        if decision.loops == best.0.loops {
            break;
        }
        let (decision, placed) = placed(decision);
        let bytes = placed.bytes;
        if bytes > budget {
            too_much = too_much.min(room);
            // It may not have taken all that it was offered.
            room = room.min(decision.bytes).saturating_sub(bytes - budget);
            continue;
        }
        // Tables take time: what gains next to nothing is the last.
        let (enough, spare) = (decision.work > best.0.work - best.0.work / 200, placed.spare(budget));
        if (decision.work, bytes) < (best.0.work, best.1.bytes) {
            best = (decision, placed);
        }
        let more = room.saturating_add(spare).min(too_much.saturating_sub(8));
        if more <= room || spare < granule || enough {
            break;
        }
        room = more;
    }
    Ok(best)
}
