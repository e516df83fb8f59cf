//! Interchange: a loop that treats the elements along the leading axis of its arrays alike is run tile by tile.
//!
//! `for n {map}` becomes `map {for n}` over runs of elements. Each tile goes through all steps forwards and backwards before the next one
//! starts, so that what it keeps stays in cache and is small: the memory is that of one tile. The rewrite changes the order in which
//! elements are worked on and nothing else; a loop that sums over the axis does not qualify, so no bit of any result changes.

mod group;
mod one_by_one;
mod retile;
mod rows;
mod straight;

use std::collections::BTreeSet;

use super::facts::constant;
use super::pair::pairs;
use crate::ir::{Function, Op, Program, Type, Value};
use group::{Members, tiled};

/// A Program whose pointwise loops run tile by tile.
#[derive(Clone, Debug)]
pub(super) struct Interchanged {
    /// The Program.
    pub(super) program: Program,
    /// Elements of a tile of each loop.
    pub(super) tiles: Vec<usize>,
    /// Elements of a tile of each piece of code outside of loops.
    pub(super) strips: Vec<usize>,
}

/// How large tiles are.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tiling {
    /// What the states of all steps of a tile may take, so that they stay in cache, what else is recorded included, and what code outside
    /// of loops makes: the most first. Tiles of several vectors are faster, small ones take less memory.
    pub bytes_in_cache: Vec<u64>,
    /// Fewest elements of a tile of a loop: some vectors, to hide the latency of a recurrence.
    pub tile_least: usize,
    /// Bytes that code outside of loops makes on its way, from which they leave the cache: fewer need no tiles.
    pub bytes_made: u64,
}

impl Default for Tiling {
    fn default() -> Tiling {
        Tiling { bytes_in_cache: vec![800_000, 400_000], tile_least: 32, bytes_made: 1 << 20 }
    }
}

/// Most elements of a tile, where steps are few or their number is not known.
const TILE_MOST: u64 = 512;

/// The Program with its pointwise unwinds, and the loops that they share states with, run in tiles: in large ones, and in small ones where
/// they are others; empty where there is no such unwind.
pub(super) fn interchange(program: &Program, tiling: &Tiling) -> Vec<Interchanged> {
    let mut all: Vec<Interchanged> = tiling.bytes_in_cache.iter().filter_map(|bytes| within(program, tiling, *bytes)).collect();
    all.dedup_by(|small, large| (&small.tiles, &small.strips) == (&large.tiles, &large.strips));
    all
}

fn within(program: &Program, tiling: &Tiling, cache_bytes: u64) -> Option<Interchanged> {
    let mut program = program.clone();
    let mut tiles = vec![];
    // Tiles hold unwinds inside their body, so what was interchanged is not found again.
    while let Some((next, tile)) = next(&program, tiling, cache_bytes) {
        program = next;
        tiles.push(tile);
    }
    let mut strips = vec![];
    while let Some((next, tile)) = straight::next(&program, tiling, cache_bytes) {
        program = next;
        strips.push(tile);
    }
    (!tiles.is_empty() || !strips.is_empty()).then_some(Interchanged { program, tiles, strips })
}

fn next(program: &Program, tiling: &Tiling, cache_bytes: u64) -> Option<(Program, usize)> {
    let function = program.main();
    let unwinds = (0..function.insts.len()).filter(|k| matches!(function.insts[*k].op, Op::Unwind(_)));
    unwinds.filter_map(|unwind| interchange_one(program, function, unwind, tiling, cache_bytes)).next()
}

/// The Program with one unwind in tiles.
fn interchange_one(program: &Program, function: &Function, unwind: usize, tiling: &Tiling, cache_bytes: u64) -> Option<(Program, usize)> {
    let inst = &function.insts[unwind];
    let Op::Unwind(op) = &inst.op else { return None };
    let carries = op.args(&inst.args).carries;
    let extent = carries.iter().filter_map(|v| function.ty(*v).shape.first().copied()).max()?;
    let bytes: usize = carries.iter().map(|v| function.ty(*v)).filter(|ty| ty.shape.first() == Some(&extent)).map(Type::bytes).sum();
    let steps = constant(function, inst.args[0]).map_or(1, |n| n.as_i64()[0].max(1).cast_unsigned());
    let wished = cache_bytes.saturating_mul(extent as u64) / steps.saturating_mul(bytes as u64).max(1);
    let wished = usize::try_from(wished.min(TILE_MOST)).expect("a small number");
    let tile = tile_of(extent, wished.max(tiling.tile_least)).filter(|tile| *tile >= tiling.tile_least)?;
    let pair = pairs(program, function).into_iter().find(|pair| pair.unwind_inst == unwind);
    let together =
        pair.and_then(|pair| between(function, pair.loop_inst, unwind)).and_then(|members| tiled(program, members, extent, tile));
    let alone = || tiled(program, Members { alike: BTreeSet::from([unwind]), ..Members::default() }, extent, tile);
    together.or_else(alone).map(|program| (program, tile))
}

/// A divisor of the extent, at most the tile wished for: the largest multiple of 8 if there is one that is not much smaller, else the
/// largest. None for what is one tile anyway.
fn tile_of(extent: usize, wished: usize) -> Option<usize> {
    let divisors = || (1..=wished.min(extent / 2)).rev().filter(|tile| extent.is_multiple_of(*tile));
    let even = divisors().find(|tile| tile.is_multiple_of(8));
    let largest = divisors().next()?;
    Some(even.filter(|even| 4 * even >= largest).unwrap_or(largest))
}

/// A loop, its unwind, and what leads from the one to the other; `None` where that has control flow in it.
fn between(function: &Function, first: usize, last: usize) -> Option<Members> {
    let mut after: BTreeSet<Value> = function.insts[first].results.iter().copied().collect();
    for inst in &function.insts[first + 1..last] {
        if inst.args.iter().any(|v| after.contains(v)) {
            after.extend(&inst.results);
        }
    }
    let mut members = BTreeSet::from([first, last]);
    let mut read: BTreeSet<Value> = function.insts[last].args.iter().copied().collect();
    for (k, inst) in function.insts.iter().enumerate().take(last).skip(first + 1).rev() {
        let leads = inst.results.iter().any(|v| read.contains(v) && after.contains(v));
        if leads {
            if !matches!(inst.op, Op::Row(..)) {
                return None;
            }
            read.extend(&inst.args);
            members.insert(k);
        }
    }
    Some(Members { alike: members, ..Members::default() })
}
