//! Loops that change little of what they carry keep a log of what they overwrite: the same bits as with states, and the
//! bytes that were planned.

use std::sync::Arc;

use retrograd_compiler::ir::{Array, Program, verify};
use retrograd_compiler::opt::{freeze, simplify};
use retrograd_compiler::plan::strategy::{Auto, Revolve};
use retrograd_compiler::{diff, eval, ops};
use retrograd_testing::native::Native;

/// A step replaces one element of an array.
const WINDOW: &str = include_str!("../../retrograd-compiler/tests/undo/window.rg");
/// A nest in the manner of a factorisation.
const TRIANGLE: &str = include_str!("../../retrograd-compiler/tests/undo/triangle.rg");

fn gradient(text: &str) -> Program {
    let program = ops::parse(text, "undo.rg").unwrap();
    verify(&program).unwrap();
    let all: Vec<usize> = (0..program.main().params.len()).collect();
    freeze(&simplify(&diff::vjp(&program, &all, &[0]).unwrap()))
}

fn inputs(program: &Program) -> Vec<Array> {
    let number = |k: usize| 1.5 + (k as f64 * 0.7).sin();
    let types = program.main().param_types();
    types.iter().map(|ty| Array::f64(ty.shape.clone(), (0..ty.elements()).map(number).collect::<Vec<_>>())).collect()
}

#[test]
fn what_is_put_back_has_the_bits_of_the_states() {
    for (name, text) in [("one window", WINDOW), ("a triangle", TRIANGLE)] {
        let program = gradient(text);
        let inputs = inputs(&program);
        let expected = eval::run(&program, &inputs).unwrap();
        let by_states = Native::new(&program, Arc::new(Revolve), None).unwrap();
        by_states.check(&inputs, &expected).unwrap_or_else(|error| panic!("{name} by states: {error}"));
        let most = Native::new(&program, Arc::new(Auto), None).unwrap().plan.bytes_peak;
        let mut by_logs = 0;
        for budget in (1..=40).map(|part| most * part / 20) {
            let Ok(native) = Native::new(&program, Arc::new(Auto), Some(budget)) else { continue };
            assert!(native.plan.bytes_peak <= budget, "{name}: {}", native.plan);
            native
                .check(&inputs, &expected)
                .unwrap_or_else(|error| panic!("{name} in {budget} bytes: {error}\n{}", native.plan));
            by_logs += usize::from(!native.plan.logs.is_empty());
        }
        assert!(by_logs > 3, "{name}: {by_logs} plans keep a log\n{program}");
    }
}

/// A log has a row of one number for each step, where records have five and states sixty.
#[test]
fn a_log_takes_what_is_overwritten() {
    let native = Native::new(&gradient(WINDOW), Arc::new(Auto), Some(2000)).unwrap();
    assert_eq!((native.plan.logs[0].rows, native.plan.logs[0].bytes), (40, 40 * 8), "{}", native.plan);
}

/// Where the counts of inner loops are known at run time only, nothing else has all steps reversed once.
#[test]
fn a_triangle_keeps_a_log_without_a_budget() {
    let native = Native::new(&gradient(TRIANGLE), Arc::new(Auto), None).unwrap();
    assert_eq!(native.plan.logs.len(), 1, "{}", native.plan);
    assert!(native.plan.facts.loops.is_empty(), "no states are held: {}", native.plan);
    assert!(native.plan.bytes_peak < 6 * 144 * 8, "{}", native.plan);
}
