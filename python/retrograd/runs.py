"""Slices whose length is a traced integer, as in `A[i, :j] @ A[:j, k]`: a loop of that length, never masked work on all of the axis.

A `Run` is such a slice, or what elementwise functions make of it. It has no elements until something asks for them: a sum, a product
of two, an assignment. Its loop is written below as a user would write it.
"""

import numpy as np

from . import errors
from .array import OPERATORS, Array, Symbol, affine, demand, index_of, local
from .rewrite import rewrite
from .trace import current


class Run:
    """Numbers, or arrays of known extents, along one axis, as many as `length` says and at most `most`: `at(k)` is number k.

    `span` tells equal lengths; `before` and `after` are the extents of other axes, around that of the run. `reads` are the (root, place) of the slices that it
    is made of, with the version of the root where they are operands: a slice is a view and sees changes, what is computed from it does not.
    """

    def __init__(self, length, span, at, dtype, reads, most, before=(), after=()):
        self.length, self.span, self.at, self.dtype, self.reads, self.most = length, span, at, dtype, reads, most
        self.before, self.after = tuple(before), tuple(after)

    @property
    def ndim(self):
        return len(self.before) + 1 + len(self.after)

    @property
    def T(self):
        return self if self.ndim == 1 else refuse(self, ".T")

    def like(self, at, dtype, before=None, after=None):
        """Another run of the same length, computed from this one now."""
        reads = [(root, place, root._changes if version is None else version) for root, place, version in self.reads]
        return Run(self.length, self.span, at, dtype, reads, self.most, self.before if before is None else before, self.after if after is None else after)

    def check(self):
        """Refuses operands that have changed since they were read, as NumPy would have read them."""
        for root, _, version in self.reads:
            if version is not None and version != root._changes:
                _cannot(errors.Unsupported("an array has changed since a slice of it, whose length is traced, was computed with; use a loop", errors.here()), self.length)

    def copy(self, order="C"):
        return kept(self)

    def astype(self, dtype, order="K", casting="unsafe", subok=True, copy=True):
        return self.like(lambda k: self.at(k).astype(dtype), np.dtype(dtype))

    def __len__(self):
        refuse(self, "len()")

    def __bool__(self):
        refuse(self, "the truth")

    def __iter__(self):
        refuse(self, "a loop over the elements")

    def __getitem__(self, index):
        if isinstance(index, slice) and index in (slice(None), slice(None, None, -1)) or index is Ellipsis:
            return self if index is Ellipsis or index.step is None else flipped(self)
        refuse(self, "an index")

    def __array__(self, *_, **__):
        refuse(self, "conversion to a NumPy array, or use as a result,")

    def __array_ufunc__(self, called, method, *inputs, **kwargs):
        return ufunc(called, method, inputs, kwargs)

    def __array_function__(self, called, _types, args, kwargs):
        return function(called, args, kwargs)

    def __getattr__(self, name):
        if not name.startswith("__") and hasattr(np.ndarray, name):
            refuse(self, f".{name}")
        raise AttributeError(f"'retrograd.Run' object has no attribute '{name}'")


def refuse(run, what):
    """What a slice of traced length does not do; where its length follows from arguments and indices, it is known from here on, by tracing again."""
    _cannot(errors.Unsupported(f"{what} of a slice whose length is traced is not supported; use a loop over its array", errors.here()), run.length)


def _cannot(error, *lengths):
    for length in lengths:
        if isinstance(length, Array) and length.payload() is None:
            demand(length)
    raise error


def _change(run, _value):
    _cannot(errors.Unsupported("in-place change of a slice whose length is traced; write it with its array, as in x[:i] += …", errors.here()), run.length)


def _operators():
    for name, called in OPERATORS["binary"].items():
        setattr(Run, f"__{name}__", lambda a, b, called=called: called(a, b))
        setattr(Run, f"__r{name}__", lambda a, b, called=called: called(b, a))
        setattr(Run, f"__i{name}__", _change)
    for name, called in OPERATORS["compare"].items():
        setattr(Run, f"__{name}__", lambda a, b, called=called: called(a, b))
    Run.__hash__ = None
    for name, called in OPERATORS["unary"].items():
        setattr(Run, f"__{name}__", lambda a, called=called: called(a))
    for name in ("sum", "prod", "max", "min", "mean", "any", "all", "argmax", "argmin", "dot"):
        setattr(Run, name, lambda a, *args, called=getattr(np, name), **kwargs: called(a, *args, **kwargs))


_operators()


def has_run(values):
    return any(isinstance(value, Run) for value in values)


def ufunc(called, method, inputs, kwargs):
    """Elementwise functions of runs of one length and of what broadcasts with them, and products."""
    first = next(value for value in inputs if isinstance(value, Run))
    if method == "reduce" and called in _FOLDS and set(kwargs) <= {"axis"}:
        return _folded(*_FOLDS[called], first, kwargs.get("axis", 0))
    if method != "__call__" or kwargs:
        refuse(first, f"np.{called.__name__}" + (f".{method}" if method != "__call__" else " with keywords"))
    if called is np.matmul:
        return _product(*inputs)
    return elementwise(called, inputs)


def elementwise(called, inputs):
    """A function that acts on elements one by one."""
    runs = [value for value in inputs if isinstance(value, Run)]
    _alike(runs)
    first = runs[0]
    operands = [value if isinstance(value, Run) else _dropped(first, value) for value in inputs]
    at = lambda k: called(*[value.at(k) if isinstance(value, Run) else value for value in operands])
    shapes = [value.before + value.after if isinstance(value, Run) else np.shape(value) for value in operands]
    with np.errstate(all="ignore"):
        dtype = called(*[np.ones((), value.dtype) if isinstance(value, (Run, Array)) else value for value in operands]).dtype
    shape = np.broadcast_shapes(*shapes)
    cut = len(shape) - len(first.after)
    made = first.like(at, dtype, shape[:cut], shape[cut:])
    made.reads = [read for run in runs for read in run.like(None, dtype).reads]
    return made


def _dropped(run, value):
    """An operand without the axis that the run has, along which it is repeated."""
    beyond = np.ndim(value) - len(run.after)
    if beyond <= 0:
        return value
    shape = np.shape(value)
    if shape[beyond - 1] != 1:
        if isinstance(run.length, Array):
            demand(run.length)
        raise errors.ShapeError("a slice whose length is traced and an array of a known length do not broadcast", errors.here())
    return np.reshape(value, shape[: beyond - 1] + shape[beyond:])


def function(called, args, kwargs):
    """`np.sum` and its like, `np.dot`, `np.flip`; elementwise functions."""
    kwargs = {key: value for key, value in kwargs.items() if value is not np._NoValue and not (key == "out" and value is None)}
    first = next((value for value in (*args, *kwargs.values()) if isinstance(value, Run)), None)
    rule = _FUNCTIONS.get(called)
    if rule is not None and set(kwargs) <= {"axis"} and (called in _PRODUCTS or len(args) + len(kwargs) <= 2):
        return rule(*args, **kwargs)
    if called in _ELEMENTWISE and not kwargs:
        return elementwise(called, args)
    if first is None:
        among = [item.length for value in args if isinstance(value, (list, tuple)) for item in value if isinstance(item, Run)]
        _cannot(errors.Unsupported(f"np.{called.__name__} of slices whose length is traced, in a list, is not supported; use a loop", errors.here()), *among)
    refuse(first, f"np.{called.__name__}")


def _alike(runs):
    if any(run.span != runs[0].span or len(run.after) != len(runs[0].after) for run in runs):
        for run in runs:
            if isinstance(run.length, Array):
                demand(run.length)
        raise errors.ShapeError(
            "the lengths of these slices are traced and not known to be equal; write their bounds alike, as in A[i, :j] @ A[:j, k]", errors.here()
        )


def _product(a, b):
    """A matrix product where a run is a side: along its own axis a sum, along others a run of products."""
    if isinstance(a, Run) and isinstance(b, Run) and not a.after and not b.before:
        if a.span != b.span:
            _alike([a, Run(b.length, b.span, b.at, b.dtype, b.reads, b.most)])
        a.check(), b.check()
        whole = not a.before and not b.after
        at = (lambda k: a.at(k) * b.at(k)) if whole or not (a.before and b.after) else (lambda k: np.multiply(a.at(k)[:, None], b.at(k)))
        return _folded(np.add, 0, Run(a.length, a.span, at, np.result_type(a.dtype, b.dtype), [], a.most, a.before, b.after), len(a.before))
    if isinstance(b, Run) and not isinstance(a, Run) and b.before and not b.after and np.shape(a)[-1:] == b.before[-1:]:
        return b.like(lambda k: np.matmul(a, b.at(k)), np.result_type(_dtype(a), b.dtype), np.shape(a)[:-1])
    if isinstance(a, Run) and not isinstance(b, Run) and a.after and not a.before and np.shape(b)[:1] == a.after[-1:]:
        return a.like(lambda k: np.matmul(a.at(k), b), np.result_type(a.dtype, _dtype(b)), (), np.shape(b)[1:])
    refuse(a if isinstance(a, Run) else b, "a product with an array of a known length")


def _dtype(value):
    return value.dtype if isinstance(value, Array) else np.asarray(value).dtype


def _axis_of(run, axis):
    """The axis of a run that is reduced: None is all."""
    if isinstance(axis, tuple):
        axes = np.lib.array_utils.normalize_axis_tuple(axis, run.ndim)
        return None if len(axes) == run.ndim else axes[0] if len(axes) == 1 else axes
    return None if axis is None else np.lib.array_utils.normalize_axis_index(axis, run.ndim)


def _folded(function, start, run, axis=None):
    """A reduction: along the run a loop; along another axis a run of reductions."""
    axis, own = _axis_of(run, axis), len(run.before)
    if isinstance(axis, tuple):
        # One axis after the other, from the last on, so that the others keep their numbers.
        for each in sorted(axis, reverse=True):
            run = _folded(function, start, run, each) if isinstance(run, Run) else _REDUCED[function](run, axis=each)
        return run
    reduced = _REDUCED[function]
    if axis is not None and axis != own:
        rest = [list(run.before), list(run.after)]
        del rest[axis > own][axis if axis < own else axis - own - 1]
        return run.like(lambda k: reduced(run.at(k), axis=axis if axis < own else axis - 1), run.dtype, *rest)
    run.check()
    at = run.at if axis is not None or run.ndim == 1 else lambda k: reduced(run.at(k))
    if start is None:
        from . import custom

        custom.check(np.greater(run.length, 0), f"zero-size array to reduction operation {function.__name__} which has no identity", ValueError)
        kind = np.iinfo(run.dtype) if run.dtype.kind == "i" else np.finfo(run.dtype)
        start = (kind.min if function is np.maximum else kind.max) if run.dtype.kind == "i" else -np.inf if function is np.maximum else np.inf
    shape = run.before + run.after if axis is not None else ()
    kind = run.dtype if function not in (np.add, np.multiply) or run.dtype.kind == "f" else np.dtype(np.int64)
    total = np.full(shape, start, kind) if shape else start if run.dtype.kind == "b" and kind == run.dtype else kind.type(start)
    return rewrite(_added)(function, at, run.length, local(total) if shape else total)


def _added(function, at, length, total):
    for k in range(length):
        total = function(total, at(k))
    return total


def _mean(run, axis=None):
    axis, own = _axis_of(run, axis), len(run.before)
    extents = (*run.before, 1, *run.after)
    axes = range(run.ndim) if axis is None else axis if isinstance(axis, tuple) else (axis,)
    others = int(np.prod([extents[k] for k in axes], dtype=np.int64))
    total = _folded(np.add, 0, run, axis)
    if own not in axes:
        return elementwise(np.true_divide, (total, others))
    return total / (np.multiply(run.length, others)).astype(np.float64) if isinstance(run.length, Array) else total / (run.length * others)


def _place(better):
    """The first of the best ones; a NaN is the best."""

    def rule(run, axis=None):
        from . import custom

        if run.ndim != 1:
            refuse(run, "np.argmax of several axes")
        run.check()
        custom.check(np.greater(run.length, 0), "attempt to get argmax of an empty sequence", ValueError)
        return rewrite(_searched)(run, better, run.dtype.kind == "f")

    return rule


def _searched(run, better, has_nan):
    best = run.at(0)
    place = 0
    for k in range(run.length):
        value = run.at(k)
        if has_nan:
            found = np.logical_and(np.logical_or(better(value, best), np.isnan(value)), np.logical_not(np.isnan(best)))
        else:
            found = better(value, best)
        best = np.where(found, value, best)
        place = np.where(found, k, place)
    return place


def flipped(run, axis=None):
    """The last element first."""
    if axis is None and run.ndim != 1 or _axis_of(run, axis) not in (None, len(run.before)):
        refuse(run, "np.flip along other axes")
    made = run.like(lambda k: run.at(_bounded(run.length - 1 - k, run.most)), run.dtype)
    # It is a view: what changes is seen, and it reads other places than those it stands for.
    made.reads = [(root, (place, "flipped"), version) for root, place, version in run.reads]
    return made


def _bounded(place, most):
    if isinstance(place, Array):
        place._symbol, place._offset = Symbol(0, most - 1), 0
    return place


def kept(run):
    """The same elements in an array of their own, which nothing else changes."""
    run.check()
    buffer = local(np.zeros((run.most, *run.before, *run.after), run.dtype))
    rewrite(_filled_from)(buffer, run)
    return Run(run.length, run.span, lambda k: buffer[k], run.dtype, [], run.most, run.before, run.after)


def _filled_from(buffer, run):
    for k in range(run.length):
        buffer[k] = run.at(k)


def _norm(run, axis=None):
    if run.ndim != 1:
        refuse(run, "np.linalg.norm of several axes")
    return np.sqrt(_folded(np.add, 0, elementwise(np.multiply, (run, run)), None))


_REDUCED = {np.add: np.sum, np.multiply: np.prod, np.maximum: np.max, np.minimum: np.min, np.logical_or: np.any, np.logical_and: np.all}
_FOLDS = {np.add: (np.add, 0), np.multiply: (np.multiply, 1), np.maximum: (np.maximum, None), np.minimum: (np.minimum, None), np.logical_or: (np.logical_or, False), np.logical_and: (np.logical_and, True)}
_PRODUCTS = (np.dot, np.inner, np.vdot)
_FUNCTIONS = {
    np.sum: lambda run, axis=None: _folded(np.add, 0, run, axis), np.prod: lambda run, axis=None: _folded(np.multiply, 1, run, axis),
    np.max: lambda run, axis=None: _folded(np.maximum, None, run, axis), np.min: lambda run, axis=None: _folded(np.minimum, None, run, axis),
    np.any: lambda run, axis=None: _folded(np.logical_or, False, run, axis), np.all: lambda run, axis=None: _folded(np.logical_and, True, run, axis),
    np.mean: _mean, np.argmax: _place(np.greater), np.argmin: _place(np.less), np.flip: flipped, np.linalg.norm: _norm, np.copy: kept,
    **dict.fromkeys(_PRODUCTS, _product), np.ndim: lambda run: run.ndim, np.ravel: lambda run: run if run.ndim == 1 else refuse(run, "np.ravel"),
}
_ELEMENTWISE = {np.where, np.clip, np.round, np.nan_to_num, np.real, np.interp}


class Window:
    """A slice of traced length in an index whose other items are integers, or slices of known length."""

    def __init__(self, array, items, axis, first, length, extent, span):
        self.array, self.items, self.axis, self.first, self.length, self.extent, self.span = array, items, axis, first, length, extent, span
        shape = [len(range(*item.indices(n))) if isinstance(item, slice) and k != axis else None for k, (item, n) in enumerate(zip(items, array.shape))]
        self.before = tuple(n for k, n in enumerate(shape) if k < axis and n is not None)
        self.after = tuple(n for k, n in enumerate(shape) if k > axis and n is not None)

    def index(self, k):
        """The index of its number k."""
        place = k if isinstance(self.first, int) and self.first == 0 else k + self.first
        _bounded(place, self.array.shape[self.axis])
        return (*self.items[: self.axis], place, *self.items[self.axis + 1 :])

    def place(self):
        """What tells the cells along its axis from those of other slices. Another view of the same root may see the same cells elsewhere."""
        return id(self.array), self.axis, self.extent

    def read(self):
        at = lambda k: self.array[self.index(k)]
        return Run(self.length, self.span, at, self.array.dtype, [(self.array.root(), self.place(), None)], self.array.shape[self.axis], self.before, self.after)

    def write(self, value):
        mine = self.read()
        if not isinstance(value, Run):
            return rewrite(_filled)(self, _dropped(mine, value))
        _alike([value, mine])
        value.check()
        # In every step what is read was not written before, unless the slices are shifted against each other.
        if any(root is self.array.root() and place != self.place() for root, place, _ in value.reads):
            value = kept(value)
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
    if any(item is Ellipsis for item in items):
        at = next(k for k, item in enumerate(items) if item is Ellipsis)
        items = (*items[:at], *[slice(None)] * (array.ndim - len(items) + 1), *items[at + 1 :])
        lengths = [k for k, item in enumerate(items) if isinstance(item, slice) and _has_traced_length(item)]
    items = (*items, *[slice(None)] * (array.ndim - len(items)))
    plain = all(isinstance(item, slice) and not _is_traced_slice(item) or hasattr(item, "__index__") and not np.ndim(item) for k, item in enumerate(items) if k not in lengths)
    if len(lengths) > 1 or not plain or len(items) != array.ndim or items[lengths[0]].step not in (None, 1):
        for bound in (bound for k in lengths for bound in (items[k].start, items[k].stop) if isinstance(bound, Array)):
            demand(bound)
        raise errors.Unsupported(
            "a slice whose length depends on a traced integer needs integers or known slices beside it, and step 1, as in A[i, :j]; use a loop", errors.here()
        )
    axis = lengths[0]
    extent = array.shape[axis]
    first, last = _bound(items[axis].start, 0, extent), _bound(items[axis].stop, extent, extent)
    # Both are within the axis, so that only a slice between two other places can be backwards.
    reaches = any(isinstance(bound, int) and bound == end for bound, end in ((first[0], 0), (last[0], extent)))
    length = last[0] - first[0] if reaches else np.maximum(last[0] - first[0], 0)
    known = len(first[1]) == len(last[1]) == 2
    span = (first[1][0], last[1][0], last[1][1] - first[1][1]) if known else (first[1], last[1])
    return Window(array, items, axis, first[0], length, (first[1], last[1]), span)


def _named(bound):
    """(symbol, offset) of a bound, the same for the same expression: `starts[i]` written twice is one bound."""
    trace, handle = current(), bound.handle()
    for other, found in trace.bounds:
        if trace.same(handle, other):
            return found
    trace.bounds.append((handle, affine(bound)))
    return affine(bound)


def picked(array, run):
    """`array[indices]`, where the indices are a slice of traced length."""
    if run.ndim != 1 or run.dtype.kind != "i":
        refuse(run, "an index with several axes, or of floats,")
    root = array.root()
    made = run.like(lambda k: array[run.at(k)], array.dtype, (), array.shape[1:])
    made.reads = [*made.reads, (root, (id(array), "picked"), root._changes)]
    return made


def _is_traced_slice(item):
    return any(isinstance(bound, Array) and bound.payload() is None for bound in (item.start, item.stop))


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
    if symbol.low is None and symbol.high is None:
        symbol, offset = _named(bound)
    low = symbol.low is not None and symbol.low + offset >= 0
    high = symbol.high is not None and symbol.high + offset <= extent
    within = bound if low else np.maximum(indexing.wrap(bound, extent), 0)
    within = within if low and high else np.minimum(within, extent)
    return within, (symbol, offset) if low and high else (symbol, offset, extent)
