"""Fixed effects panel regression with clustered standard errors, np.add.at and np.unique outside."""
import numpy as np


def demean(v, groups, ngroups):
    sums = np.zeros((ngroups,) + v.shape[1:])
    cnt = np.zeros(ngroups)
    np.add.at(sums, groups, v)
    np.add.at(cnt, groups, 1)
    means = sums / cnt.reshape((-1,) + (1,) * (v.ndim - 1))
    return v - means[groups]


def tstat(y, X, firm, ridge):
    ids, groups = np.unique(firm, return_inverse=True)
    G = len(ids)
    yd, Xd = demean(y, groups, G), demean(X, groups, G)
    XtX = Xd.T @ Xd + ridge * np.identity(X.shape[1])
    beta = np.linalg.solve(XtX, Xd.T @ yd)
    u = yd - Xd @ beta
    meat = np.zeros_like(XtX)
    for g in range(G):
        sel = groups == g
        s = Xd[sel].T @ u[sel]
        meat += np.outer(s, s)
    bread = np.linalg.inv(XtX)
    V = bread @ meat @ bread * G / (G - 1)
    return beta[0] / np.sqrt(V[0, 0]) + 0.1 * (beta / np.sqrt(np.diag(V))).sum()


def example():
    rng = np.random.default_rng(11)
    firm = rng.integers(0, 5, size=30) * 10
    X = rng.normal(size=(30, 3))
    y = X @ np.array([0.5, -1, 0.2]) + firm / 20 + rng.normal(size=30)
    return tstat, (y, X, firm, 0.1), (0, 1, 3)
