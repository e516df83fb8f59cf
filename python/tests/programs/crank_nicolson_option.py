"""A European put on a grid by Crank-Nicolson, with Thomas' algorithm writing over its arguments."""

import numpy as np


def thomas_inplace(lower, diag, upper, rhs):
    n = len(rhs)
    for i in range(1, n):
        m = lower[i] / diag[i - 1]
        diag[i] -= m * upper[i - 1]
        rhs[i] -= m * rhs[i - 1]
    rhs[-1] /= diag[-1]
    for i in range(n - 2, -1, -1):
        rhs[i] = (rhs[i] - upper[i] * rhs[i + 1]) / diag[i]


def put_price(sigma, r, S0, K=50.0, T=0.5, smax=120.0, M=24, N=10):
    S = np.linspace(0, smax, M + 1)
    V = np.maximum(K - S, 0)
    dt = T / N
    i = np.arange(1, M)
    a = 0.25 * dt * (sigma**2 * i**2 - r * i)
    b = -0.5 * dt * (sigma**2 * i**2 + r)
    c = 0.25 * dt * (sigma**2 * i**2 + r * i)
    for n in range(N):
        rhs = a * V[:-2] + (1 + b) * V[1:-1] + c * V[2:]
        V[0] = K * np.exp(-r * (n + 1) * dt)
        rhs[0] += a[0] * V[0]
        lower, diag, upper = -a.copy(), 1 - b, -c.copy()
        thomas_inplace(lower, diag, upper, rhs)
        V[1:-1] = rhs
    ds = S[1] - S[0]
    k = int(S0 / ds)
    w = (S0 - S[k]) / ds
    return (1 - w) * V[k] + w * V[k + 1]


def example():
    return put_price, (0.3, 0.05, 48.0), (0, 1)
