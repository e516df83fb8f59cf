//! What is computed inside the branches of a step can be kept: bits, peaks and budgets are those of every plan, and
//! what is kept is computed once.

use std::sync::Arc;

use retrograd_compiler::ir::{Array, Program, verify};
use retrograd_compiler::lower::lower;
use retrograd_compiler::plan::strategy::{Ilp, KeepAll, RecomputeAll, User};
use retrograd_compiler::plan::{Fate, Plan, Request, Strategy, plan};
use retrograd_compiler::{diff, ops, opt};
use retrograd_testing::laws::{check_plans, strategies};

/// The gradient of a loop over 8 numbers whose steps branch.
fn gradient(text: &str) -> Program {
    let program = ops::parse(text, "branches.rg").unwrap();
    verify(&program).unwrap();
    let program = opt::freeze(&opt::simplify(&diff::vjp(&opt::simplify(&program), &[0, 1], &[0]).unwrap()));
    verify(&program).unwrap();
    program
}

fn inputs() -> Vec<Array> {
    let numbers = |shift: f64| Array::f64([8], (0..8).map(|k| 0.5 * (f64::from(k) + shift).sin()).collect::<Vec<_>>());
    vec![numbers(0.3), numbers(0.7), numbers(1.1)]
}

fn planned(program: &Program, strategy: impl Strategy + 'static) -> Plan {
    plan(program, &Request::by(Arc::new(strategy))).unwrap()
}

/// How often machine code has a function in it.
fn occurrences(plan: &Plan, function: &str) -> usize {
    format!("{:?}", lower(plan).kernel()).matches(function).count()
}

/// A loop of 12 steps whose step is an `if`; sums of the state decide.
fn looped(branches: &str) -> String {
    format!(
        "fn main(%x: f64[8], %w: f64[8]) -> f64[8] {{
  %n: i64 = constant {{value=12}}
  %end: f64[8] = for %n carries(%x) invariants(%w) {{body=step}}
  return %end
}}
fn step(%i: i64, %x: f64[8], %w: f64[8]) -> f64[8] {{
  %0: f64 = sum %x {{axes=[0]}}
  %1: f64 = constant {{value=0.1}}
  %2: bool = lt %0, %1
  %3: f64[8] = if %2 args(%x, %w, %0) {{then=below, else=above}}
  return %3
}}
{branches}"
    )
}

const TWO: &str = "fn below(%x: f64[8], %w: f64[8], %s: f64) -> f64[8] {
  %0: f64[8] = exp %x
  %1: f64[8] = mul %0, %w
  return %1
}
fn above(%x: f64[8], %w: f64[8], %s: f64) -> f64[8] {
  %0: f64[8] = mul %x, %w
  %1: f64[8] = tanh %0
  %2: f64[8] = neg %1
  return %2
}
";

/// A branch in a branch, which has no values of its own.
const NESTED: &str = "fn below(%x: f64[8], %w: f64[8], %s: f64) -> f64[8] {
  %0: f64 = constant {value=-0.4}
  %1: bool = lt %s, %0
  %2: f64[8] = if %1 args(%x, %w) {then=deep, else=shallow}
  %3: f64[8] = sin %2
  return %3
}
fn deep(%x: f64[8], %w: f64[8]) -> f64[8] {
  %0: f64[8] = exp %x
  %1: f64[8] = mul %0, %w
  return %1
}
fn shallow(%x: f64[8], %w: f64[8]) -> f64[8] {
  %0: f64[8] = add %x, %w
  return %0
}
fn above(%x: f64[8], %w: f64[8], %s: f64) -> f64[8] {
  %0: f64[8] = mul %x, %x
  %1: f64[8] = sub %w, %0
  return %1
}
";

/// A loop in a branch, with its adjoint, and values of other types before and after it.
const LOOP: &str = "fn below(%x: f64[8], %w: f64[8], %s: f64) -> f64[8] {
  %0: f64 = sin %s
  %1: i64 = constant {value=3}
  %2: f64[8] = for %1 carries(%x) invariants(%0) {body=inner}
  %3: f64[8] = exp %2
  %4: f64[8] = mul %3, %w
  return %4
}
fn inner(%i: i64, %x: f64[8], %s: f64) -> f64[8] {
  %0: f64[8] = broadcast %s {shape=[8], axes=[]}
  %1: f64[8] = mul %x, %0
  %2: f64[8] = tanh %1
  return %2
}
fn above(%x: f64[8], %w: f64[8], %s: f64) -> f64[8] {
  %0: f64[8] = cos %x
  %1: f64[8] = mul %0, %w
  return %1
}
";

#[test]
fn every_plan_gives_the_interpreters_bits_within_its_budget() {
    for branches in [TWO, NESTED, LOOP] {
        check_plans(&gradient(&looped(branches)), &inputs(), &strategies()).unwrap();
    }
}

#[test]
fn what_a_branch_keeps_is_computed_once() {
    let program = gradient(&looped(TWO));
    // In the step that records, and nowhere else.
    let kept = planned(&program, KeepAll);
    assert_eq!((occurrences(&kept, "Exp"), occurrences(&kept, "Tanh")), (1, 1), "{kept}");
    // In the first sweep, to go on from a held state, and to turn a step back.
    let again = planned(&program, RecomputeAll);
    assert_eq!((occurrences(&again, "Exp"), occurrences(&again, "Tanh")), (3, 3), "{again}");
}

#[test]
fn a_record_has_room_for_one_branch() {
    let plan = planned(&gradient(&looped(TWO)), KeepAll);
    let report = &plan.reports()[0];
    let shared = |residual: &&retrograd_compiler::plan::ResidualReport| residual.origin.contains(" or ");
    assert!(report.residuals.iter().any(|residual| shared(&residual) && residual.fate == "kept"), "{plan}");
}

#[test]
fn a_value_of_a_branch_in_a_branch_is_kept_by_its_name() {
    let program = gradient(&looped(NESTED));
    let user = |fate: Fate| User { values: vec![("exp at branches.rg:21".into(), fate)], loops: vec![] };
    let kept = planned(&program, user(Fate::Keep));
    assert_eq!(occurrences(&kept, "Exp"), 1, "{kept}");
    check_plans(&program, &inputs(), &[Arc::new(user(Fate::Keep)), Arc::new(user(Fate::Recompute)), Arc::new(Ilp)])
        .unwrap();
}
