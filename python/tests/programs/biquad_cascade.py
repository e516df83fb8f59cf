"""A cascade of second order sections with their states in a list of arrays; the energy of what passes."""

import numpy as np


def section(b, a, x, z):
    y = b[0] * x + z[0]
    z[0] = b[1] * x - a[0] * y + z[1]
    z[1] = b[2] * x - a[1] * y
    return y


def cascade(B, A, signal):
    states = [np.zeros(2) for _ in range(len(B))]
    out = np.empty_like(signal)
    for n, value in enumerate(signal):
        for b, a, z in zip(B, A, states):
            value = section(b, a, value, z)
        out[n] = value
    return out, states


def energy(B, A, signal):
    out, states = cascade(B, A, signal)
    return np.sum(out**2) + sum(z @ z for z in states)


def example():
    rng = np.random.default_rng(15)
    return energy, (np.array([[0.3, 0.5, 0.2], [0.6, -0.1, 0.2]]), np.array([[-0.4, 0.2], [0.1, -0.3]]), rng.normal(size=20)), (0, 1, 2)
