//! Linear algebra over the matrices in the last two axes; the axes before them are batches.
//!
//! A matrix that has no answer does not fault: the answer is NaN or infinite, as each row says.

mod adjugate;
pub(super) mod dense;
pub(super) mod reflect;
pub(super) mod routines;

use super::build::{given, routine, tangent, total};
use super::dot::{DOT, DotAxes};
use super::gather::TAKE_ALONG_AXIS;
use super::ops;
use super::reduce::{SUM, float_only};
use super::scalar::{EQ, GE, GT, LE, LT, SELECT, SUB};
use super::shape::{BROADCAST, CONCAT, IOTA, TRANSPOSE, cut, shape_error, view};
use crate::ir::{
    Array, Attr, Attrs, Builder, Contribution, DType, DataMut, Error, ErrorKind, Factors, Lowering, OpDef, Routine,
    Rule, Sample, Type, Value, View,
};

ops! {
    /// The lower triangular factor L with A = L Lᵀ, zeros above. Reads only the lower triangle of A, so that the derivative is zero above it. NaN where A is not positive definite.
    CHOLESKY = OpDef { cost: 2, rule: tangent(cholesky_tangent), ..of_matrix("cholesky", routines::CHOLESKY) };
    /// X with T X = B, where T is the lower (`lower=[1]`) or upper triangle of A, or its transpose, with its diagonal or with ones there; nothing else of A is read. Infinite or NaN where a zero is on the diagonal.
    TRIANGULAR_SOLVE = OpDef { attrs: &["lower", "transpose", "unit"], rule: Rule::Tangent { tangent: triangular_tangent, linear: &[None, Some(transpose_triangular)] }, samples: triangular_samples, ..of_system("triangular_solve", routines::TRIANGULAR_SOLVE) };
    /// L (below the diagonal, which is 1) and U (on and above it) in one matrix, with the rows of A in the order of `lu_permutation`; partial pivoting. The derivative is infinite or NaN where another pivot than the last is zero.
    LU = OpDef { rule: tangent(lu_tangent), ..of_factors("lu", routines::LU) };
    /// Row i of L U, of `lu`, is this row of A.
    LU_PERMUTATION = OpDef { infer: |row, types, attrs| infer_matrix(row, types, attrs).map(|ty| Type::new(DType::I64, &ty.shape[..ty.rank() - 1])), rule: Rule::Zero, ..of_factors("lu_permutation", routines::LU_PERMUTATION) };
    /// Q above R, in one array of m + n rows: A, of m ≥ n rows and n columns, is Q R, where the columns of Q are orthonormal and R is zero below its diagonal, by reflections. The derivative is infinite or NaN where the columns of A depend on each other; of a square matrix, where those before the last do.
    QR = OpDef { cost: 12, infer: infer_tall, rule: tangent(qr_tangent), samples: tall_samples, ..of_matrix("qr", routines::QR) };
    /// X with A X = B, or Aᵀ X = B (`transpose=[1]`), by the factors of A. Infinite or NaN where A is singular.
    SOLVE = OpDef { cost: 9, attrs: &["transpose"], rule: Rule::Tangent { tangent: solve_tangent, linear: &[None, Some(transpose_solve)] }, samples: solve_samples, arity: Some(2), infer: infer_system, ..of_factors("solve", routines::SOLVE) };
    /// A⁻¹. Infinite or NaN where A is singular.
    INVERSE = OpDef { cost: 9, rule: tangent(inverse_tangent), ..of_factors("inverse", routines::INVERSE) };
    /// The determinant. Its first three derivatives are exact where A is singular, too; the next are infinite or NaN there.
    DET = OpDef { infer: infer_number, rule: tangent(det_tangent), ..of_factors("det", routines::DET) };
    /// The sign of the determinant, also where it would overflow: 1, −1 or 0.
    DET_SIGN = OpDef { infer: infer_number, rule: Rule::Zero, ..of_factors("det_sign", routines::DET_SIGN) };
    /// log |det A|, also where the determinant would overflow; −∞ where A is singular, and the derivative is infinite or NaN there.
    LOGDET = OpDef { infer: infer_number, rule: tangent(logdet_tangent), ..of_factors("logdet", routines::LOGDET) };
    /// The adjugate of the first argument, det(A) A⁻¹, also where that is singular; with one or two more arguments its first or second derivative in these directions. The third is infinite or NaN where A is singular.
    ADJUGATE = OpDef { cost: 18, arity: None, infer: infer_adjugate, rule: Rule::Tangent { tangent: adjugate_tangent, linear: &[None, Some(|b, _, args, ct| transpose_adjugate(b, args, 1, ct)), Some(|b, _, args, ct| transpose_adjugate(b, args, 2, ct))] }, samples: adjugate_samples, ..of_matrix("adjugate", routines::ADJUGATE) };
}

pub(super) const fn of_matrix(name: &'static str, function: Routine) -> OpDef {
    OpDef {
        infer: infer_matrix,
        eval: routine,
        lowering: Lowering::Routine(function),
        cost: 3,
        domain: &[(-1.0, 1.0)],
        condition: dominant,
        samples: matrix_samples,
        ..view(name, View::Reshape, &[])
    }
}

/// A row whose routine reads the factors of the matrices.
const fn of_factors(name: &'static str, function: Routine) -> OpDef {
    OpDef { eval: from_factors, lowering: Lowering::Factored(FACTORS, function), ..of_matrix(name, function) }
}

/// L and U packed as `lu` has them, and one more row, the rows of A in the order of L U.
const FACTORS: Factors = Factors { name: "lu", routine: routines::FACTORS, ty: one_row_more };

/// Matrices with one row more.
pub(super) fn one_row_more(ty: &Type) -> Type {
    let mut shape = ty.shape.clone();
    shape[ty.rank() - 2] += 1;
    Type::new(ty.dtype, shape)
}

/// Evaluation of a row that reads factors.
pub(super) fn from_factors(def: &OpDef, args: &[&Array], attrs: &Attrs, ty: &Type) -> Result<Array, ErrorKind> {
    let Lowering::Factored(factors, routine) = def.lowering else { panic!("`{}` does not read factors", def.name) };
    let factors = factors.routine.evaluate(&args[..1], &Attrs::none(), &(factors.ty)(&args[0].ty()));
    Ok(routine.evaluate(&[&[&factors], &args[1..]].concat(), attrs, ty))
}

const fn of_system(name: &'static str, function: Routine) -> OpDef {
    OpDef { arity: Some(2), infer: infer_system, ..of_matrix(name, function) }
}

pub(super) fn infer_matrix(def: &OpDef, types: &[Type], _: &Attrs) -> Result<Type, Error> {
    float_only(def.name, &types[0])?;
    match types[0].shape[..] {
        [.., n, m] if n == m => Ok(types[0].clone()),
        _ => shape_error(format!("`{}` needs square matrices in the last two axes, found {}", def.name, types[0])),
    }
}

fn infer_tall(def: &OpDef, types: &[Type], _: &Attrs) -> Result<Type, Error> {
    float_only(def.name, &types[0])?;
    match types[0].shape[..] {
        [ref batch @ .., m, n] if m >= n => Ok(Type::new(types[0].dtype, [batch, &[m + n, n]].concat())),
        _ => shape_error(format!(
            "`{}` needs matrices of as many rows as columns, or more, in the last two axes, found {}",
            def.name, types[0]
        )),
    }
}

fn infer_number(def: &OpDef, types: &[Type], attrs: &Attrs) -> Result<Type, Error> {
    infer_matrix(def, types, attrs).map(|ty| Type::new(ty.dtype, &ty.shape[..ty.rank() - 2]))
}

fn infer_system(def: &OpDef, types: &[Type], attrs: &Attrs) -> Result<Type, Error> {
    infer_matrix(def, types, attrs)?;
    let rows = types[0].rank() - 1;
    if types[1].dtype != types[0].dtype
        || types[1].rank() != types[0].rank()
        || types[1].shape[..rows] != types[0].shape[..rows]
    {
        return shape_error(format!(
            "`{}` needs a right side with the batches and rows of {}, found {}",
            def.name, types[0], types[1]
        ));
    }
    for name in def.attrs {
        if !matches!(attrs.sizes(name)[..], [0 | 1]) {
            return shape_error(format!("`{}` needs 0 or 1 for `{name}`, found {:?}", def.name, attrs.sizes(name)));
        }
    }
    Ok(types[1].clone())
}

/// What stands on the left of a product.
#[derive(Clone, Copy)]
pub(super) enum Left {
    Plain,
    Transposed,
}

pub(super) fn product_with(b: &Builder, left: Left, x: Value, y: Value) -> Value {
    let rank = b.ty(x).rank();
    let batch: Vec<usize> = (0..rank - 2).collect();
    let contracted = match left {
        Left::Plain => rank - 1,
        Left::Transposed => rank - 2,
    };
    b.op(&DOT, DotAxes::attrs(&[contracted], &[rank - 2], &batch, &batch), &[x, y])
}

pub(super) fn product(b: &Builder, x: Value, y: Value) -> Value {
    product_with(b, Left::Plain, x, y)
}

/// Every matrix transposed.
pub(super) fn flipped(b: &Builder, x: Value) -> Value {
    let mut axes: Vec<usize> = (0..b.ty(x).rank()).collect();
    let rank = axes.len();
    axes.swap(rank - 2, rank - 1);
    b.op(&TRANSPOSE, Attrs::none().ints("axes", axes), &[x])
}

/// Where along an axis each element of a type is.
pub(super) fn places(b: &Builder, ty: &Type, axis: usize) -> Value {
    let ty = Type::new(DType::I64, ty.shape.clone());
    b.op(&IOTA, Attrs::none().with("type", Attr::Type(ty)).ints("axis", [axis]), &[])
}

/// The entries of every matrix where row and column compare like this; others are zero.
pub(super) fn part(b: &Builder, compare: &'static OpDef, x: Value) -> Value {
    let ty = b.ty(x);
    let here = b.op(compare, Attrs::none(), &[2, 1].map(|k| places(b, &ty, ty.rank() - k)));
    b.op(&SELECT, Attrs::none(), &[here, x, b.zeros(&ty)])
}

/// The triangle that these attributes speak of.
fn triangle(b: &Builder, attrs: &Attrs, x: Value) -> Value {
    let holds = |name: &str| attrs.size(name) == 1;
    match (holds("lower"), holds("unit")) {
        (true, true) => part(b, &GT, x),
        (true, false) => part(b, &GE, x),
        (false, true) => part(b, &LT, x),
        (false, false) => part(b, &LE, x),
    }
}

fn triangular(lower: bool, transpose: bool, unit: bool) -> Attrs {
    let number = |name: &'static str, holds: bool, attrs: Attrs| attrs.ints(name, [usize::from(holds)]);
    number("unit", unit, number("transpose", transpose, number("lower", lower, Attrs::none())))
}

fn triangular_solve(b: &Builder, attrs: Attrs, a: Value, x: Value) -> Value {
    b.op(&TRIANGULAR_SOLVE, attrs, &[a, x])
}

/// A number times an array.
pub(super) fn scaled(b: &Builder, factor: f64, x: Value) -> Value {
    b.mul(b.full(&b.ty(x), factor), x)
}

/// Every number of a batch, for all entries of its matrix.
fn spread(b: &Builder, x: Value, like: Value) -> Value {
    let shape = b.ty(like).shape;
    let batch = 0..shape.len() - 2;
    b.op(&BROADCAST, Attrs::none().ints("shape", shape).ints("axes", batch), &[x])
}

/// ⟨x, y⟩ of every two matrices.
pub(super) fn inner(b: &Builder, x: Value, y: Value) -> Value {
    let rank = b.ty(x).rank();
    b.op(&SUM, Attrs::none().ints("axes", [rank - 2, rank - 1]), &[b.mul(x, y)])
}

/// dL = L Φ(L⁻¹ S L⁻ᵀ), where Φ takes the lower triangle with half of the diagonal (I. Murray, "Differentiation of the
/// Cholesky decomposition", arXiv:1602.07527, 2016). S is the symmetric matrix whose lower triangle is that of dA:
/// nothing else of A is read.
fn cholesky_tangent(b: &Builder, _: &Attrs, _: &[Value], l: Value, tangents: &[Option<Value>]) -> Value {
    let da = given(tangents);
    let s = b.add(part(b, &GE, da), flipped(b, part(b, &GT, da)));
    let divided = |x: Value| triangular_solve(b, triangular(true, false, false), l, x);
    let both = divided(flipped(b, divided(s)));
    let phi = b.add(part(b, &GT, both), scaled(b, 0.5, part(b, &EQ, both)));
    product(b, l, phi)
}

/// dX = T⁻¹ (dB − dT X).
fn triangular_tangent(b: &Builder, attrs: &Attrs, args: &[Value], x: Value, tangents: &[Option<Value>]) -> Value {
    let from_matrix = tangents[0].map(|da| {
        let left = if attrs.size("transpose") == 1 { Left::Transposed } else { Left::Plain };
        b.neg(product_with(b, left, triangle(b, attrs, da), x))
    });
    triangular_solve(b, attrs.clone(), args[0], total(b, [from_matrix, tangents[1]]))
}

fn transpose_triangular(b: &Builder, attrs: &Attrs, args: &[Value], ct: Value) -> Contribution {
    let holds = |name: &str| attrs.size(name) == 1;
    Contribution::Dense(triangular_solve(
        b,
        triangular(holds("lower"), !holds("transpose"), holds("unit")),
        args[0],
        ct,
    ))
}

/// Every matrix with 1 for its last pivot.
fn with_last_pivot_one(b: &Builder, x: Value) -> Value {
    let (ty, n) = (b.ty(x), b.ty(x).shape[b.ty(x).rank() - 1]);
    let [row, column] = [2, 1].map(|k| places(b, &ty, ty.rank() - k));
    let last = b.full(&b.ty(row), 2.0 * (n as f64 - 1.0));
    let here = b.op(&EQ, Attrs::none(), &[b.add(row, column), last]);
    b.op(&SELECT, Attrs::none(), &[here, b.full(&ty, 1.0), x])
}

/// With F = L⁻¹ P dA U⁻¹: dL = L F below the diagonal, dU = F U on and above it. Below the diagonal the last pivot has
/// no part in F, and on and above it none in F U: it may be any number, as long as it is the same in both, and A may be
/// singular.
fn lu_tangent(b: &Builder, _: &Attrs, args: &[Value], y: Value, tangents: &[Option<Value>]) -> Value {
    let da = given(tangents);
    let ty = b.ty(da);
    let rows = b.op(&LU_PERMUTATION, Attrs::none(), &[args[0]]);
    let rows = b.op(&BROADCAST, Attrs::none().ints("shape", ty.shape.clone()).ints("axes", 0..ty.rank() - 1), &[rows]);
    let permuted = b.op(&TAKE_ALONG_AXIS, Attrs::none().ints("axis", [ty.rank() - 2]), &[da, rows]);
    let left = triangular_solve(b, triangular(true, false, true), y, permuted);
    let upper = with_last_pivot_one(b, y);
    let f = flipped(b, triangular_solve(b, triangular(false, true, false), upper, flipped(b, left)));
    let (below, above) = (part(b, &GT, f), part(b, &LE, f));
    let dl = b.add(below, product(b, part(b, &GT, y), below));
    b.add(dl, product(b, above, part(b, &LE, upper)))
}

/// With B = dA R⁻¹ and C = Qᵀ B, Qᵀ dQ is skew and dR upper triangular: both are so with S = C below the diagonal less
/// the transpose of that, in dR = Qᵀ dA − S R and dQ = B − Q (C − S). Of a square matrix that is Q S, in which the last
/// pivot of R has no part: it may be any.
fn qr_tangent(b: &Builder, _: &Attrs, _: &[Value], y: Value, tangents: &[Option<Value>]) -> Value {
    let da = given(tangents);
    let minus = |x: Value, y: Value| b.op(&SUB, Attrs::none(), &[x, y]);
    let (shape, rank) = (b.ty(da).shape, b.ty(da).rank());
    let (mut square, mut below) = (shape.clone(), vec![0; rank]);
    square[rank - 2] = shape[rank - 1];
    below[rank - 2] = shape[rank - 2];
    let (q, r) = (cut(b, y, &vec![0; rank], &shape), cut(b, y, &below, &square));
    let divisor = if square == shape { with_last_pivot_one(b, r) } else { r };
    let divided = flipped(b, triangular_solve(b, triangular(false, true, false), divisor, flipped(b, da)));
    let c = product_with(b, Left::Transposed, q, divided);
    let below = part(b, &GT, c);
    let skew = minus(below, flipped(b, below));
    let dr = minus(product_with(b, Left::Transposed, q, da), product(b, skew, r));
    let dq = minus(divided, product(b, q, minus(c, skew)));
    b.op(&CONCAT, Attrs::none().ints("axis", [rank - 2]), &[dq, part(b, &LE, dr)])
}

/// dX = A⁻¹ (dB − dA X), the same with transposes.
fn solve_tangent(b: &Builder, attrs: &Attrs, args: &[Value], x: Value, tangents: &[Option<Value>]) -> Value {
    let left = if attrs.size("transpose") == 1 { Left::Transposed } else { Left::Plain };
    let from_matrix = tangents[0].map(|da| b.neg(product_with(b, left, da, x)));
    b.op(&SOLVE, attrs.clone(), &[args[0], total(b, [from_matrix, tangents[1]])])
}

fn transpose_solve(b: &Builder, attrs: &Attrs, args: &[Value], ct: Value) -> Contribution {
    Contribution::Dense(b.op(&SOLVE, Attrs::none().ints("transpose", [1 - attrs.size("transpose")]), &[args[0], ct]))
}

/// dY = −Y dA Y.
fn inverse_tangent(b: &Builder, _: &Attrs, _: &[Value], y: Value, tangents: &[Option<Value>]) -> Value {
    b.neg(product(b, y, product(b, given(tangents), y)))
}

/// d det = tr(adj(A) dA) (Jacobi's formula).
fn det_tangent(b: &Builder, _: &Attrs, args: &[Value], _: Value, tangents: &[Option<Value>]) -> Value {
    inner(b, flipped(b, b.op(&ADJUGATE, Attrs::none(), &[args[0]])), given(tangents))
}

/// d log |det| = tr(A⁻¹ dA).
fn logdet_tangent(b: &Builder, _: &Attrs, args: &[Value], _: Value, tangents: &[Option<Value>]) -> Value {
    inner(b, flipped(b, b.op(&INVERSE, Attrs::none(), &[args[0]])), given(tangents))
}

/// Dᵏ adj(A)[B₁, …, Bₖ] is linear in each direction and one more direction differentiates it. The last has the
/// derivative of adj(A) A = det(A) I: Dᵏ⁺¹ adj(A)[…, dA] A = tr(Dᵏ adj(A)[…] dA) I − Dᵏ adj(A)[…] dA − Σ Dᵏ adj(A)[…,
/// dA for Bᵢ] Bᵢ.
fn adjugate_tangent(b: &Builder, _: &Attrs, args: &[Value], y: Value, tangents: &[Option<Value>]) -> Value {
    let adjugate = |args: &[Value]| b.op(&ADJUGATE, Attrs::none(), args);
    let with = |k: usize, direction: Value| {
        let mut args = args.to_vec();
        args[k] = direction;
        adjugate(&args)
    };
    let from_matrix = tangents[0].map(|da| {
        if args.len() <= adjugate::DIRECTIONS {
            return adjugate(&[args, &[da]].concat());
        }
        let trace = part(b, &EQ, spread(b, inner(b, flipped(b, y), da), da));
        let turned = (1..args.len()).map(|k| product(b, with(k, da), args[k])).chain([product(b, y, da)]);
        let rest = turned.fold(trace, |rest, term| b.op(&SUB, Attrs::none(), &[rest, term]));
        product(b, rest, b.op(&INVERSE, Attrs::none(), &[args[0]]))
    });
    let from_directions = (1..args.len()).map(|k| tangents[k].map(|direction| with(k, direction)));
    total(b, [from_matrix].into_iter().chain(from_directions))
}

/// tr(C Dᵏ adj(A)[…, B]) = Dᵏ⁺¹ det(A)[…, B, C] is symmetric.
fn transpose_adjugate(b: &Builder, args: &[Value], k: usize, ct: Value) -> Contribution {
    let mut args = args.to_vec();
    args[k] = flipped(b, ct);
    Contribution::Dense(flipped(b, b.op(&ADJUGATE, Attrs::none(), &args)))
}

fn infer_adjugate(def: &OpDef, types: &[Type], attrs: &Attrs) -> Result<Type, Error> {
    let Some((matrix, directions)) =
        types.split_first().filter(|(_, directions)| directions.len() <= adjugate::DIRECTIONS)
    else {
        return shape_error(format!(
            "`{}` takes a matrix and up to {} directions, found {} arguments",
            def.name,
            adjugate::DIRECTIONS,
            types.len()
        ));
    };
    match directions.iter().find(|ty| *ty != matrix) {
        Some(other) => shape_error(format!("`{}` needs directions like its matrix, {matrix}, found {other}", def.name)),
        None => infer_matrix(def, types, attrs),
    }
}

/// Adds to the diagonal of the first argument, so that it dominates: then the matrix is far from singular, so are its
/// triangles, and the symmetric matrix of its lower triangle is positive definite.
fn dominant(args: &mut [Array]) {
    let shape = args[0].shape().to_vec();
    let (m, n) = (shape[shape.len() - 2], shape[shape.len() - 1]);
    let places = |k: usize| if k / n % m == k % n { n as f64 } else { 0.0 };
    match args[0].data_mut() {
        DataMut::F32(x) => x.iter_mut().enumerate().for_each(|(k, x)| *x += places(k) as f32),
        DataMut::F64(x) => x.iter_mut().enumerate().for_each(|(k, x)| *x += places(k)),
        DataMut::I32(_) | DataMut::I64(_) | DataMut::Bool(_) => panic!("matrices of floats"),
    }
}

fn matrix_samples(def: &OpDef) -> Vec<Sample> {
    let sample = |shape: &[usize]| Sample { args: vec![(Type::f64(shape), def.domain[0])], attrs: Attrs::none() };
    vec![
        sample(&[1, 1]),
        sample(&[3, 3]),
        sample(&[5, 5]),
        sample(&[2, 4, 4]),
        sample(&[2, 1, 2, 2]),
        sample(&[10, 10]),
    ]
}

fn adjugate_samples(def: &OpDef) -> Vec<Sample> {
    let sample = |shape: &[usize], directions: usize| Sample {
        args: vec![(Type::f64(shape), def.domain[0]); 1 + directions],
        attrs: Attrs::none(),
    };
    let shapes: [&[usize]; 6] = [&[1, 1], &[2, 2], &[3, 3], &[5, 5], &[2, 4, 4], &[0, 0]];
    (0..=adjugate::DIRECTIONS).flat_map(|directions| shapes.map(|shape| sample(shape, directions))).collect()
}

fn tall_samples(def: &OpDef) -> Vec<Sample> {
    let sample = |shape: &[usize]| Sample { args: vec![(Type::f64(shape), def.domain[0])], attrs: Attrs::none() };
    vec![sample(&[1, 1]), sample(&[3, 3]), sample(&[5, 2]), sample(&[2, 4, 3]), sample(&[3, 0]), sample(&[9, 6])]
}

fn system_samples(def: &OpDef, attrs: &[Attrs]) -> Vec<Sample> {
    let shapes: [(&[usize], &[usize]); 5] =
        [(&[1, 1], &[1, 1]), (&[3, 3], &[3, 1]), (&[4, 4], &[4, 6]), (&[2, 3, 3], &[2, 3, 2]), (&[2, 2], &[2, 0])];
    let sample = |attrs: &Attrs, (lhs, rhs): (&[usize], &[usize])| Sample {
        args: vec![(Type::f64(lhs), def.domain[0]), (Type::f64(rhs), def.domain[0])],
        attrs: attrs.clone(),
    };
    attrs.iter().flat_map(|attrs| shapes.map(|shapes| sample(attrs, shapes))).collect()
}

fn solve_samples(def: &OpDef) -> Vec<Sample> {
    system_samples(def, &[0, 1].map(|transpose| Attrs::none().ints("transpose", [transpose])))
}

fn triangular_samples(def: &OpDef) -> Vec<Sample> {
    let attrs = [0, 1]
        .map(|lower| [0, 1].map(|transpose| [0, 1].map(|unit| triangular(lower == 1, transpose == 1, unit == 1))));
    system_samples(def, attrs.as_flattened().as_flattened())
}
