"""The evidence of a Gaussian process by a Cholesky factor, kernels chosen by name."""

import numpy as np


def rbf(r2, scale):
    return np.exp(-0.5 * r2 / scale**2)


def matern(r2, scale):
    r = np.sqrt(3 * r2 + 1e-12) / scale
    return (1 + r) * np.exp(-r)


KERNELS = {"rbf": rbf, "matern": matern}


def negative_log_evidence(hyper, X, y, kernel="rbf"):
    amplitude, scale, noise = np.exp(hyper)
    diff = X[:, None, :] - X[None, :, :]
    K = amplitude * KERNELS[kernel](np.sum(diff**2, axis=-1), scale)
    K[np.diag_indices_from(K)] += noise
    L = np.linalg.cholesky(K)
    alpha = np.linalg.solve(L.T, np.linalg.solve(L, y))
    return 0.5 * y @ alpha + np.log(np.diag(L)).sum() + 0.5 * len(y) * np.log(2 * np.pi)


def example():
    rng = np.random.default_rng(26)
    return negative_log_evidence, (np.array([0.1, -0.3, -1.0]), rng.normal(size=(10, 2)), rng.normal(size=10), "matern"), 0
