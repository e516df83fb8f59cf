//! Runs of machine code, from a program or from a file, with what they say on the way.

use std::fs::File;
use std::io::{IsTerminal, Read, stderr};
use std::path::Path;

use indicatif::{ProgressBar, ProgressStyle};
use retrograd::{Array, Backend, Error, Executable, Saved, Stats};

use crate::arguments::{Debug, Inputs, Machine, Outputs};
use crate::commands::{Report, Results, delivered};
use crate::inputs;
use crate::source::argument;

/// Whether a file was written by `retrograd save`.
pub(crate) fn is_saved(path: &Path) -> bool {
    let mut first = Vec::new();
    let read = File::open(path).and_then(|file| file.take(16).read_to_end(&mut first));
    read.is_ok() && retrograd::is_saved(&first)
}

/// Runs what was saved, with the states that it spills in a folder.
pub(crate) fn run_saved(
    path: &Path,
    machine: &Machine,
    spill: Option<&Path>,
    inputs: &Inputs,
    outputs: &Outputs,
    debug: Debug,
) -> Result<Report, Error> {
    if debug.debug_nan {
        return Err(argument(
            "--debug-nan interprets a program; give the program itself, not what was saved of it".into(),
        ));
    }
    let executable = Saved::load(path)?.compile(&machine.backend)?.with_threads(machine.threads().get());
    let executable = if let Some(folder) = spill { executable.spilling_to(folder) } else { executable };
    outputs.check(executable.outputs().len())?;
    let inputs = inputs::read_types(inputs, executable.inputs(), &[])?;
    delivered(run(&executable, &machine.backend, &inputs, debug)?, outputs)
}

/// Runs, with a bar where somebody looks.
pub(crate) fn run(
    executable: &Executable,
    backend: &Backend,
    inputs: &[Array],
    debug: Debug,
) -> Result<Results, Error> {
    let inputs: Vec<&Array> = inputs.iter().collect();
    let executable = if debug.stats { executable.counting()? } else { executable.clone() };
    let (results, stats) =
        if stderr().is_terminal() { under_bar(&executable, &inputs)? } else { executable.run(&inputs)? };
    let who = match backend {
        Backend::Auto => format!("machine code by {}\n", executable.backend()),
        Backend::Cranelift | Backend::Narrow | Backend::Llvm { .. } => String::new(),
    };
    let took = if debug.stats { format!("run: {stats}\n") } else { String::new() };
    Ok(Results { results, note: who + &took })
}

/// Parts of the whole that the bar can show.
const PARTS: u64 = 1000;

fn under_bar(executable: &Executable, inputs: &[&Array]) -> Result<(Vec<Array>, Stats), Error> {
    let style = ProgressStyle::with_template("{bar:40} {percent:>3} %  {msg}").expect("the template is right");
    let bar = ProgressBar::new(PARTS).with_style(style);
    let result = executable.run_reporting(inputs, &mut |progress| {
        bar.set_position((progress.fraction() * PARTS as f64) as u64);
        bar.set_message(progress.to_string());
    });
    bar.finish_and_clear();
    result
}
