"""`scipy.special`: the incomplete gamma and beta functions, their inverses, and the distribution functions that SciPy has beside them.

By x the derivative is the density. By a shape parameter it is that of the series or continued fraction that gives the value (forward mode through
its loop); of an inverse it is by the implicit function theorem.
"""

import numpy as np

from .elementwise import elementwise, inside, looped
from .polynomials import piecewise
from .special import beta, betaln, gammaln, log_gamma_rest, ndtri

inf, nan, pi = np.inf, np.nan, np.pi
_TINY = 1e-300


def log_rest(ratio, d):
    """log(1 + d) - d, where `ratio` is 1 + d, which may be much smaller."""
    near = (d > -0.5) & (d < 1)
    t = inside(d, near, 0.0)
    return np.where(near, t * t * piecewise("log1p_rest", t), np.log(inside(ratio, ~near, 2.0)) - inside(d, ~near, 1.0))


# How far away a second copy of a continued fraction is that says when it has converged: at some parameters a fraction ends, its derivative does not.
_ASIDE = 0.37


def by_parameter(function, k):
    """The derivative of a function of arrays by argument k, forwards through its loops."""

    def partial(*args):
        from .. import api

        def along(x):
            return function(*args[:k], x, *args[k + 1 :], aside=_ASIDE)

        return api.jvp(along, (args[k],), (1.0 + 0.0 * args[k],))[1]

    return partial


# The incomplete gamma function


def _prefix(a, x):
    """x^a e^-x / Γ(a + 1) without overflow or cancellation."""
    large = a >= 1
    b = inside(a, large, 1.0)
    y = inside(x, large, 1.0)
    first = np.exp(b * log_rest(y / b, (y - b) / b) - log_gamma_rest(b)) / np.sqrt(2 * pi * b)
    c, y = inside(a, ~large, 0.5), inside(x, ~large & (x > 0), 1.0)
    second = np.exp(c * np.log(y) - y - gammaln(1.0 + c))
    return np.where(large, first, np.where(x > 0, second, 0.0))


def _series(a, x):
    """Σ xⁿ / ((a + 1) … (a + n)): P is the prefix times this."""
    term, total, n = 1.0 + 0.0 * x, 1.0 + 0.0 * x, 0
    while np.any(term * (n + 1.0) > 1e-17 * total) and n < 100000:
        n = n + 1
        term = term * (x / (a + n))
        total = total + term
    return total


def _small(a, x):
    """Σ (-x)ⁿ / (n! (a + n)) over n ≥ 1, for x up to 1.1: Q for small a is made of it."""
    factor, total = 1.0 + 0.0 * x, 0.0 * x
    for n in range(1, 26):
        factor = factor * (-x / n)
        total = total + factor / (a + n)
    return total


def _fraction(a, x):
    """Legendre's continued fraction by Lentz' method: Q is a times the prefix times this."""
    b = x + 1.0 - a
    c = 1.0 / _TINY + 0.0 * b
    d = 1.0 / b
    h, change, n = d, 2.0 + 0.0 * d, 0
    while np.any(np.abs(change - 1.0) > 1e-15) and n < 100000:
        n = n + 1
        an = -n * (n - a)
        b = b + 2.0
        d = 1.0 / (an * d + b)
        c = b + an / c
        change = c * d
        h = h * change
    return h


def _fraction_of(a, x, aside):
    return looped(_fraction, np.stack([a, a + aside]), np.stack([x, x]))[0] if aside else looped(_fraction, a, x)


def _parts(a, x, aside=0.0):
    """(P, Q) for 0 < a and 0 < x < ∞."""
    fraction = (x > 1.1) & (x > a)
    small = ~fraction & np.where(x <= 0.5, a <= -0.4 / np.log(np.minimum(x, 0.5)), 1.1 * x >= a) & (x <= 1.1)
    series = ~fraction & ~small
    prefix = _prefix(a, x)
    q_fraction = a * prefix * _fraction_of(inside(a, fraction, 1.0), inside(x, fraction, 3.0), aside)
    sa, sx = inside(a, small, 0.5), inside(x, small, 0.5)
    log = np.log(sx)
    q_small = -np.expm1(sa * log - gammaln(1.0 + sa)) - np.exp(sa * log - gammaln(1.0 + sa)) * sa * looped(
        _small, sa, sx
    )
    p_series = prefix * looped(_series, inside(a, series | small, 1.0), inside(x, series | small, 0.5))
    q = np.where(fraction, q_fraction, np.where(small, q_small, 1.0 - p_series))
    p = np.where(fraction, 1.0 - q_fraction, p_series)
    return p, q


def _gamma_density(a, x):
    """The derivative of P by x: x^(a-1) e^-x / Γ(a)."""
    ok = (x > 0) & (x < inf) & (a > 0)
    s, y = inside(a, ok, 1.0), inside(x, ok, 1.0)
    at_0 = np.where(x == 0, np.where(a == 1, 1.0, np.where(a < 1, inf, 0.0)), 0.0)
    return np.where(ok, _prefix(s, y) * s / y, at_0)


def _incomplete(which):
    def value(a, x, aside=0.0):
        ok = (a > 0) & (a < inf) & (x > 0) & (x < inf)
        inner = _parts(inside(a, ok, 1.0), inside(x, ok, 1.0), aside)[which]
        low, high = (0.0, 1.0) if which == 0 else (1.0, 0.0)
        # a = 0 is a step at 0; a = ∞ one at infinity.
        edge = np.where(
            (a == 0) & (x > 0),
            high,
            np.where(
                (a > 0) & (x == 0),
                low,
                np.where((a > 0) & (a < inf) & (x == inf), high, np.where((a == inf) & (x >= 0) & (x < inf), low, nan)),
            ),
        )
        return np.where(ok, inner, edge)

    return value


_P, _Q = _incomplete(0), _incomplete(1)
gammainc = elementwise("gammainc", partials=[by_parameter(_P, 0), _gamma_density])(_P)
gammaincc = elementwise("gammaincc", partials=[by_parameter(_Q, 0), lambda a, x: -_gamma_density(a, x)])(_Q)


# The incomplete beta function


def _beta_prefix(a, b, x, y):
    """x^a y^b / B(a, b), with y = 1 - x."""
    large = (a >= 1) & (b >= 1)
    p, q = inside(a, large, 1.0), inside(b, large, 1.0)
    n = p + q
    # log(x n / p) = log(1 + (x n - p) / p), and x n - p = x q - y p
    u, v = inside(x, large, 0.5), inside(y, large, 0.5)
    distance = u * q - v * p
    exponent = p * log_rest(u * n / p, distance / p) + q * log_rest(v * n / q, -distance / q)
    rest = log_gamma_rest(n) - log_gamma_rest(p) - log_gamma_rest(q)
    first = np.exp(exponent + rest) * np.sqrt(p / (2 * pi) * (q / n))
    r, s = inside(a, ~large, 0.5), inside(b, ~large, 0.5)
    u, v = inside(x, ~large, 0.5), inside(y, ~large, 0.5)
    second = np.exp(r * np.log(u) + s * np.log(v) - betaln(r, s))
    return np.where(large, first, second)


def _beta_fraction(a, b, x):
    """The continued fraction of I by Lentz' method."""
    c = 1.0 + 0.0 * x
    d = 1.0 - (a + b) * x / (a + 1.0)
    d = 1.0 / np.where(np.abs(d) < _TINY, _TINY, d)
    h, change, n = d, 2.0 + 0.0 * d, 0
    while np.any(np.abs(change - 1.0) > 1e-15) and n < 20000:
        n = n + 1
        even = n * (b - n) * x / ((a + 2.0 * n - 1.0) * (a + 2.0 * n))
        d = 1.0 + even * d
        d = 1.0 / np.where(np.abs(d) < _TINY, _TINY, d)
        c = 1.0 + even / c
        c = np.where(np.abs(c) < _TINY, _TINY, c)
        h = h * (c * d)
        odd = -(a + n) * (a + b + n) * x / ((a + 2.0 * n) * (a + 2.0 * n + 1.0))
        d = 1.0 + odd * d
        d = 1.0 / np.where(np.abs(d) < _TINY, _TINY, d)
        c = 1.0 + odd / c
        c = np.where(np.abs(c) < _TINY, _TINY, c)
        change = c * d
        h = h * change
    return h


def _beta_fraction_of(a, b, x, aside):
    if not aside:
        return looped(_beta_fraction, a, b, x)
    return looped(_beta_fraction, np.stack([a, a]), np.stack([b, b + aside]), np.stack([x, x]))[0]


def _beta_parts(a, b, x, aside=0.0):
    """(I, 1 - I) for positive a, b and 0 < x < 1: on that side of the mean where the fraction converges fast."""
    swap = x > (a + 1.0) / (a + b + 2.0)
    y = 1.0 - x
    p, q, u = np.where(swap, b, a), np.where(swap, a, b), np.where(swap, y, x)
    found = _beta_prefix(p, q, u, np.where(swap, x, y)) / p * _beta_fraction_of(p, q, u, aside)
    return np.where(swap, 1.0 - found, found), np.where(swap, found, 1.0 - found)


def _beta_density(a, b, x):
    ok = (x > 0) & (x < 1) & (a > 0) & (b > 0)
    p, q, u = inside(a, ok, 1.0), inside(b, ok, 1.0), inside(x, ok, 0.5)
    edge = lambda shape, other: np.where(shape == 1, 1.0 / beta(a, b), np.where(shape < 1, inf, 0.0)) + 0.0 * other
    return np.where(
        ok,
        _beta_prefix(p, q, u, 1.0 - u) / (u * (1.0 - u)),
        np.where(x == 0, edge(a, b), np.where(x == 1, edge(b, a), 0.0)),
    )


def _incomplete_beta(which):
    def value(a, b, x, aside=0.0):
        ok = (a > 0) & (b > 0) & (a < inf) & (b < inf) & (x > 0) & (x < 1)
        inner = _beta_parts(inside(a, ok, 1.0), inside(b, ok, 1.0), inside(x, ok, 0.5), aside)[which]
        low, high = (0.0, 1.0) if which == 0 else (1.0, 0.0)
        good = (a > 0) & (b > 0)
        return np.where(ok, inner, np.where(good & (x == 0), low, np.where(good & (x == 1), high, nan)))

    return value


_I, _J = _incomplete_beta(0), _incomplete_beta(1)
betainc = elementwise("betainc", partials=[by_parameter(_I, 0), by_parameter(_I, 1), _beta_density])(_I)
betaincc = elementwise(
    "betaincc", partials=[by_parameter(_J, 0), by_parameter(_J, 1), lambda a, b, x: -_beta_density(a, b, x)]
)(_J)


# Inverses


def _solved(start, low, high, step):
    """The x at which a rising function is 0, between bounds: Newton's steps, and halves of the bracket where these lead out of it.

    `step(x)` gives the function and its slope.
    """
    x, n, moved = start, 0, 1.0 + 0.0 * start
    while np.any(moved > 4e-16) and n < 200:
        n = n + 1
        value, slope = step(x)
        low = np.where(value < 0, x, low)
        high = np.where(value > 0, x, high)
        newton = x - value / np.where(slope > 0, slope, 1.0)
        # A bracket that spans orders of magnitude is halved in the logarithm.
        middle = np.where((low > 0) & (high > 16.0 * low), np.sqrt(low) * np.sqrt(high), 0.5 * (low + high))
        inside_ = (slope > 0) & (newton > low) & (newton < high)
        following = np.where(value == 0, x, np.where(inside_, newton, middle))
        moved = np.where(value == 0, 0.0, np.abs(following - x) / np.maximum(np.abs(following), 1e-300))
        x = following
    return x


def _gamma_inverse(which):
    def value(a, p):
        ok = (a > 0) & (p > 0) & (p < 1)
        s, t = inside(a, ok, 1.0), inside(p, ok, 0.5)
        # Wilson and Hilferty's guess, or that of the first term of the series.
        z = ndtri(t) if which == 0 else -ndtri(t)
        cube = 1.0 - 1.0 / (9.0 * s) + z / (3.0 * np.sqrt(s))
        lower = t if which == 0 else 1.0 - t
        first = np.exp((np.log(np.maximum(lower, 1e-300)) + gammaln(s + 1.0)) / s)
        start = np.where(cube > 0.3, s * cube * cube * cube, np.maximum(np.minimum(first, s + 1.0), 1e-300))

        def step(x):
            found = _parts(s, x)[which]
            # In the logarithm of the smaller tail Newton's steps are nearly straight.
            slope = _gamma_density(s, x) / found
            return (np.log(found / t), slope) if which == 0 else (np.log(t / found), slope)

        root = looped(_solved, start, 0.0 * s, 1e6 * (1.0 + 1e3 * s), step)
        root = np.where((first < 1e-300) & (cube <= 0.3), 0.0, root)
        at_0, at_1 = (0.0, inf) if which == 0 else (inf, 0.0)
        return np.where(ok, root, np.where((a > 0) & (p == 0), at_0, np.where((a > 0) & (p == 1), at_1, nan)))

    def partials(places, a, p):
        x = _inverses[which](a, p)
        density = _gamma_density(a, x)
        return [
            -by_parameter(_P, 0)(a, x) / density if k == 0 else (1.0 if which == 0 else -1.0) / density for k in places
        ]

    return elementwise("gammaincinv" if which == 0 else "gammainccinv", partials=partials)(value)


_inverses = {}
_inverses.update({which: _gamma_inverse(which) for which in (0, 1)})
gammaincinv, gammainccinv = _inverses[0], _inverses[1]


def _beta_inverse():
    def value(a, b, p):
        ok = (a > 0) & (b > 0) & (p > 0) & (p < 1)
        r, s, t = inside(a, ok, 1.0), inside(b, ok, 1.0), inside(p, ok, 0.5)

        def step(x):
            found, rest = _beta_parts(r, s, x)
            # In the logarithm of the odds, which is straight at both ends.
            slope = _beta_density(r, s, x) / (found * rest)
            return np.log(found) - np.log(rest) - np.log(t) + np.log1p(-t), slope

        mean = r / (r + s)
        first = np.exp((np.log(t * r) + betaln(r, s)) / r)
        start = np.where(first < 0.1 * mean, np.maximum(first, 1e-300), mean)
        root = looped(_solved, start, 0.0 * r, 1.0 + 0.0 * r, step)
        return np.where(
            ok, root, np.where((a > 0) & (b > 0) & (p == 0), 0.0, np.where((a > 0) & (b > 0) & (p == 1), 1.0, nan))
        )

    def partials(places, a, b, p):
        x = betaincinv(a, b, p)
        density = _beta_density(a, b, x)
        return [1.0 / density if k == 2 else -by_parameter(_I, k)(a, b, x) / density for k in places]

    return elementwise("betaincinv", partials=partials)(value)


betaincinv = _beta_inverse()


# Distribution functions


@elementwise("chdtr")
def chdtr(v, x):
    return np.where(x < 0, nan, gammainc(0.5 * v, 0.5 * inside(x, x >= 0, 1.0)))


@elementwise("chdtrc")
def chdtrc(v, x):
    return np.where(x < 0, nan, gammaincc(0.5 * v, 0.5 * inside(x, x >= 0, 1.0)))


@elementwise("gdtr")
def gdtr(a, b, x):
    return gammainc(b, a * x)


@elementwise("pdtr")
def pdtr(k, m):
    valid = (k >= 0) & (m >= 0)
    return np.where(valid, gammaincc(np.floor(inside(k, valid, 0.0)) + 1.0, inside(m, valid, 1.0)), nan)


@elementwise("bdtr")
def bdtr(k, n, p):
    k = np.floor(k)
    return np.where(k >= n, 1.0, betaincc(inside(k + 1.0, k < n, 1.0), inside(n - k, k < n, 1.0), p))


def _t_density(df, t):
    return np.exp(-0.5 * (df + 1.0) * np.log1p(t * t / df) - betaln(0.5 * df, 0.5)) / np.sqrt(df)


def _stdtr(df, t, aside=0.0):
    """Student's distribution function: half of an incomplete beta function of the tail, or near 0 of the middle, which is the small part there."""
    tiny = t * t < 1e-10 * df
    square = inside(t * t, ~tiny & (np.abs(t) < 1e150), 1.0)
    near = square < df
    a, b = np.where(near, 0.5, 0.5 * df), np.where(near, 0.5 * df, 0.5)
    found = 0.5 * _I(a, b, np.where(near, square, df) / (df + square), aside)
    value = np.where(near, 0.5 + np.copysign(found, t), np.where(t < 0, found, 1.0 - found))
    # At 0 by its series, whose derivatives are exact there.
    series = 0.5 + _t_density(df, 0.0 * df) * t * (1.0 - (df + 1.0) / df * t * t / 6.0)
    return np.where(tiny, series, np.where(np.abs(t) < 1e150, value, np.where(t < 0, 0.0, np.where(t > 0, 1.0, nan))))


stdtr = elementwise("stdtr", partials=[by_parameter(_stdtr, 0), _t_density])(_stdtr)


def _stdtrit(df, p):
    """Its inverse, by that of the incomplete beta function."""
    ok = (p > 0) & (p < 1) & (p != 0.5)
    q = inside(np.minimum(p, 1.0 - p), ok, 0.25)
    # In the middle by the small part, in the tails by the tail.
    near = q > 0.1
    x = betaincinv(np.where(near, 0.5, 0.5 * df), np.where(near, 0.5 * df, 0.5), np.where(near, 1.0 - 2.0 * q, 2.0 * q))
    size = np.sqrt(df * np.where(near, x / (1.0 - x), (1.0 - x) / x))
    return np.where(
        ok, np.where(p < 0.5, -size, size), np.where(p == 0.5, 0.0, np.where(p == 0, -inf, np.where(p == 1, inf, nan)))
    )


def _stdtrit_partials(places, df, p):
    t = stdtrit(df, p)
    density = _t_density(df, t)
    return [1.0 / density if k == 1 else -by_parameter(_stdtr, 0)(df, t) / density for k in places]


stdtrit = elementwise("stdtrit", partials=_stdtrit_partials)(_stdtrit)
