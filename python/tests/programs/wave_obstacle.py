"""The wave equation in the plane with a sponge at its borders, sources in time, energy behind an obstacle."""

import numpy as np


def sponge(n, width, strength):
    damp = np.zeros(n)
    for i in range(width):
        damp[i] = damp[n - 1 - i] = strength * ((width - i) / width) ** 2
    return damp[:, None] + damp[None, :]


def simulate(speed, strength, frequency, nt=25):
    n = speed.shape[0]
    dx, dt = 1.0, 0.5
    prev, cur = np.zeros((n, n)), np.zeros((n, n))
    damp = sponge(n, 3, strength)
    energy = 0.0
    for it in range(nt):
        lap = -4 * cur
        lap[1:] += cur[:-1]
        lap[:-1] += cur[1:]
        lap[:, 1:] += cur[:, :-1]
        lap[:, :-1] += cur[:, 1:]
        nxt = (2 * cur - (1 - 0.5 * damp * dt) * prev + (speed * dt / dx) ** 2 * lap) / (1 + 0.5 * damp * dt)
        nxt[3, 3] += dt**2 * np.sin(frequency * it * dt) * np.exp(-((it * dt - 4) ** 2) / 4)
        prev, cur = cur, nxt
        if it > 10:
            energy += np.sum(cur[8:, 8:] ** 2)
    return energy


def example():
    speed = np.ones((12, 12))
    speed[5:7, 5:9] = 0.5
    return simulate, (speed, 0.3, 1.5), (0, 1, 2)
