"""`scipy.interpolate`: piecewise polynomials whose points and values may be traced.

The objects made here are called as SciPy's are. A spline is the solution of its own linear system, so that derivatives reach the values and the points.
"""

import numpy as np

from .. import errors
from ..functions import _as_array
from .table import CLASSES, implements, refuse


class Piecewise:
    """Polynomials of t - x[k] between points: `c[j]` multiplies the power j, with pieces along its first axis."""

    def __init__(self, x, c, low=None, high=None, extrapolate=True):
        self.x, self.c, self._low, self._high, self.extrapolate = x, c, low, high, extrapolate

    def __call__(self, t, nu=0, extrapolate=None):
        if nu:
            return self.derivative(nu)(t, 0, extrapolate)
        extrapolate = self.extrapolate if extrapolate is None else extrapolate
        if extrapolate not in (True, False):
            raise errors.Unsupported(f"extrapolate={extrapolate!r} is not supported; True and False are", errors.here())
        t = 1.0 * _as_array(t)
        flat, x = np.reshape(t, (-1,)), self.x
        # The piece that a point is in: how many of the inner points are not above it.
        piece = np.sum(1 * (flat[:, None] >= x[None, 1:-1]), axis=1) if x.shape[0] > 2 else (0 * flat).astype(np.int64)
        away = flat - np.take(x, piece)
        away = np.reshape(away, away.shape + (1,) * (self.c[0].ndim - 1))
        total = np.take(self.c[-1], piece, axis=0)
        for c in self.c[-2::-1]:
            total = total * away + np.take(c, piece, axis=0)
        if self._low is not None or not extrapolate:
            column = lambda mask: np.reshape(mask, away.shape)
            low, high = (np.nan, np.nan) if self._low is None else (self._low, self._high)
            total = np.where(column(flat < x[0]), low, np.where(column(flat > x[-1]), high, total))
        return np.reshape(total, t.shape + self.c[0].shape[1:])

    def derivative(self, nu=1):
        c = list(self.c)
        for _ in range(nu):
            c = [k * c[k] for k in range(1, len(c))] or [0.0 * c[0]]
        return Piecewise(self.x, c, extrapolate=self.extrapolate)

    def antiderivative(self, nu=1):
        result = self
        for _ in range(nu):
            c = [result.c[0] * 0.0, *[part / (k + 1.0) for k, part in enumerate(result.c)]]
            h = np.diff(result.x)
            h = np.reshape(h, h.shape + (1,) * (c[0].ndim - 1))
            areas = sum(part * h**k for k, part in enumerate(c))
            c[0] = np.concatenate([0.0 * areas[:1], np.cumsum(areas[:-1], axis=0)])
            result = Piecewise(result.x, c, extrapolate=result.extrapolate)
        return result

    def integrate(self, a, b, extrapolate=None):
        whole = self.antiderivative()
        return whole(b, 0, extrapolate) - whole(a, 0, extrapolate)


def _points(x, y, axis, name, least=2):
    x, y = 1.0 * _as_array(x), np.moveaxis(1.0 * _as_array(y), axis, 0)
    if x.ndim != 1 or x.shape[0] != y.shape[0] or x.shape[0] < least:
        raise errors.ShapeError(
            f"scipy.interpolate.{name} needs as many points as values, {least} or more, found shapes {x.shape} and {y.shape}",
            errors.here(),
        )
    if axis not in (0, -y.ndim) and y.ndim > 1:
        raise errors.Unsupported(
            f"scipy.interpolate.{name} with values along another axis than the first is not supported; use np.moveaxis",
            errors.here(),
        )
    return x, y


def _column(h, y):
    return np.reshape(h, h.shape + (1,) * (y.ndim - 1))


def _hermite(x, y, slopes, extrapolate=True):
    """The cubic with these values and slopes at the points."""
    h = _column(np.diff(x), y)
    secant = np.diff(y, axis=0) / h
    left, right = slopes[:-1], slopes[1:]
    bend = (left + right - 2.0 * secant) / h
    return Piecewise(x, [y[:-1], left, (secant - left) / h - bend, bend / h], extrapolate=extrapolate)


def _linear(x, y, **options):
    return Piecewise(x, [y[:-1], np.diff(y, axis=0) / _column(np.diff(x), y)], **options)


@implements("interpolate.CubicSpline")
def cubic_spline(x, y, axis=0, bc_type="not-a-knot", extrapolate=None):
    x, y = _points(x, y, axis, "CubicSpline")
    return _hermite(x, y, _spline_slopes(x, y, bc_type), True if extrapolate is None else extrapolate)


def _spline_slopes(x, y, bc_type):
    """Slopes at the points: the second derivative is continuous."""
    n = x.shape[0]
    first, last = bc_type if isinstance(bc_type, (tuple, list)) else (bc_type, bc_type)
    if first == "periodic" or last == "periodic":
        raise errors.Unsupported(
            "scipy.interpolate.CubicSpline with bc_type='periodic' is not supported", errors.here()
        )
    h = np.diff(x)
    hy = _column(h, y)
    secant = np.diff(y, axis=0) / hy
    if n == 2:
        first, last = (((1, secant[0]) if end == "not-a-knot" else end) for end in (first, last))
    elif n == 3 and first == last == "not-a-knot":
        # The parabola through three points.
        rows = [[1.0, 1.0, 0.0], [h[1], 2.0 * (h[0] + h[1]), h[0]], [0.0, 1.0, 1.0]]
        matrix = np.stack([np.stack([1.0 * _as_array(v) for v in row]) for row in rows])
        right = [2.0 * secant[0], 3.0 * (hy[0] * secant[1] + hy[1] * secant[0]), 2.0 * secant[1]]
        return _solved(matrix, np.stack(right), y)
    zero, one = 0.0 * h[0], 1.0 + 0.0 * h[0]
    rows, right = [], []

    def row(entries):
        return np.stack([entries.get(k, zero) for k in range(n)])

    def end(kind, at, step, a, b, sa, sb):
        """The row of an end: at its point, its neighbour, and the one after that."""
        if isinstance(kind, str) and kind in ("natural", "clamped"):
            kind = (2, 0.0) if kind == "natural" else (1, 0.0)
        if isinstance(kind, str):
            if kind != "not-a-knot":
                raise errors.ArgumentError(
                    f"scipy.interpolate.CubicSpline does not know bc_type={kind!r}", errors.here()
                )
            d = a + b
            ay, by, dy = (np.reshape(v, (1,) * (y.ndim - 1)) for v in (a, b, d))
            rows.append(row({at: b, at + step: d}))
            right.append(((ay + 2.0 * dy) * by * sa + ay * ay * sb) / dy)
        elif kind[0] == 1:
            rows.append(row({at: one}))
            right.append(kind[1] + 0.0 * y[0])
        elif kind[0] == 2:
            ay = np.reshape(a, (1,) * (y.ndim - 1))
            rows.append(row({at: 2.0 * a, at + step: a}))
            # At the right end the second derivative counts with the other sign.
            right.append(ay * (3.0 * sa - step * 0.5 * kind[1] * ay))
        else:
            raise errors.ArgumentError(
                "scipy.interpolate.CubicSpline: bc_type gives first or second derivatives", errors.here()
            )

    second = 1 if n > 2 else 0
    end(first, 0, 1, h[0], h[second], secant[0], secant[second])
    for k in range(1, n - 1):
        rows.append(row({k - 1: h[k], k: 2.0 * (h[k - 1] + h[k]), k + 1: h[k - 1]}))
        right.append(3.0 * (hy[k - 1] * secant[k] + hy[k] * secant[k - 1]))
    end(last, n - 1, -1, h[-1], h[-1 - second], secant[-1], secant[-1 - second])
    return _solved(np.stack(rows), np.stack(right), y)


def _solved(matrix, right, y):
    flat = np.reshape(right, (right.shape[0], -1))
    return np.reshape(np.linalg.solve(matrix, flat), y.shape)


@implements("interpolate.PchipInterpolator")
def pchip(x, y, axis=0, extrapolate=None):
    """Fritsch and Butland's slopes: a weighted harmonic mean, 0 where the secants change their sign."""
    x, y = _points(x, y, axis, "PchipInterpolator")
    h = _column(np.diff(x), y)
    secant = np.diff(y, axis=0) / h
    if x.shape[0] == 2:
        return _hermite(x, y, np.concatenate([secant, secant]), True if extrapolate is None else extrapolate)
    same = secant[:-1] * secant[1:] > 0
    one, two = 2.0 * h[1:] + h[:-1], h[1:] + 2.0 * h[:-1]
    before, after = np.where(same, secant[:-1], 1.0), np.where(same, secant[1:], 1.0)
    inner = np.where(same, (one + two) / (one / before + two / after), 0.0)

    def end(h0, h1, s0, s1):
        slope = ((2.0 * h0 + h1) * s0 - h0 * s1) / (h0 + h1)
        slope = np.where(np.sign(slope) != np.sign(s0), 0.0, slope)
        return np.where((np.sign(s0) != np.sign(s1)) & (np.abs(slope) > 3.0 * np.abs(s0)), 3.0 * s0, slope)

    slopes = np.concatenate(
        [end(h[0], h[1], secant[0], secant[1])[None], inner, end(h[-1], h[-2], secant[-1], secant[-2])[None]]
    )
    return _hermite(x, y, slopes, True if extrapolate is None else extrapolate)


@implements("interpolate.interp1d")
def interp1d(x, y, kind="linear", axis=-1, copy=True, bounds_error=None, fill_value=np.nan, assume_sorted=False):
    x, y = _points(x, y, axis, "interp1d")
    if not assume_sorted:
        order = np.argsort(x)
        x, y = np.take(x, order), np.take(y, order, axis=0)
    if isinstance(fill_value, str) and fill_value == "extrapolate":
        options = {}
    elif bounds_error is False or bounds_error is None and not (np.ndim(fill_value) == 0 and fill_value is np.nan):
        low, high = fill_value if isinstance(fill_value, tuple) else (fill_value, fill_value)
        options = {"low": low, "high": high}
    else:
        options = {"checked": True}
    checked = options.pop("checked", False)
    if kind == "linear" or kind == 1:
        curve = _linear(x, y)
    elif kind in ("cubic", 3):
        curve = _hermite(x, y, _spline_slopes(x, y, "not-a-knot"))
    else:
        raise errors.Unsupported(
            f"scipy.interpolate.interp1d with kind={kind!r} is not supported; linear and cubic are", errors.here()
        )
    curve._low, curve._high = options.get("low"), options.get("high")
    return _checked(curve) if checked else curve


def _checked(curve):
    from ..custom import check

    def evaluate(t):
        t = _as_array(t)
        check(
            np.all((t >= curve.x[0]) & (t <= curve.x[-1])),
            "A value in x_new is outside the interpolation range.",
            ValueError,
        )
        return curve(t)

    return evaluate


@implements("interpolate.make_interp_spline")
def make_interp_spline(x, y, k=3, t=None, bc_type=None, axis=0):
    """Of degrees 1 and 3, as a piecewise polynomial."""
    x, y = _points(x, y, axis, "make_interp_spline")
    if t is not None or k not in (1, 3):
        raise errors.Unsupported(
            "scipy.interpolate.make_interp_spline is supported for k=1 and k=3 with the knots that it chooses",
            errors.here(),
        )
    return (
        _linear(x, y) if k == 1 else _hermite(x, y, _spline_slopes(x, y, "not-a-knot" if bc_type is None else bc_type))
    )


def _of_curve(owner, name):
    """A curve that SciPy made, at traced points."""
    if name not in ("__call__", "integrate"):
        return None
    from .. import effects
    from ..trace import current

    if effects.owner(owner) is None:
        current().outside.contents(owner, "an interpolation")
    c, x = np.asarray(owner.c), np.asarray(owner.x)
    if owner.axis != 0 and c.ndim > 2:
        return "values along another axis than the first; use np.moveaxis"
    curve = Piecewise(
        _as_array(x), [_as_array(np.ascontiguousarray(part)) for part in c[::-1]], extrapolate=bool(owner.extrapolate)
    )
    return curve if name == "__call__" else curve.integrate


for _name in ("PPoly", "CubicSpline", "PchipInterpolator", "Akima1DInterpolator"):
    CLASSES[f"interpolate.{_name}"] = _of_curve
refuse(
    "use CubicSpline, PchipInterpolator or interp1d",
    "interpolate.UnivariateSpline",
    "interpolate.splrep",
    "interpolate.splev",
    "interpolate.RegularGridInterpolator",
    "interpolate.griddata",
    "interpolate.RBFInterpolator",
)
