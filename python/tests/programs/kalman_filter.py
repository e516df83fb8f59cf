"""Log-likelihood of a linear Gaussian state-space model by the Kalman filter."""

import numpy as np


def log_likelihood(params, observations):
    F = np.array([[1.0, params["dt"]], [0.0, 1.0]])
    H = np.array([[1.0, 0.0]])
    q = np.exp(params["log_q"])
    Q = q * np.eye(2)
    R = np.array([[np.exp(params["log_r"])]])
    x = np.zeros(2)
    P = np.eye(2)
    total = 0.0
    for z in observations:
        x = F @ x
        P = F @ P @ F.T + Q
        innovation = z - H @ x
        S = H @ P @ H.T + R
        K = P @ H.T @ np.linalg.inv(S)
        x = x + K @ innovation
        P = (np.eye(2) - K @ H) @ P
        sign, logdet = np.linalg.slogdet(S)
        total += -0.5 * (innovation @ np.linalg.solve(S, innovation) + logdet + np.log(2 * np.pi))
    return total


def example():
    rng = np.random.default_rng(1)
    return log_likelihood, ({"dt": 0.1, "log_q": -2.0, "log_r": -1.0}, np.cumsum(rng.normal(size=(30, 1)), axis=0)), 0
