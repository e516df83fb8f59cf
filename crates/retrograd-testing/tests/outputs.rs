//! Large outputs are made in the caller's memory, without a copy and without a byte more.

use std::sync::Arc;

use retrograd_compiler::ir::{Array, Program, verify};
use retrograd_compiler::lower::lower;
use retrograd_compiler::plan::strategy::Auto;
use retrograd_compiler::{eval, ops};
use retrograd_jit::{Backend, Executable};
use retrograd_testing::native::Native;

/// 1.6 MB.
const N: usize = 200_000;

fn program(text: &str) -> Program {
    let program = ops::parse(text, "outputs.rg").unwrap();
    verify(&program).unwrap();
    program
}

fn numbers(n: usize) -> Array {
    Array::f64([n], (0..n).map(|k| (k as f64 * 0.01).sin()).collect::<Vec<_>>())
}

/// Bytes of the arena and of outputs in the caller's memory, and bytes written; machine code and interpreter agree.
fn bytes(program: &Program, inputs: &[Array]) -> (usize, u64, u64) {
    let expected = eval::run(program, inputs).unwrap();
    let native = Native::new(program, Arc::new(Auto), None).unwrap();
    native.check(inputs, &expected).unwrap_or_else(|difference| panic!("{difference}\n{}", native.plan));
    let lowered = lower(&native.plan);
    let (arena, outputs) = (lowered.kernel().arena_bytes, lowered.kernel().output_bytes);
    assert_eq!(native.plan.bytes_peak, arena as u64 + outputs);
    let code = Executable::new(&Backend::Cranelift, &lowered).unwrap();
    let (_, stats) = code.counting().unwrap().run(&inputs.iter().collect::<Vec<_>>()).unwrap();
    (arena, outputs, stats.counts.expect("it counts").bytes_written)
}

fn elementwise(n: usize) -> Program {
    program(&format!("fn main(%0: f64[{n}]) -> f64[{n}] {{\n  %1: f64[{n}] = sin %0\n  return %1\n}}\n"))
}

#[test]
fn a_large_output_is_written_once_and_is_not_in_the_arena() {
    assert_eq!(bytes(&elementwise(N), &[numbers(N)]), (0, 8 * N as u64, 8 * N as u64));
}

#[test]
fn a_small_output_is_copied_from_the_arena() {
    assert_eq!(bytes(&elementwise(100), &[numbers(100)]), (800, 0, 1600));
}

#[test]
fn a_value_that_is_two_outputs_is_made_in_one_and_copied_to_the_other() {
    let twice = program(&format!(
        "fn main(%0: f64[{N}]) -> f64[{N}], f64[{N}] {{\n  %1: f64[{N}] = sin %0\n  return %1, %1\n}}\n"
    ));
    assert_eq!(bytes(&twice, &[numbers(N)]), (0, 8 * N as u64, 16 * N as u64));
}

#[test]
fn an_input_that_is_an_output_is_copied() {
    let same = program(&format!("fn main(%0: f64[{N}]) -> f64[{N}] {{\n  return %0\n}}\n"));
    assert_eq!(bytes(&same, &[numbers(N)]), (0, 0, 8 * N as u64));
}

/// The carry goes back and forth between the output and the arena, an odd number of times and an even one.
#[test]
fn a_carry_that_changes_places_ends_in_the_output() {
    for steps in [3, 4] {
        let smooth = program(&format!(
            "fn main(%0: f64[{N}]) -> f64[{N}] {{
  %1: i64 = constant {{value={steps}}}
  %2: f64[{N}] = for %1 carries(%0) {{body=step}}
  return %2
}}
fn step(%0: i64, %1: f64[{N}]) -> f64[{N}] {{
  %2: f64[{N}] = reverse %1 {{axes=[0]}}
  %3: f64[{N}] = sin %2
  return %3
}}
"
        ));
        let (arena, outputs, _) = bytes(&smooth, &[numbers(N)]);
        assert_eq!((arena, outputs), (8 * N, 8 * N as u64), "{steps} steps");
    }
}

/// The arena has room for the output where a larger array was before.
#[test]
fn an_output_stays_in_the_arena_where_the_callers_memory_would_be_more() {
    let after = program(&format!(
        "fn main(%0: f64[{N}], %1: f64[{n}]) -> f64[{N}] {{
  %2: i64 = constant {{value=3}}
  %3: f64[{n}] = for %2 carries(%1) {{body=step}}
  %4: f64 = sum %3 {{axes=[0]}}
  %5: f64[{N}] = broadcast %4 {{shape=[{N}], axes=[]}}
  %6: f64[{N}] = mul %0, %5
  return %6
}}
fn step(%0: i64, %1: f64[{n}]) -> f64[{n}] {{
  %2: f64[{n}] = sin %1
  return %2
}}
",
        n = 2 * N
    ));
    let (arena, outputs, _) = bytes(&after, &[numbers(N), numbers(2 * N)]);
    // A tile of the loop may be there besides.
    assert!((16 * N..17 * N).contains(&arena) && outputs == 0, "{arena} bytes, {outputs} of outputs");
}
