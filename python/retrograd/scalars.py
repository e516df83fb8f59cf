"""Operators and functions of Python's own numbers, which raise where NumPy's wrap, or give a NaN or an infinity.

Where bounds do not show that all is well, the Program has a check at the user's line. An integer beyond 64 bits is an error, too: it has
a meaning in Python and none in machine code.
"""

import math

import numpy as np

from . import bounds, errors
from .array import PYTHON, Array
from .trace import current

_BEYOND = "an integer of Python grows beyond 64 bits here, where machine code has no more; use floats"
_ZERO = {
    "/": "division by zero", "//": "integer division or modulo by zero", "%": "integer modulo by zero", "float//": "float floor division by zero",
    "float%": "float modulo by zero",
}


def require(condition, message, kind):
    """A check at the user's line: the exception where the condition does not hold."""
    trace = current()
    handle = condition.handle() if isinstance(condition, Array) else trace.constant(np.bool_(condition))
    trace.check(handle, message, kind)


def _once(value, what):
    """Whether a number is not yet checked for something, in this body or one around it."""
    trace, key = current(), (value.handle(), what)
    if any(key in frame.checked for frame in trace.frames):
        return False
    trace.frame.checked.add(key)
    return True


def _integer(value):
    """A bool as the integer that it is in arithmetic."""
    if isinstance(value, Array):
        return value.astype(np.int64) if value.dtype.kind == "b" else value
    return int(value) if isinstance(value, bool) else value


def _is_float(value):
    return value.dtype.kind == "f" if isinstance(value, Array) else isinstance(value, float)


def _made(result, limits, grown=None):
    """The result as a number of Python."""
    if isinstance(result, Array):
        result._weak, result._bounds, result._growth = True, limits, grown
    return result


def _checked(result, limits, is_right, grown=None):
    """An integer that fits in 64 bits, by its bounds or by a check."""
    if bounds.fits(limits):
        return _made(result, limits, grown)
    current().overflows += 1
    require(is_right(), _BEYOND, OverflowError)
    return _made(result, bounds.clipped(limits), grown)


def add(a, b):
    a, b = _integer(a), _integer(b)
    result, (low, high) = np.add(a, b), bounds.add(bounds.of(a), bounds.of(b))
    if _is_float(result):
        return _made(result, (low, high))
    return _checked(result, (low, high), lambda: _same_side(a, b, result), _grown(a, b) or _grown(b, a))


def subtract(a, b):
    a, b = _integer(a), _integer(b)
    result, limits = np.subtract(a, b), bounds.add(bounds.of(a), bounds.negative(bounds.of(b)))
    if _is_float(result):
        return _made(result, limits)
    grown = bounds.growth(a)
    low, high = bounds.negative(bounds.of(b))
    return _checked(result, limits, lambda: _same_side(result, b, a), grown.plus(low, high) if grown is not None else None)


def _grown(a, b):
    grown = bounds.growth(a)
    return grown.plus(*bounds.of(b)) if grown is not None else None


def _same_side(a, b, total):
    """Whether a + b is the total, without a wrap: it is not less than a exactly where b is not negative."""
    low, high = bounds.of(b)
    if low >= 0:
        return np.greater_equal(total, a)
    if high <= 0:
        return np.less_equal(total, a)
    return np.equal(np.less(b, 0), np.less(total, a))


def multiply(a, b):
    a, b = _integer(a), _integer(b)
    result = np.multiply(a, b)
    limits = bounds.multiply(bounds.of(a), bounds.of(b)) if a is not b else bounds.power(bounds.of(a), 2)
    if _is_float(result):
        return _made(result, limits)
    return _checked(result, limits, lambda: _near(np.multiply(_real(a), _real(b)), result))


def _known(value):
    return value.payload() if isinstance(value, Array) else value


def _real(value):
    return value.astype(np.float64) if isinstance(value, Array) else float(value)


def _near(exact, wrapped):
    """Whether an integer did not wrap, by the same computation in floats: a wrap is off by 2⁶⁴."""
    return np.less(np.abs(np.subtract(exact, _real(wrapped))), 2.0**62)


def divide(a, b):
    a, b = _integer(a), _integer(b)
    _nonzero(b, _ZERO["/"])
    return _made(np.true_divide(a, b), _quotient(a, b))


def _quotient(a, b):
    return (0.0, math.inf) if bounds.of(a)[0] >= 0 and bounds.of(b)[0] >= 0 else bounds.REALS


def _nonzero(value, message):
    low, high = bounds.of(value)
    if low > 0 or high < 0:
        return
    if not isinstance(value, Array):
        raise ZeroDivisionError(message)
    if _once(value, "zero"):
        require(np.not_equal(value, 0), message, ZeroDivisionError)


def floor_divide(a, b):
    a, b = _integer(a), _integer(b)
    if _is_float(a) or _is_float(b):
        _nonzero(b, _ZERO["float//"])
        return _made(np.floor_divide(a, b), bounds.REALS)
    if not isinstance(b, Array):
        _nonzero(b, _ZERO["//"])
    limits = bounds.floor_divide(bounds.of(a), bounds.of(b))
    return _checked(np.floor_divide(a, b), limits, lambda: np.logical_or(np.not_equal(a, bounds.LEAST), np.not_equal(b, -1)))


def remainder(a, b):
    a, b = _integer(a), _integer(b)
    if _is_float(a) or _is_float(b):
        _nonzero(b, _ZERO["float%"])
        return _made(np.remainder(a, b), (0.0, math.inf) if bounds.of(b)[0] >= 0 else bounds.REALS)
    if not isinstance(b, Array):
        _nonzero(b, _ZERO["%"])
    return _made(np.remainder(a, b), bounds.remainder(bounds.of(a), bounds.of(b)))


def power(a, b):
    a, b = _integer(a), _integer(b)
    if _is_float(a) or _is_float(b):
        return _float_power(a, b, ZeroDivisionError, "zero to a negative power")
    known = _known(b)
    if known is None:
        return _traced_power(a, b)
    if known < 0:
        return _float_power(_real(a), float(known), ZeroDivisionError, "zero to a negative power")
    if known == 0:
        return 1
    limits = bounds.power(bounds.of(a), known)
    return _checked(np.power(a, known), limits, lambda: _near(np.power(_real(a), float(known)), np.power(a, known)))


def _traced_power(a, b):
    """An integer to a traced one, by squares of the base: as many as a result of 64 bits has room for."""
    low, high = bounds.of(b)
    from .array import demand, demand_outer

    demand_outer(b)
    if low < 0:
        demand(b)
        raise errors.Unsupported("an integer to a traced power that may be negative, which makes it a float; use a float as the base", errors.here())
    squares = min(6, max(1, high.bit_length()))
    result, square = 1, a
    for k in range(squares):
        bit = np.not_equal(np.bitwise_and(b, 1 << k), 0)
        result = np.where(bit, np.multiply(result, square), result)
        square = np.multiply(square, square)
    ends = [bounds.power(bounds.of(a), end) if end <= 64 else (-math.inf, math.inf) for end in (low, high)]
    if bounds.of(a)[0] < 0:
        ends.append(bounds.multiply(ends[1], (-1, 1)))
    small = lambda: np.logical_or(np.less(b, 64), np.less_equal(np.abs(a), 1))
    near = lambda: _near(np.power(_real(a), _real(b)), result)
    if high >= 64:
        # Beyond 63 only 0, 1 and -1 stay small.
        result = np.where(np.less(b, 64), result, np.where(np.equal(a, -1), 1 - 2 * np.bitwise_and(b, 1), np.multiply(a, a)))
    return _checked(result, bounds.hull(*ends), lambda: np.logical_and(small(), near()))


def _float_power(a, b, zero, words):
    """A float to a power: complex, infinite or too large results are errors."""
    low, high = bounds.of(a)
    result = np.power(a, b)
    known = _known(b)
    known = None if known is None else float(known)
    if known is None or math.isfinite(known) and not known.is_integer():
        if low < 0:
            # Python has a number for minus infinity to any power, and for anything to an infinite one.
            whole = np.logical_or(np.greater_equal(a, 0), np.equal(a, -math.inf))
            whole = whole if known is not None else _or_nan(np.logical_or(whole, np.equal(b, np.floor(b))), b)
            complex_ = ("a negative number to a power that is no integer is complex; complex numbers are not supported", errors.Unsupported)
            require(_or_nan(whole, a), *(complex_ if zero is ZeroDivisionError else (words, zero)))
    if (known is None or known < 0) and low <= 0 <= high:
        fine = np.not_equal(a, 0)
        require(fine if known is not None else np.logical_or(fine, np.greater_equal(b, 0)), words, zero)
    if not _small_power(low, high, known):
        _not_too_large(result, [a, b])
    limits = (0.0, math.inf) if low >= 0 or known is not None and known % 2 == 0 else bounds.REALS
    return _made(result, limits)


def _small_power(low, high, known):
    """Whether a power surely has no more than 300 digits, or no less: then it is no infinity."""
    if known is None or not math.isfinite(low) or not math.isfinite(high):
        return known is not None and 0 <= known <= 1
    most = max(abs(low), abs(high), 1.0)
    least = min(abs(low), abs(high)) if low > 0 or high < 0 else 0.0
    return known * math.log10(most) < 300 if known >= 0 else least > 0 and -known * -math.log10(min(least, 1.0)) < 300


def _or_nan(condition, value):
    return np.logical_or(condition, np.isnan(value)) if isinstance(value, Array) else condition


def _not_too_large(result, operands):
    """Python tells an infinity that came out of finite numbers."""
    fine = np.not_equal(np.abs(result), math.inf)
    for value in operands:
        if isinstance(value, Array) and value.dtype.kind == "f":
            fine = np.logical_or(fine, np.equal(np.abs(value), math.inf))
        elif not isinstance(value, Array) and math.isinf(value):
            return
    require(fine, "math range error: the result is too large for a float", OverflowError)


def left_shift(a, b):
    a, b = _integer(a), _integer(b)
    _shift_count(b)
    low, high = bounds.of(b)
    limits = bounds.multiply(bounds.of(a), (1 << max(low, 0), 1 << min(max(high, 0), 64)))
    result = np.left_shift(a, np.minimum(b, 63) if high > 63 else b)
    back = lambda: np.logical_or(np.equal(a, 0), np.logical_and(np.less(b, 63), np.equal(np.right_shift(result, np.minimum(b, 63)), a)))
    return _checked(result, limits, back)


def right_shift(a, b):
    a, b = _integer(a), _integer(b)
    _shift_count(b)
    low, high = bounds.of(a)
    return _made(np.right_shift(a, np.minimum(b, 63) if bounds.of(b)[1] > 63 else b), (min(low, 0), max(high, 0)) if low < 0 else (0, high))


def _shift_count(b):
    if bounds.of(b)[0] >= 0:
        return
    if not isinstance(b, Array):
        raise ValueError("negative shift count")
    require(np.greater_equal(b, 0), "negative shift count", ValueError)


def _bits(ufunc):
    def rule(a, b):
        result = ufunc(a, b)
        (low, high), (least, most) = bounds.of(a), bounds.of(b)
        if result.dtype.kind == "b":
            return _made(result, (0, 1))
        if ufunc is np.bitwise_and and (low >= 0 or least >= 0):
            return _made(result, (0, min(end for start, end in ((low, high), (least, most)) if start >= 0)))
        return _made(result, (0, (1 << max(high, most).bit_length()) - 1) if low >= 0 and least >= 0 else bounds.INTEGERS)

    return rule


def negative(a):
    a = _integer(a)
    result, limits = np.negative(a), bounds.negative(bounds.of(a))
    return _made(result, limits) if _is_float(a) else _checked(result, limits, lambda: np.not_equal(a, bounds.LEAST))


def positive(a):
    a = _integer(a)
    return _made(np.positive(a), bounds.of(a), bounds.growth(a))


def absolute(a):
    a = _integer(a)
    result, limits = np.absolute(a), bounds.absolute(bounds.of(a))
    return _made(result, limits) if _is_float(a) else _checked(result, limits, lambda: np.not_equal(a, bounds.LEAST))


def invert(a):
    a = _integer(a)
    return _made(np.invert(a), bounds.add(bounds.negative(bounds.of(a)), (-1, -1)))


BINARY = {
    "add": add, "sub": subtract, "mul": multiply, "truediv": divide, "floordiv": floor_divide, "mod": remainder, "pow": power, "lshift": left_shift,
    "rshift": right_shift, "and": _bits(np.bitwise_and), "or": _bits(np.bitwise_or), "xor": _bits(np.bitwise_xor),
}
UNARY = {"neg": negative, "pos": positive, "abs": absolute, "invert": invert}
PYTHON.update(BINARY, **UNARY)


# Conversions


def integer_of(value, rounded):
    """`int(x)` and its like: the integer that a float without a fraction is."""
    if value.dtype.kind != "f":
        return _made(value.astype(np.int64) if value.dtype != np.int64 else np.positive(value), bounds.of(value), bounds.growth(value))
    low, high = bounds.of(value)
    if not _once(value, "integer"):
        return _made(rounded(value).astype(np.int64), (math.floor(max(low, -(2.0**62))), math.ceil(min(high, 2.0**62))))
    require(np.equal(value, value), "cannot convert float NaN to integer", ValueError)
    most = 2.0**62
    if low <= -most or high >= most:
        require(np.less(np.abs(value), most), "cannot convert float infinity, or one beyond 62 bits, to integer", OverflowError)
    limits = (math.floor(max(low, -most)), math.ceil(min(high, most)))
    return _made(rounded(value).astype(np.int64), limits)


# Functions of `math`: what is an error of them, as a condition that holds where all is well. A NaN is no error.

_DOMAIN = "math domain error"
_above = lambda least: (lambda x: np.logical_not(np.less(x, least)), lambda low, high: low >= least)
_beyond = lambda least: (lambda x: np.logical_not(np.less_equal(x, least)), lambda low, high: low > least)
_within = (lambda x: np.logical_not(np.greater(np.abs(x), 1.0)), lambda low, high: low >= -1.0 and high <= 1.0)
_inside = (lambda x: np.logical_not(np.greater_equal(np.abs(x), 1.0)), lambda low, high: low > -1.0 and high < 1.0)
_finite = (lambda x: np.not_equal(np.abs(x), math.inf), lambda low, high: math.isfinite(low) and math.isfinite(high))

DOMAINS = {
    "sqrt": _above(0.0), "log": _beyond(0.0), "log2": _beyond(0.0), "log10": _beyond(0.0), "log1p": _beyond(-1.0), "asin": _within, "acos": _within,
    "acosh": _above(1.0), "atanh": _inside, "sin": _finite, "cos": _finite, "tan": _finite,
}
_GROWING = {"exp": 709.0, "expm1": 709.0, "sinh": 710.0, "cosh": 710.0, "exp2": 1023.0}
_RANGES = {"exp": (0.0, math.inf), "sqrt": (0.0, math.inf), "cosh": (1.0, math.inf), "sin": (-1.0, 1.0), "cos": (-1.0, 1.0), "tanh": (-1.0, 1.0), "fabs": (0.0, math.inf)}


def of_math(name, function, values):
    """A function of `math` on floats."""
    low, high = bounds.of(values[0])
    if name in DOMAINS and not DOMAINS[name][1](low, high) and _once(values[0], DOMAINS[name]):
        require(DOMAINS[name][0](values[0]), _DOMAIN, ValueError)
    if name == "pow":
        return _float_power(*values, ValueError, _DOMAIN)
    if name == "fmod":
        fine = np.logical_and(np.not_equal(values[1], 0.0), np.not_equal(np.abs(values[0]), math.inf))
        require(np.logical_or(fine, np.logical_or(np.isnan(values[0]), np.isnan(values[1]))), _DOMAIN, ValueError)
    result = function(*values)
    if name in _GROWING and (high > _GROWING[name] or low < -_GROWING[name] and name in ("sinh", "cosh")):
        _not_too_large(result, values)
    if result.dtype.kind == "b":
        return _made(result, (0, 1))
    return _made(result, _RANGES.get(name, bounds.REALS))
