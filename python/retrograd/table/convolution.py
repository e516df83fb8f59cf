"""`np.convolve` and `np.correlate`: one array slides along another, as a sum of shifted slices, which keeps nothing for its gradient."""

import numpy as np

from .. import errors
from ..functions import _as_array
from ..rewrite import rewrite
from ..rules import implements

# So many shifted slices are added in one sweep over the result; more become a loop.
AT_ONCE = 16


@implements(np.convolve)
def _convolve(a, v, mode="full"):
    a, v = _line(a, "convolve"), _line(v, "convolve")
    long, short = (v, a) if v.shape[0] > a.shape[0] else (a, v)
    return _slid(long, np.flip(short), _places(mode, long.shape[0], short.shape[0], "convolve"))


@implements(np.correlate)
def _correlate(a, v, mode="valid"):
    a, v = _line(a, "correlate"), _line(v, "correlate")
    if v.shape[0] > a.shape[0]:
        # The shorter one slides, and that turns the result around.
        return np.flip(_correlate(v, a, mode))
    return _slid(a, v, _places(mode, a.shape[0], v.shape[0], "correlate"))


def _line(x, name):
    x = _as_array(x)
    if x.ndim > 1 or 0 in x.shape:
        raise errors.ShapeError(f"np.{name} takes two arrays of one axis that are not empty, found one of shape {x.shape}", errors.here())
    return np.reshape(x, -1)


def _places(mode, long, short, name):
    """How far the shorter array begins before the longer one, and how many places it takes."""
    if mode not in ("full", "same", "valid"):
        raise errors.ArgumentError(f"np.{name} has the modes full, same and valid, found {mode!r}", errors.here())
    return {"full": (short - 1, long + short - 1), "same": (short // 2, long), "valid": (0, long - short + 1)}[mode]


def _slid(long, short, places):
    """The sums of products at every place, in the order of the shorter array."""
    before, count = places
    extent = short.shape[0]
    padded = np.pad(long, (before, count + extent - 1 - before - long.shape[0])) if count > long.shape[0] - extent + 1 else long
    total = short[0] * padded[:count]
    if extent > AT_ONCE:
        return rewrite(_added)(padded, short, total, count)
    for k in range(1, extent):
        total = total + short[k] * padded[k : k + count]
    return total


def _added(padded, short, total, count):
    for k in range(1, short.shape[0]):
        total = total + short[k] * padded[k : k + count]
    return total
