"""The initial temperature of a rod from its final one: the misfit, with a regularisation."""

import numpy as np


def forward(u, kappa, dx, dt, steps):
    for _ in range(steps):
        lap = np.zeros_like(u)
        lap[1:-1] = (u[2:] - 2 * u[1:-1] + u[:-2]) / dx**2
        u = u + dt * kappa * lap
    return u


def misfit(u0, kappa, observed, steps=50, alpha=1e-3):
    n = len(u0)
    dx = 1.0 / (n - 1)
    dt = 0.4 * dx**2
    final = forward(u0, kappa, dx, dt, steps)
    return np.sum((final - observed) ** 2) + alpha * np.sum(np.diff(u0) ** 2)


def example():
    x = np.linspace(0, 1, 25)
    return misfit, (np.sin(np.pi * x), 0.8 + 0.1 * x, 0.3 * np.sin(np.pi * x)), (0, 1)
