//! Values and derivatives of expressions for bindings of their variables, by machine code.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use retrograd::pipeline::{self, Compiled, Options, Wanted, strategy};
use retrograd::trace::Tracer;
use retrograd::{Array, Backend, Direction, Error, ErrorKind, Pos, Program, Type, cache};

use crate::expr::Expr;
use crate::lower::{explained, program};

/// Values of variables by name.
///
/// ```
/// use retrograd::Array;
/// use retrograd_expr::{Bindings, Expr, evaluate};
/// let at = Bindings::from([("x", 3.0)]).with("v", Array::f64([2], vec![1.0, 2.0]));
/// assert_eq!(evaluate(&Expr::parse("x*sum(v)")?, &at)?.as_f64(), [9.0]);
/// # Ok::<(), retrograd::Error>(())
/// ```
#[derive(Clone, Debug, Default)]
pub struct Bindings(BTreeMap<String, Array>);

impl Bindings {
    /// None.
    pub fn new() -> Bindings {
        Bindings::default()
    }

    /// These, and one more, which takes the place of one of its name.
    #[must_use]
    pub fn with(mut self, name: &str, value: Array) -> Bindings {
        self.0.insert(name.to_owned(), value);
        self
    }

    /// The value of that name.
    pub fn get(&self, name: &str) -> Option<&Array> {
        self.0.get(name)
    }

    /// All of them, by name.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &Array)> {
        self.0.iter().map(|(name, value)| (name.as_str(), value))
    }
}

impl<const N: usize> From<[(&str, f64); N]> for Bindings {
    fn from(values: [(&str, f64); N]) -> Bindings {
        Bindings(values.into_iter().map(|(name, x)| (name.to_owned(), Array::scalar(x))).collect())
    }
}

impl FromIterator<(String, Array)> for Bindings {
    fn from_iter<I: IntoIterator<Item = (String, Array)>>(values: I) -> Bindings {
        Bindings(values.into_iter().collect())
    }
}

/// An expression, or a derivative of it by some variables, as a function of bindings: compiled once for each set of
/// types.
///
/// ```
/// use retrograd_expr::{Bindings, Expr, grad};
/// let g = grad(&Expr::parse("x*y + y*z + z*x")?, &["x", "y", "z"]);
/// let at = g.run(&Bindings::from([("x", 2.0), ("y", 3.0), ("z", 4.0)]))?;
/// assert_eq!(at.iter().map(|part| part.as_f64()[0]).collect::<Vec<_>>(), [7.0, 6.0, 5.0]);
/// # Ok::<(), retrograd::Error>(())
/// ```
#[derive(Debug)]
pub struct Derived {
    exprs: Vec<Expr>,
    wanted: Wanted,
    wrt: Vec<String>,
    /// What it reads, then what it is differentiated by besides.
    names: Vec<String>,
    compiled: Mutex<BTreeMap<Key, Arc<Compiled>>>,
}

/// Types of the inputs, and which of them are taken row by row; without any, it runs once.
type Key = (Vec<Type>, Vec<bool>);

impl Derived {
    /// What is wanted of expressions, by these variables.
    pub fn new(exprs: &[Expr], wanted: Wanted, wrt: &[&str]) -> Derived {
        let mut names: Vec<String> = crate::dag::free_vars(exprs).iter().map(ToString::to_string).collect();
        for name in wrt {
            if !names.iter().any(|known| known == name) {
                names.push((*name).to_owned());
            }
        }
        let wrt = wrt.iter().map(ToString::to_string).collect();
        Derived { exprs: exprs.to_vec(), wanted, wrt, names, compiled: Mutex::default() }
    }

    /// Names of its inputs, in order.
    pub fn names(&self) -> &[String] {
        &self.names
    }

    /// Runs it.
    pub fn run(&self, at: &Bindings) -> Result<Vec<Array>, Error> {
        self.run_with(at, &[])
    }

    /// Runs it with cotangents, tangents or directions, where what is wanted takes any.
    pub fn run_with(&self, at: &Bindings, seeds: &[Array]) -> Result<Vec<Array>, Error> {
        let inputs = self.inputs(at)?;
        let types: Vec<Type> = inputs.iter().map(|array| array.ty()).collect();
        let compiled = self.compiled((types, vec![]), |types| self.traced(types), self.wanted)?;
        let all: Vec<&Array> = inputs.into_iter().chain(seeds).collect();
        compiled.run(&all).map_err(|error| explained(error, &self.exprs))
    }

    /// Runs it once for each row of the bindings named: their first axis counts them, others are the same for all. The
    /// rows are shared by all cores, in vectors where that can be.
    ///
    /// ```
    /// use retrograd::Array;
    /// use retrograd_expr::{Bindings, Expr, grad};
    /// let g = grad(&Expr::parse("a*x^2")?, &["x", "a"]);
    /// let at = Bindings::from([("a", 3.0)]).with("x", Array::f64([4], vec![0.0, 1.0, 2.0, 3.0]));
    /// let parts = g.run_batch(&at, &["x"])?;
    /// assert_eq!(parts[0].as_f64(), [0.0, 6.0, 12.0, 18.0]);
    /// assert_eq!(parts[1].as_f64(), [0.0, 1.0, 4.0, 9.0]);
    /// # Ok::<(), retrograd::Error>(())
    /// ```
    pub fn run_batch(&self, at: &Bindings, batched: &[&str]) -> Result<Vec<Array>, Error> {
        if let Some(name) = batched.iter().find(|name| !self.names.iter().any(|known| known == **name)) {
            return Err(argument(format!("there is no variable `{name}` to take rows of")));
        }
        let inputs = self.inputs(at)?;
        let types: Vec<Type> = inputs.iter().map(|array| array.ty()).collect();
        let rows: Vec<bool> = self.names.iter().map(|name| batched.contains(&name.as_str())).collect();
        let compiled = self.compiled((types, rows.clone()), |types| self.over_rows(types, &rows), Wanted::Results)?;
        compiled.run(&inputs).map_err(|error| explained(error, &self.exprs))
    }

    /// The Program that computes what is wanted, for inputs of these types in the order of [`names`](Derived::names).
    pub fn program(&self, types: &[Type]) -> Result<Program, Error> {
        pipeline::derive(&self.traced(types)?, self.wanted, &self.argnums())
    }

    /// Which way a Jacobian goes, in words.
    pub fn mode(&self, at: &Bindings) -> Result<String, Error> {
        let types: Vec<Type> = self.inputs(at)?.iter().map(|array| array.ty()).collect();
        let program = self.traced(&types)?;
        let inputs: usize = self.argnums().iter().map(|k| types[*k].elements()).sum();
        let outputs: usize = program.main().result_types().iter().map(Type::elements).sum();
        let forced = if let Wanted::Jacobian(direction) = self.wanted { direction } else { None };
        let forward = forced.map_or(inputs <= outputs, |direction| direction == Direction::Forward);
        let (chosen, seeds, other, others) =
            if forward { ("forward", inputs, "reverse", outputs) } else { ("reverse", outputs, "forward", inputs) };
        Ok(format!("{chosen}, {seeds} seeds ({other} would take {others})"))
    }

    /// Names the first operation that makes a NaN or an infinity, in an error; interpreted, slowly.
    pub fn debug_nan(&self, at: &Bindings) -> Result<Vec<Array>, Error> {
        let inputs: Vec<Array> = self.inputs(at)?.into_iter().cloned().collect();
        let types: Vec<Type> = inputs.iter().map(Array::ty).collect();
        pipeline::debug_nan(&self.program(&types)?, &inputs).map_err(|error| explained(error, &self.exprs))
    }

    fn argnums(&self) -> Vec<usize> {
        let place = |name: &String| {
            self.names.iter().position(|known| known == name).expect("they were added when it was made")
        };
        self.wrt.iter().map(place).collect()
    }

    fn inputs<'a>(&self, at: &'a Bindings) -> Result<Vec<&'a Array>, Error> {
        let given = |name: &String| at.get(name).ok_or_else(|| argument(format!("`{name}` is not given a value")));
        self.names.iter().map(given).collect()
    }

    fn traced(&self, types: &[Type]) -> Result<Program, Error> {
        let inputs: Vec<(&str, Type)> = self.names.iter().map(String::as_str).zip(types.iter().cloned()).collect();
        program(&self.exprs, &inputs)
    }

    /// A map over rows of what is wanted.
    fn over_rows(&self, types: &[Type], rows: &[bool]) -> Result<Program, Error> {
        let pos = Pos::unknown();
        let row = |(ty, batched): (&Type, &bool)| match (batched, ty.row()) {
            (false, _) => Ok(ty.clone()),
            (true, Some(row)) => Ok(row),
            (true, None) => Err(argument(format!("{ty} has no rows; give an array with one row for each run"))),
        };
        let row_types = types.iter().zip(rows).map(row).collect::<Result<Vec<_>, _>>()?;
        let counts: Vec<usize> =
            types.iter().zip(rows).filter(|(_, batched)| **batched).map(|(ty, _)| ty.shape[0]).collect();
        let Some(count) = counts.first() else {
            return Err(argument("name at least one variable to take rows of".into()));
        };
        if counts.iter().any(|other| other != count) {
            return Err(argument(format!("the bindings have different numbers of rows: {counts:?}")));
        }
        let one = self.program(&row_types)?;
        let tracer = Tracer::new("main");
        let inputs: Vec<_> = types.iter().map(|ty| tracer.input(ty.clone())).collect();
        let streams: Vec<_> =
            inputs.iter().zip(rows).filter(|(_, batched)| **batched).map(|(input, _)| *input).collect();
        let steps = tracer.constant(Array::int(*count as i64), &pos);
        let (_, _, taken) = tracer.begin_for(steps, &[], &streams, &pos)?;
        let mut taken = taken.into_iter();
        let args: Vec<_> = inputs
            .iter()
            .zip(rows)
            .map(|(input, batched)| if *batched { taken.next().expect("one row per stream") } else { *input })
            .collect();
        let results = tracer.call_program(&one, &args, &pos)?;
        let results = tracer.end_for(&[], &results)?;
        tracer.finish(&results)
    }

    fn compiled(
        &self,
        key: Key,
        trace: impl FnOnce(&[Type]) -> Result<Program, Error>,
        wanted: Wanted,
    ) -> Result<Arc<Compiled>, Error> {
        let known = || self.compiled.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(found) = known().get(&key) {
            return Ok(found.clone());
        }
        let argnums = if wanted == Wanted::Results { vec![] } else { self.argnums() };
        let options = Options {
            wanted,
            argnums,
            strategy: strategy::all()[0].clone(),
            budget: None,
            backend: Backend::default(),
            spill: None,
            threads: pipeline::cores(),
            arithmetic: pipeline::Arithmetic::default(),
        };
        let made = cache::compile(&trace(&key.0)?, &options).map_err(|error| explained(error, &self.exprs))?;
        let made = Arc::new(made);
        known().insert(key, made.clone());
        Ok(made)
    }
}

fn argument(message: String) -> Error {
    Error::new(ErrorKind::Argument, Pos::unknown(), message)
}

fn one(expr: &Expr, wanted: Wanted, wrt: &[&str]) -> Derived {
    Derived::new(std::slice::from_ref(expr), wanted, wrt)
}

/// The value of an expression.
///
/// ```
/// use retrograd_expr::{Bindings, Expr, evaluate};
/// assert_eq!(evaluate(&Expr::parse("piecewise(x < 0, -x, x < 1, x^2, 2*x - 1)")?, &Bindings::from([("x", 0.5)]))?.as_f64(), [0.25]);
/// assert_eq!(evaluate(&Expr::parse("sum(k^2, k, 1, 10)")?, &Bindings::new())?.as_f64(), [385.0]);
/// # Ok::<(), retrograd::Error>(())
/// ```
pub fn evaluate(expr: &Expr, at: &Bindings) -> Result<Array, Error> {
    Ok(one(expr, Wanted::Results, &[]).run(at)?.remove(0))
}

/// The gradient of an expression whose value is a number, by each of the variables.
///
/// ```
/// use retrograd::Array;
/// use retrograd_expr::{Bindings, Expr, gradient};
/// let at = Bindings::new().with("y", Array::f64([2], vec![1.0, 2.0])).with("X", Array::f64([2, 2], vec![1.0; 4]));
/// let f = Expr::parse("sum([[5, 6], [7, 8]]*(X + y))")?;
/// assert_eq!(gradient(&f, &["y"], &at)?[0].as_f64(), [12.0, 14.0]);
/// # Ok::<(), retrograd::Error>(())
/// ```
pub fn gradient(expr: &Expr, wrt: &[&str], at: &Bindings) -> Result<Vec<Array>, Error> {
    grad(expr, wrt).run(at)
}

/// The gradient of an expression as a function of bindings.
pub fn grad(expr: &Expr, wrt: &[&str]) -> Derived {
    one(expr, Wanted::Gradient, wrt)
}

/// The value of an expression, then its gradient.
pub fn value_and_grad(expr: &Expr, wrt: &[&str]) -> Derived {
    one(expr, Wanted::ValueAndGradient, wrt)
}

/// The Jacobian of an expression by each of the variables, in the direction that takes fewer seeds, or in the one that
/// is given; [`Derived::mode`] says which.
///
/// ```
/// use retrograd_expr::{Bindings, Expr, jacobian};
/// let j = jacobian(&Expr::parse("(x^2 + y, x + y^2)")?, &["x", "y"], None);
/// let at = Bindings::from([("x", 2.0), ("y", 3.0)]);
/// let columns = j.run(&at)?;
/// assert_eq!((columns[0].as_f64(), columns[1].as_f64()), (&[4.0, 1.0][..], &[1.0, 6.0][..]));
/// assert_eq!(j.mode(&at)?, "forward, 2 seeds (reverse would take 2)");
/// # Ok::<(), retrograd::Error>(())
/// ```
pub fn jacobian(expr: &Expr, wrt: &[&str], direction: Option<Direction>) -> Derived {
    one(expr, Wanted::Jacobian(direction), wrt)
}

/// The Hessian of an expression whose value is a number: `hessian[i][j]` by two of the variables.
///
/// ```
/// use retrograd_expr::{Bindings, Expr, hessian};
/// let h = hessian(&Expr::parse("x^2*y + y^3")?, &["x", "y"], &Bindings::from([("x", 2.0), ("y", 3.0)]))?;
/// let numbers: Vec<Vec<f64>> = h.iter().map(|row| row.iter().map(|part| part.as_f64()[0]).collect()).collect();
/// assert_eq!(numbers, [[6.0, 4.0], [4.0, 18.0]]);
/// # Ok::<(), retrograd::Error>(())
/// ```
pub fn hessian(expr: &Expr, wrt: &[&str], at: &Bindings) -> Result<Vec<Vec<Array>>, Error> {
    let blocks = one(expr, Wanted::Hessian, wrt).run(at)?;
    Ok(if wrt.is_empty() { vec![] } else { blocks.chunks(wrt.len()).map(<[Array]>::to_vec).collect() })
}

/// The value of an expression, and a cotangent of each variable for a cotangent of the value.
///
/// ```
/// use retrograd_expr::{Bindings, Expr, vjp};
/// let (value, cts) = vjp(&Expr::parse("x^2*y")?, &["x", "y"], &Bindings::from([("x", 2.0), ("y", 3.0)]), retrograd::Array::scalar(10.0))?;
/// assert_eq!((value.as_f64()[0], cts[0].as_f64()[0], cts[1].as_f64()[0]), (12.0, 120.0, 40.0));
/// # Ok::<(), retrograd::Error>(())
/// ```
pub fn vjp(expr: &Expr, wrt: &[&str], at: &Bindings, cotangent: Array) -> Result<(Array, Vec<Array>), Error> {
    let mut all = one(expr, Wanted::Vjp, wrt).run_with(at, &[cotangent])?;
    let value = all.remove(0);
    Ok((value, all))
}

/// The value of an expression, and its tangent for tangents of the variables.
///
/// ```
/// use retrograd::Array;
/// use retrograd_expr::{Bindings, Expr, jvp};
/// let at = Bindings::from([("x", 2.0), ("y", 3.0)]);
/// let (value, tangent) = jvp(&Expr::parse("x^2*y")?, &["x", "y"], &at, &[Array::scalar(1.0), Array::scalar(1.0)])?;
/// assert_eq!((value.as_f64()[0], tangent.as_f64()[0]), (12.0, 16.0));
/// # Ok::<(), retrograd::Error>(())
/// ```
pub fn jvp(expr: &Expr, wrt: &[&str], at: &Bindings, tangents: &[Array]) -> Result<(Array, Array), Error> {
    let mut all = one(expr, Wanted::Jvp, wrt).run_with(at, tangents)?;
    let tangent = all.pop().ok_or_else(|| argument("there is no tangent".into()))?;
    Ok((all.remove(0), tangent))
}

/// The gradient by those of the variables that the expression mentions, with their places among them; the others are
/// zero, and nothing is computed for them.
///
/// ```
/// use retrograd::Array;
/// use retrograd_expr::{Bindings, Expr, sparse_gradient};
/// let names: Vec<String> = (0..100).map(|k| format!("x{k}")).collect();
/// let wrt: Vec<&str> = names.iter().map(String::as_str).collect();
/// let at: Bindings = names.iter().map(|name| (name.clone(), Array::scalar(2.0))).collect();
/// let parts = sparse_gradient(&Expr::parse("x3*x50 + x97^2")?, &wrt, &at)?;
/// assert_eq!(parts.iter().map(|(place, part)| (*place, part.as_f64()[0])).collect::<Vec<_>>(), [(3, 2.0), (50, 2.0), (97, 4.0)]);
/// # Ok::<(), retrograd::Error>(())
/// ```
pub fn sparse_gradient(expr: &Expr, wrt: &[&str], at: &Bindings) -> Result<Vec<(usize, Array)>, Error> {
    let mentioned = expr.free_vars();
    let places: Vec<usize> = (0..wrt.len()).filter(|k| mentioned.iter().any(|name| name == wrt[*k])).collect();
    let names: Vec<&str> = places.iter().map(|k| wrt[*k]).collect();
    Ok(places.into_iter().zip(gradient(expr, &names, at)?).collect())
}

/// What is done with a gradient that has NaNs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OnNan {
    /// An error that names the operation and the subexpression that made it.
    Refuse,
    /// Zeros take their place.
    Zero,
    /// They stay, and the warning says where they come from.
    Warn,
}

/// A bound on a gradient.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Clip {
    /// All parts together are scaled so that their Euclidean norm is at most this.
    Norm(f64),
    /// Every element is kept between minus this and this.
    Value(f64),
}

/// A gradient, and what is to be said about it.
#[derive(Clone, Debug, PartialEq)]
pub struct Checked {
    /// One part per variable.
    pub parts: Vec<Array>,
    /// Where a NaN came from, if one was found and kept.
    pub warning: Option<String>,
}

/// The gradient, first looked at for NaNs, then clipped.
///
/// ```
/// use retrograd_expr::{Bindings, Clip, Expr, OnNan, gradient_checked};
/// let f = Expr::parse("30*x + 40*y")?;
/// let at = Bindings::from([("x", 1.0), ("y", 1.0)]);
/// let clipped = gradient_checked(&f, &["x", "y"], &at, OnNan::Refuse, Some(Clip::Norm(1.0)))?;
/// assert_eq!((clipped.parts[0].as_f64()[0], clipped.parts[1].as_f64()[0]), (0.6, 0.8));
/// let root = gradient_checked(&Expr::parse("2*sqrt(x - 1)")?, &["x"], &Bindings::from([("x", 0.0)]), OnNan::Refuse, None);
/// assert!(root.unwrap_err().message.ends_with("in `sqrt(x - 1)`"));
/// # Ok::<(), retrograd::Error>(())
/// ```
pub fn gradient_checked(
    expr: &Expr,
    wrt: &[&str],
    at: &Bindings,
    on_nan: OnNan,
    clip: Option<Clip>,
) -> Result<Checked, Error> {
    let function = grad(expr, wrt);
    let mut parts = function.run(at)?;
    let mut warning = None;
    if parts.iter().any(|part| elements(part).iter().any(|x| x.is_nan())) {
        match on_nan {
            OnNan::Refuse => {
                function.debug_nan(at)?;
                return Err(Error::new(
                    ErrorKind::NotFinite,
                    Pos::unknown(),
                    "the gradient has a NaN that its inputs had",
                ));
            }
            OnNan::Zero => {
                parts = parts.iter().map(|part| mapped(part, |x| if x.is_nan() { 0.0 } else { x })).collect()
            }
            OnNan::Warn => {
                let found = function.debug_nan(at).err();
                warning = Some(
                    found.map_or_else(|| "the gradient has a NaN that its inputs had".into(), |error| error.message),
                );
            }
        }
    }
    Ok(Checked { parts: clip.map_or_else(|| parts.clone(), |clip| clipped(&parts, clip)), warning })
}

/// A gradient within a bound.
pub fn clipped(parts: &[Array], clip: Clip) -> Vec<Array> {
    match clip {
        Clip::Value(bound) => parts.iter().map(|part| mapped(part, |x| x.clamp(-bound, bound))).collect(),
        Clip::Norm(bound) => {
            // Scaled first, so that squares of large numbers do not overflow.
            let largest = parts.iter().flat_map(elements).fold(0.0_f64, |largest, x| largest.max(x.abs()));
            let squares: f64 = parts.iter().flat_map(elements).map(|x| (x / largest).powi(2)).sum();
            let norm = largest * squares.sqrt();
            let factor = if largest > 0.0 && norm > bound { bound / norm } else { 1.0 };
            parts.iter().map(|part| mapped(part, |x| x * factor)).collect()
        }
    }
}

/// The elements as f64.
pub(crate) fn elements(array: &Array) -> Vec<f64> {
    match array.data() {
        retrograd::Data::F32(x) => x.iter().map(|x| f64::from(*x)).collect(),
        retrograd::Data::F64(x) => x.clone(),
        retrograd::Data::I32(x) => x.iter().map(|x| f64::from(*x)).collect(),
        retrograd::Data::I64(x) => x.iter().map(|x| *x as f64).collect(),
        retrograd::Data::Bool(x) => x.iter().map(|x| f64::from(u8::from(*x))).collect(),
    }
}

fn mapped(array: &Array, f: impl Fn(f64) -> f64) -> Array {
    match array.data() {
        retrograd::Data::F32(x) => Array::f32(array.shape(), x.iter().map(|x| f(f64::from(*x)) as f32).collect()),
        retrograd::Data::F64(x) => Array::f64(array.shape(), x.iter().map(|x| f(*x)).collect()),
        retrograd::Data::I32(_) | retrograd::Data::I64(_) | retrograd::Data::Bool(_) => array.clone(),
    }
}
