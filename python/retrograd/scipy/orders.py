"""`scipy.special`: Bessel functions of real order, for x > 0; there is no derivative by the order.

J by Miller's recurrence from a high order down, scaled by Neumann's sum (DLMF 10.23.15), Y and K by Temme's series up to 2 and the second continued
fraction beyond (Press et al., Numerical Recipes, section 6.7), I by its series; all of them by Hankel's expansions where x is large, and orders
above 1 by recurrences.
"""

import math

import numpy as np

from .elementwise import elementwise, inside, looped

inf, nan, pi = np.inf, np.nan, np.pi
_FAR = 30.0
LARGEST = 50.0  # order
# Chebyshev's coefficients of Temme's two gamma functions (Numerical Recipes, beschb).
_GAMMA_ODD = (-1.142022680371168e0, 6.5165112670737e-3, 3.087090173086e-4, -3.4706269649e-6, 6.9437664e-9, 3.67795e-11, -1.356e-13)
_GAMMA_EVEN = (1.843740587300905e0, -7.68528408447867e-2, 1.2719271366546e-3, -4.9717367042e-6, -3.31261198e-8, 2.423096e-10, -1.702e-13, -1.49e-15)


def _split(order):
    """(n, f) with order = n + f, n an integer and |f| ≤ 1/2."""
    n = int(math.floor(order + 0.5))
    return n, order - n


# At large x


def _hankel(order, x):
    """(J, Y) for x ≥ 30 and a small order, DLMF 10.17.3."""
    mu, term, p, q = 4.0 * order * order, 1.0, 1.0, 0.0
    for k in range(1, 24):
        term = term * (mu - (2 * k - 1) ** 2) / (8.0 * k * x)
        if k % 2:
            q = q + (-1.0) ** (k // 2) * term
        else:
            p = p + (-1.0) ** (k // 2) * term
    turn = (0.5 * order + 0.25) * pi
    # The angle is taken apart, so that x keeps its digits.
    c = np.cos(x) * math.cos(turn) + np.sin(x) * math.sin(turn)
    s = np.sin(x) * math.cos(turn) - np.cos(x) * math.sin(turn)
    scale = np.sqrt(2.0 / (pi * x))
    return scale * (p * c - q * s), scale * (p * s + q * c)


def _expansion(order, x, sign, terms):
    """Σ of DLMF 10.40.1 (sign -1, of I) and 10.40.2 (sign 1, of K)."""
    mu, term, total = 4.0 * order * order, 1.0, 1.0
    for k in range(1, terms):
        term = term * sign * (mu - (2 * k - 1) ** 2) / (8.0 * k * x)
        total = total + term
    return total


# J and Y


def _miller(order, x, steps):
    """(J of the order, J of one more) for 0 < x and orders from -1/2 on: down from a high order n + f, scaled by (x/2)^f = Σ (f + 2k) Γ(f + k)/k! J(f + 2k)."""
    n, f = max(_split(order)[0], 0), order - max(_split(order)[0], 0)
    above, here, total = 0.0 * x, 1e-300 + 0.0 * x, 0.0 * x
    wanted, next_ = 0.0 * x, 0.0 * x
    # (f + 2k) Γ(f + k)/k!, of which the first is Γ(f + 1).
    weights = np.zeros(steps + 1)
    ratio = math.gamma(f + 1.0)
    for k in range(steps // 2 + 1):
        if k:
            ratio = ratio * (f + k - 1.0) / k if k > 1 else math.gamma(f + 1.0)
        weights[2 * k] = ratio * (f + 2 * k) if k else ratio
    return looped(_down, x, above, here, total, wanted, next_, weights, f, n, steps)


def _down(x, above, here, total, wanted, next_, weights, f, n, steps):
    for step in range(steps):
        k = steps - step  # `here` is of order k + f
        total = total + weights[k] * here
        wanted = np.where(k == n, here, wanted)
        next_ = np.where(k == n + 1, here, next_)
        above, here = here, (2.0 * (k + f) / x) * here - above
        scale = np.where(np.abs(here) > 1e200, 1e-200, 1.0)
        above, here, total, wanted, next_ = above * scale, here * scale, total * scale, wanted * scale, next_ * scale
    total = total + weights[0] * here
    wanted = here if n == 0 else wanted
    size = (0.5 * x) ** f / total
    return wanted * size, next_ * size


def _steps_of(order):
    return 2 * ((int(max(_FAR, order)) + 50) // 2 + int(0.25 * order) // 2)


def _gammas(f):
    """(Γ1, Γ2, 1/Γ(1 + f), 1/Γ(1 - f)) of Temme's series."""
    y = 8.0 * f * f - 1.0
    odd, even = np.polynomial.chebyshev.chebval(y, _halved(_GAMMA_ODD)), np.polynomial.chebyshev.chebval(y, _halved(_GAMMA_EVEN))
    return odd, even, even - f * odd, even + f * odd


def _halved(coefficients):
    """Their first one counts by half."""
    return [0.5 * coefficients[0], *coefficients[1:]]


def _temme(f, x, sign):
    """(Y of order f, Y of order f + 1) for 0 < x ≤ 2 (sign -1), or K (sign 1)."""
    g1, g2, plus, minus = _gammas(f)
    d = -np.log(0.5 * x)
    e = f * d
    angle = pi * f
    sine = 1.0 if abs(angle) < 1e-15 else angle / math.sin(angle)
    small = np.abs(e) < 1e-8
    ratio = np.where(small, 1.0 + e * e / 6.0, np.sinh(e) / np.where(small, 1.0, e))
    first = sine * (g1 * np.cosh(e) + g2 * ratio * d)
    power = np.exp(e)
    c, square = 1.0, 0.25 * x * x
    if sign < 0:
        first = 2.0 / pi * first
        p, q = power / (plus * pi), 1.0 / (power * pi * minus)
        half = 0.5 * angle
        r = pi * half * (1.0 if abs(half) < 1e-15 else math.sin(half) / half) ** 2
    else:
        p, q, r = 0.5 * power / plus, 0.5 / (power * minus), 0.0
    total, other, term = first + r * q, p, first
    for k in range(1, 25):
        term = (k * term + p + q) / (k * k - f * f)
        c = c * (sign * square / k)
        p, q = p / (k - f), q / (k + f)
        total = total + c * (term + r * q)
        other = other + c * (p - k * (term + r * q))
    return (-total, -other * 2.0 / x) if sign < 0 else (total, other * 2.0 / x)


def _second_fraction(f, x):
    """p + iq = (J' + iY')/(J + iY) of order f, for 2 ≤ x: backwards from a far term of DLMF 10.33's fraction, in real and imaginary parts."""
    re, im = 0.0 * x, 0.0 * x
    for k in range(160, 0, -1):
        # a_k / (2(x + ik) + rest)
        a = (k - 0.5) ** 2 - f * f
        down_re, down_im = 2.0 * x + re, 2.0 * k + im
        size = down_re * down_re + down_im * down_im
        re, im = a * down_re / size, -a * down_im / size
    # p + iq = -1/(2x) + i + (i/x) · rest
    return -0.5 / x - im / x, 1.0 + re / x


def _j_and_y(order, x, which):
    """J or Y of an order of at least -1/2, at x in (0, ∞)."""
    n, f = _split(order)
    far, near = inside(x, x >= _FAR, _FAR), inside(x, x < _FAR, 1.0)
    j_far, y_far = _hankel(f, far)
    j_next, y_next = _hankel(f + 1.0, far)
    if which == "J":
        # Up where that is stable, else down.
        up = (x >= _FAR) & (x > order)
        climbed = _climbed(n, f, far, j_far, j_next)
        low = inside(x, ~up, 1.0)
        return np.where(up, climbed, _miller(order, low, _steps_of(order))[0])
    small, middle = inside(near, near <= 2, 1.0), inside(near, near > 2, 3.0)
    y0, y1 = _temme(f, small, -1.0)
    j, j1 = _low_pair(f, middle)
    slope = f / middle * j - j1
    p, q = _second_fraction(f, middle)
    y = (p * j - slope) / q
    y_slope = q * j + p * y
    first = np.where(x >= _FAR, y_far, np.where(near <= 2, y0, y))
    second = np.where(x >= _FAR, y_next, np.where(near <= 2, y1, f / middle * y - y_slope))
    return _climbed(n, f, x, first, second)


def _low_pair(f, x):
    """(J of order f, J of order f + 1), where f is at least -1/2."""
    first, second = _miller(f, x, _steps_of(0.0))
    return first, second


def _climbed(n, f, x, first, second, back=-1.0):
    """Of order n + f, from those of f and f + 1."""
    if n <= 0:
        return first
    for k in range(1, n):
        # What has overflown stays infinite.
        first, second = second, np.where(np.abs(second) < 1e300, (2.0 * (k + f) / x) * second + back * first, second * inf)
    return second


# I and K


def _i(order, x, scaled):
    """I of an order of at least 0: its series, whose terms have one sign, and beyond its expansion."""
    edge = max(_FAR, 0.5 * order * order)
    near, far = inside(x, x < edge, 1.0), inside(x, x >= edge, edge)
    # The factor exp(-x) in two parts, so that neither the first term nor the sum leaves the range of numbers.
    half = 0.5 * near if scaled else 0.0 * near
    start = np.exp(order * np.log(0.5 * near) - math.lgamma(order + 1.0) - half)
    low = looped(_series, start, 0.25 * near * near, order, int(0.75 * edge) + 60) * np.exp(-half)
    root = 1.0 / np.sqrt(2.0 * pi * far)
    high = _expansion(order, far, -1.0, 30) * root * (1.0 if scaled else np.exp(0.5 * far)) * (1.0 if scaled else np.exp(0.5 * far))
    return np.where(x < edge, low, high)


def _series(term, square, order, count):
    total = term
    for k in range(1, count):
        term = term * square / (k * (k + order))
        total = total + term
    return total


def _k(order, x, scaled):
    n, f = _split(order)
    small, middle = inside(x, x <= 2, 1.0), inside(x, x > 2, 3.0)
    k0, k1 = _temme(f, small, 1.0)
    # Steed's form of the second continued fraction (Numerical Recipes, bessik).
    b = 2.0 * (1.0 + middle)
    d = 1.0 / b
    h = delta = d
    q1, q2 = 0.0 * middle, 1.0 + 0.0 * middle
    a1 = 0.25 - f * f
    q = c = a1 + 0.0 * middle
    a = -a1
    s = 1.0 + q * delta
    for k in range(2, 90):
        a = a - 2 * (k - 1)
        c = -a * c / k
        qnew = (q1 - b * q2) / a
        q1, q2 = q2, qnew
        q = q + c * qnew
        b = b + 2.0
        d = 1.0 / (b + a * d)
        delta = (b * d - 1.0) * delta
        h = h + delta
        s = s + q * delta
    h = a1 * h
    first = np.sqrt(pi / (2.0 * middle)) / s * (1.0 if scaled else np.exp(-middle))
    second = first * (f + middle + 0.5 - h) / middle
    near = np.exp(small) if scaled else 1.0
    return _climbed(n, f, x, np.where(x <= 2, k0 * near, first), np.where(x <= 2, k1 * near, second), 1.0)


# Functions of all x


def _value(kind, order):
    """The value at any x, NaN below 0."""
    size = abs(order)

    def value(x):
        inner = inside(x, (x > 0) & (x < inf), 1.0)
        if kind in ("J", "Y"):
            found = _j_and_y(size, inner, kind) if order >= 0 else _turned(kind, size, inner)
            limit = 0.0
        elif kind in ("K", "Ke"):
            found, limit = _k(size, inner, kind == "Ke"), 0.0
        else:
            found = _i(size, inner, kind == "Ie")
            if order < 0:
                more = (2.0 / pi) * math.sin(size * pi) * _k(size, inner, False)
                found = found + more * (np.exp(-inner) if kind == "Ie" else 1.0)
            limit = 0.0 if kind == "Ie" else inf
        return np.where((x > 0) & (x < inf), found, np.where(x == inf, limit, np.where(x == 0, _at_zero(kind, order), nan)))

    return value


def _turned(kind, size, x):
    """Of order -size, DLMF 10.4.6."""
    cosine, sine = (0.0, math.sin(size * pi)) if size % 1 == 0.5 else (math.cos(size * pi), math.sin(size * pi))
    j, y = (_j_and_y(size, x, "J") if cosine or kind == "Y" else 0.0), (_j_and_y(size, x, "Y") if cosine or kind == "J" else 0.0)
    return cosine * j - sine * y if kind == "J" else sine * j + cosine * y


def _at_zero(kind, order):
    if kind in ("K", "Ke"):
        return inf
    if kind == "Y":
        return -inf if order > 0 or math.cos(order * pi) > 0 else inf
    return 0.0 if order > 0 else inf if kind != "J" else math.copysign(inf, math.gamma(order + 1.0))


_SLOPES = {
    "J": lambda below, here, above: 0.5 * (below - above), "Y": lambda below, here, above: 0.5 * (below - above),
    "I": lambda below, here, above: 0.5 * (below + above), "Ie": lambda below, here, above: 0.5 * (below + above) - here,
    "K": lambda below, here, above: -0.5 * (below + above), "Ke": lambda below, here, above: here - 0.5 * (below + above),
}


def of_order(kind, order):
    """J, Y, I, K, or the scaled Ie, Ke of a known order that is no integer; their slopes are sums of neighbours."""

    def slope(x):
        return _SLOPES[kind](of_order(kind, order - 1.0)(x), of_order(kind, order)(x), of_order(kind, order + 1.0)(x))

    return elementwise(partials=[slope])(_value(kind, order))
