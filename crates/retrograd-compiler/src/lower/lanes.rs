//! Loops over scalar code as vector loops: the steps of a loop that carries nothing but sums in memory run in lanes.
//!
//! An element of a mesh reads its corners, computes on numbers and adds to its corners. What it computes depends on no
//! other step, so eight steps compute at once; what they add, they add one after the other, in the order of steps and
//! of statements. No sum changes.

use std::collections::{BTreeMap, BTreeSet};

use super::KernelBuilder;
use super::kernel::{Address, Fold, Order, OrderedWrite, Reg, RegType, Stmt};
use crate::ir::{DType, Reduction, Scalar};

/// Fewest steps that are worth it, and fewest computations on floats in one.
const STEPS_LEAST: i64 = 16;
const WORK_LEAST: usize = 8;

/// Most statements of a step: a back end writes each for several vectors, and writes in turn for every lane.
const STATEMENTS_MOST: usize = 2048;

/// Steps between two moments at which a loop can be stopped.
const STEPS_A_CHUNK: i64 = 8192;

/// A step whose computation is apart from what it leaves in memory.
#[derive(Default)]
struct Apart {
    /// What depends on no other step, stores to places of its own included.
    own: Vec<Stmt>,
    /// Writes to places that other steps may write to.
    turns: Vec<OrderedWrite>,
    /// Truths that are faults, in order.
    faults: Vec<Reg>,
    /// The faults with all that they depend on.
    checks: Vec<Stmt>,
}

impl KernelBuilder<'_> {
    /// The loop with its steps in lanes, if they can be.
    pub(super) fn in_lanes(
        &mut self,
        index: Reg,
        [from, to]: [Reg; 2],
        order: Order,
        body: &[Stmt],
    ) -> Option<Vec<Stmt>> {
        let (first, end) = (*self.known.get(&from)?, *self.known.get(&to)?);
        let count = end.checked_sub(first).filter(|count| *count >= STEPS_LEAST)?;
        let apart = self.apart(index, body)?;
        let (chunks, rest) = (count / STEPS_A_CHUNK, count % STEPS_A_CHUNK);
        // Step k of the loop has the index `first + k`, or `end − 1 − k`.
        let start = |done: i64| match order {
            Order::Up => first + done,
            Order::Down => end - 1 - done,
        };
        let found = self.reg(RegType::Scalar(DType::Bool));
        Some(self.nested(|lower| {
            if chunks > 0 {
                let (chunk, zero, all) = (lower.int(), lower.literal(0), lower.literal(chunks));
                let inner = lower.nested(|lower| {
                    let length = lower.literal(if order == Order::Up { STEPS_A_CHUNK } else { -STEPS_A_CHUNK });
                    let (start, done) =
                        (lower.literal(start(0)), lower.compute(Scalar::Mul, DType::I64, &[chunk, length]));
                    let start = lower.compute(Scalar::Add, DType::I64, &[start, done]);
                    lower.body.push(Stmt::Poll { reached: lower.reporting.at(start, order).reached() });
                    lower.chunk_in_lanes(index, start, STEPS_A_CHUNK, order, &apart, found);
                    lower.find_fault(index, start, STEPS_A_CHUNK, order, &apart, found);
                });
                lower.body.push(Stmt::For { index: chunk, from: zero, to: all, order: Order::Up, body: inner });
            }
            if rest > 0 {
                let start = lower.literal(start(count - rest));
                lower.body.push(Stmt::Poll { reached: lower.reporting.at(start, order).reached() });
                lower.chunk_in_lanes(index, start, rest, order, &apart, found);
                lower.find_fault(index, start, rest, order, &apart, found);
            }
        }))
    }

    /// A vector loop over so many steps from `start` on.
    fn chunk_in_lanes(&mut self, index: Reg, start: Reg, count: i64, order: Order, apart: &Apart, found: Reg) {
        let lane = self.int();
        let sign = if order == Order::Up { 1 } else { -1 };
        let mut any = None;
        let body = self.nested(|lower| {
            let op = if order == Order::Up { Scalar::Add } else { Scalar::Sub };
            lower.body.push(Stmt::Let { dst: index, op, args: vec![start, lane] });
            let in_lane = |address: &Address| {
                let terms = |(reg, stride): &(Reg, i64)| match *reg == index {
                    true => vec![(start, *stride), (lane, sign * stride)],
                    false => vec![(*reg, *stride)],
                };
                Address { terms: address.terms.iter().flat_map(terms).collect(), ..address.clone() }
            };
            lower.body.extend(apart.own.iter().map(|stmt| readdressed(stmt, &in_lane)));
            for cond in &apart.faults {
                any = Some(match any {
                    None => *cond,
                    Some(any) => lower.compute(Scalar::Or, DType::Bool, &[any, *cond]),
                });
            }
            if !apart.turns.is_empty() {
                lower.body.push(Stmt::OrderedScatter(
                    apart.turns.iter().map(|turn| OrderedWrite { to: in_lane(&turn.to), ..turn.clone() }).collect(),
                ));
            }
        });
        let folds = any.into_iter().map(|src| Fold { dst: found, src, how: Reduction::Any }).collect();
        self.body.push(Stmt::ForVec { index: lane, count: count as u64, body, folds });
    }

    /// Where a step faulted, the steps are looked at again one by one for the first that did.
    fn find_fault(&mut self, index: Reg, start: Reg, count: i64, order: Order, apart: &Apart, found: Reg) {
        if apart.faults.is_empty() {
            return;
        }
        let then_body = self.nested(|lower| {
            let length = lower.literal(if order == Order::Up { count } else { 1 });
            let one_past = lower.compute(Scalar::Add, DType::I64, &[start, length]);
            let from = match order {
                Order::Up => start,
                Order::Down => {
                    let length = lower.literal(count);
                    lower.compute(Scalar::Sub, DType::I64, &[one_past, length])
                }
            };
            lower.body.push(Stmt::For { index, from, to: one_past, order, body: apart.checks.clone() });
        });
        self.body.push(Stmt::If { cond: found, then_body, else_body: vec![] });
    }

    /// A step taken apart, or `None` where it depends on other steps, or is no straight code, or is too short or too
    /// long for lanes.
    fn apart(&self, index: Reg, body: &[Stmt]) -> Option<Apart> {
        let floats = |stmt: &&Stmt| matches!(stmt, Stmt::Let { dst, .. } if self.is_float(*dst));
        if body.len() > STATEMENTS_MOST || body.iter().filter(floats).count() < WORK_LEAST {
            return None;
        }
        let body = addresses_resolved(body)?;
        let uses = Uses::new(index, &body)?;
        let stored = self.stored(index, &body, &uses);
        let (mut apart, mut stores, mut gone) = (Apart::default(), vec![], BTreeSet::new());
        for (k, stmt) in body.iter().enumerate() {
            let Stmt::Store { to, src } = stmt else { continue };
            if stored[&to.base].own {
                stores.push(stmt.clone());
            } else if self.dtype(*src) == DType::Bool {
                return None;
            } else if let Some((load, term)) = uses.sum(&body, k, to, *src) {
                gone.extend([load, *src]);
                apart.turns.push(OrderedWrite { to: to.clone(), op: Some(Scalar::Add), src: term });
            } else {
                apart.turns.push(OrderedWrite { to: to.clone(), op: None, src: *src });
            }
        }
        for (k, stmt) in body.iter().enumerate() {
            if let Stmt::Fault { cond, .. } = stmt {
                apart.faults.push(*cond);
                continue;
            }
            let is_gone = |dst: &Option<Reg>| dst.is_some_and(|dst| gone.contains(&dst));
            if matches!(stmt, Stmt::Store { .. }) || touched(stmt).is_some_and(|(dst, _)| is_gone(&dst)) {
                continue;
            }
            // What a step reads of memory that steps write is its own, before it writes there.
            let meets = matches!(stmt, Stmt::Load { from, .. } if stored.get(&from.base).is_some_and(|stored| !stored.holds(from, k)));
            let divides = matches!(stmt, Stmt::Let { dst, op: Scalar::Div | Scalar::Rem, .. } if !self.is_float(*dst));
            if meets || divides {
                return None;
            }
            apart.own.push(stmt.clone());
        }
        apart.own.extend(stores);
        apart.checks = checks(&body);
        // They are looked at again when steps have written.
        let overwritten = |stmt: &Stmt| matches!(stmt, Stmt::Load { from, .. } if stored.contains_key(&from.base));
        (!apart.checks.iter().any(overwritten)).then_some(apart)
    }

    /// What a step writes, by memory.
    fn stored(&self, index: Reg, body: &[Stmt], uses: &Uses) -> BTreeMap<Reg, Stored> {
        let mut stored: BTreeMap<Reg, Stored> = BTreeMap::new();
        for (k, stmt) in body.iter().enumerate() {
            if let Stmt::Store { to, src } = stmt {
                let all = stored.entry(to.base).or_insert(Stored { places: vec![], first: k, own: false });
                all.places.push((to.clone(), self.dtype(*src).bytes() as i64));
            }
        }
        for all in stored.values_mut() {
            all.own = uses.is_own(index, &all.places);
        }
        stored
    }

    fn dtype(&self, reg: Reg) -> DType {
        match self.regs[reg.0 as usize] {
            RegType::Scalar(dtype) => dtype,
            RegType::Pointer => panic!("a number, not an address"),
        }
    }

    fn is_float(&self, reg: Reg) -> bool {
        matches!(self.regs[reg.0 as usize], RegType::Scalar(dtype) if dtype.is_float())
    }
}

/// The register that a statement assigns, and those that it reads; `None` where it is no straight code.
fn touched(stmt: &Stmt) -> Option<(Option<Reg>, Vec<Reg>)> {
    let of = |address: &Address| address.terms.iter().map(|(reg, _)| *reg).chain([address.base]).collect::<Vec<_>>();
    match stmt {
        Stmt::Literal { dst, .. } => Some((Some(*dst), vec![])),
        Stmt::Let { dst, args, .. } => Some((Some(*dst), args.clone())),
        Stmt::Move { dst, src } => Some((Some(*dst), vec![*src])),
        Stmt::Offset { dst, address } | Stmt::Load { dst, from: address } => Some((Some(*dst), of(address))),
        Stmt::Store { to, src } => Some((None, of(to).into_iter().chain([*src]).collect())),
        Stmt::Fault { cond, .. } => Some((None, vec![*cond])),
        Stmt::Swap(..) | Stmt::Pointer { .. } | Stmt::Copy { .. } | Stmt::Zero { .. } | Stmt::OrderedScatter(_) => None,
        Stmt::For { .. } | Stmt::ForVec { .. } | Stmt::If { .. } | Stmt::Loop { .. } | Stmt::Leave => None,
        Stmt::Start { .. } | Stmt::Next { .. } | Stmt::Spill { .. } | Stmt::Fetch { .. } | Stmt::Call { .. } => None,
        Stmt::Part(_) | Stmt::ParallelFor { .. } | Stmt::Poll { .. } | Stmt::Probe { .. } => None,
    }
}

/// The faults of a step, with all that they depend on.
fn checks(body: &[Stmt]) -> Vec<Stmt> {
    let (mut needed, mut checks) = (BTreeSet::new(), vec![]);
    for stmt in body.iter().rev() {
        let (assigned, read) = touched(stmt).expect("a step in lanes is straight code");
        if matches!(stmt, Stmt::Fault { .. }) || assigned.is_some_and(|dst| needed.contains(&dst)) {
            needed.extend(read);
            checks.push(stmt.clone());
        }
    }
    checks.reverse();
    checks
}

/// A statement with another address, if it has one.
pub(super) fn readdressed(stmt: &Stmt, address: &impl Fn(&Address) -> Address) -> Stmt {
    if let Stmt::Load { dst, from } = stmt {
        Stmt::Load { dst: *dst, from: address(from) }
    } else if let Stmt::Store { to, src } = stmt {
        Stmt::Store { to: address(to), src: *src }
    } else {
        stmt.clone()
    }
}

/// The same code with every address counted from memory that does not move while the loop runs.
fn addresses_resolved(body: &[Stmt]) -> Option<Vec<Stmt>> {
    let mut moving: BTreeMap<Reg, Address> = BTreeMap::new();
    let mut resolved = vec![];
    for stmt in body {
        touched(stmt)?;
        let from_start = |address: &Address| match moving.get(&address.base) {
            None => address.clone(),
            Some(start) => {
                let terms = start.terms.iter().chain(&address.terms).copied().collect();
                Address { base: start.base, terms, offset: start.offset + address.offset }
            }
        };
        if let Stmt::Offset { dst, address } = stmt {
            let address = from_start(address);
            moving.insert(*dst, address);
        } else {
            resolved.push(readdressed(stmt, &from_start));
        }
    }
    Some(resolved)
}

/// Where registers of a step are assigned, and how often they are read.
struct Uses {
    assigned: BTreeMap<Reg, usize>,
    times: BTreeMap<Reg, usize>,
}

impl Uses {
    /// None where a register is assigned twice, or read before: then it holds what another step left.
    fn new(index: Reg, body: &[Stmt]) -> Option<Uses> {
        let all: BTreeSet<Reg> = body.iter().filter_map(|stmt| touched(stmt)?.0).collect();
        let mut uses = Uses { assigned: BTreeMap::new(), times: BTreeMap::new() };
        for (k, stmt) in body.iter().enumerate() {
            let (dst, read) = touched(stmt)?;
            for reg in read {
                if all.contains(&reg) && !uses.assigned.contains_key(&reg) {
                    return None;
                }
                *uses.times.entry(reg).or_insert(0) += 1;
            }
            if let Some(dst) = dst
                && (dst == index || uses.assigned.insert(dst, k).is_some())
            {
                return None;
            }
        }
        Some(uses)
    }

    /// What store number `k` adds to an element in memory: the register that it is loaded into, and the term.
    fn sum(&self, body: &[Stmt], k: usize, to: &Address, src: Reg) -> Option<(Reg, Reg)> {
        let Stmt::Let { op: Scalar::Add, args, .. } = &body[*self.assigned.get(&src)?] else { return None };
        let (old, term) = (args[0], args[1]);
        let load = *self.assigned.get(&old)?;
        let Stmt::Load { from, .. } = &body[load] else { return None };
        let once = |reg: Reg| self.times.get(&reg) == Some(&1);
        let between =
            body[load..k].iter().any(|stmt| matches!(stmt, Stmt::Store { to: other, .. } if other.base == to.base));
        (from == to && old != term && !between && once(old) && once(src)).then_some((old, term))
    }

    /// Whether every step has these places for itself: a row of all that is written, in which none overlap.
    fn is_own(&self, index: Reg, places: &[(Address, i64)]) -> bool {
        let terms = &places[0].0.terms;
        let stride: i64 = terms.iter().filter(|(reg, _)| *reg == index).map(|(_, stride)| stride).sum();
        let fixed = terms.iter().all(|(reg, _)| *reg == index || !self.assigned.contains_key(reg));
        let mut ranges: Vec<(i64, i64)> = places.iter().map(|(to, bytes)| (to.offset, to.offset + bytes)).collect();
        ranges.sort_unstable();
        let apart = ranges.windows(2).all(|pair| pair[0].1 <= pair[1].0);
        let in_row = ranges.last().is_some_and(|last| last.1 - ranges[0].0 <= stride.abs());
        fixed && apart && in_row && places.iter().all(|(to, _)| to.terms == *terms)
    }
}

/// What a step writes to one array.
struct Stored {
    /// Where, with how many bytes.
    places: Vec<(Address, i64)>,
    /// Number of the first write.
    first: usize,
    /// Whether no other step writes there.
    own: bool,
}

impl Stored {
    /// Whether a load by statement `k` reads exactly what the step will write.
    fn holds(&self, from: &Address, k: usize) -> bool {
        self.own && k < self.first && self.places.iter().any(|(to, _)| to == from)
    }
}
