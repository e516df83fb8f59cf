//! What the gradient of a formula takes: to derive and compile by size, and to run.
//!
//! `cargo run --release -p retrograd-expr --example expressions`

#![allow(clippy::print_stdout, reason = "a benchmark says what it measured")]

use std::time::Instant;

use retrograd::pipeline::{self, Options, Wanted, cores, strategy};
use retrograd::{Array, Backend, Type};
use retrograd_expr::{Expr, Function, diff_all};

const NAMES: [&str; 4] = ["x", "y", "z", "w"];

/// A formula of so many operations, four a step, over what came shortly before and long before.
fn formula(operations: usize) -> Expr {
    let mut state = 1_u64;
    let mut next = |below: usize| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) as usize % below
    };
    let mut pool: Vec<Expr> = NAMES.map(Expr::variable).into();
    for k in 0..operations / 4 {
        let a = pool[pool.len() - 1 - next(4)].clone();
        let b = pool[next(pool.len())].clone();
        let one = |function, a: Expr| Expr::call(function, [a]);
        pool.push(if k % 2 == 0 {
            one(Function::Sin, a.clone()) * b + a * 0.5
        } else {
            one(Function::Tanh, a - &b) * 0.9 + b
        });
    }
    pool.pop().expect("the pool is never empty")
}

fn main() -> Result<(), retrograd::Error> {
    println!("operations  symbolic gradient  entries  program  compile  run in machine code");
    for operations in [2_000, 25_000, 50_000, 100_000, 200_000] {
        let expr = formula(operations);
        let begin = Instant::now();
        let gradient = diff_all(&expr, &NAMES)?;
        let symbolic = begin.elapsed();
        let entries: usize = gradient.iter().map(Expr::size).sum();
        let begin = Instant::now();
        let program = expr.program(&NAMES.map(|name| (name, Type::f64([]))))?;
        let lowered = begin.elapsed();
        let begin = Instant::now();
        let options = Options {
            wanted: Wanted::Gradient,
            argnums: vec![0, 1, 2, 3],
            strategy: strategy::all()[0].clone(),
            budget: None,
            backend: Backend::default(),
            spill: None,
            threads: cores(),
            arithmetic: pipeline::Arithmetic::default(),
        };
        let compiled = pipeline::compile(&program, &options)?;
        let seconds = begin.elapsed();
        let point = [0.3, 0.5, 0.7, 0.2].map(Array::scalar);
        let inputs: Vec<&Array> = point.iter().collect();
        let runs = (0..200).map(|_| {
            let begin = Instant::now();
            let outputs = compiled.run(&inputs);
            (begin.elapsed(), outputs.is_ok())
        });
        let best = runs.filter(|(_, well)| *well).map(|(time, _)| time).min().unwrap_or_default();
        println!("{operations:10}  {symbolic:>17.1?}  {entries:7}  {lowered:>7.0?}  {seconds:>7.2?}  {best:?}");
    }
    Ok(())
}
