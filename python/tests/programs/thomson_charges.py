"""Charges on a sphere relaxed by gradient descent with momentum on unit vectors; final energy of the configuration."""

import numpy as np


def coulomb(points):
    diff = points[:, None, :] - points[None, :, :]
    r = np.sqrt((diff**2).sum(-1) + np.eye(len(points)))
    iu = np.triu_indices(len(points), k=1)
    return (1 / r)[iu].sum()


def force(points, charges):
    diff = points[:, None, :] - points[None, :, :]
    r2 = (diff**2).sum(-1)
    np.fill_diagonal(r2, 1.0)
    return (charges[:, None, None] * charges[None, :, None] * diff / r2[..., None] ** 1.5).sum(axis=1)


def relax(points, charges, eta=0.05, momentum=0.5, n=12):
    v = np.zeros_like(points)
    for _ in range(n):
        f = force(points, charges)
        f -= np.sum(f * points, axis=1, keepdims=True) * points
        v = momentum * v + eta * f
        points = points + v
        points /= np.linalg.norm(points, axis=1, keepdims=True)
    return points


def final_energy(points, charges):
    points = points / np.linalg.norm(points, axis=1)[:, None]
    return coulomb(relax(points, charges))


def example():
    rng = np.random.default_rng(37)
    return final_energy, (rng.normal(size=(5, 3)), np.array([1.0, 1.0, 1.2, 0.9, 1.1])), (0, 1)
