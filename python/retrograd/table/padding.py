"""`np.pad` in all modes."""

import numpy as np

from .. import errors, layout, views
from ..array import Array, lift, traced
from ..functions import _as_array, _concatenate, has_arrays
from ..rules import implements
from ..trace import DTYPES, current
from .calculus import along
from .picking import take

# So many rows are put together one by one; more are picked.
AT_ONCE = 8


@implements(np.pad)
def _pad(x, pad_width, mode="constant", *, constant_values=0, stat_length=None, end_values=0, reflect_type="even"):
    x = _as_array(x)
    widths = _widths(x, pad_width)
    if mode == "constant" and not isinstance(constant_values, (list, tuple)) and np.ndim(constant_values) == 0:
        return _constant(x, widths, constant_values)
    if mode == "empty":
        return _constant(x, widths, 0)
    given = x
    sides = {"constant": constant_values, "linear_ramp": end_values, **{name: stat_length for name in _STATISTICS}}.get(mode)
    sides = _sides(x, sides)
    for axis, (low, high) in enumerate(widths):
        if low or high:
            x = _padded(x, axis, int(low), int(high), mode, sides[axis], reflect_type)
    return traced(x.handle(), scalar=False, ordered=_padded_layout(given, x.shape))


def _widths(x, pad_width):
    if isinstance(pad_width, dict):
        widths = np.zeros((x.ndim, 2), int)
        for axis, width in pad_width.items():
            widths[axis] = width
    else:
        try:
            widths = np.broadcast_to(np.asarray(pad_width), (x.ndim, 2))
        except ValueError as error:
            raise errors.ShapeError(f"np.pad: {error}", errors.here()) from None
    if (widths < 0).any():
        raise errors.ArgumentError("index can't contain negative values", errors.here())
    return widths


def _sides(x, value):
    """A value for both sides of every axis."""
    if value is None or not isinstance(value, (list, tuple)) and np.ndim(value) == 0:
        return [(value, value)] * x.ndim
    value = _as_array(value) if has_arrays(value) else np.asarray(value)
    spread = np.broadcast_to(value, (x.ndim, 2))
    return [(spread[k, 0], spread[k, 1]) for k in range(x.ndim)]


def _constant(x, widths, value):
    trace = current()
    fill = views.convert(trace, lift(value), DTYPES[x.dtype])
    padded = trace.op("pad", [x.handle(), fill], low=[int(w) for w in widths[:, 0]], high=[int(w) for w in widths[:, 1]])
    return traced(padded, scalar=False, ordered=_padded_layout(x, trace.type(padded)[1]))


def _padded_layout(x, shape):
    return layout.result_shadow(shape, lambda sample: np.pad(sample, 1), [x._shadow])


def _padded(x, axis, low, high, mode, sides, reflect_type):
    n = x.shape[axis]
    if mode in ("edge", "wrap", "reflect", "symmetric"):
        if not n:
            raise errors.ArgumentError(f"can't extend empty axis {axis} using modes other than 'constant' or 'empty'", errors.here())
        if reflect_type == "odd" and mode in ("reflect", "symmetric"):
            return _odd(x, axis, low, high, mode)
        return _picked(x, axis, np.pad(np.arange(n), (low, high), mode=mode), low, high)
    parts = {"constant": _filled, "linear_ramp": _ramp, **dict.fromkeys(_STATISTICS, _statistic)}.get(mode)
    if parts is None:
        raise errors.Unsupported(f"np.pad with mode={mode!r} is not supported", errors.here())
    before, after = parts(x, axis, low, sides[0], True, mode), parts(x, axis, high, sides[1], False, mode)
    return _concatenate([part for part in (before, x, after) if part.shape[axis]], axis)


def _picked(x, axis, places, low, high):
    if low + high > AT_ONCE:
        return take(x, places, axis)
    at = lambda k: along(x, axis, int(k), int(k) + 1)
    return _concatenate([*(at(k) for k in places[:low]), x, *(at(k) for k in places[len(places) - high :])], axis)


def _odd(x, axis, low, high, mode):
    """The reflection about the end, as far as there are elements to reflect."""
    n, skip = x.shape[axis], 1 if mode == "reflect" else 0
    if max(low, high) > n - skip:
        raise errors.Unsupported("np.pad with reflect_type='odd' by more than the array has is not supported", errors.here())
    first, last = along(x, axis, 0, 1), along(x, axis, n - 1, n)
    before = 2 * first - np.flip(along(x, axis, skip, skip + low), axis)
    after = 2 * last - np.flip(along(x, axis, n - skip - high, n - skip), axis)
    return _concatenate([part for part in (before, x, after) if part.shape[axis]], axis)


def _filled(x, axis, count, value, _first, _mode):
    shape = [count if k == axis else extent for k, extent in enumerate(x.shape)]
    return np.broadcast_to(np.asarray(value) if not isinstance(value, Array) else value, shape).astype(x.dtype)


def _ramp(x, axis, count, end, first, _mode):
    edge = along(x, axis, 0, 1) if first else along(x, axis, x.shape[axis] - 1, None)
    shares = np.linspace(0.0, 1.0, count, endpoint=False).astype(x.dtype if x.dtype.kind == "f" else float)
    shares = np.reshape(shares, [-1 if k == axis else 1 for k in range(x.ndim)])
    ramp = end + shares * (edge - end)
    ramp = ramp if first else np.flip(ramp, axis)
    if x.dtype.kind != "f":
        raise errors.Unsupported("np.pad with mode='linear_ramp' of integers is not supported", errors.here())
    return ramp.astype(x.dtype)


_STATISTICS = {"maximum": np.max, "minimum": np.min, "mean": np.mean, "median": np.median}


def _statistic(x, axis, count, length, first, mode):
    n = x.shape[axis]
    length = n if length is None else min(int(length), n)
    part = along(x, axis, 0, length) if first else along(x, axis, n - length, None)
    found = _STATISTICS[mode](part, axis=axis, keepdims=True)
    if x.dtype.kind != "f" and mode in ("mean", "median"):
        found = np.rint(found)
    return np.broadcast_to(found, [count if k == axis else extent for k, extent in enumerate(x.shape)]).astype(x.dtype)
