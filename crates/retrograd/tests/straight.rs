//! Code outside of loops under a budget: values are made again where they are read, and nothing else changes.

use retrograd::strategy::{Auto, Ilp, KeepAll, RecomputeAll, User};
use retrograd::{Array, Compiled, ErrorKind, Fate, Strategy, Var, for_loop, value_and_grad};

/// Deterministic numbers in −1 … 1.
fn numbers<const RANK: usize>(shape: [usize; RANK], seed: f64) -> Array {
    Array::f64(shape, (0..shape.iter().product::<usize>()).map(|k| ((k as f64 + seed) * 12.9898).sin()).collect())
}

/// A network of one matrix, unrolled: every layer is an array that its adjoint reads.
fn network<const LAYERS: usize>([x, w]: [Var<'_>; 2]) -> Var<'_> {
    let mut y = x;
    for _ in 0..LAYERS {
        y = w.matmul(y).tanh();
    }
    (y * y).sum()
}

/// Layers with connections that skip one.
fn residual<'t>([x, w]: [Var<'t>; 2]) -> Var<'t> {
    let (mut before, mut y) = (x, w.matmul(x).sin());
    for _ in 0..10 {
        (before, y) = (y, w.matmul(y).tanh() + before * 0.5);
    }
    (y * y).sum()
}

/// A loop between two pieces of straight-line code.
fn around_a_loop<'t>([x, w]: [Var<'t>; 2]) -> Var<'t> {
    let mut y = x;
    for _ in 0..6 {
        y = w.matmul(y).tanh();
    }
    y = for_loop(10, y, |_, y| w.matmul(y).sin());
    for _ in 0..6 {
        y = w.matmul(y).tanh();
    }
    (y * y).sum()
}

type Function = for<'t> fn([Var<'t>; 2]) -> Var<'t>;

fn args() -> [Array; 2] {
    [numbers([20, 30], 0.1), numbers([20, 20], 7.3)]
}

fn compiled(f: Function, strategy: impl Strategy + 'static, budget: Option<u64>) -> Result<Compiled, retrograd::Error> {
    let f = value_and_grad(f).argnums(&[0]).strategy(strategy);
    let f = if let Some(bytes) = budget { f.budget(bytes) } else { f };
    f.compile(&args()).map(|compiled| (*compiled).clone())
}

/// Outputs, after the measured peak was found to be the predicted one.
fn run(compiled: &Compiled) -> Vec<Array> {
    let args = args();
    let inputs = [&args[0], &args[1]];
    let (outputs, stats) = compiled.run_with_stats(&inputs).unwrap();
    assert_eq!(compiled.plan.bytes_peak, stats.bytes_peak, "{}", compiled.plan);
    let checked = compiled.executable().run_checked(&inputs).unwrap();
    assert!(checked.guards_intact && checked.bytes_touched <= stats.bytes_peak);
    outputs
}

fn smallest(f: Function) -> u64 {
    let error = compiled(f, Auto, Some(1)).unwrap_err();
    let ErrorKind::OverBudget { needed, .. } = error.kind else { panic!("{error}") };
    needed
}

/// From the smallest budget to keeping all: the same bits, a peak within the budget, and never more work for more
/// bytes. Returns the smallest and what keeping all takes, and the work of both.
fn every_budget(f: Function) -> ([u64; 2], [u128; 2]) {
    let all = compiled(f, KeepAll, None).unwrap();
    let expected = run(&all);
    let (least, most) = (smallest(f), all.plan.bytes_peak);
    let mut works = vec![];
    for k in 0..=8 {
        let budget = least + (most - least) * k / 8;
        for found in [compiled(f, Auto, Some(budget)), compiled(f, Ilp, Some(budget.max(least)))] {
            let Ok(found) = found else { continue };
            assert!(found.plan.bytes_peak <= budget, "{}", found.plan);
            assert!(run(&found).iter().zip(&expected).all(|(a, b)| a.same_bits(b)), "{} changes bits", found.plan);
        }
        works.push(compiled(f, Auto, Some(budget)).unwrap().plan.decision.work);
    }
    assert!(works.is_sorted_by(|a, b| a >= b), "more bytes cost more work: {works:?}");
    let refused = compiled(f, Auto, Some(least - 1)).unwrap_err();
    assert_eq!(refused.kind, ErrorKind::OverBudget { needed: least, budget: least - 1 });
    let again = compiled(f, RecomputeAll, None).unwrap();
    assert!(run(&again).iter().zip(&expected).all(|(a, b)| a.same_bits(b)));
    ([least, most], [works[0], works[8]])
}

#[test]
fn an_unrolled_network_fits_in_a_fraction_of_its_layers() {
    let ([least, most], [work, free]) = every_budget(network::<24>);
    assert!(2 * least < most, "{least} bytes against {most}");
    assert!(work <= 3 * free, "{work} against {free}");
}

#[test]
fn connections_that_skip_layers_are_cut_too() {
    let ([least, most], _) = every_budget(residual);
    assert!(4 * least < 3 * most, "{least} bytes against {most}");
}

#[test]
fn code_around_a_loop_shares_the_budget_with_it() {
    every_budget(around_a_loop);
}

#[test]
fn twice_the_layers_do_not_take_twice_the_memory() {
    let (few, many) = (smallest(network::<12>), smallest(network::<48>));
    assert!(many < 2 * few, "{few} bytes for 12 layers, {many} for 48");
}

#[test]
fn the_plan_says_what_is_computed_again() {
    let [least, most] = [smallest(network::<12>), compiled(network::<12>, KeepAll, None).unwrap().plan.bytes_peak];
    let plan = compiled(network::<12>, Auto, Some((least + most) / 2)).unwrap().plan.clone();
    let (text, residuals) = (plan.to_string(), plan.residuals());
    assert!(text.contains("straight.rs") && text.contains("computed again: where it is read"), "{text}");
    assert!(residuals.iter().any(|residual| residual.fate == "kept"), "{text}");
    assert!(residuals.iter().all(|residual| residual.bytes == 20 * 30 * 8), "{text}");
    assert!(residuals.iter().all(|residual| !residual.reason.is_empty() && !residual.read_at.is_empty()), "{text}");
    assert!(plan.to_json().contains(r#""fate": "computed again", "reason": "where it is read"#));
    assert!(plan.work_bound() <= plan.decision.work && plan.work_least() < plan.decision.work);
}

#[test]
fn the_user_decides_about_values_outside_of_loops() {
    let decide = |fate: Fate| User { values: vec![("tanh".into(), fate)], loops: vec![] };
    let again = compiled(network::<6>, decide(Fate::Recompute), None).unwrap();
    let residuals = again.plan.residuals();
    let mut layers = residuals.iter().filter(|residual| residual.origin.starts_with("tanh")).peekable();
    assert!(layers.peek().is_some() && layers.all(|residual| residual.fate != "kept"), "{}", again.plan);
    let keep = compiled(network::<6>, decide(Fate::Keep), None).unwrap();
    assert!(run(&again).iter().zip(run(&keep)).all(|(a, b)| a.same_bits(&b)));
    let refused = compiled(network::<6>, decide(Fate::Keep), Some(smallest(network::<6>))).unwrap_err();
    assert!(matches!(refused.kind, ErrorKind::OverBudget { .. }), "{refused}");
    let unknown = User { values: vec![("cosh".into(), Fate::Keep)], loops: vec![] };
    assert_eq!(compiled(network::<6>, unknown, None).unwrap_err().kind, ErrorKind::Argument);
}
