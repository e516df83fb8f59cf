"""A root by bisection until the bracket is short, then by Newton with a while loop and a test of convergence."""

import numpy as np


def residual(v, p):
    return p[0] * np.exp(v) - p[1] * np.cos(v) + v - p[2]


def slope(v, p):
    return p[0] * np.exp(v) + p[1] * np.sin(v) + 1.0


def solve(p):
    low, high = -3.0, 3.0
    while high - low > 0.5:
        middle = 0.5 * (low + high)
        if residual(low, p) * residual(middle, p) <= 0:
            high = middle
        else:
            low = middle
    v, k = 0.5 * (low + high), 0
    while True:
        step = residual(v, p) / slope(v, p)
        v = v - step
        k += 1
        if abs(step) < 1e-12 or k >= 50:
            break
    return v


def objective(p):
    root = solve(p)
    return root**2 + np.sin(root) * p[1]


def example():
    return objective, (np.array([0.5, 1.2, 0.8]),), (0,)
