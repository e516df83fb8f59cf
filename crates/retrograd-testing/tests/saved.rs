//! What is saved and loaded runs as before: the same bits, the same errors, the same peak; no damaged file is taken for
//! a whole one, and a crafted one, whose checksum is right, gives an error or the run of a valid Program.
//!
//! `RETROGRAD_FUZZ=1000000` asks for that many damaged and crafted files. `BLESS=1` writes the stored file anew, which
//! is right when the form of files has another number.

use std::fs;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::channel;
use std::time::Duration;

use retrograd::Saved;
use retrograd_compiler::diff::check::floats;
use retrograd_compiler::ir::{Array, Builder, Error, ErrorKind, Program, Type, verify};
use retrograd_compiler::lower::lower;
use retrograd_compiler::plan::strategy::{self, Auto};
use retrograd_compiler::plan::{Plan, Request, plan};
use retrograd_compiler::{diff, eval, ops, opt};
use retrograd_jit::{Backend, Cancellation, Executable, Stats};
use retrograd_testing::Random;
use retrograd_testing::golden::Directives;
use retrograd_testing::native::{backends, same_outputs};

fn testdata() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../testdata")
}

/// A product of matrices that is long enough for a call.
const PRODUCT: &str = "\
fn main(%a: f64[20,20], %b: f64[20,20]) -> f64[20,20] {
  %c: f64[20,20] = dot %a, %b {lhs_contract=[1], rhs_contract=[0], lhs_batch=[], rhs_batch=[]}
  return %c
}
";

/// The Programs of `testdata/run` that verify, with their inputs, and a product of matrices; and the gradients of those
/// that have any.
fn cases() -> Vec<(String, Program, Vec<Array>)> {
    let mut paths: Vec<PathBuf> =
        fs::read_dir(testdata().join("run")).unwrap().map(|entry| entry.unwrap().path()).collect();
    paths.sort();
    let product = ops::parse(PRODUCT, "product.rg").unwrap();
    let sides = [1, 2].map(|seed| Random::new(seed).array(&Type::f64([20, 20]), (-1.0, 1.0)));
    let mut cases = with_gradient("product.rg", product, sides.to_vec());
    for path in paths {
        let (name, text) = (path.display().to_string(), fs::read_to_string(&path).unwrap());
        let inputs: Result<Vec<Array>, Error> = Directives::of(&text).all("input").map(str::parse).collect();
        let (Ok(inputs), Ok(program)) = (inputs, ops::parse(&text, &name)) else { continue };
        if verify(&program).is_ok() && inputs.iter().map(Array::ty).eq(program.main().param_types()) {
            cases.extend(with_gradient(&name, program, inputs));
        }
    }
    cases
}

fn with_gradient(name: &str, program: Program, inputs: Vec<Array>) -> Vec<(String, Program, Vec<Array>)> {
    let program = opt::all_calls(&program).into_owned();
    let gradient = diff::vjp(&program, &floats(&program.main().param_types()), &floats(&program.main().result_types()));
    let mut cases = vec![(name.to_owned(), program, inputs.clone())];
    if let Ok(gradient) = gradient {
        let types = gradient.main().param_types();
        let seeds = types[inputs.len()..].iter().map(ones);
        let inputs = inputs.iter().cloned().chain(seeds).collect();
        cases.push((format!("gradient of {name}"), opt::freeze(&opt::simplify(&gradient)), inputs));
    }
    cases
}

fn ones(ty: &Type) -> Array {
    let b = Builder::new("ones");
    let ones = b.full(ty, 1.0);
    eval::run(&Program::new(b.finish(vec![ones])), &[]).unwrap().remove(0)
}

fn planned(program: &Program) -> Plan {
    plan(program, &Request::by(Arc::new(Auto))).unwrap()
}

fn compiled(program: &Program, backend: &Backend) -> Executable {
    Executable::new(backend, &lower(&planned(program))).unwrap()
}

/// What is loaded of bytes.
fn loaded(bytes: &[u8], backend: &Backend) -> Result<Executable, Error> {
    Saved::from_bytes(bytes)?.compile(backend)
}

type Ran = Result<(Vec<Array>, Stats), Error>;

/// The same outputs and the same peak, or the same error, positions included.
fn same(name: &str, before: &Ran, after: &Ran) {
    match (before, after) {
        (Ok((expected, before)), Ok((found, after))) => {
            same_outputs(found, expected).unwrap_or_else(|difference| panic!("{name}: {difference}"));
            assert_eq!(before.bytes_peak, after.bytes_peak, "{name}");
        }
        (Err(before), Err(after)) => assert_eq!(before, after, "{name}"),
        (Ok(_), Err(error)) | (Err(error), Ok(_)) => panic!("{name}: only one of them fails: {error}"),
    }
}

/// Plans of a Program: without a budget, in the fewest bytes, between the two, and by other strategies.
fn plans(program: &Program) -> Vec<Plan> {
    let free = planned(program);
    let within = |budget: u64| plan(program, &Request { budget: Some(budget), ..Request::by(Arc::new(Auto)) });
    let least = match within(0).map_err(|error| error.kind) {
        Err(ErrorKind::OverBudget { needed, .. }) => needed,
        Ok(_) | Err(_) => 0,
    };
    let budgets = [least, least + free.bytes_peak.saturating_sub(least) / 2].map(within).into_iter().flatten();
    let others = strategy::all()
        .into_iter()
        .skip(1)
        .filter_map(|strategy| plan(program, &Request { threads: 3, ..Request::by(strategy) }).ok());
    budgets.chain(others).chain([free]).collect()
}

#[test]
fn what_is_loaded_runs_as_what_was_saved() {
    let (cases, mut faults, mut gradients, mut compared) = (cases(), 0, 0, 0);
    for (name, program, inputs) in &cases {
        let inputs: Vec<&Array> = inputs.iter().collect();
        for (k, plan) in plans(program).iter().enumerate() {
            let backend = &backends()[k % backends().len()];
            let bytes = Saved::new(plan.decided()).to_bytes().unwrap();
            let saved = Saved::from_bytes(&bytes).unwrap();
            assert_eq!(saved.to_bytes().unwrap(), bytes, "{name}: saved again, it is the same file");
            let loaded = saved.compile(backend).unwrap_or_else(|error| panic!("{name}: {error}\n{plan}"));
            assert_eq!(loaded.bytes_peak(), plan.bytes_peak, "{name}: the same peak is planned");
            let ran = Executable::new(backend, &lower(plan)).unwrap().run(&inputs);
            same(name, &ran, &loaded.run(&inputs));
            faults += usize::from(ran.is_err());
            gradients += usize::from(name.starts_with("gradient") && ran.is_ok());
            compared += 1;
        }
    }
    assert!(
        compared >= 100 && faults >= 2 && gradients >= 20,
        "{compared} plans, {faults} faults, {gradients} gradients"
    );
}

#[test]
fn what_counts_gives_the_same_bits() {
    let (mut moved, mut calls) = (0, 0);
    for (name, program, inputs) in &cases() {
        let inputs: Vec<&Array> = inputs.iter().collect();
        for backend in backends() {
            let plain = compiled(program, backend);
            let counted = plain.counting().unwrap().run(&inputs);
            same(name, &plain.run(&inputs), &counted);
            if let Ok((outputs, stats)) = counted {
                let counts = stats.counts.expect("it counts");
                let least: usize = outputs.iter().map(|output| output.ty().bytes()).sum();
                assert!(counts.bytes_written >= least as u64, "{name}: outputs are written: {counts}");
                (moved, calls) = (moved + counts.bytes_read, calls + counts.calls);
            }
        }
    }
    assert!(moved > 0 && calls > 4, "{moved} bytes are read, {calls} routines called");
}

/// How many files are tried.
fn count() -> u64 {
    std::env::var("RETROGRAD_FUZZ").map_or(2_000, |count| count.parse().expect("RETROGRAD_FUZZ is a number"))
}

/// Files of all cases under all plans, with the inputs of each.
fn files() -> Vec<(Vec<u8>, Vec<Array>)> {
    let mut files = vec![];
    for (_, program, inputs) in cases() {
        files.extend(
            plans(&program).iter().map(|plan| (Saved::new(plan.decided()).to_bytes().unwrap(), inputs.clone())),
        );
    }
    files
}

#[test]
fn no_damaged_file_is_taken_for_a_whole_one() {
    let files: Vec<Vec<u8>> = files().into_iter().map(|(file, _)| file).collect();
    for k in 0..count() {
        let mut random = Random::new(k);
        let file = &files[random.below(files.len())];
        let damaged = damage(file, &files[random.below(files.len())], &mut random);
        let result = catch_unwind(AssertUnwindSafe(|| Saved::from_bytes(&damaged).map(|_| ())));
        let result = result.unwrap_or_else(|_| panic!("damage {k} makes it panic"));
        assert!(result.is_err() || files.contains(&damaged), "damage {k} is not noticed");
    }
}

/// Bytes of the header, and of the name of the version.
const HEADER_BYTES: usize = 24;

/// A file whose header says that it is whole.
fn repaired(mut bytes: Vec<u8>) -> Vec<u8> {
    let length = (bytes.len() - HEADER_BYTES) as u64;
    bytes[16..HEADER_BYTES].copy_from_slice(&length.to_le_bytes());
    let checksum = crc32fast::hash(&bytes[16..]);
    bytes[12..16].copy_from_slice(&checksum.to_le_bytes());
    bytes
}

/// A crafted file: bytes after the version are changed, taken away, put in or taken from another file, so that numbers,
/// counts, types, ops, names and parts of decisions are others; the checksum is right.
fn craft(file: &[u8], other: &[u8], random: &mut Random) -> Vec<u8> {
    let body = HEADER_BYTES + 1 + env!("CARGO_PKG_VERSION").len();
    let mut bytes = file.to_vec();
    for _ in 0..=random.below(3) {
        let at = body + random.below(bytes.len() - body);
        let end = (at + 1 + random.below(8)).min(bytes.len());
        match random.below(8) {
            0 => bytes[at] ^= 1 << random.below(8),
            1 => bytes[at] = bytes[at].wrapping_add(1),
            2 => bytes[at] = bytes[at].wrapping_sub(1),
            3 => bytes[at] = [0, 1, 2, 127, 128, 255][random.below(6)],
            4 => {
                bytes.drain(at..end);
            }
            5 => {
                let from = body + random.below(other.len() - body);
                let piece = other[from..(from + end - at).min(other.len())].to_vec();
                bytes.splice(at..end, piece);
            }
            6 => {
                // A number of many bytes: the largest, or a large one.
                bytes.splice(
                    at..=at,
                    if random.below(2) == 0 { vec![0xff, 0xff, 0xff, 0xff, 0x0f] } else { vec![0x80, 0x80, 0x40] },
                );
            }
            7 => {
                let to = body + random.below(bytes.len() - body);
                bytes.swap(at, to);
            }
            _ => unreachable!("below 8"),
        }
    }
    repaired(bytes)
}

/// Arrays of these types, as long as they are small.
fn small_inputs(types: &[Type], random: &mut Random) -> Option<Vec<Array>> {
    types.iter().map(|ty| (ty.elements() <= 1 << 16).then(|| random.array(ty, (0.0, 3.0)))).collect()
}

#[test]
fn a_crafted_file_is_an_error_or_a_valid_program() {
    let files = files();
    let (mut ran, mut refused, mut stopped) = (0, 0, 0);
    for k in 0..count() {
        let mut random = Random::new(k);
        let (file, inputs) = &files[random.below(files.len())];
        let bytes = craft(file, &files[random.below(files.len())].0, &mut random);
        let backend = if k % 16 == 0 { &backends()[random.below(backends().len())] } else { &Backend::Cranelift };
        let outcome = catch_unwind(AssertUnwindSafe(|| {
            let executable = loaded(&bytes, backend)?;
            let same = executable.inputs().iter().zip(inputs).all(|(ty, array)| *ty == array.ty());
            let inputs = if same && executable.inputs().len() == inputs.len() {
                Some(inputs.clone())
            } else {
                small_inputs(executable.inputs(), &mut random)
            };
            let small =
                executable.bytes_peak() <= 1 << 26 && executable.outputs().iter().all(|ty| ty.elements() <= 1 << 20);
            let Some(inputs) = inputs.filter(|_| small) else { return Ok(None) };
            run_shortly(&executable.spilling_to(std::env::temp_dir()), &inputs).map(Some)
        }));
        match outcome.unwrap_or_else(|_| panic!("crafted file {k} makes it panic")) {
            Ok(Some(())) => ran += 1,
            Ok(None) => {}
            Err(error) if error.kind == ErrorKind::Interrupted => stopped += 1,
            Err(_) => refused += 1,
        }
    }
    assert!(
        ran * 100 > count() && refused * 100 > count(),
        "of {} files {ran} ran, {refused} were refused, {stopped} were stopped",
        count()
    );
}

/// Runs between guards as often as it takes to see that no byte outside of the arena changes; a loop of very many steps
/// is stopped.
fn run_shortly(executable: &Executable, inputs: &[Array]) -> Result<(), Error> {
    let inputs: Vec<&Array> = inputs.iter().collect();
    let stop = AtomicBool::new(false);
    std::thread::scope(|scope| {
        let (over, until) = channel::<()>();
        let stop = &stop;
        scope.spawn(move || {
            if until.recv_timeout(Duration::from_millis(300)).is_err() {
                stop.store(true, Ordering::Relaxed);
            }
        });
        let result = executable.run_with(&inputs, &Cancellation::from(stop));
        drop(over);
        result
    })?;
    let checked = executable.run_checked(&inputs)?;
    assert!(checked.guards_intact, "it writes outside of its arena");
    Ok(())
}

/// A file with some bytes changed, cut off, doubled, or taken from another.
fn damage(file: &[u8], other: &[u8], random: &mut Random) -> Vec<u8> {
    let mut bytes = file.to_vec();
    for _ in 0..=random.below(4) {
        let at = random.below(bytes.len().max(1)).min(bytes.len());
        match random.below(6) {
            0 => bytes.truncate(at),
            1 => bytes.extend_from_slice(&other[random.below(other.len())..]),
            2 => {
                bytes.splice(at..at, [0, 255, 128]);
            }
            3 => {
                let end = (at + 1 + random.below(8)).min(bytes.len());
                bytes.drain(at..end);
            }
            4 | 5 => {
                if let Some(byte) = bytes.get_mut(at) {
                    *byte ^= 1 << random.below(8);
                }
            }
            _ => unreachable!("below 6"),
        }
    }
    bytes
}

#[test]
fn what_is_no_file_of_ours_says_so() {
    let nothing = Program::new(Builder::new("nothing").finish(vec![]));
    let whole = Saved::new(planned(&nothing).decided()).to_bytes().unwrap();
    let message = |bytes: &[u8]| Saved::from_bytes(bytes).unwrap_err().message;
    assert_eq!(message(b"func @main() {"), "this is nothing that Retrograd has saved");
    assert_eq!(message(b""), "this is nothing that Retrograd has saved");
    assert_eq!(message(&whole[..15]), "the file is cut off in its header");
    assert!(message(&whole[..whole.len() - 1]).starts_with("the file is cut off or damaged"));
    let missing = Saved::load("no such file.rgx").unwrap_err();
    assert!(missing.message.starts_with("no such file.rgx: "), "{missing}");
    #[cfg(unix)]
    assert!(Saved::load("/dev/zero").unwrap_err().message.ends_with("this is nothing that Retrograd has saved"));
}

/// A file of this form stays readable until the form has another number: whoever changes what is stored finds out here.
#[test]
fn the_stored_file_is_read() {
    let text = fs::read_to_string(testdata().join("run/unwind.rg")).unwrap();
    let program = ops::parse(&text, "unwind.rg").unwrap();
    let inputs: Vec<Array> = Directives::of(&text).all("input").map(|input| input.parse().unwrap()).collect();
    let inputs: Vec<&Array> = inputs.iter().collect();
    let (path, plan) = (testdata().join("saved/unwind.rgx"), planned(&opt::all_calls(&program)));
    if std::env::var_os("BLESS").is_some() {
        Saved::new(plan.decided()).save(&path).unwrap();
    }
    let advice =
        "if what is stored has changed since the last release, raise FORMAT in retrograd/src/saved.rs; then bless";
    let stored = Saved::load(&path).and_then(|saved| saved.compile(&Backend::Cranelift));
    let stored = stored.unwrap_or_else(|error| panic!("{error}\n{advice}"));
    let (found, _) = stored.run(&inputs).unwrap_or_else(|error| panic!("{error}\n{advice}"));
    let now = Executable::new(&Backend::Cranelift, &lower(&plan)).unwrap();
    same_outputs(&found, &now.run(&inputs).unwrap().0).unwrap_or_else(|difference| panic!("{difference}\n{advice}"));
}
