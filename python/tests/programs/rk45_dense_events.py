"""An embedded Runge-Kutta pair with its step size controlled, an event found by its sign, and early return when it happens."""

import numpy as np


def rhs(t, y, p):
    return np.array([y[1], -p[0] * y[0] - p[1] * y[1] + p[2] * np.cos(t)])


def integrate(p, y0, end):
    t, y, h, tries = 0.0, y0, 0.1, 0
    while t < end and tries < 200:
        tries += 1
        h = min(h, end - t)
        k1 = rhs(t, y, p)
        k2 = rhs(t + h / 2, y + h / 2 * k1, p)
        k3 = rhs(t + 0.75 * h, y + 0.75 * h * k2, p)
        new = y + h * (2 * k1 + 3 * k2 + 4 * k3) / 9
        k4 = rhs(t + h, new, p)
        error = np.max(np.abs(h * (-5 / 72 * k1 + k2 / 12 + k3 / 9 - k4 / 8)))
        if error > 1e-4:
            h *= max(0.3, 0.9 * (1e-4 / error) ** (1 / 3))
            continue
        if new[0] < -0.5:
            share = (y[0] + 0.5) / (y[0] - new[0])
            return t + share * h, y + share * (new - y)
        t, y = t + h, new
        h *= min(2.0, 0.9 * (1e-4 / (error + 1e-12)) ** (1 / 3))
    return t, y


def objective(p, y0):
    t, y = integrate(p, y0, 3.0)
    return t + y @ y


def example():
    return objective, (np.array([2.0, 0.1, 0.3]), np.array([1.0, 0.0])), (0, 1)
