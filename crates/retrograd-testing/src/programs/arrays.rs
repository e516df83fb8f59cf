//! Random instructions of the op table.

use retrograd_compiler::ir::{Attr, Attrs, DType, OpDef, Type, Value};
use retrograd_compiler::ops;

use super::{Draft, ELEMENTS, Entry, Kind, MOST, Scope, Slot, apply, embedding};

/// Ops that compare.
const COMPARISONS: [&OpDef; 6] = [&ops::LT, &ops::LE, &ops::GT, &ops::GE, &ops::EQ, &ops::NE];

impl Draft {
    pub(super) fn unary(&mut self, s: &mut Scope) {
        let x = self.some(s, Kind::Number);
        let (v, most) = (x.value, x.slot.most);
        // 1.5 + x² is where logarithms, roots and quotients are tame.
        let positive = |s: &Scope| s.b.add(s.b.full(&x.slot.ty, 1.5), s.b.mul(v, v));
        let (value, most) = match self.random.below(8) {
            0 => (apply(s, &ops::NEG, &[v]), most),
            1 => (apply(s, &ops::SIN, &[v]), 1.0),
            2 => (apply(s, &ops::COS, &[v]), 1.0),
            3 => (apply(s, &ops::SQRT, &[positive(s)]), 5.0),
            4 => (apply(s, &ops::LOG, &[positive(s)]), 3.0),
            5 if most <= 1.5 => (apply(s, &ops::EXP, &[v]), 4.5),
            _ => (apply(s, &ops::TANH, &[v]), 1.0),
        };
        self.push(s, Kind::Number, value, most);
    }

    pub(super) fn binary(&mut self, s: &mut Scope) {
        let x = self.some(s, Kind::Number);
        let y = self.want(s, &x.slot.clone().bounded(MOST));
        let (a, b) = (x.slot.most, y.slot.most);
        let (value, most) = match self.random.below(7) {
            0 | 1 => (s.b.add(x.value, y.value), a + b),
            2 => (apply(s, &ops::SUB, &[x.value, y.value]), a + b),
            3 => {
                let divisor = s.b.add(s.b.full(&x.slot.ty, 1.5), s.b.mul(y.value, y.value));
                (apply(s, &ops::DIV, &[x.value, divisor]), a)
            }
            _ => (s.b.mul(x.value, y.value), a * b),
        };
        self.push(s, Kind::Number, value, most);
    }

    pub(super) fn select(&mut self, s: &mut Scope) {
        let kind = self.one_of(&[Kind::Number, Kind::Number, Kind::Integer, Kind::Mask, Kind::Cotangent]);
        let x = self.some(s, kind);
        let kind = x.slot.kind;
        let y = self.want(s, &x.slot.clone().bounded(MOST));
        let mask =
            self.want(s, &Slot { kind: Kind::Mask, ty: Type::new(DType::Bool, x.slot.ty.shape.clone()), most: 0.0 });
        let value = apply(s, &ops::SELECT, &[mask.value, x.value, y.value]);
        self.push(s, kind, value, x.slot.most.max(y.slot.most));
    }

    /// A kind of which arrays are worth re-indexing.
    fn array_kind(&mut self) -> Kind {
        self.one_of(&[
            Kind::Number,
            Kind::Number,
            Kind::Number,
            Kind::Number,
            Kind::Integer,
            Kind::Mask,
            Kind::Cotangent,
        ])
    }

    pub(super) fn view(&mut self, s: &mut Scope) {
        let kind = self.array_kind();
        let x = self.some(s, kind);
        let (kind, rank) = (x.slot.kind, x.slot.ty.rank());
        let value = match self.random.below(6) {
            5 if rank > 0 => s.b.op(&ops::REVERSE, Attrs::none().ints("axes", [self.random.below(rank)]), &[x.value]),
            0 | 1 => self.broadcast(s, &x),
            2 if rank > 1 => {
                let axes = self.permutation(rank);
                s.b.op(&ops::TRANSPOSE, Attrs::none().ints("axes", axes), &[x.value])
            }
            3 => {
                let shape = self.reshaped(&x.slot.ty);
                s.b.op(&ops::RESHAPE, Attrs::none().ints("shape", shape), &[x.value])
            }
            _ => {
                let (start, stop, step) = self.part(&x.slot.ty);
                s.b.op(
                    &ops::SLICE,
                    Attrs::none().ints("start", start).ints("stop", stop).ints("step", step),
                    &[x.value],
                )
            }
        };
        self.push(s, kind, value, x.slot.most);
    }

    /// New axes at random places; they make a preferred shape where that is possible.
    fn broadcast(&mut self, s: &Scope, x: &Entry) -> Value {
        let shape = &x.slot.ty.shape;
        let fitting: Vec<(Vec<usize>, Vec<usize>)> = self
            .shapes
            .iter()
            .filter(|wide| wide.len() > shape.len())
            .filter_map(|wide| Some((wide.clone(), embedding(shape, wide)?)))
            .collect();
        if !fitting.is_empty() {
            let (wide, axes) = &fitting[self.random.below(fitting.len())];
            return s.b.broadcast(x.value, wide, axes);
        }
        let (at, extent) = (self.random.below(shape.len() + 1), 1 + self.random.below(3));
        let mut wide = shape.clone();
        wide.insert(at, extent);
        if wide.iter().product::<usize>() > ELEMENTS || wide.len() > 4 {
            return x.value;
        }
        s.b.broadcast(x.value, &wide, &(0..wide.len()).filter(|axis| *axis != at).collect::<Vec<_>>())
    }

    fn permutation(&mut self, count: usize) -> Vec<usize> {
        let mut list: Vec<usize> = (0..count).collect();
        for k in (1..count).rev() {
            list.swap(k, self.random.below(k + 1));
        }
        list
    }

    /// Another shape of as many elements: axes joined, or an axis of 1 added.
    fn reshaped(&mut self, ty: &Type) -> Vec<usize> {
        let alike: Vec<Vec<usize>> = self
            .shapes
            .iter()
            .filter(|shape| shape.iter().product::<usize>() == ty.elements() && **shape != ty.shape)
            .cloned()
            .collect();
        match self.random.below(3) {
            0 if !alike.is_empty() => alike[self.random.below(alike.len())].clone(),
            1 if ty.rank() < 4 => {
                let mut shape = ty.shape.clone();
                shape.insert(self.random.below(shape.len() + 1), 1);
                shape
            }
            _ => vec![ty.elements()],
        }
    }

    /// Start, stop and step of a part of an array, seldom an empty one.
    fn part(&mut self, ty: &Type) -> (Vec<usize>, Vec<usize>, Vec<usize>) {
        let axis = |random: &mut Draft, extent: usize| {
            let start = random.random.below(extent.max(1));
            let least = usize::from(start < extent && !random.chance(40));
            (start, start + least + random.random.below(extent - start - least + 1), random.one_of(&[1, 1, 2, 3]))
        };
        let axes: Vec<_> = ty.shape.iter().map(|extent| axis(self, *extent)).collect();
        (axes.iter().map(|a| a.0).collect(), axes.iter().map(|a| a.1).collect(), axes.iter().map(|a| a.2).collect())
    }

    /// Extents and steps of a window that fits, and a start of it, which is a value of the run.
    fn place(&mut self, s: &mut Scope, ty: &Type) -> (Vec<usize>, Vec<usize>, Vec<Value>) {
        let (mut sizes, mut steps, mut starts) = (vec![], vec![], vec![]);
        for extent in &ty.shape {
            let step = self.one_of(&[1, 1, 1, 2]);
            let size = match self.random.below(3) {
                0 => 1.min(*extent),
                1 => *extent,
                _ => self.random.below(extent + 1).max(1.min(*extent)),
            };
            let step = if size == 0 || (size - 1) * step < *extent { step } else { 1 };
            let span = if size == 0 { 0 } else { (size - 1) * step + 1 };
            starts.push(self.start(s, extent - span + 1));
            sizes.push(size);
            steps.push(step);
        }
        (sizes, steps, starts)
    }

    /// An index below a number, cut off where the one at hand may be larger.
    fn start(&mut self, s: &mut Scope, below: usize) -> Value {
        let slot = Slot { kind: Kind::Index, ty: Type::scalar(DType::I64), most: below as f64 };
        let large =
            s.pool.iter().rev().find(|entry| entry.slot.kind == Kind::Index && entry.slot.most > below as f64).cloned();
        match large {
            Some(large) if self.chance(2) => {
                let last = s.b.int(below as i64 - 1);
                let inside = apply(s, &ops::LT, &[large.value, last]);
                let value = apply(s, &ops::SELECT, &[inside, large.value, last]);
                self.push(s, Kind::Index, value, below as f64);
                value
            }
            Some(_) | None => self.arg(s, &slot),
        }
    }

    pub(super) fn window(&mut self, s: &mut Scope) {
        let kind = self.array_kind();
        let x = self.some(s, kind);
        let value = self.read(s, &x);
        self.push(s, x.slot.kind, value, x.slot.most);
    }

    fn read(&mut self, s: &mut Scope, x: &Entry) -> Value {
        let (sizes, steps, starts) = self.place(s, &x.slot.ty);
        let attrs = Attrs::none().ints("sizes", sizes).ints("step", steps);
        s.b.op(&ops::DYNAMIC_SLICE, attrs, &[vec![x.value], starts].concat())
    }

    /// A window written or added to, mostly with something made of a window of the same array, as in a stencil.
    pub(super) fn write(&mut self, s: &mut Scope) {
        let kind = self.array_kind();
        let base = self.some(s, kind);
        let kind = base.slot.kind;
        let (sizes, steps, starts) = self.place(s, &base.slot.ty);
        let slot = Slot { ty: Type::new(base.slot.ty.dtype, sizes.clone()), ..base.slot.clone() }.bounded(MOST);
        let update = match self.random.below(3) {
            0 => self.want(s, &slot),
            _ => {
                let mut from = starts.clone();
                if self.chance(2) {
                    let last: Vec<usize> = (0..sizes.len())
                        .map(|k| base.slot.ty.shape[k] - sizes[k].saturating_sub(1) * steps[k])
                        .collect();
                    from = (0..sizes.len())
                        .map(|k| if sizes[k] == 0 { starts[k] } else { self.start(s, last[k]) })
                        .collect();
                }
                let attrs = Attrs::none().ints("sizes", sizes).ints("step", steps.iter().copied());
                let window = s.b.op(&ops::DYNAMIC_SLICE, attrs, &[vec![base.value], from].concat());
                // A window with a negative step, which its own writing must not overtake.
                let value = match s.b.ty(window).rank() {
                    rank if rank > 0 && self.chance(4) => {
                        s.b.op(&ops::REVERSE, Attrs::none().ints("axes", [self.random.below(rank)]), &[window])
                    }
                    _ => window,
                };
                self.changed(s, Entry { value, slot: Slot { most: base.slot.most, ..slot }, uses: 0 })
            }
        };
        let add = kind != Kind::Mask && self.chance(3);
        let (row, most) = if add {
            (&ops::ADD_AT, base.slot.most + update.slot.most)
        } else {
            (&ops::UPDATE, base.slot.most.max(update.slot.most))
        };
        let value = s.b.op(row, Attrs::none().ints("step", steps), &[vec![base.value, update.value], starts].concat());
        self.push(s, kind, value, most);
    }

    /// Something else of the same kind and type.
    fn changed(&mut self, s: &mut Scope, x: Entry) -> Entry {
        let other = self.want(s, &x.slot.clone().bounded(MOST));
        let (value, most) = match x.slot.kind {
            Kind::Number => match self.random.below(3) {
                0 => (apply(s, &ops::TANH, &[s.b.mul(x.value, other.value)]), 1.0),
                1 => (apply(s, &ops::SIN, &[s.b.add(x.value, other.value)]), 1.0),
                _ => (x.value, x.slot.most),
            },
            Kind::Integer => (s.b.add(x.value, other.value), 0.0),
            Kind::Mask => (apply(s, &ops::NOT, &[x.value]), 0.0),
            Kind::Index | Kind::Cotangent => (x.value, x.slot.most),
        };
        Entry { value, slot: Slot { most, ..x.slot }, uses: 0 }
    }

    pub(super) fn sum(&mut self, s: &mut Scope) {
        let kind = self.one_of(&[Kind::Number, Kind::Number, Kind::Cotangent]);
        let x = self.some(s, kind);
        let axes: Vec<usize> = (0..x.slot.ty.rank()).filter(|_| !self.chance(3)).collect();
        let count: usize = axes.iter().map(|axis| x.slot.ty.shape[*axis]).product();
        let value = s.b.op(&ops::SUM, Attrs::none().ints("axes", axes), &[x.value]);
        self.push(s, x.slot.kind, value, x.slot.most * count as f64);
    }

    pub(super) fn dot(&mut self, s: &mut Scope) {
        let right_kind = self.one_of(&[Kind::Number, Kind::Number, Kind::Cotangent]);
        let (x, y) = (self.some(s, Kind::Number), self.some(s, right_kind));
        if x.slot.ty.dtype != y.slot.ty.dtype {
            return;
        }
        let (mut left, mut right, mut batch) = (vec![], vec![], (vec![], vec![]));
        let mut count = 1;
        for axis in self.permutation(x.slot.ty.rank()) {
            let extent = x.slot.ty.shape[axis];
            let free = |k: &usize| y.slot.ty.shape[*k] == extent && !right.contains(k) && !batch.1.contains(k);
            let partner = self.permutation(y.slot.ty.rank()).into_iter().find(free);
            match (partner, self.random.below(6)) {
                (Some(k), 0..=2) => {
                    left.push(axis);
                    right.push(k);
                    count *= extent;
                }
                (Some(k), 3) => {
                    batch.0.push(axis);
                    batch.1.push(k);
                }
                (Some(_) | None, _) => {}
            }
        }
        let product = |ty: &Type, without: &[&[usize]]| {
            let kept = (0..ty.rank()).filter(|axis| !without.iter().any(|list| list.contains(axis)));
            kept.map(|axis| ty.shape[axis]).product::<usize>()
        };
        let elements = product(&x.slot.ty, &[&left]) * product(&y.slot.ty, &[&right, &batch.1]);
        let rank = x.slot.ty.rank() + y.slot.ty.rank() - 2 * left.len() - batch.0.len();
        if elements > ELEMENTS || rank > 4 {
            return;
        }
        let value = s.b.op(&ops::DOT, ops::DotAxes::attrs(&left, &right, &batch.0, &batch.1), &[x.value, y.value]);
        self.push(s, y.slot.kind, value, x.slot.most * y.slot.most * count as f64);
    }

    pub(super) fn mask(&mut self, s: &mut Scope) {
        let value = match self.random.below(5) {
            0 => {
                let x = self.some(s, Kind::Mask);
                let y = self.want(s, &x.slot.clone());
                apply(s, self.one_of(&[&ops::AND, &ops::OR]), &[x.value, y.value])
            }
            1 => {
                let x = self.some(s, Kind::Mask);
                apply(s, &ops::NOT, &[x.value])
            }
            2 => {
                let (x, y) = (self.some(s, Kind::Index), self.some(s, Kind::Index));
                apply(s, self.one_of(&COMPARISONS), &[x.value, y.value])
            }
            k => {
                let x = self.some(s, if k == 3 { Kind::Integer } else { Kind::Number });
                let y = self.want(s, &x.slot.clone().bounded(MOST));
                apply(s, self.one_of(&COMPARISONS), &[x.value, y.value])
            }
        };
        self.push(s, Kind::Mask, value, 0.0);
    }

    pub(super) fn index(&mut self, s: &mut Scope) {
        let x = self.some(s, Kind::Index);
        let k = self.random.below(3);
        let (value, most) = match self.random.below(3) {
            0 => (s.b.add(x.value, s.b.int(k as i64)), x.slot.most + k as f64),
            1 => (apply(s, &ops::SUB, &[s.b.int(x.slot.most as i64 - 1), x.value]), x.slot.most),
            _ => (s.b.mul(x.value, s.b.int(k as i64)), (x.slot.most - 1.0) * k as f64 + 1.0),
        };
        self.push(s, Kind::Index, value, most);
    }

    pub(super) fn integer(&mut self, s: &mut Scope) {
        let x = self.some(s, Kind::Integer);
        let ty = x.slot.ty.clone();
        let y = self.want(s, &x.slot.clone());
        let value = match self.random.below(5) {
            0 if ty.rank() > 0 => {
                let axis = self.random.below(ty.rank());
                s.b.op(&ops::IOTA, Attrs::none().with("type", Attr::Type(ty)).ints("axis", [axis]), &[])
            }
            1 => apply(s, &ops::SUB, &[x.value, y.value]),
            2 => apply(s, &ops::NEG, &[x.value]),
            3 => s.b.mul(x.value, y.value),
            _ => s.b.add(x.value, y.value),
        };
        self.push(s, Kind::Integer, value, 0.0);
    }

    /// An index or a mask becomes a number.
    pub(super) fn converted(&mut self, s: &mut Scope) {
        let kind = self.one_of(&[Kind::Index, Kind::Mask]);
        let x = self.some(s, kind);
        let most = if kind == Kind::Index { x.slot.most } else { 1.0 };
        let value = s.b.convert(x.value, self.float);
        self.push(s, Kind::Number, value, most);
    }

    /// Cotangents only meet each other by sums, and numbers by products.
    pub(super) fn linear(&mut self, s: &mut Scope) {
        if !s.pool.iter().any(|entry| entry.slot.kind == Kind::Cotangent) {
            return self.binary(s);
        }
        let x = self.some(s, Kind::Cotangent);
        let value = match self.random.below(4) {
            0 => {
                let y = self.want(s, &x.slot.clone());
                s.b.add(x.value, y.value)
            }
            1 => {
                let y = self.want(s, &x.slot.clone());
                apply(s, &ops::SUB, &[x.value, apply(s, &ops::NEG, &[y.value])])
            }
            _ => {
                let k = self.want(s, &Slot { kind: Kind::Number, ty: x.slot.ty.clone(), most: MOST });
                s.b.mul(k.value, x.value)
            }
        };
        self.push(s, Kind::Cotangent, value, MOST);
    }
}
