//! Every derivative of the front end against closed forms, and the modes against each other, as machine code.

use std::num::NonZeroUsize;

use retrograd::{
    Array, DType, Direction, Var, check_grads, cond, for_loop, for_loop_emit, grad, grad_with_aux, hessian, hvp,
    jacfwd, jacobian, jacrev, jit, jit_many, jvp, jvp_many, map, scan, value_and_grad_with_aux, vjp, vjp_many,
};

fn vector(x: &[f64]) -> Array {
    Array::f64([x.len()], x.to_vec())
}

fn scalars<const N: usize>(x: [f64; N]) -> [Array; N] {
    x.map(Array::scalar)
}

#[track_caller]
fn close(found: &[f64], expected: &[f64], tolerance: f64) {
    assert_eq!(found.len(), expected.len());
    for (a, b) in found.iter().zip(expected) {
        assert!((a - b).abs() <= tolerance * b.abs().max(1.0), "found {a}, expected {b}");
    }
}

/// Central differences of a function of one vector, extrapolated: one row per element of the result.
fn differences<F>(f: F, x: &[f64]) -> Vec<f64>
where
    F: for<'t> Fn([Var<'t>; 1]) -> Var<'t> + Send + Sync,
{
    let f = jit(f);
    let at = |k: usize, by: f64| {
        let mut moved = x.to_vec();
        moved[k] += by;
        f.run(&[vector(&moved)]).unwrap()[0].as_f64().to_vec()
    };
    let h = 1e-3;
    let columns: Vec<Vec<f64>> = (0..x.len())
        .map(|k| {
            let points = [at(k, -2.0 * h), at(k, -h), at(k, h), at(k, 2.0 * h)];
            let slope = |e: usize| (8.0 * (points[2][e] - points[1][e]) - (points[3][e] - points[0][e])) / (12.0 * h);
            (0..points[0].len()).map(slope).collect()
        })
        .collect();
    (0..columns[0].len()).flat_map(|row| columns.iter().map(move |column| column[row])).collect()
}

/// Both Jacobians of a function of a vector are the same, and what differences say.
fn check_jacobians<F>(f: F, x: &[f64]) -> Vec<f64>
where
    F: for<'t> Fn([Var<'t>; 1]) -> Var<'t> + Send + Sync + Copy,
{
    let (forward, reverse) = (jacfwd(f).run(&[vector(x)]).unwrap(), jacrev(f).run(&[vector(x)]).unwrap());
    assert_eq!(forward[0].ty(), reverse[0].ty());
    close(forward[0].as_f64(), reverse[0].as_f64(), 1e-12);
    close(forward[0].as_f64(), &differences(f, x), 1e-8);
    forward[0].as_f64().to_vec()
}

/// The Hessian of a function of a vector: symmetric, the Jacobian of the gradient by differences, and times v what hvp
/// says.
fn check_hessian<F>(f: F, x: &[f64]) -> Vec<f64>
where
    F: for<'t> Fn([Var<'t>; 1]) -> Var<'t> + Send + Sync + Copy,
{
    let n = x.len();
    let h = hessian(f).run(&[vector(x)]).unwrap()[0][0].as_f64().to_vec();
    let transposed: Vec<f64> = (0..n * n).map(|k| h[k % n * n + k / n]).collect();
    close(&h, &transposed, 1e-11);
    let v: Vec<f64> = (0..n).map(|k| 0.3 + k as f64 * 0.7).collect();
    let product: Vec<f64> = (0..n).map(|i| (0..n).map(|j| h[i * n + j] * v[j]).sum()).collect();
    let found = hvp(f).run_with(&[vector(x)], &[vector(&v)]).unwrap();
    close(found[0].as_f64(), &product, 1e-12);
    // Differences of the gradient.
    let gradient = grad(f);
    let along = |by: f64| {
        let moved: Vec<f64> = x.iter().zip(&v).map(|(x, v)| x + by * v).collect();
        gradient.run(&[vector(&moved)]).unwrap()[0].as_f64().to_vec()
    };
    let step = 1e-4;
    let slope: Vec<f64> = along(step).iter().zip(along(-step)).map(|(a, b)| (a - b) / (2.0 * step)).collect();
    close(&product, &slope, 1e-5);
    h
}

#[test]
fn a_polynomial_of_two_arguments_and_its_hessian() {
    fn f<'t>([x, y]: [Var<'t>; 2]) -> Var<'t> {
        x * x * y + y * y * y
    }
    let at = scalars([3.0, 2.0]);
    assert_eq!(grad(f).argnums(&[0, 1]).run(&at).unwrap(), scalars([12.0, 21.0]));
    let h = hessian(f).argnums(&[0, 1]).run(&at).unwrap();
    assert_eq!(h, [scalars([4.0, 6.0]), scalars([6.0, 12.0])]);
    let product = hvp(f).argnums(&[0, 1]).run_with(&at, &scalars([1.0, 10.0])).unwrap();
    assert_eq!(product, scalars([64.0, 126.0]));
}

#[test]
fn the_sine_of_a_square() {
    fn f<'t>([x]: [Var<'t>; 1]) -> Var<'t> {
        x.square().sin()
    }
    let x = 1.3_f64;
    let (first, second) = (2.0 * x * (x * x).cos(), 2.0 * (x * x).cos() - 4.0 * x * x * (x * x).sin());
    close(grad(f).run(&scalars([x])).unwrap()[0].as_f64(), &[first], 1e-14);
    close(hessian(f).run(&scalars([x])).unwrap()[0][0].as_f64(), &[second], 1e-14);
    let (value, tangent) = jvp(f).run_with(&scalars([x]), &scalars([2.0])).unwrap();
    close(value.as_f64(), &[(x * x).sin()], 1e-14);
    close(tangent.as_f64(), &[2.0 * first], 1e-14);
}

#[test]
fn jacobians_of_vector_functions_are_equal_in_both_modes() {
    let polar = check_jacobians(|[p]| (p.at(0) * p.at(1).cos()).stack(&[p.at(0) * p.at(1).sin()], 0), &[2.0, 0.6]);
    let (sin, cos) = 0.6_f64.sin_cos();
    close(&polar, &[cos, -2.0 * sin, sin, 2.0 * cos], 1e-14);
    check_jacobians(|[x]| x.outer(x.exp()), &[0.1, -0.4, 0.8]);
    check_jacobians(|[x]| x.slice(1..) * x.slice(..3).sum() / x.norm(), &[0.5, -0.4, 0.8, 1.5]);
    check_jacobians(|[x]| x.var(), &[0.5, -0.4, 0.8, 1.5]);
}

#[test]
fn jacobians_of_loops_are_equal_in_both_modes() {
    check_jacobians(|[x]| for_loop(15, x, |i, z| (z * 1.1 + x.sum() * 0.1 + i * 0.01).tanh()), &[0.3, -0.2, 0.9]);
    // Gauss–Seidel, in place, one element after another.
    check_jacobians(
        |[u]| for_loop(3, u, |_, u| for_loop(3, u, |i, u| u.set(i + 1, (u.at(i) + u.at(i + 2).square()) * 0.5))),
        &[1.0, 0.2, -0.3, 0.4, 2.0],
    );
    check_jacobians(|[x]| for_loop(4, x, |_, x| cond(x.at(0).lt(0.5), || x * x.at(1), || x.sin())), &[0.9, 1.2]);
}

#[test]
fn jacobians_have_the_axes_of_the_result_and_then_of_the_argument() {
    fn f<'t>([a, x, n]: [Var<'t>; 3]) -> Var<'t> {
        a.matmul(x) * n
    }
    let args = [Array::f64([2, 3], vec![1.0, 2.0, 3.0, 4.0, 5.0, 6.0]), vector(&[0.1, 0.2, 0.3]), Array::int(2)];
    for (mode, direction) in [(jacfwd(f), "forward"), (jacrev(f), "reverse")] {
        let jacobians = mode.argnums(&[1, 0]).run(&args).unwrap();
        assert_eq!(jacobians[0], Array::f64([2, 3], vec![2.0, 4.0, 6.0, 8.0, 10.0, 12.0]), "{direction}");
        let mut by_a = vec![0.0; 12];
        by_a[..3].copy_from_slice(&[0.2, 0.4, 0.6]);
        by_a[9..].copy_from_slice(&[0.2, 0.4, 0.6]);
        assert_eq!(jacobians[1].shape(), [2, 2, 3], "{direction}");
        close(jacobians[1].as_f64(), &by_a, 1e-15);
    }
}

#[test]
fn jacobian_goes_in_the_direction_of_fewer_seeds() {
    let wide = jacobian(|[x]| for_loop(5, x, |_, x| x.sin()).slice(..2));
    let x = vector(&[0.1, 0.2, 0.3]);
    assert_eq!(wide.seeds(&[&x]).unwrap().direction(), Direction::Reverse);
    assert_eq!(wide.seeds(&[&x]).unwrap().to_string(), "reverse, 2 seeds (forward would take 3)");
    assert_eq!(wide.run(&[&x]).unwrap()[0].shape(), [2, 3]);
    let tall = jacobian(|[x]| x.outer(x));
    assert_eq!(tall.seeds(&[&x]).unwrap().to_string(), "forward, 3 seeds (reverse would take 9)");
    assert_eq!(tall.run(&[&x]).unwrap()[0].shape(), [3, 3, 3]);
}

#[test]
fn second_derivatives_through_loops() {
    check_hessian(|[x]| for_loop(12, x, |_, z| (z * 1.2 + x * 0.1).tanh()).square().sum(), &[0.3, -0.2, 0.9]);
    check_hessian(
        |[u]| {
            let swept =
                for_loop(3, u, |_, u| for_loop(3, u, |i, u| u.set(i + 1, (u.at(i) * u.at(i + 2) + u.at(i + 1)) * 0.5)));
            (swept * swept).sum()
        },
        &[1.0, 0.2, -0.3, 0.4, 2.0],
    );
    check_hessian(|[x]| scan(x.at(0), x, |c, x| ((c * x).sin(), c * c * x)).1.sum(), &[0.5, 0.7, -0.3]);
}

#[test]
fn several_results_with_given_cotangents() {
    let f = vjp_many(|[x, y]| vec![x * y, (x * 2.0).convert(DType::I64), x.dot(x)]).argnums(&[0]);
    let (values, cotangents) =
        f.run_with(&[vector(&[1.0, 2.0]), vector(&[3.0, 5.0])], &[vector(&[1.0, 10.0]), Array::scalar(100.0)]).unwrap();
    assert_eq!((values.len(), values[2].clone()), (3, Array::scalar(5.0)));
    assert_eq!(cotangents, [vector(&[203.0, 450.0])]);
    let f = jvp_many(|[x, y]| vec![x * y, x + y]);
    let (_, tangents) = f.run_with(&scalars([2.0, 3.0]), &scalars([1.0, 10.0])).unwrap();
    assert_eq!(tangents, scalars([23.0, 11.0]));
    // A broadcast with a cotangent that is not uniform.
    let (_, cotangents) = vjp(|[x, s]| x * s)
        .run_with(&[vector(&[1.0, 2.0, 3.0]), Array::scalar(2.0)], &[vector(&[1.0, -4.0, 0.5])])
        .unwrap();
    assert_eq!(cotangents, [vector(&[2.0, -8.0, 1.0]), Array::scalar(-5.5)]);
}

#[test]
fn pulling_and_pushing_agree() {
    fn f<'t>([x]: [Var<'t>; 1]) -> Var<'t> {
        for_loop(7, x, |i, z| (z + x.slice(..).sum() * 0.1).sin() * (i + 1).convert(DType::F64))
    }
    let (x, dx, ct) = (vector(&[0.1, 0.7, -0.4]), vector(&[1.0, -0.3, 0.2]), vector(&[0.5, 0.1, -2.0]));
    let inner = |a: &Array, b: &Array| a.as_f64().iter().zip(b.as_f64()).map(|(a, b)| a * b).sum::<f64>();
    let (_, dy) = jvp(f).run_with(&[&x], &[&dx]).unwrap();
    let (_, pulled) = vjp(f).run_with(&[&x], &[&ct]).unwrap();
    close(&[inner(&ct, &dy)], &[inner(&pulled[0], &dx)], 1e-12);
}

#[test]
fn aux_results_come_back_as_they_are() {
    let f = value_and_grad_with_aux(|[x, y]| {
        let last = for_loop(3, x, |_, x| x * y);
        (last.sum(), vec![last, x.full([2], 7.0)])
    })
    .argnums(&[0, 1]);
    let ((value, aux), gradient) = f.run(&[vector(&[1.0, 2.0]), Array::scalar(2.0)]).unwrap();
    assert_eq!(value, Array::scalar(24.0));
    assert_eq!(aux, [vector(&[8.0, 16.0]), vector(&[7.0, 7.0])]);
    assert_eq!(gradient, [vector(&[8.0, 8.0]), Array::scalar(36.0)]);
    let (gradient, aux) = grad_with_aux(|[x]| (x * x, vec![x])).run(&scalars([3.0])).unwrap();
    assert_eq!((gradient, aux), (scalars([6.0]).to_vec(), scalars([3.0]).to_vec()));
}

#[test]
fn arguments_by_name() {
    let f = grad(|[a, b, c]| a * b * b * c).names(&["a", "b", "c"]).argnames(&["c", "b"]);
    let args = f.named(&[("c", Array::scalar(5.0)), ("a", Array::scalar(2.0)), ("b", Array::scalar(3.0))]).unwrap();
    assert_eq!(args, scalars([2.0, 3.0, 5.0]));
    assert_eq!(f.run(&args).unwrap(), scalars([18.0, 60.0]));
}

#[test]
fn maps_and_scans() {
    let f = jit_many(|[xs, ys]| {
        let products = map((xs, ys), |i, (x, y)| x.dot(y) + i);
        let (sum, partial) = scan(xs.zeros([2]), xs, |sum, x| (sum + x, sum));
        let (_, squares) = for_loop_emit(3, xs.at((0, 0)), |i, x| (x * x, (i, x)));
        vec![products, sum, partial, squares.1, xs.tabulate(2, |i| i * i)]
    });
    let xs = Array::f64([2, 2], vec![2.0, 1.0, 3.0, 4.0]);
    let outputs = f.run(&[&xs, &Array::f64([2, 2], vec![1.0, 10.0, 100.0, 1.0])]).unwrap();
    assert_eq!(outputs[0], vector(&[12.0, 305.0]));
    assert_eq!(outputs[1], vector(&[5.0, 5.0]));
    assert_eq!(outputs[2], Array::f64([2, 2], vec![0.0, 0.0, 2.0, 1.0]));
    assert_eq!(outputs[3], vector(&[2.0, 4.0, 16.0]));
    assert_eq!(outputs[4].as_i64(), [0, 1]);
    check_jacobians(|[x]| map(x, |i, x| (x * x).sin() * i + x), &[0.4, 0.9, -1.0]);
    check_jacobians(|[x]| scan(x.at(1), x, |c, x| ((c * x + c).sin(), c * x)).1, &[0.4, 0.9, -1.0]);
    check_jacobians(|[x]| x.tabulate(4, |i| x.at(1) * i + x.sum().sin()), &[0.4, 0.9, -1.0]);
}

#[test]
fn derivatives_of_all_orders_agree_with_differences() {
    let both = [Direction::Forward, Direction::Reverse];
    for modes in [&both[..], &both[..1], &both[1..]] {
        check_grads(
            |[x, w, n]| for_loop(n, x, |_, z| (z * w).tanh()),
            &[vector(&[0.3, -0.2]), Array::scalar(1.2), Array::int(4)],
            2,
            modes,
        )
        .unwrap();
        check_grads(|[x]| map(x, |i, x| (x * i).sin()), &[vector(&[0.3, -0.2])], 3, modes).unwrap();
    }
}

#[test]
fn matrix_products_of_all_ranks() {
    let numbers = |shape: &[usize]| {
        Array::f64(shape, (0..shape.iter().product::<usize>()).map(|k| (k as f64 * 0.7).sin()).collect())
    };
    let f = jit(|[a, b]| a.matmul(b));
    for (a, b, shape) in [
        (vec![3], vec![3], vec![]),
        (vec![3], vec![3, 2], vec![2]),
        (vec![2, 3], vec![3], vec![2]),
        (vec![2, 3], vec![3, 4], vec![2, 4]),
        (vec![3], vec![5, 3, 2], vec![5, 2]),
        (vec![5, 2, 3], vec![3], vec![5, 2]),
        (vec![5, 2, 3], vec![3, 4], vec![5, 2, 4]),
        (vec![5, 1, 2, 3], vec![6, 3, 4], vec![5, 6, 2, 4]),
    ] {
        let product = f.run(&[numbers(&a), numbers(&b)]).unwrap();
        assert_eq!(product[0].shape(), shape, "{a:?} times {b:?}");
        check_grads(|[a, b]| a.matmul(b), &[numbers(&a), numbers(&b)], 1, &[Direction::Forward, Direction::Reverse])
            .unwrap();
    }
    // The products of the last one, matrix by matrix.
    let (a, b) = (numbers(&[5, 1, 2, 3]), numbers(&[6, 3, 4]));
    let one = jit(|[a, b, i, j]| a.at((i, 0)).matmul(b.at(j)));
    let all = f.run(&[&a, &b]).unwrap();
    for i in 0..5 {
        for j in 0..6 {
            let product = one.run(&[&a, &b, &Array::int(i), &Array::int(j)]).unwrap();
            let start = (i * 6 + j) as usize * 8;
            close(&all[0].as_f64()[start..start + 8], product[0].as_f64(), 1e-15);
        }
    }
}

#[test]
fn a_budget_changes_no_bit_of_a_jacobian() {
    fn f<'t>([x]: [Var<'t>; 1]) -> Var<'t> {
        for_loop(300, x, |_, z| (z * 1.01 + x * 0.1).tanh())
    }
    let x = vector(&[0.3, -0.2, 0.9, 0.1]);
    let free = jacrev(f);
    let tight = jacrev(f).budget("3 kB");
    assert!(free.run(&[&x]).unwrap()[0].same_bits(&tight.run(&[&x]).unwrap()[0]));
    let bytes = tight.plan(&[&x]).unwrap().bytes_peak;
    assert!(bytes <= 3000 && bytes < free.plan(&[&x]).unwrap().bytes_peak);
    let h = hessian(|[x]| f([x]).square().sum());
    let second = h.run(&[&x]).unwrap();
    let tight = h.budget("6 kB");
    assert!(second[0][0].same_bits(&tight.run(&[&x]).unwrap()[0][0]));
}

#[test]
fn a_jacobian_takes_the_memory_of_one_seed_and_the_result() {
    fn f<'t>([x]: [Var<'t>; 1]) -> Var<'t> {
        for_loop(100, x, |_, z| (z * 1.01 + x * 0.1).tanh())
    }
    let x = vector(&[0.5; 20]);
    // Several threads would have memory for a seed each.
    let (one, all) = (vjp(f).threads(NonZeroUsize::MIN), jacrev(f).threads(NonZeroUsize::MIN));
    let (one, all) = (one.plan(&[&x]).unwrap().bytes_peak, all.plan(&[&x]).unwrap().bytes_peak);
    assert!(all <= one + 20 * 20 * 8 + 1000, "one seed takes {one} bytes, all take {all}");
}
