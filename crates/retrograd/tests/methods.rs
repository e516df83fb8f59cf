//! Methods of `Var` over whole arrays, and rules stated within a scope.

use retrograd::{
    Array, DType, Data, ErrorKind, Var, custom_jvp, eval, for_loop, grad, jit, jvp, override_jvp, override_vjp,
    pipeline,
};

/// What the interpreter says of a function of one array, and of the gradient of the sum of its result by weights.
fn value_and_gradient(f: impl for<'t> Fn(Var<'t>) -> Var<'t> + Send + Sync, x: &Array) -> (Array, Vec<f64>) {
    let inputs = [x.clone()];
    let value = eval::run(&jit(|[x]| f(x)).trace(&[x]).unwrap(), &inputs).unwrap().remove(0);
    let loss = jit(|[x]| {
        let y = f(x);
        let n = y.shape().iter().product::<usize>();
        let weights = (n..2 * n).map(|k| k as f64).collect();
        (y * y.constant(Array::f64(y.shape(), weights))).sum()
    });
    let gradient = pipeline::derive(&loss.trace(&[x]).unwrap(), pipeline::Wanted::Gradient, &[0]).unwrap();
    (value, eval::run(&gradient, &inputs).unwrap()[0].as_f64().to_vec())
}

#[test]
fn reductions_scans_and_sorting() {
    let x = Array::f64([2, 2], vec![3.0, 1.0, 2.0, 4.0]);
    // The weights of n elements are n, n + 1, …
    assert_eq!(value_and_gradient(|x| x.max(), &x), (Array::scalar(4.0), vec![0.0, 0.0, 0.0, 1.0]));
    assert_eq!(
        value_and_gradient(|x| x.min_axes(&[0]), &x),
        (Array::f64([2], vec![2.0, 1.0]), vec![0.0, 3.0, 2.0, 0.0])
    );
    assert_eq!(value_and_gradient(|x| x.prod(), &x), (Array::scalar(24.0), vec![8.0, 24.0, 12.0, 6.0]));
    assert_eq!(
        value_and_gradient(|x| x.sort(1), &x),
        (Array::f64([2, 2], vec![1.0, 3.0, 2.0, 4.0]), vec![5.0, 4.0, 6.0, 7.0])
    );
    assert_eq!(
        value_and_gradient(|x| x.cumsum(0), &x),
        (Array::f64([2, 2], vec![3.0, 1.0, 5.0, 5.0]), vec![10.0, 12.0, 6.0, 7.0])
    );
    assert_eq!(
        value_and_gradient(|x| x.flip(&[1]), &x),
        (Array::f64([2, 2], vec![1.0, 3.0, 4.0, 2.0]), vec![5.0, 4.0, 7.0, 6.0])
    );
    let places = eval::run(&jit(|[x]| x.argmax(1)).trace(&[&x]).unwrap(), &[x]).unwrap();
    assert_eq!(places, [Array::new([2], Data::I64(vec![0, 1]))]);
}

#[test]
fn picking_and_placing() {
    let x = Array::f64([3], vec![3.0, 1.0, 2.0]);
    fn pick(x: Var<'_>) -> Var<'_> {
        x.constant(Array::new([2], Data::I64(vec![2, 0])))
    }
    assert_eq!(value_and_gradient(|x| x.take(pick(x), 0), &x), (Array::f64([2], vec![2.0, 3.0]), vec![3.0, 0.0, 2.0]));
    let (value, gradient) = value_and_gradient(|x| x.scatter_add(pick(x), 0, x.slice(..2)), &x);
    assert_eq!((value, gradient), (Array::f64([3], vec![4.0, 1.0, 5.0]), vec![8.0, 7.0, 5.0]));
}

#[test]
fn operators_of_remainder_and_functions_of_two() {
    let f = jit(|[x, y]| x % y + x.pow(y) + x.hypot(y) + x.maximum(y).floor());
    let found = f.run(&[Array::scalar(7.5), Array::scalar(2.0)]).unwrap();
    let expected = 7.5 % 2.0 + 7.5_f64.powf(2.0) + 7.5_f64.hypot(2.0) + 7.0;
    assert!((found[0].as_f64()[0] - expected).abs() < 1e-12);
}

#[test]
fn a_rule_holds_within_its_scope_also_in_loops() {
    let f = grad(|[x]| {
        let inside = override_vjp(
            x,
            "tanh",
            |args, y, ct| vec![10.0 * ct * (1.0 - y * y) + 0.0 * args[0]],
            || for_loop(2, x, |_, z| z.tanh()),
        );
        inside + x.tanh()
    });
    let slope = |x: f64| 1.0 - x.tanh() * x.tanh();
    let expected = 100.0 * slope(0.3) * slope(0.3_f64.tanh()) + slope(0.3);
    let found = f.run(&[Array::scalar(0.3)]).unwrap()[0].as_f64()[0];
    assert!((found - expected).abs() < 1e-12 * expected, "{found} {expected}");
}

#[test]
fn a_rule_of_both_modes_ignores_what_is_no_float() {
    let f = jvp(|[x]| override_jvp(x, "select", |_, _, dx| dx[1] + 5.0 * dx[2], || x.gt(0.0).select(x, 2.0 * x)));
    assert_eq!(f.run_with(&[Array::scalar(1.0)], &[Array::scalar(1.0)]).unwrap().1, Array::scalar(11.0));
}

#[test]
fn mistakes_in_rules_are_errors_with_a_line() {
    let error =
        grad(|[x]| override_vjp(x, "tan h", |_, _, ct| vec![ct], || x.tanh())).run(&[Array::scalar(1.0)]).unwrap_err();
    assert_eq!((error.kind, error.pos.line()), (ErrorKind::Argument, line!() - 1));
    assert_eq!(error.message, "there is no op `tan h`");
    let error = grad(|[x]| override_vjp(x, "tanh", |_, _, ct| vec![ct * x], || x.tanh()))
        .run(&[Array::scalar(1.0)])
        .unwrap_err();
    assert!(error.message.contains("make it an argument"), "{error}");
    let f = grad(|[x]| override_vjp(x, "tanh", |_, _, _| vec![], || x.tanh()));
    assert!(f.run(&[Array::scalar(1.0)]).is_err());
}

#[test]
fn a_custom_function_uses_converted_arguments() {
    let f = grad(|[x]| custom_jvp(x, |x| x.convert(DType::I64).convert(DType::F64), |_, dx| dx));
    assert_eq!(f.run(&[Array::scalar(2.5)]).unwrap(), [Array::scalar(1.0)]);
}
