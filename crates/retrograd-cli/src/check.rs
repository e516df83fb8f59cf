//! `retrograd check`: derivatives against finite differences and each other, machine code against the interpreter.

use std::sync::Arc;

use retrograd::pipeline::{Options, compile};
use retrograd::{Array, Error, ErrorKind, Program, Strategy, eval, strategy};
use retrograd_compiler::diff;
use retrograd_testing::{Random, check_to_order};

use crate::arguments::Inputs;
use crate::commands::{Report, Verdict, floats, results_options};
use crate::inputs;
use crate::source::Source;

/// Orders of derivatives that are checked.
const ORDER: usize = 2;
/// Of the directions in which derivatives are taken.
const SEED: u64 = 1;

/// What came of one check.
enum Outcome {
    Holds,
    Fails(String),
    /// It does not apply, for this reason.
    Skipped(String),
}

/// Checks a Program; an error is the user's, a failed check is ours.
pub(crate) fn check(source: &Source, inputs: &Inputs) -> Result<Report, Error> {
    let program = source.program()?;
    let inputs = inputs::read_or_draw(inputs, &program, source)?;
    // Faults of the run and missing rules are the user's to mend, and have a line.
    eval::run(&program, &inputs)?;
    let (wrt, outputs) = (floats(&program.main().param_types()), floats(&program.main().result_types()));
    diff::jvp(&program, &wrt, &outputs)?;
    let vjp = diff::vjp(&program, &wrt, &outputs)?;

    let mut checks = vec![(format!("derivatives to order {ORDER}"), derivatives(&program, &inputs))];
    checks.push((
        "machine code of the program".into(),
        where_supported(machine_code(&program, &inputs, strategy::all()[0].clone()))?,
    ));
    if !wrt.is_empty() && !outputs.is_empty() {
        let random = &mut Random::new(SEED);
        let cotangents = vjp.main().param_types().split_off(inputs.len());
        let inputs: Vec<Array> =
            inputs.into_iter().chain(cotangents.iter().map(|ty| random.array(ty, (-1.0, 1.0)))).collect();
        for strategy in strategy::all() {
            let name = format!("machine code of the adjoint, `{}`", strategy.name());
            checks.push((name, where_supported(machine_code(&vjp, &inputs, strategy))?));
        }
    }
    Ok(report(&checks))
}

/// An op without machine code, or a loop that is not for a strategy, is said and is not a failure.
fn where_supported(outcome: Result<Outcome, Error>) -> Result<Outcome, Error> {
    match outcome {
        Err(error) if error.kind == ErrorKind::Unsupported => Ok(Outcome::Skipped(error.to_string())),
        outcome => outcome,
    }
}

fn report(checks: &[(String, Outcome)]) -> Report {
    let failed = checks.iter().any(|(_, outcome)| matches!(outcome, Outcome::Fails(_)));
    let line = |(name, outcome): &(String, Outcome)| match outcome {
        Outcome::Holds => format!("ok       {name}\n"),
        Outcome::Fails(reason) => format!("FAILED   {name}: {reason}\n"),
        Outcome::Skipped(reason) => format!("skipped  {name}: {reason}\n"),
    };
    let verdict = if failed { Verdict::Failed } else { Verdict::Passed };
    Report { text: checks.iter().map(line).collect(), note: String::new(), verdict }
}

fn derivatives(program: &Program, inputs: &[Array]) -> Outcome {
    match check_to_order(program, inputs, ORDER, SEED) {
        Ok(()) => Outcome::Holds,
        Err(reason) => Outcome::Fails(reason),
    }
}

/// Machine code gives the bits of the interpreter, in the memory that the plan said.
fn machine_code(program: &Program, inputs: &[Array], strategy: Arc<dyn Strategy>) -> Result<Outcome, Error> {
    let compiled = compile(program, &Options { strategy, ..results_options() })?;
    let (found, stats) = compiled.run_with_stats(&inputs.iter().collect::<Vec<_>>())?;
    // The Program that was compiled: rewrites before it may round elsewhere, machine code may not.
    let expected = eval::run(&compiled.program, inputs)?;
    let different = (0..expected.len()).find(|k| !expected[*k].same_bits(&found[*k]));
    Ok(match different {
        Some(k) => Outcome::Fails(format!("result {k} is {}, the interpreter says {}", found[k], expected[k])),
        None if stats.bytes_peak != compiled.plan.bytes_peak => {
            Outcome::Fails(format!("{} bytes were planned, {} used", compiled.plan.bytes_peak, stats.bytes_peak))
        }
        None => Outcome::Holds,
    })
}
