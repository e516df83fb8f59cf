"""Gray-Scott by np.roll on a torus."""

import numpy as np


def laplacian(u):
    return np.roll(u, 1, 0) + np.roll(u, -1, 0) + np.roll(u, 1, 1) + np.roll(u, -1, 1) - 4 * u


def simulate(feed, kill, U, V, steps, Du=0.16, Dv=0.08):
    for _ in range(steps):
        uvv = U * V * V
        U = U + Du * laplacian(U) - uvv + feed * (1 - U)
        V = V + Dv * laplacian(V) + uvv - (feed + kill) * V
    return U, V


def objective(feed, kill, U, V):
    U, V = simulate(feed, kill, U, V, 12)
    return np.mean(V**2)


def example():
    rng = np.random.default_rng(37)
    U, V = np.ones((8, 8)), np.zeros((8, 8))
    U[3:5, 3:5], V[3:5, 3:5] = 0.5, 0.25
    return objective, (0.04, 0.06, U + 0.01 * rng.random((8, 8)), V), (0, 1, 2, 3)
