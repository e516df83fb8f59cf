//! Rewrites keep every bit and do what they say; random Programs are tried in `retrograd-testing`.

use retrograd_compiler::eval::run;
use retrograd_compiler::ir::verify;
use retrograd_compiler::ir::{
    Array, Attrs, Builder, DType, ForOp, FuncId, Function, IfOp, Inst, Linearity, Op, OpDef, Program, Type, UnwindOp,
    Value,
};
use retrograd_compiler::ops;
use retrograd_compiler::opt::{Pass, dead_code, live_insts};

#[path = "opt/before_plan.rs"]
mod before_plan;
#[path = "opt/factored.rs"]
mod factored;

/// Scalar f64.
fn real() -> Type {
    Type::f64([])
}

/// Scalar i64.
fn int() -> Type {
    Type::scalar(DType::I64)
}

fn row(b: &Builder, def: &'static OpDef, args: &[Value]) -> Value {
    b.op(def, Attrs::none(), args)
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
    let types =
        types.iter().enumerate().map(|(k, ty)| if k < op.carries { ty.clone() } else { ty.stream(op.bound) }).collect();
    b.push(Op::For(op), args.to_vec(), types)
}

fn push_unwind(b: &Builder, p: &Program, op: UnwindOp, args: &[Value]) -> Vec<Value> {
    let types = p.function(op.bwd).result_types();
    let emitted = |k: usize| k >= op.adjoints + op.running;
    let types =
        types.iter().enumerate().map(|(k, ty)| if emitted(k) { ty.stream(op.bound) } else { ty.clone() }).collect();
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
        DType::I64 => Array::int([2, 0, 1][seed % 3]),
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
                assert!(
                    before.iter().zip(&after).all(|(x, y)| x.same_bits(y)),
                    "on {inputs:?}: {before:?} became {after:?}"
                )
            }
            (before, after) => assert_eq!(before, after, "on {inputs:?}"),
        }
    }
}

/// A pass applied, with its meaning checked.
fn check(passes: &[Pass], before: &Program) -> Program {
    verify(before).expect("tests start from a valid Program");
    let mut after = before.clone();
    for pass in passes {
        pass(&mut after);
    }
    judged(before, after)
}

/// A Program that is valid and means the same as before.
fn judged(before: &Program, after: Program) -> Program {
    verify(&after).unwrap_or_else(|error| panic!("{error}\n{after}"));
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
            let after = check(&[dead_code], &chain(read));
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
        let after = check(&[dead_code], &before);
        assert!(after.main().insts.is_empty());
        assert_eq!(after.functions.len(), 1);
    }
    /// A linear in-place update: A[i] = k · A[i]. Its adjoint is ct[i] = k · ct[i]; it reads no state.
    fn scale_in_place(p: &mut Program) -> (FuncId, FuncId) {
        let v = Type::f64([3]);
        let scale = |b: &Builder, array: Value, k: Value, i: Value| {
            let one = b.op(&ops::DYNAMIC_SLICE, Attrs::none().ints("sizes", [1]).ints("step", [1]), &[array, i]);
            let k = b.op(&ops::RESHAPE, Attrs::none().ints("shape", [1]), &[k]);
            b.op(&ops::UPDATE, Attrs::none().ints("step", [1]), &[array, b.mul(one, k), i])
        };
        let body = p.add(function("step", &[int(), v.clone(), real()], |b, v| vec![scale(b, v[1], v[2], v[0])]));
        let bwd = p.add(function("back", &[int(), v.clone(), real(), v], |b, v| vec![scale(b, v[3], v[2], v[0])]));
        (body, bwd)
    }

    fn unwind(body: FuncId, bwd: FuncId) -> UnwindOp {
        UnwindOp {
            body,
            bwd,
            carries: 1,
            invariants: 1,
            streams: 0,
            adjoints: 1,
            emitted: 0,
            running: 0,
            bound: 0,
            linearity: Linearity::Linear,
        }
    }

    #[test]
    fn an_unwind_of_linear_in_place_updates_keeps_no_carries() {
        let v = Type::f64([3]);
        let before = program(|p| {
            let (body, bwd) = scale_in_place(p);
            function("main", &[int(), v.clone(), real(), v.clone()], |b, v| {
                push_unwind(b, p, unwind(body, bwd), &[v[0], v[1], v[2], v[3]])
            })
        });
        let after = check(&[dead_code], &before);
        let op = unwind_of(only(&after, "unwind"));
        assert_eq!((op.carries, op.invariants, op.adjoints), (0, 1, 1));
        assert!(after.function(op.body).insts.is_empty());
        assert_eq!(after.function(op.bwd).params.len(), 3);
    }

    #[test]
    fn a_body_that_two_instructions_share_is_cut_for_each() {
        let v = Type::f64([3]);
        let before = program(|p| {
            let (body, bwd) = scale_in_place(p);
            function("main", &[int(), v.clone(), real(), v.clone()], |b, v| {
                let array = push_for(b, p, ForOp { body, carries: 1, invariants: 1, bound: 0 }, &[v[0], v[1], v[2]])[0];
                let ct = push_unwind(b, p, unwind(body, bwd), &[v[0], v[1], v[2], v[3]])[0];
                vec![array, ct]
            })
        });
        let after = check(&[dead_code], &before);
        assert_eq!(for_of(only(&after, "for")).carries, 1);
        assert_eq!(unwind_of(only(&after, "unwind")).carries, 0);
        let all: Vec<&str> = after.functions.iter().map(|f| f.name.as_str()).collect();
        assert_eq!(all, ["main", "step", "step_2", "back"]);
    }

    /// An unwind of carries (c, d, e) with c' = c·c, d' = d + c, e' = e·e, whose bwd reads what `bwd` says.
    fn three_carries(bwd: impl FnOnce(&Builder, &[Value]) -> Vec<Value>) -> Program {
        program(|p| {
            let body = p.add(function("step", &[int(), real(), real(), real()], |b, v| {
                vec![b.mul(v[1], v[1]), b.add(v[2], v[1]), b.mul(v[3], v[3])]
            }));
            let bwd = p.add(function("back", &[int(), real(), real(), real(), real(), real(), real()], bwd));
            function("main", &[int(), real(), real(), real()], |b, v| {
                let op = UnwindOp { adjoints: 2, running: 1, carries: 3, invariants: 0, ..unwind(body, bwd) };
                let results = push_unwind(b, p, op, &[v[0], v[1], v[1], v[1], v[2], v[3], v[3]]);
                vec![results[0]]
            })
        })
    }

    #[test]
    fn an_unwind_keeps_what_bwd_reads_and_what_the_body_needs_for_it() {
        // bwd reads d, which needs c; e, the second adjoint and the running cotangent go.
        let after =
            check(&[dead_code], &three_carries(|b, v| vec![b.mul(v[4], v[2]), b.mul(v[5], v[3]), b.add(v[6], v[5])]));
        let op = unwind_of(only(&after, "unwind"));
        assert_eq!((op.carries, op.adjoints, op.running), (2, 1, 0));
        // bwd reads c only.
        let after = check(&[dead_code], &three_carries(|b, v| vec![b.mul(v[4], v[1]), v[5], v[6]]));
        assert_eq!(unwind_of(only(&after, "unwind")).carries, 1);
        // The first adjoint reads the running cotangent, which reads the second adjoint.
        let after = check(&[dead_code], &three_carries(|b, v| vec![b.add(v[4], v[6]), v[5], b.add(v[6], v[5])]));
        let op = unwind_of(only(&after, "unwind"));
        assert_eq!((op.carries, op.adjoints, op.running), (0, 2, 1));
    }

    #[test]
    fn an_unwind_inside_bwd_is_sliced_first() {
        // The inner unwind of linear updates reads no state, so the outer one keeps none either.
        let v = Type::f64([3]);
        let before = program(|p| {
            let (inner, inner_bwd) = scale_in_place(p);
            let body = p.add(function("sweep", &[int(), v.clone(), real()], |b, v| {
                let n = b.int(3);
                push_for(b, p, ForOp { body: inner, carries: 1, invariants: 1, bound: 0 }, &[n, v[1], v[2]])
            }));
            let bwd = p.add(function("sweep_back", &[int(), v.clone(), real(), v.clone()], |b, v| {
                let n = b.int(3);
                push_unwind(b, p, unwind(inner, inner_bwd), &[n, v[1], v[2], v[3]])
            }));
            function("main", &[int(), v.clone(), real(), v.clone()], |b, v| push_unwind(b, p, unwind(body, bwd), v))
        });
        let after = check(&[dead_code], &before);
        let op = unwind_of(only(&after, "unwind"));
        assert_eq!(op.carries, 0);
        assert_eq!(unwind_of(&after.function(op.bwd).insts[1]).carries, 0);
        let all: Vec<&str> = after.functions.iter().map(|f| f.name.as_str()).collect();
        assert_eq!(all, ["main", "sweep", "sweep_back", "step", "back"], "the inner forward loop is gone");
    }

    #[test]
    fn unused_streams_and_results_of_branches_go() {
        let v = Type::f64([3]);
        let before = program(|p| {
            let body =
                p.add(function("map", &[int(), real(), real()], |b, v| vec![b.mul(v[1], v[1]), b.add(v[2], v[2])]));
            let then_body = p.add(function("then", &[v.clone(), v.clone()], |b, v| vec![b.add(v[0], v[0]), v[1]]));
            let else_body = p.add(function("else", &[v.clone(), v.clone()], |b, v| vec![v[0], b.neg(v[1])]));
            function("main", &[Type::scalar(DType::Bool), v.clone(), v.clone()], |b, v| {
                let n = b.int(3);
                let ys = push_for(b, p, ForOp { body, carries: 0, invariants: 0, bound: 3 }, &[n, v[1], v[2]]);
                let types = b.types(&ys);
                let joined = b.push(Op::If(IfOp { then_body, else_body }), vec![v[0], ys[0], ys[1]], types);
                vec![joined[0]]
            })
        });
        let after = check(&[dead_code], &before);
        assert_eq!((only(&after, "for").args.len(), only(&after, "for").results.len()), (2, 1));
        assert_eq!((only(&after, "if").args.len(), only(&after, "if").results.len()), (2, 1));
        assert_eq!(after.functions.iter().map(|f| f.insts.len()).collect::<Vec<_>>(), [3, 1, 1, 0]);
    }

    #[test]
    fn live_instructions_are_those_that_roots_need() {
        let main = function("main", &[real()], |b, v| vec![b.neg(v[0]), b.add(v[0], v[0])]);
        let sum = main.results[1];
        assert_eq!(live_insts(&main, &Program::new(main.clone()), &[sum]), [false, true]);
    }
}

mod equal {
    use super::*;
    use retrograd_compiler::opt::common;

    #[test]
    fn literals_are_compared_by_bits() {
        let before = program(|_| {
            function("main", &[real()], |b, v| {
                let literals: Vec<Value> =
                    [0.0, -0.0, f64::NAN, f64::NAN, 0.0].into_iter().map(|x| b.constant(Array::scalar(x))).collect();
                literals.into_iter().map(|x| b.add(v[0], x)).collect()
            })
        });
        let after = check(&[common], &before);
        assert_eq!(names(after.main()), ["constant", "constant", "constant", "add", "add", "add"]);
        let [a, b, c, d, e] = after.main().results[..] else { panic!("five results") };
        assert_eq!((a, c), (e, d));
        assert_ne!(a, b);
    }

    #[test]
    fn literals_that_only_begin_alike_stay_apart() {
        let before = program(|_| {
            function("main", &[], |b, _| {
                [2.0, 3.0, 2.0].map(|last| b.constant(Array::f64([3], vec![0.5, 1.0, last]))).to_vec()
            })
        });
        let after = check(&[common], &before);
        let [a, b, c] = after.main().results[..] else { panic!("three results") };
        assert_eq!(a, c);
        assert_ne!(a, b);
    }

    #[test]
    fn loops_of_equal_meaning_are_one_whatever_the_order_of_their_bodies() {
        let before = program(|p| {
            let types = [int(), real(), real()];
            let one = p.add(function("one", &types, |b, v| {
                let (s, c) = (row(b, &ops::SIN, &[v[1]]), row(b, &ops::COS, &[v[2]]));
                vec![b.mul(s, c)]
            }));
            let two = p.add(function("two", &types, |b, v| {
                let (c, s) = (row(b, &ops::COS, &[v[2]]), row(b, &ops::SIN, &[v[1]]));
                vec![b.mul(s, c)]
            }));
            let swapped = p.add(function("swapped", &types, |b, v| {
                let (c, s) = (row(b, &ops::COS, &[v[2]]), row(b, &ops::SIN, &[v[1]]));
                vec![b.mul(c, s)]
            }));
            function("main", &types, |b, v| {
                let of = |body| push_for(b, p, ForOp { body, carries: 1, invariants: 1, bound: 0 }, v)[0];
                vec![of(one), of(two), of(swapped)]
            })
        });
        let after = check(&[common], &before);
        assert_eq!(names(after.main()), ["for", "for"]);
        let results = &after.main().results;
        assert_eq!(results[0], results[1]);
        assert_ne!(results[0], results[2], "NaNs tell a · b from b · a");
    }

    #[test]
    fn equal_functions_are_one_unless_their_lines_differ() {
        let of = |line: u32| {
            let before = program(|p| {
                let add = |p: &mut Program, name: &str, line| {
                    p.add(function(name, &[int(), real()], |b, v| {
                        b.set_pos(&retrograd_compiler::ir::Pos::new("user.py", line));
                        vec![b.neg(v[1])]
                    }))
                };
                let (f, g) = (add(p, "f", 1), add(p, "g", line));
                function("main", &[int(), real(), real()], |b, v| {
                    let op = |body| ForOp { body, carries: 1, invariants: 0, bound: 0 };
                    vec![push_for(b, p, op(f), &[v[0], v[1]])[0], push_for(b, p, op(g), &[v[0], v[2]])[0]]
                })
            });
            check(&[common], &before).functions.len()
        };
        assert_eq!((of(1), of(2)), (2, 3));
    }
}

mod folded {
    use super::*;
    use retrograd_compiler::ir::{Attr, Data};
    use retrograd_compiler::opt::fold;

    fn eight() -> Type {
        Type::f64([8])
    }

    /// What is left of a function of x: f64[8] and m: f64[2,3], on awkward numbers.
    fn left(build: impl FnOnce(&Builder, Value, Value) -> Value) -> Vec<&'static str> {
        let before = program(|_| function("main", &[eight(), Type::f64([2, 3])], |b, v| vec![build(b, v[0], v[1])]));
        names(check(&[fold, dead_code], &before).main())
    }

    fn binary(op: &'static OpDef, number: f64, first: bool) -> Vec<&'static str> {
        left(|b, x, _| {
            let number = b.full(&eight(), number);
            row(b, op, &if first { [number, x] } else { [x, number] })
        })
    }

    fn ints(name: &'static str, values: &[usize]) -> Attrs {
        Attrs::none().ints(name, values.iter().copied())
    }

    #[test]
    fn identities_of_arithmetic() {
        for (op, number, first) in [
            (&ops::MUL, 1.0, false),
            (&ops::MUL, 1.0, true),
            (&ops::DIV, 1.0, false),
            (&ops::SUB, 0.0, false),
            (&ops::ADD, -0.0, false),
            (&ops::ADD, -0.0, true),
        ] {
            assert!(binary(op, number, first).is_empty(), "{} {number}", op.name);
        }
    }

    #[test]
    fn what_changes_bits_is_left() {
        for (op, number, first) in [
            (&ops::ADD, 0.0, false),
            (&ops::ADD, 0.0, true),
            (&ops::SUB, -0.0, false),
            (&ops::SUB, 0.0, true),
            (&ops::MUL, 0.0, false),
            (&ops::MUL, -1.0, false),
            (&ops::DIV, 1.0, true),
            (&ops::DIV, -1.0, false),
        ] {
            assert_eq!(binary(op, number, first).last(), Some(&op.name), "{} {number}", op.name);
        }
    }

    #[test]
    fn involutions_and_choices() {
        assert!(left(|b, x, _| b.neg(b.neg(x))).is_empty());
        for truth in [true, false] {
            assert!(
                left(|b, x, _| {
                    let p = b.broadcast(b.constant(Array::bool(truth)), &[8], &[]);
                    row(b, &ops::SELECT, &[p, x, x])
                })
                .is_empty()
            );
            let chosen = left(|b, x, _| {
                let p = b.broadcast(b.constant(Array::bool(truth)), &[8], &[]);
                row(b, &ops::SELECT, &[p, x, b.neg(x)])
            });
            assert_eq!(chosen.is_empty(), truth);
        }
        assert!(
            left(|b, x, _| b.op(&ops::CONVERT, Attrs::none().with("dtype", Attr::DType(DType::F64)), &[x])).is_empty()
        );
        assert!(left(|b, x, _| b.op(&ops::SUM, ints("axes", &[]), &[x])).is_empty());
    }

    #[test]
    fn views_compose() {
        let reshape = |b: &Builder, x, shape: &[usize]| b.op(&ops::RESHAPE, ints("shape", shape), &[x]);
        let transpose = |b: &Builder, x, axes: &[usize]| b.op(&ops::TRANSPOSE, ints("axes", axes), &[x]);
        assert!(left(|b, _, m| reshape(b, m, &[2, 3])).is_empty());
        assert_eq!(left(|b, _, m| reshape(b, reshape(b, m, &[6]), &[3, 2])), ["reshape"]);
        assert!(left(|b, _, m| reshape(b, reshape(b, m, &[6]), &[2, 3])).is_empty());
        assert!(left(|b, _, m| transpose(b, transpose(b, m, &[1, 0]), &[1, 0])).is_empty());
        assert_eq!(
            left(|b, _, m| {
                let cube = b.broadcast(m, &[4, 2, 3], &[1, 2]);
                transpose(b, transpose(b, cube, &[1, 2, 0]), &[0, 2, 1])
            }),
            ["broadcast", "transpose"]
        );
        assert_eq!(left(|b, x, _| b.broadcast(b.broadcast(x, &[2, 8], &[1]), &[2, 3, 8], &[0, 2])), ["broadcast"]);
        let everything = ints("start", &[0, 0]).ints("stop", [2, 3]).ints("step", [1, 1]);
        assert!(left(|b, _, m| b.op(&ops::SLICE, everything, &[m])).is_empty());
        let numbers = left(|b, _, _| {
            let zeros = b.zeros(&Type::f64([2, 3]));
            transpose(b, reshape(b, zeros, &[3, 2]), &[1, 0])
        });
        assert_eq!(numbers, ["constant", "broadcast"]);
    }

    #[test]
    fn windows_at_known_places_are_slices_where_they_fit() {
        let at = |start: i64| {
            left(|b, x, _| b.op(&ops::DYNAMIC_SLICE, ints("sizes", &[3]).ints("step", [2]), &[x, b.int(start)]))
                .last()
                .copied()
        };
        assert_eq!(at(3), Some("slice"));
        assert_eq!(at(4), Some("dynamic_slice"), "the fault stays");
        assert_eq!(at(-1), Some("dynamic_slice"), "the fault stays");
        assert!(left(|b, x, _| b.op(&ops::UPDATE, ints("step", &[1]), &[b.neg(x), x, b.int(0)])).is_empty());
    }

    #[test]
    fn constants_fold_unless_they_fault() {
        let scalar = |build: fn(&Builder) -> Value| {
            let before = program(|_| function("main", &[], |b, _| vec![build(b)]));
            names(check(&[fold, dead_code], &before).main())
        };
        assert_eq!(scalar(|b| row(b, &ops::EXP, &[b.full(&real(), 0.5)])), ["constant"]);
        assert_eq!(scalar(|b| b.mul(b.int(6), b.int(7))), ["constant"]);
        assert_eq!(
            scalar(|b| b.add(b.full(&Type::f64([40]), 0.5), b.full(&Type::f64([40]), 1.5))),
            ["constant", "broadcast"]
        );
        let literal = |b: &Builder, n: usize| b.constant(Array::f64([n], (0..n).map(|k| k as f64).collect()));
        assert_eq!(scalar(|b| b.neg(b.constant(Array::f64([3], vec![1.0, 2.0, 3.0])))), ["constant"]);
        let neg = program(|_| function("main", &[], |b, _| vec![b.neg(literal(b, 17))]));
        assert_eq!(names(check(&[fold], &neg).main()), ["constant", "neg"], "data is not made");
        assert_eq!(scalar(|b| row(b, &ops::DIV, &[b.int(1), b.int(0)])), ["constant", "constant", "div"]);
        assert_eq!(scalar(|b| b.constant(Array::new([5], Data::F64(vec![2.0; 5])))), ["constant", "broadcast"]);
    }
}

mod known_control {
    use super::*;
    use retrograd_compiler::opt::{control, simplify};

    fn cleaned(before: &Program) -> Program {
        check(&[control, dead_code], before)
    }

    #[test]
    fn the_only_step_of_a_loop_has_index_zero() {
        let text = "fn main(%0: i64) -> i64 {
  %1: i64 = constant {value=1}
  %2: i64 = for %1 carries(%0) {body=step}
  return %2
}
fn step(%0: i64, %1: i64) -> i64 {
  %2: i64 = add %0, %1
  return %2
}
";
        let program = ops::parse(text, "step.rg").unwrap();
        assert_eq!(retrograd_compiler::eval::run(&simplify(&program), &[Array::int(5)]).unwrap(), [Array::int(5)]);
    }

    #[test]
    fn known_branches_are_inlined() {
        for truth in [true, false] {
            let before = program(|p| {
                let then_body = p.add(function("then", &[real()], |b, v| vec![row(b, &ops::SIN, v)]));
                let else_body = p.add(function("else", &[real()], |b, v| vec![row(b, &ops::COS, v)]));
                function("main", &[real()], |b, v| {
                    let p = b.constant(Array::bool(truth));
                    b.push(Op::If(IfOp { then_body, else_body }), vec![p, v[0]], vec![real()])
                })
            });
            assert_eq!(names(cleaned(&before).main()), [if truth { "sin" } else { "cos" }]);
        }
    }

    /// c' = c · c over n steps, and its adjoint a' = a · c + a · c.
    fn squares(count: Option<i64>) -> Program {
        program(|p| {
            let body = p.add(function("step", &[int(), real()], |b, v| vec![b.mul(v[1], v[1])]));
            let bwd = p.add(function("back", &[int(), real(), real()], |b, v| {
                let ct = b.mul(v[2], v[1]);
                vec![b.add(ct, ct)]
            }));
            function("main", &[int(), real(), real()], |b, v| {
                let n = count.map_or(v[0], |n| b.int(n));
                let c = push_for(b, p, ForOp { body, carries: 1, invariants: 0, bound: 0 }, &[n, v[1]])[0];
                let op = UnwindOp {
                    body,
                    bwd,
                    carries: 1,
                    invariants: 0,
                    streams: 0,
                    adjoints: 1,
                    emitted: 0,
                    running: 0,
                    bound: 0,
                    linearity: Linearity::Linear,
                };
                vec![c, push_unwind(b, p, op, &[n, v[1], v[2]])[0]]
            })
        })
    }

    #[test]
    fn loops_of_no_or_one_step_are_inlined() {
        assert!(names(cleaned(&squares(Some(0))).main()).is_empty());
        assert!(names(cleaned(&squares(Some(-2))).main()).is_empty());
        assert_eq!(names(cleaned(&squares(Some(1))).main()), ["mul", "mul", "add"]);
        assert_eq!(names(cleaned(&squares(Some(2))).main()), ["constant", "for", "unwind"]);
        assert_eq!(names(cleaned(&squares(None)).main()), ["for", "unwind"]);
    }

    #[test]
    fn a_carry_that_comes_back_is_an_invariant_and_known_ones_move_in() {
        let before = program(|p| {
            let body = p.add(function("step", &[int(), real(), real(), real(), real()], |b, v| {
                let c = b.mul(v[1], v[2]);
                vec![b.add(b.add(c, v[3]), v[4]), v[2], v[3]]
            }));
            function("main", &[int(), real(), real()], |b, v| {
                let k = b.full(&real(), 0.5);
                push_for(b, p, ForOp { body, carries: 3, invariants: 1, bound: 0 }, &[v[0], v[1], k, v[2], v[2]])
            })
        });
        let after = cleaned(&before);
        let op = for_of(only(&after, "for"));
        assert_eq!((op.carries, op.invariants), (1, 1), "0.5 moved in, and the two others are one value");
        assert_eq!(names(after.function(op.body)), ["constant", "mul", "add", "add"]);
        assert_eq!(after.main().results[2], after.main().params[2]);
    }

    #[test]
    fn an_unwind_with_fixed_states_and_cotangents_lets_them_go() {
        let before = program(|p| {
            let body = p.add(function("step", &[int(), real(), real()], |b, v| vec![b.mul(v[1], v[2]), v[2]]));
            let bwd =
                p.add(function("back", &[int(), real(), real(), real(), real()], |b, v| vec![b.mul(v[3], v[2]), v[4]]));
            function("main", &[int(), real(), real(), real()], |b, v| {
                let op = UnwindOp {
                    body,
                    bwd,
                    carries: 2,
                    invariants: 0,
                    streams: 0,
                    adjoints: 2,
                    emitted: 0,
                    running: 0,
                    bound: 0,
                    linearity: Linearity::Linear,
                };
                push_unwind(b, p, op, &[v[0], v[1], v[2], v[3], v[1]])
            })
        });
        let after = cleaned(&before);
        let op = unwind_of(only(&after, "unwind"));
        assert_eq!((op.carries, op.invariants, op.adjoints), (0, 1, 1));
        assert_eq!(after.main().results[1], after.main().params[1]);
    }
}

mod hoisted {
    use super::*;
    use retrograd_compiler::opt::{hoist, simplify};

    #[test]
    fn scalars_leave_nested_loops_and_faults_stay() {
        let before = program(|p| {
            let inner = p.add(function("inner", &[int(), real(), real(), int()], |b, v| {
                let k = row(b, &ops::EXP, &[v[2]]);
                let m = b.convert(row(b, &ops::DIV, &[v[3], v[3]]), DType::F64);
                vec![b.mul(b.add(v[1], m), k)]
            }));
            let outer = p.add(function("outer", &[int(), real(), real(), int()], |b, v| {
                let n = b.int(2);
                push_for(b, p, ForOp { body: inner, carries: 1, invariants: 2, bound: 0 }, &[n, v[1], v[2], v[3]])
            }));
            function("main", &[int(), real(), real()], |b, v| {
                push_for(b, p, ForOp { body: outer, carries: 1, invariants: 2, bound: 0 }, &[v[0], v[1], v[2], v[0]])
            })
        });
        let after = check(&[hoist, dead_code], &before);
        assert_eq!(names(after.main()), ["exp", "for"]);
        assert_eq!(
            names(&after.functions[2]),
            ["div", "convert", "add", "mul"],
            "an integer division stays in its loop"
        );
    }

    #[test]
    fn a_read_out_of_bounds_in_a_loop_of_no_steps_never_happens() {
        let text = "fn main(%0: i64, %1: f64, %2: f64[3], %3: i64) -> f64 {
  %4: f64 = for %0 carries(%1) invariants(%2, %3) {body=step}
  return %4
}
fn step(%0: i64, %1: f64, %2: f64[3], %3: i64) -> f64 {
  %4: f64 = gather %2, %3 {axis=[0]}
  %5: f64 = add %1, %4
  return %5
}
";
        let program = ops::parse(text, "step.rg").unwrap();
        let inputs = [Array::int(0), Array::scalar(2.0), Array::f64([3], vec![1.0; 3]), Array::int(7)];
        assert_eq!(retrograd_compiler::eval::run(&simplify(&program), &inputs).unwrap(), [Array::scalar(2.0)]);
    }

    #[test]
    fn dear_arrays_leave_with_what_they_read_and_cheap_or_larger_ones_stay() {
        let small = Type::f64([3]);
        let before = program(|p| {
            let body = p.add(function("step", &[int(), Type::f64([2, 3]), small.clone()], |b, v| {
                let dear = row(b, &ops::EXP, &[b.neg(v[2])]);
                let cheap = b.mul(v[2], v[2]);
                let larger = row(b, &ops::SIN, &[b.broadcast(cheap, &[2, 3], &[1])]);
                vec![b.add(b.mul(v[1], b.broadcast(dear, &[2, 3], &[1])), larger)]
            }));
            function("main", &[int(), Type::f64([2, 3]), small.clone()], |b, v| {
                push_for(b, p, ForOp { body, carries: 1, invariants: 1, bound: 0 }, v)
            })
        });
        let after = check(&[hoist, dead_code], &before);
        assert_eq!(names(after.main()), ["neg", "exp", "for"]);
        let step = &after.functions[if after.entry.0 == 0 { 1 } else { 0 }];
        assert!(!names(step).contains(&"exp") && !names(step).contains(&"neg"), "{step:?}");
    }

    #[test]
    fn what_body_and_bwd_share_is_computed_once_before_the_unwind() {
        let before = program(|p| {
            let body = p.add(function("step", &[int(), real(), real()], |b, v| {
                let k = row(b, &ops::SIN, &[v[2]]);
                let c = b.mul(v[1], k);
                vec![b.mul(c, c)]
            }));
            let bwd = p.add(function("back", &[int(), real(), real(), real()], |b, v| {
                let k = row(b, &ops::SIN, &[v[2]]);
                vec![b.mul(v[3], b.mul(v[1], k))]
            }));
            function("main", &[int(), real(), real(), real()], |b, v| {
                let op = UnwindOp {
                    body,
                    bwd,
                    carries: 1,
                    invariants: 1,
                    streams: 0,
                    adjoints: 1,
                    emitted: 0,
                    running: 0,
                    bound: 0,
                    linearity: Linearity::Linear,
                };
                push_unwind(b, p, op, v)
            })
        });
        let after = judged(&before, simplify(&before));
        assert_eq!(names(after.main()), ["sin", "unwind"]);
        let op = unwind_of(only(&after, "unwind"));
        assert_eq!((op.carries, op.invariants), (1, 1));
    }
}

#[test]
fn a_step_backwards_over_numbers_waits_for_one_instruction() {
    let text = "fn main(%x: f64, %r: f64, %ct: f64) -> f64 {
  %n: i64 = constant {value=9}
  %dx: f64 = unwind %n carries(%x) invariants(%r) adjoints(%ct) {body=step, bwd=back}
  return %dx
}
fn step(%i: i64, %x: f64, %r: f64) -> f64 {
  %one: f64 = constant {value=1.0}
  %rx: f64 = mul %r, %x
  %rest: f64 = sub %one, %x
  %y: f64 = mul %rx, %rest
  return %y
}
fn back(%i: i64, %x: f64, %r: f64, %a: f64) -> f64 {
  %one: f64 = constant {value=1.0}
  %rx: f64 = mul %r, %x
  %rest: f64 = sub %one, %x
  %b: f64 = mul %a, %rest
  %c: f64 = mul %b, %r
  %d: f64 = mul %a, %rx
  %e: f64 = sub %c, %d
  return %e
}
";
    let program = ops::parse(text, "logistic.rg").unwrap();
    let frozen = retrograd_compiler::opt::freeze(&program);
    let back = frozen.functions.iter().find(|function| function.params.len() == 4).expect("the step backwards");
    let readers = back.insts.iter().filter(|inst| inst.args.contains(&back.params[3])).collect::<Vec<_>>();
    let [Inst { op: Op::If(op), args, results, .. }] = readers.as_slice() else { panic!("{frozen}") };
    assert_eq!(*results, back.results, "{frozen}");
    let sums = frozen.function(op.then_body);
    let a = sums.params[args.iter().position(|v| *v == back.params[3]).expect("the cotangent") - 1];
    let readers = sums.insts.iter().filter(|inst| inst.args.contains(&a)).collect::<Vec<_>>();
    assert!(readers.len() == 1 && readers[0].results == sums.results, "{frozen}");
    let inputs = [0.3, 3.5, 1.0].map(retrograd_compiler::ir::Array::scalar);
    let [plain, factored] = [&program, &frozen].map(|program| run(program, &inputs).unwrap()[0].as_f64()[0]);
    assert!((plain - factored).abs() <= 1e-12 * plain.abs(), "{plain} {factored}");
}
