"""Model predictive control: at each instant gradient descent on the inputs with projection, then the first one is applied."""

import numpy as np


def simulate(x, us, A, B):
    xs = []
    for u in us:
        x = A @ x + B * u
        xs.append(x)
    return np.array(xs)


def plan(x, us, A, B, w, n_iter, lr, umax):
    H = len(us)
    for _ in range(n_iter):
        xs = simulate(x, us, A, B)
        lam = np.zeros(2)
        grad = np.zeros(H)
        for t in range(H - 1, -1, -1):
            lam = 2 * w * xs[t] + (A.T @ lam if t < H - 1 else 0.0)
            grad[t] = B @ lam + 0.2 * us[t]
        us = np.clip(us - lr * grad, -umax, umax)
    return us


def closed_loop(x0, w, A, B, steps=6, horizon=4, umax=0.8):
    x = np.array(x0, dtype=float)
    us = np.zeros(horizon)
    cost = 0.0
    for k in range(steps):
        us = plan(x, us, A, B, w, n_iter=5, lr=0.3, umax=umax)
        cost += w @ x**2 + 0.1 * us[0] ** 2
        x = A @ x + B * us[0]
        us = np.append(us[1:], 0.0)
    return cost


def example():
    A = np.array([[1.0, 0.2], [0.0, 0.95]])
    return closed_loop, (np.array([1.0, -0.2]), np.array([1.0, 0.3]), A, np.array([0.02, 0.2])), (0, 1, 2, 3)
