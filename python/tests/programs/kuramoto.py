"""Oscillators on a graph given as an adjacency list in a dict; the order parameter after a while."""

import numpy as np


def dtheta(theta, omega, K, graph):
    out = np.array(omega)
    for node, neighbours in graph.items():
        coupling = 0.0
        for m in neighbours:
            coupling += np.sin(theta[m] - theta[node])
        if neighbours:
            out[node] += K * coupling / len(neighbours)
    return out


def order_parameter(omega, K, graph, theta0, T=2.0, dt=0.1):
    theta = theta0
    r = []
    for _ in np.arange(0, T, dt):
        k1 = dtheta(theta, omega, K, graph)
        k2 = dtheta(theta + dt * k1, omega, K, graph)
        theta = np.mod(theta + 0.5 * dt * (k1 + k2), 2 * np.pi)
        c, s = np.cos(theta).mean(), np.sin(theta).mean()
        r.append(np.hypot(c, s))
    return np.mean(r[len(r) // 2 :])


def example():
    graph = {0: [1, 2], 1: [0, 2, 3], 2: [0, 1], 3: [1], 4: []}
    return order_parameter, (np.array([0.5, -0.3, 0.2, 0.9, 0.0]), 1.5, graph, np.array([0.1, 2.0, 4.0, 5.0, 1.0])), (0, 1, 3)
