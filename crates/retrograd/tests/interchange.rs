//! Loops that treat elements alike run tile by tile under `auto`: less memory, and the same bits as without.

use crate::support::{self, Loss, numbers};
use retrograd::strategy::{Auto, KeepAll, Revolve};
use retrograd::{Array, Strategy, Var, cond, for_loop};

/// Outputs, peak, and the tiles that the plan says.
fn run(
    f: Loss,
    args: &[Array; 2],
    strategy: impl Strategy + 'static,
    budget: Option<u64>,
) -> (Vec<Array>, u64, Vec<usize>) {
    let (outputs, peak, [tiles, _]) = support::run(f, args, strategy, budget);
    (outputs, peak, tiles)
}

fn pointwise<'t>([s, theta]: [Var<'t>; 2]) -> Var<'t> {
    let s = for_loop(50, s, |_, s| s + 0.01 * (theta * s).tanh());
    (s * s).sum()
}

/// The seed of the backward loop depends on all elements of the forward one.
fn mixed_loss<'t>([s, theta]: [Var<'t>; 2]) -> Var<'t> {
    let s = for_loop(50, s, |_, s| s + 0.01 * (theta * s).tanh());
    (s * s).sum().sin()
}

/// Two carries, a scalar one, the index, a branch and an inner loop.
fn all_sorts<'t>([s, theta]: [Var<'t>; 2]) -> Var<'t> {
    let still = s.sum() * 0.01;
    let (x, v, _) = for_loop(20, (s, theta, still), |i, (x, v, t)| {
        let kick = cond((i * 1).eq(3), || (theta * x).cos(), || theta * 0.5);
        let x = for_loop(3, x, |_, x| x + 0.01 * v * (x * x).cos());
        (x, 0.9 * v - 0.01 * kick * x, t * 1.01)
    });
    (x * x).sum() + (v * x).sum()
}

/// A batch of small systems: rows of a matrix, each multiplied by the same matrix.
fn batch<'t>([x, w]: [Var<'t>; 2]) -> Var<'t> {
    let fixed = w.slice((0..3, 0..3));
    let fixed = retrograd::stop_gradient(fixed);
    let x = for_loop(12, x, |_, x| (x.dot(fixed)).tanh() + 0.1 * x + 0.01 * w);
    (x * x).sum()
}

/// The cotangent of a parameter that all elements share is summed up element by element, and over the elements after
/// the loop.
fn shared_parameter<'t>([s, theta]: [Var<'t>; 2]) -> Var<'t> {
    let theta = theta.at(0);
    let s = for_loop(50, s, |_, s| s + 0.01 * (theta * s).tanh());
    (s * s).sum()
}

/// The same, in two places.
fn shared_twice<'t>([s, theta]: [Var<'t>; 2]) -> Var<'t> {
    let theta = theta.at(0);
    let s = for_loop(50, s, |_, s| s + 0.01 * (theta * s).tanh() - 0.02 * theta * s.sin());
    (s * s).sum()
}

/// All elements meet in every step.
fn mean_field<'t>([s, theta]: [Var<'t>; 2]) -> Var<'t> {
    let theta = theta.at(0);
    let s = for_loop(50, s, |_, s| s + 0.01 * (theta * s).tanh() + 1e-4 * s.sum());
    (s * s).sum()
}

fn neighbours<'t>([s, theta]: [Var<'t>; 2]) -> Var<'t> {
    let n = s.shape()[0];
    let s = for_loop(50, s, |_, s| s.set(1..n, s.slice(0..n - 1) * 0.9 + theta.slice(1..n) * s.slice(1..n).sin()));
    (s * s).sum()
}

#[test]
fn tiles_change_no_bit_and_take_less_memory() {
    let cases: [(&str, Loss, [usize; 2]); 6] = [
        ("pointwise", pointwise, [640, 1]),
        ("mixed loss", mixed_loss, [640, 1]),
        ("all sorts", all_sorts, [128, 1]),
        ("batch", batch, [192, 3]),
        ("shared parameter", shared_parameter, [640, 1]),
        ("shared twice", shared_twice, [640, 1]),
    ];
    for (name, f, shape) in cases {
        let shape = if shape[1] == 1 { vec![shape[0]] } else { shape.to_vec() };
        let args = [numbers(&shape, 0.3), numbers(&shape, 5.1)];
        let (expected, keep_all, none) = run(f, &args, KeepAll, None);
        assert!(none.is_empty(), "{name}");
        let (tiled, peak, tiles) = run(f, &args, Auto, None);
        assert!(tiles.len() == 1 && tiles[0] < shape[0], "{name}: {tiles:?}");
        assert!(peak < keep_all, "{name}: {peak} against {keep_all}");
        assert!(expected.iter().zip(&tiled).all(|(a, b)| a.same_bits(b)), "{name}");
        let (revolved, ..) = run(f, &args, Revolve, None);
        assert!(expected.iter().zip(&revolved).all(|(a, b)| a.same_bits(b)), "{name}");
        for budget in [peak - 1, (peak + keep_all) / 2] {
            let (found, ..) = run(f, &args, Auto, Some(budget));
            assert!(expected.iter().zip(&found).all(|(a, b)| a.same_bits(b)), "{name} in {budget}");
        }
    }
}

#[test]
fn what_mixes_elements_stays_a_loop_over_arrays() {
    for f in [mean_field as Loss, neighbours] {
        let args = [numbers(&[640], 0.3), numbers(&[640], 5.1)];
        let (expected, ..) = run(f, &args, KeepAll, None);
        let (found, _, tiles) = run(f, &args, Auto, None);
        assert!(tiles.is_empty());
        assert!(expected.iter().zip(&found).all(|(a, b)| a.same_bits(b)));
    }
}

#[test]
fn a_shared_parameter_has_the_sum_of_the_gradients_of_its_copies() {
    let [s, theta] = [numbers(&[640], 0.3), Array::f64([640], vec![0.7; 640])];
    let args = [s, theta];
    let (copies, ..) = run(pointwise, &args, KeepAll, None);
    let (shared, ..) = run(shared_parameter, &args, Auto, None);
    let sum: f64 = copies[2].as_f64().iter().sum();
    let found = shared[2].as_f64();
    assert!((found[0] - sum).abs() < 1e-12 * sum.abs(), "{} and {sum}", found[0]);
    assert!(found[1..].iter().all(|x| *x == 0.0));
    assert!(shared[1].same_bits(&copies[1]));
}
