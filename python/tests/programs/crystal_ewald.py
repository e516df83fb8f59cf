"""Madelung energies by an Ewald sum: real and reciprocal parts over tuples of integers, erfc from scipy."""

import numpy as np
from scipy.special import erfc


def ewald(positions, charges, L, alpha, rmax=1, kmax=3):
    n = len(charges)
    real = 0.0
    for nx in range(-rmax, rmax + 1):
        for ny in range(-rmax, rmax + 1):
            for nz in range(-rmax, rmax + 1):
                shift = L * np.array([nx, ny, nz])
                for i in range(n):
                    for j in range(n):
                        if i == j and nx == ny == nz == 0:
                            continue
                        r = np.linalg.norm(positions[i] - positions[j] + shift)
                        real += 0.5 * charges[i] * charges[j] * erfc(alpha * r) / r
    ks = [np.array(m) for m in np.ndindex(kmax + 1, kmax + 1, kmax + 1)]
    recip = 0.0
    for m in ks:
        if not m.any():
            continue
        k = 2 * np.pi / L * m
        k2 = k @ k
        c = np.sum(charges * np.cos(positions @ k))
        s = np.sum(charges * np.sin(positions @ k))
        weight = 2.0 ** np.count_nonzero(m)
        recip += weight * np.exp(-k2 / (4 * alpha**2)) / k2 * (c**2 + s**2) * 2 * np.pi / L**3
    self_energy = alpha / np.sqrt(np.pi) * np.sum(charges**2)
    return real + recip - self_energy


def example():
    return ewald, (np.array([[0.0, 0.1, 0.0], [0.5, 0.45, 0.55]]), np.array([1.0, -1.0]), 1.0, 3.0, 0, 2), (0, 1, 2)
