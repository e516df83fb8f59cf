"""Methods and attributes of arrays that are NumPy functions, and `.flat`."""

import numpy as np

from .. import effects, views
from ..array import Array, traced
from ..iterators import moves
from ..ranges import Once, Rows
from ..trace import current
from .picking import _target

_METHODS = (
    "prod", "max", "min", "any", "all", "argmax", "argmin", "var", "std", "cumsum", "cumprod", "argsort", "take", "clip", "round", "repeat", "put",
    "nonzero", "searchsorted", "compress", "diagonal", "argpartition",
)


def _method(name):
    function = getattr(np, name)
    if name in ("compress", "choose"):
        return lambda a, condition, *args, **kwargs: function(condition, a, *args, **kwargs)
    return lambda a, *args, **kwargs: function(a, *args, **kwargs)


def _sorted_in_place(array, axis=-1, kind=None, order=None, *, stable=None):
    """`x.sort()`."""
    _target(array, "ndarray.sort")[...] = np.sort(array, axis=axis, kind=kind, order=order, stable=stable)


def _partitioned_in_place(array, kth, axis=-1, kind="introselect", order=None):
    """`x.partition(k)`."""
    _target(array, "ndarray.partition")[...] = np.partition(array, kth, axis=axis)


class Flat(Once):
    """`x.flat`: the elements in row-major order, read and assigned through to the array; an iterator over them."""

    in_place = True  # assignments act on the array behind it
    count = None

    def __init__(self, array):
        self.array = array
        effects.made(self)

    def known(self):
        return self.array.size

    def at(self, k):
        return self._line()[k]

    def item(self, index, first):
        return Rows(self._line()).item(index, first)

    def _line(self):
        array = self.array
        return traced(views.reshape(current(), array.handle(), (array.size,)), scalar=False)

    def __getitem__(self, index):
        self._starts_anew()
        line = self._line()[index]
        return line if not isinstance(line, Array) or line._scalar else np.copy(line)

    def __setitem__(self, index, value):
        from .. import indexing

        self._starts_anew()
        _target(self.array, "ndarray.flat")
        line = self._line()
        if isinstance(index, slice) and np.size(value) and np.ndim(value):
            # What is assigned is repeated as it is needed.
            count = len(range(*index.indices(self.array.size)))
            value = np.resize(value, count)
        indexing.store(line, index, value)
        self.array.set(views.reshape(current(), line.handle(), self.array.shape))

    def _starts_anew(self):
        """NumPy's iterator is at its start again after an index."""
        if self.loop is not None or self.place != 0:
            moves(self)
            self.loop, self.place = None, 0

    def __len__(self):
        return self.array.size

    def __array__(self, dtype=None, copy=None):
        return np.asarray(self._line(), dtype=dtype)

    def copy(self):
        return np.copy(self._line())

    def __array_function__(self, function, _types, args, kwargs):
        line = lambda value: value._line() if isinstance(value, Flat) else value
        return function(*[line(value) for value in args], **{key: line(value) for key, value in kwargs.items()})

    def __array_ufunc__(self, function, method, *inputs, **kwargs):
        return getattr(function, method)(*[value._line() if isinstance(value, Flat) else value for value in inputs], **kwargs)


def _enter():
    for name in _METHODS:
        setattr(Array, name, _method(name))
    Array.sort, Array.partition = _sorted_in_place, _partitioned_in_place
    Array.flat = property(Flat)
    Array.imag = property(lambda a: np.imag(a))
    Array.choose = lambda a, choices, out=None, mode="raise": np.choose(a, choices, out=out, mode=mode)
    Array.nbytes = property(lambda a: a.size * a.dtype.itemsize)
    Array.itemsize = property(lambda a: a.dtype.itemsize)


_enter()
