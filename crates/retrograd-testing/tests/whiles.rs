//! Derivatives through `while` and through calls with rules of their own, to order 2 in all combinations of modes, and
//! their machine code under every plan.

use retrograd_compiler::ir::{Array, ErrorKind, Op, Program, verify};
use retrograd_compiler::{diff, eval, ops, opt};
use retrograd_testing::check_program;
use retrograd_testing::laws::{Trial, check_plans, strategies};
use retrograd_testing::programs::{Case, Size};

fn parse(text: &str) -> Program {
    let program = ops::parse(text, "test.rg").unwrap();
    verify(&program).unwrap();
    program
}

/// Derivatives to order 2, as written and simplified.
fn check(text: &str, inputs: &[Array]) {
    let program = parse(text);
    for program in [&opt::simplify(&program), &program] {
        check_program(program, inputs).unwrap_or_else(|message| panic!("{message}\n{program}"));
    }
    check_native(&program, inputs);
}

/// Values, gradients and gradients of gradients, with the values and without, are the interpreter's bits under every
/// strategy and budget.
fn check_native(program: &Program, inputs: &[Array]) {
    for seed in [0, 1] {
        let mut case = Some(Case { seed, size: Size::Small, program: program.clone(), inputs: inputs.to_vec() });
        for order in 0..3 {
            let Some(Case { program, inputs, .. }) = &case else { break };
            check_plans(program, inputs, &strategies())
                .unwrap_or_else(|message| panic!("order {order}: {message}\n{program}"));
            case =
                Trial::new(case.expect("just seen")).gradient().unwrap_or_else(|message| panic!("{message}")).cloned();
        }
    }
}

fn numbers(numbers: &[f64]) -> Vec<Array> {
    numbers.iter().map(|x| Array::scalar(*x)).collect()
}

fn first_order(program: &Program, inputs: &[f64]) -> Vec<f64> {
    let wrt: Vec<usize> = (0..program.main().params.len()).collect();
    let gradient = diff::vjp(program, &wrt, &[0]).unwrap();
    verify(&gradient).unwrap();
    let results = eval::run(&gradient, &numbers(&[inputs, &[1.0]].concat())).unwrap();
    results[program.main().results.len()..].iter().map(|array| array.as_f64()[0]).collect()
}

/// s = s θ + sin(s) / 2 until it is at least 2; the condition is not close to its edge, so trips do not change under a
/// small change of inputs.
const GROW: &str = "
fn main(%s: f64, %t: f64) -> f64, i64 {
  %e: f64, %n: i64 = while carries(%s) invariants(%t) {cond=below, body=step}
  return %e, %n
}
fn below(%s: f64, %t: f64) -> bool {
  %two: f64 = constant {value=2.0}
  %p: bool = lt %s, %two
  return %p
}
fn step(%s: f64, %t: f64) -> f64 {
  %u: f64 = sin %s
  %h: f64 = constant {value=0.5}
  %hu: f64 = mul %h, %u
  %v: f64 = mul %s, %t
  %w: f64 = add %hu, %v
  return %w
}";

#[test]
fn trips_that_depend_on_data() {
    for (s, trips) in [(0.3, 4), (0.9, 2), (1.5, 1), (3.0, 0)] {
        let inputs = numbers(&[s, 1.2]);
        assert_eq!(eval::run(&parse(GROW), &inputs).unwrap()[1], Array::int(trips));
        check(GROW, &inputs);
    }
}

#[test]
fn the_gradient_of_no_trips_is_that_of_the_start() {
    assert_eq!(first_order(&parse(GROW), &[3.0, 1.2]), [1.0, 0.0]);
}

#[test]
fn newton_iteration_has_the_derivative_of_the_root() {
    // x = (x + a / x) / 2 until x² is close to a: d√a/da = 1 / (2 √a).
    let newton = "
fn main(%a: f64) -> f64 {
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
}";
    let found = first_order(&parse(newton), &[2.0])[0];
    assert!((found - 0.5 / 2f64.sqrt()).abs() < 1e-9, "{found}");
}

#[test]
fn while_in_for() {
    check(
        "
fn main(%x: f64, %t: f64) -> f64 {
  %n: i64 = constant {value=3}
  %y: f64 = for %n carries(%x) invariants(%t) {body=outer}
  return %y
}
fn outer(%i: i64, %x: f64, %t: f64) -> f64 {
  %z: i64 = constant {value=0}
  %k: i64, %y: f64, %n: i64 = while carries(%z, %x) invariants(%i, %t) {cond=below, body=step}
  return %y
}
fn below(%k: i64, %x: f64, %i: i64, %t: f64) -> bool {
  %p: bool = lt %k, %i
  return %p
}
fn step(%k: i64, %x: f64, %i: i64, %t: f64) -> i64, f64 {
  %one: i64 = constant {value=1}
  %next: i64 = add %k, %one
  %a: f64 = mul %x, %t
  %b: f64 = sin %a
  return %next, %b
}",
        &numbers(&[0.7, 1.3]),
    );
}

#[test]
fn while_in_if_in_while_over_arrays() {
    check(
        "
fn main(%x: f64[3], %t: f64) -> f64[3], i64 {
  %y: f64[3], %n: i64 = while carries(%x) invariants(%t) {cond=small, body=turn}
  return %y, %n
}
fn small(%x: f64[3], %t: f64) -> bool {
  %m: f64 = reduce_max %x {axes=[0]}
  %five: f64 = constant {value=5.0}
  %p: bool = lt %m, %five
  return %p
}
fn turn(%x: f64[3], %t: f64) -> f64[3] {
  %s: f64 = sum %x {axes=[0]}
  %two: f64 = constant {value=2.0}
  %p: bool = lt %s, %two
  %y: f64[3] = if %p args(%x, %t) {then=inner, else=grow}
  return %y
}
fn inner(%x: f64[3], %t: f64) -> f64[3] {
  %k: i64 = constant {value=0}
  %j: i64, %y: f64[3], %n: i64 = while carries(%k, %x) invariants(%t) {cond=twice, body=slide}
  return %y
}
fn twice(%k: i64, %x: f64[3], %t: f64) -> bool {
  %two: i64 = constant {value=2}
  %p: bool = lt %k, %two
  return %p
}
fn slide(%k: i64, %x: f64[3], %t: f64) -> i64, f64[3] {
  %a: f64 = gather %x, %k {axis=[0]}
  %b: f64 = mul %a, %t
  %c: f64 = sin %b
  %one: i64 = constant {value=1}
  %next: i64 = add %k, %one
  %y: f64[3] = scatter_add %x, %c, %next {axis=[0]}
  return %next, %y
}
fn grow(%x: f64[3], %t: f64) -> f64[3] {
  %tt: f64[3] = broadcast %t {shape=[3], axes=[]}
  %y: f64[3] = mul %x, %tt
  return %y
}",
        &[Array::f64([3], vec![0.3, 0.4, 0.5]), Array::scalar(1.7)],
    );
}

#[test]
fn for_and_if_in_while() {
    check(
        "
fn main(%x: f64[2], %t: f64) -> f64[2], i64 {
  %y: f64[2], %n: i64 = while carries(%x) invariants(%t) {cond=small, body=turn}
  return %y, %n
}
fn small(%x: f64[2], %t: f64) -> bool {
  %s: f64 = sum %x {axes=[0]}
  %five: f64 = constant {value=5.0}
  %p: bool = lt %s, %five
  return %p
}
fn turn(%x: f64[2], %t: f64) -> f64[2] {
  %n: i64 = constant {value=2}
  %y: f64[2] = for %n carries(%x) invariants(%t) {body=step}
  %s: f64 = sum %y {axes=[0]}
  %three: f64 = constant {value=3.0}
  %p: bool = lt %s, %three
  %z: f64[2] = if %p args(%y, %t) {then=scaled, else=squared}
  return %z
}
fn step(%i: i64, %x: f64[2], %t: f64) -> f64[2] {
  %tt: f64[2] = broadcast %t {shape=[2], axes=[]}
  %a: f64[2] = mul %x, %tt
  %b: f64[2] = sin %a
  %c: f64[2] = add %x, %b
  return %c
}
fn scaled(%x: f64[2], %t: f64) -> f64[2] {
  %tt: f64[2] = broadcast %t {shape=[2], axes=[]}
  %y: f64[2] = mul %x, %tt
  return %y
}
fn squared(%x: f64[2], %t: f64) -> f64[2] {
  %y: f64[2] = mul %x, %x
  return %y
}",
        &[Array::f64([2], vec![0.3, 0.4]), Array::scalar(1.2)],
    );
}

#[test]
fn what_reaches_a_result_through_several_steps_is_active() {
    // x comes to b after one step, and to a, which is the result, after two.
    let text = "
fn main(%x: f64) -> f64 {
  %z: i64 = constant {value=0}
  %half: f64 = constant {value=0.5}
  %k: i64, %a: f64, %b: f64, %c: f64, %n: i64 = while carries(%z, %half, %half, %x) {cond=below, body=step}
  return %a
}
fn below(%k: i64, %a: f64, %b: f64, %c: f64) -> bool {
  %four: i64 = constant {value=4}
  %p: bool = lt %k, %four
  return %p
}
fn step(%k: i64, %a: f64, %b: f64, %c: f64) -> i64, f64, f64, f64 {
  %one: i64 = constant {value=1}
  %next: i64 = add %k, %one
  %d: f64 = sin %b
  %e: f64 = mul %c, %c
  return %next, %d, %e, %c
}";
    check(text, &numbers(&[0.7]));
    let expected = 2.0 * 0.7 * (0.7_f64 * 0.7).cos();
    assert!((first_order(&parse(text), &[0.7])[0] - expected).abs() < 1e-14);
}

#[test]
fn a_while_is_sliced_to_what_its_condition_and_results_need() {
    let program = parse(
        "
fn main(%x: f64, %y: f64) -> f64 {
  %z: i64 = constant {value=0}
  %k: i64, %a: f64, %b: f64, %c: f64, %n: i64 = while carries(%z, %x, %y, %x) {cond=below, body=step}
  return %a
}
fn below(%k: i64, %a: f64, %b: f64, %c: f64) -> bool {
  %five: i64 = constant {value=5}
  %p: bool = lt %k, %five
  return %p
}
fn step(%k: i64, %a: f64, %b: f64, %c: f64) -> i64, f64, f64, f64 {
  %one: i64 = constant {value=1}
  %next: i64 = add %k, %one
  %d: f64 = mul %a, %c
  %e: f64 = exp %b
  return %next, %d, %e, %c
}",
    );
    let simple = opt::simplify(&program);
    let Some(Op::While(op)) = simple.main().insts.iter().map(|inst| &inst.op).find(|op| matches!(op, Op::While(_)))
    else {
        panic!("a while is left\n{simple}")
    };
    // The counter and a; b is dead, and c never changes.
    assert_eq!(op.carries, 2, "{simple}");
}

/// y = a x with the derivative of `tanh`, so that a rule that is not used shows.
const WITH_VJP: &str = "
fn main(%x: f64) -> f64 {
  %y: f64 = call args(%x) {body=f, forward=fwd, backward=bwd}
  %z: f64 = mul %y, %y
  return %z
}
fn f(%x: f64) -> f64 {
  %a: f64 = constant {value=3.0}
  %y: f64 = mul %a, %x
  return %y
}
fn fwd(%x: f64) -> f64, f64 {
  %y: f64 = call args(%x) {body=f}
  %t: f64 = tanh %x
  return %y, %t
}
fn bwd(%t: f64, %ct: f64) -> f64 {
  %tt: f64 = mul %t, %t
  %one: f64 = constant {value=1.0}
  %d: f64 = sub %one, %tt
  %c: f64 = mul %d, %ct
  return %c
}";

#[test]
fn a_custom_vjp_is_what_reverse_mode_uses() {
    let program = parse(WITH_VJP);
    for program in [opt::simplify(&program), program] {
        let expected = 2.0 * (3.0 * 0.4) * (1.0 - 0.4f64.tanh() * 0.4f64.tanh());
        assert!((first_order(&program, &[0.4])[0] - expected).abs() < 1e-12);
        assert_eq!(eval::run(&program, &numbers(&[0.4])).unwrap(), numbers(&[3.0 * 0.4 * (3.0 * 0.4)]));
        let error = diff::jvp(&program, &[0], &[0]).unwrap_err();
        assert_eq!(error.kind, ErrorKind::Unsupported);
        assert_eq!(
            error.to_string(),
            "test.rg:3: unsupported: `f` has a custom_vjp, which forward mode cannot use; give it a custom_jvp, which \
             serves both modes"
        );
    }
}

#[test]
fn the_derivative_of_a_custom_vjp_is_that_of_its_functions() {
    // g = 2 · 3x · (1 − tanh² x); the 3x is a call again, with the same rule.
    let program = parse(WITH_VJP);
    let gradient = diff::vjp(&program, &[0], &[0]).unwrap();
    let second = diff::vjp(&gradient, &[0], &[1]).unwrap();
    let (x, t) = (0.4f64, 0.4f64.tanh());
    let slope = 1.0 - t * t;
    let found = eval::run(&second, &numbers(&[x, 1.0, 1.0])).unwrap()[2].as_f64()[0];
    let expected = 2.0 * slope * slope + 2.0 * 3.0 * x * (-2.0 * t * slope);
    assert!((found - expected).abs() < 1e-12, "{found} is not {expected}");
}

/// sin, with its derivative stated as a custom jvp: everything must be as without it, through a loop too.
const WITH_JVP: &str = "
fn main(%x: f64, %t: f64) -> f64 {
  %n: i64 = constant {value=3}
  %y: f64 = for %n carries(%x) invariants(%t) {body=step}
  return %y
}
fn step(%i: i64, %x: f64, %t: f64) -> f64 {
  %a: f64 = mul %x, %t
  %k: i64, %b: f64 = call args(%i, %a) {body=f, tangent=df}
  return %b
}
fn f(%i: i64, %x: f64) -> i64, f64 {
  %y: f64 = sin %x
  return %i, %y
}
fn df(%i: i64, %x: f64, %dx: f64) -> f64 {
  %c: f64 = cos %x
  %d: f64 = mul %c, %dx
  return %d
}";

#[test]
fn a_custom_jvp_serves_both_modes() {
    check(WITH_JVP, &numbers(&[0.4, 1.2]));
}

#[test]
fn a_custom_jvp_that_is_not_linear_is_refused_in_reverse_mode() {
    let program = parse(&WITH_JVP.replace("%d: f64 = mul %c, %dx", "%d: f64 = mul %dx, %dx"));
    assert!(diff::jvp(&program, &[0], &[0]).is_ok());
    let error = diff::vjp(&program, &[0], &[0]).unwrap_err();
    assert_eq!(error.kind, ErrorKind::Argument);
    assert!(
        error
            .to_string()
            .starts_with("test.rg:18: argument error: the tangent function of a custom_jvp must be linear"),
        "{error}"
    );
}

/// The identity, whose cotangent is clipped to 1, in a loop or not.
fn clipped(main: &str) -> Program {
    parse(&format!(
        "{main}
fn step(%i: i64, %x: f64) -> f64 {{
  %y: f64 = call args(%x) {{body=f, forward=fwd, backward=clip}}
  %t: f64 = constant {{value=2.0}}
  %z: f64 = mul %t, %y
  return %z
}}
fn f(%x: f64) -> f64 {{
  return %x
}}
fn fwd(%x: f64) -> f64 {{
  return %x
}}
fn clip(%ct: f64) -> f64 {{
  %one: f64 = constant {{value=1.0}}
  %p: bool = gt %ct, %one
  %c: f64 = select %p, %one, %ct
  return %c
}}"
    ))
}

#[test]
fn a_cotangent_is_clipped_in_straight_line_code_and_in_loops() {
    let straight = clipped(
        "fn main(%x: f64) -> f64 {\n  %i: i64 = constant {value=0}\n  %y: f64 = call args(%i, %x) {body=step}\n  \
         return %y\n}",
    );
    assert_eq!(first_order(&straight, &[0.3]), [1.0]);
    let looped = clipped(
        "fn main(%x: f64) -> f64 {\n  %n: i64 = constant {value=4}\n  %y: f64 = for %n carries(%x) {body=step}\n  \
         return %y\n}",
    );
    assert_eq!(first_order(&looped, &[0.3]), [1.0]);
}

#[test]
fn a_clipped_loop_is_marked() {
    let main = "fn main(%x: f64) -> f64 {\n  %n: i64 = constant {value=4}\n  %y: f64 = for %n carries(%x) \
                {body=step}\n  return %y\n}";
    let gradient = diff::vjp(&clipped(main), &[0], &[0]).unwrap();
    // The mark is part of the text form.
    let again = ops::parse(&gradient.to_string(), "gradient.rg").unwrap();
    verify(&again).unwrap();
    assert_eq!(again.to_string(), gradient.to_string());
    let unmarked = ops::parse(&gradient.to_string().replace(", custom=1", ""), "gradient.rg").unwrap();
    assert_eq!(verify(&unmarked).unwrap_err().kind, ErrorKind::Verify);
}

#[test]
fn a_clipped_loop_is_differentiated_again_in_both_modes() {
    let main = "fn main(%x: f64) -> f64 {\n  %n: i64 = constant {value=4}\n  %y: f64 = for %n carries(%x) \
                {body=step}\n  return %y\n}";
    let gradient = diff::vjp(&clipped(main), &[0], &[0]).unwrap();
    // The gradient is 16 ct as long as that is below 1, else 1.
    for (ct, derivative) in [(0.01, 16.0), (0.05, 16.0), (0.1, 0.0), (3.0, 0.0)] {
        let forward = diff::jvp(&gradient, &[1], &[1]).unwrap();
        verify(&forward).unwrap();
        assert_eq!(eval::run(&forward, &numbers(&[0.3, ct, 1.0])).unwrap()[2], Array::scalar(derivative));
        let reverse = diff::vjp(&gradient, &[1], &[1]).unwrap();
        verify(&reverse).unwrap();
        assert_eq!(eval::run(&reverse, &numbers(&[0.3, ct, 1.0])).unwrap()[2], Array::scalar(derivative));
    }
}

/// x ← sin(p_i x), each step's cotangent softly clipped to tanh(ct): every part of an unwind, none of them linear.
const SOFTLY_CLIPPED: &str = "
fn main(%n: i64, %x: f64[2], %ps: f64[4,2], %k: f64[2]) -> f64[2], f64[4,2] {
  %y: f64[2], %e: f64[4,2] = for %n carries(%x) invariants(%k) streams(%ps) {body=step, bound=4}
  return %y, %e
}
fn step(%i: i64, %x: f64[2], %k: f64[2], %p: f64[2]) -> f64[2], f64[2] {
  %c: f64[2] = call args(%x) {body=f, forward=fwd, backward=soft}
  %a: f64[2] = mul %p, %c
  %s: f64[2] = sin %a
  %z: f64[2] = mul %s, %k
  %e: f64[2] = mul %z, %c
  return %z, %e
}
fn f(%x: f64[2]) -> f64[2] {
  return %x
}
fn fwd(%x: f64[2]) -> f64[2] {
  return %x
}
fn soft(%ct: f64[2]) -> f64[2] {
  %c: f64[2] = tanh %ct
  return %c
}";

/// The same without a loop, for two steps.
const SOFTLY_CLIPPED_TWICE: &str = "
fn main(%n: i64, %x: f64[2], %ps: f64[4,2], %k: f64[2]) -> f64[2], f64[4,2] {
  %p0: f64[1,2] = slice %ps {start=[0, 0], stop=[1, 2], step=[1, 1]}
  %p1: f64[1,2] = slice %ps {start=[1, 0], stop=[2, 2], step=[1, 1]}
  %q0: f64[2] = reshape %p0 {shape=[2]}
  %q1: f64[2] = reshape %p1 {shape=[2]}
  %z0: f64[2], %e0: f64[2] = call args(%n, %x, %k, %q0) {body=step}
  %z1: f64[2], %e1: f64[2] = call args(%n, %z0, %k, %q1) {body=step}
  %r0: f64[1,2] = reshape %e0 {shape=[1,2]}
  %r1: f64[1,2] = reshape %e1 {shape=[1,2]}
  %zero: f64[2,2] = constant {value=f64[2,2] [[0.0,0.0],[0.0,0.0]]}
  %e: f64[4,2] = concat %r0, %r1, %zero {axis=[0]}
  return %z1, %e
}";

#[test]
fn reverse_over_a_loop_that_is_not_linear_in_its_cotangents_equals_that_over_its_steps() {
    let steps = SOFTLY_CLIPPED[SOFTLY_CLIPPED.find("fn step").unwrap()..].to_string();
    let run = |text: &str| {
        let gradient = diff::vjp(&parse(text), &[1, 2, 3], &[0, 1]).unwrap();
        let reverse = diff::vjp(&gradient, &[4, 5], &[2, 3, 4]).unwrap();
        verify(&reverse).unwrap();
        let shapes: [&[usize]; 8] = [&[2], &[4, 2], &[2], &[2], &[4, 2], &[2], &[4, 2], &[2]];
        let wave = |(place, shape): (usize, &&[usize])| {
            let count: usize = shape.iter().product();
            Array::f64(*shape, (0..count).map(|k| (1.3 * k as f64 + place as f64).sin()).collect())
        };
        let inputs: Vec<Array> = [Array::int(2)].into_iter().chain(shapes.iter().enumerate().map(wave)).collect();
        eval::run(&reverse, &inputs).unwrap()
    };
    let (looped, straight) = (run(SOFTLY_CLIPPED), run(&format!("{SOFTLY_CLIPPED_TWICE}\n{steps}")));
    for (a, b) in looped.iter().zip(&straight) {
        for (a, b) in a.as_f64().iter().zip(b.as_f64()) {
            assert!((a - b).abs() < 1e-13, "{looped:?} against {straight:?}");
        }
    }
    assert!(
        looped[5..].iter().all(|ct| ct.as_f64().iter().any(|x| x.abs() > 1e-3)),
        "the test sees something: {looped:?}"
    );
}

#[test]
fn a_loop_that_is_not_linear_in_its_cotangents_is_not_differentiated_again_through_its_states() {
    let gradient = diff::vjp(&parse(SOFTLY_CLIPPED), &[1, 2, 3], &[0, 1]).unwrap();
    let error = diff::vjp(&gradient, &[1], &[2]).unwrap_err();
    assert_eq!(error.kind, ErrorKind::Unsupported);
    assert!(
        error.to_string().ends_with("only its cotangents may vary, not what the loop itself starts from and reads"),
        "{error}"
    );
}

#[test]
fn states_are_stored_only_where_their_number_is_known() {
    let main = "fn main(%n: i64, %x: f64) -> f64 {\n  %y: f64 = for %n carries(%x) {body=step}\n  return %y\n}";
    let gradient = diff::vjp(&clipped(main), &[1], &[0]).unwrap();
    let error = diff::vjp(&gradient, &[2], &[1]).unwrap_err();
    assert_eq!(error.kind, ErrorKind::Unsupported);
    assert_eq!(error.pos.line(), 2);
}

#[test]
fn calls_are_gone_before_the_plan() {
    let program = parse(WITH_VJP);
    let program = opt::all_calls(&program);
    assert!(program.functions.iter().flat_map(|function| &function.insts).all(|inst| !matches!(inst.op, Op::Call(_))));
    assert_eq!(program.functions.len(), 1);
}
