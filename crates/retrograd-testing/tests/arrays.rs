//! Derivatives of array ops where finite differences cannot judge: at ties, at zeros, at repeated indices. Machine code
//! of them in loops, and their faults. And what is refused.

use std::sync::Arc;

use retrograd_compiler::ir::{
    Array, Attrs, Builder, DType, Data, ErrorKind, Lowering, OpDef, Pos, Program, Rule, Type,
};
use retrograd_compiler::opt::simplify;
use retrograd_compiler::plan::strategy::{Auto, KeepAll};
use retrograd_compiler::{diff, eval, ops};
use retrograd_testing::laws::{Trial, check_plans, strategies};
use retrograd_testing::native::Native;
use retrograd_testing::programs::{Case, Size};

/// The cotangents of all float inputs of `y = op x…`, for a cotangent of the result.
fn check(op: &str, inputs: &[Array], ct: Array, expected: &[Array]) {
    let params: Vec<String> = inputs.iter().enumerate().map(|(k, x)| format!("%{k}: {}", x.ty())).collect();
    let text = format!("fn main({}) -> {} {{\n  %y: {} = {op}\n  return %y\n}}", params.join(", "), ct.ty(), ct.ty());
    let program = ops::parse(&text, "ties.rg").unwrap_or_else(|error| panic!("{error}\n{text}"));
    let wrt: Vec<usize> = (0..inputs.len()).filter(|k| inputs[*k].dtype() == DType::F64).collect();
    let gradient = diff::vjp(&program, &wrt, &[0]).unwrap_or_else(|error| panic!("{error}\n{text}"));
    let results = eval::run(&gradient, &[inputs, &[ct]].concat()).unwrap_or_else(|error| panic!("{error}\n{gradient}"));
    assert_eq!(&results[1..], expected, "{op}");
}

fn vector(x: &[f64]) -> Array {
    Array::f64([x.len()], x.to_vec())
}

fn index(x: &[i64]) -> Array {
    Array::new([x.len()], Data::I64(x.to_vec()))
}

#[test]
fn equal_elements_share_the_cotangent() {
    let x = vector(&[3.0, 1.0, 3.0, 1.0, 2.0]);
    check(
        "reduce_max %0 {axes=[0]}",
        std::slice::from_ref(&x),
        Array::scalar(8.0),
        &[vector(&[4.0, 0.0, 4.0, 0.0, 0.0])],
    );
    check("reduce_min %0 {axes=[0]}", &[x], Array::scalar(8.0), &[vector(&[0.0, 4.0, 0.0, 4.0, 0.0])]);
    let (base, update) = (vector(&[2.0, 5.0]), vector(&[2.0, 2.0, 7.0, 4.0]));
    let at = index(&[0, 0, 1, 1]);
    let shares = [vector(&[1.0, 0.0]), vector(&[1.0, 1.0, 9.0, 0.0])];
    check("scatter_max %0, %1, %2 {axis=[0]}", &[base, update, at], vector(&[3.0, 9.0]), &shares);
}

#[test]
fn equal_elements_so_far_share_the_cotangent() {
    let x = vector(&[1.0, 1.0, 0.0, 2.0, 2.0]);
    check("cummax %0 {axis=[0]}", &[x], vector(&[1.0, 2.0, 4.0, 8.0, 16.0]), &[vector(&[4.0, 3.0, 0.0, 16.0, 8.0])]);
    let x = vector(&[1.0, 1.0, 2.0]);
    check("cummin %0 {axis=[0]}", &[x], vector(&[1.0, 2.0, 4.0]), &[vector(&[4.0, 3.0, 0.0])]);
}

#[test]
fn products_differentiate_at_zeros() {
    check("prod %0 {axes=[0]}", &[vector(&[2.0, 0.0, 3.0])], Array::scalar(1.0), &[vector(&[0.0, 6.0, 0.0])]);
    check("prod %0 {axes=[0]}", &[vector(&[2.0, 0.0, 0.0])], Array::scalar(1.0), &[vector(&[0.0, 0.0, 0.0])]);
    check("cumprod %0 {axis=[0]}", &[vector(&[2.0, 0.0, 3.0])], vector(&[1.0, 1.0, 1.0]), &[vector(&[1.0, 8.0, 0.0])]);
    let (base, update) = (vector(&[5.0]), vector(&[0.0, 3.0]));
    let cotangents = [vector(&[0.0]), vector(&[15.0, 0.0])];
    check("scatter_mul %0, %1, %2 {axis=[0]}", &[base, update, index(&[0, 0])], vector(&[1.0]), &cotangents);
}

#[test]
fn what_is_overwritten_has_no_cotangent() {
    let (base, update) = (vector(&[1.0, 2.0, 3.0]), vector(&[4.0, 5.0, 6.0]));
    let cotangents = [vector(&[0.0, 10.0, 0.0]), vector(&[0.0, 20.0, 1.0])];
    check(
        "scatter_set %0, %1, %2 {axis=[0]}",
        &[base, update, index(&[0, 2, 0])],
        vector(&[1.0, 10.0, 20.0]),
        &cotangents,
    );
}

#[test]
fn equal_elements_sort_in_the_order_they_had() {
    let x = vector(&[2.0, 1.0, 2.0, 1.0]);
    check("sort %0 {axis=[0]}", &[x], vector(&[1.0, 2.0, 4.0, 8.0]), &[vector(&[4.0, 1.0, 8.0, 2.0])]);
}

/// Like `neg`, but only the interpreter knows it.
static INTERPRETED: OpDef = OpDef {
    name: "interpreted",
    doc: "No machine code is known.",
    arity: Some(1),
    attrs: &[],
    infer: |_, types, _| Ok(types[0].clone()),
    eval: |_, args, _, _| Ok(args[0].clone()),
    rule: Rule::Zero,
    lowering: Lowering::Missing,
    cost: 1,
    domain: &[(-1.0, 1.0)],
    condition: |_| {},
    samples: |_| vec![],
};

#[test]
fn an_op_without_machine_code_is_refused_at_its_line() {
    let b = Builder::new("main");
    let x = b.param(Type::f64([3]));
    let y = b.neg(x);
    b.set_pos(&Pos::new("model.py", 3));
    let z = b.op(&INTERPRETED, Attrs::none(), &[y]);
    let error =
        Native::new(&Program::new(b.finish(vec![z])), Arc::new(Auto), None).expect_err("the row has no machine code");
    assert_eq!(error.kind, ErrorKind::Unsupported);
    assert_eq!(error.to_string(), "model.py:3: unsupported: `interpreted` has no machine code yet");
}

/// Every kind of rule in the adjoint of a loop, which the verifier finds linear in its cotangents.
#[test]
fn loops_over_array_ops_differentiate_twice() {
    let text = "fn main(%x: f64[4], %i: i64[3]) -> f64[4] {
  %n: i64 = constant {value=3}
  %0: f64[4] = for %n carries(%x) invariants(%x, %i) {body=step}
  return %0
}
fn step(%k: i64, %c: f64[4], %w: f64[4], %i: i64[3]) -> f64[4] {
  %0: f64[3] = gather %w, %i {axis=[0]}
  %1: f64[1] = slice %c {start=[0], stop=[1], step=[1]}
  %2: f64[4] = concat %0, %1 {axis=[0]}
  %3: f64[4] = mul %2, %c
  %4: f64[4] = cumprod %3 {axis=[0]}
  %5: f64 = logsumexp %4 {axes=[0]}
  %6: f64[4] = broadcast %5 {shape=[4], axes=[]}
  %7: f64[4] = scatter_mul %6, %0, %i {axis=[0]}
  %8: f64[4] = scatter_set %7, %0, %i {axis=[0]}
  %9: f64[4] = sort %8 {axis=[0]}
  %10: f64[4] = add %9, %3
  %11: f64[4] = tanh %10
  return %11
}";
    let program = ops::parse(text, "loop.rg").expect("it parses");
    retrograd_testing::check_program(&program, &[vector(&[0.9, -0.4, 0.7, 0.2]), index(&[2, 0, 2])])
        .unwrap_or_else(|e| panic!("{e}"));
}

/// Indices that repeat, arrays that are read and written in one step, branches and inner loops: values, gradients and
/// gradients of gradients are the interpreter's bits under every plan.
#[test]
fn machine_code_of_array_ops_in_loops_gives_the_interpreters_bits() {
    let text = "fn main(%x: f64[4,3], %i: i64[3], %j: i64[4,3], %n: i64) -> f64[4,3], i64[4] {
  %0: f64[4,3] = for %n carries(%x) invariants(%i, %j) {body=step}
  %1: i64[4] = argmax %0 {axis=[1]}
  return %0, %1
}
fn step(%k: i64, %c: f64[4,3], %i: i64[3], %j: i64[4,3]) -> f64[4,3] {
  %0: f64[3,3] = gather %c, %i {axis=[0]}
  %1: f64[3,3] = tanh %0
  %2: f64[4,3] = scatter_add %c, %1, %i {axis=[0]}
  %3: f64[4,3] = take_along_axis %2, %j {axis=[1]}
  %4: f64[4,3] = scatter_mul %2, %1, %i {axis=[0]}
  %5: f64[4,3] = cumprod %3 {axis=[0]}
  %6: f64[4,3] = linear_scan %3, %4 {axis=[1]}
  %7: f64[4] = logsumexp %5 {axes=[1]}
  %8: f64 = prod %7 {axes=[0]}
  %9: f64[3] = reduce_max %6 {axes=[0]}
  %zero: f64 = constant {value=0.0}
  %p: bool = lt %8, %zero
  %10: f64[4,3] = if %p args(%6, %9, %i) {then=rows, else=columns}
  %11: f64[4,3] = tanh %10
  return %11
}
fn rows(%c: f64[4,3], %m: f64[3], %i: i64[3]) -> f64[4,3] {
  %first: i64 = constant {value=1}
  %0: f64[4,3] = scatter_set %c, %m, %first {axis=[0]}
  %1: f64[4,3] = cummax %0 {axis=[0]}
  return %1
}
fn columns(%c: f64[4,3], %m: f64[3], %i: i64[3]) -> f64[4,3] {
  %0: f64[3,3] = broadcast %m {shape=[3,3], axes=[1]}
  %1: f64[4,3] = scatter_max %c, %0, %i {axis=[0]}
  %2: f64[4,3] = scatter_set %1, %0, %i {axis=[0]}
  %3: f64[4,3] = cumsum %2 {axis=[1]}
  return %3
}";
    let program = ops::parse(text, "loop.rg").expect("it parses");
    let x = Array::f64([4, 3], (0..12).map(|k| f64::from(k * 5 % 7) * 0.21 - 0.6).collect());
    let (i, j) = (index(&[2, 0, 2]), Array::new([4, 3], Data::I64(vec![2, 0, 0, 1, 1, 2, 0, 1, 2, 2, 2, 0])));
    for (seed, n) in [(0, 3), (1, 4), (0, 0)] {
        let inputs = vec![x.clone(), i.clone(), j.clone(), Array::int(n)];
        let mut case = Some(Case { seed, size: Size::Small, program: program.clone(), inputs });
        for order in 0..3 {
            let Some(Case { program, inputs, .. }) = &case else { break };
            check_plans(program, inputs, &strategies())
                .unwrap_or_else(|message| panic!("order {order}: {message}\n{program}"));
            case =
                Trial::new(case.expect("just seen")).gradient().unwrap_or_else(|message| panic!("{message}")).cloned();
        }
    }
}

/// An array that is written at the indices, and with the numbers, that it holds itself: all is read before anything is
/// written.
#[test]
fn an_array_is_its_own_index() {
    for op in ["scatter_set %2, %2, %2 {axis=[0]}", "scatter_add %2, %0, %2 {axis=[0]}", "gather %2, %2 {axis=[0]}"] {
        let text = format!(
            "fn main(%0: i64[5], %1: i64[5]) -> i64[5] {{\n  %2: i64[5] = add %0, %1\n  %3: i64[5] = {op}\n  return \
             %3\n}}"
        );
        let program = ops::parse(&text, "itself.rg").unwrap_or_else(|error| panic!("{error}\n{text}"));
        let inputs = [index(&[1, 2, 4, 0, 2]), index(&[0, 0, 0, 0, 1])];
        let expected = eval::run(&program, &inputs).expect("it runs");
        let native = Native::new(&program, Arc::new(Auto), None).expect("it compiles");
        native.check(&inputs, &expected).unwrap_or_else(|message| panic!("{message}\n{text}"));
    }
}

/// The error of machine code has the kind and the line of the interpreter's.
#[test]
fn faults_are_those_of_the_interpreter() {
    let numbers = |n: usize| Array::f64([n], (0..n).map(|k| k as f64).collect());
    let matrix = |a: usize, b: usize| Array::f64([a, b], vec![0.5; a * b]);
    let cases: &[(&str, Vec<Array>)] = &[
        ("f64[3] = gather %0, %1 {axis=[0]}", vec![numbers(5), index(&[0, 5, 1])]),
        ("f64[3] = gather %0, %1 {axis=[0]}", vec![numbers(5), index(&[0, 4, -1])]),
        ("f64 = gather %0, %1 {axis=[0]}", vec![numbers(5), Array::int(5)]),
        ("f64[2] = gather %0, %1 {axis=[0]}", vec![matrix(3, 2), Array::int(-1)]),
        ("f64[1] = gather %0, %1 {axis=[0]}", vec![numbers(0), index(&[0])]),
        ("f64[2,0] = gather %0, %1 {axis=[0]}", vec![matrix(3, 0), index(&[1, 3])]),
        (
            "f64[2,2] = take_along_axis %0, %1 {axis=[1]}",
            vec![matrix(2, 3), Array::new([2, 2], Data::I64(vec![0, 2, 3, 1]))],
        ),
        ("f64[5] = scatter_set %0, %1, %2 {axis=[0]}", vec![numbers(5), numbers(2), index(&[4, 5])]),
        ("f64[3,2] = scatter_add %0, %1, %2 {axis=[0]}", vec![matrix(3, 2), matrix(2, 2), index(&[-7, 1])]),
        ("f64[5] = scatter_mul %0, %1, %2 {axis=[0]}", vec![numbers(5), Array::scalar(2.0), Array::int(9)]),
        ("f64[0] = scatter_add %0, %1, %2 {axis=[0]}", vec![numbers(0), numbers(1), index(&[0])]),
        ("f64[3,0] = scatter_add %0, %1, %2 {axis=[0]}", vec![matrix(3, 0), matrix(1, 0), index(&[4])]),
        (
            "f64[2,3] = add_along_axis %0, %1, %2 {axis=[1]}",
            vec![matrix(2, 3), matrix(2, 1), Array::new([2, 1], Data::I64(vec![0, 3]))],
        ),
        ("i64[2] = div %0, %1", vec![index(&[1, 2]), index(&[1, 0])]),
        ("i64 = div %0, %1", vec![Array::int(1), Array::int(0)]),
        ("f64[2] = dynamic_slice %0, %1 {sizes=[2], step=[1]}", vec![numbers(3), Array::int(2)]),
        ("f64[3] = update %0, %1, %2 {step=[1]}", vec![numbers(3), numbers(2), Array::int(-1)]),
    ];
    for (op, inputs) in cases {
        let params: Vec<String> = inputs.iter().enumerate().map(|(k, x)| format!("%{k}: {}", x.ty())).collect();
        let result = op.split(' ').next().expect("a type");
        let text = format!("fn main({}) -> {result} {{\n  %y: {op}\n  return %y\n}}", params.join(", "));
        let program = ops::parse(&text, "fault.rg").unwrap_or_else(|error| panic!("{error}\n{text}"));
        let expected = eval::run(&program, inputs).expect_err(op);
        let native = Native::new(&program, Arc::new(Auto), None).unwrap_or_else(|error| panic!("{error}\n{text}"));
        let found = native.run(inputs).expect_err(op);
        assert_eq!((&found.kind, &found.pos), (&expected.kind, &expected.pos), "{text}");
    }
}

#[test]
fn a_count_beyond_a_stream_is_the_interpreters_fault() {
    let text = "fn main(%xs: f64[3], %n: i64) -> f64 {
  %zero: f64 = constant {value=0.0}
  %s: f64 = for %n carries(%zero) streams(%xs) {body=step, bound=3}
  return %s
}
fn step(%i: i64, %s: f64, %x: f64) -> f64 {
  %0: f64 = add %s, %x
  return %0
}";
    let program = ops::parse(text, "count.rg").expect("it parses");
    let native = Native::new(&program, Arc::new(Auto), None).expect("it compiles");
    for n in [-2, 0, 3, 4, i64::MAX] {
        let inputs = [vector(&[1.0, 2.0, 4.0]), Array::int(n)];
        match eval::run(&program, &inputs) {
            Ok(expected) => native.check(&inputs, &expected),
            Err(error) => native.check_fault(&inputs, &error),
        }
        .unwrap_or_else(|message| panic!("{n}: {message}"));
    }
}

/// What is kept of so many steps is more than any number of bytes; that is an error of the run, and a budget is met all
/// the same.
#[test]
fn a_tape_that_no_machine_holds_is_an_error() {
    let text = "fn main(%x: f64[3]) -> f64[3] {
  %n: i64 = constant {value=4611686018427387904}
  %y: f64[3] = for %n carries(%x) {body=step}
  return %y
}
fn step(%i: i64, %x: f64[3]) -> f64[3] {
  %0: f64[3] = tanh %x
  return %0
}";
    let program = ops::parse(text, "long.rg").expect("it parses");
    let gradient = simplify(&diff::vjp(&program, &[0], &[0]).expect("it has a gradient"));
    let native = Native::new(&gradient, Arc::new(KeepAll), None).expect("it compiles");
    let error =
        native.run(&[Array::f64([3], vec![0.5; 3]), Array::f64([3], vec![1.0; 3])]).expect_err("no machine has it");
    assert!(matches!(error.kind, ErrorKind::OutOfMemory { .. }), "{error}");
    let modest = Native::new(&gradient, Arc::new(Auto), Some(10_000)).expect("a budget is met");
    assert!(modest.plan.bytes_peak <= 10_000);
}
