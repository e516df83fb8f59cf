//! Values and derivatives of given expressions.

use retrograd::{Array, Direction};
use retrograd_expr::{
    Bindings, Clip, Definitions, Expr, OnNan, diff, evaluate, grad, gradient, gradient_checked, hessian, jacobian,
    sparse_gradient,
};

fn parse(text: &str) -> Expr {
    Expr::parse(text).unwrap_or_else(|error| panic!("{error}"))
}

fn at<const N: usize>(values: [(&str, f64); N]) -> Bindings {
    Bindings::from(values)
}

fn numbers(arrays: &[Array]) -> Vec<f64> {
    arrays.iter().flat_map(|array| array.as_f64().to_vec()).collect()
}

#[track_caller]
fn gradient_is(text: &str, values: &[(&str, f64)], expected: &[f64]) {
    let names: Vec<&str> = values.iter().map(|(name, _)| *name).collect();
    let at: Bindings = values.iter().map(|(name, x)| ((*name).to_owned(), Array::scalar(*x))).collect();
    let found = numbers(&gradient(&parse(text), &names, &at).unwrap());
    assert!(found.iter().zip(expected).all(|(a, b)| (a - b).abs() < 1e-14), "{text}: {found:?}, not {expected:?}");
}

#[test]
fn gradients_of_the_table() {
    gradient_is("x^2", &[("x", 3.0)], &[6.0]);
    gradient_is("x^2 + y^2", &[("x", 2.0), ("y", 3.0)], &[4.0, 6.0]);
    gradient_is("sin(x^2)", &[("x", 1.0)], &[2.0 * 1.0_f64.cos()]);
    gradient_is("x*y + y*z + z*x", &[("x", 2.0), ("y", 3.0), ("z", 4.0)], &[7.0, 6.0, 5.0]);
}

#[test]
fn jacobians_and_hessians_of_the_table() {
    for direction in [None, Some(Direction::Forward), Some(Direction::Reverse)] {
        let j =
            jacobian(&parse("(x^2 + y, x + y^2)"), &["x", "y"], direction).run(&at([("x", 2.0), ("y", 3.0)])).unwrap();
        assert_eq!(numbers(&j), [4.0, 1.0, 1.0, 6.0]);
    }
    let h = |text: &str| hessian(&parse(text), &["x", "y"], &at([("x", 2.0), ("y", 3.0)])).unwrap().concat();
    assert_eq!(numbers(&h("x^2*y + y^2")), [6.0, 4.0, 4.0, 2.0]);
    assert_eq!(numbers(&h("x^2*y + y^3")), [6.0, 4.0, 4.0, 18.0]);
    let second = diff(&diff(&parse("x^3"), "x").unwrap(), "x").unwrap();
    assert_eq!(evaluate(&second, &at([("x", 2.0)])).unwrap().as_f64(), [12.0]);
    assert_eq!(evaluate(&parse("diff(x^3, x, 2)"), &at([("x", 2.0)])).unwrap().as_f64(), [12.0]);
}

#[test]
fn a_cotangent_that_is_not_uniform() {
    let bindings = Bindings::new()
        .with("W", Array::f64([2, 2], vec![5.0, 6.0, 7.0, 8.0]))
        .with("X", Array::f64([2, 2], vec![0.1, 0.2, 0.3, 0.4]))
        .with("y", Array::f64([2], vec![9.0, -1.0]));
    assert_eq!(numbers(&gradient(&parse("sum(W * (X + y))"), &["y"], &bindings).unwrap()), [12.0, 14.0]);
}

#[test]
fn long_sums_clipping_and_sparse_gradients() {
    let text: Vec<String> = (1..=1000).map(|k| format!("{k}*x")).collect();
    let long = parse(&text.join(" + "));
    assert_eq!(numbers(&gradient(&long, &["x"], &at([("x", 1.0)])).unwrap()), [500_500.0]);
    let clip = |clip| {
        numbers(
            &gradient_checked(
                &parse("300*x + 400*y"),
                &["x", "y"],
                &at([("x", 1.0), ("y", 1.0)]),
                OnNan::Refuse,
                Some(clip),
            )
            .unwrap()
            .parts,
        )
    };
    assert_eq!(clip(Clip::Norm(1.0)), [0.6, 0.8]);
    assert_eq!(clip(Clip::Value(10.0)), [10.0, 10.0]);
    let names: Vec<String> = (0..100).map(|k| format!("v{k}")).collect();
    let wrt: Vec<&str> = names.iter().map(String::as_str).collect();
    // Only three of the hundred have values: the others are not even asked for.
    let parts = sparse_gradient(&parse("v1*v2 + sin(v7)"), &wrt, &at([("v1", 2.0), ("v2", 5.0), ("v7", 0.0)])).unwrap();
    assert_eq!(
        parts.iter().map(|(k, part)| (*k, part.as_f64()[0])).collect::<Vec<_>>(),
        [(1, 5.0), (2, 2.0), (7, 1.0)]
    );
}

#[test]
fn a_nan_is_refused_zeroed_or_told_with_its_place() {
    let (f, bindings) = (parse("x + sqrt(y - 1)"), at([("x", 1.0), ("y", 0.0)]));
    let checked = |policy| gradient_checked(&f, &["x", "y"], &bindings, policy, None);
    let error = checked(OnNan::Refuse).unwrap_err();
    assert_eq!(error.kind, retrograd::ErrorKind::NotFinite);
    assert!(error.message.contains("in `sqrt(y - 1)`"), "{error}");
    assert_eq!(numbers(&checked(OnNan::Zero).unwrap().parts), [1.0, 0.0]);
    let warned = checked(OnNan::Warn).unwrap();
    assert!(warned.parts[1].as_f64()[0].is_nan() && warned.warning.unwrap().contains("sqrt(y - 1)"));
}

#[test]
fn sides_of_a_piecewise_that_are_not_taken_leave_no_nan() {
    let f = parse("if(x > 0, sqrt(x), 0) + if(x > 0, x*log(x), -x)");
    assert_eq!(numbers(&gradient(&f, &["x"], &at([("x", -4.0)])).unwrap()), [-1.0]);
    assert_eq!(numbers(&gradient(&f, &["x"], &at([("x", 1.0)])).unwrap()), [1.5]);
    // Over arrays, element by element, and through a sum.
    let v = Array::f64([3], vec![-1.0, 4.0, 0.0]);
    let g =
        gradient(&parse("sum(if(v > 0, sqrt(v)/v^(-1), 1/(v - 1)))"), &["v"], &Bindings::new().with("v", v.clone()))
            .unwrap();
    let expected = [-0.25, 1.5 * 2.0, -1.0];
    assert!(numbers(&g).iter().zip(expected).all(|(a, b)| (a - b).abs() < 1e-14), "{g:?}");
    let g = gradient(&parse("if(x > 0, sum(sqrt(v*x)), x)"), &["x", "v"], &Bindings::from([("x", -2.0)]).with("v", v))
        .unwrap();
    assert_eq!(numbers(&g), [1.0, 0.0, 0.0, 0.0]);
    // A second derivative, and one that is symbolic.
    let h = hessian(&parse("if(x > 0, x^(5/2), x^2)"), &["x"], &at([("x", -4.0)])).unwrap();
    assert_eq!(numbers(&h[0]), [2.0]);
    let d = diff(&parse("if(x > 0, sqrt(x), x^2)"), "x").unwrap();
    assert_eq!(numbers(&gradient(&d, &["x"], &at([("x", -4.0)])).unwrap()), [2.0]);
}

#[test]
fn arrays_and_sums_over_an_index() {
    let a = Array::f64([2, 2], vec![2.0, 1.0, 1.0, 3.0]);
    let v = Array::f64([2], vec![1.0, 2.0]);
    let bindings = Bindings::from([("x", 2.0)]).with("A", a).with("v", v);
    let value = |text: &str| numbers(&[evaluate(&parse(text), &bindings).unwrap()]);
    assert_eq!(value("A @ v"), [4.0, 7.0]);
    assert_eq!(value("dot(v, A @ v)"), [18.0]);
    assert_eq!(value("det(A)"), [5.0]);
    assert_eq!(value("trace(inverse(A) @ A)"), [2.0]);
    assert_eq!(value("A'[0, 1] + A[1, -1]"), [4.0]);
    assert_eq!(value("einsum(\"ij,j,i->\", A, v, v)"), [18.0]);
    assert_eq!(value("mean(A) + prod(v) + norm([3, 4])"), [8.75]);
    assert_eq!(value("[v, 2*v]"), [1.0, 2.0, 2.0, 4.0]);
    assert_eq!(value("sum(x^k/k, k, 1, 4)"), [2.0 + 2.0 + 8.0 / 3.0 + 4.0]);
    assert_eq!(value("prod(k, k, 1, 6)"), [720.0]);
    assert_eq!(value("sum(v[k]*A[k, 1 - k], k, 0, 1)"), [3.0]);
    assert_eq!(value("sum(sum(i*j, j, 1, i), i, 1, 3)"), [1.0 + 2.0 * 3.0 + 3.0 * 6.0]);
    assert_eq!(value("sum(k*v, k, 1, 3)"), [6.0, 12.0]);
    assert_eq!(value("sum(k, k, 1, 0)"), [0.0]);
    assert_eq!(value("-7 % 3 + mod(7, 3)"), [3.0]);
    let g = gradient(&parse("sum(x^k/k, k, 1, 4)"), &["x"], &bindings).unwrap();
    assert_eq!(numbers(&g), [15.0]);
    let d = diff(&parse("sum(x^k/k, k, 1, 4)"), "x").unwrap();
    assert_eq!(numbers(&[evaluate(&d, &bindings).unwrap()]), [15.0]);
}

#[test]
fn derivatives_inside_of_functions_of_arrays_keep_shapes() {
    let v = Array::f64([3], vec![1.0, 2.0, 3.0]);
    let bindings = Bindings::from([("x", 0.7)]).with("v", v).with("A", Array::f64([2, 2], vec![2.0, 1.0, 0.5, 3.0]));
    for text in [
        "sum(x + v)",
        "mean(v - x)",
        "sum(if(v > 1, x, v))",
        "det(A*x + A)",
        "trace(inverse(A + x))",
        "norm(v*x)",
        "dot(v + x, v*x)",
    ] {
        let f = parse(text);
        assert!(diff(&f, "x").is_err(), "{text} may be by an array");
        let symbolic = evaluate(&retrograd_expr::diff_by_number(&f, "x").unwrap(), &bindings).unwrap().as_f64()[0];
        let engine = gradient(&f, &["x"], &bindings).unwrap()[0].as_f64()[0];
        assert!((symbolic - engine).abs() < 1e-12, "{text}: {symbolic} and {engine}");
    }
}

#[test]
fn custom_derivatives_hold_where_they_were_defined() {
    let scope = Definitions::new().vjp("slow(x) = x^2", &["0.5*ct*2*x"]).unwrap();
    let f = Expr::parse_with("slow(3*x)", &scope).unwrap();
    assert_eq!(numbers(&gradient(&f, &["x"], &at([("x", 2.0)])).unwrap()), [18.0]);
    assert_eq!(numbers(&[evaluate(&diff(&f, "x").unwrap(), &at([("x", 2.0)])).unwrap()]), [18.0]);
    assert!(Expr::parse("slow(x)").is_err());
    let clip = Definitions::new().vjp("clip(x) = x", &["min(max(ct, -1), 1)"]).unwrap();
    let f = Expr::parse_with("100*clip(x)", &clip).unwrap();
    assert_eq!(numbers(&gradient(&f, &["x"], &at([("x", 2.0)])).unwrap()), [1.0]);
    assert!(diff(&f, "x").unwrap_err().message.contains("not linear"));
    assert_eq!(numbers(&gradient(&parse("x*stop_gradient(x)"), &["x"], &at([("x", 3.0)])).unwrap()), [3.0]);
}

#[test]
fn batches_run_row_by_row() {
    let rows = Array::f64([1000], (0..1000).map(f64::from).collect());
    let g = grad(&parse("a*sin(x) + sum(w*x)"), &["x"]);
    let bindings = Bindings::from([("a", 2.0)]).with("x", rows).with("w", Array::f64([2], vec![1.0, 2.0]));
    let parts = g.run_batch(&bindings, &["x"]).unwrap();
    assert!(parts[0].as_f64().iter().enumerate().all(|(k, d)| (d - (2.0 * (k as f64).cos() + 3.0)).abs() < 1e-12));
    assert!(g.run_batch(&bindings, &["q"]).is_err() && g.run_batch(&bindings, &["a"]).is_err());
}

#[test]
fn mistakes_name_their_place() {
    let message = |text: &str, bindings: &Bindings| evaluate(&parse(text), bindings).unwrap_err().message;
    assert_eq!(message("x + y", &at([("x", 1.0)])), "`y` is not given a value");
    let bindings = Bindings::new().with("u", Array::f64([2], vec![1.0; 2])).with("v", Array::f64([3], vec![1.0; 3]));
    assert!(message("1 + u*v", &bindings).ends_with("in `u*v`"), "{}", message("1 + u*v", &bindings));
    assert!(message("u[5]", &bindings).contains("in `u[5]`"));
    assert!(message("det(u)", &bindings).ends_with("in `det(u)`"));
    let shown = |text: &str| Expr::parse(text).unwrap_err().to_string();
    assert_eq!(shown("2x"), "expression:1: parse error: a product is written with `*`\n  2x\n   ^");
    assert_eq!(
        shown("snh(x)"),
        "expression:1: parse error: there is no function `snh`; did you mean `sinh`?\n  snh(x)\n  ^"
    );
    assert_eq!(
        shown("x <\ny < z"),
        "expression:2: parse error: comparisons do not chain; write `a < b and b < c`\n  y < z\n    ^"
    );
    assert!(shown("sum(k*x, k, 1, 3) + k").contains("`k` is an index"));
    assert!(shown(&format!("{}x{}", "(".repeat(5000), ")".repeat(5000))).contains("nested more than"));
}
