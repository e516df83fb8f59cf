//! Contractions by calls: machine code has the bits of plain chains of `fma`, wherever and however the operands lie.

use std::sync::Arc;

use retrograd_compiler::ir::{Array, Program, Type};
use retrograd_compiler::plan::strategy::Auto;
use retrograd_compiler::{diff, eval, ops, opt};
use retrograd_testing::Random;
use retrograd_testing::native::Native;

fn check(program: &Program, seed: u64) {
    let mut random = Random::new(seed);
    let inputs: Vec<_> = program.main().param_types().iter().map(|ty| random.array(ty, (-2.0, 2.0))).collect();
    let expected = eval::run(program, &inputs).expect("contractions do not fault");
    let native = Native::new(program, Arc::new(Auto), None).expect("it has a plan");
    native.check(&inputs, &expected).unwrap_or_else(|error| panic!("{error}\n{program}"));
}

/// The Program, and its gradient with contractions of contractions.
fn check_both(text: &str) {
    let program = ops::parse(text, "dot.rg").unwrap_or_else(|error| panic!("{error}\n{text}"));
    check(&program, 1);
    let gradient = diff::vjp(&program, &[0, 1], &[0]).expect("`dot` has a rule");
    check(&opt::freeze(&gradient), 2);
}

#[test]
fn operands_may_lie_anywhere() {
    let views = [
        // As they are, of every kind of product.
        ("f64[33,40]", "%0", "f64[33,40]", "f64[40,29]", "%1", "f64[40,29]", "[1]", "[0]", "f64[33,29]"),
        ("f64[40,33]", "%0", "f64[40,33]", "f64[29,40]", "%1", "f64[29,40]", "[0]", "[1]", "f64[33,29]"),
        ("f64[90]", "%0", "f64[90]", "f64[90,70]", "%1", "f64[90,70]", "[0]", "[0]", "f64[70]"),
        ("f64[90,70]", "%0", "f64[90,70]", "f64[90]", "%1", "f64[90]", "[0]", "[0]", "f64[70]"),
        ("f32[33,40]", "%0", "f32[33,40]", "f32[40,29]", "%1", "f32[40,29]", "[1]", "[0]", "f32[33,29]"),
        // Transposed, cut out with steps, backwards, repeated.
        (
            "f64[40,33]",
            "transpose %0 {axes=[1,0]}",
            "f64[33,40]",
            "f64[29,40]",
            "transpose %1 {axes=[1,0]}",
            "f64[40,29]",
            "[1]",
            "[0]",
            "f64[33,29]",
        ),
        (
            "f64[67,41]",
            "slice %0 {start=[1,1], stop=[66,41], step=[2,1]}",
            "f64[33,40]",
            "f64[41,60]",
            "slice %1 {start=[1,2], stop=[41,60], step=[1,2]}",
            "f64[40,29]",
            "[1]",
            "[0]",
            "f64[33,29]",
        ),
        (
            "f64[33,40]",
            "reverse %0 {axes=[1]}",
            "f64[33,40]",
            "f64[40]",
            "broadcast %1 {shape=[40,29], axes=[0]}",
            "f64[40,29]",
            "[1]",
            "[0]",
            "f64[33,29]",
        ),
    ];
    for (lhs, left, left_ty, rhs, right, right_ty, lc, rc, result) in views {
        let (left, x) =
            if left == "%0" { (String::new(), "%0") } else { (format!("  %l: {left_ty} = {left}\n"), "%l") };
        let (right, y) =
            if right == "%1" { (String::new(), "%1") } else { (format!("  %r: {right_ty} = {right}\n"), "%r") };
        check_both(&format!(
            "fn main(%0: {lhs}, %1: {rhs}) -> {result} {{\n{left}{right}  %y: {result} = dot {x}, {y} \
             {{lhs_contract={lc}, rhs_contract={rc}, lhs_batch=[], rhs_batch=[]}}\n  return %y\n}}"
        ));
    }
}

#[test]
fn several_axes_of_every_kind() {
    let dot = |lhs: &str, rhs: &str, axes: &str, result: &str| {
        check_both(&format!(
            "fn main(%0: {lhs}, %1: {rhs}) -> {result} {{\n  %y: {result} = dot %0, %1 {{{axes}}}\n  return %y\n}}"
        ));
    };
    dot(
        "f64[3,5,6,7]",
        "f64[3,6,7,11]",
        "lhs_contract=[2,3], rhs_contract=[1,2], lhs_batch=[0], rhs_batch=[0]",
        "f64[3,5,11]",
    );
    dot(
        "f64[6,5,3,7]",
        "f64[7,3,2,6,4]",
        "lhs_contract=[3,0], rhs_contract=[0,3], lhs_batch=[2], rhs_batch=[1]",
        "f64[3,5,2,4]",
    );
    dot(
        "f64[20,3,3]",
        "f64[20,3,3]",
        "lhs_contract=[2], rhs_contract=[1], lhs_batch=[0], rhs_batch=[0]",
        "f64[20,3,3]",
    );
    dot("f64[17,3]", "f64[3,3]", "lhs_contract=[1], rhs_contract=[0], lhs_batch=[], rhs_batch=[]", "f64[17,3]");
    dot("f64[3,18]", "f64[18,2]", "lhs_contract=[1], rhs_contract=[0], lhs_batch=[], rhs_batch=[]", "f64[3,2]");
    dot("f64[5,0]", "f64[0,6]", "lhs_contract=[1], rhs_contract=[0], lhs_batch=[], rhs_batch=[]", "f64[5,6]");
    dot("f64[0,40]", "f64[40,6]", "lhs_contract=[1], rhs_contract=[0], lhs_batch=[], rhs_batch=[]", "f64[0,6]");
    let text = "fn main(%0: i64[5,40], %1: i64[40,6]) -> i64[5,6] {\n  %y: i64[5,6] = dot %0, %1 {lhs_contract=[1], \
                rhs_contract=[0], lhs_batch=[], rhs_batch=[]}\n  return %y\n}";
    check(&ops::parse(text, "dot.rg").unwrap(), 3);
}

#[test]
fn a_part_of_a_product_has_the_bits_of_the_whole() {
    let of = |rows: usize| {
        let text = format!(
            "fn main(%0: f64[{rows},50], %1: f64[50,40]) -> f64[{rows},40] {{\n  %y: f64[{rows},40] = dot %0, %1 \
             {{lhs_contract=[1], rhs_contract=[0], lhs_batch=[], rhs_batch=[]}}\n  return %y\n}}"
        );
        Native::new(&ops::parse(&text, "dot.rg").unwrap(), Arc::new(Auto), None).expect("it has a plan")
    };
    let mut random = Random::new(3);
    let (a, b) = (random.array(&Type::f64([64, 50]), (-2.0, 2.0)), random.array(&Type::f64([50, 40]), (-2.0, 2.0)));
    let whole = of(64).run(&[a.clone(), b.clone()]).unwrap();
    for rows in [1, 2, 9, 33] {
        let part = Array::f64([rows, 50], a.as_f64()[..rows * 50].to_vec());
        let found = of(rows).run(&[part, b.clone()]).unwrap();
        assert_eq!(found[0].as_f64(), &whole[0].as_f64()[..rows * 40], "{rows} rows");
    }
}

/// The last rows of the left side of a product, or the last of a batch, alone.
#[test]
fn what_takes_long_runs_in_parts_with_the_same_bits() {
    let product = |lhs: &str, rhs: &str, result: &str, axes: &str| {
        let text = format!(
            "fn main(%0: {lhs}, %1: {rhs}) -> {result} {{\n  %y: {result} = dot %0, %1 {{{axes}}}\n  return %y\n}}"
        );
        Native::new(&ops::parse(&text, "dot.rg").unwrap(), Arc::new(Auto), None).expect("it has a plan")
    };
    let mut random = Random::new(5);
    let (m, n, k, last) = (1000, 600, 500, 10);
    let (a, b) = (random.array(&Type::f64([m, k]), (-2.0, 2.0)), random.array(&Type::f64([k, n]), (-2.0, 2.0)));
    let axes = "lhs_contract=[1], rhs_contract=[0], lhs_batch=[], rhs_batch=[]";
    let whole = product("f64[1000,500]", "f64[500,600]", "f64[1000,600]", axes);
    assert!(whole.kernel().calls.len() > 1, "it runs in parts");
    let tail = Array::f64([last, k], a.as_f64()[(m - last) * k..].to_vec());
    let part = product("f64[10,500]", "f64[500,600]", "f64[10,600]", axes).run(&[tail, b.clone()]).unwrap();
    assert_eq!(part[0].as_f64(), &whole.run(&[a, b]).unwrap()[0].as_f64()[(m - last) * n..]);

    let (a, b) = (random.array(&Type::f64([3, 400, k]), (-2.0, 2.0)), random.array(&Type::f64([3, k, n]), (-2.0, 2.0)));
    let whole = product(
        "f64[3,400,500]",
        "f64[3,500,600]",
        "f64[3,400,600]",
        "lhs_contract=[2], rhs_contract=[1], lhs_batch=[0], rhs_batch=[0]",
    );
    let one =
        |x: &Array, rows: usize, columns: usize| Array::f64([rows, columns], x.as_f64()[2 * rows * columns..].to_vec());
    let part =
        product("f64[400,500]", "f64[500,600]", "f64[400,600]", axes).run(&[one(&a, 400, k), one(&b, k, n)]).unwrap();
    assert_eq!(part[0].as_f64(), &whole.run(&[a, b]).unwrap()[0].as_f64()[2 * 400 * n..]);
}
