"""Newton's method with backtracking (Armijo) on a soft-plus regression, written as a generic minimiser."""

import numpy as np


def minimise(fun, grad, hess, x0, c1=1e-4, rho=0.5, maxiter=20, gtol=1e-9):
    x = x0
    history = []
    for k in range(maxiter):
        g = grad(x)
        history.append(fun(x))
        if np.sqrt(np.sum(g**2)) < gtol:
            break
        d = -np.linalg.solve(hess(x), g)
        t = 1.0
        while fun(x + t * d) > history[-1] + c1 * t * (g @ d):
            t *= rho
            if t < 1e-8:
                break
        x = x + t * d
    return x, history


def ridge_logistic(lam, X, y):
    sig = lambda z: 1 / (1 + np.exp(-z))
    fun = lambda w: np.sum(np.logaddexp(0, X @ w) - y * (X @ w)) + 0.5 * lam * w @ w
    grad = lambda w: X.T @ (sig(X @ w) - y) + lam * w
    hess = lambda w: (X * (sig(X @ w) * (1 - sig(X @ w)))[:, None]).T @ X + lam * np.eye(X.shape[1])
    w, history = minimise(fun, grad, hess, np.zeros(X.shape[1]))
    return w, history[-1]


def validation_loss(lam, X, y, Xv, yv):
    w, _ = ridge_logistic(lam, X, y)
    z = Xv @ w
    return np.mean(np.logaddexp(0, z) - yv * z)


def example():
    rng = np.random.default_rng(23)
    X, Xv = rng.normal(size=(15, 3)), rng.normal(size=(8, 3))
    w = np.array([1.0, -2.0, 0.5])
    y = (X @ w + rng.normal(size=15) > 0).astype(float)
    yv = (Xv @ w > 0).astype(float)
    return validation_loss, (0.5, X, y, Xv, yv), (0, 1)
