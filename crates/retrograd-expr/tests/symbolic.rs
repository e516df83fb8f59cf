//! Symbolic abilities, each on at least fifty expressions, checked by substitution, by values or by differences.

use retrograd::{Array, Type, eval};
use retrograd_expr::{
    Bindings, Expr, Function, Op, Simplifier, bisect, canonicalize, diff, evaluate, expand, gradient, is_linear,
    newton, program,
};

use crate::support::{NAMES, Random, smooth};

fn parse(text: &str) -> Expr {
    Expr::parse(text).unwrap_or_else(|error| panic!("{error}"))
}

/// By the interpreter, at values of x, y and z.
fn value(expr: &Expr, at: [f64; 3]) -> f64 {
    let inputs: Vec<(&str, Type)> = NAMES.iter().map(|name| (*name, Type::f64([]))).collect();
    let found = eval::run(&program(std::slice::from_ref(expr), &inputs).unwrap(), &at.map(Array::scalar)).unwrap();
    found[0].as_f64()[0]
}

fn near(a: f64, b: f64) -> bool {
    (a - b).abs() <= 1e-8 * (1.0 + a.abs().max(b.abs())) || (!a.is_finite() && !b.is_finite())
}

fn point(random: &mut Random) -> [f64; 3] {
    std::array::from_fn(|_| 0.2 + 1.3 * random.unit())
}

#[test]
fn substitution_is_evaluation_elsewhere() {
    let mut random = Random(21);
    for _ in 0..200 {
        let (f, [g, h]) = (smooth(&mut random, 4), [smooth(&mut random, 2), smooth(&mut random, 2)]);
        let at = point(&mut random);
        // Both at once: what takes the place of x may mention y.
        let replaced = f.substitute(&[("x", g.clone()), ("y", h.clone())]);
        assert!(
            near(value(&replaced, at), value(&f, [value(&g, at), value(&h, at), at[2]])),
            "{f} with x = {g}, y = {h}"
        );
    }
}

#[test]
fn free_variables_are_those_that_matter_to_substitution() {
    let mut random = Random(22);
    for _ in 0..200 {
        let depth = 1 + random.below(5);
        let f = smooth(&mut random, depth);
        let free = f.free_vars();
        for name in NAMES {
            let replaced = f.substitute(&[(name, Expr::variable("q"))]);
            assert_eq!(replaced == f, !free.iter().any(|other| other == name), "{f} by {name}");
            assert_eq!(
                replaced.free_vars().iter().any(|other| other == "q"),
                free.iter().any(|other| other == name),
                "{f} by {name}"
            );
        }
    }
    assert_eq!(parse("sum(k*x, k, 1, n)").free_vars(), ["x", "n"]);
    assert_eq!(parse("let a = b; f(u) = u*c; f(a)").free_vars(), ["b", "c"]);
}

/// Polynomials in x and y, with functions of z.
fn polynomial(random: &mut Random, depth: usize) -> Expr {
    if depth == 0 {
        let leaves = ["x", "y", "z", "2", "-1/3", "sin(z)", "1"];
        return parse(leaves[random.below(leaves.len())]);
    }
    let (a, b) = (polynomial(random, depth - 1), polynomial(random, depth - 1));
    match random.below(6) {
        0 | 1 => a + b,
        2 => a - b,
        3 | 4 => a * b,
        _ => a / parse("1 + z^2"),
    }
}

#[test]
fn linear_is_what_has_no_second_differences() {
    let mut random = Random(23);
    let (mut linear, mut other) = (0, 0);
    for _ in 0..400 {
        let depth = 1 + random.below(4);
        let f = polynomial(&mut random, depth);
        let bends = (0..6).any(|_| {
            let (at, [dx, dy]) = (point(&mut random), [random.unit() - 0.5, random.unit() - 0.5]);
            let moved = |by: f64| value(&f, [at[0] + by * dx, at[1] + by * dy, at[2]]);
            !near(moved(1.0) + moved(-1.0), 2.0 * moved(0.0))
        });
        assert_eq!(is_linear(&f, &["x", "y"]), !bends, "{f}");
        *(if bends { &mut other } else { &mut linear }) += 1;
    }
    assert!(linear >= 50 && other >= 50, "{linear} linear, {other} others");
    for text in ["abs(x)", "max(x, y)", "x^y", "floor(x)", "if(x > 0, x, x)", "sqrt(x^2)", "1/x", "sum(v*x)"] {
        assert!(!is_linear(&parse(text), &["x", "y"]), "{text}");
    }
}

/// The same expression, written otherwise: commuted, with signs moved and powers named; above the line, multiplied out.
fn rewritten(random: &mut Random, expr: &Expr, above: bool) -> Expr {
    let below = matches!(expr.op(), Op::Call(Function::Div | Function::Pow));
    let place = |k: usize| above && !(below && k == 1) && *expr.op() != Op::Call(Function::Pow);
    let args: Vec<Expr> = expr.args().iter().enumerate().map(|(k, arg)| rewritten(random, arg, place(k))).collect();
    let heads = random.below(2) == 0;
    match (expr.op(), &args[..]) {
        (Op::Call(Function::Add), [a, b]) if heads => b + a,
        (Op::Call(Function::Add), [a, b]) => a - -b,
        (Op::Call(Function::Sub), [a, b]) if heads => -(b - a),
        (Op::Call(Function::Sub), [a, b]) => a + -b,
        (Op::Call(Function::Mul), [a, b]) => match (b.op(), b.args()) {
            (Op::Call(Function::Add), [c, d]) if above => a * c + a * d,
            _ => b * a,
        },
        (Op::Call(Function::Div), [a, b]) if heads => a * (Expr::number(1) / b),
        (Op::Call(Function::Div), [a, b]) => -(-a * b.pow(-1)),
        (Op::Call(Function::Sin | Function::Tanh | Function::Atan), [a]) => -Expr::new(expr.op().clone(), vec![-a]),
        (Op::Call(Function::Cos | Function::Abs), [a]) => Expr::new(expr.op().clone(), vec![-a]),
        (Op::Call(Function::Sqrt), [a]) => a.pow(Expr::number(1) / 2),
        (Op::Call(Function::Max | Function::Min | Function::Hypot), [a, b]) => {
            Expr::new(expr.op().clone(), vec![b.clone(), a.clone()])
        }
        (Op::Call(Function::Lt), [a, b]) => Expr::call(Function::Gt, [b.clone(), a.clone()]),
        _ => Expr::new(expr.op().clone(), args),
    }
}

#[test]
fn equal_expressions_have_one_canonical_form() {
    let mut random = Random(24);
    for k in 0..300 {
        let f = smooth(&mut random, 1 + k % 4);
        let other = rewritten(&mut random, &f, true);
        let [a, b] = [&f, &other].map(canonicalize);
        let at = point(&mut random);
        assert!(near(value(&f, at), value(&a, at)), "{f} is not {a}");
        assert_eq!(canonicalize(&a), a, "the form of a form of {f}");
        assert_eq!(a, b, "{f} and {other}");
    }
    let same = [
        ("1/a + 1/b", "(a + b)/(a*b)"),
        ("a/b/c", "a/(c*b)"),
        ("(a + b)^2/(a + b)^3 - 0", "(a + b)^2*(a + b)^(-3)"),
        ("x/x^3", "x^(-2)"),
        ("(x + 1)/2", "x/2 + 1/2"),
        ("1/(2*x + 2)", "1/(1 + x)/2"),
        ("-(x - y)", "y - x"),
        ("e^x", "exp(x)"),
        ("a > b", "b < a"),
        ("sin(x - y)", "-sin(y - x)"),
        ("cos(x - y)", "cos(y - x)"),
        ("0.5*x", "x/2"),
    ];
    for (a, b) in same {
        assert_eq!(canonicalize(&parse(a)), canonicalize(&parse(b)), "{a} and {b}");
    }
    for (a, b) in [
        ("x/x", "1"),
        ("x^2/x", "x"),
        ("log(x) - log(x)", "0"),
        ("1/x - 1/x", "0"),
        ("(1/x)^0", "1"),
        ("1/(1/x)", "x"),
        ("sqrt(x)*0", "0"),
    ] {
        assert_ne!(canonicalize(&parse(a)), canonicalize(&parse(b)), "{a} is not defined where {b} is");
    }
}

#[test]
fn what_matches_a_pattern_is_part_of_the_expression() {
    let mut random = Random(25);
    let patterns =
        ["sin(_a)", "_a*_b", "_a + _b", "cos(_a)*_b", "_a/_b", "exp(_a)", "_a^2", "_a - _b", "sqrt(_a)", "_a + 1"]
            .map(parse);
    let mut found = 0;
    for _ in 0..60 {
        let f = smooth(&mut random, 3);
        let at = point(&mut random);
        let parts: Vec<f64> = parts(&f).iter().map(|part| value(part, at)).collect();
        for pattern in &patterns {
            for bound in Simplifier::default().matches(&f, pattern).unwrap() {
                let with: Vec<(&str, Expr)> = bound.iter().map(|(name, expr)| (name.as_str(), expr.clone())).collect();
                let instance = value(&pattern.substitute(&with), at);
                assert!(parts.iter().any(|part| near(*part, instance)), "{pattern} in {f}: {bound:?}");
                found += 1;
            }
        }
    }
    assert!(found >= 50, "{found}");
}

/// All subexpressions that are numbers.
fn parts(expr: &Expr) -> Vec<Expr> {
    let mut all: Vec<Expr> = expr.args().iter().flat_map(parts).collect();
    if !matches!(expr.op(), Op::Call(function) if function.gives_truth()) {
        all.push(expr.clone());
    }
    all
}

#[test]
fn zeros_are_found_by_numbers() {
    // f increases from below 0 to above 0: one zero, known to both methods.
    let rises = [
        "x + sin(x)/2",
        "exp(x) - 1",
        "x^3 + x",
        "atan(x)",
        "sinh(x)",
        "x*abs(x) + x",
        "log(1 + exp(x)) - 1",
        "x - cos(x)/2",
        "tanh(x) + x/3",
        "x^5 + 2*x",
    ];
    let mut cases = 0;
    for text in rises {
        for shift in ["0", "1/3", "-1/2", "0.9", "-0.7"] {
            let f = parse(&format!("{text} - {shift}"));
            let zero = bisect(&f, "x", -20.0, 20.0).unwrap();
            let by_slope = newton(&f, "x", 0.5).unwrap_or_else(|error| panic!("{f}: {error}"));
            assert!((zero - by_slope).abs() < 1e-12 * (1.0 + zero.abs()), "{f}: {zero} and {by_slope}");
            let slope = value(&diff(&f, "x").unwrap(), [zero, 0.0, 0.0]);
            assert!(value(&f, [zero, 0.0, 0.0]).abs() <= 1e-14 * (1.0 + slope.abs()), "{f} at {zero}");
            cases += 1;
        }
    }
    assert!(cases >= 50);
    assert!(newton(&parse("x^2 + 1"), "x", 0.7).is_err() && bisect(&parse("x^2 + 1"), "x", -1.0, 1.0).is_err());
}

#[test]
fn expanded_polynomials_have_no_products_of_sums() {
    let mut random = Random(26);
    for _ in 0..200 {
        let f = polynomial(&mut random, 4);
        let g = expand(&f);
        let at = point(&mut random);
        assert!(near(value(&f, at), value(&g, at)), "{f} is not {g}");
        for part in parts(&g) {
            let sum = |expr: &Expr| matches!(expr.op(), Op::Call(Function::Add | Function::Sub));
            assert!(
                !(*part.op() == Op::Call(Function::Mul) && part.args().iter().any(sum)),
                "{g} has a product of a sum"
            );
        }
    }
}

#[test]
fn a_product_over_an_index_has_a_derivative_also_where_factors_are_0() {
    let f = Expr::parse("prod(x - k*y, k, 0, 4)").unwrap();
    let by_hand = |x: f64, y: f64| -> f64 {
        (0..5).map(|k| (0..5).filter(|j| *j != k).map(|j| x - f64::from(j) * y).product::<f64>()).sum()
    };
    let derivative = diff(&f, "x").unwrap();
    for (x, y) in [(2.0, 1.0), (0.0, 1.0), (0.3, 0.7), (4.0, 1.0)] {
        let at = Bindings::from([("x", x), ("y", y)]);
        let found = evaluate(&derivative, &at).unwrap().as_f64()[0];
        assert!((found - by_hand(x, y)).abs() < 1e-12, "{found} at {x}, {y}");
        assert!((gradient(&f, &["x"], &at).unwrap()[0].as_f64()[0] - found).abs() < 1e-12);
    }
    let empty = diff(&Expr::parse("prod(x, k, 3, 2)").unwrap(), "x").unwrap();
    assert_eq!(evaluate(&empty, &Bindings::from([("x", 2.0)])).unwrap().as_f64(), [0.0]);
    let nested = Expr::parse("prod(sum(x^j, j, 0, k), k, 1, 3)").unwrap();
    let at = Bindings::from([("x", 0.5)]);
    let [symbolic, engine] =
        [evaluate(&diff(&nested, "x").unwrap(), &at).unwrap(), gradient(&nested, &["x"], &at).unwrap().swap_remove(0)]
            .map(|a| a.as_f64()[0]);
    assert!((symbolic - engine).abs() < 1e-12, "{symbolic} and {engine}");
}

#[test]
fn derivatives_of_several_expressions_share_their_parts() {
    let text = ["sin(x*y)*z + 0*x", "exp(sin(x*y)) - x", "x*0.0 + z"].map(|text| Expr::parse(text).unwrap());
    let at = Bindings::from([("x", 0.3), ("y", 0.7), ("z", 1.1)]);
    let matrix = retrograd_expr::diff_matrix(&text, &["x", "y", "z"]).unwrap();
    for (row, expr) in matrix.iter().zip(&text) {
        for (found, name) in row.iter().zip(["x", "y", "z"]) {
            let [a, b] = [found, &diff(expr, name).unwrap()].map(|expr| evaluate(expr, &at).unwrap().as_f64()[0]);
            assert!((a - b).abs() < 1e-14, "{expr} by {name}: {a} and {b}");
        }
    }
    // Zeros that are written take no part in a derivative.
    assert_eq!((matrix[2][0].to_string(), matrix[2][2].to_string()), ("0".into(), "1".into()));
}

#[test]
fn what_is_derived_is_contracted_and_what_is_written_is_not() {
    let inputs = [("x", retrograd::Type::f64([])), ("y", retrograd::Type::f64([]))];
    let text = |expr: &Expr| {
        retrograd_compiler::opt::fix(&expr.program(&inputs).unwrap(), retrograd_compiler::opt::Arithmetic::Contracted)
            .to_string()
    };
    let written = Expr::parse("sin(x)*cos(y) + exp(x)*tanh(y)").unwrap();
    assert!(!text(&written).contains("fma"), "{}", text(&written));
    let derived = diff(&Expr::parse("sin(x)*exp(x)").unwrap(), "x").unwrap();
    assert!(text(&derived).contains("fma"), "{}", text(&derived));
    let moved = derived.substitute(&[("x", Expr::parse("x*y").unwrap())]);
    assert!(text(&moved).contains("fma"), "{}", text(&moved));
    let exact =
        retrograd_compiler::opt::fix(&derived.program(&inputs).unwrap(), retrograd_compiler::opt::Arithmetic::Exact)
            .to_string();
    assert!(!exact.contains("fma"), "{exact}");
}
