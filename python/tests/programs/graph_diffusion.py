"""Diffusion along the edges of a graph, edge by edge."""

import numpy as np


def diffuse(x, weights, edges, steps, rate):
    for _ in range(steps):
        new = x.copy()
        for (i, j), w in zip(edges, weights):
            flow = rate * w * (x[i] - x[j])
            new[i] -= flow
            new[j] += flow
        x = new
    return x


def objective(weights, x0, edges, target):
    return np.sum((diffuse(x0, weights, edges, 5, 0.1) - target) ** 2)


def example():
    rng = np.random.default_rng(16)
    edges = [(0, 1), (1, 2), (2, 3), (3, 4), (4, 0), (1, 3)]
    return objective, (rng.random(6), rng.normal(size=5), edges, np.zeros(5)), (0, 1)
