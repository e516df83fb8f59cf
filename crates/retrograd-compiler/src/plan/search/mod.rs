//! Search: decides, and calls `memory` as a pure function. What a plan is chosen from is a list (`candidates`); each is
//! planned alike, by facts, a bound and a strategy, and the one of least work is taken.

pub(in crate::plan) mod bound;
mod candidates;
pub(in crate::plan) mod cut;
pub(in crate::plan) mod facts;
pub(in crate::plan) mod fit;
mod share;
pub(in crate::plan) mod spill;
pub(in crate::plan) mod straight;
pub mod strategy;
mod within;

use std::cell::{Cell, RefCell};
use std::collections::{BTreeMap, BTreeSet};
use std::ops::Add;
use std::sync::Arc;

use bound::quick_bound;
use candidates::{Candidate, candidates};
use facts::{Facts, LoopFacts};
use straight::Straight;
use strategy::{Rematerialise, Strategy};
use within::Within;

use crate::ir::{Error, ErrorKind, FuncId, Lowering, Op, Pos, Program};
use crate::plan::analysis::grain::{Grain, MOST_THREADS};
use crate::plan::analysis::work::SimdTarget;
use crate::plan::decision::{Decision, Rematerialised, Spill};
use crate::plan::memory::{Placed, place};
use crate::plan::transform::undo::Logged;
use crate::{ops, opt};

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
    pub vectors: SimdTarget,
}

impl Request {
    /// By a strategy, without limits, for one thread and the vectors that every machine has.
    pub fn by(strategy: Arc<dyn Strategy>) -> Request {
        Request { strategy, budget: None, spill: None, threads: 1, vectors: SimdTarget::Bits128 }
    }
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

/// A decision, applied; it prints.
#[derive(Clone, Debug)]
pub struct Plan {
    /// Name of the strategy.
    pub strategy: &'static str,
    /// The budget that was asked for.
    pub budget: Option<u64>,
    /// What was offered instead where there was none, and everything kept would have taken more.
    pub offered: Option<u64>,
    /// Memory that it keeps to, though there is more: that of words that are near.
    pub near: Option<u64>,
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
    pub coalesced: Vec<[u64; 2]>,
    /// Loops that keep a log of what their steps overwrite.
    pub logs: Vec<Logged>,
    /// What it took to find it, and those that it was chosen from.
    pub effort: Effort,
    /// What was known when they were chosen.
    pub facts: Facts,
    /// The Program that was placed: what interchange and its like made of the one that was planned.
    pub(crate) program: Arc<Program>,
    pub(crate) placed: Placed,
}

impl Plan {
    /// The Program in the order and memory in which it runs. Machine code trusts it, so nobody changes it.
    pub fn placed(&self) -> &Placed {
        &self.placed
    }
}

/// The plan of the least work that fits the budget, of all candidates of a verified Program.
pub(in crate::plan) fn search(program: &Program, request: &Request) -> Result<Plan, Error> {
    let program = &apart(opt::all_calls(program).into_owned());
    check_supported(program, program.entry)?;
    check_request(request)?;
    let candidates = candidates(program, request);
    // Words of much memory cost more: what keeps to memory that is near may be faster, though it runs more again.
    let near = request.vectors.near(request.budget.unwrap_or(u64::MAX));
    near.into_iter().fold(plan_on_threads(&candidates, request, u128::MAX), |plan, near| match plan {
        Ok(plan) if plan.facts.loops.iter().any(|facts| facts.bytes_of_all() > near) => {
            let limited = Request { budget: Some(near), ..request.clone() };
            let nearer = plan_on_threads(&candidates, &limited, plan.decision.work);
            less(Ok(plan), nearer.map(|plan| Plan { budget: request.budget, near: Some(near), ..plan }))
        }
        Ok(_) | Err(_) => plan,
    })
}

/// Numbers that make no sense are refused, not replaced.
fn check_request(request: &Request) -> Result<(), Error> {
    let message = if !(1..=MOST_THREADS).contains(&request.threads) {
        format!("a run has from 1 to {MOST_THREADS} threads, not {}", request.threads)
    } else if request.spill.is_some_and(|spill| spill.bytes_per_second == 0) {
        "a directory for states that takes 0 bytes a second serves nobody".into()
    } else {
        return Ok(());
    };
    Err(Error::new(ErrorKind::Argument, Pos::unknown(), message))
}

impl SimdTarget {
    /// Sizes of memory in a budget beyond each of which a word costs more.
    fn near(self, budget: u64) -> Vec<u64> {
        let dearer = |bytes: &u64| self.words(WORDS, *bytes) < self.words(WORDS, bytes + 1);
        (10..40).rev().map(|power| 1 << power).filter(|bytes| *bytes < budget).filter(dearer).collect()
    }
}

impl LoopFacts {
    /// Bytes of the largest that can be kept of every step.
    fn bytes_of_all(&self) -> u64 {
        let most = self.choices.iter().map(|choice| choice.bytes).chain([self.state_bytes]).max().unwrap_or(0);
        most.saturating_mul(self.count.unwrap_or(u64::MAX))
    }
}

/// With memory for the steps of a map on every thread, unless that is dear.
fn plan_on_threads(candidates: &[Candidate], request: &Request, most: u128) -> Result<Plan, Error> {
    let shared = least_work(candidates, request, most);
    let is_shared = shared.as_ref().is_ok_and(|plan| !plan.placed.frames.is_empty());
    if request.threads < 2 || request.budget.is_none() || (shared.is_ok() && !is_shared) {
        return shared;
    }
    // Memory for several threads is worth nothing that would be run again for it.
    less(shared, least_work(candidates, &Request { threads: 1, ..request.clone() }, most))
}

/// Every unwind has a bwd of its own: a decision is about one loop, and loops that share their code need not share
/// their memory alike.
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

/// The plan of the least work among those of all candidates that fit the budget, if it is below `most`.
///
/// No decision about a candidate is less work than its free one, which needs no search: so candidates come by that, and
/// those that could not be better any more are left out. What is not in tiles does not count as less work than what is,
/// nor one loop for several as less than they.
fn least_work(candidates: &[Candidate], request: &Request, most: u128) -> Result<Plan, Error> {
    let mut found: Option<Result<Plan, Error>> = None;
    let mut open: Vec<Prepared<'_>> = vec![];
    let better = |found: Option<Result<Plan, Error>>, other: Result<Plan, Error>| match found {
        Some(found) => Some(less(found, other)),
        None => Some(other),
    };
    // One loop for several does what they do and finds out where in them it is: it is none where nothing limits the
    // memory.
    for candidate in candidates.iter().filter(|candidate| candidate.coalesced.is_empty() || request.budget.is_some()) {
        match Prepared::new(candidate, request) {
            Ok(prepared) => open.push(prepared),
            Err(error) => found = better(found, Err(error)),
        }
    }
    for kind in [Candidate::is_tiled, |candidate: &Candidate| candidate.coalesced.is_empty()] {
        let least = open
            .iter()
            .filter(|prepared| kind(prepared.candidate))
            .map(|prepared| prepared.kept.work.max(prepared.counted))
            .min();
        let others = open.iter_mut().filter(|prepared| !kind(prepared.candidate));
        others.for_each(|prepared| prepared.counted = prepared.counted.max(least.unwrap_or(0)));
    }
    open.sort_by_key(Prepared::least_work);
    let mut effort = Effort::default();
    for prepared in &open {
        effort = effort + prepared.effort;
        let to_beat = found.as_ref().and_then(|found| found.as_ref().ok()).map_or(most, |best| best.decision.work);
        if prepared.least_work() < to_beat {
            found = better(found, prepared.plan());
        }
    }
    let none = || Err(Error::new(ErrorKind::Unsupported, Pos::unknown(), "no plan is less work"));
    found.unwrap_or_else(none).map(|best| Plan { effort: best.effort + effort, ..best })
}

/// The smallest budget that an error asks for.
fn needed(error: &Error) -> u64 {
    if let ErrorKind::OverBudget { needed, .. } = error.kind { needed } else { u64::MAX }
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

/// A candidate, with all that is known of it before anything is placed.
struct Prepared<'c> {
    candidate: &'c Candidate,
    request: Request,
    facts: Facts,
    /// What `auto` does without a limit.
    kept: Decision,
    /// No plan of it within the budget is less work.
    bound: u128,
    /// No plan of it counts as less work: it is of a kind that is taken only where the other does not fit.
    counted: u128,
    /// What it took to know that.
    effort: Effort,
}

impl<'c> Prepared<'c> {
    fn new(candidate: &'c Candidate, request: &Request) -> Result<Prepared<'c>, Error> {
        let facts = Facts {
            spill: request.spill,
            ..facts::facts(&candidate.branch_split, request, &|origin: &str| request.strategy.fate(origin))
        };
        let kept = strategy::Auto.decide(&facts, None)?;
        let bound = quick_bound(&facts, request.budget.unwrap_or(u64::MAX));
        let bound = if facts.has_least() { bound.max(kept.work) } else { bound };
        let effort = Effort { splits: kept.tried, placed: 0 };
        Ok(Prepared { candidate, request: request.clone(), facts, kept, bound, counted: 0, effort })
    }

    /// No plan of it counts as less work.
    fn least_work(&self) -> u128 {
        self.bound.max(self.counted)
    }

    /// The plan of the least work that fits the budget.
    fn plan(&self) -> Result<Plan, Error> {
        let plan = self.plan_spilling(self.request.spill)?;
        // A loop that stands twice in the Program has two places on the disk, and a strategy knows of one.
        match self.request.spill {
            Some(spill) if plan.bytes_spilled > spill.bytes => self.plan_spilling(None),
            Some(_) | None => Ok(plan),
        }
    }

    fn plan_spilling(&self, spill: Option<Spill>) -> Result<Plan, Error> {
        let (strategy, budget) = (&self.request.strategy, self.request.budget);
        let (program, branch_split) = (&self.candidate.program, &self.candidate.branch_split);
        let grain = Grain { threads: self.request.threads, ..strategy.grain() };
        // What is in memory of the code outside of loops shows where everything is kept.
        let reference = place(branch_split, &self.kept, grain);
        let straight = Straight::new(program, self.request.vectors, &reference, &|origin: &str| strategy.fate(origin));
        let facts = Facts { spill, residuals: straight.residuals(), ..self.facts.clone() };
        let fits = budget.is_none_or(|budget| reference.bytes <= budget && !facts.is_open());
        let search = strategy.search();
        let all_ways = || straight.ways(search, if facts.loops.is_empty() { WAYS } else { WAYS_WITH_LOOPS });
        let ways = match strategy.rematerialise() {
            Rematerialise::Never => vec![Rematerialised::default()],
            Rematerialise::Most => straight.ways(search, WAYS).pop().into_iter().collect(),
            Rematerialise::Fit if fits => vec![straight.least(search)],
            Rematerialise::Fit => all_ways(),
        };
        let insts = self.candidate.insts();
        let placed_insts = Cell::new(insts);
        let placed = |decision: &Decision| {
            let known = (&decision.loops, &decision.again) == (&self.kept.loops, &self.kept.again);
            placed_insts.set(placed_insts.get() + insts);
            if known { reference.clone() } else { place(branch_split, decision, grain) }
        };
        let found = fastest(&self.request, &facts, ways, insts, placed);
        // That everything kept fits says nothing of a strategy that decides otherwise about the loops.
        let Found { decision, placed, splits } = match found {
            Err(_) if strategy.rematerialise() == Rematerialise::Fit && fits => {
                fastest(&self.request, &facts, all_ways(), insts, placed)
            }
            found => found,
        }?;
        let decision = Decision { work: decision.work.max(self.counted), ..decision };
        let Candidate { tiles, strips, coalesced, logs, .. } = self.candidate.clone();
        Ok(Plan {
            strategy: strategy.name(),
            budget,
            offered: None,
            near: None,
            bytes_peak: placed.bytes,
            bytes_spilled: placed.spill_bytes,
            decision,
            tiles,
            strips,
            coalesced,
            logs,
            effort: Effort { splits, placed: placed_insts.get() },
            facts,
            program: Arc::new(program.clone()),
            placed,
        })
    }
}

impl Candidate {
    fn is_tiled(&self) -> bool {
        !(self.tiles.is_empty() && self.strips.is_empty())
    }

    /// Instructions of the whole Program.
    fn insts(&self) -> u64 {
        self.program.functions.iter().map(|function| function.insts.len() as u64).sum()
    }
}

impl Facts {
    /// Whether more memory always helps.
    fn is_open(&self) -> bool {
        self.loops.iter().any(LoopFacts::is_open)
    }

    /// Whether no decision is less work than the one without a limit. A loop of unknown length keeps more in a budget
    /// that is larger than what it keeps without one, and a disk may be faster than memory is taken to be.
    fn has_least(&self) -> bool {
        !self.is_open() && self.spill.is_none()
    }
}

/// A decision, placed, and the splits of loops that were tried to find it.
struct Found {
    decision: Decision,
    placed: Placed,
    splits: u64,
}

/// The decision of the least work among ways to run the code outside of loops, which come by ascending work.
fn fastest(
    request: &Request,
    facts: &Facts,
    ways: Vec<Rematerialised>,
    insts: u64,
    place: impl Fn(&Decision) -> Placed,
) -> Result<Found, Error> {
    let strategy = &request.strategy;
    let [known, small]: [RefCell<BTreeMap<u64, Decision>>; 2] = Default::default();
    let decide = |limit: Option<u64>| {
        // What is best in more bytes than it takes is best in all that it fits in.
        let larger = |limit: u64| known.borrow().range(limit..).next().map(|(_, decision)| decision.clone());
        let same = |limit: u64| larger(limit).filter(|decision| facts.loops.len() <= 1 && decision.bytes <= limit);
        if let Some(decision) =
            known.borrow().get(&limit.unwrap_or(u64::MAX)).cloned().or_else(|| same(limit.unwrap_or(u64::MAX)))
        {
            return Ok(decision);
        }
        let decision = strategy.decide(facts, limit)?;
        // Of a loop of unknown length, nothing is best in all the bytes there could be.
        let most = if facts.is_open() { decision.bytes } else { u64::MAX };
        known.borrow_mut().insert(limit.unwrap_or(most), decision.clone());
        Ok(decision)
    };
    // Whatever else was decided before.
    let decide_anew = |limit: u64| {
        if let Some(decision) = small.borrow().get(&limit).cloned() {
            return Ok(decision);
        }
        let decision = strategy.decide(facts, Some(limit))?;
        small.borrow_mut().insert(limit, decision.clone());
        Ok(decision)
    };
    let most_placed = PLACED / ways.len().max(1) as u64;
    let least = if facts.has_least() { decide(None)?.work } else { 0 };
    let mut best: Result<(Decision, Placed), Error> =
        Err(Error::new(ErrorKind::Unsupported, Pos::unknown(), "no way to run the code"));
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
            Some(budget) => Within {
                budget,
                facts,
                again: work,
                insts,
                most_placed,
                decide: &decide,
                decide_anew: &decide_anew,
                place: &place,
            }
            .fastest(),
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
    let splits = known
        .borrow()
        .values()
        .chain(small.borrow().values())
        .map(|decision| decision.tried)
        .fold(0, u64::saturating_add);
    best.map(|(decision, placed)| Found { decision, placed, splits })
}

/// Nothing is planned that cannot become machine code.
pub(in crate::plan) fn check_supported(program: &Program, id: FuncId) -> Result<(), Error> {
    for inst in &program.function(id).insts {
        let missing = match &inst.op {
            Op::Def(def, _) => def.lowering == Lowering::Missing || !ops::is_ours(def),
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

/// As many words as show what each costs.
const WORDS: u64 = 1 << 10;

/// Instructions that may be placed before the search is in a hurry.
const PLACED: u64 = 12_000;
