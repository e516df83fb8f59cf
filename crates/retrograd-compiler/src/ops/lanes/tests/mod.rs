//! What holds for the functions: special values, exact cases, agreement with MPFR and std, and symmetries.

mod reference;

use super as lanes;
use super::*;
use std::f64::consts::{E, FRAC_PI_2, FRAC_PI_4, LN_2, PI};

const INF: f64 = f64::INFINITY;
const NAN: f64 = f64::NAN;
const TINY: f64 = 5e-324;

type Function = fn(f64) -> f64;

#[track_caller]
fn check(name: &str, ours: fn(f64) -> f64, table: &[(f64, f64)]) {
    for &(x, expected) in table {
        let y = ours(x);
        assert_eq!(y.to_bits(), expected.to_bits(), "{name}({x:e}) is {y:e}, not {expected:e}");
    }
}

/// How many representable numbers lie between the two; all NaN are one.
fn steps(a: f64, b: f64) -> u64 {
    let place = |x: f64| if x.is_sign_negative() { -((x.to_bits() & !SIGN) as i64) } else { x.to_bits() as i64 };
    if a.is_nan() && b.is_nan() { 0 } else { place(a).abs_diff(place(b)) }
}

/// `count` numbers from `low` to `high`, evenly spread, both ends included.
fn sweep(low: f64, high: f64, count: u32) -> impl Iterator<Item = f64> {
    (0..=count).map(move |i| low + (high - low) * (f64::from(i) / f64::from(count)))
}

/// Numbers of every magnitude: bit patterns at even distance, so exponents and mantissas both vary.
fn patterns() -> impl Iterator<Item = f64> {
    (0..200_000u64).map(|i| f64::from_bits(i.wrapping_mul(0x9e37_79b9_7f4a_7c15)))
}

/// Ours is hardly more than one ULP from the truth, std's by its own account `std_error`; so they are at most that many
/// steps apart.
#[track_caller]
fn check_against_std(
    name: &str,
    ours: fn(f64) -> f64,
    std: fn(f64) -> f64,
    std_error: u64,
    points: impl Iterator<Item = f64>,
) {
    for x in points {
        assert!(steps(ours(x), std(x)) <= std_error, "{name}({x:e}) is {:e}, std says {:e}", ours(x), std(x));
    }
}

#[track_caller]
fn check_rising(name: &str, ours: fn(f64) -> f64, points: impl Iterator<Item = f64>) {
    let mut before = f64::NEG_INFINITY;
    for x in points {
        let y = ours(x);
        assert!(y >= before, "{name} falls to {y:e} at {x:e}");
        before = y;
    }
}

#[track_caller]
fn check_binary_against_std(
    name: &str,
    ours: fn(f64, f64) -> f64,
    std: fn(f64, f64) -> f64,
    std_error: u64,
    points: impl Iterator<Item = (f64, f64)>,
) {
    for (x, y) in points {
        let (ours, std) = (ours(x, y), std(x, y));
        let close =
            steps(ours, std) <= std_error && (ours.is_sign_negative() == std.is_sign_negative() || std.is_nan());
        assert!(close, "{name}({x:e}, {y:e}) is {ours:e}, std says {std:e}");
    }
}

#[track_caller]
fn check_binary(name: &str, ours: fn(f64, f64) -> f64, table: &[(f64, f64, f64)]) {
    for &(x, y, expected) in table {
        let value = ours(x, y);
        assert_eq!(value.to_bits(), expected.to_bits(), "{name}({x:e}, {y:e}) is {value:e}, not {expected:e}");
    }
}

/// Numbers at which functions of two arguments have special cases, each with each.
fn special_pairs() -> impl Iterator<Item = (f64, f64)> {
    let positive = [
        0.0,
        TINY,
        1e-310,
        1e-300,
        0.3,
        0.5,
        1.0,
        1.5,
        2.0,
        3.0,
        11.0,
        4503599627370497.0,
        9007199254740991.0,
        1e300,
        f64::MAX,
        INF,
    ];
    let all: Vec<f64> = positive.into_iter().flat_map(|x| [x, -x]).chain([NAN]).collect();
    let second = all.clone();
    all.into_iter().flat_map(move |x| second.clone().into_iter().map(move |y| (x, y)))
}

/// Pairs of any magnitudes, of like magnitudes, and of those that programs mostly hold.
fn pairs() -> impl Iterator<Item = (f64, f64)> {
    let any = patterns().zip(patterns().skip(77_777));
    let like = patterns()
        .zip(patterns().skip(5))
        .map(|(x, y)| (x, x * f64::from_bits(y.to_bits() & MANTISSA | 1.0f64.to_bits())));
    let usual = sweep(0.01, 10.0, 50_000).zip(sweep(-10.0, 10.0, 50_000).cycle_by(7_919));
    special_pairs().chain(any).chain(like).chain(usual)
}

trait CycleBy: Iterator<Item = f64> + Sized {
    /// The same elements in strides, so that they meet others.
    fn cycle_by(self, stride: usize) -> impl Iterator<Item = f64> {
        let all: Vec<f64> = self.collect();
        (0..all.len()).map(move |i| all[i * stride % all.len()])
    }
}
impl<I: Iterator<Item = f64>> CycleBy for I {}

#[test]
fn special_values_are_exact() {
    let other_nan = f64::from_bits(0xfff0_dead_beef_0001);
    // At 0, -0, inf, -inf, the greatest, the least, and 1.
    let table: [(&str, Function, [f64; 7]); 29] = [
        ("exp", exp, [1.0, 1.0, INF, 0.0, INF, 0.0, E]),
        ("exp2", exp2, [1.0, 1.0, INF, 0.0, INF, 0.0, 2.0]),
        ("expm1", expm1, [0.0, -0.0, INF, -1.0, INF, -1.0, 1.7182818284590453]),
        ("logistic", logistic, [0.5, 0.5, 1.0, 0.0, 1.0, 0.0, 0.7310585786300049]),
        ("log", log, [-INF, -INF, INF, NAN, 709.782712893384, NAN, 0.0]),
        ("log2", log2, [-INF, -INF, INF, NAN, 1024.0, NAN, 0.0]),
        ("log10", log10, [-INF, -INF, INF, NAN, 308.25471555991675, NAN, 0.0]),
        ("log1p", log1p, [0.0, -0.0, INF, NAN, 709.782712893384, NAN, LN_2]),
        ("sin", sin, [0.0, -0.0, NAN, NAN, 0.004961954789184062, -0.004961954789184062, 0.8414709848078965]),
        ("cos", cos, [1.0, 1.0, NAN, NAN, -0.9999876894265599, -0.9999876894265599, 0.5403023058681398]),
        ("tan", tan, [0.0, -0.0, NAN, NAN, -0.004962015874444895, 0.004962015874444895, 1.5574077246549023]),
        ("asin", asin, [0.0, -0.0, NAN, NAN, NAN, NAN, FRAC_PI_2]),
        ("acos", acos, [FRAC_PI_2, FRAC_PI_2, NAN, NAN, NAN, NAN, 0.0]),
        ("atan", atan, [0.0, -0.0, FRAC_PI_2, -FRAC_PI_2, FRAC_PI_2, -FRAC_PI_2, FRAC_PI_4]),
        ("sinh", sinh, [0.0, -0.0, INF, -INF, INF, -INF, 1.1752011936438014]),
        ("cosh", cosh, [1.0, 1.0, INF, INF, INF, INF, 1.5430806348152437]),
        ("tanh", tanh, [0.0, -0.0, 1.0, -1.0, 1.0, -1.0, 0.7615941559557649]),
        ("asinh", asinh, [0.0, -0.0, INF, -INF, 710.475860073944, -710.475860073944, 0.881373587019543]),
        ("acosh", acosh, [NAN, NAN, INF, NAN, 710.475860073944, NAN, 0.0]),
        ("atanh", atanh, [0.0, -0.0, NAN, NAN, NAN, NAN, INF]),
        ("cbrt", cbrt, [0.0, -0.0, INF, -INF, 5.643803094122362e102, -5.643803094122362e102, 1.0]),
        ("rsqrt", rsqrt, [INF, -INF, 0.0, NAN, 7.458340731200207e-155, NAN, 1.0]),
        ("erf", erf, [0.0, -0.0, 1.0, -1.0, 1.0, -1.0, 0.8427007929497149]),
        ("erfc", erfc, [1.0, 1.0, 0.0, 2.0, 0.0, 2.0, 0.15729920705028513]),
        ("floor", floor, [0.0, -0.0, INF, -INF, f64::MAX, f64::MIN, 1.0]),
        ("ceil", ceil, [0.0, -0.0, INF, -INF, f64::MAX, f64::MIN, 1.0]),
        ("round", round, [0.0, -0.0, INF, -INF, f64::MAX, f64::MIN, 1.0]),
        ("trunc", trunc, [0.0, -0.0, INF, -INF, f64::MAX, f64::MIN, 1.0]),
        ("sign", sign, [0.0, -0.0, 1.0, -1.0, 1.0, -1.0, 1.0]),
    ];
    for (name, function, [zero, minus_zero, inf, minus_inf, max, min, one]) in table {
        check(
            name,
            function,
            &[
                (0.0, zero),
                (-0.0, minus_zero),
                (INF, inf),
                (-INF, minus_inf),
                (f64::MAX, max),
                (f64::MIN, min),
                (1.0, one),
            ],
        );
        check(name, function, &[(NAN, NAN), (-NAN, NAN), (other_nan, NAN)]);
    }
}

#[test]
fn functions_that_start_as_the_identity_keep_tiny_numbers() {
    let table: [(&str, Function); 10] = [
        ("expm1", expm1),
        ("log1p", log1p),
        ("sin", sin),
        ("tan", tan),
        ("asin", asin),
        ("atan", atan),
        ("sinh", sinh),
        ("tanh", tanh),
        ("asinh", asinh),
        ("atanh", atanh),
    ];
    for (name, function) in table {
        check(name, function, &[TINY, 1e-323, 1e-310, 2.2e-308, 1e-300, 1e-17].map(|x| (x, x)));
        check(name, function, &[TINY, 1e-323, 1e-310, 2.2e-308, 1e-300, 1e-17].map(|x| (-x, -x)));
    }
}

#[test]
fn domains_end_where_they_should() {
    let above_1 = 1.0f64.next_up();
    check("log", log, &[(-TINY, NAN), (-1.0, NAN), (2.0, LN_2)]);
    check("log1p", log1p, &[(-1.0, -INF), (-above_1, NAN)]);
    check("asin", asin, &[(-1.0, -FRAC_PI_2), (above_1, NAN), (-above_1, NAN)]);
    check("acos", acos, &[(-1.0, PI), (above_1, NAN), (-above_1, NAN)]);
    check("acosh", acosh, &[(1.0f64.next_down(), NAN), (-1.0, NAN), (-above_1, NAN)]);
    check("atanh", atanh, &[(-1.0, -INF), (above_1, NAN), (-above_1, NAN)]);
    check("rsqrt", rsqrt, &[(-TINY, NAN), (4.0, 0.5), (0.25, 2.0)]);
    check("exp2", exp2, &[(1024.0, INF), (-1074.0, TINY), (-1075.0, 0.0), (-1074.9999999999998, TINY), (-1e300, 0.0)]);
    check("expm1", expm1, &[(709.782712893384, 1.7976931348622732e308), (709.7827128933841, INF), (-38.0, -1.0)]);
    check("sinh", sinh, &[(710.4758600739439, 1.7976931348621744e308), (710.475860073944, INF), (-711.0, -INF)]);
    check("cosh", cosh, &[(710.4758600739439, 1.7976931348621744e308), (710.475860073944, INF), (-711.0, INF)]);
    check("logistic", logistic, &[(-745.0, TINY), (-745.2, 0.0), (38.0, 1.0)]);
    check("erfc", erfc, &[(27.226, TINY), (27.23, 0.0), (-6.0, 2.0)]);
}

// The expected values in the next tests were computed with mpmath at 3000 bits and rounded once.

#[test]
fn exp_is_right_where_it_underflows_and_overflows() {
    check("exp", exp, &[(-745.1332191019411, 5e-324), (-745.1332191019412, 0.0), (-745.0, 5e-324), (-740.0, 4.2e-322)]);
    check("exp", exp, &[(-708.3964185322641, 2.2250738585072626e-308), (-708.4, 2.217119081664265e-308)]);
    check(
        "exp",
        exp,
        &[(709.782712893384, 1.7976931348622732e308), (709.7827128933841, INF), (710.0, INF), (-746.0, 0.0)],
    );
}

#[test]
fn log_is_right_at_the_ends_of_the_range_and_beside_1() {
    check("log", log, &[(5e-324, -744.4400719213812), (1e-310, -713.8013788281542)]);
    check("log", log, &[(2.2250738585072014e-308, -708.3964185322641), (1.7976931348623157e308, 709.782712893384)]);
    check("log", log, &[(0.9999999999999999, -1.1102230246251565e-16), (1.0000000000000002, 2.2204460492503128e-16)]);
}

#[test]
fn tanh_is_right_where_it_becomes_1() {
    check("tanh", tanh, &[(18.7, 0.9999999999999999), (19.07, 1.0)]);
    for (x, expected) in [(15.0, 0.9999999999998128), (18.0, 0.9999999999999996), (18.3, 0.9999999999999998)] {
        assert!(steps(tanh(x), expected) <= 1, "tanh({x:e}) is {:e}, not {expected:e}", tanh(x));
    }
}

#[test]
fn sin_and_cos_are_right_for_huge_arguments() {
    let table = [
        (1e10, -0.4875060250875107, 0.873119622676856),
        (1099511627776.0, -0.40570501153282873, -0.914004071991557),
        (1099511627776.0002, -0.40592814496504903, -0.9139049956780159),
        (1e15, 0.8582727931702359, -0.5131937377869703),
        (1.152921504606847e18, -0.8306492176372546, -0.5567960822766417),
        (1e22, -0.8522008497671888, 0.523214785395139),
        // The double nearest to a multiple of π/2.
        (5.319372648326541e255, 1.0, -4.687165924254628e-19),
        (-1e300, 0.8178819121159085, -0.5753861119575491),
        (8.98846567431158e307, 0.563127779850884, -0.826369834614148),
        (f64::MAX, 0.004961954789184062, -0.9999876894265599),
    ];
    for (x, sine, cosine) in table {
        check("sin", sin, &[(x, sine), (-x, -sine)]);
        check("cos", cos, &[(x, cosine), (-x, cosine)]);
    }
}

#[test]
fn hard_arguments_give_what_mpfr_gives() {
    for (name, function, table) in reference::UNARY {
        for &(x, expected) in *table {
            assert!(steps(function(x), expected) <= 1, "{name}({x:e}) is {:e}, not {expected:e}", function(x));
        }
    }
    for (name, function, table) in reference::BINARY {
        for &(x, y, expected) in *table {
            assert!(
                steps(function(x, y), expected) <= 1,
                "{name}({x:e}, {y:e}) is {:e}, not {expected:e}",
                function(x, y)
            );
        }
    }
}

#[test]
fn powers_and_logarithms_of_integers_are_exact() {
    for k in -1074..1024 {
        let power = exp2(f64::from(k));
        assert_eq!(log2(power), f64::from(k));
        assert_eq!(pow(2.0, f64::from(k)), power);
    }
    for k in 0..23 {
        assert_eq!(log10(10f64.powi(k)), f64::from(k));
        assert_eq!(pow(10.0, f64::from(k)), 10f64.powi(k));
    }
    for k in 1..100_000 {
        let k = f64::from(k);
        assert_eq!(cbrt(-k * k * k), -k);
        assert_eq!(rsqrt(k * k), 1.0 / k);
        assert_eq!(hypot(3.0 * k, -4.0 * k), 5.0 * k);
        assert_eq!(pow(-k, 3.0), -k * k * k);
        assert_eq!(pow(k * k, 0.5), k);
        assert_eq!(pow(k, 1.0), k);
    }
}

#[test]
fn results_are_close_to_std() {
    let around_0 = || sweep(-1.5, 1.5, 100_000).chain(patterns());
    check_against_std("exp", exp, f64::exp, 1, sweep(-750.0, 712.0, 200_000).chain(around_0()));
    check_against_std("exp2", exp2, f64::exp2, 1, sweep(-1080.0, 1025.0, 200_000).chain(around_0()));
    check_against_std("expm1", expm1, f64::exp_m1, 1, sweep(-40.0, 712.0, 200_000).chain(around_0()));
    check_against_std(
        "log",
        log,
        f64::ln,
        1,
        sweep(0.0, 4.0, 200_000).chain(sweep(0.99, 1.01, 100_000)).chain(patterns()),
    );
    check_against_std(
        "log2",
        log2,
        f64::log2,
        1,
        sweep(0.0, 4.0, 200_000).chain(sweep(0.99, 1.01, 100_000)).chain(patterns()),
    );
    check_against_std(
        "log10",
        log10,
        f64::log10,
        2,
        sweep(0.0, 4.0, 200_000).chain(sweep(0.99, 1.01, 100_000)).chain(patterns()),
    );
    check_against_std("log1p", log1p, f64::ln_1p, 1, sweep(-1.0, 10.0, 200_000).chain(around_0()));
    let angles = || {
        sweep(-10.0, 10.0, 100_000)
            .chain(sweep(-1e6, 1e6, 100_000))
            .chain(sweep(1e12, 1.2e12, 10_000))
            .chain(patterns())
    };
    check_against_std("sin", sin, f64::sin, 1, angles());
    check_against_std("cos", cos, f64::cos, 1, angles());
    check_against_std("tan", tan, f64::tan, 1, angles());
    check_against_std("asin", asin, f64::asin, 1, around_0());
    check_against_std("acos", acos, f64::acos, 1, around_0());
    check_against_std("atan", atan, f64::atan, 1, sweep(-10.0, 10.0, 100_000).chain(around_0()));
    check_against_std("sinh", sinh, f64::sinh, 2, sweep(-712.0, 712.0, 100_000).chain(around_0()));
    check_against_std("cosh", cosh, f64::cosh, 2, sweep(-712.0, 712.0, 100_000).chain(around_0()));
    check_against_std("tanh", tanh, f64::tanh, 3, sweep(-23.0, 23.0, 100_000).chain(around_0()));
    check_against_std(
        "asinh",
        asinh,
        f64::asinh,
        3,
        sweep(-23.0, 23.0, 100_000).chain(around_0().filter(|x| x.abs() < 1e300)),
    );
    check_against_std("acosh", acosh, f64::acosh, 3, sweep(2.0, 23.0, 100_000));
    check_against_std("atanh", atanh, f64::atanh, 3, around_0().filter(|x| x.abs() < 0.5));
    check_against_std("cbrt", cbrt, f64::cbrt, 1, sweep(-10.0, 10.0, 100_000).chain(patterns()));
    check_binary_against_std("atan2", atan2, f64::atan2, 1, pairs());
    check_binary_against_std("pow", pow, f64::powf, 1, pairs());
    check_binary_against_std("hypot", hypot, f64::hypot, 1, pairs());
}

#[test]
fn exact_functions_are_those_of_std() {
    let halves = sweep(-50.0, 50.0, 400)
        .chain(sweep(4503599627370490.0, 4503599627370506.0, 32))
        .chain(sweep(-3.0, 3.0, 10_000));
    for x in halves.chain(patterns()).filter(|x| !x.is_nan()) {
        check("floor", floor, &[(x, x.floor())]);
        check("ceil", ceil, &[(x, x.ceil())]);
        check("round", round, &[(x, x.round_ties_even())]);
        check("trunc", trunc, &[(x, x.trunc())]);
    }
    for (x, y) in pairs() {
        let expected = if (x % y).is_nan() { NAN } else { x % y };
        check_binary("rem", rem, &[(x, y, expected)]);
        if !x.is_nan() {
            check_binary("copysign", copysign, &[(x, y, if y.is_nan() { x.abs() } else { x.copysign(y) })]);
        }
    }
}

#[test]
fn remainders_of_far_quotients_are_exact_too() {
    for (x, y) in pairs().filter(|(x, y)| x.abs() >= y.abs()) {
        check_binary("rem_beyond", rem_beyond, &[(x, y, rem(x, y))]);
    }
}

#[test]
fn min_and_max_take_zeros_by_sign_and_pass_on_nan() {
    for (x, y) in special_pairs() {
        // -0 < +0 in this order, which otherwise is that of numbers.
        let (least, greatest) = if x.total_cmp(&y).is_lt() { (x, y) } else { (y, x) };
        let nan = x.is_nan() || y.is_nan();
        check_binary("min", min, &[(x, y, if nan { NAN } else { least })]);
        check_binary("max", max, &[(x, y, if nan { NAN } else { greatest })]);
    }
}

#[test]
fn powers_have_the_special_cases_of_ieee_754() {
    check_binary(
        "pow",
        pow,
        &[(NAN, 0.0, 1.0), (NAN, -0.0, 1.0), (1.0, NAN, 1.0), (-1.0, NAN, NAN), (0.0, NAN, NAN), (NAN, 1.0, NAN)],
    );
    check_binary(
        "pow",
        pow,
        &[(-1.0, INF, 1.0), (-1.0, -INF, 1.0), (0.5, INF, 0.0), (0.5, -INF, INF), (-2.0, INF, INF), (-2.0, -INF, 0.0)],
    );
    check_binary(
        "pow",
        pow,
        &[(0.0, -3.0, INF), (-0.0, -3.0, -INF), (-0.0, -2.0, INF), (-0.0, -2.5, INF), (-0.0, -INF, INF)],
    );
    check_binary(
        "pow",
        pow,
        &[(0.0, 3.0, 0.0), (-0.0, 3.0, -0.0), (-0.0, 2.0, 0.0), (-0.0, 2.5, 0.0), (-0.0, INF, 0.0)],
    );
    check_binary(
        "pow",
        pow,
        &[
            (-INF, 3.0, -INF),
            (-INF, 2.0, INF),
            (-INF, 2.5, INF),
            (-INF, -3.0, -0.0),
            (-INF, -2.0, 0.0),
            (-INF, -2.5, 0.0),
        ],
    );
    check_binary(
        "pow",
        pow,
        &[
            (INF, TINY, INF),
            (INF, -TINY, 0.0),
            (-2.0, 0.5, NAN),
            (-TINY, 0.5, NAN),
            (-1.0, 0.5, NAN),
            (-2.0, 3.0, -8.0),
        ],
    );
    // The last odd numbers, and the first where all are even.
    check_binary(
        "pow",
        pow,
        &[(-1.0, 9007199254740991.0, -1.0), (-1.0, 9007199254740992.0, 1.0), (-1.0, 4503599627370497.0, -1.0)],
    );
    check_binary(
        "pow",
        pow,
        &[(-1.0, 4503599627370495.5, NAN), (-1.0, f64::MAX, 1.0), (-f64::MAX, 3.0, -INF), (-f64::MAX, -3.0, -0.0)],
    );
}

#[test]
fn angles_and_lengths_have_the_special_cases_of_ieee_754() {
    check_binary(
        "atan2",
        atan2,
        &[(0.0, 0.0, 0.0), (-0.0, 0.0, -0.0), (0.0, -0.0, PI), (-0.0, -0.0, -PI), (0.0, -1.0, PI), (-0.0, -INF, -PI)],
    );
    check_binary(
        "atan2",
        atan2,
        &[(1.0, 0.0, FRAC_PI_2), (-1.0, -0.0, -FRAC_PI_2), (INF, 1.0, FRAC_PI_2), (-INF, -1.0, -FRAC_PI_2)],
    );
    check_binary(
        "atan2",
        atan2,
        &[(INF, INF, FRAC_PI_4), (-INF, INF, -FRAC_PI_4), (INF, -INF, 3.0 * FRAC_PI_4), (-INF, -INF, -3.0 * FRAC_PI_4)],
    );
    check_binary(
        "atan2",
        atan2,
        &[(1.0, INF, 0.0), (-1.0, INF, -0.0), (1.0, -INF, PI), (NAN, INF, NAN), (INF, NAN, NAN), (NAN, 0.0, NAN)],
    );
    check_binary(
        "hypot",
        hypot,
        &[(INF, NAN, INF), (NAN, -INF, INF), (NAN, 0.0, NAN), (0.0, NAN, NAN), (-0.0, -0.0, 0.0), (-3.0, 0.0, 3.0)],
    );
    check_binary(
        "hypot",
        hypot,
        &[(TINY, 0.0, TINY), (TINY, -TINY, TINY), (f64::MAX, 0.0, f64::MAX), (f64::MAX, f64::MAX, INF)],
    );
}

#[test]
fn a_function_and_its_complement_sum_up() {
    for x in sweep(-6.0, 6.0, 100_000) {
        assert!((erf(x) + erfc(x) - 1.0).abs() <= 4.5e-16, "{x:e}");
        assert!((logistic(x) + logistic(-x) - 1.0).abs() <= 2.3e-16, "{x:e}");
        assert!((asin(x / 6.0) + acos(x / 6.0) - FRAC_PI_2).abs() <= 4.5e-16, "{x:e}");
    }
}

#[test]
fn both_paths_agree_beside_the_bound() {
    for x in sweep(0.5 * ANGLE_BOUND, ANGLE_BOUND, 50_000) {
        assert!(steps(sin_within(x), sin_beyond(x)) <= 1, "{x:e}");
        assert!(steps(cos_within(x), cos_beyond(x)) <= 1, "{x:e}");
        assert!(steps(tan_within(x), tan_beyond(x)) <= 1, "{x:e}");
    }
}

#[test]
fn monotonic_functions_rise_at_the_seams() {
    check_rising(
        "exp",
        exp,
        sweep(-750.0, -700.0, 100_000).chain(sweep(-1.0, 1.0, 100_000)).chain(sweep(709.0, 711.0, 100_000)),
    );
    check_rising(
        "log",
        log,
        sweep(0.0, 1e-307, 100_000).chain(sweep(0.7, 1.5, 100_000)).chain(sweep(1e308, f64::MAX, 1_000)),
    );
    check_rising("tanh", tanh, sweep(-25.0, 25.0, 200_000));
    check_rising("logistic", logistic, sweep(-750.0, -700.0, 10_000).chain(sweep(-40.0, 40.0, 200_000)));
    check_rising("erf", erf, sweep(-6.0, 6.0, 200_000));
    check_rising("-erfc", |x| -erfc(x), sweep(-6.0, 28.0, 200_000));
    check_rising("cbrt", cbrt, sweep(-9.0, 9.0, 200_000));
    // Where the reduction changes, neighbours are computed differently.
    let seams: [(&str, Function, f64); 12] = [
        ("erf", erf, 1.0),
        ("-erfc", |x| -erfc(x), 0.75),
        ("asin", asin, 0.5),
        ("-acos", |x| -acos(x), 0.5),
        ("atan", atan, 1.0),
        ("atan", atan, 0.41421356237309503),
        ("atan", atan, 2.414213562373095),
        ("asinh", asinh, 0.35355339059327373),
        ("acosh", acosh, 1.0606601717798212),
        ("atanh", atanh, 0.1715728752538099),
        ("log1p", log1p, 0.41421356237309503),
        ("sinh", sinh, 0.5 * LN_2),
    ];
    for (name, function, seam) in seams {
        check_rising(name, function, sweep(seam - 1e-9, seam + 1e-9, 1_000));
    }
    for k in -1000..1000 {
        let seam = (f64::from(k) + 0.5) * LN_2;
        check_rising("exp", exp, sweep(seam - 1e-9, seam + 1e-9, 50));
        check_rising("tanh", tanh, sweep(0.5 * seam - 1e-9, 0.5 * seam + 1e-9, 50));
        check_rising("exp2", exp2, sweep(f64::from(k) + 0.5 - 1e-9, f64::from(k) + 0.5 + 1e-9, 50));
    }
}

#[test]
fn bounded_functions_stay_within_their_bounds() {
    let near_one = (0..1000).map(|n| f64::from(n) * FRAC_PI_2).flat_map(|x| sweep(x - 1e-7, x + 1e-7, 100));
    for x in near_one.chain(sweep(-30.0, 30.0, 100_000)) {
        assert!(sin(x).abs() <= 1.0 && cos(x).abs() <= 1.0 && tanh(x).abs() <= 1.0 && erf(x).abs() <= 1.0, "{x:e}");
        assert!((0.0..=1.0).contains(&logistic(x)) && (0.0..=2.0).contains(&erfc(x)) && cosh(x) >= 1.0, "{x:e}");
    }
}

#[test]
fn odd_and_even_functions_are_so_to_the_bit() {
    let odd: [Function; 10] = [sin, tan, asin, atan, sinh, tanh, asinh, atanh, cbrt, erf];
    for x in patterns().chain(sweep(0.0, 100.0, 50_000)).filter(|x| x.is_finite()) {
        for function in odd {
            let (plus, minus) = (function(x), function(-x));
            assert!(minus.to_bits() == plus.to_bits() ^ SIGN || plus.is_nan() && minus.is_nan(), "{x:e}");
        }
        assert_eq!(cos(-x).to_bits(), cos(x).to_bits(), "{x:e}");
        assert_eq!(cosh(-x).to_bits(), cosh(x).to_bits(), "{x:e}");
    }
}
