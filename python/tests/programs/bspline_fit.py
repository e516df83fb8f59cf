"""A smoothing spline with a basis by Cox and de Boor's recursion and a penalty of second differences."""

import numpy as np


def basis(i, k, t, x):
    if k == 0:
        return np.where((x >= t[i]) & (x < t[i + 1]), 1.0, 0.0)
    left = 0.0
    if t[i + k] > t[i]:
        left = (x - t[i]) / (t[i + k] - t[i]) * basis(i, k - 1, t, x)
    right = 0.0
    if t[i + k + 1] > t[i + 1]:
        right = (t[i + k + 1] - x) / (t[i + k + 1] - t[i + 1]) * basis(i + 1, k - 1, t, x)
    return left + right


def design(x, knots, degree=3):
    n = len(knots) - degree - 1
    return np.stack([basis(i, degree, knots, x) for i in range(n)], axis=1)


def gcv(log_lam, x, y, knots):
    B = design(x, knots)
    D = np.diff(np.eye(B.shape[1]), n=2, axis=0)
    M = B.T @ B + np.exp(log_lam) * D.T @ D
    H = B @ np.linalg.solve(M, B.T)
    resid = y - H @ y
    n = len(y)
    return n * np.sum(resid**2) / (n - np.trace(H)) ** 2


def example():
    rng = np.random.default_rng(6)
    x = np.sort(rng.uniform(0.02, 0.98, 14))
    knots = np.r_[[0.0] * 3, np.linspace(0, 1, 5), [1.0] * 3]
    return gcv, (-2.0, x, np.sin(6 * x) + 0.1 * rng.normal(size=14), knots), (0, 1, 2)
