//! Laws applied to Programs: fewer operations, the same values to rounding, nothing undefined that was defined or the
//! other way round.

use retrograd::{Array, Type, eval, grad, jit};
use retrograd_expr::{Expr, fast_math, program};

use crate::support::{NAMES, Random, smooth};

/// Instructions that are elementwise arithmetic or functions.
fn operations(program: &retrograd::Program) -> usize {
    program
        .to_string()
        .lines()
        .filter(|line| line.contains(" = ") && !line.contains("constant") && !line.contains("broadcast"))
        .count()
}

#[test]
fn programs_with_laws_have_fewer_operations() {
    let of = |text: &str| {
        let expr = Expr::parse(text).unwrap();
        let inputs: Vec<(&str, Type)> = NAMES.iter().map(|name| (*name, Type::f64([8]))).collect();
        program(&[expr], &inputs).unwrap()
    };
    for (text, most) in [
        ("sin(x)^2*y + cos(x)^2*y", 0),
        ("x*y + x*z", 2),
        ("exp(x)*exp(y)*exp(z)", 3),
        ("log(exp(x)) + y - y", 0),
        ("x/y + z/y", 2),
        ("sqrt(x^2 + 1)*sqrt(x^2 + 1)", 2),
    ] {
        let (before, after) = (of(text), fast_math(&of(text)).unwrap());
        assert!(operations(&after) <= most && operations(&after) < operations(&before), "{text}:\n{after}");
    }
    // What is not known to be defined stays: log(x), x/x.
    for text in ["x/x", "exp(log(x))", "0*log(x)", "sqrt(x)^2"] {
        let (before, after) = (of(text), fast_math(&of(text)).unwrap());
        let at = [-1.0, 0.0].map(|x| Array::f64([8], vec![x; 8]));
        for x in at {
            let run = |program: &retrograd::Program| {
                eval::run(program, &[x.clone(), x.clone(), x.clone()]).unwrap()[0].as_f64()[0]
            };
            assert_eq!(run(&before).is_finite(), run(&after).is_finite(), "{text} at {x:?}");
        }
    }
    // What is more careful than it looks keeps its digits and its range.
    for (text, x) in [
        ("expm1(x)", 1e-12),
        ("log1p(x)", 1e-12),
        ("log(exp(y))", 1e-12),
        ("log(x) + log(x)", 1e-300),
        ("sqrt(x)*sqrt(x)", 1e-300),
        ("tanh(x)", 800.0),
    ] {
        let [before, after] = [of(text), fast_math(&of(text)).unwrap()].map(|program| {
            eval::run(&program, &[x, 0.3, 0.2].map(|x| Array::f64([8], vec![x; 8]))).unwrap()[0].as_f64()[0]
        });
        assert!((before - after).abs() <= 1e-13 * before.abs(), "{text} at {x}: {before} and {after}");
    }
}

#[test]
fn random_programs_keep_their_values_and_gradients() {
    let mut random = Random(31);
    let count = std::env::var("RETROGRAD_FAST").ok().and_then(|text| text.parse().ok()).unwrap_or(60);
    let (mut compared, mut changed) = (0, 0);
    for k in 0..count {
        let exprs: Vec<Expr> = (0..1 + k % 3).map(|_| smooth(&mut random, 2 + k % 5)).collect();
        let inputs: Vec<(&str, Type)> = NAMES.iter().map(|name| (*name, Type::f64([]))).collect();
        let before = program(&exprs, &inputs).unwrap();
        let after = fast_math(&before).unwrap();
        changed += usize::from(before.to_string() != after.to_string());
        let at: Vec<Array> = NAMES.iter().map(|_| Array::scalar(0.2 + 1.3 * random.unit())).collect();
        let derived = |program: &retrograd::Program| {
            let wanted = retrograd::pipeline::Wanted::Jacobian(None);
            let mut found = eval::run(program, &at).unwrap();
            found.extend(eval::run(&retrograd::pipeline::derive(program, wanted, &[0, 1, 2]).unwrap(), &at).unwrap());
            found.iter().map(|array| array.as_f64()[0]).collect::<Vec<f64>>()
        };
        for (a, b) in derived(&before).into_iter().zip(derived(&after)) {
            let moderate = a.is_finite() && a.abs() < 1e8;
            assert!(!moderate || (a - b).abs() <= 1e-7 * (1.0 + a.abs()), "{exprs:?} at {at:?}: {a} and {b}");
            compared += usize::from(moderate);
        }
    }
    assert!(compared > count * 2 && changed > count / 4, "{compared} compared, {changed} changed of {count}");
}

#[test]
fn loops_and_branches_are_rewritten_inside() {
    let plain = || {
        grad(|[s, theta]| {
            let s = retrograd::for_loop(20, s, |_, s| {
                s + 0.01 * (theta.exp() * s.exp() * (s.sin() * s.sin() + s.cos() * s.cos()))
            });
            s * s
        })
        .argnums(&[0, 1])
    };
    let args = [0.3, -0.7].map(Array::scalar);
    let (before, after) = (plain().run(&args).unwrap(), plain().rewritten(fast_math).run(&args).unwrap());
    assert!(
        before.iter().zip(&after).all(|(a, b)| (a.as_f64()[0] - b.as_f64()[0]).abs() <= 1e-12 * a.as_f64()[0].abs()),
        "{before:?} {after:?}"
    );
    let traced = |rewrite: fn(&retrograd::Program) -> Result<retrograd::Program, retrograd::Error>| {
        let f = jit(|[s]| retrograd::for_loop(20, s, |_, s| s.exp() * (0.5 * s).exp())).rewritten(rewrite);
        operations(&f.trace(&[retrograd::f64([])]).unwrap())
    };
    assert!(traced(fast_math) < traced(|program| Ok(program.clone())));
}
