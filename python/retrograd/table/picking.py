"""Picking and placing by arrays of indices and masks."""

import numpy as np

from .. import errors, views
from ..array import Array, demand, index_of, lift, traced
from ..functions import _as_array, _axis, _common, _truth, astype, payload_of
from ..rewrite import rewrite
from ..rules import implements
from ..trace import DTYPES, NUMPY, current


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


def take(x, indices, axis=None, *, mode="raise"):
    """`np.take`."""
    x = _as_array(x)
    x = np.ravel(x) if axis is None else x
    k = _axis(0 if axis is None else axis, x.ndim, "take")
    index = wrapped(within(indices, x.shape[k], mode, "take"), x.shape[k])
    return traced(current().op("gather", [x.handle(), index], axis=[k]))


def within(indices, extent, mode, name):
    """Indices by what is to happen with those that are out of bounds."""
    if mode not in ("raise", "wrap", "clip"):
        raise errors.ArgumentError(f"np.{name} has the modes raise, wrap and clip, found {mode!r}", errors.here())
    if mode == "raise":
        return indices
    indices = _as_array(indices)
    return np.mod(indices, extent) if mode == "wrap" else np.clip(indices, 0, extent - 1)


@implements(np.choose)
def _choose(a, choices, *, mode="raise"):
    dtype = NUMPY[_common(*choices)]
    choices = np.broadcast_arrays(*[astype(_as_array(choice), dtype) for choice in choices])
    index = within(_as_array(a), len(choices), mode, "choose")
    shape = np.broadcast_shapes(np.shape(index), choices[0].shape)
    stacked = np.stack([np.broadcast_to(choice, shape) for choice in choices])
    # Negative ones are out of bounds here.
    index = np.where(index < 0, len(choices), index)
    return np.take_along_axis(stacked, np.expand_dims(np.broadcast_to(index, shape), 0), axis=0)[0]


@implements(np.compress)
def _compress(condition, a, axis=None):
    a = _as_array(a)
    a, axis = (np.ravel(a), 0) if axis is None else (a, _axis(axis, a.ndim, "compress"))
    known = payload_of(condition)
    if known is not None:
        return take(a, np.flatnonzero(known), axis)
    wide = a.shape[axis] - condition.shape[0]
    condition = _truth(condition) if not wide else np.concatenate([_truth(condition), np.zeros(wide, bool)])
    return a[(slice(None),) * axis + (condition,)]


@implements(np.extract)
def _extract(condition, arr):
    known = payload_of(condition)
    flat = np.ravel(_as_array(arr))
    return take(flat, np.flatnonzero(known), 0) if known is not None else flat[np.ravel(_truth(condition))]


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


def one_by_one(function, array, pick, value):
    """`ufunc.at` of a function that has no scatter: one element after the other."""
    count = int(np.prod(pick.extents, dtype=np.int64))
    arrays = iter([np.reshape(np.broadcast_to(item, pick.extents), -1) for item in pick.arrays])
    items = []
    for item in pick.items:
        items.append(next(arrays) if np.ndim(item) and not isinstance(item, slice) else item)
    shape = np.shape(pick.read())
    values = [np.reshape(np.moveaxis(np.broadcast_to(item, shape), range(pick.place, pick.place + len(pick.extents)), range(len(pick.extents))), [count, -1]) for item in value]
    rest = [*shape[: pick.place], *shape[pick.place + len(pick.extents) :]]
    place = lambda k: tuple(item[k] if np.ndim(item) and not isinstance(item, slice) else item for item in items)
    rewrite(_each)(function, array, place, [np.reshape(item, [count, *rest]) for item in values], count)


def _each(function, array, place, values, count):
    for k in range(count):
        array[place(k)] = function(array[place(k)], *[item[k] for item in values])


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
def _put(a, ind, v, mode="raise"):
    """Values are repeated as they are needed."""
    a, values = _target(a, "put"), np.ravel(_as_array(v))
    indices = np.ravel(within(ind, a.size, mode, "put"))
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
        demand(mask)
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
