//! A step that writes most of an array from its neighbours has it in two places by turns: nothing is copied, and the bits are those of the interpreter.

use std::sync::Arc;

use retrograd_compiler::ir::{Array, Program, verify};
use retrograd_compiler::opt::{freeze, simplify};
use retrograd_compiler::plan::Strategy;
use retrograd_compiler::plan::strategy::{Auto, KeepAll, Periodic, Revolve};
use retrograd_compiler::{diff, ops};
use retrograd_testing::laws::check_plans;
use retrograd_testing::native::Native;
use retrograd_testing::traffic::bytes_per_step;

/// `u[1:-1] = u[:-2]·u[2:]`, so often; `rest` is what a step does with u besides, and its result.
fn products(n: usize, steps: usize, rest: &str) -> Program {
    let text = format!(
        "fn main(%0: f64[{n}], %1: f64[{n}]) -> f64[{n}], f64[{n}] {{
  %2: i64 = constant {{value={steps}}}
  %3: f64[{n}], %4: f64[{n}] = for %2 carries(%0, %1) {{body=step}}
  return %3, %4
}}
fn step(%0: i64, %1: f64[{n}], %2: f64[{n}]) -> f64[{n}], f64[{n}] {{
  %3: f64[{inner}] = slice %1 {{start=[0], stop=[{inner}], step=[1]}}
  %4: f64[{inner}] = slice %1 {{start=[2], stop=[{n}], step=[1]}}
  %5: f64[{inner}] = mul %3, %4
  %6: i64 = constant {{value=1}}
  %7: f64[{n}] = update %1, %5, %6 {{step=[1]}}
{rest}
}}
",
        inner = n - 2
    );
    let program = ops::parse(&text, "by_turns.rg").unwrap_or_else(|error| panic!("{error}\n{text}"));
    verify(&program).unwrap_or_else(|error| panic!("{error}\n{text}"));
    simplify(&program)
}

const ALONE: &str = "  return %7, %2";

/// The old value is read after the new one was made.
const READ_AFTER: &str = "  %8: f64[40] = sin %7
  %9: f64[40] = mul %8, %1
  return %7, %9";

/// Another array is made of the old value, by writing to it.
const WRITTEN_AFTER: &str = "  %8: f64[40] = sin %7
  %9: f64[1] = slice %8 {start=[3], stop=[4], step=[1]}
  %10: f64[40] = update %1, %9, %6 {step=[1]}
  %11: f64[40] = add %10, %2
  return %7, %11";

fn inputs(n: usize) -> Vec<Array> {
    [0.37, 1.3].map(|seed| Array::f64([n], (0..n).map(|k| (k as f64 * seed).sin()).collect())).to_vec()
}

#[test]
fn a_step_moves_its_window_and_nothing_else() {
    for n in [16, 128] {
        let native = Native::new(&freeze(&products(n, 9, ALONE)), Arc::new(Auto), None).unwrap_or_else(|error| panic!("{error}"));
        // Two elements are read and one is written.
        assert_eq!(bytes_per_step(&native.kernel), 3 * 8 * (n as u64 - 2));
    }
}

#[test]
fn every_plan_gives_the_bits_of_the_interpreter() {
    let strategies: [Arc<dyn Strategy>; 4] = [Arc::new(Auto), Arc::new(KeepAll), Arc::new(Periodic { period: None }), Arc::new(Revolve)];
    for rest in [ALONE, READ_AFTER, WRITTEN_AFTER] {
        for steps in [0, 1, 2, 7] {
            let program = products(40, steps, rest);
            check_plans(&program, &inputs(40), &strategies).unwrap_or_else(|error| panic!("{error}\n{program}"));
            let gradient = diff::vjp(&program, &[0, 1], &[0, 1]).unwrap_or_else(|error| panic!("{error}"));
            let gradient = simplify(&gradient);
            let seeds = [inputs(40), inputs(40)].concat();
            check_plans(&gradient, &seeds, &strategies).unwrap_or_else(|error| panic!("{error}\n{gradient}"));
        }
    }
}
