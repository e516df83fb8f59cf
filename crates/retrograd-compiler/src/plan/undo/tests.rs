//! A Program with logs computes what it did without them, bit for bit, by the interpreter.

use super::undone;
use crate::ir::{Array, Program, verify};
use crate::opt::{freeze, simplify};
use crate::{diff, eval, ops};

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
        (
            "a number beside",
            step("  %b: f64[60] = update %a, %u, %j {step=[1]}\n  %t: f64 = mul %s, %q\n  %r: f64 = cos %t\n  return %b, %r, %k\n}\n"),
        ),
        (
            "what is added, twice, by a step",
            step("  %b: f64[60] = add_at %a, %z, %i {step=[2]}\n  %c: f64[60] = update %b, %u, %two {step=[1]}\n  return %c, %s, %k\n}\n"),
        ),
        (
            "what was written is read again",
            step(
                "  %b: f64[60] = update %a, %u, %j {step=[1]}\n  %c: f64[3] = dynamic_slice %b, %i {sizes=[3], step=[1]}\n  %d: f64[3] = mul %c, %x\n  %e: f64[60] = update %b, %d, %j {step=[2]}\n  return %e, %s, %k\n}\n",
            ),
        ),
        (
            "a place that follows from the state",
            step(
                "  %l: i64[1] = dynamic_slice %k, %i {sizes=[1], step=[1]}\n  %m: i64 = reshape %l {shape=[]}\n  %o: i64[1] = add %l, %l\n  %h: i64[1] = constant {value=i64[1] [50]}\n  %g: i64[1] = rem %o, %h\n  %f: i64[60] = update %k, %g, %j {step=[1]}\n  %b: f64[60] = update %a, %u, %m {step=[1]}\n  return %b, %s, %f\n}\n",
            ),
        ),
        (
            "an inner loop of no steps",
            TRIANGLE.replace("for %i carries(%a)", "for %none carries(%a)").replacen(
                "  %0: f64[12,12] = for %none",
                "  %none: i64 = constant {value=0}\n  %0: f64[12,12] = for %none",
                1,
            ),
        ),
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

fn bits(arrays: &[Array]) -> Vec<Vec<u64>> {
    arrays.iter().map(|array| array.as_f64().iter().map(|x| x.to_bits()).collect()).collect()
}

#[test]
fn what_is_put_back_has_the_bits_of_the_states() {
    for (name, text) in programs() {
        let program = gradient(&text);
        let inputs = inputs(&program);
        let expected = eval::run(&program, &inputs).unwrap();
        let undone = undone(&program, 0).unwrap_or_else(|| panic!("{name} can keep a log\n{program}"));
        verify(&undone.program).unwrap_or_else(|error| panic!("{name}: {error}\n{}", undone.program));
        let found = eval::run(&undone.program, &inputs).unwrap();
        assert_eq!(bits(&found), bits(&expected), "{name}\n{}", undone.program);
    }
}

#[test]
fn loops_inside_of_steps_keep_logs_of_their_own() {
    let (_, triangle) = programs().pop().unwrap();
    let program = gradient(&triangle);
    let undone = undone(&program, 1).unwrap();
    assert_eq!(undone.logs.len(), 2);
    let [found, expected] = [&undone.program, &program].map(|program| eval::run(program, &inputs(program)).unwrap());
    assert_eq!(bits(&found), bits(&expected), "{}", undone.program);
}
