"""`scipy.spatial.distance`. Where two points are the same the derivative of their distance is 0, as that of the absolute value at 0."""

import numpy as np

from .. import errors
from ..functions import _as_array, payload_of
from .logarithms import rel_entr
from .table import implements


def _root(square):
    """√, whose derivative at 0 is 0."""
    away = square > 0
    return np.where(away, np.sqrt(np.where(away, square, 1.0)), 0.0)


def _centred(x):
    return x - np.mean(x, axis=-1, keepdims=True)


def _cosine(a, b):
    return 1.0 - np.sum(a * b, axis=-1) / np.sqrt(np.sum(a * a, axis=-1) * np.sum(b * b, axis=-1))


def _minkowski(a, b, p=2.0, w=None):
    size = np.abs(a - b)
    away = size > 0
    powers = np.where(away, np.where(away, size, 1.0) ** p, 0.0)
    total = np.sum(powers if w is None else w * powers, axis=-1)
    some = total > 0
    return np.where(some, np.where(some, total, 1.0) ** (1.0 / p), 0.0)


def _weighted(metric):
    return lambda a, b, w=None: metric(a - b, 1.0 if w is None else w)


METRICS = {
    "euclidean": _weighted(lambda d, w: _root(np.sum(w * d * d, axis=-1))),
    "sqeuclidean": _weighted(lambda d, w: np.sum(w * d * d, axis=-1)),
    "cityblock": _weighted(lambda d, w: np.sum(w * np.abs(d), axis=-1)),
    "chebyshev": lambda a, b: np.max(np.abs(a - b), axis=-1),
    "cosine": _cosine,
    "correlation": lambda a, b: _cosine(_centred(a), _centred(b)),
    "minkowski": _minkowski,
    "seuclidean": lambda a, b, V: _root(np.sum((a - b) ** 2 / V, axis=-1)),
    "mahalanobis": lambda a, b, VI: _root(np.sum(((a - b) @ VI) * (a - b), axis=-1)),
    "canberra": lambda a, b: np.sum(
        np.where(
            np.abs(a) + np.abs(b) > 0,
            np.abs(a - b) / np.where(np.abs(a) + np.abs(b) > 0, np.abs(a) + np.abs(b), 1.0),
            0.0,
        ),
        axis=-1,
    ),
    "braycurtis": lambda a, b: np.sum(np.abs(a - b), axis=-1) / np.sum(np.abs(a + b), axis=-1),
}
METRICS.update(
    {
        "cityblock": METRICS["cityblock"],
        "l1": METRICS["cityblock"],
        "manhattan": METRICS["cityblock"],
        "l2": METRICS["euclidean"],
    }
)


def _measured(metric, a, b, options, name):
    if not isinstance(metric, str) or metric.lower() not in METRICS:
        raise errors.Unsupported(
            f"scipy.spatial.distance.{name} with metric={metric!r} is not supported; {', '.join(METRICS)} are",
            errors.here(),
        )
    try:
        return METRICS[metric.lower()](a, b, **options)
    except TypeError:
        raise errors.Unsupported(
            f"scipy.spatial.distance.{name} with metric={metric!r} and {', '.join(options)}= is not supported",
            errors.here(),
        ) from None


@implements("spatial.distance.cdist")
def cdist(XA, XB, metric="euclidean", **options):
    a, b = 1.0 * _as_array(XA), 1.0 * _as_array(XB)
    return _measured(metric, a[:, None, :], b[None, :, :], options, "cdist")


@implements("spatial.distance.pdist")
def pdist(X, metric="euclidean", **options):
    x = 1.0 * _as_array(X)
    i, j = np.triu_indices(x.shape[0], 1)
    return _measured(metric, np.take(x, i, axis=0), np.take(x, j, axis=0), options, "pdist")


@implements("spatial.distance.squareform")
def squareform(X, force="no", checks=True):
    x = _as_array(X)
    if x.ndim == 1 and force != "tomatrix" or x.ndim == 1:
        n = int(np.ceil(np.sqrt(2 * x.shape[0])))
        if n * (n - 1) // 2 != x.shape[0]:
            raise errors.ShapeError(
                "scipy.spatial.distance.squareform: the length of a vector of distances is n (n - 1) / 2", errors.here()
            )
        place = np.zeros((n, n), dtype=np.int64)
        i, j = np.triu_indices(n, 1)
        place[i, j] = place[j, i] = np.arange(x.shape[0])
        return np.where(np.eye(n, dtype=bool), 0.0, np.reshape(np.take(x, np.ravel(place)), (n, n)))
    i, j = np.triu_indices(x.shape[0], 1)
    return np.take(np.ravel(x), i * x.shape[0] + j)


def _pair(u, v):
    return 1.0 * _as_array(u), 1.0 * _as_array(v)


for _name in ("euclidean", "sqeuclidean", "cityblock"):
    implements(f"spatial.distance.{_name}")(lambda u, v, w=None, _metric=METRICS[_name]: _metric(*_pair(u, v), w=w))
for _name in ("seuclidean", "mahalanobis"):
    implements(f"spatial.distance.{_name}")(lambda u, v, V, _metric=METRICS[_name]: _metric(*_pair(u, v), _as_array(V)))


@implements("spatial.distance.chebyshev")
def chebyshev(u, v, w=None):
    """Where a weight is 0 the element does not count."""
    a, b = _pair(u, v)
    return METRICS["chebyshev"](a, b) if w is None else np.max(np.where(_as_array(w) > 0, np.abs(a - b), 0.0), axis=-1)


@implements("spatial.distance.minkowski")
def minkowski(u, v, p=2, w=None):
    return chebyshev(u, v, w) if payload_of(p) is not None and payload_of(p) == np.inf else _minkowski(*_pair(u, v), p=p, w=w)


@implements("spatial.distance.correlation")
def correlation(u, v, w=None, centered=True):
    """1 less the cosine of the angle between them, of weighted elements; centred by their weighted means."""
    a, b = _pair(u, v)
    w = np.ones(a.shape) / a.shape[-1] if w is None else _as_array(w) / np.sum(w)
    if centered:
        a, b = a - np.sum(w * a), b - np.sum(w * b)
    return 1.0 - np.sum(w * a * b) / np.sqrt(np.sum(w * a * a) * np.sum(w * b * b))


@implements("spatial.distance.cosine")
def cosine(u, v, w=None):
    return correlation(u, v, w, False)


@implements("spatial.distance.canberra")
def canberra(u, v, w=None):
    a, b = _pair(u, v)
    size = np.abs(a) + np.abs(b)
    parts = np.where(size > 0, np.abs(a - b) / np.where(size > 0, size, 1.0), 0.0)
    return np.sum(parts if w is None else w * parts)


@implements("spatial.distance.braycurtis")
def braycurtis(u, v, w=None):
    a, b = _pair(u, v)
    w = 1.0 if w is None else w
    return np.sum(w * np.abs(a - b)) / np.sum(w * np.abs(a + b))


@implements("spatial.distance.jensenshannon")
def jensenshannon(p, q, base=None, *, axis=0, keepdims=False):
    """The root of the mean of two relative entropies to the mean of both."""
    p, q = _pair(p, q)
    p, q = p / np.sum(p, axis=axis, keepdims=True), q / np.sum(q, axis=axis, keepdims=True)
    m = 0.5 * (p + q)
    total = np.sum(rel_entr(p, m), axis=axis, keepdims=keepdims) + np.sum(rel_entr(q, m), axis=axis, keepdims=keepdims)
    return _root(0.5 * (total if base is None else total / np.log(base)))


@implements("spatial.distance.hamming")
def hamming(u, v, w=None):
    """The part of elements that differ: it is flat."""
    differ = _as_array(u) != _as_array(v)
    return np.mean(differ) if w is None else np.sum(w * differ) / np.sum(w)
