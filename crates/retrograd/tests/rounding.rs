//! How what the user wrote is rounded: a product that something else sees is rounded before it is added, and the value
//! is the same to the bit with and without derivatives.

use retrograd::{Array, Var, cond, custom_vjp, for_loop, jit, jvp, value_and_grad};

/// Numbers whose products are inexact.
const POINTS: [f64; 6] = [0.1, 0.7, 1.0 / 3.0, -1.3, 3.7e-5, 1e10 / 3.0];

type Function = for<'t> fn([Var<'t>; 2]) -> Var<'t>;

/// Names and functions of x and y that are 0 at x = y, as in NumPy and in Rust.
#[allow(clippy::eq_op, reason = "that they are 0 is what is tested")]
const ZEROS: &[(&str, Function)] = &[
    ("k - k", |[x, _]| {
        let k = 0.7 * x;
        k - k
    }),
    ("the same product twice", |[x, _]| 0.7 * x - 0.7 * x),
    ("squares", |[x, y]| x * x - y * y),
    ("factors exchanged", |[x, y]| x * y - y * x),
    ("one sign", |[x, y]| x * y + (-x) * y),
    ("signs outside", |[x, y]| -(x * y) + y * x),
    ("another use", |[x, y]| {
        let k = x * y;
        (k - 1.0) - (k - 1.0) * 1.0 + (k - x * y)
    }),
    ("the greater", |[x, y]| (x * y).maximum((x * y) - 1e30) - y * x),
    ("the magnitude", |[x, _]| (x * x).abs() - x * x),
    ("through a select", |[x, y]| x.gt(-1e30).select(x * y, x) - y * x),
    ("through axes", |[x, y]| ((x * y).broadcast([3]) - (y * x).broadcast([3])).sum()),
    ("in a loop", |[x, y]| for_loop(3, x * 0.0, |_, s| s + (x * y - y * x))),
    ("out of a loop", |[x, y]| {
        let k = x * y;
        for_loop(3, x * 0.0, |_, s| s + (k - y * x) * 1.0)
    }),
    ("in a branch", |[x, y]| cond(x.gt(-1e30), || x * y - y * x, || x)),
];

#[test]
fn equal_products_have_no_difference() {
    for (name, f) in ZEROS {
        for x in POINTS {
            let args = [Array::scalar(x), Array::scalar(x)];
            let value = jit(f).run(&args).unwrap();
            assert_eq!(value[0].as_f64()[0], 0.0, "{name} at {x}");
            let (with_gradient, _) = value_and_grad(f).argnums(&[0, 1]).run(&args).unwrap();
            assert!(
                with_gradient.same_bits(&value[0]),
                "{name} at {x}: {with_gradient} with a gradient, {} without",
                value[0]
            );
        }
    }
}

#[test]
fn the_root_of_a_difference_of_squares_is_a_number() {
    for x in POINTS {
        let args = [Array::scalar(x), Array::scalar(x)];
        assert_eq!(jit(|[x, y]| (x * x - y * y).sqrt()).run(&args).unwrap(), [Array::scalar(0.0)]);
        let branch = jit(|[x, y]| (x * y - y * x).eq(0.0).select(1.0 + 0.0 * x, 2.0 + 0.0 * x));
        assert_eq!(branch.run(&args).unwrap(), [Array::scalar(1.0)]);
    }
}

fn f<'t>([x, y]: [Var<'t>; 2]) -> Var<'t> {
    x * y + 1.0
}

#[test]
fn a_product_that_is_seen_once_is_rounded_with_its_sum() {
    for (x, y) in POINTS.into_iter().zip(POINTS.into_iter().rev()) {
        let args = [x, y].map(Array::scalar);
        assert_eq!(jit(f).run(&args).unwrap(), [Array::scalar(x.mul_add(y, 1.0))]);
        assert_eq!(jit(f).exact().run(&args).unwrap(), [Array::scalar(x * y + 1.0)]);
        assert_eq!(value_and_grad(f).exact().run(&args).unwrap().0, Array::scalar(x * y + 1.0));
        // Derivatives are not what the user wrote, but they follow it.
        assert_eq!(value_and_grad(f).exact().argnums(&[0]).run(&args).unwrap().1, [Array::scalar(y)]);
    }
}

fn ours<'t>([x, y]: [Var<'t>; 2]) -> Var<'t> {
    let s = for_loop(5, x, |_, s| s + 0.01 * (y * s - s * s));
    s * y + x * x - 0.3 * s
}

/// What Rust computes, operation by operation.
#[test]
fn exact_arithmetic_is_what_is_written() {
    for (x, y) in POINTS.into_iter().zip(POINTS.into_iter().rev()) {
        let mut s = x;
        for _ in 0..5 {
            s = s + 0.01 * (y * s - s * s);
        }
        let expected = Array::scalar(s * y + x * x - 0.3 * s);
        let args = [x, y].map(Array::scalar);
        assert!(jit(ours).exact().run(&args).unwrap()[0].same_bits(&expected));
        assert!(value_and_grad(ours).argnums(&[0, 1]).exact().run(&args).unwrap().0.same_bits(&expected));
        let (value, _) = jvp(ours).exact().run_with(&args, &args).unwrap();
        assert!(value.same_bits(&expected));
    }
}

fn by_rule<'t>([x, y]: [Var<'t>; 2]) -> Var<'t> {
    let given =
        custom_vjp((x, y), |(x, y)| x * y + y, |(x, y)| (x * y + y, (x, y)), |(x, y), ct| (ct * y, ct * x + ct));
    given * x - y * x
}

/// What stands in the functions of a custom rule, the user wrote too.
#[test]
fn a_custom_rule_does_not_change_the_value() {
    for (x, y) in POINTS.into_iter().zip(POINTS.into_iter().rev()) {
        let args = [x, y].map(Array::scalar);
        let value = jit(by_rule).run(&args).unwrap();
        assert!(value_and_grad(by_rule).run(&args).unwrap().0.same_bits(&value[0]));
    }
}
