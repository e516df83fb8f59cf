"""`scipy.special`: the gamma function and its relatives, zeta, error functions.

Bounds are those of `tests/test_scipy_special.py`, which holds every function against a table made by mpmath.
"""

import math

import numpy as np

from .. import errors
from ..array import Array
from ..functions import SPECIAL, UFUNCS, _as_array, astype
from .elementwise import Elementwise, beside, elementwise, inside, known_integer
from .polynomials import number, piecewise
from .table import implements

inf, nan, pi = np.inf, np.nan, np.pi
_HALF_LOG_2PI = 0.9189385332046727418

# Ops of the Program, and functions that NumPy has, too.
for _name, _rule in {
    "erf": SPECIAL["erf"],
    "erfc": SPECIAL["erfc"],
    "expit": SPECIAL["expit"],
    "expm1": UFUNCS[np.expm1],
    "log1p": UFUNCS[np.log1p],
    "cbrt": UFUNCS[np.cbrt],
    "exp2": UFUNCS[np.exp2],
}.items():
    implements(f"special.{_name}")(_rule)


def sinpi(x):
    """sin(πx), exactly 0 at integers."""
    r = x - 2.0 * np.round(0.5 * x)
    folded = np.where(np.abs(r) > 0.5, np.copysign(1.0, r) - r, r)
    return np.sin(pi * folded)


def cospi(x):
    """cos(πx), exactly 0 at halves."""
    r = x - 2.0 * np.round(0.5 * x)
    # The absolute value stands on the far side alone: at 0 it has no slope, and cos has a second derivative.
    far = np.abs(r) > 0.25
    return np.where(far, np.sin(pi * (0.5 - np.abs(r))), np.cos(pi * r))


def log_gamma_rest(y):
    """log Γ(y) less Stirling's formula, for y ≥ 1."""
    u = 1.0 / y
    return u * piecewise("log_gamma_star", u)


def _is_pole(x):
    return (x <= 0) & (x == np.floor(x))


# Gamma


def _log_gamma_positive(y):
    far = inside(y, y >= 3, 3.0)
    # At infinity the product is right, a difference would be NaN.
    stirling = (far - 0.5) * (np.log(far) - 1.0) + ((_HALF_LOG_2PI - 0.5) + log_gamma_rest(far))
    two = inside(y, (y >= 1.5) & (y < 3), 2.0) - 2.0
    one = inside(y, (y >= 0.5) & (y < 1.5), 1.0) - 1.0
    near = inside(y, y < 0.5, 0.25)
    first = near * piecewise("log_gamma_at_1", near) - np.log(near)
    middle = np.where(y < 1.5, one * piecewise("log_gamma_at_1", one), two * piecewise("log_gamma_at_2", two))
    return np.where(y < 0.5, first, np.where(y < 3, middle, stirling))


@elementwise("gammaln", "loggamma", partials=[lambda x: digamma(x)])
def gammaln(x):
    """log |Γ(x)|. `loggamma` is NaN below 0."""
    below = x < 0
    y = np.abs(x)
    positive = _log_gamma_positive(np.where(y > 0, y, 1.0))
    w = inside(y, below & ~_is_pole(x), 0.5)
    reflected = math.log(pi) - np.log(np.abs(sinpi(w)) * w) - positive
    return np.where(_is_pole(x), np.where(x == -inf, -inf, inf), np.where(below, reflected, positive))


implements("special.loggamma")(lambda x: np.where(_as_array(x) >= 0, gammaln(x), nan))


def _gamma_positive(y):
    """Γ(y) for 0 ≤ y; |y| < 1 by Γ(y + 1) / y, so that ±0 gives ±∞."""
    z = np.minimum(np.where(y < 1, y + 1.0, y), 180.0)
    power = z ** (0.5 * z - 0.25)
    value = (math.sqrt(2 * pi) * power) * np.exp(-z) * power * np.exp(log_gamma_rest(z))
    return np.where(y < 1, value / np.where(y < 1, y, 1.0), value)


@elementwise("gamma", partials=[lambda x: gamma(x) * digamma(x)])
def gamma(x):
    below = x < 0
    w = inside(-x, below & ~_is_pole(x), 0.5)
    value = _gamma_positive(np.where(below, w, x))
    reflected = -pi / (sinpi(w) * w) / value
    return np.where(below & _is_pole(x), nan, np.where(below, reflected, value))


@elementwise("rgamma")
def rgamma(x):
    """1/Γ(x), whose zeros are those of the sine below 0."""
    below = x < 0
    w = inside(-x, below, 0.5)
    y = inside(x, ~below, 1.5)
    value = np.where(y < 1, y, 1.0) / gamma(np.where(y < 1, y + 1.0, y))
    return np.where(below, -sinpi(w) * np.where(w < 1, 1.0, w) * gamma(np.where(w < 1, w + 1.0, w)) / pi, value)


def gammasgn(x):
    odd = np.floor(x) - 2.0 * np.floor(0.5 * np.floor(x)) == 1
    return np.where((x < 0) & odd, -1.0, 1.0)


def _digamma_positive(y):
    far = inside(y, y >= 3, 3.0)
    u = 1.0 / far
    asymptotic = np.log(far) - u * piecewise("digamma_rest", u)
    high, low = number("digamma_root")
    near = inside(np.where(y < 1, y + 1.0, y), y < 3, 1.5)
    direct = ((near - high) - low) * piecewise("digamma", near)
    first = direct - 1.0 / np.where(y < 1, y, 1.0)
    return np.where(y < 1, first, np.where(y < 3, direct, asymptotic))


@elementwise("digamma", "psi", partials=[lambda x: polygamma(1, x)])
def digamma(x):
    below = x < 0
    w = inside(-x, below & ~_is_pole(x), 0.5)
    value = _digamma_positive(np.where(below, w, x))
    reflected = value + 1.0 / w + pi * cospi(w) / sinpi(w)
    return np.where(below & _is_pole(x), nan, np.where(below, reflected, value))


_BERNOULLI = [
    1 / 12,
    -1 / 720,
    1 / 30240,
    -1 / 1209600,
    1 / 47900160,
    -691 / 1307674368000,
    1 / 74724249600,
    -3617 / 10670622842880000,
    43867 / 5109094217170944000,
]
_SHIFT = 10


def hurwitz(s, q):
    """Σ (q + k)^-s over k ≥ 0 for q > 0 and s > -16, by Euler–Maclaurin (ten terms, nine corrections); its derivatives are those of the terms."""
    w = q + float(_SHIFT)
    total = sum((q + float(k)) ** -s for k in range(1, _SHIFT)) + q**-s
    power = w**-s
    total = total + w ** (1.0 - s) / (s - 1.0) + 0.5 * power
    factor, inverse = s / w, 1.0 / (w * w)
    for j, number_j in enumerate(_BERNOULLI):
        total = total + number_j * factor * power
        factor = factor * ((s + (2.0 * j + 1)) * (s + (2.0 * j + 2))) * inverse
    return total


@elementwise("zeta")
def _zeta_of_two(s, q):
    valid = (s > 1) & (q > 0)
    value = hurwitz(np.minimum(inside(s, valid, 2.0), 1e4), inside(q, valid, 1.0))
    return np.where(valid, value, np.where((s == 1) & (q > 0) | (s > 1) & (q == np.floor(q)), inf, nan))


@elementwise("zetac")
def _zetac(s):
    # Above 0 the sum from 2^-s on, which keeps its digits.
    above = (s >= 0) & (s != 1)
    tail = np.minimum(inside(s, above, 2.0), 1e4)
    return np.where(above, hurwitz(tail, 2.0 + 0.0 * tail), riemann(inside(s, ~above, 1.0)) - 1.0)


@elementwise()
def riemann(s):
    """ζ(s); below 0 by its reflection."""
    below = s < 0
    t = inside(s, ~below & (s != 1), 2.0)
    t = np.minimum(t, 1e4)
    value = hurwitz(t, 1.0 + 0.0 * t)
    r = inside(s, below & (s > -169), -0.5)
    reflected = 2.0**r * pi ** (r - 1.0) * sinpi(0.5 * r) * gamma(1.0 - r) * hurwitz(1.0 - r, 1.0 + 0.0 * r)
    # Far below the gamma function overflows before ζ does; at even integers it is 0.
    zero = sinpi(0.5 * s) == 0
    f = inside(s, (s <= -169) & (s > -inf) & ~zero, -169.0)
    far = np.where(zero, 0.0, sinpi(0.5 * f) / pi * np.exp(gammaln(1.0 - f) + f * math.log(2 * pi)))
    negative = np.where(s == -inf, nan, np.where(s > -169, reflected, far))
    return np.where(np.isnan(s), nan, np.where(s == 1, inf, np.where(below, negative, value)))


@implements("special.zeta")
def _zeta(x, q=None):
    return riemann(x) if q is None else _zeta_of_two(x, q)


@implements("special.polygamma")
def polygamma(n, x):
    """ψ⁽ⁿ⁾(x) for a known order n: (-1)ⁿ⁺¹ n! ζ(n + 1, x), and below 0 by the derivatives of the cotangent."""
    order = known_integer(n, "the order", "polygamma")
    if order < 0:
        raise errors.ArgumentError(f"scipy.special.polygamma needs an order of 0 or more, found {order}", errors.here())
    x = beside(n, x, (int, float))
    return digamma(x) if order == 0 else _polygamma_of_order(order)(x)


def _polygamma_of_order(n):
    sign = (-1.0) ** (n + 1) * math.factorial(n)
    # dⁿ cot(πx) = πⁿ P(cot πx), where P₀ = c and P' = -(1 + c²) dP/dc.
    powers = np.polynomial.Polynomial([0.0, 1.0])
    for _ in range(n):
        powers = powers.deriv() * np.polynomial.Polynomial([-1.0, 0.0, -1.0])

    def value(x):
        below = x < 0
        w = inside(-x, below & ~_is_pole(x), 0.5)
        positive = sign * hurwitz(n + 1.0, np.where(below, 1.0 + w, np.where(x > 0, x, 1.0)))
        cot = -cospi(w) / sinpi(w)
        total = 0.0 * cot
        for c in powers.coef[::-1]:
            total = total * cot + c
        reflected = (-1.0) ** n * positive - pi ** (n + 1.0) * total
        return np.where(_is_pole(x), math.copysign(inf, sign), np.where(below, reflected, positive))

    return Elementwise(value, None, "polygamma")


@implements("special.multigammaln")
def multigammaln(a, d):
    """log of the multivariate gamma function of a known dimension."""
    d = known_integer(d, "the dimension", "multigammaln")
    a = astype(_as_array(a), np.float64)
    return sum(gammaln(a - 0.5 * k) for k in range(d)) + d * (d - 1) * 0.25 * math.log(pi)


# Beta


@elementwise("betaln", partials=[lambda a, b: digamma(a) - digamma(a + b), lambda a, b: digamma(b) - digamma(a + b)])
def betaln(a, b):
    small, large = np.minimum(a, b), np.maximum(a, b)
    # log Γ(large) - log Γ(small + large) without its cancellation, by Stirling's formula.
    use = (small > 0) & (large >= 1) & (large < inf)
    s, l = inside(small, use, 1.0), inside(large, use, 1.0)
    difference = log_gamma_rest(l) - log_gamma_rest(s + l) - (l - 0.5) * np.log1p(s / l) - s * (np.log(s + l) - 1.0)
    return np.where(
        use,
        gammaln(s) + difference,
        np.where(_is_pole(small), np.log(np.abs(_beta_at_pole(a, b))), gammaln(a) + gammaln(b) - gammaln(a + b)),
    )


def _beta_at_pole(a, b):
    """B(n, m) = (-1)ᵐ B(1 - n - m, m) of an integer n ≤ 0 and an integer m from 1 to -n, else infinite, with SciPy's sign."""
    n, m = np.where(_is_pole(a), a, b), np.where(_is_pole(a), b, a)
    whole = (m == np.floor(m)) & (1.0 - n - m > 0)
    finite = whole & (m > 0) & (n > -inf)
    k = inside(m, finite, 1.0)
    left = inside(1.0 - n - m, finite, 1.0)
    size = np.where(finite, np.exp(gammaln(left) + gammaln(k) - gammaln(left + k)), inf)
    return np.where(whole & (m - 2.0 * np.floor(0.5 * m) == 1), -size, size)


@elementwise(
    "beta",
    partials=[
        lambda a, b: beta(a, b) * (digamma(a) - digamma(a + b)),
        lambda a, b: beta(a, b) * (digamma(b) - digamma(a + b)),
    ],
)
def beta(a, b):
    value = gammasgn(a) * gammasgn(b) * gammasgn(a + b) * np.exp(betaln(a, b))
    return np.where(_is_pole(a) | _is_pole(b), _beta_at_pole(a, b), value)


@elementwise("binom")
def binom(n, k):
    """n over k, by the gamma function; k beyond n of integers is 0."""
    none = ((k < 0) | (k > n)) & (k == np.floor(k)) & (n == np.floor(n)) & (n >= 0)
    kk, nn = inside(k, ~none, 0.0), inside(n, ~none, 1.0)
    value = 1.0 / ((nn + 1.0) * beta(1.0 + nn - kk, 1.0 + kk))
    whole = (kk == np.floor(kk)) & (nn == np.floor(nn)) & (value < 2.0**52)
    # Of integers it is an integer; a rounding that has no derivative is added.
    from ..custom import stop_gradient

    value = np.where((n < 0) & (n == np.floor(n)), nan, value)
    return np.where(none, 0.0 * value, value + stop_gradient(np.where(whole, np.round(value) - value, 0.0)))


@implements("special.comb")
def comb(N, k, exact=False, repetition=False):
    if exact:
        raise errors.Unsupported(
            "scipy.special.comb with exact=True of traced values is not supported; leave it out", errors.here()
        )
    # As SciPy, where Python numbers are arrays.
    N, k = beside(k, N, (int, float)), beside(N, k, (int, float))
    if repetition:
        N = N + k - 1
    return np.where((k <= N) & (N >= 0) & (k >= 0) if not repetition else (k >= 0), binom(N, k), 0.0)


@implements("special.factorial")
def factorial(n, exact=False, extend="zero"):
    if exact or extend != "zero":
        raise errors.Unsupported(
            "scipy.special.factorial of traced values is that by the gamma function; exact= and extend= are not supported",
            errors.here(),
        )
    n = _as_array(n)
    # As SciPy, of an array a float64.
    n = n if n._scalar else astype(n, np.float64)
    return np.where(n < 0, 0.0, gamma(inside(n, ~(n < 0), 0) + 1.0))


@elementwise(
    "poch", partials=[lambda a, m: poch(a, m) * (digamma(a + m) - digamma(a)), lambda a, m: poch(a, m) * digamma(a + m)]
)
def poch(a, m):
    # Of two poles it is (-1)ᵐ Γ(1 - a) / Γ(1 - a - m).
    over, under = _is_pole(a + m) & (a + m > -inf), _is_pole(a) & (a > -inf)
    both = over & under
    top, bottom = np.where(both, 1.0 - a, a + m), np.where(both, 1.0 - a - m, a)
    sign = np.where(both, 1.0 - 2.0 * (m - 2.0 * np.floor(0.5 * m)), gammasgn(a + m) * gammasgn(a))
    value = sign * np.exp(gammaln(inside(top, both | ~over, 1.0)) - gammaln(inside(bottom, both | ~under, 1.0)))
    value = np.where(a + m == -inf, nan, value)
    return np.where(m == 0, 1.0, np.where(both | ~(over | under), value, np.where(under, 0.0, inf)))


# Error functions


@elementwise("erfcx")
def erfcx(x):
    """exp(x²) erfc(x)."""
    y = np.where(x < 0, -x, x)  # at 0 the derivative counts
    u = 1.0 / (1.0 + y)
    positive = u * piecewise("erfcx", u)
    return np.where(x < 0, 2.0 * _exp_square(np.maximum(inside(x, x < 0, 0.0), -30.0), 1.0) - positive, positive)


def _exp_square(z, c):
    """exp(c z²) in two parts, so that the rounding of z² is not multiplied by itself: 24 bits squared are exact."""
    high = np.round(z * 1048576.0) / 1048576.0
    return np.exp(c * high * high) * np.exp(c * (z - high) * (z + high))


def _erfcinv_tail(q):
    """erfcinv for 0 < q ≤ 1/2."""
    w = np.sqrt(-np.log(q))
    return w * piecewise("erfcinv", w)


_ROOT_PI = math.sqrt(pi)


@elementwise("erfinv", partials=[lambda x: (0.5 * _ROOT_PI) * np.exp(erfinv(x) ** 2)])
def erfinv(x):
    y = np.abs(x)
    middle = inside(x, y <= 0.5, 0.25)
    q = inside(1.0 - y, (y > 0.5) & (y < 1), 0.25)
    tail = np.copysign(_erfcinv_tail(q), x)
    value = np.where(y <= 0.5, middle * piecewise("erfinv", middle * middle), tail)
    return np.where(y == 1, np.copysign(inf, x), np.where(y < 1, value, nan))


@elementwise("erfcinv", partials=[lambda q: (-0.5 * _ROOT_PI) * np.exp(erfcinv(q) ** 2)])
def erfcinv(q):
    p = inside(1.0 - q, (q >= 0.5) & (q <= 1.5), 0.25)
    low = q < 1
    tail = _erfcinv_tail(inside(np.where(low, q, 2.0 - q), (q > 0) & (q < 2) & ((q < 0.5) | (q > 1.5)), 0.25))
    value = np.where((q >= 0.5) & (q <= 1.5), p * piecewise("erfinv", p * p), np.where(low, tail, -tail))
    return np.where(q == 0, inf, np.where(q == 2, -inf, np.where((q > 0) & (q < 2), value, nan)))


_ROOT_HALF = math.sqrt(0.5)


def _erf(z):
    return SPECIAL["erf"](z) if isinstance(z, Array) else np.vectorize(math.erf, otypes=[float])(z)


def _erfc(z):
    return SPECIAL["erfc"](z) if isinstance(z, Array) else np.vectorize(math.erfc, otypes=[float])(z)


@elementwise("ndtr", partials=[lambda x: math.sqrt(0.5 / pi) * np.exp(-0.5 * x * x)])
def ndtr(x):
    # Near 0 by erf, whose value is small there; far below by erfcx, whose argument may be rounded.
    z = inside(x, x >= -1, 0.0) * _ROOT_HALF
    far = inside(x, (x < -1) & (x > -40), -2.0)
    left = 0.5 * erfcx(-far * _ROOT_HALF) * _exp_square(far, -0.5)
    return np.where(x < -1, np.where(x > -40, left, 0.0), np.where(np.abs(z) < 1, 0.5 + 0.5 * _erf(z), 0.5 * _erfc(-z)))


@elementwise("log_ndtr", partials=[lambda x: math.sqrt(2 / pi) / erfcx(-x * _ROOT_HALF)])
def log_ndtr(x):
    far = inside(x, x < -1, -2.0)
    near = inside(x, x >= -1, 0.0)
    left = -0.5 * far * far + np.log(0.5 * erfcx(-far * _ROOT_HALF))
    right = np.log1p(-ndtr(-near))
    return np.where(x < -1, np.where(x == -inf, -inf, left), right)


@elementwise("ndtri", partials=[lambda p: math.sqrt(2 * pi) * np.exp(0.5 * ndtri(p) ** 2)])
def ndtri(p):
    return -math.sqrt(2.0) * erfcinv.value(2.0 * p)
