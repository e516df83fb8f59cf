//! `while_loop`, `custom_vjp`, `custom_jvp` and `stop_gradient` from Rust.

use retrograd::{Array, DType, ErrorKind, Var, cond, custom_jvp, custom_vjp, eval, f64, for_loop, grad, jit, stop_gradient, while_loop};

#[test]
fn a_while_reads_values_from_outside_in_condition_and_body() {
    let f = jit(|[x, limit, factor]| while_loop((x, x), |(z, _)| z.lt(limit), |(z, y)| (z * factor, y + limit)).1);
    let program = f.trace(&[f64([]), f64([]), f64([])]).unwrap();
    let inputs = [1.0, 10.0, 3.0].map(Array::scalar);
    assert_eq!(eval::run(&program, &inputs).unwrap(), [Array::scalar(31.0)]);
}

#[test]
fn a_while_runs_and_differentiates() {
    // 0.3 doubled until it is 1 or more: 1.2, by 4.
    fn double<'t>([x]: [Var<'t>; 1]) -> Var<'t> {
        while_loop(x, |z| z.lt(1.0), |z| z * 2.0)
    }
    assert_eq!(jit(double).run(&[Array::scalar(0.3)]).unwrap(), [Array::scalar(1.2)]);
    assert_eq!(grad(double).run(&[Array::scalar(0.3)]).unwrap(), [Array::scalar(4.0)]);
}

#[test]
fn mistakes_in_a_while_name_the_line() {
    let error = jit(|[x]| while_loop(x, |z| z + 1.0, |z| z)).run(&[Array::scalar(0.0)]).unwrap_err();
    assert_eq!(error.message, "the condition of a loop must be a scalar bool, found f64");
    assert_eq!(error.pos.line(), line!() - 2);
    let error = jit(|[x]| while_loop(x, |z| z.lt(1.0), |z| z.lt(1.0))).run(&[Array::scalar(0.0)]).unwrap_err();
    assert_eq!(error.kind, ErrorKind::DType);
}

#[test]
fn a_cotangent_is_clipped_in_a_loop() {
    // Without clipping the gradient is 2⁵ = 32.
    let f = grad(|[x]| {
        for_loop(5, x, |_, z| {
            let z = custom_vjp(z, |z| z, |z| (z, z), |_, ct| ct.lt(3.0).select(ct, 3.0));
            2.0 * z
        })
    });
    assert_eq!(f.run(&[Array::scalar(0.1)]).unwrap(), [Array::scalar(3.0)]);
}

#[test]
fn what_is_not_a_float_has_no_cotangent() {
    let f = grad(|[x]| {
        let n = x.arange(1).sum().convert(DType::I64);
        let (_, y) = custom_vjp((n, x), |(n, x)| (n, x * x), |(n, x)| ((n, x * x), x), |x, (n, ct)| (n, 5.0 * x * ct));
        y
    });
    assert_eq!(f.run(&[Array::scalar(2.0)]).unwrap(), [Array::scalar(10.0)]);
    let f = grad(|[x]| {
        let n = x.arange(1).sum().convert(DType::I64);
        custom_jvp((n, x), |(n, x)| (n, x * x), |(n, x), (_, dx)| (n, 5.0 * x * dx)).1
    });
    assert_eq!(f.run(&[Array::scalar(2.0)]).unwrap(), [Array::scalar(10.0)]);
}

#[test]
fn a_function_with_a_rule_reads_only_its_arguments() {
    let error = grad(|[x]| custom_jvp(x, |z| z * x, |_, dz| dz)).run(&[Array::scalar(2.0)]).unwrap_err();
    assert_eq!(error.kind, ErrorKind::Argument);
    assert_eq!(error.pos.line(), line!() - 2);
    assert!(error.message.contains("make it an argument"), "{error}");
}

#[test]
fn stop_gradient_holds_still() {
    let f = grad(|[x]| (x * x - stop_gradient(x * x * x)).sum());
    assert_eq!(f.run(&[Array::f64([2], vec![1.0, 2.0])]).unwrap(), [Array::f64([2], vec![2.0, 4.0])]);
    let g = grad(|[x]| for_loop(3, x, |_, z| z + stop_gradient(z * x)));
    assert_eq!(g.run(&[Array::scalar(2.0)]).unwrap(), [Array::scalar(1.0)]);
}

/// A rule that is not linear makes of two cotangents something else than of their sum, so two calls of it are never one.
/// A function of one number.
type Scalar = for<'t> fn([Var<'t>; 1]) -> Var<'t>;

#[test]
fn a_rule_is_applied_as_often_as_it_is_written() {
    fn straight<'t>([x]: [Var<'t>; 1]) -> Var<'t> {
        // Clipped to 3 and 4.
        3.0 * x.clip_cotangent(-4.0, 4.0) + 5.0 * x.clip_cotangent(-4.0, 4.0)
    }
    fn alike<'t>([x]: [Var<'t>; 1]) -> Var<'t> {
        5.0 * x.clip_cotangent(-4.0, 4.0) + 5.0 * x.clip_cotangent(-4.0, 4.0)
    }
    fn loops<'t>([x]: [Var<'t>; 1]) -> Var<'t> {
        let one = || for_loop(3, x, |_, z| 2.0 * z.clip_cotangent(-3.0, 3.0));
        one() + one()
    }
    fn branches<'t>([x]: [Var<'t>; 1]) -> Var<'t> {
        let one = || cond(x.gt(0.0), || 5.0 * x.clip_cotangent(-3.0, 3.0), || x);
        one() + one()
    }
    fn whiles<'t>([x]: [Var<'t>; 1]) -> Var<'t> {
        let one = || while_loop(x, |z| z.lt(10.0), |z| 2.0 * z.clip_cotangent(-3.0, 3.0));
        one() + one()
    }
    let cases: [(Scalar, f64); 5] = [(straight, 7.0), (alike, 8.0), (loops, 6.0), (branches, 6.0), (whiles, 6.0)];
    for (k, (f, expected)) in cases.into_iter().enumerate() {
        let expected = [Array::scalar(expected)];
        assert_eq!(grad(f).run(&[Array::scalar(1.0)]).unwrap(), expected, "case {k}");
        // The interpreter runs the Program as it was written.
        assert_eq!(grad(f).debug_nan().run(&[Array::scalar(1.0)]).unwrap(), expected, "case {k}, interpreted");
    }
}

#[test]
fn a_cotangent_is_shown_as_often_as_it_is_probed() {
    let f = grad(|[x]| 3.0 * x.probe_cotangent("ct") + 5.0 * x.probe_cotangent("ct"));
    let mut seen = vec![];
    f.run_observed(&[Array::scalar(1.0)], &mut |sighting| seen.push(sighting.value.as_f64()[0])).unwrap();
    assert_eq!(seen, [5.0, 3.0]);
}
