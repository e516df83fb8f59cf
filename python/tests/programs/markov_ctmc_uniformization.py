"""Transient probabilities of a continuous-time Markov chain by uniformisation: Poisson weights until the tail is small."""

import numpy as np


def generator(birth, death, n):
    Q = np.zeros((n, n))
    for i in range(n):
        if i + 1 < n:
            Q[i, i + 1] = birth / (1 + i)
        if i > 0:
            Q[i, i - 1] = death * i
        Q[i, i] = -Q[i].sum()
    return Q


def transient(Q, p0, t, tol=1e-12):
    q = 1.1 * np.max(-np.diag(Q))
    P = np.eye(len(Q)) + Q / q
    weight = np.exp(-q * t)
    total, p, result = weight, p0, weight * p0
    k = 0
    while 1 - total > tol and k < 200:
        k += 1
        p = p @ P
        weight = weight * q * t / k
        result = result + weight * p
        total = total + weight
    return result / total


def expected_load(birth, death, t):
    n = 6
    p0 = np.zeros(n)
    p0[0] = 1.0
    p = transient(generator(birth, death, n), p0, t)
    return p @ np.arange(n) + p[-1] * 10


def example():
    return expected_load, (1.3, 0.6, 1.7), (0, 1, 2)
