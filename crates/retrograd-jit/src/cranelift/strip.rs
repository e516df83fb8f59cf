//! Vector loops with transcendentals: strip by strip, through precompiled blocks.
//!
//! The loop is cut into strips of a few hundred steps and its body into *stages*, so that the calls of a stage need
//! only what it or earlier stages computed. Each stage is a vector loop of its own over the strip; then its calls run
//! over whole strips. What a later stage needs passes through buffers on the stack, unless it can be loaded from memory
//! again. A call reads an argument from memory directly when it was only loaded, and writes its result there when it is
//! only stored.

use std::collections::{BTreeMap, BTreeSet};

use cranelift_codegen::ir::{InstBuilder, StackSlotData, StackSlotKind, Value, types};
use retrograd_compiler::ir::LaneFunction;
use retrograd_compiler::lower::kernel::Reg;

use super::Lower;
use super::access::Access;
use super::vector::{Lanes, Step, VecLoop, every};
use crate::runtime::Import;

/// Bytes of a cache line.
const LINE_BYTES: u64 = 64;

/// The body of a vector loop, cut into stages.
#[derive(Debug, Default)]
pub(super) struct Strips {
    stages: Vec<Stage>,
    /// How many buffers there are.
    buffers: usize,
}

/// A loop over the strip, and the calls after it. Statements are numbers of the loop's steps.
#[derive(Clone, Debug, Default)]
struct Stage {
    /// Loads of earlier stages, done again.
    reloads: Vec<usize>,
    /// Values of earlier stages.
    inputs: Vec<(Reg, usize)>,
    steps: Vec<usize>,
    /// Values for later stages and for calls.
    outputs: Vec<(Reg, usize)>,
    /// Numbers of reductions.
    folds: Vec<usize>,
    calls: Vec<Call>,
}

/// A function applied to a strip.
#[derive(Clone, Debug)]
struct Call {
    function: LaneFunction,
    sources: Vec<Strip>,
    target: Strip,
}

/// Where a call reads or writes.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Strip {
    Buffer(usize),
    /// Where a step loads or stores.
    Memory(usize),
}

impl Strips {
    /// Decides what happens in which stage.
    pub(super) fn new(vec_loop: &VecLoop<'_>) -> Strips {
        let facts = Facts::new(vec_loop);
        let mut strips = Strips { stages: vec![Stage::default(); facts.stages], buffers: 0 };
        let mut buffers = Buffers::default();
        for number in 0..facts.stages {
            strips.stages[number] = stage(vec_loop, &facts, number, &mut buffers);
            buffers.release(number, &facts);
        }
        strips.buffers = buffers.made;
        strips
    }

    /// All strips from `start` to `end`, which are whole blocks apart.
    pub(super) fn emit<'k>(&self, lower: &mut Lower<'k, '_>, vec_loop: &VecLoop<'k>, start: Value, end: Value) {
        let bytes = 8 * self.steps();
        let scratch = lower.scratch_for_strips(self.buffers as u64 * bytes);
        let place = |k: u64| lower.builder.ins().iadd_imm_s(scratch, (k * bytes).cast_signed());
        let buffers: Vec<Value> = (0..self.buffers as u64).map(place).collect();
        every(lower, start, end, self.steps(), |lower, from| {
            let to = lower.builder.ins().iadd_imm_s(from, self.steps().cast_signed());
            let to = lower.builder.ins().smin(to, end);
            for stage in &self.stages {
                stage.emit_loop(lower, vec_loop, &buffers, from, to);
                stage.emit_calls(lower, vec_loop, &buffers, from, to);
            }
        });
    }

    /// Steps of a strip: fewer when there are many buffers, so that all stay in the fastest cache. A chunk of a sum is
    /// a whole number of strips, and a strip of blocks.
    fn steps(&self) -> u64 {
        match self.buffers {
            0..=12 => 256,
            13..=24 => 128,
            _ => 64,
        }
    }
}

impl Lower<'_, '_> {
    /// The address of so many bytes of the stack frame, at the beginning of a cache line. All vector loops share one
    /// stack slot, as large as the largest needs.
    pub(super) fn scratch_for_strips(&mut self, bytes: u64) -> Value {
        let data = StackSlotData::new(StackSlotKind::ExplicitSlot, 0, 4);
        let slot = *self.strips.get_or_insert_with(|| self.builder.create_sized_stack_slot(data));
        let size = &mut self.builder.func.sized_stack_slots[slot].size;
        *size = u32::try_from(bytes + LINE_BYTES).expect("a stack frame fits 4 GB").max(*size);
        let at = self.builder.ins().stack_addr(types::I64, slot, 0);
        let at = self.builder.ins().iadd_imm_s(at, LINE_BYTES.cast_signed() - 1);
        self.builder.ins().band_imm_s(at, -LINE_BYTES.cast_signed())
    }
}

impl Stage {
    fn emit_loop<'k>(
        &self,
        lower: &mut Lower<'k, '_>,
        vec_loop: &VecLoop<'k>,
        buffers: &[Value],
        from: Value,
        to: Value,
    ) {
        if self.steps.is_empty() && self.folds.is_empty() && self.outputs.is_empty() {
            return;
        }
        let before = lower.builder.ins().imul_imm_s(from, -8);
        let at_zero: Vec<Value> = buffers.iter().map(|&buffer| lower.builder.ins().iadd(buffer, before)).collect();
        every(lower, from, to, vec_loop.block, |lower, index| {
            for part in vec_loop.parts() {
                let parts = [part];
                let mut lanes = Lanes::new(index, &parts);
                for &(reg, buffer) in &self.inputs {
                    let access = Access::buffer(lower.dtype(reg), at_zero[buffer]);
                    let values = (0..parts.len()).map(|k| access.load_lanes(lower, &lanes, k)).collect();
                    lanes.set(reg, values);
                }
                for &step in self.reloads.iter().chain(&self.steps) {
                    vec_loop.step(lower, &mut lanes, &vec_loop.steps[step]);
                }
                for &(reg, buffer) in &self.outputs {
                    let access = Access::buffer(lower.dtype(reg), at_zero[buffer]);
                    for k in 0..parts.len() {
                        let value = vec_loop.value(lower, &lanes, reg, k);
                        access.store_lanes(lower, &lanes, k, value);
                    }
                }
                for &fold in &self.folds {
                    vec_loop.add_to_partials(lower, &lanes, fold);
                }
            }
        });
    }

    fn emit_calls(&self, lower: &mut Lower<'_, '_>, vec_loop: &VecLoop<'_>, buffers: &[Value], from: Value, to: Value) {
        for call in &self.calls {
            let count = lower.builder.ins().isub(to, from);
            let strips = call.sources.iter().chain([&call.target]).map(|strip| match strip {
                Strip::Buffer(buffer) => buffers[*buffer],
                Strip::Memory(step) => {
                    access_of(&vec_loop.steps[*step]).expect("a load or a store").address_of(lower, from)
                }
            });
            let operands: Vec<Value> = strips.chain([count]).collect();
            lower.call(Import::Block(call.function), &operands);
        }
    }
}

/// What decides over stages, stated once for the whole body.
struct Facts {
    stages: usize,
    /// Stage of each step.
    of_step: Vec<usize>,
    /// Stage from which on a value can be read.
    ready: BTreeMap<Reg, usize>,
    /// Stages whose loops read a value, and, in `calls`, those whose calls do.
    reads: BTreeMap<Reg, BTreeSet<usize>>,
    calls: BTreeMap<Reg, BTreeSet<usize>>,
    /// The step that loads a value.
    loads: BTreeMap<Reg, usize>,
    /// The first stage that stores anything.
    first_store: usize,
    /// A call that writes what is only stored: its step and the step of the store.
    direct: Option<(usize, usize)>,
}

impl Facts {
    fn new(vec_loop: &VecLoop<'_>) -> Facts {
        let mut facts = Facts {
            stages: 0,
            of_step: Vec::new(),
            ready: BTreeMap::new(),
            reads: BTreeMap::new(),
            calls: BTreeMap::new(),
            loads: BTreeMap::new(),
            first_store: usize::MAX,
            direct: None,
        };
        facts.place(vec_loop);
        facts.direct = facts.find_direct(vec_loop);
        if facts.direct.is_some() {
            facts.stages -= 1;
        }
        facts
    }

    /// The earliest stage of each step; accesses to memory keep their order wherever one of them is a store.
    fn place(&mut self, vec_loop: &VecLoop<'_>) {
        let (mut last_store, mut last_access) = (0, 0);
        for (number, step) in vec_loop.steps.iter().enumerate() {
            let mut stage = step.reads().iter().filter_map(|reg| self.ready.get(reg)).copied().max().unwrap_or(0);
            match step {
                Step::Load { dst, .. } => {
                    stage = stage.max(last_store);
                    last_access = last_access.max(stage);
                    self.loads.insert(*dst, number);
                }
                Step::Store { .. } | Step::OrderedScatter(_) => {
                    stage = stage.max(last_access);
                    (last_store, last_access) = (stage, stage);
                    self.first_store = self.first_store.min(stage);
                }
                Step::LoadBoth { .. } => panic!("loops that call functions load number by number"),
                Step::Compute { .. } | Step::Call { .. } | Step::Move { .. } => {}
            }
            let is_call = matches!(step, Step::Call { .. });
            for reg in step.reads() {
                let uses = if is_call { &mut self.calls } else { &mut self.reads };
                uses.entry(reg).or_default().insert(stage);
            }
            for dst in step.assigns() {
                self.ready.insert(dst, stage + usize::from(is_call));
            }
            self.of_step.push(stage);
            self.stages = self.stages.max(stage + 1);
        }
        for fold in vec_loop.folds {
            let stage = self.ready.get(&fold.src).copied().unwrap_or(0);
            self.reads.entry(fold.src).or_default().insert(stage);
            self.stages = self.stages.max(stage + 1);
        }
    }

    /// A store that is all the last stage does, of what a call of the stage before computed: then the call does it. It
    /// comes after all that the stage before reads, as the store would.
    fn find_direct(&self, vec_loop: &VecLoop<'_>) -> Option<(usize, usize)> {
        let last = self.stages - 1;
        let mut in_last = (0..vec_loop.steps.len()).filter(|&number| self.of_step[number] == last);
        let store = in_last.next().filter(|_| in_last.next().is_none())?;
        let Step::Store { access, src } = &vec_loop.steps[store] else { return None };
        let summed = vec_loop.folds.iter().any(|fold| self.ready.get(&fold.src) == Some(&last));
        let call = vec_loop.steps.iter().position(|step| matches!(step, Step::Call { dst, .. } if dst == src))?;
        (access.is_contiguous_f64() && !summed && self.of_step[call] + 1 == last).then_some((call, store))
    }

    /// Whether the loop of a stage can load a value again: no store has happened, and the address is at hand.
    fn reloads(&self, vec_loop: &VecLoop<'_>, reg: Reg, stage: usize) -> Option<usize> {
        let load = *self.loads.get(&reg)?;
        let simple = access_of(&vec_loop.steps[load])?.scattered.is_empty();
        (simple && stage <= self.first_store).then_some(load)
    }

    /// Whether the calls of a stage can read a value where it was loaded from.
    fn direct_source(&self, vec_loop: &VecLoop<'_>, reg: Reg, stage: usize) -> Option<usize> {
        let load = *self.loads.get(&reg)?;
        (access_of(&vec_loop.steps[load])?.is_contiguous_f64() && stage < self.first_store).then_some(load)
    }

    /// Whether a value that the loop of its stage computes must be written to a buffer.
    fn is_buffered(&self, vec_loop: &VecLoop<'_>, reg: Reg, stage: usize) -> bool {
        let later = self.reads.get(&reg).is_some_and(|stages| {
            stages.iter().any(|&reader| reader > stage && self.reloads(vec_loop, reg, reader).is_none())
        });
        let called = self
            .calls
            .get(&reg)
            .is_some_and(|stages| stages.iter().any(|&caller| self.direct_source(vec_loop, reg, caller).is_none()));
        later || called
    }

    /// The last stage that reads a value.
    fn last_use(&self, reg: Reg) -> usize {
        let stages = |uses: &BTreeMap<Reg, BTreeSet<usize>>| {
            uses.get(&reg).and_then(|stages| stages.last().copied()).unwrap_or(0)
        };
        stages(&self.reads).max(stages(&self.calls))
    }
}

/// Which buffer holds what, while stages are laid out in order.
#[derive(Default)]
struct Buffers {
    of: BTreeMap<Reg, usize>,
    free: Vec<usize>,
    made: usize,
}

impl Buffers {
    fn take(&mut self, reg: Reg) -> usize {
        let buffer = self.free.pop().unwrap_or_else(|| {
            self.made += 1;
            self.made - 1
        });
        self.of.insert(reg, buffer);
        buffer
    }

    /// Frees what no later stage reads.
    fn release(&mut self, stage: usize, facts: &Facts) {
        let dead: Vec<Reg> = self.of.keys().copied().filter(|&reg| facts.last_use(reg) <= stage).collect();
        for reg in dead {
            self.free.extend(self.of.remove(&reg));
        }
    }
}

/// Lays out one stage.
fn stage(vec_loop: &VecLoop<'_>, facts: &Facts, number: usize, buffers: &mut Buffers) -> Stage {
    let mut stage = Stage::default();
    let (mut wanted, mut uniform) = (BTreeSet::new(), BTreeSet::new());
    for (k, step) in vec_loop.steps.iter().enumerate().filter(|&(k, _)| facts.of_step[k] == number) {
        // A call takes its arguments from buffers or from memory; one that is the same for all steps, next to one that
        // is not, from a buffer that is filled with it.
        if let Step::Call { args, .. } = step {
            uniform.extend(args.iter().filter(|&&arg| vec_loop.is_uniform(arg) && !buffers.of.contains_key(&arg)));
        } else {
            wanted.extend(step.reads());
            stage.steps.push(k);
        }
    }
    stage.folds = (0..vec_loop.folds.len())
        .filter(|&k| facts.ready.get(&vec_loop.folds[k].src).copied().unwrap_or(0) == number)
        .collect();
    wanted.extend(stage.folds.iter().map(|&k| vec_loop.folds[k].src));

    // A load that only other stages or calls use is left to them.
    stage.steps.retain(|&k| match &vec_loop.steps[k] {
        Step::Load { dst, .. } => wanted.contains(dst) || facts.is_buffered(vec_loop, *dst, number),
        Step::Compute { .. }
        | Step::Call { .. }
        | Step::Move { .. }
        | Step::LoadBoth { .. }
        | Step::Store { .. }
        | Step::OrderedScatter(_) => true,
    });
    let own: BTreeSet<Reg> = stage.steps.iter().flat_map(|&k| vec_loop.steps[k].assigns()).collect();
    for &reg in wanted.iter().filter(|&reg| facts.ready.contains_key(reg) && !own.contains(reg)) {
        match (buffers.of.get(&reg), facts.reloads(vec_loop, reg, number)) {
            (Some(&buffer), _) => stage.inputs.push((reg, buffer)),
            (None, Some(load)) => stage.reloads.push(load),
            (None, None) => panic!("a value of an earlier stage is buffered or can be loaded again"),
        }
    }
    for reg in own.into_iter().filter(|&reg| facts.is_buffered(vec_loop, reg, number)).chain(uniform) {
        stage.outputs.push((reg, buffers.take(reg)));
    }
    stage.calls = calls(vec_loop, facts, number, buffers);
    stage
}

/// The calls of a stage, the one that writes to memory last.
fn calls(vec_loop: &VecLoop<'_>, facts: &Facts, number: usize, buffers: &mut Buffers) -> Vec<Call> {
    let mut calls = Vec::new();
    let mut writer = None;
    for (k, step) in vec_loop.steps.iter().enumerate().filter(|&(k, _)| facts.of_step[k] == number) {
        let Step::Call { dst, function, args } = step else { continue };
        let source = |arg: &Reg| match facts.direct_source(vec_loop, *arg, number) {
            Some(load) => Strip::Memory(load),
            None => Strip::Buffer(buffers.of[arg]),
        };
        let (function, sources) = (*function, args.iter().map(source).collect());
        match facts.direct {
            Some((call, store)) if call == k => writer = Some(Call { function, sources, target: Strip::Memory(store) }),
            _ => calls.push(Call { function, sources, target: Strip::Buffer(buffers.take(*dst)) }),
        }
    }
    calls.extend(writer);
    calls
}

/// Where a step loads or stores.
fn access_of<'s>(step: &'s Step<'_>) -> Option<&'s Access> {
    match step {
        Step::Load { access, .. } | Step::LoadBoth { access, .. } | Step::Store { access, .. } => Some(access),
        Step::Compute { .. } | Step::Call { .. } | Step::Move { .. } | Step::OrderedScatter(_) => None,
    }
}
