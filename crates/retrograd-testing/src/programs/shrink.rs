//! Smaller Programs that still fail.

use std::collections::BTreeSet;

use retrograd_compiler::ir::{
    Array, Attr, Attrs, Data, DataMut, Function, Inst, Op, Pos, Program, Type, Value, verify,
};
use retrograd_compiler::opt::dead_code;
use retrograd_compiler::{eval, ops};

use super::Case;

/// Makes a failing case smaller, one change at a time, while it fails: results go, values become earlier values or
/// literals of their type, loops take fewer steps. A Program whose run faults is none of them.
pub fn shrink(case: &Case, fails: &dyn Fn(&Case) -> bool) -> Case {
    let mut best = case.clone();
    for _ in 0..10 {
        let before = size(&best.program);
        // The list changes with every success; going on at the same place tries almost all of it once per round.
        let mut k = 0;
        while let Some(change) = changes(&best.program).get(k) {
            match smaller(&best, change, fails) {
                Some(found) => best = found,
                None => k += 1,
            }
        }
        if size(&best.program) == before {
            break;
        }
    }
    best
}

/// A change applied, where the result is smaller and still fails. What fails may be dead code, so that is left for
/// last.
fn smaller(best: &Case, change: &Change, fails: &dyn Fn(&Case) -> bool) -> Option<Case> {
    let whole = changed(&best.program, change);
    let mut live = whole.clone();
    dead_code(&mut live);
    let candidates = [live, whole].into_iter().map(|program| Case { program, ..best.clone() });
    let runs = |case: &Case| verify(&case.program).is_ok() && eval::run(&case.program, &case.inputs).is_ok();
    candidates.into_iter().find(|case| size(&case.program) < size(&best.program) && runs(case) && fails(case))
}

/// Less of this is simpler: instructions, then what they are, then steps and results.
fn size(program: &Program) -> (usize, usize, usize) {
    let insts = || program.functions.iter().flat_map(|function| &function.insts);
    let literals = || insts().filter_map(literal);
    let steps = literals().map(|array| {
        if let Data::I64(x) = array.data() { x.iter().map(|n| n.unsigned_abs() as usize).sum() } else { 0 }
    });
    let arguments = insts().map(|inst| inst.args.len() + inst.results.len()).sum::<usize>();
    let work = insts().count() * 2 - literals().count();
    (work, arguments + program.functions.iter().map(|function| function.results.len()).sum::<usize>(), steps.sum())
}

enum Change {
    /// The entry returns this result no more.
    DropResult(usize),
    /// This function does without this instruction, whose results nothing reads.
    DropInst(usize, usize),
    /// In this function, the first value is read as the second.
    Alias(usize, Value, Value),
    /// In this function, the value is zeros or ones.
    Literal(usize, Value, f64),
    /// In this function, this integer literal is another.
    Step(usize, usize, i64),
}

/// All changes to try, large ones first.
fn changes(program: &Program) -> Vec<Change> {
    let mut changes: Vec<Change> = (0..program.main().results.len()).map(Change::DropResult).collect();
    // A `while` whose condition or counter is changed may never end.
    let insts = program.functions.iter().flat_map(|function| &function.insts);
    let kept: BTreeSet<usize> =
        insts.filter(|inst| matches!(inst.op, Op::While(_))).flat_map(Inst::bodies).map(usize::from).collect();
    for (f, function) in program.functions.iter().enumerate().filter(|(f, _)| !kept.contains(f)) {
        let used: BTreeSet<Value> =
            function.insts.iter().flat_map(|inst| &inst.args).chain(&function.results).copied().collect();
        for (k, inst) in function.insts.iter().enumerate().rev() {
            if !inst.results.iter().any(|value| used.contains(value)) {
                changes.push(Change::DropInst(f, k));
            }
            for value in inst.results.iter().filter(|value| used.contains(value)) {
                let earlier = inst
                    .args
                    .iter()
                    .chain(&function.params)
                    .chain(function.insts[..k].iter().flat_map(|inst| &inst.results));
                let alike: BTreeSet<Value> =
                    earlier.filter(|v| function.ty(**v) == function.ty(*value)).copied().collect();
                changes.extend(alike.into_iter().take(8).map(|other| Change::Alias(f, *value, other)));
                if literal(inst).is_none() {
                    changes.extend([0.0, 1.0].map(|number| Change::Literal(f, *value, number)));
                }
            }
            if let Some(array) = literal(inst)
                && let Data::I64(numbers) = array.data()
                && array.shape().is_empty()
            {
                let n = numbers[0];
                changes.extend(
                    [0, 1, n / 2, n - 1].into_iter().filter(|k| k.abs() < n.abs()).map(|to| Change::Step(f, k, to)),
                );
            }
        }
        let params = function.params.iter().filter(|value| used.contains(value));
        changes.extend(params.flat_map(|value| [0.0, 1.0].map(|number| Change::Literal(f, *value, number))));
    }
    changes
}

fn changed(program: &Program, change: &Change) -> Program {
    let mut program = program.clone();
    match change {
        Change::DropResult(k) => drop(program.functions[usize::from(program.entry)].results.remove(*k)),
        Change::DropInst(f, k) => drop(program.functions[*f].insts.remove(*k)),
        Change::Alias(f, value, other) => replace(&mut program.functions[*f], *value, *other, 0),
        Change::Literal(f, value, number) => {
            let function = &mut program.functions[*f];
            let ty = function.ty(*value).clone();
            let from = insert(function, filled(&ty, *number));
            replace(function, *value, from, 1);
        }
        Change::Step(f, k, to) => program.functions[*f].insts[*k].op = constant(Array::int(*to)),
    }
    program
}

/// Reads of a value become reads of another, from an instruction on.
fn replace(function: &mut Function, value: Value, other: Value, from: usize) {
    let args = function.insts[from..].iter_mut().flat_map(|inst| &mut inst.args);
    args.chain(&mut function.results).filter(|v| **v == value).for_each(|v| *v = other);
}

/// A literal before everything else.
fn insert(function: &mut Function, array: Array) -> Value {
    let value = Value(function.types.len() as u32);
    function.types.push(array.ty());
    function.insts.insert(0, Inst { op: constant(array), args: vec![], results: vec![value], pos: Pos::unknown() });
    value
}

fn constant(array: Array) -> Op {
    Op::Def(&ops::CONSTANT, Attrs::none().with("value", Attr::Array(array)))
}

fn literal(inst: &Inst) -> Option<&Array> {
    match &inst.op {
        Op::Def(def, attrs) if *def == &ops::CONSTANT => Some(attrs.array("value")),
        Op::Def(..) | Op::If(_) | Op::For(_) | Op::While(_) | Op::Unwind(_) | Op::Call(_) => None,
    }
}

fn filled(ty: &Type, number: f64) -> Array {
    let mut array = Array::zeros(ty);
    match array.data_mut() {
        DataMut::F32(x) => x.fill(number as f32),
        DataMut::F64(x) => x.fill(number),
        DataMut::I32(x) => x.fill(number as i32),
        DataMut::I64(x) => x.fill(number as i64),
        DataMut::Bool(x) => x.fill(number != 0.0),
    }
    array
}
