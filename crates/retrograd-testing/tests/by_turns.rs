//! A step that writes most of an array from its neighbours has it in two places by turns: nothing is copied, and the
//! bits are those of the interpreter.

use std::sync::Arc;

use retrograd_compiler::ir::{Array, Program, verify};
use retrograd_compiler::lower::kernel::Stmt;
use retrograd_compiler::opt::{freeze, simplify};
use retrograd_compiler::plan::Strategy;
use retrograd_compiler::plan::strategy::{Auto, KeepAll, Periodic, Revolve};
use retrograd_compiler::{diff, ops};
use retrograd_testing::laws::check_plans;
use retrograd_testing::native::Native;
use retrograd_testing::traffic::bytes_per_step;

/// `u[1:-1] = u[:-2]·u[2:]`, so often; `rest` is what a step does with u besides, and its result.
fn products(n: usize, steps: usize, rest: &str) -> Program {
    let text = format!(
        "fn main(%0: f64[{n}], %1: f64[{n}]) -> f64[{n}], f64[{n}] {{
  %2: i64 = constant {{value={steps}}}
  %3: f64[{n}], %4: f64[{n}] = for %2 carries(%0, %1) {{body=step}}
  return %3, %4
}}
fn step(%0: i64, %1: f64[{n}], %2: f64[{n}]) -> f64[{n}], f64[{n}] {{
  %3: f64[{inner}] = slice %1 {{start=[0], stop=[{inner}], step=[1]}}
  %4: f64[{inner}] = slice %1 {{start=[2], stop=[{n}], step=[1]}}
  %5: f64[{inner}] = mul %3, %4
  %6: i64 = constant {{value=1}}
  %7: f64[{n}] = update %1, %5, %6 {{step=[1]}}
{rest}
}}
fn first(%0: f64[{n}], %1: f64[{n}]) -> f64[{n}] {{
  return %0
}}
fn second(%0: f64[{n}], %1: f64[{n}]) -> f64[{n}] {{
  return %1
}}
",
        inner = n - 2
    );
    let program = ops::parse(&text, "by_turns.rg").unwrap_or_else(|error| panic!("{error}\n{text}"));
    verify(&program).unwrap_or_else(|error| panic!("{error}\n{text}"));
    simplify(&program)
}

const ALONE: &str = "  return %7, %2";

/// The old value is read after the new one was made.
const READ_AFTER: &str = "  %8: f64[40] = sin %7
  %9: f64[40] = mul %8, %1
  return %7, %9";

/// Another array is made of the old value, by writing to it.
const WRITTEN_AFTER: &str = "  %8: f64[40] = sin %7
  %9: f64[1] = slice %8 {start=[3], stop=[4], step=[1]}
  %10: f64[40] = update %1, %9, %6 {step=[1]}
  %11: f64[40] = add %10, %2
  return %7, %11";

/// The new value is made of another one, which is read after that, and so is the old one.
const READ_BETWEEN: &str = "  %8: f64[1] = slice %2 {start=[3], stop=[4], step=[1]}
  %9: f64[40] = update %7, %8, %6 {step=[1]}
  %10: f64[40] = sin %9
  %11: f64[40] = reverse %10 {axes=[0]}
  %12: f64[40] = mul %7, %11
  %13: f64[40] = mul %12, %1
  return %9, %13";

/// And that one is emitted as another carry.
const CARRIED_BETWEEN: &str = "  %8: f64[1] = slice %2 {start=[3], stop=[4], step=[1]}
  %9: f64[40] = update %7, %8, %6 {step=[1]}
  return %9, %7";

/// Windows are written one after the other, each from its neighbours, and the old value is read after that.
const WRITTEN_TWICE: &str = "  %8: f64[38] = slice %7 {start=[0], stop=[38], step=[1]}
  %9: f64[38] = slice %7 {start=[2], stop=[40], step=[1]}
  %10: f64[38] = sub %8, %9
  %11: f64[40] = update %7, %10, %6 {step=[1]}
  %12: f64[40] = sin %11
  %13: f64[40] = reverse %12 {axes=[0]}
  %14: f64[40] = mul %13, %1
  return %11, %14";

/// One of two arrays is the new value.
const ONE_OF_TWO: &str = "  %8: f64[40] = sin %7
  %9: f64[40] = reverse %8 {axes=[0]}
  %10: f64[40] = mul %9, %1
  %11: f64[40] = cos %10
  %12: f64 = sum %11 {axes=[0]}
  %13: f64 = constant {value=35.0}
  %14: bool = lt %12, %13
  %15: f64[40] = if %14 args(%10, %7) {then=first, else=second}
  %16: f64[40] = mul %1, %2
  return %15, %16";

fn inputs(n: usize) -> Vec<Array> {
    [0.37, 1.3].map(|seed| Array::f64([n], (0..n).map(|k| (k as f64 * seed).sin()).collect())).to_vec()
}

#[test]
fn a_step_moves_its_window_and_nothing_else() {
    for n in [16, 128] {
        let native = Native::new(&freeze(&products(n, 9, ALONE)), Arc::new(Auto), None)
            .unwrap_or_else(|error| panic!("{error}"));
        // Two elements are read and one is written.
        assert_eq!(bytes_per_step(native.kernel()), 3 * 8 * (n as u64 - 2));
    }
}

#[test]
fn every_plan_gives_the_bits_of_the_interpreter() {
    let strategies: [Arc<dyn Strategy>; 4] =
        [Arc::new(Auto), Arc::new(KeepAll), Arc::new(Periodic { period: None }), Arc::new(Revolve)];
    for rest in [ALONE, READ_AFTER, WRITTEN_AFTER, READ_BETWEEN, CARRIED_BETWEEN, WRITTEN_TWICE, ONE_OF_TWO] {
        for steps in [0, 1, 2, 7] {
            let program = products(40, steps, rest);
            check_plans(&program, &inputs(40), &strategies).unwrap_or_else(|error| panic!("{error}\n{program}"));
            let gradient = diff::vjp(&program, &[0, 1], &[0, 1]).unwrap_or_else(|error| panic!("{error}"));
            let gradient = simplify(&gradient);
            let seeds = [inputs(40), inputs(40)].concat();
            check_plans(&gradient, &seeds, &strategies).unwrap_or_else(|error| panic!("{error}\n{gradient}"));
        }
    }
}

/// The same with branches on `first` before the window is written, and on `last` after; `second` is the new value of
/// the other carry.
fn branched(steps: usize, first: &str, last: &str, second: &str) -> Program {
    let text = format!(
        "fn main(%0: f64[40], %1: f64[40]) -> f64[40], f64[40] {{
  %2: i64 = constant {{value={steps}}}
  %3: f64[40], %4: f64[40] = for %2 carries(%0, %1) {{body=step}}
  return %3, %4
}}
fn step(%k: i64, %old: f64[40], %w: f64[40]) -> f64[40], f64[40] {{
  %three: i64 = constant {{value=3}}
  %rest: i64 = rem %k, %three
  %one: i64 = constant {{value=1}}
  %third: bool = eq %rest, %one
  %sum: f64 = sum %old {{axes=[0]}}
  %some: f64 = constant {{value=0.2}}
  %large: bool = gt %sum, %some
  %never: bool = lt %k, %rest
  %seen: f64[40] = if %large args(%w, %old) {{then=kept_second, else=changed_second}}
  %base: f64[40] = if {first} args(%old, %w) {{then=changed, else=kept}}
  %3: f64[38] = slice %base {{start=[0], stop=[38], step=[1]}}
  %4: f64[38] = slice %base {{start=[2], stop=[40], step=[1]}}
  %5: f64[38] = mul %3, %4
  %made: f64[40] = update %base, %5, %one {{step=[1]}}
  %next: f64[40] = if {last} args(%w, %made) {{then=kept_second, else=changed_second}}
  %7: f64[40] = mul %w, %{second}
  return %next, %7
}}
fn changed(%x: f64[40], %w: f64[40]) -> f64[40] {{
  %0: f64[40] = mul %x, %w
  %1: f64[40] = sin %0
  %2: f64[40] = reverse %1 {{axes=[0]}}
  %3: f64[40] = add %x, %2
  return %3
}}
fn kept(%x: f64[40], %w: f64[40]) -> f64[40] {{
  return %x
}}
fn kept_second(%w: f64[40], %x: f64[40]) -> f64[40] {{
  return %x
}}
fn changed_second(%w: f64[40], %x: f64[40]) -> f64[40] {{
  %0: f64[40] = cos %x
  %1: f64[40] = mul %0, %w
  return %1
}}
"
    );
    let program = ops::parse(&text, "by_turns.rg").unwrap_or_else(|error| panic!("{error}\n{text}"));
    verify(&program).unwrap_or_else(|error| panic!("{error}\n{text}"));
    simplify(&program)
}

#[test]
fn branches_before_and_after_a_window_change_nothing_of_the_bits() {
    let strategies: [Arc<dyn Strategy>; 3] = [Arc::new(Auto), Arc::new(KeepAll), Arc::new(Revolve)];
    for [first, last] in [["%third", "%large"], ["%large", "%third"], ["%never", "%third"], ["%third", "%third"]] {
        for second in ["w", "old", "seen", "base", "made", "next"] {
            let program = branched(8, first, last, second);
            check_plans(&program, &inputs(40), &strategies).unwrap_or_else(|error| panic!("{error}\n{program}"));
            let gradient = simplify(&diff::vjp(&program, &[0, 1], &[0, 1]).unwrap_or_else(|error| panic!("{error}")));
            let seeds = [inputs(40), inputs(40)].concat();
            check_plans(&gradient, &seeds, &strategies).unwrap_or_else(|error| panic!("{error}\n{gradient}"));
        }
    }
}

/// A branch gives another array besides, which is made last, of what it changes.
#[test]
fn what_a_branch_gives_besides_a_carry_is_not_overwritten_by_it() {
    let text = "fn main(%0: f64[40], %1: f64[40]) -> f64[40], f64[40] {
  %2: i64 = constant {value=8}
  %3: f64[40], %4: f64[40] = for %2 carries(%0, %1) {body=step}
  return %3, %4
}
fn step(%k: i64, %old: f64[40], %w: f64[40]) -> f64[40], f64[40] {
  %three: i64 = constant {value=3}
  %rest: i64 = rem %k, %three
  %one: i64 = constant {value=1}
  %third: bool = eq %rest, %one
  %base: f64[40], %more: f64[40] = if %third args(%old, %w) {then=changed, else=kept}
  %3: f64[38] = slice %base {start=[0], stop=[38], step=[1]}
  %4: f64[38] = slice %base {start=[2], stop=[40], step=[1]}
  %5: f64[38] = mul %3, %4
  %made: f64[40] = update %base, %5, %one {step=[1]}
  %7: f64[40] = mul %w, %more
  return %made, %7
}
fn changed(%x: f64[40], %w: f64[40]) -> f64[40], f64[40] {
  %0: f64[40] = mul %x, %w
  %1: f64[40] = cumsum %0 {axis=[0]}
  %2: f64[40] = cumsum %1 {axis=[0]}
  %3: f64[1] = slice %2 {start=[39], stop=[40], step=[1]}
  %4: f64 = reshape %3 {shape=[]}
  %5: f64[40] = broadcast %4 {shape=[40], axes=[]}
  %6: f64[40] = mul %x, %5
  return %1, %6
}
fn kept(%x: f64[40], %w: f64[40]) -> f64[40], f64[40] {
  %0: f64[40] = sin %w
  return %x, %0
}
";
    let program = ops::parse(text, "by_turns.rg").unwrap_or_else(|error| panic!("{error}\n{text}"));
    verify(&program).unwrap_or_else(|error| panic!("{error}\n{text}"));
    let strategies: [Arc<dyn Strategy>; 2] = [Arc::new(Auto), Arc::new(KeepAll)];
    check_plans(&simplify(&program), &inputs(40), &strategies).unwrap_or_else(|error| panic!("{error}\n{program}"));
}

/// A branch that changes the whole array leaves it in both places; one that does not costs nothing.
#[test]
fn a_step_copies_nothing_where_its_branch_is_not_taken() {
    let copies = |first: &str, second: &str| {
        let native = Native::new(&freeze(&branched(9, first, "%third", second)), Arc::new(Auto), None).unwrap();
        copies_in_steps(&native.kernel().body)
    };
    assert_eq!(copies("%third", "w"), 0);
    // What is read after it was changed has to be kept apart.
    assert!(copies("%third", "old") > 0);
}

/// Copies of arrays in steps of loops, outside of branches that change something.
fn copies_in_steps(body: &[Stmt]) -> usize {
    let outside = |stmt: &&Stmt| matches!(stmt, Stmt::Copy { bytes: 320, .. });
    let steps = |stmt: &Stmt| if let Stmt::For { body, .. } = stmt { body.iter().filter(outside).count() } else { 0 };
    body.iter().map(steps).sum()
}
