"""Clusters by soft assignment until the centres stand still."""

import numpy as np


def assign(X, centres, beta):
    d2 = ((X[:, None] - centres[None]) ** 2).sum(-1)
    w = np.exp(-beta * (d2 - d2.min(axis=1, keepdims=True)))
    return w / w.sum(1, keepdims=True)


def cluster(X, centres, beta=2.0, tol=1e-10):
    moved = 1.0
    while moved > tol:
        R = assign(X, centres, beta)
        new = (R.T @ X) / R.sum(0)[:, None]
        moved = np.sqrt(np.sum((new - centres) ** 2))
        centres = new
    return centres


def spread(X, centres):
    c = cluster(X, centres)
    return np.sum((c[0] - c[1]) ** 2)


def example():
    rng = np.random.default_rng(32)
    X = np.vstack([rng.normal(size=(6, 2)), rng.normal(size=(6, 2)) + 4.0])
    return spread, (X, np.array([[0.5, 0.0], [3.0, 3.5]])), 0
