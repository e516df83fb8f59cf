"""Recommendations by matrix factorization over a list of ratings."""

import numpy as np


def predict(U, V, bu, bv, i, j):
    return U[i] @ V[j] + bu[i] + bv[j]


def objective(params, ratings, reg=0.1):
    U, V, bu, bv = params
    loss = 0.0
    for user, item, rating in ratings:
        loss += (rating - predict(U, V, bu, bv, user, item)) ** 2
    return loss / len(ratings) + reg * sum(np.sum(p**2) for p in params)


def example():
    rng = np.random.default_rng(42)
    params = [rng.normal(size=(4, 3)), rng.normal(size=(5, 3)), np.zeros(4), np.zeros(5)]
    ratings = [(0, 1, 4.0), (1, 0, 3.0), (2, 4, 5.0), (3, 2, 1.0), (0, 3, 2.0)]
    return objective, (params, ratings), 0
