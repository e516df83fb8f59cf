"""Shortest paths by Bellman-Ford with a soft minimum, edges as a list of tuples."""

import numpy as np


def softmin(values, temperature):
    values = np.array(values)
    m = values.min()
    return m - temperature * np.log(np.sum(np.exp(-(values - m) / temperature)))


def soft_bellman_ford(weights, edges, source, n, temperature):
    dist = [1e3] * n
    dist[source] = 0.0
    incoming = {v: [] for v in range(n)}
    for k, (u, v) in enumerate(edges):
        incoming[v].append((u, k))
    for _ in range(n - 1):
        new = list(dist)
        for v, arcs in incoming.items():
            if v == source or not arcs:
                continue
            new[v] = softmin([dist[u] + weights[k] for u, k in arcs], temperature)
        dist = new
    return dist


def travel_time(weights, edges, n, temperature=0.2):
    dist = soft_bellman_ford(weights, edges, 0, n, temperature)
    return dist[n - 1]


def example():
    edges = [(0, 1), (0, 2), (1, 2), (1, 3), (2, 3), (2, 4), (3, 4)]
    return travel_time, (np.array([1.0, 2.5, 0.7, 3.0, 1.2, 2.4, 0.9]), edges, 5, 0.2), (0, 3)
