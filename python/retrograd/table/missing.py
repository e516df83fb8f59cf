"""Functions that leave out NaNs."""

import numpy as np

from .. import custom, errors
from ..functions import _as_array, astype
from ..rules import implements


def _inexact(name, dtype):
    if dtype is not None and np.dtype(dtype).kind != "f":
        raise errors.DTypeError(f"np.{name}: if the array is of floats, dtype= must be, too", errors.here())


def _present(x):
    return np.logical_not(np.isnan(x))


def _without(x, number):
    """The elements, with a number in place of NaNs."""
    x = _as_array(x)
    return np.where(np.isnan(x), x.dtype.type(number), x) if x.dtype.kind == "f" else x


@implements(np.nansum)
def _nansum(x, axis=None, dtype=None, keepdims=False, initial=None, where=True):
    return np.sum(_without(x, 0), axis=axis, dtype=dtype, keepdims=keepdims, initial=0 if initial is None else initial, where=where)


@implements(np.nanprod)
def _nanprod(x, axis=None, dtype=None, keepdims=False, initial=None, where=True):
    return np.prod(_without(x, 1), axis=axis, dtype=dtype, keepdims=keepdims, initial=1 if initial is None else initial, where=where)


def _nanextreme(function, outside):
    def rule(x, axis=None, keepdims=False, initial=None, where=True):
        x = _as_array(x)
        options = {key: value for key, value in (("initial", initial), ("where", where)) if value is not None and value is not True}
        if x.dtype.kind != "f":
            return function(x, axis=axis, keepdims=keepdims, **options)
        found = function(_without(x, outside), axis=axis, keepdims=keepdims, **options)
        if initial is not None:
            return found
        return np.where(np.any(_present(x), axis=axis, keepdims=keepdims), found, x.dtype.type(np.nan))

    return rule


implements(np.nanmax)(_nanextreme(np.max, -np.inf))
implements(np.nanmin)(_nanextreme(np.min, np.inf))


def _nanplace(function, outside):
    def rule(x, axis=None, keepdims=False):
        x = _as_array(x)
        if x.dtype.kind == "f":
            custom.check(np.all(np.any(_present(x), axis=axis)), "All-NaN slice encountered", ValueError)
        return function(_without(x, outside), axis=axis, keepdims=keepdims)

    return rule


implements(np.nanargmax)(_nanplace(np.argmax, -np.inf))
implements(np.nanargmin)(_nanplace(np.argmin, np.inf))


@implements(np.nanmean)
def _nanmean(x, axis=None, dtype=None, keepdims=False, where=True):
    x = _as_array(x)
    if x.dtype.kind != "f":
        return np.mean(x, axis=axis, dtype=dtype, keepdims=keepdims, where=where)
    _inexact("nanmean", dtype)
    present = _present(x) if where is True else np.logical_and(_present(x), where)
    total = np.sum(np.where(present, x, x.dtype.type(0)), axis=axis, dtype=dtype, keepdims=keepdims)
    return total / astype(np.sum(present, axis=axis, keepdims=keepdims), total.dtype)


@implements(np.nanvar)
def _nanvar(x, axis=None, dtype=None, ddof=0, keepdims=False, where=True, mean=None, correction=None):
    x = _as_array(x)
    if x.dtype.kind == "f":
        _inexact("nanvar", dtype)
    x = x if dtype is None else astype(x, dtype)
    ddof = ddof if correction is None else correction
    if x.dtype.kind != "f":
        return np.var(x, axis=axis, ddof=ddof, keepdims=keepdims)
    present = _present(x) if where is True else np.logical_and(_present(x), where)
    count = astype(np.sum(present, axis=axis, keepdims=keepdims), x.dtype)
    centre = _nanmean(x, axis, keepdims=True, where=where) if mean is None else mean
    away = np.where(present, x - centre, x.dtype.type(0))
    return np.where(count > ddof, np.sum(away * away, axis=axis, keepdims=keepdims) / np.where(count > ddof, count - ddof, x.dtype.type(1)), x.dtype.type(np.nan))


@implements(np.nanstd)
def _nanstd(x, axis=None, dtype=None, ddof=0, keepdims=False, where=True, mean=None, correction=None):
    variance = _nanvar(x, axis, dtype, ddof, keepdims, where, mean, correction)
    spread = variance > 0
    return np.where(spread, np.sqrt(np.where(spread, variance, variance.dtype.type(1))), 0 * variance)


@implements(np.nancumsum)
def _nancumsum(a, axis=None, dtype=None):
    return np.cumsum(_without(a, 0), axis=axis, dtype=dtype)


@implements(np.nancumprod)
def _nancumprod(a, axis=None, dtype=None):
    return np.cumprod(_without(a, 1), axis=axis, dtype=dtype)
