//! Loops over scalar code whose steps run in lanes: the bits, and the faults, of one step after the other.

use std::fmt::Write;
use std::sync::Arc;

use retrograd_compiler::ir::{Array, Data, Program, verify};
use retrograd_compiler::lower::kernel::{Kernel, Stmt};
use retrograd_compiler::lower::lower;
use retrograd_compiler::opt::{freeze, simplify};
use retrograd_compiler::plan::strategy::Auto;
use retrograd_compiler::plan::{Request, Strategy, plan};
use retrograd_compiler::{diff, eval, ops};
use retrograd_testing::laws::check_plans;
use retrograd_testing::native::Native;

/// Elements with two corners each: what they compute from `x` at their corners is added to `f` at the same corners, as
/// `write` says.
fn elements(count: usize, nodes: usize, write: &str) -> Program {
    let (array, corners) = (format!("f64[{nodes}]"), format!("i64[{count},2]"));
    let mut text = format!(
        "fn main(%x: {array}, %f: {array}, %t: {corners}) -> {array} {{\n  %n: i64 = constant {{value={count}}}\n  \
         %g: {array} = for %n carries(%f) invariants(%x, %t) {{body=step}}\n  return %g\n}}\nfn step(%i: i64, %f: \
         {array}, %x: {array}, %t: {corners}) -> {array} {{\n  %c0: i64 = constant {{value=0}}\n  %c1: i64 = constant \
         {{value=1}}\n"
    );
    for k in 0..2 {
        writeln!(text, "  %s{k}: i64[1,1] = dynamic_slice %t, %i, %c{k} {{sizes=[1, 1], step=[1, 1]}}")
            .expect("strings take all");
        writeln!(text, "  %t{k}: i64 = reshape %s{k} {{shape=[]}}").expect("strings take all");
        writeln!(text, "  %v{k}: f64[1] = dynamic_slice %x, %t{k} {{sizes=[1], step=[1]}}").expect("strings take all");
        writeln!(text, "  %x{k}: f64 = reshape %v{k} {{shape=[]}}").expect("strings take all");
    }
    let code = [
        "mul %x0, %x1",
        "sub %x0, %x1",
        "mul %y0, %y1",
        "add %y2, %x0",
        "div %y3, %y1",
        "mul %y4, %y2",
        "sin %y5",
        "mul %y6, %y6",
    ];
    for (k, code) in code.iter().chain(&["add %y7, %x1"]).enumerate() {
        writeln!(text, "  %y{k}: f64 = {code}").expect("strings take all");
    }
    text.push_str("  %h0: f64[1] = reshape %y8 {shape=[1]}\n  %h1: f64[1] = reshape %y5 {shape=[1]}\n");
    let code = format!(
        "  %f0: {array} = {write} %f, %h0, %t0 {{step=[1]}}\n  %f1: {array} = {write} %f0, %h1, %t1 {{step=[1]}}\n  \
         return %f1\n}}\n"
    );
    text.push_str(&code);
    let program = ops::parse(&text, "elements.rg").unwrap_or_else(|error| panic!("{error}\n{text}"));
    verify(&program).unwrap_or_else(|error| panic!("{error}\n{text}"));
    program
}

fn corners(count: usize, nodes: usize) -> Array {
    Array::new([count, 2], Data::I64((0..2 * count).map(|k| (k * k % 7 + k / 3) as i64 % nodes as i64).collect()))
}

fn numbers(count: usize, seed: f64) -> Array {
    Array::f64([count], (0..count).map(|k| (k as f64 * seed).sin()).collect())
}

/// The kernel of a program.
fn kernel(program: &Program) -> Kernel {
    let planned = plan(&freeze(&simplify(program)), &Request::by(Arc::new(Auto)));
    lower(&planned.unwrap_or_else(|error| panic!("{error}"))).kernel().clone()
}

/// How many vector loops write in turn.
fn loops_in_lanes(program: &Program) -> usize {
    fn count(body: &[Stmt]) -> usize {
        let of = |stmt: &Stmt| {
            if let Stmt::For { body, .. } | Stmt::Loop { body } = stmt {
                return count(body);
            }
            usize::from(
                matches!(stmt, Stmt::ForVec { body, .. } if matches!(body.last(), Some(Stmt::OrderedScatter(_)))),
            )
        };
        body.iter().map(of).sum()
    }
    count(&kernel(program).body)
}

#[test]
fn elements_that_add_to_shared_corners_give_the_bits_of_one_after_the_other() {
    let auto: [Arc<dyn Strategy>; 1] = [Arc::new(Auto)];
    for count in [15, 16, 17, 23, 24, 100, 8192, 8200] {
        for write in ["add_at", "update"] {
            let program = elements(count, 20, write);
            let inputs = [numbers(20, 0.7), numbers(20, 1.3), corners(count, 20)];
            check_plans(&program, &inputs, &auto).unwrap_or_else(|error| panic!("{count} {write}: {error}"));
            assert_eq!(loops_in_lanes(&program), if count < 16 { 0 } else { count.div_ceil(8192) }, "{count} {write}");
        }
    }
}

#[test]
fn gradients_of_elements_give_the_bits_of_one_after_the_other() {
    let auto: [Arc<dyn Strategy>; 1] = [Arc::new(Auto)];
    for count in [16, 61, 8192 + 17] {
        let program = simplify(&elements(count, 20, "add_at"));
        let gradient = simplify(&diff::vjp(&program, &[0, 1], &[0]).unwrap_or_else(|error| panic!("{error}")));
        assert_eq!(loops_in_lanes(&gradient), 2 * count.div_ceil(8192), "{count}: forwards and backwards");
        let inputs = [numbers(20, 0.7), numbers(20, 1.3), corners(count, 20), numbers(20, 0.3)];
        check_plans(&gradient, &inputs, &auto).unwrap_or_else(|error| panic!("{count}: {error}"));
    }
}

#[test]
fn the_first_fault_of_a_loop_in_lanes_is_that_of_its_first_step() {
    let program = simplify(&elements(100, 20, "add_at"));
    let native = Native::new(&program, Arc::new(Auto), None).unwrap_or_else(|error| panic!("{error}"));
    for (step, corner) in [(0, 0), (13, 1), (99, 0)] {
        let Data::I64(mut places) = corners(100, 20).data().clone() else { panic!("integers") };
        places[2 * step + corner] = 20;
        // A later step faults at the other corner, whose check is another site.
        places[2 * 99 + 1 - corner] = -1;
        let inputs = [numbers(20, 0.7), numbers(20, 1.3), Array::new([100, 2], Data::I64(places))];
        let expected = eval::run(&program, &inputs).expect_err("it faults");
        native.check_fault(&inputs, &expected).unwrap_or_else(|error| panic!("{error}"));
        let found = native.run(&inputs).expect_err("it faults");
        assert_eq!(found.pos, expected.pos, "{found} where {expected}");
    }
}

/// Elements with two corners each, points of `width` numbers: what is computed of both corners is added number by
/// number, to one corner and then to the other.
fn points(count: usize, nodes: usize, width: usize) -> Program {
    let (array, corners) = (format!("f64[{nodes},{width}]"), format!("i64[{count},2]"));
    let mut text = format!(
        "fn main(%x: {array}, %f: {array}, %t: {corners}) -> {array} {{\n  %n: i64 = constant {{value={count}}}\n  \
         %g: {array} = for %n carries(%f) invariants(%x, %t) {{body=step}}\n  return %g\n}}\nfn step(%i: i64, %f: \
         {array}, %x: {array}, %t: {corners}) -> {array} {{\n"
    );
    let mut line = |code: String| writeln!(text, "  {code}").expect("strings take all");
    (0..width.max(2)).for_each(|c| line(format!("%c{c}: i64 = constant {{value={c}}}")));
    for k in 0..2 {
        line(format!("%s{k}: i64[1,1] = dynamic_slice %t, %i, %c{k} {{sizes=[1, 1], step=[1, 1]}}"));
        line(format!("%t{k}: i64 = reshape %s{k} {{shape=[]}}"));
        for c in 0..width {
            line(format!("%v{k}_{c}: f64[1,1] = dynamic_slice %x, %t{k}, %c{c} {{sizes=[1, 1], step=[1, 1]}}"));
            line(format!("%x{k}_{c}: f64 = reshape %v{k}_{c} {{shape=[]}}"));
        }
    }
    let mut last = "%f".to_owned();
    for c in 0..width {
        line(format!("%d{c}: f64 = sub %x0_{c}, %x1_{}", (c + 1) % width));
        line(format!("%q{c}: f64 = mul %d{c}, %d{c}"));
        line(format!("%r{c}: f64 = div %d{c}, %x1_{c}"));
        line(format!("%p{c}: f64 = mul %q{c}, %r{c}"));
        for (k, source) in ["p", "r"].iter().enumerate() {
            line(format!("%h{k}_{c}: f64[1,1] = reshape %{source}{c} {{shape=[1,1]}}"));
            line(format!("%f{k}_{c}: {array} = add_at {last}, %h{k}_{c}, %t{k}, %c{c} {{step=[1, 1]}}"));
            last = format!("%f{k}_{c}");
        }
    }
    line(format!("return {last}"));
    text.push_str("}\n");
    let program = ops::parse(&text, "points.rg").unwrap_or_else(|error| panic!("{error}\n{text}"));
    verify(&program).unwrap_or_else(|error| panic!("{error}\n{text}"));
    program
}

#[test]
fn numbers_side_by_side_that_are_moved_together_give_the_same_bits() {
    let auto: [Arc<dyn Strategy>; 1] = [Arc::new(Auto)];
    for width in [2, 3, 4, 5] {
        for count in [16, 17, 23, 100] {
            let program = points(count, 20, width);
            let table = |seed: f64| Array::f64([20, width], (0..20 * width).map(|k| (k as f64 * seed).sin()).collect());
            let inputs = [table(0.7), table(1.3), corners(count, 20)];
            check_plans(&program, &inputs, &auto).unwrap_or_else(|error| panic!("{count} of {width}: {error}"));
            assert_eq!(loops_in_lanes(&program), 1, "{count} of {width}");
        }
    }
}

#[test]
fn the_index_of_a_loop_that_stays_on_its_axis_is_not_checked() {
    fn faults(body: &[Stmt]) -> usize {
        let of = |stmt: &Stmt| {
            if let Stmt::For { body, .. } | Stmt::Loop { body } = stmt {
                return faults(body);
            }
            if let Stmt::If { then_body, else_body, .. } = stmt {
                return faults(then_body) + faults(else_body);
            }
            usize::from(matches!(stmt, Stmt::Fault { .. }))
        };
        body.iter().map(of).sum()
    }
    // Two corners are checked: where the first of them are looked at again, after the loop.
    assert_eq!(faults(&kernel(&elements(100, 20, "add_at")).body), 2);
}
