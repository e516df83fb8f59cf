//! Code outside of loops over a long leading axis runs tile by tile under `auto`: what it makes on its way is never
//! there as a whole, sums over the axis go on from tile to tile, and no bit is another.

use crate::support::{self, Loss, numbers};
use retrograd::strategy::{Auto, KeepAll, RecomputeAll};
use retrograd::{Array, Strategy, Var};

/// Points, and what each of them becomes.
const POINTS: usize = 2000;
const WIDE: usize = 80;

/// Outputs, peak, and the tiles that the plan says.
fn run(
    f: Loss,
    args: &[Array; 2],
    strategy: impl Strategy + 'static,
    budget: Option<u64>,
) -> (Vec<Array>, u64, Vec<usize>) {
    let (outputs, peak, [_, tiles]) = support::run(f, args, strategy, budget);
    (outputs, peak, tiles)
}

/// A product, whose gradient by the matrix is a contraction over the points.
fn product<'t>([x, w]: [Var<'t>; 2]) -> Var<'t> {
    let y = x.dot(w).tanh();
    (y * y).sum_axes(&[1]).sqrt().sum()
}

/// What all points share is broadcast, so its gradient is a sum over them.
fn shared_row<'t>([x, w]: [Var<'t>; 2]) -> Var<'t> {
    let e = (x.dot(w) * 0.1 + w.at(0)).exp();
    let shares = e / e.sum_axes(&[1]).reshape([POINTS, 1]);
    (shares * shares).sum_axes(&[1]).log().sum()
}

/// Sums over the points and a trailing axis, and over the points and the next one.
fn several_axes<'t>([x, w]: [Var<'t>; 2]) -> Var<'t> {
    let y = x.dot(w).reshape([POINTS, 8, WIDE / 8]).sin();
    let (a, b) = (y.sum_axes(&[0, 2]), (y * y).sum_axes(&[0, 1]));
    (a * a).sum() + (b * b).sum().sqrt()
}

#[test]
fn tiles_change_no_bit_and_take_less_memory() {
    // Sums over several axes are taken as their nest runs, so that what is summed is not there to be saved.
    let cases: [(&str, Loss, bool); 3] =
        [("product", product, true), ("shared row", shared_row, true), ("several axes", several_axes, false)];
    for (name, f, saves) in cases {
        let args = [numbers(&[POINTS, 6], 0.3), numbers(&[6, WIDE], 5.1)];
        let (expected, keep_all, none) = run(f, &args, KeepAll, None);
        assert!(none.is_empty(), "{name}");
        let (tiled, peak, strips) = run(f, &args, Auto, None);
        assert!(!strips.is_empty() && strips.iter().all(|tile| *tile < POINTS), "{name}: {strips:?}");
        assert!(peak < keep_all || !saves, "{name}: {peak} against {keep_all}");
        assert!(expected.iter().zip(&tiled).all(|(a, b)| a.same_bits(b)), "{name}");
        let (again, ..) = run(f, &args, RecomputeAll, None);
        assert!(expected.iter().zip(&again).all(|(a, b)| a.same_bits(b)), "{name}");
        for budget in [peak, (peak + keep_all) / 2] {
            let (found, ..) = run(f, &args, Auto, Some(budget));
            assert!(expected.iter().zip(&found).all(|(a, b)| a.same_bits(b)), "{name} in {budget}");
        }
    }
}

#[test]
fn one_product_over_many_points_takes_the_memory_of_a_tile() {
    let args = [numbers(&[POINTS, 6], 0.3), numbers(&[6, WIDE], 5.1)];
    let (_, keep_all, _) = run(product, &args, KeepAll, None);
    let (_, peak, _) = run(product, &args, Auto, None);
    assert!(3 * peak < keep_all, "{peak} against {keep_all}");
}

#[test]
fn what_stays_in_cache_is_as_it_was() {
    let args = [numbers(&[40, 6], 0.3), numbers(&[6, WIDE], 5.1)];
    let (_, _, strips) = run(product, &args, Auto, None);
    assert!(strips.is_empty(), "{strips:?}");
}

/// Extents before the rows that tiles are cut from.
const BATCH: [usize; 3] = [4, 8, 64];

/// Softmax over the last of four axes: its sum of everything is made of chunks that tiles leave.
fn softmax<'t>([x, w]: [Var<'t>; 2]) -> Var<'t> {
    let rows: Vec<usize> = BATCH.iter().copied().chain([1]).collect();
    let e = (x * w - x.max_axes(&[3]).reshape(rows.clone())).exp();
    let y = e / e.sum_axes(&[3]).reshape(rows);
    (y * y).sum()
}

/// Something of the first axes alone, which is no row of all of them, and a sum over one of them.
fn of_other_axes<'t>([x, w]: [Var<'t>; 2]) -> Var<'t> {
    let shares = (x * w).exp() / x.exp().sum_axes(&[3]).reshape([4, 8, 64, 1]);
    let other = (shares * shares.sum_axes(&[1, 2, 3]).reshape([4, 1, 1, 1])).sum_axes(&[2]);
    (other * other).sum() + shares.sum()
}

#[test]
fn rows_behind_several_axes_are_one_axis_to_tiles() {
    // Rows that divide a chunk of a sum, and rows that do not.
    let cases: [(&str, Loss, usize, bool); 4] = [
        ("chunks", softmax, 128, true),
        ("rows", softmax, 100, true),
        ("long rows", softmax, 600, true),
        ("others", of_other_axes, 128, false),
    ];
    for (name, f, wide, saves) in cases {
        let args = [numbers(&[4, 8, 64, wide], 0.3), numbers(&[wide], 5.1)];
        let (expected, keep_all, _) = run(f, &args, KeepAll, None);
        let (tiled, peak, strips) = run(f, &args, Auto, None);
        assert!(!saves || !strips.is_empty() && strips.iter().all(|tile| *tile < 4 * 8 * 64), "{name}: {strips:?}");
        assert!(!saves || 2 * peak < keep_all, "{name}: {peak} against {keep_all}");
        assert!(expected.iter().zip(&tiled).all(|(a, b)| a.same_bits(b)), "{name}");
    }
}

#[test]
fn the_sum_of_a_softmax_takes_the_memory_of_some_rows() {
    let (x, w) = (numbers(&[4, 8, 64, 128], 0.3), numbers(&[128], 5.1));
    let compiled = retrograd::jit(softmax).threads(std::num::NonZeroUsize::MIN).compile(&[&x, &w]).unwrap();
    // Rows are worked on one by one, and the sum of a chunk goes on from one to the next.
    assert!(compiled.plan.bytes_peak < 4 * 128 * 8, "{}", compiled.plan.bytes_peak);
}
