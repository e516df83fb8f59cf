//! What is rewritten once on the way to a plan: loops inside loops before they are differentiated, sums of products
//! after.

use super::*;
use retrograd_compiler::opt::{freeze, unroll};

/// A loop over a loop of so many steps: x = x · k + i, for every i and every step k inside.
fn nested(steps: i64) -> Program {
    let text = format!(
        "fn main(%0: i64, %1: f64) -> f64 {{
  %2: f64 = for %0 carries(%1) {{body=outer}}
  return %2
}}
fn outer(%0: i64, %1: f64) -> f64 {{
  %2: i64 = constant {{value={steps}}}
  %3: f64 = for %2 carries(%1) invariants(%0) {{body=inner}}
  return %3
}}
fn inner(%0: i64, %1: f64, %2: i64) -> f64 {{
  %3: f64 = convert %0 {{dtype=f64}}
  %4: f64 = convert %2 {{dtype=f64}}
  %5: f64 = mul %1, %3
  %6: f64 = add %5, %4
  return %6
}}
"
    );
    ops::parse(&text, "nested.rg").unwrap()
}

#[test]
fn a_loop_of_few_steps_inside_another_is_unrolled() {
    for (steps, functions) in [(0, 1), (1, 2), (2, 2), (3, 2), (4, 2), (5, 3)] {
        let (before, after) = (nested(steps), unroll(&nested(steps)));
        assert_eq!(after.functions.len(), functions, "{steps} steps:\n{after}");
        for (count, x) in [(0, 0.5), (1, 0.5), (4, -1.5)] {
            let inputs = [Array::int(count), Array::scalar(x)];
            assert_eq!(run(&before, &inputs), run(&after, &inputs), "{steps} steps, {count} times");
        }
    }
}

#[test]
fn a_loop_that_is_inside_no_other_stays() {
    let text = "fn main(%0: f64) -> f64 {
  %1: i64 = constant {value=3}
  %2: f64 = for %1 carries(%0) {body=step}
  return %2
}
fn step(%0: i64, %1: f64) -> f64 {
  %2: f64 = sin %1
  return %2
}
";
    assert_eq!(names(unroll(&ops::parse(text, "alone.rg").unwrap()).main()), ["constant", "for"]);
}

/// The sum over these axes of a product of f64[5,3] and f64[3,4,3], put on these axes of f64[5,3,4,3].
fn sum_of_products(left: &str, right: &str, axes: &str, shape: &str) -> Program {
    let text = format!(
        "fn main(%0: f64[5,3], %1: f64[3,4,3]) -> f64{shape} {{
  %2: f64[5,3,4,3] = broadcast %0 {{shape=[5,3,4,3], axes={left}}}
  %3: f64[5,3,4,3] = broadcast %1 {{shape=[5,3,4,3], axes={right}}}
  %4: f64[5,3,4,3] = mul %2, %3
  %5: f64{shape} = sum %4 {{axes={axes}}}
  return %5
}}
"
    );
    ops::parse(&text, "products.rg").unwrap()
}

#[test]
fn a_sum_of_products_of_smaller_arrays_is_a_contraction() {
    let cases = [
        ("[0, 3]", "[1, 2, 3]", "[3]", "[5,3,4]", true),
        ("[0, 1]", "[1, 2, 3]", "[1]", "[5,4,3]", true),
        // What is summed belongs to one factor alone.
        ("[0, 1]", "[1, 2, 3]", "[3]", "[5,3,4]", false),
        ("[0, 1]", "[1, 2, 3]", "[0]", "[3,4,3]", false),
    ];
    for (left, right, axes, shape, contracted) in cases {
        let before = sum_of_products(left, right, axes, shape);
        let after = freeze(&before);
        verify(&after).unwrap();
        assert_eq!(names(after.main()).contains(&"dot"), contracted, "{after}");
        assert_eq!(names(after.main()).contains(&"mul"), !contracted, "{after}");
        let inputs: Vec<Array> = before.main().param_types().iter().map(|ty| input(ty, 1)).collect();
        let [expected, found] = [&before, &after].map(|program| run(program, &inputs).unwrap().remove(0));
        let close = |(x, y): (&f64, &f64)| (x - y).abs() <= 1e-12 * x.abs().max(1.0);
        assert!(
            expected.shape() == found.shape() && expected.as_f64().iter().zip(found.as_f64()).all(close),
            "{expected} became {found}"
        );
    }
}

#[test]
fn axes_that_both_factors_keep_are_batches_wherever_they_stand() {
    // a[i, j, l] · b[k, i, l], summed over l: the axis i stands first in one factor and second in the other.
    for (left, right, array, shape) in
        [("[1, 2, 3]", "[0, 1, 3]", "1", "[4,2,5]"), ("[0, 1, 3]", "[0, 2, 3]", "b", "[2,5,4]")]
    {
        let whole = shape.replace(']', ",3]");
        let text = format!(
            "fn main(%0: f64[2,5,3], %1: f64[4,2,3]) -> f64{shape} {{
  %b: f64[2,4,3] = transpose %1 {{axes=[1, 0, 2]}}
  %2: f64{whole} = broadcast %0 {{shape={whole}, axes={left}}}
  %3: f64{whole} = broadcast %{array} {{shape={whole}, axes={right}}}
  %4: f64{whole} = mul %2, %3
  %5: f64{shape} = sum %4 {{axes=[3]}}
  return %5
}}
"
        );
        let before = ops::parse(&text, "batches.rg").unwrap_or_else(|error| panic!("{error}\n{text}"));
        contracted_alike(&before);
    }
}

/// The Program frozen has a contraction, and gives what it gave.
fn contracted_alike(before: &Program) {
    let after = freeze(before);
    verify(&after).unwrap();
    assert!(names(after.main()).contains(&"dot"), "{after}");
    let inputs: Vec<Array> = before.main().param_types().iter().map(|ty| input(ty, 1)).collect();
    let [expected, found] = [before, &after].map(|program| run(program, &inputs).unwrap().remove(0));
    let close = |(x, y): (&f64, &f64)| (x - y).abs() <= 1e-12 * x.abs().max(1.0);
    assert!(
        expected.shape() == found.shape() && expected.as_f64().iter().zip(found.as_f64()).all(close),
        "{expected} became {found}"
    );
}

/// The squares of rows are not in memory either, and their sums have the same bits; a short row belongs to the loop
/// over rows, and what is summed to one number to the loop that makes it.
#[test]
fn a_sum_of_squares_of_long_rows_is_a_contraction() {
    for (row, axes, shape, contracted) in
        [(8, "[1]", "[5]", true), (7, "[1]", "[5]", false), (8, "[0]", "[8]", false), (8, "[0, 1]", "", false)]
    {
        let text = format!(
            "fn main(%0: f64[5,{row}]) -> f64{shape} {{
  %1: f64[5,{row}] = sin %0
  %2: f64[5,{row}] = mul %1, %1
  %3: f64{shape} = sum %2 {{axes={axes}}}
  return %3
}}
"
        );
        let before = ops::parse(&text, "squares.rg").unwrap();
        let after = freeze(&before);
        verify(&after).unwrap();
        assert_eq!(names(after.main()).contains(&"dot"), contracted, "{after}");
        let inputs: Vec<Array> = before.main().param_types().iter().map(|ty| input(ty, 1)).collect();
        assert_eq!(run(&before, &inputs).unwrap(), run(&after, &inputs).unwrap());
    }
}

#[test]
fn a_sum_of_negatives_is_the_negative_of_the_sum() {
    let text = "fn main(%0: f64[5,4], %1: f64[5]) -> f64[4], f64[4] {
  %2: f64[5,4] = neg %0
  %3: f64[4] = sum %2 {axes=[0]}
  %4: f64[5,4] = broadcast %1 {shape=[5,4], axes=[0]}
  %5: f64[5,4] = mul %0, %4
  %6: f64[5,4] = neg %5
  %7: f64[4] = sum %6 {axes=[0]}
  return %3, %7
}
";
    let before = ops::parse(text, "negatives.rg").unwrap();
    let after = freeze(&before);
    verify(&after).unwrap();
    let of = |k: usize| after.main().ty(after.main().insts[k].results[0]).rank();
    assert!((0..after.main().insts.len()).filter(|k| names(after.main())[*k] == "neg").all(|k| of(k) == 1), "{after}");
    let inputs: Vec<Array> = before.main().param_types().iter().map(|ty| input(ty, 1)).collect();
    assert_eq!(run(&before, &inputs).unwrap()[0], run(&after, &inputs).unwrap()[0]);
}

/// Two cotangents, the first of which starts from this number and has its middle cleared at the end of every step.
fn clearing(start: &str) -> Program {
    let text = format!(
        "fn main(%0: i64, %1: f64[4]) -> f64[4], f64[4] {{
  %2: f64 = constant {{value={start}}}
  %3: f64[4] = broadcast %2 {{shape=[4], axes=[]}}
  %4: f64[4], %5: f64[4] = unwind %0 adjoints(%3, %1) {{body=nothing, bwd=back}}
  return %4, %5
}}
fn nothing(%0: i64) {{
  return
}}
fn back(%0: i64, %1: f64[4], %2: f64[4]) -> f64[4], f64[4] {{
  %3: f64[4] = reverse %2 {{axes=[0]}}
  %4: f64[4] = add %1, %3
  %5: f64 = constant {{value=0.0}}
  %6: f64[2] = broadcast %5 {{shape=[2], axes=[]}}
  %7: i64 = constant {{value=1}}
  %8: f64[4] = update %4, %6, %7 {{step=[1]}}
  %9: f64[4] = add %2, %4
  return %8, %9
}}
"
    );
    ops::parse(&text, "clearing.rg").unwrap()
}

#[test]
fn what_a_step_clears_at_its_end_the_next_clears_first() {
    // Where the window does not start from zeros, the first step would clear what was there.
    for (start, moves) in [("0.0", true), ("-0.0", false), ("1.5", false)] {
        let (before, after) = (clearing(start), freeze(&clearing(start)));
        verify(&after).unwrap();
        let Op::Unwind(op) = &after.main().insts.iter().find(|inst| matches!(inst.op, Op::Unwind(_))).unwrap().op
        else {
            panic!("found")
        };
        let names = names(after.function(op.bwd));
        let at = |name: &str| names.iter().position(|other| *other == name);
        assert_eq!(at("update") < at("add"), moves, "from {start}:\n{after}");
        for count in 0..4 {
            let inputs = [Array::int(count), Array::f64([4], vec![1.0, 2.5, -3.0, 0.25])];
            assert_eq!(run(&before, &inputs), run(&after, &inputs), "from {start}, {count} steps");
        }
    }
}
