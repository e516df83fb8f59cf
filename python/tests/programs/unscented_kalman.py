"""An unscented Kalman filter for a pendulum: sigma points from a Cholesky factor, retried with jitter when it fails."""

import numpy as np


def safe_cholesky(P, jitter=1e-10):
    for attempt in range(4):
        try:
            return np.linalg.cholesky(P + jitter * np.eye(len(P)))
        except np.linalg.LinAlgError:
            jitter *= 100
    raise np.linalg.LinAlgError("covariance is not positive definite")


def sigma_points(m, P, kappa):
    n = m.size
    L = safe_cholesky((n + kappa) * P)
    pts = [m]
    for i in range(n):
        pts.append(m + L[:, i])
    for i in range(n):
        pts.append(m - L[:, i])
    w = np.full(2 * n + 1, 0.5 / (n + kappa))
    w[0] = kappa / (n + kappa)
    return np.array(pts), w


def dynamics(x, dt=0.1):
    return np.array([x[0] + dt * x[1], x[1] - dt * 9.81 * np.sin(x[0])])


def ukf_nll(log_q, log_r, y, kappa=1.0):
    Q, R = np.exp(log_q) * np.eye(2), np.exp(log_r)
    m, P = np.array([0.3, 0.0]), 0.1 * np.eye(2)
    nll = 0.0
    for yk in y:
        X, w = sigma_points(m, P, kappa)
        X = np.array([dynamics(p) for p in X])
        m = w @ X
        P = Q + sum(wi * np.outer(p - m, p - m) for wi, p in zip(w, X))
        X, w = sigma_points(m, P, kappa)
        Z = np.sin(X[:, 0])
        mz = w @ Z
        S = w @ (Z - mz) ** 2 + R
        C = (X - m).T @ (w * (Z - mz))
        K = C / S
        nll += 0.5 * (np.log(2 * np.pi * S) + (yk - mz) ** 2 / S)
        m = m + K * (yk - mz)
        P = P - np.outer(K, K) * S
    return nll


def example():
    y = np.array([0.3, 0.25, 0.17, 0.05, -0.08, -0.2])
    return ukf_nll, (-4.0, -3.0, y), (0, 1)
