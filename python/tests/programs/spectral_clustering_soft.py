"""A soft cut of a graph: Laplacian powers applied to vectors, orthogonalised step by step in a list, the cut of the assignment."""

import numpy as np


def affinity(X, gamma):
    d2 = ((X[:, None, :] - X[None, :, :]) ** 2).sum(-1)
    W = np.exp(-gamma * d2)
    np.fill_diagonal(W, 0.0)
    return W


def subspace(W, k=2, sweeps=12):
    d = W.sum(axis=1)
    S = W / np.sqrt(np.outer(d, d))
    vectors = []
    for j in range(k):
        v = np.cos(np.arange(len(d)) * (j + 1.0))
        for _ in range(sweeps):
            v = S @ v + v
            for u in vectors:
                v = v - (u @ v) * u
            v = v / np.linalg.norm(v)
        vectors.append(v)
    return np.stack(vectors, axis=1), d


def normalised_cut(X, gamma):
    W = affinity(X, gamma)
    V, d = subspace(W)
    membership = 1 / (1 + np.exp(-8 * V[:, 1]))
    a, b = membership, 1 - membership
    cut = a @ W @ b
    return cut / (a @ d) + cut / (b @ d)


def example():
    rng = np.random.default_rng(5)
    X = np.vstack([rng.normal(size=(4, 2)), rng.normal(size=(4, 2)) + 2.5])
    return normalised_cut, (X, 0.6), (0, 1)
