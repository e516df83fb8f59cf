//! Random Programs obey the laws. `RETROGRAD_RANDOM=10000` asks for that many, `RETROGRAD_RANDOM_SEED` for others.

use std::ops::Range;

use retrograd_testing::laws::{self, Law};

/// Checks laws on so many Programs, unless the environment asks for another number.
fn check(laws: &[(&str, Law)], count: u64) {
    let seed = number("RETROGRAD_RANDOM_SEED").unwrap_or(1);
    let seeds: Range<u64> = seed..seed + number("RETROGRAD_RANDOM").unwrap_or(count);
    laws::check(laws, seeds).unwrap_or_else(|report| panic!("{report}"));
}

fn number(variable: &str) -> Option<u64> {
    let text = std::env::var(variable).ok()?;
    Some(text.parse().unwrap_or_else(|_| panic!("{variable} must be a number, found {text:?}")))
}

#[test]
fn random_programs_obey_pure_laws() {
    check(laws::PURE, 400);
}

#[test]
fn random_programs_obey_native_laws() {
    check(laws::NATIVE, 300);
}

#[test]
fn random_programs_obey_second_order_laws() {
    check(laws::SECOND, 30);
}
