"""A mixture of two normals by expectation-maximisation until the likelihood settles."""

import numpy as np


def normal_pdf(x, mu, var):
    return np.exp(-0.5 * (x - mu) ** 2 / var) / np.sqrt(2 * np.pi * var)


def fit(x, mu0, n_iter=100, tol=1e-10):
    K = len(mu0)
    w = np.ones(K) / K
    mu = mu0.copy()
    var = np.full(K, np.var(x))
    prev = -np.inf
    for it in range(n_iter):
        dens = np.column_stack([w[k] * normal_pdf(x, mu[k], var[k]) for k in range(K)])
        total = dens.sum(axis=1, keepdims=True)
        resp = dens / total
        ll = np.log(total).sum()
        nk = resp.sum(axis=0)
        w = nk / len(x)
        mu = (resp * x[:, None]).sum(axis=0) / nk
        var = (resp * (x[:, None] - mu) ** 2).sum(axis=0) / nk
        if ll - prev < tol:
            break
        prev = ll
    return w, mu, var, ll


def separation(x, mu0):
    w, mu, var, ll = fit(x, mu0, n_iter=12)
    return (mu[1] - mu[0]) / np.sqrt(var.mean()) + 0.1 * ll


def example():
    rng = np.random.default_rng(5)
    x = np.concatenate([rng.normal(-1, 0.5, 8), rng.normal(2, 0.8, 8)])
    return separation, (x, np.array([-0.5, 1.0])), (0, 1)
