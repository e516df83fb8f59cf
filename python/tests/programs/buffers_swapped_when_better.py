"""A random search with two buffers: a step is kept by swapping the buffers if it lowers the energy, then the current one is pushed in place."""

import numpy as np


def energy(p):
    return np.sum((p[1:] - p[:-1] ** 2) ** 2) + 0.1 * np.sum((1 - p) ** 2)


def anneal(start, steps, pull):
    current, trial = start.copy(), np.zeros_like(start)
    for k in range(len(steps)):
        trial[:] = current + steps[k]
        if energy(trial) < energy(current):
            current, trial = trial, current
        current[k % len(current)] *= 1.0 - pull
        trial *= 0.5
    return energy(current) + 0.01 * np.sum(trial)


def example():
    rng = np.random.default_rng(3)
    return anneal, (np.array([0.3, -0.4, 0.8, 0.1]), 0.3 * rng.normal(size=(15, 4)), 0.05), (0, 1, 2)
