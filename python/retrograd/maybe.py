"""What is None on one way and a value on another, by a traced condition.

`x is None` asks the flag. Whatever else is done with it needs the value: where there is none, that is Python's TypeError, when the function runs.
"""

import operator

import numpy as np

from . import errors


class Maybe:
    """A value, and whether there is one; where there is none, the value is anything."""

    __slots__ = ("flag", "value")
    __array_priority__ = 2000
    in_place = True  # what is assigned to its elements goes through `__setitem__`

    def __init__(self, flag, value):
        self.flag, self.value = flag, value

    def present(self):
        """The value, where it must be one."""
        from .array import lift
        from .trace import current

        current().tracer.check(lift(self.flag), "this is None, where a value is needed", errors.tag_of(TypeError), errors.here())
        return self.value

    def truth(self):
        """Whether there is a value, and it is true."""
        from .builtin import _bool

        if isinstance(self.value, (tuple, list, dict)):
            return self.flag if len(self.value) else False
        return np.logical_and(self.flag, _bool(self.value))

    def __bool__(self):
        return bool(self.truth())

    def __repr__(self):
        return f"<{self.value!r} or None>"

    def __array_ufunc__(self, ufunc, method, *inputs, **kwargs):
        return getattr(ufunc, method)(*map(present, inputs), **present_in(kwargs))

    def __array_function__(self, function, _types, args, kwargs):
        return function(*map(present_in, args), **present_in(kwargs))

    def __setitem__(self, index, value):
        from . import runtime

        runtime.store(self.present(), index, present(value))

    def __hash__(self):
        from .array import demand

        demand(self.flag)
        raise errors.Unsupported("what may be None, by a traced condition, as a key of a dict or a set is not supported", errors.here())


def _operators():
    binary = ("add", "sub", "mul", "truediv", "floordiv", "mod", "pow", "matmul", "and", "or", "xor", "lshift", "rshift")
    for name in binary:
        of = getattr(operator, f"{name}_" if name in ("and", "or") else name)
        setattr(Maybe, f"__{name}__", lambda a, b, of=of: of(a.present(), present(b)))
        setattr(Maybe, f"__r{name}__", lambda a, b, of=of: of(b, a.present()))
        setattr(Maybe, f"__i{name}__", lambda a, b, of=of, inplace=getattr(operator, f"i{name}"): _changed(a, inplace, of, present(b)))
    for name in ("lt", "le", "gt", "ge"):
        of = getattr(operator, name)
        setattr(Maybe, f"__{name}__", lambda a, b, of=of: of(a.present(), present(b)))
    for name in ("neg", "pos", "abs", "invert", "index"):
        setattr(Maybe, f"__{name}__", lambda a, of=getattr(operator, name): of(a.present()))
    for name, of in (("len", len), ("iter", iter), ("float", float), ("int", int)):
        setattr(Maybe, f"__{name}__", lambda a, of=of: of(a.present()))
    Maybe.__getitem__ = lambda a, index: a.present()[index]
    Maybe.__call__ = lambda a, *args, **kwargs: a.present()(*args, **kwargs)
    Maybe.__eq__ = lambda a, b: np.logical_and(a.flag, a.value == present(b))
    Maybe.__ne__ = lambda a, b: np.logical_not(a == b)


_operators()


def _changed(maybe, inplace, of, other):
    """`maybe += other`: an array changes for all of its names, a number is another."""
    value = maybe.present()
    if not np.ndim(value):
        return of(value, other)
    inplace(value, other)
    return maybe


def present(value):
    """A value that is used."""
    return value.present() if type(value) is Maybe else value


def present_in(value):
    """The same for what is nested in tuples, lists and dicts, as arguments are."""
    if type(value) in (tuple, list):
        return type(value)(map(present_in, value))
    return {key: present_in(item) for key, item in value.items()} if type(value) is dict else present(value)


def like(pattern, value):
    """A value as one that may be None, where the pattern is such."""
    if type(pattern) is not Maybe or type(value) is Maybe:
        return value
    return Maybe(False, pattern.value) if value is None else Maybe(True, value)
