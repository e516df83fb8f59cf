//! What is kept of a step: which values of its forward part, so that the others are computed again from them when it is
//! reversed.
//!
//! The forward part of a step's adjoint is what does not depend on cotangents; what the rest reads of it are the
//! residuals. Only what a non-linear rule reads is one, because diff asks for nothing else. A cut is a set of values of
//! the forward part from which, with the index, the invariants and the input streams, every residual follows. Which are
//! worth it is a trade of bytes against work (`optimal/closure.rs` of `retrograd-schedule`).

use crate::plan::decision::Cut;

use crate::ir::{Function, Inst, Op, UnwindOp, Value};
use crate::plan::analysis::layout::row_layout;
pub use retrograd_schedule::optimal::closure::Fate;
use retrograd_schedule::optimal::closure::{Closure, Maker};

/// Which cuts a strategy wants to choose from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Search {
    /// Those on the convex hull of bytes and work.
    Hull,
    /// Also those between, as the integer program finds them.
    Integer,
}

/// Limits between the fewest and the most bytes that the integer program is solved for.
const LIMITS: u64 = 8;

/// The forward part of a step's adjoint.
pub(in crate::plan) struct Forward<'f> {
    bwd: &'f Function,
    carries: &'f [Value],
    /// The instruction that defines each value; `None` for parameters.
    definitions: Vec<Option<&'f Inst>>,
    /// Depends on cotangents.
    rest: Vec<bool>,
    /// Follows from the index, the invariants and the input streams: not worth memory.
    free: Vec<bool>,
    /// Which instructions have an effect: they run where the step is reversed.
    effects: Vec<bool>,
}

impl<'f> Forward<'f> {
    pub(in crate::plan) fn new(bwd: &'f Function, op: &UnwindOp, effects: &[bool]) -> Forward<'f> {
        let count = bwd.types.len();
        let effects: Vec<bool> =
            bwd.insts.iter().map(|inst| inst.has_effect(|body| effects[usize::from(body)])).collect();
        let params = op.args(&bwd.params);
        let mut forward = Forward {
            bwd,
            carries: params.carries,
            definitions: vec![None; count],
            rest: vec![false; count],
            free: vec![false; count],
            effects,
        };
        for value in params.adjoints.iter().chain(params.emitted).chain(params.running) {
            forward.rest[value.0 as usize] = true;
        }
        for value in [params.count].iter().chain(params.invariants).chain(params.streams) {
            forward.free[value.0 as usize] = true;
        }
        for (k, inst) in bwd.insts.iter().enumerate() {
            let rest = forward.effects[k] || inst.args.iter().any(|v| forward.rest[v.0 as usize]);
            let free = matches!(inst.op, Op::Def(..)) && inst.args.iter().all(|v| forward.free[v.0 as usize]);
            for value in &inst.results {
                forward.definitions[value.0 as usize] = Some(inst);
                forward.rest[value.0 as usize] = rest;
                forward.free[value.0 as usize] = free;
            }
        }
        forward
    }

    /// The cuts that are worth it, from the least work to the fewest bytes; `cost` is the work of an instruction,
    /// `fate` what the user has decided.
    pub(in crate::plan) fn cuts(
        &self,
        search: Search,
        cost: &dyn Fn(&Inst) -> u64,
        fate: &dyn Fn(Value) -> Option<Fate>,
    ) -> Vec<Cut> {
        let (code, values) = self.code(cost, fate);
        let mut found = code.hull();
        if search == Search::Integer {
            let [most, fewest] =
                [found.first(), found.last()].map(|saved| saved.map_or(0, |saved| code.bytes_of(saved)));
            let limits = (1..LIMITS).map(|k| fewest + most.saturating_sub(fewest) * k / LIMITS);
            found.extend(limits.filter_map(|limit| code.within(limit)).collect::<Vec<_>>());
            found.sort_by_key(|saved| (code.work_of(saved), code.bytes_of(saved)));
            found.dedup();
        }
        let cut = |saved: Vec<bool>| Cut {
            kept: values.iter().zip(saved).filter(|(_, saved)| *saved).map(|(value, _)| *value).collect(),
        };
        found.into_iter().map(cut).collect()
    }

    /// The forward part as code that can be computed again, and its values.
    fn code(&self, cost: &dyn Fn(&Inst) -> u64, fate: &dyn Fn(Value) -> Option<Fate>) -> (Closure, Vec<Value>) {
        let needed = self.needed();
        let wanted = self.backward_slice(&needed);
        let values: Vec<Value> = self.values().filter(|v| wanted[v.0 as usize]).collect();
        let number = |v: &Value| values.iter().position(|other| other == v);
        let maker = |inst: &Inst| Maker {
            work: cost(inst),
            args: inst.args.iter().filter_map(number).collect(),
            results: inst.results.iter().filter_map(number).collect(),
        };
        let code = Closure {
            bytes: values.iter().map(|v| self.bwd.ty(*v).bytes() as u64).collect(),
            needed: values.iter().map(|v| needed[v.0 as usize]).collect(),
            makers: self.bwd.insts.iter().map(maker).filter(|maker| !maker.results.is_empty()).collect(),
            fates: values.iter().map(|v| fate(*v)).collect(),
        };
        (code, values)
    }

    /// Values in order of definition.
    fn values(&self) -> impl Iterator<Item = Value> {
        let defined = self.bwd.insts.iter().flat_map(|inst| inst.results.iter().copied());
        self.carries.iter().copied().chain(defined).filter(|v| !self.rest[v.0 as usize] && !self.free[v.0 as usize])
    }

    /// What the rest reads of the forward part.
    fn needed(&self) -> Vec<bool> {
        let mut needed = vec![false; self.bwd.types.len()];
        let insts = self.bwd.insts.iter().zip(&self.effects);
        let readers = insts.filter(|(inst, effect)| **effect || inst.results.iter().any(|v| self.rest[v.0 as usize]));
        let read = readers.flat_map(|(inst, _)| &inst.args).chain(&self.bwd.results);
        read.filter(|v| !self.rest[v.0 as usize] && !self.free[v.0 as usize]).for_each(|v| needed[v.0 as usize] = true);
        needed
    }

    /// What these values follow from, themselves included.
    fn backward_slice(&self, of: &[bool]) -> Vec<bool> {
        let mut wanted = of.to_vec();
        for inst in self.bwd.insts.iter().rev().filter(|inst| inst.results.iter().all(|v| !self.rest[v.0 as usize])) {
            if inst.results.iter().any(|v| wanted[v.0 as usize]) {
                inst.args.iter().for_each(|v| wanted[v.0 as usize] |= !self.free[v.0 as usize]);
            }
        }
        wanted
    }

    /// Whether a cut names values of the forward part, in order of definition, and every residual follows from them.
    pub(in crate::plan) fn is_cut(&self, cut: &Cut) -> bool {
        let mut values = self.values();
        if !cut.kept.iter().all(|kept| values.any(|value| value == *kept)) {
            return false;
        }
        let mut wanted = self.needed();
        let mut kept = vec![false; wanted.len()];
        cut.kept.iter().for_each(|v| kept[v.0 as usize] = true);
        for inst in self.bwd.insts.iter().rev().filter(|inst| inst.results.iter().all(|v| !self.rest[v.0 as usize])) {
            if inst.results.iter().any(|v| wanted[v.0 as usize] && !kept[v.0 as usize]) {
                inst.args.iter().for_each(|v| wanted[v.0 as usize] |= !self.free[v.0 as usize]);
            }
        }
        self.carries.iter().all(|v| !wanted[v.0 as usize] || kept[v.0 as usize])
    }

    /// Bytes of a record.
    pub(in crate::plan) fn bytes(&self, cut: &Cut) -> u64 {
        row_layout(cut.kept.iter().map(|v| self.bwd.ty(*v))).1
    }

    /// What makes a value, and the user's line.
    pub(in crate::plan) fn origin(&self, value: Value) -> String {
        self.definitions[value.0 as usize].map_or_else(|| "state".into(), Inst::origin)
    }
}
