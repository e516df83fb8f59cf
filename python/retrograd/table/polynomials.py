"""`np.poly…`: polynomials by their coefficients, the highest power first."""

import numpy as np

from .. import custom, errors
from ..array import Array
from ..functions import _as_array, _common, _concatenate, astype, has_arrays
from ..rules import implements
from ..trace import NUMPY


@implements(np.polyval)
def _polyval(p, x):
    """By Horner's rule."""
    p = _as_array(p)
    result = np.zeros_like(x)
    for k in range(p.shape[0]):
        result = result * x + p[k]
    return result


@implements(np.vander)
def _vander(x, N=None, increasing=False):
    x = _as_array(x)
    if x.ndim != 1:
        raise errors.ShapeError("np.vander: x must be a one-dimensional array or sequence.", errors.here())
    count = x.shape[0] if N is None else N
    dtype = np.promote_types(x.dtype, int)
    columns, power = [], np.ones(x.shape, dtype)
    for k in range(count):
        columns.append(power)
        power = power * x
    if not columns:
        return np.zeros((x.shape[0], 0), dtype)
    return astype(np.stack(columns if increasing else columns[::-1], axis=1), dtype)


@implements(np.polyfit)
def _polyfit(x, y, deg, rcond=None, full=False, w=None, cov=False):
    """Least squares by QR of the scaled matrix of powers, as NumPy's has its columns scaled; of full rank."""
    if full or cov:
        raise errors.Unsupported("np.polyfit with full= or cov= is not supported", errors.here())
    x, y = 1.0 * _as_array(x), 1.0 * _as_array(y)
    powers, right = _vander(x, deg + 1), y
    if w is not None:
        powers, right = powers * _as_array(w)[:, None], (y.T * w).T
    scale = np.sqrt(np.sum(powers * powers, axis=0))
    found = np.linalg.lstsq(powers / scale, right, rcond=None)[0]
    return (found.T / scale).T


@implements(np.polyadd)
def _polyadd(a1, a2):
    return _summed(a1, a2, np.add)


@implements(np.polysub)
def _polysub(a1, a2):
    return _summed(a1, a2, np.subtract)


def _summed(a1, a2, function):
    a1, a2 = (np.atleast_1d(_as_array(a)) for a in (a1, a2))
    n = max(a1.shape[0], a2.shape[0])
    wide = lambda a: _concatenate([np.zeros(n - a.shape[0], a.dtype), a], 0)
    return function(wide(a1), wide(a2))


@implements(np.polymul)
def _polymul(a1, a2):
    """NumPy leaves out leading zeros, which would make the length depend on elements."""
    for a in (a1, a2):
        custom.check(np.not_equal(_as_array(a)[0], 0), "np.polymul of a polynomial whose first coefficient is 0 has a length that is not known before the program runs", ValueError)
    return np.convolve(a1, a2)


@implements(np.polyder)
def _polyder(p, m=1):
    p = _as_array(p)
    for _ in range(m):
        p = p[:-1] * np.arange(p.shape[0] - 1, 0, -1)
    return p


@implements(np.polyint)
def _polyint(p, m=1, k=None):
    p = 1.0 * _as_array(p)
    constants = [0.0] * m if k is None else [k] * m if np.ndim(k) == 0 else list(np.ravel(k) if not isinstance(k, Array) else [k[j] for j in range(k.shape[0])])
    for constant in (constants if len(constants) == m else constants * m)[:m]:
        p = _concatenate([p / np.arange(p.shape[0], 0, -1), np.reshape(_as_array(constant), (1,))], 0)
    return p


@implements(np.poly)
def _poly(seq_of_zeros):
    zeros = _as_array(seq_of_zeros)
    if zeros.ndim != 1:
        raise errors.Unsupported("np.poly of a matrix is not supported", errors.here())
    result = np.ones(1, NUMPY[_common(zeros, 1.0)])
    for k in range(zeros.shape[0]):
        one = np.ones(1, NUMPY[_common(zeros, 1.0)])
        result = np.convolve(result, _concatenate([one, -zeros[k : k + 1]], 0))
    return result


# Series of orthogonal polynomials, by Clenshaw's rule with NumPy's own steps.


def _series(function, step, end):
    """`step` is what the last two coefficients become, `end` the value of the last two."""

    def rule(x, c, tensor=True):
        if not isinstance(x, Array) and not isinstance(c, Array) and not has_arrays((x, c)):
            return function(x, c, tensor)
        c, x = np.atleast_1d(_as_array(c)), _as_array(x)
        c = c if c.dtype.kind == "f" else astype(c, np.float64)
        c = np.reshape(c, c.shape + (1,) * x.ndim) if tensor else c
        count = c.shape[0]
        if count == 1:
            return c[0] + 0.0 * x
        first, second = c[-2], c[-1]
        for k in range(3, count + 1):
            first, second = step(count - k + 2, x, c[-k], first, second)
        return end(x, first, second)

    return rule


def _horner(x, c, tensor=True):
    if not isinstance(x, Array) and not isinstance(c, Array) and not has_arrays((x, c)):
        return np.polynomial.polynomial.polyval(x, c, tensor)
    c, x = np.atleast_1d(_as_array(c)), _as_array(x)
    c = c if c.dtype.kind == "f" else astype(c, np.float64)
    c = np.reshape(c, c.shape + (1,) * x.ndim) if tensor else c
    total = c[-1] + x * 0
    for k in range(2, c.shape[0] + 1):
        total = c[-k] + total * x
    return total


_of = np.polynomial
EVALUATED = {
    _of.polynomial.polyval: _horner,
    _of.chebyshev.chebval: _series(_of.chebyshev.chebval, lambda n, x, c, a, b: (c - b, a + b * (2.0 * x)), lambda x, a, b: a + b * x),
    _of.legendre.legval: _series(_of.legendre.legval, lambda n, x, c, a, b: (c - b * ((n - 1) / n), a + b * x * ((2 * n - 1) / n)), lambda x, a, b: a + b * x),
    _of.laguerre.lagval: _series(_of.laguerre.lagval, lambda n, x, c, a, b: (c - b * (n - 1) / n, a + b * ((2 * n - 1) - x) / n), lambda x, a, b: a + b * (1 - x)),
    _of.hermite.hermval: _series(_of.hermite.hermval, lambda n, x, c, a, b: (c - b * (2 * (n - 1)), a + b * (2.0 * x)), lambda x, a, b: a + b * (2.0 * x)),
    _of.hermite_e.hermeval: _series(_of.hermite_e.hermeval, lambda n, x, c, a, b: (c - b * (n - 1), a + b * x), lambda x, a, b: a + b * x),
}
