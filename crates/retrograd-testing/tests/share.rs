//! Nests that stand in several places of a kernel are one function: the same bits, whichever place runs it.

use std::sync::Arc;

use retrograd_compiler::ir::{Array, verify};
use retrograd_compiler::lower::lower;
use retrograd_compiler::opt::{freeze, simplify};
use retrograd_compiler::plan::strategy::Auto;
use retrograd_compiler::{diff, eval, ops};
use retrograd_testing::native::Native;

/// Steps of a stencil, twelve times, within steps that compute a function.
const NESTED: &str = include_str!("../../retrograd-compiler/tests/share/nested.rg");

#[test]
fn nests_that_are_shared_give_the_bits_of_the_interpreter() {
    let program = ops::parse(NESTED, "nested.rg").unwrap();
    verify(&program).unwrap();
    let program = freeze(&simplify(&diff::vjp(&program, &[0, 1], &[0]).unwrap()));
    let number = |k: usize| 0.5 + 0.3 * (k as f64 * 0.7).sin();
    let types = program.main().param_types();
    let inputs: Vec<Array> = types
        .iter()
        .map(|ty| Array::f64(ty.shape.clone(), (0..ty.elements()).map(number).collect::<Vec<_>>()))
        .collect();
    let expected = eval::run(&program, &inputs).unwrap();
    let mut parts = vec![];
    for budget in [None, Some(200_000), Some(150_000), Some(100_000), Some(80_000), Some(50_000)] {
        let native = Native::new(&program, Arc::new(Auto), budget).unwrap_or_else(|error| panic!("{error}"));
        native
            .check(&inputs, &expected)
            .unwrap_or_else(|error| panic!("in {budget:?} bytes: {error}\n{}", native.plan));
        parts.push(lower(&native.plan).kernel().parts.len());
    }
    assert!(parts.iter().filter(|parts| **parts > 2).count() >= 2, "{parts:?}");
}
