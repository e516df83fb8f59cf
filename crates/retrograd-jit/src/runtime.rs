//! What machine code calls.

use cranelift_codegen::ir::{AbiParam, Signature, Type, types};
use cranelift_codegen::isa::CallConv;
use retrograd_compiler::fuse::kernel::{ActionCode, RoutineCall};
use retrograd_compiler::ir::{DType, LaneFunction, Slice, SliceMut, Type as ArrayType};
use retrograd_compiler::plan::schedule::{self, Action, Schedule, Sweep};

use crate::blocks::{FUNCTIONS, callee};
use crate::observer::probe;
use crate::watch::Watch;

/// A function of ours that machine code calls.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Import {
    /// A function of single numbers.
    One(LaneFunction),
    /// The same over many numbers.
    Block(LaneFunction),
    /// Starts a schedule.
    Start,
    /// Asks a schedule for its next action.
    Next,
    /// Calls a routine.
    Routine,
    /// Asks whether to stop.
    Stops,
    /// Shows a value.
    Probe,
}

impl Import {
    /// All of them.
    pub(crate) fn all() -> impl Iterator<Item = Import> {
        let functions = FUNCTIONS.iter().flat_map(|&function| [Import::One(function), Import::Block(function)]);
        functions.chain([Import::Start, Import::Next, Import::Routine, Import::Stops, Import::Probe])
    }

    /// Its name for the linker.
    pub(crate) fn name(self) -> String {
        match self {
            Import::One(function) => format!("retrograd_one_{function:?}"),
            Import::Block(function) => format!("retrograd_block_{function:?}"),
            Import::Start => "retrograd_start".to_owned(),
            Import::Next => "retrograd_next".to_owned(),
            Import::Routine => "retrograd_routine".to_owned(),
            Import::Stops => "retrograd_stops".to_owned(),
            Import::Probe => "retrograd_probe".to_owned(),
        }
    }

    /// Where it is.
    pub(crate) fn address(self) -> *const u8 {
        match self {
            Import::One(function) => callee(function).one,
            Import::Block(function) => callee(function).block,
            Import::Start => start as *const u8,
            Import::Next => next as *const u8,
            Import::Routine => routine as *const u8,
            Import::Stops => stops as *const u8,
            Import::Probe => probe as *const u8,
        }
    }

    /// Its parameters and result.
    pub(crate) fn signature(self, call_conv: CallConv) -> Signature {
        let (params, returns): (&[Type], &[Type]) = match self {
            Import::One(function) => (&[types::F64; 2][..callee(function).arity], &[types::F64]),
            // Its sources, the target and the count.
            Import::Block(function) => (&[types::I64; 4][..callee(function).arity + 2], &[]),
            Import::Start => (&[types::I64; 6], &[]),
            Import::Next => (&[types::I64; 3], &[]),
            Import::Routine => (&[types::I64; 2], &[]),
            Import::Stops => (&[types::I64], &[types::I8]),
            Import::Probe => (&[types::I64; 5], &[]),
        };
        let abi = |types: &[Type]| types.iter().map(|&ty| AbiParam::new(ty)).collect();
        Signature { params: abi(params), returns: abi(returns), call_conv }
    }
}

/// A schedule as two words, its kind and its number.
pub(crate) fn encode_schedule(schedule: Schedule) -> (i64, u64) {
    match schedule {
        Schedule::KeepAll => (0, 0),
        Schedule::Periodic { period } => (1, period),
        Schedule::Revolve { slots } => (2, slots),
    }
}

/// A sweep as a word.
pub(crate) fn encode_sweep(sweep: Sweep) -> i64 {
    match sweep {
        Sweep::Paired => 0,
        Sweep::Alone => 1,
    }
}

/// `schedule::start` for machine code; the schedule is encoded as by [`encode_schedule`] and [`encode_sweep`].
///
/// # Safety
/// `words` points to `length` words of the arena, 8-byte aligned, that nothing else refers to meanwhile.
unsafe extern "C" fn start(words: *mut i64, length: usize, kind: i64, number: u64, sweep: i64, count: u64) {
    // SAFETY: the caller promises it: the plan gave the controller these words, and the run owns the arena.
    let words = unsafe { std::slice::from_raw_parts_mut(words, length) };
    let schedule = match kind {
        0 => Schedule::KeepAll,
        1 => Schedule::Periodic { period: number },
        _ => Schedule::Revolve { slots: number },
    };
    let sweep = if sweep == 0 { Sweep::Paired } else { Sweep::Alone };
    schedule::start(words, schedule, sweep, count);
}

/// `schedule::next` for machine code; writes kind, from (or step), to, row (or slot).
///
/// # Safety
/// `words` as for [`start`], which has run; `action` points to four words.
unsafe extern "C" fn next(words: *mut i64, length: usize, action: *mut [i64; 4]) {
    // SAFETY: the caller promises it, as for `start`.
    let words = unsafe { std::slice::from_raw_parts_mut(words, length) };
    let operands = encode_action(schedule::next(words));
    // SAFETY: the caller passes the address of a stack slot of four words.
    unsafe { action.write(operands) };
}

/// `Watch::stops` for machine code.
///
/// # Safety
/// `watch` points to the watch of the run.
unsafe extern "C" fn stops(watch: *const Watch<'_>) -> u8 {
    // SAFETY: the caller promises it: machine code passes on what it was called with.
    let watch = unsafe { &*watch };
    u8::from(watch.stops())
}

/// An action as machine code sees it.
fn encode_action(action: Action) -> [i64; 4] {
    let (code, operands) = match action {
        Action::Advance { from, to } => (ActionCode::Advance, [from, to, 0]),
        Action::Snapshot { slot, step } => (ActionCode::Snapshot, [step, 0, slot]),
        Action::Restore { slot, step } => (ActionCode::Restore, [step, 0, slot]),
        Action::Tape { from, to, row } => (ActionCode::Tape, [from, to, row]),
        Action::Reverse { from, to, row } => (ActionCode::Reverse, [from, to, row]),
        Action::Turnback { step } => (ActionCode::Turnback, [step, 0, 0]),
        Action::Turn => (ActionCode::Turn, [0; 3]),
        Action::Done => (ActionCode::Done, [0; 3]),
    };
    let [first, second, third] = operands.map(|word| i64::try_from(word).expect("steps and slots fit i64"));
    [code as i64, first, second, third]
}

/// Most arguments, and most scratch arrays, of a routine.
const MOST: usize = 4;

/// A routine for machine code.
///
/// # Safety
/// `call` points to a call of the code that runs. `addresses` points to as many addresses as it has arguments, results (one) and scratch
/// arrays, in this order; each is aligned for its element type and valid for its bytes; the last two kinds are for this call alone.
unsafe extern "C" fn routine(call: *const RoutineCall, addresses: *const *mut u8) {
    // SAFETY: the caller promises it: the calls live as long as the code.
    let call = unsafe { &*call };
    let RoutineCall { routine, attrs, args: types, result, scratch: rooms } = call;
    // SAFETY: the caller passes the address of a stack slot of that many words.
    let addresses = unsafe { std::slice::from_raw_parts(addresses, types.len() + 1 + rooms.len()) };
    // Nothing is allocated during a run.
    let mut args = [Slice::F64(&[]); MOST];
    for (k, ty) in types.iter().enumerate() {
        // SAFETY: the plan laid out an array of this type there, and nothing writes to it during the call.
        args[k] = unsafe { slice(ty, addresses[k]) };
    }
    let mut scratch: [SliceMut<'_>; MOST] = std::array::from_fn(|_| SliceMut::F64(&mut []));
    for (k, ty) in rooms.iter().enumerate() {
        // SAFETY: the plan gave this memory to this call alone.
        scratch[k] = unsafe { slice_mut(ty, addresses[types.len() + 1 + k]) };
    }
    // SAFETY: as for scratch.
    let result = unsafe { slice_mut(result, addresses[types.len()]) };
    (routine.run)(types, attrs, &args[..types.len()], result, &mut scratch[..rooms.len()]);
}

/// # Safety
/// At `start` is an array of this type that nothing changes during `'a`, aligned for its elements.
unsafe fn slice<'a>(ty: &ArrayType, start: *const u8) -> Slice<'a> {
    // SAFETY: the caller promises it; any bits are a number.
    unsafe {
        match ty.dtype {
            DType::F32 => Slice::F32(std::slice::from_raw_parts(start.cast(), ty.elements())),
            DType::F64 => Slice::F64(std::slice::from_raw_parts(start.cast(), ty.elements())),
            DType::I32 => Slice::I32(std::slice::from_raw_parts(start.cast(), ty.elements())),
            DType::I64 => Slice::I64(std::slice::from_raw_parts(start.cast(), ty.elements())),
            DType::Bool => panic!("routines work on numbers"),
        }
    }
}

/// # Safety
/// At `start` is an array of this type that nothing else refers to during `'a`, aligned for its elements.
unsafe fn slice_mut<'a>(ty: &ArrayType, start: *mut u8) -> SliceMut<'a> {
    // SAFETY: the caller promises it; any bits are a number.
    unsafe {
        match ty.dtype {
            DType::F32 => SliceMut::F32(std::slice::from_raw_parts_mut(start.cast(), ty.elements())),
            DType::F64 => SliceMut::F64(std::slice::from_raw_parts_mut(start.cast(), ty.elements())),
            DType::I32 => SliceMut::I32(std::slice::from_raw_parts_mut(start.cast(), ty.elements())),
            DType::I64 => SliceMut::I64(std::slice::from_raw_parts_mut(start.cast(), ty.elements())),
            DType::Bool => panic!("routines work on numbers"),
        }
    }
}

/// A fused multiply-add, for machines without the instruction.
pub(crate) extern "C" fn fused(a: f64, b: f64, c: f64) -> f64 {
    a.mul_add(b, c)
}

/// The same in single precision.
pub(crate) extern "C" fn fused_narrow(a: f32, b: f32, c: f32) -> f32 {
    a.mul_add(b, c)
}
