"""`scipy.signal`: filters forwards and back, trends, smoothing, changes of the rate."""

import math
import sys

import numpy as np

from .. import errors
from ..functions import _as_array, payload_of
from .filters import _convolved, _floats, _slid, correlate1d, lfilter
from .table import implements, refuse


def _by_transform(name):
    @implements(f"signal.{name}")
    def rule(in1, in2, mode="full", axes=None):
        """As a sum of products: there is no Fourier transform of traced arrays."""
        a, b = _floats(in1, in2)
        if axes is not None and sorted(k % a.ndim for k in np.ravel(axes)) != list(range(a.ndim)):
            raise errors.Unsupported(f"scipy.signal.{name} along some of the axes is not supported", errors.here())
        return _convolved(a, b, mode, name, middle=lambda m: m - 1 - (m - 1) // 2)

    return rule


_by_transform("fftconvolve")
_by_transform("oaconvolve")


@implements("signal.sosfilt")
def sosfilt(sos, x, axis=-1, zi=None):
    """Sections one after the other."""
    if zi is not None:
        raise errors.Unsupported("scipy.signal.sosfilt with zi= is not supported", errors.here())
    sos, x = 1.0 * _as_array(sos), 1.0 * _as_array(x)
    for k in range(sos.shape[0]):
        x = lfilter(sos[k, :3], sos[k, 3:], x, axis)
    return x


def _steady(b, a):
    """The state of a filter whose input has been 1 for ever (scipy.signal.lfilter_zi)."""
    n = max(a.shape[0], b.shape[0])
    b, a = np.pad(b / a[0], (0, n - b.shape[0])), np.pad(a / a[0], (0, n - a.shape[0]))
    companion = np.concatenate([np.reshape(-a[1:], (1, n - 1)), np.eye(n - 2, n - 1)], axis=0)
    return np.linalg.solve(np.eye(n - 1) - companion.T, b[1:] - a[1:] * b[0])


def _odd(x, n):
    """A signal with n elements more at both ends of the first axis, turned around the last one."""
    return np.concatenate([2.0 * x[:1] - x[n:0:-1], x, 2.0 * x[-1:] - x[-2 : -(n + 2) : -1]])


def _both_ways(one_way, x, axis, padtype, padlen, default):
    """A filter forwards, then backwards, of a signal with extended ends."""
    if padtype not in ("odd", "even", "constant", None):
        raise errors.ArgumentError(f"Unknown value '{padtype}' given to padtype.", errors.here())
    if padtype not in ("odd", None):
        raise errors.Unsupported(f"a filter in both directions with padtype={padtype!r} is not supported; odd and None are", errors.here())
    x = np.moveaxis(1.0 * _as_array(x), axis, 0)
    n = 0 if padtype is None else default if padlen is None else int(padlen)
    if x.shape[0] <= n:
        raise errors.ArgumentError(f"The length of the input vector x must be greater than padlen, which is {n}.", errors.here())
    extended = _odd(x, n) if n else x
    y = np.flip(one_way(np.flip(one_way(extended), 0)), 0)
    return np.moveaxis(y[n : y.shape[0] - n] if n else y, 0, axis)


@implements("signal.filtfilt")
def filtfilt(b, a, x, axis=-1, padtype="odd", padlen=None, method="pad", irlen=None):
    if method != "pad":
        raise errors.Unsupported("scipy.signal.filtfilt with method='gust' is not supported", errors.here())
    b, a = np.atleast_1d(1.0 * _as_array(b)), np.atleast_1d(1.0 * _as_array(a))
    order = max(a.shape[0], b.shape[0])

    def one_way(z):
        if order == 1:
            return lfilter(b, a, z, 0)
        start = np.reshape(_steady(b, a), (-1,) + (1,) * (z.ndim - 1)) * z[:1]
        return lfilter(b, a, z, 0, start)[0]

    return _both_ways(one_way, x, axis, padtype, padlen, 3 * order)


@implements("signal.detrend")
def detrend(data, axis=-1, type="linear", bp=0):
    x = np.moveaxis(1.0 * _as_array(data), axis, -1)
    if type in ("constant", "c"):
        return np.moveaxis(x - np.mean(x, axis=-1, keepdims=True), -1, axis)
    if np.size(bp) != 1 or np.ravel(bp)[0] != 0:
        raise errors.Unsupported("scipy.signal.detrend with break points is not supported", errors.here())
    n = x.shape[-1]
    at = np.arange(n) - 0.5 * (n - 1)
    slope = np.sum(x * at, axis=-1, keepdims=True) / max(np.sum(at * at), 1e-300)
    return np.moveaxis(x - np.mean(x, axis=-1, keepdims=True) - slope * at, -1, axis)


@implements("signal.savgol_filter")
def savgol_filter(x, window_length, polyorder, deriv=0, delta=1.0, axis=-1, mode="interp", cval=0.0):
    """The weights are SciPy's; at the ends polynomials are fitted to the first and last window."""
    x = np.moveaxis(1.0 * _as_array(x), axis, -1)
    weights = sys.modules["scipy.signal"].savgol_coeffs(window_length, polyorder, deriv=deriv, delta=delta)
    inner = correlate1d(x, weights[::-1], -1, mode if mode != "interp" else "constant", cval, 0)
    if mode == "interp":
        half = window_length // 2
        at = np.arange(window_length)
        fit = np.linalg.pinv(np.vander(at, polyorder + 1, increasing=True).astype(float))
        powers = np.polynomial.polynomial.polyvander(at, polyorder).astype(float)
        slopes = np.zeros_like(powers)
        for k in range(deriv, polyorder + 1):
            slopes[:, k] = math.factorial(k) // math.factorial(k - deriv) * at ** float(k - deriv)
        ends = slopes @ fit / delta**deriv
        first, last = x[..., :window_length] @ ends[:half].T, x[..., -window_length:] @ ends[-half:].T
        inner = np.concatenate([first, inner[..., half : inner.shape[-1] - half], last], axis=-1)
    return np.moveaxis(inner, -1, axis)


@implements("signal.upfirdn")
def upfirdn(h, x, up=1, down=1, axis=-1, mode="constant", cval=0):
    if mode != "constant" or cval:
        raise errors.Unsupported("scipy.signal.upfirdn with a mode or a cval other than zeros is not supported", errors.here())
    h, x = _floats(h, x)
    x = np.moveaxis(1.0 * x, axis, 0)
    n, m = x.shape[0], h.shape[0]
    wide = np.reshape(np.concatenate([x[:, None], np.zeros((n, up - 1, *x.shape[1:]))], axis=1), (n * up, *x.shape[1:]))[: (n - 1) * up + 1]
    padded = np.pad(wide, [(m - 1, m - 1)] + [(0, 0)] * (x.ndim - 1))
    kernel = np.reshape(np.flip(h), (-1,) + (1,) * (x.ndim - 1))
    return np.moveaxis(_slid(padded, kernel, (wide.shape[0] + m - 1, *x.shape[1:]))[::down], 0, axis)


@implements("signal.resample_poly")
def resample_poly(x, up, down, axis=0, window=("kaiser", 5.0), padtype="constant", cval=None):
    """By a filter that SciPy designs."""
    if padtype != "constant" or cval is not None or payload_of(window) is None and not isinstance(window, (tuple, str)):
        raise errors.Unsupported("scipy.signal.resample_poly with padtype=, cval= or a traced window is not supported", errors.here())
    up, down = up // math.gcd(up, down), down // math.gcd(up, down)
    x = 1.0 * _as_array(x)
    if up == down == 1:
        return x
    signal = sys.modules["scipy.signal"]
    if isinstance(window, (tuple, str)):
        half = 10 * max(up, down)
        h = signal.firwin(2 * half + 1, 1.0 / max(up, down), window=window)
    else:
        h = np.asarray(payload_of(window), float)
        half = (h.size - 1) // 2
    n = x.shape[axis]
    count = -(-n * up // down)
    before = down - half % down
    first = (half + before) // down
    after = 0
    while -(-((n - 1) * up + h.size + before + after) // down) < count + first:
        after += 1
    y = upfirdn(np.concatenate([np.zeros(before), h * up, np.zeros(after)]), x, up, down, axis)
    return y[(slice(None),) * (axis % x.ndim) + (slice(first, first + count),)]


refuse("its steps in frequency need a Fourier transform of traced arrays; use scipy.signal.resample_poly", "signal.resample", "signal.hilbert", "signal.stft", "signal.spectrogram", "signal.welch")
