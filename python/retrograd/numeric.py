"""NumPy's functions over whole arrays: reductions, scans, sorting, picking and placing, and what is composed of them."""

from typing import Any

import numpy as np

from . import errors, layout, views
from .array import Array, index_of, lift, local, traced, view
from .functions import (
    UFUNCS, _apply, _as_array, _axes, _axis, _broadcast_to, _common, _concatenate, _counting, _floating, _kept_layout, _truth, astype, payload_of, reduced_layout,
)
from .functions import copy as copied
from .rules import FUNCTIONS, implements, name_of
from .trace import DTYPES, NUMPY, current


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


@implements(np.average)
def _average(x, axis=None, weights=None, *, keepdims=False):
    if weights is None:
        return np.mean(x, axis=axis, keepdims=keepdims)
    if np.shape(weights) != np.shape(x):
        raise errors.Unsupported("np.average with weights of another shape is not supported; broadcast them", errors.here())
    return np.sum(x * weights, axis=axis, keepdims=keepdims) / np.sum(1.0 * weights, axis=axis, keepdims=keepdims)


@implements(np.count_nonzero)
def _count_nonzero(x, axis=None, keepdims=False):
    return np.sum(_truth(x), axis=axis, keepdims=keepdims)


@implements(np.nansum)
def _nansum(x, axis=None, dtype=None, keepdims=False, initial=None, where=True):
    return np.sum(np.where(np.isnan(x), 0, x), axis=axis, dtype=dtype, keepdims=keepdims, initial=initial, where=where)


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


@implements(np.diff, memory=True)
def _diff(x, n=1, axis=-1, prepend=None, append=None):
    x = _as_array(x)
    if n == 0:
        return x
    axis = _axis(axis, x.ndim, "diff")
    edge = lambda end: np.broadcast_to(end, [1 if k == axis else extent for k, extent in enumerate(x.shape)]) if np.ndim(end) == 0 else end
    parts = [*([] if prepend is None else [edge(prepend)]), x, *([] if append is None else [edge(append)])]
    x = x if len(parts) == 1 else _concatenate(parts, axis)
    for _ in range(n):
        before, after = [[slice(None)] * x.ndim for _ in range(2)]
        before[axis], after[axis] = slice(None, -1), slice(1, None)
        x = x[tuple(after)] - x[tuple(before)]
    return x


@implements(np.trapezoid)
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


def take(x, indices, axis=None):
    """`np.take`, and `x[indices]`."""
    x = _as_array(x)
    x = np.ravel(x) if axis is None else x
    k = _axis(0 if axis is None else axis, x.ndim, "take")
    return traced(current().op("gather", [x.handle(), wrapped(indices, x.shape[k])], axis=[k]))


implements(np.take)(take)


@implements(np.take_along_axis)
def _take_along_axis(x, indices, axis=-1):
    x = _as_array(x)
    if axis is None:
        return _take_along_axis(np.ravel(x), indices, 0)
    k = _axis(axis, x.ndim, "take_along_axis")
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


@implements(np.flip, memory=True)
def _flip(x, axis=None):
    """A view, as NumPy's."""
    x = _as_array(x)
    axes = _axes(axis, x.ndim, "flip")
    return x[tuple(slice(None, None, -1 if k in axes else 1) for k in range(x.ndim))]


implements(np.flipud, memory=True)(lambda x: _flip(x, 0))
implements(np.fliplr, memory=True)(lambda x: _flip(x, 1))


@implements(np.rot90, memory=True)
def _rot90(x, k=1, axes=(0, 1)):
    x, (first, second) = _as_array(x), axes
    turns = k % 4
    if turns == 0:
        return x[:]
    if turns == 2:
        return _flip(_flip(x, first), second)
    return np.swapaxes(_flip(x, second), first, second) if turns == 1 else _flip(np.swapaxes(x, first, second), second)


@implements(np.roll)
def _roll(x, shift, axis=None):
    x = _as_array(x)
    if axis is None:
        return np.reshape(_roll(np.ravel(x), shift, 0), x.shape)
    lies = _kept_layout(x)
    shifts, axes = np.broadcast_arrays(np.atleast_1d(shift), np.atleast_1d(axis))
    for shift, axis in zip(shifts, axes):
        axis = _axis(int(axis), x.ndim, "roll")
        n = x.shape[axis]
        cut = (n - int(shift) % n) % n if n else 0
        parts = [[slice(None)] * x.ndim for _ in range(2)]
        parts[0][axis], parts[1][axis] = slice(cut, None), slice(None, cut)
        x = _concatenate([x[tuple(parts[0])], x[tuple(parts[1])]], axis) if cut else x
    return traced(x.handle(), scalar=False, ordered=lies)


@implements(np.pad)
def _pad(x, pad_width, mode="constant", constant_values=0):
    x = _as_array(x)
    given, widths = x, np.broadcast_to(np.asarray(pad_width), (x.ndim, 2))
    if mode == "constant" and np.ndim(constant_values) == 0:
        trace = current()
        fill = views.convert(trace, lift(constant_values), DTYPES[x.dtype])
        padded = trace.op("pad", [x.handle(), fill], low=[int(w) for w in widths[:, 0]], high=[int(w) for w in widths[:, 1]])
        return traced(padded, ordered=_padded_layout(x, trace.type(padded)[1]))
    if mode not in ("edge", "wrap", "reflect"):
        raise errors.Unsupported(f"np.pad with mode={mode!r} is not supported", errors.here())
    for axis, (low, high) in enumerate(widths):
        places = np.pad(np.arange(x.shape[axis]), (low, high), mode=mode)
        at = lambda k: x[(slice(None),) * axis + (slice(int(k), int(k) + 1),)]
        x = _concatenate([*(at(k) for k in places[:low]), x, *(at(k) for k in places[len(places) - high :])], axis)
    return traced(x.handle(), scalar=False, ordered=_padded_layout(given, x.shape))


def _padded_layout(x, shape):
    return layout.result_shadow(shape, lambda sample: np.pad(sample, 1), [x._shadow])


@implements(np.clip)
def _clip(x, a_min=None, a_max=None, *, min=None, max=None):
    """A bound of None is none."""
    if (a_min is not None or a_max is not None) and (min is not None or max is not None):
        raise errors.ArgumentError("np.clip takes `min` and `max`, or `a_min` and `a_max`", errors.here())
    low, high = (min if a_min is None else a_min), (max if a_max is None else a_max)
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


implements(np.tril)(_triangle(np.tril))
implements(np.triu)(_triangle(np.triu))


@implements(np.moveaxis, memory=True)
def _moveaxis(x, source, destination):
    x = _as_array(x)
    order = np.moveaxis(np.empty(range(1, 1 + x.ndim), np.int8), source, destination).shape
    return np.transpose(x, [n - 1 for n in order])


@implements(np.tile)
def _tile(x, reps):
    x = _as_array(x)
    reps = (reps,) if np.ndim(reps) == 0 else tuple(reps)
    shape = (1,) * (len(reps) - x.ndim) + x.shape
    reps = (1,) * (len(shape) - len(reps)) + reps
    pairs = [n for pair in zip(reps, shape) for n in pair]
    spread = np.broadcast_to(np.reshape(x, [n for extent in shape for n in (1, extent)]), pairs)
    return np.reshape(copied(spread), [int(r * n) for r, n in zip(reps, shape)])


@implements(np.repeat)
def _repeat(x, repeats, axis=None):
    x = _as_array(x)
    x, axis = (np.ravel(x), 0) if axis is None else (x, _axis(axis, x.ndim, "repeat"))
    if np.ndim(repeats) == 0:
        shape = [*x.shape[: axis + 1], int(repeats), *x.shape[axis + 1 :]]
        spread = np.broadcast_to(np.expand_dims(x, axis + 1), shape)
        return np.reshape(copied(spread), [*x.shape[:axis], x.shape[axis] * int(repeats), *x.shape[axis + 1 :]])
    return take(x, np.repeat(np.arange(x.shape[axis]), repeats), axis)


@implements(np.atleast_1d, memory=True)
def _atleast_1d(*arrays):
    made = [_as_array(x) if np.ndim(x) else np.reshape(_as_array(x), (1,)) for x in arrays]
    return made[0] if len(made) == 1 else tuple(made)


@implements(np.atleast_2d, memory=True)
def _atleast_2d(*arrays):
    made = [_as_array(x) if np.ndim(x) > 1 else np.reshape(_as_array(x), (1, -1)) for x in arrays]
    return made[0] if len(made) == 1 else tuple(made)


@implements(np.atleast_3d, memory=True)
def _atleast_3d(*arrays):
    shape = lambda x: (*x.shape, 1) if x.ndim == 2 else (1, -1, 1)
    made = [x if x.ndim > 2 else np.reshape(x, shape(x)) for x in map(_as_array, arrays)]
    return made[0] if len(made) == 1 else tuple(made)


@implements(np.nan_to_num, memory=True)
def _nan_to_num(x, copy=True, nan=0.0, posinf=None, neginf=None):
    given = x = _as_array(x)
    if x.dtype.kind == "f":
        largest = float(np.finfo(x.dtype).max)
        x = np.where(np.isnan(x), nan, x)
        x = np.where(np.equal(x, np.inf), largest if posinf is None else posinf, x)
        x = np.where(np.equal(x, -np.inf), -largest if neginf is None else neginf, x)
    if copy or given._scalar:
        return x if x is not given else copied(x)
    given[...] = x
    return given


@implements(np.round, np.around)
def _round(x, decimals=0):
    x = _as_array(x)
    if decimals == 0 or x.dtype.kind != "f":
        if x.dtype.kind != "f" and decimals < 0:
            raise errors.Unsupported("np.round of integers to tens is not supported", errors.here())
        return np.rint(x) if x.dtype.kind == "f" else copied(x)
    return np.rint(x * 10.0**decimals) / 10.0**decimals


implements(np.fix)(lambda x: np.trunc(x))


@implements(np.linspace)
def _linspace(start, stop, num=50, endpoint=True, retstep=False, dtype=None, axis=0):
    if dtype is not None:
        result = _linspace(start, stop, num, endpoint, retstep, None, axis)
        if np.dtype(dtype).kind != "f":
            raise errors.Unsupported("np.linspace with dtype= of integers is not supported", errors.here())
        return (astype(result[0], dtype), result[1]) if retstep else astype(result, dtype)
    count = num - 1 if endpoint else num
    dtype = NUMPY[_floating(_common(start, stop))]
    fractions = (np.arange(num) / count if count else np.zeros(num)).astype(dtype)
    shape = (num,) + (1,) * max(np.ndim(start), np.ndim(stop))
    width = np.subtract(stop, start)
    result = start + np.reshape(local(fractions), shape) * width
    if endpoint and num > 1:
        result[-1] = stop
    result = np.moveaxis(result, 0, _axis(axis, result.ndim, "linspace")) if axis != 0 else result
    return (result, width / count if count > 0 else np.nan) if retstep else result


def _joined(function, axis):
    def rule(arrays, dtype=None, casting="same_kind"):
        arrays = [_as_array(x) for x in arrays]
        if function is np.column_stack:
            return _concatenate([np.transpose(_atleast_2d(x)) if x.ndim < 2 else x for x in arrays], axis)
        arrays = [_atleast_2d(x) if function is np.vstack else _atleast_1d(x) for x in arrays]
        return _concatenate(arrays, 0 if function is np.hstack and arrays[0].ndim == 1 else axis, dtype, casting)

    implements(function)(rule if function is not np.column_stack else lambda arrays: rule(arrays))


_joined(np.hstack, 1)
_joined(np.vstack, 0)
_joined(np.column_stack, 1)


@implements(np.append)
def _append(x, values, axis=None):
    return _concatenate([x, values], axis) if axis is not None else _concatenate([np.ravel(_as_array(x)), np.ravel(_as_array(values))])


@implements(np.split, memory=True)
def _split(x, indices_or_sections, axis=0):
    x, parts = _as_array(x), indices_or_sections
    if np.ndim(parts) == 0 and x.shape[axis] % parts:
        raise errors.ShapeError(f"np.split: {x.shape[axis]} elements cannot be split into {parts} equal parts", errors.here())
    return _array_split(x, parts, axis)


@implements(np.array_split, memory=True)
def _array_split(x, indices_or_sections, axis=0):
    x, parts = _as_array(x), indices_or_sections
    axis = _axis(axis, x.ndim, "split")
    if np.ndim(parts) == 0:
        each, more = divmod(x.shape[axis], int(parts))
        ends = [0, *np.cumsum([each + 1] * more + [each] * (int(parts) - more))]
    else:
        ends = [0, *parts, x.shape[axis]]
    return [x[(slice(None),) * axis + (slice(int(a), int(b)),)] for a, b in zip(ends, ends[1:])]


implements(np.vsplit, memory=True)(lambda x, indices_or_sections: _split(x, indices_or_sections, 0))
implements(np.hsplit, memory=True)(lambda x, indices_or_sections: _split(x, indices_or_sections, 1 if np.ndim(x) > 1 else 0))
implements(np.dsplit, memory=True)(lambda x, indices_or_sections: _split(x, indices_or_sections, 2))


@implements(np.unstack, memory=True)
def _unstack(x, *, axis=0):
    return tuple(np.moveaxis(x, axis, 0))


@implements(np.select)
def _select(conditions, choices, default=0):
    result = default
    for condition, choice in zip(reversed(conditions), reversed(choices)):
        result = np.where(condition, choice, result)
    return result


@implements(np.meshgrid, memory=True)
def _meshgrid(*arrays, copy=True, sparse=False, indexing="xy"):
    if indexing not in ("xy", "ij"):
        raise errors.ArgumentError(f"np.meshgrid has the indexings xy and ij, found {indexing!r}", errors.here())
    arrays = [np.reshape(_as_array(x), -1) for x in arrays]
    order = [1, 0, *range(2, len(arrays))] if indexing == "xy" and len(arrays) > 1 else list(range(len(arrays)))
    shape = [arrays[k].shape[0] for k in order]
    made = [np.reshape(x, [x.shape[0] if order[j] == k else 1 for j in range(len(arrays))]) for k, x in enumerate(arrays)]
    made = made if sparse else [_broadcast_to(x, tuple(shape)) for x in made]
    return tuple(copied(x) if copy else x for x in made)


@implements(np.broadcast_arrays, memory=True)
def _broadcast_arrays(*arrays):
    shape = np.broadcast_shapes(*map(np.shape, arrays))
    return tuple(x if np.shape(x) == shape and isinstance(x, Array) else _broadcast_to(x, shape) for x in arrays)


# Diagonals


@implements(np.diagonal, memory=True)
def _diagonal(x, offset=0, axis1=0, axis2=1):
    """A view that cannot be written, as NumPy's."""
    x = _as_array(x)
    first, second = (_axis(axis, x.ndim, "diagonal") for axis in (axis1, axis2))
    if x.ndim < 2 or first == second:
        raise errors.ShapeError(f"np.diagonal: axes {axis1} and {axis2} of shape {x.shape} are not two axes", errors.here())
    return view(x, views.Diagonal(offset, first, second))


implements(np.linalg.diagonal, memory=True)(lambda x, offset=0: _diagonal(x, offset, -2, -1))
Array.diagonal = lambda a, offset=0, axis1=0, axis2=1: np.diagonal(a, offset, axis1, axis2)


@implements(np.diag, memory=True)
def _diag(x, k=0):
    x = _as_array(x)
    if x.ndim == 2:
        return _diagonal(x, k)
    if x.ndim != 1:
        raise errors.ShapeError("np.diag: the array must have one or two axes", errors.here())
    n = x.shape[0] + abs(k)
    trace = current()
    places = np.arange(x.shape[0]) * (n + 1) + (k if k >= 0 else -k * n)
    flat = trace.op("scatter_set", [trace.constant(np.zeros(n * n, x.dtype)), x.handle(), trace.constant(places)], axis=[0])
    return traced(views.reshape(trace, flat, (n, n)))


implements(np.diagflat)(lambda x, k=0: _diag(np.ravel(x), k))


# In place


@implements(np.copyto, memory=True)
def _copyto(dst, src, casting="same_kind", where=True):
    target = _target(dst, "copyto")
    dtype = src.dtype if isinstance(src, Array) else np.asarray(src).dtype
    weak = type(src) in (bool, int, float)
    if not (weak and np.result_type(target.dtype, src) == target.dtype) and not np.can_cast(dtype, target.dtype, casting):
        raise errors.DTypeError(f"np.copyto: {dtype} cannot become {target.dtype} with casting={casting!r}", errors.here())
    target[...] = src if where is True else np.where(where, src, target)


@implements(np.fill_diagonal, memory=True)
def _fill_diagonal(a, val, wrap=False):
    a = _target(a, "fill_diagonal")
    if a.ndim < 2 or a.ndim > 2 and len(set(a.shape)) > 1:
        raise errors.ShapeError("np.fill_diagonal: an array of two axes, or of equal extents, is needed", errors.here())
    step = a.shape[1] + 1 if a.ndim == 2 else 1 + sum(a.shape[0] ** k for k in range(1, a.ndim))
    end = a.shape[1] ** 2 if a.ndim == 2 and not wrap else a.size
    _put(a, np.arange(0, min(end, a.size), step), val)


@implements(np.put, memory=True)
def _put(a, ind, v):
    """Values are repeated as they are needed."""
    a, values = _target(a, "put"), np.ravel(_as_array(v))
    indices = np.ravel(ind)
    if not indices.shape[0]:
        return
    repeated = np.resize(np.arange(values.shape[0]), indices.shape[0])
    values = values if values.shape[0] == indices.shape[0] else take(values, repeated, 0)
    flat = scatter("scatter_set", np.reshape(a, -1), indices, 0, values)
    a.set(views.reshape(current(), flat, a.shape))


@implements(np.place, memory=True)
def _place_masked(arr, mask, vals):
    known = payload_of(_truth(mask) if isinstance(mask, Array) else np.asarray(mask, bool))
    if known is not None:
        _put(arr, np.flatnonzero(known), vals)
    elif np.size(vals) == 1:
        _putmask(arr, mask, vals)
    else:
        raise errors.Unsupported("np.place of several values at a traced mask is not supported", errors.here())


@implements(np.putmask, memory=True)
def _putmask(a, mask, values):
    a, values = _target(a, "putmask"), np.ravel(_as_array(values))
    if np.shape(mask) != a.shape:
        raise errors.ShapeError("np.putmask: mask and data must be the same size", errors.here())
    spread = np.reshape(values, (1,) * a.ndim) if values.shape[0] == 1 else np.reshape(take(values, np.resize(np.arange(values.shape[0]), a.size), 0), a.shape)
    a[...] = np.where(mask, spread, a)


@implements(np.put_along_axis, memory=True)
def _put_along_axis(arr, indices, values, axis=-1):
    arr = _target(arr, "put_along_axis")
    if axis is None:
        return _put(arr, indices, values)
    axis = _axis(axis, arr.ndim, "put_along_axis")
    shape = np.broadcast_shapes(np.shape(indices), tuple(1 if k == axis else n for k, n in enumerate(arr.shape)))
    index = traced(views.broadcast(current(), wrapped(indices, arr.shape[axis]), shape))
    strides = [int(np.prod(arr.shape[k + 1 :], dtype=np.int64)) for k in range(arr.ndim)]
    flat = index * strides[axis]
    for k in range(arr.ndim):
        if k != axis:
            flat = flat + np.reshape(np.arange(arr.shape[k]) * strides[k], [-1 if j == k else 1 for j in range(arr.ndim)])
    return _put(arr, flat, np.broadcast_to(values, shape))


def _target(array, name):
    """An array that a function changes in place."""
    if not isinstance(array, Array) or array._scalar:
        raise errors.Unsupported(f"np.{name} into something that is no array of the function is not supported", errors.here())
    array.check_writable()
    return array


# Methods of ufuncs

_REDUCTIONS = {
    np.add: np.sum, np.multiply: np.prod, np.maximum: np.max, np.minimum: np.min, np.logical_and: np.all, np.logical_or: np.any,
    np.logaddexp: lambda x, axis, keepdims=False: logsumexp(x, axis, keepdims),
}
_ACCUMULATIONS = {np.add: np.cumsum, np.multiply: np.cumprod}


def method_of(function, method, inputs, kwargs):
    """`np.add.reduce(x)` and the like."""
    name = f"{name_of(function)}.{method}"
    if method == "at" and not kwargs:
        return write_at(function, *inputs)
    table = {"reduce": _REDUCTIONS, "accumulate": _ACCUMULATIONS}.get(method, {})
    if function in table:
        x, *rest = inputs
        # These have the axis 0 where functions have all axes.
        given = {"axis": 0, **dict(zip(("axis", "dtype", "out", "keepdims", "initial", "where"), rest)), **kwargs}
        outs = given.pop("out", None)
        given = {key: value for key, value in given.items() if value is not np._NoValue and not (key == "dtype" and value is None)}
        return table[function](x, **given, **({"out": outs[0] if isinstance(outs, tuple) else outs} if outs else {}))
    if method == "outer" and not kwargs and function in UFUNCS:
        a, b = map(_as_array, inputs)
        return function(np.reshape(a, a.shape + (1,) * b.ndim), b)
    raise errors.Unsupported(f"{name} is not supported", errors.here())


def _methods():
    """Methods of arrays that are the NumPy function of that name."""
    for name in ("prod", "max", "min", "any", "all", "argmax", "argmin", "var", "std", "cumsum", "cumprod", "argsort", "take", "clip", "round", "repeat", "put"):
        function = getattr(np, name)
        setattr(Array, name, lambda a, *args, function=function, **kwargs: function(a, *args, **kwargs))
    Array.sort = _sorted_in_place


def _sorted_in_place(array, axis=-1, kind=None, order=None, *, stable=None):
    """`x.sort()`."""
    _target(array, "ndarray.sort")[...] = np.sort(array, axis=axis, kind=kind, order=order, stable=stable)


_methods()
