"""Maxwell's equations in one dimension by finite differences in time, with a pulse."""

import numpy as np


def simulate(eps, steps):
    n = eps.size
    E = np.zeros(n)
    H = np.zeros(n - 1)
    recorded = []
    for t in range(steps):
        H += 0.5 * (E[1:] - E[:-1])
        E[1:-1] += 0.5 / eps[1:-1] * (H[1:] - H[:-1])
        E[3] += np.exp(-((t - 10.0) ** 2) / 20.0)
        recorded.append(E[n - 4])
    return np.array(recorded)


def energy(eps, steps=90):
    return np.sum(simulate(eps, steps) ** 2)


def example():
    return energy, (1.0 + 0.5 * np.random.default_rng(10).random(30),), 0
