"""A V-cycle of multigrid for Poisson's equation on a line, by recursion."""

import numpy as np


def smooth(u, f, h, n=2):
    for _ in range(n):
        u[1:-1] = u[1:-1] + 2 / 3 * 0.5 * (u[:-2] + u[2:] + h**2 * f[1:-1] - 2 * u[1:-1])
    return u


def v_cycle(u, f, h):
    u = smooth(u, f, h)
    if len(u) <= 3:
        return u
    r = np.zeros_like(u)
    r[1:-1] = f[1:-1] + (u[:-2] - 2 * u[1:-1] + u[2:]) / h**2
    coarse = r[::2].copy()
    coarse[1:-1] = 0.25 * r[1:-2:2] + 0.5 * r[2:-1:2] + 0.25 * r[3::2]
    e = v_cycle(np.zeros_like(coarse), coarse, 2 * h)
    fine = np.zeros_like(u)
    fine[::2] = e
    fine[1::2] = 0.5 * (e[:-1] + e[1:])
    u = u + fine
    return smooth(u, f, h)


def objective(f):
    n = len(f)
    u = np.zeros(n)
    for cycle in range(3):
        u = v_cycle(u, f, 1.0 / (n - 1))
    return np.sum(u**2)


def example():
    return objective, (np.sin(np.linspace(0, 3, 17)),), 0
