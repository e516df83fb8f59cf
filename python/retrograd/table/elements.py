"""Functions of elements that are no ufuncs."""

import math

import numpy as np

from .. import errors
from ..array import local
from ..functions import _apply, _as_array, _axis, _common, _counting, _floating, astype
from ..functions import copy as copied
from ..rules import implements
from ..trace import NUMPY


@implements(np.clip)
def _clip(x, a_min=None, a_max=None, *, min=None, max=None):
    """A bound of None is none."""
    if (a_min is not None or a_max is not None) and (min is not None or max is not None):
        raise errors.ArgumentError("np.clip takes `min` and `max`, or `a_min` and `a_max`", errors.here())
    low, high = (min if a_min is None else a_min), (max if a_max is None else a_max)
    if low is None and high is None:
        return copied(_as_array(x))
    if high is None:
        return np.maximum(x, low)
    if low is None:
        return np.minimum(x, high)
    return _apply("clamp", [x, low, high], _counting(_common(x, low, high)))


@implements(np.nan_to_num, memory=True)
def _nan_to_num(x, copy=True, nan=0.0, posinf=None, neginf=None):
    given = x = _as_array(x)
    if x.dtype.kind == "f":
        largest = float(np.finfo(x.dtype).max)
        x = np.where(np.isnan(x), nan, x)
        x = np.where(np.equal(x, np.inf), largest if posinf is None else posinf, x)
        x = np.where(np.equal(x, -np.inf), -largest if neginf is None else neginf, x)
    if copy or given._scalar:
        return x if x is not given else copied(x)
    given[...] = x
    return given


@implements(np.round, np.around)
def _round(x, decimals=0):
    x = _as_array(x)
    if decimals == 0 or x.dtype.kind != "f":
        if x.dtype.kind != "f" and decimals < 0:
            raise errors.Unsupported("np.round of integers to tens is not supported", errors.here())
        return np.rint(x) if x.dtype.kind == "f" else copied(x)
    return np.rint(x * 10.0**decimals) / 10.0**decimals


implements(np.fix)(lambda x: np.trunc(x))


@implements(np.linspace)
def _linspace(start, stop, num=50, endpoint=True, retstep=False, dtype=None, axis=0):
    if dtype is not None:
        result = _linspace(start, stop, num, endpoint, retstep, None, axis)
        if np.dtype(dtype).kind != "f":
            raise errors.Unsupported("np.linspace with dtype= of integers is not supported", errors.here())
        return (astype(result[0], dtype), result[1]) if retstep else astype(result, dtype)
    count = num - 1 if endpoint else num
    dtype = NUMPY[_floating(_common(start, stop))]
    fractions = (np.arange(num) / count if count else np.zeros(num)).astype(dtype)
    shape = (num,) + (1,) * max(np.ndim(start), np.ndim(stop))
    width = np.subtract(stop, start)
    result = start + np.reshape(local(fractions), shape) * width
    if endpoint and num > 1:
        result[-1] = stop
    result = np.moveaxis(result, 0, _axis(axis, result.ndim, "linspace")) if axis != 0 else result
    return (result, width / count if count > 0 else np.nan) if retstep else result


@implements(np.select)
def _select(conditions, choices, default=0):
    result = default
    for condition, choice in zip(reversed(conditions), reversed(choices)):
        result = np.where(condition, choice, result)
    return result


@implements(np.sinc)
def _sinc(x):
    """sin(pi x) / (pi x). Near 0 it is its series, whose derivatives of all orders are right there, too."""
    x = _as_array(x)
    y = x * np.pi if x.dtype.kind == "f" else np.pi * astype(x, np.float64)
    near, square = np.abs(y) < 0.5, np.where(np.abs(y) < 0.5, y * y, y.dtype.type(0))
    series = y.dtype.type(0)
    for k in range(9, -1, -1):
        series = series * square + (-1.0) ** k / math.factorial(2 * k + 1)
    away = np.where(near, y.dtype.type(1), y)
    return np.where(near, series, np.sin(away) / away)


@implements(np.i0)
def _i0(x):
    """The modified Bessel function of order 0: its power series (Abramowitz and Stegun 9.6.10), from 20 on its asymptotic expansion (9.7.1)."""
    x = _as_array(x)
    x = x if x.dtype.kind == "f" else astype(x, np.float64)
    one = x.dtype.type(1)
    near = np.abs(x) < 20
    quarter = np.where(near, x * x / 4, one)
    series = one
    for k in range(50, 0, -1):
        series = 1 + series * quarter / (k * k)
    far = np.where(near, one * 20, np.abs(x))
    expansion = one
    for k in range(22, 0, -1):
        expansion = 1 + expansion * ((2 * k - 1) ** 2 / (8.0 * k)) / far
    return np.where(near, series, np.exp(far / 2) * (expansion / np.sqrt(2 * np.pi * far)) * np.exp(far / 2))


@implements(np.isclose)
def _isclose(a, b, rtol=1e-05, atol=1e-08, equal_nan=False):
    near = np.less_equal(np.abs(np.subtract(a, b)), atol + rtol * np.abs(b))
    result = np.logical_or(np.logical_and(near, np.isfinite(b)), np.equal(a, b))
    return np.logical_or(result, np.logical_and(np.isnan(a), np.isnan(b))) if equal_nan else result


@implements(np.allclose)
def _allclose(a, b, rtol=1e-05, atol=1e-08, equal_nan=False):
    return np.all(_isclose(a, b, rtol, atol, equal_nan))


@implements(np.array_equal)
def _array_equal(a1, a2, equal_nan=False):
    if np.shape(a1) != np.shape(a2):
        return False
    same = np.equal(a1, a2)
    return np.all(np.logical_or(same, np.logical_and(np.isnan(a1), np.isnan(a2))) if equal_nan else same)


@implements(np.array_equiv)
def _array_equiv(a1, a2):
    try:
        np.broadcast_shapes(np.shape(a1), np.shape(a2))
    except ValueError:
        return False
    return np.all(np.equal(a1, a2))


@implements(np.isposinf)
def _isposinf(x):
    return np.equal(x, np.inf)


@implements(np.isneginf)
def _isneginf(x):
    return np.equal(x, -np.inf)


@implements(np.imag)
def _imag(val):
    return np.zeros_like(val)


@implements(np.angle)
def _angle(z, deg=False):
    """Of real numbers: 0, or half a turn."""
    z = _as_array(z)
    angle = np.where(np.signbit(z), 180.0 if deg else np.pi, 0.0)
    angle = np.where(np.isnan(z), np.nan, angle) if z.dtype.kind == "f" else angle
    return astype(angle, z.dtype if z.dtype.kind == "f" else np.float64)


implements(np.isreal)(lambda x: np.ones(np.shape(x), bool))
implements(np.iscomplex)(lambda x: np.zeros(np.shape(x), bool))
implements(np.iscomplexobj, memory=True)(lambda x: False)
implements(np.isrealobj, memory=True)(lambda x: True)


@implements(np.logspace)
def _logspace(start, stop, num=50, endpoint=True, base=10.0, dtype=None, axis=0):
    powers = np.power(base, _linspace(start, stop, num, endpoint, axis=axis))
    return powers if dtype is None else astype(powers, dtype)


@implements(np.geomspace)
def _geomspace(start, stop, num=50, endpoint=True, dtype=None, axis=0):
    """Of positive numbers, or of negative ones."""
    sign = np.sign(start)
    result = sign * np.power(10.0, _linspace(np.log10(sign * start), np.log10(sign * stop), num, endpoint, axis=axis))
    result = np.moveaxis(result, axis, 0) if axis else result
    if num > 0:
        result[0] = start
    if num > 1 and endpoint:
        result[-1] = stop
    result = np.moveaxis(result, 0, axis) if axis else result
    return result if dtype is None else astype(result, dtype)
