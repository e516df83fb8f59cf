//! What machine code calls.

use cranelift_codegen::ir::{AbiParam, Signature, Type, types};
use cranelift_codegen::isa::CallConv;
use retrograd_compiler::ir::{DType, LaneFunction, Slice, SliceMut, Type as ArrayType};
use retrograd_compiler::lower::kernel::{ActionCode, Order, RoutineCall};
use retrograd_schedule::{self as schedule, Action, Run, Sweep};

use crate::blocks::{FUNCTIONS, callee};
use crate::cancellation::Cancellable;
use crate::code::STOPPED;
use crate::observer::probe;
use crate::spill::{fetch, spill};
use crate::thread_pool::spread;

/// A function of ours that machine code calls.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Import {
    /// A function of single numbers.
    One(LaneFunction),
    /// The same over many numbers.
    Block(LaneFunction),
    /// Starts a schedule by a recipe.
    StartRecipe,
    /// Starts Revolve.
    StartRevolve,
    /// Starts a schedule of a loop of unknown length.
    StartOnline,
    /// Starts Revolve over blocks of steps.
    StartBlocks,
    /// Asks a schedule for its next action.
    Next,
    /// Calls a routine.
    Routine,
    /// Writes a state to the disk.
    Spill,
    /// Reads a state from the disk.
    Fetch,
    /// Asks whether to stop; then the fault says so.
    Stops,
    /// Shows a value.
    Probe,
    /// Runs a part in chunks.
    Spread,
}

impl Import {
    /// All of them.
    pub(crate) fn all() -> impl Iterator<Item = Import> {
        let functions = FUNCTIONS.iter().flat_map(|&function| [Import::One(function), Import::Block(function)]);
        functions.chain([
            Import::StartRecipe,
            Import::StartRevolve,
            Import::StartOnline,
            Import::StartBlocks,
            Import::Next,
            Import::Routine,
            Import::Spill,
            Import::Fetch,
            Import::Stops,
            Import::Probe,
            Import::Spread,
        ])
    }

    /// Its name for the linker.
    pub(crate) fn name(self) -> String {
        match self {
            Import::One(function) => format!("retrograd_one_{function:?}"),
            Import::Block(function) => format!("retrograd_block_{function:?}"),
            Import::StartRecipe => "retrograd_start_recipe".to_owned(),
            Import::StartRevolve => "retrograd_start_revolve".to_owned(),
            Import::StartOnline => "retrograd_start_online".to_owned(),
            Import::StartBlocks => "retrograd_start_blocks".to_owned(),
            Import::Next => "retrograd_next".to_owned(),
            Import::Routine => "retrograd_routine".to_owned(),
            Import::Spill => "retrograd_spill".to_owned(),
            Import::Fetch => "retrograd_fetch".to_owned(),
            Import::Stops => "retrograd_stops".to_owned(),
            Import::Probe => "retrograd_probe".to_owned(),
            Import::Spread => "retrograd_spread".to_owned(),
        }
    }

    /// Where it is.
    pub(crate) fn address(self) -> *const u8 {
        match self {
            Import::One(function) => callee(function).one,
            Import::Block(function) => callee(function).block,
            Import::StartRecipe => start_recipe as *const u8,
            Import::StartRevolve => start_revolve as *const u8,
            Import::StartOnline => start_online as *const u8,
            Import::StartBlocks => start_blocks as *const u8,
            Import::Next => next as *const u8,
            Import::Routine => routine as *const u8,
            Import::Spill => spill as *const u8,
            Import::Fetch => fetch as *const u8,
            Import::Stops => stops as *const u8,
            Import::Probe => probe as *const u8,
            Import::Spread => spread as *const u8,
        }
    }

    /// Whether it is called between the steps of loops, and returns nothing: what steps hold in registers should stay
    /// there.
    pub(crate) fn is_between_steps(self) -> bool {
        match self {
            Import::StartRecipe | Import::StartRevolve | Import::StartOnline | Import::StartBlocks => true,
            Import::Next | Import::Stops => true,
            Import::One(_)
            | Import::Block(_)
            | Import::Routine
            | Import::Spill
            | Import::Fetch
            | Import::Probe
            | Import::Spread => false,
        }
    }

    /// Its parameters and result.
    pub(crate) fn signature(self, call_conv: CallConv) -> Signature {
        let (params, returns): (&[Type], &[Type]) = match self {
            Import::One(function) => (&[types::F64; 2][..callee(function).arity], &[types::F64]),
            // Its sources, the target and the count.
            Import::Block(function) => (&[types::I64; 4][..callee(function).arity + 2], &[]),
            Import::StartRecipe | Import::StartOnline => (&[types::I64; 4], &[]),
            Import::StartRevolve | Import::StartBlocks => (&[types::I64; 6], &[]),
            Import::Next => (&[types::I64; 5], &[]),
            Import::Routine => (&[types::I64; 2], &[]),
            Import::Spill | Import::Fetch => (&[types::I64; 5], &[types::I8]),
            Import::Stops => (&[types::I64; 6], &[]),
            Import::Probe => (&[types::I64; 5], &[]),
            Import::Spread => (&[types::I64], &[]),
        };
        let abi = |types: &[Type]| types.iter().map(|&ty| AbiParam::new(ty)).collect();
        Signature { params: abi(params), returns: abi(returns), call_conv }
    }
}

/// A sweep as a word.
pub(crate) fn encode_sweep(sweep: Sweep) -> i64 {
    match sweep {
        Sweep::Split => 0,
        Sweep::Joint => 1,
        Sweep::Online => panic!("Revolve knows the number of steps when it starts"),
    }
}

fn decode_sweep(word: i64) -> Sweep {
    if word == 0 { Sweep::Split } else { Sweep::Joint }
}

/// The order of a loop as a word.
pub(crate) fn encode_order(order: Order) -> i64 {
    match order {
        Order::Up => 0,
        Order::Down => 1,
    }
}

/// `schedule::start_recipe` for machine code.
///
/// # Safety
/// `words` points to `length` words of the arena, 8-byte aligned, that nothing else refers to meanwhile; `table` points
/// to `size` words of a literal.
unsafe extern "C" fn start_recipe(words: *mut i64, length: usize, table: *const i64, size: usize) {
    // SAFETY: the caller promises it: the plan gave the controller these words, and the run owns the arena.
    let words = unsafe { std::slice::from_raw_parts_mut(words, length) };
    // SAFETY: the caller promises it: the kernel owns its literals, which are never written.
    let table = unsafe { std::slice::from_raw_parts(table, size) };
    schedule::start_recipe(words, table);
}

/// `schedule::start_revolve` for machine code; the sweep is encoded as by [`encode_sweep`].
///
/// # Safety
/// `words` as for [`start_recipe`].
unsafe extern "C" fn start_revolve(
    words: *mut i64,
    length: usize,
    slots: u64,
    state_bytes: u64,
    sweep: i64,
    count: u64,
) {
    // SAFETY: the caller promises it, as for `start_recipe`.
    let words = unsafe { std::slice::from_raw_parts_mut(words, length) };
    schedule::start_revolve(words, slots, state_bytes, decode_sweep(sweep), count);
}

/// `schedule::start_blocks` for machine code; the sweep is encoded as by [`encode_sweep`].
///
/// # Safety
/// `words` and `table` as for [`start_recipe`].
unsafe extern "C" fn start_blocks(
    words: *mut i64,
    length: usize,
    table: *const i64,
    size: usize,
    sweep: i64,
    count: u64,
) {
    // SAFETY: the caller promises it, as for `start_recipe`.
    let words = unsafe { std::slice::from_raw_parts_mut(words, length) };
    // SAFETY: the caller promises it, as for `start_recipe`.
    let table = unsafe { std::slice::from_raw_parts(table, size) };
    schedule::start_blocks(words, table, decode_sweep(sweep), count);
}

/// `schedule::start_online` for machine code.
///
/// # Safety
/// `words` as for [`start_recipe`].
unsafe extern "C" fn start_online(words: *mut i64, length: usize, slots: u64, state_bytes: u64) {
    // SAFETY: the caller promises it, as for `start_recipe`.
    let words = unsafe { std::slice::from_raw_parts_mut(words, length) };
    schedule::start_online(words, slots, state_bytes);
}

/// `schedule::next` for machine code; writes kind, from (or step), to, place, choice.
///
/// # Safety
/// `words` as for [`start_recipe`], which or [`start_revolve`] has run; `table` points to `size` words of a literal, or
/// `size` is 0; `action` points to five words.
unsafe extern "C" fn next(words: *mut i64, length: usize, table: *const i64, size: usize, action: *mut [i64; 5]) {
    // SAFETY: the caller promises it, as for `start_recipe`.
    let words = unsafe { std::slice::from_raw_parts_mut(words, length) };
    // SAFETY: the caller promises it, as for `start_recipe`; a table of no words is not read at all.
    let table = if size == 0 { &[] } else { unsafe { std::slice::from_raw_parts(table, size) } };
    let operands = encode_action(schedule::next(words, table));
    // SAFETY: the caller passes the address of a stack slot of five words.
    unsafe { action.write(operands) };
}

/// `Cancellable::stops` for machine code, which finds the answer where faults are; the order is encoded as by
/// [`encode_order`], and what is not known is [`UNKNOWN`](crate::cancellation::UNKNOWN).
///
/// # Safety
/// `watched` points to what the run was called with, and `fault` to its word for faults.
unsafe extern "C" fn stops(
    watched: *const Cancellable<'_>,
    part: i64,
    step: i64,
    steps: i64,
    order: i64,
    fault: *mut i64,
) {
    // SAFETY: the caller promises it: machine code passes on what it was called with.
    let watched = unsafe { &*watched };
    if watched.stops(part, step, steps, if order == 0 { Order::Up } else { Order::Down }) {
        // SAFETY: the caller promises it, as for `watched`; nothing else refers to the word while the run lasts.
        unsafe { fault.write(STOPPED) };
    }
}

/// An action as machine code sees it; the start value has no place, −1.
fn encode_action(action: Action) -> [i64; 5] {
    let word = |number: u64| i64::try_from(number).expect("steps and bytes fit i64");
    match action {
        Action::Advance { from, to } => [ActionCode::Advance as i64, word(from), word(to), 0, 0],
        Action::Snapshot { at, step } => [ActionCode::Snapshot as i64, word(step), 0, word(at), 0],
        Action::Restore { at, step } => [ActionCode::Restore as i64, word(step), 0, at.map_or(-1, word), 0],
        Action::Tape { from, to, at, choice } => {
            [ActionCode::Tape as i64, word(from), word(to), word(at), word(choice)]
        }
        Action::Reverse { from, to, at, choice } => {
            [ActionCode::Reverse as i64, word(from), word(to), word(at), word(choice)]
        }
        Action::Youturn { step } => [ActionCode::Youturn as i64, word(step), 0, 0, 0],
        Action::Turn => [ActionCode::Turn as i64, 0, 0, 0, 0],
        Action::Spill { at, step } => [ActionCode::Spill as i64, word(step), 0, word(at), 0],
        Action::Fetch { at, step } => [ActionCode::Fetch as i64, word(step), 0, word(at), 0],
        Action::Done => [ActionCode::Done as i64, 0, 0, 0, 0],
        Action::Run(Run::Ascend { from, to, first, last }) => {
            [ActionCode::Ascend as i64, word(from), word(to), word(first), word(last)]
        }
        Action::Run(Run::Descend { to, first, last }) => {
            [ActionCode::Descend as i64, 0, word(to), word(first), word(last)]
        }
        Action::Run(Run::Replay { from, to, at }) => {
            [ActionCode::Replay as i64, word(from), word(to), at.map_or(-1, word), 0]
        }
    }
}

/// Most arguments, and most scratch arrays, of a routine.
const MOST: usize = 5;

/// A routine for machine code.
///
/// # Safety
/// `call` points to a call of the code that runs. `addresses` points to as many addresses as it has arguments, results
/// (one) and scratch arrays, in this order; each is aligned for its element type and valid for its bytes; the last two
/// kinds are for this call alone.
unsafe extern "C" fn routine(call: *const RoutineCall, addresses: *const *mut u8) {
    // SAFETY: the caller promises it: the calls live as long as the code.
    let call = unsafe { &*call };
    let RoutineCall { routine, attrs, args: types, result, scratch: scratch_types } = call;
    // SAFETY: the caller passes the address of a stack slot of that many words.
    let addresses = unsafe { std::slice::from_raw_parts(addresses, types.len() + 1 + scratch_types.len()) };
    // Nothing is allocated during a run, but by whoever calls the host with many arguments.
    let (mut few, mut many) = ([Slice::F64(&[]); MOST], vec![]);
    let args = match types.len() {
        ..=MOST => &mut few[..types.len()],
        count => {
            many.resize(count, Slice::F64(&[]));
            &mut many[..]
        }
    };
    for (k, ty) in types.iter().enumerate() {
        // SAFETY: the plan laid out an array of this type there, and nothing writes to it during the call.
        args[k] = unsafe { slice(ty, addresses[k]) };
    }
    let mut scratch: [SliceMut<'_>; MOST] = std::array::from_fn(|_| SliceMut::F64(&mut []));
    for (k, ty) in scratch_types.iter().enumerate() {
        // SAFETY: the plan gave this memory to this call alone.
        scratch[k] = unsafe { slice_mut(ty, addresses[types.len() + 1 + k]) };
    }
    // SAFETY: as for scratch.
    let result = unsafe { slice_mut(result, addresses[types.len()]) };
    (routine.run)(types, attrs, args, result, &mut scratch[..scratch_types.len()]);
}

/// # Safety
/// At `start` is an array of this type that nothing changes during `'a`, aligned for its elements; of no elements it
/// may be anywhere.
unsafe fn slice<'a>(ty: &ArrayType, start: *const u8) -> Slice<'a> {
    /// # Safety
    /// As for [`slice`].
    unsafe fn of<'a, T>(start: *const u8, count: usize) -> &'a [T] {
        // SAFETY: the caller promises it; any bits are a number. Memory of no elements may have no address.
        if count == 0 { &[] } else { unsafe { std::slice::from_raw_parts(start.cast(), count) } }
    }
    // SAFETY: the caller promises it.
    unsafe {
        match ty.dtype {
            DType::F32 => Slice::F32(of(start, ty.elements())),
            DType::F64 => Slice::F64(of(start, ty.elements())),
            DType::I32 => Slice::I32(of(start, ty.elements())),
            DType::I64 => Slice::I64(of(start, ty.elements())),
            DType::Bool => panic!("routines work on numbers"),
        }
    }
}

/// # Safety
/// At `start` is an array of this type that nothing else refers to during `'a`, aligned for its elements; of no
/// elements it may be anywhere.
unsafe fn slice_mut<'a>(ty: &ArrayType, start: *mut u8) -> SliceMut<'a> {
    /// # Safety
    /// As for [`slice_mut`].
    unsafe fn of<'a, T>(start: *mut u8, count: usize) -> &'a mut [T] {
        // SAFETY: the caller promises it; any bits are a number. Memory of no elements may have no address.
        if count == 0 { &mut [] } else { unsafe { std::slice::from_raw_parts_mut(start.cast(), count) } }
    }
    // SAFETY: the caller promises it.
    unsafe {
        match ty.dtype {
            DType::F32 => SliceMut::F32(of(start, ty.elements())),
            DType::F64 => SliceMut::F64(of(start, ty.elements())),
            DType::I32 => SliceMut::I32(of(start, ty.elements())),
            DType::I64 => SliceMut::I64(of(start, ty.elements())),
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
