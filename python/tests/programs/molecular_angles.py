"""A force field of bonds, angles and dihedrals from lists in a dict, and one step of steepest descent."""

import numpy as np


def bond(r, i, j, k, r0):
    return 0.5 * k * (np.linalg.norm(r[i] - r[j]) - r0) ** 2


def angle(r, i, j, k, kt, t0):
    a, b = r[i] - r[j], r[k] - r[j]
    cosine = a @ b / (np.linalg.norm(a) * np.linalg.norm(b))
    return 0.5 * kt * (np.arccos(np.clip(cosine, -1, 1)) - t0) ** 2


def dihedral(r, i, j, k, l, v, n):
    b1, b2, b3 = r[j] - r[i], r[k] - r[j], r[l] - r[k]
    n1, n2 = np.cross(b1, b2), np.cross(b2, b3)
    m = np.cross(n1, b2 / np.linalg.norm(b2))
    phi = np.arctan2(m @ n2, n1 @ n2)
    return 0.5 * v * (1 + np.cos(n * phi))


TERMS = {"bonds": bond, "angles": angle, "dihedrals": dihedral}


def energy(positions, topology):
    e = 0.0
    for kind, entries in topology.items():
        func = TERMS[kind]
        for atoms, params in entries:
            e += func(positions, *atoms, *params)
    return e


def example():
    r = np.array([[0.0, 0.0, 0.0], [1.5, 0.1, 0.0], [2.0, 1.5, 0.2], [3.4, 1.6, 0.9]])
    topology = {
        "bonds": [((0, 1), (300.0, 1.53)), ((1, 2), (300.0, 1.53)), ((2, 3), (310.0, 1.5))],
        "angles": [((0, 1, 2), (60.0, 1.95)), ((1, 2, 3), (60.0, 1.95))],
        "dihedrals": [((0, 1, 2, 3), (2.0, 3))],
    }
    return energy, (r, topology), 0
