"""LU with partial pivoting in place, determinant and solve by hand, as students write it."""

import numpy as np


def lu_factor(A):
    A = A.copy()
    n = A.shape[0]
    piv = list(range(n))
    sign = 1.0
    for k in range(n - 1):
        p = k + np.argmax(np.abs(A[k:, k]))
        if p != k:
            A[[k, p]] = A[[p, k]]
            piv[k], piv[p] = piv[p], piv[k]
            sign = -sign
        for i in range(k + 1, n):
            A[i, k] /= A[k, k]
            A[i, k + 1 :] -= A[i, k] * A[k, k + 1 :]
    return A, piv, sign


def lu_solve(LU, piv, b):
    n = len(b)
    x = b[piv]
    for i in range(n):
        x[i] -= LU[i, :i] @ x[:i]
    for i in range(n - 1, -1, -1):
        x[i] = (x[i] - LU[i, i + 1 :] @ x[i + 1 :]) / LU[i, i]
    return x


def objective(A, b):
    LU, piv, sign = lu_factor(A)
    x = lu_solve(LU, piv, b)
    det = sign * np.prod(np.diag(LU))
    return np.sum(x**2) + np.log(np.abs(det))


def example():
    rng = np.random.default_rng(78)
    return objective, (rng.normal(size=(5, 5)) + 2 * np.eye(5), rng.normal(size=5)), (0, 1)
