//! Instructions of the entry as one loop over tiles: a map, or a loop that carries the sums over the axis that is cut.

use std::collections::{BTreeMap, BTreeSet};

use super::retile::{Part, Retile, Values, splat};
use super::row_blocks::row_blocks;
use crate::ir::{Array, Attrs, Builder, DType, ForOp, FuncId, Function, Inst, Op, OpDef, Program, Type, Value};
use crate::ops::{self, DotAxes, DotOrder, sum_axes};

/// Instructions that become one loop over tiles.
#[derive(Debug, Default)]
pub(super) struct Members {
    /// What treats elements along the leading axis alike.
    pub(super) alike: BTreeSet<usize>,
    /// What makes equal rows of nothing; the entry keeps its own for other readers.
    pub(super) copied: BTreeSet<usize>,
    /// Sums over the leading axis that can go on from tile to tile.
    pub(super) sums: BTreeSet<usize>,
}

impl Members {
    fn all(&self) -> BTreeSet<usize> {
        self.alike.iter().chain(&self.copied).chain(&self.sums).copied().collect()
    }
}

/// The Program in which these instructions of its entry run in tiles, at the place of the last of them.
pub(super) fn tiled(program: &Program, members: Members, extent: usize, tile: usize) -> Option<Program> {
    let mut program = program.clone();
    let function = program.main().clone();
    let mut retile = Retile { program: &mut program, extent, tile, known: BTreeMap::new() };
    let group = Group::new(&function, members);
    let body = group.body(&mut retile, &function)?;
    let body = row_blocks(retile.program, body, tile);
    let entry = group.entry(&retile, &function, body)?;
    program.entry = program.add(entry);
    Some(program)
}

struct Group {
    members: Members,
    /// What they read from outside, in order.
    inputs: Vec<Value>,
    /// What is read of them outside, sums apart.
    outputs: Vec<Value>,
}

impl Group {
    /// Literals go along, so that the number of steps stays known.
    fn new(function: &Function, mut members: Members) -> Group {
        let args: BTreeSet<Value> = members.all().iter().flat_map(|k| &function.insts[*k].args).copied().collect();
        let is_literal = |inst: &Inst| {
            matches!(&inst.op, Op::Def(def, _) if *def == &ops::CONSTANT) && args.contains(&inst.results[0])
        };
        members.copied.extend((0..function.insts.len()).filter(|k| is_literal(&function.insts[*k])));
        let results = |of: &BTreeSet<usize>| {
            of.iter().flat_map(|k| &function.insts[*k].results).copied().collect::<BTreeSet<Value>>()
        };
        let (alike, copied) = (results(&members.alike), results(&members.copied));
        let inputs =
            args.into_iter().chain(members.copied.iter().flat_map(|k| function.insts[*k].args.iter().copied()));
        let inputs: BTreeSet<Value> = inputs.filter(|v| !alike.contains(v) && !copied.contains(v)).collect();
        let outside = |k: &usize| !members.alike.contains(k) && !members.sums.contains(k);
        let others = (0..function.insts.len()).filter(outside).flat_map(|k| &function.insts[k].args);
        let outputs: BTreeSet<Value> = others.chain(&function.results).copied().filter(|v| alike.contains(v)).collect();
        Group { members, inputs: inputs.into_iter().collect(), outputs: outputs.into_iter().collect() }
    }

    /// The sums, as values of the function.
    fn sums<'f>(&self, function: &'f Function) -> Vec<&'f Inst> {
        self.members.sums.iter().map(|k| &function.insts[*k]).collect()
    }

    /// One tile of every output, and what the sums are after it: `(t, sums, inputs) -> sums, tiles`.
    fn body(&self, retile: &mut Retile<'_>, function: &Function) -> Option<FuncId> {
        let b = Builder::new(format!("{}_tiles", function.name));
        let t = b.param(Type::scalar(DType::I64));
        let types = |values: &[Value]| values.iter().map(|v| function.ty(*v).clone()).collect::<Vec<_>>();
        let sums = self.sums(function);
        let starts = b.params(sums.iter().map(|inst| function.ty(inst.results[0]).clone()));
        let inputs = b.params(types(&self.inputs));
        let start = b.mul(t, b.int(i64::try_from(retile.tile).expect("extents fit in i64")));
        let mut values = Values::new(function);
        for (input, param) in self.inputs.iter().zip(inputs) {
            let part = retile.part(function.ty(*input));
            let value = match part {
                Part::Whole => param,
                Part::Tiled(_) => read_tile(&b, param, start, &retile.ty(function.ty(*input), part)),
            };
            values.set(&[*input], &[value], &[part]);
        }
        let insts: BTreeSet<usize> = self.members.alike.union(&self.members.copied).copied().collect();
        for k in insts {
            retile.inst(&b, function, &function.insts[k], &mut values)?;
        }
        let (tiles, parts) = values.get(&self.outputs);
        if parts.iter().any(|part| *part != Part::Tiled(0)) {
            return None;
        }
        let sums = sums.iter().zip(starts).map(|(inst, start)| go_on(&b, inst, &values.get(&inst.args).0, start));
        let results = sums.collect::<Vec<Value>>().into_iter().chain(tiles).collect();
        Some(retile.program.add(b.finish(results)))
    }

    /// The entry with a loop over tiles in place of the instructions: one tile after the other is the whole array.
    fn entry(&self, retile: &Retile<'_>, function: &Function, body: FuncId) -> Option<Function> {
        let b = Builder::new(function.name.clone());
        let params = b.params(function.param_types());
        let mut map = b.map(function, &params);
        let (before, after) = self.around(retile.program, function)?;
        copy_all(&b, function, &before, &mut map);
        let last = self.members.all().into_iter().next_back().expect("a group has members");
        b.set_pos(&function.insts[last].pos);
        let tiles = retile.extent / retile.tile;
        let count = b.int(i64::try_from(tiles).expect("extents fit in i64"));
        let sums: Vec<Value> = self.sums(function).iter().map(|inst| inst.results[0]).collect();
        let starts: Vec<Value> = sums.iter().map(|v| b.zeros(function.ty(*v))).collect();
        let inputs: Vec<Value> =
            self.inputs.iter().map(|v| map[v.0 as usize].expect("SSA: defined before use")).collect();
        let bound = if self.outputs.is_empty() { 0 } else { tiles };
        let op = ForOp { body, carries: starts.len(), invariants: inputs.len(), bound };
        let streams = self.outputs.iter().map(|v| retile.ty(function.ty(*v), Part::Tiled(0)).stream(tiles));
        let types = sums.iter().map(|v| function.ty(*v).clone()).chain(streams).collect();
        let results = b.push(Op::For(op), [vec![count], starts, inputs].concat(), types);
        for (sum, result) in sums.iter().zip(&results) {
            map[sum.0 as usize] = Some(*result);
        }
        for (output, result) in self.outputs.iter().zip(&results[sums.len()..]) {
            let shape = function.ty(*output).shape.clone();
            map[output.0 as usize] = Some(b.op(&ops::RESHAPE, Attrs::none().ints("shape", shape), &[*result]));
        }
        copy_all(&b, function, &after, &mut map);
        let results = function.results.iter().map(|v| map[v.0 as usize].expect("SSA: results are defined")).collect();
        Some(b.finish(results))
    }

    /// The other instructions: those that do not need the outputs, and those that do. An effect stays after the effects
    /// before it; none where the tiles need what it makes.
    fn around<'f>(&self, program: &Program, function: &'f Function) -> Option<(Vec<&'f Inst>, Vec<&'f Inst>)> {
        let mut late: BTreeSet<Value> = self.outputs.iter().copied().collect();
        late.extend(self.sums(function).iter().map(|inst| inst.results[0]));
        let inside = |k: &usize| self.members.alike.contains(k) || self.members.sums.contains(k);
        let others = function.insts.iter().enumerate().filter(|(k, _)| !inside(k));
        let (effects, mut is_late) = (program.effects(), false);
        let around: (Vec<&Inst>, Vec<&Inst>) = others.map(|(_, inst)| inst).partition(|inst| {
            let effect = inst.has_effect(|body| effects[usize::from(body)]);
            let follows = inst.args.iter().any(|v| late.contains(v)) || effect && is_late;
            is_late |= effect && follows;
            if follows {
                late.extend(&inst.results);
            }
            !follows
        });
        let needed = around.1.iter().flat_map(|inst| &inst.results).any(|v| self.inputs.contains(v));
        (!needed).then_some(around)
    }
}

/// Whether a row is a sum over the axis that is cut which is made one step after the other, this axis outermost: then
/// it goes on from tile to tile, and no bit depends on where they end.
pub(super) fn goes_on(def: &OpDef, attrs: &Attrs, args: &[&Type], parts: &[Part]) -> bool {
    match (args, parts) {
        ([x], [Part::Tiled(axis)]) if *def == ops::SUM && x.dtype.is_float() => {
            sum_axes(x.rank(), &attrs.sizes("axes")).1.first() == Some(axis)
        }
        ([lhs, rhs], [Part::Tiled(left), Part::Tiled(right)]) if *def == ops::DOT => {
            let axes = DotAxes::new(attrs, lhs.rank(), rhs.rank());
            let outermost = (axes.lhs_contract.first(), axes.rhs_contract.first()) == (Some(left), Some(right));
            outermost && axes.order(lhs.dtype) == DotOrder::Chained
        }
        _ => false,
    }
}

/// Such a sum over one more tile. What `sum` adds up is a chain of `fma` with ones: a product with 1 is exact.
fn go_on(b: &Builder, inst: &Inst, args: &[Value], start: Value) -> Value {
    let Op::Def(def, attrs) = &inst.op else { panic!("sums are rows") };
    b.set_pos(&inst.pos);
    if **def == ops::DOT {
        return b.op(&ops::DOT_ONTO, attrs.clone(), &[args[0], args[1], start]);
    }
    let ty = b.ty(args[0]);
    let (_, ascending, blocked) = sum_axes(ty.rank(), &attrs.sizes("axes"));
    let rows =
        if blocked.is_empty() { args[0] } else { b.op(&ops::SUM, Attrs::none().ints("axes", blocked), &[args[0]]) };
    let extents: Vec<usize> = ascending.iter().map(|axis| ty.shape[*axis]).collect();
    let ones = b.constant(splat(&Array::number(ty.dtype, 1.0), extents).expect("one number is equal to itself"));
    let all: Vec<usize> = (0..ascending.len()).collect();
    b.op(&ops::DOT_ONTO, DotAxes::attrs(&all, &ascending, &[], &[]), &[ones, rows, start])
}

/// The tile of an array that starts there.
fn read_tile(b: &Builder, array: Value, start: Value, tile: &Type) -> Value {
    let attrs = Attrs::none().ints("sizes", tile.shape.clone()).ints("step", vec![1; tile.rank()]);
    let zeros: Vec<Value> = (1..tile.rank()).map(|_| b.int(0)).collect();
    b.op(&ops::DYNAMIC_SLICE, attrs, &[&[array, start], zeros.as_slice()].concat())
}

pub(super) fn copy_all(b: &Builder, function: &Function, insts: &[&Inst], map: &mut [Option<Value>]) {
    for inst in insts {
        let args = inst.args.iter().map(|v| map[v.0 as usize].expect("SSA: defined before use")).collect();
        for (old, new) in inst.results.iter().zip(b.copy(function, inst, args)) {
            map[old.0 as usize] = Some(new);
        }
    }
}
