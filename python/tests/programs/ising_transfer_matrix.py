"""Free energy of an Ising strip by its transfer matrix over spin configurations as bits of an integer."""

import numpy as np


def spins(state, width):
    return [1 if (state >> b) & 1 else -1 for b in range(width)]


def transfer_matrix(J, h, width):
    dim = 2**width
    T = np.zeros((dim, dim))
    for a in range(dim):
        sa = spins(a, width)
        intra = sum(sa[i] * sa[(i + 1) % width] for i in range(width))
        field = sum(sa)
        for b in range(dim):
            sb = spins(b, width)
            inter = sum(x * y for x, y in zip(sa, sb))
            T[a, b] = np.exp(J[0] * inter + J[1] * intra + h * field)
    return T


def free_energy(J, h, width=3, length=10):
    T = transfer_matrix(J, h, width)
    v = np.ones(T.shape[0])
    logz = 0.0
    for _ in range(length):
        v = T @ v
        s = v.sum()
        logz = logz + np.log(s)
        v = v / s
    return -logz / (length * width)


def example():
    return free_energy, (np.array([0.4, 0.3]), 0.1), (0, 1)
