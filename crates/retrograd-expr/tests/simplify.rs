//! Simplification keeps values and domains: each law by itself, and random expressions.

use retrograd::{Array, eval};
use retrograd_expr::{Assumptions, Condition, Cost, Expr, LAWS, Law, Op, Simplifier, program, simplify, simplify_with};

use crate::support::Random;

fn parse(text: &str) -> Expr {
    Expr::parse(text).unwrap_or_else(|error| panic!("{error}"))
}

/// All subexpressions that are numbers, the expression itself last.
fn parts(expr: &Expr) -> Vec<Expr> {
    let mut all: Vec<Expr> = expr.args().iter().flat_map(parts).collect();
    if !matches!(expr.op(), Op::Call(function) if function.gives_truth()) {
        all.push(expr.clone());
    }
    all
}

/// Values of an expression at points, by the interpreter; NaN where a part of it is not a finite number, since there it
/// is not defined, whatever floats make of infinities.
fn values(expr: &Expr, names: &[String], points: &[Vec<f64>]) -> Vec<f64> {
    let inputs: Vec<(&str, retrograd::Type)> =
        names.iter().map(|name| (name.as_str(), retrograd::Type::f64([points.len()]))).collect();
    let program = program(&parts(expr), &inputs).unwrap();
    let arrays: Vec<Array> =
        (0..names.len()).map(|k| Array::f64([points.len()], points.iter().map(|point| point[k]).collect())).collect();
    let found = eval::run(&program, &arrays).unwrap();
    let at = |array: &Array, k: usize| if array.len() == 1 { array.as_f64()[0] } else { array.as_f64()[k] };
    let value = |k: usize| {
        if found.iter().all(|part| at(part, k).is_finite()) { at(&found[found.len() - 1], k) } else { f64::NAN }
    };
    (0..points.len()).map(value).collect()
}

fn same(a: f64, b: f64) -> bool {
    match (a.is_finite(), b.is_finite()) {
        (true, true) => (a - b).abs() <= 1e-9 * (1.0 + a.abs().max(b.abs())),
        (false, false) => true,
        _ => false,
    }
}

/// Values that letters take: of every sign, integers, halves and numbers near 0 and 1.
const SAMPLES: [f64; 15] = [-3.0, -2.0, -1.5, -1.0, -0.5, -0.25, 0.0, 0.25, 0.5, 1.0, 1.25, 2.0, 2.5, 3.0, 4.0];

fn fits(condition: Condition, x: f64) -> bool {
    match condition {
        Condition::Total => x.is_finite(),
        Condition::NonZero => x != 0.0,
        Condition::Positive => x > 0.0,
        Condition::NonNegative => x >= 0.0,
        Condition::NonPositive => x <= 0.0,
        Condition::Integer => x.fract() == 0.0,
        Condition::Unit => x.abs() <= 1.0,
    }
}

fn points(count: usize) -> Vec<Vec<f64>> {
    (0..count).fold(vec![vec![]], |points, _| {
        points.iter().flat_map(|point| SAMPLES.map(|x| [&point[..], &[x]].concat())).collect()
    })
}

/// Both sides with the condition of a piecewise as a comparison.
fn sides(law: &Law) -> (Expr, Expr, Vec<String>) {
    let truth = |text: &str| parse(&text.replace("if(c,", "if(c > 0,"));
    let (left, right) = (truth(law.left), truth(law.right));
    let names = left.free_vars();
    (left, right, names)
}

#[test]
fn every_law_holds_inside_of_its_condition() {
    for law in LAWS {
        let (left, right, names) = sides(law);
        let inside = |point: &Vec<f64>| {
            law.conditions.iter().all(|(letter, condition)| {
                let place = names.iter().position(|name| *name == letter.to_string()).unwrap();
                fits(*condition, point[place])
            })
        };
        let points: Vec<Vec<f64>> = points(names.len()).into_iter().filter(inside).collect();
        assert!(points.len() >= 5, "{} is tried at points", law.name);
        let found = [values(&left, &names, &points), values(&right, &names, &points)];
        for (k, point) in points.iter().enumerate() {
            let [a, b] = [found[0][k], found[1][k]];
            // Tangents have poles that floats miss.
            assert!(
                same(a, b) || a.abs() > 1e15,
                "{}: {} = {} at {names:?} = {point:?}: {a} and {b}",
                law.name,
                law.left,
                law.right
            );
        }
    }
}

#[test]
fn conditions_are_needed() {
    // Where a condition other than "defined everywhere" is left out, some point shows that the sides differ.
    for law in LAWS {
        for (letter, condition) in law.conditions {
            if matches!(condition, Condition::Total) {
                continue;
            }
            // Other laws about the same sides may state other sufficient conditions: a point outside of all of them
            // must differ.
            let alike: Vec<&Law> =
                LAWS.iter().filter(|other| other.left == law.left && other.right == law.right).collect();
            let (left, right, names) = sides(law);
            let holds = |law: &Law, point: &[f64]| {
                law.conditions.iter().all(|(letter, condition)| {
                    let place = names.iter().position(|name| *name == letter.to_string()).unwrap();
                    fits(*condition, point[place])
                })
            };
            let outside: Vec<Vec<f64>> =
                points(names.len()).into_iter().filter(|point| !alike.iter().any(|law| holds(law, point))).collect();
            let found = [values(&left, &names, &outside), values(&right, &names, &outside)];
            assert!(
                (0..outside.len()).any(|k| !same(found[0][k], found[1][k])),
                "{}: {letter} {condition:?} is never needed",
                law.name
            );
        }
    }
}

#[test]
fn what_a_law_drops_is_defined_everywhere() {
    for law in LAWS {
        let (left, right, _) = sides(law);
        for name in left.free_vars().iter().filter(|name| !right.free_vars().contains(name)) {
            let known = law
                .conditions
                .iter()
                .any(|(letter, condition)| letter.to_string() == *name && *condition == Condition::Total);
            assert!(known, "{} drops {name}", law.name);
        }
        if law.way == retrograd_expr::Way::Both {
            assert_eq!(
                left.free_vars().len(),
                right.free_vars().len(),
                "{} has the same letters on both sides",
                law.name
            );
        }
    }
}

#[track_caller]
fn becomes(text: &str, assume: &[&str], expected: &str) {
    let known = assume.iter().fold(Assumptions::new(), |known, text| known.assume(text).unwrap());
    let found = simplify_with(&parse(text), &known).unwrap();
    assert_eq!(found.to_string(), expected, "{text} where {assume:?}");
}

#[test]
fn known_forms_are_found() {
    becomes("x + 0", &[], "x");
    becomes("sin(x)^2 + cos(x)^2", &[], "1");
    becomes("x/x", &[], "x/x");
    becomes("x/x", &["x > 0"], "1");
    becomes("x/x", &["x != 0"], "1");
    becomes("exp(log(x))", &[], "exp(log(x))");
    becomes("exp(log(x))", &["x > 0"], "x");
    becomes("log(exp(x))", &[], "x");
    becomes("sqrt(x^2)", &[], "abs(x)");
    becomes("sqrt(x^2)", &["x >= 0"], "x");
    becomes("sqrt(x)^2", &[], "sqrt(x)^2");
    becomes("0*log(x)", &[], "0*log(x)");
    becomes("log(x) - log(x)", &[], "0*log(x)");
    becomes("log(x) - log(x)", &["x > 1"], "0");
    becomes("(x^2 + 1)/(x^2 + 1)", &[], "1");
    becomes("2*x + 3*x", &[], "5*x");
    becomes("x*x*x", &[], "x^3");
    becomes("log(x*y) - log(y)", &["x > 0", "y > 0"], "log(x)");
    becomes("1/2 + 1/3", &[], "5/6");
    becomes("0.1 + 0.2", &[], "3/10");
    becomes("sum(x/x)", &[], "sum(x/x)");
    becomes("sum([x + 0, sin(y)^2 + cos(y)^2])", &[], "sum([x, 1])");
}

#[test]
fn contradictions_raise_an_alarm() {
    assert!(Assumptions::new().assume("x > 1 and x < 0").is_err());
    // x is 2 by assumption and 3 by another form of it.
    let known = Assumptions::new().assume("x == 0").unwrap();
    assert!(simplify_with(&parse("x + 1"), &known).is_ok());
    assert!(simplify(&parse("1/0")).is_ok_and(|expr| expr.to_string() == "1/0"));
}

fn random(source: &mut Random, depth: usize) -> String {
    if depth == 0 || source.below(5) == 0 {
        return ["x", "y", "x", "y", "0", "1", "2", "1/2", "-1"][source.below(9)].into();
    }
    let mut next = || random(source, depth - 1);
    let (a, b) = (next(), next());
    match source.below(16) {
        0 | 1 => format!("({a} + {b})"),
        2 => format!("({a} - {b})"),
        3..=5 => format!("({a} * {b})"),
        6 | 7 => format!("({a} / {b})"),
        8 => format!("(-{a})"),
        9 => format!("({a})^{}", ["2", "3", "(-1)", "0", "(1/2)"][source.below(5)]),
        10 => format!("sqrt({a})"),
        11 => format!("log({a})"),
        12 => format!("exp({a})"),
        13 => format!("sin({a})"),
        14 => format!("cos({a})"),
        _ => format!("abs({a})"),
    }
}

#[test]
fn simplification_keeps_values_and_domains_of_random_expressions() {
    let count = std::env::var("RETROGRAD_SIMPLIFY").ok().and_then(|text| text.parse().ok()).unwrap_or(150);
    let mut source = Random(11);
    let names = ["x".to_owned(), "y".to_owned()];
    for k in 0..count {
        let expr = parse(&random(&mut source, 4));
        let assume = [&[][..], &["x > 0"], &["x != 0", "y >= 0"]][k % 3];
        let known = assume.iter().fold(Assumptions::new(), |known, text| known.assume(text).unwrap());
        let cost = [Cost::Size, Cost::Depth, Cost::Work][k % 3];
        let simplifier = Simplifier { assumptions: known, cost, ..Simplifier::default() };
        let simple = simplifier.simplify(&expr).unwrap_or_else(|error| panic!("{expr}: {error}"));
        let allowed = |point: &Vec<f64>| match k % 3 {
            0 => true,
            1 => point[0] > 0.0,
            _ => point[0] != 0.0 && point[1] >= 0.0,
        };
        let points: Vec<Vec<f64>> = points(2).into_iter().filter(allowed).collect();
        let found = [values(&expr, &names, &points), values(&simple, &names, &points)];
        for (at, point) in points.iter().enumerate() {
            let [a, b] = [found[0][at], found[1][at]];
            // Numbers beyond what floats hold, and what cancels to noise around a pole, are no judges.
            let extreme = [a, b].iter().any(|x| x.abs() > 1e12 || (*x != 0.0 && x.abs() < 1e-12));
            assert!(same(a, b) || extreme, "{expr} became {simple}; at {point:?} where {assume:?}: {a} and {b}");
        }
    }
}
