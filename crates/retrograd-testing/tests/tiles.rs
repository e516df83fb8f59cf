//! Loops over levels of columns that are alike run tile by tile: several of them in one loop over tiles, with and
//! without adjoints.

use std::sync::Arc;

use retrograd_compiler::ir::{Array, Program, verify};
use retrograd_compiler::opt::{freeze, simplify};
use retrograd_compiler::plan::Strategy;
use retrograd_compiler::plan::strategy::{Auto, KeepAll};
use retrograd_compiler::{diff, eval, ops};
use retrograd_testing::native::Native;

/// Two loops over levels.
const COLUMNS: &str = include_str!("../../../testdata/plan/columns.rg");

/// They with other extents.
fn columns(rows: usize, long: usize, levels: usize) -> Program {
    let text = COLUMNS.split("// ---- expected").next().unwrap();
    let text =
        text.replace("4,40,10", &format!("{rows},{long},{levels}")).replace("4,40,1]", &format!("{rows},{long},1]"));
    let text = text.replace("4,40]", &format!("{rows},{long}]")).replace("[4, 40, 1]", &format!("[{rows}, {long}, 1]"));
    let text =
        text.replace("[4, 40]", &format!("[{rows}, {long}]")).replace("value=9", &format!("value={}", levels - 1));
    let program = ops::parse(&text, "columns.rg").unwrap();
    verify(&program).unwrap();
    program
}

fn inputs(rows: usize, long: usize, levels: usize) -> [Array; 2] {
    let numbers = |n: usize, by: f64| (0..n).map(|k| 1.5 + (k as f64 * by).sin()).collect::<Vec<_>>();
    [
        Array::f64([rows, long, levels], numbers(rows * long * levels, 0.1)),
        Array::f64([rows, long], numbers(rows * long, 0.7)),
    ]
}

fn native(program: &Program, strategy: impl Strategy + 'static) -> Native {
    Native::new(program, Arc::new(strategy), None).unwrap()
}

#[test]
fn loops_that_nothing_unwinds_are_one_loop_over_tiles_where_they_leave_the_cache() {
    let (program, inputs) = (columns(40, 50, 100), inputs(40, 50, 100));
    let expected = eval::run(&program, &inputs).unwrap();
    let tiled = native(&program, Auto);
    tiled.check(&inputs, &expected).unwrap();
    assert_eq!(tiled.plan.tiles.len(), 1, "{}", tiled.plan);
    // What the first loop makes for the second is never there as a whole.
    assert!(tiled.plan.bytes_peak < 8 * 40 * 50 * 100 / 2, "{}", tiled.plan);
    assert!(native(&columns(4, 50, 100), Auto).plan.tiles.is_empty(), "what is small is in cache anyway");
}

#[test]
fn two_loops_and_their_adjoints_are_one_loop_over_tiles() {
    let [levels, start] = inputs(12, 50, 20);
    let inputs = [levels, start, Array::f64([], vec![1.0])];
    let gradient = freeze(&simplify(&diff::vjp(&columns(12, 50, 20), &[0, 1], &[0]).unwrap()));
    let expected = eval::run(&gradient, &inputs).unwrap();
    let (tiled, whole) = (native(&gradient, Auto), native(&gradient, KeepAll));
    tiled.check(&inputs, &expected).unwrap();
    assert_eq!(tiled.plan.tiles.len(), 1, "{}", tiled.plan);
    assert!(4 * tiled.plan.bytes_peak < 3 * whole.plan.bytes_peak, "{}\n{}", tiled.plan, whole.plan);
}
