//! Mistakes are returned with the line of this file that made them.

use std::sync::atomic::{AtomicU32, Ordering::Relaxed};

use retrograd::{Array, Data, Error, ErrorKind, Var, cond, f64, for_loop, grad, i64, jit, value_and_grad};

fn vector(x: &[f64]) -> Array {
    Array::f64([x.len()], x.to_vec())
}

/// The error names this line and says this.
#[track_caller]
fn check(result: Result<impl std::fmt::Debug, Error>, kind: ErrorKind, line: u32, message: &str) {
    let error = result.expect_err("a mistake is refused");
    assert_eq!(error.message, message);
    assert_eq!(error.kind, kind);
    assert!(error.pos.file().is_some_and(|file| file.ends_with("tests/errors.rs")), "{error}");
    assert_eq!(error.pos.line(), line, "{error}");
}

#[test]
fn shapes_that_do_not_broadcast() {
    let f = jit(|[x, y]| {
        let z = x + y;
        z.sin() * z.shape()[0] as f64
    });
    let result = f.run(&[vector(&[1.0, 2.0]), vector(&[1.0, 2.0, 3.0])]);
    let message = "`add` cannot broadcast f64[2] with f64[3]; extents of an axis must be equal, or 1";
    check(result, ErrorKind::Shape, line!() - 5, message);
}

#[test]
fn types_that_do_not_fit() {
    check(jit(|[i]| i.sin()).compile(&[i64([])]), ErrorKind::DType, line!(), "`sin` does not take i64");
    let result = jit(|[x]| cond(x, || x, || x)).compile(&[f64([])]);
    check(result, ErrorKind::DType, line!() - 1, "the predicate of a branch must be a scalar bool, found f64");
}

#[test]
fn the_first_of_several_mistakes_is_reported() {
    let first = AtomicU32::new(0);
    let f = jit(|[x]| {
        for_loop(3, x, |_, z| {
            first.store(line!() + 1, Relaxed);
            let z = z.reshape([7]);
            for_loop(2, z, |_, z| z.at(99)).dot(x.transpose_axes(&[5]))
        })
    });
    let result = f.run(&[vector(&[1.0, 2.0])]);
    check(result, ErrorKind::Shape, first.load(Relaxed), "`reshape` cannot make shape [7] of the 2 elements of f64[2]");
}

#[test]
fn arguments_of_the_wrong_type() {
    let compiled = jit(|[x]| x * 2.0).compile(&[f64([2])]).unwrap();
    check(compiled.run(&[&vector(&[1.0])]), ErrorKind::Argument, line!(), "argument 0: compiled for f64[2], found f64[1]");
    check(compiled.run(&[]), ErrorKind::Argument, line!(), "the function takes 1 arguments, found 0");
    let f = jit(|[x, y]| x * y);
    check(f.run(&[vector(&[1.0])]), ErrorKind::Argument, line!(), "the function takes 2 arguments, found 1");
    let single = Array::new([1], Data::F32(vec![1.0]));
    let message = "argument 1 is f32[1]; f32 and i32 are not there yet, convert to f64 or i64";
    check(f.run(&[vector(&[1.0]), single]), ErrorKind::Unsupported, line!(), message);
}

#[test]
fn a_value_that_escapes_its_loop() {
    let f = jit(|[x]| {
        let mut inside: Option<Var> = None;
        for_loop(3, x, |_, z| {
            inside = Some(z * 2.0);
            z
        });
        inside.unwrap() + x
    });
    let message = "a value made inside a loop body was used outside it; return it from the body";
    check(f.run(&[Array::scalar(1.0)]), ErrorKind::Argument, line!() - 3, message);
}

#[test]
fn a_carry_that_changes_its_shape() {
    let result = jit(|[x, v]| for_loop(3, (v, x), |_, (v, x)| (v, x * v)).1).run(&[Array::scalar(1.0), vector(&[1.0, 2.0])]);
    let message = "carry 1 changes its type in the loop: expected f64, as at its start, found f64[2] at the end of the body";
    check(result, ErrorKind::Shape, line!() - 2, message);
}

#[test]
fn only_scalars_have_a_gradient() {
    let message = "a gradient needs a function whose result is a scalar f64, found f64[2]; reduce it, for example with `sum`";
    check(value_and_grad(|[x]| x * x).run(&[vector(&[1.0, 2.0])]), ErrorKind::Argument, line!(), message);
    let message = "argument 0 is i64; only floats have a gradient, choose others with `argnums`";
    check(grad(|[n, x]| n * x).compile(&[i64([]), f64([])]), ErrorKind::Argument, line!(), message);
    let message = "argnums names argument 2, but the function takes 1";
    check(grad(|[x]| x).argnums(&[2]).compile(&[f64([])]), ErrorKind::Argument, line!(), message);
}

#[test]
fn a_budget_that_is_none() {
    let f = grad(|[x]| x).budget("-3 MB");
    let message = "the budget `-3 MB` is negative; write bytes, or a number and a unit such as \"1.2 MB\" or \"16 MiB\"";
    check(f.compile(&[f64([])]), ErrorKind::Argument, line!() - 2, message);
}

#[test]
fn indices_out_of_bounds() {
    let known = jit(|[x]| x.at(2)).compile(&[f64([2])]);
    check(known, ErrorKind::Shape, line!() - 1, "index 2 is outside axis 0 of f64[2], which has 2 elements");
    let computed = jit(|[x, i]| x.at(i));
    let error = computed.run(&[vector(&[1.0, 2.0]), Array::int(2)]).unwrap_err();
    assert_eq!((error.kind, error.pos.line()), (ErrorKind::Bounds, line!() - 2));
}
