"""`scipy.signal` and `scipy.ndimage`: sums of shifted slices, one for each element of the kernel; many become a loop."""

import itertools

import numpy as np

from .. import errors
from ..functions import _as_array, payload_of
from .elementwise import looped
from .table import implements, refuse

# So many shifted slices are added in one sweep; more become a loop over them.
_AT_ONCE = 25


def _slid(padded, kernel, extents):
    """Σ kernel[k] · padded[k : k + extents] over all places of the kernel."""
    if kernel.size <= _AT_ONCE or kernel.ndim > 2:
        if kernel.size > 1000:
            raise errors.Unsupported(
                "a kernel of more than 1,000 elements in three or more dimensions is not supported", errors.here()
            )
        total = 0.0
        for place in itertools.product(*[range(n) for n in kernel.shape]):
            total = total + kernel[place] * padded[tuple(slice(k, k + n) for k, n in zip(place, extents))]
        return total
    start = kernel[(0,) * kernel.ndim] * padded[tuple(slice(0, n) for n in extents)]
    if kernel.ndim == 1:
        return looped(_added_line, padded, kernel, start, extents[0])
    return looped(_added_plane, padded, kernel, 0.0 * start, extents[0], extents[1])


def _added_line(padded, kernel, total, count):
    for k in range(1, kernel.shape[0]):
        total = total + kernel[k] * padded[k : k + count]
    return total


def _added_plane(padded, kernel, total, height, width):
    for i in range(kernel.shape[0]):
        for j in range(kernel.shape[1]):
            total = total + kernel[i, j] * padded[i : i + height, j : j + width]
    return total


def _floats(*arrays):
    arrays = [_as_array(a) for a in arrays]
    dtype = np.result_type(*[a.dtype for a in arrays])
    return [a.astype(dtype) if a.dtype != dtype else a for a in arrays]


# Signals


def _convolved(a, kernel, mode, name, pad=None, middle=lambda m: m - 1 - (m - 1) // 2):
    """The convolution of two arrays of one rank; `pad` extends the first one. `middle` is how many elements of a kernel stand before its middle."""
    if a.ndim != kernel.ndim:
        raise errors.ShapeError(
            f"scipy.signal.{name} needs two arrays of the same rank, found shapes {a.shape} and {kernel.shape}",
            errors.here(),
        )
    if mode not in ("full", "same", "valid"):
        raise errors.ArgumentError(
            f"scipy.signal.{name} has the modes full, same and valid, found {mode!r}", errors.here()
        )
    if mode == "valid":
        if (
            all(n < m for n, m in zip(a.shape, kernel.shape))
            or any(n < m for n, m in zip(a.shape, kernel.shape))
            and all(n <= m for n, m in zip(a.shape, kernel.shape))
        ):
            a, kernel = kernel, a
        if any(n < m for n, m in zip(a.shape, kernel.shape)):
            raise errors.ShapeError(
                f"scipy.signal.{name}: for mode='valid' one array must be as large as the other along every axis",
                errors.here(),
            )
        return _slid(a, np.flip(kernel), [n - m + 1 for n, m in zip(a.shape, kernel.shape)])
    if mode == "full":
        before, extents = [m - 1 for m in kernel.shape], [n + m - 1 for n, m in zip(a.shape, kernel.shape)]
    else:
        before, extents = [middle(m) for m in kernel.shape], list(a.shape)
    after = [count + m - 1 - first - n for count, m, first, n in zip(extents, kernel.shape, before, a.shape)]
    widths = list(zip(before, after))
    return _slid(np.pad(a, widths) if pad is None else pad(a, widths), np.flip(kernel), extents)


@implements("signal.convolve")
def convolve(in1, in2, mode="full", method="auto"):
    if method == "fft":
        raise errors.Unsupported(
            "scipy.signal.convolve with method='fft' is not supported; leave it out", errors.here()
        )
    return _convolved(*_floats(in1, in2), mode, "convolve")


@implements("signal.correlate")
def correlate(in1, in2, mode="full", method="auto"):
    if method == "fft":
        raise errors.Unsupported(
            "scipy.signal.correlate with method='fft' is not supported; leave it out", errors.here()
        )
    a, v = _floats(in1, in2)
    if mode == "valid" and any(n < m for n, m in zip(a.shape, v.shape)):
        return np.flip(_convolved(v, np.flip(a), mode, "correlate"))
    return _convolved(a, np.flip(v), mode, "correlate")


@implements("signal.convolve2d")
def convolve2d(in1, in2, mode="full", boundary="fill", fillvalue=0):
    return _in_plane(in1, in2, mode, boundary, fillvalue)


def _in_plane(in1, in2, mode, boundary, fillvalue, **middle):
    a, kernel = _floats(in1, in2)
    if a.ndim != 2 or kernel.ndim != 2:
        raise errors.ShapeError("scipy.signal.convolve2d takes two matrices", errors.here())
    modes = {
        "fill": "constant",
        "pad": "constant",
        "wrap": "wrap",
        "circular": "wrap",
        "symm": "reflect",
        "symmetric": "reflect",
    }
    if boundary not in modes:
        raise errors.ArgumentError(
            f"scipy.signal.convolve2d has the boundaries fill, wrap and symm, found {boundary!r}", errors.here()
        )
    pad = lambda x, widths: _extended(x, widths, modes[boundary], fillvalue)
    return _convolved(a, kernel, mode, "convolve2d", pad, **middle)


@implements("signal.correlate2d")
def correlate2d(in1, in2, mode="full", boundary="fill", fillvalue=0):
    if mode == "valid" and any(n < m for n, m in zip(np.shape(in1), np.shape(in2))):
        return np.flip(correlate2d(in2, in1, mode))
    # The middle of a kernel of even extent is not that of the kernel turned around.
    return _in_plane(in1, np.flip(_as_array(in2)), mode, boundary, fillvalue, middle=lambda m: (m - 1) // 2)


@implements("signal.lfilter")
def lfilter(b, a, x, axis=-1, zi=None):
    """The direct form II transposed, step by step."""
    b, a, x = (1.0 * _as_array(v) for v in (b, a, x))
    order = max(b.shape[0], a.shape[0]) - 1
    b = np.pad(b / a[0], (0, order + 1 - b.shape[0]))
    a = np.pad(a / a[0], (0, order + 1 - a.shape[0]))
    x = np.moveaxis(x, axis, 0)
    state = np.zeros((order, *x.shape[1:])) + 0.0 * x[:1] if zi is None else 1.0 * np.moveaxis(_as_array(zi), axis, 0)
    if order == 0:
        y, end = b[0] * x, state
    else:
        column = (order,) + (1,) * (x.ndim - 1)
        y, end = looped(_filtered, b[0], np.reshape(b[1:], column), np.reshape(a[1:], column), x, state, 0.0 * x)
    y = np.moveaxis(y, 0, axis)
    return y if zi is None else (y, np.moveaxis(end, 0, axis))


def _filtered(first, b, a, x, state, y):
    for k in range(x.shape[0]):
        out = first * x[k] + state[0]
        shifted = np.concatenate([state[1:], 0.0 * state[:1]])
        state = shifted + b * x[k] - a * out
        y[k] = out
    return y, state


refuse("use scipy.signal.filtfilt with its polynomials", "signal.sosfiltfilt")


# Images


def _extended_index(n, before, after, mode):
    """Which element stands at each place of an axis that is extended; None where none does."""
    at = np.arange(-before, n + after)
    if mode in ("reflect", "grid-mirror"):
        at = at % (2 * n)
        return np.where(at < n, at, 2 * n - 1 - at)
    if mode == "mirror":
        at = at % max(2 * n - 2, 1)
        return np.where(at < n, at, 2 * n - 2 - at)
    if mode in ("wrap", "grid-wrap"):
        return at % n
    return np.clip(at, 0, n - 1)


def _extended(x, widths, mode, cval=0.0):
    for axis, (before, after) in enumerate(widths):
        if before == after == 0:
            continue
        n = x.shape[axis]
        x = np.take(x, _extended_index(n, before, after, mode), axis=axis)
        if mode in ("constant", "grid-constant"):
            at = np.arange(-before, n + after)
            outside = np.reshape((at < 0) | (at >= n), [-1 if k == axis else 1 for k in range(x.ndim)])
            x = np.where(outside, cval, x)
    return x


_MODES = ("reflect", "grid-mirror", "constant", "grid-constant", "nearest", "mirror", "wrap", "grid-wrap")


def _correlated(x, weights, mode, cval, origins):
    if mode not in _MODES:
        raise errors.ArgumentError(f"scipy.ndimage has the modes {', '.join(_MODES)}, found {mode!r}", errors.here())
    before = [m // 2 + origin for m, origin in zip(weights.shape, origins)]
    widths = [(first, m - 1 - first) for m, first in zip(weights.shape, before)]
    if any(first < 0 or last < 0 for first, last in widths):
        raise errors.ArgumentError("scipy.ndimage: an origin is outside of the kernel", errors.here())
    return _slid(_extended(x, widths, mode, cval), weights, x.shape)


def _sequence(value, count):
    return list(value) if isinstance(value, (tuple, list)) else [value] * count


@implements("ndimage.correlate")
def image_correlate(input, weights, mode="reflect", cval=0.0, origin=0):
    x, weights = _floats(input, weights)
    return _correlated(x, weights, mode, cval, _sequence(origin, x.ndim))


@implements("ndimage.convolve")
def image_convolve(input, weights, mode="reflect", cval=0.0, origin=0):
    x, weights = _floats(input, weights)
    # The kernel is turned around, and its middle, where its extent is even, with it.
    origins = [-o - (1 - m % 2) for o, m in zip(_sequence(origin, x.ndim), weights.shape)]
    return _correlated(x, np.flip(weights), mode, cval, origins)


def _line(weights, axis, ndim):
    return np.reshape(weights, [-1 if k == axis % ndim else 1 for k in range(ndim)])


@implements("ndimage.correlate1d")
def correlate1d(input, weights, axis=-1, mode="reflect", cval=0.0, origin=0):
    x, weights = _floats(input, weights)
    origins = [origin if k == axis % x.ndim else 0 for k in range(x.ndim)]
    return _correlated(x, _line(weights, axis, x.ndim), mode, cval, origins)


@implements("ndimage.convolve1d")
def convolve1d(input, weights, axis=-1, mode="reflect", cval=0.0, origin=0):
    weights = _as_array(weights)
    return correlate1d(input, np.flip(weights), axis, mode, cval, -origin - (1 - weights.shape[0] % 2))


def _gaussian(sigma, order, radius):
    """The kernel of Gauss, or of one of its derivatives, as SciPy makes it."""
    at = np.arange(-radius, radius + 1)
    weights = np.exp(-0.5 / (sigma * sigma) * at**2)
    weights = weights / weights.sum()
    polynomial = np.polynomial.Polynomial([1.0])
    for _ in range(order):
        polynomial = polynomial.deriv() + polynomial * np.polynomial.Polynomial([0.0, -1.0 / (sigma * sigma)])
    return (polynomial(at) * weights)[::-1]


def _number(value, name):
    known = payload_of(value)
    if known is None:
        raise errors.Unsupported(
            f"scipy.ndimage.gaussian_filter with a traced {name} is not supported: it decides how large the kernel is",
            errors.here(),
        )
    return known


@implements("ndimage.gaussian_filter1d")
def gaussian_filter1d(input, sigma, axis=-1, order=0, mode="reflect", cval=0.0, truncate=4.0, *, radius=None):
    sigma = float(_number(sigma, "sigma"))
    radius = int(truncate * sigma + 0.5) if radius is None else int(radius)
    return correlate1d(1.0 * _as_array(input), _gaussian(sigma, order, radius), axis, mode, cval, 0)


@implements("ndimage.gaussian_filter")
def gaussian_filter(input, sigma, order=0, mode="reflect", cval=0.0, truncate=4.0, *, radius=None, axes=None):
    x = 1.0 * _as_array(input)
    axes = range(x.ndim) if axes is None else [axes] if isinstance(axes, int) else axes
    parts = zip(
        axes,
        *[
            _sequence(value, len(axes))
            for value in (np.ravel(sigma).tolist() if np.ndim(sigma) else _number(sigma, "sigma"), order, mode, radius)
        ],
    )
    for axis, sigma_, order_, mode_, radius_ in parts:
        if sigma_ > 1e-15:
            x = gaussian_filter1d(x, sigma_, axis, order_, mode_, cval, truncate, radius=radius_)
    return x


@implements("ndimage.uniform_filter1d")
def uniform_filter1d(input, size, axis=-1, mode="reflect", cval=0.0, origin=0):
    return correlate1d(1.0 * _as_array(input), np.full(size, 1.0 / size), axis, mode, cval, origin)


refuse(
    "it picks elements by their order; use a sum of weights, or scipy.ndimage.median_filter",
    "ndimage.rank_filter",
    "ndimage.percentile_filter",
)
