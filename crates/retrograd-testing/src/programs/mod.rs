//! Random Programs: well typed, with nested loops, branches, writes in place, streams and adjoints of loops; numbers
//! stay tame.
//!
//! Every number is bounded by construction (`most` of a `Slot`), and every index is in range, so that runs neither overflow
//! nor fault.

mod arrays;
mod checked;
mod control;
mod shrink;
mod stencils;
mod table;
mod themes;

use retrograd_compiler::ir::{Array, Attrs, Builder, DType, FuncId, Function, OpDef, Program, Type, Value};
use retrograd_compiler::ops;

use crate::Random;
pub use checked::checked;
pub use shrink::shrink;
pub use table::drawn;
use themes::Theme;

/// A Program at a point.
#[derive(Clone, Debug)]
pub struct Case {
    /// What it was made from.
    pub seed: u64,
    /// Whether it is one of the few large ones.
    pub size: Size,
    /// The Program.
    pub program: Program,
    /// Its inputs.
    pub inputs: Vec<Array>,
}

impl Case {
    /// The Program of that seed.
    ///
    /// ```
    /// use retrograd_compiler::{eval, ir};
    /// let case = retrograd_testing::programs::Case::random(7);
    /// assert!(ir::verify(&case.program).is_ok());
    /// assert!(eval::run(&case.program, &case.inputs).is_ok());
    /// ```
    pub fn random(seed: u64) -> Case {
        let mut draft = Draft::new(seed);
        let mut params: Vec<Slot> = draft.slots(1, 4).into_iter().map(|slot| slot.bounded(1.0)).collect();
        params.push(Slot { kind: Kind::Number, ty: draft.ty(), most: 1.0 });
        for _ in 0..draft.random.below(3) {
            let most = 2 + draft.random.below(draft.bounds.steps);
            params.push(Slot { kind: Kind::Index, ty: Type::scalar(DType::I64), most: most as f64 });
        }
        params.extend((0..draft.random.below(2)).map(|_| Slot { kind: Kind::Cotangent, ty: draft.ty(), most: 1.0 }));
        let results = [draft.slots(1, 3), vec![Slot { kind: Kind::Number, ty: draft.ty(), most: MOST }]].concat();
        let place =
            Place { depth: draft.bounds.depth + draft.theme.depth() + draft.one_of(&[0, 0, 0, 1, 1, 1, 2]), runs: 1 };
        let entry = draft.function("main", &params, &results, &place);
        let inputs = params.iter().map(|slot| draft.input(slot)).collect();
        Case { seed, size: draft.size, program: Program { functions: draft.functions, entry }, inputs }
    }
}

/// How large a random Program is. Mistakes of rules and walkers show with few elements and steps; vectors, blocked sums
/// and schedules need more.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Size {
    /// Extents to 4, few steps, few instructions.
    Small,
    /// One Program in [`LARGE`]: extents to 74, loops of 7 steps, more instructions and deeper nests.
    Large,
}

/// One Program in so many is large.
pub const LARGE: usize = 64;

/// What the size of a Program bounds.
#[derive(Clone, Copy, Debug)]
struct Bounds {
    /// Instructions of a function, beyond one.
    insts: usize,
    /// Control flow that may nest.
    depth: usize,
    /// Steps of one loop.
    steps: usize,
    /// A function runs at most about this often.
    runs: usize,
}

/// How far a Program can go: a custom rule for one mode only is in some Programs only, so that the others show the
/// rest.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Reach {
    /// Everything, with custom rules for both modes.
    Everything,
    /// Everything, with custom rules for reverse mode.
    Reverse,
}

/// No number of a random Program is larger.
const MOST: f64 = 4.0;

/// No array of a random Program has more elements.
const ELEMENTS: usize = 400;

/// What a value may be used for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    /// Floats.
    Number,
    /// An i64 scalar that is at least 0 and below [`Slot::most`].
    Index,
    /// i64 of any size.
    Integer,
    /// Truth values.
    Mask,
    /// Floats that only meet each other by linear ops, as in the adjoint of a loop.
    Cotangent,
}

/// A parameter or result to be: what it is, its type and its bound.
#[derive(Clone, Debug)]
struct Slot {
    kind: Kind,
    ty: Type,
    /// Bound of the absolute value of a number; excluded bound of an index.
    most: f64,
}

impl Slot {
    /// The same slot, with another bound where it is a number.
    fn bounded(self, most: f64) -> Slot {
        match self.kind {
            Kind::Number | Kind::Cotangent => Slot { most, ..self },
            Kind::Index | Kind::Integer | Kind::Mask => self,
        }
    }
}

/// A value with what is known about it.
#[derive(Clone, Debug)]
struct Entry {
    value: Value,
    slot: Slot,
    /// How often it was chosen; those that were not are chosen first, so that little is dead.
    uses: usize,
}

/// Where a function stands: loops that may still nest in it, and how often it runs at most.
#[derive(Clone, Copy, Debug)]
struct Place {
    depth: usize,
    runs: usize,
}

/// A function under construction.
struct Scope {
    b: Builder,
    pool: Vec<Entry>,
    place: Place,
}

/// A Program under construction.
struct Draft {
    random: Random,
    functions: Vec<Function>,
    size: Size,
    theme: Theme,
    bounds: Bounds,
    reach: Reach,
    /// The element type of numbers that come from integers, masks and the op table.
    float: DType,
    /// Shapes that values of this Program prefer, so that they meet.
    shapes: Vec<Vec<usize>>,
}

impl Draft {
    fn new(seed: u64) -> Draft {
        let mut random = Random::new(seed);
        let size = if random.below(LARGE) == 0 { Size::Large } else { Size::Small };
        let reach = if random.below(5) == 0 { Reach::Reverse } else { Reach::Everything };
        let theme = Theme::draw(&mut random);
        let floats = theme.floats();
        let float = floats[random.below(floats.len())];
        let (bounds, mut shapes) = match size {
            Size::Small => (Bounds { insts: 4, depth: 1, steps: 3, runs: 12 }, small_shapes(&mut random)),
            Size::Large => (Bounds { insts: 7, depth: 2, steps: 7, runs: 60 }, large_shapes(&mut random)),
        };
        shapes.extend(theme.shapes(&mut random));
        Draft { random, functions: vec![], size, theme, bounds, reach, float, shapes }
    }

    fn dtype(&self, kind: Kind) -> DType {
        match kind {
            Kind::Number | Kind::Cotangent => self.float,
            Kind::Index | Kind::Integer => DType::I64,
            Kind::Mask => DType::Bool,
        }
    }

    /// One of a few, by weight of their order.
    fn one_of<T: Copy>(&mut self, list: &[T]) -> T {
        list[self.random.below(list.len())]
    }

    fn chance(&mut self, one_in: usize) -> bool {
        self.random.below(one_in) == 0
    }

    /// A type of floats.
    fn ty(&mut self) -> Type {
        let k = self.random.below(self.shapes.len());
        Type::new(self.one_of(self.theme.floats()), self.shapes[k].clone())
    }

    fn slot(&mut self) -> Slot {
        let ty = self.ty();
        match self.random.below(12) {
            0 => Slot { kind: Kind::Index, ty: Type::scalar(DType::I64), most: (1 + self.random.below(5)) as f64 },
            1 => Slot { kind: Kind::Integer, ty: Type::new(DType::I64, ty.shape), most: 0.0 },
            2 => Slot { kind: Kind::Mask, ty: Type::new(DType::Bool, ty.shape), most: 0.0 },
            _ => Slot { kind: Kind::Number, ty, most: MOST },
        }
    }

    fn slots(&mut self, least: usize, most: usize) -> Vec<Slot> {
        (0..least + self.random.below(most + 1 - least)).map(|_| self.slot()).collect()
    }

    fn cotangents(&mut self, most: usize) -> Vec<Slot> {
        (0..self.random.below(most + 1)).map(|_| Slot { kind: Kind::Cotangent, ty: self.ty(), most: MOST }).collect()
    }

    fn input(&mut self, slot: &Slot) -> Array {
        match slot.kind {
            Kind::Number | Kind::Cotangent => self.theme.numbers(&mut self.random, &slot.ty),
            Kind::Index => self.random.array(&slot.ty, (0.0, slot.most)),
            Kind::Integer => self.random.array(&slot.ty, (-5.0, 6.0)),
            Kind::Mask => self.random.array(&slot.ty, (0.0, 2.0)),
        }
    }

    /// A function of these parameters and results, and the functions that it runs.
    fn function(&mut self, name: &str, params: &[Slot], results: &[Slot], place: &Place) -> FuncId {
        let b = Builder::new(name);
        let pool =
            params.iter().map(|slot| Entry { value: b.param(slot.ty.clone()), slot: slot.clone(), uses: 0 }).collect();
        let mut scope = Scope { b, pool, place: *place };
        for _ in 0..=self.random.below(self.bounds.insts) {
            self.inst(&mut scope);
        }
        let results = results.iter().map(|slot| self.result(&mut scope, slot)).collect();
        self.functions.push(scope.b.finish(results));
        FuncId(self.functions.len() as u32 - 1)
    }

    fn inst(&mut self, s: &mut Scope) {
        let draw = self.theme.draw_inst(&mut self.random, s.place.depth);
        draw(self, s);
    }

    /// A value for a parameter or result.
    fn arg(&mut self, s: &mut Scope, slot: &Slot) -> Value {
        self.want(s, slot).value
    }

    /// A value that fits, late ones more often than early ones; or a new one.
    fn want(&mut self, s: &mut Scope, slot: &Slot) -> Entry {
        let fits = |entry: &&Entry| {
            let within = slot.kind != Kind::Index || entry.slot.most <= slot.most;
            entry.slot.kind == slot.kind && entry.slot.ty == slot.ty && within
        };
        let fitting: Vec<usize> = (0..s.pool.len()).filter(|k| fits(&&s.pool[*k])).collect();
        // Zeros made here and there would have to be known as zeros to the verifier wherever they flow.
        if fitting.is_empty() || (slot.kind != Kind::Cotangent && self.chance(16)) {
            return self.make(s, slot);
        }
        let fresh: Vec<usize> = fitting.iter().copied().filter(|k| s.pool[*k].uses == 0).collect();
        let k = if fresh.is_empty() || self.chance(3) { self.late(&fitting) } else { self.late(&fresh) };
        s.pool[k].uses += 1;
        s.pool[k].clone()
    }

    /// One of a list, late ones more often than early ones.
    fn late(&mut self, list: &[usize]) -> usize {
        list[self.random.below(list.len()).max(self.random.below(list.len()))]
    }

    /// A result: mostly made of what nothing has read yet; sometimes a parameter, a literal or whatever fits.
    fn result(&mut self, s: &mut Scope, slot: &Slot) -> Value {
        let sums = matches!(slot.kind, Kind::Number | Kind::Cotangent);
        if !sums || self.chance(5) {
            return self.arg(s, slot);
        }
        let mut total = self.want(s, slot);
        for _ in 0..3 {
            let unread = (0..s.pool.len()).rev().find(|k| s.pool[*k].slot.kind == slot.kind && s.pool[*k].uses == 0);
            let Some(k) = unread else { break };
            s.pool[k].uses += 1;
            let x = self.fitted(s, &s.pool[k].clone(), &slot.ty);
            let product = slot.kind == Kind::Number && self.chance(3);
            let (value, most) = match product {
                true => (s.b.mul(total.value, x.value), total.slot.most * x.slot.most),
                false => (s.b.add(total.value, x.value), total.slot.most + x.slot.most),
            };
            let (value, most) =
                if slot.kind == Kind::Number && most > MOST { self.tamed(s, value, most) } else { (value, most) };
            total = Entry { value, slot: Slot { most, ..slot.clone() }, uses: 1 };
        }
        total.value
    }

    /// Floats brought to another type, by conversion, sums and repetition.
    fn fitted(&mut self, s: &Scope, x: &Entry, ty: &Type) -> Entry {
        if x.slot.ty.dtype != ty.dtype {
            let slot = Slot { ty: Type::new(ty.dtype, x.slot.ty.shape.clone()), ..x.slot.clone() };
            return self.fitted(s, &Entry { value: s.b.convert(x.value, ty.dtype), slot, uses: 0 }, ty);
        }
        let from = x.slot.ty.clone();
        let entry = |value: Value, most: f64| Entry {
            value,
            slot: Slot { ty: s.b.ty(value), most, ..x.slot.clone() },
            uses: 0,
        };
        if from == *ty {
            return x.clone();
        }
        if let Some(axes) = embedding(&from.shape, &ty.shape) {
            return entry(s.b.broadcast(x.value, &ty.shape, &axes), x.slot.most);
        }
        if from.elements() == ty.elements() {
            return entry(
                s.b.op(&ops::RESHAPE, Attrs::none().ints("shape", ty.shape.clone()), &[x.value]),
                x.slot.most,
            );
        }
        let kept = embedding(&ty.shape, &from.shape).unwrap_or_default();
        let summed: Vec<usize> = (0..from.rank()).filter(|axis| !kept.contains(axis)).collect();
        let count = summed.iter().map(|axis| from.shape[*axis]).product::<usize>().max(1) as f64;
        let sum = s.b.op(&ops::SUM, Attrs::none().ints("axes", summed), &[x.value]);
        let mean = s.b.mul(s.b.full(&s.b.ty(sum), 1.0 / count), sum);
        self.fitted(s, &entry(mean, x.slot.most), ty)
    }

    /// Any value of a kind; a number where there is no cotangent.
    fn some(&mut self, s: &mut Scope, kind: Kind) -> Entry {
        let known = kind != Kind::Cotangent || s.pool.iter().any(|entry| entry.slot.kind == kind);
        let kind = if known { kind } else { Kind::Number };
        let fitting: Vec<usize> = (0..s.pool.len()).filter(|k| s.pool[*k].slot.kind == kind).collect();
        let fresh: Vec<usize> = fitting.iter().copied().filter(|k| s.pool[*k].uses == 0).collect();
        let list = if fresh.is_empty() || self.chance(3) { fitting } else { fresh };
        let ty = match list.is_empty() {
            true => Type::new(self.dtype(kind), if kind == Kind::Index { vec![] } else { self.ty().shape }),
            false => s.pool[self.late(&list)].slot.ty.clone(),
        };
        self.want(s, &Slot { kind, ty, most: if kind == Kind::Index { 100.0 } else { MOST } })
    }

    /// A value that depends on little: a literal, indices, or a scalar repeated.
    fn make(&mut self, s: &Scope, slot: &Slot) -> Entry {
        let ty = &slot.ty;
        let (value, most) = match slot.kind {
            Kind::Index => {
                let k = self.random.below(slot.most as usize);
                (s.b.int(k as i64), k as f64 + 1.0)
            }
            Kind::Integer => {
                let scalar = s.b.int(self.random.below(7) as i64 - 3);
                (s.b.broadcast(scalar, &ty.shape, &[]), 0.0)
            }
            Kind::Mask => (self.make_mask(s, ty), 0.0),
            Kind::Cotangent => (s.b.zeros(ty), 0.0),
            Kind::Number => self.make_number(s, ty),
        };
        Entry { value, slot: Slot { kind: slot.kind, ty: ty.clone(), most }, uses: 0 }
    }

    /// Mostly where some number is small.
    fn make_mask(&mut self, s: &Scope, ty: &Type) -> Value {
        if self.chance(6) {
            let scalar = s.b.constant(Array::bool(self.random.below(2) == 0));
            return s.b.broadcast(scalar, &ty.shape, &[]);
        }
        let floats = Type::new(self.float, ty.shape.clone());
        let (x, _) = self.make_number(s, &floats);
        let limit = s.b.full(&floats, self.random.float(-0.5, 0.5));
        apply(s, self.one_of(&[&ops::LT, &ops::GE]), &[x, limit])
    }

    fn make_number(&mut self, s: &Scope, ty: &Type) -> (Value, f64) {
        let numbers: Vec<usize> = (0..s.pool.len()).filter(|k| s.pool[*k].slot.kind == Kind::Number).collect();
        if !numbers.is_empty() && !self.chance(4) {
            let x = s.pool[self.late(&numbers)].clone();
            let fitted = self.fitted(s, &x, ty);
            return (fitted.value, fitted.slot.most);
        }
        match self.random.below(4) {
            0 => (s.b.constant(self.random.array(ty, (-1.0, 1.0))), 1.0),
            1 if ty.rank() > 0 => {
                let axis = self.random.below(ty.rank());
                let iota = s.b.op(
                    &ops::IOTA,
                    Attrs::none().with("type", retrograd_compiler::ir::Attr::Type(ty.clone())).ints("axis", [axis]),
                    &[],
                );
                (s.b.mul(iota, s.b.full(ty, 1.0 / ty.shape[axis].max(1) as f64)), 1.0)
            }
            _ => (s.b.full(ty, self.one_of(&[0.0, 1.0, 0.5, -1.0, 1.5, -0.0])), 1.5),
        }
    }

    /// Adds a value to the pool, scaled or bent where it could be too large.
    fn push(&mut self, s: &mut Scope, kind: Kind, value: Value, most: f64) {
        let ty = s.b.ty(value);
        if ty.elements() > ELEMENTS {
            return;
        }
        let (value, most) =
            if kind == Kind::Number && most > MOST { self.tamed(s, value, most) } else { (value, most) };
        s.pool.push(Entry { value, slot: Slot { kind, ty, most }, uses: 0 });
    }

    fn tamed(&mut self, s: &Scope, value: Value, most: f64) -> (Value, f64) {
        match self.random.below(3) {
            0 => (apply(s, &ops::TANH, &[value]), 1.0),
            1 => (apply(s, &ops::SIN, &[value]), 1.0),
            _ => (s.b.mul(value, s.b.full(&s.b.ty(value), MOST / most)), MOST),
        }
    }
}

fn small_shapes(random: &mut Random) -> Vec<Vec<usize>> {
    let (long, short) = (1 + random.below(4), 1 + random.below(3));
    vec![vec![], vec![], vec![], vec![long], vec![long], vec![short], vec![short, long], vec![long, short]]
}

fn large_shapes(random: &mut Random) -> Vec<Vec<usize>> {
    let long = match random.below(8) {
        0 => 65 + random.below(10),
        1 => 8,
        2 => 16,
        _ => 1 + random.below(20),
    };
    let (short, few) = (1 + random.below(5), 1 + random.below(3));
    let mut shapes =
        vec![vec![], vec![], vec![], vec![long], vec![long], vec![short], vec![short, long], vec![long, short]];
    shapes.push(if long < 21 { vec![few, long, short] } else { vec![few, short, few] });
    shapes
}

/// Ascending axes of `wide` whose extents are `shape`, the first that fit.
fn embedding(shape: &[usize], wide: &[usize]) -> Option<Vec<usize>> {
    let mut axes = vec![];
    for extent in shape {
        let from = axes.last().map_or(0, |axis| axis + 1);
        axes.push((from..wide.len()).find(|axis| wide[*axis] == *extent)?);
    }
    Some(axes)
}

/// An op without attributes.
fn apply(s: &Scope, def: &'static OpDef, args: &[Value]) -> Value {
    s.b.op(def, Attrs::none(), args)
}
