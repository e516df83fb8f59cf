//! Vector loops.
//!
//! A loop runs in blocks of steps, as vectors of two lanes, or of four where no lane has more than 32 bits; what
//! remains, fewer steps than that, is straight code of vectors and, for the last steps, of scalars. Statements that are
//! the same for all steps come before the loop. Partial results of reductions live in vectors too, and a block has as
//! many steps as there are partials, so that the lane of a step in its block is the number of its partial.

use std::collections::{BTreeMap, BTreeSet};

use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{InstBuilder, MemFlagsData, StackSlotData, StackSlotKind, Value, ValueDef, types};
use cranelift_frontend::Variable;
use retrograd_compiler::ir::{DType, LaneFunction, Scalar};
use retrograd_compiler::lower::kernel::{Address, Fold, OrderedWrite, Reg, Stmt};
use retrograd_compiler::ops::{SUM_CHUNK, SUM_LANES};

use super::access::Access;
use super::arithmetic::Width;
use super::strip::Strips;
use super::wide;
use super::{FLAGS, Lower};
use crate::pairs::{self, Loaded};
use crate::runtime::Import;

/// Steps of the longest block: as many as there are partial sums.
pub(super) const LONGEST: u64 = SUM_LANES as u64;

/// Steps of a block without reductions: enough to hide what the loop itself costs.
const PLAIN: u64 = 8;

/// Statements from which on a block without reductions is one vector: repeating them would save nothing, and fill the
/// cache of decoded instructions.
const MANY: usize = 64;

/// Room for the lanes that may remain.
const FEW_BYTES: u32 = 8 * LONGEST as u32;

pub(super) const CHUNK: u64 = SUM_CHUNK as u64;

/// Bytes from one number of a pair to the other.
const BYTES: i32 = pairs::BYTES as i32;

/// Lowers a vector loop.
pub(super) fn for_vec<'k>(lower: &mut Lower<'k, '_>, index: Reg, count: u64, body: &'k [Stmt], folds: &'k [Fold]) {
    if count == 0 {
        for fold in folds {
            let unit = lower.unit(fold);
            lower.set(fold.dst, unit);
        }
        return;
    }
    let vec_loop = VecLoop::new(lower, index, count, body, folds);
    vec_loop.clear_totals(lower);
    if let Some(wide) = wide::function(lower, &vec_loop) {
        wide.emit(lower, &vec_loop);
    } else {
        let strips = (vec_loop.has_calls() && count >= LONGEST).then(|| Strips::new(&vec_loop));
        vec_loop.emit(lower, strips.as_ref());
    }
    for (fold, &total) in folds.iter().zip(&vec_loop.totals) {
        let total = lower.builder.use_var(total);
        lower.set(fold.dst, total);
    }
}

/// Some lanes of a block of steps.
#[derive(Clone, Copy, Debug)]
pub(super) struct Part {
    pub(super) width: Width,
    /// Steps after the first of the block.
    pub(super) lane: u32,
}

/// Lanes being computed: those of `parts`, for the block that starts at `index`.
pub(super) struct Lanes<'p> {
    pub(super) index: Value,
    pub(super) parts: &'p [Part],
    /// One value for each part.
    values: BTreeMap<Reg, Vec<Value>>,
}

impl<'p> Lanes<'p> {
    pub(super) fn new(index: Value, parts: &'p [Part]) -> Lanes<'p> {
        Lanes { index, parts, values: BTreeMap::new() }
    }

    pub(super) fn set(&mut self, reg: Reg, values: Vec<Value>) {
        self.values.insert(reg, values);
    }
}

/// A statement whose result, or effect, differs between steps.
#[derive(Clone, Debug)]
pub(super) enum Step<'k> {
    Compute {
        dst: Reg,
        op: Scalar,
        ty: DType,
        args: &'k [Reg],
    },
    Call {
        dst: Reg,
        function: LaneFunction,
        args: &'k [Reg],
    },
    Move {
        dst: Reg,
        src: Reg,
    },
    Load {
        dst: Reg,
        access: Access,
        from: &'k Address,
    },
    /// Of two numbers side by side; the lower may be there already.
    LoadBoth {
        dst: [Option<Reg>; 2],
        access: Access,
    },
    Store {
        access: Access,
        src: Reg,
    },
    /// What is written in turn, and the number that lies after it in memory, if it is written with it.
    OrderedScatter(Vec<(Access, &'k OrderedWrite, Option<&'k OrderedWrite>)>),
}

impl Step<'_> {
    /// What it loads, if its lanes are apart.
    fn row(&self) -> Option<Loaded<'_, Access>> {
        let Step::Load { dst, access, from } = self else { return None };
        access.is_apart().then_some(Loaded { dst: *dst, ty: access.ty, from, access })
    }

    /// The registers that it assigns.
    pub(super) fn assigns(&self) -> Vec<Reg> {
        match self {
            Step::Compute { dst, .. } | Step::Call { dst, .. } | Step::Move { dst, .. } | Step::Load { dst, .. } => {
                vec![*dst]
            }
            Step::LoadBoth { dst, .. } => dst.iter().copied().flatten().collect(),
            Step::Store { .. } | Step::OrderedScatter(_) => vec![],
        }
    }

    /// The registers that it reads, those of addresses included.
    pub(super) fn reads(&self) -> Vec<Reg> {
        let of_addresses = self.accesses().into_iter().flat_map(|access| access.scattered.iter().map(|&(reg, _)| reg));
        of_addresses.chain(self.operands()).collect()
    }

    /// The registers that it computes with or writes.
    pub(super) fn operands(&self) -> Vec<Reg> {
        match self {
            Step::Compute { args, .. } | Step::Call { args, .. } => args.to_vec(),
            Step::Move { src, .. } | Step::Store { src, .. } => vec![*src],
            Step::Load { .. } | Step::LoadBoth { .. } => vec![],
            Step::OrderedScatter(turns) => turns
                .iter()
                .flat_map(|(_, turn, after)| [Some(turn.src), after.map(|after| after.src)])
                .flatten()
                .collect(),
        }
    }

    /// Where it reads and writes.
    pub(super) fn accesses(&self) -> Vec<&Access> {
        match self {
            Step::Load { access, .. } | Step::LoadBoth { access, .. } | Step::Store { access, .. } => vec![access],
            Step::OrderedScatter(turns) => turns.iter().map(|(access, ..)| access).collect(),
            Step::Compute { .. } | Step::Call { .. } | Step::Move { .. } => vec![],
        }
    }
}

/// A vector loop whose invariant part is emitted.
pub(super) struct VecLoop<'k> {
    pub(super) index: Reg,
    pub(super) count: u64,
    pub(super) steps: Vec<Step<'k>>,
    pub(super) folds: &'k [Fold],
    uniform: BTreeMap<Reg, Value>,
    /// Addresses that are the same for all steps, by what they are made of.
    bases: BTreeMap<(Reg, Vec<(Reg, i64)>), Value>,
    /// How many lanes are computed at once.
    width: Width,
    /// Whether a reduction has an order.
    pub(super) ordered: bool,
    /// Steps of a block.
    pub(super) block: u64,
    /// Partial results, as many lanes in each; those that no step reaches are left out.
    partials: Vec<Vec<Variable>>,
    pub(super) totals: Vec<Variable>,
    /// Results of `fma` whose factors are exchanged.
    exchanged: BTreeSet<Reg>,
}

impl<'k> VecLoop<'k> {
    fn new(lower: &mut Lower<'k, '_>, index: Reg, count: u64, body: &'k [Stmt], folds: &'k [Fold]) -> VecLoop<'k> {
        let (uniform, partials) = (BTreeMap::new(), Vec::new());
        let (width, ordered, block) = (Width::Two, false, LONGEST);
        let mut vec_loop = VecLoop {
            index,
            count,
            steps: Vec::new(),
            folds,
            uniform,
            bases: BTreeMap::new(),
            width,
            ordered,
            block,
            partials,
            totals: Vec::new(),
            exchanged: BTreeSet::new(),
        };
        vec_loop.read_outside(lower, body);
        let stores = body.iter().any(|stmt| matches!(stmt, Stmt::Store { .. }));
        for stmt in body {
            if vec_loop.hoists(stmt, stores) { vec_loop.hoist(lower, stmt) } else { vec_loop.keep(lower, stmt) }
        }
        vec_loop.width = vec_loop.fitting_width(lower);
        vec_loop.pair_loads();
        vec_loop.exchanged = vec_loop.exchanged();
        vec_loop.ordered = folds.iter().any(|fold| !fold.how.is_commutative(lower.dtype(fold.src)));
        vec_loop.block = vec_loop.fitting_block();
        for fold in folds {
            let ty = lower.dtype(fold.src);
            let vectors = if fold.how.is_commutative(ty) {
                1
            } else {
                count.min(LONGEST).div_ceil(u64::from(vec_loop.width.lanes()))
            };
            let native = vec_loop.width.native(ty);
            vec_loop.partials.push((0..vectors).map(|_| lower.builder.declare_var(native)).collect());
            vec_loop.totals.push(lower.builder.declare_var(Width::One.native(ty)));
        }
        vec_loop
    }

    /// Four lanes where something has 32 bits and nothing has more.
    fn fitting_width(&self, lower: &Lower<'_, '_>) -> Width {
        let regs = self
            .steps
            .iter()
            .flat_map(|step| step.reads().into_iter().chain(step.assigns()))
            .chain(self.folds.iter().map(|fold| fold.src));
        let bytes: BTreeSet<usize> = regs.map(|reg| lower.dtype(reg).bytes()).collect();
        if bytes.contains(&4) && !bytes.contains(&8) { Width::Four } else { Width::Two }
    }

    fn fitting_block(&self) -> u64 {
        match (self.ordered, self.steps.len() < MANY) {
            (true, _) => LONGEST,
            (false, true) => PLAIN,
            (false, false) => u64::from(self.width.lanes()),
        }
    }

    /// Registers from outside are the same for all lanes.
    fn read_outside(&mut self, lower: &mut Lower<'k, '_>, body: &[Stmt]) {
        let mut assigned = BTreeSet::from([self.index]);
        let mut read: Vec<Reg> = self.folds.iter().map(|fold| fold.src).collect();
        let of = |address: &Address| -> Vec<Reg> {
            address.terms.iter().map(|&(reg, _)| reg).chain([address.base]).collect()
        };
        for stmt in body {
            match form_of(stmt) {
                Form::Literal { dst, .. } => drop(assigned.insert(dst)),
                Form::Let { dst, args, .. } => {
                    assigned.insert(dst);
                    read.extend(args);
                }
                Form::Load { dst, from } => {
                    assigned.insert(dst);
                    read.extend(of(from));
                }
                Form::Store { to, src } => {
                    read.extend(of(to));
                    read.push(src);
                }
                Form::OrderedScatter(turns) => turns.iter().for_each(|turn| {
                    read.extend(of(&turn.to));
                    read.push(turn.src);
                }),
            }
        }
        for reg in read {
            if !assigned.contains(&reg) {
                self.uniform.entry(reg).or_insert_with(|| lower.get(reg));
            }
        }
    }

    /// Whether a statement gives the same in every step, so that it can come before the loop.
    fn hoists(&self, stmt: &Stmt, stores: bool) -> bool {
        match form_of(stmt) {
            Form::Literal { .. } => true,
            Form::Let { args, .. } => args.iter().all(|&arg| self.is_uniform(arg)),
            // No step reads what another writes; so when there are several, what all read is written by none.
            Form::Load { from, .. } => {
                let invariant = from.terms.iter().all(|&(reg, stride)| stride == 0 || self.is_uniform(reg));
                invariant && (self.count > 1 || !stores)
            }
            Form::Store { .. } | Form::OrderedScatter(_) => false,
        }
    }

    fn hoist(&mut self, lower: &mut Lower<'k, '_>, stmt: &'k Stmt) {
        let (dst, value) = match form_of(stmt) {
            Form::Literal { dst, bits } => (dst, lower.literal(lower.dtype(dst), bits)),
            Form::Let { dst, op: Some(op), args } => {
                let ty = lower.dtype(args[args.len() - 1]);
                let args: Vec<Value> = args.iter().map(|&arg| self.uniform(arg)).collect();
                (dst, lower.compute(Width::One, op, ty, &args))
            }
            Form::Let { dst, op: None, args } => (dst, self.uniform(args[0])),
            Form::Load { dst, from } => {
                let access = Access::new(lower, self, lower.dtype(dst), from);
                let zero = lower.integer(0);
                (dst, access.load(lower, self, &Lanes::new(zero, &[Part { width: Width::One, lane: 0 }]), 0))
            }
            Form::Store { .. } | Form::OrderedScatter(_) => panic!("writes are not hoisted"),
        };
        self.uniform.insert(dst, value);
    }

    fn keep(&mut self, lower: &mut Lower<'k, '_>, stmt: &'k Stmt) {
        let step = match form_of(stmt) {
            Form::Literal { .. } => panic!("literals are hoisted"),
            Form::Let { dst, op: None, args } => Step::Move { dst, src: args[0] },
            Form::Let { dst, op: Some(Scalar::Call(function)), args } => Step::Call { dst, function, args },
            Form::Let { dst, op: Some(op), args } => {
                Step::Compute { dst, op, ty: lower.dtype(args[args.len() - 1]), args }
            }
            Form::Load { dst, from } => {
                Step::Load { dst, access: Access::new(lower, self, lower.dtype(dst), from), from }
            }
            Form::Store { to, src } => Step::Store { access: Access::new(lower, self, lower.dtype(src), to), src },
            Form::OrderedScatter(turns) => {
                let pairs = pairs::of_turns(turns, |turn| lower.dtype(turn.src));
                let mut access = |(k, after): (usize, Option<usize>)| {
                    let turn = &turns[k];
                    (Access::new(lower, self, lower.dtype(turn.src), &turn.to), turn, after.map(|after| &turns[after]))
                };
                Step::OrderedScatter(pairs.into_iter().map(&mut access).collect())
            }
        };
        self.steps.push(step);
    }

    /// Loads of numbers side by side become one, where the first of them is. Stages of loops that call functions load
    /// again what they need, number by number.
    fn pair_loads(&mut self) {
        if self.has_calls() {
            return;
        }
        let written = self.steps.iter().position(|step| matches!(step, Step::Store { .. })).unwrap_or(self.steps.len());
        let rest = self.steps.split_off(written);
        self.steps = pairs::merged(&self.steps, Step::row, |dst, access| Step::LoadBoth { dst, access });
        self.steps.extend(rest);
    }

    /// Products that are added to something and whose second factor is not read again, while the first is: the machine
    /// overwrites the first, which else would be copied. In long bodies, what counts is the order in which
    /// Cranelift computes, which is that of operands.
    fn exchanged(&self) -> BTreeSet<Reg> {
        if self.steps.len() >= MANY {
            return BTreeSet::new();
        }
        let mut last: BTreeMap<Reg, usize> = BTreeMap::new();
        for (k, step) in self.steps.iter().enumerate() {
            last.extend(step.reads().into_iter().map(|reg| (reg, k)));
        }
        last.extend(self.folds.iter().map(|fold| (fold.src, usize::MAX)));
        let fma = |(k, step): (usize, &Step<'_>)| {
            let Step::Compute { dst, op: Scalar::Fma, args, .. } = step else { return None };
            let dies = |reg: Reg| !self.is_uniform(reg) && reg != self.index && last[&reg] == k;
            (dies(args[1]) && !dies(args[0])).then_some(*dst)
        };
        self.steps.iter().enumerate().filter_map(fma).collect()
    }

    pub(super) fn has_calls(&self) -> bool {
        self.steps.iter().any(|step| matches!(step, Step::Call { .. }))
    }

    /// Flags of loads. Where a loop only adds to memory, which it reads nowhere else, Cranelift may put a load next to
    /// where it is used, so that what it loads does not wait in registers that there are not. The address depends
    /// on the index of the loop, so that no load is taken for one of another step or leaves the loop.
    pub(super) fn load_flags(&self, lower: &Lower<'_, '_>, lanes: &Lanes<'_>) -> MemFlagsData {
        let in_loop = matches!(lower.builder.func.dfg.value_def(lanes.index), ValueDef::Param(..));
        if in_loop && self.only_adds() { FLAGS.with_readonly().with_can_move() } else { FLAGS }
    }

    /// Whether nothing is written but in turn.
    fn only_adds(&self) -> bool {
        !self.steps.iter().any(|step| matches!(step, Step::Store { .. }))
            && matches!(self.steps.last(), Some(Step::OrderedScatter(_)))
    }

    pub(super) fn is_uniform(&self, reg: Reg) -> bool {
        self.uniform.contains_key(&reg)
    }

    /// A value that is the same for all lanes, as scalar code holds it.
    pub(super) fn uniform(&self, reg: Reg) -> Value {
        *self.uniform.get(&reg).expect("verified: registers are assigned before they are read")
    }

    /// The sum of a pointer and scaled registers that are the same for all steps.
    pub(super) fn base(&mut self, lower: &mut Lower<'_, '_>, pointer: Reg, terms: Vec<(Reg, i64)>) -> Value {
        let key = (pointer, terms);
        if let Some(base) = self.bases.get(&key) {
            return *base;
        }
        let base = key
            .1
            .iter()
            .fold(self.uniform(pointer), |base, &(reg, bytes)| lower.add_scaled(base, self.uniform(reg), bytes));
        self.bases.insert(key, base);
        base
    }

    /// Part `k` of a register.
    pub(super) fn value(&self, lower: &mut Lower<'_, '_>, lanes: &Lanes<'_>, reg: Reg, k: usize) -> Value {
        if let Some(values) = lanes.values.get(&reg) {
            return values[k];
        }
        let part = lanes.parts[k];
        if reg != self.index {
            return lower.widen(part.width, lower.dtype(reg), self.uniform(reg));
        }
        let first = u64::from(part.lane);
        match part.width {
            Width::One => lower.builder.ins().iadd_imm_s(lanes.index, i64::from(part.lane)),
            Width::Two => {
                let (index, lanes) = (
                    lower.widen(Width::Two, DType::I64, lanes.index),
                    lower.vector_of(types::I64X2, [first, first + 1]),
                );
                lower.builder.ins().iadd(index, lanes)
            }
            Width::Four => panic!("a loop that reads its index has lanes of 64 bits"),
        }
    }

    fn clear_totals(&self, lower: &mut Lower<'_, '_>) {
        for (fold, &total) in self.folds.iter().zip(&self.totals) {
            let unit = lower.unit(fold);
            lower.builder.def_var(total, unit);
        }
    }

    /// The whole loop: blocks, what remains, and reductions.
    fn emit(&self, lower: &mut Lower<'k, '_>, strips: Option<&Strips>) {
        let main = if self.has_calls() && strips.is_none() { 0 } else { self.count / self.block * self.block };
        if !self.ordered || self.count <= CHUNK {
            self.clear_partials(lower);
            if main > 0 {
                let (start, end) = (lower.integer(0), lower.integer(main.cast_signed()));
                self.blocks(lower, strips, start, end, main);
            }
        } else {
            self.chunks(lower, strips, main);
        }
        self.remainder(lower, main);
        self.add_partials(lower);
    }

    /// All chunks of a reduction; the partials of the last are left, because remaining steps may add to them.
    fn chunks(&self, lower: &mut Lower<'k, '_>, strips: Option<&Strips>, main: u64) {
        let last = (self.count - 1) / CHUNK * CHUNK;
        let start = lower.builder.declare_var(types::I64);
        let zero = lower.integer(0);
        lower.builder.def_var(start, zero);
        let [chunk, work, done, again, after] = [(); 5].map(|()| lower.builder.create_block());
        lower.builder.ins().jump(chunk, &[]);
        lower.builder.switch_to_block(chunk);
        self.clear_partials(lower);
        let from = lower.builder.use_var(start);
        let to = lower.builder.ins().iadd_imm_s(from, CHUNK.cast_signed());
        let bound = lower.integer(main.cast_signed());
        let to = lower.builder.ins().smin(to, bound);
        // The last chunk may consist of remaining steps only.
        let some = lower.builder.ins().icmp(IntCC::SignedLessThan, from, to);
        lower.builder.ins().brif(some, work, &[], done, &[]);
        lower.continue_at(work);
        self.blocks(lower, strips, from, to, CHUNK);
        lower.builder.ins().jump(done, &[]);
        lower.continue_at(done);
        let more = lower.builder.ins().icmp_imm_s(IntCC::SignedLessThan, from, last.cast_signed());
        lower.builder.ins().brif(more, again, &[], after, &[]);
        lower.continue_at(again);
        self.add_partials(lower);
        let next = lower.builder.ins().iadd_imm_s(from, CHUNK.cast_signed());
        lower.builder.def_var(start, next);
        lower.builder.ins().jump(chunk, &[]);
        lower.builder.seal_block(chunk);
        lower.continue_at(after);
    }

    /// Whole blocks of steps from `start` to `end`, at least one and at most `most` steps.
    fn blocks(&self, lower: &mut Lower<'k, '_>, strips: Option<&Strips>, start: Value, end: Value, most: u64) {
        if let Some(strips) = strips {
            strips.emit(lower, self, start, end);
        } else if most == self.block {
            self.parts_at(lower, start);
        } else {
            every(lower, start, end, self.block, |lower, index| self.parts_at(lower, index));
        }
    }

    /// One block of steps.
    fn parts_at(&self, lower: &mut Lower<'k, '_>, index: Value) {
        for part in self.parts() {
            self.straight(lower, index, &[part]);
        }
    }

    /// The steps from `main` on, as straight code.
    fn remainder(&self, lower: &mut Lower<'k, '_>, main: u64) {
        let count = u32::try_from(self.count - main).expect("less than a block remains");
        if count == 0 {
            return;
        }
        let lanes = self.width.lanes();
        let mut parts: Vec<Part> = (0..count / lanes).map(|k| Part { width: self.width, lane: lanes * k }).collect();
        parts.extend((count / lanes * lanes..count).map(|lane| Part { width: Width::One, lane }));
        let index = lower.integer(main.cast_signed());
        // A call takes all lanes at once.
        let together = if self.has_calls() { parts.len() } else { 1 };
        for group in parts.chunks(together) {
            self.straight(lower, index, group);
        }
    }

    /// All statements and reductions, for some parts of the block at `index`.
    fn straight(&self, lower: &mut Lower<'k, '_>, index: Value, parts: &[Part]) {
        let mut lanes = Lanes::new(index, parts);
        for step in &self.steps {
            self.step(lower, &mut lanes, step);
        }
        for k in 0..self.folds.len() {
            self.add_to_partials(lower, &lanes, k);
        }
    }

    /// One statement, for all parts.
    pub(super) fn step(&self, lower: &mut Lower<'_, '_>, lanes: &mut Lanes<'_>, step: &Step<'_>) {
        let parts = 0..lanes.parts.len();
        match step {
            Step::Compute { dst, op, ty, args } => {
                let values = parts.map(|k| {
                    let mut args: Vec<Value> = args.iter().map(|&arg| self.value(lower, lanes, arg, k)).collect();
                    if self.exchanged.contains(dst) {
                        args.swap(0, 1);
                    }
                    lower.compute(lanes.parts[k].width, *op, *ty, &args)
                });
                let values = values.collect();
                lanes.set(*dst, values);
            }
            Step::Call { dst, function, args } => {
                let values = self.call(lower, lanes, *function, args);
                lanes.set(*dst, values);
            }
            Step::Move { dst, src } => {
                let values = parts.map(|k| self.value(lower, lanes, *src, k)).collect();
                lanes.set(*dst, values);
            }
            Step::Load { dst, access, .. } => {
                let values = parts.map(|k| access.load(lower, self, lanes, k)).collect();
                lanes.set(*dst, values);
            }
            Step::LoadBoth { dst, access } => {
                let both: Vec<[Value; 2]> = parts.map(|k| access.load_both(lower, self, lanes, k)).collect();
                for (half, dst) in dst.iter().enumerate() {
                    dst.map(|dst| lanes.set(dst, both.iter().map(|both| both[half]).collect()));
                }
            }
            Step::Store { access, src } => {
                for k in parts {
                    let value = self.value(lower, lanes, *src, k);
                    access.store(lower, self, lanes, k, value);
                }
            }
            Step::OrderedScatter(turns) => {
                for k in parts {
                    (0..lanes.parts[k].width.lanes()).for_each(|lane| self.turns(lower, lanes, turns, k, lane));
                }
            }
        }
    }

    /// Writes of one step.
    fn turns(
        &self,
        lower: &mut Lower<'_, '_>,
        lanes: &Lanes<'_>,
        turns: &[(Access, &OrderedWrite, Option<&OrderedWrite>)],
        k: usize,
        lane: u32,
    ) {
        let width = lanes.parts[k].width;
        for (access, turn, after) in turns {
            let value = self.value(lower, lanes, turn.src, k);
            let (at, offset) = access.lane(lower, self, lanes, k, lane);
            match (after, width) {
                (None, _) => {
                    let new = access.lane_of(lower, width, value, lane);
                    lower.turn(Width::One, turn.op, access.ty, (at, offset), new);
                }
                (Some(after), Width::One) => {
                    let next = self.value(lower, lanes, after.src, k);
                    lower.turn(Width::One, turn.op, access.ty, (at, offset), value);
                    lower.turn(Width::One, turn.op, access.ty, (at, offset + BYTES), next);
                }
                (Some(after), Width::Two | Width::Four) => {
                    let next = self.value(lower, lanes, after.src, k);
                    let both = lower.exchanged(value, next)[lane as usize];
                    lower.turn(Width::Two, turn.op, access.ty, (at, offset), both);
                }
            }
        }
    }

    /// A function of a few lanes, through memory.
    fn call(&self, lower: &mut Lower<'_, '_>, lanes: &Lanes<'_>, function: LaneFunction, args: &[Reg]) -> Vec<Value> {
        if let [Part { width: Width::One, .. }] = lanes.parts {
            let args: Vec<Value> = args.iter().map(|&arg| self.value(lower, lanes, arg, 0)).collect();
            return vec![lower.call(Import::One(function), &args).expect("it returns a number")];
        }
        let slot = lower.few_lanes();
        let place = |part: &Part| 8 * part.lane.cast_signed();
        let mut operands = Vec::new();
        for (&arg, offset) in args.iter().zip((0..).step_by(FEW_BYTES as usize)) {
            let buffer = lower.builder.ins().stack_addr(types::I64, slot, offset);
            for (k, part) in lanes.parts.iter().enumerate() {
                let x = self.value(lower, lanes, arg, k);
                lower.builder.ins().store(FLAGS, x, buffer, place(part));
            }
            operands.push(buffer);
        }
        // The result replaces the first argument.
        let target = operands[0];
        let count = lower.integer(lanes.parts.iter().map(|part| i64::from(part.width.lanes())).sum());
        operands.extend([target, count]);
        lower.call(Import::Block(function), &operands);
        lanes
            .parts
            .iter()
            .map(|part| lower.builder.ins().load(part.width.native(DType::F64), FLAGS, target, place(part)))
            .collect()
    }

    /// The parts of a block. They are computed one after the other: the processor looks ahead far enough to work on
    /// several at once, and Cranelift, which computes as late as it can, would hold what all of them load in
    /// registers that there are not.
    pub(super) fn parts(&self) -> impl Iterator<Item = Part> + use<> {
        let (width, lanes) = (self.width, self.width.lanes());
        (0..self.block as u32 / lanes).map(move |k| Part { width, lane: lanes * k })
    }

    fn clear_partials(&self, lower: &mut Lower<'_, '_>) {
        for (fold, partials) in self.folds.iter().zip(&self.partials) {
            let unit = lower.unit(fold);
            let vector = lower.widen(self.width, lower.dtype(fold.src), unit);
            partials.iter().for_each(|&partial| lower.builder.def_var(partial, vector));
        }
    }

    /// Combines the lanes of a reduction with its partials, in the order of steps.
    pub(super) fn add_to_partials(&self, lower: &mut Lower<'_, '_>, lanes: &Lanes<'_>, k: usize) {
        let fold = &self.folds[k];
        let (ty, wide) = (lower.dtype(fold.src), self.width.lanes());
        for (p, part) in lanes.parts.iter().enumerate() {
            let value = self.value(lower, lanes, fold.src, p);
            let variable = self.partials[k][(part.lane / wide) as usize % self.partials[k].len()];
            let partial = lower.builder.use_var(variable);
            let combined = match part.width {
                Width::Two | Width::Four => lower.compute(part.width, fold.how.scalar(), ty, &[partial, value]),
                Width::One => {
                    let place = (part.lane % wide) as u8;
                    let lane = lower.lane(ty, partial, place);
                    let lane = lower.compute(Width::One, fold.how.scalar(), ty, &[lane, value]);
                    lower.with_lane(ty, partial, lane, place)
                }
            };
            lower.builder.def_var(variable, combined);
        }
    }

    /// Combines the partials of a chunk pairwise, and their result with the total.
    fn add_partials(&self, lower: &mut Lower<'_, '_>) {
        for ((partials, &total), fold) in self.partials.iter().zip(&self.totals).zip(self.folds) {
            let (op, ty) = (fold.how.scalar(), lower.dtype(fold.src));
            let vectors = partials.iter().map(|&partial| lower.builder.use_var(partial)).collect();
            // Partial l and l + lanes/2 are half the vectors apart, at last half the lanes of one.
            let wide = self.width.lanes();
            let vector = halves(lower, self.width, op, ty, LONGEST as usize / wide as usize, vectors);
            let lanes = (0..wide).map(|lane| lower.lane(ty, vector, lane as u8)).collect();
            let chunk = halves(lower, Width::One, op, ty, wide as usize, lanes);
            let old = lower.builder.use_var(total);
            let new = lower.compute(Width::One, op, ty, &[old, chunk]);
            lower.builder.def_var(total, new);
        }
    }
}

/// A loop from `start` to `end` by `step`, at least once.
pub(super) fn every<'k, 'b>(
    lower: &mut Lower<'k, 'b>,
    start: Value,
    end: Value,
    step: u64,
    body: impl FnOnce(&mut Lower<'k, 'b>, Value),
) {
    let variable = lower.builder.declare_var(types::I64);
    let (inside, after) = (lower.builder.create_block(), lower.builder.create_block());
    lower.builder.def_var(variable, start);
    lower.builder.ins().jump(inside, &[]);
    lower.builder.switch_to_block(inside);
    let index = lower.builder.use_var(variable);
    body(lower, index);
    let next = lower.builder.ins().iadd_imm_s(index, step.cast_signed());
    lower.builder.def_var(variable, next);
    let more = lower.builder.ins().icmp(IntCC::SignedLessThan, next, end);
    lower.builder.ins().brif(more, inside, &[], after, &[]);
    lower.builder.seal_block(inside);
    lower.continue_at(after);
}

/// Halves of `count` partials combined with each other until one is left. Those that are not there are units, which
/// change no partial: each of them began with the unit, so that no sum is -0.
fn halves(
    lower: &mut Lower<'_, '_>,
    width: Width,
    op: Scalar,
    ty: DType,
    mut count: usize,
    mut partials: Vec<Value>,
) -> Value {
    while count > 1 {
        count /= 2;
        for p in count..partials.len() {
            partials[p - count] = lower.compute(width, op, ty, &[partials[p - count], partials[p]]);
        }
        partials.truncate(count);
    }
    partials[0]
}

impl Lower<'_, '_> {
    /// `*at = op(*at, new)`.
    fn turn(&mut self, width: Width, op: Option<Scalar>, ty: DType, (at, offset): (Value, i32), new: Value) {
        let new = match op {
            None => new,
            Some(op) => {
                let old = self.builder.ins().load(width.native(ty), FLAGS, at, offset);
                self.compute(width, op, ty, &[old, new])
            }
        };
        self.builder.ins().store(FLAGS, new, at, offset);
    }

    /// What a reduction starts from, as scalar code holds it.
    fn unit(&mut self, fold: &Fold) -> Value {
        let ty = self.dtype(fold.src);
        self.literal(ty, fold.how.identity(ty))
    }

    /// Room for the lanes of a remainder.
    fn few_lanes(&mut self) -> cranelift_codegen::ir::StackSlot {
        let data = StackSlotData::new(StackSlotKind::ExplicitSlot, 2 * FEW_BYTES, 4);
        *self.few.get_or_insert_with(|| self.builder.create_sized_stack_slot(data))
    }
}

/// What a vector loop may hold; a move is a `Let` without an op.
enum Form<'k> {
    Literal { dst: Reg, bits: u64 },
    Let { dst: Reg, op: Option<Scalar>, args: &'k [Reg] },
    Load { dst: Reg, from: &'k Address },
    Store { to: &'k Address, src: Reg },
    OrderedScatter(&'k [OrderedWrite]),
}

fn form_of(stmt: &Stmt) -> Form<'_> {
    match stmt {
        Stmt::Literal { dst, bits } => Form::Literal { dst: *dst, bits: *bits },
        Stmt::Let { dst, op, args } => Form::Let { dst: *dst, op: Some(*op), args },
        Stmt::Move { dst, src } => Form::Let { dst: *dst, op: None, args: std::slice::from_ref(src) },
        Stmt::Load { dst, from } => Form::Load { dst: *dst, from },
        Stmt::Store { to, src } => Form::Store { to, src: *src },
        Stmt::OrderedScatter(turns) => Form::OrderedScatter(turns),
        Stmt::Swap(..) | Stmt::Pointer { .. } | Stmt::Offset { .. } | Stmt::Copy { .. } | Stmt::Zero { .. } => {
            misplaced(stmt)
        }
        Stmt::For { .. } | Stmt::ForVec { .. } | Stmt::If { .. } | Stmt::Loop { .. } | Stmt::Leave => misplaced(stmt),
        Stmt::Spill { .. } | Stmt::Fetch { .. } => misplaced(stmt),
        Stmt::Start { .. }
        | Stmt::Next { .. }
        | Stmt::Call { .. }
        | Stmt::Part(_)
        | Stmt::ParallelFor { .. }
        | Stmt::Poll { .. } => misplaced(stmt),
        Stmt::Fault { .. } | Stmt::Probe { .. } => misplaced(stmt),
    }
}

fn misplaced(stmt: &Stmt) -> ! {
    panic!("verified: a vector loop holds only Literal, Let, Move, Load, Store and OrderedScatter, not {stmt:?}")
}
