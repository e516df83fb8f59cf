//! Whatever is read, nothing panics: random texts, and formulas with random changes.
//!
//! `RETROGRAD_FUZZ=1000000 cargo test --release -p retrograd-expr --test fuzz` runs longer.

use retrograd_expr::Expr;

const SEEDS: &[&str] = &[
    "x*sin(y)^2 + exp(-x/2)",
    "(+ (* x (sin y)) 1)",
    "let a = x + 1; f(u) = u^2; f(a) + a",
    "piecewise(x < 0, -x, x < 1, x^2, 2*x - 1)",
    "sum(k*x^k, k, 1, 5) + prod(k, k, 1, 3)",
    "einsum(\"ij,j->i\", A, v)[0] + A'[1, -1]",
    "(let ((a (+ x 1)) (b (* a a))) (/ a b))",
    "diff(x^3*log(x), x, 2) + grad(x*y)[1]",
    "if(x > 0 and not y <= 1e-3 or z != 2, 1/3, .5e10)",
    "x ** -y ** 2 % 3 @ [1, 2]",
];

const PIECES: &[&str] = &[
    "(",
    ")",
    "[",
    "]",
    ",",
    ";",
    "+",
    "-",
    "*",
    "/",
    "^",
    "**",
    "%",
    "@",
    "'",
    "=",
    "==",
    "<",
    "<=",
    "!=",
    "let ",
    " and ",
    " or ",
    "not ",
    "if(",
    "sum(",
    "diff(",
    "x",
    "k",
    "1",
    "0",
    "1e999",
    "1e-400",
    ".",
    "..",
    "\"",
    "é",
    "∂",
    "\n",
    "#",
    "inf",
    "pi",
    "9223372036854775808",
    "grad(",
    "stop_gradient(",
    "piecewise(",
    "\u{0}",
];

fn next(state: &mut u64) -> usize {
    *state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
    (*state >> 33) as usize
}

fn mutated(state: &mut u64) -> String {
    let mut text =
        if next(state).is_multiple_of(8) { String::new() } else { SEEDS[next(state) % SEEDS.len()].to_owned() };
    for _ in 0..1 + next(state) % 6 {
        let places: Vec<usize> = text.char_indices().map(|(at, _)| at).chain([text.len()]).collect();
        let at = places[next(state) % places.len()];
        match next(state) % 4 {
            0 => text.truncate(at),
            1 => {
                let end = places[next(state) % places.len()];
                text.replace_range(at.min(end)..at.max(end), "");
            }
            _ => text.insert_str(at, PIECES[next(state) % PIECES.len()]),
        }
    }
    text
}

#[test]
fn nothing_that_is_read_panics() {
    let count = std::env::var("RETROGRAD_FUZZ").ok().and_then(|text| text.parse().ok()).unwrap_or(4_000);
    let (mut state, mut read) = (1_u64, 0);
    for _ in 0..count {
        let text = mutated(&mut state);
        if let Ok(expr) = Expr::parse(&text) {
            read += 1;
            assert_eq!(Expr::parse(&expr.to_string()).ok(), Some(expr), "{text:?}");
        }
        let _ = Expr::parse_equation(&text);
    }
    assert!(read > count / 50, "some of the texts are formulas: {read} of {count}");
}

#[test]
fn deep_and_long_expressions_do_not_overflow_the_stack() {
    let mut deep = Expr::variable("x");
    for _ in 0..100_000 {
        deep = Expr::call(retrograd_expr::Function::Sin, [deep]);
    }
    let long = (0..100_000).fold(Expr::variable("x"), |sum, k| sum + Expr::variable("x") * k);
    for expr in [deep, long] {
        assert_eq!(Expr::parse(&expr.to_string()).unwrap(), expr);
        assert_eq!(Expr::parse(&expr.to_sexpr()).unwrap(), expr);
        let derivative = retrograd_expr::diff(&expr, "x").unwrap();
        assert!(derivative.size() < 8 * expr.size());
        assert!(expr.to_latex().len() > 100_000 && expr.to_c("f").unwrap().len() > 100_000);
    }
    let nested = format!("{}x{}", "(sin ".repeat(100_000), ")".repeat(100_000));
    assert_eq!(Expr::parse(&nested).unwrap().size(), 100_001);
}

#[test]
fn sizes_of_derivatives_are_linear() {
    // x ← sin(x) y + x, a thousand times: as a tree it would have 2¹⁰⁰⁰ entries.
    let chain = |count: usize| {
        (0..count).fold(Expr::variable("x"), |x, _| {
            Expr::call(retrograd_expr::Function::Sin, [x.clone()]) * Expr::variable("y") + x
        })
    };
    let sizes = [1000, 2000].map(|count| {
        retrograd_expr::diff_all(&chain(count), &["x", "y"]).unwrap().iter().map(Expr::size).sum::<usize>()
    });
    assert!(sizes[1] < sizes[0] * 21 / 10, "{sizes:?}");
}
