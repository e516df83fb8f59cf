"""Lennard-Jones particles in a periodic box with a cutoff, by velocity Verlet."""

import numpy as np


def forces(x, box, cutoff, epsilon, sigma):
    f = np.zeros_like(x)
    energy = 0.0
    n = x.shape[0]
    for i in range(n - 1):
        for j in range(i + 1, n):
            d = x[i] - x[j]
            d = d - box * np.round(d / box)
            r2 = np.sum(d * d)
            if r2 < cutoff**2:
                s6 = (sigma**2 / r2) ** 3
                energy += 4 * epsilon * (s6**2 - s6)
                pair = 24 * epsilon * (2 * s6**2 - s6) / r2 * d
                f[i] += pair
                f[j] -= pair
    return f, energy


def final_energy(x, v, epsilon, sigma, dt=0.002, steps=5):
    f, _ = forces(x, 4.0, 1.8, epsilon, sigma)
    for _ in range(steps):
        v = v + 0.5 * dt * f
        x = x + dt * v
        f, e = forces(x, 4.0, 1.8, epsilon, sigma)
        v = v + 0.5 * dt * f
    return e + 0.5 * np.sum(v**2)


def example():
    rng = np.random.default_rng(21)
    grid = np.array([[i, j, k] for i in range(2) for j in range(2) for k in range(2)], dtype=float) * 1.4
    return final_energy, (grid + 0.05 * rng.normal(size=(8, 3)), 0.1 * rng.normal(size=(8, 3)), 1.0, 1.0), (0, 1, 2, 3)
