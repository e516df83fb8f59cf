"""Arrays put together and taken apart."""

import numpy as np

from .. import errors
from ..array import Array
from ..functions import _as_array, _axis, _concatenate, astype, payload_of
from ..rules import implements
from .picking import take
from .shapes import _atleast_1d, _atleast_2d


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


@implements(np.dstack)
def _dstack(arrays):
    return _concatenate([np.atleast_3d(_as_array(x)) for x in arrays], 2)


@implements(np.block)
def _block(arrays):
    """Nested lists: the innermost are joined along the last axis."""
    depth = _depth(arrays)
    ndim = max(depth, max(np.ndim(leaf) for leaf in _leaves(arrays)))
    return _joined_blocks(arrays, depth, ndim)


def _depth(arrays):
    if not isinstance(arrays, list):
        return 0
    depths = {_depth(item) for item in arrays}
    if len(depths) != 1:
        raise errors.ShapeError("np.block: lists are mismatched in depth, or empty", errors.here())
    return 1 + depths.pop()


def _leaves(arrays):
    return [leaf for item in arrays for leaf in _leaves(item)] if isinstance(arrays, list) else [arrays]


def _joined_blocks(arrays, depth, ndim):
    if not depth:
        x = _as_array(arrays)
        return np.reshape(x, (1,) * (ndim - x.ndim) + x.shape)
    return _concatenate([_joined_blocks(item, depth - 1, ndim) for item in arrays], ndim - depth)


def concatenator(container, index):
    """`np.r_[…]` and `np.c_[…]` of traced arrays: slices are ranges, numbers are arrays of one."""
    items = index if isinstance(index, tuple) else (index,)
    if any(isinstance(item, str) for item in items):
        raise errors.Unsupported("np.r_ and np.c_ with a string in front are not supported; use np.concatenate", errors.here())
    columns = container is np.c_
    parts = []
    for item in items:
        part = _range_of(item) if isinstance(item, slice) else _as_array(item)
        part = np.reshape(part, (1,)) if not np.ndim(part) else part
        parts.append(np.reshape(part, (-1, 1)) if columns and np.ndim(part) == 1 else part)
    return _concatenate(parts, -1 if columns else 0)


def _range_of(item):
    step = 1 if item.step is None else item.step
    if isinstance(step, complex):
        return np.linspace(0 if item.start is None else item.start, item.stop, int(abs(step)))
    return np.arange(0 if item.start is None else item.start, item.stop, step)


@implements(np.insert)
def _insert(arr, obj, values, axis=None):
    arr = _as_array(arr)
    arr, axis = (np.ravel(arr), 0) if axis is None else (arr, _axis(axis, arr.ndim, "insert"))
    n = arr.shape[axis]
    values = _as_array(values)
    places = _slots(obj, n)
    if isinstance(places, Array):
        # One place, which is traced: what stands behind it moves on.
        values = _at_one(values, arr, axis, np.ndim(obj) == 0)
        count = values.shape[axis]
        k = np.arange(n + count)
        source = np.where(k < places, k, np.where(k < places + count, n + k - places, k - count))
        return take(_concatenate([arr, astype(values, arr.dtype)], axis), source, axis)
    if np.ndim(obj) == 0 and not isinstance(obj, slice):
        values = _at_one(values, arr, axis, True)
        places = np.repeat(places, values.shape[axis])
    else:
        shape = [len(places) if k == axis else extent for k, extent in enumerate(arr.shape)]
        values = np.broadcast_to(values, shape)
    order = np.argsort(places, kind="stable")
    at = np.empty(len(places), np.int64)
    at[order] = places[order] + np.arange(len(places))
    kept = np.ones(n + len(places), bool)
    kept[at] = False
    source = np.empty(n + len(places), np.int64)
    source[kept], source[at] = np.arange(n), n + np.arange(len(places))
    return take(_concatenate([arr, astype(values, arr.dtype)], axis), source, axis)


def _at_one(values, arr, axis, single):
    """Values that are inserted at one place: several stand one after the other."""
    if single and values.ndim and arr.ndim > 1 and values.ndim == arr.ndim - 1:
        values = np.expand_dims(values, axis)
    elif values.ndim == arr.ndim and single and arr.ndim > 1:
        values = np.moveaxis(values, 0, axis)
    count = values.shape[axis] if values.ndim == arr.ndim else 1
    return np.broadcast_to(values, [count if k == axis else extent for k, extent in enumerate(arr.shape)])


def _slots(obj, n):
    """Indices between elements, from 0 on."""
    if isinstance(obj, slice):
        return np.arange(n)[obj]
    known = payload_of(obj)
    if known is None:
        if np.shape(obj) not in ((), (1,)):
            raise errors.Unsupported("np.insert at several traced places is not supported", errors.here())
        place = np.reshape(obj, ())
        return np.where(place < 0, place + n, place)
    places = np.atleast_1d(np.asarray(known))
    if places.dtype.kind == "b":
        return np.flatnonzero(places)
    places = places.astype(np.int64)
    if places.size and not (-n <= places.min() and places.max() <= n):
        raise errors.BoundsError(f"an index is out of bounds for an axis with size {n}", errors.here())
    return np.where(places < 0, places + n, places)


@implements(np.delete)
def _delete(arr, obj, axis=None):
    arr = _as_array(arr)
    arr, axis = (np.ravel(arr), 0) if axis is None else (arr, _axis(axis, arr.ndim, "delete"))
    n = arr.shape[axis]
    known = payload_of(obj) if not isinstance(obj, slice) else obj
    if known is None:
        if np.shape(obj) not in ((), (1,)):
            raise errors.Unsupported("np.delete at several traced places has a length that is not known before the program runs; use np.where", errors.here())
        place, k = np.reshape(obj, ()), np.arange(n - 1)
        return take(arr, np.where(k < np.where(place < 0, place + n, place), k, k + 1), axis)
    kept = np.ones(n, bool)
    try:
        kept[known if isinstance(known, slice) or np.asarray(known).size else np.zeros(0, int)] = False
    except IndexError as error:
        raise errors.BoundsError(str(error), errors.here()) from None
    return take(arr, np.flatnonzero(kept), axis)


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
