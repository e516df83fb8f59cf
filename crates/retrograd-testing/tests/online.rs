//! A `while` is reversed within fixed slots, however many trips it takes: the peak is what was planned, the steps are
//! those of the table, the bits are the interpreter's.

use std::cell::Cell;
use std::collections::BTreeMap;
use std::sync::Arc;

use retrograd_compiler::eval::Sighting;
use retrograd_compiler::ir::{Array, Program, verify};
use retrograd_compiler::lower::lower;
use retrograd_compiler::plan::strategy::{LoopFate, User};
use retrograd_compiler::plan::{Plan, Request, plan};
use retrograd_compiler::{eval, ops};
use retrograd_jit::{Backend, Executable};
use retrograd_schedule::{Schedule, Sweep, counts};
use retrograd_testing::native::{backends, same_outputs};

const TABLE: &str = include_str!("../../../testdata/schedules/online.csv");

/// A loop that ends when its carry says, and its adjoint; every execution of a step shows itself.
const LOOP: &str = "fn main(%x: f64, %left: i64, %ct: f64) -> f64, i64, f64 {
  %end: f64, %rest: i64, %n: i64 = while carries(%x, %left) {cond=more, body=step}
  %dx: f64 = unwind %n carries(%x) adjoints(%ct) {body=again, bwd=back}
  return %end, %n, %dx
}
fn more(%c: f64, %left: i64) -> bool {
  %zero: i64 = constant {value=0}
  %p: bool = gt %left, %zero
  return %p
}
fn step(%c: f64, %left: i64) -> f64, i64 {
  %seen: bool = probe %c {name=\"step\"}
  %s: f64 = sin %c
  %one: i64 = constant {value=1}
  %less: i64 = sub %left, %one
  return %s, %less
}
fn again(%i: i64, %c: f64) -> f64 {
  %seen: bool = probe %c {name=\"step\"}
  %s: f64 = sin %c
  return %s
}
fn back(%i: i64, %c: f64, %a: f64) -> f64 {
  %seen: bool = probe %c {name=\"turn\"}
  %d: f64 = cos %c
  %b: f64 = mul %d, %a
  return %b
}
";

fn program() -> Program {
    let program = ops::parse(LOOP, "loop.rg").unwrap();
    verify(&program).unwrap();
    program
}

fn with_slots(program: &Program, slots: u64) -> Plan {
    let user = User { values: vec![], loops: vec![("loop.rg:3".into(), LoopFate::Revolve { slots })] };
    plan(program, &Request::by(Arc::new(user))).unwrap()
}

#[test]
fn executed_steps_are_those_of_the_table_and_the_peak_does_not_depend_on_the_trips() {
    let program = program();
    let mut rows: BTreeMap<u64, Vec<(u64, u128)>> = BTreeMap::new();
    for line in TABLE.lines().skip(1) {
        let cells: Vec<&str> = line.split(',').collect();
        rows.entry(cells[1].parse().unwrap()).or_default().push((cells[0].parse().unwrap(), cells[3].parse().unwrap()));
    }
    for (slots, rows) in rows {
        let plan = with_slots(&program, slots);
        let schedule = &plan.placed().trajectories[0].schedule;
        assert_eq!(*schedule, Schedule::Online { slots, state_bytes: 8 });
        let lowered = lower(&plan);
        for backend in backends() {
            let code = Executable::new(backend, &lowered).unwrap();
            for (trips, total) in rows.iter().filter(|(trips, _)| *trips <= 300) {
                let inputs = [Array::scalar(0.7), Array::int(*trips as i64), Array::scalar(1.5)];
                let executed = Cell::new(0u128);
                let mut look = |_: &Sighting<'_>| executed.set(executed.get() + 1);
                let (outputs, stats) = code.run_observed(&inputs.iter().collect::<Vec<_>>(), &mut look).unwrap();
                assert_eq!(executed.get(), *total, "{trips} trips, {slots} slots");
                assert_eq!(
                    counts(schedule, Sweep::Online, *trips).forward_steps(),
                    *total,
                    "{trips} trips, {slots} slots"
                );
                assert_eq!(stats.bytes_peak, plan.bytes_peak, "{trips} trips, {slots} slots");
                same_outputs(&outputs, &eval::run(&program, &inputs).unwrap()).unwrap();
            }
        }
    }
}

#[test]
fn a_million_trips_run_within_their_slots() {
    let program =
        ops::parse(&LOOP.lines().filter(|line| !line.contains("probe")).collect::<Vec<_>>().join("\n"), "loop.rg")
            .unwrap();
    let plan = plan(
        &program,
        &Request { budget: Some(2000), ..Request::by(Arc::new(retrograd_compiler::plan::strategy::Auto)) },
    )
    .unwrap();
    let lowered = lower(&plan);
    let code = Executable::new(&Backend::Cranelift, &lowered).unwrap();
    for trips in [0, 1, 2, 1000, 1_000_000] {
        let inputs = [Array::scalar(0.7), Array::int(trips), Array::scalar(1.5)];
        let (outputs, stats) = code.run(&inputs.iter().collect::<Vec<_>>()).unwrap();
        assert!(stats.bytes_peak == plan.bytes_peak && stats.bytes_peak <= 2000, "{trips} trips");
        same_outputs(&outputs, &eval::run(&program, &inputs).unwrap()).unwrap();
    }
}
