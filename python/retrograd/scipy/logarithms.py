"""`scipy.special`: logarithms, entropies and what softmax is made of; Lambert's function."""

import math

import numpy as np

from .. import errors
from ..functions import _as_array
from ..table.reductions import logsumexp as _logsumexp
from .elementwise import elementwise, inside, known_integer
from .table import implements

inf, nan = np.inf, np.nan


@elementwise("xlogy")
def xlogy(x, y):
    """x log y, and 0 at x = 0 unless y is NaN."""
    zero = x == 0
    usual = (y > 0) & (y < inf)
    # At x = 0 the derivative by x is log y where that is a number.
    return np.where(zero & ~usual, 0.0, x * np.log(inside(y, ~zero | usual, 1.0)))


@elementwise("xlog1py")
def xlog1py(x, y):
    zero = x == 0
    usual = (y > -1) & (y < inf)
    return np.where(zero & ~usual, 0.0, x * np.log1p(inside(y, ~zero | usual, 0.0)))


@elementwise("entr", partials=[lambda x: np.where(x == 0, 0.0, -np.log(inside(x, x != 0, 1.0)) - 1.0)])
def entr(x):
    """-x log x; 0 at 0, -∞ below."""
    positive = x > 0
    return np.where(
        np.isnan(x), x, np.where(positive, -x * np.log(inside(x, positive, 1.0)), np.where(x == 0, 0.0, -inf))
    )


@elementwise("rel_entr")
def rel_entr(x, y):
    """x log(x/y); 0 at x = 0 ≤ y, ∞ outside."""
    both = (x > 0) & (y > 0)
    a, b = inside(x, both, 1.0), inside(y, both, 1.0)
    ratio = a / b
    near, ordinary = (ratio > 0.5) & (ratio < 2), (ratio > 0) & (ratio < inf)
    usual = np.where(
        near, np.log1p((inside(a, near, 1.0) - inside(b, near, 1.0)) / b), np.log(inside(ratio, ordinary, 1.0))
    )
    value = a * np.where(ordinary, usual, np.log(a) - np.log(b))
    return np.where(np.isnan(x) | np.isnan(y), nan, np.where(both, value, np.where((x == 0) & (y >= 0), 0.0, inf)))


@elementwise("kl_div")
def kl_div(x, y):
    """x log(x/y) - x + y."""
    both = (x > 0) & (y > 0)
    a, b = inside(x, both, 1.0), inside(y, both, 1.0)
    value = rel_entr(a, b) - a + b
    return np.where(np.isnan(x) | np.isnan(y), nan, np.where(both, value, np.where((x == 0) & (y >= 0), y, inf)))


@elementwise("logit", partials=[lambda p: 1.0 / (p * (1.0 - p))])
def logit(p):
    """log(p / (1 - p)); near 1/2 by log1p, where the quotient is near 1."""
    middle = (p > 0.3) & (p < 0.65)
    s = inside(2.0 * (p - 0.5), middle, 0.0)
    rest = inside(p, ~middle, 0.25)
    return np.where(middle, np.log1p(s) - np.log1p(-s), np.log(rest / (1.0 - rest)))


@elementwise("log_expit")
def log_expit(x):
    return -np.logaddexp(0.0, -x)


@elementwise("softplus")
def softplus(x):
    return np.logaddexp(0.0, x)


@elementwise("exprel")
def exprel(x):
    """(exp x - 1) / x; near 0 by its series, whose derivative is exact there."""
    small = np.abs(x) < 1e-2
    t = inside(x, small, 0.0)
    series = 1.0
    for k in range(9, 1, -1):
        series = 1.0 + t * series / k
    rest = inside(x, ~small & (x != inf), 1.0)
    return np.where(x == inf, inf, np.where(small, series, np.expm1(rest) / rest))


@elementwise("boxcox")
def boxcox(x, lmbda):
    """(x^λ - 1) / λ, and log x at λ = 0."""
    log = np.log(x)
    finite = np.isfinite(log)
    ordinary = inside(log, finite, 1.0) * exprel(inside(lmbda * inside(log, finite, 1.0), finite, 1.0))
    edge = np.where(lmbda > 0, np.where(log > 0, inf, -1.0 / np.where(lmbda > 0, lmbda, 1.0)), log)
    return np.where(finite, ordinary, edge)


@elementwise("inv_boxcox")
def inv_boxcox(y, lmbda):
    zero = lmbda == 0
    l = inside(lmbda, ~zero, 1.0)
    return np.where(zero, np.exp(inside(y, zero, 0.0)), np.exp(np.log1p(inside(l * y, ~zero, 0.0)) / l))


@elementwise("huber")
def huber(delta, r):
    size = np.abs(r)
    return np.where(delta < 0, inf, np.where(size <= delta, 0.5 * r * r, delta * (size - 0.5 * delta)))


@elementwise("pseudo_huber")
def pseudo_huber(delta, r):
    d = inside(delta, delta > 0, 1.0)
    u = r / d
    value = d * d * (u * u / (np.sqrt(1.0 + u * u) + 1.0))
    return np.where(delta < 0, inf, np.where((delta == 0) | (r == 0) & (delta == 0), 0.0, value))


@implements("special.logsumexp")
def logsumexp(a, axis=None, b=None, keepdims=False, return_sign=False):
    if return_sign and b is None:
        raise errors.Unsupported(
            "scipy.special.logsumexp with return_sign=True and without b= is not supported; the sign is 1",
            errors.here(),
        )
    if b is None:
        return _logsumexp(a, axis, keepdims)
    a, b = np.broadcast_arrays(_as_array(a), _as_array(b))
    a = np.where(b == 0, -inf, a)
    top = np.max(a, axis=axis, keepdims=True)
    top = np.where(np.isfinite(top), top, 0.0)
    from ..custom import stop_gradient

    top = stop_gradient(top)
    total = np.sum(b * np.exp(a - top), axis=axis, keepdims=keepdims)
    top = top if keepdims else np.reshape(top, total.shape)
    if return_sign:
        return np.log(np.abs(total)) + top, np.sign(total)
    return np.log(total) + top


@implements("special.log_softmax")
def log_softmax(x, axis=None):
    x = _as_array(x)
    return x - _logsumexp(x, axis, True)


@implements("special.softmax")
def softmax(x, axis=None):
    return np.exp(log_softmax(x, axis))


# Lambert's function


@implements("special.lambertw")
def lambertw(z, k=0, tol=1e-8):
    """w with w exp w = z on the branches 0 and -1, as a real number: where SciPy's has an imaginary part it is NaN."""
    k = known_integer(k, "the branch", "lambertw")
    if k not in (0, -1):
        raise errors.Unsupported(
            f"scipy.special.lambertw has no real values on branch {k}; 0 and -1 have", errors.here()
        )
    return _lambert[k](z)


def _branch(k):
    def value(z):
        valid = z >= -math.exp(-1.0)
        valid = valid if k == 0 else valid & (z < 0)
        x = inside(z, valid & (z < inf), 1.0 if k == 0 else -0.2)
        # Near the branch point by the series in √(2(ez + 1)); far away by logarithms.
        p = np.sqrt(np.maximum(2.0 * (math.e * x + 1.0), 0.0))
        p = p if k == 0 else -p
        near = -1.0 + p * (1.0 + p * (-1 / 3 + p * (11 / 72 + p * (-43 / 540))))
        if k == 0:
            log = np.log(np.maximum(x, 1.0))
            far = log - np.log(np.maximum(log, 1.0)) * np.where(x > 10, 1.0, 0.0)
            w = np.where(x < 1, np.where(x < -0.2, near, x / (1.0 + x)), far)
        else:
            log = np.log(np.minimum(-x, math.exp(-1.0)))
            w = np.where(x < -0.25, near, log - np.log(-log))
        for _ in range(6):  # Halley's steps, of third order
            safe = np.where(np.abs(w + 1.0) > 1e-8, w, -1.0 + 1e-8 if k == 0 else -1.0 - 1e-8)
            f = safe - x * np.exp(-safe)
            w = np.where(np.abs(w + 1.0) > 1e-8, safe - f / (safe + 1.0 - (safe + 2.0) * f / (2.0 * safe + 2.0)), w)
        w = np.where(x == 0, x, w) if k == 0 else w
        if k == 0:
            return np.where(z == inf, inf, np.where(valid, w, nan))
        return np.where(valid, w, np.where(z == 0, -inf, nan))

    # w' = 1 / (e^w (1 + w)), which at z = 0 is 1.
    def slope(z):
        w = _lambert[k](z)
        return np.exp(-w) / (1.0 + w)

    return elementwise(partials=[slope])(value)


_lambert = {k: _branch(k) for k in (0, -1)}
