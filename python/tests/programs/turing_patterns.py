"""Gray-Scott by a five-point stencil with np.pad's wrap, over a dictionary of settings; variance of the pattern."""

import numpy as np


def laplace(Z):
    P = np.pad(Z, 1, mode="wrap")
    return P[:-2, 1:-1] + P[2:, 1:-1] + P[1:-1, :-2] + P[1:-1, 2:] - 4 * Z


def grayscott(F, k, Du=0.16, Dv=0.08, steps=12, n=10, dt=1.0, seed=7):
    U = np.ones((n, n))
    V = np.zeros((n, n))
    c = slice(n // 2 - 2, n // 2 + 2)
    U[c, c] = 0.5
    V[c, c] = 0.25
    noise = np.random.default_rng(seed).random((n, n))
    U = U + 0.02 * noise
    for _ in range(steps):
        uvv = U * V * V
        U += dt * (Du * laplace(U) - uvv + F * (1 - U))
        V += dt * (Dv * laplace(V) + uvv - (F + k) * V)
    return U, V


def pattern_contrast(F, k, settings):
    U, V = grayscott(F, k, **settings)
    return np.var(V) * 100 + np.mean(U)


def example():
    return pattern_contrast, (0.04, 0.06, {"Du": 0.16, "Dv": 0.08, "steps": 12, "n": 10}), (0, 1)
