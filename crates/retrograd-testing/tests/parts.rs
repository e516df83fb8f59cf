//! Long code becomes functions of bounded length, with the same bits and the planned peak.

use std::fmt::Write;
use std::sync::Arc;

use retrograd_compiler::ir::{Array, Program, verify};
use retrograd_compiler::opt::freeze;
use retrograd_compiler::plan::strategy::Auto;
use retrograd_compiler::{diff, eval, ops};
use retrograd_testing::native::Native;

/// `rounds` times `x = sin(x·p) + x; total = total + x`, as code of its own.
fn rounds(ty: &str, rounds: usize, mut next: usize) -> (String, usize) {
    let (mut code, mut x, mut total) = (String::new(), 0, 1);
    for _ in 0..rounds {
        let lines = [format!("mul %x{x}, %p"), format!("sin %v{next}"), format!("add %v{}, %x{x}", next + 1)];
        for (k, line) in lines.iter().take(2).enumerate() {
            writeln!(code, "  %v{}: {ty} = {line}", next + k).expect("strings take everything");
        }
        x += 1;
        writeln!(code, "  %x{x}: {ty} = {}", lines[2]).expect("strings take everything");
        writeln!(code, "  %t{}: {ty} = add %t{total}, %x{x}", total + 1).expect("strings take everything");
        total += 1;
        next += 2;
    }
    (code, x)
}

fn parse(text: &str) -> Program {
    let program = ops::parse(text, "parts.rg").unwrap_or_else(|error| panic!("{error}"));
    verify(&program).unwrap_or_else(|error| panic!("{error}"));
    program
}

/// The gradient by the first input.
fn gradient(program: &Program) -> Program {
    freeze(&diff::vjp(program, &[0], &[0]).expect("every op has a rule"))
}

/// Machine code, which gives the interpreter's bits, and the numbers of statements of its functions.
fn lengths(program: &Program, inputs: &[Array]) -> Vec<usize> {
    let native = Native::new(program, Arc::new(Auto), None).expect("it can be planned");
    native.check(inputs, &eval::run(program, inputs).expect("no fault")).unwrap();
    native.kernel().parts.iter().map(|part| part.body.len()).chain([native.kernel().body.len()]).collect()
}

#[test]
fn straight_line_code_becomes_functions_of_bounded_length() {
    let (code, x) = rounds("f64", 1500, 0);
    let text = format!(
        "fn main(%x0: f64, %p: f64, %t1: f64) -> f64 {{\n{code}  %s: f64 = add %t1501, %x{x}\n  return %s\n}}\n"
    );
    let inputs = [0.3, 0.7, 0.0, 1.0].map(Array::scalar);
    let lengths = lengths(&gradient(&parse(&text)), &inputs);
    assert!(lengths.len() > 8 && lengths.iter().all(|length| *length < 4096), "{lengths:?}");
}

#[test]
fn the_body_of_a_loop_becomes_functions_too() {
    let (code, x) = rounds("f64", 700, 0);
    let text = format!(
        "fn main(%x: f64, %p: f64, %n: i64) -> f64 {{
  %y: f64, %t: f64 = for %n carries(%x, %p) invariants(%p) {{body=step}}
  %s: f64 = add %y, %t
  return %s
}}
fn step(%i: i64, %x0: f64, %t1: f64, %p: f64) -> f64, f64 {{
{code}  return %x{x}, %t701
}}
"
    );
    let inputs = [Array::scalar(0.3), Array::scalar(0.7), Array::int(3), Array::scalar(1.0)];
    let lengths = lengths(&gradient(&parse(&text)), &inputs);
    assert!(lengths.len() > 4 && lengths.iter().all(|length| *length < 4096), "{lengths:?}");
}

#[test]
fn loops_over_arrays_have_bounded_length() {
    let (code, x) = rounds("f64[20]", 400, 0);
    let text = format!(
        "fn main(%x0: f64[20], %p: f64[20], %t1: f64[20]) -> f64[20] {{\n{code}  %s: f64[20] = add %t401, %x{x}\n  \
         return %s\n}}\n"
    );
    let array = |start: f64| Array::f64([20], (0..20).map(|k| start + f64::from(k) / 20.0).collect::<Vec<_>>());
    let program = gradient(&parse(&text));
    let native = Native::new(&program, Arc::new(Auto), None).expect("it can be planned");
    let inputs = [array(0.0), array(0.5), array(0.0), array(1.0)];
    native.check(&inputs, &eval::run(&program, &inputs).expect("no fault")).unwrap();
    assert!(!native.kernel().parts.is_empty(), "each of its loops is long");
}
