"""Wasserstein distance on the line by sorting and by quantiles, as a loss between samples of unequal size."""

import numpy as np


def wasserstein_equal(a, b, p=2):
    return np.mean(np.abs(np.sort(a) - np.sort(b)) ** p) ** (1 / p)


def wasserstein_cdf(a, b):
    values = np.concatenate([a, b])
    order = np.argsort(values)
    values = values[order]
    deltas = values[1:] - values[:-1]
    weights = np.concatenate([np.full(len(a), 1 / len(a)), np.full(len(b), -1 / len(b))])[order]
    cdf_gap = np.cumsum(weights)[:-1]
    return np.sum(np.abs(cdf_gap) * deltas)


def sliced(X, Y, angles):
    total = 0.0
    for t in angles:
        direction = np.array([np.cos(t), np.sin(t)])
        total += wasserstein_cdf(X @ direction, Y @ direction)
        total += 0.1 * wasserstein_equal(X[: len(Y)] @ direction, Y @ direction)
    return total / len(angles)


def example():
    rng = np.random.default_rng(80)
    return sliced, (rng.normal(size=(7, 2)), 1 + rng.normal(size=(5, 2)), [0.1, 0.9, 1.7, 2.5]), (0, 1)
