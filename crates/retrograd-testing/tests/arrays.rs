//! Derivatives of array ops where finite differences cannot judge: at ties, at zeros, at repeated indices. And what is refused.

use std::sync::Arc;

use retrograd_compiler::ir::{Array, Attrs, Builder, DType, Data, ErrorKind, Lowering, Pos, Program, Row, Rule, Type};
use retrograd_compiler::plan::strategy::Auto;
use retrograd_compiler::{diff, eval, ops};
use retrograd_testing::native::Native;

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
    check("reduce_max %0 {axes=[0]}", std::slice::from_ref(&x), Array::scalar(8.0), &[vector(&[4.0, 0.0, 4.0, 0.0, 0.0])]);
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
    check("scatter_set %0, %1, %2 {axis=[0]}", &[base, update, index(&[0, 2, 0])], vector(&[1.0, 10.0, 20.0]), &cotangents);
}

#[test]
fn equal_elements_sort_in_the_order_they_had() {
    let x = vector(&[2.0, 1.0, 2.0, 1.0]);
    check("sort %0 {axis=[0]}", &[x], vector(&[1.0, 2.0, 4.0, 8.0]), &[vector(&[4.0, 1.0, 8.0, 2.0])]);
}

/// Like `neg`, but only the interpreter knows it.
static INTERPRETED: Row = Row {
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
    let z = b.row(&INTERPRETED, Attrs::none(), &[y]);
    let error = Native::new(&Program::new(b.finish(vec![z])), Arc::new(Auto), None).expect_err("the row has no machine code");
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
    retrograd_testing::check_program(&program, &[vector(&[0.9, -0.4, 0.7, 0.2]), index(&[2, 0, 2])]).unwrap_or_else(|e| panic!("{e}"));
}
