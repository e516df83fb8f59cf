"""Eigenvalues, singular values and what is made of them, as in `np.linalg`, on traced arrays.

Of a symmetric matrix one triangle is read, as NumPy does: the gradient is zero in the other one. Signs of vectors are ours: the first entry of an
eigenvector, and of a singular vector of the shorter side, that is not small beside its largest is positive. Where values coincide, a gradient that
does not exist is an error when it runs (`np.linalg.LinAlgError`); values that are treated alike have one, vectors have none.

Values coincide where they differ by at most 1024 ε of the largest of them (2.3e-13 in float64, 1.2e-4 in float32): vectors of closer ones have fewer
than three digits that are right. For a second derivative of vectors that is √(1024 ε), 4.8e-7 and 0.011, because roundings count twice in it.
"""

import collections
from typing import Any, Literal

import numpy as np

from . import errors, functions, views
from .array import traced
from .rules import implements
from .trace import DTYPES, NUMPY, current

EighResult = collections.namedtuple("EighResult", ("eigenvalues", "eigenvectors"))
SVDResult = collections.namedtuple("SVDResult", ("U", "S", "Vh"))
PolarResult = collections.namedtuple("PolarResult", ("U", "P"))

Degenerate = Literal["error", "zero"]


def eigh(a: Any, UPLO: str = "L", *, degenerate: Degenerate = "error") -> Any:
    """`np.linalg.eigh`. With `degenerate="zero"` the derivative of what has none, because eigenvalues coincide, is taken as zero instead of an error.
    Eigenvalues coincide where they differ by at most 2.3e-13 of the largest (1.2e-4 in float32), for second derivatives of vectors 4.8e-7 (0.011).

    That is right for a function that does not change when eigenvectors of one eigenvalue are turned and that uses no eigenvalues of theirs, such as
    the projection to what they span, and for nothing else.
    """
    if not functions._arrays((a,)):
        return np.linalg.eigh(a, UPLO)
    return _eigh(a, UPLO, _is_zero(degenerate))


def svd(a: Any, full_matrices: bool = True, compute_uv: bool = True, *, degenerate: Degenerate = "error") -> Any:
    """`np.linalg.svd`; `degenerate` is that of `rg.linalg.eigh`."""
    if not functions._arrays((a,)):
        return np.linalg.svd(a, full_matrices, compute_uv)
    return _svd(a, full_matrices, compute_uv, zero=_is_zero(degenerate))


def polar(a: Any, side: Literal["right", "left"] = "right") -> Any:
    """(U, P) with a = U P, or P U for side="left": U has orthonormal columns or rows, P is symmetric and positive semidefinite. Axes before the last
    two are batches. The derivative divides by sums of singular values, σᵢ + σⱼ, and exists wherever `a` has full rank; else it is an error.
    """
    if side not in ("right", "left"):
        raise errors.ArgumentError(f"rg.linalg.polar: side is 'right' or 'left', found {side!r}", errors.here())
    if functions._arrays((a,)):
        a, _ = _matrices(a)
        u = _spectral("polar", a)
    else:
        left, _, right = np.linalg.svd(a, full_matrices=False)
        u = left @ right
    p = _t(u) @ a if side == "right" else a @ _t(u)
    return PolarResult(u, 0.5 * (p + _t(p)))


def _is_zero(degenerate):
    if degenerate not in ("error", "zero"):
        raise errors.ArgumentError(f"degenerate is 'error' or 'zero', found {degenerate!r}", errors.here())
    return degenerate == "zero"


def _t(a):
    return np.swapaxes(a, -1, -2)


def _matrices(a, square=False):
    """The matrices as floats; inside a `try` that catches what has no answer, zeros for those that are not finite. And their extents."""
    a = functions._as_array(a)
    a = a if a.dtype.kind == "f" else functions.astype(a, np.float64)
    if a.ndim < 2:
        raise errors.ShapeError(f"{a.ndim}-dimensional array given. Array must be at least two-dimensional", errors.here())
    if square and a.shape[-1] != a.shape[-2]:
        raise errors.ShapeError(f"Last 2 dimensions of the array must be square, found shape {a.shape}", errors.here())
    trace = current()
    attempt = trace.attempt_at(np.linalg.LinAlgError)
    if attempt is None:
        trace.risk(np.linalg.LinAlgError)
    else:
        fine = np.all(np.isfinite(a), axis=(-2, -1), keepdims=True)
        attempt.require(np.all(fine), np.linalg.LinAlgError, "Eigenvalues did not converge" if square else "SVD did not converge")
        a = np.where(fine, a, 0.0)
    return a, a.shape[-2:]


def _spectral(row, a, zero=False):
    return traced(current().tracer.of_spectrum(row, a.handle(), zero, errors.here()))


def _lower(a, UPLO):
    """The matrices whose lower triangle is read."""
    UPLO = UPLO.upper()
    if UPLO not in ("L", "U"):
        raise errors.ArgumentError("UPLO argument must be 'L' or 'U'", errors.here())
    a, _ = _matrices(a, square=True)
    return a if UPLO == "L" else _t(a)


def _symmetric(a):
    return np.tril(a) + _t(np.tril(a, -1))


def _eigh(a, UPLO="L", zero=False):
    a = _lower(a, UPLO)
    return EighResult(_spectral("eigvalsh", a, zero), _spectral("eigenvectors", a, zero))


def _eigvalsh(a, UPLO="L"):
    return _spectral("eigvalsh", _lower(a, UPLO))


def _svd(a, full_matrices=True, compute_uv=True, hermitian=False, zero=False):
    a, (m, n) = _matrices(a, square=hermitian)
    if hermitian:
        return _svd_of_symmetric(a, compute_uv)
    values = _spectral("svdvals", a, zero)
    if not compute_uv:
        return values
    u, v = _spectral("left_vectors", a, zero), _spectral("right_vectors", a, zero)
    if full_matrices and m > n:
        u = np.concatenate([u, _complement(u, zero)], axis=-1)
    if full_matrices and n > m:
        v = np.concatenate([v, _complement(v, zero)], axis=-1)
    return SVDResult(u, values, _t(v))


def _complement(q, zero):
    """Orthonormal columns for those that are missing: eigenvectors of I − Q Qᵀ, whose eigenvalues are 0 and 1. A single one has a derivative."""
    m, n = q.shape[-2:]
    projection = np.eye(m, dtype=q.dtype) - q @ _t(q)
    return _spectral("eigenvectors", projection, zero)[..., n:]


def _svd_of_symmetric(a, compute_uv):
    w = _spectral("eigvalsh", a)
    if not compute_uv:
        return np.sort(np.abs(w), axis=-1)[..., ::-1]
    v = _spectral("eigenvectors", a)
    order = np.argsort(np.abs(w), axis=-1)[..., ::-1]
    w = np.take_along_axis(w, order, axis=-1)
    u = np.take_along_axis(v, np.broadcast_to(order[..., None, :], v.shape), axis=-1)
    return SVDResult(u, np.abs(w), _t(u * np.sign(w)[..., None, :]))


def svdvals(x):
    """Descending."""
    return _spectral("svdvals", _matrices(x)[0])


def nuclear_norm(x):
    """The sum of the singular values of every matrix, smooth where they coincide."""
    return _spectral("nuclear_norm", _matrices(x)[0])


def _pinv(a, rcond=None, hermitian=False, *, rtol=np._NoValue):
    """Its derivative is that along matrices of one rank: singular values below the cutoff stay zero."""
    a, (m, n) = _matrices(a, square=hermitian)
    a = _symmetric(a) if hermitian else a
    if rcond is None:
        rcond = 1e-15 if rtol is np._NoValue else _resolution(a) if rtol is None else rtol
    elif rtol is not np._NoValue:
        raise errors.ArgumentError("`rtol` and `rcond` can't be both set.", errors.here())
    return _pseudoinverse(a, rcond)


def _pseudoinverse(a, cutoff):
    """Singular values of at most `cutoff` times the largest are taken as zero."""
    trace = current()
    cutoff = functions.astype(functions._as_array(cutoff), a.dtype)
    return traced(trace.tracer.pinv(a.handle(), views.convert(trace, cutoff.handle(), DTYPES[a.dtype]), errors.here()))


def _resolution(a):
    return max(a.shape[-2:]) * float(np.finfo(a.dtype).eps)


def _matrix_rank(A, tol=None, hermitian=False, *, rtol=None):
    A = functions._as_array(A)
    if A.ndim < 2:
        return functions.astype(np.any(A != 0), np.int64)
    values = np.abs(_eigvalsh(A)) if hermitian else svdvals(A)
    if tol is None:
        rtol = max(A.shape[-2:]) * float(np.finfo(values.dtype).eps) if rtol is None else rtol
        tol = np.max(values, axis=-1, keepdims=True) * np.expand_dims(rtol, -1)
    else:
        tol = np.expand_dims(tol, -1)
    return np.count_nonzero(values > tol, axis=-1)


def _lstsq(a, b, rcond=None):
    """The pseudoinverse times `b`, so that also a matrix without full rank has the solution of least norm. Residuals of such a one are NaN, where
    NumPy's are an empty array."""
    b = functions._as_array(b)
    a, (m, n) = _matrices(a)
    if a.ndim != 2 or b.ndim not in (1, 2) or m != b.shape[0]:
        raise errors.ShapeError(f"np.linalg.lstsq: shapes {a.shape} and {b.shape} do not fit", errors.here())
    dtype = NUMPY[functions._floating(functions._common(a, b))]
    a, right = (functions.astype(x, dtype) for x in (a, b if b.ndim == 2 else b[:, None]))
    eps = float(np.finfo(a.dtype).eps)
    cutoff = max(m, n) * eps if rcond is None else eps if functions.payload_of(rcond) is not None and rcond < 0 else rcond
    x = _pseudoinverse(a, cutoff) @ right
    values = _spectral("svdvals", a)
    rank = functions.astype(np.count_nonzero(values > cutoff * values[..., :1], axis=-1), np.int32) if min(m, n) else np.int32(0)
    away = right - a @ x
    residuals = np.where(rank == n, np.sum(away * away, axis=0), np.nan) if m > n else np.zeros(0, x.dtype)
    return (x if b.ndim == 2 else x[:, 0]), residuals, rank, values


def _cond(x, p=None):
    x = functions._as_array(x)
    if p in (None, 2, -2):
        values = svdvals(x)
        return values[..., -1] / values[..., 0] if p == -2 else values[..., 0] / values[..., -1]
    return np.linalg.norm(x, p, (-2, -1)) * np.linalg.norm(np.linalg.inv(x), p, (-2, -1))


for _called, _rule in {
    np.linalg.eigh: lambda a, UPLO="L": _eigh(a, UPLO),
    np.linalg.eigvalsh: _eigvalsh,
    np.linalg.svd: lambda a, full_matrices=True, compute_uv=True, hermitian=False: _svd(a, full_matrices, compute_uv, hermitian),
    np.linalg.svdvals: svdvals,
    np.linalg.pinv: _pinv,
    np.linalg.matrix_rank: _matrix_rank,
    np.linalg.lstsq: _lstsq,
    np.linalg.cond: _cond,
}.items():
    implements(_called)(_rule)
