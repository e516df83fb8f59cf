//! Mistakes are returned with the line of this file that made them.

use std::sync::atomic::{AtomicU32, Ordering::Relaxed};

use retrograd::{
    Array, DType, Direction, Error, ErrorKind, Var, check_grads, cond, f64, for_loop, grad, hessian, hvp, i64,
    jacobian, jacrev, jit, jvp, map, scan, value_and_grad, vjp,
};

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
    let message = "argument 0: compiled for f64[2], found f64[1]";
    check(compiled.run(&[&vector(&[1.0])]), ErrorKind::Argument, line!(), message);
    check(compiled.run(&[]), ErrorKind::Argument, line!(), "the function takes 1 arguments, found 0");
    let made = line!() + 1;
    let f = jit(|[x, y]| x * y);
    check(f.run(&[vector(&[1.0])]), ErrorKind::Argument, line!(), "the function takes 2 arguments, found 1");
    let single = Array::f32([1], vec![1.0]);
    let message = "`mul` takes one element type, found f64[1] and f32[1]; `convert` one of them";
    check(f.run(&[vector(&[1.0]), single]), ErrorKind::DType, made, message);
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
    let f = jit(|[x, v]| for_loop(3, (v, x), |_, (v, x)| (v, x * v)).1);
    let line = line!() - 1;
    let result = f.run(&[Array::scalar(1.0), vector(&[1.0, 2.0])]);
    let message =
        "carry 1 changes its type in the loop: expected f64, as at its start, found f64[2] at the end of the body";
    check(result, ErrorKind::Shape, line, message);
}

#[test]
fn only_scalars_have_a_gradient() {
    let message =
        "a gradient needs a function whose result is a scalar float, found f64[2]; reduce it, for example with `sum`";
    check(value_and_grad(|[x]| x * x).run(&[vector(&[1.0, 2.0])]), ErrorKind::Argument, line!(), message);
    let message = "argument 0 is i64; only floats have a gradient, choose others with `argnums`";
    check(grad(|[n, x]| n * x).compile(&[i64([]), f64([])]), ErrorKind::Argument, line!(), message);
    let message = "argnums names argument 2, but the function takes 1";
    check(grad(|[x]| x).argnums(&[2]).compile(&[f64([])]), ErrorKind::Argument, line!(), message);
}

#[test]
fn a_budget_that_is_none() {
    let f = grad(|[x]| x).budget("-3 MB");
    let line = line!() - 1;
    let message =
        "the budget `-3 MB` is negative; write bytes, or a number and a unit such as \"1.2 MB\" or \"16 MiB\"";
    check(f.compile(&[f64([])]), ErrorKind::Argument, line, message);
}

#[test]
fn indices_out_of_bounds() {
    let known = jit(|[x]| x.at(2)).compile(&[f64([2])]);
    check(known, ErrorKind::Shape, line!() - 1, "index 2 is outside axis 0 of f64[2], which has 2 elements");
    let computed = jit(|[x, i]| x.at(i));
    let error = computed.run(&[vector(&[1.0, 2.0]), Array::int(2)]).unwrap_err();
    assert_eq!((error.kind, error.pos.line()), (ErrorKind::Bounds, line!() - 2));
}

#[test]
fn derivatives_that_do_not_exist() {
    let message =
        "a gradient needs a function whose result is a scalar float, found f64[2]; reduce it, for example with `sum`";
    check(hessian(|[x]| x * x).run(&[vector(&[1.0, 2.0])]), ErrorKind::Argument, line!(), message);
    check(hvp(|[x]| x * x).compile(&[f64([2])]), ErrorKind::Argument, line!(), message);
    let message = "a derivative needs a function with a float result, found i64; `convert` it to f64";
    check(jacobian(|[x]| x.convert(DType::I64)).compile(&[f64([])]), ErrorKind::Argument, line!(), message);
    let message = "argnums names argument 0 twice";
    check(grad(|[x, y]| x * y).argnums(&[0, 1, 0]).compile(&[f64([]), f64([])]), ErrorKind::Argument, line!(), message);
    let message = "the Jacobian of f64[1,1,1,1,1] by f64[1,1,1,1,1] has 10 axes, more than 8; reshape";
    check(jacrev(|[x]| x * x).compile(&[f64([1; 5])]), ErrorKind::Unsupported, line!(), message);
}

#[test]
fn seeds_that_do_not_fit() {
    let f = vjp(|[x]| x * x);
    let result = f.run_with(&[vector(&[1.0, 2.0])], &[vector(&[1.0, 2.0, 3.0])]);
    check(result, ErrorKind::Shape, line!() - 1, "cotangent 0: expected f64[2], found f64[3]");
    let f = jvp(|[x, n, y]| x * y * n);
    let result = f.run_with(&[Array::scalar(1.0), Array::int(2), Array::scalar(3.0)], &[Array::scalar(1.0)]);
    check(result, ErrorKind::Argument, line!() - 1, "2 tangents are needed (f64, f64), found 1");
}

#[test]
fn names_that_nobody_has() {
    let f = || grad(|[x, y]| x * y);
    let named = f().names(&["x", "y"]).argnames(&["z"]);
    let message = "no argument is called `z`; there are `x`, `y`";
    check(named.compile(&[f64([]), f64([])]), ErrorKind::Argument, line!(), message);
    let message = "the arguments have no names; give them with `names`";
    check(f().argnames(&["x"]).compile(&[f64([]), f64([])]), ErrorKind::Argument, line!(), message);
    let message = "there are 1 names for 2 arguments";
    check(f().names(&["x"]).compile(&[f64([]), f64([])]), ErrorKind::Argument, line!(), message);
    check(named.named(&[("x", 1)]), ErrorKind::Argument, line!(), "argument `y` is missing");
    check(named.named(&[("x", 1), ("x", 2)]), ErrorKind::Argument, line!(), "argument `x` is given twice");
}

#[test]
fn rows_that_do_not_fit() {
    let message = "stream 1 of the loop is f64[3], but stream 0 is f64[2]; streams have equally many rows";
    let f = jit(|[x, y]| map((x, y), |_, (x, y)| x * y));
    check(f.compile(&[f64([2]), f64([3])]), ErrorKind::Shape, line!() - 1, message);
    let message = "stream 0 of the loop is the scalar f64; streams are read row by row";
    check(jit(|[x]| scan(x, x, |c, x| (c * x, x)).0).compile(&[f64([])]), ErrorKind::Shape, line!(), message);
    let message = "f64[2] and f64[2,2] cannot be joined along axis 0; their other extents must be equal";
    check(jit(|[x, y]| x.concat(&[y], 0)).compile(&[f64([2]), f64([2, 2])]), ErrorKind::Shape, line!(), message);
    let message = "`stack` along axis 0 takes arrays of one shape, found f64[2], f64";
    check(jit(|[x, y]| x.stack(&[y], 0)).compile(&[f64([2]), f64([])]), ErrorKind::Shape, line!(), message);
    let message = "`matmul` takes arrays, found f64[2] and f64; multiply by a scalar with `*`";
    check(jit(|[x, y]| x.matmul(y)).compile(&[f64([2]), f64([])]), ErrorKind::Shape, line!(), message);
    let message =
        "`matmul` cannot broadcast f64[2,1,3] with f64[3,3,1]; extents before the last two axes must be equal, or 1";
    check(jit(|[x, y]| x.matmul(y)).compile(&[f64([2, 1, 3]), f64([3, 3, 1])]), ErrorKind::Shape, line!(), message);
}

#[test]
fn derivatives_that_differences_do_not_confirm() {
    let both = [Direction::Forward, Direction::Reverse];
    // The kink is between the points of the difference.
    let kink = |modes: &[Direction]| check_grads(|[x]| x.gt(0.0).select(x, -x), &[Array::scalar(5e-4)], 1, modes);
    let line = line!() - 1;
    for (modes, start) in [
        (&both[..], "main by [0] of [0]: jvp of output 0 against differences: element 0 is "),
        (&both[..1], "jvp of output 0 against differences: element 0 is "),
        (&both[1..], "⟨ct, J dx⟩ by differences against ⟨Jᵀct, dx⟩ by vjp: "),
    ] {
        let error = kink(modes).unwrap_err();
        assert!(error.message.starts_with(start), "{error}");
        assert_eq!((error.kind, error.pos.line()), (ErrorKind::Argument, line));
    }
    let modeless = check_grads(|[x]| x, &[Array::scalar(1.0)], 1, &[]);
    check(modeless, ErrorKind::Argument, line!() - 1, "there is nothing to check without a mode");
    let orderless = check_grads(|[x]| x, &[Array::scalar(1.0)], 0, &both);
    check(orderless, ErrorKind::Argument, line!() - 1, "there is nothing to check to order 0");
    let counted = check_grads(|[n]| n.convert(DType::F64), &[Array::int(1)], 1, &both);
    check(counted, ErrorKind::Argument, line!() - 1, "there is nothing to check: no argument is a float");
    let rounded = check_grads(|[x]| x.convert(DType::I64), &[Array::scalar(1.0)], 1, &both);
    check(rounded, ErrorKind::Argument, line!() - 1, "there is nothing to check: no result is a float");
}

#[test]
fn a_gradient_of_nothing_is_an_error() {
    let nothing = retrograd::ops::parse("fn main(%0: f64) {\n  return\n}\n", "nothing.rg").unwrap();
    let options = retrograd::pipeline::Options {
        wanted: retrograd::pipeline::Wanted::Gradient,
        argnums: vec![0],
        strategy: retrograd::strategy::all()[0].clone(),
        budget: None,
        backend: retrograd::Backend::Cranelift,
        spill: None,
        threads: retrograd::pipeline::cores(),
        arithmetic: retrograd::pipeline::Arithmetic::Contracted,
    };
    let error = retrograd::pipeline::compile(&nothing, &options).unwrap_err();
    assert_eq!(error.kind, retrograd::ErrorKind::Argument);
    assert!(error.message.contains("found no result"), "{error}");
}

#[test]
fn a_map_over_nothing_names_its_line() {
    let error = jit(|[x]| map((), |_, ()| x)).trace(&[Array::scalar(1.0)]).unwrap_err();
    assert_eq!((error.kind.clone(), error.pos.line()), (retrograd::ErrorKind::Argument, line!() - 1));
    assert!(error.message.contains("`tabulate`"), "{error}");
}
