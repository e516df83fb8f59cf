"""One trajectory of Hamiltonian Monte Carlo with given momentum, whose gradient is from finite formulas by hand."""

import numpy as np


def potential(q, data):
    mu, log_s = q
    s = np.exp(log_s)
    return np.sum(0.5 * ((data - mu) / s) ** 2) + len(data) * log_s + 0.5 * mu**2


def gradient(q, data):
    mu, log_s = q
    s = np.exp(log_s)
    z = (data - mu) / s
    return np.array([-np.sum(z) / s + mu, len(data) - np.sum(z**2)])


def leapfrog(q, p, eps, n, data):
    p = p - 0.5 * eps * gradient(q, data)
    for i in range(n):
        q = q + eps * p
        if i != n - 1:
            p = p - eps * gradient(q, data)
    p = p - 0.5 * eps * gradient(q, data)
    return q, p


def acceptance(eps, q, p, data, n=6):
    before = potential(q, data) + 0.5 * p @ p
    q, p = leapfrog(q, p, eps, n, data)
    after = potential(q, data) + 0.5 * p @ p
    return np.minimum(1.0, np.exp(before - after)) + 0.01 * q[0]


def example():
    rng = np.random.default_rng(38)
    return acceptance, (0.1, np.array([0.1, 0.2]), rng.normal(size=2), rng.normal(size=12)), (0, 1, 2)
