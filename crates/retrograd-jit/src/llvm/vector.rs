//! Vector loops.
//!
//! A loop runs in blocks of steps, in vectors as wide as the machine has. With reductions a block has as many steps as
//! there are partial results, so that the lane of a step in its block is the number of its partial. What remains, fewer
//! steps than a block, is straight code whose last vector may have lanes without a step: those hold zeros, and are
//! never stored or combined. Statements that are the same for all steps come before the loop.

use std::collections::{BTreeMap, BTreeSet};

use retrograd_compiler::ir::{DType, LaneFunction, Scalar};
use retrograd_compiler::lower::kernel::{Address, Fold, OrderedWrite, Reg, Stmt};
use retrograd_compiler::ops::{SUM_CHUNK, SUM_LANES};

use super::access::Access;
use super::extreme::Noted;
use super::lower::Lower;
use super::text::{Form, Value, literal};
use crate::pairs::{self, Loaded};
use crate::recorded::inline;
use crate::runtime::Import;

/// Steps of a block without reductions.
const PLAIN: u64 = 8;

/// Steps of a block with reductions, and of one that calls functions: the number of lanes that those compute together.
const LONG: u64 = SUM_LANES as u64;

const CHUNK: u64 = SUM_CHUNK as u64;

/// Lowers a vector loop.
pub(super) fn for_vec<'k>(lower: &mut Lower<'k>, index: Reg, count: u64, body: &'k [Stmt], folds: &'k [Fold]) {
    if count == 0 {
        for fold in folds {
            let unit = lower.unit(fold);
            lower.set(fold.dst, &unit);
        }
        return;
    }
    let mut vec_loop = VecLoop::new(lower, index, count, body, folds);
    vec_loop.emit(lower);
    for (fold, total) in folds.iter().zip(&vec_loop.totals) {
        let form = Form::one(lower.dtype(fold.dst));
        let total = lower.text.make(format_args!("load {form}, ptr {total}"));
        lower.set(fold.dst, &total);
    }
}

/// One vector of a block of steps.
#[derive(Clone, Copy, Debug)]
pub(super) struct Part {
    pub(super) lanes: u32,
    /// Lanes that stand for a step: the first ones.
    pub(super) steps: u32,
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

/// A statement whose result, or effect, differs between steps.
#[derive(Clone, Debug)]
enum Step<'k> {
    Compute {
        dst: Reg,
        op: Scalar,
        ty: DType,
        args: &'k [Reg],
    },
    Call {
        dst: Reg,
        function: LaneFunction,
        ty: DType,
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

    /// The registers that it reads as lanes.
    fn reads(&self) -> Vec<Reg> {
        match self {
            Step::Compute { args, .. } | Step::Call { args, .. } => args.to_vec(),
            Step::Move { src, .. } | Step::Store { src, .. } => vec![*src],
            Step::Load { .. } | Step::LoadBoth { .. } => Vec::new(),
            Step::OrderedScatter(turns) => {
                turns.iter().flat_map(|(_, turn, after)| [Some(*turn), *after]).flatten().map(|turn| turn.src).collect()
            }
        }
    }
}

/// A vector loop whose invariant part is written.
pub(super) struct VecLoop<'k> {
    pub(super) index: Reg,
    count: u64,
    steps: Vec<Step<'k>>,
    folds: &'k [Fold],
    /// As scalar code holds them.
    uniform: BTreeMap<Reg, Value>,
    /// The same in all lanes, by register and number of lanes.
    wide: BTreeMap<(Reg, u32), Value>,
    /// Rooms of the partial results, by vectors; those that no step reaches are left out.
    partials: Vec<Vec<Value>>,
    /// What is noted for reductions to a greatest or least float.
    noted: Vec<Option<Noted>>,
    totals: Vec<Value>,
}

impl<'k> VecLoop<'k> {
    fn new(lower: &mut Lower<'k>, index: Reg, count: u64, body: &'k [Stmt], folds: &'k [Fold]) -> VecLoop<'k> {
        let form = |lower: &Lower<'_>, fold: &Fold, lanes: u32| Form::new(lower.dtype(fold.dst), lanes).to_string();
        let reached = count.min(LONG).div_ceil(u64::from(lower.lanes));
        let mut partials = Vec::new();
        let mut totals = Vec::new();
        for fold in folds {
            let (wide, one) = (form(lower, fold, lower.lanes), form(lower, fold, 1));
            let vectors = if fold.how.is_commutative(lower.dtype(fold.dst)) { 1 } else { reached };
            partials.push((0..vectors).map(|_| lower.text.slot(&wide)).collect());
            totals.push(lower.text.slot(&one));
        }
        let noted = folds.iter().map(|fold| Noted::new(lower, fold)).collect();
        let (uniform, wide) = (BTreeMap::new(), BTreeMap::new());
        let mut vec_loop = VecLoop { index, count, steps: Vec::new(), folds, uniform, wide, partials, noted, totals };
        vec_loop.read_outside(lower, body);
        let stores = body.iter().any(|stmt| matches!(stmt, Stmt::Store { .. }));
        for stmt in body {
            if vec_loop.hoists(stmt, stores) { vec_loop.hoist(lower, stmt) } else { vec_loop.keep(lower, stmt) }
        }
        vec_loop.pair_loads();
        vec_loop
    }

    /// Registers from outside are the same for all lanes.
    fn read_outside(&mut self, lower: &mut Lower<'k>, body: &[Stmt]) {
        let mut assigned = BTreeSet::from([self.index]);
        let mut read: Vec<Reg> = self.folds.iter().map(|fold| fold.src).collect();
        let of = |address: &Address| -> Vec<Reg> {
            address.terms.iter().map(|&(reg, _)| reg).chain([address.base]).collect()
        };
        for stmt in body {
            match form_of(stmt) {
                Shape::Literal { dst, .. } => drop(assigned.insert(dst)),
                Shape::Let { dst, args, .. } => {
                    assigned.insert(dst);
                    read.extend(args);
                }
                Shape::Load { dst, from } => {
                    assigned.insert(dst);
                    read.extend(of(from));
                }
                Shape::Store { to, src } => {
                    read.extend(of(to));
                    read.push(src);
                }
                Shape::OrderedScatter(turns) => turns.iter().for_each(|turn| {
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
            Shape::Literal { .. } => true,
            Shape::Let { args, .. } => args.iter().all(|&arg| self.is_uniform(arg)),
            // No step reads what another writes; so when there are several, what all read is written by none.
            Shape::Load { from, .. } => {
                let invariant = from.terms.iter().all(|&(reg, stride)| stride == 0 || self.is_uniform(reg));
                invariant && (self.count > 1 || !stores)
            }
            Shape::Store { .. } | Shape::OrderedScatter(_) => false,
        }
    }

    fn hoist(&mut self, lower: &mut Lower<'k>, stmt: &'k Stmt) {
        let (dst, value) = match form_of(stmt) {
            Shape::Literal { dst, bits } => (dst, literal(lower.dtype(dst), bits)),
            Shape::Let { dst, op: Some(op), args } => {
                let form = Form::one(lower.dtype(args[args.len() - 1]));
                let args: Vec<Value> = args.iter().map(|&arg| self.uniform(arg)).collect();
                (dst, lower.text.compute(op, form, &args))
            }
            Shape::Let { dst, op: None, args } => (dst, self.uniform(args[0])),
            Shape::Load { dst, from } => {
                let access = Access::new(lower, self, lower.dtype(dst), from);
                let one = Part { lanes: 1, steps: 1, lane: 0 };
                (dst, access.load(lower, self, &Lanes::new(Value::integer(0), &[one]), 0))
            }
            Shape::Store { .. } | Shape::OrderedScatter(_) => panic!("writes are not hoisted"),
        };
        self.uniform.insert(dst, value);
    }

    fn keep(&mut self, lower: &mut Lower<'k>, stmt: &'k Stmt) {
        let step = match form_of(stmt) {
            Shape::Literal { .. } => panic!("literals are hoisted"),
            Shape::Let { dst, op: None, args } => Step::Move { dst, src: args[0] },
            Shape::Let { dst, op: Some(Scalar::Call(function)), args } if inline(function).is_none() => {
                Step::Call { dst, function, ty: lower.dtype(args[args.len() - 1]), args }
            }
            Shape::Let { dst, op: Some(op), args } => {
                Step::Compute { dst, op, ty: lower.dtype(args[args.len() - 1]), args }
            }
            Shape::Load { dst, from } => {
                Step::Load { dst, access: Access::new(lower, self, lower.dtype(dst), from), from }
            }
            Shape::Store { to, src } => Step::Store { access: Access::new(lower, self, lower.dtype(src), to), src },
            Shape::OrderedScatter(turns) => {
                let pairs = pairs::of_turns(turns, |turn| lower.dtype(turn.src));
                let access = |(k, after): (usize, Option<usize>)| {
                    let turn = &turns[k];
                    (Access::new(lower, self, lower.dtype(turn.src), &turn.to), turn, after.map(|after| &turns[after]))
                };
                Step::OrderedScatter(pairs.into_iter().map(access).collect())
            }
        };
        self.steps.push(step);
    }

    /// Loads of numbers side by side become one, where the first of them is.
    fn pair_loads(&mut self) {
        let written = self.steps.iter().position(|step| matches!(step, Step::Store { .. })).unwrap_or(self.steps.len());
        let rest = self.steps.split_off(written);
        self.steps = pairs::merged(&self.steps, Step::row, |dst, access| Step::LoadBoth { dst, access });
        self.steps.extend(rest);
    }

    fn has_calls(&self) -> bool {
        self.steps.iter().any(|step| matches!(step, Step::Call { .. }))
    }

    pub(super) fn is_uniform(&self, reg: Reg) -> bool {
        self.uniform.contains_key(&reg)
    }

    /// A value that is the same for all lanes, as scalar code holds it.
    pub(super) fn uniform(&self, reg: Reg) -> Value {
        self.uniform.get(&reg).expect("verified: registers are assigned before they are read").clone()
    }

    /// Part `k` of a register.
    pub(super) fn value(&self, lower: &mut Lower<'_>, lanes: &Lanes<'_>, reg: Reg, k: usize) -> Value {
        if let Some(values) = lanes.values.get(&reg) {
            return values[k].clone();
        }
        let part = lanes.parts[k];
        if let Some(wide) = self.wide.get(&(reg, part.lanes)) {
            return wide.clone();
        }
        assert_eq!(reg, self.index, "what is the same for all lanes was widened before");
        let form = Form::new(DType::I64, part.lanes);
        let index = lower.text.widen(form, &lanes.index);
        let steps = (0..part.lanes).map(|lane| format!("i64 {}", part.lane + lane)).collect::<Vec<_>>().join(", ");
        match part.lanes {
            1 => lower.text.make(format_args!("add i64 {index}, {}", part.lane)),
            _ => lower.text.make(format_args!("add {form} {index}, <{steps}>")),
        }
    }

    /// What is the same for all lanes, in vectors of so many.
    fn widen(&mut self, lower: &mut Lower<'k>, parts: &[Part]) {
        let read = self.steps.iter().flat_map(Step::reads).chain(self.folds.iter().map(|fold| fold.src));
        let read: BTreeSet<Reg> = read.filter(|&reg| self.is_uniform(reg)).collect();
        for part in parts {
            for &reg in &read {
                let (form, uniform) = (Form::new(lower.dtype(reg), part.lanes), self.uniform(reg));
                self.wide.entry((reg, part.lanes)).or_insert_with(|| lower.text.widen(form, &uniform));
            }
        }
    }

    /// The whole loop: blocks, what remains, and reductions.
    fn emit(&mut self, lower: &mut Lower<'k>) {
        let ordered = self.folds.iter().any(|fold| !fold.how.is_commutative(lower.dtype(fold.dst)));
        let block = if self.has_calls() || ordered { LONG } else { PLAIN };
        let main = self.count / block * block;
        let (whole, rest) = (parts(lower.lanes, block), parts(lower.lanes, self.count - main));
        self.widen(lower, &whole);
        self.widen(lower, &rest);
        for (fold, total) in self.folds.iter().zip(&self.totals) {
            let (form, unit) = (Form::one(lower.dtype(fold.dst)), lower.unit(fold));
            lower.text.act(format_args!("store {form} {unit}, ptr {total}"));
        }
        if !ordered || self.count <= CHUNK {
            self.clear_partials(lower);
            if main == block {
                self.straight(lower, &Value::integer(0), &whole);
            } else if main > 0 {
                every(lower, &Value::integer(0), &Value::integer(main.cast_signed()), block, |lower, index| {
                    self.straight(lower, index, &whole);
                });
            }
        } else {
            self.chunks(lower, main, block, &whole);
        }
        self.straight(lower, &Value::integer(main.cast_signed()), &rest);
        self.add_partials(lower);
    }

    /// All chunks of a reduction; the partials of the last are left, because remaining steps may add to them.
    fn chunks(&self, lower: &mut Lower<'k>, main: u64, block: u64, whole: &[Part]) {
        let last = (self.count - 1) / CHUNK * CHUNK;
        every(lower, &Value::integer(0), &Value::integer(last.cast_signed()), CHUNK, |lower, from| {
            self.clear_partials(lower);
            let to = lower.text.make(format_args!("add i64 {from}, {CHUNK}"));
            every(lower, from, &to, block, |lower, index| self.straight(lower, index, whole));
            self.add_partials(lower);
        });
        self.clear_partials(lower);
        if last < main {
            every(
                lower,
                &Value::integer(last.cast_signed()),
                &Value::integer(main.cast_signed()),
                block,
                |lower, index| {
                    self.straight(lower, index, whole);
                },
            );
        }
    }

    /// All statements and reductions, for some parts of the block at `index`; calls take all parts at once.
    fn straight(&self, lower: &mut Lower<'k>, index: &Value, parts: &[Part]) {
        let together = if self.has_calls() { parts.len().max(1) } else { 1 };
        for parts in parts.chunks(together) {
            let mut lanes = Lanes::new(index.clone(), parts);
            for step in &self.steps {
                self.step(lower, &mut lanes, step);
            }
            for k in 0..self.folds.len() {
                self.add_to_partials(lower, &lanes, k);
            }
        }
    }

    /// One statement, for all parts.
    fn step(&self, lower: &mut Lower<'k>, lanes: &mut Lanes<'_>, step: &Step<'k>) {
        let parts = 0..lanes.parts.len();
        let (dst, values) = match step {
            Step::Compute { dst, op, ty, args } => {
                let compute = |k: usize| {
                    let args: Vec<Value> = args.iter().map(|&arg| self.value(lower, lanes, arg, k)).collect();
                    lower.text.compute(*op, Form::new(*ty, lanes.parts[k].lanes), &args)
                };
                (dst, parts.map(compute).collect())
            }
            Step::Call { dst, function, ty, args } => (dst, self.call(lower, lanes, *function, *ty, args)),
            Step::Move { dst, src } => (dst, parts.map(|k| self.value(lower, lanes, *src, k)).collect()),
            Step::Load { dst, access, .. } => (dst, parts.map(|k| access.load(lower, self, lanes, k)).collect()),
            Step::LoadBoth { dst, access } => {
                let both: Vec<[Value; 2]> = parts.map(|k| access.load_both(lower, self, lanes, k)).collect();
                for (half, dst) in dst.iter().enumerate() {
                    dst.map(|dst| lanes.values.insert(dst, both.iter().map(|both| both[half].clone()).collect()));
                }
                return;
            }
            Step::Store { access, src } => {
                for k in parts {
                    let value = self.value(lower, lanes, *src, k);
                    access.store(lower, self, lanes, k, &value);
                }
                return;
            }
            Step::OrderedScatter(turns) => {
                for k in parts {
                    (0..lanes.parts[k].steps).for_each(|lane| self.turns(lower, lanes, turns, k, lane));
                }
                return;
            }
        };
        lanes.values.insert(*dst, values);
    }

    /// Writes of one step.
    fn turns(
        &self,
        lower: &mut Lower<'k>,
        lanes: &Lanes<'_>,
        turns: &[(Access, &OrderedWrite, Option<&OrderedWrite>)],
        k: usize,
        lane: u32,
    ) {
        for (access, turn, after) in turns {
            let form = Form::new(access.ty, lanes.parts[k].lanes);
            let value = self.value(lower, lanes, turn.src, k);
            let (new, one) = match after {
                None => (lower.text.lane(form, &value, lane), Form::one(access.ty)),
                Some(after) => {
                    let next = self.value(lower, lanes, after.src, k);
                    (lower.text.lane_of_both(form, &value, &next, lane), Form::new(access.ty, 2))
                }
            };
            let at = access.lane(lower, self, lanes, k, lane);
            let new = match turn.op {
                None => new,
                Some(op) => {
                    let old = lower.text.load(one, &at);
                    lower.text.compute(op, one, &[old, new])
                }
            };
            lower.text.store(one, &at, &new);
        }
    }

    /// A function of all lanes, through memory.
    fn call(
        &self,
        lower: &mut Lower<'k>,
        lanes: &Lanes<'_>,
        function: LaneFunction,
        ty: DType,
        args: &[Reg],
    ) -> Vec<Value> {
        if let [Part { lanes: 1, .. }] = lanes.parts {
            let args: Vec<Value> = args.iter().map(|&arg| self.value(lower, lanes, arg, 0)).collect();
            return vec![lower.text.compute(Scalar::Call(function), Form::one(ty), &args)];
        }
        while lower.buffers.len() < args.len() {
            let buffer = lower.text.slot(&format!("[{LONG} x double]"));
            lower.buffers.push(buffer);
        }
        let buffers = lower.buffers[..args.len()].to_vec();
        let form = |part: &Part| Form::new(DType::F64, part.lanes);
        for (&arg, buffer) in args.iter().zip(&buffers) {
            for (k, part) in lanes.parts.iter().enumerate() {
                let x = self.value(lower, lanes, arg, k);
                let x = lower.text.convert(form(part).of(ty), DType::F64, &x);
                let at = lower.text.offset(buffer, 8 * i64::from(part.lane));
                lower.text.store(form(part), &at, &x);
            }
        }
        // The result replaces the first argument.
        let steps: u32 = lanes.parts.iter().map(|part| part.steps).sum();
        let operands =
            buffers.iter().chain([&buffers[0]]).map(|buffer| format!("ptr {buffer}")).collect::<Vec<_>>().join(", ");
        lower.call(Import::Block(function), format_args!("{operands}, i64 {steps}"));
        let load = |part: &Part| {
            let at = lower.text.offset(&buffers[0], 8 * i64::from(part.lane));
            let y = lower.text.load(form(part), &at);
            lower.text.convert(form(part), ty, &y)
        };
        lanes.parts.iter().map(load).collect()
    }

    fn clear_partials(&self, lower: &mut Lower<'k>) {
        for (fold, partials) in self.folds.iter().zip(&self.partials) {
            let (form, unit) = (Form::new(lower.dtype(fold.dst), lower.lanes), lower.unit(fold));
            let units = lower.text.widen(form, &unit);
            for partial in partials {
                lower.text.act(format_args!("store {form} {units}, ptr {partial}"));
            }
        }
        self.noted.iter().flatten().for_each(|noted| noted.clear(lower));
    }

    /// Combines the lanes of a reduction with its partials, in the order of steps.
    fn add_to_partials(&self, lower: &mut Lower<'k>, lanes: &Lanes<'_>, number: usize) {
        let (fold, partials, noted) = (&self.folds[number], &self.partials[number], &self.noted[number]);
        let form = Form::new(lower.dtype(fold.dst), lower.lanes);
        for (k, part) in lanes.parts.iter().enumerate() {
            let value = self.value(lower, lanes, fold.src, k);
            let slot = &partials[(part.lane / lower.lanes) as usize % partials.len()];
            let old = lower.text.make(format_args!("load {form}, ptr {slot}"));
            let new = match noted {
                Some(noted) => {
                    let value = self.or_units(lower, fold, *part, value);
                    noted.combine(lower, &old, &value)
                }
                None if part.steps < lower.lanes => combine_some(lower, fold.how.scalar(), form, *part, &old, &value),
                None => lower.text.compute(fold.how.scalar(), form, &[old, value]),
            };
            lower.text.act(format_args!("store {form} {new}, ptr {slot}"));
        }
    }

    /// A whole vector: lanes without a step hold the unit.
    fn or_units(&self, lower: &mut Lower<'k>, fold: &Fold, part: Part, value: Value) -> Value {
        if part.steps == lower.lanes {
            return value;
        }
        let (form, unit) = (Form::new(lower.dtype(fold.dst), lower.lanes), lower.unit(fold));
        let (one, units) = (Form::one(form.dtype), lower.text.widen(form, &unit));
        (0..part.steps).fold(units, |vector, lane| {
            let number = lower.text.lane(Form { lanes: part.lanes, ..form }, &value, lane);
            lower.text.make(format_args!("insertelement {form} {vector}, {one} {number}, i32 {lane}"))
        })
    }

    /// Combines the partials of a chunk pairwise, and their result with the total.
    fn add_partials(&self, lower: &mut Lower<'k>) {
        for (((fold, partials), noted), total) in
            self.folds.iter().zip(&self.partials).zip(&self.noted).zip(&self.totals)
        {
            let (op, mut form) = (fold.how.scalar(), Form::new(lower.dtype(fold.dst), lower.lanes));
            let combine = |lower: &mut Lower<'_>, form: Form, x: &Value, y: &Value| match noted {
                Some(noted) => noted.further(lower, form, x, y),
                None => lower.text.compute(op, form, &[x.clone(), y.clone()]),
            };
            let mut results: Vec<Value> =
                partials.iter().map(|slot| lower.text.make(format_args!("load {form}, ptr {slot}"))).collect();
            // Partial l and l + lanes/2 are half the vectors apart, then half a vector. Vectors that are not there are
            // units, which change no partial: each of them began with the unit, so that no sum is -0.
            let mut vectors = LONG as usize / lower.lanes as usize;
            while vectors > 1 {
                vectors /= 2;
                for p in vectors..results.len() {
                    results[p - vectors] = combine(lower, form, &results[p - vectors], &results[p]);
                }
                results.truncate(vectors);
            }
            let mut chunk = by_halves(lower, form, results.remove(0), combine);
            form.lanes = 1;
            if let Some(noted) = noted {
                chunk = noted.recall(lower, &chunk);
            }
            let old = lower.text.make(format_args!("load {form}, ptr {total}"));
            let new = lower.text.compute(op, form, &[old, chunk]);
            lower.text.act(format_args!("store {form} {new}, ptr {total}"));
        }
    }
}

/// Combines the lanes that have a step, and leaves the others as they are.
fn combine_some(lower: &mut Lower<'_>, op: Scalar, form: Form, part: Part, old: &Value, value: &Value) -> Value {
    let mut new = old.clone();
    for lane in 0..part.steps {
        let (x, y) =
            (lower.text.lane(form, old, lane), lower.text.lane(Form { lanes: part.lanes, ..form }, value, lane));
        let one = Form::one(form.dtype);
        let combined = lower.text.compute(op, one, &[x, y]);
        new = lower.text.make(format_args!("insertelement {form} {new}, {one} {combined}, i32 {lane}"));
    }
    new
}

impl Lower<'_> {
    /// What a reduction starts from.
    fn unit(&self, fold: &Fold) -> Value {
        let ty = self.dtype(fold.dst);
        literal(ty, fold.how.identity(ty))
    }
}

impl<'p> Lanes<'p> {
    fn new(index: Value, parts: &'p [Part]) -> Lanes<'p> {
        Lanes { index, parts, values: BTreeMap::new() }
    }
}

/// Vectors for so many steps, the last as short as it may be.
fn parts(lanes: u32, steps: u64) -> Vec<Part> {
    let steps = u32::try_from(steps).expect("a few blocks at most");
    let part = |lane: u32| {
        let steps = lanes.min(steps - lane);
        Part { lanes: steps.next_power_of_two(), steps, lane }
    };
    (0..steps).step_by(lanes as usize).map(part).collect()
}

/// A loop from `start` to `end` by `step`, at least once.
fn every<'k>(lower: &mut Lower<'k>, start: &Value, end: &Value, step: u64, body: impl FnOnce(&mut Lower<'k>, &Value)) {
    let slot = lower.text.slot("i64");
    let (inside, after) = (lower.text.label(), lower.text.label());
    lower.text.act(format_args!("store i64 {start}, ptr {slot}"));
    lower.text.jump(inside);
    lower.text.at(inside);
    let index = lower.text.make(format_args!("load i64, ptr {slot}"));
    body(lower, &index);
    let next = lower.text.make(format_args!("add nuw nsw i64 {index}, {step}"));
    lower.text.act(format_args!("store i64 {next}, ptr {slot}"));
    let more = lower.text.make(format_args!("icmp slt i64 {next}, {end}"));
    lower.text.branch(&more, inside, after);
    lower.text.at(after);
}

/// What a vector loop may hold; a move is a `Let` without an op.
enum Shape<'k> {
    Literal { dst: Reg, bits: u64 },
    Let { dst: Reg, op: Option<Scalar>, args: &'k [Reg] },
    Load { dst: Reg, from: &'k Address },
    Store { to: &'k Address, src: Reg },
    OrderedScatter(&'k [OrderedWrite]),
}

fn form_of(stmt: &Stmt) -> Shape<'_> {
    match stmt {
        Stmt::Literal { dst, bits } => Shape::Literal { dst: *dst, bits: *bits },
        Stmt::Let { dst, op, args } => Shape::Let { dst: *dst, op: Some(*op), args },
        Stmt::Move { dst, src } => Shape::Let { dst: *dst, op: None, args: std::slice::from_ref(src) },
        Stmt::Load { dst, from } => Shape::Load { dst: *dst, from },
        Stmt::Store { to, src } => Shape::Store { to, src: *src },
        Stmt::OrderedScatter(turns) => Shape::OrderedScatter(turns),
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

/// The lanes of a vector as one: each is combined with the one that is half of them further, until one is left.
pub(super) fn by_halves(
    lower: &mut Lower<'_>,
    mut form: Form,
    vector: Value,
    combine: impl Fn(&mut Lower<'_>, Form, &Value, &Value) -> Value,
) -> Value {
    let mut result = vector;
    while form.lanes > 1 {
        let half = form.lanes / 2;
        let halves = [0, half].map(|first| {
            let numbers: Vec<u32> = (first..first + half).collect();
            lower.text.shuffle(form, &result, &Value::new("poison"), &numbers)
        });
        form.lanes = half;
        result = combine(lower, form, &halves[0], &halves[1]);
    }
    result
}
