//! Whole Jacobians: one map over basis vectors around the derivative in one direction.

use std::fmt;

use super::{check, jvp, vjp};
use crate::ir::{Attr, Attrs, Builder, DType, Error, ErrorKind, ForOp, Function, Op, Pos, Program, Type, Value};
use crate::ops::{EQ, IOTA, RESHAPE, SLICE, SUB, TRANSPOSE};
use crate::opt::dead_code;

/// Which derivative a Jacobian is made of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Direction {
    /// jvp: one column per element of the inputs.
    Forward,
    /// vjp: one row per element of the outputs.
    Reverse,
}

impl fmt::Display for Direction {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Direction::Forward => "forward",
            Direction::Reverse => "reverse",
        })
    }
}

/// How many basis vectors a Jacobian takes in each direction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Seeds {
    /// Elements of the inputs.
    pub forward: usize,
    /// Elements of the outputs.
    pub reverse: usize,
}

impl Seeds {
    /// The direction that takes fewer; forward where both take as many, since it keeps nothing.
    ///
    /// ```
    /// use retrograd_compiler::diff::{Direction, Seeds};
    /// assert_eq!(Seeds { forward: 100, reverse: 3 }.direction(), Direction::Reverse);
    /// assert_eq!(Seeds { forward: 3, reverse: 3 }.direction(), Direction::Forward);
    /// ```
    pub fn direction(&self) -> Direction {
        if self.forward <= self.reverse { Direction::Forward } else { Direction::Reverse }
    }
}

impl fmt::Display for Seeds {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (taken, other) = match self.direction() {
            Direction::Forward => (self.forward, Direction::Reverse),
            Direction::Reverse => (self.reverse, Direction::Forward),
        };
        let word = if taken == 1 { "seed" } else { "seeds" };
        write!(f, "{}, {taken} {word} ({other} would take {})", self.direction(), self.forward + self.reverse - taken)
    }
}

/// How many basis vectors the Jacobian of these outputs with respect to these inputs takes.
///
/// ```
/// use retrograd_compiler::{diff, ir::{Builder, Program, Type}};
/// let b = Builder::new("broadcast");
/// let x = b.param(Type::f64([]));
/// let y = b.broadcast(x, &[3], &[]);
/// let seeds = diff::seeds(&Program::new(b.finish(vec![y])), &[0], &[0])?;
/// assert_eq!(seeds.to_string(), "forward, 1 seed (reverse would take 3)");
/// # Ok::<(), retrograd_compiler::ir::Error>(())
/// ```
pub fn seeds(program: &Program, wrt: &[usize], outputs: &[usize]) -> Result<Seeds, Error> {
    let main = check(program, wrt, outputs)?;
    let elements = |types: Vec<Type>, list: &[usize]| list.iter().map(|k| types[*k].elements()).sum();
    Ok(Seeds { forward: elements(main.param_types(), wrt), reverse: elements(main.result_types(), outputs) })
}

/// The entry takes the inputs and returns the Jacobian of each listed output, in order, by each input in `wrt`: an
/// array with the axes of the output, then those of the input.
///
/// It is one map over the basis vectors of all listed outputs (or inputs), so that code and memory stay those of one
/// vjp (or jvp) and the result; the function itself is run again for each of them.
///
/// ```
/// use retrograd_compiler::diff::{self, Direction};
/// use retrograd_compiler::{eval, ir::{Array, Builder, Program, Type}};
///
/// let b = Builder::new("squares");
/// let x = b.param(Type::f64([2]));
/// let y = b.mul(x, x);
/// let squares = Program::new(b.finish(vec![y]));
/// for direction in [Direction::Forward, Direction::Reverse] {
///     let jacobian = diff::jacobian(&squares, &[0], &[0], direction)?;
///     let results = eval::run(&jacobian, &[Array::f64([2], vec![3.0, 5.0])])?;
///     assert_eq!(results, [Array::f64([2, 2], vec![6.0, 0.0, 0.0, 10.0])]);
/// }
/// # Ok::<(), retrograd_compiler::ir::Error>(())
/// ```
pub fn jacobian(program: &Program, wrt: &[usize], outputs: &[usize], direction: Direction) -> Result<Program, Error> {
    let main = check(program, wrt, outputs)?;
    check_ranks(main, wrt, outputs)?;
    let at = |types: Vec<Type>, list: &[usize]| list.iter().map(|k| types[*k].clone()).collect::<Vec<_>>();
    let (inputs, ends) = (at(main.param_types(), wrt), at(main.result_types(), outputs));
    let (derived, seeds) = match direction {
        Direction::Forward => (jvp(program, wrt, outputs)?, &inputs),
        Direction::Reverse => (vjp(program, wrt, outputs)?, &ends),
    };
    let b = Builder::new(format!("{}_jacobian", main.name));
    b.set_pos(&pos_of(main, outputs));
    let (mut derived, rows) = map_over_basis(derived, &b, main, seeds);
    let block = |output: usize, input: usize| match direction {
        Direction::Forward => row_axes_first(&b, rows[output], &inputs, input),
        Direction::Reverse => seed_axes_first(&b, rows[input], &ends, output),
    };
    let blocks = (0..ends.len()).flat_map(|output| (0..inputs.len()).map(move |input| (output, input)));
    let results = blocks.map(|(output, input)| block(output, input)).collect();
    derived.entry = derived.add(b.finish(results));
    dead_code(&mut derived);
    Ok(derived)
}

/// An axis per axis of the output and of the input must fit into one array.
fn check_ranks(main: &Function, wrt: &[usize], outputs: &[usize]) -> Result<(), Error> {
    for output in outputs {
        for input in wrt {
            let (y, x) = (main.ty(main.results[*output]), main.ty(main.params[*input]));
            if y.rank() + x.rank() > Type::MAX_RANK {
                let message = format!(
                    "the Jacobian of {y} by {x} has {} axes, more than {}; reshape",
                    y.rank() + x.rank(),
                    Type::MAX_RANK
                );
                return Err(Error::new(ErrorKind::Unsupported, pos_of(main, outputs), message));
            }
        }
    }
    Ok(())
}

/// Where the first of these outputs was made.
fn pos_of(main: &Function, outputs: &[usize]) -> Pos {
    let made = outputs.first().and_then(|k| main.insts.iter().find(|inst| inst.results.contains(&main.results[*k])));
    made.map(|inst| inst.pos.clone()).unwrap_or_default()
}

/// Emits a map over all basis vectors of these types around a derivative; returns its streams, one row per basis
/// vector.
fn map_over_basis(mut derived: Program, b: &Builder, main: &Function, seeds: &[Type]) -> (Program, Vec<Value>) {
    let step = Builder::new(format!("{}_seed", main.name));
    let index = step.param(Type::scalar(DType::I64));
    let mut args = step.params(main.param_types());
    args.extend(basis_vector(&step, index, seeds));
    let derivatives = step.inline(derived.main(), &args).split_off(main.results.len());
    let types = step.types(&derivatives);
    let body = derived.add(step.finish(derivatives));

    let inputs = b.params(main.param_types());
    let bound = seeds.iter().map(Type::elements).sum();
    let op = Op::For(ForOp { body, carries: 0, invariants: inputs.len(), bound });
    let args = [vec![b.int(bound as i64)], inputs].concat();
    let rows = b.push(op, args, types.iter().map(|ty| ty.stream(bound)).collect());
    (derived, rows)
}

/// The basis vector of a number, over the elements of all these types in order.
fn basis_vector(b: &Builder, index: Value, types: &[Type]) -> Vec<Value> {
    let mut offset = 0;
    let part = |ty: &Type| {
        let flat = Type::new(DType::I64, [ty.elements()]);
        let iota = b.op(&IOTA, Attrs::none().with("type", Attr::Type(flat.clone())).ints("axis", [0]), &[]);
        let place = b.op(&SUB, Attrs::none(), &[index, b.int(offset as i64)]);
        let hot = b.op(&EQ, Attrs::none(), &[iota, b.broadcast(place, &flat.shape, &[])]);
        offset += ty.elements();
        reshape(b, b.convert(hot, ty.dtype), &ty.shape)
    };
    types.iter().map(part).collect()
}

/// The rows of one seed's elements, under the axes of the seed, then of the row.
fn seed_axes_first(b: &Builder, rows: Value, seeds: &[Type], seed: usize) -> Value {
    let rows = rows_of(b, rows, seeds, seed);
    let shape = [&seeds[seed].shape, &b.ty(rows).shape[1..]].concat();
    reshape(b, rows, &shape)
}

/// The same with the axes of the row first.
fn row_axes_first(b: &Builder, rows: Value, seeds: &[Type], seed: usize) -> Value {
    let rows = rows_of(b, rows, seeds, seed);
    let ty = b.ty(rows);
    let last = b.op(&TRANSPOSE, Attrs::none().ints("axes", (1..ty.rank()).chain([0])), &[rows]);
    reshape(b, last, &[&ty.shape[1..], &seeds[seed].shape].concat())
}

fn rows_of(b: &Builder, rows: Value, seeds: &[Type], seed: usize) -> Value {
    let mut stop = b.ty(rows).shape;
    let start = seeds[..seed].iter().map(Type::elements).sum::<usize>();
    let size = seeds[seed].elements();
    if size == stop[0] {
        return rows;
    }
    let rank = stop.len();
    stop[0] = start + size;
    let from = (0..rank).map(|axis| if axis == 0 { start } else { 0 });
    b.op(&SLICE, Attrs::none().ints("start", from).ints("stop", stop).ints("step", vec![1; rank]), &[rows])
}

fn reshape(b: &Builder, value: Value, shape: &[usize]) -> Value {
    if b.ty(value).shape == shape {
        value
    } else {
        b.op(&RESHAPE, Attrs::none().ints("shape", shape.iter().copied()), &[value])
    }
}
