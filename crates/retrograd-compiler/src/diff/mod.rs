//! Exact derivatives: Program → Program, in both modes, composable in any order and depth.
//!
//! There is one walker per mode (`jvp`, `vjp`) over straight-line code and one file per construct of control flow;
//! everything else comes from the rules of the rows. Only active values are differentiated.

mod active;
pub mod check;
mod control;
mod demand;
mod jacobian;
mod jvp;
mod mask;
mod once;
mod records;
mod sum;
mod transform;
mod vjp;

use crate::ir::{Builder, Error, ErrorKind, Function, Pos, Program, Type, Value};
use crate::opt::{dead_code, plain_calls};
use transform::Transform;

pub use jacobian::{Direction, Seeds, jacobian, seeds};

/// Reverse mode: the entry takes the inputs and one cotangent per listed output; it returns all outputs and one
/// cotangent per input in `wrt` (zeros where no listed output depends on it).
///
/// ```
/// use retrograd_compiler::{diff, eval, ir::{Array, Builder, Program, Type}};
///
/// let b = Builder::new("square");
/// let x = b.param(Type::f64([]));
/// let y = b.mul(x, x);
/// let gradient = diff::vjp(&Program::new(b.finish(vec![y])), &[0], &[0])?;
/// let results = eval::run(&gradient, &[Array::scalar(3.0), Array::scalar(1.0)])?;
/// assert_eq!(results, [Array::scalar(9.0), Array::scalar(6.0)]);
/// # Ok::<(), retrograd_compiler::ir::Error>(())
/// ```
pub fn vjp(program: &Program, wrt: &[usize], outputs: &[usize]) -> Result<Program, Error> {
    let program = &records::recorded(plain_calls(program).into_owned())?;
    let main = check(program, wrt, outputs)?;
    let b = Builder::new(format!("{}_vjp", main.name));
    let inputs = b.params(main.param_types());
    let mut cts: Vec<Option<Value>> = vec![None; main.results.len()];
    for output in outputs {
        let ct = b.param(main.ty(main.results[*output]).clone());
        cts[*output] = Some(cts[*output].map_or(ct, |sum| b.add(sum, ct)));
    }
    let varied: Vec<bool> = (0..inputs.len()).map(|k| wrt.contains(&k)).collect();
    let mut transform = Transform::new(program);
    let pulled =
        transform.pull_first(&b, program.entry, &inputs, &varied, &vjp::demanded(&cts), &vec![None; inputs.len()])?;
    let gradient = wrt.iter().map(|k| pulled.cotangents[*k].unwrap_or_else(|| b.zeros(&b.ty(inputs[*k])))).collect();
    let results = [pulled.results, gradient].concat();
    Ok(transform.finish(b.finish(results)))
}

/// Forward mode: the entry takes the inputs and one tangent per input in `wrt`; it returns all outputs and the tangents
/// of the listed outputs (zeros where one depends on no input in `wrt`).
///
/// ```
/// use retrograd_compiler::{diff, eval, ir::{Array, Builder, Program, Type}};
///
/// let b = Builder::new("square");
/// let x = b.param(Type::f64([]));
/// let y = b.mul(x, x);
/// let derivative = diff::jvp(&Program::new(b.finish(vec![y])), &[0], &[0])?;
/// let results = eval::run(&derivative, &[Array::scalar(3.0), Array::scalar(1.0)])?;
/// assert_eq!(results, [Array::scalar(9.0), Array::scalar(6.0)]);
/// # Ok::<(), retrograd_compiler::ir::Error>(())
/// ```
pub fn jvp(program: &Program, wrt: &[usize], outputs: &[usize]) -> Result<Program, Error> {
    let program = &plain_calls(program);
    let main = check(program, wrt, outputs)?;
    let b = Builder::new(format!("{}_jvp", main.name));
    let inputs = b.params(main.param_types());
    let mut tangents: Vec<Option<Value>> = vec![None; inputs.len()];
    for input in wrt {
        let tangent = b.param(main.ty(main.params[*input]).clone());
        tangents[*input] = Some(tangents[*input].map_or(tangent, |sum| b.add(sum, tangent)));
    }
    let wanted: Vec<bool> = (0..main.results.len()).map(|k| outputs.contains(&k)).collect();
    let mut transform = Transform::new(program);
    let pushed = transform.push(&b, program.entry, &inputs, &tangents, &wanted)?;
    let tangents =
        outputs.iter().map(|k| pushed.tangents[*k].unwrap_or_else(|| b.zeros(&b.ty(pushed.results[*k])))).collect();
    let results = [pushed.results, tangents].concat();
    Ok(transform.finish(b.finish(results)))
}

impl Transform {
    /// The Program of this entry, without what its results do not need.
    fn finish(mut self, entry: Function) -> Program {
        self.program.entry = self.program.add(entry);
        dead_code(&mut self.program);
        self.program
    }
}

/// Only floats have derivatives, and only inputs and outputs that there are.
fn check<'p>(program: &'p Program, wrt: &[usize], outputs: &[usize]) -> Result<&'p Function, Error> {
    let main = program.main();
    check_list("input", &main.param_types(), wrt)?;
    check_list("output", &main.result_types(), outputs)?;
    Ok(main)
}

fn check_list(what: &str, types: &[Type], list: &[usize]) -> Result<(), Error> {
    for k in list {
        match types.get(*k) {
            None => {
                let message = format!("there is no {what} {k}: the Program has {} of them", types.len());
                return Err(Error::new(ErrorKind::Argument, Pos::unknown(), message));
            }
            Some(ty) if !ty.dtype.is_float() => {
                let message = format!("{what} {k} is {ty}; only floats have derivatives");
                return Err(Error::new(ErrorKind::DType, Pos::unknown(), message));
            }
            Some(_) => {}
        }
    }
    Ok(())
}
