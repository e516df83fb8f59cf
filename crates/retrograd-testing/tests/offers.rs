//! Without a budget, a plan stays within what is offered: what a machine can spare.

use std::sync::Arc;

use retrograd_compiler::ir::{Array, ErrorKind, Program, verify};
use retrograd_compiler::plan::strategy::{Auto, KeepAll};
use retrograd_compiler::plan::{Request, Strategy, plan, plan_within};
use retrograd_compiler::{diff, eval, ops, opt};
use retrograd_testing::native::Native;

/// The gradient of 50 steps over 40 numbers that depend on each other.
fn gradient() -> Program {
    let text = "fn main(%x: f64[40]) -> f64[40] {
  %n: i64 = constant {value=50}
  %end: f64[40] = for %n carries(%x) {body=step}
  return %end
}
fn step(%i: i64, %x: f64[40]) -> f64[40] {
  %0: f64[40] = sin %x
  %1: f64[40] = reverse %x {axes=[0]}
  %2: f64[40] = mul %0, %1
  return %2
}
";
    let program = ops::parse(text, "offers.rg").unwrap();
    verify(&program).unwrap();
    opt::freeze(&opt::simplify(&diff::vjp(&program, &[0], &[0]).unwrap()))
}

fn request(strategy: impl Strategy + 'static, budget: Option<u64>) -> Request {
    Request { budget, ..Request::by(Arc::new(strategy)) }
}

/// The smallest budget that a strategy can work with.
fn smallest(program: &Program, strategy: impl Strategy + 'static) -> u64 {
    let error = plan(program, &request(strategy, Some(0))).unwrap_err();
    let ErrorKind::OverBudget { needed, budget: 0 } = error.kind else { panic!("{error}") };
    needed
}

#[test]
fn an_offer_that_binds_is_a_budget_and_the_plan_says_so() {
    let program = gradient();
    let numbers = |shift: f64| Array::f64([40], (0..40).map(|k| (f64::from(k) + shift).sin()).collect::<Vec<_>>());
    let inputs = [numbers(0.2), numbers(0.9)];
    let expected = eval::run(&program, &inputs).unwrap();
    let (free, least) = (plan(&program, &request(Auto, None)).unwrap(), smallest(&program, Auto));
    assert!(least < free.bytes_peak / 2, "{least} of {}", free.bytes_peak);
    for offer in [least, least.midpoint(free.bytes_peak), free.bytes_peak - 1] {
        let within = plan_within(&program, &request(Auto, None), offer).unwrap();
        assert_eq!((within.budget, within.offered), (None, Some(offer)));
        assert!(within.bytes_peak <= offer && within.decision.work > free.decision.work, "{within}");
        let budgeted = plan(&program, &request(Auto, Some(offer))).unwrap();
        assert_eq!((within.bytes_peak, &within.decision), (budgeted.bytes_peak, &budgeted.decision));
        assert_eq!(within.work_bound(), budgeted.work_bound());
        Native::of_plan(within).check(&inputs, &expected).unwrap();
    }
}

#[test]
fn of_a_large_offer_only_what_saves_work_is_taken() {
    let text = "fn main(%x: f64) -> f64 {
  %n: i64 = constant {value=1000000000000}
  %end: f64 = for %n carries(%x) {body=step}
  return %end
}
fn step(%i: i64, %x: f64) -> f64 {
  %0: f64 = sin %x
  %1: f64 = mul %0, %x
  return %1
}
";
    let program = ops::parse(text, "offers.rg").unwrap();
    let program = opt::freeze(&opt::simplify(&diff::vjp(&program, &[0], &[0]).unwrap()));
    let offer = 4_000_000_000;
    let (all, within) = (
        plan(&program, &request(Auto, Some(offer))).unwrap(),
        plan_within(&program, &request(Auto, None), offer).unwrap(),
    );
    assert!(within.bytes_peak < offer / 50 && within.decision.work <= all.decision.work * 65 / 64, "{all}\n{within}");
}

#[test]
fn an_offer_of_enough_changes_nothing() {
    let program = gradient();
    let free = plan(&program, &request(Auto, None)).unwrap();
    for offer in [free.bytes_peak, u64::MAX] {
        let within = plan_within(&program, &request(Auto, None), offer).unwrap();
        assert_eq!((within.offered, within.to_string()), (None, free.to_string()));
    }
}

#[test]
fn an_offer_of_too_little_is_out_of_memory_and_no_budget() {
    let program = gradient();
    for (strategy, needed) in [
        (Arc::new(Auto) as Arc<dyn Strategy>, smallest(&program, Auto)),
        (Arc::new(KeepAll), plan(&program, &request(KeepAll, None)).unwrap().bytes_peak),
    ] {
        let error = plan_within(&program, &Request { strategy, ..request(Auto, None) }, needed - 1).unwrap_err();
        assert_eq!(error.kind, ErrorKind::OutOfMemory { needed });
        assert!(!error.message.contains("budget"), "{error}");
    }
}

#[test]
fn a_budget_is_a_budget_whatever_is_offered() {
    let program = gradient();
    let budget = plan(&program, &request(Auto, None)).unwrap().bytes_peak;
    let within = plan_within(&program, &request(Auto, Some(budget)), 1).unwrap();
    assert_eq!((within.budget, within.offered), (Some(budget), None));
}
