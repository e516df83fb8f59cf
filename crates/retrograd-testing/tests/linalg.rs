//! What linear algebra promises beyond its derivatives: factors multiply back, matrices without an answer say so, and
//! routines run anywhere.

use std::sync::Arc;

use retrograd_compiler::ir::{Array, Program};
use retrograd_compiler::plan::strategy::Auto;
use retrograd_compiler::{diff, eval, ops};
use retrograd_testing::Random;
use retrograd_testing::laws;
use retrograd_testing::native::Native;
use retrograd_testing::programs::{Case, Size};

/// `op` of arrays of the given types.
fn program(op: &str, args: &[&Array], result: &str) -> Program {
    let params: Vec<String> = args.iter().enumerate().map(|(k, x)| format!("%{k}: {}", x.ty())).collect();
    let text = format!("fn main({}) -> {result} {{\n  %y: {result} = {op}\n  return %y\n}}", params.join(", "));
    ops::parse(&text, "linalg.rg").unwrap_or_else(|error| panic!("{error}\n{text}"))
}

fn run(op: &str, args: &[&Array], result: &str) -> Vec<f64> {
    let inputs: Vec<Array> = args.iter().map(|array| (*array).clone()).collect();
    eval::run(&program(op, args, result), &inputs).expect("linear algebra does not fault")[0].as_f64().to_vec()
}

fn matrix(n: usize, x: &[f64]) -> Array {
    Array::f64([n, n], x.to_vec())
}

fn random_matrix(n: usize, seed: u64) -> Array {
    Random::new(seed).array(&retrograd_compiler::ir::Type::f64([n, n]), (-1.0, 1.0))
}

fn product(a: &[f64], b: &[f64], n: usize) -> Vec<f64> {
    let entry = |i: usize, j: usize| (0..n).map(|k| a[i * n + k] * b[k * n + j]).sum();
    (0..n * n).map(|k| entry(k / n, k % n)).collect()
}

fn transposed(a: &[f64], n: usize) -> Vec<f64> {
    (0..n * n).map(|k| a[k % n * n + k / n]).collect()
}

/// The determinant by expansion along the first row: slow, and nothing like elimination.
fn expanded(a: &[f64], n: usize) -> f64 {
    if n == 0 {
        return 1.0;
    }
    (0..n).map(|j| if j % 2 == 0 { 1.0 } else { -1.0 } * a[j] * expanded(&minor(a, n, 0, j), n - 1)).sum()
}

/// The matrix without a row and a column.
fn minor(a: &[f64], n: usize, i: usize, j: usize) -> Vec<f64> {
    (0..n * n).filter(|k| k / n != i && k % n != j).map(|k| a[k]).collect()
}

/// The adjugate by expansion.
fn cofactors(a: &[f64], n: usize) -> Vec<f64> {
    let sign = |k: usize| if (k / n + k % n).is_multiple_of(2) { 1.0 } else { -1.0 };
    (0..n * n).map(|k| sign(k) * expanded(&minor(a, n, k % n, k / n), n - 1)).collect()
}

#[track_caller]
fn close(found: &[f64], expected: &[f64]) {
    let scale = expected.iter().fold(1.0_f64, |scale, x| scale.max(x.abs()));
    assert_eq!(found.len(), expected.len());
    found
        .iter()
        .zip(expected)
        .for_each(|(a, b)| assert!((a - b).abs() <= 1e-10 * scale, "{found:?}\nis not\n{expected:?}"));
}

#[test]
fn factors_multiply_back() {
    for n in [1, 2, 3, 7, 16, 33, 70, 130] {
        let (a, ty) = (random_matrix(n, n as u64), format!("f64[{n},{n}]"));
        let x = a.as_f64();
        let mut definite = product(x, &transposed(x, n), n);
        (0..n).for_each(|k| definite[k * n + k] += 1.0);
        let l = run("cholesky %0", &[&matrix(n, &definite)], &ty);
        close(&product(&l, &transposed(&l, n), n), &definite);

        let packed = run("lu %0", &[&a], &ty);
        let rows =
            eval::run(&program("lu_permutation %0", &[&a], &format!("i64[{n}]")), std::slice::from_ref(&a)).unwrap();
        let permuted: Vec<f64> =
            rows[0].as_i64().iter().flat_map(|row| &x[*row as usize * n..][..n]).copied().collect();
        let part = |entry: fn(usize, usize, f64) -> f64| {
            (0..n * n).map(|k| entry(k / n, k % n, packed[k])).collect::<Vec<f64>>()
        };
        let lower = part(|i, j, x| {
            if i == j {
                1.0
            } else if i > j {
                x
            } else {
                0.0
            }
        });
        let upper = part(|i, j, x| if i <= j { x } else { 0.0 });
        close(&product(&lower, &upper, n), &permuted);
        assert!((0..n * n).all(|k| k / n <= k % n || packed[k].abs() <= 1.0), "partial pivoting bounds the multiples");

        let mut identity = vec![0.0; n * n];
        (0..n).for_each(|k| identity[k * n + k] = 1.0);
        close(&product(x, &run("inverse %0", &[&a], &ty), n), &identity);
        let b = random_matrix(n, 99);
        close(&product(x, &run("solve %0, %1 {transpose=[0]}", &[&a, &b], &ty), n), b.as_f64());
        let det = run("det %0", &[&a], "f64")[0];
        close(&[run("logdet %0", &[&a], "f64")[0]], &[det.abs().ln()]);
        assert_eq!(run("det_sign %0", &[&a], "f64"), [det.signum()]);
        if n <= 7 {
            close(&[det], &[expanded(x, n)]);
            close(&run("adjugate %0", &[&a], &ty), &cofactors(x, n));
        }
    }
}

/// Q and R of an m×n matrix.
fn qr(a: &Array) -> (Vec<f64>, Vec<f64>) {
    let [m, n] = a.shape() else { panic!("a matrix") };
    let mut q = run("qr %0", &[a], &format!("f64[{},{n}]", m + n));
    let r = q.split_off(m * n);
    (q, r)
}

#[test]
fn q_has_orthonormal_columns_and_q_r_is_the_matrix() {
    for (m, n) in [(1, 1), (4, 4), (7, 3), (32, 32), (33, 32), (40, 33), (130, 70), (70, 65), (300, 97)] {
        let a = Random::new(m as u64).array(&retrograd_compiler::ir::Type::f64([m, n]), (-1.0, 1.0));
        // Squares of these are beyond the range of floats; scaling by powers of two changes no other bit.
        let scaled = |factor: f64| Array::f64([m, n], a.as_f64().iter().map(|x| x * factor).collect());
        let (q, r) = qr(&a);
        for factor in [2.0_f64.powi(900), 2.0_f64.powi(-700)] {
            let (other, length) = qr(&scaled(factor));
            close(&other, &q);
            close(&length.iter().map(|x| x / factor).collect::<Vec<f64>>(), &r);
        }
        let inner = |i: usize, j: usize| (0..m).map(|k| q[k * n + i] * q[k * n + j]).sum::<f64>();
        close(
            &(0..n * n).map(|k| inner(k / n, k % n)).collect::<Vec<_>>(),
            &(0..n * n).map(|k| f64::from(k / n == k % n)).collect::<Vec<_>>(),
        );
        let entry = |i: usize, j: usize| (0..n).map(|k| q[i * n + k] * r[k * n + j]).sum::<f64>();
        close(&(0..m * n).map(|k| entry(k / n, k % n)).collect::<Vec<_>>(), a.as_f64());
        assert!((0..n * n).all(|k| k / n <= k % n || r[k] == 0.0), "R is zero below its diagonal");
    }
}

#[test]
fn columns_that_are_zero_or_depend_on_others_have_q_and_r() {
    for x in [[0.0; 6], [1.0, 2.0, 2.0, 4.0, 3.0, 6.0], [0.0, 1.0, 0.0, 2.0, 0.0, 3.0]] {
        let (q, r) = qr(&Array::f64([3, 2], x.to_vec()));
        let inner = |i: usize, j: usize| (0..3).map(|k| q[k * 2 + i] * q[k * 2 + j]).sum::<f64>();
        close(&[inner(0, 0), inner(0, 1), inner(1, 1)], &[1.0, 0.0, 1.0]);
        close(&(0..6).map(|k| q[k / 2 * 2] * r[k % 2] + q[k / 2 * 2 + 1] * r[2 + k % 2]).collect::<Vec<_>>(), &x);
    }
    for broken in [[1.0, f64::NAN, 0.0, 1.0], [1.0, f64::INFINITY, 2.0, 1.0]] {
        let (q, r) = qr(&Array::f64([2, 2], broken.to_vec()));
        assert!(q.iter().chain(&r).any(|x| x.is_nan()), "{broken:?}");
    }
}

#[test]
fn the_gradient_of_a_determinant_is_exact_at_singular_matrices() {
    let singular = [
        vec![1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 9.0],
        // The first column is zero, a row is zero, rank one, nothing at all.
        vec![0.0, 2.0, 3.0, 0.0, 5.0, 6.0, 0.0, 8.0, 10.0],
        vec![1.0, 2.0, 3.0, 0.0, 0.0, 0.0, 7.0, 8.0, 10.0],
        vec![1.0, 2.0, 3.0, 2.0, 4.0, 6.0, 3.0, 6.0, 9.0],
        vec![0.0; 9],
    ];
    for x in singular {
        let a = matrix(3, &x);
        let gradient = diff::vjp(&program("det %0", &[&a], "f64"), &[0], &[0]).expect("det has a rule");
        let results = eval::run(&gradient, &[a, Array::scalar(1.0)]).expect("no fault");
        close(results[1].as_f64(), &transposed(&cofactors(&x, 3), 3));
    }
}

#[test]
fn matrices_without_an_answer_say_so() {
    let (singular, indefinite) = (matrix(2, &[1.0, 2.0, 2.0, 4.0]), matrix(2, &[1.0, 7.0, 2.0, 3.0]));
    let l = run("cholesky %0", &[&indefinite], "f64[2,2]");
    assert!(l[0].is_nan() && l[2].is_nan() && l[3].is_nan() && l[1] == 0.0, "{l:?}");
    let b = Array::f64([2, 1], vec![1.0, 1.0]);
    assert!(run("solve %0, %1 {transpose=[0]}", &[&singular, &b], "f64[2,1]").iter().all(|x| !x.is_finite()));
    assert!(run("inverse %0", &[&singular], "f64[2,2]").iter().all(|x| !x.is_finite()));
    assert_eq!(run("det %0", &[&singular], "f64"), [0.0]);
    assert_eq!(run("det_sign %0", &[&singular], "f64"), [0.0]);
    assert_eq!(run("logdet %0", &[&singular], "f64"), [f64::NEG_INFINITY]);
    // A NaN anywhere is not lost.
    let broken = matrix(3, &[1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, f64::NAN, 1.0]);
    for op in ["cholesky", "lu", "inverse", "adjugate"] {
        assert!(run(&format!("{op} %0"), &[&broken], "f64[3,3]").iter().any(|x| x.is_nan()), "{op}");
    }
    for op in ["det", "logdet", "det_sign"] {
        assert!(run(&format!("{op} %0"), &[&broken], "f64")[0].is_nan(), "{op}");
    }
    let large = Array::f64([400, 400], (0..160_000).map(|k| if k % 401 == 0 { 10.0 } else { 0.0 }).collect());
    close(&run("logdet %0", &[&large], "f64"), &[400.0 * 10.0_f64.ln()]);
}

#[test]
fn the_determinant_of_nothing_is_one() {
    assert_eq!(run("det %0", &[&Array::f64([2, 0, 0], vec![])], "f64[2]"), [1.0, 1.0]);
    assert_eq!(run("logdet %0", &[&Array::f64([0, 0], vec![])], "f64"), [0.0]);
    assert!(run("cholesky %0", &[&Array::f64([0, 0], vec![])], "f64[0,0]").is_empty());
    assert!(run("adjugate %0", &[&Array::f64([0, 0], vec![])], "f64[0,0]").is_empty());
}

/// Routines in a loop, under a branch inside it, with arguments that are views and results that are numbers; and after
/// it.
const LOOP: &str = "fn main(%a: f64[3,3], %b: f64[4,3,2], %n: i64) -> f64[3,2], f64 {
  %x: f64[1,3,2] = slice %b {start=[1,0,0], stop=[2,3,2], step=[1,1,1]}
  %x0: f64[3,2] = reshape %x {shape=[3,2]}
  %y: f64[3,2] = for %n carries(%x0) invariants(%a, %b) {body=step}
  %o: i64[3,2] = argsort %y {axis=[0]}
  %s: f64[3,2] = convert %o {dtype=f64}
  %t: f64[3,3] = transpose %a {axes=[1,0]}
  %d: f64 = logdet %t
  %r: f64[3,2] = mul %s, %y
  return %r, %d
}
fn step(%i: i64, %c: f64[3,2], %a: f64[3,3], %b: f64[4,3,2]) -> f64[3,2] {
  %one: i64 = constant {value=1}
  %zero: i64 = constant {value=0}
  %row: f64[1,3,2] = dynamic_slice %b, %one, %zero, %zero {sizes=[1,3,2], step=[1,1,1]}
  %late: bool = gt %i, %one
  %r: f64[3,2] = reshape %row {shape=[3,2]}
  %x: f64[3,2] = solve %a, %r {transpose=[0]}
  %q: f64[3,2] = mul %x, %c
  %next: f64[3,2] = if %late args(%a, %q) {then=late, else=early}
  return %next
}
fn late(%a: f64[3,3], %c: f64[3,2]) -> f64[3,2] {
  %l: f64[3,3] = cholesky %a
  %d: f64 = det %l
  %e: f64[3,2] = broadcast %d {shape=[3,2], axes=[]}
  %s: f64[3,2] = triangular_solve %l, %c {lower=[1], transpose=[1], unit=[0]}
  %t: f64[3,2] = mul %s, %e
  return %t
}
fn early(%a: f64[3,3], %c: f64[3,2]) -> f64[3,2] {
  %s: i64[3,2] = argsort %c {axis=[1]}
  %f: f64[3,2] = convert %s {dtype=f64}
  %m: f64[3,2] = mul %f, %c
  %t: f64[3,2] = tanh %m
  return %t
}";

#[test]
fn routines_run_in_loops_and_branches_under_every_plan() {
    let program = ops::parse(LOOP, "loop.rg").unwrap_or_else(|error| panic!("{error}"));
    let a = matrix(3, &[3.0, 0.2, 0.1, -0.4, 2.5, 0.3, 0.6, 0.7, 4.0]);
    let b = Random::new(5).array(&retrograd_compiler::ir::Type::f64([4, 3, 2]), (-1.0, 1.0));
    for n in [0, 1, 5] {
        let inputs = vec![a.clone(), b.clone(), Array::int(n as i64)];
        let case = Case { seed: 2 * n, size: Size::Small, program: program.clone(), inputs };
        laws::hold(case).unwrap_or_else(|message| panic!("{message}"));
    }
}

#[test]
fn scratch_is_in_the_plan() {
    let a = random_matrix(20, 3);
    let program = program("det %0", &[&a], "f64");
    let native = Native::new(&program, Arc::new(Auto), None).expect("det has machine code");
    let expected = eval::run(&program, std::slice::from_ref(&a)).expect("no fault");
    native.check(&[a], &expected).unwrap_or_else(|message| panic!("{message}"));
    // Packed factors with the order of their rows, the result up to where the next array can start, and the marks of
    // cycles.
    assert_eq!(native.plan.bytes_peak, 8 * 21 * 20 + 32 + 8 * 20);
}

#[test]
fn a_gradient_shares_the_factors() {
    let (a, b) = (random_matrix(40, 3), random_matrix(40, 4));
    let text = "fn main(%a: f64[40,40], %b: f64[40,40]) -> f64 {\n  %x: f64[40,40] = solve %a, %b {transpose=[0]}\n  \
                %d: f64 = logdet %a\n  %s: f64 = sum %x {axes=[0,1]}\n  %y: f64 = add %s, %d\n  return %y\n}";
    let gradient = diff::vjp(&ops::parse(text, "shared.rg").unwrap(), &[0, 1], &[0]).expect("there are rules");
    let native = Native::new(&gradient, Arc::new(Auto), None).expect("it has a plan");
    // Only factors have one row more than columns.
    let factored = native.kernel().calls.iter().filter(|call| call.result.shape == [41, 40]).count();
    assert_eq!(factored, 1, "two solves, one of the transpose, the determinant and the inverse, of one factorisation");
    let inputs = [a, b, Array::scalar(1.0)];
    native.check(&inputs, &eval::run(&gradient, &inputs).unwrap()).unwrap_or_else(|message| panic!("{message}"));
}

/// The derivative of the determinant in directions, exact for integers: it replaces one row after the other, each once,
/// as the determinant is linear in every row. `free` are the rows that stand.
fn derivative_of_det(a: &[f64], directions: &[&[f64]], free: &[usize], n: usize) -> f64 {
    let Some((direction, rest)) = directions.split_first() else { return expanded(a, n) };
    let by_row = |row: &usize| {
        let mut with = a.to_vec();
        with[row * n..(row + 1) * n].copy_from_slice(&direction[row * n..(row + 1) * n]);
        let free: Vec<usize> = free.iter().copied().filter(|other| other != row).collect();
        derivative_of_det(&with, rest, &free, n)
    };
    free.iter().map(by_row).sum()
}

/// Matrices of every rank, whose adjugates and derivatives are integers.
fn of_rank(n: usize, rank: usize) -> Vec<f64> {
    let factor = |i: usize, k: usize, odd: usize| ((i * i + odd * k * i + 3 * k + odd) % 5) as f64 - 2.0;
    (0..n * n).map(|at| (0..rank).map(|k| factor(at / n, k, 1) * factor(at % n, k, 3)).sum()).collect()
}

#[test]
fn derivatives_of_the_determinant_are_exact_at_every_rank() {
    for n in 1..=5 {
        for a in (0..=n).map(|rank| of_rank(n, rank)) {
            let basis = |at: usize| (0..n * n).map(|k| f64::from(u8::from(k == at))).collect::<Vec<f64>>();
            let along = (0..n * n).map(|k| ((3 * k + 1) % 7) as f64 - 3.0).collect::<Vec<f64>>();
            let (ty, other) = (format!("f64[{n},{n}]"), transposed(&along, n));
            // adj(A)_ji = ∂ det / ∂A_ij, and so on for its derivatives.
            let expected = |directions: &[&[f64]]| {
                let entry = |at: usize| {
                    derivative_of_det(&a, &[directions, &[&basis(at)]].concat(), &(0..n).collect::<Vec<_>>(), n)
                };
                transposed(&(0..n * n).map(entry).collect::<Vec<f64>>(), n)
            };
            close(&run("adjugate %0", &[&matrix(n, &a)], &ty), &expected(&[]));
            close(&run("adjugate %0, %1", &[&matrix(n, &a), &matrix(n, &along)], &ty), &expected(&[&along]));
            let both = [&matrix(n, &a), &matrix(n, &along), &matrix(n, &other)];
            close(&run("adjugate %0, %1, %2", &both, &ty), &expected(&[&along, &other]));
        }
    }
}
