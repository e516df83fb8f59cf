"""Slices whose length is a traced integer, as in `A[i, :j] @ A[:j, k]`: a loop of that length, never masked work on all of the axis.

A `Run` is such a slice, or what elementwise functions make of it. It has no elements until something asks for them: a sum, a product
of two, an assignment. Its loop is written below as a user would write it.
"""

import numpy as np

from . import errors
from .array import OPERATORS, Array, Symbol, affine, index_of
from .rewrite import rewrite


class Run:
    """Numbers along one axis, as many as `length` says: `at(k)` is a traced number.

    `extent` tells equal lengths; `reads` are the (root, place) of the slices that it is made of, with the version of the root where they
    are operands: a slice is a view and sees changes, what is computed from it does not.
    """

    def __init__(self, length, extent, at, dtype, reads):
        self.length, self.extent, self.at, self.dtype, self.reads = length, extent, at, dtype, reads

    def check(self):
        """Refuses operands that have changed since they were read, as NumPy would have read them."""
        for root, _, version in self.reads:
            if version is not None and version != root._changes:
                raise errors.Unsupported("an array has changed since a slice of it, whose length is traced, was computed with; use a loop", errors.here())

    def sum(self):
        return np.sum(self)

    def dot(self, other):
        return np.dot(self, other)

    def __len__(self):
        raise errors.Unsupported("len() of a slice whose length is traced", errors.here())

    def __bool__(self):
        raise errors.Unsupported("the truth of a slice whose length is traced", errors.here())

    def __iter__(self):
        raise errors.Unsupported("a slice whose length is traced can only be iterated by its index", errors.here())

    def __getitem__(self, _):
        raise errors.Unsupported("an index into a slice whose length is traced; index the array itself", errors.here())

    def __array__(self, *_, **__):
        raise errors.Unsupported("conversion of a slice whose length is traced to a NumPy array", errors.here())

    def __array_ufunc__(self, called, method, *inputs, **kwargs):
        return ufunc(called, method, inputs, kwargs)

    def __array_function__(self, called, _types, args, kwargs):
        return function(called, args, kwargs)

    def __getattr__(self, name):
        if not name.startswith("__") and hasattr(np.ndarray, name):
            raise errors.Unsupported(f".{name} of a slice whose length is traced is not supported; use a loop", errors.here())
        raise AttributeError(f"'retrograd.Run' object has no attribute '{name}'")


def _change(_run, _value):
    raise errors.Unsupported("in-place change of a slice whose length is traced; write it with its array, as in x[:i] += …", errors.here())


def _operators():
    for name, called in OPERATORS["binary"].items():
        setattr(Run, f"__{name}__", lambda a, b, called=called: called(a, b))
        setattr(Run, f"__r{name}__", lambda a, b, called=called: called(b, a))
        setattr(Run, f"__i{name}__", _change)
    for name, called in OPERATORS["compare"].items():
        setattr(Run, f"__{name}__", lambda a, b, called=called: called(a, b))
    Run.__hash__ = object.__hash__
    for name, called in OPERATORS["unary"].items():
        setattr(Run, f"__{name}__", lambda a, called=called: called(a))


_operators()


def has_run(values):
    return any(isinstance(value, Run) for value in values)


def ufunc(called, method, inputs, kwargs):
    """Elementwise functions of runs of one length and of numbers, and the product of two."""
    if method != "__call__" or kwargs:
        raise errors.Unsupported(f"np.{called.__name__}.{method} of a slice whose length is traced is not supported; use a loop", errors.here())
    if called is np.matmul:
        return _product(*inputs)
    runs = [value for value in inputs if isinstance(value, Run)]
    _alike(runs)
    if any(np.ndim(value) for value in inputs if not isinstance(value, Run)):
        raise errors.ShapeError(f"np.{called.__name__}: a slice whose length is traced and an array of a known length", errors.here())
    reads = [(root, place, root._changes if version is None else version) for run in runs for root, place, version in run.reads]
    at = lambda k: called(*[value.at(k) if isinstance(value, Run) else value for value in inputs])
    with np.errstate(all="ignore"):
        dtype = called(*[np.ones((), value.dtype) if isinstance(value, (Run, Array)) else value for value in inputs]).dtype
    return Run(runs[0].length, runs[0].extent, at, dtype, reads)


def function(called, args, kwargs):
    """`np.sum` and `np.dot`; a run has no axes to choose from."""
    if called is np.sum and len(args) == 1 and kwargs.get("axis") in (None, 0, -1) and set(kwargs) <= {"axis"}:
        return _sum_of(args[0])
    if called in (np.dot, np.inner, np.vdot) and len(args) == 2 and not kwargs:
        return _product(*args)
    raise errors.Unsupported(f"np.{called.__name__} of a slice whose length is traced is not supported; use a loop", errors.here())


def _alike(runs):
    if any(run.extent != runs[0].extent for run in runs):
        raise errors.ShapeError(
            "the lengths of these slices are traced and not known to be equal; write their bounds alike, as in A[i, :j] @ A[:j, k]", errors.here()
        )


def _product(a, b):
    if not (isinstance(a, Run) and isinstance(b, Run)):
        raise errors.ShapeError("a product of a slice whose length is traced and an array of a known length", errors.here())
    return _sum_of(np.multiply(a, b))


def _sum_of(run):
    run.check()
    return rewrite(_added)(run, 0 if run.dtype.kind in "biu" else 0.0)


def _added(run, total):
    for k in range(run.length):
        total = total + run.at(k)
    return total


class Window:
    """A slice of traced length in an index whose other items are integers."""

    def __init__(self, array, items, axis, first, length, extent):
        self.array, self.items, self.axis, self.first, self.length, self.extent = array, items, axis, first, length, extent

    def index(self, k):
        """The index of its number k."""
        place = k if isinstance(self.first, int) and self.first == 0 else k + self.first
        place._symbol, place._offset = Symbol(0, self.array.shape[self.axis] - 1), 0
        return (*self.items[: self.axis], place, *self.items[self.axis + 1 :])

    def place(self):
        """What tells the cells along its axis from those of other slices. Another view of the same root may see the same cells elsewhere."""
        return id(self.array), self.axis, self.extent

    def read(self):
        return Run(self.length, self.extent, lambda k: self.array[self.index(k)], self.array.dtype, [(self.array.root(), self.place(), None)])

    def write(self, value):
        if not isinstance(value, Run):
            if np.ndim(value):
                raise errors.ShapeError("cannot assign an array of a known length to a slice whose length is traced", errors.here())
            return rewrite(_filled)(self, value)
        _alike([value, self])
        value.check()
        # In every step what is read was not written before, unless the slices are shifted against each other.
        if any(root is self.array.root() and place != self.place() for root, place, _ in value.reads):
            raise errors.Unsupported("a slice whose length is traced is assigned to another place along the same array; copy it first, or use a loop", errors.here())
        return rewrite(_assigned)(self, value)


def _filled(window, value):
    array = window.array
    for k in range(window.length):
        array[window.index(k)] = value


def _assigned(window, run):
    array = window.array
    for k in range(window.length):
        array[window.index(k)] = run.at(k)


def window(array, index):
    """The window of an index with a slice of traced length; None for an index without."""
    items = index if isinstance(index, tuple) else (index,)
    lengths = [k for k, item in enumerate(items) if isinstance(item, slice) and _has_traced_length(item)]
    if not lengths:
        return None
    plain = all(k in lengths or hasattr(item, "__index__") and not np.ndim(item) for k, item in enumerate(items))
    if len(lengths) > 1 or not plain or len(items) != array.ndim or items[lengths[0]].step not in (None, 1):
        raise errors.Unsupported(
            "a slice whose length depends on a traced integer needs integers beside it, and step 1, as in A[i, :j]; use a loop", errors.here()
        )
    axis = lengths[0]
    extent = array.shape[axis]
    first, last = _bound(items[axis].start, 0, extent), _bound(items[axis].stop, extent, extent)
    # Both are within the axis, so that only a slice between two other places can be backwards.
    reaches = any(isinstance(bound, int) and bound == end for bound, end in ((first[0], 0), (last[0], extent)))
    length = last[0] - first[0] if reaches else np.maximum(last[0] - first[0], 0)
    return Window(array, items, axis, first[0], length, (first[1], last[1]))


def _has_traced_length(item):
    traced = [isinstance(bound, Array) and bound.payload() is None for bound in (item.start, item.stop)]
    return traced[0] != traced[1] or all(traced) and affine(item.start)[0] is not affine(item.stop)[0]


def _bound(bound, default, extent):
    """(A bound of a slice within its axis, what tells it from other bounds), by Python's rules: negative ones count from the end."""
    if bound is None:
        return default, (None, default)
    bound = index_of(bound)
    if not isinstance(bound, Array) or bound.payload() is not None:
        bound = slice(bound.__index__()).indices(extent)[1]
        return bound, (None, bound)
    from . import indexing

    symbol, offset = affine(bound)
    low = symbol.low is not None and symbol.low + offset >= 0
    high = symbol.high is not None and symbol.high + offset <= extent
    within = bound if low else np.maximum(indexing.wrap(bound, extent), 0)
    within = within if low and high else np.minimum(within, extent)
    return within, (symbol, offset) if low and high else (symbol, offset, extent)
