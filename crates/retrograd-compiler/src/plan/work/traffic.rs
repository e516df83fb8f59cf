//! Words that code reads from memory and writes there, and how far away that is.

use std::collections::{BTreeMap, BTreeSet};

use super::{Numbers, Vectors, lowering};
use crate::ir::{Function, Inst, Lowering, Op, Row, Type, Value, View};
use crate::plan::place::{Grain, long_axes};

/// What a word costs besides that is written, and read again, where more than so many bytes are written between: it is in memory, or in
/// the last of the caches.
const FAR: [(u64, [u64; 2]); 2] = [(16 << 20, [300, 200]), (1 << 20, [50, 25])];

/// What a word of a window costs besides that lies across the rows of its array, a line of the cache for each, where a function's arrays are
/// more than so many bytes.
const SPREAD: [(u64, u64); 3] = [(16 << 20, 2700), (1 << 20, 800), (0, 500)];

impl Vectors {
    /// Words of a record or a held state that are written and later read: by whoever writes and by whoever reads. So many bytes are
    /// written until then, at most.
    pub(in crate::plan) fn words(self, words: u64, bytes_of_all: u64) -> [u64; 2] {
        far(bytes_of_all).map(|far| words.saturating_mul(far + self.prices(u64::MAX, Numbers::InTurn).word))
    }

    /// Words of arrays that rows of a function read of what is in memory, each window of one at its own time and the rest at most once, and of
    /// those that they leave there, besides what they take that comes from beyond the nearest caches. What an `if` gives is in memory: it is
    /// written and read, and an update of it goes to another place. That these are four words an element was found on one program
    /// (`bench/programs/nested.py`). So is what a product reads and makes across components.
    pub(super) fn traffic(self, function: &Function) -> u64 {
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

/// Whether an array has components: a short axis behind a long one.
fn in_components(ty: &Type) -> bool {
    long_axes(&ty.shape, Grain::default()) < ty.rank()
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
