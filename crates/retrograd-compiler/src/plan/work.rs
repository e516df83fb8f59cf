//! What things cost, in picoseconds: instructions before they are placed, words of memory, actions of schedules. What placed nodes cost is
//! in additions: there it only matters whether they are worth a thread.
//!
//! All prices are of one core of a Zen 4 server. `bench/prices.py` measures them.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use super::facts::{UNKNOWN_STEPS, constant, steps};
use super::place::{Block, Call, Grain, Loop, Nest, Node, Placed, Step, Val, long_axes};
use crate::ir::{Attrs, DType, FuncId, Function, Inst, Lowering, Op, Program, Row, Scalar, Type, Value, View};
use crate::ops::{self, DotAxes};

/// The vectors that a back end makes: what one computes again cheaply, another keeps.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Vectors {
    /// Of 128 bits, and blocks of functions in those of the machine: Cranelift.
    #[default]
    Narrow,
    /// Of 512 bits where numbers have 64 bits and functions are sequences of operations, and else as [`Vectors::Narrow`]: Cranelift, on machines that
    /// have them.
    Mixed,
    /// Of 512 bits: LLVM.
    Wide,
}

impl fmt::Display for Vectors {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Vectors::Narrow => "vectors of 128 bits (Cranelift)",
            Vectors::Mixed => "vectors of 512 bits, or of 128 around some functions (Cranelift)",
            Vectors::Wide => "vectors of 512 bits (LLVM)",
        })
    }
}

/// Work of a second.
pub(super) const SECOND: f64 = 1e12;

/// Picoseconds for every addition that a row says it is worth, and for numbers in cache that are read or written.
struct Prices {
    arithmetic: u64,
    /// Quotients and square roots.
    division: u64,
    /// Functions that are blocks, and products of matrices.
    function: u64,
    /// A function of an array that fills no block of lanes, all of its elements together.
    function_of_few: u64,
    word: u64,
    /// A word of rows that are components (`place/component.rs`): lanes go across them.
    word_across: u64,
    /// A number that is read or written at an index of its own.
    at_index: u64,
    /// A number of a row that is.
    in_row_at_index: u64,
}

/// Of arrays in vectors of 128 bits.
const NARROW: Prices = Prices {
    arithmetic: 50,
    division: 42,
    function: 27,
    function_of_few: 1200,
    word: 42,
    word_across: 200,
    at_index: 600,
    in_row_at_index: 2500,
};
/// Of arrays in vectors of 512 bits by Cranelift.
const MIXED: Prices = Prices { arithmetic: 25, division: 25, word: 30, ..NARROW };
/// Of arrays in vectors of 512 bits by LLVM: an addition is the unit of rows.
const WIDE: Prices = Prices {
    arithmetic: 20,
    division: 20,
    function: 20,
    function_of_few: 550,
    word: 25,
    word_across: 200,
    at_index: 500,
    in_row_at_index: 1300,
};
/// Of single numbers, where nothing waits for them.
const NUMBER: Prices = Prices {
    arithmetic: 110,
    division: 60,
    function: 60,
    function_of_few: 60,
    word: 0,
    word_across: 0,
    at_index: 250,
    in_row_at_index: 250,
};
/// Of single numbers that the next instruction waits for.
const WAITED_FOR: Prices =
    Prices { arithmetic: 820, division: 250, function: 400, function_of_few: 400, at_index: 1500, in_row_at_index: 1500, ..NUMBER };
/// Of single numbers of a loop whose steps run in lanes, by vectors.
const NARROW_LANES: Prices = Prices { arithmetic: 120, division: 42, function: 30, at_index: 300, in_row_at_index: 300, ..NUMBER };
const MIXED_LANES: Prices = Prices { arithmetic: 50, division: 30, ..NARROW_LANES };
const WIDE_LANES: Prices = Prices { arithmetic: 36, division: 20, function: 30, at_index: 250, in_row_at_index: 250, ..NUMBER };

/// Lanes that a function is computed in at once, at their most.
const BLOCK: u64 = 16;

/// Steps after which numbers of a loop come as fast as they will.
const STEADY: usize = 8;

/// Steps from which a loop runs in lanes.
const LANES_FROM: u64 = 16;

/// What a word costs besides that is written, and read again, where more than so many bytes are written between: it is in memory, or in
/// the last of the caches.
const FAR: [(u64, [u64; 2]); 2] = [(16 << 20, [300, 200]), (1 << 20, [50, 25])];

/// What a word of a window costs besides that lies across the rows of its array, a line of the cache for each, where a function's arrays are
/// more than so many bytes.
const SPREAD: [(u64, u64); 3] = [(16 << 20, 2700), (1 << 20, 800), (0, 500)];

/// Work of a function that no run could do in its time: a few of them are still a number.
const MOST: u64 = 1 << 60;

/// Asking a controller for an action and branching to it.
pub(super) const ACTION: u64 = 15_000;

/// Going from one held state to the next inside of a driver: a jump that nobody foresees.
pub(super) const INTERRUPTION: u64 = 5_000;

/// What a loop makes of the single numbers of its steps.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Numbers {
    /// One step after the other.
    InTurn,
    /// The same, where each number is waited for.
    WaitedFor,
    /// Several steps at once.
    InLanes,
}

impl Vectors {
    /// Where elements are many, they are in vectors.
    fn prices(self, elements: u64, numbers: Numbers) -> &'static Prices {
        match (self, numbers) {
            (Vectors::Narrow | Vectors::Mixed | Vectors::Wide, Numbers::InTurn) if elements <= 1 => &NUMBER,
            (Vectors::Narrow | Vectors::Mixed | Vectors::Wide, Numbers::WaitedFor) if elements <= 1 => &WAITED_FOR,
            (Vectors::Narrow, Numbers::InLanes) if elements <= 1 => &NARROW_LANES,
            (Vectors::Mixed, Numbers::InLanes) if elements <= 1 => &MIXED_LANES,
            (Vectors::Wide, Numbers::InLanes) if elements <= 1 => &WIDE_LANES,
            (Vectors::Narrow, Numbers::InTurn | Numbers::WaitedFor | Numbers::InLanes) => &NARROW,
            (Vectors::Mixed, Numbers::InTurn | Numbers::WaitedFor | Numbers::InLanes) => &MIXED,
            (Vectors::Wide, Numbers::InTurn | Numbers::WaitedFor | Numbers::InLanes) => &WIDE,
        }
    }

    /// Words of a record or a held state that are written and later read: by whoever writes and by whoever reads. So many bytes are
    /// written until then, at most.
    pub(super) fn words(self, words: u64, bytes_of_all: u64) -> [u64; 2] {
        far(bytes_of_all).map(|far| words.saturating_mul(far + self.prices(u64::MAX, Numbers::InTurn).word))
    }

    /// What a function costs, and its instructions.
    pub(super) fn priced<'p>(self, program: &'p Program, function: &'p Function) -> Priced<'p> {
        self.priced_by(program, function, Numbers::InTurn)
    }

    fn priced_by<'p>(self, program: &'p Program, function: &'p Function, numbers: Numbers) -> Priced<'p> {
        let here = match self {
            Vectors::Mixed if function.insts.iter().any(|inst| needs_short_vectors(function, inst, numbers)) => Vectors::Narrow,
            Vectors::Narrow | Vectors::Mixed | Vectors::Wide => self,
        };
        Priced { program, function, numbers, back_end: self, here }
    }

    fn row_cost(self, row: &Row, attrs: &Attrs, args: &[&Type], result: &Type, numbers: Numbers) -> u64 {
        let contracted = |args: &[&Type]| {
            let axes = DotAxes::new(attrs, args[0].rank(), args[1].rank()).lhs_contract;
            axes.iter().map(|axis| args[0].shape[*axis] as u64).fold(1, u64::saturating_mul)
        };
        let elements = gone_through(row, args, result, contracted);
        let prices = self.prices(elements, numbers);
        let all = |price: u64| u64::from(row.cost).saturating_mul(price).saturating_mul(elements);
        match row.lowering {
            Lowering::Map(Scalar::Div | Scalar::Sqrt) => all(prices.division),
            Lowering::Map(Scalar::Call(_)) | Lowering::Composed(_) if (2..BLOCK).contains(&elements) => {
                u64::from(row.cost) * prices.function_of_few
            }
            Lowering::Map(Scalar::Call(_)) | Lowering::Composed(_) => all(prices.function),
            Lowering::Dot | Lowering::Routine(_) | Lowering::Factored(_) => all(prices.function),
            Lowering::Map(_) | Lowering::Convert | Lowering::Iota | Lowering::Probe | Lowering::Missing => all(prices.arithmetic),
            Lowering::View(_) | Lowering::Constant | Lowering::Reduce(_) | Lowering::Line(_) => all(prices.arithmetic),
            Lowering::Write(_) if elements <= 1 || numbers == Numbers::InLanes => elements.saturating_mul(prices.at_index),
            Lowering::Write(_) => all(prices.arithmetic),
            Lowering::Pick(_) => elements.saturating_mul(indexed(prices, args[1], elements)),
            Lowering::Scatter(..) => elements.saturating_mul(indexed(prices, args[2], elements)),
        }
    }

    /// Words of arrays that rows of a function read of what is in memory, each window of one at its own time and the rest at most once, and of
    /// those that they leave there, besides what they take that comes from beyond the nearest caches. What an `if` gives is in memory: it is
    /// written and read, and an update of it goes to another place. That these are four words an element was found on one program
    /// (`bench/programs/nested.py`). So is what a product reads and makes across components.
    fn traffic(self, function: &Function) -> u64 {
        let prices = self.prices(u64::MAX, Numbers::InTurn);
        let arrays = in_memory(function);
        // Of an array that is read, the most words at a time, and without its windows.
        let mut read: BTreeMap<Value, [u64; 2]> = BTreeMap::new();
        let (mut words, mut written, mut updated, mut across, mut spread) = (0u64, 0u64, 0u64, 0u64, 0u64);
        for inst in &function.insts {
            let Op::Row(row, _) = &inst.op else {
                let arrays = inst.results.iter().map(|v| function.ty(*v)).filter(|ty| matches!(inst.op, Op::If(_)) && ty.rank() > 0);
                words = arrays.map(|ty| 4 * ty.elements() as u64).fold(words, u64::saturating_add);
                continue;
            };
            if row.lowering == Lowering::Dot && inst.args.iter().all(|v| in_components(function.ty(*v))) {
                // Its operands are written by one nest and read by another, and so is its result.
                let all = inst.args.iter().filter(|v| !function.params.contains(v)).chain(&inst.results).map(|v| function.ty(*v));
                across = all.map(|ty| 2 * ty.elements() as u64).fold(across, u64::saturating_add);
            }
            let result = function.ty(inst.results[0]);
            spread = spread.saturating_add(words_spread(function, row, inst));
            for (k, arg) in inst.args.iter().enumerate().filter(|(_, arg)| arrays.contains_key(arg)) {
                let part = words_read(row, k, function.ty(*arg), result);
                let [most, whole] = read.entry(arrays[arg]).or_default();
                *most = part.max(*most);
                if matches!(row.lowering, Lowering::View(_)) {
                    words = words.saturating_add(part);
                } else {
                    *whole = part.max(*whole);
                }
            }
            if matches!(row.lowering, Lowering::Write(_) | Lowering::Scatter(..)) {
                // To write is what the row itself costs.
                updated = updated.saturating_add(function.ty(inst.args[1]).elements() as u64);
            } else if result.rank() > 0 && arrays.contains_key(&inst.results[0]) {
                written = written.saturating_add(result.elements() as u64);
            }
        }
        let [most, whole] = [0, 1].map(|k| read.values().map(|parts| parts[k]).fold(0, u64::saturating_add));
        let all_written = written.saturating_add(updated);
        let [far_written, far_read] = far(most.saturating_add(all_written).saturating_mul(8));
        let bytes = function.params.iter().map(|v| function.ty(*v).bytes() as u64).fold(0, u64::saturating_add);
        let each = SPREAD.iter().find(|(more_than, _)| bytes > *more_than).map_or(0, |(_, each)| *each);
        let words = words.saturating_add(whole).saturating_add(written);
        [(words, prices.word), (all_written, far_written), (most, far_read), (across, prices.word_across), (spread, each)]
            .iter()
            .fold(0, |sum, (words, price)| sum.saturating_add(words.saturating_mul(*price)))
    }
}

/// What a word costs besides that is written, and read again, where so many bytes are written between.
fn far(bytes: u64) -> [u64; 2] {
    FAR.iter().find(|(more_than, _)| bytes > *more_than).map_or([0, 0], |(_, far)| *far)
}

/// Arrays of a function that are in memory, with the one that has their memory: what it is given and leaves, what it writes to, and what is
/// read in windows.
fn in_memory(function: &Function) -> BTreeMap<Value, Value> {
    let windows = function.insts.iter().filter(|inst| matches!(lowering(inst), Some(Lowering::View(View::Slice | View::DynamicSlice))));
    let wanted: BTreeSet<Value> = windows.map(|inst| inst.args[0]).chain(function.results.iter().copied()).collect();
    let mut arrays: BTreeMap<Value, Value> = function.params.iter().map(|param| (*param, *param)).collect();
    for inst in &function.insts {
        match lowering(inst) {
            Some(Lowering::View(_) | Lowering::Constant) => {}
            Some(Lowering::Write(_) | Lowering::Scatter(..)) => {
                let base = arrays.get(&inst.args[0]).copied().unwrap_or(inst.results[0]);
                arrays.insert(inst.results[0], base);
            }
            Some(_) | None => arrays.extend(inst.results.iter().filter(|v| wanted.contains(v)).map(|v| (*v, *v))),
        }
    }
    arrays
}

/// A function, and what its code is made of.
#[derive(Clone, Copy, Debug)]
pub(super) struct Priced<'p> {
    program: &'p Program,
    function: &'p Function,
    numbers: Numbers,
    back_end: Vectors,
    /// The vectors that its own arrays are worked on in.
    here: Vectors,
}

/// Work of a step of a loop.
#[derive(Clone, Copy, Debug)]
pub(super) struct StepCost {
    /// Of all that it does.
    work: u64,
    /// From one step to the next, where each waits for numbers of the one before: so long takes whatever is done meanwhile.
    chain: u64,
}

impl StepCost {
    /// Of a step that does so much more.
    pub(super) fn with(self, more: u64) -> u64 {
        self.chain.max(self.work.saturating_add(more))
    }
}

impl Priced<'_> {
    /// Work of one call of the function, without unwinds that have states to remember: its instructions, and the arrays that it reads and
    /// leaves. What is between stays in registers.
    pub(super) fn cost(self) -> u64 {
        let (mut work, mut branches) = (self.here.traffic(self.function), Branches::default());
        for inst in &self.function.insts {
            match &inst.op {
                Op::If(op) => branches.add(inst.args[0], [op.then_body, op.else_body].map(|side| self.body(side, self.numbers))),
                Op::Row(..) | Op::For(_) | Op::While(_) | Op::Unwind(_) | Op::Call(_) => work = work.saturating_add(self.inst(inst)),
            }
        }
        work.saturating_add(branches.work(self.function)).min(MOST)
    }

    /// Work of one of its instructions, likewise, without what it reads and leaves.
    pub(super) fn inst(self, inst: &Inst) -> u64 {
        let (program, function, numbers) = (self.program, self.function, self.numbers);
        match &inst.op {
            Op::Row(row, attrs) => {
                let args: Vec<&Type> = inst.args.iter().map(|v| function.ty(*v)).collect();
                self.here.row_cost(row, attrs, &args, function.ty(inst.results[0]), numbers)
            }
            Op::If(op) => {
                let mut branches = Branches::default();
                branches.add(inst.args[0], [op.then_body, op.else_body].map(|side| self.body(side, numbers)));
                branches.work(function)
            }
            Op::For(op) => {
                let (count, step) = (steps(function, inst), program.function(op.body));
                count.saturating_mul(self.step_of(op.body, op.args(&step.params).1, count))
            }
            Op::While(op) => {
                let step = self.back_end.priced(program, program.function(op.body));
                let body = step.step(op.args(&step.function.params).0);
                UNKNOWN_STEPS.saturating_mul(body.with(self.body(op.cond, Numbers::InTurn)))
            }
            Op::Unwind(op) if op.carries == 0 => {
                let (count, step) = (steps(function, inst), program.function(op.bwd));
                let args = op.args(&step.params);
                count.saturating_mul(self.step_of(op.bwd, &[args.adjoints, args.running].concat(), count))
            }
            Op::Unwind(_) => 0,
            Op::Call(op) => self.body(op.body, numbers),
        }
    }

    /// Work of a step of a loop inside, which carries these of its parameters to its first results.
    fn step_of(self, id: FuncId, carries: &[Value], count: u64) -> u64 {
        let step = self.program.function(id);
        match numbers_of(step, carries, count) {
            Numbers::InTurn | Numbers::WaitedFor => self.back_end.priced(self.program, step).step(carries).with(0),
            Numbers::InLanes => self.body(id, Numbers::InLanes),
        }
    }

    /// Work of the function as a step of a loop, which carries these of its parameters to its first results.
    pub(super) fn step(self, carries: &[Value]) -> StepCost {
        StepCost { work: self.cost(), chain: self.chain(carries) }
    }

    /// When the numbers of a step are there after those of the step before: by running steps for which instructions take as long as what
    /// waits for them sees. A number that is read of an array a few indices from where one is written is of a step before.
    fn chain(self, carries: &[Value]) -> u64 {
        let function = self.function;
        let places = |indices: &[Value]| indices.iter().map(|v| offset(function, *v)).collect::<Vec<_>>();
        let writes = function.insts.iter().filter(|inst| matches!(lowering(inst), Some(Lowering::Write(_))));
        let written: Vec<Vec<(Value, i64)>> = writes.map(|inst| places(&inst.args[2..])).collect();
        let near = |read: &[(Value, i64)], write: &[(Value, i64)]| {
            read != write && read.len() == write.len() && read.iter().zip(write).all(|(read, write)| read.0 == write.0)
        };
        let waits = |inst: &Inst| match lowering(inst) {
            Some(Lowering::View(View::DynamicSlice)) if function.ty(inst.results[0]).elements() == 1 => {
                let read = places(&inst.args[1..]);
                if written.iter().any(|write| near(&read, write)) { inst.args.clone() } else { inst.args[1..].to_vec() }
            }
            Some(Lowering::Write(_)) => inst.args[1..].to_vec(),
            Some(_) | None => inst.args.clone(),
        };
        let all: Vec<(Vec<Value>, u64)> = function.insts.iter().map(|inst| (waits(inst), self.waited_for(inst))).collect();
        let (mut ready, mut ends) = (vec![0u64; function.types.len()], vec![]);
        for _ in 0..=2 * STEADY {
            for (inst, (waits, latency)) in function.insts.iter().zip(&all) {
                let start = waits.iter().map(|v| ready[v.0 as usize]).max().unwrap_or(0);
                inst.results.iter().for_each(|v| ready[v.0 as usize] = start.saturating_add(*latency));
            }
            let after: Vec<u64> = carries.iter().zip(&function.results).map(|(_, end)| ready[end.0 as usize]).collect();
            ends.push(after.iter().copied().max().unwrap_or(0));
            carries.iter().zip(after).for_each(|(carry, after)| ready[carry.0 as usize] = after);
        }
        ((ends[2 * STEADY] - ends[STEADY]) / STEADY as u64).min(MOST)
    }

    /// How long who reads the results of an instruction waits for them.
    fn waited_for(self, inst: &Inst) -> u64 {
        let in_turn = Priced { numbers: Numbers::WaitedFor, ..self };
        match lowering(inst) {
            Some(Lowering::View(View::DynamicSlice) | Lowering::Write(_)) => WAITED_FOR.at_index,
            Some(_) => in_turn.inst(inst),
            // It is work of the step, whoever waits for it.
            None => 0,
        }
    }

    fn body(self, id: FuncId, numbers: Numbers) -> u64 {
        self.back_end.priced_by(self.program, self.program.function(id), numbers).cost()
    }
}

/// Whether what an instruction does in lanes has no form in vectors of 512 bits by Cranelift (`wide/table.rs` of the back end).
fn needs_short_vectors(function: &Function, inst: &Inst, numbers: Numbers) -> bool {
    let Op::Row(row, _) = &inst.op else { return false };
    let in_lanes = |ty: &Type| numbers == Numbers::InLanes || ty.elements() > 1;
    let types = || inst.args.iter().chain(&inst.results).map(|v| function.ty(*v));
    let is_called = match row.lowering {
        Lowering::Map(Scalar::Call(function)) => !function.is_sequence(),
        Lowering::Composed(_) => true,
        Lowering::Map(_) | Lowering::Convert | Lowering::Iota | Lowering::Constant | Lowering::View(_) | Lowering::Write(_) => false,
        Lowering::Pick(_) | Lowering::Scatter(..) | Lowering::Reduce(_) | Lowering::Dot | Lowering::Line(_) => false,
        Lowering::Routine(_) | Lowering::Factored(_) | Lowering::Probe | Lowering::Missing => false,
    };
    types().any(|ty| in_lanes(ty) && (is_called || ty.dtype.bytes() == 4))
}

/// An index as another one and a distance from it.
fn offset(function: &Function, index: Value) -> (Value, i64) {
    let number = |value: Value| constant(function, value).filter(|array| array.ty().dtype == DType::I64).map(|array| array.as_i64()[0]);
    let sum = |value: Value| {
        let inst = function.insts.iter().find(|inst| inst.results.contains(&value))?;
        match &inst.op {
            Op::Row(row, _) if *row == &ops::ADD => Some((inst.args[0], number(inst.args[1])?)),
            Op::Row(row, _) if *row == &ops::SUB => Some((inst.args[0], number(inst.args[1])?.wrapping_neg())),
            Op::Row(..) | Op::If(_) | Op::For(_) | Op::While(_) | Op::Unwind(_) | Op::Call(_) => None,
        }
    };
    let (mut from, mut distance) = (index, 0i64);
    while let Some((term, more)) = sum(from) {
        (from, distance) = (term, distance.wrapping_add(more));
    }
    (from, distance)
}

fn lowering(inst: &Inst) -> Option<Lowering> {
    match &inst.op {
        Op::Row(row, _) => Some(row.lowering),
        Op::If(_) | Op::For(_) | Op::While(_) | Op::Unwind(_) | Op::Call(_) => None,
    }
}

/// Words of the window that a row reads or writes, where it lies across the rows of its array.
fn words_spread(function: &Function, row: &Row, inst: &Inst) -> u64 {
    let window = if matches!(row.lowering, Lowering::View(View::Slice | View::DynamicSlice)) {
        function.ty(inst.results[0])
    } else if matches!(row.lowering, Lowering::Write(_)) {
        function.ty(inst.args[1])
    } else {
        return 0;
    };
    let line = 64 / window.dtype.bytes();
    let [base, last] = [function.ty(inst.args[0]), window].map(|ty| ty.shape.last().copied().unwrap_or(1));
    let elements = window.elements() as u64;
    if last == 1 && base >= line && elements > 1 { elements } else { 0 }
}

/// Of numbers at indices: where there is one index for several, they are a row.
fn indexed(prices: &Prices, indices: &Type, elements: u64) -> u64 {
    if elements > indices.elements() as u64 { prices.in_row_at_index } else { prices.at_index }
}

/// Whether an array has components: a short axis behind a long one.
fn in_components(ty: &Type) -> bool {
    long_axes(&ty.shape, Grain::default()) < ty.rank()
}

/// The steps of a loop run in lanes if each array that it carries, in the order of its first results, stays as it is or is only written
/// into (`fuse/lanes.rs`).
fn numbers_of(step: &Function, carries: &[Value], count: u64) -> Numbers {
    let only_written = |carry: Value| {
        let mut value = carry;
        while let Some(inst) = step.insts.iter().find(|inst| inst.args.contains(&value)) {
            let writes = matches!(&inst.op, Op::Row(row, _) if matches!(row.lowering, Lowering::Write(_)));
            let readers = step.insts.iter().filter(|inst| inst.args.contains(&value)).count();
            if !writes || readers > 1 || inst.args[0] != value || inst.args[1..].contains(&value) {
                return false;
            }
            value = inst.results[0];
        }
        true
    };
    let lets_lanes = |(carry, end): (&Value, &Value)| carry == end || (step.ty(*carry).rank() > 0 && only_written(*carry));
    if count >= LANES_FROM && carries.iter().zip(&step.results).all(lets_lanes) { Numbers::InLanes } else { Numbers::InTurn }
}

/// Words of its argument number k that a row reads to make its result; single numbers are in registers.
fn words_read(row: &Row, k: usize, arg: &Type, result: &Type) -> u64 {
    let [arg_words, result_words] = [arg, result].map(|ty| ty.elements() as u64);
    match row.lowering {
        _ if arg.rank() == 0 => 0,
        // What is written over is not read.
        Lowering::Write(_) | Lowering::Scatter(..) if k == 0 => 0,
        Lowering::View(_) | Lowering::Pick(_) => arg_words.min(result_words),
        Lowering::Map(_) | Lowering::Convert | Lowering::Iota | Lowering::Probe | Lowering::Missing | Lowering::Constant => arg_words,
        Lowering::Dot | Lowering::Routine(_) | Lowering::Factored(_) | Lowering::Composed(_) => arg_words,
        Lowering::Write(_) | Lowering::Scatter(..) | Lowering::Reduce(_) | Lowering::Line(_) => arg_words,
    }
}

/// Work of the branches of a function, by their predicate: those of one predicate go the same way.
#[derive(Default)]
pub(super) struct Branches {
    sides: BTreeMap<Value, [u64; 2]>,
}

impl Branches {
    pub(super) fn add(&mut self, predicate: Value, sides: [u64; 2]) {
        let known = self.sides.entry(predicate).or_default();
        *known = [0, 1].map(|k| known[k].saturating_add(sides[k]));
    }

    /// The dearer side, or what the two take on average where one is known to be rare.
    pub(super) fn work(&self, function: &Function) -> u64 {
        let either = |(predicate, [one, other]): (&Value, &[u64; 2])| match period(function, *predicate) {
            None => *one.max(other),
            Some(period) => one.saturating_add(other.saturating_mul(period - 1)).div_ceil(period),
        };
        self.sides.iter().map(either).fold(0, u64::saturating_add)
    }
}

/// Where a predicate holds once in so many steps: it is `x rem n == k`.
fn period(function: &Function, predicate: Value) -> Option<u64> {
    let row = |value: Value, wanted: &Row| {
        let inst = function.insts.iter().find(|inst| inst.results.contains(&value))?;
        matches!(&inst.op, Op::Row(row, _) if *row == wanted).then_some(inst)
    };
    let equal = row(predicate, &crate::ops::EQ)?;
    let remainder = equal.args.iter().find_map(|v| row(*v, &crate::ops::REM))?;
    let number = constant(function, remainder.args[1]).filter(|number| number.ty().rank() == 0 && number.ty().dtype == DType::I64)?;
    u64::try_from(number.as_i64()[0]).ok().filter(|number| *number > 0)
}

/// Elements that a row goes through.
fn gone_through(row: &Row, args: &[&Type], result: &Type, contracted: impl Fn(&[&Type]) -> u64) -> u64 {
    let elements = |ty: &Type| ty.elements() as u64;
    let largest = args.iter().map(|ty| elements(ty)).fold(elements(result), u64::max);
    match row.lowering {
        // Another view of the same memory is no work.
        Lowering::View(_) | Lowering::Constant => 0,
        // Every element of the result is a sum of products.
        Lowering::Dot => elements(result).saturating_mul(contracted(args)),
        // What is not written stays where it is.
        Lowering::Write(_) | Lowering::Scatter(..) => elements(args[1]),
        Lowering::Pick(_) => elements(result),
        // n³: a matrix is gone through once for each of its rows. What works along an axis goes through once.
        Lowering::Routine(_) | Lowering::Factored(_) if !row.attrs.contains(&"axis") => largest.saturating_mul(last_extent(args[0])),
        Lowering::Routine(_) | Lowering::Factored(_) | Lowering::Reduce(_) | Lowering::Line(_) | Lowering::Composed(_) => largest,
        Lowering::Map(_) | Lowering::Convert | Lowering::Iota | Lowering::Probe | Lowering::Missing => largest,
    }
}

fn last_extent(ty: &Type) -> u64 {
    ty.shape.last().map_or(1, |extent| *extent as u64)
}

impl Nest {
    /// Work of all its elements.
    pub fn work(&self, placed: &Placed) -> u64 {
        let components = |value: &Val| placed.components(*value, self.shape.len()) as u64;
        let rows = self.rows.iter().map(|item| u64::from(item.row.cost) * components(&item.result)).sum::<u64>();
        let each = rows + self.roots.iter().map(|root| components(root.source())).sum::<u64>();
        self.shape.iter().map(|extent| *extent as u64).fold(each, u64::saturating_mul)
    }
}

impl Loop {
    /// Work of all its steps.
    pub(in crate::plan) fn work(&self, placed: &Placed) -> u64 {
        self.steps.unwrap_or(UNKNOWN_STEPS).saturating_mul(self.step.work(placed))
    }
}

impl Step {
    fn work(&self, placed: &Placed) -> u64 {
        self.block.work(placed)
    }
}

impl Block {
    fn work(&self, placed: &Placed) -> u64 {
        self.nodes.iter().map(|node| node.work(placed)).fold(0, u64::saturating_add)
    }
}

impl Node {
    fn work(&self, placed: &Placed) -> u64 {
        let elements = |value: &Val| placed.ty(*value).elements() as u64;
        match self {
            Node::Scalar(item) => u64::from(item.row.cost),
            Node::Load { .. } | Node::Clamp { .. } | Node::Probe { .. } => 1,
            Node::Nest(nest) => nest.work(placed),
            Node::Reduce { operand, .. } => elements(operand),
            Node::Line { operands, .. } => operands.iter().map(elements).sum(),
            // m·k, k·n and m·n elements are m·n·k products.
            Node::Dot { result, operands: [left, right], .. } => {
                let all = [result, left, right].map(|value| elements(value) as f64);
                u64::from(ops::DOT.cost).saturating_mul(all.iter().product::<f64>().sqrt() as u64)
            }
            Node::Call(call) => call.work(placed),
            Node::If(branch) => branch.blocks.iter().map(|block| block.work(placed)).max().unwrap_or(0),
            Node::For(node) => node.work(placed),
            Node::While(node) => UNKNOWN_STEPS.saturating_mul(node.cond.work(placed).saturating_add(node.step.work(placed))),
            Node::Sweep(drive) | Node::Reversal(drive) => {
                let steps = placed.trajectories[drive.trajectory.0 as usize].steps.unwrap_or(UNKNOWN_STEPS);
                steps.saturating_mul(drive.steps().map(|step| step.work(placed)).fold(0, u64::saturating_add))
            }
        }
    }
}

impl Call {
    /// A product of matrices says it itself; of other routines, what they go through once.
    fn work(&self, placed: &Placed) -> u64 {
        if self.attrs.get("products").is_some() {
            return u64::from(ops::DOT.cost).saturating_mul(ops::Products::read(&self.attrs).work() as u64);
        }
        let all = self.args.iter().chain(&self.scratch).chain([&self.result]);
        all.map(|value: &Val| placed.ty(*value).elements() as u64).sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn work(text: &str, vectors: Vectors) -> u64 {
        let program = ops::parse(text, "prices.rg").expect("this is a Program");
        vectors.priced(&program, program.main()).cost()
    }

    /// A loop of elements over `step`, which makes of %a, an array of 64, the next.
    fn elements(step: &str) -> String {
        format!(
            "fn main(%x: f64[64]) -> f64[64] {{\n  %n: i64 = constant {{value=64}}\n  %y: f64[64] = for %n carries(%x) invariants(%x) {{body=step}}\n  return %y\n}}\n\
             fn step(%i: i64, %a: f64[64], %x: f64[64]) -> f64[64] {{\n{step}}}\n"
        )
    }

    #[test]
    fn steps_that_read_what_they_write_are_not_in_lanes() {
        let step = |from: &str| {
            let read = format!("  %w: f64[1] = dynamic_slice {from}, %i {{sizes=[1], step=[1]}}\n  %b: f64[1] = mul %w, %w\n");
            elements(&(read + "  %r: f64[64] = add_at %a, %b, %i {step=[1]}\n  return %r\n"))
        };
        assert!(work(&step("%x"), Vectors::Wide) < work(&step("%a"), Vectors::Wide), "other steps are not waited for");
    }

    /// A loop over numbers whose step is `code`, which makes %y of %c.
    fn numbers(code: &str) -> String {
        format!(
            "fn main(%x: f64) -> f64 {{\n  %n: i64 = constant {{value=100}}\n  %y: f64 = for %n carries(%x) invariants(%x) {{body=step}}\n  return %y\n}}\n\
             fn step(%i: i64, %c: f64, %x: f64) -> f64 {{\n{code}  return %y\n}}\n"
        )
    }

    #[test]
    fn a_step_takes_as_long_as_the_next_one_waits_for_its_numbers() {
        let chained = numbers("  %a: f64 = mul %c, %x\n  %b: f64 = mul %a, %x\n  %y: f64 = mul %b, %x\n");
        let beside = numbers("  %a: f64 = mul %x, %x\n  %b: f64 = mul %a, %x\n  %y: f64 = mul %b, %c\n");
        let [chained, beside] = [chained, beside].map(|text| work(&text, Vectors::Narrow));
        assert_eq!((chained, beside), (100 * 3 * WAITED_FOR.arithmetic, 100 * WAITED_FOR.arithmetic));
    }

    #[test]
    fn a_number_near_one_that_is_written_is_waited_for() {
        let step = |from: &str| {
            let index = format!("  %k: i64 = constant {{value=1}}\n  %j: i64 = {from}\n");
            let read = "  %w: f64[1] = dynamic_slice %a, %j {sizes=[1], step=[1]}\n  %b: f64[1] = mul %w, %w\n";
            elements(&(index + read + "  %r: f64[64] = update %a, %b, %i {step=[1]}\n  return %r\n"))
        };
        let [before, same] = ["sub %i, %k", "mul %i, %k"].map(|from| work(&step(from), Vectors::Narrow));
        assert!(before > 3 * same, "{before} from the element before, {same} from elsewhere");
    }

    #[test]
    fn around_functions_that_are_called_vectors_are_narrow() {
        let code = |line: &str| {
            format!("fn main(%x: f64[64]) -> f64[64] {{\n  %a: f64[64] = mul %x, %x\n  %y: f64[64] = {line}\n  return %y\n}}\n")
        };
        let [sum, in_line, called] =
            ["add %a, %x", "exp %a", "sin %a"].map(|line| [Vectors::Narrow, Vectors::Mixed].map(|vectors| work(&code(line), vectors)));
        assert!(sum[1] < sum[0] && in_line[1] < in_line[0] && called[1] == called[0], "{sum:?}, {in_line:?}, {called:?}");
    }

    #[test]
    fn numbers_at_indices_cost_more_than_additions() {
        let code = |line: &str| {
            format!("fn main(%x: f64[64,3], %y: f64[64,3], %i: i64[64]) -> f64[64,3] {{\n  %r: f64[64,3] = {line}\n  return %r\n}}\n")
        };
        for vectors in [Vectors::Narrow, Vectors::Mixed, Vectors::Wide] {
            let [picked, added] = ["gather %x, %i {axis=[0]}", "add %x, %y"].map(|line| work(&code(line), vectors));
            assert!(picked > 5 * added, "{picked} for rows at indices, {added} for a sum");
        }
    }

    #[test]
    fn a_function_of_few_elements_costs_as_much_as_one_of_a_block() {
        let code = |n: usize| format!("fn main(%x: f64[{n}]) -> f64[{n}] {{\n  %y: f64[{n}] = exp %x\n  return %y\n}}\n");
        for vectors in [Vectors::Narrow, Vectors::Mixed, Vectors::Wide] {
            assert!(work(&code(14), vectors) >= work(&code(16), vectors));
        }
    }
}
