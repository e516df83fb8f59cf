"""NumPy's functions on traced arrays: a table from each to what it becomes. What is not in the table is refused by name."""

import numpy as np

from . import errors, runs, views
from .array import Array, Symbol, affine, demand_outer, entangle, is_weak, lift, local, repeated, reshaped, result_dtype, traced, view
from .trace import DTYPES, NUMPY, current, is_float, refuse_dtype


# Dispatch


def ufunc(function, method, inputs, kwargs):
    """`np.add(x, y)` and the like."""
    name = f"np.{function.__name__}"
    if runs.has_run(inputs):
        return runs.ufunc(function, method, inputs, kwargs)
    if method == "at":
        from . import numeric

        return numeric.write_at(function, *inputs)
    if method != "__call__":
        raise errors.Unsupported(f"{name}.{method} is not supported", errors.here())
    if any(item is not None for item in kwargs.get("out") or ()):
        raise errors.Unsupported(f"{name} with out= is not supported; assign the result", errors.here())
    if kwargs.get("where", True) is not True:
        raise errors.Unsupported(f"{name} with where= is not supported; use np.where", errors.here())
    kwargs = {key: value for key, value in kwargs.items() if key not in ("out", "where")}
    known = [payload_of(value) for value in inputs]
    if all(value is not None for value in known):
        return _local_result(function(*known, **kwargs), inputs)
    if kwargs:
        raise errors.Unsupported(f"{name} with {next(iter(kwargs))}= is not supported", errors.here())
    rule = UFUNCS.get(function) or SPECIAL.get(function.__name__)
    if rule is None:
        raise errors.Unsupported(f"{name} is not supported", errors.here())
    return rule(*inputs)


def function(called, args, kwargs):
    """`np.sum(x)` and the like."""
    from . import linalg

    if runs.has_run(args):
        return runs.function(called, args, kwargs)

    rule = FUNCTIONS.get(called) or linalg.FUNCTIONS.get(called)
    if rule is None:
        known_args, known = _known(args)
        known_kwargs, also = _known(kwargs)
        if not (known and also):
            module = "np.linalg" if called.__module__ == "numpy.linalg" else "np"
            raise errors.Unsupported(f"{module}.{called.__name__} is not supported", errors.here())
        return _local_result(called(*known_args, **known_kwargs), _arrays((args, kwargs)))
    return rule(*args, **kwargs)


def _known(value):
    """The value with the elements of its arrays, and whether all of them are known."""
    if isinstance(value, Array):
        payload = value.payload()
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


def _local_result(result, inputs):
    """What NumPy computed from known elements; a result that may be a view of an input is entangled with it."""
    if isinstance(result, (tuple, list)):
        return type(result)(_local_result(item, inputs) for item in result)
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
        shape = np.broadcast_shapes(*[tuple(shape) for _, shape in types])
    except ValueError:
        shapes = " and ".join(str(tuple(shape)) for _, shape in types)
        raise errors.ShapeError(f"operands could not be broadcast together with shapes {shapes}", errors.here()) from None
    ordered = all(not isinstance(value, Array) or value.ndim < 2 or _row_major(value) for value in values)
    return handles, [dtype for dtype, _ in types], shape, ordered


def _row_major(array):
    return array._shadow is not None and array._shadow.flags.c_contiguous


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
    """Keeps `symbol + offset` of integers through the addition of constants."""
    if result.dtype.kind != "i" or result.shape or row == "mul":
        return
    (symbol_a, offset_a), (symbol_b, offset_b) = affine(a), affine(b)
    if symbol_b is None and symbol_a is not None:
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
    return traced(x.handle(), ordered=_row_major(x))


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
    return lambda x: _apply(row, [x], _dtype_of(x)) if is_float(_dtype_of(x)) else traced(x.handle(), ordered=_row_major(x))


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

# The same for functions of SciPy, which are ufuncs too, by name.
SPECIAL = {"erf": _float("erf"), "erfc": _float("erfc"), "expit": _float("logistic"), "logit": lambda x: np.log(x) - np.log1p(-x)}


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
}


# Reductions and contractions


def _axes(axis, ndim, name):
    if axis is None:
        return tuple(range(ndim))
    axes = axis if isinstance(axis, tuple) else (axis,)
    try:
        return tuple(sorted(np.lib.array_utils.normalize_axis_tuple(axes, ndim)))
    except (ValueError, np.exceptions.AxisError) as error:
        raise errors.ShapeError(f"np.{name}: {error}", errors.here()) from None


def _only(name, **options):
    """Refuses options that are not at their default."""
    for option, value in options.items():
        if value is not None and value is not np._NoValue:
            raise errors.Unsupported(f"np.{name} with {option}= is not supported", errors.here())


def _sum(x, axis=None, dtype=None, out=None, keepdims=False, initial=None, where=None):
    _only("sum", dtype=dtype, out=out, initial=initial, where=None if where is True else where)
    x = _as_array(x)
    payload = x.payload()
    keepdims = False if keepdims is np._NoValue else keepdims
    if payload is not None:
        return _local_result(np.sum(payload, axis=axis, keepdims=keepdims), [x])
    axes = _axes(axis, x.ndim, "sum")
    trace = current()
    # Integers of any width and truth values are summed as int64.
    dtype = DTYPES[x.dtype] if x.dtype.kind == "f" else "i64"
    total = trace.op("sum", [views.convert(trace, x.handle(), dtype)], axes=list(axes))
    if keepdims:
        total = views.reshape(trace, total, [1 if k in axes else extent for k, extent in enumerate(x.shape)])
    return traced(total)


def _mean(x, axis=None, dtype=None, out=None, keepdims=False, where=None):
    _only("mean", dtype=dtype, out=out, where=None if where is True else where)
    x = _as_array(x)
    count = np.prod([x.shape[k] for k in _axes(axis, x.ndim, "mean")], dtype=np.int64)
    return _sum(1.0 * x if x.dtype.kind != "f" else x, axis=axis, keepdims=keepdims) / float(count)


def _as_array(x):
    """An Array for anything that can be one; nested sequences with traced elements are stacked."""
    if isinstance(x, Array):
        return x
    if isinstance(x, (list, tuple)) and _arrays(x):
        return array_of(x)
    return local(np.array(x)) if np.ndim(x) else traced(lift(x))


def _dot(a, b, out=None):
    _only("dot", out=out)
    a, b = _as_array(a), _as_array(b)
    if not a.ndim or not b.ndim:
        return np.multiply(a, b)
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


def _where(condition, x=None, y=None):
    if x is None or y is None:
        raise errors.Unsupported("np.where with one argument is not supported", errors.here())
    trace = current()
    dtype = _common(x, y)
    handles, _, shape, ordered = _operands(_truth(condition), _literal(x, dtype), _literal(y, dtype))
    converted = [handles[0], *(views.convert(trace, handle, dtype) for handle in handles[1:])]
    return traced(trace.op("select", [views.broadcast(trace, handle, shape) for handle in converted]), ordered=ordered)


def _reshape(x, shape=None, order="C", newshape=None, copy=None):
    if order != "C":
        raise errors.Unsupported(f"np.reshape with order={order!r} is not supported", errors.here())
    shape = newshape if shape is None else shape
    shape = tuple(int(n) if not isinstance(n, Array) else n.__index__() for n in (shape if isinstance(shape, (tuple, list)) else (shape,)))
    return reshaped(x, shape)


def _transpose(x, axes=None):
    if x._scalar:
        return x
    axes = tuple(reversed(range(x.ndim))) if axes is None else _permutation(axes, x.ndim)
    return view(x, views.Permute(axes))


def _permutation(axes, ndim):
    axes = tuple(int(k) % ndim if -ndim <= k < ndim else ndim for k in axes)
    if sorted(axes) != list(range(ndim)):
        raise errors.ShapeError(f"axes {axes} are not a permutation of the {ndim} axes", errors.here())
    return axes


def _swapaxes(x, axis1, axis2):
    axes = list(range(x.ndim))
    axes[axis1], axes[axis2] = axes[axis2], axes[axis1]
    return _transpose(x, axes)


def _expand_dims(x, axis):
    axes = axis if isinstance(axis, tuple) else (axis,)
    ndim = x.ndim + len(axes)
    axes = _axes(axes, ndim, "expand_dims")
    rest = iter(x.shape)
    return reshaped(x, tuple(1 if k in axes else next(rest) for k in range(ndim)))


def _squeeze(x, axis=None):
    axes = [k for k, extent in enumerate(x.shape) if extent == 1] if axis is None else _axes(axis, x.ndim, "squeeze")
    if any(x.shape[k] != 1 for k in axes):
        raise errors.ShapeError("cannot squeeze an axis whose size is not one", errors.here())
    return reshaped(x, tuple(extent for k, extent in enumerate(x.shape) if k not in axes))


def _broadcast_to(x, shape, subok=False):
    x = _as_array(x)
    shape = tuple(shape) if isinstance(shape, (tuple, list)) else (shape,)
    try:
        fits = np.broadcast_shapes(x.shape, shape) == shape
    except ValueError:
        fits = False
    if not fits:
        raise errors.ShapeError(f"np.broadcast_to: shape {x.shape} cannot become {shape}", errors.here())
    return view(x, views.Spread(shape))


def copy(x, order="K", subok=False):
    """A new root with the same elements."""
    payload = x.payload()
    if payload is not None:
        return local(np.array(payload, order="C"))
    return traced(x.handle(), scalar=False, ordered=order == "C" or _row_major(x))


def astype(x, dtype):
    """`x.astype(dtype)`."""
    dtype = np.dtype(dtype)
    if dtype not in DTYPES:
        raise errors.DTypeError(f".astype: {refuse_dtype(dtype)}", errors.here())
    payload = x.payload()
    if payload is not None:
        return local(payload.astype(dtype))
    trace = current()
    return traced(views.convert(trace, x.handle(), DTYPES[dtype]), scalar=x._scalar, ordered=_row_major(x))


def _like(fill):
    def rule(x, dtype=None, order="K", subok=True, shape=None, **_):
        shape = x.shape if shape is None else shape
        return repeated(fill, shape, dtype or x.dtype)

    return rule


def _full_like(x, fill_value, dtype=None, order="K", subok=True, shape=None, **_):
    return full(x.shape if shape is None else shape, fill_value, dtype or x.dtype)


def full(shape, fill_value, dtype=None, order="C", **_):
    """`np.full`, also with a traced number."""
    known = payload_of(fill_value)
    if known is not None:
        return repeated(known, shape, dtype)
    target = fill_value if dtype is None else astype(fill_value, dtype)
    return copy(_broadcast_to(target, shape), order="C")


def _concatenate(arrays, axis=0, out=None, dtype=None, casting=None):
    _only("concatenate", out=out, dtype=dtype)
    arrays = [_as_array(x) for x in arrays]
    if axis is None:
        arrays, axis = [np.ravel(x) for x in arrays], 0
    axis = _axes(axis, arrays[0].ndim, "concatenate")[0]
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
    return traced(result)


def _stack(arrays, axis=0, out=None, dtype=None, casting=None):
    arrays = [_as_array(x) for x in arrays]
    axis = _axes(axis, arrays[0].ndim + 1, "stack")[0]
    return _concatenate([_expand_dims(x, axis) for x in arrays], axis=axis, out=out, dtype=dtype)


def array_of(value, dtype=None, **_):
    """`np.array` of arrays and of nested sequences with traced elements."""
    if isinstance(value, Array):
        return astype(value, dtype) if dtype is not None and np.dtype(dtype) != value.dtype else copy(value, order="C")
    if isinstance(value, (list, tuple)) and _arrays(value):
        result = _stack([array_of(item) if isinstance(item, (list, tuple, Array)) else item for item in value])
        return astype(result, dtype) if dtype is not None else result
    return local(np.array(value, dtype=dtype))


def as_array(value, dtype=None, **options):
    """`np.asarray`: an array stays itself, a Python number is one of NumPy's from here on."""
    if isinstance(value, Array) and (dtype is None or np.dtype(dtype) == value.dtype):
        return traced(value.handle()) if value._weak else value
    return array_of(value, dtype, **options)


FUNCTIONS = {
    np.sum: _sum,
    np.mean: _mean,
    np.dot: _dot,
    np.where: _where,
    np.reshape: _reshape,
    np.ravel: lambda x, order="C": _reshape(x, -1, order),
    np.transpose: _transpose,
    np.swapaxes: _swapaxes,
    np.expand_dims: _expand_dims,
    np.squeeze: _squeeze,
    np.broadcast_to: _broadcast_to,
    np.copy: copy,
    np.zeros_like: _like(0),
    np.empty_like: _like(0),
    np.ones_like: _like(1),
    np.full_like: _full_like,
    np.concatenate: _concatenate,
    np.stack: _stack,
    np.real: lambda x: x,
    np.shape: lambda x: x.shape,
    np.ndim: lambda x: x.ndim,
    np.size: lambda x, axis=None: x.size if axis is None else x.shape[axis],
}
