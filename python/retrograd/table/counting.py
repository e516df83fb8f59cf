"""Places in sorted arrays, bins, and what is counted by them."""

import numpy as np

from .. import custom, errors
from ..array import Array, demand, local
from ..functions import _as_array, _axis, _truth, astype, payload_of
from ..rules import implements


@implements(np.searchsorted)
def _searchsorted(a, v, side="left", sorter=None):
    """Binary search, all values at once; NaNs are the largest."""
    if side not in ("left", "right"):
        raise errors.ArgumentError(f"search side must be 'left' or 'right' (got {side!r})", errors.here())
    a, v = _as_array(a), _as_array(v)
    if a.ndim != 1:
        raise errors.ShapeError("np.searchsorted: the sorted array must have one axis", errors.here())
    a = a if sorter is None else a[sorter]
    n = a.shape[0]
    low, high = np.zeros(v.shape, np.int64), np.full(v.shape, n, np.int64)
    for _ in range(n.bit_length()):
        middle = (low + high) // 2
        found = a[np.minimum(middle, n - 1)]
        after = _before(found, v) if side == "left" else np.logical_not(_before(v, found))
        open_ = low < high
        low = np.where(np.logical_and(open_, after), middle + 1, low)
        high = np.where(np.logical_and(open_, np.logical_not(after)), middle, high)
    return low if isinstance(low, Array) else _as_array(low)


def _before(a, b):
    """Whether elements stand before others in sorted order."""
    less = a < b
    if a.dtype.kind != "f" and b.dtype.kind != "f":
        return less
    return np.logical_or(less, np.logical_and(np.isnan(b), np.logical_not(np.isnan(a))))


@implements(np.digitize)
def _digitize(x, bins, right=False):
    x, bins = _as_array(x), _as_array(bins)
    if bins.ndim != 1:
        raise errors.ShapeError("np.digitize: bins must have one axis", errors.here())
    side, known = ("left" if right else "right"), payload_of(bins)
    if known is None:
        rises = np.all(np.diff(bins) >= 0)
        custom.check(np.logical_or(rises, np.all(np.diff(bins) <= 0)), "bins must be monotonically increasing or decreasing", ValueError)
        return np.where(rises, _searchsorted(bins, x, side), bins.shape[0] - _searchsorted(bins[::-1], x, "right" if right else "left"))
    if (np.diff(known) < 0).any():
        if (np.diff(known) > 0).any():
            raise errors.ArgumentError("bins must be monotonically increasing or decreasing", errors.here())
        return bins.shape[0] - _searchsorted(bins[::-1], x, "right" if right else "left")
    return _searchsorted(bins, x, side)


@implements(np.bincount)
def _bincount(x, weights=None, minlength=0):
    x = _as_array(x)
    if x.ndim != 1 or x.dtype.kind not in "iub":
        raise errors.DTypeError("np.bincount takes integers along one axis", errors.here())
    known = payload_of(x)
    if known is not None:
        count = max(int(known.max()) + 1 if known.size else 0, minlength)
    else:
        if not minlength:
            # Integers from outside, or from arguments, are looked at: the compilation is for these.
            demand(x)
            raise errors.Unsupported("np.bincount of traced integers has a length that is not known before the program runs; give it minlength=", errors.here())
        count = minlength
        custom.check(np.all(x < count), f"np.bincount of traced integers: one of them is not below minlength={count}, which is the length here", ValueError)
    custom.check(np.all(x >= 0), "'list' argument must have no negative elements", ValueError) if known is None else None
    total = np.zeros(count, np.int64 if weights is None else np.float64)
    total = _as_array(total)
    np.add.at(total, x, 1 if weights is None else astype(_as_array(weights), np.float64))
    return total


def _edges(name, a, bins, range):
    """The ends of bins."""
    if isinstance(bins, str):
        raise errors.Unsupported(f"np.{name} with bins={bins!r} of traced elements is not supported; give it a number", errors.here())
    if np.ndim(bins) == 1:
        return _as_array(bins)
    if np.ndim(bins) or bins < 1:
        raise errors.ArgumentError("`bins` must be positive, when an integer, or increase along one axis", errors.here())
    if range is None:
        first, last = (np.min(a), np.max(a)) if np.size(a) else (0.0, 1.0)
    else:
        first, last = range
    same = np.equal(first, last)
    first, last = np.where(same, first - 0.5, first), np.where(same, last + 0.5, last)
    return np.linspace(first, last, int(bins) + 1, dtype=np.result_type(np.float64 if a.dtype.kind != "f" else a.dtype, np.float32))


@implements(np.histogram_bin_edges)
def _histogram_bin_edges(a, bins=10, range=None, weights=None):
    if weights is not None and np.shape(weights) != np.shape(a):
        raise errors.ShapeError("weights should have the same shape as a.", errors.here())
    return _edges("histogram_bin_edges", np.ravel(_as_array(a)), bins, range)


@implements(np.histogram)
def _histogram(a, bins=10, range=None, density=None, weights=None):
    """Counts are flat in what is counted; weights have a derivative, and so have the ends of the bins, where they follow from elements."""
    if weights is not None and np.shape(weights) != np.shape(a):
        raise errors.ShapeError("weights should have the same shape as a.", errors.here())
    a = np.ravel(_as_array(a))
    edges = _as_array(_edges("histogram", a, bins, range))
    n = edges.shape[0] - 1
    place = _searchsorted(edges, a, "right") - 1
    place = np.where(a == edges[-1], n - 1, place)
    inside = np.logical_and(place >= 0, place < n)
    weights = None if weights is None else np.ravel(_as_array(weights))
    total = _as_array(np.zeros(n, np.int64 if weights is None else weights.dtype))
    np.add.at(total, np.clip(place, 0, n - 1), np.where(inside, np.int64(1) if weights is None else weights, total.dtype.type(0)))
    if density:
        total = total / np.diff(edges) / np.sum(total)
    return total, edges


@implements(np.histogram2d)
def _histogram2d(x, y, bins=10, range=None, density=None, weights=None):
    """As np.histogram, of pairs."""
    if np.shape(x) != np.shape(y) or np.ndim(x) != 1:
        raise errors.ShapeError("x and y must have the same length.", errors.here())
    pair = isinstance(bins, (tuple, list)) and len(bins) == 2
    each = bins if pair else (bins, bins)
    edges, places, inside = [], [], True
    for values, bins_, range_ in zip((x, y), each, (None, None) if range is None else range):
        values = _as_array(values)
        # Of a range that is given, edges have its type; of elements, theirs.
        ends = _as_array(_edges("histogram2d", values if range_ is None else astype(values, np.float64), bins_, range_))
        n = ends.shape[0] - 1
        place = np.where(values == ends[-1], n - 1, _searchsorted(ends, values, "right") - 1)
        edges.append(ends if ends.dtype.kind == "f" else astype(ends, np.float64))
        inside = np.logical_and(inside, np.logical_and(place >= 0, place < n))
        places.append(np.clip(place, 0, n - 1))
    total = _as_array(np.zeros([ends.shape[0] - 1 for ends in edges]))
    np.add.at(total, tuple(places), np.where(inside, 1.0 if weights is None else weights, 0.0))
    if density:
        total = total / np.sum(total) / np.diff(edges[0])[:, None] / np.diff(edges[1])
    return total, *edges


@implements(np.isin)
def _isin(element, test_elements, assume_unique=False, invert=False):
    element, tests = _as_array(element), np.ravel(_as_array(test_elements))
    found = np.any(np.expand_dims(element, -1) == tests, axis=-1)
    return np.logical_not(found) if invert else found


@implements(np.lexsort)
def _lexsort(keys, axis=-1):
    """Stable orders, one after the other; the last key is the first that counts."""
    keys = [_as_array(key) for key in keys]
    axis = _axis(axis, keys[0].ndim, "lexsort")
    order = np.argsort(keys[0], axis=axis)
    for key in keys[1:]:
        order = np.take_along_axis(order, np.argsort(np.take_along_axis(key, order, axis=axis), axis=axis), axis=axis)
    return order


@implements(np.partition)
def _partition(a, kth, axis=-1):
    """Sorted, which is one of the orders that NumPy promises."""
    return np.sort(a, axis=axis)


@implements(np.argpartition)
def _argpartition(a, kth, axis=-1):
    return np.argsort(a, axis=axis)


@implements(np.nonzero, memory=True)
def _nonzero(a):
    """Of a traced mask: indices under the mask itself."""
    from .. import masked

    a = _as_array(a)
    known = payload_of(a)
    if known is not None:
        return tuple(local(part) for part in np.nonzero(known))
    return masked.nonzero(_truth(a))


@implements(np.flatnonzero, memory=True)
def _flatnonzero(a):
    return _nonzero(np.ravel(_as_array(a)))[0]


@implements(np.argwhere, memory=True)
def _argwhere(a):
    from .. import masked

    a = _as_array(a)
    known = payload_of(a)
    return local(np.argwhere(known)) if known is not None else masked.argwhere(_truth(a))


@implements(np.unravel_index)
def _unravel_index(indices, shape, order="C"):
    index, found = _as_array(indices), []
    custom.check(np.all(np.logical_and(index >= 0, index < int(np.prod(shape, dtype=np.int64)))), f"index is out of bounds for array with size {int(np.prod(shape))}", ValueError)
    for extent in reversed(shape) if order == "C" else shape:
        found.append(index % int(extent))
        index = index // int(extent)
    return tuple(reversed(found)) if order == "C" else tuple(found)


@implements(np.ravel_multi_index)
def _ravel_multi_index(multi_index, dims, mode="raise", order="C"):
    modes = (mode,) * len(dims) if isinstance(mode, str) else mode
    flat = 0
    for index, extent, how in list(zip(multi_index, dims, modes))[:: 1 if order == "C" else -1]:
        if how == "raise":
            custom.check(np.all(np.logical_and(np.greater_equal(index, 0), np.less(index, extent))), "invalid entry in coordinates array", ValueError)
        flat = flat * extent + (np.mod(index, extent) if how == "wrap" else np.clip(index, 0, extent - 1) if how == "clip" else index)
    return flat
