"""The likelihood of a mixture of Gaussians after steps of EM."""

import numpy as np


def log_density(X, mean, cov):
    d = X.shape[1]
    L = np.linalg.cholesky(cov)
    z = np.linalg.solve(L, (X - mean).T)
    return -0.5 * np.sum(z**2, axis=0) - np.sum(np.log(np.diag(L))) - 0.5 * d * np.log(2 * np.pi)


def em(X, means, steps=3):
    k, d = means.shape
    pi = [1.0 / k] * k
    covs = [np.eye(d) for _ in range(k)]
    means = [means[i] for i in range(k)]
    for step in range(steps):
        logp = np.array([np.log(pi[i]) + log_density(X, means[i], covs[i]) for i in range(k)])
        top = logp.max(axis=0)
        total = top + np.log(np.exp(logp - top).sum(axis=0))
        r = np.exp(logp - total)
        for i in range(k):
            n = r[i].sum()
            pi[i] = n / len(X)
            means[i] = r[i] @ X / n
            D = X - means[i]
            covs[i] = (r[i][:, None] * D).T @ D / n + 1e-3 * np.eye(d)
    return total.mean()


def example():
    rng = np.random.default_rng(31)
    X = np.concatenate([rng.normal(size=(8, 2)), rng.normal(size=(8, 2)) + 3])
    return em, (X, np.array([[0.0, 0.5], [2.5, 3.0]])), (0, 1)
