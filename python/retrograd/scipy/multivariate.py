"""`scipy.stats`: distributions of vectors."""

import math

import numpy as np

from .. import effects, errors, linalg

from ..trace import current
from .logarithms import xlogy
from .special import gammaln
from .stats import _double
from .table import CLASSES


def _normal_logpdf(x, mean=None, cov=1, allow_singular=False):
    """By the Cholesky factor: cov must be positive definite."""
    if allow_singular:
        raise errors.Unsupported(
            "scipy.stats.multivariate_normal with allow_singular=True is not supported: a singular matrix has no density",
            errors.here(),
        )
    x, mean, cov = _double(x), None if mean is None else _double(mean), _double(cov)
    dim = mean.size if mean is not None else cov.shape[-1] if cov.ndim else x.shape[-1] if x.ndim else 1
    mean = np.zeros(dim) if mean is None else np.reshape(mean, (dim,))
    if cov.ndim == 0:
        cov = cov * np.eye(dim)
    elif cov.ndim == 1:
        cov = np.diag(cov)
    if cov.shape != (dim, dim):
        raise errors.ShapeError(f"a covariance of shape {(dim, dim)} is needed, found {cov.shape}", errors.here())
    # A number is one point; a vector is one of dim numbers, or many of one.
    x = np.reshape(x, (1,)) if x.ndim == 0 else np.reshape(x, (*x.shape, 1)) if x.ndim == 1 and dim == 1 else x
    lower = np.linalg.cholesky(cov)
    away = np.reshape(x - mean, (-1, dim))
    scaled = linalg.triangular_solve(lower, np.transpose(away), lower=True)
    distance = np.reshape(np.sum(scaled * scaled, axis=0), x.shape[:-1])
    result = -0.5 * (dim * math.log(2 * math.pi) + distance) - np.sum(np.log(np.diagonal(lower)))
    # As SciPy, which squeezes: one point gives a number.
    return np.squeeze(result)[()] if result.shape else result


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

    def __init__(self, logpdf, args, kwargs):
        self._logpdf, self._args, self._kwargs = logpdf, args, kwargs

    def logpdf(self, x):
        return self._logpdf(x, *self._args, **self._kwargs)

    def pdf(self, x):
        return np.exp(self.logpdf(x))


def _methods(logpdf):
    rules = {
        "logpdf": logpdf,
        "pdf": lambda *args, **kwargs: np.exp(logpdf(*args, **kwargs)),
        "__call__": lambda *args, **kwargs: FrozenVector(logpdf, args, kwargs),
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


CLASSES["stats.multivariate_normal"] = _methods(_normal_logpdf)
CLASSES["stats.dirichlet"] = _methods(_dirichlet_logpdf)
CLASSES["stats._multivariate.multivariate_normal_frozen"] = _frozen(
    _normal_logpdf, lambda owner: (owner.mean, owner.cov_object.covariance)
)
CLASSES["stats._multivariate.dirichlet_frozen"] = _frozen(_dirichlet_logpdf, lambda owner: (owner.alpha,))
