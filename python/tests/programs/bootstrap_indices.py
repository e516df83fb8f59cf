"""A regression with bootstrap weights from given indices: np.add.at, np.bincount, quantiles of the slopes."""

import numpy as np


def weighted_slope(x, y, w):
    mx, my = np.average(x, weights=w), np.average(y, weights=w)
    return np.sum(w * (x - mx) * (y - my)) / np.sum(w * (x - mx) ** 2)


def interval(x, y, indices, level=0.8):
    n = len(x)
    slopes = []
    for sample in indices:
        counts = np.bincount(sample, minlength=n).astype(float)
        slopes.append(weighted_slope(x, y, counts))
    slopes = np.sort(np.array(slopes))
    low, high = np.quantile(slopes, [(1 - level) / 2, (1 + level) / 2])
    centre = np.zeros(n)
    np.add.at(centre, indices[0], y[indices[0]])
    return high - low + 0.01 * centre @ x


def example():
    rng = np.random.default_rng(15)
    x = rng.normal(size=10)
    return interval, (x, 2 * x + 0.3 * rng.normal(size=10), rng.integers(0, 10, size=(7, 10))), (0, 1)
