"""Poisson regression by iteratively reweighted least squares with an offset, deviance out."""

import numpy as np
from scipy.special import gammaln, xlogy


def irls(X, y, offset=None, max_iter=25, tol=1e-10):
    if offset is None:
        offset = np.zeros(len(y))
    mu = y + 0.5
    eta = np.log(mu)
    beta = np.zeros(X.shape[1])
    for i in range(max_iter):
        z = eta - offset + (y - mu) / mu
        W = mu
        XtW = X.T * W
        new = np.linalg.solve(XtW @ X, XtW @ z)
        eta = X @ new + offset
        mu = np.exp(eta)
        if np.sum(np.abs(new - beta)) < tol:
            beta = new
            break
        beta = new
    return beta, mu


def deviance(X, y, exposure):
    beta, mu = irls(X, y, offset=np.log(exposure))
    dev = 2 * np.sum(xlogy(y, y / mu) - (y - mu))
    ll = np.sum(y * np.log(mu) - mu - gammaln(y + 1))
    return dev - 0.1 * ll + beta @ beta


def example():
    rng = np.random.default_rng(52)
    X = np.column_stack([np.ones(10), rng.normal(size=10)])
    y = rng.poisson(np.exp(0.5 + 0.8 * X[:, 1])) + 1.0
    return deviance, (X, y, rng.uniform(1, 2, 10)), (0, 2)
