//! Writes to shifted windows of one array are one sweep: the same bits as one by one, and nothing is stored for them.

use std::fmt::Write;
use std::sync::Arc;

use retrograd_compiler::ir::{Array, Program, verify};
use retrograd_compiler::opt::{freeze, simplify};
use retrograd_compiler::plan::strategy::{Auto, KeepAll, Revolve};
use retrograd_compiler::plan::{Request, Strategy, plan};
use retrograd_compiler::{diff, ops};
use retrograd_testing::laws::check_plans;

/// An array is added to, or put into, windows of another, one after the other.
struct Chain {
    shape: Vec<usize>,
    window: Vec<usize>,
    writes: Vec<(&'static str, Vec<usize>)>,
    /// What is written is this of the second input.
    term: &'static str,
}

impl Chain {
    fn program(&self) -> Program {
        let (ty, window) = (format!("f64{:?}", self.shape), format!("f64{:?}", self.window));
        let ones = vec![1; self.shape.len()];
        let mut text = format!("fn main(%0: {ty}, %1: {window}) -> {ty}, {window} {{\n");
        let mut next = 2;
        let mut line = |text: &mut String, ty: &str, code: String| {
            writeln!(text, "  %{next}: {ty} = {code}").expect("strings take all");
            next += 1;
            next - 1
        };
        let number = line(&mut text, "f64", "constant {value=-0.7}".into());
        let axes: Vec<usize> = vec![];
        let factor =
            line(&mut text, &window, format!("broadcast %{number} {{shape={:?}, axes={axes:?}}}", self.window));
        let term = match self.term {
            "plain" => 1,
            one @ ("sin" | "neg") => line(&mut text, &window, format!("{one} %1")),
            two => line(&mut text, &window, format!("{two} %1, %{factor}")),
        };
        let mut array = 0;
        for (how, start) in &self.writes {
            let starts: Vec<String> = start
                .iter()
                .map(|start| format!("%{}", line(&mut text, "i64", format!("constant {{value={start}}}"))))
                .collect();
            array = line(&mut text, &ty, format!("{how} %{array}, %{term}, {} {{step={ones:?}}}", starts.join(", ")));
        }
        // Read afterwards: what was written stays as it was.
        let after = line(&mut text, &window, format!("exp %{term}"));
        write!(text, "  return %{array}, %{after}\n}}\n").expect("strings take all");
        let program = ops::parse(&text, "chain.rg").unwrap_or_else(|error| panic!("{error}\n{text}"));
        verify(&program).unwrap_or_else(|error| panic!("{error}\n{text}"));
        program
    }

    fn inputs(&self) -> Vec<Array> {
        let count: usize = self.window.iter().product();
        let small: Vec<f64> = (0..count).map(|k| if k % 3 == 0 { -0.0 } else { (k as f64 * 0.37).sin() }).collect();
        let count: usize = self.shape.iter().product();
        let large: Vec<f64> = (0..count).map(|k| if k % 2 == 0 { -0.0 } else { (k as f64 * 1.3).cos() }).collect();
        vec![Array::f64(self.shape.clone(), large), Array::f64(self.window.clone(), small)]
    }

    fn check(&self) {
        let auto: [Arc<dyn Strategy>; 1] = [Arc::new(Auto)];
        let program = self.program();
        check_plans(&program, &self.inputs(), &auto).unwrap_or_else(|error| panic!("{error}\n{program}"));
    }
}

#[test]
fn every_order_of_windows_gives_the_bits_of_one_by_one() {
    let terms = ["plain", "neg", "mul", "div", "sin"];
    let hows = [
        ["add_at", "add_at", "add_at"],
        ["update", "add_at", "add_at"],
        ["add_at", "update", "add_at"],
        ["add_at", "add_at", "update"],
    ];
    let starts = [0, 2, 1, 0, 1, 2, 2, 0, 0];
    for (k, term) in terms.iter().enumerate() {
        for hows in hows {
            let line = |k: usize, how: &&'static str| (*how, vec![starts[k % 9]]);
            let writes = hows.iter().enumerate().map(|(j, how)| line(j + k, how)).collect();
            Chain { shape: vec![402], window: vec![400], writes, term }.check();
            let plane = |k: usize, how: &&'static str| (*how, vec![starts[k % 9], starts[(2 * k + 1) % 9]]);
            let writes = hows.iter().enumerate().map(|(j, how)| plane(j + k, how)).collect();
            Chain { shape: vec![28, 30], window: vec![26, 28], writes, term }.check();
            let space = |k: usize, how: &&'static str| {
                (*how, vec![starts[k % 9], starts[(k + 4) % 9], starts[(2 * k + 2) % 9]])
            };
            let writes = hows.iter().enumerate().map(|(j, how)| space(j + k, how)).collect();
            Chain { shape: vec![14, 15, 14], window: vec![12, 13, 12], writes, term }.check();
        }
    }
}

/// Two arrays smoothed into each other in turns, `f` of the five neighbours.
fn smoothing(n: usize, f: &str) -> Program {
    let (ty, inner) = (format!("f64[{n},{n}]"), format!("f64[{},{}]", n - 2, n - 2));
    let slice = |array: &str, rows: usize, columns: usize| {
        let stop = |start: usize| start + n - 2;
        format!("slice {array} {{start=[{rows}, {columns}], stop=[{}, {}], step=[1, 1]}}", stop(rows), stop(columns))
    };
    let mut step =
        format!("fn step(%i: i64, %A: {ty}, %B: {ty}) -> {ty}, {ty} {{\n  %one: i64 = constant {{value=1}}\n");
    for (k, (from, to, result)) in [("%A", "%B", "%C"), ("%C", "%A", "%D")].into_iter().enumerate() {
        let mut sum = String::new();
        for (j, (rows, columns)) in [(1, 1), (1, 0), (1, 2), (2, 1), (0, 1)].into_iter().enumerate() {
            writeln!(step, "  %s{k}{j}: {inner} = {}", slice(from, rows, columns)).expect("strings take all");
            if j > 0 {
                writeln!(step, "  %t{k}{j}: {inner} = add {sum}, %s{k}{j}").expect("strings take all");
            }
            sum = if j == 0 { format!("%s{k}0") } else { format!("%t{k}{j}") };
        }
        writeln!(step, "  %f{k}: {inner} = {f} {sum}").expect("strings take all");
        writeln!(step, "  {result}: {ty} = update {to}, %f{k}, %one, %one {{step=[1, 1]}}").expect("strings take all");
    }
    let main = format!(
        "fn main(%A: {ty}, %B: {ty}) -> {ty} {{\n  %n: i64 = constant {{value=7}}\n  %C: {ty}, %D: {ty} = for %n \
         carries(%A, %B) {{body=step}}\n  return %C\n}}\n"
    );
    let text = format!("{main}{step}  return %D, %C\n}}\n");
    let program = ops::parse(&text, "smoothing.rg").unwrap_or_else(|error| panic!("{error}\n{text}"));
    verify(&program).unwrap_or_else(|error| panic!("{error}\n{text}"));
    simplify(&diff::vjp(&simplify(&program), &[0, 1], &[0]).unwrap_or_else(|error| panic!("{error}\n{text}")))
}

#[test]
fn adjoints_of_stencils_give_the_same_bits_under_every_plan() {
    let auto: [Arc<dyn Strategy>; 1] = [Arc::new(Auto)];
    for f in ["neg", "sin"] {
        let n = 32;
        let program = smoothing(n, f);
        let array = |seed: f64| Array::f64(vec![n, n], (0..n * n).map(|k| (k as f64 * seed).sin()).collect());
        check_plans(&program, &[array(0.7), array(1.3), array(0.3)], &auto).unwrap_or_else(|error| panic!("{error}"));
    }
}

#[test]
fn the_adjoint_of_a_linear_stencil_stores_no_term() {
    let n = 64;
    let planned = plan(&freeze(&smoothing(n, "neg")), &Request::by(Arc::new(Auto)));
    let planned = planned.unwrap_or_else(|error| panic!("{error}"));
    // Both arrays forwards and both cotangents.
    let arrays = 4 * (n * n * 8) as u64;
    assert!(planned.bytes_peak <= arrays + 1000, "{} bytes, {arrays} are enough", planned.bytes_peak);
}

/// Two arrays that carry each other along: u' = u(u - left u) + v(u - above u), and v' alike, inside of a fixed border.
fn transport(n: usize, steps: usize) -> Program {
    let (ty, inner) = (format!("f64[{n},{n}]"), format!("f64[{},{}]", n - 2, n - 2));
    let mut step =
        format!("fn step(%i: i64, %u: {ty}, %v: {ty}) -> {ty}, {ty} {{\n  %one: i64 = constant {{value=1}}\n");
    let mut line =
        |name: &str, ty: &str, code: &str| writeln!(step, "  %{name}: {ty} = {code}").expect("strings take all");
    for array in ["u", "v"] {
        for (name, [row, column]) in [("middle", [1, 1]), ("left", [1, 0]), ("above", [0, 1])] {
            let stop = [row + n - 2, column + n - 2];
            line(
                &format!("{array}_{name}"),
                &inner,
                &format!("slice %{array} {{start=[{row}, {column}], stop={stop:?}, step=[1, 1]}}"),
            );
        }
    }
    for array in ["u", "v"] {
        for (name, along) in [("left", "u"), ("above", "v")] {
            line(&format!("{array}_{name}_less"), &inner, &format!("sub %{array}_middle, %{array}_{name}"));
            line(&format!("{array}_{name}_moved"), &inner, &format!("mul %{along}_middle, %{array}_{name}_less"));
        }
        line(&format!("{array}_sum"), &inner, &format!("add %{array}_left_moved, %{array}_above_moved"));
        line(&format!("{array}_next"), &ty, &format!("update %{array}, %{array}_sum, %one, %one {{step=[1, 1]}}"));
    }
    let main = format!(
        "fn main(%u: {ty}, %v: {ty}) -> {ty}, {ty} {{\n  %n: i64 = constant {{value={steps}}}\n  %a: {ty}, %b: {ty} = \
         for %n carries(%u, %v) {{body=step}}\n  return %a, %b\n}}\n"
    );
    let text = format!("{main}{step}  return %u_next, %v_next\n}}\n");
    let program = ops::parse(&text, "transport.rg").unwrap_or_else(|error| panic!("{error}\n{text}"));
    verify(&program).unwrap_or_else(|error| panic!("{error}\n{text}"));
    simplify(&diff::vjp(&simplify(&program), &[0, 1], &[0, 1]).unwrap_or_else(|error| panic!("{error}\n{text}")))
}

#[test]
fn adjoints_that_read_what_they_add_to_give_the_same_bits_under_every_plan() {
    let strategies: [Arc<dyn Strategy>; 3] = [Arc::new(Auto), Arc::new(KeepAll), Arc::new(Revolve)];
    for (n, steps) in [(24, 0), (24, 1), (25, 2), (32, 5)] {
        let program = transport(n, steps);
        let array = |seed: f64| Array::f64(vec![n, n], (0..n * n).map(|k| (k as f64 * seed).sin()).collect());
        check_plans(&program, &[array(0.7), array(1.3), array(0.3), array(0.9)], &strategies)
            .unwrap_or_else(|error| panic!("{error}"));
    }
}

#[test]
fn the_adjoint_of_a_stencil_of_products_stores_no_term() {
    let (n, steps) = (64, 10);
    let planned = plan(&freeze(&transport(n, steps)), &Request::by(Arc::new(Auto)));
    let planned = planned.unwrap_or_else(|error| panic!("{error}"));
    // Both arrays of each step and after the last, and both cotangents in two places by turns. A term would be one
    // more.
    let array = (n * n * 8) as u64;
    let arrays = (2 * steps as u64 + 6) * array;
    assert!(planned.bytes_peak < arrays + array / 2, "{} bytes, {arrays} are enough", planned.bytes_peak);
}
