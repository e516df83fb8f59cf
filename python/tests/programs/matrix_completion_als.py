"""A matrix completed by alternating least squares over its observed entries, rows of unequal length."""

import numpy as np


def solve_rows(R, mask, other, lam):
    rank = other.shape[1]
    out = []
    for r, m in zip(R, mask):
        idx = np.flatnonzero(m)
        F = other[idx]
        out.append(np.linalg.solve(F.T @ F + lam * np.eye(rank), F.T @ r[idx]))
    return np.vstack(out)


def als(R, mask, lam, rank=2, sweeps=3):
    rng = np.random.default_rng(0)
    V = rng.normal(size=(R.shape[1], rank))
    for _ in range(sweeps):
        U = solve_rows(R, mask, V, lam)
        V = solve_rows(R.T, mask.T, U, lam)
    return U @ V.T


def held_out_rmse(lam, R, mask):
    pred = als(R, mask, lam)
    missing = ~mask
    return np.sqrt(np.mean((pred[missing] - R[missing]) ** 2))


def example():
    rng = np.random.default_rng(72)
    R = rng.normal(size=(5, 2)) @ rng.normal(size=(2, 6)) + 0.1 * rng.normal(size=(5, 6))
    mask = rng.random((5, 6)) < 0.75
    return held_out_rmse, (0.3, R, mask), (0, 1)
