"""Ordinary kriging with a variogram model picked by name and leave-one-out errors."""

import numpy as np


def variogram(h, nugget, sill, rng_, model="spherical"):
    if model == "spherical":
        hr = np.minimum(h / rng_, 1.0)
        return nugget + sill * (1.5 * hr - 0.5 * hr**3)
    elif model == "exponential":
        return nugget + sill * (1 - np.exp(-3 * h / rng_))
    else:
        raise ValueError(model)


def distances(a, b):
    return np.sqrt(((a[:, None] - b[None, :]) ** 2).sum(axis=2) + 1e-12)


def krige(points, values, at, pars, model):
    n = len(points)
    A = np.ones((n + 1, n + 1))
    A[:n, :n] = variogram(distances(points, points), *pars, model=model)
    A[-1, -1] = 0
    b = np.ones(n + 1)
    b[:n] = variogram(distances(points, at[None])[:, 0], *pars, model=model)
    w = np.linalg.solve(A, b)
    return w[:n] @ values, w @ b


def loo(pars, points, values, model="exponential"):
    err = 0.0
    for i in range(len(points)):
        keep = [j for j in range(len(points)) if j != i]
        estimate, var = krige(points[keep], values[keep], points[i], pars, model)
        err += (estimate - values[i]) ** 2 / var + np.log(var)
    return err / len(points)


def example():
    rng = np.random.default_rng(44)
    pts = rng.uniform(0, 10, size=(6, 2))
    return loo, (np.array([0.1, 1.0, 5.0]), pts, np.sin(pts[:, 0]) + 0.1 * pts[:, 1], "exponential"), (0, 2)
