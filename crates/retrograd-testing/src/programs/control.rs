//! Random branches, loops, calls and adjoints of loops.

use retrograd_compiler::diff::check::floats;
use retrograd_compiler::ir::{
    Builder, CallOp, CustomRule, DType, ForOp, FuncId, IfOp, Linearity, Op, Program, Type, UnwindOp, Value, WhileOp,
};
use retrograd_compiler::opt::dead_code;
use retrograd_compiler::{diff, ops};

use super::{Draft, ELEMENTS, Kind, Place, Reach, Scope, Slot};

/// Results of the condition or body of a `while` over its count and the parameters of the function inside.
type OrderedWrite<'a> = dyn Fn(&Draft, &Builder, Value, &[Value]) -> Vec<Value> + 'a;

/// How often a loop runs: the value, and the most it can be.
struct Count {
    value: Value,
    most: usize,
}

/// What a loop takes: carries, invariants and rows of streams.
struct Taken {
    carries: Vec<Slot>,
    invariants: Vec<Slot>,
    rows: Vec<Slot>,
}

impl Draft {
    pub(super) fn branch(&mut self, s: &mut Scope) {
        let (params, results) = (self.slots(1, 4), self.slots(1, 3));
        let place = Place { depth: s.place.depth - 1, ..s.place };
        let then_body = self.function("then", &params, &results, &place);
        let else_body = if self.chance(6) { then_body } else { self.function("else", &params, &results, &place) };
        let mut args = vec![self.arg(s, &Slot { kind: Kind::Mask, ty: Type::scalar(DType::Bool), most: 0.0 })];
        args.extend(params.iter().map(|slot| self.arg(s, slot)));
        let values =
            s.b.push(Op::If(IfOp { then_body, else_body }), args, results.iter().map(|slot| slot.ty.clone()).collect());
        self.take(s, values, &results);
    }

    /// Results of control flow join the pool.
    fn take(&mut self, s: &mut Scope, values: Vec<Value>, slots: &[Slot]) {
        for (value, slot) in values.into_iter().zip(slots) {
            self.push(s, slot.kind, value, slot.most);
        }
    }

    fn count(&mut self, s: &mut Scope) -> Count {
        let most = if s.place.runs * 5 > self.bounds.runs { 2 } else { self.bounds.steps };
        let index = s
            .pool
            .iter()
            .rev()
            .find(|entry| entry.slot.kind == Kind::Index && entry.slot.most <= most as f64 + 1.0)
            .cloned();
        match index {
            Some(index) if self.chance(2) => Count { value: index.value, most: index.slot.most as usize - 1 },
            Some(_) | None => {
                let n = self.one_of(&[0, 1, 2, 2, 3, 3, 4, 5, 6, 7]).min(most);
                Count { value: s.b.int(n as i64), most: n }
            }
        }
    }

    /// Slots for the rows of streams of a length.
    fn rows(&mut self, bound: usize, most: usize) -> Vec<Slot> {
        let slots = self.slots(0, most);
        let fits =
            |slot: &Slot| slot.kind != Kind::Index && slot.ty.elements() * bound <= ELEMENTS && slot.ty.rank() < 4;
        slots.into_iter().filter(fits).collect()
    }

    fn taken(&mut self, bound: usize) -> Taken {
        Taken { carries: self.slots(0, 3), invariants: self.slots(0, 2), rows: self.rows(bound, 2) }
    }

    fn loop_args(&mut self, s: &mut Scope, count: Value, taken: &Taken, bound: usize) -> Vec<Value> {
        let slots = [taken.carries.clone(), taken.invariants.clone(), streams(&taken.rows, bound)].concat();
        std::iter::once(count).chain(slots.iter().map(|slot| self.arg(s, slot)).collect::<Vec<_>>()).collect()
    }

    pub(super) fn counted(&mut self, s: &mut Scope) {
        let count = self.count(s);
        let bound = count.most.max(1) + self.random.below(2);
        let taken = self.taken(bound);
        let emitted = self.rows(bound, 2);
        let place = inside(s, &count);
        let body =
            self.function("step", &taken.params(&count), &[taken.carries.clone(), emitted.clone()].concat(), &place);
        let args = self.loop_args(s, count.value, &taken, bound);
        let op = ForOp { body, carries: taken.carries.len(), invariants: taken.invariants.len(), bound };
        let results = [taken.carries.clone(), streams(&emitted, bound)].concat();
        let values = s.b.push(Op::For(op), args.clone(), results.iter().map(|slot| slot.ty.clone()).collect());
        self.take(s, values, &results);
        if emitted.is_empty() && self.reach != Reach::Reverse && self.chance(8) {
            self.unwind_over(s, body, &count, &taken, bound, args);
        }
    }

    /// A loop that ends at the latest when its first carry, which counts, has reached its first invariant.
    pub(super) fn conditional(&mut self, s: &mut Scope) {
        let count = self.count(s);
        let (carries, invariants) = (self.slots(0, 3), self.slots(0, 2));
        let place = inside(s, &count);
        let index = Slot { kind: Kind::Index, ty: Type::scalar(DType::I64), most: count.most.max(1) as f64 };
        let params = [vec![index.clone()], carries.clone(), invariants.clone()].concat();
        let inner = self.function("turn", &params, &carries, &place);
        let mask = Slot { kind: Kind::Mask, ty: Type::scalar(DType::Bool), most: 0.0 };
        // The condition is asked once more than the body runs.
        let asked =
            [vec![Slot { most: count.most as f64 + 1.0, ..index.clone() }], carries.clone(), invariants.clone()]
                .concat();
        let more = if self.chance(2) { Some(self.function("more", &asked, &[mask], &place)) } else { None };

        // Parameters (counter, carries, count, invariants); the functions inside do not see the count.
        let bounded = |draft: &Draft, name: &str, build: &OrderedWrite| {
            let b = Builder::new(name);
            let before = b.params(params[..=carries.len()].iter().map(|slot| slot.ty.clone()));
            let last = b.param(index.ty.clone());
            let after = b.params(invariants.iter().map(|slot| slot.ty.clone()));
            let results = build(draft, &b, last, &[before, after].concat());
            b.finish(results)
        };
        let cond = bounded(self, "cond", &|draft, b, last, params| {
            let below = b.op(&ops::LT, Default::default(), &[params[0], last]);
            let more = more.map(|more| b.inline(&draft.functions[usize::from(more)], params)[0]);
            vec![more.map_or(below, |more| b.op(&ops::AND, Default::default(), &[below, more]))]
        });
        let body = bounded(self, "turned", &|draft, b, _, params| {
            let next = b.inline(&draft.functions[usize::from(inner)], params);
            [vec![b.add(params[0], b.int(1))], next].concat()
        });
        self.functions.extend([cond, body]);
        let ids = self.functions.len() as u32;
        let op = WhileOp { cond: FuncId(ids - 2), body: FuncId(ids - 1), carries: 1 + carries.len() };
        let mut args = vec![s.b.int(0)];
        args.extend(carries.iter().map(|slot| self.arg(s, slot)).collect::<Vec<_>>());
        args.push(count.value);
        args.extend(invariants.iter().map(|slot| self.arg(s, slot)).collect::<Vec<_>>());
        let trips = Slot { most: count.most as f64 + 1.0, ..index };
        let results = [vec![trips.clone()], carries, vec![trips]].concat();
        let values = s.b.push(Op::While(op), args, results.iter().map(|slot| slot.ty.clone()).collect());
        self.take(s, values, &results);
    }

    pub(super) fn call(&mut self, s: &mut Scope) {
        let (params, results) = (self.slots(0, 4), self.slots(1, 3));
        let place = Place { depth: s.place.depth - 1, ..s.place };
        let body = self.function("called", &params, &results, &place);
        let args = params.iter().map(|slot| self.arg(s, slot)).collect();
        let types = results.iter().map(|slot| slot.ty.clone()).collect();
        let rule = if self.chance(3) { None } else { self.stated(body) };
        let values = s.b.push(Op::Call(CallOp { body, rule }), args, types);
        self.take(s, values, &results);
    }

    /// The derivative of a function as a custom rule: stated by the caller, and right. None where nothing is a float.
    fn stated(&mut self, body: FuncId) -> Option<CustomRule> {
        let program = Program { functions: self.functions.clone(), entry: body };
        let (wrt, outputs) = (floats(&program.main().param_types()), floats(&program.main().result_types()));
        if wrt.is_empty() || outputs.is_empty() {
            return None;
        }
        let derived = match self.reach {
            Reach::Everything => diff::jvp(&program, &wrt, &outputs),
            Reach::Reverse => diff::vjp(&program, &wrt, &outputs),
        };
        let mut derived =
            derived.unwrap_or_else(|error| panic!("random Programs have derivatives: {error}\n{program}"));
        let entry = usize::from(derived.entry);
        derived.functions[entry].results.drain(..program.main().results.len());
        dead_code(&mut derived);
        let derivative = self.adopt(&derived);
        Some(match self.reach {
            Reach::Everything => CustomRule::Jvp { tangent: derivative },
            // The arguments are the residuals.
            Reach::Reverse => {
                let b = Builder::new("forward");
                let args = b.params(program.main().param_types());
                let results = [b.inline(program.main(), &args), args].concat();
                self.functions.push(b.finish(results));
                CustomRule::Vjp { forward: FuncId(self.functions.len() as u32 - 1), backward: derivative }
            }
        })
    }

    /// The functions of another Program become functions of this one; returns its entry.
    fn adopt(&mut self, other: &Program) -> FuncId {
        let first = self.functions.len() as u32;
        for function in &other.functions {
            let mut function = function.clone();
            function.insts.iter_mut().for_each(|inst| inst.op.map_bodies(|id| FuncId(first + id.0)));
            self.functions.push(function);
        }
        FuncId(first + other.entry.0)
    }

    /// Reverse mode cannot differentiate what a custom vjp is part of again, so where there are some, there is no
    /// adjoint to begin with.
    pub(super) fn unwind(&mut self, s: &mut Scope) {
        if self.reach == Reach::Reverse {
            return self.counted(s);
        }
        let count = self.count(s);
        let bound = count.most.max(1);
        let taken = self.taken(bound);
        let place = inside(s, &count);
        let body = self.function("walk", &taken.params(&count), &taken.carries, &place);
        let args = self.loop_args(s, count.value, &taken, bound);
        self.unwind_over(s, body, &count, &taken, bound, args);
    }

    /// The adjoint of a loop, of which `args` are the arguments.
    fn unwind_over(
        &mut self,
        s: &mut Scope,
        body: FuncId,
        count: &Count,
        taken: &Taken,
        bound: usize,
        mut args: Vec<Value>,
    ) {
        let fits = |slot: &Slot| slot.ty.elements() * bound <= ELEMENTS && slot.ty.rank() < 4;
        let [adjoints, running] = [self.cotangents(2), self.cotangents(1)];
        let [emitted, rows] = [1, 1].map(|most| self.cotangents(most).into_iter().filter(fits).collect::<Vec<_>>());
        let params = [taken.params(count), adjoints.clone(), emitted.clone(), running.clone()].concat();
        let place = inside(s, count);
        let bwd = self.function("back", &params, &[adjoints.clone(), running.clone(), rows.clone()].concat(), &place);
        let given = [adjoints.clone(), streams(&emitted, bound), running.clone()].concat();
        args.extend(given.iter().map(|slot| self.arg(s, slot)).collect::<Vec<_>>());
        let op = UnwindOp {
            body,
            bwd,
            carries: taken.carries.len(),
            invariants: taken.invariants.len(),
            streams: taken.rows.len(),
            adjoints: adjoints.len(),
            emitted: emitted.len(),
            running: running.len(),
            bound,
            linearity: Linearity::Linear,
        };
        let results = [adjoints, running, streams(&rows, bound)].concat();
        let values = s.b.push(Op::Unwind(op), args, results.iter().map(|slot| slot.ty.clone()).collect());
        self.take(s, values, &results);
    }
}

impl Taken {
    /// Parameters of the body, the index first.
    fn params(&self, count: &Count) -> Vec<Slot> {
        let index = Slot { kind: Kind::Index, ty: Type::scalar(DType::I64), most: count.most.max(1) as f64 };
        [vec![index], self.carries.clone(), self.invariants.clone(), self.rows.clone()].concat()
    }
}

fn inside(s: &Scope, count: &Count) -> Place {
    Place { depth: s.place.depth - 1, runs: s.place.runs * count.most.max(1) }
}

fn streams(rows: &[Slot], bound: usize) -> Vec<Slot> {
    rows.iter().map(|slot| Slot { ty: slot.ty.stream(bound), ..slot.clone() }).collect()
}
