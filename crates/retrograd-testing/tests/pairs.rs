//! An adjoint shares the states of a forward loop only where they are the same. A pair that is none would be a wrong
//! gradient, under every strategy alike, so these loops are almost equal.

use retrograd_compiler::ir::{Array, verify};
use retrograd_compiler::ops;
use retrograd_testing::laws::{check_plans, strategies};

#[track_caller]
fn check(text: &str, inputs: &[Array]) {
    let program = ops::parse(text, "pairs.rg").unwrap();
    verify(&program).unwrap();
    check_plans(&program, inputs, &strategies()).unwrap();
}

#[test]
fn of_two_lengths() {
    let text = "fn main(%n: i64, %m: i64, %x: f64, %ct: f64) -> f64, f64 {
  %end: f64 = for %n carries(%x) {body=step}
  %dx: f64 = unwind %m carries(%x) adjoints(%ct) {body=step, bwd=back}
  return %end, %dx
}
fn step(%i: i64, %c: f64) -> f64 {
  %0: f64 = sin %c
  return %0
}
fn back(%i: i64, %c: f64, %a: f64) -> f64 {
  %0: f64 = cos %c
  %1: f64 = mul %0, %a
  return %1
}
";
    for (n, m) in [(5, 3), (3, 5), (4, 4), (0, 3), (3, 0)] {
        check(text, &[Array::int(n), Array::int(m), Array::scalar(0.7), Array::scalar(1.0)]);
    }
    // The same with counts that are known before the run.
    let known = |name: &str, n: i64| format!("  %{name}: i64 = constant {{value={n}}}\n  %end: f64");
    let text = text
        .replace("%n: i64, %m: i64, ", "")
        .replace("  %end: f64", &known("n", 5))
        .replace("  %end: f64", &known("m", 3));
    check(&text, &[Array::scalar(0.7), Array::scalar(1.0)]);
}

#[test]
fn of_carries_that_part_after_their_first_step() {
    // b and c start alike, so that the first a' is the same whether it is made of b or of c.
    let text = "fn main(%x: f64, %y: f64, %ct: f64) -> f64, f64 {
  %n: i64 = constant {value=6}
  %a: f64, %b: f64, %c: f64 = for %n carries(%x, %y, %y) {body=by_b}
  %0: f64 = add %a, %b
  %1: f64 = add %0, %c
  %dx: f64 = unwind %n carries(%x, %y, %y) adjoints(%ct) {body=by_c, bwd=back}
  return %1, %dx
}
fn by_b(%i: i64, %a: f64, %b: f64, %c: f64) -> f64, f64, f64 {
  %0: f64 = sin %b
  %1: f64 = add %b, %b
  %2: f64 = mul %c, %c
  return %0, %1, %2
}
fn by_c(%i: i64, %a: f64, %b: f64, %c: f64) -> f64, f64, f64 {
  %0: f64 = sin %c
  %1: f64 = add %b, %b
  %2: f64 = mul %c, %c
  return %0, %1, %2
}
fn back(%i: i64, %a: f64, %b: f64, %c: f64, %ct: f64) -> f64 {
  %0: f64 = mul %a, %ct
  %1: f64 = mul %b, %ct
  %2: f64 = mul %c, %ct
  %3: f64 = add %0, %1
  %4: f64 = add %3, %2
  return %4
}
";
    check(text, &[Array::scalar(0.7), Array::scalar(0.9), Array::scalar(1.0)]);
}

#[test]
fn of_loops_that_read_other_streams_and_invariants() {
    let text = "fn main(%x: f64, %k: f64, %l: f64, %u: f64[4], %v: f64[4], %ct: f64) -> f64, f64, f64 {
  %n: i64 = constant {value=4}
  %end: f64 = for %n carries(%x) invariants(%k) streams(%u) {body=step, bound=4}
  %0: f64 = unwind %n carries(%x) invariants(%l) streams(%u) adjoints(%ct) {body=step, bwd=back, bound=4}
  %1: f64 = unwind %n carries(%x) invariants(%k) streams(%v) adjoints(%ct) {body=step, bwd=back, bound=4}
  return %end, %0, %1
}
fn step(%i: i64, %c: f64, %k: f64, %u: f64) -> f64 {
  %0: f64 = mul %c, %k
  %1: f64 = add %0, %u
  %2: f64 = sin %1
  return %2
}
fn back(%i: i64, %c: f64, %k: f64, %u: f64, %a: f64) -> f64 {
  %0: f64 = cos %c
  %1: f64 = mul %0, %a
  return %1
}
";
    let stream = |first: f64| Array::f64([4], (0..4).map(|k| first + 0.1 * f64::from(k)).collect());
    let numbers = [0.7, 1.3, 0.4].map(Array::scalar);
    check(text, &[numbers.to_vec(), vec![stream(0.2), stream(-0.5), Array::scalar(1.0)]].concat());
}
