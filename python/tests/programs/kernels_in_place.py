"""Kernels as one would write them for a compiler: they write into their arguments and return nothing."""

import numpy as np


def axpy(alpha, x, y):
    for i in range(len(x)):
        y[i] += alpha * x[i]


def gemv(A, x, out):
    for i in range(A.shape[0]):
        s = 0.0
        for j in range(A.shape[1]):
            s += A[i, j] * x[j]
        out[i] = s


def dot(x, y):
    s = 0.0
    for i in range(len(x)):
        s += x[i] * y[i]
    return s


def conjugate_gradient(A, b, iterations=4):
    x = np.zeros_like(b)
    r = b.copy()
    p = b.copy()
    Ap = np.empty_like(b)
    rr = dot(r, r)
    for k in range(iterations):
        gemv(A, p, Ap)
        alpha = rr / dot(p, Ap)
        axpy(alpha, p, x)
        axpy(-alpha, Ap, r)
        new = dot(r, r)
        p *= new / rr
        p += r
        rr = new
    return dot(x, x)


def example():
    rng = np.random.default_rng(29)
    M = rng.normal(size=(6, 6))
    return conjugate_gradient, (M @ M.T + 6 * np.eye(6), rng.normal(size=6)), (0, 1)
