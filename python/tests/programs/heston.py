"""A call under Heston's model by Monte Carlo with normal numbers that are given."""

import numpy as np


def heston_call(params, S0, K, T, z1, z2):
    kappa, theta, xi, rho, v0, r = params
    steps, paths = z1.shape
    dt = T / steps
    S = np.full(paths, S0)
    v = np.full(paths, v0)
    for i in range(steps):
        w = rho * z1[i] + np.sqrt(1 - rho**2) * z2[i]
        positive = np.maximum(v, 0.0)
        S = S * np.exp((r - 0.5 * positive) * dt + np.sqrt(positive * dt) * z1[i])
        v = v + kappa * (theta - positive) * dt + xi * np.sqrt(positive * dt) * w
    payoff = np.maximum(S - K, 0.0)
    return np.exp(-r * T) * payoff.mean()


def example():
    rng = np.random.default_rng(12)
    params = np.array([1.5, 0.04, 0.3, -0.6, 0.05, 0.02])
    return heston_call, (params, 100.0, 95.0, 1.0, rng.normal(size=(20, 50)), rng.normal(size=(20, 50))), (0, 1)
