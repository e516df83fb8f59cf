//! The automatic tests of one row of the op table: its derivatives, and its machine code.

use std::fmt;
use std::sync::Arc;

use retrograd_compiler::ir::{
    Array, Attr, Attrs, Builder, DType, Error, ErrorKind, Lowering, OpDef, Program, Rule, Sample, Scalar, Type,
};
use retrograd_compiler::ops::evaluate;
use retrograd_compiler::opt::{freeze, simplify};
use retrograd_compiler::plan::strategy::Auto;
use retrograd_compiler::{diff, eval};

use crate::Random;
use crate::native::Native;
use retrograd_compiler::diff::check::{check_at_special_point, check_to_order, floats};

/// Checks a row on every sample that it states: evaluation, first and second derivatives in all combinations of modes.
///
/// ```
/// retrograd_testing::check_row(&retrograd_compiler::ops::TANH).unwrap();
/// ```
pub fn check_row(def: &'static OpDef) -> Result<(), String> {
    each_sample(def, |program, inputs, seed| match def.rule {
        Rule::Missing => check_missing(program),
        Rule::Zero
        | Rule::Partials(_)
        | Rule::Linear(_)
        | Rule::LinearInEach(_)
        | Rule::Bilinear(_)
        | Rule::Tangent { .. } => check_to_order(program, inputs, 2, seed),
    })
}

/// Checks a row on every sample that it states, and on awkward numbers: machine code of its evaluation and of its first
/// and second derivatives gives the interpreter's bits.
///
/// ```
/// retrograd_testing::check_row_native(&retrograd_compiler::ops::TANH).unwrap();
/// ```
pub fn check_row_native(def: &'static OpDef) -> Result<(), String> {
    each_sample(def, |program, inputs, seed| {
        let random = &mut Random::new(seed);
        check_native("value", program, inputs)?;
        check_native("value of awkward numbers", program, &random.awkward(inputs))?;
        if matches!(def.rule, Rule::Missing) {
            return Ok(());
        }
        let Some((jvp, tangents)) = derived(Mode::Forward, program, inputs, random)? else { return Ok(()) };
        check_native("jvp", &jvp, &tangents)?;
        let Some((vjp, cotangents)) = derived(Mode::Reverse, program, inputs, random)? else { return Ok(()) };
        check_native("vjp", &vjp, &cotangents)?;
        for (name, mode) in [("jvp of vjp", Mode::Forward), ("vjp of vjp", Mode::Reverse)] {
            let Some((second, inputs)) = derived(mode, &vjp, &cotangents, random)? else { continue };
            check_native(name, &second, &inputs)?;
        }
        Ok(())
    })
}

/// Checks the derivatives of a row at special points, to order 2 where they are finite: ties, zeros, infinities and NaN
/// in every argument of an elementwise row; zeros, ties and singular matrices of the shapes that its samples have for
/// others. Returns how many were judged.
///
/// ```
/// assert!(retrograd_testing::check_row_at_special_points(&retrograd_compiler::ops::LOGADDEXP).unwrap() > 0);
/// ```
pub fn check_row_at_special_points(def: &'static OpDef) -> Result<usize, String> {
    if matches!(def.rule, Rule::Missing) {
        return Ok(0);
    }
    let samples = (def.samples)(def);
    let of_floats = samples.iter().filter(|sample| sample.args.iter().all(|(ty, _)| ty.dtype != DType::Bool));
    let is_map = matches!(def.lowering, Lowering::Map(_));
    // One sample of an elementwise row is enough: that of a single number.
    let few = if is_map { 1 } else { samples.len() };
    let mut judged = 0;
    // What is asked to be zero where there is no derivative is not right there.
    let is_asked = |sample: &&Sample| !def.attrs.contains(&"degenerate") || sample.attrs.size("degenerate") == 0;
    let of_floats =
        of_floats.filter(|sample| sample.args.iter().any(|(ty, _)| ty.dtype == DType::F64)).filter(is_asked);
    for sample in of_floats.take(few) {
        let program = program(def, sample).map_err(|error| error.to_string())?;
        let types: Vec<Type> = sample.args.iter().map(|(ty, _)| ty.clone()).collect();
        for inputs in if is_map { numbers_of(&types) } else { arrays_of(&types) } {
            if !has_pivots(def, &program, &inputs)? {
                continue;
            }
            // Its third derivative is not for singular matrices.
            let order = if def.name == "adjugate" { 3 - inputs.len() } else { 2 };
            let named = |error| format!("`{}` at {inputs:?}: {error}", def.name);
            judged += check_at_special_point(&program, &inputs, order, 7).map_err(named)?;
        }
    }
    Ok(judged)
}

/// Whether factors that the row gives have a derivative: all pivots are other than zero, but for the last of square
/// matrices, and none has another sign nearby, as where a reflection finds a zero on the diagonal.
fn has_pivots(def: &OpDef, program: &Program, inputs: &[Array]) -> Result<bool, String> {
    if !["lu", "qr"].contains(&def.name) {
        return Ok(true);
    }
    let away = Random::new(5).array(&inputs[0].ty(), (-1e-4, 1e-4));
    let signs = |side: f64| {
        let moved = inputs[0].as_f64().iter().zip(away.as_f64()).map(|(x, dx)| x + side * dx).collect();
        let factors = eval::run(program, &[Array::f64(inputs[0].shape(), moved)])
            .map_err(|error| error.to_string())?
            .swap_remove(0);
        let ([.., m, n], [.., rows, _]) = (inputs[0].shape(), factors.shape()) else {
            panic!("matrices have two axes")
        };
        // R is below Q.
        let pivot =
            |matrix: &[f64], k: usize| Some(matrix[(rows - n + k) * n + k]).filter(|p| p.abs() > 1e-9).map(f64::signum);
        let last = if m == n { n.saturating_sub(1) } else { *n };
        let signs = factors
            .as_f64()
            .chunks(rows * n.max(&1))
            .flat_map(|matrix| (0..last).map(|k| pivot(matrix, k)).collect::<Vec<_>>());
        Ok::<_, String>(signs.collect::<Option<Vec<f64>>>())
    };
    let here = signs(0.0)?;
    Ok(here.is_some() && signs(-1.0)? == here && signs(1.0)? == here)
}

/// Every special number in every argument.
fn numbers_of(types: &[Type]) -> Vec<Vec<Array>> {
    const SPECIAL: [f64; 11] = [0.0, -0.0, 1.0, -1.0, 0.5, 2.0, -2.0, 3.0, f64::INFINITY, f64::NEG_INFINITY, f64::NAN];
    types.iter().fold(vec![vec![]], |points, _| {
        let with = |point: &Vec<Array>, x: f64| point.iter().cloned().chain([Array::scalar(x)]).collect();
        points.iter().flat_map(|point| SPECIAL.map(|x| with(point, x))).collect()
    })
}

/// Zeros, equal numbers, many ties, and columns that repeat, which makes matrices singular; integers are places, and 0.
fn arrays_of(types: &[Type]) -> Vec<Vec<Array>> {
    const KINDS: [fn(usize, usize) -> f64; 6] = [
        |_, _| 0.0,
        |_, _| 1.0,
        |k, _| (k % 3) as f64 - 1.0,
        |k, columns| 1.0 + (k / columns.max(1)) as f64,
        |k, _| 1.0 + k as f64,
        |k, columns| if k % (columns + 1) == 0 && k > 0 { 2.0 } else { 0.0 },
    ];
    let of = |ty: &Type, kind: fn(usize, usize) -> f64| match ty.dtype {
        DType::F64 => Array::f64(
            &ty.shape[..],
            (0..ty.elements()).map(|k| kind(k, ty.shape.last().copied().unwrap_or(1))).collect(),
        ),
        DType::F32 | DType::I32 | DType::I64 | DType::Bool => Array::zeros(ty),
    };
    KINDS.map(|kind| types.iter().map(|ty| of(ty, kind)).collect()).to_vec()
}

#[derive(Clone, Copy)]
enum Mode {
    Forward,
    Reverse,
}

/// A derivative Program and its inputs; `None` where nothing is a float.
fn derived(
    mode: Mode,
    program: &Program,
    inputs: &[Array],
    random: &mut Random,
) -> Result<Option<(Program, Vec<Array>)>, String> {
    let (wrt, outputs) = (floats(&program.main().param_types()), floats(&program.main().result_types()));
    if wrt.is_empty() || outputs.is_empty() {
        return Ok(None);
    }
    let derived = match mode {
        Mode::Forward => diff::jvp(program, &wrt, &outputs),
        Mode::Reverse => diff::vjp(program, &wrt, &outputs),
    };
    let derived = simplify(&derived.map_err(|error| error.to_string())?);
    let more = derived.main().param_types().split_off(inputs.len());
    let inputs = inputs.iter().cloned().chain(more.iter().map(|ty| random.array(ty, (-1.0, 1.0)))).collect();
    Ok(Some((derived, inputs)))
}

fn check_native(what: &str, program: &Program, inputs: &[Array]) -> Result<(), String> {
    let program = &freeze(program);
    let native = Native::new(program, Arc::new(Auto), None).map_err(|error| error.to_string())?;
    let outcome = match eval::run(program, inputs) {
        Ok(expected) => native.check(inputs, &expected),
        Err(error) => native.check_fault(inputs, &error),
    };
    outcome.map_err(|message| format!("{what}: {message}\n{program}"))
}

/// Every sample, and the same in other element types, as a Program with inputs and a seed.
fn each_sample(
    def: &'static OpDef,
    check: impl Fn(&Program, &[Array], u64) -> Result<(), String>,
) -> Result<(), String> {
    for (k, sample) in (def.samples)(def).iter().enumerate() {
        for (types, sample) in in_all_types(def, sample) {
            let seed = seed(def.name, k as u64);
            let named = |message: String| format!("`{}`, sample {k}{types}, seed {seed:#x}: {message}", def.name);
            let program = match program(def, &sample) {
                Ok(program) => program,
                Err(error) if types.may_be_refused(&error) => continue,
                Err(error) => return Err(named(error.to_string())),
            };
            let mut random = Random::new(seed);
            let mut inputs: Vec<_> = sample.args.iter().map(|(ty, interval)| random.array(ty, *interval)).collect();
            (def.condition)(&mut inputs);
            check(&program, &inputs, seed).map_err(named)?;
        }
    }
    Ok(())
}

/// One element type in place of another.
#[derive(Clone, Copy)]
struct Types {
    from: DType,
    to: DType,
}

impl Types {
    /// Only floats are where floats must be, and indices are i64; f32 is refused nowhere.
    fn may_be_refused(self, error: &Error) -> bool {
        match (self.from, self.to) {
            (DType::F64, DType::I32 | DType::I64) => error.message.contains("floats"),
            (DType::I64, DType::I32) => error.message.contains("i64"),
            _ => false,
        }
    }
}

impl fmt::Display for Types {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.from == self.to { Ok(()) } else { write!(f, " with {} for {}", self.to, self.from) }
    }
}

/// The sample as it is, with f32 for f64, with i32 for i64, and with integers for floats. Elementwise rows have samples
/// of integers, where these are in the domain.
fn in_all_types(def: &OpDef, sample: &Sample) -> Vec<(Types, Sample)> {
    let elementwise = matches!(def.lowering, Lowering::Map(_) | Lowering::Convert);
    let mut others = vec![(DType::F64, DType::F32), (DType::I64, DType::I32)];
    if !elementwise {
        others.extend([(DType::F64, DType::I64), (DType::F64, DType::I32)]);
    }
    let itself = (Types { from: DType::F64, to: DType::F64 }, sample.clone());
    let other = |(from, to)| Some((Types { from, to }, with_types(sample, from, to)?));
    [itself].into_iter().chain(others.into_iter().filter_map(other)).collect()
}

/// The sample with arguments and attributes of another element type; `None` where nothing has the first.
fn with_types(sample: &Sample, from: DType, to: DType) -> Option<Sample> {
    let mut changed = false;
    let mut ty = |ty: &Type| {
        changed |= ty.dtype == from;
        Type::new(if ty.dtype == from { to } else { ty.dtype }, ty.shape.clone())
    };
    let args = sample.args.iter().map(|(arg, interval)| (ty(arg), *interval)).collect();
    let attrs = sample.attrs.iter().fold(Attrs::none(), |attrs, (name, attr)| {
        let attr = match attr {
            Attr::Type(old) => Attr::Type(ty(old)),
            Attr::Array(array) => {
                let ty = ty(&array.ty());
                Attr::Array(evaluate(Scalar::Convert(ty.dtype), &[array], &ty).expect("conversions are total"))
            }
            Attr::Ints(_) | Attr::DType(_) | Attr::Text(_) | Attr::Flag => attr.clone(),
        };
        attrs.with(name, attr)
    });
    changed.then_some(Sample { args, attrs })
}

/// Another seed for every row and sample; FNV-1a over the name.
fn seed(name: &str, sample: u64) -> u64 {
    let hash = |hash: u64, byte: u8| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
    name.bytes().fold(0xcbf2_9ce4_8422_2325, hash).wrapping_add(sample)
}

fn program(def: &'static OpDef, sample: &Sample) -> Result<Program, Error> {
    let b = Builder::new(def.name);
    let params = b.params(sample.args.iter().map(|(ty, _)| ty.clone()));
    let result = b.try_row(def, sample.attrs.clone(), &params)?;
    Ok(Program::new(b.finish(vec![result])))
}

/// A row without a rule says so.
fn check_missing(program: &Program) -> Result<(), String> {
    let main = program.main();
    let Some(input) = main.param_types().iter().position(|ty| ty.dtype.is_float()) else { return Ok(()) };
    if !main.result_types()[0].dtype.is_float() {
        return Ok(());
    }
    for derived in [diff::jvp(program, &[input], &[0]), diff::vjp(program, &[input], &[0])] {
        match derived {
            Err(error) if error.kind == ErrorKind::MissingRule => {}
            other => return Err(format!("expected a missing rule, found {other:?}")),
        }
    }
    Ok(())
}
