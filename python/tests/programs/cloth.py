"""A hanging chain of springs; forces are gathered in a dict by particle."""

import numpy as np


def spring_force(a, b, rest, k):
    d = b - a
    length = np.sqrt(d @ d)
    return k * (length - rest) * d / length


def simulate(positions, stiffness, steps=12, dt=0.02, damping=0.98):
    x = [p for p in positions]
    v = [np.zeros(2) for _ in positions]
    n = len(x)
    for step in range(steps):
        forces = {i: np.array([0.0, -9.81]) for i in range(n)}
        for i in range(n - 1):
            f = spring_force(x[i], x[i + 1], 0.4, stiffness)
            forces[i] = forces[i] + f
            forces[i + 1] = forces[i + 1] - f
        for i in range(1, n):
            v[i] = damping * (v[i] + dt * forces[i])
            x[i] = x[i] + dt * v[i]
    return x


def lowest(positions, stiffness):
    return min(p[1] for p in simulate(positions, stiffness))


def example():
    return lowest, (np.stack([np.linspace(0, 1.6, 5), np.linspace(0, -0.5, 5)], axis=1), 80.0), (0, 1)
