//! States on a disk: the same bits, the bytes that were planned in memory and on disk, the steps that were planned; and
//! whatever happens to the disk, a clear error and nothing left behind.

use std::cell::Cell;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use retrograd_compiler::eval::Sighting;
use retrograd_compiler::ir::{Array, Error, ErrorKind, Program, verify};
use retrograd_compiler::lower::lower;
use retrograd_compiler::plan::strategy::Auto;
use retrograd_compiler::plan::{Plan, Request, Spill, plan};
use retrograd_compiler::{eval, ops};
use retrograd_jit::{Backend, Cancellation, Executable};
use retrograd_testing::native::{backends, same_outputs};

/// A loop over 64 numbers and its adjoint; every execution of a step shows itself.
fn looped(steps: u64, paired: &str) -> Program {
    let text = format!(
        "fn main(%x: f64[64], %k: i64, %ct: f64[64]) -> f64[64], f64[64] {{
  %n: i64 = constant {{value={steps}}}
  {paired}
  %dx: f64[64] = unwind %n carries(%x, %k) adjoints(%ct) {{body=step, bwd=back}}
  return %end, %dx
}}
fn step(%i: i64, %c: f64[64], %k: i64) -> f64[64], i64 {{
  %seen: bool = probe %i {{name=\"step\"}}
  %s: f64[64] = sin %c
  %one: i64 = constant {{value=1}}
  %next: i64 = add %k, %one
  return %s, %next
}}
fn back(%i: i64, %c: f64[64], %k: i64, %a: f64[64]) -> f64[64] {{
  %seen: bool = probe %i {{name=\"turn\"}}
  %d: f64[64] = cos %c
  %f: f64 = convert %k {{dtype=f64}}
  %ff: f64[64] = broadcast %f {{shape=[64], axes=[]}}
  %e: f64[64] = mul %d, %ff
  %b: f64[64] = mul %e, %a
  return %b
}}
"
    );
    let program = ops::parse(&text, "loop.rg").unwrap();
    verify(&program).unwrap();
    program
}

const PAIRED: &str = "%end: f64[64], %last: i64 = for %n carries(%x, %k) {body=step}";
const ALONE: &str = "%end: f64[64] = neg %x";

fn inputs() -> Vec<Array> {
    let numbers = |shift: f64| Array::f64([64], (0..64).map(|k| (f64::from(k) + shift).sin()).collect::<Vec<_>>());
    vec![numbers(0.3), Array::int(1), numbers(0.7)]
}

fn planned(program: &Program, budget: u64, bytes: u64, bytes_per_second: u64) -> Plan {
    let spill = Some(Spill { bytes, bytes_per_second });
    plan(program, &Request { budget: Some(budget), spill, ..Request::by(Arc::new(Auto)) }).unwrap()
}

fn code(plan: &Plan, backend: &Backend, directory: &Path) -> Executable {
    Executable::new(backend, &lower(plan)).unwrap().spilling_to(directory)
}

/// A directory of this test alone, empty; or one that processes share.
fn directory(name: &str) -> PathBuf {
    if let Some(shared) = std::env::var_os("RETROGRAD_SHARED") {
        return shared.into();
    }
    let path = std::env::temp_dir().join(format!("retrograd-{name}-{}", std::process::id()));
    fs::create_dir_all(&path).unwrap();
    path
}

/// Removes a directory in which nothing may be left.
fn remove(directory: &Path) {
    if std::env::var_os("RETROGRAD_SHARED").is_some() {
        return;
    }
    assert_eq!(fs::read_dir(directory).unwrap().count(), 0, "something is left behind");
    fs::remove_dir(directory).unwrap();
}

#[test]
fn bits_bytes_and_steps_are_those_of_the_plan() {
    let directory = directory("bits");
    let mut used = 0;
    for (steps, paired, budget) in
        [(60, PAIRED, 6_000), (60, ALONE, 6_000), (300, PAIRED, 8_000), (300, ALONE, 20_000), (5000, PAIRED, 20_000)]
    {
        let program = looped(steps, paired);
        let expected = eval::run(&program, &inputs()).unwrap();
        for (bytes, speed) in [(1 << 30, u64::MAX), (1 << 30, 1_000_000_000), (5_000, u64::MAX), (700, 3_000_000_000)] {
            let plan = planned(&program, budget, bytes, speed);
            assert!(plan.bytes_peak <= budget && plan.bytes_spilled <= bytes, "{plan}");
            used += usize::from(plan.bytes_spilled > 0);
            for backend in backends() {
                let executed = Cell::new(0u128);
                let mut look = |_: &Sighting<'_>| executed.set(executed.get() + 1);
                let code = code(&plan, backend, &directory);
                let (outputs, stats) = code.run_observed(&inputs().iter().collect::<Vec<_>>(), &mut look).unwrap();
                same_outputs(&outputs, &expected).unwrap();
                assert_eq!((stats.bytes_peak, stats.bytes_spilled), (plan.bytes_peak, plan.bytes_spilled), "{plan}");
                // A recorded step shows itself twice: when it runs, and when it is reversed.
                let counts = plan.reports()[0].counts.unwrap();
                assert_eq!(executed.get(), counts.forward_steps() + counts.taped, "{plan}");
            }
        }
    }
    assert!(used > 10, "{used} plans of 20 use the disk");
    remove(&directory);
}

#[test]
fn a_disk_makes_a_small_budget_faster() {
    let program = looped(1000, PAIRED);
    let alone = plan(&program, &Request { budget: Some(8_000), ..Request::by(Arc::new(Auto)) }).unwrap();
    let spilling = planned(&program, 8_000, 1 << 30, 10_000_000_000);
    let steps = |plan: &Plan| plan.reports()[0].counts.unwrap().forward_steps();
    assert!(spilling.decision.work < alone.decision.work && steps(&spilling) < steps(&alone), "{alone}\n{spilling}");
}

#[test]
fn a_loop_too_long_for_the_disk_says_so_and_is_planned_in_memory() {
    let plan = planned(&looped(4_000_001, PAIRED), 100_000, 1 << 40, 10_000_000_000);
    assert_eq!(plan.bytes_spilled, 0);
    assert!(plan.to_string().contains("stay in memory: it has more than 4000000 steps"), "{plan}");
}

/// A plan with states on disk, its code by every back end, and a directory.
fn spilling(name: &str, check: impl Fn(&Executable, &Path)) {
    let (program, directory) = (looped(200, PAIRED), directory(name));
    let plan = planned(&program, 8_000, 1 << 30, u64::MAX);
    assert!(plan.bytes_spilled > 10_000, "{plan}");
    for backend in backends() {
        check(&code(&plan, backend, &directory), &directory);
    }
    remove(&directory);
}

fn run(code: &Executable, look: &mut dyn FnMut(&Sighting<'_>)) -> Result<(), Error> {
    code.run_observed(&inputs().iter().collect::<Vec<_>>(), look).map(drop)
}

#[test]
fn a_directory_that_is_not_there_is_an_error_before_the_run() {
    let program = looped(200, PAIRED);
    let plan = planned(&program, 8_000, 1 << 30, u64::MAX);
    let seen = Cell::new(false);
    for directory in ["/there/is/no/such/directory", "/dev/null"] {
        let code = code(&plan, &Backend::Cranelift, Path::new(directory));
        let error = run(&code, &mut |_| seen.set(true)).unwrap_err();
        assert_eq!(error.kind, ErrorKind::Disk);
        assert!(error.message.contains(directory), "{error}");
    }
    assert!(!seen.get(), "nothing runs");
}

/// Nobody makes files in `/sys`, not even those who may do everything elsewhere.
#[cfg(target_os = "linux")]
#[test]
fn a_directory_without_permission_is_an_error_before_the_run() {
    let program = looped(200, PAIRED);
    let plan = planned(&program, 8_000, 1 << 30, u64::MAX);
    let code = code(&plan, &Backend::Cranelift, Path::new("/sys"));
    let error = run(&code, &mut |_| panic!("nothing runs")).unwrap_err();
    assert_eq!(error.kind, ErrorKind::Disk);
    assert!(error.message.contains("/sys"), "{error}");
}

#[test]
fn without_a_directory_nothing_runs() {
    let program = looped(200, PAIRED);
    let lowered = lower(&planned(&program, 8_000, 1 << 30, u64::MAX));
    let code = Executable::new(&Backend::Cranelift, &lowered).unwrap();
    assert_eq!(run(&code, &mut |_| panic!("nothing runs")).unwrap_err().kind, ErrorKind::Argument);
}

/// The open file of this thread's run: its name is gone, but the system knows it.
#[cfg(target_os = "linux")]
fn open_file(directory: &Path) -> PathBuf {
    let files = fs::read_dir("/proc/self/fd").unwrap().map(|entry| entry.unwrap().path());
    let ours = |path: &PathBuf| fs::read_link(path).is_ok_and(|target| target.starts_with(directory));
    files.into_iter().find(ours).expect("a run has its file open")
}

#[cfg(target_os = "linux")]
#[test]
fn a_file_that_somebody_truncates_or_changes_is_an_error() {
    for (name, length) in [("truncated", 0), ("zeros", 1 << 20)] {
        spilling(name, |code, directory| {
            let seen = Cell::new(0);
            let error = run(code, &mut |_| {
                seen.set(seen.get() + 1);
                // In the reversal of 200 steps, with states on disk.
                if seen.get() == 201 {
                    assert_eq!(fs::read_dir(directory).unwrap().count(), 0, "the name is gone at once");
                    let file = fs::OpenOptions::new().write(true).open(open_file(directory)).unwrap();
                    file.set_len(0).unwrap();
                    file.set_len(length).unwrap();
                }
            });
            assert_eq!(error.unwrap_err().kind, ErrorKind::Disk);
        });
    }
}

#[cfg(target_os = "linux")]
#[test]
fn what_a_place_held_before_does_not_pass_for_what_was_lost() {
    let (program, directory) = (looped(200, PAIRED), directory("lost"));
    // A few states fit on this disk, so that their places are used again.
    let plan = planned(&program, 6_000, 3_000, u64::MAX);
    for backend in backends() {
        let (before, lost) = (Cell::new(None), Cell::new(false));
        let outcome = run(&code(&plan, backend, &directory), &mut |_| {
            let file = open_file(&directory);
            let now = fs::read(&file).unwrap();
            let old = before.take().filter(|old: &Vec<u8>| old.len() == now.len());
            let lose = old.as_ref().is_some_and(|old| *old != now);
            if let Some(old) = old.as_ref().filter(|_| lose) {
                fs::write(&file, old).unwrap();
            }
            lost.set(lost.get() || lose);
            before.set(old.or(Some(now)));
        });
        assert!(lost.get(), "no place is used again: {plan}");
        assert_eq!(outcome.unwrap_err().kind, ErrorKind::Disk);
    }
    remove(&directory);
}

#[test]
fn an_interrupted_run_leaves_nothing_and_the_next_is_right() {
    let expected = eval::run(&looped(200, PAIRED), &inputs()).unwrap();
    spilling("interrupted", |code, _| {
        let (inputs, stop) = (inputs(), AtomicBool::new(true));
        let inputs: Vec<&Array> = inputs.iter().collect();
        assert_eq!(code.run_with(&inputs, &Cancellation::from(&stop)).unwrap_err().kind, ErrorKind::Interrupted);
        same_outputs(&code.run(&inputs).unwrap().0, &expected).unwrap();
    });
}

#[test]
fn runs_at_the_same_time_in_one_directory_do_not_meet() {
    let expected = eval::run(&looped(200, PAIRED), &inputs()).unwrap();
    spilling("together", |code, _| {
        std::thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| {
                    same_outputs(&code.run(&inputs().iter().collect::<Vec<_>>()).unwrap().0, &expected).unwrap()
                });
            }
        });
    });
}

/// Not a test of its own: what a process does whose files may not grow.
#[test]
fn child_of_a_full_disk() {
    if std::env::var_os("RETROGRAD_FULL_DISK").is_some() {
        spilling("full", |code, _| {
            let error = run(code, &mut |_| {}).unwrap_err();
            assert_eq!(error.kind, ErrorKind::Disk);
            assert!(error.message.contains("could not be written"), "{error}");
        });
    }
}

#[cfg(target_os = "linux")]
#[test]
fn a_full_disk_is_an_error() {
    // Files of at most 4 blocks of 512 or 1024 bytes, and no signal where one would grow beyond.
    let limited = "trap '' XFSZ; ulimit -f 4; exec \"$0\" --exact spill::child_of_a_full_disk";
    let program = std::env::current_exe().unwrap();
    let output =
        Command::new("bash").args(["-c", limited]).arg(program).env("RETROGRAD_FULL_DISK", "1").output().unwrap();
    assert!(
        output.status.success(),
        "{}{}",
        String::from_utf8_lossy(&output.stdout),
        String::from_utf8_lossy(&output.stderr)
    );
}

#[cfg(target_os = "linux")]
#[test]
fn two_processes_in_one_directory_do_not_meet() {
    let (filter, shared) =
        (["--exact", "spill::runs_at_the_same_time_in_one_directory_do_not_meet"], directory("shared"));
    let start = || {
        let mut child = Command::new(std::env::current_exe().unwrap());
        child.args(filter).env("RETROGRAD_SHARED", &shared).stdout(std::process::Stdio::null()).spawn().unwrap()
    };
    for mut child in [start(), start()] {
        assert!(child.wait().unwrap().success());
    }
    remove(&shared);
}
