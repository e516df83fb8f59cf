//! How far runs say that they are.

use std::cell::RefCell;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, Ordering};

use retrograd::{
    Array, Backend, Cancellation, Compiled, Progress, Strategy, compile, f64, for_loop, grad, strategy, value_and_grad,
    while_loop,
};

/// All that a run says, at every poll.
fn told(compiled: &Compiled, inputs: &[&Array]) -> Vec<Progress> {
    let (raised, told) = (AtomicBool::new(true), RefCell::new(vec![]));
    let stops = |progress: Option<Progress>| {
        raised.store(true, Ordering::Relaxed);
        told.borrow_mut().extend(progress);
        false
    };
    let watched = compiled.run_with(inputs, &Cancellation::asking(&raised, &stops)).unwrap();
    assert_eq!(watched, compiled.run(inputs).unwrap(), "who looks changes nothing");
    told.into_inner()
}

fn never_goes_back(told: &[Progress]) {
    let fractions: Vec<f64> = told.iter().map(Progress::fraction).collect();
    assert!(fractions.is_sorted(), "{told:?}");
    assert!(fractions.iter().all(|fraction| (0.0..=1.0).contains(fraction)), "{fractions:?}");
}

#[test]
fn a_gradient_goes_forwards_and_back_once_whatever_is_run_again() {
    for backend in [Backend::Cranelift, Backend::Auto] {
        goes_there_and_back(strategy::KeepAll, None, &backend);
        goes_there_and_back(strategy::RecomputeAll, None, &backend);
        goes_there_and_back(strategy::Revolve, Some(4096), &backend);
        goes_there_and_back(strategy::Periodic { period: Some(7) }, None, &backend);
    }
}

fn goes_there_and_back(strategy: impl Strategy + 'static, budget: Option<u64>, backend: &Backend) {
    let name = strategy.name();
    let f = value_and_grad(|[x]| for_loop(60, x, |_, z| (z * z.sum()).sin()).sum())
        .strategy(strategy)
        .backend(backend.clone());
    let f = if let Some(budget) = budget { f.budget(budget) } else { f };
    let x = Array::f64([50], (0..50).map(|k| 0.01 * f64::from(k)).collect());
    let told = told(&f.compile(&[f64([50])]).unwrap(), &[&x]);
    never_goes_back(&told);
    assert!(told.iter().all(|progress| progress.steps == Some(60)), "{name}: {told:?}");
    let last = told.last().unwrap();
    assert_eq!((last.part + 1, last.step), (last.parts, 60), "{name}: {told:?}");
}

#[test]
fn short_steps_are_told_of_in_chunks() {
    let told = told(&compile(|[x]| for_loop(10_000, x, |_, x| x * 0.999), &[f64([])]).unwrap(), &[&Array::scalar(1.0)]);
    never_goes_back(&told);
    assert!(told.len() >= 9 && told.len() < 100, "{told:?}");
    assert_eq!((told[0].step, told[0].steps), (0, Some(10_000)));
}

#[test]
fn the_outermost_loop_is_told_of_from_inside_too() {
    let nested = compile(|[x]| for_loop(5, x, |_, x| for_loop(3000, x, |_, x| x.sin())), &[f64([])]).unwrap();
    let told = told(&nested, &[&Array::scalar(1.0)]);
    never_goes_back(&told);
    assert!(told.iter().all(|progress| progress.steps == Some(5) && progress.parts == 1), "{told:?}");
    assert!(told.len() > 10, "{told:?}");
}

#[test]
fn a_while_counts_its_steps_without_knowing_how_many_there_are() {
    let halving = compile(|[x]| while_loop(x, |x| x.gt(1.0), |x| x * 0.5), &[f64([])]).unwrap();
    let told = told(&halving, &[&Array::scalar(1024.0)]);
    let steps: Vec<u64> = told.iter().map(|progress| progress.step).collect();
    assert_eq!(steps, (0..=10).collect::<Vec<_>>());
    assert!(told.iter().all(|progress| progress.steps.is_none()));
}

#[test]
fn a_long_run_reports_some_times_a_second_and_a_panic_of_the_reporter_comes_through() {
    let f = grad(|[x]| for_loop(3_000_000, x, |_, z| (z * 1.1).tanh().sin()).sum()).compile(&[f64([])]).unwrap();
    // The first run touches its memory for the first time, and says nothing meanwhile.
    f.run(&[&Array::scalar(0.3)]).unwrap();
    let mut reports = vec![];
    let begin = std::time::Instant::now();
    f.run_reporting(&[&Array::scalar(0.3)], &mut |progress| reports.push(*progress)).unwrap();
    let seconds = begin.elapsed().as_secs_f64();
    never_goes_back(&reports);
    assert!(reports.len() as f64 <= seconds * 10.0 + 1.0, "{} reports in {seconds} s", reports.len());
    assert!(seconds < 0.5 || !reports.is_empty(), "a run of {seconds} s reports");
    if seconds > 0.5 {
        let panic =
            catch_unwind(AssertUnwindSafe(|| f.run_reporting(&[&Array::scalar(0.3)], &mut |_| panic!("enough"))));
        assert_eq!(*panic.unwrap_err().downcast::<&str>().unwrap(), "enough");
    }
}
