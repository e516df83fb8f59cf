//! Gradients of functions of two arrays, run and held against their plans.

use std::num::NonZeroUsize;

use retrograd::{Array, Strategy, Var, value_and_grad};

/// A function of two arrays to a number.
pub(crate) type Loss = for<'t> fn([Var<'t>; 2]) -> Var<'t>;

/// An array of different numbers.
pub(crate) fn numbers(shape: &[usize], seed: f64) -> Array {
    Array::f64(shape, (0..shape.iter().product::<usize>()).map(|k| ((k as f64 + seed) * 12.9898).sin()).collect())
}

/// Value and gradient by one thread, as several would have memory for a tile each; the peak; the tiles of loops and of
/// code outside of them.
pub(crate) fn run(
    f: Loss,
    args: &[Array; 2],
    strategy: impl Strategy + 'static,
    budget: Option<u64>,
) -> (Vec<Array>, u64, [Vec<usize>; 2]) {
    let gradient = value_and_grad(f).argnums(&[0, 1]).strategy(strategy).threads(NonZeroUsize::MIN);
    let gradient = match budget {
        Some(bytes) => gradient.budget(bytes),
        None => gradient,
    };
    let compiled = gradient.compile(args).unwrap();
    let (outputs, stats) = compiled.run_with_stats(&[&args[0], &args[1]]).unwrap();
    assert_eq!(compiled.plan.bytes_peak, stats.bytes_peak);
    let checked = compiled.executable().run_checked(&[&args[0], &args[1]]).unwrap();
    assert!(checked.guards_intact && checked.bytes_touched <= stats.bytes_peak);
    (outputs, stats.bytes_peak, [compiled.plan.tiles.clone(), compiled.plan.strips.clone()])
}
