"""NumPy's functions on traced arrays: a table from each to what it becomes. What is not in the table is refused by name."""

import functools

import numpy as np

from . import errors, layout, lists, masked, narrow, runs, views
from .array import Array, Symbol, affine, demand_each, demand_outer, entangle, is_weak, lift, local, multiple, repeated, reshaped, result_dtype, traced, view
from .rules import FUNCTIONS, Rule, implements, name_of, place_of
from .trace import DTYPES, NUMPY, current, is_float, refuse_dtype


# Dispatch


def ufunc(function, method, inputs, kwargs):
    """`np.add(x, y)` and the like."""
    if not _PLAIN.issuperset(map(type, inputs)):
        if runs.has_run(inputs):
            return runs.ufunc(function, method, inputs, kwargs)
        if narrow.has_narrow(inputs) and not _all_known(inputs):
            return narrow.ufunc(function, method, inputs, kwargs)
        if masked.is_masked(inputs):
            return masked.ufunc(function, method, inputs, kwargs)
    if masked.is_masked((kwargs.get("where"),)):
        return masked.ufunc(function, method, inputs, kwargs)
    if method != "__call__":
        from .table import folding

        return folding.method_of(function, method, inputs, kwargs)
    outs, where = kwargs.get("out") or (), kwargs.get("where", True)
    kwargs = {key: value for key, value in kwargs.items() if key not in ("out", "where") and not _is_usual(key, value)}
    if outs or where is not True:
        out = outs[0] if len(outs) == 1 else None
        return written(name_of(function), function(*inputs, **kwargs), out, where, len(outs))
    known = [payload_of(value) for value in inputs]
    if all(value is not None for value in known):
        return _local_result(function(*known, **kwargs), inputs)
    dtype = kwargs.pop("dtype", None)
    rule = UFUNCS.get(function)
    if rule is not None and dtype is None and not kwargs:
        return rule(*inputs)
    from . import scipy

    name = name_of(function)
    if kwargs:
        raise errors.Unsupported(f"{name} with {next(iter(kwargs))}= is not supported", errors.here())
    rule = rule or (scipy.of_ufunc(function) if name.startswith("scipy.special.") else None)
    if rule is None:
        raise errors.Unsupported(f"{name} is not supported{_why(function)}", errors.here())
    return rule(*inputs) if dtype is None else _in_dtype(name, rule, inputs, dtype)


# Operands of which there is nothing to know but their elements.
_PLAIN = {Array, bool, int, float, *(dtype.type for dtype in DTYPES)}


def _is_usual(key, value):
    """Whether a keyword of a ufunc says what it does anyway."""
    return key == "casting" and value == "same_kind" or key == "subok" and value is True or key == "order" and value == "K"


def _in_dtype(name, rule, inputs, dtype):
    """A ufunc whose loop runs in an element type: that of its result, where that is a float."""
    if np.dtype(dtype).kind != "f" or np.dtype(dtype) not in DTYPES or rule is UFUNCS[np.ldexp]:
        raise errors.Unsupported(f"{name} with dtype={np.dtype(dtype)} is not supported", errors.here())
    result = rule(*[astype(_as_array(value), dtype) for value in inputs])
    if isinstance(result, tuple) or result.dtype != dtype:
        raise errors.DTypeError(f"{name} has no loop with dtype={np.dtype(dtype)}", errors.here())
    return result


def written(name, result, out, where, count):
    """The result of a function, in the array given as `out=`, at the places of `where=`."""
    if count > 1 or isinstance(result, tuple):
        raise errors.Unsupported(f"{name} with several results and out= is not supported", errors.here())
    if out is None:
        raise errors.Unsupported(f"{name} with where= and without out= leaves elements that are not set; use np.where", errors.here())
    if isinstance(out, np.ndarray):
        raise errors.Unsupported(f"{name} with out= an array that is not local to the function", errors.here())
    if np.shape(result) != out.shape:
        raise errors.ShapeError(f"{name}: out= has shape {out.shape}, the result {np.shape(result)}", errors.here())
    dtype = result.dtype if isinstance(result, Array) else np.asarray(result).dtype
    if not np.can_cast(dtype, out.dtype, "same_kind"):
        raise errors.DTypeError(f"{name}: out= of {out.dtype} cannot take a result of {dtype}", errors.here())
    out[...] = result if where is True else np.where(where, result, out)
    return out


def function(called, args, kwargs):
    """`np.sum(x)` and the like."""
    if runs.has_run(args):
        return runs.function(called, args, kwargs)
    if narrow.has_narrow(args) and not _all_known(args):
        return narrow.function(called, args, kwargs)
    if masked.is_masked((*args, *kwargs.values())):
        return masked.function(called, args, kwargs)
    place = place_of(called, "out")
    out = args[place] if place is not None and len(args) > place else kwargs.get("out")
    if out is not None and out is not np._NoValue:
        rest = [*args[:place], None, *args[place + 1 :]] if place is not None and len(args) > place else args
        result = function(called, rest, {key: value for key, value in kwargs.items() if key != "out"})
        return written(name_of(called), result, out, True, 1)
    rule = FUNCTIONS.get(called)
    if rule is None or not rule.memory:
        known_args, known = _known(args)
        known_kwargs, also = _known(kwargs)
        if known and also:
            return _local_result(called(*known_args, **known_kwargs), _arrays((args, kwargs)))
    try:
        if rule is None:
            raise errors.Unsupported(f"{name_of(called)} is not supported{_why(called)}", errors.here())
        return rule(*args, **kwargs)
    except errors.Unsupported:
        # Of what is known NumPy itself can say more.
        demand_each((*args, *kwargs.values()))
        raise


def _all_known(values):
    """Whether NumPy itself can compute with all of these."""
    return not any(isinstance(value, narrow.Narrow) for value in values) and all(array.payload() is not None for array in _arrays(list(values)))


def _why(function):
    from .table.refused import REFUSED

    return f": {REFUSED[function]}" if function in REFUSED else ""


def _known(value):
    """The value with the elements of its arrays, and whether all of them are known."""
    if isinstance(value, Array):
        payload = value.payload()
        if payload is not None and payload.flags.writeable:
            # What NumPy would change in place is not changed while a trace only looks at it.
            payload = payload.view()
            payload.flags.writeable = False
        return payload, payload is not None
    if isinstance(value, (tuple, list)):
        parts = [_known(item) for item in value]
        items = [item for item, _ in parts]
        return (items if isinstance(value, list) else tuple(items)), all(known for _, known in parts)
    if isinstance(value, dict):
        parts = {key: _known(item) for key, item in value.items()}
        return {key: item for key, (item, _) in parts.items()}, all(known for _, known in parts.values())
    return value, True


def _arrays(value):
    if isinstance(value, Array):
        return [value]
    if isinstance(value, (tuple, list)):
        return [array for item in value for array in _arrays(item)]
    if isinstance(value, dict):
        return [array for item in value.values() for array in _arrays(item)]
    return []


def has_arrays(value):
    """Whether there are traced arrays in a nested value."""
    return bool(_arrays(value))


def _local_result(result, inputs):
    """What NumPy computed from known elements; a result that may be a view of an input is entangled with it."""
    if isinstance(result, (tuple, list)):
        return getattr(type(result), "_make", type(result))([_local_result(item, inputs) for item in result])  # named results, too
    array = local(result)
    if isinstance(array, Array):
        for source in _arrays(list(inputs)):
            if np.may_share_memory(result, source.payload()):
                entangle(array, source.root())
    return array


def payload_of(value):
    """The elements of an operand where they are known; None where it is traced."""
    return value.payload() if isinstance(value, Array) else value


# Elementwise


def _operands(*values):
    """Handles of the operands under one shape, their element types, and whether NumPy's result is row-major."""
    trace = current()
    handles = [lift(value, "an operand") for value in values]
    types = [trace.type(handle) for handle in handles]
    try:
        shape = _broadcast(tuple([shape for _, shape in types]))
    except ValueError:
        shapes = " and ".join(str(shape) for _, shape in types)
        raise errors.ShapeError(f"operands could not be broadcast together with shapes {shapes}", errors.here()) from None
    return handles, [dtype for dtype, _ in types], shape, _elementwise_layout(shape, values)


@functools.lru_cache(4096)
def _broadcast(shapes):
    return np.broadcast_shapes(*shapes)


_SAMPLED = {1: np.negative, 2: np.add, 3: np.clip}


def _elementwise_layout(shape, values):
    """How NumPy's result of an elementwise function lies in memory."""
    if len(shape) < 2:
        return True
    shadows = [_shadow_of(value) for value in values if np.ndim(value)]
    return layout.result_shadow(shape, _SAMPLED[len(shadows)], shadows) if shadows else True


def _shadow_of(value):
    return value._shadow if isinstance(value, Array) else layout.shadow_like(np.asarray(value))


def _kept_layout(x):
    """How a copy of an array lies in memory that keeps the order of its axes."""
    return layout.result_shadow(x.shape, np.copy, [x._shadow])


def _apply(row, values, dtype, **attrs):
    """A row over operands of one element type; conversions come before broadcasts, so that they touch fewer elements."""
    trace = current()
    handles, _, shape, ordered = _operands(*[_literal(value, dtype) for value in values])
    handles = [views.broadcast(trace, views.convert(trace, handle, dtype), shape) for handle in handles]
    return traced(trace.op(row, handles, **attrs), ordered=ordered)


def _literal(value, dtype):
    """A Python number in the element type of the operation, in which it must fit."""
    if isinstance(value, Array) or not is_weak(value) or isinstance(value, bool):
        return value
    try:
        return NUMPY[dtype].type(value) if NUMPY[dtype].kind != "b" else value
    except OverflowError as error:
        raise errors.DTypeError(str(error), errors.here()) from None


def _dtype_of(value):
    return result_dtype(value)


def _common(*values):
    return result_dtype(*values)


def _stored(arrays):
    """The element type of arrays put together: there a Python number is an array as others are."""
    return DTYPES[np.result_type(*[x.dtype for x in arrays])]


def _floating(dtype):
    """The element type of a quotient, or of a function such as the sine."""
    return dtype if is_float(dtype) else "f64"


def _counting(dtype):
    """The element type of integer arithmetic."""
    return "i64" if dtype == "bool" else dtype


def _float(row):
    return lambda x: _apply(row, [x], _floating(_dtype_of(x)))


def _compare(row):
    def rule(a, b):
        dtype = _common(a, b)
        return _apply(row, [a, b], dtype if row in ("eq", "ne") else _counting(dtype))

    return rule


def _logic(row):
    return lambda *values: _apply(row, [_truth(value) for value in values], "bool")


def _truth(value):
    """Whether elements are not zero."""
    return value if _dtype_of(value) == "bool" else _compare("ne")(value, 0) if isinstance(value, Array) else np.asarray(value) != 0


def _bitwise(row, name):
    def rule(*values):
        dtype = _common(*values)
        if is_float(dtype):
            raise errors.DTypeError(f"np.{name} of floats is not defined", errors.here())
        return _apply(row, values, dtype)

    return rule


def _shift(row, name):
    def rule(a, b):
        dtype = _common(a, b)
        if is_float(dtype):
            raise errors.DTypeError(f"np.{name} of floats is not defined", errors.here())
        return _apply(row, [a, b], _counting(dtype))

    return rule


def _arithmetic(row, on_bool):
    def rule(a, b):
        dtype = _common(a, b)
        if dtype == "bool":
            if on_bool is None:
                raise errors.DTypeError(f"np.{row} of two bool arrays is not defined; use np.logical_xor", errors.here())
            return _apply(on_bool, [a, b], "bool")
        result = _apply(row, [a, b], dtype)
        _follow(row, result, a, b)
        return result

    return rule


def _follow(row, result, a, b):
    """Keeps `symbol + offset` of integers through the addition of constants; a multiple is a symbol of its own, the same wherever it is written."""
    if result.dtype.kind != "i" or result.shape:
        return
    (symbol_a, offset_a), (symbol_b, offset_b) = affine(a), affine(b)
    if row == "mul" and result.dtype == np.int64 and (symbol_a is None) != (symbol_b is None):
        result._symbol = multiple(*((symbol_a, offset_a, offset_b) if symbol_b is None else (symbol_b, offset_b, offset_a)))
    elif row != "mul" and symbol_b is None and symbol_a is not None:
        result._symbol, result._offset = symbol_a, offset_a + (offset_b if row == "add" else -offset_b)
    elif symbol_a is None and symbol_b is not None and row == "add":
        result._symbol, result._offset = symbol_b, offset_a + offset_b


def _negative(x):
    if _dtype_of(x) == "bool":
        raise errors.DTypeError("the negative of a bool array is not defined; use np.logical_not", errors.here())
    return _apply("neg", [x], _dtype_of(x))


def _positive(x):
    if _dtype_of(x) == "bool":
        raise errors.DTypeError("the positive of a bool array is not defined", errors.here())
    return traced(x.handle(), ordered=_kept_layout(x))


def _divide(a, b):
    return _apply("div", [a, b], _floating(_common(a, b)))


def _floor_divide(a, b):
    """Python's `//`, composed from division towards zero; of floats as NumPy does it, from the remainder."""
    dtype = _common(a, b)
    if _never_strays(a, b):
        return _apply("div", [a, b], _counting(dtype))
    rest = _fmod(a, b)
    adjust = _strays(rest, b)
    if not is_float(dtype):
        return _apply("div", [a, b], _counting(dtype)) - adjust
    quotient = np.true_divide(np.subtract(a, rest), b) - adjust
    whole = np.floor(quotient)
    return np.where(np.equal(b, 0), np.true_divide(a, b), np.where(quotient - whole > 0.5, whole + 1.0, whole))


def _remainder(a, b):
    """Python's `%`: its sign is that of the divisor."""
    rest = _fmod(a, b)
    if _never_strays(a, b):
        rest._symbol = Symbol(0, int(b) - 1)
        return rest
    # A zero is added, so that -0.0 becomes 0.0; both sides have the element type of the rest.
    return np.where(_strays(rest, b), rest + b, rest + 0)


def _fmod(a, b):
    """What a division towards zero leaves over."""
    return _apply("rem", [a, b], _counting(_common(a, b)))


def _never_strays(a, b):
    """Whether an integer is known to be none below 0, as that of a loop, and the divisor one above: then all divisions are the same."""
    if not isinstance(a, Array) or a.shape or a.dtype.kind != "i" or not isinstance(b, (int, np.integer)) or isinstance(b, bool) or b <= 0:
        return False
    symbol, offset = affine(a)
    return symbol.low is not None and symbol.low + offset >= 0


def _strays(rest, b):
    """Where the rest of a division towards zero has not the sign of the divisor."""
    return np.logical_and(rest != 0, np.logical_xor(rest < 0, np.less(b, 0)))


def _square(x):
    return _arithmetic("mul", "and")(x, x)


def _power(x, exponent):
    """Exponents that are known numbers are products where they can be, as `Var.pow` has them; others are the function of two arguments."""
    known, common = payload_of(exponent), _common(x, exponent)
    if known is None and not exponent.shape and exponent.dtype.kind == "i":
        demand_outer(exponent)
    is_number = known is not None and np.ndim(known) == 0
    if not is_float(common):
        if not is_number or known > 64 or common == "bool":
            raise errors.Unsupported("np.power of integers by an exponent that is traced or large; use floats", errors.here())
        if known < 0:
            raise errors.DTypeError("integers to negative integer powers are not allowed", errors.here())
    if not is_number:
        return _apply("pow", [x, exponent], common)
    trace = current()
    (handle,), _, _, ordered = _operands(_literal(x, common))
    constant = trace.constant(NUMPY[common].type(known))
    return traced(trace.tracer.power(views.convert(trace, handle, common), constant, errors.here()), ordered=ordered)


def _number(row):
    """A row over integers and floats; bools are integers."""

    def rule(*values):
        return _apply(row, values, _counting(_common(*values)))

    return rule


def _whole(row):
    """Rounding: integers stay as they are."""
    return lambda x: _apply(row, [x], _dtype_of(x)) if is_float(_dtype_of(x)) else traced(x.handle(), ordered=_kept_layout(x))


def _two_floats(row):
    return lambda a, b: _apply(row, [a, b], _floating(_common(a, b)))


def _either(larger):
    """`np.fmax` and `np.fmin`: a NaN gives way to a number."""
    return lambda a, b: np.where(np.isnan(a), b, np.where(np.isnan(b), a, larger(a, b)))


# Rows of one float, under NumPy's names.
FLOATS = {
    np.sin: "sin", np.cos: "cos", np.tan: "tan", np.arcsin: "asin", np.arccos: "acos", np.arctan: "atan",
    np.sinh: "sinh", np.cosh: "cosh", np.tanh: "tanh", np.arcsinh: "asinh", np.arccosh: "acosh", np.arctanh: "atanh",
    np.exp: "exp", np.exp2: "exp2", np.expm1: "expm1", np.log: "log", np.log2: "log2", np.log10: "log10", np.log1p: "log1p",
    np.sqrt: "sqrt", np.cbrt: "cbrt", np.rint: "round", np.isnan: "is_nan", np.isfinite: "is_finite", np.fabs: "abs",
}

# The same under the names of `scipy.special`.
SPECIAL = {"erf": _float("erf"), "erfc": _float("erfc"), "expit": _float("logistic")}


UFUNCS = {
    **{function: _float(row) for function, row in FLOATS.items()},
    np.absolute: _number("abs"),
    np.sign: _number("sign"),
    np.maximum: _number("max"),
    np.minimum: _number("min"),
    np.fmax: _either(np.maximum),
    np.fmin: _either(np.minimum),
    np.floor: _whole("floor"),
    np.ceil: _whole("ceil"),
    np.trunc: _whole("trunc"),
    np.hypot: _two_floats("hypot"),
    np.arctan2: _two_floats("atan2"),
    np.copysign: _two_floats("copysign"),
    np.fmod: _fmod,
    np.divmod: lambda a, b: (_floor_divide(a, b), _remainder(a, b)),
    np.logaddexp: _two_floats("logaddexp"),
    np.logaddexp2: _two_floats("logaddexp2"),
    np.reciprocal: lambda x: _divide(1.0, x),
    np.isinf: lambda x: np.logical_not(np.logical_or(np.isnan(x), np.isfinite(x))),
    np.signbit: lambda x: np.copysign(1.0, x) < 0,
    np.heaviside: lambda x, middle: np.where(x < 0, 0.0, np.where(np.equal(x, 0), middle, np.where(np.isnan(x), x, 1.0))),
    np.deg2rad: lambda x: x * (np.pi / 180.0),
    np.radians: lambda x: x * (np.pi / 180.0),
    np.rad2deg: lambda x: x * (180.0 / np.pi),
    np.degrees: lambda x: x * (180.0 / np.pi),
    np.add: _arithmetic("add", "or"),
    np.subtract: _arithmetic("sub", None),
    np.multiply: _arithmetic("mul", "and"),
    np.true_divide: _divide,
    np.floor_divide: _floor_divide,
    np.remainder: _remainder,
    np.negative: _negative,
    np.positive: _positive,
    np.conjugate: _positive,
    np.square: _square,
    np.power: _power,
    np.float_power: lambda x, exponent: _power(astype(_as_array(x), np.float64), exponent),
    np.less: _compare("lt"),
    np.less_equal: _compare("le"),
    np.greater: _compare("gt"),
    np.greater_equal: _compare("ge"),
    np.equal: _compare("eq"),
    np.not_equal: _compare("ne"),
    np.logical_and: _logic("and"),
    np.logical_or: _logic("or"),
    np.logical_not: _logic("not"),
    np.logical_xor: _logic("xor"),
    np.bitwise_and: _bitwise("and", "bitwise_and"),
    np.bitwise_or: _bitwise("or", "bitwise_or"),
    np.bitwise_xor: _bitwise("xor", "bitwise_xor"),
    np.invert: _bitwise("not", "invert"),
    np.left_shift: _shift("shl", "left_shift"),
    np.right_shift: _shift("shr", "right_shift"),
    np.matmul: lambda a, b: _matmul(a, b),
    np.vecdot: lambda a, b: np.sum(np.multiply(a, b), axis=-1, dtype=NUMPY[_common(a, b)]),
    np.matvec: lambda a, b: np.matmul(a, np.expand_dims(b, -1))[..., 0],
    np.vecmat: lambda a, b: np.matmul(np.expand_dims(a, -2), b)[..., 0, :],
    np.modf: lambda x: _modf(x),
    np.frexp: lambda x: _frexp(x),
    np.ldexp: lambda x, exponent: _ldexp(x, exponent),
    np.gcd: lambda a, b: _euclid(a, b),
    np.lcm: lambda a, b: np.where(np.logical_or(np.equal(a, 0), np.equal(b, 0)), 0, np.abs(a // np.where(np.equal(a, 0), 1, _euclid(a, b)) * b)),
}


def _modf(x):
    """The fraction and the whole part, both with the sign of the number."""
    x = _as_array(x) if is_float(_dtype_of(x)) else astype(_as_array(x), np.float64)
    finite = np.isfinite(x)
    fraction = np.fmod(np.where(finite, x, x.dtype.type(0)), x.dtype.type(1))
    return np.where(finite, fraction, np.where(np.isnan(x), x, np.copysign(x.dtype.type(0), x))), np.trunc(x)


def _powers(dtype):
    """All powers of 2 that are numbers of a float type, and the exponent of the first; NumPy's own, exact."""
    low, high = (-1074, 1023) if dtype == np.float64 else (-149, 127)
    return np.ldexp(np.ones(high - low + 1, dtype), np.arange(low, high + 1)), low


def _ldexp(x, exponent):
    """By two powers of 2 from a table, so that only the last product is rounded."""
    x = _as_array(x) if is_float(_dtype_of(x)) else astype(_as_array(x), np.float64)
    powers, low = _powers(x.dtype)
    high = low + len(powers) - 1
    normal = -high + 1
    exponent = astype(_as_array(exponent), np.int64)
    exponent = np.clip(exponent, 3 * low, 3 * high)
    last = np.clip(exponent, normal, high)
    first = np.clip(exponent - last, normal, high)
    return x * local(powers)[first - low] * local(powers)[np.clip(exponent - last - first, normal, high) - low] * local(powers)[last - low]


def _frexp(x):
    """A number between 1/2 and 1 and a power of 2, found among all powers."""
    x = _as_array(x) if is_float(_dtype_of(x)) else astype(_as_array(x), np.float64)
    powers, low = _powers(x.dtype)
    usual = np.logical_and(np.isfinite(x), x != 0)
    exponent = np.where(usual, np.searchsorted(local(powers), np.abs(x), side="right") + low, 0)
    return np.where(usual, _ldexp(np.where(usual, x, x.dtype.type(1)), -exponent), x), astype(exponent, np.int32)


def _euclid(a, b):
    """The greatest common divisor, as many steps as numbers of 64 bits need at most."""
    a, b = np.abs(np.add(a, np.multiply(b, 0))), np.abs(np.add(b, np.multiply(a, 0)))
    for _ in range(92 if a.dtype == np.int64 else 47):
        open_ = b != 0
        a, b = np.where(open_, b, a), np.where(open_, a % np.where(open_, b, 1), b)
    return a


# Reductions and contractions


def _axes(axis, ndim, name):
    if axis is None:
        return tuple(range(ndim))
    axes = axis if isinstance(axis, tuple) else (axis,)
    try:
        return tuple(sorted(np.lib.array_utils.normalize_axis_tuple(axes, ndim)))
    except (ValueError, np.exceptions.AxisError) as error:
        raise errors.ShapeError(f"np.{name}: {error}", errors.here()) from None


def _axis(axis, ndim, name):
    """One axis, which None is not."""
    if isinstance(axis, (tuple, list)) or not hasattr(axis, "__index__"):
        raise errors.ArgumentError(f"np.{name}: an axis is an integer, found {axis!r}", errors.here())
    return _axes(axis.__index__(), ndim, name)[0]


@implements(np.sum)
def _sum(x, axis=None, dtype=None, keepdims=False, initial=None, where=True):
    x = _as_array(x) if dtype is None else astype(_as_array(x), dtype)
    if where is not True:
        x = np.where(where, x, x.dtype.type(0))
    axes = _axes(axis, x.ndim, "sum")
    trace = current()
    # Integers of any width and truth values are summed as int64.
    dtype = DTYPES[x.dtype] if x.dtype.kind == "f" or dtype is not None else "i64"
    total = trace.op("sum", [views.convert(trace, x.handle(), dtype)], axes=list(axes))
    if keepdims:
        total = views.reshape(trace, total, [1 if k in axes else extent for k, extent in enumerate(x.shape)])
    total = traced(total, ordered=reduced_layout(x, axes, keepdims))
    return total if initial is None else total + initial


def reduced_layout(x, axes, keepdims):
    """How NumPy's reduction lies in memory."""
    extents = [1 if k in axes else extent for k, extent in enumerate(x.shape) if keepdims or k not in axes]
    return layout.result_shadow(extents, lambda sample: np.asarray(np.sum(sample, axis=axes, keepdims=bool(keepdims))), [x._shadow])


@implements(np.mean)
def _mean(x, axis=None, dtype=None, keepdims=False, where=True):
    if dtype is not None and np.dtype(dtype).kind != "f":
        raise errors.Unsupported(f"np.mean with dtype={np.dtype(dtype)} is not supported", errors.here())
    x = _as_array(x) if dtype is None else astype(_as_array(x), dtype)
    count = float(np.prod([x.shape[k] for k in _axes(axis, x.ndim, "mean")], dtype=np.int64))
    if where is not True:
        count = np.sum(np.broadcast_to(_truth(where), x.shape), axis=axis, keepdims=keepdims)
    total = _sum(1.0 * x if x.dtype.kind != "f" else x, axis=axis, keepdims=keepdims, where=where)
    return total / (count if where is True else count.astype(total.dtype))


def _as_array(x):
    """An Array for anything that can be one; nested sequences with traced elements are stacked."""
    if isinstance(x, Array):
        return x
    if isinstance(x, (list, tuple)) and _arrays(x):
        return array_of(x)
    return local(np.array(x)) if np.ndim(x) else traced(lift(x))


def strong(x):
    """An array whose element type gives way to no other: that of a Python number, where a function makes an array of it."""
    x = _as_array(x)
    return x if not x._weak else traced(x.handle(), scalar=x._scalar, ordered=x._shadow)


@implements(np.dot)
def _dot(a, b):
    a, b = _as_array(a), _as_array(b)
    if not a.ndim or not b.ndim:
        return np.multiply(strong(a), strong(b))
    return _contract("dot", a, b, [a.ndim - 1], [max(b.ndim - 2, 0)], 0)


def _matmul(a, b):
    a, b = _as_array(a), _as_array(b)
    if not a.ndim or not b.ndim:
        raise errors.ShapeError("matmul: a scalar operand; use *", errors.here())
    if a.ndim <= 2 and b.ndim <= 2:
        return _contract("matmul", a, b, [a.ndim - 1], [max(b.ndim - 2, 0)], 0)
    try:
        batch = np.broadcast_shapes(a.shape[:-2], b.shape[:-2])
    except ValueError:
        raise errors.ShapeError(f"matmul: batch axes of {a.shape} and {b.shape} do not fit", errors.here()) from None
    a = a if a.ndim == 1 else np.broadcast_to(a, batch + a.shape[-2:])
    b = b if b.ndim == 1 else np.broadcast_to(b, batch + b.shape[-2:])
    count = len(batch) if a.ndim > 1 and b.ndim > 1 else 0
    if b.ndim == 1:
        return _contract("matmul", a, b, [a.ndim - 1], [0], 0)
    if a.ndim == 1:
        # batch, then columns: the vector is contracted with the second last axis of each matrix
        return _contract("matmul", b, a, [b.ndim - 2], [0], 0)
    return _contract("matmul", a, b, [a.ndim - 1], [b.ndim - 2], count)


def _contract(name, a, b, left, right, batch):
    if [a.shape[k] for k in left] != [b.shape[k] for k in right]:
        raise errors.ShapeError(f"np.{name}: shapes {a.shape} and {b.shape} do not fit", errors.here())
    trace = current()
    dtype = _common(a, b)
    if dtype == "bool":
        raise errors.Unsupported(f"np.{name} of bool arrays is not supported; use numbers", errors.here())
    handles = [views.convert(trace, x.handle(), dtype) for x in (a, b)]
    axes = list(range(batch))
    return traced(trace.op("dot", handles, lhs_contract=left, rhs_contract=right, lhs_batch=axes, rhs_batch=axes))


# Selection and shape


@implements(np.where)
def _where(condition, x=None, y=None):
    if x is None and y is None:
        return np.nonzero(condition)
    if x is None or y is None:
        raise errors.ArgumentError("either both or neither of x and y should be given", errors.here())
    trace = current()
    dtype = _common(x, y)
    handles, _, shape, ordered = _operands(_truth(condition), _literal(x, dtype), _literal(y, dtype))
    converted = [handles[0], *(views.convert(trace, handle, dtype) for handle in handles[1:])]
    return traced(trace.op("select", [views.broadcast(trace, handle, shape) for handle in converted]), ordered=ordered)


@implements(np.reshape, memory=True)
def _reshape(x, shape, order="C", copy=None):
    x = _as_array(x)
    shape = tuple(int(n) if not isinstance(n, Array) else n.__index__() for n in (shape if isinstance(shape, (tuple, list)) else (shape,)))
    if order == "A":
        order = "F" if _is_column_major(x) else "C"
    if order not in ("C", "F"):
        raise errors.ArgumentError(f"np.reshape has the orders C, F and A, found {order!r}", errors.here())
    if order == "C":
        return reshaped(x, shape, copy)
    return _transpose(reshaped(_transpose(x), shape[::-1], copy))


def _known_shadow(x, what):
    if x._shadow is None:
        raise errors.Unsupported(f"{what} of an array whose order in memory is not known; copy it first with .copy()", errors.here())
    return x._shadow


def _is_column_major(x):
    flags = _known_shadow(x, "order='A'").flags
    return flags.f_contiguous and not flags.c_contiguous


@implements(np.ravel, memory=True)
def _ravel(x, order="C"):
    x = _as_array(x)
    if order == "K":
        strides = _known_shadow(x, "order='K'").strides
        x, order = _transpose(x, sorted(range(x.ndim), key=lambda axis: -abs(strides[axis]))), "C"
    if order == "A":
        order = "F" if _is_column_major(x) else "C"
    if x._shadow is None or x._shadow.flags["C_CONTIGUOUS" if order == "C" else "F_CONTIGUOUS"]:
        return _reshape(x, -1, order)
    # What is not contiguous is copied, also where a view could be.
    return _reshape(x, -1, order, copy=True)


@implements(np.transpose, np.permute_dims, memory=True)
def _transpose(x, axes=None):
    x = _as_array(x)
    if x._scalar:
        return x
    axes = tuple(reversed(range(x.ndim))) if axes is None else _permutation(axes, x.ndim)
    return view(x, views.Permute(axes))


def _permutation(axes, ndim):
    axes = tuple(int(k) % ndim if -ndim <= k < ndim else ndim for k in axes)
    if sorted(axes) != list(range(ndim)):
        raise errors.ShapeError(f"axes {axes} are not a permutation of the {ndim} axes", errors.here())
    return axes


@implements(np.swapaxes, memory=True)
def _swapaxes(x, axis1, axis2):
    axes = list(range(x.ndim))
    axes[axis1], axes[axis2] = axes[axis2], axes[axis1]
    return _transpose(x, axes)


@implements(np.expand_dims, memory=True)
def _expand_dims(x, axis):
    x = _as_array(x)
    axes = axis if isinstance(axis, tuple) else (axis,)
    ndim = x.ndim + len(axes)
    axes = _axes(axes, ndim, "expand_dims")
    rest = iter(x.shape)
    return reshaped(x, tuple(1 if k in axes else next(rest) for k in range(ndim)))


@implements(np.squeeze, memory=True)
def _squeeze(x, axis=None):
    x = _as_array(x)
    axes = [k for k, extent in enumerate(x.shape) if extent == 1] if axis is None else _axes(axis, x.ndim, "squeeze")
    if any(x.shape[k] != 1 for k in axes):
        raise errors.ShapeError("cannot squeeze an axis whose size is not one", errors.here())
    return reshaped(x, tuple(extent for k, extent in enumerate(x.shape) if k not in axes))


@implements(np.broadcast_to, memory=True)
def _broadcast_to(x, shape):
    x = _as_array(x)
    shape = tuple(shape) if isinstance(shape, (tuple, list)) else (shape,)
    try:
        fits = np.broadcast_shapes(x.shape, shape) == shape
    except ValueError:
        fits = False
    if not fits:
        raise errors.ShapeError(f"np.broadcast_to: shape {x.shape} cannot become {shape}", errors.here())
    return view(x, views.Spread(shape))


@implements(np.copy)
def copy(x, order="K"):
    """A new root with the same elements."""
    x = _as_array(x)
    payload = x.payload()
    if payload is not None:
        return local(np.array(payload, order=order))
    return traced(x.handle(), scalar=False, ordered=_ordered(x, order))


def _ordered(x, order):
    """How a copy of an array lies in memory."""
    if order not in ("C", "F", "A", "K"):
        raise errors.ArgumentError(f"the orders of a copy are C, F, A and K, found {order!r}", errors.here())
    if order == "A":
        order = "F" if x.ndim > 1 and _is_column_major(x) else "C"
    if order == "K":
        return _kept_layout(x)
    return True if order == "C" or x.ndim < 2 else layout.shadow_of(x.shape, range(x.ndim)[::-1])


def _lies(x, order):
    """Whether an array lies in memory as an order demands."""
    if order in (None, "K"):
        return True
    if order == "A":
        flags = _known_shadow(x, "order='A'").flags
        return flags.c_contiguous or flags.f_contiguous
    flags = _known_shadow(x, f"order={order!r}").flags
    return flags.c_contiguous if order == "C" else flags.f_contiguous


def astype(x, dtype, order="K", casting="unsafe", copy=True):
    """`x.astype(dtype)`."""
    dtype = np.dtype(dtype)
    if dtype in narrow.CARRIERS and np.can_cast(x.dtype, dtype, casting):
        known = x.payload()
        return narrow.cast(x, dtype) if known is None else narrow.known(known.astype(dtype, order=order))
    if dtype not in DTYPES:
        raise errors.DTypeError(f".astype: {refuse_dtype(dtype)}", errors.here())
    if not np.can_cast(x.dtype, dtype, casting):
        raise errors.DTypeError(f".astype: {x.dtype} cannot become {dtype} with casting={casting!r}", errors.here())
    if not copy and dtype == x.dtype and _lies(x, order):
        return x
    payload = x.payload()
    if payload is not None:
        return local(payload.astype(dtype, order=order))
    trace = current()
    return traced(views.convert(trace, x.handle(), DTYPES[dtype]), scalar=x._scalar, ordered=_ordered(x, order))


implements(np.astype, memory=True)(lambda x, dtype, copy=True: astype(x, dtype, copy=copy))


def _like(fill, function):
    def rule(x, dtype=None, order="K", shape=None):
        return _full_like(x, fill, dtype, order, shape)

    implements(function, memory=True)(rule)


_like(0, np.zeros_like)
_like(0, np.empty_like)
_like(1, np.ones_like)


@implements(np.full_like, memory=True)
def _full_like(x, fill_value, dtype=None, order="K", shape=None):
    x = _as_array(x)
    extents = x.shape if shape is None else shape if isinstance(shape, (tuple, list)) else (shape,)
    ordered = _ordered(x, order) if len(extents) == x.ndim else order != "F"
    if not isinstance(ordered, np.ndarray) and not ordered and len(extents) > 1:
        raise errors.Unsupported("an array like one whose order in memory is not known; copy that first with .copy()", errors.here())
    order = "F" if isinstance(ordered, np.ndarray) and not ordered.flags.c_contiguous else "C"
    if order == "C" or len(extents) != x.ndim:
        return full(extents, fill_value, dtype or x.dtype)
    lies = layout.compact(tuple(extents), ordered)
    known = payload_of(fill_value)
    if known is None:
        target = astype(fill_value, dtype or x.dtype)
        return traced(_broadcast_to(target, tuple(extents)).handle(), scalar=False, ordered=lies)
    elements = np.broadcast_to(np.asarray(known).astype(dtype or x.dtype), extents)
    return local(layout.allocated(elements, lies))


def full(shape, fill_value, dtype=None, order="C"):
    """`np.full`, also with a traced number."""
    if order not in ("C", "F"):
        raise errors.ArgumentError(f"only 'C' or 'F' order is permitted, found {order!r}", errors.here())
    known = payload_of(fill_value)
    if known is not None and order == "C":
        return repeated(known, shape, dtype)
    if known is not None:
        return local(np.full(tuple(shape) if isinstance(shape, (tuple, list)) else shape, known, dtype, order))
    target = fill_value if dtype is None else astype(fill_value, dtype)
    return copy(_broadcast_to(target, shape), order=order)


@implements(np.concatenate)
def _concatenate(arrays, axis=0, dtype=None, casting="same_kind"):
    result = _concatenated(arrays, axis)
    return result if dtype is None else astype(result, dtype, casting=casting)


def _concatenated(arrays, axis):
    arrays = [_as_array(x) for x in arrays]
    if axis is None:
        arrays, axis = [np.ravel(x) for x in arrays], 0
    axis = _axis(axis, arrays[0].ndim, "concatenate")
    rest = {x.shape[:axis] + x.shape[axis + 1 :] for x in arrays}
    if len(rest) != 1 or len({x.ndim for x in arrays}) != 1:
        raise errors.ShapeError(f"np.concatenate: shapes {[x.shape for x in arrays]} do not fit along axis {axis}", errors.here())
    shape = list(arrays[0].shape)
    shape[axis] = sum(x.shape[axis] for x in arrays)
    trace, dtype = current(), _stored(arrays)
    result = trace.constant(np.zeros(shape, NUMPY[dtype]))
    start = 0
    for x in arrays:
        at = [trace.constant(np.int64(start if k == axis else 0)) for k in range(len(shape))]
        result = trace.op("update", [result, views.convert(trace, x.handle(), dtype), *at], step=[1] * len(shape))
        start += x.shape[axis]
    return traced(result, ordered=layout.result_shadow(shape, lambda *samples: np.concatenate(samples, axis), [x._shadow for x in arrays]))


@implements(np.stack)
def _stack(arrays, axis=0, dtype=None, casting="same_kind"):
    if lists.has_rows(arrays):
        return _stacked(lists.segments(arrays), axis, dtype, casting)
    arrays = [_as_array(x) for x in arrays]
    axis = _axis(axis, arrays[0].ndim + 1, "stack")
    return _concatenate([_expand_dims(x, axis) for x in arrays], axis=axis, dtype=dtype, casting=casting)


def _stacked(segments, axis, dtype, casting):
    """Items of a list, of which some are rows of an array one after the other."""
    parts = [part.array() if isinstance(part, lists.Rows) else _stack(part) for part in segments]
    whole = _concatenate(parts, dtype=dtype, casting=casting) if len(parts) > 1 or dtype is not None else np.copy(parts[0])
    return whole if axis == 0 else np.moveaxis(whole, 0, axis).copy()


def array_of(value, dtype=None, *, copy=True, order="K", ndmin=0):
    """`np.array` of arrays and of nested sequences with traced elements."""
    if isinstance(value, masked.Masked) and ndmin <= value.ndim:
        same = dtype is None or np.dtype(dtype) == value.dtype
        return value if same and not copy else value.copy() if same else value.astype(dtype)
    if isinstance(value, Array):
        result = _array_of_array(value, dtype, copy, order)
    elif copy is False and not isinstance(value, np.ndarray):
        raise errors.ShapeError("Unable to avoid copy while creating an array as requested", errors.here())
    elif isinstance(value, (list, tuple)) and _arrays(value):
        result = _stack(value if lists.has_rows(value) else [array_of(item) if isinstance(item, (list, tuple, Array)) else item for item in value])
        result = astype(result, dtype) if dtype is not None else result
        result = result if order in ("C", "K", None, "A") else _copied(result, order)
    else:
        result = local(np.array(value, dtype=dtype, order=order))
    missing = ndmin - np.ndim(result)
    return result if missing <= 0 else reshaped(_as_array(result), (1,) * missing + np.shape(result))


def _array_of_array(value, dtype, copy, order):
    same = (dtype is None or np.dtype(dtype) == value.dtype) and not value._weak and not value._scalar
    if not copy and same and _lies(value, order):
        return value
    if copy is False:
        raise errors.ShapeError("Unable to avoid copy while creating an array as requested", errors.here())
    if dtype is None or np.dtype(dtype) == value.dtype:
        return _copied(value, order)
    return astype(value, dtype, order=order)


def _copied(value, order):
    return copy(value, order="K" if order is None else order)


def as_array(value, dtype=None, order=None, *, copy=None):
    """`np.asarray`: an array stays itself, a Python number is one of NumPy's from here on."""
    return array_of(value, dtype, copy=copy, order="K" if order is None else order)


def _required(value, dtype=None, requirements=None):
    """`np.require`."""
    wanted = {requirement.upper()[0] for requirement in ([requirements] if isinstance(requirements, str) else requirements or ())}
    if wanted - set("CFAW"):
        raise errors.Unsupported(f"np.require with requirements={requirements!r} is not supported; C, F, A and W are", errors.here())
    return as_array(value, dtype, "C" if "C" in wanted else "F" if "F" in wanted else None)


def _filled(fill):
    """`np.zeros` and its like; elements of `np.empty`, which are not set, are zero."""

    def rule(shape, dtype=None, order="C"):
        return full(shape, fill, float if dtype is None else dtype, order)

    return rule


# What makes arrays: NumPy does not ask the arguments of these what to do, so the runtime does.
CREATION = {
    function: Rule(function, rule, memory=True)
    for function, rule in {
        np.array: array_of,
        np.asarray: as_array,
        np.asanyarray: as_array,
        np.ascontiguousarray: lambda value, dtype=None: array_of(value, dtype, copy=None, order="C", ndmin=1),
        np.asfortranarray: lambda value, dtype=None: array_of(value, dtype, copy=None, order="F"),
        np.require: _required,
        np.full: full,
        np.empty: _filled(0),
        np.zeros: _filled(0),
        np.ones: _filled(1),
    }.items()
}

implements(np.matrix_transpose, memory=True)(lambda x: _swapaxes(x, -1, -2))
implements(np.real, memory=True)(lambda x: x)
implements(np.real_if_close, memory=True)(lambda x: x)
implements(np.shape, memory=True)(lambda x: x.shape)
implements(np.ndim, memory=True)(lambda x: x.ndim)


@implements(np.size, memory=True)
def _size(x, axis=None):
    return x.size if axis is None else int(np.prod([x.shape[k] for k in _axes(axis, x.ndim, "size")], dtype=np.int64))
