//! What every Program obeys, and what its gradient obeys under every plan.

use std::ops::Range;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use retrograd_compiler::fuse::fuse;
use retrograd_compiler::ir::{Array, DType, Error, ErrorKind, Op, Program, Type, verify};
use retrograd_compiler::opt::{PASSES, Pass, contract, freeze, simplify};
use retrograd_compiler::plan::strategy::{Auto, KeepAll, Periodic, Revolve};
use retrograd_compiler::plan::{Decision, Plan, Request, Strategy, plan};
use retrograd_compiler::{diff, eval, ops};

use crate::Random;
use crate::native::{Native, same_outputs};
use crate::programs::{Case, shrink};
use retrograd_compiler::diff::check::{check_where_smooth, floats};

/// What a case must obey; the error says how it does not.
pub type Law = fn(&Case) -> Result<(), String>;

/// Laws that need no machine code.
pub const PURE: &[(&str, Law)] = &[
    ("programs verify, print and parse to themselves", text),
    ("every pass keeps every bit", passes),
    ("jvp is the derivative and vjp its transpose", derivatives),
];

/// Laws about machine code.
pub const NATIVE: &[(&str, Law)] = &[
    ("machine code gives the interpreter's bits", native),
    ("every strategy and budget gives the interpreter's gradient within its plan", gradients),
];

/// The same, one order up.
pub const SECOND: &[(&str, Law)] = &[("derivatives of gradients are the same bits under every plan", second)];

/// Tries laws on the random Programs of these seeds, on all cores; the first failure of each law is shrunk and printed as text.
///
/// ```
/// use retrograd_testing::laws;
/// laws::check(laws::PURE, 0..3).unwrap();
/// ```
pub fn check(laws: &[(&str, Law)], seeds: Range<u64>) -> Result<(), String> {
    let next = AtomicU64::new(seeds.start);
    let threads = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
    let work = || {
        let mut failures = vec![];
        loop {
            let seed = next.fetch_add(1, Ordering::Relaxed);
            if seed >= seeds.end {
                return failures;
            }
            let case = Case::random(seed);
            failures.extend(laws.iter().enumerate().filter_map(|(k, (_, law))| Some((k, seed, outcome(*law, &case).err()?))));
        }
    };
    let mut failures: Vec<(usize, u64, String)> = std::thread::scope(|scope| {
        let threads: Vec<_> = (0..threads).map(|_| scope.spawn(work)).collect();
        threads.into_iter().flat_map(|thread| thread.join().expect("laws do not panic: they are caught")).collect()
    });
    failures.sort();
    let reports: Vec<String> = (0..laws.len()).filter_map(|k| report(laws[k], failures.iter().filter(|failure| failure.0 == k))).collect();
    if reports.is_empty() { Ok(()) } else { Err(reports.join("\n")) }
}

/// A law that panics is broken too.
fn outcome(law: Law, case: &Case) -> Result<(), String> {
    let panicked = |payload: Box<dyn std::any::Any + Send>| {
        let text = payload.downcast_ref::<String>().cloned().or_else(|| payload.downcast_ref::<&str>().map(ToString::to_string));
        Err(format!("panic: {}", text.unwrap_or_default()))
    };
    catch_unwind(AssertUnwindSafe(|| law(case))).unwrap_or_else(panicked)
}

/// The smallest form of the first failure, and the seeds of the others.
fn report<'f>((name, law): (&str, Law), failures: impl Iterator<Item = &'f (usize, u64, String)>) -> Option<String> {
    let failures: Vec<_> = failures.collect();
    let (_, seed, message) = failures.first()?;
    // A smaller Program must fail in the same way, as far as words tell.
    let start = |message: &str| message.split(|c: char| c.is_ascii_digit()).next().unwrap_or_default().to_string();
    let fails = |case: &Case| outcome(law, case).is_err_and(|found| start(&found) == start(message));
    let small = shrink(&Case::random(*seed), &fails);
    let message = outcome(law, &small).err().unwrap_or_else(|| message.clone());
    let shown = |input: &Array| if input.len() > 20 { format!("{} of the seed", input.ty()) } else { input.to_string() };
    let inputs: String = small.inputs.iter().map(|input| format!("// input: {}\n", shown(input))).collect();
    let others: Vec<String> =
        failures.iter().map(|(_, seed, message)| format!("{seed}: {}", message.lines().next().unwrap_or_default())).collect();
    Some(format!(
        "broken: {name}\nseed {seed}: {message}\n{inputs}{}\n{} seeds fail:\n{}\n",
        small.program,
        others.len(),
        others.join("\n")
    ))
}

fn words(error: Error) -> String {
    error.to_string()
}

fn verified(program: Program) -> Result<Program, String> {
    verify(&program).map_err(|error| format!("not valid: {error}\n{program}"))?;
    Ok(program)
}

/// The gradient of a case: cotangents of all float results to those of all float inputs. Every other one leaves the values out, so that
/// no forward loop is there to share. `None` where nothing is a float.
pub fn gradient(case: &Case) -> Result<Option<Case>, String> {
    let program = simplify(&case.program);
    let (wrt, outputs) = (floats(&program.main().param_types()), floats(&program.main().result_types()));
    if wrt.is_empty() || outputs.is_empty() {
        return Ok(None);
    }
    let mut gradient = diff::vjp(&program, &wrt, &outputs).map_err(words)?;
    if case.seed % 2 == 1 {
        let entry = usize::from(gradient.entry);
        gradient.functions[entry].results.drain(..program.main().results.len());
    }
    let gradient = verified(simplify(&verified(gradient)?))?;
    let random = &mut Random::new(case.seed);
    let types = program.main().result_types();
    let cotangents = outputs.iter().map(|k| random.array(&types[*k], (-1.0, 1.0)));
    Ok(Some(Case { seed: case.seed, program: gradient, inputs: case.inputs.iter().cloned().chain(cotangents).collect() }))
}

fn text(case: &Case) -> Result<(), String> {
    let gradient = gradient(case)?.map(|gradient| gradient.program);
    for program in [Some(case.program.clone()), gradient].into_iter().flatten() {
        let program = verified(program)?;
        let printed = program.to_string();
        let again = ops::parse(&printed, "random.rg").map_err(|error| format!("what is printed parses: {error}"))?;
        let again = verified(again)?;
        if again.to_string() != printed {
            return Err("printing is not canonical".into());
        }
    }
    Ok(())
}

fn passes(case: &Case) -> Result<(), String> {
    for case in [Some(case.clone()), gradient(case)?].into_iter().flatten() {
        let mut points = vec![];
        for inputs in [case.inputs.clone(), Random::new(case.seed).awkward(&case.inputs), far(&case)] {
            // A fault may go with the dead code that met it, so nothing is known of inputs that have one.
            points.extend(eval::run(&case.program, &inputs).ok().map(|outputs| (inputs, outputs)));
        }
        for (name, pass) in PASSES.iter().copied().chain([("simplify", simplify as Pass)]) {
            let named = |error: String| format!("after {name}: {error}");
            let after = verified(pass(&case.program)).map_err(named)?;
            for (inputs, expected) in &points {
                let found = eval::run(&after, inputs).map_err(|error| named(error.to_string()))?;
                same_outputs(&found, expected).map_err(named)?;
            }
        }
        let simple = simplify(&case.program);
        if simplify(&simple).to_string() != simple.to_string() {
            return Err("simplify is not idempotent".into());
        }
    }
    Ok(())
}

fn derivatives(case: &Case) -> Result<(), String> {
    check_where_smooth(&case.program, &case.inputs, case.seed).map(|_| ())
}

/// `while` is not machine code yet.
fn is_native(program: &Program) -> bool {
    program.functions.iter().flat_map(|function| &function.insts).all(|inst| !matches!(inst.op, Op::While(_)))
}

fn native(case: &Case) -> Result<(), String> {
    if !is_native(&case.program) {
        return Ok(());
    }
    let simple = simplify(&case.program);
    for program in [&case.program, &simple] {
        let native = Native::new(program, Arc::new(Auto), None).map_err(words)?;
        for inputs in [case.inputs.clone(), Random::new(case.seed).awkward(&case.inputs)] {
            native.check(&inputs, &eval::run(program, &inputs).map_err(words)?)?;
        }
        let far = far(case);
        match eval::run(program, &far) {
            Ok(expected) => native.check(&far, &expected)?,
            Err(error) => native.check_fault(&far, &error)?,
        }
    }
    Ok(())
}

/// The inputs, with integer scalars that no index or count expects.
fn far(case: &Case) -> Vec<Array> {
    let random = &mut Random::new(case.seed);
    let scalar = Type::scalar(DType::I64);
    case.inputs.iter().map(|input| if input.ty() == scalar { random.array(&scalar, (-3.0, 30.0)) } else { input.clone() }).collect()
}

fn gradients(case: &Case) -> Result<(), String> {
    gradient(case)?
        .filter(|gradient| is_native(&gradient.program))
        .map_or(Ok(()), |gradient| check_plans(&gradient.program, &gradient.inputs, &strategies()))
}

fn second(case: &Case) -> Result<(), String> {
    let Some(first) = gradient(case)? else { return Ok(()) };
    let Some(second) = gradient(&first)?.filter(|second| is_native(&second.program)) else { return Ok(()) };
    let strategies: [Arc<dyn Strategy>; 3] = [Arc::new(Auto), Arc::new(Revolve), Arc::new(Periodic { period: Some(2) })];
    check_plans(&second.program, &second.inputs, &strategies)
}

/// Every strategy, with its parameters left to it and given.
pub fn strategies() -> Vec<Arc<dyn Strategy>> {
    let periods = [None, Some(1), Some(2), Some(3), Some(5)];
    let periodic = periods.map(|period| Arc::new(Periodic { period }) as Arc<dyn Strategy>);
    [vec![Arc::new(Auto) as Arc<dyn Strategy>, Arc::new(KeepAll), Arc::new(Revolve)], periodic.to_vec()].concat()
}

/// Under each strategy, without a budget and with the smallest, a middling, the exact and a generous one, machine code gives the
/// interpreter's bits; it takes what was planned, which is within the budget; one byte less than the smallest is refused.
pub fn check_plans(program: &Program, inputs: &[Array], strategies: &[Arc<dyn Strategy>]) -> Result<(), String> {
    let program = &verified(freeze(program))?;
    if contract(program).to_string() != program.to_string() {
        return Err("what is contracted can be contracted again".into());
    }
    let expected = eval::run(program, inputs).map_err(words)?;
    let mut seen: Vec<Decision> = vec![];
    for strategy in strategies {
        let named = |error: String| format!("{strategy:?}: {error}");
        for plan in plans(program, strategy).map_err(named)? {
            // The plan is a function of the decision alone, so equal ones run once.
            if seen.contains(&plan.decision) {
                continue;
            }
            seen.push(plan.decision.clone());
            let text = plan.to_string();
            Native::of_plan(program, plan).check(inputs, &expected).map_err(|error| format!("{strategy:?}: {error}\n{text}"))?;
        }
    }
    same_twice(program)
}

/// Plans of one strategy at budgets from the smallest on; none where it must know a count that it cannot know.
fn plans(program: &Program, strategy: &Arc<dyn Strategy>) -> Result<Vec<Plan>, String> {
    let at = |budget: Option<u64>| plan(program, &Request { strategy: strategy.clone(), budget });
    let free = match at(None) {
        Ok(plan) => plan,
        Err(error) if error.kind == ErrorKind::Unsupported && !counts_known(program, strategy)? => return Ok(vec![]),
        Err(error) => return Err(error.to_string()),
    };
    let needed = match at(Some(0)) {
        Ok(plan) if plan.bytes_peak == 0 => 0,
        Ok(plan) => return Err(format!("a budget of 0 bytes gave a peak of {}", plan.bytes_peak)),
        Err(Error { kind: ErrorKind::OverBudget { needed, budget: 0 }, .. }) => needed,
        Err(error) => return Err(error.to_string()),
    };
    if needed > free.bytes_peak {
        return Err(format!("without a budget {} bytes are enough, with one {needed} are needed", free.bytes_peak));
    }
    if needed > 0 && !at(Some(needed - 1)).is_err_and(|error| error.kind == ErrorKind::OverBudget { needed, budget: needed - 1 }) {
        return Err(format!("{needed} bytes are needed, but one less is not refused"));
    }
    let mut plans = vec![];
    for budget in [needed, (needed + free.bytes_peak) / 2, free.bytes_peak, 2 * free.bytes_peak + 1000] {
        let plan = at(Some(budget)).map_err(|error| format!("{needed} bytes are needed, but {budget} are refused: {error}"))?;
        if plan.bytes_peak > budget {
            return Err(format!("a budget of {budget} bytes gave a peak of {}", plan.bytes_peak));
        }
        plans.push(plan);
    }
    plans.push(free);
    Ok(plans)
}

/// Whether all counts are known before the run, or the strategy need not know them.
fn counts_known(program: &Program, strategy: &Arc<dyn Strategy>) -> Result<bool, String> {
    let facts = plan(program, &Request { strategy: Arc::new(Auto), budget: None }).map_err(words)?.facts;
    let needs = ["keep_all", "periodic"].contains(&strategy.name());
    Ok(!needs || facts.loops.iter().all(|facts| facts.count.is_some()))
}

/// The same plan and the same loops from the same Program.
fn same_twice(program: &Program) -> Result<(), String> {
    let once = || -> Result<String, String> {
        let plan = plan(program, &Request { strategy: Arc::new(Auto), budget: None }).map_err(words)?;
        Ok(format!("{plan}{:?}", fuse(&plan)))
    };
    if once()? == once()? { Ok(()) } else { Err("compiling twice gives other loops".into()) }
}
