"""NumPy's functions over whole arrays: reductions, scans, sorting, picking and placing, and what is composed of them."""

import numpy as np

from . import errors, views
from .array import Array, index_of, lift, local, traced
from .functions import (
    FUNCTIONS, _apply, _as_array, _axes, _broadcast_to, _common, _concatenate, _counting, _floating, _only, _truth, payload_of,
)
from .functions import copy as copied
from .trace import DTYPES, NUMPY, current


def known(function):
    """Where all elements are known, NumPy itself computes; else the rule does."""
    name = function.__name__

    def decorate(rule):
        def checked(x, *args, **kwargs):
            elements = payload_of(x) if not isinstance(x, (list, tuple)) else None
            is_known = all(value is None or payload_of(value) is not None for value in (*args, *kwargs.values()))
            if elements is not None and is_known:
                result = function(elements, *map(payload_of, args), **{key: payload_of(value) for key, value in kwargs.items()})
                return local(np.array(result)) if isinstance(result, np.ndarray) else result
            for option in ("out", "where", "initial"):
                if kwargs.get(option, None) not in (None, np._NoValue, True):
                    raise errors.Unsupported(f"np.{name} with {option}= is not supported", errors.here())
            kwargs = {key: value for key, value in kwargs.items() if key not in ("out", "where", "initial") and value is not np._NoValue}
            return rule(x, *args, **kwargs)

        FUNCTIONS[function] = checked
        return rule

    return decorate


# Reductions


def _reduce(row, name, x, axis, keepdims, dtype=None):
    x, trace = _as_array(x), current()
    axes = _axes(axis, x.ndim, name)
    handle = x.handle() if dtype is None else views.convert(trace, x.handle(), dtype)
    result = trace.op(row, [handle], axes=list(axes))
    if keepdims:
        result = views.reshape(trace, result, [1 if k in axes else extent for k, extent in enumerate(x.shape)])
    return traced(result)


def _number_type(x):
    return _counting(DTYPES[_as_array(x).dtype])


def _total_type(x):
    """The element type of sums and products, which integers of any width have in int64."""
    return DTYPES[_as_array(x).dtype] if _as_array(x).dtype.kind == "f" else "i64"


@known(np.prod)
def _prod(x, axis=None, dtype=None, keepdims=False):
    _only("prod", dtype=dtype)
    return _reduce("prod", "prod", x, axis, keepdims, _total_type(x))


@known(np.max)
def _max(x, axis=None, keepdims=False):
    return _reduce("reduce_max", "max", x, axis, keepdims, _number_type(x))


@known(np.min)
def _min(x, axis=None, keepdims=False):
    return _reduce("reduce_min", "min", x, axis, keepdims, _number_type(x))


@known(np.any)
def _any(x, axis=None, keepdims=False):
    return _reduce("any", "any", _truth(_as_array(x)), axis, keepdims)


@known(np.all)
def _all(x, axis=None, keepdims=False):
    return _reduce("all", "all", _truth(_as_array(x)), axis, keepdims)


def _place(row, name):
    def rule(x, axis=None, keepdims=False):
        x, trace = _as_array(x), current()
        flat = np.ravel(x) if axis is None else x
        k = _axes(0 if axis is None else axis, flat.ndim, name)[0]
        result = traced(trace.op(row, [views.convert(trace, flat.handle(), _number_type(flat))], axis=[k]))
        return np.reshape(result, [1 if axis is None or j == k else n for j, n in enumerate(x.shape)]) if keepdims else result

    return rule


known(np.argmax)(_place("argmax", "argmax"))
known(np.argmin)(_place("argmin", "argmin"))


@known(np.var)
def _var(x, axis=None, dtype=None, ddof=0, keepdims=False, mean=None, correction=None):
    _only("var", dtype=dtype, mean=mean)
    x = 1.0 * _as_array(x)
    ddof = ddof if correction is None else correction
    count = np.prod([x.shape[k] for k in _axes(axis, x.ndim, "var")], dtype=np.int64)
    away = x - np.mean(x, axis=axis, keepdims=True)
    return np.sum(away * away, axis=axis, keepdims=keepdims) / float(count - ddof)


@known(np.std)
def _std(x, axis=None, dtype=None, ddof=0, keepdims=False, mean=None, correction=None):
    """Where all elements are equal it has a kink, whose derivative is 0, as that of the absolute value at 0."""
    variance = _var(x, axis, dtype, ddof, keepdims, mean, correction)
    spread = variance > 0
    return np.where(spread, np.sqrt(np.where(spread, variance, 1.0)), 0.0 * variance)


@known(np.ptp)
def _ptp(x, axis=None, keepdims=False):
    return _max(x, axis, keepdims) - _min(x, axis, keepdims)


@known(np.average)
def _average(x, axis=None, weights=None, returned=False, *, keepdims=False):
    _only("average", returned=returned or None)
    if weights is None:
        return np.mean(x, axis=axis, keepdims=keepdims)
    if np.shape(weights) != np.shape(x):
        raise errors.Unsupported("np.average with weights of another shape is not supported; broadcast them", errors.here())
    return np.sum(x * weights, axis=axis, keepdims=keepdims) / np.sum(1.0 * weights, axis=axis, keepdims=keepdims)


@known(np.count_nonzero)
def _count_nonzero(x, axis=None, keepdims=False):
    return np.sum(_truth(x), axis=axis, keepdims=keepdims)


@known(np.nansum)
def _nansum(x, axis=None, dtype=None, keepdims=False):
    return np.sum(np.where(np.isnan(x), 0, x), axis=axis, keepdims=keepdims)


def logsumexp(x, axis=None, keepdims=False):
    """log Σ exp x over axes, without overflow."""
    if current() is None or payload_of(x) is not None:
        return np.logaddexp.reduce(np.asarray(payload_of(x)) if axis is not None else np.ravel(payload_of(x)), axis=0 if axis is None else axis, keepdims=keepdims)
    return _reduce("logsumexp", "logsumexp", x, axis, keepdims, _floating(DTYPES[_as_array(x).dtype]))


# Scans and sorting


def _along(row, name, type_of):
    def rule(x, axis=None, dtype=None):
        _only(name, dtype=dtype)
        x = _as_array(x)
        x = np.ravel(x) if axis is None else x
        k = _axes(0 if axis is None else axis, x.ndim, name)[0]
        trace = current()
        return traced(trace.op(row, [views.convert(trace, x.handle(), type_of(x))], axis=[k]))

    return rule


known(np.cumsum)(_along("cumsum", "cumsum", _total_type))
known(np.cumprod)(_along("cumprod", "cumprod", _total_type))


def _sorting(row, name):
    along = _along(row, name, _number_type)

    def rule(x, axis=-1, kind=None, order=None, *, stable=None):
        _only(name, order=order)
        return along(x, axis)

    return rule


known(np.sort)(_sorting("sort", "sort"))
known(np.argsort)(_sorting("argsort", "argsort"))


@known(np.median)
def _median(x, axis=None, overwrite_input=False, keepdims=False):
    x = _as_array(x)
    flat = np.ravel(x) if axis is None else np.moveaxis(x, axis, 0)
    ordered, n = np.sort(flat, axis=0), flat.shape[0]
    if n == 0:
        middle = np.mean(flat, axis=0)
    else:
        middle = 1.0 * ordered[n // 2] if n % 2 else 0.5 * (ordered[n // 2 - 1] + ordered[n // 2])
        # NaNs are sorted to the end.
        middle = np.where(np.isnan(ordered[-1]), ordered[-1], middle)
    return np.expand_dims(middle, tuple(range(x.ndim)) if axis is None else axis) if keepdims else middle


@known(np.diff)
def _diff(x, n=1, axis=-1):
    x = _as_array(x)
    axis = _axes(axis, x.ndim, "diff")[0]
    for _ in range(n):
        before, after = [[slice(None)] * x.ndim for _ in range(2)]
        before[axis], after[axis] = slice(None, -1), slice(1, None)
        x = x[tuple(after)] - x[tuple(before)]
    return x


@known(np.trapezoid)
def _trapezoid(y, x=None, dx=1.0, axis=-1):
    y = _as_array(y)
    before, after = [[slice(None)] * y.ndim for _ in range(2)]
    before[axis], after[axis] = slice(None, -1), slice(1, None)
    width = dx
    if x is not None:
        width = np.diff(x)
        width = width if np.ndim(x) == y.ndim else np.reshape(width, [-1 if k == axis % y.ndim else 1 for k in range(y.ndim)])
    return np.sum(width * (y[tuple(after)] + y[tuple(before)]) / 2.0, axis=axis)


# Picking and placing by arrays of indices


def wrapped(index, extent):
    """A handle of indices, negative ones counted from the end."""
    trace = current()
    elements = payload_of(index) if isinstance(index, Array) else np.asarray(index)
    if elements is not None:
        if elements.dtype.kind not in "iu" and elements.size:
            raise errors.BoundsError(f"indices must be integers, found {elements.dtype}", errors.here())
        elements = elements.astype(np.int64)
        if elements.size and not (-extent <= elements.min() and elements.max() < extent):
            raise errors.BoundsError(f"indices are out of bounds for an axis with size {extent}", errors.here())
        return trace.constant(np.where(elements < 0, elements + extent, elements))
    if index.dtype.kind != "i":
        raise errors.BoundsError("indices must be integers", errors.here())
    index = index_of(index)
    return np.where(index < 0, index + extent, index).handle()


def take(x, indices, axis=None, mode="raise"):
    """`np.take`, and `x[indices]`."""
    if mode != "raise":
        raise errors.Unsupported(f"np.take with mode={mode!r} is not supported", errors.here())
    x = _as_array(x)
    x = np.ravel(x) if axis is None else x
    k = _axes(0 if axis is None else axis, x.ndim, "take")[0]
    return traced(current().op("gather", [x.handle(), wrapped(indices, x.shape[k])], axis=[k]))


known(np.take)(take)


@known(np.take_along_axis)
def _take_along_axis(x, indices, axis=-1):
    x = _as_array(x)
    if axis is None:
        return _take_along_axis(np.ravel(x), indices, 0)
    k = _axes(axis, x.ndim, "take_along_axis")[0]
    shape = [n if j == k else x.shape[j] for j, n in enumerate(np.shape(payload_of(indices)) if not isinstance(indices, Array) else indices.shape)]
    index = views.broadcast(current(), wrapped(indices, x.shape[k]), shape)
    return traced(current().op("take_along_axis", [x.handle(), index], axis=[k]))


def scatter(row, x, indices, axis, value):
    """`x` with rows along an axis changed at indices."""
    trace = current()
    index = wrapped(indices, x.shape[axis])
    shape = [*x.shape[:axis], *trace.type(index)[1], *x.shape[axis + 1 :]]
    update = views.broadcast(trace, views.convert(trace, lift(value, "the assigned value"), DTYPES[x.dtype]), shape)
    return trace.op(row, [x.handle(), update, index], axis=[axis])


_AT = {np.add: "scatter_add", np.multiply: "scatter_mul", np.maximum: "scatter_max", np.minimum: "scatter_min"}


def write_at(function, x, indices, value):
    """`np.add.at(x, indices, value)`."""
    if function not in _AT or not isinstance(x, Array) or isinstance(indices, tuple):
        raise errors.Unsupported(f"np.{function.__name__}.at like this is not supported", errors.here())
    x.check_writable()
    x.set(scatter(_AT[function], x, indices, 0, value))


# Shapes and selection


@known(np.flip)
def _flip(x, axis=None):
    x = _as_array(x)
    return traced(current().op("reverse", [x.handle()], axes=list(_axes(axis, x.ndim, "flip"))))


known(np.flipud)(lambda x: _flip(x, 0))
known(np.fliplr)(lambda x: _flip(x, 1))


@known(np.roll)
def _roll(x, shift, axis=None):
    x = _as_array(x)
    if axis is None:
        return np.reshape(_roll(np.ravel(x), shift, 0), x.shape)
    shifts, axes = np.broadcast_arrays(np.atleast_1d(shift), np.atleast_1d(axis))
    for shift, axis in zip(shifts, axes):
        axis = _axes(int(axis), x.ndim, "roll")[0]
        n = x.shape[axis]
        cut = (n - int(shift) % n) % n if n else 0
        parts = [[slice(None)] * x.ndim for _ in range(2)]
        parts[0][axis], parts[1][axis] = slice(cut, None), slice(None, cut)
        x = _concatenate([x[tuple(parts[0])], x[tuple(parts[1])]], axis) if cut else x
    return copied(x)


@known(np.pad)
def _pad(x, pad_width, mode="constant", constant_values=0):
    x = _as_array(x)
    widths = np.broadcast_to(np.asarray(pad_width), (x.ndim, 2))
    if mode == "constant" and np.ndim(constant_values) == 0:
        trace = current()
        fill = views.convert(trace, lift(constant_values), DTYPES[x.dtype])
        return traced(trace.op("pad", [x.handle(), fill], low=[int(w) for w in widths[:, 0]], high=[int(w) for w in widths[:, 1]]))
    if mode not in ("edge", "wrap", "reflect"):
        raise errors.Unsupported(f"np.pad with mode={mode!r} is not supported", errors.here())
    for axis, (low, high) in enumerate(widths):
        places = np.pad(np.arange(x.shape[axis]), (low, high), mode=mode)
        at = lambda k: x[(slice(None),) * axis + (slice(int(k), int(k) + 1),)]
        x = _concatenate([*(at(k) for k in places[:low]), x, *(at(k) for k in places[len(places) - high :])], axis)
    return x


@known(np.clip)
def _clip(x, a_min=None, a_max=None, *, min=None, max=None):
    """A bound of None is none."""
    low, high = (min if a_min is None else a_min), (max if a_max is None else a_max)
    low, high = (None if bound is np._NoValue else bound for bound in (low, high))
    if low is None and high is None:
        return copied(_as_array(x))
    if high is None:
        return np.maximum(x, low)
    if low is None:
        return np.minimum(x, high)
    return _apply("clamp", [x, low, high], _counting(_common(x, low, high)))


def _triangle(function):
    def rule(x, k=0):
        x = _as_array(x)
        return np.where(function(np.ones(x.shape[-2:], bool), k), x, NUMPY[DTYPES[x.dtype]].type(0))

    return rule


known(np.tril)(_triangle(np.tril))
known(np.triu)(_triangle(np.triu))


@known(np.moveaxis)
def _moveaxis(x, source, destination):
    order = np.moveaxis(np.empty(range(1, 1 + x.ndim), np.int8), source, destination).shape
    return np.transpose(x, [n - 1 for n in order])


@known(np.tile)
def _tile(x, reps):
    x = _as_array(x)
    reps = (reps,) if np.ndim(reps) == 0 else tuple(reps)
    shape = (1,) * (len(reps) - x.ndim) + x.shape
    reps = (1,) * (len(shape) - len(reps)) + reps
    pairs = [n for pair in zip(reps, shape) for n in pair]
    spread = np.broadcast_to(np.reshape(x, [n for extent in shape for n in (1, extent)]), pairs)
    return np.reshape(copied(spread), [int(r * n) for r, n in zip(reps, shape)])


@known(np.repeat)
def _repeat(x, repeats, axis=None):
    x = _as_array(x)
    x, axis = (np.ravel(x), 0) if axis is None else (x, _axes(axis, x.ndim, "repeat")[0])
    if np.ndim(repeats) == 0:
        shape = [*x.shape[: axis + 1], int(repeats), *x.shape[axis + 1 :]]
        spread = np.broadcast_to(np.expand_dims(x, axis + 1), shape)
        return np.reshape(copied(spread), [*x.shape[:axis], x.shape[axis] * int(repeats), *x.shape[axis + 1 :]])
    return take(x, np.repeat(np.arange(x.shape[axis]), repeats), axis)


@known(np.atleast_1d)
def _atleast_1d(*arrays):
    made = [x if np.ndim(x) else np.reshape(_as_array(x), (1,)) for x in arrays]
    return made[0] if len(made) == 1 else tuple(made)


@known(np.atleast_2d)
def _atleast_2d(*arrays):
    made = [x if np.ndim(x) > 1 else np.reshape(_as_array(x), (1, -1)) for x in arrays]
    return made[0] if len(made) == 1 else tuple(made)


@known(np.outer)
def _outer(a, b):
    return np.ravel(_as_array(a))[:, None] * np.ravel(_as_array(b))[None, :]


@known(np.nan_to_num)
def _nan_to_num(x, copy=True, nan=0.0, posinf=None, neginf=None):
    x = _as_array(x)
    if x.dtype.kind != "f":
        return copied(x)
    largest = float(np.finfo(x.dtype).max)
    x = np.where(np.isnan(x), nan, x)
    x = np.where(np.equal(x, np.inf), largest if posinf is None else posinf, x)
    return np.where(np.equal(x, -np.inf), -largest if neginf is None else neginf, x)


@known(np.round)
def _round(x, decimals=0):
    if decimals == 0:
        return np.rint(x) if x.dtype.kind == "f" else x
    return np.rint(x * 10.0**decimals) / 10.0**decimals


@known(np.linspace)
def _linspace(start, stop, num=50, endpoint=True, retstep=False, dtype=None, axis=0):
    _only("linspace", retstep=retstep or None, dtype=dtype)
    count = num - 1 if endpoint else num
    dtype = NUMPY[_floating(_common(start, stop))]
    fractions = (np.arange(num) / count if count else np.zeros(num)).astype(dtype)
    shape = (num,) + (1,) * max(np.ndim(start), np.ndim(stop))
    return start + np.reshape(local(fractions), shape) * (stop - start)


def _joined(function, axis):
    def rule(arrays, dtype=None, casting=None):
        _only(function.__name__, dtype=dtype)
        arrays = [_as_array(x) for x in arrays]
        if function is np.column_stack:
            arrays = [x[:, None] if x.ndim == 1 else x for x in arrays]
        elif function is np.vstack:
            arrays = [_atleast_2d(x) for x in arrays]
        else:
            arrays = [_atleast_1d(x) for x in arrays]
        return _concatenate(arrays, 0 if function is np.hstack and arrays[0].ndim == 1 else axis)

    FUNCTIONS[function] = rule


_joined(np.hstack, 1)
_joined(np.vstack, 0)
_joined(np.column_stack, 1)


def _append(x, values, axis=None):
    return _concatenate([x, values], axis) if axis is not None else _concatenate([np.ravel(_as_array(x)), np.ravel(_as_array(values))])


def _split(x, parts, axis=0):
    ends = list(np.cumsum([x.shape[axis] // parts] * parts)) if np.ndim(parts) == 0 else [*parts, x.shape[axis]]
    if np.ndim(parts) == 0 and x.shape[axis] % parts:
        raise errors.ShapeError(f"np.split: {x.shape[axis]} elements cannot be split into {parts} equal parts", errors.here())
    cut = lambda a, b: x[(slice(None),) * (axis % x.ndim) + (slice(int(a), int(b)),)]
    return [cut(a, b) for a, b in zip([0, *ends[:-1]], ends)]


def _select(conditions, choices, default=0):
    result = default
    for condition, choice in zip(reversed(conditions), reversed(choices)):
        result = np.where(condition, choice, result)
    return result


def _meshgrid(*arrays, copy=True, sparse=False, indexing="xy"):
    arrays = [np.ravel(_as_array(x)) for x in arrays]
    order = [1, 0, *range(2, len(arrays))] if indexing == "xy" and len(arrays) > 1 else list(range(len(arrays)))
    shape = [arrays[k].shape[0] for k in order]
    lined = [np.reshape(x, [x.shape[0] if order[j] == k else 1 for j in range(len(arrays))]) for k, x in enumerate(arrays)]
    return tuple(lined if sparse else [copied(_broadcast_to(x, tuple(shape))) for x in lined])


FUNCTIONS.update({
    np.append: _append,
    np.split: _split,
    np.select: _select,
    np.meshgrid: _meshgrid,
    np.broadcast_arrays: lambda *arrays, subok=False: tuple(_broadcast_to(x, np.broadcast_shapes(*map(np.shape, arrays))) for x in arrays),
    np.amax: FUNCTIONS[np.max],
    np.amin: FUNCTIONS[np.min],
    np.around: FUNCTIONS[np.round],
})


def _methods():
    """Methods of arrays that are the NumPy function of that name."""
    for name in ("prod", "max", "min", "any", "all", "argmax", "argmin", "var", "std", "cumsum", "cumprod", "argsort", "take", "clip", "round", "repeat"):
        function = getattr(np, name)
        setattr(Array, name, lambda a, *args, function=function, **kwargs: function(a, *args, **kwargs))


_methods()
