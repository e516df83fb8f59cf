"""Indexing: integers and slices (fixed or traced), Ellipsis and None; read and assigned. Arrays in an index are `advanced`, slices of traced length `runs`."""

import numpy as np

from . import advanced, errors, masked, narrow, runs, views
from .array import Array, affine, demand, describe, index_of, lift, traced, view
from .layout import shadow_of
from .trace import DTYPES, current


def load(array, index):
    """`array[index]`: a view; an element is a scalar."""
    if array._scalar:
        index = index if isinstance(index, tuple) else (index,)
        if any(item is not Ellipsis and item is not None for item in index):
            raise errors.BoundsError("invalid index to a scalar", errors.here())
        added = [1 for item in index if item is None]
        return traced(views.reshape(current(), array.handle(), added), scalar=False) if added else array
    if isinstance(index, runs.Run):
        return runs.picked(array, index)
    index = narrow._plain_index(index)
    picked = advanced.parse(array, index)
    if picked is not None:
        return picked.read()
    run = runs.window(array, index)
    if run is not None:
        return run.read()
    window = parse(array, index)
    payload = array.payload()
    element = not window.shape and not _has_ellipsis(index)
    if payload is not None and window.is_static():
        if element:
            return payload[window.index]
        return view(array, window)
    if element:
        return traced(window.read(current(), array.handle(), ()), scalar=True)
    return view(array, window)


def store(array, index, value):
    """`array[index] = value`, through to the root."""
    if array._scalar:
        raise errors.ArgumentError("a scalar does not support item assignment", errors.here())
    array.check_writable()
    if array.root()._frame is not current().frame:
        current().claim(array.root())
    if isinstance(index, runs.Run):
        runs.refuse(index, "an assignment at indices")
    index = narrow._plain_index(index)
    value = narrow._carried(value)
    _check_cast(array, value)
    run = runs.window(array, index)
    if run is not None:
        run.write(value)
        return
    picked = advanced.parse(array, index)
    if picked is not None:
        _place(array, index, picked, value)
        return
    window = parse(array, index)
    root, trace = array.root(), current()
    known = value if not isinstance(value, Array) else value.payload()
    if known is not None and array.payload() is not None and window.is_static() and root._frame is trace.frame and not root._boxes:
        _check_shape(np.shape(known), window.shape)
        root.changes()
        target = array.own_payload()
        target[window.index] = known
        return
    handle = views.convert(trace, lift(value, "the assigned value"), DTYPES[array.dtype])
    handle = fit(trace, handle, window.shape)
    array.set(window.write(trace, array.handle(), handle))


def fit(trace, handle, shape):
    """Broadcasts to the shape of an assignment; leading extents of 1 may go, as in NumPy."""
    found = trace.type(handle)[1]
    _check_shape(found, shape)
    while len(found) > len(shape):
        found = found[1:]
    return views.broadcast(trace, views.reshape(trace, handle, found), shape)


def _check_shape(found, shape):
    trimmed = tuple(found)
    while len(trimmed) > len(shape) and trimmed[0] == 1:
        trimmed = trimmed[1:]
    try:
        fits = np.broadcast_shapes(trimmed, tuple(shape)) == tuple(shape)
    except ValueError:
        fits = False
    if not fits:
        raise errors.ShapeError(f"cannot assign shape {tuple(found)} to a window of shape {tuple(shape)}", errors.here())


def _check_cast(array, value):
    dtype = value.dtype if isinstance(value, (Array, runs.Run, masked.Masked)) else np.asarray(value).dtype
    if array.dtype.kind == "i" and dtype.kind == "f":
        raise errors.DTypeError(
            f"assigning {dtype} into an {array.dtype} array ({describe(array)}) would drop fractions; make the array {dtype}", errors.here()
        )
    if array.dtype.kind == "b" and dtype.kind != "b":
        raise errors.DTypeError(f"assigning {dtype} into a bool array ({describe(array)})", errors.here())


def _place(array, index, picked, value):
    """An assignment at arrays of indices, or at a mask."""
    known = value if not isinstance(value, (Array, masked.Masked)) else value.payload() if isinstance(value, Array) else None
    root = array.root()
    if isinstance(picked, advanced.Pick):
        if known is not None and array.payload() is not None and picked.known and root._frame is current().frame and not root._boxes:
            root.changes()
            target = array.own_payload()
            try:
                target[picked.index()] = known
            except (ValueError, IndexError) as error:
                raise errors.ShapeError(str(error), errors.here()) from None
            return
        if isinstance(value, masked.Masked):
            masked.refuse(value, "an assignment at known indices")
        if isinstance(index, (np.ndarray, Array)) and index.dtype.kind == "b" and np.ndim(value) == 0:
            # One number at a known mask: a select, which needs no indices.
            cover = np.reshape(index, index.shape + (1,) * (array.ndim - index.ndim))
            array.set(views.convert(current(), np.where(cover, value, array).handle(), DTYPES[array.dtype]))
            return
        picked.write("scatter_set", value)
        return
    picked.write(value)


def _has_ellipsis(index):
    return index is Ellipsis or (isinstance(index, tuple) and any(item is Ellipsis for item in index))


def parse(array, index):
    """The window that an index means, checked against the shape."""
    items = _expand(array, index if isinstance(index, tuple) else (index,))
    starts, sizes, steps, plain = [], [], [], []
    axis = 0
    for item in items:
        if item is None:
            plain.append(None)
            continue
        extent = array.shape[axis]
        item = slice(index_of(item.start), index_of(item.stop), item.step) if isinstance(item, slice) else index_of(item)
        start, size, step, shown = _slice(item, extent, axis) if isinstance(item, slice) else _integer(item, extent, axis)
        starts.append(start), sizes.append(size), steps.append(step), plain.append(shown)
        axis += 1
    plain = tuple(plain)
    shape = shadow_of(array.shape)[plain].shape
    return views.Window(plain, starts, sizes, steps, shape)


def _expand(array, items):
    """The items with Ellipsis written out, one per axis besides None; items that are not basic are refused."""
    for item in items:
        _refuse(item)
    used = sum(item is not None and item is not Ellipsis for item in items)
    if used > array.ndim:
        raise errors.BoundsError(f"too many indices: {used} for an array of {array.ndim} axes", errors.here())
    if not any(item is Ellipsis for item in items):
        items = (*items, Ellipsis)
    at = next(k for k, item in enumerate(items) if item is Ellipsis)
    if any(item is Ellipsis for item in items[at + 1 :]):
        raise errors.BoundsError("an index can only have a single ellipsis ('...')", errors.here())
    return (*items[:at], *[slice(None)] * (array.ndim - used), *items[at + 1 :])


def _refuse(item):
    if item is None or item is Ellipsis or isinstance(item, slice):
        return
    if isinstance(item, Array):
        if item.dtype.kind != "i":
            raise errors.BoundsError(f"an index must be an integer, found {describe(item)}", errors.here())
        return
    if not hasattr(item, "__index__"):
        raise errors.BoundsError(f"an index must be an integer, a slice, Ellipsis or None, found {type(item).__name__}", errors.here())


def _integer(item, extent, axis):
    if not isinstance(item, Array) or item.payload() is not None:
        k = item.__index__()
        if not -extent <= k < extent:
            raise errors.BoundsError(f"index {k} is out of bounds for axis {axis} with size {extent}", errors.here())
        return k % extent, 1, 1, k % extent
    if extent == 0:
        raise errors.BoundsError(f"index into axis {axis} with size 0", errors.here())
    return wrap(item, extent), 1, 1, 0


def wrap(index, extent):
    """Python's negative indices: `i + n` where i < 0; nothing where the sign of i is known."""
    symbol, offset = affine(index)
    if symbol.low is not None and symbol.low + offset >= 0:
        return index
    if symbol.high is not None and symbol.high + offset < 0:
        return np.add(index, extent)
    trace = current()
    handle = index.handle()
    negative = trace.op("lt", [handle, trace.constant(np.int64(0))])
    shifted = trace.op("add", [handle, trace.constant(np.int64(extent))])
    return traced(trace.op("select", [negative, shifted, handle]))


def _is_traced(item):
    return isinstance(item, Array) and item.payload() is None


def _slice(item, extent, axis):
    step = 1 if item.step is None else item.step
    if _is_traced(step):
        raise errors.Unsupported("a slice with a traced step is not supported", errors.here())
    if step.__index__() == 0:
        raise errors.BoundsError("slice step cannot be zero", errors.here())
    if not _is_traced(item.start) and not _is_traced(item.stop):
        start, stop, step = slice(item.start, item.stop, step).indices(extent)
        size = len(range(start, stop, step))
        if size == 0:
            return 0, 0, 1, slice(0, 0)
        last = start + (size - 1) * step
        beyond = last + (1 if step > 0 else -1)
        return min(start, last), size, step, slice(start, beyond if beyond >= 0 else None, step)
    return _traced_slice(item, extent, axis, step.__index__())


def _stays_inside(item, extent, step, start, stop):
    """A slice that may reach over an end of its axis has another length there: then its bounds are needed as Python values. Backwards, a stop
    below 0 would count from the end, which the check of the window does not see."""
    symbol = affine(item.start)[0]
    low, high = (start, stop) if step > 0 else (stop, start + 1)
    if symbol.low is not None and symbol.low + low < 0 or symbol.high is not None and symbol.high + high > extent or step < 0 and symbol.low is None:
        demand(item.start)
        if step < 0:
            raise errors.Unsupported("a slice backwards whose stop may be below 0, where it counts from the end, is not supported; use a loop", errors.here())


def _traced_slice(item, extent, axis, step):
    """A slice whose bounds are traced but differ by a constant: `A[i:i+3]`. Others are runs."""
    (_, start), (_, stop) = affine(item.start), affine(item.stop)
    size = len(range(start, stop, step))
    if size == 0:
        return 0, 0, 1, slice(0, 0)
    _stays_inside(item, extent, step, start, stop)
    span = (size - 1) * abs(step) + 1
    if span > extent:
        raise errors.BoundsError(f"a slice of {span} elements is out of bounds for axis {axis} with size {extent}", errors.here())
    if step < 0:
        return np.add(item.start, (size - 1) * step), size, step, slice(span - 1, None, step)
    return item.start, size, step, slice(0, span, step)
