//! Elementwise ops, and what each [`Scalar`] means.

use std::cmp::Ordering;
use std::f64::consts::{FRAC_2_SQRT_PI, LN_2, LOG2_E, LOG10_E};

use super::number::{Bits, Float, Integer, Number};
use super::{lanes, ops};
use crate::ir::{
    Array, Attr, Attrs, DType, Data, EXACT, Element, Error, ErrorKind, Expr, LaneFunction, Lowering, OpDef, Partial,
    Pos, Rule, Sample,
};
use crate::ir::{
    Builder, Contribution, Scalar, Type, Value, each_bits, each_element, each_float, each_integer, each_number,
};
use LaneFunction as F;
use Partial::{Factor, Gate, MinusOne, Of, One, Zero};

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
/// Below, between and above the bounds.
const CLAMPED: &[(f64, f64)] = &[(-2.0, 2.0), (-1.5, -0.5), (0.5, 1.5)];
/// A positive base, any exponent.
const POWER: &[(f64, f64)] = &[(0.5, 3.0), (-2.0, 2.0)];

ops! {
    /// Sum.
    ADD = rounded(map(2, "add", Scalar::Add, Rule::Partials(&[One, One]), 1, TAME));
    /// Difference.
    SUB = rounded(map(2, "sub", Scalar::Sub, Rule::Partials(&[One, MinusOne]), 1, TAME));
    /// Product.
    MUL = rounded(map(2, "mul", Scalar::Mul, Rule::Partials(&[Factor(|x, _| x[1]), Factor(|x, _| x[0])]), 1, TAME));
    /// Quotient; of integers, towards zero, and by 0 a fault.
    DIV = map(2, "div", Scalar::Div, Rule::Partials(&[Factor(|x, _| 1.0 / x[1]), Of(|x, y| -(y * (1.0 / x[1])))]), 13, QUOTIENT);
    /// Negation.
    NEG = map(1, "neg", Scalar::Neg, Rule::Partials(&[MinusOne]), 1, TAME);
    /// Absolute value; at 0 the derivative is 0.
    ABS = map(1, "abs", Scalar::Abs, Rule::Partials(&[Of(|x, _| x[0].sign())]), 1, SIGNS);
    /// -1, 0 or 1 as the argument is below, at or above 0; the derivative is 0.
    SIGN = map(1, "sign", Scalar::Sign, Rule::Zero, 3, SIGNS);
    /// The lesser, NaN if either is; equal arguments get half of the cotangent each.
    MIN = map(2, "min", Scalar::Min, Rule::Partials(&[Gate(|x, _| x[0].below(x[1])), Gate(|x, _| x[1].below(x[0]))]), 3, TAME);
    /// The greater, NaN if either is; equal arguments get half of the cotangent each.
    MAX = map(2, "max", Scalar::Max, Rule::Partials(&[Gate(|x, _| x[1].below(x[0])), Gate(|x, _| x[0].below(x[1]))]), 3, TAME);
    /// The first argument, but no less than the second and no greater than the third, which wins; NaN if any is. On a bound, argument
    /// and bound get half of the cotangent each; where the bounds are equal the argument gets nothing.
    CLAMP = map(3, "clamp", Scalar::Clamp, Rule::Partials(&[Gate(|x, _| inside(x) * raised(x).below(x[2])), Gate(|x, _| (1.0 - inside(x)) * raised(x).below(x[2])), Gate(|x, _| x[2].below(raised(x)))]), 4, CLAMPED);
    /// The product of the first two arguments plus the third, rounded once.
    FMA = map(3, "fma", Scalar::Fma, Rule::Partials(&[Factor(|x, _| x[1]), Factor(|x, _| x[0]), One]), 1, TAME);
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
    /// Of integers, by 0, it is a fault.
    REM = map(2, "rem", Scalar::Rem, Rule::Partials(&[One, Of(|x, y| -((x[0] - y) / x[1]).round())]), 60, REMAINDER);
    /// Square root; at 0 the derivative is infinite.
    SQRT = map(1, "sqrt", Scalar::Sqrt, Rule::Partials(&[Of(|_, y| 0.5 / y)]), 25, POSITIVE);
    /// Reciprocal of the square root.
    RSQRT = map(1, "rsqrt", Scalar::Call(F::Rsqrt), Rule::Partials(&[Of(|x, y| -0.5 * (y / x[0]))]), 38, POSITIVE);
    /// Cube root; at 0 the derivative is infinite.
    CBRT = map(1, "cbrt", Scalar::Call(F::Cbrt), Rule::Partials(&[Of(|_, y| THIRD / (y * y))]), 82, POSITIVE);
    /// Square root of the sum of squares; at the origin the derivative is NaN.
    HYPOT = map(2, "hypot", Scalar::Call(F::Hypot), Rule::Partials(&[Of(|x, y| x[0] / y), Of(|x, y| x[1] / y)]), 55, QUOTIENT);
    /// Power; where a negative base has a derivative it is right, that by the exponent is NaN there and 0 where the base is 0.
    POW = map(2, "pow", Scalar::Call(F::Pow), Rule::Partials(&[Of(|x, _| pow_by_base(x[0], x[1])), Of(pow_by_exponent)]), 44, POWER);
    /// Exponential.
    EXP = map(1, "exp", Scalar::Call(F::Exp), Rule::Partials(&[Of(|_, y| y)]), 31, TAME);
    /// 2 to the power of the argument.
    EXP2 = map(1, "exp2", Scalar::Call(F::Exp2), Rule::Partials(&[Of(|_, y| LN_2 * y)]), 31, TAME);
    /// Exponential less 1, exact near 0.
    EXPM1 = map(1, "expm1", Scalar::Call(F::Expm1), Rule::Partials(&[Of(|x, _| x[0].exp())]), 59, TAME);
    /// 1 / (1 + exp(-x)).
    LOGISTIC = map(1, "logistic", Scalar::Call(F::Logistic), Rule::Partials(&[Of(|x, y| y * (-x[0]).logistic())]), 45, TAME);
    /// Natural logarithm.
    LOG = map(1, "log", Scalar::Call(F::Log), Rule::Partials(&[Of(|x, _| 1.0 / x[0])]), 45, POSITIVE);
    /// Logarithm to base 2.
    LOG2 = map(1, "log2", Scalar::Call(F::Log2), Rule::Partials(&[Of(|x, _| LOG2_E / x[0])]), 48, POSITIVE);
    /// Logarithm to base 10.
    LOG10 = map(1, "log10", Scalar::Call(F::Log10), Rule::Partials(&[Of(|x, _| LOG10_E / x[0])]), 48, POSITIVE);
    /// Natural logarithm of 1 more than the argument, exact near 0.
    LOG1P = map(1, "log1p", Scalar::Call(F::Log1p), Rule::Partials(&[Of(|x, _| 1.0 / (1.0 + x[0]))]), 66, INSIDE);
    /// Logarithm of the sum of two exponentials, without overflow. Equal infinities get half of the cotangent each.
    LOGADDEXP = map(2, "logaddexp", Scalar::Call(F::LogAddExp), Rule::Partials(&[Of(|x, _| x[0].above(x[1]).logistic()), Of(|x, _| x[1].above(x[0]).logistic())]), 100, TAME);
    /// The same to base 2.
    LOGADDEXP2 = map(2, "logaddexp2", Scalar::Call(F::LogAddExp2), Rule::Partials(&[Of(|x, _| (LN_2 * x[0].above(x[1])).logistic()), Of(|x, _| (LN_2 * x[1].above(x[0])).logistic())]), 100, TAME);
    /// Sine.
    SIN = map(1, "sin", Scalar::Call(F::Sin), Rule::Partials(&[Of(|x, _| x[0].cos())]), 52, TAME);
    /// Cosine.
    COS = map(1, "cos", Scalar::Call(F::Cos), Rule::Partials(&[Of(|x, _| -x[0].sin())]), 52, TAME);
    /// Tangent.
    TAN = map(1, "tan", Scalar::Call(F::Tan), Rule::Partials(&[Of(|_, y| 1.0 + y * y)]), 80, INSIDE);
    /// Arc sine; at -1 and 1 the derivative is infinite.
    ASIN = map(1, "asin", Scalar::Call(F::Asin), Rule::Partials(&[Of(|x, _| ((1.0 - x[0]) * (1.0 + x[0])).rsqrt())]), 67, INSIDE);
    /// Arc cosine; at -1 and 1 the derivative is infinite.
    ACOS = map(1, "acos", Scalar::Call(F::Acos), Rule::Partials(&[Of(|x, _| -((1.0 - x[0]) * (1.0 + x[0])).rsqrt())]), 67, INSIDE);
    /// Arc tangent.
    ATAN = map(1, "atan", Scalar::Call(F::Atan), Rule::Partials(&[Of(|x, _| vanishing(x[0], |x| 1.0 / (1.0 + x * x)))]), 83, TAME);
    /// The angle of the point whose second coordinate comes first; at the origin the derivative is NaN.
    ATAN2 = map(2, "atan2", Scalar::Call(F::Atan2), Rule::Partials(&[Of(|x, _| atan2_by(x, x[1])), Of(|x, _| -atan2_by(x, x[0]))]), 100, QUOTIENT);
    /// Hyperbolic sine.
    SINH = map(1, "sinh", Scalar::Call(F::Sinh), Rule::Partials(&[Of(|x, _| x[0].cosh())]), 55, TAME);
    /// Hyperbolic cosine.
    COSH = map(1, "cosh", Scalar::Call(F::Cosh), Rule::Partials(&[Of(|x, _| x[0].sinh())]), 54, TAME);
    /// Hyperbolic tangent.
    TANH = map(1, "tanh", Scalar::Call(F::Tanh), Rule::Partials(&[Of(|_, y| 1.0 - y * y)]), 38, TAME);
    /// Inverse hyperbolic sine.
    ASINH = map(1, "asinh", Scalar::Call(F::Asinh), Rule::Partials(&[Of(|x, _| (1.0 + x[0] * x[0]).rsqrt())]), 122, TAME);
    /// Inverse hyperbolic cosine; at 1 the derivative is infinite.
    ACOSH = map(1, "acosh", Scalar::Call(F::Acosh), Rule::Partials(&[Of(|x, _| (-((1.0 - x[0]) * (1.0 + x[0]))).rsqrt())]), 122, OUTSIDE);
    /// Inverse hyperbolic tangent; at -1 and 1 the derivative is infinite.
    ATANH = map(1, "atanh", Scalar::Call(F::Atanh), Rule::Partials(&[Of(|x, _| 1.0 / ((1.0 - x[0]) * (1.0 + x[0])))]), 80, INSIDE);
    /// Error function.
    ERF = map(1, "erf", Scalar::Call(F::Erf), Rule::Partials(&[Of(|x, _| vanishing(x[0], |x| FRAC_2_SQRT_PI * (-(x * x)).exp()))]), 80, TAME);
    /// 1 less the error function, exact where that is near 1.
    ERFC = map(1, "erfc", Scalar::Call(F::Erfc), Rule::Partials(&[Of(|x, _| vanishing(x[0], |x| -FRAC_2_SQRT_PI * (-(x * x)).exp()))]), 100, TAME);
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
    /// Both hold; of integers, bit by bit.
    AND = map(2, "and", Scalar::And, Rule::Zero, 1, TAME);
    /// At least one holds; of integers, bit by bit.
    OR = map(2, "or", Scalar::Or, Rule::Zero, 1, TAME);
    /// One holds and the other does not; of integers, bit by bit.
    XOR = map(2, "xor", Scalar::Xor, Rule::Zero, 1, TAME);
    /// Does not hold; of integers, every bit.
    NOT = map(1, "not", Scalar::Not, Rule::Zero, 1, TAME);
    /// Bits moved up, towards the sign; 0 where the count is negative, or the width of the integer or more.
    SHL = map(2, "shl", Scalar::Shl, Rule::Zero, 2, TAME);
    /// Bits moved down, copies of the sign following; 0 or -1, by the sign, where the count is negative, or the width or more.
    SHR = map(2, "shr", Scalar::Shr, Rule::Zero, 2, TAME);
    /// The second argument where the first holds, else the third.
    SELECT = OpDef {
        samples: select_samples,
        ..map(3, "select", Scalar::Select, Rule::Linear(&[None, Some(select_then), Some(select_else)]), 1, TAME)
    };
    /// To another element type.
    CONVERT = OpDef {
        attrs: &["dtype"],
        infer: infer_convert,
        eval: eval_convert,
        lowering: Lowering::Convert,
        samples: convert_samples,
        ..map(1, "convert", Scalar::Convert(DType::F64), Rule::Linear(&[Some(convert_back)]), 1, TAME)
    };
}

/// An elementwise row.
const fn map(
    arity: usize,
    name: &'static str,
    scalar: Scalar,
    rule: Rule,
    cost: u32,
    domain: &'static [(f64, f64)],
) -> OpDef {
    OpDef {
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

/// An elementwise row that passes may make a part of others, unless its attribute says no.
const fn rounded(row: OpDef) -> OpDef {
    OpDef { attrs: &[EXACT], ..row }
}

const fn compare(name: &'static str, scalar: Scalar) -> OpDef {
    map(2, name, scalar, Rule::Zero, 1, TAME)
}

const THIRD: f64 = 1.0 / 3.0;

/// The greater of the first argument and its lower bound.
fn raised<'b>(args: &[Expr<'b>]) -> Expr<'b> {
    args[0].binary(&MAX, args[1])
}

/// 1 where the first argument is above its lower bound, 1/2 on it, else 0; 0 where no number is between the bounds.
fn inside<'b>(args: &[Expr<'b>]) -> Expr<'b> {
    args[1].below(args[0]) * args[1].less(args[2])
}

/// A partial that is 0 at infinity, and so are its derivatives, which are products of infinities and zeros there.
fn vanishing<'b>(x: Expr<'b>, partial: impl Fn(Expr<'b>) -> Expr<'b>) -> Expr<'b> {
    let far = x.is_infinite();
    partial(x.unless(far, 0.0)).unless(far, 0.0)
}

/// y·x^(y−1), which at x = 0, y = 0 is 0.
fn pow_by_base<'b>(x: Expr<'b>, y: Expr<'b>) -> Expr<'b> {
    let both = x.is_zero().binary(&AND, y.is_zero());
    let power = x.unless(both, 1.0).binary(&POW, y - y.like(1.0));
    y.unless(power.is_zero().binary(&AND, y.is_infinite()), 0.0) * power
}

/// log(x)·x^y, which is 0 where the power is, and at x = 0.
fn pow_by_exponent<'b>(args: &[Expr<'b>], power: Expr<'b>) -> Expr<'b> {
    args[0].unless(args[0].is_zero().binary(&OR, power.is_zero()), 1.0).unary(&LOG) * power
}

/// A coordinate over the squared distance from the origin, which need not be a number of ordinary size, and 0 where
/// that is infinite.
fn atan2_by<'b>(args: &[Expr<'b>], coordinate: Expr<'b>) -> Expr<'b> {
    let distance = args[0].binary(&HYPOT, args[1]);
    let far = distance.is_infinite();
    let distance = distance.unless(far, 1.0);
    coordinate.unless(far, 0.0) / distance / distance
}

fn select_then(b: &Builder, _: &Attrs, args: &[Value], ct: Value) -> Contribution {
    let zeros = b.zeros(&b.ty(ct));
    Contribution::Dense(b.op(&SELECT, Attrs::none(), &[args[0], ct, zeros]))
}

fn select_else(b: &Builder, _: &Attrs, args: &[Value], ct: Value) -> Contribution {
    let zeros = b.zeros(&b.ty(ct));
    Contribution::Dense(b.op(&SELECT, Attrs::none(), &[args[0], zeros, ct]))
}

fn convert_back(b: &Builder, _: &Attrs, args: &[Value], ct: Value) -> Contribution {
    Contribution::Dense(b.convert(ct, b.ty(args[0]).dtype))
}

/// The scalar of an elementwise row.
fn scalar_of(def: &OpDef) -> Scalar {
    let Lowering::Map(scalar) = def.lowering else { panic!("elementwise rows lower to a scalar op: {}", def.name) };
    scalar
}

fn infer_map(def: &OpDef, types: &[Type], _: &Attrs) -> Result<Type, Error> {
    let data = if scalar_of(def) == Scalar::Select { &types[1..] } else { types };
    if let Some(other) = types.iter().find(|ty| ty.shape != types[0].shape) {
        let message = format!("`{}` needs equal shapes, found {} and {other}", def.name, types[0]);
        return Err(Error::new(ErrorKind::Shape, Pos::unknown(), message));
    }
    if let Some(other) = data.iter().find(|ty| ty.dtype != data[0].dtype) {
        let message = format!("`{}` needs equal element types, found {} and {other}", def.name, data[0]);
        return Err(Error::new(ErrorKind::DType, Pos::unknown(), message));
    }
    let dtype = data[0].dtype;
    let result = result_dtype(scalar_of(def), types[0].dtype, dtype).ok_or_else(|| {
        let message = format!("`{}` does not take {}", def.name, types[0]);
        Error::new(ErrorKind::DType, Pos::unknown(), message)
    })?;
    Ok(Type::new(result, types[0].shape.clone()))
}

/// Element type of the result, or `None` where the op is not defined on the argument.
fn result_dtype(scalar: Scalar, first: DType, dtype: DType) -> Option<DType> {
    let number = dtype != DType::Bool;
    match scalar {
        Scalar::Add | Scalar::Sub | Scalar::Mul | Scalar::Div | Scalar::Rem | Scalar::Neg => number.then_some(dtype),
        Scalar::Abs | Scalar::Sign | Scalar::Min | Scalar::Max | Scalar::Clamp => number.then_some(dtype),
        Scalar::Floor | Scalar::Ceil | Scalar::Round | Scalar::Trunc => dtype.is_float().then_some(dtype),
        Scalar::Fma | Scalar::Sqrt | Scalar::CopySign | Scalar::Call(_) => dtype.is_float().then_some(dtype),
        Scalar::IsNan | Scalar::IsFinite => dtype.is_float().then_some(DType::Bool),
        Scalar::Lt | Scalar::Le | Scalar::Gt | Scalar::Ge => number.then_some(DType::Bool),
        Scalar::Eq | Scalar::Ne => Some(DType::Bool),
        Scalar::And | Scalar::Or | Scalar::Xor | Scalar::Not => (!dtype.is_float()).then_some(dtype),
        Scalar::Shl | Scalar::Shr => dtype.is_integer().then_some(dtype),
        Scalar::Select => (first == DType::Bool).then_some(dtype),
        Scalar::Convert(to) => Some(to),
    }
}

fn infer_convert(_: &OpDef, types: &[Type], attrs: &Attrs) -> Result<Type, Error> {
    match attrs.get("dtype") {
        Some(Attr::DType(dtype)) => Ok(Type::new(*dtype, types[0].shape.clone())),
        _ => Err(Error::new(ErrorKind::Argument, Pos::unknown(), "`convert` needs an element type")),
    }
}

fn eval_map(def: &OpDef, args: &[&Array], _: &Attrs, ty: &Type) -> Result<Array, ErrorKind> {
    evaluate(scalar_of(def), args, ty)
}

fn eval_convert(_: &OpDef, args: &[&Array], attrs: &Attrs, ty: &Type) -> Result<Array, ErrorKind> {
    evaluate(Scalar::Convert(attrs.dtype("dtype")), args, ty)
}

/// What each scalar op means, element by element.
pub fn evaluate(scalar: Scalar, args: &[&Array], ty: &Type) -> Result<Array, ErrorKind> {
    let dtype = args[args.len() - 1].dtype();
    if matches!(scalar, Scalar::Div | Scalar::Rem) && dtype.is_integer() && has_zero(args[1]) {
        return Err(ErrorKind::DivisionByZero);
    }
    Ok(Array::new(ty.shape.clone(), elements(scalar, dtype, args)))
}

#[allow(
    clippy::cognitive_complexity,
    reason = "one line per op; what is counted are the choices of element types in the macros"
)]
fn elements(scalar: Scalar, dtype: DType, args: &[&Array]) -> Data {
    match scalar {
        Scalar::Add => each_number!(dtype, T => both(args, T::plus)),
        Scalar::Sub => each_number!(dtype, T => both(args, T::minus)),
        Scalar::Mul => each_number!(dtype, T => both(args, T::times)),
        Scalar::Div => each_number!(dtype, T => both(args, T::over)),
        Scalar::Rem => each_number!(dtype, T => both(args, T::rest)),
        Scalar::Fma => each_float!(dtype, T => all_three(args, T::fused)),
        Scalar::Neg => each_number!(dtype, T => each(args, T::negative)),
        Scalar::Abs => each_number!(dtype, T => each(args, T::magnitude)),
        Scalar::Sign => each_number!(dtype, T => each(args, T::sign)),
        Scalar::Min => each_number!(dtype, T => both(args, T::least)),
        Scalar::Max => each_number!(dtype, T => both(args, T::greatest)),
        Scalar::Clamp => each_number!(dtype, T => all_three(args, |x: T, low, high| x.greatest(low).least(high))),
        Scalar::Sqrt => each_float!(dtype, T => each(args, T::root)),
        Scalar::Floor => function(dtype, args, lanes::floor),
        Scalar::Ceil => function(dtype, args, lanes::ceil),
        Scalar::Round => function(dtype, args, lanes::round),
        Scalar::Trunc => function(dtype, args, lanes::trunc),
        Scalar::CopySign => function_of_both(dtype, args, lanes::copysign),
        Scalar::Call(callee) => match meaning(callee) {
            Meaning::One(f) => function(dtype, args, f),
            Meaning::Two(f) => function_of_both(dtype, args, f),
        },
        Scalar::IsNan => each_float!(dtype, T => each(args, T::nan)),
        Scalar::IsFinite => each_float!(dtype, T => each(args, T::finite)),
        Scalar::Lt => comparison(dtype, args, |order| order.is_some_and(Ordering::is_lt)),
        Scalar::Le => comparison(dtype, args, |order| order.is_some_and(Ordering::is_le)),
        Scalar::Gt => comparison(dtype, args, |order| order.is_some_and(Ordering::is_gt)),
        Scalar::Ge => comparison(dtype, args, |order| order.is_some_and(Ordering::is_ge)),
        Scalar::Eq => comparison(dtype, args, |order| order.is_some_and(Ordering::is_eq)),
        Scalar::Ne => comparison(dtype, args, |order| !order.is_some_and(Ordering::is_eq)),
        Scalar::And => each_bits!(dtype, T => both(args, T::and)),
        Scalar::Or => each_bits!(dtype, T => both(args, T::or)),
        Scalar::Xor => each_bits!(dtype, T => both(args, T::xor)),
        Scalar::Not => each_bits!(dtype, T => each(args, T::inverse)),
        Scalar::Shl => each_integer!(dtype, T => both(args, T::left)),
        Scalar::Shr => each_integer!(dtype, T => both(args, T::right)),
        Scalar::Select => each_element!(dtype, T => select::<T>(args)),
        Scalar::Convert(to) => each_element!(dtype, T => convert(T::of(args[0]), to)),
    }
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
        F::LogAddExp => Two(lanes::logaddexp),
        F::LogAddExp2 => Two(lanes::logaddexp2),
    }
}

fn has_zero(array: &Array) -> bool {
    each_integer!(array.dtype(), T => T::of(array).contains(&T::ZERO))
}

fn each<T: Element, U: Element>(args: &[&Array], f: impl Fn(T) -> U) -> Data {
    U::data(T::of(args[0]).iter().map(|x| f(*x)).collect())
}

fn both<T: Element, U: Element>(args: &[&Array], f: impl Fn(T, T) -> U) -> Data {
    U::data(T::of(args[0]).iter().zip(T::of(args[1])).map(|(x, y)| f(*x, *y)).collect())
}

fn all_three<T: Element>(args: &[&Array], f: impl Fn(T, T, T) -> T) -> Data {
    let rest = T::of(args[1]).iter().zip(T::of(args[2]));
    T::data(T::of(args[0]).iter().zip(rest).map(|(x, (y, z))| f(*x, *y, *z)).collect())
}

fn function(dtype: DType, args: &[&Array], f: fn(f64) -> f64) -> Data {
    each_float!(dtype, T => each(args, |x: T| x.through(f)))
}

fn function_of_both(dtype: DType, args: &[&Array], f: fn(f64, f64) -> f64) -> Data {
    each_float!(dtype, T => both(args, |x: T, y| x.through_both(y, f)))
}

/// Comparison by ordering; `None` is a NaN on either side.
fn comparison(dtype: DType, args: &[&Array], holds: fn(Option<Ordering>) -> bool) -> Data {
    each_element!(dtype, T => both(args, |x: T, y: T| holds(x.partial_cmp(&y))))
}

fn select<T: Element>(args: &[&Array]) -> Data {
    let choices = T::of(args[1]).iter().zip(T::of(args[2]));
    T::data(args[0].as_bool().iter().zip(choices).map(|(holds, (x, y))| if *holds { *x } else { *y }).collect())
}

fn convert<T: Element>(from: &[T], to: DType) -> Data {
    match to {
        DType::F32 => Data::F32(from.iter().map(|x| x.to_f32()).collect()),
        DType::F64 => Data::F64(from.iter().map(|x| x.to_f64()).collect()),
        DType::I32 => Data::I32(from.iter().map(|x| x.to_i32()).collect()),
        DType::I64 => Data::I64(from.iter().map(|x| x.to_i64()).collect()),
        DType::Bool => Data::Bool(from.iter().map(|x| x.to_bool()).collect()),
    }
}

/// Each argument draws from its own interval.
fn domain_of(def: &OpDef, argument: usize) -> (f64, f64) {
    def.domain.get(argument).or(def.domain.last()).copied().expect("rows state a domain")
}

/// Floats, integers and truth values, wherever the row takes them.
fn map_samples(def: &OpDef) -> Vec<Sample> {
    let (arity, scalar) = (def.arity.expect("elementwise rows have a fixed arity"), scalar_of(def));
    let takes = |dtype| result_dtype(scalar, dtype, dtype).is_some();
    let sample = |ty: Type, domain: &dyn Fn(usize) -> (f64, f64)| Sample {
        args: (0..arity).map(|k| (ty.clone(), domain(k))).collect(),
        attrs: Attrs::none(),
    };
    let shapes: [&[usize]; 4] = [&[], &[3], &[2, 9], &[17]];
    let mut samples = vec![];
    if takes(DType::F64) {
        samples.extend(shapes.into_iter().map(|shape| sample(Type::f64(shape), &|k| domain_of(def, k))));
    }
    if takes(DType::I64) {
        let (divides, shifts) =
            (matches!(scalar, Scalar::Div | Scalar::Rem), matches!(scalar, Scalar::Shl | Scalar::Shr));
        // Counts that are negative, fit one width, both, or none.
        let second = if divides {
            (1.0, 9.0)
        } else if shifts {
            (-9.0, 80.0)
        } else {
            (-9.0, 9.0)
        };
        let whole = |k| if k == 1 { second } else { (-9.0, 9.0) };
        samples.extend([&[][..], &[11]].into_iter().map(|shape| sample(Type::new(DType::I64, shape), &whole)));
    }
    if takes(DType::Bool) {
        samples.push(sample(Type::new(DType::Bool, [11]), &|_| (0.0, 2.0)));
    }
    samples
}

fn select_samples(_: &OpDef) -> Vec<Sample> {
    let predicate = (Type::new(DType::Bool, [11]), (0.0, 2.0));
    let data = (Type::f64([11]), (-2.0, 2.0));
    vec![Sample { args: vec![predicate, data.clone(), data], attrs: Attrs::none() }]
}

fn convert_samples(_: &OpDef) -> Vec<Sample> {
    let domain = |dtype: DType| if dtype == DType::Bool { (0.0, 2.0) } else { (-9.0, 9.0) };
    let sample = |from: DType, to: DType| Sample {
        args: vec![(Type::new(from, [7]), domain(from))],
        attrs: Attrs::none().with("dtype", Attr::DType(to)),
    };
    DType::ALL.into_iter().flat_map(|from| DType::ALL.into_iter().map(move |to| sample(from, to))).collect()
}

/// Elementwise functions for rules.
impl<'b> Expr<'b> {
    fn unary(self, def: &'static OpDef) -> Expr<'b> {
        Expr::new(self.builder, self.builder.op(def, Attrs::none(), &[self.value]))
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
        0.5 * (self.less(other) + self.compared(&LE, other))
    }

    /// 1 where this is less, else 0.
    fn less(self, other: Expr<'b>) -> Expr<'b> {
        self.compared(&LT, other)
    }

    /// 1 where a comparison holds, else 0.
    fn compared(self, def: &'static OpDef, other: Expr<'b>) -> Expr<'b> {
        let (holds, dtype) = (self.binary(def, other), self.builder.ty(self.value).dtype);
        Expr::new(self.builder, self.builder.convert(holds.value, dtype))
    }

    /// How far this is above the other; 0 where both are the same infinity. At ties of numbers it still has a
    /// derivative.
    fn above(self, other: Expr<'b>) -> Expr<'b> {
        let infinite = self.unary(&IS_FINITE).unary(&NOT);
        (self - other).unless(infinite.binary(&AND, self.binary(&EQ, other)), 0.0)
    }

    fn is_zero(self) -> Expr<'b> {
        self.binary(&EQ, self.like(0.0))
    }

    fn is_infinite(self) -> Expr<'b> {
        self.unary(&ABS).binary(&EQ, self.like(f64::INFINITY))
    }

    /// This, but `x` where the condition holds.
    fn unless(self, condition: Expr<'b>, x: f64) -> Expr<'b> {
        Expr::new(
            self.builder,
            self.builder.op(&SELECT, Attrs::none(), &[condition.value, self.like(x).value, self.value]),
        )
    }
}
