//! Values and gradients against formulas and finite differences.

use retrograd::{Array, Var, cond, for_loop, grad, jit, value_and_grad};

fn vector(x: &[f64]) -> Array {
    Array::f64([x.len()], x.to_vec())
}

/// Both numbers agree to the last few bits, or to `tolerance` of their size.
fn close(found: &[f64], expected: &[f64], tolerance: f64) {
    assert_eq!(found.len(), expected.len());
    for (a, b) in found.iter().zip(expected) {
        assert!((a - b).abs() <= tolerance * b.abs().max(1.0), "found {a}, expected {b}");
    }
}

/// Value and gradients of `f`, checked against its own central differences.
fn check<const N: usize>(
    f: impl for<'t> Fn([Var<'t>; N]) -> Var<'t> + Send + Sync + Copy,
    inputs: &[Array; N],
) -> (f64, Vec<Array>) {
    let argnums: Vec<usize> = (0..N).filter(|k| inputs[*k].dtype().is_float()).collect();
    let (value, gradients) = value_and_grad(f).argnums(&argnums).run(inputs).expect("the gradient compiles and runs");
    let plain = jit(f);
    let at = |inputs: &[Array]| plain.run(inputs).expect("the function runs")[0].as_f64()[0];
    assert_eq!(at(inputs), value.as_f64()[0], "the value is the same with and without a gradient");
    for (k, gradient) in argnums.iter().zip(&gradients) {
        assert_eq!(gradient.ty(), inputs[*k].ty());
        for element in 0..inputs[*k].len() {
            let h = 1e-5;
            let moved = |by: f64| {
                let mut moved = inputs.clone();
                let mut data = moved[*k].as_f64().to_vec();
                data[element] += by;
                moved[*k] = Array::f64(inputs[*k].shape(), data);
                at(&moved)
            };
            close(&[gradient.as_f64()[element]], &[(moved(h) - moved(-h)) / (2.0 * h)], 1e-6);
        }
    }
    (value.as_f64()[0], gradients)
}

#[test]
fn a_polynomial_of_two_arguments() {
    let (value, gradient) = value_and_grad(|[x, y]| x * x * y + y * y * y)
        .argnums(&[0, 1])
        .run(&[Array::scalar(3.0), Array::scalar(2.0)])
        .unwrap();
    assert_eq!(value, Array::scalar(26.0));
    assert_eq!(gradient, [Array::scalar(12.0), Array::scalar(21.0)]);
}

#[test]
fn grad_returns_the_first_argument_unless_told() {
    let f = grad(|[x, y]| x * y);
    assert_eq!(f.run(&[Array::scalar(3.0), Array::scalar(2.0)]).unwrap(), [Array::scalar(2.0)]);
    assert_eq!(f.argnums(&[1]).run(&[Array::scalar(3.0), Array::scalar(2.0)]).unwrap(), [Array::scalar(3.0)]);
}

#[test]
fn a_tanh_loop() {
    fn f<'t>([x, w]: [Var<'t>; 2]) -> Var<'t> {
        for_loop(20, x, |_, z| (z * w + 0.1).tanh()).sum()
    }
    let (x, w) = ([0.3, -0.2, 0.9], 1.2);
    let (value, gradients) = check(f, &[vector(&x), Array::scalar(w)]);
    // By hand: dz/dx = Π w (1 − z²), dz/dw = Σ z_i Π …, carried forward.
    let (mut sum, mut dx, mut dw) = (0.0, vec![], 0.0);
    for z in x {
        let (mut z, mut by_x, mut by_w) = (z, 1.0, 0.0);
        for _ in 0..20 {
            let next = (z * w + 0.1_f64).tanh();
            let slope = 1.0 - next * next;
            by_w = slope * (z + w * by_w);
            by_x *= slope * w;
            z = next;
        }
        sum += z;
        dw += by_w;
        dx.push(by_x);
    }
    close(&[value], &[sum], 1e-14);
    close(gradients[0].as_f64(), &dx, 1e-12);
    close(gradients[1].as_f64(), &[dw], 1e-12);
}

#[test]
fn a_stencil_updated_in_place() {
    // Gauss–Seidel sweeps: u[i] = (u[i-1] + u[i+1] + f[i]) / 2, elements written one after another.
    fn f<'t>([u, source]: [Var<'t>; 2]) -> Var<'t> {
        let n = u.shape()[0];
        let swept = for_loop(3, u, |_, u| {
            for_loop(n - 2, u, |i, u| u.set(i + 1, (u.at(i) + u.at(i + 2) + source.at(i + 1)) * 0.5))
        });
        (swept * swept).sum()
    }
    let (u, source) = ([1.0, 0.2, -0.3, 0.4, 2.0], [0.0, 0.1, 0.2, 0.3, 0.0]);
    let (value, _) = check(f, &[vector(&u), vector(&source)]);
    let mut u = u;
    for _ in 0..3 {
        for i in 1..4 {
            u[i] = (u[i - 1] + u[i + 1] + source[i]) * 0.5;
        }
    }
    close(&[value], &[u.iter().map(|x| x * x).sum()], 1e-14);
}

#[test]
fn whole_rows_by_slices() {
    fn f<'t>([u]: [Var<'t>; 1]) -> Var<'t> {
        let n = u.shape()[0];
        let smooth = for_loop(4, u, |_, u| u.set((1..n - 1, ..), (u.slice((..n - 2, ..)) + u.slice((2.., ..))) * 0.5));
        (smooth * smooth).sum_axes(&[1]).at(2)
    }
    check(f, &[Array::f64([4, 2], vec![1.0, 2.0, 0.5, -1.0, 0.25, 0.75, 3.0, -2.0])]);
}

#[test]
fn a_branch_in_a_loop() {
    fn f<'t>([x, y]: [Var<'t>; 2]) -> Var<'t> {
        let (x, steps) = for_loop(6, (x, x * 0.0), |i, (x, steps)| {
            cond(x.lt(1.0), || (x * y + i * 0.1, steps), || (x / y, steps + x))
        });
        x + steps
    }
    check(f, &[Array::scalar(0.4), Array::scalar(1.7)]);
    check(f, &[Array::scalar(3.0), Array::scalar(2.1)]);
}

#[test]
fn broadcasting_and_products() {
    fn f<'t>([a, x, s]: [Var<'t>; 3]) -> Var<'t> {
        let column = x.reshape([2, 1]);
        let product = (a * column + x - s).dot(x);
        (a.transpose().dot(product) * x).sum() + (1.0 - a).exp().sum() + a.gt(0.0).select(a, 2 * a).sum()
    }
    check(f, &[Array::f64([2, 2], vec![1.0, -2.0, 0.5, 3.0]), vector(&[0.3, -0.7]), Array::scalar(0.2)]);
}

#[test]
fn a_count_and_an_index_can_be_arguments() {
    fn f<'t>([n, x]: [Var<'t>; 2]) -> Var<'t> {
        for_loop(n, x.full([], 1.0), |i, product| product * x.at(i))
    }
    let (value, gradients) = check(f, &[Array::int(3), vector(&[2.0, 3.0, 4.0, 5.0])]);
    assert_eq!(value, 24.0);
    assert_eq!(gradients, [vector(&[12.0, 8.0, 6.0, 0.0])]);
    let (value, _) = check(f, &[Array::int(0), vector(&[2.0, 3.0])]);
    assert_eq!(value, 1.0);
}

#[test]
fn states_can_be_vectors_and_arrays() {
    fn f<'t>([x, v]: [Var<'t>; 2]) -> Var<'t> {
        let [x, v] = for_loop(10, [x, v], |_, [x, v]| [x + v * 0.1, v - x.sin() * 0.1]);
        let parts = for_loop(2, vec![x, v], |_, parts| vec![parts[1], parts[0] * parts[1]]);
        parts[0] + parts[1]
    }
    check(f, &[Array::scalar(0.5), Array::scalar(1.1)]);
}

#[test]
fn windows_move_with_an_index() {
    fn f<'t>([x, w]: [Var<'t>; 2]) -> Var<'t> {
        for_loop(4, x, |i, x| x.add_at((i + 1).window(2), x.slice(i.window(2)) * w)).dot(x)
    }
    check(f, &[vector(&[1.0, -0.5, 0.25, 2.0, 0.3, 0.7]), vector(&[0.4, 0.6])]);
}

#[test]
fn compiling_happens_once_per_types() {
    let traces = std::sync::atomic::AtomicUsize::new(0);
    let f = jit(|[x]| {
        traces.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
        x * 2
    });
    f.run(&[vector(&[1.0])]).unwrap();
    f.run(&[vector(&[2.0])]).unwrap();
    assert_eq!(f.run(&[vector(&[2.0, 3.0])]).unwrap(), [vector(&[4.0, 6.0])]);
    assert_eq!(traces.load(std::sync::atomic::Ordering::Relaxed), 2);
}
