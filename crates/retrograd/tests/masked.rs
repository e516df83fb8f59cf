//! What a `select` leaves out counts for nothing in a derivative, whatever its partial is there: in both modes, and at order 2 in all four
//! combinations of them.

use retrograd::{Array, Program, Var, cond, custom_jvp, eval, for_loop, grad, jit};
use retrograd_compiler::diff;

const X: [f64; 4] = [-1.0, 0.0, 2.0, 5.0];
const DIRECTION: [f64; 4] = [0.7, -0.4, 1.1, 0.3];

type Function = for<'t> fn(Var<'t>) -> Var<'t>;

fn positive<'t>(x: Var<'t>, y: Var<'t>) -> Var<'t> {
    x.gt(0.0).select(y, 0.0)
}

/// Functions of four numbers, two of which are no numbers that the sides take.
const MASKED: &[(&str, Function)] = &[
    ("a root", |x| positive(x, x.sqrt())),
    ("the other side", |x| x.le(0.0).select(3.0 * x, x.sqrt())),
    ("a chain", |x| positive(x, x.sqrt().log())),
    ("a long chain", |x| positive(x, (x.log() * x).sqrt().sin().exp())),
    ("two selects", |x| {
        let root = x.sqrt();
        positive(x, root) + x.gt(3.0).select(root.log(), 0.0)
    }),
    ("nested selects", |x| positive(x, x.gt(3.0).select((x - 3.0).log(), (x * x).sqrt() * x.log()))),
    ("both sides of one predicate", |x| {
        let safe = positive(x, x.log());
        x.gt(3.0).select(safe.sin(), safe * safe)
    }),
    ("a power", |x| positive(x, x.pow(0.5) + x.pow(1.5))),
    ("a quotient", |x| x.gt(0.0).select(1.0 / x, 0.0) + x.eq(0.0).select(0.0 * x, x.sin() / x)),
    ("an infinite coefficient", |x| x.gt(9.0).select(x * f64::INFINITY, x)),
    ("a coefficient that is not a number", |x| positive(x, x * x.log())),
    ("an overflow", |x| x.lt(1.0).select((200.0 * x).exp() * (200.0 * x).exp(), x)),
    ("repeated before", |x| {
        let root = x.sqrt().reshape([1, 4]).broadcast([3, 4]);
        x.gt(0.0).reshape([1, 4]).broadcast([3, 4]).select(root.log(), 0.0)
    }),
    ("slices before", |x| {
        let root = x.sqrt();
        let tail = x.at(2..);
        tail.gt(0.0).select(root.at(2..).log(), 0.0)
    }),
    ("a sum before", |x| x.at(0).gt(0.0).select(x.sqrt().sum(), x.sum())),
    ("a greatest before", |x| x.at(0).gt(0.0).select(x.log().max(), x.sum())),
    ("a product of vectors before", |x| x.at(0).gt(0.0).select(x.sqrt().dot(x.abs().sqrt()), x.sum())),
    ("in a loop", |x| for_loop(3, x, |_, s| s.gt(0.0).select(s + 0.1 * s.sqrt(), s))),
    ("out of a branch", |x| positive(x, cond(x.sum().gt(0.0), || x.sqrt().log(), || x))),
    ("before a branch", |x| {
        let root = x.sqrt();
        x.at(0).gt(0.0).select(cond(x.sum().gt(0.0), || root.log().sum(), || x.sum()), x.sum())
    }),
    ("a custom rule", |x| positive(x, custom_jvp(x, |x| x.sqrt(), |x, dx| 0.5 * dx / x.sqrt()))),
];

fn run(program: &Program, inputs: &[&Array]) -> Array {
    let inputs: Vec<Array> = inputs.iter().map(|input| (*input).clone()).collect();
    eval::run(program, &inputs).unwrap().pop().unwrap()
}

fn near(name: &str, found: &Array, expected: &Array) {
    let all = found.as_f64().iter().zip(expected.as_f64());
    let near = |(a, b): (&f64, &f64)| (a - b).abs() <= 1e-12 * b.abs().max(1.0);
    assert!(found.len() == expected.len() && all.into_iter().all(near), "{name}: {found}, expected {expected}");
}

fn dot(a: &Array, b: &Array) -> Array {
    Array::scalar(a.as_f64().iter().zip(b.as_f64()).map(|(a, b)| a * b).sum())
}

#[test]
fn what_is_left_out_does_not_poison() {
    let (x, d, one) = (Array::f64([4], X.to_vec()), Array::f64([4], DIRECTION.to_vec()), Array::scalar(1.0));
    for (name, f) in MASKED {
        let program = jit(|[x]| f(x).sum()).trace(&[x.ty()]).unwrap();
        let (forward, reverse) = (diff::jvp(&program, &[0], &[0]).unwrap(), diff::vjp(&program, &[0], &[0]).unwrap());
        let gradient = run(&reverse, &[&x, &one]);
        assert!(gradient.as_f64().iter().all(|g| g.is_finite()), "{name}: {gradient}");
        near(name, &dot(&gradient, &d), &run(&forward, &[&x, &d]));
        assert!(grad(|[x]| f(x).sum()).run(std::slice::from_ref(&x)).unwrap()[0].as_f64().iter().all(|g| g.is_finite()), "{name}");
        let forward_over_reverse = run(&diff::jvp(&reverse, &[0], &[1]).unwrap(), &[&x, &one, &d]);
        assert!(forward_over_reverse.as_f64().iter().all(|g| g.is_finite()), "{name}: {forward_over_reverse}");
        // A sweep over a branch of a gradient does not know what the selects inside of it leave out.
        if *name != "before a branch" {
            near(name, &run(&diff::vjp(&reverse, &[0], &[1]).unwrap(), &[&x, &one, &d]), &forward_over_reverse);
        }
        near(name, &run(&diff::vjp(&forward, &[0], &[1]).unwrap(), &[&x, &d, &one]), &forward_over_reverse);
        let twice = run(&diff::jvp(&forward, &[0], &[1]).unwrap(), &[&x, &d, &d]);
        near(name, &twice, &dot(&forward_over_reverse, &d));
    }
}

#[test]
fn what_is_left_out_has_the_gradient_zero() {
    let root = grad(|[x]| positive(x, x.sqrt())).run(&[Array::scalar(-1.0)]).unwrap();
    assert_eq!(root, [Array::scalar(0.0)]);
    let side = grad(|[x]| x.gt(0.0).select(x.sqrt(), 2.0 * x)).run(&[Array::scalar(-1.0)]).unwrap();
    assert_eq!(side, [Array::scalar(2.0)]);
}

#[test]
fn what_is_also_used_elsewhere_keeps_its_nan() {
    let f = grad(|[x]| {
        let root = x.sqrt();
        positive(x, root) + 0.0 * root
    });
    assert!(f.run(&[Array::scalar(-1.0)]).unwrap()[0].as_f64()[0].is_nan());
    // And so does what no `select` leaves out.
    assert!(grad(|[x]| positive(x, x) + x.sqrt()).run(&[Array::scalar(-1.0)]).unwrap()[0].as_f64()[0].is_nan());
}
