//! `while_loop`, `custom_vjp`, `custom_jvp` and `stop_gradient` from Rust.

use retrograd::{
    Array, DType, ErrorKind, Var, cond, custom_jvp, custom_vjp, eval, f64, for_loop, grad, jit, stop_gradient,
    while_loop,
};
use retrograd_compiler::diff;

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

/// A rule that is not linear makes of two cotangents something else than of their sum, so two calls of it are never
/// one. A function of one number.
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

/// A branch is computed again by its adjoint, but what its rules clip is one cotangent, of all that depends on the
/// value.
#[test]
fn a_rule_in_a_branch_gets_the_whole_cotangent() {
    fn clipped<'t>(x: Var<'t>) -> Var<'t> {
        let y = (x * x).clip_cotangent(-1.0, 1.0);
        y.sin() * y
    }
    fn straight<'t>([x]: [Var<'t>; 1]) -> Var<'t> {
        clipped(x)
    }
    fn branch<'t>([x]: [Var<'t>; 1]) -> Var<'t> {
        cond(x.gt(0.0), || clipped(x), || x)
    }
    fn other_branch<'t>([x]: [Var<'t>; 1]) -> Var<'t> {
        cond(x.gt(1.0), || 3.0 * x.clip_cotangent(-1.0, 1.0), || clipped(x))
    }
    fn nested<'t>([x]: [Var<'t>; 1]) -> Var<'t> {
        cond(x.gt(0.0), || cond(x.gt(1.0), || x.exp(), || 1.0 * clipped(x)).probe("inner"), || x)
    }
    // As a function of x once, twice and three times differentiated, with weights for the results of each.
    let orders = |f: Scalar| -> Vec<Array> {
        let program = jit(f).trace(&[f64([])]).unwrap();
        let gradient = diff::vjp(&program, &[0], &[0]).unwrap();
        let second = diff::vjp(&gradient, &[0], &[0, 1]).unwrap();
        let third = diff::vjp(&second, &[0], &[0, 1, 2]).unwrap();
        let weights = [0.7, 1.0, 2.0, 3.0, 0.3, 0.5, 0.2].map(Array::scalar);
        [(gradient, 2), (second, 4), (third, 7)]
            .map(|(program, count)| eval::run(&program, &weights[..count]).unwrap())
            .concat()
    };
    let expected = orders(straight);
    assert!((expected[4].as_f64()[0] - 6.818).abs() < 1e-3, "{expected:?}");
    for (k, f) in [branch, other_branch, nested].into_iter().enumerate() {
        for (found, expected) in orders(f).iter().zip(&expected) {
            assert!(
                (found.as_f64()[0] - expected.as_f64()[0]).abs() < 1e-12,
                "case {k}: {found:?} instead of {expected:?}"
            );
        }
    }
}

/// Where the states of a loop are computed twice, the rule would be applied to parts: that is refused, whatever is
/// linear otherwise.
#[test]
fn a_loop_with_a_rule_that_clips_is_not_differentiated_again_by_its_states() {
    let f =
        jit(|[x, w]| for_loop(3, (x, 0.0 * x), |_, (z, sum)| (2.0 * z.clip_cotangent(-1.0, 1.0), sum + z.sin() * w)).1);
    let program = f.trace(&[f64([]), f64([])]).unwrap();
    let gradient = diff::vjp(&program, &[1], &[0]).unwrap();
    let error = diff::vjp(&gradient, &[0], &[0, 1]).unwrap_err();
    assert_eq!((error.kind, error.pos.line()), (ErrorKind::Unsupported, line!() - 4));
    // In a branch, the loop runs once, too; its adjoint is not asked for again.
    let f = jit(|[x, w]| cond(x.gt(0.0), || for_loop(3, x, |_, z| 2.0 * z.clip_cotangent(-1.0, 1.0)).sin() * w, || x));
    let g = jit(|[x, w]| for_loop(3, x, |_, z| 2.0 * z.clip_cotangent(-1.0, 1.0)).sin() * w);
    let [f, g] = [f.trace(&[f64([]), f64([])]).unwrap(), g.trace(&[f64([]), f64([])]).unwrap()].map(|program| {
        let second = diff::vjp(&diff::vjp(&program, &[1], &[0]).unwrap(), &[0], &[0, 1]).unwrap();
        eval::run(&second, &[0.7, 1.5, 1.0, 2.0, 3.0].map(Array::scalar)).unwrap()
    });
    assert_eq!(f, g);
}
