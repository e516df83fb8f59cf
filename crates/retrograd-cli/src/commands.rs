//! What each command does: from arguments to the text that it prints.

use std::fs;
use std::path::Path;

use retrograd::pipeline::{Arithmetic, Compiled, Options, SpillTo, Wanted, compile, cores, debug_nan, derive};
use retrograd::{Array, Backend, Budget, Error, OpDef, Program, Type, ops, strategy};
use retrograd_compiler::ir::Rule;
use retrograd_compiler::{lower, opt};

use crate::arguments::{Command, Debug, File, Gradient, Inputs, Machine, Outputs, PlanForm, Rounding, Stage};
use crate::check::check;
use crate::formula;
use crate::inputs;
use crate::running;
use crate::source::{Source, argument};

/// What a command says.
#[derive(Debug)]
pub(crate) struct Report {
    /// For standard output.
    pub(crate) text: String,
    /// For standard error.
    pub(crate) note: String,
    /// Whether what was checked holds.
    pub(crate) verdict: Verdict,
}

/// Whether what was checked holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Verdict {
    Passed,
    Failed,
}

impl Report {
    pub(crate) fn of(text: String) -> Report {
        Report { text, note: String::new(), verdict: Verdict::Passed }
    }
}

/// Carries out a command; the error is a message as the user reads it.
pub(crate) fn execute(command: &Command) -> Result<Report, String> {
    match command {
        Command::Run { file, rounding, .. } if running::is_saved(&file.path) && !rounding.is_usual() => {
            let options = if rounding.arithmetic() == Arithmetic::Exact { "--exact" } else { "--fast-math" };
            Err(format!(
                "error: {options} is for programs: how what `save` wrote is rounded was decided then; give {options} \
                 to `save`\n"
            ))
        }
        Command::Run { file, machine, spill, inputs, outputs, debug, .. } if running::is_saved(&file.path) => {
            let ran = running::run_saved(&file.path, machine, spill.as_deref(), inputs, outputs, *debug);
            ran.map_err(|error| format!("error: {error}\n"))
        }
        Command::Run { spill: Some(_), .. } => {
            Err("error: --spill is for what `save` wrote: the states of a gradient\n".into())
        }
        Command::Run { file, machine, rounding, spill: None, inputs, outputs, debug } => {
            on(file, |source| run(source, machine, *rounding, inputs, outputs, *debug))
        }
        Command::Save { file, saved, results, gradient, rounding } => {
            on(file, |source| save(source, saved, *results, gradient, *rounding).map(Report::of))
        }
        Command::Grad { file, formula, gradient, .. } if formula::is_formula(&file.path, formula) => {
            said(formula::grad(&file.path.to_string_lossy(), gradient.wrt.as_deref(), formula))
        }
        Command::Grad { file, formula: _, gradient, machine, rounding, inputs, outputs, debug } => {
            on(file, |source| grad(source, (gradient, *rounding), machine, inputs, outputs, *debug))
        }
        Command::Check { file, inputs } => on(file, |source| check(source, inputs)),
        Command::Print { file, stage, gradient, rounding } => {
            on(file, |source| print(source, *stage, gradient, *rounding).map(Report::of))
        }
        Command::Plan { file, gradient, rounding, form } => {
            on(file, |source| plan(source, gradient, *rounding, form).map(Report::of))
        }
        Command::Eval { formula } => said(formula.eval()),
        Command::Diff { formula, wrt, order } => said(formula.diff(wrt.as_deref(), *order)),
        Command::Hessian { formula, wrt } => said(formula.hessian(wrt.as_deref())),
        Command::Simplify { formula, cost, accuracy } => said(formula.simplify(*cost, accuracy)),
        Command::Expand { formula, collect } => said(formula.expand(collect.as_deref())),
        Command::Explain { formula } => said(formula.explain()),
        Command::Solve { formula, wrt, between, near } => {
            said(formula.solve(wrt.as_deref(), between.as_deref(), *near))
        }
        Command::Plot { formula, range, order, svg } => said(formula.plot(range, *order, *svg)),
        Command::Graph { formula, svg } => said(formula.graph(*svg)),
        Command::Ops => Ok(Report::of(table())),
    }
}

/// What a command on a formula says; a mistake in the formula is shown in it.
fn said(text: Result<String, Error>) -> Result<Report, String> {
    text.map(Report::of).map_err(|error| format!("error: {error}\n"))
}

/// Reads the file and shows errors in it.
fn on(file: &File, command: impl FnOnce(&Source) -> Result<Report, Error>) -> Result<Report, String> {
    let source = Source::read(&file.path).map_err(|error| format!("error: {error}\n"))?;
    command(&source).map_err(|error| source.explain(&error))
}

fn run(
    source: &Source,
    machine: &Machine,
    rounding: Rounding,
    inputs: &Inputs,
    outputs: &Outputs,
    debug: Debug,
) -> Result<Report, Error> {
    let program = rounding.program(source.program()?)?;
    outputs.check(program.main().results.len())?;
    let inputs = inputs::read(inputs, &program, source)?;
    let (backend, threads, arithmetic) = (machine.backend.clone(), machine.threads(), rounding.arithmetic());
    let options = Options { backend, threads, arithmetic, ..results_options() };
    delivered(results_of(&program, &options, &inputs, debug)?, outputs)
}

/// Results by their numbers.
pub(crate) fn delivered(Results { results, note }: Results, outputs: &Outputs) -> Result<Report, Error> {
    let named = results.into_iter().enumerate().map(|(k, array)| (format!("result_{k}"), array)).collect();
    Ok(Report { note, ..Report::of(outputs.deliver(named, |_| String::new())?) })
}

/// Saves what is compiled of a program.
fn save(
    source: &Source,
    saved: &Path,
    results: bool,
    gradient: &Gradient,
    rounding: Rounding,
) -> Result<String, Error> {
    let program = rounding.program(source.program()?)?;
    let wanted = if results { results_options() } else { gradient_options(&program, gradient, rounding)? };
    let (strategy, budget, arithmetic) =
        (gradient.strategy.clone(), gradient.budget.map(Budget::bytes), rounding.arithmetic());
    let options = Options { strategy, budget, arithmetic, ..wanted };
    compile(&program, &options)?.save(saved)?;
    Ok(String::new())
}

/// What a run gives.
pub(crate) struct Results {
    pub(crate) results: Vec<Array>,
    /// Which back end ran, where that was left open, and what was measured.
    pub(crate) note: String,
}

/// Runs machine code, or the interpreter that looks for NaNs.
fn results_of(program: &Program, options: &Options, inputs: &[Array], debug: Debug) -> Result<Results, Error> {
    if debug.debug_nan {
        let results = debug_nan(&derive(program, options.wanted, &options.argnums)?, inputs)?;
        return Ok(Results { results, note: String::new() });
    }
    let compiled = compile(program, options)?;
    let Results { results, note } = running::run(compiled.executable(), &options.backend, inputs, debug)?;
    let times = if debug.stats { format!("compilation: {}\n", compiled.times) } else { String::new() };
    Ok(Results { results, note: times + &note })
}

/// Options for a Program that is run as it is.
pub(crate) fn results_options() -> Options {
    let (strategy, backend) = (strategy::all()[0].clone(), Backend::default());
    let arithmetic = Arithmetic::Contracted;
    Options {
        wanted: Wanted::Results,
        argnums: vec![],
        strategy,
        budget: None,
        backend,
        spill: None,
        threads: cores(),
        arithmetic,
    }
}

fn grad(
    source: &Source,
    (gradient, rounding): (&Gradient, Rounding),
    machine: &Machine,
    inputs: &Inputs,
    outputs: &Outputs,
    debug: Debug,
) -> Result<Report, Error> {
    let program = rounding.program(source.program()?)?;
    let wrt = wrt(&program, gradient)?;
    outputs.check(1 + wrt.len())?;
    let inputs = inputs::read(inputs, &program, source)?;
    let options = Options {
        backend: machine.backend.clone(),
        threads: machine.threads(),
        ..gradient_options(&program, gradient, rounding)?
    };
    let Results { results, note } = results_of(&program, &options, &inputs, debug)?;
    let names = ["value".into()].into_iter().chain(wrt.iter().map(|k| format!("gradient_{k}")));
    let named: Vec<(String, Array)> = names.zip(results).collect();
    Ok(Report { note, ..Report::of(outputs.deliver(named, |name| format!("{name}: "))?) })
}

fn print(source: &Source, stage: Stage, gradient: &Gradient, rounding: Rounding) -> Result<String, Error> {
    let program = || rounding.program(source.program()?);
    let differentiated = || differentiated(&program()?, gradient, rounding);
    match stage {
        Stage::Parsed => Ok(source.parsed()?.to_string()),
        Stage::Simplified => Ok(opt::fix(&program()?, rounding.arithmetic()).to_string()),
        Stage::Gradient => Ok(differentiated()?.program.to_string()),
        Stage::Plan => Ok(differentiated()?.plan.to_string()),
        Stage::Kernel => Ok(format!("{:#?}\n", lower::lower(&differentiated()?.plan).kernel())),
    }
}

/// A plan in the form that is asked for.
fn plan(source: &Source, gradient: &Gradient, rounding: Rounding, form: &PlanForm) -> Result<String, Error> {
    let compiled = differentiated(&rounding.program(source.program()?)?, gradient, rounding)?;
    if let Some(folder) = &form.svg {
        let mut pictures = compiled.plan.pictures();
        pictures.push(("curve.svg".into(), compiled.curve()?.to_svg()));
        for (name, picture) in pictures {
            let path = folder.join(name);
            fs::write(&path, picture).map_err(|error| argument(format!("cannot write {}: {error}", path.display())))?;
        }
    }
    Ok(match (form.curve, form.json) {
        (true, true) => compiled.curve()?.to_json(),
        (true, false) => compiled.curve()?.to_text(),
        (false, true) => compiled.plan.to_json(),
        (false, false) => compiled.plan.to_string(),
    })
}

/// The value and the gradient of a Program, compiled.
fn differentiated(program: &Program, gradient: &Gradient, rounding: Rounding) -> Result<Compiled, Error> {
    compile(program, &gradient_options(program, gradient, rounding)?)
}

fn gradient_options(program: &Program, gradient: &Gradient, rounding: Rounding) -> Result<Options, Error> {
    let results = program.main().results.len();
    if results != 1 {
        return Err(argument(format!("a gradient needs a program with one result, a scalar; this one has {results}")));
    }
    Ok(Options {
        wanted: Wanted::ValueAndGradient,
        argnums: wrt(program, gradient)?,
        strategy: gradient.strategy.clone(),
        budget: gradient.budget.map(Budget::bytes),
        backend: Backend::default(),
        spill: spill_to(gradient),
        threads: cores(),
        arithmetic: rounding.arithmetic(),
    })
}

fn spill_to(gradient: &Gradient) -> Option<SpillTo> {
    let (directory, bytes) = (gradient.spill.clone()?, gradient.spill_budget?.bytes());
    Some(SpillTo { directory, bytes, bytes_per_second: gradient.spill_speed.map(Budget::bytes) })
}

/// The inputs asked for, or every float.
fn wrt(program: &Program, gradient: &Gradient) -> Result<Vec<usize>, Error> {
    let types = program.main().param_types();
    let number = |text: &String| {
        text.parse().map_err(|_| argument(format!("--wrt takes numbers of inputs, counted from 0; found `{text}`")))
    };
    let wrt = match &gradient.wrt {
        Some(given) => given.iter().map(number).collect::<Result<Vec<usize>, Error>>()?,
        None => floats(&types),
    };
    if wrt.is_empty() {
        return Err(argument("the program has no float input to differentiate with respect to".into()));
    }
    for k in &wrt {
        match types.get(*k) {
            None => {
                return Err(argument(format!(
                    "--wrt names input {k}, but the program takes {}, counted from 0",
                    types.len()
                )));
            }
            Some(ty) if !ty.dtype.is_float() => {
                return Err(argument(format!("--wrt names input {k}, a {ty}; only floats have a gradient")));
            }
            Some(_) => {}
        }
    }
    Ok(wrt)
}

/// Places of the floats.
pub(crate) fn floats(types: &[Type]) -> Vec<usize> {
    (0..types.len()).filter(|k| types[*k].dtype.is_float()).collect()
}

/// Every op, one row a line, in columns.
fn table() -> String {
    let rows: Vec<[String; 5]> = ops::rows().map(columns).collect();
    let width = |column: usize| rows.iter().map(|row| row[column].chars().count()).max().unwrap_or(0);
    let widths = [0, 1, 2, 3].map(width);
    let line = |[name, arity, attributes, rule, meaning]: &[String; 5]| {
        let [a, b, c, d] = widths;
        format!("{name:a$}  {arity:b$}  {attributes:c$}  {rule:d$}  {meaning}\n")
    };
    rows.iter().map(line).collect()
}

fn columns(def: &OpDef) -> [String; 5] {
    let rule = match def.rule {
        Rule::Zero => "zero",
        Rule::Partials(_) => "partials",
        Rule::Linear(_) | Rule::LinearInEach(_) => "linear",
        Rule::Bilinear(_) => "bilinear",
        Rule::Tangent { .. } => "tangent",
        Rule::Missing => "missing",
    };
    let dash = |text: String| if text.is_empty() { "-".into() } else { text };
    let arity = def.arity.map_or("any".into(), |arity| arity.to_string());
    [def.name.into(), arity, dash(def.attrs.join(",")), rule.into(), def.doc.trim().into()]
}
