//! What a loop does to eight lanes: its steps, each with its form, and functions in line.

use std::collections::BTreeMap;

use retrograd_compiler::ir::{DType, LaneFunction, Scalar};
use retrograd_compiler::lower::kernel::Reg;

use super::encode;
use super::table::{Form, GREATER, LESS, Order, form};
use crate::cranelift::Lower;
use crate::cranelift::access::Access;
use crate::cranelift::vector::{Step, VecLoop};
use crate::recorded::{self, Inline, Operand, Operation, inline, record};

pub(super) enum Act<'a, 'k> {
    Compute {
        dst: Reg,
        form: Form,
        args: Vec<Reg>,
    },
    /// A move, or an access to memory.
    Step(&'a Step<'k>),
}

impl Act<'_, '_> {
    /// The registers that it assigns.
    pub(super) fn assigns(&self) -> Vec<Reg> {
        match self {
            Act::Compute { dst, .. } => vec![*dst],
            Act::Step(step) => step.assigns(),
        }
    }

    /// The registers that it reads, those of addresses included.
    pub(super) fn reads(&self) -> Vec<Reg> {
        match self {
            Act::Compute { args, .. } => args.clone(),
            Act::Step(step) => step.reads(),
        }
    }

    /// The registers that it computes with or writes.
    pub(super) fn operands(&self) -> Vec<Reg> {
        match self {
            Act::Compute { args, .. } => args.clone(),
            Act::Step(step) => step.operands(),
        }
    }

    /// Where it reads and writes.
    pub(super) fn accesses(&self) -> Vec<&Access> {
        match self {
            Act::Compute { .. } => vec![],
            Act::Step(step) => step.accesses(),
        }
    }
}

/// All that a loop does, in order.
pub(super) struct Acts<'a, 'k> {
    pub(super) list: Vec<Act<'a, 'k>>,
    /// Registers that functions in line have besides those of the kernel.
    made: BTreeMap<Reg, Made>,
    next: Reg,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Made {
    Number,
    Truth,
    /// These bits in all lanes.
    Constant(u64),
}

impl<'a, 'k> Acts<'a, 'k> {
    /// The acts of a loop, if all of its steps have a form.
    pub(super) fn new(lower: &Lower<'_, '_>, vec_loop: &'a VecLoop<'k>) -> Option<Acts<'a, 'k>> {
        let mut acts = Acts { list: vec![], made: BTreeMap::new(), next: Reg(lower.kernel.regs.len() as u32) };
        for step in &vec_loop.steps {
            match step {
                Step::Compute { dst, op, ty, args } => acts.compute(*dst, form(*op, *ty)?, args.to_vec()),
                Step::Call { dst, function, args } => acts.function(*dst, *function, args)?,
                Step::Move { .. }
                | Step::Load { .. }
                | Step::LoadBoth { .. }
                | Step::Store { .. }
                | Step::OrderedScatter(_) => {
                    acts.list.push(Act::Step(step));
                }
            }
        }
        Some(acts)
    }

    /// The bits of a register that is the same for all lanes and known now.
    pub(super) fn constant(&self, reg: Reg) -> Option<u64> {
        match self.made.get(&reg)? {
            Made::Constant(bits) => Some(*bits),
            Made::Number | Made::Truth => None,
        }
    }

    /// Whether a register that functions have is a truth value; `None` for those of the kernel.
    pub(super) fn is_truth(&self, reg: Reg) -> Option<bool> {
        self.made.get(&reg).map(|made| *made == Made::Truth)
    }

    fn compute(&mut self, dst: Reg, form: Form, args: Vec<Reg>) {
        let act = self.lesser(form, &args).map(|form| (form, args[1..].to_vec()));
        let (form, args) = act.unwrap_or((form, args));
        self.list.push(Act::Compute { dst, form, args });
    }

    /// The form of a choice between the two numbers that were compared, which is one instruction; like the choice it
    /// gives the last where neither is less, or one is NaN.
    fn lesser(&self, form: Form, args: &[Reg]) -> Option<Form> {
        let (Form::Blend, &[truth, chosen, other]) = (form, args) else { return None };
        let relation = self.list.iter().rev().find_map(|act| match act {
            Act::Compute { dst, form: Form::Compare(encode::Op::COMPARE, relation), args } if *dst == truth => {
                Some((*relation, args))
            }
            Act::Compute { .. } | Act::Step(_) => None,
        });
        let (relation, compared) = relation?;
        let op = match (relation, compared[..] == [chosen, other], compared[..] == [other, chosen]) {
            (LESS, true, _) | (GREATER, _, true) => encode::Op::MIN,
            (GREATER, true, _) | (LESS, _, true) => encode::Op::MAX,
            _ => return None,
        };
        Some(Form::Two(op, Order::Fixed))
    }

    /// The operations of a function, if it is known by its whole sequence.
    fn function(&mut self, dst: Reg, function: LaneFunction, args: &[Reg]) -> Option<()> {
        let Inline::Whole(sequence) = inline(function)? else { return None };
        let (operations, result) = record(args.len(), |x| sequence(x).number());
        let mut values = args.to_vec();
        for Operation { op, args } in operations {
            let args: Vec<Reg> = args.into_iter().map(|arg| self.operand(&values, arg)).collect();
            // Bits are where the number is.
            let Some(form) = form_of(op)? else {
                values.push(args[0]);
                continue;
            };
            let made = if form.is_truth() { Made::Truth } else { Made::Number };
            let to = if values.len() == result { dst } else { self.make(made) };
            self.compute(to, form, args);
            values.push(to);
        }
        assert_eq!(values[result], dst, "a sequence ends with arithmetic");
        Some(())
    }

    fn operand(&mut self, values: &[Reg], operand: Operand) -> Reg {
        match operand {
            Operand::Value(number) => values[number],
            Operand::Constant(bits) => {
                let known = self.made.iter().find(|(_, made)| **made == Made::Constant(bits)).map(|(reg, _)| *reg);
                known.unwrap_or_else(|| self.make(Made::Constant(bits)))
            }
        }
    }

    fn make(&mut self, made: Made) -> Reg {
        let reg = self.next;
        self.next = Reg(reg.0 + 1);
        self.made.insert(reg, made);
        reg
    }
}

/// The form of an operation of a function, where there is one; nothing is done to see the same bits as another type.
#[expect(clippy::option_option, reason = "whether there is a form, and whether anything is done")]
fn form_of(op: recorded::Op) -> Option<Option<Form>> {
    Some(match op {
        recorded::Op::Floats(op) => Some(form(op, DType::F64)?),
        recorded::Op::CopySign => Some(Form::CopySign),
        // By less than all bits.
        recorded::Op::Bits(Scalar::Shl) => Some(Form::Two(encode::Op::SHIFT_LEFT, Order::Fixed)),
        recorded::Op::Bits(op) => Some(form(op, DType::I64)?),
        recorded::Op::ShiftRight => Some(Form::Two(encode::Op::SHIFT_RIGHT, Order::Fixed)),
        recorded::Op::Reinterpret(_) => None,
    })
}
