"""A numerical quadrature that counts its calls in closures and keeps what it knows in a dict by integers."""

import numpy as np


def counted(f):
    calls = 0

    def wrapped(k, x):
        nonlocal calls
        calls += 1
        return f(k, x)

    def asked():
        return calls

    return wrapped, asked


def integral(p):
    known = {}

    def value(k, x):
        if k not in known:
            known[k] = np.exp(-p[0] * x) * np.cos(p[1] * x)
        return known[k]

    read, asked = counted(value)
    levels = []
    for level in range(1, 5):
        n = 2**level
        h = 1.0 / n
        ends = 0.5 * (read(0, 0.0) + read(64, 1.0))
        levels.append(h * (ends + sum(read(k * 64 // n, k * h) for k in range(1, n))))
    while len(levels) > 1:
        levels = [(4 * b - a) / 3 for a, b in zip(levels, levels[1:])]
    return levels[0] + 0.001 * asked() + 0.01 * len(known)


def example():
    return integral, (np.array([0.7, 2.0]),), (0,)
