"""Any explicit Runge-Kutta method from its tableau in a dict; the orbit's error by the method's name."""

import numpy as np

TABLEAUS = {
    "euler": ([[]], [1.0]),
    "heun": ([[], [1.0]], [0.5, 0.5]),
    "rk4": ([[], [0.5], [0.0, 0.5], [0.0, 0.0, 1.0]], [1 / 6, 1 / 3, 1 / 3, 1 / 6]),
    "ssp3": ([[], [1.0], [0.25, 0.25]], [1 / 6, 1 / 6, 2 / 3]),
}


def rk_step(f, t, y, h, tableau):
    A, b = tableau
    c = [sum(row) for row in A]
    k = []
    for i, row in enumerate(A):
        yi = y
        for a, kj in zip(row, k):
            yi = yi + h * a * kj
        k.append(f(t + c[i] * h, yi))
    return y + h * sum(bi * ki for bi, ki in zip(b, k))


def solve_ivp(f, t_span, y0, method="rk4", n=20, args=()):
    t, t_end = t_span
    h = (t_end - t) / n
    fun = lambda t, y: f(t, y, *args)
    ts, ys = [t], [y0]
    for _ in range(n):
        ys.append(rk_step(fun, t, ys[-1], h, TABLEAUS[method]))
        t += h
        ts.append(t)
    return np.array(ts), np.array(ys)


def duffing(t, y, delta, alpha, beta, gamma, omega):
    return np.array([y[1], -delta * y[1] - alpha * y[0] - beta * y[0] ** 3 + gamma * np.cos(omega * t)])


def amplitude(params, y0, methods=("heun", "rk4", "ssp3")):
    total = 0.0
    for m in methods:
        ts, ys = solve_ivp(duffing, (0.0, 3.0), y0, method=m, args=tuple(params))
        total += np.max(ys[:, 0]) + 0.1 * np.mean(ys[:, 1] ** 2)
    return total


def example():
    return amplitude, (np.array([0.2, -1.0, 1.0, 0.3, 1.2]), np.array([0.5, 0.1])), (0, 1)
