//! Spectral decompositions of the matrices in the last two axes: eigenvalues and eigenvectors of symmetric ones,
//! singular values and vectors, and what is made of them and has a derivative of its own. Axes before the last two are
//! batches.
//!
//! Values and vectors are rows of their own, over factors that they share. Where values coincide, their vectors are any
//! basis of what they span, and no rule divides by their difference:
//!
//! - Values have a derivative where the cotangents of those that coincide are equal, and a tangent where the direction
//!   moves them alike.
//! - Vectors have none where one of them belongs to a value that another has, too, whatever their cotangent: of V g(Λ)
//!   Vᵀ at Λ = I it is zero, or symmetric, but the derivative is g′, which vectors do not know.
//! - Polar factors, the nuclear norm and pseudoinverses are smooth there, and have rules without vectors.
//!
//! Everything else ends the run with an error at the user's line. With `degenerate=[1]` it is taken as zero instead.
//!
//! Roundings turn the vectors of two values by about ε |λ| / gap, where |λ| is the largest value, and so much of a
//! gradient is lost. Values coincide where that would leave fewer than three digits: where their gap is at most τ |λ|,
//! τ = 1024 ε (8 n ε for matrices of more than 128 columns). Cotangents of values nearby must be alike in proportion:
//! their difference is at most gap / (τ |λ|) of the largest one, or √ε of it, which is rounding. The k-th derivative of
//! vectors loses (ε |λ| / gap)ᵏ: values coincide there where their gap is at most ᵏ√τ |λ|. So rules of vectors write
//! rows of the next `order`.

mod jacobi;
mod routines;
mod symmetric;

use super::build::{given, total};
use super::effect::CHECK;
use super::external::STILL;
use super::fold::REDUCE_MAX;
use super::linalg::{
    Left, SOLVE, flipped, from_factors, infer_matrix, inner, of_matrix, one_row_more, part, places, product,
    product_with,
};
use super::ops;
use super::reduce::{SUM, float_only};
use super::scalar::{ABS, AND, DIV, EQ, GE, GT, LE, MAX, NE, NOT, OR, SELECT, SUB};
use super::shape::{RESHAPE, cut, shape_error, view};
use crate::ir::{
    Array, Attr, Attrs, Builder, Composed, Contribution, DType, DataMut, Error, Factors, Lowering, OpDef, Routine,
    Rule, Sample, Type, Value, View,
};

ops! {
    /// The eigenvalues, ascending, of the symmetric matrix whose lower triangle is that of A; the other one is not read, so that the derivative is zero there. NaN where A is not finite.
    EIGVALSH = OpDef { attrs: &["degenerate", "order"], infer: |row, types, attrs| infer_matrix(row, types, attrs).and_then(|ty| values_type(row, &ty, attrs)), rule: Rule::Tangent { tangent: eigenvalues_tangent, linear: &[] }, ..of_spectrum("eigvalsh", routines::EIGENVALUES) };
    /// These columns of the matrix whose columns are eigenvectors of length 1, in the order of `eigvalsh`. The first entry of a vector that is not small beside its largest is positive.
    EIGENVECTORS = OpDef { attrs: &["columns", "degenerate", "order"], infer: |row, types, attrs| infer_matrix(row, types, attrs).and_then(|ty| columns_type(row, &ty, attrs)), rule: Rule::Tangent { tangent: eigenvectors_tangent, linear: &[] }, ..of_spectrum("eigenvectors", routines::EIGENVECTORS) };
    /// The singular values, descending, of a matrix of as many rows as columns, or more. NaN where it is not finite.
    SVDVALS = OpDef { attrs: &["degenerate", "order"], infer: |row, types, attrs| tall(row, types).and_then(|ty| values_type(row, ty, attrs)), rule: Rule::Tangent { tangent: singular_values_tangent, linear: &[] }, ..of_singular("svdvals", routines::SINGULAR_VALUES) };
    /// These columns of U in A = U diag(σ) Vᵀ, of as many columns as A.
    LEFT_VECTORS = OpDef { attrs: &["columns", "degenerate", "order"], infer: |row, types, attrs| tall(row, types).and_then(|ty| columns_type(row, ty, attrs)), rule: Rule::Tangent { tangent: left_tangent, linear: &[] }, ..of_singular("left_vectors", routines::LEFT) };
    /// These columns of V in A = U diag(σ) Vᵀ. The first entry of one that is not small beside its largest is positive.
    RIGHT_VECTORS = OpDef { attrs: &["columns", "degenerate", "order"], infer: |row, types, attrs| tall(row, types).and_then(|ty| columns_type(row, &square(ty), attrs)), rule: Rule::Tangent { tangent: right_tangent, linear: &[] }, ..of_singular("right_vectors", routines::RIGHT) };
    /// The sum of the singular values. It has a derivative where the columns of A do not depend on each other.
    NUCLEAR_NORM = OpDef { infer: |row, types, _| tall(row, types).map(|ty| Type::new(ty.dtype, &ty.shape[..ty.rank() - 2])), rule: Rule::Tangent { tangent: nuclear_tangent, linear: &[] }, ..of_singular("nuclear_norm", routines::NUCLEAR) };
    /// Q = U Vᵀ, the nearest to A of all matrices with orthonormal columns: A = Q H with H = (AᵀA)^½. It has a derivative where the columns of A do not depend on each other.
    POLAR = OpDef { infer: |row, types, _| tall(row, types).cloned(), rule: Rule::Tangent { tangent: polar_tangent, linear: &[] }, ..of_singular("polar", routines::POLAR) };
    /// X with H X + X H = K for H = (AᵀA)^½.
    POLAR_SOLVE = OpDef { arity: Some(2), infer: infer_polar_solve, rule: Rule::Tangent { tangent: polar_solve_tangent, linear: &[None, Some(transpose_polar_solve)] }, samples: polar_solve_samples, ..of_singular("polar_solve", routines::POLAR_SOLVE) };
    /// The pseudoinverse of the first argument, singular values of at most the second times the first of them taken as zero. The derivative is that along matrices of one rank.
    PINV = OpDef { arity: Some(2), infer: infer_pinv, rule: Rule::Tangent { tangent: pinv_tangent, linear: &[] }, samples: pinv_samples, ..of_singular("pinv", routines::PINV) };
    /// The first argument. Its cotangent must be equal where elements of the second, along the last axis, coincide, and with `mirrored=[1]` zero where they are zero: what coincides has no derivative of its own.
    AGREE = OpDef { arity: Some(2), attrs: &["mirrored", "order"], infer: infer_agree, eval: |_, args, _, _| Ok(args[0].clone()), rule: Rule::Tangent { tangent: |b, attrs, args, _, tangents| tangents[0].map_or_else(|| b.zeros(&b.ty(args[0])), |dx| b.op(&AGREE, attrs.clone(), &[dx, args[1]])), linear: &[Some(transpose_agree)] }, lowering: Lowering::Composed(Composed::First), samples: agree_samples, condition: ascending, ..view("agree", View::Reshape, &[]) };
}

const EIGEN: Factors = Factors { name: "eigh", routine: routines::EIGEN_FACTORS, ty: one_row_more };

const SINGULAR: Factors = Factors { name: "svd", routine: routines::SINGULAR_FACTORS, ty: singular_factors_type };

/// U above V above σ.
fn singular_factors_type(ty: &Type) -> Type {
    let mut shape = ty.shape.clone();
    shape[ty.rank() - 2] += shape[ty.rank() - 1] + 1;
    Type::new(ty.dtype, shape)
}

const fn of_spectrum(name: &'static str, function: Routine) -> OpDef {
    OpDef {
        eval: from_factors,
        lowering: Lowering::Factored(EIGEN, function),
        cost: 40,
        condition: apart,
        samples: square_samples,
        ..of_matrix(name, function)
    }
}

const fn of_singular(name: &'static str, function: Routine) -> OpDef {
    OpDef {
        lowering: Lowering::Factored(SINGULAR, function),
        cost: 120,
        samples: tall_samples,
        ..of_spectrum(name, function)
    }
}

fn tall<'t>(def: &OpDef, types: &'t [Type]) -> Result<&'t Type, Error> {
    float_only(def.name, &types[0])?;
    match types[0].shape[..] {
        [.., m, n] if m >= n => Ok(&types[0]),
        _ => shape_error(format!(
            "`{}` needs matrices of as many rows as columns, or more, in the last two axes, found {}",
            def.name, types[0]
        )),
    }
}

/// Square matrices of as many columns.
fn square(ty: &Type) -> Type {
    let mut shape = ty.shape.clone();
    shape[ty.rank() - 2] = shape[ty.rank() - 1];
    Type::new(ty.dtype, shape)
}

fn flag(def: &OpDef, attrs: &Attrs, name: &str) -> Result<(), Error> {
    match attrs.sizes(name)[..] {
        [0 | 1] => Ok(()),
        ref other => shape_error(format!("`{}` needs 0 or 1 for `{name}`, found {other:?}", def.name)),
    }
}

fn order_of(def: &OpDef, attrs: &Attrs) -> Result<usize, Error> {
    match attrs.sizes("order")[..] {
        [order] => Ok(order),
        ref other => shape_error(format!("`{}` needs one number for `order`, found {other:?}", def.name)),
    }
}

fn values_type(def: &OpDef, ty: &Type, attrs: &Attrs) -> Result<Type, Error> {
    flag(def, attrs, "degenerate")?;
    order_of(def, attrs)?;
    let batch = ty.rank() - 2;
    Ok(Type::new(ty.dtype, [&ty.shape[..batch], &ty.shape[batch + 1..]].concat()))
}

fn columns_type(def: &OpDef, ty: &Type, attrs: &Attrs) -> Result<Type, Error> {
    flag(def, attrs, "degenerate")?;
    order_of(def, attrs)?;
    let (mut shape, last) = (ty.shape.clone(), ty.rank() - 1);
    match attrs.sizes("columns")[..] {
        [start, stop] if start <= stop && stop <= shape[last] => shape[last] = stop - start,
        ref other => {
            return shape_error(format!(
                "`{}` needs a range of the {} columns, found {other:?}",
                def.name, shape[last]
            ));
        }
    }
    Ok(Type::new(ty.dtype, shape))
}

fn infer_polar_solve(def: &OpDef, types: &[Type], _: &Attrs) -> Result<Type, Error> {
    let needed = square(tall(def, types)?);
    if types[1] == needed {
        Ok(needed)
    } else {
        shape_error(format!("`{}` needs a right side {needed}, found {}", def.name, types[1]))
    }
}

fn infer_pinv(def: &OpDef, types: &[Type], _: &Attrs) -> Result<Type, Error> {
    let ty = tall(def, types)?;
    let batch = ty.rank() - 2;
    let cutoff = Type::new(ty.dtype, [&ty.shape[..batch], &[1]].concat());
    if types[1] != cutoff {
        return shape_error(format!("`{}` needs one number for every matrix, {cutoff}, found {}", def.name, types[1]));
    }
    let mut shape = ty.shape.clone();
    shape.swap(batch, batch + 1);
    Ok(Type::new(ty.dtype, shape))
}

fn infer_agree(def: &OpDef, types: &[Type], attrs: &Attrs) -> Result<Type, Error> {
    float_only(def.name, &types[0])?;
    flag(def, attrs, "mirrored")?;
    order_of(def, attrs)?;
    match types[0] == types[1] && types[0].rank() > 0 {
        true => Ok(types[0].clone()),
        false => shape_error(format!(
            "`{}` needs two arrays of one type with an axis, found {} and {}",
            def.name, types[0], types[1]
        )),
    }
}

// What coincides

/// What rows know about values that coincide.
#[derive(Clone, Copy)]
struct Degenerate {
    /// What has no derivative is taken as zero; else it is an error.
    is_zero: bool,
    /// How many derivatives of vectors the row is part of.
    order: usize,
}

impl Degenerate {
    fn of(attrs: &Attrs) -> Degenerate {
        Degenerate { is_zero: attrs.size("degenerate") == 1, order: attrs.size("order") }
    }

    /// For rows that a derivative of vectors is made of. What is zero on request stays where it was.
    fn next(self) -> Degenerate {
        Degenerate { order: self.order + usize::from(!self.is_zero), ..self }
    }

    fn attrs(self) -> Attrs {
        self.complete(Attrs::none())
    }

    fn columns(self, columns: [usize; 2]) -> Attrs {
        self.complete(Attrs::none().ints("columns", columns))
    }

    fn complete(self, attrs: Attrs) -> Attrs {
        attrs.ints("degenerate", [usize::from(self.is_zero)]).ints("order", [self.order])
    }
}

fn binary(b: &Builder, def: &'static OpDef, x: Value, y: Value) -> Value {
    b.op(def, Attrs::none(), &[x, y])
}

fn unary(b: &Builder, def: &'static OpDef, x: Value) -> Value {
    b.op(def, Attrs::none(), &[x])
}

fn epsilon(dtype: DType) -> f64 {
    if dtype == DType::F32 { f64::from(f32::EPSILON) } else { f64::EPSILON }
}

/// Element k of the last axis, which stays with an extent of 1.
fn element(b: &Builder, x: Value, k: usize) -> Value {
    range(b, x, k, 1)
}

/// So many elements of the last axis.
fn range(b: &Builder, x: Value, start: usize, count: usize) -> Value {
    let mut shape = b.ty(x).shape;
    let mut starts = vec![0; shape.len()];
    let last = shape.len() - 1;
    if (start, count) == (0, shape[last]) {
        return x;
    }
    (starts[last], shape[last]) = (start, count);
    cut(b, x, &starts, &shape)
}

/// An array whose last axis has the extent 1, so many times along it.
fn along_last(b: &Builder, x: Value, count: usize) -> Value {
    let mut shape = b.ty(x).shape;
    let last = shape.len() - 1;
    let number = b.op(&RESHAPE, Attrs::none().ints("shape", shape[..last].iter().copied()), &[x]);
    shape[last] = count;
    b.broadcast(number, &shape, &(0..last).collect::<Vec<_>>())
}

/// Values coincide where they differ by at most this: of the values, in order, of every matrix, for arrays of their
/// rank whose last axis is so long. At least one value is there.
fn resolution(b: &Builder, values: Value, order: usize, count: usize) -> Value {
    let ty = b.ty(values);
    let n = ty.shape[ty.rank() - 1];
    let ends = [0, n - 1].map(|k| unary(b, &ABS, element(b, values, k)));
    let largest = binary(b, &MAX, ends[0], ends[1]);
    let first = (8.0 * n as f64).max(1024.0) * epsilon(ty.dtype);
    let factor = b.full(&b.ty(largest), first.powf(1.0 / (order + 1) as f64));
    along_last(b, b.mul(factor, largest), count)
}

/// The largest absolute value of elements along these axes, for an array of that shape.
fn largest(b: &Builder, x: Value, axes: &[usize], shape: &[usize]) -> Value {
    let largest = b.op(&REDUCE_MAX, Attrs::none().ints("axes", axes.iter().copied()), &[unary(b, &ABS, x)]);
    b.broadcast(largest, shape, &(0..shape.len() - axes.len()).collect::<Vec<_>>())
}

/// Whether cotangents or tangents of values so far apart differ by no more than what is taken for alike, the largest of
/// them being `size`.
fn alike(b: &Builder, difference: Value, size: Value, gap: Value, resolution: Value) -> Value {
    let ty = b.ty(gap);
    let least = if ty.dtype == DType::F32 { f64::from(f32::MIN_POSITIVE) } else { f64::MIN_POSITIVE };
    let ratio = binary(b, &DIV, gap, binary(b, &MAX, resolution, b.full(&ty, least)));
    let share = binary(b, &MAX, ratio, b.full(&ty, epsilon(ty.dtype).sqrt()));
    unless_nan(b, binary(b, &LE, difference, b.mul(size, share)), difference)
}

fn check(b: &Builder, holds: Value, message: &str) {
    let text = |text: &str| Attr::Text(text.to_owned());
    b.op(&CHECK, Attrs::none().with("message", text(message)).with("tag", text("LinAlgError")), &[holds]);
}

fn still(b: &Builder, x: Value) -> Value {
    b.op(&STILL, Attrs::none().ints("shape", b.ty(x).shape), &[x])
}

const VALUES_COINCIDE: &str = "some eigenvalues or singular values coincide, or are zero, and have no derivative of \
                               their own: what is computed of them must treat those that coincide alike \
                               (degenerate=\"zero\" of rg.linalg.eigh and rg.linalg.svd takes what is not as zero)";
const VALUES_MOVE_APART: &str = "some eigenvalues or singular values coincide, or are zero, and the direction moves \
                                 them apart: they have no derivative there (the gradient of what treats them alike \
                                 exists, in reverse mode)";
const VECTORS_COINCIDE: &str = "some eigenvalues or singular values coincide, so that their vectors are any basis of \
                                what they span and have no derivative: use a function that needs no vectors, such as \
                                polar, pinv or a norm, or only vectors of other values (degenerate=\"zero\" of \
                                rg.linalg.eigh and rg.linalg.svd takes what is not there as zero)";
const RANK: &str = "the columns of a matrix, or its rows, depend on each other: its polar factor, nuclear norm and \
                    singular vectors of the value zero have no derivative there";

/// Whether neighbours in a list of values coincide where something about them must agree; and the last one is not zero
/// where they are mirrored. Of values that are not neighbours nothing is left to say, because gaps and differences add
/// up.
fn transpose_agree(b: &Builder, attrs: &Attrs, args: &[Value], ct: Value) -> Contribution {
    let (values, order, shape) = (args[1], attrs.size("order"), b.ty(ct).shape);
    let last = shape.len() - 1;
    let n = shape[last];
    let size = |count: usize| largest(b, ct, &[last], &[&shape[..last], &[count]].concat());
    if n > 1 {
        let apart = |x: Value| unary(b, &ABS, binary(b, &SUB, range(b, x, 1, n - 1), range(b, x, 0, n - 1)));
        let holds = alike(b, apart(ct), size(n - 1), apart(values), resolution(b, values, order, n - 1));
        check(b, holds, VALUES_COINCIDE);
    }
    if n > 0 && attrs.size("mirrored") == 1 {
        let [gap, ct] = [values, ct].map(|x| unary(b, &ABS, element(b, x, n - 1)));
        check(b, alike(b, ct, size(1), gap, resolution(b, values, order, 1)), VALUES_COINCIDE);
    }
    Contribution::Dense(ct)
}

/// What holds, or cannot be said because a number is NaN, which the result then is, too.
fn unless_nan(b: &Builder, holds: Value, x: Value) -> Value {
    binary(b, &OR, holds, binary(b, &NE, x, x))
}

/// Elements of a list of values of every matrix, as rows or as columns of a matrix.
fn as_columns(b: &Builder, values: Value, rows: usize) -> Value {
    let ty = b.ty(values);
    let last = ty.rank() - 1;
    let shape = [&ty.shape[..last], &[rows, ty.shape[last]]].concat();
    b.broadcast(values, &shape, &(0..last).chain([last + 1]).collect::<Vec<_>>())
}

fn as_rows(b: &Builder, values: Value, columns: usize) -> Value {
    let ty = b.ty(values);
    let shape = [&ty.shape[..], &[columns]].concat();
    b.broadcast(values, &shape, &(0..ty.rank()).collect::<Vec<_>>())
}

/// For all values i and the values j of these columns: whether i = j.
fn on_diagonal(b: &Builder, like: Value, start: usize) -> Value {
    let ty = b.ty(like);
    let shifted = b.add(places(b, &ty, ty.rank() - 1), b.broadcast(b.int(start as i64), &ty.shape, &[]));
    binary(b, &EQ, places(b, &ty, ty.rank() - 2), shifted)
}

/// 1 / x where `there` holds, else 0.
fn inverse_where(b: &Builder, there: Value, x: Value) -> Value {
    let ty = b.ty(x);
    let ones = b.full(&ty, 1.0);
    let safe = b.op(&SELECT, Attrs::none(), &[there, x, ones]);
    b.op(&SELECT, Attrs::none(), &[there, binary(b, &DIV, ones, safe), b.zeros(&ty)])
}

/// 1 / (λⱼ − λᵢ), or what stands for the difference, for all i and the j of these columns, zero for i = j. Where other
/// values coincide it is an error or zero.
fn divided_differences(
    b: &Builder,
    degenerate: Degenerate,
    values: Value,
    [start, stop]: [usize; 2],
    differences: Value,
) -> Value {
    let ty = b.ty(values);
    let n = ty.shape[ty.rank() - 1];
    let picked = range(b, values, start, stop - start);
    let gap = unary(b, &ABS, binary(b, &SUB, as_columns(b, picked, n), as_rows(b, values, stop - start)));
    let resolution = as_columns(b, resolution(b, values, degenerate.order, stop - start), n);
    let apart = unless_nan(b, binary(b, &GT, gap, resolution), gap);
    let itself = on_diagonal(b, gap, start);
    if !degenerate.is_zero {
        check(b, binary(b, &OR, apart, itself), VECTORS_COINCIDE);
    }
    inverse_where(b, binary(b, &AND, apart, unary(b, &NOT, itself)), differences)
}

// Rules

fn is_empty(b: &Builder, a: Value) -> bool {
    let shape = b.ty(a).shape;
    shape[shape.len() - 1] == 0
}

/// The symmetric matrix of a lower triangle.
fn symmetric(b: &Builder, x: Value) -> Value {
    b.add(part(b, &GE, x), flipped(b, part(b, &GT, x)))
}

/// Σ over rows of x y, entry by entry: the inner products of their columns.
fn of_columns(b: &Builder, x: Value, y: Value) -> Value {
    let rank = b.ty(x).rank();
    b.op(&SUM, Attrs::none().ints("axes", [rank - 2]), &[b.mul(x, y)])
}

/// A tangent of values that coincide is one where the direction moves them alike: the block of M for them is a multiple
/// of the identity.
fn check_direction(b: &Builder, order: usize, values: Value, m: Value) {
    let ty = b.ty(m);
    let (rank, n) = (ty.rank(), ty.shape[ty.rank() - 1]);
    let diagonal = of_columns(b, m, part(b, &EQ, b.full(&ty, 1.0)));
    let off = unary(b, &ABS, binary(b, &SUB, m, part(b, &EQ, m)));
    let moved = unary(b, &ABS, binary(b, &SUB, as_columns(b, diagonal, n), as_rows(b, diagonal, n)));
    let gap = unary(b, &ABS, binary(b, &SUB, as_columns(b, values, n), as_rows(b, values, n)));
    let (size, resolution) =
        (largest(b, m, &[rank - 2, rank - 1], &ty.shape), as_columns(b, resolution(b, values, order, n), n));
    let holds = alike(b, binary(b, &MAX, off, moved), size, gap, resolution);
    check(b, holds, VALUES_MOVE_APART);
}

/// dλᵢ = vᵢᵀ dA vᵢ.
fn eigenvalues_tangent(b: &Builder, attrs: &Attrs, args: &[Value], y: Value, tangents: &[Option<Value>]) -> Value {
    let (da, degenerate) = (given(tangents), Degenerate::of(attrs));
    if is_empty(b, da) {
        return b.zeros(&b.ty(y));
    }
    let n = b.ty(y).shape[b.ty(y).rank() - 1];
    let v = b.op(&EIGENVECTORS, degenerate.columns([0, n]), args);
    let moved = product(b, symmetric(b, da), v);
    let dw = of_columns(b, v, moved);
    if degenerate.is_zero {
        return dw;
    }
    let values = still(b, y);
    check_direction(b, degenerate.order, values, product_with(b, Left::Transposed, v, moved));
    b.op(&AGREE, Attrs::none().ints("mirrored", [0]).ints("order", [degenerate.order]), &[dw, values])
}

/// dV = V (F ∘ Vᵀ dA V), Fᵢⱼ = 1 / (λⱼ − λᵢ).
fn eigenvectors_tangent(b: &Builder, attrs: &Attrs, args: &[Value], y: Value, tangents: &[Option<Value>]) -> Value {
    let (da, degenerate) = (given(tangents), Degenerate::of(attrs));
    let [start, stop] = [0, 1].map(|k| attrs.sizes("columns")[k]);
    if is_empty(b, y) {
        return b.zeros(&b.ty(y));
    }
    let ty = b.ty(args[0]);
    let n = ty.shape[ty.rank() - 1];
    let w = b.op(&EIGVALSH, degenerate.next().attrs(), args);
    let v = b.op(&EIGENVECTORS, degenerate.next().columns([0, n]), args);
    let differences = binary(b, &SUB, as_columns(b, range(b, w, start, stop - start), n), as_rows(b, w, stop - start));
    let f = divided_differences(b, degenerate, w, [start, stop], differences);
    let m = product_with(b, Left::Transposed, v, product(b, symmetric(b, da), range(b, v, start, stop - start)));
    product(b, v, b.mul(f, m))
}

/// The factors that rules of singular values are written in.
struct Singular {
    u: Value,
    v: Value,
    sigma: Value,
    n: usize,
}

impl Singular {
    fn new(b: &Builder, degenerate: Degenerate, a: Value) -> Singular {
        let ty = b.ty(a);
        let n = ty.shape[ty.rank() - 1];
        let vectors = |def: &'static OpDef| b.op(def, degenerate.columns([0, n]), &[a]);
        Singular {
            u: vectors(&LEFT_VECTORS),
            v: vectors(&RIGHT_VECTORS),
            sigma: b.op(&SVDVALS, degenerate.attrs(), &[a]),
            n,
        }
    }
}

/// dσᵢ = uᵢᵀ dA vᵢ. σ and −σ are the eigenvalues of [[0, A], [Aᵀ, 0]]: zero is one that coincides.
fn singular_values_tangent(b: &Builder, attrs: &Attrs, args: &[Value], y: Value, tangents: &[Option<Value>]) -> Value {
    let (da, degenerate) = (given(tangents), Degenerate::of(attrs));
    if is_empty(b, da) {
        return b.zeros(&b.ty(y));
    }
    let of = Singular::new(b, degenerate, args[0]);
    let moved = product(b, da, of.v);
    let d_sigma = of_columns(b, of.u, moved);
    if degenerate.is_zero {
        return d_sigma;
    }
    let values = still(b, y);
    let m = product_with(b, Left::Transposed, of.u, moved);
    // What coincides moves alike where the symmetric part of the block is a multiple of the identity.
    check_direction(b, degenerate.order, values, b.add(m, flipped(b, m)));
    let ty = b.ty(y);
    let last = ty.rank() - 1;
    let [gap, moves] = [values, d_sigma].map(|x| unary(b, &ABS, element(b, x, of.n - 1)));
    let size = largest(b, d_sigma, &[last], &[&ty.shape[..last], &[1]].concat());
    check(b, alike(b, moves, size, gap, resolution(b, values, degenerate.order, 1)), VALUES_MOVE_APART);
    b.op(&AGREE, Attrs::none().ints("mirrored", [1]).ints("order", [degenerate.order]), &[d_sigma, values])
}

/// Kᵢⱼ / (σⱼ² − σᵢ²) for all i and the j of these columns.
fn over_squares(b: &Builder, degenerate: Degenerate, of: &Singular, columns: [usize; 2], k: Value) -> Value {
    let count = columns[1] - columns[0];
    let (j, i) = (as_columns(b, range(b, of.sigma, columns[0], count), of.n), as_rows(b, of.sigma, count));
    let squares = b.mul(binary(b, &SUB, j, i), b.add(j, i));
    b.mul(divided_differences(b, degenerate, of.sigma, columns, squares), range(b, k, columns[0], count))
}

/// With P = Uᵀ dA V: dU = U (F ∘ (P Σ + Σ Pᵀ)) + (I − U Uᵀ) dA V Σ⁻¹, Fᵢⱼ = 1 / (σⱼ² − σᵢ²).
fn left_tangent(b: &Builder, attrs: &Attrs, args: &[Value], y: Value, tangents: &[Option<Value>]) -> Value {
    let (da, degenerate) = (given(tangents), Degenerate::of(attrs));
    let [start, stop] = [0, 1].map(|k| attrs.sizes("columns")[k]);
    if is_empty(b, y) {
        return b.zeros(&b.ty(y));
    }
    let of = Singular::new(b, degenerate.next(), args[0]);
    let moved = product(b, da, of.v);
    let scaled = b.mul(product_with(b, Left::Transposed, of.u, moved), as_columns(b, of.sigma, of.n));
    let turned = over_squares(b, degenerate, &of, [start, stop], b.add(scaled, flipped(b, scaled)));
    let within = product(b, of.u, turned);
    let ty = b.ty(args[0]);
    if ty.shape[ty.rank() - 2] == of.n {
        return within;
    }
    let sigma = range(b, of.sigma, start, stop - start);
    let there = unless_nan(b, binary(b, &GT, sigma, resolution(b, of.sigma, degenerate.order, stop - start)), sigma);
    if !degenerate.is_zero {
        check(b, there, RANK);
    }
    let moved = range(b, moved, start, stop - start);
    let outside = binary(b, &SUB, moved, product(b, of.u, product_with(b, Left::Transposed, of.u, moved)));
    let inverse = inverse_where(b, there, sigma);
    b.add(within, b.mul(outside, as_columns(b, inverse, ty.shape[ty.rank() - 2])))
}

/// dV = V (F ∘ (Σ P + Pᵀ Σ)).
fn right_tangent(b: &Builder, attrs: &Attrs, args: &[Value], y: Value, tangents: &[Option<Value>]) -> Value {
    let (da, degenerate) = (given(tangents), Degenerate::of(attrs));
    let columns = [0, 1].map(|k| attrs.sizes("columns")[k]);
    if is_empty(b, y) {
        return b.zeros(&b.ty(y));
    }
    let of = Singular::new(b, degenerate.next(), args[0]);
    let scaled = b.mul(product_with(b, Left::Transposed, of.u, product(b, da, of.v)), as_rows(b, of.sigma, of.n));
    let turned = over_squares(b, degenerate, &of, columns, b.add(scaled, flipped(b, scaled)));
    product(b, of.v, turned)
}

/// That a matrix has the full rank which a polar factor needs to be unique.
fn check_full_rank(b: &Builder, a: Value) {
    if !is_empty(b, a) {
        let sigma = b.op(&SVDVALS, Degenerate { is_zero: false, order: 0 }.attrs(), &[still(b, a)]);
        let last = element(b, sigma, b.ty(sigma).shape[b.ty(sigma).rank() - 1] - 1);
        check(b, unless_nan(b, binary(b, &GT, last, resolution(b, sigma, 0, 1)), last), RANK);
    }
}

/// d‖A‖ = ⟨Q, dA⟩ with the polar factor Q.
fn nuclear_tangent(b: &Builder, _: &Attrs, args: &[Value], _: Value, tangents: &[Option<Value>]) -> Value {
    check_full_rank(b, args[0]);
    inner(b, b.op(&POLAR, Attrs::none(), args), given(tangents))
}

/// dQ = Q X + (I − Q Qᵀ) dA H⁻¹, where Qᵀ dQ = X is skew: H X + X H = Qᵀ dA − dAᵀ Q, because dH is symmetric.
fn polar_tangent(b: &Builder, _: &Attrs, args: &[Value], q: Value, tangents: &[Option<Value>]) -> Value {
    let da = given(tangents);
    check_full_rank(b, args[0]);
    let (ty, rank) = (b.ty(da), b.ty(da).rank());
    let within = product_with(b, Left::Transposed, q, da);
    let skew = binary(b, &SUB, within, flipped(b, within));
    let turned = product(b, q, b.op(&POLAR_SOLVE, Attrs::none(), &[args[0], skew]));
    if ty.shape[rank - 2] == ty.shape[rank - 1] {
        return turned;
    }
    let outside = binary(b, &SUB, da, product(b, q, within));
    let h = product_with(b, Left::Transposed, q, args[0]);
    let solved = b.op(&SOLVE, Attrs::none().ints("transpose", [1]), &[h, flipped(b, outside)]);
    b.add(turned, flipped(b, solved))
}

/// H dX + dX H = dK − dH X − X dH with dH = dQᵀ A + Qᵀ dA.
fn polar_solve_tangent(b: &Builder, _: &Attrs, args: &[Value], x: Value, tangents: &[Option<Value>]) -> Value {
    let from_matrix = tangents[0].map(|da| {
        let q = b.op(&POLAR, Attrs::none(), &args[..1]);
        let dq = polar_tangent(b, &Attrs::none(), &args[..1], q, &[Some(da)]);
        let dh = b.add(product_with(b, Left::Transposed, dq, args[0]), product_with(b, Left::Transposed, q, da));
        b.neg(b.add(product(b, dh, x), product(b, x, dh)))
    });
    b.op(&POLAR_SOLVE, Attrs::none(), &[args[0], total(b, [from_matrix, tangents[1]])])
}

/// H is symmetric.
fn transpose_polar_solve(b: &Builder, _: &Attrs, args: &[Value], ct: Value) -> Contribution {
    Contribution::Dense(b.op(&POLAR_SOLVE, Attrs::none(), &[args[0], ct]))
}

/// dA⁺ = −A⁺ dA A⁺ + A⁺ A⁺ᵀ dAᵀ (I − A A⁺) + (I − A⁺ A) dAᵀ A⁺ᵀ A⁺ (G. Golub and V. Pereyra, The differentiation of
/// pseudo-inverses and nonlinear least squares problems whose variables separate, 1973).
fn pinv_tangent(b: &Builder, _: &Attrs, args: &[Value], y: Value, tangents: &[Option<Value>]) -> Value {
    let (Some(da), a) = (tangents[0], args[0]) else { return b.zeros(&b.ty(y)) };
    // Nothing is of as many rows and columns as A has rows.
    let moved = product(b, y, da);
    let inside = b.neg(product(b, moved, y));
    let left = product(b, product(b, y, flipped(b, y)), flipped(b, da));
    let left = binary(b, &SUB, left, product(b, product(b, left, a), y));
    let right = product_with(b, Left::Transposed, moved, y);
    let right = binary(b, &SUB, right, product(b, y, product(b, a, right)));
    b.add(inside, b.add(left, right))
}

// Samples

/// Matrices whose eigenvalues and singular values are apart: small beside a diagonal that grows.
fn apart(args: &mut [Array]) {
    let shape = args[0].shape().to_vec();
    let (m, n) = (shape[shape.len() - 2], shape[shape.len() - 1]);
    let place = |k: usize, x: f64| 0.3 * x + if k / n % m == k % n { 1.0 + (k % n) as f64 } else { 0.0 };
    match args[0].data_mut() {
        DataMut::F32(x) => x.iter_mut().enumerate().for_each(|(k, x)| *x = place(k, f64::from(*x)) as f32),
        DataMut::F64(x) => x.iter_mut().enumerate().for_each(|(k, x)| *x = place(k, *x)),
        DataMut::I32(_) | DataMut::I64(_) | DataMut::Bool(_) => panic!("matrices of floats"),
    }
}

/// The second argument in steps that no rounding makes equal.
fn ascending(args: &mut [Array]) {
    let n = args[1].shape().last().copied().unwrap_or(1);
    match args[1].data_mut() {
        DataMut::F32(x) => x.iter_mut().enumerate().for_each(|(k, x)| *x = 1.0 + (k % n) as f32),
        DataMut::F64(x) => x.iter_mut().enumerate().for_each(|(k, x)| *x = 1.0 + (k % n) as f64),
        DataMut::I32(_) | DataMut::I64(_) | DataMut::Bool(_) => panic!("values are floats"),
    }
}

/// Shapes with the attributes that the row has: all columns, and some of them.
fn samples_of(def: &OpDef, shapes: &[&[usize]]) -> Vec<Sample> {
    let sample = |shape: &[usize], [start, stop]: [usize; 2], degenerate: usize| {
        let attrs = def.attrs.iter().fold(Attrs::none(), |attrs, name| match *name {
            "columns" => attrs.ints("columns", [start, stop]),
            "order" => attrs.ints("order", [0]),
            _ => attrs.ints(name, [degenerate]),
        });
        Sample { args: vec![(Type::f64(shape), def.domain[0])], attrs }
    };
    let whole = |shape: &&[usize]| sample(shape, [0, shape[shape.len() - 1]], 0);
    let mut samples: Vec<Sample> = shapes.iter().map(whole).collect();
    if def.attrs.contains(&"columns") {
        samples.extend([sample(shapes[1], [0, 1], 0), sample(shapes[2], [1, 2], 0)]);
    }
    if def.attrs.contains(&"degenerate") {
        samples.push(sample(shapes[1], [0, shapes[1][shapes[1].len() - 1]], 1));
    }
    samples
}

fn square_samples(def: &OpDef) -> Vec<Sample> {
    samples_of(def, &[&[1, 1], &[3, 3], &[2, 4, 4], &[2, 1, 2, 2], &[0, 0], &[7, 7]])
}

fn tall_samples(def: &OpDef) -> Vec<Sample> {
    samples_of(def, &[&[1, 1], &[3, 3], &[2, 4, 2], &[5, 3], &[3, 0], &[2, 3, 1], &[6, 6]])
}

fn polar_solve_samples(def: &OpDef) -> Vec<Sample> {
    let sample = |left: &[usize], right: &[usize]| Sample {
        args: vec![(Type::f64(left), def.domain[0]), (Type::f64(right), def.domain[0])],
        attrs: Attrs::none(),
    };
    vec![sample(&[1, 1], &[1, 1]), sample(&[3, 3], &[3, 3]), sample(&[2, 4, 2], &[2, 2, 2]), sample(&[3, 0], &[0, 0])]
}

fn pinv_samples(def: &OpDef) -> Vec<Sample> {
    let sample = |shape: &[usize]| Sample {
        args: vec![
            (Type::f64(shape), def.domain[0]),
            (Type::f64([&shape[..shape.len() - 2], &[1]].concat()), (1e-3, 1e-2)),
        ],
        attrs: Attrs::none(),
    };
    vec![sample(&[1, 1]), sample(&[3, 3]), sample(&[2, 4, 2]), sample(&[5, 3]), sample(&[3, 0])]
}

fn agree_samples(def: &OpDef) -> Vec<Sample> {
    let sample = |shape: &[usize], mirrored: usize| Sample {
        args: vec![(Type::f64(shape), def.domain[0]), (Type::f64(shape), def.domain[0])],
        attrs: Attrs::none().ints("mirrored", [mirrored]).ints("order", [0]),
    };
    vec![sample(&[1], 0), sample(&[4], 1), sample(&[2, 3], 0), sample(&[0], 1)]
}
