//! What is kept of a step: which values of its forward part, so that the others are computed again from them when it is reversed.
//!
//! The forward part of a step's adjoint is what does not depend on cotangents; what the rest reads of it are the residuals. Only what a
//! non-linear rule reads is one, because diff asks for nothing else. A cut is a set of values of the forward part from which, with the
//! index, the invariants and the input streams, every residual follows. What each costs is a trade of bytes against work, and for a price
//! of a byte the best cut is a cheapest cut of a network. The price goes from nothing to everything, and leaves the convex hull.

use super::optimal::flow::{Network, SINK, SOURCE, UNCUT};
use crate::ir::{Function, Inst, Lowering, Op, Type, UnwindOp, Value};

/// Values of the forward part that a record keeps, in order of definition.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Cut {
    /// Values of the bwd.
    pub kept: Vec<Value>,
}

/// At most so many cuts are worth code of their own.
const CUTS: usize = 4;

/// The forward part of a step's adjoint.
pub(super) struct Forward<'f> {
    bwd: &'f Function,
    carries: &'f [Value],
    /// The instruction that defines each value; `None` for parameters.
    definitions: Vec<Option<&'f Inst>>,
    /// Depends on cotangents.
    rest: Vec<bool>,
    /// Follows from the index, the invariants and the input streams: not worth memory.
    free: Vec<bool>,
}

/// What the user wants of a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fate {
    /// It is kept.
    Keep,
    /// It is computed again.
    Recompute,
}

impl<'f> Forward<'f> {
    pub(super) fn new(bwd: &'f Function, op: &UnwindOp) -> Forward<'f> {
        let count = bwd.types.len();
        let params = op.args(&bwd.params);
        let mut forward =
            Forward { bwd, carries: params.carries, definitions: vec![None; count], rest: vec![false; count], free: vec![false; count] };
        for value in params.adjoints.iter().chain(params.emitted).chain(params.running) {
            forward.rest[value.0 as usize] = true;
        }
        for value in [params.count].iter().chain(params.invariants).chain(params.streams) {
            forward.free[value.0 as usize] = true;
        }
        for inst in &bwd.insts {
            let rest = inst.args.iter().any(|v| forward.rest[v.0 as usize]);
            let free = matches!(inst.op, Op::Row(..)) && inst.args.iter().all(|v| forward.free[v.0 as usize]);
            for value in &inst.results {
                forward.definitions[value.0 as usize] = Some(inst);
                forward.rest[value.0 as usize] = rest;
                forward.free[value.0 as usize] = free;
            }
        }
        forward
    }

    /// The cuts that are worth it, from the least work to the fewest bytes; `cost` is the work of an instruction, `fate` what the user has
    /// decided.
    pub(super) fn cuts(&self, cost: &dyn Fn(&Inst) -> u64, fate: &dyn Fn(Value) -> Option<Fate>) -> Vec<Cut> {
        let dear = 1 << 40;
        let all = self.priced(1, dear, cost, fate);
        let few = self.priced(dear, 1, cost, fate);
        let mut hull = vec![all, few];
        // Between two neighbours the price at which they are equal finds a better one, if there is one.
        let mut k = 0;
        while k + 1 < hull.len() && hull.len() < CUTS {
            let [(bytes, work), (fewer, more)] = [&hull[k], &hull[k + 1]].map(|cut| (self.bytes(cut), self.work(cut, cost)));
            let (price, weight) = (u128::from(more.saturating_sub(work)), u128::from(bytes.saturating_sub(fewer)));
            let between = self.priced(price, weight, cost, fate);
            let value = |bytes: u64, work: u64| price * u128::from(bytes) + weight * u128::from(work);
            if value(self.bytes(&between), self.work(&between, cost)) < value(bytes, work) {
                hull.insert(k + 1, between);
            } else {
                k += 1;
            }
        }
        hull.dedup();
        hull
    }

    /// The cut of the least `price · bytes + weight · work`.
    fn priced(&self, price: u128, weight: u128, cost: &dyn Fn(&Inst) -> u64, fate: &dyn Fn(Value) -> Option<Fate>) -> Cut {
        let mut network = Network::default();
        let needed = self.needed();
        let wanted = self.cone(&needed);
        let mut places: Vec<Option<[usize; 2]>> = vec![None; self.bwd.types.len()];
        for value in self.values().filter(|v| wanted[v.0 as usize]) {
            let place = [network.place(), network.place()];
            places[value.0 as usize] = Some(place);
            let keep = match fate(value) {
                Some(Fate::Recompute) if !self.carries.contains(&value) => 1 << 100,
                Some(Fate::Keep) => 0,
                Some(Fate::Recompute) | None => price * u128::from(bytes(self.bwd.ty(value))),
            };
            network.channel(place[0], place[1], keep);
            if self.carries.contains(&value) {
                network.channel(SOURCE, place[0], UNCUT);
            }
            if needed[value.0 as usize] {
                network.channel(place[1], SINK, UNCUT);
            }
        }
        for inst in &self.bwd.insts {
            let results: Vec<&Value> = inst.results.iter().filter(|v| places[v.0 as usize].is_some()).collect();
            if results.is_empty() {
                continue;
            }
            let made = network.place();
            let forced = inst.results.iter().any(|v| fate(*v) == Some(Fate::Keep));
            network.channel(SOURCE, made, if forced { UNCUT } else { weight * u128::from(view_cost(inst, cost)) });
            for [before, _] in results.iter().filter_map(|v| places[v.0 as usize]) {
                network.channel(made, before, UNCUT);
            }
            for [_, after] in inst.args.iter().filter_map(|v| places[v.0 as usize]) {
                network.channel(after, made, UNCUT);
            }
        }
        let side = network.source_side();
        let cut = |value: &Value| places[value.0 as usize].is_some_and(|[before, after]| side[before] && !side[after]);
        self.trim(self.values().filter(cut).collect())
    }

    /// Without what no residual follows from.
    fn trim(&self, mut kept: Vec<Value>) -> Cut {
        let read = self.read_from(&kept);
        kept.retain(|v| read[v.0 as usize]);
        Cut { kept }
    }

    /// Values in order of definition.
    fn values(&self) -> impl Iterator<Item = Value> {
        let defined = self.bwd.insts.iter().flat_map(|inst| inst.results.iter().copied());
        self.carries.iter().copied().chain(defined).filter(|v| !self.rest[v.0 as usize] && !self.free[v.0 as usize])
    }

    /// What the rest reads of the forward part.
    fn needed(&self) -> Vec<bool> {
        let mut needed = vec![false; self.bwd.types.len()];
        let readers = self.bwd.insts.iter().filter(|inst| inst.results.iter().any(|v| self.rest[v.0 as usize]));
        let read = readers.flat_map(|inst| &inst.args).chain(&self.bwd.results);
        read.filter(|v| !self.rest[v.0 as usize] && !self.free[v.0 as usize]).for_each(|v| needed[v.0 as usize] = true);
        needed
    }

    /// What these values follow from, themselves included.
    fn cone(&self, of: &[bool]) -> Vec<bool> {
        let mut wanted = of.to_vec();
        for inst in self.bwd.insts.iter().rev().filter(|inst| inst.results.iter().all(|v| !self.rest[v.0 as usize])) {
            if inst.results.iter().any(|v| wanted[v.0 as usize]) {
                inst.args.iter().for_each(|v| wanted[v.0 as usize] |= !self.free[v.0 as usize]);
            }
        }
        wanted
    }

    /// What is read when the residuals are computed from these values: the instructions on the way, and of these values the ones used.
    fn read_from(&self, kept: &[Value]) -> Vec<bool> {
        let mut read = self.needed();
        for inst in self.bwd.insts.iter().rev() {
            if inst.results.iter().any(|v| read[v.0 as usize] && !kept.contains(v)) {
                inst.args.iter().for_each(|v| read[v.0 as usize] = true);
            }
        }
        read
    }

    /// Bytes of a record.
    pub(super) fn bytes(&self, cut: &Cut) -> u64 {
        cut.kept.iter().map(|v| bytes(self.bwd.ty(*v))).sum()
    }

    /// Work of computing the residuals from a record.
    pub(super) fn work(&self, cut: &Cut, cost: &dyn Fn(&Inst) -> u64) -> u64 {
        let read = self.read_from(&cut.kept);
        let again = |inst: &&Inst| inst.results.iter().any(|v| read[v.0 as usize] && !self.known(*v) && !cut.kept.contains(v));
        self.bwd.insts.iter().filter(again).map(|inst| view_cost(inst, cost)).sum()
    }

    fn known(&self, value: Value) -> bool {
        self.rest[value.0 as usize] || self.free[value.0 as usize]
    }

    /// What makes a value, and the user's line.
    pub(super) fn origin(&self, value: Value) -> String {
        match self.definitions[value.0 as usize] {
            None => "state".into(),
            Some(inst) if inst.pos.is_known() => format!("{} at {}", inst.op.name(), inst.pos),
            Some(inst) => inst.op.name().into(),
        }
    }
}

/// Every value in a record starts on a word.
fn bytes(ty: &Type) -> u64 {
    (ty.bytes() as u64).next_multiple_of(8)
}

/// Another view of the same memory is no work.
pub(super) fn view_cost(inst: &Inst, cost: &dyn Fn(&Inst) -> u64) -> u64 {
    match &inst.op {
        Op::Row(row, _) if matches!(row.lowering, Lowering::View(_) | Lowering::Constant) => 0,
        Op::Row(..) | Op::If(_) | Op::For(_) | Op::While(_) | Op::Unwind(_) | Op::Call(_) => cost(inst),
    }
}
