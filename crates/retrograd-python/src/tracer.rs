//! The tracer as Python sees it: values are numbers, ops are named by their row, attributes are dicts.

use pyo3::exceptions::{PyRuntimeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyDict;
use retrograd::pipeline::{self, Wanted};
use retrograd::trace::{Traced, TracedFunction, TracedRule};
use retrograd::{Array, Attr, Attrs, Direction, EXACT, Error, OpDef, Pos, ops};

use crate::array::{dtype_of, from_numpy, to_numpy, type_of};
use crate::error::exception;

/// Builds one Program from operations in the order in which they happen.
#[pyclass(unsendable)]
pub(crate) struct Tracer {
    /// Gone once the Program is finished.
    tracer: Option<retrograd::trace::Tracer>,
    values: Vec<Traced>,
    functions: Vec<TracedFunction>,
}

/// A traced Program.
#[pyclass(frozen)]
pub(crate) struct Program(pub(crate) retrograd::Program);

#[pymethods]
impl Program {
    /// The text form.
    fn __str__(&self) -> String {
        self.0.to_string()
    }

    /// The lines that its instructions come from, in their order.
    fn places(&self) -> String {
        let insts = self.0.functions.iter().flat_map(|function| &function.insts);
        insts.map(|inst| format!("{}\n", inst.pos)).collect()
    }

    /// The Program with every operation rounded as it is written.
    fn exact(&self) -> Program {
        Program(pipeline::exact(&self.0))
    }

    /// The Program with less elementwise work, by laws of real numbers.
    fn fast_math(&self, py: Python<'_>) -> PyResult<Program> {
        Ok(Program(raised(py, py.detach(|| retrograd_expr::fast_math(&self.0)))?))
    }

    /// The Program that computes what is wanted, with respect to the inputs `argnums`.
    fn derive(&self, py: Python<'_>, wanted: &str, argnums: Vec<usize>) -> PyResult<Program> {
        Ok(Program(raised(py, pipeline::derive(&self.0, wanted_of(wanted)?, &argnums))?))
    }

    /// Types of the inputs, as (element type, extents).
    fn inputs(&self) -> Vec<(&'static str, Vec<usize>)> {
        self.0.main().param_types().into_iter().map(|ty| (ty.dtype.name(), ty.shape)).collect()
    }

    /// Interprets it, and says where the first NaN or infinity was made.
    fn debug_nan<'py>(&self, py: Python<'py>, inputs: Vec<Bound<'py, PyAny>>) -> PyResult<Vec<Bound<'py, PyAny>>> {
        let inputs = inputs.iter().map(from_numpy).collect::<PyResult<Vec<Array>>>()?;
        let results = raised(py, py.detach(|| pipeline::debug_nan(&self.0, &inputs)))?;
        results.iter().map(|array| to_numpy(py, array)).collect()
    }

    /// Holds derivatives to an order against finite differences and each other; modes are "fwd" and "rev".
    fn check_grads(
        &self,
        py: Python<'_>,
        inputs: Vec<Bound<'_, PyAny>>,
        order: usize,
        modes: Vec<String>,
    ) -> PyResult<()> {
        let inputs = inputs.iter().map(from_numpy).collect::<PyResult<Vec<Array>>>()?;
        let direction = |mode: &String| match mode.as_str() {
            "fwd" => Ok(Direction::Forward),
            "rev" => Ok(Direction::Reverse),
            other => Err(PyValueError::new_err(format!("the modes are \"fwd\" and \"rev\", found {other:?}"))),
        };
        let modes = modes.iter().map(direction).collect::<PyResult<Vec<_>>>()?;
        raised(py, py.detach(|| pipeline::check_grads(&self.0, &inputs, order, &modes)))
    }
}

/// What is computed, by its name in Python.
pub(crate) fn wanted_of(name: &str) -> PyResult<Wanted> {
    Ok(match name {
        "results" => Wanted::Results,
        "gradient" => Wanted::Gradient,
        "value_and_gradient" => Wanted::ValueAndGradient,
        "vjp" => Wanted::Vjp,
        "jvp" => Wanted::Jvp,
        "jacfwd" => Wanted::Jacobian(Some(Direction::Forward)),
        "jacrev" => Wanted::Jacobian(Some(Direction::Reverse)),
        "jacobian" => Wanted::Jacobian(None),
        "hvp" => Wanted::Hvp,
        "hessian" => Wanted::Hessian,
        other => return Err(PyValueError::new_err(format!("nothing is called `{other}`"))),
    })
}

/// A position as (file, line), or None.
type Place = Option<(String, u32)>;

/// Index, carries and rows inside the body of a loop.
type Opened = (usize, Vec<usize>, Vec<usize>);

#[pymethods]
impl Tracer {
    #[new]
    fn new(name: &str) -> Tracer {
        Tracer { tracer: Some(retrograd::trace::Tracer::new(name)), values: vec![], functions: vec![] }
    }

    fn input(&mut self, py: Python<'_>, dtype: &str, shape: Vec<usize>) -> PyResult<usize> {
        let value = self.tracer()?.input(type_of(py, dtype, shape)?);
        Ok(self.keep(value))
    }

    #[pyo3(name = "type")]
    fn ty(&self, value: usize) -> PyResult<(&'static str, Vec<usize>)> {
        let ty = self.tracer()?.ty(self.values[value]);
        Ok((ty.dtype.name(), ty.shape))
    }

    fn op(
        &mut self,
        py: Python<'_>,
        name: &str,
        attrs: &Bound<'_, PyDict>,
        args: Vec<usize>,
        pos: Place,
    ) -> PyResult<usize> {
        let row = row(name)?;
        let attrs = attrs_of(row, attrs)?;
        let args = self.all(&args);
        let value = raised(py, self.tracer()?.op(row, attrs, &args, &place(pos)))?;
        Ok(self.keep(value))
    }

    fn einsum(&mut self, py: Python<'_>, subscripts: &str, args: Vec<usize>, pos: Place) -> PyResult<usize> {
        let args = self.all(&args);
        let value = raised(py, self.tracer()?.einsum(subscripts, &args, &place(pos)))?;
        Ok(self.keep(value))
    }

    fn power(&mut self, py: Python<'_>, x: usize, exponent: usize, pos: Place) -> PyResult<usize> {
        let value = raised(py, self.tracer()?.power(self.values[x], self.values[exponent], &place(pos)))?;
        Ok(self.keep(value))
    }

    fn of_matrices(&mut self, py: Python<'_>, name: &str, a: usize, pos: Place) -> PyResult<usize> {
        let value = raised(py, self.tracer()?.of_matrices(row(name)?, self.values[a], &place(pos)))?;
        Ok(self.keep(value))
    }

    /// A row of the spectrum of matrices; what has no derivative is an error or zero.
    fn of_spectrum(&mut self, py: Python<'_>, name: &str, a: usize, zero: bool, pos: Place) -> PyResult<usize> {
        let degenerate = if zero { retrograd::Degenerate::IsZero } else { retrograd::Degenerate::Fails };
        let value = raised(py, self.tracer()?.of_spectrum(row(name)?, self.values[a], degenerate, &place(pos)))?;
        Ok(self.keep(value))
    }

    fn pinv(&mut self, py: Python<'_>, a: usize, cutoff: usize, pos: Place) -> PyResult<usize> {
        let value = raised(py, self.tracer()?.pinv(self.values[a], self.values[cutoff], &place(pos)))?;
        Ok(self.keep(value))
    }

    fn qr(&mut self, py: Python<'_>, a: usize, pos: Place) -> PyResult<(usize, usize)> {
        let (q, r) = raised(py, self.tracer()?.qr(self.values[a], &place(pos)))?;
        Ok((self.keep(q), self.keep(r)))
    }

    fn of_systems(
        &mut self,
        py: Python<'_>,
        name: &str,
        attrs: &Bound<'_, PyDict>,
        a: usize,
        b: usize,
        pos: Place,
    ) -> PyResult<usize> {
        let row = row(name)?;
        let (attrs, a, b) = (attrs_of(row, attrs)?, self.values[a], self.values[b]);
        let value = raised(py, self.tracer()?.of_systems(row, attrs, a, b, &place(pos)))?;
        Ok(self.keep(value))
    }

    /// Ends the run with this message where the condition does not hold; the tag comes back with the exception.
    fn check(&mut self, py: Python<'_>, condition: usize, message: &str, tag: &str, pos: Place) -> PyResult<()> {
        raised(py, self.tracer()?.check(self.values[condition], message, tag, &place(pos)))
    }

    fn constant(&mut self, value: &Bound<'_, PyAny>, pos: Place) -> PyResult<usize> {
        let value = self.tracer()?.constant(from_numpy(value)?, &place(pos));
        Ok(self.keep(value))
    }

    /// Index, carries and rows of the streams inside the body.
    #[pyo3(signature = (count, carries, pos, streams = vec![]))]
    fn begin_for(
        &mut self,
        py: Python<'_>,
        count: usize,
        carries: Vec<usize>,
        pos: Place,
        streams: Vec<usize>,
    ) -> PyResult<Opened> {
        let (carries, streams) = (self.all(&carries), self.all(&streams));
        let (index, carries, rows) =
            raised(py, self.tracer()?.begin_for(self.values[count], &carries, &streams, &place(pos)))?;
        Ok((self.keep(index), self.keep_all(carries), self.keep_all(rows)))
    }

    #[pyo3(signature = (next, emitted = vec![]))]
    fn end_for(&mut self, py: Python<'_>, next: Vec<usize>, emitted: Vec<usize>) -> PyResult<Vec<usize>> {
        let (next, emitted) = (self.all(&next), self.all(&emitted));
        let results = raised(py, self.tracer()?.end_for(&next, &emitted))?;
        Ok(self.keep_all(results))
    }

    fn begin_while(&mut self, py: Python<'_>, carries: Vec<usize>, pos: Place) -> PyResult<Vec<usize>> {
        let carries = self.all(&carries);
        let params = raised(py, self.tracer()?.begin_while(&carries, &place(pos)))?;
        Ok(self.keep_all(params))
    }

    fn begin_while_body(&mut self, py: Python<'_>, predicate: usize) -> PyResult<Vec<usize>> {
        let params = raised(py, self.tracer()?.begin_while_body(self.values[predicate]))?;
        Ok(self.keep_all(params))
    }

    fn end_while(&mut self, py: Python<'_>, next: Vec<usize>) -> PyResult<Vec<usize>> {
        let next = self.all(&next);
        let results = raised(py, self.tracer()?.end_while(&next))?;
        Ok(self.keep_all(results))
    }

    fn begin_function(&mut self, py: Python<'_>, types: Vec<(String, Vec<usize>)>, pos: Place) -> PyResult<Vec<usize>> {
        let types = types.into_iter().map(|(dtype, shape)| type_of(py, &dtype, shape)).collect::<PyResult<Vec<_>>>()?;
        let params = self.tracer()?.begin_function(&types, &place(pos));
        Ok(self.keep_all(params))
    }

    /// Closes a function; its number serves `call`.
    fn end_function(&mut self, py: Python<'_>, results: Vec<usize>) -> PyResult<usize> {
        let results = self.all(&results);
        let function = raised(py, self.tracer()?.end_function(&results))?;
        self.functions.push(function);
        Ok(self.functions.len() - 1)
    }

    /// Calls a function whose rule is "vjp" of (forward, backward), or "jvp" of (tangent,).
    fn call(
        &mut self,
        py: Python<'_>,
        body: usize,
        rule: &str,
        of: Vec<usize>,
        args: Vec<usize>,
        pos: Place,
    ) -> PyResult<Vec<usize>> {
        let of: Vec<TracedFunction> = of.into_iter().map(|function| self.functions[function]).collect();
        let rule = match (rule, &of[..]) {
            ("vjp", [forward, backward]) => TracedRule::Vjp { forward: *forward, backward: *backward },
            ("jvp", [tangent]) => TracedRule::Jvp { tangent: *tangent },
            (other, _) => return Err(PyValueError::new_err(format!("no rule is called `{other}`"))),
        };
        let args = self.all(&args);
        let results = raised(py, self.tracer()?.call(self.functions[body], rule, &args, &place(pos)))?;
        Ok(self.keep_all(results))
    }

    fn call_program(
        &mut self,
        py: Python<'_>,
        program: &Program,
        args: Vec<usize>,
        pos: Place,
    ) -> PyResult<Vec<usize>> {
        let args = self.all(&args);
        let results = raised(py, self.tracer()?.call_program(&program.0, &args, &place(pos)))?;
        Ok(self.keep_all(results))
    }

    fn begin_if(&mut self, py: Python<'_>, predicate: usize, pos: Place) -> PyResult<()> {
        raised(py, self.tracer()?.begin_if(self.values[predicate], &place(pos)))
    }

    fn begin_else(&self) -> PyResult<()> {
        self.tracer()?.begin_else();
        Ok(())
    }

    /// Closes both branches: results, absent ones as None, and the element types to convert them to.
    fn end_if(
        &mut self,
        py: Python<'_>,
        first: Vec<Option<usize>>,
        second: Vec<Option<usize>>,
        dtypes: Vec<Option<String>>,
    ) -> PyResult<Vec<usize>> {
        let some =
            |results: Vec<Option<usize>>| results.into_iter().map(|v| v.map(|v| self.values[v])).collect::<Vec<_>>();
        let dtypes = dtypes
            .into_iter()
            .map(|name| name.map(|name| dtype_of(&name)).transpose())
            .collect::<PyResult<Vec<_>>>()?;
        let results = raised(py, self.tracer()?.join(&some(first), &some(second), &dtypes))?;
        Ok(self.keep_all(results))
    }

    /// A literal in the open body at a depth; one number repeated where there is a shape.
    fn constant_at(
        &mut self,
        depth: usize,
        value: &Bound<'_, PyAny>,
        shape: Option<Vec<usize>>,
        pos: Place,
    ) -> PyResult<usize> {
        let value = self.tracer()?.constant_at(depth, from_numpy(value)?, shape.as_deref(), &place(pos));
        Ok(self.keep(value))
    }

    /// One more carry of the open loop at a depth, by its start; the body's value of it.
    fn carry(&mut self, py: Python<'_>, depth: usize, start: usize) -> PyResult<usize> {
        let value = raised(py, self.tracer()?.carry(depth, self.values[start]))?;
        Ok(self.keep(value))
    }

    fn abandon(&self) -> PyResult<()> {
        self.tracer()?.abandon();
        Ok(())
    }

    fn finish(&mut self, py: Python<'_>, results: Vec<usize>) -> PyResult<Program> {
        let results = self.all(&results);
        let tracer = self.tracer.take().ok_or_else(finished)?;
        Ok(Program(raised(py, tracer.finish(&results))?))
    }
}

impl Tracer {
    fn tracer(&self) -> PyResult<&retrograd::trace::Tracer> {
        self.tracer.as_ref().ok_or_else(finished)
    }

    fn keep(&mut self, value: Traced) -> usize {
        self.values.push(value);
        self.values.len() - 1
    }

    fn keep_all(&mut self, values: Vec<Traced>) -> Vec<usize> {
        values.into_iter().map(|value| self.keep(value)).collect()
    }

    fn all(&self, values: &[usize]) -> Vec<Traced> {
        values.iter().map(|value| self.values[*value]).collect()
    }
}

fn finished() -> PyErr {
    PyRuntimeError::new_err("the trace is finished")
}

fn row(name: &str) -> PyResult<&'static OpDef> {
    ops::find(name).ok_or_else(|| PyValueError::new_err(format!("no op `{name}`")))
}

fn raised<T>(py: Python<'_>, result: Result<T, Error>) -> PyResult<T> {
    result.map_err(|error| exception(py, error))
}

fn place(pos: Place) -> Pos {
    pos.map_or_else(Pos::unknown, |(file, line)| Pos::new(file, line))
}

/// The attributes of a row, in its order: lists of integers, element types by name, types as (name, extents).
fn attrs_of(def: &'static OpDef, given: &Bound<'_, PyDict>) -> PyResult<Attrs> {
    // Whether an instruction is exact is decided on the whole Program.
    def.attrs.iter().filter(|name| **name != EXACT).try_fold(Attrs::none(), |attrs, name| {
        let value =
            given.get_item(name)?.ok_or_else(|| PyValueError::new_err(format!("`{}` needs `{name}`", def.name)))?;
        let attr = if let Ok(values) = value.extract::<Vec<i64>>() {
            Attr::Ints(values)
        } else if let Ok(text) = value.extract::<String>() {
            if *name == "name" { Attr::Text(text) } else { Attr::DType(dtype_of(&text)?) }
        } else {
            let (dtype, shape): (String, Vec<usize>) = value.extract()?;
            Attr::Type(type_of(given.py(), &dtype, shape)?)
        };
        Ok(attrs.with(name, attr))
    })
}
