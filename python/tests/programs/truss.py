"""A truss by finite elements: stiffness assembled bar by bar with np.ix_."""

import numpy as np

NODES = np.array([[0.0, 0.0], [1.0, 0.0], [2.0, 0.0], [0.5, 0.8], [1.5, 0.8]])
BARS = [(0, 1), (1, 2), (0, 3), (1, 3), (1, 4), (2, 4), (3, 4)]
FIXED = [0, 1, 5]


def stiffness(areas, E=100.0):
    n = 2 * len(NODES)
    K = np.zeros((n, n))
    for (i, j), area in zip(BARS, areas):
        d = NODES[j] - NODES[i]
        length = np.linalg.norm(d)
        c = d / length
        block = E * area / length * np.outer(c, c)
        a, b = [2 * i, 2 * i + 1], [2 * j, 2 * j + 1]
        K[np.ix_(a, a)] += block
        K[np.ix_(b, b)] += block
        K[np.ix_(a, b)] -= block
        K[np.ix_(b, a)] -= block
    return K


def compliance(areas, load):
    free = [k for k in range(2 * len(NODES)) if k not in FIXED]
    K = stiffness(areas)
    u = np.linalg.solve(K[np.ix_(free, free)], load[free])
    return load[free] @ u


def example():
    load = np.zeros(10)
    load[[7, 9]] = -1.0
    return compliance, (np.linspace(0.5, 1.5, 7), load), (0, 1)
