//! A function that treats the elements along the leading axis of some of its values alike, over fewer of them.

use std::collections::BTreeMap;

use crate::ir::{
    Array, Attr, Attrs, Builder, CallOp, Composed, Data, ForOp, FuncId, Function, IfOp, Inst, Lowering, Op, OpDef,
    Program, Type, UnwindOp, Value, View,
};
use crate::ops::DotAxes;

/// What a value is to a tile.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Part {
    /// The same for all tiles.
    Whole,
    /// A run of this axis belongs to each tile; what is read and what is left are cut along the leading one.
    Tiled(usize),
}

impl Part {
    fn axis(self) -> Option<usize> {
        match self {
            Part::Whole => None,
            Part::Tiled(axis) => Some(axis),
        }
    }
}

/// Functions of one tile, made of functions of whole arrays. A function that mixes elements along the leading axis has
/// none.
pub(super) struct Retile<'p> {
    /// The Program that grows by functions of tiles.
    pub(super) program: &'p mut Program,
    /// Extent of the leading axis of whole arrays.
    pub(super) extent: usize,
    /// That of tiles.
    pub(super) tile: usize,
    /// Functions that were asked for before.
    pub(super) known: BTreeMap<(FuncId, Vec<Part>), Option<Retiled>>,
}

/// A function over tiles, and what its results are.
type Retiled = (FuncId, Vec<Part>);

impl Retile<'_> {
    /// The type of a tile of an array.
    pub(super) fn ty(&self, ty: &Type, part: Part) -> Type {
        match part {
            Part::Whole => ty.clone(),
            Part::Tiled(axis) => Type::new(ty.dtype, self.shape(&ty.shape, axis)),
        }
    }

    /// The shape of a tile.
    fn shape(&self, shape: &[usize], axis: usize) -> Vec<usize> {
        [&shape[..axis], &[self.tile], &shape[axis + 1..]].concat()
    }

    /// What a parameter or operand of that type is taken to be.
    pub(super) fn part(&self, ty: &Type) -> Part {
        if ty.shape.first() == Some(&self.extent) { Part::Tiled(0) } else { Part::Whole }
    }

    /// A function over tiles.
    pub(super) fn function(&mut self, id: FuncId, parts: &[Part]) -> Option<Retiled> {
        let key = (id, parts.to_vec());
        if let Some(known) = self.known.get(&key) {
            return known.clone();
        }
        let function = self.program.function(id).clone();
        let b = Builder::new(format!("{}_tile", function.name));
        let params: Vec<Value> = function
            .params
            .iter()
            .zip(parts)
            .map(|(param, part)| b.param(self.ty(function.ty(*param), *part)))
            .collect();
        let mut values = Values::new(&function);
        values.set(&function.params, &params, parts);
        let all = function.insts.iter().try_for_each(|inst| self.inst(&b, &function, inst, &mut values));
        let made = all.map(|()| {
            let (results, parts) = values.get(&function.results);
            (self.program.add(b.finish(results)), parts)
        });
        self.known.insert(key, made.clone());
        made
    }

    /// One instruction over tiles.
    pub(super) fn inst(&mut self, b: &Builder, function: &Function, inst: &Inst, values: &mut Values) -> Option<()> {
        b.set_pos(&inst.pos);
        let (args, parts) = values.get(&inst.args);
        let (results, parts) = match &inst.op {
            Op::Def(def, attrs) => {
                let (result, part) = self.row(b, def, attrs, (&args, &parts), function.ty(inst.results[0]))?;
                (vec![result], vec![part])
            }
            Op::If(op) => self.branch(b, op, args, &parts)?,
            Op::For(op) => self.counted(b, op, args, &parts)?,
            Op::Unwind(op) => self.unwind(b, op, args, &parts)?,
            Op::Call(CallOp { body, rule: None }) => {
                let (body, parts) = self.function(*body, &parts)?;
                (b.inline(self.program.function(body), &args), parts)
            }
            Op::Call(_) | Op::While(_) => return None,
        };
        values.set(&inst.results, &results, &parts);
        Some(())
    }

    fn branch(&mut self, b: &Builder, op: &IfOp, args: Vec<Value>, parts: &[Part]) -> Option<(Vec<Value>, Vec<Part>)> {
        let (then_body, results) = self.function(op.then_body, &parts[1..])?;
        let (else_body, others) = self.function(op.else_body, &parts[1..])?;
        let types = self.program.function(then_body).result_types();
        (results == others).then(|| (b.push(Op::If(IfOp { then_body, else_body }), args, types), results))
    }

    /// Streams are read and emitted along their leading axis, which is then not that of tiles: only what is the same
    /// for all tiles streams.
    fn counted(
        &mut self,
        b: &Builder,
        op: &ForOp,
        args: Vec<Value>,
        parts: &[Part],
    ) -> Option<(Vec<Value>, Vec<Part>)> {
        let (_, carries, _, streams) = op.args(parts);
        let whole = |parts: &[Part]| parts.iter().all(|part| *part == Part::Whole);
        if !whole(streams) {
            return None;
        }
        let (body, results) = self.function(op.body, parts)?;
        let (ends, rows) = op.results(&results);
        if ends != carries || !whole(rows) {
            return None;
        }
        let step = self.program.function(body).result_types();
        let (types, rows) = op.results(&step);
        let types = types.iter().cloned().chain(rows.iter().map(|row| row.stream(op.bound))).collect();
        Some((b.push(Op::For(ForOp { body, ..op.clone() }), args, types), results))
    }

    fn unwind(
        &mut self,
        b: &Builder,
        op: &UnwindOp,
        args: Vec<Value>,
        parts: &[Part],
    ) -> Option<(Vec<Value>, Vec<Part>)> {
        let groups = op.args(parts);
        let whole = |parts: &[Part]| parts.iter().all(|part| *part == Part::Whole);
        if !whole(groups.streams) || !whole(groups.emitted) {
            return None;
        }
        let (body, states) = self.function(op.body, &parts[..1 + op.carries + op.invariants + op.streams])?;
        let (bwd, results) = self.function(op.bwd, parts)?;
        let (a, r, h) = op.results(&results);
        // A sum over tiles is none of a tile's: running cotangents of what all tiles share are refused by `bwd` itself,
        // since it sums.
        if states != groups.carries || a != groups.adjoints || r != groups.running || !whole(h) {
            return None;
        }
        let step = self.program.function(bwd).result_types();
        let (a, r, h) = op.results(&step);
        let types = a.iter().chain(r).cloned().chain(h.iter().map(|row| row.stream(op.bound))).collect();
        Some((b.push(Op::Unwind(UnwindOp { body, bwd, ..op.clone() }), args, types), results))
    }

    fn row(
        &self,
        b: &Builder,
        def: &'static OpDef,
        attrs: &Attrs,
        (args, parts): (&[Value], &[Part]),
        ty: &Type,
    ) -> Option<(Value, Part)> {
        let leads = ty.shape.first() == Some(&self.extent);
        let tiled = |axis: usize, attrs: Attrs| Some((b.op(def, attrs, args), Part::Tiled(axis)));
        let with = |name: &'static str, axis: usize| replace(attrs, name, self.shape(&attrs.sizes(name), axis));
        let axis = parts.iter().find_map(|part| part.axis());
        let all = parts.windows(2).all(|pair| pair[0] == pair[1]);
        match (def.lowering, axis) {
            // An effect sees whole arrays, once.
            (Lowering::Probe | Lowering::Check, _) => None,
            // What makes an array of equal rows makes a shorter one as well.
            (Lowering::View(View::Broadcast), None) if leads && !attrs.sizes("axes").contains(&0) => {
                tiled(0, with("shape", 0))
            }
            (Lowering::Constant, None) if leads => {
                let value = splat(attrs.array("value"), self.shape(&ty.shape, 0))?;
                Some((b.constant(value), Part::Tiled(0)))
            }
            (Lowering::Iota, None) if leads && attrs.sizes("axis") != [0] => {
                tiled(0, of_type(attrs, &self.ty(ty, Part::Tiled(0))))
            }
            (_, None) => Some((b.op(def, attrs.clone(), args), Part::Whole)),
            (Lowering::Map(_) | Lowering::Convert, Some(axis)) if all => tiled(axis, attrs.clone()),
            (Lowering::View(View::Broadcast), Some(axis)) => {
                let axis = attrs.sizes("axes")[axis];
                tiled(axis, with("shape", axis))
            }
            (Lowering::View(View::Transpose), Some(axis)) => {
                tiled(attrs.sizes("axes").iter().position(|from| *from == axis)?, attrs.clone())
            }
            (Lowering::View(View::Reverse), Some(axis)) if !attrs.sizes("axes").contains(&axis) => {
                tiled(axis, attrs.clone())
            }
            (Lowering::Reduce(_), Some(axis)) if !attrs.sizes("axes").contains(&axis) => {
                let gone = attrs.sizes("axes").iter().filter(|gone| **gone < axis).count();
                tiled(axis - gone, attrs.clone())
            }
            (Lowering::Dot, Some(_)) => {
                let [lhs, rhs] = [args[0], args[1]].map(|v| b.ty(v).rank());
                tiled(dot_keeps(&DotAxes::new(attrs, lhs, rhs), parts)?, attrs.clone())
            }
            (Lowering::Composed(Composed::Concat), Some(axis)) if all && attrs.sizes("axis") != [axis] => {
                tiled(axis, attrs.clone())
            }
            // The rest is known of the leading axis.
            (Lowering::View(View::Reshape), Some(0)) if leads => tiled(0, with("shape", 0)),
            (Lowering::View(View::Slice), Some(0)) if leads && attrs.sizes("step")[0] == 1 => tiled(0, with("stop", 0)),
            (Lowering::View(View::DynamicSlice), Some(0)) if leads => tiled(0, with("sizes", 0)),
            // A window that covers the leading axis, of an array that tiles share out.
            (Lowering::Write(_), Some(0)) if parts[..2] == [Part::Tiled(0); 2] => tiled(0, attrs.clone()),
            (Lowering::Scan(_), Some(0)) if all && attrs.sizes("axis") != [0] => tiled(0, attrs.clone()),
            (Lowering::Composed(Composed::Pad), Some(0)) if parts == [Part::Tiled(0), Part::Whole] && leads => {
                tiled(0, attrs.clone())
            }
            (_, Some(_)) => None,
        }
    }
}

/// The axis of a contraction that is cut where this axis of its operands is: that of both as batch, or a free one of
/// either.
fn dot_keeps(axes: &DotAxes, parts: &[Part]) -> Option<usize> {
    let place = |list: &[usize], axis: usize| list.iter().position(|own| *own == axis);
    let batch = axes.lhs_batch.len();
    match *parts {
        [Part::Tiled(lhs), Part::Tiled(rhs)] => place(&axes.lhs_batch, lhs).filter(|at| axes.rhs_batch[*at] == rhs),
        [Part::Tiled(lhs), Part::Whole] => place(&axes.lhs_free, lhs).map(|at| batch + at),
        [Part::Whole, Part::Tiled(rhs)] => place(&axes.rhs_free, rhs).map(|at| batch + axes.lhs_free.len() + at),
        _ => None,
    }
}

/// The attributes with another type.
fn of_type(attrs: &Attrs, ty: &Type) -> Attrs {
    attrs.iter().fold(Attrs::none(), |new, (name, attr)| match *name {
        "type" => new.with(name, Attr::Type(ty.clone())),
        _ => new.with(name, attr.clone()),
    })
}

/// The attributes with another list of integers under a name.
pub(super) fn replace(attrs: &Attrs, name: &'static str, list: Vec<usize>) -> Attrs {
    attrs.iter().fold(Attrs::none(), |new, (known, attr)| {
        if *known == name { new.ints(name, list.clone()) } else { new.with(known, attr.clone()) }
    })
}

/// A literal whose elements are all equal, in another shape.
pub(super) fn splat(value: &Array, shape: Vec<usize>) -> Option<Array> {
    let count = shape.iter().product();
    let data = match value.data() {
        Data::F32(x) => {
            Data::F32(vec![*x.first().filter(|first| x.iter().all(|x| x.to_bits() == first.to_bits()))?; count])
        }
        Data::F64(x) => {
            Data::F64(vec![*x.first().filter(|first| x.iter().all(|x| x.to_bits() == first.to_bits()))?; count])
        }
        Data::I32(x) => Data::I32(vec![*x.first().filter(|first| x.iter().all(|x| x == *first))?; count]),
        Data::I64(x) => Data::I64(vec![*x.first().filter(|first| x.iter().all(|x| x == *first))?; count]),
        Data::Bool(x) => Data::Bool(vec![*x.first().filter(|first| x.iter().all(|x| x == *first))?; count]),
    };
    Some(Array::new(shape, data))
}

/// What the values of a function are in one over tiles.
#[derive(Debug)]
pub(super) struct Values(Vec<Option<(Value, Part)>>);

impl Values {
    pub(super) fn new(function: &Function) -> Values {
        Values(vec![None; function.types.len()])
    }

    pub(super) fn get(&self, values: &[Value]) -> (Vec<Value>, Vec<Part>) {
        values.iter().map(|v| self.0[v.0 as usize].expect("SSA: defined before use")).unzip()
    }

    pub(super) fn set(&mut self, values: &[Value], new: &[Value], parts: &[Part]) {
        for (value, pair) in values.iter().zip(new.iter().copied().zip(parts.iter().copied())) {
            self.0[value.0 as usize] = Some(pair);
        }
    }
}
