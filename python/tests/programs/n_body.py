"""Gravity between a few bodies by leapfrog, pair by pair."""

import numpy as np

G = 1.0


def accelerations(pos, mass, softening=0.05):
    n = len(mass)
    acc = np.zeros_like(pos)
    for i in range(n):
        for j in range(n):
            if i == j:
                continue
            d = pos[j] - pos[i]
            acc[i] += G * mass[j] * d / (np.dot(d, d) + softening**2) ** 1.5
    return acc


def energy_after(pos, vel, mass, dt=0.01, steps=10):
    acc = accelerations(pos, mass)
    for _ in range(steps):
        vel = vel + 0.5 * dt * acc
        pos = pos + dt * vel
        acc = accelerations(pos, mass)
        vel = vel + 0.5 * dt * acc
    return 0.5 * np.sum(mass * np.sum(vel**2, axis=1))


def example():
    rng = np.random.default_rng(20)
    return energy_after, (rng.normal(size=(4, 3)), 0.1 * rng.normal(size=(4, 3)), rng.random(4) + 0.5), (0, 1, 2)
