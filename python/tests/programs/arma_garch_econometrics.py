"""An ARMA(1,1) with GARCH errors: the quasi-likelihood, parameters unpacked by keyword, standard errors scaled by the sample."""

import numpy as np


def unpack(theta):
    names = ["mu", "phi", "psi", "omega", "alpha", "beta"]
    raw = dict(zip(names, theta))
    return {**raw, "omega": np.exp(raw["omega"]), "alpha": 1 / (1 + np.exp(-raw["alpha"])), "beta": 0.9 / (1 + np.exp(-raw["beta"]))}


def filter_errors(y, *, mu, phi, psi, omega, alpha, beta):
    eps = np.zeros_like(y)
    sigma2 = np.empty_like(y)
    sigma2[0] = np.var(y)
    for t in range(1, len(y)):
        eps[t] = y[t] - mu - phi * y[t - 1] - psi * eps[t - 1]
        sigma2[t] = omega + alpha * eps[t - 1] ** 2 + beta * sigma2[t - 1]
    return eps, sigma2


def negative_likelihood(theta, y, burn=2):
    eps, s2 = filter_errors(y, **unpack(theta))
    terms = 0.5 * (np.log(2 * np.pi) + np.log(s2) + eps**2 / s2)
    return terms[burn:].mean()


def example():
    rng = np.random.default_rng(4)
    y = np.cumsum(rng.normal(size=30)) * 0.3 + rng.normal(size=30)
    return negative_likelihood, (np.array([0.05, 0.6, 0.2, -1.0, -1.5, 0.4]), y), 0
