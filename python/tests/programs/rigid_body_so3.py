"""A spinning top: rotation matrices by Rodrigues' exponential, an implicit midpoint for the angular momentum."""

import numpy as np


def hat(w):
    return np.array([[0.0, -w[2], w[1]], [w[2], 0.0, -w[0]], [-w[1], w[0], 0.0]])


def expm_so3(w):
    theta = np.linalg.norm(w)
    W = hat(w)
    if theta < 1e-8:
        return np.eye(3) + W
    return np.eye(3) + np.sin(theta) / theta * W + (1 - np.cos(theta)) / theta**2 * (W @ W)


def spin(inertia, L0, dt=0.05, steps=15):
    R = np.eye(3)
    Linv = 1.0 / inertia
    L = L0
    for _ in range(steps):
        mid = L
        for _ in range(4):
            mid = L + 0.5 * dt * np.cross(mid, Linv * mid)
        L = L + dt * np.cross(mid, Linv * mid)
        R = R @ expm_so3(dt * Linv * mid)
    return R, L


def wobble(inertia, L0):
    R, L = spin(inertia, L0)
    return np.arccos((R.trace() - 1) / 2) + 0.1 * L[0] ** 2 + np.linalg.norm(R.T @ R - np.eye(3))**2


def example():
    return wobble, (np.array([1.0, 1.5, 2.2]), np.array([0.3, 1.0, 0.4])), (0, 1)
