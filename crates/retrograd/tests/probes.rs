//! Probes: every value and cotangent is seen once, in order, whatever is run again; in the interpreter and in machine
//! code.

use retrograd::{
    Array, Compiled, DType, ErrorKind, Part, Sighting, Strategy, Transformed, Var, cond, eval, f64, for_loop, grad,
    jit, strategy,
};

/// Name, part, steps and elements.
type Seen = (String, Part, Vec<i64>, Vec<f64>);

fn seen(sighting: &Sighting<'_>) -> Seen {
    (sighting.name.to_owned(), sighting.part, sighting.indices.to_vec(), sighting.value.as_f64().to_vec())
}

/// What a compiled function shows; the interpreter must show the same.
fn shown(compiled: &Compiled, inputs: &[Array]) -> Vec<Seen> {
    let (mut native, mut interpreted) = (vec![], vec![]);
    let outputs = compiled.run_observed(&inputs.iter().collect::<Vec<_>>(), &mut |s| native.push(seen(s))).unwrap();
    let mut observer = eval::Probes(|s: &Sighting<'_>| interpreted.push(seen(s)));
    let expected = eval::run_observed(&compiled.program, inputs, &mut observer).unwrap();
    assert_eq!(outputs, expected);
    assert_eq!(native, interpreted);
    // Nobody has to look, and looking changes nothing.
    assert_eq!(compiled.run(&inputs.iter().collect::<Vec<_>>()).unwrap(), expected);
    native
}

fn steps(seen: &[Seen], name: &str, part: Part) -> Vec<Vec<i64>> {
    seen.iter().filter(|(n, p, _, _)| n == name && *p == part).map(|(_, _, steps, _)| steps.clone()).collect()
}

/// z ← tanh(1.2 z), 10 times, looked at in every step.
fn ten_steps(x: Var<'_>) -> Var<'_> {
    for_loop(10, x, |_, z| {
        z.probe("before");
        let y = (1.2 * z).probe("product").probe_cotangent("ct");
        y.tanh().probe("after")
    })
    .sum()
}

#[test]
fn ten_steps_are_seen_ten_times_under_every_strategy_and_budget() {
    let x = Array::f64([5], vec![0.1, 0.2, 0.3, 0.4, 0.5]);
    let up: Vec<Vec<i64>> = (0..10).map(|i| vec![i]).collect();
    let down: Vec<Vec<i64>> = (0..10).rev().map(|i| vec![i]).collect();
    let check = |f: Transformed<'_, retrograd::Gradient>| {
        let compiled = f.compile(&[&x]).unwrap();
        let found = shown(&compiled, std::slice::from_ref(&x));
        for name in ["before", "product", "after"] {
            assert_eq!(steps(&found, name, Part::Forward), up, "{name}\n{}", compiled.plan);
            assert_eq!(steps(&found, name, Part::Backward), Vec::<Vec<i64>>::new(), "{name}\n{}", compiled.plan);
        }
        assert_eq!(steps(&found, "ct", Part::Backward), down, "{}", compiled.plan);
        assert_eq!(found.len(), 40);
        // In one step, in the order in which they are written; all that is forward comes first.
        let names: Vec<&str> = found[..6].iter().map(|seen| seen.0.as_str()).collect();
        assert_eq!(names, ["before", "product", "after", "before", "product", "after"]);
        compiled.run(&[&x]).unwrap()
    };
    let expected = check(grad(|[x]| ten_steps(x)));
    for strategy in strategy::all() {
        assert_eq!(check(grad(|[x]| ten_steps(x)).strategy(Named(strategy))), expected);
    }
    assert_eq!(check(grad(|[x]| ten_steps(x)).strategy(strategy::Periodic { period: Some(3) })), expected);
    let smallest = grad(|[x]| ten_steps(x)).budget(1).compile(&[&x]).unwrap_err();
    let ErrorKind::OverBudget { needed, .. } = smallest.kind else { panic!("{smallest}") };
    for budget in [needed, needed + 100, needed + 200] {
        assert_eq!(check(grad(|[x]| ten_steps(x)).budget(budget)), expected);
    }
    // The values are those of the loop.
    let compiled = grad(|[x]| ten_steps(x)).compile(&[&x]).unwrap();
    let found = shown(&compiled, std::slice::from_ref(&x));
    let mut z = x.as_f64().to_vec();
    for step in found.iter().filter(|seen| seen.0 == "before") {
        assert!(step.3.iter().zip(&z).all(|(a, b)| (a - b).abs() < 1e-14), "{step:?}");
        z.iter_mut().for_each(|z| *z = (1.2 * *z).tanh());
    }
}

/// A strategy of the table, as one that can be passed on.
#[derive(Debug)]
struct Named(std::sync::Arc<dyn Strategy>);

impl Strategy for Named {
    fn name(&self) -> &'static str {
        self.0.name()
    }
    fn decide(
        &self,
        facts: &retrograd_compiler::plan::Facts,
        spare: Option<u64>,
    ) -> Result<retrograd_compiler::plan::Decision, retrograd::Error> {
        self.0.decide(facts, spare)
    }
}

#[test]
fn loops_inside_loops_and_branches_are_seen_once_per_step() {
    let f = grad(|[x]| {
        for_loop(3, x, |i, z| {
            let z = for_loop(2, z, |_, z| z.sin().probe("inner").probe_cotangent("inner ct"));
            cond(i.lt(1), || (z * 2.0).probe("early"), || (z * 0.5).probe("late").probe_cotangent("late ct"))
        })
        .sum()
    });
    let x = Array::f64([2], vec![0.4, 0.9]);
    for f in [f.budget("1 MB"), grad(nested)] {
        let found = shown(&f.compile(&[&x]).unwrap(), std::slice::from_ref(&x));
        let pairs: Vec<Vec<i64>> = (0..3).flat_map(|i| (0..2).map(move |j| vec![i, j])).collect();
        assert_eq!(steps(&found, "inner", Part::Forward), pairs);
        let mut back = pairs.clone();
        back.reverse();
        assert_eq!(steps(&found, "inner ct", Part::Backward), back);
        assert_eq!(steps(&found, "early", Part::Forward), [[0]]);
        assert_eq!(steps(&found, "late", Part::Forward), [[1], [2]]);
        assert_eq!(steps(&found, "late ct", Part::Backward), [[2], [1]]);
        assert_eq!(found.len(), 6 + 6 + 3 + 2);
    }
}

/// The same, as a function that the strategies below share.
fn nested([x]: [Var<'_>; 1]) -> Var<'_> {
    for_loop(3, x, |i, z| {
        let z = for_loop(2, z, |_, z| z.sin().probe("inner").probe_cotangent("inner ct"));
        cond(i.lt(1), || (z * 2.0).probe("early"), || (z * 0.5).probe("late").probe_cotangent("late ct"))
    })
    .sum()
}

#[test]
fn what_nothing_reads_is_still_seen() {
    let f = jit(|[x]| {
        (x * 3.0).probe("dead");
        x.full([], 2.0).probe("literal");
        for_loop(2, x, |_, z| (z + 1.0).probe("dead loop"));
        for_loop(1, x, |_, z| z.probe("one step"));
        (x + 1.0).probe("twice");
        (x + 1.0).probe("twice");
        x
    });
    let compiled = f.compile(&[f64([])]).unwrap();
    let found = shown(&compiled, &[Array::scalar(5.0)]);
    let found: Vec<(&str, Vec<i64>, f64)> =
        found.iter().map(|(name, _, steps, value)| (name.as_str(), steps.clone(), value[0])).collect();
    let expected = [
        ("dead", vec![], 15.0),
        ("literal", vec![], 2.0),
        ("dead loop", vec![0], 6.0),
        ("dead loop", vec![1], 7.0),
        ("one step", vec![0], 5.0),
        ("twice", vec![], 6.0),
        ("twice", vec![], 6.0),
    ];
    assert_eq!(found, expected);
}

#[test]
fn views_integers_and_truths_are_seen() {
    let f = jit(|[x]| {
        x.slice(1..).probe("window");
        x.reshape([2, 2]).transpose().probe("transposed");
        x.gt(2.0).probe("truth");
        x.convert(DType::I64).probe("integers");
        x.set(0, 9.0).sum()
    });
    let x = Array::f64([4], vec![1.0, 2.0, 3.0, 4.0]);
    let mut shown = vec![];
    let output = f.run_observed(&[&x], &mut |s| shown.push(format!("{} {}", s.name, s.value))).unwrap();
    assert_eq!(output, [Array::scalar(18.0)]);
    let expected = [
        "window f64[3] [2.0, 3.0, 4.0]",
        "transposed f64[2,2] [[1.0, 3.0], [2.0, 4.0]]",
        "truth bool[4] [false, false, true, true]",
        "integers i64[4] [1, 2, 3, 4]",
    ];
    assert_eq!(shown, expected);
}

#[test]
fn second_derivatives_show_values_once() {
    // Values are seen once, whatever is differentiated; cotangents of the second pass go by the same probes as those of
    // the first.
    let first = grad(|[x]| ten_steps(x)).trace(&[f64([2])]).unwrap();
    let gradient = retrograd::pipeline::derive(&first, retrograd::pipeline::Wanted::Vjp, &[0]).unwrap();
    let second = retrograd::pipeline::derive(&gradient, retrograd::pipeline::Wanted::Vjp, &[0]).unwrap();
    let inputs: Vec<Array> = second
        .main()
        .param_types()
        .iter()
        .map(|ty| if ty.rank() == 0 { Array::scalar(1.0) } else { Array::f64([2], vec![0.3, 0.6]) })
        .collect();
    let mut found = vec![];
    let mut observer = eval::Probes(|s: &Sighting<'_>| found.push(seen(s)));
    eval::run_observed(&second, &inputs, &mut observer).unwrap();
    assert_eq!(steps(&found, "product", Part::Forward).len(), 10);
    assert_eq!(steps(&found, "before", Part::Forward).len(), 10);
    assert_eq!(steps(&found, "before", Part::Backward).len(), 0);
    assert!(steps(&found, "ct", Part::Backward).len() >= 10);
}

#[test]
fn a_panic_of_the_observer_is_the_callers() {
    let compiled = grad(|[x]| ten_steps(x)).compile(&[f64([5])]).unwrap();
    let x = Array::f64([5], vec![0.1; 5]);
    let mut count = 0;
    let caught = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
        compiled.run_observed(&[&x], &mut |_| {
            count += 1;
            assert!(count < 3, "enough");
        })
    }));
    assert!(caught.is_err());
    assert_eq!(count, 3);
    assert!(compiled.run(&[&x]).is_ok());
}

#[test]
fn probes_print_and_parse() {
    let program = jit(|[x]| x.probe("a \"name\"")).trace(&[f64([])]).unwrap();
    let text = program.to_string();
    assert!(text.contains(r#"probe %0 {name="a \"name\""}"#), "{text}");
    assert_eq!(retrograd_compiler::ops::parse(&text, "x.rg").unwrap().to_string(), text);
}
