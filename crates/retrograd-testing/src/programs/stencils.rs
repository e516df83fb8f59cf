//! Random loops over stencils: a step writes a window of a carry from its neighbours, branches change carries before
//! and after it, and carries may be exchanged at its end. Buffers of carries, of branches and of windows meet here.

use retrograd_compiler::ir::{Attrs, Builder, DType, ForOp, FuncId, IfOp, Op, Type, Value};
use retrograd_compiler::ops;

use super::{Draft, Entry, Kind, MOST, Place, Scope, Size, Slot, apply};

impl Draft {
    /// A loop over arrays of one type, the first of which is read and one of which is written.
    pub(super) fn stencil(&mut self, s: &mut Scope) {
        let array = Slot { kind: Kind::Number, ty: self.grid(), most: MOST };
        let arrays = self.one_of(&[1, 2, 2, 2, 3]);
        let count = self.one_of(&[1, 2, 2, 3, 4]);
        let index = Slot { kind: Kind::Index, ty: Type::scalar(DType::I64), most: count as f64 };
        let invariants = self.slots(0, 1);
        let params = [vec![index], vec![array.clone(); arrays], invariants.clone()].concat();
        let place = Place { depth: s.place.depth - 1, runs: s.place.runs * count };
        let body = self.stencil_step(&params, arrays, &place);
        let mut args = vec![s.b.int(count as i64)];
        args.extend((0..arrays).map(|_| self.arg(s, &array)).collect::<Vec<_>>());
        args.extend(invariants.iter().map(|slot| self.arg(s, slot)).collect::<Vec<_>>());
        let op = ForOp { body, carries: arrays, invariants: invariants.len(), bound: 0 };
        let values = s.b.push(Op::For(op), args, vec![array.ty.clone(); arrays]);
        for value in values {
            self.push(s, Kind::Number, value, MOST);
        }
    }

    /// A shape of one to three axes with room for neighbours.
    fn grid(&mut self) -> Type {
        let most = match self.size {
            Size::Small => 3,
            Size::Large => 14,
        };
        let rank = self.one_of(&[1, 1, 1, 2, 2, 3]);
        let shape: Vec<usize> = (0..rank).map(|axis| 3 + self.random.below(if axis == 0 { most } else { 2 })).collect();
        let dtype = self.one_of(self.theme.floats());
        Type::new(dtype, shape)
    }

    fn stencil_step(&mut self, params: &[Slot], arrays: usize, place: &Place) -> FuncId {
        let b = Builder::new("stencil");
        let pool: Vec<Entry> =
            params.iter().map(|slot| Entry { value: b.param(slot.ty.clone()), slot: slot.clone(), uses: 0 }).collect();
        let mut s = Scope { b, pool, place: *place };
        let mut carries: Vec<Value> = s.pool[1..=arrays].iter().map(|entry| entry.value).collect();
        for _ in 0..self.random.below(3) {
            self.inst(&mut s);
        }
        let (read, written) = (self.random.below(arrays), self.random.below(arrays));
        if self.chance(2) {
            let at = self.one_of(&[read, written]);
            carries[at] = self.branch_of(&mut s, &carries, at);
        }
        carries[written] = self.stencil_write(&mut s, carries[read], carries[written]);
        if self.chance(2) {
            let at = self.random.below(arrays);
            carries[at] = self.branch_of(&mut s, &carries, at);
        }
        if self.chance(4) {
            let again = self.random.below(arrays);
            carries[written] = self.stencil_write(&mut s, carries[again], carries[written]);
        }
        let turn = self.random.below(arrays);
        carries.rotate_left(turn);
        self.functions.push(s.b.finish(carries));
        FuncId(self.functions.len() as u32 - 1)
    }

    /// A window of `base` written with something of shifted windows of `from`, which may be reversed.
    fn stencil_write(&mut self, s: &mut Scope, from: Value, base: Value) -> Value {
        let ty = s.b.ty(base);
        let step = if self.chance(4) { 2 } else { 1 };
        let start: Vec<usize> = ty.shape.iter().map(|_| self.random.below(2)).collect();
        let sizes: Vec<usize> =
            ty.shape.iter().zip(&start).map(|(extent, start)| (extent - 2 - start).div_ceil(step).max(1)).collect();
        let steps = vec![step; ty.rank()];
        let ends = |from: &[usize]| -> Vec<usize> {
            from.iter().zip(&sizes).map(|(from, size)| from + (size - 1) * step + 1).collect()
        };
        let mut sum: Option<Value> = None;
        for _ in 0..self.one_of(&[1, 2, 2, 3]) {
            let shifted: Vec<usize> =
                (0..ty.rank()).map(|axis| (start[axis] + self.random.below(3)).min(ty.shape[axis] - 1)).collect();
            let fits = ends(&shifted).iter().zip(&ty.shape).all(|(end, extent)| end <= extent);
            let shifted = if fits { shifted } else { start.clone() };
            let attrs =
                Attrs::none().ints("start", shifted.clone()).ints("stop", ends(&shifted)).ints("step", steps.clone());
            let window = s.b.op(&ops::SLICE, attrs, &[from]);
            let window = match self.chance(8) {
                true => s.b.op(&ops::REVERSE, Attrs::none().ints("axes", [self.random.below(ty.rank())]), &[window]),
                false => window,
            };
            sum = Some(match sum {
                None => window,
                Some(sum) if self.chance(3) => s.b.mul(sum, window),
                Some(sum) => s.b.add(sum, window),
            });
        }
        let sum = sum.expect("a stencil reads a window");
        let value = match self.random.below(4) {
            0 => sum,
            1 => apply(s, &ops::SIN, &[sum]),
            _ => s.b.mul(sum, s.b.full(&s.b.ty(sum), 0.25)),
        };
        // Products of three bounded numbers are bounded, and what may grow is bent.
        let value = apply(s, &ops::TANH, &[value]);
        let starts: Vec<Value> = start.iter().map(|start| s.b.int(*start as i64)).collect();
        let row = if self.chance(6) { &ops::ADD_AT } else { &ops::UPDATE };
        let written = s.b.op(row, Attrs::none().ints("step", steps), &[vec![base, value], starts].concat());
        if *row == ops::ADD_AT { apply(s, &ops::SIN, &[written]) } else { written }
    }

    /// One of some arrays, changed by a branch: a side passes an array on, writes a window of one, or makes another.
    fn branch_of(&mut self, s: &mut Scope, arrays: &[Value], at: usize) -> Value {
        let array = Slot { kind: Kind::Number, ty: s.b.ty(arrays[at]), most: MOST };
        let params = vec![array.clone(); arrays.len()];
        let results = self.one_of(&[1, 1, 2]);
        let place = Place { depth: s.place.depth.saturating_sub(1), ..s.place };
        let [then_body, else_body] = [(); 2].map(|()| self.side(&params, at, results, &place));
        let predicate = self.arg(s, &Slot { kind: Kind::Mask, ty: Type::scalar(DType::Bool), most: 0.0 });
        let args = [vec![predicate], arrays.to_vec()].concat();
        let values = s.b.push(Op::If(IfOp { then_body, else_body }), args, vec![array.ty.clone(); results]);
        for value in &values[1..] {
            s.pool.push(Entry { value: *value, slot: array.clone(), uses: 0 });
        }
        values[0]
    }

    fn side(&mut self, params: &[Slot], at: usize, results: usize, place: &Place) -> FuncId {
        if self.chance(4) {
            return self.function("side", params, &vec![params[0].clone(); results], place);
        }
        let b = Builder::new("side");
        let arrays = b.params(params.iter().map(|slot| slot.ty.clone()));
        let pool = arrays.iter().map(|value| Entry { value: *value, slot: params[0].clone(), uses: 0 }).collect();
        let mut s = Scope { b, pool, place: Place { depth: 0, ..*place } };
        let mut values = vec![];
        for k in 0..results {
            let from = if k == 0 { at } else { self.random.below(arrays.len()) };
            let other = arrays[self.random.below(arrays.len())];
            values.push(match self.random.below(3) {
                0 => arrays[from],
                1 => other,
                _ => self.stencil_write(&mut s, other, arrays[from]),
            });
        }
        self.functions.push(s.b.finish(values));
        FuncId(self.functions.len() as u32 - 1)
    }
}
