//! Writing in place costs the same in a long array as in a short one, forwards and in the gradient.

use std::sync::Arc;

use retrograd_compiler::ir::{Program, verify};
use retrograd_compiler::opt::simplify;
use retrograd_compiler::plan::Strategy;
use retrograd_compiler::plan::strategy::{Auto, KeepAll, Periodic, Revolve};
use retrograd_compiler::{diff, ops};
use retrograd_testing::native::Native;
use retrograd_testing::traffic::{bytes_per_innermost_step, bytes_per_step};

/// A[i+1] = f(A[i]) for all i.
fn vector(n: usize, f: &str) -> Program {
    program(&format!(
        "fn main(%0: f64[{n}]) -> f64[{n}] {{
  %1: i64 = constant {{value={steps}}}
  %2: f64[{n}] = for %1 carries(%0) {{body=step}}
  return %2
}}
fn step(%0: i64, %1: f64[{n}]) -> f64[{n}] {{
  %2: f64[1] = dynamic_slice %1, %0 {{sizes=[1], step=[1]}}
  %3: f64[1] = {f} %2
  %4: i64 = constant {{value=1}}
  %5: i64 = add %0, %4
  %6: f64[{n}] = update %1, %3, %5 {{step=[1]}}
  return %6
}}
",
        steps = n - 1
    ))
}

/// A[i+1, j] = f(A[i, j]) + A[i+1, j] for all i, and in each for all j.
fn matrix(n: usize, f: &str) -> Program {
    program(&format!(
        "fn main(%0: f64[{n},{n}]) -> f64[{n},{n}] {{
  %1: i64 = constant {{value={steps}}}
  %2: f64[{n},{n}] = for %1 carries(%0) {{body=row}}
  return %2
}}
fn row(%0: i64, %1: f64[{n},{n}]) -> f64[{n},{n}] {{
  %2: i64 = constant {{value={n}}}
  %3: f64[{n},{n}] = for %2 carries(%1) invariants(%0) {{body=step}}
  return %3
}}
fn step(%0: i64, %1: f64[{n},{n}], %2: i64) -> f64[{n},{n}] {{
  %3: f64[1,1] = dynamic_slice %1, %2, %0 {{sizes=[1, 1], step=[1, 1]}}
  %4: f64[1,1] = {f} %3
  %5: i64 = constant {{value=1}}
  %6: i64 = add %2, %5
  %7: f64[{n},{n}] = add_at %1, %4, %6, %0 {{step=[1, 1]}}
  return %7
}}
",
        steps = n - 1
    ))
}

/// A at the indices of row i of the second input becomes, by `how`, f of A at those of the third, for all i.
fn indexed(n: usize, how: &str, f: &str) -> Program {
    program(&format!(
        "fn main(%0: f64[{n}], %1: i64[9,3], %2: i64[9,3]) -> f64[{n}] {{
  %3: i64 = constant {{value=9}}
  %4: f64[{n}] = for %3 carries(%0) streams(%1, %2) {{body=step, bound=9}}
  return %4
}}
fn step(%0: i64, %1: f64[{n}], %2: i64[3], %3: i64[3]) -> f64[{n}] {{
  %4: f64[3] = gather %1, %3 {{axis=[0]}}
  %5: f64[3] = {f} %4
  %6: f64[{n}] = {how} %1, %5, %2 {{axis=[0]}}
  return %6
}}
"
    ))
}

/// A[i] = f(A[i]) for all i, by a `while` over i.
fn counting(n: usize, f: &str) -> Program {
    program(&format!(
        "fn main(%0: f64[{n}]) -> f64[{n}] {{
  %1: i64 = constant {{value=0}}
  %2: i64, %3: f64[{n}], %4: i64 = while carries(%1, %0) {{cond=below, body=step}}
  return %3
}}
fn below(%0: i64, %1: f64[{n}]) -> bool {{
  %2: i64 = constant {{value={n}}}
  %3: bool = lt %0, %2
  return %3
}}
fn step(%0: i64, %1: f64[{n}]) -> i64, f64[{n}] {{
  %2: f64[1] = dynamic_slice %1, %0 {{sizes=[1], step=[1]}}
  %3: f64[1] = {f} %2
  %4: f64[{n}] = update %1, %3, %0 {{step=[1]}}
  %5: i64 = constant {{value=1}}
  %6: i64 = add %0, %5
  return %6, %4
}}
"
    ))
}

/// A[i] = A[i] + f(x[i]) for all i, or with another sign, as users write it.
fn adding(n: usize, how: &str, f: &str) -> Program {
    program(&format!(
        "fn main(%0: f64[{n}], %1: f64[{n}]) -> f64[{n}] {{
  %2: i64 = constant {{value={n}}}
  %3: f64[{n}] = for %2 carries(%0) invariants(%1) {{body=step}}
  return %3
}}
fn step(%0: i64, %1: f64[{n}], %2: f64[{n}]) -> f64[{n}] {{
  %3: f64[1] = dynamic_slice %1, %0 {{sizes=[1], step=[1]}}
  %4: f64 = reshape %3 {{shape=[]}}
  %5: f64[1] = dynamic_slice %2, %0 {{sizes=[1], step=[1]}}
  %6: f64 = reshape %5 {{shape=[]}}
  %7: f64 = {f} %6
  %8: f64 = {how} %4, %7
  %9: f64[1] = reshape %8 {{shape=[1]}}
  %10: f64[{n}] = update %1, %9, %0 {{step=[1]}}
  return %10
}}
"
    ))
}

#[test]
fn adding_to_an_element_costs_an_element() {
    for how in ["add", "sub"] {
        same_in_long(|n| adding(n, how, "sin"), Arc::new(Auto), every_loop);
        let both =
            |n| simplify(&diff::vjp(&adding(n, how, "sin"), &[0, 1], &[0]).unwrap_or_else(|error| panic!("{error}")));
        same_in_long(both, Arc::new(Auto), every_loop);
    }
}

fn program(text: &str) -> Program {
    let program = ops::parse(text, "in_place.rg").unwrap_or_else(|error| panic!("{error}"));
    verify(&program).unwrap_or_else(|error| panic!("{error}"));
    simplify(&program)
}

fn gradient(program: &Program) -> Program {
    simplify(&diff::vjp(program, &[0], &[0]).unwrap_or_else(|error| panic!("{error}")))
}

fn native(program: &Program, strategy: Arc<dyn Strategy>) -> Native {
    Native::new(program, strategy, None).unwrap_or_else(|error| panic!("{error}"))
}

/// Bytes of a step are the same in arrays of 16 and of 128 elements an axis.
fn same_in_long(make: impl Fn(usize) -> Program, strategy: Arc<dyn Strategy>, bytes: fn(&Native) -> u64) {
    let [short, long] = [16, 128].map(|n| bytes(&native(&make(n), strategy.clone())));
    assert_eq!(short, long, "{strategy:?}: bytes of a step in a short and in a long array");
    assert!(short < 200, "{strategy:?}: {short} bytes a step");
}

fn every_loop(native: &Native) -> u64 {
    bytes_per_step(native.kernel())
}

fn innermost(native: &Native) -> u64 {
    bytes_per_innermost_step(native.kernel())
}

#[test]
fn a_vector_is_written_in_place() {
    for f in ["neg", "tanh"] {
        same_in_long(|n| vector(n, f), Arc::new(Auto), every_loop);
    }
}

#[test]
fn a_matrix_is_written_in_place() {
    for f in ["neg", "tanh"] {
        same_in_long(|n| matrix(n, f), Arc::new(Auto), every_loop);
    }
}

#[test]
fn a_while_writes_in_place() {
    for f in ["neg", "tanh"] {
        same_in_long(|n| counting(n, f), Arc::new(Auto), every_loop);
    }
    same_in_long(|n| gradient(&counting(n, "neg")), Arc::new(Auto), every_loop);
    same_in_long(|n| gradient(&counting(n, "tanh")), Arc::new(Revolve), innermost);
}

#[test]
fn elements_at_indices_are_read_and_written_in_place() {
    for how in ["scatter_set", "scatter_add", "scatter_mul", "scatter_max", "scatter_min"] {
        same_in_long(|n| indexed(n, how, "tanh"), Arc::new(Auto), every_loop);
    }
    for how in ["scatter_set", "scatter_add"] {
        same_in_long(|n| gradient(&indexed(n, how, "neg")), Arc::new(Auto), every_loop);
        same_in_long(|n| gradient(&indexed(n, how, "tanh")), Arc::new(KeepAll), every_loop);
        same_in_long(|n| gradient(&indexed(n, how, "tanh")), Arc::new(Revolve), innermost);
    }
}

#[test]
fn the_gradient_of_linear_writes_copies_nothing() {
    same_in_long(|n| gradient(&vector(n, "neg")), Arc::new(Auto), every_loop);
    same_in_long(|n| gradient(&matrix(n, "neg")), Arc::new(Auto), every_loop);
}

#[test]
fn the_gradient_of_writes_to_a_vector_keeps_an_element_a_step() {
    same_in_long(|n| gradient(&vector(n, "tanh")), Arc::new(KeepAll), every_loop);
    let others: [Arc<dyn Strategy>; 2] = [Arc::new(Periodic { period: None }), Arc::new(Revolve)];
    for strategy in others {
        same_in_long(|n| gradient(&vector(n, "tanh")), strategy, innermost);
    }
}

#[test]
fn the_gradient_of_writes_to_a_matrix_moves_few_bytes_a_step() {
    let strategies: [Arc<dyn Strategy>; 3] =
        [Arc::new(KeepAll), Arc::new(Periodic { period: None }), Arc::new(Revolve)];
    for strategy in strategies {
        same_in_long(|n| gradient(&matrix(n, "tanh")), strategy, innermost);
    }
}
