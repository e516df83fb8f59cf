"""Python's own functions of numbers on traced ones: `min`, `abs`, `sum`, `math.*`, `isinstance` and their like, as a table."""

import itertools
import math
import operator

import numpy as np

from . import errors, lists, masked, scalars, texts, tree
from .array import Array, Either, demand, kind_of_all, lift
from .branches import choose
from .control import is_data, is_traced
from .iterators import Walk, untraced
from .oneof import OneOf
from .ranges import backwards, cells, enumerated, make_range, zipped
from .trace import current

_PYTHON = {"f": float, "i": int, "b": bool}


def type_of(value):
    """The class that a value has when the function runs untraced."""
    if type(value) is OneOf:
        return value.agreed(type, "the class")
    if not isinstance(value, Array):
        return type(untraced(value))
    if not value._scalar:
        return np.ndarray
    if isinstance(value._weak, Either):
        value._weak.refuse()
    return _PYTHON[value.dtype.kind] if value._weak else value.dtype.type


def _isinstance(value, kinds):
    if type(value) is OneOf:
        return value.each(lambda option: isinstance(option, kinds))
    if not isinstance(value, Array) or isinstance(value, kinds):
        return isinstance(untraced(value), kinds)
    if isinstance(value._weak, Either):
        found = [issubclass(kind, kinds) for kind in (_PYTHON[value.dtype.kind], value.dtype.type)]
        return found[0] if found[0] == found[1] else value._weak.refuse()
    return issubclass(type_of(value), kinds)


def _type(*args):
    return type_of(args[0]) if len(args) == 1 else type(*args)


def _hasattr(value, name):
    if type(value) is OneOf:
        return value.each(lambda option: hasattr(option, name))
    return hasattr(type_of(value), name) if isinstance(value, Array) else hasattr(value, name)


def _any_traced(values):
    return any(isinstance(value, Array) for value in values)


def _extreme(python, better):
    """`min` and `max`: the first of the best ones, as Python compares."""

    def rule(*values, **options):
        if len(values) == 1 and isinstance(values[0], masked.Masked) and not options:
            return _number(np.max(values[0]) if python is max else np.min(values[0]))
        items = list(values[0]) if len(values) == 1 else list(values)
        if not items:
            return python(items, **options)
        keys = _keys(items, options.get("key"))
        if not _any_traced(keys) or not options.keys() <= {"key", "default"}:
            place = python(range(len(items)), key=keys.__getitem__) if options.keys() <= {"key", "default"} else None
            return python(items, **options) if place is None else items[place]
        if any(np.ndim(key) for key in keys):
            raise errors.ShapeError("the truth of an array with more than one element is ambiguous", errors.here())
        best, least = items[0], keys[0]
        for item, key in zip(items[1:], keys[1:]):
            if keys is items:
                best = least = _picked(better(key, least), key, least)
            else:
                best, least = _picked(better(key, least), (item, key), (best, least))
        return best

    return rule


def _keys(items, key):
    """What items are compared by."""
    from .runtime import call

    return items if key is None else [call(key, item) for item in items]


def _picked(condition, a, b):
    if not is_traced(condition):
        return a if bool(condition) else b
    return choose(condition, lambda: a, lambda: b, errors.here())


def _number(result):
    """A number of Python's, of what is one of NumPy's."""
    result = np.positive(result)
    result._weak = True
    return result


def _sum(items, start=0):
    if isinstance(items, masked.Masked):
        return _number(np.sum(items)) + start
    if lists.rows_of(items) is not None:
        from .rewrite import rewrite

        return rewrite(_added)(items, start)
    total = start
    for item in items:
        total = total + item
    return total


def _added(items, total):
    for item in items:
        total = total + item
    return total


def _round(value, digits=None):
    if not isinstance(value, Array) or not is_traced(value):
        return round(value) if digits is None else round(value, digits)
    if digits is None:
        return scalars.integer_of(value, np.rint) if value._weak or value._scalar else np.rint(value)
    if value._weak and digits != 0:
        demand(value)
        raise errors.Unsupported("round() of a traced Python number to digits; use np.round", errors.here())
    return np.round(value, digits)


def _int(*args):
    if len(args) != 1 or not isinstance(args[0], Array) or not is_traced(args[0]):
        return int(*args)
    value = args[0]
    if value.size != 1:
        raise errors.ShapeError("only arrays of one element can be converted to Python numbers", errors.here())
    value = np.reshape(value, ())[()] if value.shape else value
    return scalars.integer_of(value, np.trunc)


def _float(*args):
    if len(args) != 1 or not isinstance(args[0], Array) or not is_traced(args[0]):
        return float(*args)
    value = args[0]
    if value.size != 1:
        raise errors.ShapeError("only arrays of one element can be converted to Python numbers", errors.here())
    value = np.reshape(value, ())[()] if value.shape else value
    result = value.astype(np.float64)
    result = np.positive(result) if result is value else result
    result._weak, result._bounds = True, value._bounds
    return result


def _bool(*args):
    if len(args) != 1 or not is_traced(args[0]):
        return bool(*args)
    from .control import truth

    result = truth(args[0], errors.here())
    result = np.logical_or(result, False) if result is args[0] else result
    result._weak = True
    return result


def _any(items):
    result, steps = False, Walk(items)
    for item in steps:
        if not is_traced(item):
            if bool(item):
                return True if not is_traced(result) else np.logical_or(result, True)
            continue
        result = np.logical_or(result, _bool(item))
        steps.may_end()
    return result


def _all(items):
    result, steps = True, Walk(items)
    for item in steps:
        if not is_traced(item):
            if not bool(item):
                return False if not is_traced(result) else np.logical_and(result, False)
            continue
        result = np.logical_and(result, _bool(item))
        steps.may_end()
    return result


def _sorted(items, key=None, reverse=False):
    values = list(items)
    keys = _keys(values, key)
    if not any(is_traced(value) for value in keys):
        order = sorted(range(len(keys)), key=keys.__getitem__, reverse=reverse)
        return [values[k] for k in order]
    if any(np.ndim(value) for value in keys):
        raise errors.ShapeError("the truth of an array with more than one element is ambiguous", errors.here())
    keys = _array(keys)
    if keys.dtype.kind == "f":
        current().check(lift(np.logical_not(np.isnan(keys).any())), "sorted() of NaN, whose order is none, is not supported", ValueError)
    if key is None:
        ordered = np.sort(keys)
        result = [ordered[k] for k in range(len(values))]
        for item in result:
            item._weak = kind_of_all(values)
        return result[::-1] if reverse else result
    # Equal keys keep their order, also in reverse.
    order = len(values) - 1 - np.argsort(keys[::-1], kind="stable")[::-1] if reverse else np.argsort(keys, kind="stable")
    return _in_order(values, order)


def _in_order(values, order):
    """Items of one form, in an order that is known when the function runs."""
    parts = [tree.flatten(value) for value in values]
    shapes = {(structure, *(np.shape(leaf) for leaf in leaves)) for leaves, structure in parts}
    if len(shapes) != 1 or not all(is_data(leaf) for leaves, _ in parts for leaf in leaves):
        raise errors.Unsupported("sorted() by traced keys of other things than numbers and arrays of one form is not supported", errors.here())
    columns = [_array(list(column)) for column in zip(*(leaves for leaves, _ in parts))]
    weak = [kind_of_all(column) for column in zip(*(leaves for leaves, _ in parts))]

    def item(k):
        found = [column[order[k]] for column in columns]
        for leaf, kind in zip(found, weak):
            leaf._weak = kind if leaf._scalar else leaf._weak
        return tree.unflatten(parts[0][1], found)

    return [item(k) for k in range(len(values))]


def _array(values):
    """Traced numbers as one array."""
    from . import functions

    return functions.array_of(values)


def _from_iterator(items, dtype, count=-1):
    """`np.fromiter`: an array of numbers of one type."""
    from . import functions

    values = list(items) if count < 0 else list(itertools.islice(items, count))
    if len(values) < count:
        raise ValueError(f"iterator too short: Expected {count} but iterator had only {len(values)} items.")
    return functions.array_of(values, dtype=dtype)


def _pow(base, exponent, modulus=None):
    return pow(base, exponent) if modulus is None else pow(base, exponent, modulus)


def _divmod(a, b):
    return (a // b, a % b) if _any_traced((a, b)) else divmod(a, b)


def _len(value):
    grows = lists.growing(value)
    return grows.end() if grows is not None else masked.length(value) if isinstance(value, masked.Masked) else len(value)


# Functions of `math` on floats that NumPy has under the same or another name.
_MATH = {
    "sin": np.sin, "cos": np.cos, "tan": np.tan, "asin": np.arcsin, "acos": np.arccos, "atan": np.arctan, "sinh": np.sinh, "cosh": np.cosh,
    "tanh": np.tanh, "asinh": np.arcsinh, "acosh": np.arccosh, "atanh": np.arctanh, "exp": np.exp, "expm1": np.expm1, "log2": np.log2,
    "log10": np.log10, "log1p": np.log1p, "sqrt": np.sqrt, "fabs": np.fabs, "atan2": np.arctan2, "copysign": np.copysign, "fmod": np.fmod,
    "degrees": np.degrees, "radians": np.radians, "isnan": np.isnan, "isinf": np.isinf, "isfinite": np.isfinite, "pow": np.power,
}


def _of_math(name, function):
    python = getattr(math, name)

    def rule(*args):
        if not any(is_traced(value) for value in args):
            return python(*args)
        return scalars.of_math(name, function, [_float(value) for value in args])

    return rule


def _log(x, base=None):
    if not any(is_traced(value) for value in (x, base)):
        return math.log(x) if base is None else math.log(x, base)
    of = lambda value: scalars.of_math("log", np.log, [_float(value)]) if is_traced(value) else math.log(value)
    return of(x) if base is None else of(x) / of(base)


def _hypot(*values):
    if not _any_traced(values):
        return math.hypot(*values)
    result = np.sqrt(_sum(value * value for value in values)) if len(values) != 2 else np.hypot(*values)
    result._weak = True
    return result


def _rounded(function, python):
    return lambda x: scalars.integer_of(x, function) if is_traced(x) else python(x)


def _scipy(name, python):
    def rule(x):
        if not is_traced(x):
            return python(x)
        from . import functions

        result = functions.SPECIAL[name](_float(x))
        result._weak = True
        return result

    return rule


def _isscalar(value):
    return value._scalar if isinstance(value, Array) else np.isscalar(value)


def _getattr(runtime):
    def rule(owner, name, *default):
        try:
            return runtime.attribute(owner, name)
        except AttributeError:
            if default:
                return default[0]
            raise

    return rule


def table(runtime):
    """From each function to what it becomes; `runtime` reads attributes and stores them."""
    found = {
        np.fromiter: _from_iterator,
        np.ndenumerate: lambda items: cells(items, items), np.ndindex: lambda *shape: cells(shape[0] if len(shape) == 1 else shape),
        range: make_range, reversed: backwards, zip: zipped, enumerate: enumerated, isinstance: _isinstance, type: _type, hasattr: _hasattr,
        min: _extreme(min, operator.lt), max: _extreme(max, operator.gt), sum: _sum, round: _round, any: _any, all: _all, sorted: _sorted,
        pow: _pow, divmod: _divmod, len: _len, int: _int, float: _float, bool: _bool, np.isscalar: _isscalar, print: texts.printed, str: texts.function(str), repr: texts.function(repr),
        format: texts.function(format),
        math.log: _log, math.hypot: _hypot, math.floor: _rounded(np.floor, math.floor), math.ceil: _rounded(np.ceil, math.ceil),
        math.trunc: _rounded(np.trunc, math.trunc), math.erf: _scipy("erf", math.erf), math.erfc: _scipy("erfc", math.erfc),
        math.fsum: lambda items: _sum(items, 0.0) if _any_traced(items := list(items)) else math.fsum(items),
        math.prod: lambda items, start=1: _product(list(items), start),
        getattr: _getattr(runtime), setattr: runtime.store_attribute, delattr: runtime.delete_attribute,
        operator.getitem: runtime.load, operator.setitem: runtime.store, operator.delitem: runtime.delete_item, operator.not_: runtime.negate,
        operator.contains: lambda container, item: runtime.contains(item, container),
    }
    found.update({getattr(math, name): _of_math(name, function) for name, function in _MATH.items()})
    return found


def _product(items, start):
    for item in items:
        start = start * item
    return start
