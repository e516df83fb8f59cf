//! Random expressions: what is printed is read again, and three ways to differentiate agree.

use retrograd::Array;
use retrograd_expr::{Bindings, Expr, Function, Op, diff_all, evaluate, gradient};

use crate::support::{NAMES, Random, smooth};

/// Any expression, defined or not.
fn any(random: &mut Random, depth: usize) -> Expr {
    if depth == 0 || random.below(6) == 0 {
        return match random.below(6) {
            0 => Expr::number(random.below(9) as i64 - 4),
            1 => Expr::number(random.below(9) as i64 - 4) / (random.below(4) as i64 + 1),
            2 => Expr::float((random.unit() - 0.5) * 10.0_f64.powi(random.below(40) as i32 - 20)),
            _ => Expr::variable(["x", "y", "theta", "x_1"][random.below(4)]),
        };
    }
    let numbers: Vec<Function> =
        Function::ALL.iter().copied().filter(|f| !f.gives_truth() && *f != Function::Select).collect();
    match random.below(12) {
        0 => Expr::new(Op::Stack, vec![any(random, depth - 1), any(random, depth - 1)]),
        1 => {
            Expr::call(Function::Select, [condition(random, depth - 1), any(random, depth - 1), any(random, depth - 1)])
        }
        2 => Expr::new(Op::Index, vec![any(random, depth - 1), Expr::number(1)]),
        3 => Expr::new(
            Op::Fold(retrograd_expr::Fold::Sum, format!("k{depth}").into()),
            vec![any(random, depth - 1), 1.into(), 3.into()],
        ),
        _ => {
            let function = numbers[random.below(numbers.len())];
            Expr::new(Op::Call(function), (0..function.row().arity).map(|_| any(random, depth - 1)).collect())
        }
    }
}

fn condition(random: &mut Random, depth: usize) -> Expr {
    let truths: Vec<Function> = Function::ALL.iter().copied().filter(|f| f.gives_truth()).collect();
    let function = truths[random.below(truths.len())];
    let of_truths = matches!(function, Function::And | Function::Or | Function::Not);
    let function = if of_truths && depth == 0 { Function::Lt } else { function };
    let of_truths = of_truths && depth > 0;
    let arg = |random: &mut Random| {
        if of_truths { condition(random, depth - 1) } else { any(random, depth.saturating_sub(1)) }
    };
    Expr::new(Op::Call(function), (0..function.row().arity).map(|_| arg(random)).collect())
}

#[test]
fn what_is_printed_is_read_as_the_same_expression() {
    let mut random = Random(1);
    for _ in 0..20_000 {
        let depth = 1 + random.below(6);
        let expr = any(&mut random, depth);
        let infix = expr.to_string();
        assert_eq!(Expr::parse(&infix).unwrap_or_else(|error| panic!("{error}")), expr, "{infix}");
        let sexpr = expr.to_sexpr();
        assert_eq!(Expr::parse(&sexpr).unwrap_or_else(|error| panic!("{error}")), expr, "{sexpr}");
    }
}

#[test]
fn parentheses_are_the_fewest() {
    // Of what is printed, no pair of parentheses that is not an argument list can go.
    let mut random = Random(7);
    for _ in 0..2_000 {
        let expr = smooth(&mut random, 4);
        let text = expr.to_string();
        for (open, _) in text.match_indices('(') {
            if text[..open].ends_with(|c: char| c.is_alphanumeric()) {
                continue;
            }
            let mut depth = 0;
            let close = text[open..].find(|c| {
                depth += i32::from(c == '(') - i32::from(c == ')');
                depth == 0
            });
            let close = open + close.expect("parentheses are closed");
            let without = format!("{}{}{}", &text[..open], &text[open + 1..close], &text[close + 1..]);
            assert_ne!(Expr::parse(&without).ok(), Some(expr.clone()), "{text} has parentheses that can go: {without}");
        }
    }
}

#[test]
fn gradients_equal_symbolic_derivatives_and_finite_differences() {
    // Many expressions at once are one Program with many results: compiling is what takes time.
    const COUNT: usize = 10_000;
    let mut random = Random(3);
    let mut compared = 0;
    for k in 0..COUNT {
        let expr = smooth(&mut random, 8.min(1 + k % 8 + 1));
        let point: Vec<f64> = NAMES.iter().map(|_| 0.3 + 1.2 * random.unit()).collect();
        compared += usize::from(check(&expr, &point, k % 20 == 0));
    }
    assert!(compared > COUNT * 9 / 10, "most expressions have finite derivatives, {compared} had");
}

fn interpreted(exprs: &[Expr], point: &[f64]) -> Vec<f64> {
    let inputs: Vec<(&str, retrograd::Type)> = NAMES.iter().map(|name| (*name, retrograd::Type::f64([]))).collect();
    let program = retrograd_expr::program(exprs, &inputs).unwrap();
    let arrays: Vec<Array> = point.iter().map(|x| Array::scalar(*x)).collect();
    retrograd::eval::run(&program, &arrays).unwrap().iter().map(|array| array.as_f64()[0]).collect()
}

/// Whether the expression could be compared; by machine code where asked, else by the interpreter, whose bits machine
/// code has.
fn check(expr: &Expr, point: &[f64], by_machine_code: bool) -> bool {
    let at = Bindings::from([("x", point[0]), ("y", point[1]), ("z", point[2])]);
    let by_engine: Vec<f64> = if by_machine_code {
        gradient(expr, &NAMES, &at).unwrap().iter().map(|part| part.as_f64()[0]).collect()
    } else {
        let inputs: Vec<(&str, retrograd::Type)> = NAMES.iter().map(|name| (*name, retrograd::Type::f64([]))).collect();
        let program = expr.program(&inputs).unwrap();
        let derived = retrograd::pipeline::derive(&program, retrograd::pipeline::Wanted::Gradient, &[0, 1, 2]).unwrap();
        let arrays: Vec<Array> = point.iter().map(|x| Array::scalar(*x)).collect();
        retrograd::eval::run(&derived, &arrays).unwrap().iter().map(|array| array.as_f64()[0]).collect()
    };
    let symbolic = interpreted(&diff_all(expr, &NAMES).unwrap(), point);
    if by_machine_code {
        let single = evaluate(&retrograd_expr::diff(expr, "x").unwrap(), &at).unwrap().as_f64()[0];
        assert!(near(single, by_engine[0], 1e-9), "{expr} at {point:?}: forward {single}, engine {}", by_engine[0]);
    }
    for k in 0..NAMES.len() {
        assert!(
            near(by_engine[k], symbolic[k], 1e-9),
            "{expr} at {point:?} by {}: {} and symbolic {}",
            NAMES[k],
            by_engine[k],
            symbolic[k]
        );
        let differences = [1e-5, 1e-6].map(|step| {
            let moved = |by: f64| {
                let mut point = point.to_vec();
                point[k] += by;
                interpreted(std::slice::from_ref(expr), &point)[0]
            };
            (moved(step) - moved(-step)) / (2.0 * step)
        });
        // Where differences of two steps do not agree, the function is too steep for them.
        let steady = near(differences[0], differences[1], 1e-5);
        if !steady || !by_engine[k].is_finite() {
            return false;
        }
        assert!(
            near(by_engine[k], differences[1], 1e-3),
            "{expr} at {point:?} by {}: {} and differences {differences:?}",
            NAMES[k],
            by_engine[k]
        );
    }
    true
}

fn near(a: f64, b: f64, tolerance: f64) -> bool {
    (a.is_nan() && b.is_nan()) || (a - b).abs() <= tolerance * (1.0 + a.abs().max(b.abs())) || a == b
}
