//! What spectral decompositions promise beyond their derivatives: factors multiply back, also of hard matrices; what
//! coincides has the derivative that exists, or an error.

use retrograd_compiler::ir::{Array, Data, ErrorKind, Program, Type};
use retrograd_compiler::{diff, eval, ops};
use retrograd_testing::Random;

fn program(body: &str) -> Program {
    ops::parse(body, "spectral.rg").unwrap_or_else(|error| panic!("{error}\n{body}"))
}

/// One row of a matrix.
fn row(op: &str, a: &Array, result: &str) -> Array {
    let text = format!("fn main(%0: {}) -> {result} {{\n  %y: {result} = {op}\n  return %y\n}}", a.ty());
    eval::run(&program(&text), std::slice::from_ref(a)).expect("routines do not fault").remove(0)
}

fn numbers(x: &Array) -> Vec<f64> {
    match x.data() {
        Data::F32(x) => x.iter().map(|x| f64::from(*x)).collect(),
        Data::F64(x) => x.clone(),
        Data::I32(_) | Data::I64(_) | Data::Bool(_) => panic!("floats"),
    }
}

fn to(name: &str, x: &Array) -> Array {
    if name == "f32" {
        Array::new(x.shape(), Data::F32(x.as_f64().iter().map(|x| *x as f32).collect()))
    } else {
        x.clone()
    }
}

/// A B with A of m×k.
fn product(a: &[f64], b: &[f64], k: usize) -> Vec<f64> {
    let (m, n) = (a.len() / k, b.len() / k);
    (0..m * n).map(|e| (0..k).map(|l| a[e / n * k + l] * b[l * n + e % n]).sum()).collect()
}

fn transposed(a: &[f64], n: usize) -> Vec<f64> {
    let m = a.len() / n;
    (0..a.len()).map(|e| a[e % m * n + e / m]).collect()
}

#[track_caller]
fn close(found: &[f64], expected: &[f64], tolerance: f64) {
    assert_eq!(found.len(), expected.len());
    let far = found
        .iter()
        .zip(expected)
        .map(|(a, b)| (a - b).abs())
        .fold(0.0, |a: f64, b| if b.is_nan() { f64::NAN } else { a.max(b) });
    assert!(far <= tolerance, "{far:e} is more than {tolerance:e}");
}

fn identity(n: usize) -> Vec<f64> {
    (0..n * n).map(|k| if k / n == k % n { 1.0 } else { 0.0 }).collect()
}

/// Columns of length 1 that are orthogonal.
#[track_caller]
fn orthonormal(x: &[f64], columns: usize, tolerance: f64) {
    close(&product(&transposed(x, columns), x, x.len() / columns), &identity(columns), tolerance);
}

/// Random, repeated, graded, diagonal, singular, zero and tiny matrices of an order, symmetric.
fn symmetric_matrices(n: usize) -> Vec<Vec<f64>> {
    let x = Random::new(n as u64).array(&Type::f64([n, n]), (-1.0, 1.0)).as_f64().to_vec();
    let half: Vec<f64> = x.iter().zip(transposed(&x, n)).map(|(a, b)| a + b).collect();
    let graded = |k: usize| 10f64.powi(-(2 * (k / n).max(k % n) as i32).min(250));
    vec![
        half.clone(),
        identity(n),
        product(&x, &transposed(&x, n), n),
        half.iter().enumerate().map(|(k, x)| x * graded(k)).collect(),
        vec![1.0; n * n],
        vec![0.0; n * n],
        half.iter().map(|x| 1e-300 * x).collect(),
        half.iter().map(|x| 1e300 * x).collect(),
        // A ring: eigenvalues in pairs.
        (0..n * n).map(|k| if (k / n + 1) % n == k % n || (k % n + 1) % n == k / n { 1.0 } else { 0.0 }).collect(),
        (0..n * n).map(|k| if k / n == k % n { (k % 3) as f64 } else { 0.0 }).collect(),
    ]
}

#[test]
fn eigenvectors_multiply_back() {
    for n in [1, 2, 3, 4, 7, 20, 45] {
        for a in symmetric_matrices(n) {
            for (dtype, epsilon) in [("f64", f64::EPSILON), ("f32", f64::from(f32::EPSILON))] {
                let scale = a.iter().fold(0.0, |scale: f64, x| scale.max(x.abs()));
                if dtype == "f32" && !(1e-30..1e30).contains(&scale) {
                    continue;
                }
                let matrix = to(dtype, &Array::f64([n, n], a.clone()));
                let w = numbers(&row("eigvalsh %0 {degenerate=[0], order=[0]}", &matrix, &format!("{dtype}[{n}]")));
                let v = numbers(&row(
                    &format!("eigenvectors %0 {{columns=[0, {n}], degenerate=[0], order=[0]}}"),
                    &matrix,
                    &format!("{dtype}[{n},{n}]"),
                ));
                let tolerance = 10.0 * (n as f64) * epsilon;
                assert!(w.is_sorted(), "{dtype} {n}: {w:?}");
                orthonormal(&v, n, tolerance);
                let scaled: Vec<f64> = v.iter().enumerate().map(|(k, x)| x * w[k % n]).collect();
                close(&product(&scaled, &transposed(&v, n), n), &numbers(&matrix), tolerance * scale);
            }
        }
    }
}

#[test]
fn singular_vectors_multiply_back() {
    for (m, n) in [(1, 1), (2, 2), (5, 3), (9, 9), (30, 7), (40, 40), (3, 1)] {
        for a in symmetric_matrices(m) {
            let a: Vec<f64> = (0..m * n).map(|k| a[k / n * m + k % n]).collect();
            let scale = a.iter().fold(0.0, |scale: f64, x| scale.max(x.abs()));
            let matrix = Array::f64([m, n], a.clone());
            let sigma = numbers(&row("svdvals %0 {degenerate=[0], order=[0]}", &matrix, &format!("f64[{n}]")));
            let vectors = |name: &str, rows: usize| {
                numbers(&row(
                    &format!("{name} %0 {{columns=[0, {n}], degenerate=[0], order=[0]}}"),
                    &matrix,
                    &format!("f64[{rows},{n}]"),
                ))
            };
            let (u, v) = (vectors("left_vectors", m), vectors("right_vectors", n));
            let tolerance = 20.0 * (m as f64) * f64::EPSILON;
            assert!(sigma.iter().rev().is_sorted());
            orthonormal(&u, n, tolerance);
            orthonormal(&v, n, tolerance);
            let scaled: Vec<f64> = u.iter().enumerate().map(|(k, x)| x * sigma[k % n]).collect();
            close(&product(&scaled, &transposed(&v, n), n), &a, tolerance * scale);
        }
    }
}

/// Where columns are of very different lengths, small singular values have all their digits.
#[test]
fn small_singular_values_are_accurate() {
    let scales = [1.0, 1e-6, 1e-13, 1e-20];
    // Orthogonal columns, scaled.
    let h = [1.0, 1.0, 1.0, 1.0, 1.0, -1.0, 1.0, -1.0, 1.0, 1.0, -1.0, -1.0, 1.0, -1.0, -1.0, 1.0];
    let a: Vec<f64> = h.iter().enumerate().map(|(k, x)| x * scales[k % 4]).collect();
    let sigma = numbers(&row("svdvals %0 {degenerate=[0], order=[0]}", &Array::f64([4, 4], a), "f64[4]"));
    sigma
        .iter()
        .zip(scales)
        .for_each(|(sigma, scale)| assert!((sigma / (2.0 * scale) - 1.0).abs() < 1e-14, "{sigma:e}"));
}

/// f(A) = Σ cᵢ of a row over A.
fn weighted(row: &str, ty: &str, result: &str, c: &str) -> Program {
    program(&format!(
        "fn main(%a: {ty}) -> f64 {{\n  %y: {result} = {row}\n  %c: {result} = constant {{value={result} {c}}}\n  %p: \
         {result} = mul %y, %c\n  %s: f64 = sum %p {{axes=[{}]}}\n  return %s\n}}",
        if result.contains(',') { "0, 1" } else { "0" }
    ))
}

fn gradient(program: &Program, a: Array) -> Result<Vec<f64>, ErrorKind> {
    let derived = diff::vjp(program, &[0], &[0]).expect("every row has a rule");
    eval::run(&derived, &[a, Array::scalar(1.0)])
        .map(|results| results[1].as_f64().to_vec())
        .map_err(|error| error.kind)
}

fn is_refused(outcome: Result<Vec<f64>, ErrorKind>) {
    assert_eq!(outcome, Err(ErrorKind::Check { tag: "LinAlgError".into() }));
}

/// With eigenvalues 1, 1, 4 and vectors (1, −1, 0), (1, 1, −2), (1, 1, 1).
fn twice() -> Array {
    Array::f64([3, 3], vec![2.0, 1.0, 1.0, 1.0, 2.0, 1.0, 1.0, 1.0, 2.0])
}

#[test]
fn values_that_coincide_and_are_treated_alike_have_a_gradient() {
    let of = |c: &str| gradient(&weighted("eigvalsh %a {degenerate=[0], order=[0]}", "f64[3,3]", "f64[3]", c), twice());
    // Lower triangles: off the diagonal both entries count.
    close(&of("[0.0, 0.0, 3.0]").expect("4 is simple"), &[1.0, 0.0, 0.0, 2.0, 1.0, 0.0, 2.0, 2.0, 1.0], 1e-13);
    close(&of("[1.0, 1.0, 1.0]").expect("a trace"), &[1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0], 1e-13);
    is_refused(of("[1.0, 0.0, 0.0]"));
    is_refused(of("[1.0, 2.0, 3.0]"));
}

#[test]
fn vectors_have_a_gradient_where_their_values_are_simple() {
    let of = |columns: &str, result: &str, c: &str| {
        gradient(
            &weighted(
                &format!("eigenvectors %a {{columns=[{columns}], degenerate=[0], order=[0]}}"),
                "f64[3,3]",
                result,
                c,
            ),
            twice(),
        )
    };
    assert!(of("2, 3", "f64[3,1]", "[[1.0], [2.0], [3.0]]").is_ok());
    is_refused(of("0, 1", "f64[3,1]", "[[1.0], [2.0], [3.0]]"));
    // Also where the cotangent is zero, as that of V log(Λ) Vᵀ at the identity is.
    is_refused(of("0, 3", "f64[3,3]", "[[0.0, 0.0, 0.0], [0.0, 0.0, 0.0], [0.0, 0.0, 0.0]]"));
}

#[test]
fn what_is_asked_for_as_zero_is() {
    let row = "eigenvectors %a {columns=[0, 3], degenerate=[1], order=[0]}";
    let found = gradient(
        &weighted(row, "f64[3,3]", "f64[3,3]", "[[1.0, 0.0, 0.0], [0.0, 2.0, 0.0], [0.0, 0.0, 3.0]]"),
        twice(),
    );
    assert!(found.expect("on request").iter().all(|x| x.is_finite()));
}

#[test]
fn singular_values_that_are_zero_have_no_derivative() {
    let a = || Array::f64([2, 2], vec![3.0, 0.0, 0.0, 0.0]);
    let of = |c: &str| gradient(&weighted("svdvals %a {degenerate=[0], order=[0]}", "f64[2,2]", "f64[2]", c), a());
    close(&of("[1.0, 0.0]").expect("3 is simple"), &[1.0, 0.0, 0.0, 0.0], 0.0);
    is_refused(of("[1.0, 1.0]"));
    let nuclear =
        |a: Array| gradient(&program("fn main(%a: f64[2,2]) -> f64 {\n  %y: f64 = nuclear_norm %a\n  return %y\n}"), a);
    is_refused(nuclear(a()));
    close(&nuclear(Array::f64([2, 2], vec![0.0, -2.0, 2.0, 0.0])).expect("both are 2"), &[0.0, -1.0, 1.0, 0.0], 1e-15);
}

/// Polar factors and the nuclear norm are smooth where singular values coincide, to every order.
#[test]
fn what_needs_no_vectors_is_smooth_where_values_coincide() {
    let turn = Array::f64([3, 3], vec![0.0, -2.0, 0.0, 2.0, 0.0, 0.0, 0.0, 0.0, 2.0]);
    let tall = Array::f64([3, 2], vec![1.0, 0.0, 0.0, 1.0, 0.0, 0.0]);
    for (op, result) in [("polar", "f64[3,3]"), ("nuclear_norm", "f64")] {
        let text = format!("fn main(%0: f64[3,3]) -> {result} {{\n  %1: {result} = {op} %0\n  return %1\n}}");
        diff::check::check_to_order(&program(&text), std::slice::from_ref(&turn), 2, 5)
            .unwrap_or_else(|error| panic!("{op}: {error}"));
    }
    let text = "fn main(%0: f64[3,2], %1: f64[1]) -> f64[2,3] {\n  %2: f64[2,3] = pinv %0, %1\n  return %2\n}";
    diff::check::check_to_order(&program(text), &[tall, Array::f64([1], vec![1e-10])], 2, 5).unwrap();
}
