"""Van der Pol by an embedded Runge-Kutta pair whose step follows the error; rejected steps are tried again."""

import numpy as np


def vdp(y, mu):
    return np.array([y[1], mu * (1 - y[0] ** 2) * y[1] - y[0]])


def solve(mu, y0, t_end, tol=1e-4):
    t, h, y = 0.0, 0.1, y0
    accepted = 0
    while t < t_end:
        if t + h > t_end:
            h = t_end - t
        k1 = vdp(y, mu)
        k2 = vdp(y + h * k1, mu)
        heun = y + 0.5 * h * (k1 + k2)
        euler = y + h * k1
        err = np.max(np.abs(heun - euler))
        if err <= tol:
            t = t + h
            y = heun
            accepted += 1
        h = h * min(2.0, max(0.3, 0.9 * np.sqrt(tol / (err + 1e-14))))
    return y, accepted


def loss(mu, y0):
    y, accepted = solve(mu, y0, 1.0)
    return y[0] ** 2 + 0.5 * y[1] ** 2


def example():
    return loss, (1.5, np.array([1.0, 0.5])), (0, 1)
