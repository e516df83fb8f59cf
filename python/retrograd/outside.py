"""What a function reads from outside: names of modules and closures, attributes, items.

Arrays are hidden inputs, read again at each call. Numbers are constants, guarded by their value; all else is guarded by identity, containers
that are handed to functions we do not read by what is in them. A guard that fails has the function traced again. An array whose elements
were needed as Python values is guarded by its bytes.
"""

import types

import numpy as np

from . import bounds, errors
from .array import Array
from .iterators import foreign, is_plain
from .layout import shadow_like, shadow_of
from .trace import DTYPES, current

_MISSING = object()
_NUMBERS = (bool, int, float, complex, str, bytes, type(None), np.generic)


class Place:
    """Where something is read: a name of a dict, a cell, an attribute, an item."""

    __slots__ = ("kind", "owner", "key", "name")

    def __init__(self, kind, owner, key, name):
        self.kind, self.owner, self.key, self.name = kind, owner, key, name

    def identity(self):
        return (self.kind, id(self.owner), self.key)

    def read(self):
        try:
            if self.kind == "item":
                return self.owner[self.key]
            return self.owner.cell_contents if self.kind == "cell" else getattr(self.owner, self.key)
        except (KeyError, IndexError, AttributeError, ValueError, TypeError):
            return _MISSING


class Hidden:
    """An array or a number of outside as an input of the Program."""

    def __init__(self, place, value, outside):
        self.place, self.outside = place, outside
        self.shape, self.dtype = np.shape(value), np.asarray(value).dtype
        self.kind = type(value)

    def read(self):
        """The array now, None where it has another type than when it was traced."""
        value = self.place.read()
        if type(value) is not self.kind:
            return None
        if self.kind is int and not -bounds.ARGUMENT <= value <= bounds.ARGUMENT:
            return None
        array = value if self.kind is np.ndarray else np.asarray(value)
        return array if array.shape == self.shape and array.dtype == self.dtype else None

    # As a source of Python values

    def depth(self):
        return -1

    def loop(self):
        return self.outside.target

    def is_number(self):
        return not self.shape

    def is_beside(self):
        return True

    def demand(self):
        self.outside.fixed.add(self.place.identity())


class Outside:
    """What one function has read from outside while it was traced; `fixed` and `varying` are what was found out before."""

    def __init__(self, fixed=(), varying=()):
        self.fixed, self.varying = set(fixed), set(varying)
        self.guards, self.hidden, self.arrays = {}, {}, {}
        self.target = None  # the outcome of the outermost function

    def array(self, place, elements):
        """The Array for an array of outside; one per array, so that aliases agree."""
        known = self.arrays.get(id(elements))
        if known is not None:
            self._guard(place, elements) if known[2].identity() != place.identity() else None
            return known[1]
        trace = current()
        while trace.around is not None:
            trace = trace.around
        array = Array(elements.shape, elements.dtype)
        array._outer, array._frame = place.name, trace.frames[0]
        array._shadow = shadow_like(elements)
        if place.identity() in self.fixed:
            array._const = elements
            self.guards[place.identity()] = (place, "bytes", (elements.dtype, elements.shape, elements.tobytes()))
        else:
            array._value = self._input(trace, place, elements)
        self.arrays[id(elements)] = (elements, array, place)
        return array

    def number(self, place, value):
        """A number of outside: a constant, or an input where it changes from call to call."""
        identity = place.identity()
        large = type(value) is int and not -bounds.ARGUMENT <= value <= bounds.ARGUMENT
        if large or identity not in self.varying or identity in self.fixed or type(value) not in (int, float, np.float64, np.float32, np.int64):
            self._guard(place, value)
            return value
        known = self.arrays.get(identity)
        if known is None:
            trace = current()
            while trace.around is not None:
                trace = trace.around
            array = Array((), np.asarray(value).dtype, scalar=True, shadow=shadow_of(()))
            array._frame, array._weak = trace.frames[0], type(value) in (int, float)
            array._bounds = (-bounds.ARGUMENT, bounds.ARGUMENT) if type(value) is int else None
            array._value = self._input(trace, place, value)
            known = self.arrays[identity] = (value, array, place)
        return known[1]

    def _input(self, trace, place, value):
        elements = np.asarray(value)
        handle = trace.tracer.input(DTYPES[elements.dtype], list(elements.shape))
        hidden = Hidden(place, value, self)
        self.hidden[handle] = hidden
        if not isinstance(value, float):
            trace.derived[handle] = frozenset([hidden])
        return handle

    def _guard(self, place, value):
        if place.identity() not in self.guards:
            self.guards[place.identity()] = (place, "value" if isinstance(value, _NUMBERS) else "identity", value)

    def read(self, place, value):
        """What the function sees of something that it reads."""
        if isinstance(value, np.ndarray):
            refuse_subclass(value, place.name)
            if value.dtype in DTYPES:
                return self.array(place, value)
            if value.dtype != object and place.identity() not in self.guards:
                # A constant, as long as it has these bytes.
                self.guards[place.identity()] = (place, "bytes", (value.dtype, value.shape, value.tobytes()))
            return value
        if isinstance(value, _NUMBERS):
            return self.number(place, value)
        self._guard(place, value)
        if is_plain(value):
            return foreign(value)
        if hasattr(type(value), "__array__") and not isinstance(value, Array) and not type(value).__module__.startswith("jax"):
            # What has elements of its own may change them; JAX's arrays do not.
            self.contents(value, place.name)
        return value

    def contents(self, container, name):
        """A container that is handed to functions that are not read: all that is in it is guarded."""
        identity = ("contents", id(container), None)
        if identity in self.guards or current() is None:
            return
        self.guards[identity] = (Place("contents", container, None, name), "contents", snapshot(container))

    def current(self):
        """Whether all is as it was when the function was traced."""
        return self.changed() is None

    def changed(self):
        """The first place that is not as it was, or None."""
        for place, kind, expected in self.guards.values():
            if kind == "contents":
                if not same(snapshot(place.owner), expected):
                    return place
                continue
            found = place.read()
            if kind == "identity":
                if found is not expected:
                    return place
            elif kind == "value":
                if found is not expected and not same_number(found, expected):
                    return place
            elif not isinstance(found, np.ndarray) or (found.dtype, found.shape) != expected[:2] or found.tobytes() != expected[2]:
                return place
        return None

    def names(self):
        return [hidden.place.name for hidden in self.hidden.values()]

    def values(self):
        """The hidden inputs now, None where one has changed its type."""
        values = [hidden.read() for hidden in self.hidden.values()]
        return None if any(value is None for value in values) else values

    def fast_guard(self):
        """A function of no arguments that says whether all is as it was, as one expression."""
        scope, terms = {}, []
        for k, (place, kind, expected) in enumerate(self.guards.values()):
            scope[f"o{k}"], scope[f"e{k}"] = place.owner, expected
            read = {"item": f"o{k}[{place.key!r}]", "cell": f"o{k}.cell_contents", "attribute": f"o{k}.{place.key}"}.get(place.kind)
            if kind == "identity" and read and (place.kind != "item" or isinstance(place.key, (str, int))):
                terms.append(f"{read} is e{k}")
            elif kind == "value" and read and type(expected) in (int, str, bool) and (place.kind != "item" or isinstance(place.key, (str, int))):
                scope[f"t{k}"] = type(expected)
                terms.append(f"({read} is e{k} or type({read}) is t{k} and {read} == e{k})")
            elif kind == "value" and read and type(expected) is float and expected == expected and expected != 0 and (place.kind != "item" or isinstance(place.key, (str, int))):
                scope[f"t{k}"] = float
                terms.append(f"({read} is e{k} or type({read}) is t{k} and {read} == e{k})")
            else:
                return self.current
        if not terms:
            return lambda: True
        exec("def guard():\n    try:\n        return " + " and ".join(terms) + "\n    except (KeyError, IndexError, AttributeError, ValueError, TypeError):\n        return False", scope)
        return scope["guard"]


def refuse_subclass(value, name):
    """Arrays of other classes have other operators."""
    if type(value) not in (np.ndarray, np.memmap):
        kind = type(value)
        raise errors.Unsupported(f"`{name}` is a {kind.__module__}.{kind.__qualname__}, a class with operators of its own; use np.asarray({name})", errors.here())


def same_number(found, expected):
    if type(found) is not type(expected):
        return False
    if isinstance(found, float):
        return found.hex() == expected.hex()
    if isinstance(found, np.generic):
        return found.tobytes() == expected.tobytes()
    return found == expected


def snapshot(value, depth=3):
    """What a container holds: numbers by value, arrays by their bytes, containers by what they hold, all else by identity."""
    if isinstance(value, _NUMBERS):
        return value
    if isinstance(value, np.ndarray):
        return (value.dtype, value.shape, value.tobytes() if value.dtype != object else id(value))
    if hasattr(type(value), "__array__") and not isinstance(value, Array):
        try:
            elements = np.asarray(value)
        except Exception:
            return value
        return (type(value), elements.dtype, elements.shape, elements.tobytes() if elements.dtype != object else repr(elements.tolist()))
    if depth and type(value) in (list, tuple):
        return (type(value), *[snapshot(item, depth - 1) for item in value])
    if depth and type(value) is dict:
        return (dict, *[(key, snapshot(item, depth - 1)) for key, item in value.items()])
    if depth and type(value) in (set, frozenset):
        return (set, frozenset(value))
    if depth == 3 and hasattr(value, "__dict__") and not isinstance(value, (type, types.ModuleType, types.FunctionType)):
        return (type(value), *[(key, snapshot(item, depth - 1)) for key, item in vars(value).items()])
    return value


def same(a, b):
    if isinstance(a, tuple) and isinstance(b, tuple):
        return len(a) == len(b) and all(same(x, y) for x, y in zip(a, b))
    return a is b or isinstance(a, (*_NUMBERS, np.dtype, frozenset)) and type(a) is type(b) and (same_number(a, b) if isinstance(a, _NUMBERS) else a == b)
