"""How a view reads and writes its parent: windows, axes in another order, other shapes, repeated elements.

A link says the same thing three times: on NumPy arrays (`view`, which also gives shape and strides), as instructions that read
(`read`), and as instructions that write through (`write`). So NumPy's own rules decide what is a view and what is a copy.
"""

import numpy as np

from . import errors


class Permute:
    """Axes in another order."""

    def __init__(self, axes):
        self.axes = tuple(axes)

    def view(self, array):
        return array.transpose(self.axes)

    def read(self, trace, parent, _shape):
        return trace.op("transpose", [parent], axes=list(self.axes))

    def write(self, trace, _parent, child):
        return trace.op("transpose", [child], axes=[int(k) for k in np.argsort(self.axes)])


class Reshape:
    """Another shape of the same elements, where NumPy makes a view of it."""

    def __init__(self, shape):
        self.shape = tuple(shape)

    def view(self, array):
        return array.reshape(self.shape)

    def read(self, trace, parent, _shape):
        return trace.op("reshape", [parent], shape=list(self.shape))

    def write(self, trace, parent, child):
        return trace.op("reshape", [child], shape=list(trace.type(parent)[1]))


class Spread:
    """Elements repeated to a shape; read-only, as in NumPy."""

    def __init__(self, shape):
        self.shape = tuple(shape)

    def view(self, array):
        return np.broadcast_to(array, self.shape)

    def read(self, trace, parent, _shape):
        return broadcast(trace, parent, self.shape)

    def write(self, _trace, _parent, _child):
        raise errors.ArgumentError("assignment destination is read-only: the result of np.broadcast_to", errors.here())


class Diagonal:
    """The diagonal of two axes, as the last axis; read-only, as in NumPy."""

    def __init__(self, offset, first, second):
        self.offset, self.first, self.second = offset, first, second

    def view(self, array):
        return np.diagonal(array, self.offset, self.first, self.second)

    def read(self, trace, parent, _shape):
        extents = trace.type(parent)[1]
        rest = [k for k in range(len(extents)) if k not in (self.first, self.second)]
        n = extents[self.second]
        moved = trace.op("transpose", [parent], axes=[*rest, self.first, self.second])
        flat = reshape(trace, moved, [*(extents[k] for k in rest), extents[self.first] * n])
        low, high = max(-self.offset, 0), max(self.offset, 0)
        count = max(min(extents[self.first] - low, n - high), 0)
        places = low * n + high + np.arange(count) * (n + 1)
        return trace.op("gather", [flat, trace.constant(places)], axis=[len(rest)])

    def write(self, _trace, _parent, _child):
        raise errors.ArgumentError("assignment destination is read-only: the result of np.diagonal", errors.here())


class Sliding:
    """Every window of some extents along some axes; their own axes come last. Read-only, as in NumPy."""

    def __init__(self, extents, axes):
        self.extents, self.axes = extents, axes

    def view(self, array):
        return np.lib.stride_tricks.sliding_window_view(array, self.extents, self.axes)

    def read(self, trace, parent, _shape):
        handle = parent
        for extent, axis in zip(self.extents, self.axes):
            shape = trace.type(handle)[1]
            places = np.arange(shape[axis] - extent + 1)[:, None] + np.arange(extent)
            handle = trace.op("gather", [handle, trace.constant(places)], axis=[axis])
            ndim = len(shape) + 1
            handle = trace.op("transpose", [handle], axes=[*(k for k in range(ndim) if k != axis + 1), axis + 1])
        return handle

    def write(self, _trace, _parent, _child):
        raise errors.ArgumentError("assignment destination is read-only: the result of sliding_window_view", errors.here())


class Window:
    """A window by basic indexing: per axis of the parent its least index (int or handle), a size and a step, which where negative means
    that the window is read backwards; then a shape without the integer axes and with those of None."""

    def __init__(self, index, starts, sizes, steps, shape):
        self.index = index  # for NumPy; integers that are traced stand as 0
        self.starts, self.sizes, self.steps, self.shape = starts, sizes, [abs(step) for step in steps], tuple(shape)
        self.backwards = [axis for axis, step in enumerate(steps) if step < 0]

    def view(self, array):
        return array[self.index]

    def is_static(self):
        return all(isinstance(start, int) for start in self.starts)

    def read(self, trace, parent, _shape):
        extents = trace.type(parent)[1]
        if self.is_static():
            whole = all(start == 0 and size == extent for start, size, extent in zip(self.starts, self.sizes, extents))
            stop = [start + (size - 1) * step + 1 if size else start for start, size, step in zip(self.starts, self.sizes, self.steps)]
            window = parent if whole else trace.op("slice", [parent], start=list(self.starts), stop=stop, step=list(self.steps))
        else:
            window = trace.op("dynamic_slice", [parent, *self._handles(trace)], sizes=list(self.sizes), step=list(self.steps))
        return reshape(trace, self._turned(trace, window), self.shape)

    def write(self, trace, parent, child):
        child = self._turned(trace, reshape(trace, child, self.sizes))
        if tuple(self.sizes) == tuple(trace.type(parent)[1]):
            return child
        return trace.op("update", [parent, child, *self._handles(trace)], step=list(self.steps))

    def _turned(self, trace, window):
        return trace.op("reverse", [window], axes=self.backwards) if self.backwards else window

    def _handles(self, trace):
        return [trace.constant(np.int64(start)) if isinstance(start, int) else start.handle() for start in self.starts]


def reshape(trace, handle, shape):
    """Another shape; nothing where it has it already."""
    if tuple(trace.type(handle)[1]) == tuple(shape):
        return handle
    return trace.op("reshape", [handle], shape=list(shape))


def broadcast(trace, handle, shape):
    """NumPy's broadcasting, made explicit: extents of 1 that grow are dropped, then new axes are added."""
    _, old = trace.type(handle)
    if tuple(old) == tuple(shape):
        return handle
    offset = len(shape) - len(old)
    kept = [k for k, extent in enumerate(old) if extent == shape[offset + k]]
    squeezed = reshape(trace, handle, [old[k] for k in kept])
    if len(kept) == len(shape):
        return squeezed
    return trace.op("broadcast", [squeezed], shape=list(shape), axes=[offset + k for k in kept])


def convert(trace, handle, dtype):
    """To another element type; nothing where it has it already."""
    if trace.type(handle)[0] == dtype:
        return handle
    return trace.op("convert", [handle], dtype=dtype)
