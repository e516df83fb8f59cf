//! A long loop of short steps is reversed block by block: the steps are those that the schedule counts, the peak is
//! what was planned, the bits are the interpreter's.

use std::cell::Cell;
use std::sync::Arc;

use retrograd_compiler::eval::Sighting;
use retrograd_compiler::ir::{Array, Program, verify};
use retrograd_compiler::lower::lower;
use retrograd_compiler::plan::strategy::{Auto, LoopFate, Revolve, Strategy, User};
use retrograd_compiler::plan::{Plan, Request, plan};
use retrograd_compiler::{eval, ops};
use retrograd_jit::Executable;
use retrograd_schedule::{Schedule, counts};
use retrograd_testing::native::{backends, same_outputs};

/// A loop and its adjoint; every execution of a step shows itself.
const LOOP: &str = "fn main(%x: f64, %n: i64, %ct: f64) -> f64, f64 {
  %end: f64 = for %n carries(%x) {body=step}
  %dx: f64 = unwind %n carries(%x) adjoints(%ct) {body=step, bwd=back}
  return %end, %dx
}
fn step(%i: i64, %c: f64) -> f64 {
  %seen: bool = probe %c {name=\"step\"}
  %s: f64 = sin %c
  return %s
}
fn back(%i: i64, %c: f64, %a: f64) -> f64 {
  %d: f64 = cos %c
  %b: f64 = mul %d, %a
  return %b
}
";

fn program(text: &str) -> Program {
    let program = ops::parse(text, "loop.rg").unwrap();
    verify(&program).unwrap();
    program
}

/// The loop with a number of steps that is known before the run.
fn known(steps: i64) -> Program {
    let constant = format!("  %count: i64 = constant {{value={steps}}}\n  %end: f64 = for %count ");
    program(&LOOP.replace("  %end: f64 = for %n ", &constant).replace("unwind %n", "unwind %count"))
}

fn planned(program: &Program, strategy: Arc<dyn Strategy>) -> Plan {
    plan(program, &Request { budget: Some(2000), ..Request::by(strategy) }).unwrap()
}

/// Runs a plan by all back ends for so many steps, and holds what happens against the schedule and the interpreter.
fn check(program: &Program, plan: &Plan, steps: u64) {
    let trajectory = &plan.placed().trajectories[0];
    // A step that is turned back is no step forwards: what it needs of one is part of the step backwards.
    let counted = counts(&trajectory.schedule, trajectory.sweep, steps);
    let predicted = counted.forward_steps() - counted.youturns;
    let inputs = [Array::scalar(0.7), Array::int(steps as i64), Array::scalar(1.5)];
    let expected = eval::run(program, &inputs).unwrap();
    let lowered = lower(plan);
    for backend in backends() {
        let code = Executable::new(backend, &lowered).unwrap();
        let executed = Cell::new(0u128);
        let mut look = |_: &Sighting<'_>| executed.set(executed.get() + 1);
        let (outputs, stats) = code.run_observed(&inputs.iter().collect::<Vec<_>>(), &mut look).unwrap();
        assert_eq!(executed.get(), predicted, "{steps} steps");
        assert_eq!(stats.bytes_peak, plan.bytes_peak, "{steps} steps");
        same_outputs(&outputs, &expected).unwrap();
    }
}

#[test]
fn a_loop_whose_length_is_known_at_run_time_runs_block_by_block() {
    let program = program(LOOP);
    let plan = planned(&program, Arc::new(Auto));
    assert!(matches!(plan.placed().trajectories[0].schedule, Schedule::Blocks(_)), "{plan}");
    for steps in [0, 1, 2, 63, 64, 65, 1000, 30_000] {
        check(&program, &plan, steps);
    }
}

#[test]
fn a_loop_too_long_for_a_table_runs_block_by_block_and_fewer_steps_than_by_states_alone() {
    const STEPS: u64 = 30_001;
    let program = known(STEPS as i64);
    let [blocks, states] =
        [Arc::new(Auto) as Arc<dyn Strategy>, Arc::new(Revolve)].map(|strategy| planned(&program, strategy));
    assert!(matches!(blocks.placed().trajectories[0].schedule, Schedule::Blocks(_)), "{blocks}");
    check(&program, &blocks, STEPS);
    let forward = |plan: &Plan| {
        let trajectory = &plan.placed().trajectories[0];
        counts(&trajectory.schedule, trajectory.sweep, STEPS).forward_steps()
    };
    assert!(
        forward(&blocks) < forward(&states),
        "{} steps by blocks, {} by states",
        forward(&blocks),
        forward(&states)
    );
}

#[test]
fn the_leaves_of_revolve_run_the_steps_of_its_schedule() {
    for slots in [1, 2, 3, 5, 8, 20] {
        let program = program(LOOP);
        let user = User { loops: vec![("loop.rg:3".into(), LoopFate::Revolve { slots })], ..User::default() };
        let plan = plan(&program, &Request::by(Arc::new(user))).unwrap();
        assert!(matches!(plan.placed().trajectories[0].schedule, Schedule::Revolve { .. }), "{plan}");
        for steps in (0..=40).chain([333, 2000]) {
            check(&program, &plan, steps);
        }
    }
}
