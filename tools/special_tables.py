"""Makes the coefficients of `python/retrograd/scipy/tables.npz` with mpmath, 40 digits: `python tools/special_tables.py`.

A table approximates one smooth function of u on pieces of equal length by polynomials of t in [-1, 1] (Chebyshev interpolation, then powers of t, highest
first). `retrograd/scipy/tables.py` evaluates them; what is special at 0, at infinity and at zeros is divided out here and put back there.
"""

import pathlib

import mpmath as mp
import numpy as np

mp.mp.dps = 40
tiny = mp.mpf(10) ** -18


def inverse(u):
    return 1 / mp.mpf(u) if u > tiny else 1 / tiny


def log_gamma_star(u):
    """log(Γ(x) / (√2π x^(x-1/2) e^-x)) · x at x = 1/u."""
    if u < mp.mpf(10) ** -6:
        return mp.mpf(1) / 12 - u**2 / 360 + u**4 / 1260
    x = 1 / u
    return (mp.loggamma(x) - ((x - 0.5) * mp.log(x) - x + mp.log(2 * mp.pi) / 2)) * x


def digamma_rest(u):
    """(log x - ψ(x)) · x at x = 1/u."""
    if u < mp.mpf(10) ** -6:
        return mp.mpf(1) / 2 + u / 12 - u**3 / 120
    x = 1 / u
    return (mp.log(x) - mp.digamma(x)) * x


ROOT = mp.findroot(mp.digamma, mp.mpf("1.4616"))


def over(f, at, slope):
    """f(x) / (x - at), where f has a zero at `at`."""
    return lambda x: slope if abs(x - at) < mp.mpf(10) ** -15 else f(x) / (x - at)


def hankel(order, part):
    """P or Q·x/8 of H(x) = √(2/πx) e^{i(x - (2n+1)π/4)} (P + iQ), at x = 8/u."""

    def value(v):
        x = 8 * inverse(mp.sqrt(v)) if v > tiny**2 else 8 / tiny
        x = min(x, mp.mpf(10) ** 9)
        h = (
            mp.mpc(mp.besselj(order, x), mp.bessely(order, x))
            * mp.sqrt(mp.pi * x / 2)
            * mp.expj(-(x - (2 * order + 1) * mp.pi / 4))
        )
        return h.real if part == "P" else h.imag * x / 8

    return value


def scaled(f, low):
    """√x f(x) at x = low/u."""

    def value(u):
        x = low * inverse(u)
        x = min(x, mp.mpf(10) ** 15)
        return mp.sqrt(x) * f(x)

    return value


def even(f, at_0):
    """f(√v), for an even function of x."""
    return lambda v: at_0 if v < mp.mpf(10) ** -16 else f(mp.sqrt(v))


euler = mp.euler
TABLES = {
    # name: (function of u, first u, last u, pieces, degree)
    "log_gamma_star": (log_gamma_star, 0, 1, 8, 14),
    "log_gamma_at_1": (over(lambda x: mp.loggamma(1 + x), 0, -euler), -0.5, 0.5, 8, 13),
    "log_gamma_at_2": (over(lambda x: mp.loggamma(2 + x), 0, 1 - euler), -0.5, 1, 6, 14),
    "digamma": (over(mp.digamma, ROOT, mp.polygamma(1, ROOT)), 1, 3, 8, 14),
    "digamma_rest": (digamma_rest, 0, mp.mpf(1) / 3, 4, 13),
    "log1p_rest": (over(over(lambda d: mp.log1p(d) - d, 0, mp.mpf(0)), 0, mp.mpf(-1) / 2), -0.5, 1, 12, 13),
    "erfinv": (lambda v: mp.sqrt(mp.pi) / 2 if v < tiny else mp.erfinv(mp.sqrt(v)) / mp.sqrt(v), 0, 0.25, 4, 13),
    "erfcinv": (
        lambda w: mp.findroot(lambda y: mp.log(mp.erfc(y)) + w * w, w if w > 2 else w / 1.5) / w,
        0.8,
        27.35,
        59,
        18,
    ),
    "erfcx": (
        lambda u: 1 / mp.sqrt(mp.pi) if u < mp.mpf(10) ** -9 else mp.exp((1 / u - 1) ** 2) * mp.erfc(1 / u - 1) / u,
        0,
        1,
        12,
        14,
    ),
    "j0": (even(lambda x: mp.besselj(0, x), 1), 0, 64, 8, 14),
    "j1": (even(lambda x: mp.besselj(1, x) / x, mp.mpf(1) / 2), 0, 64, 8, 14),
    "y0": (
        even(lambda x: mp.bessely(0, x) - 2 / mp.pi * mp.log(x) * mp.besselj(0, x), 2 / mp.pi * (euler - mp.log(2))),
        0,
        64,
        8,
        14,
    ),
    "y1": (
        even(
            lambda x: (mp.bessely(1, x) - 2 / mp.pi * (mp.log(x) * mp.besselj(1, x) - 1 / x)) / x,
            (2 * euler - 1 - 2 * mp.log(2)) / (2 * mp.pi),
        ),
        0,
        64,
        8,
        14,
    ),
    "p0": (hankel(0, "P"), 0, 1, 8, 13),
    "q0": (hankel(0, "Q"), 0, 1, 8, 13),
    "p1": (hankel(1, "P"), 0, 1, 8, 13),
    "q1": (hankel(1, "Q"), 0, 1, 8, 13),
    "i0": (even(lambda x: mp.besseli(0, x), 1), 0, 64, 8, 14),
    "i1": (even(lambda x: mp.besseli(1, x) / x, mp.mpf(1) / 2), 0, 64, 8, 14),
    "i0e_far": (scaled(lambda x: mp.exp(-x) * mp.besseli(0, x), 8), 0, 1, 6, 13),
    "i1e_far": (scaled(lambda x: mp.exp(-x) * mp.besseli(1, x), 8), 0, 1, 6, 13),
    "k0": (even(lambda x: mp.besselk(0, x) + mp.log(x / 2) * mp.besseli(0, x), -euler), 0, 4, 2, 14),
    "k1": (
        even(lambda x: (mp.besselk(1, x) - 1 / x - mp.log(x / 2) * mp.besseli(1, x)) / x, (2 * euler - 1) / 4),
        0,
        4,
        2,
        14,
    ),
    "k0e_far": (scaled(lambda x: mp.exp(x) * mp.besselk(0, x), 2), 0, 1, 8, 14),
    "k1e_far": (scaled(lambda x: mp.exp(x) * mp.besselk(1, x), 2), 0, 1, 8, 14),
}


def piece(f, low, high, degree):
    """Powers of t, highest first, of the interpolation at Chebyshev points."""
    n = degree + 1
    middle, half = (low + high) / 2, (high - low) / 2
    angles = [(2 * k + 1) * mp.pi / (2 * n) for k in range(n)]
    values = [f(middle + half * mp.cos(angle)) for angle in angles]
    series = [2 * sum(value * mp.cos(j * angle) for value, angle in zip(values, angles)) / n for j in range(n)]
    series[0] /= 2
    before, now = [mp.mpf(1)], [mp.mpf(0), mp.mpf(1)]
    powers = [mp.mpf(0)] * n
    for j in range(n):
        for k, c in enumerate(before):
            powers[k] += series[j] * c
        before, now = (
            now,
            [(2 * now[k - 1] if k else 0) - (before[k] if k < len(before) else 0) for k in range(len(now) + 1)],
        )
    return [float(c) for c in reversed(powers)], float(abs(series[-1]) / abs(values[0]))


def main():
    arrays = {"digamma_root": np.array([float(ROOT), float(ROOT - mp.mpf(float(ROOT)))])}
    for name, (f, low, high, pieces, degree) in TABLES.items():
        low, high = mp.mpf(low), mp.mpf(high)
        width = (high - low) / pieces
        found = [piece(f, low + k * width, low + (k + 1) * width, degree) for k in range(pieces)]
        arrays[name] = np.array([coefficients for coefficients, _ in found])
        arrays[f"{name}/range"] = np.array([float(low), float(high)])
        print(
            f"{name:16} {pieces:3} pieces of degree {degree}, last term {max(last for _, last in found):.1e}",
            flush=True,
        )
    np.savez_compressed(pathlib.Path(__file__).parents[1] / "python/retrograd/scipy/tables.npz", **arrays)


if __name__ == "__main__":
    main()
