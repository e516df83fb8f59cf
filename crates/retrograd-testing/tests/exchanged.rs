//! Loops over several arrays that their steps change and exchange, also in branches: machine code gives the bits of the
//! interpreter, wherever buffers are.

use std::fmt::Write;
use std::sync::Arc;

use retrograd_compiler::ir::{Array, DType, Data, Program, verify};
use retrograd_compiler::opt::simplify;
use retrograd_compiler::plan::strategy::{Auto, Revolve};
use retrograd_compiler::{diff, eval, ops};
use retrograd_testing::Random;
use retrograd_testing::native::Native;

const PROGRAMS: u64 = 300;

/// Branches inside of each other.
const DEPTH: usize = 2;

/// `(i, three arrays, two truths) -> three arrays`.
const PARAMS: &str = "%0: i64, %1: f64[4], %2: f64[4], %3: f64[4], %4: bool, %5: bool";

/// Writes functions, each after those that it calls.
struct Maker {
    random: Random,
    functions: String,
    count: usize,
}

impl Maker {
    /// A function of [`PARAMS`]; its name.
    fn function(&mut self, depth: usize) -> String {
        let (mut arrays, mut truths, mut next, mut text) = (vec![1, 2, 3], vec![4, 5], 6, String::new());
        for _ in 0..self.random.below(6) {
            let [a, b, c] = [0; 3].map(|_| arrays[self.random.below(arrays.len())]);
            let [p, q] = [0; 2].map(|_| truths[self.random.below(truths.len())]);
            let mut line = |text: &mut String, types: &str, code: String| {
                let results: Vec<String> =
                    types.split(' ').enumerate().map(|(k, ty)| format!("%{}: {ty}", next + k)).collect();
                writeln!(text, "  {} = {code}", results.join(", ")).expect("strings take everything");
                next += results.len();
                next - 1
            };
            match self.random.below(if depth > 0 { 7 } else { 5 }) {
                0 => arrays.push(line(&mut text, "f64[4]", format!("add %{a}, %{b}"))),
                1 => arrays.push(line(&mut text, "f64[4]", format!("sin %{a}"))),
                2 => arrays.push(line(&mut text, "f64[4]", format!("reverse %{a} {{axes=[0]}}"))),
                3 => {
                    let mask = line(&mut text, "bool[4]", format!("broadcast %{p} {{shape=[4], axes=[]}}"));
                    arrays.push(line(&mut text, "f64[4]", format!("select %{mask}, %{a}, %{b}")));
                }
                4 => {
                    let one = line(&mut text, "f64[1]", format!("slice %{a} {{start=[0], stop=[1], step=[1]}}"));
                    arrays.push(line(&mut text, "f64[4]", format!("add_at %{b}, %{one}, %0 {{step=[1]}}")));
                    let number = line(&mut text, "f64", format!("reshape %{one} {{shape=[]}}"));
                    let zero = line(&mut text, "f64", "constant {value=0.1}".into());
                    truths.push(line(&mut text, "bool", format!("gt %{number}, %{zero}")));
                }
                _ => {
                    let [first, second] = [(); 2].map(|()| self.function(depth - 1));
                    let args = format!("%0, %{a}, %{b}, %{c}, %{p}, %{q}");
                    let code = format!("if %{p} args({args}) {{then={first}, else={second}}}");
                    let last = line(&mut text, "f64[4] f64[4] f64[4]", code);
                    arrays.extend([last - 2, last - 1, last]);
                }
            }
        }
        let results = [0; 3].map(|_| arrays[arrays.len() - 1 - self.random.below(arrays.len().min(4))]);
        self.count += 1;
        let name = format!("f{}", self.count);
        let results = results.map(|value| format!("%{value}")).join(", ");
        let head = format!("fn {name}({PARAMS}) -> f64[4], f64[4], f64[4]");
        writeln!(self.functions, "{head} {{\n{text}  return {results}\n}}").expect("strings take everything");
        name
    }
}

/// Some steps of such a function.
fn program(seed: u64) -> Program {
    let mut maker = Maker { random: Random::new(seed), functions: String::new(), count: 0 };
    let (step, steps) = (maker.function(DEPTH), 1 + maker.random.below(4));
    let text = format!(
        "fn main(%0: f64[4], %1: f64[4], %2: f64[4], %3: bool, %4: bool) -> f64[4], f64[4], f64[4] {{
  %5: i64 = constant {{value={steps}}}
  %6: f64[4], %7: f64[4], %8: f64[4] = for %5 carries(%0, %1, %2) invariants(%3, %4) {{body={step}}}
  return %6, %7, %8
}}
{}",
        maker.functions
    );
    let program = ops::parse(&text, "exchanged.rg").unwrap_or_else(|error| panic!("seed {seed}: {error}\n{text}"));
    verify(&program).unwrap_or_else(|error| panic!("seed {seed}: {error}\n{text}"));
    if seed.is_multiple_of(2) { simplify(&program) } else { program }
}

#[test]
fn arrays_that_steps_exchange_keep_their_bits() {
    let array = |k: usize| Array::f64([4], (0..4).map(|j| ((7 * k + 3 * j) as f64).sin()).collect());
    for seed in 0..PROGRAMS {
        let program = program(seed);
        for truths in [[true, false], [false, true]] {
            let truths = truths.map(|truth| Array::new([], Data::Bool(vec![truth])));
            let inputs: Vec<Array> = (0..3).map(array).chain(truths).collect();
            let check = |program: &Program, inputs: &[Array], strategy: Arc<dyn retrograd_compiler::plan::Strategy>| {
                let expected = eval::run(program, inputs).unwrap();
                let native = Native::new(program, strategy, None).unwrap();
                native.check(inputs, &expected).unwrap_or_else(|error| panic!("seed {seed}: {error}\n{program}"));
            };
            check(&program, &inputs, Arc::new(Auto));
            if seed.is_multiple_of(3) {
                let adjoint = simplify(&diff::vjp(&program, &[0, 1, 2], &[0, 1, 2]).unwrap());
                let inputs: Vec<Array> = inputs.iter().cloned().chain((3..6).map(array)).collect();
                assert_eq!(inputs[5].ty().dtype, DType::F64);
                check(&adjoint, &inputs, Arc::new(Auto));
                check(&adjoint, &inputs, Arc::new(Revolve));
            }
        }
    }
}
