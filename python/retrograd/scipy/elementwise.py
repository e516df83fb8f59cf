"""Elementwise functions of `scipy.special`: computed in float64, with derivatives that may be stated."""

import contextlib
import threading

import numpy as np

from .. import errors
from ..array import Array
from ..custom import custom_jvp
from ..functions import _as_array, _common, _floating, astype, payload_of
from ..rewrite import rewrite
from ..trace import NUMPY, current
from .table import implements

# So many orders are stated: partials, and partials of those; the next derivative is that of the code that computes the last.
_STATED = 3
_state = threading.local()


def elementwise(*names, partials=None):
    """Enters an elementwise function under names of `scipy.special`.

    `partials` has a function of all arguments for each: the derivative by it; or it is one function that gives those by the arguments whose numbers come
    first. Without, the derivative is that of the composition.
    """

    def enter(value):
        function = Elementwise(value, partials, names[0] if names else value.__name__)
        implements(*[f"special.{name}" for name in names])(function)
        return function

    return enter


class Elementwise:
    """An elementwise function of floats. Results have the element type that SciPy gives; the arithmetic is that of float64."""

    def __init__(self, value, partials, name):
        self.value, self.partials, self.name = value, partials, name
        self.__name__, self.__doc__, self.__wrapped__ = name, value.__doc__, value

    def __call__(self, *args):
        args = [payload if (payload := payload_of(arg)) is not None else arg for arg in args]
        traced = [isinstance(arg, Array) for arg in args]
        if not any(traced):
            with np.errstate(all="ignore"):
                return np.asarray(self._known([np.asarray(arg, np.float64) for arg in args]))
        dtype = NUMPY[_floating(_common(*args))]
        shape = np.broadcast_shapes(*[np.shape(arg) for arg in args])
        args = [
            _spread(arg, shape) if is_traced else np.asarray(arg, np.float64) for arg, is_traced in zip(args, traced)
        ]
        result = self._applied(args, traced)
        return result if result.dtype == dtype else astype(result, dtype)

    def _applied(self, args, traced):
        if self.partials is None or not is_differentiated():
            return self._or_nan(args)
        places = [k for k, is_traced in enumerate(traced) if is_traced]

        def merged(given):
            return [given[places.index(k)] if k in places else arg for k, arg in enumerate(args)]

        def tangent(primals, tangents):
            full = merged(primals)
            with deeper():
                partials = self._partials(full, places)
            parts = [partial * dx for partial, dx in zip(partials, tangents)]
            total = parts[0]
            for part in parts[1:]:
                total = total + part
            return None, total

        def body(*given):
            # What has a stated derivative is never differentiated itself.
            with deeper(_STATED):
                return self._or_nan(merged(given))

        stated = custom_jvp(body)
        stated.defjvp(tangent)
        return stated(*[args[k] for k in places])

    def _known(self, args):
        return np.where(np.isnan(sum(args)) & (sum(np.isnan(arg) for arg in args) > 0), np.nan, self.value(*args))

    def _or_nan(self, args):
        """The value, NaN where an argument is."""
        missing = np.isnan(args[0])
        for arg in args[1:]:
            missing = missing | np.isnan(arg)
        return _as_array(np.where(missing, np.nan, self.value(*args)))

    def _partials(self, args, places):
        if callable(self.partials):
            return self.partials(places, *args)
        return [self.partials[k](*args) for k in places]


def _spread(x, shape):
    x = astype(x, np.float64) if x.dtype != np.float64 else x
    return x if x.shape == shape else np.broadcast_to(x, shape)


def is_differentiated():
    """Whether a derivative of what is traced now will be asked for, and is stated."""
    depth = getattr(_state, "depth", 0)
    return depth < _STATED and depth < current().order


@contextlib.contextmanager
def deeper(orders=1):
    """So many orders of derivatives fewer are asked of what is traced inside."""
    _state.depth = getattr(_state, "depth", 0) + orders
    try:
        yield
    finally:
        _state.depth -= orders


def inside(x, condition, other):
    """x where a condition holds, else a point where all is well: sides of a `where` that do not count are computed there."""
    return np.where(condition, x, other)


def outside(x, condition):
    """What a side of a `where` is outside of the domain: NaN where a condition holds (for x < 0), with all its derivatives."""
    return np.sqrt(inside(x, condition, 1.0))


def beside(order, x, wide=()):
    """x in the element type of SciPy's result beside an order: NumPy's integers make a float64, and so do Python numbers of the types `wide`."""
    order = payload_of(order) if payload_of(order) is not None else order
    if isinstance(order, (int, float)) and not hasattr(order, "dtype"):
        double = isinstance(order, wide)
    else:
        double = np.result_type(getattr(order, "dtype", None) or np.asarray(order).dtype, np.float32) == np.float64
    return astype(x, np.float64) if double and isinstance(x, Array) and x.dtype != np.float64 else x


def looped(function, *args):
    """A function of ours with a loop, read as those of users are where it works on traced arrays."""
    return (rewrite(function) if current() is not None else function)(*args)


def known_integer(n, what, name):
    """An order or a count as a Python integer: a derivative by it does not exist."""
    known = payload_of(n)
    if known is None:
        known = n.__index__() if n.dtype.kind == "i" and not n.shape else None
    if known is None or np.ndim(known) or int(known) != known:
        found = "a traced value" if known is None else f"{known}"
        raise errors.Unsupported(
            f"scipy.special.{name} needs {what} as one known integer, found {found}", errors.here()
        )
    return int(known)
