//! The routines of the family: single matrices, one after the other, over arrays with leading batch axes.

use super::dense::{self, Parity, Real, Triangle};
use crate::ir::{Attrs, DType, Routine, Run, Slice, SliceMut, Type};

/// A routine over every float type.
macro_rules! by_float {
    ($run:ident) => {
        |types, attrs, args, result, scratch| match types[0].dtype {
            DType::F32 => $run::<f32>(types, attrs, args, result, scratch),
            DType::F64 => $run::<f64>(types, attrs, args, result, scratch),
            DType::I32 | DType::I64 | DType::Bool => panic!("verified types: matrices of floats, found {}", types[0]),
        }
    };
}

pub(super) const CHOLESKY: Routine = routine(|_, _| vec![], by_float!(cholesky));
pub(super) const TRIANGULAR_SOLVE: Routine = routine(|_, _| vec![], by_float!(triangular_solve));
pub(super) const LU: Routine = routine(|types, _| vec![places(types)], by_float!(lu));
pub(super) const LU_PERMUTATION: Routine = routine(|types, _| vec![matrix(types)], by_float!(lu_permutation));
pub(super) const SOLVE: Routine = routine(factored, by_float!(solve));
pub(super) const INVERSE: Routine = routine(factored, by_float!(inverse));
pub(super) const DET: Routine = routine(factored, by_float!(det));
pub(super) const DET_SIGN: Routine = routine(factored, by_float!(det_sign));
pub(super) const LOGDET: Routine = routine(factored, by_float!(logdet));
pub(super) const ADJUGATE: Routine =
    routine(|types, _| vec![matrix(types), matrix(types), places(types), places(types)], by_float!(adjugate));

const fn routine(scratch: fn(&[Type], &Attrs) -> Vec<Type>, run: Run) -> Routine {
    Routine { scratch, run }
}

/// Rows of the matrices in the last two axes.
fn order(ty: &Type) -> usize {
    ty.shape[ty.rank() - 1]
}

/// How many matrices.
fn count(ty: &Type) -> usize {
    ty.shape[..ty.rank() - 2].iter().product()
}

/// Scratch: one matrix.
fn matrix(types: &[Type]) -> Type {
    Type::new(types[0].dtype, [order(&types[0]); 2])
}

/// Scratch: a place for every row of one matrix.
fn places(types: &[Type]) -> Type {
    Type::new(DType::I64, [order(&types[0])])
}

/// Scratch: packed factors and their permutation.
fn factored(types: &[Type], _: &Attrs) -> Vec<Type> {
    vec![matrix(types), places(types)]
}

/// Factors every matrix in scratch, one after the other.
fn each_factored<T: Real>(
    types: &[Type],
    args: &[Slice<'_>],
    scratch: &mut [SliceMut<'_>],
    mut tell: impl FnMut(usize, &[T], &[i64], Parity),
) {
    let (a, n) = (T::of(args[0]), order(&types[0]));
    let [factors, rows] = scratch else { panic!("scratch is what was asked for") };
    let (factors, rows) = (T::of_mut(factors), rows.as_i64());
    for k in 0..count(&types[0]) {
        factors.copy_from_slice(&a[k * n * n..][..n * n]);
        let parity = dense::lu(factors, rows, n);
        tell(k, factors, rows, parity);
    }
}

fn cholesky<T: Real>(types: &[Type], _: &Attrs, args: &[Slice<'_>], mut result: SliceMut<'_>, _: &mut [SliceMut<'_>]) {
    let (a, l, n) = (T::of(args[0]), T::of_mut(&mut result), order(&types[0]));
    for k in 0..count(&types[0]) {
        let place = k * n * n..(k + 1) * n * n;
        dense::cholesky(&a[place.clone()], &mut l[place], n);
    }
}

fn triangular_solve<T: Real>(types: &[Type], attrs: &Attrs, args: &[Slice<'_>], mut result: SliceMut<'_>, _: &mut [SliceMut<'_>]) {
    let (a, x, n, m) = (T::of(args[0]), T::of_mut(&mut result), order(&types[0]), order(&types[1]));
    let holds = |name: &str| attrs.size(name) != 0;
    let triangle = Triangle { lower: holds("lower"), transposed: holds("transpose"), unit: holds("unit") };
    x.copy_from_slice(T::of(args[1]));
    for k in 0..count(&types[0]) {
        dense::triangular_solve(&a[k * n * n..][..n * n], triangle, &mut x[k * n * m..][..n * m], n, m);
    }
}

fn lu<T: Real>(types: &[Type], _: &Attrs, args: &[Slice<'_>], mut result: SliceMut<'_>, scratch: &mut [SliceMut<'_>]) {
    let (factors, rows, n) = (T::of_mut(&mut result), scratch[0].as_i64(), order(&types[0]));
    factors.copy_from_slice(T::of(args[0]));
    for k in 0..count(&types[0]) {
        dense::lu(&mut factors[k * n * n..][..n * n], rows, n);
    }
}

fn lu_permutation<T: Real>(types: &[Type], _: &Attrs, args: &[Slice<'_>], mut result: SliceMut<'_>, scratch: &mut [SliceMut<'_>]) {
    let (a, factors, rows, n) = (T::of(args[0]), T::of_mut(&mut scratch[0]), result.as_i64(), order(&types[0]));
    for k in 0..count(&types[0]) {
        factors.copy_from_slice(&a[k * n * n..][..n * n]);
        dense::lu(factors, &mut rows[k * n..][..n], n);
    }
}

fn solve<T: Real>(types: &[Type], _: &Attrs, args: &[Slice<'_>], mut result: SliceMut<'_>, scratch: &mut [SliceMut<'_>]) {
    let (b, x, n, m) = (T::of(args[1]), T::of_mut(&mut result), order(&types[0]), order(&types[1]));
    each_factored::<T>(types, args, scratch, |k, factors, rows, _| {
        let place = k * n * m..(k + 1) * n * m;
        let x = &mut x[place.clone()];
        dense::permute(&b[place], rows, x, m);
        dense::lu_solve(factors, x, n, m);
    });
}

fn inverse<T: Real>(types: &[Type], _: &Attrs, args: &[Slice<'_>], mut result: SliceMut<'_>, scratch: &mut [SliceMut<'_>]) {
    let (x, n) = (T::of_mut(&mut result), order(&types[0]));
    each_factored::<T>(types, args, scratch, |k, factors, rows, _| {
        let x = &mut x[k * n * n..][..n * n];
        dense::permutation(rows, x, n);
        dense::lu_solve(factors, x, n, n);
    });
}

fn det<T: Real>(types: &[Type], _: &Attrs, args: &[Slice<'_>], mut result: SliceMut<'_>, scratch: &mut [SliceMut<'_>]) {
    let (y, n) = (T::of_mut(&mut result), order(&types[0]));
    each_factored::<T>(types, args, scratch, |k, factors, _, parity| y[k] = dense::det(factors, parity, n));
}

fn det_sign<T: Real>(types: &[Type], _: &Attrs, args: &[Slice<'_>], mut result: SliceMut<'_>, scratch: &mut [SliceMut<'_>]) {
    let (y, n) = (T::of_mut(&mut result), order(&types[0]));
    each_factored::<T>(types, args, scratch, |k, factors, _, parity| y[k] = dense::det_sign(factors, parity, n));
}

fn logdet<T: Real>(types: &[Type], _: &Attrs, args: &[Slice<'_>], mut result: SliceMut<'_>, scratch: &mut [SliceMut<'_>]) {
    let (y, n) = (T::of_mut(&mut result), order(&types[0]));
    each_factored::<T>(types, args, scratch, |k, factors, _, _| y[k] = dense::logdet(factors, n));
}

fn adjugate<T: Real>(types: &[Type], _: &Attrs, args: &[Slice<'_>], mut result: SliceMut<'_>, scratch: &mut [SliceMut<'_>]) {
    let (a, y, n) = (T::of(args[0]), T::of_mut(&mut result), order(&types[0]));
    let [factors, work, rows, columns] = scratch else { panic!("scratch is what was asked for") };
    let (factors, work, rows, columns) = (T::of_mut(factors), T::of_mut(work), rows.as_i64(), columns.as_i64());
    for k in 0..count(&types[0]) {
        let place = k * n * n..(k + 1) * n * n;
        factors.copy_from_slice(&a[place.clone()]);
        dense::adjugate(factors, work, rows, columns, &mut y[place], n);
    }
}
