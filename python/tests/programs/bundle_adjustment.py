"""Reprojection errors of bundle adjustment, with Rodrigues' formula and its limit for small angles."""

import numpy as np


def rotate(rotvec, X):
    theta2 = np.dot(rotvec, rotvec)
    if theta2 < 1e-14:
        return X + np.cross(rotvec, X)
    theta = np.sqrt(theta2)
    w = rotvec / theta
    c, s = np.cos(theta), np.sin(theta)
    return c * X + s * np.cross(w, X) + (1 - c) * np.dot(w, X) * w


def project(camera, X):
    P = rotate(camera[:3], X) + camera[3:6]
    p = -P[:2] / P[2]
    f, k1, k2 = camera[6:]
    n = np.sum(p * p)
    return f * (1.0 + k1 * n + k2 * n**2) * p


def total_error(cameras, points, camera_of, point_of, observed):
    error = 0.0
    for i in range(len(observed)):
        r = project(cameras[camera_of[i]], points[point_of[i]]) - observed[i]
        error += r @ r
    return 0.5 * error


def example():
    rng = np.random.default_rng(9)
    cameras = np.concatenate([0.1 * rng.normal(size=(3, 3)), rng.normal(size=(3, 3)) - [0, 0, 8], np.tile([1.0, 0.01, 0.001], (3, 1))], axis=1)
    points = rng.normal(size=(5, 3))
    pairs = [(c, p) for c in range(3) for p in range(5)]
    camera_of, point_of = (np.array(side) for side in zip(*pairs))
    return total_error, (cameras, points, camera_of, point_of, 0.1 * rng.normal(size=(15, 2))), (0, 1)
