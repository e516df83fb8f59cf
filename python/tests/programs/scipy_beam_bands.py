"""A beam on springs by banded and dense solves of scipy.linalg, with a response by a matrix exponential."""

import numpy as np
import scipy.linalg


def stiffness(springs, n):
    K = np.zeros((n, n))
    for k in range(n):
        K[k, k] += springs[k % len(springs)] + 0.1
        if k + 1 < n:
            K[k, k] += 1.0
            K[k + 1, k + 1] += 1.0
            K[k, k + 1] -= 1.0
            K[k + 1, k] -= 1.0
    return K


def response(springs, load):
    n = len(load)
    K = stiffness(springs, n)
    factor = scipy.linalg.cho_factor(K)
    still = scipy.linalg.cho_solve(factor, load)
    moving = scipy.linalg.expm(-0.3 * K) @ load
    lower = scipy.linalg.solve_triangular(np.tril(K), moving, lower=True)
    return load @ still + np.sum(lower**2) + np.log(scipy.linalg.det(K))


def example():
    return response, (np.array([0.5, 0.9, 0.3]), np.array([1.0, 0.2, -0.4, 0.7, 0.1])), (0, 1)
