"""`ufunc.reduce`, `accumulate`, `reduceat` and `outer` of any function of two: rows where there are some, else one element after the other."""

import numpy as np

from .. import errors
from ..functions import UFUNCS, _as_array, _axes, _axis, _concatenate, astype, payload_of
from ..rewrite import rewrite
from ..rules import name_of
from .reductions import logsumexp

_REDUCTIONS = {
    np.add: np.sum, np.multiply: np.prod, np.maximum: np.max, np.minimum: np.min, np.logical_and: np.all, np.logical_or: np.any,
    np.logaddexp: lambda x, axis, keepdims=False: logsumexp(x, axis, keepdims),
}
_ACCUMULATIONS = {np.add: np.cumsum, np.multiply: np.cumprod}


def reduce(function, x, axis=0, dtype=None, out=None, keepdims=False, initial=np._NoValue, where=True):
    """Without `axis` it is the first one, where functions have all."""
    given = {key: value for key, value in (("dtype", dtype), ("initial", initial), ("where", where)) if value is not None and value is not np._NoValue and value is not True}
    if function in _REDUCTIONS and set(given) <= _taken(function):
        return _REDUCTIONS[function](x, axis=axis, keepdims=keepdims, **given)
    if where is not True:
        raise errors.Unsupported(f"{name_of(function)}.reduce with where= is not supported", errors.here())
    x = _as_array(x) if dtype is None else astype(_as_array(x), dtype)
    axes = _axes(axis, x.ndim, f"{function.__name__}.reduce")
    result = x
    for k in sorted(axes, reverse=True):
        result = _folded(function, np.moveaxis(result, k, 0), initial if k == max(axes) else np._NoValue)
    if keepdims:
        return np.reshape(result, [1 if k in axes else n for k, n in enumerate(x.shape)])
    return result


def _taken(function):
    if function in (np.add, np.multiply):
        return {"dtype", "initial", "where"}
    return {"initial", "where"} if function in (np.maximum, np.minimum) else {"where"} if function in (np.logical_and, np.logical_or) else set()


def _folded(function, rows, initial):
    n = rows.shape[0]
    if n == 0 and initial is np._NoValue:
        if function.identity is None:
            raise errors.ShapeError(f"zero-size array to reduction operation {function.__name__} which has no identity", errors.here())
        return np.full(rows.shape[1:], function.identity, rows.dtype)
    start = rows[0] if initial is np._NoValue else np.full(rows.shape[1:], initial, rows.dtype) if rows.ndim > 1 else rows.dtype.type(initial)
    first = 1 if initial is np._NoValue else 0
    if n - first <= 0:
        return start
    total = function(start, rows[first])
    return rewrite(_fold)(function, rows, total, first + 1, n)


def _fold(function, rows, total, first, n):
    for k in range(first, n):
        total = function(total, rows[k])
    return total


def accumulate(function, x, axis=0, dtype=None, out=None):
    """All totals on the way."""
    x = _as_array(x) if dtype is None else astype(_as_array(x), dtype)
    if function in _ACCUMULATIONS:
        return _ACCUMULATIONS[function](x, axis=axis, **({} if dtype is None else {"dtype": dtype}))
    axis = _axis(axis, x.ndim, f"{function.__name__}.accumulate")
    rows = np.moveaxis(x, axis, 0)
    if rows.shape[0] < 2:
        return 1 * x if x.dtype.kind != "b" else np.copy(x)
    second = function(rows[0], rows[1])
    found = np.copy(astype(rows, second.dtype))
    rewrite(_scan)(function, rows, found, rows.shape[0])
    return np.moveaxis(found, 0, axis)


def _scan(function, rows, found, n):
    for k in range(1, n):
        found[k] = function(found[k - 1], rows[k])


def reduceat(function, x, indices, axis=0, dtype=None, out=None):
    """The reductions between indices, which are known."""
    x = _as_array(x) if dtype is None else astype(_as_array(x), dtype)
    axis = _axis(axis, x.ndim, f"{function.__name__}.reduceat")
    places = payload_of(indices)
    if places is None:
        raise errors.Unsupported(f"{name_of(function)}.reduceat at traced indices is not supported; use {name_of(function)}.at", errors.here())
    places, n = [int(k) for k in np.asarray(places)], x.shape[axis]
    if any(not 0 <= k < n for k in places):
        raise errors.BoundsError(f"an index is out of bounds for an axis with size {n}", errors.here())
    parts = []
    for first, last in zip(places, [*places[1:], n]):
        part = x[(slice(None),) * axis + (slice(first, last if last > first else first + 1),)]
        parts.append(reduce(function, part, axis, keepdims=True))
    return _concatenate(parts, axis)


def outer(function, a, b, **kwargs):
    """Every element with every other."""
    a, b = map(_as_array, (a, b))
    return function(np.reshape(a, a.shape + (1,) * b.ndim), b, **kwargs)


_METHODS = {"reduce": reduce, "accumulate": accumulate, "reduceat": reduceat, "outer": outer}


def method_of(function, method, inputs, kwargs):
    """`np.add.reduce(x)` and the like."""
    from .. import advanced
    from ..functions import written

    name = f"{name_of(function)}.{method}"
    if method == "at" and not kwargs:
        return advanced.at(function, *inputs)
    if method not in _METHODS or function not in UFUNCS or function.nin != 2 or function.nout != 1 or function.signature is not None:
        raise errors.Unsupported(f"{name} is not supported", errors.here())
    names = {"reduce": ("axis", "dtype", "out", "keepdims", "initial", "where"), "accumulate": ("axis", "dtype", "out"), "reduceat": ("axis", "dtype", "out")}.get(method)
    operands = 1 if method in ("reduce", "accumulate") else 2
    given = {**dict(zip(names or (), inputs[operands:])), **kwargs}
    out = given.pop("out", None)
    out = out[0] if isinstance(out, tuple) else out
    try:
        result = _METHODS[method](function, *inputs[:operands], **given)
    except TypeError as error:
        if "unexpected keyword" not in str(error):
            raise
        raise errors.Unsupported(f"{name} with {str(error).split(chr(39))[1]}= is not supported", errors.here()) from None
    return result if out is None else written(name, result, out, True, 1)
