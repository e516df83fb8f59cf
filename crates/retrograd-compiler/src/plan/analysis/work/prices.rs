//! What a row costs by the vectors of a back end: the table of prices, and how often each is paid.

use super::traffic::in_components;
use super::{Numbers, SimdTarget};
use crate::ir::{Attrs, Function, Inst, Lowering, Op, OpDef, Scalar, Type};
use crate::ops::{DotAxes, DotOrder, sum_axes};
use crate::plan::analysis::grain::{extents, is_called};

/// Picoseconds for every addition that a row says it is worth, and for numbers in cache that are read or written.
pub(super) struct Prices {
    pub(super) arithmetic: u64,
    /// Quotients and square roots.
    division: u64,
    /// Functions, and what goes along an axis.
    function: u64,
    /// A multiplication of a small product of matrices, in loops.
    multiplication: u64,
    /// A function of an array that fills no block of lanes, all of its elements together.
    function_of_few: u64,
    pub(super) word: u64,
    /// A word of rows that are components (`memory/component.rs`): lanes go across them.
    pub(super) word_across: u64,
    /// A number that is read or written at an index of its own.
    pub(super) at_index: u64,
    /// A number of a row that is.
    in_row_at_index: u64,
}

/// Of arrays in vectors of 128 bits.
const NARROW: Prices = Prices {
    arithmetic: 50,
    division: 42,
    function: 27,
    multiplication: 150,
    function_of_few: 1200,
    word: 42,
    word_across: 200,
    at_index: 600,
    in_row_at_index: 2500,
};
/// Of arrays in vectors of 512 bits by Cranelift.
const MIXED: Prices = Prices {
    arithmetic: 20,
    division: 23,
    function: 22,
    multiplication: 105,
    function_of_few: 700,
    word: 25,
    word_across: 200,
    at_index: 600,
    in_row_at_index: 1300,
};
/// Of arrays in vectors of 512 bits by LLVM: an addition is the unit of rows.
const WIDE: Prices = Prices {
    arithmetic: 20,
    division: 23,
    function: 20,
    multiplication: 85,
    function_of_few: 600,
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
    multiplication: 120,
    function_of_few: 60,
    word: 0,
    word_across: 0,
    at_index: 250,
    in_row_at_index: 250,
};
/// Of single numbers that the next instruction waits for.
pub(super) const LATENCY_BOUND: Prices = Prices {
    arithmetic: 820,
    division: 250,
    function: 400,
    function_of_few: 400,
    at_index: 1500,
    in_row_at_index: 1500,
    ..NUMBER
};
/// Of single numbers of a loop whose steps run in lanes, by vectors.
const NARROW_LANES: Prices =
    Prices { arithmetic: 120, division: 42, function: 30, at_index: 300, in_row_at_index: 300, ..NUMBER };
const MIXED_LANES: Prices = Prices { arithmetic: 42, division: 23, ..NARROW_LANES };
const WIDE_LANES: Prices =
    Prices { arithmetic: 36, division: 23, function: 30, at_index: 250, in_row_at_index: 250, ..NUMBER };

/// Lanes that a function is computed in at once, at their most.
const BLOCK: u64 = 16;

/// Of products of matrices by a call (`ops/matrix.rs`), which takes the vectors of the machine whoever calls.
struct CalledPrices {
    multiplication: u64,
    /// A word of the left side, which is packed, of the right side and of the result.
    words: [u64; 3],
    /// A row of the result that does not fill vectors.
    ragged_row: u64,
}

const CALLED: CalledPrices = CalledPrices { multiplication: 38, words: [550, 150, 200], ragged_row: 7000 };

/// A sum along lanes, besides its additions: of the numbers of one vector.
const ALONG_LANES: u64 = 2500;

/// Numbers of a vector.
const VECTOR: u64 = 8;

/// Of the rows of a matrix with a factorisation, for each of its elements and every addition that the row says it is
/// worth.
const FACTORISATION: u64 = 8;

/// Of a call of a function of the host, which may do anything: some 20 µs.
const HOST: u64 = 20_000_000;

impl SimdTarget {
    /// Where elements are many, they are in vectors.
    pub(super) fn prices(self, elements: u64, numbers: Numbers) -> &'static Prices {
        match (self, numbers) {
            (SimdTarget::Bits128 | SimdTarget::Bits512Or128 | SimdTarget::Widest, Numbers::InTurn) if elements <= 1 => {
                &NUMBER
            }
            (SimdTarget::Bits128 | SimdTarget::Bits512Or128 | SimdTarget::Widest, Numbers::LatencyBound)
                if elements <= 1 =>
            {
                &LATENCY_BOUND
            }
            (SimdTarget::Bits128, Numbers::InLanes) if elements <= 1 => &NARROW_LANES,
            (SimdTarget::Bits512Or128, Numbers::InLanes) if elements <= 1 => &MIXED_LANES,
            (SimdTarget::Widest, Numbers::InLanes) if elements <= 1 => &WIDE_LANES,
            (SimdTarget::Bits128, Numbers::InTurn | Numbers::LatencyBound | Numbers::InLanes) => &NARROW,
            (SimdTarget::Bits512Or128, Numbers::InTurn | Numbers::LatencyBound | Numbers::InLanes) => &MIXED,
            (SimdTarget::Widest, Numbers::InTurn | Numbers::LatencyBound | Numbers::InLanes) => &WIDE,
        }
    }

    pub(super) fn row_cost(self, def: &OpDef, attrs: &Attrs, args: &[&Type], result: &Type, numbers: Numbers) -> u64 {
        let elements = gone_through(def, args, result);
        let prices = self.prices(elements, numbers);
        let all = |price: u64| u64::from(def.cost).saturating_mul(price).saturating_mul(elements);
        match def.lowering {
            Lowering::Map(Scalar::Div | Scalar::Sqrt) => all(prices.division),
            Lowering::Map(Scalar::Call(_)) | Lowering::Composed(_) if (2..BLOCK).contains(&elements) => {
                u64::from(def.cost) * prices.function_of_few
            }
            Lowering::Map(Scalar::Call(_)) | Lowering::Composed(_) => all(prices.function),
            Lowering::Dot => self.contraction(&DotAxes::new(attrs, args[0].rank(), args[1].rank()), args),
            Lowering::Routine(_) if def.lowering.is_host() => HOST.saturating_add(elements),
            Lowering::Routine(_) | Lowering::Factored(..) if def.attrs.contains(&"axis") => all(prices.function),
            Lowering::Routine(_) | Lowering::Factored(..) => all(FACTORISATION),
            Lowering::Map(_)
            | Lowering::Convert
            | Lowering::Iota
            | Lowering::Probe
            | Lowering::Check
            | Lowering::Missing => all(prices.arithmetic),
            Lowering::Reduce(_) => all(prices.arithmetic)
                .saturating_add(sums_along_lanes(attrs, args[0], result).saturating_mul(ALONG_LANES)),
            Lowering::View(_) | Lowering::Constant | Lowering::Scan(_) => all(prices.arithmetic),
            Lowering::Write(_) if elements <= 1 || numbers == Numbers::InLanes => {
                elements.saturating_mul(prices.at_index)
            }
            Lowering::Write(_) => all(prices.arithmetic),
            Lowering::Pick(_) => elements.saturating_mul(indexed(prices, args[1], elements)),
            Lowering::Scatter(..) => elements.saturating_mul(indexed(prices, args[2], elements)),
        }
    }
}

impl SimdTarget {
    /// A contraction: sums in lanes along what is contracted, loops over the elements of small products, or a call.
    fn contraction(self, axes: &DotAxes, args: &[&Type]) -> u64 {
        let [batch, rows, columns, steps] = extents(axes, args).map(|extent| extent as u64);
        let products = [batch, rows, columns, steps].iter().fold(1, |all: u64, extent| all.saturating_mul(*extent));
        match axes.order(args[0].dtype) {
            DotOrder::Blocked => {
                let sums = if in_components(args[0]) { 0 } else { batch.saturating_mul(rows).saturating_mul(columns) };
                let each = 2 * self.prices(products, Numbers::InTurn).arithmetic;
                products.saturating_mul(each).saturating_add(sums.saturating_mul(ALONG_LANES))
            }
            DotOrder::Chained if !is_called(extents(axes, args)) => {
                products.saturating_mul(self.prices(u64::MAX, Numbers::InTurn).multiplication)
            }
            DotOrder::Chained => {
                let whole = columns.next_multiple_of(VECTOR);
                let [left, right, result] = CALLED.words;
                let each = [
                    (rows * steps * whole, CALLED.multiplication),
                    (rows * steps, left),
                    (steps * columns, right),
                    (rows * columns, result),
                    (if whole == columns { 0 } else { rows }, CALLED.ragged_row),
                ];
                each.iter()
                    .map(|(times, price)| times.saturating_mul(*price))
                    .fold(0, u64::saturating_add)
                    .saturating_mul(batch)
            }
        }
    }
}

/// How many numbers are made of elements that lie in one vector.
fn sums_along_lanes(attrs: &Attrs, arg: &Type, result: &Type) -> u64 {
    let (_, _, blocked) = sum_axes(arg.rank(), &attrs.sizes("axes"));
    let lanes: usize = blocked.iter().map(|axis| arg.shape[*axis]).product();
    if lanes > 1 && !in_components(arg) { result.elements() as u64 } else { 0 }
}

/// Of numbers at indices: where there is one index for several, they are a row.
fn indexed(prices: &Prices, indices: &Type, elements: u64) -> u64 {
    if elements > indices.elements() as u64 { prices.in_row_at_index } else { prices.at_index }
}

/// Elements that a row goes through.
fn gone_through(def: &OpDef, args: &[&Type], result: &Type) -> u64 {
    let elements = |ty: &Type| ty.elements() as u64;
    let largest = args.iter().map(|ty| elements(ty)).fold(elements(result), u64::max);
    match def.lowering {
        // Another view of the same memory is no work.
        Lowering::View(_) | Lowering::Constant => 0,
        // What is not written stays where it is.
        Lowering::Write(_) | Lowering::Scatter(..) => elements(args[1]),
        Lowering::Pick(_) => elements(result),
        // n³: a matrix is gone through once for each of its rows. What works along an axis goes through once.
        Lowering::Routine(_) if def.lowering.is_host() => largest,
        Lowering::Routine(_) | Lowering::Factored(..) if !def.attrs.contains(&"axis") => {
            largest.saturating_mul(last_extent(args[0]))
        }
        Lowering::Routine(_)
        | Lowering::Factored(..)
        | Lowering::Reduce(_)
        | Lowering::Scan(_)
        | Lowering::Composed(_) => largest,
        // What it multiplies says its price.
        Lowering::Dot => largest,
        Lowering::Map(_)
        | Lowering::Convert
        | Lowering::Iota
        | Lowering::Probe
        | Lowering::Check
        | Lowering::Missing => largest,
    }
}

fn last_extent(ty: &Type) -> u64 {
    ty.shape.last().map_or(1, |extent| *extent as u64)
}

/// Whether what an instruction does in lanes has no form in vectors of 512 bits by Cranelift (`wide/table.rs` of the
/// back end).
pub(super) fn needs_short_vectors(function: &Function, inst: &Inst, numbers: Numbers) -> bool {
    let Op::Def(def, _) = &inst.op else { return false };
    let in_lanes = |ty: &Type| numbers == Numbers::InLanes || ty.elements() > 1;
    let types = || inst.args.iter().chain(&inst.results).map(|v| function.ty(*v));
    let is_called = match def.lowering {
        Lowering::Map(Scalar::Call(function)) => !function.is_sequence(),
        Lowering::Composed(_) => true,
        Lowering::Map(_)
        | Lowering::Convert
        | Lowering::Iota
        | Lowering::Constant
        | Lowering::View(_)
        | Lowering::Write(_) => false,
        Lowering::Pick(_) | Lowering::Scatter(..) | Lowering::Reduce(_) | Lowering::Dot | Lowering::Scan(_) => false,
        Lowering::Routine(_) | Lowering::Factored(..) | Lowering::Probe | Lowering::Check | Lowering::Missing => false,
    };
    types().any(|ty| in_lanes(ty) && (is_called || ty.dtype.bytes() == 4))
}
