//! What it takes to compile a nest grows with its depth, not with the power of it: by counts, not by clocks.

use std::sync::Arc;

use retrograd_compiler::ir::{Program, verify};
use retrograd_compiler::lower::lower;
use retrograd_compiler::plan::strategy::Auto;
use retrograd_compiler::plan::{Request, plan};
use retrograd_compiler::{diff, ops, opt};

/// What stands at one level of a nest.
#[derive(Clone, Copy, Debug)]
enum Level {
    /// A loop whose count is known at run time.
    Counted,
    /// A loop of six steps.
    Six,
    /// A loop of as many steps as the loop around it has taken.
    Triangle,
    /// A `while` over a counter.
    While,
    /// A branch.
    Branch,
}

/// A nest of these levels from the outside in, over a state of this type; each level computes before what is inside and
/// after.
fn nest(levels: &[Level], ty: &str) -> Program {
    let mut text = format!(
        "fn main(%x: {ty}, %t: {ty}, %n: i64) -> {ty} {{\n  %y: {ty} = mul %x, %t\n{}  return %z\n}}\n",
        opened(levels, 0, ty)
    );
    for (k, level) in levels.iter().enumerate() {
        let state = format!("%x: {ty}, %t: {ty}, %n: i64");
        text += &match level {
            Level::Counted | Level::Six | Level::Triangle => format!("fn level{k}(%i: i64, {state}) -> {ty} {{\n"),
            Level::While => format!(
                "fn cond{k}(%x: {ty}, %j: i64, %t: {ty}, %n: i64) -> bool {{\n  %p: bool = lt %j, %n\n  return \
                 %p\n}}\nfn level{k}(%x: {ty}, %j: i64, %t: {ty}, %n: i64) -> {ty}, i64 {{\n"
            ),
            Level::Branch => {
                format!(
                    "fn other{k}({state}) -> {ty} {{\n  %y: {ty} = cos %x\n  return %y\n}}\nfn level{k}({state}) -> \
                     {ty} {{\n"
                )
            }
        };
        let (inside, result) =
            if k + 1 < levels.len() { (opened(levels, k + 1, ty), "%z") } else { (String::new(), "%y") };
        text += &format!(
            "  %s: {ty} = sin %x\n  %y: {ty} = mul %s, %t\n{inside}  %r: {ty} = sin {result}\n  %e: {ty} = mul %r, \
             %x\n"
        );
        text += match level {
            Level::While => "  %one: i64 = constant {value=1}\n  %next: i64 = add %j, %one\n  return %e, %next\n}\n",
            Level::Counted | Level::Six | Level::Triangle | Level::Branch => "  return %e\n}\n",
        };
    }
    let program = ops::parse(&text, "nest.rg").unwrap_or_else(|error| panic!("{error}\n{text}"));
    verify(&program).unwrap_or_else(|error| panic!("{error}\n{text}"));
    program
}

/// The instruction of a level, over `%y`, with the result `%z`.
fn opened(levels: &[Level], k: usize, ty: &str) -> String {
    let over = |count: &str| format!("  %z: {ty} = for {count} carries(%y) invariants(%t, %n) {{body=level{k}}}\n");
    match levels[k] {
        Level::Counted => over("%n"),
        Level::Six => format!("  %six: i64 = constant {{value=6}}\n{}", over("%six")),
        Level::Triangle => over(if k == 0 { "%n" } else { "%i" }),
        Level::While => format!(
            "  %zero: i64 = constant {{value=0}}\n  %z: {ty}, %end: i64, %trips: i64 = while carries(%y, %zero) \
             invariants(%t, %n) {{cond=cond{k}, body=level{k}}}\n"
        ),
        Level::Branch => format!(
            "  %two: i64 = constant {{value=2}}\n  %p: bool = lt %n, %two\n  %z: {ty} = if %p args(%y, %t, %n) \
             {{then=level{k}, else=other{k}}}\n"
        ),
    }
}

/// What is counted: functions and instructions of the Program that is planned, instructions placed, values of the plan,
/// letters of the kernel.
fn counted(program: &Program, budget: Option<u64>) -> [u64; 5] {
    let frozen = opt::freeze(program);
    let plan = plan(&frozen, &Request { budget, ..Request::by(Arc::new(Auto)) })
        .unwrap_or_else(|error| panic!("{error}\n{frozen}"));
    let insts = frozen.functions.iter().map(|function| function.insts.len() as u64).sum();
    let letters = format!("{:?}", lower(&plan).kernel()).len() as u64;
    [frozen.functions.len() as u64, insts, plan.effort.placed, plan.placed().types.len() as u64, letters]
}

/// The gradient, and forward over reverse.
fn derived(program: &Program, order: usize) -> Program {
    let gradient = diff::vjp(&opt::unroll(program), &[0, 1], &[0]).unwrap();
    if order == 1 { gradient } else { diff::jvp(&opt::simplify(&gradient), &[0, 1], &[1, 2]).unwrap() }
}

/// From 8 to 16 levels, Programs grow twofold. Code that is placed stands there once for every loop around it that runs
/// it forwards, so that it grows fourfold at most; and a kernel names registers by longer numbers.
fn check(pattern: &[Level], ty: &str, order: usize, budget: impl Fn(usize) -> Option<u64>) {
    let [half, whole] = [8, 16].map(|depth| {
        let levels: Vec<Level> = (0..depth).map(|k| pattern[k % pattern.len()]).collect();
        counted(&derived(&nest(&levels, ty), order), budget(depth))
    });
    let limits = [(2, 2), (2, 2), (8, 1), (5, 1), (6, 1)];
    for (k, (times, more)) in limits.into_iter().enumerate() {
        assert!(
            whole[k] <= times * half[k] + 16 * more,
            "{pattern:?} of {ty}, order {order}: {half:?} at 8 levels, {whole:?} at 16"
        );
    }
}

#[test]
fn gradients_of_nests_take_no_power_of_their_depth() {
    use Level::{Branch, Counted, Six, Triangle, While};
    for ty in ["f64", "f64[10]"] {
        for pattern in [
            &[Counted][..],
            &[Six],
            &[Triangle],
            &[While],
            &[Counted, Branch],
            &[While, Branch],
            &[Counted, Six, While],
        ] {
            check(pattern, ty, 1, |_| None);
        }
    }
}

#[test]
fn nor_do_they_within_a_budget_or_at_order_two() {
    use Level::{Counted, Six, While};
    for pattern in [&[Counted][..], &[Six], &[While]] {
        check(pattern, "f64[10]", 1, |depth| Some(2000 * depth as u64));
    }
    check(&[Counted], "f64", 2, |_| None);
    check(&[While], "f64", 2, |_| None);
}
