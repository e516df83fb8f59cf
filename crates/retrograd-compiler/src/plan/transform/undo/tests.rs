//! A Program with logs computes what it did without them, bit for bit, by the interpreter.

use super::undone;
use crate::ir::{Array, Program, verify};
use crate::opt::{freeze, simplify};
use crate::{diff, eval, ops};

/// A step replaces one element of an array.
const WINDOW: &str = include_str!("../../../../tests/undo/window.rg");
/// A nest in the manner of a factorisation.
const TRIANGLE: &str = include_str!("../../../../tests/undo/triangle.rg");

/// Programs that differ in what their steps overwrite.
fn programs() -> Vec<(&'static str, String)> {
    let (head, _) = WINDOW.split_once("  %b: ").expect("a step ends with what it writes");
    let step = |rest: &str| format!("{head}{rest}");
    vec![
        ("one window", WINDOW.to_owned()),
        (
            "a number beside",
            step(
                "  %b: f64[60] = update %a, %u, %j {step=[1]}\n  %t: f64 = mul %s, %q\n  %r: f64 = cos %t\n  return \
                 %b, %r, %k\n}\n",
            ),
        ),
        (
            "what is added, twice, by a step",
            step(
                "  %b: f64[60] = add_at %a, %z, %i {step=[2]}\n  %c: f64[60] = update %b, %u, %two {step=[1]}\n  \
                 return %c, %s, %k\n}\n",
            ),
        ),
        (
            "what was written is read again",
            step(
                "  %b: f64[60] = update %a, %u, %j {step=[1]}\n  %c: f64[3] = dynamic_slice %b, %i {sizes=[3], \
                 step=[1]}\n  %d: f64[3] = mul %c, %x\n  %e: f64[60] = update %b, %d, %j {step=[2]}\n  return %e, %s, \
                 %k\n}\n",
            ),
        ),
        (
            "a place that follows from the state",
            step(
                "  %l: i64[1] = dynamic_slice %k, %i {sizes=[1], step=[1]}\n  %m: i64 = reshape %l {shape=[]}\n  %o: \
                 i64[1] = add %l, %l\n  %h: i64[1] = constant {value=i64[1] [50]}\n  %g: i64[1] = rem %o, %h\n  %f: \
                 i64[60] = update %k, %g, %j {step=[1]}\n  %b: f64[60] = update %a, %u, %m {step=[1]}\n  return %b, \
                 %s, %f\n}\n",
            ),
        ),
        (
            "an inner loop of no steps",
            TRIANGLE.replace("for %i carries(%a)", "for %none carries(%a)").replacen(
                "  %0: f64[12,12] = for %none",
                "  %none: i64 = constant {value=0}\n  %0: f64[12,12] = for %none",
                1,
            ),
        ),
        ("a triangle", TRIANGLE.to_owned()),
    ]
}

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

fn bits(arrays: &[Array]) -> Vec<Vec<u64>> {
    arrays.iter().map(|array| array.as_f64().iter().map(|x| x.to_bits()).collect()).collect()
}

#[test]
fn what_is_put_back_has_the_bits_of_the_states() {
    for (name, text) in programs() {
        let program = gradient(&text);
        let inputs = inputs(&program);
        let expected = eval::run(&program, &inputs).unwrap();
        let undone = undone(&program, 0).unwrap_or_else(|| panic!("{name} can keep a log\n{program}"));
        verify(&undone.program).unwrap_or_else(|error| panic!("{name}: {error}\n{}", undone.program));
        let found = eval::run(&undone.program, &inputs).unwrap();
        assert_eq!(bits(&found), bits(&expected), "{name}\n{}", undone.program);
    }
}

#[test]
fn loops_inside_of_steps_keep_logs_of_their_own() {
    let (_, triangle) = programs().pop().unwrap();
    let program = gradient(&triangle);
    let undone = undone(&program, 1).unwrap();
    assert_eq!(undone.logs.len(), 2);
    let [found, expected] = [&undone.program, &program].map(|program| eval::run(program, &inputs(program)).unwrap());
    assert_eq!(bits(&found), bits(&expected), "{}", undone.program);
}
