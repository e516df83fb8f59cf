//! Algebra, checked by substitution and differentiation.

use retrograd_expr::{Bindings, Expr, collect, diff, evaluate, expand, integrate, is_linear, limit, series, solve};

fn parse(text: &str) -> Expr {
    Expr::parse(text).unwrap_or_else(|error| panic!("{error}"))
}

fn value(expr: &Expr, at: &[(&str, f64)]) -> f64 {
    let at: Bindings = at.iter().map(|(name, x)| ((*name).to_owned(), retrograd::Array::scalar(*x))).collect();
    evaluate(expr, &at).unwrap().as_f64()[0]
}

const AT: [(&str, f64); 3] = [("x", 0.7), ("a", 1.3), ("b", -0.4)];

#[track_caller]
fn near(a: f64, b: f64, what: &str) {
    assert!((a - b).abs() <= 1e-9 * (1.0 + a.abs()), "{what}: {a} and {b}");
}

#[test]
fn expanded_and_collected_forms_have_the_same_values() {
    let factors = ["x + 1", "x - a", "2*x + b", "x^2 - a*x + 1", "sin(x) + a", "x/3 - 1", "exp(x)", "(a + b)^2"];
    let mut cases = 0;
    for first in factors {
        for second in factors {
            let f = parse(&format!("({first})*({second}) - 3*({first})^2"));
            let expanded = expand(&f);
            near(value(&f, &AT), value(&expanded, &AT), &f.to_string());
            near(value(&f, &AT), value(&collect(&f, "x"), &AT), &f.to_string());
            assert_eq!(expand(&expanded), expanded, "expanding again changes nothing");
            cases += 1;
        }
    }
    assert!(cases >= 50);
    assert!(is_linear(&parse("(x + 1)^2 - x^2"), &["x"]) && !is_linear(&parse("x*a"), &["x", "a"]));
}

#[test]
fn roots_are_roots() {
    let mut cases = 0;
    for a in [-3_i64, -1, 2] {
        for b in [-2_i64, 0, 1, 5] {
            for c in [-4_i64, 1, 3] {
                let texts = [
                    format!("{a}*x + {b}"),
                    format!("{a}*x^2 + {b}*x + {c}"),
                    format!("{a}*x^3 + {b}*x^2 + {c}*x - 7"),
                    format!("{a}*x^4 + {b}*x^3 + {c}*x^2 - x - 11"),
                ];
                for text in texts {
                    let f = parse(&text);
                    let roots = solve(&f, "x").unwrap();
                    for root in &roots {
                        let x = value(&root.value, &[]);
                        let size = value(&parse("1 + x^4"), &[("x", x)]);
                        assert!(value(&f, &[("x", x)]).abs() < 1e-9 * size.abs() * 20.0, "{text} at {}", root.value);
                    }
                    assert_eq!(roots.len(), changes_of_sign(&f), "{text}: {roots:?}");
                    cases += 1;
                }
            }
        }
    }
    assert!(cases >= 50);
}

/// Real zeros by counting changes of sign between points that lie closely; good for simple zeros.
fn changes_of_sign(f: &Expr) -> usize {
    let points = retrograd::Array::f64([80_001], (0..=80_000).map(|k| f64::from(k) / 2000.0 - 20.000_13).collect());
    let values = evaluate(f, &Bindings::new().with("x", points)).unwrap();
    values.as_f64().windows(2).filter(|pair| (pair[0] > 0.0) != (pair[1] > 0.0)).count()
}

/// What the table of integrals, parts, partial fractions and changes of variable reach.
const INTEGRALS: &[&str] = &[
    "1/x; 1/x^3; x^(2/3); (2*x + 1)^7; 1/(2*x + 1)^2; a*x^2 + b; 1/(a*x + 2); x*(1 - x)^5; (x^2 + 1)^3; 0; 3; a",
    "2^x; x^3*exp(-2*x); x*exp(a*x); exp(a*x)*sin(b*x); exp(x)*sin(x); exp(-x)*cos(2*x); x*exp(x)*sin(x); exp2(x); \
     expm1(x); sigmoid(x)",
    "log(x)^2; log(x)^3; x*log(x); x^3*log(x); x*log(1 + x); log(x)/x; 1/(x*log(2 + x)*0 + x); sqrt(x)*log(x); \
     log1p(x); log2(x); log10(3*x)",
    "tan(x); tan(2*x); tan(x)^2; 1/cos(x)^2; 1/sin(x)^2; 1/cos(x); 1/sin(x); sin(x)^2; cos(x)^4; sin(x)^3; \
     sin(x)*cos(x)",
    "sin(x)^2*cos(x)^3; sin(2*x)*cos(3*x); x*sin(x)^2; cos(x)/(1 + sin(x)); sin(x)*exp(cos(x)); sin(log(x))/x",
    "1/(1 + x^2); 1/(x^2 + 4); 1/(x^2 - 4); 1/(x^2 - 2); x/(1 + x^2); 1/(x^2 + x + 1); (x + 3)/(x^2 + 2*x + 5); \
     1/(x*(x + 1))",
    "x^3/(x + 1); 1/(x^2*(x + 1)); 1/(x^4 - 1); 1/(1 + x^2)^2; x/(1 + x^2)^3; x^2/(x^2 + 1); 1/((x^2 + 1)*(x^2 + 4)); \
     x^2/(x^3 + 1)",
    "sqrt(1 - x^2); 1/sqrt(1 - x^2); 1/sqrt(1 + x^2); sqrt(1 + x^2); x*sqrt(1 + x^2); x/sqrt(1 - x^2); x^2*sqrt(1 - \
     x^2); sqrt(4 - x^2)",
    "1/sqrt(x^2 + 2*x + 3); (1 + x^2)^(3/2); (1 + x^2)^(-3/2); x*sqrt(2*x + 3); x/(2*x + 1)^(1/3); 1/sqrt(x); \
     exp(sqrt(x))/sqrt(x)",
    "x*exp(x^2); x*exp(-x^2); exp(-x^2); exp(-x^2/2 + x); exp(x)/(1 + exp(x)); 1/(1 + exp(x))",
    "cosh(2*x); x*sinh(x); 1/cosh(x)^2; tanh(x)^2; 1/cosh(x); asin(x); x*asin(x); acos(x); x*atan(x); asinh(x); \
     atanh(x); erf(x); erfc(2*x)",
    "cbrt(x); abs(x); sign(x); 3*abs(2*x + 1)",
];

#[test]
fn rational_equations_are_solved_where_they_are_defined() {
    let roots =
        |text: &str| solve(&parse(text), "x").unwrap().iter().map(|root| root.value.to_string()).collect::<Vec<_>>();
    assert_eq!(roots("1/x - 2"), ["1/2"]);
    assert_eq!(roots("x^2/x"), [""; 0]);
    assert_eq!(roots("(x^2 - 1)/(x - 1)"), ["-1"]);
    assert_eq!(roots("(x - 1)^2/(x - 1)"), [""; 0]);
    assert_eq!(roots("x + 1/x - 5/2"), ["1/2", "2"]);
}

#[test]
fn derivatives_of_integrals_are_the_integrands() {
    let functions = ["sin", "cos", "exp", "sinh", "cosh", "log", "sqrt", "atan", "tanh"];
    let arguments = ["x", "2*x", "3*x + 1", "a*x + 2", "x/2 + 1"];
    let mut texts: Vec<String> = functions.iter().flat_map(|f| arguments.map(|u| format!("b*{f}({u})"))).collect();
    for n in 0..6 {
        texts.push(format!("a*x^{n} - x/7"));
        texts.push(format!("x^{n}*exp(2*x)"));
        texts.push(format!("x^{n}*sin(x + 1)"));
        texts.push(format!("x^{n}*cos(3*x)"));
    }
    texts.extend(["1/(2*x + 1)", "(x + 2)^(-1)", "(3*x + 1)^(1/3)", "(x + 1)*(x - 2)"].map(String::from));
    texts.extend(INTEGRALS.iter().flat_map(|line| line.split(';')).map(|text| text.trim().to_owned()));
    assert!(texts.len() >= 150);
    for text in texts {
        let f = parse(&text);
        let whole = integrate(&f, "x").unwrap_or_else(|error| panic!("{text}: {error}"));
        near(value(&diff(&whole, "x").unwrap(), &AT), value(&f, &AT), &text);
    }
    for text in [
        "exp(x^2)",
        "sin(x)/x",
        "sin(x)*log(x)",
        "x^x",
        "exp(x)/x",
        "1/log(x)",
        "sqrt(1 + x^4)",
        "floor(x)",
        "1/(x^5 + x + 1)",
    ] {
        assert!(integrate(&parse(text), "x").is_err(), "{text} is not in the table");
    }
}

#[test]
fn coefficients_of_series_are_derivatives_over_factorials() {
    let functions = [
        "exp(a*x)",
        "sin(x)*cos(x)",
        "log(1 + x)",
        "sqrt(2 + x)",
        "1/(1 + x^2)",
        "tan(x)",
        "tanh(x)",
        "atan(x)",
        "x^3 - b*x",
        "(1 + x)^a",
    ];
    let points = ["0", "1/2", "a", "1", "1/3"];
    let everywhere = functions.into_iter().flat_map(|text| points.map(|at| (text, at)));
    let others = [
        ("log1p(x)", "1/2"),
        ("sigmoid(a*x)", "0"),
        ("cbrt(x)", "-8"),
        ("asinh(x)", "1"),
        ("atan2(x, 2 + a)", "1"),
        ("atan2(1, x)", "-2"),
        ("acos(x)", "1/3"),
        ("acosh(x)", "2"),
        ("atanh(x)", "1/2"),
        ("exp2(x)", "a"),
        ("expm1(x)", "0"),
        ("log2(x)", "3"),
        ("log10(x)", "a"),
        ("erfc(x)", "0"),
        ("hypot(x, a)", "4"),
        ("abs(x)*x", "-2"),
        ("max(x, x^2)", "3"),
        ("min(x, a)", "3"),
        ("if(x > a, x^2, sin(x))", "0"),
        ("if(x > a, x^2, sin(x))", "2"),
        ("floor(x)*x", "3/2"),
        ("sign(x)*x^2", "-1"),
        ("x^x", "2"),
    ];
    for (text, at) in everywhere.chain(others) {
        {
            let f = parse(text);
            let found = series(&f, "x", &parse(at), 4).unwrap_or_else(|error| panic!("{text}: {error}"));
            let (mut derivative, mut factorial) = (f.clone(), 1.0);
            for (k, coefficient) in found.iter().enumerate() {
                let there = derivative.substitute(&[("x", parse(at))]);
                near(
                    value(&there, &AT) / factorial,
                    value(coefficient, &AT),
                    &format!("{text} at {at}, coefficient {k}"),
                );
                derivative = diff(&derivative, "x").unwrap();
                factorial *= (k + 1) as f64;
            }
        }
    }
}

#[test]
fn where_pieces_meet_there_is_no_series() {
    let kinks = [
        ("abs(x)", "0"),
        ("max(x, 1)", "1"),
        ("floor(x)", "2"),
        ("round(x)", "1/2"),
        ("if(x > 0, x, 1)", "0"),
        ("sign(x)", "0"),
    ];
    let branches = [
        ("sqrt(x)", "0"),
        ("cbrt(x)", "0"),
        ("log(x)", "0"),
        ("1/x", "0"),
        ("asin(x)", "1"),
        ("x^x", "0"),
        ("hypot(x, x)", "0"),
    ];
    for (text, at) in kinks.into_iter().chain(branches) {
        assert!(series(&parse(text), "x", &parse(at), 3).is_err(), "{text} at {at}");
    }
    // Of variables the answer at the kink is a NaN, not a number.
    let at_kink = series(&parse("abs(x)"), "x", &parse("b"), 1).unwrap();
    assert!(value(&at_kink[1], &[("b", 0.0)]).is_nan() && value(&at_kink[1], &AT) == -1.0);
}

#[test]
fn limits_of_sums_powers_and_at_infinity() {
    let known = [
        ("sin(x)/x + 1", "0", 2.0),
        ("1/x - 1/sin(x)", "0", 0.0),
        ("(1 + 1/x)^x", "inf", std::f64::consts::E),
        ("cos(x)^(1/x^2)", "0", (-0.5_f64).exp()),
        ("(x^2 + 1)/(2*x^2 - x)", "-inf", 0.5),
        ("sqrt(x^2 + x) - x", "inf", 0.5),
        ("x*sin(1/x)", "inf", 1.0),
        ("1/x^2", "0", f64::INFINITY),
        ("-x^3", "inf", f64::NEG_INFINITY),
        ("abs(x)/x", "-inf", -1.0),
        ("(x^3 - 8)/(x - 2)", "2", 12.0),
        ("(2^x - 1)/x", "0", std::f64::consts::LN_2),
    ];
    for (text, at, expected) in known {
        let found = value(&limit(&parse(text), "x", &parse(at)).unwrap_or_else(|error| panic!("{error}")), &[]);
        assert!(found == expected || (found - expected).abs() < 1e-12, "{text} at {at}: {found}");
    }
    let none = [
        ("1/x", "0"),
        ("abs(x)/x", "0"),
        ("sin(1/x)", "0"),
        ("sin(x)", "inf"),
        ("floor(x)", "1"),
        ("sqrt(x^2)/x", "0"),
        ("a/x^2", "0"),
    ];
    for (text, at) in none {
        assert!(limit(&parse(text), "x", &parse(at)).is_err(), "{text} at {at}");
    }
}

#[test]
fn limits_are_what_values_nearby_go_to() {
    let tops = [
        "sin(x)",
        "x",
        "exp(x) - 1",
        "log(1 + x)",
        "tan(x)",
        "x^2 + x",
        "atan(x)",
        "sqrt(1 + x) - 1",
        "sinh(x)",
        "x*cos(x)",
    ];
    let bottoms = ["x", "2*x + x^2", "exp(x) - 1", "sin(3*x)", "tanh(x)"];
    for top in tops {
        for bottom in bottoms {
            let f = parse(&format!("({top})/({bottom})"));
            let found = value(&limit(&f, "x", &Expr::number(0)).unwrap(), &[]);
            let near_by = value(&f, &[("x", 1e-6)]);
            assert!((found - near_by).abs() < 1e-4, "{f}: {found} and {near_by}");
        }
    }
}
