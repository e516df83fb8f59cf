"""`scipy.stats`: densities and distribution functions; a distribution is one row of the table, in its standard form.

`loc`, `scale`, supports and frozen distributions are the same for all. As in SciPy, results are float64, zero outside of the support, and NaN where
a parameter is not allowed. Quantiles of discrete distributions are steps: they are refused.
"""

import math

import numpy as np

from .. import effects, errors
from ..functions import _as_array, astype
from ..trace import current
from . import incomplete, special
from .elementwise import inside
from .logarithms import log_expit, logit, xlog1py, xlogy
from .special import SPECIAL, betaln, gammaln
from .table import CLASSES

inf, nan, pi = np.inf, np.nan, np.pi
_LOG_ROOT_2PI = 0.5 * math.log(2 * pi)


class Distribution:
    """A distribution in its standard form: functions of y and the shapes, by the names of SciPy; others follow from them."""

    def __init__(self, shapes, support, allowed, **given):
        self.shapes = shapes.split()
        self.support, self.allowed, self.given = support, allowed, given
        self.discrete = "logpmf" in given
        self.moments = {}  # of the standard form, by name; `distributions` has them

    def method(self, name):
        """The rule of a method; None where there is none."""
        if name in ("cdf", "sf", "logcdf", "logsf") and "cdf" not in self.given or name in ("ppf", "isf") and not self.discrete and "ppf" not in self.given:
            return f"its .{name} has no closed form here; its pdf and logpdf are supported"
        if name in ("mean", "var", "std", "entropy") and self.moments.get("var" if name == "std" else name):
            return lambda *args, **kwargs: self.moment(name, args, kwargs)
        if name == "median" and not self.discrete:
            return lambda *args, **kwargs: self.of_levels("ppf", 0.5, args, kwargs)
        if (
            name in ("pdf", "logpdf")
            and not self.discrete
            or name in ("pmf", "logpmf")
            and self.discrete
            or name in ("cdf", "sf", "logcdf", "logsf")
        ):
            return lambda x, *args, **kwargs: self.of_points(name, x, args, kwargs)
        if name in ("ppf", "isf") and not self.discrete:
            return lambda q, *args, **kwargs: self.of_levels(name, q, args, kwargs)
        if name in ("ppf", "isf"):
            return (
                f"the .{name} of a discrete distribution is a step function, whose derivative is 0; compute it outside"
            )
        if name in ("__call__", "freeze"):
            return lambda *args, **kwargs: Frozen(self, args, kwargs)
        return None

    def parameters(self, args, kwargs):
        """Shapes, loc and scale as float64, and whether they are allowed."""
        names = [*self.shapes, "loc", *([] if self.discrete else ["scale"])]
        if len(args) > len(names) or set(kwargs) - set(names) or set(names[: len(args)]) & set(kwargs):
            raise errors.ArgumentError(f"a distribution takes {', '.join(names)}", errors.here())
        values = {"loc": 0.0, "scale": 1.0, **dict(zip(names, args)), **kwargs}
        missing = [name for name in names if name not in values]
        if missing:
            raise errors.ArgumentError(f"a distribution misses {', '.join(missing)}", errors.here())
        shapes = [_double(values[name]) for name in self.shapes]
        loc, scale = _double(values["loc"]), _double(values["scale"])
        allowed = (scale > 0) & (loc == loc)
        for shape in shapes:
            allowed = allowed & (shape == shape)
        allowed = allowed & self.allowed(*shapes) if self.shapes else allowed
        return shapes, loc, scale, allowed

    def moment(self, name, args, kwargs):
        shapes, loc, scale, allowed = self.parameters(args, kwargs)
        shapes = [inside(shape, allowed, fill) for shape, fill in zip(shapes, self.given.get("inside", (0.5,) * len(shapes)))]
        value = self.moments["var" if name == "std" else name](*shapes)
        value = {"mean": lambda v: v * scale + loc, "var": lambda v: v * scale * scale, "std": lambda v: np.sqrt(v) * scale}.get(name, lambda v: v + np.log(inside(scale, allowed, 1.0)))(value)
        return np.where(allowed, value, nan)[()]

    def of_points(self, name, x, args, kwargs):
        shapes, loc, scale, allowed = self.parameters(args, kwargs)
        x = _double(x)
        y = (x - loc) / scale
        low, high = self.support(*shapes)
        # A shape that is not allowed is computed at one that is, and gives NaN.
        shapes = [
            inside(shape, allowed, fill) for shape, fill in zip(shapes, self.given.get("inside", (0.5,) * len(shapes)))
        ]
        within = (
            (y >= low) & (y <= high) & allowed
            if not self.discrete or name in ("cdf", "sf", "logcdf", "logsf")
            else (y >= low) & (y <= high) & (y == np.floor(y)) & allowed
        )
        finite = within & (np.abs(y) < inf)
        point = inside(y, finite, self.given.get("at", 0.5))
        value, below, above = self._value(name, point, shapes)
        if name in ("pdf", "logpdf"):
            value = value / scale if name == "pdf" else value - np.log(inside(scale, allowed, 1.0))
            outside_ = below
        else:
            outside_ = np.where(y < low, below, above)
        outside_ = np.where(within & ~finite, np.where(y < 0, below, above), outside_)
        return np.where(allowed & ~np.isnan(x), np.where(finite, value, outside_), nan)

    def _value(self, name, y, shapes):
        """A function at y, and what it is below and above the support."""
        given = self.given
        of = lambda key: given[key](y, *shapes)
        if name in ("pdf", "logpdf", "pmf", "logpmf"):
            log = of("logpmf" if self.discrete else "logpdf")
            return (np.exp(log), 0.0, 0.0) if name in ("pdf", "pmf") else (log, -inf, -inf)
        if name == "cdf":
            return of("cdf"), 0.0, 1.0
        if name == "sf":
            return (of("sf") if "sf" in given else 1.0 - of("cdf")), 1.0, 0.0
        if name == "logcdf":
            return (of("logcdf") if "logcdf" in given else np.log(of("cdf"))), -inf, 0.0
        return (of("logsf") if "logsf" in given else np.log(of("sf") if "sf" in given else 1.0 - of("cdf"))), 0.0, -inf

    def of_levels(self, name, q, args, kwargs):
        shapes, loc, scale, allowed = self.parameters(args, kwargs)
        q = _double(q)
        low, high = self.support(*shapes)
        shapes = [
            inside(shape, allowed, fill) for shape, fill in zip(shapes, self.given.get("inside", (0.5,) * len(shapes)))
        ]
        between = (q > 0) & (q < 1) & allowed
        level = inside(q, between, 0.5)
        if name == "isf" and "isf" in self.given:
            value = self.given["isf"](level, *shapes)
        else:
            value = self.given["ppf"](level if name == "ppf" else 1.0 - level, *shapes)
        first, last = (low, high) if name == "ppf" else (high, low)
        ends = np.where(q == 0, first, np.where(q == 1, last, nan))
        return np.where(
            allowed, np.where(between, value * scale + loc, np.where((q == 0) | (q == 1), ends * scale + loc, nan)), nan
        )


class Frozen:
    """A distribution with parameters of which some are traced."""

    def __init__(self, distribution, args, kwargs):
        self._distribution, self._args, self._kwargs = distribution, args, kwargs

    def __getattr__(self, name):
        if name.startswith("_"):
            raise AttributeError(name)
        rule = self._distribution.method(name)
        if rule is None or isinstance(rule, str):
            raise errors.Unsupported(
                rule or f"the method .{name} of a frozen distribution with traced parameters is not supported",
                errors.here(),
            )
        return lambda *points: rule(*points, *self._args, **self._kwargs)


def _double(x):
    x = _as_array(x)
    return x if x.dtype == np.float64 else astype(x, np.float64)


def _everywhere(*_):
    return -inf, inf


def _positive(*_):
    return 0.0, inf


def _unit(*_):
    return 0.0, 1.0


def _all_positive(*shapes):
    result = shapes[0] > 0
    for shape in shapes[1:]:
        result = result & (shape > 0)
    return result


def _student(y, df):
    finite = df < inf
    d = inside(df, finite, 1.0)
    exact = -0.5 * (d + 1.0) * np.log1p(y * y / d) - 0.5 * np.log(d) - betaln(0.5 * d, 0.5)
    return np.where(finite, exact, -0.5 * y * y - _LOG_ROOT_2PI)


def _log_of_lognorm(y, s):
    above = y > 0
    log = np.log(inside(y, above, 1.0))
    return np.where(above, -0.5 * (log / s) ** 2 - log - np.log(s) - _LOG_ROOT_2PI, -inf)


def _cdf_of_lognorm(y, s, sign=1.0):
    above = y > 0
    return np.where(above, special.ndtr(sign * np.log(inside(y, above, 1.0)) / s), 0.0 if sign > 0 else 1.0)


def _power(y, c):
    """y^c at y ≥ 0."""
    return np.where(y > 0, inside(y, y > 0, 1.0) ** c, 0.0)


def _expit(x):
    return SPECIAL["expit"](x)


def _laplace_cdf(y):
    half = 0.5 * np.exp(-np.abs(y))
    return np.where(y > 0, 1.0 - half, half)


def _binomial(k, n, p):
    return gammaln(n + 1.0) - gammaln(k + 1.0) - gammaln(n - k + 1.0) + xlogy(k, p) + xlog1py(n - k, -p)


def _whole(n):
    return (n >= 0) & (n == np.floor(n))


def _probability(p):
    return (p >= 0) & (p <= 1)


def _steps(function):
    """A distribution function of integers is constant between them."""
    return lambda k, *shapes: function(np.floor(k), *shapes)


TABLE = {
    "norm": Distribution(
        "",
        _everywhere,
        None,
        at=0.0,
        logpdf=lambda y: -0.5 * y * y - _LOG_ROOT_2PI,
        cdf=special.ndtr,
        sf=lambda y: special.ndtr(-y),
        logcdf=special.log_ndtr,
        logsf=lambda y: special.log_ndtr(-y),
        ppf=special.ndtri,
        isf=lambda q: -special.ndtri(q),
    ),
    "t": Distribution(
        "df",
        _everywhere,
        _all_positive,
        at=0.0,
        logpdf=_student,
        cdf=lambda y, df: incomplete.stdtr(df, y),
        sf=lambda y, df: incomplete.stdtr(df, -y),
        ppf=lambda q, df: incomplete.stdtrit(df, q),
        isf=lambda q, df: -incomplete.stdtrit(df, q),
    ),
    "gamma": Distribution(
        "a",
        _positive,
        _all_positive,
        logpdf=lambda y, a: xlogy(a - 1.0, y) - y - gammaln(a),
        cdf=lambda y, a: incomplete.gammainc(a, y),
        sf=lambda y, a: incomplete.gammaincc(a, y),
        ppf=lambda q, a: incomplete.gammaincinv(a, q),
        isf=lambda q, a: incomplete.gammainccinv(a, q),
    ),
    "beta": Distribution(
        "a b",
        _unit,
        _all_positive,
        logpdf=lambda y, a, b: xlog1py(b - 1.0, -y) + xlogy(a - 1.0, y) - betaln(a, b),
        cdf=lambda y, a, b: incomplete.betainc(a, b, y),
        sf=lambda y, a, b: incomplete.betaincc(a, b, y),
        ppf=lambda q, a, b: incomplete.betaincinv(a, b, q),
    ),
    "expon": Distribution(
        "",
        _positive,
        None,
        logpdf=lambda y: -y,
        cdf=lambda y: -np.expm1(-y),
        sf=lambda y: np.exp(-y),
        logsf=lambda y: -y,
        ppf=lambda q: -np.log1p(-q),
        isf=lambda q: -np.log(q),
    ),
    "lognorm": Distribution(
        "s",
        _positive,
        _all_positive,
        logpdf=_log_of_lognorm,
        cdf=_cdf_of_lognorm,
        sf=lambda y, s: _cdf_of_lognorm(y, s, -1.0),
        ppf=lambda q, s: np.exp(s * special.ndtri(q)),
        isf=lambda q, s: np.exp(-s * special.ndtri(q)),
    ),
    "uniform": Distribution("", _unit, None, logpdf=lambda y: 0.0 * y, cdf=lambda y: y, ppf=lambda q: q),
    "weibull_min": Distribution(
        "c",
        _positive,
        _all_positive,
        logpdf=lambda y, c: np.log(c) + xlogy(c - 1.0, y) - _power(y, c),
        cdf=lambda y, c: -np.expm1(-_power(y, c)),
        sf=lambda y, c: np.exp(-_power(y, c)),
        logsf=lambda y, c: -_power(y, c),
        ppf=lambda q, c: (-np.log1p(-q)) ** (1.0 / c),
        isf=lambda q, c: (-np.log(q)) ** (1.0 / c),
    ),
    "logistic": Distribution(
        "",
        _everywhere,
        None,
        at=0.0,
        logpdf=lambda y: log_expit(y) + log_expit(-y),
        cdf=_expit,
        sf=lambda y: _expit(-y),
        logcdf=log_expit,
        logsf=lambda y: log_expit(-y),
        ppf=logit,
        isf=lambda q: -logit(q),
    ),
    "laplace": Distribution(
        "",
        _everywhere,
        None,
        at=0.0,
        logpdf=lambda y: -np.abs(y) - math.log(2.0),
        cdf=_laplace_cdf,
        sf=lambda y: _laplace_cdf(-y),
        ppf=lambda q: np.where(q > 0.5, -np.log(2.0 * (1.0 - q)), np.log(2.0 * q)),
    ),
    "cauchy": Distribution(
        "",
        _everywhere,
        None,
        at=0.0,
        logpdf=lambda y: -math.log(pi) - np.log1p(y * y),
        cdf=lambda y: np.arctan2(1.0 + 0.0 * y, -y) / pi,
        sf=lambda y: np.arctan2(1.0 + 0.0 * y, y) / pi,
        ppf=lambda q: -special.cospi(q) / special.sinpi(q),
        isf=lambda q: special.cospi(q) / special.sinpi(q),
    ),
    "chi2": Distribution(
        "df",
        _positive,
        _all_positive,
        logpdf=lambda y, df: xlogy(0.5 * df - 1.0, y) - 0.5 * y - gammaln(0.5 * df) - (0.5 * math.log(2.0)) * df,
        cdf=lambda y, df: incomplete.gammainc(0.5 * df, 0.5 * y),
        sf=lambda y, df: incomplete.gammaincc(0.5 * df, 0.5 * y),
        ppf=lambda q, df: 2.0 * incomplete.gammaincinv(0.5 * df, q),
        isf=lambda q, df: 2.0 * incomplete.gammainccinv(0.5 * df, q),
    ),
    "invgamma": Distribution(
        "a",
        _positive,
        _all_positive,
        logpdf=lambda y, a: np.where(
            y > 0, -(a + 1.0) * np.log(inside(y, y > 0, 1.0)) - gammaln(a) - 1.0 / inside(y, y > 0, 1.0), -inf
        ),
        cdf=lambda y, a: incomplete.gammaincc(a, 1.0 / y),
        sf=lambda y, a: incomplete.gammainc(a, 1.0 / y),
        ppf=lambda q, a: 1.0 / incomplete.gammainccinv(a, q),
        isf=lambda q, a: 1.0 / incomplete.gammaincinv(a, q),
    ),
    "halfnorm": Distribution(
        "",
        _positive,
        None,
        logpdf=lambda y: 0.5 * math.log(2 / pi) - 0.5 * y * y,
        cdf=lambda y: SPECIAL["erf"](y * math.sqrt(0.5)),
        sf=lambda y: 2.0 * special.ndtr(-y),
        ppf=lambda q: special.ndtri(0.5 * (1.0 + q)),
        isf=lambda q: -special.ndtri(0.5 * q),
    ),
    "halfcauchy": Distribution(
        "",
        _positive,
        None,
        logpdf=lambda y: math.log(2 / pi) - np.log1p(y * y),
        cdf=lambda y: 2 / pi * np.arctan(y),
        sf=lambda y: 2 / pi * np.arctan2(1.0 + 0.0 * y, y),
        ppf=lambda q: np.tan(0.5 * pi * q),
    ),
    "gumbel_r": Distribution(
        "",
        _everywhere,
        None,
        at=0.0,
        logpdf=lambda y: -y - np.exp(-y),
        cdf=lambda y: np.exp(-np.exp(-y)),
        logcdf=lambda y: -np.exp(-y),
        sf=lambda y: -np.expm1(-np.exp(-y)),
        ppf=lambda q: -np.log(-np.log(q)),
    ),
    "rayleigh": Distribution(
        "",
        _positive,
        None,
        logpdf=lambda y: np.log(y) - 0.5 * y * y,
        cdf=lambda y: -np.expm1(-0.5 * y * y),
        sf=lambda y: np.exp(-0.5 * y * y),
        logsf=lambda y: -0.5 * y * y,
        ppf=lambda q: np.sqrt(-2.0 * np.log1p(-q)),
        isf=lambda q: np.sqrt(-2.0 * np.log(q)),
    ),
    "pareto": Distribution(
        "b",
        lambda *_: (1.0, inf),
        _all_positive,
        at=2.0,
        logpdf=lambda y, b: np.log(b) - (b + 1.0) * np.log(y),
        cdf=lambda y, b: -np.expm1(-b * np.log(y)),
        sf=lambda y, b: np.exp(-b * np.log(y)),
        logsf=lambda y, b: -b * np.log(y),
        ppf=lambda q, b: (1.0 - q) ** (-1.0 / b),
        isf=lambda q, b: q ** (-1.0 / b),
    ),
    "poisson": Distribution(
        "mu",
        _positive,
        lambda mu: mu >= 0,
        at=1.0,
        logpmf=lambda k, mu: xlogy(k, mu) - gammaln(k + 1.0) - mu,
        cdf=_steps(lambda k, mu: incomplete.gammaincc(k + 1.0, mu)),
        sf=_steps(lambda k, mu: incomplete.gammainc(k + 1.0, mu)),
    ),
    "binom": Distribution(
        "n p",
        lambda n, p: (0.0, n),
        lambda n, p: _whole(n) & _probability(p),
        at=0.0,
        inside=(1.0, 0.5),
        logpmf=_binomial,
        cdf=_steps(lambda k, n, p: incomplete.bdtr(k, n, p)),
        sf=_steps(
            lambda k, n, p: np.where(
                k >= n, 0.0, incomplete.betainc(inside(k + 1.0, k < n, 1.0), inside(n - k, k < n, 1.0), p)
            )
        ),
    ),
    "bernoulli": Distribution(
        "p",
        lambda p: (0.0, 1.0),
        _probability,
        at=0.0,
        logpmf=lambda k, p: xlogy(k, p) + xlog1py(1.0 - k, -p),
        cdf=_steps(lambda k, p: np.where(k >= 1, 1.0, 1.0 - p)),
        sf=_steps(lambda k, p: np.where(k >= 1, 0.0, p)),
    ),
    "geom": Distribution(
        "p",
        lambda p: (1.0, inf),
        lambda p: (p > 0) & (p <= 1),
        at=1.0,
        logpmf=lambda k, p: xlog1py(k - 1.0, -p) + np.log(p),
        cdf=_steps(lambda k, p: -np.expm1(xlog1py(k, -p))),
        sf=_steps(lambda k, p: np.exp(xlog1py(k, -p))),
    ),
    "nbinom": Distribution(
        "n p",
        _positive,
        lambda n, p: (n > 0) & (p > 0) & (p <= 1),
        at=1.0,
        inside=(1.0, 0.5),
        logpmf=lambda k, n, p: gammaln(n + k) - gammaln(k + 1.0) - gammaln(n) + n * np.log(p) + xlog1py(k, -p),
        cdf=_steps(lambda k, n, p: incomplete.betainc(n, k + 1.0, p)),
        sf=_steps(lambda k, n, p: incomplete.betaincc(n, k + 1.0, p)),
    ),
}


def _of_distribution(distribution):
    return lambda owner, name: distribution.method(name)


def _of_frozen(owner, name):
    """A method of a distribution that SciPy has frozen."""
    from .table import _bound

    methods = _bound.get(("class", type(owner.dist)))
    rule = methods(owner.dist, name) if methods is not None else None
    if not callable(rule):
        return rule
    if effects.owner(owner) is None:
        current().outside.contents(owner, "a frozen distribution")
    return lambda *points: rule(*points, *owner.args, **owner.kwds)


CLASSES.update({f"stats.{name}": _of_distribution(distribution) for name, distribution in TABLE.items()})
CLASSES["stats._distn_infrastructure.rv_continuous_frozen"] = CLASSES[
    "stats._distn_infrastructure.rv_discrete_frozen"
] = _of_frozen
