//! What every Program obeys, and what its gradient obeys under every plan.

use std::cell::Cell;
use std::collections::BTreeMap;
use std::ops::Range;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use retrograd_compiler::ir::{Array, CustomRule, DType, Data, Error, ErrorKind, FuncId, Op, Program, Type, verify};
use retrograd_compiler::lower::lower;
use retrograd_compiler::opt::{Arithmetic, PASSES, contract, fix, freeze, join, simplify, unroll};
use retrograd_compiler::plan::Grain;
use retrograd_compiler::plan::strategy::{Auto, Ilp, KeepAll, Periodic, RecomputeAll, Rematerialise, Revolve};
use retrograd_compiler::plan::{
    Decision, Facts, Fate, Logged, LoopDecision, Plan, Rematerialised, Request, Search, Spill, Strategy, Tiling, plan,
};
use retrograd_compiler::{diff, eval, ops};

use crate::Random;
use crate::native::{Native, same_fault, same_outputs};
use crate::programs::{Case, Size, checked, shrink};
use crate::promises::check_budgets;
use retrograd_compiler::diff::check::{check_where_smooth, floats};

/// A case with its gradient, as reverse mode gives it and simplified; `None` where nothing is a float.
#[derive(Clone, Debug)]
pub struct Trial {
    /// The case.
    pub case: Case,
    simple: Result<Program, String>,
    gradient: Result<Option<Gradient>, String>,
}

/// A gradient before and after `simplify`.
#[derive(Clone, Debug)]
struct Gradient {
    raw: Case,
    simple: Case,
}

/// How far a law could be judged.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Verdict {
    /// It holds.
    Holds,
    /// It holds wherever it could be judged, which was this share; kinks and jumps are the rest.
    HoldsWhereSmooth(f64),
    /// It says nothing of this case.
    Silent,
}

/// What a case must obey, and which cases are held to it.
#[derive(Clone, Copy, Debug)]
pub struct Law {
    /// The law in words.
    pub name: &'static str,
    /// One in so many small Programs is held to it.
    pub small: u64,
    /// One in so many large Programs is held to it.
    pub large: u64,
    /// The error says how a case does not obey.
    pub holds: fn(&Trial) -> Result<Verdict, String>,
}

/// All laws; what is cheap is asked of every Program.
pub const LAWS: &[Law] = &[
    Law { name: "programs verify, print and parse to themselves", small: 1, large: 1, holds: text },
    Law { name: "simplify keeps every bit", small: 1, large: 1, holds: simplified },
    Law { name: "jvp is the derivative and vjp its transpose", small: 1, large: 1, holds: derivatives },
    Law { name: "a value has the same bits with and without derivatives", small: 4, large: 4, holds: values },
    Law { name: "every pass keeps every bit", small: 24, large: 8, holds: passes },
    Law { name: "derivatives of gradients are their derivatives", small: 24, large: 16, holds: second_derivatives },
    Law { name: "machine code gives the interpreter's bits", small: 24, large: 1, holds: native },
    Law {
        name: "every strategy and budget gives the interpreter's gradient within its plan",
        small: 32,
        large: 4,
        holds: gradients,
    },
    Law { name: "of checks the first that fails ends the run, under every plan", small: 24, large: 4, holds: checks },
    Law { name: "derivatives of gradients are the same bits under every plan", small: 400, large: 32, holds: second },
    Law {
        name: "a refusal names the least budget, and more memory is never more work",
        small: 200,
        large: 24,
        holds: budgets,
    },
];

/// What came of one law.
#[derive(Clone, Debug, Default)]
pub struct Tally {
    /// Programs that were held to it.
    pub tried: u64,
    /// Programs of which it says nothing.
    pub silent: u64,
    /// Mean share of what could be judged of the others.
    pub judged: f64,
}

/// More failures than these tell nothing new.
const FAILURES: u64 = 40;

/// Holds the random Programs of these seeds to the laws, on all cores; the first failure of each law is shrunk, by so
/// many tries at most, and printed as text. Without a try, the first failure of all ends the search.
///
/// ```
/// use retrograd_testing::laws;
/// let tallies = laws::check(laws::LAWS, 0..3, 1000).unwrap();
/// assert_eq!(tallies[0].tried, 3);
/// ```
pub fn check(laws: &[Law], seeds: Range<u64>, tries: u64) -> Result<Vec<Tally>, String> {
    let (next, failed) = (AtomicU64::new(seeds.start), AtomicU64::new(0));
    let enough = if tries == 0 { 1 } else { FAILURES };
    let threads = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
    let work = || {
        let (mut failures, mut tallies) = (vec![], vec![Tally::default(); laws.len()]);
        loop {
            let seed = next.fetch_add(1, Ordering::Relaxed);
            if seed >= seeds.end || failed.load(Ordering::Relaxed) >= enough {
                return (failures, tallies);
            }
            let trial = Trial::new(Case::random(seed));
            for (k, law) in laws.iter().enumerate().filter(|(_, law)| law.asked(&trial.case)) {
                match outcome(law, &trial) {
                    Ok(verdict) => tallies[k].add(verdict),
                    Err(message) => {
                        failures.push((k, seed, message));
                        failed.fetch_add(1, Ordering::Relaxed);
                    }
                }
            }
        }
    };
    let (mut failures, mut tallies) = (vec![], vec![Tally::default(); laws.len()]);
    std::thread::scope(|scope| {
        let threads: Vec<_> = (0..threads).map(|_| scope.spawn(work)).collect();
        for thread in threads {
            let (more, counted) = thread.join().expect("laws do not panic: they are caught");
            failures.extend(more);
            tallies.iter_mut().zip(counted).for_each(|(sum, tally)| sum.merge(&tally));
        }
    });
    failures.sort();
    let of = |k: usize| failures.iter().filter(move |failure| failure.0 == k);
    let reports: Vec<String> = (0..laws.len()).filter_map(|k| report(&laws[k], of(k), tries)).collect();
    if reports.is_empty() { Ok(tallies) } else { Err(reports.join("\n")) }
}

/// Holds one case to all laws.
pub fn hold(case: Case) -> Result<(), String> {
    let trial = Trial::new(case);
    LAWS.iter().try_for_each(|law| {
        outcome(law, &trial).map(|_| ()).map_err(|message| format!("broken: {}\n{message}", law.name))
    })
}

impl Law {
    /// The same law, asked of fewer Programs where it is not asked of all.
    ///
    /// ```
    /// use retrograd_testing::laws::LAWS;
    /// let (cheap, costly) = (LAWS[0].thinned(8), LAWS[4].thinned(8));
    /// assert_eq!((cheap.small, costly.small), (1, 8 * LAWS[4].small));
    /// ```
    pub fn thinned(self, by: u64) -> Law {
        if self.small == 1 { self } else { Law { small: self.small * by, large: self.large * by, ..self } }
    }

    fn asked(&self, case: &Case) -> bool {
        case.seed.is_multiple_of(match case.size {
            Size::Small => self.small,
            Size::Large => self.large,
        })
    }
}

impl Tally {
    fn add(&mut self, verdict: Verdict) {
        let (silent, judged) = match verdict {
            Verdict::Holds => (0, 1.0),
            Verdict::HoldsWhereSmooth(share) => (0, share),
            Verdict::Silent => (1, 0.0),
        };
        self.merge(&Tally { tried: 1, silent, judged });
    }

    fn merge(&mut self, other: &Tally) {
        let (ours, theirs) = ((self.tried - self.silent) as f64, (other.tried - other.silent) as f64);
        self.judged = (self.judged * ours + other.judged * theirs) / (ours + theirs).max(1.0);
        (self.tried, self.silent) = (self.tried + other.tried, self.silent + other.silent);
    }
}

impl Trial {
    /// A case, differentiated.
    pub fn new(case: Case) -> Trial {
        let simple = caught(|| verified(simplify(&case.program)));
        let gradient = caught(|| gradient(&case, &verified(fix(&case.program, Arithmetic::Contracted))?));
        Trial { simple, gradient, case }
    }

    /// The gradient, simplified.
    pub fn gradient(&self) -> Result<Option<&Case>, String> {
        Ok(self.gradient.as_ref().map_err(Clone::clone)?.as_ref().map(|gradient| &gradient.simple))
    }
}

/// A law that panics is broken too.
fn outcome(law: &Law, trial: &Trial) -> Result<Verdict, String> {
    caught(|| (law.holds)(trial))
}

fn caught<T>(work: impl FnOnce() -> Result<T, String>) -> Result<T, String> {
    let panicked = |payload: Box<dyn std::any::Any + Send>| {
        let text = payload
            .downcast_ref::<String>()
            .cloned()
            .or_else(|| payload.downcast_ref::<&str>().map(ToString::to_string));
        Err(format!("panic: {}", text.unwrap_or_default()))
    };
    catch_unwind(AssertUnwindSafe(work)).unwrap_or_else(panicked)
}

/// The smallest form of the first failure, and the seeds of the others.
fn report<'f>(law: &Law, failures: impl Iterator<Item = &'f (usize, u64, String)>, tries: u64) -> Option<String> {
    let failures: Vec<_> = failures.collect();
    let (_, seed, message) = failures.first()?;
    // A smaller Program must fail in the same way, as far as words tell.
    let start = |message: &str| message.split(|c: char| c.is_ascii_digit()).next().unwrap_or_default().to_string();
    let tried = Cell::new(0);
    let fails = |case: &Case| {
        tried.set(tried.get() + 1);
        tried.get() <= tries
            && outcome(law, &Trial::new(case.clone())).is_err_and(|found| start(&found) == start(message))
    };
    let small = shrink(&Case::random(*seed), &fails);
    let message = outcome(law, &Trial::new(small.clone())).err().unwrap_or_else(|| message.clone());
    let shown =
        |input: &Array| if input.len() > 20 { format!("{} of the seed", input.ty()) } else { input.to_string() };
    let inputs: String = small.inputs.iter().map(|input| format!("// input: {}\n", shown(input))).collect();
    let others: Vec<String> = failures
        .iter()
        .map(|(_, seed, message)| format!("{seed}: {}", message.lines().next().unwrap_or_default()))
        .collect();
    Some(format!(
        "broken: {}\nseed {seed}: {message}\n{inputs}{}\n{} seeds fail:\n{}\n",
        law.name,
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

/// The gradient of a case by its Program, whose roundings are decided: cotangents of all float results to those of all
/// float inputs. Every other one leaves the values out, so that no forward loop is there to share.
fn gradient(case: &Case, program: &Program) -> Result<Option<Gradient>, String> {
    let (wrt, outputs) = (floats(&program.main().param_types()), floats(&program.main().result_types()));
    if wrt.is_empty() || outputs.is_empty() {
        return Ok(None);
    }
    let mut gradient = diff::vjp(program, &wrt, &outputs).map_err(words)?;
    if case.seed % 2 == 1 {
        let entry = usize::from(gradient.entry);
        gradient.functions[entry].results.drain(..program.main().results.len());
    }
    let raw = verified(gradient)?;
    let random = &mut Random::new(case.seed);
    let types = program.main().result_types();
    let cotangents = outputs.iter().map(|k| random.array(&types[*k], (-1.0, 1.0)));
    let inputs: Vec<Array> = case.inputs.iter().cloned().chain(cotangents).collect();
    let simple = Case { program: verified(simplify(&raw))?, inputs: inputs.clone(), ..case.clone() };
    Ok(Some(Gradient { raw: Case { program: raw, inputs, ..case.clone() }, simple }))
}

fn text(trial: &Trial) -> Result<Verdict, String> {
    // A gradient is like any other Program to the printer, so some are enough.
    let gradient = if trial.case.seed.is_multiple_of(4) { trial.gradient()? } else { None };
    for case in [Some(&trial.case), gradient].into_iter().flatten() {
        let program = verified(case.program.clone())?;
        let printed = program.to_string();
        let again = ops::parse(&printed, "random.rg").map_err(|error| format!("what is printed parses: {error}"))?;
        let again = verified(again)?;
        if again.to_string() != printed {
            return Err("printing is not canonical".into());
        }
    }
    Ok(Verdict::Holds)
}

/// Inputs at which a Program is run, and what it gives there. A fault may go with the dead code that met it, so nothing
/// is known of inputs that have one.
fn points(case: &Case, inputs: impl IntoIterator<Item = Vec<Array>>) -> Vec<(Vec<Array>, Vec<Array>)> {
    let run = |inputs: Vec<Array>| eval::run(&case.program, &inputs).ok().map(|outputs| (inputs, outputs));
    inputs.into_iter().filter_map(run).collect()
}

fn same_at(program: &Program, points: &[(Vec<Array>, Vec<Array>)]) -> Result<(), String> {
    for (inputs, expected) in points {
        same_outputs(&eval::run(program, inputs).map_err(words)?, expected)?;
    }
    Ok(())
}

fn simplified(trial: &Trial) -> Result<Verdict, String> {
    let inputs = |case: &Case| [case.inputs.clone(), Random::new(case.seed).awkward(&case.inputs)];
    let case = &trial.case;
    same_at(trial.simple.as_ref().map_err(Clone::clone)?, &points(case, inputs(case)))?;
    if let Some(Gradient { raw, simple }) = trial.gradient.as_ref().map_err(Clone::clone)? {
        same_at(&simple.program, &points(raw, inputs(raw))).map_err(|error| format!("of the gradient: {error}"))?;
    }
    Ok(Verdict::Holds)
}

/// What is frozen of a Program gives the bits that are frozen of its derivatives too; where arithmetic is exact, they
/// are those of the Program as it is written.
fn values(trial: &Trial) -> Result<Verdict, String> {
    let case = &trial.case;
    for arithmetic in [Arithmetic::Contracted, Arithmetic::Exact] {
        let named = |what: &str, error: String| format!("{arithmetic:?}, {what}: {error}");
        let fixed = verified(fix(&case.program, arithmetic))?;
        let alone = Case { program: verified(freeze(&fixed))?, ..case.clone() };
        let at = points(&alone, [case.inputs.clone(), Random::new(case.seed).awkward(&case.inputs)]);
        if arithmetic == Arithmetic::Exact {
            same_at(&case.program, &at).map_err(|error| named("as it is written", error))?;
        }
        for (what, derived) in derivatives_of(&fixed)? {
            let derived = verified(freeze(&derived))?;
            for (inputs, expected) in &at {
                let mut inputs = inputs.clone();
                inputs.extend(
                    derived.main().param_types()[inputs.len()..]
                        .iter()
                        .map(|ty| Random::new(case.seed).array(ty, (-1.0, 1.0))),
                );
                let found = match eval::run(&derived, &inputs) {
                    // A check says where there is no derivative.
                    Err(error) if matches!(error.kind, ErrorKind::Check { .. }) => continue,
                    found => found.map_err(words)?,
                };
                same_outputs(&found[..expected.len()], expected).map_err(|error| named(what, error))?;
            }
        }
    }
    Ok(Verdict::Holds)
}

/// The Program with its derivatives in both modes and at order 2, values first.
fn derivatives_of(program: &Program) -> Result<Vec<(&'static str, Program)>, String> {
    let (wrt, outputs) = (floats(&program.main().param_types()), floats(&program.main().result_types()));
    if wrt.is_empty() || outputs.is_empty() {
        return Ok(vec![]);
    }
    let reverse = diff::vjp(program, &wrt, &outputs).map_err(words)?;
    if without_custom_vjp(program).is_some() {
        return Ok(vec![("with reverse mode", reverse)]);
    }
    let forward = diff::jvp(program, &wrt, &outputs).map_err(words)?;
    let gradient = simplify(&reverse);
    let over = diff::jvp(&gradient, &wrt, &floats(&gradient.main().result_types())).map_err(words)?;
    Ok(vec![("with reverse mode", reverse), ("with forward mode", forward), ("with forward over reverse mode", over)])
}

fn passes(trial: &Trial) -> Result<Verdict, String> {
    let raw = trial.gradient.as_ref().map_err(Clone::clone)?.as_ref().map(|gradient| &gradient.raw);
    for case in [Some(&trial.case), raw].into_iter().flatten() {
        let points = points(case, [case.inputs.clone(), Random::new(case.seed).awkward(&case.inputs), far(case)]);
        let by_pass = PASSES.iter().map(|(name, pass)| {
            let mut after = case.program.clone();
            pass(&mut after);
            (*name, after)
        });
        let simple = simplify(&case.program);
        for (name, after) in by_pass.chain([
            ("simplify", simple.clone()),
            ("join", join(&case.program)),
            ("unroll", unroll(&case.program)),
        ]) {
            let named = |error: String| format!("after {name}: {error}");
            same_at(&verified(after).map_err(named)?, &points).map_err(named)?;
        }
        for (name, pass) in PASSES {
            let mut after = simple.clone();
            if pass(&mut after) || after.to_string() != simple.to_string() {
                return Err(format!("{name} changes what is simplified"));
            }
        }
        if simplify(&simple).to_string() != simple.to_string() {
            return Err("simplify is not idempotent".into());
        }
    }
    Ok(Verdict::Holds)
}

fn derivatives(trial: &Trial) -> Result<Verdict, String> {
    let case = &trial.case;
    // Forward mode cannot use a custom vjp, so it is judged by the derivative of the body, which it states.
    let Some(plain) = without_custom_vjp(&case.program) else {
        return check_where_smooth(&case.program, &case.inputs, case.seed).map(Verdict::HoldsWhereSmooth);
    };
    let share = check_where_smooth(&plain, &case.inputs, case.seed)?;
    let expected = gradient(case, &simplify(&plain))?;
    if let (Some(Gradient { raw, .. }), Some(Gradient { raw: expected, .. })) =
        (trial.gradient.as_ref().map_err(Clone::clone)?, expected)
    {
        let run = |case: &Case| eval::run(&case.program, &case.inputs).map_err(words);
        let (found, expected) = (run(raw)?, run(&expected)?);
        // What is converted from f32 has its roundings.
        let has_f32 = plain.functions.iter().flat_map(|function| &function.types).any(|ty| ty.dtype == DType::F32);
        let near = |(a, b): (&Array, &Array)| close(a, b) || has_f32 && close(&narrowed(a), &narrowed(b));
        if !found.iter().zip(&expected).all(near) {
            return Err(format!("a custom vjp that is the derivative gives {found:?}, expected {expected:?}"));
        }
    }
    Ok(Verdict::HoldsWhereSmooth(share))
}

/// Floats that are equal but for roundings; whatever is no float.
fn close(a: &Array, b: &Array) -> bool {
    let near =
        |a: f64, b: f64, tolerance: f64| (a - b).abs() <= tolerance * b.abs().max(1.0) || a.to_bits() == b.to_bits();
    match (a.data(), b.data()) {
        (Data::F64(x), Data::F64(y)) => x.iter().zip(y).all(|(x, y)| near(*x, *y, 1e-9)),
        (Data::F32(x), Data::F32(y)) => x.iter().zip(y).all(|(x, y)| near(f64::from(*x), f64::from(*y), 1e-3)),
        (Data::F64(_) | Data::F32(_) | Data::I32(_) | Data::I64(_) | Data::Bool(_), _) => !a.dtype().is_float(),
    }
}

fn narrowed(array: &Array) -> Array {
    match array.data() {
        Data::F64(x) => Array::f32(array.shape(), x.iter().map(|x| *x as f32).collect()),
        Data::F32(_) | Data::I32(_) | Data::I64(_) | Data::Bool(_) => array.clone(),
    }
}

/// The Program with every custom vjp left to the body, where there is one.
fn without_custom_vjp(program: &Program) -> Option<Program> {
    let mut program = program.clone();
    let mut found = false;
    for inst in program.functions.iter_mut().flat_map(|function| &mut function.insts) {
        if let Op::Call(call) = &mut inst.op
            && matches!(call.rule, Some(CustomRule::Vjp { .. }))
        {
            call.rule = None;
            found = true;
        }
    }
    found.then_some(program)
}

/// The gradient is differentiated like any other Program.
fn second_derivatives(trial: &Trial) -> Result<Verdict, String> {
    match trial.gradient()? {
        Some(first) if without_custom_vjp(&trial.case.program).is_none() => {
            check_where_smooth(&first.program, &first.inputs, first.seed).map(Verdict::HoldsWhereSmooth)
        }
        Some(_) | None => Ok(Verdict::Silent),
    }
}

fn native(trial: &Trial) -> Result<Verdict, String> {
    let (case, far) = (&trial.case, far(&trial.case));
    let simple = trial.simple.as_ref().map_err(Clone::clone)?;
    for program in [&case.program, simple] {
        let native = Native::new(program, in_parts(case.seed, Arc::new(Auto)), None).map_err(words)?;
        for inputs in [case.inputs.clone(), Random::new(case.seed).awkward(&case.inputs)] {
            native.check(&inputs, &eval::run(program, &inputs).map_err(words)?)?;
        }
        match (eval::run(program, &far), eval::run(simple, &far)) {
            (Ok(expected), _) => native.check(&far, &expected)?,
            (Err(error), Err(_)) => native.check_fault(&far, &error)?,
            // The states of a loop that nobody needs are not computed, and so their faults are not met.
            (Err(_), Ok(_)) => {}
        }
    }
    Ok(Verdict::Holds)
}

/// The inputs, with integer scalars that no index or count expects.
fn far(case: &Case) -> Vec<Array> {
    let random = &mut Random::new(case.seed);
    let scalar = Type::scalar(DType::I64);
    case.inputs
        .iter()
        .map(|input| if input.ty() == scalar { random.array(&scalar, (-3.0, 30.0)) } else { input.clone() })
        .collect()
}

fn gradients(trial: &Trial) -> Result<Verdict, String> {
    match trial.gradient()? {
        Some(gradient) => {
            let strategies: Vec<_> =
                strategies().into_iter().map(|strategy| in_parts(trial.case.seed, strategy)).collect();
            check_plans(&gradient.program, &gradient.inputs, &strategies).map(|()| Verdict::Holds)
        }
        None => Ok(Verdict::Silent),
    }
}

/// Of the gradient by `auto` and one of the other strategies, on one thread or on three.
fn budgets(trial: &Trial) -> Result<Verdict, String> {
    let Some(gradient) = trial.gradient()? else { return Ok(Verdict::Silent) };
    let (program, seed) = (freeze(&gradient.program), trial.case.seed / 8);
    let (threads, others) = (if seed % 2 == 0 { 1 } else { 3 }, strategies());
    for strategy in [&others[0], &others[1 + seed as usize % (others.len() - 1)]] {
        check_budgets(&program, strategy, threads).map_err(|error| format!("{strategy:?}: {error}"))?;
    }
    Ok(Verdict::Holds)
}

/// The Program with checks in it, some of which fail: optimised, as machine code and in its gradient under every plan,
/// the run ends with the same error, or gives the same bits.
fn checks(trial: &Trial) -> Result<Verdict, String> {
    let case = checked(&trial.case);
    let program = verified(case.program.clone())?;
    let expected = eval::run(&program, &case.inputs);
    let again =
        ops::parse(&program.to_string(), "random.rg").map_err(|error| format!("what is printed parses: {error}"))?;
    if again.to_string() != program.to_string() {
        return Err("printing is not canonical".into());
    }
    let simple = verified(simplify(&program))?;
    same_outcome(&simple, &case.inputs, &expected).map_err(|error| format!("simplified: {error}"))?;
    let native = Native::new(&simple, in_parts(case.seed, Arc::new(Auto)), None).map_err(words)?;
    check_outcome(&native, &case.inputs, &expected)?;
    // Beside checks that fail, indices out of bounds.
    let beyond = far(&case);
    check_outcome(&native, &beyond, &eval::run(&simple, &beyond))
        .map_err(|error| format!("at other inputs: {error}"))?;
    if let Some(Gradient { raw, simple }) = gradient(&case, &simple)? {
        let found = eval::run(&raw.program, &raw.inputs);
        if let Err(expected) = &expected
            && found.as_ref().err() != Some(expected)
        {
            return Err(format!("expected {expected}, found in the gradient {:?}", found.err()));
        }
        same_outcome(&simple.program, &raw.inputs, &found).map_err(|error| format!("of the gradient: {error}"))?;
        let strategies: Vec<_> = strategies().into_iter().map(|strategy| in_parts(case.seed, strategy)).collect();
        check_plans(&simple.program, &simple.inputs, &strategies)?;
    }
    Ok(Verdict::Holds)
}

/// What a run gives, or how it ends.
type Outcome = Result<Vec<Array>, Error>;

fn same_outcome(program: &Program, inputs: &[Array], expected: &Outcome) -> Result<(), String> {
    match (eval::run(program, inputs), expected) {
        (Ok(found), Ok(expected)) => same_outputs(&found, expected),
        (Err(found), Err(expected)) if same_fault(&found, expected) => Ok(()),
        (found, expected) => Err(format!("expected {:?}, found {:?}", expected.as_ref().err(), found.err())),
    }
}

fn check_outcome(native: &Native, inputs: &[Array], expected: &Outcome) -> Result<(), String> {
    match expected {
        Ok(expected) => native.check(inputs, expected),
        Err(error) => native.check_fault(inputs, error),
    }
}

fn second(trial: &Trial) -> Result<Verdict, String> {
    let first = match trial.gradient()? {
        Some(first) if without_custom_vjp(&trial.case.program).is_none() => first,
        Some(_) | None => return Ok(Verdict::Silent),
    };
    let Some(Gradient { simple: second, .. }) = gradient(first, &first.program)? else {
        return Ok(Verdict::Silent);
    };
    let strategies: [Arc<dyn Strategy>; 3] =
        [Arc::new(Auto), Arc::new(Revolve), Arc::new(Periodic { period: Some(2) })];
    check_plans(&second.program, &second.inputs, &strategies).map(|()| Verdict::Holds)
}

/// One program in four is cut into parts of a few statements, so that whatever can cross between parts does, and has
/// components behind axes of any extent; half of these are spread over threads wherever they can be.
fn in_parts(seed: u64, of: Arc<dyn Strategy>) -> Arc<dyn Strategy> {
    // Which laws are asked depends on the last digits of a seed.
    match seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 61 {
        0 => Arc::new(InParts { of, statements: 1, work_per_launch: 1 }),
        1 => Arc::new(InParts { of, statements: 9, work_per_launch: u64::MAX }),
        _ => of,
    }
}

/// A strategy whose code is cut into short parts.
#[derive(Debug)]
struct InParts {
    of: Arc<dyn Strategy>,
    statements: usize,
    work_per_launch: u64,
}

impl Strategy for InParts {
    fn name(&self) -> &'static str {
        self.of.name()
    }

    fn tiling(&self) -> Option<Tiling> {
        self.of.tiling()
    }

    fn coalesces(&self) -> bool {
        self.of.coalesces()
    }

    fn undoes(&self) -> bool {
        self.of.undoes()
    }

    fn decide(&self, facts: &Facts, room: Option<u64>) -> Result<Decision, Error> {
        self.of.decide(facts, room)
    }

    fn search(&self) -> Search {
        self.of.search()
    }

    fn rematerialise(&self) -> Rematerialise {
        self.of.rematerialise()
    }

    fn fate(&self, origin: &str) -> Option<Fate> {
        self.of.fate(origin)
    }

    fn grain(&self) -> Grain {
        Grain {
            statements_per_part: self.statements,
            work_per_launch: self.work_per_launch,
            threads: 1,
            vector_steps: 2,
            bytes_per_output: 16,
        }
    }
}

/// `auto` with the smallest tiles that there are, of all that can be in tiles.
#[derive(Debug)]
struct InTiles;

impl Strategy for InTiles {
    fn name(&self) -> &'static str {
        Auto.name()
    }

    fn tiling(&self) -> Option<Tiling> {
        Some(Tiling { bytes_in_cache: vec![u64::MAX / 2], tile_least: 1, bytes_made: 1, always: true })
    }

    fn decide(&self, facts: &Facts, room: Option<u64>) -> Result<Decision, Error> {
        Auto.decide(facts, room)
    }

    fn rematerialise(&self) -> Rematerialise {
        Auto.rematerialise()
    }
}

/// Every strategy, with its parameters left to it and given.
pub fn strategies() -> Vec<Arc<dyn Strategy>> {
    let periods = [None, Some(1), Some(2), Some(3), Some(5)];
    let periodic = periods.map(|period| Arc::new(Periodic { period }) as Arc<dyn Strategy>);
    let others: [Arc<dyn Strategy>; 6] = [
        Arc::new(Auto),
        Arc::new(InTiles),
        Arc::new(Ilp),
        Arc::new(KeepAll),
        Arc::new(RecomputeAll),
        Arc::new(Revolve),
    ];
    [others.to_vec(), periodic.to_vec()].concat()
}

/// What a plan is a function of: the decision about loops and the code outside of them, and which candidate it is
/// about.
#[derive(PartialEq)]
struct Decided {
    loops: BTreeMap<FuncId, LoopDecision>,
    again: Rematerialised,
    tiles: [Vec<usize>; 2],
    coalesced: Vec<[u64; 2]>,
    logs: Vec<Logged>,
}

impl Decided {
    fn of(plan: &Plan) -> Decided {
        Decided {
            loops: plan.decision.loops.clone(),
            again: plan.decision.again.clone(),
            tiles: [plan.tiles.clone(), plan.strips.clone()],
            coalesced: plan.coalesced.clone(),
            logs: plan.logs.clone(),
        }
    }
}

/// Under each strategy, without a budget and with the smallest, a middling, the exact and a generous one, machine code
/// gives the interpreter's bits; it takes what was planned, which is within the budget; one byte less than the smallest
/// is refused.
pub fn check_plans(program: &Program, inputs: &[Array], strategies: &[Arc<dyn Strategy>]) -> Result<(), String> {
    let program = &verified(freeze(program))?;
    if contract(program).to_string() != program.to_string() {
        return Err("what is contracted can be contracted again".into());
    }
    let expected = eval::run(program, inputs);
    let mut seen: Vec<Decided> = vec![];
    for strategy in strategies {
        let named = |error: String| format!("{strategy:?}: {error}");
        for plan in plans(program, strategy).map_err(named)? {
            // It says itself where the plan does less work than it.
            plan.work_bound();
            // Equal ones run once.
            let decided = Decided::of(&plan);
            if seen.contains(&decided) {
                continue;
            }
            seen.push(decided);
            let text = plan.to_string();
            check_outcome(&Native::of_plan(plan), inputs, &expected)
                .map_err(|error| format!("{strategy:?}: {error}\n{text}"))?;
        }
    }
    same_twice(program)
}

/// Plans of one strategy at budgets from the smallest on; none where it must know a count that it cannot know.
fn plans(program: &Program, strategy: &Arc<dyn Strategy>) -> Result<Vec<Plan>, String> {
    let plan_of = |request: &Request| plan(program, request);
    let at = |budget: Option<u64>| plan_of(&Request { budget, threads: 3, ..Request::by(strategy.clone()) });
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
    if needed > 0
        && !at(Some(needed - 1)).is_err_and(|error| error.kind == ErrorKind::OverBudget { needed, budget: needed - 1 })
    {
        return Err(format!("{needed} bytes are needed, but one less is not refused"));
    }
    let mut plans = vec![];
    for budget in [needed, (needed + free.bytes_peak) / 2, free.bytes_peak, 2 * free.bytes_peak + 1000] {
        let plan = at(Some(budget))
            .map_err(|error| format!("{needed} bytes are needed, but {budget} are refused: {error}"))?;
        if plan.bytes_peak > budget {
            return Err(format!("a budget of {budget} bytes gave a peak of {}", plan.bytes_peak));
        }
        plans.push(plan);
        // A disk that takes no time is used wherever that spares a step.
        let spill = Some(Spill { bytes: 1 << 20, bytes_per_second: u64::MAX });
        let spilling = plan_of(&Request { budget: Some(budget), spill, threads: 3, ..Request::by(strategy.clone()) })
            .map_err(words)?;
        if spilling.bytes_peak > budget || spilling.bytes_spilled > 1 << 20 {
            return Err(format!("with a disk, {} bytes and {} on disk", spilling.bytes_peak, spilling.bytes_spilled));
        }
        plans.push(spilling);
    }
    plans.push(free);
    Ok(plans)
}

/// Whether all counts are known before the run, or the strategy need not know them.
fn counts_known(program: &Program, strategy: &Arc<dyn Strategy>) -> Result<bool, String> {
    let facts = plan(program, &Request::by(Arc::new(Auto))).map_err(words)?.facts;
    let needs = ["ilp", "keep_all", "periodic"].contains(&strategy.name());
    Ok(!needs || facts.loops.iter().all(|facts| facts.count.is_some()))
}

/// The same plan and the same loops from the same Program.
fn same_twice(program: &Program) -> Result<(), String> {
    let once = || -> Result<String, String> {
        let plan = plan(program, &Request::by(Arc::new(Auto))).map_err(words)?;
        Ok(format!("{plan}{:?}", lower(&plan)))
    };
    if once()? == once()? { Ok(()) } else { Err("compiling twice gives other loops".into()) }
}
