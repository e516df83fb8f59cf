//! The loop IR to LLVM IR, statement by statement.
//!
//! Registers are stack slots, which LLVM's first pass makes values. Vector loops are in `vector`, their memory
//! accesses in `access`, arithmetic on any number of lanes in `arithmetic`.

use std::collections::HashMap;

use retrograd_compiler::ir::{DType, Scalar};
use retrograd_compiler::lower::kernel::{
    Address, Kernel, OnDisk, Order, Part, Place, Reached, Reg, RegType, RoutineCall, Seen, Stmt,
};
use retrograd_schedule::{Schedule, Sweep};

use super::Instructions;
use super::text::{Form, Functions, Label, Module, PARAMS, Text, Value, literal};
use super::vector;
use crate::cancellation::UNKNOWN;
use crate::code::{Constants, STOPPED};
use crate::runtime::{Import, encode_order, encode_sweep};
use crate::thread_pool::LAUNCH_WORDS;

/// The widest vectors may be used, also where they are not preferred.
const ATTRIBUTES: &str = r#"nounwind "prefer-vector-width"="512" "min-legal-vector-width"="512""#;

/// A module with one function of the arena, the inputs, the outputs, two words (the fault, and who observes), the flag
/// and the watch, and one for each part, which gets three parameters more, where its registers are, and its range;
/// vectors have so many lanes.
pub(super) fn lower(
    kernel: &Kernel,
    constants: &Constants,
    Instructions { lanes, fused }: Instructions,
    name: &str,
) -> String {
    let mut module = Module::default();
    let function = |part: Option<&Part>| {
        let body = part.map_or(&kernel.body, |part| &part.body);
        let mut lower = Lower {
            kernel,
            constants,
            lanes,
            text: Text::new(fused, if calls(body) > INLINE_CALLS { Functions::Called } else { Functions::Written }),
            name,
            slots: HashMap::new(),
            exits: Vec::new(),
            action: None,
            operands: None,
            buffers: Vec::new(),
        };
        part.into_iter().for_each(|part| lower.begin(part));
        lower.statements(body);
        lower.text
    };
    module.add(function(None), name, "", "");
    for (k, part) in kernel.parts.iter().enumerate() {
        module.add(function(Some(part)), &part_name(name, k as u32), "internal ", ", ptr %words, i64 %from, i64 %to");
    }
    module.finish(ATTRIBUTES)
}

fn part_name(name: &str, number: u32) -> String {
    format!("{name}.{number}")
}

/// Functions of numbers, such as exp, are written where they are called, up to so many in one function of ours: what
/// LLVM does grows faster than its length.
const INLINE_CALLS: usize = 32;

/// How many functions of numbers scalar code calls.
fn calls(body: &[Stmt]) -> usize {
    let count = |stmt: &Stmt| match stmt {
        Stmt::Let { op: Scalar::Call(_), .. } => 1,
        Stmt::For { body, .. } | Stmt::Loop { body } => calls(body),
        Stmt::If { then_body, else_body, .. } => calls(then_body) + calls(else_body),
        Stmt::Literal { .. }
        | Stmt::Let { .. }
        | Stmt::Move { .. }
        | Stmt::Swap(..)
        | Stmt::Pointer { .. }
        | Stmt::Offset { .. } => 0,
        Stmt::Load { .. }
        | Stmt::Store { .. }
        | Stmt::Copy { .. }
        | Stmt::Zero { .. }
        | Stmt::ForVec { .. }
        | Stmt::OrderedScatter(_)
        | Stmt::Leave => 0,
        Stmt::Start { .. } | Stmt::Next { .. } | Stmt::Call { .. } | Stmt::Part(_) | Stmt::ParallelFor { .. } => 0,
        Stmt::Spill { .. } | Stmt::Fetch { .. } | Stmt::Poll { .. } | Stmt::Probe { .. } | Stmt::Fault { .. } => 0,
    };
    body.iter().map(count).sum()
}

/// A function being written.
pub(super) struct Lower<'k> {
    kernel: &'k Kernel,
    constants: &'k Constants,
    /// Of the widest vectors of f64.
    pub(super) lanes: u32,
    pub(super) text: Text,
    /// Of the whole kernel.
    name: &'k str,
    /// By register, once it is used.
    slots: HashMap<Reg, Value>,
    /// Where the loops around this place go on, innermost last.
    exits: Vec<Label>,
    /// Five words for the answer of a controller.
    action: Option<Value>,
    /// Addresses for a routine.
    operands: Option<Value>,
    /// Room for the arguments of functions of many lanes.
    pub(super) buffers: Vec<Value>,
}

impl<'k> Lower<'k> {
    fn statements(&mut self, body: &'k [Stmt]) {
        for stmt in body {
            self.statement(stmt);
        }
    }

    fn statement(&mut self, stmt: &'k Stmt) {
        match stmt {
            Stmt::Literal { dst, bits } => self.set(*dst, &literal(self.dtype(*dst), *bits)),
            Stmt::Let { dst, op, args } => {
                let form = Form::one(self.dtype(*args.last().expect("every scalar op has arguments")));
                let args: Vec<Value> = args.iter().map(|&arg| self.get(arg)).collect();
                let value = self.text.compute(*op, form, &args);
                self.set(*dst, &value);
            }
            Stmt::Move { dst, src } => {
                let value = self.get(*src);
                self.set(*dst, &value);
            }
            Stmt::Swap(a, b) => {
                let (x, y) = (self.get(*a), self.get(*b));
                self.set(*a, &y);
                self.set(*b, &x);
            }
            Stmt::Pointer { dst, to } => {
                let value = self.place(*to);
                self.set(*dst, &value);
            }
            Stmt::Offset { dst, address } => {
                let value = self.address(address);
                self.set(*dst, &value);
            }
            Stmt::Load { dst, from } => {
                let at = self.address(from);
                let value = self.text.load(Form::one(self.dtype(*dst)), &at);
                self.set(*dst, &value);
            }
            Stmt::Store { to, src } => {
                let at = self.address(to);
                let value = self.get(*src);
                self.text.store(Form::one(self.dtype(*src)), &at, &value);
            }
            Stmt::Copy { to, from, bytes } => {
                let (to, from) = (self.address(to), self.address(from));
                self.text.copy(&to, &from, *bytes);
            }
            Stmt::Zero { to, bytes } => {
                let to = self.address(to);
                self.text.zero(&to, *bytes);
            }
            Stmt::For { index, from, to, order, body } => self.for_loop(*index, *from, *to, *order, body),
            Stmt::ForVec { index, count, body, folds } => vector::for_vec(self, *index, *count, body, folds),
            Stmt::If { cond, then_body, else_body } => self.branch(*cond, then_body, else_body),
            Stmt::Loop { body } => self.endless(body),
            Stmt::Leave => self.leave(),
            Stmt::Start { words, schedule, sweep, count, table } => self.start(words, schedule, *sweep, *count, *table),
            Stmt::Next { words, schedule, table, dst } => self.next(words, schedule, *table, *dst),
            Stmt::Call { call, args, result, scratch } => self.routine(*call, args, result, scratch),
            Stmt::Part(number) => self.part(*number),
            Stmt::Spill { to, from, bytes } => self.disk(Import::Spill, *to, from, *bytes),
            Stmt::Fetch { to, from, bytes } => self.disk(Import::Fetch, *from, to, *bytes),
            Stmt::ParallelFor { part, count, chunk } => self.spread(*part, *count, *chunk),
            Stmt::Poll { reached } => self.poll(*reached),
            Stmt::Probe { site, seen, steps } => self.probe(*site, seen, steps),
            Stmt::Fault { cond, site } => self.fault(*cond, *site),
            Stmt::OrderedScatter(_) => panic!("verified: only vector loops write in turn"),
        }
    }

    /// The trip test comes last, so that a loop has one jump per step; a first test guards it.
    fn for_loop(&mut self, index: Reg, from: Reg, to: Reg, order: Order, body: &'k [Stmt]) {
        let (from, to) = (self.get(from), self.get(to));
        let (inside, after) = (self.text.label(), self.text.label());
        let some = self.text.make(format_args!("icmp slt i64 {from}, {to}"));
        let first = match order {
            Order::Up => from.clone(),
            Order::Down => self.text.make(format_args!("add i64 {to}, -1")),
        };
        self.set(index, &first);
        self.text.branch(&some, inside, after);
        self.text.at(inside);
        self.statements(body);
        let at = self.get(index);
        let (step, more) = match order {
            Order::Up => {
                let step = self.text.make(format_args!("add i64 {at}, 1"));
                let more = self.text.make(format_args!("icmp slt i64 {step}, {to}"));
                (step, more)
            }
            Order::Down => {
                let more = self.text.make(format_args!("icmp sgt i64 {at}, {from}"));
                (self.text.make(format_args!("add i64 {at}, -1")), more)
            }
        };
        self.set(index, &step);
        self.text.branch(&more, inside, after);
        self.text.at(after);
    }

    fn branch(&mut self, cond: Reg, then_body: &'k [Stmt], else_body: &'k [Stmt]) {
        let cond = self.get(cond);
        let [then, otherwise, after] = [(); 3].map(|()| self.text.label());
        self.text.branch(&cond, then, otherwise);
        for (label, body) in [(then, then_body), (otherwise, else_body)] {
            self.text.at(label);
            self.statements(body);
            self.text.jump(after);
        }
        self.text.at(after);
    }

    fn endless(&mut self, body: &'k [Stmt]) {
        let (inside, after) = (self.text.label(), self.text.label());
        self.exits.push(after);
        self.text.jump(inside);
        self.text.at(inside);
        self.statements(body);
        self.text.jump(inside);
        self.exits.pop();
        self.text.at(after);
    }

    fn leave(&mut self) {
        let exit = *self.exits.last().expect("verified: Leave stands inside a Loop");
        self.text.jump(exit);
        // What follows is never reached, but statements may follow.
        let unreachable = self.text.label();
        self.text.at(unreachable);
    }

    fn start(&mut self, words: &Address, schedule: &Schedule, sweep: Sweep, count: Reg, table: Option<Reg>) {
        let (words, length) = (self.address(words), schedule.words());
        match schedule {
            Schedule::Nothing => panic!("a loop of which nothing is kept has no controller"),
            Schedule::Recipe(_) => {
                let table = self.table(schedule, table);
                self.call(Import::StartRecipe, format_args!("ptr {words}, i64 {length}, {table}"));
            }
            Schedule::Revolve { slots, state_bytes } => {
                let count = self.get(count);
                let constants = [slots.cast_signed(), state_bytes.cast_signed(), encode_sweep(sweep)];
                let constants = constants.map(|word| format!("i64 {word}")).join(", ");
                self.call(Import::StartRevolve, format_args!("ptr {words}, i64 {length}, {constants}, i64 {count}"));
            }
            Schedule::Online { slots, state_bytes } => {
                self.call(
                    Import::StartOnline,
                    format_args!("ptr {words}, i64 {length}, i64 {slots}, i64 {state_bytes}"),
                );
            }
            Schedule::Blocks(_) => {
                let (table, sweep, count) = (self.table(schedule, table), encode_sweep(sweep), self.get(count));
                self.call(
                    Import::StartBlocks,
                    format_args!("ptr {words}, i64 {length}, {table}, i64 {sweep}, i64 {count}"),
                );
            }
        }
    }

    /// Address and length of a schedule's table, as operands.
    fn table(&mut self, schedule: &Schedule, table: Option<Reg>) -> String {
        let address = table.map_or(Value::new("null"), |table| self.get(table));
        format!("ptr {address}, i64 {}", schedule.table().len())
    }

    fn next(&mut self, words: &Address, schedule: &Schedule, table: Option<Reg>, dst: [Reg; 5]) {
        let action = self.action.get_or_insert_with(|| self.text.slot("[5 x i64]")).clone();
        let words = self.address(words);
        let table = self.table(schedule, table);
        self.call(Import::Next, format_args!("ptr {words}, i64 {}, {table}, ptr {action}", schedule.words()));
        for (k, dst) in (0..).zip(dst) {
            let at = self.text.offset(&action, 8 * k);
            let value = self.text.load(Form::one(DType::I64), &at);
            self.set(dst, &value);
        }
    }

    fn routine(&mut self, call: u32, args: &[Address], result: &Address, scratch: &[Address]) {
        let operands = |call: &RoutineCall| call.args.len() + 1 + call.scratch.len();
        let most = self.kernel.calls.iter().map(operands).max().expect("a call has its number");
        let addresses = self.operands.get_or_insert_with(|| self.text.slot(&format!("[{most} x ptr]"))).clone();
        for (k, operand) in (0..).zip(args.iter().chain([result]).chain(scratch)) {
            let operand = self.address(operand);
            let at = self.text.offset(&addresses, 8 * k);
            self.text.act(format_args!("store ptr {operand}, ptr {at}"));
        }
        let call = Value::address(self.constants.calls[call as usize]);
        self.call(Import::Routine, format_args!("ptr {call}, ptr {addresses}"));
    }

    /// The load is atomic, so that it is not taken for another that came before it.
    fn poll(&mut self, reached: Option<Reached>) {
        let [raised, after] = [(); 2].map(|()| self.text.label());
        let flag = self.text.make(format_args!("load atomic i8, ptr %flag monotonic, align 1"));
        let up = self.text.make(format_args!("icmp ne i8 {flag}, 0"));
        self.text.branch(&up, raised, after);
        self.text.at(raised);
        let [part, step, steps, order] = self.reached(reached);
        self.call(
            Import::Stops,
            format_args!("ptr %watch, i64 {part}, i64 {step}, i64 {steps}, i64 {order}, ptr %fault"),
        );
        self.return_if_stopped();
        self.text.jump(after);
        self.text.at(after);
    }

    /// What [`Import::Stops`] is told of how far the run is.
    fn reached(&mut self, reached: Option<Reached>) -> [Value; 4] {
        let Some(Reached { number, order, step, steps }) = reached else { return [UNKNOWN; 4].map(Value::integer) };
        let steps = steps.map_or_else(|| Value::integer(UNKNOWN), |steps| self.get(steps));
        [Value::integer(i64::from(number)), self.get(step), steps, Value::integer(encode_order(order))]
    }

    /// Runs a part, which finds its registers in words of ours.
    fn part(&mut self, number: u32) {
        let words = self.registers(number);
        let callee = part_name(self.name, number);
        self.text.act(format_args!("call void @{callee}({}, ptr {words}, i64 0, i64 0)", PARAMS));
        self.return_if_stopped();
    }

    /// What was stopped, or faulted, ends its caller, too.
    fn return_if_stopped(&mut self) {
        let (stopped, after) = (self.text.label(), self.text.label());
        let fault = self.text.make(format_args!("load i64, ptr %fault"));
        let stops = self.text.make(format_args!("icmp ne i64 {fault}, 0"));
        self.text.branch(&stops, stopped, after);
        self.text.at(stopped);
        self.text.act(format_args!("ret void"));
        self.text.at(after);
    }

    /// Writes or reads a state on the disk, whose file is in the second word after the fault; the run ends where that
    /// fails.
    fn disk(&mut self, import: Import, at: OnDisk, memory: &Address, bytes: u64) {
        let [failed, after] = [(); 2].map(|()| self.text.label());
        let (place, step, memory) = (self.get(at.place), self.get(at.step), self.address(memory));
        let file = self.pointer_at("%fault", 16);
        let at = self.text.make(format_args!("add i64 {place}, {}", at.first));
        let callee = Value::address(import.address());
        let answer = self
            .text
            .make(format_args!("call i8 {callee}(ptr {file}, i64 {at}, i64 {step}, ptr {memory}, i64 {bytes})"));
        let fails = self.text.make(format_args!("icmp ne i8 {answer}, 0"));
        self.text.branch(&fails, failed, after);
        self.text.at(failed);
        self.text.act(format_args!("store i64 {STOPPED}, ptr %fault"));
        self.text.act(format_args!("ret void"));
        self.text.at(after);
    }

    /// Writes a launch down, and hands it to the pool.
    fn spread(&mut self, number: u32, count: u64, chunk: u64) {
        let words = self.registers(number);
        let callee = part_name(self.name, number);
        let fields = format!("ptr @{callee}, {PARAMS}, ptr {words}, i64 {count}, i64 {chunk}");
        let launch = self.text.slot(&format!("[{LAUNCH_WORDS} x i64]"));
        let mut fields = fields.split(", ");
        for k in 0..LAUNCH_WORDS as i64 {
            let (at, field) =
                (self.text.offset(&launch, 8 * k), fields.next().expect("a launch is written down whole"));
            self.text.act(format_args!("store {field}, ptr {at}"));
        }
        self.call(Import::Spread, format_args!("ptr {launch}"));
        self.return_if_stopped();
    }

    /// What a part gets, in words of ours.
    fn registers(&mut self, part: u32) -> Value {
        let params = &self.kernel.parts[part as usize].params;
        let words = self.text.slot(&format!("[{} x i64]", params.len()));
        for (k, reg) in (0..).zip(params) {
            let (at, value) = (self.text.offset(&words, 8 * k), self.get(*reg));
            self.text.act(format_args!("store {} {value}, ptr {at}", native(self.kernel.regs[reg.0 as usize])));
        }
        words
    }

    /// The registers of a part are in the words that the parameter after the usual ones points to; its range comes
    /// last.
    fn begin(&mut self, part: &Part) {
        for (k, reg) in (0..).zip(&part.params) {
            let at = self.text.offset(&Value::new("%words"), 8 * k);
            let ty = native(self.kernel.regs[reg.0 as usize]);
            let value = self.text.make(format_args!("load {ty}, ptr {at}"));
            self.set(*reg, &value);
        }
        for (reg, value) in part.range.into_iter().flatten().zip(["%from", "%to"]) {
            self.set(reg, &Value::new(value));
        }
    }

    /// Hands the address of the value and of the steps to the observer, whose address is in the word after the fault.
    fn probe(&mut self, site: u32, seen: &Seen, steps: &[Reg]) {
        let words = self.text.slot(&format!("[{} x i64]", steps.len() + 1));
        for (k, step) in (1..).zip(steps) {
            let (at, value) = (self.text.offset(&words, 8 * k), self.get(*step));
            self.text.store(Form::one(DType::I64), &at, &value);
        }
        let first = self.text.offset(&words, 8);
        let at = match seen {
            Seen::Memory(address) => self.address(address),
            Seen::Register(reg) => {
                let value = self.get(*reg);
                self.text.store(Form::one(self.dtype(*reg)), &words, &value);
                words
            }
        };
        let observer = self.pointer_at("%fault", 8);
        self.call(
            Import::Probe,
            format_args!("ptr {observer}, i64 {site}, ptr {at}, ptr {first}, i64 {}", steps.len()),
        );
    }

    /// The first fault ends the run: every loop and every part around it is left.
    fn fault(&mut self, cond: Reg, site: u32) {
        let cond = self.get(cond);
        let (faulty, after) = (self.text.label(), self.text.label());
        self.text.branch(&cond, faulty, after);
        self.text.at(faulty);
        self.text.act(format_args!("store i64 {}, ptr %fault", u64::from(site) + 1));
        self.text.act(format_args!("ret void"));
        self.text.at(after);
    }

    /// Calls a function of ours that returns nothing.
    pub(super) fn call(&mut self, import: Import, args: std::fmt::Arguments<'_>) {
        let callee = Value::address(import.address());
        self.text.act(format_args!("call void {callee}({args})"));
    }

    /// The address of a buffer.
    fn place(&mut self, place: Place) -> Value {
        let nth = |k: u32| 8 * i64::from(k);
        match place {
            Place::Arena(offset) => self.text.offset(&Value::new("%arena"), offset.cast_signed()),
            Place::Input(k) => self.pointer_at("%inputs", nth(k)),
            Place::Output(k) => self.pointer_at("%outputs", nth(k)),
            Place::Literal(k) => Value::address(self.constants.literals[k as usize]),
        }
    }

    fn pointer_at(&mut self, table: &str, offset: i64) -> Value {
        let at = self.text.offset(&Value::new(table), offset);
        self.text.make(format_args!("load ptr, ptr {at}"))
    }

    fn address(&mut self, address: &Address) -> Value {
        let mut at = self.get(address.base);
        for &(reg, stride) in &address.terms {
            let index = self.get(reg);
            at = self.text.scaled(&at, &index, stride);
        }
        self.text.offset(&at, address.offset)
    }

    pub(super) fn get(&mut self, reg: Reg) -> Value {
        let (ty, slot) = self.slot(reg);
        self.text.make(format_args!("load {ty}, ptr {slot}"))
    }

    pub(super) fn set(&mut self, reg: Reg, value: &Value) {
        let (ty, slot) = self.slot(reg);
        self.text.act(format_args!("store {ty} {value}, ptr {slot}"));
    }

    fn slot(&mut self, reg: Reg) -> (&'static str, Value) {
        let ty = native(self.kernel.regs[reg.0 as usize]);
        (ty, self.slots.entry(reg).or_insert_with(|| self.text.cleared_slot(ty)).clone())
    }

    pub(super) fn dtype(&self, reg: Reg) -> DType {
        match self.kernel.regs[reg.0 as usize] {
            RegType::Scalar(ty) => ty,
            RegType::Pointer => panic!("verified: arithmetic is on numbers, not on pointers"),
        }
    }
}

/// The type of a register in scalar code.
fn native(ty: RegType) -> &'static str {
    match ty {
        RegType::Pointer => "ptr",
        RegType::Scalar(DType::F64) => "double",
        RegType::Scalar(DType::F32) => "float",
        RegType::Scalar(DType::I64) => "i64",
        RegType::Scalar(DType::I32) => "i32",
        RegType::Scalar(DType::Bool) => "i1",
    }
}
