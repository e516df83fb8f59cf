//! Programs that other systems get wrong, with numbers: state changed around loops, in place, under branches, at
//! repeated indices. Polynomials, their Hessians and gradients of gradients are in `derivatives.rs`.

use retrograd::strategy::{KeepAll, Periodic, Revolve};
use retrograd::{
    Array, DType, Direction, ErrorKind, Triangle, Var, check_grads, cond, einsum, for_loop, grad, hessian, hvp, jit,
    value_and_grad, vjp,
};

fn vector(x: &[f64]) -> Array {
    Array::f64([x.len()], x.to_vec())
}

#[track_caller]
fn close(found: &[f64], expected: &[f64], tolerance: f64) {
    assert_eq!(found.len(), expected.len());
    for (a, b) in found.iter().zip(expected) {
        assert!((a - b).abs() <= tolerance * b.abs().max(1.0), "found {a}, expected {b}");
    }
}

#[test]
fn a_variable_changed_before_inside_and_after_a_dynamic_loop() {
    // y = x·3; n times y = y·x + x; then y = y² + y. By hand forwards.
    fn f<'t>([x, n]: [Var<'t>; 2]) -> Var<'t> {
        let mut y = x * 3.0;
        y = for_loop(n, y, |_, y| y * x + x);
        y * y + y
    }
    let gradient = grad(f);
    for n in 0..5 {
        let x = 0.7_f64;
        let (mut y, mut dy) = (3.0 * x, 3.0);
        for _ in 0..n {
            (y, dy) = (y * x + x, dy * x + y + 1.0);
        }
        close(gradient.run(&[Array::scalar(x), Array::int(n)]).unwrap()[0].as_f64(), &[(2.0 * y + 1.0) * dy], 1e-14);
    }
}

#[test]
fn a_field_overwritten_between_its_use_and_the_loss() {
    // loss = Σ u_i² w_i is used first; then u is overwritten in place and used again.
    fn f<'t>([u, w]: [Var<'t>; 2]) -> Var<'t> {
        let first = (u * u * w).sum();
        let overwritten = for_loop(3, u, |i, u| u.set(i, u.at(i) * w.at(i) + 1.0));
        first + (overwritten * overwritten).sum()
    }
    let (u, w) = ([0.5, -1.0, 2.0], [2.0, 0.3, -0.7]);
    let gradients = grad(f).argnums(&[0, 1]).run(&[vector(&u), vector(&w)]).unwrap();
    let by_u: Vec<f64> = u.iter().zip(w).map(|(u, w)| 2.0 * u * w + 2.0 * (u * w + 1.0) * w).collect();
    let by_w: Vec<f64> = u.iter().zip(w).map(|(u, w)| u * u + 2.0 * (u * w + 1.0) * u).collect();
    close(gradients[0].as_f64(), &by_u, 1e-14);
    close(gradients[1].as_f64(), &by_w, 1e-14);
}

#[test]
fn every_step_of_a_dynamic_loop_has_its_own_value() {
    // y = x + 0.3; n times: s += y², y += 0.74; then y = 0.32 y; loss s + y. With u = x + 0.3 and n = 4 steps the true
    // derivative is Σ_k 2 (u + 0.74 k) + 0.32 = 8 u + 12 · 0.74 + 0.32 = 15.6. An adjoint that finds only the last
    // y of the loop, u + 4 · 0.74, in every step gives 8 (u + 2.96) + 0.32 = 30.4.
    fn f<'t>([x, n]: [Var<'t>; 2]) -> Var<'t> {
        let (y, s) = for_loop(n, (x + 0.3, x.full([], 0.0)), |_, (y, s)| (y + 0.74, s + y * y));
        s + y * 0.32
    }
    let by_hand = |x: f64| {
        let (mut y, mut s) = (x + 0.3, 0.0);
        for _ in 0..4 {
            (y, s) = (y + 0.74, s + y * y);
        }
        s + 0.32 * y
    };
    let gradient = grad(f).run(&[Array::scalar(0.5), Array::int(4)]).unwrap();
    close(gradient[0].as_f64(), &[15.6], 1e-14);
    // A central difference of a quadratic function is exact.
    close(&[(by_hand(0.5 + 0.25) - by_hand(0.5 - 0.25)) / 0.5], &[15.6], 1e-13);
}

#[test]
fn what_overwrites_a_field_does_not_change_its_earlier_use() {
    // u = x · (1, 2) is squared and summed, then overwritten in place by u + (0.625, 0.5), and summed again. The true
    // derivative is 2 (1 · 1 + 2 · 2) x + 3 = 5.32 at x = 0.232; with the overwritten u in the place of the first
    // it is 5.32 + 2 (0.625 + 2 · 0.5) = 8.57.
    fn f<'t>([x]: [Var<'t>; 1]) -> Var<'t> {
        let u = x * x.constant(vector(&[1.0, 2.0]));
        let first = for_loop(2, x.full([], 0.0), |i, sum| sum + u.at(i) * u.at(i));
        let shift = x.constant(vector(&[0.625, 0.5]));
        let u = for_loop(2, u, |i, u| u.set(i, u.at(i) + shift.at(i)));
        first + u.sum()
    }
    let by_hand = |x: f64| x * x + 4.0 * x * x + (x + 0.625) + (2.0 * x + 0.5);
    close(grad(f).run(&[Array::scalar(0.232)]).unwrap()[0].as_f64(), &[5.32], 1e-14);
    close(&[(by_hand(0.232 + 0.25) - by_hand(0.232 - 0.25)) / 0.5], &[5.32], 1e-13);
}

#[test]
fn vector_jacobian_products_of_vector_functions() {
    // f(x) = (x_0 x_1, sin x_1, x_0² x_2) with rows of J ((x_1, x_0, 0), (0, cos x_1, 0), (2 x_0 x_2, 0, x_0²)).
    let f = vjp(|[x]| (x.at(0) * x.at(1)).stack(&[x.at(1).sin(), x.at(0) * x.at(0) * x.at(2)], 0));
    let (x, ct) = ([1.5_f64, -0.4, 2.0], [2.0, -3.0, 0.5]);
    let (value, found) = f.run_with(&[vector(&x)], &[vector(&ct)]).unwrap();
    close(value.as_f64(), &[x[0] * x[1], x[1].sin(), x[0] * x[0] * x[2]], 1e-15);
    let expected = [ct[0] * x[1] + ct[2] * 2.0 * x[0] * x[2], ct[0] * x[0] + ct[1] * x[1].cos(), ct[2] * x[0] * x[0]];
    close(found[0].as_f64(), &expected, 1e-14);
}

#[test]
fn an_in_place_update_under_a_branch() {
    // Where x_i > 0: x_i = x_i³, else the neighbour is overwritten.
    fn f<'t>([x]: [Var<'t>; 1]) -> Var<'t> {
        let changed = for_loop(3, x, |i, x| {
            cond(x.at(i).gt(0.0), || x.set(i, x.at(i) * x.at(i) * x.at(i)), || x.set(i + 1, x.at(i) * 2.0))
        });
        (changed * x.constant(vector(&[1.0, 10.0, 100.0, 1000.0]))).sum()
    }
    // x_0 stays positive: x_0³. x_1 < 0 overwrites x_2 by 2 x_1 < 0, which overwrites x_3 by 4 x_1.
    let gradient = grad(f).run(&[vector(&[2.0, -0.5, 7.0, 9.0])]).unwrap();
    close(gradient[0].as_f64(), &[12.0, 10.0 + 200.0 + 4000.0, 0.0, 0.0], 1e-14);
}

#[test]
fn a_range_that_starts_at_five_and_uses_its_index() {
    // for i in 5..205: s += sin(x i)
    fn f<'t>([x]: [Var<'t>; 1]) -> Var<'t> {
        for_loop(5..205, x.full([], 0.0), |i, s| s + (x * i.convert(DType::F64)).sin())
    }
    let x = 0.013_f64;
    let (value, gradient) = value_and_grad(f).run(&[Array::scalar(x)]).unwrap();
    close(value.as_f64(), &[(5..205).map(|i| (x * f64::from(i)).sin()).sum()], 1e-12);
    close(gradient[0].as_f64(), &[(5..205).map(|i| f64::from(i) * (x * f64::from(i)).cos()).sum()], 1e-12);
}

#[test]
fn a_broadcast_with_a_cotangent_that_is_not_uniform() {
    let f = vjp(|[row, matrix]| row + matrix * row);
    let (row, matrix) = (vector(&[1.0, 2.0]), Array::f64([2, 2], vec![3.0, 4.0, 5.0, 6.0]));
    let (_, cotangents) = f.run_with(&[row, matrix], &[Array::f64([2, 2], vec![1.0, -2.0, 10.0, 0.5])]).unwrap();
    assert_eq!(cotangents[0], vector(&[4.0 + 60.0, -10.0 + 3.5]));
    assert_eq!(cotangents[1], Array::f64([2, 2], vec![1.0, -4.0, 10.0, 1.0]));
}

#[test]
fn assignments_with_repeated_indices() {
    // The last assignment to a place wins; additions all count.
    fn places<'t>(x: Var<'t>) -> Var<'t> {
        x.constant(Array::new([5], retrograd::Data::I64(vec![1, 0, 1, 2, 1])))
    }
    fn set<'t>([x]: [Var<'t>; 1]) -> Var<'t> {
        let y = for_loop(5, x.zeros([3]), |k, y| y.set(places(x).at(k), x.at(k) * x.at(k)));
        (y * y.constant(vector(&[1.0, 10.0, 100.0]))).sum()
    }
    fn add<'t>([x]: [Var<'t>; 1]) -> Var<'t> {
        let y = for_loop(5, x.zeros([3]), |k, y| y.add_at(places(x).at(k), x.at(k) * x.at(k)));
        (y * y).sum()
    }
    let x = [1.0, 2.0, 3.0, 4.0, 5.0];
    close(grad(set).run(&[vector(&x)]).unwrap()[0].as_f64(), &[0.0, 4.0, 0.0, 800.0, 100.0], 1e-14);
    let sums = [4.0, 1.0 + 9.0 + 25.0, 16.0];
    let expected: Vec<f64> = [1, 0, 1, 2, 1].iter().zip(x).map(|(place, x)| 2.0 * sums[*place] * 2.0 * x).collect();
    close(grad(add).run(&[vector(&x)]).unwrap()[0].as_f64(), &expected, 1e-14);
}

#[test]
fn logsumexp_written_as_a_loop() {
    // The running maximum and the rescaled sum, as one would write it; its gradient is softmax.
    fn f<'t>([x]: [Var<'t>; 1]) -> Var<'t> {
        let n = x.shape()[0];
        let (top, sum) = for_loop(n - 1, (x.at(0), x.full([], 1.0)), |k, (top, sum)| {
            let next = x.at(k + 1);
            cond(next.gt(top), || (next, sum * (top - next).exp() + 1.0), || (top, sum + (next - top).exp()))
        });
        top + sum.log()
    }
    let x = [1.0, 700.0, -3.0, 701.5, 700.9];
    let (value, gradient) = value_and_grad(f).run(&[vector(&x)]).unwrap();
    let total: f64 = x.iter().map(|x: &f64| (x - 701.5).exp()).sum();
    close(value.as_f64(), &[701.5 + total.ln()], 1e-14);
    close(gradient[0].as_f64(), &x.map(|x| (x - 701.5).exp() / total), 1e-12);
}

#[test]
fn sums_of_a_thousand_terms() {
    // Σ_k sin(x_k y) as one sum and term by term.
    fn at_once<'t>([x, y]: [Var<'t>; 2]) -> Var<'t> {
        (x * y).sin().sum()
    }
    fn one_by_one<'t>([x, y]: [Var<'t>; 2]) -> Var<'t> {
        for_loop(1000, y.full([], 0.0), |k, sum| sum + (x.at(k) * y).sin())
    }
    fn written_out<'t>([x, y]: [Var<'t>; 2]) -> Var<'t> {
        (0..1000).map(|k| (x.at(k) * y).sin()).reduce(|sum, term| sum + term).expect("a thousand terms")
    }
    let x: Vec<f64> = (0..1000).map(|k| k as f64 * 0.01 - 3.0).collect();
    let y = 0.8_f64;
    let by_x: Vec<f64> = x.iter().map(|x| (x * y).cos() * y).collect();
    let by_y: f64 = x.iter().map(|x| (x * y).cos() * x).sum();
    for f in [at_once, one_by_one, written_out] {
        let gradients = grad(f).argnums(&[0, 1]).run(&[vector(&x), Array::scalar(y)]).unwrap();
        close(gradients[0].as_f64(), &by_x, 1e-13);
        close(gradients[1].as_f64(), &[by_y], 1e-12);
    }
}

/// A pendulum in 200 outer steps of 50 inner ones; between outer steps the speed is damped.
fn simulation<'t>([state, length]: [Var<'t>; 2]) -> Var<'t> {
    let state = for_loop(200, state, |_, state| {
        let swung = for_loop(50, state, |_, s| {
            let speed = s.at(1) - (s.at(0).sin() / length) * 0.001;
            s.set(1, speed).set(0, s.at(0) + speed * 0.001)
        });
        swung.set(1, swung.at(1) * 0.999)
    });
    state.at(0) + 0.5 * state.at(1)
}

#[test]
fn the_adjoint_of_a_simulation_survives_every_restart() {
    let args = [vector(&[1.0, 0.2]), Array::scalar(1.5)];
    let both = || value_and_grad(simulation).argnums(&[0, 1]);
    let (value, kept) = both().strategy(KeepAll).run(&args).unwrap();
    let ErrorKind::OverBudget { needed, .. } = both().budget(1).compile(&args).unwrap_err().kind else {
        panic!("one byte is not enough")
    };
    let others = [
        ("auto", both().run(&args)),
        ("auto in 40 kB", both().budget("40 kB").run(&args)),
        ("auto in the least that there is", both().budget(needed).run(&args)),
        ("periodic", both().strategy(Periodic { period: Some(7) }).run(&args)),
        ("revolve in 10 kB", both().strategy(Revolve).budget("10 kB").run(&args)),
    ];
    for (name, found) in others {
        let (other, gradients) = found.unwrap_or_else(|error| panic!("{name}: {error}"));
        assert!(other.same_bits(&value), "{name}");
        assert!(gradients.iter().zip(&kept).all(|(a, b)| a.same_bits(b)), "{name}");
    }

    // The same derivative carried forwards by hand.
    let step = |[angle, speed]: [f64; 2], length: f64| {
        let speed = speed - angle.sin() / length * 0.001;
        [angle + speed * 0.001, speed]
    };
    let run = |start: [f64; 2], length: f64| {
        let mut state = start;
        for _ in 0..200 {
            for _ in 0..50 {
                state = step(state, length);
            }
            state[1] *= 0.999;
        }
        state[0] + 0.5 * state[1]
    };
    close(value.as_f64(), &[run([1.0, 0.2], 1.5)], 1e-12);
    let h = 1e-4;
    let by_angle = (run([1.0 + h, 0.2], 1.5) - run([1.0 - h, 0.2], 1.5)) / (2.0 * h);
    let by_speed = (run([1.0, 0.2 + h], 1.5) - run([1.0, 0.2 - h], 1.5)) / (2.0 * h);
    let by_length = (run([1.0, 0.2], 1.5 + h) - run([1.0, 0.2], 1.5 - h)) / (2.0 * h);
    close(kept[0].as_f64(), &[by_angle, by_speed], 1e-6);
    close(kept[1].as_f64(), &[by_length], 1e-6);
}

#[test]
fn the_gradient_of_a_gradient_through_a_simulation() {
    // Differences of the gradient by the length against forward over reverse.
    let gradient = grad(simulation).argnums(&[1]);
    let at = |length: f64| gradient.run(&[vector(&[1.0, 0.2]), Array::scalar(length)]).unwrap()[0].as_f64()[0];
    let second = hvp(simulation).argnums(&[1]);
    let found = second.run_with(&[vector(&[1.0, 0.2]), Array::scalar(1.5)], &[Array::scalar(1.0)]).unwrap();
    close(found[0].as_f64(), &[(at(1.5 + 1e-4) - at(1.5 - 1e-4)) / 2e-4], 1e-6);
    let value = jit(simulation).run(&[vector(&[1.0, 0.2]), Array::scalar(1.5)]).unwrap();
    assert_eq!(value[0].ty(), retrograd::f64([]));
}

#[test]
fn the_gradient_of_a_cholesky_factor_with_only_the_lower_triangle_given() {
    // The factor reads the lower triangle alone, so each entry there is one number that moves both (i, j) and (j, i) of
    // the symmetric matrix, and entries above move nothing. A rule for symmetric matrices spreads the derivative
    // over both: of the entry (2, 0), whose derivative is −20, it says 43 and puts −63 above. Differences of each
    // single entry judge, whatever stands above the diagonal.
    fn f<'t>([a]: [Var<'t>; 1]) -> Var<'t> {
        let l = a.cholesky();
        (l * l * (a.arange(9).reshape([3, 3]) + 1.0)).sum()
    }
    let (value, gradient) = (jit(f), grad(f));
    for above in [0.0, 7.0] {
        let a = [1.0, above, above, 2.0, 4.25, above, 3.0, 5.5, 10.0625];
        let at = |k: usize, h: f64| {
            let mut moved = a;
            moved[k] += h;
            value.run(&[Array::f64([3, 3], moved.to_vec())]).unwrap()[0].as_f64()[0]
        };
        let differences: Vec<f64> = (0..9).map(|k| (at(k, 1e-5) - at(k, -1e-5)) / 2e-5).collect();
        let found = gradient.run(&[Array::f64([3, 3], a.to_vec())]).unwrap();
        close(found[0].as_f64(), &differences, 1e-6);
        close(found[0].as_f64(), &[63.0, 0.0, 0.0, -32.0, 9.0, 0.0, -20.0, 4.0, 9.0], 1e-10);
    }
}

#[test]
fn a_gaussian_likelihood_differentiates_twice() {
    // −2 log p = log det A + bᵀ A⁻¹ b with A = w wᵀ + 2 I, through the factor and directly; the Hessian against the
    // explicit formula.
    fn direct<'t>([w, b]: [Var<'t>; 2]) -> Var<'t> {
        let a = w.outer(w) + w.eye(3) * 2.0;
        a.logdet() + b.dot(a.solve(b))
    }
    fn factored<'t>([w, b]: [Var<'t>; 2]) -> Var<'t> {
        let l = (w.outer(w) + w.eye(3) * 2.0).cholesky();
        let z = l.triangular_solve(b, Triangle::LOWER);
        (l * w.eye(3)).sum_axes(&[1]).log().sum() * 2.0 + z.dot(z)
    }
    // By Sherman and Morrison: 2 log 2 + log(2 + s) + (bᵀb − (wᵀb)²/(2 + s))/2 with s = wᵀw.
    fn explicit<'t>([w, b]: [Var<'t>; 2]) -> Var<'t> {
        let (s, p) = (w.dot(w) + 2.0, w.dot(b));
        s.log() + (b.dot(b) - p * p / s) * 0.5
    }
    let args = [vector(&[0.3, -1.2, 0.8]), vector(&[1.0, 0.5, -2.0])];
    let expected = (grad(explicit).run(&args).unwrap(), hessian(explicit).run(&args).unwrap());
    for f in [direct, factored] {
        close(grad(f).run(&args).unwrap()[0].as_f64(), expected.0[0].as_f64(), 1e-12);
        close(hessian(f).run(&args).unwrap()[0][0].as_f64(), expected.1[0][0].as_f64(), 1e-12);
    }
}

#[test]
fn einsum_equals_the_loops_that_it_names() {
    let (a, b, c) = ([2, 3, 2], [3, 4], [4, 2]);
    let array = |shape: &[usize], seed: usize| {
        let n = shape.iter().product::<usize>();
        Array::f64(shape.to_vec(), (0..n).map(|k| ((k * 7 + seed * 3) % 11) as f64 - 5.0).collect())
    };
    let args = [array(&a, 1), array(&b, 2), array(&c, 3)];
    // y_j = Σ_{i,k} a_iji b_jk c_ki: a diagonal, a batch axis, contractions, in an order of our own.
    let found = jit(|[a, b, c]| einsum("iji,jk,ki->j", &[a, b, c])).run(&args).unwrap();
    let at = |k: usize, index: usize| args[k].as_f64()[index];
    let term = |i: usize, j: usize, k: usize| at(0, (i * 3 + j) * 2 + i) * at(1, j * 4 + k) * at(2, k * 2 + i);
    let expected: Vec<f64> =
        (0..3).map(|j| (0..2).flat_map(|i| (0..4).map(move |k| (i, k))).map(|(i, k)| term(i, j, k)).sum()).collect();
    assert_eq!(found[0].as_f64(), expected);
    check_grads(|[a, b, c]| einsum("iji,jk,ki->j", &[a, b, c]), &args, 2, &[Direction::Forward, Direction::Reverse])
        .unwrap();
    let error = jit(|[a]| einsum("ij", &[a])).run(&[vector(&[1.0])]).unwrap_err();
    assert_eq!(error.kind, ErrorKind::Shape);
    assert!(error.pos.file().is_some_and(|file| file.ends_with("hard.rs")), "{error}");
}
