use super::*;
use std::f64::consts::{FRAC_PI_2, LN_2};

const INF: f64 = f64::INFINITY;
const NAN: f64 = f64::NAN;
const TINY: f64 = 5e-324;

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

/// Ours is less than one ULP from the truth, std's by its own account `std_error`; so they are at most that many steps apart.
#[track_caller]
fn check_against_std(name: &str, ours: fn(f64) -> f64, std: fn(f64) -> f64, std_error: u64, points: impl Iterator<Item = f64>) {
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

#[test]
fn special_values_are_exact() {
    let third_nan = f64::from_bits(0xfff0_dead_beef_0001);
    check("exp", exp, &[(0.0, 1.0), (-0.0, 1.0), (INF, INF), (-INF, 0.0), (NAN, NAN), (-NAN, NAN), (third_nan, NAN)]);
    check("exp", exp, &[(TINY, 1.0), (-TINY, 1.0), (1e-300, 1.0), (f64::MAX, INF), (f64::MIN, 0.0), (1.0, std::f64::consts::E)]);
    check("log", log, &[(0.0, -INF), (-0.0, -INF), (INF, INF), (-INF, NAN), (NAN, NAN), (-NAN, NAN), (third_nan, NAN)]);
    check("log", log, &[(1.0, 0.0), (-TINY, NAN), (-1.0, NAN), (f64::MIN, NAN), (2.0, LN_2)]);
    check("tanh", tanh, &[(0.0, 0.0), (-0.0, -0.0), (INF, 1.0), (-INF, -1.0), (NAN, NAN), (-NAN, NAN), (third_nan, NAN)]);
    check("tanh", tanh, &[(TINY, TINY), (-TINY, -TINY), (1e-310, 1e-310), (f64::MAX, 1.0), (f64::MIN, -1.0), (1e-8, 1e-8)]);
    check("sin", sin, &[(0.0, 0.0), (-0.0, -0.0), (INF, NAN), (-INF, NAN), (NAN, NAN), (-NAN, NAN), (third_nan, NAN)]);
    check("sin", sin, &[(TINY, TINY), (-TINY, -TINY), (1e-310, 1e-310), (1e-9, 1e-9), (FRAC_PI_2, 1.0)]);
    check("cos", cos, &[(0.0, 1.0), (-0.0, 1.0), (INF, NAN), (-INF, NAN), (NAN, NAN), (-NAN, NAN), (third_nan, NAN)]);
    check("cos", cos, &[(TINY, 1.0), (-TINY, 1.0), (1e-310, 1.0), (FRAC_PI_2, 6.123233995736766e-17)]);
}

// The expected values in the next tests were computed with mpmath at 3000 bits and rounded once.

#[test]
fn exp_is_right_where_it_underflows_and_overflows() {
    check("exp", exp, &[(-745.1332191019411, 5e-324), (-745.1332191019412, 0.0), (-745.0, 5e-324), (-740.0, 4.2e-322)]);
    check("exp", exp, &[(-708.3964185322641, 2.2250738585072626e-308), (-708.4, 2.217119081664265e-308)]);
    check("exp", exp, &[(709.782712893384, 1.7976931348622732e308), (709.7827128933841, INF), (710.0, INF), (-746.0, 0.0)]);
}

#[test]
fn log_is_right_at_the_ends_of_the_range_and_beside_1() {
    check("log", log, &[(5e-324, -744.4400719213812), (1e-310, -713.8013788281542)]);
    check("log", log, &[(2.2250738585072014e-308, -708.3964185322641), (1.7976931348623157e308, 709.782712893384)]);
    check("log", log, &[(0.9999999999999999, -1.1102230246251565e-16), (1.0000000000000002, 2.2204460492503128e-16)]);
}

#[test]
fn tanh_is_right_where_it_becomes_1() {
    check("tanh", tanh, &[(18.3, 0.9999999999999998), (18.7, 0.9999999999999999), (19.07, 1.0)]);
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
fn results_are_close_to_std() {
    check_against_std("exp", exp, f64::exp, 1, sweep(-750.0, 712.0, 200_000).chain(sweep(-1.5, 1.5, 100_000)).chain(patterns()));
    check_against_std("log", log, f64::ln, 1, sweep(0.0, 4.0, 200_000).chain(sweep(0.99, 1.01, 100_000)).chain(patterns()));
    check_against_std("tanh", tanh, f64::tanh, 3, sweep(-23.0, 23.0, 100_000).chain(sweep(-1.0, 1.0, 100_000)).chain(patterns()));
    let angles = || sweep(-10.0, 10.0, 100_000).chain(sweep(-1e6, 1e6, 100_000)).chain(sweep(1e12, 1.2e12, 10_000)).chain(patterns());
    check_against_std("sin", sin, f64::sin, 1, angles());
    check_against_std("cos", cos, f64::cos, 1, angles());
}

#[test]
fn both_reductions_agree_beside_the_bound() {
    for x in sweep(0.5 * ANGLE_BOUND, ANGLE_BOUND, 50_000) {
        assert!(steps(sin_within(x), sin_beyond(x)) <= 1, "{x:e}");
        assert!(steps(cos_within(x), cos_beyond(x)) <= 1, "{x:e}");
    }
}

#[test]
fn exp_log_and_tanh_rise_at_the_edges() {
    check_rising("exp", exp, sweep(-750.0, -700.0, 100_000).chain(sweep(-1.0, 1.0, 100_000)).chain(sweep(709.0, 711.0, 100_000)));
    check_rising("log", log, sweep(0.0, 1e-307, 100_000).chain(sweep(0.7, 1.5, 100_000)).chain(sweep(1e308, f64::MAX, 1_000)));
    check_rising("tanh", tanh, sweep(-25.0, 25.0, 200_000));
    // Where the number of halvings changes, neighbours are reduced differently.
    for k in -1000..1000 {
        let seam = (f64::from(k) + 0.5) * LN_2;
        check_rising("exp", exp, sweep(seam - 1e-9, seam + 1e-9, 50));
        check_rising("tanh", tanh, sweep(0.5 * seam - 1e-9, 0.5 * seam + 1e-9, 50));
    }
}

#[test]
fn sin_cos_and_tanh_never_exceed_1() {
    let near_one = (0..1000).map(|n| f64::from(n) * FRAC_PI_2).flat_map(|x| sweep(x - 1e-7, x + 1e-7, 100));
    for x in near_one.chain(sweep(-30.0, 30.0, 100_000)) {
        assert!(sin(x).abs() <= 1.0 && cos(x).abs() <= 1.0 && tanh(x).abs() <= 1.0, "{x:e}");
    }
}

#[test]
fn sin_and_tanh_are_odd_and_cos_is_even_to_the_bit() {
    for x in patterns().chain(sweep(0.0, 100.0, 50_000)).filter(|x| !x.is_nan() && x.is_finite()) {
        assert_eq!(sin(-x).to_bits(), sin(x).to_bits() ^ SIGN, "{x:e}");
        assert_eq!(tanh(-x).to_bits(), tanh(x).to_bits() ^ SIGN, "{x:e}");
        assert_eq!(cos(-x).to_bits(), cos(x).to_bits(), "{x:e}");
    }
}
