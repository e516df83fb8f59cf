"""Inverse kinematics by damped least squares: homogeneous transforms folded with reduce, a geometric Jacobian."""

from functools import reduce

import numpy as np


def dh(theta, d, a, alpha):
    ct, st = np.cos(theta), np.sin(theta)
    ca, sa = np.cos(alpha), np.sin(alpha)
    return np.array([
        [ct, -st * ca, st * sa, a * ct],
        [st, ct * ca, -ct * sa, a * st],
        [0, sa, ca, d],
        [0, 0, 0, 1],
    ])


def forward(q, links):
    return reduce(np.matmul, [dh(qi, *link) for qi, link in zip(q, links)], np.eye(4))


def jacobian(q, links):
    T = np.eye(4)
    origins, axes = [T[:3, 3]], [T[:3, 2]]
    for qi, link in zip(q, links):
        T = T @ dh(qi, *link)
        origins.append(T[:3, 3])
        axes.append(T[:3, 2])
    tip = origins[-1]
    return np.array([np.cross(z, tip - o) for z, o in zip(axes[:-1], origins[:-1])]).T


def reach(target, link_lengths, q0, damping=0.1, iters=5):
    links = [(0.1, link_lengths[0], np.pi / 2), (0.0, link_lengths[1], 0.0), (0.0, link_lengths[2], 0.0)]
    q = q0
    for _ in range(iters):
        err = target - forward(q, links)[:3, 3]
        J = jacobian(q, links)
        q = q + J.T @ np.linalg.solve(J @ J.T + damping**2 * np.eye(3), err)
    return np.linalg.norm(target - forward(q, links)[:3, 3]) + 0.01 * np.sum(q**2)


def example():
    return reach, (np.array([0.6, 0.4, 0.5]), np.array([0.3, 0.5, 0.4]), np.array([0.2, 0.6, -0.4])), (0, 1, 2)
