"""Jacobi iteration for a diffusion problem until the change is small, with relaxation and a count of steps."""

import numpy as np


def relax(source, k, omega):
    u = np.zeros_like(source)
    steps = 0
    while True:
        new = u.copy()
        new[1:-1, 1:-1] = (1 - omega) * u[1:-1, 1:-1] + omega * (u[2:, 1:-1] + u[:-2, 1:-1] + u[1:-1, 2:] + u[1:-1, :-2] + source[1:-1, 1:-1]) / (4 + k)
        change = np.max(np.abs(new - u))
        u = new
        steps += 1
        if change < 1e-5 or steps == 200:
            return u, steps


def work(source, k):
    u, steps = relax(source, k, 0.95)
    return np.sum(u * source) + 0.0 * steps


def example():
    rng = np.random.default_rng(6)
    return work, (rng.uniform(0.1, 1.0, size=(6, 6)), 0.8), (0, 1)
