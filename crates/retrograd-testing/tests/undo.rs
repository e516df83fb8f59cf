//! Loops that change little of what they carry keep a log of what they overwrite: the same bits as with states, and the bytes that were
//! planned.

use std::sync::Arc;

use retrograd_compiler::ir::{Array, Program, verify};
use retrograd_compiler::opt::{freeze, simplify};
use retrograd_compiler::plan::strategy::{Auto, Revolve};
use retrograd_compiler::{diff, eval, ops};
use retrograd_testing::native::Native;

/// A loop of 40 steps over an array of 60, a number and an array of integers; what a step does is told.
fn steps(step: &str) -> String {
    format!(
        "fn main(%a: f64[60], %s: f64, %w: f64[60]) -> f64 {{
  %n: i64 = constant {{value=40}}
  %k: i64[60] = iota {{type=i64[60], axis=[0]}}
  %0: f64[60], %1: f64, %2: i64[60] = for %n carries(%a, %s, %k) invariants(%w) {{body=step}}
  %3: f64[60] = mul %0, %0
  %4: f64 = sum %3 {{axes=[0]}}
  %5: f64 = mul %4, %1
  return %5
}}
{step}"
    )
}

const HEAD: &str = "fn step(%i: i64, %a: f64[60], %s: f64, %k: i64[60], %w: f64[60]) -> f64[60], f64, i64[60] {
  %one: i64 = constant {value=1}
  %two: i64 = constant {value=2}
  %j: i64 = add %i, %one
  %x: f64[3] = dynamic_slice %a, %i {sizes=[3], step=[1]}
  %y: f64[1] = dynamic_slice %w, %j {sizes=[1], step=[1]}
  %z: f64[3] = mul %x, %x
  %p: f64 = sum %z {axes=[0]}
  %q: f64 = sin %p
  %v: f64[1] = reshape %q {shape=[1]}
  %u: f64[1] = mul %v, %y
";

/// A nest in the manner of a factorisation: counts of inner loops are known at run time only, and some are 0.
const TRIANGLE: &str = "fn main(%a: f64[12,12]) -> f64 {
  %n: i64 = constant {value=12}
  %0: f64[12,12] = for %n carries(%a) {body=rows}
  %1: f64[12,12] = mul %0, %0
  %2: f64 = sum %1 {axes=[0, 1]}
  return %2
}
fn rows(%i: i64, %a: f64[12,12]) -> f64[12,12] {
  %0: f64[12,12] = for %i carries(%a) invariants(%i) {body=below}
  %n: i64 = constant {value=12}
  %m: i64 = sub %n, %i
  %1: f64[12,12] = for %m carries(%0) invariants(%i) {body=above}
  return %1
}
fn below(%j: i64, %a: f64[12,12], %i: i64) -> f64[12,12] {
  %x: f64[1,1] = dynamic_slice %a, %i, %j {sizes=[1, 1], step=[1, 1]}
  %y: f64[1,1] = dynamic_slice %a, %j, %j {sizes=[1, 1], step=[1, 1]}
  %0: f64[1,1] = sin %x
  %1: f64[1,1] = div %0, %y
  %2: f64[12,12] = update %a, %1, %i, %j {step=[1, 1]}
  return %2
}
fn above(%k: i64, %a: f64[12,12], %i: i64) -> f64[12,12] {
  %j: i64 = add %k, %i
  %zero: f64 = constant {value=0.0}
  %0: f64 = for %i carries(%zero) invariants(%a, %i, %j) {body=product}
  %1: f64[1,1] = reshape %0 {shape=[1, 1]}
  %2: f64[12,12] = add_at %a, %1, %i, %j {step=[1, 1]}
  return %2
}
fn product(%m: i64, %s: f64, %a: f64[12,12], %i: i64, %j: i64) -> f64 {
  %x: f64[1,1] = dynamic_slice %a, %i, %m {sizes=[1, 1], step=[1, 1]}
  %y: f64[1,1] = dynamic_slice %a, %m, %j {sizes=[1, 1], step=[1, 1]}
  %0: f64[1,1] = mul %x, %y
  %1: f64[1,1] = cos %0
  %2: f64 = reshape %1 {shape=[]}
  %3: f64 = fma %2, %2, %s
  return %3
}
";

/// Programs that differ in what their steps overwrite.
fn programs() -> Vec<(&'static str, String)> {
    let step = |rest: &str| steps(&format!("{HEAD}{rest}"));
    vec![
        ("one window", step("  %b: f64[60] = update %a, %u, %j {step=[1]}\n  return %b, %s, %k\n}\n")),
        ("a triangle", TRIANGLE.to_owned()),
    ]
}

fn gradient(text: &str) -> Program {
    let program = ops::parse(text, "undo.rg").unwrap();
    verify(&program).unwrap();
    let all: Vec<usize> = (0..program.main().params.len()).collect();
    freeze(&simplify(&diff::vjp(&program, &all, &[0]).unwrap()))
}

fn inputs(program: &Program) -> Vec<Array> {
    let number = |k: usize| 1.5 + (k as f64 * 0.7).sin();
    let types = program.main().param_types();
    types.iter().map(|ty| Array::f64(ty.shape.clone(), (0..ty.elements()).map(number).collect::<Vec<_>>())).collect()
}

#[test]
fn what_is_put_back_has_the_bits_of_the_states() {
    for (name, text) in programs() {
        let program = gradient(&text);
        let inputs = inputs(&program);
        let expected = eval::run(&program, &inputs).unwrap();
        let by_states = Native::new(&program, Arc::new(Revolve), None).unwrap();
        by_states.check(&inputs, &expected).unwrap_or_else(|error| panic!("{name} by states: {error}"));
        let most = Native::new(&program, Arc::new(Auto), None).unwrap().plan.bytes_peak;
        let mut by_logs = 0;
        for budget in (1..=40).map(|part| most * part / 20) {
            let Ok(native) = Native::new(&program, Arc::new(Auto), Some(budget)) else { continue };
            assert!(native.plan.bytes_peak <= budget, "{name}: {}", native.plan);
            native.check(&inputs, &expected).unwrap_or_else(|error| panic!("{name} in {budget} bytes: {error}\n{}", native.plan));
            by_logs += usize::from(!native.plan.logs.is_empty());
        }
        assert!(by_logs > 3, "{name}: {by_logs} plans keep a log\n{program}");
    }
}

/// A log has a row of one number for each step, where records have five and states sixty.
#[test]
fn a_log_takes_what_is_overwritten() {
    let (_, text) = programs().swap_remove(0);
    let native = Native::new(&gradient(&text), Arc::new(Auto), Some(2000)).unwrap();
    assert_eq!((native.plan.logs[0].rows, native.plan.logs[0].bytes), (40, 40 * 8), "{}", native.plan);
}

/// Where the counts of inner loops are known at run time only, nothing else has all steps reversed once.
#[test]
fn a_triangle_keeps_a_log_without_a_budget() {
    let native = Native::new(&gradient(TRIANGLE), Arc::new(Auto), None).unwrap();
    assert_eq!(native.plan.logs.len(), 1, "{}", native.plan);
    assert!(native.plan.facts.loops.is_empty(), "no states are held: {}", native.plan);
    assert!(native.plan.bytes_peak < 6 * 144 * 8, "{}", native.plan);
}
