"""Logistic regression fitted by gradient descent; the derivative of what it ends at."""

import numpy as np


def sigmoid(z):
    return 1 / (1 + np.exp(-z))


def fit(X, y, l2, lr=0.5, n_iter=30):
    w = np.zeros(X.shape[1])
    b = 0.0
    for it in range(n_iter):
        p = sigmoid(X @ w + b)
        w -= lr * (X.T @ (p - y) / len(y) + l2 * w)
        b -= lr * np.mean(p - y)
    return w, b


def validation(l2, X, y, X_val, y_val):
    w, b = fit(X, y, l2)
    p = sigmoid(X_val @ w + b)
    return -np.mean(y_val * np.log(p) + (1 - y_val) * np.log(1 - p))


def example():
    rng = np.random.default_rng(18)
    X, V = rng.normal(size=(20, 3)), rng.normal(size=(8, 3))
    y, z = (X[:, 0] > 0).astype(float), (V[:, 0] > 0).astype(float)
    return validation, (0.1, X, y, V, z), (0, 1)
