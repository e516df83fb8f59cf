//! Arrays that a Program is run on: literals, NumPy files, or drawn.

use retrograd::{Array, DType, Error, Pos, Program, Type};
use retrograd_testing::Random;

use crate::arguments::Inputs;
use crate::numpy;
use crate::source::{Source, argument};

/// The inputs asked for: `--input`, `--random`, or the `// input:` lines of the text.
pub(crate) fn read(inputs: &Inputs, program: &Program, source: &Source) -> Result<Vec<Array>, Error> {
    read_types(inputs, &program.main().param_types(), &source.inputs())
}

/// Inputs of these types; `lines` are those of the text.
pub(crate) fn read_types(inputs: &Inputs, types: &[Type], lines: &[String]) -> Result<Vec<Array>, Error> {
    match inputs.random {
        Some(seed) => random(types, seed),
        None if inputs.given.is_empty() => checked(types, arrays(lines, "// input:")?),
        None => checked(types, arrays(&inputs.given, "--input")?),
    }
}

/// As [`read`], but where nothing is said inputs are drawn.
pub(crate) fn read_or_draw(inputs: &Inputs, program: &Program, source: &Source) -> Result<Vec<Array>, Error> {
    let told = inputs.random.is_some() || !inputs.given.is_empty() || !source.inputs().is_empty();
    if told { read(inputs, program, source) } else { random(&program.main().param_types(), 1) }
}

/// Floats stay where logarithms and roots are smooth; integers are small enough for counts and indices.
fn random(types: &[Type], seed: u64) -> Result<Vec<Array>, Error> {
    let random = &mut Random::new(seed);
    let interval = |dtype: DType| match dtype {
        DType::F32 | DType::F64 => (0.1, 1.0),
        DType::I32 | DType::I64 => (0.0, 4.0),
        DType::Bool => (0.0, 2.0),
    };
    let array = |ty: &Type| ty.check_memory().map(|()| random.array(ty, interval(ty.dtype)));
    types.iter().map(array).collect()
}

/// The arrays that these texts name, in order.
fn arrays(texts: &[String], origin: &str) -> Result<Vec<Array>, Error> {
    let mut arrays = Vec::new();
    for text in texts {
        arrays.extend(array(text, origin)?);
    }
    Ok(arrays)
}

fn array(text: &str, origin: &str) -> Result<Vec<Array>, Error> {
    if text.ends_with(".npy") {
        return Ok(vec![numpy::read_npy(text)?]);
    }
    if text.ends_with(".npz") {
        return Ok(numpy::read_npz(text)?.into_iter().map(|(_, array)| array).collect());
    }
    if let Some((path, name)) = text.rsplit_once(".npz:") {
        return numpy::read_from_npz(&format!("{path}.npz"), name).map(|array| vec![array]);
    }
    match text.parse() {
        Ok(array) => Ok(vec![array]),
        Err(Error { kind, message, .. }) => {
            Err(Error::new(kind, Pos::unknown(), format!("{origin} {text}: {message}")))
        }
    }
}

/// As many as the Program takes, each of its type; nothing is converted.
fn checked(types: &[Type], arrays: Vec<Array>) -> Result<Vec<Array>, Error> {
    let list = |types: &[Type]| types.iter().map(Type::to_string).collect::<Vec<_>>().join(", ");
    if types.len() != arrays.len() {
        let message = format!("the program takes {} inputs ({}), found {}", types.len(), list(types), arrays.len());
        return Err(argument(message + "; give each with --input, or all with --random SEED"));
    }
    for (k, (ty, array)) in types.iter().zip(&arrays).enumerate() {
        if *ty != array.ty() {
            let hint = if ty.dtype.is_float() && !array.dtype().is_float() {
                "; floats are written with a point, as 3.0"
            } else {
                ""
            };
            return Err(argument(format!("input {k} is {ty}, found {}{hint}", array.ty())));
        }
    }
    Ok(arrays)
}
