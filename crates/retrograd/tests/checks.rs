//! Checks from Rust: the user's line, and matrices without an answer.

use retrograd::{Array, Error, ErrorKind, check, cond, for_loop, grad, hessian, jit, value_and_grad, while_loop};

/// Where an error says it is, in this file.
fn line(error: &Error) -> u32 {
    assert_eq!(error.pos.file(), Some(file!()));
    error.pos.line()
}

fn matrix(numbers: [f64; 4]) -> Array {
    Array::f64([2, 2], numbers.to_vec())
}

#[test]
fn a_check_ends_a_run_at_its_line() {
    let f = value_and_grad(|[x]| {
        for_loop(20, x, |_, z| {
            check(z.lt(50.0), "z leaves its range");
            z * z
        })
    });
    let here = line!();
    assert_eq!(f.run(&[Array::scalar(1.0)]).unwrap().0, Array::scalar(1.0));
    let error = f.run(&[Array::scalar(1.5)]).unwrap_err();
    assert_eq!((line(&error), error.message.as_str()), (here - 4, "z leaves its range"));
    assert_eq!(error.kind, ErrorKind::Check { tag: String::new() });
}

#[test]
fn a_check_needs_truths() {
    let error = jit(|[x]| {
        check(x, "is no condition");
        x
    })
    .run(&[Array::scalar(1.0)])
    .unwrap_err();
    assert_eq!((error.kind.clone(), line(&error)), (ErrorKind::DType, line!() - 5));
}

#[test]
fn a_side_that_is_not_taken_does_not_check_and_endless_loops_are_left() {
    let f = grad(|[x]| {
        let grown = || {
            while_loop(
                x,
                |z| z.lt(100.0),
                |z| {
                    check(z.lt(60.0), "z jumps");
                    z * 2.0
                },
            )
        };
        cond(x.gt(0.0), grown, || -x)
    });
    assert_eq!(f.run(&[Array::scalar(-3.0)]).unwrap(), [Array::scalar(-1.0)]);
    assert_eq!(f.run(&[Array::scalar(55.0)]).unwrap(), [Array::scalar(2.0)]);
    assert_eq!(f.run(&[Array::scalar(70.0)]).unwrap_err().message, "z jumps");
}

#[test]
fn matrices_without_an_answer_are_errors_of_the_run() {
    let (indefinite, singular) = (matrix([1.0, 0.0, 2.0, 1.0]), matrix([1.0, 2.0, 2.0, 4.0]));
    let regular = matrix([4.0, 0.0, 2.0, 10.0]);
    let check_one = |error: Error, message: &str| {
        assert_eq!(error.message, message);
        assert_eq!(error.kind, ErrorKind::Check { tag: "LinAlgError".into() });
        line(&error);
    };
    let factor = grad(|[a]| a.cholesky().sum());
    factor.run(std::slice::from_ref(&regular)).unwrap();
    check_one(factor.run(std::slice::from_ref(&indefinite)).unwrap_err(), "Matrix is not positive definite");
    check_one(hessian(|[a]| a.cholesky().sum()).run(&[indefinite]).unwrap_err(), "Matrix is not positive definite");
    let inverse = grad(|[a]| a.inverse().sum());
    inverse.run(std::slice::from_ref(&regular)).unwrap();
    check_one(inverse.run(std::slice::from_ref(&singular)).unwrap_err(), "Singular matrix");
    let solved = grad(|[a, b]| a.solve(b).sum());
    let b = Array::f64([2], vec![1.0, 2.0]);
    solved.run(&[regular, b.clone()]).unwrap();
    check_one(solved.run(&[singular, b]).unwrap_err(), "Singular matrix");
}
