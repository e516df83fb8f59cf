//! Expressions as Python sees them; operators and NumPy's functions are in `python/retrograd/expr.py`.

use std::collections::BTreeMap;

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use retrograd::Type;
use retrograd_expr::{ArrayOp, Assumptions, Constant, Cost, Definitions, Function, Op, Simplifier};

use crate::array::type_of;
use crate::error::exception;
use crate::tracer::Program;

/// An expression.
#[pyclass(frozen, eq, hash, from_py_object)]
#[derive(Clone, PartialEq, Eq, Hash)]
pub(crate) struct Expr(retrograd_expr::Expr);

fn raised<T>(py: Python<'_>, result: Result<T, retrograd::Error>) -> PyResult<T> {
    result.map_err(|error| exception(py, error))
}

#[pymethods]
impl Expr {
    /// Reads a formula that may use these functions, some with cotangents of their parameters.
    #[staticmethod]
    fn parse(py: Python<'_>, text: &str, functions: Vec<(String, Option<Vec<String>>)>) -> PyResult<Expr> {
        let defined = functions.iter().try_fold(Definitions::new(), |all, (text, backward)| match backward {
            None => all.function(text),
            Some(backward) => all.vjp(text, &backward.iter().map(String::as_str).collect::<Vec<_>>()),
        });
        Ok(Expr(raised(py, retrograd_expr::Expr::parse_with(text, &raised(py, defined)?))?))
    }

    #[staticmethod]
    fn variable(name: String) -> Expr {
        Expr(retrograd_expr::Expr::variable(name))
    }

    #[staticmethod]
    fn integer(n: i64) -> Expr {
        Expr(retrograd_expr::Expr::number(n))
    }

    #[staticmethod]
    fn float(x: f64) -> Expr {
        Expr(retrograd_expr::Expr::float(x))
    }

    /// A function of the language by its name: of numbers, of arrays, `[]` of a list and `pi`, `e` of nothing.
    #[staticmethod]
    fn call(name: &str, args: Vec<Expr>) -> PyResult<Expr> {
        let args: Vec<retrograd_expr::Expr> = args.into_iter().map(|arg| arg.0).collect();
        let constant = Constant::ALL.into_iter().find(|constant| constant.name() == name);
        let array = ArrayOp::ALL.into_iter().find(|array| array.name() == name);
        let (op, arity) = match (name, constant, array, Function::find(name)) {
            ("[]", ..) => (Op::Stack, args.len()),
            ("index", ..) => (Op::Index, args.len()),
            (_, Some(constant), ..) => (Op::Constant(constant), 0),
            (_, None, Some(array), _) => (Op::Array(array), array.arity()),
            (_, None, None, Some(function)) => (Op::Call(function), function.row().arity),
            (_, None, None, None) => {
                return Err(PyValueError::new_err(format!("expressions have no function `{name}`")));
            }
        };
        if args.len() != arity {
            return Err(PyValueError::new_err(format!("`{name}` takes {arity} arguments, found {}", args.len())));
        }
        Ok(Expr(retrograd_expr::Expr::new(op, args)))
    }

    fn __str__(&self) -> String {
        self.0.to_string()
    }

    fn latex(&self) -> String {
        self.0.to_latex()
    }

    fn sexpr(&self) -> String {
        self.0.to_sexpr()
    }

    /// A C function of that name.
    fn c(&self, py: Python<'_>, name: &str) -> PyResult<String> {
        raised(py, self.0.to_c(name))
    }

    /// A Rust function of that name.
    fn rust(&self, py: Python<'_>, name: &str) -> PyResult<String> {
        raised(py, self.0.to_rust(name))
    }

    fn free_vars(&self) -> Vec<String> {
        self.0.free_vars()
    }

    fn size(&self) -> usize {
        self.0.size()
    }

    fn diff(&self, py: Python<'_>, name: &str) -> PyResult<Expr> {
        Ok(Expr(raised(py, retrograd_expr::diff(&self.0, name))?))
    }

    fn gradient(&self, py: Python<'_>, names: Vec<String>) -> PyResult<Vec<Expr>> {
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        Ok(raised(py, retrograd_expr::diff_all(&self.0, &names))?.into_iter().map(Expr).collect())
    }

    /// Derivatives of the elements of a list by several variables: a matrix with a row for each element.
    fn jacobian(&self, py: Python<'_>, names: Vec<String>) -> PyResult<Expr> {
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        let elements = if *self.0.op() == Op::Stack { self.0.args() } else { std::slice::from_ref(&self.0) };
        let list = |parts| retrograd_expr::Expr::new(Op::Stack, parts);
        let rows = raised(py, retrograd_expr::diff_matrix(elements, &names))?;
        Ok(Expr(list(rows.into_iter().map(list).collect())))
    }

    fn substitute(&self, values: Vec<(String, Expr)>) -> Expr {
        let with: Vec<(&str, retrograd_expr::Expr)> =
            values.iter().map(|(name, expr)| (name.as_str(), expr.0.clone())).collect();
        Expr(self.0.substitute(&with))
    }

    fn expand(&self) -> Expr {
        Expr(retrograd_expr::expand(&self.0))
    }

    fn canonicalize(&self) -> Expr {
        Expr(retrograd_expr::canonicalize(&self.0))
    }

    /// What stands for the names of a pattern that begin with an underscore, wherever it is found.
    fn matches(&self, py: Python<'_>, pattern: &Expr) -> PyResult<Vec<BTreeMap<String, Expr>>> {
        let found = raised(py, Simplifier::default().matches(&self.0, &pattern.0))?;
        Ok(found.into_iter().map(|bound| bound.into_iter().map(|(name, expr)| (name, Expr(expr))).collect()).collect())
    }

    /// The form with the least error in ranges of its variables, and its mean error in bits.
    fn most_accurate(
        &self,
        py: Python<'_>,
        assume: Vec<String>,
        ranges: Vec<(String, f64, f64)>,
    ) -> PyResult<(Expr, f64)> {
        let simplifier = raised(py, simplifier(&assume, "size"))?;
        let ranges: Vec<(&str, f64, f64)> =
            ranges.iter().map(|(name, low, high)| (name.as_str(), *low, *high)).collect();
        let (form, bits) = raised(py, py.detach(|| retrograd_expr::most_accurate(&simplifier, &self.0, &ranges)))?;
        Ok((Expr(form), bits))
    }

    /// A zero near a start.
    fn newton(&self, py: Python<'_>, name: &str, start: f64) -> PyResult<f64> {
        raised(py, retrograd_expr::newton(&self.0, name, start))
    }

    /// A zero between two points.
    fn bisect(&self, py: Python<'_>, name: &str, low: f64, high: f64) -> PyResult<f64> {
        raised(py, retrograd_expr::bisect(&self.0, name, low, high))
    }

    /// The computation graph in DOT and as SVG.
    fn graph(&self, py: Python<'_>) -> PyResult<(String, String)> {
        let graph = raised(py, retrograd_expr::graph(&self.0))?;
        Ok((graph.to_dot(), graph.to_svg()))
    }

    fn collect(&self, name: &str) -> Expr {
        Expr(retrograd_expr::collect(&self.0, name))
    }

    fn is_linear(&self, names: Vec<String>) -> bool {
        retrograd_expr::is_linear(&self.0, &names.iter().map(String::as_str).collect::<Vec<_>>())
    }

    /// The simplest form under assumptions; `cost` is "size", "depth" or "work".
    fn simplify(&self, py: Python<'_>, assume: Vec<String>, cost: &str) -> PyResult<Expr> {
        let simplifier = raised(py, simplifier(&assume, cost))?;
        Ok(Expr(raised(py, py.detach(|| simplifier.simplify(&self.0)))?))
    }

    /// Why that form is equal, law by law.
    fn explain(&self, py: Python<'_>, assume: Vec<String>) -> PyResult<String> {
        let simplifier = raised(py, simplifier(&assume, "size"))?;
        Ok(raised(py, py.detach(|| simplifier.explain(&self.0)))?.to_string())
    }

    /// Real solutions of the expression = 0.
    fn solve(&self, py: Python<'_>, name: &str) -> PyResult<Vec<Expr>> {
        Ok(raised(py, retrograd_expr::solve(&self.0, name))?.into_iter().map(|root| Expr(root.value)).collect())
    }

    fn integrate(&self, py: Python<'_>, name: &str) -> PyResult<Expr> {
        Ok(Expr(raised(py, retrograd_expr::integrate(&self.0, name))?))
    }

    fn limit(&self, py: Python<'_>, name: &str, at: &Expr) -> PyResult<Expr> {
        Ok(Expr(raised(py, retrograd_expr::limit(&self.0, name, &at.0))?))
    }

    /// Coefficients of the power series around a point.
    fn series(&self, py: Python<'_>, name: &str, at: &Expr, order: usize) -> PyResult<Vec<Expr>> {
        Ok(raised(py, retrograd_expr::series(&self.0, name, &at.0, order))?.into_iter().map(Expr).collect())
    }

    /// The Program for inputs of these names and types.
    fn program(&self, py: Python<'_>, inputs: Vec<(String, String, Vec<usize>)>) -> PyResult<Program> {
        let types = inputs
            .iter()
            .map(|(_, dtype, shape)| type_of(py, dtype, shape.clone()))
            .collect::<PyResult<Vec<Type>>>()?;
        let named: Vec<(&str, Type)> = inputs.iter().map(|(name, ..)| name.as_str()).zip(types).collect();
        Ok(Program(raised(py, self.0.program(&named))?))
    }
}

fn simplifier(assume: &[String], cost: &str) -> Result<Simplifier, retrograd::Error> {
    let cost = match cost {
        "size" => Cost::Size,
        "depth" => Cost::Depth,
        "work" => Cost::Work,
        other => {
            let message = format!("the costs are \"size\", \"depth\" and \"work\", found {other:?}");
            return Err(retrograd::Error::new(retrograd::ErrorKind::Argument, retrograd::Pos::unknown(), message));
        }
    };
    let assumptions = assume.iter().try_fold(Assumptions::new(), |known, text| known.assume(text))?;
    Ok(Simplifier { assumptions, cost, ..Simplifier::default() })
}
