"""`scipy.linalg`: factors with SciPy's shapes, equations whose matrices have a pattern, cosines and sines of matrices."""

import numpy as np

from .. import errors
from .. import linalg as ours
from ..functions import _as_array
from .linalg import _LARGEST, _matrix, _t, circulant, expm, solve_sylvester, toeplitz
from .table import implements


@implements("linalg.lu")
def lu(a, permute_l=False, p_indices=False):
    """(P, L, U) of a square matrix, by partial pivoting."""
    a = _matrix(a, "lu")
    if a.ndim > 2:
        raise errors.Unsupported("scipy.linalg.lu of batches is not supported; call it for each matrix", errors.here())
    packed, order = ours.lu(a)
    n = a.shape[-1]
    lower, upper = np.tril(packed, -1) + np.eye(n), np.triu(packed)
    # Row i of L U is row order[i] of A.
    if p_indices and not permute_l:
        return np.argsort(order).astype(np.int32), lower, upper
    turned = np.equal(np.arange(n)[:, None], order[None, :]).astype(a.dtype)
    return (turned @ lower, upper) if permute_l else (turned, lower, upper)


@implements("linalg.qr")
def qr(a, lwork=None, mode="full", pivoting=False):
    """Of a square matrix, or in its economic form: what else a full Q has is not determined."""
    if pivoting or mode not in ("full", "economic", "r"):
        raise errors.Unsupported("scipy.linalg.qr with pivoting= or mode='raw' is not supported", errors.here())
    a = 1.0 * _as_array(a)
    m, n = a.shape[-2:]
    if mode == "r":
        upper = np.linalg.qr(a, mode="r")
        return (np.concatenate([upper, np.zeros((*a.shape[:-2], m - n, n))], axis=-2) if m > n else upper,)
    if mode == "full" and m > n:
        raise errors.Unsupported("scipy.linalg.qr with mode='full' of a tall matrix is not supported; use mode='economic'", errors.here())
    q, r = np.linalg.qr(a)
    return q, r


def _small(n, name):
    if n > _LARGEST:
        raise errors.Unsupported(f"scipy.linalg.{name} with more than {_LARGEST} rows is not supported: it is solved as a dense system", errors.here())


@implements("linalg.solve_toeplitz")
def solve_toeplitz(c_or_cr, b):
    """As a dense system, up to 4,096 rows."""
    c, r = c_or_cr if isinstance(c_or_cr, tuple) else (c_or_cr, None)
    matrix = toeplitz(c, r)
    _small(matrix.shape[0], "solve_toeplitz")
    return np.linalg.solve(1.0 * matrix, b)


@implements("linalg.solve_circulant")
def solve_circulant(c, b, singular="raise", tol=None, caxis=-1, baxis=0, outaxis=0):
    """As a dense system, up to 4,096 rows."""
    c, b = 1.0 * _as_array(c), 1.0 * _as_array(b)
    if singular != "raise" or c.ndim != 1 or (baxis, outaxis) != (0, 0):
        raise errors.Unsupported("scipy.linalg.solve_circulant with singular=, baxis= or outaxis= or of several systems is not supported", errors.here())
    _small(c.shape[0], "solve_circulant")
    return np.linalg.solve(circulant(c), b)


@implements("linalg.solveh_banded")
def solveh_banded(ab, b, lower=False):
    """As a dense system, up to 4,096 rows."""
    ab = 1.0 * _as_array(ab)
    u, n = ab.shape[0] - 1, ab.shape[1]
    _small(n, "solveh_banded")
    dense = np.diag(ab[0 if lower else u])
    for k in range(1, u + 1):
        band = ab[k, : n - k] if lower else ab[u - k, k:]
        dense = dense + np.diag(band, k) + np.diag(band, -k)
    return np.linalg.solve(dense, b)


@implements("linalg.solve_continuous_lyapunov", "linalg.solve_lyapunov")
def solve_continuous_lyapunov(a, q):
    """A X + X Aᵀ = Q."""
    a = _matrix(a, "solve_continuous_lyapunov")
    return solve_sylvester(a, _t(a), q)


@implements("linalg.solve_discrete_lyapunov")
def solve_discrete_lyapunov(a, q, method=None):
    """A X Aᵀ - X + Q = 0 as one dense system of its n² numbers, up to 4,096."""
    a, q = _matrix(a, "solve_discrete_lyapunov"), _as_array(q)
    n = a.shape[0]
    _small(n * n, "solve_discrete_lyapunov")
    return np.reshape(np.linalg.solve(np.eye(n * n) - np.kron(a, a), 1.0 * np.ravel(q)), (n, n))


@implements("linalg.companion")
def companion(a):
    a = 1.0 * _as_array(a)
    if a.ndim != 1 or a.shape[0] < 2:
        raise errors.ShapeError(f"The length of `a` along the last axis must be at least 2, found shape {a.shape}", errors.here())
    return np.concatenate([np.reshape(-a[1:] / a[0], (1, -1)), np.eye(a.shape[0] - 2, a.shape[0] - 1)], axis=0)


@implements("linalg.khatri_rao")
def khatri_rao(a, b):
    a, b = _as_array(a), _as_array(b)
    return np.reshape(a[:, None, :] * b[None, :, :], (-1, a.shape[1]))


@implements("linalg.expm_frechet")
def expm_frechet(A, E, method=None, compute_expm=True):
    """The derivative along E, as a block of the exponential of [[A, E], [0, A]]."""
    A, E = _matrix(A, "expm_frechet"), 1.0 * _as_array(E)
    n = A.shape[0]
    both = expm(np.block([[A, E], [np.zeros((n, n)), A]]))
    return (both[:n, :n], both[:n, n:]) if compute_expm else both[:n, n:]


def _turning(A, name):
    """The exponential of [[0, -A], [A, 0]] is [[cos A, -sin A], [sin A, cos A]]."""
    A = _matrix(A, name)
    zero = np.zeros(A.shape)
    both = expm(np.block([[zero, -A], [A, zero]]))
    n = A.shape[0]
    return both[n:, n:], both[n:, :n]


@implements("linalg.cosm")
def cosm(A):
    return _turning(A, "cosm")[0]


@implements("linalg.sinm")
def sinm(A):
    return _turning(A, "sinm")[1]


@implements("linalg.tanm")
def tanm(A):
    cosine, sine = _turning(A, "tanm")
    return np.linalg.solve(cosine, sine)


@implements("linalg.coshm")
def coshm(A):
    A = _matrix(A, "coshm")
    return 0.5 * (expm(A) + expm(-A))


@implements("linalg.sinhm")
def sinhm(A):
    A = _matrix(A, "sinhm")
    return 0.5 * (expm(A) - expm(-A))


@implements("linalg.tanhm")
def tanhm(A):
    return np.linalg.solve(coshm(A), sinhm(A))
