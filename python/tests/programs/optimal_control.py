"""The cost of controls of a pendulum on a cart; the state is a tuple."""

import numpy as np


def dynamics(state, u, dt, m=0.2, M=1.0, length=0.6, g=9.81):
    x, v, theta, omega = state
    s, c = np.sin(theta), np.cos(theta)
    denominator = M + m * s**2
    a = (u + m * s * (length * omega**2 + g * c)) / denominator
    alpha = (-u * c - m * length * omega**2 * c * s - (M + m) * g * s) / (length * denominator)
    return x + dt * v, v + dt * a, theta + dt * omega, omega + dt * alpha


def cost(controls, dt=0.02):
    state = (0.0, 0.0, 0.1, 0.0)
    total = 0.0
    for u in controls:
        state = dynamics(state, u, dt)
        total += 1e-3 * u**2
    x, v, theta, omega = state
    return total + 10 * (1 + np.cos(theta)) + x**2 + 0.1 * (v**2 + omega**2)


def example():
    return cost, (np.sin(np.arange(40) / 5.0),), 0
