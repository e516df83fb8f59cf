"""One of several objects that are known while tracing, by a traced number: the strings of a state machine, members of an enumeration, functions.

`mode == "flight"` compares numbers. What is done with the object itself (a call, an item of a dict by it, an attribute) is done with each, in branches.
"""

import enum
import types

import numpy as np

from . import errors
from .trace import current

_KINDS = (str, bytes, enum.Enum, type, types.FunctionType, types.BuiltinFunctionType, types.MethodType, np.ufunc, type(np.sum))


def is_option(value):
    """Whether an object may be one of several."""
    return isinstance(value, _KINDS)


def code(option):
    """The number of an object, the same throughout a function."""
    options = current().options
    known = next((k for k, other in enumerate(options) if is_same(option, other)), None)
    if known is None:
        options.append(option)
    return len(options) - 1 if known is None else known


def is_same(a, b):
    return a is b or type(a) is type(b) and isinstance(a, (str, bytes, types.MethodType)) and a == b


def options_of(value):
    return value.options if type(value) is OneOf else (value,)


def union(*values):
    """All that one of several values may be."""
    found = []
    for option in (option for value in values for option in options_of(value)):
        if not any(is_same(option, other) for other in found):
            found.append(option)
    return tuple(found)


def number_of(value):
    return value.number if type(value) is OneOf else code(value)


class OneOf:
    """An object among `options`; its number is that of the trace."""

    __slots__ = ("options", "number")

    def __init__(self, options, number):
        self.options, self.number = tuple(options), number

    def each(self, function):
        """What a function makes of the object: of each, on a branch of its own."""
        from .branches import choose

        first, *rest = self.options
        if not rest:
            return function(first)
        return choose(self.equals(first), lambda: function(first), lambda: OneOf(rest, self.number).each(function), errors.here())

    def equals(self, other):
        """Whether it is another object, or the one that another is."""
        if type(other) is not OneOf and not any(is_same(other, option) for option in self.options):
            return False
        result = np.equal(self.number, number_of(other))
        result._weak = True
        return result

    def agreed(self, function, what):
        """What a function makes of all of the objects alike."""
        found = [function(option) for option in self.options]
        if any(item != found[0] for item in found):
            self.demand()
        if any(item != found[0] for item in found):
            _refuse(f"{what} of an object that is one of several, by a traced condition,")
        return found[0]

    def __eq__(self, other):
        return self.equals(other)

    def __ne__(self, other):
        from .runtime import negate

        return negate(self.equals(other))

    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        self.demand()
        _refuse(f"the attribute .{name} of an object that is one of several, by a traced condition,")

    def __bool__(self):
        return self.agreed(bool, "the truth")

    def demand(self):
        """Which one it is may follow from indices of loops and arguments that can be known."""
        from .array import Array, demand

        if isinstance(self.number, Array):
            demand(self.number)

    def _refused(self, *_, **__):
        self.demand()
        _refuse("this use of an object that is one of several, by a traced condition,")

    __hash__ = __str__ = __repr__ = __format__ = __iter__ = __len__ = __contains__ = __add__ = __radd__ = __lt__ = __gt__ = __le__ = __ge__ = _refused
    __getitem__ = __call__ = __array__ = __index__ = __float__ = __int__ = __mod__ = _refused


def _refuse(what):
    raise errors.Unsupported(f"{what} is not supported; compare it, call it, or look it up", errors.here())
