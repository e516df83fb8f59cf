//! Programs that are traced again are compiled once. One test, since the cache is one for the process.

use std::sync::Arc;

use retrograd::{Array, Strategy, Transformed, cache, f64, for_loop, grad, strategy};

fn function<'f>(scale: f64) -> Transformed<'f, retrograd::Gradient> {
    grad(move |[x]| for_loop(10, x, |_, z| (z * scale).sin()).sum())
}

#[test]
fn programs_that_are_traced_again_are_compiled_once() {
    cache::clear();
    let (types, x) = ([f64([3])], Array::f64([3], vec![0.1, 0.2, 0.3]));
    let counted = || (cache::info().hits, cache::info().misses);
    let first = function(1.5).compile(&types).unwrap();
    assert_eq!(counted(), (0, 1));
    assert!(!first.times.cached);
    let stages: Vec<&str> = first.times.stages.iter().map(|(stage, _)| *stage).collect();
    assert_eq!(stages, ["trace", "opt", "diff", "freeze", "plan", "lower", "jit"]);

    // Another closure, the same Program.
    let second = function(1.5).compile(&types).unwrap();
    assert_eq!(counted(), (1, 1));
    assert!(second.times.cached && second.times.stages.len() == 1, "{}", second.times);
    assert!(Arc::ptr_eq(&first.plan, &second.plan));
    assert_eq!(first.run(&[&x]).unwrap(), second.run(&[&x]).unwrap());

    // What differs is compiled: a literal, its sign of zero, types, options, lines.
    function(0.0).compile(&types).unwrap();
    function(-0.0).compile(&types).unwrap();
    function(1.5).compile(&[f64([4])]).unwrap();
    function(1.5).budget(100_000).compile(&types).unwrap();
    function(1.5).strategy(strategy::Periodic { period: Some(2) }).compile(&types).unwrap();
    function(1.5).strategy(strategy::Periodic { period: Some(3) }).compile(&types).unwrap();
    grad(|[x]| for_loop(10, x, |_, z| (z * 1.5).sin()).sum()).compile(&types).unwrap();
    assert_eq!(counted(), (1, 8));
    function(1.5).strategy(strategy::Periodic { period: Some(3) }).compile(&types).unwrap();
    function(1.5).budget("100 kB").compile(&types).unwrap();
    assert_eq!(counted(), (3, 8));
    assert_eq!(strategy::Periodic { period: Some(3) }.name(), "periodic");

    // What was used long ago goes.
    for k in 0..cache::CAPACITY {
        function(2.0 + k as f64).compile(&types).unwrap();
    }
    assert_eq!(cache::info().kept, cache::CAPACITY);
    let before = cache::info().misses;
    function(1.5).compile(&types).unwrap();
    assert_eq!(cache::info().misses, before + 1);

    // What is held stays; a mistake is not kept.
    cache::clear();
    assert_eq!((counted(), cache::info().kept), ((0, 0), 0));
    assert_eq!(first.run(&[&x]).unwrap(), second.run(&[&x]).unwrap());
    assert!(function(1.5).budget(1).compile(&types).is_err());
    assert_eq!(cache::info().kept, 0);
}
