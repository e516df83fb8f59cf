"""Adaptive Simpson by recursion on the error, of an integrand with a parameter."""

import math


def simpson(f, a, fa, b, fb):
    m = 0.5 * (a + b)
    fm = f(m)
    return m, fm, abs(b - a) / 6 * (fa + 4 * fm + fb)


def adaptive(f, a, fa, b, fb, tol, whole, m, fm, depth=0):
    lm, flm, left = simpson(f, a, fa, m, fm)
    rm, frm, right = simpson(f, m, fm, b, fb)
    delta = left + right - whole
    if depth >= 3:
        return left + right + delta / 15
    return adaptive(f, a, fa, m, fm, tol / 2, left, lm, flm, depth + 1) + adaptive(f, m, fm, b, fb, tol / 2, right, rm, frm, depth + 1)


def integrate(f, a, b, tol=1e-6):
    fa, fb = f(a), f(b)
    m, fm, whole = simpson(f, a, fa, b, fb)
    return adaptive(f, a, fa, b, fb, tol, whole, m, fm)


def period(amplitude, damping):
    """Quarter period of a pendulum, with the singularity at the end moved away."""
    k = math.sin(amplitude / 2)
    return integrate(lambda u: 1 / math.sqrt(1 - (k * math.sin(u)) ** 2) * math.exp(-damping * u), 0.0, math.pi / 2)


def example():
    return period, (1.2, 0.1), (0, 1)
