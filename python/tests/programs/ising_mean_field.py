"""Mean-field magnetisation of an Ising lattice, swept site by site in a checkerboard."""

import numpy as np


def neighbours(m, i, j):
    n, k = m.shape
    return m[(i + 1) % n, j] + m[(i - 1) % n, j] + m[i, (j + 1) % k] + m[i, (j - 1) % k]


def free_energy(coupling, field, sweeps=4):
    n, k = field.shape
    m = np.full((n, k), 0.1)
    for sweep in range(sweeps):
        for colour in (0, 1):
            for i in range(n):
                for j in range(k):
                    if (i + j) % 2 == colour:
                        m[i, j] = np.tanh(coupling * neighbours(m, i, j) + field[i, j])
    return -np.sum(field * m) - 0.5 * coupling * np.sum(m * (np.roll(m, 1, 0) + np.roll(m, 1, 1)))


def example():
    return free_energy, (0.3, 0.1 * np.random.default_rng(45).normal(size=(4, 4))), (0, 1)
