//! Elementwise ops, and what each [`Scalar`] means.

use std::cmp::Ordering;

use super::{lanes, ops};
use crate::ir::{Array, Attr, Attrs, DType, Data, Error, ErrorKind, Expr, Lowering, Partial, Pos, Row, Rule, Sample, Scalar, Type};
use crate::ir::{Builder, Contribution, Value};
use Partial::{Factor, MinusOne, Of, One};

/// Where derivatives of everything are tame.
const TAME: &[(f64, f64)] = &[(-2.0, 2.0)];
/// Away from zero and positive.
const POSITIVE: &[(f64, f64)] = &[(0.5, 3.0)];

ops! {
    /// Sum.
    ADD = map(2, "add", Scalar::Add, Rule::Partials(&[One, One]), 1, TAME);
    /// Difference.
    SUB = map(2, "sub", Scalar::Sub, Rule::Partials(&[One, MinusOne]), 1, TAME);
    /// Product.
    MUL = map(2, "mul", Scalar::Mul, Rule::Partials(&[Factor(|x, _| x[1]), Factor(|x, _| x[0])]), 1, TAME);
    /// Quotient; of integers, towards zero.
    DIV = map(2, "div", Scalar::Div, Rule::Partials(&[Factor(|x, _| 1.0 / x[1]), Of(|x, y| -(y / x[1]))]), 4, &[(-2.0, 2.0), (0.5, 3.0)]);
    /// Negation.
    NEG = map(1, "neg", Scalar::Neg, Rule::Partials(&[MinusOne]), 1, TAME);
    /// Square root; at 0 the derivative is infinite.
    SQRT = map(1, "sqrt", Scalar::Sqrt, Rule::Partials(&[Of(|_, y| 0.5 / y)]), 6, POSITIVE);
    /// Exponential.
    EXP = map(1, "exp", Scalar::Exp, Rule::Partials(&[Of(|_, y| y)]), 12, TAME);
    /// Natural logarithm.
    LOG = map(1, "log", Scalar::Log, Rule::Partials(&[Of(|x, _| 1.0 / x[0])]), 14, POSITIVE);
    /// Sine.
    SIN = map(1, "sin", Scalar::Sin, Rule::Partials(&[Of(|x, _| x[0].cos())]), 16, TAME);
    /// Cosine.
    COS = map(1, "cos", Scalar::Cos, Rule::Partials(&[Of(|x, _| -x[0].sin())]), 16, TAME);
    /// Hyperbolic tangent.
    TANH = map(1, "tanh", Scalar::Tanh, Rule::Partials(&[Of(|_, y| 1.0 - y * y)]), 20, TAME);
    /// Less than.
    LT = compare("lt", Scalar::Lt);
    /// Less than or equal.
    LE = compare("le", Scalar::Le);
    /// Greater than.
    GT = compare("gt", Scalar::Gt);
    /// Greater than or equal.
    GE = compare("ge", Scalar::Ge);
    /// Equal.
    EQ = compare("eq", Scalar::Eq);
    /// Not equal.
    NE = compare("ne", Scalar::Ne);
    /// Both hold.
    AND = Row { samples: logic_samples, ..map(2, "and", Scalar::And, Rule::Zero, 1, TAME) };
    /// At least one holds.
    OR = Row { samples: logic_samples, ..map(2, "or", Scalar::Or, Rule::Zero, 1, TAME) };
    /// Does not hold.
    NOT = Row { samples: logic_samples, ..map(1, "not", Scalar::Not, Rule::Zero, 1, TAME) };
    /// The second argument where the first holds, else the third.
    SELECT = Row {
        samples: select_samples,
        ..map(3, "select", Scalar::Select, Rule::Linear(&[None, Some(select_then), Some(select_else)]), 1, TAME)
    };
    /// To another element type.
    CONVERT = Row {
        attrs: &["dtype"],
        infer: infer_convert,
        eval: eval_convert,
        lowering: Lowering::Convert,
        samples: convert_samples,
        ..map(1, "convert", Scalar::Convert(DType::F64), Rule::Linear(&[Some(convert_back)]), 1, TAME)
    };
}

/// An elementwise row.
const fn map(arity: usize, name: &'static str, scalar: Scalar, rule: Rule, cost: u32, domain: &'static [(f64, f64)]) -> Row {
    Row {
        name,
        doc: "",
        arity: Some(arity),
        attrs: &[],
        infer: infer_map,
        eval: eval_map,
        rule,
        lowering: Lowering::Map(scalar),
        cost,
        domain,
        samples: map_samples,
    }
}

const fn compare(name: &'static str, scalar: Scalar) -> Row {
    map(2, name, scalar, Rule::Zero, 1, TAME)
}

fn select_then(b: &Builder, _: &Attrs, args: &[Value], ct: Value) -> Contribution {
    let zeros = b.zeros(&b.ty(ct));
    Contribution::Dense(b.row(&SELECT, Attrs::none(), &[args[0], ct, zeros]))
}

fn select_else(b: &Builder, _: &Attrs, args: &[Value], ct: Value) -> Contribution {
    let zeros = b.zeros(&b.ty(ct));
    Contribution::Dense(b.row(&SELECT, Attrs::none(), &[args[0], zeros, ct]))
}

fn convert_back(b: &Builder, _: &Attrs, args: &[Value], ct: Value) -> Contribution {
    Contribution::Dense(b.convert(ct, b.ty(args[0]).dtype))
}

/// The scalar of an elementwise row.
fn scalar_of(row: &Row) -> Scalar {
    let Lowering::Map(scalar) = row.lowering else { panic!("elementwise rows lower to a scalar op: {}", row.name) };
    scalar
}

fn infer_map(row: &Row, types: &[Type], _: &Attrs) -> Result<Type, Error> {
    let data = if scalar_of(row) == Scalar::Select { &types[1..] } else { types };
    if let Some(other) = types.iter().find(|ty| ty.shape != types[0].shape) {
        let message = format!("`{}` needs equal shapes, found {} and {other}", row.name, types[0]);
        return Err(Error::new(ErrorKind::Shape, Pos::unknown(), message));
    }
    if let Some(other) = data.iter().find(|ty| ty.dtype != data[0].dtype) {
        let message = format!("`{}` needs equal element types, found {} and {other}", row.name, data[0]);
        return Err(Error::new(ErrorKind::DType, Pos::unknown(), message));
    }
    let dtype = data[0].dtype;
    let result = result_dtype(scalar_of(row), types[0].dtype, dtype).ok_or_else(|| {
        let message = format!("`{}` does not take {}", row.name, types[0]);
        Error::new(ErrorKind::DType, Pos::unknown(), message)
    })?;
    Ok(Type::new(result, types[0].shape.clone()))
}

/// Element type of the result, or `None` where the op is not defined on the argument.
fn result_dtype(scalar: Scalar, first: DType, dtype: DType) -> Option<DType> {
    let number = dtype != DType::Bool;
    match scalar {
        Scalar::Add | Scalar::Sub | Scalar::Mul | Scalar::Div | Scalar::Neg => number.then_some(dtype),
        Scalar::Sqrt | Scalar::Exp | Scalar::Log | Scalar::Sin | Scalar::Cos | Scalar::Tanh => dtype.is_float().then_some(dtype),
        Scalar::Lt | Scalar::Le | Scalar::Gt | Scalar::Ge => number.then_some(DType::Bool),
        Scalar::Eq | Scalar::Ne => Some(DType::Bool),
        Scalar::And | Scalar::Or | Scalar::Not => (!number).then_some(DType::Bool),
        Scalar::Select => (first == DType::Bool).then_some(dtype),
        Scalar::Convert(to) => Some(to),
    }
}

fn infer_convert(_: &Row, types: &[Type], attrs: &Attrs) -> Result<Type, Error> {
    match attrs.get("dtype") {
        Some(Attr::DType(dtype)) => Ok(Type::new(*dtype, types[0].shape.clone())),
        _ => Err(Error::new(ErrorKind::Argument, Pos::unknown(), "`convert` needs an element type")),
    }
}

fn eval_map(row: &Row, args: &[&Array], _: &Attrs, ty: &Type) -> Result<Array, ErrorKind> {
    evaluate(scalar_of(row), args, ty)
}

fn eval_convert(_: &Row, args: &[&Array], attrs: &Attrs, ty: &Type) -> Result<Array, ErrorKind> {
    evaluate(Scalar::Convert(attrs.dtype("dtype")), args, ty)
}

/// What each scalar op means, element by element.
pub fn evaluate(scalar: Scalar, args: &[&Array], ty: &Type) -> Result<Array, ErrorKind> {
    let data = match scalar {
        Scalar::Add => arithmetic(args, |a, b| a + b, i64::wrapping_add),
        Scalar::Sub => arithmetic(args, |a, b| a - b, i64::wrapping_sub),
        Scalar::Mul => arithmetic(args, |a, b| a * b, i64::wrapping_mul),
        Scalar::Div if args[1].dtype() == DType::I64 && args[1].as_i64().contains(&0) => return Err(ErrorKind::DivisionByZero),
        Scalar::Div => arithmetic(args, |a, b| a / b, i64::wrapping_div),
        Scalar::Neg => negation(args[0]),
        Scalar::Sqrt => function(args, f64::sqrt),
        Scalar::Exp => function(args, lanes::exp),
        Scalar::Log => function(args, lanes::log),
        Scalar::Sin => function(args, lanes::sin),
        Scalar::Cos => function(args, lanes::cos),
        Scalar::Tanh => function(args, lanes::tanh),
        Scalar::Lt => comparison(args, |order| order.is_some_and(Ordering::is_lt)),
        Scalar::Le => comparison(args, |order| order.is_some_and(Ordering::is_le)),
        Scalar::Gt => comparison(args, |order| order.is_some_and(Ordering::is_gt)),
        Scalar::Ge => comparison(args, |order| order.is_some_and(Ordering::is_ge)),
        Scalar::Eq => comparison(args, |order| order.is_some_and(Ordering::is_eq)),
        Scalar::Ne => comparison(args, |order| !order.is_some_and(Ordering::is_eq)),
        Scalar::And => Data::Bool(zip(args[0].as_bool(), args[1].as_bool(), |a, b| a & b)),
        Scalar::Or => Data::Bool(zip(args[0].as_bool(), args[1].as_bool(), |a, b| a | b)),
        Scalar::Not => Data::Bool(args[0].as_bool().iter().map(|a| !a).collect()),
        Scalar::Select => select(args),
        Scalar::Convert(to) => convert(args[0], to),
    };
    Ok(Array::new(ty.shape.clone(), data))
}

fn unsupported() -> ! {
    panic!("verified types: f32 and i32 are refused before anything runs")
}

fn zip<T: Copy, U>(a: &[T], b: &[T], f: impl Fn(T, T) -> U) -> Vec<U> {
    a.iter().zip(b).map(|(a, b)| f(*a, *b)).collect()
}

fn arithmetic(args: &[&Array], float: fn(f64, f64) -> f64, integer: fn(i64, i64) -> i64) -> Data {
    match args[0].data() {
        Data::F64(a) => Data::F64(zip(a, args[1].as_f64(), float)),
        Data::I64(a) => Data::I64(zip(a, args[1].as_i64(), integer)),
        Data::F32(_) | Data::I32(_) | Data::Bool(_) => unsupported(),
    }
}

fn negation(arg: &Array) -> Data {
    match arg.data() {
        Data::F64(a) => Data::F64(a.iter().map(|a| -a).collect()),
        Data::I64(a) => Data::I64(a.iter().map(|a| a.wrapping_neg()).collect()),
        Data::F32(_) | Data::I32(_) | Data::Bool(_) => unsupported(),
    }
}

fn function(args: &[&Array], f: fn(f64) -> f64) -> Data {
    Data::F64(args[0].as_f64().iter().map(|x| f(*x)).collect())
}

/// Comparison by ordering; `None` is a NaN on either side.
fn comparison(args: &[&Array], holds: fn(Option<Ordering>) -> bool) -> Data {
    Data::Bool(match args[0].data() {
        Data::F64(a) => zip(a, args[1].as_f64(), |a, b| holds(a.partial_cmp(&b))),
        Data::I64(a) => zip(a, args[1].as_i64(), |a, b| holds(Some(a.cmp(&b)))),
        Data::Bool(a) => zip(a, args[1].as_bool(), |a, b| holds(Some(a.cmp(&b)))),
        Data::F32(_) | Data::I32(_) => unsupported(),
    })
}

fn select(args: &[&Array]) -> Data {
    fn pick<T: Copy>(p: &[bool], a: &[T], b: &[T]) -> Vec<T> {
        p.iter().zip(a.iter().zip(b)).map(|(p, (a, b))| if *p { *a } else { *b }).collect()
    }
    let p = args[0].as_bool();
    match args[1].data() {
        Data::F64(a) => Data::F64(pick(p, a, args[2].as_f64())),
        Data::I64(a) => Data::I64(pick(p, a, args[2].as_i64())),
        Data::Bool(a) => Data::Bool(pick(p, a, args[2].as_bool())),
        Data::F32(_) | Data::I32(_) => unsupported(),
    }
}

fn convert(from: &Array, to: DType) -> Data {
    match (from.data(), to) {
        (Data::F64(x), DType::F64) => Data::F64(x.clone()),
        (Data::F64(x), DType::I64) => Data::I64(x.iter().map(|x| *x as i64).collect()),
        (Data::F64(x), DType::Bool) => Data::Bool(x.iter().map(|x| *x != 0.0).collect()),
        (Data::I64(x), DType::F64) => Data::F64(x.iter().map(|x| *x as f64).collect()),
        (Data::I64(x), DType::I64) => Data::I64(x.clone()),
        (Data::I64(x), DType::Bool) => Data::Bool(x.iter().map(|x| *x != 0).collect()),
        (Data::Bool(x), DType::F64) => Data::F64(x.iter().map(|x| f64::from(u8::from(*x))).collect()),
        (Data::Bool(x), DType::I64) => Data::I64(x.iter().map(|x| i64::from(*x)).collect()),
        (Data::Bool(x), DType::Bool) => Data::Bool(x.clone()),
        _ => unsupported(),
    }
}

/// Each argument draws from its own interval.
fn domain_of(row: &Row, argument: usize) -> (f64, f64) {
    row.domain.get(argument).or(row.domain.last()).copied().expect("rows state a domain")
}

fn map_samples(row: &Row) -> Vec<Sample> {
    let arity = row.arity.expect("elementwise rows have a fixed arity");
    let shapes: [&[usize]; 4] = [&[], &[3], &[2, 9], &[17]];
    let sample = |shape: &[usize]| (0..arity).map(|k| (Type::f64(shape), domain_of(row, k))).collect();
    shapes.into_iter().map(|shape| Sample { args: sample(shape), attrs: Attrs::none() }).collect()
}

fn logic_samples(row: &Row) -> Vec<Sample> {
    let arity = row.arity.expect("elementwise rows have a fixed arity");
    vec![Sample { args: vec![(Type::new(DType::Bool, [11]), (0.0, 2.0)); arity], attrs: Attrs::none() }]
}

fn select_samples(_: &Row) -> Vec<Sample> {
    let predicate = (Type::new(DType::Bool, [11]), (0.0, 2.0));
    let data = (Type::f64([11]), (-2.0, 2.0));
    vec![Sample { args: vec![predicate, data.clone(), data], attrs: Attrs::none() }]
}

fn convert_samples(_: &Row) -> Vec<Sample> {
    let to = |dtype| Attrs::none().with("dtype", Attr::DType(dtype));
    let from = |dtype| vec![(Type::new(dtype, [7]), (-9.0, 9.0))];
    vec![
        Sample { args: from(DType::F64), attrs: to(DType::F64) },
        Sample { args: from(DType::F64), attrs: to(DType::I64) },
        Sample { args: from(DType::I64), attrs: to(DType::F64) },
        Sample { args: vec![(Type::new(DType::Bool, [7]), (0.0, 2.0))], attrs: to(DType::F64) },
    ]
}

/// Elementwise functions for rules.
impl<'b> Expr<'b> {
    fn unary(self, row: &'static Row) -> Expr<'b> {
        Expr::new(self.builder, self.builder.row(row, Attrs::none(), &[self.value]))
    }

    /// Sine.
    pub fn sin(self) -> Expr<'b> {
        self.unary(&SIN)
    }

    /// Cosine.
    pub fn cos(self) -> Expr<'b> {
        self.unary(&COS)
    }
}
