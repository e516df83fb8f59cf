"""All pairs shortest paths, their harmonic centrality, and the length of one path rebuilt from predecessors known from the weights."""
import numpy as np

INF = float("inf")


def distances(w, edges, n):
    D = [[0.0 if i == j else INF for j in range(n)] for i in range(n)]
    for (i, j), wij in zip(edges, w):
        D[i][j] = D[j][i] = wij
    for k in range(n):
        for i in range(n):
            for j in range(n):
                if D[i][k] + D[k][j] < D[i][j]:
                    D[i][j] = D[i][k] + D[k][j]
    return D


def harmonic(w, edges, n):
    D = distances(w, edges, n)
    return sum(1 / D[i][j] for i in range(n) for j in range(n) if i != j) + max(map(max, D))


def example():
    edges = [(0, 1), (1, 2), (2, 3), (3, 4), (0, 4), (1, 3)]
    return harmonic, (np.array([1.0, 2.2, 0.7, 1.9, 3.4, 1.2]), edges, 5), 0
