"""Differences, integrals and interpolation along an axis."""

import numpy as np

from .. import errors
from ..array import Array
from ..functions import _as_array, _axis, _concatenate, astype, payload_of
from ..functions import copy as copied
from ..rules import implements


def along(x, axis, start, stop=None, step=None):
    """A slice along one axis."""
    return x[(slice(None),) * (axis % x.ndim) + (slice(start, stop, step),)]


@implements(np.diff, memory=True)
def _diff(x, n=1, axis=-1, prepend=None, append=None):
    x = _as_array(x)
    if n == 0:
        return x
    if n < 0:
        raise errors.ArgumentError(f"np.diff: the order is not negative, found {n}", errors.here())
    axis = _axis(axis, x.ndim, "diff")
    edge = lambda end: np.broadcast_to(end, [1 if k == axis else extent for k, extent in enumerate(x.shape)]) if np.ndim(end) == 0 else end
    parts = [*([] if prepend is None else [edge(prepend)]), x, *([] if append is None else [edge(append)])]
    x = x if len(parts) == 1 else _concatenate(parts, axis)
    for _ in range(n):
        after, before = along(x, axis, 1), along(x, axis, None, -1)
        x = np.not_equal(after, before) if x.dtype.kind == "b" else after - before
    return x


@implements(np.ediff1d)
def _ediff1d(ary, to_end=None, to_begin=None):
    flat = np.ravel(_as_array(ary))
    parts = [part for part in (to_begin, _diff(flat), to_end) if part is not None]
    if len(parts) == 1:
        return parts[0]
    return astype(_concatenate([np.ravel(_as_array(part)) for part in parts], 0), flat.dtype)


@implements(np.trapezoid)
def _trapezoid(y, x=None, dx=1.0, axis=-1):
    y = _as_array(y)
    width = dx
    if x is not None:
        x = _as_array(x)
        width = np.diff(x) if x.ndim == 1 else np.diff(x, axis=axis)
        if x.ndim == 1:
            width = np.reshape(width, [-1 if k == axis % y.ndim else 1 for k in range(y.ndim)])
    return np.sum(width * (along(y, axis, 1) + along(y, axis, None, -1)) / 2.0, axis=axis)


@implements(np.gradient)
def _gradient(f, *varargs, axis=None, edge_order=1):
    f = _as_array(f)
    f = f if f.dtype.kind == "f" else astype(f, np.float64)
    axes = tuple(range(f.ndim)) if axis is None else tuple(_axis(k, f.ndim, "gradient") for k in (axis if isinstance(axis, tuple) else (axis,)))
    if len(varargs) not in (0, 1, len(axes)) or len(varargs) == 1 and np.ndim(varargs[0]) and len(axes) != 1:
        raise errors.ArgumentError("np.gradient: a spacing for all axes, or one for each, is needed", errors.here())
    if edge_order not in (1, 2):
        raise errors.ArgumentError("'edge_order' greater than 2 not supported", errors.here())
    spacings = list(varargs) * len(axes) if len(varargs) == 1 else list(varargs) or [1.0] * len(axes)
    if any(f.shape[k] < edge_order + 1 for k in axes):
        raise errors.ShapeError("np.gradient: at least (edge_order + 1) elements are required along each axis", errors.here())
    results = tuple(_along_gradient(f, spacing, k, edge_order) for spacing, k in zip(spacings, axes))
    return results[0] if len(axes) == 1 else results


def _along_gradient(f, spacing, axis, edge_order):
    """Second order inside; at the ends of first or second order."""
    at = lambda start, stop: along(f, axis, start, stop or None)
    wide = lambda weights: np.reshape(weights, [-1 if k == axis else 1 for k in range(f.ndim)])
    if np.ndim(spacing) == 0:
        inside = (at(2, None) - at(None, -2)) / (2.0 * spacing)
        before = after = spacing
    else:
        spacing = _as_array(spacing)
        if spacing.ndim != 1 or spacing.shape[0] != f.shape[axis]:
            raise errors.ShapeError("np.gradient: when 1d, distances must match the length of the corresponding dimension", errors.here())
        widths = np.diff(spacing)
        known = payload_of(widths)
        if known is not None and len(known) and (known == known[0]).all():
            return _along_gradient(f, known[0], axis, edge_order)
        one, two = widths[:-1], widths[1:]
        inside = wide(-two / (one * (one + two))) * at(None, -2) + wide((two - one) / (one * two)) * at(1, -1) + wide(one / (two * (one + two))) * at(2, None)
        before, after = widths[0], widths[-1]
    if edge_order == 1:
        first, last = (at(1, 2) - at(None, 1)) / before, (at(-1, None) - at(-2, -1)) / after
    elif np.ndim(spacing) == 0:
        first = -1.5 / spacing * at(None, 1) + 2.0 / spacing * at(1, 2) + -0.5 / spacing * at(2, 3)
        last = 0.5 / spacing * at(-3, -2) + -2.0 / spacing * at(-2, -1) + 1.5 / spacing * at(-1, None)
    else:
        one, two = widths[0], widths[1]
        first = -(2.0 * one + two) / (one * (one + two)) * at(None, 1) + (one + two) / (one * two) * at(1, 2) - one / (two * (one + two)) * at(2, 3)
        one, two = widths[-2], widths[-1]
        last = two / (one * (one + two)) * at(-3, -2) - (two + one) / (one * two) * at(-2, -1) + (2.0 * two + one) / (two * (one + two)) * at(-1, None)
    return _concatenate([first, inside, last], axis)


@implements(np.interp)
def _interp(x, xp, fp, left=None, right=None, period=None):
    """Linear between the points, in float64 as NumPy's; outside of them `left` and `right`."""
    x, xp, fp = (1.0 * astype(_as_array(part), np.float64) for part in (x, xp, fp))
    if xp.ndim != 1 or fp.shape != xp.shape or not xp.shape[0]:
        raise errors.ShapeError("np.interp: fp and xp are not of the same length, or empty", errors.here())
    if period is not None:
        if payload_of(period) is not None and period == 0:
            raise errors.ArgumentError("period must be a non-zero value", errors.here())
        period, left, right = np.abs(period), None, None
        x, xp = x % period, xp % period
        order = np.argsort(xp)
        xp, fp = xp[order], fp[order]
        xp, fp = _concatenate([xp[-1:] - period, xp, xp[:1] + period], 0), _concatenate([fp[-1:], fp, fp[:1]], 0)
    n = xp.shape[0]
    left, right = fp[0] if left is None else left, fp[-1] if right is None else right
    if n == 1:
        inside = 0.0 * x + fp[0]
    else:
        place = np.clip(np.searchsorted(xp, x, side="right") - 1, 0, n - 2)
        x0, x1, f0, f1 = xp[place], xp[place + 1], fp[place], fp[place + 1]
        within = np.logical_and(x >= x0, x < x1)
        # At the last point, and outside, the quotient is not used.
        slope = (f1 - f0) / np.where(within, x1 - x0, 1.0)
        inside = np.where(within, slope * (x - x0) + f0, fp[-1])
    result = np.where(x > xp[-1], right, np.where(x < xp[0], left, inside))
    return np.where(np.isnan(x), x, result)


@implements(np.unwrap)
def _unwrap(p, discont=None, axis=-1, *, period=2 * np.pi):
    p = _as_array(p)
    p = p if p.dtype.kind == "f" else astype(p, np.float64)
    discont = period / 2 if discont is None else discont
    step = np.diff(p, axis=axis)
    low, high = -period / 2, period / 2
    turned = np.mod(step - low, period) + low
    turned = np.where(np.logical_and(turned == low, step > 0), high, turned)
    correction = np.where(np.abs(step) < discont, 0.0, turned - step)
    result = copied(p)
    result[(slice(None),) * (axis % p.ndim) + (slice(1, None),)] = along(p, axis, 1) + np.cumsum(correction, axis=axis)
    return result


@implements(np.cumulative_sum)
def _cumulative_sum(x, *, axis=None, dtype=None, include_initial=False):
    return _cumulative(np.cumsum, 0, x, axis, dtype, include_initial)


@implements(np.cumulative_prod)
def _cumulative_prod(x, *, axis=None, dtype=None, include_initial=False):
    return _cumulative(np.cumprod, 1, x, axis, dtype, include_initial)


def _cumulative(function, start, x, axis, dtype, include_initial):
    x = _as_array(x)
    if axis is None and x.ndim != 1:
        raise errors.ArgumentError("For arrays which have more than one dimension ``axis`` argument is required.", errors.here())
    axis = 0 if axis is None else _axis(axis, x.ndim, "cumulative_sum")
    result = function(x, axis=axis, dtype=dtype)
    if not include_initial:
        return result
    first = np.full([1 if k == axis else n for k, n in enumerate(x.shape)], start, dtype=result.dtype)
    return _concatenate([first, result], axis)


@implements(np.apply_over_axes)
def _apply_over_axes(func, a, axes):
    result = _as_array(a)
    for axis in np.atleast_1d(axes):
        reduced = func(result, int(axis))
        result = reduced if np.ndim(reduced) == result.ndim else np.expand_dims(reduced, int(axis))
    return result


@implements(np.apply_along_axis)
def _apply_along_axis(func1d, axis, arr, *args, **kwargs):
    """A map over the slices: a loop of the Program whose steps are independent."""
    from .. import steps
    from ..outcome import readable

    arr = _as_array(arr)
    axis = _axis(axis, arr.ndim, "apply_along_axis")
    read = readable(func1d)
    others = [n for k, n in enumerate(arr.shape) if k != axis]
    rows = np.reshape(np.moveaxis(arr, axis, -1), [int(np.prod(others, dtype=np.int64)), arr.shape[axis]])
    found = steps.map(lambda row: _as_array(read(row, *args, **kwargs)), rows)
    made = found.shape[1:]
    result = np.reshape(found, [*others, *made])
    return np.moveaxis(result, range(len(others), len(others) + len(made)), range(axis, axis + len(made))) if made else result


def vectorized(function, args, kwargs):
    """A call of an `np.vectorize` object: a map over the elements."""
    from .. import steps
    from ..outcome import readable

    if kwargs or function.signature is not None or function.excluded or not args:
        raise errors.Unsupported("np.vectorize with a signature, excluded or named arguments is not supported", errors.here())
    read = readable(function.pyfunc)
    arrays = np.broadcast_arrays(*[_as_array(value) for value in args])
    shape = arrays[0].shape
    if not int(np.prod(shape, dtype=np.int64)):
        raise errors.ShapeError("cannot call `vectorize` on size 0 inputs unless `otypes` is set", errors.here())
    found = steps.map(lambda row: read(*row), tuple(np.reshape(value, -1) for value in arrays))
    types = function.otypes
    parts = found if isinstance(found, tuple) else (found,)
    parts = [np.reshape(part, shape) if types is None else astype(np.reshape(part, shape), types[k]) for k, part in enumerate(parts)]
    parts = [part if shape else part[()] for part in parts]
    return tuple(parts) if isinstance(found, tuple) else parts[0]


@implements(np.piecewise)
def _piecewise(x, condlist, funclist, *args, **kw):
    """Every function acts on the elements where its condition holds, and no others."""
    from ..outcome import readable

    x = _as_array(x)
    conditions = [condlist] if not isinstance(condlist, (list, tuple)) and (np.ndim(condlist) == x.ndim) or isinstance(condlist, list) and condlist and not np.ndim(condlist[0]) and x.ndim else list(condlist)
    if len(funclist) == len(conditions) + 1:
        some = conditions[0]
        for condition in conditions[1:]:
            some = np.logical_or(some, condition)
        conditions.append(np.logical_not(some))
    elif len(funclist) != len(conditions):
        raise errors.ArgumentError(f"with {len(conditions)} condition(s), either {len(conditions)} or {len(conditions) + 1} functions are expected", errors.here())
    result = np.zeros_like(x) if x.shape else np.zeros((1,), x.dtype)
    result, source = copied(_as_array(result)), x if x.shape else np.reshape(x, (1,))
    for condition, function in zip(conditions, funclist):
        condition = condition if x.shape else np.reshape(condition, (1,))
        value = readable(function)(source[condition], *args, **kw) if callable(function) else function
        result[condition] = value if not isinstance(value, Array) or value.dtype == result.dtype else value
    return result if x.shape else np.reshape(result, ())
