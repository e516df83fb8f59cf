//! Symbolic derivatives: the rows of the functions state them, this file follows the chain rule.

use std::sync::{Arc, OnceLock};

use retrograd::{Error, ErrorKind, Pos};

use crate::dag::{Dag, Id, indices};
use crate::expr::{ArrayOp, Custom, Expr, Fold, Op};
use crate::function::Function;
use crate::tidy;

/// The derivative of an expression by a variable that is a number.
///
/// Numbers are folded; [`simplify`](fn@crate::simplify) does more. A variable inside of `sum`, `dot` and their like may be
/// an array, by which there is no such derivative: that is refused, and [`gradient`](crate::gradient) gives it for
/// bindings. [`diff_by_number`] is told that it is a number.
///
/// ```
/// use retrograd_expr::{Expr, diff};
/// let f = Expr::parse("x*sin(y)^2 + exp(-x/2)")?;
/// assert_eq!(diff(&f, "x")?.to_string(), "sin(y)^2 - 1/2*exp(-x/2)");
/// assert_eq!(diff(&f, "y")?.to_string(), "x*(2*sin(y)*cos(y))");
/// assert!(diff(&Expr::parse("sum(x^2)")?, "x").is_err());
/// # Ok::<(), retrograd::Error>(())
/// ```
pub fn diff(expr: &Expr, name: &str) -> Result<Expr, Error> {
    let dag = Dag::of(expr);
    let mentions = dag.mentions(name);
    for (id, entry) in dag.entries.iter().enumerate() {
        let reads_whole = matches!(entry.op, Op::Array(_) | Op::Einsum(_))
            || matches!(entry.op, Op::Index if dag.args(entry.args[0]).is_empty());
        if reads_whole && mentions[id] {
            let message = format!(
                "`{name}` is inside of `{}`, where it may be an array; use `gradient`, or `diff_by_number` if it is a \
                 number",
                shown(&entry.op)
            );
            return Err(Error::new(ErrorKind::Unsupported, Pos::unknown(), message));
        }
    }
    diff_by_number(expr, name)
}

/// The derivative of an order. Each is a small multiple of the one before it: where one of 20,000 operations would be
/// differentiated again, that is refused, and [`series`](crate::series) or [`taylor`](crate::taylor) give it.
///
/// ```
/// use retrograd_expr::{Expr, diff_order};
/// assert_eq!(diff_order(&Expr::parse("x^5")?, "x", 3)?.to_string(), "60*x^2");
/// assert!(diff_order(&Expr::parse("x^3*log(x)")?, "x", 40).is_err());
/// # Ok::<(), retrograd::Error>(())
/// ```
pub fn diff_order(expr: &Expr, name: &str, order: usize) -> Result<Expr, Error> {
    const LARGEST: usize = 20_000;
    let mut derivative = expr.clone();
    for k in 0..order {
        derivative = diff(&derivative, name)?;
        if k + 1 < order && derivative.size() > LARGEST.max(4 * expr.size()) {
            let message = format!(
                "the derivative of order {} has {} operations, and every further one more; `taylor` and `series` give \
                 it",
                k + 1,
                derivative.size()
            );
            return Err(Error::new(ErrorKind::Unsupported, Pos::unknown(), message));
        }
    }
    Ok(derivative)
}

fn shown(op: &Op) -> &str {
    match op {
        Op::Array(array) => array.name(),
        Op::Einsum(_) => "einsum",
        Op::Index => "[]",
        Op::Number(_) | Op::Constant(_) | Op::Variable(_) | Op::Call(_) | Op::Stack => "an expression",
        Op::Fold(fold, _) => fold.name(),
        Op::StopGradient => "stop_gradient",
        Op::Custom(custom) => &custom.name,
    }
}

/// As [`diff`], where the variable is known to be a number, also inside of functions of arrays.
///
/// ```
/// use retrograd_expr::{Expr, diff_by_number};
/// let f = Expr::parse("sum(x*v) + det([[x, 1], [2, 3]])")?;
/// assert!(diff_by_number(&f, "x").is_ok());
/// # Ok::<(), retrograd::Error>(())
/// ```
pub fn diff_by_number(expr: &Expr, name: &str) -> Result<Expr, Error> {
    let dag = Dag::of(expr);
    if indices(&dag).iter().any(|index| &**index == name) {
        // An index is bound: nothing depends on a variable of its name.
        return Ok(Expr::number(0));
    }
    let forward = Forward { dag: &dag, exprs: dag.exprs(), in_arrays: in_arrays(&dag) };
    let mut tangents: Vec<Option<Expr>> = Vec::with_capacity(dag.len());
    for id in 0..dag.len() {
        let tangent = forward.tangent(id, name, &tangents)?;
        tangents.push(tangent.filter(|tangent| !tangent.is(0)));
    }
    Ok(tangents[dag.root()].clone().unwrap_or_else(|| zero_like(expr)))
}

/// Zero with the shape of what is known to be a list.
fn zero_like(expr: &Expr) -> Expr {
    match expr.op() {
        Op::Stack => Expr::new(Op::Stack, expr.args().iter().map(zero_like).collect()),
        Op::Number(_) | Op::Constant(_) | Op::Variable(_) | Op::Call(_) | Op::Array(_) | Op::Einsum(_) => {
            Expr::number(0)
        }
        Op::Index | Op::Fold(..) | Op::StopGradient | Op::Custom(_) => Expr::number(0),
    }
}

/// Which entries functions of whole arrays read: their tangents must have their shapes.
fn in_arrays(dag: &Dag) -> Vec<bool> {
    let mut inside = vec![false; dag.len()];
    for id in (0..dag.len()).rev() {
        let of_array = matches!(dag.op(id), Op::Array(_) | Op::Einsum(_) | Op::Index);
        if of_array || inside[id] {
            dag.args(id).iter().for_each(|arg| inside[*arg] = true);
        }
    }
    inside
}

struct Forward<'d> {
    dag: &'d Dag,
    exprs: &'d [Expr],
    in_arrays: Vec<bool>,
}

impl Forward<'_> {
    fn tangent(&self, id: Id, name: &str, tangents: &[Option<Expr>]) -> Result<Option<Expr>, Error> {
        let args = self.dag.args(id);
        let given: Vec<Option<&Expr>> = args.iter().map(|arg| tangents[*arg].as_ref()).collect();
        if let Op::Variable(variable) = self.dag.op(id) {
            return Ok((&**variable == name).then(|| Expr::number(1)));
        }
        if given.iter().all(Option::is_none) {
            return Ok(None);
        }
        let value = |k: usize| &self.exprs[args[k]];
        // The tangent of an argument, with zeros in the shape of the argument where there is none.
        let whole = |k: usize| given[k].cloned().unwrap_or_else(|| Expr::number(0) * value(k));
        let linear = |op: &Op| Expr::new(op.clone(), (0..args.len()).map(whole).collect());
        Ok(Some(match self.dag.op(id) {
            Op::Call(function) => self.of_call(id, *function, &given),
            op @ (Op::Array(ArrayOp::Sum | ArrayOp::Mean | ArrayOp::Trace | ArrayOp::Transpose) | Op::Stack) => {
                linear(op)
            }
            Op::Index => Expr::new(
                Op::Index,
                (0..args.len()).map(|k| if k == 0 { whole(0) } else { value(k).clone() }).collect(),
            ),
            Op::Array(ArrayOp::Dot) | Op::Einsum(_) => {
                let terms = (0..args.len()).filter(|k| given[*k].is_some()).map(|k| {
                    let factor = |j: usize| if j == k { whole(j) } else { value(j).clone() };
                    Expr::new(self.dag.op(id).clone(), (0..args.len()).map(factor).collect())
                });
                terms.reduce(|a, b| tidy::add(&a, &b)).expect("some argument has a tangent")
            }
            // d(A⁻¹) = −A⁻¹ dA A⁻¹
            Op::Array(ArrayOp::Inverse) => tidy::neg(&dot(&dot(&self.exprs[id], &whole(0)), &self.exprs[id])),
            // d det A = det A tr(A⁻¹ dA)
            Op::Array(ArrayOp::Det) => {
                let inverse = Expr::new(Op::Array(ArrayOp::Inverse), vec![value(0).clone()]);
                let trace = Expr::new(Op::Array(ArrayOp::Trace), vec![dot(&inverse, &whole(0))]);
                tidy::mul(&self.exprs[id], &trace)
            }
            // d‖a‖ = Σ a da / ‖a‖
            Op::Array(ArrayOp::Norm) => {
                let sum = Expr::new(Op::Array(ArrayOp::Sum), vec![tidy::mul(value(0), &whole(0))]);
                tidy::div(&sum, &self.exprs[id])
            }
            Op::Fold(Fold::Sum, index) => Expr::new(
                Op::Fold(Fold::Sum, index.clone()),
                vec![
                    given[0].cloned().ok_or_else(|| unsupported("a bound of a sum that depends on the variable"))?,
                    value(1).clone(),
                    value(2).clone(),
                ],
            ),
            Op::Fold(Fold::Product, index) => of_product(index, [value(0), value(1), value(2)], given[0], self.dag)?,
            Op::Array(ArrayOp::Prod) => return Err(unsupported("the derivative of `prod` of an array")),
            Op::Custom(custom) => self.of_custom(id, custom, &given)?,
            Op::Array(ArrayOp::Any) | Op::StopGradient => return Ok(None),
            Op::Number(_) | Op::Constant(_) | Op::Variable(_) => unreachable!("they have no arguments"),
        }))
    }

    /// Σ ∂f/∂aₖ daₖ.
    fn of_call(&self, id: Id, function: Function, given: &[Option<&Expr>]) -> Expr {
        let args: Vec<&Expr> = self.dag.args(id).iter().map(|arg| &self.exprs[*arg]).collect();
        // Zeros in the shape of the other side, where functions of arrays look at shapes.
        let zero = |k: usize| if self.in_arrays[id] { Expr::number(0) * args[k] } else { Expr::number(0) };
        match (function, given) {
            (Function::Select, [_, a, b]) if a.is_some() || b.is_some() => {
                let side = |k: usize| given[k].cloned().unwrap_or_else(|| zero(k));
                Expr::call(Function::Select, [args[0].clone(), side(1), side(2)])
            }
            (Function::Add, [Some(da), None]) if self.in_arrays[id] => *da + zero(1),
            (Function::Add, [None, Some(db)]) if self.in_arrays[id] => zero(0) + *db,
            (Function::Sub, [Some(da), None]) if self.in_arrays[id] => *da - zero(1),
            (Function::Sub, [None, Some(db)]) if self.in_arrays[id] => zero(0) - *db,
            // d(a / b) = da / b where b is constant
            (Function::Div, [Some(da), None]) => tidy::div(da, args[1]),
            _ => {
                let terms = given.iter().enumerate().filter_map(|(k, tangent)| {
                    let partial = partial(function, k, &args, &self.exprs[id])?;
                    Some(tidy::mul(&partial, (*tangent)?))
                });
                terms.reduce(|a, b| tidy::add(&a, &b)).unwrap_or_else(|| Expr::number(0))
            }
        }
    }

    /// A cotangent that is linear in `ct` is, of one element, a tangent too.
    fn of_custom(&self, id: Id, custom: &Custom, given: &[Option<&Expr>]) -> Result<Expr, Error> {
        let args = self.dag.args(id);
        let mut sum = Expr::number(0);
        for (k, tangent) in given.iter().enumerate() {
            let Some(tangent) = tangent else { continue };
            let backward = &custom.backward[k];
            if !crate::algebra::is_linear(backward, &["ct"]) {
                let message =
                    format!("the derivative of `{}` is not linear in its cotangent; `diff` needs that", custom.name);
                return Err(Error::new(ErrorKind::Unsupported, Pos::unknown(), message));
            }
            let mut with: Vec<(&str, Expr)> =
                custom.params.iter().zip(args).map(|(param, arg)| (&**param, self.exprs[*arg].clone())).collect();
            with.extend([("r", self.exprs[id].clone()), ("ct", (*tangent).clone())]);
            sum = tidy::add(&sum, &backward.substitute(&with));
        }
        Ok(sum)
    }
}

/// d Πₖ f(k) = Σₖ f'(k) Πⱼ₌ₗ…ₖ₋₁ f(j) Πⱼ₌ₖ₊₁…ₕ f(j), which needs no quotient, so that factors may be 0.
fn of_product(
    index: &Arc<str>,
    [body, low, high]: [&Expr; 3],
    tangent: Option<&Expr>,
    dag: &Dag,
) -> Result<Expr, Error> {
    let tangent = tangent.ok_or_else(|| unsupported("a bound of a product that depends on the variable"))?;
    let taken = dag
        .entries
        .iter()
        .filter_map(|entry| if let Op::Variable(name) | Op::Fold(_, name) = &entry.op { Some(&**name) } else { None });
    let taken: std::collections::HashSet<&str> = taken.collect();
    let other =
        (1..).map(|n| format!("{index}_{n}")).find(|name| !taken.contains(&name[..])).expect("there are endless names");
    let factors = |from: Expr, to: Expr| {
        let inner = body.substitute(&[(&**index, Expr::variable(&other[..]))]);
        Expr::new(Op::Fold(Fold::Product, other[..].into()), vec![inner, from, to])
    };
    let at = Expr::variable(index.clone());
    let others = tidy::mul(&factors(low.clone(), &at - 1), &factors(&at + 1, high.clone()));
    Ok(Expr::new(Op::Fold(Fold::Sum, index.clone()), vec![tidy::mul(tangent, &others), low.clone(), high.clone()]))
}

fn dot(a: &Expr, b: &Expr) -> Expr {
    Expr::new(Op::Array(ArrayOp::Dot), vec![a.clone(), b.clone()])
}

fn unsupported(what: &str) -> Error {
    let message = format!("{what} has no symbolic form here; `gradient` computes it for bindings");
    Error::new(ErrorKind::Unsupported, Pos::unknown(), message)
}

/// ∂f/∂aₖ of arguments and the result; `None` where it is flat.
pub(crate) fn partial(function: Function, k: usize, args: &[&Expr], result: &Expr) -> Option<Expr> {
    let dag = partial_of(function, k)?;
    let values = dag.fold(|op, of, exprs: &[Expr]| match op {
        Op::Variable(name) => match &**name {
            "a" => args[0].clone(),
            "b" => args[1].clone(),
            "r" => result.clone(),
            other => unreachable!("partials are of a, b and r, not {other}"),
        },
        Op::Call(function) => tidy::call(*function, of.iter().map(|arg| exprs[*arg].clone()).collect()),
        Op::Number(_)
        | Op::Constant(_)
        | Op::Array(_)
        | Op::Einsum(_)
        | Op::Stack
        | Op::Index
        | Op::Fold(..)
        | Op::StopGradient
        | Op::Custom(_) => Expr::new(op.clone(), of.iter().map(|arg| exprs[*arg].clone()).collect()),
    });
    Some(values[dag.root()].clone())
}

/// The partial of a row by an argument, read when it is first needed.
fn partial_of(function: Function, k: usize) -> Option<&'static Dag> {
    const MOST: usize = 3;
    static PARTIALS: OnceLock<Vec<OnceLock<Dag>>> = OnceLock::new();
    let text = function.row().partials.get(k).filter(|text| !text.is_empty() && function != Function::Select)?;
    let all = PARTIALS.get_or_init(|| (0..MOST * Function::ALL.len()).map(|_| OnceLock::new()).collect());
    let read = || Dag::of(&Expr::parse(text).expect("partials are written in the language"));
    Some(all[function as usize * MOST + k].get_or_init(read))
}

/// The derivatives of an expression by several variables, in one sweep backwards where it is elementwise: their size
/// together is a small multiple of its own, however many there are.
///
/// ```
/// use retrograd_expr::{Expr, diff_all};
/// let f = Expr::parse("x^2*y + y^3")?;
/// let gradient = diff_all(&f, &["x", "y"])?;
/// assert_eq!(gradient[0].to_string(), "2*(y*x)");
/// assert_eq!(gradient[1].to_string(), "3*y^2 + x^2");
/// # Ok::<(), retrograd::Error>(())
/// ```
pub fn diff_all(expr: &Expr, names: &[&str]) -> Result<Vec<Expr>, Error> {
    Ok(diff_matrix(std::slice::from_ref(expr), names)?.swap_remove(0))
}

/// The derivatives of several expressions by several variables, a row for each expression: by sweeps backwards where
/// there are fewer expressions than variables and all are elementwise, else forwards. The parts that expressions share
/// are differentiated once.
///
/// ```
/// use retrograd_expr::{Expr, diff_matrix};
/// let [f, g] = [Expr::parse("x^2 + y")?, Expr::parse("x + y^2")?];
/// let shown: Vec<Vec<String>> = diff_matrix(&[f, g], &["x", "y"])?.iter().map(|row| row.iter().map(ToString::to_string).collect()).collect();
/// assert_eq!(shown, [["2*x", "1"], ["1", "2*y"]]);
/// # Ok::<(), retrograd::Error>(())
/// ```
pub fn diff_matrix(exprs: &[Expr], names: &[&str]) -> Result<Vec<Vec<Expr>>, Error> {
    let dag = Dag::of_all(exprs);
    let elementwise =
        |op: &Op| matches!(op, Op::Number(_) | Op::Constant(_) | Op::Variable(_) | Op::Call(_) | Op::StopGradient);
    if exprs.len() > names.len() || !dag.entries.iter().all(|entry| elementwise(&entry.op)) {
        return exprs.iter().map(|expr| names.iter().map(|name| diff(expr, name)).collect()).collect();
    }
    let place = |name: &&str| {
        dag.entries.iter().position(|entry| matches!(&entry.op, Op::Variable(variable) if **variable == **name))
    };
    let places: Vec<Option<Id>> = names.iter().map(place).collect();
    let values = values(&dag);
    let row = |root: &Id| {
        let adjoints = sweep(&dag, &values, *root);
        places
            .iter()
            .map(|id| id.and_then(|id| adjoints.get(id).cloned().flatten()).unwrap_or_else(|| Expr::number(0)))
            .collect()
    };
    Ok(dag.roots.iter().map(row).collect())
}

/// What the terms of derivatives read of each entry.
fn values(dag: &Dag) -> Vec<Expr> {
    dag.fold(|_, args, done: &[Expr]| {
        tidy::without_zeros(&dag.exprs()[done.len()], args.iter().map(|arg| done[*arg].clone()).collect())
    })
}

/// The derivative of the root by every entry of an elementwise expression; `None` where it is zero.
pub(crate) fn adjoints(dag: &Dag) -> Vec<Option<Expr>> {
    let mut all = sweep(dag, &values(dag), dag.root());
    all.resize(dag.len(), None);
    all
}

/// The derivative of a root by every entry up to it.
fn sweep(dag: &Dag, values: &[Expr], root: Id) -> Vec<Option<Expr>> {
    let mut adjoints: Vec<Option<Expr>> = vec![None; root + 1];
    adjoints[root] = Some(Expr::number(1));
    let mut args: Vec<&Expr> = vec![];
    for id in (0..=root).rev() {
        let (Some(adjoint), Op::Call(function)) = (adjoints[id].clone(), dag.op(id)) else { continue };
        args.clear();
        args.extend(dag.args(id).iter().map(|arg| &values[*arg]));
        for (k, arg) in dag.args(id).iter().enumerate() {
            if values[*arg].as_number().is_some() {
                continue;
            }
            let Some(part) = contribution(*function, k, &args, &values[id], &adjoint) else { continue };
            adjoints[*arg] = Some(match adjoints[*arg].take() {
                Some(before) => tidy::add(&before, &part),
                None => part,
            });
        }
    }
    adjoints
}

/// What an argument gets of the adjoint of a function of it.
pub(crate) fn contribution(
    function: Function,
    k: usize,
    args: &[&Expr],
    result: &Expr,
    adjoint: &Expr,
) -> Option<Expr> {
    let part = match (function, k) {
        (Function::Select, 0) => return None,
        (Function::Select, 1) => Expr::call(Function::Select, [args[0].clone(), adjoint.clone(), Expr::number(0)]),
        (Function::Select, _) => Expr::call(Function::Select, [args[0].clone(), Expr::number(0), adjoint.clone()]),
        (Function::Div, 0) => tidy::div(adjoint, args[1]),
        // The most frequent ones without a look at the table.
        (Function::Add, _) | (Function::Sub, 0) => adjoint.clone(),
        (Function::Sub, _) | (Function::Neg, _) => tidy::neg(adjoint),
        (Function::Mul, _) => tidy::times_value(adjoint, args[1 - k]),
        _ => tidy::mul(adjoint, &partial(function, k, args, result)?),
    };
    (!part.is(0)).then_some(part)
}
