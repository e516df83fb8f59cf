//! The tracer as Python sees it: values are numbers, ops are named by their row, attributes are dicts.

use pyo3::exceptions::{PyRuntimeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyDict;
use retrograd::trace::Traced;
use retrograd::{Attr, Attrs, Error, Pos, Row, ops};

use crate::array::{dtype_of, from_numpy, type_of};
use crate::error::exception;

/// Builds one Program from operations in the order in which they happen.
#[pyclass(unsendable)]
pub(crate) struct Tracer {
    /// Gone once the Program is finished.
    tracer: Option<retrograd::trace::Tracer>,
    values: Vec<Traced>,
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
}

/// A position as (file, line), or None.
type Place = Option<(String, u32)>;

#[pymethods]
impl Tracer {
    #[new]
    fn new(name: &str) -> Tracer {
        Tracer { tracer: Some(retrograd::trace::Tracer::new(name)), values: vec![] }
    }

    fn input(&mut self, dtype: &str, shape: Vec<usize>) -> PyResult<usize> {
        let value = self.tracer()?.input(type_of(dtype, shape)?);
        Ok(self.keep(value))
    }

    #[pyo3(name = "type")]
    fn ty(&self, value: usize) -> PyResult<(&'static str, Vec<usize>)> {
        let ty = self.tracer()?.ty(self.values[value]);
        Ok((ty.dtype.name(), ty.shape))
    }

    fn op(&mut self, py: Python<'_>, name: &str, attrs: &Bound<'_, PyDict>, args: Vec<usize>, pos: Place) -> PyResult<usize> {
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

    fn of_matrices(&mut self, py: Python<'_>, name: &str, a: usize, pos: Place) -> PyResult<usize> {
        let value = raised(py, self.tracer()?.of_matrices(row(name)?, self.values[a], &place(pos)))?;
        Ok(self.keep(value))
    }

    fn of_systems(&mut self, py: Python<'_>, name: &str, attrs: &Bound<'_, PyDict>, a: usize, b: usize, pos: Place) -> PyResult<usize> {
        let row = row(name)?;
        let (attrs, a, b) = (attrs_of(row, attrs)?, self.values[a], self.values[b]);
        let value = raised(py, self.tracer()?.of_systems(row, attrs, a, b, &place(pos)))?;
        Ok(self.keep(value))
    }

    fn constant(&mut self, value: &Bound<'_, PyAny>, pos: Place) -> PyResult<usize> {
        let value = self.tracer()?.constant(from_numpy(value)?, &place(pos));
        Ok(self.keep(value))
    }

    fn begin_for(&mut self, py: Python<'_>, count: usize, carries: Vec<usize>, pos: Place) -> PyResult<(usize, Vec<usize>)> {
        let carries = self.all(&carries);
        let (index, carries, _) = raised(py, self.tracer()?.begin_for(self.values[count], &carries, &[], &place(pos)))?;
        Ok((self.keep(index), self.keep_all(carries)))
    }

    fn end_for(&mut self, py: Python<'_>, next: Vec<usize>) -> PyResult<Vec<usize>> {
        let next = self.all(&next);
        let results = raised(py, self.tracer()?.end_for(&next, &[]))?;
        Ok(self.keep_all(results))
    }

    fn begin_if(&mut self, py: Python<'_>, predicate: usize, pos: Place) -> PyResult<()> {
        raised(py, self.tracer()?.begin_if(self.values[predicate], &place(pos)))
    }

    fn begin_else(&mut self, py: Python<'_>, results: Vec<usize>) -> PyResult<()> {
        let results = self.all(&results);
        raised(py, self.tracer()?.begin_else(&results))
    }

    fn end_if(&mut self, py: Python<'_>, results: Vec<usize>) -> PyResult<Vec<usize>> {
        let results = self.all(&results);
        let results = raised(py, self.tracer()?.end_if(&results))?;
        Ok(self.keep_all(results))
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

fn row(name: &str) -> PyResult<&'static Row> {
    ops::find(name).ok_or_else(|| PyValueError::new_err(format!("no op `{name}`")))
}

fn raised<T>(py: Python<'_>, result: Result<T, Error>) -> PyResult<T> {
    result.map_err(|error| exception(py, error))
}

fn place(pos: Place) -> Pos {
    pos.map_or_else(Pos::unknown, |(file, line)| Pos::new(file, line))
}

/// The attributes of a row, in its order: lists of integers, element types by name, types as (name, extents).
fn attrs_of(row: &'static Row, given: &Bound<'_, PyDict>) -> PyResult<Attrs> {
    row.attrs.iter().try_fold(Attrs::none(), |attrs, name| {
        let value = given.get_item(name)?.ok_or_else(|| PyValueError::new_err(format!("`{}` needs `{name}`", row.name)))?;
        let attr = if let Ok(values) = value.extract::<Vec<i64>>() {
            Attr::Ints(values)
        } else if let Ok(dtype) = value.extract::<String>() {
            Attr::DType(dtype_of(&dtype)?)
        } else {
            let (dtype, shape): (String, Vec<usize>) = value.extract()?;
            Attr::Type(type_of(&dtype, shape)?)
        };
        Ok(attrs.with(name, attr))
    })
}
