//! Interchange: a loop that treats the elements along the leading axis of its arrays alike is run tile by tile.
//!
//! `for n {map}` becomes `map {for n}` over runs of elements. Each tile goes through all steps forwards and backwards before the next one
//! starts, so that what it keeps stays in cache and is small: the memory is that of one tile. The rewrite changes the order in which
//! elements are worked on and nothing else; a loop that sums over the axis does not qualify, so no bit of any result changes.

mod retile;

use std::collections::{BTreeMap, BTreeSet};

use super::facts::constant;
use super::pair::pairs;
use crate::ir::{Attrs, Builder, DType, ForOp, FuncId, Function, Inst, Op, Program, Type, Value};
use crate::ops;
use retile::{Part, Retile, Values};

/// A Program whose pointwise loops run tile by tile.
#[derive(Clone, Debug)]
pub(super) struct Interchanged {
    /// The Program.
    pub(super) program: Program,
    /// Elements of a tile of each loop.
    pub(super) tiles: Vec<usize>,
}

/// What the states of all steps of a tile may take, so that they stay in cache, what else is recorded included: the most first. Tiles of
/// several vectors are faster, small ones take less memory.
const CACHE_BYTES: [u64; 2] = [800_000, 400_000];

/// Fewest elements of a tile: some vectors, to hide the latency of a recurrence.
const TILE_LEAST: u64 = 32;

/// Most elements of a tile, where steps are few or their number is not known.
const TILE_MOST: u64 = 512;

/// The Program with its pointwise unwinds, and the loops that they share states with, run in tiles: in large ones, and in small ones where
/// they are others; empty where there is no such unwind.
pub(super) fn interchange(program: &Program) -> Vec<Interchanged> {
    let mut all: Vec<Interchanged> = CACHE_BYTES.iter().filter_map(|bytes| within(program, *bytes)).collect();
    all.dedup_by(|small, large| small.tiles == large.tiles);
    all
}

fn within(program: &Program, cache_bytes: u64) -> Option<Interchanged> {
    let mut program = program.clone();
    let mut tiles = vec![];
    // Tiles hold unwinds inside their body, so what was interchanged is not found again.
    while let Some((next, tile)) = next(&program, cache_bytes) {
        program = next;
        tiles.push(tile);
    }
    (!tiles.is_empty()).then_some(Interchanged { program, tiles })
}

fn next(program: &Program, cache_bytes: u64) -> Option<(Program, usize)> {
    let function = program.main();
    let unwinds = (0..function.insts.len()).filter(|k| matches!(function.insts[*k].op, Op::Unwind(_)));
    unwinds.filter_map(|unwind| interchange_one(program, function, unwind, cache_bytes)).next()
}

/// The Program with one unwind in tiles.
fn interchange_one(program: &Program, function: &Function, unwind: usize, cache_bytes: u64) -> Option<(Program, usize)> {
    let inst = &function.insts[unwind];
    let Op::Unwind(op) = &inst.op else { return None };
    let carries = op.args(&inst.args).carries;
    let extent = carries.iter().filter_map(|v| function.ty(*v).shape.first().copied()).max()?;
    let bytes: usize = carries.iter().map(|v| function.ty(*v)).filter(|ty| ty.shape.first() == Some(&extent)).map(Type::bytes).sum();
    let steps = constant(function, inst.args[0]).map_or(1, |n| n.as_i64()[0].max(1).cast_unsigned());
    let wished = cache_bytes.saturating_mul(extent as u64) / steps.saturating_mul(bytes as u64).max(1);
    let tile = tile_of(extent, usize::try_from(wished.clamp(TILE_LEAST, TILE_MOST)).expect("a small number"))?;
    let pair = pairs(program, function).into_iter().find(|pair| pair.unwind_inst == unwind);
    let together =
        pair.and_then(|pair| between(function, pair.loop_inst, unwind)).and_then(|members| tiled(program, &members, extent, tile));
    together.or_else(|| tiled(program, &BTreeSet::from([unwind]), extent, tile)).map(|program| (program, tile))
}

/// A divisor of the extent, at most the tile wished for: the largest multiple of 8 if there is one that is not much smaller, else the
/// largest. None for what is one tile anyway.
fn tile_of(extent: usize, wished: usize) -> Option<usize> {
    let divisors = || (1..=wished.min(extent / 2)).rev().filter(|tile| extent.is_multiple_of(*tile));
    let even = divisors().find(|tile| tile.is_multiple_of(8));
    let largest = divisors().next()?;
    let tile = even.filter(|even| 4 * even >= largest).unwrap_or(largest);
    (tile as u64 >= TILE_LEAST).then_some(tile)
}

/// A loop, its unwind, and what leads from the one to the other; `None` where that has control flow in it.
fn between(function: &Function, first: usize, last: usize) -> Option<BTreeSet<usize>> {
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
    Some(members)
}

/// The Program in which these instructions of its entry run in tiles, at the place of the last of them.
fn tiled(program: &Program, members: &BTreeSet<usize>, extent: usize, tile: usize) -> Option<Program> {
    let mut program = program.clone();
    let function = program.main().clone();
    let mut retile = Retile { program: &mut program, extent, tile, known: BTreeMap::new() };
    let group = Group::new(&function, members);
    let body = group.body(&mut retile, &function)?;
    let entry = group.entry(&retile, &function, body);
    program.entry = program.add(entry);
    Some(program)
}

/// Instructions that become one map over tiles.
struct Group {
    members: BTreeSet<usize>,
    /// Literals that they read; the entry keeps its own.
    literals: BTreeSet<usize>,
    /// What they read from outside, in order.
    inputs: Vec<Value>,
    /// What is read of them outside.
    outputs: Vec<Value>,
}

impl Group {
    /// Literals go along, so that the number of steps stays known.
    fn new(function: &Function, members: &BTreeSet<usize>) -> Group {
        let args: BTreeSet<Value> = members.iter().flat_map(|k| &function.insts[*k].args).copied().collect();
        let is_literal = |inst: &Inst| matches!(&inst.op, Op::Row(row, _) if *row == &ops::CONSTANT) && args.contains(&inst.results[0]);
        let literals = (0..function.insts.len()).filter(|k| is_literal(&function.insts[*k]));
        let literals: BTreeSet<usize> = literals.collect();
        let inside: BTreeSet<Value> = members.iter().flat_map(|k| &function.insts[*k].results).copied().collect();
        let read: BTreeSet<Value> =
            members.iter().flat_map(|k| &function.insts[*k].args).copied().filter(|v| !inside.contains(v)).collect();
        let others = function.insts.iter().enumerate().filter(|(k, _)| !members.contains(k)).flat_map(|(_, inst)| &inst.args);
        let wanted: BTreeSet<Value> = others.chain(&function.results).copied().filter(|v| inside.contains(v)).collect();
        let known = |v: &Value| literals.iter().any(|k| function.insts[*k].results[0] == *v);
        let inputs = read.into_iter().filter(|v| !known(v)).collect();
        Group { members: members.clone(), literals, inputs, outputs: wanted.into_iter().collect() }
    }

    /// One tile of every output: `(t, inputs) -> tiles`.
    fn body(&self, retile: &mut Retile<'_>, function: &Function) -> Option<FuncId> {
        let b = Builder::new(format!("{}_tiles", function.name));
        let t = b.param(Type::scalar(DType::I64));
        let types = |values: &[Value]| values.iter().map(|v| function.ty(*v).clone()).collect::<Vec<_>>();
        let inputs = b.params(types(&self.inputs));
        let start = b.mul(t, b.int(i64::try_from(retile.tile).expect("extents fit in i64")));
        let mut values = Values::new(function);
        for (input, param) in self.inputs.iter().zip(inputs) {
            let part = retile.part(function.ty(*input));
            let value = match part {
                Part::Whole => param,
                Part::Tiled => read_tile(&b, param, start, &retile.ty(function.ty(*input), part)),
            };
            values.set(&[*input], &[value], &[part]);
        }
        for k in self.literals.iter().chain(&self.members) {
            retile.inst(&b, function, &function.insts[*k], &mut values)?;
        }
        let (tiles, parts) = values.get(&self.outputs);
        if parts.contains(&Part::Whole) {
            return None;
        }
        Some(retile.program.add(b.finish(tiles)))
    }

    /// The entry with a map over tiles in place of the instructions: one tile after the other is the whole array.
    fn entry(&self, retile: &Retile<'_>, function: &Function, body: FuncId) -> Function {
        let b = Builder::new(function.name.clone());
        let params = b.params(function.param_types());
        let mut map = b.map(function, &params);
        let (before, after) = self.around(function);
        copy_all(&b, function, &before, &mut map);
        let last = self.members.last().expect("a group has members");
        b.set_pos(&function.insts[*last].pos);
        let tiles = retile.extent / retile.tile;
        let count = b.int(i64::try_from(tiles).expect("extents fit in i64"));
        let inputs: Vec<Value> = self.inputs.iter().map(|v| map[v.0 as usize].expect("SSA: defined before use")).collect();
        let op = ForOp { body, carries: 0, invariants: inputs.len(), bound: tiles };
        let types = self.outputs.iter().map(|v| retile.ty(function.ty(*v), Part::Tiled).stream(tiles)).collect();
        let results = b.push(Op::For(op), [vec![count], inputs].concat(), types);
        for (output, result) in self.outputs.iter().zip(results) {
            let shape = function.ty(*output).shape.clone();
            map[output.0 as usize] = Some(b.row(&ops::RESHAPE, Attrs::none().ints("shape", shape), &[result]));
        }
        copy_all(&b, function, &after, &mut map);
        let results = function.results.iter().map(|v| map[v.0 as usize].expect("SSA: results are defined")).collect();
        b.finish(results)
    }

    /// The other instructions: those that do not need the outputs, and those that do.
    fn around<'f>(&self, function: &'f Function) -> (Vec<&'f Inst>, Vec<&'f Inst>) {
        let mut late: BTreeSet<Value> = self.outputs.iter().copied().collect();
        let others = function.insts.iter().enumerate().filter(|(k, _)| !self.members.contains(k));
        others.map(|(_, inst)| inst).partition(|inst| {
            let follows = inst.args.iter().any(|v| late.contains(v));
            if follows {
                late.extend(&inst.results);
            }
            !follows
        })
    }
}

/// The tile of an array that starts there.
fn read_tile(b: &Builder, array: Value, start: Value, tile: &Type) -> Value {
    let attrs = Attrs::none().ints("sizes", tile.shape.clone()).ints("step", vec![1; tile.rank()]);
    let zeros: Vec<Value> = (1..tile.rank()).map(|_| b.int(0)).collect();
    b.row(&ops::DYNAMIC_SLICE, attrs, &[&[array, start], zeros.as_slice()].concat())
}

fn copy_all(b: &Builder, function: &Function, insts: &[&Inst], map: &mut [Option<Value>]) {
    for inst in insts {
        let args = inst.args.iter().map(|v| map[v.0 as usize].expect("SSA: defined before use")).collect();
        for (old, new) in inst.results.iter().zip(b.copy(function, inst, args)) {
            map[old.0 as usize] = Some(new);
        }
    }
}
