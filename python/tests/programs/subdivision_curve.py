"""Chaikin's subdivision of a polygon by np.insert-like interleaving, then length and area."""

import numpy as np


def chaikin(points, rounds=3, closed=True):
    for _ in range(rounds):
        nxt = np.roll(points, -1, axis=0)
        q = 0.75 * points + 0.25 * nxt
        r = 0.25 * points + 0.75 * nxt
        out = np.empty((2 * len(points), points.shape[1]))
        out[0::2] = q
        out[1::2] = r
        points = out
    return points


def perimeter(p):
    d = np.roll(p, -1, axis=0) - p
    return np.hypot(d[:, 0], d[:, 1]).sum()


def area(p):
    x, y = p.T
    return 0.5 * abs(np.dot(x, np.roll(y, 1)) - np.dot(y, np.roll(x, 1)))


def roundness(points):
    p = chaikin(points)
    return 4 * np.pi * area(p) / perimeter(p) ** 2


def example():
    return roundness, (np.array([[0.0, 0.0], [2.0, 0.1], [2.3, 1.5], [1.0, 2.2], [-0.3, 1.1]]),), 0
