//! The loop IR, one number at a time.

use retrograd_compiler::ir::{Array, DType, Data, Reduction, Scalar, Type};
use retrograd_compiler::lower::kernel::{
    ActionCode, Address, Fold, Kernel, Order, OrderedWrite, Place, Reg, RegType, Stmt,
};
use retrograd_compiler::ops::{Meaning, SUM_CHUNK, SUM_LANES, evaluate, lanes, meaning};
use retrograd_schedule::{self as schedule, Action, Run, Schedule};

/// What a run gives.
pub struct Outcome {
    pub outputs: Vec<Array>,
    pub fault: Option<u32>,
}

/// Runs a kernel.
pub fn interpret(kernel: &Kernel, inputs: &[&Array], outputs: &[Type]) -> Outcome {
    let mut memory = vec![vec![0_u8; kernel.arena_bytes]];
    memory.extend(inputs.iter().map(|array| to_bytes(array)));
    memory.extend(outputs.iter().map(|ty| vec![0; ty.bytes()]));
    memory.extend(kernel.literals.iter().map(to_bytes));
    let mut machine = Machine {
        kernel,
        regs: vec![Word::default(); kernel.regs.len()],
        memory,
        inputs: inputs.len(),
        outputs: outputs.len(),
        schedules: Vec::new(),
        fault: None,
    };
    machine.run(&kernel.body);
    let outputs =
        outputs.iter().enumerate().map(|(k, ty)| from_bytes(ty, &machine.memory[1 + inputs.len() + k])).collect();
    Outcome { outputs, fault: machine.fault }
}

/// Bits of a number, or an offset in a buffer.
#[derive(Clone, Copy, Default)]
struct Word {
    buffer: usize,
    bits: u64,
}

struct Machine<'k> {
    kernel: &'k Kernel,
    regs: Vec<Word>,
    /// Arena, inputs, outputs, literals.
    memory: Vec<Vec<u8>>,
    inputs: usize,
    outputs: usize,
    schedules: Vec<((usize, usize), Schedule)>,
    fault: Option<u32>,
}

/// How a body ends.
#[derive(PartialEq)]
enum Flow {
    On,
    Left,
    /// By a fault, which ends everything.
    Ended,
}

impl<'k> Machine<'k> {
    /// Registers that a part assigns are its own.
    fn part(&mut self, number: u32, from: u64, to: u64) -> Flow {
        let part = &self.kernel.parts[number as usize];
        let mut own = vec![Word::default(); self.regs.len()];
        part.params.iter().for_each(|reg| own[reg.0 as usize] = self.regs[reg.0 as usize]);
        let ours = std::mem::replace(&mut self.regs, own);
        for (reg, index) in part.range.into_iter().flatten().zip([from, to]) {
            self.set(reg, index);
        }
        let flow = self.run(&part.body);
        self.regs = ours;
        flow
    }

    /// Chunks may run in any order; of faults the one of the lowest index counts.
    fn spread(&mut self, part: u32, count: u64, chunk: u64) -> Flow {
        let chunks = (0..count.div_ceil(chunk)).rev().map(|k| k * chunk);
        let ended = chunks.filter(|from| self.part(part, *from, (from + chunk).min(count)) == Flow::Ended).count();
        if ended > 0 { Flow::Ended } else { Flow::On }
    }

    fn run(&mut self, body: &'k [Stmt]) -> Flow {
        for stmt in body {
            let flow = self.statement(stmt);
            if flow != Flow::On {
                return flow;
            }
        }
        Flow::On
    }

    fn statement(&mut self, stmt: &'k Stmt) -> Flow {
        match stmt {
            Stmt::Literal { dst, bits } => self.set(*dst, *bits),
            Stmt::Let { dst, op, args } => {
                let ty = self.dtype(args[args.len() - 1]);
                let args: Vec<u64> = args.iter().map(|&arg| self.get(arg)).collect();
                self.set(*dst, scalar(*op, ty, &args));
            }
            Stmt::Move { dst, src } => self.regs[dst.0 as usize] = self.regs[src.0 as usize],
            Stmt::Swap(a, b) => self.regs.swap(a.0 as usize, b.0 as usize),
            Stmt::Pointer { dst, to } => {
                let (buffer, bits) = match to {
                    Place::Arena(offset) => (0, *offset),
                    Place::Input(k) => (1 + *k as usize, 0),
                    Place::Output(k) => (1 + self.inputs + *k as usize, 0),
                    Place::Literal(k) => (1 + self.inputs + self.outputs + *k as usize, 0),
                };
                self.regs[dst.0 as usize] = Word { buffer, bits };
            }
            Stmt::Offset { dst, address } => {
                let (buffer, at) = self.address(address);
                self.regs[dst.0 as usize] = Word { buffer, bits: at as u64 };
            }
            Stmt::Load { dst, from } => {
                let (buffer, at) = self.address(from);
                let mut bytes = [0; 8];
                let size = self.dtype(*dst).bytes();
                bytes[..size].copy_from_slice(&self.memory[buffer][at..at + size]);
                self.set(*dst, u64::from_le_bytes(bytes));
            }
            Stmt::Store { to, src } => {
                let (buffer, at) = self.address(to);
                let size = self.dtype(*src).bytes();
                let bytes = self.get(*src).to_le_bytes();
                self.memory[buffer][at..at + size].copy_from_slice(&bytes[..size]);
            }
            Stmt::OrderedScatter(turns) => turns.iter().for_each(|turn| self.turn(turn)),
            Stmt::Copy { to, from, bytes } => {
                let ((to, at), (from, begin)) = (self.address(to), self.address(from));
                let copied = self.memory[from][begin..begin + *bytes as usize].to_vec();
                self.memory[to][at..at + *bytes as usize].copy_from_slice(&copied);
            }
            Stmt::Zero { to, bytes } => {
                let (to, at) = self.address(to);
                self.memory[to][at..at + *bytes as usize].fill(0);
            }
            Stmt::For { index, from, to, order, body } => return self.for_loop(*index, *from, *to, *order, body),
            Stmt::ForVec { index, count, body, folds } => self.for_vec(*index, *count, body, folds),
            Stmt::If { cond, then_body, else_body } => {
                return if self.get(*cond) != 0 { self.run(then_body) } else { self.run(else_body) };
            }
            Stmt::Loop { body } => loop {
                match self.run(body) {
                    Flow::On => {}
                    Flow::Left => break,
                    Flow::Ended => return Flow::Ended,
                }
            },
            Stmt::Leave => return Flow::Left,
            Stmt::Start { words, schedule, sweep, count, .. } => {
                let place = self.address(words);
                self.schedules.push((place, schedule.clone()));
                let count = self.get(*count);
                self.control(place, |words| schedule::start(words, schedule, *sweep, count));
            }
            Stmt::Next { words, schedule, dst, .. } => {
                let place = self.address(words);
                let action = self.control(place, |words| schedule::next(words, &schedule.table()));
                for (dst, word) in dst.iter().zip(encode(action)) {
                    self.set(*dst, word);
                }
            }
            Stmt::Call { call, args, result, .. } => {
                let call = &self.kernel.calls[*call as usize];
                let load = |(ty, address): (&Type, &Address)| {
                    let (buffer, at) = self.address(address);
                    from_bytes(ty, &self.memory[buffer][at..at + ty.bytes()])
                };
                let args: Vec<Array> = call.args.iter().zip(args).map(load).collect();
                let made = call.routine.evaluate(&args.iter().collect::<Vec<_>>(), &call.attrs, &call.result);
                let (buffer, at) = self.address(result);
                self.memory[buffer][at..at + call.result.bytes()].copy_from_slice(&to_bytes(&made));
            }
            Stmt::Part(number) => return self.part(*number, 0, 0),
            Stmt::ParallelFor { part, count, chunk } => return self.spread(*part, *count, *chunk),
            Stmt::Spill { .. } | Stmt::Fetch { .. } => panic!("nothing is spilled here"),
            // Nobody stops it.
            Stmt::Poll { .. } => {}
            Stmt::Probe { .. } => {}
            Stmt::Fault { cond, site } => {
                if self.get(*cond) != 0 {
                    self.fault = Some(*site);
                    return Flow::Ended;
                }
            }
        }
        Flow::On
    }

    fn turn(&mut self, turn: &OrderedWrite) {
        let (buffer, at) = self.address(&turn.to);
        let ty = self.dtype(turn.src);
        let place = at..at + ty.bytes();
        let mut old = [0; 8];
        old[..ty.bytes()].copy_from_slice(&self.memory[buffer][place.clone()]);
        let (old, src) = (u64::from_le_bytes(old), self.get(turn.src));
        let new = turn.op.map_or(src, |op| scalar(op, ty, &[old, src]));
        self.memory[buffer][place].copy_from_slice(&new.to_le_bytes()[..ty.bytes()]);
    }

    fn for_loop(&mut self, index: Reg, from: Reg, to: Reg, order: Order, body: &'k [Stmt]) -> Flow {
        let (from, to) = (self.get(from).cast_signed(), self.get(to).cast_signed());
        for k in from..to {
            let at = match order {
                Order::Up => k,
                Order::Down => to - 1 - (k - from),
            };
            self.set(index, at.cast_unsigned());
            let flow = self.run(body);
            if flow != Flow::On {
                return flow;
            }
        }
        Flow::On
    }

    fn for_vec(&mut self, index: Reg, count: u64, body: &'k [Stmt], folds: &[Fold]) {
        let mut terms = vec![Vec::new(); folds.len()];
        for step in 0..count {
            self.set(index, step);
            self.run(body);
            for (terms, fold) in terms.iter_mut().zip(folds) {
                terms.push(self.get(fold.src));
            }
        }
        for (terms, fold) in terms.iter().zip(folds) {
            self.set(fold.dst, blocked(terms, fold.how, self.dtype(fold.src)));
        }
    }

    fn control<T>(&mut self, place: (usize, usize), act: impl FnOnce(&mut [i64]) -> T) -> T {
        let (_, schedule) = self.schedules.iter().rev().find(|(other, _)| *other == place).expect("started");
        let (buffer, at) = place;
        let bytes = &mut self.memory[buffer][at..at + 8 * schedule.words()];
        let mut words: Vec<i64> = bytes.chunks(8).map(|word| i64::from_le_bytes(word.try_into().unwrap())).collect();
        let result = act(&mut words);
        for (bytes, word) in bytes.chunks_mut(8).zip(words) {
            bytes.copy_from_slice(&word.to_le_bytes());
        }
        result
    }

    fn address(&self, address: &Address) -> (usize, usize) {
        let base = self.regs[address.base.0 as usize];
        let terms: i64 = address.terms.iter().map(|&(reg, stride)| self.get(reg).cast_signed() * stride).sum();
        (base.buffer, usize::try_from(base.bits.cast_signed() + terms + address.offset).expect("inside a buffer"))
    }

    fn get(&self, reg: Reg) -> u64 {
        self.regs[reg.0 as usize].bits
    }

    fn set(&mut self, reg: Reg, bits: u64) {
        self.regs[reg.0 as usize].bits = bits;
    }

    fn dtype(&self, reg: Reg) -> DType {
        let RegType::Scalar(ty) = self.kernel.regs[reg.0 as usize] else { panic!("a number") };
        ty
    }
}

/// The order that `Fold` documents.
fn blocked(terms: &[u64], how: Reduction, ty: DType) -> u64 {
    let combine = |a: u64, b: u64| scalar(how.scalar(), ty, &[a, b]);
    let mut total = how.identity(ty);
    for chunk in terms.chunks(SUM_CHUNK) {
        let mut partials = vec![how.identity(ty); SUM_LANES];
        for (k, term) in chunk.iter().enumerate() {
            partials[k % SUM_LANES] = combine(partials[k % SUM_LANES], *term);
        }
        while partials.len() > 1 {
            let half = partials.len() / 2;
            partials = (0..half).map(|l| combine(partials[l], partials[l + half])).collect();
        }
        total = combine(total, partials[0]);
    }
    total
}

fn scalar(op: Scalar, ty: DType, args: &[u64]) -> u64 {
    match (op, ty) {
        (Scalar::Select, _) => {
            if args[0] != 0 {
                args[1]
            } else {
                args[2]
            }
        }
        (Scalar::Convert(DType::F32 | DType::I32), _) | (_, DType::F32 | DType::I32) => narrow(op, ty, args),
        (Scalar::Convert(to), _) => convert(ty, to, args[0]),
        (_, DType::F64) => float(op, &args.iter().map(|&bits| f64::from_bits(bits)).collect::<Vec<f64>>()),
        (_, DType::I64) => integer(op, &args.iter().map(|&bits| bits.cast_signed()).collect::<Vec<i64>>()),
        (_, DType::Bool) => truth(op, &args.iter().map(|&bits| bits != 0).collect::<Vec<bool>>()),
    }
}

/// What the table says of numbers of 32 bits; of a division by zero, what machine code goes on with.
fn narrow(op: Scalar, ty: DType, args: &[u64]) -> u64 {
    let arrays: Vec<Array> =
        args.iter().map(|bits| from_bytes(&Type::scalar(ty), &bits.to_le_bytes()[..ty.bytes()])).collect();
    let result = match op {
        Scalar::Lt
        | Scalar::Le
        | Scalar::Gt
        | Scalar::Ge
        | Scalar::Eq
        | Scalar::Ne
        | Scalar::IsNan
        | Scalar::IsFinite => DType::Bool,
        Scalar::Convert(to) => to,
        _ => ty,
    };
    match evaluate(op, &arrays.iter().collect::<Vec<_>>(), &Type::scalar(result)) {
        Ok(array) => word(&to_bytes(&array)),
        Err(_) if op == Scalar::Rem => 0,
        Err(_) => args[0],
    }
}

fn float(op: Scalar, x: &[f64]) -> u64 {
    match op {
        Scalar::Add => (x[0] + x[1]).to_bits(),
        Scalar::Sub => (x[0] - x[1]).to_bits(),
        Scalar::Mul => (x[0] * x[1]).to_bits(),
        Scalar::Div => (x[0] / x[1]).to_bits(),
        Scalar::Fma => x[0].mul_add(x[1], x[2]).to_bits(),
        Scalar::Clamp => lanes::min(lanes::max(x[0], x[1]), x[2]).to_bits(),
        Scalar::Neg => (-x[0]).to_bits(),
        Scalar::Sqrt => x[0].sqrt().to_bits(),
        Scalar::Abs => x[0].abs().to_bits(),
        Scalar::Sign => lanes::sign(x[0]).to_bits(),
        Scalar::Min => lanes::min(x[0], x[1]).to_bits(),
        Scalar::Max => lanes::max(x[0], x[1]).to_bits(),
        Scalar::Floor => lanes::floor(x[0]).to_bits(),
        Scalar::Ceil => lanes::ceil(x[0]).to_bits(),
        Scalar::Round => lanes::round(x[0]).to_bits(),
        Scalar::Trunc => lanes::trunc(x[0]).to_bits(),
        Scalar::CopySign => lanes::copysign(x[0], x[1]).to_bits(),
        Scalar::IsNan => u64::from(x[0].is_nan()),
        Scalar::IsFinite => u64::from(x[0].is_finite()),
        Scalar::Call(function) => match meaning(function) {
            Meaning::One(f) => f(x[0]).to_bits(),
            Meaning::Two(f) => f(x[0], x[1]).to_bits(),
        },
        op => u64::from(relation(op, x)),
    }
}

fn integer(op: Scalar, x: &[i64]) -> u64 {
    match op {
        Scalar::Add => x[0].wrapping_add(x[1]).cast_unsigned(),
        Scalar::Sub => x[0].wrapping_sub(x[1]).cast_unsigned(),
        Scalar::Mul => x[0].wrapping_mul(x[1]).cast_unsigned(),
        Scalar::Div => if x[1] == 0 { x[0] } else { x[0].wrapping_div(x[1]) }.cast_unsigned(),
        Scalar::Rem => if x[1] == 0 { 0 } else { x[0].wrapping_rem(x[1]) }.cast_unsigned(),
        Scalar::Clamp => x[0].max(x[1]).min(x[2]).cast_unsigned(),
        Scalar::And => (x[0] & x[1]).cast_unsigned(),
        Scalar::Or => (x[0] | x[1]).cast_unsigned(),
        Scalar::Xor => (x[0] ^ x[1]).cast_unsigned(),
        Scalar::Not => (!x[0]).cast_unsigned(),
        Scalar::Shl => if (0..64).contains(&x[1]) { x[0] << x[1] } else { 0 }.cast_unsigned(),
        Scalar::Shr => (x[0] >> if (0..64).contains(&x[1]) { x[1] } else { 63 }).cast_unsigned(),
        Scalar::Neg => x[0].wrapping_neg().cast_unsigned(),
        Scalar::Abs => x[0].wrapping_abs().cast_unsigned(),
        Scalar::Sign => x[0].signum().cast_unsigned(),
        Scalar::Min => x[0].min(x[1]).cast_unsigned(),
        Scalar::Max => x[0].max(x[1]).cast_unsigned(),
        op => u64::from(relation(op, x)),
    }
}

fn truth(op: Scalar, x: &[bool]) -> u64 {
    u64::from(match op {
        Scalar::And => x[0] && x[1],
        Scalar::Or => x[0] || x[1],
        Scalar::Xor => x[0] != x[1],
        Scalar::Not => !x[0],
        op => relation(op, x),
    })
}

fn relation<T: PartialOrd>(op: Scalar, x: &[T]) -> bool {
    match op {
        Scalar::Lt => x[0] < x[1],
        Scalar::Le => x[0] <= x[1],
        Scalar::Gt => x[0] > x[1],
        Scalar::Ge => x[0] >= x[1],
        Scalar::Eq => x[0] == x[1],
        Scalar::Ne => x[0] != x[1],
        op => panic!("{op:?} is no relation"),
    }
}

fn convert(from: DType, to: DType, bits: u64) -> u64 {
    match (from, to) {
        (DType::F64, DType::I64) => (f64::from_bits(bits) as i64).cast_unsigned(),
        (DType::I64, DType::F64) => (bits.cast_signed() as f64).to_bits(),
        (DType::F64, DType::Bool) => u64::from(f64::from_bits(bits) != 0.0),
        (DType::I64, DType::Bool) => u64::from(bits != 0),
        (DType::Bool, DType::F64) => (bits as f64).to_bits(),
        (_, _) => bits,
    }
}

fn encode(action: Action) -> [u64; 5] {
    match action {
        Action::Advance { from, to } => [ActionCode::Advance as u64, from, to, 0, 0],
        Action::Snapshot { at, step } => [ActionCode::Snapshot as u64, step, 0, at, 0],
        Action::Restore { at, step } => [ActionCode::Restore as u64, step, 0, at.unwrap_or(u64::MAX), 0],
        Action::Tape { from, to, at, choice } => [ActionCode::Tape as u64, from, to, at, choice],
        Action::Reverse { from, to, at, choice } => [ActionCode::Reverse as u64, from, to, at, choice],
        Action::Youturn { step } => [ActionCode::Youturn as u64, step, 0, 0, 0],
        Action::Turn => [ActionCode::Turn as u64, 0, 0, 0, 0],
        Action::Spill { at, step } => [ActionCode::Spill as u64, step, 0, at, 0],
        Action::Fetch { at, step } => [ActionCode::Fetch as u64, step, 0, at, 0],
        Action::Done => [ActionCode::Done as u64, 0, 0, 0, 0],
        Action::Run(Run::Ascend { from, to, first, last }) => [ActionCode::Ascend as u64, from, to, first, last],
        Action::Run(Run::Descend { to, first, last }) => [ActionCode::Descend as u64, 0, to, first, last],
        Action::Run(Run::Replay { from, to, at }) => [ActionCode::Replay as u64, from, to, at.unwrap_or(u64::MAX), 0],
    }
}

fn to_bytes(array: &Array) -> Vec<u8> {
    match array.data() {
        Data::F64(x) => x.iter().flat_map(|x| x.to_le_bytes()).collect(),
        Data::I64(x) => x.iter().flat_map(|x| x.to_le_bytes()).collect(),
        Data::Bool(x) => x.iter().map(|&x| u8::from(x)).collect(),
        Data::F32(x) => x.iter().flat_map(|x| x.to_le_bytes()).collect(),
        Data::I32(x) => x.iter().flat_map(|x| x.to_le_bytes()).collect(),
    }
}

/// Up to eight bytes, zero-extended.
fn word(bytes: &[u8]) -> u64 {
    bytes.iter().rev().fold(0, |word, byte| word << 8 | u64::from(*byte))
}

fn from_bytes(ty: &Type, bytes: &[u8]) -> Array {
    let data = match ty.dtype {
        DType::F64 => Data::F64(bytes.chunks(8).map(|bytes| f64::from_bits(word(bytes))).collect()),
        DType::I64 => Data::I64(bytes.chunks(8).map(|bytes| word(bytes).cast_signed()).collect()),
        DType::Bool => Data::Bool(bytes.iter().map(|&byte| byte != 0).collect()),
        DType::F32 => Data::F32(bytes.chunks(4).map(|bytes| f32::from_bits(word(bytes) as u32)).collect()),
        DType::I32 => Data::I32(bytes.chunks(4).map(|bytes| (word(bytes) as u32).cast_signed()).collect()),
    };
    Array::new(ty.shape.clone(), data)
}
