//! What machine code calls.

use cranelift_codegen::ir::{AbiParam, Signature, Type, types};
use cranelift_codegen::isa::CallConv;
use retrograd_compiler::fuse::kernel::ActionCode;
use retrograd_compiler::ir::LaneFunction;
use retrograd_compiler::plan::schedule::{self, Action, Sweep};

use crate::blocks::{FUNCTIONS, callee};

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
    /// Asks a schedule for its next action.
    Next,
}

impl Import {
    /// All of them.
    pub(crate) fn all() -> impl Iterator<Item = Import> {
        let functions = FUNCTIONS.iter().flat_map(|&function| [Import::One(function), Import::Block(function)]);
        functions.chain([Import::StartRecipe, Import::StartRevolve, Import::Next])
    }

    /// Its name for the linker.
    pub(crate) fn name(self) -> String {
        match self {
            Import::One(function) => format!("retrograd_one_{function:?}"),
            Import::Block(function) => format!("retrograd_block_{function:?}"),
            Import::StartRecipe => "retrograd_start_recipe".to_owned(),
            Import::StartRevolve => "retrograd_start_revolve".to_owned(),
            Import::Next => "retrograd_next".to_owned(),
        }
    }

    /// Where it is.
    pub(crate) fn address(self) -> *const u8 {
        match self {
            Import::One(function) => callee(function).one,
            Import::Block(function) => callee(function).block,
            Import::StartRecipe => start_recipe as *const u8,
            Import::StartRevolve => start_revolve as *const u8,
            Import::Next => next as *const u8,
        }
    }

    /// Its parameters and result.
    pub(crate) fn signature(self, call_conv: CallConv) -> Signature {
        let (params, returns): (&[Type], &[Type]) = match self {
            Import::One(function) => (&[types::F64; 2][..callee(function).arity], &[types::F64]),
            // Its sources, the target and the count.
            Import::Block(function) => (&[types::I64; 4][..callee(function).arity + 2], &[]),
            Import::StartRecipe => (&[types::I64; 4], &[]),
            Import::StartRevolve => (&[types::I64; 6], &[]),
            Import::Next => (&[types::I64; 5], &[]),
        };
        let abi = |types: &[Type]| types.iter().map(|&ty| AbiParam::new(ty)).collect();
        Signature { params: abi(params), returns: abi(returns), call_conv }
    }
}

/// A sweep as a word.
pub(crate) fn encode_sweep(sweep: Sweep) -> i64 {
    match sweep {
        Sweep::Paired => 0,
        Sweep::Alone => 1,
    }
}

/// `schedule::start_recipe` for machine code.
///
/// # Safety
/// `words` points to `length` words of the arena, 8-byte aligned, that nothing else refers to meanwhile; `table` points to `size` words
/// of a literal.
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
unsafe extern "C" fn start_revolve(words: *mut i64, length: usize, slots: u64, state_bytes: u64, sweep: i64, count: u64) {
    // SAFETY: the caller promises it, as for `start_recipe`.
    let words = unsafe { std::slice::from_raw_parts_mut(words, length) };
    let sweep = if sweep == 0 { Sweep::Paired } else { Sweep::Alone };
    schedule::start_revolve(words, slots, state_bytes, sweep, count);
}

/// `schedule::next` for machine code; writes kind, from (or step), to, place, choice.
///
/// # Safety
/// `words` as for [`start_recipe`], which or [`start_revolve`] has run; `table` points to `size` words of a literal, or `size` is 0;
/// `action` points to five words.
unsafe extern "C" fn next(words: *mut i64, length: usize, table: *const i64, size: usize, action: *mut [i64; 5]) {
    // SAFETY: the caller promises it, as for `start_recipe`.
    let words = unsafe { std::slice::from_raw_parts_mut(words, length) };
    // SAFETY: the caller promises it, as for `start_recipe`; a table of no words is not read at all.
    let table = if size == 0 { &[] } else { unsafe { std::slice::from_raw_parts(table, size) } };
    let operands = encode_action(schedule::next(words, table));
    // SAFETY: the caller passes the address of a stack slot of five words.
    unsafe { action.write(operands) };
}

/// An action as machine code sees it; the start value has no place, −1.
fn encode_action(action: Action) -> [i64; 5] {
    let word = |number: u64| i64::try_from(number).expect("steps and bytes fit i64");
    match action {
        Action::Advance { from, to } => [ActionCode::Advance as i64, word(from), word(to), 0, 0],
        Action::Snapshot { at, step } => [ActionCode::Snapshot as i64, word(step), 0, word(at), 0],
        Action::Restore { at, step } => [ActionCode::Restore as i64, word(step), 0, at.map_or(-1, word), 0],
        Action::Tape { from, to, at, choice } => [ActionCode::Tape as i64, word(from), word(to), word(at), word(choice)],
        Action::Reverse { from, to, at, choice } => [ActionCode::Reverse as i64, word(from), word(to), word(at), word(choice)],
        Action::Turnback { step } => [ActionCode::Turnback as i64, word(step), 0, 0, 0],
        Action::Turn => [ActionCode::Turn as i64, 0, 0, 0, 0],
        Action::Done => [ActionCode::Done as i64, 0, 0, 0, 0],
    }
}
