//! `debug_nan`: the first operation that makes a NaN or an infinity, with its line, its steps and its part.

use retrograd::{Array, Error, ErrorKind, for_loop, grad, hessian, jacrev, jit, jvp, value_and_grad, while_loop};

fn is_at(error: &Error, line: u32, message: &str) {
    assert_eq!(error.kind, ErrorKind::NotFinite, "{error}");
    assert_eq!((error.pos.file(), error.pos.line()), (Some(file!()), line), "{error}");
    assert_eq!(error.message, message.replace("HERE", file!()));
}

#[test]
fn results_are_those_of_machine_code_where_nothing_is_wrong() {
    let f = || value_and_grad(|[x]| for_loop(20, x, |_, z| (z * 1.1).tanh() + z.sqrt()).sum());
    let x = Array::f64([3], vec![0.1, 0.2, 0.3]);
    // Machine code rounds a product that is added once; the operations as they were written round it on its own.
    let ((value, found), (expected, gradient)) = (f().debug_nan().run(&[&x]).unwrap(), f().run(&[&x]).unwrap());
    let all = |value: &Array, gradient: &[Array]| [value.as_f64(), gradient[0].as_f64()].concat();
    for (a, b) in all(&value, &found).iter().zip(all(&expected, &gradient)) {
        assert!((a - b).abs() <= 1e-14 * b.abs(), "{a} against {b}");
    }
}

#[test]
fn a_forward_operation_is_named_with_its_element_and_its_steps() {
    let (outer, inner) = (line!() + 2, line!() + 3);
    let f = jit(|[x]| {
        for_loop(3, x, |_, z| {
            for_loop(4, z, |_, z| {
                let y = z - 1.0;
                y.log() + 10.0 - y.log()
            })
        })
    });
    // 5 becomes 10, then 10 for good: 5 − 1 is never 0. 1 is at once.
    assert!(f.run(&[Array::f64([2], vec![5.0, 5.0])]).is_ok());
    let error = f.debug_nan().run(&[Array::f64([2], vec![5.0, 1.0])]).unwrap_err();
    let place = format!(
        "`log` made -inf of 0.0 at element [1], in step i = 0 of the loop at HERE:{inner}, in step i = 0 of the loop \
         at HERE:{outer} (forward)"
    );
    is_at(&error, inner + 2, &place);
}

#[test]
fn a_backward_operation_is_found_though_all_values_are_finite() {
    // The root of 0 is 0; its slope is not finite. Only the last step has a root of 0.
    let line = line!() + 1;
    let f = grad(|[x]| for_loop(3, x, |i, z| (z * (2 - i).convert(retrograd::DType::F64)).sqrt())).debug_nan();
    let error = f.run(&[Array::scalar(4.0)]).unwrap_err();
    assert_eq!(error.pos.line(), line);
    assert!(error.message.ends_with(&format!("in step i = 2 of the loop at {}:{line} (backward)", file!())), "{error}");
}

#[test]
fn infinities_of_the_user_are_let_through_until_they_become_a_nan() {
    let f =
        || jit(|[x]| x.minimum(f64::INFINITY) + x.constant(Array::scalar(f64::NEG_INFINITY)).maximum(x)).debug_nan();
    assert_eq!(f().run(&[Array::scalar(2.0)]).unwrap(), [Array::scalar(4.0)]);
    assert_eq!(f().run(&[Array::scalar(f64::INFINITY)]).unwrap(), [Array::scalar(f64::INFINITY)]);
    let f = jit(|[x]| (x * f64::INFINITY) * 0.0).debug_nan();
    let error = f.run(&[Array::scalar(2.0)]).unwrap_err();
    is_at(&error, line!() - 2, "`mul` made NaN of inf and 0.0 (forward)");
}

#[test]
fn operations_over_literals_are_not_folded_away() {
    let f = jit(|[x]| x + x.full([], 0.0).log()).debug_nan();
    is_at(&f.run(&[Array::scalar(1.0)]).unwrap_err(), line!() - 1, "`log` made -inf of 0.0 (forward)");
}

#[test]
fn every_derivative_can_be_looked_into() {
    let zero = || Array::scalar(0.0);
    assert_eq!(
        jvp(|[x]| x.sqrt()).debug_nan().run_with(&[zero()], &[Array::scalar(1.0)]).unwrap_err().kind,
        ErrorKind::NotFinite
    );
    assert_eq!(jacrev(|[x]| x.sqrt()).debug_nan().run(&[zero()]).unwrap_err().kind, ErrorKind::NotFinite);
    assert_eq!(hessian(|[x]| x * x.sqrt() * x).debug_nan().run(&[zero()]).unwrap_err().kind, ErrorKind::NotFinite);
    assert_eq!(hessian(|[x]| x * x).debug_nan().run(&[zero()]).unwrap()[0], [Array::scalar(2.0)]);
}

#[test]
fn steps_of_a_while_are_counted() {
    let line = line!() + 1;
    let f = jit(|[x]| while_loop(x, |z| z.lt(1e300), |z| z * z)).debug_nan();
    let error = f.run(&[Array::scalar(2.0)]);
    let half = 512.0_f64.exp2();
    is_at(
        &error.unwrap_err(),
        line,
        &format!("`mul` made inf of {half:?} and {half:?}, in step i = 9 of the loop at HERE:{line} (forward)"),
    );
}
