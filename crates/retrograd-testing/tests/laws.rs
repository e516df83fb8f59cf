//! Random Programs obey the laws. `RETROGRAD_RANDOM=1000000` asks for that many, `RETROGRAD_RANDOM_SEED` for others;
//! `RETROGRAD_RANDOM_TRIES` says how many smaller Programs are tried where one fails, `RETROGRAD_RANDOM_THIN=16` asks
//! the costly laws of sixteen times fewer, where it is four times unless told.

use std::io::Write;

use retrograd_compiler::ir::Rule;
use retrograd_compiler::ops;
use retrograd_testing::laws::{self, LAWS, Law};
use retrograd_testing::programs::drawn;

#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// Programs of the normal test run.
const COUNT: u64 = 3_000;

/// Of so many of those that a costly law is for, it is asked of one: each is some hundred plans, compiled and run.
const THIN: u64 = 4;

#[test]
fn random_programs_obey_the_laws() {
    let (seed, count) = (number("RETROGRAD_RANDOM_SEED").unwrap_or(1), number("RETROGRAD_RANDOM").unwrap_or(COUNT));
    let asked = number("RETROGRAD_RANDOM").is_some();
    let tries = number("RETROGRAD_RANDOM_TRIES").unwrap_or(20_000);
    let thin = number("RETROGRAD_RANDOM_THIN").unwrap_or(THIN);
    let laws: Vec<Law> = LAWS.iter().map(|law| law.thinned(thin)).collect();
    let tallies = laws::check(&laws, seed..seed + count, tries).unwrap_or_else(|report| panic!("{report}"));
    for (law, tally) in laws.iter().zip(&tallies) {
        if asked {
            // For the record.
            writeln!(std::io::stderr(), "{}: {tally:?}", law.name).expect("there is a terminal or a file");
        }
        // Kinks and jumps are seldom, so that differences judge nearly everything.
        assert!(tally.judged > 0.8 || tally.tried < 50, "too little is judged by \"{}\": {tally:?}", law.name);
        assert!(
            tally.silent * 5 < tally.tried * 4 || tally.tried < 50,
            "too few are held to \"{}\": {tally:?}",
            law.name
        );
    }
}

#[test]
fn random_programs_draw_every_row_that_has_a_derivative() {
    let rows = ops::rows().filter(|row| !matches!(row.rule, Rule::Missing) && *row != &ops::CHECK);
    let expected: Vec<&str> = rows.map(|row| row.name).collect();
    assert_eq!(drawn(), expected);
}

fn number(variable: &str) -> Option<u64> {
    let text = std::env::var(variable).ok()?;
    Some(text.parse().unwrap_or_else(|_| panic!("{variable} must be a number, found {text:?}")))
}
