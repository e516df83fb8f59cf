"""An Euler-Bernoulli beam of finite elements: assembly into a global matrix, supports removed, compliance."""

import numpy as np


def element_stiffness(EI, L):
    k = EI / L**3
    return k * np.array([
        [12, 6 * L, -12, 6 * L],
        [6 * L, 4 * L**2, -6 * L, 2 * L**2],
        [-12, -6 * L, 12, -6 * L],
        [6 * L, 2 * L**2, -6 * L, 4 * L**2],
    ])


def compliance(heights, length, load, fixed_dofs, E=210.0, b=0.1):
    nel = heights.size
    L = length / nel
    ndof = 2 * (nel + 1)
    K = np.zeros((ndof, ndof))
    for e, h in enumerate(heights):
        dofs = np.array([2 * e, 2 * e + 1, 2 * e + 2, 2 * e + 3])
        K[np.ix_(dofs, dofs)] += element_stiffness(E * b * h**3 / 12, L)
    F = np.zeros(ndof)
    F[0::2] = -load * L
    F[-2] /= 2
    free = np.setdiff1d(np.arange(ndof), fixed_dofs)
    u = np.zeros(ndof)
    u[free] = np.linalg.solve(K[np.ix_(free, free)], F[free])
    return F @ u


def example():
    return compliance, (np.array([0.5, 0.45, 0.4, 0.38, 0.3]), 2.0, 0.7, [0, 1]), (0, 1, 2)
