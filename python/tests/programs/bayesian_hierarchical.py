"""Eight schools, non-centred, with a half-Cauchy prior; the log density and one leapfrog of HMC by hand."""

import numpy as np


def log_density(q, y, sigma):
    mu, log_tau, eta = q[0], q[1], q[2:]
    tau = np.exp(log_tau)
    theta = mu + tau * eta
    lp = -0.5 * (mu / 5) ** 2
    lp += -np.log1p((tau / 5) ** 2) + log_tau
    lp += -0.5 * np.sum(eta**2)
    lp += -0.5 * np.sum(((y - theta) / sigma) ** 2) - np.sum(np.log(sigma))
    return lp


def gradient(q, y, sigma):
    mu, log_tau, eta = q[0], q[1], q[2:]
    tau = np.exp(log_tau)
    r = (y - mu - tau * eta) / sigma**2
    g = np.zeros_like(q)
    g[0] = -mu / 25 + r.sum()
    g[1] = -2 * tau**2 / 25 / (1 + (tau / 5) ** 2) + 1 + tau * (r * eta).sum()
    g[2:] = -eta + tau * r
    return g


def leapfrog(q, p, y, sigma, eps, L):
    p = p + 0.5 * eps * gradient(q, y, sigma)
    for i in range(L):
        q = q + eps * p
        if i != L - 1:
            p = p + eps * gradient(q, y, sigma)
    p = p + 0.5 * eps * gradient(q, y, sigma)
    return q, -p


def energy_error(eps, q, p, y, sigma, L=5):
    H = lambda q, p: -log_density(q, y, sigma) + 0.5 * p @ p
    q1, p1 = leapfrog(q, p, y, sigma, eps, L)
    return (H(q1, p1) - H(q, p)) ** 2


def example():
    rng = np.random.default_rng(42)
    y = np.array([28, 8, -3, 7, -1, 1, 18, 12]) / 10
    sigma = np.array([15, 10, 16, 11, 9, 11, 10, 18]) / 10
    return energy_error, (0.4, 0.3 * rng.normal(size=10), rng.normal(size=10), y, sigma), (0, 1, 2)
