"""Currents in a network of resistors by the pseudoinverse of its Laplacian; effective resistances."""

import numpy as np


def laplacian(conductance, edges, n):
    L = np.zeros((n, n))
    i, j = np.array(edges).T
    np.add.at(L, (i, i), conductance)
    np.add.at(L, (j, j), conductance)
    np.subtract.at(L, (i, j), conductance)
    np.subtract.at(L, (j, i), conductance)
    return L


def resistance(conductance, current):
    edges = [(0, 1), (1, 2), (2, 3), (3, 0), (0, 2)]
    L = laplacian(conductance, edges, 4)
    P = np.linalg.inv(L + 0.25 * np.ones((4, 4))) - 0.25
    voltage = P @ current
    effective = [P[a, a] + P[b, b] - 2 * P[a, b] for a, b in edges]
    return current @ voltage + np.prod(effective)


def example():
    return resistance, (np.array([1.0, 0.5, 2.0, 0.8, 1.4]), np.array([1.0, -0.4, 0.2, -0.8])), (0, 1)
