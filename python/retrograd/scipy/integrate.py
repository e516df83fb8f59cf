"""`scipy.integrate`: rules over samples. `ivp` has the differential equations."""

import numpy as np

from .. import errors
from ..functions import _as_array
from .table import implements, refuse

implements("integrate.trapezoid")(lambda y, x=None, dx=1.0, axis=-1: np.trapezoid(y, x, dx, axis))


def _along(y, x, dx, axis, name):
    """y with the axis last, and the widths between its points."""
    y = np.moveaxis(_as_array(y), axis, -1)
    if x is None:
        return y, dx * np.ones(y.shape[-1] - 1)
    x = _as_array(x)
    if x.ndim == 1:
        if x.shape[0] != y.shape[-1]:
            raise errors.ShapeError(
                f"scipy.integrate.{name}: {x.shape[0]} points for {y.shape[-1]} values", errors.here()
            )
        return y, np.diff(x)
    return y, np.diff(np.moveaxis(x, axis, -1), axis=-1)


@implements("integrate.cumulative_trapezoid")
def cumulative_trapezoid(y, x=None, dx=1.0, axis=-1, initial=None):
    y, widths = _along(y, x, dx, axis, "cumulative_trapezoid")
    result = np.cumsum(widths * (y[..., 1:] + y[..., :-1]) / 2.0, axis=-1)
    if initial is not None:
        if not isinstance(initial, (int, float)) or initial != 0:
            raise errors.Unsupported(
                "scipy.integrate.cumulative_trapezoid with initial= other than 0 is not supported", errors.here()
            )
        result = np.concatenate([np.zeros((*result.shape[:-1], 1)), result], axis=-1)
    return np.moveaxis(result, -1, axis)


@implements("integrate.simpson")
def simpson(y, x=None, dx=1.0, axis=-1):
    """Parabolas over pairs of intervals; with an even number of points the last interval has Cartwright's correction."""
    y, h = _along(y, x, dx, axis, "simpson")
    n = y.shape[-1]
    if n == 2:
        return np.sum(h * (y[..., 1:] + y[..., :-1]) / 2.0, axis=-1)
    last = 0.0
    if n % 2 == 0:
        h0, h1 = h[..., -2], h[..., -1]
        alpha = (2 * h1**2 + 3 * h0 * h1) / (6 * (h1 + h0))
        beta = (h1**2 + 3.0 * h0 * h1) / (6 * h0)
        eta = h1**3 / (6 * h0 * (h0 + h1))
        last = alpha * y[..., -1] + beta * y[..., -2] - eta * y[..., -3]
        y, h = y[..., :-1], h[..., :-1]
    h0, h1 = h[..., 0::2], h[..., 1::2]
    total, product, ratio = h0 + h1, h0 * h1, h0 / h1
    parts = (
        total
        / 6.0
        * (
            y[..., 0:-2:2] * (2.0 - 1.0 / ratio)
            + y[..., 1:-1:2] * (total * total / product)
            + y[..., 2::2] * (2.0 - ratio)
        )
    )
    return np.sum(parts, axis=-1) + last


@implements("integrate.fixed_quad", always=True)
def fixed_quad(func, a, b, args=(), n=5):
    """Gauss–Legendre's rule of n points."""
    from ..outcome import readable

    nodes, weights = np.polynomial.legendre.leggauss(n)
    at = 0.5 * (b - a) * (_as_array(nodes) + 1.0) + a
    return 0.5 * (b - a) * np.sum(weights * readable(func)(at, *args), axis=-1), None


refuse(
    "its points depend on values; use scipy.integrate.fixed_quad, or solve_ivp",
    "integrate.quad",
    "integrate.dblquad",
    "integrate.tplquad",
    "integrate.nquad",
    "integrate.quad_vec",
    "integrate.romb",
)
