//! Rewrites keep every bit and do what they say.

use retrograd_compiler::eval::run;
use retrograd_compiler::ir::{Array, Attrs, Builder, DType, ForOp, FuncId, Function, IfOp, Inst, Op, Program, Row, Type, UnwindOp, Value};
use retrograd_compiler::ops;
use retrograd_compiler::opt::{dead_code, live_insts};

/// Scalar f64.
fn real() -> Type {
    Type::f64([])
}

/// Scalar i64.
fn int() -> Type {
    Type::scalar(DType::I64)
}

fn row(b: &Builder, row: &'static Row, args: &[Value]) -> Value {
    b.row(row, Attrs::none(), args)
}

/// A function from a closure over its parameters.
fn function(name: &str, params: &[Type], build: impl FnOnce(&Builder, &[Value]) -> Vec<Value>) -> Function {
    let b = Builder::new(name);
    let params = b.params(params.iter().cloned());
    let results = build(&b, &params);
    b.finish(results)
}

/// A Program whose functions are added by the closure, which returns the entry.
fn program(build: impl FnOnce(&mut Program) -> Function) -> Program {
    let mut program = Program::new(function("main", &[], |_, _| vec![]));
    let entry = build(&mut program);
    program.functions[0] = entry;
    program
}

/// Types of the results of a loop.
fn push_for(b: &Builder, p: &Program, op: ForOp, args: &[Value]) -> Vec<Value> {
    let types = p.function(op.body).result_types();
    let types = types.iter().enumerate().map(|(k, ty)| if k < op.carries { ty.clone() } else { ty.stream(op.bound) }).collect();
    b.push(Op::For(op), args.to_vec(), types)
}

fn push_unwind(b: &Builder, p: &Program, op: UnwindOp, args: &[Value]) -> Vec<Value> {
    let types = p.function(op.bwd).result_types();
    let emitted = |k: usize| k >= op.adjoints + op.running;
    let types = types.iter().enumerate().map(|(k, ty)| if emitted(k) { ty.stream(op.bound) } else { ty.clone() }).collect();
    b.push(Op::Unwind(op), args.to_vec(), types)
}

/// The only instruction of that name in the entry.
fn only<'p>(program: &'p Program, name: &str) -> &'p Inst {
    let found: Vec<&Inst> = program.main().insts.iter().filter(|inst| inst.op.name() == name).collect();
    assert_eq!(found.len(), 1, "one `{name}` in {:?}", names(program.main()));
    found[0]
}

fn for_of(inst: &Inst) -> &ForOp {
    let Op::For(op) = &inst.op else { panic!("a for") };
    op
}

fn unwind_of(inst: &Inst) -> &UnwindOp {
    let Op::Unwind(op) = &inst.op else { panic!("an unwind") };
    op
}

/// The ops of a function, in order.
fn names(function: &Function) -> Vec<&'static str> {
    function.insts.iter().map(|inst| inst.op.name()).collect()
}

/// Numbers that tell rewrites apart: zeros of both signs, infinities, NaN, and tame ones.
const AWKWARD: [f64; 8] = [0.0, -0.0, 1.0, -1.5, 0.3, f64::INFINITY, f64::NEG_INFINITY, f64::NAN];

/// Inputs of every kind: number `seed` of them.
fn input(ty: &Type, seed: usize) -> Array {
    let n = ty.elements();
    match ty.dtype {
        DType::F64 => Array::f64(
            ty.shape.clone(),
            (0..n).map(|k| if seed < 3 { (k + seed) as f64 * 0.37 - 0.5 } else { AWKWARD[(k + seed) % 8] }).collect(),
        ),
        DType::I64 => Array::int([3, 0, 1, 2][seed % 4]),
        DType::Bool => Array::bool(seed.is_multiple_of(2)),
        DType::F32 | DType::I32 => panic!("not in these tests"),
    }
}

/// The same errors and the same bits from both Programs, on tame and awkward inputs, and the same types.
fn same_meaning(before: &Program, after: &Program) {
    assert_eq!(before.main().param_types(), after.main().param_types());
    assert_eq!(before.main().result_types(), after.main().result_types());
    for seed in 0..12 {
        let inputs: Vec<Array> = before.main().param_types().iter().map(|ty| input(ty, seed)).collect();
        match (run(before, &inputs), run(after, &inputs)) {
            (Ok(before), Ok(after)) => {
                assert!(before.iter().zip(&after).all(|(x, y)| x.same_bits(y)), "on {inputs:?}: {before:?} became {after:?}")
            }
            (before, after) => assert_eq!(before, after, "on {inputs:?}"),
        }
    }
}

/// A pass applied, with its meaning checked.
fn check(pass: fn(&Program) -> Program, before: &Program) -> Program {
    let after = pass(before);
    same_meaning(before, &after);
    after
}

mod dead {
    use super::*;

    /// for n, (x, y, z), (k, unused), {c0' = c0 * k, c1' = c1 + c0, c2' = c2 + c1}.
    fn chain(read: usize) -> Program {
        program(|p| {
            let body = p.add(function("step", &[int(), real(), real(), real(), real(), real()], |b, v| {
                vec![b.mul(v[1], v[4]), b.add(v[2], v[1]), b.add(v[3], v[2])]
            }));
            function("main", &[int(), real(), real()], |b, v| {
                let op = ForOp { body, carries: 3, invariants: 2, bound: 0 };
                let unused = row(b, &ops::EXP, &[v[2]]);
                let carries = push_for(b, p, op, &[v[0], v[1], v[1], v[1], v[2], unused]);
                vec![carries[read]]
            })
        })
    }

    #[test]
    fn carries_that_no_live_result_needs_go() {
        for read in 0..3 {
            let after = check(dead_code, &chain(read));
            assert_eq!(names(after.main()), ["for"]);
            let inst = only(&after, "for");
            assert_eq!(for_of(inst), &ForOp { body: FuncId(1), carries: read + 1, invariants: 1, bound: 0 });
            assert_eq!((inst.args.len(), inst.results.len()), (read + 3, read + 1));
            assert_eq!(after.functions[1].insts.len(), read + 1);
        }
    }

    #[test]
    fn a_carry_that_only_feeds_itself_goes_with_its_loop() {
        let before = program(|p| {
            let body = p.add(function("step", &[int(), real()], |b, v| vec![b.mul(v[1], v[1])]));
            function("main", &[int(), real()], |b, v| {
                push_for(b, p, ForOp { body, carries: 1, invariants: 0, bound: 0 }, v);
                vec![v[1]]
            })
        });
        let after = check(dead_code, &before);
        assert!(after.main().insts.is_empty());
        assert_eq!(after.functions.len(), 1);
    }
}
