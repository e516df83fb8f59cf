//! The mark of what is rounded as it is written: its text, what keeps it, and what it keeps.

use retrograd_compiler::ir::{Program, verify};
use retrograd_compiler::opt::{self, Arithmetic, fix, freeze, simplify};
use retrograd_compiler::{diff, ops};

fn parsed(text: &str) -> Program {
    let program = ops::parse(text, "arithmetic.rg").unwrap_or_else(|error| panic!("{error}"));
    verify(&program).unwrap_or_else(|error| panic!("{error}"));
    program
}

#[test]
fn the_mark_prints_and_parses() {
    let text = "fn main(%0: f64[3], %1: f64[3]) -> f64 {
  %2: f64[3] = mul %0, %1 {exact}
  %3: f64[3] = sub %2, %1 {exact}
  %4: f64[3] = add %3, %1
  %5: f64 = sum %4 {axes=[0], exact}
  return %5
}
";
    assert_eq!(parsed(text).to_string(), text);
    let error = |op: &str| {
        ops::parse(&format!("fn main(%0: f64) -> f64 {{\n  %1: f64 = {op}\n  return %1\n}}\n"), "x.rg")
            .unwrap_err()
            .message
    };
    assert_eq!(error("div %0, %0 {exact}"), "`div` has no attribute `exact`; it has none");
    assert_eq!(error("add %0, %0 {exact, exact}"), "the attribute `exact` is given twice");
    assert!(
        ops::parse("fn main(%0: f64) -> f64 {\n  %1: f64 = add %0, %0 {exact=1}\n  return %1\n}\n", "x.rg").is_err()
    );
}

#[test]
fn sums_that_differ_in_the_mark_stay_two() {
    let program = parsed(
        "fn main(%0: f64, %1: f64) -> f64, f64, f64 {
  %2: f64 = mul %0, %1
  %3: f64 = add %2, %1 {exact}
  %4: f64 = add %2, %1
  %5: f64 = add %2, %1 {exact}
  return %3, %4, %5
}
",
    );
    let text = freeze(&simplify(&program)).to_string();
    assert_eq!((text.matches("add").count(), text.matches("fma").count()), (1, 1), "{text}");
}

/// An unwind of the user's own is reordered before it is differentiated, or not at all.
#[test]
fn exact_arithmetic_leaves_the_users_unwinds_alone() {
    let program = parsed(
        "fn main(%0: i64, %1: f64[100], %2: f64) -> f64[100], f64 {
  %3: f64[100], %4: f64 = unwind %0 carries(%1) invariants(%2) adjoints(%1) running(%2) {body=body, bwd=bwd}
  return %3, %4
}

fn body(%0: i64, %1: f64[100], %2: f64) -> f64[100] {
  %3: f64[100] = sin %1
  return %3
}

fn bwd(%0: i64, %1: f64[100], %2: f64, %3: f64[100], %4: f64) -> f64[100], f64 {
  %5: f64[100] = cos %1
  %6: f64[100] = div %3, %5
  %7: f64 = sum %6 {axes=[0]}
  %8: f64 = add %4, %7
  return %6, %8
}
",
    );
    let summed_after = |program: &Program| program.main().insts.iter().any(|inst| inst.op.name() == "sum");
    assert!(summed_after(&fix(&program, Arithmetic::Contracted)));
    let exact = fix(&program, Arithmetic::Exact);
    assert!(!summed_after(&freeze(&exact)), "{}", freeze(&exact));
    let derived = diff::jvp(&exact, &[1, 2], &[0, 1]).unwrap();
    assert!(opt::freeze(&derived).to_string().contains("{axes=[0], exact}"));
}
