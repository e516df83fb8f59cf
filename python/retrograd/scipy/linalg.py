"""`scipy.linalg`: factors and solutions with SciPy's arguments, functions of matrices, and matrices with a pattern."""

import numpy as np

from .. import errors
from .. import linalg as ours
from ..array import Array
from ..custom import check, stop_gradient
from ..functions import _as_array, payload_of
from .elementwise import looped
from .table import implements, refuse

_LARGEST = 4096  # rows of a system that is solved as a dense one though it has a pattern


def _matrix(a, name):
    a = _as_array(a)
    if a.ndim < 2 or a.shape[-1] != a.shape[-2]:
        raise errors.ShapeError(f"scipy.linalg.{name} takes square matrices, found shape {a.shape}", errors.here())
    return a if a.dtype.kind == "f" else 1.0 * a


def _t(a):
    return np.swapaxes(a, -1, -2)


# Factors and solutions


@implements("linalg.cholesky")
def cholesky(a, lower=False):
    factor = np.linalg.cholesky(a) if lower else np.linalg.cholesky(a, upper=True)
    return factor


@implements("linalg.cho_factor")
def cho_factor(a, lower=False):
    """The factor; the other triangle, which SciPy does not define, is zero."""
    return cholesky(a, lower), lower


@implements("linalg.cho_solve")
def cho_solve(c_and_lower, b):
    c, lower = c_and_lower
    lower = bool(lower)
    half = _triangular(c, b, lower, not lower)
    return _triangular(c, half, lower, lower)


def _triangular(a, b, lower, trans, unit=False):
    return ours.triangular_solve(a, b, lower=lower, trans=trans, unit_diagonal=unit)


@implements("linalg.solve_triangular")
def solve_triangular(a, b, trans=0, lower=False, unit_diagonal=False):
    trans = {0: False, 1: True, 2: True, "N": False, "T": True, "C": True}[trans]
    return _triangular(_matrix(a, "solve_triangular"), b, bool(lower), trans, bool(unit_diagonal))


_STRUCTURES = {
    None: "gen",
    "gen": "gen",
    "general": "gen",
    "sym": "sym",
    "symmetric": "sym",
    "her": "sym",
    "hermitian": "sym",
    "pos": "pos",
    "positive definite": "pos",
    "upper triangular": "upper",
    "lower triangular": "lower",
    "diagonal": "diagonal",
    "tridiagonal": "tridiagonal",
    "banded": "gen",
}


@implements("linalg.solve")
def solve(a, b, lower=False, assume_a=None, transposed=False):
    """Of a structure that is assumed nothing else of the matrix is read, so that nothing else has a derivative."""
    if assume_a not in _STRUCTURES:
        raise errors.ArgumentError(f"scipy.linalg.solve does not know assume_a={assume_a!r}", errors.here())
    structure, a = _STRUCTURES[assume_a], _matrix(a, "solve")
    if structure == "pos":
        return cho_solve(cho_factor(a, lower), b)
    if structure in ("upper", "lower"):
        return _triangular(a, b, structure == "lower", bool(transposed))
    n = a.shape[-1]
    if structure == "sym":
        half, strict = (np.tril(a), np.tril(a, -1)) if lower else (np.triu(a), np.triu(a, 1))
        a = half + _t(strict)
    elif structure != "gen":
        band = np.abs(np.subtract.outer(np.arange(n), np.arange(n))) <= (structure == "tridiagonal")
        a = np.where(band, a, 0.0)
    return np.linalg.solve(_t(a) if transposed else a, b)


@implements("linalg.inv")
def inv(a):
    return np.linalg.inv(_matrix(a, "inv"))


@implements("linalg.det")
def det(a):
    return np.linalg.det(_matrix(a, "det"))


implements("linalg.norm")(lambda a, ord=None, axis=None, keepdims=False: np.linalg.norm(a, ord, axis, keepdims))


# Spectra


@implements("linalg.eigh")
def eigh(a, b=None, lower=True, eigvals_only=False, type=1, subset_by_index=None):
    """With `b`, A x = λ B x by Cholesky's factor of B; vectors then have length 1 by xᵀ B x."""
    a = _matrix(a, "eigh")
    if b is not None:
        if type != 1:
            raise errors.Unsupported(f"scipy.linalg.eigh with type={type!r} is not supported; 1 is", errors.here())
        half, strict = (np.tril(a), np.tril(a, -1)) if lower else (np.triu(a), np.triu(a, 1))
        factor = cholesky(b if lower else _t(_matrix(b, "eigh")), lower=True)
        a = _triangular(factor, _t(_triangular(factor, half + _t(strict), True, False)), True, False)
    some = slice(None) if subset_by_index is None else slice(int(subset_by_index[0]), int(subset_by_index[1]) + 1)
    if eigvals_only:
        return np.linalg.eigvalsh(a, "L" if lower else "U")[..., some]
    values, vectors = np.linalg.eigh(a, "L" if lower else "U")
    values, vectors = values[..., some], vectors[..., some]
    return values, vectors if b is None else _triangular(factor, vectors, True, True)


@implements("linalg.eigvalsh")
def eigvalsh(a, b=None, lower=True, type=1, subset_by_index=None):
    return eigh(a, b, lower, True, type, subset_by_index)


@implements("linalg.svd")
def svd(a, full_matrices=True, compute_uv=True):
    found = np.linalg.svd(a, full_matrices=full_matrices, compute_uv=compute_uv)
    return tuple(found) if compute_uv else found


@implements("linalg.svdvals")
def svdvals(a):
    return np.linalg.svd(a, compute_uv=False)


@implements("linalg.pinv")
def pinv(a, atol=None, rtol=None, return_rank=False):
    """Singular values of at most `atol + rtol` times the largest are taken as zero; the derivative is that along matrices of one rank."""
    a = _as_array(a) if _as_array(a).dtype.kind == "f" else 1.0 * _as_array(a)
    values = np.linalg.svd(a, compute_uv=False)
    largest = stop_gradient(values[..., 0])
    atol = 0.0 if atol is None else atol
    rtol = max(a.shape[-2:]) * float(np.finfo(a.dtype).eps) if rtol is None and payload_of(atol) == 0 else 0.0 if rtol is None else rtol
    cutoff = rtol + np.where(largest > 0, atol / np.where(largest > 0, largest, 1.0), 0.0)
    found = np.linalg.pinv(a, rcond=cutoff)
    return (found, np.count_nonzero(values > cutoff * largest, axis=-1)) if return_rank else found


@implements("linalg.polar")
def polar(a, side="right"):
    """Its derivative divides by sums of singular values, so that those that coincide are nothing special."""
    return tuple(ours.polar(a, side))


@implements("linalg.orthogonal_procrustes")
def orthogonal_procrustes(A, B):
    """The polar factor of Aᵀ B and its nuclear norm."""
    product = _t(_as_array(A)) @ _as_array(B)
    return ours.polar(product).U, np.linalg.norm(product, "nuc")


@implements("linalg.lstsq")
def lstsq(a, b, cond=None):
    return np.linalg.lstsq(a, b, rcond=cond)


@implements("linalg.lu_factor")
def lu_factor(a):
    """The packed factors and LAPACK's exchanges of rows."""
    a = _matrix(a, "lu_factor")
    if a.ndim > 2:
        raise errors.Unsupported(
            "scipy.linalg.lu_factor of batches is not supported; call it for each matrix", errors.here()
        )
    packed, order = ours.lu(a)
    return packed, looped(_exchanges, order, a.shape[-1]).astype(np.int32)


def _exchanges(order, n):
    """From which row of A is row i of L U, to the exchanges that lead there."""
    rows = np.arange(n)
    pivots = np.zeros(n, dtype=np.int64)
    for i in range(n):
        at = np.argmax(np.where(rows == order[i], 1, 0))
        pivots[i] = at
        before = rows[i]
        rows[i] = rows[at]
        rows[at] = before
    return pivots


def _order(pivots, n):
    rows = np.arange(n)
    for i in range(n):
        at = pivots[i]
        before = rows[i]
        rows[i] = rows[at]
        rows[at] = before
    return rows


@implements("linalg.lu_solve")
def lu_solve(lu_and_piv, b, trans=0):
    packed, pivots = lu_and_piv
    packed, b = _as_array(packed), _as_array(b)
    n = packed.shape[-1]
    known = payload_of(pivots)
    rows = _order(known, n) if known is not None else looped(_order, pivots.astype(np.int64), n)
    if not trans:
        half = _triangular(
            packed, np.take(b, rows, axis=0) if isinstance(b, Array) else _as_array(b)[rows], True, False, True
        )
        return _triangular(packed, half, False, False)
    half = _triangular(packed, _triangular(packed, b, False, True), True, True, True)
    back = np.argsort(rows) if isinstance(rows, Array) else _as_array(np.argsort(rows))
    return np.take(half, back, axis=0)


@implements("linalg.solve_banded")
def solve_banded(l_and_u, ab, b):
    """As a dense system, up to 4,096 rows."""
    below, above = (int(k) for k in l_and_u)
    ab, b = _as_array(ab), _as_array(b)
    n = ab.shape[-1]
    if ab.shape[0] != below + above + 1:
        raise errors.ShapeError(
            f"scipy.linalg.solve_banded needs {below + above + 1} diagonals, found {ab.shape[0]}", errors.here()
        )
    if n > _LARGEST:
        raise errors.Unsupported(
            f"scipy.linalg.solve_banded with more than {_LARGEST} rows is not supported: it is solved as a dense system",
            errors.here(),
        )
    i, j = np.indices((n, n))
    diagonal = above + i - j
    inside = (diagonal >= 0) & (diagonal <= below + above)
    dense = np.where(
        inside, np.reshape(np.take(np.ravel(ab), np.ravel(np.where(inside, diagonal * n + j, 0))), (n, n)), 0.0
    )
    return np.linalg.solve(dense, b)


@implements("linalg.solve_sylvester")
def solve_sylvester(a, b, q):
    """A X + X B = Q as one dense system of its n·m numbers, up to 4,096."""
    a, b, q = _matrix(a, "solve_sylvester"), _matrix(b, "solve_sylvester"), _as_array(q)
    n, m = a.shape[0], b.shape[0]
    if n * m > _LARGEST:
        raise errors.Unsupported(
            f"scipy.linalg.solve_sylvester with more than {_LARGEST} unknowns is not supported: it is solved as a dense system",
            errors.here(),
        )
    # Of X row by row: (A ⊗ I + I ⊗ Bᵀ) x = q.
    system = a[:, None, :, None] * np.eye(m)[None, :, None, :] + np.eye(n)[:, None, :, None] * _t(b)[None, :, None, :]
    return np.reshape(np.linalg.solve(np.reshape(system, (n * m, n * m)), np.reshape(q, (n * m,))), (n, m))


# Functions of matrices

_PADE_13 = [
    64764752532480000.0,
    32382376266240000.0,
    7771770303897600.0,
    1187353796428800.0,
    129060195264000.0,
    10559470521600.0,
    670442572800.0,
    33522128640.0,
    1323241920.0,
    40840800.0,
    960960.0,
    16380.0,
    182.0,
    1.0,
]


@implements("linalg.expm")
def expm(A):
    """Scaling and squaring with the Padé approximant of order 13 (Higham 2005, section 2); the number of squarings is found when it runs."""
    a = _matrix(A, "expm")
    if a.shape[-1] == 0:
        return a
    size = np.max(np.sum(np.abs(stop_gradient(a)), axis=-2))
    squarings = np.maximum(np.ceil(np.log2(np.where(size > 0, size, 1.0) / 5.371920351148152)), 0.0)
    squarings = np.where(np.isfinite(squarings), np.minimum(squarings, 1100.0), 0.0)
    return looped(_squared, _pade(a * np.exp2(-squarings)), squarings.astype(np.int64))


def _pade(a):
    b, eye = _PADE_13, np.eye(a.shape[-1], dtype=a.dtype)
    a2 = a @ a
    a4 = a2 @ a2
    a6 = a4 @ a2
    odd = a @ (a6 @ (b[13] * a6 + b[11] * a4 + b[9] * a2) + b[7] * a6 + b[5] * a4 + b[3] * a2 + b[1] * eye)
    even = a6 @ (b[12] * a6 + b[10] * a4 + b[8] * a2) + b[6] * a6 + b[4] * a4 + b[2] * a2 + b[0] * eye
    return np.linalg.solve(even - odd, even + odd)


def _squared(x, count):
    for _ in range(count):
        x = x @ x
    return x


@implements("linalg.sqrtm")
def sqrtm(A):
    """The principal square root, where it is real: Newton's iteration in product form (Cheng, Higham, Kenney, Laub 2001), checked by X² = A."""
    a = _matrix(A, "sqrtm")
    if a.ndim > 2:
        raise errors.Unsupported(
            "scipy.linalg.sqrtm of batches is not supported; call it for each matrix", errors.here()
        )
    return _checked_root(a, "sqrtm")


def _checked_root(a, name):
    root = looped(_root, a, np.eye(a.shape[0], dtype=a.dtype), 1e-14 if a.dtype == np.float64 else 1e-6)
    tolerance = 1e-6 if a.dtype == np.float64 else 1e-2
    check(
        np.max(np.abs(root @ root - a)) <= tolerance * np.max(np.abs(a)),
        f"scipy.linalg.{name}: the matrix has no real result, or an ill-conditioned one",
        ValueError,
    )
    return root


def _root(a, eye, tolerance):
    x, m, n, away, more = a, a, 0, 1.0, 2
    # Two further steps make the derivatives converge, too.
    while more > 0 and n < 60:
        n = n + 1
        inverse = np.linalg.inv(m)
        x = 0.5 * (x @ (eye + inverse))
        m = 0.5 * (eye + 0.5 * (m + inverse))
        away = np.max(np.abs(m - eye))
        more = np.where(away < tolerance, more - 1, 2)
    return x


_NODES, _WEIGHTS = (0.5 * (1.0 + np.polynomial.legendre.leggauss(9)[0]), 0.5 * np.polynomial.legendre.leggauss(9)[1])


@implements("linalg.logm")
def logm(A):
    """The principal logarithm, where it is real: square roots until the matrix is near the identity, then Gauss–Legendre's form of Padé's approximant."""
    a = _matrix(A, "logm")
    if a.ndim > 2:
        raise errors.Unsupported(
            "scipy.linalg.logm of batches is not supported; call it for each matrix", errors.here()
        )
    eye = np.eye(a.shape[0], dtype=a.dtype)
    root, scale = looped(_near_identity, a, eye, 1e-14 if a.dtype == np.float64 else 1e-6)
    away = root - eye
    total = 0.0
    for node, weight in zip(_NODES, _WEIGHTS):
        total = total + weight * np.linalg.solve(eye + node * away, away)
    result = scale * total
    back = expm(stop_gradient(result))
    tolerance = 1e-6 if a.dtype == np.float64 else 1e-2
    check(
        np.max(np.abs(back - a)) <= tolerance * np.max(np.abs(a)),
        "scipy.linalg.logm: the matrix has no real result, or an ill-conditioned one",
        ValueError,
    )
    return result


def _near_identity(a, eye, tolerance):
    scale, n = 1.0, 0
    while np.max(np.abs(a - eye)) * eye.shape[0] > 0.3 and n < 40:
        a = _root_of(a, eye, tolerance)
        scale = 2.0 * scale
        n = n + 1
    return a, scale


def _root_of(a, eye, tolerance):
    return looped(_root, a, eye, tolerance)


# Matrices with a pattern


def _at(values, index):
    return np.reshape(np.take(values, np.ravel(index)), np.shape(index))


@implements("linalg.toeplitz")
def toeplitz(c, r=None):
    c = np.ravel(_as_array(c))
    r = c if r is None else np.ravel(_as_array(r))
    i, j = np.indices((c.shape[0], r.shape[0]))
    return _at(np.concatenate([c[::-1], r[1:]]), c.shape[0] - 1 - i + j)


@implements("linalg.circulant")
def circulant(c):
    c = np.ravel(_as_array(c))
    i, j = np.indices((c.shape[0], c.shape[0]))
    return _at(c, (i - j) % c.shape[0])


@implements("linalg.hankel")
def hankel(c, r=None):
    c = np.ravel(_as_array(c))
    r = 0.0 * c if r is None else np.ravel(_as_array(r))
    i, j = np.indices((c.shape[0], r.shape[0]))
    return _at(np.concatenate([c, r[1:]]), i + j)


@implements("linalg.block_diag")
def block_diag(*arrs):
    arrays = [np.atleast_2d(_as_array(a)) for a in arrs]
    width = sum(a.shape[1] for a in arrays)
    rows, start = [], 0
    for a in arrays:
        rows.append(np.pad(a, ((0, 0), (start, width - start - a.shape[1]))))
        start += a.shape[1]
    return np.concatenate(rows)


refuse(
    "the shape of its result is the rank, which is not known before the program runs; np.linalg.svd has all vectors",
    "linalg.null_space",
    "linalg.orth",
)
refuse(
    "its results are complex in general; np.linalg.eigh is for symmetric matrices",
    "linalg.eig",
    "linalg.eigvals",
    "linalg.schur",
    "linalg.signm",
    "linalg.funm",
)
