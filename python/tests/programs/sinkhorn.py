"""Entropic optimal transport between two clouds of points, until the marginals fit."""

import numpy as np


def cost_matrix(x, y):
    return np.array([[np.sum((a - b) ** 2) for b in y] for a in x])


def sinkhorn(x, y, eps=0.5, tol=1e-9, max_iter=500):
    C = cost_matrix(x, y)
    n, m = C.shape
    a, b = np.ones(n) / n, np.ones(m) / m
    K = np.exp(-C / eps)
    u, v = np.ones(n), np.ones(m)
    for iteration in range(max_iter):
        u = a / (K @ v)
        v = b / (K.T @ u)
        if np.abs(u * (K @ v) - a).sum() < tol:
            break
    P = u[:, None] * K * v
    return (P * C).sum()


def example():
    rng = np.random.default_rng(23)
    return sinkhorn, (rng.normal(size=(5, 2)), rng.normal(size=(4, 2)) + 0.5), (0, 1)
