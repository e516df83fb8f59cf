"""The likelihood of a GARCH(1, 1) model, with a penalty returned early where parameters are not allowed."""

import numpy as np


def negative_log_likelihood(params, returns):
    mu, omega, alpha, beta = params
    if omega <= 0 or alpha < 0 or beta < 0 or alpha + beta >= 1:
        return 1e10 * (1 + np.sum(params**2))
    eps = returns - mu
    variance = np.var(returns)
    ll = 0.0
    for e in eps:
        ll += -0.5 * (np.log(2 * np.pi) + np.log(variance) + e**2 / variance)
        variance = omega + alpha * e**2 + beta * variance
    return -ll


def example():
    rng = np.random.default_rng(34)
    return negative_log_likelihood, (np.array([0.01, 0.1, 0.1, 0.8]), rng.normal(size=30)), (0, 1)
