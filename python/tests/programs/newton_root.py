"""A root by Newton's method, which ends when the step is small."""

import numpy as np


def newton(f, df, x, tol=1e-12, max_iter=50):
    for i in range(max_iter):
        step = f(x) / df(x)
        x = x - step
        if abs(step) < tol:
            return x
    raise RuntimeError("did not converge")


def implied_rate(price, coupons):
    times = np.arange(1, len(coupons) + 1)
    value = lambda r: np.sum(coupons / (1 + r) ** times) - price
    slope = lambda r: np.sum(-times * coupons / (1 + r) ** (times + 1))
    return newton(value, slope, 0.05)


def example():
    return implied_rate, (95.0, np.array([5.0, 5.0, 5.0, 5.0, 105.0])), (0, 1)
