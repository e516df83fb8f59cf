"""What rewritten functions call: loops, branches, stores, loads and calls."""

import builtins
import functools
import inspect
import operator
import os
import random
import sysconfig
import types

import numpy as np

from . import array, convolution, errors, functions, indexing, loops, numeric  # noqa: F401, convolution and numeric fill the table of functions
from .array import Array
from .ranges import TracedRange, make_range
from .rewrite import rewrite
from .trace import DTYPES, Frame, current

slice = builtins.slice

_MUTATORS = {"append", "extend", "insert", "pop", "remove", "clear", "sort", "reverse", "update", "setdefault", "popitem", "add", "discard"}
_LIBRARIES = tuple({sysconfig.get_paths()[name] + os.sep for name in ("stdlib", "platstdlib", "purelib", "platlib")})
_OPERATORS = {
    "Add": operator.iadd, "Sub": operator.isub, "Mult": operator.imul, "Div": operator.itruediv, "FloorDiv": operator.ifloordiv,
    "Mod": operator.imod, "Pow": operator.ipow, "MatMult": operator.imatmul, "BitAnd": operator.iand, "BitOr": operator.ior,
    "BitXor": operator.ixor, "LShift": operator.ilshift, "RShift": operator.irshift,
}
_PLAIN = {
    "Add": operator.add, "Sub": operator.sub, "Mult": operator.mul, "Div": operator.truediv, "FloorDiv": operator.floordiv,
    "Mod": operator.mod, "Pow": operator.pow, "MatMult": operator.matmul, "BitAnd": operator.and_, "BitOr": operator.or_,
    "BitXor": operator.xor, "LShift": operator.lshift, "RShift": operator.rshift,
}


# Control flow


def loop(steps, names, exposed, live, scope):
    """The `for` statement."""
    if isinstance(steps, (range, TracedRange)):
        return loops.Loop(steps, names, exposed, live, scope, errors.here())
    if hasattr(type(steps), "__next__"):
        _guard(steps, "iteration")
    return loops.Steps(steps)


def conditional(names, exposed, live):
    """The `while` statement."""
    return loops.While(names, exposed, live, errors.here())


def both(first, second):
    """`first and second()` in a condition; where the first is traced, the second runs only if it holds."""
    return _lazily(first, second, when=True)


def either(first, second):
    """`first or second()` in a condition."""
    return _lazily(first, second, when=False)


def _lazily(first, second, when):
    if not _is_traced(first):
        return second() if bool(first) is when else first
    trace, pos = current(), errors.here()
    other = trace.tracer.begin_if(loops.truth(first, pos).handle(), pos)
    for side in (True, False):
        frame = Frame("if", pos)
        trace.push(frame)
        result = array.lift(loops.truth(second(), pos) if side is when else not when)
        other = trace.tracer.begin_else([result]) if side else trace.tracer.end_if([result])
        trace.pop(frame)
    return array.traced(other[0])


def negate(condition):
    """`not condition` in a condition."""
    return np.logical_not(loops.truth(condition, errors.here())) if _is_traced(condition) else not condition


def is_range(steps):
    """Whether a `for` statement becomes a loop of the Program."""
    return isinstance(steps, (range, TracedRange))


def _is_traced(value):
    return isinstance(value, Array) and value.payload() is None


def branch(condition, names, exposed, live, scope):
    """The `if` statement."""
    return loops.Branch(condition, names, exposed, live, scope, errors.here())


def iterate(steps, construct, line):
    """A `for` statement that is left on another way than its end."""
    if isinstance(steps, (range, TracedRange)):
        raise errors.Unsupported(f"`{construct}` in a `for` loop over a range is not supported", (errors.here()[0], line))
    return steps


def test(condition, construct):
    """The condition of a `while` or of an `if` that is left on another way than its end."""
    if _is_traced(condition):
        if construct != "if":
            raise errors.Unsupported(f"`{construct}` in a `while` on a traced condition is not supported", errors.here())
        raise errors.Unsupported("`if` on a traced condition with return, break or continue inside is not supported; use np.where", errors.here())
    return condition


# Names and containers


def outer(value, name):
    """A name of an outer scope, or an attribute."""
    if isinstance(value, np.ndarray) and value.dtype in DTYPES:
        return array.outer(value, name)
    return value


def load(container, index):
    """`container[index]`."""
    value = container[index]
    return array.outer(value, "an array in a container") if isinstance(value, np.ndarray) and value.dtype in DTYPES else value


def store(container, index, value):
    """`container[index] = value`."""
    _guard(container, "assignment")
    container[index] = value


def delete_item(container, index):
    """`del container[index]`."""
    _guard(container, "del")
    del container[index]


def store_attribute(owner, name, value):
    """`owner.name = value`."""
    _guard_attribute(name)
    setattr(owner, name, value)


def augment(name, target, value):
    """`target += value` for a name."""
    if isinstance(target, (list, dict, set)):
        _guard(target, "in-place change")
    return _OPERATORS[name](target, value)


def augment_item(name, container, index, value):
    """`container[index] += value`, with one write."""
    _guard(container, "in-place change")
    if isinstance(container, Array):
        old = container[index]
        result = _PLAIN[name](old, value)
        if isinstance(old, Array) and not old._scalar:
            array.check_inplace(old, result)
        indexing.store(container, index, result)
    else:
        container[index] = _OPERATORS[name](load(container, index), value)


def augment_attribute(operation, owner, name, value):
    """`owner.name += value`."""
    _guard_attribute(name)
    setattr(owner, name, _OPERATORS[operation](outer(getattr(owner, name), name), value))


def _guard_attribute(name):
    if current().in_body():
        raise errors.Unsupported(f"assignment to the attribute .{name} in a loop or branch is not supported; use a local name", errors.here())


def _guard(container, what):
    """Refuses changes in a loop body of lists and the like from outside it: they would happen once, not once per step."""
    if isinstance(container, Array) or container is None:
        return
    for frame in current().bodies():
        known = frame.containers.get(id(container))
        if known is not None and known[1] is container:
            raise errors.Unsupported(
                f"{what} of the {type(container).__name__} `{known[0]}` in a loop over a range or a branch is not supported; use an array", errors.here()
            )
    if isinstance(container, np.ndarray) and current().in_body():
        raise errors.Unsupported(f"{what} of a NumPy array that is not local to the function", errors.here())


# Calls


def call(function, *args, **kwargs):
    """A call: functions of the user are rewritten too, arrays that NumPy makes become traced arrays."""
    special = _SPECIAL.get(function) if isinstance(function, (type, types.FunctionType, types.BuiltinFunctionType)) else None
    if special is not None:
        return special(*args, **kwargs)
    _guard_call(function, args)
    result = _resolve(function, args, kwargs)(*args, **kwargs)
    return array.local(result) if isinstance(result, np.ndarray) else result


def _resolve(function, args, kwargs):
    """The rewritten function where it is the user's and gets traced values; else the function itself."""
    if isinstance(function, types.MethodType):
        inner = _resolve(function.__func__, (function.__self__, *args), kwargs)
        return types.MethodType(inner, function.__self__)
    if isinstance(function, functools.partial):
        inner = _resolve(function.func, (*function.args, *args), {**function.keywords, **kwargs})
        return functools.partial(inner, *function.args, **function.keywords)
    if not isinstance(function, types.FunctionType) or not _is_users(function) or not _has_traced((args, kwargs, function)):
        return function
    try:
        return rewrite(function)
    except errors.Unsupported:
        return function  # without source it runs as it is: its loops unroll, and what cannot be traced is refused where it happens


def _is_users(function):
    file = function.__code__.co_filename
    return function.__name__ != "<lambda>" and not file.startswith(_LIBRARIES) and not errors.is_ours(file)


def _has_traced(value, depth=4):
    if isinstance(value, Array):
        return True
    if depth and isinstance(value, (tuple, list)):
        return any(_has_traced(item, depth - 1) for item in value)
    if depth and isinstance(value, dict):
        return any(_has_traced(item, depth - 1) for item in value.values())
    if depth and isinstance(value, types.FunctionType):
        return any(_has_traced(_contents(cell), depth - 1) for cell in value.__closure__ or ())
    if depth and hasattr(value, "__dict__") and not isinstance(value, (type, types.ModuleType)):
        return any(_has_traced(item, depth - 1) for item in vars(value).values())
    return False


def _contents(cell):
    try:
        return cell.cell_contents
    except ValueError:
        return None


def _guard_call(function, args):
    owner = getattr(function, "__self__", None)
    name = getattr(function, "__name__", "")
    if isinstance(owner, (list, dict, set, bytearray)) and name in _MUTATORS:
        _guard(owner, f".{name}()")
    if isinstance(owner, np.ndarray) and name in ("fill", "sort", "put", "partition", "resize", "itemset"):
        _guard(owner, f".{name}()")
    module = getattr(function, "__module__", None) or ""
    drawn = isinstance(owner, (np.random.Generator, np.random.RandomState, random.Random))
    if (drawn and not inspect.isclass(function)) or module.startswith("numpy.random") and not inspect.isclass(function):
        if name not in ("default_rng", "seed"):
            raise errors.Unsupported(f"random numbers ({name}) inside a traced function would be drawn once; pass them as an argument", errors.here())
    if function is next and current().in_body():
        raise errors.Unsupported("next() in a loop over a range or a branch is not supported", errors.here())


def _reversed(steps):
    if isinstance(steps, range):
        return steps[::-1]
    return steps.reversed() if isinstance(steps, TracedRange) else reversed(steps)


def _isinstance(value, kinds):
    if isinstance(value, Array) and not value._scalar:
        return isinstance(np.empty(0), kinds) or isinstance(value, kinds)
    return isinstance(value, kinds)


_SPECIAL = {
    range: make_range,
    reversed: _reversed,
    isinstance: _isinstance,
    **functions.CREATION,
    np.linspace: functions.FUNCTIONS[np.linspace],
}
