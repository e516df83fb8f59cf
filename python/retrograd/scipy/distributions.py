"""`scipy.stats`: more distributions, as rows of the table of `stats`, and means, variances and entropies."""

import math

import numpy as np

from . import incomplete, special
from .bessel import i0e
from .elementwise import inside
from .logarithms import xlogy
from .special import betaln, digamma, gamma, gammaln
from .stats import CLASSES, TABLE, Distribution, _all_positive, _everywhere, _of_distribution, _positive, _power, _unit

inf, nan, pi = np.inf, np.nan, np.pi
_LOG_ROOT_2PI = 0.5 * math.log(2 * pi)


def _near_zero(z, exact, series):
    """A quotient whose denominator is z: near 0 by its series, whose derivative is right there, too."""
    small = np.abs(z) < 1e-2
    total = 0.0 * z
    for coefficient in reversed(series):
        total = total * z + coefficient
    return np.where(small, total, exact(inside(z, ~small, 1.0)))


def _log1p_over(z):
    return _near_zero(z, lambda z: np.log1p(z) / z, [(-1.0) ** k / (k + 1) for k in range(10)])


def _expm1_over(z):
    return _near_zero(z, lambda z: np.expm1(z) / z, [1.0 / math.factorial(k + 1) for k in range(9)])


def _generalised(y, c):
    """log(1 + c y) / c, and y at c = 0."""
    z = np.maximum(c * y, -1.0)
    return np.where(z > -1.0, y * _log1p_over(inside(z, z > -1.0, 0.0)), inf * np.sign(y))


def _of_normal(y):
    return -0.5 * y * y - _LOG_ROOT_2PI


def _between(a, b):
    """P(a < Z < b) of the normal distribution, from the side where it has no cancellation."""
    turned = a > 0
    return np.where(turned, special.ndtr(-a) - special.ndtr(-b), special.ndtr(b) - special.ndtr(a))


def _truncated(q, a, b):
    left = special.ndtri(special.ndtr(a) + q * _between(a, b))
    right = -special.ndtri(special.ndtr(-b) + (1.0 - q) * _between(a, b))
    return np.where(a > 0, right, left)


def _triangle(y, c):
    """log of the density of the triangle whose top is at c."""
    rising = y < c
    up = np.log(2.0 * inside(y, rising, 0.5) / inside(c, rising, 0.5))
    down = np.log(2.0 * (1.0 - inside(y, ~rising, 0.5)) / (1.0 - inside(c, ~rising & (c < 1), 0.5)))
    return np.where(rising, up, down)


def _log(y):
    """log y for 0 ≤ y, of which the derivative counts above 0 only."""
    return np.where(y > 0, np.log(inside(y, y > 0, 1.0)), -inf)


TABLE.update(
    {
        "f": Distribution(
            "dfn dfd", _positive, _all_positive,
            logpdf=lambda y, n, d: xlogy(0.5 * n, n) + xlogy(0.5 * d, d) + xlogy(0.5 * n - 1.0, y) - 0.5 * (n + d) * np.log(d + n * y) - betaln(0.5 * n, 0.5 * d),
            cdf=lambda y, n, d: incomplete.betainc(0.5 * n, 0.5 * d, n * y / (n * y + d)),
            sf=lambda y, n, d: incomplete.betainc(0.5 * d, 0.5 * n, d / (n * y + d)),
            ppf=lambda q, n, d: (lambda z: d * z / (n * (1.0 - z)))(incomplete.betaincinv(0.5 * n, 0.5 * d, q)),
            isf=lambda q, n, d: (lambda w: d * (1.0 - w) / (n * w))(incomplete.betaincinv(0.5 * d, 0.5 * n, q)),
        ),
        "gumbel_l": Distribution(
            "", _everywhere, None, at=0.0, logpdf=lambda y: y - np.exp(y), cdf=lambda y: -np.expm1(-np.exp(y)), sf=lambda y: np.exp(-np.exp(y)),
            logsf=lambda y: -np.exp(y), ppf=lambda q: np.log(-np.log1p(-q)), isf=lambda q: np.log(-np.log(q)),
        ),
        "truncnorm": Distribution(
            "a b", lambda a, b: (a, b), lambda a, b: a < b, at=0.0, inside=(-1.0, 1.0), logpdf=lambda y, a, b: _of_normal(y) - np.log(_between(a, b)),
            cdf=lambda y, a, b: _between(a, y) / _between(a, b), sf=lambda y, a, b: _between(y, b) / _between(a, b), ppf=_truncated,
        ),
        "genpareto": Distribution(
            "c", lambda c: (0.0, np.where(c < 0, -1.0 / inside(c, c < 0, -1.0), inf)), lambda c: c == c, logpdf=lambda y, c: -(c + 1.0) * _generalised(y, c),
            cdf=lambda y, c: -np.expm1(-_generalised(y, c)), sf=lambda y, c: np.exp(-_generalised(y, c)), logsf=lambda y, c: -_generalised(y, c),
            ppf=lambda q, c: (lambda w: w * _expm1_over(c * w))(-np.log1p(-q)), isf=lambda q, c: (lambda w: w * _expm1_over(c * w))(-np.log(q)),
        ),
        "genextreme": Distribution(
            "c", lambda c: (np.where(c < 0, 1.0 / inside(c, c < 0, -1.0), -inf), np.where(c > 0, 1.0 / inside(c, c > 0, 1.0), inf)), lambda c: c == c, at=0.0,
            logpdf=lambda y, c: -np.exp(-_generalised(y, -c)) - np.where(c == 1.0, 0.0, (1.0 - c) * inside(_generalised(y, -c), c != 1.0, 0.0)),
            cdf=lambda y, c: np.exp(-np.exp(-_generalised(y, -c))), logcdf=lambda y, c: -np.exp(-_generalised(y, -c)),
            sf=lambda y, c: -np.expm1(-np.exp(-_generalised(y, -c))), ppf=lambda q, c: (lambda w: -w * _expm1_over(c * w))(np.log(-np.log(q))),
            isf=lambda q, c: (lambda w: -w * _expm1_over(c * w))(np.log(-np.log1p(-q))),
        ),
        "triang": Distribution(
            "c", _unit, lambda c: (c >= 0) & (c <= 1), logpdf=_triangle,
            cdf=lambda y, c: np.where(y < c, y * y / inside(c, y < c, 1.0), 1.0 - (1.0 - y) ** 2 / (1.0 - inside(c, (y >= c) & (c < 1), 0.0))),
            ppf=lambda q, c: np.where(q < c, np.sqrt(c * inside(q, (q < c), 1.0)), 1.0 - np.sqrt((1.0 - c) * (1.0 - q))),
        ),
        "powerlaw": Distribution(
            "a", _unit, _all_positive, logpdf=lambda y, a: np.log(a) + xlogy(a - 1.0, y), cdf=_power, logcdf=lambda y, a: xlogy(a, y), ppf=lambda q, a: q ** (1.0 / a),
        ),
        "arcsine": Distribution(
            "", _unit, None, logpdf=lambda y: -math.log(pi) - 0.5 * (_log(y) + _log(1.0 - y)), cdf=lambda y: 2.0 / pi * np.arcsin(np.sqrt(y)),
            sf=lambda y: 2.0 / pi * np.arcsin(np.sqrt(1.0 - y)), ppf=lambda q: np.sin(0.5 * pi * q) ** 2,
        ),
        "maxwell": Distribution(
            "", _positive, None, logpdf=lambda y: 0.5 * math.log(2.0 / pi) + 2.0 * _log(y) - 0.5 * y * y, cdf=lambda y: incomplete.gammainc(1.5, 0.5 * y * y),
            sf=lambda y: incomplete.gammaincc(1.5, 0.5 * y * y), ppf=lambda q: np.sqrt(2.0 * incomplete.gammaincinv(1.5, q)), isf=lambda q: np.sqrt(2.0 * incomplete.gammainccinv(1.5, q)),
        ),
        "chi": Distribution(
            "df", _positive, _all_positive, logpdf=lambda y, df: (1.0 - 0.5 * df) * math.log(2.0) + xlogy(df - 1.0, y) - 0.5 * y * y - gammaln(0.5 * df),
            cdf=lambda y, df: incomplete.gammainc(0.5 * df, 0.5 * y * y), sf=lambda y, df: incomplete.gammaincc(0.5 * df, 0.5 * y * y),
            ppf=lambda q, df: np.sqrt(2.0 * incomplete.gammaincinv(0.5 * df, q)), isf=lambda q, df: np.sqrt(2.0 * incomplete.gammainccinv(0.5 * df, q)),
        ),
        "hypsecant": Distribution(
            "", _everywhere, None, at=0.0, logpdf=lambda y: math.log(2.0 / pi) - np.logaddexp(y, -y), cdf=lambda y: 2.0 / pi * np.arctan(np.exp(y)),
            sf=lambda y: 2.0 / pi * np.arctan(np.exp(-y)), ppf=lambda q: np.log(np.tan(0.5 * pi * q)), isf=lambda q: -np.log(np.tan(0.5 * pi * q)),
        ),
        "invgauss": Distribution(
            "mu", _positive, _all_positive,
            logpdf=lambda y, mu: np.where(y > 0, -_LOG_ROOT_2PI - 1.5 * np.log(inside(y, y > 0, 1.0)) - (inside(y, y > 0, 1.0) / mu - 1.0) ** 2 / (2.0 * inside(y, y > 0, 1.0)), -inf),
        ),
        "skewnorm": Distribution("a", _everywhere, lambda a: a == a, at=0.0, logpdf=lambda y, a: math.log(2.0) + _of_normal(y) + special.log_ndtr(a * y)),
        "vonmises": Distribution("kappa", _everywhere, lambda k: k >= 0, at=0.0, logpdf=lambda y, k: k * (np.cos(y) - 1.0) - np.log(2.0 * pi * i0e(k))),
    }
)
CLASSES.update({f"stats.{name}": _of_distribution(distribution) for name, distribution in TABLE.items()})

# (mean, variance, entropy) of the standard form; None where there is none in closed form.
MOMENTS = {
    "norm": (lambda: 0.0, lambda: 1.0, lambda: _LOG_ROOT_2PI + 0.5),
    "expon": (lambda: 1.0, lambda: 1.0, lambda: 1.0),
    "uniform": (lambda: 0.5, lambda: 1.0 / 12.0, lambda: 0.0),
    "gamma": (lambda a: a, lambda a: a, lambda a: a + gammaln(a) + (1.0 - a) * digamma(a)),
    "beta": (
        lambda a, b: a / (a + b), lambda a, b: a * b / ((a + b) ** 2 * (a + b + 1.0)),
        lambda a, b: betaln(a, b) - (a - 1.0) * digamma(a) - (b - 1.0) * digamma(b) + (a + b - 2.0) * digamma(a + b),
    ),
    "logistic": (lambda: 0.0, lambda: pi**2 / 3.0, lambda: 2.0),
    "laplace": (lambda: 0.0, lambda: 2.0, lambda: math.log(2.0) + 1.0),
    "lognorm": (lambda s: np.exp(0.5 * s * s), lambda s: np.expm1(s * s) * np.exp(s * s), lambda s: _LOG_ROOT_2PI + 0.5 + np.log(s)),
    "weibull_min": (
        lambda c: gamma(1.0 + 1.0 / c), lambda c: gamma(1.0 + 2.0 / c) - gamma(1.0 + 1.0 / c) ** 2, lambda c: np.euler_gamma * (1.0 - 1.0 / c) - np.log(c) + 1.0,
    ),
    "chi2": (lambda df: df, lambda df: 2.0 * df, lambda df: 0.5 * df + math.log(2.0) + gammaln(0.5 * df) + (1.0 - 0.5 * df) * digamma(0.5 * df)),
    "poisson": (lambda mu: mu, lambda mu: mu, None), "binom": (lambda n, p: n * p, lambda n, p: n * p * (1.0 - p), None),
    "bernoulli": (lambda p: p, lambda p: p * (1.0 - p), None), "geom": (lambda p: 1.0 / p, lambda p: (1.0 - p) / p**2, None),
    "nbinom": (lambda n, p: n * (1.0 - p) / p, lambda n, p: n * (1.0 - p) / p**2, None),
    "gumbel_r": (lambda: np.euler_gamma, lambda: pi**2 / 6.0, lambda: np.euler_gamma + 1.0),
    "rayleigh": (lambda: math.sqrt(0.5 * pi), lambda: 2.0 - 0.5 * pi, lambda: 1.0 + 0.5 * np.euler_gamma - 0.5 * math.log(2.0)),
    "halfnorm": (lambda: math.sqrt(2.0 / pi), lambda: 1.0 - 2.0 / pi, lambda: 0.5 * math.log(0.5 * pi) + 0.5),
}
for _name, _moments in MOMENTS.items():
    TABLE[_name].moments = dict(zip(("mean", "var", "entropy"), _moments))
