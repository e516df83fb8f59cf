"""Clusters by union and find over edges that are open; weights of the clusters make a smooth score."""

import numpy as np


def clusters(n, edges):
    parent = list(range(n))

    def find(k):
        while parent[k] != k:
            parent[k] = parent[parent[k]]
            k = parent[k]
        return k

    for a, b in edges:
        a, b = find(a), find(b)
        if a != b:
            parent[max(a, b)] = min(a, b)
    return [find(k) for k in range(n)]


def score(weights, coupling):
    roots = clusters(len(weights), [(0, 1), (2, 3), (1, 4), (5, 3)])
    mass = {}
    for root, weight in zip(roots, weights):
        mass[root] = mass.get(root, 0.0) + weight
    return sum(coupling * value**1.5 for value in mass.values()) + 0.1 * max(mass.values())


def example():
    return score, (np.array([0.4, 1.2, 0.7, 0.9, 0.3, 1.6]), 0.8), (0, 1)
