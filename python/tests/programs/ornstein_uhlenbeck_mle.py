"""Exact likelihood of an Ornstein-Uhlenbeck process on irregular times with missing stretches."""

import numpy as np


def loglik(params, times, x):
    theta, mu, sigma = params
    if theta <= 0 or sigma <= 0:
        return -np.inf
    ll = 0.0
    for k in range(1, len(times)):
        dt = times[k] - times[k - 1]
        if dt > 5:
            # a gap: start again from the stationary law
            mean, var = mu, sigma**2 / (2 * theta)
        else:
            decay = np.exp(-theta * dt)
            mean = mu + (x[k - 1] - mu) * decay
            var = sigma**2 / (2 * theta) * (1 - decay**2)
        ll -= 0.5 * (np.log(2 * np.pi * var) + (x[k] - mean) ** 2 / var)
    return ll


def penalised(log_params, times, x):
    p = np.exp(log_params)
    p[1] = log_params[1]
    return -loglik(p, times, x) + 0.05 * np.sum(log_params**2)


def example():
    times = np.array([0, 0.4, 1.1, 1.3, 2.0, 9.0, 9.5, 10.1])
    x = np.array([0.2, 0.3, -0.1, -0.2, 0.1, 0.6, 0.5, 0.2])
    return penalised, (np.array([0.1, 0.2, -0.5]), times, x), 0
