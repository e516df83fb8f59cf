"""Least squares with a degree that is an integer argument: it makes the shape."""

import numpy as np


def design(x, degree):
    columns = [np.ones_like(x)]
    for k in range(degree):
        columns.append(columns[-1] * x)
    return np.stack(columns, axis=1)


def residual(x, y, degree, ridge):
    A = design(x, degree)
    n = degree + 1
    coefficients = np.linalg.solve(A.T @ A + ridge * np.eye(n), A.T @ y)
    assert coefficients.shape == (n,)
    return np.sum((A @ coefficients - y) ** 2)


def example():
    rng = np.random.default_rng(30)
    return residual, (np.linspace(-1, 1, 12), rng.normal(size=12), 3, 0.1), (0, 1, 3)
