"""`scipy.stats`: means, moments and correlations of samples."""

import collections

import numpy as np

from .. import errors
from ..functions import _as_array, payload_of
from .incomplete import stdtr
from .logarithms import entr, rel_entr
from .table import implements

_Pair = collections.namedtuple("SignificanceResult", ("statistic", "pvalue"))


def _floats(a, nan_policy="propagate"):
    if nan_policy != "propagate":
        raise errors.Unsupported("functions of scipy.stats with nan_policy= other than 'propagate' are not supported", errors.here())
    a = _as_array(a)
    return a if a.dtype.kind == "f" else 1.0 * a


def _flat(a, axis):
    return (np.ravel(a), 0) if axis is None else (a, axis)


def _weighted(logs, weights, axis, keepdims):
    return np.mean(logs, axis=axis, keepdims=keepdims) if weights is None else np.average(logs, axis=axis, weights=weights, keepdims=keepdims)


@implements("stats.gmean")
def gmean(a, axis=0, dtype=None, weights=None, nan_policy="propagate", keepdims=False):
    return np.exp(_weighted(np.log(_floats(a, nan_policy)), weights, axis, keepdims))


@implements("stats.hmean")
def hmean(a, axis=0, dtype=None, *, weights=None, nan_policy="propagate", keepdims=False):
    return 1.0 / _weighted(1.0 / _floats(a, nan_policy), weights, axis, keepdims)


@implements("stats.pmean")
def pmean(a, p, *, axis=0, dtype=None, weights=None, nan_policy="propagate", keepdims=False):
    if payload_of(p) is None or payload_of(p) == 0:
        raise errors.Unsupported("scipy.stats.pmean of a traced power, or of 0, is not supported; gmean is that of 0", errors.here())
    return _weighted(_floats(a, nan_policy) ** p, weights, axis, keepdims) ** (1.0 / p)


def _central(a, axis, power):
    away = a - np.mean(a, axis=axis, keepdims=True)
    return np.mean(away**power, axis=axis)


@implements("stats.moment")
def moment(a, order=1, axis=0, nan_policy="propagate", *, center=None, keepdims=False):
    a, axis = _flat(_floats(a, nan_policy), axis)
    if np.ndim(order):
        return np.stack([moment(a, k, axis, center=center, keepdims=keepdims) for k in order])
    middle = np.mean(a, axis=axis, keepdims=True) if center is None else center
    return np.mean((a - middle) ** order, axis=axis, keepdims=keepdims)


@implements("stats.skew")
def skew(a, axis=0, bias=True, nan_policy="propagate", *, keepdims=False):
    a, axis = _flat(_floats(a, nan_policy), axis)
    value = _central(a, axis, 3) / _central(a, axis, 2) ** 1.5
    n = a.shape[axis]
    value = value if bias or n <= 2 else value * ((n - 1.0) * n) ** 0.5 / (n - 2.0)
    return np.expand_dims(value, axis) if keepdims else value


@implements("stats.kurtosis")
def kurtosis(a, axis=0, fisher=True, bias=True, nan_policy="propagate", *, keepdims=False):
    a, axis = _flat(_floats(a, nan_policy), axis)
    value = _central(a, axis, 4) / _central(a, axis, 2) ** 2.0
    n = a.shape[axis]
    if not bias and n > 3:
        value = ((n**2 - 1.0) * value - 3.0 * (n - 1) ** 2.0) / ((n - 2.0) * (n - 3.0)) + 3.0
    value = value - 3.0 if fisher else value
    return np.expand_dims(value, axis) if keepdims else value


@implements("stats.variation")
def variation(a, axis=0, nan_policy="propagate", ddof=0, *, keepdims=False):
    a = _floats(a, nan_policy)
    return np.std(a, axis=axis, ddof=ddof, keepdims=keepdims) / np.mean(a, axis=axis, keepdims=keepdims)


@implements("stats.sem")
def sem(a, axis=0, ddof=1, nan_policy="propagate", *, keepdims=False):
    a, axis = _flat(_floats(a, nan_policy), axis)
    return np.std(a, axis=axis, ddof=ddof, keepdims=keepdims) / a.shape[axis] ** 0.5


@implements("stats.zmap")
def zmap(scores, compare, axis=0, ddof=0, nan_policy="propagate"):
    compare = _floats(compare, nan_policy)
    return (_as_array(scores) - np.mean(compare, axis=axis, keepdims=True)) / np.std(compare, axis=axis, ddof=ddof, keepdims=True)


@implements("stats.zscore")
def zscore(a, axis=0, ddof=0, nan_policy="propagate"):
    return zmap(a, a, axis, ddof, nan_policy)


@implements("stats.gzscore")
def gzscore(a, *, axis=0, ddof=0, nan_policy="propagate"):
    return zscore(np.log(_floats(a)), axis, ddof, nan_policy)


@implements("stats.entropy")
def entropy(pk, qk=None, base=None, axis=0, *, nan_policy="propagate", keepdims=False):
    """Of probabilities, which are scaled to the sum 1; relative to others where there are two."""
    pk = _floats(pk, nan_policy)
    pk = pk / np.sum(pk, axis=axis, keepdims=True)
    if qk is None:
        total = np.sum(entr(pk), axis=axis, keepdims=keepdims)
    else:
        qk = _floats(qk)
        total = np.sum(rel_entr(pk, qk / np.sum(qk, axis=axis, keepdims=True)), axis=axis, keepdims=keepdims)
    return total if base is None else total / np.log(base)


@implements("stats.iqr")
def iqr(x, axis=None, rng=(25, 75), scale=1.0, nan_policy="propagate", interpolation="linear", keepdims=False):
    if isinstance(scale, str):
        raise errors.Unsupported("scipy.stats.iqr with scale='normal' is not supported; give a number", errors.here())
    low, high = np.percentile(_floats(x, nan_policy), list(rng), axis=axis, method=interpolation, keepdims=keepdims)
    return (high - low) / scale


@implements("stats.trim_mean")
def trim_mean(a, proportiontocut, axis=0, *, nan_policy="propagate", keepdims=False):
    a, axis = _flat(_floats(a, nan_policy), axis)
    n = a.shape[axis]
    cut = int(proportiontocut * n)
    kept = np.sort(a, axis=axis)[(slice(None),) * (axis % a.ndim) + (slice(cut, n - cut),)]
    return np.mean(kept, axis=axis, keepdims=keepdims)


# Correlation. The second result is the probability of a value as far from 0, by Student's distribution.


def _two_sided(statistic, degrees):
    return 2.0 * stdtr(degrees, -np.abs(statistic))


@implements("stats.pearsonr")
def pearsonr(x, y, *, alternative="two-sided", method=None, axis=0):
    if alternative != "two-sided" or method is not None:
        raise errors.Unsupported("scipy.stats.pearsonr with alternative= or method= is not supported", errors.here())
    x, y = _floats(x), _floats(y)
    if x.ndim != 1 or x.shape != y.shape or x.shape[0] < 3:
        raise errors.Unsupported("scipy.stats.pearsonr is supported for two vectors of at least three numbers", errors.here())
    a, b = x - np.mean(x), y - np.mean(y)
    r = np.sum(a * b) / np.sqrt(np.sum(a * a) * np.sum(b * b))
    n = x.shape[0]
    return _Pair(r, _two_sided(r * np.sqrt((n - 2) / ((1.0 - r) * (1.0 + r))), float(n - 2)))


_Line = collections.namedtuple("LinregressResult", ("slope", "intercept", "rvalue", "pvalue", "stderr"))


class Line(_Line):
    """What `linregress` gives: five numbers, and one more by name."""

    intercept_stderr = None


@implements("stats.linregress")
def linregress(x, y, alternative="two-sided", *, axis=0, nan_policy="propagate"):
    if alternative != "two-sided":
        raise errors.Unsupported("scipy.stats.linregress with alternative= is not supported", errors.here())
    x, y = _floats(x, nan_policy), _floats(y)
    if x.ndim != 1 or x.shape != y.shape or x.shape[0] < 3:
        raise errors.Unsupported("scipy.stats.linregress is supported for two vectors of at least three numbers", errors.here())
    n = x.shape[0]
    a, b = x - np.mean(x), y - np.mean(y)
    xx, xy, yy = np.mean(a * a), np.mean(a * b), np.mean(b * b)
    slope, r = xy / xx, xy / np.sqrt(xx * yy)
    error = np.sqrt((1.0 - r * r) * yy / xx / (n - 2))
    p = _two_sided(r * np.sqrt((n - 2) / ((1.0 - r) * (1.0 + r))), float(n - 2))
    line = Line(slope, np.mean(y) - slope * np.mean(x), r, p, error)
    line.intercept_stderr = error * np.sqrt(xx + np.mean(x) ** 2)
    return line


@implements("stats.wasserstein_distance")
def wasserstein_distance(u_values, v_values, u_weights=None, v_weights=None):
    """∫ |U - V| of the two distribution functions."""
    u, v = _floats(u_values), _floats(v_values)
    joined = np.sort(np.concatenate([u, v]))
    gaps = np.diff(joined)

    def levels(values, weights):
        places = np.searchsorted(np.sort(values), joined[:-1], "right")
        if weights is None:
            return places / values.shape[0]
        total = np.concatenate([np.zeros(1), np.cumsum(_floats(weights)[np.argsort(values)])])
        return total[places] / total[-1]

    return np.sum(np.abs(levels(u, u_weights) - levels(v, v_weights)) * gaps)


@implements("stats.rankdata")
def rankdata(a, method="average", *, axis=None, nan_policy="propagate"):
    """Ranks are flat."""
    a = _floats(a, nan_policy)
    if axis is not None or method not in ("average", "min", "max"):
        raise errors.Unsupported("scipy.stats.rankdata with axis= or this method is not supported; average, min and max are", errors.here())
    flat = np.ravel(a)
    ordered = np.sort(flat)
    low, high = np.searchsorted(ordered, flat, "left") + 1, np.searchsorted(ordered, flat, "right")
    if method != "average":
        return low if method == "min" else high
    return 0.5 * (low + high)


# The kernel density estimate


class Density:
    """`gaussian_kde` of a sample that is traced."""

    def __init__(self, dataset, bw_method, weights):
        self.dataset = np.atleast_2d(_floats(dataset))
        self.d, self.n = self.dataset.shape
        self.weights = np.full(self.n, 1.0 / self.n) if weights is None else _floats(weights) / np.sum(weights)
        self.neff = float(self.n) if weights is None else 1.0 / np.sum(self.weights**2)
        if bw_method is None or bw_method == "scott":
            self.factor = self.neff ** (-1.0 / (self.d + 4))
        elif bw_method == "silverman":
            self.factor = (self.neff * (self.d + 2.0) / 4.0) ** (-1.0 / (self.d + 4))
        elif callable(bw_method):
            raise errors.Unsupported("scipy.stats.gaussian_kde with a function as bw_method is not supported", errors.here())
        else:
            self.factor = bw_method
        self.covariance = np.reshape(np.cov(self.dataset, rowvar=True, bias=False, aweights=self.weights), (self.d, self.d)) * self.factor**2

    def logpdf(self, points):
        points = np.atleast_2d(_floats(points))
        points = np.reshape(points, (self.d, 1)) if points.shape == (1, self.d) and self.d != 1 else points
        lower = np.linalg.cholesky(self.covariance)
        from .. import linalg as ours
        from .logarithms import logsumexp

        white = lambda x: ours.triangular_solve(lower, x, lower=True)
        away = white(points)[:, :, None] - white(self.dataset)[:, None, :]
        exponent = -0.5 * np.sum(away * away, axis=0)
        scale = 0.5 * self.d * np.log(2 * np.pi) + np.sum(np.log(np.diagonal(lower)))
        return logsumexp(exponent, axis=1, b=self.weights) - scale

    def pdf(self, points):
        return np.exp(self.logpdf(points))

    evaluate = __call__ = pdf


@implements("stats.gaussian_kde")
def gaussian_kde(dataset, bw_method=None, weights=None):
    return Density(dataset, bw_method, weights)
