"""Arrays in an index: of integers, beside slices, integers, None, Ellipsis and each other; masks. Read, assigned, and `ufunc.at`.

A mask whose elements are known is an index array; `x[m]` with a traced one is a masked value (`masked`).
"""

import numpy as np

from . import errors, layout, masked, views
from .array import Array, index_of, lift, local, traced, view
from .trace import DTYPES, current


class Pick:
    """What an index with arrays means: the window of its other items, which axes of that the arrays index, and where their axes stand in the result.

    Integers beside arrays are part of the window; where they stand decides, as in NumPy, whether the axes of the arrays come first.
    """

    def __init__(self, array, items):
        self.array, self.items = array, items
        self.known = all(not isinstance(item, Array) or item.payload() is not None for item in items)
        window, axes, arrays, order, before = [], [], [], [], 0
        for k, item in enumerate(items):
            if isinstance(item, slice) or item is None:
                window.append(item)
                before += not order
            elif item is Ellipsis:
                before += 0
            else:
                order.append(k)
                if _is_flag(item):
                    window.append(None)
                elif _is_array(item):
                    window.append(slice(None))
                else:
                    window.append(item)
                    continue
                axes.append(sum(not _is_integer(part) for part in window) - 1)
                arrays.append(np.arange(int(item)) if _is_flag(item) else item)
        self.window, self.axes = tuple(window), axes
        self.place = before if order == list(range(order[0], order[-1] + 1)) else 0
        self.extents = self._broadcast([np.shape(item) for item in arrays])
        self.arrays = arrays

    def _broadcast(self, shapes):
        try:
            return np.broadcast_shapes(*shapes)
        except ValueError:
            found = " ".join(map(str, shapes))
            raise errors.BoundsError(f"shape mismatch: indexing arrays could not be broadcast together with shapes {found}", errors.here()) from None

    def index(self):
        """For NumPy, where all is known."""
        return tuple(item.payload() if isinstance(item, Array) else item for item in self.items)

    def read(self):
        """`array[index]`, which is always a copy."""
        payload = self.array.payload()
        if payload is not None and self.known:
            return local(_checked(lambda: payload[self.index()]))
        part, axis, index = self._rows()
        trace = current()
        found = trace.op("gather", [part, index], axis=[axis])
        found = _moved(trace, found, axis, self.place, len(self.extents))
        shape = trace.type(found)[1]
        return traced(found, scalar=False, ordered=self._layout(shape))

    def write(self, row, value):
        """`array[index] = value` (`scatter_set`), or what another scatter makes of both."""
        trace = current()
        part, axis, index = self._rows()
        rest = trace.type(part)[1]
        rest = [*rest[:axis], *rest[axis + 1 :]]
        shape = [*rest[: self.place], *self.extents, *rest[self.place :]]
        from . import indexing

        update = indexing.fit(trace, views.convert(trace, lift(value, "the assigned value"), DTYPES[self.array.dtype]), shape)
        update = _moved(trace, update, self.place, axis, len(self.extents))
        result = trace.op(row, [part, update, index], axis=[axis])
        target = self._target()
        target.set(views.reshape(trace, result, target.shape))

    def _part(self):
        from . import indexing

        return indexing.load(self.array, self.window) if self.window else self.array

    def _target(self):
        """The window with the axes that arrays index side by side."""
        part = self._part()
        axes = self.axes
        if axes == list(range(axes[0], axes[0] + len(axes))):
            return part
        return view(part, views.Permute([*axes, *(k for k in range(part.ndim) if k not in axes)]))

    def _rows(self):
        """(the window with the axes that arrays index as one, which that is, the indices along it)."""
        part, trace = self._target(), current()
        axis = self.axes[0] if part.shape == self._part().shape and self.axes == list(range(self.axes[0], self.axes[0] + len(self.axes))) else 0
        extents = part.shape[axis : axis + len(self.arrays)]
        from .table import picking

        if len(self.arrays) == 1:
            return part.handle(), axis, picking.wrapped(self.arrays[0], extents[0])
        flat = 0
        for item, extent in zip(self.arrays, extents):
            flat = flat * extent + _within(item, extent)
        merged = (*part.shape[:axis], int(np.prod(extents, dtype=np.int64)), *part.shape[axis + len(extents) :])
        flat = lift(flat)
        return views.reshape(trace, part.handle(), merged), axis, views.broadcast(trace, flat, self.extents)

    def _layout(self, shape):
        """How NumPy's result lies in memory: asked of NumPy."""
        if len(shape) < 2:
            return True
        if self.array._shadow is None:
            return None
        sample = layout.sample(self.array._shadow)
        index = []
        for item in self.items:
            if isinstance(item, slice):
                index.append(slice(None, None, -1 if (item.step or 1) < 0 else 1))
            elif _is_flag(item) or item is None or item is Ellipsis:
                index.append(item)
            else:
                index.append(np.zeros([min(n, 2) for n in np.shape(item)], np.int64) if _is_array(item) else 0)
        if not all(sample.shape):
            return True
        return layout.compact(shape, sample[tuple(index)])


def _moved(trace, handle, axis, place, count):
    """`count` axes from `axis` on, moved to `place`."""
    if axis == place or not count:
        return handle
    ndim = len(trace.type(handle)[1])
    block = list(range(axis, axis + count))
    rest = [k for k in range(ndim) if k not in block]
    return trace.op("transpose", [handle], axes=[*rest[:place], *block, *rest[place:]])


def _within(item, extent):
    """Indices from 0 on. Those that are traced are checked when they are known: along several axes as one, one beyond its axis would be another element."""
    from . import custom
    from .table import picking

    known = item.payload() if isinstance(item, Array) else np.asarray(item)
    if known is None:
        item = index_of(item)
        custom.check((item >= -extent) & (item < extent), f"an index is out of bounds for an axis with size {extent}", IndexError)
        return traced(picking.wrapped(item, extent))
    known = known.astype(np.int64)
    if known.size and not (-extent <= known.min() and known.max() < extent):
        raise errors.BoundsError(f"indices are out of bounds for an axis with size {extent}", errors.here())
    return np.where(known < 0, known + extent, known)


def _checked(read):
    try:
        return read()
    except IndexError as error:
        raise errors.BoundsError(str(error), errors.here()) from None


def _is_integer(item):
    return not isinstance(item, slice) and item is not None


def _is_array(item):
    return isinstance(item, (np.ndarray, Array)) and np.shape(item) != ()


def _is_flag(item):
    """Whether an item is one known bool: a new axis, of one element or of none."""
    return isinstance(item, (bool, np.bool_))


def parse(array, index):
    """What an index with arrays means: a `Pick`, or a masked window; None for an index of integers, slices, None and Ellipsis alone."""
    given = index if isinstance(index, tuple) else (index,)
    if not any(_is_special(item) for item in given):
        return None
    items = [part for item in given for part in _item(item)]
    used = sum(_axes_of(item) for item in items)
    if used > array.ndim:
        raise errors.BoundsError(f"too many indices: {used} for an array of {array.ndim} axes", errors.here())
    at = [k for k, item in enumerate(items) if item is Ellipsis]
    if len(at) > 1:
        raise errors.BoundsError("an index can only have a single ellipsis ('...')", errors.here())
    at = at[0] if at else len(items)
    expanded = [*items[: at + 1], *[slice(None)] * (array.ndim - used), *items[at + 1 :]]
    masks = [item for item in expanded if _is_traced_mask(item)]
    if masks or any(isinstance(item, masked.Masked) for item in expanded):
        return masked.window(array, [item for item in expanded if item is not Ellipsis])
    _check_masks(array, given)
    if not any(_is_array(item) or _is_flag(item) for item in expanded):
        return None
    return Pick(array, expanded)


def _is_special(item):
    return isinstance(item, (list, np.ndarray, bool, np.bool_, masked.Masked)) or isinstance(item, Array) and (item.shape != () or item.dtype.kind == "b")


def _is_traced_mask(item):
    return isinstance(item, Array) and item.dtype.kind == "b"


def _axes_of(item):
    """How many axes an item of an index indexes."""
    if item is None or item is Ellipsis or _is_flag(item):
        return 0
    return item.ndim if _is_traced_mask(item) else 1


def _item(item):
    """The items that an item of an index stands for: known masks are arrays of integers."""
    if isinstance(item, list):
        from . import functions

        item = functions.array_of(item) if functions.has_arrays(item) else np.asarray(item) if len(item) else np.zeros(0, np.int64)
    if isinstance(item, Array):
        known = item.payload()
        if known is None:
            if item.dtype.kind not in "bi":
                raise errors.BoundsError(f"arrays used as indices must be of integer (or boolean) type, found {item.dtype}", errors.here())
            return [item]
        item = known
    if isinstance(item, np.ndarray):
        if item.dtype.kind == "b":
            return [np.bool_(item)] if not item.ndim else list(np.nonzero(item))
        if item.dtype.kind not in "iu":
            raise errors.BoundsError(f"arrays used as indices must be of integer (or boolean) type, found {item.dtype}", errors.here())
        return [item if item.ndim else int(item)]
    return [item]


def _check_masks(array, items):
    """A mask has the extents of the axes that it indexes."""
    axis = 0
    for k, item in enumerate(items):
        if item is Ellipsis:
            axis = array.ndim - sum(_extent_count(rest) for rest in items[k + 1 :])
            continue
        count = _extent_count(item)
        if count and _is_mask(item) and np.shape(item) != array.shape[axis : axis + count]:
            found = f"shape {np.shape(item)} of the mask, {array.shape[axis : axis + count]} of the array"
            raise errors.BoundsError(f"boolean index did not match indexed array: {found}", errors.here())
        axis += count


def _is_mask(item):
    if isinstance(item, list):
        from . import functions

        return not functions.has_arrays(item) and np.asarray(item).dtype.kind == "b"
    return isinstance(item, (np.ndarray, Array)) and item.dtype.kind == "b"


def _extent_count(item):
    if item is None or _is_flag(item):
        return 0
    return np.ndim(item) if _is_mask(item) else 1


_AT = {np.add: "scatter_add", np.multiply: "scatter_mul", np.maximum: "scatter_max", np.minimum: "scatter_min"}


def at(function, array, index, *value):
    """`np.add.at(array, index, value)`: also where an element is indexed several times, one after the other."""
    from . import indexing, rules
    from .table import picking

    name = f"{rules.name_of(function)}.at"
    if not isinstance(array, Array) or array._scalar:
        raise errors.Unsupported(f"{name} into something that is no array of the function is not supported", errors.here())
    array.check_writable()
    pick = parse(array, index)
    if function is np.subtract and value:
        function, value = np.add, (np.negative(value[0]),)
    if not isinstance(pick, Pick):
        # Every element is indexed once.
        indexing.store(array, index, function(indexing.load(array, index), *value))
    elif function in _AT:
        pick.write(_AT[function], value[0])
    else:
        picking.one_by_one(function, array, pick, value)
