"""`x[m]` with a traced mask: a masked value. How many elements it has is known when the program runs, so no array of them exists.

Elementwise functions act on all elements, where those that the mask leaves out are a number inside the function's domain: they never fault and never
poison a gradient. A reduction takes its identity there and the count of the mask. Two masked values combine under the same mask; stores are selects.
What needs the number of elements is refused, with what to write.
"""

import inspect

import numpy as np

from . import errors, scalars
from .array import Array, demand, entangle, is_weak, traced
from .rules import name_of
from .trace import current

# Where 1/2 is not inside the domain of a function, or its derivative is infinite there.
_POINTS = {np.arccosh: 2.0}


class Masked:
    """The elements of `values` where `mask` holds. The axes of the mask stand in `values` after `lead` others; together they are one axis.

    The array of the values is its own: what changes in place changes there, for all names, in loops and branches as any array does."""

    __array_priority__ = 2000
    in_place = True  # what is assigned to its elements goes through `__setitem__`

    def __init__(self, values, mask, lead=0, place=None):
        self.values, self.mask, self.lead = values, mask, lead
        self._place, self._made = place, values.root()._changes

    @property
    def place(self):
        """Of np.nonzero, as long as nothing has changed: which axis of the mask these are the indices along."""
        return self._place if self.values.root()._changes == self._made else None

    @property
    def dtype(self):
        return self.values.dtype

    @property
    def trail(self):
        return self.values.ndim - self.lead - self.mask.ndim

    @property
    def ndim(self):
        return self.lead + 1 + self.trail

    @property
    def size(self):
        return count(self) * int(np.prod([n for k, n in enumerate(self.values.shape) if not self.lead <= k < self.lead + self.mask.ndim], dtype=np.int64))

    @property
    def T(self):
        return self if self.ndim == 1 else self._refuse(".T")

    @property
    def shape(self):
        extents = self.values.shape
        return (*extents[: self.lead], length(self), *extents[self.lead + self.mask.ndim :])

    def cover(self):
        """The mask under the axes of the values."""
        return np.reshape(self.mask, self.mask.shape + (1,) * self.trail)

    def filled(self, number):
        """The values, and a number where the mask does not hold."""
        return np.where(self.cover(), self.values, self.dtype.type(number))

    def like(self, values, lead=None):
        return Masked(values, self.mask, self.lead if lead is None else lead)

    def copy(self, order="C"):
        return Masked(traced(self.values.handle(), scalar=False, ordered=self.values._shadow), self.mask, self.lead, self.place)

    def fill(self, value):
        self.assign(value)

    def assign(self, value):
        """Its elements become those of a value, for all of its names."""
        if isinstance(value, Masked):
            _alike([self, value])
        value = _physical(self, value)[0]
        if np.broadcast_shapes(np.shape(value), self.values.shape) != self.values.shape:
            raise errors.ShapeError("the assigned value does not have the shape of x[m]", errors.here())
        self.values[...] = np.where(self.cover(), value, self.values)

    def astype(self, dtype, order="K", casting="unsafe", subok=True, copy=True):
        return self.like(self.values.astype(dtype, casting=casting))

    def _refuse(self, what):
        refuse(self, what)

    def __len__(self):
        refuse(self, "len()")

    def __bool__(self):
        refuse(self, "the truth")

    def __iter__(self):
        refuse(self, "a loop over the elements")

    def __getitem__(self, index):
        index = index[0] if isinstance(index, tuple) and len(index) == 1 else index
        if index is Ellipsis or isinstance(index, slice) and index == slice(None):
            return self
        if self.lead or isinstance(index, tuple):
            refuse(self, "an index of several axes")
        if isinstance(index, slice):
            return self._slice(index)
        if isinstance(index, Masked) and index.dtype.kind == "b" and not index.trail:
            return self._where(index).copy()
        if is_integer(index):
            return self._element(self._number(index))
        refuse(self, "an index")

    def __setitem__(self, index, value):
        index = index[0] if isinstance(index, tuple) and len(index) == 1 else index
        if is_integer(index) and not self.lead:
            one = np.reshape(np.arange(self.mask.size) == self._number(index), self.mask.shape)
            Masked(self.values, _named(np.logical_and(self.mask, one))).assign(value)
        elif isinstance(index, Masked) and index.dtype.kind == "b" and not index.trail:
            chosen = self._where(index)
            if isinstance(value, Masked):
                refuse(self, "an assignment of a masked value at a mask")
            chosen.assign(value)
        else:
            self[index].assign(value)

    def _where(self, chosen):
        """The elements that a masked condition chooses, as a view."""
        _alike([self.like(self.mask), chosen])
        return Masked(self.values, _named(np.logical_and(self.mask, chosen.values)))

    def _element(self, place):
        """One element, or a row of them: since NumPy makes that a view, a change of either is refused."""
        rows = np.reshape(self.values, (self.mask.size, *self.values.shape[self.mask.ndim :]))
        if not self.trail:
            return rows[place]
        row = rows[place].copy()
        entangle(row, self.values.root())
        return row

    def _number(self, index):
        """The place of element number `index` among all, row by row."""
        number = _counted(index, count(self))
        message = "index out of bounds: a masked value has fewer elements than the index says"
        scalars.require(np.logical_and(np.greater_equal(number, 0), np.less(number, count(self))), message, IndexError)
        # As many elements as have no more than that number before them come first.
        return np.minimum(np.sum(np.cumsum(np.ravel(self.mask)) <= number), self.mask.size - 1)

    def _slice(self, index):
        """Some of the elements by their numbers, as a view."""
        if self.mask.ndim != 1 or index.step not in (None, 1, -1) or index.step == -1 and (index.start, index.stop) != (None, None):
            refuse(self, "a slice with a step, or of several axes,")
        if index.step == -1:
            return Masked(self.values[::-1], _named(self.mask[::-1]))
        number, total, chosen = np.cumsum(self.mask) - 1, count(self), self.mask
        if index.start is not None:
            chosen = np.logical_and(chosen, number >= _counted(index.start, total))
        if index.stop is not None:
            chosen = np.logical_and(chosen, number < _counted(index.stop, total))
        return Masked(self.values, _named(chosen))

    def __array__(self, *_, **__):
        refuse(self, "conversion to a NumPy array, or use as an operand of this function or as a result,")

    def __array_ufunc__(self, called, method, *inputs, **kwargs):
        return ufunc(called, method, inputs, kwargs)

    def __array_function__(self, called, _types, args, kwargs):
        return function(called, args, kwargs)

    def __getattr__(self, name):
        if not name.startswith("__") and hasattr(np.ndarray, name):
            refuse(self, f".{name}")
        raise AttributeError(f"'retrograd.Masked' object has no attribute '{name}'")


def refuse(value, what):
    """What needs the number of elements; where the mask can be known by tracing again, it is."""
    demand(value.mask)
    raise errors.Unsupported(
        f"{what} of x[m], where the mask m is traced: how many elements it has is not known before the program runs; keep the shape with np.where(m, x, …), and count with np.sum(m)",
        errors.here(),
    )


def count(value):
    """How many elements the mask leaves, an integer of the Program."""
    return np.sum(value.mask)


def length(value):
    """`len(x[m])`: an integer of Python, which is traced."""
    if value.lead:
        return value.values.shape[0]
    number = np.positive(count(value))
    if isinstance(number, Array):
        number._weak, number._bounds = True, (0, value.mask.size)
    return number


def is_masked(values):
    return any(isinstance(value, Masked) for value in values)


def _operators():
    from .array import OPERATORS

    for name, called in OPERATORS["binary"].items():
        setattr(Masked, f"__{name}__", lambda a, b, called=called: called(a, b))
        setattr(Masked, f"__r{name}__", lambda a, b, called=called: called(b, a))
        setattr(Masked, f"__i{name}__", lambda a, b, called=called: _changed(a, called(a, b)))
    for name, called in OPERATORS["compare"].items():
        setattr(Masked, f"__{name}__", lambda a, b, called=called: called(a, b))
    Masked.__hash__ = None
    for name, called in OPERATORS["unary"].items():
        setattr(Masked, f"__{name}__", lambda a, called=called: called(a))
    for name in ("sum", "prod", "mean", "max", "min", "var", "std", "any", "all", "argmax", "argmin", "cumsum", "dot", "clip", "round"):
        setattr(Masked, name, lambda a, *args, called=getattr(np, name), **kwargs: called(a, *args, **kwargs))


def is_integer(index):
    if isinstance(index, Array):
        return index.dtype.kind == "i" and not index.shape
    return isinstance(index, (int, np.integer)) and not isinstance(index, bool)


def _counted(index, total):
    """A number of an element; negative ones count from the end."""
    if isinstance(index, Array) and index.payload() is None:
        return np.where(index < 0, index + total, index)
    return total + int(index) if int(index) < 0 else int(index)


def compact(value):
    """The elements one after the other, in an array as long as the mask; behind them are others."""
    if value.lead or value.mask.ndim != 1:
        refuse(value, "a sequence of elements of several axes")
    return value.values[np.argsort(np.logical_not(value.mask), kind="stable")]


def first(value, array):
    """The first elements of an array, as many as there are numbers below."""
    return Masked(array, _named(np.arange(array.shape[0]) < value))


def _changed(value, result):
    """`value += …`: the elements are replaced for all of its names."""
    if not isinstance(result, Masked) or (result.values.shape, result.lead) != (value.values.shape, value.lead):
        raise errors.ShapeError("the result of an in-place operator does not have the shape of x[m]", errors.here())
    if not np.can_cast(result.dtype, value.dtype, "same_kind"):
        raise errors.DTypeError(f"an in-place operator cannot make {result.dtype} of {value.dtype}", errors.here())
    value.assign(result)
    return value


_operators()


# Elementwise


def _alike(values):
    """The masked values among operands, which have one mask."""
    found = [value for value in values if isinstance(value, Masked)]
    first = found[0]
    for other in found[1:]:
        if not (same(first.mask, other.mask) and first.trail == other.trail):
            for value in (first, other):
                demand(value.mask)
            raise errors.Unsupported("two values under masks that are not known to be equal; give the mask a name and index with it, or use np.where", errors.here())
    return first


def same(a, b):
    """Whether two masks are one: the same value, or the same expression of the same values."""
    return a.shape == b.shape and current().same(a.handle(), b.handle())


def _physical(first, value):
    """An operand under the axes of the values: (it, how many axes it has before those of the mask)."""
    if isinstance(value, Masked):
        return value.values, value.lead
    ndim, beyond = np.ndim(value), np.ndim(value) - first.trail
    if beyond <= 0:
        return value, 0
    shape = np.shape(value)
    if shape[beyond - 1] != 1:
        refuse(first, "an elementwise function with an array of a known length")
    return np.reshape(value, shape[: beyond - 1] + (1,) * first.mask.ndim + shape[beyond:ndim]), beyond - 1


def _covered(first, value, point):
    """An operand where the mask holds, and a number inside the domain elsewhere."""
    value, lead = _physical(first, value)
    dtype = value.dtype if isinstance(value, Array) else np.asarray(value).dtype
    if dtype.kind == "b":
        return value, lead
    number = dtype.type(point if dtype.kind == "f" else 1)
    result = np.where(first.cover(), value, number)
    if isinstance(result, Array):
        result._weak = is_weak(value)
    return result, lead


def elementwise(called, inputs, kwargs, point=0.5):
    """A function that acts on elements one by one."""
    first = _alike(inputs)
    covered = [_covered(first, value, point) if not isinstance(value, (str, type(None))) else (value, 0) for value in inputs]
    result, lead = called(*[value for value, _ in covered], **kwargs), max(lead for _, lead in covered)
    return tuple(first.like(part, lead) for part in result) if isinstance(result, tuple) else first.like(result, lead)


def ufunc(called, method, inputs, kwargs):
    """`np.sin(x[m])`, `x[m] * y[m]`, `np.add.reduce(x[m])`."""
    first = next(value for value in (*inputs, *kwargs.values()) if isinstance(value, Masked))
    if method == "reduce" and called in _REDUCE:
        return function(_REDUCE[called], inputs, {"axis": 0, **kwargs})
    if method != "__call__" or "where" in kwargs:
        refuse(first, f"{name_of(called)}" + (f".{method}" if method != "__call__" else " with where="))
    if "out" in kwargs:
        (out,), kwargs = kwargs["out"], {key: item for key, item in kwargs.items() if key != "out"}
        if not isinstance(out, Masked):
            refuse(first, f"{name_of(called)} with out= an array")
        return _changed(out, called(*inputs, **kwargs) if is_masked(inputs) else out.like(_spread(out, called(*inputs, **kwargs))))
    if called is np.matmul:
        return _dot(*inputs)
    return elementwise(called, inputs, kwargs, _POINTS.get(called, 0.5))


def _spread(first, value):
    """A value without masks under the axes of a masked one."""
    return np.broadcast_to(_physical(first, value)[0], first.values.shape)


# Functions


def function(called, args, kwargs):
    """`np.sum(x[m])` and its like."""
    rule = _FUNCTIONS.get(called)
    kwargs = {key: value for key, value in kwargs.items() if value is not np._NoValue and not (key == "out" and value is None)}
    first = next((value for value in (*args, *kwargs.values()) if isinstance(value, Masked)), None)
    if rule is not None:
        try:
            inspect.signature(rule).bind(*args, **kwargs)
        except TypeError:
            refuse(first, f"{name_of(called)} with these arguments")
        return rule(*args, **kwargs)
    if called in _ELEMENTWISE:
        return elementwise(called, args, kwargs)
    if first is None:
        raise errors.Unsupported(f"{name_of(called)} of values with traced masks in a list is not supported; use np.where", errors.here())
    refuse(first, name_of(called))


def _axes(x, axis):
    """(the axes of the values that an axis is, whether the axis of the mask is among them)."""
    wanted = range(x.ndim) if axis is None else np.lib.array_utils.normalize_axis_tuple(axis, x.ndim)
    physical = []
    for k in wanted:
        if k == x.lead:
            physical += range(x.lead, x.lead + x.mask.ndim)
        else:
            physical.append(k if k < x.lead else k + x.mask.ndim - 1)
    return tuple(physical), x.lead in wanted


def _reduced(x, called, identity, axis, keepdims, **kwargs):
    """A reduction of all values, where those that the mask leaves out are its identity."""
    axes, over = _axes(x, axis)
    result = called(x.filled(identity), axis=axes, keepdims=keepdims, **kwargs)
    if not over:
        return x.like(result, x.lead if keepdims else x.lead - sum(k < x.lead for k in axes))
    if not keepdims:
        return result
    shape = np.shape(result)
    return np.reshape(result, shape[: x.lead] + (1,) + shape[x.lead + x.mask.ndim :])


def _sum(x, axis=None, dtype=None, keepdims=False, initial=0):
    result = _reduced(x, np.sum, 0, axis, keepdims, dtype=dtype)
    return result if isinstance(initial, int) and initial == 0 else result + initial


def _prod(x, axis=None, dtype=None, keepdims=False, initial=1):
    result = _reduced(x, np.prod, 1, axis, keepdims, dtype=dtype)
    return result if isinstance(initial, int) and initial == 1 else result * initial


def _extreme(called, side, name):
    def rule(x, axis=None, keepdims=False, initial=None):
        from . import custom

        if initial is None and _axes(x, axis)[1]:
            custom.check(count(x) > 0, f"zero-size array to reduction operation {name} which has no identity", ValueError)
        limits = np.iinfo(x.dtype) if x.dtype.kind == "i" else None
        identity = (-np.inf if side == "min" else np.inf) if limits is None and x.dtype.kind == "f" else (side == "max") if limits is None else getattr(limits, side)
        return _reduced(x, called, identity, axis, keepdims, **({} if initial is None else {"initial": initial}))

    return rule


def _count_over(x, axis):
    """How many elements are reduced to one, as a float."""
    axes, over = _axes(x, axis)
    rest = int(np.prod([x.values.shape[k] for k in axes if not x.lead <= k < x.lead + x.mask.ndim], dtype=np.int64))
    return float(rest) if not over else count(x).astype(np.float64) * rest


def _mean(x, axis=None, dtype=None, keepdims=False):
    x = x if x.dtype.kind == "f" else x.astype(np.float64)
    total = _sum(x, axis, dtype, keepdims)
    number = _count_over(x, axis)
    return total / (number.astype(total.dtype) if isinstance(number, Array) else number)


def _var(x, axis=None, dtype=None, ddof=0, keepdims=False):
    away = x - _mean(x, axis, dtype, keepdims=True)
    total, number = _sum(away * away, axis, dtype, keepdims), _count_over(x, axis) - ddof
    number = np.maximum(number, 0.0).astype(total.dtype) if isinstance(number, Array) else max(number, 0.0)
    return total / number


def _std(x, axis=None, dtype=None, ddof=0, keepdims=False):
    variance = _var(x, axis, dtype, ddof, keepdims)
    spread = variance > 0
    return np.where(spread, np.sqrt(np.where(spread, variance, variance.dtype.type(1))), 0 * variance)


def _truth(called, identity):
    def rule(x, axis=None, keepdims=False):
        return _reduced(x if x.dtype.kind == "b" else x != 0, called, identity, axis, keepdims)

    return rule


def _place(called, side):
    """The number of the best element among those that the mask leaves."""

    def rule(x, axis=None, keepdims=False):
        from . import custom

        if x.ndim != 1 or axis not in (None, 0, -1) or keepdims or x.dtype.kind != "f":
            refuse(x, name_of(called))
        custom.check(count(x) > 0, f"attempt to get {called.__name__} of an empty sequence", ValueError)
        flat = np.ravel(x.mask)
        at = called(np.ravel(x.filled(-np.inf if side == "max" else np.inf)))
        # Where all that the mask leaves is infinite, the best is the first.
        return np.where(flat[at], np.cumsum(flat)[at] - 1, 0)

    return rule


def _cumulated(called, identity):
    def rule(x, axis=None, dtype=None):
        if x.ndim != 1 or axis not in (None, 0, -1):
            refuse(x, name_of(called))
        return x.like(np.reshape(called(np.ravel(x.filled(identity)), dtype=dtype), x.mask.shape))

    return rule


def _dot(a, b):
    first = _alike((a, b))
    if a.ndim != 1 or b.ndim != 1:
        refuse(first, "a product of matrices")
    return _sum(a * b)


def _average(x, axis=None, weights=None, keepdims=False):
    if weights is None:
        return _mean(x, axis, keepdims=keepdims)
    return _sum(x * weights, axis, keepdims=keepdims) / _sum(1.0 * weights, axis, keepdims=keepdims)


def _norm(x, ord=None, axis=None, keepdims=False):
    if ord in (None, 2) and (ord is None or x.ndim == 1):
        return np.sqrt(_sum(x * x, axis, keepdims=keepdims))
    if x.ndim != 1 or ord not in (1, np.inf, -np.inf):
        refuse(x, f"np.linalg.norm with ord={ord!r}")
    return _sum(np.abs(x), axis, keepdims=keepdims) if ord == 1 else (np.max if ord > 0 else np.min)(np.abs(x), axis=axis, keepdims=keepdims)


def _median(x, axis=None, keepdims=False):
    """Of one axis: those that the mask leaves out are sorted to the end."""
    if x.ndim != 1 or axis not in (None, 0, -1) or keepdims:
        refuse(x, "np.median of several axes")
    n = count(x)
    ordered = np.sort(np.ravel(x.filled(np.inf)))
    last = np.maximum(n - 1, 0)
    low, high = ordered[np.maximum(n - 1, 0) // 2], ordered[np.minimum(n // 2, last)]
    middle = np.where(n % 2 == 1, 1.0 * low, 0.5 * (low + high))
    odd = np.any(np.isnan(x))
    return np.where(np.logical_or(odd, n == 0), np.nan, middle)


def _ptp(x, axis=None, keepdims=False):
    return np.max(x, axis=axis, keepdims=keepdims) - np.min(x, axis=axis, keepdims=keepdims)


def _nan(called, fill):
    return lambda x, **kwargs: called(np.where(np.isnan(x), x.dtype.type(fill), x), **kwargs)


def _where(condition, x=None, y=None):
    if x is None or y is None:
        refuse(condition, "np.where with one argument")
    return elementwise(np.where, (condition, x, y), {})


def _copyto(dst, src, casting="same_kind", where=True):
    if not isinstance(dst, Masked) or where is not True:
        refuse(dst if isinstance(dst, Masked) else src, "np.copyto to an array, or with where=,")
    if not np.can_cast(src.dtype if isinstance(src, (Masked, Array)) else np.asarray(src).dtype, dst.dtype, casting):
        raise errors.DTypeError(f"np.copyto cannot make {src.dtype} of {dst.dtype}", errors.here())
    dst.assign(src)


def _sort(x, axis=-1, kind=None):
    if x.ndim != 1 or axis not in (None, 0, -1) or x.dtype.kind == "b":
        refuse(x, "np.sort of several axes")
    most = np.inf if x.dtype.kind == "f" else np.iinfo(x.dtype).max
    ordered = np.sort(np.ravel(x.filled(most)))
    # A NaN is greater than infinity.
    odd = np.ravel(np.where(np.logical_and(x.mask, x.values != x.values), x.values, most)) if x.dtype.kind == "f" else None
    return first(count(x), ordered if odd is None else np.where(np.arange(ordered.size) < count(x) - np.sum(odd != odd), ordered, np.nan))


def _diff(x, n=1, axis=-1):
    if x.ndim != 1 or axis not in (0, -1) or n != 1 or x.dtype.kind == "b":
        refuse(x, "np.diff of several axes, or n times,")
    elements = compact(x)
    return first(count(x) - 1, elements[1:] - elements[:-1])


_ELEMENTWISE = {
    np.clip, np.round, np.around, np.nan_to_num, np.isclose, np.fix, np.sinc, np.i0, np.isneginf, np.isposinf, np.angle, np.iscomplex, np.isreal,
    np.zeros_like, np.ones_like, np.full_like, np.empty_like, np.copy, np.interp, np.polyval, np.searchsorted, np.digitize,
}

_FUNCTIONS = {
    np.sum: _sum, np.prod: _prod, np.mean: _mean, np.var: _var, np.std: _std, np.average: _average, np.ptp: _ptp, np.median: _median,
    np.max: _extreme(np.max, "min", "maximum"), np.min: _extreme(np.min, "max", "minimum"),
    np.any: _truth(np.any, False), np.all: _truth(np.all, True), np.argmax: _place(np.argmax, "max"), np.argmin: _place(np.argmin, "min"),
    np.count_nonzero: lambda x, axis=None, keepdims=False: _sum(x != 0, axis, keepdims=keepdims),
    np.cumsum: _cumulated(np.cumsum, 0), np.cumprod: _cumulated(np.cumprod, 1), np.where: _where, np.dot: _dot, np.inner: _dot, np.vdot: _dot,
    np.linalg.norm: _norm, np.nansum: _nan(np.sum, 0), np.nanprod: _nan(np.prod, 1), np.ndim: lambda x: x.ndim, np.size: lambda x: x.size,
    np.ravel: lambda x, order="C": x if x.ndim == 1 else refuse(x, "np.ravel"), np.atleast_1d: lambda x: x, np.real: lambda x: x,
    np.real_if_close: lambda x: x, np.copyto: _copyto, np.sort: _sort, np.diff: _diff, np.shape: lambda x: x.shape,
}
_FUNCTIONS[np.amax], _FUNCTIONS[np.amin] = _FUNCTIONS[np.max], _FUNCTIONS[np.min]

_REDUCE = {
    np.add: np.sum, np.multiply: np.prod, np.maximum: np.max, np.minimum: np.min, np.logical_and: np.all, np.logical_or: np.any,
}


# Reading and assigning


class Window:
    """The part of an array that an index with a traced mask, or with indices of one, means."""

    def __init__(self, array, window, axis, mask):
        self.array, self.window, self.axis, self.mask = array, window, axis, mask

    def _part(self):
        from . import indexing

        whole = all(isinstance(item, slice) and item == slice(None) for item in self.window)
        return self.array if whole else indexing.load(self.array, self.window)

    def read(self):
        part = self._part()
        return Masked(traced(part.handle(), scalar=False, ordered=part._shadow), self.mask, self.axis)

    def write(self, value):
        part = self._part()
        first = Masked(part, self.mask, self.axis)
        if isinstance(value, Masked):
            _alike([first, value])
        part[...] = np.where(first.cover(), _physical(first, value)[0], part)


class Picked:
    """`x[i]` and `x[i, j]`, where the indices are masked: an element for each that the mask leaves."""

    def __init__(self, array, items):
        self.array, self.items = array, items

    def _index(self, fill=0):
        return tuple(item.filled(fill) if isinstance(item, Masked) else item for item in self.items)

    def read(self):
        first = _alike(self.items)
        if any(isinstance(item, Masked) and item.ndim != 1 for item in self.items) or any(not isinstance(item, (Masked, slice)) and np.ndim(item) for item in self.items):
            refuse(first, "an index with arrays beside")
        if not isinstance(self.items[0], Masked) or any(isinstance(a, slice) and isinstance(b, Masked) for a, b in zip(self.items, self.items[1:])):
            refuse(first, "an index after slices")
        return Masked(self.array[self._index()], first.mask, 0)

    def write(self, value):
        first = _alike(self.items)
        refuse(first, "an assignment at indices")


def window(array, items):
    """What an index with a traced mask means."""
    indices = [item for item in items if isinstance(item, Masked)]
    masks = [k for k, item in enumerate(items) if isinstance(item, Array) and item.dtype.kind == "b"]
    if indices:
        places = [item.place for item in indices]
        mask = indices[0].mask
        if places == list(range(mask.ndim)) and all(item.mask is mask for item in indices):
            # x[np.nonzero(m)] is x[m].
            at = next(k for k, item in enumerate(items) if isinstance(item, Masked))
            return window(array, [*items[:at], mask, *items[at + mask.ndim :]])
        if masks:
            refuse(indices[0], "an index with another mask")
        return Picked(array, items)
    if len(masks) > 1:
        raise errors.Unsupported("two traced masks in one index are not supported; combine them: m[:, None] & n", errors.here())
    (at,) = masks
    mask = items[at]
    if any(not (item is None or isinstance(item, slice) or hasattr(item, "__index__") and not np.ndim(item)) for k, item in enumerate(items) if k != at):
        raise errors.Unsupported("a traced mask beside arrays of indices is not supported; use np.where", errors.here())
    numbers = [k for k, item in enumerate(items) if k != at and item is not None and not isinstance(item, slice)]
    if numbers and any(isinstance(item, slice) or item is None for item in items[min(*numbers, at) : max(*numbers, at)]):
        raise errors.Unsupported("a traced mask and an integer with a slice between them are not supported; index twice", errors.here())
    start = sum(_extent(item) for item in items[:at])
    if mask.shape != array.shape[start : start + mask.ndim]:
        raise errors.BoundsError(f"boolean index did not match indexed array: shape {mask.shape} of the mask, {array.shape[start : start + mask.ndim]} of the array", errors.here())
    axes = (*items[:at], *[slice(None)] * mask.ndim, *items[at + 1 :])
    lead = sum(item is None or isinstance(item, slice) for item in items[:at])
    if not mask.ndim:
        refuse(Masked(array, mask, 0), "an index of one traced bool")
    return Window(array, axes, lead, _named(mask))


def _extent(item):
    return 0 if item is None else 1


def _named(mask):
    """The mask as it is now: the array may change later. Nothing changes a mask, so that it is the same value in loops, too."""
    handle, frame = current().invariant(mask) if mask._parent is None else (mask.handle(), current().frame)
    named = traced(handle, scalar=False)
    named._outer, named._frame = "a mask", frame
    return named


class Form:
    """How a masked value is nested: its mask and its axes. Two are one where the masks are."""

    __hash__ = None

    def __init__(self, value):
        self.mask, self.lead, self.place, self.trail = value.mask, value.lead, value.place, value.trail

    def __eq__(self, other):
        return isinstance(other, Form) and (self.lead, self.place, self.trail) == (other.lead, other.place, other.trail) and same(self.mask, other.mask)

    def make(self, items):
        return Masked(items[0], self.mask, self.lead, self.place)


def nonzero(mask):
    """`np.nonzero` of a traced mask: the indices of its elements along each axis, under the mask itself."""
    mask = _named(mask)
    grids = np.indices(mask.shape)
    return tuple(Masked(traced(current().constant(grid), scalar=False), mask, 0, place=axis) for axis, grid in enumerate(grids))


def argwhere(mask):
    """`np.argwhere` of a traced mask: a row of indices for each of its elements."""
    grids = np.moveaxis(np.indices(mask.shape), 0, -1)
    return Masked(traced(current().constant(grids), scalar=False), _named(mask), 0)
