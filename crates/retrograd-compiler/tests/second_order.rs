//! Reverse over reverse of loops: as small as reverse over forward, in place where the loop is, and the same numbers.

use retrograd_compiler::diff::Direction;
use retrograd_compiler::diff::check::{Random, check_in_mode, floats};
use retrograd_compiler::ir::{Array, DType, Op, Program, Type, verify};
use retrograd_compiler::opt::{join, simplify};
use retrograd_compiler::{diff, eval, ops};

const TANH: &str = "fn main(%n: i64, %s: f64[4], %w: f64[4]) -> f64[4] {
  %1: f64[4] = for %n carries(%s) invariants(%w) {body=step}
  return %1
}
fn step(%i: i64, %s: f64[4], %w: f64[4]) -> f64[4] {
  %0: f64[4] = mul %s, %w
  %1: f64[4] = tanh %0
  return %1
}
";

const LORENZ: &str = "fn main(%n: i64, %x: f64, %y: f64, %z: f64, %rho: f64) -> f64 {
  %0: f64, %1: f64, %2: f64 = for %n carries(%x, %y, %z) invariants(%rho) {body=step}
  return %0
}
fn step(%i: i64, %x: f64, %y: f64, %z: f64, %rho: f64) -> f64, f64, f64 {
  %h: f64 = constant {value=0.01}
  %sigma: f64 = constant {value=10.0}
  %beta: f64 = constant {value=2.5}
  %0: f64 = sub %y, %x
  %1: f64 = mul %sigma, %0
  %2: f64 = mul %h, %1
  %3: f64 = add %x, %2
  %4: f64 = sub %rho, %z
  %5: f64 = mul %x, %4
  %6: f64 = sub %5, %y
  %7: f64 = mul %h, %6
  %8: f64 = add %y, %7
  %9: f64 = mul %x, %y
  %10: f64 = mul %beta, %z
  %11: f64 = sub %9, %10
  %12: f64 = mul %h, %11
  %13: f64 = add %z, %12
  return %3, %8, %13
}
";

const STENCIL: &str = "fn main(%A: f64[9]) -> f64[9] {
  %0: i64 = constant {value=8}
  %1: f64[9] = for %0 carries(%A) {body=step}
  return %1
}
fn step(%i: i64, %A: f64[9]) -> f64[9] {
  %0: i64 = constant {value=1}
  %1: i64 = add %i, %0
  %2: f64[1] = dynamic_slice %A, %i {sizes=[1], step=[1]}
  %3: f64[1] = dynamic_slice %A, %1 {sizes=[1], step=[1]}
  %4: f64[1] = sin %2
  %5: f64[1] = mul %4, %3
  %6: f64[9] = update %A, %5, %1 {step=[1]}
  return %6
}
";

const SEIDEL: &str = "fn main(%u: f64[9], %q: f64[9], %k: f64) -> f64[9] {
  %n: i64 = constant {value=7}
  %m: i64 = constant {value=5}
  %1: f64[9] = for %m carries(%u) invariants(%q, %k, %n) {body=pass}
  return %1
}
fn pass(%t: i64, %u: f64[9], %q: f64[9], %k: f64, %n: i64) -> f64[9] {
  %1: f64[9] = for %n carries(%u) invariants(%q, %k) {body=relax}
  return %1
}
fn relax(%i: i64, %u: f64[9], %q: f64[9], %k: f64) -> f64[9] {
  %one: i64 = constant {value=1}
  %two: i64 = constant {value=2}
  %j: i64 = add %i, %one
  %l: i64 = add %i, %two
  %a: f64[1] = dynamic_slice %u, %i {sizes=[1], step=[1]}
  %b: f64[1] = dynamic_slice %u, %l {sizes=[1], step=[1]}
  %c: f64[1] = dynamic_slice %q, %j {sizes=[1], step=[1]}
  %s: f64[1] = add %a, %b
  %kk: f64[1] = broadcast %k {shape=[1], axes=[]}
  %e: f64[1] = mul %s, %kk
  %f: f64[1] = add %e, %c
  %g: f64[1] = sin %f
  %r: f64[9] = update %u, %g, %j {step=[1]}
  return %r
}
";

const SEIDEL_LINEAR: &str = "fn main(%u: f64[9], %q: f64[9], %k: f64) -> f64[9] {
  %n: i64 = constant {value=7}
  %1: f64[9] = for %n carries(%u) invariants(%q, %k) {body=relax}
  return %1
}
fn relax(%i: i64, %u: f64[9], %q: f64[9], %k: f64) -> f64[9] {
  %one: i64 = constant {value=1}
  %two: i64 = constant {value=2}
  %j: i64 = add %i, %one
  %l: i64 = add %i, %two
  %a: f64[1] = dynamic_slice %u, %i {sizes=[1], step=[1]}
  %b: f64[1] = dynamic_slice %u, %l {sizes=[1], step=[1]}
  %c: f64[1] = dynamic_slice %q, %j {sizes=[1], step=[1]}
  %s: f64[1] = add %a, %b
  %kk: f64[1] = broadcast %k {shape=[1], axes=[]}
  %e: f64[1] = mul %s, %kk
  %f: f64[1] = add %e, %c
  %r: f64[9] = update %u, %f, %j {step=[1]}
  return %r
}
";

const NEST: &str = "fn main(%s: f64[4], %w: f64[4]) -> f64[4] {
  %0: i64 = constant {value=5}
  %1: f64[4] = for %0 carries(%s) invariants(%w) {body=outer}
  return %1
}
fn outer(%i: i64, %s: f64[4], %w: f64[4]) -> f64[4] {
  %0: i64 = constant {value=3}
  %1: f64[4] = for %0 carries(%s) invariants(%w) {body=inner}
  %2: f64[4] = add %1, %s
  %3: f64[4] = sin %2
  return %3
}
fn inner(%j: i64, %s: f64[4], %w: f64[4]) -> f64[4] {
  %0: f64[4] = mul %s, %w
  %1: f64[4] = sin %0
  return %1
}
";

const NEST_OF_THREE: &str = "fn main(%s: f64[4], %w: f64[4]) -> f64[4] {
  %0: i64 = constant {value=5}
  %1: f64[4] = for %0 carries(%s) invariants(%w) {body=outer}
  return %1
}
fn outer(%i: i64, %s: f64[4], %w: f64[4]) -> f64[4] {
  %0: i64 = constant {value=3}
  %1: f64[4] = for %0 carries(%s) invariants(%w) {body=middle}
  %2: f64[4] = add %1, %s
  %3: f64[4] = sin %2
  return %3
}
fn middle(%i: i64, %s: f64[4], %w: f64[4]) -> f64[4] {
  %0: i64 = constant {value=3}
  %1: f64[4] = for %0 carries(%s) invariants(%w) {body=inner}
  %2: f64[4] = add %1, %s
  %3: f64[4] = sin %2
  return %3
}
fn inner(%j: i64, %s: f64[4], %w: f64[4]) -> f64[4] {
  %0: f64[4] = mul %s, %w
  %1: f64[4] = sin %0
  return %1
}
";

const WHILE: &str = "fn main(%a: f64) -> f64 {
  %one: f64 = constant {value=1.0}
  %x: f64, %n: i64 = while carries(%one) invariants(%a) {cond=far, body=step}
  return %x
}
fn far(%x: f64, %a: f64) -> bool {
  %xx: f64 = mul %x, %x
  %d: f64 = sub %xx, %a
  %dd: f64 = mul %d, %d
  %e: f64 = constant {value=1e-20}
  %p: bool = gt %dd, %e
  return %p
}
fn step(%x: f64, %a: f64) -> f64 {
  %q: f64 = div %a, %x
  %s: f64 = add %x, %q
  %h: f64 = constant {value=0.5}
  %y: f64 = mul %h, %s
  return %y
}
";

const STREAMS: &str = "fn main(%c: f64, %w: f64, %x: f64[5]) -> f64, f64[5] {
  %n: i64 = constant {value=5}
  %0: f64, %1: f64[5] = for %n carries(%c) invariants(%w) streams(%x) {body=step, bound=5}
  return %0, %1
}
fn step(%i: i64, %c: f64, %w: f64, %x: f64) -> f64, f64 {
  %0: f64 = mul %c, %x
  %1: f64 = add %0, %w
  %2: f64 = tanh %1
  %3: f64 = mul %x, %x
  %4: f64 = mul %c, %3
  return %2, %4
}
";

const BRANCH: &str = "fn main(%x: f64, %w: f64) -> f64 {
  %n: i64 = constant {value=6}
  %0: f64 = for %n carries(%x) invariants(%w) {body=step}
  return %0
}
fn step(%i: i64, %x: f64, %w: f64) -> f64 {
  %zero: f64 = constant {value=0.2}
  %p: bool = gt %x, %zero
  %0: f64, %1: f64 = if %p args(%x, %w) {then=high, else=low}
  %2: f64 = sin %0
  %3: f64 = mul %2, %1
  return %3
}
fn high(%x: f64, %w: f64) -> f64, f64 {
  %0: f64 = mul %x, %w
  %1: f64 = sin %0
  return %1, %x
}
fn low(%x: f64, %w: f64) -> f64, f64 {
  %0: f64 = add %x, %w
  %1: f64 = exp %0
  return %1, %w
}
";

const NAMES: [(&str, &str); 10] = [
    ("tanh", TANH),
    ("lorenz", LORENZ),
    ("stencil", STENCIL),
    ("seidel", SEIDEL),
    ("seidel_linear", SEIDEL_LINEAR),
    ("nest", NEST),
    ("nest of three", NEST_OF_THREE),
    ("while", WHILE),
    ("streams", STREAMS),
    ("branch", BRANCH),
];

fn parsed(text: &str) -> Program {
    let program = ops::parse(text, "second_order.rg").unwrap();
    verify(&program).unwrap();
    program
}

/// Numbers for the parameters; counts are 4.
fn inputs(program: &Program) -> Vec<Array> {
    let mut random = Random::new(7);
    let draw = |ty: &Type| if ty.dtype == DType::I64 { Array::int(4) } else { random.array(ty, (0.2, 0.9)) };
    program.main().param_types().iter().map(draw).collect()
}

/// `(x, ct, w)` to the derivative of ⟨w, Jᵀct⟩ by x, and `(x, w, ct)` to that of ⟨ct, J w⟩: they are the same, with all
/// floats.
fn both_forms(program: &Program) -> [Program; 2] {
    let program = simplify(program);
    let (wrt, outputs) = (floats(&program.main().param_types()), floats(&program.main().result_types()));
    let values = program.main().results.len();
    let derived = [diff::vjp(&program, &wrt, &outputs), diff::jvp(&program, &wrt, &outputs)];
    derived.map(|first| {
        let first = simplify(&first.unwrap());
        let derivatives: Vec<usize> = (values..first.main().results.len()).collect();
        let mut second = diff::vjp(&first, &wrt, &derivatives).unwrap();
        let entry = usize::from(second.entry);
        second.functions[entry].results.drain(..first.main().results.len());
        verify(&second).unwrap();
        simplify(&second)
    })
}

#[derive(Debug, PartialEq)]
struct Size {
    loops: usize,
    unwinds: usize,
    branches: usize,
    instructions: usize,
}

fn size(program: &Program) -> Size {
    let insts: Vec<&Op> = program.functions.iter().flat_map(|function| &function.insts).map(|inst| &inst.op).collect();
    let count = |of: fn(&Op) -> bool| insts.iter().filter(|op| of(op)).count();
    Size {
        loops: count(|op| matches!(op, Op::For(_) | Op::While(_))),
        unwinds: count(|op| matches!(op, Op::Unwind(_))),
        branches: count(|op| matches!(op, Op::If(_))),
        instructions: insts.len(),
    }
}

/// The second derivative of a loop is one loop backwards, whose step computes the state once, also in nests: where the
/// state and what is linear in the cotangents were reversed apart, three levels had 11 unwinds and 126 instructions,
/// now 3 and 75.
#[test]
fn reverse_over_reverse_is_as_small_as_reverse_over_forward() {
    for (name, text) in NAMES {
        let [reverse, forward] = both_forms(&parsed(text)).map(|program| size(&program));
        assert!(reverse.instructions <= forward.instructions, "{name}: {reverse:?}, forward {forward:?}");
        let form = |size: &Size| (size.loops, size.unwinds, size.branches);
        assert_eq!(form(&reverse), form(&forward), "{name}");
    }
}

#[test]
fn reverse_over_reverse_gives_the_numbers_of_reverse_over_forward() {
    for (name, text) in NAMES {
        let program = parsed(text);
        let [reverse, forward] = both_forms(&program);
        let (x, mut random) = (inputs(&program), Random::new(8));
        let mut draw = |types: Vec<Type>| -> Vec<Array> {
            types.iter().filter(|ty| ty.dtype.is_float()).map(|ty| random.array(ty, (-1.0, 1.0))).collect()
        };
        let (w, ct) = (draw(program.main().param_types()), draw(program.main().result_types()));
        let found = eval::run(&reverse, &[&x[..], &ct, &w].concat()).unwrap();
        let expected = eval::run(&forward, &[&x[..], &w, &ct].concat()).unwrap();
        assert!(
            expected.iter().any(|array| array.as_f64().iter().any(|x| x.abs() > 1e-3)),
            "{name} has a second derivative"
        );
        for (found, expected) in found.iter().zip(&expected) {
            let near = |(a, b): (&f64, &f64)| (a - b).abs() <= 1e-12 * b.abs().max(1.0);
            assert!(found.as_f64().iter().zip(expected.as_f64()).all(near), "{name}: {found}, expected {expected}");
        }
    }
}

#[test]
fn reverse_over_reverse_over_reverse_is_the_third_derivative() {
    for (name, text) in NAMES {
        let program = parsed(text);
        check_in_mode(&program, &inputs(&program), 3, Direction::Reverse, 5)
            .unwrap_or_else(|error| panic!("{name}: {error}"));
    }
}

/// A step that changes one element of an array costs no more in the second derivative: arrays of 9 elements are changed
/// in place.
#[test]
fn updates_in_place_stay_in_place_at_second_order() {
    for text in [STENCIL, SEIDEL, SEIDEL_LINEAR] {
        for program in both_forms(&parsed(text)) {
            let bodies = program.functions.iter().enumerate().filter(|(k, _)| *k != usize::from(program.entry));
            for (function, inst) in
                bodies.flat_map(|(_, function)| function.insts.iter().map(move |inst| (function, inst)))
            {
                let large = inst.results.iter().any(|v| function.ty(*v).elements() == 9);
                let in_place = ["update", "add_at", "for", "unwind"].contains(&inst.op.name());
                assert!(!large || in_place, "{}: {inst:?}", function.name);
            }
        }
    }
}

/// The step of [`TANH`] and what it makes of a second carry, and two loops over them in an order.
fn beside(first: &str, second: &str) -> Program {
    parsed(&format!(
        "fn main(%n: i64, %m: i64, %s: f64, %w: f64) -> f64, f64 {{\n{first}\n{second}\n  return %a, %c\n}}
fn short(%i: i64, %s: f64, %w: f64) -> f64 {{
  %0: f64 = mul %s, %w
  %1: f64 = tanh %0
  return %1
}}
fn long(%i: i64, %s: f64, %d: f64, %w: f64) -> f64, f64 {{
  %0: f64 = mul %s, %w
  %1: f64 = tanh %0
  %2: f64 = mul %d, %1
  %3: f64 = add %2, %w
  return %1, %3
}}
fn apart(%i: i64, %s: f64, %d: f64, %w: f64) -> f64, f64 {{
  %0: f64 = mul %d, %w
  %1: f64 = tanh %0
  %2: f64 = mul %s, %w
  return %1, %2
}}
"
    ))
}

/// How many loops are left of two; the bits are those of before.
fn joined(program: &Program) -> usize {
    let after = join(program);
    verify(&after).unwrap();
    for n in [0, 1, 3] {
        let inputs = [Array::int(n), Array::int(2), Array::scalar(0.4), Array::scalar(0.7)];
        let (expected, found) = (eval::run(program, &inputs).unwrap(), eval::run(&after, &inputs).unwrap());
        assert!(expected.iter().zip(&found).all(|(a, b)| a.same_bits(b)), "{found:?}, expected {expected:?}");
    }
    size(&after).loops
}

const SHORT: &str = "  %a: f64 = for %n carries(%s) invariants(%w) {body=short}";
const LONG: &str = "  %b: f64, %c: f64 = for %n carries(%s, %w) invariants(%w) {body=long}";

#[test]
fn a_loop_whose_states_another_has_is_joined_to_it() {
    assert_eq!(joined(&beside(SHORT, LONG)), 1);
    assert_eq!(joined(&beside(LONG, SHORT)), 1);
}

#[test]
fn loops_of_other_states_stay() {
    // Another count; another start; the same start, but another step after the first.
    assert_eq!(joined(&beside(SHORT, &LONG.replace("%n", "%m"))), 2);
    assert_eq!(joined(&beside(SHORT, &LONG.replace("(%s, %w)", "(%w, %s)"))), 2);
    let swapped = "  %c: f64, %b: f64 = for %n carries(%s, %s) invariants(%w) {body=apart}";
    assert_eq!(joined(&beside(SHORT, swapped)), 2);
    // The longer loop starts from what the shorter one ends with.
    assert_eq!(joined(&beside(SHORT, &LONG.replace("(%s, %w)", "(%s, %a)"))), 2);
}
