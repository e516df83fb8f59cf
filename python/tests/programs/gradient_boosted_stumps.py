"""Boosting with soft stumps, one per feature in turn, thresholds at known quantiles; early stopping on a validation split."""
import numpy as np


def soft_stump(x, threshold, sharp):
    return 1 / (1 + np.exp(-sharp * (x - threshold)))


def boost(lr, sharp, X, y, rounds=8, patience=2):
    train, valid = slice(None, -6), slice(-6, None)
    F = np.full(len(y), y[train].mean())
    best, since, losses = np.inf, 0, []
    for m in range(rounds):
        g = y - F
        feature = m % X.shape[1]
        cut = np.quantile(X[train, feature], (m + 1) / (rounds + 1))
        s = soft_stump(X[:, feature], cut, sharp)
        right = (s[train] * g[train]).sum() / s[train].sum()
        left = ((1 - s[train]) * g[train]).sum() / (1 - s[train]).sum()
        F = F + lr * (s * right + (1 - s) * left)
        loss = ((y - F)[valid] ** 2).mean()
        losses.append(loss)
        if loss < best - 1e-9:
            best, since = loss, 0
        else:
            since += 1
            if since >= patience:
                break
    return best + 0.1 * losses[-1] + 0.01 * ((y - F)[train] ** 2).sum()


def example():
    r = np.random.default_rng(4)
    X = r.normal(size=(24, 3))
    return boost, (0.4, 3.0, X, np.sin(X[:, 0]) + 0.3 * X[:, 1] + 0.1 * r.normal(size=24)), (0, 1)
