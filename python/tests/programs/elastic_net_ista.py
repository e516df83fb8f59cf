"""The elastic net by proximal gradients (ISTA and FISTA), validation error by its two penalties."""

import numpy as np


def soft(x, t):
    return np.sign(x) * np.maximum(np.abs(x) - t, 0.0)


def fit(X, y, l1, l2, n_iter=30, accelerate=True):
    n, d = X.shape
    L = np.linalg.norm(X, 2) ** 2 / n + l2
    w = np.zeros(d)
    z = w
    t = 1.0
    for k in range(n_iter):
        g = X.T @ (X @ z - y) / n + l2 * z
        w_new = soft(z - g / L, l1 / L)
        if accelerate:
            t_new = (1 + np.sqrt(1 + 4 * t**2)) / 2
            z = w_new + (t - 1) / t_new * (w_new - w)
            t = t_new
        else:
            z = w_new
        w = w_new
    return w


def validation(log_l1, log_l2, data):
    (X, y), (Xv, yv) = data
    w = fit(X, y, np.exp(log_l1), np.exp(log_l2))
    return 0.5 * np.mean((Xv @ w - yv) ** 2)


def example():
    rng = np.random.default_rng(51)
    X, Xv = rng.normal(size=(12, 5)), rng.normal(size=(6, 5))
    w = np.array([1.0, 0.0, -2.0, 0.0, 0.5])
    return validation, (-2.0, -3.0, ((X, X @ w + 0.1 * rng.normal(size=12)), (Xv, Xv @ w))), (0, 1)
