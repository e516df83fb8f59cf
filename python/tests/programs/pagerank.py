"""PageRank by power iteration to convergence, with dangling pages and a teleport vector."""

import numpy as np


def pagerank(weights, links, n, d=0.85, tol=1e-12):
    M = np.zeros((n, n))
    for (src, dst), w in zip(links, weights):
        M[dst, src] += w
    col = M.sum(axis=0)
    for j in range(n):
        if col[j] > 0:
            M[:, j] /= col[j]
        else:
            M[:, j] = 1.0 / n
    r = np.ones(n) / n
    while True:
        new = (1 - d) / n + d * M @ r
        delta = np.linalg.norm(new - r, 1)
        r = new
        if delta < tol:
            return r


def top_page(weights, d, links, n, page=2):
    r = pagerank(weights, links, n, d=d)
    return np.log(r[page])


def example():
    links = [(0, 1), (0, 2), (1, 2), (2, 0), (3, 2), (3, 0), (2, 4)]
    return top_page, (np.array([1.0, 0.5, 1.2, 0.8, 1.5, 0.7, 0.3]), 0.85, links, 5), (0, 1)
