//! The code of a vector loop in vectors of eight lanes: blocks, what each statement becomes, and reductions.

use std::collections::{BTreeMap, BTreeSet};

use cranelift_codegen::ir::Value;
use retrograd_compiler::ir::{DType, Scalar};
use retrograd_compiler::lower::kernel::Reg;

use super::acts::{Act, Acts};
use super::encode::{Assembler, Gpr, Instruction, Length, Mask, Op, Operand, Overwrites, Vector, fused};
use super::folds::Partials;
use super::lanes::reaches;
use super::registers::{Holder, Location, Pointer};
use super::table::{Combine, Form, Order, SIGN, combine};
use crate::cranelift::Lower;
use crate::cranelift::access::Access;
use crate::cranelift::vector::{Step, VecLoop};

/// Registers of vectors.
const VECTORS: usize = 32;

/// Lanes of a vector.
pub(super) const LANES: u32 = 8;

/// Bytes of a vector.
pub(super) const BYTES: i32 = 64;

/// The parameters of the function: where its words are, the first step, the one after the last.
pub(super) const WORDS: Gpr = Gpr(7);
pub(super) const INDEX: Gpr = Gpr(6);
const END: Gpr = Gpr(2);

/// Registers that the caller wants back.
const SAVED: [Gpr; 6] = [Gpr(3), Gpr(5), Gpr(12), Gpr(13), Gpr(14), Gpr(15)];

/// Those for addresses.
const POINTERS: [Gpr; 12] =
    [Gpr(0), Gpr(1), Gpr(8), Gpr(9), Gpr(10), Gpr(11), Gpr(3), Gpr(5), Gpr(12), Gpr(13), Gpr(14), Gpr(15)];

/// How many of them hold an address through the whole loop.
const LASTING: usize = 7;

/// Most words that the caller hands over.
const MOST_WORDS: usize = 128;

/// Most reductions, whose partials are in two registers each.
const MOST_FOLDS: usize = 6;

/// Where vectors are that registers do not hold: none lies in two cache lines.
const SLOTS_AT: i32 = (8 * (MOST_FOLDS + MOST_WORDS)).next_multiple_of(BYTES as usize) as i32;

/// Most reductions with truth values, of which there are fewer registers.
const MOST_TRUTHS: usize = 2;

/// The relation that holds where one of two numbers is NaN.
pub(super) const UNORDERED: u8 = 3;

/// The second of three bits where the third is set, else the first.
const SECOND_WHERE_THIRD: u8 = 0xd8;

/// The function of a loop.
pub(super) struct Written {
    pub(super) code: Vec<u8>,
    /// What the caller hands over, from [`words_at`] on.
    pub(super) words: Vec<Value>,
    /// Of memory at the first parameter: results of reductions, words, and what registers do not hold.
    pub(super) bytes: u64,
}

/// Where the result of a reduction is: a number, or a byte of truth values.
pub(super) fn result_at(fold: usize) -> i32 {
    8 * fold as i32
}

/// Where the words are, after the results.
pub(super) fn words_at(folds: usize) -> i32 {
    result_at(folds)
}

/// Offsets of lanes in memory.
pub(super) struct Row {
    /// What they are made of, besides the index of the loop times the stride.
    pub(super) terms: Vec<(Reg, i64)>,
    pub(super) stride: i64,
    pub(super) slot: i32,
}

pub(super) struct Body<'a, 'k, 'b> {
    pub(super) lower: &'a Lower<'k, 'b>,
    pub(super) vec_loop: &'a VecLoop<'k>,
    pub(super) acts: &'a Acts<'a, 'k>,
    pub(super) assembler: Assembler,
    pub(super) words: Vec<Value>,
    /// The acts that count.
    live: Vec<usize>,
    /// Those that read a value; one more for reductions.
    pub(super) uses: BTreeMap<Reg, Vec<usize>>,
    /// Negated numbers that only `fma` reads, with what is negated.
    negated: BTreeMap<Reg, Reg>,
    pub(super) position: usize,
    /// What the statement reads.
    pub(super) pinned: Vec<Reg>,
    pub(super) locations: BTreeMap<Reg, Location>,
    pub(super) vectors: [Holder; VECTORS],
    /// How many of them had something at once.
    pub(super) most_vectors: usize,
    pub(super) masks: [Holder; 8],
    pub(super) pointers: Vec<(Gpr, Option<Pointer>)>,
    pub(super) lasting: Vec<(Gpr, usize)>,
    /// General registers that were ever written.
    pub(super) touched: Vec<Gpr>,
    /// Numbers that all lanes share and that are in registers through the whole loop.
    pub(super) shared: BTreeMap<Reg, Vector>,
    pub(super) free_slots: Vec<i32>,
    pub(super) slots: i32,
    pub(super) rows: Vec<Row>,
    /// Which eight lanes of the block.
    pub(super) part: u32,
    /// How many of them there are, and the mask of these where it is not all.
    pub(super) lanes: u32,
    pub(super) there: Option<Mask>,
}

/// The function of a loop, if every statement has a form.
pub(super) fn written(lower: &Lower<'_, '_>, vec_loop: &VecLoop<'_>) -> Option<Written> {
    let folds = vec_loop.folds.len();
    let combines: Vec<Combine> =
        vec_loop.folds.iter().map(|fold| combine(fold, lower.dtype(fold.src))).collect::<Option<_>>()?;
    let truths =
        combines.iter().filter(|combine| matches!(combine, Combine::Truths(..) | Combine::Extremes(..))).count();
    let acts = Acts::new(lower, vec_loop)?;
    if folds > MOST_FOLDS || truths > MOST_TRUTHS || !fits(lower, vec_loop, &acts) {
        return None;
    }
    // What registers are left over hold numbers that all lanes share, through the whole loop.
    let crowded = Body::new(lower, vec_loop, &acts).written(&combines, 0, &SAVED);
    let saved: Vec<Gpr> = SAVED.into_iter().filter(|register| crowded.touched.contains(register)).collect();
    let body = Body::new(lower, vec_loop, &acts).written(&combines, VECTORS - crowded.most_vectors, &saved);
    (body.words.len() <= MOST_WORDS).then(|| Written {
        code: body.assembler.finish(),
        words: body.words,
        bytes: body.slots as u64,
    })
}

/// Whether all acts are on values that have a form, each assigned once.
fn fits(lower: &Lower<'_, '_>, vec_loop: &VecLoop<'_>, acts: &Acts<'_, '_>) -> bool {
    let mut assigned = BTreeSet::new();
    let known = |reg: Reg| {
        acts.is_truth(reg).is_some()
            || match lower.dtype(reg) {
                DType::F64 | DType::I64 => true,
                // One truth value for all lanes has no form.
                DType::Bool => !vec_loop.is_uniform(reg),
                DType::F32 | DType::I32 => false,
            }
    };
    let regs = acts.list.iter().flat_map(|act| act.reads()).chain(vec_loop.folds.iter().map(|fold| fold.src));
    let once = acts
        .list
        .iter()
        .flat_map(|act| act.assigns())
        .all(|reg| assigned.insert(reg) && !vec_loop.is_uniform(reg) && known(reg));
    let mut regs = regs.filter(|&reg| reg != vec_loop.index);
    let formed = vec_loop.steps.iter().all(|step| match step {
        Step::Compute { .. } | Step::Call { .. } | Step::Move { .. } | Step::LoadBoth { .. } => true,
        Step::Load { access, .. } | Step::Store { access, .. } => {
            access.ty != DType::Bool && (access.is_apart() || access.stride != 0)
        }
        Step::OrderedScatter(turns) => turns.iter().all(|(access, turn, _)| match turn.op {
            None => access.ty != DType::Bool,
            Some(Scalar::Add) => access.ty == DType::F64,
            Some(_) => false,
        }),
    });
    once && formed
        && regs.all(known)
        && vec_loop.steps.iter().flat_map(Step::accesses).all(|access| reaches(access, 2 * u64::from(LANES)))
}

/// Negated numbers that only `fma` reads: it negates by itself.
fn negated(vec_loop: &VecLoop<'_>, acts: &Acts<'_, '_>) -> BTreeMap<Reg, Reg> {
    let mut negated: BTreeMap<Reg, Reg> = BTreeMap::new();
    for act in &acts.list {
        if let Act::Compute { dst, form: Form::WithConstant(Op::XOR, SIGN), args } = act {
            negated.insert(*dst, args[0]);
        }
    }
    let others = acts.list.iter().filter(|act| !matches!(act, Act::Compute { form: Form::Fused, .. }));
    for reg in others.flat_map(|act| act.reads()).chain(vec_loop.folds.iter().map(|fold| fold.src)) {
        negated.remove(&reg);
    }
    negated
}

/// The acts that write, and those that compute what is read.
fn live(vec_loop: &VecLoop<'_>, acts: &Acts<'_, '_>, negated: &BTreeMap<Reg, Reg>) -> Vec<usize> {
    let mut read: BTreeSet<Reg> = vec_loop.folds.iter().map(|fold| fold.src).collect();
    let mut live = vec![];
    for (position, act) in acts.list.iter().enumerate().rev() {
        let assigns = act.assigns();
        if assigns.is_empty() || assigns.iter().any(|dst| read.contains(dst) && !negated.contains_key(dst)) {
            read.extend(act.reads().into_iter().map(|reg| negated.get(&reg).copied().unwrap_or(reg)));
            live.push(position);
        }
    }
    live.reverse();
    live
}

fn uses(
    vec_loop: &VecLoop<'_>,
    acts: &Acts<'_, '_>,
    live: &[usize],
    negated: &BTreeMap<Reg, Reg>,
) -> BTreeMap<Reg, Vec<usize>> {
    let mut uses: BTreeMap<Reg, Vec<usize>> = BTreeMap::new();
    let mut rows = BTreeSet::new();
    for &position in live {
        let act = &acts.list[position];
        // The offsets of a row are computed where they are first read, and then lie in memory.
        let new = |access: &&Access| rows.insert((access.scattered.clone(), access.stride));
        let terms: Vec<Reg> = act
            .accesses()
            .into_iter()
            .filter(new)
            .flat_map(|access| access.scattered.iter().map(|&(reg, _)| reg))
            .collect();
        for reg in terms.into_iter().chain(act.operands()) {
            uses.entry(negated.get(&reg).copied().unwrap_or(reg)).or_default().push(position);
        }
    }
    for fold in vec_loop.folds {
        uses.entry(fold.src).or_default().push(acts.list.len());
    }
    uses
}

impl<'a, 'k, 'b> Body<'a, 'k, 'b> {
    fn new(lower: &'a Lower<'k, 'b>, vec_loop: &'a VecLoop<'k>, acts: &'a Acts<'a, 'k>) -> Body<'a, 'k, 'b> {
        let negated = negated(vec_loop, acts);
        let live = live(vec_loop, acts, &negated);
        Body {
            lower,
            vec_loop,
            acts,
            assembler: Assembler::default(),
            words: vec![],
            uses: uses(vec_loop, acts, &live, &negated),
            live,
            negated,
            position: 0,
            pinned: vec![],
            locations: BTreeMap::new(),
            vectors: [Holder::Free; VECTORS],
            most_vectors: 0,
            masks: [Holder::Free; 8],
            pointers: POINTERS.iter().map(|&register| (register, None)).collect(),
            lasting: vec![],
            touched: vec![],
            shared: BTreeMap::new(),
            free_slots: vec![],
            slots: SLOTS_AT,
            rows: vec![],
            part: 0,
            lanes: LANES,
            there: None,
        }
    }

    /// The whole function, with so many numbers in registers that all lanes share, and registers that it gives back as
    /// they were.
    fn written(mut self, combines: &[Combine], shared: usize, saved: &[Gpr]) -> Self {
        saved.iter().for_each(|&register| self.assembler.push(register));
        self.lasting_pointers();
        self.share(shared);
        self.masks[0] = Holder::Taken;
        let partials: Vec<Partials> = combines.iter().map(|&combine| self.begin_fold(combine)).collect();
        self.blocks(&partials);
        for (fold, &partials) in (0..).zip(&partials) {
            self.end_fold(fold, partials);
        }
        saved.iter().rev().for_each(|&register| self.assembler.pop(register));
        self.assembler.ret();
        self
    }

    /// Whole blocks, and the steps that remain after the last.
    fn blocks(&mut self, partials: &[Partials]) {
        let block = self.block().cast_signed();
        // While a whole block is there.
        self.assembler.add_constant(END, 1 - block);
        let first = self.assembler.jump();
        let top = self.assembler.label();
        for part in 0..self.block() / LANES {
            self.part = part;
            self.steps(partials);
        }
        self.assembler.add_constant(INDEX, block);
        self.assembler.land(first);
        self.assembler.while_less(INDEX, END, top);
        let remaining = (self.vec_loop.count % u64::from(self.block())) as u32;
        if remaining > 0 {
            self.assembler.add_constant(END, block - 1);
            let none = self.assembler.jump_unless_less(INDEX, END);
            self.remainder(remaining, partials);
            self.assembler.land(none);
        }
    }

    /// Steps of a block: one vector, or as many as there are partials.
    fn block(&self) -> u32 {
        if self.vec_loop.ordered { 2 * LANES } else { LANES }
    }

    /// Fewer steps than a block: lanes that are not there are computed from anything, and neither written nor reduced.
    fn remainder(&mut self, count: u32, partials: &[Partials]) {
        for part in 0..count.div_ceil(LANES) {
            (self.part, self.lanes) = (part, (count - part * LANES).min(LANES));
            if self.lanes < LANES {
                let (there, bits) = (self.take_mask(), self.assembler.constants(&[(1 << self.lanes) - 1]));
                self.assembler.load_mask(there, bits);
                self.there = Some(there);
            }
            self.steps(partials);
        }
    }

    /// The numbers that most acts read, of those that all lanes share, stay in registers.
    fn share(&mut self, most: usize) {
        let mut counts: Vec<(Reg, usize)> = self.uses.iter().map(|(&reg, uses)| (reg, uses.len())).collect();
        counts.retain(|&(reg, _)| self.is_uniform(reg));
        counts.sort_by_key(|&(_, count)| std::cmp::Reverse(count));
        for (reg, _) in counts.into_iter().take(most) {
            let (from, to) = (self.operand(reg), self.take());
            self.copy(to, from);
            self.shared.insert(reg, to);
        }
    }

    /// The addresses that most statements read stay in registers.
    fn lasting_pointers(&mut self) {
        let mut counts: Vec<(Value, usize)> = vec![];
        for access in self.vec_loop.steps.iter().flat_map(Step::accesses) {
            match counts.iter_mut().find(|(base, _)| *base == access.base) {
                Some((_, count)) => *count += 1,
                None => counts.push((access.base, 1)),
            }
        }
        counts.sort_by_key(|&(_, count)| std::cmp::Reverse(count));
        for (base, _) in counts.into_iter().take(LASTING) {
            let (word, (register, _)) = (self.word(base), self.pointers.remove(0));
            self.touched.push(register);
            let from = self.word_place(word);
            self.assembler.load_word(register, from);
            self.lasting.push((register, word));
        }
    }

    /// Eight steps.
    fn steps(&mut self, partials: &[Partials]) {
        let vec_loop = self.vec_loop;
        for k in 0..self.live.len() {
            let position = self.live[k];
            let act = &self.acts.list[position];
            self.position = position;
            self.pinned = act.reads();
            match act {
                Act::Compute { dst, form, args } => self.compute(*dst, *form, args),
                Act::Step(step) => self.step(step),
            }
            self.retire();
        }
        self.position = self.acts.list.len();
        self.pinned = vec_loop.folds.iter().map(|fold| fold.src).collect();
        for (fold, &partials) in vec_loop.folds.iter().zip(partials) {
            self.reduce(fold.src, partials);
        }
        self.retire();
        self.forget();
    }

    /// The next eight steps begin with nothing in registers.
    fn forget(&mut self) {
        let locations = std::mem::take(&mut self.locations);
        self.free_slots.extend(
            locations.values().filter_map(|location| location.slot).chain(self.rows.drain(..).map(|row| row.slot)),
        );
        for holder in self.vectors.iter_mut().chain(&mut self.masks) {
            if let Holder::Value(_) = holder {
                *holder = Holder::Free;
            }
        }
        self.pointers.iter_mut().for_each(|(_, holds)| *holds = None);
    }

    fn step(&mut self, step: &Step<'_>) {
        match step {
            Step::Compute { .. } | Step::Call { .. } => panic!("arithmetic has its form"),
            Step::Move { dst, src } if self.is_truth(*src) => {
                let from = self.mask(*src);
                let to = self.new_mask(*dst);
                self.assembler.copy_mask(to, from);
            }
            Step::Move { dst, src } => {
                let from = self.operand(*src);
                let to = self.take();
                self.copy(to, from);
                self.bind(*dst, to);
            }
            Step::Load { dst, access, .. } => self.load(*dst, access),
            Step::LoadBoth { dst, access } => {
                self.load_both(dst.map(|dst| dst.filter(|dst| self.uses.contains_key(dst))), access)
            }
            Step::Store { access, src } => self.store(access, *src),
            Step::OrderedScatter(turns) => self.in_turn(turns),
        }
    }

    fn compute(&mut self, dst: Reg, form: Form, args: &[Reg]) {
        match form {
            Form::Two(op, order) => {
                let held = |reg: Reg| self.locations.get(&reg).is_some_and(|location| location.register.is_some());
                let (a, b) = if order == Order::Any && held(args[1]) && !held(args[0]) {
                    (args[1], args[0])
                } else {
                    (args[0], args[1])
                };
                let (a, b) = (self.number(a), self.operand(b));
                self.result(op, dst, Some(a), b, None);
            }
            Form::WithConstant(op, bits) => {
                let (a, b) = (self.number(args[0]), self.assembler.constants(&[bits]));
                self.result(op, dst, Some(a), Operand::Same(b), None);
            }
            Form::One(op, immediate) => {
                let a = self.operand(args[0]);
                self.result(op, dst, None, a, immediate);
            }
            Form::Extreme(which) => self.extreme(which, dst, args[0], args[1]),
            Form::Fused => self.fused(dst, [args[0], args[1], args[2]]),
            Form::Compare(op, relation) => self.compare(op, relation, dst, args[0], args[1]),
            Form::IsNan => self.compare(Op::COMPARE, UNORDERED, dst, args[0], args[0]),
            Form::Masks(op) => {
                let (a, b) = (self.mask(args[0]), self.mask(args[1]));
                let to = self.new_mask(dst);
                self.assembler.masks(op, to, a, b);
            }
            Form::NotMask => {
                let a = self.mask(args[0]);
                let to = self.new_mask(dst);
                self.assembler.not_mask(to, a);
            }
            Form::Blend => {
                let (mask, other, chosen) = (self.mask(args[0]), self.number(args[2]), self.operand(args[1]));
                self.retire();
                let to = self.take();
                let blend = Instruction { mask: Some(mask), ..Instruction::long(Op::BLEND, to, Some(other), chosen) };
                self.assembler.instruction(blend);
                self.bind(dst, to);
            }
            Form::OfTruth(bits) => {
                let (mask, one, to) = (self.mask(args[0]), self.assembler.constants(&[bits]), self.take());
                let load = Instruction::long(Op::BROADCAST, to, None, Operand::Memory(one));
                self.assembler.instruction(Instruction { mask: Some(mask), clears: true, ..load });
                self.bind(dst, to);
            }
            Form::CopySign => self.copy_sign(dst, args[0], args[1]),
        }
    }

    /// The bits of one number but for the first, which is that of the other.
    fn copy_sign(&mut self, dst: Reg, magnitude: Reg, sign: Reg) {
        let (magnitude, sign, place) = (self.operand(magnitude), self.number(sign), self.assembler.constants(&[SIGN]));
        let to = self.take();
        self.copy(to, magnitude);
        let choose = Instruction::long(Op::BITS_OF_THREE, to, Some(sign), Operand::Same(place));
        self.assembler.instruction(Instruction { immediate: Some(SECOND_WHERE_THIRD), ..choose });
        self.bind(dst, to);
    }

    /// `dst = op(a, b)`, where what is read for the last time makes room for it.
    fn result(&mut self, op: Op, dst: Reg, a: Option<Vector>, b: Operand, immediate: Option<u8>) {
        self.retire();
        let to = self.take();
        self.assembler.instruction(Instruction { immediate, ..Instruction::long(op, to, a, b) });
        self.bind(dst, to);
    }

    /// The machine prefers numbers; where one is NaN, their sum is, too.
    fn extreme(&mut self, which: u8, dst: Reg, a: Reg, b: Reg) {
        let (a, b, to, nan) = (self.number(a), self.operand(b), self.take(), self.take_mask());
        self.assembler
            .instruction(Instruction { immediate: Some(which), ..Instruction::long(Op::RANGE, to, Some(a), b) });
        let compare = Instruction::long(Op::COMPARE, Vector(nan.0), Some(a), b);
        self.assembler.instruction(Instruction { immediate: Some(UNORDERED), ..compare });
        self.assembler.instruction(Instruction { mask: Some(nan), ..Instruction::long(Op::ADD, to, Some(a), b) });
        self.masks[nan.0 as usize] = Holder::Free;
        self.bind(dst, to);
    }

    fn compare(&mut self, op: Op, relation: u8, dst: Reg, a: Reg, b: Reg) {
        let (a, b) = (self.number(a), self.operand(b));
        let to = self.new_mask(dst);
        let compare = Instruction::long(op, Vector(to.0), Some(a), b);
        self.assembler.instruction(Instruction { immediate: Some(relation), ..compare });
    }

    /// `dst = a · b + c` overwrites one of the three; whom nobody reads again, or a copy.
    fn fused(&mut self, dst: Reg, args: [Reg; 3]) {
        let [na, nb, nc] = args.map(|reg| self.negated.contains_key(&reg));
        let [a, b, c] = args.map(|reg| self.negated.get(&reg).copied().unwrap_or(reg));
        self.pinned = vec![a, b, c];
        let negative = [na != nb, nc];
        let held = |body: &Self, reg: Reg| body.locations.get(&reg).is_some_and(|location| location.register.is_some());
        let dies = |body: &Self, reg: Reg| held(body, reg) && body.next_use(reg) == usize::MAX;
        let factor = [(a, b), (b, a)].into_iter().find(|&(x, _)| dies(self, x));
        let (x, y) = if held(self, a) || !held(self, b) { (a, b) } else { (b, a) };
        match (dies(self, c), factor) {
            (true, _) => {
                let (middle, last, to) = (self.number(x), self.operand(y), self.number(c));
                self.long(fused(Overwrites::Summand, negative), to, Some(middle), last);
                self.overwrite(c, dst);
            }
            (false, Some((x, y))) if held(self, c) && !held(self, y) => {
                let (to, middle, last) = (self.number(x), self.number(c), self.operand(y));
                self.long(fused(Overwrites::FactorAddsMiddle, negative), to, Some(middle), last);
                self.overwrite(x, dst);
            }
            (false, Some((x, y))) => {
                let (to, middle, last) = (self.number(x), self.number(y), self.operand(c));
                self.long(fused(Overwrites::FactorAddsLast, negative), to, Some(middle), last);
                self.overwrite(x, dst);
            }
            (false, None) => {
                let (middle, last, summand, to) = (self.number(x), self.operand(y), self.operand(c), self.take());
                self.copy(to, summand);
                self.long(fused(Overwrites::Summand, negative), to, Some(middle), last);
                self.bind(dst, to);
            }
        }
    }

    pub(super) fn copy(&mut self, to: Vector, from: Operand) {
        match from {
            Operand::Register(_) => self.long(Op::COPY, to, None, from),
            Operand::Memory(_) => self.long(Op::LOAD, to, None, from),
            Operand::Same(memory) => self.long(Op::BROADCAST, to, None, Operand::Memory(memory)),
        }
    }

    /// An instruction of whole vectors.
    pub(super) fn long(&mut self, op: Op, first: Vector, middle: Option<Vector>, last: Operand) {
        self.assembler.instruction(Instruction::long(op, first, middle, last));
    }
}

impl Instruction {
    /// Of whole vectors.
    pub(super) fn long(op: Op, first: Vector, middle: Option<Vector>, last: Operand) -> Instruction {
        Instruction {
            op,
            length: Length::Long,
            first: first.0,
            middle,
            last,
            mask: None,
            clears: false,
            immediate: None,
        }
    }

    /// Of two numbers, or one.
    pub(super) fn short(op: Op, first: Vector, middle: Option<Vector>, last: Operand) -> Instruction {
        Instruction { length: Length::Short, ..Instruction::long(op, first, middle, last) }
    }
}
