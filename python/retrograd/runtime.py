"""What rewritten functions call: loops, branches, stores, loads, operators and calls."""

import builtins
import collections
import contextlib
import dataclasses
import functools
import inspect
import itertools
import operator
import os
import sys
import sysconfig
import types
import warnings

import numpy as np

from . import array, branches, builtin, control, draws, effects, errors, functions, indexing, lists, loops, scipy, table, texts, tree, whiles
from .array import Array
from .attempts import attempt, attempted, handles, is_needed, tried  # noqa: F401, called by rewritten code
from .texts import joined  # noqa: F401, called by rewritten code
from .effects import made
from .control import UNSET, is_traced
from .loose import array_of as array_of_loose, loose
from .maybe import Maybe, present
from .oneof import OneOf
from .outside import Place, refuse_subclass
from .ranges import steps_of
from .rewrite import is_rewritten, rewrite
from .trace import DTYPES, Frame, Retry, current  # noqa: F401, Retry is caught by rewritten code

slice = builtins.slice

_MUTATORS = {
    "append", "extend", "insert", "pop", "remove", "clear", "sort", "reverse", "update", "setdefault", "popitem", "add", "discard", "appendleft",
    "extendleft", "popleft", "rotate", "__setitem__", "__delitem__", "difference_update", "intersection_update", "symmetric_difference_update",
}
_CONTAINERS = (list, dict, set, bytearray, collections.deque)
_LIBRARIES = tuple({sysconfig.get_paths()[name] + os.sep for name in ("stdlib", "platstdlib", "purelib", "platlib")})
_INPLACE = (
    operator.iadd, operator.isub, operator.imul, operator.itruediv, operator.ifloordiv, operator.imod, operator.ipow, operator.imatmul,
    operator.iand, operator.ior, operator.ixor, operator.ilshift, operator.irshift,
)
_BINARY = (
    operator.add, operator.sub, operator.mul, operator.truediv, operator.floordiv, operator.mod, operator.pow, operator.matmul,
    operator.and_, operator.or_, operator.xor, operator.lshift, operator.rshift,
)
_NAMES = ("add", "sub", "mul", "truediv", "floordiv", "mod", "pow", "matmul", "and", "or", "xor", "lshift", "rshift")
_PLAIN = {Array, int, float, bool, np.ndarray, str, list, tuple, np.float64, np.float32, np.int64, np.int32, np.bool_}


# Control flow


def loop(steps, names, exposed, live, rebound, appended, stops, where, scope):
    """The `for` statement."""
    counted = steps_of(steps)
    if counted is not None:
        return loops.Loop(counted, (names, exposed, live, rebound, appended), stops, where, scope)
    if hasattr(type(steps), "__next__"):
        _iterator(steps)
    return loops.Steps(iterated(steps), stops)


def conditional(counted, names, exposed, live, rebound, appended, stops, where, scope):
    """The `while` statement."""
    return whiles.While(counted, (names, exposed, live, rebound, appended), stops, where, scope)


def branch(condition, names, exposed, live, rebound, appended, stops, where, scope):
    """The `if` statement."""
    condition = _truth(condition)
    _seen(condition)
    return branches.Branch(condition, (names, exposed, live, rebound, appended), stops, where, scope)


def both(first, second):
    """`first and second()` in a condition; where the first is traced, the second runs only if it holds."""
    first = _truth(first)
    if not is_traced(first):
        return second() if bool(first) else first
    return branches.choose(first, lambda: builtin._bool(second()), lambda: False, errors.here())


def either(first, second):
    """`first or second()` in a condition."""
    first = _truth(first)
    if not is_traced(first):
        return first if bool(first) else second()
    return branches.choose(first, lambda: True, lambda: builtin._bool(second()), errors.here())


def conjunction(first, second):
    """`first and second()` as a value."""
    lists.settled(first)
    if not is_traced(first):
        return second() if bool(first) else first
    return branches.choose(first, second, lambda: first, errors.here())


def disjunction(first, second):
    """`first or second()` as a value."""
    lists.settled(first)
    if not is_traced(first):
        return first if bool(first) else second()
    return branches.choose(first, lambda: first, second, errors.here())


def choose(condition, first, second):
    """`first() if condition else second()`."""
    condition = _truth(condition)
    _seen(condition)
    if not is_traced(condition):
        return first() if bool(condition) else second()
    return branches.choose(condition, first, second, errors.here())


def identical(a, b):
    """`a is b`."""
    if type(a) is OneOf or type(b) is OneOf:
        return a.equals(b) if type(a) is OneOf else b.equals(a)
    if a is not b and isinstance(a, Array) and isinstance(b, Array) and not a._scalar and control.reached([a]).keys() & control.reached([b]).keys():
        raise errors.Unsupported("whether two arrays are one object, where they share memory or may share it, is not supported; compare their elements", errors.here())
    return a is b


def is_none(value):
    """`value is None`."""
    return negate(value.flag) if type(value) is Maybe else value is None


def _truth(condition):
    """A condition; of what may be None, whether it is a value that is true."""
    if type(condition) is OneOf:
        return condition.each(bool)
    known = loose(condition)
    if known is not None:
        return known.truth()
    lists.settled(condition)
    return condition.truth() if type(condition) is Maybe else condition


def negate(condition):
    """`not condition`."""
    condition = _truth(condition)
    if not is_traced(condition):
        return not condition
    result = np.logical_not(control.truth(condition, errors.here()))
    result._weak = True
    return result


def contains(item, container):
    """`item in container`."""
    if type(item) is OneOf:
        return item.each(lambda option: contains(option, container))
    if isinstance(container, (list, tuple)) and (is_traced(item) or any(is_traced(value) for value in container)):
        found = [True if value is item else item == value for value in iterated(container)]
        return builtin._any(found)
    _seen(container)
    return item in container


def lacks(item, container):
    """`item not in container`."""
    return negate(contains(item, container))


def true(condition):
    """The truth of a condition."""
    lists.settled(condition)
    return builtin._bool(condition)


def unpacked(value):
    """What is taken apart: `a, b = value`, `f(*value)`."""
    return lists.settled(value)


def equal(a, b):
    """`a == b`."""
    return lists.settled(a) == lists.settled(b)


def unequal(a, b):
    """`a != b`."""
    return lists.settled(a) != lists.settled(b)


def test(condition):
    """A condition where nothing can be traced on both ways."""
    lists.settled(condition)
    if is_traced(condition):
        array.demand(condition)
        raise errors.Unsupported("a traced condition here (of a comprehension, or around `:=`) is not supported; use an `if` statement", errors.here())
    return condition


def returned(value, flag):
    """What a function returns: `flag` says whether it does."""
    if is_traced(flag):
        return Maybe(flag, value)
    return None if value is UNSET else value


def matched(subject):
    """The subject of a `match` with patterns of classes that are not read as conditions."""
    parts = tree.flatten(subject)[0] if isinstance(subject, (list, tuple, dict)) else [subject]
    if any(isinstance(part, Array) for part in parts):
        raise errors.Unsupported("a `match` of a traced value with patterns of classes inside of others; use isinstance", errors.here())
    return subject


# Errors


def bound(flag, name, read):
    """A name that may have no value; `flag` says whether it has one."""
    if is_traced(flag):
        _check(control.truth(flag, errors.here()), f"cannot access local variable '{name}' where it is not associated with a value", UnboundLocalError)
    return read()


def raised(make):
    """`raise make()`: under a traced condition a check at run time, else Python's own."""
    trace = current()
    if trace is None or not any(frame.kind in ("if", "while") or frame.kind == "for" and frame.loop.known is None for frame in trace.bodies()):
        trace_error(make())
        return
    error = _message(make)
    kind = error if isinstance(error, type) else type(error)
    text = "" if isinstance(error, type) else ", ".join(_words(item) for item in error.args)
    _check(np.bool_(False), text or kind.__name__, kind)
    trace.frame.raised = True


_pending = []


def trace_error(error):
    _pending.append(error)


def raises():
    """Whether an error is raised now."""
    return bool(_pending)


def exception():
    return _pending.pop()


def _message(make):
    try:
        return make()
    except errors.Unsupported as error:
        raise errors.Unsupported("an error under a traced condition whose message has traced values in it is not supported; leave them out", error.pos) from None


def _words(item):
    """An argument of an exception; traced values stand in it as they are written."""
    if isinstance(item, Array) and is_traced(item):
        return "a traced value"
    return item.template if isinstance(item, texts.Text) else str(item)


def check(condition, make):
    """`assert condition, make()`."""
    _seen(condition)
    if not is_traced(condition):
        if not condition:
            message = make()
            raise AssertionError(message) if message is not None else AssertionError
        return
    message = _message(make)
    _check(control.truth(condition, errors.here()), "assertion failed" if message is None else _words(message), AssertionError)


def _check(condition, message, kind):
    current().check(array.lift(condition), message, kind)


def trying():
    """The start of a `try`."""
    return len(current().risks)


def caught():
    """The start of an `except`: what we refuse is not the function's own error."""
    error = sys.exc_info()[1]
    if isinstance(error, (Retry, errors.Unsupported, errors.InternalError)):
        raise error


def context(manager):
    """The subject of a `with` statement."""
    known = (np.errstate, warnings.catch_warnings, contextlib.nullcontext, contextlib.suppress)
    if current().in_body() and not isinstance(manager, known):
        raise errors.Unsupported(f"`with` a {type(manager).__name__} in a loop or branch is not supported; put it around", errors.here())
    if isinstance(manager, contextlib.suppress):
        raise errors.Unsupported("contextlib.suppress is not supported; test before what may fail", errors.here())
    return manager


# Names, attributes and items


def outer(scope, name, value):
    """A name of an outer scope."""
    if name in scope.cells:
        place = Place("cell", scope.cells[name], None, name)
    elif name in scope.globals:
        place = Place("item", scope.globals, name, name)
    else:
        return value
    if isinstance(value, types.ModuleType) and _is_library(getattr(value, "__file__", None) or ""):
        return value
    if effects.owner(place.owner) is not None:
        return value
    return current().outside.read(place, value)


def attribute(owner, name):
    """`owner.name`, with properties of the user's classes read too."""
    owner = present(owner)
    kind = type(owner)
    if kind is OneOf:
        return owner.each(lambda option: attribute(option, name))
    if kind is Array:
        if name == "__class__":
            return builtin.type_of(owner)
        if owner._weak and not name.startswith("_") and not hasattr(builtin.type_of(owner), name):
            raise AttributeError(f"'{builtin.type_of(owner).__name__}' object has no attribute '{name}'")
        return getattr(owner, name)
    if kind is types.ModuleType:
        value = getattr(owner, name)
        return value if _is_library(getattr(owner, "__file__", None) or "") else _outside(Place("item", vars(owner), name, f"{owner.__name__}.{name}"), value)
    if kind in _PLAIN or kind in (dict, set, types.FunctionType):
        return getattr(owner, name)
    found = inspect.getattr_static(kind, name, None) if kind is not type else None
    if isinstance(found, property) and found.fget is not None and isinstance(found.fget, types.FunctionType):
        return call(found.fget, owner)
    if isinstance(found, functools.cached_property):
        if name in vars(owner):
            return _seen_attribute(owner, name, vars(owner)[name])
        return call(found.func, owner)
    get = None if found is None or isinstance(found, types.FunctionType) else inspect.getattr_static(type(found), "__get__", None)
    if isinstance(get, types.FunctionType) and name not in getattr(owner, "__dict__", ()):
        # A descriptor makes its value each time.
        return call(get, found, owner, kind) if _is_users(get) else getattr(owner, name)
    value = getattr(owner, name)
    return _seen_attribute(owner, name, value)


def _seen_attribute(owner, name, value):
    kind = type(value)
    if kind in (types.MethodType, types.BuiltinMethodType, types.MethodWrapperType) or effects.owner(owner) is not None:
        return value
    if isinstance(owner, type) and not _is_users_class(owner) or _is_library_object(owner):
        return value
    return _outside(Place("attribute", owner, name, f"{_name_of(owner)}.{name}"), value)


def _outside(place, value):
    return current().outside.read(place, value)


def _name_of(owner):
    return owner.__name__ if isinstance(owner, (type, types.ModuleType)) else type(owner).__name__.lower()


def load(container, index):
    """`container[index]`."""
    container, index = present(container), _index(index)
    kind = type(container)
    if type(index) is OneOf or kind is OneOf:
        return index.each(lambda option: load(container, option)) if type(index) is OneOf else container.each(lambda option: load(option, index))
    if kind is Array:
        return container[_listed(index)]
    if kind is tuple and _is_unknown(index) and _are_numbers(container):
        return _number_at(container, index)
    if kind is tuple or kind is str:
        return container[_static(container, index)]
    if kind is collections.defaultdict and container.default_factory is not None:
        key = _static(container, index)
        if key not in container:
            effects.change(container, "")
            container[key] = value = call(container.default_factory)
            _made_inside(value)
        index = key
    if kind in (list, dict, collections.defaultdict):
        grows = lists.growing(container)
        if grows is not None:
            return grows.item(index)
        if is_traced(index) and kind is list:
            for frame in current().frames:
                if frame.loop is not None:
                    frame.loop.grow(container)
            if effects.owner(container) is not None and _is_unknown(index) and _are_numbers(container):
                return _number_at(container, index)
        index = _static(container, index)
        if isinstance(index, slice):
            return made([load(container, k) for k in range(*index.indices(len(container)))])
        value = container[index]
        return value if effects.owner(container) is not None else _outside(Place("item", container, index, f"…[{index!r}]"), value)
    method = getattr(kind, "__getitem__", None)
    if isinstance(method, types.FunctionType) and _is_users(method):
        return call(method, container, index)
    if (container is np.r_ or container is np.c_) and functions.has_arrays(index):
        return table.joins.concatenator(container, index)
    if isinstance(container, np.ndarray):
        refuse_subclass(container, "an array")
        return array.local(container)[index]
    value = container[index]
    return array.local(value) if isinstance(value, np.ndarray) and value.dtype in DTYPES else value


def _index(index):
    """An index, whose parts are values."""
    return tuple(map(present, index)) if type(index) is tuple else present(index)


def _listed(index):
    """An index into an array; a list of integers in it, of which some are traced, is an array of them."""
    if isinstance(index, tuple):
        return tuple(map(_listed, index)) if any(type(item) is list for item in index) else index
    return functions.array_of(index) if type(index) is list and functions.has_arrays(index) else index


def _is_unknown(index):
    """Whether an index is traced, and nothing can be unrolled to know it."""
    if not (isinstance(index, Array) and is_traced(index) and index.dtype.kind == "i" and not index.shape):
        return False
    array.demand(index)
    return True


def _are_numbers(items):
    return bool(items) and all(control.is_data(item) and not np.ndim(item) for item in items)


def _number_at(items, index):
    """An item of a sequence of numbers, at a place that is known when the program runs."""
    result = functions.array_of(list(items))[index]
    if isinstance(result, Array):
        result._weak = array.kind_of_all(items)
    return result


def _set_number(items, index, value):
    """The same assigned: every item is the new one, or stays."""
    count = len(items)
    _check(np.logical_and(index >= -count, index < count), "list assignment index out of range", IndexError)
    for k, item in enumerate(list(items)):
        chosen = np.where(np.logical_or(index == k, index == k - count), value, item)[()]
        chosen._weak = array.kind_of_all([value, item])
        items[k] = chosen


def _static(container, index):
    """An index into a list, a tuple or a dict as Python knows it."""
    if isinstance(index, Array) and not isinstance(container, Array):
        if isinstance(container, dict):
            array.demand(index) if is_traced(index) else None
            return index.payload().item() if not is_traced(index) and index._scalar else index
        return index.__index__()
    return index


def store(container, index, value):
    """`container[index] = value`."""
    index = _index(index)
    if isinstance(container, Array):
        container[_listed(index)] = functions.array_of(value) if isinstance(value, (list, tuple)) else value
        return
    if getattr(type(container), "in_place", False):
        container[index] = value
        return
    if isinstance(container, (tuple, str)):
        raise TypeError(f"'{type(container).__name__}' object does not support item assignment")
    if isinstance(container, np.ndarray):
        raise errors.Unsupported("in-place change of a NumPy array that is not local to the function", errors.here())
    method = getattr(type(container), "__setitem__", None)
    if isinstance(method, types.FunctionType) and _is_users(method):
        call(method, container, index, value)
        return
    grows = lists.growing(container)
    if grows is not None:
        grows.store(index, value)
        return
    effects.change(container, "")
    if type(container) is list and _is_unknown(index) and _are_numbers([*container, value]):
        _set_number(container, index, value)
        return
    container[_static(container, index)] = value


def delete_item(container, index):
    """`del container[index]`."""
    lists.settled(container)
    effects.change(container, "")
    del container[_static(container, index)]


def store_attribute(owner, name, value):
    """`owner.name = value`."""
    found = inspect.getattr_static(type(owner), name, None)
    if isinstance(found, property) and isinstance(found.fset, types.FunctionType):
        call(found.fset, owner, value)
        return
    method = inspect.getattr_static(type(owner), "__setattr__", None)
    if isinstance(owner, Array) and name == "flat":
        owner.flat[:] = value
        return
    if isinstance(owner, Array):
        raise errors.Unsupported(f"assignment to the attribute .{name} of an array is not supported; use np.reshape or .astype", errors.here())
    effects.change(owner, f"{_name_of(owner)}.{name}")
    if isinstance(method, types.FunctionType) and _is_users(method):
        call(method, owner, name, value)
    else:
        setattr(owner, name, value)


def delete_attribute(owner, name):
    """`del owner.name`."""
    effects.change(owner, f"{_name_of(owner)}.{name}")
    delattr(owner, name)


def store_global(scope, name, value):
    """`name = value` where the name is declared `global`."""
    effects.change(scope.globals, name)
    scope.globals[name] = value


def store_cell(reads, name, value):
    """`name = value` where the name is declared `nonlocal`; `reads` is a function that reads it."""
    cell = reads.__closure__[reads.__code__.co_freevars.index(name)]
    effects.change(cell, name)
    cell.cell_contents = value


def own(reads):
    """Cells of this call that functions inside of it rebind."""
    for cell in reads.__closure__ or ():
        made(cell)


def refuse_delete(name):
    raise errors.Unsupported(f"`del {name}` of a name that is declared global or nonlocal is not supported", errors.here())


def augment(number, target, value):
    """`target += value` for a name."""
    if isinstance(target, Array):
        return _INPLACE[number](target, value)
    if isinstance(target, _CONTAINERS):
        grows = lists.growing(target)
        if grows is not None and number == 0:
            grows.extend(value)
            return target
        effects.change(target, "")
    method = getattr(type(target), f"__i{_NAMES[number]}__", None)
    if isinstance(method, types.FunctionType) and _is_users(method):
        return call(method, target, value)
    if isinstance(method, types.FunctionType) or type(target) in _PLAIN or method is not None:
        return _INPLACE[number](target, value)
    return binary(number, target, value)


def augment_item(number, container, index, value):
    """`container[index] += value()`, with one write; the item is read before."""
    index = _index(index)
    if isinstance(container, Array):
        index = _listed(index)
        old = container[index]
        result = _BINARY[number](old, value())
        if isinstance(old, Array) and not old._scalar:
            array.check_inplace(old, result)
        indexing.store(container, index, result)
        return
    item = load(container, index)
    result = augment(number, item, value())
    if result is not item or type(container) not in (list, dict):
        store(container, index, result)


def augment_loaded(number, owner, key, old, value, item):
    """The same where the item or attribute and what is added to it are known by now."""
    if isinstance(owner, Array):
        result = _BINARY[number](old, value)
        if isinstance(old, Array) and not old._scalar:
            array.check_inplace(old, result)
        indexing.store(owner, key, result)
        return
    result = augment(number, old, value)
    if result is not old or (type(owner) not in (list, dict) if item else _sees_stores(owner, key)):
        (store if item else store_attribute)(owner, key, result)


def augment_attribute(number, owner, name, value):
    """`owner.name += value()`."""
    item = attribute(owner, name)
    result = augment(number, item, value())
    if result is not item or _sees_stores(owner, name):
        store_attribute(owner, name, result)


def _sees_stores(owner, name):
    """Whether an object does something of its own when an attribute is set, also to what it is already."""
    found = inspect.getattr_static(type(owner), name, None)
    return hasattr(type(found), "__set__") and not isinstance(found, types.MemberDescriptorType) or type(owner).__setattr__ is not object.__setattr__


def binary(number, a, b):
    """`a + b`, with the operators of the user's classes read too."""
    if isinstance(a, Array) != isinstance(b, Array):
        array.refuse_foreign(a), array.refuse_foreign(b)
    if type(a) is str and number == 5:
        return texts.percent(a, b)
    if type(a) in _PLAIN and type(b) in _PLAIN:
        result = _BINARY[number](a, b)
        return _joined(result, a, b) if type(result) is list else result
    if type(a) is Maybe or type(b) is Maybe:
        return binary(number, present(a), present(b))
    if scipy.is_sparse_operation(a, b):
        return scipy.operated(_NAMES[number], a, b)
    for owner, other, name in ((a, b, f"__{_NAMES[number]}__"), (b, a, f"__r{_NAMES[number]}__")):
        method = getattr(type(owner), name, None)
        if isinstance(method, types.FunctionType) and _is_users(method):
            result = call(method, owner, other)
            if result is not NotImplemented:
                return result
    result = _BINARY[number](a, b)
    return _joined(result, a, b) if type(result) in (dict, set) else result


def _joined(result, a, b):
    """A new container, of the present body, with what is in others."""
    _seen(a), _seen(b)
    return made(result)


def iterated(items):
    """What a comprehension or an unrolled loop goes through."""
    _seen(items)
    return items


def _seen(value):
    """A container from outside whose contents matter to code that is not read; one that grows in a loop is not known as a whole."""
    lists.settled(value)
    if isinstance(value, (*_CONTAINERS, frozenset)) and effects.owner(value) is None and current() is not None:
        current().outside.contents(value, f"a {type(value).__name__}")


def _iterator(steps):
    """An iterator moves on: one from outside of the present body would once, not once per step."""
    trace = current()
    if effects.owner(steps) is trace.frame:
        return
    if effects.owner(steps) is None and not trace.in_body():
        raise errors.Unsupported("iteration over an iterator that lives outside of the function: it would move on once, not at every call", errors.here())
    for frame in reversed(trace.bodies()):
        if frame is effects.owner(steps):
            break
        if frame.loop is not None and frame.loop.known is not None:
            frame.loop.unroll(None)
    raise errors.Unsupported("iteration over an iterator from outside in a loop or branch is not supported", errors.here())


# Calls


_DISPATCHED = type(np.sum)
_OF_NUMBERS = {sum, min, max, any, all, np.array}  # functions of sequences that are asked for a list whose length is traced, too


def call(function, *args, **kwargs):
    """A call: functions of the user are rewritten too, arrays that NumPy makes become traced arrays."""
    kind = type(function)
    if kind is OneOf:
        return function.each(lambda option: call(option, *args, **kwargs))
    if kind in (types.BuiltinFunctionType, types.FunctionType, type, np.ufunc) or kind.__module__ == "numpy":
        try:
            special = _SPECIAL.get(function)
        except TypeError:
            special = None
        if special is not None:
            if current().growing and (kind is not types.BuiltinFunctionType and kind is not type or function in _OF_NUMBERS):
                args = tuple(map(array_of_loose, args))
            result = special(*map(present, args), **kwargs)
            return made(result) if hasattr(type(result), "__next__") or type(result) is list else result
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
        return _entered(function, rewrite(function) or _unread(function), args, kwargs)
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
    if not isinstance(getattr(function, "__self__", None), _CONTAINERS) and getattr(function, "__module__", None) != __name__:
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
    if function is next:
        _iterator(args[0])
    if function is functools.partial.__class__:
        return


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


_SPECIAL = {
    **{dtype.type: _scalar_of(dtype.type) for dtype in DTYPES},
    **builtin.table(sys.modules[__name__]),
    **functions.CREATION,
    np.arange: _arange,
    np.linspace: functions.FUNCTIONS[np.linspace],
    np.errstate: _errstate,
    warnings.warn: _warn,
}
