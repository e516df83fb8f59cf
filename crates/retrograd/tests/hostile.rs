//! Whatever a caller passes in safe Rust is run or refused with an error: nothing panics, aborts, hangs or takes memory
//! that there is not.

use std::cell::Cell;
use std::num::NonZeroUsize;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::AtomicBool;

use retrograd::pipeline::MOST_THREADS;
use retrograd::strategy::{LoopFate, Periodic, User};
use retrograd::{
    Array, Cancellation, Error, ErrorKind, Type, Var, einsum, f64, for_loop, grad, jit, map, value_and_grad,
};

/// Types that are empty, long, or more than any machine has.
fn types() -> Vec<Type> {
    let shapes: [&[usize]; 14] = [
        &[],
        &[0],
        &[0, 3],
        &[3, 0],
        &[0, usize::MAX],
        &[1],
        &[1, 1, 1, 1, 1, 1, 1, 1],
        &[1; 9],
        &[1; 33],
        &[1 << 40],
        &[1 << 59],
        &[1 << 40, 1 << 40],
        &[usize::MAX],
        &[usize::MAX, usize::MAX, 2],
    ];
    shapes.map(f64).to_vec()
}

/// Functions over any shape; some do not fit some.
/// A function of one argument.
type Function = for<'t> fn(Var<'t>) -> Var<'t>;

fn functions() -> Vec<(&'static str, Function)> {
    vec![
        ("product", |x| (x * x).sum()),
        ("loop", |x| for_loop(10, x, |_, x| x + 0.1 * (x * x).sin()).sum()),
        ("nested", |x| for_loop(4, x, |_, x| for_loop(3, x, |_, x| x.sin())).sum()),
        ("map", |x| map(x, |_, row| row * row).sum()),
        ("full", |x| (x.full(x.shape(), 2.0) * x).sum()),
        ("huge", |x| x.full([1 << 40], 1.0).sum() + x.sum()),
        ("too huge", |x| x.full([1 << 40, 1 << 40], 1.0).sum()),
        ("many axes", |x| x.full([1; 33], 1.0).sum()),
        ("arange", |x| x.arange(1 << 40).sum() + x.sum()),
        ("pad", |x| x.pad(&[usize::MAX], &[usize::MAX], 0.0).sum()),
        ("cumsum", |x| x.cumsum(0).sum()),
        ("sort", |x| x.sort(0).sum()),
        ("softmax", |x| x.logsumexp()),
    ]
}

/// Kinds that are the caller's mistake, or the machine's limit.
fn is_refusal(error: &Error) -> bool {
    matches!(
        error.kind,
        ErrorKind::Shape
            | ErrorKind::DType
            | ErrorKind::Argument
            | ErrorKind::Unsupported
            | ErrorKind::OverBudget { .. }
            | ErrorKind::OutOfMemory { .. }
    )
}

#[test]
fn hostile_shapes_are_planned_printed_or_refused() {
    let (mut planned, mut refused, mut panics) = (0, 0, vec![]);
    for ty in types() {
        for (name, f) in functions() {
            for budget in [None, Some(0), Some(4096)] {
                let outcome = catch_unwind(AssertUnwindSafe(|| {
                    let transformed = value_and_grad(|[x]| f(x));
                    let transformed = if let Some(budget) = budget { transformed.budget(budget) } else { transformed };
                    transformed.plan(std::slice::from_ref(&ty)).map(|plan| (plan.to_string(), plan.to_json()))
                }));
                let Ok(outcome) = outcome else {
                    panics.push(format!("`{name}` over {ty} within {budget:?}"));
                    continue;
                };
                match outcome {
                    Ok((words, json)) => {
                        assert!(words.starts_with("plan by") && json.starts_with('{'));
                        planned += 1;
                    }
                    Err(error) => {
                        assert!(is_refusal(&error), "`{name}` over {ty} within {budget:?}: {error}");
                        refused += 1;
                    }
                }
            }
        }
    }
    assert!(panics.is_empty(), "these panic: {panics:#?}");
    assert!(planned > 100 && refused > 100, "{planned} were planned, {refused} refused");
}

#[test]
fn what_the_machine_has_no_memory_for_is_an_error() {
    let huge = jit(|[x]| x + x.full([1 << 40], 1.0));
    let error = huge.run(&[Array::scalar(1.0)]).unwrap_err();
    assert!(matches!(error.kind, ErrorKind::OutOfMemory { .. }), "{error}");
    let program = huge.trace(&[f64([])]).unwrap();
    let error = retrograd::eval::run(&program, &[Array::scalar(1.0)]).unwrap_err();
    assert!(matches!(error.kind, ErrorKind::OutOfMemory { .. }), "{error}");
}

/// One clear error of the kind `Argument` that says this.
#[track_caller]
fn refused<T: std::fmt::Debug>(result: Result<T, Error>, words: &str) {
    let error = result.unwrap_err();
    assert!(error.kind == ErrorKind::Argument && error.message.contains(words), "{error}");
}

#[test]
fn loops_without_a_trace_are_an_error() {
    let one = [Array::scalar(1.0)];
    refused(jit(|[x]| map((), |i, ()| i).sum() + x).run(&one), "use `tabulate`");
    refused(jit(|[x]| einsum("", &[]) + x).run(&one), "einsum needs an operand");
    refused(jit(|[x]| for_loop(usize::MAX, x, |_, x| x)).run(&one), "fewer than 2^63 steps");
    refused(jit(|[x]| for_loop(0..usize::MAX, x, |_, x| x)).run(&one), "fewer than 2^63 steps");
    refused(jit(|[x]| x.tabulate(usize::MAX, |i| i * x)).run(&one), "fewer than 2^63 steps");
    // What the caller's function does itself stays a panic.
    let panic =
        catch_unwind(AssertUnwindSafe(|| jit(|[x]| if x.shape().is_empty() { panic!("mine") } else { x }).run(&one)))
            .unwrap_err();
    assert_eq!(panic.downcast_ref::<&str>(), Some(&"mine"));
}

#[test]
fn every_option_refuses_hostile_values() {
    let loss = || grad(|[x]| for_loop(100, x, |_, x| x.sin()).sum());
    let line = line!() - 1;
    let x = [Array::f64([3], vec![0.5; 3])];
    for threads in [MOST_THREADS + 1, usize::MAX] {
        refused(loss().threads(NonZeroUsize::new(threads).unwrap()).run(&x), "threads");
    }
    refused(loss().strategy(Periodic { period: Some(0) }).run(&x), "a period is at least 1");
    for (fate, words) in [
        (LoopFate::Periodic { period: 0 }, "a period is at least 1"),
        (LoopFate::Revolve { slots: 0 }, "slots is at least 1"),
    ] {
        let place = format!("hostile.rs:{line}");
        let user = User { loops: [(place, fate)].into_iter().collect(), ..User::default() };
        refused(loss().strategy(user).run(&x), words);
    }
    for budget in ["", "-1", "1e9", "NaN", "inf", "1.2.3 MB", "5 parsecs", "99999999999999999999 TB"] {
        refused(loss().budget(budget).run(&x), "the budget");
        refused(loss().spill(std::env::temp_dir(), budget).run(&x), "the budget");
    }
    refused(loss().budget(700).spill("", "1 MB").run(&x), "has no name");
    for argnums in [&[1][..], &[usize::MAX], &[0, 0]] {
        refused(loss().argnums(argnums).run(&x), "argnums names argument");
    }
    // The largest that make sense do.
    for period in [1, 99, 100, 101, u64::MAX] {
        loss().strategy(Periodic { period: Some(period) }).run(&x).unwrap();
    }
    loss().budget(u64::MAX).threads(NonZeroUsize::new(MOST_THREADS).unwrap()).run(&x).unwrap();
}

#[test]
fn a_panic_of_a_watch_goes_on_and_the_code_runs_again() {
    let long = jit(|[x]| for_loop(100_000, x, |_, x| x.sin())).compile(&[f64([])]).unwrap();
    let (x, raised, asked) = (Array::scalar(1.0), AtomicBool::new(true), Cell::new(0));
    let stops = |_| {
        asked.set(asked.get() + 1);
        panic!("enough")
    };
    let panic =
        catch_unwind(AssertUnwindSafe(|| long.run_with(&[&x], &Cancellation::asking(&raised, &stops)))).unwrap_err();
    assert_eq!((panic.downcast_ref::<&str>(), asked.get()), (Some(&"enough"), 1));
    assert_eq!(long.run(&[&x]).unwrap().len(), 1);
}

#[test]
fn a_loop_of_the_most_steps_can_be_stopped() {
    let stop = AtomicBool::new(true);
    let f = grad(|[x, n]| for_loop(n, x, |_, x| x.sin())).budget(2000).compile(&[f64([]), retrograd::i64([])]).unwrap();
    let error = f.run_with(&[&Array::scalar(0.5), &Array::int(i64::MAX)], &Cancellation::from(&stop)).unwrap_err();
    assert_eq!(error.kind, ErrorKind::Interrupted);
}

#[test]
fn every_beginning_of_a_file_is_refused() {
    let compiled = jit(|[x]| x.sin()).compile(&[retrograd::f64([3])]).unwrap();
    let path = std::env::temp_dir().join(format!("retrograd_beginnings_{}.rgx", std::process::id()));
    compiled.save(&path).unwrap();
    let whole = std::fs::read(&path).unwrap();
    for length in 0..whole.len() {
        std::fs::write(&path, &whole[..length]).unwrap();
        assert!(retrograd::Saved::load(&path).is_err(), "the first {length} bytes of {}", whole.len());
    }
    std::fs::remove_file(path).unwrap();
}
