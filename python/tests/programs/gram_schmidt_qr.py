"""QR by modified Gram-Schmidt and eigenvalues by unshifted QR iterations, then a function of the spectrum."""

import numpy as np


def mgs(A):
    m, n = A.shape
    Q = A.copy()
    R = np.zeros((n, n))
    for k in range(n):
        R[k, k] = np.linalg.norm(Q[:, k])
        Q[:, k] /= R[k, k]
        for j in range(k + 1, n):
            R[k, j] = Q[:, k] @ Q[:, j]
            Q[:, j] -= R[k, j] * Q[:, k]
    return Q, R


def qr_eigenvalues(A, iterations=25):
    for _ in range(iterations):
        Q, R = mgs(A)
        A = R @ Q
    return np.diag(A)


def spectral_gap(A):
    S = 0.5 * (A + A.T)
    ev = qr_eigenvalues(S)
    ev = np.sort(ev)[::-1]
    return (ev[0] - ev[1]) / ev[0] + 0.1 * np.prod(ev)


def example():
    rng = np.random.default_rng(77)
    B = rng.normal(size=(4, 4))
    return spectral_gap, (B @ B.T + np.diag([4.0, 2.0, 1.0, 0.5]),), 0
