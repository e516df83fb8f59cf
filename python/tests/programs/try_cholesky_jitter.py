"""A Gaussian process whose Cholesky factor gets more jitter when it fails, with cached kernels and keyword arguments."""

import numpy as np


def rbf(a, b, *, length, variance=1.0):
    return variance * np.exp(-0.5 * ((a[:, None] - b[None, :]) / length) ** 2)


def safe_cholesky(K, jitter=1e-10, attempts=4):
    for attempt in range(attempts):
        try:
            return np.linalg.cholesky(K + jitter * np.eye(len(K)))
        except np.linalg.LinAlgError:
            jitter *= 100
    raise np.linalg.LinAlgError("not positive definite even with jitter")


def log_marginal(params, x, y):
    K = rbf(x, x, **params["kernel"]) + params["noise"] ** 2 * np.eye(len(x))
    L = safe_cholesky(K)
    alpha = np.linalg.solve(L.T, np.linalg.solve(L, y))
    return -0.5 * y @ alpha - np.log(np.diag(L)).sum() - 0.5 * len(x) * np.log(2 * np.pi)


def example():
    x = np.linspace(0, 3, 8)
    return log_marginal, ({"kernel": {"length": 0.8, "variance": 1.3}, "noise": 0.2}, x, np.sin(2 * x)), 0
