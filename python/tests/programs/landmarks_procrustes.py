"""Shapes aligned by Procrustes with the singular value decomposition; scatter after alignment to a mean."""

import numpy as np


def center_scale(X):
    X = X - X.mean(axis=0)
    return X / np.linalg.norm(X)


def best_rotation(A, B):
    U, s, Vt = np.linalg.svd(A.T @ B)
    if np.linalg.det(U @ Vt) < 0:
        U[:, -1] *= -1
    return U @ Vt


def generalised(shapes, rounds=3):
    shapes = [center_scale(s) for s in shapes]
    mean = shapes[0]
    for _ in range(rounds):
        aligned = [s @ best_rotation(s, mean) for s in shapes]
        mean = center_scale(sum(aligned) / len(aligned))
    return aligned, mean


def scatter(shapes):
    aligned, mean = generalised(shapes)
    return sum(np.sum((a - mean) ** 2) for a in aligned)


def example():
    rng = np.random.default_rng(60)
    base = np.array([[0.0, 0.0], [1.0, 0.1], [1.2, 1.0], [0.1, 1.1]])
    shapes = []
    for k in range(3):
        c, s = np.cos(0.5 * k), np.sin(0.5 * k)
        shapes.append((1 + 0.3 * k) * base @ np.array([[c, s], [-s, c]]) + k + 0.1 * rng.normal(size=base.shape))
    return scatter, (np.array(shapes),), 0
