//! What each folder of golden files runs.

use retrograd_compiler::ir::{Array, Error, Program};
use retrograd_compiler::{eval, ir, opt};

use crate::golden::{Directives, Stage};

/// Every stage: the folder of `testdata` and what is run on its Programs. A new stage is one function and one line.
pub(crate) const STAGES: &[(&str, Stage)] = &[("print", print), ("verify", verify), ("run", run), ("opt", simplified)];

fn print(program: &Program, _: &Directives) -> Result<String, Error> {
    Ok(program.to_string())
}

fn verify(program: &Program, _: &Directives) -> Result<String, Error> {
    ir::verify(program).map(|()| "ok".into())
}

/// Runs the interpreter on the arrays of the `// input:` lines.
fn run(program: &Program, directives: &Directives) -> Result<String, Error> {
    ir::verify(program)?;
    let inputs = directives.all("input").map(str::parse).collect::<Result<Vec<Array>, Error>>()?;
    let outputs = eval::run(program, &inputs)?;
    Ok(outputs.iter().map(|array| format!("{array}\n")).collect())
}

fn simplified(program: &Program, _: &Directives) -> Result<String, Error> {
    ir::verify(program)?;
    let simple = opt::simplify(program);
    ir::verify(&simple)?;
    Ok(simple.to_string())
}
