//! Every method of `Var` at special points: ties, zeros, infinities, NaN, singular matrices, lengths 0 and 1.
//!
//! Values are stated where they are special. Derivatives of orders 1 and 2 are those of differences, wherever these see
//! a smooth function.

use std::collections::BTreeSet;

use retrograd::{Array, Triangle, Var, eval, jit};
use retrograd_compiler::diff::check::check_at_special_point;

type Function = for<'t> fn(Var<'t>) -> Var<'t>;

/// Methods over arrays of any shape; those of two values get this one twice, once as it is: a tie.
const OF_ARRAYS: &[(&str, Function)] = &[
    ("sin", |x| x.sin()),
    ("cos", |x| x.cos()),
    ("exp", |x| x.exp()),
    ("log", |x| x.log()),
    ("tanh", |x| x.tanh()),
    ("sqrt", |x| x.sqrt()),
    ("rsqrt", |x| x.rsqrt()),
    ("cbrt", |x| x.cbrt()),
    ("abs", |x| x.abs()),
    ("sign", |x| x.sign()),
    ("floor", |x| x.floor()),
    ("ceil", |x| x.ceil()),
    ("round", |x| x.round()),
    ("trunc", |x| x.trunc()),
    ("exp2", |x| x.exp2()),
    ("expm1", |x| x.expm1()),
    ("logistic", |x| x.logistic()),
    ("log2", |x| x.log2()),
    ("log10", |x| x.log10()),
    ("log1p", |x| x.log1p()),
    ("tan", |x| x.tan()),
    ("asin", |x| x.asin()),
    ("acos", |x| x.acos()),
    ("atan", |x| x.atan()),
    ("sinh", |x| x.sinh()),
    ("cosh", |x| x.cosh()),
    ("asinh", |x| x.asinh()),
    ("acosh", |x| x.acosh()),
    ("atanh", |x| x.atanh()),
    ("erf", |x| x.erf()),
    ("erfc", |x| x.erfc()),
    ("minimum", |x| x.minimum(1.0) + x.minimum(x)),
    ("maximum", |x| x.maximum(1.0) + x.maximum(x)),
    ("copysign", |x| x.copysign(-1.0)),
    ("hypot", |x| x.hypot(1.0) + x.hypot(x)),
    ("atan2", |x| x.atan2(1.0) + x.atan2(x)),
    ("logaddexp", |x| x.logaddexp(0.0) + x.logaddexp(x)),
    ("logaddexp2", |x| x.logaddexp2(0.0) + x.logaddexp2(x)),
    ("pow", |x| x.pow(2) + x.pow(3) + x.pow(1) + x.pow(0)),
    ("pow", |x| x.pow(1.5)),
    ("pow", |x| x.pow(-2) + x.pow(-0.5) + x.pow(-1.5)),
    ("clamp", |x| x.clamp(0.0, 2.0) + x.clamp(x, x)),
    ("mul_add", |x| x.mul_add(x, x)),
    ("select", |x| x.gt(0.0).select(x, 2.0 * x)),
    ("square", |x| x.square()),
    ("sum", |x| x.sum()),
    ("mean", |x| x.mean()),
    ("var", |x| x.var()),
    ("norm", |x| x.norm()),
    ("prod", |x| x.prod()),
    ("max", |x| x.max()),
    ("min", |x| x.min()),
    ("logsumexp", |x| x.logsumexp()),
    ("sum_axes", |x| x.sum_axes(&[0])),
    ("mean_axes", |x| x.mean_axes(&[0])),
    ("prod_axes", |x| x.prod_axes(&[0])),
    ("max_axes", |x| x.max_axes(&[0])),
    ("min_axes", |x| x.min_axes(&[0])),
    ("logsumexp_axes", |x| x.logsumexp_axes(&[0])),
    ("cumsum", |x| x.cumsum(0)),
    ("cumprod", |x| x.cumprod(0)),
    ("cummax", |x| x.cummax(0)),
    ("cummin", |x| x.cummin(0)),
    ("sort", |x| x.sort(0)),
    ("flip", |x| x.flip(&[0])),
    ("outer", |x| x.outer(x)),
    ("concat", |x| x.concat(&[x * x], 0)),
    ("stack", |x| x.stack(&[x * x], 0)),
    ("transpose", |x| x.transpose() * 1.0),
    ("linear_scan", |x| x.linear_scan(x * x, 0)),
    ("tabulate", |x| x.tabulate(2, |_| x * x)),
];

/// Methods over square matrices.
const OF_MATRICES: &[(&str, Function)] = &[
    ("dot", |x| x.dot(x)),
    ("matmul", |x| x.matmul(x)),
    ("triangular_solve", |x| x.triangular_solve(x * x, Triangle::LOWER)),
    ("det", |x| x.det()),
    ("logdet", |x| x.logdet()),
];

/// Methods that read, write, make or ask, and change no number; their derivatives are those of the rows that they are.
const WITHOUT_ARITHMETIC: &[&str] = &[
    // A matrix that is singular or not positive definite is a fault of the run.
    "cholesky",
    "inverse",
    "solve",
    // Their derivatives are infinite or NaN at singular matrices.
    "lu",
    "qr",
    "ty",
    "shape",
    "constant",
    "full",
    "arange",
    "convert",
    "reshape",
    "transpose_axes",
    "broadcast",
    "slice",
    "at",
    "set",
    "add_at",
    "window",
    "zeros",
    "ones",
    "eye",
    "linspace",
    "is_nan",
    "is_finite",
    "logical_not",
    "lt",
    "le",
    "gt",
    "ge",
    "eq",
    "ne",
    "logical_and",
    "logical_or",
    "logical_xor",
    "any",
    "any_axes",
    "all",
    "all_axes",
    "argmax",
    "argmin",
    "argsort",
    "take",
    "take_along_axis",
    "pad",
    "add_along_axis",
    "scatter_add",
    "scatter_set",
    "scatter_mul",
    "scatter_max",
    "scatter_min",
    "probe",
    "probe_cotangent",
    "map_cotangent",
    "clip_cotangent",
];

#[test]
fn every_method_is_here() {
    let here: BTreeSet<&str> =
        OF_ARRAYS.iter().chain(OF_MATRICES).map(|(name, _)| *name).chain(WITHOUT_ARITHMETIC.iter().copied()).collect();
    let source = concat!(
        include_str!("../src/var.rs"),
        include_str!("../src/arrays.rs"),
        include_str!("../src/composed.rs"),
        include_str!("../src/linalg.rs"),
        include_str!("../src/power.rs"),
        include_str!("../src/rules.rs")
    );
    let is_word =
        |name: &str| !name.is_empty() && name.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_');
    let methods = source.lines().filter_map(|line| {
        let declared = line.trim().strip_prefix("pub fn ").and_then(|rest| rest.split_once("(self"));
        declared.map(|(name, _)| name.split('<').next().expect("a name")).filter(|name| is_word(name))
    });
    // Lines of the tables of methods that are rows: names, then the row in capitals.
    let rows = source.lines().filter_map(|line| line.trim().strip_suffix(';')).flat_map(|line| {
        let mut words: Vec<&str> = line.split(' ').collect();
        let row = words.pop().unwrap_or_default();
        let is_row = row.len() > 1 && row.chars().all(|c| c.is_ascii_uppercase() || c.is_ascii_digit() || c == '_');
        words.into_iter().filter(move |name| is_row && is_word(name)).collect::<Vec<_>>()
    });
    let missing: BTreeSet<&str> = methods.chain(rows).filter(|name| !here.contains(name)).collect();
    assert!(missing.is_empty(), "a table of special points wants {missing:?}");
}

fn vectors() -> Vec<Array> {
    let of = |x: &[f64]| Array::f64([x.len()], x.to_vec());
    vec![
        of(&[0.0; 3]),
        of(&[1.0, 2.0, 2.0, 1.0]),
        of(&[1.0; 3]),
        of(&[-0.0]),
        of(&[2.0, 0.0, -3.0]),
        of(&[]),
        of(&[0.5]),
    ]
}

fn matrices() -> Vec<Array> {
    let of = |n: usize, x: &[f64]| Array::f64([n, n], x.to_vec());
    vec![
        of(3, &[1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 9.0]),
        of(3, &[1.0, 2.0, -1.0, 2.0, 4.0, -2.0, 3.0, 6.0, -3.0]),
        of(3, &[0.0; 9]),
        of(3, &[1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0]),
        of(2, &[1.0, 1.0, 1.0, 1.0 + 1e-9]),
        of(1, &[2.0]),
        of(0, &[]),
        Array::f64([2, 2, 2], vec![0.0, 0.0, 0.0, 0.0, 1.0, 1.0, 1.0, 1.0]),
    ]
}

#[test]
fn derivatives_are_those_of_differences_to_order_2() {
    let mut failures = vec![];
    for (table, arrays) in [(OF_ARRAYS, vectors()), (OF_ARRAYS, matrices()), (OF_MATRICES, matrices())] {
        let mut judged = 0;
        for (name, function) in table {
            for x in &arrays {
                // What a shape has no result for says so while it is traced.
                let Ok(program) = jit(|[x]| function(x)).trace(&[x]) else { continue };
                match check_at_special_point(&program, std::slice::from_ref(x), 2, 3) {
                    Ok(count) => judged += count,
                    Err(error) => failures.push(format!("`{name}` at {x:?}: {error}")),
                }
            }
        }
        assert!(judged > 100, "{judged}");
    }
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}

const INF: f64 = f64::INFINITY;
const NAN: f64 = f64::NAN;

/// Name, method, arguments and its values, as NumPy has them.
const VALUES: &[(&str, Function, &[f64], &[f64])] = &[
    ("mean", |x| x.mean(), &[], &[NAN]),
    ("mean", |x| x.mean(), &[-INF, INF], &[NAN]),
    ("var", |x| x.var(), &[], &[NAN]),
    ("var", |x| x.var(), &[5.0], &[0.0]),
    ("var", |x| x.var(), &[INF], &[NAN]),
    ("norm", |x| x.norm(), &[], &[0.0]),
    ("norm", |x| x.norm(), &[-INF, 1.0], &[INF]),
    ("prod", |x| x.prod(), &[], &[1.0]),
    ("max", |x| x.max(), &[1.0, NAN], &[NAN]),
    ("logsumexp", |x| x.logsumexp(), &[-INF, -INF], &[-INF]),
    ("logsumexp", |x| x.logsumexp(), &[1.0, INF], &[INF]),
    ("logaddexp", |x| x.logaddexp(x), &[-INF, INF, NAN], &[-INF, INF, NAN]),
    ("logaddexp", |x| x.logaddexp(f64::NEG_INFINITY), &[-INF, 2.0, INF], &[-INF, 2.0, INF]),
    ("logaddexp2", |x| x.logaddexp2(x), &[-INF, INF, 3.0], &[-INF, INF, 4.0]),
    ("pow", |x| x.pow(1.5), &[-INF, INF, -0.0, 4.0, -4.0], &[INF, INF, 0.0, 8.0, NAN]),
    ("pow", |x| x.pow(-1.5), &[-INF, INF, -0.0, 4.0, -4.0], &[0.0, 0.0, INF, 0.125, NAN]),
    ("pow", |x| x.pow(3), &[-INF, -0.0, NAN, -2.0], &[-INF, -0.0, NAN, -8.0]),
    ("pow", |x| x.pow(-1), &[-INF, -0.0, 0.0, -2.0], &[-0.0, -INF, INF, -0.5]),
    ("pow", |x| x.pow(0), &[NAN, INF, 0.0], &[1.0, 1.0, 1.0]),
    ("clamp", |x| x.clamp(0.0, 1.0), &[NAN, INF, -INF], &[NAN, 1.0, 0.0]),
    ("sort", |x| x.sort(0), &[NAN, 1.0, -INF], &[-INF, 1.0, NAN]),
];

#[test]
fn values_are_numpys() {
    for (name, function, x, expected) in VALUES {
        let x = Array::f64([x.len()], x.to_vec());
        let program = jit(|[x]| function(x)).trace(&[&x]).unwrap();
        let found = eval::run(&program, std::slice::from_ref(&x)).unwrap().remove(0);
        let same = |(a, b): (&f64, &f64)| {
            (a.is_nan() && b.is_nan()) || (a == b && a.is_sign_negative() == b.is_sign_negative())
        };
        let equal = found.as_f64().len() == expected.len() && found.as_f64().iter().zip(*expected).all(same);
        assert!(equal, "`{name}` of {x:?} is {found:?}, expected {expected:?}");
    }
}

/// The same products as those that Python has, and no function of two arguments.
#[test]
fn small_constant_exponents_are_products() {
    let ops = |function: Function| {
        let program = jit(|[x]| function(x)).trace(&[&Array::scalar(2.0)]).unwrap().to_string();
        ["mul", "div", "sqrt", "pow"].map(|name| program.matches(&format!(" = {name} ")).count())
    };
    assert_eq!(ops(|x| x.pow(2)), [1, 0, 0, 0]);
    assert_eq!(ops(|x| x.pow(7.0)), [4, 0, 0, 0]);
    assert_eq!(ops(|x| x.pow(-2)), [1, 1, 0, 0]);
    assert_eq!(ops(|x| x.pow(0.5)), [0, 0, 1, 0]);
    assert_eq!(ops(|x| x.pow(-1.5)), [2, 1, 1, 0]);
    assert_eq!(ops(|x| x.pow(1.5)), [0, 0, 0, 1]);
    assert_eq!(ops(|x| x.pow(65)), [0, 0, 0, 1]);
    assert_eq!(ops(|x| x.pow(x)), [0, 0, 0, 1]);
    let cube = jit(|[n]| n.pow(3)).run(&[Array::int(-3)]).unwrap();
    assert_eq!(cube, [Array::int(-27)]);
}
