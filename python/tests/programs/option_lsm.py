"""Longstaff and Schwartz: regressions on paths in the money by polyfit-like least squares, paths from given normals."""

import numpy as np


def paths(S0, r, sigma, T, z):
    n_steps = z.shape[1]
    dt = T / n_steps
    increments = (r - 0.5 * sigma**2) * dt + sigma * np.sqrt(dt) * z
    return S0 * np.exp(np.cumsum(increments, axis=1))


def american_put(S0, sigma, r, K, T, z):
    S = paths(S0, r, sigma, T, z)
    n_steps = S.shape[1]
    disc = np.exp(-r * T / n_steps)
    cash = np.maximum(K - S[:, -1], 0)
    for t in range(n_steps - 2, -1, -1):
        cash = cash * disc
        x = S[:, t] / K
        exercise = np.maximum(K - S[:, t], 0)
        itm = exercise > 0
        X = np.column_stack([np.ones_like(x), x, x**2])
        Xw = X * itm[:, None]
        beta = np.linalg.solve(Xw.T @ Xw + 1e-8 * np.eye(3), Xw.T @ (cash * itm))
        go = itm & (exercise > X @ beta)
        cash = np.where(go, exercise, cash)
    return disc * cash.mean()


def example():
    rng = np.random.default_rng(30)
    return american_put, (36.0, 0.25, 0.06, 40.0, 1.0, rng.normal(size=(30, 5))), (0, 1, 2)
