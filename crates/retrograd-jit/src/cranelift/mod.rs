//! The built-in back end: the loop IR to Cranelift IR, statement by statement.
//!
//! Registers are Cranelift variables, which become SSA values on the fly. Vector loops are in `vector`, their memory
//! accesses in `access`, those with transcendentals in `strip`; arithmetic, on one number or a pair of lanes, is in
//! `arithmetic`.

mod access;
mod arithmetic;
mod driver;
mod machine;
mod memory;
mod strip;
mod vector;
mod wide;

use std::collections::HashMap;

use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{
    Block, FuncRef, InstBuilder, MemFlagsData, StackSlot, StackSlotData, StackSlotKind, Type, Value, types,
};
use cranelift_codegen::isa::TargetFrontendConfig;
use cranelift_frontend::{FunctionBuilder, Variable};
use cranelift_jit::JITModule;
use cranelift_module::{FuncId, Module};
use retrograd_compiler::ir::DType;
use retrograd_compiler::lower::kernel::{
    Address, Kernel, OnDisk, Order, Part, Place, Reached, Reg, RegType, RoutineCall, Seen, Stmt,
};
use retrograd_schedule::{Schedule, Sweep};

use crate::cancellation::UNKNOWN;
use crate::code::{Constants, STOPPED};
use crate::runtime::{Import, encode_order, encode_sweep};
use crate::thread_pool::LAUNCH_WORDS;
use arithmetic::Width;
pub(crate) use machine::Cranelift;
use machine::{imported, keeping};

/// Writes the body of a function of the arena, the inputs, the outputs, two words (the fault, and who observes), the
/// flag and the watch; those of `parts` get three parameters more: where their registers are, and their range.
fn lower(
    kernel: &Kernel,
    what: Body<'_>,
    constants: &Constants,
    parts: &[FuncId],
    wide: bool,
    module: &mut JITModule,
    builder: FunctionBuilder<'_>,
) {
    let mut lower = Lower::new(kernel, constants, parts, module, builder);
    lower.wide = wide;
    match what {
        Body::Whole => lower.statements(&kernel.body),
        Body::Part(part) => {
            lower.begin(part);
            lower.statements(&part.body);
        }
    }
    lower.builder.ins().return_(&[]);
    lower.builder.finalize(lower.config);
}

/// What a function is made of.
#[derive(Clone, Copy)]
enum Body<'k> {
    Whole,
    Part(&'k Part),
}

/// A function being written.
struct Lower<'k, 'b> {
    kernel: &'k Kernel,
    constants: &'k Constants,
    parts: &'k [FuncId],
    module: &'k mut JITModule,
    builder: FunctionBuilder<'b>,
    config: TargetFrontendConfig,
    /// Whether vector loops may have vectors of 512 bits.
    wide: bool,
    imports: Vec<(Import, FuncRef)>,
    /// Arena, inputs, outputs, fault, flag, watch.
    params: [Value; 6],
    /// By register, once it is used.
    variables: HashMap<Reg, Variable>,
    /// Where the loops around this place go on, innermost last.
    exits: Vec<Block>,
    /// Strip buffers, which all vector loops share.
    strips: Option<StackSlot>,
    /// Room for the few lanes that remain after a vector loop.
    few: Option<StackSlot>,
    /// Five words for the answer of a controller.
    action: Option<StackSlot>,
    /// Addresses for a routine.
    operands: Option<StackSlot>,
}

impl<'k, 'b> Lower<'k, 'b> {
    fn new(
        kernel: &'k Kernel,
        constants: &'k Constants,
        parts: &'k [FuncId],
        module: &'k mut JITModule,
        mut builder: FunctionBuilder<'b>,
    ) -> Lower<'k, 'b> {
        let entry = builder.create_block();
        builder.append_block_params_for_function_params(entry);
        builder.switch_to_block(entry);
        builder.seal_block(entry);
        let params = builder.block_params(entry)[..6].try_into().expect("six parameters come first");
        Lower {
            kernel,
            constants,
            parts,
            builder,
            config: module.target_config(),
            wide: false,
            module,
            imports: Vec::new(),
            params,
            variables: HashMap::new(),
            exits: Vec::new(),
            strips: None,
            few: None,
            action: None,
            operands: None,
        }
    }

    fn statements(&mut self, body: &'k [Stmt]) {
        for stmt in body {
            self.statement(stmt);
        }
    }

    fn statement(&mut self, stmt: &'k Stmt) {
        match stmt {
            Stmt::Literal { dst, bits } => {
                let value = self.literal(self.dtype(*dst), *bits);
                self.set(*dst, value);
            }
            Stmt::Let { dst, op, args } => {
                let ty = self.dtype(*args.last().expect("every scalar op has arguments"));
                let args: Vec<Value> = args.iter().map(|&arg| self.get(arg)).collect();
                let value = self.compute(Width::One, *op, ty, &args);
                self.set(*dst, value);
            }
            Stmt::Move { dst, src } => {
                let value = self.get(*src);
                self.set(*dst, value);
            }
            Stmt::Swap(a, b) => {
                let (x, y) = (self.get(*a), self.get(*b));
                self.set(*a, y);
                self.set(*b, x);
            }
            Stmt::Pointer { dst, to } => {
                let value = self.place(*to);
                self.set(*dst, value);
            }
            Stmt::Offset { dst, address } => {
                let value = self.address(address);
                self.set(*dst, value);
            }
            Stmt::Load { dst, from } => {
                let value = self.load(*dst, from);
                self.set(*dst, value);
            }
            Stmt::Store { to, src } => self.store(to, *src),
            Stmt::Copy { to, from, bytes } => self.copy(to, from, *bytes),
            Stmt::Zero { to, bytes } => self.zero(to, *bytes),
            Stmt::For { index, from, to, order, body } => {
                self.for_loop(*index, *from, *to, *order, |lower| lower.statements(body))
            }
            Stmt::ForVec { index, count, body, folds } => vector::for_vec(self, *index, *count, body, folds),
            Stmt::If { cond, then_body, else_body } => self.branch(*cond, then_body, else_body),
            Stmt::Loop { body } if driver::is_driver(body) => self.endless(|lower| driver::actions(lower, body)),
            Stmt::Loop { body } => self.endless(|lower| lower.statements(body)),
            Stmt::Leave => self.leave(),
            Stmt::Start { words, schedule, sweep, count, table } => self.start(words, schedule, *sweep, *count, *table),
            Stmt::Next { words, schedule, table, dst } => self.next(words, schedule, *table, *dst),
            Stmt::Call { call, args, result, scratch } => self.routine(*call, args, result, scratch),
            Stmt::Part(number) => self.part(*number),
            Stmt::Spill { to, from, bytes } => self.disk(Import::Spill, *to, from, *bytes),
            Stmt::Fetch { to, from, bytes } => self.disk(Import::Fetch, *from, to, *bytes),
            Stmt::ParallelFor { part, count, chunk } => self.spread(*part, *count, *chunk),
            Stmt::Poll { reached } => self.poll(*reached),
            Stmt::Fault { cond, site } => self.fault(*cond, *site),
            Stmt::Probe { site, seen, steps } => self.probe(*site, seen, steps),
            Stmt::OrderedScatter(_) => panic!("verified: only vector loops write in turn"),
        }
    }

    /// The trip test comes last, so that a loop has one jump per step; a first test guards it.
    fn for_loop(&mut self, index: Reg, from: Reg, to: Reg, order: Order, body: impl FnOnce(&mut Self)) {
        let (from, to) = (self.get(from), self.get(to));
        let (inside, after) = (self.builder.create_block(), self.builder.create_block());
        let some = self.builder.ins().icmp(IntCC::SignedLessThan, from, to);
        let first = match order {
            Order::Up => from,
            Order::Down => self.builder.ins().iadd_imm_s(to, -1),
        };
        self.set(index, first);
        self.builder.ins().brif(some, inside, &[], after, &[]);
        self.builder.switch_to_block(inside);
        body(self);
        let at = self.get(index);
        let (step, more) = match order {
            Order::Up => {
                let step = self.builder.ins().iadd_imm_s(at, 1);
                (step, self.builder.ins().icmp(IntCC::SignedLessThan, step, to))
            }
            Order::Down => {
                let more = self.builder.ins().icmp(IntCC::SignedGreaterThan, at, from);
                (self.builder.ins().iadd_imm_s(at, -1), more)
            }
        };
        self.set(index, step);
        self.builder.ins().brif(more, inside, &[], after, &[]);
        self.builder.seal_block(inside);
        self.continue_at(after);
    }

    fn branch(&mut self, cond: Reg, then_body: &'k [Stmt], else_body: &'k [Stmt]) {
        self.either(cond, |lower| lower.statements(then_body), |lower| lower.statements(else_body));
    }

    fn either(&mut self, cond: Reg, then_body: impl FnOnce(&mut Self), else_body: impl FnOnce(&mut Self)) {
        let cond = self.get(cond);
        let (then, otherwise, after) =
            (self.builder.create_block(), self.builder.create_block(), self.builder.create_block());
        self.builder.ins().brif(cond, then, &[], otherwise, &[]);
        self.continue_at(then);
        then_body(self);
        self.builder.ins().jump(after, &[]);
        self.continue_at(otherwise);
        else_body(self);
        self.builder.ins().jump(after, &[]);
        self.continue_at(after);
    }

    fn endless(&mut self, body: impl FnOnce(&mut Self)) {
        let (inside, after) = (self.builder.create_block(), self.builder.create_block());
        self.exits.push(after);
        self.builder.ins().jump(inside, &[]);
        self.builder.switch_to_block(inside);
        body(self);
        self.builder.ins().jump(inside, &[]);
        self.builder.seal_block(inside);
        self.exits.pop();
        self.continue_at(after);
    }

    fn leave(&mut self) {
        let exit = *self.exits.last().expect("verified: Leave stands inside a Loop");
        self.builder.ins().jump(exit, &[]);
        // What follows is never reached, but statements may follow.
        let unreachable = self.builder.create_block();
        self.continue_at(unreachable);
    }

    fn start(&mut self, words: &Address, schedule: &Schedule, sweep: Sweep, count: Reg, table: Option<Reg>) {
        let words = self.address(words);
        let length = self.integer(schedule.words() as i64);
        match schedule {
            Schedule::Nothing => panic!("a loop of which nothing is kept has no controller"),
            Schedule::Recipe(_) => {
                let [table, size] = self.table(schedule, table);
                self.call(Import::StartRecipe, &[words, length, table, size]);
            }
            Schedule::Revolve { slots, state_bytes } => {
                let count = self.get(count);
                let constants = [slots.cast_signed(), state_bytes.cast_signed(), encode_sweep(sweep)];
                let [slots, state, sweep] = constants.map(|word| self.integer(word));
                self.call(Import::StartRevolve, &[words, length, slots, state, sweep, count]);
            }
            Schedule::Online { slots, state_bytes } => {
                let [slots, state] = [slots, state_bytes].map(|word| self.integer(word.cast_signed()));
                self.call(Import::StartOnline, &[words, length, slots, state]);
            }
            Schedule::Blocks(_) => {
                let [table, size] = self.table(schedule, table);
                let (sweep, count) = (self.integer(encode_sweep(sweep)), self.get(count));
                self.call(Import::StartBlocks, &[words, length, table, size, sweep, count]);
            }
        }
    }

    /// Address and length of a schedule's table.
    fn table(&mut self, schedule: &Schedule, table: Option<Reg>) -> [Value; 2] {
        let length = self.integer(schedule.table().len() as i64);
        let address = match table {
            Some(table) => self.get(table),
            None => self.integer(0),
        };
        [address, length]
    }

    fn next(&mut self, words: &Address, schedule: &Schedule, table: Option<Reg>, dst: [Reg; 5]) {
        let slot = *self.action.get_or_insert_with(|| {
            self.builder.create_sized_stack_slot(StackSlotData::new(StackSlotKind::ExplicitSlot, 40, 4))
        });
        let words = self.address(words);
        let length = self.integer(schedule.words() as i64);
        let [table, size] = self.table(schedule, table);
        let action = self.builder.ins().stack_addr(types::I64, slot, 0);
        self.call(Import::Next, &[words, length, table, size, action]);
        for (k, dst) in (0..).zip(dst) {
            let value = self.builder.ins().load(types::I64, FLAGS, action, 8 * k);
            self.set(dst, value);
        }
    }

    fn routine(&mut self, call: u32, args: &[Address], result: &Address, scratch: &[Address]) {
        let operands = |call: &RoutineCall| call.args.len() + 1 + call.scratch.len();
        let most = self.kernel.calls.iter().map(operands).max().expect("a call has its number") as u32;
        let slot = *self.operands.get_or_insert_with(|| {
            self.builder.create_sized_stack_slot(StackSlotData::new(StackSlotKind::ExplicitSlot, 8 * most, 3))
        });
        let addresses = self.builder.ins().stack_addr(types::I64, slot, 0);
        for (k, operand) in (0..).zip(args.iter().chain([result]).chain(scratch)) {
            let operand = self.address(operand);
            self.builder.ins().store(FLAGS, operand, addresses, 8 * k);
        }
        let call = self.constant_address(self.constants.calls[call as usize]);
        self.call(Import::Routine, &[call, addresses]);
    }

    /// Runs a part, which finds its registers in words of ours.
    fn part(&mut self, number: u32) {
        let words = self.registers(number);
        let function = self.function(number);
        let zero = self.integer(0);
        let args: Vec<Value> = self.params.into_iter().chain([words, zero, zero]).collect();
        self.builder.ins().call(function, &args);
        self.return_if_stopped();
    }

    /// What was stopped, or faulted, ends its caller, too.
    fn return_if_stopped(&mut self) {
        let (stopped, after) = (self.builder.create_block(), self.builder.create_block());
        self.builder.set_cold_block(stopped);
        let fault = self.builder.ins().load(types::I64, FLAGS, self.params[3], 0);
        self.builder.ins().brif(fault, stopped, &[], after, &[]);
        self.continue_at(stopped);
        self.builder.ins().return_(&[]);
        self.continue_at(after);
    }

    /// Writes a launch down, and hands it to the pool.
    fn spread(&mut self, number: u32, count: u64, chunk: u64) {
        let words = self.registers(number);
        let function = self.function(number);
        let function = self.builder.ins().func_addr(types::I64, function);
        let [count, chunk] = [count, chunk].map(|number| self.integer(number.cast_signed()));
        let fields: Vec<Value> = [function].into_iter().chain(self.params).chain([words, count, chunk]).collect();
        assert_eq!(fields.len(), LAUNCH_WORDS, "a launch is written down whole");
        let launch = self.stack_words(fields.len());
        for (k, field) in (0..).zip(fields) {
            self.builder.ins().store(FLAGS, field, launch, 8 * k);
        }
        self.call(Import::Spread, &[launch]);
        self.return_if_stopped();
    }

    fn function(&mut self, part: u32) -> FuncRef {
        let function = self.module.declare_func_in_func(self.parts[part as usize], self.builder.func);
        // Every function has memory of its own, which may be further away than a near call reaches.
        self.builder.func.dfg.ext_funcs[function].colocated = false;
        function
    }

    /// What a part gets, in words of ours.
    fn registers(&mut self, part: u32) -> Value {
        let params = &self.kernel.parts[part as usize].params;
        let words = self.stack_words(params.len());
        for (k, reg) in (0..).zip(params) {
            let value = self.get(*reg);
            self.builder.ins().store(FLAGS, value, words, 8 * k);
        }
        words
    }

    fn stack_words(&mut self, count: usize) -> Value {
        let data = StackSlotData::new(StackSlotKind::ExplicitSlot, 8 * count as u32, 3);
        let slot = self.builder.create_sized_stack_slot(data);
        self.builder.ins().stack_addr(types::I64, slot, 0)
    }

    /// The registers of a part are in the words that the parameter after the usual ones points to; its range comes
    /// last.
    fn begin(&mut self, part: &Part) {
        let entry = self.builder.current_block().expect("it is being written");
        let [words, from, to] =
            self.builder.block_params(entry)[6..].try_into().expect("a part has three parameters more");
        for (k, reg) in (0..).zip(&part.params) {
            let value = self.builder.ins().load(native(self.kernel.regs[reg.0 as usize]), FLAGS, words, 8 * k);
            self.set(*reg, value);
        }
        for (reg, value) in part.range.into_iter().flatten().zip([from, to]) {
            self.set(reg, value);
        }
    }

    /// The load is atomic, so that it is not taken for another that came before it.
    fn poll(&mut self, reached: Option<Reached>) {
        let [_, _, _, fault, flag, watch] = self.params;
        let [raised, after] = [(); 2].map(|()| self.builder.create_block());
        self.builder.set_cold_block(raised);
        let up = self.builder.ins().atomic_load(types::I8, FLAGS, flag);
        self.builder.ins().brif(up, raised, &[], after, &[]);
        self.continue_at(raised);
        let [part, step, steps, order] = self.reached(reached);
        self.call(Import::Stops, &[watch, part, step, steps, order, fault]);
        self.return_if_stopped();
        self.builder.ins().jump(after, &[]);
        self.continue_at(after);
    }

    /// What [`Import::Stops`] is told of how far the run is.
    fn reached(&mut self, reached: Option<Reached>) -> [Value; 4] {
        let Some(Reached { number, order, step, steps }) = reached else {
            return [UNKNOWN; 4].map(|word| self.integer(word));
        };
        let steps = if let Some(steps) = steps { self.get(steps) } else { self.integer(UNKNOWN) };
        [self.integer(i64::from(number)), self.get(step), steps, self.integer(encode_order(order))]
    }

    /// Writes or reads a state on the disk, whose file is in the second word after the fault; the run ends where that
    /// fails.
    fn disk(&mut self, import: Import, at: OnDisk, memory: &Address, bytes: u64) {
        let fault = self.params[3];
        let (failed, after) = (self.builder.create_block(), self.builder.create_block());
        self.builder.set_cold_block(failed);
        let (place, step, memory) = (self.get(at.place), self.get(at.step), self.address(memory));
        let file = self.builder.ins().load(types::I64, FLAGS, fault, 16);
        let [first, bytes, code] =
            [at.first.cast_signed(), bytes.cast_signed(), STOPPED].map(|word| self.integer(word));
        let at = self.builder.ins().iadd(place, first);
        let fails = self.call(import, &[file, at, step, memory, bytes]).expect("it answers");
        self.builder.ins().brif(fails, failed, &[], after, &[]);
        self.continue_at(failed);
        self.builder.ins().store(FLAGS, code, fault, 0);
        self.builder.ins().return_(&[]);
        self.continue_at(after);
    }

    /// Hands the address of the value and of the steps to the observer, whose address is in the word after the fault.
    fn probe(&mut self, site: u32, seen: &Seen, steps: &[Reg]) {
        let bytes = 8 * (steps.len() as u32 + 1);
        let slot = self.builder.create_sized_stack_slot(StackSlotData::new(StackSlotKind::ExplicitSlot, bytes, 4));
        for (k, step) in (1..).zip(steps) {
            let value = self.get(*step);
            self.builder.ins().stack_store(types::I64, value, slot, 8 * k);
        }
        let first = self.builder.ins().stack_addr(types::I64, slot, 8);
        let at = match seen {
            Seen::Memory(address) => self.address(address),
            Seen::Register(reg) => {
                let value = self.get(*reg);
                self.builder.ins().stack_store(types::I64, value, slot, 0);
                self.builder.ins().stack_addr(types::I64, slot, 0)
            }
        };
        let observer = self.builder.ins().load(types::I64, FLAGS, self.params[3], 8);
        let [site, count] = [i64::from(site), steps.len() as i64].map(|word| self.integer(word));
        self.call(Import::Probe, &[observer, site, at, first, count]);
    }

    /// The first fault ends the run: every loop and every part around it is left.
    fn fault(&mut self, cond: Reg, site: u32) {
        let cond = self.get(cond);
        let word = self.params[3];
        let (faulty, after) = (self.builder.create_block(), self.builder.create_block());
        self.builder.set_cold_block(faulty);
        self.builder.ins().brif(cond, faulty, &[], after, &[]);
        self.continue_at(faulty);
        let site = self.integer(i64::from(site) + 1);
        self.builder.ins().store(FLAGS, site, word, 0);
        self.builder.ins().return_(&[]);
        self.continue_at(after);
    }

    /// The address of a buffer.
    fn place(&mut self, place: Place) -> Value {
        let [arena, inputs, outputs, ..] = self.params;
        match place {
            Place::Arena(offset) => self.builder.ins().iadd_imm_s(arena, offset.cast_signed()),
            Place::Input(k) => self.builder.ins().load(types::I64, FLAGS, inputs, offset32(8 * i64::from(k))),
            Place::Output(k) => self.builder.ins().load(types::I64, FLAGS, outputs, offset32(8 * i64::from(k))),
            Place::Literal(k) => self.constant_address(self.constants.literals[k as usize]),
        }
    }

    /// A constant of an element type.
    fn literal(&mut self, ty: DType, bits: u64) -> Value {
        match ty {
            DType::F32 => self.builder.ins().f32const(f32::from_bits(bits as u32)),
            DType::F64 => self.builder.ins().f64const(f64::from_bits(bits)),
            DType::I32 => self.builder.ins().iconst(types::I32, bits.cast_signed()),
            DType::I64 => self.integer(bits.cast_signed()),
            DType::Bool => self.builder.ins().iconst(types::I8, i64::from(bits != 0)),
        }
    }

    fn constant_address<T>(&mut self, address: *const T) -> Value {
        self.integer((address as usize).cast_signed() as i64)
    }

    fn integer(&mut self, value: i64) -> Value {
        self.builder.ins().iconst(types::I64, value)
    }

    fn call(&mut self, import: Import, args: &[Value]) -> Option<Value> {
        let function = self.import(import);
        let call = self.builder.ins().call(function, args);
        self.builder.inst_results(call).first().copied()
    }

    /// A function of ours, declared when it is first called.
    fn import(&mut self, import: Import) -> FuncRef {
        if let Some((_, function)) = self.imports.iter().find(|(known, _)| *known == import) {
            return *function;
        }
        let id = if import.is_between_steps() { keeping(self.module, import) } else { imported(self.module, import) };
        let function = self.module.declare_func_in_func(id, self.builder.func);
        // Every function has memory of its own, which may be further away than a near call reaches.
        self.builder.func.dfg.ext_funcs[function].colocated = false;
        self.imports.push((import, function));
        function
    }

    fn get(&mut self, reg: Reg) -> Value {
        let variable = self.variable(reg);
        self.builder.use_var(variable)
    }

    fn set(&mut self, reg: Reg, value: Value) {
        let variable = self.variable(reg);
        self.builder.def_var(variable, value);
    }

    fn variable(&mut self, reg: Reg) -> Variable {
        *self.variables.entry(reg).or_insert_with(|| self.builder.declare_var(native(self.kernel.regs[reg.0 as usize])))
    }

    fn dtype(&self, reg: Reg) -> DType {
        match self.kernel.regs[reg.0 as usize] {
            RegType::Scalar(ty) => ty,
            RegType::Pointer => panic!("verified: arithmetic is on numbers, not on pointers"),
        }
    }

    /// Goes on in a block that has all its predecessors.
    fn continue_at(&mut self, block: Block) {
        self.builder.switch_to_block(block);
        self.builder.seal_block(block);
    }
}

/// Memory accesses never trap: the plan made room for all of them. Nothing is said about alignment, because vectors
/// have only that of their elements.
const FLAGS: MemFlagsData = MemFlagsData::new().with_notrap();

/// The type of a register in scalar code.
fn native(ty: RegType) -> Type {
    match ty {
        RegType::Pointer => types::I64,
        RegType::Scalar(ty) => Width::One.native(ty),
    }
}

/// A constant offset of a load or store.
fn offset32(offset: i64) -> i32 {
    i32::try_from(offset).expect("offsets beyond 2 GB are added to the address")
}
