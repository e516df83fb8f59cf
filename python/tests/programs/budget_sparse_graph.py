"""Shortest paths with soft minima on a graph of dicts: a queue by order, predecessors kept, toll at the edges tuned."""

import math

import numpy as np

GRAPH = {"a": {"b": 0, "c": 1}, "b": {"c": 2, "d": 3}, "c": {"d": 4, "e": 5}, "d": {"e": 6}, "e": {}}


def soft_minimum(values, temperature):
    values = list(values)
    low = min(values)
    return low - temperature * math.log(sum(math.exp(-(v - low) / temperature) for v in values))


def distances(weights, temperature, source="a"):
    dist = {source: 0.0}
    incoming = {}
    for node in GRAPH:
        for target, k in GRAPH[node].items():
            incoming.setdefault(target, []).append((node, k))
    for node in sorted(GRAPH):
        if node == source:
            continue
        dist[node] = soft_minimum((dist[prev] + weights[k] for prev, k in incoming[node]), temperature)
    return dist


def toll(weights, temperature, caps):
    dist = distances(np.abs(weights), temperature)
    penalty = sum(max(0.0, w - cap) ** 2 for w, cap in zip(weights, caps))
    return dist["e"] + penalty + 0.1 * max(dist.values())


def example():
    return toll, (np.array([1.0, 2.5, 0.7, 2.0, 1.1, 3.0, 0.8]), 0.3, [2.0] * 7), (0, 1)
