"""Order statistics, averages and covariances."""

import numpy as np

from .. import errors
from ..array import Array, is_weak
from ..functions import _as_array, _axes, _concatenate, astype, payload_of
from ..rules import implements

# Continuous estimates by (alpha, beta): the place of the quantile q of n elements is n q + alpha + q (1 - alpha - beta) - 1, Hyndman and Fan 1996, section 2.
_CONTINUOUS = {
    "linear": (1, 1), "interpolated_inverted_cdf": (0, 1), "hazen": (0.5, 0.5), "weibull": (0, 0), "median_unbiased": (1 / 3, 1 / 3), "normal_unbiased": (3 / 8, 3 / 8),
}


def _gathered(x, axis):
    """(the elements with the axes to reduce as one last axis, those axes)."""
    x = _as_array(x)
    axes = _axes(axis if not isinstance(axis, list) else tuple(axis), x.ndim, "quantile")
    rest = [k for k in range(x.ndim) if k not in axes]
    moved = np.transpose(x, [*rest, *axes])
    return np.reshape(moved, [*(x.shape[k] for k in rest), int(np.prod([x.shape[k] for k in axes], dtype=np.int64))]), axes


def _place(n, q, method):
    """(the element before the quantile, how far it is from that to the next) of n sorted elements."""
    if method in _CONTINUOUS:
        alpha, beta = _CONTINUOUS[method]
        place = (n - 1) * q if method == "linear" else n * q + (alpha + q * (1 - alpha - beta)) - 1
        before = np.floor(place)
        return before, place - before
    if method in ("lower", "higher", "nearest", "midpoint"):
        place = (n - 1) * q
        if method == "midpoint":
            return np.floor(place), np.where(np.equal(np.floor(place), place), 0.0, 0.5)
        return {"lower": np.floor, "higher": np.ceil, "nearest": np.rint}[method](place), 0.0
    if method == "inverted_cdf":
        place = n * q - 1
        return np.where(np.floor(place) < place, np.floor(place) + 1, np.floor(place)), 0.0
    if method == "averaged_inverted_cdf":
        place = n * q - 1
        return np.floor(place), np.where(np.floor(place) < place, 1.0, 0.5)
    raise errors.Unsupported(f"np.quantile with method={method!r} is not supported", errors.here())


def _quantile_of(x, q, axis, method, keepdims, skips):
    """The quantiles q; `skips` where NaNs are left out, which makes the count of each slice a traced one."""
    rows, axes = _gathered(x, axis)
    rows = rows if rows.dtype.kind == "f" else astype(rows, np.float64)
    q = q if isinstance(q, Array) else np.asarray(q, rows.dtype if is_weak(q) else None)
    rows = astype(rows, np.result_type(rows.dtype, rows.dtype if isinstance(q, Array) and is_weak(q) else q.dtype))
    n = rows.shape[-1]
    ordered = np.sort(rows, axis=-1)
    batch = rows.shape[:-1]
    if not n and not skips:
        raise errors.BoundsError("index -1 is out of bounds for axis 0 with size 0", errors.here())
    if not n:
        return np.reshape(np.full([*np.shape(q), *batch], np.nan, rows.dtype), [*np.shape(q), *([1 if k in axes else extent for k, extent in enumerate(np.shape(x))] if keepdims else batch)])
    bad = np.isnan(ordered[..., -1])
    if skips:
        count = np.sum(np.logical_not(np.isnan(rows)), axis=-1)
        bad, number = count == 0, astype(np.maximum(count, 1), rows.dtype)
    else:
        number = n
    results = []
    for index in np.ndindex(np.shape(q)):
        before, part = _place(number, q[index] if np.shape(q) else q, method)
        last = n - 1 if not skips else number - 1
        low, high = np.clip(before, 0, last), np.clip(before + 1, 0, last)
        inside = np.logical_and(np.greater_equal(before, 0), np.less(before, last)) if not isinstance(last, int) or isinstance(before, Array) else bool(0 <= before < last)
        part = np.where(inside, part, 0.0)
        at_low, at_high = _picked(ordered, low, batch), _picked(ordered, high, batch)
        part = part if isinstance(part, Array) else rows.dtype.type(part)
        found = _between(at_low, at_high, part)
        results.append(np.where(bad, rows.dtype.type(np.nan), found))
    kept = [1 if k in axes else extent for k, extent in enumerate(np.shape(x))] if keepdims else list(batch)
    if not np.shape(q):
        return np.reshape(results[0], kept)
    return np.reshape(np.stack(results) if results else np.zeros((0, *batch)), [*np.shape(q), *kept])


def _picked(ordered, place, batch):
    """An element of each slice."""
    if not isinstance(place, Array):
        return ordered[..., int(place)]
    index = np.broadcast_to(np.reshape(astype(place, np.int64), place.shape + (1,)), (*batch, 1))
    return np.take_along_axis(ordered, index, axis=-1)[..., 0]


def _between(a, b, t):
    """Linear from a to b, from the nearer end, so that it is monotonic in t."""
    if not isinstance(t, Array):
        return a + (b - a) * t if t < 0.5 else b - (b - a) * (1 - t)
    return np.where(t >= 0.5, b - (b - a) * (1 - t), a + (b - a) * t)


def _checked(q, most):
    known = payload_of(q)
    if known is not None and np.size(known) and not (np.min(known) >= 0 and np.max(known) <= most):
        raise errors.ArgumentError("Quantiles must be in the range [0, 1]" if most == 1 else "Percentiles must be in the range [0, 100]", errors.here())


def _ordering(function, most, skips):
    def rule(a, q, axis=None, *, method="linear", keepdims=False):
        _checked(q, most)
        share = q if most == 1 else q / 100 if is_weak(q) or isinstance(q, Array) else np.true_divide(q, 100)
        return _quantile_of(a, share, axis, method, keepdims, skips)

    implements(function)(rule)


_ordering(np.quantile, 1, False)
_ordering(np.percentile, 100, False)
_ordering(np.nanquantile, 1, True)
_ordering(np.nanpercentile, 100, True)


@implements(np.nanmedian)
def _nanmedian(a, axis=None, *, keepdims=False):
    a = _as_array(a)
    if a.dtype.kind != "f":
        return np.median(a, axis=axis, keepdims=keepdims)
    rows, axes = _gathered(a, axis)
    if not rows.shape[-1]:
        return np.mean(a, axis=axis, keepdims=keepdims)
    count = np.sum(np.logical_not(np.isnan(rows)), axis=-1)
    ordered, last = np.sort(rows, axis=-1), np.maximum(count - 1, 0)
    batch = rows.shape[:-1]
    low, high = _picked(ordered, last // 2, batch), _picked(ordered, np.minimum(count // 2, last), batch)
    middle = np.where(count % 2 == 1, 1.0 * low, 0.5 * (low + high))
    middle = np.where(count == 0, a.dtype.type(np.nan), middle)
    return np.reshape(middle, [1 if k in axes else extent for k, extent in enumerate(a.shape)]) if keepdims else middle


@implements(np.average)
def _average(x, axis=None, weights=None, returned=False, *, keepdims=False):
    x = _as_array(x)
    if weights is None:
        result = np.mean(x, axis=axis, keepdims=keepdims)
        total = x.size / max(np.size(result), 1)
        return (result, np.full(np.shape(result), total, result.dtype) if np.shape(result) else result.dtype.type(total)) if returned else result
    weights = _as_array(weights)
    weights = weights if weights.dtype.kind == "f" or x.dtype.kind == "f" else 1.0 * weights
    if weights.shape != x.shape:
        if axis is None:
            raise errors.ShapeError("Axis must be specified when shapes of a and weights differ.", errors.here())
        axes = np.lib.array_utils.normalize_axis_tuple(axis, x.ndim)
        if weights.shape != tuple(x.shape[k] for k in axes):
            raise errors.ShapeError("Shape of weights must be consistent with shape of a along specified axis.", errors.here())
        weights = np.transpose(weights, [int(k) for k in np.argsort(axes)])
        weights = np.reshape(weights, [extent if k in axes else 1 for k, extent in enumerate(x.shape)])
    dtype = np.result_type(x.dtype, weights.dtype, np.float64 if x.dtype.kind != "f" and weights.dtype.kind != "f" else np.float32)
    total = np.sum(np.broadcast_to(astype(weights, dtype), x.shape), axis=axis, keepdims=keepdims)
    result = np.sum(x * weights, axis=axis, keepdims=keepdims, dtype=dtype) / total
    return (result, np.broadcast_to(total, np.shape(result)) if np.shape(result) else total) if returned else result


@implements(np.cov)
def _cov(m, y=None, rowvar=True, bias=False, ddof=None, fweights=None, aweights=None, *, dtype=None):
    m = _as_array(m)
    dtype = dtype if dtype is not None else np.result_type(m.dtype, np.float64, *([] if y is None else [_as_array(y).dtype]))
    if np.dtype(dtype).kind != "f":
        raise errors.DTypeError(f"np.cov in {np.dtype(dtype)} is not defined", errors.here())
    columns = lambda x: np.reshape(x, (1, -1)) if x.ndim < 2 else x if rowvar else np.transpose(x)
    x = columns(astype(m, dtype))
    if y is not None:
        x = _concatenate([x, columns(astype(_as_array(y), dtype))], 0)
    ddof = ddof if ddof is not None else 0 if bias else 1
    weights = None
    for given in (fweights, aweights):
        if given is not None:
            weights = astype(_as_array(given), dtype) if weights is None else weights * given
    if weights is None:
        factor = x.shape[1] - ddof
        mean = np.mean(x, axis=1)
    else:
        total = np.sum(weights)
        mean = np.sum(x * weights, axis=1) / total
        factor = total if ddof == 0 else total - ddof if aweights is None else total - ddof * np.sum(weights * aweights) / total
    away = x - mean[:, None]
    product = np.dot(away, np.transpose(away if weights is None else away * weights))
    if isinstance(factor, Array):
        return np.squeeze(product * (1 / np.maximum(factor, 0)))
    with np.errstate(divide="ignore"):
        return np.squeeze(product * product.dtype.type(np.true_divide(1, max(factor, 0))))


@implements(np.corrcoef)
def _corrcoef(x, y=None, rowvar=True, *, dtype=None):
    c = _cov(x, y, rowvar, dtype=dtype)
    if not np.ndim(c):
        return c / c
    deviation = np.sqrt(np.diagonal(c))
    return np.clip(c / deviation[:, None] / deviation[None, :], -1, 1)
