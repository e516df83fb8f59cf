//! Rows of a stencil are computed several at a time: the same bits for every number of rows, and what two rows have in
//! common is loaded and computed once.

use std::fmt::Write;
use std::sync::Arc;

use retrograd_compiler::ir::{Array, Program, Scalar, verify};
use retrograd_compiler::lower::kernel::{Kernel, Stmt};
use retrograd_compiler::lower::lower;
use retrograd_compiler::ops;
use retrograd_compiler::opt::{freeze, simplify};
use retrograd_compiler::plan::strategy::Auto;
use retrograd_compiler::plan::{Request, Strategy, plan};
use retrograd_testing::laws::check_plans;

/// The inner cells of an array, each with its neighbours along every axis, by turns added and subtracted, and the cell
/// itself.
fn stencil(shape: &[usize]) -> Program {
    let inner: Vec<usize> = shape.iter().map(|extent| extent - 2).collect();
    let (ty, inside, ones) = (format!("f64{shape:?}"), format!("f64{inner:?}"), vec![1; shape.len()]);
    let slice = |start: &[usize]| {
        let stop: Vec<usize> = start.iter().zip(&inner).map(|(start, extent)| start + extent).collect();
        format!("slice %x {{start={start:?}, stop={stop:?}, step={ones:?}}}")
    };
    let mut text = format!("fn main(%x: {ty}) -> {inside} {{\n  %0: {inside} = {}\n", slice(&ones));
    let mut sum = 0;
    for axis in 0..shape.len() {
        for (start, op) in [(0, "add"), (2, "sub")] {
            let mut there = ones.clone();
            there[axis] = start;
            let (next, after) = (sum + 1, sum + 2);
            writeln!(text, "  %{next}: {inside} = {}\n  %{after}: {inside} = {op} %{sum}, %{next}", slice(&there))
                .expect("strings take all");
            sum = after;
        }
    }
    writeln!(text, "  return %{sum}\n}}").expect("strings take all");
    let program = ops::parse(&text, "stencil.rg").unwrap_or_else(|error| panic!("{error}\n{text}"));
    verify(&program).unwrap_or_else(|error| panic!("{error}\n{text}"));
    program
}

#[test]
fn every_number_of_rows_gives_the_bits_of_one_by_one() {
    let auto: [Arc<dyn Strategy>; 1] = [Arc::new(Auto)];
    for rows in 1..10 {
        for shape in [vec![rows + 2, 23], vec![5, rows + 2, 12], vec![rows + 2, 4, 11]] {
            let cells = shape.iter().product();
            let x = Array::f64(shape.clone(), (0..cells).map(|k: usize| (k as f64 * 0.7).sin()).collect());
            check_plans(&stencil(&shape), &[x], &auto).unwrap_or_else(|error| panic!("{shape:?}: {error}"));
        }
    }
}

/// Loads, roots and stores of each vector loop.
fn loops(kernel: &Kernel) -> Vec<[usize; 3]> {
    fn walk(body: &[Stmt], found: &mut Vec<[usize; 3]>) {
        for stmt in body {
            if let Stmt::For { body, .. } = stmt {
                walk(body, found);
            }
            if let Stmt::ForVec { body, .. } = stmt {
                let count = |is: fn(&&Stmt) -> bool| body.iter().filter(is).count();
                let loads = count(|stmt| matches!(stmt, Stmt::Load { .. }));
                let roots = count(|stmt| matches!(stmt, Stmt::Let { op: Scalar::Sqrt, .. }));
                found.push([loads, roots, count(|stmt| matches!(stmt, Stmt::Store { .. }))]);
            }
        }
    }
    let mut found = vec![];
    walk(&kernel.body, &mut found);
    found
}

fn kernel(program: &Program) -> Kernel {
    let planned = plan(&freeze(&simplify(program)), &Request::by(Arc::new(Auto)));
    lower(&planned.unwrap_or_else(|error| panic!("{error}"))).kernel().clone()
}

#[test]
fn what_two_rows_read_is_loaded_once() {
    let loops = |shape: &[usize]| loops(&kernel(&stencil(shape)));
    // Four rows read two rows more than they are, and in each their neighbours to the left and to the right; two rows
    // remain.
    assert_eq!(loops(&[32, 40]), [[6 + 4 * 2, 0, 4], [5, 0, 1]]);
    assert_eq!(loops(&[30, 40]), [[6 + 4 * 2, 0, 4]]);
    // Along one axis there are no rows.
    assert_eq!(loops(&[400]), [[3, 0, 1]]);
}

#[test]
fn what_two_rows_compute_is_computed_once() {
    let text = "fn main(%x: f64[30,42]) -> f64[28,40] {
  %0: f64[28,40] = slice %x {start=[0, 1], stop=[28, 41], step=[1, 1]}
  %1: f64[28,40] = slice %x {start=[1, 1], stop=[29, 41], step=[1, 1]}
  %2: f64[28,40] = slice %x {start=[2, 1], stop=[30, 41], step=[1, 1]}
  %3: f64[28,40] = sqrt %0
  %4: f64[28,40] = sqrt %1
  %5: f64[28,40] = sqrt %2
  %6: f64[28,40] = add %3, %4
  %7: f64[28,40] = sub %6, %5
  return %7
}
";
    // Four rows read two more, and each number has one root.
    assert_eq!(loops(&kernel(&ops::parse(text, "roots.rg").unwrap())), [[6, 6, 4]]);
}
