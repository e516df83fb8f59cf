//! Drivers of schedules: loops that ask for an action and branch to it.
//!
//! What one action carries from step to step, others do not touch: the cotangents wait while steps are run again. The
//! allocator of registers would leave them where they are, and have numbers of the steps in memory instead, in every
//! step. So each action begins by putting aside what it does not touch, and ends by taking it back.

use std::collections::BTreeSet;

use cranelift_codegen::ir::{InstBuilder, StackSlot, StackSlotData, StackSlotKind, types};
use retrograd_compiler::ir::DType;
use retrograd_compiler::lower::Registers;
use retrograd_compiler::lower::kernel::{Reg, RegType, Stmt};

use super::Lower;

/// Whether a loop asks for actions.
pub(super) fn is_driver(body: &[Stmt]) -> bool {
    body.iter().any(|stmt| matches!(stmt, Stmt::Next { .. }))
}

/// One turn of a driver.
pub(super) fn actions<'k>(lower: &mut Lower<'k, '_>, body: &'k [Stmt]) {
    let arms = || body.iter().filter_map(arm);
    let waiting: BTreeSet<Reg> =
        arms().flat_map(|arm| registers(lower, arm).read_first).filter(|reg| is_float(lower, *reg)).collect();
    for stmt in body {
        match (stmt, arm(stmt)) {
            (Stmt::If { cond, .. }, Some(arm)) => lower.either(*cond, |lower| action(lower, &waiting, arm), |_| ()),
            (other, _) => lower.statement(other),
        }
    }
}

/// The code of an action that runs steps.
fn arm(stmt: &Stmt) -> Option<&[Stmt]> {
    if let Stmt::If { then_body, else_body, .. } = stmt
        && else_body.is_empty()
        && then_body.iter().any(is_loop)
    {
        return Some(then_body);
    }
    None
}

fn is_loop(stmt: &Stmt) -> bool {
    matches!(stmt, Stmt::For { .. } | Stmt::Loop { .. })
}

/// An action, loop by loop: one over others is gone into.
fn action<'k>(lower: &mut Lower<'k, '_>, waiting: &BTreeSet<Reg>, body: &'k [Stmt]) {
    for stmt in body {
        if let Stmt::For { index, from, to, order, body } = stmt
            && body.iter().filter(|stmt| is_loop(stmt)).count() > 1
        {
            lower.for_loop(*index, *from, *to, *order, |lower| action(lower, waiting, body));
        } else if is_loop(stmt) {
            let own = registers(lower, std::slice::from_ref(stmt));
            let idle: Vec<Reg> = waiting.iter().copied().filter(|reg| !own.touches(*reg)).collect();
            put_aside(lower, &idle, stmt);
        } else {
            lower.statement(stmt);
        }
    }
}

fn registers(lower: &Lower<'_, '_>, body: &[Stmt]) -> Registers {
    Registers::of(body, &lower.kernel.parts)
}

fn is_float(lower: &Lower<'_, '_>, reg: Reg) -> bool {
    match lower.kernel.regs[reg.0 as usize] {
        RegType::Scalar(ty) => ty.is_float(),
        RegType::Pointer => false,
    }
}

fn put_aside<'k>(lower: &mut Lower<'k, '_>, idle: &[Reg], stmt: &'k Stmt) {
    let word = StackSlotData::new(StackSlotKind::ExplicitSlot, DType::F64.bytes() as u32, 3);
    let slots: Vec<StackSlot> = idle.iter().map(|_| lower.builder.create_sized_stack_slot(word.clone())).collect();
    for (reg, slot) in idle.iter().zip(&slots) {
        let value = lower.get(*reg);
        lower.builder.ins().stack_store(types::I64, value, *slot, 0);
    }
    lower.statement(stmt);
    for (reg, slot) in idle.iter().zip(&slots) {
        let ty = super::native(lower.kernel.regs[reg.0 as usize]);
        let value = lower.builder.ins().stack_load(types::I64, ty, *slot, 0);
        lower.set(*reg, value);
    }
}
