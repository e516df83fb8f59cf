//! Whatever the text, nothing panics; and what verifies prints and parses to itself.
//!
//! Inputs are mutated golden files. `RETROGRAD_FUZZ=10000000` asks for that many, `RETROGRAD_FUZZ_SEED` for others.

use std::collections::BTreeMap;
use std::fs;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;

use retrograd_compiler::ir::{self, Array, DataMut, FuncId, Function, Inst, Lowering, Op, Pos, Program, Type, Value};
use retrograd_compiler::{eval, ops};
use retrograd_testing::{Random, golden};

#[test]
fn no_text_makes_the_compiler_panic() {
    let (count, seed) = (number("RETROGRAD_FUZZ", 10_000), number("RETROGRAD_FUZZ_SEED", 1));
    let corpus = corpus();
    let mut verified = 0;
    for k in 0..count {
        let mut random = Random::new(seed.wrapping_mul(0x1_0000_0000).wrapping_add(k));
        let text = mutate(&corpus, &mut random);
        match catch_unwind(AssertUnwindSafe(|| check(&text, &mut random))) {
            Ok(outcome) => verified += u64::from(outcome == Outcome::Verified),
            Err(_) => panic!("input {k} of seed {seed}:\n{text}"),
        }
    }
    assert!(verified * 50 > count, "mutations leave too few valid Programs to be a test: {verified} of {count}");
}

#[derive(PartialEq)]
enum Outcome {
    Refused,
    Verified,
}

fn check(text: &str, random: &mut Random) -> Outcome {
    let Ok(program) = ops::parse(text, "fuzz.rg") else { return Outcome::Refused };
    let printed = program.to_string();
    let again =
        ops::parse(&printed, "fuzz.rg").unwrap_or_else(|error| panic!("what is printed parses: {error}\n{printed}"));
    assert_eq!(canonical(&program), canonical(&again), "parse after print gives the same Program");
    assert_eq!(again.to_string(), printed, "printing is canonical");
    let positioned = format!("{program:#}");
    let again = ops::parse(&positioned, "other.rg").expect("what is printed parses");
    assert_eq!(format!("{again:#}"), positioned, "positions are read back");
    if ir::verify(&program).is_err() {
        return Outcome::Refused;
    }
    assert!(ir::verify(&again).is_ok(), "what verifies still does after printing");
    if work(&program, program.entry).is_some_and(|work| work < 100_000) {
        let inputs: Vec<Array> = program.main().param_types().iter().map(|ty| input(ty, random)).collect();
        if let Ok(outputs) = eval::run(&program, &inputs) {
            let types: Vec<Type> = outputs.iter().map(Array::ty).collect();
            assert_eq!(types, program.main().result_types(), "the interpreter gives what the types say");
        }
    }
    Outcome::Verified
}

fn number(variable: &str, default: u64) -> u64 {
    let given = std::env::var(variable).ok();
    given.map_or(default, |text| text.parse().unwrap_or_else(|_| panic!("{variable} must be a number, found {text:?}")))
}

/// The Programs of all golden files.
fn corpus() -> Vec<String> {
    let dir = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../testdata");
    let files = golden::files(&dir).expect("testdata can be read");
    let program = |text: String| text.split("// ---- expected").next().unwrap_or_default().to_string();
    files.iter().map(|(_, path)| program(fs::read_to_string(path).expect("golden files can be read"))).collect()
}

/// What replaces a token: extremes that arithmetic on shapes and counts trips over.
const TOKENS: [&str; 24] = [
    "0",
    "1",
    "2",
    "3",
    "-1",
    "8",
    "9223372036854775807",
    "-9223372036854775808",
    "18446744073709551615",
    "4294967296",
    "1e308",
    "nan",
    "%0",
    "%1",
    "%2",
    "f64",
    "i64",
    "bool",
    "[",
    "]",
    "{",
    "}",
    "f64[0,4294967296,4294967296]",
    "f64[2147483648,2147483647]",
];

fn mutate(corpus: &[String], random: &mut Random) -> String {
    let mut text = corpus[random.below(corpus.len())].clone().into_bytes();
    for _ in 0..=random.below(6) / 3 {
        let (from, to) = span(&text, random);
        let tokens = tokens(&text);
        match random.below(10) {
            0 if !text.is_empty() => text[from.min(to - 1)] = random.bits() as u8,
            1 => drop(text.drain(from..to)),
            2 => {
                let copy = text[from..to].to_vec();
                text.splice(to..to, copy);
            }
            3 if tokens.len() > 1 => {
                let (a, b) = (random.below(tokens.len()), random.below(tokens.len()));
                let ((a, b), (c, d)) = (tokens[a.min(b)], tokens[a.max(b)]);
                text = [&text[..a], &text[c..d], &text[b.min(c)..c], &text[a..b], &text[d..]].concat();
            }
            4 if !tokens.is_empty() => {
                let (from, to) = tokens[random.below(tokens.len())];
                text.splice(from..to, TOKENS[random.below(TOKENS.len())].bytes());
            }
            5..=8 if !tokens.is_empty() => {
                // Like for like leaves many Programs valid.
                let (from, to) = tokens[random.below(tokens.len())];
                let class = |(from, _): (usize, usize)| (text[from].is_ascii_alphabetic(), text[from].is_ascii_digit());
                let alike: Vec<_> = tokens.iter().filter(|token| class(**token) == class((from, to))).collect();
                let (other_from, other_to) = *alike[random.below(alike.len())];
                let other = text[other_from..other_to].to_vec();
                text.splice(from..to, other);
            }
            _ => {
                let other = corpus[random.below(corpus.len())].as_bytes();
                let (from, to) = span(other, random);
                let at = random.below(text.len() + 1);
                text.splice(at..at, other[from..to].iter().copied());
            }
        }
    }
    String::from_utf8_lossy(&text).into_owned()
}

/// A short span of bytes, not empty unless the text is.
fn span(text: &[u8], random: &mut Random) -> (usize, usize) {
    let from = random.below(text.len().max(1));
    (from.min(text.len()), (from + 1 + random.below(40)).min(text.len()))
}

/// Words, values and numbers, as spans of bytes.
fn tokens(text: &[u8]) -> Vec<(usize, usize)> {
    let belongs = |c: u8| c.is_ascii_alphanumeric() || b"_.%".contains(&c);
    let mut tokens = Vec::new();
    let mut start = None;
    for (k, c) in text.iter().copied().chain([b' ']).enumerate() {
        match (start, belongs(c)) {
            (None, true) => start = Some(k),
            (Some(from), false) => {
                tokens.push((from, k));
                start = None;
            }
            (None, false) | (Some(_), true) => {}
        }
    }
    tokens
}

/// Everything about a Program but positions, numbering of values and functions, and functions that the entry cannot
/// reach.
fn canonical(program: &Program) -> String {
    let mut order = vec![program.entry];
    let mut next = 0;
    while next < order.len() {
        for body in program.function(order[next]).insts.iter().flat_map(Inst::bodies) {
            if !order.contains(&body) {
                order.push(body);
            }
        }
        next += 1;
    }
    let ids: BTreeMap<FuncId, FuncId> = order.iter().enumerate().map(|(k, id)| (*id, FuncId(k as u32))).collect();
    let functions: Vec<Function> = order.iter().map(|id| renumbered(program.function(*id), &ids)).collect();
    format!("{functions:?}")
}

fn renumbered(function: &Function, ids: &BTreeMap<FuncId, FuncId>) -> Function {
    let mut function = function.clone();
    let defined: Vec<Value> =
        function.params.iter().chain(function.insts.iter().flat_map(|inst| &inst.results)).copied().collect();
    let numbers: BTreeMap<Value, Value> = defined.iter().enumerate().map(|(k, v)| (*v, Value(k as u32))).collect();
    function.types = defined.iter().map(|v| function.ty(*v).clone()).collect();
    let rename = |values: &mut Vec<Value>| values.iter_mut().for_each(|v| *v = numbers[v]);
    rename(&mut function.params);
    rename(&mut function.results);
    for inst in &mut function.insts {
        rename(&mut inst.args);
        rename(&mut inst.results);
        inst.pos = Pos::unknown();
        inst.op.map_bodies(|id| ids[&id]);
    }
    function
}

/// Elements that a run makes; `None` where a count is not a literal, so that it may be anything.
fn work(program: &Program, id: FuncId) -> Option<usize> {
    let function = program.function(id);
    let mut total = function.params.iter().fold(0usize, |sum, v| function.ty(*v).elements().saturating_add(sum));
    for inst in &function.insts {
        let trips = match &inst.op {
            Op::Def(..) | Op::If(_) | Op::Call(_) => 1,
            // It may never end.
            Op::While(_) => return None,
            Op::For(_) | Op::Unwind(_) => literal(program, function, inst.args[0])?,
        };
        let elements =
            inst.results.iter().chain(&inst.args).fold(1, |sum, v| function.ty(*v).elements().saturating_add(sum));
        let bodies =
            inst.bodies().into_iter().try_fold(0usize, |sum, body| Some(work(program, body)?.saturating_add(sum)))?;
        total = total.saturating_add(elements.saturating_mul(elements)).saturating_add(bodies.saturating_mul(trips));
    }
    Some(total)
}

/// The count that a value is, if it is a literal; inputs are at most 4.
fn literal(program: &Program, function: &Function, value: Value) -> Option<usize> {
    let inst = function.insts.iter().find(|inst| inst.results.contains(&value));
    match inst.map(|inst| &inst.op) {
        Some(Op::Def(def, attrs)) if def.lowering == Lowering::Constant => {
            Some(usize::try_from(attrs.array("value").as_i64()[0]).unwrap_or(0))
        }
        Some(Op::Def(..) | Op::If(_) | Op::For(_) | Op::While(_) | Op::Unwind(_) | Op::Call(_)) => None,
        None => std::ptr::eq(function, program.main()).then_some(4),
    }
}

fn input(ty: &Type, random: &mut Random) -> Array {
    let mut array = Array::zeros(ty);
    match array.data_mut() {
        DataMut::F64(x) => x.iter_mut().for_each(|x| *x = random.float(-2.0, 2.0)),
        DataMut::I64(x) => x.iter_mut().for_each(|x| *x = random.below(5) as i64),
        DataMut::Bool(x) => x.iter_mut().for_each(|x| *x = random.below(2) == 1),
        DataMut::F32(x) => x.iter_mut().for_each(|x| *x = random.float(-2.0, 2.0) as f32),
        DataMut::I32(x) => x.iter_mut().for_each(|x| *x = random.below(5) as i32),
    }
    array
}
