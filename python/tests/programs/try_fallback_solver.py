"""A solver that tries Cholesky, and where that fails shifts the matrix and tries again."""

import numpy as np


def solve(A, b, shift):
    for attempt in range(3):
        try:
            L = np.linalg.cholesky(A)
            break
        except np.linalg.LinAlgError:
            A = A + shift * np.eye(len(b))
    else:
        L = np.eye(len(b))
    y = np.linalg.solve(L, b)
    return np.linalg.solve(L.T, y)


def quadratic(a, b, shift):
    A = np.array([[a[0], a[1]], [a[1], a[2]]])
    x = solve(A, b, shift)
    return b @ x + np.sum(x**2)


def example():
    return quadratic, (np.array([0.4, 0.9, 1.0]), np.array([1.0, -0.5]), 0.7), (0, 1, 2)
