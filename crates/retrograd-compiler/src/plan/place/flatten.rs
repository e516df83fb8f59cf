//! Copies every body into place and gives each unwind its schedule.

use std::collections::BTreeMap;

use super::group::{self, Raw};
use super::tree::{
    Access, Block, Branch, Call, Drive, Emitted, Fault, Home, Loop, Node, Order, Placed, PointerId, Probe, RowItem, RowPlace, RowRead,
    RowTime, RowWrite, Step, StoreId, Trajectory, TrajectoryId, Val, While,
};
use super::view::{Start, compose, window};
use crate::ir::{
    Array, Attrs, Builder, Composed, DType, Data, ErrorKind, ForOp, FuncId, Function, IfOp, Inst, Lowering, Op, Pos, Program, Routine, Row,
    Scalar, Type, UnwindOp, Value, View, WhileOp, Write,
};
use crate::ops;
use crate::plan::pair::{Pair, pairs};
use crate::plan::schedule::{Schedule, Sweep, Uses};
use crate::plan::split::{Split, split};
use crate::plan::{Again, Decision, LoopDecision, Way};

/// The tree of a Program, without memory.
pub(super) fn flatten(program: &Program, decision: &Decision) -> Placed {
    let main = program.main();
    let (placed, constants, effects) = (Placed::default(), BTreeMap::new(), program.effects());
    let mut flatten = Flatten { program, decision, placed, constants, effects, steps: vec![] };
    let mut scope = Scope::default();
    let inputs: Vec<Val> = main.params.iter().map(|v| flatten.placed.define(main.ty(*v).clone())).collect();
    let args: Vec<Val> = inputs.iter().enumerate().map(|(k, input)| flatten.input(k, *input, &mut scope)).collect();
    let (results, values) = flatten.function_again(main, &decision.again, &args, &mut scope);
    let outputs: Vec<Val> = results.iter().map(|v| flatten.in_memory(*v, &mut scope)).collect();
    let body = flatten.block(scope, &outputs);
    let mut placed = flatten.placed;
    (placed.inputs, placed.outputs, placed.body, placed.main) = (inputs, outputs, body, values);
    placed
}

pub(super) struct Flatten<'p> {
    program: &'p Program,
    decision: &'p Decision,
    pub(super) placed: Placed,
    /// Literals of rank 0, by value.
    constants: BTreeMap<Val, Array>,
    /// Which functions have an effect.
    effects: Vec<bool>,
    /// Indices of the loops around what is placed now, the outermost first.
    steps: Vec<Val>,
}

/// Code of one block under construction, with what it has computed already.
#[derive(Default)]
pub(super) struct Scope {
    pub(super) raws: Vec<Raw>,
    /// What was computed, by op, attributes and arguments: a step that records computes once what body and bwd share.
    known: BTreeMap<(String, Vec<Val>), Val>,
    /// Numbers of raw code before which all that comes before is done.
    fences: Vec<usize>,
}

impl Scope {
    /// From here on nothing runs earlier.
    fn fence(&mut self) {
        self.fences.push(self.raws.len());
    }

    /// Computes something again, though it is known.
    fn again<T>(&mut self, compute: impl FnOnce(&mut Scope) -> T) -> T {
        let known = std::mem::take(&mut self.known);
        let result = compute(self);
        let newer = std::mem::replace(&mut self.known, known);
        self.known.extend(newer);
        result
    }
}

/// Values of a function that is placed, and the loops of it that are first sweeps.
struct Placing<'f> {
    function: &'f Function,
    pairs: Vec<Pair>,
    trajectories: BTreeMap<usize, TrajectoryId>,
    map: Vec<Option<Val>>,
}

impl Placing<'_> {
    fn at(&self, value: &Value) -> Val {
        self.map[value.0 as usize].expect("SSA: defined before use")
    }
}

impl Placed {
    /// A new value.
    pub(super) fn define(&mut self, ty: Type) -> Val {
        let value = Val(self.types.len() as u32);
        self.homes.push(if ty.rank() == 0 { Home::Register } else { Home::None });
        self.access.push(Access::whole(value, &ty));
        self.types.push(ty);
        value
    }

    /// A new fault site.
    pub(super) fn fault(&mut self, kind: ErrorKind, pos: &Pos, message: String) -> u32 {
        self.faults.push(Fault { kind, pos: pos.clone(), message });
        self.faults.len() as u32 - 1
    }

    /// A new address.
    pub(super) fn pointer(&mut self) -> PointerId {
        self.pointers += 1;
        PointerId(self.pointers - 1)
    }
}

impl<'p> Flatten<'p> {
    /// An input: arrays stay with the caller, scalars are loaded once.
    fn input(&mut self, number: usize, input: Val, scope: &mut Scope) -> Val {
        let ty = self.placed.ty(input).clone();
        if ty.rank() > 0 {
            self.placed.homes[input.0 as usize] = Home::Input(number as u32);
            return input;
        }
        self.placed.homes[input.0 as usize] = Home::Input(number as u32);
        let result = self.placed.define(ty.clone());
        scope.raws.push(Raw::Node(Node::Load { result, from: Access::whole(input, &ty) }));
        result
    }

    /// Finishes a block whose `ends` are used after it.
    fn block(&mut self, scope: Scope, ends: &[Val]) -> Block {
        group::group(&mut self.placed, scope.raws, &scope.fences, ends, &[])
    }

    /// Values of a function over placed arguments, its code added to the scope.
    fn function(&mut self, function: &Function, args: &[Val], scope: &mut Scope) -> Vec<Val> {
        self.function_again(function, &Again::default(), args, scope).0
    }

    /// The same where some instructions run again; also all values, by number.
    fn function_again(&mut self, function: &Function, again: &Again, args: &[Val], scope: &mut Scope) -> (Vec<Val>, Vec<Option<Val>>) {
        let (pairs, map) = (pairs(self.program, function), vec![None; function.types.len()]);
        let mut placing = Placing { function, pairs, trajectories: BTreeMap::new(), map };
        for (param, arg) in function.params.iter().zip(args) {
            placing.map[param.0 as usize] = Some(*arg);
        }
        for inst in 0..function.insts.len() {
            if let Some(insts) = again.before.get(&inst) {
                scope.fence();
                insts.iter().for_each(|inst| scope.again(|scope| self.inst(*inst, &mut placing, scope)));
            }
            self.inst(inst, &mut placing, scope);
        }
        (function.results.iter().map(|v| placing.at(v)).collect(), placing.map)
    }

    /// One instruction of a function, by its number.
    fn inst(&mut self, k: usize, placing: &mut Placing<'_>, scope: &mut Scope) {
        let (function, inst) = (placing.function, &placing.function.insts[k]);
        let args: Vec<Val> = inst.args.iter().map(|v| placing.at(v)).collect();
        let pair = placing.pairs.iter().find(|pair| pair.loop_inst == k);
        let results = match &inst.op {
            Op::Row(..) => vec![self.row(function, inst, args, scope)],
            Op::If(op) => self.branch(op, &args, scope),
            Op::For(op) => match pair {
                None => self.plain_loop(inst, op, &args, scope),
                Some(pair) => {
                    let unwind = &function.insts[pair.unwind_inst];
                    // Arguments of the unwind that the sweep needs are also arguments of the loop, or defined before it.
                    let known: Vec<Option<Val>> = unwind.args.iter().map(|v| placing.map[v.0 as usize]).collect();
                    let (id, results) = self.sweep(inst, op, &args, unwind, &known, pair, scope);
                    placing.trajectories.extend(id.map(|id| (pair.unwind_inst, id)));
                    results
                }
            },
            Op::While(op) => {
                let (id, results) = self.while_loop(function, op, &args, pair, scope);
                placing.trajectories.extend(id.zip(pair).map(|(id, pair)| (pair.unwind_inst, id)));
                results
            }
            Op::Call(_) => panic!("`plan` has put the bodies of calls in their place"),
            Op::Unwind(op) => self.unwind(inst, op, &args, placing.trajectories.get(&k).copied(), scope),
        };
        for (value, result) in inst.results.iter().zip(results) {
            placing.map[value.0 as usize] = Some(result);
        }
    }

    /// One row of the table: rank-0 identities vanish, equal work is done once.
    fn row(&mut self, function: &Function, inst: &Inst, args: Vec<Val>, scope: &mut Scope) -> Val {
        let Op::Row(row, attrs) = &inst.op else { panic!("rows only") };
        let ty = function.ty(inst.results[0]);
        if row.lowering == Lowering::Constant && ty.rank() > 0 {
            // Not worth looking for again: a literal array can be large, and its memory is the code's.
            return self.push(row, attrs.clone(), args, ty.clone(), &inst.pos, scope);
        }
        if row.lowering == Lowering::Probe {
            return self.probe(attrs, args[0], &inst.pos, scope);
        }
        let key = (format!("{} {attrs:?}", row.name), args.clone());
        if let Some(known) = scope.known.get(&key) {
            return *known;
        }
        let result = match row.lowering {
            Lowering::View(_) | Lowering::Reduce(_) if ty.rank() == 0 && self.placed.is_scalar(args[0]) => args[0],
            Lowering::Reduce(_) if attrs.sizes("axes").is_empty() => args[0],
            Lowering::Write(Write::Set) if ty.rank() == 0 => args[1],
            Lowering::Write(Write::Add) if ty.rank() == 0 => {
                self.push(&ops::ADD, Attrs::none(), args[..2].to_vec(), ty.clone(), &inst.pos, scope)
            }
            Lowering::Write(how) => self.write(how, attrs, &args, &inst.pos, scope),
            Lowering::View(view) => self.view(view, attrs, &args, ty, &inst.pos, scope),
            Lowering::Pick(indexing) => self.pick(row, indexing, attrs, &args, ty, &inst.pos, scope),
            Lowering::Scatter(indexing, how) => self.scatter(indexing, how, attrs, &args, &inst.pos, scope),
            Lowering::Map(_) | Lowering::Convert | Lowering::Iota | Lowering::Constant => {
                self.push(row, attrs.clone(), args, ty.clone(), &inst.pos, scope)
            }
            Lowering::Reduce(_) | Lowering::Dot | Lowering::Line(_) => self.push(row, attrs.clone(), args, ty.clone(), &inst.pos, scope),
            Lowering::Composed(of) => self.composed(of, attrs, &args, &inst.pos, scope),
            Lowering::Routine(routine) => self.call(routine, attrs, &args, ty, scope),
            Lowering::Factored(routine) => {
                let factors = self.factors(args[0], scope);
                self.call(routine, attrs, &[&[factors], &args[1..]].concat(), ty, scope)
            }
            Lowering::Probe | Lowering::Missing => {
                panic!("probes are placed above, and plan refuses rows without machine code: {}", row.name)
            }
        };
        scope.known.insert(key, result);
        result
    }

    /// A probe sees a value in memory, or in a register, with the steps of the loops around it.
    fn probe(&mut self, attrs: &Attrs, operand: Val, pos: &Pos, scope: &mut Scope) -> Val {
        let operand = self.in_memory(operand, scope);
        let ty = self.placed.ty(operand).clone();
        self.placed.probes.push(Probe { name: attrs.text("name").to_owned(), pos: pos.clone(), ty });
        let site = self.placed.probes.len() as u32 - 1;
        scope.raws.push(Raw::Node(Node::Probe { site, operand, steps: self.steps.clone() }));
        let shown = Attrs::none().with("value", crate::ir::Attr::Array(Array::bool(true)));
        self.push(&ops::CONSTANT, shown, vec![], Type::scalar(DType::Bool), pos, scope)
    }

    /// The rows that a row is composed of.
    fn composed(&mut self, of: Composed, attrs: &Attrs, args: &[Val], pos: &Pos, scope: &mut Scope) -> Val {
        let body = Builder::new("composed");
        body.set_pos(pos);
        let params = body.params(args.iter().map(|arg| self.placed.ty(*arg).clone()));
        let result = ops::composed(of, &body, attrs, &params);
        self.function(&body.finish(vec![result]), args, scope)[0]
    }

    /// A routine stands alone, with its arguments and its result in memory.
    fn call(&mut self, routine: Routine, attrs: &Attrs, args: &[Val], ty: &Type, scope: &mut Scope) -> Val {
        let args: Vec<Val> = args.iter().map(|arg| self.in_one_run(*arg, scope)).collect();
        let scratch = self.defines(&(routine.scratch)(&self.types(&args), attrs));
        let shape = if ty.rank() == 0 { vec![1] } else { ty.shape.clone() };
        let result = self.placed.define(Type::new(ty.dtype, shape));
        scope.raws.push(Raw::Node(Node::Call(Box::new(Call { routine, attrs: attrs.clone(), args, result, scratch }))));
        if ty.rank() > 0 {
            return result;
        }
        let number = self.placed.define(ty.clone());
        scope.raws.push(Raw::Node(Node::Load { result: number, from: Access::whole(result, ty) }));
        number
    }

    /// The factors of matrices, computed once in a block for all that read them.
    fn factors(&mut self, matrices: Val, scope: &mut Scope) -> Val {
        let key = ("factors".to_owned(), vec![matrices]);
        if let Some(known) = scope.known.get(&key) {
            return *known;
        }
        let ty = ops::factors_type(self.placed.ty(matrices));
        let result = self.call(ops::FACTORS, &Attrs::none(), &[matrices], &ty, scope);
        scope.known.insert(key, result);
        result
    }

    pub(super) fn push(&mut self, row: &'static Row, attrs: Attrs, args: Vec<Val>, ty: Type, pos: &Pos, scope: &mut Scope) -> Val {
        let result = self.placed.define(ty);
        let divides = matches!(row.lowering, Lowering::Map(Scalar::Div | Scalar::Rem));
        if divides && self.placed.ty(result).dtype.is_integer() {
            let site = self.placed.fault(ErrorKind::DivisionByZero, pos, format!("in `{}`", row.name));
            self.placed.divisions.insert(result, site);
        }
        if row.lowering == Lowering::Constant {
            self.constant(result, attrs.array("value"));
        }
        if row.lowering != Lowering::Constant || self.placed.is_scalar(result) {
            scope.raws.push(Raw::Row(RowItem { row, attrs, args, result, pos: pos.clone() }));
        }
        result
    }

    /// A view: another access of the same memory. A rank-0 view is read at once, so that its memory may change afterwards; of a scalar
    /// that is repeated it is that scalar.
    fn view(&mut self, view: View, attrs: &Attrs, args: &[Val], ty: &Type, pos: &Pos, scope: &mut Scope) -> Val {
        let result = self.placed.define(ty.clone());
        let mut operand = args[0];
        let starts = match view {
            View::DynamicSlice => self.starts(operand, &args[1..], &ty.shape, attrs, pos, scope),
            View::Broadcast | View::Reshape | View::Transpose | View::Reverse | View::Slice => vec![],
        };
        let composed = |placed: &Placed, operand: Val| compose(view, attrs, placed.access(operand), placed.ty(operand), ty, &starts);
        let access = composed(&self.placed, operand).unwrap_or_else(|| {
            operand = self.in_memory(operand, scope);
            composed(&self.placed, operand).expect("every view of a contiguous array is affine")
        });
        self.seen(result, access, scope)
    }

    /// A value that is reached by an access of other memory.
    pub(super) fn seen(&mut self, result: Val, access: Access, scope: &mut Scope) -> Val {
        if !self.placed.is_scalar(result) {
            self.placed.access[result.0 as usize] = access;
        } else if self.placed.is_scalar(access.root) {
            return access.root;
        } else {
            scope.raws.push(Raw::Node(Node::Load { result, from: access }));
        }
        result
    }

    fn write(&mut self, how: Write, attrs: &Attrs, args: &[Val], pos: &Pos, scope: &mut Scope) -> Val {
        let base = self.in_memory(args[0], scope);
        let starts = self.starts(base, &args[2..], &self.placed.ty(args[1]).shape.clone(), attrs, pos, scope);
        let ty = self.placed.ty(base).clone();
        let value = self.placed.define(ty.clone());
        let mut access = Access::whole(value, &ty);
        window(&mut access, &attrs.sizes("step"), &starts);
        scope.raws.push(Raw::Write { value, base, source: args[1], window: access, index: None, how });
        value
    }

    /// Starts of a window: numbers where they are known and fit, clamped registers otherwise.
    fn starts(&mut self, base: Val, starts: &[Val], sizes: &[usize], attrs: &Attrs, pos: &Pos, scope: &mut Scope) -> Vec<Start> {
        let steps = attrs.sizes("step");
        let extents = self.placed.ty(base).shape.clone();
        let mut result = vec![];
        for (axis, start) in starts.iter().enumerate() {
            let last = ops::clamp_start(i64::MAX, extents[axis], sizes[axis], steps[axis]);
            match self.constants.get(start).map(|known| known.as_i64()[0]) {
                Some(known) if (0..=last).contains(&known) => result.push(Start::Fixed(known)),
                Some(_) | None => result.push(Start::Register(self.clamp(*start, last, extents[axis], pos, scope))),
            }
        }
        result
    }

    pub(super) fn clamp(&mut self, index: Val, last: i64, extent: usize, pos: &Pos, scope: &mut Scope) -> Val {
        let key = (format!("clamp {last}"), vec![index]);
        if let Some(known) = scope.known.get(&key) {
            return *known;
        }
        let result = self.placed.define(Type::scalar(DType::I64));
        let site = self.placed.fault(ErrorKind::Bounds, pos, format!("an index is outside 0..={last} on an axis of {extent} elements"));
        scope.raws.push(Raw::Node(Node::Clamp { result, index, last, site }));
        scope.known.insert(key, result);
        result
    }

    fn constant(&mut self, result: Val, value: &Array) {
        if self.placed.is_scalar(result) {
            self.constants.insert(result, value.clone());
        } else {
            self.placed.homes[result.0 as usize] = Home::Literal(self.placed.literals.len() as u32);
            self.placed.literals.push(value.clone());
        }
    }

    /// A value that can be copied as a block of memory: views are computed into memory of their own.
    pub(super) fn in_memory(&mut self, value: Val, scope: &mut Scope) -> Val {
        if self.placed.is_scalar(value) || self.placed.access(value).root == value {
            return value;
        }
        let result = self.placed.define(self.placed.ty(value).clone());
        scope.raws.push(Raw::Copy { result, source: value });
        result
    }

    /// A value whose elements lie in memory in row-major order without gaps, maybe inside a larger array.
    fn in_one_run(&mut self, value: Val, scope: &mut Scope) -> Val {
        let access = self.placed.access(value);
        let in_one_run = !self.placed.is_scalar(access.root) && access.is_contiguous(&self.placed.ty(value).shape);
        if in_one_run { value } else { self.in_memory(value, scope) }
    }

    fn all_in_memory(&mut self, values: &[Val], scope: &mut Scope) -> Vec<Val> {
        values.iter().map(|v| self.in_memory(*v, scope)).collect()
    }

    fn defines(&mut self, types: &[Type]) -> Vec<Val> {
        types.iter().map(|ty| self.placed.define(ty.clone())).collect()
    }

    fn branch(&mut self, op: &IfOp, args: &[Val], scope: &mut Scope) -> Vec<Val> {
        let [(then_block, then_ends), (else_block, else_ends)] = [op.then_body, op.else_body].map(|body| {
            let mut inner = Scope::default();
            let function = self.program.function(body);
            let ends = self.function(function, &args[1..], &mut inner);
            let ends = self.all_in_memory(&ends, &mut inner);
            (self.block(inner, &ends), ends)
        });
        let types = self.program.function(op.then_body).result_types();
        let results = self.defines(&types);
        let branch =
            Branch { predicate: args[0], blocks: [then_block, else_block], ends: [then_ends, else_ends], results: results.clone() };
        scope.raws.push(Raw::Node(Node::If(Box::new(branch))));
        results
    }

    /// The count as a register that is not negative, and within the bound of the streams.
    fn count(&mut self, count: Val, bound: usize, has_streams: bool, pos: &Pos, scope: &mut Scope) -> Val {
        if let Some(known) = self.constants.get(&count)
            && (0..=if has_streams { bound as i64 } else { i64::MAX }).contains(&known.as_i64()[0])
        {
            return count;
        }
        let result = self.placed.define(Type::scalar(DType::I64));
        let zero = self.push(
            &ops::CONSTANT,
            Attrs::none().with("value", crate::ir::Attr::Array(Array::int(0))),
            vec![],
            Type::scalar(DType::I64),
            pos,
            scope,
        );
        let below = self.push(&ops::LT, Attrs::none(), vec![count, zero], Type::scalar(DType::Bool), pos, scope);
        let positive = self.push(&ops::SELECT, Attrs::none(), vec![below, zero, count], Type::scalar(DType::I64), pos, scope);
        if !has_streams {
            return positive;
        }
        let site = self.placed.fault(ErrorKind::Bounds, pos, format!("a loop of more steps than its streams have rows ({bound})"));
        scope.raws.push(Raw::Node(Node::Clamp { result, index: positive, last: bound as i64, site }));
        result
    }

    fn emitted(&mut self, count: Val, bound: usize, types: &[Type]) -> Vec<Emitted> {
        let full = self.constants.get(&count).is_some_and(|n| n.as_i64()[0] == bound as i64);
        self.defines(types).into_iter().map(|value| Emitted { value, clear: !full }).collect()
    }

    /// A step over fresh parameters. `code` gets the scope, the index, the carries and the rows, and returns new carries and emitted rows.
    fn step(
        &mut self,
        carry_types: &[Type],
        rows: Vec<(RowPlace, Type)>,
        code: impl FnOnce(&mut Self, &mut Scope, Val, &[Val], &[Val]) -> (Vec<Val>, Vec<(RowPlace, Val)>),
    ) -> Step {
        let mut scope = Scope::default();
        let index = self.placed.define(Type::scalar(DType::I64));
        let params = self.defines(carry_types);
        let rows: Vec<RowRead> =
            rows.into_iter().map(|(from, ty)| RowRead { value: self.placed.define(ty), from, pointer: None }).collect();
        let row_values: Vec<Val> = rows.iter().map(|row| row.value).collect();
        self.steps.push(index);
        let (next, emits) = code(self, &mut scope, index, &params, &row_values);
        self.steps.pop();
        let next = self.all_in_memory(&next, &mut scope);
        let mut writes = vec![];
        for (to, value) in emits {
            let value = self.in_memory(value, &mut scope);
            writes.push(RowWrite { value, to, pointer: self.placed.pointer(), when: RowTime::After });
        }
        let ends: Vec<Val> = next.iter().copied().chain(writes.iter().map(|write| write.value)).collect();
        let carries: Vec<(Val, Val)> = params.into_iter().zip(next).collect();
        let block = group::group(&mut self.placed, scope.raws, &scope.fences, &ends, &carries);
        Step { index, carries, ends: vec![], rows, emits: writes, block }
    }

    /// How many steps a loop has, where known before the run.
    fn steps_of(&self, count: Val) -> Option<u64> {
        self.constants.get(&count).map(|n| n.as_i64()[0].max(0) as u64)
    }

    fn row_types(&self, streams: &[Val]) -> Vec<(RowPlace, Type)> {
        streams
            .iter()
            .map(|x| (RowPlace::Stream(*x), self.placed.ty(*x).row().expect("verified types: streams have a leading axis")))
            .collect()
    }

    fn types(&self, values: &[Val]) -> Vec<Type> {
        values.iter().map(|v| self.placed.ty(*v).clone()).collect()
    }

    fn stream_types(&self, body: FuncId, carries: usize, bound: usize) -> Vec<Type> {
        self.program.function(body).result_types()[carries..].iter().map(|ty| ty.stream(bound)).collect()
    }

    /// A loop that is run as it stands.
    fn plain_loop(&mut self, inst: &Inst, op: &ForOp, args: &[Val], scope: &mut Scope) -> Vec<Val> {
        let (n, c0, inv, xs) = op.args(args);
        let streams = self.stream_types(op.body, op.carries, op.bound);
        let count = self.count(n, op.bound, !(xs.is_empty() && streams.is_empty()), &inst.pos, scope);
        let emitted = self.emitted(count, op.bound, &streams);
        let inits = self.all_in_memory(c0, scope);
        let xs = self.all_in_memory(xs, scope);
        let carry_types = self.types(&inits);
        let rows = self.row_types(&xs);
        let step = self.step(&carry_types, rows, |this, scope, i, c, x| this.body(op.body, i, c, inv, x, &emitted, scope));
        let results = self.defines(&carry_types);
        let all: Vec<Val> = results.iter().copied().chain(emitted.iter().map(|e| e.value)).collect();
        scope.raws.push(Raw::Node(Node::For(Box::new(Loop {
            count,
            steps: self.steps_of(count),
            frame: None,
            order: Order::Up,
            inits,
            results,
            emitted,
            carried: vec![],
            step,
        }))));
        all
    }

    /// A loop that runs as long as its condition holds; it may be the first sweep of its unwind's schedule.
    fn while_loop(
        &mut self,
        function: &Function,
        op: &WhileOp,
        args: &[Val],
        pair: Option<&Pair>,
        scope: &mut Scope,
    ) -> (Option<TrajectoryId>, Vec<Val>) {
        let (c0, inv) = op.args(args);
        let inits = self.all_in_memory(c0, scope);
        let carry_types = self.types(&inits);
        let step = self.step(&carry_types, vec![], |this, scope, _, c, _| {
            (this.function(this.program.function(op.body), &[c, inv].concat(), scope), vec![])
        });
        let carries: Vec<Val> = step.carries.iter().map(|(before, _)| *before).collect();
        let mut inner = Scope::default();
        let holds = self.function(self.program.function(op.cond), &[&carries, inv].concat(), &mut inner)[0];
        let cond = self.block(inner, &[holds]);
        let (results, trips) = (self.defines(&carry_types), self.placed.define(Type::scalar(DType::I64)));
        let all = results.iter().copied().chain([trips]).collect();
        let held = pair.and_then(|pair| {
            let Op::Unwind(unwind) = &function.insts[pair.unwind_inst].op else { panic!("pairs name an unwind") };
            let decided = self.decided(unwind).way(Sweep::Online)?;
            let state = pair.states.iter().map(|k| carry_types[*k].clone()).collect();
            Some((self.trajectory(unwind.bwd, trips, state, decided, &[]), pair.states.clone()))
        });
        let id = held.as_ref().map(|(id, _)| *id);
        scope.raws.push(Raw::Node(Node::While(Box::new(While { inits, results, trips, carried: vec![], cond, holds, step, held }))));
        (id, all)
    }

    /// The body of a loop: new carries, and emitted rows with their streams.
    #[allow(clippy::too_many_arguments, reason = "these are the parts of a step, by group")]
    fn body(
        &mut self,
        body: FuncId,
        i: Val,
        c: &[Val],
        inv: &[Val],
        x: &[Val],
        emitted: &[Emitted],
        scope: &mut Scope,
    ) -> (Vec<Val>, Vec<(RowPlace, Val)>) {
        let args = [&[i], c, inv, x].concat();
        let mut results = self.function(self.program.function(body), &args, scope);
        let rows = results.split_off(c.len());
        (results, emitted.iter().map(|e| RowPlace::Stream(e.value)).zip(rows).collect())
    }

    fn decided(&self, op: &UnwindOp) -> &'p LoopDecision {
        self.decision.loops.get(&op.bwd).expect("a decision covers every unwind")
    }

    /// What the records of each choice are made by and reversed by.
    fn splits(&self, op: &UnwindOp, decided: &Way) -> Vec<Split> {
        decided.cuts.iter().map(|cut| split(self.program.function(op.bwd), op, cut, &self.effects)).collect()
    }

    fn trajectory(&mut self, bwd: FuncId, count: Val, state: Vec<Type>, decided: &Way, splits: &[Split]) -> TrajectoryId {
        // A count known at compile time bounds what a schedule can use; one that is not leaves the schedule as it is.
        let known = self.steps_of(count);
        let (table, spill_bytes) = (decided.schedule.table(), decided.schedule.spill_bytes());
        let table = (!table.is_empty()).then(|| {
            self.placed.literals.push(Array::new([table.len()], Data::I64(table)));
            self.placed.literals.len() as u32 - 1
        });
        self.placed.trajectories.push(Trajectory {
            bwd,
            count,
            steps: known,
            schedule: decided.schedule.clone(),
            sweep: decided.sweep,
            state,
            records: splits.iter().map(|split| split.kept.clone()).collect(),
            pool_bytes: decided.schedule.pool_bytes(decided.sweep, known),
            words: StoreId(u32::MAX),
            table,
            pool: StoreId(u32::MAX),
            spill_at: (spill_bytes > 0).then_some(self.placed.spill_bytes),
        });
        self.placed.spill_bytes += spill_bytes;
        TrajectoryId(self.placed.trajectories.len() as u32 - 1)
    }

    /// A loop that is the first sweep of its unwind's schedule.
    #[allow(clippy::too_many_arguments, reason = "a loop and its unwind, each with instruction, op and arguments")]
    fn sweep(
        &mut self,
        inst: &Inst,
        op: &ForOp,
        args: &[Val],
        unwind: &Inst,
        known: &[Option<Val>],
        pair: &Pair,
        scope: &mut Scope,
    ) -> (Option<TrajectoryId>, Vec<Val>) {
        let Op::Unwind(unwind_op) = &unwind.op else { panic!("pairs name an unwind") };
        let Some(decided) = self.decided(unwind_op).way(Sweep::Paired) else {
            return (None, self.plain_loop(inst, op, args, scope));
        };
        let splits = self.splits(unwind_op, decided);
        let [uses, _] = decided.schedule.uses();
        // Only what recording needs must exist before the loop.
        let recording: Vec<&Split> = splits.iter().zip(&uses.tape).filter(|(_, used)| **used).map(|(split, _)| split).collect();
        let read = |k: usize| recording.iter().any(|split| split.reads(k));
        let parameters = unwind_op.carries + unwind_op.invariants + unwind_op.streams;
        let forward = (1..=parameters).map(|k| if k <= unwind_op.carries || read(k) { known[k] } else { Some(args[0]) });
        let forward: Vec<Val> = forward.map(|value| value.expect("facts say what a sweep can record")).collect();
        let (starts, rest) = forward.split_at(unwind_op.carries);
        let state_types = self.types(starts);
        let (inv2, xs2) = rest.split_at(unwind_op.invariants);
        let (n, c0, inv, xs) = op.args(args);
        let streams = self.stream_types(op.body, op.carries, op.bound);
        // The unwind takes its count from here, so that the rows of its streams bound it too.
        let rows = unwind_op.streams + unwind_op.emitted + unwind.results.len() - unwind_op.adjoints - unwind_op.running;
        let count = match (xs.is_empty() && streams.is_empty(), rows == 0) {
            (true, true) => self.count(n, 0, false, &inst.pos, scope),
            (false, true) => self.count(n, op.bound, true, &inst.pos, scope),
            (true, false) => self.count(n, unwind_op.bound, true, &unwind.pos, scope),
            (false, false) => self.count(n, op.bound.min(unwind_op.bound), true, &inst.pos, scope),
        };
        let emitted = self.emitted(count, op.bound, &streams);
        let inits = self.all_in_memory(c0, scope);
        let (xs, xs2) = (self.all_in_memory(xs, scope), self.all_in_memory(xs2, scope));
        let recorded: Vec<bool> = (1 + parameters - xs2.len()..=parameters).map(read).collect();
        let id = self.trajectory(unwind_op.bwd, count, state_types, decided, &splits);
        let carry_types = self.types(&inits);
        let advance = uses.advance.then(|| {
            let rows = self.row_types(&xs);
            self.step(&carry_types, rows, |this, scope, i, c, x| this.body(op.body, i, c, inv, x, &emitted, scope))
        });
        let read: Vec<Val> = xs2.iter().zip(&recorded).filter(|(_, read)| **read).map(|(stream, _)| *stream).collect();
        let tape = |(split, used): (&Split, &bool)| {
            let rows = self.row_types(&[xs.clone(), read.clone()].concat());
            let step = |this: &mut Self, scope: &mut Scope, i: Val, c: &[Val], x: &[Val]| {
                let (x, x2) = x.split_at(xs.len());
                let (next, mut rows) = this.body(op.body, i, c, inv, x, &emitted, scope);
                let states: Vec<Val> = pair.states.iter().map(|k| c[*k]).collect();
                let mut x2 = x2.iter();
                // A stream that both read is one row; one that recording does not read is any value.
                let row = |(stream, read): (&Val, &bool)| match read {
                    false => i,
                    true => {
                        let row = *x2.next().expect("a row per stream that is read");
                        xs.iter().position(|other| other == stream).map_or(row, |k| x[k])
                    }
                };
                let x2: Vec<Val> = xs2.iter().zip(&recorded).map(row).collect();
                let kept = this.function(&split.cone, &[&[i], &states[..], inv2, &x2].concat(), scope);
                rows.extend(kept.into_iter().enumerate().map(|(k, value)| (RowPlace::Tape(k), value)));
                (next, rows)
            };
            used.then(|| self.step(&carry_types, rows, step))
        };
        let tape = splits.iter().zip(&uses.tape).map(tape).collect();
        let results = self.defines(&carry_types);
        let all: Vec<Val> = results.iter().copied().chain(emitted.iter().map(|e| e.value)).collect();
        let drive = Drive {
            trajectory: id,
            count,
            starts: vec![],
            inits,
            results,
            carried: vec![],
            emitted,
            states: pair.states.clone(),
            working: vec![],
            advance,
            tape,
            reverse: vec![],
            turnback: None,
        };
        scope.raws.push(Raw::Node(Node::Sweep(Box::new(drive))));
        (Some(id), all)
    }

    /// An unwind: the reversal of a schedule, or a plain walk backwards where nothing is to be remembered.
    fn unwind(&mut self, inst: &Inst, op: &UnwindOp, args: &[Val], paired: Option<TrajectoryId>, scope: &mut Scope) -> Vec<Val> {
        let groups = op.args(args);
        let bwd = self.program.function(op.bwd);
        let h_types: Vec<Type> = bwd.result_types()[op.adjoints + op.running..].iter().map(|ty| ty.stream(op.bound)).collect();
        let has_streams = !(groups.streams.is_empty() && groups.emitted.is_empty() && h_types.is_empty());
        let count = match paired {
            Some(id) => self.placed.trajectories[id.0 as usize].count,
            None => self.count(groups.count, op.bound, has_streams, &inst.pos, scope),
        };
        let emitted = self.emitted(count, op.bound, &h_types);
        let inits = self.all_in_memory(&[groups.adjoints, groups.running].concat(), scope);
        let xs = self.all_in_memory(groups.streams, scope);
        let gs = self.all_in_memory(groups.emitted, scope);
        let parts = Parts { op, inv: groups.invariants, xs: &xs, gs: &gs, emitted: &emitted, carry_types: &self.types(&inits) };
        let results = self.defines(parts.carry_types);
        let all: Vec<Val> = results.iter().copied().chain(emitted.iter().map(|e| e.value)).collect();
        let node = if op.carries == 0 {
            let step = self.back_step(bwd, vec![], &parts);
            Node::For(Box::new(Loop {
                count,
                steps: self.steps_of(count),
                frame: None,
                order: Order::Down,
                inits,
                results,
                emitted: emitted.clone(),
                carried: vec![],
                step,
            }))
        } else {
            let sweep = paired.map_or(Sweep::Alone, |id| self.placed.trajectories[id.0 as usize].sweep);
            let decided = self.decided(op).way(sweep).expect("facts say which sweeps a loop is met with");
            let splits = self.splits(op, decided);
            if decided.schedule == Schedule::Nothing {
                let step = self.back_step(&splits[0].reverse, vec![], &parts);
                Node::For(Box::new(Loop {
                    count,
                    steps: self.steps_of(count),
                    frame: None,
                    order: Order::Down,
                    inits,
                    results,
                    emitted: emitted.clone(),
                    carried: vec![],
                    step,
                }))
            } else {
                let state_types = self.types(groups.carries);
                let id = paired.unwrap_or_else(|| self.trajectory(op.bwd, count, state_types.clone(), decided, &splits));
                let [_, uses] = decided.schedule.uses();
                let restores = uses.restore || decided.sweep == Sweep::Alone;
                let starts = if restores { self.all_in_memory(groups.carries, scope) } else { vec![] };
                let (advance, tape) = self.replays(&uses, &splits, &parts, &state_types);
                let rows = |place: fn(usize) -> RowPlace, types: &[Type]| {
                    types.iter().enumerate().map(|(k, ty)| (place(k), ty.clone())).collect::<Vec<_>>()
                };
                let reverse = |(split, used): (&Split, &bool)| {
                    used.then(|| self.back_step(&split.reverse, rows(RowPlace::Tape, &split.kept), &parts))
                };
                let reverse = splits.iter().zip(&uses.reverse).map(reverse).collect();
                let turnback = uses.turnback.then(|| self.back_step(bwd, rows(RowPlace::State, &state_types), &parts));
                Node::Reversal(Box::new(Drive {
                    trajectory: id,
                    count,
                    starts,
                    inits,
                    results,
                    carried: vec![],
                    emitted: emitted.clone(),
                    states: vec![],
                    working: vec![],
                    advance,
                    tape,
                    reverse,
                    turnback,
                }))
            }
        };
        scope.raws.push(Raw::Node(node));
        all
    }

    /// Steps that run a loop again for its unwind: over states alone.
    fn replays(&mut self, uses: &Uses, splits: &[Split], parts: &Parts<'_>, state_types: &[Type]) -> (Option<Step>, Vec<Option<Step>>) {
        let op = parts.op;
        let advance = uses.advance.then(|| {
            let rows = self.row_types(parts.xs);
            self.step(state_types, rows, |this, scope, i, c, x| this.body(op.body, i, c, parts.inv, x, &[], scope))
        });
        let tape = |(split, used): (&Split, &bool)| {
            let rows = self.row_types(parts.xs);
            let step = |this: &mut Self, scope: &mut Scope, i: Val, c: &[Val], x: &[Val]| {
                let (next, _) = this.body(op.body, i, c, parts.inv, x, &[], scope);
                let kept = this.function(&split.cone, &[&[i], c, parts.inv, x].concat(), scope);
                (next, kept.into_iter().enumerate().map(|(k, value)| (RowPlace::Tape(k), value)).collect())
            };
            used.then(|| self.step(state_types, rows, step))
        };
        (advance, splits.iter().zip(&uses.tape).map(tape).collect())
    }

    /// A step backwards: `function(i, from, inv, x, a, g, r)`, where `from` are states, kept values or nothing.
    fn back_step(&mut self, function: &Function, from: Vec<(RowPlace, Type)>, parts: &Parts<'_>) -> Step {
        let (count, streams) = (from.len(), parts.xs.len());
        let rows = [from, self.row_types(parts.xs), self.row_types(parts.gs)].concat();
        self.step(parts.carry_types, rows, |this, scope, i, carries, rows| {
            let (from, rows) = rows.split_at(count);
            let (x, g) = rows.split_at(streams);
            let (a, r) = carries.split_at(parts.op.adjoints);
            let mut results = this.function(function, &[&[i], from, parts.inv, x, a, g, r].concat(), scope);
            let h = results.split_off(carries.len());
            (results, parts.emitted.iter().map(|e| RowPlace::Stream(e.value)).zip(h).collect())
        })
    }
}

/// What all steps backwards of one unwind share.
struct Parts<'a> {
    op: &'a UnwindOp,
    inv: &'a [Val],
    xs: &'a [Val],
    gs: &'a [Val],
    emitted: &'a [Emitted],
    carry_types: &'a [Type],
}
