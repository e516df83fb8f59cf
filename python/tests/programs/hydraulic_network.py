"""Flows in a water network by Newton's method on loops and nodes; pipes are a list of dicts, the solution checked by continuity."""

import numpy as np

PIPES = [
    {"from": 0, "to": 1, "length": 100.0},
    {"from": 1, "to": 2, "length": 80.0},
    {"from": 0, "to": 2, "length": 120.0},
    {"from": 2, "to": 3, "length": 60.0},
    {"from": 1, "to": 3, "length": 90.0},
]


def resistance(length, diameter, friction=0.02):
    return 8 * friction * length / (9.81 * np.pi**2 * diameter**5)


def heads(diameters, demand, reservoir=50.0, iterations=12):
    n = 4
    h = np.array([reservoir, 48.0, 47.0, 46.0])
    for it in range(iterations):
        F, J = np.zeros(n), np.zeros((n, n))
        for pipe, d in zip(PIPES, diameters):
            i, j = pipe["from"], pipe["to"]
            r = resistance(pipe["length"], d)
            dh = h[i] - h[j]
            q = np.sign(dh) * np.sqrt(np.abs(dh) / r + 1e-8)
            dq = 0.5 / (r * np.sqrt(np.abs(dh) / r + 1e-8))
            F[i] -= q
            F[j] += q
            J[i, i] -= dq
            J[j, j] -= dq
            J[i, j] += dq
            J[j, i] += dq
        F[1:] -= demand
        F[0] = h[0] - reservoir
        J[0] = 0.0
        J[0, 0] = 1.0
        h = h - np.linalg.solve(J, F)
    return h


def cost(diameters, demand):
    h = heads(diameters, demand)
    shortage = np.maximum(0, 45 - h)
    return np.sum(shortage**2) + 0.1 * h[3] + sum(p["length"] * d**1.5 for p, d in zip(PIPES, diameters)) * 0.1


def example():
    return cost, (np.array([0.3, 0.25, 0.3, 0.2, 0.2]), np.array([0.02, 0.03, 0.04])), (0, 1)
