"""Missing readings are filled by neighbours with masks, bad ones are damped in place, sums over what is left."""

import numpy as np


def fill(readings, valid, rate):
    values = np.where(valid, readings, 0.0)
    weight = valid.astype(float)
    for _ in range(6):
        spread = np.zeros_like(values)
        count = np.zeros_like(values)
        spread[1:] += values[:-1] * weight[:-1]
        count[1:] += weight[:-1]
        spread[:-1] += values[1:] * weight[1:]
        count[:-1] += weight[1:]
        target = np.divide(spread, count, out=np.zeros_like(spread), where=count > 0)
        hole = ~valid & (count > 0)
        values[hole] += rate * (target[hole] - values[hole])
        weight[hole] = 1.0
    return values


def score(readings, rate):
    valid = np.array([1, 1, 0, 0, 1, 0, 1, 1, 0, 1], dtype=bool)
    values = fill(readings, valid, rate)
    large = values > 0.9
    values[large] = 0.9 + 0.1 * (values[large] - 0.9)
    return values @ values + values[~valid].sum() + np.count_nonzero(large)


def example():
    return score, (np.array([0.2, 0.5, 9.0, 9.0, 1.4, 9.0, 0.3, 1.1, 9.0, 0.6]), 0.7), (0, 1)
