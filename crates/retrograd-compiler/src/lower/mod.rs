//! From a Plan to loops over scalar code.
//!
//! `lower` walks the placed tree once: registers for scalars, addresses for arrays, nests as vector loops (`nest`,
//! reductions over components in `component`, sums along the lanes in `horizontal`, several rows at a time in `unroll_and_jam`),
//! reductions (`reduce`), walks along an axis (`scan`), schedules as native drivers (`drive`), long code and what is
//! spread over threads as functions of their own (`outlined`).

mod component;
mod count;
mod dot;
mod drive;
mod horizontal;
mod identical;
pub mod kernel;
mod lanes;
mod nest;
mod outlined;
mod progress;
mod reduce;
mod scan;
mod unroll_and_jam;

use std::collections::BTreeMap;

use crate::ir::{Array, DType, Data, Error, LaneFunction, Lowering, Scalar, Type};
use crate::plan::memory::{
    Access, Block, Branch, Buffer, Call, Carried, Loop, Node, Onto, OpItem, Placed, RowPlace, RowTime, Step, StepEnd,
    Storage, Val, While,
};
use crate::plan::{Decided, Plan};
use kernel::{Address, Kernel, Order, Place, Reg, RegType, RoutineCall, Seen, Stmt};

use progress::Reporting;

pub use crate::plan::memory::Fault;
pub use count::{COUNTS, counting};
pub use outlined::Registers;

/// Loops, and what a run of them takes, gives and means. Machine code trusts it, so only a Plan, or a decision that was
/// checked, makes one.
#[derive(Clone, Debug)]
pub struct Lowered {
    kernel: Kernel,
    faults: Vec<Fault>,
    inputs: Vec<Type>,
    outputs: Vec<Type>,
}

impl Lowered {
    /// The loops.
    pub fn kernel(&self) -> &Kernel {
        &self.kernel
    }

    /// Faults by number of their site.
    pub fn faults(&self) -> &[Fault] {
        &self.faults
    }

    /// Types of the inputs.
    pub fn inputs(&self) -> &[Type] {
        &self.inputs
    }

    /// Types of the outputs.
    pub fn outputs(&self) -> &[Type] {
        &self.outputs
    }
}

/// Lowers a Plan to loops.
pub fn lower(plan: &Plan) -> Lowered {
    lower_placed(&plan.placed)
}

/// Lowers what was decided before to the same loops, without a search; the error is that the decision does not fit its
/// Program, or that this is no valid one.
pub fn lower_decided(decided: &Decided) -> Result<Lowered, Error> {
    decided.place().map(|placed| lower_placed(&placed))
}

fn lower_placed(placed: &Placed) -> Lowered {
    let mut lower = KernelBuilder::new(placed);
    lower.block(&placed.body);
    lower.outputs();
    let KernelBuilder { regs, body, parts, calls, loops, .. } = lower;
    let (arena_bytes, literals, probes) =
        ((placed.bytes - placed.output_bytes) as usize, placed.literals.clone(), placed.probes.clone());
    let (output_bytes, spill_bytes) = (placed.output_bytes, placed.spill_bytes);
    let kernel = Kernel { regs, body, parts, arena_bytes, output_bytes, spill_bytes, literals, calls, probes, loops };
    let types = |values: &[Val]| values.iter().map(|value| placed.ty(*value).clone()).collect();
    Lowered {
        kernel: identical::fold_identical(kernel),
        faults: placed.faults.clone(),
        inputs: types(&placed.inputs),
        outputs: types(&placed.outputs),
    }
}

struct KernelBuilder<'p> {
    placed: &'p Placed,
    regs: Vec<RegType>,
    /// Registers of scalar values.
    values: Vec<Option<Reg>>,
    /// Registers of addresses that move.
    pointers: Vec<Reg>,
    /// Registers that hold a number all the time.
    known: BTreeMap<Reg, i64>,
    /// Registers of fixed addresses, and what each points to.
    fixed: BTreeMap<Reg, Place>,
    inputs: Vec<Reg>,
    literals: Vec<Reg>,
    buffers: Vec<Reg>,
    /// Components of elements read or computed in the nest under construction.
    lanes: BTreeMap<(Val, usize), Reg>,
    /// Truths that are faults in the nest under construction, with their sites.
    checks: Vec<(Reg, u32)>,
    /// Parts so far.
    parts: Vec<kernel::Part>,
    /// Calls so far.
    calls: Vec<RoutineCall>,
    /// What polls say of how far the run is.
    reporting: Reporting,
    /// Outermost loops so far.
    loops: u32,
    /// The statements under construction.
    body: Vec<Stmt>,
}

impl<'p> KernelBuilder<'p> {
    fn new(placed: &'p Placed) -> KernelBuilder<'p> {
        let mut lower = KernelBuilder {
            placed,
            regs: vec![],
            values: vec![None; placed.types.len()],
            pointers: vec![],
            known: BTreeMap::new(),
            fixed: BTreeMap::new(),
            inputs: vec![],
            literals: vec![],
            buffers: vec![],
            lanes: BTreeMap::new(),
            checks: vec![],
            parts: vec![],
            calls: vec![],
            reporting: Reporting::Outside,
            loops: 0,
            body: vec![],
        };
        lower.pointers = (0..placed.pointers).map(|_| lower.reg(RegType::Pointer)).collect();
        lower.inputs = (0..placed.inputs.len()).map(|k| lower.fixed(Place::Input(k as u32))).collect();
        lower.literals = (0..placed.literals.len()).map(|k| lower.fixed(Place::Literal(k as u32))).collect();
        lower.buffers = placed.buffers.iter().map(|buffer| lower.buffer(buffer)).collect();
        lower
    }

    fn reg(&mut self, ty: RegType) -> Reg {
        self.regs.push(ty);
        Reg(self.regs.len() as u32 - 1)
    }

    fn int(&mut self) -> Reg {
        self.reg(RegType::Scalar(DType::I64))
    }

    fn fixed(&mut self, to: Place) -> Reg {
        let dst = self.reg(RegType::Pointer);
        self.body.push(Stmt::Pointer { dst, to });
        self.fixed.insert(dst, to);
        dst
    }

    /// The address register of a store; of one in a frame, each thread has its own.
    fn buffer(&mut self, buffer: &Buffer) -> Reg {
        match (buffer.frame, buffer.output) {
            (Some(_), _) => self.reg(RegType::Pointer),
            (None, Some(output)) => self.fixed(Place::Output(output)),
            (None, None) => self.fixed(Place::Arena(buffer.offset)),
        }
    }

    /// The register of a scalar value, or of one element of an array inside a nest.
    fn value(&mut self, value: Val) -> Reg {
        if let Some(reg) = self.values[value.0 as usize] {
            return reg;
        }
        let reg = self.reg(RegType::Scalar(self.placed.ty(value).dtype));
        self.values[value.0 as usize] = Some(reg);
        reg
    }

    fn literal(&mut self, value: i64) -> Reg {
        let dst = self.int();
        self.known.insert(dst, value);
        self.body.push(Stmt::Literal { dst, bits: value as u64 });
        dst
    }

    fn compute(&mut self, op: Scalar, ty: DType, args: &[Reg]) -> Reg {
        let dst = self.reg(RegType::Scalar(ty));
        self.body.push(Stmt::Let { dst, op, args: args.to_vec() });
        dst
    }

    /// Statements made by `code`, apart from those under construction.
    fn nested(&mut self, code: impl FnOnce(&mut Self)) -> Vec<Stmt> {
        let outer = std::mem::take(&mut self.body);
        code(self);
        std::mem::replace(&mut self.body, outer)
    }

    /// The address register of a value's memory.
    fn base(&self, value: Val) -> Reg {
        match self.placed.home(value) {
            Storage::Input(k) => self.inputs[k as usize],
            Storage::Literal(k) => self.literals[k as usize],
            Storage::Buffer(id) => self.buffers[id.0 as usize],
            Storage::Pointer(id) => self.pointers[id.0 as usize],
            Storage::None | Storage::Register => {
                panic!("a value that is read from memory has a home: {value:?} {}", self.placed.ty(value))
            }
        }
    }

    fn whole(&self, value: Val) -> Address {
        at(self.base(value))
    }

    fn bytes(&self, value: Val) -> u64 {
        self.placed.ty(value).bytes() as u64
    }

    fn element_bytes(&self, value: Val) -> i64 {
        self.placed.ty(value).dtype.bytes() as i64
    }

    /// The address of an element of a view; `indices` are registers with the axis whose stride they step by.
    fn element(&mut self, access: &Access, indices: &[(Reg, usize)]) -> Address {
        let size = self.element_bytes(access.root);
        let mut terms: Vec<(Reg, i64)> =
            indices.iter().map(|(reg, axis)| (*reg, access.strides[*axis] * size)).collect();
        terms.retain(|(_, stride)| *stride != 0);
        for (start, stride) in &access.dynamic {
            terms.push((self.value(*start), stride * size));
        }
        Address { base: self.base(access.root), terms, offset: access.offset * size }
    }

    fn block(&mut self, block: &Block) {
        match &block.parts {
            None => block.nodes.iter().for_each(|node| self.node(node)),
            Some(parts) => self.in_parts(&block.nodes, parts),
        }
    }

    fn node(&mut self, node: &Node) {
        match node {
            Node::Scalar(item) => self.scalar(item),
            Node::Load { result, from } => {
                let from = self.element(from, &[]);
                let dst = self.value(*result);
                self.body.push(Stmt::Load { dst, from });
            }
            Node::Probe { site, operand, steps } => {
                let steps = steps.iter().map(|step| self.value(*step)).collect();
                let seen = match self.placed.is_scalar(*operand) {
                    true => Seen::Register(self.value(*operand)),
                    false => Seen::Memory(self.whole(*operand)),
                };
                self.body.push(Stmt::Probe { site: *site, seen, steps });
            }
            Node::Clamp { result, index, last, site } => self.clamp(*result, *index, *last, *site),
            Node::Nest(nest) => self.nest(nest),
            Node::Reduce { result, operand, axes, how } => self.reduce(*result, *operand, axes, *how),
            Node::Scan { result, operands, axis, scan } => self.scan(*result, operands, *axis, *scan),
            Node::Dot { result, operands, attrs, onto } => {
                self.go_on(*result, onto.as_ref());
                self.dot(*result, *operands, attrs, onto.as_ref());
            }
            Node::Call(call) => {
                self.go_on(call.result, call.onto.as_ref());
                if dot::takes_long(call) { self.products(call) } else { self.call(call) }
            }
            Node::If(branch) => self.branch(branch),
            Node::For(node) => self.plain_loop(node),
            Node::While(node) => match &node.held {
                None => self.while_loop(node),
                Some((trajectory, states)) => self.while_sweep(node, *trajectory, states),
            },
            Node::Sweep(drive) => self.sweep(drive),
            Node::Reversal(drive) => self.reversal(drive),
        }
    }

    fn scalar(&mut self, item: &OpItem) {
        let dst = self.value(item.result);
        if item.def.lowering == Lowering::Constant {
            let bits = bits(item.attrs.array("value"));
            if self.placed.ty(item.result).dtype == DType::I64 {
                self.known.insert(dst, bits as i64);
            }
            self.body.push(Stmt::Literal { dst, bits });
            return;
        }
        let args: Vec<Reg> = item.args.iter().map(|v| self.value(*v)).collect();
        self.arithmetic(item, dst, args);
        if let Some(site) = self.placed.failures.get(&item.result).copied() {
            self.body.push(Stmt::Fault { cond: dst, site });
        }
    }

    /// One elementwise row on registers.
    fn arithmetic(&mut self, item: &OpItem, dst: Reg, args: Vec<Reg>) {
        self.check_division(item, &args);
        let dtype = self.placed.ty(item.result).dtype;
        // Back ends divide integers themselves; what is left of a float takes a call.
        let calls = item.scalar() == Scalar::Rem && dtype.is_float();
        let op = if calls { Scalar::Call(LaneFunction::Rem) } else { item.scalar() };
        if let (Scalar::Call(_), DType::F32) = (op, dtype) {
            // Functions are of f64: that of the widened arguments, rounded.
            let wide: Vec<Reg> =
                args.iter().map(|arg| self.compute(Scalar::Convert(DType::F64), DType::F64, &[*arg])).collect();
            let result = self.compute(op, DType::F64, &wide);
            self.body.push(Stmt::Let { dst, op: Scalar::Convert(DType::F32), args: vec![result] });
        } else {
            self.body.push(Stmt::Let { dst, op, args });
        }
    }

    /// An integer division by zero is a fault of the run.
    fn check_division(&mut self, item: &OpItem, args: &[Reg]) {
        if let Some(site) = self.placed.divisions.get(&item.result).copied() {
            let zero = self.reg(RegType::Scalar(self.placed.ty(item.result).dtype));
            self.body.push(Stmt::Literal { dst: zero, bits: 0 });
            let cond = self.compute(Scalar::Eq, DType::Bool, &[args[1], zero]);
            self.body.push(Stmt::Fault { cond, site });
        }
    }

    fn clamp(&mut self, result: Val, index: Val, last: i64, site: u32) {
        let (index, dst) = (self.value(index), self.value(result));
        let cond = self.bring_into(dst, index, last);
        self.body.push(Stmt::Fault { cond, site });
    }

    /// An index brought into 0..=last; returns whether it was not there. One that was not is 0: what is read there is
    /// never seen, because the run ends with the fault.
    fn bring_into(&mut self, dst: Reg, index: Reg, last: i64) -> Reg {
        let (zero, last) = (self.literal(0), self.literal(last));
        let below = self.compute(Scalar::Lt, DType::Bool, &[index, zero]);
        let above = self.compute(Scalar::Gt, DType::Bool, &[index, last]);
        let outside = self.compute(Scalar::Or, DType::Bool, &[below, above]);
        self.body.push(Stmt::Let { dst, op: Scalar::Select, args: vec![outside, zero, index] });
        outside
    }

    /// What a result goes on from is in its memory.
    fn go_on(&mut self, result: Val, onto: Option<&Onto>) {
        if let Some(Onto { base, copies: true }) = onto {
            self.copy(self.whole(result), self.whole(*base), self.bytes(result));
        }
    }

    fn call(&mut self, call: &Call) {
        let types = |values: &[Val]| values.iter().map(|v| self.placed.ty(*v).clone()).collect();
        let whole = RoutineCall {
            routine: call.routine,
            attrs: call.attrs.clone(),
            args: types(&call.args),
            result: self.placed.ty(call.result).clone(),
            scratch: types(&call.scratch),
        };
        let args = call.args.iter().map(|v| self.element(&self.placed.access(*v).clone(), &[])).collect();
        self.call_over(whole, args, self.whole(call.result), &call.scratch);
    }

    fn call_over(&mut self, call: RoutineCall, args: Vec<Address>, result: Address, scratch: &[Val]) {
        let scratch = scratch.iter().map(|v| self.whole(*v)).collect();
        self.body.push(Stmt::Call { call: self.calls.len() as u32, args, result, scratch });
        self.calls.push(call);
    }

    fn copy(&mut self, to: Address, from: Address, bytes: u64) {
        if to != from && bytes > 0 {
            self.body.push(Stmt::Copy { to, from, bytes });
        }
    }

    fn branch(&mut self, branch: &Branch) {
        let cond = self.value(branch.predicate);
        let side = |lower: &mut Self, side: usize| {
            lower.nested(|lower| {
                lower.block(&branch.blocks[side]);
                for (end, result) in branch.ends[side].iter().zip(&branch.results) {
                    match lower.placed.home(*result) {
                        _ if lower.placed.idle.contains(end) => {}
                        Storage::Pointer(id) if branch.chosen.contains(result) => {
                            let (dst, address) = (lower.pointers[id.0 as usize], lower.whole(*end));
                            lower.body.push(Stmt::Offset { dst, address });
                        }
                        Storage::None
                        | Storage::Register
                        | Storage::Input(_)
                        | Storage::Literal(_)
                        | Storage::Buffer(_)
                        | Storage::Pointer(_) => {
                            lower.hand_over(*end, *result);
                        }
                    }
                }
                for (end, to) in &branch.both_buffers[side] {
                    lower.copy(at(lower.pointers[to.0 as usize]), lower.whole(*end), lower.bytes(*end));
                }
            })
        };
        let (then_body, else_body) = (side(self, 0), side(self, 1));
        self.body.push(Stmt::If { cond, then_body, else_body });
    }

    /// One value becomes another: a move between registers, or between memory where it differs.
    fn hand_over(&mut self, from: Val, to: Val) {
        if self.placed.is_scalar(to) {
            let (dst, src) = (self.value(to), self.value(from));
            self.body.push(Stmt::Move { dst, src });
        } else {
            self.copy(self.whole(to), self.whole(from), self.bytes(to));
        }
    }

    fn plain_loop(&mut self, node: &Loop) {
        let carries = self.start_carries(&node.carried, &node.inits);
        self.clear(node.emitted.iter().filter(|e| e.clear).map(|e| e.value));
        let (from, to) = (self.literal(0), self.value(node.count));
        let around = self.reporting;
        self.reporting = self.outermost(Some(to));
        match node.frame {
            None => self.run_steps(&node.step, &carries, &[], node.order, from, to, None),
            Some(frame) => {
                self.parallel_steps(&node.step, frame, node.steps.expect("a map that is spread has a known length"))
            }
        }
        self.reporting = around;
        self.end_carries(&carries, &node.results);
    }

    fn while_loop(&mut self, node: &While) {
        let carries = self.start_carries(&node.carried, &node.inits);
        let trips = self.value(node.step.index);
        self.body.push(Stmt::Literal { dst: trips, bits: 0 });
        let around = self.reporting;
        self.reporting = self.outermost(None).at(trips, Order::Up);
        let body = self.nested(|lower| {
            lower.poll();
            let cond = lower.while_condition(node, &carries);
            lower.body.push(Stmt::If { cond, then_body: vec![], else_body: vec![Stmt::Leave] });
            lower.while_step(node, &carries);
        });
        self.reporting = around;
        self.body.push(Stmt::Loop { body });
        self.end_while(node, &carries);
    }

    /// Whether the next step runs.
    fn while_condition(&mut self, node: &While, carries: &[Carry]) -> Reg {
        self.start_step(&node.step, carries);
        self.block(&node.cond);
        self.value(node.holds)
    }

    fn while_step(&mut self, node: &While, carries: &[Carry]) {
        self.step(&node.step, carries, &[], None);
        let (trips, one) = (self.value(node.step.index), self.literal(1));
        self.body.push(Stmt::Let { dst: trips, op: Scalar::Add, args: vec![trips, one] });
    }

    fn end_while(&mut self, node: &While, carries: &[Carry]) {
        let (dst, src) = (self.value(node.trips), self.value(node.step.index));
        self.body.push(Stmt::Move { dst, src });
        self.end_carries(carries, &node.results);
    }

    fn clear(&mut self, streams: impl Iterator<Item = Val>) {
        for stream in streams {
            let (to, bytes) = (self.whole(stream), self.bytes(stream));
            self.body.push(Stmt::Zero { to, bytes });
        }
    }

    /// Carries at the start of a construct: registers get their values, arrays their place.
    fn start_carries(&mut self, carried: &[Carried], inits: &[Val]) -> Vec<Carry> {
        let carries: Vec<Carry> =
            carried.iter().zip(inits).map(|(carried, init)| self.carry(*carried, *init)).collect();
        for (carry, init) in carries.iter().zip(inits) {
            match carry {
                Carry::Register(reg) => {
                    let src = self.value(*init);
                    self.body.push(Stmt::Move { dst: *reg, src });
                }
                Carry::Memory { donated: true, .. } => {}
                Carry::Memory { place, bytes, .. } => self.copy(at(*place), self.whole(*init), *bytes),
            }
        }
        carries
    }

    fn carry(&mut self, carried: Carried, like: Val) -> Carry {
        match carried {
            Carried::Register => Carry::Register(self.reg(RegType::Scalar(self.placed.ty(like).dtype))),
            Carried::Memory { place, main, back, turns, changes, donated } => {
                let place = match place {
                    Storage::Buffer(id) => self.buffers[id.0 as usize],
                    Storage::Pointer(id) => self.pointers[id.0 as usize],
                    Storage::None | Storage::Register | Storage::Input(_) | Storage::Literal(_) => {
                        panic!("carries live in the arena")
                    }
                };
                let main = self.pointers[main.0 as usize];
                self.body.push(Stmt::Move { dst: main, src: place });
                let back = back.map(|(buffer, pointer)| {
                    let back = self.pointers[pointer.0 as usize];
                    self.body.push(Stmt::Move { dst: back, src: self.buffers[buffer.0 as usize] });
                    if turns {
                        self.copy(at(back), self.whole(like), self.bytes(like));
                    }
                    back
                });
                Carry::Memory { place, main, back, changes, donated, bytes: self.bytes(like) }
            }
        }
    }

    /// Carries at the end of a construct: arrays are brought back to their place.
    fn end_carries(&mut self, carries: &[Carry], results: &[Val]) {
        for (carry, result) in carries.iter().zip(results) {
            match carry {
                Carry::Register(src) => {
                    let dst = self.value(*result);
                    self.body.push(Stmt::Move { dst, src: *src });
                }
                Carry::Memory { back: None, .. } => {}
                Carry::Memory { place, main, bytes, .. } => self.copy(at(*place), at(*main), *bytes),
            }
        }
    }

    /// Runs a step for every index of a range.
    #[allow(clippy::too_many_arguments, reason = "a range and what its steps share")]
    fn run_steps(
        &mut self,
        step: &Step,
        carries: &[Carry],
        states: &[Carry],
        order: Order,
        from: Reg,
        to: Reg,
        tape: Option<&TapeRows>,
    ) {
        let (index, around) = (self.value(step.index), self.reporting);
        self.reporting = around.at(index, order);
        let body = self.nested(|lower| lower.step(step, carries, states, tape));
        self.reporting = around;
        self.run_range(index, [from, to], order, body);
    }

    /// Runs a body for every index of a range.
    fn run_range(&mut self, index: Reg, [from, to]: [Reg; 2], order: Order, mut body: Vec<Stmt>) {
        if body.iter().any(takes_long) {
            body.insert(0, Stmt::Poll { reached: self.reporting.at(index, order).reached() });
            self.body.push(Stmt::For { index, from, to, order, body });
        } else if let Some(lanes) = self.in_lanes(index, [from, to], order, &body) {
            self.body.extend(lanes);
        } else {
            self.in_chunks(index, from, to, order, body);
        }
    }

    /// A loop over steps that are too short to ask in each of them whether to stop.
    fn in_chunks(&mut self, index: Reg, from: Reg, to: Reg, order: Order, body: Vec<Stmt>) {
        let chunk = self.literal(POLL_STEPS);
        let (start, end) = match order {
            Order::Up => (from, to),
            Order::Down => (to, from),
        };
        let at = self.int();
        self.body.push(Stmt::Move { dst: at, src: start });
        let chunks = self.nested(|lower| {
            lower.body.push(Stmt::Poll { reached: lower.reporting.at(at, order).reached() });
            let (next, done) = match order {
                Order::Up => (lower.compute(Scalar::Add, DType::I64, &[at, chunk]), Scalar::Ge),
                Order::Down => (lower.compute(Scalar::Sub, DType::I64, &[at, chunk]), Scalar::Le),
            };
            let beyond = lower.compute(done, DType::Bool, &[next, end]);
            let next = lower.compute(Scalar::Select, DType::I64, &[beyond, end, next]);
            let (from, to) = match order {
                Order::Up => (at, next),
                Order::Down => (next, at),
            };
            lower.body.push(Stmt::For { index, from, to, order, body });
            lower.body.push(Stmt::If { cond: beyond, then_body: vec![Stmt::Leave], else_body: vec![] });
            lower.body.push(Stmt::Move { dst: at, src: next });
        });
        self.body.push(Stmt::Loop { body: chunks });
    }

    /// One step, its index set.
    fn step(&mut self, step: &Step, carries: &[Carry], states: &[Carry], tape: Option<&TapeRows>) {
        self.start_step(step, carries);
        for row in &step.rows {
            let from = match row.from {
                RowPlace::State(k) => {
                    if let Carry::Register(src) = states[k] {
                        let dst = self.value(row.value);
                        self.body.push(Stmt::Move { dst, src });
                    }
                    continue;
                }
                RowPlace::Stream(_) | RowPlace::Tape(_) => self.row_address(row.from, step.index, row.value, tape),
            };
            match row.pointer {
                Some(pointer) => self.body.push(Stmt::Offset { dst: self.pointers[pointer.0 as usize], address: from }),
                None => {
                    let dst = self.value(row.value);
                    self.body.push(Stmt::Load { dst, from });
                }
            }
        }
        for write in &step.emits {
            let address = self.row_address(write.to, step.index, write.value, tape);
            self.body.push(Stmt::Offset { dst: self.pointers[write.pointer.0 as usize], address });
        }
        self.emit_rows(step, RowTime::Before);
        self.block(&step.block);
        self.emit_rows(step, RowTime::After);
        self.end_step(step, carries);
    }

    /// Carries in registers, as the step sees them.
    fn start_step(&mut self, step: &Step, carries: &[Carry]) {
        for ((param, _), carry) in step.carries.iter().zip(carries) {
            if let Carry::Register(src) = carry {
                let dst = self.value(*param);
                self.body.push(Stmt::Move { dst, src: *src });
            }
        }
    }

    fn emit_rows(&mut self, step: &Step, when: RowTime) {
        for write in step.emits.iter().filter(|write| write.when == when) {
            let to = at(self.pointers[write.pointer.0 as usize]);
            if self.placed.is_scalar(write.value) {
                let src = self.value(write.value);
                self.body.push(Stmt::Store { to, src });
            } else {
                self.copy(to, self.whole(write.value), self.bytes(write.value));
            }
        }
    }

    fn end_step(&mut self, step: &Step, carries: &[Carry]) {
        let ends = || step.ends.iter().zip(&step.carries).zip(carries);
        for ((end, (_, next)), carry) in ends() {
            if let (StepEnd::Copy, Carry::Memory { back: Some(back), bytes, .. }) = (end, carry) {
                self.copy(at(*back), self.whole(*next), *bytes);
            }
        }
        for ((end, (_, next)), carry) in ends() {
            match (end, carry) {
                (StepEnd::InPlace, _) => {}
                (StepEnd::Exchange | StepEnd::Copy, Carry::Memory { main, back: Some(back), .. }) => {
                    self.body.push(Stmt::Swap(*main, *back))
                }
                (StepEnd::Move, Carry::Register(dst)) => {
                    let src = self.value(*next);
                    self.body.push(Stmt::Move { dst: *dst, src });
                }
                (end, carry) => panic!("a step ends as its carry is placed: {end:?} {carry:?}"),
            }
        }
    }

    /// The address of a row in this step.
    fn row_address(&mut self, place: RowPlace, index: Val, row: Val, tape: Option<&TapeRows>) -> Address {
        let bytes = self.bytes(row) as i64;
        match place {
            RowPlace::Stream(stream) => {
                Address { base: self.base(stream), terms: vec![(self.value(index), bytes)], offset: 0 }
            }
            RowPlace::Tape(k) => {
                let tape = tape.expect("steps with records run under a schedule");
                Address {
                    base: tape.pool,
                    terms: vec![(self.value(index), tape.bytes), (tape.shift, 1)],
                    offset: tape.offsets[k] as i64,
                }
            }
            RowPlace::State(_) => panic!("states are not rows"),
        }
    }

    fn outputs(&mut self) {
        let placed = self.placed;
        for (k, output) in placed.outputs.iter().enumerate().filter(|(k, _)| !placed.is_handed_out(*k)) {
            let to = at(self.fixed(Place::Output(k as u32)));
            if placed.is_scalar(*output) {
                let src = self.value(*output);
                self.body.push(Stmt::Store { to, src });
            } else {
                self.copy(to, self.whole(*output), self.bytes(*output));
            }
        }
    }
}

/// Short steps that run until it is asked whether to stop.
const POLL_STEPS: i64 = 1024;

/// Whether a statement is more than a few instructions.
fn takes_long(stmt: &Stmt) -> bool {
    match stmt {
        Stmt::For { .. }
        | Stmt::ForVec { .. }
        | Stmt::Loop { .. }
        | Stmt::Copy { .. }
        | Stmt::Zero { .. }
        | Stmt::Call { .. }
        | Stmt::Part(_)
        | Stmt::Spill { .. }
        | Stmt::Fetch { .. }
        | Stmt::ParallelFor { .. }
        | Stmt::Probe { .. } => true,
        Stmt::If { then_body, else_body, .. } => then_body.iter().chain(else_body).any(takes_long),
        Stmt::Literal { .. }
        | Stmt::Let { .. }
        | Stmt::Move { .. }
        | Stmt::Swap(..)
        | Stmt::Pointer { .. }
        | Stmt::Offset { .. } => false,
        Stmt::Load { .. } | Stmt::Store { .. } | Stmt::OrderedScatter(_) | Stmt::Fault { .. } => false,
        Stmt::Start { .. } | Stmt::Next { .. } | Stmt::Poll { .. } | Stmt::Leave => false,
    }
}

/// A carry while its construct runs.
#[derive(Clone, Copy, Debug)]
enum Carry {
    Register(Reg),
    Memory { place: Reg, main: Reg, back: Option<Reg>, changes: bool, donated: bool, bytes: u64 },
}

/// Where the records of a range of steps are: that of step i is at `shift + i·bytes` of the pool.
struct TapeRows {
    pool: Reg,
    /// Of each kept value in a record.
    offsets: Vec<u64>,
    bytes: i64,
    shift: Reg,
}

/// The memory that a register points to.
fn at(base: Reg) -> Address {
    Address { base, terms: vec![], offset: 0 }
}

/// The bits of a rank-0 literal.
fn bits(literal: &Array) -> u64 {
    match literal.data() {
        Data::F64(x) => x[0].to_bits(),
        Data::I64(x) => x[0] as u64,
        Data::Bool(x) => u64::from(x[0]),
        Data::F32(x) => u64::from(x[0].to_bits()),
        Data::I32(x) => i64::from(x[0]) as u64,
    }
}
