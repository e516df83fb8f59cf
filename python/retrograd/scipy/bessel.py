"""`scipy.special`: Bessel functions of integer order, by tables up to 8 (2 for K) and Hankel's form beyond; orders above 1 by recurrences.
Those of real order are in `orders`.

Near a zero the error is small beside the amplitude √(2/πx), not beside the value. There is no derivative by the order.
"""

import numpy as np

from .. import errors
from ..functions import _as_array, payload_of
from .elementwise import beside, elementwise, inside, looped, outside
from .orders import LARGEST, of_order
from .polynomials import piecewise
from .table import implements

inf, nan, pi = np.inf, np.nan, np.pi


def _hankel(n, x):
    """(J, Y) of order n at x ≥ 8."""
    u = 8.0 / x
    p, q = piecewise(f"p{n}", u * u), u * piecewise(f"q{n}", u * u)
    finite = np.where(x < inf, x, 8.0)
    sin, cos = np.sin(finite), np.cos(finite)
    # cos and sin of x - π/4 or x - 3π/4, times √2
    c, s = (cos + sin, sin - cos) if n == 0 else (sin - cos, -(sin + cos))
    scale = np.where(x < inf, np.sqrt(1.0 / (pi * x)), 0.0)
    return scale * (p * c - q * s), scale * (p * s + q * c)


def _j(n, x):
    near = inside(x, np.abs(x) < 8, 1.0)
    far = inside(np.abs(x), np.abs(x) >= 8, 8.0)
    v = near * near
    close = piecewise("j0", v) if n == 0 else near * piecewise("j1", v)
    value = _hankel(n, far)[0]
    value = value if n == 0 else np.copysign(1.0, x) * value
    return np.where(np.isnan(x), nan, np.where(np.abs(x) < 8, close, value))


def _y(n, x):
    valid = x > 0
    near = inside(x, valid & (x < 8), 1.0)
    far = inside(x, x >= 8, 8.0)
    v = near * near
    if n == 0:
        close = piecewise("y0", v) + (2 / pi) * np.log(near) * piecewise("j0", v)
    else:
        close = near * piecewise("y1", v) + (2 / pi) * (np.log(near) * near * piecewise("j1", v) - 1.0 / near)
    return np.where(valid, np.where(x < 8, close, _hankel(n, far)[1]), np.where(x == 0, -inf, outside(x, x < 0)))


def _ie(n, x, scaled):
    """exp(-|x|) I(x), or I(x)."""
    size = np.abs(x)
    near = inside(x, size < 8, 1.0)
    far = inside(size, size >= 8, 8.0)
    close = piecewise("i0", near * near) if n == 0 else near * piecewise("i1", near * near)
    u = 8.0 / far
    distant = np.where(far < inf, np.sqrt(u / 8.0), 0.0) * piecewise(f"i{n}e_far", u)
    distant = distant if n == 0 else np.copysign(1.0, x) * distant
    if scaled:
        close = close * np.exp(-np.abs(near))
    else:
        finite = np.where(far < inf, far, 8.0)
        # exp(x/2) twice: I is still finite a little beyond where exp is.
        distant = np.where(
            far < inf, distant * np.exp(0.5 * finite) * np.exp(0.5 * finite), inf if n == 0 else np.copysign(inf, x)
        )
    return np.where(np.isnan(x), nan, np.where(size < 8, close, distant))


def _ke(n, x, scaled):
    valid = x > 0
    near = inside(x, valid & (x < 2), 1.0)
    far = inside(x, x >= 2, 2.0)
    v, log = near * near, np.log(0.5 * near)
    if n == 0:
        close = piecewise("k0", v) - log * piecewise("i0", v)
    else:
        close = near * piecewise("k1", v) + 1.0 / near + log * near * piecewise("i1", v)
    u = 2.0 / far
    distant = np.sqrt(0.5 * u) * piecewise(f"k{n}e_far", u)
    if scaled:
        close = close * np.exp(near)
    else:
        distant = distant * np.exp(-far)
    return np.where(valid, np.where(x < 2, close, distant), np.where(x == 0, inf, outside(x, x < 0)))


j0, j1 = elementwise("j0")(lambda x: _j(0, x)), elementwise("j1")(lambda x: _j(1, x))
y0, y1 = elementwise("y0")(lambda x: _y(0, x)), elementwise("y1")(lambda x: _y(1, x))
i0, i1 = elementwise("i0")(lambda x: _ie(0, x, False)), elementwise("i1")(lambda x: _ie(1, x, False))
i0e, i1e = elementwise("i0e")(lambda x: _ie(0, x, True)), elementwise("i1e")(lambda x: _ie(1, x, True))
k0, k1 = elementwise("k0")(lambda x: _ke(0, x, False)), elementwise("k1")(lambda x: _ke(1, x, False))
k0e, k1e = elementwise("k0e")(lambda x: _ke(0, x, True)), elementwise("k1e")(lambda x: _ke(1, x, True))


# Orders above 1


def _upwards(n, x, first, second, back, on=1.0):
    """f(k+1) = on · 2k/x f(k) + back · f(k-1), where that is stable."""
    for k in range(1, n):
        first, second = second, (on * 2.0 * k / x) * second + back * first
    return second


def _downwards(n, x, steps):
    """I(n, x) / I(0, x): the product of ratios I(k)/I(k-1), each a continued fraction that is read from high orders down."""
    product, ratio = 1.0 + 0.0 * x, 0.0 * x
    for step in range(steps):
        k = steps - step
        ratio = x / (2.0 * k + x * ratio)
        product = np.where(k <= n, product * ratio, product)
    return product


def _jn(n):
    def value(x):
        size = np.abs(x)
        up = size > n
        far = inside(size, up & (x < inf), n + 1.0)
        near = inside(x, ~up, 0.5)
        climbed = np.where((size < inf), _upwards(n, far, _j(0, far), _j(1, far), -1.0), 0.0)
        climbed = climbed if n % 2 == 0 else np.copysign(1.0, x) * climbed
        return np.where(
            np.isnan(x), nan, np.where(up, climbed, looped(_normalised, n, near, 2 * ((n + 30 + n // 2) // 2)))
        )

    return value


def _normalised(n, x, steps):
    """J(n, x) for |x| ≤ n by Miller's recurrence from a high even order down; all of it is scaled by 1 = f(0) + 2 Σ f(2k)."""
    above, here, total, wanted = 0.0 * x, 1e-300 + 0.0 * x, 0.0 * x, 0.0 * x
    nonzero = np.where(x != 0, x, 1.0)
    for step in range(steps):
        k = steps - step  # the order of `here`
        total = np.where(k % 2 == 0, total + 2.0 * here, total)
        wanted = np.where(k == n, here, wanted)
        above, here = here, (2.0 * k / nonzero) * here - above
        scale = np.where(np.abs(here) > 1e200, 1e-200, 1.0)
        above, here, total, wanted = above * scale, here * scale, total * scale, wanted * scale
    return np.where(x == 0, 0.0 * x, wanted / (total + here))


def _of_order(name, kind, build):
    """A function of a known order: integers 0 and 1 are in the table above, `kind` is what it is in `orders`."""

    def rule(v, x):
        known = payload_of(v)
        if known is None and v.dtype.kind == "i" and not v.shape:
            known = v.__index__()
        if known is None:
            raise errors.Unsupported(
                f"scipy.special.{name[0]} of a traced order is not supported: there is no derivative by it; give the order as a number",
                errors.here(),
            )
        if np.ndim(known):
            orders = [rule(order, x) for order in np.ravel(known)]
            if np.ndim(x) == 0:
                return np.reshape(np.stack(orders), np.shape(known))
            raise errors.Unsupported(
                f"scipy.special.{name[0]} of several orders and an array is not supported; call it for each order",
                errors.here(),
            )
        if float(known) != int(known):
            if not abs(known) <= LARGEST:
                raise errors.Unsupported(
                    f"scipy.special.{name[0]} of the order {known} is not supported: integers are, and real orders up to {LARGEST:g}",
                    errors.here(),
                )
            return of_order(kind, float(known))(x)
        return build(int(known))(x)

    def entered(n):
        # Those of integers alone have float64 beside a Python integer.
        wide = int if n in ("yn", "kn") else ()
        # The scaled Y is NaN at 0.
        finish = (lambda x, value: np.where(_as_array(x) == 0, nan, value)) if n == "yve" else (lambda x, value: value)
        implements(f"special.{n}")(lambda v, x: finish(x, rule(v, beside(v, x, wide))))

    for n in name:
        entered(n)
    return rule


def _signed(n, value):
    """Of a negative order: (-1)ⁿ times that of |n|."""
    return value if n >= 0 or n % 2 == 0 else lambda x: -value(x)


def _build(simple, higher, alternates, slope):
    """Orders 0 and 1 are in the table above; those beyond have a stated derivative, a sum of their neighbours."""

    def build(n):
        order = abs(n)
        function = (
            simple[order]
            if order < 2
            else elementwise(partials=[lambda x: slope(build(order - 1)(x), build(order)(x), build(order + 1)(x), x)])(
                higher(order)
            )
        )
        return _signed(n, function) if alternates else function

    return build


def _yn(n):
    def value(x):
        inner = inside(x, (x > 0) & (x < inf), 1.0)
        return np.where(
            (x > 0) & (x < inf),
            _upwards(n, inner, _y(0, inner), _y(1, inner), -1.0),
            np.where(x == inf, 0.0, np.where(x == 0, -inf, outside(x, x < 0))),
        )

    return value


def _kn(n, scaled):
    def value(x):
        inner = inside(x, (x > 0) & (x < inf), 1.0)
        return np.where(
            (x > 0) & (x < inf),
            _upwards(n, inner, _ke(0, inner, scaled), _ke(1, inner, scaled), 1.0),
            np.where(x == inf, 0.0, np.where(x == 0, inf, outside(x, x < 0))),
        )

    return value


def _in(n, scaled):
    base, next_ = (i0e.value, i1e.value) if scaled else (i0.value, i1.value)

    def value(x):
        size = np.abs(x)
        near, far = inside(x, size < 1000, 1.0), inside(size, (size >= 1000) & (size < inf), 1000.0)
        sign = np.copysign(1.0, x) if n % 2 else 1.0
        close = base(near) * looped(_downwards, n, near, 200 + n)
        # Upwards the error grows by exp(n²/x) only.
        distant = sign * _upwards(n, far, base(far), next_(far), 1.0, -1.0)
        limit = (0.0 if scaled else inf) * sign
        return np.where(np.isnan(x), nan, np.where(size < 1000, close, np.where(size < inf, distant, limit)))

    return value


jv = _of_order(("jv", "jn", "jve"), "J", _build([j0, j1], _jn, True, lambda below, here, above, x: 0.5 * (below - above)))
yn = _of_order(("yn", "yv", "yve"), "Y", _build([y0, y1], _yn, True, lambda below, here, above, x: 0.5 * (below - above)))
iv = _of_order(
    ("iv",), "I", _build([i0, i1], lambda n: _in(n, False), False, lambda below, here, above, x: 0.5 * (below + above))
)
ive = _of_order(
    ("ive",),
    "Ie",
    _build(
        [i0e, i1e],
        lambda n: _in(n, True),
        False,
        lambda below, here, above, x: 0.5 * (below + above) - np.sign(x) * here,
    ),
)
kn = _of_order(
    ("kn", "kv"), "K", _build([k0, k1], lambda n: _kn(n, False), False, lambda below, here, above, x: -0.5 * (below + above))
)
kve = _of_order(
    ("kve",),
    "Ke",
    _build([k0e, k1e], lambda n: _kn(n, True), False, lambda below, here, above, x: here - 0.5 * (below + above)),
)
