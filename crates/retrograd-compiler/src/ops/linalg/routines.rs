//! The routines of the family: single matrices, one after the other, over arrays with leading batch axes.

use super::adjugate::{self, Scratch};
use super::dense::{self, Real, Triangle};
use super::reflect;
use crate::ir::{Attrs, By, DType, Routine, Run, Slice, SliceMut, Type};

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

pub(in crate::ops) use by_float;

pub(super) const CHOLESKY: Routine = routine(|types, _| vec![work(types)], by_float!(cholesky));
pub(super) const QR: Routine = routine(qr_scratch, by_float!(qr));
pub(super) const TRIANGULAR_SOLVE: Routine = routine(|types, _| vec![work(types)], by_float!(triangular_solve));
pub(super) const FACTORS: Routine = routine(|types, _| vec![places(types), work(types)], by_float!(factors));
pub(super) const LU: Routine = routine(|_, _| vec![], by_float!(lu));
pub(super) const LU_PERMUTATION: Routine = routine(|_, _| vec![], by_float!(lu_permutation));
pub(super) const SOLVE: Routine = routine(solve_scratch, by_float!(solve));
pub(super) const INVERSE: Routine = routine(|types, _| vec![work(types)], by_float!(inverse));
pub(super) const DET: Routine = routine(|types, _| vec![places(types)], by_float!(det));
pub(super) const DET_SIGN: Routine = routine(|types, _| vec![places(types)], by_float!(det_sign));
pub(super) const LOGDET: Routine = routine(|_, _| vec![], by_float!(logdet));
pub(super) const ADJUGATE: Routine = routine(adjugate_scratch, by_float!(adjugate));

pub(in crate::ops) const fn routine(scratch: fn(&[Type], &Attrs) -> Vec<Type>, run: Run) -> Routine {
    Routine { by: By::Code, scratch, run }
}

/// Rows of the matrices in the last two axes.
pub(in crate::ops) fn order(ty: &Type) -> usize {
    ty.shape[ty.rank() - 1]
}

/// Rows and columns of the matrices in the last two axes.
pub(in crate::ops) fn extents(ty: &Type) -> [usize; 2] {
    [ty.shape[ty.rank() - 2], order(ty)]
}

/// How many matrices.
pub(in crate::ops) fn count(ty: &Type) -> usize {
    ty.shape[..ty.rank() - 2].iter().product()
}

/// Scratch: a place for every row of one matrix.
fn places(types: &[Type]) -> Type {
    Type::new(DType::I64, [order(&types[0])])
}

/// Scratch: what products of matrices need, with as many right sides as the last argument has.
fn work(types: &[Type]) -> Type {
    Type::new(types[0].dtype, [dense::scratch_elements(order(&types[0]), types.last().map_or(0, order))])
}

/// Scratch of a solve: that of products, and where the transpose is solved, the solution before its rows are put in
/// order.
fn solve_scratch(types: &[Type], attrs: &Attrs) -> Vec<Type> {
    let rows = if attrs.size("transpose") == 1 { order(&types[0]) } else { 0 };
    vec![work(types), Type::new(types[0].dtype, [rows, order(&types[1])])]
}

fn adjugate_scratch(types: &[Type], _: &Attrs) -> Vec<Type> {
    let (dtype, n) = (types[0].dtype, order(&types[0]));
    let of = |shape: &[usize]| Type::new(dtype, shape);
    vec![
        of(&[adjugate::matrices(types.len() - 1), n, n]),
        of(&[3, n]),
        places(types),
        places(types),
        of(&[adjugate::product_elements(n)]),
    ]
}

fn qr_scratch(types: &[Type], _: &Attrs) -> Vec<Type> {
    let [m, n] = extents(&types[0]);
    vec![Type::new(types[0].dtype, [reflect::scratch_elements(m, n)])]
}

/// The factors of every matrix, one after the other: packed, and the order of its rows.
fn each_factored<'a, T: Real + 'a>(types: &[Type], args: &[Slice<'a>]) -> impl Iterator<Item = (&'a [T], &'a [T])> {
    let n = order(&types[0]);
    (0..count(&types[0])).map(move |k| T::of(args[0])[k * (n + 1) * n..][..(n + 1) * n].split_at(n * n))
}

fn factors<T: Real>(
    types: &[Type],
    _: &Attrs,
    args: &[Slice<'_>],
    mut result: SliceMut<'_>,
    scratch: &mut [SliceMut<'_>],
) {
    let [rows, work] = scratch else { panic!("scratch is what was asked for") };
    let (a, all, rows, work, n) =
        (T::of(args[0]), T::of_mut(&mut result), rows.as_i64(), T::of_mut(work), order(&types[0]));
    for k in 0..count(&types[0]) {
        let (factors, places) = all[k * (n + 1) * n..][..(n + 1) * n].split_at_mut(n * n);
        factors.copy_from_slice(&a[k * n * n..][..n * n]);
        dense::lu(factors, rows, work, n);
        places.iter_mut().zip(rows.iter()).for_each(|(place, row)| *place = T::count(*row as usize));
    }
}

fn cholesky<T: Real>(
    types: &[Type],
    _: &Attrs,
    args: &[Slice<'_>],
    mut result: SliceMut<'_>,
    scratch: &mut [SliceMut<'_>],
) {
    let (a, l, work, n) = (T::of(args[0]), T::of_mut(&mut result), T::of_mut(&mut scratch[0]), order(&types[0]));
    for k in 0..count(&types[0]) {
        let place = k * n * n..(k + 1) * n * n;
        dense::cholesky(&a[place.clone()], &mut l[place], work, n);
    }
}

fn qr<T: Real>(types: &[Type], _: &Attrs, args: &[Slice<'_>], mut result: SliceMut<'_>, scratch: &mut [SliceMut<'_>]) {
    let (a, both, work) = (T::of(args[0]), T::of_mut(&mut result), T::of_mut(&mut scratch[0]));
    let [m, n] = extents(&types[0]);
    for k in 0..count(&types[0]) {
        let (q, r) = both[k * (m + n) * n..][..(m + n) * n].split_at_mut(m * n);
        reflect::qr(&a[k * m * n..][..m * n], q, r, work, [m, n]);
    }
}

fn triangular_solve<T: Real>(
    types: &[Type],
    attrs: &Attrs,
    args: &[Slice<'_>],
    mut result: SliceMut<'_>,
    scratch: &mut [SliceMut<'_>],
) {
    let work = T::of_mut(&mut scratch[0]);
    let (a, x, n, m) = (T::of(args[0]), T::of_mut(&mut result), order(&types[0]), order(&types[1]));
    let holds = |name: &str| attrs.size(name) != 0;
    let triangle = Triangle { lower: holds("lower"), transposed: holds("transpose"), unit: holds("unit") };
    x.copy_from_slice(T::of(args[1]));
    for k in 0..count(&types[0]) {
        dense::triangular_solve(&a[k * n * n..][..n * n], triangle, &mut x[k * n * m..][..n * m], work, n, m);
    }
}

fn lu<T: Real>(types: &[Type], _: &Attrs, args: &[Slice<'_>], mut result: SliceMut<'_>, _: &mut [SliceMut<'_>]) {
    let (y, n) = (T::of_mut(&mut result), order(&types[0]));
    each_factored::<T>(types, args)
        .enumerate()
        .for_each(|(k, (factors, _))| y[k * n * n..][..n * n].copy_from_slice(factors));
}

fn lu_permutation<T: Real>(
    types: &[Type],
    _: &Attrs,
    args: &[Slice<'_>],
    mut result: SliceMut<'_>,
    _: &mut [SliceMut<'_>],
) {
    let rows = each_factored::<T>(types, args).flat_map(|(_, rows)| rows);
    result.as_i64().iter_mut().zip(rows).for_each(|(place, row)| *place = row.index() as i64);
}

fn solve<T: Real>(
    types: &[Type],
    attrs: &Attrs,
    args: &[Slice<'_>],
    mut result: SliceMut<'_>,
    scratch: &mut [SliceMut<'_>],
) {
    let [work, other] = scratch else { panic!("scratch is what was asked for") };
    let (work, other) = (T::of_mut(work), T::of_mut(other));
    let (b, x, n, m) = (T::of(args[1]), T::of_mut(&mut result), order(&types[0]), order(&types[1]));
    for (k, (factors, rows)) in each_factored::<T>(types, args).enumerate() {
        let place = k * n * m..(k + 1) * n * m;
        let (b, x) = (&b[place.clone()], &mut x[place]);
        if attrs.size("transpose") == 1 {
            other.copy_from_slice(b);
            dense::lu_solve_transposed(factors, other, work, n, m);
            dense::permute_back(other, rows, x, m);
        } else {
            dense::permute(b, rows, x, m);
            dense::lu_solve(factors, x, work, n, m);
        }
    }
}

fn inverse<T: Real>(
    types: &[Type],
    _: &Attrs,
    args: &[Slice<'_>],
    mut result: SliceMut<'_>,
    scratch: &mut [SliceMut<'_>],
) {
    let (x, work, n) = (T::of_mut(&mut result), T::of_mut(&mut scratch[0]), order(&types[0]));
    for (k, (factors, rows)) in each_factored::<T>(types, args).enumerate() {
        let x = &mut x[k * n * n..][..n * n];
        dense::permutation(rows.iter().map(|row| row.index()), x, n);
        dense::lu_solve(factors, x, work, n, n);
    }
}

fn det<T: Real>(types: &[Type], _: &Attrs, args: &[Slice<'_>], mut result: SliceMut<'_>, scratch: &mut [SliceMut<'_>]) {
    let (y, seen, n) = (T::of_mut(&mut result), scratch[0].as_i64(), order(&types[0]));
    let each = y.iter_mut().zip(each_factored::<T>(types, args));
    each.for_each(|(y, (factors, rows))| *y = dense::det(factors, dense::parity(rows, seen), n));
}

fn det_sign<T: Real>(
    types: &[Type],
    _: &Attrs,
    args: &[Slice<'_>],
    mut result: SliceMut<'_>,
    scratch: &mut [SliceMut<'_>],
) {
    let (y, seen, n) = (T::of_mut(&mut result), scratch[0].as_i64(), order(&types[0]));
    let each = y.iter_mut().zip(each_factored::<T>(types, args));
    each.for_each(|(y, (factors, rows))| *y = dense::det_sign(factors, dense::parity(rows, seen), n));
}

fn logdet<T: Real>(types: &[Type], _: &Attrs, args: &[Slice<'_>], mut result: SliceMut<'_>, _: &mut [SliceMut<'_>]) {
    let (y, n) = (T::of_mut(&mut result), order(&types[0]));
    y.iter_mut().zip(each_factored::<T>(types, args)).for_each(|(y, (factors, _))| *y = dense::logdet(factors, n));
}

fn adjugate<T: Real>(
    types: &[Type],
    _: &Attrs,
    args: &[Slice<'_>],
    mut result: SliceMut<'_>,
    scratch: &mut [SliceMut<'_>],
) {
    let (y, n) = (T::of_mut(&mut result), order(&types[0]));
    let [matrices, vectors, rows, columns, work] = scratch else { panic!("scratch is what was asked for") };
    let (matrices, vectors, work) = (T::of_mut(matrices), T::of_mut(vectors), T::of_mut(work));
    let mut scratch = Scratch { matrices, vectors, rows: rows.as_i64(), columns: columns.as_i64(), work };
    for k in 0..count(&types[0]) {
        let place = k * n * n..(k + 1) * n * n;
        let mut of_all = [&[][..]; 1 + adjugate::DIRECTIONS];
        of_all.iter_mut().zip(args).for_each(|(to, arg)| *to = &T::of(*arg)[place.clone()]);
        adjugate::adjugate(of_all[0], &of_all[1..args.len()], &mut y[place], &mut scratch, n);
    }
}
