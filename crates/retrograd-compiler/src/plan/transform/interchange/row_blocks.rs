//! Row blocking: the rows of a tile one after the other. What is made of a row on the way to its sums, and read again after them,
//! stays in the nearest cache.

use std::collections::{BTreeMap, BTreeSet};

use super::collapse::{Alike, Collapsed, Source, reshape};
use super::group::copy_all;
use crate::ir::{Attrs, Builder, DType, ForOp, FuncId, Function, Inst, Lowering, Op, Program, Type, Value};
use crate::ops::{self, DotAxes, SUM_CHUNK, SUM_LANES, sum_axes};

/// Fewest elements of a row that is worth a step of its own: loops along it are some vectors long.
const ROW_LEAST: usize = 128;

/// Groups of partial sums that one contraction adds up: more would be a call.
const GROUPS: usize = 16;

/// The body of a loop over tiles, with what treats rows alike and sums along them as a loop over rows; as it is where
/// there is nothing of the kind.
pub(super) fn row_blocks(program: &mut Program, body: FuncId, tile: usize) -> FuncId {
    let function = program.function(body).clone();
    let Some(rows) = rows(&function, tile) else { return body };
    let step = Step::new(&function, rows);
    let row = program.add(step.row(&function));
    program.add(step.around(&function, row))
}

/// The rows that most sums are along, where the first axis has this extent.
pub(super) fn rows(function: &Function, extent: usize) -> Option<Collapsed> {
    let kept = |inst: &Inst| {
        let Op::Def(def, attrs) = &inst.op else { return None };
        let operand = function.ty(*inst.args.first()?);
        let over = matches!(def.lowering, Lowering::Reduce(_)).then(|| attrs.sizes("axes"))?;
        let (prefix, def) = operand.shape.split_at(*over.iter().min()?);
        let trails =
            over.len() == def.len() && prefix.first() == Some(&extent) && sum_of_chunk(function, inst).is_none();
        (trails && def.iter().product::<usize>() >= ROW_LEAST).then(|| prefix.to_vec())
    };
    let mut counts: BTreeMap<Vec<usize>, usize> = BTreeMap::new();
    function.insts.iter().filter_map(kept).for_each(|prefix| *counts.entry(prefix).or_default() += 1);
    counts.into_iter().max_by_key(|(prefix, count)| (*count, prefix.len())).map(|(prefix, _)| Collapsed::single(prefix))
}

/// What an instruction sums where that is a single chunk, so that its partial sums can go on from row to row.
fn sum_of_chunk(function: &Function, inst: &Inst) -> Option<Value> {
    let Op::Def(def, attrs) = &inst.op else { return None };
    if **def != ops::SUM {
        return None;
    }
    let ty = function.ty(inst.args[0]);
    let (kept, ascending, blocked) = sum_axes(ty.rank(), &attrs.sizes("axes"));
    let chunk = ty.dtype.is_float() && ascending.is_empty() && blocked.len() > 1 && ty.elements() == SUM_CHUNK;
    (chunk && kept.iter().all(|axis| ty.shape[*axis] == 1)).then_some(inst.args[0])
}

/// Instructions that become the step of a loop over rows.
struct Step {
    rows: Collapsed,
    members: BTreeMap<usize, Alike>,
    /// Sums of chunks, whose partial sums are carried.
    sums: Vec<usize>,
    /// What they read that is none of theirs.
    inputs: Vec<Value>,
    /// What is read of them by others.
    outputs: Vec<Value>,
}

impl Step {
    /// All that treats rows alike, but what needs something that follows from the whole of what is inside.
    fn new(function: &Function, rows: Collapsed) -> Step {
        let (mut inside, mut after) = (BTreeSet::new(), BTreeSet::new());
        let (mut members, mut sums) = (BTreeMap::new(), vec![]);
        for (k, inst) in function.insts.iter().enumerate() {
            let reads = |of: &BTreeSet<Value>| inst.args.iter().any(|v| of.contains(v));
            let alike = rows
                .alike(function, inst)
                .filter(|alike| !reads(&after) && (alike.source == Source::Collapsed || !reads(&inside)));
            if let Some(alike) = alike {
                members.insert(k, alike);
                inside.extend(&inst.results);
            } else if reads(&inside) || reads(&after) {
                let summed = sum_of_chunk(function, inst).filter(|v| inside.contains(v));
                sums.extend(summed.filter(|v| in_groups(rows.elements(function.ty(*v)))).map(|_| k));
                after.extend(&inst.results);
            }
        }
        let read = members.keys().flat_map(|k| &function.insts[*k].args).copied();
        let inputs: BTreeSet<Value> = read.filter(|v| !inside.contains(v)).collect();
        let outside = |k: &usize| !members.contains_key(k) && !sums.contains(k);
        let others = (0..function.insts.len()).filter(outside).flat_map(|k| &function.insts[k].args);
        let outputs: BTreeSet<Value> =
            others.chain(&function.results).copied().filter(|v| inside.contains(v)).collect();
        Step { rows, members, sums, inputs: inputs.into_iter().collect(), outputs: outputs.into_iter().collect() }
    }

    /// The types of the partial sums.
    fn partials(&self, function: &Function) -> Vec<Type> {
        self.sums.iter().map(|k| Type::new(function.ty(function.insts[*k].args[0]).dtype, [SUM_LANES])).collect()
    }

    /// One row of every output: `(i, partials, inputs) -> partials, rows`.
    fn row(&self, function: &Function) -> Function {
        let b = Builder::new(format!("{}_row", function.name));
        let i = b.param(Type::scalar(DType::I64));
        let partials = b.params(self.partials(function));
        let whole: BTreeMap<Value, Value> =
            self.inputs.iter().map(|v| (*v, b.param(self.in_rows(function.ty(*v))))).collect();
        let mut values: BTreeMap<Value, Value> = BTreeMap::new();
        for (k, Alike { def, attrs, source }) in &self.members {
            let inst = &function.insts[*k];
            b.set_pos(&inst.pos);
            let mut arg = |v: &Value| match source {
                Source::Collapsed => *values.entry(*v).or_insert_with(|| self.read(&b, whole[v], i)),
                Source::Whole => whole[v],
            };
            let args: Vec<Value> = inst.args.iter().map(&mut arg).collect();
            values.insert(inst.results[0], b.op(def, attrs.clone(), &args));
        }
        let sums = self.sums.iter().zip(partials).map(|(k, partial)| {
            let inst = &function.insts[*k];
            b.set_pos(&inst.pos);
            add_up(&b, values[&inst.args[0]], partial)
        });
        let results = sums.collect::<Vec<Value>>().into_iter().chain(self.outputs.iter().map(|v| values[v])).collect();
        b.finish(results)
    }

    /// Collapsed along one axis; what is none as it is.
    fn in_rows(&self, ty: &Type) -> Type {
        if !self.rows.leads(ty) {
            return ty.clone();
        }
        Type::new(ty.dtype, self.rows.shape(ty)).stream(self.rows.count())
    }

    /// A row of an array of rows.
    fn read(&self, b: &Builder, array: Value, i: Value) -> Value {
        let ty = b.ty(array);
        let sizes: Vec<usize> = [&[1], &ty.shape[1..]].concat();
        let attrs = Attrs::none().ints("sizes", sizes).ints("step", vec![1; ty.rank()]);
        let starts: Vec<Value> = [array, i].into_iter().chain((1..ty.rank()).map(|_| b.int(0))).collect();
        reshape(b, b.op(&ops::DYNAMIC_SLICE, attrs, &starts), ty.shape[1..].to_vec())
    }

    /// The function with the loop over rows in place of its members.
    fn around(&self, function: &Function, body: FuncId) -> Function {
        let b = Builder::new(function.name.clone());
        let params = b.params(function.param_types());
        let mut map = b.map(function, &params);
        let (before, after) = self.others(function);
        copy_all(&b, function, &before, &mut map);
        let count = b.int(i64::try_from(self.rows.count()).expect("extents fit in i64"));
        let input = |v: &Value| {
            let array = map[v.0 as usize].expect("SSA: defined before use");
            if self.rows.leads(function.ty(*v)) {
                reshape(&b, array, self.in_rows(function.ty(*v)).shape)
            } else {
                array
            }
        };
        let inputs: Vec<Value> = self.inputs.iter().map(input).collect();
        let partials = self.partials(function);
        let zeros: Vec<Value> = partials.iter().map(|ty| b.zeros(ty)).collect();
        let bound = if self.outputs.is_empty() { 0 } else { self.rows.count() };
        let op = ForOp { body, carries: zeros.len(), invariants: inputs.len(), bound };
        let types = partials.into_iter().chain(self.outputs.iter().map(|v| self.in_rows(function.ty(*v)))).collect();
        let results = b.push(Op::For(op), [vec![count], zeros, inputs].concat(), types);
        for (k, partials) in self.sums.iter().zip(&results) {
            let sum = function.insts[*k].results[0];
            map[sum.0 as usize] = Some(reshape(&b, pairwise(&b, *partials), function.ty(sum).shape.clone()));
        }
        for (output, result) in self.outputs.iter().zip(&results[self.sums.len()..]) {
            map[output.0 as usize] = Some(reshape(&b, *result, function.ty(*output).shape.clone()));
        }
        copy_all(&b, function, &after, &mut map);
        let results = function.results.iter().map(|v| map[v.0 as usize].expect("SSA: results are defined")).collect();
        b.finish(results)
    }

    /// The other instructions: those that the loop may need, and those that need it.
    fn others<'f>(&self, function: &'f Function) -> (Vec<&'f Inst>, Vec<&'f Inst>) {
        let sums = self.sums.iter().map(|k| function.insts[*k].results[0]);
        let mut late: BTreeSet<Value> = self.outputs.iter().copied().chain(sums).collect();
        let outside = |k: &usize| !self.members.contains_key(k) && !self.sums.contains(k);
        let others = function.insts.iter().enumerate().filter(|(k, _)| outside(k));
        others.map(|(_, inst)| inst).partition(|inst| {
            let follows = inst.args.iter().any(|v| late.contains(v));
            if follows {
                late.extend(&inst.results);
            }
            !follows
        })
    }
}

/// Whether numbers of a row go to the partial sums in whole groups.
fn in_groups(elements: usize) -> bool {
    elements.is_multiple_of(SUM_LANES)
}

/// Partial sums that go on over a row: number k is added to partial k mod lanes, one after the other. A product with 1
/// is exact.
fn add_up(b: &Builder, row: Value, partials: Value) -> Value {
    let ty = b.ty(row);
    let groups = ty.elements() / SUM_LANES;
    let row = reshape(b, row, vec![groups, SUM_LANES]);
    (0..groups).step_by(GROUPS).fold(partials, |partials, first| {
        let last = groups.min(first + GROUPS);
        let some = slice(b, row, [first, 0], [last, SUM_LANES]);
        let ones = b.full(&Type::new(ty.dtype, [last - first]), 1.0);
        b.op(&ops::DOT_ONTO, DotAxes::attrs(&[0], &[0], &[], &[]), &[ones, some, partials])
    })
}

/// The partial sums of a chunk as one number: halves, quarters and so on, as `ops::SUM` says. None of them is −0,
/// because each began with 0.
fn pairwise(b: &Builder, partials: Value) -> Value {
    let mut width = SUM_LANES;
    let mut sums = partials;
    while width > 1 {
        width /= 2;
        let halves = [slice(b, sums, [0], [width]), slice(b, sums, [width], [2 * width])];
        sums = b.op(&ops::ADD, Attrs::none(), &halves);
    }
    sums
}

fn slice<const RANK: usize>(b: &Builder, x: Value, start: [usize; RANK], stop: [usize; RANK]) -> Value {
    b.op(&ops::SLICE, Attrs::none().ints("start", start).ints("stop", stop).ints("step", [1; RANK]), &[x])
}
