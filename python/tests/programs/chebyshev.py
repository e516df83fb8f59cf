"""A Chebyshev series by Clenshaw's recurrence, at each point of a vectorised function."""

import numpy as np


def clenshaw(c, x):
    b1 = b2 = 0.0
    for k in range(len(c) - 1, 0, -1):
        b1, b2 = c[k] + 2 * x * b1 - b2, b1
    return c[0] + x * b1 - b2


def integral(c, a, b, n=16):
    nodes = a + (b - a) * (np.arange(n) + 0.5) / n
    return sum(clenshaw(c, 2 * (t - a) / (b - a) - 1) for t in nodes) * (b - a) / n


def example():
    return integral, (np.array([0.5, -0.3, 0.2, 0.1, -0.05]), 0.3, 1.9), (0, 1, 2)
