//! Loop coalescing: a loop in a loop as one loop, so that states can be held at any step of the inner one.
//!
//! Step `s` of `n · m` is step `k = s rem m` of the inner loop in step `i = s div m` of the outer one. What the outer
//! step does before its inner loop is done where `k` is first, what it does after it where `k` is last; the values that
//! either loop carries share slots where they never live at the same time. The adjoint is rewritten alike, with its
//! steps in the opposite order. It is the same arithmetic in the same order. A plan of the one loop has the optimum
//! over all steps; two loops have less to remember where the outer one is, and whichever is less work is taken.

use std::collections::BTreeSet;

use crate::ir::{
    Attrs, Builder, DType, ForOp, FuncId, Function, IfOp, Inst, Linearity, Op, Program, Type, UnwindOp, Value,
};
use crate::ops;
use crate::plan::analysis::counts::constant;
use crate::plan::analysis::pair::{inner_states, pairs};
use crate::plan::transform::split::extract;

/// A Program whose loops in loops are one loop each.
#[derive(Clone, Debug)]
pub(in crate::plan) struct Coalesced {
    /// The Program.
    pub(in crate::plan) program: Program,
    /// Steps of the outer and of the inner loop, for each of them.
    pub(in crate::plan) steps: Vec<[u64; 2]>,
}

/// Most loops that are taken apart.
const MOST: usize = 8;

/// The Program with its unwound loops in loops as one loop each, from the outside in; none where there are none.
pub(in crate::plan) fn coalesced(program: &Program) -> Option<Coalesced> {
    let mut found = Coalesced { program: program.clone(), steps: vec![] };
    while found.steps.len() < MOST
        && let Some((program, steps)) = next(&found.program)
    {
        found.program = program;
        found.steps.push(steps);
    }
    (!found.steps.is_empty()).then_some(found)
}

fn next(program: &Program) -> Option<(Program, [u64; 2])> {
    let insts = &program.main().insts;
    (0..insts.len()).find_map(|unwind| match &insts[unwind].op {
        Op::Unwind(op) if op.carries > 0 => coalesce(program, unwind, op),
        Op::Def(..) | Op::If(_) | Op::For(_) | Op::While(_) | Op::Unwind(_) | Op::Call(_) => None,
    })
}

/// The Program with one unwind of its entry, and the loop that it shares states with, as loops over the steps of what
/// is inside.
fn coalesce(program: &Program, unwind: usize, op: &UnwindOp) -> Option<(Program, [u64; 2])> {
    let function = program.main();
    let inst = &function.insts[unwind];
    let effects = program.effects();
    if op.bound > 0 || effects[usize::from(op.body)] || effects[usize::from(op.bwd)] {
        return None;
    }
    let mut making = Making { program: program.clone(), steps: 0 };
    let (body, bwd) = (program.function(op.body), program.function(op.bwd));
    let forward = Level::of_loop(body, op.carries)?;
    let backward = Level::of_adjoint(program, op, (body, &forward), bwd)?;
    let outer = u64::try_from(constant(function, inst.args[0])?.as_i64()[0]).ok().filter(|steps| *steps > 1)?;
    let inner = u64::try_from(forward.steps).ok().filter(|steps| *steps > 1)?;
    let count = i64::try_from(outer.checked_mul(inner)?).ok()?;
    making.steps = forward.steps;
    let flat = making.adjoint(op, &forward, &backward)?;
    // A loop that cannot be rewritten alike stays, and the unwind runs it once more.
    let pair = pairs(program, function).into_iter().find(|pair| pair.unwind_inst == unwind).and_then(|pair| {
        let Op::For(op) = &function.insts[pair.loop_inst].op else { return None };
        let alike = |level: &Level<'_>| op.bound == 0 && level.steps == forward.steps && !effects[usize::from(op.body)];
        let level = Level::of_loop(program.function(op.body), op.carries).filter(alike)?;
        let body = making.forward(&level)?;
        Some((
            pair.loop_inst,
            Flat { op: Op::For(ForOp { body, carries: level.slots.len(), ..op.clone() }), groups: vec![level.slots] },
        ))
    });
    let entry = entry(function, count, [pair, Some((unwind, flat))].into_iter().flatten().collect());
    making.program.entry = making.program.add(entry);
    Some((making.program, [outer, inner]))
}

/// An instruction of the entry over the slots of its carries, by group.
struct Flat {
    op: Op,
    groups: Vec<Vec<Slot>>,
}

/// The entry with these instructions replaced.
fn entry(function: &Function, count: i64, flat: Vec<(usize, Flat)>) -> Function {
    let b = Builder::new(function.name.clone());
    let params = b.params(function.param_types());
    let mut map = b.map(function, &params);
    let count = b.int(count);
    let mut zeros: Vec<(Type, Value)> = vec![];
    for (k, inst) in function.insts.iter().enumerate() {
        let args: Vec<Value> = inst.args.iter().map(|v| map[v.0 as usize].expect("SSA: defined before use")).collect();
        let Some((_, flat)) = flat.iter().find(|(at, _)| *at == k) else {
            let results = b.copy(function, inst, args);
            inst.results.iter().zip(results).for_each(|(old, new)| map[old.0 as usize] = Some(new));
            continue;
        };
        b.set_pos(&inst.pos);
        let mut zero = |ty: &Type| match zeros.iter().find(|(known, _)| known == ty) {
            Some((_, value)) => *value,
            None => {
                let value = b.zeros(ty);
                zeros.push((ty.clone(), value));
                value
            }
        };
        let mut fill = |slots: &[Slot], values: &[Value]| -> Vec<Value> {
            slots.iter().map(|slot| slot.outer.map_or_else(|| zero(&slot.ty), |outer| values[outer])).collect()
        };
        let (args, slots) = match (&inst.op, &flat.groups[..]) {
            (Op::Unwind(op), [states, threads]) => {
                let groups = op.args(&args);
                let outer = [groups.adjoints, groups.running].concat();
                (
                    [vec![count], fill(states, groups.carries), groups.invariants.to_vec(), fill(threads, &outer)]
                        .concat(),
                    threads,
                )
            }
            (Op::For(op), [states]) => {
                let (_, carries, invariants, _) = op.args(&args);
                ([vec![count], fill(states, carries), invariants.to_vec()].concat(), states)
            }
            (other, _) => panic!("only loops and their adjoints are taken apart: {}", other.name()),
        };
        let results = b.push(flat.op.clone(), args, slots.iter().map(|slot| slot.ty.clone()).collect());
        for (slot, result) in slots.iter().zip(results) {
            if let Some(outer) = slot.outer {
                map[inst.results[outer].0 as usize] = Some(result);
            }
        }
    }
    b.finish(function.results.iter().map(|v| map[v.0 as usize].expect("SSA: results are defined")).collect())
}

/// What one value of the loop over all steps is: a carry of the outer loop between its steps, one of the inner loop
/// within.
#[derive(Clone, Debug)]
struct Slot {
    ty: Type,
    outer: Option<usize>,
    inner: Option<usize>,
}

/// A step of an outer loop, forwards or backwards, around its inner one.
struct Level<'f> {
    function: &'f Function,
    /// The inner loop.
    inner: &'f Inst,
    /// Its steps.
    steps: i64,
    /// What the outer loop carries: before a step, and after.
    threads: &'f [Value],
    ends: &'f [Value],
    /// What the inner loop carries starts from.
    starts: Vec<Value>,
    slots: Vec<Slot>,
    /// Which state of the inner loop forwards is which of the inner adjoint.
    states: Vec<usize>,
}

impl<'f> Level<'f> {
    fn of_loop(function: &'f Function, carries: usize) -> Option<Level<'f>> {
        let mut inner = function.insts.iter().filter_map(|inst| match &inst.op {
            Op::For(op) if op.carries > 0 => Some((inst, op)),
            Op::Def(..) | Op::If(_) | Op::For(_) | Op::While(_) | Op::Unwind(_) | Op::Call(_) => None,
        });
        let (inst, op) = inner.next().filter(|(_, op)| op.bound == 0)?;
        if inner.next().is_some() {
            return None;
        }
        let (_, starts, _, _) = op.args(&inst.args);
        Level::new(function, inst, &function.params[1..=carries], &function.results[..carries], starts.to_vec())
    }

    fn of_adjoint(
        program: &Program,
        outer: &UnwindOp,
        (body, forward): (&Function, &Level<'_>),
        bwd: &'f Function,
    ) -> Option<Level<'f>> {
        let mut inner = bwd.insts.iter().filter_map(|inst| match &inst.op {
            Op::Unwind(op) if op.carries > 0 => Some((inst, op)),
            Op::Def(..) | Op::If(_) | Op::For(_) | Op::While(_) | Op::Unwind(_) | Op::Call(_) => None,
        });
        let (inst, op) = inner.next().filter(|(_, op)| op.bound == 0)?;
        if inner.next().is_some() {
            return None;
        }
        let args = op.args(&inst.args);
        let first = bwd.params.len() - outer.adjoints - outer.running;
        let starts = [args.adjoints, args.running].concat();
        let level = Level::new(bwd, inst, &bwd.params[first..], &bwd.results, starts)?;
        let states = inner_states(program, (body, forward.inner), (bwd, inst))?;
        (level.steps == forward.steps).then_some(Level { states, ..level })
    }

    fn new(
        function: &'f Function,
        inner: &'f Inst,
        threads: &'f [Value],
        ends: &'f [Value],
        starts: Vec<Value>,
    ) -> Option<Level<'f>> {
        let steps = constant(function, inner.args[0])?.as_i64()[0];
        let mut level = Level { function, inner, steps, threads, ends, starts, slots: vec![], states: vec![] };
        level.slots = level.share();
        Some(level)
    }

    /// A carry of the outer loop that is read after the inner one has a slot of its own; others share theirs with one
    /// of the inner loop.
    fn share(&self) -> Vec<Slot> {
        let read: BTreeSet<Value> = self.ends.iter().flat_map(|end| self.leaves(*end)).collect();
        let ty = |v: Value| self.function.ty(v);
        let (mut slots, mut left): (Vec<Slot>, BTreeSet<usize>) = (vec![], (0..self.starts.len()).collect());
        let shared = |outer: usize| !read.contains(&self.threads[outer]);
        let same = |outer: usize, inner: usize| {
            ty(self.threads[outer]) == ty(self.starts[inner])
                && (self.starts[inner] == self.threads[outer] || self.inner.results[inner] == self.ends[outer])
        };
        let natural: Vec<Option<usize>> = (0..self.threads.len())
            .map(|outer| {
                left.iter()
                    .copied()
                    .find(|inner| shared(outer) && same(outer, *inner))
                    .inspect(|inner| _ = left.remove(inner))
            })
            .collect();
        for (outer, natural) in natural.into_iter().enumerate() {
            let ty = ty(self.threads[outer]);
            let any =
                || left.iter().copied().find(|inner| shared(outer) && self.function.ty(self.starts[*inner]) == ty);
            let inner = natural.or_else(any);
            left.retain(|other| Some(*other) != inner);
            slots.push(Slot { ty: ty.clone(), outer: Some(outer), inner });
        }
        slots.extend(left.into_iter().map(|inner| Slot {
            ty: ty(self.starts[inner]).clone(),
            outer: None,
            inner: Some(inner),
        }));
        slots
    }

    /// Parameters and results of the inner loop that a value follows from, in order.
    fn leaves(&self, value: Value) -> Vec<Value> {
        let mut wanted = BTreeSet::from([value]);
        for inst in self.function.insts.iter().rev() {
            if !std::ptr::eq(inst, self.inner) && inst.results.iter().any(|v| wanted.contains(v)) {
                wanted.extend(&inst.args);
            }
        }
        self.function.params.iter().chain(&self.inner.results).copied().filter(|v| wanted.contains(v)).collect()
    }

    /// The slot of a carry of the inner loop.
    fn within(&self, inner: usize) -> usize {
        self.slots.iter().position(|slot| slot.inner == Some(inner)).expect("every carry has a slot")
    }

    /// The slot of a carry of the outer loop.
    fn around(&self, outer: usize) -> usize {
        self.slots.iter().position(|slot| slot.outer == Some(outer)).expect("every carry has a slot")
    }
}

/// Where a step of the one loop is in the two.
struct Place {
    outer: Value,
    inner: Value,
    /// Whether it is the first step of the inner loop, and whether it is the last.
    ends: [Value; 2],
}

/// What values of an outer step are in the one loop, as far as they exist at some moment.
type Known<'a> = &'a dyn Fn(Value) -> Option<Value>;

struct Making {
    program: Program,
    steps: i64,
}

impl Making {
    fn place(&self, b: &Builder, index: Value) -> Place {
        let steps = b.int(self.steps);
        let row = |row, other| b.op(row, Attrs::none(), &[index, other]);
        let (outer, inner) = (row(&ops::DIV, steps), row(&ops::REM, steps));
        let at = |k: i64| b.op(&ops::EQ, Attrs::none(), &[inner, b.int(k)]);
        Place { outer, inner, ends: [at(0), at(self.steps - 1)] }
    }

    /// One step forwards: `(s, slots, invariants) -> slots`.
    fn forward(&mut self, level: &Level<'_>) -> Option<FuncId> {
        let b = Builder::new(format!("{}_steps", level.function.name));
        let index = b.param(Type::scalar(DType::I64));
        let slots = b.params(level.slots.iter().map(|slot| slot.ty.clone()));
        let rest = &level.function.params[1 + level.threads.len()..];
        let invariants = b.params(rest.iter().map(|v| level.function.ty(*v).clone()));
        let place = self.place(&b, index);
        let known = |value: Value| {
            let outer = || level.threads.iter().position(|v| *v == value).map(|outer| slots[level.around(outer)]);
            let invariant = || rest.iter().position(|v| *v == value).map(|k| invariants[k]);
            if value == level.function.params[0] { Some(place.outer) } else { outer().or_else(invariant) }
        };
        let carried = self.enter(&b, place.ends[0], level, &known, &slots)?;
        let Op::For(op) = &level.inner.op else { panic!("the inner loop of a loop is one") };
        let (_, _, inner_invariants, _) = op.args(&level.inner.args);
        let fixed = self.fixed(&b, level, inner_invariants, &known)?;
        let stepped = b.inline(self.program.function(op.body), &[vec![place.inner], carried, fixed].concat());
        let results = self.leave(&b, place.ends[1], level, &known, (&slots, &stepped))?;
        Some(self.program.add(b.finish(results)))
    }

    /// The unwind over all steps.
    fn adjoint(&mut self, outer: &UnwindOp, forward: &Level<'_>, level: &Level<'_>) -> Option<Flat> {
        let body = self.forward(forward)?;
        let bwd = self.backward(forward, level)?;
        let Op::Unwind(inner) = &level.inner.op else { panic!("the inner loop of an adjoint is one") };
        let linearity = if inner.linearity == Linearity::Linear { outer.linearity } else { inner.linearity };
        let (carries, adjoints) = (forward.slots.len(), level.slots.len());
        let op = UnwindOp { body, bwd, carries, adjoints, running: 0, linearity, ..outer.clone() };
        Some(Flat { op: Op::Unwind(op), groups: vec![forward.slots.clone(), level.slots.clone()] })
    }

    /// One step backwards: `(s, states, invariants, slots) -> slots`.
    fn backward(&mut self, forward: &Level<'_>, level: &Level<'_>) -> Option<FuncId> {
        let b = Builder::new(format!("{}_steps", level.function.name));
        let index = b.param(Type::scalar(DType::I64));
        let states = b.params(forward.slots.iter().map(|slot| slot.ty.clone()));
        let carries = &level.function.params[1..=forward.threads.len()];
        let rest = &level.function.params[1 + carries.len()..level.function.params.len() - level.threads.len()];
        let invariants = b.params(rest.iter().map(|v| level.function.ty(*v).clone()));
        let slots = b.params(level.slots.iter().map(|slot| slot.ty.clone()));
        let place = self.place(&b, index);
        // A carry of the outer loop is there where the inner one begins, and everywhere if it has a slot of its own.
        let state = |value: Value, anywhere: bool| {
            let slot = carries.iter().position(|v| *v == value).map(|outer| forward.around(outer))?;
            (!anywhere || forward.slots[slot].inner.is_none()).then(|| states[slot])
        };
        let others = |value: Value| {
            let outer = || level.threads.iter().position(|v| *v == value).map(|outer| slots[level.around(outer)]);
            let invariant = || rest.iter().position(|v| *v == value).map(|k| invariants[k]);
            if value == level.function.params[0] { Some(place.outer) } else { outer().or_else(invariant) }
        };
        let first = |value: Value| state(value, false).or_else(|| others(value));
        let always = |value: Value| state(value, true).or_else(|| others(value));
        let Op::Unwind(op) = &level.inner.op else { panic!("the inner loop of an adjoint is one") };
        let args = op.args(&level.inner.args);
        let in_slot = |inner: usize| states[forward.within(level.states[inner])];
        let carried = args.carries.iter().enumerate();
        let carried = carried.map(|(k, start)| self.when(&b, place.ends[0], level, &first, *start, in_slot(k)));
        let carried = carried.collect::<Option<Vec<Value>>>()?;
        let fixed = self.fixed(&b, level, args.invariants, &always)?;
        let threads = self.enter(&b, place.ends[1], level, &always, &slots)?;
        let stepped = b.inline(self.program.function(op.bwd), &[vec![place.inner], carried, fixed, threads].concat());
        let results = self.leave(&b, place.ends[0], level, &first, (&slots, &stepped))?;
        Some(self.program.add(b.finish(results)))
    }

    /// What the inner loop carries into a step: where it begins, what the outer step starts it from.
    fn enter(
        &mut self,
        b: &Builder,
        begins: Value,
        level: &Level<'_>,
        known: Known<'_>,
        slots: &[Value],
    ) -> Option<Vec<Value>> {
        let start =
            |(inner, start): (usize, &Value)| self.when(b, begins, level, known, *start, slots[level.within(inner)]);
        level.starts.iter().enumerate().map(start).collect()
    }

    /// What is in the slots after a step: where the inner loop ends, what the outer step makes of it.
    fn leave(
        &mut self,
        b: &Builder,
        ends: Value,
        level: &Level<'_>,
        known: Known<'_>,
        (slots, stepped): (&[Value], &[Value]),
    ) -> Option<Vec<Value>> {
        let known = |value: Value| {
            level.inner.results.iter().position(|v| *v == value).map_or_else(|| known(value), |k| Some(stepped[k]))
        };
        let after = |(slot, before): (&Slot, &Value)| {
            let otherwise = slot.inner.map_or(*before, |inner| stepped[inner]);
            match slot.outer {
                None => Some(otherwise),
                Some(outer) => self.when(b, ends, level, &known, level.ends[outer], otherwise),
            }
        };
        level.slots.iter().zip(slots).map(after).collect()
    }

    /// Values that an inner loop reads at every step: what follows from the index and from what never changes.
    fn fixed(&self, b: &Builder, level: &Level<'_>, values: &[Value], known: Known<'_>) -> Option<Vec<Value>> {
        let threads = |v: &Value| level.threads.contains(v);
        let one = |value: &Value| {
            let leaves = level.leaves(*value);
            let args = leaves.iter().map(|v| known(*v).filter(|_| !threads(v))).collect::<Option<Vec<Value>>>()?;
            Some(b.inline(&extract(level.function, String::new(), &leaves, &[*value], |_| false), &args)[0])
        };
        values.iter().map(one).collect()
    }

    /// A value of the outer step where a predicate holds, and another one otherwise; none where it follows from what
    /// does not exist.
    fn when(
        &mut self,
        b: &Builder,
        predicate: Value,
        level: &Level<'_>,
        known: Known<'_>,
        value: Value,
        otherwise: Value,
    ) -> Option<Value> {
        if known(value) == Some(otherwise) {
            return Some(otherwise);
        }
        let leaves = level.leaves(value);
        let mut args = leaves.iter().map(|v| known(*v)).collect::<Option<Vec<Value>>>()?;
        let taken = extract(level.function, format!("{}_part", level.function.name), &leaves, &[value], |_| false);
        let passed = args.iter().position(|arg| *arg == otherwise).unwrap_or(args.len());
        if passed == args.len() {
            args.push(otherwise);
        }
        let types = b.types(&args);
        let branch = |results: &dyn Fn(&Builder, &[Value]) -> Value| {
            let b = Builder::new(taken.name.clone());
            let params = b.params(types.clone());
            let result = results(&b, &params);
            b.finish(vec![result])
        };
        let then_body = self.program.add(branch(&|b, params| b.inline(&taken, &params[..leaves.len()])[0]));
        let else_body = self.program.add(branch(&|_, params| params[passed]));
        b.set_pos(&level.inner.pos);
        let ty = b.ty(otherwise);
        Some(b.push(Op::If(IfOp { then_body, else_body }), [vec![predicate], args].concat(), vec![ty])[0])
    }
}
