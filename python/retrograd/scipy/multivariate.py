"""`scipy.stats`: distributions of vectors."""

import math

import numpy as np

from .. import effects, errors, linalg
from ..functions import payload_of
from ..trace import current
from .logarithms import xlogy
from .special import gammaln
from .stats import _double
from .table import CLASSES


def _normal_parameters(x, mean, cov):
    """(x, mean, cov) as points, a vector and a matrix."""
    x, mean, cov = _double(x), None if mean is None else _double(mean), _double(cov)
    # As SciPy: without a mean, a number as covariance is that of one dimension.
    dim = mean.size if mean is not None else cov.shape[-1] if cov.ndim == 2 else 1
    mean = np.zeros(dim) if mean is None else np.reshape(mean, (dim,))
    if cov.ndim == 0:
        cov = cov * np.eye(dim)
    elif cov.ndim == 1:
        cov = np.diag(cov)
    if cov.shape != (dim, dim):
        raise errors.ShapeError(f"a covariance of shape {(dim, dim)} is needed, found {cov.shape}", errors.here())
    # A number is one point; a vector is one of dim numbers, or many of one.
    x = np.reshape(x, (1,)) if x.ndim == 0 else np.reshape(x, (*x.shape, 1)) if x.ndim == 1 and dim == 1 else x
    return x, mean, cov


def _normal_logpdf(x, mean=None, cov=1, allow_singular=False):
    """By the Cholesky factor, which needs a positive definite matrix, or by eigenvectors where that may be singular."""
    x, mean, cov = _normal_parameters(x, mean, cov)
    dim = mean.shape[0]
    away = np.reshape(x - mean, (-1, dim))
    if allow_singular:
        return _of_support(away, cov, x.shape[:-1])
    lower = np.linalg.cholesky(cov)
    scaled = linalg.triangular_solve(lower, np.transpose(away), lower=True)
    distance = np.reshape(np.sum(scaled * scaled, axis=0), x.shape[:-1])
    result = -0.5 * (dim * math.log(2 * math.pi) + distance) - np.sum(np.log(np.diagonal(lower)))
    # As SciPy, which squeezes: one point gives a number.
    return np.squeeze(result)[()] if result.shape else result


def _of_support(away, cov, shape):
    """The density on what a singular covariance spans, and 0 beside it. SciPy's bound tells which eigenvalues are 0; they have no derivative."""
    from ..custom import stop_gradient

    values, vectors = np.linalg.eigh(cov)
    bound = stop_gradient(1e6 * np.finfo(float).eps * np.max(np.abs(values)))
    kept = np.abs(values) > bound
    fixed = payload_of(cov)
    if fixed is None:
        raise errors.Unsupported(
            "scipy.stats.multivariate_normal with allow_singular=True and a traced covariance is not supported: its rank is not known", errors.here()
        )
    safe = np.where(kept, values, 1.0)
    turned = away @ vectors
    distance = np.sum(np.where(kept, turned * turned / safe, 0.0), axis=-1)
    beside = np.sqrt(np.sum(np.where(kept, 0.0, turned * turned), axis=-1)) >= 1e3 * bound
    constant = np.sum(np.where(kept, math.log(2 * math.pi) + np.log(safe), 0.0))
    result = np.reshape(np.where(beside, -np.inf, -0.5 * (constant + distance)), shape)
    return np.squeeze(result)[()] if result.shape else result


def _normal_entropy(mean=None, cov=1, allow_singular=False):
    if allow_singular:
        raise errors.Unsupported("the entropy of scipy.stats.multivariate_normal with allow_singular=True is not supported", errors.here())
    _, mean, cov = _normal_parameters(0.0, mean, cov)
    dim = mean.shape[0]
    return 0.5 * dim * (1.0 + math.log(2 * math.pi)) + np.sum(np.log(np.diagonal(np.linalg.cholesky(cov))))


def _student_logpdf(x, loc=None, shape=1, df=1, allow_singular=False):
    """By the Cholesky factor: the shape must be positive definite."""
    if allow_singular or payload_of(df) is not None and np.isinf(payload_of(df)):
        raise errors.Unsupported("scipy.stats.multivariate_t with allow_singular=True or df=inf is not supported", errors.here())
    x, loc, shape = _normal_parameters(x, loc, shape)
    dim, df = loc.shape[0], _double(df)
    lower = np.linalg.cholesky(shape)
    scaled = linalg.triangular_solve(lower, np.transpose(np.reshape(x - loc, (-1, dim))), lower=True)
    distance = np.reshape(np.sum(scaled * scaled, axis=0), x.shape[:-1])
    half = 0.5 * (df + dim)
    result = gammaln(half) - gammaln(0.5 * df) - 0.5 * dim * np.log(df * math.pi) - np.sum(np.log(np.diagonal(lower))) - half * np.log1p(distance / df)
    return np.squeeze(result)[()] if result.shape else result


def _multinomial_logpmf(x, n, p):
    """The last probability is what the others leave, as in SciPy."""
    x, p = _double(x), _double(p)
    if payload_of(n) is None or p.ndim != 1 or np.ndim(payload_of(n)):
        raise errors.Unsupported("scipy.stats.multinomial is supported for one known n and one vector of probabilities", errors.here())
    n = float(payload_of(n))
    p = np.concatenate([p[:-1], np.reshape(1.0 - np.sum(p[:-1]), (1,))])
    allowed = np.all((p >= 0) & (p <= 1))
    counted = np.all((x >= 0) & (x == np.floor(x)), axis=-1) & (np.sum(x, axis=-1) == n)
    value = math.lgamma(n + 1.0) + np.sum(xlogy(x, p) - gammaln(x + 1.0), axis=-1)
    return np.where(allowed, np.where(counted, value, -np.inf), np.nan)[()]


def _wishart_logpdf(x, df, scale):
    """Of one matrix, or of matrices along a last axis."""
    x, scale, df = _double(x), _double(scale), _double(df)
    if scale.ndim != 2 or x.ndim not in (2, 3):
        raise errors.Unsupported("scipy.stats.wishart is supported for matrices", errors.here())
    dim = scale.shape[0]
    points = x if x.ndim == 2 else np.moveaxis(x, -1, 0)
    lower = np.linalg.cholesky(scale)
    log_x = 2.0 * np.sum(np.log(np.diagonal(np.linalg.cholesky(points), 0, -2, -1)), axis=-1)
    trace = np.trace(np.linalg.solve(np.broadcast_to(scale, points.shape), points), axis1=-2, axis2=-1)
    multi = sum(gammaln(0.5 * df - 0.5 * k) for k in range(dim)) + dim * (dim - 1) * 0.25 * math.log(math.pi)
    scaled = 0.5 * df * (dim * math.log(2.0) + 2.0 * np.sum(np.log(np.diagonal(lower))))
    return 0.5 * (df - dim - 1.0) * log_x - 0.5 * trace - scaled - multi


def _dirichlet_logpdf(x, alpha):
    x, alpha = _double(x), _double(alpha)
    if alpha.ndim != 1 or not x.ndim or x.shape[0] not in (alpha.shape[0], alpha.shape[0] - 1):
        raise errors.ShapeError(
            f"x of {alpha.shape[0]} rows, or one fewer, is needed, found shape {x.shape}", errors.here()
        )
    if x.shape[0] == alpha.shape[0] - 1:
        x = np.concatenate([x, 1.0 - np.sum(x, axis=0, keepdims=True)])
    beta = np.sum(gammaln(alpha)) - gammaln(np.sum(alpha))
    powers = np.reshape(alpha - 1.0, (alpha.shape[0],) + (1,) * (x.ndim - 1))
    return np.sum(xlogy(powers, x), axis=0) - beta


class FrozenVector:
    """A distribution of vectors with parameters of which some are traced."""

    def __init__(self, logpdf, entropy, args, kwargs):
        self._logpdf, self._entropy, self._args, self._kwargs = logpdf, entropy, args, kwargs

    def logpdf(self, x):
        return self._logpdf(x, *self._args, **self._kwargs)

    def pdf(self, x):
        return np.exp(self.logpdf(x))

    logpmf, pmf = logpdf, pdf

    def entropy(self):
        if self._entropy is None:
            raise errors.Unsupported("the entropy of this distribution of vectors is not supported", errors.here())
        return self._entropy(*self._args, **self._kwargs)


def _methods(logpdf, name="pdf", **others):
    """`name` is pdf or pmf."""
    rules = {
        f"log{name}": logpdf,
        name: lambda *args, **kwargs: np.exp(logpdf(*args, **kwargs)),
        "__call__": lambda *args, **kwargs: FrozenVector(logpdf, others.get("entropy"), args, kwargs),
        **others,
    }
    return lambda owner, name: rules.get(name)


def _frozen(logpdf, parameters):
    def methods(owner, name):
        if name not in ("logpdf", "pdf"):
            return None
        if effects.owner(owner) is None:
            current().outside.contents(owner, "a frozen distribution")
        return lambda x: logpdf(x, *parameters(owner)) if name == "logpdf" else np.exp(logpdf(x, *parameters(owner)))

    return methods


CLASSES["stats.multivariate_normal"] = _methods(_normal_logpdf, entropy=_normal_entropy)
CLASSES["stats.multivariate_t"] = _methods(_student_logpdf)
CLASSES["stats.multinomial"] = _methods(_multinomial_logpmf, "pmf")
CLASSES["stats.wishart"] = _methods(_wishart_logpdf)
CLASSES["stats.dirichlet"] = _methods(_dirichlet_logpdf)
CLASSES["stats._multivariate.multivariate_normal_frozen"] = _frozen(
    _normal_logpdf, lambda owner: (owner.mean, owner.cov_object.covariance, owner.allow_singular)
)
CLASSES["stats._multivariate.dirichlet_frozen"] = _frozen(_dirichlet_logpdf, lambda owner: (owner.alpha,))
