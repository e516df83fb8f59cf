"""One of several objects that are known while tracing, by a traced number: the strings of a state machine, members of an enumeration, functions,
objects of users' classes.

`mode == "flight"` compares numbers. What is done with the object itself (a call, an item of a dict by it, an attribute) is done with each, in branches.
"""

import enum
import operator
import types

import numpy as np

from . import effects, errors
from .trace import current

_BUILTIN = (bool, int, float, complex, tuple, list, dict, set, frozenset, type(None), np.ndarray, np.generic)
_KINDS = (str, bytes, enum.Enum, type, types.FunctionType, types.BuiltinFunctionType, types.MethodType, np.ufunc, type(np.sum))


def is_option(value):
    """Whether an object may be one of several: a name of something, or an object of a user's class."""
    return isinstance(value, _KINDS) or is_object(value)


def is_object(value):
    """Whether it is an object of a user's class, with attributes of its own."""
    from .calls import _is_users_class

    kind = type(value)
    return not isinstance(value, (*_BUILTIN, *_KINDS)) and not hasattr(kind, "in_place") and _is_users_class(kind)


def outlives(value):
    """Whether an option, or all that something is one of, is there when the present body ends: what the body itself made is another object each time."""
    return all(is_there(option) and effects.owner(getattr(option, "__self__", option)) is not current().frame for option in options_of(value))


def is_there(option):
    """Whether no body made an object that has ended."""
    frame = effects.owner(getattr(option, "__self__", option))
    return frame is None or frame.open


def has_objects(value):
    """Whether a value is one of several objects of users' classes, of which each may have operators of its own."""
    return type(value) is OneOf and not all(isinstance(option, _KINDS) for option in value.options)


def code(option):
    """The number of an object, the same throughout a function."""
    options = current().options
    known = next((k for k, other in enumerate(options) if is_same(option, other)), None)
    if known is None:
        options.append(option)
    return len(options) - 1 if known is None else known


def is_same(a, b):
    if a is b or type(a) is not type(b):
        return a is b
    if type(a) is types.FunctionType:
        # A `def` or a `lambda` makes another function each time, which does the same where it has the same cells.
        plain = not (a.__defaults__ or a.__kwdefaults__ or a.__dict__ or b.__dict__)
        return plain and a.__code__ is b.__code__ and all(map(operator.is_, a.__closure__ or (), b.__closure__ or ()))
    return isinstance(a, (str, bytes, types.MethodType)) and a == b


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
