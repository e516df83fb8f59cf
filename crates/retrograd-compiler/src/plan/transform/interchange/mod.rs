//! Interchange: a loop that treats the elements along the leading axis of its arrays alike is run tile by tile.
//!
//! `for n {map}` becomes `map {for n}` over runs of elements, and several loops with what leads from one to the next
//! become one such map. Each tile goes through all steps forwards and backwards before the next one starts, so that
//! what it keeps stays in cache and is small: the memory is that of one tile. The rewrite changes the order in which
//! elements are worked on and nothing else; a loop that sums over the axis does not qualify, so no bit of any result
//! changes.

mod collapse;
mod group;
mod retile;
mod row_blocks;
mod straight;

use std::collections::BTreeSet;

use crate::ir::{Function, Inst, Lowering, Op, Program, Type, Value};
use crate::plan::analysis::counts::constant;
use crate::plan::analysis::pair::{Pair, pairs};
use group::{Members, tiled};

/// A Program whose pointwise loops run tile by tile.
#[derive(Clone, Debug)]
pub(in crate::plan) struct Interchanged {
    /// The Program.
    pub(in crate::plan) program: Program,
    /// Elements of a tile of each loop.
    pub(in crate::plan) tiles: Vec<usize>,
    /// Elements of a tile of each piece of code outside of loops.
    pub(in crate::plan) strips: Vec<usize>,
}

/// How large tiles are.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tiling {
    /// What the states of all steps of a tile may take, so that they stay in cache, what else is recorded included,
    /// what loops that nothing unwinds hold, and what code outside of loops makes: the most first. Tiles of
    /// several vectors are faster, small ones take less memory.
    pub bytes_in_cache: Vec<u64>,
    /// Fewest numbers of a step of a tile of a loop: some vectors, to hide the latency of a recurrence.
    pub tile_least: usize,
    /// Bytes that loops that nothing unwinds hold, or code outside of loops makes on its way, from which they leave
    /// the cache: fewer need no tiles.
    pub bytes_made: u64,
    /// Whether what can be in tiles is, however dear that is.
    pub always: bool,
}

impl Default for Tiling {
    fn default() -> Tiling {
        Tiling { bytes_in_cache: vec![800_000, 400_000], tile_least: 32, bytes_made: 1 << 20, always: false }
    }
}

/// Most elements of a tile, where steps are few or their number is not known.
const TILE_MOST: u64 = 512;

/// The Program with its pointwise unwinds, the loops that they share states with and long loops that nothing unwinds
/// run in tiles: in large ones, and in small ones where they are others; empty where there are none.
pub(in crate::plan) fn interchange(program: &Program, tiling: &Tiling) -> Vec<Interchanged> {
    let mut all: Vec<Interchanged> =
        tiling.bytes_in_cache.iter().filter_map(|bytes| within(program, tiling, *bytes)).collect();
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
    let main = Main { program, function, tiling, cache_bytes };
    let pairs = pairs(program, function);
    // The last unwind is that of the first loop, and others may lie between the two.
    let unwinds = (0..function.insts.len()).rev().filter(|k| matches!(function.insts[*k].op, Op::Unwind(_)));
    unwinds.filter_map(|unwind| main.unwind(unwind, &pairs)).next().or_else(|| main.loops(&pairs))
}

/// The entry of a Program, and how large tiles are.
struct Main<'p> {
    program: &'p Program,
    function: &'p Function,
    tiling: &'p Tiling,
    cache_bytes: u64,
}

impl Main<'_> {
    /// The Program with one unwind in tiles, together with its loop if that can be.
    fn unwind(&self, unwind: usize, pairs: &[Pair]) -> Option<(Program, usize)> {
        let extent = self.extent(unwind)?;
        let in_tiles = |members: Members| {
            let held = Held::of(
                self,
                members.alike.iter().filter(|k| matches!(self.function.insts[**k].op, Op::Unwind(_))),
                extent,
            );
            self.in_tiles(members, extent, held)
        };
        let pair = pairs.iter().find(|pair| pair.unwind_inst == unwind);
        let together = pair.and_then(|pair| in_tiles(between(self.function, pairs, pair.loop_inst, unwind)));
        together.or_else(|| in_tiles(Members { alike: BTreeSet::from([unwind]), ..Members::default() }))
    }

    /// The Program with loops that nothing unwinds in tiles, all together if that can be, where their arrays leave the
    /// cache.
    fn loops(&self, pairs: &[Pair]) -> Option<(Program, usize)> {
        let paired = |k: &usize| pairs.iter().any(|pair| pair.loop_inst == *k);
        let is_loop = |k: &usize| matches!(self.function.insts[*k].op, Op::For(_)) && !paired(k);
        let loops: Vec<usize> = (0..self.function.insts.len()).filter(is_loop).collect();
        let in_tiles = |members: Members| {
            let extent = self.extent(*members.alike.first()?)?;
            let held = Held::of(self, members.alike.iter().filter(|k| is_loop(k)), extent);
            (held.bytes > self.tiling.bytes_made).then(|| self.in_tiles(members, extent, held))?
        };
        let together = in_tiles(between(self.function, pairs, *loops.first()?, *loops.last()?));
        together.or_else(|| {
            loops.iter().find_map(|k| in_tiles(Members { alike: BTreeSet::from([*k]), ..Members::default() }))
        })
    }

    /// The longest leading axis of what a loop or an unwind carries.
    fn extent(&self, inst: usize) -> Option<usize> {
        carries(&self.function.insts[inst]).iter().filter_map(|v| self.function.ty(*v).shape.first().copied()).max()
    }

    /// As many elements in a tile as leave what is held in cache, and at least as many as are worth a step.
    fn in_tiles(&self, members: Members, extent: usize, held: Held) -> Option<(Program, usize)> {
        let least = if held.row >= self.tiling.tile_least { 1 } else { self.tiling.tile_least };
        let wished = self.cache_bytes.saturating_mul(extent as u64) / held.bytes.max(1);
        let wished = usize::try_from(wished.min(TILE_MOST)).expect("a small number");
        let tile = tile_of(extent, wished.max(least)).filter(|tile| *tile >= least)?;
        tiled(self.program, members, extent, tile).map(|program| (program, tile))
    }
}

/// What a loop or an unwind carries.
fn carries(inst: &Inst) -> &[Value] {
    match &inst.op {
        Op::For(op) => op.args(&inst.args).1,
        Op::Unwind(op) => op.args(&inst.args).carries,
        Op::Def(..) | Op::Call(_) | Op::If(_) | Op::While(_) => &[],
    }
}

/// What loops hold along the leading axis: unwinds the states of all steps, loops what they read and carry.
struct Held {
    bytes: u64,
    /// Numbers at an element of the axis that a step makes, of the carry that has most.
    row: usize,
}

impl Held {
    fn of<'k>(main: &Main<'_>, insts: impl Iterator<Item = &'k usize>, extent: usize) -> Held {
        let mut held = Held { bytes: 0, row: 1 };
        insts.for_each(|k| held.add(main, &main.function.insts[*k], extent));
        held
    }

    fn add(&mut self, main: &Main<'_>, inst: &Inst, extent: usize) {
        let bytes = |v: &Value| {
            Some(main.function.ty(*v)).filter(|ty| ty.shape.first() == Some(&extent)).map_or(0, |ty| ty.bytes() as u64)
        };
        let (body, steps) = match &inst.op {
            Op::For(op) => {
                self.bytes = op.args(&inst.args).2.iter().map(bytes).fold(self.bytes, u64::saturating_add);
                (op.body, 1)
            }
            Op::Unwind(op) => {
                (op.body, constant(main.function, inst.args[0]).map_or(1, |n| n.as_i64()[0].max(1).cast_unsigned()))
            }
            Op::Def(..) | Op::Call(_) | Op::If(_) | Op::While(_) => return,
        };
        let body = main.program.function(body);
        for (carry, next) in carries(inst).iter().zip(&body.results).filter(|(carry, _)| bytes(carry) > 0) {
            // Of a carry of which each step writes a window, each step has the window.
            let made = body.insts.iter().find(|inst| inst.results.contains(next));
            let window = made.and_then(|inst| window(body, inst));
            let (step, once) = window.map_or((body.ty(*next), 0), |window| (window, bytes(carry)));
            self.bytes = self.bytes.saturating_add(steps.saturating_mul(step.bytes() as u64)).saturating_add(once);
            self.row = self.row.max(step.elements() / extent);
        }
    }
}

/// What an instruction writes into an array that it leaves as it is otherwise.
fn window<'f>(function: &'f Function, inst: &Inst) -> Option<&'f Type> {
    match &inst.op {
        Op::Def(def, _) => matches!(def.lowering, Lowering::Write(_)).then(|| function.ty(inst.args[1])),
        Op::Call(_) | Op::If(_) | Op::For(_) | Op::While(_) | Op::Unwind(_) => None,
    }
}

/// A divisor of the extent, at most the tile wished for: the largest multiple of 8 if there is one that is not much
/// smaller, else the largest. None for what is one tile anyway.
fn tile_of(extent: usize, wished: usize) -> Option<usize> {
    let divisors = || (1..=wished.min(extent / 2)).rev().filter(|tile| extent.is_multiple_of(*tile));
    let even = divisors().find(|tile| tile.is_multiple_of(8));
    let largest = divisors().next()?;
    Some(even.filter(|even| 4 * even >= largest).unwrap_or(largest))
}

/// A loop, another or its unwind, and what leads from the one to the other; of unwinds on the way their loops, too.
fn between(function: &Function, pairs: &[Pair], first: usize, last: usize) -> Members {
    let mut after: BTreeSet<Value> = function.insts[first].results.iter().copied().collect();
    for inst in function.insts.iter().take(last).skip(first + 1) {
        if inst.args.iter().any(|v| after.contains(v)) {
            after.extend(&inst.results);
        }
    }
    let mut members = BTreeSet::from([first, last]);
    let mut read: BTreeSet<Value> = function.insts[last].args.iter().copied().collect();
    for (k, inst) in function.insts.iter().enumerate().take(last).skip(first + 1).rev() {
        let shared = pairs.iter().any(|pair| pair.loop_inst == k && members.contains(&pair.unwind_inst));
        if inst.results.iter().any(|v| (shared || read.contains(v)) && after.contains(v)) {
            read.extend(&inst.args);
            members.insert(k);
        }
    }
    Members { alike: members, ..Members::default() }
}
