"""Shapes: axes turned, repeated and padded, diagonals and triangles."""

import numpy as np

from .. import errors, layout, views
from ..array import Array, local, traced, view
from ..functions import _as_array, _axes, _axis, _broadcast_to, _concatenate, _kept_layout, _transpose
from ..functions import copy as copied
from ..rules import implements
from ..trace import DTYPES, NUMPY, current
from .picking import take


@implements(np.rollaxis, memory=True)
def _rollaxis(x, axis, start=0):
    x = _as_array(x)
    axis = _axis(axis, x.ndim, "rollaxis")
    start = start + x.ndim if start < 0 else start
    if not 0 <= start <= x.ndim:
        raise errors.ShapeError(f"np.rollaxis: start={start} does not fit {x.ndim} axes", errors.here())
    order = [k for k in range(x.ndim) if k != axis]
    order.insert(start - (axis < start), axis)
    return _transpose(x, order)


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
implements(np.diag_indices_from, memory=True)(lambda arr: np.diag_indices_from(layout.shadow_of(arr.shape)))


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


for _indices in (np.tril_indices_from, np.triu_indices_from):
    implements(_indices, memory=True)(lambda arr, k=0, _indices=_indices: _local_indices(_indices(layout.shadow_of(arr.shape), k)))


def _local_indices(indices):
    return tuple(local(part) for part in indices)


@implements(np.resize)
def _resize(a, new_shape):
    """Elements are repeated as they are needed."""
    shape = (new_shape,) if np.ndim(new_shape) == 0 else tuple(new_shape)
    flat, count = np.ravel(_as_array(a)), int(np.prod(shape, dtype=np.int64))
    if any(n < 0 for n in shape):
        raise errors.ArgumentError("all elements of `new_shape` must be non-negative", errors.here())
    if not flat.shape[0] or not count:
        return np.zeros(shape, flat.dtype)
    if count <= flat.shape[0]:
        return np.reshape(copied(flat[:count]), shape)
    return np.reshape(take(flat, np.resize(np.arange(flat.shape[0]), count), 0), shape)


@implements(np.lib.stride_tricks.sliding_window_view, memory=True)
def _sliding_window_view(x, window_shape, axis=None, *, subok=False, writeable=False):
    """A view that cannot be written; the axes of the window come last."""
    x = _as_array(x)
    if writeable or subok:
        raise errors.Unsupported("sliding_window_view with writeable= or subok= is not supported", errors.here())
    extents = tuple(window_shape) if np.iterable(window_shape) else (window_shape,)
    axes = tuple(range(x.ndim)) if axis is None else tuple(_axis(k, x.ndim, "sliding_window_view") for k in (axis if isinstance(axis, tuple) else (axis,)))
    if len(extents) != len(axes):
        raise errors.ShapeError("sliding_window_view: window_shape must have one extent for each axis", errors.here())
    shape = list(x.shape)
    for k, extent in zip(axes, extents):
        shape[k] -= extent - 1
        if extent < 0 or shape[k] < 0:
            raise errors.ShapeError("window shape cannot be larger than input array shape", errors.here())
    return view(x, views.Sliding(extents, axes))


@implements(np.kron)
def _kron(a, b):
    a, b = _as_array(a), _as_array(b)
    ndim = max(a.ndim, b.ndim)
    left, right = ((1,) * (ndim - x.ndim) + x.shape for x in (a, b))
    spread = np.reshape(a, [n for extent in left for n in (extent, 1)]) * np.reshape(b, [n for extent in right for n in (1, extent)])
    return np.reshape(spread, [m * n for m, n in zip(left, right)])


@implements(np.ix_)
def _ix_(*args):
    """Arrays of one axis, each along an axis of its own; masks are the indices where they hold."""
    found = []
    for k, array in enumerate(map(_as_array, args)):
        if array.ndim != 1:
            raise errors.ShapeError("Cross index must be 1 dimensional", errors.here())
        array = np.flatnonzero(array) if array.dtype.kind == "b" else array
        found.append(np.reshape(array, [-1 if j == k else 1 for j in range(len(args))]))
    return tuple(found)


def _sample_of(value):
    return np.zeros(2, value.dtype) if isinstance(value, Array) and not value._weak else {"b": True, "i": 1, "f": 1.0}[value.dtype.kind] if isinstance(value, Array) else value


implements(np.result_type, memory=True)(lambda *arrays_and_dtypes: np.result_type(*map(_sample_of, arrays_and_dtypes)))
implements(np.common_type, memory=True)(lambda *arrays: np.common_type(*map(_sample_of, arrays)))


def _shifted(function, sign):
    def rule(x, axes=None):
        axes = range(np.ndim(x)) if axes is None else (axes,) if np.ndim(axes) == 0 else axes
        extents = [np.shape(x)[k] for k in axes]
        return np.roll(x, [n // 2 if sign > 0 else -(n // 2) for n in extents], tuple(axes))

    implements(function)(rule)


_shifted(np.fft.fftshift, 1)
_shifted(np.fft.ifftshift, -1)
