"""Makes `special_reference.json` with mpmath, 40 digits: for each function of `scipy.special` arguments and the value there, rounded to float64.

python python/tests/make_special_reference.py
"""

import json
import pathlib

import mpmath as mp
import numpy as np

mp.mp.dps = 40
rng = np.random.default_rng(20)


def spread(low, high, count=24):
    return [float(f"{x:.12g}") for x in rng.uniform(low, high, count)]


def wide(low, high, count=24):
    return [float(f"{x:.12g}") for x in 10.0 ** rng.uniform(low, high, count)]


def inverse_erfc(q):
    guess = mp.sqrt(-mp.log(q)) if q < 0.1 else mp.erfinv(1 - q)
    return mp.findroot(lambda y: mp.log(mp.erfc(y)) - mp.log(q), guess)


def lower(a, x):
    return mp.gammainc(a, 0, x, regularized=True)


def upper(a, x):
    return mp.gammainc(a, x, mp.inf, regularized=True)


def student(df, t):
    tail = mp.betainc(df / 2, mp.mpf(1) / 2, 0, df / (df + t * t), regularized=True) / 2
    return tail if t < 0 else 1 - tail


positive, signed = wide(-4, 2) + spread(0, 4), spread(-15, 15)
ARGUMENTS = {
    "gamma": (mp.gamma, [positive + signed]),
    "gammaln": (lambda x: mp.log(abs(mp.gamma(x))), [positive + signed]),
    "rgamma": (mp.rgamma, [positive + signed]),
    "digamma": (mp.digamma, [positive + signed]),
    "zetac": (lambda s: mp.zeta(s) - 1, [spread(1.1, 8) + spread(-9, 0.9)]),
    "erfcx": (lambda x: mp.exp(x * x) * mp.erfc(x), [wide(-3, 3) + spread(-20, 3)]),
    "erfinv": (mp.erfinv, [spread(-1, 1)]),
    "erfcinv": (inverse_erfc, [wide(-300, -1) + spread(0.1, 1.9)]),
    "ndtr": (mp.ncdf, [spread(-37, 8)]),
    "log_ndtr": (lambda x: mp.log(mp.ncdf(x)) if x < 0 else mp.log1p(-mp.ncdf(-x)), [spread(-50, 8)]),
    "ndtri": (lambda p: -mp.sqrt(2) * inverse_erfc(2 * p), [wide(-300, -1) + spread(0.1, 0.9)]),
    "log_expit": (lambda x: -mp.log1p(mp.exp(-x)), [spread(-40, 40)]),
    "logit": (lambda p: mp.log(p / (1 - p)), [spread(0, 1) + wide(-20, -1)]),
    "expit": (lambda x: 1 / (1 + mp.exp(-x)), [spread(-30, 30)]),
    "erf": (mp.erf, [spread(-4, 4)]),
    "erfc": (mp.erfc, [spread(-4, 20)]),
    "entr": (lambda x: -x * mp.log(x), [wide(-6, 2)]),
    "exprel": (lambda x: mp.expm1(x) / x, [spread(-5, 5) + wide(-6, 0)]),
    "j0": (lambda x: mp.besselj(0, x), [wide(-2, 2.3)]),
    "j1": (lambda x: mp.besselj(1, x), [wide(-2, 2.3)]),
    "y0": (lambda x: mp.bessely(0, x), [wide(-2, 2.3)]),
    "y1": (lambda x: mp.bessely(1, x), [wide(-2, 2.3)]),
    "i0": (lambda x: mp.besseli(0, x), [wide(-2, 2.3)]),
    "i1": (lambda x: mp.besseli(1, x), [wide(-2, 2.3)]),
    "i0e": (lambda x: mp.besseli(0, x) * mp.exp(-x), [wide(-2, 2.3)]),
    "i1e": (lambda x: mp.besseli(1, x) * mp.exp(-x), [wide(-2, 2.3)]),
    "k0": (lambda x: mp.besselk(0, x), [wide(-2, 2.3)]),
    "k1": (lambda x: mp.besselk(1, x), [wide(-2, 2.3)]),
    "k0e": (lambda x: mp.besselk(0, x) * mp.exp(x), [wide(-2, 2.3)]),
    "k1e": (lambda x: mp.besselk(1, x) * mp.exp(x), [wide(-2, 2.3)]),
    "lambertw": (lambda z: mp.lambertw(z).real, [spread(-0.36, 5) + wide(-3, 5)]),
    "beta": (mp.beta, [wide(-2, 2), wide(-2, 2)]),
    "betaln": (lambda a, b: mp.log(mp.beta(a, b)), [wide(-2, 3), wide(-2, 3)]),
    "xlogy": (lambda x, y: x * mp.log(y), [spread(-5, 5), wide(-3, 3)]),
    "xlog1py": (lambda x, y: x * mp.log1p(y), [spread(-5, 5), wide(-3, 3)]),
    "rel_entr": (lambda x, y: x * mp.log(x / y), [wide(-3, 2), wide(-3, 2)]),
    "kl_div": (lambda x, y: x * mp.log(x / y) - x + y, [wide(-1, 1), wide(1.3, 2)]),
    "zeta": (mp.zeta, [spread(1.1, 12), wide(-1, 2)]),
    "binom": (mp.binomial, [spread(5, 20), spread(0, 5)]),
    "poch": (mp.rf, [spread(0.5, 10), spread(0.5, 10)]),
    "gammainc": (lower, [wide(-1, 2.5), wide(-1, 2.5)]),
    "gammaincc": (upper, [wide(-1, 2), wide(-1, 2)]),
    "betainc": (
        lambda a, b, x: mp.betainc(a, b, 0, x, regularized=True),
        [wide(-1, 1.5), wide(-1, 1.5), spread(0.02, 0.98)],
    ),
    "stdtr": (student, [wide(-0.5, 2), spread(-6, 6)]),
    "chdtr": (lambda v, x: lower(v / 2, x / 2), [wide(-0.5, 2), wide(-0.5, 2)]),
    "polygamma1": (lambda x: mp.polygamma(1, x), [positive + signed]),
    "polygamma3": (lambda x: mp.polygamma(3, x), [positive + signed]),
    "jv3": (lambda x: mp.besselj(3, x), [wide(-1, 2)]),
    "yn2": (lambda x: mp.bessely(2, x), [wide(-1, 2)]),
    "iv4": (lambda x: mp.besseli(4, x), [wide(-1, 2)]),
    "kn3": (lambda x: mp.besselk(3, x), [wide(-1, 2)]),
}


def main():
    found = {}
    for name, (function, columns) in ARGUMENTS.items():
        rows = []
        for row in zip(*columns):
            value = function(*[mp.mpf(x) for x in row])
            value = mp.re(value)
            if 1e-290 < abs(value) < 1e290:
                rows.append([*row, float(value)])
        found[name] = rows
    lines = ",\n".join(f"  {json.dumps(name)}: {json.dumps(rows)}" for name, rows in found.items())
    pathlib.Path(__file__).with_name("special_reference.json").write_text("{\n" + lines + "\n}\n")


if __name__ == "__main__":
    main()
