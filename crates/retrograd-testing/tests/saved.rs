//! What is saved and loaded runs as before: the same bits, the same errors, the same peak; and no damaged file is taken for a whole one.
//!
//! `RETROGRAD_FUZZ=1000000` asks for that many damaged files. `BLESS=1` writes the stored file anew, which is right when the form of files has
//! another number.

use std::fs;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use retrograd_compiler::diff::check::floats;
use retrograd_compiler::fuse::fuse;
use retrograd_compiler::ir::{Array, Builder, Error, Program, Type, verify};
use retrograd_compiler::plan::strategy::Auto;
use retrograd_compiler::plan::{Request, plan};
use retrograd_compiler::{diff, eval, ops, opt};
use retrograd_jit::{Backend, Executable, Stats};
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

/// The Programs of `testdata/run` that verify, with their inputs, and a product of matrices; and the gradients of those that have any.
fn cases() -> Vec<(String, Program, Vec<Array>)> {
    let mut paths: Vec<PathBuf> = fs::read_dir(testdata().join("run")).unwrap().map(|entry| entry.unwrap().path()).collect();
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

fn compiled(program: &Program, backend: &Backend) -> Executable {
    let fused = fuse(&plan(program, &Request::by(Arc::new(Auto))).unwrap());
    let (inputs, outputs) = (program.main().param_types(), program.main().result_types());
    Executable::by(backend, &fused.kernel, inputs, outputs, fused.faults).unwrap()
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

#[test]
fn what_is_loaded_runs_as_what_was_saved() {
    let (cases, mut faults, mut gradients) = (cases(), 0, 0);
    for (name, program, inputs) in &cases {
        let inputs: Vec<&Array> = inputs.iter().collect();
        for backend in backends() {
            let saved = compiled(program, backend);
            let bytes = saved.to_bytes().unwrap();
            let loaded = Executable::from_bytes(&bytes, backend).unwrap();
            assert_eq!(loaded.to_bytes().unwrap(), bytes, "{name}: saved again, it is the same file");
            let ran = saved.run(&inputs);
            same(name, &ran, &loaded.run(&inputs));
            faults += usize::from(ran.is_err());
            gradients += usize::from(name.starts_with("gradient") && ran.is_ok());
        }
    }
    assert!(cases.len() >= 20 && faults >= 2 && gradients >= 5, "{} cases, {faults} faults, {gradients} gradients", cases.len());
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

#[test]
fn no_damaged_file_is_taken_for_a_whole_one() {
    let count = std::env::var("RETROGRAD_FUZZ").map_or(10_000, |count| count.parse().expect("RETROGRAD_FUZZ is a number"));
    let files: Vec<Vec<u8>> = cases().iter().map(|(_, program, _)| compiled(program, &Backend::Cranelift).to_bytes().unwrap()).collect();
    for k in 0..count {
        let mut random = Random::new(k);
        let file = &files[random.below(files.len())];
        let damaged = damage(file, &files[random.below(files.len())], &mut random);
        let result = catch_unwind(AssertUnwindSafe(|| Executable::from_bytes(&damaged, &Backend::Cranelift).map(|_| ())));
        let result = result.unwrap_or_else(|_| panic!("damage {k} makes it panic"));
        assert!(result.is_err() || files.contains(&damaged), "damage {k} is not noticed");
    }
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
    let whole = Executable::new(&Default::default(), vec![], vec![], vec![]).to_bytes().unwrap();
    let message = |bytes: &[u8]| Executable::from_bytes(bytes, &Backend::Cranelift).unwrap_err().message;
    assert_eq!(message(b"func @main() {"), "this is no executable that Retrograd has saved");
    assert_eq!(message(b""), "this is no executable that Retrograd has saved");
    assert_eq!(message(&whole[..15]), "the file is cut off in its header");
    assert!(message(&whole[..whole.len() - 1]).starts_with("the file is cut off or damaged"));
    let missing = Executable::load("no such file.rgx", &Backend::Cranelift).unwrap_err();
    assert!(missing.message.starts_with("no such file.rgx: "), "{missing}");
}

/// A file of this form stays readable until the form has another number: whoever changes what is stored finds out here.
#[test]
fn the_stored_file_is_read() {
    let text = fs::read_to_string(testdata().join("run/unwind.rg")).unwrap();
    let program = ops::parse(&text, "unwind.rg").unwrap();
    let inputs: Vec<Array> = Directives::of(&text).all("input").map(|input| input.parse().unwrap()).collect();
    let inputs: Vec<&Array> = inputs.iter().collect();
    let (path, now) = (testdata().join("saved/unwind.rgx"), compiled(&opt::all_calls(&program), &Backend::Cranelift));
    if std::env::var_os("BLESS").is_some() {
        now.save(&path).unwrap();
    }
    let advice = "if what is stored has changed since the last release, raise FORMAT in retrograd-jit/src/file.rs; then bless";
    let stored = Executable::load(&path, &Backend::Cranelift).unwrap_or_else(|error| panic!("{error}\n{advice}"));
    let (found, _) = stored.run(&inputs).unwrap_or_else(|error| panic!("{error}\n{advice}"));
    same_outputs(&found, &now.run(&inputs).unwrap().0).unwrap_or_else(|difference| panic!("{difference}\n{advice}"));
}
