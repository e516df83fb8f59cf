//! Maps over large arrays are shared by threads, whose number no bit depends on.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use retrograd_compiler::ir::{Array, Data, ErrorKind, Program, verify};
use retrograd_compiler::lower::lower;
use retrograd_compiler::opt::{freeze, simplify};
use retrograd_compiler::plan::strategy::Auto;
use retrograd_compiler::plan::{Plan, Request, plan};
use retrograd_compiler::{diff, eval, ops};
use retrograd_jit::{Backend, Cancellation, Executable};
use retrograd_testing::native::{backends, same_outputs};

fn program(text: &str) -> Program {
    let program = ops::parse(text, "threads.rg").unwrap_or_else(|error| panic!("{error}"));
    verify(&program).unwrap_or_else(|error| panic!("{error}"));
    freeze(&program)
}

/// Runs on 1, 2 and 4 threads, by every back end, and several times: workers are awake the second time.
fn check(text: &str, inputs: &[Array], expected_threads: [usize; 3]) {
    let program = program(text);
    let plan = plan_for(&program, 1);
    assert!(plan.placed().frames.is_empty());
    check_plan(&program, &plan, inputs, expected_threads);
}

/// The same for a map, whose steps as many threads share as it was planned for.
fn check_map(program: &Program, inputs: &[Array]) {
    let alone = plan_for(program, 1);
    for threads in [2, 3, 4] {
        let plan = plan_for(program, threads);
        assert_eq!(plan.placed().frames.len(), 1, "one map is shared");
        assert!(plan.bytes_peak >= alone.bytes_peak, "threads have memory of their own");
        check_plan(program, &plan, inputs, [1, 2, 4]);
    }
    check_plan(program, &alone, inputs, [1, 1, 1]);
}

fn plan_for(program: &Program, threads: usize) -> Plan {
    plan(program, &Request { threads, ..Request::by(Arc::new(Auto)) }).expect("it can be planned")
}

fn check_plan(program: &Program, plan: &Plan, inputs: &[Array], expected_threads: [usize; 3]) {
    let expected = eval::run(program, inputs).expect("no fault");
    let lowered = lower(plan);
    let inputs: Vec<&Array> = inputs.iter().collect();
    for backend in backends() {
        for (threads, expected_threads) in [1, 2, 4].into_iter().zip(expected_threads) {
            let executable = Executable::new(backend, &lowered).expect("it is there");
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
    let lowered = lower(&plan_for(&program, 1));
    let executable = Executable::new(&Backend::Cranelift, &lowered).unwrap().with_threads(3);
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

/// Every row goes through a loop of its own, with arrays that live while it lasts; the last chunk is shorter than the
/// others.
const ROWS: &str = "fn main(%x: f64[1003,40], %w: f64[40]) -> f64[1003,40] {
  %n: i64 = constant {value=1003}
  %y: f64[1003,40] = for %n invariants(%w) streams(%x) {body=row, bound=1003}
  return %y
}
fn row(%i: i64, %w: f64[40], %x: f64[40]) -> f64[40] {
  %n: i64 = constant {value=30}
  %y: f64[40] = for %n carries(%x) invariants(%w) {body=step}
  return %y
}
fn step(%k: i64, %c: f64[40], %w: f64[40]) -> f64[40] {
  %0: f64[40] = mul %c, %w
  %1: f64[40] = sin %0
  %2: f64[40] = reverse %1 {axes=[0]}
  %3: f64[40] = add %2, %c
  return %3
}
";

#[test]
fn the_steps_of_a_map_are_shared() {
    check_map(&program(ROWS), &[ramp([1003, 40]), ramp([40])]);
}

#[test]
fn the_tiles_of_a_loop_are_shared() {
    let text = "fn main(%s: f64[10000], %theta: f64[10000]) -> f64 {
  %0: i64 = constant {value=50}
  %1: f64[10000] = for %0 carries(%s) invariants(%theta) {body=step}
  %2: f64 = sum %1 {axes=[0]}
  return %2
}
fn step(%i: i64, %s: f64[10000], %theta: f64[10000]) -> f64[10000] {
  %0: f64[10000] = mul %theta, %s
  %1: f64[10000] = tanh %0
  %2: f64[10000] = add %s, %1
  return %2
}
";
    let parsed = ops::parse(text, "tiles.rg").unwrap_or_else(|error| panic!("{error}"));
    let gradient = freeze(&simplify(&diff::vjp(&simplify(&parsed), &[0, 1], &[0]).expect("it has a gradient")));
    check_map(&gradient, &[ramp([10_000]), ramp([10_000]), Array::scalar(1.0)]);
    // A budget that has no room for a second thread has room for one.
    let [alone, shared] = [1, 2].map(|threads| plan_for(&gradient, threads));
    let within = |budget, threads| {
        plan(&gradient, &Request { budget: Some(budget), threads, ..Request::by(Arc::new(Auto)) }).expect("it fits")
    };
    assert_eq!(within(shared.bytes_peak, 2).placed().frames.len(), 1);
    let tight = within(alone.bytes_peak, 2);
    assert!(tight.bytes_peak <= alone.bytes_peak && tight.decision.work == alone.decision.work);
}

/// Row k divides k by a divisor of its own.
const DIVIDED: &str = "fn main(%d: i64[4000], %x: f64[4000,100]) -> i64[4000], f64[4000] {
  %n: i64 = constant {value=4000}
  %q: i64[4000], %s: f64[4000] = for %n streams(%d, %x) {body=row, bound=4000}
  return %q, %s
}
fn row(%i: i64, %d: i64, %x: f64[100]) -> i64, f64 {
  %a: i64 = div %i, %d
  %n: i64 = constant {value=99}
  %b: i64 = mul %d, %n
  %p: f64[1] = dynamic_slice %x, %b {sizes=[1], step=[1]}
  %r: f64 = reshape %p {shape=[]}
  %s: f64 = sum %x {axes=[0]}
  %t: f64 = add %r, %s
  return %a, %t
}
";

#[test]
fn of_several_faults_in_a_map_the_first_is_told() {
    let program = program(DIVIDED);
    // The first row that divides by zero, and before it one that reads beyond its end.
    let zeros = |k: i64| if k == 3000 || k == 3900 { 0 } else { 1 };
    let beyond = |k: i64| if k == 1500 { 2 } else { zeros(k) };
    let divisors = |row: &dyn Fn(i64) -> i64| Array::new([4000], Data::I64((0..4000).map(row).collect()));
    let x = ramp([4000, 100]);
    for divisors in [divisors(&zeros), divisors(&beyond)] {
        let expected = eval::run(&program, &[divisors.clone(), x.clone()]).expect_err("some row faults");
        for threads in [1, 2, 4] {
            let lowered = lower(&plan_for(&program, threads));
            for backend in backends() {
                let executable = Executable::new(backend, &lowered).expect("it is there").with_threads(threads);
                for _ in 0..5 {
                    let error = executable.run(&[&divisors, &x]).expect_err("some row faults");
                    assert_eq!((&error.kind, &error.pos), (&expected.kind, &expected.pos), "on {threads} threads");
                }
            }
        }
    }
}

#[test]
fn a_map_on_several_threads_can_be_stopped() {
    let text = ROWS.replace("value=30", "value=2000000000");
    let program = program(&text);
    let plan = plan_for(&program, 3);
    assert_eq!(plan.placed().frames.len(), 1);
    let lowered = lower(&plan);
    let (x, w) = (ramp([1003, 40]), ramp([40]));
    for backend in backends() {
        let executable = Executable::new(backend, &lowered).expect("it is there").with_threads(3);
        let stop = AtomicBool::new(false);
        std::thread::scope(|scope| {
            scope.spawn(|| {
                std::thread::sleep(Duration::from_millis(50));
                stop.store(true, Ordering::Relaxed);
            });
            let error = executable.run_with(&[&x, &w], &Cancellation::from(&stop)).expect_err("it would take days");
            assert_eq!(error.kind, ErrorKind::Interrupted);
        });
    }
}
