//! What rows give where the derivative is not defined, or needs care to be.

use std::sync::Arc;

use retrograd_compiler::ir::{Array, Attrs, Builder, DType, Data, OpDef, Program, Type};
use retrograd_compiler::ops::{ABS, CBRT, COPYSIGN, FLOOR, HYPOT, MAX, MIN, POW, REDUCE_MAX, REDUCE_MIN, REM, SIGN};
use retrograd_compiler::plan::strategy::KeepAll;
use retrograd_compiler::{diff, eval};
use retrograd_testing::native::Native;

const NAN: f64 = f64::NAN;
const INF: f64 = f64::INFINITY;

/// The derivative of a row by one argument.
fn partial(def: &'static OpDef, args: &[f64], by: usize) -> f64 {
    run(&diff::vjp(&program(def, args.len()), &[by], &[0]).unwrap(), args, &[1.0])
}

/// The second derivative by one argument, reverse over reverse.
fn second(def: &'static OpDef, args: &[f64], by: usize) -> f64 {
    let first = diff::vjp(&program(def, args.len()), &[by], &[0]).unwrap();
    run(&diff::vjp(&first, &[by], &[1]).unwrap(), args, &[1.0, 1.0])
}

fn program(def: &'static OpDef, arity: usize) -> Program {
    let b = Builder::new(def.name);
    let params = b.params(vec![Type::f64([]); arity]);
    let result = b.op(def, Attrs::none(), &params);
    Program::new(b.finish(vec![result]))
}

/// The last result, after those of the program that was differentiated.
fn run(program: &Program, args: &[f64], more: &[f64]) -> f64 {
    let inputs: Vec<Array> = args.iter().chain(more).map(|x| Array::f64([], vec![*x])).collect();
    eval::run(program, &inputs).unwrap().last().unwrap().as_f64()[0]
}

#[track_caller]
fn check(found: f64, expected: f64, what: &str) {
    let near = (found - expected).abs() <= 1e-14 * expected.abs();
    assert!(
        near || found == expected || (found.is_nan() && expected.is_nan()),
        "{what}: found {found}, expected {expected}"
    );
}

#[test]
fn derivatives_at_the_edges() {
    let cases: &[(&'static OpDef, &[f64], &[f64])] = &[
        (&ABS, &[0.0], &[0.0]),
        (&ABS, &[-0.0], &[0.0]),
        (&SIGN, &[0.0], &[0.0]),
        (&FLOOR, &[2.0], &[0.0]),
        (&MIN, &[1.0, 1.0], &[0.5, 0.5]),
        (&MAX, &[1.0, 1.0], &[0.5, 0.5]),
        (&MAX, &[2.0, 1.0], &[1.0, 0.0]),
        (&MIN, &[NAN, 1.0], &[0.0, 0.0]),
        (&COPYSIGN, &[0.0, -1.0], &[0.0, 0.0]),
        (&COPYSIGN, &[2.0, -1.0], &[-1.0, 0.0]),
        (&REM, &[-5.0, 2.0], &[1.0, 2.0]),
        (&CBRT, &[0.0], &[INF]),
        (&HYPOT, &[0.0, 0.0], &[NAN, NAN]),
        (&POW, &[-2.0, 3.0], &[12.0, NAN]),
        (&POW, &[-2.0, -1.0], &[-0.25, NAN]),
        (&POW, &[-2.0, 0.5], &[NAN, NAN]),
        (&POW, &[0.0, 2.0], &[0.0, 0.0]),
        (&POW, &[0.0, 1.0], &[1.0, 0.0]),
        (&POW, &[0.0, 0.5], &[INF, 0.0]),
        (&POW, &[0.0, 0.0], &[0.0, 0.0]),
        (&POW, &[3.0, 0.0], &[0.0, 3f64.ln()]),
    ];
    for (row, args, partials) in cases {
        for (by, expected) in partials.iter().enumerate() {
            check(partial(row, args, by), *expected, &format!("{} at {args:?} by {by}", row.name));
        }
    }
}

#[test]
fn second_derivatives_of_powers_by_the_base() {
    for (args, expected) in [
        ([-2.0, 3.0], -12.0),
        ([0.0, 2.0], 2.0),
        ([0.0, 1.0], 0.0),
        ([0.0, 3.0], 0.0),
        ([-3.0, 2.0], 2.0),
        ([0.0, 0.0], 0.0),
    ] {
        check(second(&POW, &args, 0), expected, &format!("pow at {args:?}"));
    }
}

/// What rows are made of: zeros of both signs among numbers on either side of them, infinities, a NaN early and late.
const AMONG: [&[f64]; 8] = [
    &[-0.0, 0.0],
    &[-0.0],
    &[-0.0, -1.5, -0.0],
    &[-2.0, 0.0, -0.0],
    &[1.5, -0.0, 0.0],
    &[INF, -INF],
    &[-INF],
    &[NAN, 1.0, -2.0],
];

#[test]
fn machine_code_finds_the_extremes_of_rows_with_zeros_and_nan() {
    for (dtype, length) in [DType::F64, DType::F32]
        .into_iter()
        .flat_map(|dtype| [1, 3, 7, 8, 15, 16, 17, 31, 40, 4100].map(|n| (dtype, n)))
    {
        let b = Builder::new("extremes");
        let x = b.param(Type::new(dtype, [2 * AMONG.len(), length]));
        let results = [&REDUCE_MAX, &REDUCE_MIN].map(|row| b.op(row, Attrs::none().ints("axes", [1]), &[x]));
        let program = Program::new(b.finish(results.to_vec()));
        let native = Native::new(&program, Arc::new(KeepAll), None).unwrap();
        // Each row begins with its numbers, or ends with them: the rest is the last of them, or the first.
        let row = |numbers: &[f64], k: usize| numbers[k.min(numbers.len() - 1)];
        let numbers = AMONG.iter().flat_map(|numbers| (0..length).map(|k| row(numbers, k)));
        let numbers = numbers.chain(AMONG.iter().flat_map(|numbers| (0..length).map(|k| row(numbers, length - 1 - k))));
        let data = match dtype {
            DType::F32 => Data::F32(numbers.map(|x| x as f32).collect()),
            DType::F64 | DType::I32 | DType::I64 | DType::Bool => Data::F64(numbers.collect()),
        };
        let inputs = [Array::new([2 * AMONG.len(), length], data)];
        let expected = eval::run(&program, &inputs).unwrap();
        native.check(&inputs, &expected).unwrap_or_else(|error| panic!("{dtype:?}, {length}: {error}"));
    }
}
