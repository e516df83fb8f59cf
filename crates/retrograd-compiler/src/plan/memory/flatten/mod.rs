//! Copies every body into place and gives each unwind its schedule.

mod branches;
mod loops;
mod ranges;

use std::collections::BTreeMap;

use super::group::{self, Raw};
use super::tree::{Access, Block, Call, Fault, Node, OpItem, Placed, PointerId, Probe, Storage, TrajectoryId, Val};
use super::view::{Start, compose, window};
use crate::ir::{
    Array, Attrs, Builder, By, Composed, DType, ErrorKind, Factors, Function, Inst, Lowering, Op, OpDef, Pos, Program,
    Routine, Scalar, Type, Value, View, Write,
};
use crate::ops;
use crate::plan::analysis::grain::Grain;
use crate::plan::analysis::pair::{Pair, pairs};
use crate::plan::analysis::ranges::Range;
use crate::plan::decision::{Decision, Rematerialised};
use crate::plan::transform::split_branches::BranchSplit;
use branches::Opened;

/// The tree of a Program, without memory.
pub(super) fn flatten(branch_split: &BranchSplit, decision: &Decision, grain: Grain) -> Placed {
    let program = &branch_split.program;
    let main = program.main();
    let placed = Placed { grain, ..Placed::default() };
    let (constants, ranges, effects) = (BTreeMap::new(), BTreeMap::new(), program.effects());
    let mut flatten = Flatten { program, branch_split, decision, placed, constants, ranges, effects, steps: vec![] };
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
    branch_split: &'p BranchSplit,
    decision: &'p Decision,
    pub(super) placed: Placed,
    /// Literals of rank 0, by value.
    constants: BTreeMap<Val, Array>,
    /// What other integers of rank 0 can be.
    ranges: BTreeMap<Val, Range>,
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
    /// Branches whose code is not gathered yet, in order.
    branches: Vec<Opened>,
    /// Whether branches of one predicate become one: in steps that make records or read them, whose branches were
    /// taken apart. Elsewhere it would only be to hold longer what they compute.
    joins: bool,
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
        self.storage.push(if ty.rank() == 0 { Storage::Register } else { Storage::None });
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
            self.placed.storage[input.0 as usize] = Storage::Input(number as u32);
            return input;
        }
        self.placed.storage[input.0 as usize] = Storage::Input(number as u32);
        let result = self.placed.define(ty.clone());
        scope.raws.push(Raw::Node(Node::Load { result, from: Access::whole(input, &ty) }));
        result
    }

    /// Finishes a block whose `ends` are used after it.
    fn block(&mut self, scope: Scope, ends: &[Val]) -> Block {
        let (raws, fences) = self.closed(scope, ends);
        group::group(&mut self.placed, raws, &fences, ends, &[])
    }

    /// Values of a function over placed arguments, its code added to the scope.
    fn function(&mut self, function: &Function, args: &[Val], scope: &mut Scope) -> Vec<Val> {
        self.function_again(function, &Rematerialised::default(), args, scope).0
    }

    /// The same where some instructions run again; also all values, by number.
    fn function_again(
        &mut self,
        function: &Function,
        again: &Rematerialised,
        args: &[Val],
        scope: &mut Scope,
    ) -> (Vec<Val>, Vec<Option<Val>>) {
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
            Op::Def(..) => vec![self.row(function, inst, args, scope)],
            Op::If(op) => self.branch(op, &args, scope),
            Op::For(op) => match pair {
                None => self.plain_loop(inst, op, &args, scope),
                Some(pair) => {
                    let unwind = &function.insts[pair.unwind_inst];
                    // Arguments of the unwind that the sweep needs are also arguments of the loop, or defined before
                    // it.
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
        let Op::Def(def, attrs) = &inst.op else { panic!("rows only") };
        let ty = function.ty(inst.results[0]);
        if def.lowering == Lowering::Constant && ty.rank() > 0 {
            // Not worth looking for again: a literal array can be large, and its memory is the code's.
            return self.push(def, attrs.clone(), args, ty.clone(), &inst.pos, scope);
        }
        if def.lowering == Lowering::Probe {
            return self.probe(attrs, args[0], &inst.pos, scope);
        }
        if let Lowering::Routine(routine) = def.lowering
            && def.lowering.has_effect()
        {
            return self.call(routine, attrs, &args, ty, scope);
        }
        if def.lowering == Lowering::Check {
            return self.check(attrs, args[0], &inst.pos, scope);
        }
        let key = (format!("{} {attrs:?}", def.name), args.clone());
        if let Some(known) = scope.known.get(&key) {
            return *known;
        }
        let result = match def.lowering {
            Lowering::View(_) | Lowering::Reduce(_) if ty.rank() == 0 && self.placed.is_scalar(args[0]) => args[0],
            Lowering::Reduce(_) if attrs.sizes("axes").is_empty() => args[0],
            Lowering::Write(Write::Set) if ty.rank() == 0 => args[1],
            Lowering::Write(Write::Add) if ty.rank() == 0 => {
                self.push(&ops::ADD, Attrs::none(), args[..2].to_vec(), ty.clone(), &inst.pos, scope)
            }
            Lowering::Write(how) => self.write(how, attrs, &args, &inst.pos, scope),
            Lowering::View(view) => self.view(view, attrs, &args, ty, &inst.pos, scope),
            Lowering::Pick(indexing) => self.pick(def, indexing, attrs, &args, ty, &inst.pos, scope),
            Lowering::Scatter(indexing, how) => self.scatter(indexing, how, attrs, &args, &inst.pos, scope),
            Lowering::Map(_) | Lowering::Convert | Lowering::Iota | Lowering::Constant => {
                self.push(def, attrs.clone(), args, ty.clone(), &inst.pos, scope)
            }
            Lowering::Reduce(_) | Lowering::Scan(_) => {
                self.push(def, attrs.clone(), args, ty.clone(), &inst.pos, scope)
            }
            Lowering::Dot => {
                // What sums go on from is overwritten, so it is an array of its own.
                let onto = args[2..].iter().map(|start| self.in_memory(*start, scope));
                let args = args[..2].iter().copied().chain(onto).collect();
                self.push(def, attrs.clone(), args, ty.clone(), &inst.pos, scope)
            }
            Lowering::Composed(of) => self.composed(of, attrs, &args, &inst.pos, scope),
            Lowering::Routine(routine) => self.call(routine, attrs, &args, ty, scope),
            Lowering::Factored(factors, routine) => {
                let factors = self.factors(factors, args[0], scope);
                self.call(routine, attrs, &[&[factors], &args[1..]].concat(), ty, scope)
            }
            Lowering::Probe | Lowering::Check | Lowering::Missing => {
                panic!("effects are placed above, and plan refuses rows without machine code: {}", def.name)
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
        self.always_true(pos, scope)
    }

    /// A check is the negation of its condition, whose truth is a fault, element by element. It is computed for that
    /// alone.
    fn check(&mut self, attrs: &Attrs, condition: Val, pos: &Pos, scope: &mut Scope) -> Val {
        let ty = self.placed.ty(condition).clone();
        if ty.elements() > 0 {
            let failed = self.push(&ops::NOT, Attrs::none(), vec![condition], ty, pos, scope);
            let kind = ErrorKind::Check { tag: attrs.text("tag").to_owned() };
            let site = self.placed.fault(kind, pos, attrs.text("message").to_owned());
            self.placed.failures.insert(failed, site);
        }
        self.always_true(pos, scope)
    }

    /// The result of an effect.
    fn always_true(&mut self, pos: &Pos, scope: &mut Scope) -> Val {
        let value = Attrs::none().with("value", crate::ir::Attr::Array(Array::bool(true)));
        self.push(&ops::CONSTANT, value, vec![], Type::scalar(DType::Bool), pos, scope)
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
        self.placed.calls_host |= routine.by != By::Code;
        let scratch = self.defines(&(routine.scratch)(&self.types(&args), attrs));
        let shape = if ty.rank() == 0 { vec![1] } else { ty.shape.clone() };
        let result = self.placed.define(Type::new(ty.dtype, shape));
        scope.raws.push(Raw::Node(Node::Call(Box::new(Call {
            routine,
            attrs: attrs.clone(),
            args,
            result,
            scratch,
            onto: None,
        }))));
        if ty.rank() > 0 {
            return result;
        }
        let number = self.placed.define(ty.clone());
        scope.raws.push(Raw::Node(Node::Load { result: number, from: Access::whole(result, ty) }));
        number
    }

    /// The factors of matrices, computed once in a block for all that read them.
    fn factors(&mut self, factors: Factors, matrices: Val, scope: &mut Scope) -> Val {
        let key = (format!("factors by {}", factors.name), vec![matrices]);
        if let Some(known) = scope.known.get(&key) {
            return *known;
        }
        let ty = (factors.ty)(self.placed.ty(matrices));
        let result = self.call(factors.routine, &Attrs::none(), &[matrices], &ty, scope);
        scope.known.insert(key, result);
        result
    }

    pub(super) fn push(
        &mut self,
        def: &'static OpDef,
        attrs: Attrs,
        args: Vec<Val>,
        ty: Type,
        pos: &Pos,
        scope: &mut Scope,
    ) -> Val {
        let result = self.placed.define(ty);
        let divides = matches!(def.lowering, Lowering::Map(Scalar::Div | Scalar::Rem));
        if divides && self.placed.ty(result).dtype.is_integer() {
            let site = self.placed.fault(ErrorKind::DivisionByZero, pos, format!("in `{}`", def.name));
            self.placed.divisions.insert(result, site);
        }
        if def.lowering == Lowering::Constant {
            self.constant(result, attrs.array("value"));
        }
        if self.placed.is_scalar(result) && self.placed.ty(result).dtype == DType::I64 {
            self.bound_row(result, def, &args);
        }
        if def.lowering != Lowering::Constant || self.placed.is_scalar(result) {
            scope.raws.push(Raw::Op(OpItem { def, attrs, args, result, pos: pos.clone() }));
        }
        result
    }

    /// A view: another access of the same memory. One number is read at once, so that its memory may change afterwards;
    /// of a scalar that is repeated it is that scalar.
    fn view(&mut self, view: View, attrs: &Attrs, args: &[Val], ty: &Type, pos: &Pos, scope: &mut Scope) -> Val {
        let result = self.placed.define(ty.clone());
        let mut operand = args[0];
        let starts = match view {
            View::DynamicSlice => self.starts(operand, &args[1..], &ty.shape, attrs, pos, scope),
            View::Broadcast | View::Reshape | View::Transpose | View::Reverse | View::Slice => vec![],
        };
        let composed = |placed: &Placed, operand: Val| {
            compose(view, attrs, placed.access(operand), placed.ty(operand), ty, &starts)
        };
        let access = composed(&self.placed, operand).unwrap_or_else(|| {
            operand = self.in_memory(operand, scope);
            composed(&self.placed, operand).expect("every view of a contiguous array is affine")
        });
        let narrows = matches!(view, View::Slice | View::DynamicSlice);
        if narrows && ty.rank() > 0 && ty.elements() == 1 && !self.placed.is_scalar(access.root) {
            let number = self.placed.define(Type::scalar(ty.dtype));
            let number = self.seen(number, Access { strides: vec![], ..access }, scope);
            return self.seen(
                result,
                Access { root: number, strides: vec![0; ty.rank()], offset: 0, dynamic: vec![] },
                scope,
            );
        }
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

    /// Starts of a window: numbers where they are known and fit, registers that always do, clamped ones otherwise.
    fn starts(
        &mut self,
        base: Val,
        starts: &[Val],
        sizes: &[usize],
        attrs: &Attrs,
        pos: &Pos,
        scope: &mut Scope,
    ) -> Vec<Start> {
        let steps = attrs.sizes("step");
        let extents = self.placed.ty(base).shape.clone();
        let mut result = vec![];
        for (axis, start) in starts.iter().enumerate() {
            let last = ops::clamp_start(i64::MAX, extents[axis], sizes[axis], steps[axis]);
            match self.range(*start) {
                Some((least, most)) if least == most && (0..=last).contains(&least) => result.push(Start::Fixed(least)),
                Some((least, most)) if least >= 0 && most <= last => result.push(Start::Register(*start)),
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
        let site = self.placed.fault(
            ErrorKind::Bounds,
            pos,
            format!("an index is outside 0..={last} on an axis of {extent} elements"),
        );
        scope.raws.push(Raw::Node(Node::Clamp { result, index, last, site }));
        self.ranges.insert(result, (0, last));
        scope.known.insert(key, result);
        result
    }

    fn constant(&mut self, result: Val, value: &Array) {
        if self.placed.is_scalar(result) {
            self.constants.insert(result, value.clone());
        } else {
            self.placed.storage[result.0 as usize] = Storage::Literal(self.placed.literals.len() as u32);
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
}
