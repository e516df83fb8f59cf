"""Reductions, scans and sorting."""

from typing import Any

import numpy as np

from .. import errors, layout, views
from ..array import traced
from ..functions import _as_array, _axes, _axis, _counting, _floating, _truth, astype, payload_of, reduced_layout
from ..rules import implements
from ..trace import DTYPES, current


# Reductions


def _reduce(row, name, x, axis, keepdims, dtype=None, where=True, neutral=None):
    """A reduction; elements that `where` leaves out are `neutral`."""
    x, trace = _as_array(x), current()
    x = x if where is True else np.where(where, x, x.dtype.type(neutral))
    axes = _axes(axis, x.ndim, name)
    handle = x.handle() if dtype is None else views.convert(trace, x.handle(), dtype)
    result = trace.op(row, [handle], axes=list(axes))
    if keepdims:
        result = views.reshape(trace, result, [1 if k in axes else extent for k, extent in enumerate(x.shape)])
    return traced(result, ordered=reduced_layout(x, axes, keepdims))


def _number_type(x):
    return _counting(DTYPES[_as_array(x).dtype])


def _total_type(x):
    """The element type of sums and products, which integers of any width have in int64."""
    return DTYPES[_as_array(x).dtype] if _as_array(x).dtype.kind == "f" else "i64"


@implements(np.prod)
def _prod(x, axis=None, dtype=None, keepdims=False, initial=None, where=True):
    x = _as_array(x) if dtype is None else astype(_as_array(x), dtype)
    result = _reduce("prod", "prod", x, axis, keepdims, DTYPES[x.dtype] if dtype is not None else _total_type(x), where, 1)
    return result if initial is None else result * initial


def _extreme(row, name, larger):
    def rule(x, axis=None, keepdims=False, initial=None, where=True):
        if where is not True and initial is None:
            raise errors.ShapeError(f"np.{name} with where= needs initial=", errors.here())
        result = _reduce(row, name, x, axis, keepdims, _number_type(x), where, initial)
        return result if initial is None else larger(result, _as_array(x).dtype.type(initial))

    return rule


_max, _min = _extreme("reduce_max", "max", np.maximum), _extreme("reduce_min", "min", np.minimum)
implements(np.max, np.amax)(_max)
implements(np.min, np.amin)(_min)


@implements(np.any)
def _any(x, axis=None, keepdims=False, where=True):
    return _reduce("any", "any", _truth(_as_array(x)), axis, keepdims, None, where, False)


@implements(np.all)
def _all(x, axis=None, keepdims=False, where=True):
    return _reduce("all", "all", _truth(_as_array(x)), axis, keepdims, None, where, True)


def _place(row, name):
    def rule(x, axis=None, keepdims=False):
        x, trace = _as_array(x), current()
        flat = np.ravel(x) if axis is None else x
        k = _axis(0 if axis is None else axis, flat.ndim, name)
        result = traced(trace.op(row, [views.convert(trace, flat.handle(), _number_type(flat))], axis=[k]))
        return np.reshape(result, [1 if axis is None or j == k else n for j, n in enumerate(x.shape)]) if keepdims else result

    return rule


implements(np.argmax)(_place("argmax", "argmax"))
implements(np.argmin)(_place("argmin", "argmin"))


@implements(np.var)
def _var(x, axis=None, ddof=0, keepdims=False, mean=None, correction=None):
    x = 1.0 * _as_array(x)
    ddof = ddof if correction is None else correction
    count = np.prod([x.shape[k] for k in _axes(axis, x.ndim, "var")], dtype=np.int64)
    away = x - (np.mean(x, axis=axis, keepdims=True) if mean is None else mean)
    return np.sum(away * away, axis=axis, keepdims=keepdims) / float(max(count - ddof, 0))


@implements(np.std)
def _std(x, axis=None, ddof=0, keepdims=False, mean=None, correction=None):
    """Where all elements are equal it has a kink, whose derivative is 0, as that of the absolute value at 0."""
    variance = _var(x, axis, ddof, keepdims, mean, correction)
    spread = variance > 0
    return np.where(spread, np.sqrt(np.where(spread, variance, 1.0)), 0.0 * variance)


@implements(np.ptp)
def _ptp(x, axis=None, keepdims=False):
    return _max(x, axis, keepdims) - _min(x, axis, keepdims)


@implements(np.count_nonzero)
def _count_nonzero(x, axis=None, keepdims=False):
    return np.sum(_truth(x), axis=axis, keepdims=keepdims)


def logsumexp(x: Any, axis: int | tuple[int, ...] | None = None, keepdims: bool = False) -> Any:
    """log Σ exp x over axes, without overflow."""
    if current() is None or payload_of(x) is not None:
        return np.logaddexp.reduce(np.asarray(payload_of(x)) if axis is not None else np.ravel(payload_of(x)), axis=0 if axis is None else axis, keepdims=keepdims)
    return _reduce("logsumexp", "logsumexp", x, axis, keepdims, _floating(DTYPES[_as_array(x).dtype]))


# Scans and sorting


def _along(row, name, type_of):
    def rule(x, axis=None, dtype=None):
        x = _as_array(x) if dtype is None else astype(_as_array(x), dtype)
        x = np.ravel(x) if axis is None else x
        k = _axis(0 if axis is None else axis, x.ndim, name)
        trace = current()
        handle = views.convert(trace, x.handle(), type_of(x) if dtype is None else DTYPES[x.dtype])
        return traced(trace.op(row, [handle], axis=[k]), ordered=layout.result_shadow(x.shape, lambda sample: getattr(np, name)(sample, axis=k), [x._shadow]))

    return rule


implements(np.cumsum)(_along("cumsum", "cumsum", _total_type))
implements(np.cumprod)(_along("cumprod", "cumprod", _total_type))


def _sorting(row, name):
    along = _along(row, name, _number_type)

    def rule(x, axis=-1, kind=None, *, stable=None):
        """Every kind is stable here."""
        return along(x, axis)

    return rule


implements(np.sort)(_sorting("sort", "sort"))
implements(np.argsort)(_sorting("argsort", "argsort"))


@implements(np.median)
def _median(x, axis=None, keepdims=False):
    x = _as_array(x)
    if isinstance(axis, tuple):
        axes = _axes(axis, x.ndim, "median")
        rest = [k for k in range(x.ndim) if k not in axes]
        flat = np.reshape(np.transpose(x, [*axes, *rest]), [-1, *(x.shape[k] for k in rest)])
    else:
        flat = np.ravel(x) if axis is None else np.moveaxis(x, axis, 0)
    ordered, n = np.sort(flat, axis=0), flat.shape[0]
    if n == 0:
        middle = np.mean(flat, axis=0)
    else:
        middle = 1.0 * ordered[n // 2] if n % 2 else 0.5 * (ordered[n // 2 - 1] + ordered[n // 2])
        # NaNs are sorted to the end.
        middle = np.where(np.isnan(ordered[-1]), ordered[-1], middle)
    return np.expand_dims(middle, tuple(range(x.ndim)) if axis is None else axis) if keepdims else middle
