//! From expressions to a Program: every entry becomes operations of the tracer, which all front ends share.

mod guard;

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use retrograd::numpy::{Along, Start};
use retrograd::trace::{Traced, TracedRule, Tracer};
use retrograd::{Array, Attrs, DType, Error, ErrorKind, Part, Pos, Program, Type, ops};

use crate::dag::{Dag, Id};
use crate::expr::{ArrayOp, Custom, Expr, Fold, Op};
use crate::function::Function;
use crate::number::{Fraction, Number};
use guard::Guarded;

/// Sums inside of sums.
const FOLDS: usize = 32;
/// Integer powers up to this one are products.
const PRODUCTS: i64 = 16;

/// Errors of lowering and of runs name this file and, as their line, the entry.
const FILE: &str = "subexpression";

impl Expr {
    /// The Program that computes it from inputs of these names and types, in that order. All that it reads must be
    /// among them.
    ///
    /// ```
    /// use retrograd::{Array, Type, eval};
    /// use retrograd_expr::Expr;
    /// let program = Expr::parse("sum(W @ x) + b")?.program(&[("W", Type::f64([2, 2])), ("x", Type::f64([2])), ("b", Type::f64([]))])?;
    /// let inputs = [Array::f64([2, 2], vec![1.0, 2.0, 3.0, 4.0]), Array::f64([2], vec![1.0, 1.0]), Array::scalar(0.5)];
    /// assert_eq!(eval::run(&program, &inputs)?, [Array::scalar(10.5)]);
    /// # Ok::<(), retrograd::Error>(())
    /// ```
    pub fn program(&self, inputs: &[(&str, Type)]) -> Result<Program, Error> {
        program(std::slice::from_ref(self), inputs)
    }
}

/// The Program that computes several expressions.
pub fn program(exprs: &[Expr], inputs: &[(&str, Type)]) -> Result<Program, Error> {
    let tracer = Tracer::new("main");
    let mut named = BTreeMap::new();
    for (name, ty) in inputs {
        if named.insert(*name, tracer.input(ty.clone())).is_some() {
            return Err(argument(format!("the input `{name}` is given twice")));
        }
    }
    let results = trace(&tracer, exprs, &named)?;
    tracer.finish(&results).map_err(|error| explained(error, exprs))
}

/// Traces expressions over values of these names.
fn trace(tracer: &Tracer, exprs: &[Expr], inputs: &BTreeMap<&str, Traced>) -> Result<Vec<Traced>, Error> {
    let guarded = Guarded::of(Dag::of_all(exprs));
    let types: Vec<DType> = inputs.values().map(|value| tracer.ty(*value).dtype).collect();
    let float = if types.contains(&DType::F32) && !types.contains(&DType::F64) { DType::F32 } else { DType::F64 };
    let roots = guarded.dag.roots.clone();
    let mut lowering = Lowering {
        tracer,
        inputs,
        values: vec![None; guarded.dag.len()],
        guarded,
        float,
        indices: HashMap::new(),
        folds: 0,
    };
    roots.iter().map(|root| lowering.value(*root)).collect::<Result<_, _>>().map_err(|error| explained(error, exprs))
}

/// An error at an entry says which subexpression that is.
pub(crate) fn explained(error: Error, exprs: &[Expr]) -> Error {
    if error.pos.file() != Some(FILE) {
        return error;
    }
    let dag = Guarded::of(Dag::of_all(exprs)).dag;
    let Some(expr) = dag.exprs().get(error.pos.line() as usize) else { return error };
    let mut shown = expr.to_string();
    if shown.chars().count() > 100 {
        shown = format!("{}…", shown.chars().take(100).collect::<String>());
    }
    Error::new(error.kind, Pos::unknown(), format!("{}, in `{shown}`", error.message))
}

fn argument(message: String) -> Error {
    Error::new(ErrorKind::Argument, Pos::unknown(), message)
}

struct Lowering<'t> {
    tracer: &'t Tracer,
    inputs: &'t BTreeMap<&'t str, Traced>,
    guarded: Guarded,
    /// The element type of numbers.
    float: DType,
    values: Vec<Option<Traced>>,
    /// Indices of open sums, as integers.
    indices: HashMap<Arc<str>, Traced>,
    folds: usize,
}

impl Lowering<'_> {
    /// The value of an entry; what it needs first is traced before it, deepest first.
    fn value(&mut self, root: Id) -> Result<Traced, Error> {
        let mut stack = vec![(root, false)];
        while let Some((id, ready)) = stack.pop() {
            if self.values[id].is_some() {
                continue;
            }
            if ready {
                self.values[id] = Some(self.entry(id)?);
                continue;
            }
            stack.push((id, true));
            let missing = self.needs(id).into_iter().filter(|needed| self.values[*needed].is_none());
            stack.extend(missing.collect::<Vec<_>>().into_iter().rev().map(|needed| (needed, false)));
        }
        Ok(self.values[root].expect("traced above"))
    }

    /// What must be traced before an entry. The body of a sum is traced inside of its loop, and indices are integers of
    /// their own.
    fn needs(&self, id: Id) -> Vec<Id> {
        let args = self.guarded.dag.args(id);
        let traced = match self.guarded.dag.op(id) {
            Op::Fold(..) => 0,
            Op::Index => 1,
            Op::Number(_)
            | Op::Constant(_)
            | Op::Variable(_)
            | Op::Call(_)
            | Op::Array(_)
            | Op::Einsum(_)
            | Op::Stack => args.len(),
            Op::StopGradient | Op::Custom(_) => args.len(),
        };
        args[..traced].iter().copied().chain(self.guarded.conditions.get(&id).copied()).collect()
    }

    /// What we made ourselves is no part of what the user wrote, whose roundings stay.
    fn pos(&self, id: Id) -> Pos {
        let pos = Pos::new(FILE, u32::try_from(id).unwrap_or(u32::MAX));
        if self.guarded.dag.is_derived(id) { pos.in_part(Part::Backward) } else { pos }
    }

    fn entry(&mut self, id: Id) -> Result<Traced, Error> {
        let (pos, args) = (self.pos(id), self.guarded.dag.args(id).to_vec());
        match self.guarded.dag.op(id).clone() {
            Op::Number(x) => Ok(self.number(x.to_f64(), &pos)),
            Op::Constant(constant) => Ok(self.number(constant.to_f64(), &pos)),
            Op::Variable(name) => self.variable(&name, &pos),
            Op::Call(function) => self.call(id, function, &pos),
            Op::Array(array) => self.array(array, &self.all(&args), &pos),
            Op::Einsum(subscripts) => self.tracer.einsum(&subscripts, &self.all(&args), &pos),
            Op::Stack => self.stack(&self.all(&args), &pos),
            Op::Index => self.index(&args, &pos),
            Op::Fold(fold, index) => self.fold(fold, &index, &args, &pos),
            Op::StopGradient => self.stop_gradient(self.known(args[0]), &pos),
            Op::Custom(custom) => self.custom(&custom, &self.all(&args), &pos),
        }
    }

    fn known(&self, id: Id) -> Traced {
        self.values[id].expect("arguments are traced first")
    }

    fn all(&self, ids: &[Id]) -> Vec<Traced> {
        ids.iter().map(|id| self.known(*id)).collect()
    }

    fn number(&self, x: f64, pos: &Pos) -> Traced {
        self.tracer.constant(Array::number(self.float, x), pos)
    }

    fn map(&self, function: Function, args: &[Traced], pos: &Pos) -> Result<Traced, Error> {
        self.tracer.elementwise(function.row().op, args, pos)
    }

    fn variable(&self, name: &str, pos: &Pos) -> Result<Traced, Error> {
        let value = self.indices.get(name).or_else(|| self.inputs.get(name)).copied();
        let value =
            value.ok_or_else(|| Error::new(ErrorKind::Argument, pos.clone(), format!("`{name}` is not given")))?;
        // Formulas are about real numbers: integers become floats, conditions stay what they are.
        if self.tracer.ty(value).dtype == DType::Bool { Ok(value) } else { self.tracer.convert(value, self.float, pos) }
    }

    fn call(&mut self, id: Id, function: Function, pos: &Pos) -> Result<Traced, Error> {
        let ids = self.guarded.dag.args(id).to_vec();
        let mut args = self.all(&ids);
        if let Some(condition) = self.guarded.conditions.get(&id) {
            let (condition, safe) = (self.known(*condition), function.row().safe.unwrap_or_default());
            for (arg, safe) in args.iter_mut().zip(safe) {
                let condition = self.narrowed(condition, *arg, pos)?;
                *arg = self.map(Function::Select, &[condition, *arg, self.number(*safe, pos)], pos)?;
            }
        }
        let exponent = (function == Function::Pow).then(|| self.guarded.dag.op(ids[1]).clone());
        match exponent {
            Some(Op::Number(Number::Fraction(exponent))) => self.power(&args, exponent, pos),
            Some(_) | None => self.map(function, &args, pos),
        }
    }

    /// Integer powers by squaring, and roots; what is left is a power.
    fn power(&self, args: &[Traced], exponent: Fraction, pos: &Pos) -> Result<Traced, Error> {
        let half = Fraction::new(1, 2).expect("a half is a fraction");
        let positive = if exponent < Fraction::ZERO { exponent.negated() } else { exponent };
        let power = match positive.as_integer() {
            Some(0) => return self.map(Function::Pow, args, pos),
            Some(n) if n <= PRODUCTS => self.product(args[0], n, pos)?,
            None if positive == half => self.map(Function::Sqrt, &[args[0]], pos)?,
            Some(_) | None => return self.map(Function::Pow, args, pos),
        };
        if exponent < Fraction::ZERO {
            self.map(Function::Div, &[self.number(1.0, pos), power], pos)
        } else {
            Ok(power)
        }
    }

    fn product(&self, factor: Traced, count: i64, pos: &Pos) -> Result<Traced, Error> {
        let (mut square, mut product, mut left) = (factor, None, count);
        loop {
            if left % 2 == 1 {
                product = Some(match product {
                    None => square,
                    Some(product) => self.map(Function::Mul, &[product, square], pos)?,
                });
            }
            left /= 2;
            match (left, product) {
                (0, Some(product)) => return Ok(product),
                _ => square = self.map(Function::Mul, &[square, square], pos)?,
            }
        }
    }

    /// Where a value is needed: a condition in the shape of the value, which holds where any element that reads it
    /// needs it.
    fn narrowed(&self, condition: Traced, value: Traced, pos: &Pos) -> Result<Traced, Error> {
        let (from, to) = (self.tracer.ty(condition).shape, self.tracer.ty(value).shape);
        let new = from.len().saturating_sub(to.len());
        let stretched = |axis: usize| axis < new || (to[axis - new] == 1 && from[axis] != 1);
        let axes: Vec<usize> = (0..from.len()).filter(|axis| stretched(*axis)).collect();
        if axes.is_empty() {
            return Ok(condition);
        }
        let any = self.tracer.op(&ops::ANY, Attrs::none().ints("axes", axes), &[condition], pos)?;
        let shape: Vec<usize> = (new..from.len()).map(|axis| if stretched(axis) { 1 } else { from[axis] }).collect();
        self.tracer.reshape(any, &shape, pos)
    }

    fn array(&self, array: ArrayOp, args: &[Traced], pos: &Pos) -> Result<Traced, Error> {
        let ty = self.tracer.ty(args[0]);
        let axes: Vec<usize> = (0..ty.rank()).collect();
        let reduced = |row| self.tracer.op(row, Attrs::none().ints("axes", axes.clone()), &[args[0]], pos);
        match array {
            ArrayOp::Sum | ArrayOp::Mean | ArrayOp::Prod | ArrayOp::Any if axes.is_empty() => Ok(args[0]),
            ArrayOp::Sum => self.tracer.sum(args[0], &axes, pos),
            ArrayOp::Mean => {
                let sum = self.tracer.sum(args[0], &axes, pos)?;
                self.map(Function::Div, &[sum, self.number(ty.elements() as f64, pos)], pos)
            }
            ArrayOp::Prod => reduced(&ops::PROD),
            ArrayOp::Any => reduced(&ops::ANY),
            ArrayOp::Dot => self.tracer.dot(args[0], args[1], pos),
            ArrayOp::Transpose if axes.len() < 2 => Ok(args[0]),
            ArrayOp::Transpose => self.tracer.transpose(args[0], &axes.into_iter().rev().collect::<Vec<_>>(), pos),
            ArrayOp::Det => self.tracer.of_matrices(&ops::DET, args[0], pos),
            ArrayOp::Inverse => self.tracer.of_matrices(&ops::INVERSE, args[0], pos),
            ArrayOp::Trace => self.tracer.einsum("ii->", args, pos),
            ArrayOp::Norm => {
                let squares = self.map(Function::Mul, &[args[0], args[0]], pos)?;
                let sum = if axes.is_empty() { squares } else { self.tracer.sum(squares, &axes, pos)? };
                self.map(Function::Sqrt, &[sum], pos)
            }
        }
    }

    /// The arguments, broadcast to one shape, along a new first axis.
    fn stack(&self, args: &[Traced], pos: &Pos) -> Result<Traced, Error> {
        let shapes: Vec<Vec<usize>> = args.iter().map(|arg| self.tracer.ty(*arg).shape).collect();
        let widest = shapes
            .iter()
            .max_by_key(|shape| (shape.len(), shape.iter().product::<usize>()))
            .expect("lists have elements");
        let row = [&[1], &widest[..]].concat();
        let rows = args.iter().map(|arg| {
            let whole = self.tracer.broadcast_to(*arg, widest, pos)?;
            self.tracer.reshape(whole, &row, pos)
        });
        self.tracer.concat(&rows.collect::<Result<Vec<_>, _>>()?, 0, pos)
    }

    fn index(&mut self, args: &[Id], pos: &Pos) -> Result<Traced, Error> {
        let array = self.known(args[0]);
        let ty = self.tracer.ty(array);
        if args.len() - 1 > ty.rank() {
            let message = format!("{} indices for {ty}", args.len() - 1);
            return Err(Error::new(ErrorKind::Shape, pos.clone(), message));
        }
        let mut place = vec![];
        for (axis, id) in args[1..].iter().enumerate() {
            let literal = if let Op::Number(x) = self.guarded.dag.op(*id) { Some(*x) } else { None };
            place.push(Along::Index(match literal {
                Some(x) => Start::At(fixed_index(x, axis, &ty, pos)?),
                None => Start::Value(self.integer(*id, pos)?),
            }));
        }
        self.tracer.read(array, &place, pos)
    }

    /// An entry as an integer: made of integers, indices and integer inputs by sums and products.
    fn integer(&self, root: Id, pos: &Pos) -> Result<Traced, Error> {
        let dag = &self.guarded.dag;
        let mut known: HashMap<Id, Traced> = HashMap::new();
        let mut stack = vec![(root, false)];
        while let Some((id, ready)) = stack.pop() {
            if !ready {
                stack.push((id, true));
                stack.extend(dag.args(id).iter().map(|arg| (*arg, false)));
                continue;
            }
            let args: Vec<Traced> = dag.args(id).iter().map(|arg| known[arg]).collect();
            let value = match dag.op(id) {
                Op::Number(Number::Fraction(x)) if x.as_integer().is_some() => {
                    self.tracer.constant(Array::int(x.numerator()), pos)
                }
                Op::Variable(name) => {
                    let value = self.indices.get(name).or_else(|| self.inputs.get(&**name)).copied();
                    value
                        .filter(|value| self.tracer.ty(*value) == Type::scalar(DType::I64))
                        .ok_or_else(|| not_integer(name, pos))?
                }
                Op::Call(function @ (Function::Add | Function::Sub | Function::Mul | Function::Neg)) => {
                    self.map(*function, &args, pos)?
                }
                Op::Number(_)
                | Op::Constant(_)
                | Op::Call(_)
                | Op::Array(_)
                | Op::Einsum(_)
                | Op::Stack
                | Op::Index
                | Op::Fold(..) => {
                    return Err(not_integer("this", pos));
                }
                Op::StopGradient | Op::Custom(_) => return Err(not_integer("this", pos)),
            };
            known.insert(id, value);
        }
        Ok(known[&root])
    }

    /// A loop that adds or multiplies the values of the body.
    fn fold(&mut self, fold: Fold, index: &Arc<str>, args: &[Id], pos: &Pos) -> Result<Traced, Error> {
        if self.folds == FOLDS {
            return Err(Error::new(
                ErrorKind::Unsupported,
                pos.clone(),
                format!("sums are inside of each other more than {FOLDS} deep"),
            ));
        }
        let mentions = self.guarded.dag.mentions(index);
        // What does not depend on the index is traced once, before the loop.
        for id in self.outside(args[0], &mentions) {
            self.value(id)?;
        }
        let (low, high) = (self.integer(args[1], pos)?, self.integer(args[2], pos)?);
        let one = self.tracer.constant(Array::int(1), pos);
        let length = self.map(Function::Sub, &[high, low], pos)?;
        let length = self.map(Function::Add, &[length, one], pos)?;
        let zero = self.tracer.constant(Array::int(0), pos);
        let count = self.map(Function::Max, &[length, zero], pos)?;
        let (start, function) = match fold {
            Fold::Sum => (0.0, Function::Add),
            Fold::Product => (1.0, Function::Mul),
        };
        let mut ty = Type::scalar(self.float);
        self.folds += 1;
        // The shape of the body is known once it is traced; a second trace starts with zeros of that shape.
        let result = loop {
            let first = self.tracer.full(&ty, start, pos)?;
            let (step, carries, _) = self.tracer.begin_for(count, &[first], &[], pos)?;
            let before = self.values.clone();
            let position = self.map(Function::Add, &[step, low], pos)?;
            let outer = self.indices.insert(index.clone(), position);
            let body = self.value(args[0]);
            self.indices.remove(index);
            self.indices.extend(outer.map(|value| (index.clone(), value)));
            self.values = before;
            let body = match body {
                Ok(body) => body,
                Err(error) => {
                    self.tracer.abandon();
                    return Err(error);
                }
            };
            let found = self.tracer.ty(body);
            if found != ty {
                self.tracer.abandon();
                ty = found;
                continue;
            }
            let next = self.map(function, &[carries[0], body], pos)?;
            break self.tracer.end_for(&[next], &[])?[0];
        };
        self.folds -= 1;
        Ok(result)
    }

    /// The first entries below one that do not mention an index.
    fn outside(&self, body: Id, mentions: &[bool]) -> Vec<Id> {
        let (mut found, mut stack, mut seen) = (vec![], vec![body], vec![false; self.guarded.dag.len()]);
        while let Some(id) = stack.pop() {
            if std::mem::replace(&mut seen[id], true) {
                continue;
            }
            if !mentions[id] {
                // What mentions the index of a sum around or inside is traced where that is open.
                if !self.mentions_closed_index(id) {
                    found.push(id);
                }
                continue;
            }
            if !matches!(self.guarded.dag.op(id), Op::Fold(..)) {
                stack.extend(self.needs(id));
            }
        }
        found.sort_unstable();
        found
    }

    /// Whether an entry reads an index whose loop is not open.
    fn mentions_closed_index(&self, id: Id) -> bool {
        self.guarded
            .indices
            .iter()
            .any(|index| !self.indices.contains_key(index) && self.guarded.dag.mentions(index)[id])
    }

    fn stop_gradient(&self, value: Traced, pos: &Pos) -> Result<Traced, Error> {
        let ty = self.tracer.ty(value);
        if !ty.dtype.is_float() {
            return Ok(value);
        }
        let params = self.tracer.begin_function(std::slice::from_ref(&ty), pos);
        let body = self.tracer.end_function(&params)?;
        self.tracer.begin_function(&[ty.clone(), ty.clone()], pos);
        // A tangent of literal zeros depends on nothing, so nothing before it is differentiated.
        let zeros = self.tracer.constant(Array::zeros(&ty), pos);
        let tangent = self.tracer.end_function(&[zeros])?;
        Ok(self.tracer.call(body, TracedRule::Jvp { tangent }, &[value], pos)?[0])
    }

    fn custom(&self, custom: &Custom, args: &[Traced], pos: &Pos) -> Result<Traced, Error> {
        let types: Vec<Type> = args.iter().map(|arg| self.tracer.ty(*arg)).collect();
        let names: Vec<&str> = custom.params.iter().map(|name| &**name).collect();
        let named = |values: &[Traced]| -> BTreeMap<&str, Traced> {
            names.iter().copied().zip(values.iter().copied()).collect()
        };
        let of_body = |params: &[Traced]| {
            Ok::<_, Error>(trace(self.tracer, std::slice::from_ref(&custom.body), &named(params))?[0])
        };

        let params = self.tracer.begin_function(&types, pos);
        let result = of_body(&params).inspect_err(|_| self.tracer.abandon())?;
        let result_type = self.tracer.ty(result);
        let body = self.tracer.end_function(&[result])?;

        let params = self.tracer.begin_function(&types, pos);
        let result = of_body(&params).inspect_err(|_| self.tracer.abandon())?;
        let forward = self.tracer.end_function(&[&[result][..], &params, &[result]].concat())?;

        let params = self.tracer.begin_function(&[&types[..], &[result_type.clone(), result_type]].concat(), pos);
        let mut values = named(&params);
        values.insert("r", params[types.len()]);
        values.insert("ct", params[types.len() + 1]);
        let cotangents = || -> Result<Vec<Traced>, Error> {
            let found = trace(self.tracer, &custom.backward, &values)?;
            found.iter().zip(&types).map(|(found, ty)| self.fitted(*found, ty, pos)).collect()
        };
        let cotangents = cotangents().inspect_err(|_| self.tracer.abandon())?;
        let backward = self.tracer.end_function(&cotangents)?;
        Ok(self.tracer.call(body, TracedRule::Vjp { forward, backward }, args, pos)?[0])
    }

    /// A cotangent in the shape of its argument: sums over axes along which the argument was repeated.
    fn fitted(&self, value: Traced, ty: &Type, pos: &Pos) -> Result<Traced, Error> {
        let from = self.tracer.ty(value).shape;
        let new = from.len().saturating_sub(ty.rank());
        let axes: Vec<usize> =
            (0..from.len()).filter(|axis| *axis < new || ty.shape[axis - new] == 1 && from[*axis] != 1).collect();
        let value = if axes.is_empty() { value } else { self.tracer.sum(value, &axes, pos)? };
        let kept: Vec<usize> =
            (new..from.len()).map(|axis| if axes.contains(&axis) { 1 } else { from[axis] }).collect();
        let value = self.tracer.reshape(value, &kept, pos)?;
        self.tracer.broadcast_to(value, &ty.shape, pos)
    }
}

/// A literal index; a negative one counts from the end.
fn fixed_index(x: Number, axis: usize, ty: &Type, pos: &Pos) -> Result<usize, Error> {
    let extent = ty.shape[axis];
    let index = x.fraction().and_then(Fraction::as_integer).map(|n| if n < 0 { n + extent as i64 } else { n });
    match index.and_then(|n| usize::try_from(n).ok()).filter(|n| *n < extent) {
        Some(n) => Ok(n),
        None => {
            let message = format!("index {x} of axis {axis} of {ty}, which has {extent} elements");
            Err(Error::new(ErrorKind::Shape, pos.clone(), message))
        }
    }
}

fn not_integer(name: &str, pos: &Pos) -> Error {
    let message = format!(
        "an index and the bounds of a sum are integers: literals, indices and i64 inputs, and sums and products of \
         them; `{name}` is not"
    );
    Error::new(ErrorKind::Argument, pos.clone(), message)
}
