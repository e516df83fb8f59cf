"""Robertson's stiff kinetics by implicit Euler with Newton's method inside."""

import numpy as np


def rates(y, k):
    a, b, c = y
    return np.array([-k[0] * a + k[1] * b * c, k[0] * a - k[1] * b * c - k[2] * b**2, k[2] * b**2])


def rates_jacobian(y, k):
    a, b, c = y
    return np.array([[-k[0], k[1] * c, k[1] * b], [k[0], -k[1] * c - 2 * k[2] * b, -k[1] * b], [0.0, 2 * k[2] * b, 0.0]])


def implicit_euler(k, y, h, steps):
    for _ in range(steps):
        new = y.copy()
        for iteration in range(20):
            r = new - y - h * rates(new, k)
            delta = np.linalg.solve(np.eye(3) - h * rates_jacobian(new, k), -r)
            new += delta
            if np.max(np.abs(delta)) < 1e-12:
                break
        y = new
    return y


def yield_of_c(log_k):
    y = implicit_euler(np.exp(log_k), np.array([1.0, 0.0, 0.0]), 0.1, 10)
    return y[2]


def example():
    return yield_of_c, (np.log(np.array([0.04, 1e4, 3e7])),), 0
