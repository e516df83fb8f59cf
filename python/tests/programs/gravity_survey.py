"""Gravity anomaly of buried prisms summed by corners with the signs of itertools.product."""

import itertools

import numpy as np

GAMMA = 6.674e-3


def prism(x, y, z, bounds):
    total = 0.0
    for i, j, k in itertools.product(range(2), repeat=3):
        dx = bounds[0][i] - x
        dy = bounds[1][j] - y
        dz = bounds[2][k] - z
        r = np.sqrt(dx**2 + dy**2 + dz**2)
        sign = (-1) ** (i + j + k)
        total += sign * (dx * np.log(dy + r) + dy * np.log(dx + r) - dz * np.arctan2(dx * dy, dz * r))
    return -GAMMA * total


def anomaly(densities, depths, stations):
    g = np.zeros(len(stations))
    for n, (rho, depth) in enumerate(zip(densities, depths)):
        bounds = [(2.0 * n, 2.0 * n + 1.5), (-1.0, 1.2), (depth, depth + 1.0)]
        for s, (x, y) in enumerate(stations):
            g[s] += rho * prism(x, y, 0.0, bounds)
    return g


def misfit(densities, depths, stations, data):
    return np.sum((anomaly(densities, depths, stations) - data) ** 2)


def example():
    stations = [(0.3 + k, 0.13 * k) for k in range(4)]
    return misfit, (np.array([300.0, -200.0]), np.array([1.0, 1.7]), stations, np.array([0.4, 0.5, 0.1, -0.2])), (0, 1)
