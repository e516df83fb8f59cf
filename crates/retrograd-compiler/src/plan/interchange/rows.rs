//! Several leading axes as one, so that tiles can be cut from all of their elements: what treats those alike is rewritten over rows, and
//! the rest sees arrays as they are. The sum of all elements becomes the sum of its chunks, which tiles leave one by one.

use std::collections::BTreeMap;

use super::retile::{replace, splat};
use crate::ir::{Attrs, Builder, Function, Inst, Lowering, Op, Program, Type, Value, View};
use crate::ops::{self, SUM_CHUNK, sum_axes};

/// Arrays with the same leading axes as rows, some of which are one element of the new leading axis.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Rows {
    /// Extents of the leading axes.
    prefix: Vec<usize>,
    /// Rows that are one element: those of a chunk of a sum, else 1.
    unit: usize,
}

impl Rows {
    /// The rows that may be worth it, of so many bytes in all at least: of few axes first.
    pub(super) fn candidates(function: &Function, bytes_least: u64) -> Vec<Rows> {
        let mut bytes: BTreeMap<(usize, &[usize]), u64> = BTreeMap::new();
        for ty in function.insts.iter().flat_map(|inst| &inst.results).map(|v| function.ty(*v)) {
            for axes in 1..=ty.rank() {
                *bytes.entry((axes, &ty.shape[..axes])).or_default() += ty.bytes() as u64;
            }
        }
        let worth = bytes.into_iter().filter(|(_, bytes)| *bytes >= bytes_least);
        let rows = worth.map(|((_, prefix), _)| Rows { prefix: prefix.to_vec(), unit: unit(function, prefix) });
        rows.filter(|rows| rows.prefix.len() > 1 || rows.unit > 1).collect()
    }

    /// Extent of the new leading axis.
    pub(super) fn extent(&self) -> usize {
        self.prefix.iter().product::<usize>() / self.unit
    }

    /// Rows of an element of it.
    pub(super) fn unit(&self) -> usize {
        self.unit
    }

    /// The Program over rows.
    pub(super) fn apply(&self, program: &Program) -> Program {
        let function = program.main();
        let b = Builder::new(function.name.clone());
        let params = b.params(function.param_types());
        let mut seen = Seen { b: &b, function, rows: self, whole: BTreeMap::new(), in_rows: BTreeMap::new() };
        seen.whole.extend(function.params.iter().copied().zip(params));
        for inst in &function.insts {
            b.set_pos(&inst.pos);
            if let Some(result) = seen.over_rows(inst) {
                seen.in_rows.insert(inst.results[0], result);
            } else if let Some(result) = seen.sum_of_chunks(inst).or_else(|| seen.over_all_rows(inst)) {
                seen.whole.insert(inst.results[0], result);
            } else {
                let args = inst.args.iter().map(|v| seen.whole(*v)).collect();
                seen.whole.extend(inst.results.iter().copied().zip(b.copy(function, inst, args)));
            }
        }
        let results = function.results.iter().map(|v| seen.whole(*v)).collect();
        let mut program = program.clone();
        program.entry = program.add(b.finish(results));
        program
    }

    fn leads(&self, ty: &Type) -> bool {
        ty.shape.starts_with(&self.prefix)
    }

    /// The new leading axes: one, and one for the rows of a unit.
    fn leading(&self) -> usize {
        if self.unit == 1 { 1 } else { 2 }
    }

    /// Where an axis behind the leading ones is.
    fn moved(&self, axis: usize) -> usize {
        axis - self.prefix.len() + self.leading()
    }

    /// The shape in rows.
    fn shape(&self, ty: &Type) -> Vec<usize> {
        [&[self.extent(), self.unit][..self.leading()], &ty.shape[self.prefix.len()..]].concat()
    }
}

/// Rows that make a chunk of the sum of all elements, of the largest array that is summed so; 1 where none is.
fn unit(function: &Function, prefix: &[usize]) -> usize {
    let summed = function.insts.iter().filter_map(|inst| sums_all(function, inst)).filter(|ty| ty.shape.starts_with(prefix));
    let largest = summed.max_by_key(|ty| ty.elements());
    let row = largest.map_or(0, |ty| ty.shape[prefix.len()..].iter().product());
    if row == 0 || !SUM_CHUNK.is_multiple_of(row) {
        return 1;
    }
    let (unit, count) = (SUM_CHUNK / row, prefix.iter().product::<usize>());
    if count.is_multiple_of(unit) && count > 0 { unit } else { 1 }
}

/// What an instruction sums all elements of, if that is what it does: its order is that of one run.
fn sums_all<'f>(function: &'f Function, inst: &Inst) -> Option<&'f Type> {
    let Op::Row(row, attrs) = &inst.op else { return None };
    let ty = function.ty(*inst.args.first()?);
    let sums = **row == ops::SUM && ty.dtype.is_float() && sum_axes(ty.rank(), &attrs.sizes("axes")).2.len() == ty.rank();
    sums.then_some(ty)
}

/// Values of the new function: as they are, and in rows; each is made of the other by a view where it is asked for.
struct Seen<'a> {
    b: &'a Builder,
    function: &'a Function,
    rows: &'a Rows,
    whole: BTreeMap<Value, Value>,
    in_rows: BTreeMap<Value, Value>,
}

impl Seen<'_> {
    fn whole(&mut self, v: Value) -> Value {
        let shape = || self.function.ty(v).shape.clone();
        *self.whole.entry(v).or_insert_with(|| reshape(self.b, *self.in_rows.get(&v).expect("SSA: defined before use"), shape()))
    }

    fn in_rows(&mut self, v: Value) -> Value {
        let shape = || self.rows.shape(self.function.ty(v));
        *self.in_rows.entry(v).or_insert_with(|| reshape(self.b, *self.whole.get(&v).expect("SSA: defined before use"), shape()))
    }

    /// One instruction over rows, where it treats them alike.
    fn over_rows(&mut self, inst: &Inst) -> Option<Value> {
        let Op::Row(row, attrs) = &inst.op else { return None };
        let (rows, ty, b) = (self.rows, self.function.ty(inst.results[0]), self.b);
        let axes = rows.prefix.len();
        if !rows.leads(ty) {
            return None;
        }
        if row.lowering.is_elementwise() {
            let args: Vec<Value> = inst.args.iter().map(|v| self.in_rows(*v)).collect();
            return Some(b.row(row, attrs.clone(), &args));
        }
        if row.lowering == Lowering::Constant {
            return Some(b.constant(splat(attrs.array("value"), rows.shape(ty))?));
        }
        if row.lowering == Lowering::View(View::Broadcast) {
            let places = attrs.sizes("axes");
            let own = places.iter().filter(|place| **place < axes).count();
            // Rows of an array that has all leading axes, or one row for all.
            let (arg, leading) = match own {
                0 => (self.whole(inst.args[0]), 0),
                _ if places[..own].iter().copied().eq(0..axes) => (self.in_rows(inst.args[0]), rows.leading()),
                _ => return None,
            };
            let places = (0..leading).chain(places[own..].iter().map(|place| rows.moved(*place))).collect();
            return Some(b.row(row, replace(&replace(attrs, "shape", rows.shape(ty)), "axes", places), &[arg]));
        }
        let over = matches!(row.lowering, Lowering::Reduce(_)).then(|| attrs.sizes("axes"))?;
        let behind = over.iter().all(|axis| *axis >= axes);
        behind
            .then(|| b.row(row, replace(attrs, "axes", over.iter().map(|axis| rows.moved(*axis)).collect()), &[self.in_rows(inst.args[0])]))
    }

    /// A reduction over all rows, which are in the order that the leading axes had, and maybe over axes behind them.
    fn over_all_rows(&mut self, inst: &Inst) -> Option<Value> {
        let Op::Row(row, attrs) = &inst.op else { return None };
        let (rows, axes) = (self.rows, self.rows.prefix.len());
        let over = matches!(row.lowering, Lowering::Reduce(_)).then(|| attrs.sizes("axes"))?;
        if !rows.leads(self.function.ty(inst.args[0])) || !over.iter().take(axes).copied().eq(0..axes) {
            return None;
        }
        let over = (0..rows.leading()).chain(over[axes..].iter().map(|axis| rows.moved(*axis))).collect();
        Some(self.b.row(row, replace(attrs, "axes", over), &[self.in_rows(inst.args[0])]))
    }

    /// The sum of all elements from those of its chunks, which are added in order: a chunk is a unit of rows. The same bits, but that a chunk
    /// of −0 is 0, which changes no sum that starts from 0.
    fn sum_of_chunks(&mut self, inst: &Inst) -> Option<Value> {
        let ty = sums_all(self.function, inst).filter(|ty| self.rows.leads(ty))?;
        let row: usize = ty.shape[self.rows.prefix.len()..].iter().product();
        if row * self.rows.unit != SUM_CHUNK {
            return None;
        }
        let (b, x) = (self.b, self.in_rows(inst.args[0]));
        let chunks = b.row(&ops::SUM, Attrs::none().ints("axes", 1..b.ty(x).rank()), &[x]);
        // An axis of one element behind it: the other order of a sum, one after the other.
        let chunks = reshape(b, chunks, vec![1, self.rows.extent(), 1]);
        let total = b.row(&ops::SUM, Attrs::none().ints("axes", [1]), &[chunks]);
        Some(reshape(b, total, vec![]))
    }
}

fn reshape(b: &Builder, v: Value, shape: Vec<usize>) -> Value {
    b.row(&ops::RESHAPE, Attrs::none().ints("shape", shape), &[v])
}
