"""What rewritten functions call: loops, branches, stores, loads, operators and calls."""

import builtins
import collections
import contextlib
import functools
import inspect
import operator
import sys
import types
import warnings

import numpy as np

from . import array, branches, builtin, control, effects, errors, functions, indexing, lists, loops, scipy, table, texts, tree, whiles
from .array import Array
from .attempts import attempt, attempted, handles, is_needed, tried  # noqa: F401, called by rewritten code
from .calls import (
    _CONTAINERS, SPECIAL, _arange, _errstate, _is_library, _is_library_object, _is_users, _is_users_class, _iter, _made_inside, _next, _outside, _own_method,
    _scalar_of, _seen, _warn, call, iterated, own_steps,
)
from .texts import joined  # noqa: F401, called by rewritten code
from .effects import made
from .control import UNSET, is_traced
from .iterators import Walk, adopted, known_end
from .loose import loose
from .maybe import Maybe, present
from .oneof import OneOf, has_objects, is_option, number_of, union
from .outside import Place, refuse_subclass
from .ranges import Once, steps_of
from .trace import DTYPES, Frame, Retry, current  # noqa: F401, Retry is caught by rewritten code

slice = builtins.slice

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
        started = loops.Loop(counted, (names, exposed, live, rebound, appended), stops, where, scope)
        if isinstance(counted, Once):
            counted.loop = started
        return started
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
        return condition.each(lambda option: builtin._bool(_truth(option)))
    method = _own_method(condition, "__bool__")
    if method is not None:
        return call(method, condition)
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
    if has_objects(container):
        return container.each(lambda option: contains(item, option))
    if not hasattr(type(container), "__contains__"):
        container = own_steps(container)
    if isinstance(container, (list, tuple)) and (is_traced(item) or any(is_traced(value) for value in container)) or hasattr(type(container), "__next__"):
        return builtin._any(True if value is item else equal(value, item) for value in Walk(container))
    if isinstance(container, Array) or isinstance(container, np.ndarray) and isinstance(item, Array):
        # As NumPy's `__contains__`.
        return builtin._bool(np.any(np.equal(array.local(container) if isinstance(container, np.ndarray) else container, item)))
    method = getattr(type(container), "__contains__", None)
    if isinstance(method, types.FunctionType) and _is_users(method):
        return builtin._bool(call(method, container, item))
    _seen(container)
    return item in container


def lacks(item, container):
    """`item not in container`."""
    return negate(contains(item, container))


def true(condition):
    """The truth of a condition."""
    lists.settled(condition)
    return builtin._bool(condition)


def generator(value):
    """A generator expression."""
    return adopted(value)


def unpacked(value):
    """What is taken apart: `a, b = value`, `f(*value)`."""
    return own_steps(lists.settled(value))


def equal(a, b):
    """`a == b`."""
    if has_objects(a) or has_objects(b):
        return _of_each(equal, a, b)
    return _compared("__eq__", "__eq__", operator.eq, lists.settled(a), lists.settled(b))


def unequal(a, b):
    """`a != b`."""
    if has_objects(a) or has_objects(b):
        return _of_each(unequal, a, b)
    a, b = lists.settled(a), lists.settled(b)
    if any(_own_method(item, "__eq__") is not None and _own_method(item, "__ne__") is None for item in (a, b)):
        return negate(equal(a, b))  # as `object.__ne__`
    return _compared("__ne__", "__ne__", operator.ne, a, b)


def _of_each(function, a, b):
    """An operator of objects that are one of several: of each."""
    return a.each(lambda option: function(option, b)) if has_objects(a) else b.each(lambda option: function(a, option))


_ORDERS = ((operator.lt, "__lt__", "__gt__"), (operator.le, "__le__", "__ge__"), (operator.gt, "__gt__", "__lt__"), (operator.ge, "__ge__", "__le__"))
_SIGNS = ((operator.neg, "__neg__"), (operator.pos, "__pos__"), (operator.invert, "__invert__"))


def ordered(number, a, b):
    """`a < b` and its like."""
    if has_objects(a) or has_objects(b):
        return _of_each(functools.partial(ordered, number), a, b)
    of, name, mirrored = _ORDERS[number]
    return _compared(name, mirrored, of, a, b)


def _compared(name, mirrored, of, a, b):
    """A comparison, with the operators of the user's classes read too."""
    if type(a) not in _PLAIN or type(b) not in _PLAIN:
        ways = [(a, b, _own_method(a, name)), (b, a, _own_method(b, mirrored))]
        # A subclass is asked first, on whichever side it stands.
        for owner, other, method in reversed(ways) if _is_derived(b, a) else ways:
            result = NotImplemented if method is None else call(method, owner, other)
            if result is not NotImplemented:
                return result
    return of(a, b)


def _is_derived(a, b):
    return type(a) is not type(b) and issubclass(type(a), type(b))


def unary(number, a):
    """`-a` and its like."""
    if has_objects(a):
        return a.each(functools.partial(unary, number))
    of, name = _SIGNS[number]
    method = _own_method(a, name)
    return of(a) if method is None else call(method, a)


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
    if kind is StopIteration:
        known_end()
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
        value = call(found.func, owner)
        if effects.owner(owner) is not None:
            effects.change(owner, f"{_name_of(owner)}.{name}")
            vars(owner)[name] = value
        return value
    get = None if found is None or isinstance(found, types.FunctionType) else inspect.getattr_static(type(found), "__get__", None)
    if isinstance(get, types.FunctionType) and name not in getattr(owner, "__dict__", ()):
        # A descriptor makes its value each time.
        return call(get, found, owner, kind) if _is_users(get) else getattr(owner, name)
    value = getattr(owner, name)
    if name == "__dict__" and effects.owner(owner) is current().frame:
        return made(value)
    return _seen_attribute(owner, name, value)


def _seen_attribute(owner, name, value):
    kind = type(value)
    if kind in (types.MethodType, types.BuiltinMethodType, types.MethodWrapperType) or effects.owner(owner) is not None:
        return value
    if isinstance(owner, type) and not _is_users_class(owner) or _is_library_object(owner):
        return value
    return _outside(Place("attribute", owner, name, f"{_name_of(owner)}.{name}"), value)


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
    if kind in (tuple, list) and lists.growing(container) is None and _are_options(container) and (kind is tuple or effects.owner(container) is not None) and _is_unknown(index):
        return OneOf(union(*container), _number_at([number_of(item) for item in container], index))
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


def _are_options(items):
    return bool(items) and all(is_option(item) or type(item) is OneOf for item in items)


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
    if has_objects(container):
        container.each(lambda option: store(option, index, value))
        return
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
    if has_objects(owner):
        owner.each(lambda option: store_attribute(option, name, value))
        return
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
    if has_objects(owner):
        owner.each(lambda option: delete_attribute(option, name))
        return
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
    if has_objects(target):
        return target.each(lambda option: augment(number, option, value))
    if isinstance(target, Array):
        return _INPLACE[number](target, value)
    if isinstance(target, _CONTAINERS):
        value = own_steps(value)
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
        old = array.claimed(container)[index]
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
    if has_objects(owner):
        return any(_sees_stores(option, name) for option in owner.options)
    found = inspect.getattr_static(type(owner), name, None)
    return hasattr(type(found), "__set__") and not isinstance(found, types.MemberDescriptorType) or type(owner).__setattr__ is not object.__setattr__


def binary(number, a, b):
    """`a + b`, with the operators of the user's classes read too."""
    if has_objects(a) or has_objects(b):
        return _of_each(functools.partial(binary, number), a, b)
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
    mirrored = f"__r{_NAMES[number]}__"
    ways = [(a, b, f"__{_NAMES[number]}__"), (b, a, mirrored)][: 1 if type(a) is type(b) else 2]
    if _is_derived(b, a) and getattr(type(b), mirrored, None) is not getattr(type(a), mirrored, None):
        ways.reverse()
    for owner, other, name in ways:
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


SPECIAL.update({
    **{dtype.type: _scalar_of(dtype.type) for dtype in DTYPES},
    **builtin.table(sys.modules[__name__]),
    **functions.CREATION,
    **table.polynomials.EVALUATED,
    np.arange: _arange,
    np.linspace: functions.FUNCTIONS[np.linspace],
    np.errstate: _errstate,
    next: _next,
    iter: _iter,
    warnings.warn: _warn,
})
