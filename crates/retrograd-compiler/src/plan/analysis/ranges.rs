//! What values an integer can have, as far as that follows from literals and from the counts of loops.

use crate::ir::{DType, Function, Inst, Lowering, Op, Scalar};
use crate::ops;

/// The least and the greatest value of an integer.
pub(in crate::plan) type Range = (i64, i64);

/// Ranges of the integers of a function, by value, given those of its parameters.
pub(in crate::plan) fn ranges(function: &Function, params: &[Option<Range>]) -> Vec<Option<Range>> {
    let mut known = vec![None; function.types.len()];
    for (param, range) in function.params.iter().zip(params) {
        known[param.0 as usize] = *range;
    }
    for inst in &function.insts {
        if let [result] = inst.results[..] {
            known[result.0 as usize] = of_inst(inst, &known);
        }
    }
    known
}

fn of_inst(inst: &Inst, known: &[Option<Range>]) -> Option<Range> {
    let Op::Def(def, attrs) = &inst.op else { return None };
    if *def == &ops::CONSTANT {
        let value = attrs.array("value");
        return (value.dtype() == DType::I64 && value.shape().is_empty())
            .then(|| value.as_i64()[0])
            .map(|value| (value, value));
    }
    let Lowering::Map(op) = def.lowering else { return None };
    arithmetic(op, &inst.args.iter().map(|arg| known[arg.0 as usize]).collect::<Vec<_>>())
}

/// What a row gives of arguments in their ranges; nothing is known where it might wrap.
pub(in crate::plan) fn arithmetic(op: Scalar, ranges: &[Option<Range>]) -> Option<Range> {
    let corners = |of: fn(i64, i64) -> Option<i64>| -> Option<Range> {
        let [(a, b), (c, d)] = [ranges[0]?, ranges[1]?];
        let values = [of(a, c)?, of(a, d)?, of(b, c)?, of(b, d)?];
        Some((*values.iter().min()?, *values.iter().max()?))
    };
    // Of each of these, the least and the greatest come from ends of ranges.
    if op == Scalar::Add {
        corners(i64::checked_add)
    } else if op == Scalar::Sub {
        corners(i64::checked_sub)
    } else if op == Scalar::Mul {
        corners(i64::checked_mul)
    } else if op == Scalar::Min {
        corners(|a, b| Some(a.min(b)))
    } else if op == Scalar::Max {
        corners(|a, b| Some(a.max(b)))
    } else if op == Scalar::Select {
        let [one, other] = [ranges[1]?, ranges[2]?];
        Some((one.0.min(other.0), one.1.max(other.1)))
    } else {
        None
    }
}
