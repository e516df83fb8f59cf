"""Quantiles, ranks and a trimmed mean: argsort, searchsorted and take_along_axis."""

import numpy as np


def score(x, y, grid):
    order = np.argsort(x)
    ranked, partner = x[order], y[order]
    cumulated = np.cumsum(partner) / np.sum(partner)
    place = np.searchsorted(np.array([-1.0, 0.0, 1.0]), ranked)
    bonus = np.array([0.1, 0.5, 0.7, 1.1])[place]
    table = np.stack([x, y, x * y])
    sorted_rows = np.take_along_axis(table, np.argsort(table, axis=1), axis=1)
    trimmed = np.mean(sorted_rows[:, 2:-2], axis=1)
    return np.sum(np.interp(grid, ranked, cumulated)) + np.sum(bonus * ranked) + trimmed @ np.array([1.0, 2.0, 3.0])


def example():
    rng = np.random.default_rng(2)
    return score, (rng.normal(size=12), rng.uniform(0.2, 1.0, size=12), np.array([-0.61, 0.13, 0.77])), (0, 1)
