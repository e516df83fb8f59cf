//! What the operating system says of the memory of a run is what was planned: half a gigabyte where everything is kept,
//! five megabytes under a budget of five. One test alone, because it looks at the whole process.
#![cfg(target_os = "linux")]

use std::fs;
use std::sync::Arc;

use retrograd_compiler::ir::{Array, Program, verify};
use retrograd_compiler::lower::lower;
use retrograd_compiler::ops;
use retrograd_compiler::plan::strategy::{KeepAll, Revolve};
use retrograd_compiler::plan::{Request, Strategy, plan};
use retrograd_jit::{Backend, Executable};
use retrograd_testing::native::same_outputs;

const LOOP: &str = "fn main(%x: f64[12500], %ct: f64[12500]) -> f64[12500] {
  %n: i64 = constant {value=5000}
  %dx: f64[12500] = unwind %n carries(%x) adjoints(%ct) {body=step, bwd=back}
  return %dx
}
fn step(%i: i64, %c: f64[12500]) -> f64[12500] {
  %half: f64 = constant {value=0.5}
  %h: f64[12500] = broadcast %half {shape=[12500], axes=[]}
  %q: f64[12500] = mul %c, %c
  %r: f64[12500] = mul %h, %q
  return %r
}
fn back(%i: i64, %c: f64[12500], %a: f64[12500]) -> f64[12500] {
  %b: f64[12500] = mul %c, %a
  return %b
}
";

/// A line of the process's status, in bytes.
fn status(name: &str) -> u64 {
    let text = fs::read_to_string("/proc/self/status").unwrap();
    let line = text.lines().find(|line| line.starts_with(name)).expect("the system says it");
    line.split_whitespace().nth(1).and_then(|word| word.parse::<u64>().ok()).expect("in kilobytes") * 1024
}

/// The gradient under a plan, the bytes that were planned, and how much the process grew.
fn run(program: &Program, strategy: Arc<dyn Strategy>, budget: Option<u64>) -> (Vec<Array>, u64, u64) {
    let plan = plan(program, &Request { budget, ..Request::by(strategy) }).unwrap();
    let lowered = lower(&plan);
    let code = Executable::new(&Backend::Cranelift, &lowered).unwrap();
    let numbers = |shift: f64| {
        Array::f64([12_500], (0..12_500).map(|k| 1.5 + (f64::from(k) * shift).sin() / 4.0).collect::<Vec<_>>())
    };
    let inputs = [numbers(0.1), numbers(0.2)];
    // The highest mark of memory starts from here.
    fs::write("/proc/self/clear_refs", "5").unwrap();
    let before = status("VmRSS");
    let (outputs, stats) = code.run(&inputs.iter().collect::<Vec<_>>()).unwrap();
    assert_eq!(stats.bytes_peak, plan.bytes_peak);
    (outputs, plan.bytes_peak, status("VmHWM") - before)
}

#[test]
fn the_system_sees_what_was_planned() {
    let program = ops::parse(LOOP, "loop.rg").unwrap();
    verify(&program).unwrap();
    let (budgeted, planned, grown) = run(&program, Arc::new(Revolve), Some(5_000_000));
    // The result itself and pages that are not full.
    let close = |planned: u64, grown: u64| grown.abs_diff(planned) < 1_000_000;
    assert!(planned <= 5_000_000 && close(planned, grown), "planned {planned} bytes, the process grew by {grown}");
    let (kept, planned, grown) = run(&program, Arc::new(KeepAll), None);
    assert!(planned > 500_000_000 && close(planned, grown), "planned {planned} bytes, the process grew by {grown}");
    same_outputs(&budgeted, &kept).unwrap();
}
