//! Maps over large arrays are shared by threads, whose number no bit depends on.

use std::sync::Arc;

use retrograd_compiler::fuse::{Fused, fuse};
use retrograd_compiler::ir::{Array, Program, verify};
use retrograd_compiler::opt::freeze;
use retrograd_compiler::plan::strategy::Auto;
use retrograd_compiler::plan::{Request, plan};
use retrograd_compiler::{eval, ops};
use retrograd_jit::Executable;
use retrograd_testing::native::{backends, same_outputs};

fn program(text: &str) -> Program {
    let program = ops::parse(text, "threads.rg").unwrap_or_else(|error| panic!("{error}"));
    verify(&program).unwrap_or_else(|error| panic!("{error}"));
    freeze(&program)
}

/// Runs on 1, 2 and 4 threads, by every back end, and several times: workers are awake the second time.
fn check(text: &str, inputs: &[Array], expected_threads: [usize; 3]) {
    let program = program(text);
    let expected = eval::run(&program, inputs).expect("no fault");
    let plan = plan(&program, &Request { strategy: Arc::new(Auto), budget: None, spill: None }).expect("it can be planned");
    let Fused { kernel, faults } = fuse(&plan);
    let (types, results) = (program.main().param_types(), program.main().result_types());
    let inputs: Vec<&Array> = inputs.iter().collect();
    for backend in backends() {
        for (threads, expected_threads) in [1, 2, 4].into_iter().zip(expected_threads) {
            let executable = Executable::by(backend, &kernel, types.clone(), results.clone(), faults.clone()).expect("it is there");
            let executable = executable.with_threads(threads);
            assert_eq!(executable.threads(), expected_threads);
            for _ in 0..5 {
                let (outputs, stats) = executable.run(&inputs).expect("no fault");
                same_outputs(&outputs, &expected).unwrap();
                assert_eq!(stats.bytes_peak, plan.bytes_peak);
            }
        }
    }
}

fn ramp<const RANK: usize>(shape: [usize; RANK]) -> Array {
    let count: usize = shape.iter().product();
    Array::f64(shape, (0..count).map(|k| (k as f64 * 0.37).sin()).collect::<Vec<_>>())
}

#[test]
fn a_long_loop_is_shared_in_blocks() {
    // Not a multiple of a block, so that something remains.
    let text = "fn main(%x: f64[200003], %a: f64) -> f64[200003] {
  %b: f64[200003] = broadcast %a {shape=[200003], axes=[]}
  %0: f64[200003] = mul %x, %b
  %1: f64[200003] = sin %0
  %2: f64[200003] = add %1, %x
  return %2
}
";
    check(text, &[ramp([200_003]), Array::scalar(0.7)], [1, 2, 4]);
}

#[test]
fn the_outermost_loop_of_a_nest_is_shared() {
    let text = "fn main(%x: f64[300,400], %r: f64[400,300]) -> f64[300,400] {
  %t: f64[300,400] = transpose %r {axes=[1, 0]}
  %0: f64[300,400] = mul %x, %t
  %1: f64[300,400] = exp %0
  %2: f64[300,400] = add %1, %x
  return %2
}
";
    check(text, &[ramp([300, 400]), ramp([400, 300])], [1, 2, 4]);
}

#[test]
fn several_runs_at_once_give_the_same_bits() {
    let text = "fn main(%x: f64[100000]) -> f64[100000] {
  %0: f64[100000] = exp %x
  %1: f64[100000] = mul %0, %x
  return %1
}
";
    let (program, input) = (program(text), ramp([100_000]));
    let expected = eval::run(&program, std::slice::from_ref(&input)).expect("no fault");
    let plan = plan(&program, &Request { strategy: Arc::new(Auto), budget: None, spill: None }).expect("it can be planned");
    let Fused { kernel, faults } = fuse(&plan);
    let executable = Executable::new(&kernel, program.main().param_types(), program.main().result_types(), faults).with_threads(3);
    std::thread::scope(|scope| {
        for _ in 0..3 {
            scope.spawn(|| {
                for _ in 0..20 {
                    let (outputs, _) = executable.run(&[&input]).expect("no fault");
                    same_outputs(&outputs, &expected).unwrap();
                }
            });
        }
    });
}

#[test]
fn short_arrays_stay_on_one_thread() {
    let text = "fn main(%x: f64[100]) -> f64[100] {
  %0: f64[100] = exp %x
  return %0
}
";
    check(text, &[ramp([100])], [1, 1, 1]);
}
