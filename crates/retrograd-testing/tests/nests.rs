//! A loop in a loop may run as one loop over all steps: the same bits, the bytes that were planned, and the steps of
//! the one loop.

use std::sync::Arc;

use retrograd_compiler::ir::{Array, Program, verify};
use retrograd_compiler::opt::{freeze, simplify};
use retrograd_compiler::plan::strategy::Auto;
use retrograd_compiler::plan::{Plan, Request, plan};
use retrograd_compiler::{diff, eval, ops};
use retrograd_testing::native::Native;

/// A loop over two carries around one over two others; what is done before, within and after the inner one is told.
fn nest(carries: &str, before: &str, inner: &str, after: &str) -> String {
    format!(
        "fn main(%x: f64[160], %y: f64[160], %w: f64[160]) -> f64 {{
  %n: i64 = constant {{value=12}}
  %0: f64[160], %1: f64[160] = for %n carries(%x, %y) invariants(%w) {{body=outer}}
  %2: f64[160] = add %0, %1
  %3: f64 = sum %2 {{axes=[0]}}
  return %3
}}
fn outer(%i: i64, %x: f64[160], %y: f64[160], %w: f64[160]) -> f64[160], f64[160] {{
  %m: i64 = constant {{value=9}}
{before}  %a: f64[160], %b: f64[160] = for %m carries({carries}) invariants(%w) {{body=inner}}
{after}}}
fn inner(%k: i64, %a: f64[160], %b: f64[160], %w: f64[160]) -> f64[160], f64[160] {{
{inner}}}
"
    )
}

const SCALED: &str = "  %f: f64 = convert %i {dtype=f64}
  %c: f64 = constant {value=0.01}
  %g: f64 = mul %f, %c
  %h: f64[160] = broadcast %g {shape=[160], axes=[]}
  %p: f64[160] = sin %x
  %q: f64[160] = add %p, %h
";
const TURNED: &str = "  %0: f64[160] = mul %a, %w
  %1: f64[160] = sin %0
  %5: f64[160] = asinh %1
  %6: f64[160] = atan %5
  %2: f64[160] = reverse %6 {axes=[0]}
  %3: f64[160] = mul %b, %2
  %4: f64[160] = cos %3
  return %2, %4
";

/// Nests that differ in what they do around the inner loop.
fn nests() -> Vec<(&'static str, String)> {
    vec![
        ("perfect", nest("%x, %y", "", TURNED, "  return %a, %b\n")),
        ("crossed", nest("%y, %x", "", TURNED, "  return %b, %a\n")),
        ("something before", nest("%q, %y", SCALED, TURNED, "  return %a, %b\n")),
        ("a sum after", nest("%x, %y", "", TURNED, "  %s: f64[160] = add %a, %y\n  return %s, %b\n")),
        (
            "both, and a carry that waits",
            nest("%q, %p", SCALED, TURNED, "  %s: f64[160] = add %a, %y\n  return %s, %y\n"),
        ),
    ]
}

/// Value and gradient of a Program in the text form.
fn gradient(text: &str, inputs: usize) -> Program {
    let program = ops::parse(text, "nest.rg").unwrap();
    verify(&program).unwrap();
    let all: Vec<usize> = (0..inputs).collect();
    freeze(&simplify(&diff::vjp(&program, &all, &[0]).unwrap()))
}

fn planned(program: &Program, budget: Option<u64>) -> Plan {
    plan(program, &Request { budget, ..Request::by(Arc::new(Auto)) }).unwrap()
}

fn inputs(program: &Program) -> Vec<Array> {
    let number = |k: usize| (k as f64 * 0.7).sin();
    let types = program.main().param_types();
    types.iter().map(|ty| Array::f64(ty.shape.clone(), (0..ty.elements()).map(number).collect::<Vec<_>>())).collect()
}

#[test]
fn one_loop_has_the_bits_and_the_bytes_of_the_nest() {
    for (name, text) in nests() {
        let program = gradient(&text, 3);
        let inputs = inputs(&program);
        let expected = eval::run(&program, &inputs).unwrap();
        let free = planned(&program, None).bytes_peak;
        let mut as_one = 0;
        for budget in (1..40).map(|part| free * part / 40) {
            let Ok(native) = Native::new(&program, Arc::new(Auto), Some(budget)) else { continue };
            assert!(native.plan.bytes_peak <= budget, "{name}: {}", native.plan);
            as_one += usize::from(!native.plan.coalesced.is_empty());
            native
                .check(&inputs, &expected)
                .unwrap_or_else(|error| panic!("{name} in {budget} bytes: {error}\n{}", native.plan));
        }
        assert!(as_one > 3, "{name}: {as_one} plans run the nest as one loop");
    }
}

/// Steps of a two-dimensional stencil, in these loops.
fn stencil(loops: &str) -> String {
    format!(
        "fn main(%u: f64[40,40]) -> f64 {{
{loops}fn step(%k: i64, %u: f64[40,40]) -> f64[40,40] {{
  %a: f64[38,38] = slice %u {{start=[1, 1], stop=[39, 39], step=[1, 1]}}
  %n: f64[38,38] = slice %u {{start=[0, 1], stop=[38, 39], step=[1, 1]}}
  %w: f64[38,38] = slice %u {{start=[1, 0], stop=[39, 38], step=[1, 1]}}
  %0: f64[38,38] = add %n, %w
  %1: f64[38,38] = mul %0, %a
  %2: f64[38,38] = sin %1
  %one: i64 = constant {{value=1}}
  %3: f64[40,40] = update %u, %2, %one, %one {{step=[1, 1]}}
  return %3
}}
"
    )
}

#[test]
fn a_perfect_nest_costs_what_one_loop_does() {
    let end = "  %2: f64 = sum %1 {axes=[0, 1]}\n  return %2\n}\n";
    let one =
        format!("  %0: i64 = constant {{value=10000}}\n  %1: f64[40,40] = for %0 carries(%u) {{body=step}}\n{end}");
    let outer = "fn outer(%i: i64, %u: f64[40,40]) -> f64[40,40] {
  %0: i64 = constant {value=50}
  %1: f64[40,40] = for %0 carries(%u) {body=step}
  return %1
}
";
    let two = format!(
        "  %0: i64 = constant {{value=200}}\n  %1: f64[40,40] = for %0 carries(%u) {{body=outer}}\n{end}{outer}"
    );
    let [one, two] = [one, two].map(|loops| gradient(&stencil(&loops), 1));
    let states = 10_000 * 40 * 40 * 8;
    for budget in [states / 100, states * 3 / 1000] {
        let [one, two] = [&one, &two].map(|program| planned(program, Some(budget)));
        assert_eq!(two.coalesced, [[200, 50]], "{two}");
        let steps = |plan: &Plan| plan.reports()[0].counts.unwrap().forward_steps() as f64;
        let more = steps(&two) / steps(&one);
        assert!(more < 1.02, "{more}\n{one}\n{two}");
    }
}
