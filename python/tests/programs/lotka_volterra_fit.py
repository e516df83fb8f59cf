"""Parameters of predators and prey from data, by RK4 with a fixed step."""

import numpy as np


def rhs(state, theta):
    prey, predator = state
    alpha, beta, gamma, delta = theta
    return np.array([alpha * prey - beta * prey * predator, delta * prey * predator - gamma * predator])


def rk4(f, y, h, *args):
    k1 = f(y, *args)
    k2 = f(y + 0.5 * h * k1, *args)
    k3 = f(y + 0.5 * h * k2, *args)
    k4 = f(y + h * k3, *args)
    return y + h / 6.0 * (k1 + 2 * k2 + 2 * k3 + k4)


def loss(theta, y0, data, substeps=4, dt=0.1):
    y = y0
    total = 0.0
    for target in data:
        for _ in range(substeps):
            y = rk4(rhs, y, dt / substeps, theta)
        total += np.sum((y - target) ** 2)
    return total / len(data)


def example():
    rng = np.random.default_rng(8)
    return loss, (np.array([1.1, 0.4, 0.4, 0.1]), np.array([10.0, 5.0]), 8 + rng.normal(size=(10, 2))), (0, 1)
