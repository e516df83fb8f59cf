"""Iterated closest points in the plane: matches by the nearest neighbour, a rotation by Kabsch, until the matches repeat."""

import numpy as np


def nearest(P, Q):
    d2 = ((P[:, None, :] - Q[None, :, :]) ** 2).sum(axis=-1)
    return np.argmin(d2, axis=1), d2.min(axis=1)


def rigid(P, Q):
    mp, mq = P.mean(0), Q.mean(0)
    H = (P - mp).T @ (Q - mq)
    angle = np.arctan2(H[0, 1] - H[1, 0], H[0, 0] + H[1, 1])
    R = np.array([[np.cos(angle), -np.sin(angle)], [np.sin(angle), np.cos(angle)]])
    return R, mq - R @ mp


def icp(P, Q, max_iter=10):
    last = None
    for it in range(max_iter):
        match, d2 = nearest(P, Q)
        if last is not None and np.array_equal(match, last):
            break
        last = match
        R, t = rigid(P, Q[match])
        P = P @ R.T + t
    return P, np.sqrt(nearest(P, Q)[1]).mean()


def registration_error(P, Q):
    aligned, err = icp(P, Q)
    return err


def example():
    rng = np.random.default_rng(85)
    Q = rng.uniform(0, 4, size=(8, 2))
    c, s = np.cos(0.2), np.sin(0.2)
    P = Q[:6] @ np.array([[c, s], [-s, c]]) + np.array([0.2, -0.1]) + 0.05 * rng.normal(size=(6, 2))
    return registration_error, (P, Q), (0, 1)
