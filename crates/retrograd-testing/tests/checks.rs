//! Checks: the first that fails, in the order of the Program, ends the run, whatever the plan, the back end and the
//! number of threads.

use std::sync::Arc;

use retrograd_compiler::ir::{Array, Data, Error, ErrorKind, Program, verify};
use retrograd_compiler::lower::kernel::{Kernel, Stmt};
use retrograd_compiler::lower::{Lowered, lower};
use retrograd_compiler::opt::{freeze, simplify};
use retrograd_compiler::plan::strategy::Auto;
use retrograd_compiler::plan::{Request, plan};
use retrograd_compiler::{diff, eval, ops};
use retrograd_jit::Executable;
use retrograd_testing::laws::{check_plans, strategies};
use retrograd_testing::native::{Native, backends};

fn program(text: &str) -> Program {
    let program = ops::parse(text, "checks.rg").unwrap_or_else(|error| panic!("{error}\n{text}"));
    verify(&program).unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(ops::parse(&program.to_string(), "again.rg").unwrap().to_string(), program.to_string());
    program
}

/// The error of a run, the same by the interpreter, before and after `opt`, and by every back end.
fn failure(program: &Program, inputs: &[Array]) -> Option<Error> {
    let expected = eval::run(program, inputs);
    for program in [program.clone(), simplify(program), freeze(&simplify(program))] {
        let native = Native::new(&program, Arc::new(Auto), None).unwrap();
        match &expected {
            Ok(outputs) => native.check(inputs, outputs).unwrap(),
            Err(error) => native.check_fault(inputs, error).unwrap(),
        }
        assert_eq!(eval::run(&program, inputs).err(), expected.as_ref().err().cloned());
    }
    expected.err()
}

/// The line and the message of the error.
fn told(program: &Program, inputs: &[Array]) -> Option<(u32, String)> {
    failure(program, inputs).map(|error| (error.pos.line(), error.message))
}

/// How often the text of a Program says something.
fn times(program: &Program, words: &str) -> usize {
    program.to_string().matches(words).count()
}

fn some(line: u32, message: &str) -> Option<(u32, String)> {
    Some((line, message.to_owned()))
}

#[test]
fn a_check_says_its_line_its_message_and_its_tag() {
    let program = program(
        r#"fn main(%x: f64[3]) -> f64[3] {
  %c: f64 = constant {value=2.0}
  %b: f64[3] = broadcast %c {shape=[3], axes=[]}
  %p: bool[3] = lt %x, %b
  %k: bool = check %p {message="an \"x\" is too large", tag="ValueError"}
  %y: f64[3] = mul %x, %x
  return %y
}
"#,
    );
    assert_eq!(failure(&program, &[Array::f64([3], vec![1.0, -1.0, 0.5])]), None);
    let error = failure(&program, &[Array::f64([3], vec![1.0, 2.0, 0.5])]).unwrap();
    assert_eq!(error.kind, ErrorKind::Check { tag: "ValueError".into() });
    assert_eq!(error.to_string(), "checks.rg:5: check failed: an \"x\" is too large");
}

#[test]
fn a_condition_is_of_truths() {
    let text = "fn main(%x: f64) -> f64 {\n  %k: bool = check %x {message=\"m\", tag=\"\"}\n  return %x\n}\n";
    let error = ops::parse(text, "checks.rg").and_then(|program| verify(&program).map(|_| ())).unwrap_err();
    assert_eq!(error.kind, ErrorKind::DType);
    assert!(error.to_string().starts_with("checks.rg:2: "), "{error}");
}

/// A loop that never ends, around one that does, around a check.
const ENDLESS: &str = r#"fn main(%x: f64, %n: i64) -> f64 {
  %y: f64, %t: i64 = while carries(%x) invariants(%n) {cond=always, body=outer}
  return %y
}
fn always(%x: f64, %n: i64) -> bool {
  %z: bool = constant {value=true}
  return %z
}
fn outer(%x: f64, %n: i64) -> f64 {
  %y: f64 = for %n carries(%x) {body=inner}
  return %y
}
fn inner(%i: i64, %x: f64) -> f64 {
  %h: f64 = constant {value=100.0}
  %p: bool = lt %x, %h
  %k: bool = check %p {message="x leaves its range", tag=""}
  %c: f64 = constant {value=1.5}
  %y: f64 = mul %x, %c
  return %y
}
"#;

#[test]
fn a_failed_check_leaves_every_loop_at_once() {
    assert_eq!(told(&program(ENDLESS), &[Array::scalar(1.0), Array::int(3)]), some(16, "x leaves its range"));
}

#[test]
fn other_faults_leave_a_loop_that_would_never_end_too() {
    let program = program(
        "fn main(%x: f64[4], %n: i64) -> i64 {\n  %y: i64, %t: i64 = while carries(%n) invariants(%x) {cond=always, \
         body=step}\n  return %y\n}\nfn always(%i: i64, %x: f64[4]) -> bool {\n  %h: f64[1] = dynamic_slice %x, %i \
         {sizes=[1], step=[1]}\n  %g: f64 = reshape %h {shape=[]}\n  %c: f64 = constant {value=-1.0}\n  %p: bool = gt \
         %g, %c\n  return %p\n}\nfn step(%i: i64, %x: f64[4]) -> i64 {\n  %c: i64 = constant {value=1}\n  %j: i64 = \
         add %i, %c\n  return %j\n}\n",
    );
    let error = failure(&program, &[Array::f64([4], vec![0.0; 4]), Array::int(0)]).unwrap();
    assert_eq!((error.kind, error.pos.line()), (ErrorKind::Bounds, 6));
}

#[test]
fn what_does_not_run_does_not_check() {
    let program = program(
        r#"fn main(%x: f64, %p: bool, %n: i64) -> f64 {
  %y: f64 = if %p args(%x) {then=checked, else=free}
  %z: f64 = for %n carries(%y) invariants(%x) {body=step}
  return %z
}
fn checked(%x: f64) -> f64 {
  %c: f64 = constant {value=0.0}
  %q: bool = gt %x, %c
  %k: bool = check %q {message="of a branch", tag=""}
  %y: f64 = sqrt %x
  return %y
}
fn free(%x: f64) -> f64 {
  %y: f64 = neg %x
  return %y
}
fn step(%i: i64, %y: f64, %x: f64) -> f64 {
  %c: f64 = constant {value=-10.0}
  %q: bool = gt %x, %c
  %k: bool = check %q {message="of a loop", tag=""}
  %z: f64 = add %y, %x
  return %z
}
"#,
    );
    let at = |x: f64, p: bool, n: i64| told(&program, &[Array::scalar(x), Array::bool(p), Array::int(n)]);
    assert_eq!(at(1.0, true, 2), None);
    assert_eq!(at(-1.0, true, 2), some(9, "of a branch"));
    assert_eq!(at(-1.0, false, 2), None);
    // The condition does not change in the loop; a loop of no steps must not check it.
    assert_eq!(at(-11.0, false, 0), None);
    assert_eq!(at(-11.0, false, 1), some(20, "of a loop"));
    assert_eq!(at(-11.0, true, 1), some(9, "of a branch"));
}

#[test]
fn the_condition_of_a_loop_that_never_runs_checks_once() {
    let program = program(
        r#"fn main(%x: f64) -> f64 {
  %y: f64, %n: i64 = while carries(%x) {cond=never, body=step}
  return %y
}
fn never(%x: f64) -> bool {
  %c: f64 = constant {value=0.0}
  %q: bool = gt %x, %c
  %k: bool = check %q {message="of a condition", tag=""}
  %p: bool = constant {value=false}
  return %p
}
fn step(%x: f64) -> f64 {
  %y: f64 = sin %x
  return %y
}
"#,
    );
    assert_eq!(told(&program, &[Array::scalar(1.0)]), None);
    assert_eq!(told(&program, &[Array::scalar(-1.0)]), some(8, "of a condition"));
}

#[test]
fn equal_checks_keep_their_lines() {
    let program = program(
        r#"fn main(%x: f64, %n: i64) -> f64 {
  %y: f64 = for %n carries(%x) {body=first}
  %z: f64 = for %n carries(%y) {body=second}
  return %z
}
fn first(%i: i64, %x: f64) -> f64 {
  %c: f64 = constant {value=10.0}
  %q: bool = lt %x, %c
  %k: bool = check %q {message="too large", tag=""}
  %z: f64 = add %x, %x
  return %z
}
fn second(%i: i64, %x: f64) -> f64 {
  %c: f64 = constant {value=10.0}
  %q: bool = lt %x, %c
  %k: bool = check %q {message="too large", tag=""}
  %z: f64 = add %x, %x
  return %z
}
"#,
    );
    let at = |x: f64| told(&program, &[Array::scalar(x), Array::int(3)]);
    assert_eq!((at(0.1), at(1.0), at(3.0)), (None, some(16, "too large"), some(9, "too large")));
}

/// A nonlinear loop whose step checks the state after a while, and one state before it.
const LOOP: &str = r#"fn main(%x: f64[40]) -> f64 {
  %n: i64 = constant {value=30}
  %y: f64[40] = for %n carries(%x) {body=step}
  %s: f64 = sum %y {axes=[0]}
  return %s
}
fn step(%i: i64, %x: f64[40]) -> f64[40] {
  %y: f64[40] = sin %x
  %z: f64[40] = mul %y, %x
  %c: f64 = constant {value=0.9}
  %b: f64[40] = broadcast %c {shape=[40], axes=[]}
  %p: bool[40] = lt %z, %b
  %k: bool = check %p {message="a product is too large", tag=""}
  %w: f64[40] = add %z, %x
  %d: f64 = constant {value=0.6}
  %e: f64[40] = broadcast %d {shape=[40], axes=[]}
  %v: f64[40] = mul %w, %e
  return %v
}
"#;

fn ramp(count: usize, most: f64) -> Array {
    Array::f64([count], (0..count).map(|k| most * (k + 1) as f64 / count as f64).collect())
}

#[test]
fn a_gradient_checks_once_also_where_only_the_gradient_is_asked_for() {
    let program = program(LOOP);
    let mut gradient = diff::vjp(&program, &[0], &[0]).unwrap();
    let entry = usize::from(gradient.entry);
    gradient.functions[entry].results.remove(0);
    let gradient = simplify(&gradient);
    verify(&gradient).unwrap();
    assert_eq!(times(&gradient, "= check "), 1, "what is run again does not check:\n{gradient}");
    let second = simplify(&diff::vjp(&simplify(&diff::jvp(&gradient, &[0], &[0]).unwrap()), &[0], &[1]).unwrap());
    assert_eq!(times(&second, "= check "), 1, "{second}");
    for most in [0.5, 1.05, 2.0] {
        let inputs = [ramp(40, most), Array::scalar(1.0)];
        let expected = told(&program, &inputs[..1]);
        assert_eq!(expected.is_some(), most > 1.0, "{most}");
        assert_eq!(eval::run(&gradient, &inputs).err().map(|error| (error.pos.line(), error.message)), expected);
        check_plans(&gradient, &inputs, &strategies()).unwrap();
    }
}

fn kernel(program: &Program, threads: usize) -> Lowered {
    lower(&plan(program, &Request { threads, ..Request::by(Arc::new(Auto)) }).unwrap())
}

/// Statements of a kernel, those inside others included.
fn count(kernel: &Kernel, of: &impl Fn(&Stmt) -> bool) -> usize {
    fn within(body: &[Stmt], of: &impl Fn(&Stmt) -> bool) -> usize {
        let inside = |stmt: &Stmt| {
            if let Stmt::For { body, .. } | Stmt::ForVec { body, .. } | Stmt::Loop { body } = stmt {
                return within(body, of);
            }
            if let Stmt::If { then_body, else_body, .. } = stmt {
                return within(then_body, of) + within(else_body, of);
            }
            0
        };
        body.iter().map(|stmt| usize::from(of(stmt)) + inside(stmt)).sum()
    }
    within(&kernel.body, of) + kernel.parts.iter().map(|part| within(&part.body, of)).sum::<usize>()
}

/// Every back end on every number of threads ends with this error.
fn fails_everywhere(program: &Program, inputs: &[Array]) {
    let expected = eval::run(program, inputs).expect_err("a check fails");
    for planned in [1, 3] {
        let lowered = kernel(program, planned);
        for backend in backends() {
            for threads in [1, 2, 4] {
                let executable = Executable::new(backend, &lowered).unwrap();
                let error = executable
                    .with_threads(threads)
                    .run(&inputs.iter().collect::<Vec<_>>())
                    .expect_err("a check fails");
                assert_eq!(error, expected, "on {threads} threads");
            }
        }
    }
}

#[test]
fn a_checked_nest_keeps_vectors_and_threads() {
    let program = freeze(&simplify(&program(
        r#"fn main(%x: f64[400000], %h: f64) -> f64[400000] {
  %y: f64[400000] = sin %x
  %b: f64[400000] = broadcast %h {shape=[400000], axes=[]}
  %p: bool[400000] = lt %y, %b
  %a: bool = all %p {axes=[0]}
  %k: bool = check %a {message="too large", tag=""}
  %z: f64[400000] = mul %y, %x
  return %z
}
"#,
    )));
    let lowered = kernel(&program, 2);
    let kernel = lowered.kernel();
    assert_eq!(count(kernel, &|stmt| matches!(stmt, Stmt::ParallelFor { .. })), 1, "threads share it");
    assert!(count(kernel, &|stmt| matches!(stmt, Stmt::ForVec { folds, .. } if !folds.is_empty())) > 0, "in vectors");
    let x = ramp(400_000, 1.0);
    Native::new(&program, Arc::new(Auto), None)
        .unwrap()
        .check(&[x.clone(), Array::scalar(2.0)], &eval::run(&program, &[x.clone(), Array::scalar(2.0)]).unwrap())
        .unwrap();
    fails_everywhere(&program, &[x, Array::scalar(0.5)]);
}

#[test]
fn of_checks_in_a_map_the_lowest_step_counts() {
    let program = freeze(&simplify(&program(
        r#"fn main(%x: f64[2000,100], %d: i64[2000]) -> f64[2000] {
  %n: i64 = constant {value=2000}
  %s: f64[2000] = for %n streams(%x, %d) {body=row, bound=2000}
  return %s
}
fn row(%i: i64, %x: f64[100], %d: i64) -> f64 {
  %one: i64 = constant {value=1}
  %p: bool = ne %d, %one
  %j: bool = check %p {message="a one", tag=""}
  %y: f64[100] = sin %x
  %s: f64 = sum %y {axes=[0]}
  %two: i64 = constant {value=2}
  %q: bool = ne %d, %two
  %k: bool = check %q {message="a two", tag=""}
  return %s
}
"#,
    )));
    assert_eq!(
        count(kernel(&program, 3).kernel(), &|stmt| matches!(stmt, Stmt::ParallelFor { .. })),
        1,
        "threads share it"
    );
    let x = Array::f64([2000, 100], (0..200_000).map(|k| k as f64 * 1e-5).collect());
    for (first, second) in [(1, 2), (2, 1)] {
        let row = |k: usize| {
            if k == 900 {
                first
            } else if k == 1100 || k == 1999 {
                second
            } else {
                0
            }
        };
        fails_everywhere(&program, &[x.clone(), Array::new([2000], Data::I64((0..2000).map(row).collect()))]);
    }
}

#[test]
fn steps_in_lanes_with_checks_stay_in_lanes() {
    let text = r#"fn main(%x: f64[5000], %h: f64) -> f64[5000] {
  %n: i64 = constant {value=5000}
  %s: f64[5000] = for %n invariants(%h) streams(%x) {body=one, bound=5000}
  return %s
}
fn one(%i: i64, %h: f64, %x: f64) -> f64 {
  %a: f64 = mul %x, %x
  %p: bool = lt %a, %h
  %j: bool = check %p {message="a square is too large", tag=""}
  %b: f64 = sin %a
  %c: f64 = mul %b, %x
  %d: f64 = add %c, %a
  %e: f64 = mul %d, %b
  %f: f64 = sub %e, %x
  %g: f64 = mul %f, %d
  %q: bool = lt %i, %i
  %r: bool = lt %g, %h
  %o: bool = or %q, %r
  %k: bool = check %o {message="a result is too large", tag=""}
  %l: f64 = add %g, %c
  %m: f64 = mul %l, %l
  return %m
}
"#;
    let program = freeze(&simplify(&program(text)));
    let lowered = kernel(&program, 1);
    let kernel = lowered.kernel();
    assert!(count(kernel, &|stmt| matches!(stmt, Stmt::ForVec { .. })) > 0, "{kernel:?}");
    let x = ramp(5000, 1.0);
    for h in [0.2, 0.5, 5.0] {
        let inputs = [x.clone(), Array::scalar(h)];
        failure(&program, &inputs);
        if h < 1.0 {
            fails_everywhere(&program, &inputs);
        }
    }
}

#[test]
fn tiles_of_other_code_leave_checks_in_their_order() {
    // The first check needs what tiles make, the second does not.
    let program = program(
        r#"fn main(%x: f64[300000], %y: f64[300000], %h: f64) -> f64 {
  %a: f64[300000] = sin %x
  %b: f64[300000] = mul %a, %y
  %c: f64[300000] = exp %b
  %s: f64 = sum %c {axes=[0]}
  %z: f64 = constant {value=0.0}
  %p: bool = lt %s, %z
  %j: bool = check %p {message="first", tag=""}
  %q: bool = lt %h, %z
  %k: bool = check %q {message="second", tag=""}
  %d: f64[300000] = cos %c
  %t: f64 = sum %d {axes=[0]}
  return %t
}
"#,
    );
    assert_eq!(told(&program, &[ramp(300_000, 1.0), ramp(300_000, 2.0), Array::scalar(1.0)]), some(8, "first"));
}
