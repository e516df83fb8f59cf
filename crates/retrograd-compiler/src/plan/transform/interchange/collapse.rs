//! Axis collapsing: several leading axes as one, so that tiles can be cut from all of their elements: what treats those alike is
//! rewritten over rows, and the rest sees arrays as they are. The sum of all elements becomes the sum of its chunks,
//! which tiles leave one by one.

use std::collections::BTreeMap;

use super::retile::{replace, splat};
use crate::ir::{Attr, Attrs, Builder, Function, Inst, Lowering, Op, OpDef, Program, Type, Value, View};
use crate::ops::{self, SUM_CHUNK, sum_axes};

/// Arrays with the same leading axes as rows.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Collapsed {
    /// Extents of the leading axes.
    prefix: Vec<usize>,
    /// Extents of the axes in their place: one, one before the rows of a chunk of a sum, or none for a single row.
    leading: Vec<usize>,
}

impl Collapsed {
    /// The rows that may be worth it, of so many bytes in all at least: of few axes first.
    pub(super) fn candidates(function: &Function, bytes_least: u64) -> Vec<Collapsed> {
        let mut bytes: BTreeMap<(usize, &[usize]), u64> = BTreeMap::new();
        for ty in function.insts.iter().flat_map(|inst| &inst.results).map(|v| function.ty(*v)) {
            for axes in 1..=ty.rank() {
                *bytes.entry((axes, &ty.shape[..axes])).or_default() += ty.bytes() as u64;
            }
        }
        let worth = bytes.into_iter().filter(|(_, bytes)| *bytes >= bytes_least);
        let rows =
            worth.map(|((_, prefix), _)| Collapsed { prefix: prefix.to_vec(), leading: leading(function, prefix) });
        rows.filter(|rows| rows.prefix.len() > 1 || rows.leading.len() > 1).collect()
    }

    /// One row by itself.
    pub(super) fn single(prefix: Vec<usize>) -> Collapsed {
        Collapsed { prefix, leading: vec![] }
    }

    /// How many rows there are.
    pub(super) fn count(&self) -> usize {
        self.prefix.iter().product()
    }

    /// Extent of the new leading axis.
    pub(super) fn extent(&self) -> usize {
        self.leading[0]
    }

    /// Collapsed of an element of it: those of a chunk of a sum, else 1.
    pub(super) fn unit(&self) -> usize {
        self.leading[1..].iter().product()
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
            if let Some(alike) = self.alike(function, inst) {
                let result = seen.over_rows(inst, alike);
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

    /// Whether an array is one of rows.
    pub(super) fn leads(&self, ty: &Type) -> bool {
        ty.shape.starts_with(&self.prefix)
    }

    /// Elements of a row.
    pub(super) fn elements(&self, ty: &Type) -> usize {
        ty.shape[self.prefix.len()..].iter().product()
    }

    /// Where an axis behind the leading ones is.
    fn moved(&self, axis: usize) -> usize {
        axis - self.prefix.len() + self.leading.len()
    }

    /// The shape in rows.
    pub(super) fn shape(&self, ty: &Type) -> Vec<usize> {
        [&self.leading, &ty.shape[self.prefix.len()..]].concat()
    }
}

/// An instruction that treats rows alike, over rows.
pub(super) struct Alike {
    pub(super) def: &'static OpDef,
    pub(super) attrs: Attrs,
    pub(super) source: Source,
}

/// What such an instruction reads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Source {
    /// Collapsed.
    Collapsed,
    /// The same for all rows.
    Whole,
}

impl Collapsed {
    /// An instruction over rows, where it treats them alike.
    pub(super) fn alike(&self, function: &Function, inst: &Inst) -> Option<Alike> {
        let Op::Def(def, attrs) = &inst.op else { return None };
        let (ty, axes) = (function.ty(inst.results[0]), self.prefix.len());
        let over = |source: Source, attrs: Attrs| Some(Alike { def, attrs, source });
        if !self.leads(ty) {
            return None;
        }
        if def.lowering.is_elementwise() {
            return over(Source::Collapsed, attrs.clone());
        }
        if def.lowering == Lowering::Constant {
            let value = splat(attrs.array("value"), self.shape(ty))?;
            return over(Source::Whole, Attrs::none().with("value", Attr::Array(value)));
        }
        if def.lowering == Lowering::View(View::Broadcast) {
            let places = attrs.sizes("axes");
            let own = places.iter().filter(|place| **place < axes).count();
            // Collapsed of an array that has all leading axes, or one row for all.
            let (source, leading) = match own {
                0 => (Source::Whole, 0),
                _ if places[..own].iter().copied().eq(0..axes) => (Source::Collapsed, self.leading.len()),
                _ => return None,
            };
            let places = (0..leading).chain(places[own..].iter().map(|place| self.moved(*place))).collect();
            return over(source, replace(&replace(attrs, "shape", self.shape(ty)), "axes", places));
        }
        let reduced = matches!(def.lowering, Lowering::Reduce(_)).then(|| attrs.sizes("axes"))?;
        let behind = reduced.iter().all(|axis| *axis >= axes);
        let moved = || reduced.iter().map(|axis| self.moved(*axis)).collect();
        if behind { over(Source::Collapsed, replace(attrs, "axes", moved())) } else { None }
    }
}

/// The rows as one axis, or in units that make a chunk of the sum of all elements, of the largest array that is summed
/// so.
fn leading(function: &Function, prefix: &[usize]) -> Vec<usize> {
    let summed =
        function.insts.iter().filter_map(|inst| sums_all(function, inst)).filter(|ty| ty.shape.starts_with(prefix));
    let largest = summed.max_by_key(|ty| ty.elements());
    let (row, count): (usize, usize) =
        (largest.map_or(0, |ty| ty.shape[prefix.len()..].iter().product()), prefix.iter().product());
    if row == 0
        || count == 0
        || !SUM_CHUNK.is_multiple_of(row)
        || row == SUM_CHUNK
        || !count.is_multiple_of(SUM_CHUNK / row)
    {
        return vec![count];
    }
    vec![count / (SUM_CHUNK / row), SUM_CHUNK / row]
}

/// What an instruction sums all elements of, if that is what it does: its order is that of one run.
fn sums_all<'f>(function: &'f Function, inst: &Inst) -> Option<&'f Type> {
    let Op::Def(def, attrs) = &inst.op else { return None };
    let ty = function.ty(*inst.args.first()?);
    let sums =
        **def == ops::SUM && ty.dtype.is_float() && sum_axes(ty.rank(), &attrs.sizes("axes")).2.len() == ty.rank();
    sums.then_some(ty)
}

/// Values of the new function: as they are, and in rows; each is made of the other by a view where it is asked for.
struct Seen<'a> {
    b: &'a Builder,
    function: &'a Function,
    rows: &'a Collapsed,
    whole: BTreeMap<Value, Value>,
    in_rows: BTreeMap<Value, Value>,
}

impl Seen<'_> {
    fn whole(&mut self, v: Value) -> Value {
        let shape = || self.function.ty(v).shape.clone();
        *self
            .whole
            .entry(v)
            .or_insert_with(|| reshape(self.b, *self.in_rows.get(&v).expect("SSA: defined before use"), shape()))
    }

    fn in_rows(&mut self, v: Value) -> Value {
        let shape = || self.rows.shape(self.function.ty(v));
        *self
            .in_rows
            .entry(v)
            .or_insert_with(|| reshape(self.b, *self.whole.get(&v).expect("SSA: defined before use"), shape()))
    }

    fn over_rows(&mut self, inst: &Inst, Alike { def, attrs, source }: Alike) -> Value {
        let args: Vec<Value> = match source {
            Source::Collapsed => inst.args.iter().map(|v| self.in_rows(*v)).collect(),
            Source::Whole => inst.args.iter().map(|v| self.whole(*v)).collect(),
        };
        self.b.op(def, attrs, &args)
    }

    /// A reduction over all rows, which are in the order that the leading axes had, and maybe over axes behind them.
    fn over_all_rows(&mut self, inst: &Inst) -> Option<Value> {
        let Op::Def(def, attrs) = &inst.op else { return None };
        let (rows, axes) = (self.rows, self.rows.prefix.len());
        let over = matches!(def.lowering, Lowering::Reduce(_)).then(|| attrs.sizes("axes"))?;
        if !rows.leads(self.function.ty(inst.args[0])) || !over.iter().take(axes).copied().eq(0..axes) {
            return None;
        }
        let over = (0..rows.leading.len()).chain(over[axes..].iter().map(|axis| rows.moved(*axis))).collect();
        Some(self.b.op(def, replace(attrs, "axes", over), &[self.in_rows(inst.args[0])]))
    }

    /// The sum of all elements from those of its chunks, which are added in order: a chunk is a unit of rows. The same
    /// bits, but that a chunk of −0 is 0, which changes no sum that starts from 0.
    fn sum_of_chunks(&mut self, inst: &Inst) -> Option<Value> {
        let ty = sums_all(self.function, inst).filter(|ty| self.rows.leads(ty))?;
        let row: usize = ty.shape[self.rows.prefix.len()..].iter().product();
        if row * self.rows.unit() != SUM_CHUNK {
            return None;
        }
        let (b, x) = (self.b, self.in_rows(inst.args[0]));
        let chunks = b.op(&ops::SUM, Attrs::none().ints("axes", 1..b.ty(x).rank()), &[x]);
        // An axis of one element behind it: the other order of a sum, one after the other.
        let chunks = reshape(b, chunks, vec![1, self.rows.extent(), 1]);
        let total = b.op(&ops::SUM, Attrs::none().ints("axes", [1]), &[chunks]);
        Some(reshape(b, total, vec![]))
    }
}

pub(super) fn reshape(b: &Builder, v: Value, shape: Vec<usize>) -> Value {
    b.op(&ops::RESHAPE, Attrs::none().ints("shape", shape), &[v])
}
