"""A boundary value problem by Chebyshev collocation: the differentiation matrix, boundary rows replaced, a nonlinear term by iteration."""

import numpy as np


def cheb(N):
    x = np.cos(np.pi * np.arange(N + 1) / N)
    c = np.hstack([2, np.ones(N - 1), 2]) * (-1) ** np.arange(N + 1)
    X = np.tile(x, (N + 1, 1)).T
    dX = X - X.T
    D = np.outer(c, 1 / c) / (dX + np.eye(N + 1))
    return D - np.diag(D.sum(axis=1)), x


def solve_bvp(a, b, left, right, N=12, iterations=6):
    D, x = cheb(N)
    D2 = D @ D
    u = np.linspace(right, left, N + 1)
    for it in range(iterations):
        L = D2 - a * np.diag(u**2) - b * np.eye(N + 1)
        rhs = np.sin(np.pi * x)
        L[0, :] = 0
        L[0, 0] = 1
        L[-1, :] = 0
        L[-1, -1] = 1
        rhs[0], rhs[-1] = right, left
        u = np.linalg.solve(L, rhs)
    return x, u


def energy(a, b, left, right):
    x, u = solve_bvp(a, b, left, right)
    w = np.abs(np.gradient(x))
    return np.sum(w * u**2) + u[len(u) // 2]


def example():
    return energy, (0.5, 1.2, 0.3, -0.2), (0, 1, 2, 3)
