//! Facts about prices.

use super::Vectors;
use super::prices::WAITED_FOR;
use crate::ops;

fn work(text: &str, vectors: Vectors) -> u64 {
    let program = ops::parse(text, "prices.rg").expect("this is a Program");
    vectors.priced(&program, program.main()).cost()
}

/// A loop of elements over `step`, which makes of %a, an array of 64, the next.
fn elements(step: &str) -> String {
    format!(
        "fn main(%x: f64[64]) -> f64[64] {{\n  %n: i64 = constant {{value=64}}\n  %y: f64[64] = for %n carries(%x) invariants(%x) {{body=step}}\n  return %y\n}}\n\
         fn step(%i: i64, %a: f64[64], %x: f64[64]) -> f64[64] {{\n{step}}}\n"
    )
}

#[test]
fn steps_that_read_what_they_write_are_not_in_lanes() {
    let step = |from: &str| {
        let read = format!("  %w: f64[1] = dynamic_slice {from}, %i {{sizes=[1], step=[1]}}\n  %b: f64[1] = mul %w, %w\n");
        elements(&(read + "  %r: f64[64] = add_at %a, %b, %i {step=[1]}\n  return %r\n"))
    };
    assert!(work(&step("%x"), Vectors::Wide) < work(&step("%a"), Vectors::Wide), "other steps are not waited for");
}

/// A loop over numbers whose step is `code`, which makes %y of %c.
fn numbers(code: &str) -> String {
    format!(
        "fn main(%x: f64) -> f64 {{\n  %n: i64 = constant {{value=100}}\n  %y: f64 = for %n carries(%x) invariants(%x) {{body=step}}\n  return %y\n}}\n\
         fn step(%i: i64, %c: f64, %x: f64) -> f64 {{\n{code}  return %y\n}}\n"
    )
}

#[test]
fn a_step_takes_as_long_as_the_next_one_waits_for_its_numbers() {
    let chained = numbers("  %a: f64 = mul %c, %x\n  %b: f64 = mul %a, %x\n  %y: f64 = mul %b, %x\n");
    let beside = numbers("  %a: f64 = mul %x, %x\n  %b: f64 = mul %a, %x\n  %y: f64 = mul %b, %c\n");
    let [chained, beside] = [chained, beside].map(|text| work(&text, Vectors::Narrow));
    assert_eq!((chained, beside), (100 * 3 * WAITED_FOR.arithmetic, 100 * WAITED_FOR.arithmetic));
}

#[test]
fn a_number_near_one_that_is_written_is_waited_for() {
    let step = |from: &str| {
        let index = format!("  %k: i64 = constant {{value=1}}\n  %j: i64 = {from}\n");
        let read = "  %w: f64[1] = dynamic_slice %a, %j {sizes=[1], step=[1]}\n  %b: f64[1] = mul %w, %w\n";
        elements(&(index + read + "  %r: f64[64] = update %a, %b, %i {step=[1]}\n  return %r\n"))
    };
    let [before, same] = ["sub %i, %k", "mul %i, %k"].map(|from| work(&step(from), Vectors::Narrow));
    assert!(before > 3 * same, "{before} from the element before, {same} from elsewhere");
}

#[test]
fn around_functions_that_are_called_vectors_are_narrow() {
    let code =
        |line: &str| format!("fn main(%x: f64[64]) -> f64[64] {{\n  %a: f64[64] = mul %x, %x\n  %y: f64[64] = {line}\n  return %y\n}}\n");
    let [sum, in_line, called] =
        ["add %a, %x", "exp %a", "sin %a"].map(|line| [Vectors::Narrow, Vectors::Mixed].map(|vectors| work(&code(line), vectors)));
    assert!(sum[1] < sum[0] && in_line[1] < in_line[0] && called[1] == called[0], "{sum:?}, {in_line:?}, {called:?}");
}

#[test]
fn numbers_at_indices_cost_more_than_additions() {
    let code = |line: &str| {
        format!("fn main(%x: f64[64,3], %y: f64[64,3], %i: i64[64]) -> f64[64,3] {{\n  %r: f64[64,3] = {line}\n  return %r\n}}\n")
    };
    for vectors in [Vectors::Narrow, Vectors::Mixed, Vectors::Wide] {
        let [picked, added] = ["gather %x, %i {axis=[0]}", "add %x, %y"].map(|line| work(&code(line), vectors));
        assert!(picked > 5 * added, "{picked} for rows at indices, {added} for a sum");
    }
}

#[test]
fn a_function_of_few_elements_costs_as_much_as_one_of_a_block() {
    let code = |n: usize| format!("fn main(%x: f64[{n}]) -> f64[{n}] {{\n  %y: f64[{n}] = exp %x\n  return %y\n}}\n");
    for vectors in [Vectors::Narrow, Vectors::Mixed, Vectors::Wide] {
        assert!(work(&code(14), vectors) >= work(&code(16), vectors));
    }
}
