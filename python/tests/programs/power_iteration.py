"""The largest eigenvalues of a symmetric matrix by power iteration and deflation."""

import numpy as np


def dominant(A, x, tol=1e-12):
    value = 0.0
    for _ in range(2000):
        y = A @ x
        x = y / np.linalg.norm(y)
        new = x @ A @ x
        if abs(new - value) < tol:
            value = new
            break
        value = new
    return value, x


def leading(A, k):
    values = []
    x0 = np.ones(A.shape[0])
    for i in range(k):
        value, x = dominant(A, x0)
        A = A - value * np.outer(x, x)
        values.append(value)
    return values


def objective(B):
    a, b = leading(B @ B.T, 2)
    return a / b


def example():
    rng = np.random.default_rng(33)
    return objective, (rng.normal(size=(4, 6)) * np.array([[4.0], [2.0], [1.0], [0.5]]),), 0
