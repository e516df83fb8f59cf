//! Words that code reads from memory and writes there, and how far away that is.

use std::collections::{BTreeMap, BTreeSet};

use super::{Numbers, SimdTarget, lowering};
use crate::ir::{Attrs, Composed, Function, Inst, Lowering, Op, OpDef, Type, Value, View};
use crate::plan::analysis::grain::{Grain, long_axes};

/// What a word costs besides that is written, and read again, where more than so many bytes are written between: it is
/// in memory, or in the last of the caches.
const FAR: [(u64, [u64; 2]); 3] = [(32 << 20, [350, 250]), (16 << 20, [150, 100]), (1 << 20, [50, 25])];

/// What a word costs besides of a result of the run that is more than so many bytes: its memory is new every time, and
/// the operating system clears it.
const NEW: (u64, u64) = (32 << 20, 450);

/// What a word of a window costs besides that lies across the rows of its array, a line of the cache for each, where
/// such arrays are more than so many bytes; or else, where the lines of all windows are more than so many bytes.
const SPREAD: [(u64, u64); 2] = [(16 << 20, 2700), (1 << 20, 800)];
const SPREAD_LINES: [(u64, u64); 2] = [(32 << 10, 700), (0, 300)];
const LINE: u64 = 64;

/// What a single number costs besides that is read or written at an index of an array of more than so many bytes, which
/// is in memory: nothing is fetched before it is asked for beyond the end of a page.
const WALKED: (u64, u64) = (16 << 20, 400);

const WRITTEN: usize = 0;
const READ: usize = 1;

impl SimdTarget {
    /// Words of a record or a held state that are written and later read: by whoever writes and by whoever reads. So
    /// many bytes are written until then, at most.
    pub(in crate::plan) fn words(self, words: u64, bytes_of_all: u64) -> [u64; 2] {
        far(bytes_of_all).map(|far| words.saturating_mul(far + self.prices(u64::MAX, Numbers::InTurn).word))
    }

    /// Words of arrays that rows of a function read of what is in memory, each window of one at its own time and the
    /// rest at most once in a pass, and of those that they leave there, besides what they take that comes from
    /// beyond the nearest caches.
    pub(super) fn traffic(self, function: &Function) -> u64 {
        let prices = self.prices(u64::MAX, Numbers::InTurn);
        let moved = Moved::by(function);
        let near = far(total(&moved.most)
            .saturating_add(moved.written)
            .saturating_add(total(&moved.updated))
            .saturating_mul(8));
        let words = moved.words.saturating_add(total(&moved.whole)).saturating_add(moved.written);
        let all = [
            words.saturating_mul(prices.word),
            moved.written.saturating_add(total(&moved.updated)).saturating_mul(near[WRITTEN]),
            total(&moved.most).saturating_mul(near[READ]),
            moved.across.saturating_mul(prices.word_across),
            moved.spread.saturating_mul(moved.spread_price(function)),
        ];
        all.into_iter().fold(0, u64::saturating_add)
    }
}

/// Words that the code of a function moves.
#[derive(Default)]
struct Moved {
    /// Read in windows, and what branches give.
    words: u64,
    /// Of an array that is read, in each pass, the most at a time, and without its windows.
    most: BTreeMap<(Value, usize), u64>,
    whole: BTreeMap<(Value, usize), u64>,
    /// Of arrays that are made.
    written: u64,
    /// Of an array that is written to, the most at a time: windows of one are written together.
    updated: BTreeMap<Value, u64>,
    /// Of products, across components.
    across: u64,
    /// Of windows across rows, and those of each window, by its array and place.
    spread: u64,
    spread_over: BTreeMap<(Value, String), u64>,
    /// Places of windows in rows.
    in_rows: BTreeSet<(Value, [Option<i64>; 2], Vec<usize>)>,
}

impl Moved {
    fn by(function: &Function) -> Moved {
        let stages = stages(function);
        let (arrays, mut moved) = (in_memory(function, &stages), Moved::default());
        for inst in &function.insts {
            match &inst.op {
                Op::Def(def, attrs) => moved.row(function, (def, attrs), inst, stage(inst, &stages), &arrays),
                // What an `if` gives is in memory: no nest goes across it, so that it is written and read.
                Op::If(_) => {
                    let arrays = inst.results.iter().map(|v| function.ty(*v)).filter(|ty| ty.rank() > 0);
                    moved.words = arrays.map(|ty| 2 * ty.elements() as u64).fold(moved.words, u64::saturating_add);
                }
                Op::For(_) | Op::While(_) | Op::Unwind(_) | Op::Call(_) => {}
            }
        }
        moved
    }

    fn row(
        &mut self,
        function: &Function,
        (row, attrs): (&OpDef, &Attrs),
        inst: &Inst,
        pass: usize,
        arrays: &BTreeMap<Value, Value>,
    ) {
        let result = function.ty(inst.results[0]);
        if row.lowering == Lowering::Dot && inst.args.iter().all(|v| in_components(function.ty(*v))) {
            // Its operands are written by one nest and read by another, and so is its result.
            let all =
                inst.args.iter().filter(|v| !function.params.contains(v)).chain(&inst.results).map(|v| function.ty(*v));
            self.across = all.map(|ty| 2 * ty.elements() as u64).fold(self.across, u64::saturating_add);
        }
        if let Some((lines, place)) = words_spread(function, row, attrs, inst) {
            let base = arrays.get(&inst.args[0]).copied().unwrap_or(inst.args[0]);
            self.spread = self.spread.saturating_add(lines);
            self.spread_over.insert((base, place), lines);
        }
        for (k, arg) in inst.args.iter().enumerate().filter(|(_, arg)| arrays.contains_key(arg)) {
            let part = words_read(row, k, function.ty(*arg), result);
            raise(&mut self.most, (arrays[arg], pass), part);
            match row.lowering {
                Lowering::View(View::Slice)
                    if !self.in_rows.insert((arrays[arg], along_row(attrs), result.shape.clone())) =>
                {
                    // Several rows at a time load once what two of them read (`lower/rows.rs`).
                    self.words = self.words.saturating_add(part / 2);
                }
                Lowering::View(_) => self.words = self.words.saturating_add(part),
                Lowering::Map(_)
                | Lowering::Convert
                | Lowering::Iota
                | Lowering::Probe
                | Lowering::Check
                | Lowering::Missing
                | Lowering::Constant => {
                    raise(&mut self.whole, (arrays[arg], pass), part);
                }
                Lowering::Dot
                | Lowering::Routine(_)
                | Lowering::Factored(..)
                | Lowering::Composed(_)
                | Lowering::Reduce(_) => {
                    raise(&mut self.whole, (arrays[arg], pass), part);
                }
                Lowering::Write(_) | Lowering::Scatter(..) | Lowering::Pick(_) | Lowering::Scan(_) => {
                    raise(&mut self.whole, (arrays[arg], pass), part);
                }
            }
        }
        if matches!(row.lowering, Lowering::Write(_) | Lowering::Scatter(..)) {
            // To write is what the row itself costs. What is written to one place after another is read for each.
            let (part, array) = (function.ty(inst.args[1]).elements() as u64, arrays[&inst.results[0]]);
            if part > 1 && self.updated.contains_key(&array) {
                self.words = self.words.saturating_add(part);
            }
            raise(&mut self.updated, array, part);
        } else if result.rank() > 0 && arrays.contains_key(&inst.results[0]) {
            self.written = self.written.saturating_add(result.elements() as u64);
        }
    }

    /// What a word of a window across rows costs.
    fn spread_price(&self, function: &Function) -> u64 {
        let level = |levels: &[(u64, u64); 2], bytes: u64| {
            levels.iter().find(|(more_than, _)| bytes > *more_than).map(|(_, each)| *each)
        };
        let over: BTreeSet<Value> = self.spread_over.keys().map(|(base, _)| *base).collect();
        let bytes = over.iter().map(|v| function.ty(*v).bytes() as u64).fold(0, u64::saturating_add);
        level(&SPREAD, bytes).or(level(&SPREAD_LINES, total(&self.spread_over).saturating_mul(LINE))).unwrap_or(0)
    }
}

fn total<K>(words: &BTreeMap<K, u64>) -> u64 {
    words.values().copied().fold(0, u64::saturating_add)
}

fn raise<K: Ord>(words: &mut BTreeMap<K, u64>, of: K, to: u64) {
    let most = words.entry(of).or_default();
    *most = to.max(*most);
}

/// Where a window begins in the rows of its array, and in which steps it goes along them.
fn along_row(attrs: &Attrs) -> [Option<i64>; 2] {
    ["start", "step"].map(|name| attrs.numbers(name).last().copied())
}

/// What the results of a run cost besides where their memory is new.
pub(in crate::plan) fn new_memory(main: &Function) -> u64 {
    let bytes = main.results.iter().map(|v| main.ty(*v).bytes() as u64).filter(|bytes| *bytes > NEW.0);
    bytes.map(|bytes| (bytes / 8).saturating_mul(NEW.1)).fold(0, u64::saturating_add)
}

/// What a word costs besides that is written, and read again, where so many bytes are written between.
fn far(bytes: u64) -> [u64; 2] {
    FAR.iter().find(|(more_than, _)| bytes > *more_than).map_or([0, 0], |(_, far)| *far)
}

/// What single numbers at indices cost besides where their arrays are in memory, whatever else a step waits for.
pub(super) fn walked(function: &Function) -> u64 {
    let far = |inst: &&Inst| {
        let window = match lowering(inst) {
            Some(Lowering::View(View::DynamicSlice)) => inst.results[0],
            Some(Lowering::Write(_)) => inst.args[1],
            Some(_) | None => return false,
        };
        function.ty(window).elements() == 1 && function.ty(inst.args[0]).bytes() as u64 > WALKED.0
    };
    function.insts.iter().filter(far).count() as u64 * WALKED.1
}

/// For each value, how many times something that all elements of an array go into was made before it: what is made then
/// is made in another pass over the elements.
fn stages(function: &Function) -> Vec<usize> {
    let mut stages = vec![0; function.types.len()];
    for inst in &function.insts {
        let after = stage(inst, &stages) + usize::from(ends_a_pass(function, inst));
        inst.results.iter().for_each(|v| stages[v.0 as usize] = after);
    }
    stages
}

/// The pass that an instruction runs in.
fn stage(inst: &Inst, stages: &[usize]) -> usize {
    inst.args.iter().map(|v| stages[v.0 as usize]).max().unwrap_or(0)
}

/// Whether an instruction needs all elements of an array. The components of one element are together.
fn ends_a_pass(function: &Function, inst: &Inst) -> bool {
    let Op::Def(def, attrs) = &inst.op else { return false };
    let of_components = |axes: &[usize]| {
        let ty = function.ty(inst.args[0]);
        axes.iter().all(|axis| *axis >= long_axes(&ty.shape, Grain::default()))
    };
    match def.lowering {
        Lowering::Reduce(_) | Lowering::Composed(Composed::LogSumExp) => !of_components(&attrs.sizes("axes")),
        Lowering::Dot => !of_components(&attrs.sizes("lhs_contract")),
        Lowering::Scan(_) | Lowering::Routine(_) | Lowering::Factored(..) => true,
        Lowering::Map(_)
        | Lowering::Convert
        | Lowering::Iota
        | Lowering::Probe
        | Lowering::Check
        | Lowering::Missing
        | Lowering::Constant => false,
        Lowering::View(_) | Lowering::Write(_) | Lowering::Pick(_) | Lowering::Scatter(..) | Lowering::Composed(_) => {
            false
        }
    }
}

/// Arrays of a function that are in memory, with the one that has their memory: what it is given and leaves, what it
/// writes to, what is read in windows, and what a later pass reads.
fn in_memory(function: &Function, stages: &[usize]) -> BTreeMap<Value, Value> {
    let windows = function
        .insts
        .iter()
        .filter(|inst| matches!(lowering(inst), Some(Lowering::View(View::Slice | View::DynamicSlice))));
    let mut wanted: BTreeSet<Value> =
        windows.map(|inst| inst.args[0]).chain(function.results.iter().copied()).collect();
    let mut seen: Vec<Value> = (0..function.types.len()).map(|k| Value(k as u32)).collect();
    for inst in &function.insts {
        if matches!(lowering(inst), Some(Lowering::View(_))) {
            seen[inst.results[0].0 as usize] = seen[inst.args[0].0 as usize];
        } else {
            let now = stage(inst, stages);
            wanted.extend(
                inst.args
                    .iter()
                    .map(|v| seen[v.0 as usize])
                    .filter(|v| stages[v.0 as usize] < now && function.ty(*v).elements() > 1),
            );
        }
    }
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

/// Words of the window that a row reads or writes, and its place, where it lies across the rows of its array.
fn words_spread(function: &Function, def: &OpDef, attrs: &Attrs, inst: &Inst) -> Option<(u64, String)> {
    let (window, place) = match def.lowering {
        Lowering::View(View::Slice) => (function.ty(inst.results[0]), format!("{:?}", attrs.numbers("start"))),
        Lowering::View(View::DynamicSlice) => (function.ty(inst.results[0]), format!("{:?}", &inst.args[1..])),
        Lowering::Write(_) => (function.ty(inst.args[1]), format!("{:?}", &inst.args[2..])),
        Lowering::View(_)
        | Lowering::Map(_)
        | Lowering::Convert
        | Lowering::Iota
        | Lowering::Constant
        | Lowering::Reduce(_) => {
            return None;
        }
        Lowering::Pick(_) | Lowering::Scatter(..) | Lowering::Dot | Lowering::Scan(_) | Lowering::Routine(_) => {
            return None;
        }
        Lowering::Factored(..) | Lowering::Composed(_) | Lowering::Probe | Lowering::Check | Lowering::Missing => {
            return None;
        }
    };
    let line = LINE as usize / window.dtype.bytes();
    let [base, last] = [function.ty(inst.args[0]), window].map(|ty| ty.shape.last().copied().unwrap_or(1));
    let elements = window.elements() as u64;
    (last == 1 && base >= line && elements > 1).then_some((elements, place))
}

/// Whether an array has components: a short axis behind a long one.
pub(super) fn in_components(ty: &Type) -> bool {
    long_axes(&ty.shape, Grain::default()) < ty.rank()
}

/// Words of its argument number k that a row reads to make its result; single numbers are in registers.
fn words_read(def: &OpDef, k: usize, arg: &Type, result: &Type) -> u64 {
    let [arg_words, result_words] = [arg, result].map(|ty| ty.elements() as u64);
    match def.lowering {
        _ if arg.rank() == 0 => 0,
        // What is written over is not read.
        Lowering::Write(_) | Lowering::Scatter(..) if k == 0 => 0,
        Lowering::View(_) | Lowering::Pick(_) => arg_words.min(result_words),
        Lowering::Map(_)
        | Lowering::Convert
        | Lowering::Iota
        | Lowering::Probe
        | Lowering::Check
        | Lowering::Missing
        | Lowering::Constant => arg_words,
        Lowering::Dot | Lowering::Routine(_) | Lowering::Factored(..) | Lowering::Composed(_) => arg_words,
        Lowering::Write(_) | Lowering::Scatter(..) | Lowering::Reduce(_) | Lowering::Scan(_) => arg_words,
    }
}

#[cfg(test)]
mod tests {
    use super::{Moved, total, walked};
    use crate::ops;

    /// Words that the code of a Program moves: in windows, of arrays that are read and made, and of those that are
    /// written to.
    fn moved(text: &str) -> [u64; 4] {
        let program = ops::parse(text, "traffic.rg").expect("this is a Program");
        let moved = Moved::by(program.main());
        [moved.words, total(&moved.whole), moved.written, total(&moved.updated)]
    }

    #[test]
    fn what_a_later_pass_reads_is_written_and_read() {
        let code = |last: &str| {
            format!(
                "fn main(%x: f64[64]) -> f64[64] {{\n  %e: f64[64] = exp %x\n  %s: f64 = sum %e {{axes=[0]}}\n  %b: \
                 f64[64] = broadcast %s {{shape=[64], axes=[]}}\n  %y: f64[64] = div {last}, %b\n  return %y\n}}\n"
            )
        };
        assert_eq!(
            moved(&code("%e")),
            [0, 3 * 64, 2 * 64, 0],
            "x, e by its sum, and e again are read; e and y are written"
        );
        assert_eq!(moved(&code("%x")), [0, 2 * 64, 64, 0], "x is read twice, y written");
    }

    #[test]
    fn sums_over_components_end_no_pass() {
        let text = "fn main(%x: f64[1000,3]) -> f64[1000,3] {\n  %e: f64[1000,3] = mul %x, %x\n  %s: f64[1000] = sum \
                    %e {axes=[1]}\n  %b: f64[1000,3] = broadcast %s {shape=[1000, 3], axes=[0]}\n  %y: f64[1000,3] = \
                    div %e, %b\n  return %y\n}\n";
        assert_eq!(moved(text), [0, 3000, 3000, 0]);
    }

    #[test]
    fn rows_share_what_they_read() {
        let code = |first: &str| {
            format!(
                "fn main(%x: f64[18,16]) -> f64[16,14] {{\n  %a: f64[16,14] = slice %x {{start=[0, 1], stop=[16, 15], \
                 step=[1, 1]}}\n  %b: f64[16,14] = slice %x {{start={first}, step=[1, 1]}}\n  %y: f64[16,14] = add \
                 %a, %b\n  return %y\n}}\n"
            )
        };
        let windows = ["[2, 1], stop=[18, 15]", "[0, 2], stop=[16, 16]"].map(|first| moved(&code(first))[0]);
        assert_eq!(windows, [224 + 112, 2 * 224], "a window in other rows, and one at another place of the same");
    }

    #[test]
    fn windows_of_one_array_are_written_together() {
        let text = "fn main(%x: f64[64], %y: f64[60]) -> f64[64] {\n  %i: i64 = constant {value=0}\n  %j: i64 = \
                    constant {value=2}\n  %a: f64[64] = add_at %x, %y, %i {step=[1]}\n  %b: f64[64] = add_at %a, %y, \
                    %j {step=[1]}\n  return %b\n}\n";
        assert_eq!(moved(text), [60, 60, 0, 60]);
    }

    #[test]
    fn numbers_of_arrays_beyond_the_caches_are_waited_for() {
        let code = |n: usize| {
            format!(
                "fn main(%x: f64[{n}], %i: i64) -> f64[1] {{\n  %y: f64[1] = dynamic_slice %x, %i {{sizes=[1], \
                 step=[1]}}\n  return %y\n}}\n"
            )
        };
        let [near, far] =
            [1000, 5_000_000].map(|n| walked(ops::parse(&code(n), "traffic.rg").expect("this is a Program").main()));
        assert!(near == 0 && far > 0);
    }
}
