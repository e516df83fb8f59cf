//! The curve of a plan goes from the smallest budget that works to what more memory does not improve, never up, with
//! the plan that was asked for on it.

use std::ops::Range;
use std::sync::Arc;

use retrograd_compiler::diff;
use retrograd_compiler::ir::{Error, ErrorKind, Program};
use retrograd_compiler::ops;
use retrograd_compiler::opt::{freeze, simplify};
use retrograd_compiler::plan::strategy::Auto;
use retrograd_compiler::plan::{Curve, CurvePoint, Effort, Request, plan};
use retrograd_testing::laws::Trial;
use retrograd_testing::programs::Case;

/// Gradients whose curve is looked at, and budgets of a gradient that are compared.
const CURVES: u64 = 30;
const BUDGETS: u64 = 4;

fn within(budget: Option<u64>) -> Request {
    Request { budget, ..Request::by(Arc::new(Auto)) }
}

/// The smallest budget that works.
fn least(program: &Program, name: &str) -> u64 {
    match plan(program, &within(Some(0))) {
        Ok(plan) => plan.bytes_peak,
        Err(Error { kind: ErrorKind::OverBudget { needed, .. }, .. }) => needed,
        Err(error) => panic!("{name}: {error}"),
    }
}

/// Checks the curve of a gradient at a middling budget. How many points it has.
fn check(program: &Program, name: &str) -> usize {
    let (free, least) = (plan(program, &within(None)).unwrap(), least(program, name));
    let middling = within(Some((least + free.bytes_peak) / 2));
    let chosen = plan(program, &middling).unwrap();
    let curve = Curve::new(program, &chosen, &middling).unwrap();
    let text = curve.to_text();
    let marked: Vec<_> = curve.points.iter().filter(|point| point.chosen).collect();
    assert!(
        marked.len() == 1 && marked[0].bytes == chosen.bytes_peak && marked[0].work == chosen.decision.work,
        "{name}\n{text}"
    );
    // At the least budget, less may be taken: offsets are found by a rule, not by a search.
    assert!(curve.points[0].bytes <= least, "{name}: {least} bytes are the least\n{text}");
    // Of a loop of unknown length more memory is always better, so that a plan without a budget need not be the best.
    let best = curve.points.iter().map(|point| point.work).min();
    assert!(best.is_some_and(|best| best <= free.decision.work), "{name}\n{text}");
    // Where a loop is of unknown length, a plan may hold more states than the length that is guessed has use for: for
    // more steps than that.
    let is_open = free.facts.loops.iter().any(|facts| facts.count.is_none());
    let is_level = |two: &[CurvePoint]| is_open && two[1].chosen && two[0].work == two[1].work;
    let falls = |two: &[CurvePoint]| two[0].bytes < two[1].bytes && (two[0].work > two[1].work || is_level(two));
    assert!(curve.points.windows(2).all(falls), "{name}\n{text}");
    curve.points.len()
}

/// Gradients of random programs.
fn random(seeds: Range<u64>, mut check: impl FnMut(&Program, &str)) {
    for seed in seeds {
        if let Ok(Some(gradient)) = Trial::new(Case::random(seed)).gradient() {
            check(&freeze(&gradient.program), &format!("seed {seed}"));
        }
    }
}

#[test]
fn curves_of_random_gradients_never_go_up() {
    let (mut curves, mut points) = (0, 0);
    random(0..CURVES, |program, name| (curves, points) = (curves + 1, points + check(program, name)));
    assert!(points > 3 * curves, "{points} points of {curves} curves");
}

#[test]
fn more_bytes_never_cost_more_work() {
    random(0..200, |program, name| {
        let (free, least) = (plan(program, &within(None)).unwrap(), least(program, name));
        let mut before = u128::MAX;
        for k in 0..=BUDGETS {
            let budget = least + (free.bytes_peak + 64).saturating_sub(least) * k / BUDGETS;
            let plan = plan(program, &within(Some(budget))).unwrap();
            assert!(
                plan.bytes_peak <= budget && plan.decision.work <= before,
                "{name}: {budget} bytes are slower than fewer\n{plan}"
            );
            before = plan.decision.work;
        }
    });
}

#[test]
fn the_smallest_budget_is_the_same_for_all_that_are_too_small() {
    random(0..200, |program, name| {
        let least = least(program, name);
        for budget in [least / 2, least.saturating_sub(8)].into_iter().filter(|budget| *budget < least) {
            match plan(program, &within(Some(budget))) {
                Err(Error { kind: ErrorKind::OverBudget { needed, .. }, .. }) => {
                    assert_eq!(needed, least, "{name} in {budget} bytes")
                }
                Err(error) => panic!("{name}: {error}"),
                Ok(plan) => panic!("{name}: {least} bytes are the least, and {budget} work, too\n{plan}"),
            }
        }
    });
}

fn gradient(text: &str) -> Program {
    let program = simplify(&ops::parse(text, "curve.rg").unwrap());
    freeze(&simplify(&diff::vjp(&program, &[0], &[0]).unwrap()))
}

/// Forty layers, which no tiles cut: elements at both ends meet.
fn layers() -> String {
    let layer = |k: usize| {
        let before = if k == 0 { "%x".into() } else { format!("%b{}", k - 1) };
        format!(
            "  %a{k}: f64[1000] = sin {before}\n  %r{k}: f64[1000] = reverse %a{k} {{axes=[0]}}\n  %b{k}: f64[1000] = \
             mul %r{k}, {before}\n"
        )
    };
    let code: String = (0..40).map(layer).collect();
    format!("fn main(%x: f64[1000]) -> f64[1000] {{\n{code}  return %b39\n}}\n")
}

/// Loops one after the other.
fn loops() -> String {
    let one = |k: usize, before: &str| format!("  %y{k}: f64[64] = for %n{k} carries({before}) {{body=step{k}}}\n");
    let count = |k: usize, n: usize| format!("  %n{k}: i64 = constant {{value={n}}}\n");
    let code = [count(0, 300), count(1, 40), count(2, 700), one(0, "%x"), one(1, "%y0"), one(2, "%y1")].concat();
    let step = |k: usize| {
        format!(
            "fn step{k}(%i: i64, %c: f64[64]) -> f64[64] {{\n  %s: f64[64] = sin %c\n  %r: f64[64] = reverse %s \
             {{axes=[0]}}\n  %t: f64[64] = mul %r, %c\n  return %t\n}}\n"
        )
    };
    let steps: String = (0..3).map(step).collect();
    format!("fn main(%x: f64[64]) -> f64[64] {{\n{code}  return %y2\n}}\n{steps}")
}

#[test]
fn curves_of_straight_code_and_of_several_loops_have_no_gaps() {
    for (name, text, times) in [("layers", layers(), 1.5), ("loops", loops(), 1.55)] {
        let program = gradient(&text);
        let points = check(&program, name);
        let request = Request::by(Arc::new(Auto));
        let curve = Curve::new(&program, &plan(&program, &request).unwrap(), &request).unwrap();
        assert!(points >= 8, "{name}\n{}", curve.to_text());
        // From one point to the next, memory grows by no more than this.
        let widest = curve.points.windows(2).map(|two| two[1].bytes as f64 / two[0].bytes as f64).fold(1.0, f64::max);
        assert!(widest < times, "{name}: {widest}\n{}", curve.to_text());
    }
}

/// Two loops whose steps are `first` and `second`, which are the same.
fn equal_loops(first: &str, second: &str) -> String {
    let step = |name: &str| {
        format!(
            "fn {name}(%i: i64, %c: f64[64]) -> f64[64] {{\n  %s: f64[64] = sin %c\n  %r: f64[64] = reverse %s \
             {{axes=[0]}}\n  %t: f64[64] = mul %r, %c\n  return %t\n}}\n"
        )
    };
    let steps = if first == second { step(first) } else { step(first) + &step(second) };
    format!(
        "fn main(%x: f64[64]) -> f64[64] {{\n  %n: i64 = constant {{value=300}}\n  %y: f64[64] = for %n carries(%x) \
         {{body={first}}}\n  %z: f64[64] = cos %y\n  %e: f64[64] = for %n carries(%z) {{body={second}}}\n  return \
         %e\n}}\n{steps}"
    )
}

#[test]
fn loops_that_share_a_body_are_planned_as_if_each_had_its_own() {
    let curve = |second: &str| {
        let program = gradient(&equal_loops("step", second));
        let request = Request::by(Arc::new(Auto));
        Curve::new(&program, &plan(&program, &request).unwrap(), &request).unwrap().points
    };
    let (shared, own) = (curve("step"), curve("other"));
    assert!(own.len() > 8 && shared == own, "{shared:?}\n{own:?}");
}

/// At most what it took once, and half as much again: to try a split takes some five nanoseconds, to place an
/// instruction some ten microseconds.
#[test]
fn planning_a_long_loop_takes_as_few_splits_as_it_did() {
    let step = "fn step(%i: i64, %c: f64[64]) -> f64[64] {\n  %s: f64[64] = sin %c\n  %r: f64[64] = reverse %s \
                {axes=[0]}\n  %t: f64[64] = mul %r, %c\n  return %t\n}\n";
    let text = format!(
        "fn main(%x: f64[64]) -> f64[64] {{\n  %n: i64 = constant {{value=10000}}\n  %y: f64[64] = for %n carries(%x) \
         {{body=step}}\n  return %y\n}}\n{step}"
    );
    let program = gradient(&text);
    let mut before = u128::MAX;
    // Words of more than a megabyte cost more.
    for budget in [5_000, 20_000, 100_000, 600_000, 1 << 20, (1 << 20) + 8, 3_000_000, 5_000_000, 10_000_000] {
        let plan = plan(&program, &within(Some(budget))).unwrap();
        let Effort { splits, placed } = plan.effort;
        assert!(splits < 37_000_000 && placed < 200, "{splits} splits and {placed} instructions in {budget} bytes");
        assert!(plan.decision.work <= before, "{budget} bytes are slower than fewer\n{plan}");
        before = plan.decision.work;
    }
}
