"""Calls of traced code: functions of the user are rewritten too, objects of their classes are made here, arrays that NumPy makes become traced arrays."""

import collections
import contextlib
import copy
import dataclasses
import functools
import inspect
import itertools
import math
import os
import sys
import sysconfig
import types
import warnings

import numpy as np

from . import array, builtin, draws, effects, errors, functions, lists, scipy, table, texts
from .array import Array
from .control import is_traced
from .effects import made
from .iterators import adopted, moves
from .loose import array_of as array_of_loose
from .maybe import present
from .oneof import OneOf, has_objects
from .outside import Place
from .ranges import Once
from .rewrite import is_rewritten, rewrite
from .trace import current

_MUTATORS = {
    "append", "extend", "insert", "pop", "remove", "clear", "sort", "reverse", "update", "setdefault", "popitem", "add", "discard", "appendleft",
    "extendleft", "popleft", "rotate", "__setitem__", "__delitem__", "difference_update", "intersection_update", "symmetric_difference_update",
}
_CONTAINERS = (list, dict, set, bytearray, collections.deque)
_LIBRARIES = tuple({sysconfig.get_paths()[name] + os.sep for name in ("stdlib", "platstdlib", "purelib", "platlib")})
_PLAIN = {Array, int, float, bool, np.ndarray, str, list, tuple, np.float64}
SPECIAL = {}  # functions that are others in traced code: `runtime` fills it


# What lives outside


def _outside(place, value):
    return current().outside.read(place, value)


def _seen(value):
    """A container from outside whose contents matter to code that is not read; one that grows in a loop is not known as a whole."""
    lists.settled(value)
    if isinstance(value, (*_CONTAINERS, frozenset)) and effects.owner(value) is None and current() is not None:
        current().outside.contents(value, f"a {type(value).__name__}")


# Calls


# Functions that are a method of their argument.
_METHODS = {len: "__len__", abs: "__abs__", float: "__float__", int: "__int__", bool: "__bool__"}


def _own_method(value, name):
    """The special method of an object of a user's class, None where that has none."""
    method = getattr(type(value), name, None)
    return method if isinstance(method, types.FunctionType) and _is_users(method) and _is_users_class(type(value)) else None


_DISPATCHED = type(np.sum)
_OF_NUMBERS = {sum, min, max, any, all, np.array}  # functions of sequences that are asked for a list whose length is traced, too


def call(function, *args, **kwargs):
    """A call: functions of the user are rewritten too, arrays that NumPy makes become traced arrays."""
    kind = type(function)
    if kind is OneOf:
        return function.each(lambda option: call(option, *args, **kwargs))
    if len(args) == 1 and (kind is types.BuiltinFunctionType or kind is type) and function in _METHODS:
        if has_objects(args[0]):
            return args[0].each(lambda option: call(function, option))
        method = _own_method(args[0], _METHODS[function])
        if method is not None:
            return call(method, args[0])
    if args and (kind is types.BuiltinFunctionType or kind is type):
        args = _gone_through(function, args)
    if kind in (types.BuiltinFunctionType, types.FunctionType, type, np.ufunc) or kind.__module__ == "numpy":
        try:
            special = SPECIAL.get(function)
        except TypeError:
            special = None
        if special is not None:
            if current().growing and (kind is not types.BuiltinFunctionType and kind is not type or function in _OF_NUMBERS):
                args = tuple(map(array_of_loose, args))
            result = special(*map(present, args), **kwargs)
            return made(result) if isinstance(result, (list, Once)) else adopted(result)
    if kind is types.BuiltinFunctionType and type(function.__self__) is str and function.__name__ == "format":
        return texts.formatted(function.__self__, args, kwargs)
    if kind is types.BuiltinFunctionType and type(function.__self__) is list:
        grows = lists.growing(function.__self__)
        if grows is not None:
            return grows.method(function.__name__, args)
    if scipy.is_scipy(function):
        return scipy.call(function, args, kwargs)
    if current().growing and (kind is np.ufunc or kind is _DISPATCHED or (getattr(function, "__module__", None) or "").startswith("numpy")):
        args, kwargs = tuple(map(array_of_loose, args)), {key: array_of_loose(value) for key, value in kwargs.items()}
    if kind is np.ufunc and any(isinstance(arg, (list, tuple)) and functions.has_arrays(arg) for arg in args):
        args = [functions.array_of(arg) if isinstance(arg, (list, tuple)) else arg for arg in args]
    if kind is _DISPATCHED and any(isinstance(arg, (list, tuple)) and functions.has_arrays(arg) for arg in (*args, *kwargs.values())):
        # NumPy asks arrays what to do, not the lists that they are in.
        return functions.function(function, args, kwargs)
    if kind is types.FunctionType:
        if not _is_users(function):
            chosen = _dispatched(function, args)
            return _library(function, args, kwargs) if chosen is None else call(chosen, *args, **kwargs)
        result = _entered(function, rewrite(function) or _unread(function), args, kwargs)
        # A generator was made just now, and moves on in this body.
        return adopted(result) if function.__code__.co_flags & inspect.CO_GENERATOR else result
    if kind is types.MethodType and isinstance(function.__self__, draws.GENERATORS):
        return draws.draw(function.__self__, function.__name__, args, kwargs)
    if kind is types.MethodType and isinstance(function.__func__, types.FunctionType):
        return call(function.__func__, function.__self__, *args, **kwargs)
    if kind is np.vectorize:
        return table.calculus.vectorized(function, args, kwargs)
    if kind is functools.partial:
        if effects.owner(function) is not None:
            return call(function.func, *function.args, *args, **{**function.keywords, **kwargs})
        # What a partial from outside holds is outside, too.
        fixed = [_outside(Place("item", function.args, k, f"argument {k} of a partial"), value) for k, value in enumerate(function.args)]
        named = {key: _outside(Place("item", function.keywords, key, key), value) for key, value in function.keywords.items() if key not in kwargs}
        return call(function.func, *fixed, *args, **named, **kwargs)
    if isinstance(function, functools._lru_cache_wrapper):
        return call(function.__wrapped__, *args, **kwargs)
    if isinstance(function, type):
        return _construct(function, args, kwargs)
    method = getattr(kind, "__call__", None)
    if isinstance(method, types.FunctionType) and _is_users(method):
        return call(method, function, *args, **kwargs)
    return _library(function, args, kwargs)


# Calls of a function inside of itself, under traced conditions, from which on these have to be known.
_RECURSION = 24


def _entered(function, read, args, kwargs):
    """A call of a user's function. Recursion ends by a condition, and where that is traced both of its sides are: it has to be known."""
    entered, code = current().entered, function.__code__
    depth = entered[code] = entered.get(code, 0) + 1
    try:
        if depth > _RECURSION:
            _end_recursion(function)
        return read(*args, **kwargs)
    finally:
        entered[code] = depth - 1


def _end_recursion(function):
    trace = current()
    conditions = [frame for frame in trace.frames if frame.predicate is not None]
    for frame in conditions:
        sources = trace.derived.get(frame.predicate)
        if sources:
            trace.unwind(frame)
            array.demand_all(sources)
    if len(conditions) > _RECURSION:
        pos = conditions[0].pos
        raise errors.Unsupported(f"{function.__name__}() calls itself until a condition holds that is known only when it runs; write it as a `while` loop", pos)


def _dispatched(function, args):
    """What `functools.singledispatch` chooses, by the class that the argument has untraced; None where it is none."""
    if not args or function.__code__.co_filename != functools.__file__:
        return None
    if hasattr(function, "registry") and hasattr(function, "dispatch"):
        return function.dispatch(builtin.type_of(args[0]))
    cells = dict(zip(function.__code__.co_freevars, function.__closure__ or ()))
    if hasattr(function, "register") and {"self", "obj", "cls"} <= set(cells):
        found = cells["self"].cell_contents.dispatcher.dispatch(builtin.type_of(args[0]))
        return found.__get__(cells["obj"].cell_contents, cells["cls"].cell_contents)
    return None


def _construct(kind, args, kwargs):
    """An object of a class; that of a user's class is made here, and its `__init__` is read."""
    if issubclass(kind, np.generic) and len(args) == 1 and not kwargs and isinstance(args[0], Array):
        # `np.float32(x)` converts whole arrays.
        return args[0].astype(np.dtype(kind))
    if kind.__new__ is object.__new__ and type(kind) is type and _is_users_class(kind) and not inspect.isabstract(kind):
        value = made(object.__new__(kind))
        initialise = kind.__init__
        if isinstance(initialise, types.FunctionType):
            if _is_users(initialise) and not dataclasses.is_dataclass(kind):
                call(initialise, value, *args, **kwargs)
            elif "__init__" in vars(kind) and dataclasses.is_dataclass(kind):
                _initialise_fields(kind, value, args, kwargs)
            else:
                initialise(value, *args, **kwargs)
        elif args or kwargs:
            raise TypeError(f"{kind.__name__}() takes no arguments")
        return value
    return _library(kind, args, kwargs)


def _initialise_fields(kind, value, args, kwargs):
    """The `__init__` that `dataclasses` made: what its factories make belongs to the body, and `__post_init__` is read."""
    if isinstance(kind.__init__, types.FunctionType) and _is_users(kind.__init__) and kind.__init__.__code__.co_filename != "<string>":
        call(kind.__init__, value, *args, **kwargs)
        return
    later = getattr(kind, "__post_init__", None)
    given, waits = [], isinstance(later, types.FunctionType) and hasattr(value, "__dict__")
    if waits:
        object.__setattr__(value, "__post_init__", lambda *rest: given.append(rest))
    kind.__init__(value, *args, **kwargs)
    passed = {id(item) for item in (*args, *kwargs.values())}
    for field in dataclasses.fields(kind):
        if field.default_factory is not dataclasses.MISSING and id(getattr(value, field.name, None)) not in passed:
            _made_inside(getattr(value, field.name, None))
    if waits:
        object.__delattr__(value, "__post_init__")
        call(later, value, *(given[0] if given else ()))


def _made_inside(value):
    """A container that was just made, with those in it, belongs to the body."""
    if isinstance(value, _CONTAINERS):
        made(value)
        for item in value.values() if isinstance(value, dict) else value:
            _made_inside(item)


def _made_deep(value):
    """What a deep copy made, with all that is in it."""
    if isinstance(value, (*_CONTAINERS, tuple)):
        for item in value.values() if isinstance(value, dict) else value:
            _made_deep(item)
    elif hasattr(value, "__dict__") and _is_users_class(type(value)) and not isinstance(value, (type, types.FunctionType, types.ModuleType)):
        for item in vars(value).values():
            _made_deep(item)
    return value if isinstance(value, _IMMUTABLE) or effects.owner(value) is not None else made(value)


def _unread(function):
    """A function without source is traced as it runs; what it changes of Python is not seen, so that what it can reach must not change."""
    for cell in function.__closure__ or ():
        with contextlib.suppress(ValueError):
            _seen(cell.cell_contents)
    for name in _names_in(function.__code__):
        if name in function.__globals__:
            value = function.__globals__[name]
            if isinstance(value, (bool, int, float, str, *_CONTAINERS)):
                _seen(value)
                current().outside.read(Place("item", function.__globals__, name, name), value) if not isinstance(value, _CONTAINERS) else None
    current().unread[function.__code__] = function
    return function


def _names_in(code):
    return [*code.co_names, *(name for item in code.co_consts if isinstance(item, types.CodeType) for name in _names_in(item))]


def _library(function, args, kwargs):
    """A function that is not read."""
    chosen = next((k for k, value in enumerate(args) if has_objects(value)), None)
    if chosen is not None and not isinstance(getattr(function, "__self__", None), _CONTAINERS):
        return args[chosen].each(lambda option: call(function, *args[:chosen], option, *args[chosen + 1 :], **kwargs))
    if not isinstance(getattr(function, "__self__", None), _CONTAINERS) and getattr(function, "__module__", None) != f"{__package__}.runtime":
        args = tuple(map(present, args))
    owner = getattr(function, "__self__", None)
    if isinstance(owner, draws.GENERATORS):
        return draws.draw(owner, function.__name__, args, kwargs)
    _guard_call(function, args, kwargs)
    if type(owner) is np.ndarray and functions.has_arrays((args, kwargs)):
        # NumPy's methods, other than its functions, do not ask their arguments what to do.
        return getattr(array.local(owner), function.__name__)(*args, **kwargs)
    if owner is not None and not isinstance(owner, types.ModuleType):
        _seen(owner)
    for value in (*args, *kwargs.values()):
        _seen(value)
    if (getattr(function, "__module__", None) or "").startswith("numpy") and _hashable(function) and function not in _OF_SEQUENCES:
        args = [functions.array_of(value) if _is_sequence_of_numbers(value) else value for value in args]
    if _hashable(function) and function in _HIGHER:
        args = [_read(value) for value in args]
        kwargs = {key: _read(value) for key, value in kwargs.items()}
    if type(function) is type and issubclass(function, (list, tuple, dict, set)) and args and isinstance(args[0], Array):
        pass
    result = function(*args, **kwargs)
    if isinstance(result, np.ndarray):
        return array.local(result)
    if function is copy.deepcopy:
        return _made_deep(result)
    result = adopted(result)
    if not isinstance(result, _IMMUTABLE):
        # Nobody else refers to what was just made: `result`, and the argument of `getrefcount`.
        if sys.getrefcount(result) <= 2 or isinstance(function, type):
            made(result)
            if isinstance(result, (list, dict)):
                for item in result.values() if isinstance(result, dict) else result:
                    if isinstance(item, _CONTAINERS) and sys.getrefcount(item) <= 3:
                        made(item)
    return result


# Functions of NumPy that look at each array of a sequence.
_OF_SEQUENCES = {
    np.concatenate, np.stack, np.vstack, np.hstack, np.dstack, np.column_stack, np.block, np.select, np.choose, np.lexsort, np.einsum, np.linalg.multi_dot, np.piecewise,
    getattr(np, "row_stack", np.vstack),
}


def _is_sequence_of_numbers(value):
    """Whether NumPy would make an array of a list of traced numbers; tuples of integers are shapes and axes."""
    if not isinstance(value, (list, tuple)):
        return False
    return any(isinstance(item, Array) and (item.shape or item.dtype.kind == "f") or isinstance(item, (list, tuple)) and _is_sequence_of_numbers(item) for item in value)


def _hashable(function):
    return getattr(type(function), "__hash__", None) is not None


_IMMUTABLE = (Array, bool, int, float, complex, str, bytes, tuple, type(None), np.generic, type, types.FunctionType, types.ModuleType, np.dtype)
_HIGHER = {map, filter, functools.reduce, itertools.accumulate, itertools.starmap, sorted, min, max, np.vectorize, np.apply_along_axis}


def _read(value):
    """An argument that a library calls is read, too."""
    if isinstance(value, types.FunctionType) and _is_users(value):
        return rewrite(value) or value
    if isinstance(value, types.MethodType) and _is_users(value.__func__):
        return types.MethodType(rewrite(value.__func__) or value.__func__, value.__self__)
    if isinstance(value, functools.partial):
        return functools.partial(_read(value.func), *value.args, **value.keywords)
    if isinstance(value, (types.BuiltinFunctionType, type)) and _hashable(value) and value in SPECIAL:
        return functools.partial(call, value)
    return value


@functools.cache
def _is_library(file):
    return not file or file.startswith(_LIBRARIES) or errors.is_ours(file) or file.startswith("<frozen")


def _is_users(function):
    return is_rewritten(function) or not _is_library(function.__code__.co_filename) or errors.is_ours(function.__code__.co_filename) and function.__name__ in _OURS


_OURS = ("_added", "_filled", "_assigned")


def _is_users_class(kind):
    module = sys.modules.get(kind.__module__)
    return kind.__module__ != "builtins" and not _is_library(getattr(module, "__file__", None) or ("x" if module is None or kind.__module__ == "__main__" else ""))


def _is_library_object(owner):
    kind = owner if isinstance(owner, type) else type(owner)
    return not _is_users_class(kind) and kind is not types.SimpleNamespace


def _guard_call(function, args, kwargs):
    owner = getattr(function, "__self__", None)
    name = getattr(function, "__name__", "")
    if isinstance(owner, _CONTAINERS) and name in _MUTATORS:
        effects.change(owner, "")
    if isinstance(owner, np.ndarray) and name in ("fill", "sort", "put", "partition", "resize", "itemset"):
        raise errors.Unsupported(f".{name}() of a NumPy array that is not local to the function", errors.here())
    module = getattr(function, "__module__", None) or ""
    if module.startswith("numpy.random") and not inspect.isclass(function) and name != "default_rng":
        raise errors.Unsupported(f"random numbers ({name}) inside a traced function would be drawn once; pass them as an argument, or use np.random.default_rng(seed) in it", errors.here())
    if _hashable(function) and function in draws.SEEDED:
        draws.check_seed(function, args, kwargs)


def _next(steps, *default):
    """`next(steps)`, with `__next__` of the user's classes read too."""
    moves(steps)
    if not _steps_of(steps):
        return next(steps, *default)
    try:
        return call(type(steps).__next__, steps)
    except StopIteration:
        if default:
            return default[0]
        raise


def iterated(items):
    """What a comprehension or an unrolled loop goes through."""
    method = getattr(type(items), "__iter__", None)
    if isinstance(method, types.FunctionType) and _is_users(method):
        items = call(method, items)
    elif method is None and _own_method(items, "__getitem__") is not None:
        items = adopted(_by_index(items))
    if hasattr(type(items), "__next__"):
        moves(items)
    _seen(items)
    return Stepping(items) if _steps_of(items) else items


def _by_index(value):
    """The steps over what has no iterator: its items until there is none."""
    for k in itertools.count():
        try:
            item = call(type(value).__getitem__, value, k)
        except IndexError:
            return
        yield item


def _has_own_steps(value):
    if type(value) in _PLAIN:
        return False
    found = _own_method(value, "__iter__") is not None or not hasattr(type(value), "__iter__") and _own_method(value, "__getitem__") is not None
    return found and not hasattr(type(value), "_fields")


def own_steps(value):
    """The steps over an object of a user's class, which are read, for what is not read; any other value as it is."""
    return iterated(value) if _has_own_steps(value) else value


# What goes through an argument: all of them but the first so many.
_THROUGH = {
    **dict.fromkeys((list, tuple, set, frozenset, dict, sum, zip, enumerate, any, all, sorted, collections.deque, math.prod, math.fsum, np.fromiter), 0),
    **dict.fromkeys((map, filter, functools.reduce), 1),
    **{kind: 0 for kind in vars(itertools).values() if isinstance(kind, type)}, itertools.tee: 0, itertools.starmap: 1, itertools.takewhile: 1, itertools.dropwhile: 1, itertools.filterfalse: 1,
}
_THROUGH_METHODS = {
    "extend", "extendleft", "join", "update", "union", "intersection", "difference", "symmetric_difference", "issubset", "issuperset", "isdisjoint", "difference_update",
    "intersection_update", "symmetric_difference_update", "fromkeys",
}


def _gone_through(function, args):
    """The arguments of a function that is not read; of those that it goes through, the steps."""
    if not any(map(_has_own_steps, args)):
        return args
    if function in (min, max):
        return tuple(map(own_steps, args)) if len(args) == 1 else args
    first = _THROUGH.get(function) if _hashable(function) else None
    if isinstance(getattr(function, "__self__", None), (*_CONTAINERS, frozenset, str)) and function.__name__ in _THROUGH_METHODS:
        first = 0
    keyed = lambda value: function is dict and hasattr(type(value), "keys")
    return args if first is None else (*args[:first], *(value if keyed(value) else own_steps(value) for value in args[first:]))


def _iter(items, *sentinel):
    """`iter(items)`, with `__iter__` of the user's classes read too."""
    method = getattr(type(items), "__iter__", None)
    if sentinel or not (isinstance(method, types.FunctionType) and _is_users(method)):
        _seen(items)
        return iter(items, *sentinel)
    return call(method, items)


def _steps_of(steps):
    method = getattr(type(steps), "__next__", None)
    return isinstance(method, types.FunctionType) and _is_users(method)


class Stepping:
    """The iteration over an object of a user's class, whose steps are read."""

    def __init__(self, steps):
        self.steps = steps

    def __iter__(self):
        return self

    def __next__(self):
        return call(type(self.steps).__next__, self.steps)


def _errstate(**kwargs):
    if any(value in ("raise", "call", "print", "log") for value in kwargs.values()):
        raise errors.Unsupported("np.errstate with 'raise' or 'call' in a traced function is not supported; use rg.debug_nan", errors.here())
    return np.errstate(**kwargs)


def _warn(*args, **kwargs):
    if current().in_body():
        raise errors.Unsupported("a warning in a loop or under a traced condition is not supported", errors.here())
    return warnings.warn(*args, **kwargs)


def _arange(*args, **kwargs):
    if any(is_traced(value) for value in args):
        args = [value.__index__() if is_traced(value) else value for value in args]
    return array.local(np.arange(*[value.payload() if isinstance(value, Array) else value for value in args], **kwargs))


def _scalar_of(kind):
    """`np.float64(x)` and its like: one of NumPy's numbers."""

    def rule(*args, **kwargs):
        value = args[0] if args else None
        if isinstance(value, (list, tuple)) and functions.has_arrays(value):
            value = functions.array_of(value)
        if len(args) != 1 or kwargs or not isinstance(value, Array) or not is_traced(value):
            return kind(*args, **kwargs) if not args or not isinstance(value, Array) else array.local(kind(value.payload()))
        result = value.astype(kind)
        result = np.positive(result) if result is value and result.dtype.kind != "b" else result
        result._weak = False
        return result

    return rule
