"""A step of smoothed-particle hydrodynamics: densities, then pressures, over all pairs of near particles."""

import numpy as np


def density(x, h, m):
    n = x.shape[0]
    rho = np.zeros(n)
    for i in range(n):
        for j in range(n):
            r = x[i] - x[j]
            q = np.sqrt(np.sum(r**2) + 1e-9) / h
            if q < 2:
                rho[i] += m * (1 - 0.5 * q) ** 4 * (2 * q + 1)
    return rho


def acceleration(x, rho, h, m):
    n = x.shape[0]
    a = np.zeros((n, 2))
    for i in range(n):
        for j in range(n):
            if i == j:
                continue
            r = x[i] - x[j]
            d = np.sqrt(np.sum(r**2) + 1e-9)
            q = d / h
            if q < 2:
                p = (rho[i] - 1) / rho[i] ** 2 + (rho[j] - 1) / rho[j] ** 2
                a[i] += m * p * 5 * q * (1 - 0.5 * q) ** 3 * r / d
    return a


def energy(x, v, h, m):
    v = v + 0.01 * acceleration(x, density(x, h, m), h, m)
    return np.sum((x + 0.01 * v) ** 2)


def example():
    rng = np.random.default_rng(5)
    x = np.array([[i, j] for i in range(4) for j in range(3)]) * 0.11 + 0.01 * rng.normal(size=(12, 2))
    return energy, (x, 0.1 * rng.normal(size=(12, 2)), 0.1, 1.0), (0, 1, 2, 3)
