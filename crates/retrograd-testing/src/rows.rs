//! The automatic test of one row of the op table.

use retrograd_compiler::diff;
use retrograd_compiler::ir::{Builder, ErrorKind, Program, Row, Rule, Sample};

use crate::derivatives::check_to_order;
use crate::random::Random;

/// Checks a row on every sample that it states: evaluation, first and second derivatives in all combinations of modes.
///
/// ```
/// retrograd_testing::check_row(&retrograd_compiler::ops::TANH).unwrap();
/// ```
pub fn check_row(row: &'static Row) -> Result<(), String> {
    for (k, sample) in (row.samples)(row).iter().enumerate() {
        let seed = seed(row.name, k as u64);
        check_sample(row, sample, seed).map_err(|message| format!("`{}`, sample {k}, seed {seed:#x}: {message}", row.name))?;
    }
    Ok(())
}

/// Another seed for every row and sample; FNV-1a over the name.
fn seed(name: &str, sample: u64) -> u64 {
    let hash = |hash: u64, byte: u8| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
    name.bytes().fold(0xcbf2_9ce4_8422_2325, hash).wrapping_add(sample)
}

fn check_sample(row: &'static Row, sample: &Sample, seed: u64) -> Result<(), String> {
    let b = Builder::new(row.name);
    let params = b.params(sample.args.iter().map(|(ty, _)| ty.clone()));
    let result = b.try_row(row, sample.attrs.clone(), &params).map_err(|error| error.to_string())?;
    let program = Program::new(b.finish(vec![result]));
    let mut random = Random::new(seed);
    let inputs: Vec<_> = sample.args.iter().map(|(ty, interval)| random.array(ty, *interval)).collect();
    match row.rule {
        Rule::Missing => check_missing(&program),
        Rule::Zero | Rule::Partials(_) | Rule::Linear(_) | Rule::Bilinear(_) => check_to_order(&program, &inputs, 2, seed),
    }
}

/// A row without a rule says so.
fn check_missing(program: &Program) -> Result<(), String> {
    let main = program.main();
    let Some(input) = main.param_types().iter().position(|ty| ty.dtype.is_float()) else { return Ok(()) };
    if !main.result_types()[0].dtype.is_float() {
        return Ok(());
    }
    for derived in [diff::jvp(program, &[input], &[0]), diff::vjp(program, &[input], &[0])] {
        match derived {
            Err(error) if error.kind == ErrorKind::MissingRule => {}
            other => return Err(format!("expected a missing rule, found {other:?}")),
        }
    }
    Ok(())
}
