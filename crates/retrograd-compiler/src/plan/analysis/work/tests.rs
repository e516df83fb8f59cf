//! Facts about prices.

use super::SimdTarget;
use super::prices::LATENCY_BOUND;
use crate::ops;

fn work(text: &str, vectors: SimdTarget) -> u64 {
    let program = ops::parse(text, "prices.rg").expect("this is a Program");
    vectors.priced(&program, program.main()).cost()
}

/// A loop of elements over `step`, which makes of %a, an array of 64, the next.
fn elements(step: &str) -> String {
    format!(
        "fn main(%x: f64[64]) -> f64[64] {{\n  %n: i64 = constant {{value=64}}\n  %y: f64[64] = for %n carries(%x) \
         invariants(%x) {{body=step}}\n  return %y\n}}\nfn step(%i: i64, %a: f64[64], %x: f64[64]) -> f64[64] \
         {{\n{step}}}\n"
    )
}

#[test]
fn steps_that_read_what_they_write_are_not_in_lanes() {
    let step = |from: &str| {
        let read =
            format!("  %w: f64[1] = dynamic_slice {from}, %i {{sizes=[1], step=[1]}}\n  %b: f64[1] = mul %w, %w\n");
        elements(&(read + "  %r: f64[64] = add_at %a, %b, %i {step=[1]}\n  return %r\n"))
    };
    assert!(
        work(&step("%x"), SimdTarget::Widest) < work(&step("%a"), SimdTarget::Widest),
        "other steps are not waited for"
    );
}

/// A loop over numbers whose step is `code`, which makes %y of %c.
fn numbers(code: &str) -> String {
    format!(
        "fn main(%x: f64) -> f64 {{\n  %n: i64 = constant {{value=100}}\n  %y: f64 = for %n carries(%x) \
         invariants(%x) {{body=step}}\n  return %y\n}}\nfn step(%i: i64, %c: f64, %x: f64) -> f64 {{\n{code}  return \
         %y\n}}\n"
    )
}

#[test]
fn a_step_takes_as_long_as_the_next_one_waits_for_its_numbers() {
    let chained = numbers("  %a: f64 = mul %c, %x\n  %b: f64 = mul %a, %x\n  %y: f64 = mul %b, %x\n");
    let beside = numbers("  %a: f64 = mul %x, %x\n  %b: f64 = mul %a, %x\n  %y: f64 = mul %b, %c\n");
    let [chained, beside] = [chained, beside].map(|text| work(&text, SimdTarget::Bits128));
    assert_eq!((chained, beside), (100 * 3 * LATENCY_BOUND.arithmetic, 100 * LATENCY_BOUND.arithmetic));
}

#[test]
fn a_number_near_one_that_is_written_is_waited_for() {
    let step = |from: &str| {
        let index = format!("  %k: i64 = constant {{value=1}}\n  %j: i64 = {from}\n");
        let read = "  %w: f64[1] = dynamic_slice %a, %j {sizes=[1], step=[1]}\n  %b: f64[1] = mul %w, %w\n";
        elements(&(index + read + "  %r: f64[64] = update %a, %b, %i {step=[1]}\n  return %r\n"))
    };
    let [before, same] = ["sub %i, %k", "mul %i, %k"].map(|from| work(&step(from), SimdTarget::Bits128));
    assert!(before > 3 * same, "{before} from the element before, {same} from elsewhere");
}

#[test]
fn around_functions_that_are_called_vectors_are_narrow() {
    let code = |line: &str| {
        format!(
            "fn main(%x: f64[64]) -> f64[64] {{\n  %a: f64[64] = mul %x, %x\n  %y: f64[64] = {line}\n  return %y\n}}\n"
        )
    };
    let [sum, in_line, called] = ["add %a, %x", "exp %a", "sin %a"]
        .map(|line| [SimdTarget::Bits128, SimdTarget::Bits512Or128].map(|vectors| work(&code(line), vectors)));
    assert!(sum[1] < sum[0] && in_line[1] < in_line[0] && called[1] == called[0], "{sum:?}, {in_line:?}, {called:?}");
}

#[test]
fn numbers_at_indices_cost_more_than_additions() {
    let code = |line: &str| {
        format!(
            "fn main(%x: f64[64,3], %y: f64[64,3], %i: i64[64]) -> f64[64,3] {{\n  %r: f64[64,3] = {line}\n  return \
             %r\n}}\n"
        )
    };
    for vectors in [SimdTarget::Bits128, SimdTarget::Bits512Or128, SimdTarget::Widest] {
        let [picked, added] = ["gather %x, %i {axis=[0]}", "add %x, %y"].map(|line| work(&code(line), vectors));
        assert!(picked > 5 * added, "{picked} for rows at indices, {added} for a sum");
    }
}

#[test]
fn a_function_of_few_elements_costs_as_much_as_one_of_a_block() {
    let code = |n: usize| format!("fn main(%x: f64[{n}]) -> f64[{n}] {{\n  %y: f64[{n}] = exp %x\n  return %y\n}}\n");
    for vectors in [SimdTarget::Bits128, SimdTarget::Bits512Or128, SimdTarget::Widest] {
        assert!(work(&code(14), vectors) >= work(&code(16), vectors));
    }
}

/// A loop of `steps` steps, inside of which there are loops of as many steps as the one around has had, over `depth`
/// loops in all; the innermost multiplies a number.
fn triangular(steps: u64, depth: usize) -> String {
    let mut text = format!(
        "fn main(%x: f64) -> f64 {{\n  %n: i64 = constant {{value={steps}}}\n  %y: f64 = for %n carries(%x) \
         invariants(%x) {{body=step{depth}}}\n  return %y\n}}\n"
    );
    for level in (1..=depth).rev() {
        let inside = match level {
            1 => "mul %c, %x".to_string(),
            _ => format!("for %i carries(%c) invariants(%x) {{body=step{}}}", level - 1),
        };
        text +=
            &format!("fn step{level}(%i: i64, %c: f64, %x: f64) -> f64 {{\n  %y: f64 = {inside}\n  return %y\n}}\n");
    }
    text
}

#[test]
fn loops_over_the_index_of_the_loop_around_are_counted() {
    let n = 300u64;
    // i, then j < i, then k < j, then l < k.
    let counts = [n, n * (n - 1) / 2, n * (n - 1) * (n - 2) / 6, n * (n - 1) * (n - 2) * (n - 3) / 24];
    for (depth, count) in (1..).zip(counts) {
        let (found, exact) =
            (work(&triangular(n, depth), SimdTarget::Bits128) as f64, (count * LATENCY_BOUND.arithmetic) as f64);
        assert!((found / exact - 1.0).abs() < 0.01, "{depth} loops: {found}, not {exact}");
    }
}

#[test]
fn a_count_that_follows_from_indices_is_known_through_branches_and_arithmetic() {
    let text = |from: &str| {
        format!(
            "fn main(%x: f64) -> f64 {{\n  %n: i64 = constant {{value=101}}\n  %y: f64 = for %n carries(%x) \
             invariants(%x, %n) {{body=outer}}\n  return %y\n}}\nfn outer(%i: i64, %c: f64, %x: f64, %n: i64) -> f64 \
             {{\n  %z: i64 = constant {{value=0}}\n{from}  %y: f64 = for %k carries(%c) invariants(%x) \
             {{body=inner}}\n  return %y\n}}\nfn inner(%i: i64, %c: f64, %x: f64) -> f64 {{\n  %y: f64 = mul %c, %x\n  \
             return %y\n}}\n"
        )
    };
    let of = |from: &str| work(&text(from), SimdTarget::Bits128);
    let all = |count: u64| 101 * count * LATENCY_BOUND.arithmetic;
    // What it takes to know the count is work, too.
    let near = |found: u64, exact: u64| found >= exact && found - exact <= 101 * 500;
    let above = "  %d: i64 = sub %n, %i\n  %p: bool = lt %d, %z\n  %k: i64 = select %p, %z, %d\n";
    assert!(near(of(above), all(51)), "from the diagonal to the end");
    assert!(near(of("  %k: i64 = sub %i, %n\n"), 0), "no loop runs backwards");
    assert!(near(of("  %h: i64 = constant {value=2}\n  %k: i64 = shr %i, %h\n"), all(12)), "a quarter of them");
}

/// A product of matrices of m × k and k × n elements.
fn product([m, k, n]: [usize; 3]) -> String {
    format!(
        "fn main(%a: f64[{m},{k}], %b: f64[{k},{n}]) -> f64[{m},{n}] {{\n  %c: f64[{m},{n}] = dot %a, %b \
         {{lhs_contract=[1], rhs_contract=[0], lhs_batch=[], rhs_batch=[]}}\n  return %c\n}}\n"
    )
}

#[test]
fn products_that_do_not_fill_vectors_cost_as_much_as_those_that_do() {
    let cost = |extents: [usize; 3]| work(&product(extents), SimdTarget::Widest);
    assert!(cost([1000, 100, 10]) >= cost([1000, 100, 16]));
    assert!(
        cost([512, 512, 8]) > 2 * cost([64, 512, 64]),
        "as many multiplications, of eight times as many packed rows"
    );
}

#[test]
fn sums_along_lanes_cost_more_than_across_them() {
    let code = |axis: usize, kept: usize| {
        format!(
            "fn main(%x: f64[100,16]) -> f64[{kept}] {{\n  %y: f64[{kept}] = sum %x {{axes=[{axis}]}}\n  return \
             %y\n}}\n"
        )
    };
    let [along, across] = [code(1, 100), code(0, 16)].map(|text| work(&text, SimdTarget::Widest));
    assert!(along > 2 * across, "{along} along, {across} across");
}
