//! What each folder of golden files runs.

use std::sync::Arc;

use retrograd_compiler::ir::{Array, Error, ErrorKind, Pos, Program};
use retrograd_compiler::plan::strategy::{self, Periodic};
use retrograd_compiler::plan::{LoopFacts, Plan, Request, Strategy, plan};
use retrograd_compiler::{diff, eval, ir, opt};
use retrograd_schedule::{self as schedule, Action, Schedule};

use crate::golden::{Directives, Stage};
use crate::native::Native;
use retrograd_compiler::diff::check::floats;

/// Every stage: the folder of `testdata` and what is run on its Programs. A new stage is one function and one line.
pub(crate) const STAGES: &[(&str, Stage)] = &[
    ("print", print),
    ("verify", verify),
    ("run", run),
    ("opt", simplified),
    ("diff", differentiated),
    ("plan", planned),
];

fn print(program: &Program, _: &Directives) -> Result<String, Error> {
    Ok(program.to_string())
}

fn verify(program: &Program, _: &Directives) -> Result<String, Error> {
    ir::verify(program).map(|()| "ok".into())
}

/// Runs the interpreter on the arrays of the `// input:` lines, and machine code by every back end, where all that is
/// used has it.
fn run(program: &Program, directives: &Directives) -> Result<String, Error> {
    ir::verify(program)?;
    let inputs = directives.all("input").map(str::parse).collect::<Result<Vec<Array>, Error>>()?;
    let outcome = eval::run(program, &inputs);
    let checked = match (Native::new(&opt::all_calls(program), Arc::new(strategy::Auto), None), &outcome) {
        (Ok(native), Ok(outputs)) => native.check(&inputs, outputs),
        (Ok(native), Err(error)) => native.check_fault(&inputs, error),
        (Err(error), _) if error.kind == ErrorKind::Unsupported => Ok(()),
        (Err(error), _) => Err(error.to_string()),
    };
    checked.map_err(|message| argument(format!("machine code: {message}")))?;
    Ok(outcome?.iter().map(|array| format!("{array}\n")).collect())
}

/// What is simplified, with its roundings decided.
fn simplified(program: &Program, _: &Directives) -> Result<String, Error> {
    ir::verify(program)?;
    let simple = opt::fix(program, opt::Arithmetic::Contracted);
    ir::verify(&simple)?;
    Ok(simple.to_string())
}

/// The simplified gradient: cotangents of all float results to those of all float inputs.
fn differentiated(program: &Program, _: &Directives) -> Result<String, Error> {
    Ok(gradient(program)?.to_string())
}

fn gradient(program: &Program) -> Result<Program, Error> {
    ir::verify(program)?;
    let program = opt::simplify(program);
    let gradient =
        diff::vjp(&program, &floats(&program.main().param_types()), &floats(&program.main().result_types()))?;
    let gradient = opt::simplify(&gradient);
    ir::verify(&gradient)?;
    Ok(gradient)
}

/// Plans of the gradient, under each `// strategy:` (a name, or `periodic 3`) at each `// budget:` (bytes; none is no
/// limit), with the actions of every loop that is short enough to print.
fn planned(program: &Program, directives: &Directives) -> Result<String, Error> {
    let gradient = opt::freeze(&gradient(program)?);
    let mut budgets =
        directives.all("budget").map(|text| text.parse().map(Some)).collect::<Result<Vec<_>, _>>().map_err(argument)?;
    if budgets.is_empty() {
        budgets.push(None);
    }
    let mut text = String::new();
    for name in directives.all("strategy") {
        let strategy = strategy_of(name)?;
        for budget in &budgets {
            match plan(&gradient, &Request { budget: *budget, ..Request::by(strategy.clone()) }) {
                Ok(plan) => text += &format!("{plan}{}\n", actions(&plan)),
                Err(error) => text += &format!("{name}: {error}\n\n"),
            }
        }
    }
    Ok(text)
}

fn argument(error: impl std::fmt::Display) -> Error {
    Error::new(ErrorKind::Argument, Pos::unknown(), error.to_string())
}

fn strategy_of(name: &str) -> Result<Arc<dyn Strategy>, Error> {
    match name.split_once(' ') {
        Some(("periodic", period)) => Ok(Arc::new(Periodic { period: Some(period.parse().map_err(argument)?) })),
        Some(_) | None => strategy::find(name).ok_or_else(|| argument(format!("there is no strategy `{name}`"))),
    }
}

/// What the controllers of short loops ask for, in order.
fn actions(plan: &Plan) -> String {
    let short = |facts: &&LoopFacts| facts.count.is_some_and(|count| count <= 12);
    let driven = plan
        .facts
        .loops
        .iter()
        .filter(short)
        .filter(|facts| plan.decision.loops[&facts.bwd].usual().schedule != Schedule::Nothing);
    driven.map(|facts| format!("  actions: {}\n", loop_actions(plan, facts).join(", "))).collect()
}

fn loop_actions(plan: &Plan, facts: &LoopFacts) -> Vec<String> {
    let decision = plan.decision.loops[&facts.bwd].usual();
    let (mut words, table) = (vec![0; decision.schedule.words()], decision.schedule.table());
    schedule::start(&mut words, &decision.schedule, decision.sweep, facts.count.unwrap_or(0));
    let mut actions = vec![];
    loop {
        let action = schedule::next(&mut words, &table);
        actions.push(in_words(action));
        if action == Action::Done {
            return actions;
        }
    }
}

fn in_words(action: Action) -> String {
    match action {
        Action::Advance { from, to } => format!("advance {from}..{to}"),
        Action::Snapshot { at, step } => format!("snapshot x{step} at {at}"),
        Action::Restore { at: Some(at), step } => format!("restore x{step} from {at}"),
        Action::Restore { at: None, step } => format!("restore x{step} from the start"),
        Action::Tape { from, to, at, choice } => format!("tape {from}..{to} at {at} by {choice}"),
        Action::Reverse { from, to, at, choice } => format!("reverse {from}..{to} at {at} by {choice}"),
        Action::Youturn { step } => format!("youturn {step}"),
        Action::Turn => "turn".into(),
        Action::Spill { at, step } => format!("spill {step} at {at}"),
        Action::Fetch { at, step } => format!("fetch {step} at {at}"),
        Action::Done => "done".into(),
        Action::Run(run) => panic!("{run:?} was not asked for"),
    }
}
