"""Wynn's epsilon algorithm on partial sums of a slowly converging series; table as a dict keyed by tuples."""
import numpy as np
import math


def partial_sums(f, n):
    total = 0
    for k in range(n):
        total += f(k)
        yield total


def wynn(seq):
    s = list(seq)
    eps = {}
    for n, v in enumerate(s):
        eps[-1, n] = 0.0
        eps[0, n] = v
    for k in range(1, len(s)):
        for n in range(len(s) - k):
            d = eps[k - 1, n + 1] - eps[k - 1, n]
            eps[k, n] = eps[k - 2, n + 1] + 1 / d
    return eps[(len(s) - 1) // 2 * 2, 0]


def lerch(z, a):
    return wynn(partial_sums(lambda k: (-1) ** k * z ** k / (k + a) / math.sqrt(k + 1), 11))


def example():
    return lerch, (0.9, 1.3), (0, 1)
