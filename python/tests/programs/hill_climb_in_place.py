"""A hill climber that pushes the better of two points in place, and keeps the other as it is."""

import numpy as np


def height(p):
    return -np.sum((p - np.array([0.2, 0.7, -0.1])) ** 2) + 0.1 * np.prod(np.cos(p))


def climb(first, second, rate):
    a, b = first.copy(), second.copy()
    for k in range(9):
        better = a if height(a) > height(b) else b
        better[k % 3] += rate * (0.5 - 0.1 * k)
        worse = b if height(a) > height(b) else a
        worse *= 0.9
    return height(a) + 2.0 * height(b) + np.sum(better)


def example():
    return climb, (np.array([0.1, 0.4, 0.3]), np.array([-0.5, 0.9, 0.2]), 0.13), (0, 1, 2)
