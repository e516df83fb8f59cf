//! Elementwise ops, and what each [`Scalar`] means.

use std::cmp::Ordering;
use std::f64::consts::{FRAC_2_SQRT_PI, LN_2, LOG2_E, LOG10_E};

use super::{lanes, ops};
use crate::ir::{Array, Attr, Attrs, DType, Data, Error, ErrorKind, Expr, LaneFunction, Lowering, Partial, Pos, Row, Rule, Sample};
use crate::ir::{Builder, Contribution, Scalar, Type, Value};
use LaneFunction as F;
use Partial::{Factor, MinusOne, Of, One, Zero};

/// Where derivatives of everything are tame.
const TAME: &[(f64, f64)] = &[(-2.0, 2.0)];
/// Away from zero and positive.
const POSITIVE: &[(f64, f64)] = &[(0.5, 3.0)];
/// Between -1 and 1.
const INSIDE: &[(f64, f64)] = &[(-0.8, 0.8)];
/// Above 1.
const OUTSIDE: &[(f64, f64)] = &[(1.5, 4.0)];
/// Below zero, between two integers and two halves.
const BETWEEN: &[(f64, f64)] = &[(-1.4, -1.1)];
/// Quotients between -2 and -3.
const REMAINDER: &[(f64, f64)] = &[(-5.6, -4.6), (1.9, 2.2)];
/// Signs that differ.
const SIGNS: &[(f64, f64)] = &[(-2.0, -0.5), (0.5, 2.0)];
/// Any dividend, a positive divisor.
const QUOTIENT: &[(f64, f64)] = &[(-2.0, 2.0), (0.5, 3.0)];
/// A positive base, any exponent.
const POWER: &[(f64, f64)] = &[(0.5, 3.0), (-2.0, 2.0)];

ops! {
    /// Sum.
    ADD = map(2, "add", Scalar::Add, Rule::Partials(&[One, One]), 1, TAME);
    /// Difference.
    SUB = map(2, "sub", Scalar::Sub, Rule::Partials(&[One, MinusOne]), 1, TAME);
    /// Product.
    MUL = map(2, "mul", Scalar::Mul, Rule::Partials(&[Factor(|x, _| x[1]), Factor(|x, _| x[0])]), 1, TAME);
    /// Quotient; of integers, towards zero.
    DIV = map(2, "div", Scalar::Div, Rule::Partials(&[Factor(|x, _| 1.0 / x[1]), Of(|x, y| -(y / x[1]))]), 4, QUOTIENT);
    /// Negation.
    NEG = map(1, "neg", Scalar::Neg, Rule::Partials(&[MinusOne]), 1, TAME);
    /// Absolute value; at 0 the derivative is 0.
    ABS = map(1, "abs", Scalar::Abs, Rule::Partials(&[Of(|x, _| x[0].sign())]), 1, SIGNS);
    /// -1, 0 or 1 as the argument is below, at or above 0; the derivative is 0.
    SIGN = map(1, "sign", Scalar::Sign, Rule::Zero, 3, SIGNS);
    /// The lesser, NaN if either is; equal arguments get half of the cotangent each.
    MIN = map(2, "min", Scalar::Min, Rule::Partials(&[Of(|x, _| x[0].below(x[1])), Of(|x, _| x[1].below(x[0]))]), 2, TAME);
    /// The greater, NaN if either is; equal arguments get half of the cotangent each.
    MAX = map(2, "max", Scalar::Max, Rule::Partials(&[Of(|x, _| x[1].below(x[0])), Of(|x, _| x[0].below(x[1]))]), 2, TAME);
    /// The greatest integer that is not above; the derivative is 0.
    FLOOR = map(1, "floor", Scalar::Floor, Rule::Zero, 1, BETWEEN);
    /// The least integer that is not below; the derivative is 0.
    CEIL = map(1, "ceil", Scalar::Ceil, Rule::Zero, 1, BETWEEN);
    /// The nearest integer, of two equally near the even one; the derivative is 0.
    ROUND = map(1, "round", Scalar::Round, Rule::Zero, 1, BETWEEN);
    /// Without the fraction; the derivative is 0.
    TRUNC = map(1, "trunc", Scalar::Trunc, Rule::Zero, 1, BETWEEN);
    /// The magnitude of the first argument with the sign of the second; at 0 the derivative is 0.
    COPYSIGN = map(2, "copysign", Scalar::CopySign, Rule::Partials(&[Of(|x, _| x[0].sign() * x[1].unit()), Zero]), 2, SIGNS);
    /// Remainder with the sign of the first argument, which is what is left of it; where it jumps the derivative is that of one side.
    REM = map(2, "rem", Scalar::Call(F::Rem), Rule::Partials(&[One, Of(|x, y| -((x[0] - y) / x[1]).round())]), 12, REMAINDER);
    /// Square root; at 0 the derivative is infinite.
    SQRT = map(1, "sqrt", Scalar::Sqrt, Rule::Partials(&[Of(|_, y| 0.5 / y)]), 6, POSITIVE);
    /// Reciprocal of the square root.
    RSQRT = map(1, "rsqrt", Scalar::Call(F::Rsqrt), Rule::Partials(&[Of(|x, y| -0.5 * (y / x[0]))]), 8, POSITIVE);
    /// Cube root; at 0 the derivative is infinite.
    CBRT = map(1, "cbrt", Scalar::Call(F::Cbrt), Rule::Partials(&[Of(|_, y| THIRD / (y * y))]), 16, POSITIVE);
    /// Square root of the sum of squares; at the origin the derivative is NaN.
    HYPOT = map(2, "hypot", Scalar::Call(F::Hypot), Rule::Partials(&[Of(|x, y| x[0] / y), Of(|x, y| x[1] / y)]), 14, QUOTIENT);
    /// Power; where a negative base has a derivative it is right, that by the exponent is NaN there and 0 where the base is 0.
    POW = map(2, "pow", Scalar::Call(F::Pow), Rule::Partials(&[Of(|x, _| pow_by_base(x[0], x[1])), Of(pow_by_exponent)]), 44, POWER);
    /// Exponential.
    EXP = map(1, "exp", Scalar::Call(F::Exp), Rule::Partials(&[Of(|_, y| y)]), 12, TAME);
    /// 2 to the power of the argument.
    EXP2 = map(1, "exp2", Scalar::Call(F::Exp2), Rule::Partials(&[Of(|_, y| LN_2 * y)]), 12, TAME);
    /// Exponential less 1, exact near 0.
    EXPM1 = map(1, "expm1", Scalar::Call(F::Expm1), Rule::Partials(&[Of(|x, _| x[0].exp())]), 16, TAME);
    /// 1 / (1 + exp(-x)).
    LOGISTIC = map(1, "logistic", Scalar::Call(F::Logistic), Rule::Partials(&[Of(|x, y| y * (-x[0]).logistic())]), 16, TAME);
    /// Natural logarithm.
    LOG = map(1, "log", Scalar::Call(F::Log), Rule::Partials(&[Of(|x, _| 1.0 / x[0])]), 14, POSITIVE);
    /// Logarithm to base 2.
    LOG2 = map(1, "log2", Scalar::Call(F::Log2), Rule::Partials(&[Of(|x, _| LOG2_E / x[0])]), 16, POSITIVE);
    /// Logarithm to base 10.
    LOG10 = map(1, "log10", Scalar::Call(F::Log10), Rule::Partials(&[Of(|x, _| LOG10_E / x[0])]), 16, POSITIVE);
    /// Natural logarithm of 1 more than the argument, exact near 0.
    LOG1P = map(1, "log1p", Scalar::Call(F::Log1p), Rule::Partials(&[Of(|x, _| 1.0 / (1.0 + x[0]))]), 18, INSIDE);
    /// Sine.
    SIN = map(1, "sin", Scalar::Call(F::Sin), Rule::Partials(&[Of(|x, _| x[0].cos())]), 16, TAME);
    /// Cosine.
    COS = map(1, "cos", Scalar::Call(F::Cos), Rule::Partials(&[Of(|x, _| -x[0].sin())]), 16, TAME);
    /// Tangent.
    TAN = map(1, "tan", Scalar::Call(F::Tan), Rule::Partials(&[Of(|_, y| 1.0 + y * y)]), 22, INSIDE);
    /// Arc sine; at -1 and 1 the derivative is infinite.
    ASIN = map(1, "asin", Scalar::Call(F::Asin), Rule::Partials(&[Of(|x, _| ((1.0 - x[0]) * (1.0 + x[0])).rsqrt())]), 18, INSIDE);
    /// Arc cosine; at -1 and 1 the derivative is infinite.
    ACOS = map(1, "acos", Scalar::Call(F::Acos), Rule::Partials(&[Of(|x, _| -((1.0 - x[0]) * (1.0 + x[0])).rsqrt())]), 18, INSIDE);
    /// Arc tangent.
    ATAN = map(1, "atan", Scalar::Call(F::Atan), Rule::Partials(&[Of(|x, _| 1.0 / (1.0 + x[0] * x[0]))]), 18, TAME);
    /// The angle of the point whose second coordinate comes first; at the origin the derivative is NaN.
    ATAN2 = map(2, "atan2", Scalar::Call(F::Atan2), Rule::Partials(&[Of(|x, _| atan2_by(x, x[1])), Of(|x, _| -atan2_by(x, x[0]))]), 26, QUOTIENT);
    /// Hyperbolic sine.
    SINH = map(1, "sinh", Scalar::Call(F::Sinh), Rule::Partials(&[Of(|x, _| x[0].cosh())]), 20, TAME);
    /// Hyperbolic cosine.
    COSH = map(1, "cosh", Scalar::Call(F::Cosh), Rule::Partials(&[Of(|x, _| x[0].sinh())]), 20, TAME);
    /// Hyperbolic tangent.
    TANH = map(1, "tanh", Scalar::Call(F::Tanh), Rule::Partials(&[Of(|_, y| 1.0 - y * y)]), 20, TAME);
    /// Inverse hyperbolic sine.
    ASINH = map(1, "asinh", Scalar::Call(F::Asinh), Rule::Partials(&[Of(|x, _| (1.0 + x[0] * x[0]).rsqrt())]), 26, TAME);
    /// Inverse hyperbolic cosine; at 1 the derivative is infinite.
    ACOSH = map(1, "acosh", Scalar::Call(F::Acosh), Rule::Partials(&[Of(|x, _| (-((1.0 - x[0]) * (1.0 + x[0]))).rsqrt())]), 26, OUTSIDE);
    /// Inverse hyperbolic tangent; at -1 and 1 the derivative is infinite.
    ATANH = map(1, "atanh", Scalar::Call(F::Atanh), Rule::Partials(&[Of(|x, _| 1.0 / ((1.0 - x[0]) * (1.0 + x[0])))]), 24, INSIDE);
    /// Error function.
    ERF = map(1, "erf", Scalar::Call(F::Erf), Rule::Partials(&[Of(|x, _| FRAC_2_SQRT_PI * (-(x[0] * x[0])).exp())]), 24, TAME);
    /// 1 less the error function, exact where that is near 1.
    ERFC = map(1, "erfc", Scalar::Call(F::Erfc), Rule::Partials(&[Of(|x, _| -FRAC_2_SQRT_PI * (-(x[0] * x[0])).exp())]), 30, TAME);
    /// Is not a number.
    IS_NAN = map(1, "is_nan", Scalar::IsNan, Rule::Zero, 1, TAME);
    /// Is neither infinite nor NaN.
    IS_FINITE = map(1, "is_finite", Scalar::IsFinite, Rule::Zero, 2, TAME);
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
        condition: |_| {},
        samples: map_samples,
    }
}

const fn compare(name: &'static str, scalar: Scalar) -> Row {
    map(2, name, scalar, Rule::Zero, 1, TAME)
}

const THIRD: f64 = 1.0 / 3.0;

/// y·x^(y−1), which at x = 0, y = 0 is 0.
fn pow_by_base<'b>(x: Expr<'b>, y: Expr<'b>) -> Expr<'b> {
    let both = x.is_zero().binary(&AND, y.is_zero());
    y * x.unless(both, 1.0).binary(&POW, y - y.like(1.0))
}

/// log(x)·x^y, which at x = 0 is 0.
fn pow_by_exponent<'b>(args: &[Expr<'b>], power: Expr<'b>) -> Expr<'b> {
    args[0].unless(args[0].is_zero(), 1.0).unary(&LOG) * power
}

/// A coordinate over the squared distance from the origin, which need not be a number of ordinary size.
fn atan2_by<'b>(args: &[Expr<'b>], coordinate: Expr<'b>) -> Expr<'b> {
    let distance = args[0].binary(&HYPOT, args[1]);
    coordinate / distance / distance
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
        Scalar::Abs | Scalar::Sign | Scalar::Min | Scalar::Max => number.then_some(dtype),
        Scalar::Floor | Scalar::Ceil | Scalar::Round | Scalar::Trunc => dtype.is_float().then_some(dtype),
        Scalar::Sqrt | Scalar::CopySign | Scalar::Call(_) => dtype.is_float().then_some(dtype),
        Scalar::IsNan | Scalar::IsFinite => dtype.is_float().then_some(DType::Bool),
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
        Scalar::Neg => each(args[0], |a| -a, i64::wrapping_neg),
        Scalar::Abs => each(args[0], f64::abs, i64::wrapping_abs),
        Scalar::Sign => each(args[0], lanes::sign, i64::signum),
        Scalar::Min => arithmetic(args, lanes::min, i64::min),
        Scalar::Max => arithmetic(args, lanes::max, i64::max),
        Scalar::Sqrt => function(args, f64::sqrt),
        Scalar::Floor => function(args, lanes::floor),
        Scalar::Ceil => function(args, lanes::ceil),
        Scalar::Round => function(args, lanes::round),
        Scalar::Trunc => function(args, lanes::trunc),
        Scalar::CopySign => Data::F64(zip(args[0].as_f64(), args[1].as_f64(), lanes::copysign)),
        Scalar::Call(callee) => match meaning(callee) {
            Meaning::One(f) => function(args, f),
            Meaning::Two(f) => Data::F64(zip(args[0].as_f64(), args[1].as_f64(), f)),
        },
        Scalar::IsNan => Data::Bool(args[0].as_f64().iter().map(|x| x.is_nan()).collect()),
        Scalar::IsFinite => Data::Bool(args[0].as_f64().iter().map(|x| x.is_finite()).collect()),
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

/// A function of numbers.
#[derive(Clone, Copy, Debug)]
pub enum Meaning {
    /// Of one.
    One(fn(f64) -> f64),
    /// Of two.
    Two(fn(f64, f64) -> f64),
}

/// What each function means.
pub fn meaning(function: LaneFunction) -> Meaning {
    use Meaning::{One, Two};
    match function {
        F::Exp => One(lanes::exp),
        F::Exp2 => One(lanes::exp2),
        F::Expm1 => One(lanes::expm1),
        F::Logistic => One(lanes::logistic),
        F::Log => One(lanes::log),
        F::Log2 => One(lanes::log2),
        F::Log10 => One(lanes::log10),
        F::Log1p => One(lanes::log1p),
        F::Sin => One(lanes::sin),
        F::Cos => One(lanes::cos),
        F::Tan => One(lanes::tan),
        F::Asin => One(lanes::asin),
        F::Acos => One(lanes::acos),
        F::Atan => One(lanes::atan),
        F::Atan2 => Two(lanes::atan2),
        F::Sinh => One(lanes::sinh),
        F::Cosh => One(lanes::cosh),
        F::Tanh => One(lanes::tanh),
        F::Asinh => One(lanes::asinh),
        F::Acosh => One(lanes::acosh),
        F::Atanh => One(lanes::atanh),
        F::Pow => Two(lanes::pow),
        F::Hypot => Two(lanes::hypot),
        F::Cbrt => One(lanes::cbrt),
        F::Rsqrt => One(lanes::rsqrt),
        F::Erf => One(lanes::erf),
        F::Erfc => One(lanes::erfc),
        F::Rem => Two(lanes::rem),
    }
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

fn each(arg: &Array, float: fn(f64) -> f64, integer: fn(i64) -> i64) -> Data {
    match arg.data() {
        Data::F64(a) => Data::F64(a.iter().map(|a| float(*a)).collect()),
        Data::I64(a) => Data::I64(a.iter().map(|a| integer(*a)).collect()),
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

    fn exp(self) -> Expr<'b> {
        self.unary(&EXP)
    }

    fn logistic(self) -> Expr<'b> {
        self.unary(&LOGISTIC)
    }

    fn rsqrt(self) -> Expr<'b> {
        self.unary(&RSQRT)
    }

    fn sinh(self) -> Expr<'b> {
        self.unary(&SINH)
    }

    fn cosh(self) -> Expr<'b> {
        self.unary(&COSH)
    }

    fn round(self) -> Expr<'b> {
        self.unary(&ROUND)
    }

    fn sign(self) -> Expr<'b> {
        self.unary(&SIGN)
    }

    /// 1 with this sign.
    fn unit(self) -> Expr<'b> {
        self.like(1.0).binary(&COPYSIGN, self)
    }

    /// 1 where this is less, 1/2 where both are equal, else 0.
    fn below(self, other: Expr<'b>) -> Expr<'b> {
        let [less, not_above] = [&LT, &LE].map(|row| {
            let holds = self.binary(row, other);
            Expr::new(self.builder, self.builder.convert(holds.value, DType::F64))
        });
        0.5 * (less + not_above)
    }

    fn is_zero(self) -> Expr<'b> {
        self.binary(&EQ, self.like(0.0))
    }

    /// This, but `x` where the condition holds.
    fn unless(self, condition: Expr<'b>, x: f64) -> Expr<'b> {
        Expr::new(self.builder, self.builder.row(&SELECT, Attrs::none(), &[condition.value, self.like(x).value, self.value]))
    }
}
