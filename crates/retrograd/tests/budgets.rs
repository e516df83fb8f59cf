//! One number of bytes: every strategy and budget gives the same bits, and the peak is what was predicted.

use retrograd::strategy::{Auto, Ilp, KeepAll, LoopFate, Periodic, RecomputeAll, Revolve, User};
use retrograd::{Array, ErrorKind, Fate, Strategy, Var, for_loop, jit, value_and_grad};

/// Deterministic numbers in −1 … 1.
fn numbers(count: usize, seed: f64) -> Array {
    Array::f64([count], (0..count).map(|k| ((k as f64 + seed) * 12.9898).sin()).collect())
}

fn tanh_loop<'t>([s, theta]: [Var<'t>; 2]) -> Var<'t> {
    let s = for_loop(100, s, |_, s| s + 0.01 * (theta * s).tanh());
    (s * s).sum()
}

fn lorenz<'t>([state, parameters]: [Var<'t>; 2]) -> Var<'t> {
    let [sigma, rho, beta] = [0, 1, 2].map(|k| parameters.at(k));
    let [x, y, z] = for_loop(500, [0, 1, 2].map(|k| state.at(k)), |_, [x, y, z]| {
        [x + 0.01 * (sigma * (y - x)), y + 0.01 * (x * (rho - z) - y), z + 0.01 * (x * y - beta * z)]
    });
    x * x + y * y + z * z
}

fn jacobi<'t>([a, b]: [Var<'t>; 2]) -> Var<'t> {
    let n = a.shape()[0];
    let stencil = |from: Var<'t>, to: Var<'t>| {
        to.set(
            1..n - 1,
            (from.slice(0..n - 2) + from.slice(1..n - 1) + from.slice(2..n)) * 0.33333 * from.slice(1..n - 1),
        )
    };
    let (a, _) = for_loop(40, (a, b), |_, (a, b)| {
        let b = stencil(a, b);
        (stencil(b, a), b)
    });
    a.sum()
}

/// Runs one function under a strategy and a budget: outputs, the plan's peak, the measured peak.
fn run(
    f: for<'t> fn([Var<'t>; 2]) -> Var<'t>,
    args: &[Array; 2],
    strategy: impl Strategy + 'static,
    budget: Option<u64>,
) -> (Vec<Array>, u64) {
    let gradient = value_and_grad(f).argnums(&[0, 1]).strategy(strategy);
    let gradient = match budget {
        Some(bytes) => gradient.budget(bytes),
        None => gradient,
    };
    let compiled = gradient.compile(args).unwrap();
    let (outputs, stats) = compiled.run_with_stats(&[&args[0], &args[1]]).unwrap();
    assert_eq!(compiled.plan.bytes_peak, stats.bytes_peak, "predicted peak is the measured one\n{}", compiled.plan);
    assert!(budget.is_none_or(|bytes| stats.bytes_peak <= bytes));
    let checked = compiled.executable().run_checked(&[&args[0], &args[1]]).unwrap();
    assert!(checked.guards_intact && checked.bytes_touched <= stats.bytes_peak);
    (outputs, stats.bytes_peak)
}

fn smallest(f: for<'t> fn([Var<'t>; 2]) -> Var<'t>, args: &[Array; 2], strategy: impl Strategy + 'static) -> u64 {
    let error = value_and_grad(f).argnums(&[0, 1]).strategy(strategy).budget(1u64).compile(args).unwrap_err();
    let ErrorKind::OverBudget { needed, budget: 1 } = error.kind else { panic!("{error}") };
    needed
}

fn same_bits_everywhere(f: for<'t> fn([Var<'t>; 2]) -> Var<'t>, args: [Array; 2]) {
    let (expected, all) = run(f, &args, KeepAll, None);
    let same = |found: (Vec<Array>, u64), what: &str| {
        assert!(expected.iter().zip(&found.0).all(|(a, b)| a.same_bits(b)), "{what} changes bits");
    };
    same(run(f, &args, Periodic { period: None }, None), "periodic");
    for period in [1, 2, 7, 1000] {
        same(run(f, &args, Periodic { period: Some(period) }, None), "a period");
    }
    same(run(f, &args, Revolve, None), "revolve");
    let (replayed, fewest) = run(f, &args, RecomputeAll, None);
    assert!(fewest < all, "nothing is kept in {fewest} bytes, everything in {all}");
    same((replayed, fewest), "recompute all");
    same(run(f, &args, Auto, None), "auto");
    let tight = smallest(f, &args, Ilp);
    assert!(tight <= all);
    for budget in [tight, (tight + all) / 2] {
        same(run(f, &args, Ilp, Some(budget)), "a budget for ilp");
    }
    let least = smallest(f, &args, Revolve);
    assert!(least < all);
    for budget in [least, least + 40, (least + all) / 2, all, 2 * all] {
        same(run(f, &args, Revolve, Some(budget)), "a budget for revolve");
        same(run(f, &args, Auto, Some(budget)), "a budget for auto");
    }
    let refused = value_and_grad(f).argnums(&[0, 1]).strategy(Revolve).budget(least - 1).compile(&args).unwrap_err();
    assert_eq!(refused.kind, ErrorKind::OverBudget { needed: least, budget: least - 1 });
    let keep = smallest(f, &args, KeepAll);
    same(run(f, &args, KeepAll, Some(keep)), "keep all at exactly its bytes");
}

/// More bytes never cost more work, and what is left over would not hold one more state or record.
fn bytes_are_worth_their_while(f: for<'t> fn([Var<'t>; 2]) -> Var<'t>, args: [Array; 2]) {
    let plan = |budget: u64| value_and_grad(f).argnums(&[0, 1]).budget(budget).compile(&args).unwrap().plan.clone();
    let (least, most) = (smallest(f, &args, Auto), run(f, &args, Auto, None).1);
    let mut before = u128::MAX;
    for k in 0..=12 {
        let budget = least + (most - least) * k / 12;
        let plan = plan(budget);
        assert!(plan.decision.work <= before, "{budget} bytes are slower than fewer\n{plan}");
        before = plan.decision.work;
        let reports = plan.reports();
        let step = reports
            .iter()
            .map(|report| report.state_bytes + report.record_bytes.iter().max().unwrap_or(&0))
            .max()
            .unwrap_or(0);
        let left = budget - plan.bytes_peak;
        assert!(k == 12 || left <= 2 * step + 200, "{left} bytes of {budget} are left over\n{plan}");
    }
    assert_eq!(before, plan(2 * most).decision.work);
}

#[test]
fn bytes_of_a_tanh_loop_are_worth_their_while() {
    bytes_are_worth_their_while(tanh_loop, [numbers(50, 0.1), numbers(50, 7.3)]);
}

#[test]
fn bytes_of_a_stencil_are_worth_their_while() {
    bytes_are_worth_their_while(jacobi, [numbers(37, 0.5), numbers(37, 2.5)]);
}

fn nest<'t>([s, w]: [Var<'t>; 2]) -> Var<'t> {
    let s = for_loop(30, s, |_, s| for_loop(20, s, |_, s| s + 0.05 * (w * s).sin()) * 0.9);
    (s * s).sum()
}

fn two_loops<'t>([s, w]: [Var<'t>; 2]) -> Var<'t> {
    let s = for_loop(60, s, |_, s| s + 0.05 * (w * s).sin());
    let s = for_loop(40, s, |_, s| s + 0.05 * (w * s).tanh());
    (s * s).sum()
}

/// Where loops share the bytes, more of them cost hardly more work, and little is left over.
fn bytes_are_shared(f: for<'t> fn([Var<'t>; 2]) -> Var<'t>) {
    let args = [numbers(40, 0.1), numbers(40, 7.3)];
    let plan = |budget: u64| value_and_grad(f).argnums(&[0, 1]).budget(budget).compile(&args).unwrap().plan.clone();
    let (least, most) = (smallest(f, &args, Auto), run(f, &args, Auto, None).1);
    let mut before = f64::MAX;
    for k in 0..=12 {
        let budget = least + (most - least) * k / 12;
        let plan = plan(budget);
        let work = plan.decision.work as f64;
        assert!(work <= before * 1.02, "{budget} bytes are slower than fewer\n{plan}");
        before = before.min(work);
        let left = budget - plan.bytes_peak;
        assert!(k == 12 || left <= budget / 8, "{left} bytes of {budget} are left over\n{plan}");
    }
}

#[test]
fn bytes_are_shared_in_a_nest() {
    bytes_are_shared(nest);
}

#[test]
fn bytes_are_shared_in_a_sequence() {
    bytes_are_shared(two_loops);
}

#[test]
fn nests_and_sequences_have_the_same_bits_under_every_plan() {
    same_bits_everywhere(nest, [numbers(40, 0.1), numbers(40, 7.3)]);
    same_bits_everywhere(two_loops, [numbers(40, 0.1), numbers(40, 7.3)]);
}

#[test]
fn the_user_decides_about_values_and_loops() {
    let args = [numbers(50, 0.1), numbers(50, 7.3)];
    let (expected, _) = run(tanh_loop, &args, Auto, None);
    let plan = |user: User| value_and_grad(tanh_loop).argnums(&[0, 1]).strategy(user).compile(&args);
    let free = plan(User::default()).unwrap().plan.clone();
    let place = free.reports()[0].pos.to_string();
    for fate in
        [LoopFate::KeepAll, LoopFate::RecomputeAll, LoopFate::Periodic { period: 7 }, LoopFate::Revolve { slots: 5 }]
    {
        let user = User { loops: vec![(place.clone(), fate)], values: vec![] };
        let (outputs, _) = run(tanh_loop, &args, user, None);
        assert!(expected.iter().zip(&outputs).all(|(a, b)| a.same_bits(b)), "{fate:?} changes bits");
    }
    let five =
        plan(User { loops: vec![(place, LoopFate::Revolve { slots: 5 })], values: vec![] }).unwrap().plan.clone();
    assert_eq!(five.reports()[0].schedule, "revolve with 5 slots");
    let kept = free.reports()[0].residuals.iter().find(|residual| residual.origin != "state").unwrap().origin.clone();
    let recompute = User { values: vec![(kept.clone(), Fate::Recompute)], loops: vec![] };
    assert!(
        plan(recompute.clone()).unwrap().plan.reports()[0].residuals.iter().all(|residual| residual.origin != kept)
    );
    let (outputs, _) = run(tanh_loop, &args, recompute, None);
    assert!(expected.iter().zip(&outputs).all(|(a, b)| a.same_bits(b)), "recomputing {kept} changes bits");
    let error = plan(User { values: vec![("nonsense".into(), Fate::Keep)], loops: vec![] }).unwrap_err();
    assert!(
        error.kind == ErrorKind::Argument && error.message.contains("no derivative reads a value `nonsense`"),
        "{error}"
    );
    let error = plan(User { loops: vec![("model.rs:1".into(), LoopFate::KeepAll)], values: vec![] }).unwrap_err();
    assert!(error.message.contains("no loop at `model.rs:1` is unwound"), "{error}");
}

#[test]
fn tanh_loop_has_the_same_bits_under_every_plan() {
    same_bits_everywhere(tanh_loop, [numbers(50, 0.1), numbers(50, 7.3)]);
}

#[test]
fn lorenz_has_the_same_bits_under_every_plan() {
    same_bits_everywhere(lorenz, [Array::f64([3], vec![1.0, 1.1, 0.9]), Array::f64([3], vec![10.0, 28.0, 8.0 / 3.0])]);
}

#[test]
fn in_place_stencil_has_the_same_bits_under_every_plan() {
    same_bits_everywhere(jacobi, [numbers(37, 0.5), numbers(37, 2.5)]);
}

/// Three steps inside each of twenty.
fn few_inside<'t>([x, w]: [Var<'t>; 2]) -> Var<'t> {
    let step = |x: Var<'t>| for_loop(3, x, |_, x| (x * w).sin() + x);
    for_loop(20, x, |_, x| step(x)).sum()
}

#[test]
fn a_loop_of_few_steps_inside_another_is_named_by_the_loop_around() {
    let args = [numbers(5, 0.1), numbers(5, 7.3)];
    let plan = |user: User| value_and_grad(few_inside).argnums(&[0, 1]).strategy(user).compile(&args);
    let free = plan(User::default()).unwrap();
    assert_eq!(free.plan.reports().len(), 1, "the steps inside are code of the loop around");
    let traced = jit(few_inside).trace(&args).unwrap();
    let bodies = traced.functions.iter().filter(|function| function.name != traced.main().name);
    let inside = bodies
        .flat_map(|body| &body.insts)
        .find(|inst| inst.op.name() == "for")
        .expect("a loop inside")
        .pos
        .to_string();
    let error =
        plan(User { loops: vec![(inside, LoopFate::Revolve { slots: 2 })], values: vec![] }).unwrap_err().to_string();
    assert!(error.contains("code of the loop around"), "{error}");
}
