"""A power flow of a grid by Newton's method on angles: a susceptance matrix from a list of lines, losses out."""

import numpy as np


def admittance(lines, n, conductance, susceptance):
    G, B = np.zeros((n, n)), np.zeros((n, n))
    for k, (a, b) in enumerate(lines):
        g, s = conductance[k], susceptance[k]
        G[a, b] = G[b, a] = -g
        B[a, b] = B[b, a] = s
        G[a, a] += g
        G[b, b] += g
        B[a, a] -= s
        B[b, b] -= s
    return G, B


def injections(theta, G, B):
    d = theta[:, None] - theta[None, :]
    return (G * np.cos(d) + B * np.sin(d)).sum(axis=1)


def jacobian(theta, G, B):
    n = len(theta)
    J = np.empty((n, n))
    for i in range(n):
        for j in range(n):
            if i == j:
                J[i, i] = sum(-G[i, k] * np.sin(theta[i] - theta[k]) + B[i, k] * np.cos(theta[i] - theta[k]) for k in range(n) if k != i)
            else:
                J[i, j] = G[i, j] * np.sin(theta[i] - theta[j]) - B[i, j] * np.cos(theta[i] - theta[j])
    return J


def losses(demand, conductance, susceptance, lines):
    n = len(demand) + 1
    G, B = admittance(lines, n, conductance, susceptance)
    theta = np.zeros(n)
    for iteration in range(10):
        mismatch = injections(theta, G, B)[1:] + demand
        if np.max(np.abs(mismatch)) < 1e-11:
            break
        J = jacobian(theta, G, B)[1:, 1:]
        theta[1:] -= np.linalg.solve(J, mismatch)
    return np.sum(injections(theta, G, B))


def example():
    lines = [(0, 1), (1, 2), (0, 2), (2, 3)]
    return losses, (np.array([0.3, 0.5, 0.2]), np.array([0.5, 0.4, 0.6, 0.3]), np.array([5.0, 4.0, 6.0, 3.5]), lines), (0, 1, 2)
