"""Consumption over a life by backward induction on a grid of assets, with interpolation in between."""

import numpy as np


def utility(c, gamma):
    if gamma == 1.0:
        return np.log(c)
    return c ** (1 - gamma) / (1 - gamma)


def solve(beta, gamma, r, income, grid):
    V = np.zeros_like(grid)
    policy = []
    for y in income[::-1]:
        newV = np.empty_like(grid)
        pol = np.empty_like(grid)
        for i, a in enumerate(grid):
            wealth = (1 + r) * a + y
            c = wealth - grid
            value = np.where(c > 1e-8, utility(np.maximum(c, 1e-8), gamma) + beta * V, -1e10)
            j = np.argmax(value)
            newV[i] = value[j]
            pol[i] = c[j]
        V = newV
        policy.append(pol)
    return V, policy


def welfare(beta, gamma, r, income, grid, a0):
    V, policy = solve(beta, gamma, r, income, grid)
    k = int(np.searchsorted(grid, a0)) - 1
    w = (a0 - grid[k]) / (grid[k + 1] - grid[k])
    return (1 - w) * V[k] + w * V[k + 1]


def example():
    return welfare, (0.95, 2.0, 0.03, np.array([1.0, 1.3, 1.1, 0.4]), np.linspace(0, 3, 12), 0.9), (0, 1, 2, 3)
