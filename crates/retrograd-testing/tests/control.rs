//! Derivatives through control flow, to order 2 and beyond, in all combinations of modes.

use retrograd_compiler::ir::{
    Array, Attrs, Builder, DType, Error, ErrorKind, ForOp, FuncId, Function, IfOp, Linearity, Lowering, Op, OpDef, Pos,
    Program, Rule, Sample, Type, UnwindOp, Value, verify,
};
use retrograd_compiler::ops::{DYNAMIC_SLICE, GT, LT, SIN, SUM, TANH, UPDATE};
use retrograd_compiler::{diff, eval, ops};
use retrograd_testing::{Random, check_row, check_to_order};

/// Functions of a Program, bodies first.
#[derive(Default)]
struct Draft(Vec<Function>);

impl Draft {
    fn add(&mut self, function: Function) -> FuncId {
        self.0.push(function);
        FuncId(self.0.len() as u32 - 1)
    }

    /// Adds a body with parameters of these types.
    fn body(&mut self, name: &str, types: &[Type], build: impl FnOnce(&Builder, &[Value]) -> Vec<Value>) -> FuncId {
        let b = Builder::new(name);
        let params = b.params(types.iter().cloned());
        let results = build(&b, &params);
        self.add(b.finish(results))
    }

    fn program(mut self, types: &[Type], build: impl FnOnce(&mut Draft, &Builder, &[Value]) -> Vec<Value>) -> Program {
        let b = Builder::new("main");
        let params = b.params(types.iter().cloned());
        let results = build(&mut self, &b, &params);
        let entry = self.add(b.finish(results));
        Program { functions: self.0, entry }
    }

    fn for_loop(&self, b: &Builder, body: FuncId, n: Value, groups: [&[Value]; 3], bound: usize) -> Vec<Value> {
        let op = ForOp { body, carries: groups[0].len(), invariants: groups[1].len(), bound };
        let types = self.0[usize::from(body)].result_types();
        let types = types
            .iter()
            .enumerate()
            .map(|(k, ty)| if k < op.carries { ty.clone() } else { ty.stream(bound) })
            .collect();
        b.push(Op::For(op), [&[n], groups[0], groups[1], groups[2]].concat(), types)
    }

    fn branch(&self, b: &Builder, then_body: FuncId, else_body: FuncId, args: &[Value]) -> Vec<Value> {
        let types = self.0[usize::from(then_body)].result_types();
        b.push(Op::If(IfOp { then_body, else_body }), args.to_vec(), types)
    }
}

fn number() -> Type {
    Type::f64([])
}

fn index() -> Type {
    Type::scalar(DType::I64)
}

fn unary(b: &Builder, def: &'static OpDef, x: Value) -> Value {
    b.op(def, Attrs::none(), &[x])
}

fn binary(b: &Builder, def: &'static OpDef, x: Value, y: Value) -> Value {
    b.op(def, Attrs::none(), &[x, y])
}

fn scale(b: &Builder, x: Value, factor: f64) -> Value {
    let factor = b.full(&b.ty(x), factor);
    b.mul(factor, x)
}

/// The element of a vector at an index, as a scalar.
fn element(b: &Builder, x: Value, i: Value) -> Value {
    let one = b.op(&DYNAMIC_SLICE, Attrs::none().ints("sizes", [1]).ints("step", [1]), &[x, i]);
    b.op(&SUM, Attrs::none().ints("axes", [0]), &[one])
}

/// The vector with an element replaced by a scalar.
fn set_element(b: &Builder, x: Value, i: Value, y: Value) -> Value {
    let one = b.broadcast(y, &[1], &[]);
    b.op(&UPDATE, Attrs::none().ints("step", [1]), &[x, one, i])
}

fn total(b: &Builder, x: Value) -> Value {
    b.op(&SUM, Attrs::none().ints("axes", 0..b.ty(x).rank()), &[x])
}

/// Checks at random floats from [-1, 1); integers are given.
fn check(program: &Program, order: usize, given: &[i64]) {
    for seed in [3, 4] {
        let mut random = Random::new(seed);
        let types = program.main().param_types();
        let mut ints = given.iter();
        let inputs: Vec<Array> = types
            .iter()
            .map(|ty| match ty.dtype {
                DType::I64 => Array::int(*ints.next().expect("an integer is given")),
                DType::F64 | DType::F32 | DType::I32 | DType::Bool => random.array(ty, (-1.0, 1.0)),
            })
            .collect();
        if let Err(message) = check_to_order(program, &inputs, order, seed) {
            panic!("seed {seed}: {message}\n{program:#?}");
        }
    }
}

/// s = s + 0.01 tanh(θ s), n times.
fn tanh_loop(ty: &Type) -> Program {
    let mut draft = Draft::default();
    let body = draft.body("step", &[index(), ty.clone(), ty.clone()], |b, p| {
        let t = unary(b, &TANH, b.mul(p[2], p[1]));
        vec![b.add(p[1], scale(b, t, 0.01))]
    });
    draft.program(&[index(), ty.clone(), ty.clone()], |draft, b, p| {
        draft.for_loop(b, body, p[0], [&[p[1]], &[p[2]], &[]], 0)
    })
}

#[test]
fn tanh_loop_to_second_order() {
    for n in [0, 1, 2, 7] {
        check(&tanh_loop(&Type::f64([3])), 2, &[n]);
    }
}

#[test]
fn tanh_loop_to_third_order() {
    for n in [0, 1, 5] {
        check(&tanh_loop(&number()), 3, &[n]);
    }
}

#[test]
fn tanh_loop_has_the_known_gradient() {
    // Two steps by hand: s1 = s + 0.01 tanh(θ s), s2 = s1 + 0.01 tanh(θ s1).
    let (theta, s): (f64, f64) = (0.7, 0.4);
    let sech2 = |x: f64| 1.0 - x.tanh() * x.tanh();
    let s1 = s + 0.01 * (theta * s).tanh();
    let (ds1, dt1) = (1.0 + 0.01 * theta * sech2(theta * s), 0.01 * s * sech2(theta * s));
    let outer = 1.0 + 0.01 * theta * sech2(theta * s1);
    let expected = [outer * ds1, outer * dt1 + 0.01 * s1 * sech2(theta * s1)];
    let gradient = diff::vjp(&tanh_loop(&number()), &[1, 2], &[0]).unwrap();
    let results =
        eval::run(&gradient, &[Array::int(2), Array::scalar(s), Array::scalar(theta), Array::scalar(1.0)]).unwrap();
    for (found, expected) in results[1..].iter().zip(expected) {
        assert!((found.as_f64()[0] - expected).abs() < 1e-15, "{found:?} is not {expected}");
    }
}

/// In-place sweep: A[i+1] = sin(A[i]) · w + A[i+1].
fn sweep() -> Program {
    let mut draft = Draft::default();
    let vector = Type::f64([6]);
    let body = draft.body("step", &[index(), vector.clone(), number()], |b, p| {
        let next = b.add(p[0], b.int(1));
        let term = b.mul(unary(b, &SIN, element(b, p[1], p[0])), p[2]);
        let sum = b.add(term, element(b, p[1], next));
        vec![set_element(b, p[1], next, sum)]
    });
    draft.program(&[index(), vector, number()], |draft, b, p| draft.for_loop(b, body, p[0], [&[p[1]], &[p[2]], &[]], 0))
}

#[test]
fn updates_in_place() {
    for n in [0, 1, 5] {
        check(&sweep(), 2, &[n]);
    }
}

/// c = c·(w + i) + sin(c), i converted to a float.
#[test]
fn the_index_is_a_number_in_the_body() {
    let mut draft = Draft::default();
    let body = draft.body("step", &[index(), number(), number()], |b, p| {
        let i = b.convert(p[0], DType::F64);
        let factor = b.add(p[2], scale(b, i, 0.1));
        vec![b.add(b.mul(p[1], factor), unary(b, &SIN, p[1]))]
    });
    let program = draft
        .program(&[number(), number()], |draft, b, p| draft.for_loop(b, body, b.int(4), [&[p[0]], &[p[1]], &[]], 0));
    check(&program, 2, &[]);
}

/// c = tanh(c·x_i + w), y_i = c·x_i², n of at most 5.
fn streams() -> Program {
    let mut draft = Draft::default();
    let body = draft.body("step", &[index(), number(), number(), number()], |b, p| {
        let [c, w, x] = [p[1], p[2], p[3]];
        let y = b.mul(c, b.mul(x, x));
        vec![unary(b, &TANH, b.add(b.mul(c, x), w)), y]
    });
    draft.program(&[index(), number(), number(), Type::f64([5])], |draft, b, p| {
        let results = draft.for_loop(b, body, p[0], [&[p[1]], &[p[2]], &[p[3]]], 5);
        let weighted = b.mul(results[1], p[3]);
        vec![results[0], results[1], total(b, weighted)]
    })
}

#[test]
fn streams_in_and_out() {
    for n in [0, 1, 3, 5] {
        check(&streams(), 2, &[n]);
    }
}

/// A map: no carries, only streams and an invariant.
#[test]
fn a_map_over_streams() {
    let mut draft = Draft::default();
    let body = draft.body("element", &[index(), number(), number()], |b, p| {
        let y = b.mul(p[1], unary(b, &SIN, b.mul(p[1], p[2])));
        vec![y, b.mul(y, p[2])]
    });
    let program = draft.program(&[number(), Type::f64([4])], |draft, b, p| {
        let ys = draft.for_loop(b, body, b.int(4), [&[], &[p[0]], &[p[1]]], 4);
        vec![total(b, ys[0]), ys[1]]
    });
    check(&program, 2, &[]);
}

/// for i { for j { s = s + 0.1 sin(s·A[j]) } ; A[i] = A[i]·s }.
fn nested() -> Program {
    let mut draft = Draft::default();
    let vector = Type::f64([3]);
    let inner = draft.body("inner", &[index(), number(), vector.clone()], |b, p| {
        let t = unary(b, &SIN, b.mul(p[1], element(b, p[2], p[0])));
        vec![b.add(p[1], scale(b, t, 0.1))]
    });
    let (draft_inner, b) = (&draft, Builder::new("outer"));
    let p = b.params([index(), number(), vector.clone(), index()]);
    let s = draft_inner.for_loop(&b, inner, p[3], [&[p[1]], &[p[2]], &[]], 0)[0];
    let a = set_element(&b, p[2], p[0], b.mul(element(&b, p[2], p[0]), s));
    let outer = draft.add(b.finish(vec![s, a]));
    draft.program(&[index(), index(), number(), vector], |draft, b, p| {
        draft.for_loop(b, outer, p[0], [&[p[2], p[3]], &[p[1]], &[]], 0)
    })
}

#[test]
fn loops_in_loops() {
    for (n, m) in [(0, 2), (1, 0), (2, 3), (3, 1)] {
        check(&nested(), 2, &[n, m]);
    }
}

/// Outer `if` around a loop whose step has an `if` on its state; one branch reads a slice of an invariant.
fn branches() -> Program {
    let mut draft = Draft::default();
    let vector = Type::f64([4]);
    let state = [number(), vector.clone(), index()];
    let high = draft.body("high", &state, |b, p| vec![b.mul(p[0], element(b, p[1], p[2])), p[0]]);
    let low = draft.body("low", &state, |b, p| {
        let t = unary(b, &SIN, p[0]);
        vec![t, b.full(&number(), 0.5)]
    });
    let b = Builder::new("step");
    let p = b.params([index(), number(), vector.clone()]);
    let positive = binary(&b, &GT, p[1], b.full(&number(), 0.1));
    let results = draft.branch(&b, high, low, &[positive, p[1], p[2], p[0]]);
    let next = b.add(results[0], b.mul(results[1], results[1]));
    let step = draft.add(b.finish(vec![next]));
    let b = Builder::new("looping");
    let p = b.params([number(), vector.clone()]);
    let c = draft.for_loop(&b, step, b.int(4), [&[p[0]], &[p[1]], &[]], 0)[0];
    let looping = draft.add(b.finish(vec![c]));
    let other = draft.body("other", &[number(), vector.clone()], |b, p| vec![b.mul(p[0], p[0])]);
    draft.program(&[number(), vector, index()], |draft, b, p| {
        let small = binary(b, &LT, p[2], b.int(1));
        draft.branch(b, looping, other, &[small, p[0], p[1]])
    })
}

#[test]
fn branches_in_loops_in_branches() {
    for which in [0, 1] {
        check(&branches(), 2, &[which]);
    }
}

/// One branch is constant; which one is given.
#[test]
fn branches_of_which_one_is_constant() {
    for which in [0, 1] {
        let mut draft = Draft::default();
        let varied = draft.body("varied", &[number(), number()], |b, p| vec![b.mul(unary(b, &SIN, p[0]), p[1])]);
        let constant = draft.body("constant", &[number(), number()], |b, _| vec![b.full(&number(), 0.5)]);
        let (then_body, else_body) = if which == 0 { (varied, constant) } else { (constant, varied) };
        let program = draft.program(&[index(), number(), number()], |draft, b, p| {
            let small = binary(b, &LT, p[0], b.int(1));
            draft.branch(b, then_body, else_body, &[small, p[1], p[2]])
        });
        for taken in [0, 1] {
            check(&program, 2, &[taken]);
        }
    }
}

/// Carries (u, v, k): v follows u, u follows the input only through v's partner; k counts and is never active.
#[test]
fn carries_that_become_active() {
    let mut draft = Draft::default();
    let body = draft.body("step", &[index(), number(), number(), number(), index(), number()], |b, p| {
        let [u, v, idle] = [p[1], p[2], p[3]];
        let counter = b.add(p[4], b.int(2));
        let next_v = b.add(unary(b, &SIN, u), scale(b, b.convert(counter, DType::F64), 0.01));
        let next_idle = b.mul(idle, unary(b, &TANH, v));
        vec![b.mul(p[5], b.add(u, scale(b, v, 0.3))), next_v, next_idle, counter]
    });
    let program = draft.program(&[number(), number(), number()], |draft, b, p| {
        let c0 = [b.full(&number(), 0.3), b.full(&number(), -0.2), p[1], b.int(0)];
        let ends = draft.for_loop(b, body, b.int(3), [&c0, &[p[0]], &[]], 0);
        // Only v leaves in the first result; u has no cotangent at its end.
        vec![ends[1], b.mul(ends[2], p[2])]
    });
    check(&program, 2, &[]);
}

/// The same value as carry, as two invariants and outside of the loop.
#[test]
fn one_value_in_many_places() {
    let mut draft = Draft::default();
    let body = draft.body("step", &[index(), number(), number(), number()], |b, p| {
        vec![b.add(b.mul(p[1], p[2]), b.mul(unary(b, &SIN, p[3]), p[1]))]
    });
    let program = draft.program(&[number()], |draft, b, p| {
        let end = draft.for_loop(b, body, b.int(3), [&[p[0]], &[p[0], p[0]], &[]], 0)[0];
        vec![b.mul(end, p[0])]
    });
    check(&program, 2, &[]);
}

/// A carry that each step overwrites, and a loop whose count comes from data.
#[test]
fn carries_that_are_overwritten() {
    let mut draft = Draft::default();
    let body = draft.body("step", &[index(), number(), number(), Type::f64([4])], |b, p| {
        let x = element(b, p[3], p[0]);
        vec![b.mul(x, x), b.add(b.mul(p[1], p[2]), x)]
    });
    let program = draft.program(&[index(), number(), number(), Type::f64([4])], |draft, b, p| {
        draft.for_loop(b, body, p[0], [&[p[1], p[2]], &[p[3]], &[]], 0)
    });
    for n in [0, 1, 4] {
        check(&program, 2, &[n]);
    }
}

/// An unwind written by hand in which every cotangent depends on every other, on the state, an invariant and a stream:
/// a' = a·c + r·x + g·v, r' = r·sin(c) + a·v, h = a·c·x + r + g·c.
fn adjoint() -> Program {
    let mut draft = Draft::default();
    let state = [index(), number(), number(), number()];
    let body = draft.body("step", &state, |b, p| vec![b.mul(unary(b, &SIN, b.add(p[1], p[3])), p[2])]);
    let bwd = draft.body("back", &[&state[..], &[number(), number(), number()]].concat(), |b, p| {
        let [c, v, x, a, g, r] = [p[1], p[2], p[3], p[4], p[5], p[6]];
        let next_a = b.add(b.mul(a, c), b.add(b.mul(r, x), b.mul(g, v)));
        let next_r = b.add(b.mul(r, unary(b, &SIN, c)), b.mul(a, v));
        vec![next_a, next_r, b.add(b.mul(b.mul(a, c), x), b.add(r, b.mul(g, c)))]
    });
    let op = UnwindOp {
        body,
        bwd,
        carries: 1,
        invariants: 1,
        streams: 1,
        adjoints: 1,
        emitted: 1,
        running: 1,
        bound: 4,
        linearity: Linearity::Linear,
    };
    let rows = Type::f64([4]);
    let types = [index(), number(), number(), rows.clone(), number(), rows.clone(), number()];
    draft.program(&types, |_, b, p| b.push(Op::Unwind(op), p.to_vec(), vec![number(), number(), rows]))
}

#[test]
fn an_unwind_in_which_everything_depends_on_everything() {
    for n in [0, 1, 3, 4] {
        check(&adjoint(), 2, &[n]);
    }
}

#[test]
fn a_backward_step_that_is_not_linear_must_be_marked() {
    let mut draft = Draft::default();
    let body = draft.body("step", &[index(), number()], |b, p| vec![unary(b, &SIN, p[1])]);
    let bwd = draft.body("back", &[index(), number(), number()], |b, p| vec![b.mul(b.mul(p[2], p[2]), p[1])]);
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
    let program = draft.program(&[index(), number(), number()], |_, b, p| {
        b.set_pos(&Pos::new("model.py", 9));
        b.push(Op::Unwind(op), p.to_vec(), vec![number()])
    });
    let error = verify(&program).unwrap_err();
    assert_eq!((error.kind, error.pos.line()), (ErrorKind::Verify, 9));
}

/// s = s·A[i] + A[i] with a big invariant A.
fn gather() -> Program {
    let mut draft = Draft::default();
    let body = draft.body("step", &[index(), number(), Type::f64([100])], |b, p| {
        let x = element(b, p[2], p[0]);
        vec![b.add(b.mul(p[1], x), x)]
    });
    draft.program(&[number(), Type::f64([100])], |draft, b, p| {
        draft.for_loop(b, body, b.int(7), [&[p[0]], &[p[1]], &[]], 0)
    })
}

/// The same, in an outer loop that only hands A on.
fn nested_gather() -> Program {
    let mut draft = Draft::default();
    let inner = draft.body("inner", &[index(), number(), Type::f64([100])], |b, p| {
        let x = element(b, p[2], p[0]);
        vec![b.add(b.mul(p[1], x), x)]
    });
    let b = Builder::new("outer");
    let p = b.params([index(), number(), Type::f64([100])]);
    let s = draft.for_loop(&b, inner, b.int(3), [&[p[1]], &[p[2]], &[]], 0)[0];
    let end = unary(&b, &SIN, s);
    let outer = draft.add(b.finish(vec![end]));
    draft.program(&[number(), Type::f64([100])], |draft, b, p| {
        draft.for_loop(b, outer, b.int(2), [&[p[0]], &[p[1]], &[]], 0)
    })
}

#[test]
fn slices_of_invariants_cost_no_zeros_per_step() {
    for program in [gather(), nested_gather()] {
        check(&program, 2, &[]);
        let gradient = diff::vjp(&program, &[0, 1], &[0]).unwrap();
        no_big_arrays_in_bodies(&gradient);
        no_big_arrays_in_bodies(&diff::vjp(&gradient, &[0, 1], &[1, 2]).unwrap());
    }
}

#[test]
fn a_backward_step_has_no_more_instructions_than_it_needs() {
    let gradient = diff::vjp(&gather(), &[0, 1], &[0]).unwrap();
    let step = gradient.functions.iter().find(|f| f.name == "step_vjp").expect("the step of the unwind");
    let names: Vec<&str> = step.insts.iter().map(|inst| inst.op.name()).collect();
    assert_eq!(names, ["dynamic_slice", "sum", "mul", "mul", "add", "broadcast", "add_at"]);
}

/// In bodies, arrays of 100 elements are only added to in place, or handed through control flow.
fn no_big_arrays_in_bodies(program: &Program) {
    let bodies = program.functions.iter().enumerate().filter(|(k, _)| *k != usize::from(program.entry));
    for (_, function) in bodies {
        for inst in &function.insts {
            let big = inst.results.iter().any(|v| function.ty(*v).elements() == 100);
            let in_place = ["add_at", "for", "unwind", "if"].contains(&inst.op.name());
            assert!(!big || in_place, "{}: {inst:?}", function.name);
        }
    }
}

#[test]
fn a_branch_threads_the_cotangent_of_an_invariant() {
    // In the step of the loop, the branch that reads no slice hands the running cotangent through.
    let gradient = diff::vjp(&branches(), &[0, 1], &[0]).unwrap();
    let step = gradient.functions.iter().find(|f| f.name == "step_vjp").expect("the step of the unwind");
    assert!(
        step.insts.iter().all(|inst| inst.results.iter().all(|v| step.ty(*v).elements() < 4 || inst.op.name() == "if")),
        "{step:#?}"
    );
}

/// x²y + y³ has the Hessian [[2y, 2x], [2x, 6y]].
#[test]
fn a_polynomial_has_its_hessian() {
    let program = Draft::default().program(&[number(), number()], |_, b, p| {
        let (x, y) = (p[0], p[1]);
        vec![b.add(b.mul(b.mul(x, x), y), b.mul(y, b.mul(y, y)))]
    });
    check(&program, 3, &[]);
    let gradient = diff::vjp(&program, &[0, 1], &[0]).unwrap();
    let point = [3.0, 5.0, 1.0].map(Array::scalar);
    assert_eq!(eval::run(&gradient, &point).unwrap(), [170.0, 30.0, 84.0].map(Array::scalar));
    let rows = [diff::jvp(&gradient, &[0, 1], &[1, 2]).unwrap(), diff::vjp(&gradient, &[0, 1], &[1, 2]).unwrap()];
    for hessian in rows {
        for (seed, expected) in [([1.0, 0.0], [10.0, 6.0]), ([0.0, 1.0], [6.0, 30.0])] {
            let results = eval::run(&hessian, &[&point[..], &seed.map(Array::scalar)].concat()).unwrap();
            assert_eq!(results[3..], expected.map(Array::scalar));
        }
    }
}

#[test]
fn what_is_independent_gets_zeros() {
    let program =
        Draft::default().program(&[number(), Type::f64([2])], |_, b, p| vec![b.mul(p[0], p[0]), b.add(p[1], p[1])]);
    let gradient = diff::vjp(&program, &[1], &[0]).unwrap();
    let inputs = [Array::scalar(2.0), Array::f64([2], vec![1.0, 2.0])];
    let results = eval::run(&gradient, &[&inputs[..], &[Array::scalar(1.0)]].concat()).unwrap();
    assert_eq!(results[2], Array::zeros(&Type::f64([2])));
    let tangent = diff::jvp(&program, &[0], &[1]).unwrap();
    let results = eval::run(&tangent, &[&inputs[..], &[Array::scalar(1.0)]].concat()).unwrap();
    assert_eq!(results[2], Array::zeros(&Type::f64([2])));
}

/// Like `neg`, but without a rule.
static OPAQUE: OpDef = OpDef {
    name: "opaque",
    doc: "No rule is known.",
    arity: Some(1),
    infer: |_, types, _| Ok(types[0].clone()),
    eval: |_, args, _, _| Ok(args[0].clone()),
    rule: Rule::Missing,
    samples: |row| vec![Sample { args: vec![(number(), row.domain[0])], attrs: Attrs::none() }],
    attrs: &[],
    lowering: Lowering::Convert,
    cost: 1,
    domain: &[(-1.0, 1.0)],
    condition: |_| {},
};

#[test]
fn a_missing_rule_is_an_error_with_the_users_line() {
    let mut draft = Draft::default();
    let body = draft.body("step", &[index(), number(), number()], |b, p| {
        b.set_pos(&Pos::new("model.py", 17));
        let idle = unary(b, &OPAQUE, p[2]);
        let next = unary(b, &OPAQUE, p[1]);
        vec![b.add(next, idle)]
    });
    let program = draft.program(&[number(), number(), number()], |draft, b, p| {
        let end = draft.for_loop(b, body, b.int(2), [&[p[0]], &[p[1]], &[]], 0)[0];
        let unused = unary(b, &OPAQUE, p[2]);
        let apart = b.mul(p[2], p[2]);
        vec![end, apart, unused]
    });
    for derived in [diff::vjp(&program, &[0], &[0]), diff::jvp(&program, &[0], &[0])] {
        let Error { kind, pos, message } = derived.unwrap_err();
        assert_eq!((kind, pos.line()), (ErrorKind::MissingRule, 17));
        assert!(message.contains("`opaque`"), "{message}");
    }
    check_row(&OPAQUE).unwrap();
    // It is no error where it is not active.
    diff::vjp(&program, &[2], &[1]).unwrap();
    diff::jvp(&program, &[2], &[1]).unwrap();
}

#[test]
fn inputs_and_outputs_must_exist_and_be_floats() {
    let program = tanh_loop(&number());
    assert_eq!(diff::vjp(&program, &[0], &[0]).unwrap_err().kind, ErrorKind::DType);
    assert_eq!(diff::vjp(&program, &[3], &[0]).unwrap_err().kind, ErrorKind::Argument);
    assert_eq!(diff::jvp(&program, &[1], &[1]).unwrap_err().kind, ErrorKind::Argument);
}

#[test]
fn instructions_carry_the_position_they_come_from() {
    let b = Builder::new("main");
    let x = b.param(number());
    b.set_pos(&Pos::new("model.py", 3));
    let y = unary(&b, &SIN, x);
    b.set_pos(&Pos::new("model.py", 4));
    let z = b.mul(y, y);
    let gradient = diff::vjp(&Program::new(b.finish(vec![z])), &[0], &[0]).unwrap();
    let lines: Vec<(&str, u32)> = gradient.main().insts.iter().map(|inst| (inst.op.name(), inst.pos.line())).collect();
    assert_eq!(lines, [("sin", 3), ("mul", 4), ("mul", 4), ("mul", 4), ("add", 4), ("cos", 3), ("mul", 3)]);
}

#[test]
fn second_derivatives_print_parse_and_are_the_same_every_time() {
    let derive = || diff::vjp(&diff::vjp(&nested(), &[2, 3], &[0, 1]).unwrap(), &[2, 3], &[2, 3]).unwrap().to_string();
    assert_eq!(derive(), derive());
    let parsed = ops::parse(&derive(), "nested.rg").unwrap();
    assert_eq!(parsed.to_string(), derive());
}
